# SPDX-License-Identifier: Apache-2.0
"""Minutes on the stand-in of ros2_control in real time, whose controller is held up at random.

Once a second the controller's process is stopped for a random time, as by a busy machine, beside
processes that keep cores busy. The simulator plays mujoco_ros2_control meanwhile: the last command
stays. All parameters are defaults unless told. Says for each robot how long it walked, and why not
longer.

    python benchmarks/late_answers.py [--robots walker3d:natural_walking dribbel my_robot.yaml]
        [--seconds 1200] [--gap 0.06] [--busy 2] [--pace 0.3] [--set safety.state_timeout=0.12]
"""

import argparse
import contextlib
import os
from pathlib import Path
import random
import re
import signal
import sys
import tempfile
import time

from walking_control.loading import load_robot
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain
from walking_control.ros.ros2_control.files import ros2_control_files
from walking_control.ros.ros2_control.tags import HARDWARE, tags, with_tags
from walking_control.ros.ros2_control.wiring import wire

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'helpers'))
from programs import Program, start_node  # noqa: E402

ROBOTS = 'walker3d:natural_walking', 'walker3d:stepping', 'dribbel', 'humanoid'
# what a law is told beside its defaults: others stand until somebody asks
SPEEDS = {'natural_walking': 0.6, 'stepping': 0.3}
SHORTEST, PATIENCE = 0.005, 120.0  # s: of a pause; for the start


def walk(robot, law, seconds, gap, given, rng, pace=1.0):
    """Walk a robot; return how long it did, s, how often it was held up, and its last words.

    Args:
        robot: A name or a file.
        law: Its law; empty: its own.
        seconds: How long to walk, simulated.
        gap: The longest pause, simulated s.
        given: Parameters of the controller.
        rng: Draws the pauses.
        pace: Simulated seconds in a second: at less than 1 the machine has more time.
    """
    robot_file = load_robot(robot, [('controller', law)] if law else [])
    wiring = wire(robot_file)
    files = ros2_control_files(robot_file, wiring)
    named = {'controller': law} if law else {}
    told = {f'{law}.speed': SPEEDS[law]} if law in SPEEDS else {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / 'controllers.yaml').write_text(files['controllers.yaml'])
        if '<ros2_control' not in robot_file.robot.urdf:  # as its owner would add them
            urdf = folder / 'with_tags.urdf'
            urdf.write_text(with_tags(robot_file.robot.urdf, tags(wiring, HARDWARE)))
            robot = folder / 'with_tags.yaml'
            load_robot(robot_file.path, [('robot.urdf', str(urdf))]).write(robot)
        simulator = stack.enter_context(
            start_node(
                'simulator_node',
                robot_file=robot,
                **named,
                realtime='true',
                speed=float(pace),
                duration=float(seconds),
                state_rate=500.0,
                place='mujoco',
                controllers_file=folder / 'controllers.yaml',
            )
        )
        stack.enter_context(start_node('watchdog_node', use_sim_time='true'))
        controller = stack.enter_context(
            start_node(
                'controller_node',
                robot_file=robot,
                **named,
                realtime='true',
                use_sim_time='true',
                autostart='true',
                **told,
                **given,
            )
        )
        controller.wait_for('configured', PATIENCE)
        pauses = 0
        while simulator.poll() is None and controller.poll() is None:
            moment = rng.uniform(0.0, 1.0 - gap)
            time.sleep(moment / pace)
            controller.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(SHORTEST, gap) / pace)
            controller.send_signal(signal.SIGCONT)
            time.sleep((1.0 - gap - moment) / pace)
            pauses += 1
        said = f'{controller.error}\n{simulator.error}'
    ended = re.search(r'steps, .* m in ([0-9.]+) s', said)
    faults = [
        line.partition(']: ')[2] or line
        for line in said.splitlines()
        if 'ERROR' in line or line.startswith('error:')  # of a node, of one that did not begin
    ]
    return float(ended[1]) if ended else 0.0, pauses, (faults or [''])[0]


def main():
    """Print a row for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robots', nargs='+', default=ROBOTS, help='NAME or FILE, and :LAW')
    parser.add_argument('--seconds', type=float, default=1200.0)
    parser.add_argument('--gap', type=float, default=0.06, help='longest pause, s')
    parser.add_argument('--busy', type=int, default=os.cpu_count(), help='busy processes')
    parser.add_argument('--pace', type=float, default=1.0, help='simulated seconds in a second')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--set', nargs='+', default=[], help='parameters of the controller')
    options = parser.parse_args()
    isolate_domain()
    rng, given = random.Random(options.seed), dict(each.split('=') for each in options.set)
    print('| robot, law | walked, s of | pauses | load | why not longer |\n|---|---|---|---|---|')
    with contextlib.ExitStack() as busy:
        for _ in range(options.busy):
            busy.enter_context(Program(sys.executable, '-c', 'while True: pass'))
        with contextlib.suppress(OSError):
            raise_priority(60)  # after those, which would have it, too
        for each in options.robots:
            robot, _, law = each.partition(':')
            walked, pauses, words = walk(
                robot, law, options.seconds, options.gap, given, rng, options.pace
            )
            load = os.getloadavg()[0]
            print(
                f'| {each} | {walked:.1f} of {options.seconds:g} | {pauses} | {load:.0f} '
                f'| {words} |',
                flush=True,
            )
    return 0


if __name__ == '__main__':
    sys.exit(main())
