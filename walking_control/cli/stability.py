# SPDX-License-Identifier: Apache-2.0
"""What `robustness --metric` does."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import requested_robot, require_rigid
from walking_control.cli.output import (
    print_json,
    print_summary,
    save_figures,
    show_share,
    suggest_compiler,
)

if TYPE_CHECKING:
    from argparse import Namespace

_LISTS = ('eigenvalues', 'coordinates', 'q', 'v')
_LONG = ('responses', 'attraction_samples', 'metrics')


def measure_stability(options: Namespace) -> int:
    """Print the measures of stability that were asked for."""
    from walking_control.experiments.stability.metrics import DEFAULTS, find_metrics, METRICS
    require_rigid(options)
    seed, options.noise_seed = options.noise_seed or 0, None   # of floor and states, not of sensors
    robot_file = requested_robot(options)
    suggest_compiler()
    names = tuple(METRICS) if options.metric == ('all',) else options.metric
    settings = {name: value for name in DEFAULTS if (value := getattr(options, name)) is not None}
    result = find_metrics(robot_file, names, options.controller, seed, show_share, **settings)
    result['files'] = []
    if options.out is not None:
        from walking_control.reports.plots.stability import stability_figures
        result['files'] = save_figures(options.out, stability_figures(result))
    if options.json:
        print_json(result)
    else:
        print_summary({name: _in_digits(value) if name in _LISTS else value
                       for name, value in result.items() if name not in _LONG})
    return 0


def _in_digits(values: list[Any]) -> str:
    """Return names or numbers in one line, numbers with all the digits that may be known."""
    return ', '.join(value if isinstance(value, str) else
                     f'{value.real:.12g}' if not getattr(value, 'imag', 0.0)
                     else f'{value:.12g}' for value in values)
