# SPDX-License-Identifier: Apache-2.0
"""The same robot files and gains on every plant: the table of doc/engines.md.

    python benchmarks/engines.py [WORD]

With a word those walks alone whose name has it.
"""

import sys
import time

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.simulation.registry import make_plant, PLANTS
from walking_control.simulation.simulate import run_plant

# walk -> (robot, overrides, duration in s)
WALKS = {
    'compass, passive, 3 degrees down': ('compass', [], 12.0),
    'dribbel, hip_switching, level': ('dribbel', [], 24.0),
    'walker3d, stepping at 0.5 m/s': ('walker3d', [('stepping.speed', 0.5)], 10.0),
    'walker3d_points, stepping at 0.4 m/s': ('walker3d_points', [('stepping.speed', 0.4)], 10.0),
    'humanoid, shifts its weight': ('humanoid', [], 6.0),
}


def main() -> None:
    """Walk every walk on every plant that takes it and print a row each."""
    print(f'{"walk":38} {"plant":10} {"speed":>7} {"step":>7} {"cost":>7} {"times real time":>16}')
    word = ''.join(sys.argv[1:2])
    for walk, (name, overrides, duration) in WALKS.items():
        if word not in walk:
            continue
        robot_file = load_robot(name, overrides)
        for plant_name in PLANTS:
            try:
                plant = make_plant(robot_file, plant_name)
            except InvalidInput:
                continue
            loop = ControlLoop(robot_file)
            begin = time.process_time()
            run = run_plant(plant, loop, robot_file.start, duration)
            used = time.process_time() - begin
            steady = run.summary().get('steady') or {}
            print(
                f'{walk:38} {plant_name:10} {_number(steady.get("speed"), 4)} '
                f'{_number(steady.get("step_time"), 4)} '
                f'{_number(steady.get("cost_of_transport_electrical"), 3)} '
                f'{run.time[-1] / used:16.1f}  {run.fault or ""}',
                flush=True,
            )


def _number(value: float | None, digits: int) -> str:
    return f'{"" if value is None or not np.isfinite(value) else round(value, digits):>7}'


if __name__ == '__main__':
    main()
