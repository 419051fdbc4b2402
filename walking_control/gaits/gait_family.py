# SPDX-License-Identifier: Apache-2.0
"""Gaits in space of one robot over speed and slope: a file of them, and what lies between.

A member is a step on the robot's first foot, which stands flat at the origin of the floor frame:
its joints as polynomials of s, 0 just after one touchdown and 1 just before the next. Pressure
point and efforts follow by inverse dynamics. Between members everything is a spline over speed, and
linear between two slopes, on each of which there are the same speeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from walking_control.exceptions import refusing, require
from walking_control.gaits import (
    COARSE,
    evaluation,
    FINE,
    Gait,
    gait_file,
    GaitError,
    judge_step,
    on_slope,
    Phase,
    points,
    STEEPEST,
    StepJudgement,
)
from walking_control.models import Dynamics, mirrored_joints, Robot, RobotFile, World

KEY = 'walking_control_gait_family'
FRICTION = 'friction of joints, N m s/rad and N m'
SAME = 1e-5  # m/s and rad: of one speed on two slopes
HOLE = 0.11  # of sqrt(g l): neighbours farther apart leave a hole between them
FORCES = 16  # degree of the polynomials of pressure point and efforts
FIND_ONE = 'find one for this robot: walking_control gait search ROBOT --speeds LO:HI:N --out DIR'
COSTS = ('cost_of_transport_electrical', 'cost_of_transport_each_joint')


@dataclass(frozen=True)
class SpaceGait:
    """A periodic step in space on the robot's first foot; see `GaitFamily.at`.

    Attributes:
        joints: Names, in the order of all that follows.
        stance: The foot that stands.
        mirror: Partner of each joint, and its sign: joints of the step on the other foot are
            ``signs * q[partners]``; places are mirrored at the x-z plane.
        speed: Along the floor, m/s.
        slope: Of the floor, rad, downhill positive.
        duration: Of a step, s.
        step_width: Distance between the soles sideways, m.
        costs: `COSTS`: joints exchanging power at the supply, and each paying alone.
        posture: Joints at Chebyshev points, ``(degree + 1, n)``, rad.
        forces: Pressure point (m) and efforts (N m) at Chebyshev points, ``(FORCES + 1, 2 + n)``.
    """

    joints: tuple[str, ...]
    stance: str  # the foot that stands
    # partner of each joint, and its sign: joints of the step on the other foot are ``signs *
    # q[partners]``; places are mirrored at the x-z plane
    mirror: tuple[np.ndarray, np.ndarray] = field(repr=False)
    speed: float
    slope: float
    duration: float
    step_width: float  # distance between the soles sideways, m
    # `COSTS`: joints exchanging power at the supply, and each paying alone
    costs: Mapping[str, float]
    posture: np.ndarray = field(repr=False)  # joints at Chebyshev points, ``(degree + 1, n)``, rad
    # pressure point (m) and efforts (N m) at Chebyshev points, ``(FORCES + 1, 2 + n)``
    forces: np.ndarray = field(repr=False)

    @property
    def step_length(self) -> float:
        """Return the distance between the soles ahead, m."""
        return self.speed * self.duration

    @property
    def gait(self) -> Gait:
        """Return the step as a `Gait`."""
        return Gait((Phase(self.duration, self.posture),))

    @cached_property
    def _series(self) -> tuple[np.ndarray, ...]:
        """Return Chebyshev series of the joints, of two derivatives, and of the forces."""
        chebyshev = np.polynomial.chebyshev
        q = _to_series(len(self.posture) - 1) @ self.posture
        dq = 2.0 * chebyshev.chebder(q)
        return q, dq, 2.0 * chebyshev.chebder(dq), _to_series(FORCES) @ self.forces

    def sample(self, s: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the joints at s in [0, 1] and their first and second derivatives in s.

        Rates are ``dq sdot``, accelerations ``ddq sdot^2 + dq sddot``; sdot is 1 / duration.

        Args:
            s: A number, or ``(m,)``.

        Returns:
            Each ``(n,)``, or ``(m, n)``; rad.
        """
        x = 2.0 * np.asarray(s, dtype=float) - 1.0
        q, dq, ddq = (np.polynomial.chebyshev.chebval(x, series).T for series in self._series[:3])
        return q, dq, ddq

    def pressure(self, s: ArrayLike) -> np.ndarray:
        """Return the pressure point in the frame of the stance sole, ``(2,)`` or ``(m, 2)``, m."""
        return self._forces(s)[..., :2]

    def efforts(self, s: ArrayLike) -> np.ndarray:
        """Return the motors' efforts of the motion at its own speed, ``(n,)`` or ``(m, n)``."""
        return self._forces(s)[..., 2:]

    def _forces(self, s: ArrayLike) -> np.ndarray:
        x = 2.0 * np.asarray(s, dtype=float) - 1.0
        return np.asarray(np.polynomial.chebyshev.chebval(x, self._series[3]).T)


def _to_series(degree: int) -> np.ndarray:
    """Return the matrix from values at `points` to a Chebyshev series."""
    return np.linalg.inv(np.polynomial.chebyshev.chebvander(2.0 * points(degree) - 1.0, degree))


class GaitFamily:
    """Gaits in space of one robot over its speed, on one slope or several.

    Args:
        robot_file: The `RobotFile` they belong to.
        members: `Gait` of each speed and slope, of one phase and one degree.
        slopes: Of each member's floor, rad, downhill positive; None: all are of level floors.

    Attributes:
        speeds: Ascending, m/s, ``(n,)``.
        slopes: Ascending, rad, ``(m,)``.
        judgements: `StepJudgement` of each speed on the slope nearest to level.

    Raises:
        GaitError: A gait asks for more than the motors give, or a slope lacks a speed.
    """

    def __init__(
        self,
        robot_file: RobotFile,
        members: Sequence[Gait],
        slopes: Sequence[float] | None = None,
    ) -> None:
        robot, gravity = robot_file.robot, robot_file.values(World).gravity
        self.joints, self.stance = robot.joints, robot.feet[0]
        self._hole = HOLE * np.sqrt(gravity * robot_file.scale.length)
        legs, mirror = mirrored_joints(robot)
        partners = np.argmax(np.abs(mirror), axis=1)
        self.mirror = partners, mirror[np.arange(len(partners)), partners]
        places = [0.0] * len(members) if slopes is None else [*map(float, slopes)]
        self.slopes: tuple[float, ...] = tuple(sorted(set(places)))
        level = min(self.slopes, key=abs)
        self._size = members[0].phases[0].values.size
        self._rows: list[np.ndarray] = []
        self._splines: list[Any] = []
        for slope in sorted(self.slopes, key=abs):
            gaits = [gait for gait, place in zip(members, places, strict=True) if place == slope]
            grid = FINE if slope == level else COARSE
            judgements = [judge_step(robot, gait, gravity, slope, grid) for gait in gaits]
            speeds = np.array(
                [
                    judgement.step[0] / gait.period
                    for gait, judgement in zip(gaits, judgements, strict=True)
                ]
            )
            if slope == level:
                self.judgements = judgements
                self.speeds: tuple[float, ...] = tuple(speeds.tolist())
            require(
                len(speeds) == len(self.speeds) and np.abs(speeds - self.speeds).max() <= SAME,
                f'family of gaits of {robot.name}{on_slope(slope)}',
                value=np.round(speeds, 6).tolist(),
                limit=f'must go over the speeds {np.round(self.speeds, 6).tolist()} m/s',
                remedy='search all slopes at one --speeds',
                error=GaitError,
            )
            for speed, judgement in zip(speeds, judgements, strict=True):
                _require_motors(robot, float(speed), slope, judgement.effort)
            rows = np.array([_row_of(*pair) for pair in zip(gaits, judgements, strict=True)])
            at = len(self._rows) if slope > level else 0
            self._rows.insert(at, rows)
            self._splines.insert(
                at,
                make_interp_spline(self.speeds, rows, min(3, len(rows) - 1))
                if len(rows) > 1
                else None,
            )

    @classmethod
    def read(cls, path: Path | str, robot_file: RobotFile) -> GaitFamily:
        """Return the family of a file, checked against the robot.

        Raises:
            GaitFileError: It cannot be read, or belongs to another robot: says what differs.
            GaitError: A gait asks for more than the motors give.
        """
        document = gait_file.read_document(path, KEY, {'robot': Mapping, 'members': list})
        robot = robot_file.robot
        _require_same(document['robot'], fingerprint(robot_file), path)
        members = [
            Gait((gait_file.read_phase(entry, robot.joints, path),))
            for entry in document['members']
        ]
        with refusing(
            (TypeError, ValueError),
            f'gait file {path}',
            limit='has a slope that is no number: {error}',
            error=gait_file.GaitFileError,
        ):
            slopes = [float(entry.get('slope', 0.0)) for entry in document['members']]
        require(
            np.abs(slopes).max(initial=0.0) <= STEEPEST,
            f'slopes of gait file {path}',
            value=slopes,
            limit=f'must be within {STEEPEST} rad',
            error=gait_file.GaitFileError,
        )
        require(
            len({len(gait.phases[0].values) for gait in members}) <= 1,
            f'gait file {path}',
            limit='has members of different degrees',
            error=gait_file.GaitFileError,
        )
        return cls(robot_file, members, slopes)

    def at(self, speed: float, slope: float | None = None) -> SpaceGait:
        """Return the `SpaceGait` of a speed and a slope.

        Args:
            speed: Along the floor, m/s.
            slope: Of the floor, rad, downhill positive; None is the slope nearest to level.

        Raises:
            GaitError: Beyond the family's speeds or slopes, or in a hole between speeds.
        """
        slopes = np.array(self.slopes)
        slope = min(self.slopes, key=abs) if slope is None else slope
        if not slopes[0] - SAME < slope < slopes[-1] + SAME:  # also of what is not finite
            ends = f'{np.degrees(slopes[0]):.3g} to {np.degrees(slopes[-1]):.3g}'
            raise GaitError(
                'slope of the gait',
                value=slope,
                limit=f'the family goes from {ends} degrees downhill',
                remedy='search more with --slopes-deg',
            )
        place = float(np.interp(slope, slopes, np.arange(len(slopes))))
        below = self._at_speed(speed, int(place))
        if place > int(place):
            below = below + (place - int(place)) * (self._at_speed(speed, int(place) + 1) - below)
        n = len(self.joints)
        return SpaceGait(
            self.joints,
            self.stance,
            self.mirror,
            float(speed),
            float(slope),
            float(below[0]),
            float(below[1]),
            dict(zip(COSTS, below[2:4].tolist(), strict=True)),
            below[4 : 4 + self._size].reshape(-1, n),
            below[4 + self._size :].reshape(-1, 2 + n),
        )

    def _at_speed(self, speed: float, k: int) -> np.ndarray:
        """Return the numbers of a gait on the k-th slope, by splines over speed."""
        speeds, exact = np.array(self.speeds), np.abs(np.array(self.speeds) - speed) < 1e-9
        above = int(np.searchsorted(speeds, speed))
        if not exact.any():
            ends = f'goes from {speeds[0]:.3g} to {speeds[-1]:.3g} m/s'
            require(
                speeds[0] < speed < speeds[-1],  # false of what is not finite, too
                'speed of the gait',
                value=speed,
                limit=f'the family {ends}',
                error=GaitError,
            )
            require(
                speeds[above] - speeds[above - 1] <= self._hole,
                'speed of the gait',
                value=speed,
                limit='the family has a hole '
                f'from {speeds[above - 1]:.3g} to {speeds[above]:.3g} m/s',
                remedy='search gaits in between',
                error=GaitError,
            )
        spline = self._splines[k]
        return np.asarray(
            self._rows[k][int(np.argmax(exact))] if exact.any() or spline is None else spline(speed)
        )


def _row_of(gait: Gait, judgement: StepJudgement) -> np.ndarray:
    """Return what a family keeps of a member: time, width, `COSTS`, joints and forces."""
    fit = np.linalg.pinv(evaluation(FORCES, judgement.s))
    forces = fit @ np.hstack([judgement.pressure, judgement.effort])
    return np.concatenate(
        [
            [gait.period, -judgement.step[1]],
            [getattr(judgement, name) for name in COSTS],
            gait.phases[0].values.ravel(),
            forces.ravel(),
        ]
    )


def _require_motors(robot: Robot, speed: float, slope: float, effort: np.ndarray) -> None:
    """Refuse efforts beyond those of the motors."""
    limits, peak = robot.effort_limits[: len(robot.joints)], np.abs(effort).max(axis=0)
    worst = int(np.argmax(peak / limits))
    require(
        peak[worst] <= limits[worst],
        f'gait of {robot.name} at {speed:.3g} m/s{on_slope(slope)}',
        value=float(peak[worst]),
        limit=f'asks for more than the {limits[worst]:.4g} N m of {robot.joints[worst]}',
        remedy='search one for these motors',
        error=GaitError,
    )


def fingerprint(robot_file: RobotFile) -> dict[str, Any]:
    """Return what of a robot its gaits depend on, in words and numbers."""
    robot = robot_file.robot
    model = Dynamics(robot).model
    names = ['base', *list(model.names)[2:]]
    springs = {
        joint: [spring.stiffness, spring.damping, spring.rest]
        for joint, spring in robot.springs.items()
        if spring.stiffness or spring.damping
    }
    return {
        'name': robot.name,
        'joints': list(robot.joints),
        'feet': list(robot.feet),
        'gravity [m/s^2]': robot_file.values(World).gravity,
        'mass [kg]': float(sum(model.inertias[i].mass for i in range(1, model.njoints))),
        'places of joints [m]': {
            name: model.jointPlacements[i].translation.tolist()
            for i, name in enumerate(names[1:], start=2)
        },
        'rotor inertias [kg m^2]': {
            joint: motor.armature for joint, motor in robot.actuators.items()
        },
        'springs': springs,
        FRICTION: {
            joint: [friction.viscous, friction.coulomb]
            for joint, friction in robot.friction.items()
            if friction.viscous or friction.coulomb
        },
        'masses, first moments and inertias of bodies': {
            name: model.inertias[i].toDynamicParameters().tolist()
            for i, name in enumerate(names, start=1)
        },
    }


def _require_same(theirs: Mapping[str, Any], mine: Mapping[str, Any], path: Path | str) -> None:
    """Refuse another robot; says what differs first."""
    for key, own in mine.items():
        if key == 'name':  # two files may call one robot by two names
            continue
        given = theirs.get(key, {} if key == FRICTION else None)  # older files have none
        pairs = [('', given, own)]
        if isinstance(own, Mapping) and isinstance(given, Mapping):
            pairs = [
                (f' {name}', given.get(name), own.get(name))
                for name in dict.fromkeys([*own, *given])
            ]
        for name, one, other in pairs:
            require(
                _alike(one, other),
                f'{key}{name} of gait file {path}',
                value=one,
                limit=f'the robot {mine["name"]} has {other}',
                remedy=FIND_ONE,
                error=gait_file.GaitFileError,
            )


def _alike(one: object, other: object) -> bool:
    try:
        a, b = np.array(one, dtype=float), np.array(other, dtype=float)
    except (TypeError, ValueError):
        return one == other
    return a.shape == b.shape and bool(np.allclose(a, b, gait_file.TOLERANCE, 1e-9))


def family_document(
    robot_file: RobotFile,
    members: Sequence[Gait],
    figures: Sequence[Any],
    slopes: Sequence[float],
    provenance: Any,
) -> dict[str, Any]:
    """Return a family as a tree of plain values.

    Args:
        robot_file: The `RobotFile`, adapted mechanics applied.
        members: `Gait` of each speed and slope.
        figures: Of each search, name -> number.
        slopes: Of each member's floor, rad, downhill positive.
        provenance: How they were found, name -> value.
    """
    joints = robot_file.robot.joints
    return {
        KEY: gait_file.VERSION,
        'robot': fingerprint(robot_file),
        'provenance': provenance,
        'members': [
            {
                'found': found,
                **({'slope': float(slope)} if slope else {}),
                **gait_file.phase_document(gait.phases[0], joints),
            }
            for gait, found, slope in zip(members, figures, slopes, strict=True)
        ],
    }
