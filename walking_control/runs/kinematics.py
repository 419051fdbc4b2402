# SPDX-License-Identifier: Apache-2.0
"""Where base, limbs and feet of a recorded robot are, in the floor frame, and estimate errors."""

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.models import BaseState, Dynamics, parse, Robot
from walking_control.runs import Result, Run

SETTLED = 1e-12  # variance below which an entry is none: the robot cannot move that way


@dataclass(frozen=True)
class Bone:
    """A straight piece of a stick figure.

    Args:
        start: Index of its upper point.
        end: Index of its lower point.
        foot: Index of the foot whose leg it belongs to, or None when it is part of no single leg.
    """

    start: int
    end: int  # of its lower one
    foot: int | None


def foot_positions(dynamics: Dynamics, q: np.ndarray) -> np.ndarray:
    """Return the path of every foot, ``(T, n_feet, 3)`` in m, for coordinates q, ``(T, nq)``.

    Args:
        dynamics: `Dynamics` of the robot.
        q: Generalised coordinates, ``(T, nq)``.

    Returns:
        ``(T, n_feet, 3)``, m.
    """
    feet = dynamics.robot.feet
    path = np.empty((len(q), len(feet), 3))
    for row, position in enumerate(q):
        dynamics.place(position)
        for i, foot in enumerate(feet):
            path[row, i] = dynamics.foot_position(foot)
    return path


def legs_of_joints(dynamics: Dynamics) -> list[int | None]:
    """Return, for each joint of Pinocchio's model, the index of the only foot it carries, or None.

    Args:
        dynamics: The `Dynamics`.
    """
    model = dynamics.model
    chains = [
        set(model.supports[model.frames[dynamics.frames[foot]].parentJoint])
        for foot in dynamics.robot.feet
    ]
    carried = [
        [i for i, chain in enumerate(chains) if joint in chain] for joint in range(model.njoints)
    ]
    return [feet[0] if len(feet) == 1 else None for feet in carried]


def leg_of_each_joint(robot: Robot) -> dict[str, int | None]:
    """Return joint -> the index of the only foot it carries, or None, in the robot's order."""
    dynamics = Dynamics(robot)
    legs = legs_of_joints(dynamics)
    return {joint: legs[dynamics.model.getJointId(joint)] for joint in robot.joints}


class Skeleton:
    """Stick figure of any robot: joint origins, feet, and the bodies that end nowhere.

    Args:
        off_segment: A body whose centre of mass lies farther than this from its drawn segments
            gets one of its own, m.

    Attributes:
        segments: The `Bone` list; indices refer to the points of `points`.
        feet: Index of the point of each foot, in the robot's order.
        base: Index of the base link's origin.
    """

    def __init__(self, dynamics: Dynamics, off_segment: float = 0.02) -> None:
        self._dynamics = dynamics
        self._off_segment = off_segment
        model = dynamics.model
        # A point is a joint and a place fixed to it.
        self._points = [(joint, np.zeros(3)) for joint in range(1, model.njoints)]
        self.base, legs = 0, legs_of_joints(dynamics)
        feet = [model.frames[dynamics.frames[foot]] for foot in dynamics.robot.feet]
        self.feet = [len(self._points) + i for i in range(len(feet))]
        self._points += [(foot.parentJoint, foot.placement.translation.copy()) for foot in feet]
        self.segments = [
            Bone(model.parents[joint] - 1, joint - 1, legs[joint])
            for joint in range(2, model.njoints)
        ]
        self.segments += [
            Bone(self._points[point][0] - 1, point, i) for i, point in enumerate(self.feet)
        ]
        self._add_bodies(model)

    def _add_bodies(self, model: pin.Model) -> None:
        """Give a segment to bodies, such as a trunk, that no joint or foot draws."""
        for joint in range(1, model.njoints):
            inertia = model.inertias[joint]
            if inertia.mass <= 0.0 or self._lies_on_segment(model, joint, inertia.lever):
                continue
            # a limb reaches as far beyond its centre of mass as that is away; a point mass does not
            reach = 1.0 if np.trace(inertia.inertia) < 1e-12 else 2.0
            self.segments.append(Bone(joint - 1, len(self._points), None))
            self._points.append((joint, reach * inertia.lever))

    def _lies_on_segment(self, model: pin.Model, joint: int, place: np.ndarray) -> bool:
        ends = [model.jointPlacements[child].translation for child in model.children[joint]]
        ends += [self._points[point][1] for point in self.feet if self._points[point][0] == joint]
        distances = [_distance_to_segment(place, end) for end in ends]
        return min([float(np.linalg.norm(place)), *distances]) < self._off_segment

    def points(self, q: np.ndarray) -> np.ndarray:
        """Return all points at generalised coordinates, m, ``(n_points, 3)``."""
        self._dynamics.place(q)
        placements = self._dynamics.data.oMi
        return np.array([placements[joint].act(place) for joint, place in self._points])


def _distance_to_segment(place: np.ndarray, end: np.ndarray) -> float:
    length = end @ end
    along = 0.0 if length == 0.0 else np.clip(place @ end / length, 0.0, 1.0)
    return float(np.linalg.norm(place - along * end))


def sole_corners(urdf: str, foot: str) -> np.ndarray:
    """Return the lower face of a link's first collision box (else its origin), m, ``(n, 3)``.

    Args:
        urdf: Text of the URDF.
        foot: Name of the link.
    """
    for collision in parse(urdf).iterfind(f"link[@name='{foot}']/collision"):
        box, origin = collision.find('geometry/box'), collision.find('origin')
        if box is None:
            continue
        x, y, z = (0.5 * float(number) for number in box.get('size', '').split())
        corners = np.array([(x, y, -z), (x, -y, -z), (-x, -y, -z), (-x, y, -z), (x, y, -z)])
        if origin is None:
            return corners
        turn, shift = (
            [float(number) for number in origin.get(name, '0 0 0').split()]
            for name in ('rpy', 'xyz')
        )
        return np.asarray(corners @ pin.rpy.rpyToMatrix(*turn).T + shift)
    return np.zeros((1, 3))


def place_soles(dynamics: Dynamics, corners: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the outlines of all soles after `Dynamics.place`, m.

    Args:
        corners: What `sole_corners` gives of every foot, in the robot's order.
    """
    placements = [dynamics.data.oMf[frame] for frame in dynamics.frames.values()]
    return tuple(
        outline @ place.rotation.T + place.translation
        for outline, place in zip(corners, placements, strict=True)
    )


def base_lean(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how far the base leans from the vertical.

    Returns:
        ``(tilt, forward, left)``, each ``(T,)``, rad: the angle between the base's z axis and the
        vertical, and the leans of that axis along its own x and y direction over the floor.
    """
    slope = run.world.slope
    up = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    x, y, z = np.moveaxis(run.base.rotation, 2, 0) @ up  # the vertical in base axes
    return np.arctan2(np.hypot(x, y), z), np.arctan2(-x, z), np.arctan2(-y, z)


def tilt(points: np.ndarray, slope: float) -> np.ndarray:
    """Turn floor-frame points (x, z) so that gravity points down; slope in rad, downhill positive.

    Args:
        points: m, ``(..., 2)``.
        slope: rad, downhill positive.

    Returns:
        Horizontal and vertical coordinates, m, same shape.
    """
    c, s = np.cos(slope), np.sin(slope)
    return np.asarray(points @ np.array([[c, -s], [s, c]]))


@dataclass(frozen=True)
class EstimateError:
    """Estimate less truth of the base, row by row, in the floor frame.

    Attributes:
        turn: Rotation vector of the error, rad, ``(T, 3)``.
        velocity: m/s, ``(T, 3)``.
        position: m, ``(T, 3)``.
        covariance: Of all three in this order, as the estimator said, ``(T, 9, 9)``; None where
            it said nothing.
    """

    turn: np.ndarray
    velocity: np.ndarray
    position: np.ndarray  # m, ``(T, 3)``
    # of all three in this order, as the estimator said, ``(T, 9, 9)``; None where it said nothing
    covariance: np.ndarray | None

    @property
    def all(self) -> np.ndarray:
        """All nine, ``(T, 9)``."""
        return np.hstack((self.turn, self.velocity, self.position))

    @property
    def sigma(self) -> np.ndarray | None:
        """Standard deviations as the estimator said, ``(T, 9)``, or None."""
        if self.covariance is None:
            return None
        return np.asarray(np.sqrt(np.maximum(np.einsum('tii->ti', self.covariance), 0.0)))


def estimate_error(run: Run) -> EstimateError | None:
    """Return the error of a run's estimate, places from the first stance foot; None without one."""
    if 'estimate' not in run.columns or not len(run.time):
        return None
    estimate, truth = recorded_base(run), run.base
    origin = foot_positions(Dynamics(run.robot), run.q[:1])[0, run.support[0]]
    error = np.einsum('tij,tkj->tik', estimate.rotation, truth.rotation)
    return EstimateError(
        np.array([pin.log3(turn) for turn in error]),
        estimate.linear - truth.linear,
        estimate.position - (truth.position - origin),
        run.columns.get('covariance'),
    )


def recorded_base(run: Run) -> BaseState:
    """Return the `BaseState` of all rows as the estimator knew it."""
    base = BaseState((len(run.time),))
    base.position, base.orientation, base.linear, base.angular = np.split(
        run.estimate, [3, 7, 10], axis=1
    )
    return base


@dataclass(eq=False)
class EstimationMeasures(Result):
    """How far the estimate of a run was off; RMS over all axes."""

    roll_rms: float  # rad, about the floor's x
    pitch_rms: float  # rad, about the floor's y
    velocity_rms: float  # m/s
    position_rms: float  # m
    position_final: float  # m
    # mean normalised squared error over its degrees of freedom: 1 of an honest covariance, less of
    # one that promises little
    nees: float | None = None
    within_3_sigma: float | None = None  # share of all errors of all entries
    worst_within_3_sigma: float | None = None  # of the worst entry


def estimation_measures(run: Run) -> EstimationMeasures | None:
    """Measure the estimate of a run; None of a record without one."""
    error = estimate_error(run)
    if error is None:
        return None
    return EstimationMeasures(
        _rms(error.turn[:, 0]),
        _rms(error.turn[:, 1]),
        _rms(np.linalg.norm(error.velocity, axis=1)),
        _rms(np.linalg.norm(error.position, axis=1)),
        float(np.linalg.norm(error.position[-1])),
        *(() if error.covariance is None else _consistency(error)),
    )


def _rms(values: np.ndarray) -> float:
    return math.sqrt(np.mean(values**2))


def _consistency(error: EstimateError) -> tuple[Any, Any, Any]:
    """Return what the errors say of the covariance."""
    covariance, sigma = error.covariance, error.sigma
    assert covariance is not None and sigma is not None
    own = np.flatnonzero((sigma**2 > SETTLED).any(axis=0))
    errors, P = error.all[:, own], covariance[:, own][:, :, own]
    # in units of sigma: entries of different units would spoil the solution
    scale = np.maximum(sigma[:, own], math.sqrt(SETTLED))
    unit, correlation = errors / scale, P / (scale[:, :, None] * scale[:, None, :])
    correlation += SETTLED * np.eye(len(own))  # of one that claims to be perfect in some way
    nees = np.einsum('ti,ti->t', unit, np.linalg.solve(correlation, unit[..., None])[..., 0])
    inside = (np.abs(errors) <= 3.0 * sigma[:, own]).mean(axis=0)
    return nees.mean() / len(own), inside.mean(), inside.min()
