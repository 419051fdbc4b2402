# SPDX-License-Identifier: Apache-2.0
"""What of a robot goes through ros2_control: motors, locks, sensors, and how it starts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walking_control.exceptions import IncompatiblePlant
from walking_control.models.dynamics import Dynamics
from walking_control.models.floor import FloorProfile, read_profile
from walking_control.models.robot import Robot, topic_word
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.signals import Measurement
from walking_control.models.urdf import parse
from walking_control.ros2_control.names import IMU_INTERFACES, LOCK, WRENCH_INTERFACES
from walking_control.simulation.inertial import InertialUnit

IMU_SENSOR = 'imu_sensor'


@dataclass(frozen=True)
class Wiring:
    """A robot on ros2_control.

    Args:
        robot: The `Robot`.
        motors: Joints that take efforts, in the order of `Command.effort`.
        locks: Joints with a lock, in the order of `Command.lock`.
        passive: Joints that nobody commands.
        imu: Name of the IMU among the sensors of the URDF's ros2_control tags.
        forces: foot -> name of its force sensor there.
        force_sign: 1 where the sensors tell the force of the floor on the foot, -1 where they tell
            that of the foot on the floor.
        start: interface, such as ``'hip/position'``, -> its value as the robot starts, at rest.
        base: Where the base link is then: x, y, z in m, and its orientation xyzw.
        gravity: Of the world, m/s^2.
        slope: Of the floor, rad, downhill positive.
        friction: Coefficient of friction of the floor.
        floor: `FloorProfile` of an uneven one, or None.
    """

    robot: Robot
    motors: tuple[str, ...]
    locks: tuple[str, ...]
    passive: tuple[str, ...]
    imu: str
    forces: dict[str, str]
    force_sign: float
    start: dict[str, float] = field(repr=False)
    base: tuple[float, ...] = field(repr=False)
    gravity: float
    slope: float
    friction: float
    floor: FloorProfile | None = field(default=None, repr=False)


def wire(robot_file: RobotFile, force_sign: float = 1.0) -> Wiring:
    """Return the `Wiring` of a robot.

    Sensors that the URDF's ros2_control tags name already keep their names: the one with an
    orientation is the IMU, the one with forces whose name holds a foot's name is that foot's.

    Args:
        robot_file: The `RobotFile`.
        force_sign: See `Wiring`.

    Raises:
        IncompatiblePlant: The robot has no motor that hardware could have.
    """
    robot = robot_file.robot
    if not robot.actuators:
        raise IncompatiblePlant(
            f'robot {robot.name}', limit='has no motors for ros2_control to drive', remedy=(
                'what it has instead (servos, push_off, ground_torque) only plants offer'))
    locks = tuple(lock.joint for lock in robot.locks)
    imu, forces = sensor_names(robot)
    world = robot_file.values(World)
    base, start = _start(robot_file, imu, forces, force_sign)
    return Wiring(
        robot, tuple(robot.actuators), locks,
        tuple(joint for joint in robot.joints if joint not in {*robot.actuators, *locks}),
        imu, forces, force_sign, start, base, world.gravity, world.slope,
        world.friction, read_profile(world))


def state_interfaces(robot: Robot) -> list[str]:
    """Return the state interfaces of all sensors in the order of `Measurement.values`, locks last.

    Args:
        robot: The `Robot`.
    """
    imu, forces = sensor_names(robot)
    return [*(f'{joint}/position' for joint in robot.joints),
            *(f'{joint}/velocity' for joint in robot.joints),
            *(f'{imu}/{name}' for name in IMU_INTERFACES),
            *(f'{sensor}/{name}' for sensor in forces.values() for name in WRENCH_INTERFACES[:3]),
            *(f'{lock.joint}/{LOCK}' for lock in robot.locks)]


def sensor_names(robot: Robot) -> tuple[str, dict[str, str]]:
    """Return the name of the IMU, and foot -> name of its force sensor, in the URDF's tags."""
    imu, found = None, []
    for sensor in parse(robot.urdf).findall('ros2_control/sensor'):
        name = sensor.get('name', '')
        states = {state.get('name') for state in sensor.findall('state_interface')}
        if imu is None and IMU_INTERFACES[0] in states:
            imu = name
        elif WRENCH_INTERFACES[2] in states:
            found.append(name)
    forces = {}
    for foot in robot.feet:
        word = topic_word(foot)
        forces[foot] = next((name for name in found if foot in name or word in name),
                            f'{word}_sensor')
    return imu or IMU_SENSOR, forces


def _start(robot_file: RobotFile, imu: str, forces: dict[str, str], force_sign: float
           ) -> tuple[tuple[float, ...], dict[str, float]]:
    """Return where the base is and what every state interface says as the robot starts."""
    robot, world, start = robot_file.robot, robot_file.values(World), robot_file.start
    dynamics = Dynamics(robot, world.gravity, world.slope)
    if start.posture is None:
        q, _ = dynamics.base_from_coordinates(start.support, start.q, np.zeros_like(start.v))
    else:
        q = dynamics.configuration(start.posture)
        dynamics.place(q)
        q[len(robot.base.axes) - 1] = -min(dynamics.foot_position(foot)[2] for foot in robot.feet)
    measurement = Measurement(robot)
    rest = np.zeros(dynamics.nv)
    InertialUnit(dynamics, world.slope).measure(q, rest, 0.0, measurement)
    state = robot.base.state(q, rest)
    values: dict[str, Any] = {}
    for joint, position in zip(robot.joints, q[dynamics.nq - len(robot.joints):]):
        values[f'{joint}/position'], values[f'{joint}/velocity'] = position, 0.0
    for lock in robot.locks:
        values[f'{lock.joint}/lock'] = float(
            abs(values[f'{lock.joint}/position'] - lock.angle) <= lock.capture)
    told = (*measurement.orientation, *measurement.angular_velocity,
            *measurement.linear_acceleration)
    values.update({f'{imu}/{name}': value for name, value in zip(IMU_INTERFACES, told)})
    for foot, sensor in forces.items():
        values.update({f'{sensor}/{name}': 0.0 for name in WRENCH_INTERFACES})
        # whoever stands carries the weight; a robot at rest stands on all feet
        share = 1.0 / len(robot.feet) if start.posture is not None else float(
            foot == start.support)
        values[f'{sensor}/force.z'] = force_sign * share * robot_file.scale.mass * world.gravity
    return ((*state.position.tolist(), *state.orientation.tolist()),
            {name: round(float(value), 9) + 0.0 for name, value in values.items()})
