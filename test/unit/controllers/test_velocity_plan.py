# SPDX-License-Identifier: Apache-2.0
"""The rival of the step plan against the pendulum it is derived from."""

import math

import numpy as np
import pytest

from walking_control.controllers.stepping.step_plan import Fall, StepLimits, SwingLeg
from walking_control.controllers.stepping.velocity_plan import plan_by_velocity, wanted_end
from walking_control.exceptions import ParameterError
from walking_control.loading import load_robot

LIMITS = StepLimits(0.3, 0.15, 0.5, 0.16, 2.0, 0.02, 2.0, 2.0, 1e4, 10.0)
RATE, HIP, FOOT = 3.9, np.zeros(2), np.zeros(3)


def step_on(com, velocity, wanted, side, share=1.0):
    """Return place and velocity of the pendulum at the next touchdown, from the new foot."""
    fall, leg = Fall(com, velocity, RATE), SwingLeg(side, FOOT, HIP, HIP)
    step = plan_by_velocity(fall, leg, wanted, 0.0, LIMITS, share)
    c, s = math.cosh(RATE * step.remaining), math.sinh(RATE * step.remaining)
    return (
        com * c + velocity / RATE * s - step.foothold,
        com * RATE * s + velocity * c,
        step.foothold,
    )


def test_the_wanted_gait_repeats_itself():
    """The rival would lose for a gait of another speed or width, not for its law."""
    wanted, side = np.array([0.5, 0.1]), 1.0
    offset, pace = wanted_end(wanted, -side, RATE, LIMITS)
    com, velocity, way = -offset, pace, np.zeros(2)
    for _ in range(10):
        com, velocity, foothold = step_on(com, velocity, wanted, side)
        way, side = way + foothold, -side
    np.testing.assert_allclose(way, 10.0 * LIMITS.time * wanted, atol=1e-9)
    np.testing.assert_allclose(com, -offset, atol=1e-9)


@pytest.mark.parametrize('share', [1.0, 0.7])
def test_an_error_of_the_velocity_ends_by_its_share(share):
    """The rival would be a worse law than the one it is said to be."""
    wanted, side = np.array([0.3, 0.0]), 1.0
    errors = []
    com, velocity = np.array([-0.05, 0.04]), np.array([0.9, -0.1])
    for _ in range(3):
        com, velocity, _ = step_on(com, velocity, wanted, side, share)
        errors.append(velocity - wanted_end(wanted, side, RATE, LIMITS)[1])
        side = -side
    left = (1.0 - share) * math.cosh(RATE * LIMITS.time)
    np.testing.assert_allclose(errors[1], left * errors[0], atol=1e-12)
    np.testing.assert_allclose(errors[2], left * errors[1], atol=1e-12)


def test_it_keeps_the_same_reach():
    """The rival would be let reach farther than the law, or cross its legs."""
    limits = LIMITS._replace(reach=0.5, narrowest=0.08, hip_reach=0.3)
    rng = np.random.default_rng(0)
    for _ in range(100):
        side = rng.choice((-1.0, 1.0))
        hip = np.array([0.0, 0.07 * side])
        com, velocity = rng.normal(0.0, 0.1, 2), rng.normal(0.0, 1.0, 2)
        fall, leg = Fall(com, velocity, RATE), SwingLeg(side, FOOT, HIP, hip)
        step = plan_by_velocity(fall, leg, np.zeros(2), 0.1, limits)
        c, s = math.cosh(RATE * step.remaining), math.sinh(RATE * step.remaining)
        assert np.hypot(*(step.foothold - com * c - velocity / RATE * s - hip)) <= 0.3 + 1e-9
        assert step.remaining == pytest.approx(limits.time - 0.1)


def test_it_needs_a_time():
    """Placement by the velocity at no known time would plan nonsense."""
    with pytest.raises(ParameterError, match='timing'):
        load_robot('walker3d', [('stepping.placement', 'velocity')])
