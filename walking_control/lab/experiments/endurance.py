# SPDX-License-Identifier: Apache-2.0
"""How long motors bear what a robot does: temperatures from the mean heat of a run."""

from dataclasses import replace
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq, least_squares

from walking_control.controllers import StaticTorqueParameters
from walking_control.exceptions import given, require
from walking_control.models import (
    Dynamics,
    friction_table,
    Heating,
    heating,
    HOTTEST,
    MotorThermal,
    Robot,
    RobotFile,
    World,
)
from walking_control.runs import effort_headers, joint_unit, read_table, Run, steady_rows
from walking_control.statics import Contact, coolest_posture, StaticTorque

FOR_GOOD = 1e7  # s, after which nothing changes any more
_POINTS = 200  # of a curve


def heat_of_run(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return mean squared efforts, (N m)^2, and mean friction losses, W, of its steady part.

    Those are the whole strides of the second half, or the second half where it does not walk.
    """
    end = max(len(run.time) - 1, 1)  # of the shortest run, one row
    first, last = steady_rows(run) or (min(len(run.time) // 2, end - 1), end)
    joints = [run.robot.joint_index(joint) for joint in run.robot.actuators]
    rates = run.v[first:last, [run.robot.base.nv + joint for joint in joints]]
    return _means(run.robot, run.effort[first:last], rates)


def heat_of_table(path: Path, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of a table of a run, or the folder of a report, as a whole.

    Args:
        path: Of the table or folder.
        robot: The `Robot` it is of.
    """
    pick = read_table(path, robot)
    return _means(
        robot,
        pick(*effort_headers(robot)),
        pick(*(f'{joint}_rate [{joint_unit(robot, joint)}/s]' for joint in robot.actuators)),
    )


def _means(robot: Robot, efforts: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    efforts, speeds = efforts[:, : len(robot.actuators)], np.abs(rates)
    table = friction_table(robot)[[robot.joint_index(joint) for joint in robot.actuators]]
    lost = table[:, 0] * speeds**2 + table[:, 1] * speeds
    shares = [1.0 - motor.efficiency for motor in robot.actuators.values()]
    lost += np.array(shares) * np.abs(efforts * rates)
    return np.mean(efforts**2, axis=0), np.mean(lost, axis=0)


def stand_coolest(robot_file: RobotFile, air: float) -> dict[str, float]:
    """Return joint -> position, rad, of the posture that keeps the warmest motor coolest.

    Args:
        robot_file: The `RobotFile`, of a robot in space that starts from a posture; its soles are
            those of the parameters of `static_torque`.
        air: Its temperature, C.

    Raises:
        InvalidInput: It starts from no posture.
        NotAchieved: It cannot stand where it starts, or no cooler posture was found nearby.
    """
    robot, values = robot_file.robot, robot_file.values(StaticTorqueParameters)
    start = given(
        robot_file.start.posture,
        f'coolest posture of {robot.name}',
        limit='needs a robot in space that starts at rest, from a posture',
    )
    sole = values.sole_length, values.sole_width, values.friction
    contacts = {foot: Contact(foot, *sole) for foot in robot.feet}
    dynamics = Dynamics(robot, robot_file.values(World).gravity)
    posture = coolest_posture(StaticTorque(dynamics, contacts), heating(robot), start, air)
    return dict(zip(robot.joints, posture.tolist()))


def endure(
    model: Heating,
    squared: np.ndarray,
    friction: np.ndarray,
    duration: float,
    air: float,
    start: float,
) -> dict[str, Any]:
    """Return how warm motors get that do the same all the time.

    Args:
        model: The `Heating`.
        squared: Mean squared efforts, (N m)^2, ``(n,)``.
        friction: Mean friction losses, W, ``(n,)``.
        duration: s.
        air: Its temperature, C.
        start: Temperature of all motors at the start, C.

    Returns:
        ``hottest`` (joint, temperature, time_to_limit: s, None: never), ``temperatures`` (joint ->
        winding, housing after the duration; settles_at, None: never; limit; time_to_limit),
        ``curves`` (times ``(k,)``, windings ``(k, n)``), ``assumptions``.

    Raises:
        InvalidInput: There is no motor.
    """
    require(model.joints, 'endurance', limit='is of motors, and this robot has none')
    begin = np.full((len(model.joints), 2), start)

    def after(time: float) -> np.ndarray:
        return model.step(begin, squared, friction, air, time)

    def limit_time(i: int) -> float:
        """Return when a winding is at its limit, s; infinite: never."""
        limit = model.limit[i]
        if begin[i, 0] >= limit or settled[i] < limit:
            return 0.0 if begin[i, 0] >= limit else math.inf
        return float(brentq(lambda time: after(time)[i, 0] - limit, 0.0, FOR_GOOD, xtol=1e-3))

    times = np.linspace(0.0, duration, _POINTS)
    final, settled = after(duration), after(FOR_GOOD)[:, 0]
    limits = [limit_time(i) for i in range(len(model.joints))]
    # the first at its limit, else the nearest to it
    first = np.lexsort((model.limit - final[:, 0], limits))[0]
    rows = {
        joint: {
            'winding': float(final[i, 0]),
            'housing': float(final[i, 1]),
            'settles_at': float(settled[i]) if settled[i] < HOTTEST else None,
            'limit': float(model.limit[i]),
            'time_to_limit': limits[i] if math.isfinite(limits[i]) else None,
        }
        for i, joint in enumerate(model.joints)
    }
    hottest = model.joints[first]
    return {
        'duration': duration,
        'ambient': air,
        'hottest': {
            'joint': hottest,
            'temperature': rows[hottest]['winding'],
            'time_to_limit': rows[hottest]['time_to_limit'],
        },
        'temperatures': rows,
        'curves': {'time': times, 'winding': np.array([after(time)[:, 0] for time in times])},
        'assumptions': [*model.guesses, f'air at {air:g} C'],
    }


def fit_heating(
    model: Heating,
    joint: str,
    time: np.ndarray,
    measured: np.ndarray,
    squared: np.ndarray,
    air: float,
) -> dict[str, dict[str, float]]:
    """Return the thermal data of a motor, fitted to the temperature of its winding.

    Least squares in the logarithms of the four numbers, which so stay above zero. Temperatures do
    not tell the heat itself: half of it through twice the resistances into half the capacities
    is the same curve, so `Heating.copper` is taken as known.

    Args:
        model: The `Heating` to begin with.
        joint: That the motor drives.
        time: s, ``(k,)``, growing.
        measured: Temperature of the winding, C, ``(k,)``.
        squared: Mean squared effort from each time to the next, (N m)^2, ``(k,)``.
        air: Its temperature, C.

    Returns:
        Name of `MotorThermal` -> value, low and high (95 %).

    Raises:
        InvalidInput: The temperatures say nothing: they do not change, or are no numbers.
    """
    require(
        np.isfinite([*time, *measured, *squared]).all() and np.ptp(measured) >= 1.0,
        f'temperature of joint {joint}',
        value=float(np.ptp(measured)),
        limit='must be finite and change by more than 1 K',
        remedy='a sensor that is stuck says nothing; warm the motor, and let it cool',
    )
    i = model.joints.index(joint)
    fields = ('inside', 'outside', 'winding', 'housing')
    alone = replace(model, joints=(joint,), copper=model.copper[[i]], limit=model.limit[[i]])

    def missed(logs: np.ndarray) -> np.ndarray:
        one = replace(alone, **dict(zip(fields, np.exp(logs)[:, None])))
        state, found = np.full((1, 2), measured[0]), [measured[0]]
        for load, gap in zip(squared[:-1], np.diff(time)):
            state = one.step(state, np.array([load]), np.zeros(1), air, gap)
            found.append(state[0, 0])
        return np.asarray(np.array(found) - measured)

    fit = least_squares(missed, np.log([getattr(model, name)[i] for name in fields]))
    variance = 2.0 * fit.cost / max(len(time) - len(fields), 1)
    wide = 1.96 * np.sqrt(variance * np.diag(np.linalg.pinv(fit.jac.T @ fit.jac)))
    return {
        name: dict(zip(('low', 'value', 'high'), np.exp([x - width, x, x + width]).tolist()))
        for name, x, width in zip(MotorThermal.rows, fit.x, wide)
    }
