# SPDX-License-Identifier: Apache-2.0
"""Whether a robot that walks can be brought to a stand from here: its step plan, looked ahead.

The steps that plain stepping would take to a velocity of zero are planned one after another, each
within all limits of a step, with the inverted pendulum in between. A foothold that misses the place
where the fall would end by m leaves m of it; the sole takes up to c (e^(w tau) - 1), c from its
middle to its edge, as `step_plan` says. What is left grows by e^(w tau) until the next touchdown.
A robot is stopped by the first step that leaves no more than its sole takes; `find_stop` of
`step_plan` looks for it.

Left out: torques of the motors, friction, noise, and whether a foot carries: see
`WalkingLaw.stoppable`.
"""

from walking_control.controllers import Stoppable
from walking_control.controllers.stepping.engine import ANKLE, WalkingEngine
from walking_control.controllers.stepping.step_plan import swing_leg


def judge_stop(engine: WalkingEngine) -> Stoppable:
    """Return whether the robot of a walking engine can be stopped from the last tick on."""
    values, limits = engine.values, engine.limits
    half = 0.5 * ANKLE * min(values.sole_length, values.sole_width)
    if not engine.walking:
        return Stoppable(0, half) if not engine.must_step() else Stoppable(-1, 0.0)
    plan, leg = engine.plan, swing_leg(engine.moving)
    return Stoppable(*plan.stop(engine.fall, leg, plan.elapsed, limits, plan.step.remaining, half))
