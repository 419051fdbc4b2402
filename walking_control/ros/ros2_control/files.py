# SPDX-License-Identifier: Apache-2.0
"""The files by which a robot comes up on ros2_control, generated from its robot file and URDF.

Plugins and parameters of controllers are those of ros2_controllers, see doc/ros2_control.md. The
state of locks comes by a second joint_state_broadcaster: its topic is of its own, and the
interface ``lock`` is told as a position.
"""

from pathlib import Path
from typing import Any

import yaml

from walking_control.models import fill, OWN, RobotFile, Sensor, sensors_of, signals, STATE
from walking_control.models.own_signals import RANGE
from walking_control.models.resources import robot_names, share_directory
from walking_control.ros.ros2_control import (
    commanded,
    feedback_controllers,
    GAZEBO,
    gazebo_world,
    HARDWARE,
    include,
    MUJOCO,
    names,
    NAV2,
    nav2_parameters,
    state_interfaces,
    Wiring,
)

UPDATE_RATE = 1000  # Hz
AT_LIMIT = 0.02  # rad
FORWARD = 'forward_command_controller/ForwardCommandController'
JOINT_STATES = 'joint_state_broadcaster/JointStateBroadcaster'
IMU = 'imu_sensor_broadcaster/IMUSensorBroadcaster'
STATES = 'state_interfaces_broadcaster/StateInterfacesBroadcaster'
WRENCH = 'force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster'
# message of a signal of the robot file -> what publishes it; of others a driver does
PLUGINS = {
    STATE: JOINT_STATES,
    signals.WRENCH: WRENCH,
    RANGE: 'range_sensor_broadcaster/RangeSensorBroadcaster',
}


def controllers_of(wiring: Wiring, target: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return controller -> (plugin, parameters) on a target, in the order of their start."""
    robot = wiring.robot
    found: dict[str, tuple[str, dict[str, Any]]] = {
        names.JOINT_STATE_BROADCASTER: (
            JOINT_STATES,
            {
                'joints': list(robot.joints),
                'interfaces': [signal.name for signal in sensors_of(robot)[0].signals],
            },
        ),
        **{
            sensor.controller: (
                IMU,
                {'sensor_name': wiring.imus[sensor.frame], 'frame_id': sensor.frame},
            )
            for sensor in sensors_of(robot)
            if sensor.kind == 'imu'
        },
    }
    for own in sensors_of(robot):
        if own.kind == OWN and own.message in PLUGINS and target == HARDWARE:
            found[own.controller] = PLUGINS[own.message], _own_parameters(own)
    # simulated sensors tell the floor's force: Gazebo is asked for it, mujoco_ros2_control negates
    signs = dict.fromkeys('xyz', float(wiring.force_sign) if target == HARDWARE else 1.0)
    for foot, sensor in wiring.forces.items():
        found[names.wrench_broadcaster(foot)] = (
            WRENCH,
            {
                'sensor_name': sensor,
                'frame_id': foot,
                'multiplier': {'force': dict(signs), 'torque': dict(signs)},
            },
        )
    if wiring.locks and target == HARDWARE:
        found[names.LOCK_BROADCASTER] = (
            JOINT_STATES,
            {
                'use_local_topics': True,
                'joints': list(wiring.locks),
                'interfaces': [names.LOCK],
                'map_interface_to_joint_state': {'position': names.LOCK},
            },
        )
    if target == HARDWARE:  # in simulators nobody tells locks to ros2_control
        found[names.STATE_BROADCASTER] = STATES, {'interfaces': state_interfaces(robot)}
    return found | _commanding(wiring, target)


def _own_parameters(sensor: Sensor) -> dict[str, Any]:
    """Return the parameters of the broadcaster of a signal of the robot file."""
    signal = sensor.signals[0]
    if sensor.message == STATE:
        return {
            'use_local_topics': True,
            'joints': list(signal.labels),
            'interfaces': [signal.name],
            'map_interface_to_joint_state': {signal.place: signal.name},
        }
    return {'sensor_name': sensor.name, 'frame_id': sensor.frame}


def _commanding(wiring: Wiring, target: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return what `controllers_of` does, of those that move the robot."""
    forwarded = {
        names.COMMANDED[field][0]: (joints, names.COMMANDED[field][1])
        for field, joints in commanded(wiring, target).items()
    }
    if wiring.locks and target == HARDWARE:
        forwarded[names.LOCK_CONTROLLER] = wiring.locks, names.LOCK
    elif wiring.locks:
        forwarded[names.LOCK_EFFORT_CONTROLLER] = wiring.locks, names.EFFORT
    found = {
        name: (FORWARD, {'joints': list(joints), 'interface_name': interface})
        for name, (joints, interface) in forwarded.items()
    }
    return {**found, **(feedback_controllers(wiring.robot) if target == HARDWARE else {})}


def commanding(wiring: Wiring, target: str) -> list[str]:
    """Return the controllers that move the robot."""
    return list(_commanding(wiring, target))


def limits_enforced(wiring: Wiring, target: str) -> bool:
    """Return whether the controller manager may enforce the URDF's limits on our commands.

    Its saturation limiter takes an effort to zero that pushes a joint past a position limit; so it
    must not where a joint that takes efforts starts, or is locked, at a limit.
    """
    robot = wiring.robot
    held = [(joint, wiring.start[f'{joint}/position']) for joint in wiring.motors]
    if target != HARDWARE:  # where locks are played by efforts
        held += [(lock.joint, lock.angle) for lock in robot.locks]
    return all(
        robot.limits[joint].lower + AT_LIMIT <= angle <= robot.limits[joint].upper - AT_LIMIT
        for joint, angle in held
    )


def controllers_file(wiring: Wiring, target: str = HARDWARE) -> dict[str, Any]:
    """Return the tree of controllers.yaml; its ``/**/`` holds in any namespace."""
    found = controllers_of(wiring, target)
    manager: dict[str, Any] = {
        'update_rate': UPDATE_RATE,
        # the same on every distribution: Jazzy would not, Kilted and Lyrical would
        'enforce_command_limits': limits_enforced(wiring, target),
        **{name: {'type': plugin} for name, (plugin, _) in found.items()},
    }
    return {
        f'/**/{name}': {'ros__parameters': parameters}
        for name, parameters in (
            (names.MANAGER, manager),
            *((name, values) for name, (_, values) in found.items()),
        )
    }


CONTROLLERS = {
    HARDWARE: 'controllers.yaml',
    GAZEBO: 'gazebo_controllers.yaml',
    MUJOCO: 'mujoco_controllers.yaml',
}
BRIDGE, GAZEBO_WORLD, LAUNCH = 'bridge.yaml', 'world.sdf', 'bringup.launch.xml'


def ros2_control_files(robot_file: RobotFile, wiring: Wiring) -> dict[str, str]:
    """Return name of file -> text."""
    robot, path = wiring.robot.name, robot_file.path
    shipped = share_directory() / 'config' / 'robots' / f'{robot}.yaml'
    is_shipped = robot in robot_names() and shipped.samefile(path)
    place = robot if is_shipped else str(path.resolve())
    head = f'# Written by `walking_control ros2_control {robot}`; do not edit.\n'
    navigation = nav2_parameters(robot_file)
    return {
        **({} if navigation is None else {NAV2: head + to_yaml(navigation)}),
        **{
            name: head + to_yaml(controllers_file(wiring, target))
            for target, name in CONTROLLERS.items()
        },
        **{name: fill(__package__, name, robot=robot, place=place) for name in (BRIDGE, LAUNCH)},
        GAZEBO_WORLD: gazebo_world(wiring),
        f'{robot}.ros2_control.xacro': include(wiring),
    }


def to_yaml(tree: Any) -> str:
    """Return a tree as YAML; what holds nothing but values stands in one line."""
    return yaml.safe_dump(tree, sort_keys=False, width=100, default_flow_style=None)


def write_ros2_control(robot_file: RobotFile, wiring: Wiring, folder: Path) -> list[Path]:
    """Write the files of a robot into a folder that is there; return their paths."""
    paths = []
    for name, text in ros2_control_files(robot_file, wiring).items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding='utf-8')
    return paths


def shipped_folder(robot: str) -> Path:
    """Return where the files of a shipped robot lie."""
    return share_directory() / 'config' / 'ros2_control' / robot
