# SPDX-License-Identifier: Apache-2.0
"""Look of all figures; colours follow the foot (blue, orange: distinct with any colour vision)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

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


def save_all(
    figures: Iterable[tuple[str, Figure | None, str]], folder: Path
) -> list[tuple[Path, str]]:
    """Write figures as PNG and return path and caption of each.

    Args:
        figures: Name, figure or None, caption.
        folder: Where to.
    """
    written = []
    for name, figure, caption in figures:
        if figure is not None:
            written.append((folder / f'{name}.png', caption))
            save(figure, written[-1][0])
    return written


def add_legend(
    figure: Figure, looks: Mapping[str, Mapping[str, Any]], place: str = 'upper right'
) -> None:
    """Name looks of lines outside the axes of a figure.

    Args:
        figure: The figure.
        looks: Name -> keywords of a line.
        place: Where, as matplotlib has it.
    """
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], **look) for look in looks.values()]
    look = {'ncols': len(lines), 'fontsize': 10.5, 'frameon': False}
    figure.legend(lines, list(looks), loc=f'outside {place}', **look)


def add_foot_legend(
    figure: Figure, robot: Robot, role: str = '', extra: tuple[str, str] | None = None
) -> None:
    """Name the colours of the feet, or of what they mark, above a figure, and one more."""
    entries = [(f'{in_words(foot)} {role}', FOOT_COLOURS[i]) for i, foot in enumerate(robot.feet)]
    entries += [extra] if extra else []
    add_legend(figure, {name: {'color': colour, 'linewidth': 3} for name, colour in entries})


def label(
    axis: Axes, title: str = '', ylabel: str = '', xlabel: str = '', size: float = 11, **more: Any
) -> None:
    """Give axes a title at their left and labels.

    Args:
        axis: Axes.
        title: Words above them; empty: left as they are.
        ylabel: What the ordinate is, with its unit; empty: left as it is.
        xlabel: Likewise of the abscissa.
        size: Of the title.
        more: What else matplotlib can set, such as ``ylim``.
    """
    if title:
        axis.set_title(title, loc='left', fontsize=size)
    words = {'xlabel': xlabel, 'ylabel': ylabel}
    axis.set(**{name: word for name, word in words.items() if word}, **more)


class Panel(NamedTuple):
    """Lines over a common abscissa.

    Attributes:
        title: Words above the axes.
        ylabel: What the ordinate is, with its unit.
        lines: Ordinates of each, and its look by matplotlib's keywords.
        level: Height and dashes of a black line across; None: none.
        more: What else matplotlib can set of the axes.
    """

    title: str
    ylabel: str
    lines: Iterable[tuple[Any, Mapping[str, Any]]]
    level: tuple[float, str] | None = None
    more: Mapping[str, Any] = {}


def draw_panels(
    x: Any, panels: Sequence[Panel], xlabel: str = 'time (s)', **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels below one another, and their axes.

    Args:
        x: Abscissa of all lines.
        panels: `Panel` each.
        xlabel: What the abscissa is, with its unit.
        options: Of `new_figure`.
    """
    figure, axes = new_figure(len(panels), sharex=True, **options)
    for axis, panel in zip(axes, panels, strict=True):
        for y, look in panel.lines:
            axis.plot(x, y, **look)
        if panel.level is not None:
            axis.axhline(panel.level[0], color='black', linestyle=panel.level[1], linewidth=1.0)
        label(axis, panel.title, panel.ylabel, xlabel if axis is axes[-1] else '', **panel.more)
    return figure, axes


def shade(axis: Axes, x: Any, where: Any, colour: str, alpha: float = 0.09) -> None:
    """Mark by a band where along the abscissa something holds, until the next place."""
    axis.fill_between(
        x,
        0.0,
        1.0,
        where=where,
        step='post',
        transform=axis.get_xaxis_transform(),
        color=colour,
        alpha=alpha,
        linewidth=0,
    )


def legend_beside(axis: Axes, **more: Any) -> None:
    """Name the lines of axes at their right."""
    look = {'loc': 'center left', 'bbox_to_anchor': (1.0, 0.5), 'fontsize': 9.5, 'frameon': False}
    axis.legend(**{**look, **more})
