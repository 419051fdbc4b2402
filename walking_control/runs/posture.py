# SPDX-License-Identifier: Apache-2.0
"""How a robot kept its posture over the whole run: lean, place, contacts, effort."""

from typing import Any

import numpy as np

from walking_control.runs import base_lean, largest, LOADED, plain, Run, walks_in_space


def posture_measures(run: Run, weight: float) -> dict[str, Any]:
    """Measure how a robot kept its posture.

    Args:
        run: The `Run`, of one row at least.
        weight: m g, N.

    Returns:
        Dictionary, start included: ``max_tilt`` and ``final_tilt`` of the base from the vertical
        (rad); ``height_change``, lowest and highest against the start, and ``base_shift``, the
        largest distance along the floor from it (m); ``joint_drift``, ``joint_drift_joint`` and
        ``final_joint_drift``, the largest from a start that was held (rad or m), else None;
        ``load_share``, foot -> smallest and largest share of the normal force of all feet while
        they carry at least 5 % of the weight together; ``peak_effort_share`` of the limit of
        ``peak_effort_joint``; ``contact_changes``, foot -> how often it left or met the floor;
        ``support_time``, feet -> how long they touched the floor (s).
    """
    tilt = base_lean(run)[0]
    place = run.base.position - run.base.position[0]
    height, shift = place[:, 2], np.hypot(*place[:, :2].T)
    effort = effort_shares(run)
    changes = np.abs(np.diff(run.contact.astype(int), axis=0)).sum(axis=0)
    drift, worst, final = _drift(run)
    measures: dict[str, Any] = plain(
        {
            'max_tilt': tilt.max(),
            'final_tilt': tilt[-1],
            'height_change': [height.min(), height.max()],
            'base_shift': shift.max(),
            'joint_drift': drift,
            'joint_drift_joint': worst,
            'final_joint_drift': final,
            'load_share': _load_shares(run, weight),
            'peak_effort_share': largest(effort),
            'peak_effort_joint': run.robot.efforts[effort.max(axis=0).argmax()]
            if effort.size
            else None,
            'contact_changes': dict(zip(run.robot.feet, changes.tolist(), strict=True)),
            'support_time': support_times(run),
        }
    )
    return measures


def keeps_posture(run: Run) -> bool:
    """Return whether a run was to keep a posture or change it slowly, rather than to walk."""
    return not run.robot.coordinates and not walks_in_space(run) or 'routine' in run.settings


def joint_motion(run: Run) -> np.ndarray:
    """Return the distance of every joint from its start, ``(T, n_joints)``, rad or m."""
    return np.asarray(run.joints - run.joints[0])


def is_held(run: Run) -> bool:
    """Return whether the controller was to hold the posture of the start all along."""
    return run.settings.get('routine') == 'hold'


def _drift(run: Run) -> tuple[Any, Any, Any]:
    drift = np.abs(joint_motion(run))
    if not is_held(run) or not drift.size:
        return None, None, None
    worst = run.robot.joints[drift.max(axis=0).argmax()]
    return drift.max(), worst, drift[-1].max()


def effort_shares(run: Run) -> np.ndarray:
    """Return the size of every effort as a share of its limit, ``(T, n_actuators)``."""
    limits = run.robot.effort_limits
    return np.asarray(np.abs(run.effort) / np.where(limits > 0.0, limits, np.inf))


def loaded_feet(run: Run, weight: float) -> np.ndarray:
    """Return which feet carry at least 5 % of the weight, ``(T, n_feet)``.

    Args:
        run: The `Run`.
        weight: m g, N.
    """
    return run.foot_force[:, :, 2] >= LOADED * weight


def friction_ratios(run: Run, weight: float) -> np.ndarray:
    """Return tangential over normal force of every loaded foot, else NaN, ``(T, n_feet)``.

    Args:
        run: The `Run`.
        weight: m g, N.
    """
    along = np.hypot(run.foot_force[:, :, 0], run.foot_force[:, :, 1])
    loaded = loaded_feet(run, weight)
    return np.where(loaded, along / np.where(loaded, run.foot_force[:, :, 2], 1.0), np.nan)


def load_extremes(run: Run, weight: float) -> tuple[float | None, float | None]:
    """Return the extremes of contact of all feet of a robot of this weight, m g in N.

    Args:
        run: The `Run`.
        weight: m g, N.

    Returns:
        The smallest sum of normal forces in N, 0 in flight, and the largest friction ratio of any
        foot that carries at least 5 % of the weight (`LOADED`), each None when no tick counts.
    """
    normal = run.foot_force[:, :, 2].sum(axis=1)
    return (
        normal.min() if normal.size else None,
        largest(friction_ratios(run, weight)[loaded_feet(run, weight)]),
    )


def _load_shares(run: Run, weight: float) -> dict[str, list[float]] | None:
    total = run.foot_force[:, :, 2].sum(axis=1)
    rows = total >= LOADED * weight
    if not rows.any():
        return None
    share = run.foot_force[rows, :, 2] / total[rows, None]
    return {
        foot: [float(column.min()), float(column.max())]
        for foot, column in zip(run.robot.feet, share.T, strict=True)
    }


def support_intervals(run: Run) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return when which feet touched the floor.

    Returns:
        List of (first row, row behind the last, indices of the feet), without gaps.
    """
    changes = 1 + np.flatnonzero((run.contact[1:] != run.contact[:-1]).any(axis=1))
    bounds = [0, *changes.tolist(), len(run.time)]
    return [
        (begin, end, tuple(np.flatnonzero(run.contact[begin]).tolist()))
        for begin, end in zip(bounds[:-1], bounds[1:], strict=True)
    ]


def support_times(run: Run) -> dict[str, float]:
    """Return names of the feet on the floor -> how long, s; ``'none'`` for flight."""
    times: dict[str, float] = {}
    for begin, end, feet in support_intervals(run):
        name = ' + '.join(run.robot.feet[i] for i in feet) or 'none'
        lasted = run.time[min(end, len(run.time) - 1)] - run.time[begin]
        times[name] = times.get(name, 0.0) + float(lasted)
    return times
