# SPDX-License-Identifier: Apache-2.0
"""The examples that let a reader run sections of the sources say what the sources say."""

import circling_mass
import foundations
import numpy as np
import pytest
import round_feet
import statics_along
import touching


def test_a_mass_circles_without_work(capsys):
    """Energy beside the circle would stay there, or a force of (5.22) to (5.24) do work."""
    figures = circling_mass.main()
    assert figures['kept apart to, J'] < 1e-9 and figures['power of the forces, W'] < 1e-12
    assert figures['beside the circle at the start, J'] == pytest.approx(0.18)
    assert figures['at the end, J'] < 1e-9
    assert figures['along the circle at the end, J'] == pytest.approx(0.5, abs=1e-6)
    assert figures['coupling is skew to'] < 1e-9 and figures['energy of the ports, W'] < 1e-12
    assert 'along the circle' in capsys.readouterr().out


def test_foundations_agree(capsys):
    """An equation of the appendices, or a basic one, would not hold by its second route."""
    figures = foundations.main()
    # the printed Jacobian has a wrong sign: 2 q1, and the board's way ends with its step
    assert figures.pop('the same as printed') == pytest.approx(0.8)
    assert figures.pop('four short ways, sideways') < 1e-3
    assert {name: value for name, value in figures.items() if not value < 1e-5} == {}
    assert 'screws' in capsys.readouterr().out


def test_bodies_touch_as_printed(tmp_path, capsys):
    """Theorem and search would part, or the deformation of Fig. 3.9 pass its limit."""
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    figures = touching.main(str(tmp_path))
    assert figures['over waves by theorem, m'] == pytest.approx(figures['by search, m'], abs=1e-9)
    assert figures['interconnection is skew'] and figures['energy against power'] < 1e-6
    assert figures['ball in the floor at last, m'] > 0.02
    # (3.26): the deformation nears its limit of 1 as 1 - exp(-t), and comes back at the whole speed
    assert figures['deformation at most'] == pytest.approx(1.0 - np.exp(-2.0), abs=1e-3)
    assert -1.0 < figures['at the end'] < -0.85
    assert (tmp_path / 'slipping.svg').is_file() and 'slipping.svg' in capsys.readouterr().out


def test_round_feet_roll_as_by_hand():
    """A foot would slip where it rolls, or its touchdown be that of a point."""
    assert round_feet.synthetic_wheel() == pytest.approx(4.058, abs=1e-3)
    for radius in 0.0, 0.3, 1.0:
        share, by_hand = round_feet.lost_share(radius, 0.25)
        assert share == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.long
def test_round_feet_walk_faster(capsys):
    """A point foot would not be the compass, or a round one cost what a point does."""
    found = round_feet.main()
    assert found[0.0].speed == pytest.approx(0.7537, abs=1e-4)
    assert found[0.2].speed == pytest.approx(0.919, abs=1e-3)
    assert 'synthetic wheel' in capsys.readouterr().out


@pytest.mark.long
def test_no_posture_of_a_step_stands(tmp_path, capsys):
    """The statics would count a walk as a row of stands, or the acceleration explain nothing."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    parts = statics_along.main(str(tmp_path))
    assert not any(part.stands for part in parts)
    ahead = np.array([(part.place[0], part.moving_place[0]) for part in parts])
    assert np.ptp(ahead[:, 0]) > 0.15 and (abs(ahead[1:-1, 1]) < statics_along.SOLE[0]).all()
    middle = parts[len(parts) // 2]
    assert middle.moving_torque == pytest.approx(middle.motor, rel=0.15)
    assert middle.torque > 1.15 * middle.motor
    assert (tmp_path / 'statics_along.svg').is_file() and 'moving' in capsys.readouterr().out
