# SPDX-License-Identifier: Apache-2.0
"""What the report says of a walk: steps, speed, cost of transport, what the floor did."""

from walking_control.reports.page import (
    break_off_verb,
    format_number,
    outcome_paragraph,
    Section,
)
from walking_control.reports.plots import disturbance as plots_disturbance
from walking_control.reports.plots import energy as plots_energy
from walking_control.reports.plots import estimation
from walking_control.reports.plots import top_view as plots_top_view
from walking_control.reports.plots import walk as plots
from walking_control.runs.quantities import failure

# name, function, caption
FIGURES = (
    ('stick_figure', plots.plot_stick_figure,
     'The last two steps as multiple exposures, seven poses each, faint to strong; dotted: paths '
     'of base and feet.'),
    ('steps', plots.plot_steps,
     'Every step of the run, coloured by its stance foot. Clearance is the lowest height of the '
     'swing foot over the middle half of its way.'),
    ('joint_angles', plots.plot_joint_angles, 'Legs and joints over the last six steps.'),
    ('phase_portrait', plots.plot_phase_portrait,
     'Minimal coordinates against their rates; a dot marks the state after touchdown. Steps of '
     'the first half of the run are grey; a settled gait repeats itself.'),
    ('actuators', plots.plot_actuators, 'What the actuators did over the last six steps.'),
    ('ground_forces', plots.plot_ground_forces,
     'What the floor did over the last six steps, sampled once a control tick.'),
)
# the same, of runs that have what they show
FURTHER_FIGURES = (
    ('top_view', plots_top_view.plot_top_view,
     'The walk from above and from the side. The hip is coloured by the foot that stands, dots are '
     'footprints.'),
    ('disturbed_walk', plots_disturbance.plot_disturbed_walk,
     'The steps around the disturbance, six poses each; strong: just after touchdown. The edge of '
     'a step is drawn half way between the footholds on either side.'),
    ('energies', plots_energy.plot_energies,
     'Energies by the field of curve tracking. Potential energy counts from the stance foot. '
     'While the walker follows the gait all kinetic energy is in the desired direction.'),
    ('effort_parts', plots_energy.plot_effort_parts,
     'What the efforts consist of around the disturbance: parts that shape the natural gait and '
     'cancel on it, corrections, and the total, as wanted and as applied within all limits.'),
    ('estimate', estimation.plot_estimate, estimation.CAPTION),
)

# key in the summary, name, unit, significant digits
_ROWS = (
    ('speed', 'Speed', 'm/s', 3),
    ('cost_of_transport', 'Cost of transport, mechanical', '', 3),
    ('cost_of_transport_electrical', 'Cost of transport, electrical', '', 3),
    ('foot_clearance', 'Foot clearance, mean', 'm', 3),
    ('min_foot_clearance', 'Foot clearance, smallest', 'm', 3),
    ('step_length', 'Step length', 'm', 3),
    ('step_time', 'Step time', 's', 3),
    ('asymmetry', 'Difference between the legs’ step lengths', '%', 2),
    ('mechanical_power', 'Mechanical power', 'W', 3),
    ('distance', 'Distance', 'm', 3),
    ('duration', 'Duration', 's', 3),
    ('steps', 'Steps', '', 3),
    ('energy_injected', 'Work of the actuators', 'J', 3),
    ('scuffs', 'Scuffs of the swing foot', '', 0),
    ('foot_depth', 'Deepest a foot was in the floor', 'm', 3),
    ('foot_depth_ahead', 'How far it was ahead of the stance foot there', 'm', 3),
    ('scuff_reach', 'How far ahead a foot was still 1 mm inside', 'm', 3),
    ('squared_effort_per_step', 'Squared effort per step', 'N²m²s', 3),
    ('peak_effort', 'Largest effort', 'N m', 3),
    ('peak_current', 'Largest motor current', 'A', 3),
    ('min_normal_force', 'Smallest normal force of the stance foot', 'N', 3),
    ('max_friction_ratio', 'Largest friction ratio of the stance foot', '', 3),
)


def _verb(summary):
    return break_off_verb(summary) or ('walks' if summary['steps'] else 'did not take a step')


def _outcome(summary):
    if not summary['steps'] and failure(summary) is None:
        return '<p class="outcome fell">Stood, or rocked in place, without falling.</p>'
    return outcome_paragraph(f'Walked {summary["distance"]:.2f} m in {summary["duration"]:.1f} s, '
                             f'{summary["steps"]} steps, without falling.', summary)


def _table(summary):
    steady = summary['steady']
    lines = ['<table>',
             '<thead><tr><th></th><th>steady</th><th>whole run</th><th></th></tr></thead>',
             '<tbody>']
    for key, name, unit, digits in _ROWS:
        values = [format_number(source.get(key), unit, digits) for source in (steady, summary)]
        if values != ['', '']:
            lines.append(f'<tr><th>{name}</th><td>{values[0]}</td><td>{values[1]}</td>'
                         f'<td class="unit">{unit}</td></tr>')
    return '\n'.join([*lines, '</tbody>', '</table>'])


def _definitions(summary):
    steady = summary['steady']
    window = ('There is no steady state: the run broke off, or its second half holds no whole '
              'stride.'
              if steady['start'] is None else
              f'Steady values cover whole strides in the second half of the run, from '
              f'{steady["start"]:.2f} s to {steady["end"]:.2f} s.')
    return (f'<section class="notes"><h2>What the numbers mean</h2><p>{window} Values of the '
            'whole run include its start. Cost of transport is the net mechanical work of the '
            'actuators over weight times distance; the electrical one takes the energy drawn at '
            'the motor terminals, none of it fed back. Normal force and friction ratio count '
            'while no other foot touches the floor, the ratio only while the stance foot carries '
            'at least 5 % of the weight.</p></section>')


WALK = Section((*FIGURES, *FURTHER_FIGURES), _verb, _outcome, _table, _definitions)
