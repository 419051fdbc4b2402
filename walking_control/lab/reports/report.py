# SPDX-License-Identifier: Apache-2.0
"""What is worth keeping of a run: numbers, table, figures, animation, one page of it all."""

from pathlib import Path
from typing import Any

from walking_control.exceptions import require, writing_to
from walking_control.lab.reports.animations.film import describe_animation, write_animation
from walking_control.lab.reports.pages import write_with_numbers
from walking_control.lab.reports.plots.style import import_matplotlib, save_all
from walking_control.lab.reports.scene import import_pillow
from walking_control.lab.reports.sections import POSTURE, Section, SPACE, WALK
from walking_control.runs import failure, Run, write_run_table
from walking_control.safety import FALL


def write_report(run: Run, summary: dict[str, Any], directory: Path | str) -> list[str]:
    """Write all files of a run into a directory, which is made if need be.

    Args:
        run: The `Run`.
        summary: What `summarize` (or a verb that adds to it) says of the run, JSON-ready.
        directory: Where they are written.

    Returns:
        Paths of the files, as texts: report.html, summary.json, run.csv, animation.gif and a PNG
        per figure. The page needs none of the others.

    Raises:
        InvalidInput: The directory cannot be written.
        MissingDependency: matplotlib or Pillow is not installed; nothing has been written then.
    """
    import_matplotlib()
    import_pillow()
    directory = Path(directory)
    sections = _sections(summary)
    # one tick, as after a fault in the very first, is nothing to plot
    shown = [each for section in sections for each in section.figures if len(run.time) > 1]
    animation, table = directory / 'animation.gif', directory / 'run.csv'
    with writing_to(directory):
        write_animation(run, animation)
        write_run_table(run, table)
        return write_with_numbers(
            directory / 'report.html',
            directory / 'summary.json',
            summary,
            save_all(((name, plot(run), caption) for name, plot, caption in shown), directory),
            (table, animation),
            reason=failure(summary),
            fell=summary['fell'] and summary['fault'] in (None, FALL),
            sections=sections,
            film=animation,
            film_caption=describe_animation(run),
        )


def plot_run(run: Run, name: str | None = None) -> Any:
    """Return a figure of the report.

    Args:
        run: The `Run`.
        name: Of the figure, as its file in a report is called; None takes the first.

    Returns:
        A matplotlib ``Figure``.

    Raises:
        InvalidInput: The run has no such figure; says which it has.
        MissingDependency: matplotlib is not installed.
    """
    import_matplotlib()
    plots = {
        each: plot
        for section in _sections(run.summary())
        if len(run.time) > 1
        for each, plot, _ in section.figures
    }
    if name is None and plots:
        name = next(iter(plots))
    figure = plots[name](run) if name in plots else None
    require(
        figure is not None,
        'figure of a run',
        value=name,
        limit='this run has none of that name',
        remedy='figures of such runs: ' + ', '.join(plots),
    )
    return figure


def _sections(summary: dict[str, Any]) -> list[Section]:
    """Return what there is to say of a run: of a walk, of a kept posture, or of both."""
    sections = (
        [] if summary['steady'] is None else [SPACE] if 'sideways' in summary['steady'] else [WALK]
    )
    return [*sections, POSTURE] if 'posture' in summary else sections
