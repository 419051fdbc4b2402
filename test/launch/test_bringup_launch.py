# SPDX-License-Identifier: Apache-2.0
"""Launch files of Gazebo, MuJoCo and hardware with real launch and our real nodes.

Other packages' programs are played: each writes down how it was started, and ends well or badly.
"""

import json
import os
from pathlib import Path
import stat
import sys

import pytest

for module in ('launch.actions', 'launch_ros.actions'):
    pytest.importorskip(module, reason=f'{module} is missing: it comes with a ROS 2 installation')

from launch.actions import IncludeLaunchDescription, OpaqueFunction, TimerAction  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402

from launch import LaunchDescription, LaunchService  # noqa: E402
from walking_control.exceptions import InvalidInput  # noqa: E402
from walking_control.models.resources import share_directory  # noqa: E402
from walking_control.ros.nodes.launch_actions import actions  # noqa: E402
from walking_control.ros.ros2_control.launching import Process  # noqa: E402

PATIENCE = 90.0  # s of wall time, for slow machines; nothing is asserted about it
PROGRAM = """#!{python}
import json, os, pathlib, signal, sys, time
name = {name!r}
stop = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.append(1))
log = pathlib.Path(os.environ['PLAYED'])
with log.open('a') as file:
    file.write(json.dumps([name, sys.argv[1:]]) + '\\n')
if os.environ.get('FAILS') == name:
    sys.exit(3)
if {lasting!r}:
    # a simulator ends some time after it was let go
    end = None
    while not stop:
        text = log.read_text()
        if 'paused: false' in text or '--activate effort_controller' in text:
            end = end or time.monotonic() + 3.0
        if {simulator!r} and end and time.monotonic() > end:
            break
        time.sleep(0.05)
"""
GZ_SIM = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('gz_args'), DeclareLaunchArgument('on_exit_shutdown'),
        Node(package='ros_gz_sim', executable='gz', arguments=[LaunchConfiguration('gz_args')],
             on_exit=Shutdown())])
"""
# package -> executable -> (whether it lasts, whether it is a simulator)
PACKAGES = {
    'ros_gz_sim': {'create': (False, False), 'gz': (True, True)},
    'ros_gz_bridge': {'parameter_bridge': (True, False)},
    'robot_state_publisher': {'robot_state_publisher': (True, False)},
    'controller_manager': {'spawner': (False, False)},
    'mujoco_ros2_control': {'ros2_control_node': (True, True)},
}


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Return the path where played programs write down how they were started."""
    prefix, path = tmp_path / 'prefix', tmp_path / 'bin'
    path.mkdir()
    for package, programs in PACKAGES.items():
        index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
        index.mkdir(parents=True, exist_ok=True)
        (index / package).touch()
        (prefix / 'share' / package / 'launch').mkdir(parents=True)
        for name, (lasting, simulator) in programs.items():
            write_program(prefix / 'lib' / package / name, name, lasting, simulator)
    (prefix / 'share' / 'ros_gz_sim' / 'launch' / 'gz_sim.launch.py').write_text(GZ_SIM)
    for name in ('gz', 'ros2'):  # command lines
        write_program(path / name, f'{name} command', False, False)
    log = tmp_path / 'played'
    log.touch()
    for name, value in {
        'AMENT_PREFIX_PATH': f'{prefix}{os.pathsep}' + os.environ.get('AMENT_PREFIX_PATH', ''),
        'PATH': f'{path}{os.pathsep}{os.environ["PATH"]}',
        'PLAYED': str(log),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_LOG_DIR': str(tmp_path / 'log'),
    }.items():
        monkeypatch.setenv(name, value)
    return log


def write_program(path, name, lasting, simulator):
    """Write a played program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        PROGRAM.format(python=sys.executable, name=name, lasting=lasting, simulator=simulator)
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(name, end_after=None, **arguments):
    """Return launch's exit status; a launch that does not end by itself is a failure."""
    hung = []

    def give_up(context):
        hung.append(True)
        raise TimeoutError(f'launch has not ended after {PATIENCE:g} s')

    def end(context):
        from launch.actions import Shutdown

        return [Shutdown(reason='enough')]

    path = share_directory() / 'launch' / f'{name}.launch.py'
    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [
                IncludeLaunchDescription(
                    PythonLaunchDescriptionSource(str(path)), launch_arguments=arguments.items()
                ),
                TimerAction(period=PATIENCE, actions=[OpaqueFunction(function=give_up)]),
                *(
                    [TimerAction(period=end_after, actions=[OpaqueFunction(function=end)])]
                    if end_after
                    else []
                ),
            ]
        )
    )
    status = service.run()
    assert not hung
    return status


def started(log):
    """Return (program, words) of what was played, in order."""
    return [
        (name, ' '.join(words)) for name, words in map(json.loads, log.read_text().splitlines())
    ]


def test_gazebo_is_armed_when_all_is_there(played):
    """If it failed, the robot would be limp before our controller is there, or never move."""
    assert run('gazebo', robot='humanoid', headless='true') == 0
    events = started(played)
    order = [name for name, _ in events]
    assert [order.count(name) for name in ('gz', 'create', 'spawner', 'parameter_bridge')] == [
        1,
        1,
        1,
        1,
    ]
    assert '--inactive' in dict(events)['spawner']
    assert order.index('create') < order.index('spawner') < order.index('gz command')
    command = dict(events)['gz command']
    assert command.endswith('pause: false') and '/world/walking/control' in command
    sensors, arm = (words for name, words in events if name == 'ros2 command')
    assert 'imu_broadcaster' in sensors and 'effort_controller' not in sensors
    assert arm.endswith('--activate effort_controller') and order[-1] == 'ros2 command'
    assert Path(dict(events)['gz'].split(' -s')[0]).name == 'world.sdf'


def test_mujoco_is_put_back_before_it_goes_on(played):
    """If it failed, a robot would begin where it fell to while its controllers were loaded."""
    assert run('mujoco_ros2_control', robot='dribbel') == 0
    switch, *calls = [words for name, words in started(played) if name == 'ros2 command']
    assert 'switch_controllers' in switch
    assert [
        next(word for word in ('paused: true', 'keyframe', 'paused: false') if word in call)
        for call in calls
    ] == ['paused: true', 'keyframe', 'paused: false']


def test_hardware_waits_for_somebody_to_arm_it(played):
    """If it failed, a robot would be armed by starting it."""
    assert run('hardware', end_after=8.0, robot='dribbel') == 0
    sensors, load = (words for name, words in started(played) if name == 'spawner')
    assert sensors.startswith('joint_state_broadcaster imu_broadcaster')
    assert load.startswith('effort_controller lock_controller') and '--inactive' in load


def test_a_step_that_fails_ends_the_launch(played, monkeypatch):
    """If it failed, a controller manager that never answers would leave half a robot running."""
    monkeypatch.setenv('FAILS', 'spawner')
    assert run('hardware', robot='dribbel', manager_timeout='1.0') != 0
    assert [name for name, _ in started(played)] == ['spawner']
    assert '--controller-manager-timeout 1.0' in started(played)[0][1]


def test_packages_that_are_missing_are_named():
    """If it failed, a user without Gazebo would get a traceback instead of what to install."""
    with pytest.raises(InvalidInput, match='sudo apt install ros-.ROS_DISTRO-no-such-package'):
        actions([Process('tool', 'no_such_package', 'tool')])
