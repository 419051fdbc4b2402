# SPDX-License-Identifier: Apache-2.0
"""The worked example of doc/gaits.md."""

import json
import math
from pathlib import Path

import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

import find_gait  # noqa: E402

from walking_control.cli import main  # noqa: E402
from walking_control.lab.experiments.cycle_gait import save_cycles  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'find_gait.py'
OWN = EXAMPLE.with_name('three_link_walker.yaml')


def test_own_urdf_to_gait(tmp_path, capsys):
    """A user who follows the example with an own URDF must end with a gait the plant follows."""
    summary, gait = find_gait.main(tmp_path)
    assert summary['resimulation']['follows']
    assert summary['speed'] == pytest.approx(0.4, abs=1e-6)
    assert summary['mechanical_power'] == pytest.approx(summary['impact_loss_power'], rel=1e-6)
    assert gait.period == summary['period']
    assert (tmp_path / 'three_link_walker_gait.yaml').exists()
    assert 'steps of' in capsys.readouterr().out


@pytest.mark.long
def test_own_robot_follows_its_own_cycle(tmp_path, capsys):
    """A user's robot must walk on the gait file of its cycle, from the page's start on it."""
    pytest.importorskip('numba', reason='a cycle by plain Python takes long')
    robot_file = load_robot(OWN, [('world.slope', math.radians(2.0))])
    q, v = [0.267816485, -0.53563297], [-1.37766374, 0.57840974]
    cycle = {
        'q': q,
        'v': v,
        'period': 0.594344,
        'step_length': 0.264626,
        'speed': 0.445241,
        'stable': True,
        'residual': 2e-9,
        'eigenvalues': [0.5 + 0j],
    }
    (path,) = save_cycles(robot_file, {'controller': 'none', 'cycles': [cycle]}, tmp_path)
    assert (
        main(
            [
                'simulate',
                str(OWN),
                '--slope-deg',
                '2',
                '--controller',
                'curve_tracking',
                '--gait',
                path,
                '--duration',
                '2',
                '--json',
                '--set',
                f'start.q={q}',
                '--set',
                f'start.v={v}',
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert result['steps'] == 3 and result['squared_effort_per_step'] < 1e-6
