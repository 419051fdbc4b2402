# SPDX-License-Identifier: Apache-2.0
"""The verb that writes what a robot needs on ros2_control: ros2_control."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import make_folder
from walking_control.cli.output import print_files, print_json

if TYPE_CHECKING:
    from argparse import Namespace


def ros2_control(options: Namespace) -> int:
    """Write controllers, URDF tags, bridge and launch file of a robot on ros2_control."""
    from walking_control.loading import load_robot
    from walking_control.reports.page import writing_to
    from walking_control.ros2_control.controllers import controllers_of
    from walking_control.ros2_control.files import write_ros2_control
    from walking_control.ros2_control.security import write_policy
    from walking_control.ros2_control.tags import HARDWARE
    from walking_control.ros2_control.wiring import wire
    robot_file = load_robot(options.robot, options.set)
    wiring = wire(robot_file, options.force_sign)
    files = []
    if options.out is not None:
        make_folder(options)
        with writing_to(options.out):
            files = [str(path) for path in write_ros2_control(robot_file, wiring, options.out)]
    if options.policy is not None:
        files.append(str(write_policy(robot_file.robot, options.namespace, options.policy)))
    virtual = wiring.robot.virtual_efforts
    result: dict[str, Any] = {
        'robot': wiring.robot.name, 'motors': list(wiring.motors), 'locks': list(wiring.locks),
        'passive': list(wiring.passive), 'imu': wiring.imu, 'forces': wiring.forces,
        'controllers': {name: plugin for name, (plugin, _) in
                        controllers_of(wiring, HARDWARE).items()},
        'assumptions': [f'{", ".join(virtual)}: no hardware has it; walking_controller refuses the '
                        'robot until the robot file goes without'] if virtual else [],
        'files': files}
    if options.json:
        print_json(result)
        return 0
    for name in ('motors', 'locks', 'passive'):
        print(f'{name:>16}: {", ".join(result[name]) or "none"}')
    print(f'{"imu":>16}: {wiring.imu}')
    for foot, sensor in wiring.forces.items():
        print(f'{foot:>16}: {sensor}')
    for name, plugin in result['controllers'].items():
        print(f'{"controller":>16}: {name}, {plugin}')
    for sentence in result['assumptions']:
        print(f'{"assumed":>16}: {sentence}')
    print_files(result)
    return 0
