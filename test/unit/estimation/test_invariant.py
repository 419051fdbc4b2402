# SPDX-License-Identifier: Apache-2.0
"""The invariant Kalman filter: derivatives, honesty, slips, touchdowns, the plane."""

import numpy as np
import pinocchio as pin
import pytest
from synthetic_body import DT, error_of, FREE, GRAVITY, IN_PLANE, NOISE, SwayingBody

from walking_control.estimation import foot_updates, invariant
from walking_control.estimation.foot_updates import OFF, RESTS, SLIPS, TOUCHED
from walking_control.estimation.turns import fill_exponential, fill_turn
from walking_control.models.support.compiled import compile_law

BOTH, FIRST = np.array([True, True]), np.array([True, False])


@pytest.fixture(scope='module')
def compiled():
    """Return (begin, advance) as a control loop runs them."""
    return compile_law(foot_updates.begin), advancing(
        compile_law(foot_updates.predict), compile_law(foot_updates.take_feet)
    )


def advancing(predict, take_feet):
    """Return a function that takes a sample and the contacts of the feet."""

    def advance(state, sample, contact, noise):
        predict(state, sample, noise, GRAVITY, DT)
        take_feet(state, sample, contact, noise, DT)

    return advance


def some_state(seed=0):
    """Return a state far from zero everywhere."""
    rng = np.random.default_rng(seed)
    state = invariant.make_filter_state(FREE.copy())
    state.rotation[:] = pin.exp3(rng.standard_normal(3))
    state.columns[:], state.bias[:] = rng.standard_normal((4, 3)), rng.standard_normal((2, 3))
    state.standing[:] = True
    return state


def copy_of(state):
    """Return a state of its own memory."""
    return type(state)(*(part.copy() for part in state))


@pytest.mark.parametrize('size', [0.0, 1e-7, 9e-4, 1.1e-3, 0.3, 3.0])
def test_exponential(size):
    """A wrong rotation or left Jacobian would turn every correction the wrong way."""
    x = size * np.array([0.6, -0.64, 0.48])
    turn, along, about = np.empty((3, 3, 3))
    fill_exponential(x, turn, along)
    fill_turn(np.array([0.6, -0.64, 0.48]), size, about)
    assert np.allclose(turn, pin.exp3(x), atol=1e-14)
    assert np.allclose(about, turn, atol=1e-14)
    # Pinocchio's own has ten digits where the angle is small
    assert np.allclose(along @ pin.Jlog3(turn.T), np.eye(3), atol=1e-9)


@pytest.mark.parametrize('entry', range(21))
def test_covariance_moves_as_errors_do(entry):
    """A wrong transition would make the covariance of a moving robot dishonest."""
    rng, state, eps = np.random.default_rng(1), some_state(), 1e-6
    rate, force = rng.standard_normal(3), 9.0 * rng.standard_normal(3)
    ahead, xi = copy_of(state), np.zeros(21)
    xi[entry] = eps
    invariant.shift(ahead, xi)
    halfway, push = np.empty((3, 3)), np.empty(3)
    invariant.move(ahead, rate, force, GRAVITY, DT, np.empty((3, 3)), np.empty(3))
    invariant.move(state, rate, force, GRAVITY, DT, halfway, push)
    state.P[entry, entry] = 1.0
    invariant.spread(state, halfway, push, GRAVITY, DT, np.zeros((3, 3)), 0.0, np.zeros(21))
    moved = error_of(ahead, state, state.bias) / eps
    # of second order in the turn within a sample for the gyroscope's bias, exact for all else
    assert np.allclose(state.P, np.outer(moved, moved), atol=3e-4 * DT if entry >= 15 else 1e-7)


def test_noise_of_sensors_moves_as_their_biases_do():
    """Process noise of a wrong size would make the filter trust or doubt the IMU too much."""
    states = some_state(), some_state()
    rate, force = np.array([0.3, -0.5, 0.2]), np.array([1.0, 2.0, 9.0])
    halfway, push = np.empty((3, 3)), np.empty(3)
    for state in states:
        invariant.move(state, rate, force, GRAVITY, DT, halfway, push)
    by_noise, by_bias = states
    cov = np.diag([1.0, 2.0, 3.0])
    invariant.spread(by_noise, halfway, push, GRAVITY, DT, cov, 4.0, np.zeros(21))
    by_bias.P[15:18, 15:18], by_bias.P[18:, 18:] = cov, 4.0 * np.eye(3)
    invariant.spread(by_bias, halfway, push, GRAVITY, DT, np.zeros((3, 3)), 0.0, np.zeros(21))
    assert np.allclose(by_noise.P[:15, :15], by_bias.P[:15, :15], rtol=1e-12, atol=1e-18)


def test_rows_of_a_foot_are_derivatives():
    """Wrong rows would correct the wrong entries; those of place and velocity are exact."""
    body = SwayingBody(noise=None)
    for _ in range(40):
        body.step()
    state, residual, H = copy_of(body.truth), np.zeros(6), np.zeros((6, 21))
    state.columns[2:] = body.feet
    foot_updates.fill_foot_rows(state, body.sample, 1, residual, H)
    assert np.allclose(residual, 0.0, atol=1e-14), 'a foot that rests surprises nobody'
    for entry in range(21):
        off, xi, moved = copy_of(state), np.zeros(21), np.zeros(6)
        xi[entry] = 1e-6
        invariant.shift(off, xi)
        foot_updates.fill_foot_rows(off, body.sample, 1, moved, np.zeros((6, 21)))
        assert np.allclose(moved / 1e-6, H[:, entry], atol=1e-8), entry


def test_noise_of_a_foot():
    """Sensor noise that reaches the residuals in another size makes the filter dishonest."""
    body, rng = SwayingBody(noise=None), np.random.default_rng(0)
    for _ in range(40):
        sample = body.step()
    state, H, N = copy_of(body.truth), np.zeros((6, 21)), np.zeros((6, 6))
    state.columns[2:] = body.feet
    noise = NOISE._replace(gyro=0.02, encoder=2e-3)
    foot_updates.fill_foot_noise(state, sample, 1, noise, 0.03, N)
    exact, seen = [part.copy() for part in sample], []
    for _ in range(4000):
        sample.rate[:] = exact[0] + noise.gyro * rng.standard_normal(3)
        shake = noise.encoder * rng.standard_normal(3)
        sample.places[1] = exact[3][1] + shake
        sample.speeds[1] = exact[4][1] + noise.velocity * rng.standard_normal(3)
        residual = np.zeros(6)
        foot_updates.fill_foot_rows(state, sample, 1, residual, H)
        residual[3:] += 0.03 * rng.standard_normal(3)
        seen.append(residual)
    scale = np.sqrt(np.diag(N))
    # the noise of place and velocity of one foot is taken to be independent
    difference = (np.cov(np.array(seen).T) - N) / np.outer(scale, scale)
    assert np.abs(difference[:3, :3]).max() < 0.08
    assert np.abs(difference[3:, 3:]).max() < 0.08


def run_filter(compiled, body, ticks, contact, noise=NOISE):
    """Return the state after ticks, and a callback's records of each."""
    begin, advance = compiled
    state, records = body.begin(begin, noise), []
    for tick in range(ticks):
        sample = body.step()
        advance(state, sample, contact(tick), noise)
        records.append(
            (error_of(state, body.truth, body.bias), copy_of(state), sample.verdicts.copy())
        )
    return state, records


def walking(tick):
    """Return contacts of a walk: 0.4 s on each foot, 0.1 s on both."""
    phase = tick * DT % 1.0
    return np.array([phase < 0.55, phase >= 0.45 or phase < 0.05])


@pytest.mark.parametrize('tachometers', [pytest.param(True, marks=pytest.mark.long), False])
@pytest.mark.parametrize(
    'free', [pytest.param(FREE, marks=pytest.mark.long), IN_PLANE], ids=['free', 'planar']
)
def test_errors_are_as_large_as_the_covariance_says(compiled, free, tachometers):
    """A covariance that promises too much or too little misleads whoever weighs by it."""
    noise = NOISE._replace(tachometers=tachometers)
    nees, inside = [], []
    own = np.flatnonzero(free[:9])
    for seed in range(20):
        body = SwayingBody(seed, noise, free)
        _, records = run_filter(compiled, body, 300, walking, noise)
        for error, state, _ in records[19::20]:
            e, P = error[own], state.P[np.ix_(own, own)]
            nees.append(e @ np.linalg.solve(P, e) / len(own))
            inside.append(np.abs(e) <= 3.0 * np.sqrt(np.diag(P)))
    assert 0.8 < np.mean(nees) < 1.15
    assert np.mean(inside) > 0.99


def test_biases_are_found(compiled):
    """A gyroscope's bias that stays unknown tilts the robot without end."""
    body = SwayingBody(3)
    state, records = run_filter(compiled, body, 2000, walking)
    error = records[-1][0][15:]
    assert np.abs(body.bias[0]).max() > 0.005
    assert np.all(np.abs(error) < 3.5 * np.sqrt(np.diag(state.P)[15:]))
    sigma = np.sqrt(np.diag(state.P)[15:18])
    assert np.all(sigma[:2] < 0.25 * 0.01), 'roll and pitch rates are observed'


def test_plane_is_a_restriction(compiled):
    """Were the planar filter another one, what is proven of the free one would not hold of it."""
    begin, advance = compiled
    body = SwayingBody(1, free=IN_PLANE)
    planar = body.begin(begin)
    free = copy_of(planar)
    free.free[:] = 1.0
    begin(free, body.sample, 0, np.array([0.02, 0.01, 0.05]), NOISE)
    own = np.flatnonzero(IN_PLANE)
    for tick in range(300):
        sample = body.step()
        for state in (planar, free):
            advance(state, sample, walking(tick), NOISE)
    assert np.allclose(planar.rotation, free.rotation, atol=1e-11)
    assert np.allclose(planar.columns, free.columns, atol=1e-11)
    assert np.allclose(planar.P[np.ix_(own, own)], free.P[np.ix_(own, own)], rtol=1e-7, atol=1e-13)
    out = np.flatnonzero(IN_PLANE == 0.0)
    assert not planar.P[out].any() and not planar.P[:, out].any()
    assert not planar.columns[:, 1].any()


def test_slip_is_noticed_and_survived(compiled):
    """A foot that slides taken for one that rests would drag the estimate along."""
    begin, advance = compiled
    body = SwayingBody(2)
    state, verdicts = body.begin(begin), []
    for tick in range(300):
        body.drift[0] = [0.5, 0.0, 0.0] if 100 <= tick < 140 else 0.0
        sample = body.step()
        advance(state, sample, BOTH, NOISE)
        verdicts.append(sample.verdicts.copy())
    verdicts = np.array(verdicts)
    assert (verdicts[100:140, 0] == SLIPS).mean() > 0.9
    assert not (verdicts[:, 1] == SLIPS).any(), 'the other foot stands'
    assert not (np.delete(verdicts[:, 0], range(98, 150)) == SLIPS).any()
    error = error_of(state, body.truth, body.bias)
    assert np.all(np.abs(error[:9]) < 3.5 * np.sqrt(np.diag(state.P)[:9]))
    assert np.allclose(state.columns[2], body.feet[0], atol=0.01), 'it knows where the foot went'


def test_touchdown_brings_place_and_covariance(compiled):
    """A foot set down with too small a covariance would pull the base back to a wrong place."""
    begin, advance = compiled
    body = SwayingBody(4)
    state = body.begin(begin)
    for _ in range(100):
        advance(state, body.step(), FIRST, NOISE)
    assert body.sample.verdicts.tolist() == [RESTS, OFF]
    assert not state.P[12:15].any(), 'a foot in the air is not in the state'
    free_floor = NOISE._replace(floor=1e3, gate_velocity=0.0)  # the touchdown alone
    advance(state, body.step(), BOTH, free_floor)
    assert body.sample.verdicts.tolist() == [RESTS, TOUCHED]
    N = np.zeros((6, 6))
    foot_updates.fill_foot_noise(state, body.sample, 1, NOISE, 0.0, N)
    assert np.allclose(state.P[12:15, 12:15], state.P[6:9, 6:9] + N[:3, :3], rtol=1e-6)
    assert np.allclose(state.P[12:15, :9], state.P[6:9, :9], rtol=1e-6, atol=1e-15)
    assert np.allclose(state.columns[3], body.feet[1], atol=0.01)


def test_covariance_stays_one(compiled):
    """A covariance that loses its symmetry or sign ends in numbers that mean nothing."""
    sharp = NOISE._replace(encoder=1e-7, velocity=1e-6, rest=0.0)
    rng, body = np.random.default_rng(5), SwayingBody(5)
    contact = np.array([True, True])

    def random_contact(tick):
        if tick % 7 == 0:
            contact[:] = rng.random(2) < 0.7
        return contact

    _, records = run_filter(compiled, body, 1500, random_contact, sharp._replace(gate_both=1e9))
    for _, state, _ in records[::50]:
        P = state.P
        scale = np.sqrt(np.where(np.diag(P) > 0.0, np.diag(P), 1.0))
        assert np.array_equal(P, P.T)
        assert np.linalg.eigvalsh(P / np.outer(scale, scale)).min() > -1e-9
        assert np.isfinite(P).all()


def test_what_is_not_a_number_is_not_taken():
    """One spoilt residual would spoil the state for ever."""
    state = some_state()
    state.P[:] = np.eye(21)
    before = copy_of(state)
    residual, H = np.array([np.nan]), np.eye(21)[:1].copy()
    assert not invariant.correct(state, residual, H, np.eye(1), 1e9)
    assert all(np.array_equal(a, b) for a, b in zip(state, before, strict=True))


def test_plain_and_compiled_agree(compiled):
    """Where numba is missing the same filter must run."""
    begin, advance = compiled
    runs = []
    for first, rest in (
        (begin, advance),
        (foot_updates.begin, advancing(foot_updates.predict, foot_updates.take_feet)),
    ):
        body = SwayingBody(6)
        state = body.begin(first)
        for tick in range(15):
            rest(state, body.step(), np.array([True, tick > 5]), NOISE)
        runs.append(state)
    for a, b in zip(*runs, strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-13)


def test_flight_grows_the_covariance(compiled):
    """In the air nothing but the IMU speaks; a covariance that stands still would be a lie."""
    _, records = run_filter(compiled, SwayingBody(7), 100, lambda tick: ~BOTH)
    first, last = (np.diag(records[i][1].P)[3:9] for i in (10, -1))
    assert np.all(last > 1.5 * first)
