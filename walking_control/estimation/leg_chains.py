# SPDX-License-Identifier: Apache-2.0
"""Where the feet are and how they move, seen from the base: joint by joint, as plain arrays."""

from typing import NamedTuple

import numpy as np

from walking_control.estimation.turns import fill_turn
from walking_control.models.array_functions import array_function
from walking_control.models.dynamics import Dynamics


class LegChains(NamedTuple):
    """The joints between base and feet; shorter legs are filled up with joints that are fixed.

    Attributes:
        joint: Place of each joint in the robot's order, -1 of a filler, ``(n_feet, length)``.
        rotation: From each joint at zero to what carries it, ``(n_feet, length, 3, 3)``.
        offset: Of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``.
        turning: Axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides.
        sliding: Axis along which it slides, likewise.
        foot: Of the foot's origin in the axes of its last joint, m, ``(n_feet, 3)``.
    """

    # place of each joint in the robot's order, -1 of a filler, ``(n_feet, length)``
    joint: np.ndarray
    rotation: np.ndarray
    offset: np.ndarray  # of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``
    # axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides
    turning: np.ndarray
    sliding: np.ndarray
    foot: np.ndarray


def find_leg_chains(dynamics: Dynamics) -> LegChains:
    """Return the `LegChains` of a robot."""
    model, joints = dynamics.model, dynamics.joints
    data = model.createData()
    frames = [model.frames[dynamics.frames[foot]] for foot in dynamics.robot.feet]
    # the universe and the base's own joint come first
    paths = [list(model.supports[frame.parentJoint])[2:] for frame in frames]
    n, length = len(frames), max(map(len, paths), default=0)
    offset, turning, sliding = np.zeros((3, n, length, 3))
    chains = LegChains(
        np.full((n, length), -1),
        np.tile(np.eye(3), (n, length, 1, 1)),
        offset,
        turning,
        sliding,
        np.zeros((n, 3)),
    )
    for i, (frame, path) in enumerate(zip(frames, paths, strict=True)):
        for k, joint in enumerate(path):
            placement, subspace = model.jointPlacements[joint], data.joints[joint].S.ravel()
            chains.joint[i, k] = joints.index(model.names[joint])
            chains.rotation[i, k], chains.offset[i, k] = placement.rotation, placement.translation
            chains.sliding[i, k], chains.turning[i, k] = subspace[:3], subspace[3:]
        chains.foot[i] = frame.placement.translation
    return chains


@array_function
def follow_legs(
    chains: LegChains,
    position: np.ndarray,
    velocity: np.ndarray,
    body: np.ndarray,
    places: np.ndarray,
    speeds: np.ndarray,
    grams: np.ndarray,
) -> None:
    """Compute where the feet are and how the joints move them.

    Args:
        position: Of the joints, ``(n_joints,)``, rad (of sliding joints m).
        velocity: Of the joints, ``(n_joints,)``.
        body: The point from which they are seen, in base axes, m.
        places: Of the feet from there, base axes, m, ``(n_feet, 3)``; written.
        speeds: Their velocities in base axes, m/s, ``(n_feet, 3)``; written.
        grams: ``J J^T`` of their Jacobians by the joints, ``(n_feet, 3, 3)``; written.
    """
    length = chains.joint.shape[1]
    at, lever, column = np.zeros((length, 3)), np.zeros(3), np.zeros(3)
    axes, slides = np.zeros((length, 3)), np.zeros((length, 3))
    R, carried, turn = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    for foot in range(len(places)):
        place = places[foot]
        for a in range(3):
            place[a] = 0.0
            for b in range(3):
                R[a, b] = 1.0 if a == b else 0.0
        for k in range(length):
            joint = chains.joint[foot, k]
            if joint < 0:
                break
            turning, sliding = chains.turning[foot, k], chains.sliding[foot, k]
            for a in range(3):
                for b in range(3):
                    place[a] += R[a, b] * chains.offset[foot, k, b]
                    carried[a, b] = 0.0
                    for c in range(3):
                        carried[a, b] += R[a, c] * chains.rotation[foot, k, c, b]
            fill_turn(turning, position[joint], turn)
            for a in range(3):
                axes[k, a] = slides[k, a] = 0.0
                for b in range(3):
                    axes[k, a] += carried[a, b] * turning[b]
                    slides[k, a] += carried[a, b] * sliding[b]
                    R[a, b] = 0.0
                    for c in range(3):
                        R[a, b] += carried[a, c] * turn[c, b]
                place[a] += slides[k, a] * position[joint]
                at[k, a] = place[a]
        for a in range(3):
            for b in range(3):
                place[a] += R[a, b] * chains.foot[foot, b]
                grams[foot, a, b] = 0.0
            speeds[foot, a] = 0.0
        for k in range(length):
            joint = chains.joint[foot, k]
            if joint < 0:
                break
            for a in range(3):
                lever[a] = place[a] - at[k, a]
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                column[a] = axes[k, b] * lever[c] - axes[k, c] * lever[b] + slides[k, a]
                speeds[foot, a] += column[a] * velocity[joint]
            for a in range(3):
                for b in range(3):
                    grams[foot, a, b] += column[a] * column[b]
        for a in range(3):
            place[a] -= body[a]
