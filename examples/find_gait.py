# SPDX-License-Identifier: Apache-2.0
"""From a user's own planar URDF to a gait file, checked on the rigid plant."""

from pathlib import Path
import sys

from walking_control.gaits.gait_file import load_gait
from walking_control.lab.experiments.gait_search import find_gait, require_gait, save_gait
from walking_control.loading import load_robot

HERE = Path(__file__).parent


def main(directory):
    """Search, save, load again; return the summary and the gait."""
    robot_file = load_robot(HERE / 'three_link_walker.yaml')
    found = find_gait(robot_file)
    require_gait(found)
    path = save_gait(found, directory)
    gait = load_gait(path, robot_file)
    summary = found.summary
    print(
        f'{summary["speed"]:.2f} m/s, steps of {100 * summary["step_length"]:.0f} cm in '
        f'{gait.period:.2f} s, {summary["mechanical_power"]:.2f} W, '
        f'solved in {summary["solve_time"]:.2f} s'
    )
    return summary, gait


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else 'out')
