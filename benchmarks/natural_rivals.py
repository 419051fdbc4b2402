# SPDX-License-Identifier: Apache-2.0
"""Walk one robot by natural_walking, by stepping and by a learned policy: one plant, one formula.

    python benchmarks/natural_rivals.py ROBOT.yaml --family FAMILY.yaml
        [--policy POLICY.onnx --policy-config NAME] [--laws natural_walking,policy]
        [--speeds 0.3,0.5,0.8,1.0] [--on level,ramp=8,tiles=0.03,mu=0.4,told] [--seeds 1]

ROBOT.yaml is an adopted robot, or one that bring-up writes. Each walks `--duration` seconds in
MuJoCo, from standing; figures are of whole strides in its second half: speed, positive work of all
motors over weight and way, and the integral of the squared efforts of all motors over the way,
(N m)^2 s/m. Where a robot falls, or a fault ends the walk, the row says when and why.

It walks on a level floor in true state, or on ramp=DEGREES (uphill positive, from 0.6 m on),
cross=DEGREES (under each foot from its first swing beyond 0.5 m on), tiles=HEIGHT (m), mu=FRICTION
(of the floor; nobody is told), lab (the noise of a laboratory), or told (that, and 10 ms of delay
that our laws know; a policy cannot be told).
"""

import argparse
from contextlib import nullcontext
import math

from natural_walking import DELAY, edges, leaning

from walking_control.cli.verb import numbers, setting
from walking_control.exceptions import WalkingControlError
from walking_control.loading import load_robot
from walking_control.models.resources import policy_path
from walking_control.runs.metrics import summarize
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

LAWS = 'natural_walking', 'stepping', 'policy'


def settings(given, law, speed):
    """Return overrides that make a law walk at a speed."""
    pairs = [('controller', law), (f'{law}.speed', speed)]
    if law == 'policy':
        config = given.policy_config and str(policy_path(given.policy_config))
        return [*pairs, ('policy.file', given.policy), ('policy.config', config)]
    if law == 'natural_walking' and given.family:
        pairs.append(('natural_walking.gait', given.family))
    return [*pairs, (f'{law}.speed_limit', 1.03 * max(speed, *given.speeds))]


def conditions(given, law, words, seed):
    """Return overrides, disturbances and the lean across of what is walked on."""
    kind, _, value = words.partition('=')
    size, sets = float(value or 0.0), [('sensors.seed', seed)]
    if kind in ('lab', 'told'):
        sets += noise_overrides('lab')
    if kind == 'told':
        sets.append(('sensors.command_delay', DELAY))
        sets += [(f'{law}.delay', DELAY)] if law != 'policy' else []
    if kind == 'mu':
        sets.append(('world.friction', size))
    if kind == 'ramp':
        return sets, [f'slope_change={-math.radians(size):.6f}@0.6m'], 0.0
    if kind == 'cross':
        return sets, ['step_up=0.0000001@1'], math.radians(size)
    return sets, edges('tiles', size, seed) if kind == 'tiles' else [], 0.0


def walk(given, law, speed, words, seed):
    """Return what to print of a walk."""
    sets, disturb, lean = conditions(given, law, words, seed)
    robot_file = load_robot(given.robot, [*settings(given, law, speed), *sets, *given.set])
    with leaning(lean) if lean else nullcontext():
        run = simulate(robot_file, duration=given.duration, disturb=disturb)
    summary = summarize(run)
    if summary.fell or summary.fault:
        return f'{summary.duration:.1f} s: {summary.fall_reason or summary.fault_reason} | | | |'
    steady, share = summary.steady, summary.on_gait
    if steady.speed is None:
        return (
            f'{summary.duration:g} s: too short for a steady part, ask for more --duration | | | |'
        )
    return (
        f'{summary.duration:g} s | {steady.speed:.3f} | {steady.cost_of_transport_positive:.3f} | '
        f'{steady.squared_effort:.0f} | {"" if share is None else f"{share:.2f}"} |'
    )


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    parser.add_argument('robot')
    parser.add_argument('--family')
    parser.add_argument('--policy')
    parser.add_argument('--policy-config', default='')
    parser.add_argument('--laws', type=lambda text: text.split(','))
    parser.add_argument('--speeds', type=numbers, default=[0.3, 0.5, 0.8, 1.0], help='m/s')
    parser.add_argument('--on', type=lambda text: text.split(','), default=['level'])
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--duration', type=float, default=20.0, help='s')
    parser.add_argument('--set', action='append', default=[], type=setting, metavar='NAME=VALUE')
    given = parser.parse_args()
    laws = given.laws or LAWS[: None if given.policy else 2]
    print('| on | law | asked, m/s | walked | m/s | positive cost | N²m² s/m | on the gait |')
    print('|---|---|---|---|---|---|---|---|')
    for words in given.on:
        for law in laws:
            for speed in given.speeds:
                for seed in range(given.seeds):
                    try:
                        told = walk(given, law, speed, words, seed)
                    except WalkingControlError as error:
                        parser.error(str(error))
                    print(f'| {words} | {law} | {speed:g} | {told}', flush=True)


if __name__ == '__main__':
    main()
