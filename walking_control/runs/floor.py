# SPDX-License-Identifier: Apache-2.0
"""The floor that a run went over, with the steps and slopes of its disturbances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walking_control.models.floor import FloorProfile, read_profile

if TYPE_CHECKING:
    from walking_control.runs.run import Run


def floor_profile(run: Run, places: np.ndarray) -> np.ndarray:
    """Return the floor that a run went over, ``(p, 2)`` in the floor frame, m.

    A change of level at a touchdown is drawn half way between two footholds: where exactly it lies
    the plant does not say, for it counts from step to step.

    Args:
        places: Its footholds, ``(k, 3)``.
    """
    profile = read_profile(run.world)
    if profile is not None:
        return _given_profile(run, profile)
    if any(how.place is not None for *_, how in run.disturbances):
        return _placed_profile(run)
    places = places[:, ::2]
    length = np.median(np.diff(places[:, 0])) if len(places) > 1 else 1.0
    ahead = np.append(places[1:, 0], places[-1, 0] + length)
    points = [places[0] + [-length, length * np.tan(floor_tilt(run, 0))]]
    for k, (x, z) in enumerate(places):
        edge = 0.5 * (x + ahead[k])
        level = z - np.tan(floor_tilt(run, k + 1)) * (edge - x)
        points += [(x, z), (edge, level), (edge, level - _drop(run, k + 1))]
    slope = np.tan(floor_tilt(run, len(places)))
    return np.array([*points, points[-1] + 2.0 * length * np.array([1.0, -slope])])


def _given_profile(run: Run, profile: FloorProfile) -> np.ndarray:
    """Return the corners of a floor of given heights, from before the run to beyond it."""
    ahead = run.base.position[:, 0]
    first, last = ahead.min() - 1.0, ahead.max() + 1.0
    inner = profile.places[(profile.places > first) & (profile.places < last)]
    places = np.array([first, *inner, last])
    return np.stack([places, profile.height(places)], axis=1)


def _placed_profile(run: Run) -> np.ndarray:
    """Return the corners of a floor that changes at places, from before the run to beyond it."""
    ahead = run.base.position[:, 0]
    points, tilt = [np.array([min(ahead.min(), 0.0) - 1.0, 0.0])], 0.0
    for kind, size, _, how in sorted(run.disturbances, key=lambda item: item[3].place or 0.0):
        if how.place is None:
            continue
        points.append(_along(points[-1], how.place, tilt))
        if kind == 'slope_change':
            tilt += size
        else:
            points.append(points[-1] - [0.0, _SIGNS[kind] * size])
    return np.array([*points, _along(points[-1], max(ahead.max(), points[-1][0]) + 1.0, tilt)])


def _along(point: np.ndarray, x: float, tilt: float) -> np.ndarray:
    return np.array([x, point[1] - np.tan(tilt) * (x - point[0])])


_SIGNS = {'step_down': 1.0, 'step_up': -1.0}


def _drop(run: Run, step: int) -> float:
    return float(sum(_SIGNS[kind] * size for kind, size, at, *_ in run.disturbances
                     if at == step and kind in _SIGNS))


def floor_tilt(run: Run, step: int) -> float:
    """Return by how much the floor under a step leans more than the first, downhill positive."""
    return float(sum(size for kind, size, at, *_ in run.disturbances
                     if kind == 'slope_change' and at <= step))
