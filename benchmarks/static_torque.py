# SPDX-License-Identifier: Apache-2.0
"""Static torques against TSID and PlaCo: same robot, same posture, same limits, same run.

Each peer gets an environment of its own (their wheels want different Pinocchios) and answers the
same questions in turns with us; medians of thread time per solution from Python, kinematics
included, and their ratios are printed. A peer that cannot be set up is reported as such.

Double support: torques and wrenches within friction pyramids, soles and effort limits. PlaCo and
TSID have accelerations among their unknowns and hold the posture by a task on them; we have
contact forces only. Single support: PlaCo's closed form in C++, which checks no limit; ours checks
them all; TSID solves its program.

    python benchmarks/static_torque.py [--rounds 5] [--repeats 1000] [--robot FILE.urdf LEFT RIGHT]
"""

import argparse
import json
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from xml.etree import ElementTree

import numpy as np

from walking_control.loading import load_robot
from walking_control.models.dynamics import bare_robot, Dynamics
from walking_control.statics.contacts import Contact
from walking_control.statics.distributor import StaticTorque
from walking_control.statics.posture_search import search_posture

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parent / 'out' / 'benchmarks'
# TSID's newest wheel crashes with the Pinocchio it installs; 1.7.1 works with the one it was built
# for.
PEERS = {
    'placo': ['placo'],
    'tsid': ['tsid==1.7.1', 'pin==3.4.0', 'cmeel-urdfdom<5', 'cmeel-tinyxml2<11'],
}
LENGTH, WIDTH, FRICTION = 0.20, 0.10, 0.7
TARGETS = {
    ('tsid', 'double'): 'at least 3',
    ('placo', 'double'): 'at least 2.5',
    ('placo', 'single'): 'at least 0.83',
}


def without_shapes(urdf):
    """Return a URDF without visual and collision shapes, whose meshes the peers would look for."""
    root = ElementTree.fromstring(urdf)
    for link in root.findall('link'):
        for shape in link.findall('visual') + link.findall('collision'):
            link.remove(shape)
    return ElementTree.tostring(root, encoding='unicode')


def questions(urdf, frames, folder, posture=None):
    """Return the robot and its postures as a dictionary, and write the URDF without meshes."""
    bare = without_shapes(urdf)
    path = Path(folder) / 'robot.urdf'
    path.write_text(bare, encoding='utf-8')
    dynamics = Dynamics(bare_robot(bare))
    contacts = {frame: Contact(frame, LENGTH, WIDTH, FRICTION) for frame in frames}
    start = dynamics.configuration(np.zeros(len(dynamics.joints)) if posture is None else posture)
    middle = search_posture(
        dynamics, start[dynamics.base.nq :], contacts, dict.fromkeys(frames, 0.5)
    )
    over = search_posture(dynamics, middle, contacts, {frames[0]: 1.0, frames[1]: 0.0})
    height = -dynamics.placement(start, dynamics.frame(frames[0]))[0][2]
    place = [0.0, 0.0, height]
    lean = [0.0, np.sin(0.15), 0.0, np.cos(0.15)]
    return {
        'urdf': str(path),
        'frames': list(frames),
        'length': LENGTH,
        'width': WIDTH,
        'slope': contacts[frames[0]].pyramid,
        'max_force': 10.0 * dynamics.weight,
        'double': dynamics.configuration(middle, position=place).tolist(),
        'single': dynamics.configuration(over, position=place).tolist(),
        'falling': dynamics.configuration(middle, lean, place).tolist(),
    }


def set_up(peer):
    """Return the interpreter of a peer's environment, or None with the reason printed."""
    folder = ENVIRONMENTS / peer
    python = folder / 'bin' / 'python'
    try:
        if not (folder / 'ready').exists():
            print(f'setting up {peer} in {folder}', file=sys.stderr)
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run(
                [python, '-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', *PEERS[peer]],
                check=True,
                timeout=300,
                capture_output=True,
                text=True,
            )
            (folder / 'ready').touch()
        return python
    except (subprocess.SubprocessError, OSError) as error:
        detail = (getattr(error, 'stderr', None) or str(error)).strip().splitlines()
        print(f'{peer}: could not be set up here: {detail[-1] if detail else error}')
        return None


def ask_peer(python, peer, question_file, repeats):
    """Return a peer's answers, or None with the reason printed."""
    try:
        done = subprocess.run(
            [python, HERE / f'_static_torque_{peer}.py', question_file, str(repeats)],
            check=True,
            timeout=300,
            capture_output=True,
            text=True,
            cwd=ENVIRONMENTS,
            env={'OMP_NUM_THREADS': '1'},
        )
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
        detail = (getattr(error, 'stderr', None) or str(error)).strip().splitlines()
        print(f'{peer}: does not run here: {detail[-1] if detail else error}')
        return None


def median_time(function, repeats):
    """Return the median thread time of a call, s."""
    for _ in range(50):
        function()
    times = []
    for _ in range(repeats):
        start = time.thread_time_ns()
        function()
        times.append(time.thread_time_ns() - start)
    return 1e-9 * statistics.median(times)


def ask_us(question, repeats):
    """Return our answers in the peers' form."""
    dynamics = Dynamics(bare_robot(Path(question['urdf']).read_text(encoding='utf-8')))
    contacts = {frame: Contact(frame, LENGTH, WIDTH, FRICTION) for frame in question['frames']}
    distributor = StaticTorque(dynamics, contacts)
    distributor.prepare()
    double, single, falling = (np.array(question[name]) for name in ('double', 'single', 'falling'))
    alone = tuple(question['frames'][:1])
    verdict = distributor.solve(falling)
    return {
        'double': median_time(lambda: distributor.solve(double), repeats),
        'single': median_time(lambda: distributor.solve(single, alone), repeats),
        'torque_norm': float(np.linalg.norm(distributor.solve(double).torque)),
        'single_torque_norm': float(np.linalg.norm(distributor.solve(single, alone).torque)),
        'falling': 'holds' if verdict.feasible else f'infeasible: {verdict.reason}',
        'version': distributor.solver,
    }


def compare(question, rounds, repeats):
    """Ask everybody in turns and print the table."""
    pythons = {peer: python for peer in PEERS if (python := set_up(peer)) is not None}
    answers = {name: [] for name in ('walking_control', *pythons)}
    question_file = Path(question['urdf']).with_suffix('.json')
    question_file.write_text(json.dumps(question), encoding='utf-8')
    for _ in range(rounds):
        answers['walking_control'].append(ask_us(question, repeats))
        for peer in list(pythons):
            answer = ask_peer(pythons[peer], peer, question_file, repeats)
            if answer is None:
                del pythons[peer], answers[peer]
            else:
                answers[peer].append(answer)
    times = {
        name: {
            kind: statistics.median(answer[kind] for answer in found)
            for kind in ('double', 'single')
        }
        for name, found in answers.items()
        if found
    }
    for name, found in answers.items():
        last = found[-1]
        print(
            f'{name} ({last["version"]}): double {1e6 * times[name]["double"]:.1f} us, single '
            f'{1e6 * times[name]["single"]:.1f} us, torque norms {last["torque_norm"]:.4f} and '
            f'{last["single_torque_norm"]:.4f} N m'
        )
        print(f'    leaning 0.3 rad, centre of mass beyond the toes: {last["falling"]}')
    for peer in pythons:
        for kind in ('double', 'single'):
            ratio = times[peer][kind] / times['walking_control'][kind]
            target = TARGETS.get((peer, kind))
            print(
                f'{kind} support: {peer} takes {ratio:.2f} of our time'
                + (f' (target {target})' if target else '')
            )


def main():
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--repeats', type=int, default=1000)
    parser.add_argument(
        '--robot', nargs=3, metavar=('URDF', 'LEFT', 'RIGHT'), help='default: our humanoid'
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.robot:
            urdf, *frames = options.robot
            question = questions(Path(urdf).read_text(encoding='utf-8'), frames, folder)
        else:
            file = load_robot('humanoid')
            posture = dict(zip(file.robot.joints, file.start.posture))
            question = questions(file.robot.urdf, file.robot.feet, folder, posture)
        compare(question, options.rounds, options.repeats)


if __name__ == '__main__':
    main()
