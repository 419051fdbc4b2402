# SPDX-License-Identifier: Apache-2.0
"""A set of measured walks in the format of EUROBENCH, small and made up: a box on two soles."""

import numpy as np
import yaml

BASE = [f'box_link_{axis}' for axis in ('tx', 'ty', 'tz', 'rz', 'ry', 'rx')]
JOINTS = ['left_joint', 'right_joint', 'head_joint']
WRENCH = [f'{what}_{axis}' for what in ('force', 'torque') for axis in 'xyz']
MASS = 12.0
MODEL = """-- a box of 10 kg, and a kilogram at each foot
model = {
gravity = {0, 0, -9.81},
frames = {
{ name = "box_link", parent = "ROOT",
  body = { mass = 10.0, com = {0, 0, 0.1}, inertia = {{0.2, 0, 0}, {0, 0.3, 0}, {0, 0, 0.1}} },
  joint = { {0,0,0,1,0,0}, {0,0,0,0,1,0}, {0,0,0,0,0,1},
            {0,0,1,0,0,0}, {0,1,0,0,0,0}, {1,0,0,0,0,0} } },
{ name = "left_link", parent = "box_link",
  body = { mass = 1.0, com = {0, 0, 0}, inertia = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}} },
  joint = { {0, 0, 1, 0, 0, 0} },
  joint_frame = { r = {0, 0.1, -0.5}, E = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}} } },
{ name = "right_link", parent = "box_link",
  body = { mass = 0.5, com = {0, 0, 0}, inertia = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}} },
  joint = { {1, 0, 0, 0, 0, 0} }, joint_frame = { r = {0, -0.1, -0.5} } },
{ name = "head_link", parent = "box_link",
  body = { mass = 0.5, com = {0, 0, 0}, inertia = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}} },
  joint = { {0, 0, 0, 0, 0, 1} }, joint_frame = { r = {0, 0, 0.3} } },
}}
return model
"""
ROBOT = {
    'robotmodel': 'box.lua',
    'base_link': BASE,
    'gravity': [0.0, 0.0, -9.81],
    'foot_l': 'left_joint',
    'foot_r': 'right_joint',
    'torso_link': 'head_joint',
    'sole_shape_l': [[0.0, y, z] for y in (-0.05, 0.05) for z in (-0.1, 0.1)],
    'sole_shape_r': [[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)],
    'sole_pos': [0.0, 0.0, 0.0],
}
EVENTS = {
    'l_heel_strike': [0.0, 1.0, 1.8],
    'l_toe_off': [0.8, 1.6],
    'r_heel_strike': [0.0, 0.6, 1.4, 2.2],
    'r_toe_off': [0.4, 1.2, 2.0],
}


def write_set(folder):
    """Write a walk of 2.6 s at 50 Hz and its robot into a folder, and return that of the walk."""
    time = np.arange(131) / 50.0
    place = np.zeros((len(time), 9))
    place[:, 0], place[:, 1] = 0.3 * time, 0.02 * np.sin(2.0 * np.pi * time / 0.8)
    place[:, 2], place[:, 6] = 0.5, 0.2 * np.sin(2.0 * np.pi * time)
    rate, change = np.gradient(place, time, axis=0), np.zeros(place.shape)
    change[:, 1] = -((2.0 * np.pi / 0.8) ** 2) * place[:, 1]
    change[:, 6] = -((2.0 * np.pi) ** 2) * place[:, 6]
    load = np.zeros((len(time), 6))
    load[:, 2] = 0.5 * MASS * 9.81
    (folder / 'box.lua').write_text(MODEL, encoding='utf-8')
    (folder / 'robot.yaml').write_text(yaml.safe_dump(ROBOT), encoding='utf-8')
    walk = folder / 'runs' / 'one'
    walk.mkdir(parents=True)
    (walk / 'gaitEvents.yaml').write_text(yaml.safe_dump(EVENTS), encoding='utf-8')
    motion = {'pos': place, 'vel': rate, 'acc': change, 'trq': 0.0 * place}
    for name, values in {**motion, 'ftl': load, 'ftr': load}.items():
        columns = ['time', *(WRENCH if values is load else [*BASE, *JOINTS])]
        lines = [';'.join(columns)]
        lines += [';'.join(f'{x:.9g}' for x in row) for row in np.column_stack((time, values))]
        (walk / f'{name}.csv').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return walk
