# SPDX-License-Identifier: Apache-2.0
"""Who steers: what the launch file starts, and whether the robot can do what the sticks ask."""

import pytest
import yaml

from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.exceptions import InvalidInput
from walking_control.models.resources import share_directory
from walking_control.ros.launch_arguments import read_arguments, TELEOP
from walking_control.ros.ros2_control.teleop import plan_teleop

HOLD = 0.5  # s: default of cmd_vel_timeout


def steps_of(**arguments):
    return {step.key: step for step in plan_teleop(read_arguments(arguments, TELEOP))}


@pytest.mark.parametrize('text, stamped', [('false', False), ('true', True)])
def test_both_inputs_send_what_the_controller_hears(text, stamped):
    """A Twist sent to who hears TwistStamped, or the other way, steers nothing, without a word."""
    teleop = steps_of(stamped=text)['teleop']
    assert teleop.parameters[-1] == {'publish_stamped_twist': stamped, 'use_sim_time': False}
    keyboard = steps_of(input='keyboard', stamped=text, use_sim_time='true')['keyboard']
    assert keyboard.parameters == ({'stamped': stamped, 'use_sim_time': True},)
    assert keyboard.prefix, 'launch has no keyboard'


def test_sticks_ask_for_what_the_robot_can_do():
    """A stick scaled beyond the limits would be clipped at half its way."""
    steps = steps_of()
    assert steps['joystick'].parameters[0] == steps['teleop'].parameters[0]
    with open(steps['teleop'].parameters[0]) as file:
        given = yaml.safe_load(file)['/**']['ros__parameters']
    limits = {
        name: SteppingParameters.rows[f'{name}_limit'].default
        for name in ('speed', 'sideways', 'turn')
    }
    for turbo in ('', '_turbo'):
        linear, angular = given[f'scale_linear{turbo}'], given[f'scale_angular{turbo}']
        assert 0.0 < linear['x'] <= limits['speed'] and 0.0 < linear['y'] <= limits['sideways']
        assert 0.0 < angular['yaw'] <= limits['turn']
        assert set(linear) == set(given['axis_linear'])
        assert set(angular) == set(given['axis_angular'])
    assert given['require_enable_button'], 'who lets go stops'
    assert 1.0 / given['autorepeat_rate'] < 0.5 * HOLD, 'a stick that is held is not a lost one'


def test_own_buttons(tmp_path):
    """People have other controllers than we."""
    path = tmp_path / 'mine.yaml'
    path.write_text('')
    assert steps_of(buttons=str(path))['teleop'].parameters[0] == str(path)


@pytest.mark.parametrize(
    'arguments, words',
    [
        ({'input': 'joypad'}, 'joystick or keyboard'),
        ({'buttons': '/nowhere/buttons.yaml'}, 'no such file'),
        ({'stamped': 'maybe'}, 'true or false'),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, words):
    """A typing error must not end in a traceback, nor start another input."""
    with pytest.raises(InvalidInput) as caught:
        steps_of(**arguments)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_the_launch_file_is_shipped():
    """What is not installed cannot be launched."""
    assert (share_directory() / 'launch' / 'teleop.launch.py').is_file()
