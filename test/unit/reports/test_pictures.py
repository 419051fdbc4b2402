# SPDX-License-Identifier: Apache-2.0
"""Pictures that can be read: no words over words, no legend over a curve, whatever the robot."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('matplotlib', reason='plots need matplotlib')

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402

from walking_control.lab.reports.plots.disturbance import plot_effort_parts  # noqa: E402
from walking_control.lab.reports.plots.gait import (
    plot_cycle,  # noqa: E402
    plot_motion,  # noqa: E402
)
from walking_control.loading import load_robot  # noqa: E402
from walking_control.runs.quantities import rows_around  # noqa: E402
from walking_control.simulation.simulate import simulate  # noqa: E402

MOTORS = ('left_hip_pitch', 'left_knee_pitch', 'right_hip_pitch', 'right_knee_pitch')
PARTS = ('nominal', 'potential', 'asymptotic', 'energy', 'applied', 'wanted')


@pytest.fixture(scope='module')
def compass_run():
    """Return a walk of the compass without control."""
    return simulate(load_robot('compass'), 'none', duration=2.0)


@pytest.fixture(scope='module')
def four_motor_run(compass_run):
    """Return that walk as if curve tracking had driven four motors, a peak in one of them."""
    motor = compass_run.robot.actuators['hip']
    wave = np.sin(8.0 * compass_run.time)
    peak = np.where(np.arange(len(wave)) == rows_around(compass_run, 1, 4).start + 20, 300.0, 0.0)
    telemetry = {
        f'{part}_{joint}': (i + 1.0) * wave + (peak if part == 'applied' else 0.0)
        for i, joint in enumerate(MOTORS)
        for part in PARTS
    }
    return replace(
        compass_run,
        telemetry=telemetry,
        robot=replace(
            compass_run.robot, actuators=dict.fromkeys(MOTORS, motor), ground_torque=None
        ),
    )


def boxes_of_words(figure):
    """Return (words, box) of all titles, axis labels and legends of a drawn figure."""
    FigureCanvasAgg(figure).draw()
    texts = [axis.title for axis in figure.axes]
    for axis in figure.axes:
        texts += [axis._left_title, axis._right_title, axis.xaxis.label, axis.yaxis.label]
    legends = [*figure.legends, *(axis.get_legend() for axis in figure.axes)]
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()] + [
        ('legend', legend.get_window_extent()) for legend in legends if legend is not None
    ]


def check_readable(figure):
    """Check that words overlap neither each other nor an axes' inside, and stay in the figure."""
    words, whole = boxes_of_words(figure), figure.bbox
    for i, (text, box) in enumerate(words):
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1, f'{text} leaves the figure'
        for other, another in words[i + 1 :]:
            assert not box.overlaps(another), f'{text} over {other}'
        for axis in figure.axes:
            inside = axis.get_window_extent().shrunk(0.98, 0.96)
            assert not box.overlaps(inside), f'{text} over the curves'


def test_effort_parts_of_four_motors(four_motor_run):
    """Titles lay over each other and legends over curves: nobody could read a four-motor robot."""
    figure = plot_effort_parts(four_motor_run)
    check_readable(figure)
    words = [text for text, _ in boxes_of_words(figure)]
    assert all(joint.replace('_', ' ') in words for joint in MOTORS)
    assert sum(text.startswith('peak ') for text in words) == len(MOTORS)


def test_gait_motion_of_five_coordinates():
    """The legend of the coordinates lay over them."""

    class Motion:
        period = 0.5
        phases = (SimpleNamespace(duration=0.2), SimpleNamespace(duration=0.3))

        def motion(self, time):
            q = np.array([np.sin(6.0 * time + i) for i in range(5)]).T
            return q, q, q

    time = np.linspace(0.0, 0.5, 50)
    judgement = SimpleNamespace(
        time=time, effort=np.ones((50, 5)), foot=np.ones((50, 2)), force=np.ones((50, 2)), cost=1.0
    )
    names = ['stance_tibia', 'stance_femur', 'torso', 'swing_femur', 'swing_tibia']
    found = SimpleNamespace(
        result=SimpleNamespace(gait=Motion(), judgement=judgement),
        robot_file=SimpleNamespace(robot=SimpleNamespace(coordinates=names)),
    )
    check_readable(plot_motion(found))


def test_cycle_portrait_says_what_it_shows(compass_run):
    """A portrait had no title, and nothing closed the cycle: the impact was not to be seen."""
    figure = plot_cycle(
        compass_run,
        {
            'period': 0.734,
            'step_length': 0.53,
            'speed': 0.72,
            'stable': True,
            'eigenvalues': [0.19 + 0.41j, 0.19 - 0.41j, -0.02],
        },
    )
    check_readable(figure)
    title = figure.get_suptitle()
    assert 'compass' in title and 'stable cycle' in title and '3° downhill' in title
    assert '0.19 ± 0.41i, -0.02' in title and '0.452' in title
    for axis in figure.axes:
        (jump,) = [line for line in axis.get_lines() if line.get_linestyle() == '--']
        (step,) = [line for line in axis.get_lines() if line.get_label() == 'one step']
        ends = step.get_xydata()[[-1, 0]]
        assert np.array_equal(jump.get_xydata(), ends) and np.ptp(ends[:, 1]) > 0.1
