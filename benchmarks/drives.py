# SPDX-License-Identifier: Apache-2.0
"""What walks through which drives: `python benchmarks/drives.py`; `--only servo` for one part.

walker3d on plant mujoco with exact sensors, 8 s each. Part `push`: natural_walking at 0.8 m/s,
pushed by 0.8 N s/kg at 4 s in four directions. Part `servo`: stepping at 500 Hz through position
drives, whose joints have a dry friction of a tenth of the largest effort.
"""

import argparse

from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate

DURATION, PUSH, BEGIN = 8.0, 0.8, 4.0  # s, N s/kg, s
SERVO = {'drive': 'position', 'stiffness': 300.0, 'damping': 3.0}


def walk(law, rate, speed, motor, friction=0.0, direction=None):
    """Return whether it walks to the end, its speed (m/s) and electrical cost since `BEGIN`."""
    sets = [(f'{law}.rate', rate), (f'{law}.speed', speed)]
    for joint in load_robot('walker3d').robot.joints:
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
    only = parser.parse_args().only
    if only != 'servo':
        for rate, motor in ((500.0, {}), (100.0, {}), (100.0, {'drive': 'impedance'})):
            _, speed, cost = walk('natural_walking', rate, 0.8, motor)
            kept = [
                direction
                for direction in (0, 90, 180, 270)
                if walk('natural_walking', rate, 0.8, motor, direction=direction)[0]
            ]
            print(
                f'{rate:g} Hz, {motor or "effort"}: {speed:.3f} m/s, cost {cost:.3f}, kept {kept}'
            )
    if only != 'push':
        for speed, friction in ((0.0, 6.0), (0.3, 6.0), (0.3, 0.0)):
            fine, got, cost = walk('stepping', 500.0, speed, SERVO, friction)
            print(f'servo, {friction:g} N m, {speed} m/s: {fine}, {got:.3f} m/s, cost {cost:.2f}')


if __name__ == '__main__':
    main()
