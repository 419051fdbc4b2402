# SPDX-License-Identifier: Apache-2.0
"""What a run was worth: speed, energy, effort, contact forces, steps.

Plain entries cover the whole run, start included. Those under ``steady`` cover the last whole
strides in the second half of the run, as [DS09] 5.3.1 judges the last five of ten seconds, so that
a difference between the legs cancels; a run that a fault ended has no steady state.
"""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from walking_control.models import Dynamics
from walking_control.runs import (
    estimation_measures,
    EstimationMeasures,
    foot_positions,
    keeps_posture,
    load_extremes,
    posture_measures,
    quantities,
    Result,
    Run,
    share_on_gait,
    Steady,
    steady_in_space,
    SteadyInSpace,
    walks_in_space,
)

DEPTHS = ('foot_depth', 'foot_depth_ahead', 'scuff_reach')
SCUFF_DEPTH = 0.001  # m: a foot deeper than this in the floor scuffs


@dataclass(eq=False)
class SteadyState(Steady):
    """The steady window of a walk of a robot with coordinates to step in."""

    foot_clearance: float | None = None  # m, mean
    min_foot_clearance: float | None = None  # m
    asymmetry: float | None = None  # difference of the feet's mean step lengths over their mean


@dataclass(eq=False)
class Summary(Result):
    """What a run was worth, in SI units, as fields and as a dictionary; None is unknown.

    `summarize` says what each field is. Often wanted: ``fell``, ``steps``, ``distance`` (m),
    ``speed`` (m/s), ``cost_of_transport``, ``cost_of_transport_electrical``, ``peak_effort`` (N m
    or N), ``peak_current`` (A), ``steady`` (the same measures once the walk has settled).
    """

    robot: str
    controller: str
    plant: str
    fell: bool
    fall_reason: str | None
    fault: str | None
    fault_time: float | None
    fault_reason: str | None
    duration: float
    steps: int
    distance: float  #: of the base along the floor
    speed: float | None
    #: net mechanical work / (m g distance), or energy drawn at the motor terminals / the same; None
    #: unless the robot stepped forward, the latter also with an actuator without a motor
    cost_of_transport: float | None
    cost_of_transport_electrical: float | None
    peak_effort: float | None  #: the largest of any actuator, N m or N
    peak_current: float | None  #: A
    #: N, see `contact_extremes`, or `load_extremes` where there are no coordinates to step in
    min_normal_force: float | None
    max_friction_ratio: float | None
    scuffs: int | None  #: see `count_scuffs`
    foot_depth: float | None  #: m, see `foot_depths`
    foot_depth_ahead: float | None
    scuff_reach: float | None
    energy_injected: float  #: net mechanical work of the actuators, J
    squared_effort_per_step: float | None  #: integral of the squared efforts / steps
    mass: float
    slope: float
    gravity: float
    friction: float
    sensors: dict[str, Any] | None
    steady: SteadyState | SteadyInSpace | None  #: None of a kept posture
    on_gait: float | None  #: no entry of a law without a gait to be on
    posture: dict[str, Any] | None  #: no entry of a walk
    estimator: EstimationMeasures | None


def summarize(run: Run) -> Summary:
    """Return the measures of a run, ready for JSON.

    Args:
        run: The `Run`.

    Returns:
        Dictionary in SI units. Beside names and counts: ``distance`` of the base along the floor
        (m); ``cost_of_transport``, net mechanical work of the actuators / (m g distance), and
        ``cost_of_transport_electrical``, the same with the energy drawn at the motor terminals,
        both None unless the robot stepped forward, the latter also None when an actuator has no
        motor (resistance 0); ``peak_effort``, the largest of any actuator (N m or N);
        ``peak_current`` (A); ``min_normal_force`` (N) and ``max_friction_ratio`` of the stance
        foot, see `contact_extremes`, or of all feet, see `load_extremes`, where there are no
        coordinates to step in; ``energy_injected``, net mechanical work of the actuators (J);
        ``scuffs``, see `count_scuffs`; ``foot_depth``, ``foot_depth_ahead`` and ``scuff_reach``
        (m), see `foot_depths`; ``squared_effort_per_step``, the time integral of the sum of
        squared efforts up to the last touchdown / steps; ``steady``, see `steady_state` and, of
        walks in space without coordinates, `steady_in_space`; None of a kept posture; of a law that
        walks on a gait ``on_gait``, the share of that window on it; of a run
        that was to keep a posture also ``posture``, see `posture_measures`; ``estimator``, how far
        off the estimate of the base was, see `estimation_measures`.
    """
    dynamics = Dynamics(run.robot, run.world.gravity, run.world.slope)
    weight = dynamics.mass * run.world.gravity
    rows = len(run.time)
    duration = run.time[-1] - run.time[0] if rows else 0.0
    distance = run.base.position[-1, 0] - run.base.position[0, 0] if rows else 0.0
    work = quantities.gain(run.work).sum()
    steps = bool(run.robot.coordinates)
    normal_force, friction_ratio = (contact_extremes if steps else load_extremes)(run, weight)
    summary = Summary(
        robot=run.robot.name,
        controller=run.controller,
        plant=run.plant,
        **quantities.ending(run),
        duration=duration,
        steps=int(run.steps[-1]) if rows else 0,
        distance=distance,
        speed=distance / duration if duration > 0.0 else None,
        cost_of_transport=quantities.per_distance(work, weight, run, 0, rows - 1),
        cost_of_transport_electrical=quantities.electrical_cost(run, weight, 0, rows - 1),
        peak_effort=quantities.largest(np.abs(run.effort)),
        peak_current=quantities.peak_current(run),
        min_normal_force=normal_force,
        max_friction_ratio=friction_ratio,
        scuffs=count_scuffs(run, dynamics) if steps else None,
        **(foot_depths(run, dynamics) if steps else dict.fromkeys(DEPTHS)),
        energy_injected=work,
        squared_effort_per_step=quantities.squared_effort_per_step(run),
        mass=dynamics.mass,
        slope=run.world.slope,
        gravity=run.world.gravity,
        friction=run.world.friction,
        sensors=dict(run.sensors) or None,
        steady=steady_state(run, dynamics)
        if steps
        else steady_in_space(run, dynamics)
        if walks_in_space(run)
        else None,
        on_gait=share_on_gait(run) if 'on_gait' in run.telemetry else None,
        posture=posture_measures(run, weight) if rows and keeps_posture(run) else None,
        estimator=estimation_measures(run),
    )
    if 'on_gait' not in run.telemetry:
        del summary['on_gait']
    if not keeps_posture(run):
        del summary['posture']
    return summary


def step_table(run: Run, dynamics: Dynamics) -> dict[str, np.ndarray]:
    """Measure every completed step.

    Args:
        run: The `Run`.
        dynamics: `Dynamics` of its robot.

    Returns:
        name -> ``(n_steps,)``: ``row`` where the step begins, ``end`` where the next one begins,
        ``support`` (stance foot), ``time`` of its begin (s), ``duration`` (s), ``speed`` of the
        base (m/s), ``length`` (m), between successive stance feet, each at its median place so
        that one tick of delay or slip does not matter, and ``clearance`` (m): the lowest height
        of the swing foot above the stance foot over the middle half of its way along the floor,
        which is the tallest thin obstacle it would step over wherever in that half it stood. At
        both ends of the way the height is zero by nature and tells nothing. Negative is a scuff
        that the plant ignores.
    """
    rows = quantities.touchdowns(run)
    feet = foot_positions(dynamics, run.q)
    stance = run.support[rows]
    places = quantities.footholds(run, feet)
    begin, end, along = rows[:-1], rows[1:], run.base.position[:, 0]
    duration = run.time[end] - run.time[begin]
    clearance = [
        _clearance(feet[i : j + 1, swing], place[2])
        for i, j, swing, place in zip(begin, end, stance[1:], places[:-1], strict=True)
    ]
    return {
        'row': begin,
        'end': end,
        'support': stance[:-1],
        'time': run.time[begin],
        'duration': duration,
        'speed': (along[end] - along[begin]) / duration,
        'length': np.diff(places[:, 0]),
        'clearance': np.array(clearance),
    }


def _clearance(path: np.ndarray, floor: float) -> float:
    """Return the lowest height over the middle half of the way from lift-off to touchdown, m."""
    start, way = path[0, 0], path[-1, 0] - path[0, 0]
    middle = np.abs(path[:, 0] - start - 0.5 * way) <= 0.25 * abs(way)
    return path[middle, 2].min() - floor if middle.any() else math.nan


def steady_state(run: Run, dynamics: Dynamics) -> SteadyState:
    """Measure the steady window of a run.

    Args:
        run: The `Run`.
        dynamics: The `Dynamics` of its robot.
    """
    window = quantities.steady_rows(run)
    if window is None:
        return SteadyState()
    first, last = window
    duration = run.time[last] - run.time[first]
    distance = run.base.position[last, 0] - run.base.position[first, 0]
    work = quantities.gain(run.work[[first, last]]).sum()
    weight = dynamics.mass * run.world.gravity
    table = step_table(run, dynamics)
    chosen = (table['row'] >= first) & (table['end'] <= last)
    length, clearance = table['length'][chosen], table['clearance'][chosen]
    by_foot = [length[0::2].mean(), length[1::2].mean()]
    return SteadyState(
        run.time[first],
        run.time[last],
        int(chosen.sum()),
        distance / duration,
        work / duration,
        quantities.per_distance(work, weight, run, first, last),
        quantities.per_distance(
            quantities.positive_work(run.work[first : last + 1]), weight, run, first, last
        ),
        quantities.electrical_cost(run, weight, first, last),
        length.mean(),
        table['duration'][chosen].mean(),
        clearance.mean(),
        clearance.min(),
        abs(by_foot[0] - by_foot[1]) / length.mean() if length.mean() > 0.0 else None,
    )


def count_scuffs(run: Run, dynamics: Dynamics) -> int:
    """Return how often the swing foot struck the floor on its way instead of at its end.

    A scuff is a contact of the swing foot that begins nearer to the stance foot, or further ahead,
    than half the distance at which the step began, and that does not make it the stance foot.
    Straight legs scuff whenever they pass each other, where the plant does not let them through
    (``rigid.scuff_length``).

    Args:
        run: The `Run`.
        dynamics: The `Dynamics` of its robot.
    """
    if len(run.robot.feet) != 2 or len(run.time) < 2:
        return 0
    feet = foot_positions(dynamics, run.q)[:, :, 0]
    rows, swing = np.arange(len(run.time)), 1 - run.support
    ahead = feet[rows, swing] - feet[rows, run.support]
    begin = np.concatenate(([0], np.flatnonzero(np.diff(run.steps)) + 1))
    behind = ahead[begin[np.searchsorted(begin, rows, side='right') - 1]]
    begins = np.zeros(len(rows), dtype=bool)
    begins[1:] = (
        run.contact[rows[1:], swing[1:]]
        & ~run.contact[rows[:-1], swing[1:]]
        & (run.steps[1:] == run.steps[:-1])
    )
    return int(np.sum(begins & (behind < 0.0) & (ahead > 0.5 * behind)))


def foot_depths(run: Run, dynamics: Dynamics) -> dict[str, float | None]:
    """Return how deep in the floor the feet were, by the plant's truth at the ticks.

    A rigid plant lets the feet of straight legs pass through the floor near the stance foot; a soft
    floor gives way under any foot.

    Args:
        run: The `Run`.
        dynamics: `Dynamics` of its robot.

    Returns:
        ``foot_depth``, the deepest any foot was in the floor, m; ``foot_depth_ahead``, how far it
        was ahead of the stance foot there, m, None where it never was inside; ``scuff_reach``, how
        far ahead of the stance foot another foot was still deeper than `SCUFF_DEPTH`, m, None where
        none ever was. All None of a plant that does not tell.
    """
    height = run.columns.get('foot_height')
    if height is None or not np.isfinite(height).any():
        return dict.fromkeys(DEPTHS)
    feet, rows = foot_positions(dynamics, run.q)[:, :, 0], np.arange(len(run.time))
    ahead = feet - feet[rows, run.support][:, None]
    deepest = np.unravel_index(np.nanargmin(height), height.shape)
    inside = height < -SCUFF_DEPTH
    inside[rows, run.support] = False
    depth = max(0.0, -float(height[deepest]))
    return {
        'foot_depth': depth,
        'foot_depth_ahead': float(ahead[deepest]) if depth > 0.0 else None,
        'scuff_reach': quantities.largest(ahead[inside]),
    }


def contact_extremes(run: Run, weight: float) -> tuple[float | None, float | None]:
    """Return the smallest normal force and the largest friction ratio of the stance foot.

    Only ticks count at which no other foot touches the floor: while load passes from one foot to
    the other the old one must go to zero, which is no sign of danger. A tick in flight counts,
    with force 0. The friction ratio further leaves out ticks at which the foot carries less than
    5 % of the weight (`LOADED`).

    Args:
        weight: m g, N.

    Returns:
        Normal force in N and tangential over normal force, each None when no tick counts.
    """
    others = np.arange(run.contact.shape[1]) != run.support[:, None]
    alone = ~(run.contact & others).any(axis=1)
    force = run.foot_force[np.flatnonzero(alone), run.support[alone]]
    normal = force[:, 2]
    loaded = normal >= quantities.LOADED * weight
    ratio = np.hypot(force[loaded, 0], force[loaded, 1]) / normal[loaded]
    return (normal.min() if normal.size else None), quantities.largest(ratio)
