# SPDX-License-Identifier: Apache-2.0
"""Controllers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walking_control.exceptions import IncompatibleController, InvalidInput
from walking_control.models import Choice, Registry, RobotFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walking_control.controllers.controller import Controller

_ROOM = 'walking_control.controllers'
CONTROLLERS = Registry(
    'controller',
    {
        'curve_tracking': f'{_ROOM}.curve_tracking.controller:CurveTracking',
        'foot_placement': f'{_ROOM}.foot_placement.controller:FootPlacement',
        'hip_pd': f'{_ROOM}.hip_pd:HipPd',
        'hip_stop': f'{_ROOM}.hip_stop:HipStop',
        'hip_switching': f'{_ROOM}.hip_switching:HipSwitching',
        'natural_walking': f'{_ROOM}.natural_walking.controller:NaturalWalking',
        'none': f'{_ROOM}.none:NoControl',
        'policy': f'{_ROOM}.policy.controller:Policy',
        'push_off': f'{_ROOM}.foot_placement.controller:PushOff',
        'stepping': f'{_ROOM}.stepping.controller:Stepping',
        'static_torque': f'{_ROOM}.static_torque.controller:PostureControl',
        'time_pd': f'{_ROOM}.time_pd:TimePd',
    },
    'walking_control.controllers',
    f'{_ROOM}.controller:Controller',
    ('rate',),
)


def make_controller(robot_file: RobotFile, name: Choice = None) -> Controller:
    """Return a controller, built for a robot file.

    Args:
        robot_file: The `RobotFile`.
        name: Name, ``module:Class``, class, or class with parameters; None takes the file's own.

    Raises:
        InvalidInput: Unknown controller or a bad parameter.
        IncompatibleController: It does not fit the robot; says which do.
    """
    robot_file, name = robot_file.choose(CONTROLLERS, name)
    law: type[Controller] = CONTROLLERS.find(name or robot_file.controller)
    try:
        return law(robot_file, robot_file.values(law.parameters))
    except IncompatibleController as error:
        fitting = ', '.join(fitting_controllers(robot_file))
        error.remedy = f'fitting: {fitting}' if fitting else 'no controller fits'
        raise


def fitting_controllers(robot_file: RobotFile) -> list[str]:
    """Return the names of the controllers that fit a robot, with the parameters of its file.

    Args:
        robot_file: The `RobotFile`.
    """
    return [name for name, error in judge_controllers(robot_file).items() if error is None]


def judge_controllers(
    robot_file: RobotFile, names: Iterable[str] | None = None
) -> dict[str, InvalidInput | None]:
    """Return name -> `InvalidInput`: why a law with its parameters does not fit, or None.

    Args:
        robot_file: The `RobotFile`.
        names: Of the laws; None: all, and the file's own.
    """
    verdicts: dict[str, InvalidInput | None] = {}
    for name in names or dict.fromkeys([*CONTROLLERS, robot_file.controller]):
        try:
            law = CONTROLLERS.find(name)
            law(robot_file, robot_file.values(law.parameters))
            verdicts[name] = None
        except InvalidInput as error:
            verdicts[name] = error
    return verdicts
