# SPDX-License-Identifier: Apache-2.0
"""Our nodes on a real controller manager: with mock components, and in MuJoCo where that is there.

What is started is what the launch of hardware starts, by the same tables. The sum of the wrenches
is asked first: of a standing robot it is its weight, upward.
"""

import contextlib
import json
import math
import signal
import subprocess
import sys
import time

from domains import BUSY
from geometry_msgs.msg import WrenchStamped
import pytest
import rclpy
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Bool, Float64MultiArray, String

pytest.importorskip('ament_index_python', reason='it comes with a ROS 2 installation')

from ament_index_python.packages import get_package_prefix, PackageNotFoundError  # noqa: E402
from programs import Program, SCRIPTS  # noqa: E402

from walking_control.ros.launch_arguments import HARDWARE as ARGUMENTS  # noqa: E402
from walking_control.ros.launch_arguments import MUJOCO, read_arguments  # noqa: E402
from walking_control.ros.nodes import topics  # noqa: E402
from walking_control.ros.ros2_control.files import (  # noqa: E402
    commanding,  # noqa: E402
    CONTROLLERS,
    shipped_folder,
)
from walking_control.ros.ros2_control.launching import (  # noqa: E402
    Call,
    find_place,
    plan_hardware,
    plan_mujoco,
    Process,
    US,
)
from walking_control.ros.ros2_control.tags import HARDWARE, tags, with_tags  # noqa: E402

PATIENCE = 60.0  # s for anything to come up; nothing is asserted about it


def need(*packages):
    """Skip unless ROS packages are installed."""
    for package in packages:
        try:
            get_package_prefix(package)
        except (PackageNotFoundError, OSError):  # the latter where no ROS 2 is sourced
            pytest.skip(
                f'{package} is missing: sudo apt install ros-$ROS_DISTRO-'
                + package.replace('_', '-')
            )


class Rig:
    """What runs beside a test, and what the test hears.

    Args:
        bench: The `Bench`.
        place: Of the launch whose steps are started.
        scratch: Folder for parameter files.
    """

    def __init__(self, bench, place, scratch, stack):
        self.bench, self.place, self._scratch, self._stack = bench, place, scratch, stack
        self.node = bench.add(rclpy.create_node('ears'))
        self.node.stop = lambda: None
        self.efforts, self.faults, self.forces = [], [], {}
        listen = self.node.create_subscription
        listen(
            Float64MultiArray,
            topics.EFFORT_COMMANDS,
            lambda message: self.efforts.append((time.monotonic(), list(message.data))),
            10,
        )
        listen(
            String, topics.FAULT, lambda message: self.faults.append(message.data), topics.LATCHED
        )
        for foot in place.wiring.robot.feet:
            listen(
                WrenchStamped,
                topics.foot_wrench(foot),
                lambda message, foot=foot: self.forces.__setitem__(foot, message.wrench.force.z),
                qos_profile_sensor_data,
            )

    def start(self, step):
        """Start a `Process` of the tables; our own nodes by this Python."""
        words = (
            [sys.executable, str(SCRIPTS / step.executable)]
            if step.package == US
            else ['ros2', 'run', step.package, step.executable]
        )
        words += [*step.arguments, '--ros-args']
        for number, parameters in enumerate(step.parameters):
            if not isinstance(parameters, str):
                path = self._scratch / f'{step.key}_{number}.yaml'
                path.write_text(json.dumps({'/**': {'ros__parameters': parameters}}))
                parameters = path
            words += ['--params-file', str(parameters)]
        for old, new in step.remappings:
            words += ['-r', f'{old}:={new}']
        if step.key == 'controller':
            words += [
                '-p',
                'autostart:=true',
                '-p',
                f'safety.state_timeout:={BUSY}',
                '-p',
                'safety.overrun_limit:=10000',
            ]
        return self._stack.enter_context(Program(*words))

    def do(self, *words):
        """Do a command line to its end and return what it printed."""
        done = subprocess.run(words, capture_output=True, text=True, timeout=2 * PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def until(self, condition, timeout=PATIENCE):
        """Listen until a condition holds."""
        assert self.bench.spin_until(condition, timeout)

    def listen(self, duration):
        """Listen for a while, s."""
        end = time.monotonic() + duration
        self.bench.spin_until(lambda: time.monotonic() > end, duration + 5.0)

    @property
    def effort(self):
        """The last efforts commanded."""
        return self.efforts[-1][1] if self.efforts else []

    def active(self):
        """Return the controllers that are active."""
        told = self.do('ros2', 'control', 'list_controllers')
        return {line.split()[0] for line in told.splitlines() if ' active' in line}


@contextlib.contextmanager
def mock_rig(bench, scratch, **words):
    """Yield a `Rig` of Dribbel on mock components, told what `hardware.launch.py` is; the steps."""
    need('controller_manager', 'ros2_controllers', 'robot_state_publisher', 'ros2controlcli')
    with contextlib.ExitStack() as stack:
        place = find_place(read_arguments({'robot': 'dribbel', **words}, ARGUMENTS))
        rig = Rig(bench, place, scratch, stack)
        path = str(shipped_folder('dribbel') / CONTROLLERS[HARDWARE])
        description = with_tags(place.wiring.robot.urdf, tags(place.wiring, HARDWARE))
        rig.start(
            Process(
                'description',
                'robot_state_publisher',
                'robot_state_publisher',
                parameters=({'robot_description': description},),
            )
        )
        rig.start(Process('manager', 'controller_manager', 'ros2_control_node', parameters=(path,)))
        steps = {step.key: step for step in plan_hardware(place)}
        for key in ('sensors', 'load'):
            if key in steps:
                rig.do(
                    'ros2', 'run', steps[key].package, steps[key].executable, *steps[key].arguments
                )
        rig.watchdog, rig.controller = rig.start(steps['watchdog']), rig.start(steps['controller'])
        yield rig, steps


@pytest.fixture
def rig(bench, tmp_path):
    """Return a `Rig` of Dribbel on mock components, armed and walking."""
    with mock_rig(bench, tmp_path, arm='true') as (rig, steps):
        rig.until(lambda: len(rig.efforts) > 10)
        rig.do(*steps['arm'].command)
        rig.until(lambda: any(rig.effort))
        yield rig


def test_a_dry_run_moves_nothing(bench, tmp_path):
    """If it failed, whoever wants to see the commands first would move the robot by them."""
    shadows = []
    with mock_rig(bench, tmp_path, dry_run='true') as (rig, _):
        rig.node.create_subscription(
            Float64MultiArray,
            f'dry_run/{topics.EFFORT_COMMANDS}',
            lambda message: shadows.append(any(message.data)),
            10,
        )
        rig.until(lambda: any(shadows))
        rig.listen(1.0)
        assert not rig.efforts and 'effort_controller' not in rig.active()


def test_it_walks_on_mock_components(rig):
    """If it failed, files or nodes would not fit a real controller manager."""
    weight = rig.place.robot_file.scale.mass * rig.place.wiring.world.gravity
    rig.until(lambda: len(rig.forces) == 2)
    assert sum(rig.forces.values()) == pytest.approx(weight, rel=0.01)
    begin = len(rig.efforts)
    rig.listen(30.0)
    assert not any(rig.faults), rig.faults
    assert len(rig.efforts) - begin > 1000 and any(rig.effort)
    assert set(commanding(rig.place.wiring, HARDWARE)) <= rig.active()
    sender = rig.node.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    sender.publish(Float64MultiArray(data=[math.nan]))  # dropped; it also is a second publisher
    rig.listen(1.0)
    assert 'effort_controller' in rig.active()


def test_a_controller_that_is_killed_is_followed_by_zero(rig):
    """If it failed, the last effort of a dead process would drive a robot for ever."""
    rig.controller.send_signal(signal.SIGKILL)
    rig.until(lambda: not any(rig.effort), 5.0)


def test_an_emergency_stop_ends_in_zero(rig):
    """If it failed, a robot on ros2_control would go on against its operator."""
    stop = rig.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.EVENTS)
    rig.until(lambda: stop.get_subscription_count() > 0)
    stop.publish(Bool(data=True))
    rig.until(lambda: not any(rig.effort), 10.0)


def test_a_controller_deactivated_under_the_node_can_come_back(rig):
    """If it failed, somebody's switch would end our node, or it could not be armed again."""
    switch = ('ros2', 'control', 'switch_controllers')
    rig.do(*switch, '--deactivate', 'effort_controller')
    assert 'effort_controller' not in rig.active() and rig.controller.poll() is None
    rig.do(*switch, '--activate', 'effort_controller')
    assert 'effort_controller' in rig.active() and rig.controller.poll() is None


@pytest.mark.slow
def test_walker3d_stands_and_steps_in_mujoco(bench, tmp_path):
    """If it failed, the shipped files would not walk in mujoco_ros2_control."""
    need(
        'mujoco_ros2_control',
        'controller_manager',
        'ros2_controllers',
        'robot_state_publisher',
        'ros2controlcli',
    )
    with contextlib.ExitStack() as stack:
        place = find_place(read_arguments({'robot': 'walker3d', 'headless': 'true'}, MUJOCO))
        rig = Rig(bench, place, tmp_path, stack)
        for step in plan_mujoco(place):
            if isinstance(step, Call):
                rig.listen(step.delay + (10.0 if step.key == 'resume' else 0.0))
                rig.do(*step.command)
            elif isinstance(step, Process) and step.executable == 'spawner':
                rig.do('ros2', 'run', step.package, step.executable, *step.arguments)
            elif isinstance(step, Process):
                rig.start(step)
        weight = place.robot_file.scale.mass * place.wiring.world.gravity
        sums = []
        rig.until(lambda: any(rig.effort))
        for _ in range(300):
            rig.listen(0.1)
            sums.append(sum(rig.forces.values()))
        assert sum(sums) / len(sums) == pytest.approx(weight, rel=0.1)
        assert not any(rig.faults), rig.faults
        assert any(rig.effort)


def test_what_is_missing_is_said():
    """If it failed, a machine without ros2_control would skip all of this and not say why."""
    with pytest.raises(pytest.skip.Exception, match='sudo apt install ros-.ROS_DISTRO-no-such'):
        need('no_such_package')
