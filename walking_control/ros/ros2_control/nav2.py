# SPDX-License-Identifier: Apache-2.0
"""Parameters of Nav2 for a robot that walks: its outline, frames and what its law obeys.

Names are those that Nav2 has in Humble, Jazzy, Kilted and Lyrical alike; what a robot does not
decide (planner, behaviours, tolerances of plugins) is left to Nav2's defaults. See doc/nav2.md.
"""

from copy import deepcopy  # ROS reads no aliases of YAML
import math
from typing import Any

import numpy as np

from walking_control.controllers import Controller, CONTROLLERS, make_controller, SteppingParameters
from walking_control.controllers.stepping.velocity_aim import SLOWING, velocity_limits
from walking_control.models import Dynamics, RobotFile
from walking_control.ros.ros2_control import names
from walking_control.runs.kinematics import place_soles, sole_corners

NAV2 = 'nav2.yaml'
FLESH = 0.05  # m around the origins of links
PAIR = (0.5, 0.5)  # m/s^2 and times: how a law changes its speed that does not say it
STILL = 0.001  # m/s, rad/s
SEEN = 0.3  # m beyond the outline where obstacles cost
CRITICS = ('RotateToGoal', 'Oscillation', 'ObstacleFootprint', 'PathAlign', 'PathDist', 'GoalDist')


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
    outline = outline_of(robot_file, reach)
    return _tree([float(limit) for limit in limits], rates, outline, stamped)


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


def _tree(
    limits: list[float], rates: tuple[float, float], outline: np.ndarray, stamped: bool
) -> dict[str, Any]:
    """Return node -> its parameters."""
    ahead, aside, turning = limits
    faster, slower = rates
    x, y = (math.ceil(100.0 * half) / 100.0 for half in outline.tolist())
    base = {'robot_base_frame': names.FOOTPRINT}
    message = {'enable_stamped_cmd_vel': stamped}
    scan = {
        'enabled': True,
        'observation_sources': 'scan',
        'scan': {'topic': 'scan', 'data_type': 'LaserScan', 'marking': True, 'clearing': True},
    }
    costmap = {
        **base,
        'footprint': str([[x, y], [x, -y], [-x, -y], [-x, y]]),
        'resolution': 0.05,
        'obstacle_layer': {'plugin': 'nav2_costmap_2d::ObstacleLayer', **scan},
        'inflation_layer': {
            'plugin': 'nav2_costmap_2d::InflationLayer',
            'inflation_radius': round(math.hypot(x, y) + SEEN, 2),
            'cost_scaling_factor': 3.0,
        },
    }
    layers = ['obstacle_layer', 'inflation_layer']
    nodes: dict[str, Any] = {
        'amcl': {
            'base_frame_id': names.FOOTPRINT,
            'odom_frame_id': names.ODOM,
            'robot_model_type': 'nav2_amcl::OmniMotionModel',
        },
        'bt_navigator': {**base, 'odom_topic': names.ODOM},
        'controller_server': {
            **message,
            **{f'min_{axis}_velocity_threshold': STILL for axis in ('x', 'y', 'theta')},
            'controller_plugins': ['FollowPath'],
            'FollowPath': {
                'plugin': 'dwb_core::DWBLocalPlanner',
                'critics': list(CRITICS),
                'min_vel_x': 0.0,
                'max_vel_x': ahead,
                'min_vel_y': -aside,
                'max_vel_y': aside,
                'max_vel_theta': turning,
                'min_speed_xy': 0.0,
                'max_speed_xy': ahead,
                'min_speed_theta': 0.0,
                'acc_lim_x': faster,
                'acc_lim_y': faster,
                'acc_lim_theta': faster,
                'decel_lim_x': -slower,
                'decel_lim_y': -slower,
                'decel_lim_theta': -slower,
            },
        },
        'behavior_server': {
            **base,
            **message,
            'max_rotational_vel': turning,
            'min_rotational_vel': round(0.5 * turning, 3),
            'rotational_acc_lim': faster,
        },
        'velocity_smoother': {
            **message,
            'feedback': 'OPEN_LOOP',
            'scale_velocities': True,
            'max_velocity': limits,
            'min_velocity': [-limit for limit in limits],
            'max_accel': [faster] * 3,
            'max_decel': [-slower] * 3,
            'odom_topic': names.ODOM,
            'velocity_timeout': 1.0,
        },
        'collision_monitor': {
            **message,
            'base_frame_id': names.FOOTPRINT,
            'odom_frame_id': names.ODOM,
            'cmd_vel_in_topic': f'{names.CMD_VEL}_smoothed',
            'cmd_vel_out_topic': names.CMD_VEL,
            'polygons': ['FootprintApproach'],
            'FootprintApproach': {
                'type': 'polygon',
                'action_type': 'approach',
                'footprint_topic': 'local_costmap/published_footprint',
                'time_before_collision': round(1.0 + ahead / slower, 2),
                'simulation_time_step': 0.1,
            },
            'observation_sources': ['scan'],
            'scan': {'type': 'scan', 'topic': 'scan'},
        },
    }
    tree = {node: {'ros__parameters': values} for node, values in nodes.items()}
    for name, values in {
        'local_costmap': {
            'global_frame': names.ODOM,
            'rolling_window': True,
            'width': 4,
            'height': 4,
            'plugins': layers,
        },
        'global_costmap': {
            'global_frame': 'map',
            'track_unknown_space': True,
            'plugins': ['static_layer', *layers],
            'static_layer': {'plugin': 'nav2_costmap_2d::StaticLayer'},
        },
    }.items():
        tree[name] = {name: {'ros__parameters': {**values, **deepcopy(costmap)}}}
    return tree
