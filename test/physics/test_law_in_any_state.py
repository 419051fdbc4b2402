# SPDX-License-Identifier: Apache-2.0
"""Curve tracking in states no gait comes near: whatever comes in, a bounded effort goes out."""

import itertools

import numpy as np
import pytest
from tracked import sensed

from walking_control.controllers.curve_tracking import tick as tracker
from walking_control.controllers.curve_tracking.controller import build_tracker, load_gait
from walking_control.controllers.curve_tracking.forces import integrate_error
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.curve_tracking.vector_field import (
    FULL,
    is_direction,
    NONE,
    trust_of,
)
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics

ROBOT_FILE = load_robot('compass')
ROBOT, WORLD_VALUES = ROBOT_FILE.robot, ROBOT_FILE.values(World)
SUPPORT = SupportDynamics(Dynamics(ROBOT, WORLD_VALUES.gravity, WORLD_VALUES.slope))


def terms(foot, q, v, _, out):
    """Evaluate the support terms by Pinocchio."""
    SUPPORT.terms(foot, q, v, out)


def build(**values):
    """Return the `TrackerData` of settings on top of the shipped ones."""
    values = CurveTrackingParameters.read({**ROBOT_FILE.sections['curve_tracking'], **values})
    return build_tracker(ROBOT, values, WORLD_VALUES, load_gait(ROBOT, values.gait, WORLD_VALUES))


def random_state(rng):
    """Return (q, v): any posture, folded ones included, rates from rest to absurd."""
    q = rng.uniform(-np.pi, np.pi, 2) * rng.choice([0.1, 1.0, 1.0, 10.0])
    if rng.uniform() < 0.2:
        q[1] = rng.choice([0.0, np.pi, -np.pi, -2.0 * q[0]])
    size = 10.0 ** (rng.uniform(-3, 6) if rng.uniform() < 0.95 else rng.uniform(6, 300))
    return q, size * rng.normal(size=2)


def try_states(function, evaluate, law, rng, count):
    """Tick a law in random states; return how many efforts were not zero."""
    memory, acted, largest = tracker.make_memory(law), 0, law.limits.largest
    for _ in range(count):
        q, v = random_state(rng)
        if rng.uniform() < 0.3:
            tracker.forget(law, memory)
            memory.scalars[tracker.INTEGRAL] = rng.normal()
            memory.scalars[tracker.TANK] = rng.choice([0.0, 1e-3, 10.0])
        effort, dt = np.zeros(2), float(rng.choice([0.0, 1e-4, 0.002]))
        grounded, out = rng.uniform() < 0.9, tracker.make_outcome(effort)
        support, fresh = int(rng.integers(2)), rng.uniform() < 0.3
        function(evaluate, law, memory, sensed(q, v, dt, support, grounded, fresh), out)
        assert np.isfinite(effort).all() and np.all(np.abs(effort) <= largest), (q, v, effort)
        assert np.isfinite(memory.effort).all() and np.isfinite(memory.scalars[1:]).all(), (q, v)
        assert grounded or not effort.any()
        if out.report[tracker.TRUST] == 0.0:
            assert not effort.any()
        acted += effort.any()
    return acted


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize(
    'field, method, limiting',
    [
        ('closest', 'transfer', 'project'),
        ('closest', 'damping', 'scale'),
        ('surface', 'transfer', 'project'),
        ('surface', 'damping', 'off'),
    ],
)
def test_no_state_gives_an_effort_out_of_bounds(field, method, limiting):
    """A number that is not finite, or beyond the motor, must never leave the law."""
    law = build(field=field, method=method, limiting=limiting, integral_gain=0.3)
    acted = try_states(tracker.track, terms, law, np.random.default_rng(5), 250)
    assert acted > 10


def test_field_without_direction_gives_no_effort():
    """Where a field vanishes or is not a number there is nowhere to go: hands off."""
    closest, surface = build(), build(field='surface')
    curve = closest.field.curve
    still = curve._replace(coefficients=curve.coefficients * np.eye(6)[0][:, None])
    for law in (
        surface._replace(field=surface.field._replace(surface=np.full(15, np.nan))),
        closest._replace(field=closest.field._replace(curve=still)),
    ):
        q, v, memory = np.array([0.05, 0.1]), np.array([-0.7, 1.9]), tracker.make_memory(law)
        with np.errstate(all='ignore'):
            effort, report = tick(law, memory, q, v)
        assert not effort.any() and report[tracker.TRUST] == 0.0
        assert np.isfinite(memory.scalars[1:]).all()


def test_fields_and_margins_meet_in_no_gap():
    """The trust must fall to exactly zero, also where the margin is no number."""
    assert trust_of(np.nan) == 0.0 and trust_of(-np.inf) == 0.0 and trust_of(1.0) == 1.0
    for w, dw in itertools.product(([0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]), ([0.0, 1.0],)):
        w, dw = np.array(w), np.array(dw)
        assert not is_direction(w, dw)
        assert np.isfinite(w).all() and w.any() and not dw.any()
    assert is_direction(np.array([1e-3, 0.0]), np.zeros(2))
    assert not is_direction(np.array([1.0, 0.0]), np.array([np.inf, 0.0]))


def test_law_fades_out_as_its_trust(monkeypatch):
    """Towards the end of the field's domain every effort must go as the trust does, without a
    jump."""
    law = build(limiting='off', integral_gain=0.3, metric=())  # ones: margins by hand
    curve = law.field.curve
    for knot, margin in itertools.product((10, 25, 40), (0.35, 0.25, 0.12, 0.05)):
        point, first, half = curve.coefficients[knot, :3]
        inward = half - first * (half @ first) / (first @ first)
        q = point + 0.5 * (1.0 - margin) * (first @ first) / (inward @ inward) * inward
        taken = []
        for trust_by in (trust_of, lambda _: 1.0):
            monkeypatch.setattr(tracker, 'trust_of', trust_by)
            memory, out = tracker.make_memory(law), tracker.make_outcome(np.zeros(2))
            memory.scalars[tracker.PHASE] = curve.knots[knot]
            tracker.track(terms, law, memory, sensed(q, 0.8 * first, 0.0), out)
            taken.append((out.report[tracker.TRUST], out.parts[: tracker.APPLIED]))
        (trust, faded), (_, full) = taken
        assert trust == pytest.approx(np.interp(margin, [NONE, FULL], [0.0, 1.0]), abs=1e-6)
        assert faded == pytest.approx(trust * full, rel=1e-6) and np.abs(full).max() > 0.1


def test_integral_is_bounded():
    """Wound up without bound, the integral would drive the walker on long after the slope."""
    assert integrate_error(9.0, 3.0, 0.5, 10.0) == 10.0
    assert integrate_error(-9.0, -3.0, 0.5, 10.0) == -10.0
    law = build(integral_gain=0.3, integral_limit=1e-4)
    assert integral_after(law, np.array([-0.5, 1.2])) == pytest.approx(1e-4)


def tick(law, memory, q, v, grounded=True, fresh=False, dt=0.002):
    """Tick on the left foot; return (effort, report)."""
    out = tracker.make_outcome(np.zeros(2))
    tracker.track(terms, law, memory, sensed(q, v, dt, 0, grounded, fresh), out)
    return out.effort, out.report


def integral_after(law, v, integral=0.0, tank=10.0, grounded=True, ticks=3):
    """Return the integral of the energy error after some ticks in one state."""
    memory = tracker.make_memory(law)
    memory.scalars[tracker.INTEGRAL] = integral
    for _ in range(ticks):
        memory.effort[:] = 0.0
        memory.scalars[tracker.TANK] = tank
        tick(law, memory, np.array([0.02, 0.1]), v, grounded)
    return memory.scalars[tracker.INTEGRAL]


def test_integral_waits_while_its_effort_is_withheld():
    """An integral that goes on with an empty tank, a lifted foot, efforts at their limit or a
    walker going backwards stores an overshoot for later; it must still run down."""
    law, slow = build(integral_gain=0.3), np.array([-0.5, 1.2])
    assert integral_after(law, slow) > 1e-4
    unlimited = build(integral_gain=0.3, limiting='off')
    weak = law._replace(limits=law.limits._replace(largest=np.array([1e-3, 1e-3])))
    for held in (
        integral_after(law, slow, tank=0.0),
        integral_after(law, slow, tank=-0.1),
        integral_after(law, slow, grounded=False),
        integral_after(weak, slow),
        integral_after(law, -slow),
        integral_after(unlimited, -0.1 * slow),
    ):
        assert held == 0.0
    assert -1.0 < integral_after(weak, slow, integral=-1.0)
    assert -1.0 < integral_after(law, slow, integral=-1.0, tank=0.0)


def test_late_ticks_are_booked_by_the_motion():
    """A tick that comes late held its effort all the while: the tank must see all of its work."""
    law, rng = build(), np.random.default_rng(3)
    memory, q, v = tracker.make_memory(law), np.array([0.02, 0.1]), np.array([-0.5, 1.2])
    effort, _ = tick(law, memory, q, v)
    assert np.abs(effort).min() > 0.1
    moved = 0.05 * rng.normal(size=2)
    tick(law, memory, q + moved, v)
    work = effort @ law.limits.inputs[0].T @ moved
    scalars = memory.scalars
    assert scalars[tracker.INJECTED] - scalars[tracker.ABSORBED] == pytest.approx(work, rel=1e-12)
    assert scalars[tracker.TANK] == pytest.approx(law.tank.initial - work, rel=1e-12)


def test_touchdown_does_not_change_the_books_of_the_hip():
    """The names of the legs change at touchdown, the hip has not moved: no work."""
    law = build()
    memory, q = tracker.make_memory(law), np.array([-0.3, 0.6])
    memory.q[:], memory.effort[:] = q, [7.0, 0.0]
    renamed = law.relabel[0] @ q
    told = sensed(renamed, np.array([-0.7, 0.5]), support=1, fresh=True)
    tracker.track(terms, law, memory, told, tracker.make_outcome(np.zeros(2)))
    assert memory.scalars[tracker.INJECTED] == pytest.approx(0.0, abs=1e-12)
    assert memory.scalars[tracker.ABSORBED] == pytest.approx(0.0, abs=1e-12)


def test_foot_limits_do_not_overdraw_the_tank():
    """Efforts the foot asks for cost energy too: an empty tank must not pay for them."""
    law, rng, bound = build(min_normal_force=0.6, friction_used=0.1), np.random.default_rng(6), 0
    for _ in range(150):
        memory, tank = tracker.make_memory(law), float(rng.choice([1e-4, 1e-3]))
        memory.scalars[tracker.TANK] = tank
        place = law.field.curve.coefficients[int(rng.integers(5, 50)), :2]
        v = place[1] + rng.normal(size=2)
        effort, report = tick(law, memory, place[0] + 0.1 * rng.normal(size=2), v)
        power = v @ law.limits.inputs[0] @ effort
        assert power * 0.002 <= tank * (1.0 + 1e-9)
        bound += power * 0.002 > 0.99 * tank
    assert bound > 10


def test_no_effort_while_an_impact_lasts():
    """Rates that still jump would be answered with all the motors have; later nothing is held
    back."""
    law, q, v = build(impact_time=0.01), np.array([0.02, 0.1]), np.array([-0.5, 1.2])
    memory, given = tracker.make_memory(law), []
    for k in range(12):
        effort, report = tick(law, memory, q, v, fresh=k in (0, 7))
        given.append(bool(np.abs(effort).max() > 0.1))
        assert given[-1] == (report[tracker.TRUST] > 0.0)
    assert given == [False] * 5 + [True] * 2 + [False] * 5
