# SPDX-License-Identifier: Apache-2.0
"""What a walk with a free base was worth, and how it kept to its route; see also `metrics`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np

from walking_control.models import Dynamics, scale_of
from walking_control.runs import foot_positions, plain, quantities, Result, Run, Segment

SPOT = 0.02  # m/s: slower is on the spot
SHARE, SPEED, TURN = 0.05, 0.03, 0.03  # tolerances: share, m/s, rad/s
HEADING = math.radians(5.0)
STEPS = 5  # most steps to a stand
STILL = 0.02  # m: how far a robot that stands may move
SETTLED = 0.5  # part of a segment after which speeds count


def walks_in_space(run: Run) -> bool:
    """Return whether a run is a walk of a robot whose base is free, rather than a kept posture."""
    return (
        run.robot.is_free
        and not run.robot.coordinates
        and 'routine' not in run.settings
        and len(run.time) > 1
        and bool(run.steps[-1])
    )


def yaw(run: Run) -> np.ndarray:
    """Return the turn of the base about the floor normal, without jumps, rad, ``(T,)``."""
    rotation = run.base.rotation
    return np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0]))


class Push(NamedTuple):
    """A push that came: its row, its size (N s/kg) and where it points in space, ``(2,)``."""

    row: int
    size: float
    way: np.ndarray


def pushes(run: Run) -> Iterator[Push]:
    """Yield the pushes of a run, of its route or any other."""
    looks = yaw(run)
    for kind, size, step, how in run.disturbances:
        row = quantities.row_of(run, step, how) if 'push' in kind else None
        if row is not None:
            angle = looks[row] + how.direction + (0.5 * math.pi if kind == 'side_push' else 0.0)
            yield Push(row, size, np.array([math.cos(angle), math.sin(angle)]))


def heading(run: Run) -> np.ndarray:
    """Return where the robot looks without the sway of its steps, rad, ``(T,)``.

    That is the mean of `yaw` over a stride; the base sways to the side it leans to, so that what it
    looks at in a moment makes a walk slower and wider than it is. Before the first stride and after
    the last one it goes on as within them; without a stride it is the yaw itself.
    """
    looks, time, rows = yaw(run), run.time, quantities.touchdowns(run)[1:]
    if len(rows) < 3:
        return looks
    sums = np.cumsum([time, looks], axis=1)
    begins, ends = rows[:-2], rows[2:]
    middle, means = (sums[:, ends - 1] - sums[:, begins - 1]) / (ends - begins)
    rates = (looks[ends] - looks[begins]) / (time[ends] - time[begins])
    first, last = means[[0, -1]] + rates[[0, -1]] * (time[rows[[0, -1]]] - middle[[0, -1]])
    times = [time[rows[0]], *middle, time[rows[-1]]]
    return np.asarray(np.interp(time, times, [first, *means, last]))


def heading_error(run: Run) -> np.ndarray:
    """Return how far the base looks left of what the law (or the start) says, rad, ``(T,)``."""
    looks = yaw(run)
    wanted = run.telemetry.get('heading', np.full(len(looks), looks[0]))
    return np.asarray((looks - wanted + math.pi) % (2.0 * math.pi) - math.pi)


def mean_velocity(run: Run, first: int, last: int) -> np.ndarray:
    """Return the mean velocity between rows: along `heading`, to the left (m/s), turn (rad/s).

    Args:
        run: The `Run`.
        first: Row where the window begins.
        last: Row where it ends.
    """
    place, looks = run.base.position[first : last + 1], yaw(run)[[first, last]]
    along = heading(run)[first : last + 1]
    duration, middle = run.time[last] - run.time[first], 0.5 * (along[1:] + along[:-1])
    way, c, s = np.diff(place[:, :2], axis=0), np.cos(middle), np.sin(middle)
    return np.array(
        [
            (c * way[:, 0] + s * way[:, 1]).sum() / duration,
            (c * way[:, 1] - s * way[:, 0]).sum() / duration,
            (looks[1] - looks[0]) / duration,
        ]
    )


def step_sizes(run: Run) -> dict[str, np.ndarray]:
    """Measure every completed step along the `heading` at its touchdown.

    Returns:
        name -> ``(n_steps,)``: ``row`` where it begins, ``time`` of that (s), ``duration`` (s),
        ``length`` ahead and ``width`` outwards between the feet (m), ``support``, the stance foot.
    """
    rows = quantities.touchdowns(run)
    places = quantities.footholds(run, foot_positions(Dynamics(run.robot), run.q))
    looks, way = heading(run)[rows[1:]], np.diff(places[:, :2], axis=0)
    c, s = np.cos(looks), np.sin(looks)
    stance = run.support[rows]
    # the first foot is the left one: the other lands to its right
    outwards = np.where(stance[1:] == 0, 1.0, -1.0)
    return {
        'row': rows[:-1],
        'time': run.time[rows[:-1]],
        'duration': np.diff(run.time[rows]),
        'length': c * way[:, 0] + s * way[:, 1],
        'width': outwards * (c * way[:, 1] - s * way[:, 0]),
        'support': stance[:-1],
    }


@dataclass(eq=False)
class Steady(Result):
    """The steady window of a walk, means over its steps; all None when there is none."""

    start: float | None = None  # s
    end: float | None = None  # s
    steps: int | None = None
    speed: float | None = None  # m/s, ahead
    mechanical_power: float | None = None  # W
    cost_of_transport: float | None = None
    cost_of_transport_positive: float | None = None  # see `positive_work`
    cost_of_transport_electrical: float | None = None
    step_length: float | None = None  # m
    step_time: float | None = None  # s


@dataclass(eq=False)
class SteadyInSpace(Steady):
    """The steady window of a walk in space; its electrical cost is at the supply."""

    step_width: float | None = None  # m
    sideways: float | None = None  # m/s
    turn: float | None = None  # rad/s
    heading_error: float | None = None  # rad
    cost_of_transport_each_joint: float | None = None  # see `each_joint_energy`
    squared_effort: float | None = None  # integral of all squared efforts over the way, N^2m^2s/m


def steady_in_space(run: Run, dynamics: Dynamics) -> SteadyInSpace:
    """Measure the steady window of a walk in space.

    Args:
        run: The `Run`.
        dynamics: The `Dynamics` of its robot.
    """
    window = quantities.steady_rows(run)
    if window is None:
        return SteadyInSpace()
    first, last = window
    duration = run.time[last] - run.time[first]
    work = quantities.gain(run.work[[first, last]]).sum()
    velocity, sizes = mean_velocity(run, first, last), step_sizes(run)
    drawn = np.full(2, math.nan)  # at the supply, and each joint alone
    if len(quantities.motors(run.robot)) == len(run.robot.actuators):
        drawn[:] = (
            quantities.gain(run.electrical_energy[[first, last]]),
            quantities.each_joint_energy(run, first, last),
        )
    way = math.hypot(*velocity[:2]) * duration
    # on the spot nothing is transported
    way = way if way > SPOT * duration else math.nan
    load = dynamics.mass * run.world.gravity * way
    chosen = (sizes['row'] >= first) & (sizes['row'] < last)
    return SteadyInSpace(
        run.time[first],
        run.time[last],
        int(chosen.sum()),
        velocity[0],
        work / duration,
        work / load,
        quantities.positive_work(run.work[first : last + 1]) / load,
        drawn[0] / load,
        sizes['length'][chosen].mean(),
        sizes['duration'][chosen].mean(),
        sizes['width'][chosen].mean(),
        velocity[1],
        velocity[2],
        heading_error(run)[first:last].mean(),
        drawn[1] / load,
        quantities.squared_effort(run, first, last) / way,
    )


def share_on_gait(run: Run) -> float | None:
    """Return the share of the steady window on the law's own gait; None without such a window."""
    window = quantities.steady_rows(run)
    return None if window is None else float(run.telemetry['on_gait'][slice(*window)].mean())


def judge_route(run: Run) -> list[dict[str, Any]]:
    """Judge every segment of the route that a run has.

    Returns:
        For each segment ``name``, ``begin``, ``end`` (s), ``kept`` and ``reason``: what was missed,
        or None; kept is None of one that a run without a fault was too short for. Beside, as far
        as they apply: ``asked``, the velocity, and ``speed``, ``sideways`` (m/s) and ``turn``
        (rad/s), the means over whole strides in the second half of the segment, which must be kept
        unless it is pushed in it; ``heading_error``, the mean there (rad);
        ``cost_of_transport_electrical`` and ``on_gait``, the share of time on a natural gait, over
        the same strides, None where they are not known; ``push`` (N s/kg) and ``push_direction``
        (deg); of a stop ``steps`` until it stood and ``shift``, how far the base then moved (m).
    """
    assert run.route is not None
    return [_judge(run, segment) for segment in run.route.segments]


def electrical_cost(run: Run, first: int, last: int) -> float | None:
    """Return energy drawn at the supply between rows / (m g distance).

    None where a motor is not modelled, or the walk is on the spot.

    Args:
        run: The `Run`.
        first: Row where the window begins.
        last: Row where it ends.
    """
    duration = run.time[last] - run.time[first]
    way = math.hypot(*mean_velocity(run, first, last)[:2]) * duration
    if way <= SPOT * duration or len(quantities.motors(run.robot)) < len(run.robot.actuators):
        return None
    load = scale_of(run.robot, run.world.gravity).mass * run.world.gravity * way
    return float(quantities.gain(run.electrical_energy[[first, last]]) / load)


def name_natural_part(verdicts: Sequence[dict[str, Any]]) -> str | None:
    """Return in words which segment was most on a natural gait, and at what cost; None of none."""
    known = [each for each in verdicts if each.get('on_gait') and each['kept']]
    if not known:
        return None
    best = max(known, key=lambda each: (round(each['on_gait'], 2), each['speed']))
    share, cost = 100.0 * best['on_gait'], best['cost_of_transport_electrical']
    return f'{best["name"]}, {share:.0f} % of it on the gait, {best["speed"]:.2f} m/s' + (
        '' if cost is None else f', electrical cost of transport {cost:.3f}'
    )


def _judge(run: Run, segment: Segment) -> dict[str, Any]:
    verdict: dict[str, Any] = {'name': segment.name, 'begin': segment.begin, 'end': segment.end}
    if segment.push:
        verdict.update(push=segment.push, push_direction=segment.push_direction)
    last = float(run.time[-1]) if len(run.time) else 0.0
    if last < segment.end - 1e-6:
        how = 'it broke off' if last > segment.begin and run.broke_off else 'not walked to its end'
        return {**verdict, 'kept': False if run.broke_off else None, 'reason': how}
    stands = segment.stop or not any(segment.velocity)
    if not stands:
        verdict['asked'] = list(segment.velocity)
    figures, missed = (_standing if stands else _walking)(run, segment)
    verdict.update(plain(figures))
    return {**verdict, 'kept': not missed, 'reason': '; '.join(missed) or None}


def _walking(run: Run, segment: Segment) -> tuple[dict[str, float], list[str]]:
    """Return figures of a segment of walking, and in words what was missed."""
    begin = segment.begin + SETTLED * (segment.end - segment.begin)
    window = quantities.strides(run, begin, segment.end)
    if window is None:
        return {}, ['no whole stride in the second half']
    velocity = mean_velocity(run, *window)
    error = float(heading_error(run)[window[0] : window[1]].mean())
    on_gait = run.telemetry.get('on_gait')
    allowed = [
        max(SHARE * abs(wanted), least)
        for wanted, least in zip(segment.velocity, (SPEED, SPEED, TURN), strict=True)
    ]
    missed = [
        f'{name} {value:.3f} {unit}, asked {wanted:g}, allowed +-{most:.3f}'
        for name, unit, value, wanted, most in zip(
            ('speed', 'sideways', 'turn'),
            ('m/s', 'm/s', 'rad/s'),
            velocity,
            segment.velocity,
            allowed,
            strict=True,
        )
        if not segment.push and not abs(value - wanted) <= most
    ]
    if not abs(error) <= HEADING:
        missed.append(
            f'heading off by {math.degrees(error):.1f} deg, allowed {math.degrees(HEADING):g}'
        )
    return {
        **dict(zip(('speed', 'sideways', 'turn'), velocity.tolist(), strict=True)),
        'heading_error': error,
        'cost_of_transport_electrical': electrical_cost(run, *window),
        'on_gait': None if on_gait is None else float(on_gait[slice(*window)].mean()),
    }, missed


def _standing(run: Run, segment: Segment) -> tuple[dict[str, float], list[str]]:
    """Return how many steps it took to stand and how still it then was, and what was missed."""
    rows = np.flatnonzero((run.time >= segment.begin) & (run.time < segment.end - 1e-6))
    walking = run.telemetry.get('walking', np.ones(len(run.time)))[rows] > 0.0
    steps = int((np.diff(run.steps[rows]) * walking[:-1]).sum())
    late = rows[run.time[rows] >= segment.end - 0.25 * (segment.end - segment.begin)]
    place = run.base.position[late, :2]
    shift = float(np.hypot(*(place - place[0]).T).max())
    missed = [f'{steps} steps to a stand, allowed {STEPS}'] if steps > STEPS else []
    if walking[-len(late) :].any():
        missed.append('it does not stand')
    elif shift > STILL:
        missed.append(f'it shifts by {shift:.3f} m, allowed {STILL:g}')
    return {'steps': steps, 'shift': shift}, missed
