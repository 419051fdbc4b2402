# SPDX-License-Identifier: Apache-2.0
"""Gaits of the idealised spatial walker ([DS09] section 4.4)."""

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')
pytest.importorskip('scipy', reason='spatial re-simulation needs the package scipy')

from walking_control.lab.experiments.resimulation import resimulate  # noqa: E402
from walking_control.lab.reports.plots.gait import _pose  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.search.optimisation import search  # noqa: E402
from walking_control.search.parameters import SearchParameters  # noqa: E402


def walker(hip_mass):
    """Return the walker with a share of its 6 kg at the hip."""
    return load_robot('walker3d_point', [('hip_mass', hip_mass), ('head_mass', 6.0 - hip_mass)])


def solve(robot_file, starts=1, seed=0):
    """Search with the robot file's task."""
    values = SearchParameters.read({**robot_file.sections['search'], 'starts': starts})
    return search(robot_file, values, seed=seed)


@pytest.fixture(scope='module')
def splits():
    """Return the searches of the five mass distributions of Table 4.2."""
    return [solve(walker(float(hip_mass))) for hip_mass in range(1, 6)]


@pytest.mark.long
def test_trends_of_table_4_2(splits):
    """More mass at the hip: slower, longer, narrower steps that take less torque and power."""
    assert all(result.converged for result in splits)
    rows = np.array(
        [
            [
                result.gait.period,
                result.judgement.step[0],
                -abs(result.judgement.step[1]),
                -result.judgement.cost,
                -result.judgement.mechanical_power,
            ]
            for result in splits
        ]
    )
    assert (np.diff(rows, axis=0) > 0.0).all()


@pytest.mark.long
def test_power_is_the_loss_at_impact(splits):
    """On level ground what the torques give must be what touchdown takes, to three digits."""
    for result in splits:
        judgement = result.judgement
        assert judgement.mechanical_power == pytest.approx(judgement.impact_loss_power, rel=1e-3)
        assert judgement.cost == pytest.approx(result.attempt.cost, rel=0.01)


@pytest.mark.long
def test_clearance_and_speed(splits):
    """The constraints (4.36) and (4.37) must hold on the fine grid but for the nodes' spacing."""
    for result in splits:
        assert result.speed == pytest.approx(0.5, abs=1e-7)
        assert result.judgement.clearance > 0.008


@pytest.mark.long
def test_random_starts_agree(splits):
    """An optimum that depends on the first guess is not one; mirror images count as one."""
    result = solve(walker(3.0), starts=4, seed=11)
    start = np.abs(splits[2].gait.start[0])
    for attempt in result.attempts:
        assert attempt.converged
        assert attempt.cost == pytest.approx(splits[2].attempt.cost, rel=1e-5)
        np.testing.assert_allclose(np.abs(attempt.x[0:66:11]), start, atol=1e-4)


@pytest.mark.long
def test_integration_follows(splits):
    """Pinocchio, pinned at the foot and driven by the torques, must walk the gait."""
    check = resimulate(walker(3.0), splits[2].gait)
    assert check.follows
    assert check.error_q < 1e-6
    assert check.period == pytest.approx(splits[2].gait.period, abs=1e-6)


@pytest.mark.long
def test_points_of_the_top_view():
    """Fig. 4.17 must show the hip over the stance leg and the head over the hip."""
    skeleton, (points,) = _pose(walker(3.0).robot, np.zeros((1, 6)))
    np.testing.assert_allclose(points[skeleton.base], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(points[skeleton.feet], np.zeros((2, 3)), atol=1e-12)
    np.testing.assert_allclose(points[skeleton.feet[-1] + 1 :], [[0.0, 0.0, 2.0]], atol=1e-12)
