# SPDX-License-Identifier: Apache-2.0
"""What the report says of a kept posture: lean, drift, contacts, efforts."""

from html import escape

from walking_control.models.robot import in_words
from walking_control.reports.page import (
    break_off_verb,
    format_number,
    outcome_paragraph,
    Section,
)
from walking_control.reports.plots import estimation, posture

FIGURES = (
    ('poses', posture.plot_poses,
     'The middle of the longest time on each support, or the end when the support never '
     'changed. An arrow is the force of the floor on a foot, drawn from the middle '
     'of the sole because the place it acts at is not recorded; cross and dashes: centre of mass '
     'and the vertical through it.'),
    ('foot_forces', posture.plot_foot_forces,
     'What the floor did to each foot, sampled once a control tick.'),
    ('efforts', posture.plot_efforts,
     'Commanded efforts as shares of their limits, the smaller of motor and URDF.'),
    ('base', posture.plot_base, 'How the base leaned, rose and moved.'),
    ('joint_motion', posture.plot_joint_motion,
     'Joints against the posture of the start.'),
)
# the same, of runs that have what it shows
FURTHER_FIGURES = (('estimate', estimation.plot_estimate, estimation.CAPTION),)

# key, name, unit, significant digits
_ROWS = (
    ('duration', 'Duration', 's', 3),
    ('steps', 'Steps', '', 3),
    ('distance', 'Distance of the base along x', 'm', 3),
    ('max_tilt', 'Largest tilt of the base', 'rad', 2),
    ('final_tilt', 'Tilt of the base at the end', 'rad', 2),
    ('height_change', 'Height of the base against the start', 'm', 2),
    ('base_shift', 'Largest distance of the base from the start', 'm', 2),
    ('joint_drift', 'Largest drift of a joint', 'rad', 2),
    ('joint_drift_joint', 'that is', '', 0),
    ('final_joint_drift', 'Largest drift at the end', 'rad', 2),
    ('load_share', 'Share of the load', '%', 3),
    ('support_time', 'Time on', 's', 3),
    ('contact_changes', 'Contact changes', '', 3),
    ('peak_effort_share', 'Largest effort, of its limit', '%', 3),
    ('peak_effort_joint', 'that is', '', 0),
    ('peak_effort', 'Largest effort', 'N m', 3),
    ('peak_current', 'Largest motor current', 'A', 3),
    ('min_normal_force', 'Smallest normal force of all feet together', 'N', 3),
    ('max_friction_ratio', 'Largest friction ratio of a foot', '', 3),
    ('energy_injected', 'Work of the actuators', 'J', 3),
    ('cost_of_transport', 'Cost of transport, mechanical', '', 3),
    ('cost_of_transport_electrical', 'Cost of transport, electrical', '', 3),
)


def _verb(summary):
    return break_off_verb(summary) or ('walks' if summary['steps'] else 'stands')


def _outcome(summary):
    posture = summary['posture'] or {}
    alone = [(name, time) for name, time in (posture.get('support_time') or {}).items()
             if name != 'none' and ' + ' not in name]
    text = f'Stood for {summary["duration"]:.1f} s without falling'
    if summary['steps']:
        text = (f'Walked {summary["distance"]:.2f} m in {summary["duration"]:.1f} s, '
                f'{summary["steps"]} steps, without falling')
    elif alone:
        text += ', of it ' + ' and '.join(f'{time:.1f} s on the {in_words(name)} alone'
                                          for name, time in alone)
    return outcome_paragraph(f'{text}.', summary)


def _table(summary):
    values = {**summary, **(summary['posture'] or {})}
    lines = ['<table>', '<tbody>']
    for key, name, unit, digits in _ROWS:
        value = values.get(key)
        entries = value.items() if isinstance(value, dict) else [('', value)]
        for part, entry in entries:
            text = _text(entry, unit, digits)
            if text:
                title = escape(f'{name} {in_words(part)}'.strip() if key == 'support_time'
                               else f'{name}, {in_words(part)}' if part else name)
                lines.append(f'<tr><th>{title}</th><td>{escape(text)}</td>'
                             f'<td class="unit">{unit}</td></tr>')
    return '\n'.join([*lines, '</tbody>', '</table>'])


def _text(value, unit, digits):
    if isinstance(value, str):
        return in_words(value)
    if isinstance(value, list):
        return ' to '.join(_text(item, unit, digits) for item in value)
    return format_number(value, unit, digits)


def _definitions(summary):
    drift = (' Drift is the distance of a joint from the posture of the start, which the '
             'controller was to hold.' if (summary['posture'] or {}).get('joint_drift') is not None
             else '')
    return ('<section class="notes"><h2>What the numbers mean</h2><p>All values cover the whole '
            'run, its start included, when the robot settles on the floor. Tilt is the angle of '
            f'the base’s z axis from the vertical.{drift} Shares of the load are the least and '
            'the most a foot bore of the normal force of all feet. The friction ratio is the '
            'force along the floor, whatever its direction, over the normal force of a foot that '
            'carries at least 5 % of the weight; it counts feet that land or leave as well, and '
            'at the coefficient of friction a foot slides. Contacts and support are those the '
            'estimator believes. Negative work of the actuators means that on the whole they '
            'braked.</p></section>')


POSTURE = Section((*FIGURES, *FURTHER_FIGURES), _verb, _outcome, _table, _definitions)
