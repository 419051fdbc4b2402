# SPDX-License-Identifier: Apache-2.0
"""What walks through which drives: `python benchmarks/drives.py`; `--only servo` for one part.

`--gains K D` walks on impedance drives of K times the usual stiffness and D times the damping.

walker3d on plant mujoco with exact sensors, 8 s each. Part `push`: natural_walking at 0.8 m/s,
pushed by 0.8 N s/kg at 4 s in four directions. Part `servo`: stepping at 500 Hz through position
drives, whose joints have a dry friction of a tenth of the largest effort.
"""

import argparse

from walking_control.loading import load_robot
from walking_control.models.drives import Drives
from walking_control.simulation.simulate import simulate

DURATION, PUSH, BEGIN = 8.0, 0.8, 4.0  # s, N s/kg, s
SERVO = {'drive': 'position', 'stiffness': 300.0, 'damping': 3.0}
JOINTS = list(load_robot('walker3d').robot.actuators)


def usual_gains(rate, factors):
    """Return settings of impedance drives: of each joint, factors times the usual gains."""
    kind = [(f'robot.actuators.{joint}.drive', 'impedance') for joint in JOINTS]
    drives = Drives(load_robot('walker3d', kind).robot, 1.0 / rate)
    return kind + [
        (f'robot.actuators.{joint}.{name}', float(factor * value))
        for name, factor in zip(('stiffness', 'damping'), factors)
        for joint, value in zip(JOINTS, getattr(drives, name))
    ]


def walk(law, rate, speed, motor, friction=0.0, direction=None, more=()):
    """Return whether it walks to the end, its speed (m/s) and electrical cost since `BEGIN`."""
    sets = [(f'{law}.rate', rate), (f'{law}.speed', speed), *more]
    for joint in JOINTS:
        sets += [(f'robot.actuators.{joint}.{name}', value) for name, value in motor.items()]
        sets += [(f'robot.friction.{joint}.coulomb', friction)] if friction else []
    push = [] if direction is None else [f'push={PUSH}@{BEGIN}s:direction={direction}']
    robot_file = load_robot('walker3d', sets)
    run = simulate(robot_file, law, duration=DURATION, disturb=push)
    if run.fault is not None:
        return False, 0.0, 0.0
    half = len(run.time) // 2
    way, time = run.q[-1, 0] - run.q[half, 0], run.time[-1] - run.time[half]
    energy = run.electrical_energy[-1] - run.electrical_energy[half]
    weight = robot_file.scale.mass * 9.81
    return True, way / time, energy / (weight * way) if way > 0.1 else float('nan')


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--only', choices=('push', 'servo'))
    parser.add_argument('--gains', nargs=2, type=float, metavar=('K', 'D'))
    options = parser.parse_args()
    only = options.only
    if only != 'servo':
        cases = [(500.0, 'effort', ()), (100.0, 'effort', ())]
        cases.append((100.0, 'impedance', usual_gains(100.0, (1.0, 1.0))))
        if options.gains is not None:
            words = 'impedance, {:g} times the stiffness, {:g} the damping'.format(*options.gains)
            cases = [(100.0, words, usual_gains(100.0, options.gains))]
        for rate, words, more in cases:
            _, speed, cost = walk('natural_walking', rate, 0.8, {}, more=more)
            kept = [
                direction
                for direction in (0, 90, 180, 270)
                if walk('natural_walking', rate, 0.8, {}, direction=direction, more=more)[0]
            ]
            print(f'{rate:g} Hz, {words}: {speed:.3f} m/s, cost {cost:.3f}, kept {kept}')
    if only != 'push':
        for speed, friction in ((0.0, 6.0), (0.3, 6.0), (0.3, 0.0)):
            fine, got, cost = walk('stepping', 500.0, speed, SERVO, friction)
            print(f'servo, {friction:g} N m, {speed} m/s: {fine}, {got:.3f} m/s, cost {cost:.2f}')


if __name__ == '__main__':
    main()
