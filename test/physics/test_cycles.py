# SPDX-License-Identifier: Apache-2.0
"""Limit cycles: the book's compass, the simplest walking model, Goswami's compass, Dribbel."""

from dataclasses import replace
import math

import numpy as np
import pytest

from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.experiments.cycles import find_robot_cycles, Section
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.search.return_map import find_cycles, judge, polish, Stride
from walking_control.simulation.rigid.compiled import Walker

pytest.importorskip('casadi')
pytest.importorskip('numba')


def load(name, *overrides):
    """Return a robot file with overrides of any section."""
    return load_robot(name, overrides)


def section(robot_file, controller='none'):
    """Return the touchdown section of a robot on the compiled plant."""
    return Section(Walker(robot_file, controller), robot_file.values(World).gravity)


def branch(x0, slopes, *overrides):
    """Follow a cycle of the compass over slopes; return the cycles."""
    cycles, x = [], np.array(x0)
    for slope in slopes:
        here = section(load('compass', ('slope', slope), *overrides))
        x = polish(here.stride, x)
        cycles.append(judge(here.stride, x))
    return cycles


def test_newton_on_a_known_map():
    """If it failed, fixed points or eigenvalues of a map given in closed form would be wrong."""
    turn = 0.6 * np.array([[math.cos(1.0), -math.sin(1.0)], [math.sin(1.0), math.cos(1.0)]])

    def stride(x):
        z = x - [0.3, -0.2]
        return Stride(np.array([0.3, -0.2]) + turn @ z + 0.1 * z**3, 2.0, 0.5)

    shares = []
    cycles = find_cycles(
        stride, np.random.default_rng(0).uniform(-1, 1, (50, 2)), progress=shares.append
    )
    assert len(shares) > 60 and shares == sorted(shares) and shares[-1] == 1.0
    assert cycles[0].x == pytest.approx([0.3, -0.2], abs=1e-10)
    assert cycles[0].eigenvalues == pytest.approx(0.6 * np.exp([1j, -1j]), abs=1e-8)
    assert cycles[0].stable and cycles[0].speed == 0.25


def test_compass_has_two_passive_cycles():
    """If it failed, the long stable or the short unstable gait on 3 degrees would be lost."""
    cycles = find_robot_cycles(load('compass'), starts=1500).cycles
    assert [cycle.stable for cycle in cycles] == [True, False]
    long, short = cycles
    assert long.period > short.period
    assert abs(long.eigenvalues[0]) == pytest.approx(0.490, abs=1e-3)
    assert short.eigenvalues[0] == pytest.approx(4.4606, abs=1e-3)
    # (4.22): what the slope gives is what the impact takes
    for cycle in cycles:
        assert cycle.residual < 1e-10
        walker = Walker(load('compass'))
        walker.start(0, cycle.q, cycle.v)
        walker.walk(2.0, True)
        given = 7.0 * 9.81 * math.sin(math.radians(3.0)) * cycle.step_length
        assert walker.state.memo[7] == pytest.approx(given, rel=1e-9)


def test_fixed_point_converges_with_the_tolerance():
    """If it failed, the fixed point would not be known to 1e-8."""
    points = []
    for tolerance in (1e-8, 5e-9, 1e-12):
        robot_file = load('compass', ('rigid.tolerance', tolerance))
        start = robot_file.start
        points.append(polish(section(robot_file).stride, np.array([start.q[0], *start.v])))
    assert np.abs(points[0] - points[1]).max() < 1e-8
    assert np.abs(points[0] - points[2]).max() < 1e-8


def test_simplest_walking_model():
    """If it failed, feet of vanishing mass would not give the model of Garcia et al. (1998)."""
    limit = (('leg_com', 1.0), ('leg_mass', 1e-6), ('hip_mass', 1.0), ('gravity', 1.0))
    gamma = 1e-4
    cube = gamma ** (1 / 3)
    # expansions in the slope, their Table 1: angle, time and rate over angle; without the second
    # term of the long gait's angle: see doc/reproduction.md
    for theta0, theta1, tau0, tau1, alpha, tolerance in (
        (0.970956, 0.0, 3.812092, 1.579129, -1.045203, 3e-5),
        (0.943976, -0.264561, math.pi, -0.907496, -1.090331, 3e-6),
    ):
        guess = theta0 * cube
        rate = alpha * guess
        cycle = branch([guess, rate, -rate * (1 - math.cos(2 * guess))], [gamma], *limit)[0]
        assert cycle.x[0] == pytest.approx(theta0 * cube + theta1 * gamma, abs=tolerance)
        assert cycle.period == pytest.approx(tau0 + tau1 * cube**2, abs=1e-4)
    # their numerical fixed point on 0.009, to the digits a foot mass of a millionth leaves
    cycle = branch([0.2, -0.2, 0.016], [0.009], *limit)[0]
    assert cycle.x[:2] == pytest.approx([0.200310900544287, -0.199832473004977], abs=3e-7)
    assert cycle.eigenvalues[0] == pytest.approx(-0.19010 + 0.55760j, abs=1e-4)
    # the long gait loses stability by period doubling a little above 0.015
    *_, below, above = branch([0.2, -0.2, 0.016], [0.009, 0.012, 0.0150, 0.0153], *limit)
    assert below.stable and not above.stable
    assert above.eigenvalues[0].real < -1.0


def test_goswami_compass_doubles_its_period():
    """If it failed, heavy legs at mid-length would not bifurcate near 4.4 degrees."""
    below, above = branch(
        [0.3, -1.07, 0.72], np.radians([4.35, 4.45]), ('leg_mass', 5.0), ('hip_mass', 10.0)
    )
    assert below.stable
    assert above.eigenvalues[0].real < -1.0 and abs(above.eigenvalues[0].imag) < 1e-9


def test_no_cycle_says_what_was_tried():
    """If it failed, a slope without a gait would end in silence or a crash."""
    with pytest.raises(NotAchieved, match='from 300 starts'):
        find_robot_cycles(load('compass', ('slope', -0.05)), starts=300)


@pytest.mark.parametrize('name, duration', [('compass', 3.0), ('dribbel', 1.5)])
def test_compiled_equals_plain(name, duration):
    """If it failed, sweeps would walk another robot than simulate does."""
    robot_file = load(name)
    walkers = Walker(robot_file), Walker(robot_file, compiled=False)
    for walker in walkers:
        start = robot_file.start
        walker.start(robot_file.robot.feet.index(start.support), start.q, start.v)
        assert walker.walk(duration) == 0
    compiled, plain = (walker.state for walker in walkers)
    assert np.array_equal(compiled.mode, plain.mode)
    assert compiled.y == pytest.approx(plain.y, abs=1e-11)
    assert compiled.memo == pytest.approx(plain.memo, abs=1e-9)


def test_uncontrolled_compass_fails_at_a_small_step_down():
    """If it failed, the region of the passive gait would be far from the known 16 mm."""
    result = find_first_failure(load('compass'), 'step_down', largest=0.018, resolution=0.0005)
    assert 0.0155 <= result.first_failure <= 0.0175
    assert result.samples[0][1] and result['min_normal_force'] > 40.0


def test_push_and_bad_disturbances():
    """If it failed, a tiny push would fell the walker or nonsense would be accepted."""
    result = find_first_failure(load('compass'), 'push', largest=0.02, resolution=0.01)
    assert result.first_failure is None and result.largest_survived == pytest.approx(0.02)
    for kind, largest, resolution in (
        ('earthquake', 1.0, 0.1),
        ('push', 0.0, 0.1),
        ('push', math.nan, 0.1),
        ('push', 1.0, -0.1),
        ('push', 0.1, 0.2),
    ):
        with pytest.raises(InvalidInput):
            find_first_failure(load('compass'), kind, largest=largest, resolution=resolution)


def test_sizes_below_zero_disturb_the_other_way():
    """If it failed, a push against the walk would be taken for one along it, or never tried."""
    back = find_first_failure(load('compass'), 'push', largest=-0.08, resolution=0.02)
    assert [size for size, *_ in back.samples] == [-0.02, -0.04, -0.06, -0.08]
    assert back.first_failure == -0.06 and back.largest_survived == -0.04
    along = find_first_failure(load('compass'), 'push', largest=0.08, resolution=0.02)
    assert along.first_failure is None


def test_a_walker_wedged_on_both_feet_ends_soon():
    """Feet that come down in one place would be integrated for minutes by steps of rounding."""
    result = find_first_failure(
        replace(load('dribbel'), controller='hip_switching'), 'push', -0.13, 0.13
    )
    assert result.samples == [[-0.13, False, 'contacts chattered']]


def test_dribbel_has_a_stable_passive_gait_without_motor():
    """If it failed, the kneed robot on 3 degrees could not walk passively."""
    here = section(load('dribbel', ('rotor_inertia', 1e-12), ('slope', math.radians(3.0))))
    cycle = judge(here.stride, polish(here.stride, np.array([0.2692, -1.1448, 0.3395])))
    assert cycle.stable and abs(cycle.eigenvalues[0]) == pytest.approx(0.338, abs=5e-3)
    assert cycle.residual < 1e-10


def test_dribbel_hip_law_has_a_stable_cycle():
    """If it failed, the level walk under the hip law would not be a cycle of the return map."""
    here = section(load('dribbel'), 'hip_switching')
    cycle = judge(here.stride, polish(here.stride, np.array([0.146, -0.845, 0.155])))
    assert cycle.stable
    assert cycle.speed == pytest.approx(0.461, abs=0.005)
