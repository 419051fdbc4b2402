# SPDX-License-Identifier: Apache-2.0
"""Parameters of Nav2 for a robot that walks: its outline, frames and what its law obeys.

Names are those that Nav2 has in Humble, Jazzy, Kilted and Lyrical alike; what a robot does not
decide (planner, behaviours, tolerances of plugins) is left to Nav2's defaults. See doc/nav2.md.
"""

import math
from typing import Any

import numpy as np
import yaml

from walking_control.controllers import (
    Controller,
    CONTROLLERS,
    make_controller,
    SLOWING,
    SteppingParameters,
    velocity_limits,
)
from walking_control.models import Dynamics, fill, RobotFile
from walking_control.ros.ros2_control import names
from walking_control.runs.kinematics import place_soles, sole_corners

NAV2 = 'nav2.yaml'
FLESH = 0.05  # m around the origins of links
PAIR = (0.5, 0.5)  # m/s^2 and times: how a law changes its speed that does not say it
SEEN = 0.3  # m beyond the outline where obstacles cost


def nav2_parameters(robot_file: RobotFile, stamped: bool = False) -> dict[str, Any] | None:
    """Return the tree of nav2.yaml; None for a robot whose law knows no velocity in the plane.

    Args:
        robot_file: The `RobotFile`; its controller walks.
        stamped: Whether cmd_vel is a TwistStamped, as the controller's `cmd_vel_stamped`.
    """
    law = CONTROLLERS.find(robot_file.controller)
    if not robot_file.robot.is_free or law.velocity_limits is Controller.velocity_limits:
        return None
    values = robot_file.values(law.parameters)
    if isinstance(values, SteppingParameters):
        limits, rates = velocity_limits(values), (values.speed_rate, SLOWING * values.speed_rate)
        reach = values.step_time * np.array(limits[:2]) + [0.0, values.step_width]
    else:
        limits, rates = make_controller(robot_file).velocity_limits(), PAIR
        reach = np.zeros(2)
    if not all(map(math.isfinite, limits)):
        return None
    ahead, aside, turning = map(float, limits)
    x, y = (math.ceil(100.0 * half) / 100.0 for half in outline_of(robot_file, reach).tolist())
    text = fill(
        __package__,
        NAV2,
        names=names,
        stamped=stamped,
        ahead=ahead,
        aside=aside,
        turning=turning,
        faster=rates[0],
        slower=rates[1],
        x=x,
        y=y,
        inflation=round(math.hypot(x, y) + SEEN, 2),
    )
    tree: dict[str, Any] = yaml.safe_load(text)
    return tree


def outline_of(robot_file: RobotFile, reach: np.ndarray) -> np.ndarray:
    """Return half the length and width that a robot takes up around its footprint, m, ``(2,)``.

    Args:
        robot_file: The `RobotFile`; the robot stands as it starts.
        reach: How far its feet come apart, ahead and sideways, m, ``(2,)``.
    """
    dynamics = Dynamics(robot_file.robot)
    q, _ = dynamics.start_state(robot_file.start)
    dynamics.place(q)
    robot, data = robot_file.robot, dynamics.data
    feet = np.array([dynamics.foot_position(foot) for foot in robot.feet])
    soles = place_soles(dynamics, [sole_corners(robot.urdf, foot) for foot in robot.feet])
    sole = max(
        np.abs(corners - foot)[:, :2].max(axis=0).tolist() for corners, foot in zip(soles, feet)
    )
    apart = np.maximum(reach, np.ptp(feet[:, :2], axis=0))
    links = np.array([frame.translation[:2] for frame in data.oMf]) - feet[:, :2].mean(axis=0)
    return np.asarray(np.maximum(0.5 * apart + sole, np.abs(links).max(axis=0) + FLESH))
