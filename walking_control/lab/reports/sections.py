# SPDX-License-Identifier: Apache-2.0
"""What the report says of a run: of a walk in the plane, a walk in space, a kept posture."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from walking_control.lab.reports.plots import disturbance, footprints, posture, walk
from walking_control.models import format_number, in_words

HEAT = (
    'heat',
    walk.plot_heat,
    'How warm the windings would get if it went on like this for an hour in air of 25 C. Cooling '
    'and windings are guessed where the robot file tells none; `endurance` says which.',
)
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
        lambda run: posture.plot_foot_forces(run, walk.last_steps(run)),
        'What the floor did over the last six steps, sampled once a control tick.',
    ),
    # of runs that have what these show
    (
        'footprints',
        footprints.plot_footprints,
        'The walk from above; dotted: where its law wants the hip. Arrows: pushes.',
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
    HEAT,
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
    HEAT,
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
    HEAT,
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
    """What a report says of one side of a run; in words, the template of its name does.

    Attributes:
        name: Of its template: macros ``does``, ``outcome`` and ``notes`` of a summary.
        figures: Triples (name, function of a run that returns a figure or None, caption).
        columns: Function of a summary: title -> its numbers, each by key, of every column.
        keys: Of `NUMBERS` and `own`, in the order shown.
        own: Names of numbers that are others than those of `NUMBERS`.
    """

    name: str
    figures: tuple[tuple[str, Callable[[Any], Any], str], ...]
    columns: Callable[[dict[str, Any]], dict[str, dict[str, Any]]]
    keys: list[str]
    own: dict[str, str] = {}

    def rows(self, summary: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
        """Yield name, unit and texts of all columns of each number that is known."""
        columns = self.columns(summary)
        for key in self.keys:
            name, unit, digits = NUMBERS[key]
            name = self.own.get(key, name)
            first, *others = (column.get(key) for column in columns.values())
            for part, entry in first.items() if isinstance(first, dict) else [(None, first)]:
                texts = [_text(value, unit, digits) for value in (entry, *others)]
                if any(texts):
                    yield _title(key, name, part), unit, texts


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


WALK = Section(
    'walk',
    WALK_FIGURES,
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
    {
        'min_normal_force': 'Smallest normal force of the stance foot',
        'max_friction_ratio': 'Largest friction ratio of the stance foot',
    },
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


SPACE = Section('space', SPACE_FIGURES, _space_columns, _STEADY + _WHOLE, {'speed': 'Speed ahead'})
POSTURE = Section(
    'posture',
    POSTURE_FIGURES,
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
    {'distance': 'Distance of the base along x'},
)
