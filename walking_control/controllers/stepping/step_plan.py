# SPDX-License-Identifier: Apache-2.0
"""Where and when the swing foot lands: the inverted pendulum on the stance foot, looked ahead.

All places are in the heading frame (x ahead, y to the left), from the stance foot. The centre of
mass x at height z moves as a linear inverted pendulum whose velocity is that of the angular
momentum L about the stance foot, L_y / (m z) ahead and -L_x / (m z) sideways: it is not disturbed
by the swing leg, and the impact of the landing foot does not change L about where it lands. With
w = sqrt(g / z) the divergent component xi = x + x' / w grows as e^(w t). A foot set down at p after
tau leaves xi e^(w tau) - p; the walk goes on for ever if that is the offset b of the wanted gait,

    b_x = v_x T / (e^(w T) - 1),        b_y = v_y T / (e^(w T) - 1) -+ d / (e^(w T) + 1)

with step time T and step width d: the upper sign for a left swing foot. A body that turns at r
passes between its feet when one of them lands: seen from the heading of that time the foothold is
v T -+ i d in complex numbers, and since the offset turns by r T from step to step

    b = e^(i r T) (v T / (e^(w T) - e^(i r T)) -+ i d / (e^(w T) + e^(i r T))).

Who leaves the turning out walks to its outside, at v r T e^(w T) / (e^(w T) - 1) sideways. So for
each time tau left there is one foothold; the plan takes the time whose foothold the leg can reach,
in a time near T.

Where none can be reached a sole does the rest. With the centre of pressure at c instead of the
middle of the sole xi - c grows as e^(w t): the foot leaves xi e^(w tau) - c (e^(w tau) - 1) - p. So
c = m / (e^(w tau) - 1) ends what the foothold leaves, m, as far as the sole goes.
"""

import cmath
from functools import partial
import math
from typing import NamedTuple

import numpy as np

from walking_control.controllers.stepping.heading import turn_back
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.swing import LATE
from walking_control.models import array_function, compile_ahead


class StepLimits(NamedTuple):
    """What a step may be: what plans it and what moves the foot read the same limits."""

    time: float  # T, the nominal time of a step, s
    shortest: float  # limits of it, s
    longest: float  # limits of it, s
    width: float  # d, nominal distance between the feet sideways, m
    reach: float  # farthest foothold ahead of and behind the stance foot, m
    narrowest: float  # limits of the foothold sideways, outwards, m
    widest: float  # limits of the foothold sideways, outwards, m
    hip_reach: float  # farthest foothold from where the hip of the leg will be, m
    acceleration: float  # of the swing foot, m/s^2
    lowering: float  # fastest way down of the swing foot, m/s


def step_limits(values: SteppingParameters, quickest: float) -> StepLimits:
    """Return the `StepLimits` of parameters, and of a leg's largest acceleration, m/s^2."""
    fixed = values.timing == 'fixed'
    return StepLimits(
        time=values.step_time,
        shortest=values.step_time if fixed else values.shortest_step,
        longest=values.step_time if fixed else values.longest_step,
        width=values.step_width,
        reach=values.reach,
        narrowest=values.narrowest,
        widest=values.widest,
        hip_reach=values.hip_reach,
        acceleration=min(values.swing_acceleration, values.swing_share * quickest),
        lowering=values.lowering,
    )


class Fall(NamedTuple):
    """The pendulum: centre of mass from the stance foot, heading frame."""

    com: np.ndarray  # m, ``(2,)``
    velocity: np.ndarray  # as the angular momentum about the stance foot has it, m/s, ``(2,)``
    rate: float  # w, 1/s

    @property
    def capture(self) -> np.ndarray:
        """Return xi, the divergent component: where the fall would end, m, ``(2,)``."""
        return self.com + self.velocity / self.rate


class SwingLeg(NamedTuple):
    """The leg in the air, heading frame."""

    side: float  # 1 if it is the left one, -1 if the right one
    foot: np.ndarray  # its foot from the stance foot, m, ``(3,)``
    velocity: np.ndarray  # of the foot, m/s, ``(2,)``
    hip: np.ndarray  # from the centre of mass, m, ``(2,)``


class Swing(NamedTuple):
    """The leg in the air in floor axes, before `swing_leg` turns it into the heading frame."""

    side: float  # 1 if it is the left one, -1 if the right one
    position: np.ndarray  # where its foot shall be, from the stance foot, m, ``(3,)``
    velocity: np.ndarray  # of the foot, m/s, ``(3,)``
    hip: np.ndarray  # from the base's origin, m, ``(3,)``
    com: np.ndarray  # likewise
    heading: float  # rad
    rise: float  # of the foothold over the stance foot, m


class Step(NamedTuple):
    """A planned touchdown."""

    foothold: np.ndarray  # from the stance foot, heading frame, m, ``(2,)``
    remaining: float  # time until touchdown, s
    missing: float  # how far the foothold is from the one that would end the disturbance, m


class Aim(NamedTuple):
    """What steps are planned for."""

    wanted: np.ndarray  # velocity ahead and to the left (m/s) and of turning (rad/s), ``(3,)``
    time: float  # of a step, s
    width: float  # m
    foothold: np.ndarray  # where an undisturbed step lands, m, ``(2,)``
    remaining: float  # a time left to be tried besides those of a grid, s; NaN: none
    gait: np.ndarray  # b of a gait that goes ahead, m, ``(2,)``
    on_gait: bool  # whether that is meant; else the pendulum's own


CANDIDATES = 25
GRID = np.arange(CANDIDATES + 1.0)  # of these, and of one more that is asked for
# What a metre of missing foothold, a second off the nominal time, a metre off the nominal foothold
# and a second too little for the swing foot's way cost, each squared.
MISSING, TIMING, NOMINAL, HURRY = 100.0, 1.0, 0.1, 400.0
COMMITTED = 0.06  # s
STEPS = 5  # within which a robot shall be at rest
SOONEST = 0.05  # s: no pressure moves anything in less
BEYOND = 1.5  # times what its gait asks of it a leg can do, whatever else is known of it
QUINTIC_PEAK = 10.0 / math.sqrt(3.0)  # largest acceleration of a minimum-jerk move, D / T^2


@array_function
def steady_offsets(
    wanted: np.ndarray, side: float, rate: float, time: float, width: float, left: np.ndarray
) -> np.ndarray:
    """Return b: the divergent component just after a touchdown of the wanted gait, m, ``(2, k)``.

    Args:
        wanted: Velocity ahead and to the left (m/s) and of turning (rad/s), ``(3,)``.
        side: 1 if the foot that lands is the left one, -1 if the right one.
        rate: W, 1/s. `time` and `width`: of a step, s and m.
        left: Times until that touchdown, s, ``(k,)``: the heading is the one of now.
    """
    growth, turn = math.exp(rate * time), cmath.rect(1.0, wanted[2] * time)
    offset = complex(wanted[0], wanted[1]) * time / (growth - turn) - complex(0.0, side * width) / (
        growth + turn
    )
    turned = offset * turn * np.exp(1j * wanted[2] * left)
    offsets = np.empty((2, len(left)))
    offsets[0], offsets[1] = turned.real, turned.imag
    return offsets


@array_function
def offsets_of(aim: Aim, side: float, rate: float, left: np.ndarray) -> np.ndarray:
    """Return b of an `Aim`, m, ``(2, k)``; a gait's own, and what going elsewhere adds to it.

    Args:
        aim: The `Aim`.
        side: 1 where the left foot swings, else -1.
        rate: Of the pendulum, 1/s.
        left: Times until touchdown, s, ``(k,)``.
    """
    offsets = steady_offsets(aim.wanted, side, rate, aim.time, aim.width, left)
    if aim.on_gait:
        ahead = np.array([aim.wanted[0], 0.0, 0.0])
        more = offsets - steady_offsets(ahead, side, rate, aim.time, aim.width, left)
        offsets = aim.gait.reshape((2, 1)) + more
    return offsets


def steady_offset(
    wanted: np.ndarray, side: float, rate: float, limits: StepLimits, left: float = 0.0
) -> np.ndarray:
    """Return b of one touchdown, m, ``(2,)``; see `steady_offsets`.

    Args:
        wanted: Velocity ahead and to the left, m/s, and of turning, rad/s, ``(3,)``.
        side: 1 where the left foot swings, else -1.
        rate: Of the pendulum, 1/s.
        limits: Of a step.
        left: Time until touchdown, s.
    """
    offsets: np.ndarray = steady_offsets(
        wanted, side, rate, limits.time, limits.width, np.array([left])
    )
    return offsets[:, 0]


@array_function
def steady_aim(wanted: np.ndarray, side: float, limits: StepLimits) -> Aim:
    """Return the `Aim` of the pendulum's own gait; arguments as of `steady_offsets`.

    Args:
        wanted: Velocity ahead and to the left, m/s, and of turning, rad/s, ``(3,)``.
        side: 1 where the left foot swings, else -1.
        limits: Of a step.
    """
    usual = np.array([wanted[0] * limits.time, wanted[1] * limits.time + side * limits.width])
    return Aim(wanted, limits.time, limits.width, usual, math.nan, np.zeros(2), False)


@array_function
def pressure_place(
    capture: np.ndarray,
    step: Step,
    rate: float,
    wanted: np.ndarray,
    side: float,
    limits: StepLimits,
) -> np.ndarray:
    """Return c: the centre of pressure that ends what the foothold leaves, m, ``(2,)``.

    Args:
        capture: Divergent component from the stance foot, heading frame, m, ``(2,)``.
        step: The step under way.
        rate: w, 1/s.
        wanted: Velocity, see `steady_offsets`, ``(3,)``.
        side: 1 if the left foot swings, -1 if the right.
        limits: Of the step.
    """
    left = max(step.remaining, 0.0)
    growth = math.exp(rate * left)
    offset = steady_offsets(wanted, side, rate, limits.time, limits.width, np.array([left]))[:, 0]
    missing = capture * growth - offset - step.foothold
    place: np.ndarray = missing / max(growth - 1.0, rate * SOONEST)
    return place


@array_function
def plan_step(
    fall: Fall, leg: SwingLeg, aim: Aim, elapsed: float, limits: StepLimits, last: float
) -> Step:
    """Return the best `Step`.

    Args:
        fall: The pendulum now.
        leg: The one that swings.
        aim: What the step is for.
        elapsed: Time since the last touchdown, s.
        limits: Of the step.
        last: Time that was left in the last plan, s: a landing that is near is not put off.
    """
    com, rate, foot = fall.com, fall.rate, leg.foot
    soonest = max(limits.shortest - elapsed, max(foot[2], 0.0) / limits.lowering, 0.002)
    latest = limits.longest - elapsed
    if last < COMMITTED:
        latest = min(latest, last)
    latest = max(latest, soonest + 0.002)
    times = soonest + GRID * ((latest - soonest) / (CANDIDATES - 1))
    times[CANDIDATES - 1] = latest
    times[CANDIDATES] = aim.remaining if soonest < aim.remaining < latest else latest
    growth, glide = np.exp(rate * times), fall.velocity / rate
    capture = (com + glide).reshape((2, 1)) * growth - offsets_of(aim, leg.side, rate, times)
    decay = 1.0 / growth
    cosh, sinh = 0.5 * (growth + decay), 0.5 * (growth - decay)
    hips = com.reshape((2, 1)) * cosh + glide.reshape((2, 1)) * sinh + leg.hip.reshape((2, 1))
    places = np.empty_like(capture)
    places[0] = np.minimum(np.maximum(capture[0], -limits.reach), limits.reach)
    places[1] = leg.side * np.minimum(
        np.maximum(leg.side * capture[1], limits.narrowest), limits.widest
    )
    away = places - hips
    share = np.minimum(1.0, limits.hip_reach / np.maximum(np.hypot(away[0], away[1]), 1e-9))
    places = hips + away * share
    error = capture - places
    missing = np.hypot(error[0], error[1])
    quickest = limits.acceleration
    if aim.remaining > 0.0:
        own = aim.foothold - foot[:2] - 0.5 * aim.remaining * leg.velocity
        usual = QUINTIC_PEAK * np.hypot(own[0], own[1]) / aim.remaining**2
        quickest = max(quickest, BEYOND * usual)
    left = places - foot[:2].copy().reshape((2, 1)) - 0.5 * (leg.velocity.reshape((2, 1)) * times)
    way = np.hypot(left[0], left[1])
    late = np.maximum(0.0, np.sqrt(QUINTIC_PEAK * way / quickest) - times)
    off = capture - aim.foothold.reshape((2, 1))
    cost = (
        MISSING * missing**2
        + TIMING * (elapsed + times - limits.time) ** 2
        + NOMINAL * (off[0] ** 2 + off[1] ** 2)
        + HURRY * late**2
    )
    best = int(np.argmin(cost))
    return Step(places[:, best].copy(), float(times[best]), float(missing[best]))


@array_function
def find_fall(
    com: np.ndarray,
    spin: np.ndarray,
    momentum: np.ndarray,
    foot: np.ndarray,
    level: np.ndarray,
    downhill: np.ndarray,
    heading: float,
    body: tuple[float, float, float],
) -> Fall:
    """Return the pendulum of a body over a foot.

    Args:
        com: Centre of mass, floor axes, m, ``(3,)``.
        spin: Angular momentum about it, kg m^2/s, ``(3,)``.
        momentum: Linear momentum, kg m/s, ``(3,)``.
        foot: Place of the one that stands, m, ``(3,)``.
        level: Turns places on the slope into level ones, ``(3, 3)``.
        downhill: Where gravity pulls along the floor, over what it pulls into it, ``(2,)``.
        heading: rad.
        body: Mass, kg, gravity, m/s^2, and how low a centre of mass counts, m.
    """
    way, (mass, gravity, lowest) = com - foot, body
    x, y, z = way[0], way[1], way[2]
    about = spin + np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ momentum
    height = max((level @ way)[2], lowest)
    place = way[:2] + height * downhill
    velocity = np.array([about[1], -about[0]]) / (mass * height)
    return Fall(
        turn_back(place, heading), turn_back(velocity, heading), math.sqrt(gravity / height)
    )


@array_function
def swing_leg(swing: Swing) -> SwingLeg:
    """Return the leg in the air as plans see it; one that shall land higher goes down faster.

    Args:
        swing: The leg in floor axes.
    """
    place, heading = turn_back(swing.position, swing.heading), swing.heading
    place[2] -= max(swing.rise, 0.0)
    velocity, hip = turn_back(swing.velocity, heading), turn_back(swing.hip - swing.com, heading)
    return SwingLeg(swing.side, place, velocity[:2], hip[:2])


@array_function
def find_step(
    fall: Fall,
    swing: Swing,
    aim: Aim,
    limits: StepLimits,
    center: np.ndarray,
    elapsed: float,
    remaining: float,
    dt: float,
) -> Step:
    """Return the step that an `Aim` asks for.

    Args:
        fall: The pendulum now.
        swing: The leg in the air.
        aim: What the step is for, its foothold from `center`.
        limits: Of the step.
        center: Where the floor presses, from the stance foot, heading frame, m, ``(2,)``.
        elapsed: Time since the last touchdown, s.
        remaining: That was left in the last plan, s; a floor that is late is waited for.
        dt: Time since then, s.
    """
    leg, last, out = swing_leg(swing), remaining - dt, swing.side * center[1]
    leg.foot[:2] -= center
    step = plan_step(
        Fall(fall.com - center, fall.velocity, fall.rate),
        leg,
        aim,
        elapsed,
        StepLimits(
            time=limits.time,
            shortest=limits.shortest,
            longest=limits.longest,
            width=limits.width,
            reach=limits.reach,
            narrowest=limits.narrowest - out,
            widest=limits.widest - out,
            hip_reach=limits.hip_reach,
            acceleration=limits.acceleration,
            lowering=limits.lowering,
        ),
        last,
    )
    return Step(
        step.foothold + center, last if remaining <= -LATE else step.remaining, step.missing
    )


@array_function
def find_stop(
    fall: Fall, leg: SwingLeg, elapsed: float, limits: StepLimits, last: float, half: float
) -> tuple[int, float]:
    """Return after how many steps a robot is at rest, -1: none, and what its sole could take more.

    Args:
        fall: The pendulum now.
        leg: The one that swings.
        elapsed: Time since the last touchdown, s.
        limits: Of a step.
        last: Time that was left in the last plan, s.
        half: Of the sole, from its middle to where it may be pressed on, m.
    """
    room = 0.0
    for number in range(1, STEPS + 1):
        aim = steady_aim(np.zeros(3), leg.side, limits)
        step = plan_step(fall, leg, aim, elapsed, limits, last)
        growth = math.exp(fall.rate * max(step.remaining, 0.0))
        room = half * (growth - 1.0) - step.missing
        if room > 0.0:
            return number, room
        fall, leg = _land(fall, leg, step.foothold, growth)
        elapsed, last = 0.0, math.inf
    return -1, room


@array_function
def _land(fall: Fall, leg: SwingLeg, foothold: np.ndarray, growth: float) -> tuple[Fall, SwingLeg]:
    """Return the pendulum and the leg in the air just after a touchdown."""
    cosh, sinh = 0.5 * (growth + 1.0 / growth), 0.5 * (growth - 1.0 / growth)
    com = fall.com * cosh + fall.velocity / fall.rate * sinh - foothold
    velocity = fall.com * fall.rate * sinh + fall.velocity * cosh
    hip = leg.hip * np.array([1.0, -1.0])
    foot = np.append(-foothold, 0.0)
    return Fall(com, velocity, fall.rate), SwingLeg(-leg.side, foot, np.zeros(2), hip)


class StepPlan:
    """The step under way: planned anew each tick, and kept shortly before touchdown.

    Args:
        limits: What parameters let a step be.
        compiled: Whether the arithmetic is compiled.

    Attributes:
        fall: `find_fall`, compiled where that is asked for.
        search: `find_step`, likewise.
        press: `pressure_place`, likewise.
        stop: `find_stop`, likewise.
        step: The `Step` as it is planned now.
        elapsed: Time since the last touchdown, s.
        stride: How long the last two steps took, s.
        limits: As parameters have them now; `WalkingEngine.limits` are those in force.
    """

    def __init__(self, limits: StepLimits, compiled: bool) -> None:
        self.limits = limits
        self.reset(math.inf)
        compile_some = partial(compile_ahead, wanted=compiled)
        still, center = (np.zeros(3),) * 4, np.zeros(2)
        self.fall = compile_some(find_fall, *still, np.eye(3), center, 0.0, (1.0, 1.0, 1.0))
        fall, aim = Fall(center, center, 1.0), steady_aim(np.zeros(3), 1.0, limits)
        swing = Swing(1.0, *still, 0.0, 0.0)
        self.search = compile_some(find_step, fall, swing, aim, limits, center, 1.0, 1.0, 1.0)
        self.stop = compile_some(find_stop, fall, swing_leg(swing), 1.0, limits, 1.0, 1.0)
        self.press = compile_some(
            pressure_place, fall.com, self.step, fall.rate, aim.wanted, swing.side, limits
        )

    def reset(self, step_time: float) -> None:
        """Begin anew, as after steps of a time in s."""
        self.stride = step_time, step_time
        self.begin()

    def begin(self) -> None:
        """Begin a step: nothing is planned yet."""
        self.step, self.elapsed = Step(np.zeros(2), math.inf, 0.0), 0.0

    def keeps(self, early: float) -> bool:
        """Return whether touchdown is so near, `early` in s, that nothing is planned any more."""
        return -LATE < self.step.remaining <= early

    def count_down(self, dt: float) -> None:
        """Keep the step; it is dt nearer, s."""
        self.step = Step(self.step.foothold, self.step.remaining - dt, self.step.missing)
