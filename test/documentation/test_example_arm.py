# SPDX-License-Identifier: Apache-2.0
"""The worked example of doc/design.md: a planar arm with rotors and friction."""

from joint_modes import GearedJoints, solve_joints
import numpy as np
import planar_3r as example
import pytest


def test_closed_forms_there_and_back(capsys):
    """Who follows the example must get the printed equations, and the motion put in."""
    figures = example.main()
    assert figures['difference of M'] < 1e-12 and figures['difference of c'] < 1e-12
    assert figures['acceleration'] == pytest.approx([3.0, 1.0, -2.0], abs=1e-10)
    assert figures['sticks'] and not figures['at rest, sticking'].any()
    assert 'torques: [7.2099 0.7867 0.288 ]' in capsys.readouterr().out  # as the page has it
    dynamics, rng = example.arm(), np.random.default_rng(0)
    for q, v, a in rng.normal(0.0, 1.5, (100, 3, 3)):
        for mine, theirs in zip(example.closed_forms(q, v), example.from_package(dynamics, q, v)):
            assert mine == pytest.approx(theirs, abs=1e-12)
        tau = example.inverse_dynamics(q, v, a)
        assert example.direct_dynamics(q, v, tau).acceleration == pytest.approx(a, abs=1e-9)


def test_the_third_velocity_is_that_of_the_third_joint():
    """As printed, v3 is the speed of O2, the second joint: the arm would lose inertia."""
    q, v, l1, l2 = np.array([0.4, -0.9, 0.7]), np.array([1.2, -0.8, 2.0]), *example.LENGTHS
    dynamics = example.arm()
    M, _ = example.from_package(dynamics, q, v)
    y1 = np.array([-np.sin(q[0]), np.cos(q[0])])
    y2 = np.array([-np.sin(q[0] + q[1]), np.cos(q[0] + q[1])])

    def energy(v3):
        moments = example.MOMENTS + example.MASSES * example.CENTRES**2
        v2, x2 = l1 * y1 * v[0], example.MASSES[1] * example.CENTRES[1]
        return 0.5 * (
            moments @ np.cumsum(v) ** 2 + example.MASSES[1] * v2 @ v2 + example.MASSES[2] * v3 @ v3
        ) + x2 * (v[0] + v[1]) * (v2 @ y2)

    o3 = l1 * y1 * v[0] + l2 * y2 * (v[0] + v[1])
    assert energy(o3) == pytest.approx(0.5 * v @ M @ v)
    assert energy(l1 * y1 * v[0]) != pytest.approx(0.5 * v @ M @ v, rel=0.02)


def test_printed_friction_does_not_stick():
    """(26) with sign(0) = 0 lets an arm at rest creep off under any torque."""
    q, push = np.array([0.4, -0.9, 0.7]), 0.5 * example.DRY
    M, _ = example.closed_forms(q, np.zeros(3))
    printed = np.linalg.solve(M + np.diag(example.joints().armature), push)
    assert np.abs(printed).min() > 0.01
    assert not example.direct_dynamics(q, np.zeros(3), push).acceleration.any()
    # moving at all, both agree
    v = np.full(3, 1e-9)
    none = GearedJoints(np.zeros(3), np.ones(3), np.ones(3), example.DRY, np.zeros(3))
    assert solve_joints(M, np.zeros(3), push, v, none).acceleration == pytest.approx(
        np.linalg.solve(M, push - example.DRY)
    )
