# SPDX-License-Identifier: Apache-2.0
"""Where on the gait's curve a step is, and where and when it lands: arithmetic, plain or compiled.

An undisturbed step is the gait's own, and leads into the next one's.
"""

import math

import numpy as np

from walking_control.controllers.natural_walking.reference import (
    as_stride,
    between,
    CAPTURE,
    choose,
    GaitTables,
    part_at,
    RATE,
    row_at,
)
from walking_control.controllers.stepping.step_plan import (
    Aim,
    Fall,
    find_step,
    Step,
    StepLimits,
    Swing,
)
from walking_control.controllers.stepping.velocity_aim import approach
from walking_control.models import array_function

SLOWEST, FASTEST = 0.6, 1.6  # paces of a step over the gait's own
MORE = 0.1  # of the step: so much farther from its hip, and nearer to the other foot than on the
# gait, a foot may land


@array_function
def follow_place(
    s: float, pace: float, part: float, rate: float, dt: float, duration: float
) -> tuple[float, float]:
    """Return part of the step and pace, moved to the place on the curve.

    That is where on the gait the centre of mass is as far ahead: a critically damped filter of
    positions alone follows it, for joint rates are noisy, and lag.

    Args:
        s: Part of the step that is over.
        pace: Rate of s over the gait's own.
        part: That belongs to the place.
        rate: Of the filter, above 0, 1/s.
        dt: Of the tick, s.
        duration: Of the gait's step, s.
    """
    ahead, dt = part - s, min(dt, 1.0 / rate)
    pace += 0.25 * rate**2 * dt * duration * ahead
    return s + rate * dt * ahead, min(max(pace, SLOWEST), FASTEST)


@array_function
def plan_on_gait(
    tables: GaitTables,
    places: tuple[float, float],
    velocity: tuple[np.ndarray, np.ndarray, np.ndarray],
    fall: Fall,
    swing: Swing,
    limits: StepLimits,
    center: np.ndarray,
    moment: tuple[float, ...],
) -> tuple[float, float, Step]:
    """Return part of the step, pace and the step that is planned.

    Its time is the gait's, or that of the way left at this pace where s follows the place.

    Args:
        tables: Of the gaits.
        places: In their grids.
        velocity: Aimed at, ``(3,)``, commanded, ``(3,)``, and planned for beside, ``(2,)``.
        fall: The pendulum.
        swing: The leg in the air.
        limits: Of a step.
        center: Where the floor presses, from the stance foot, heading frame, m, ``(2,)``; written.
        moment: Part of the step that is over, pace; rate of the filter of the place, 1/s, 0 where s
            goes by the clock; time of the tick as far as it belongs to the step, since the last
            plan, since the last touchdown and, as was planned, until the next one, s; rise of the
            floor ahead; how fast the velocity aimed at changes, m/s^2; how near to its end the
            gait's own foothold is kept, s.
    """
    gait, mirror = as_stride(between(tables.strides, places)), np.array([1.0, -swing.side])
    s, pace, rate, dt, tick, elapsed, remaining, rise, hurry, frozen = moment
    if rate > 0.0:
        part = part_at(tables.rows, places, fall.com[0])
        s, pace = follow_place(s, pace, part, rate, dt, gait.duration)
    else:
        pace = 1.0
    row = row_at(tables.rows, places, s, int(swing.side > 0.0))
    left = (1.0 - s) * gait.duration / pace
    if left > frozen:  # the gait's own foothold where nothing deviates, at any pace
        growth = math.exp(row[RATE] * left)
        center[:] = (gait.end * mirror - row[CAPTURE] * growth) / (1.0 - growth)
    value, asked, more = velocity
    wanted = np.array([value[0] + more[0], value[1] + more[1], value[2] + 0.0]) - value
    for i in range(3):
        wanted[i] += approach(value[i], asked[i], hurry * left, 1.0)
    then = choose(tables, wanted[0], rise)[2]
    aim = Aim(
        wanted,
        then.duration,
        abs(then.way[1]),
        gait.way * mirror - center,
        left if rate > 0.0 else gait.duration - elapsed,
        (then.end - then.way) * mirror,
        True,
    )
    far, aside = abs(gait.way[0]), abs(gait.way[1])
    own = StepLimits(
        time=gait.duration,
        shortest=limits.shortest,
        longest=limits.longest,
        width=aside,
        reach=limits.reach,
        narrowest=min(limits.narrowest, (1.0 - MORE) * aside),
        widest=limits.widest,
        hip_reach=max(limits.hip_reach, gait.reach + MORE * far),
        acceleration=limits.acceleration,
        lowering=limits.lowering,
    )
    return (
        s,
        pace,
        find_step(fall, swing, aim, own, center, elapsed, remaining, tick),
    )
