# SPDX-License-Identifier: Apache-2.0
"""What is wrong with somebody's bring-up is found: on file, and by gravity and motion."""

from dataclasses import replace
import json
import math

import numpy as np
import pinocchio as pin
import pytest
import yaml

from walking_control.cli import main
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.ros.ros2_control.check import check_ros2_control
from walking_control.ros.ros2_control.files import shipped_folder
from walking_control.ros.ros2_control.live import judge_record, LiveRecord
from walking_control.ros.ros2_control.wiring import wire
from walking_control.simulation.simulate import simulate

G = 9.81


def changed(tmp_path, robot, change):
    """Return the path of a robot's controllers.yaml with a change."""
    tree = yaml.safe_load((shipped_folder(robot) / 'controllers.yaml').read_text())
    change({key.removeprefix('/**/'): value['ros__parameters'] for key, value in tree.items()})
    path = tmp_path / 'controllers.yaml'
    path.write_text(yaml.safe_dump(tree))
    return path


@pytest.mark.parametrize('robot', ['compass', 'dribbel', 'humanoid', 'walker3d', 'walker3d_points'])
def test_shipped_files_fit_their_robots(robot):
    """If it failed, good files would be called bad."""
    assert check_ros2_control(load_robot(robot), shipped_folder(robot)) == []


@pytest.mark.parametrize(
    'change, words',
    [
        (lambda told: told['effort_controller']['joints'].reverse(), 'another order'),
        (lambda told: told['effort_controller'].update(joints=['elbow']), 'another robot'),
        (lambda told: told['joint_state_broadcaster']['joints'].pop(), 'lack right_elbow'),
        (lambda told: told['imu_broadcaster'].update(frame_id='torso'), 'must be imu_link'),
        (lambda told: told['left_sole_broadcaster'].update(sensor_name='toe'), 'toe/force.z'),
        (lambda told: told['controller_manager'].update(update_rate=100), '500 Hz or more'),
        (lambda told: told['controller_manager'].pop('imu_broadcaster'), 'not declared'),
    ],
)
def test_slips_in_a_file_are_found(tmp_path, change, words):
    """If it failed, efforts would go to other joints, or frames be mixed up, without a word."""
    found = check_ros2_control(load_robot('humanoid'), changed(tmp_path, 'humanoid', change))
    assert any(words in str(problem) for problem in found), found


@pytest.mark.parametrize('name', ['gazebo_controllers.yaml', 'mujoco_controllers.yaml'])
def test_a_swap_in_the_file_of_a_simulator_is_found(tmp_path, name):
    """If it failed, a robot in a simulator would be armed with its joints exchanged, and fall."""
    for path in shipped_folder('walker3d').iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    assert check_ros2_control(load_robot('walker3d'), tmp_path) == []
    tree = yaml.safe_load((tmp_path / name).read_text())
    tree['/**/effort_controller']['ros__parameters']['joints'].reverse()
    (tmp_path / name).write_text(yaml.safe_dump(tree))
    (problem,) = check_ros2_control(load_robot('walker3d'), tmp_path)
    assert problem.what == f'joints of effort_controller in {name}'
    assert 'another order' in str(problem)


def test_the_file_of_another_robot_is_named(tmp_path, capsys):
    """If it failed, `check` would pass a folder that was made for somebody else."""
    assert main(['check', 'dribbel', '--bringup', str(shipped_folder('compass')), '--json']) == 2
    problems = json.loads(capsys.readouterr().out)['problems']
    assert any(problem['what'] == 'controller lock_controller' for problem in problems)
    assert main(['check', 'dribbel', '--bringup', str(shipped_folder('dribbel'))]) == 0
    assert main(['check', 'dribbel', '--bringup', str(tmp_path / 'none.yaml')]) == 2


# -- live --------------------------------------------------------------------------------------


def standing(robot='humanoid', rows=50):
    """Return robot file and record of a robot that stands as it starts."""
    robot_file = load_robot(robot)
    wiring, names = wire(robot_file), robot_file.robot.joints
    start, record = wiring.start, LiveRecord()
    for i in range(rows):
        record.time.append(0.01 * i)
        record.position.append(np.array([start[f'{joint}/position'] for joint in names]))
        record.velocity.append(np.zeros(len(names)))
        record.orientation.append(
            np.array([start[f'{wiring.imu}/orientation.{axis}'] for axis in 'xyzw'])
        )
        record.angular_velocity.append(np.zeros(3))
        record.linear_acceleration.append(
            np.array([start[f'{wiring.imu}/linear_acceleration.{axis}'] for axis in 'xyz'])
        )
        record.foot_force.append(
            np.array(
                [
                    [start[f'{sensor}/force.{axis}'] for axis in 'xyz']
                    for sensor in wiring.forces.values()
                ]
            )
        )
    return robot_file, record


def moving():
    """Return robot file and record of Dribbel in mid-walk, sampled at 100 Hz."""
    robot_file = load_robot('dribbel', [('hip_switching.rate', 1000.0)])
    run = simulate(robot_file, duration=0.45)
    q, v, record = run.columns['q'], run.columns['v'], LiveRecord()
    for row in range(0, len(q), 4):
        pitch = q[row, 2]
        record.time.append(float(run.columns['time'][row]))
        record.position.append(q[row, 3:].copy())
        record.velocity.append(v[row, 3:].copy())
        record.orientation.append(np.array([0.0, math.sin(pitch / 2), 0.0, math.cos(pitch / 2)]))
        record.angular_velocity.append(np.array([0.0, v[row, 2], 0.0]))
        record.linear_acceleration.append(np.array([0.0, 0.0, G]))
        record.foot_force.append(np.array([[0.0, 0.0, 90.0], [0.0, 0.0, 0.0]]))
    return robot_file, record


def scale(name, factor, index=slice(None)):
    """Return what multiplies a column of a record."""

    def change(record):
        for values in getattr(record, name):
            values[..., index] *= factor

    return change


def swap(one, other):
    """Return what lets two joints of walker3d be told for each other."""
    joints = load_robot('walker3d').robot.joints
    i, j = joints.index(one), joints.index(other)

    def change(record):
        for values in record.position:
            values[[i, j]] = values[[j, i]]

    return change


def test_robots_as_they_are_pass():
    """If it failed, good sensors would be called bad."""
    for robot in ('humanoid', 'walker3d', 'walker3d_points', 'dribbel', 'compass'):
        assert judge_record(*standing(robot))[0] == []
    problems, left_out = judge_record(*moving())
    assert problems == []
    assert any('moves' in sentence for sentence in left_out)


def test_a_record_with_a_gap_is_judged():
    """Sensors that were silent for some seconds would end a live check in a trace of the stack."""
    robot_file, record = standing('walker3d')
    half = len(record.time) // 2
    record.time[half:] = [stamp + 2.0 for stamp in record.time[half:]]
    assert judge_record(robot_file, record)[0] == []


@pytest.mark.parametrize('axis', 'xy')
def test_an_imu_whose_link_is_not_told_is_named(axis):
    """Its axes would be taken for those of the base, and the joints be blamed."""
    robot_file, record = standing('walker3d')
    turn = pin.utils.rotate(axis, math.pi / 2.0)  # from the axes of the base to those of the IMU
    record.orientation = [
        pin.Quaternion(pin.Quaternion(row).matrix() @ turn).coeffs() for row in record.orientation
    ]
    record.linear_acceleration = [turn.T @ row for row in record.linear_acceleration]
    (problem,) = judge_record(robot_file, record)[0]
    assert problem.what == f'imu_link {robot_file.robot.imu_link}'
    assert f'up along {"+y" if axis == "x" else "-x"} of the IMU' in str(problem)
    assert 'fit none' in problem.remedy and 'order' not in problem.remedy
    urdf = robot_file.robot.urdf
    link = f'<link name="chip"/>{joint_of(turn)}</robot>'
    robot = replace(robot_file.robot, urdf=urdf.replace('</robot>', link))
    (problem,) = judge_record(replace(robot_file, robot=robot), record)[0]
    assert 'fit chip' in problem.remedy


def joint_of(turn):
    """Return the text of a joint that fixes the link chip to the base, turned."""
    rpy = ' '.join(map(str, pin.rpy.matrixToRpy(turn)))
    return (
        '<joint name="glue" type="fixed"><parent link="pelvis"/><child link="chip"/>'
        f'<origin rpy="{rpy}" xyz="0 0 0"/></joint>'
    )


@pytest.mark.parametrize(
    'change, words',
    [
        (scale('foot_force', -1.0), 'multiplier to -1'),
        (scale('foot_force', 1.0 / 9.80665), 'kilograms'),
        (scale('linear_acceleration', -1.0), 'sign is the other one'),
        (scale('linear_acceleration', 1.0 / G), 'g instead of'),
        (scale('orientation', 0.5), 'length 1'),
        (scale('position', 57.29578), 'degrees'),
        (swap('left_hip_pitch', 'left_knee'), 'position of joint left_knee'),
        (swap('left_hip_pitch', 'left_hip_yaw'), 'another order'),
    ],
)
def test_gravity_finds(change, words):
    """If it failed, a robot would be let go with sensors of another sign, unit or order."""
    robot_file, record = standing('walker3d')
    change(record)
    problems, _ = judge_record(robot_file, record)
    assert any(words in str(problem) for problem in problems), problems


def test_gravity_finds_an_imu_on_its_side():
    """If it failed, an IMU whose axes are not those of its link would be believed."""
    robot_file, record = standing()
    for felt in record.linear_acceleration:
        felt[:] = felt[[2, 1, 0]]
    assert 'degrees from upward' in str(judge_record(robot_file, record)[0][0])


@pytest.mark.parametrize(
    'change, words',
    [
        (scale('velocity', -1.0, 0), 'velocity of joint hip'),
        (scale('velocity', 57.29578), 'degrees instead'),
        (scale('velocity', 0.0), 'must be 1 times'),
        (scale('angular_velocity', -1.0), 'about y'),
        (scale('angular_velocity', 57.29578), 'degrees instead'),
    ],
)
def test_motion_finds(change, words):
    """If it failed, rates of another sign or unit would drive the robot's damping."""
    robot_file, record = moving()
    change(record)
    problems, _ = judge_record(robot_file, record)
    assert any(words in str(problem) for problem in problems), problems


def swung(late=0.0):
    """Return robot file and record of walker3d, held up and swung by hand for five seconds.

    `late`: of gyroscope and accelerometer, s.
    """
    robot_file, record = standing('walker3d')
    posture, rng = record.position[0], np.random.default_rng(0)
    times = np.arange(0.0, 5.0, 0.005)

    def turn(time):
        angles = 0.4 * np.sin(np.array([2.1, 2.9, 3.7]) * time + np.array([0.0, 1.0, 2.0]))
        return pin.rpy.rpyToMatrix(angles)

    held = LiveRecord()
    for time in times:
        seen, told = turn(time), turn(time - late)
        rate = pin.log3(turn(time - late - 1e-4).T @ turn(time - late + 1e-4)) / 2e-4
        held.time.append(float(time))
        held.position.append(posture)
        held.velocity.append(np.zeros(len(posture)))
        held.orientation.append(pin.Quaternion(seen).coeffs())
        held.angular_velocity.append(rate + rng.normal(0.0, 0.02, 3))
        held.linear_acceleration.append(told[2] * G + rng.normal(0.0, 0.2, 3))
        held.foot_force.append(np.zeros((2, 3)))
    return robot_file, held


def test_an_imu_may_come_more_rarely_than_the_joints():
    """If it failed, a good IMU at a third of the rate would be told to turn a third as fast."""
    robot_file, record = swung()
    for row in range(len(record.time)):
        kept = row - row % 3
        for name in ('orientation', 'angular_velocity', 'linear_acceleration'):
            getattr(record, name)[row] = getattr(record, name)[kept]
    problems, _ = judge_record(robot_file, record)
    assert problems == []


def test_swinging_a_good_robot_finds_nothing():
    """If it failed, nobody would swing a robot twice."""
    problems, left_out = judge_record(*swung())
    assert problems == [] and not any('gyroscope' in words for words in left_out)


def exchange(name, one, other):
    """Return what tells two axes of a sensor for each other."""

    def change(record):
        for values in getattr(record, name):
            values[[one, other]] = values[[other, one]]

    return change


def shift(name, off):
    """Return what adds to a column of a record."""

    def change(record):
        for values in getattr(record, name):
            values += off

    return change


@pytest.mark.parametrize(
    'late, change, words',
    [
        (0.06, None, "acceleration of the IMU is '0.06 s after"),
        (0.06, None, "angular velocity of the IMU is '0.06 s after"),
        (0.0, exchange('angular_velocity', 1, 2), "about y is 'told as z'"),
        (0.0, shift('angular_velocity', np.array([0.0, 0.3, 0.0])), "about y is '0.3"),
        (0.0, scale('angular_velocity', 3.0, 1), "about y is '3 times"),
        (0.0, scale('linear_acceleration', -1.0, 0), "about x is '-1"),
        (
            0.0,
            exchange('linear_acceleration', 0, 1),
            "acceleration of the IMU about x is 'told as y'",
        ),
        (0.0, shift('linear_acceleration', np.array([3.0, 0.0, 0.0])), '2.99 beside gravity'),
        (0.0, scale('linear_acceleration', 1.0 / G), 'g instead of'),
    ],
)
def test_swinging_finds(late, change, words):
    """If it failed, gain, sign, axis, unit, delay or offset of an IMU would show in a fall."""
    robot_file, record = swung(late)
    if change is not None:
        change(record)
    problems, _ = judge_record(robot_file, record)
    assert any(words in str(problem) for problem in problems), problems


def test_what_is_not_judged_is_said():
    """If it failed, an empty answer would be taken for a proof."""
    robot_file, record = standing()
    _, left_out = judge_record(robot_file, record)
    assert any('no rate is judged' in sentence for sentence in left_out)
    for force in record.foot_force:
        force[1] = 0.0
        force[0] *= 0.5
    problems, left_out = judge_record(robot_file, record)
    assert problems == [] and any('held' in sentence for sentence in left_out)
    assert all(isinstance(problem, InvalidInput) for problem in problems)
