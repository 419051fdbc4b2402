# SPDX-License-Identifier: Apache-2.0
"""The verb tune."""

from __future__ import annotations

from walking_control.cli.argument_types import axis, count, margin
from walking_control.cli.inputs import make_folder
from walking_control.cli.output import (
    save_figures,
    say_interrupted,
    show_share,
    suggest_compiler,
    tell,
    without,
)
from walking_control.cli.sweep import Gridded, requested_task
from walking_control.cli.verb import option, verb
from walking_control.exceptions import Interrupted
from walking_control.experiments.sweeps.task import Axis

LONG = ('pareto', 'points', 'interrupted')


class _Tune(Gridded):
    grid: list[Axis] = option('what may change, and between which ends; twice or more',
                              'NAME=LO:HI', axis, required=True, default=None)
    margin: list[tuple[str, float]] = option(
        'what has to be survived: speed (m/s at least), a disturbance or margin of robustness '
        '(step_down=0.01, push=0.2, delay=0.005, noise=2); repeatable', 'KIND=SIZE', margin)
    cost: str = option(
        'what is to be little: cost_of_transport_electrical (default), cost_of_transport_positive, '
        'cost_of_transport, mechanical_power, peak_effort, squared_effort_per_step', 'NAME',
        default='cost_of_transport_electrical')
    evaluations: int = option('points to try (default: 150)', 'N', count, default=150)


@verb('walking_control tune dribbel --plant rigid --duration 10 --grid set_point=0.2:0.5 --grid '
      'proportional_gain=4:16 --margin speed=0.4 --margin step_down=0.006 --out out/tune')
def tune(options: _Tune) -> int:
    """Find gains that keep margins at the least cost, and write them as a robot file."""
    from walking_control.experiments.tuning import Goal
    from walking_control.experiments.tuning import tune as search
    make_folder(options)
    suggest_compiler()
    goals = [Goal(*each) for each in options.margin]
    try:
        result = search(requested_task(options), goals, options.cost, options.evaluations,
                        show_share('tried'))
    except Interrupted as stopped:
        result = stopped.result
    status = say_interrupted(result, f'after {result["trials"]} points')
    robot_file = result.pop('robot_file')
    result['file'], result['files'] = None, []
    if options.out is not None:
        from walking_control.exceptions import writing_to
        from walking_control.reports.plots.tuning import plot_pareto
        file = options.out / f'{result["robot"]}_tuned.yaml'
        with writing_to(options.out):
            robot_file.write(file)
        result['file'] = str(file)
        result['files'] = [str(file), *save_figures(options.out, {'pareto': plot_pareto(result)})]
    tell(options, result, without(LONG))
    return status
