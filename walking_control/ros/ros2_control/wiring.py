# SPDX-License-Identifier: Apache-2.0
"""What of a robot goes through ros2_control: motors, locks, sensors, and how it starts."""

from dataclasses import dataclass, field

import numpy as np

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models import (
    Dynamics,
    FloorProfile,
    IMU,
    imu_name,
    Measurement,
    parse,
    read_profile,
    Robot,
    RobotFile,
    sensors_of,
    STATE,
    topic_word,
    World,
)
from walking_control.ros.ros2_control.names import IMU_INTERFACES, WRENCH_INTERFACES
from walking_control.simulation.sensors import InertialUnit

IMU_SENSOR = 'imu_sensor'


@dataclass(frozen=True)
class Wiring:
    """A robot on ros2_control.

    Args:
        robot: The `Robot`.
        motors: Joints that take efforts, in the order of `Command.effort`.
        locks: Joints with a lock, in the order of `Command.lock`.
        passive: Joints that nobody commands.
        imus: link -> name of its IMU among the sensors of the URDF's ros2_control tags.
        forces: foot -> name of its force sensor there.
        force_sign: 1 where the sensors tell the force of the floor on the foot, -1 where they tell
            that of the foot on the floor.
        start: interface, such as ``'hip/position'``, -> its value as the robot starts, at rest.
        base: Where the base link is then: x, y, z in m, and its orientation xyzw.
        world: The `World` that the robot file says it stands in.
        floor: `FloorProfile` of an uneven one, or None.
    """

    robot: Robot
    motors: tuple[str, ...]
    locks: tuple[str, ...]
    passive: tuple[str, ...]  # joints that nobody commands
    # link -> name of its IMU among the sensors of the URDF's ros2_control tags
    imus: dict[str, str]
    forces: dict[str, str]  # foot -> name of its force sensor there
    # 1 where the sensors tell the force of the floor on the foot, -1 where they tell that of the
    # foot on the floor
    force_sign: float
    # interface, such as ``'hip/position'``, -> its value as the robot starts, at rest
    start: dict[str, float] = field(repr=False)
    # where the base link is then: x, y, z in m, and its orientation xyzw
    base: tuple[float, ...] = field(repr=False)
    world: World
    # `FloorProfile` of an uneven one, or None
    floor: FloorProfile | None = field(default=None, repr=False)

    @property
    def imu(self) -> str:
        """Name of the IMU that the estimator hears."""
        return self.imus[self.robot.imu_link]


def wire(robot_file: RobotFile, force_sign: float = 1.0) -> Wiring:
    """Return the `Wiring` of a robot.

    Sensors that the URDF's ros2_control tags name already keep their names: the one with an
    orientation is the IMU, the one with forces whose name holds a foot's name is that foot's.

    Args:
        force_sign: See `Wiring`.

    Raises:
        IncompatiblePlant: The robot has no motor that hardware could have.
    """
    robot = robot_file.robot
    require(
        robot.actuators,
        f'robot {robot.name}',
        limit='has no motors for ros2_control to drive',
        remedy='what it has instead (servos, push_off, ground_torque) only plants offer',
        error=IncompatiblePlant,
    )
    locks = tuple(lock.joint for lock in robot.locks)
    devices = sensor_names(robot)
    world = robot_file.values(World)
    base, start = _start(robot_file, devices, force_sign)
    return Wiring(
        robot,
        tuple(robot.actuators),
        locks,
        tuple(joint for joint in robot.joints if joint not in {*robot.actuators, *locks}),
        {link: devices[name] for link, name in _imus(robot).items()},
        {foot: devices[foot] for foot in robot.foot_sensors},
        force_sign,
        start,
        base,
        world,
        read_profile(world),
    )


def state_interfaces(robot: Robot) -> list[str]:
    """Return the state interfaces of all sensors in the order of `Measurement.values`, locks last.

    Args:
        robot: The `Robot`.
    """
    devices = sensor_names(robot)
    return [
        f'{devices[sensor.name]}/{signal.name}' + (f'.{label}' if label else '')
        if sensor.name in devices
        else f'{label}/{signal.name}'
        for sensor in sensors_of(robot)
        for signal in sensor.signals
        for label in signal.labels
    ]


def sensor_names(robot: Robot) -> dict[str, str]:
    """Return IMU or foot, by its name in the table of sensors, -> its name in the URDF's tags."""
    imus: list[str] = []
    found: list[str] = []
    for sensor in parse(robot.urdf).findall('ros2_control/sensor'):
        states = {state.get('name') for state in sensor.findall('state_interface')}
        kind = (
            imus if IMU_INTERFACES[0] in states else found if WRENCH_INTERFACES[2] in states else []
        )
        kind.append(sensor.get('name', ''))

    def device(link: str, named: list[str]) -> str:
        word = topic_word(link)
        return next((name for name in named if link in name or word in name), f'{word}_sensor')

    first, *others = imus or [IMU_SENSOR]
    return {
        IMU: first,
        **{imu_name(link): device(f'imu_{link}', others) for link in robot.more_imus},
        **{foot: device(foot, found) for foot in robot.foot_sensors},
        **{name: name for name, row in robot.signals.items() if row.kind.message != STATE},
    }


def _imus(robot: Robot) -> dict[str, str]:
    """Return link -> name of its IMU in the table of sensors."""
    return {robot.imu_link: IMU, **{link: imu_name(link) for link in robot.more_imus}}


def _start(
    robot_file: RobotFile, devices: dict[str, str], force_sign: float
) -> tuple[tuple[float, ...], dict[str, float]]:
    """Return where the base is and what every state interface says as the robot starts."""
    robot, world, start = robot_file.robot, robot_file.values(World), robot_file.start
    dynamics = Dynamics(robot, world.gravity, world.slope)
    q, _ = dynamics.start_state(start)
    measurement, rest = Measurement(robot), np.zeros(dynamics.nv)
    state = robot.base.state(q, rest)
    measurement.position[:] = q[dynamics.nq - len(robot.joints) :]
    for link, name in _imus(robot).items():
        InertialUnit(dynamics, world.slope, link).measure(q, rest, 0.0, measurement.parts[name])
    # whoever stands carries the weight; a robot at rest stands on all feet
    weight = force_sign * robot_file.scale.mass * world.gravity
    measurement.foot_force[:, 2] = [
        weight / len(robot.feet) if start.posture is not None else weight * (foot == start.support)
        for foot in robot.feet
    ]
    values = {
        f'{devices[foot]}/{name}': 0.0 for foot in robot.foot_sensors for name in WRENCH_INTERFACES
    }
    values.update(zip(state_interfaces(robot), measurement.values))
    for lock in robot.locks:
        off = abs(values[f'{lock.joint}/position'] - lock.angle)
        values[f'{lock.joint}/lock'] = float(off <= lock.capture)
    return (
        (*state.position.tolist(), *state.orientation.tolist()),
        {name: round(float(value), 9) + 0.0 for name, value in values.items()},
    )
