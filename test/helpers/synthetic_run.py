# SPDX-License-Identifier: Apache-2.0
"""A hand-made run of Dribbel whose every measure is known: a fixture, not physics."""

import numpy as np

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.runs.run import Run

STEP_ANGLE = 0.15  # rad, stance leg at touchdown
STEP_TICKS = 50
TICK = 0.01  # s
EFFORT = 2.0  # N m, of alternating sign
POWER = 3.0  # W, mechanical
TERMINAL_POWER = 5.0  # W
FRICTION_RATIO = 0.1
LEG, UPPER, LOWER = 0.9, 0.47, 0.43
WEIGHT = 9.2 * 9.81
STEP_TIME = STEP_TICKS * TICK
STEP_LENGTH = 2.0 * LEG * np.sin(STEP_ANGLE)


def coordinates_at(phase):
    """Return q3, q4, q5, q6 at a part 0..1 of a step."""
    bulge = np.sin(np.pi * phase) ** 2
    return np.array(
        [
            STEP_ANGLE * (1.0 - 2.0 * phase),
            0.0 * phase,
            STEP_ANGLE * (4.0 * phase - 2.0) + 0.3 * bulge,
            -0.8 * bulge,
        ]
    )


def synthetic_run(steps=12, overrides=()):
    """Return a run of whole steps of equal length, time and power, both legs alike.

    The stance foot carries the weight, and a tenth of it along the floor; at each touchdown both
    feet are in contact for one tick with forces that must not count.
    """
    file = load_robot('dribbel', overrides)
    robot, world = file.robot, file.values(World)
    dynamics = Dynamics(robot)
    rows = steps * STEP_TICKS + 1
    time = TICK * np.arange(rows)
    count = np.arange(rows) // STEP_TICKS
    support = count % 2
    q = np.zeros((rows, 6))
    coordinates = np.zeros((rows, 4))
    force = np.zeros((rows, 2, 3))
    contact = np.zeros((rows, 2), dtype=bool)
    for row in range(rows):
        stance = support[row]
        coordinates[row] = coordinates_at(row % STEP_TICKS / STEP_TICKS)
        q[row], _ = dynamics.base_from_coordinates(
            robot.feet[stance], coordinates[row], np.zeros(4)
        )
        q[row, 0] += count[row] * STEP_LENGTH
        force[row, stance] = FRICTION_RATIO * WEIGHT, 0.0, WEIGHT
        contact[row, stance] = True
        if row % STEP_TICKS == 0:
            contact[row] = True
            force[row] = 3.0 * WEIGHT, 0.0, 0.01 * WEIGHT
    locked = np.ones((rows, 2), dtype=bool)
    columns = {
        'time': time,
        'q': q,
        'v': np.gradient(q, TICK, axis=0),
        'coordinates': coordinates,
        'rates': np.gradient(coordinates, TICK, axis=0),
        'support': support,
        'steps': count,
        'contact': contact,
        'locked': locked,
        'foot_force': force,
        'effort': EFFORT * (-1.0) ** count[:, None],
        'work': POWER * time[:, None],
        'electrical_energy': TERMINAL_POWER * time,
    }
    return Run(robot, 'hand', 'paper', world, columns=columns)
