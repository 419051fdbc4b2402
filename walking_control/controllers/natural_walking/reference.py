# SPDX-License-Identifier: Apache-2.0
"""What a family of gaits asks of a robot, over the part s of a step: a table, read every tick.

The gaits say joint angles q(s). What the law tracks follows from them with the stance foot flat at
the origin: the turn of the base, the angle of the stance knee (not the height: where a leg is
straight no force changes it), the pose of the swing foot, where the floor presses, and the
divergent component xi(s) that all this makes. Each with two derivatives in s, so that

    x' = x_s s',    x'' = x_ss s'^2.

All is of a step on the first foot, and seen in a mirror of one on the other.
"""

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from walking_control.controllers.stepping.body import Body
from walking_control.gaits.gait_family import GaitFamily, SpaceGait
from walking_control.models.base import ROOT
from walking_control.models.dynamics import Dynamics

SAMPLES = 201  # along a step
SPACING = 0.05  # m/s between the speeds the table has
# columns: values, first and second derivatives, vectors in floor axes
TURN, KNEE, FOOT, FOOT_TURN = slice(0, 9), slice(9, 12), slice(12, 21), slice(21, 30)
PRESSURE, CAPTURE, RATE = slice(30, 32), slice(32, 34), 34
COLUMNS = 35
_VECTOR, _TURNING = [1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]
MIRROR = np.array(
    [*_TURNING * 3, 1.0, 1.0, 1.0, *_VECTOR * 3, *_TURNING * 3, 1.0, -1.0, 1.0, -1.0, 1.0]
)


class Stride(NamedTuple):
    """A gait's step as a whole, on the first foot."""

    speed: float  # m/s
    duration: float  # s
    way: np.ndarray  # from foot to foot, m, ``(2,)``
    end: np.ndarray  # divergent component just before touchdown, from the stance foot, m, ``(2,)``
    work: float  # of the motors in a step, which its impact takes, J


class GaitTable:
    """The gaits of a family at all speeds between its slowest and fastest.

    `dynamics`: the robot's `Dynamics`, whose first foot is that of the gaits. `gravity`: along the
    floor's normal, m/s^2. Attributes: `speeds`: ascending, m/s, ``(n,)``. `knees`: each leg's knee,
    an index of the robot's joints.
    """

    def __init__(self, family: GaitFamily, dynamics: Dynamics, gravity: float) -> None:
        low, high = family.speeds[0], family.speeds[-1]
        count = math.ceil((high - low) / SPACING) + 1
        self.speeds = np.linspace(low, high, count)
        gaits = [family.at(float(speed)) for speed in self.speeds]
        body = Body(dynamics)
        self.knees = [_find_knee(dynamics, foot) for foot in dynamics.robot.feet]
        self._rows = np.array(
            [_tabulate(gait, body, dynamics, self.knees[0], gravity) for gait in gaits]
        )
        self._strides = np.array(
            [
                [
                    gait.speed,
                    gait.duration,
                    gait.step_length,
                    -gait.step_width,
                    *rows[-1, CAPTURE],
                    _work(gait),
                ]
                for gait, rows in zip(gaits, self._rows)
            ]
        )
        self.choose(low)

    def choose(self, speed: float) -> Stride:
        """Read the gait of a speed, or the nearest one, from now on; return its `Stride`."""
        lower, upper, share = self._between(speed)
        self._step = self._rows[lower] + share * (self._rows[upper] - self._rows[lower])
        self.stride = self.stride_at(speed)
        return self.stride

    def stride_at(self, speed: float) -> Stride:
        """Return the `Stride` of a speed, or the nearest one."""
        lower, upper, share = self._between(speed)
        below, above = self._strides[lower], self._strides[upper]
        stride = below + share * (above - below)
        speed, duration, *_, work = stride.tolist()
        return Stride(speed, duration, stride[2:4], stride[4:6], work)

    def _between(self, speed: float) -> tuple[int, int, float]:
        """Return the speeds below and above one, and its place between them, 0 to 1."""
        place = float(np.interp(speed, self.speeds, np.arange(len(self.speeds))))
        lower = int(place)
        return lower, min(lower + 1, len(self.speeds) - 1), place - lower

    def row(self, s: float, foot: int) -> np.ndarray:
        """Return the columns at a part of the step on a foot, ``(COLUMNS,)``."""
        place = min(max(s, 0.0), 1.0) * (SAMPLES - 1)
        lower = min(int(place), SAMPLES - 2)
        below, above = self._step[lower : lower + 2]
        row = below + (place - lower) * (above - below)
        result: np.ndarray = row if foot == 0 else row * MIRROR
        return result


def _find_knee(dynamics: Dynamics, foot: str) -> int:
    """Return the joint in the middle of a leg, where it bends, an index of the robot's joints."""
    model, frame = dynamics.model, dynamics.model.frames[dynamics.frames[foot]]
    leg = list(model.supports[frame.parentJoint])[2:]
    ways = [
        float(np.linalg.norm(place.translation))
        for place in (*(model.jointPlacements[joint] for joint in leg[1:]), frame.placement)
    ]
    middle = max(range(len(leg)), key=lambda i: min(sum(ways[:i]), sum(ways[i:])))
    return dynamics.joints.index(model.names[leg[middle]])


def _work(gait: SpaceGait) -> float:
    """Return the work of the motors in a step, J."""
    s = np.linspace(0.0, 1.0, SAMPLES)
    power = (gait.efforts(s) * gait.sample(s)[1]).sum(axis=1)
    return float(np.trapezoid(power, s))


def _tabulate(
    gait: SpaceGait, body: Body, dynamics: Dynamics, knee: int, gravity: float
) -> np.ndarray:
    """Return the table of one gait, ``(SAMPLES, COLUMNS)``."""
    s = np.linspace(0.0, 1.0, SAMPLES)
    rows = np.zeros((SAMPLES, COLUMNS))
    angles = gait.sample(s)
    joints = ROOT + 1 + np.array([dynamics.joints.index(joint) for joint in gait.joints])
    for row, here, *motion in zip(rows, s, *angles):
        q, v = np.zeros(dynamics.nq), np.zeros(dynamics.nv)
        q[6], q[joints], v[joints - 1] = 1.0, motion[0], motion[1]
        _stand(body, q, v)
        stance, swing = body.feet
        row[TURN][:6] = *pin.log3(body.rotation), *(body.rotation @ body.velocity[3:ROOT])
        row[FOOT][:6] = *(swing.position - stance.position), *swing.velocity[:3]
        row[FOOT_TURN][:6] = *pin.log3(swing.rotation), *swing.velocity[3:]
        com, momentum = body.com - stance.position, body.momentum_about(stance.position)
        row[RATE] = (gravity / com[2]) ** 0.5
        row[CAPTURE] = com[:2] + np.array([momentum[1], -momentum[0]]) / (
            gait.duration * body.mass * com[2] * row[RATE]
        )
        row[PRESSURE] = gait.pressure(float(here))
    column = gait.joints.index(dynamics.joints[knee])
    rows[:, KNEE] = np.stack([each[:, column] for each in angles], axis=1)
    for part in (TURN, FOOT, FOOT_TURN):
        rows[:, part][:, 6:] = np.gradient(rows[:, part][:, 3:6], s, axis=0, edge_order=2)
    return rows


def _stand(body: Body, q: np.ndarray, v: np.ndarray) -> None:
    """Compute a body whose first foot is flat on the floor and at rest."""
    body.update(q, v)
    q[3:7] = pin.Quaternion(body.feet[0].rotation.T).coeffs()
    body.update(q, v)
    jacobian = body.feet[0].jacobian
    v[:ROOT] = np.linalg.solve(jacobian[:, :ROOT], -body.feet[0].velocity)
    body.update(q, v)
