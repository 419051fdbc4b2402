# SPDX-License-Identifier: Apache-2.0
"""How often a tick goes from one room of the package into another."""

from pathlib import Path
import sys

import walking_control
from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import Walk

PACKAGE = Path(walking_control.__file__).parent


def room_of(code):
    """Return the room of the package that a function is written in, or None."""
    path = Path(code.co_filename)
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else None


def test_a_tick_of_natural_walking_changes_rooms_at_most_15_times():
    """Whoever reads a tick would be sent back and forth between rooms for values lying at hand."""
    robot_file = load_robot('walker3d', controller='natural_walking')
    loop = ControlLoop(robot_file)
    walk = Walk(make_plant(robot_file), loop, robot_file.start, 100)
    walk.go(20)
    entered, within, tick = [], [], loop.tick

    def watch(frame, event, _):
        if event == 'call':
            room, before = room_of(frame.f_code), within[-1] if within else 'control_loop.py'
            if room not in (None, before):
                entered.append(f'{before} calls {frame.f_code.co_name} of {room}')
            within.append(room or before)
        elif event == 'return' and within:
            within.pop()

    def watched(measurement):
        sys.setprofile(watch)
        try:
            return tick(measurement)
        finally:
            sys.setprofile(None)

    loop.tick = watched
    walk.go(1)
    assert 5 < len(entered) <= 15, entered
