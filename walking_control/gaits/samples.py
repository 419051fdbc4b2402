# SPDX-License-Identifier: Apache-2.0
"""A gait as samples of position and velocity, as controllers follow it.

Each piece, a phase of the gait, goes on before its begin and past its end by the free motion of
the walker: no effort, its stance foot pinned, held coordinates held. A walker that comes late, as
where the floor lies lower, still finds the path ahead of it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from walking_control.exceptions import require
from walking_control.gaits import fit_gait, Gait, GaitError, Phase, read_gait
from walking_control.models import Dynamics, Robot, SupportDynamics, World

INTERVALS = 60  # samples per step
FEWEST = 8  # intervals of a short piece
GAP = 1e-3  # rad, largest gap where one piece ends and the next begins
STILL = 1e-3  # of the fastest rates of a piece: below, it stands still
SLOW = 1e-2  # of the same: where a free motion ends
PRECISE = 1e-12  # tolerance of the integration


@dataclass(frozen=True)
class Piece:
    """A part of a step without jumps, and how the walker would move before and past it.

    Attributes:
        held: Indices of the coordinates held by a lock or stop.
        start: Where the part itself begins, s after touchdown.
        end: Where it ends, s.
        time: s, rising, ``(k,)``; before `start` and past `end` the motion is free.
        q: Minimal coordinates, ``(k, n)``.
        v: Their rates.
    """

    held: tuple[int, ...]
    start: float
    end: float
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray

    @property
    def inside(self) -> np.ndarray:
        """Return which samples lie within the part itself, ``(k,)``."""
        return (self.time >= self.start) & (self.time <= self.end)


@dataclass(frozen=True)
class GaitSamples:
    """One step of a gait, from touchdown at time 0 to touchdown.

    Attributes:
        robot: Name of the robot.
        coordinates: Names of the minimal coordinates.
        slope: Inclination of the floor it was found on, rad, downhill positive.
        gravity: m/s^2.
        period: Duration of the step, s.
        pieces: Tuple of `Piece`, in order.
    """

    robot: str
    coordinates: tuple[str, ...]
    slope: float
    gravity: float
    period: float
    pieces: tuple[Piece, ...]


def read_samples(
    path: Path | str, robot: Robot, world: World, before: float = 0.15, after: float = 0.25
) -> GaitSamples:
    """Return the `GaitSamples` of a gait file for a robot; the slope may be another.

    Args:
        path: Of the gait file.
        robot: The `Robot`; planar.
        before: How far each piece goes on backwards, as a fraction of the period.
        after: And forwards.

    Raises:
        GaitError: The file does not fit or its gait does not close; says what differs.
    """
    document = read_gait(path)
    gait = fit_gait(document, path, robot, world, any_slope=True)
    slope = document['world']['slope']
    support = SupportDynamics(Dynamics(robot, world.gravity, slope))
    _check_gaps(gait, support.relabel(0), path)
    try:
        pieces = sample_gait(gait, support, before, after)
    except GaitError as error:
        error.what = f'{error.what} of gait file {path}'
        raise
    return GaitSamples(robot.name, robot.coordinates, slope, world.gravity, gait.period, pieces)


def _check_gaps(gait: Gait, relabel: np.ndarray, path: Path | str) -> None:
    """Refuse a gait whose phases do not meet."""
    ends = [phase.motion([1.0])[0][0] for phase in gait.phases]
    starts = [phase.motion([0.0])[0][0] for phase in gait.phases]
    pairs = [(end, start, 'phases') for end, start in zip(ends[:-1], starts[1:])]
    for end, start, where in (*pairs, (relabel @ ends[-1], starts[0], 'touchdown and next step')):
        gap = float(np.abs(end - start).max())
        require(
            gap <= GAP,
            f'gap between {where} of gait file {path}',
            value=gap,
            limit=f'at most {GAP:g} rad',
            remedy='find the gait again',
            error=GaitError,
        )


def sample_gait(
    gait: Gait,
    support: SupportDynamics,
    before: float = 0.15,
    after: float = 0.25,
    intervals: int = INTERVALS,
) -> tuple[Piece, ...]:
    """Return the pieces of a gait, each with its free continuations.

    Args:
        gait: `Gait`, first foot standing.
        support: `SupportDynamics` of the robot.
        before: How far each piece goes on backwards, as a fraction of the period.
        after: And forwards.
        intervals: Of the samples within the period.

    Raises:
        GaitError: A phase stands still somewhere, or moves a coordinate it holds.
    """
    pieces, start = [], 0.0
    for phase in gait.phases:
        count = max(FEWEST, round(intervals * phase.duration / gait.period))
        step = phase.duration / count
        q, v, _ = phase.motion(np.arange(count + 1) / count)
        slowest = SLOW * _check_motion(phase, q, v, start, step)
        (q_before, v_before), (q_after, v_after) = (
            _go_on(
                support,
                phase.held,
                q[at],
                v[at],
                sign * step,
                round(part * gait.period / step),
                slowest,
            )
            for at, sign, part in ((0, -1.0, before), (-1, 1.0, after))
        )
        earlier, end = len(q_before), start + phase.duration
        time = start + step * np.arange(-earlier, count + 1 + len(q_after))
        time[earlier + count] = end
        pieces.append(
            Piece(
                phase.held,
                start,
                end,
                time,
                np.concatenate((q_before[::-1], q, q_after)),
                np.concatenate((v_before[::-1], v, v_after)),
            )
        )
        start = end
    return tuple(pieces)


def _check_motion(phase: Phase, q: np.ndarray, v: np.ndarray, start: float, step: float) -> float:
    """Return the fastest rates of a phase, rad/s; refuse one that stands still."""
    speed = np.linalg.norm(v, axis=1)
    at = int(np.argmin(speed))
    require(
        speed[at] > STILL * speed.max(),
        f'speed at {start + at * step:.3g} s',
        value=float(speed[at]),
        limit=f'must exceed {STILL * speed.max():.3g} rad/s: a motion that stands '
        'still has no direction to follow',
        remedy='choose another gait',
        error=GaitError,
    )
    moved = float(np.ptp(q[:, phase.held], axis=0).max(initial=0.0))
    require(
        moved <= GAP,
        'motion of held coordinates',
        value=moved,
        limit=f'at most {GAP:g} rad',
        remedy='find the gait again',
        error=GaitError,
    )
    return float(speed.max())


def _go_on(
    support: SupportDynamics,
    held: tuple[int, ...],
    q: np.ndarray,
    v: np.ndarray,
    step: float,
    count: int,
    slowest: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return free motion at multiples of a step, ``(<= count, n)``, while it lasts."""
    n, layout = len(q), support.layout
    free = np.setdiff1d(np.arange(n), held)

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        parts = layout.split(support.terms(0, x[:n], x[n:]))
        out = np.zeros(2 * n)
        out[:n] = x[n:]
        mass = parts['mass'][2:, 2:]
        out[n + free] = np.linalg.solve(mass[np.ix_(free, free)], -parts['bias'][2:][free])
        return out

    def turns(_: float, x: np.ndarray) -> float:
        return float(x[n:] @ rates(_, x)[n:])  # zero where the speed is least

    if np.linalg.norm(v) <= slowest or count == 0:
        return np.empty((0, n)), np.empty((0, n))
    x = np.concatenate((q, v))
    x[n + np.array(held, dtype=int)] = 0.0
    times = step * np.arange(1, count + 1)
    with np.errstate(all='ignore'):
        solution = solve_ivp(
            rates, (0.0, step * count), x, 'DOP853', times, events=turns, rtol=PRECISE, atol=PRECISE
        )
    q, v = np.reshape(solution.y.T, (-1, 2, n)).swapaxes(0, 1)
    stops = [
        abs(t)
        for t, x in zip(solution.t_events[0], solution.y_events[0], strict=True)
        if np.linalg.norm(x[n:]) <= slowest
    ]
    good = (
        np.isfinite(q).all(axis=1)
        & (np.linalg.norm(v, axis=1) > slowest)
        & (np.abs(times[: len(q)]) < min(stops, default=np.inf))
    )
    kept = np.argmin(np.append(good, False))
    return q[:kept], v[:kept]
