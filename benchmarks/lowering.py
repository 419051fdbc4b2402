# SPDX-License-Identifier: Apache-2.0
"""How a robot that is stopped comes to lie: lowered onto its joints' stops, or damped as it stands.

    python benchmarks/lowering.py ROBOT.yaml [--crouch C] [--lean L] [--time T] [--speed 0.3]
        [--noise lab]

All that the robot's description shows meets the floor, not only its feet (plant mujoco, law
stepping). It walks at --speed for a second and is stopped by category 1, lowered by --crouch of
its height within --time (s) while its trunk leans ahead by --lean (rad per share of its height),
as the robot file says where they are left out, and by category 0. A row for each: the peak of the
vertical force that the floor gives to all of it, in weights, how far it leans in the end (degrees)
and how fast its base still moves.
"""

import argparse
import copy
from dataclasses import replace
import math
from xml.etree import ElementTree

import mujoco
import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.safety.faults import EMERGENCY_STOP
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

WALKS, RESTS = 1.0, 5.0  # s before the stop, and after the power has gone


def with_shapes(urdf: str, feet: tuple[str, ...]) -> str:
    """Return a description whose links meet the floor by what they show; feet stay as they are."""
    tree = ElementTree.fromstring(urdf)
    bears = set(feet)
    for joint in tree.findall('joint'):
        if joint.find('child').get('link') in feet:
            bears.add(joint.find('parent').get('link'))
    for link in tree.findall('link'):
        if link.get('name') in bears:
            continue
        for shape in link.findall('collision'):
            link.remove(shape)
        for shown in link.findall('visual'):
            shape = ElementTree.SubElement(link, 'collision')
            shape.extend(copy.deepcopy(part) for part in shown if part.tag != 'material')
    return ElementTree.tostring(tree, encoding='unicode')


def press(engine: object) -> float:
    """Return the vertical force of the floor on all of the robot, N."""
    total, wrench = 0.0, np.zeros(6)
    for number in range(engine.data.ncon):
        mujoco.mj_contactForce(engine.model, engine.data, number, wrench)
        total += float(wrench[:3] @ engine.data.contact[number].frame.reshape(3, 3)[:, 2])
    return abs(total)


def try_stop(robot_file: object, speed: float, lasts: float) -> tuple[float, float, float]:
    """Walk, stop; return the peak force (weights), the lean in the end (degrees) and the speed."""
    robot = robot_file.robot
    robot_file = replace(
        robot_file, robot=replace(robot, urdf=with_shapes(robot.urdf, tuple(robot.feet)))
    )
    plant, loop = make_plant(robot_file, 'mujoco'), ControlLoop(robot_file, 'stepping')
    measurement, weight = Measurement(robot), robot_file.scale.mass * 9.81
    plant.reset(robot_file.start)
    loop.reference.velocity = np.array([speed, 0.0, 0.0])
    peak, stopped = 0.0, False
    while plant.time < WALKS + lasts + RESTS:
        plant.measure(measurement)
        loop.tick(measurement)
        if plant.time >= WALKS and not stopped:
            stopped = True
            loop.stop(EMERGENCY_STOP, 'benchmark', measurement)
        plant.step(loop.command, loop.period)
        peak = max(peak, press(plant.engine) / weight) if stopped else 0.0
    x, y = plant.truth.base.orientation[:2]
    lean = math.degrees(math.acos(max(-1.0, 1.0 - 2.0 * float(x * x + y * y))))
    return peak, lean, float(np.linalg.norm(plant.truth.base.linear))


def main() -> None:
    """Print what became of each stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robot')
    parser.add_argument('--crouch', type=float)
    parser.add_argument('--lean', type=float)
    parser.add_argument('--time', type=float)
    parser.add_argument('--speed', type=float, default=0.3)
    parser.add_argument('--noise', default='lab')
    options = parser.parse_args()
    told = {
        'safety.crouch': options.crouch,
        'safety.lower_time': options.time,
        'stepping.crouch_lean': options.lean,
    }
    for words, category in (('lowered onto its stops', 1), ('damped as it walks', 0)):
        given = [
            ('safety.emergency_stop_category', category),
            *noise_overrides(options.noise),
            *((name, value) for name, value in told.items() if value is not None),
        ]
        robot_file = load_robot(options.robot, given)
        lasts = robot_file.values(SafetyParameters).lower_time if category else 0.0
        peak, lean, speed = try_stop(robot_file, options.speed, lasts)
        print(f'{words}: {peak:.1f} weights, leans {lean:.0f} degrees, {speed:.3f} m/s', flush=True)


if __name__ == '__main__':
    main()
