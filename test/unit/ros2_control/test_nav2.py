# SPDX-License-Identifier: Apache-2.0
"""Parameters of Nav2: what the law obeys, in words that Nav2 knows."""

import ast

import numpy as np
import pytest
import yaml

import walking_control as wc
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.ros.ros2_control.files import to_yaml
from walking_control.ros.ros2_control.nav2 import nav2_parameters, outline_of

# read in the sources of Humble, Jazzy, Kilted and Lyrical; enable_stamped_cmd_vel not in Humble,
# which sends Twist
KNOWN = {
    'amcl': 'base_frame_id odom_frame_id robot_model_type',
    'bt_navigator': 'robot_base_frame odom_topic',
    'controller_server': 'enable_stamped_cmd_vel min_x_velocity_threshold '
    'min_y_velocity_threshold min_theta_velocity_threshold controller_plugins plugin critics '
    'min_vel_x max_vel_x min_vel_y max_vel_y max_vel_theta min_speed_xy max_speed_xy '
    'min_speed_theta acc_lim_x acc_lim_y acc_lim_theta decel_lim_x decel_lim_y decel_lim_theta',
    'behavior_server': 'robot_base_frame enable_stamped_cmd_vel max_rotational_vel '
    'min_rotational_vel rotational_acc_lim',
    'velocity_smoother': 'enable_stamped_cmd_vel feedback scale_velocities max_velocity '
    'min_velocity max_accel max_decel odom_topic velocity_timeout',
    'collision_monitor': 'enable_stamped_cmd_vel base_frame_id odom_frame_id cmd_vel_in_topic '
    'cmd_vel_out_topic polygons type action_type footprint_topic time_before_collision '
    'simulation_time_step observation_sources topic',
    'local_costmap': 'global_frame rolling_window width height plugins robot_base_frame footprint '
    'resolution plugin enabled observation_sources topic data_type marking clearing '
    'inflation_radius cost_scaling_factor',
}
KNOWN['global_costmap'] = KNOWN['local_costmap'] + ' track_unknown_space'


def leaves(tree):
    """Yield the names of values."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value)
        else:
            yield name


@pytest.mark.parametrize('robot', ['walker3d', 'walker3d_built', 'walker3d_points'])
def test_nav2_is_told_what_the_law_obeys(robot):
    """If it failed, Nav2 would plan for another robot, or ignore a name without a word."""
    robot_file = wc.load_robot(robot)
    text = to_yaml(nav2_parameters(robot_file, True))
    assert '&id' not in text, 'rcl reads no aliases'
    tree = yaml.safe_load(text)
    assert {node: {*leaves(part)} - {*KNOWN[node].split()} for node, part in tree.items()} == {
        node: set() for node in KNOWN
    }
    smoother = tree['velocity_smoother']['ros__parameters']
    limits = wc.make_controller(robot_file).velocity_limits() if robot != 'walker3d_built' else ()
    assert tuple(smoother['max_velocity']) == (limits or (1.0, 0.2, 0.3))
    assert all(low < 0.0 for low in smoother['min_velocity'] + smoother['max_decel'])
    assert smoother['enable_stamped_cmd_vel']


def test_the_outline_holds_the_feet():
    """If it failed, a robot would be led past a table over whose legs it stumbles."""
    robot_file = wc.load_robot('walker3d')
    tree = nav2_parameters(robot_file)['local_costmap']['local_costmap']['ros__parameters']
    corners = np.array(ast.literal_eval(tree['footprint']))
    values = robot_file.values(SteppingParameters)
    apart = values.step_time * np.array([1.0, 0.2]) + [0.0, values.step_width]
    assert (corners.max(axis=0) >= 0.5 * apart + [0.06, 0.02]).all() and (
        corners.max(axis=0) < 0.5
    ).all()
    np.testing.assert_allclose(corners.max(axis=0), -corners.min(axis=0))
    assert (outline_of(robot_file, np.array([1.0, 1.0])) > 0.5).all()


@pytest.mark.parametrize('robot', ['dribbel', 'humanoid', 'compass'])
def test_who_takes_no_velocity_in_the_plane_gets_none(robot):
    """If it failed, Nav2 would command velocities that nobody heeds."""
    assert nav2_parameters(wc.load_robot(robot)) is None
