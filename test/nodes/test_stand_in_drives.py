# SPDX-License-Identifier: Apache-2.0
"""Robots with drives of each kind over the topics of ros2_control, with the stand-in."""

import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.recording.bag import open_bag
from walking_control.ros.recording.replay import recorded_robot, replay
from walking_control.ros.ros2_control.check import check_ros2_control
from walking_control.ros.ros2_control.files import controllers_file, to_yaml, write_ros2_control
from walking_control.ros.ros2_control.stand_in import read_controllers, StandIn
from walking_control.ros.ros2_control.tags import HARDWARE, tags, with_tags
from walking_control.ros.ros2_control.wiring import wire
from walking_control.simulation.simulate import simulate

IMPEDANCE = [('robot.actuators.hip.drive', 'impedance')]
SERVO = [
    ('robot.actuators.hip.drive', 'position'),
    ('robot.actuators.hip.stiffness', 200.0),
    ('robot.actuators.hip.damping', 1.0),
]


def over_topics(robot_file, folder, duration, **settings):
    """Return the run of a demo whose commands go through the stand-in of ros2_control."""
    wiring = wire(robot_file)
    path = folder / 'controllers.yaml'
    path.write_text(to_yaml(controllers_file(wiring)))
    given = (('controllers_file', str(path)), *settings.items())
    return run_demo(robot_file, duration, settings=given).run


def tagged(folder, edited_robot_file, name, drive):
    """Return a robot with drives, and their interfaces in the tags of its URDF."""
    plain = load_robot(name, drive)
    path = folder / f'{name}.urdf'
    path.write_text(with_tags(plain.robot.urdf, tags(wire(plain), HARDWARE)))

    def edit(tree):
        tree['robot']['urdf'] = str(path)
        tree['robot'].pop('xacro_args', None)
        tree['robot']['actuators'] = plain.tree['robot']['actuators']

    return load_robot(edited_robot_file(edit, name))


@pytest.mark.parametrize(
    'drive', [pytest.param(IMPEDANCE, marks=pytest.mark.long), SERVO], ids=['impedance', 'position']
)
def test_dribbel_walks_over_the_topics_of_its_drives(tmp_path, edited_robot_file, drive):
    """If it failed, a robot whose drives take kp and kd, or positions, would not walk over ROS."""
    robot_file = tagged(tmp_path, edited_robot_file, 'dribbel', drive)
    record = tmp_path / 'walk.mcap'
    run = over_topics(robot_file, tmp_path, 2.0, record=str(record))
    alone = simulate(robot_file, duration=2.0)
    assert run.fault is None and run.steps[-1] == alone.steps[-1]
    assert abs(run.q[-1, 0] - alone.q[-1, 0]) < 1e-6
    bag = open_bag(record)
    assert replay(bag, recorded_robot(bag))[0]['identical']


@pytest.mark.long
def test_walker3d_walks_over_its_topics(tmp_path, edited_robot_file):
    """If it failed, twelve impedance drives would not walk in space over ROS."""
    joints = load_robot('walker3d').robot.joints
    drive = [(f'robot.actuators.{joint}.drive', 'impedance') for joint in joints]
    base = tagged(tmp_path, edited_robot_file, 'walker3d', drive)
    robot_file = load_robot(base.path, [('stepping.speed', 0.4)])
    run = over_topics(robot_file, tmp_path, 2.5)
    alone = simulate(robot_file, duration=2.5)
    assert run.fault is None and run.steps[-1] == alone.steps[-1] >= 4
    assert run.q[-1, 0] - run.q[0, 0] > 0.4
    assert abs(run.q[-1] - alone.q[-1]).max() < 1e-6


def test_the_files_name_the_interfaces_of_each_drive(tmp_path, edited_robot_file):
    """If it failed, ros2_control would get no position, kp or kd of a drive that takes them."""
    robot_file = tagged(tmp_path, edited_robot_file, 'dribbel', IMPEDANCE)
    wiring = wire(robot_file)
    write_ros2_control(robot_file, wiring, tmp_path)
    tree = read_controllers(tmp_path / 'controllers.yaml')
    told = {name: tree[f'{name}_controller']['interface_name'] for name in ('position', 'velocity')}
    assert told == {'position': 'position', 'velocity': 'velocity'}
    assert tree['stiffness_controller']['interface_name'] == 'kp'
    assert tree['damping_controller']['interface_name'] == 'kd'
    assert not check_ros2_control(robot_file, tmp_path)
    simulated = read_controllers(tmp_path / 'mujoco_controllers.yaml')
    assert 'stiffness_controller' not in simulated and 'effort_controller' in simulated
    servo = controllers_file(wire(load_robot('dribbel', SERVO)))
    assert '/**/position_controller' in servo and '/**/effort_controller' not in servo


def test_a_joint_with_two_interfaces_is_refused(tmp_path, edited_robot_file):
    """If it failed, a drive would be told efforts and positions, and nobody would know which."""
    robot_file = tagged(tmp_path, edited_robot_file, 'dribbel', IMPEDANCE)
    write_ros2_control(robot_file, wire(robot_file), tmp_path)
    tree = read_controllers(tmp_path / 'controllers.yaml')
    plain = load_robot('dribbel').robot
    with pytest.raises(InvalidInput, match='beside the one that the drives take: effort'):
        StandIn(plain, tree, robot_file.robot.urdf)
    tree['velocity_controller']['interface_name'] = 'position'
    with pytest.raises(InvalidInput, match='hip/position is 2: is commanded more than once'):
        StandIn(robot_file.robot, tree)
