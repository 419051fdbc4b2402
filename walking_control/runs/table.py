# SPDX-License-Identifier: Apache-2.0
"""A run as a table of plain numbers, one row a tick, units in the header."""

import csv

import numpy as np

# base coordinates of the plant's truth and their rates: name, unit
_PLANAR = ([('x', 'm'), ('z', 'm'), ('pitch', 'rad')],
           [('x_rate', 'm/s'), ('z_rate', 'm/s'), ('pitch_rate', 'rad/s')])
_SPATIAL = ([*((axis, 'm') for axis in 'xyz'), *((f'quaternion_{axis}', '1') for axis in 'xyzw')],
            [*((f'{axis}_rate', 'm/s') for axis in 'xyz'),
             *((f'angular_velocity_{axis}', 'rad/s') for axis in 'xyz')])

def run_columns(run):
    """Return the table of a run.

    Args:
        run: The `Run`.

    Returns:
        header -> ``(T,)``, the header being ``name [unit]``. Base and joints are the plant's
        truth in the floor frame; minimal coordinates and support are the estimator's. Of a robot
        in space the angular velocity is in base axes. What the controller said of each tick
        comes last, its name in front.
    """
    robot = run.robot
    columns = {'time [s]': run.time}
    places, rates = _PLANAR if robot.planar else _SPATIAL
    joints = [(joint, _joint_unit(robot, joint)) for joint in robot.joints]
    for i, (name, unit) in enumerate([*places, *joints]):
        columns[f'{name} [{unit}]'] = run.q[:, i]
    for i, (name, unit) in enumerate([*rates, *((f'{name}_rate', f'{unit}/s')
                                                for name, unit in joints)]):
        columns[f'{name} [{unit}]'] = run.v[:, i]
    for i, name in enumerate(robot.coordinates):
        columns[f'{name} [rad]'] = run.coordinates[:, i]
        columns[f'{name}_rate [rad/s]'] = run.rates[:, i]
    columns['support [index of foot]'] = run.support
    columns['steps [1]'] = run.steps
    for i, foot in enumerate(robot.feet):
        columns[f'{foot}_contact [bool]'] = run.contact[:, i].astype(int)
        for axis, direction in enumerate('xyz'):
            columns[f'{foot}_force_{direction} [N]'] = run.foot_force[:, i, axis]
    for i, lock in enumerate(robot.locks):
        columns[f'{lock.joint}_locked [bool]'] = run.locked[:, i].astype(int)
    for i, (joint, motor) in enumerate(robot.actuators.items()):
        unit = 'N' if _joint_unit(robot, joint) == 'm' else 'N m'
        columns[f'{joint}_effort [{unit}]'] = run.effort[:, i]
        if motor.resistance > 0.0:
            columns[f'{joint}_current [A]'] = motor.current(run.effort[:, i])
        columns[f'{joint}_work [J]'] = run.work[:, i]
    columns['electrical_energy [J]'] = run.electrical_energy
    for name, values in run.telemetry.items():
        # a law may say the same word as the robot, such as the current of its motor
        columns[f'{run.controller}_{name} [{run.units[name]}]'] = values
    return columns


def write_run_table(run, path):
    """Write the table of a run as CSV, numbers with nine significant digits."""
    columns = run_columns(run)
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True):
            writer.writerow([f'{value:.9g}' for value in row])


def _joint_unit(robot, joint):
    return 'm' if robot.limits[joint].kind == 'prismatic' else 'rad'
