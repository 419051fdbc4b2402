# SPDX-License-Identifier: Apache-2.0
"""Push-off against foot placement: which sideways impulses each stands, alone and together.

    python benchmarks/once_per_step.py [--speeds 1.0,1.8] [--seeds 5]

Prints per speed and law the median over the seeds of the largest impulses (standard deviation, one
at each step) survived for 100 steps, of the best of several weights of the regulator.
"""

import argparse
import statistics

import numpy as np

from walking_control.experiments.once_per_step import (
    find_tolerance,
    linearise_step,
    make_laws_walker,
    regulate,
)

LAWS = (('push',), ('roll',), ('pitch', 'roll'), ('push', 'roll'), ('push', 'pitch', 'roll'))
EFFORTS = (0.01, 1.0)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', default='walker3d_point')
    parser.add_argument('--speeds', default='1.0,1.8', help='m/s')
    parser.add_argument('--seeds', type=int, default=5)
    options = parser.parse_args()
    for speed in map(float, options.speeds.split(',')):
        uncontrolled = make_laws_walker(options.robot, speed, np.zeros((3, 3)))
        A, B = linearise_step(uncontrolled.knowledge)
        sizes = ', '.join(f'{abs(value):.3g}' for value in np.linalg.eigvals(A))
        print(f'{speed:g} m/s: eigenvalues without feedback {sizes}', flush=True)
        for law in LAWS:
            best = (-1.0, [], 0.0, None)
            for effort in EFFORTS:
                feedback = regulate(A, B, law, effort)
                walker = make_laws_walker(options.robot, speed, feedback)
                found = [find_tolerance(walker, seed) for seed in range(options.seeds)]
                best = max(best, (statistics.median(found), found, effort, feedback),
                           key=lambda item: item[0])
            median, found, effort, feedback = best
            left = max(abs(np.linalg.eigvals(A + B @ feedback)))
            print(f'  {" + ".join(law):22} {median:.3f} N s/kg ({min(found):.3f} to '
                  f'{max(found):.3f}), weight {effort:g}, largest eigenvalue {left:.2f}',
                  flush=True)


if __name__ == '__main__':
    main()
