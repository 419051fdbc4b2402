# SPDX-License-Identifier: Apache-2.0
"""PD control to a gait played back in time from every touchdown: a rival of curve tracking.

It uses the same efforts and the same limits of the stance foot (`controllers.limits`). When a step
lasts longer than the gait file goes, the last posture is held.
"""

from typing import NamedTuple

import numpy as np

from walking_control.controllers import (
    ArrayLaw,
    Compensation,
    Controller,
    keep_foot,
    KneeLocks,
    Limits,
    make_compensation,
    make_limits,
    make_up,
    nearest_effort,
)
from walking_control.controllers.curve_tracking.controller import load_gait, NOBODY, require_walker
from walking_control.controllers.parameters import TimePdParameters
from walking_control.gaits.curve import Curve, evaluate, make_time_curve
from walking_control.gaits.samples import GaitSamples
from walking_control.models import (
    array_function,
    Command,
    Dynamics,
    inner,
    make_terms,
    mechanics_of,
    Reference,
    Robot,
    RobotFile,
    solve_spd,
    SupportDynamics,
    Terms,
    WalkerState,
    World,
)


class Playback(NamedTuple):
    """What the law knows, as plain arrays and numbers.

    Attributes:
        curve: `Curve` of the gait over time.
        limits: `Limits`.
        parameters: Of the support terms.
        stiffness: N m/rad.
        damping: N m s/rad.
        losses: `Compensation`.
    """

    curve: Curve
    limits: Limits
    parameters: np.ndarray
    stiffness: float
    damping: float
    losses: Compensation


def build_playback(
    robot: Robot,
    values: TimePdParameters,
    world: World,
    gait: GaitSamples,
    parameters: np.ndarray | None = None,
) -> Playback:
    """Return the `Playback` of a robot and a gait; arguments as `curve_tracking.build_tracker`."""
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    gravity = support.dynamics.model.gravity.linear[[0, 2]]
    return Playback(
        make_time_curve(gait.pieces),
        make_limits(support, values),
        np.array(gravity if parameters is None else parameters),
        values.gait_stiffness,
        values.gait_damping,
        make_compensation(support, values),
    )


@array_function
def play(
    terms: Terms,
    data: Playback,
    support: int,
    elapsed: float,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """Fill the efforts of one tick, ``elapsed`` seconds after touchdown.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        data: `Playback`.
        support: Index of the stance foot.
        elapsed: Time since touchdown, s.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    n, k = q.shape[0], effort.shape[0]
    target, rate, spare = np.zeros(n), np.zeros(n), np.zeros(n)
    H, LH = np.zeros((k, k)), np.zeros((k, k))
    last = data.curve.knots[data.curve.knots.shape[0] - 1]
    evaluate(data.curve, min(elapsed, last), target, rate, spare)
    robot = mechanics_of(terms, data.parameters, support, q, v)
    for i in range(n):
        going = rate[i] if elapsed < last else 0.0
        spare[i] = data.stiffness * (target[i] - q[i]) + data.damping * (going - v[i])
    B = data.limits.inputs[support]
    nearest_effort(robot.L, B, spare, H, LH, effort)
    keep_foot(data.limits, robot, B, LH, effort * 0.0, 0.0, effort)
    if data.losses.share > 0.0:
        for i in range(n):
            spare[i] = inner(B[i], effort) - robot.h[i]
        solve_spd(robot.L, spare, rate)
        make_up(data.losses, support, v, rate, effort)


class TimedPlayback(NamedTuple):
    """What the law knows in a compiled walk.

    Attributes:
        playback: `Playback`.
        period: Control period, s.
    """

    playback: Playback
    period: float


@array_function
def time_law(
    terms: Terms,
    timed: TimedPlayback,
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """The law as an `ArrayLaw`; it remembers the time since touchdown and who stood last.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        timed: `TimedPlayback`.
        memory: What the law remembers, changed in place, ``(k,)``.
        support: Index of the stance foot.
        held: Which locks hold, ``(n_locks,)``.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    memory[0] = memory[0] + timed.period if support == memory[1] else 0.0
    memory[1] = support
    play(terms, timed.playback, support, memory[0], q, v, effort)


class TimePd(Controller):
    """PD to a gait played back in time.

    Args:
        robot_file: The `RobotFile`; the law counts on the slope and gravity of its world.

    Raises:
        IncompatibleController: Not a planar walker on two feet with something to drive.
        InvalidInput: The gait does not fit.
    """

    name = 'time_pd'
    parameters = TimePdParameters

    def __init__(self, robot_file: RobotFile, values: TimePdParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_walker(robot, self.name)
        self.values = values
        self._terms, parameters = make_terms(Dynamics(robot, world.gravity, world.slope))
        self.data = build_playback(
            robot, values, world, load_gait(robot, values.gait, world), parameters
        )
        self._locks = KneeLocks(robot, values.knee_flexed)
        self._steps: int | None = None
        self._since = 0.0

    def reset(self, state: WalkerState) -> None:
        """Start at the begin of the gait."""
        self._locks.reset()
        self._steps, self._since = None, 0.0

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: every effort, every lock.
        """
        if state.steps != self._steps:
            self._steps, self._since = state.steps, state.stamp
        play(
            self._terms,
            self.data,
            state.support,
            state.stamp - self._since,
            state.coordinates,
            state.rates,
            command.effort,
        )
        self._locks.update(state, command)

    def array_law(self) -> ArrayLaw:
        """Return the law as an `ArrayLaw`."""
        return ArrayLaw(
            time_law,
            TimedPlayback(self.data, 1.0 / self.values.rate),
            np.array([0.0, NOBODY]),
            self.values.knee_flexed,
        )
