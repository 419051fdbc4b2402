# SPDX-License-Identifier: Apache-2.0
"""Branches of cycles, their folds, doublings and tori, on maps whose bifurcations are known."""

import math

import numpy as np
import pytest

from walking_control.exceptions import NotAchieved
from walking_control.lab.experiments import atlas
from walking_control.search.continuation import Continuation
from walking_control.search.return_map import Stride

pytestmark = pytest.mark.filterwarnings('error')


def of_map(function):
    """Return stride functions u -> (x -> Stride) of a map (u, x) -> x."""
    return lambda u: lambda x: Stride(np.array(function(u, x)), 1.0, 0.5)


def follow(continuation, x, u, direction=1.0):
    """Return the branch through a cycle."""
    z = np.append(x, u)
    return continuation.follow(continuation.orbit(z, direction * np.eye(len(z))[-1]))


def logistic(u, x):
    """Return r x (1 - x) with r of 2 to 4."""
    return (2.0 + 2.0 * u) * x * (1.0 - x)


def events(orbits):
    """Return the events on orbits as (name, u)."""
    return [(orbit.event, orbit.z[-1]) for orbit in orbits if orbit.event]


def test_a_branch_goes_on_round_its_fold():
    """If it failed, the second gait that a fold leads to would stay unknown, or the fold be off."""
    orbits, end = follow(
        Continuation(of_map(lambda u, x: x + 0.6 - u - x**2)), [-math.sqrt(0.5)], 0.1
    )
    assert end == 'end of the range' and orbits[-1].z == pytest.approx([math.sqrt(0.6), 0.0])
    assert events(orbits) == [('fold', pytest.approx(0.6, abs=1e-8))]
    assert max(orbit.z[-1] for orbit in orbits) == pytest.approx(0.6, abs=1e-8)
    assert all(orbit.z[0] ** 2 == pytest.approx(0.6 - orbit.z[-1], abs=1e-8) for orbit in orbits)


def test_cycles_of_two_and_four_strides_leave_where_the_period_doubles():
    """If it failed, the cascade of the logistic map at 3 and 1 + sqrt(6) would be missed."""
    orbits, _ = follow(Continuation(of_map(logistic)), [1.0 - 1.0 / 2.2], 0.1)
    assert events(orbits) == [('period doubling', pytest.approx(0.5, abs=1e-8))]
    branches = atlas._follow_both(
        Continuation(of_map(logistic)), np.array([1.0 - 1.0 / 2.2, 0.1]), 4
    )
    assert [len(branch[0][0].strides) for branch in branches] == [1, 2, 4]
    doubled, begin, end = branches[1]
    assert (begin, end) == ('period doubling', 'end of the range')
    assert events(doubled)[0] == (
        'period doubling',
        pytest.approx((math.sqrt(6.0) - 1.0) / 2.0, abs=1e-8),
    )
    for orbit in doubled[1:]:  # the sum of the two points is (r + 1) / r
        r = 2.0 + 2.0 * orbit.z[-1]
        assert sum(stride.x[0] for stride in orbit.strides) == pytest.approx((r + 1.0) / r)


def test_a_torus_begins_where_a_pair_leaves_the_circle():
    """If it failed, the delayed logistic map would go on walking evenly above r = 2."""
    orbits, _ = follow(
        Continuation(of_map(lambda u, x: ((1.5 + u) * x[0] * (1.0 - x[1]), x[0]))),
        [1.0 - 1.0 / 1.6] * 2,
        0.1,
    )
    assert events(orbits) == [('torus', pytest.approx(0.5, abs=1e-8))]
    assert orbits[0].eigenvalues.imag.any()
    # two real eigenvalues whose product is 1 are none
    orbits, _ = follow(
        Continuation(of_map(lambda u, x: (2.0 * x[0], (0.4 + 0.2 * u) * x[1]))), [0.0, 0.0], 0.1
    )
    assert events(orbits) == []


def test_a_doubled_branch_ends_where_it_meets_its_own_cycles():
    """If it failed, a bubble of doubled cycles would be walked round twice, or without end."""

    def bubble(u, x):  # -1.1 times x + x^3 at its middle: doubled between two ends
        gain = 1.0 + 0.4 * (0.0625 - (u - 0.5) ** 2)
        return -gain * x + x**3

    branches = atlas._follow_both(Continuation(of_map(bubble)), np.array([0.0, 0.05]), 2)
    assert events(branches[0][0]) == [
        ('period doubling', pytest.approx(0.25, abs=1e-7)),
        ('period doubling', pytest.approx(0.75, abs=1e-7)),
    ]
    for (orbits, begin, end), last in zip(branches[1:], (0.75, 0.25), strict=True):
        assert (begin, end) == ('period doubling', 'cycles of half the period')
        assert orbits[-1].z[-1] == pytest.approx(last, abs=0.02)


def test_a_branch_ends_where_the_robot_falls():
    """If it failed, the edge of a gait would look like the end of the range, or end the verb."""

    def stride_at(u):
        return lambda x: Stride(0.5 * x, 1.0, 0.5) if u < 0.7 else None

    orbits, end = follow(Continuation(stride_at), [0.0], 0.1)
    assert orbits[-1].z[-1] == pytest.approx(0.7, abs=1e-3) and 'falls' in end
    with pytest.raises(NotAchieved, match='falls'):
        Continuation(stride_at).walk(np.array([0.0, 0.8]))
