# SPDX-License-Identifier: Apache-2.0
"""Measures of a run that mean the same for every robot, and the floor that it went over."""

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from walking_control.models import FloorProfile, GearedMotor, read_profile, Robot
from walking_control.runs import plain, Run
from walking_control.safety import FALL

# Below this part of the weight a foot counts as landing or leaving: the ratio of two small forces
# says nothing about slipping.
LOADED = 0.05


def touchdowns(run: Run) -> np.ndarray:
    """Return the rows at which a step begins, the start of the run first."""
    return np.concatenate(([0], 1 + np.flatnonzero(np.diff(run.steps) > 0))).astype(int)


def footholds(run: Run, feet: np.ndarray) -> np.ndarray:
    """Return where the stance foot of each step stands, the last one included, m, ``(k, 3)``.

    Args:
        feet: Paths of its feet, see `foot_positions`.
    """
    rows = touchdowns(run)
    bounds = np.append(rows, len(run.time))
    return np.array(
        [
            np.median(feet[begin:end, foot], axis=0)
            for begin, end, foot in zip(bounds[:-1], bounds[1:], run.support[rows], strict=True)
        ]
    )


def steady_rows(run: Run) -> tuple[int, int] | None:
    """Return the rows of the most whole strides in the second half of an unbroken run, or None."""
    if run.broke_off or not len(run.time):
        return None
    return strides(run, 0.5 * (run.time[0] + run.time[-1]), math.inf)


def strides(run: Run, begin: float, end: float) -> tuple[int, int] | None:
    """Return the first and last row of the most whole strides between two times, s, or None.

    Args:
        run: The `Run`.
        begin: s.
        end: s.
    """
    rows = touchdowns(run)[1:]
    rows = rows[(run.time[rows] >= begin) & (run.time[rows] <= end)]
    steps = (len(rows) - 1) // 2 * 2
    return (int(rows[-1 - steps]), int(rows[-1])) if steps > 0 else None


def disturbed_row(run: Run) -> int | None:
    """Return the row of the touchdown, time or place the first disturbance comes with, or None."""
    rows = [
        row
        for disturbance in run.disturbances
        if (row := row_of(run, *disturbance[2:])) is not None
    ]
    return min(rows, default=None)


def row_of(run: Run, step: int, how: Any) -> int | None:
    """Return the first row a part of a step after a touchdown, or after a time or place.

    Args:
        run: The `Run`.
        step: The touchdown, counted from 1.
        how: Phase, time or place: `How` of a disturbance.
    """
    rows = touchdowns(run)
    if how.time is not None:
        begun = run.time >= how.time - 1e-9
    elif how.place is not None:
        begun = run.base.position[:, 0] >= how.place
    elif step < len(rows):
        last, before = run.time[rows[[step, max(step - 2, 0)]]]
        begun = run.time >= last + how.phase * (last - before) / 2.0 - 1e-9
    else:
        return None
    return int(np.argmax(begun)) if begun.any() else None


def rows_around(run: Run, before: int = 2, after: int = 5) -> slice:
    """Return rows some steps before the first disturbance to some after, else the last ones.

    Args:
        run: The `Run`.
        before: Steps before the disturbance.
        after: Steps after it.
    """
    begins, row = touchdowns(run), disturbed_row(run)
    at = len(begins) - 1 - after if row is None else int(np.searchsorted(begins, row))
    cut = 0 <= at + after < len(begins) and not (run.broke_off and row is None)
    end = begins[at + after] + 1 if cut else len(run.time)
    return slice(int(begins[max(0, at - before)]), int(end))


def ending(run: Run) -> dict[str, Any]:
    """Return how a run ended, ready for JSON.

    Returns:
        ``fell`` and ``fall_reason``; ``fault``, ``fault_time`` (s) and ``fault_reason``: code,
        stamp and message of the fault that ended it, a fall among them, None without one.
    """
    fault = run.fault
    return {
        'fell': bool(run.fell),
        'fall_reason': run.fall_reason,
        'fault': fault and fault.code,
        'fault_time': fault and plain(fault.stamp),
        'fault_reason': fault and fault.message,
    }


def failure(summary: Mapping[str, Any]) -> str | None:
    """Return in words why a run broke off, None of one that did not.

    Args:
        summary: Dictionary with the entries of `ending`.
    """
    code, time = summary['fault'], summary['fault_time']
    at = '' if time is None else f' at {time:.2f} s'
    if code is None or code == FALL:
        return f'fell{at}: {summary["fall_reason"]}' if summary['fell'] else None
    then = f'; then it fell: {summary["fall_reason"]}' if summary['fell'] else ''
    return f'was stopped{at} by the fault {code}: {summary["fault_reason"]}{then}'


def motors(robot: Robot) -> list[tuple[int, str, GearedMotor]]:
    """Return (column, joint, motor) of the actuators that model a motor: resistance above 0."""
    return [
        (i, joint, motor)
        for i, (joint, motor) in enumerate(robot.actuators.items())
        if motor.resistance > 0.0
    ]


def peak_current(run: Run) -> float | None:
    """Return the largest motor current in A, or None without a motor."""
    return largest(
        np.array([np.abs(motor.current(run.effort[:, i])) for i, _, motor in motors(run.robot)])
    )


def squared_effort_per_step(run: Run) -> float | None:
    """Return the integral of the squared efforts over the completed steps / their number."""
    rows = touchdowns(run)
    if len(rows) < 2:
        return None
    return squared_effort(run, 0, rows[-1]) / (len(rows) - 1)


def squared_effort(run: Run, first: int, last: int) -> float:
    """Return the integral of the squared efforts between two rows, N^2m^2 s.

    Args:
        run: The `Run`.
        first: Row where the window begins.
        last: Row where it ends.
    """
    squares = (run.effort[first:last] ** 2).sum(axis=1)
    return float(squares @ np.diff(run.time[first : last + 1]))


def electrical_cost(run: Run, weight: float, first: int, last: int) -> float | None:
    """Return electrical energy per weight and distance between two rows, None without motors.

    Args:
        run: The `Run`.
        weight: m g, N.
        first: Row where the window begins.
        last: Row where it ends.
    """
    actuators = run.robot.actuators
    if not actuators or len(motors(run.robot)) < len(actuators) or last < first:
        return None
    energy = run.electrical_energy[last] - run.electrical_energy[first]
    return per_distance(energy, weight, run, first, last)


def per_distance(energy: float, weight: float, run: Run, first: int, last: int) -> float | None:
    """Return an energy per weight and distance between two rows, None without a step ahead.

    Args:
        energy: J.
        weight: m g, N.
        run: The `Run`.
        first: Row where the window begins.
        last: Row where it ends.
    """
    if last <= first or run.steps[last] == run.steps[first]:
        return None
    distance = run.base.position[last, 0] - run.base.position[first, 0]
    return energy / (weight * distance) if distance > 0.0 else None


def each_joint_energy(run: Run, first: int, last: int) -> float:
    """Return what motors draw between two rows, J, if what one brakes drives no other.

    Args:
        run: The `Run`.
        first: Row where the window begins.
        last: Row where it ends.
    """
    drawn = np.diff(run.work[first : last + 1], axis=0)
    for i, _, motor in motors(run.robot):
        drawn[:, i] += (
            motor.resistance
            * motor.current(run.effort[first:last, i]) ** 2
            * np.diff(run.time[first : last + 1])
        )
    return positive(drawn)


def gain(cumulative: np.ndarray) -> np.ndarray:
    """Return what a cumulative record gained from its first row to its last."""
    return cumulative[-1] - cumulative[0] if len(cumulative) else np.zeros(1)


def positive_work(work: np.ndarray) -> float:
    """Return the work that actuators did, what others of them or later ones took up not deducted.

    The net work of a walk is what impacts and friction take, and less while the body sinks: few
    motors give back what they brake.

    Args:
        work: Cumulative work of each actuator, J, ``(T, n)``.
    """
    return positive(np.diff(work, axis=0))


def positive(parts: np.ndarray) -> float:
    """Return the sum of the parts above zero."""
    return float(np.maximum(parts, 0.0).sum())


def largest(values: np.ndarray) -> float | None:
    """Return the largest value, None when there is none."""
    return values.max() if values.size else None


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
        drop = sum(
            _SIGNS[kind] * size
            for kind, size, at, *_ in run.disturbances
            if at == k + 1 and kind in _SIGNS
        )
        points += [(x, z), (edge, level), (edge, level - drop)]
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


def floor_tilt(run: Run, step: int) -> float:
    """Return by how much the floor under a step leans more than the first, downhill positive.

    Args:
        run: The `Run`.
        step: Counted from 0.
    """
    return float(
        sum(
            size for kind, size, at, *_ in run.disturbances if kind == 'slope_change' and at <= step
        )
    )
