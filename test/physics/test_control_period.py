# SPDX-License-Identifier: Apache-2.0
"""The longest control period, against the map over one tick of the pinned walker.

The map is linearised by differences in the coordinates that matter: gap to the gait, undesired
speed, energy error, and the integral of the latter. The phase along the gait is left out: no loop
acts on it.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tracked import sensed

from walking_control.controllers.curve_tracking import observation as motion
from walking_control.controllers.curve_tracking import tick as tracker
from walking_control.controllers.curve_tracking.control_period import closing_rate, loop_rates
from walking_control.controllers.curve_tracking.controller import build_tracker, load_gait
from walking_control.controllers.curve_tracking.forces import asymptotic_force, DAMPING, relieve
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.curve_tracking.vector_field import apply_field, make_field
from walking_control.exceptions import ParameterError
from walking_control.gaits.curve import evaluate, make_curve
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics

ROBOT_FILE = load_robot('compass')
ROBOT, WORLD_VALUES = ROBOT_FILE.robot, ROBOT_FILE.values(World)
SUPPORT = SupportDynamics(Dynamics(ROBOT, WORLD_VALUES.gravity, WORLD_VALUES.slope))
PINNED = {
    'limiting': 'off',
    'tank_initial': 1e6,
    'tank_capacity': 1e6,
    'attraction': 3.2,
    'energy_gain': 0.6,
    'transfer_gain': 0.1,
    'transfer_threshold': 0.01,
    'damping_rate': 4.0,
}
# transfer at its bound everywhere near the gait
STIFF = {'transfer_gain': 50.0, 'transfer_threshold': 0.01}


def terms(foot, q, v, _, out):
    """Evaluate the support terms by Pinocchio."""
    SUPPORT.terms(foot, q, v, out)


def build(**values):
    """Return (values, law, gait samples of one step) of settings."""
    values = CurveTrackingParameters.read({**PINNED, **values})
    gait = load_gait(ROBOT, values.gait, WORLD_VALUES)
    piece, step = gait.pieces[0], gait.pieces[0].inside
    return values, build_tracker(ROBOT, values, WORLD_VALUES, gait), piece.q[step], piece.v[step]


def inertia_and_bias(q, v):
    """Return M and h of the walker pinned at its left foot."""
    parts = SUPPORT.layout.split(SUPPORT.terms(0, q, v))
    return parts['mass'][2:, 2:], parts['bias'][2:]


def tick(law, x, dt):
    """Return the state (q, v, integral) after one period under the held effort."""
    memory, out = tracker.make_memory(law), tracker.make_outcome(np.zeros(2))
    memory.scalars[tracker.INTEGRAL] = x[4]
    tracker.track(terms, law, memory, sensed(x[:2], x[2:4], dt, fresh=True), out)
    force = law.limits.inputs[0] @ out.effort

    def rate(y):
        M, h = inertia_and_bias(y[:2], y[2:])
        return np.concatenate((y[2:], np.linalg.solve(M, force - h)))

    y, count = x[:4].copy(), max(2, math.ceil(dt / 0.004))
    for _ in range(count):
        step = dt / count
        a = rate(y)
        b = rate(y + 0.5 * step * a)
        c = rate(y + 0.5 * step * b)
        y = y + step / 6.0 * (a + 2.0 * b + 2.0 * c + rate(y + step * c))
    return np.concatenate((y, [memory.scalars[tracker.INTEGRAL]]))


def errors(law, x):
    """Return (gap, undesired speed, energy error, integral) of a state."""
    w, dw, curve = np.zeros(2), np.zeros(2), law.field.curve
    s = apply_field(law.field, x[:2], x[2:4], np.nan, w, dw)[0]
    point, first, second = np.zeros(2), np.zeros(2), np.zeros(2)
    apply_field(law.field, x[:2], x[2:4], s, w, dw)
    evaluate(curve, s, point, first, second)
    M, _ = inertia_and_bias(x[:2], x[2:4])
    across = np.array([-first[1], first[0]]) / np.linalg.norm(first)
    length = math.sqrt(w @ M @ w)
    e = w / length
    side = np.array([-(M @ e)[1], (M @ e)[0]]) / math.sqrt(np.linalg.det(M))
    parts = SUPPORT.layout.split(SUPPORT.terms(0, x[:2], x[2:4]))
    V = motion.potential(law.parameters, law.spin[0], np.ascontiguousarray(parts['mass'][:2, 2:]))
    speed = math.sqrt(x[2:4] @ M @ x[2:4])
    energy = 0.5 * speed**2 + V
    wanted = motion.interpolate(curve.knots, law.energy, s)
    return np.array([across @ (x[:2] - point), side @ M @ x[2:4], energy - wanted, x[4]])


def difference(function, x, step=1e-5):
    """Return the Jacobian by central differences."""
    return np.array(
        [(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))]
    ).T


def factors(law, q, v, dt, kept):
    """Return the largest factor of errors over one tick at a point of the gait.

    Args:
        law: `TrackerData`.
        q: Point of the gait.
        v: Its rate.
        dt: s.
        kept: Which of the errors take part.
    """
    x = np.concatenate((q, v, [0.0]))
    phase = np.concatenate((v, np.zeros(3)))
    start = np.vstack((difference(lambda y: errors(law, y), x), phase))
    spread = np.linalg.inv(start)[:, :4]
    end = difference(lambda y: errors(law, tick(law, y, dt)), x)
    A = (end @ spread)[np.ix_(kept, kept)]
    return np.abs(np.linalg.eigvals(A)).max()


PERIOD = 0.02  # s
# errors that take part, settings of which each loop's rate is 1 / PERIOD
GAP, ENERGY, BOTH, ALL = [0, 1], [2], [2, 3], [0, 1, 2, 3]
LOOPS = {
    'transfer': (GAP, {'bandwidth': 46.8, **STIFF}),
    'damping': (GAP, {'method': 'damping', 'damping_rate': 46.8}),
    'attraction': (GAP, {'bandwidth': 5.0, 'attraction': 45.0, **STIFF}),
    'surface': (GAP, {'field': 'surface', 'bandwidth': 50.0 - 7.32, **STIFF}),
    'energy': (ENERGY, {'energy_gain': 50.0 / 3.339}),
    'integral': (BOTH, {'energy_gain': 1.0, 'integral_gain': 2500.0 / 3.339}),
}


def build_loop(**values):
    """Return `build` at a rate that refuses nothing; the integral gain may leave its range."""
    integral = values.pop('integral_gain', 0.0)
    _, law, q, v = build(rate=5000.0, **values)
    law = law._replace(gains=law.gains._replace(integral=integral))
    places = [0, len(q) // 2, len(q) - 6, len(q) - 2]
    return law, q[places], v[places]


@pytest.mark.long
@pytest.mark.parametrize('loop', LOOPS)
def test_errors_shrink_at_the_bound_and_grow_beyond(loop):
    """A bound that is no bound lets a walker shake itself to pieces; one too low refuses gains
    that work."""
    kept, values = LOOPS[loop]
    said, law, q, v = build(rate=5000.0, **{**values, 'integral_gain': 0.0})
    said = SimpleNamespace(**{**vars(said), 'integral_gain': values.get('integral_gain', 0.0)})
    speed = np.array(
        [math.sqrt(b @ inertia_and_bias(a, b)[0] @ b) for a, b in zip(q, v, strict=True)]
    )
    rates = loop_rates(said, speed, closing_rate(law.field, q, v), 2)
    assert rates.get(loop, rates['direction'])[0] == pytest.approx(1.0 / PERIOD, rel=1e-3)
    law, q, v = build_loop(**values)
    for share, grows in ((0.5, False), (1.0, False), (2.5, True)):
        largest = max(
            factors(law, place, rate, share * PERIOD, kept)
            for place, rate in zip(q, v, strict=True)
        )
        assert (largest > 1.05) == grows, (share, largest)


def test_all_loops_at_their_bounds_together():
    """Loops that are stable one by one must not destabilise each other."""
    law, q, v = build_loop(
        bandwidth=46.8, energy_gain=50.0 / 3.339, integral_gain=2500.0 / 3.339, **STIFF
    )
    for place, rate in zip(q, v, strict=True):
        assert factors(law, place, rate, PERIOD, ALL) < 1.0


def test_speed_of_the_gait_in_these_tests():
    """The settings above rest on the largest speed of the shipped gait and on the surface."""
    values, law, q, v = build(field='surface')
    speed = [math.sqrt(b @ inertia_and_bias(a, b)[0] @ b) for a, b in zip(q, v, strict=True)]
    assert max(speed) == pytest.approx(3.339, abs=1e-3)
    assert closing_rate(law.field, q, v) == pytest.approx(7.32, abs=0.01)


def test_closing_rate_of_a_straight_gait():
    """Beside a straight path the gap closes at the attraction; in the plane and in space."""
    t = np.linspace(0.0, 1.0, 20)
    for n in (2, 3, 5):
        v = np.tile(np.arange(1.0, n + 1.0), (20, 1))
        field = make_field(
            'closest', make_curve(t, t[:, None] * v, v, np.diag(np.linspace(0.5, 2.0, n))), 7.0
        )
        assert closing_rate(field, t[:, None] * v, v) == pytest.approx(7.0, rel=1e-6)


def test_closing_rate_of_a_bend():
    """In a bend too the gap closes at the attraction, across it as the metric sees it."""
    t = np.linspace(0.0, 2.0, 40)
    q, v = np.stack((np.sin(t), 0.5 * t), axis=1), np.stack((np.cos(t), 0.5 + 0.0 * t), axis=1)
    field = make_field('closest', make_curve(t, q, v, np.array([[2.0, 0.6], [0.6, 0.7]])), 3.0)
    assert closing_rate(field, q[1:-1], v[1:-1]) == pytest.approx(3.0, rel=1e-4)


@pytest.mark.parametrize(
    'values, name',
    [
        ({'bandwidth': 600.0}, 'bandwidth'),
        ({'bandwidth': 600.0, 'field': 'surface'}, 'bandwidth'),
        ({'method': 'damping', 'damping_rate': 60.0, 'rate': 50.0}, 'damping_rate'),
        ({'method': 'damping', 'damping_rate': 60.0, 'bandwidth': 48.0, 'rate': 50.0}, 'bandwidth'),
        ({'attraction': 95.0, 'bandwidth': 10.0, 'rate': 100.0}, 'attraction'),
        ({'attraction': 80.0, 'bandwidth': 10.0, 'rate': 60.0, 'field': 'surface'}, 'attraction'),
        ({'energy_gain': 99.0, 'rate': 200.0}, 'energy_gain'),
        (
            {'energy_gain': 3.0, 'integral_gain': 90.0, 'bandwidth': 5.0, 'rate': 15.0},
            'integral_gain',
        ),
    ],
)
def test_gain_to_blame_and_the_values_that_do(values, name):
    """The error must name the gain, and both remedies it offers must be accepted."""
    with pytest.raises(
        ParameterError, match=f'curve_tracking.{name} .*largest stable period'
    ) as caught:
        build(**values)
    most = float(caught.value.limit.split('at most ')[1].split()[0])
    rate = float(caught.value.remedy.split('set rate to ')[1].split()[0])
    period = float(caught.value.limit.split('period is ')[1].split()[0]) * 1e-3
    assert 0.999 <= rate * period < 1.1
    build(**{**values, 'rate': rate})
    if 'field' not in values or name != 'attraction':
        build(**{**values, name: 0.999 * most})
        with pytest.raises(ParameterError):
            build(**{**values, name: 1.002 * most})


def test_free_matrix_counts_from_three_coordinates():
    """The rotation by Z needs a period of its own, where there is a Z at all."""
    values = CurveTrackingParameters.read(
        {'freedom_rate': 500.0, 'transfer_gain': 0.1, 'transfer_threshold': 0.01}
    )
    loops = {n: loop_rates(values, np.array([2.0, 3.0]), 3.0, n)['free matrix'] for n in (2, 3)}
    assert loops[2][0] == 0.0
    assert loops[3][0] == pytest.approx(500.0**2 / 40.0) and loops[3][1] == 'freedom_rate'
    assert loops[3][2] == pytest.approx(math.sqrt(40.0 * 500.0))


def test_held_rotation_by_the_free_matrix():
    """Held too long, the rotation by Z lengthens undesired momentum faster than it decays."""
    M, e, decay = np.diag([1.0, 2.0, 0.7]), np.array([1.0, 0.0, 0.0]), 4.0
    values = CurveTrackingParameters.read({'method': 'damping', 'damping_rate': decay})
    rate = loop_rates(values, np.array([1.0]), 0.0, 3)['free matrix'][0]
    for share, grows in ((1.0, False), (2.5, True)):
        r = np.array([0.0, 0.3, -0.4])
        rho = math.sqrt(r @ M @ r)
        damping, m = np.zeros(3), M @ e
        asymptotic_force(M, m, r, 0.0, rho, DAMPING, 0.0, decay, damping)
        # whatever is to be lessened acts across r, and is more than Z may take away
        across = 1e3 * np.cross(e, M @ r)
        free = M @ r
        relieve(M @ across, across, m, e, r, rho, values.freedom_rate, free)
        after = r + share / rate * np.linalg.solve(M, damping + free)
        assert (math.sqrt(after @ M @ after) > rho) == grows


@pytest.mark.parametrize('field', ['closest', 'surface'])
@pytest.mark.parametrize('method', ['transfer', 'damping'])
def test_shipped_settings_are_accepted(field, method):
    """What is shipped must start, with every field and method."""
    settings = {**ROBOT_FILE.sections['curve_tracking'], 'field': field, 'method': method}
    build(**settings)
