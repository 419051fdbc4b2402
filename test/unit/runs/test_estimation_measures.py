# SPDX-License-Identifier: Apache-2.0
"""What a run says of its estimate, on records whose errors are known."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.runs.kinematics import estimate_error, estimation_measures
from walking_control.runs.run import Run


def recorded(errors, covariance=None, seed=0):
    """Return a run of a humanoid whose estimate has these errors, ``(T, 9)``."""
    robot_file = load_robot('humanoid')
    robot, rng, rows = robot_file.robot, np.random.default_rng(seed), len(errors)
    q, v = np.zeros((rows, 26)), rng.standard_normal((rows, 25))
    q[:, :3], q[:, 3:7] = rng.standard_normal((rows, 3)), rng.standard_normal((rows, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    run = Run(robot, 'none', 'mujoco', robot_file.values(World))
    run.columns = {
        'time': 0.01 * np.arange(rows),
        'q': q,
        'v': v,
        'support': np.zeros(rows, dtype=int),
    }
    dynamics, truth = Dynamics(robot), run.base
    dynamics.place(q[0])
    origin, estimate = np.array(dynamics.foot_position('left_sole')), np.zeros((rows, 13))
    for row, error in enumerate(errors):
        estimate[row, 3:7] = pin.Quaternion(pin.exp3(error[:3]) @ truth.rotation[row]).coeffs()
    estimate[:, :3] = truth.position - origin + errors[:, 6:]
    estimate[:, 7:10], estimate[:, 10:] = truth.linear + errors[:, 3:6], truth.angular
    run.columns['estimate'] = estimate
    if covariance is not None:
        run.columns['covariance'] = np.tile(covariance, (rows, 1, 1))
    return run


@pytest.mark.parametrize('size', [1e-9, 1e-3, 1.0])
def test_errors_are_found_again(size):
    """An error in another frame or of another sign would flatter or blame the estimator."""
    errors = size * np.random.default_rng(1).standard_normal((20, 9))
    errors[:, :3] *= min(1.0, 2.0 / np.abs(errors[:, :3]).max())
    found = estimate_error(recorded(errors))
    assert np.allclose(found.all, errors, rtol=1e-6, atol=1e-14)


def test_measures():
    """A mean where a root mean square is meant hides the worst."""
    errors = np.zeros((4, 9))
    errors[:, 0], errors[:, 1] = [0.01, -0.01, 0.01, -0.01], [0.0, 0.0, 0.0, 0.04]
    errors[:, 3:5], errors[:, 6] = [0.03, 0.04], [0.0, 0.0, 0.0, 0.2]
    found = estimation_measures(recorded(errors))
    assert found['roll_rms'] == pytest.approx(0.01, rel=1e-3)
    assert found['pitch_rms'] == pytest.approx(0.02, rel=1e-3)
    assert found['velocity_rms'] == pytest.approx(0.05)
    assert found['position_rms'] == pytest.approx(0.1)
    assert found['position_final'] == pytest.approx(0.2)
    assert found['nees'] is None and found['within_3_sigma'] is None


def test_consistency():
    """An honest covariance must be told from a vain one, whatever its correlations and units."""
    rng = np.random.default_rng(2)
    L = np.tril(rng.standard_normal((9, 9))) * np.repeat([1e-3, 0.1, 1.0], 3)[:, None]
    errors, P = 0.1 * rng.standard_normal((3000, 9)) @ L.T, 0.01 * L @ L.T
    honest = estimation_measures(recorded(errors, P))
    assert honest['nees'] == pytest.approx(1.0, abs=0.05)
    assert honest['within_3_sigma'] == pytest.approx(0.9973, abs=0.002)
    vain = estimation_measures(recorded(errors, P / 16.0))
    assert vain['nees'] == pytest.approx(16.0, rel=0.05)
    assert vain['worst_within_3_sigma'] < 0.6


def test_what_a_robot_cannot_do_does_not_count():
    """Of a planar robot four entries are exact for ever: they would make any estimator honest."""
    own, rng = [1, 3, 5, 6, 8], np.random.default_rng(3)
    errors, P = np.zeros((2000, 9)), np.zeros((9, 9))
    errors[:, own], P[own, own] = 0.02 * rng.standard_normal((2000, 5)), 0.01**2
    found = estimation_measures(recorded(errors, P))
    assert found['nees'] == pytest.approx(4.0, rel=0.05)
    assert found['within_3_sigma'] == pytest.approx(0.866, abs=0.01)


def test_records_without_an_estimate_have_no_measures():
    """A record made elsewhere must still be summarised."""
    run = recorded(np.zeros((2, 9)))
    del run.columns['estimate']
    assert estimation_measures(run) is None
