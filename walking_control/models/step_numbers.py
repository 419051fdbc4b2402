# SPDX-License-Identifier: Apache-2.0
"""The numbers theta that a robot and its floor give the equations of a step."""

import numpy as np
from numpy.typing import ArrayLike

from walking_control.models import Dynamics, floor_gravity, Robot, spring_table

FADE = 0.05  # rad/s: below, dry friction fades for an optimiser


def step_parameters(robot: Robot, gravity: float, slope: float) -> np.ndarray:
    """Return the numbers theta a robot and its floor give the equations.

    Args:
        gravity: m/s^2.
        slope: rad, downhill positive.

    Returns:
        Gravity ``(3,)``; rotor inertia, stiffness, damping and rest angle by joint; then ten
        inertial parameters (mass, first moment, inertia about the joint) by body.
    """
    model = Dynamics(robot).model
    motors = [robot.actuators.get(joint) for joint in robot.joints]
    rows: list[ArrayLike] = [
        floor_gravity(gravity, slope),
        [0.0 if motor is None else motor.armature for motor in motors],
        *spring_table(robot).T,
    ]
    rows += [model.inertias[i].toDynamicParameters() for i in range(1, model.njoints)]
    return np.concatenate(rows)


def spring_places(robot: Robot, joint: str) -> tuple[int, int]:
    """Return where stiffness and damping of a joint stand in theta.

    Args:
        robot: The `Robot`.
        joint: Its name.
    """
    n, i = len(robot.joints), robot.joint_index(joint)
    return 3 + n + i, 3 + 2 * n + i


def spring_rows(robot: Robot, theta: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Return (row of the joint in the coordinates, damping) of every joint with a spring.

    Args:
        robot: The `Robot`.
        theta: Parameters of the equations, see `step_parameters`.
    """
    lift = robot.joint_lifts[robot.feet[0]]
    return [
        (lift[robot.joint_index(joint)], float(theta[spring_places(robot, joint)[1]]))
        for joint in robot.springs
    ]
