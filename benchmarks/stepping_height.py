# SPDX-License-Identifier: Apache-2.0
"""What standing taller saves a law of steps, and what it costs in pushes survived.

    python benchmarks/stepping_height.py [HEIGHT,STEP_TIME,CLEARANCE ...] [--speeds 0.5,0.8]
        [--noisy] [--directions 8] [--phases 4] [--resolution 0.4] [--max 1.2] [--after 5]

A row each, of walker3d on plant mujoco: the electrical cost of transport of 20 s at 0.8 m/s on the
true state, and at each speed of --speeds the first push that fells it in the worst cell, N s/kg,
with the number of cells that survive the largest size. --noisy: lab noise and 10 ms of delay, known
to the law.
"""

import argparse

from walking_control import load_robot, simulate
from walking_control.lab.experiments.envelope import even_grid, find_envelope
from walking_control.simulation.sensors import noise_overrides

ROWS = ('0.66,0.335,0.075', '0.70,0.33,0.035', '0.74,0.33,0.035', '0.76,0.33,0.035')


def measure(row: str, options: argparse.Namespace) -> str:
    """Return a line of the table."""
    height, step_time, clearance = map(float, row.split(','))
    gait = {'height': height, 'step_time': step_time, 'clearance': clearance}
    terms = [(f'{options.controller}.{name}', value) for name, value in gait.items()]
    speed = f'{options.controller}.speed'
    steady = simulate(
        load_robot('walker3d', [*terms, (speed, 0.8)]), options.controller, duration=20.0
    ).summary()['steady']
    cells = [f'{steady["cost_of_transport_electrical"]:.3f}']
    if options.noisy:
        terms += [
            *noise_overrides('lab'),
            ('sensors.command_delay', 0.01),
            (f'{options.controller}.delay', 0.01),
        ]
    grid = even_grid(options.directions, options.phases, options.after)
    for pushed in map(float, options.speeds.split(',')):
        found = find_envelope(
            load_robot('walker3d', [*terms, (speed, pushed)], controller=options.controller),
            'push',
            options.max,
            options.resolution,
            grid,
            1,
        )
        whole = [cell for cell in found['cells'] if cell['first_failure'] is None]
        cells.append(
            f'{pushed:g} m/s: {found["first_failure"]}, survived '
            f'{found["largest_survived"]}, {len(whole)} of {len(found["cells"])} '
            f'at {options.max:g}, worst {found["worst"] and found["worst"]["disturb"]}'
        )
    return f'| {height} m, {step_time} s, {100.0 * clearance:g} cm | ' + ' | '.join(cells) + ' |'


def main() -> None:
    """Print a row for each height."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('rows', nargs='*', default=ROWS)
    parser.add_argument('--controller', default='stepping')
    parser.add_argument('--speeds', default='0.5,0.8')
    parser.add_argument('--noisy', action='store_true')
    parser.add_argument('--directions', type=int, default=8)
    parser.add_argument('--phases', type=int, default=4)
    parser.add_argument('--resolution', type=float, default=0.4)
    parser.add_argument('--max', type=float, default=1.2)
    parser.add_argument('--after', type=float, default=5.0)
    options = parser.parse_args()
    for row in options.rows:
        print(measure(row, options), flush=True)


if __name__ == '__main__':
    main()
