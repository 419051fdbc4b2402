# SPDX-License-Identifier: Apache-2.0
"""From the options of a verb to what the rooms take."""

import math

from walking_control.exceptions import InvalidInput


def load_robot(options):
    """Return the `RobotFile` a verb is about, overrides applied; make its output folder."""
    if options.out is not None:   # better now than after a long run
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f'folder {options.out}', limit=f'cannot be made: {error.strerror}',
                               remedy='choose another --out') from error
    from walking_control.models.robot_file import load_robot_file
    from walking_control.simulation.registry import parameter_tables
    overrides = list(options.set)
    if options.slope_deg is not None:
        overrides.append(('world.slope', math.radians(options.slope_deg)))
    return load_robot_file(options.robot, overrides, parameter_tables())


def require_rigid(options):
    """Refuse a plant other than rigid."""
    if options.plant not in (None, 'rigid'):
        raise InvalidInput('plant', value=options.plant, limit='this verb runs on plant rigid')
