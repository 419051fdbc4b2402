# SPDX-License-Identifier: Apache-2.0
"""Decoupling, transfer and partial compensation, each against a second derivation."""

from momenta.frame import junction, momentum_frame
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from systems import Arm, filled, Pinned, PointMass, split

from walking_control.controllers.curve_tracking import forces as curve_law
from walking_control.controllers.curve_tracking.vector_field import apply_field, make_field
from walking_control.gaits.curve import make_curve

SYSTEMS = {
    'mass_2d': lambda: PointMass(2, 1.7),
    'mass_3d': lambda: PointMass(3, 0.6),
    'compass': lambda: Pinned('compass'),
    'dribbel': lambda: Pinned('dribbel'),
    'arm': Arm,
}


def smooth_field(n, seed):
    """Return w(q), and its derivative along v, of a smooth field that never vanishes."""
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(n, n)), rng.normal(size=n)
    c *= 3.0 / np.linalg.norm(c)
    return (
        lambda q: c + np.sin(A @ q) / np.sqrt(n),
        lambda q, v: np.cos(A @ q) * (A @ v) / np.sqrt(n),
    )


@pytest.fixture(params=sorted(SYSTEMS))
def case(request):
    """Return (system, w, dw, states) with ten random states."""
    system = SYSTEMS[request.param]()
    w, dw = smooth_field(system.n, 3)
    rng = np.random.default_rng(11)
    states = [(rng.uniform(-0.8, 0.8, system.n), rng.uniform(-2, 2, system.n)) for _ in range(10)]
    return system, w, dw, states


def difference(function, q, step=1e-6):
    """Return the Jacobian of a function by central differences, derivatives in the last axis."""
    return np.moveaxis(
        np.array([(function(q + h) - function(q - h)) / (2 * step) for h in step * np.eye(len(q))]),
        0,
        -1,
    )


def test_frame_has_constant_diagonal_mass(case):
    """The frame would mix desired and undesired energy: (5.4) needs Mbar constant and S w on
    one axis."""
    system, w, _, states = case
    diagonal = 1.0 + np.arange(system.n)
    for q, _ in states:
        M = system.inertia(q)
        S = momentum_frame(M, w(q), diagonal, pole=w(np.zeros(system.n)))
        M_bar = np.linalg.inv(S @ np.linalg.solve(M, S.T))
        assert M_bar == pytest.approx(np.diag(diagonal), abs=1e-9)
        assert np.abs((S @ w(q))[1:]).max() < 1e-11 * abs((S @ w(q))[0])


def test_free_motion_in_momentum_coordinates(case):
    """X and Y of (5.6) would be those of another mechanism; computed from accelerations
    instead."""
    system, w, _, states = case
    diagonal = 1.0 + np.arange(system.n)
    for q, v in states[:5]:
        pole = w(q)

        def frame(x):
            return momentum_frame(system.inertia(x), w(x), diagonal, pole=pole)

        def momenta(x, rate):
            return np.linalg.solve(frame(x).T, system.inertia(x) @ rate)

        S, M, alpha = frame(q), system.inertia(q), momenta(q, v)
        assert (S @ w(q))[0] > 0.0
        coupling = junction(S, difference(lambda x: frame(x).T @ alpha, q))
        gradient = system.bias(q, np.zeros(system.n))
        said = coupling @ (alpha / diagonal) - np.linalg.solve(S.T, gradient)
        acceleration, step = np.linalg.solve(M, -system.bias(q, v)), 1e-6
        ahead, behind = (momenta(q + h * v, v + h * acceleration) for h in (step, -step))
        assert said == pytest.approx((ahead - behind) / (2 * step), abs=1e-7 * (1 + v @ M @ v))


def test_frame_is_continuous_about_its_pole():
    """A jump of the basis along the path would appear as a force; the pole is to prevent it."""
    M, away = np.array([[3.0, 0.7, 0.1], [0.7, 1.2, 0.2], [0.1, 0.2, 0.8]]), -np.eye(3)[0]
    S = momentum_frame(M, away, pole=away)
    for turn in 1e-6 * np.eye(3):
        assert momentum_frame(M, away + turn, pole=away) == pytest.approx(S, abs=1e-5)


def test_frame_of_the_book_example():
    """For circles about the origin the frame must be the one of example 5.2, up to sign."""
    q = np.array([0.6, 0.8])
    S = momentum_frame(2.0 * np.eye(2), np.array([-q[1], q[0]]), [2.0, 2.0])
    assert np.abs(S.T) == pytest.approx(np.abs([[-q[1], q[0]], [q[0], q[1]]]), abs=1e-14)


def test_efforts_do_no_work(case):
    """(5.12), (5.18) and the free part must return as much power as they take."""
    system, w, dw, states = case
    for q, v in states:
        M, e, m, r, nu, rho, turn, gradient = split(system, q, v, w(q), dw(q, v))
        a = curve_law.convergence(nu, rho, 0.1, 0.001, 1e9)
        nominal = filled(curve_law.nominal_force, turn, m, nu, r)
        transfer = np.zeros(system.n)
        curve_law.asymptotic_force(M, m, r, abs(nu), rho, curve_law.TRANSFER, a, 1.0, transfer)
        moving = r + abs(nu) * e
        free = M @ r
        curve_law.relieve(nominal, np.linalg.solve(M, nominal), m, e, r, rho, 5.0, free)
        for effort, rate in ((nominal, v), (transfer, moving), (free, v)):
            assert abs(effort @ rate) <= 1e-9 * np.abs(effort * rate).max() + 1e-13


def test_decoupling_is_that_of_the_book(case):
    """(5.12) with X from a numerical frame must differ from ours by a choice of Z at most."""
    system, w, dw, states = case
    for q, v in states[:4]:
        M, e, m, r, nu, rho, turn, _ = split(system, q, v, w(q), dw(q, v))
        nominal = filled(curve_law.nominal_force, turn, m, nu, r)
        pole = w(q)

        def frame(x):
            return momentum_frame(system.inertia(x), w(x), pole=pole)

        S = frame(q)
        alpha = np.linalg.solve(S.T, M @ v)
        coupling = junction(S, difference(lambda x: frame(x).T @ alpha, q))
        assert coupling == pytest.approx(-coupling.T, abs=1e-9)
        X = coupling[:1, 1:]
        S1, S2 = S[:1], S[1:]
        book = -(S1.T @ X @ S2 - S2.T @ X.T @ S1) @ v
        # in alpha: the rates of the desired momentum agree, the others up to Z, which is skew
        gap = np.linalg.solve(S.T, nominal - book)
        scale = 1e-7 * (1.0 + np.abs(nominal).max())
        assert abs(gap[0]) < scale
        assert abs(gap[1:] @ (S2 @ v)) < scale * (1.0 + rho)
        if system.n == 2:
            assert nominal == pytest.approx(book, abs=scale)


def test_free_motion_exchanges_energy_and_decoupling_stops_it(case):
    """d(nu)/dt must vanish under the decoupling effort; computed from accelerations instead."""
    system, w, dw, states = case
    for q, v in states[:5]:
        M, e, m, r, nu, rho, turn, gradient = split(system, q, v, w(q), dw(q, v))
        nominal = filled(curve_law.nominal_force, turn, m, nu, r)
        acceleration = np.linalg.solve(M, nominal - system.bias(q, v) + gradient)

        def desired(x, rate):
            inertia = system.inertia(x)
            field = w(x)
            return field @ inertia @ rate / np.sqrt(field @ inertia @ field)

        step = 1e-5
        ahead, behind = (desired(q + s * v, v + s * acceleration) for s in (step, -step))
        bound = 1e-6 * (1 + nu * nu + rho * rho)
        assert (ahead - behind) / (2 * step) == pytest.approx(0.0, abs=bound)


def test_potential_drives_only_the_desired_momentum(case):
    """(5.25): with it the potential must not act on the undesired rest, nor be hidden from e."""
    system, w, dw, states = case
    for q, v in states:
        M, e, m, r, *_, gradient = split(system, q, v, w(q), dw(q, v))
        left = filled(curve_law.potential_force, gradient, e, m) - gradient
        S = momentum_frame(M, w(q), pole=w(q))
        rates = np.linalg.solve(S.T, left)
        assert rates[1:] == pytest.approx(np.zeros(system.n - 1), abs=1e-9)
        assert e @ left == pytest.approx(-e @ gradient, abs=1e-9)
        # the printed projection (5.25) with Mbar = identity
        printed = S[1:].T @ S[1:] @ np.linalg.solve(M, gradient)
        assert left + gradient == pytest.approx(printed, abs=1e-9)


def test_transfer_moves_energy_one_way(case):
    """(5.19), (5.20) with the inverse of Mbar: what the rest loses the desired motion gains."""
    system, w, dw, states = case
    a = 0.37
    for q, v in states:
        M, e, m, r, nu, rho, *_ = split(system, q, v, w(q), dw(q, v))
        force = np.zeros(system.n)
        curve_law.asymptotic_force(M, m, r, abs(nu), rho, curve_law.TRANSFER, a, 1.0, force)
        gain, loss = abs(nu) * (e @ force), r @ force
        assert gain == pytest.approx(a * nu**2 * rho**2, rel=1e-9)
        assert loss == pytest.approx(-gain, rel=1e-9)
        # backwards along the field the rest is damped instead
        curve_law.asymptotic_force(M, m, r, -abs(nu), rho, curve_law.TRANSFER, a, 2.0, force)
        assert force == pytest.approx(-2.0 * M @ r, rel=1e-12)


def test_convergence_is_bounded():
    """(5.21) unbounded decays at a0 nu^2 / a1, which a sampled law cannot follow."""
    assert curve_law.convergence(2.6, 0.0, 0.1, 0.001, 1e9) * 2.6**2 == pytest.approx(676.0)
    assert curve_law.convergence(2.6, 0.0, 0.1, 0.001, 80.0) * 2.6**2 == pytest.approx(80.0)
    assert curve_law.convergence(0.0, 0.0, 0.1, 0.001, 80.0) == pytest.approx(100.0)


def test_free_matrix_saves_effort_on_the_arm():
    """The free Z must lower the effort, never raise it, and vanish with the undesired motion."""
    arm, rng = Arm(), np.random.default_rng(2)
    w, dw = smooth_field(6, 5)
    for _ in range(5):
        q, v = rng.uniform(-0.8, 0.8, 6), rng.uniform(-2, 2, 6)
        M, e, m, r, nu, rho, turn, _ = split(arm, q, v, w(q), dw(q, v))
        nominal = filled(curve_law.nominal_force, turn, m, nu, r)
        free = M @ r
        curve_law.relieve(nominal, np.linalg.solve(M, nominal), m, e, r, rho, 1e9, free)
        both = nominal + free
        assert both @ np.linalg.solve(M, both) < nominal @ np.linalg.solve(M, nominal)
        # what is left is only what the two energies need
        needed = m * (e @ both) + M @ r * (r @ both) / rho**2
        assert both == pytest.approx(needed, abs=1e-10 * np.abs(nominal).max())
        assert [e @ free, r @ free] == pytest.approx([0.0, 0.0], abs=1e-9 * np.abs(free).max())
        # bounded, it turns r (an acceleration across it) at just that rate, the same way
        bounded, most = M @ r, 0.3 * np.sqrt(free @ np.linalg.solve(M, free)) / rho
        curve_law.relieve(nominal, np.linalg.solve(M, nominal), m, e, r, rho, most, bounded)
        turning = np.linalg.solve(M, bounded)
        assert np.sqrt(turning @ M @ turning) == pytest.approx(most * rho, rel=1e-9)
        assert turning @ free > 0.0


def test_centripetal_force_of_example_5_6():
    """(5.23), (5.24): a mass on circles must get the centripetal force plus the transfer."""
    mass = PointMass(2)
    q, v, a = np.array([0.9, -0.5]), np.array([0.8, 1.3]), 0.2
    M, e, m, r, nu, rho, turn, _ = split(
        mass, q, v, np.array([-q[1], q[0]]), np.array([-v[1], v[0]])
    )
    force = filled(curve_law.nominal_force, turn, m, nu, r)
    transfer = np.zeros(2)
    curve_law.asymptotic_force(M, m, r, nu, rho, curve_law.TRANSFER, a, 1.0, transfer)
    alpha = np.array([e @ v, np.array([q[0], q[1]]) @ v / np.linalg.norm(q)])
    turning = alpha[0] / np.linalg.norm(q) + a * alpha[0] * alpha[1]
    assert force + transfer == pytest.approx([-turning * v[1], turning * v[0]], abs=1e-13)


def follow(field_of, start, duration, a0=0.5, a1=0.1):
    """Integrate a unit mass under the law; return (times, energies, powers, rests)."""
    n = len(start) // 2
    mass, record = PointMass(n), []

    def force(x):
        w, dw = field_of(x[:n], x[n:])
        M, e, m, r, nu, rho, turn, _ = split(mass, x[:n], x[n:], w, dw)
        transfer = np.zeros(n)
        a = curve_law.convergence(nu, rho, a0, a1, 1e9)
        curve_law.asymptotic_force(M, m, r, nu, rho, curve_law.TRANSFER, a, 1.0, transfer)
        return filled(curve_law.nominal_force, turn, m, nu, r) + transfer, rho

    run = solve_ivp(
        lambda t, x: np.concatenate((x[n:], force(x)[0])),
        (0, duration),
        start,
        'DOP853',
        rtol=1e-11,
        atol=1e-12,
        max_step=0.1,
    )
    for t, x in zip(run.t, run.y.T, strict=True):
        u, rho = force(x)
        record.append((t, 0.5 * x[n:] @ x[n:], u @ x[n:], rho))
    return np.array(record).T


def test_point_mass_comes_to_circle_with_its_energy():
    """Example 5.6: any motion must turn into a circle at constant kinetic energy."""
    times, energy, power, rest = follow(
        lambda q, v: (np.array([-q[1], q[0]]), np.array([-v[1], v[0]])),
        np.array([1.0, 0.2, 0.9, 0.7]),
        12.0,
    )
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    assert np.abs(power).max() < 1e-12
    assert rest[0] > 0.5 and rest[-1] < 1e-6
    # the two energies by themselves, (5.19) to (5.21): one equation for rho, whatever the path
    alone = solve_ivp(
        lambda t, rho: -0.5 / (rho + 0.1) * (2.0 * energy[0] - rho**2) * rho,
        (0.0, times[-1]),
        rest[:1],
        'DOP853',
        times,
        rtol=1e-11,
        atol=1e-13,
    )
    assert rest == pytest.approx(alone.y[0], abs=1e-9)


@pytest.mark.long
def test_point_mass_comes_to_a_curve_in_space():
    """The same in three dimensions along a curve that lies in no plane, by the closest point."""
    t = np.linspace(0.0, 14.0, 150)
    path = np.stack((np.cos(t), np.sin(t), 0.2 * t + 0.3 * np.sin(0.7 * t)), axis=1)
    rate = np.stack((-np.sin(t), np.cos(t), 0.2 + 0.21 * np.cos(0.7 * t)), axis=1)
    field = make_field('closest', make_curve(t, path, rate, np.eye(3)), 1.0)

    def field_of(q, v):
        w, dw = np.zeros(3), np.zeros(3)
        apply_field(field, q, v, np.nan, w, dw)
        return w, dw

    start = np.array([1.25, -0.1, 0.2, 0.3, 1.1, -0.2])
    _, energy, power, rest = follow(field_of, start, 9.0)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    assert np.abs(power).max() < 1e-12
    assert rest[0] > 0.3 and rest[-1] < 1e-5
