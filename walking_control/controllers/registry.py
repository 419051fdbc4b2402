# SPDX-License-Identifier: Apache-2.0
"""Controllers by name."""

from walking_control.controllers.curve_tracking.controller import CurveTracking
from walking_control.controllers.hip_pd import HipPd
from walking_control.controllers.hip_switching import HipSwitching
from walking_control.controllers.none import NoControl
from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.controllers.time_pd import TimePd
from walking_control.exceptions import IncompatibleController, InvalidInput

CONTROLLERS = {controller.name: controller
                for controller in (CurveTracking, HipPd, HipSwitching, NoControl, PostureControl,
                                   TimePd)}


def find_controller(name):
    """Return the controller class of a name.

    Raises:
        InvalidInput: Unknown; says what is known.
    """
    if name not in CONTROLLERS:
        raise InvalidInput('controller', value=name, limit='unknown',
                           remedy='known: ' + ', '.join(sorted(CONTROLLERS)))
    return CONTROLLERS[name]


def make_controller(robot_file, name=None):
    """Return the controller of a name, built for a robot file.

    Args:
        robot_file: The `RobotFile`.
        name: Controller; None takes the robot file's default.

    Raises:
        InvalidInput: Unknown controller or a bad parameter.
        IncompatibleController: It does not fit the robot; says which do.
    """
    law = find_controller(name or robot_file.controller)
    try:
        return law(robot_file, robot_file.values(law.parameters))
    except IncompatibleController as error:
        fitting = ', '.join(fitting_controllers(robot_file))
        error.remedy = f'fitting: {fitting}' if fitting else 'no controller fits'
        raise


def fitting_controllers(robot_file):
    """Return the names of the controllers that fit a robot, with the parameters of its file."""
    return [name for name, error in judge_controllers(robot_file).items() if error is None]


def judge_controllers(robot_file):
    """Return name -> the `InvalidInput` that says why a controller does not fit a robot, or None.

    Each is tried with the parameters the robot file gives it.
    """
    verdicts = {}
    for name, law in CONTROLLERS.items():
        try:
            law(robot_file, robot_file.values(law.parameters))
            verdicts[name] = None
        except InvalidInput as error:
            verdicts[name] = error
    return verdicts


def parameter_tables():
    """Return the parameter tables of all controllers."""
    return [controller.parameters for controller in CONTROLLERS.values()]
