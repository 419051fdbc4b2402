# SPDX-License-Identifier: Apache-2.0
"""A biped whose arms, head and waist are held, so that a law may walk on the legs alone."""

from pathlib import Path
from typing import Any

import yaml

from walking_control.adoption.description import fix_joints
from walking_control.adoption.guess import Description
from walking_control.models.meshes import place_meshes
from walking_control.models.robot_file import read_parameters, RobotFile
from walking_control.runs.kinematics import leg_of_each_joint


def legs_alone(robot_file: RobotFile, path: Path, folder: Path) -> tuple[Path, list[str]]:
    """Write a robot file whose joints are the legs' and return its path and what is held.

    On the robot the others are held in the start posture by controllers of their own.

    Args:
        robot_file: The `RobotFile`, of a free base.
        path: Where it was read from.
    """
    robot, start = robot_file.robot, robot_file.start
    assert start.posture is not None
    legs = leg_of_each_joint(robot)
    held = {joint: float(angle) for joint, angle in zip(robot.joints, start.posture, strict=True)
            if legs[joint] is None}
    name = f'{robot.name}_legs'
    description = Description(name, place_meshes(robot.urdf, robot.meshes), path, 'URDF')
    fix_joints(description, held, {})
    (folder / f'{name}.urdf').write_text(description.urdf, encoding='utf-8')
    tree: dict[str, Any] = {**read_parameters(path)}
    section = {key: value for key, value in tree['robot'].items() if key != 'xacro_args'}
    section.update(name=name, urdf=f'{name}.urdf',
                   joints=[joint for joint in robot.joints if joint not in held])
    for key in ('actuators', 'springs', 'friction'):
        if key in section:
            section[key] = {joint: value for joint, value in section[key].items()
                            if joint not in held}
    tree['robot'] = section
    tree['start'] = {'posture': {joint: value for joint, value
                                 in tree['start']['posture'].items() if joint not in held}}
    written = folder / f'{name}.yaml'
    written.write_text(yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False),
                       encoding='utf-8')
    return written, list(held)
