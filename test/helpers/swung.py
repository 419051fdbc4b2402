# SPDX-License-Identifier: Apache-2.0
"""A robot that somebody sways by hand on its feet, and what its sensors say of it.

It is held still for a second and a half, swayed and turned with both feet on the floor for five
seconds, and then each foot is lifted in turn. Where legs and base are is computed from the feet,
what the sensors say by differences in time. Stated simplification: the hands carry a tenth of the
weight, three tenths while a foot is in the air, and the rest is shared as at rest.
"""

import numpy as np
import pinocchio as pin

from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.signals import Measurement
from walking_control.simulation.sensors import read_preset

STEP = 0.005  # s
REST, SWAYED, LIFT = 1.5, 5.0, 1.2  # s
HIGH = 0.06  # m
TURNS = np.array([0.15, 0.2, 0.25])  # rad, of roll, pitch and yaw
PACES = np.array([5.3, 6.7, 4.1])  # rad/s
SHIFT = 0.02  # m


def swung(robot_file, noise='lab', seed=0):
    """Return the `Measurement`s of a robot that is swayed by hand.

    Args:
        robot_file: The robot.
        noise: Name of its sensors' noise.
        seed: Of the noise.
    """
    robot, gravity = robot_file.robot, robot_file.values(World).gravity
    dynamics, rng = Dynamics(robot, gravity), np.random.default_rng(seed)
    times = np.arange(0.0, REST + SWAYED + LIFT * len(robot.feet), STEP)
    path = list(_path(dynamics, robot_file.start, times))
    imu, model, data = dynamics.frame(robot.imu_link), dynamics.model, dynamics.data
    places = []
    for q in path:
        pin.framesForwardKinematics(model, data, q)
        places.append(data.oMf[imu].copy())
    errors, rows = read_preset(noise), []
    bias = {
        name: rng.normal(0.0, errors.get(f'{name}_bias', 0.0), 3)
        for name in ('gyro', 'acceleration', 'orientation')
    }

    def noisy(name, size):
        return rng.normal(0.0, errors.get(f'{name}_noise', 0.0), size)

    order = dynamics.pinocchio_order[robot.base.nv :]
    smooth, keep = (
        np.zeros(len(robot.joints)),
        np.exp(-2.0 * np.pi * (errors.get('velocity_cutoff') or 1e3) * STEP),
    )
    for i in range(1, len(path) - 1):
        before, here, after = places[i - 1 : i + 2]
        m = Measurement(robot)
        m.stamp = float(times[i])
        m.position[:] = dynamics.from_pinocchio(path[i])[robot.base.nq :]
        m.position[:] += noisy('position', len(m.position))
        rate = pin.difference(model, path[i - 1], path[i + 1])[order] / (2.0 * STEP)
        smooth = keep * smooth + (1.0 - keep) * rate
        m.velocity[:] = smooth + noisy('position', len(rate)) * 20.0
        seen = here.rotation @ pin.exp3(bias['orientation'] + noisy('orientation', 3))
        m.orientation[:] = pin.Quaternion(seen).coeffs()
        turn = pin.log3(before.rotation.T @ after.rotation) / (2.0 * STEP)
        m.angular_velocity[:] = turn + bias['gyro'] + noisy('gyro', 3)
        push = (after.translation + before.translation - 2.0 * here.translation) / STEP**2
        felt = here.rotation.T @ (push + [0.0, 0.0, gravity])
        m.linear_acceleration[:] = felt + bias['acceleration'] + noisy('acceleration', 3)
        m.foot_force[:, 2] = _loads(dynamics, path[i], times[i])
        m.foot_force[:] += noisy('force', m.foot_force.shape)
        rows.append(m)
    return rows


def _lifted(time, count):
    """Return for each foot by how much it is lifted, m."""
    parts = (time - REST - SWAYED) / LIFT - np.arange(count)
    return HIGH * np.where((parts > 0.0) & (parts < 1.0), np.sin(np.pi * parts) ** 2, 0.0)


def _loads(dynamics, q, time):
    """Return the vertical forces on the feet, N."""
    up = _lifted(time, len(dynamics.robot.feet))
    if up.any():
        return np.where(up > 0.0, 0.0, 0.7 * dynamics.weight)
    feet = np.array([dynamics.data.oMf[frame].translation for frame in dynamics.frames.values()])
    along = feet[1] - feet[0]
    share = float((pin.centerOfMass(dynamics.model, dynamics.data, q) - feet[0]) @ along)
    share = np.clip(share / float(along @ along), 0.15, 0.85)
    return 0.9 * dynamics.weight * np.array([1.0 - share, share])


def _path(dynamics, start, times):
    """Yield the configurations, Pinocchio's, that keep the feet where they stand."""
    robot, model = dynamics.robot, dynamics.model
    q = dynamics.to_pinocchio(dynamics.start_state(start)[0]).copy()
    if not robot.is_free:  # a split posture with knees that can give way
        q[3:] = [0.5 if 'hip' in joint else -0.3 for joint in robot.joints]
        q[2] = min(np.arange(-0.6, 0.6, 0.01), key=lambda pitch: _apart(dynamics, q, pitch))
    pin.framesForwardKinematics(model, dynamics.data, q)
    floor = min(dynamics.data.oMf[frame].translation[2] for frame in dynamics.frames.values())
    stand = {}
    for foot, frame in dynamics.frames.items():
        place = dynamics.data.oMf[frame].copy()
        place.translation[2], place.rotation = floor, np.eye(3)
        stand[foot] = place
    home = q.copy()
    # the base goes where the hands want it, the legs follow
    weights = np.ones(model.nv)
    weights[: robot.base.nv] = 1e4 if robot.is_free else (1.0, 1.0, 30.0)
    for time in times:
        swing = np.clip(min(time - REST, REST + SWAYED - time) / 0.5, 0.0, 1.0)
        turn, up = swing * TURNS * np.sin(PACES * (time - REST)), _lifted(time, len(robot.feet))
        aim = home.copy()
        if robot.is_free:
            aim[2] -= 0.02
            aim[:2] += swing * SHIFT * np.sin(np.array([3.1, 4.7]) * (time - REST))
            aim[3:7] = pin.Quaternion(
                pin.Quaternion(home[3:7]).matrix() @ pin.rpy.rpyToMatrix(turn)
            ).coeffs()
            aim[7:] = q[7:]
        else:
            aim[2] += turn[1]
            aim[3:] += swing * 0.1 * np.sin(np.arange(len(robot.joints)) + 5.9 * (time - REST))
        q = _put(dynamics, aim, stand, up, weights)
        yield q.copy()


def _apart(dynamics, q, pitch):
    """Return how far apart in height the feet of a planar robot are at a pitch, m."""
    q[2] = pitch
    pin.framesForwardKinematics(dynamics.model, dynamics.data, q)
    return np.ptp([dynamics.data.oMf[frame].translation[2] for frame in dynamics.frames.values()])


def _put(dynamics, q, stand, up, weights):
    """Return what puts the feet where they belong, as near as can be to a configuration."""
    robot, model, data = dynamics.robot, dynamics.model, dynamics.data
    for _ in range(4):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        rows, errors = [], []
        for (foot, frame), high in zip(dynamics.frames.items(), up):
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            here, there = data.oMf[frame], stand[foot]
            off = there.translation + [0.0, 0.0, high] - here.translation
            rows.append(J if robot.is_free else J[[0, 2]])
            errors += (
                [*off, *pin.log3(there.rotation @ here.rotation.T)]
                if robot.is_free
                else [
                    off[0],
                    off[2],
                ]
            )
        J = np.vstack(rows)
        wide = (J / weights).T
        q = pin.integrate(
            model, q, wide @ np.linalg.solve(J @ wide + 1e-9 * np.eye(len(J)), errors)
        )
    return q
