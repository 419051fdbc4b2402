# SPDX-License-Identifier: Apache-2.0
"""The picture of walks side by side under several disturbances."""

from itertools import combinations
from types import SimpleNamespace

import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_fast_plant
from walking_control.simulation.simulate import run_plant

pytest.importorskip('matplotlib')

DISTURBANCES = ['step_down=0.03@2', 'step_up=0.02@4', 'push=0.1@5', 'push=-0.05@5']


@pytest.mark.long
def test_texts_of_disturbances_can_be_read():
    """Texts would lie on each other, or be cut off below: the steepest walk has most below it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Annotation

    from walking_control.lab.reports.plots.comparison import plot_all_walks

    robot_file = load_robot('compass')
    plant = make_fast_plant(robot_file)
    plan_disturbances(plant, DISTURBANCES)
    run = run_plant(plant, ControlLoop(robot_file, 'hip_pd'), robot_file.start, 4.0)
    assert not run.broke_off and run.steps[-1] > 6
    walk = SimpleNamespace(run=run, variant=SimpleNamespace(name='hip_pd'))
    figure = plot_all_walks([walk, walk])
    FigureCanvasAgg(figure).draw()
    for axis in figure.axes:
        texts = [child for child in axis.get_children() if isinstance(child, Annotation)]
        assert len(texts) == len(DISTURBANCES)
        boxes = [text.get_bbox_patch().get_window_extent() for text in texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        frame = axis.get_window_extent()
        assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
