# SPDX-License-Identifier: Apache-2.0
"""What a family of gaits asks of a robot, over the part s of a step: a table, read every tick.

The gaits say joint angles q(s). What the law tracks follows from them with the stance foot on the
floor at the origin: the turn of the base, the angle of the stance knee (not the height: where a leg
is straight no force changes it), the pose of the swing foot, where the floor presses, how far ahead
the centre of mass is, and the divergent component xi(s) that all this makes. With derivatives in s,

    x' = x_s s',    x'' = x_ss s'^2.

All is of a step on the first foot, and seen in a mirror of one on the other.

A floor that rises by r ahead, rise over run, is met in level axes, those of gravity and of the law:
the stance sole is pitched by -atan(r), and heights of the swing foot and of the centre of mass are
those over the floor, z - r x. The centre of mass falls as a pendulum of that height z_c,
w = sqrt(g / z_c), with the velocity L / (m z_c) of the angular momentum L about the foot, whatever
r is, and the way from foot to foot ahead is shorter by cos(atan(r)). Between two slopes the table
is linear. Of a floor that the robot file says to slope the law's axes are the floor's own; r counts
from them, and the pendulum's middle is moved downhill.
"""

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.interpolate import make_interp_spline

from walking_control.controllers.stepping.body import Body, Foot
from walking_control.gaits.gait_family import GaitFamily, SpaceGait
from walking_control.models import array_function, compile_ahead, Dynamics, ROOT

SAMPLES = 201  # along a step
PARTS = np.linspace(0.0, 1.0, SAMPLES)
SPACING = 0.05  # m/s between the speeds the table has
COARSE, COARSE_SPACING = 41, 0.1  # the same, of other slopes than the one nearest to level: what
# lies between is a spline
# columns: values, first and second derivatives, vectors in floor axes
TURN, KNEE, FOOT, FOOT_TURN = slice(0, 9), slice(9, 12), slice(12, 21), slice(21, 30)
PRESSURE, CAPTURE, RATE, PLACE = slice(30, 32), slice(32, 34), 34, 35
COLUMNS = 36
_VECTOR, _TURNING = [1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]
MIRROR = np.array(
    [*_TURNING * 3, 1.0, 1.0, 1.0, *_VECTOR * 3, *_TURNING * 3, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0]
)


class Stride(NamedTuple):
    """A gait's step as a whole, on the first foot."""

    speed: float  # m/s
    duration: float  # s
    way: np.ndarray  # from foot to foot, m, ``(2,)``
    end: np.ndarray  # divergent component just before touchdown, from the stance foot, m, ``(2,)``
    work: float  # of the motors in a step, which its impact takes, J
    reach: float  # from under the hip to the foot that lands, m
    jump: np.ndarray  # of the motors' efforts at touchdown, ``(n_joints,)``, N m


class GaitTables(NamedTuple):
    """What compiled code reads of a family of gaits."""

    rows: np.ndarray  # ``(m, n, SAMPLES, COLUMNS)``
    strides: np.ndarray  # what `as_stride` reads, ``(m, n, 8 + n_joints)``
    falls: np.ndarray  # of their floors over run ahead, ascending, ``(m,)``
    speeds: np.ndarray  # ascending, m/s, ``(n,)``


class GaitTable:
    """The gaits of a family at all speeds between its slowest and fastest.

    Args:
        family: The `GaitFamily`.
        dynamics: The robot's `Dynamics`, whose first foot is that of the gaits.
        gravity: Along the normal of the law's axes, m/s^2.
        told: Slope of these axes that the robot file says, rad, downhill positive.
        compiled: Whether it is read by compiled code.

    Attributes:
        speeds: Ascending, m/s, ``(n,)``.
        tables: What is read of them.
        places: In their grids, of the gait read now.
        rise: That of the gait read now.
        knee_signs: Of the angle of each foot's knee against that of the first.
    """

    def __init__(
        self,
        family: GaitFamily,
        dynamics: Dynamics,
        gravity: float,
        told: float = 0.0,
        compiled: bool = False,
    ) -> None:
        low, high = family.speeds[0], family.speeds[-1]
        count = math.ceil((high - low) / SPACING) + 1
        self.speeds = np.linspace(low, high, count)
        body = Body(dynamics)
        self._mirror = family.mirror
        self.knee_signs = 1.0, float(family.mirror[1][body.knees[1]])
        level, rows, strides = min(family.slopes, key=abs), [], []
        for slope in family.slopes:
            ground = _Ground(gravity, math.tan(told), told - slope)
            fine = slope == level
            least = math.ceil((high - low) / COARSE_SPACING) + 1
            speeds = self.speeds if fine else np.linspace(low, high, min(count, max(least, 4)))
            s = PARTS if fine else np.linspace(0.0, 1.0, COARSE)
            found = []
            for speed in speeds:
                gait = family.at(float(speed), slope)
                found.append(
                    # in this order: the first leaves the body at the end of the step
                    (
                        _tabulate(gait, s, body, dynamics, ground),
                        _stride_of(gait, ground, body.feet[1]),
                    )
                )
            table, steps = (np.array(each) for each in zip(*found))
            if not fine:
                table = _refine(s, PARTS, table, 1)
                table, steps = (_refine(speeds, self.speeds, each, 0) for each in (table, steps))
            rows.append(table)
            strides.append(np.concatenate([steps, table[:, -1, CAPTURE]], axis=1))
        falls = np.array([-math.tan(told - slope) for slope in family.slopes])
        self.tables = GaitTables(np.array(rows), np.array(strides), falls, self.speeds)
        self._choose = compile_ahead(choose, self.tables, low, 0.0, wanted=compiled)
        self.choose(low)
        row = self.tables.rows, self.places, 0.0, 0
        self._row_at = compile_ahead(row_at, *row, wanted=compiled)

    def choose(self, speed: float, rise: float = 0.0) -> Stride:
        """Read the gait of a speed and a rise, or the nearest, from now on; return its `Stride`."""
        self.rise, self.places, self.stride = self._choose(self.tables, speed, rise)
        return self.stride

    def row(self, s: float, foot: int) -> np.ndarray:
        """Return the columns at a part of the step on a foot, ``(COLUMNS,)``."""
        return np.asarray(self._row_at(self.tables.rows, self.places, s, foot))

    def jump(self, foot: int) -> np.ndarray:
        """Return the jump of the efforts at the end of a step on a foot, ``(n_joints,)``, N m."""
        jump, (partners, signs) = self.stride.jump, self._mirror
        result: np.ndarray = jump if foot == 0 else signs * jump[partners]
        return result


@array_function
def choose(
    tables: GaitTables, speed: float, rise: float
) -> tuple[float, tuple[float, float], Stride]:
    """Return rise, places in the tables and `Stride` of the gait of speed and rise, or the nearest.

    Args:
        tables: Of the gaits.
        speed: m/s.
        rise: Of the floor ahead, over run.
    """
    falls, speeds = np.arange(float(len(tables.falls))), np.arange(float(len(tables.speeds)))
    places = (
        float(np.interp(-rise, tables.falls, falls)),
        float(np.interp(speed, tables.speeds, speeds)),
    )
    nearest = min(max(rise, -tables.falls[-1]), -tables.falls[0])
    return float(nearest), places, as_stride(between(tables.strides, places))


@array_function
def as_stride(row: np.ndarray) -> Stride:
    """Return the `Stride` that a row of the tables says.

    Args:
        row: As `GaitTables.strides` hold it, ``(8 + n_joints,)``.
    """
    return Stride(row[0], row[1], row[2:4], row[-2:], row[4], row[5], row[6:-2])


@array_function
def part_at(rows: np.ndarray, places: tuple[float, float], ahead: float) -> float:
    """Return the part of the step at which the centre of mass is so far ahead, m.

    Args:
        rows: See `row_at`.
        places: See `between`.
        ahead: m.
    """
    return float(np.interp(ahead, between(rows[:, :, :, PLACE], places), PARTS))


@array_function
def between(table: np.ndarray, places: tuple[float, float]) -> np.ndarray:
    """Return what a table has at a place in each of its first two axes, linearly.

    Args:
        table: ``(m, n, ...)``.
        places: In the first and in the second axis.
    """
    i, j = int(places[0]), int(places[1])
    k, m = min(i + 1, table.shape[0] - 1), min(j + 1, table.shape[1] - 1)
    here = table[i, j] + places[0] % 1.0 * (table[k, j] - table[i, j])
    beyond = table[i, m] + places[0] % 1.0 * (table[k, m] - table[i, m])
    return np.asarray(here + places[1] % 1.0 * (beyond - here))


@array_function
def row_at(rows: np.ndarray, places: tuple[float, float], s: float, foot: int) -> np.ndarray:
    """Return what such a table has at a part of the step on a foot, ``(COLUMNS,)``.

    Args:
        rows: ``(m, n, SAMPLES, COLUMNS)``.
        places: See `between`.
        s: Part of the step.
        foot: The one that stands.
    """
    place = min(max(s, 0.0), 1.0) * (SAMPLES - 1)
    lower = min(int(place), SAMPLES - 2)
    both = between(rows[:, :, lower : lower + 2], places)
    row = both[0] + (place - lower) * (both[1] - both[0])
    return np.asarray(row if foot == 0 else row * MIRROR)


class _Ground(NamedTuple):
    """The floor of a gait, in the axes of the law."""

    gravity: float  # along their normal, m/s^2
    downhill: float  # of them, fall over run
    pitch: float  # of the floor against them, rad, uphill positive


def _stride_of(gait: SpaceGait, ground: _Ground, foot: Foot) -> list[float]:
    """Return speed ahead, time, way, work, reach and jump of a step whose `foot` lands."""
    ahead, (partners, signs) = math.cos(ground.pitch), gait.mirror
    reach = float(np.hypot(*(foot.position - foot.hip)[:2]))
    jump = signs * gait.efforts(0.0)[partners] - gait.efforts(1.0)
    powers = gait.efforts(PARTS) * gait.sample(PARTS)[1]
    work = float(np.trapezoid(powers.sum(axis=1), PARTS))
    return [
        gait.speed * ahead,
        gait.duration,
        gait.step_length * ahead,
        -gait.step_width,
        work,
        reach,
        *jump,
    ]


def _refine(old: np.ndarray, new: np.ndarray, table: np.ndarray, axis: int) -> np.ndarray:
    """Return a table over a finer grid of one of its axes, by a spline."""
    return np.asarray(make_interp_spline(old, table, 3, axis=axis)(new))


def _tabulate(
    gait: SpaceGait, s: np.ndarray, body: Body, dynamics: Dynamics, ground: _Ground
) -> np.ndarray:
    """Return the table of one gait, ``(len(s), COLUMNS)``."""
    rows, rise = np.zeros((len(s), COLUMNS)), math.tan(ground.pitch)
    sole = pin.utils.rotate('y', -ground.pitch)
    angles = gait.sample(s)
    joints = ROOT + 1 + np.array([dynamics.joints.index(joint) for joint in gait.joints])
    for row, here, *motion in zip(rows, s, *angles):
        q, v = np.zeros(dynamics.nq), np.zeros(dynamics.nv)
        q[6], q[joints], v[joints - 1] = 1.0, motion[0], motion[1]
        _stand(body, q, v, sole)
        stance, swing = body.feet
        row[TURN][:6] = *pin.log3(body.rotation), *(body.rotation @ body.velocity[3:ROOT])
        row[FOOT][:6] = *(swing.position - stance.position), *swing.velocity[:3]
        row[FOOT_TURN][:6] = *pin.log3(swing.rotation), *swing.velocity[3:]
        row[FOOT][[2, 5]] -= rise * row[FOOT][[0, 3]]
        com, momentum = body.com - stance.position, body.momentum_about(stance.position)
        com[2] -= rise * com[0]
        com[0] += ground.downhill * com[2]
        row[RATE] = (ground.gravity / com[2]) ** 0.5
        row[CAPTURE] = com[:2] + np.array([momentum[1], -momentum[0]]) / (
            gait.duration * body.mass * com[2] * row[RATE]
        )
        row[PLACE], row[PRESSURE] = com[0], gait.pressure(float(here))
    column = gait.joints.index(dynamics.joints[body.knees[0]])
    rows[:, KNEE] = np.stack([each[:, column] for each in angles], axis=1)
    for part in (TURN, FOOT, FOOT_TURN):
        rows[:, part][:, 6:] = np.gradient(rows[:, part][:, 3:6], s, axis=0, edge_order=2)
    return rows


def _stand(body: Body, q: np.ndarray, v: np.ndarray, sole: np.ndarray) -> None:
    """Compute a body whose first foot, turned so, is at rest."""
    body.update(q, v)
    q[3:7] = pin.Quaternion(sole @ body.feet[0].rotation.T).coeffs()
    body.update(q, v)
    jacobian = body.feet[0].jacobian
    v[:ROOT] = np.linalg.solve(jacobian[:, :ROOT], -body.feet[0].velocity)
    body.update(q, v)
