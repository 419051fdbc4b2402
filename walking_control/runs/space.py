# SPDX-License-Identifier: Apache-2.0
"""What a walk in space was worth: speeds seen from the robot, steps, heading.

It is for robots without minimal coordinates, whose steps are those of the estimator and whose base
is free. Steady values cover the last whole strides in the second half of the run, as in `metrics`.
"""

from dataclasses import dataclass
import math

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.runs.kinematics import foot_positions
from walking_control.runs.quantities import (
    each_joint_energy,
    footholds,
    gain,
    motors,
    positive_work,
    steady_rows,
    touchdowns,
)
from walking_control.runs.result import Result
from walking_control.runs.run import Run

SPOT = 0.02   # m/s: slower is on the spot


def walks_in_space(run: Run) -> bool:
    """Return whether a run is a walk of a robot whose base is free, rather than a kept posture."""
    return (run.robot.is_free and not run.robot.coordinates
            and 'routine' not in run.settings and len(run.time) > 1 and bool(run.steps[-1]))


def yaw(run: Run) -> np.ndarray:
    """Return the turn of the base about the floor normal, without jumps, rad, ``(T,)``."""
    rotation = run.base.rotation
    return np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0]))


def heading(run: Run) -> np.ndarray:
    """Return where the robot looks without the sway of its steps, rad, ``(T,)``.

    That is the mean of `yaw` over a stride; the base sways to the side it leans to, so that what it
    looks at in a moment makes a walk slower and wider than it is. Before the first stride and after
    the last one it goes on as within them; without a stride it is the yaw itself.
    """
    looks, time, rows = yaw(run), run.time, touchdowns(run)[1:]
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
    """Return how far the base looks to the left of where it shall, rad, ``(T,)``.

    Where the law says no heading, the one of the start shall be kept.
    """
    looks = yaw(run)
    wanted = run.telemetry.get('heading', np.full(len(looks), looks[0]))
    return np.asarray((looks - wanted + math.pi) % (2.0 * math.pi) - math.pi)


def mean_velocity(run: Run, first: int, last: int) -> np.ndarray:
    """Return the mean velocity between two rows: ahead, to the left (m/s), turning (rad/s).

    Ahead is the `heading`.
    """
    place, looks = run.base.position[first:last + 1], yaw(run)[[first, last]]
    along = heading(run)[first:last + 1]
    duration, middle = run.time[last] - run.time[first], 0.5 * (along[1:] + along[:-1])
    way, c, s = np.diff(place[:, :2], axis=0), np.cos(middle), np.sin(middle)
    return np.array([(c * way[:, 0] + s * way[:, 1]).sum() / duration,
                     (c * way[:, 1] - s * way[:, 0]).sum() / duration,
                     (looks[1] - looks[0]) / duration])


def step_sizes(run: Run) -> dict[str, np.ndarray]:
    """Measure every completed step along the `heading` at its touchdown.

    Returns:
        name -> ``(n_steps,)``: ``row`` where it begins, ``time`` of that (s), ``duration`` (s),
        ``length`` ahead and ``width`` outwards between the feet (m), ``support``, the stance foot.
    """
    rows = touchdowns(run)
    places = footholds(run, foot_positions(Dynamics(run.robot), run.q))
    looks, way = heading(run)[rows[1:]], np.diff(places[:, :2], axis=0)
    c, s = np.cos(looks), np.sin(looks)
    stance = run.support[rows]
    # the first foot is the left one: the other lands to its right
    outwards = np.where(stance[1:] == 0, 1.0, -1.0)
    return {'row': rows[:-1], 'time': run.time[rows[:-1]], 'duration': np.diff(run.time[rows]),
            'length': c * way[:, 0] + s * way[:, 1],
            'width': outwards * (c * way[:, 1] - s * way[:, 0]), 'support': stance[:-1]}


@dataclass(eq=False)
class Steady(Result):
    """The steady window of a walk; all None when there is none.

    ``start``, ``end`` (s), ``steps``, ``speed`` ahead (m/s), ``mechanical_power`` (W),
    ``cost_of_transport``, ``cost_of_transport_positive``, see `positive_work`,
    ``cost_of_transport_electrical``, and means over the steps: ``step_length`` (m), ``step_time``
    (s).
    """

    start: float | None = None
    end: float | None = None
    steps: int | None = None
    speed: float | None = None
    mechanical_power: float | None = None
    cost_of_transport: float | None = None
    cost_of_transport_positive: float | None = None
    cost_of_transport_electrical: float | None = None
    step_length: float | None = None
    step_time: float | None = None


@dataclass(eq=False)
class SteadyInSpace(Steady):
    """Also ``step_width`` (m), ``sideways`` (m/s), ``turn`` (rad/s), ``heading_error`` (rad).

    ``cost_of_transport_electrical`` is at the supply, ``cost_of_transport_each_joint`` of each
    joint alone, see `each_joint_energy`.
    """

    step_width: float | None = None
    sideways: float | None = None
    turn: float | None = None
    heading_error: float | None = None
    cost_of_transport_each_joint: float | None = None


def steady_in_space(run: Run, dynamics: Dynamics) -> SteadyInSpace:
    """Measure the steady window of a walk in space."""
    window = steady_rows(run)
    if window is None:
        return SteadyInSpace()
    first, last = window
    duration, work = run.time[last] - run.time[first], gain(run.work[[first, last]]).sum()
    velocity, sizes = mean_velocity(run, first, last), step_sizes(run)
    drawn = np.full(2, math.nan)   # at the supply, and each joint alone
    if len(motors(run.robot)) == len(run.robot.actuators):
        drawn[:] = gain(run.electrical_energy[[first, last]]), each_joint_energy(run, first, last)
    way = math.hypot(*velocity[:2]) * duration
    # on the spot nothing is transported
    load = dynamics.mass * run.world.gravity * way if way > SPOT * duration else math.nan
    chosen = (sizes['row'] >= first) & (sizes['row'] < last)
    return SteadyInSpace(
        run.time[first], run.time[last], int(chosen.sum()), velocity[0], work / duration,
        work / load, positive_work(run.work[first:last + 1]) / load, drawn[0] / load,
        sizes['length'][chosen].mean(), sizes['duration'][chosen].mean(),
        sizes['width'][chosen].mean(), velocity[1], velocity[2],
        heading_error(run)[first:last].mean(), drawn[1] / load)
