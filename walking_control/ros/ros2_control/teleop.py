# SPDX-License-Identifier: Apache-2.0
"""What `teleop.launch.py` starts: somebody steers on cmd_vel, by game controller or keyboard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from walking_control.exceptions import require
from walking_control.models.resources import share_directory
from walking_control.ros.ros2_control.launching import Process, Step

GAME_CONTROLLER = Path('config') / 'teleop' / 'game_controller.yaml'
INPUTS = ('joystick', 'keyboard')


def plan_teleop(values: Mapping[str, Any]) -> list[Step]:
    """Return what `teleop.launch.py` starts.

    Args:
        values: Of its arguments.

    Raises:
        InvalidInput: The kind of input is unknown, or the parameter file is not there.
    """
    kind, stamped = values['input'], values['stamped']
    clock = {'use_sim_time': values['use_sim_time']}
    require(
        kind in INPUTS, 'launch argument input', value=kind, limit='must be ' + ' or '.join(INPUTS)
    )
    if kind == 'keyboard':
        # launch gives its nodes no keyboard; a terminal of its own has one
        return [
            Process(
                'keyboard',
                'teleop_twist_keyboard',
                'teleop_twist_keyboard',
                parameters=({'stamped': stamped, **clock},),
                prefix=values['terminal'],
                needed=True,
            )
        ]
    buttons = values['buttons'] or str(share_directory() / GAME_CONTROLLER)
    require(Path(buttons).is_file(), 'launch argument buttons', value=buttons, limit='no such file')
    return [
        Process('joystick', 'joy', 'game_controller_node', parameters=(buttons,), needed=True),
        Process(
            'teleop',
            'teleop_twist_joy',
            'teleop_node',
            parameters=(buttons, {'publish_stamped_twist': stamped, **clock}),
            needed=True,
        ),
    ]
