# SPDX-License-Identifier: Apache-2.0
"""The verb that writes what a robot needs on ros2_control: ros2_control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from walking_control.cli.inputs import make_folder
from walking_control.cli.options import Common, ROBOT
from walking_control.cli.output import print_files, tell
from walking_control.cli.verb import argument, option, verb
from walking_control.exceptions import writing_to


class _Ros2Control(Common):
    robot: str = argument(ROBOT)
    force_sign: int = option('-1: foot sensors that tell the force of the foot on the floor '
                             '(default: 1, that of the floor on the foot)', 'S', choices=(1, -1),
                             default=1)
    policy: Path | None = option('write the SROS2 policy of our nodes: who may publish, hear, '
                                 'serve and call what', 'FILE.xml')
    namespace: str = option('of the nodes in the policy', 'NS', default='')


@verb('walking_control ros2_control my_robot.yaml --out bringup')
def ros2_control(options: _Ros2Control) -> int:
    """Write controllers, URDF tags, bridge and launch file of a robot on ros2_control."""
    from walking_control.loading import load_robot
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
    tell(options, result, _print)
    return 0


def _print(result: dict[str, Any]) -> None:
    for name in ('motors', 'locks', 'passive'):
        print(f'{name:>16}: {", ".join(result[name]) or "none"}')
    print(f'{"imu":>16}: {result["imu"]}')
    for foot, sensor in result['forces'].items():
        print(f'{foot:>16}: {sensor}')
    for name, plugin in result['controllers'].items():
        print(f'{"controller":>16}: {name}, {plugin}')
    for sentence in result['assumptions']:
        print(f'{"assumed":>16}: {sentence}')
    print_files(result)
