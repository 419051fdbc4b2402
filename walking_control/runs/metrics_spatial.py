# SPDX-License-Identifier: Apache-2.0
"""What a run of a robot in space was worth: posture, contacts, effort.

All values cover the whole run, start included. Unknown values are None.
"""

import numpy as np

from walking_control.runs.kinematics_spatial import BASE, base_lean, SpatialKinematics
from walking_control.runs.quantities import (
    electrical_cost,
    ending,
    gain,
    largest,
    LOADED,
    peak_current,
    per_distance,
    plain,
    squared_effort_per_step,
)


def summarize_spatial(run):
    """Return the measures of a run of a robot in space, ready for JSON.

    Args:
        run: The `Run`.

    Returns:
        The keys of `summarize`. ``distance`` is how far the base came along x (m); what is per
        distance or per step is None without a step; ``min_normal_force`` (N) is the smallest sum
        over all feet, 0 in flight; ``max_friction_ratio`` counts every foot that carries at least
        5 % of the weight (`LOADED`); ``steady`` and ``scuffs`` are None. ``posture`` holds the
        measures of `posture_measures`.
    """
    mass = SpatialKinematics(run.robot).mass
    weight = mass * run.world.gravity
    rows = len(run.time)
    duration = run.time[-1] - run.time[0] if rows else 0.0
    distance = run.q[-1, 0] - run.q[0, 0] if rows else 0.0
    work = gain(run.work).sum()
    normal = run.foot_force[:, :, 2].sum(axis=1)
    summary = {
        'robot': run.robot.name, 'controller': run.controller, 'plant': run.plant,
        **ending(run),
        'duration': duration, 'steps': int(run.steps[-1]) if rows else 0,
        'distance': distance, 'speed': distance / duration if duration > 0.0 else None,
        'cost_of_transport': per_distance(work, weight, run, 0, rows - 1),
        'cost_of_transport_electrical': electrical_cost(run, weight, 0, rows - 1),
        'peak_effort': largest(np.abs(run.effort)), 'peak_current': peak_current(run),
        'min_normal_force': normal.min() if rows else None,
        'max_friction_ratio': largest(friction_ratios(run, weight)[loaded_feet(run, weight)]),
        'scuffs': None, 'energy_injected': work,
        'squared_effort_per_step': squared_effort_per_step(run),
        'mass': mass, 'slope': run.world.slope, 'gravity': run.world.gravity,
        'friction': run.world.friction, 'steady': None,
        'posture': posture_measures(run, weight) if rows else None,
    }
    return {name: plain(value) for name, value in summary.items()}


def posture_measures(run, weight):
    """Measure how a robot in space kept its posture.

    Args:
        run: The `Run`, of one row at least.
        weight: m g, N.

    Returns:
        ``max_tilt`` of the base from the vertical (rad) and ``final_tilt``; ``height_change`` of
        the base, lowest and highest against the start (m); ``base_shift``, its largest distance
        along the floor from the start (m); ``joint_drift`` (rad, of a sliding joint m) and
        ``joint_drift_joint``, the largest distance of a joint from the start posture at any time,
        and ``final_joint_drift``, at the end, all None unless the controller held that posture;
        ``load_share``, foot -> smallest and largest share of the normal force of all feet, while
        they carry at least 5 % of the weight together; ``peak_effort_share`` and
        ``peak_effort_joint``, the largest effort as a share of its joint's limit;
        ``contact_changes``, foot -> how often it left or met the floor; ``support_time``, how
        long which feet touched the floor, by their names (s).
    """
    tilt = base_lean(run)[0]
    height = run.q[:, 2] - run.q[0, 2]
    shift = np.hypot(*(run.q[:, :2] - run.q[0, :2]).T)
    effort = effort_shares(run)
    changes = np.abs(np.diff(run.contact.astype(int), axis=0)).sum(axis=0)
    measures = {
        'max_tilt': tilt.max(), 'final_tilt': tilt[-1],
        'height_change': [float(height.min()), float(height.max())], 'base_shift': shift.max(),
        **_drift(run), 'load_share': _load_shares(run, weight),
        'peak_effort_share': largest(effort),
        'peak_effort_joint': tuple(run.robot.actuators)[effort.max(axis=0).argmax()]
        if effort.size else None,
        'contact_changes': dict(zip(run.robot.feet, changes.tolist(), strict=True)),
        'support_time': support_times(run),
    }
    return {name: plain(value) for name, value in measures.items()}


def joint_motion(run):
    """Return the distance of every joint from its start, ``(T, n_joints)``, rad or m."""
    return run.q[:, BASE:] - run.q[0, BASE:]


def is_held(run):
    """Return whether the controller was to hold the posture of the start all along."""
    return run.settings.get('routine') == 'hold'


def _drift(run):
    names = ('joint_drift', 'joint_drift_joint', 'final_joint_drift')
    drift = np.abs(joint_motion(run))
    if not is_held(run) or not drift.size:
        return dict.fromkeys(names)
    worst = run.robot.joints[drift.max(axis=0).argmax()]
    return dict(zip(names, (drift.max(), worst, drift[-1].max()), strict=True))


def effort_limits(robot):
    """Return the limit of every actuator, ``(n_actuators,)``: the smaller of motor and URDF."""
    return np.array([min(motor.effort_limit, robot.limits[joint].effort)
                     for joint, motor in robot.actuators.items()])


def effort_shares(run):
    """Return the size of every effort as a share of its limit, ``(T, n_actuators)``."""
    limits = effort_limits(run.robot)
    return np.abs(run.effort) / np.where(limits > 0.0, limits, np.inf)


def loaded_feet(run, weight):
    """Return which feet carry at least 5 % of the weight, ``(T, n_feet)``."""
    return run.foot_force[:, :, 2] >= LOADED * weight


def friction_ratios(run, weight):
    """Return tangential over normal force of every loaded foot, else NaN, ``(T, n_feet)``."""
    along = np.hypot(run.foot_force[:, :, 0], run.foot_force[:, :, 1])
    loaded = loaded_feet(run, weight)
    return np.where(loaded, along / np.where(loaded, run.foot_force[:, :, 2], 1.0), np.nan)


def _load_shares(run, weight):
    total = run.foot_force[:, :, 2].sum(axis=1)
    rows = total >= LOADED * weight
    if not rows.any():
        return None
    share = run.foot_force[rows, :, 2] / total[rows, None]
    return {foot: [float(column.min()), float(column.max())]
            for foot, column in zip(run.robot.feet, share.T, strict=True)}


def support_intervals(run):
    """Return when which feet touched the floor.

    Returns:
        List of (first row, row behind the last, indices of the feet), without gaps.
    """
    changes = 1 + np.flatnonzero((run.contact[1:] != run.contact[:-1]).any(axis=1))
    bounds = [0, *changes.tolist(), len(run.time)]
    return [(begin, end, tuple(np.flatnonzero(run.contact[begin]).tolist()))
            for begin, end in zip(bounds[:-1], bounds[1:], strict=True)]


def support_times(run):
    """Return names of the feet on the floor -> how long, s; ``'none'`` for flight."""
    times = {}
    for begin, end, feet in support_intervals(run):
        name = ' + '.join(run.robot.feet[i] for i in feet) or 'none'
        lasted = run.time[min(end, len(run.time) - 1)] - run.time[begin]
        times[name] = times.get(name, 0.0) + float(lasted)
    return times
