# SPDX-License-Identifier: Apache-2.0
"""The way of the swing foot: minimum jerk to where and when it shall land, planned anew each tick.

The plan starts from the foot's *desired* motion of the last tick, not from the measured one: a
measured start would feed the noise of the sensors back as jerk.

A floor that is higher than expected is met early. Then the right place to land is another one: the
fall has not come so far, p(t) = p - d (1 - e^(-w tau)) / w, tau before its time, d = w (xi_end - c)
the speed of the divergent component at the end of the step. So where the floor is rough the foot
comes down along p(t), and not from where it lands.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.controllers import Size, SteppingParameters, USUAL

SHORTEST = 0.04  # s: minimum jerk over less asks for what no leg can do
LATE = 0.02  # s: a floor that is later than that is lower
DEEPER = 15.0  # m/s^2: so much faster the foot looks for it; with 5 it ran down blind stairs
CHASE = 1.5  # m/s: how fast it follows its foothold meanwhile
LAST = 0.008  # s: so long before touchdown the foot has its speed and sinks on


class SwingWay(NamedTuple):
    """What the swing foot is asked for, from the stance foot, in floor axes."""

    foothold: np.ndarray  # where to land, m, ``(2,)``
    remaining: float  # time until touchdown; below zero when the floor is late, s
    clearance: float  # height half-way, m; of a hurried step in proportion to its time
    rise: float = 0.0  # of the foothold over the stance foot, m
    between: float = 0.0  # of the highest floor on the way, m
    over: float = 0.0  # where it is lifted to over an edge that it met, m
    lifted: float = 0.0  # for how long still, s
    drift: np.ndarray = np.zeros(2)  # of the place to land at, when it is time, m/s, ``(2,)``
    rate: float = 1.0  # so much faster it gets, 1/s


class SwingFoot:
    """Desired motion of the swing foot, from the stance foot, in floor axes.

    Attributes: `position`: m, ``(3,)``. `velocity`: m/s, ``(3,)``. `acceleration`: m/s^2, ``(3,)``.

    Args:
        size: Of the robot.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self._size = size
        self.position, self.velocity, self.acceleration = np.zeros(3), np.zeros(3), np.zeros(3)

    def start(self, position: np.ndarray, velocity: np.ndarray) -> None:
        """Begin a swing where the foot is, as it moves.

        Args:
            position: From the stance foot, floor axes, m, ``(3,)``.
            velocity: m/s, ``(3,)``.
        """
        self.position[:], self.velocity[:], self.acceleration[:] = position, velocity, 0.0

    def advance(
        self,
        way: SwingWay,
        elapsed: float,
        dt: float,
        shape: SteppingParameters,
        later: float = 0.0,
    ) -> None:
        """Advance by one tick.

        Args:
            way: Where and when to land, and over what.
            elapsed: Time since the swing began, s.
            dt: Of the tick, s.
            shape: Nominal time, when a foothold is kept, speeds of touching down and sinking.
            later: How much later both times are meant than this tick ends, s.
        """
        foothold, remaining, clearance, rise, between, over_edge, lifted, drift, rate = way
        elapsed, remaining = elapsed - later, remaining + later
        shortest, late, last = (time * self._size.time for time in (SHORTEST, LATE, LAST))
        # three numbers: Python is faster than numpy
        x, v, a = self.position.tolist(), self.velocity.tolist(), self.acceleration.tolist()
        jerk = [0.0, 0.0, 0.0]
        over = max(remaining - shape.early, shortest) if remaining > shape.early else 0.0
        shrinks, most = math.exp(rate * (over - remaining)), CHASE * self._size.speed * dt
        for i, (end, goes) in enumerate(zip(foothold.tolist(), drift.tolist())):
            ends = shrinks * goes
            early = end - (goes - ends) / rate  # where it had better land by then
            if over > 0.0:
                jerk[i] = minimum_jerk(early - x[i], v[i], a[i], over, ends)
            elif remaining > -late:
                x[i], v[i], a[i] = early, ends, rate * ends
            else:  # the fall goes on, and the foot after it
                x[i], v[i], a[i] = x[i] + min(max(end - x[i], -most), most), 0.0, 0.0
        half = 0.5 * (elapsed + remaining)
        if lifted > 0.0:
            jerk[2] = minimum_jerk(over_edge - x[2], v[2], a[2], max(lifted, shortest))
        elif elapsed < half and remaining > 2.0 * shortest:
            highest = between + clearance * min(1.0, 2.0 * half / shape.step_time)
            jerk[2] = minimum_jerk(highest - x[2], v[2], a[2], max(half - elapsed, shortest))
        elif remaining > last:
            jerk[2] = minimum_jerk(rise - x[2], v[2], a[2], remaining, -shape.touchdown_speed)
        else:
            deeper = DEEPER * self._size.acceleration * min(remaining + late, 0.0)
            v[2], a[2] = -shape.sinking + deeper, 0.0
        for i, (place, speed, gain, change) in enumerate(zip(x, v, a, jerk)):
            self.position[i] = place + dt * (speed + dt * (0.5 * gain + dt / 6.0 * change))
            self.velocity[i] = speed + dt * (gain + 0.5 * dt * change)
            self.acceleration[i] = gain + dt * change

    def hold(
        self,
        position: np.ndarray,
        velocity: np.ndarray,
        stiffness: float,
        damping: float,
        most: float,
    ) -> None:
        """Let the desired motion get no farther ahead of the foot than its leg can follow.

        One that ran on would be chased, and the foot thrown beyond where it shall land.

        Args:
            position: Of the foot, as measured, m, ``(3,)``.
            velocity: Likewise, m/s, ``(3,)``.
            stiffness: Of the foot's task, 1/s^2.
            damping: Likewise, 1/s.
            most: Largest acceleration along the floor that it may ask for, m/s^2.
        """
        lead, pace = (self.position - position)[:2], (self.velocity - velocity)[:2]
        asked = self.acceleration[:2] + stiffness * lead + damping * pace
        share = most / max(float(np.hypot(*asked.tolist())), most)
        if share < 1.0:
            self.position[:2] = position[:2] + share * lead
            self.velocity[:2] = velocity[:2] + share * pace
            self.acceleration[:2] *= share


def minimum_jerk(
    way: float, velocity: float, acceleration: float, duration: float, final_velocity: float = 0.0
) -> float:
    """Return the jerk with which the quintic begins that covers a way and ends unaccelerated.

    Args:
        way: What is left, m.
        velocity: Now, m/s.
        acceleration: Now, m/s^2.
        duration: Time for it, s.
        final_velocity: At its end, m/s.
    """
    return (
        60.0 * way / duration - 36.0 * velocity - 24.0 * final_velocity
    ) / duration**2 - 9.0 * acceleration / duration
