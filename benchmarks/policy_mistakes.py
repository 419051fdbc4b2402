# SPDX-License-Identifier: Apache-2.0
"""Which of eight mistakes in what is told of a learned policy `check --policy` names.

    python benchmarks/policy_mistakes.py POLICIES.yaml [--only NAME,NAME] [--mistakes order,rate]

POLICIES.yaml is that of ``benchmarks/policies.py``. Each mistake is made alone in a description
that is right: the joints in the reverse order, a knee that turns the other way, four times the
stiffness, default angles of zero, gravity upside down, half the command, a network asked at 10 Hz,
joint velocities that are not seen. A line says what contradicts, if anything does, and which change
would mend it, the best first. "named" is the mistake itself among the changes. The right
description is tried, too: nothing may be said of it.
"""

import argparse
from dataclasses import replace
from pathlib import Path
import time

import numpy as np
from policies import load

from walking_control.controllers.policy.controller import Policy
from walking_control.lab.experiments.policy_check import find_mistakes
from walking_control.models.yaml_text import read_yaml


def columns(told, **changes):
    """Return a description with other columns of its joints."""
    return replace(told, joints=replace(told.joints, **changes))


def seen(told, names, factor):
    """Return a description in which terms have other scales."""
    terms = (
        replace(term, scale=term.scale * factor) if term.name in names else term
        for term in told.terms
    )
    return replace(told, terms=tuple(terms))


def turned(told):
    """Return a description in which the first knee turns the other way."""
    knee = next(i for i, name in enumerate(told.joints.names) if 'knee' in name.lower())
    signs = np.where(np.arange(len(told.joints.names)) == knee, -1.0, 1.0)
    other = columns(told, scale=told.joints.scale * signs, default=told.joints.default * signs)
    return seen(other, {'joint_position', 'joint_velocity'}, signs)


COMMANDS = {'command', 'command_linear', 'command_turn'}
# what is wrong -> (how it is made, words of the change that undoes it)
MISTAKES = {
    'order': (lambda told: columns(told, names=told.joints.names[::-1]), 'order'),
    'sign': (turned, 'the sign of'),
    'gains': (
        lambda told: columns(told, stiffness=4.0 * told.joints.stiffness),
        'stiffness times 0.25',
    ),
    'default': (lambda told: columns(told, default=0.0 * told.joints.default), 'default angles'),
    'gravity': (lambda told: seen(told, {'projected_gravity'}, -1.0), 'projected_gravity'),
    'command': (lambda told: seen(told, COMMANDS, 0.5), 'command'),
    'rate': (lambda told: replace(told, rate=10.0), 'a rate of 50'),
    'missing': (lambda told: seen(told, {'joint_velocity'}, 0.0), 'joint_velocity'),
}


def main():
    """Print a line for each policy and mistake, and how many were named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('policies', type=Path)
    parser.add_argument('--only', type=lambda text: text.split(','))
    parser.add_argument(
        '--mistakes', type=lambda text: text.split(','), default=['right', *MISTAKES]
    )
    parser.add_argument('--speed', type=float, default=0.5, help='m/s')
    given = parser.parse_args()
    for name, row in read_yaml(given.policies, str(given.policies)).items():
        if given.only is not None and name not in given.only:
            continue
        robot_file = load(row, given.policies.parent, given, ())
        told = Policy(robot_file, robot_file.values(Policy.parameters)).description
        named = 0
        for mistake in given.mistakes:
            begin = time.perf_counter()
            make, words = MISTAKES.get(mistake, (lambda same: same, ''))
            first, mended = find_mistakes(robot_file, make(told))
            changes = [change for change, _ in mended]
            found = bool(words) and any(words in change for change in changes)
            named += found
            print(
                f'{name}, {mistake}: {first}; mended by: {", ".join(changes) or "-"}'
                f'{"; named" if found else ""} ({time.perf_counter() - begin:.0f} s)',
                flush=True,
            )
        print(f'{name}: {named} of {len({*given.mistakes} & {*MISTAKES})} named', flush=True)


if __name__ == '__main__':
    main()
