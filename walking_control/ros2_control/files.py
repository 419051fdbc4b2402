# SPDX-License-Identifier: Apache-2.0
"""The files by which a robot comes up on ros2_control, generated from its robot file and URDF."""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import yaml

from walking_control.models.resources import robot_names, share_directory
from walking_control.models.robot_file import RobotFile
from walking_control.ros2_control.controllers import controllers_file
from walking_control.ros2_control.gazebo import bridge_file, gazebo_world
from walking_control.ros2_control.tags import GAZEBO, HARDWARE, include, MUJOCO
from walking_control.ros2_control.wiring import Wiring

CONTROLLERS = {HARDWARE: 'controllers.yaml', GAZEBO: 'gazebo_controllers.yaml',
               MUJOCO: 'mujoco_controllers.yaml'}
BRIDGE, GAZEBO_WORLD, LAUNCH = 'bridge.yaml', 'world.sdf', 'bringup.launch.xml'


class _Dumper(yaml.SafeDumper):
    """Writes lists of values in one line, as people write them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any,
                           flow_style: bool | None = None) -> yaml.SequenceNode:
        plain = not any(isinstance(item, (dict, list)) for item in sequence)
        return super().represent_sequence(tag, sequence, flow_style=plain)


def tags_name(robot: str) -> str:
    """Return the name of the xacro file with a robot's tags."""
    return f'{robot}.ros2_control.xacro'


def ros2_control_files(robot_file: RobotFile, wiring: Wiring) -> dict[str, str]:
    """Return name of file -> text."""
    robot = wiring.robot.name
    head = f'# Written by `walking_control ros2_control {robot}`; do not edit.\n'
    return {
        **{name: head + to_yaml(controllers_file(wiring, target))
           for target, name in CONTROLLERS.items()},
        BRIDGE: head + to_yaml(bridge_file()),
        GAZEBO_WORLD: gazebo_world(wiring),
        LAUNCH: _launch_file(robot_file),
        tags_name(robot): include(wiring),
    }


def to_yaml(tree: Any) -> str:
    """Return a tree as YAML."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, width=100)


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


def _launch_file(robot_file: RobotFile) -> str:
    name = robot_file.robot.name
    shipped = share_directory() / 'config' / 'robots' / f'{name}.yaml'
    robot = name if name in robot_names() and shipped.samefile(robot_file.path) \
        else str(robot_file.path.resolve())
    return f'''<!-- Written by `walking_control ros2_control {name}`; do not edit. -->
<launch>
  <arg name="on" default="hardware" description="hardware, gazebo or mujoco_ros2_control"/>
  <include file="$(find-pkg-share walking_control)/launch/$(var on).launch.py">
    <arg name="robot" value={quoteattr(robot)}/>
    <arg name="bringup" value="$(dirname)"/>
  </include>
</launch>
'''
