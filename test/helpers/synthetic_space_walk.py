# SPDX-License-Identifier: Apache-2.0
"""A hand-made walk in space whose every measure is known: a fixture, not physics."""

import numpy as np

from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.runs.run import Run
from walking_control.simulation.guide import planned_pushes

TICK, STEP, ROWS = 0.01, 0.4, 1601  # s, s, rows: 16 s
AHEAD, LEFT, TURN = 0.5, -0.1, 0.2  # m/s, m/s, rad/s
SWAY = 0.02  # m, once a stride
YAW = 0.05  # rad: the base looks to where it sways, likewise
OFF = 0.03  # rad, the base looks to the left of where it shall


def synthetic_space_walk(route=None, rows=ROWS, **telemetry):
    """Return a walk of walker3d on an arc, swaying, with motors that draw 2 W and give 1 W."""
    file = load_robot('walker3d')
    robot = file.robot
    time = TICK * np.arange(rows)
    looks = TURN * time
    q = np.zeros((rows, 7 + len(robot.joints)))
    q[:, 7:] = file.start.posture
    # the way of a body that turns while it goes
    s, c = np.sin(looks) / TURN, (1.0 - np.cos(looks)) / TURN
    sway = SWAY * np.sin(np.pi * time / STEP)
    q[:, 0] = AHEAD * s - LEFT * c - sway * np.sin(looks)
    q[:, 1] = AHEAD * c + LEFT * s + sway * np.cos(looks)
    q[:, 2] = 0.7
    turned = 0.5 * (looks + YAW * np.cos(np.pi * time / STEP))
    q[:, 5], q[:, 6] = np.sin(turned), np.cos(turned)
    steps = np.floor(time / STEP + 1e-9).astype(int)
    contact = np.zeros((rows, 2), dtype=bool)
    contact[np.arange(rows), steps % 2] = True
    force = np.zeros((rows, 2, 3))
    force[contact, 2] = 98.1
    work = np.zeros((rows, len(robot.actuators)))
    work[:, 0] = time
    columns = {
        'time': time,
        'q': q,
        'v': np.zeros((rows, 6 + len(robot.joints))),
        'coordinates': np.zeros((rows, 0)),
        'rates': np.zeros((rows, 0)),
        'support': steps % 2,
        'steps': steps,
        'contact': contact,
        'locked': np.zeros((rows, 0), dtype=bool),
        'foot_force': force,
        'effort': np.zeros_like(work),
        'work': work,
        'electrical_energy': 2.0 * time,
    }
    said = {'heading': looks - OFF, **telemetry}
    pushes = () if route is None else tuple(planned_pushes(route))
    return Run(
        robot,
        'stepping',
        'paper',
        file.values(World),
        columns=columns,
        route=route,
        disturbances=pushes,
        telemetry=said,
        units=dict.fromkeys(said, '1'),
    )
