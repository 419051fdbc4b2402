# SPDX-License-Identifier: Apache-2.0
"""Write the pages of this folder that follow from code: `python doc/generate.py`."""

import ast
from pathlib import Path

from walking_control.loading import load_robot
from walking_control.models.resources import robot_names
from walking_control.models.robot_file import WORLD
from walking_control.models.robot_section import MOTOR, SPRING
from walking_control.models.scale import RULES, Scale
from walking_control.simulation.registry import parameter_tables

FOLDER = Path(__file__).parent

HEADER = '''# Parameters

Generated from the parameter tables by `python doc/generate.py`; do not edit.

Every section below is a section of a robot file (`config/robots/*.yaml`), a group of ROS
parameters (`<section>.<name>`) of the nodes that use it, and can be set on the command line with
`--set <section>.<name>=<value>` (the name alone means the robot's own controller and plant).
*Live* parameters may change while the robot walks; all others only while the controller is
unconfigured.

A default with a rule behind it, as in "15.0, grows with m g", is that of a robot of 10 kg and 1 m on earth and grows with the
robot by that rule: m is its mass, L the height of its base above the lower foot at zero angles, g gravity and
T = (L / g)^0.5. So dynamically similar robots get similar defaults ([examples](#defaults-that-grow)). A number in the
robot file counts as it is.
'''

SIZES = ((0.5, 0.2), (10.0, 1.0), (50.0, 1.0))   # kg, m


def parameters_page():
    """Return the text of parameters.md."""
    lines = [HEADER]
    for table in (WORLD, *parameter_tables(), MOTOR, SPRING):
        section = {MOTOR.section: 'robot.actuators.<joint>',
                   SPRING.section: 'robot.springs.<joint>'}.get(table.section, table.section)
        lines += [f'## {section}', '', '| name | default | unit | range | live | meaning |',
                  '|---|---|---|---|---|---|']
        lines += [_row(parameter) for parameter in table.parameters.values()]
        lines.append('')
    return '\n'.join([*lines, *_growing(), ''])


def _growing():
    """Return the lines on defaults that grow with the robot."""
    heads = ' | '.join(f'{mass:g} kg, {length:g} m' for mass, length in SIZES)
    robots = {name: load_robot(name) for name in robot_names()}
    lines = ['## Defaults that grow', '', 'By size of the robot, and what the shipped robot files '
             'say (in brackets what the rule would):', '',
             f'| parameter | unit | rule | {heads} | {" | ".join(robots)} |',
             '|---' * (3 + len(SIZES) + len(robots)) + '|']
    for table in parameter_tables():
        for parameter in table.parameters.values():
            if parameter.scaled:
                sizes = [parameter.default_for(Scale(*size, 9.81)) for size in SIZES]
                cells = [f'{value:.3g}' for value in sizes] + [
                    _of_robot(robot, table, parameter) for robot in robots.values()]
                lines.append(f'| `{table.section}.{parameter.name}` | {parameter.unit} '
                             f'| {RULES[parameter.unit][1]} | {" | ".join(cells)} |')
    return lines


def _of_robot(robot_file, table, parameter):
    """Return what a robot file writes, and what the rule gives."""
    rule = parameter.default_for(robot_file.scale)
    written = robot_file.sections.get(table.section, {}).get(parameter.name)
    return f'{rule:.3g}' if written is None else f'{written:g} ({rule:.3g})'


def _row(parameter):
    default = parameter.default
    if isinstance(default, tuple):
        default = list(default)
    if parameter.scaled:
        default = f'{default}, grows with {RULES[parameter.unit][1]}'
    limits = parameter.range_text.removeprefix('must be ')
    return (f'| `{parameter.name}` | {default} | {parameter.unit} | {limits} '
            f'| {"yes" if parameter.live else ""} | {parameter.description} |')


FAULTS_HEADER = '''# Faults

Generated from the tests that prove each row (`test/nodes/test_faults.py`) by
`python doc/generate.py`; do not edit.

A fault latches: whatever the sensors say next, only safe commands are sent until somebody calls
`~/clear_fault`; deactivating and activating does not clear it. Where a code is given, the reaction
shown is the default; `safety.on_<code>` chooses another for a robot
([parameters](parameters.md)): `damping` damps the actuated joints for `damping_time` and then
sends zero, `fade` lets the last effort fade at `fade_rate`, `zero` sends zero at once. What is
not guaranteed: [safety.md](safety.md).

| fault | code | detected | reaction | last message | cleared by |
|---|---|---|---|---|---|
'''


def faults_page():
    """Return the text of faults.md, read from the markers of the tests."""
    source = (FOLDER.parent / 'test' / 'nodes' / 'test_faults.py').read_text(encoding='utf-8')
    rows = []
    for function in ast.parse(source).body:
        for mark in getattr(function, 'decorator_list', ()):
            if getattr(getattr(mark, 'func', None), 'id', None) == 'fault':
                rows.append(_fault_row(mark))
    return FAULTS_HEADER + '\n'.join(rows) + '\n'


def _fault_row(mark):
    title = ast.literal_eval(mark.args[0])
    row = {keyword.arg: ast.literal_eval(keyword.value) for keyword in mark.keywords}
    code = f'`{row["code"]}`' if row['code'] else ''
    return (f'| {title} | {code} | {row["detected"]} | {row["reaction"]} | {row["last"]} '
            f'| {row["clears"]} |')


PAGES = {'parameters.md': parameters_page, 'faults.md': faults_page}


if __name__ == '__main__':
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding='utf-8')
