# SPDX-License-Identifier: Apache-2.0
"""Whether a robot that walks can be brought to a stand from here: its step plan, looked ahead.

The steps that plain stepping would take to a velocity of zero are planned one after another, each
within all limits of a step, with the inverted pendulum in between. A foothold that misses the place
where the fall would end by m leaves m of it; the sole takes up to c (e^(w tau) - 1), c from its
middle to its edge, as `step_plan` says. What is left grows by e^(w tau) until the next touchdown.
A robot is stopped by the first step that leaves no more than its sole takes.

Left out: torques of the motors, friction, noise, and whether a foot carries: see
`WalkingLaw.stoppable`.
"""

import math

import numpy as np

from walking_control.controllers import Fall, steady_aim, Stoppable, SwingLeg
from walking_control.controllers.stepping.engine import ANKLE, WalkingEngine

STEPS = 5  # looked ahead


def judge_stop(engine: WalkingEngine) -> Stoppable:
    """Return whether the robot of a walking engine can be stopped from the last tick on."""
    values, limits = engine.values, engine.limits
    half = 0.5 * ANKLE * min(values.sole_length, values.sole_width)
    if not engine.walking:
        return Stoppable(0, half) if not engine.must_step() else Stoppable(-1, 0.0)
    fall, leg, elapsed = engine.fall, engine.leg, engine.plan.elapsed
    last = engine.plan.step.remaining
    for number in range(1, STEPS + 1):
        step = engine.plan.search(
            fall, leg, steady_aim(np.zeros(3), leg.side, limits), elapsed, limits, last
        )
        growth = math.exp(fall.rate * max(step.remaining, 0.0))
        room = half * (growth - 1.0) - step.missing
        if room > 0.0:
            return Stoppable(number, room)
        fall, leg = _after(fall, leg, step.foothold, growth)
        elapsed, last = 0.0, math.inf
    return Stoppable(-1, room)


def _after(fall: Fall, leg: SwingLeg, foothold: np.ndarray, growth: float) -> tuple[Fall, SwingLeg]:
    """Return the pendulum and the leg in the air just after a touchdown."""
    cosh, sinh = 0.5 * (growth + 1.0 / growth), 0.5 * (growth - 1.0 / growth)
    com = fall.com * cosh + fall.velocity / fall.rate * sinh - foothold
    velocity = fall.com * fall.rate * sinh + fall.velocity * cosh
    hip = leg.hip * np.array([1.0, -1.0])
    foot = np.append(-foothold, 0.0)
    return Fall(com, velocity, fall.rate), SwingLeg(-leg.side, foot, np.zeros(2), hip)
