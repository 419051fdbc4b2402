# SPDX-License-Identifier: Apache-2.0
"""The rival of `step_plan`: a step of fixed time, placed by the velocity of the centre of mass.

The same inverted pendulum, with the velocity itself instead of that of the angular momentum, and
the error of the velocity at the end of the step instead of the divergent component. From the
stance foot the pendulum arrives at x with velocity v; a foot set down at p = x + n + k (v - v*) has
the next step end with

    v' = v cosh(w T) - w (n + k (v - v*)) sinh(w T),

so that k = coth(w T) / w ends every error of the velocity in one step, and a share s of it leaves
(1 - s) cosh(w T) of the error; n and v* are those of the wanted gait. This is the stepping of
[XA22] without double support: K = [1, coth(w T) / w].
"""

import math

import numpy as np

from walking_control.controllers.stepping.step_plan import Fall, Step, StepLimits, SwingLeg


def wanted_end(
    velocity: np.ndarray, side: float, rate: float, limits: StepLimits
) -> tuple[np.ndarray, np.ndarray]:
    """Return n and v*: the next foothold from the centre of mass, m, and its velocity there, m/s.

    Ahead, and of a drift sideways, every step is the same: it covers 2 n in T. Sideways the width
    comes and goes: the velocity turns round from step to step.

    Args:
        velocity: Wanted velocity ahead and to the left, m/s, ``(2,)``.
        side: 1 if the foot that lands is the left one, -1 if the right one.
        rate: W, 1/s.
    """
    half, turn = 0.5 * limits.time * np.asarray(velocity), math.tanh(0.5 * rate * limits.time)
    width = np.array([0.0, 0.5 * side * limits.width])
    return half + width, rate * (half / turn + width * turn)


def plan_by_velocity(
    fall: Fall,
    leg: SwingLeg,
    wanted: np.ndarray,
    elapsed: float,
    limits: StepLimits,
    share: float = 1.0,
) -> Step:
    """Return the `Step` at its fixed time, within the same reach as `plan_step`.

    Args:
        fall: The pendulum now, with the velocity of the centre of mass itself.
        leg: The one that swings.
        wanted: Wanted velocity, m/s, ``(2,)``.
        elapsed: Time since the last touchdown, s.
        limits: Of the step.
        share: s, of the k that ends the error in one step.
    """
    com, velocity, rate = fall
    left = max(limits.time - elapsed, 0.002)
    cosh, sinh = math.cosh(rate * left), math.sinh(rate * left)
    end = com * cosh + velocity / rate * sinh
    pace = com * rate * sinh + velocity * cosh
    offset, usual = wanted_end(wanted, leg.side, rate, limits)
    gain = share / (rate * math.tanh(rate * limits.time))
    place = end + offset + gain * (pace - usual)
    ahead = min(max(place[0], -limits.reach), limits.reach)
    outward = min(max(leg.side * place[1], limits.narrowest), limits.widest)
    below = end + leg.hip
    way = np.array([ahead, leg.side * outward]) - below
    foothold = below + way * min(1.0, limits.hip_reach / max(math.hypot(*way), 1e-9))
    return Step(foothold, left, math.hypot(*(place - foothold)))
