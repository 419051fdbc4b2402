# SPDX-License-Identifier: Apache-2.0
"""Tune a law of the compass for steps down and up on a foot of 0.1 m, and every rival alike.

`python examples/tune_compass.py curve_tracking 300` tries 300 settings and prints each
that is better than all before; `hip_pd` does the same for the rival with an ankle. The optimiser is
CMA-ES (`pip install 'walking_control[fast,tune]'`): it bears objectives with plateaus, as first
failing sizes on a grid are, and needs a tenth of the trials of differential evolution in a dozen
dimensions.
"""

import math
import sys

from walking_control.exceptions import WalkingControlError
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot

# name -> (smallest, largest, whether by ratio, where the search begins)
FOOT = {'min_normal_force': (0.01, 0.5, False, 0.2), 'friction_used': (0.3, 1.0, False, 0.6)}
SPACES = {
    'curve_tracking': {
        'attraction': (0.5, 60.0, True, 5.0),
        'energy_gain': (0.05, 10.0, True, 3.0),
        'transfer_gain': (0.05, 60.0, True, 5.0),
        'transfer_threshold': (1e-3, 1.0, True, 0.05),
        'bandwidth': (10.0, 350.0, True, 100.0),
        'damping_rate': (1.0, 350.0, True, 40.0),
        'reach': (0.0, 2.0, False, 1.0),
        'reach_blend': (0.02, 0.3, True, 0.05),
        'lead_lacking': (0.02, 2.0, True, 0.2),
        'lead_excess': (0.005, 1.0, True, 0.02),
        'lead_limit': (0.05, 0.75, False, 0.4),
        **FOOT,
    },
    'hip_pd': {
        'hip_stiffness': (2.0, 100.0, True, 17.0),
        'hip_damping': (0.2, 30.0, True, 3.4),
        'hip_angle': (0.3, 1.3, False, 0.8),
        'ankle_energy_gain': (0.1, 50.0, True, 7.0),
        'energy': (56.0, 75.0, False, 62.0),
        **FOOT,
    },
}
FIXED = {
    'curve_tracking': {'continuation': 'reach', 'foot_half_length': 0.1},
    'hip_pd': {'limiting': 'project', 'foot_half_length': 0.1},
}
# kind, largest size, resolution, and the size that counts as one
TASKS = (
    ('step_down', 0.3, 0.02, 0.16),
    ('step_up', 0.12, 0.01, 0.07),
    ('push', 1.2, 0.2, 8.0),
    ('push', -0.9, 0.15, 8.0),
)


def decode(space, point):
    """Return name -> value of a point in the unit cube."""
    values = {}
    for (name, (low, high, by_ratio, _)), share in zip(space.items(), point, strict=True):
        values[name] = low * (high / low) ** share if by_ratio else low + (high - low) * share
    return {name: float(value) for name, value in values.items()}


def encode(space):
    """Return the point where the search begins."""
    return [
        math.log(start / low) / math.log(high / low) if by_ratio else (start - low) / (high - low)
        for low, high, by_ratio, start in space.values()
    ]


def score(law, settings):
    """Return how good settings are, 0 where they do not walk: the worse step counts threefold."""
    try:
        robot_file = load_robot(
            'compass',
            [(f'{law}.{name}', value) for name, value in settings.items()],
            controller=law,
        )
        shares = []
        for kind, largest, resolution, one in TASKS:
            first = find_first_failure(robot_file, kind, largest, resolution).first_failure
            shares.append(abs(largest if first is None else first) / one)
    except WalkingControlError:  # gains too fast for the rate, or no walk at all
        return 0.0
    return sum(shares) + 2.0 * min(shares[:2])


def main(law, trials):
    """Search; return the best settings."""
    try:
        import cma
    except ImportError:
        sys.exit(
            'error: tune_compass needs CMA-ES, which is not installed; '
            'pip install "walking_control[tune]" or pip install cma'
        )
    space, best, found = SPACES[law], 0.0, {}
    search = cma.CMAEvolutionStrategy(
        encode(space), 0.15, {'bounds': [0.0, 1.0], 'seed': 1, 'maxfevals': trials, 'verbose': -9}
    )
    while not search.stop():
        points = search.ask()
        scores = []
        for point in points:
            settings = {**FIXED[law], **decode(space, point)}
            scores.append(score(law, settings))
            if scores[-1] > best:
                best, found = scores[-1], settings
                print(f'{best:.3f}', settings, flush=True)
        search.tell(points, [-value for value in scores])
    return found


if __name__ == '__main__':
    main(
        sys.argv[1] if len(sys.argv) > 1 else 'curve_tracking',
        int(sys.argv[2]) if len(sys.argv) > 2 else 300,
    )
