# SPDX-License-Identifier: Apache-2.0
"""Recordings: readable by others, complete in themselves, replayed to the bit."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models import Command, Measurement
from walking_control.ros.recording.bag import open_bag, read_rows
from walking_control.ros.recording.recorder import Recorder
from walking_control.ros.recording.replay import recorded_robot, replay
from walking_control.ros.recording.ticks import Messages
from walking_control.ros.ros2_control import names
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant, simulate

STORE = get_typestore(Stores.ROS2_JAZZY)


def record(path, robot_file, duration):
    """Record a walk; return its `Run`."""
    bag = Recorder(robot_file, robot_file.controller, path)
    run = simulate(robot_file, duration=duration, listen=bag.write)
    assert bag.close() == path
    return run


@pytest.fixture(scope='module')
def walk(tmp_path_factory):
    """Return the path of a recorded walk of Dribbel with noise, and its `Run`."""
    path = tmp_path_factory.mktemp('bag') / 'walk.mcap'
    return path, record(path, load_robot('dribbel', noise_overrides('lab')), 3.0)


def test_others_read_it(walk):
    """If it failed, `ros2 bag` and PlotJuggler would find no messages that they know."""
    path, run = walk
    assert path.parent.joinpath(path.name).is_file() and list(path.parent.iterdir()) == [path]
    counts, stamps = {}, []
    with Reader(path) as reader:
        for connection, time, data in reader.messages():
            counts[connection.topic] = counts.get(connection.topic, 0) + 1
            if connection.topic == '/joint_states':
                message = STORE.deserialize_cdr(data, connection.msgtype)
                assert message.name == ['hip', 'outer_knee', 'inner_knee']
                stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
                assert stamps[-1] == time
    ticks = len(run.time)
    for topic in (
        '/joint_states',
        '/imu_broadcaster/imu',
        '/outer_foot_broadcaster/wrench',
        '/inner_foot_broadcaster/wrench',
        '/lock_broadcaster/joint_states',
        '/effort_controller/commands',
        '/lock_controller/commands',
    ):
        assert counts[topic] == ticks
    assert counts['/robot_description'] == 1
    assert np.diff(stamps).min() > 0


def test_replay_answers_the_same_to_the_bit(walk):
    """If it failed, a walk of yesterday could not be looked into today."""
    bag = open_bag(walk[0])
    result, _ = replay(bag, recorded_robot(bag))
    assert result['identical'] and result['compared'] == result['ticks'] == len(walk[1].time)
    other, _ = replay(bag, recorded_robot(bag, [('set_point', 0.2)]))
    assert not other['identical'] and other['first_difference'] is not None
    assert other['largest_difference']['hip'] > 0.1


def test_what_was_wanted_is_replayed(tmp_path):
    """If it failed, the replay of a steered walk would go another way."""
    robot_file = load_robot('dribbel')
    loop = ControlLoop(robot_file)

    def steer(told):
        loop.reference.speed = 0.33 if told.stamp > 1.0 else None
        loop.reference.velocity = np.array([0.33, 0.0, 0.0]) if told.stamp > 1.0 else None

    writer = Recorder(robot_file, 'hip_switching', tmp_path / 'steered.mcap')
    run_plant(
        make_plant(robot_file), loop, robot_file.start, 2.0, before=steer, listen=writer.write
    )
    bag = open_bag(writer.close())
    speeds = [row.reference.speed for row in read_rows(bag, robot_file.robot)]
    assert set(speeds) == {None, 0.33} and speeds[0] is None
    assert replay(bag, recorded_robot(bag))[0]['identical']


def test_verbs_record_replay_and_plot(tmp_path, capsys):
    """If it failed, what pages promise of these verbs would not hold."""
    path = str(tmp_path / 'walk.mcap')
    assert main(['simulate', 'dribbel', '--duration', '0.5', '--record', path, '--json']) == 0
    capsys.readouterr()
    assert main(['replay', path, '--json']) == 0
    assert json.loads(capsys.readouterr().out)['identical'] is True
    assert main(['replay', path, '--set', 'set_point=0.2']) == 1
    assert main(['plot', path, '--out', str(tmp_path), '--json']) == 0
    output = capsys.readouterr().out
    result = json.loads(output[output.index('{') :])
    assert result['columns']['joint positions'] == ['hip', 'outer_knee', 'inner_knee']
    assert all(Path(file).stat().st_size > 10_000 for file in result['files'])
    assert main(['simulate', 'dribbel', '--duration', '0.5', '--record', path]) == 2
    assert 'exists' in capsys.readouterr().err


@pytest.mark.long
def test_runs_are_plotted_too(tmp_path, capsys):
    """If it failed, `plot` would know bags alone."""
    assert main(['simulate', 'dribbel', '--duration', '0.5', '--out', str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(['plot', str(tmp_path), '--out', str(tmp_path / 'plots'), '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert 'hip' in result['columns']['rad'] and result['rows'] == 51


def test_unusable_recordings_are_refused(tmp_path, walk, capsys):
    """If it failed, bad input would end in a traceback."""
    broken = tmp_path / 'broken.mcap'
    broken.write_bytes(walk[0].read_bytes()[:3000])
    (tmp_path / 'text.mcap').write_text('no bag')
    (tmp_path / 'empty').mkdir()
    for name in ('broken.mcap', 'text.mcap', 'none.mcap', 'empty'):
        for verb in ('replay', 'plot'):
            assert main([verb, str(tmp_path / name), '--out', str(tmp_path)]) == 2, (verb, name)
            error = capsys.readouterr().err
            assert error.startswith('error: ') and error.count('\n') == 1
    assert main(['replay', str(walk[0]), '--robot', 'compass']) == 2
    assert 'no complete set of sensors of robot compass' in capsys.readouterr().err
    with pytest.raises(InvalidInput, match='must end in'):
        Recorder(load_robot('dribbel'), 'hip_switching', tmp_path / 'walk.bag')


@pytest.mark.long
def test_a_recording_becomes_a_report_by_what_the_simulator_said_of_the_base(tmp_path, capsys):
    """If it failed, a walk in another simulator could not be judged by where the robot was."""
    path = tmp_path / 'walk.mcap'
    robot_file = load_robot('walker3d', [('world.slope', 0.05)])
    run = record(path, robot_file, 0.1)
    floor = pin.utils.rotate('y', run.world.slope)
    told, types = tmp_path / 'told', STORE.types
    with (
        Writer(told, version=8, storage_plugin=StoragePlugin.MCAP) as writer,
        Reader(path) as reader,
    ):
        channels = {}
        odometry = writer.add_connection(
            '/simulator/floating_base_state', 'nav_msgs/msg/Odometry', typestore=STORE
        )
        rows = iter(range(len(run.time)))
        for connection, time, data in reader.messages():
            if connection.topic not in channels:
                channels[connection.topic] = writer.add_connection(
                    connection.topic, connection.msgtype, typestore=STORE
                )
            if connection.topic == '/joint_states':
                row = next(rows)
                writer.write(
                    odometry,
                    time,
                    STORE.serialize_cdr(
                        make_odometry(types, run.base, row, floor), 'nav_msgs/msg/Odometry'
                    ),
                )
            writer.write(channels[connection.topic], time, data)
    assert main(['replay', str(told), '--out', str(tmp_path / 'report'), '--json']) == 0
    assert any(
        file.endswith('report.html') for file in json.loads(capsys.readouterr().out)['files']
    )
    bag = open_bag(told)
    result, again = replay(bag, recorded_robot(bag))
    assert result['identical'] and again.plant == 'recording'
    for name in ('q', 'v', 'time', 'effort', 'estimate'):
        assert np.allclose(again.columns[name], run.columns[name], atol=1e-9), name
    # a tick is two steps of the plant there, one here
    assert again.electrical_energy[-1] == pytest.approx(run.electrical_energy[-1], rel=0.05)


def test_a_recording_with_other_efforts_is_refused(tmp_path):
    """If it failed, a recording of another robot with the same joints would end in a traceback."""
    robot = load_robot('dribbel').robot

    def messages():
        tick = names.tick_number_of(10**9)
        for topic, message in Messages(robot).tick(
            Measurement(robot), Command(robot), (1, 0), tick
        ):
            if topic == names.EFFORT_COMMANDS:
                message.data = np.zeros(5)
            yield topic, message

    bag = SimpleNamespace(path=tmp_path / 'walk.mcap', messages=messages)
    with pytest.raises(InvalidInput, match='recorded efforts is 5: numbers a tick; must be 1'):
        list(read_rows(bag, robot))


def make_odometry(types, base, row, floor):
    """Return what mujoco_ros2_control says of a base: all in the world's axes but the rates."""
    turn = pin.Quaternion(floor) * pin.Quaternion(base.orientation[row])

    def named(kind, axes, values):
        return types[f'geometry_msgs/msg/{kind}'](**dict(zip(axes, map(float, values))))

    stamp = types['builtin_interfaces/msg/Time'](sec=0, nanosec=0)
    pose = types['geometry_msgs/msg/Pose'](
        position=named('Point', 'xyz', floor @ base.position[row]),
        orientation=named('Quaternion', 'xyzw', turn.coeffs()),
    )
    twist = types['geometry_msgs/msg/Twist'](
        linear=named('Vector3', 'xyz', floor @ base.linear[row]),
        angular=named('Vector3', 'xyz', base.angular[row]),
    )
    return types['nav_msgs/msg/Odometry'](
        header=types['std_msgs/msg/Header'](stamp=stamp, frame_id='odom'),
        child_frame_id='base',
        pose=types['geometry_msgs/msg/PoseWithCovariance'](pose=pose, covariance=np.zeros(36)),
        twist=types['geometry_msgs/msg/TwistWithCovariance'](twist=twist, covariance=np.zeros(36)),
    )
