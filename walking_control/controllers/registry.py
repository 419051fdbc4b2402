# SPDX-License-Identifier: Apache-2.0
"""Controllers by name."""

from walking_control.controllers.hip_switching import HipSwitching
from walking_control.controllers.none import NoControl
from walking_control.exceptions import InvalidInput

CONTROLLERS = {controller.name: controller for controller in (HipSwitching, NoControl)}


def find_controller(name):
    """Return the controller class of a name.

    Raises:
        InvalidInput: Unknown; says what is known.
    """
    if name not in CONTROLLERS:
        raise InvalidInput('controller', value=name, limit='unknown',
                           remedy='known: ' + ', '.join(sorted(CONTROLLERS)))
    return CONTROLLERS[name]


def parameter_tables():
    """Return the parameter tables of all controllers."""
    return [controller.parameters for controller in CONTROLLERS.values()]
