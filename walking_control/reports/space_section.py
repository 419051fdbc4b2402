# SPDX-License-Identifier: Apache-2.0
"""What the report says of a walk in space: how it kept to its route, speeds, steps, heading."""

from html import escape
import math

from walking_control.reports.page import (
    break_off_verb,
    format_number,
    outcome_paragraph,
    Section,
)
from walking_control.reports.plots import estimation, footprints, posture

FIGURES = (
    ('footprints', footprints.plot_footprints,
     'The walk from above. Arrows: pushes, 0.6 m long for 1 N s/kg.'),
    ('velocities', footprints.plot_velocities,
     'What was asked for and what was walked, seen from the robot; dotted: pushes.'),
    ('step_sizes', footprints.plot_step_sizes,
     'Every step: ahead and outwards between the feet, and how long it took.'),
    ('efforts', posture.plot_efforts,
     'Commanded efforts as shares of their limits, the smaller of motor and URDF.'),
    ('base', posture.plot_base, 'How the base leaned, rose and moved.'),
    ('estimate', estimation.plot_estimate, estimation.CAPTION),
)

# key, name, unit, significant digits
_STEADY = (
    ('speed', 'Speed ahead', 'm/s', 3),
    ('sideways', 'Speed to the left', 'm/s', 2),
    ('turn', 'Rate of turning', 'rad/s', 2),
    ('heading_error', 'Heading, left of where it shall be', 'rad', 2),
    ('step_length', 'Step length', 'm', 3),
    ('step_width', 'Step width', 'm', 3),
    ('step_time', 'Step time', 's', 3),
    ('mechanical_power', 'Mechanical power', 'W', 3),
    ('cost_of_transport', 'Cost of transport, mechanical', '', 3),
    ('cost_of_transport_positive', 'Cost of transport, positive work', '', 3),
    ('cost_of_transport_electrical', 'Cost of transport, electrical', '', 3),
)
_WHOLE = (
    ('duration', 'Duration', 's', 3),
    ('steps', 'Steps', '', 3),
    ('peak_effort', 'Largest effort', 'N m', 3),
    ('peak_current', 'Largest motor current', 'A', 3),
    ('min_normal_force', 'Smallest normal force of all feet together', 'N', 3),
    ('max_friction_ratio', 'Largest friction ratio of a foot', '', 3),
    ('energy_injected', 'Work of the actuators', 'J', 3),
)


def _verb(summary):
    return break_off_verb(summary) or 'walks'


def _outcome(summary):
    verdicts = summary.get('route')
    text = f'Walked {summary["steps"]} steps in {summary["duration"]:.1f} s without falling'
    if verdicts:
        walked = [verdict['kept'] for verdict in verdicts if verdict['kept'] is not None]
        text += f', and kept to {sum(walked)} of {len(walked)} segments of its route'
    return outcome_paragraph(f'{text}.', summary) + (_route(verdicts) if verdicts else '')


def _route(verdicts):
    """Return the table of verdicts in HTML."""
    heads = ('', 'from (s)', 'to (s)', 'ahead (m/s)', 'left (m/s)', 'turning (rad/s)',
             'heading off by (deg)', 'push (N s/kg)', 'steps to a stand', '')
    lines = ['<div class="wide"><table>', '<thead><tr>'
             + ''.join(f'<th>{head}</th>' for head in heads) + '</tr></thead><tbody>']
    for verdict in verdicts:
        asked = verdict.get('asked', 3 * [None])
        heading = verdict.get('heading_error')
        cells = [f'{verdict["begin"]:.1f}', f'{verdict["end"]:.1f}',
                 *(_walked(verdict.get(name), wanted) for name, wanted
                   in zip(('speed', 'sideways', 'turn'), asked, strict=True)),
                 '' if heading is None else f'{math.degrees(heading):.1f}',
                 format_number(verdict.get('push'), '', 2), str(verdict.get('steps', '')),
                 'kept' if verdict['kept'] else verdict['reason']]
        lines.append(f'<tr><th>{escape(verdict["name"])}</th>'
                     + ''.join(f'<td>{escape(cell)}</td>' for cell in cells) + '</tr>')
    return '\n'.join([*lines, '</tbody></table></div>'])


def _walked(value, wanted):
    """Return what was walked beside what was asked for."""
    return '' if value is None else f'{value:.2f} ({wanted:.2f})'


def _table(summary):
    lines = ['<table>', '<tbody>']
    # a route has no steady state; its segments have
    steady = {} if summary.get('route') else summary['steady']
    for source, rows in ((steady, _STEADY), (summary, _WHOLE)):
        for key, name, unit, digits in rows:
            text = format_number(source.get(key), unit, digits)
            if text:
                lines.append(f'<tr><th>{name}</th><td>{text}</td><td class="unit">{unit}</td></tr>')
    return '\n'.join([*lines, '</tbody>', '</table>'])


def _definitions(summary):
    steady = summary['steady']
    if summary.get('route'):
        words = ('Speeds are seen from the robot, in brackets those asked for. Speeds and heading '
                 'are means over whole strides in the second half of each segment; after a push it '
                 'counts that the robot goes on and looks where it shall.')
    elif steady['start'] is None:
        words = 'There is no steady state.'
    else:
        words = ('Speeds, seen from the robot, steps and costs are means over whole strides in the '
                 f'second half of the run, from {steady["start"]:.2f} s to {steady["end"]:.2f} s; '
                 'the rest is of all.')
    return f'<section class="notes"><h2>What the numbers mean</h2><p>{words}</p></section>'


SPACE = Section(FIGURES, _verb, _outcome, _table, _definitions)
