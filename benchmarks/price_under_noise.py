# SPDX-License-Identifier: Apache-2.0
"""What a planar walk costs, and what it bears, when the sensors are those of a laboratory.

Squared effort per step of the compass, half a foot of 0.1 m, plant rigid, 500 Hz, through the whole
chain: sensors, estimator, law, safety. The law follows the shipped passive gait, and one of 1.2 m/s
that is searched first; its rival, a hip PD with an ankle, walks at 1.19 m/s. Mean, least and most
of all seeds. Pushes (N s/kg) and steps (m) of --disturb come at step 12; how many of the seeds walk
on for 20 steps is counted.

Run: python benchmarks/price_under_noise.py --seeds 20
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
import os
from pathlib import Path
import tempfile

import numpy as np

from walking_control.cli import main as run_verb
from walking_control.cli.common import gait_settings
from walking_control.control_loop import ControlLoop
from walking_control.gaits.gait_file import fit_gait, read_gait
from walking_control.lab.experiments.variants import read_variants, variants_path
from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.simulation import make_fast_plant
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

LAW, RIVAL = 'tuned, half foot 0.1 m', 'hip_pd with an ankle, best of a search, half foot 0.1 m'
SPEED, LANDING = 1.2, 1.4  # m/s
DISTURBED, AFTER = 12, 20  # step, and steps that are to follow


def settings(name):
    """Return controller and overrides of a variant that `compare compass` has, too."""
    for variant in read_variants(variants_path('compass')):
        if variant.name == name:
            law = variant.controller
            return law, [(f'{law}.{key}', value) for key, value in variant.settings.items()]
    raise SystemExit(f'config/comparisons/compass.yaml has no {name!r} any more')


def searched(folder, speeds=f'1.0:{SPEED}:3', landing=LANDING):
    """Return the overrides of a walk on the fastest gait of a search, from a start on it.

    Args:
        folder: For what the search writes.
        speeds: That are searched, m/s: the first, the last, how many.
        landing: Largest landing speed, m/s.
    """
    speed = speeds.split(':')[1]
    search = f'gait search compass --speeds {speeds} --landing-speed {landing} --out {folder}'
    with open(os.devnull, 'w') as nowhere, redirect_stdout(nowhere):
        if run_verb(search.split()):
            raise SystemExit('the search failed')
    gait = [
        *gait_settings(f'{folder}/compass_family.yaml@{speed}', 'curve_tracking'),
        ('curve_tracking.energy', 'gait'),
    ]
    robot_file = load_robot('compass', [('controller', 'curve_tracking'), *gait])
    path, robot = Path(dict(gait)['curve_tracking.gait']), robot_file.robot
    q, v = fit_gait(read_gait(path), path, robot, robot_file.values(World), any_slope=True).start
    return [*gait, ('start.support', robot.feet[0]), ('start.q', [*q]), ('start.v', [*v])]


def walk(law, overrides, noise, seed, disturb=None, duration=26.0):
    """Return price, (N m)^2 s a step, speed, m/s, steps, and whether it walked to the end."""
    chosen = [('controller', law), *noise_overrides(noise), ('sensors.seed', seed), *overrides]
    robot_file = load_robot('compass', [(name, value) for name, value in chosen])
    planned = [f'{disturb}@{DISTURBED}'] if disturb else []
    plant = make_fast_plant(robot_file, 'rigid')
    plan_disturbances(plant, planned)
    run = run_plant(plant, ControlLoop(robot_file), robot_file.start, duration)
    found = run.summary()
    return found['squared_effort_per_step'], found['speed'], found['steps'], not found['fell']


def main():
    """Print a row for each law, noise and disturbance."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--noise', nargs='*', default=['none', 'lab'])
    parser.add_argument('--disturb', nargs='*', default=[], metavar='KIND=SIZE')
    parser.add_argument('--processes', type=int, default=os.cpu_count())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(given.processes) as pool:
        law, tuned = settings(LAW)
        laws = {
            'curve_tracking, shipped gait': (law, tuned),
            f'curve_tracking, gait of {SPEED} m/s': (law, tuned + searched(folder)),
            'hip_pd with an ankle': settings(RIVAL),
        }
        for noise in given.noise:
            seeds = range(1 if noise == 'none' else given.seeds)
            for disturb in given.disturb or [None]:
                for name, (controller, overrides) in laws.items():
                    waiting = [
                        pool.submit(walk, controller, overrides, noise, seed, disturb)
                        for seed in seeds
                    ]
                    show(name, noise, disturb, [each.result() for each in waiting])


def show(name, noise, disturb, walks):
    """Print a row."""
    walked = sum(whole and steps > DISTURBED + AFTER for _, _, steps, whole in walks)
    price = np.array([price for price, _, _, whole in walks if whole])
    speed = np.mean([speed for _, speed, _, _ in walks])
    cost = f'{price.mean():.3g} ({price.min():.3g} to {price.max():.3g})' if len(price) else '-'
    print(
        f'{name:34} {noise:5} {disturb or "":17} {walked:3} of {len(walks)} walk, '
        f'{speed:.2f} m/s, {cost} (N m)^2 s a step',
        flush=True,
    )


if __name__ == '__main__':
    main()
