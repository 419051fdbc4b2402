# SPDX-License-Identifier: Apache-2.0
"""Look of all figures; colours follow the foot (blue, orange: distinct with any colour vision)."""

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

from walking_control.exceptions import import_optional
from walking_control.models.robot import in_words, Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib is imported by who draws
    Axes = Figure = Any

FOOT_COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7')
NEUTRAL = '#4D4D4D'
COLOURS = (*FOOT_COLOURS, '#E69F00', '#56B4E9', NEUTRAL)  # of as many lines
FAINT = '#B0B0B0'
MARK = '#A4134C'  # where something happens to the walker
_STYLE = {
    'font.size': 11,
    'axes.labelsize': 11,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.grid': True,
    'grid.color': '#E4E4E4',
    'grid.linewidth': 0.7,
    'axes.axisbelow': True,
    'lines.linewidth': 1.8,
    'legend.frameon': False,
    'savefig.dpi': 130,
}


def import_matplotlib() -> Any:
    """Return matplotlib.

    Raises:
        MissingDependency: It is not installed.
    """
    import_optional('matplotlib.figure', 'drawing plots')
    return import_optional('matplotlib', 'drawing plots')


def new_figure(
    rows: int,
    width: float = 9.0,
    height: float = 2.1,
    columns: Any = 1,
    polar: Sequence[int] = (),
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes as a flat list; pyplot and its global state stay untouched.

    Args:
        rows: Rows of axes.
        width: Width of the figure, inches.
        height: Height of a row, inches.
        columns: Columns of axes.
        polar: Which of the axes are polar, by index.
        options: Passed to `Figure.subplots`.
    """
    matplotlib = import_matplotlib()
    with matplotlib.rc_context(_STYLE):
        figure = matplotlib.figure.Figure(
            figsize=(width, 0.6 + height * rows), layout='constrained'
        )
        axes = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
        for i in polar:
            place = axes[i].get_subplotspec()
            axes[i].remove()
            axes[i] = figure.add_subplot(place, projection='polar')
    return figure, axes


def save(figure: Figure, target: Any) -> None:
    """Write a figure as PNG to a path or binary file."""
    with import_matplotlib().rc_context(_STYLE):
        figure.savefig(target, format='png')


def add_foot_legend(
    figure: Figure, robot: Robot, role: str = '', extra: tuple[str, str] | None = None
) -> None:
    """Name the colours of the feet, or of what they mark, above a figure, and one more."""
    from matplotlib.lines import Line2D

    entries = [(f'{in_words(foot)} {role}', FOOT_COLOURS[i]) for i, foot in enumerate(robot.feet)]
    entries += [extra] if extra else []
    figure.legend(
        [Line2D([], [], color=colour, linewidth=3) for _, colour in entries],
        [name for name, _ in entries],
        loc='outside upper right',
        ncols=len(entries),
        frameon=False,
        fontsize=10.5,
    )


def label(axis: Axes, title: str = '', ylabel: str = '', xlabel: str = '') -> None:
    """Give axes a title at their left and labels.

    Args:
        axis: Axes.
        title: Words above them.
        ylabel: What the ordinate is, with its unit; empty: left as it is.
        xlabel: Likewise of the abscissa.
    """
    axis.set_title(title, loc='left', fontsize=11)
    axis.set(**{f'{name}label': words for name, words in zip('xy', (xlabel, ylabel)) if words})
