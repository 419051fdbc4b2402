# SPDX-License-Identifier: Apache-2.0
"""Measures of stability against closed forms, second routes and the numbers of others."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import solve_discrete_lyapunov

from walking_control.cli import main
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.experiments.stability.cycle import (
    extrapolate,
    find_eigenvalues,
    find_sensitivity,
    StableCycle,
)
from walking_control.lab.experiments.stability.metrics import (
    BEGIN,
    count_falls,
    energy_root,
    find_attraction,
    find_passage,
    passage_interval,
    share_interval,
)
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.search.return_map import find_simplest_cycle, linearise

pytest.importorskip('casadi')
pytest.importorskip('numba')


@pytest.fixture(scope='module')
def compass():
    """Return the compass on its passive cycle, integrated sharply."""
    return StableCycle(load_robot('compass'), sharp=True)


def variational_eigenvalues(angle, rate, period, slope):
    """Return the eigenvalues of the simplest walker's return map by the variational equations.

    Flow by SciPy, the derivative of the touchdown's time by hand, the reset differentiated.
    """

    def flow(_, z):
        theta, turn, phi, _ = y = z[:4]
        tilt = theta - slope
        rates = [
            turn,
            math.sin(tilt),
            y[3],
            math.sin(tilt) + (turn**2 - math.cos(tilt)) * math.sin(phi),
        ]
        J = np.zeros((4, 4))
        J[0, 1] = J[2, 3] = 1.0
        J[1, 0] = math.cos(tilt)
        J[3] = [
            math.cos(tilt) + math.sin(tilt) * math.sin(phi),
            2.0 * turn * math.sin(phi),
            (turn**2 - math.cos(tilt)) * math.cos(phi),
            0.0,
        ]
        return np.concatenate((rates, (J @ z[4:].reshape(4, 4)).ravel()))

    two = 2.0 * angle
    begin = [angle, rate, two, (1.0 - math.cos(two)) * rate]
    lead = np.array(
        [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0 * math.sin(two) * rate, 1.0 - math.cos(two)]]
    )
    end = solve_ivp(
        flow,
        (0.0, period),
        np.concatenate((begin, np.eye(4).ravel())),
        method='DOP853',
        rtol=3e-14,
        atol=1e-16,
    ).y[:, -1]
    rates, moved = flow(0.0, end)[:4], end[4:].reshape(4, 4) @ lead
    normal = np.array([-2.0, 0.0, 1.0, 0.0])  # of phi = 2 theta
    moved -= np.outer(rates, normal @ moved) / (normal @ rates)
    theta, turn = end[:2]
    reset = np.array(
        [
            [-1.0, 0.0, 0.0, 0.0],
            [-2.0 * math.sin(2.0 * theta) * turn, math.cos(2.0 * theta), 0.0, 0.0],
        ]
    )
    return np.linalg.eigvals(reset @ moved)


def test_simplest_walker_to_twelve_digits():
    """If it failed, the yardstick of return maps would not hold to 12 digits by two routes."""
    for long, point in ((True, [0.200310900544287, -0.199832473004977]), (False, None)):
        cycle = find_simplest_cycle(0.009, long)
        other = variational_eigenvalues(cycle.angle, cycle.rate, cycle.period, 0.009)
        if point is not None:  # [GCRC98]
            assert [cycle.angle, cycle.rate] == pytest.approx(point, abs=1e-13)
        for value in cycle.eigenvalues:
            assert np.abs(other - value).min() < 1e-12 * max(1.0, abs(value))
        assert cycle.residual < 1e-14
    assert find_simplest_cycle(0.009).eigenvalues[0] == pytest.approx(
        -0.190099841066 + 0.557598776682j, abs=1e-12
    )


def test_simplest_walker_is_the_limit_of_the_compass():
    """If it failed, the plant and the yardstick would be different walkers."""
    settled = StableCycle(
        load_robot(
            'compass',
            [
                ('leg_com', 1.0),
                ('leg_mass', 1e-6),
                ('hip_mass', 1.0),
                ('gravity', 1.0),
                ('slope', 0.009),
                ('start.q', [0.2003, -0.4006]),
                ('start.v', [-0.1998, 0.0158]),
            ],
        ),
        sharp=True,
    )
    found, exact = find_eigenvalues(settled), find_simplest_cycle(0.009)
    assert found['eigenvalues'][0] == pytest.approx(exact.eigenvalues[0], abs=2e-5)
    assert found['period'] == pytest.approx(exact.period, abs=2e-5)


def test_simplest_walker_says_where_there_is_no_gait():
    """If it failed, an impossible slope would give numbers or a crash."""
    for slope in (-0.01, 0.0, 0.7, math.nan):
        with pytest.raises(InvalidInput):
            find_simplest_cycle(slope)
    with pytest.raises(NotAchieved):
        find_simplest_cycle(0.4)


def jacobian(settled):
    """Return that of the stride function, by differences of another size."""
    step = 3e-5
    return (
        4.0 * linearise(settled.section.stride, settled.cycle.x, step)
        - linearise(settled.section.stride, settled.cycle.x, 2.0 * step)
    ) / 3.0


def test_extrapolation_says_how_wrong_it_is(compass):
    """If it failed, the printed error of eigenvalues would be no bound of their error."""
    assert extrapolate(
        lambda h: np.array([(math.exp(h) - math.exp(-h)) / (2 * h)]), (0.1, 0.05, 0.025)
    )[0] == pytest.approx(1.0, abs=1e-11)
    found = find_eigenvalues(compass)
    fresh = np.linalg.eigvals(jacobian(compass))
    assert found['eigenvalue_error'] < 1e-6
    for value in found['eigenvalues']:
        assert np.abs(fresh - value).min() < 1e-7


def test_sensitivity_by_the_linearised_map(compass):
    """If it failed, the gait sensitivity norm would not be the H2 norm of the return map."""
    found, section, x = find_sensitivity(compass), compass.section, compass.cycle.x

    def after(push, turn):
        """Return the time of a stride from a pushed and turned start, and the state after it."""
        walker = section.walker
        walker.start(0, *section.state(x + turn))
        walker.push(push * compass.mass)
        walker.walk(section.longest, True)
        n = walker.model.n
        q, v = walker.state.y[2 : n + 2], walker.state.y[n + 4 :]
        return np.array([walker.state.memo[0], q[0], *v])

    def difference(*arguments):
        return extrapolate(
            lambda h: (
                (after(*(h * a for a in arguments)) - after(*(-h * a for a in arguments))) / (2 * h)
            ),
            (4e-5, 2e-5),
        )

    D, *B = difference(1.0, 0.0)
    C = np.array([difference(0.0, e)[0] for e in np.eye(3)])
    A = jacobian(compass)
    gramian = solve_discrete_lyapunov(A, np.outer(B, B))
    assert found['sensitivity']['push']['step_time'] == pytest.approx(
        math.sqrt(D**2 + C @ gramian @ C), rel=1e-5
    )
    # a sum of squares: no step may be missing from the responses
    assert np.linalg.norm(found['responses']['floor']['step_time']) == pytest.approx(
        found['sensitivity']['floor']['step_time']
    )


def test_sensitivity_has_no_unit():
    """If it failed, the same walker in other units would have another norm."""
    norms = [
        find_sensitivity(StableCycle(load_robot('compass', overrides), sharp=True))[
            'gait_sensitivity_norm'
        ]
        for overrides in (
            [],
            [('gravity', 9.81 / 4.0), ('start.v', [-1.0735101 / 2, 0.7087679 / 2])],
        )
    ]
    assert norms[0] == pytest.approx(norms[1], rel=1e-6)


def geometric(chance):
    """Return walks that fall with the same chance in every step."""

    def walk(rng, anew):
        falls = np.flatnonzero(rng.random(60) < chance)
        return (int(falls[0]), True) if len(falls) else (60, False)

    return walk


def test_passage_time_of_a_known_chance():
    """If it failed, the interval of the mean first passage time would miss it too often."""
    covered, chance = 0, 0.004
    for seed in range(200):
        steps, falls = count_falls(geometric(chance), 5000, seed)
        low, high = passage_interval(steps, falls)[1]
        covered += low <= 1.0 / chance <= high
    assert 182 <= covered <= 199  # 95 % of 200, and not all


def test_passage_time_forgets_the_begin():
    """If it failed, falls of the first steps would be taken for those of the settled walk."""

    def walk(rng, anew):
        return (BEGIN // 2, True) if anew and rng.random() < 0.5 else (60, False)

    steps, falls = count_falls(walk, 2000, 0)
    assert falls == 0 and steps > 1000
    mean, (low, high) = passage_interval(steps, falls)
    assert mean is None and high is None and low == pytest.approx(-steps / math.log(0.025))


def test_rougher_floors_fell_sooner(compass):
    """If it failed, the floor would not be as rough as asked, or the same floor not come back."""
    smooth, rough = (find_passage(compass, height, 2000, seed=1) for height in (0.002, 0.004))
    assert rough['mean_first_passage_interval'][1] < smooth['mean_first_passage_interval'][0]
    assert find_passage(compass, 0.004, 2000, seed=1) == rough
    with pytest.raises(InvalidInput):
        find_passage(compass, 0.0)


def test_attraction_shrinks_with_distance(compass):
    """The cycle would not attract its neighbours, or distance would be no distance."""
    near, far = (find_attraction(compass, radius, 200) for radius in (0.02, 0.5))
    assert near['attraction_share'] == 1.0 and near['attraction_core'] is None
    assert far['attraction_share'] < 0.3 and 0.05 < far['attraction_core'] < 0.5
    low, high = far['attraction_share_interval']
    assert low < far['attraction_share'] < high
    assert far['attraction_volume'] == pytest.approx(
        far['attraction_share'] * 4 / 3 * math.pi * 0.125 / abs(np.linalg.det(energy_root(compass)))
    )


def test_distance_is_one_of_energies(compass):
    """If it failed, distances would not be energies over that of the cycle."""
    dynamics, section = Dynamics(load_robot('compass').robot), compass.section

    def kinetic(rates):
        q, v = section.state(compass.cycle.x)
        v = v.copy()
        v[section.free] = rates
        q, v = dynamics.base_from_coordinates('left_foot', q, v)
        return 0.5 * v @ dynamics.mass_matrix(q) @ v

    root, change = energy_root(compass), np.array([0.0, 0.2, -0.3])
    assert np.linalg.norm(root @ change) == pytest.approx(
        math.sqrt(kinetic(change[1:]) / kinetic(compass.cycle.x[1:]))
    )
    assert np.linalg.norm(root @ [0.1, 0.0, 0.0]) == pytest.approx(
        math.sqrt(0.5 * 7.0 * 9.81 * 0.01 / kinetic(compass.cycle.x[1:]))
    )


def test_share_interval_of_few():
    """If it failed, none of some or all of some would pass for certain."""
    assert share_interval(0, 10)[1] == pytest.approx([0.0, 1.0 - 0.025**0.1])
    assert share_interval(10, 10)[1] == pytest.approx([0.025**0.1, 1.0])


def test_verb_gives_all_metrics(tmp_path, capsys):
    """If it failed, robustness --metric would lack a number, its interval or a figure."""
    assert (
        main(
            [
                'robustness',
                'compass',
                '--metric',
                'all',
                '--steps',
                '400',
                '--samples',
                '50',
                '--json',
                '--out',
                str(tmp_path),
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert len(result['eigenvalues'][0]) == 2 and result['gait_sensitivity_norm'] > 0.0
    assert len(result['mean_first_passage_interval']) == 2 and len(result['files']) == 2
    assert 0.0 <= result['attraction_share'] <= 1.0


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['compass', '--metric', 'luck'], 'known: eigenvalues'),
        (['compass', '--metric', 'passage', '--steps', '3'], 'at least 200'),
        (['compass', '--metric', 'attraction', '--samples', '0'], 'at least 10'),
        (['compass', '--metric', 'all', '--plant', 'mujoco'], 'plant rigid'),
        (['compass', '--metric', 'all', '--noise', 'lab'], 'known state'),
        (['walker3d_point', '--metric', 'all'], 'planar walkers'),
        (['compass', '--metric', 'all', '--slope-deg', '0'], 'falls after'),
    ],
)
def test_bad_requests_are_refused(arguments, words, capsys):
    """If it failed, a request that means nothing would end in a traceback or a number."""
    assert main(['robustness', *arguments]) in (1, 2)
    error = capsys.readouterr().err
    assert words in error and len(error.strip().splitlines()) == 1
