# SPDX-License-Identifier: Apache-2.0
"""Search a gait of a measured humanoid's own body, and tell what its joints would have to do.

    python benchmarks/humanoid_gait.py FOLDER --out out/humanoid [--speed 0.25] [--step-time S]

FOLDER holds robot.yaml of EUROBENCH and its model in Lua (see humanoid_books.py). The legs walk,
all other joints are fixed at zero; soles are those of robot.yaml, motors ideal up to the torques
given here, with a resistance so small that the search counts next to nothing but work. Printed is
what the searched gait costs by Pinocchio on 400 points: positive work of every joint alone over
weight and distance. It is found, not walked.
"""

import argparse
from pathlib import Path
import re

import numpy as np
import yaml

from walking_control.cli import main as run
from walking_control.gaits.gait_family import GaitFamily
from walking_control.gaits.step_judgement import judge_step
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.guess import Told
from walking_control.lab.adoption.rbdl import urdf_of_lua
from walking_control.loading import load_robot

THICK = 0.02  # m, of a sole
RESISTANCE = 0.001  # ohm at 1 N m/A: 3.6 W at 60 N m
# N m; those that robot.yaml of REEM-C has in a comment
EFFORTS = dict(zip(range(1, 7), (42.7, 64.0, 55.7, 138.3, 80.9, 64.0), strict=True))


def with_soles(urdf, told):
    """Return a URDF with the soles that robot.yaml tells as boxes of its feet."""
    for side in 'lr':
        corners = np.array(told[f'sole_shape_{side}'], float)
        low, high = corners.min(axis=0), corners.max(axis=0)
        flat = int(np.argmin(high - low))
        size, middle = high - low, 0.5 * (low + high)
        size[flat] = THICK
        middle[flat] -= 0.5 * THICK * np.sign(middle[flat])
        box = (
            f'<collision><origin xyz="{" ".join(map(str, middle))}" rpy="0 0 0"/>'
            f'<geometry><box size="{" ".join(map(str, size))}"/></geometry></collision>'
        )
        link = told[f'foot_{side}'].replace('_joint', '_link')
        urdf = re.sub(f'(<link name="{link}">.*?)(</link>)', rf'\1{box}\2', urdf, count=1)
    return urdf


def adopt_legs(folder, out):
    """Write a robot file of the legs, the rest fixed, and return its path."""
    told = yaml.safe_load((folder / 'robot.yaml').read_text(encoding='utf-8'))
    urdf = with_soles(urdf_of_lua(folder / told['robotmodel']), told)
    feet = [told[f'foot_{side}'].replace('_joint', '_link') for side in 'lr']
    path = out / 'described.urdf'
    path.write_text(urdf, encoding='utf-8')
    joints = re.findall(r'<joint name="(\w+)" type="revolute"', urdf)
    legs = [joint for joint in joints if joint.startswith('leg_')]
    efforts = {joint: EFFORTS[int(joint.split('_')[2])] for joint in legs}
    fixed = {joint: 0.0 for joint in joints if joint not in legs}
    adoption = adopt(path, Told(name='legs', feet=tuple(feet), fixed=fixed, efforts=efforts))
    for motor in adoption.parameters['robot']['actuators'].values():
        motor['resistance'] = RESISTANCE
    return adoption.write(out)[0]


def main():
    """Search, judge and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder', type=Path)
    parser.add_argument('--out', type=Path, default=Path('out/humanoid'))
    parser.add_argument('--speed', type=float, default=0.25)
    parser.add_argument('--step-time', type=float)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = adopt_legs(given.folder, given.out)
    words = ['gait', 'search', str(path), '--speed', str(given.speed), '--out', str(given.out)]
    words += [] if given.step_time is None else ['--step-time', str(given.step_time)]
    if run(words):
        raise SystemExit(1)
    robot_file = load_robot(path)
    family = GaitFamily.read(given.out / 'legs_family.yaml', robot_file)
    gait = family.at(given.speed).gait
    found = judge_step(robot_file.robot, gait)
    print(
        f'{given.speed:g} m/s, steps of {found.step[0]:.3f} m in {gait.period:.3f} s, '
        f'{-found.step[1]:.3f} m apart: each joint alone {found.cost_of_transport_each_joint:.3f}, '
        f'joints that give to each other {found.cost_of_transport_electrical:.3f}, of which heat '
        f'{100.0 * found.copper_share:.0f} %; impacts take {found.impact_loss_power:.1f} W, '
        f'largest torque {np.abs(found.effort).max():.0f} N m'
    )


if __name__ == '__main__':
    main()
