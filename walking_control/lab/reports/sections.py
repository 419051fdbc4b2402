# SPDX-License-Identifier: Apache-2.0
"""What the report says of a run: of a walk in the plane, a walk in space, a kept posture."""

from collections.abc import Callable
from html import escape
import math
from typing import Any, NamedTuple

from walking_control.lab.reports.page import format_number
from walking_control.lab.reports.plots import disturbance, footprints, posture, walk
from walking_control.models.robot import in_words
from walking_control.runs.quantities import failure
from walking_control.safety.faults import FALL

WALK_FIGURES = (
    (
        'stick_figure',
        walk.plot_stick_figure,
        'The last two steps as multiple exposures, seven poses each, faint to strong; '
        'dotted: paths of base and feet.',
    ),
    (
        'steps',
        walk.plot_steps,
        'Every step of the run, coloured by its stance foot. Clearance is the lowest height of the '
        'swing foot over the middle half of its way.',
    ),
    ('joint_angles', walk.plot_joint_angles, 'Legs and joints over the last six steps.'),
    (
        'phase_portrait',
        walk.plot_phase_portrait,
        'Minimal coordinates against their rates; a dot marks the state after touchdown. Steps of '
        'the first half of the run are grey; a settled gait repeats itself.',
    ),
    ('actuators', walk.plot_actuators, 'What the actuators did over the last six steps.'),
    (
        'ground_forces',
        walk.plot_ground_forces,
        'What the floor did over the last six steps, sampled once a control tick.',
    ),
    # of runs that have what these show
    (
        'top_view',
        footprints.plot_top_view,
        'The walk from above and from the side. The hip is coloured by the foot that stands, '
        'dots are footprints.',
    ),
    (
        'disturbed_walk',
        disturbance.plot_disturbed_walk,
        'The steps around the disturbance, six poses each; strong: just after touchdown. '
        'The edge of a step is drawn half way between the footholds on either side.',
    ),
    (
        'energies',
        disturbance.plot_energies,
        'Energies by the field of curve tracking. Potential energy counts from the stance foot. '
        'While the walker follows the gait all kinetic energy is in the desired direction.',
    ),
    (
        'effort_parts',
        disturbance.plot_effort_parts,
        'What the efforts consist of around the disturbance: parts that shape the natural gait and '
        'cancel on it, corrections, and the total, as wanted and as applied within all limits.',
    ),
    ('estimate', walk.plot_estimate, walk.ESTIMATE_CAPTION),
)

SPACE_FIGURES = (
    (
        'footprints',
        footprints.plot_footprints,
        'The walk from above. Arrows: pushes, 0.6 m long for 1 N s/kg.',
    ),
    (
        'velocities',
        footprints.plot_velocities,
        'What was asked for and what was walked, seen from the robot; dotted: pushes.',
    ),
    (
        'step_sizes',
        footprints.plot_step_sizes,
        'Every step: ahead and outwards between the feet, and how long it took.',
    ),
    (
        'stoppable',
        footprints.plot_stoppable,
        'Whether the step plan could have brought it to a stand, and with what margin of foothold.',
    ),
    (
        'efforts',
        posture.plot_efforts,
        'Commanded efforts as shares of their limits, the smaller of motor and URDF.',
    ),
    ('base', posture.plot_base, 'How the base leaned, rose and moved.'),
    ('estimate', walk.plot_estimate, walk.ESTIMATE_CAPTION),
)

POSTURE_FIGURES = (
    (
        'poses',
        posture.plot_poses,
        'The middle of the longest time on each support, or the end when the support never '
        'changed. An arrow is the force of the floor on a foot, drawn from the middle '
        'of the sole because the place it acts at is not recorded; cross and dashes: '
        'centre of mass and the vertical through it.',
    ),
    (
        'foot_forces',
        posture.plot_foot_forces,
        'What the floor did to each foot, sampled once a control tick.',
    ),
    (
        'efforts',
        posture.plot_efforts,
        'Commanded efforts as shares of their limits, the smaller of motor and URDF.',
    ),
    ('base', posture.plot_base, 'How the base leaned, rose and moved.'),
    ('joint_motion', posture.plot_joint_motion, 'Joints against the posture of the start.'),
    # of runs that have what it shows
    ('estimate', walk.plot_estimate, walk.ESTIMATE_CAPTION),
)

# key in the summary -> name, unit, significant digits
NUMBERS = {
    'speed': ('Speed', 'm/s', 3),
    'sideways': ('Speed to the left', 'm/s', 2),
    'turn': ('Rate of turning', 'rad/s', 2),
    'heading_error': ('Heading, left of where it shall be', 'rad', 2),
    'cost_of_transport': ('Cost of transport, mechanical', '', 3),
    'cost_of_transport_positive': ('Cost of transport, positive work', '', 3),
    'cost_of_transport_electrical': ('Cost of transport, electrical', '', 3),
    'cost_of_transport_each_joint': ('the same, no joint driving another', '', 3),
    'foot_clearance': ('Foot clearance, mean', 'm', 3),
    'min_foot_clearance': ('Foot clearance, smallest', 'm', 3),
    'step_length': ('Step length', 'm', 3),
    'step_width': ('Step width', 'm', 3),
    'step_time': ('Step time', 's', 3),
    'asymmetry': ('Difference between the legs’ step lengths', '%', 2),
    'mechanical_power': ('Mechanical power', 'W', 3),
    'distance': ('Distance', 'm', 3),
    'duration': ('Duration', 's', 3),
    'steps': ('Steps', '', 3),
    'max_tilt': ('Largest tilt of the base', 'rad', 2),
    'final_tilt': ('Tilt of the base at the end', 'rad', 2),
    'height_change': ('Height of the base against the start', 'm', 2),
    'base_shift': ('Largest distance of the base from the start', 'm', 2),
    'joint_drift': ('Largest drift of a joint', 'rad', 2),
    'joint_drift_joint': ('that is', '', 0),
    'final_joint_drift': ('Largest drift at the end', 'rad', 2),
    'load_share': ('Share of the load', '%', 3),
    'support_time': ('Time on', 's', 3),
    'contact_changes': ('Contact changes', '', 3),
    'energy_injected': ('Work of the actuators', 'J', 3),
    'scuffs': ('Scuffs of the swing foot', '', 0),
    'foot_depth': ('Deepest a foot was in the floor', 'm', 3),
    'foot_depth_ahead': ('How far it was ahead of the stance foot there', 'm', 3),
    'scuff_reach': ('How far ahead a foot was still 1 mm inside', 'm', 3),
    'squared_effort_per_step': ('Squared effort per step', 'N²m²s', 3),
    'peak_effort_share': ('Largest effort, of its limit', '%', 3),
    'peak_effort_joint': ('that is', '', 0),
    'peak_effort': ('Largest effort', 'N m', 3),
    'peak_current': ('Largest motor current', 'A', 3),
    'min_normal_force': ('Smallest normal force of all feet together', 'N', 3),
    'max_friction_ratio': ('Largest friction ratio of a foot', '', 3),
}
_COSTS = ['cost_of_transport', 'cost_of_transport_electrical']
_LOADS = ['peak_effort', 'peak_current', 'min_normal_force', 'max_friction_ratio']


class Section(NamedTuple):
    """What a report says of one side of a run.

    Attributes:
        figures: Triples (name, function of a run that returns a figure or None, caption).
        does: Function of a summary: what the robot does, for the title, where nothing ended it.
        outcome: Function of a summary: HTML paragraph of how the run went.
        columns: Function of a summary: title -> its numbers, each by key, of every column.
        keys: Of `NUMBERS` and `own`, in the order shown.
        notes: Function of a summary: what the numbers mean, in HTML.
        own: Names of numbers that are others than those of `NUMBERS`.
    """

    # triples (name, function of a run that returns a figure or None, caption)
    figures: tuple[tuple[str, Callable[[Any], Any], str], ...]
    # function of a summary: what the robot does, for the title, where nothing ended it
    does: Callable[[dict[str, Any]], str]
    # function of a summary: HTML paragraph of how the run went
    outcome: Callable[[dict[str, Any]], str]
    # function of a summary: title -> its numbers, each by key, of every column
    columns: Callable[[dict[str, Any]], dict[str, dict[str, Any]]]
    keys: list[str]
    notes: Callable[[dict[str, Any]], str]
    own: dict[str, str] = {}

    def verb(self, summary: dict[str, Any]) -> str:
        """Return what the robot did, for the title."""
        if failure(summary) is None:
            return self.does(summary)
        return 'fell' if summary['fell'] and summary['fault'] in (None, FALL) else 'was stopped'

    def table(self, summary: dict[str, Any]) -> str:
        """Return the table of numbers in HTML."""
        columns, lines = self.columns(summary), ['<table>']
        if len(columns) > 1:
            heads = ''.join(f'<th>{title}</th>' for title in columns)
            lines.append(f'<thead><tr><th></th>{heads}<th></th></tr></thead>')
        lines.append('<tbody>')
        for key in self.keys:
            name, unit, digits = NUMBERS[key]
            name, first = self.own.get(key, name), next(iter(columns.values())).get(key)
            others = [column.get(key) for column in list(columns.values())[1:]]
            for part, entry in first.items() if isinstance(first, dict) else [(None, first)]:
                texts = [_text(value, unit, digits) for value in (entry, *others)]
                if any(texts):
                    cells = ''.join(f'<td>{escape(text)}</td>' for text in texts)
                    lines.append(
                        f'<tr><th>{escape(_title(key, name, part))}</th>{cells}'
                        f'<td class="unit">{unit}</td></tr>'
                    )
        return '\n'.join([*lines, '</tbody>', '</table>'])

    def definitions(self, summary: dict[str, Any]) -> str:
        """Return the section of what the numbers mean in HTML."""
        return (
            '<section class="notes"><h2>What the numbers mean</h2>'
            f'<p>{self.notes(summary)}</p></section>'
        )


def _title(key: str, name: str, part: str | None) -> str:
    if not part:
        return name
    return f'{name}{" " if key == "support_time" else ", "}{in_words(part)}'


def _text(value: Any, unit: str, digits: int) -> str:
    if isinstance(value, str):
        return in_words(value)
    if isinstance(value, list):
        return ' to '.join(_text(item, unit, digits) for item in value)
    return format_number(value, unit, digits)


def _paragraph(text: str, summary: dict[str, Any]) -> str:
    """Return how a run went in HTML: a text of one that went well, or what ended it."""
    reason = failure(summary)
    if reason is None:
        return f'<p class="outcome">{escape(text)}</p>'
    reason += '' if reason.endswith('.') else '.'
    return f'<p class="outcome fell">{escape(reason[0].upper() + reason[1:])}</p>'


def _walked(summary: dict[str, Any]) -> str:
    return (
        f'Walked {summary["distance"]:.2f} m in {summary["duration"]:.1f} s, '
        f'{summary["steps"]} steps, without falling'
    )


def _walk_outcome(summary: dict[str, Any]) -> str:
    if not summary['steps'] and failure(summary) is None:
        return '<p class="outcome fell">Stood, or rocked in place, without falling.</p>'
    return _paragraph(f'{_walked(summary)}.', summary)


def _walk_notes(summary: dict[str, Any]) -> str:
    steady = summary['steady']
    window = (
        'There is no steady state: the run broke off, or its second half holds no whole stride.'
        if steady['start'] is None
        else f'Steady values cover whole strides in the second half of the run, from '
        f'{steady["start"]:.2f} s to {steady["end"]:.2f} s.'
    )
    return (
        f'{window} Values of the '
        'whole run include its start. Cost of transport is the net mechanical work of the '
        'actuators over weight times distance; the electrical one takes the energy drawn at '
        'the motor terminals, none of it fed back. Normal force and friction ratio count '
        'while no other foot touches the floor, the ratio only while the stance foot carries '
        'at least 5 % of the weight.'
    )


WALK = Section(
    WALK_FIGURES,
    lambda summary: 'walks' if summary['steps'] else 'did not take a step',
    _walk_outcome,
    lambda summary: {'steady': summary['steady'], 'whole run': summary},
    [
        'speed',
        *_COSTS,
        'foot_clearance',
        'min_foot_clearance',
        'step_length',
        'step_time',
        'asymmetry',
        'mechanical_power',
        'distance',
        'duration',
        'steps',
        'energy_injected',
        'scuffs',
        'foot_depth',
        'foot_depth_ahead',
        'scuff_reach',
        'squared_effort_per_step',
        *_LOADS,
    ],
    _walk_notes,
    {
        'min_normal_force': 'Smallest normal force of the stance foot',
        'max_friction_ratio': 'Largest friction ratio of the stance foot',
    },
)


def _space_outcome(summary: dict[str, Any]) -> str:
    verdicts = summary.get('route')
    text = f'Walked {summary["steps"]} steps in {summary["duration"]:.1f} s without falling'
    if verdicts:
        walked = [verdict['kept'] for verdict in verdicts if verdict['kept'] is not None]
        text += f', and kept to {sum(walked)} of {len(walked)} segments of its route'
    if summary.get('natural_gait'):
        text += f'. The natural gait: {summary["natural_gait"]}'
    return _paragraph(f'{text}.', summary) + (_route(verdicts) if verdicts else '')


def _route(verdicts: list[dict[str, Any]]) -> str:
    """Return the table of verdicts in HTML."""
    heads = (
        '',
        'from (s)',
        'to (s)',
        'ahead (m/s)',
        'left (m/s)',
        'turning (rad/s)',
        'heading off by (deg)',
        'push (N s/kg)',
        'steps to a stand',
        'electrical cost of transport',
        'on the gait (%)',
        '',
    )
    lines = [
        '<div class="wide"><table>',
        '<thead><tr>' + ''.join(f'<th>{head}</th>' for head in heads) + '</tr></thead><tbody>',
    ]
    for verdict in verdicts:
        heading, asked = verdict.get('heading_error'), verdict.get('asked', 3 * [None])
        speeds = [
            (verdict.get(name), wanted)
            for name, wanted in zip(('speed', 'sideways', 'turn'), asked, strict=True)
        ]
        cells = [
            f'{verdict["begin"]:.1f}',
            f'{verdict["end"]:.1f}',
            # what was walked beside what was asked for
            *('' if value is None else f'{value:.2f} ({wanted:.2f})' for value, wanted in speeds),
            '' if heading is None else f'{math.degrees(heading):.1f}',
            format_number(verdict.get('push'), '', 2),
            str(verdict.get('steps', '')),
            format_number(verdict.get('cost_of_transport_electrical'), '', 3),
            '' if verdict.get('on_gait') is None else f'{100.0 * verdict["on_gait"]:.0f}',
            'kept' if verdict['kept'] else verdict['reason'],
        ]
        lines.append(
            f'<tr><th>{escape(verdict["name"])}</th>'
            + ''.join(f'<td>{escape(cell)}</td>' for cell in cells)
            + '</tr>'
        )
    return '\n'.join([*lines, '</tbody></table></div>'])


def _space_notes(summary: dict[str, Any]) -> str:
    steady = summary['steady']
    if summary.get('route'):
        return (
            'Speeds are seen from the robot, in brackets those asked for. Speeds and heading '
            'are means over whole strides in the second half of each segment; after a push it '
            'counts that the robot goes on and looks where it shall.'
        )
    if steady['start'] is None:
        return 'There is no steady state.'
    return (
        'Speeds, seen from the robot, steps and costs are means over whole strides in the '
        f'second half of the run, from {steady["start"]:.2f} s to {steady["end"]:.2f} s; '
        'the rest is of all.'
    )


_STEADY = [
    'speed',
    'sideways',
    'turn',
    'heading_error',
    'step_length',
    'step_width',
    'step_time',
    'mechanical_power',
    'cost_of_transport',
    'cost_of_transport_positive',
    'cost_of_transport_electrical',
    'cost_of_transport_each_joint',
]
_WHOLE = ['duration', 'steps', *_LOADS, 'energy_injected']


def _space_columns(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    # a route has no steady state; its segments have
    steady = {} if summary.get('route') else summary['steady']
    return {
        '': {
            **{key: steady.get(key) for key in _STEADY},
            **{key: summary.get(key) for key in _WHOLE},
        }
    }


SPACE = Section(
    SPACE_FIGURES,
    lambda summary: 'walks',
    _space_outcome,
    _space_columns,
    _STEADY + _WHOLE,
    _space_notes,
    {'speed': 'Speed ahead'},
)


def _posture_outcome(summary: dict[str, Any]) -> str:
    times = ((summary['posture'] or {}).get('support_time') or {}).items()
    alone = [(name, time) for name, time in times if name != 'none' and ' + ' not in name]
    text = f'Stood for {summary["duration"]:.1f} s without falling'
    if summary['steps']:
        text = _walked(summary)
    elif alone:
        text += ', of it ' + ' and '.join(
            f'{time:.1f} s on the {in_words(name)} alone' for name, time in alone
        )
    return _paragraph(f'{text}.', summary)


def _posture_notes(summary: dict[str, Any]) -> str:
    drift = (
        ' Drift is the distance of a joint from the posture of the start, which the '
        'controller was to hold.'
        if (summary['posture'] or {}).get('joint_drift') is not None
        else ''
    )
    return (
        'All values cover the whole '
        'run, its start included, when the robot settles on the floor. Tilt is the angle of '
        f'the base’s z axis from the vertical.{drift} Shares of the load are the least and '
        'the most a foot bore of the normal force of all feet. The friction ratio is the '
        'force along the floor, whatever its direction, over the normal force of a foot that '
        'carries at least 5 % of the weight; it counts feet that land or leave as well, and '
        'at the coefficient of friction a foot slides. Contacts and support are those the '
        'estimator believes. Negative work of the actuators means that on the whole they '
        'braked.'
    )


POSTURE = Section(
    POSTURE_FIGURES,
    lambda summary: 'walks' if summary['steps'] else 'stands',
    _posture_outcome,
    lambda summary: {'': {**summary, **(summary['posture'] or {})}},
    [
        'duration',
        'steps',
        'distance',
        'max_tilt',
        'final_tilt',
        'height_change',
        'base_shift',
        'joint_drift',
        'joint_drift_joint',
        'final_joint_drift',
        'load_share',
        'support_time',
        'contact_changes',
        'peak_effort_share',
        'peak_effort_joint',
        *_LOADS,
        'energy_injected',
        *_COSTS,
    ],
    _posture_notes,
    {'distance': 'Distance of the base along x'},
)
