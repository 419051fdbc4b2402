# SPDX-License-Identifier: Apache-2.0
"""A robot for mujoco_ros2_control: the MJCF of plant `mujoco`, with motors, sensors and a start.

The world's z is up there, as IMUs have it: on a slope the floor is tilted, not gravity. The motor
of a joint with a lock is a spring and a damper that hold it while their control is 1: from outside
they would act some milliseconds late, and ring.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.models import Base, KINDS, RobotFile, World
from walking_control.ros.ros2_control import gazebo_description, LOCK_EFFORT, Wiring
from walking_control.ros.ros2_control.tags import MUJOCO, tags, with_tags
from walking_control.simulation.lock_emulation import LockEmulator, OWN_DAMPING, OWN_FREQUENCY
from walking_control.simulation.mujoco import import_mujoco
from walking_control.simulation.mujoco.engine import MujocoEngine

KEYFRAME = 'start'


def mujoco_description(
    wiring: Wiring, model: str, headless: bool = False, speed: float = 1.0
) -> str:
    """Return the robot_description for mujoco_ros2_control.

    Args:
        model: Path of the MJCF.
        headless: Whether to go without a window.
        speed: Pace of real time.
    """
    return with_tags(
        gazebo_description(wiring),
        tags(
            wiring,
            MUJOCO,
            parameters=(
                ('mujoco_model', model),
                ('initial_keyframe', KEYFRAME),
                ('headless', str(headless).lower()),
                ('sim_speed_factor', repr(speed)),
            ),
        ),
    )


def write_mjcf(robot_file: RobotFile, wiring: Wiring) -> str:
    """Return the MJCF of a robot on its floor.

    Raises:
        MissingDependency: MuJoCo is not installed.
        InvalidInput: Plant `mujoco` cannot simulate the robot.
    """
    mj = import_mujoco('an MJCF')
    # a plant without the errors of sensors, of the robot without what no hardware has
    plant = MujocoEngine(
        replace(robot_file.robot, servos={}, push_off=None, ground_torque=None),
        robot_file.values(World),
        robot_file.values(MujocoEngine.parameters),
    )
    spec = plant.make_spec()
    spec.modelname = wiring.robot.name
    spec.option.gravity = [0.0, 0.0, -wiring.world.gravity]
    tilt = pin.Quaternion(pin.utils.rotate('y', wiring.world.slope))
    for body in spec.bodies:
        if body.name.startswith('floor'):
            body.quat = [tilt.w, *tilt.vec()]
    _add_motors(mj, spec, wiring)
    _add_sensors(mj, spec, wiring)
    spec.add_key(name=KEYFRAME, **_start(plant, robot_file, tilt))
    spec.compile()
    return str(spec.to_xml())


def _add_motors(mj: Any, spec: Any, wiring: Wiring) -> None:
    limits = dict(zip(wiring.motors, wiring.robot.effort_limits.tolist()))
    locks = LockEmulator(wiring.robot, OWN_FREQUENCY, OWN_DAMPING)
    springs = dict(
        zip(wiring.locks, np.column_stack((locks.gains[:, 0] * locks.angle, -locks.gains)))
    )
    for joint in wiring.robot.joints:
        if joint in wiring.motors or joint in wiring.locks:
            limit = limits.get(joint, LOCK_EFFORT)
            motor = spec.add_actuator(name=joint, target=joint, trntype=mj.mjtTrn.mjTRN_JOINT)
            drive = wiring.robot.actuators.get(joint)
            if drive is not None and KINDS[drive.drive].has_own_gains:
                motor.set_to_position(kp=drive.stiffness, kv=[drive.damping])
                motor.forcelimited, motor.forcerange = True, [-limit, limit]
            else:
                motor.set_to_motor()
                motor.ctrllimited, motor.ctrlrange = True, [-limit, limit]
            if joint not in limits:  # a lock: its control, 0 or 1, times a + b q + c v
                motor.ctrlrange = [0.0, 1.0]
                motor.forcelimited, motor.forcerange = True, [-limit, limit]
                motor.gaintype, motor.gainprm[:3] = mj.mjtGain.mjGAIN_AFFINE, springs[joint]


def _add_sensors(mj: Any, spec: Any, wiring: Wiring) -> None:
    kind, site = mj.mjtSensor, mj.mjtObj.mjOBJ_SITE
    sensors = []
    for link, name in wiring.imus.items():
        spec.body(link).add_site(name=name)
        sensors += [
            (name, 'quat', kind.mjSENS_FRAMEQUAT),
            (name, 'gyro', kind.mjSENS_GYRO),
            (name, 'accel', kind.mjSENS_ACCELEROMETER),
        ]
    for foot, name in wiring.forces.items():
        spec.body(foot).add_site(name=name)
        sensors += [(name, 'force', kind.mjSENS_FORCE), (name, 'torque', kind.mjSENS_TORQUE)]
    for name, suffix, sensor in sensors:
        spec.add_sensor(name=f'{name}_{suffix}', type=sensor, objtype=site, objname=name)


def _start(
    plant: MujocoEngine, robot_file: RobotFile, tilt: pin.Quaternion
) -> dict[str, np.ndarray]:
    """Return MuJoCo's coordinates and velocities of the start, those of the plant tilted."""
    plant.reset(robot_file.start)
    qpos, qvel = plant.data.qpos.copy(), plant.data.qvel.copy()
    base = plant.robot.base
    if base is Base.FREE:
        qpos[:3], qvel[:3] = tilt * qpos[:3], tilt * qvel[:3]
        turn = tilt * pin.Quaternion(*qpos[3:7])
        qpos[3:7] = [turn.w, *turn.vec()]
        return {'qpos': qpos, 'qvel': qvel}
    axes = list(base.axes)
    turned = tilt.matrix()[np.ix_(axes, axes)]
    for values in (qpos, qvel):
        values[: len(axes)] = turned @ values[: len(axes)]
    qpos[len(axes) : len(axes) + len(base.angles)] += 2.0 * np.arctan2(tilt.y, tilt.w)
    return {'qpos': qpos, 'qvel': qvel}
