# SPDX-License-Identifier: Apache-2.0
"""Look of all figures; colours follow the foot (blue, orange: distinct with any colour vision)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from walking_control.exceptions import import_optional
from walking_control.models import in_words, Robot

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
BESIDE = {'loc': 'center left', 'bbox_to_anchor': (1.0, 0.5), 'fontsize': 9.5, 'frameon': False}
Mark = Callable[[Any], Any]  # draws something into axes
mark: Callable[..., Mark] = (
    methodcaller  # what draws: the name of a method of axes, and its arguments
)
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
    """What is drawn in axes, and what is said of it.

    Attributes:
        title: Words above the axes.
        ylabel: What the ordinate is, with its unit.
        marks: What is drawn, each by `mark` or another function of axes.
        xlabel: What the abscissa is, with its unit; empty: that of the figure, in its last row.
        legend: Keywords of a legend within the axes, or None.
        more: What else matplotlib can set of the axes.
    """

    title: str
    ylabel: str
    marks: Iterable[Mark]
    xlabel: str = ''
    legend: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = {}

    def draw(self, axis: Axes) -> None:
        """Draw it into axes."""
        for each in self.marks:
            each(axis)
        label(axis, self.title, self.ylabel, self.xlabel, **self.more)
        if self.legend is not None:
            axis.legend(**self.legend)


def draw_panels(
    panels: Iterable[Panel],
    xlabel: str = '',
    title: str = '',
    columns: int = 1,
    size: float = 11,
    **options: Any,
) -> Figure:
    """Return a figure of panels, row by row; axes that none is left for are not seen.

    Args:
        panels: `Panel` each.
        xlabel: What the abscissa of those in the last row is, with its unit.
        title: Words above all.
        columns: How many stand side by side.
        size: Of the title.
        options: Of `new_figure`.
    """
    panels = list(panels)
    figure, axes = new_figure(-(-len(panels) // columns), columns=columns, **options)
    for axis, panel in zip(axes, panels, strict=False):
        panel.draw(axis)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[max(0, len(panels) - columns) : len(panels)] if xlabel else ():
        axis.set_xlabel(xlabel)
    if title:
        figure.suptitle(title, x=0.01, ha='left', fontsize=size)
    return figure


def arrow(start: Any, tip: Any, colour: str, width: float = 2.0, **props: Any) -> Mark:
    """Return what draws an arrow between two places, ``(2,)``.

    Args:
        start: Of its tail.
        tip: Of its point.
        colour: Of all of it.
        width: Of its line.
        props: What else matplotlib knows of arrows; ``zorder``: of what it is drawn over.
    """
    order = {name: props.pop(name) for name in ('zorder',) if name in props}
    look = {'arrowstyle': '-|>', 'color': colour, 'linewidth': width, **props}
    return mark('annotate', '', tip, start, arrowprops=look, **order)


def shade(x: Any, where: Any, colour: str, alpha: float = 0.09) -> Mark:
    """Return what marks by a band where along the abscissa something holds, to the next place."""
    look = {'step': 'post', 'color': colour, 'alpha': alpha, 'linewidth': 0}
    return lambda axis: axis.fill_between(
        x, 0.0, 1.0, where=where, transform=axis.get_xaxis_transform(), **look
    )
