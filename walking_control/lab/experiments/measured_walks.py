# SPDX-License-Identifier: Apache-2.0
"""Walks as they were measured: sets in the format of EUROBENCH, and runs of our own [EB21]."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput, require
from walking_control.lab.adoption import read_lua, urdf_of_lua
from walking_control.models import check_urdf, Dynamics, read_yaml, Robot
from walking_control.runs import joint_unit, read_columns, sole_corners, Walk

Body = tuple[Any, tuple[int, ...], np.ndarray, np.ndarray]
WRENCH = [f'{what}_{axis}' for what in ('force', 'torque') for axis in 'xyz']
AXES = ['tx', 'ty', 'tz', 'rx', 'ry', 'rz']  # of the six joints that move a base
JOINTS = [getattr(pin, f'JointModel{kind}{axis}') for kind in 'PR' for axis in 'XYZ']
SMOOTH = {'vel': 0.15, 'acc': 0.5}  # s: over which cubics tell them from positions
AGREES = 0.3  # of its norm: a rate that is further from that of the positions is not believed
LOADED = 0.05  # of the weight: a foot that bears more stands
SHORTEST = 0.2  # s: a step that is shorter is a flicker of the loads
GAP = 5.0  # usual steps of time: a longer one is a piece cut out


def read_body(path: Path) -> tuple[Body, list[str]]:
    """Return what a robot.yaml of EUROBENCH and its model tell, and the columns of the base.

    Returns:
        The first four fields of a `Walk`, and the names of six columns.

    Raises:
        InvalidInput: One of them cannot be read, or they contradict each other.
    """
    told = read_yaml(path, f'robot {path}')
    try:
        lua, base = path.parent / told['robotmodel'], [str(column) for column in told['base_link']]
        soles = np.array([told['sole_shape_l'], told['sole_shape_r']], float)
        points = np.array([told['sole_pos']] * 2, float)
        gravity = np.array(told['gravity'], float).reshape(3)
        names = [str(told[name]) for name in ('foot_l', 'foot_r', 'torso_link')]
        root, axes = pin.JointModelComposite(), [AXES.index(column[-2:]) for column in base]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f'robot {path}', value=str(error), limit='is missing or wrong for a robot of EUROBENCH'
        ) from error
    for axis in axes:
        root.addJoint(JOINTS[axis]())
    urdf = urdf_of_lua(lua)
    check_urdf(urdf, lua)
    model = pin.buildModelFromXML(urdf, root)
    model.gravity.linear = gravity
    top = next(frame for frame in read_lua(lua)['frames'] if frame['parent'] == 'ROOT')
    joints = [[*row[3:], *row[:3]] for row in top.get('joint', ()) if isinstance(row, list)]
    lost = [name for name in names if not model.existFrame(name)]
    moved = base[:1] == [f'{top["name"]}_tx'] and np.array_equal(joints, np.eye(6)[axes])
    require(
        not lost and moved and gravity.any(),
        f'model {lua}, root {top["name"]}',
        value=lost[0] if lost else f'{len(joints)} joints',
        limit=f'contradicts {path}: base_link {", ".join(base)}; {", ".join(names)}',
        remedy='give the model with which the walks were recorded',
    )
    left, right, trunk = (model.getFrameId(name) for name in names)
    return (model, (left, right, trunk), soles, points), base


def read_walk(
    folder: Path, body: Body, base: Sequence[str], mend: bool = True
) -> tuple[Walk, list[str]]:
    """Return a walk in files pos, vel, acc, trq, ftl and ftr (.csv or .csv.gz), and remarks.

    Only pos must be there, and either gaitEvents.yaml or the loads, ftl and ftr.

    Args:
        folder: Of the walk.
        body: What `read_body` tells of who walked.
        base: Columns of its base.
        mend: Whether rates that contradict the positions are taken from these instead.

    Raises:
        InvalidInput: A file, column or number is missing, or they contradict each other.
    """
    from scipy.ndimage import median_filter  # these take a second to import
    from scipy.signal import savgol_filter

    columns = [*base, *body[0].names[2:]]
    time, place = _table(folder, 'pos', columns, None)
    dt, motion, remarks = float(np.median(np.diff(time))), [place], []
    for order, (kind, span) in enumerate(SMOOTH.items(), 1):
        window = min(2 * round(0.5 * span / dt) + 1, (len(time) - 1) // 2 * 2 + 1)
        told = _table(folder, kind, columns, time)[1]
        ours = savgol_filter(place, max(window, 5), 3, deriv=order, delta=dt, axis=0)
        off = np.linalg.norm(told - ours) / max(float(np.linalg.norm(ours)), 1e-9)
        kept = off < AGREES or (not mend and np.isfinite(off))
        motion.append(told if kept else ours)
        if not kept:
            words = f'off by {off:.0%} from what pos does' if np.isfinite(off) else 'not told'
            remarks.append(f'{kind}: {words}, so taken from pos')
    efforts = _table(folder, 'trq', columns, time)[1]
    loads = np.stack([_table(folder, kind, WRENCH, time)[1] for kind in ('ftl', 'ftr')], axis=1)
    events = folder / 'gaitEvents.yaml'
    if events.is_file():
        contact = _contact(events, time)
    elif np.isfinite(loads).all():
        weight = float(pin.computeTotalMass(body[0]) * np.linalg.norm(body[0].gravity.linear))
        rows = 2 * round(0.5 * SHORTEST / dt) + 1
        contact = median_filter(loads[:, :, 2] > LOADED * weight, (rows, 1))
        remarks.append(f'no gaitEvents.yaml: who bears {LOADED:.0%} of the weight stands')
    else:
        raise InvalidInput(
            f'walk {folder}', limit='needs gaitEvents.yaml, or ftl and ftr: which foot stands?'
        )
    _, v, a = motion
    return Walk(*body, time, place, v, a, contact, loads, efforts), remarks


def _table(
    folder: Path, kind: str, columns: Sequence[str], time: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return time and columns of a file of a walk; NaN where there is none but the first."""
    path = folder / f'{kind}.csv.gz'
    path = path if path.is_file() else path.with_suffix('')
    if time is not None and not path.is_file():
        return time, np.full((len(time), len(columns)), np.nan)
    held = read_columns(path)
    require(
        not (lost := [name for name in ('time', *columns) if name not in held]),
        f'walk {path}',
        value=', '.join(lost[:3]),
        limit=f'missing among its {len(held)} columns ({", ".join(list(held)[:4])} ...)',
    )
    values = np.column_stack([held[name] for name in ('time', *columns)])
    for row, column in np.argwhere(~np.isfinite(values)):
        raise InvalidInput(
            f'walk {path}, line {row + 2}, column {("time", *columns)[column]}',
            value=float(values[row, column]),
            limit='must be a finite number',
        )
    stamps, steps = values[:, 0], np.diff(values[:, 0])
    usual = float(np.median(steps)) if len(steps) > 8 else 0.0
    odd = np.flatnonzero((steps <= 0.0) | (steps > GAP * usual))
    apart = time is not None and (
        len(time) != len(stamps) or np.abs(time - stamps).max() > 0.5 * usual
    )
    require(
        usual > 0.0 and not len(odd) and not apart,
        f'walk {path}' + (f', line {odd[0] + 3}' if len(odd) else ''),
        value=f'{len(stamps)} rows until {stamps[-1]:.2f} s',
        limit='must be ten rows at least, each soon after the one before, as pos has them',
        remedy='is the run cut?',
    )
    return stamps, values[:, 1:]


def _contact(path: Path, time: np.ndarray) -> np.ndarray:
    """Return which foot stands by its heel strikes and toe offs, which take turns, ``(T, 2)``."""
    told, contact = read_yaml(path, f'gait events {path}'), np.zeros((len(time), 2), bool)
    for foot, side in enumerate('lr'):
        try:
            listed = [
                [(float(at), event == 'heel_strike') for at in told[f'{side}_{event}']]
                for event in ('heel_strike', 'toe_off')
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                f'gait events {path}',
                value=str(error),
                limit='l_ and r_, heel_strike and toe_off, must each list times in s',
            ) from error
        events = sorted(listed[0] + listed[1])
        times, lands = np.array(events).reshape(-1, 2).T
        late = [at for at, _ in events if not time[0] - 0.1 <= at <= time[-1] + 0.1]
        require(
            not late
            and events
            and not (np.diff(lands) == 0.0).any()
            and listed == list(map(sorted, listed)),
            f'gait events {path}, {side}_heel_strike and {side}_toe_off',
            value=f'{late[0]} s' if late else 'out of order',
            limit=f'must take turns from {time[0]:.2f} to {time[-1]:.2f} s',
            remedy='are they of another run, or is the run cut?',
        )
        stands = np.append(1.0 - lands[0], lands)
        begun = np.searchsorted(np.searchsorted(time, times), np.arange(len(time)), 'right')
        contact[:, foot] = stands[begun] > 0.5
    return contact


def walk_of_run(pick: Callable[..., np.ndarray], robot: Robot) -> Walk:
    """Return the `Walk` in the table of a run of our own.

    Args:
        pick: Returns columns by their headers, see `pick_columns`.
        robot: The `Robot` that walked.

    Raises:
        InvalidInput: It does not walk in space on two feet, or does nothing.
    """
    require(
        robot.is_free and len(robot.feet) == 2,
        f'robot {robot.name}',
        limit='indicators are of robots in space on two feet',
    )
    dynamics, time = Dynamics(robot), pick('time [s]')[:, 0]
    require(
        len(time) >= 3 and not (np.diff(time) <= 0.0).any(),
        f'run of {robot.name}',
        value=f'{len(time)} rows',
        limit='must be three rows at least, each after the one before',
    )
    place = pick(*(f'{axis} [m]' for axis in 'xyz'), *(f'quaternion_{axis} [1]' for axis in 'xyzw'))
    joints = [(joint, joint_unit(robot, joint)) for joint in robot.joints]
    q = np.hstack((place, pick(*(f'{joint} [{unit}]' for joint, unit in joints))))
    v = pick(
        *(f'{axis}_rate [m/s]' for axis in 'xyz'),
        *(f'angular_velocity_{axis} [rad/s]' for axis in 'xyz'),
        *(f'{joint}_rate [{unit}/s]' for joint, unit in joints),
    )
    turns = np.array([pin.Quaternion(row).matrix() for row in place[:, 3:]])
    v[:, :3] = np.einsum('tji,tj->ti', turns, v[:, :3])
    q = np.array([dynamics.to_pinocchio(row).copy() for row in q])
    v = np.array([dynamics.to_pinocchio_velocity(row).copy() for row in v])
    loads = np.full((len(time), 2, 6), np.nan)
    for i, foot in enumerate(robot.feet):
        loads[:, i, :3] = pick(*(f'{foot}_force_{axis} [N]' for axis in 'xyz'))
    soles = np.array([sole_corners(robot.urdf, foot) for foot in robot.feet])
    frames = (*dynamics.frames.values(), dynamics.frame(robot.base_link))
    return Walk(
        dynamics.model,
        frames,
        soles,
        soles.mean(axis=1),
        time,
        q,
        v,
        np.gradient(v, time, axis=0),
        pick(*(f'{foot}_contact [bool]' for foot in robot.feet)) > 0.5,
        loads,
        np.full(v.shape, np.nan),
    )
