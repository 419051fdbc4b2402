# SPDX-License-Identifier: Apache-2.0
"""A hand-made run of the humanoid whose every measure is known: a fixture, not physics."""

import numpy as np
import pinocchio as pin

from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.runs.run import Run

TICK, ROWS = 0.01, 201
LEAN = 0.1  # rad, forward, the largest
SINK, SHIFT = 0.02, 0.03  # m
KNEE = 0.05  # rad, drift of the left knee
WEIGHT = 31.6 * 9.81
TANGENTIAL = 0.2  # of the normal force, half in x
EFFORT = 45.0  # N m, of 90 of the left knee
ALONE = slice(50, 120)  # rows on the left foot


def synthetic_posture_run(overrides=(), **settings):
    """Return a run that leans, sinks, drifts, and stands on the left foot for a while.

    Before and after, each foot bears half the weight.
    """
    file = load_robot('humanoid', overrides)
    robot = file.robot
    phase = np.sin(np.pi * np.arange(ROWS) / (ROWS - 1))
    q = np.zeros((ROWS, 7 + len(robot.joints)))
    q[:, 7:] = file.start.posture
    q[:, 7 + robot.joint_index('left_knee')] += KNEE * phase
    q[:, 0], q[:, 1], q[:, 2] = 0.6 * SHIFT * phase, 0.8 * SHIFT * phase, 0.645 - SINK * phase
    for row in range(ROWS):
        q[row, 3:7] = pin.Quaternion(pin.exp3(np.array([0.0, LEAN * phase[row], 0.0]))).coeffs()
    contact = np.ones((ROWS, 2), dtype=bool)
    contact[ALONE, 1] = False
    normal = np.full((ROWS, 2), 0.5 * WEIGHT)
    normal[ALONE] = WEIGHT, 0.0
    along = TANGENTIAL * np.array([0.6, -0.8])
    force = np.dstack((along[0] * normal, along[1] * normal, normal))
    effort = np.zeros((ROWS, len(robot.actuators)))
    effort[7, list(robot.actuators).index('left_knee')] = -EFFORT
    time = TICK * np.arange(ROWS)
    columns = {
        'time': time,
        'q': q,
        'v': np.zeros((ROWS, 6 + len(robot.joints))),
        'coordinates': np.zeros((ROWS, 0)),
        'rates': np.zeros((ROWS, 0)),
        'support': np.zeros(ROWS, dtype=int),
        'steps': np.zeros(ROWS, dtype=int),
        'contact': contact,
        'locked': np.zeros((ROWS, 0), dtype=bool),
        'foot_force': force,
        'effort': effort,
        'work': np.zeros_like(effort),
        'electrical_energy': 3.0 * time,
    }
    return Run(
        robot, 'static_torque', 'paper', file.values(World), settings=settings, columns=columns
    )
