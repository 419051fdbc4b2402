# SPDX-License-Identifier: Apache-2.0
"""What joints and IMU say: where the feet are, how they and the base move, as plain arrays."""

from typing import NamedTuple

import numpy as np

from walking_control.estimation.foot_updates import Noise, predict, Sample
from walking_control.estimation.invariant import FilterState
from walking_control.estimation.turns import fill_cross_product, fill_product, fill_turn, write_turn
from walking_control.models import array_function, Dynamics, multiply

LONGEST_SAMPLE = 0.1  # s: after a longer silence the IMU has said nothing of what happened


class LegChains(NamedTuple):
    """The joints between base and feet; shorter legs are filled up with joints that are fixed.

    Attributes:
        joint: Place of each joint in the robot's order, -1 of a filler, ``(n_feet, length)``.
        rotation: From each joint at zero to what carries it, ``(n_feet, length, 3, 3)``.
        offset: Of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``.
        turning: Axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides.
        sliding: Axis along which it slides, likewise.
        foot: Of the foot's origin in the axes of its last joint, m, ``(n_feet, 3)``.
        sole: From the foot's axes to those of its last joint, ``(n_feet, 3, 3)``.
    """

    # place of each joint in the robot's order, -1 of a filler, ``(n_feet, length)``
    joint: np.ndarray
    rotation: np.ndarray
    offset: np.ndarray  # of each joint in the axes of what carries it, m, ``(n_feet, length, 3)``
    # axis about which it turns, ``(n_feet, length, 3)``; zero of one that slides
    turning: np.ndarray
    sliding: np.ndarray
    foot: np.ndarray
    sole: np.ndarray


class Mount(NamedTuple):
    """Where the IMU is, and what the robot weighs.

    Attributes:
        imu: Origin of the body, which is that of the IMU, in base axes, m, ``(3,)``.
        axes: From the IMU's axes to those of the base, ``(3, 3)``.
        gravity: Floor frame, m/s^2, ``(3,)``.
        firm: Force on a foot that rests for certain, N.
    """

    imu: np.ndarray
    axes: np.ndarray
    gravity: np.ndarray
    firm: float


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
        np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
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
    sample.grams[:], sample.turn_grams[:], sample.speeds[:] = 0.0, 0.0, 0.0
    sample.places[:] = 0.0
    for foot in range(len(sample.places)):
        place = sample.places[foot]
        R[:] = np.eye(3)
        for k in range(length):
            joint = chains.joint[foot, k]
            if joint < 0:
                break
            for a in range(3):
                for b in range(3):
                    place[a] += R[a, b] * chains.offset[foot, k, b]
            fill_product(R, chains.rotation[foot, k], carried)
            fill_turn(chains.turning[foot, k], position[joint], turn)
            multiply(carried, chains.turning[foot, k], axes[k])
            multiply(carried, chains.sliding[foot, k], slides[k])
            fill_product(carried, turn, R)
            place += slides[k] * position[joint]
            at[k] = place
        for a in range(3):
            for b in range(3):
                place[a] += R[a, b] * chains.foot[foot, b]
        fill_product(R, chains.sole[foot], sample.turns[foot])
        for k in range(length):
            joint = chains.joint[foot, k]
            if joint < 0:
                break
            fill_cross_product(axes[k], place - at[k], column)
            column += slides[k]
            sample.speeds[foot] += column * velocity[joint]
            for a in range(3):
                for b in range(3):
                    sample.grams[foot, a, b] += column[a] * column[b]
                    sample.turn_grams[foot, a, b] += axes[k, a] * axes[k, b]
        place -= body


@array_function
def sense(
    chains: LegChains,
    told: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    state: FilterState,
    sample: Sample,
    noise: Noise,
    mount: Mount,
    dt: float,
    orientation: np.ndarray,
    angular: np.ndarray,
) -> None:
    """Take joints and IMU in, move the state on by them, and write how the base is turned.

    What the robot cannot do it does not feel. Without an accelerometer it feels gravity.

    Args:
        told: Positions and velocities of the joints, ``(n,)``; angular velocity and specific force
            in the axes of the IMU, ``(3,)``.
        dt: Time since the last sample, s; nothing moves if it is zero or too long.
        orientation: Of the base, quaternion xyzw; written.
        angular: Its angular velocity, base axes, rad/s; written.
    """
    position, velocity, rate, force = told
    multiply(mount.axes, rate, sample.rate)
    multiply(mount.axes, force, sample.force)
    sample.rate[:] *= state.free[:3]
    sample.force[:] *= state.free[3:6]
    if not force.any():
        multiply(state.rotation.T, -mount.gravity, sample.force)
    follow_legs(chains, position, velocity, mount.imu, sample)
    if 0.0 < dt <= LONGEST_SAMPLE:
        predict(state, sample, noise, mount.gravity, dt)
    sample.last_rate[:] = sample.rate
    write_turn(state.rotation, orientation)
    angular[:] = sample.rate - state.bias[0]
