# SPDX-License-Identifier: Apache-2.0
"""The verb tune."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walking_control.cli.inputs import make_folder
from walking_control.cli.output import (
    print_json,
    print_summary,
    save_figures,
    say_interrupted,
    show_share,
    suggest_compiler,
)
from walking_control.cli.sweep import requested_task
from walking_control.exceptions import Interrupted

if TYPE_CHECKING:
    from argparse import Namespace

LONG = ('pareto', 'points', 'interrupted')


def tune(options: Namespace) -> int:
    """Find gains that keep margins at the least cost, and write them as a robot file."""
    from walking_control.experiments.tuning import Goal
    from walking_control.experiments.tuning import tune as search
    make_folder(options)
    suggest_compiler()
    goals = [Goal(*margin) for margin in options.margin]
    try:
        result = search(requested_task(options), goals, options.cost, options.evaluations,
                        show_share('tried'))
    except Interrupted as stopped:
        result = stopped.result
    status = say_interrupted(result, f'after {result["trials"]} points')
    robot_file = result.pop('robot_file')
    result['file'], result['files'] = None, []
    if options.out is not None:
        from walking_control.reports.page import writing_to
        from walking_control.reports.plots.tuning import plot_pareto
        file = options.out / f'{result["robot"]}_tuned.yaml'
        with writing_to(options.out):
            robot_file.write(file)
        result['file'] = str(file)
        result['files'] = [str(file), *save_figures(options.out, {'pareto': plot_pareto(result)})]
    if options.json:
        print_json(result)
    else:
        print_summary({name: value for name, value in result.items() if name not in LONG})
    return status
