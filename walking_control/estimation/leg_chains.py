# SPDX-License-Identifier: Apache-2.0
"""What joints and IMU say: where the feet are, how they and the base move, as plain arrays."""

from typing import NamedTuple

import numpy as np

from walking_control.estimation.foot_updates import Sample
from walking_control.estimation.turns import fill_cross_product, fill_product, fill_turn
from walking_control.models import array_function, Dynamics, multiply

ROUND = 8  # joints: chains are as long or twice as long, so that robots share compiled code


class LegChains(NamedTuple):
    """The joints between base and feet; then what is fixed, to the foot and to fill it up.

    Attributes:
        joint: Place of each joint in the robot's order, -1 of what is fixed, ``(n_feet, length)``.
        rotation: From each joint at zero to what carries it, ``(n_feet, length, 3, 3)``.
        offset: Of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``.
        turning: Axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides.
        sliding: Axis along which it slides, likewise.
    """

    # place of each joint in the robot's order, -1 of what is fixed, ``(n_feet, length)``
    joint: np.ndarray
    rotation: np.ndarray
    offset: np.ndarray  # of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``
    # axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides
    turning: np.ndarray
    sliding: np.ndarray


def find_leg_chains(dynamics: Dynamics) -> LegChains:
    """Return the `LegChains` of a robot."""
    model, joints = dynamics.model, dynamics.joints
    data = model.createData()
    frames = [model.frames[dynamics.frames[foot]] for foot in dynamics.robot.feet]
    # the universe and the base's own joint come first
    paths = [list(model.supports[frame.parentJoint])[2:] for frame in frames]
    n, length = len(frames), ROUND * (1 + max(map(len, paths), default=0) // ROUND)
    offset, turning, sliding = np.zeros((3, n, length, 3))
    chains = LegChains(
        np.full((n, length), -1),
        np.tile(np.eye(3), (n, length, 1, 1)),
        offset,
        turning,
        sliding,
    )
    for i, (frame, path) in enumerate(zip(frames, paths, strict=True)):
        for k, joint in enumerate(path):
            placement, subspace = model.jointPlacements[joint], data.joints[joint].S.ravel()
            chains.joint[i, k] = joints.index(model.names[joint])
            chains.rotation[i, k], chains.offset[i, k] = placement.rotation, placement.translation
            chains.sliding[i, k], chains.turning[i, k] = subspace[:3], subspace[3:]
        last, place = len(path), frame.placement
        chains.rotation[i, last], chains.offset[i, last] = place.rotation, place.translation
    return chains


@array_function
def follow_legs(
    chains: LegChains,
    position: np.ndarray,
    velocity: np.ndarray,
    body: np.ndarray,
    sample: Sample,
) -> None:
    """Compute where the feet are, how they are turned and how the joints move them.

    Args:
        position: Of the joints, ``(n_joints,)``, rad (of sliding joints m).
        velocity: Of the joints, ``(n_joints,)``.
        body: The point from which they are seen, in base axes, m.
        sample: What is written: places, turns, speeds, and grams of both.
    """
    length = chains.joint.shape[1]
    at, column = np.zeros((length, 3)), np.zeros(3)
    axes, slides = np.zeros((length, 3)), np.zeros((length, 3))
    carried, turn, R = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    sample.places[:], sample.speeds[:] = 0.0, 0.0
    sample.grams[:], sample.turn_grams[:] = 0.0, 0.0
    for foot in range(len(sample.places)):
        place = sample.places[foot]
        R[:] = np.eye(3)
        for k in range(length):
            joint = chains.joint[foot, k]
            fill_product(R, chains.rotation[foot, k], carried)
            angle = position[joint] if joint >= 0 else 0.0
            fill_turn(chains.turning[foot, k], angle, turn)
            multiply(carried, chains.turning[foot, k], axes[k])
            multiply(carried, chains.sliding[foot, k], slides[k])
            for a in range(3):  # by numbers: making an array for each joint takes longer
                for b in range(3):
                    place[a] += R[a, b] * chains.offset[foot, k, b]
                place[a] += slides[k, a] * angle
                at[k, a] = place[a]
            fill_product(carried, turn, R)
        sample.turns[foot] = R
        at[:] = place - at  # from each joint to the foot
        for k in range(length):
            fill_cross_product(axes[k], at[k], column)
            column += slides[k]
            speed = velocity[chains.joint[foot, k]] if chains.joint[foot, k] >= 0 else 0.0
            for a in range(3):
                sample.speeds[foot, a] += column[a] * speed
                for b in range(3):
                    sample.grams[foot, a, b] += column[a] * column[b]
                    sample.turn_grams[foot, a, b] += axes[k, a] * axes[k, b]
        place -= body
