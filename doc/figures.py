# SPDX-License-Identifier: Apache-2.0
"""Draw the figures of the pages anew, each by its command: `python doc/figures.py [NAME...]`.

A figure of a page is that of the command which the page shows, as SVG, narrow enough that its words
can be read on a telephone: its axes stand below one another.
"""

from pathlib import Path
import shlex
import sys
from tempfile import TemporaryDirectory
from textwrap import fill
from unittest.mock import patch

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from walking_control.cli import main

IMAGES = Path(__file__).parent / 'images'
WIDTH = 4.7  # inches
POINTS = 9.5  # of letters
MANY = 100  # points of a line
FEW = 4  # names within a picture that stand there
HIGHEST, LOWEST = 5.2, 1.3  # inches of one of several axes
LEG = 'design transmission examples/two_joint_leg.urdf --frame foot --base free '
LEG += '--q hip=1.0472,knee=1.0472 --reduction 1/20 --rotor-inertia 6.4e-5 --torque 17'
POINT = 'simulate walker3d_point --duration'
# name -> name of the picture that the command writes, and the command
FIGURES = {
    'curve_tracking_walks': (
        'walks',
        'compare compass --variants {images}/curve_tracking_walks.yaml',
    ),
    'design_leg': ('transmission', f'{LEG} --efficiency 0.8,0.7'),
    'design_efficiency': ('efficiency', f'{LEG} --efficiency 0.8,0.7'),
    'design_trade': ('trade', f'{LEG} --efficiency 0.8,0.7'),
    'design_rotom': (
        'rotom',
        'design rotom humanoid --joint left_knee --joint left_hip_pitch --joint left_ankle_pitch',
    ),
    'design_double_pendulum': (
        'rotom',
        'design rotom examples/two_joint_leg.urdf --q hip=0.6,knee=1.2 --zeros',
    ),
    'dribbel_maps': (
        'maps',
        'sweep dribbel --plant rigid --duration 10 --grid set_point=0.1:0.5:9 '
        '--grid proportional_gain=2:18:9 --grid derivative_gain=0:0.5:6 --workers 1',
    ),
    'dribbel_pareto': (
        'pareto',
        'tune dribbel --plant rigid --duration 10 --grid set_point=0.2:0.5 '
        '--grid proportional_gain=4:16 --grid derivative_gain=0:1 --margin speed=0.4 '
        '--margin step_down=0.006 --evaluations 60',
    ),
    'dribbel_steps': ('stick_figure', 'simulate dribbel --duration 60'),
    'foot_placement_push': (
        'footprints',
        f'{POINT} 12 --set foot_placement.speed=1.8 --set foot_placement.position_gain=1.0 '
        '--set foot_placement.velocity_gain=1.5 --set foot_placement.pitch_gain=0.0 '
        '--set foot_placement.leave_out_sway=false --disturb side_push=-0.1@12',
    ),
    'foot_placement_turn': (
        'footprints',
        f'{POINT} 24 --set foot_placement.speed=1.5 '
        '--set foot_placement.schedule=[0,6,6.001,14,24] '
        '--set foot_placement.heading_schedule=[0,0,0.785,0.785,-2.4]',
    ),
    'natural_walking_route': ('footprints', 'demo walker3d'),
}


def narrow(figure):
    """Set the axes of a figure below one another, with letters of one size."""
    axes = [axis for axis in figure.axes if axis.get_label() != '<colorbar>']
    axes = [axis for axis in axes if axis.get_visible()]
    heights = []
    for axis in axes:
        if axis.get_aspect() == 'auto' or axis.name == 'polar':
            heights.append(2.2 if len(axes) > 1 else 3.0)
        else:
            wide, tall = (abs(high - low) for low, high in (axis.get_xlim(), axis.get_ylim()))
            heights.append(min(HIGHEST, max(LOWEST, 0.8 * WIDTH * tall / wide)))
    grid = figure.add_gridspec(len(axes), 1, height_ratios=heights)
    for place, axis in enumerate(axes):
        axis.set_subplotspec(grid[place])
        axis.set_title(fill(axis.get_title(loc='left'), 52), loc='left')
        axis.tick_params(labelleft=True)
        number(axis)
    if figure.get_suptitle():
        figure.suptitle(fill(figure.get_suptitle(), 52))
    figure.set_size_inches(WIDTH, sum(heights) + 0.75 * len(axes) + 0.45)
    for legend in figure.legends:
        handles, names = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        columns = 1 if max(map(len, names)) > 24 else 2 if sum(map(len, names)) > 32 else len(names)
        figure.legend(handles, names, loc='outside upper center', ncols=columns, frameon=False)
    for line in figure.findobj(Line2D):  # a path of many points looks the same with fewer
        if len(line.get_xdata()) > MANY and line.get_linestyle() != 'None':
            every = -(-len(line.get_xdata()) // MANY)
            line.set_data(*(data[::every] for data in line.get_data()))
    for text in figure.findobj(Text):
        text.set_fontsize(POINTS)


def number(axis):
    """Number the segments of a route, whose names would lie on footprints, and name them below."""
    texts = [text for text in axis.texts if text.get_text()]
    if len(texts) > FEW:
        told = '; '.join(f'{count} {text.get_text()}' for count, text in enumerate(texts, 1))
        for count, text in enumerate(texts, 1):
            text.set_text(str(count))
        axis.set_xlabel(f'{axis.get_xlabel()}\n{fill(told, 52)}')


def draw(name):
    """Run the command of a figure and write its picture."""
    wanted, command = FIGURES[name]
    plain = Figure.savefig

    def save(figure, target, **options):
        if Path(str(target)).stem == wanted:
            narrow(figure)
            with rc_context({'svg.hashsalt': name, 'path.simplify_threshold': 0.5}):
                path = IMAGES / f'{name}.svg'
                plain(
                    figure,
                    path,
                    format='svg',
                    bbox_inches='tight',
                    metadata={'Date': None, 'Creator': None},
                )
                print(path, path.stat().st_size // 1000, 'kB')
        plain(figure, target, **options)

    with TemporaryDirectory() as folder, patch.object(Figure, 'savefig', save):
        main([*shlex.split(command.format(images=IMAGES)), '--out', folder])


if __name__ == '__main__':
    for each in sys.argv[1:] or FIGURES:
        draw(each)
