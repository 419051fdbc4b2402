# SPDX-License-Identifier: Apache-2.0
"""What `robustness --metric` does."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import requested_robot, require_rigid
from walking_control.cli.output import (
    print_summary,
    save_figures,
    show_share,
    suggest_compiler,
    tell,
)

if TYPE_CHECKING:
    from walking_control.cli.options import Following

_LISTS = ('eigenvalues', 'coordinates', 'q', 'v')
_LONG = ('responses', 'attraction_samples', 'metrics')


def measure_stability(options: Following, metric: tuple[str, ...], seed: int,
                      settings: dict[str, Any]) -> int:
    """Print the measures of stability that were asked for; settings that are None are usual."""
    from walking_control.experiments.stability.metrics import find_metrics, METRICS
    require_rigid(options)
    robot_file = requested_robot(options)
    suggest_compiler()
    names = tuple(METRICS) if metric == ('all',) else metric
    result = find_metrics(robot_file, names, options.controller, seed, show_share,
                          **{name: value for name, value in settings.items() if value is not None})
    result['files'] = []
    if options.out is not None:
        from walking_control.reports.plots.stability import stability_figures
        result['files'] = save_figures(options.out, stability_figures(result))
    tell(options, result, lambda result: print_summary({
        name: _in_digits(value) if name in _LISTS else value
        for name, value in result.items() if name not in _LONG}))
    return 0


def _in_digits(values: list[Any]) -> str:
    """Return names or numbers in one line, numbers with all the digits that may be known."""
    return ', '.join(value if isinstance(value, str) else
                     f'{value.real:.12g}' if not getattr(value, 'imag', 0.0)
                     else f'{value:.12g}' for value in values)
