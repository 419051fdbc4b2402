# SPDX-License-Identifier: Apache-2.0
"""Friction and motor constants of a robot from a recorded walk, by linear regression.

The momentum ``p = M v`` of the walker on one foot obeys ``dp = g dt + sum_i B_i y_i dt -
sum_j A_j f_j dt``: g from weight, springs and velocities (Lagrange), y the torque that leaves the
gear of a motor, f the friction of a joint. With the model of `models.friction` and nominal masses
all of it is linear in what is not known:

- ``y dt = c_d (tau dt - I dw)`` while the motor drives its joint, ``c_b (...)`` while the joint
  drives it. With the true over the nominal torque constant k: ``c_d = k efficiency`` and
  ``c_b = k / back_efficiency``. Where both were seen and both efficiencies are one number, k and
  the efficiency follow;
- ``f dt = viscous dq + coulomb sign(w) dt``.

Angles are smoothed by polynomials, which give the rates. Equations of ticks are summed over windows
of the single support with weights that vanish at both ends. Summed by parts no rate is
differentiated: rates enter times the change of the weight, angles by their differences, efforts as
they were held. Coordinates held by a lock, joints near a stop, windows in which a joint turns back
and the time after an impact are left out.

Uncertainty: generalised least squares with the covariance of the residuals between coordinates,
then a covariance that takes steps, not windows, as independent (sandwich by cluster). To the
quantile of Student's t times the standard error comes how far the values move when windows are
longer or shorter, or begin later after impacts, and what follows if all torques of the model are
off by a share, for masses that are not the nominal ones or a floor that gives way.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput, require
from walking_control.models import (
    Dynamics,
    effort_map,
    JointFriction,
    Robot,
    RobotFile,
    SupportDynamics,
    World,
)
from walking_control.runs.tables import Recording

WINDOW = 0.08  # s: length of the sums
STRETCHES = 0.6, 1.6  # other lengths tried
SMOOTH = 0.03  # s: length of the fits that give rates
SETTLE = 0.03  # s after an impact that are left out
SLOWEST = 0.1  # rad/s: slower joints may be at rest or turn back
AT_STOP = 0.02  # rad: nearer joints may rest on their stop
FEWEST = 8  # steps that can be told apart from chance
WORST_CONDITION = 200.0


class Parts(NamedTuple):
    """Ticks of a recording, K between two rows each; see `_ticks`.

    Attributes:
        left: ``dp - g dt`` and what is known of efforts, ``(K, n)``.
        columns: What each unknown adds, ``(K, n, n_unknowns)``.
        clear: Whether no joint turns back or rests on a stop, ``(K,)``.
        step: Which step, ``(K,)``; -1 outside of single support.
        held: Coordinates held by locks, as a sum of powers of two, ``(K,)``.
    """

    left: np.ndarray
    columns: np.ndarray
    clear: np.ndarray
    step: np.ndarray
    held: np.ndarray


def identify(
    robot_file: RobotFile, recording: Recording, confidence: float = 0.95, model_error: float = 0.01
) -> dict[str, Any]:
    """Return friction and motor constants of a robot with their confidence intervals.

    Masses and rotors of the robot file count, its friction and efficiencies do not; the model's
    torques may be off by a share `model_error`.

    Returns:
        ``parameters``: name -> ``value``, ``low``, ``high``, ``unit``, ``robot_file`` (what it
        says); ``condition`` of the equations, ``steps``, ``windows``, ``confidence``.

    Raises:
        InvalidInput: The robot has no minimal coordinates in the plane, or the run does not excite
            what is to be found.
    """
    from scipy.stats import t as student

    robot = robot_file.robot
    require(
        robot.is_planar and robot.coordinates,
        f'robot {robot.name}',
        limit='identification needs a planar walker with minimal coordinates',
    )
    require(
        0.0 <= model_error < 1.0,
        'model error',
        value=model_error,
        limit='must be from 0 to below 1',
    )
    require(0.0 < confidence < 1.0, 'confidence', value=confidence, limit='must be between 0 and 1')
    names = _unknowns(robot)
    parts, late = (_ticks(robot_file, recording, settle) for settle in (SETTLE, 2.0 * SETTLE))
    fit, *others = [
        _fit(list(_windows(ticks, recording.time, WINDOW * stretch)), names, robot)
        for ticks, stretch in (
            (parts, 1.0),
            (late, 1.0),
            *((parts, stretch) for stretch in STRETCHES),
        )
    ]
    # what was never seen is NaN, and must not spoil the rest
    spread = model_error * fit.reach + np.max(
        [np.nan_to_num(np.abs(other.value - fit.value)) for other in others], axis=0
    )
    values, transform = _constants(fit.value, names, robot)
    known = np.nan_to_num(transform)
    error = np.sqrt(np.einsum('ij,jk,ik->i', known, np.nan_to_num(fit.covariance), known))
    half = student.ppf(0.5 * (1.0 + confidence), fit.steps - 1) * error + np.abs(known) @ spread
    return {
        'robot': robot.name,
        'confidence': confidence,
        'condition': fit.condition,
        'steps': fit.steps,
        'windows': fit.windows,
        'parameters': {
            name: {
                'value': value,
                'low': value - width,
                'high': value + width,
                **_nominal(robot, name),
            }
            for name, value, width in zip(
                _names(names, robot), values.tolist(), half.tolist(), strict=True
            )
        },
    }


def _unknowns(robot: Robot) -> list[tuple[str, str]]:
    """Return (joint, kind) of every unknown, in the order of the columns."""
    return [(joint, kind) for joint in robot.actuators for kind in ('drive', 'back')] + [
        (joint, kind) for joint in robot.joints for kind in ('viscous', 'coulomb')
    ]


def _ticks(robot_file: RobotFile, recording: Recording, settle: float) -> Parts:
    """Return the equations of all ticks of a recording, from a time in s after each impact on."""
    robot, world = robot_file.robot, robot_file.values(World)
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    time, n, count = recording.time, len(robot.coordinates), len(recording.time) - 1
    dt = np.diff(time)
    left, columns = np.zeros((count, n)), np.zeros((count, n, len(_unknowns(robot))))
    clear, step, held = np.zeros(count, bool), np.full(count, -1), np.zeros(count, int)
    for rows in _single_supports(recording, settle):
        foot, a, b = int(recording.support[rows.start]), rows.start, rows.stop - 1
        ticks = slice(a, b)
        joints = support.lift[foot][1:]
        q, v, a_q = _smooth(recording.q[rows], time[rows])
        p, g = _momenta(support, foot, q, v)
        dq, dw = np.diff(q @ joints.T, axis=0), np.diff(v @ joints.T, axis=0)
        w, turning = ((0.5 * (x[1:] + x[:-1])) @ joints.T for x in (v, a_q))
        left[ticks] = np.diff(p, axis=0) - 0.5 * dt[ticks, None] * (g[1:] + g[:-1])
        for i, (joint, motor) in enumerate(robot.actuators.items()):
            j = robot.joint_index(joint)
            effort = recording.effort[ticks, i]
            left[ticks] -= motor.armature * np.outer(dw[:, j], joints[j])
            entering = effort * dt[ticks] - motor.armature * dw[:, j]
            drives = (effort - motor.armature * turning[:, j]) * w[:, j] > 0.0
            columns[ticks, :, 2 * i] = np.outer(np.where(drives, entering, 0.0), joints[j])
            columns[ticks, :, 2 * i + 1] = np.outer(np.where(drives, 0.0, entering), joints[j])
        if robot.ground_torque is not None:
            left[ticks] -= np.outer(
                recording.effort[ticks, -1] * dt[ticks], effort_map(support, foot)[:, -1]
            )
        first = 2 * len(robot.actuators)
        rubbed = np.sign(w) * dt[ticks, None]
        columns[ticks, :, first::2] = -dq[:, None] * joints.T
        columns[ticks, :, first + 1 :: 2] = -rubbed[:, None] * joints.T
        locked = _locked_joints(robot, recording.locked[a])
        mask = [
            sum(1 << c for c in np.flatnonzero(joints[j])) if locked[j] else 0
            for j in range(len(locked))
        ]
        held[ticks] = np.bitwise_or.reduce(mask)
        angles = q[:-1] @ joints.T
        low, high = (
            np.array([getattr(robot.limits[name], side) for name in robot.joints])
            for side in ('lower', 'upper')
        )
        near = (angles < low + AT_STOP) | (angles > high - AT_STOP) | (np.abs(w) < SLOWEST)
        clear[ticks] = ~(near & ~locked).any(axis=1)
        step[ticks] = recording.steps[a]
    return Parts(left, columns, clear, step, held)


def _locked_joints(robot: Robot, engaged: np.ndarray) -> np.ndarray:
    """Return which joints engaged locks hold, ``(n_joints,)``."""
    held = {lock.joint for lock, holds in zip(robot.locks, engaged, strict=True) if holds}
    return np.array([joint in held for joint in robot.joints], bool)


def _momenta(
    support: SupportDynamics, foot: int, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return momenta M v and their rates without efforts, C^T v - gradient, ``(T, n)`` each."""
    p, g, out, eps = np.zeros(q.shape), np.zeros(q.shape), np.zeros(support.layout.size), 1e-6
    for row in range(len(q)):
        ahead, behind, here = (
            support.layout.split(support.terms(foot, q[row] + way * v[row], v[row], out).copy())
            for way in (eps, -eps, 0.0)
        )
        change = (ahead['mass'] - behind['mass'])[2:, 2:] / (2.0 * eps)
        p[row] = here['mass'][2:, 2:] @ v[row]
        g[row] = change @ v[row] - here['bias'][2:]
    return p, g


def _single_supports(recording: Recording, settle: float) -> Iterator[slice]:
    """Yield the rows of each stretch on one foot in which no lock changes, settled."""
    stance = np.arange(recording.contact.shape[1]) == recording.support[:, None]
    good = (recording.contact == stance).all(axis=1)
    same = np.column_stack((recording.support, recording.steps, good, recording.locked))
    bounds = [
        0,
        *(1 + np.flatnonzero((np.diff(same.astype(int), axis=0) != 0).any(axis=1))),
        len(recording.time),
    ]
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        if good[a]:
            a = int(np.searchsorted(recording.time, recording.time[a] + settle))
            if b - 1 - a >= 8:
                yield slice(a, b - 1)  # an event may have come within the last tick


def _smooth(q: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return angles, rates and accelerations from fits to angles: rates may come from a filter."""
    from scipy.signal import savgol_filter

    dt = float(np.median(np.diff(time)))
    length = min(2 * round(0.5 * max(SMOOTH / dt, 4.0)) + 1, (len(time) - 1) // 2 * 2 + 1)
    smooth = [savgol_filter(q, length, 4, deriv=order, delta=dt, axis=0) for order in range(3)]
    return smooth[0], smooth[1], smooth[2]


class Window(NamedTuple):
    """One weighted sum of equations.

    Attributes:
        left: ``(m,)``, m coordinates that no lock holds.
        columns: ``(m, n_unknowns)``.
        step: Which step.
        held: See `Parts`.
    """

    left: np.ndarray
    columns: np.ndarray
    step: int
    held: int


def _windows(parts: Parts, time: np.ndarray, length: float) -> Iterator[Window]:
    """Yield the sums over windows of about a length in s, none over another."""
    n = parts.left.shape[1]
    ticks = max(4, round(length / float(np.median(np.diff(time)))))
    usable = (parts.step >= 0) & parts.clear
    key = np.column_stack((usable, parts.step, parts.held))
    bounds = [
        0,
        *(1 + np.flatnonzero((np.diff(key.astype(int), axis=0) != 0).any(axis=1))),
        len(key),
    ]
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        pieces = (b - a) // ticks
        if not usable[a] or not pieces:
            continue
        free = [c for c in range(n) if not int(parts.held[a]) >> c & 1]
        edges = np.linspace(a, b, pieces + 1).astype(int)
        for first, last in zip(edges[:-1], edges[1:], strict=True):
            weight = np.sin(np.pi * (np.arange(last - first) + 0.5) / (last - first)) ** 2
            yield Window(
                weight @ parts.left[first:last, free],
                np.tensordot(weight, parts.columns[first:last][:, free], 1),
                int(parts.step[a]),
                int(parts.held[a]),
            )


class Fit(NamedTuple):
    """Values of the unknowns.

    Attributes:
        value: ``(n_unknowns,)``; NaN where nothing was seen of it.
        covariance: ``(n_unknowns, n_unknowns)``.
        reach: What each unknown would be if it alone made all torque of its coordinates.
        condition: Of the weighted equations, columns of unit length.
        steps: Number of steps.
        windows: Number of windows.
    """

    value: np.ndarray
    covariance: np.ndarray
    reach: np.ndarray
    condition: float
    steps: int
    windows: int


def _fit(windows: list[Window], names: list[tuple[str, str]], robot: Robot) -> Fit:
    """Return the `Fit` of windows.

    Raises:
        InvalidInput: They do not tell the unknowns apart.
    """
    steps = sorted({window.step for window in windows})
    require(
        len(steps) >= FEWEST,
        'excitation of the run',
        value=len(steps),
        limit='must show at least '
        f'{FEWEST} steps in which '
        f'{" and ".join(robot.actuators) or "every joint"} moves faster than '
        f'{SLOWEST:g} rad/s, away from its stops and clear of impacts',
        remedy='record a longer walk, by steps',
    )
    seen = _seen(windows, names, robot)
    whiten = {held: np.eye(len(group[0].left)) for held, group in _groups(windows).items()}
    for _ in range(3):
        rows = [
            (whiten[window.held] @ window.columns[:, seen], whiten[window.held] @ window.left)
            for window in windows
        ]
        A, y = np.vstack([row for row, _ in rows]), np.concatenate([left for _, left in rows])
        size = np.linalg.norm(A, axis=0)
        solved, _, _, singular = np.linalg.lstsq(A / size, y, rcond=None)
        _check_condition(A / size, singular, [names[i] for i in np.flatnonzero(seen)])
        value = solved / size
        for held, group in _groups(windows).items():
            residuals = np.array(
                [window.left - window.columns[:, seen] @ value for window in group]
            )
            m = residuals.shape[1]
            scatter = residuals.T @ residuals / len(group)
            # a few windows tell no covariance, and none is known to better than rounding
            scatter += np.diag(np.diag(scatter)) * min(1.0, m / len(group)) + 1e-24 * np.eye(m)
            whiten[held] = np.linalg.inv(np.linalg.cholesky(scatter))
    bread = np.linalg.inv(A.T @ A)
    meat = np.zeros_like(bread)
    for step in steps:
        score = sum(
            row.T @ (left - row @ value)
            for (row, left), window in zip(rows, windows, strict=True)
            if window.step == step
        )
        meat += np.outer(score, score)
    full, covariance = np.full(len(names), np.nan), np.full((len(names),) * 2, np.nan)
    full[seen] = value
    covariance[np.ix_(seen, seen)] = bread @ meat @ bread * len(steps) / (len(steps) - 1)
    return Fit(
        full,
        covariance,
        _reach(windows, len(names)),
        float(singular[0] / singular[-1]),
        len(steps),
        len(windows),
    )


def _reach(windows: list[Window], count: int) -> np.ndarray:
    """Return `Fit.reach`: root mean square of the left side over that of each column."""
    torque, column = np.zeros(count), np.zeros(count)
    for window in windows:
        acts = (window.columns != 0.0).astype(float)
        torque += window.left**2 @ acts
        column += (window.columns**2).sum(axis=0)
    return np.sqrt(torque / np.maximum(column, 1e-300))


def _groups(windows: list[Window]) -> dict[int, list[Window]]:
    """Return the windows by the coordinates that locks hold."""
    groups: dict[int, list[Window]] = {}
    for window in windows:
        groups.setdefault(window.held, []).append(window)
    return groups


def _seen(windows: list[Window], names: list[tuple[str, str]], robot: Robot) -> np.ndarray:
    """Return which unknowns the windows show: in enough steps, to a twentieth of the most."""
    size = np.array([np.linalg.norm(window.columns, axis=0) for window in windows])
    large = size > 0.05 * size.max(axis=0)
    steps = np.array([window.step for window in windows])
    least = max(FEWEST // 2, len(set(steps)) // 10)
    enough = [len(set(steps[shown])) >= least for shown in large.T]
    seen: np.ndarray = np.array(enough) & (size.max(axis=0) > 0.0)
    for joint in robot.actuators:
        require(
            seen[names.index((joint, 'drive'))],
            'excitation of the run',
            value=joint,
            limit='gets too little torque from its motor',
            remedy='record a walk in which the motor works',
        )
    return seen


def _check_condition(A: np.ndarray, singular: np.ndarray, names: list[tuple[str, str]]) -> None:
    """Refuse equations that some mixture of the unknowns does not change."""
    condition = float(singular[0] / max(singular[-1], 1e-300))
    if condition > WORST_CONDITION:
        mixture = np.abs(np.linalg.svd(A, full_matrices=False)[2][-1])
        worst = [f'{names[i][0]} {names[i][1]}' for i in np.argsort(-mixture)[:2]]
        raise InvalidInput(
            'excitation of the run',
            value=f'condition {condition:.3g}',
            limit=f'must be at most {WORST_CONDITION:g}: it does not tell '
            f'{worst[0]} from {worst[1]}',
            remedy='record walks of several speeds, or steps with pushes',
        )


def _names(names: list[tuple[str, str]], robot: Robot) -> list[str]:
    """Return the names of what is reported, in the order of `_constants`."""
    motors = [
        f'{joint}.{kind}'
        for joint in robot.actuators
        for kind in ('torque_constant', 'efficiency', 'driving_gain')
    ]
    return motors + [f'{joint}.{kind}' for joint, kind in names if kind in ('viscous', 'coulomb')]


def _constants(
    value: np.ndarray, names: list[tuple[str, str]], robot: Robot
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is reported and its derivative by the unknowns."""
    values, rows = [], []
    for i, motor in enumerate(robot.actuators.values()):
        drive, back = value[2 * i], value[2 * i + 1]
        if not drive * back > 0.0:
            back = np.nan
        for constant, by_drive, by_back in (
            (motor.torque_constant * np.sqrt(drive * back), 0.5 / drive, 0.5 / back),
            (np.sqrt(drive / back), 0.5 / drive, -0.5 / back),
            (drive, 1.0 / drive, 0.0),
        ):
            row = np.zeros(len(names))
            row[2 * i], row[2 * i + 1] = constant * by_drive, constant * by_back
            values.append(constant)
            rows.append(row)
    first = 2 * len(robot.actuators)
    return np.concatenate((values, value[first:])), np.vstack((*rows, np.eye(len(names))[first:]))


def _nominal(robot: Robot, name: str) -> dict[str, Any]:
    """Return unit and value in the robot file of what is reported."""
    joint, _, kind = name.rpartition('.')
    units = {'torque_constant': 'N m/A', 'viscous': 'N m s/rad', 'coulomb': 'N m'}
    if kind in ('viscous', 'coulomb'):
        place: Any = robot.friction.get(joint, JointFriction(0.0, 0.0))
    else:
        place = robot.actuators[joint]
    written = getattr(place, 'efficiency' if kind == 'driving_gain' else kind)
    return {'unit': units.get(kind, '1'), 'robot_file': written}
