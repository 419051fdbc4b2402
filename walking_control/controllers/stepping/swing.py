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
from walking_control.models import array_function, compile_ahead

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
    `motion`: the three, ``(3, 3)``. `tilted`: the same on the slope, as `hold` found it.

    Args:
        size: Of the robot.
        compiled: Whether the arithmetic is compiled.
    """

    def __init__(self, size: Size = USUAL, compiled: bool = False) -> None:
        self._size = size
        self.motion, self.tilted = np.zeros((2, 3, 3))
        self.position, self.velocity, self.acceleration = self.motion
        still, way = self.motion, SwingWay(np.zeros(2), 1.0, 1.0)
        self._advance = compile_ahead(advance_swing, still, way, (1.0,) * 10, wanted=compiled)
        hold = still, *still[:2], still, self.tilted, (1.0,) * 3
        self._hold = compile_ahead(hold_swing, *hold, wanted=compiled)

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
        self._advance(
            self.motion,
            way,
            (
                elapsed - later,
                way.remaining + later,
                dt,
                shape.early,
                shape.step_time,
                shape.touchdown_speed,
                shape.sinking,
                self._size.time,
                self._size.speed,
                self._size.acceleration,
            ),
        )

    def hold(
        self,
        position: np.ndarray,
        velocity: np.ndarray,
        slope: np.ndarray,
        gains: tuple[float, float, float],
    ) -> None:
        """Keep the desired motion near the foot, and turn it onto the slope; see `hold_swing`."""
        self._hold(self.motion, position, velocity, slope, self.tilted, gains)


@array_function
def advance_swing(motion: np.ndarray, way: SwingWay, moment: tuple[float, ...]) -> None:
    """Advance the desired motion of a swing foot by one tick.

    Args:
        motion: Place, velocity and acceleration, ``(3, 3)``; changed in place.
        way: Where to land, and over what.
        moment: Times since the swing began and until touchdown, of the tick, and before touchdown
            when the foothold is kept; nominal time of a step, s; speeds of touching down and of
            sinking, m/s; what times, speeds and accelerations grow with.
    """
    elapsed, remaining, dt, kept, nominal, touching, sinking, time, pace, gain = moment
    shortest, late, last = SHORTEST * time, LATE * time, LAST * time
    x, v, a, jerk = motion[0], motion[1], motion[2], np.zeros(3)
    over = max(remaining - kept, shortest) if remaining > kept else 0.0
    shrinks, most = math.exp(way.rate * (over - remaining)), CHASE * pace * dt
    for i in range(2):
        end, goes = way.foothold[i], way.drift[i]
        ends = shrinks * goes
        early = end - (goes - ends) / way.rate  # where it had better land by then
        if over > 0.0:
            jerk[i] = minimum_jerk(early - x[i], v[i], a[i], over, ends)
        elif remaining > -late:
            x[i], v[i], a[i] = early, ends, way.rate * ends
        else:  # the fall goes on, and the foot after it
            x[i], v[i], a[i] = x[i] + min(max(end - x[i], -most), most), 0.0, 0.0
    half = 0.5 * (elapsed + remaining)
    if way.lifted > 0.0:
        jerk[2] = minimum_jerk(way.over - x[2], v[2], a[2], max(way.lifted, shortest), 0.0)
    elif elapsed < half and remaining > 2.0 * shortest:
        highest = way.between + way.clearance * min(1.0, 2.0 * half / nominal)
        jerk[2] = minimum_jerk(highest - x[2], v[2], a[2], max(half - elapsed, shortest), 0.0)
    elif remaining > last:
        jerk[2] = minimum_jerk(way.rise - x[2], v[2], a[2], remaining, -touching)
    else:
        v[2], a[2] = -sinking + DEEPER * gain * min(remaining + late, 0.0), 0.0
    x += dt * (v + dt * (0.5 * a + dt / 6.0 * jerk))
    v += dt * (a + 0.5 * dt * jerk)
    a += dt * jerk


@array_function
def hold_swing(
    motion: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray,
    slope: np.ndarray,
    tilted: np.ndarray,
    gains: tuple[float, float, float],
) -> None:
    """Let the desired motion get no farther ahead of the foot than its leg can follow.

    One that ran on would be chased, and the foot thrown beyond where it shall land.

    Args:
        motion: Desired place, velocity and acceleration, ``(3, 3)``; changed in place.
        position: Of the foot, as measured, m, ``(3,)``.
        velocity: Likewise, m/s, ``(3,)``.
        slope: Turns level places into places on the slope, ``(3, 3)``.
        tilted: Filled: the motion on the slope, ``(3, 3)``.
        gains: Stiffness (1/s^2) and damping (1/s) of the foot's task, and the largest
            acceleration along the floor that it may ask for, m/s^2.
    """
    stiffness, damping, most = gains
    lead, pace = motion[0, :2] - position[:2], motion[1, :2] - velocity[:2]
    asked = motion[2, :2] + stiffness * lead + damping * pace
    share = most / max(np.hypot(asked[0], asked[1]), most)
    if share < 1.0:
        motion[0, :2] = position[:2] + share * lead
        motion[1, :2] = velocity[:2] + share * pace
        motion[2, :2] *= share
    for i in range(3):
        tilted[i] = slope @ motion[i]


@array_function
def minimum_jerk(
    way: float, velocity: float, acceleration: float, duration: float, final_velocity: float
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
