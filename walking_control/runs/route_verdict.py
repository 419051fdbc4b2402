# SPDX-License-Identifier: Apache-2.0
"""How a walker kept to its route, segment by segment."""

import math
from typing import Any

import numpy as np

from walking_control.runs.quantities import strides
from walking_control.runs.result import plain
from walking_control.runs.route import Segment
from walking_control.runs.run import Run
from walking_control.runs.space import heading_error, mean_velocity

SHARE, SPEED, TURN = 0.05, 0.03, 0.03   # tolerances: share, m/s, rad/s
HEADING = math.radians(5.0)
STEPS = 5          # most steps to a stand
STILL = 0.02       # m: how far a robot that stands may move
SETTLED = 0.5      # part of a segment after which speeds count


def judge_route(run: Run) -> list[dict[str, Any]]:
    """Judge every segment of the route of a run.

    Args:
        run: The `Run`; it has a route.

    Returns:
        For each segment ``name``, ``begin``, ``end`` (s), ``kept`` and ``reason``: what was missed,
        or None; kept is None of one that a run without a fault was too short for. Beside, as far
        as they apply: ``asked``, the velocity, and ``speed``, ``sideways`` (m/s) and ``turn``
        (rad/s), the means over whole strides in the second half of the segment, which must be kept
        unless it is pushed in it; ``heading_error``, the mean there (rad); ``push`` (N s/kg) and
        ``push_direction`` (deg); of a stop ``steps`` until it stood and ``shift``, how far the base
        then moved (m).
    """
    assert run.route is not None
    return [_judge(run, segment) for segment in run.route.segments]


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
    window = strides(run, begin, segment.end)
    if window is None:
        return {}, ['no whole stride in the second half']
    velocity = mean_velocity(run, *window)
    error = float(heading_error(run)[window[0]:window[1]].mean())
    missed: list[str] = []
    for name, unit, value, wanted, least in zip(
            ('speed', 'sideways', 'turn'), ('m/s', 'm/s', 'rad/s'), velocity, segment.velocity,
            (SPEED, SPEED, TURN), strict=True):
        allowed = max(SHARE * abs(wanted), least)
        if not segment.push and not abs(value - wanted) <= allowed:
            missed.append(f'{name} {value:.3f} {unit}, asked {wanted:g}, allowed +-{allowed:.3f}')
    if not abs(error) <= HEADING:
        missed.append(f'heading off by {math.degrees(error):.1f} deg, allowed '
                      f'{math.degrees(HEADING):g}')
    return {**dict(zip(('speed', 'sideways', 'turn'), velocity.tolist(), strict=True)),
            'heading_error': error}, missed


def _standing(run: Run, segment: Segment) -> tuple[dict[str, float], list[str]]:
    """Return how many steps it took to stand and how still it then was, and what was missed."""
    rows = np.flatnonzero((run.time >= segment.begin) & (run.time < segment.end - 1e-6))
    walking = run.telemetry.get('walking', np.ones(len(run.time)))[rows] > 0.0
    steps = int((np.diff(run.steps[rows]) * walking[:-1]).sum())
    late = rows[run.time[rows] >= segment.end - 0.25 * (segment.end - segment.begin)]
    place = run.base.position[late, :2]
    shift = float(np.hypot(*(place - place[0]).T).max())
    missed = [f'{steps} steps to a stand, allowed {STEPS}'] if steps > STEPS else []
    if walking[-len(late):].any():
        missed.append('it does not stand')
    elif shift > STILL:
        missed.append(f'it shifts by {shift:.3f} m, allowed {STILL:g}')
    return {'steps': steps, 'shift': shift}, missed
