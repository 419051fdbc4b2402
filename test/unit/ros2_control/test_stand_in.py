# SPDX-License-Identifier: Apache-2.0
"""The stand-in does to messages what ros2_control does, the unpleasant things among them."""

from dataclasses import replace
import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Measurement
from walking_control.ros.ros2_control.files import shipped_folder
from walking_control.ros.ros2_control.launching import FORCE_TIME
from walking_control.ros.ros2_control.stand_in import Place, read_controllers, StandIn
from walking_control.ros.ros2_control.tags import with_tags
from walking_control.simulation.registry import make_plant


@pytest.fixture
def tree():
    """Return the controllers of Dribbel, to be changed."""
    return read_controllers(shipped_folder('dribbel') / 'controllers.yaml')


def manager(tree, robot='dribbel'):
    """Return a stand-in of a robot."""
    return StandIn(load_robot(robot).robot, tree)


def written(stand_in, size=1):
    """Return efforts and locks after one cycle."""
    command = Command(stand_in._robot)
    stand_in.write(command)
    return command.effort[:size].tolist(), command.lock.tolist()


def test_the_last_command_is_held_for_ever(tree):
    """If it failed, a controller that dies would seem harmless here and not on a robot."""
    stand_in = manager(tree)
    assert stand_in.update() == [] and written(stand_in)[0] == [0.0]
    stand_in.receive('effort_controller', [2.0])
    for _ in range(1000):
        assert stand_in.update() == []
    assert written(stand_in)[0] == [2.0]


def test_what_is_not_finite_is_dropped(tree):
    """If it failed, a law that sends NaN would be stopped here and carried on by a robot."""
    stand_in = manager(tree)
    stand_in.receive('effort_controller', [2.0])
    for bad in (math.nan, math.inf):
        assert not stand_in.receive('effort_controller', [bad])
    assert stand_in.update() == [] and written(stand_in)[0] == [2.0] and stand_in.dropped == 2


def test_a_wrong_length_deactivates(tree):
    """If it failed, a controller for another robot would seem to work."""
    stand_in = manager(tree)
    stand_in.receive('effort_controller', [2.0])
    stand_in.update()
    stand_in.receive('effort_controller', [1.0, 1.0])
    assert stand_in.update() == ['effort_controller']
    stand_in.receive('effort_controller', [0.0])
    assert stand_in.update() == [] and written(stand_in)[0] == [2.0]  # nobody takes it away
    stand_in.receive('lock_controller', [1.0, 0.0])
    assert stand_in.update() == [] and written(stand_in)[1] == [True, False]


def test_joints_count_in_the_order_of_the_file():
    """If it failed, a file with joints in another order would move the right ones here alone."""
    tree = read_controllers(shipped_folder('humanoid') / 'controllers.yaml')
    robot = load_robot('humanoid').robot
    tree['effort_controller']['joints'].reverse()
    tree['joint_state_broadcaster']['joints'].sort()
    stand_in = manager(tree, 'humanoid')
    stand_in.receive('effort_controller', [float(i) for i in range(19)])
    stand_in.update()
    assert written(stand_in, 19)[0] == [float(i) for i in range(19)][::-1]
    told = stand_in.arrange(np.arange(19.0))
    assert [robot.joints[int(number)] for number in told] == sorted(robot.joints)


def test_wrenches_are_multiplied(tree):
    """If it failed, a wrong sign in a file would not show here."""
    tree['inner_foot_broadcaster']['multiplier']['force']['z'] = -1.0
    stand_in = manager(tree)
    force = np.array([1.0, 2.0, 3.0])
    assert stand_in.multiply('outer_foot', force).tolist() == [1.0, 2.0, 3.0]
    assert stand_in.multiply('inner_foot', force).tolist() == [1.0, 2.0, -3.0]


def test_limits_are_enforced_where_the_file_says_so(tree):
    """If it failed, an effort would pass here that Kilted and Lyrical clamp."""
    for enforced, expected in ((True, -22.0), (False, -100.0)):
        tree['controller_manager']['enforce_command_limits'] = enforced
        stand_in = manager(tree)
        stand_in.receive('effort_controller', [-100.0])
        stand_in.update()
        assert written(stand_in)[0] == [expected]


@pytest.mark.parametrize(
    'position, velocity, asked, given',
    [
        (0.0, 0.0, 5.0, 5.0),
        (1.5, 0.0, 5.0, 0.0),
        (1.6, 0.1, 5.0, 0.0),
        (1.5, -0.1, 5.0, 5.0),
        (1.5, 0.0, -5.0, -5.0),
        (-1.5, 0.0, -5.0, 0.0),
        (-1.5, 0.1, -5.0, -5.0),
        (0.0, 11.0, 5.0, 0.0),
        (0.0, 11.0, -5.0, -5.0),
        (0.0, -11.0, -5.0, 0.0),
    ],
)
def test_efforts_past_a_limit_are_taken_to_zero(tree, position, velocity, asked, given):
    """If it failed, a spring that holds a joint at its limit would hold here and not on a robot."""
    tree['controller_manager']['enforce_command_limits'] = True
    stand_in = manager(tree)
    stand_in.receive('effort_controller', [asked])
    stand_in.update(np.array([position, 0.0, 0.0]), np.array([velocity, 0.0, 0.0]))
    assert written(stand_in)[0] == [given] and stand_in.cut == (asked != given)


def test_gazebo_spoils_what_it_measures():
    """If it failed, nothing here would be tried on the first, repeated and lost samples there."""
    robot = load_robot('dribbel').robot
    place, measurement = Place('gazebo', robot), Measurement(robot)
    told = []
    for tick in range(1000):
        measurement.stamp = 0.001 * tick
        measurement.position[:] = measurement.foot_force[:] = 1.0 + tick
        spoiled = place.spoil(measurement)
        assert spoiled.stamp == measurement.stamp
        told.append((spoiled.position[0], *spoiled.foot_force[:, 2]))
    told = np.array(told)
    assert told[0].tolist() == [1.0, 0.0, 0.0] and np.isnan(told[1, 1:]).all()
    assert 0.1 < np.mean(np.diff(told[2:, 0]) == 0.0) < 0.2
    assert 0.01 < np.mean(told[2:, 1] == 0.0) < 0.04


@pytest.mark.long
@pytest.mark.parametrize('force_time, quiet', [(0.0, False), (FORCE_TIME, True)])
def test_dribbel_walks_on_gazebos_samples(force_time, quiet):
    """If it failed, samples that Gazebo repeats and loses would end a walk: contact_flicker."""
    robot_file = load_robot('dribbel', [('estimator.force_time', force_time)])
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    place, measurement = Place('gazebo', robot_file.robot), Measurement(robot_file.robot)
    plant.reset(robot_file.start)
    plant.measure(measurement)
    flicker = 0
    for _ in place.habits.first:
        place.spoil(measurement)
    for _ in range(1500):  # ticks of 1 ms, as there
        command = loop.tick(place.spoil(measurement))
        flicker = max(flicker, loop.state.flicker)
        plant.step(command, 0.001)
        plant.measure(measurement)
    assert flicker == 0 if quiet else flicker > 5
    assert loop.state.steps >= 2 or not quiet


@pytest.mark.parametrize(
    'change, words',
    [
        (lambda tree: tree['effort_controller'].update(joints=['outer_knee']), 'outer_knee/effort'),
        (lambda tree: tree['effort_controller'].update(joints=['left_knee']), 'left_knee/effort'),
        (lambda tree: tree['controller_manager'].pop('imu_broadcaster'), 'imu_broadcaster'),
        (
            lambda tree: tree['controller_manager']['effort_controller'].update(
                type='effort_controllers/JointGroupEffortController'
            ),
            'ForwardCommandController',
        ),
        (lambda tree: tree['outer_foot_broadcaster'].update(sensor_name='toe'), 'toe/force.z'),
        (lambda tree: tree['joint_state_broadcaster'].update(joints=['toe']), 'toe'),
    ],
)
def test_what_could_not_be_activated_is_refused(tree, change, words):
    """If it failed, files would pass here that a controller manager cannot start."""
    change(tree)
    with pytest.raises(InvalidInput, match=words):
        manager(tree)


def test_a_urdf_without_tags_says_what_to_include(tree):
    """An adopted robot would be refused by its first motor alone, though all tags are missing."""
    robot = load_robot('dribbel').robot
    bare = replace(robot, urdf=with_tags(robot.urdf))
    with pytest.raises(InvalidInput, match=r'include dribbel\.ros2_control\.xacro in the URDF'):
        StandIn(bare, tree)


def test_unreadable_files_are_refused(tmp_path):
    """If it failed, a slip in a file would end in a traceback."""
    path = tmp_path / 'controllers.yaml'
    for text in ('[', 'a: 1', 'imu_broadcaster: {ros__parameters: {}}', '- 1'):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_controllers(path)
    with pytest.raises(InvalidInput):
        read_controllers(tmp_path / 'none.yaml')
