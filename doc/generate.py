# SPDX-License-Identifier: Apache-2.0
"""Write the pages of this folder that follow from code: `python doc/generate.py`."""

from pathlib import Path

from walking_control.models.robot_file import MOTOR, WORLD
from walking_control.simulation.registry import parameter_tables

FOLDER = Path(__file__).parent

HEADER = '''# Parameters

Generated from the parameter tables by `python doc/generate.py`; do not edit.

Every section below is a section of a robot file (`config/robots/*.yaml`), a group of ROS parameters
(`<section>.<name>`) of the nodes that use it, and can be set on the command line with
`--set <section>.<name>=<value>` (the name alone suffices where it is unique). *Live* parameters may
change while the robot walks; all others only while the controller is unconfigured.
'''


def parameters_page():
    """Return the text of parameters.md."""
    lines = [HEADER]
    for table in (WORLD, *parameter_tables(), MOTOR):
        section = 'robot.actuators.<joint>' if table is MOTOR else table.section
        lines += [f'## {section}', '', '| name | default | unit | range | live | meaning |',
                  '|---|---|---|---|---|---|']
        lines += [_row(parameter) for parameter in table.parameters.values()]
        lines.append('')
    return '\n'.join(lines)


def _row(parameter):
    default = parameter.default
    if isinstance(default, tuple):
        default = list(default)
    limits = parameter.range_text.removeprefix('must be ')
    return (f'| `{parameter.name}` | {default} | {parameter.unit} | {limits} '
            f'| {"yes" if parameter.live else ""} | {parameter.description} |')


PAGES = {'parameters.md': parameters_page}


if __name__ == '__main__':
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding='utf-8')
