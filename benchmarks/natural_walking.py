# SPDX-License-Identifier: Apache-2.0
"""Natural walking beside squatting: what both cost at each speed, and the film of the README.

Run as ``python benchmarks/natural_walking.py [OUT.gif]``; walker3d in MuJoCo, a minute of walking.
"""

import sys

from walking_control.lab.reports.animations.space_film import write_space_film
from walking_control.loading import load_robot
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

SPEEDS = (0.4, 0.6, 0.8, 1.0, 1.2)
LAWS = 'natural_walking', 'stepping'


def walk(law, speed, duration, noise=None):
    """Return a run of a law at a speed, m/s."""
    overrides = [(f'{law}.speed', speed), (f'{law}.speed_limit', 1.2), *noise_overrides(noise)]
    return simulate(load_robot('walker3d', [*overrides, ('controller', law)]), duration=duration)


def main():
    """Print a table; write the film where a path is given."""
    if len(sys.argv) > 1:
        natural, squat = (walk(law, 0.8, 5.0) for law in LAWS)
        write_space_film(natural, sys.argv[1], squat)
        return
    print('law              noise  m/s   speed  electrical cost')
    for law in LAWS:
        for noise in (None, 'lab'):
            for speed in SPEEDS:
                steady = walk(law, speed, 24.0, noise).summary()['steady']
                cost = steady['cost_of_transport_electrical']
                print(
                    f'{law:16} {noise or "none":5} {speed:4.1f}'
                    + (f' {steady["speed"]:7.3f} {cost:9.3f}' if cost else ' did not last')
                )


if __name__ == '__main__':
    main()
