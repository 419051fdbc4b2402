# SPDX-License-Identifier: Apache-2.0
"""A run as a table of plain numbers, one row a tick, units in the header."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from walking_control.models.robot import Robot
    from walking_control.runs.run import Run


def run_columns(run: Run) -> dict[str, np.ndarray]:
    """Return the table of a run.

    Returns:
        header -> ``(T,)``, the header being ``name [unit]``. Base and joints are the plant's
        truth in the floor frame, the angular velocity in base axes; minimal coordinates and
        support are the estimator's. What the controller said of each tick comes last, its name in
        front.
    """
    robot = run.robot
    columns = {'time [s]': run.time}
    base, joints = run.base, [(joint, _joint_unit(robot, joint)) for joint in robot.joints]
    columns.update((f'{axis} [m]', base.position[:, i]) for i, axis in enumerate('xyz'))
    columns.update((f'quaternion_{axis} [1]', base.orientation[:, i])
                   for i, axis in enumerate('xyzw'))
    columns['pitch [rad]'] = run.q[:, 2] if robot.is_planar else np.asarray(base.pitch)
    columns.update((f'{joint} [{unit}]', run.joints[:, i])
                   for i, (joint, unit) in enumerate(joints))
    columns.update((f'{axis}_rate [m/s]', base.linear[:, i]) for i, axis in enumerate('xyz'))
    columns.update((f'angular_velocity_{axis} [rad/s]', base.angular[:, i])
                   for i, axis in enumerate('xyz'))
    columns['pitch_rate [rad/s]'] = base.angular[:, 1]
    columns.update((f'{joint}_rate [{unit}/s]', run.v[:, robot.base.nv + i])
                   for i, (joint, unit) in enumerate(joints))
    for i, name in enumerate(robot.coordinates):
        columns[f'{name} [rad]'] = run.coordinates[:, i]
        columns[f'{name}_rate [rad/s]'] = run.rates[:, i]
    columns['support [index of foot]'] = run.support
    columns['steps [1]'] = run.steps
    for i, foot in enumerate(robot.feet):
        columns[f'{foot}_contact [bool]'] = run.contact[:, i].astype(int)
        for axis, direction in enumerate('xyz'):
            columns[f'{foot}_force_{direction} [N]'] = run.foot_force[:, i, axis]
        if 'foot_height' in run.columns:
            columns[f'{foot}_height [m]'] = run.foot_height[:, i]
    for i, lock in enumerate(robot.locks):
        columns[f'{lock.joint}_locked [bool]'] = run.locked[:, i].astype(int)
    for i, (joint, motor) in enumerate(robot.actuators.items()):
        unit = 'N' if _joint_unit(robot, joint) == 'm' else 'N m'
        columns[f'{joint}_effort [{unit}]'] = run.effort[:, i]
        if motor.resistance > 0.0:
            columns[f'{joint}_current [A]'] = motor.current(run.effort[:, i])
        columns[f'{joint}_work [J]'] = run.work[:, i]
    if robot.ground_torque is not None:
        columns['ground_torque_effort [N m]'] = run.effort[:, -1]
        columns['ground_torque_work [J]'] = run.work[:, -1]
    columns['electrical_energy [J]'] = run.electrical_energy
    for name, values in run.telemetry.items():
        # a law may say the same word as the robot, such as the current of its motor
        columns[f'{run.controller}_{name} [{run.units[name]}]'] = values
    return columns


def write_run_table(run: Run, path: Path | str) -> None:
    """Write the table of a run as CSV, numbers with nine significant digits."""
    columns = run_columns(run)
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True):
            writer.writerow([f'{value:.9g}' for value in row])


def _joint_unit(robot: Robot, joint: str) -> str:
    return 'm' if robot.limits[joint].kind == 'prismatic' else 'rad'
