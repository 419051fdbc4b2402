# SPDX-License-Identifier: Apache-2.0
"""Whether a law knows that it can be stopped: what it said, and what became of the stop.

    python benchmarks/stoppable.py [--robot walker3d] [--controller natural_walking] [--starts 100]
        [--push 0.4,1.8] [--speed 0.5] [--noise lab] [--processes N]

A robot walks at five speeds up to --speed. At --starts parts of its steps a copy is pushed, by
impulses all over --push (N s/kg) and all around, and stopped 0.2 s later (category 2). Of all that
were stopped: to how many the law had said yes, and how many of those fell; how many of those that
it had said no to stood; and of those that fell, for how long before the fall it had said no without
a break, the shortest and the median, and how many heard it for 0.3 s.
"""

import argparse

import numpy as np

from walking_control.lab.experiments.stops import try_stops, WARNED
from walking_control.loading import load_robot
from walking_control.simulation.sensors import noise_overrides


def main() -> None:
    """Print what a law said of stops, and what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='walker3d')
    parser.add_argument('--controller', default='natural_walking')
    parser.add_argument('--starts', type=int, default=100)
    parser.add_argument('--push', default='0.4,1.8')
    parser.add_argument('--speed', type=float, default=0.5)
    parser.add_argument('--noise', default='lab')
    parser.add_argument('--processes', type=int)
    options = parser.parse_args()
    chosen = {'controller': options.controller, 'emergency_stop_category': 2}
    trials = try_stops(
        load_robot(options.robot, noise_overrides(options.noise), **chosen),
        starts=options.starts,
        speed=options.speed,
        push=[float(size) for size in options.push.split(',')],
        processes=options.processes,
        progress=lambda share: print(f'\r{100.0 * share:.0f} %', end='', flush=True),
    )['trials']
    yes = np.array([trial['stoppable_steps'] >= 0 for trial in trials])
    stood = np.array([trial['stood'] for trial in trials])
    warned = np.array([trial['warned'] for trial in trials if not trial['stood']])
    print(f'\rstood {stood.sum()} of {len(trials)}')
    print(f'said yes {yes.sum()}, and fell {(yes & ~stood).sum()}')
    print(f'said no {(~yes).sum()}, and stood {(~yes & stood).sum()}')
    if len(warned):
        print(
            f'no before a fall: {warned.min():.2f} s, median {np.median(warned):.2f} s; '
            f'{WARNED:g} s and more: {(warned >= WARNED).sum()} of {len(warned)}'
        )


if __name__ == '__main__':
    main()
