# SPDX-License-Identifier: Apache-2.0
"""One test per row of the fault table; the rows of doc/faults.md are the markers here."""

import math
import re
import signal
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from programs import Program, SCRIPTS
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.operation import Operation, Patience
from walking_control.ros.nodes import controller_node, topics
from walking_control.ros.nodes.sensors import combined_writer
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.safety.faults import KINDS
from walking_control.safety.latch import Latch
from walking_control.safety.machine import State
from walking_control.simulation.registry import make_plant

EFFORT = 74 * 0.0302 * 10.0 * 0.6  # N kt Kp (0.3 + 0.3 rad)
fault = pytest.mark.fault


@pytest.fixture
def node(bench, robot):
    """Return an active controller in lockstep that has answered one measurement.

    No law of it can stand: a stop takes the power at once, as the table of faults says.
    """
    node = bench.controller()
    node.loop.supervisor.lead(None, None)
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT)
    return node


@pytest.fixture
def realtime(bench, robot):
    """Return an active controller in real time that has answered; no law of it can stand."""
    # patient enough for a loaded machine; the default is tested in test_controller_node.py
    node = bench.controller(realtime=True, safety__state_timeout=0.3)
    node.loop.supervisor.lead(None, None)
    robot.wait()
    assert robot.stream_until(lambda: moving(robot))
    return node


def moving(robot):
    """Return whether the last command is not zero."""
    return bool(robot.efforts) and robot.efforts[-1].data[0] != 0.0


def resting(robot):
    """Return whether the last command is zero."""
    return bool(robot.efforts) and robot.efforts[-1].data[0] == 0.0


def clear(bench, robot):
    """Call the clear service; it must succeed."""
    assert ask_clear(bench, robot).success


def ask_clear(bench, robot):
    """Call the clear service and return what it answers."""
    client = robot.node.create_client(Trigger, 'walking_controller/clear_fault')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    future = client.call_async(Trigger.Request())
    assert bench.spin_until(future.done)
    return future.result()


def insist(robot, stamp, **sensors):
    """Say something twice, longer than bridge_time; return the effort that answers."""
    robot.ask(stamp, **sensors)
    return robot.ask(stamp + 0.01, **sensors)


def check_latched(bench, robot, node, code, stamp):
    """Check that a fault stays with good sensors, and that clearing it re-arms."""
    assert node.loop.fault.code == code, node.loop.fault
    assert abs(robot.ask(stamp)) < 1e-9, 'the damped joint is at rest in the next measurement'
    assert node.loop.fault.code == code
    clear(bench, robot)
    assert robot.ask(stamp + 0.01) == pytest.approx(EFFORT)


@fault(
    'Measured NaN or infinity',
    code='not_finite',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_not_finite(bench, robot, node):
    """A NaN that reached the law would come out as torque."""
    assert robot.ask(1.01, position=(math.nan, 0.0, 0.0)) == pytest.approx(EFFORT), 'bridged'
    assert robot.ask(1.02, position=(math.nan, 0.0, 0.0)) == 0.0
    check_latched(bench, robot, node, 'not_finite', 1.03)
    assert robot.ask(1.05, engaged=(math.nan, 1.0)) == 0.0
    assert node.loop.fault.code == 'not_finite' and 'lock' in node.loop.fault.message


@fault(
    'Joint missing from the joint states',
    code='joint_state',
    detected='at the tick',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_missing_joint(bench, robot, node):
    """A missing joint must not be read as zero."""
    assert (
        robot.ask(1.01, names=('hip', 'outer_knee'), position=(0.0, 0.0), velocity=(0.0, 0.0))
        == 0.0
    )
    assert 'inner_knee' in node.loop.fault.message
    check_latched(bench, robot, node, 'joint_state', 1.02)


@fault(
    'IMU quaternion not of norm 1',
    code='orientation',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_orientation(bench, robot, node):
    """An IMU that sends zeros before it is up would read as upright."""
    assert insist(robot, 1.01, norm=0.5) == 0.0
    check_latched(bench, robot, node, 'orientation', 1.03)


@fault(
    'IMU says that it measures no orientation, or no angular velocity',
    code='orientation',
    detected='the angular velocity: `gyroscope`',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'measured, code',
    [((-1.0, 0.0, 0.0), 'orientation'), ((0.0, -1.0, 0.0), 'gyroscope')],
)
def test_an_imu_that_does_not_measure(bench, robot, node, measured, code):
    """The zeros and ones beside a covariance of -1 would be read as an attitude."""
    assert robot.ask(1.01, measured=(0.0, 0.0, -1.0)) == pytest.approx(EFFORT)
    assert robot.ask(1.02, measured=measured) == 0.0
    assert 'REP 145' in node.loop.fault.message
    check_latched(bench, robot, node, code, 1.3)


@fault(
    'Frame of an IMU changes',
    code='imu_gravity',
    detected='at the tick',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'Frame of a foot sensor changes',
    code='foot_force',
    detected='at the tick',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_a_frame_that_changes(bench, robot):
    """Numbers along other axes, or of another sensor, would be taken for ours."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0, imu_frame='base') == pytest.approx(EFFORT)
    assert robot.ask(1.01, imu_frame='camera') == 0.0
    assert "is 'camera': was 'base'" in node.loop.fault.message
    assert node.loop.fault.code == 'imu_gravity'
    assert robot.ask(1.2, imu_frame='base') == 0.0
    clear(bench, robot)
    assert robot.ask(1.21, imu_frame='base') == pytest.approx(EFFORT)
    assert robot.ask(1.22, imu_frame='base', foot_frame='outer_foot') == 0.0
    assert node.loop.fault.code == 'foot_force'


@fault(
    'IMU feels gravity elsewhere: mounted, wired or filtered otherwise than described',
    code='imu_gravity',
    detected='once the feet have carried the robot for 0.2 s; later within 1 s',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_imu_gravity(bench, robot):
    """A robot whose IMU hangs upside down would fall as soon as it is let go."""
    node = bench.controller()
    robot.wait()
    for tick in range(22):
        assert node.loop.fault is None
        effort = robot.ask(1.0 + 0.01 * tick, acceleration=(0.0, 0.0, -9.81))
    assert effort == 0.0
    assert node.loop.fault.code == 'imu_gravity' and '-9.7' in node.loop.fault.message
    clear(bench, robot)
    assert robot.ask(1.22, acceleration=(1.5, 0.0, 9.7)) == pytest.approx(EFFORT)


@fault(
    'IMU repeats itself while the joints move',
    code='imu_frozen',
    detected='imu_frozen_time (0.06 s) after its last word, once a joint has moved',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_imu_frozen(bench, robot, node):
    """A driver that repeats its last message would look alive to every other check."""
    for tick in range(1, 16):
        robot.ask(
            1.0 + 0.01 * tick, position=(-0.3 + 0.02 * tick, 0.0, 0.0), velocity=(2.0, 0.0, 0.0)
        )
        if node.loop.fault is not None:
            break
    assert node.loop.fault.code == 'imu_frozen', node.loop.fault
    assert tick == 7, 'it has repeated itself for 0.06 s'
    clear(bench, robot)


@fault(
    'Jump of a joint or of the base',
    code='jump',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_jump(bench, robot, node):
    """A jump no joint can make is an encoder fault; following it would throw the leg."""
    assert insist(robot, 1.01, position=(0.2, 0.0, 0.0)) == 0.0
    check_latched(bench, robot, node, 'jump', 1.03)
    assert insist(robot, 1.05, pitch_half=0.2) == 0.0
    assert node.loop.fault.code == 'jump' and 'base' in node.loop.fault.message


@fault(
    'Base measured turning faster than it can: a spike of the gyroscope',
    code='gyroscope',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'Specific force beyond specific_force_limit',
    code='accelerometer',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'Foot force beyond foot_force_limit',
    code='foot_force',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'code, sensors',
    [
        ('gyroscope', {'rate': 1e6}),
        ('accelerometer', {'acceleration': (0.0, 1e6, 9.81)}),
        ('foot_force', {'forces': (90.0, 1e300)}),
    ],
)
def test_a_number_beyond_its_bound(bench, robot, node, code, sensors):
    """A number that cannot be would come out of the law as the largest torque there is."""
    assert robot.ask(1.01, **sensors) == pytest.approx(EFFORT), 'bridged'
    assert robot.ask(1.02) == pytest.approx(EFFORT) and node.loop.fault is None
    assert insist(robot, 1.03, **sensors) == 0.0
    check_latched(bench, robot, node, code, 1.05)


@fault(
    'Gyroscope and orientation contradict each other, or velocity and positions of a joint',
    code='contradiction',
    detected=('by more than jump_margin within 0.1 s, beside what a sample or a low-pass explains'),
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'sensors, who', [({'rate': 8.0}, 'base'), ({'velocity': (6.0, 0.0, 0.0)}, 'hip')]
)
def test_contradiction(bench, robot, node, sensors, who):
    """A rate that no angle follows is an error of its sensor, and the law would answer it."""
    for tick in range(1, 12):
        robot.ask(1.0 + 0.01 * tick, pitch_half=-0.075 + 1e-6 * tick, **sensors)
        if node.loop.fault is not None:
            break
    assert tick > 1, 'a single message proves nothing'
    assert node.loop.fault.code == 'contradiction' and who in node.loop.fault.message
    clear(bench, robot)


@fault(
    'A lock says engaged while its joint is elsewhere',
    code='lock',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'A lock state that is neither 0 (open) nor 1 (engaged)',
    code='lock',
    detected='at the tick',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_lock(bench, robot):
    """A knee that is believed locked would be loaded and fold."""
    node = bench.controller()
    robot.wait()
    bent = {'position': (-0.3, 0.0, -0.5)}
    assert robot.ask(1.0, engaged=(1.0, 0.0), **bent) != 0.0
    assert insist(robot, 1.01, **bent) == 0.0
    check_latched(bench, robot, node, 'lock', 1.2)
    assert robot.ask(1.22, engaged=(30.0, 1.0)) == 0.0
    assert node.loop.fault.code == 'lock' and 'is 30; 0 is open' in node.loop.fault.message
    clear(bench, robot)
    assert robot.ask(1.24, engaged=(1.0, 0.5)) == 0.0, 'half engaged is neither open nor engaged'
    assert node.loop.fault.code == 'lock' and 'is 0.5; 0 is open' in node.loop.fault.message


@fault(
    'Joint beyond its limits',
    code='joint_limit',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_joint_limit(bench, robot, node):
    """A knee bent backwards is broken, or its encoder is."""
    assert insist(robot, 1.01, position=(-0.3, 0.3, 0.0)) == 0.0
    check_latched(bench, robot, node, 'joint_limit', 1.03)


def test_degrees_are_named(bench, robot):
    """Whoever brings a driver up in degrees would look for a broken encoder."""
    node = bench.controller()
    robot.wait()
    for stamp, sensors in (
        (1.0, {'position': (-17.2, 0.0, 0.0)}),
        (1.1, {'velocity': (0.0, 100.0, 0.0)}),
    ):
        assert robot.ask(stamp, **sensors) == 0.0
        assert node.loop.fault.message.endswith('in degrees?')
        clear(bench, robot)
    assert robot.ask(1.2, position=(1.9, 0.0, 0.0)) == 0.0
    assert 'degrees' not in node.loop.fault.message


@fault(
    'Joint faster than its limit',
    code='velocity_limit',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_velocity_limit(bench, robot, node):
    """A runaway joint must be damped, against its motion."""
    limit = load_robot('dribbel').robot.limits['hip'].velocity
    assert insist(robot, 1.01, velocity=(12.0, 0.0, 0.0)) == pytest.approx(-limit)
    check_latched(bench, robot, node, 'velocity_limit', 1.03)


@fault(
    'Effort beyond its limit',
    code=None,
    detected='before sending',
    reaction='clamped to the limit and counted in /diagnostics; walking goes on',
    last='the clamped effort',
    clears='nothing to clear',
)
def test_effort_limit(bench, robot):
    """More than the amplifier can give must never leave the process."""
    node = bench.controller(hip_switching__proportional_gain=50.0)
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(74 * 0.0302 * 8.0)
    node.loop.controller.update = lambda state, reference, dt, command: command.effort.__setitem__(
        0, 1e6
    )
    assert robot.ask(1.01) == pytest.approx(74 * 0.0302 * 8.0)
    assert node.loop.supervisor.clamped == 1 and node.loop.fault is None


@fault(
    'Control law gives NaN',
    code='command',
    detected='before sending',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_command_not_finite(bench, robot, node):
    """A non-finite number must never leave the process as a command."""
    update = node.loop.controller.update
    node.loop.controller.update = lambda state, reference, dt, command: command.effort.__setitem__(
        0, math.nan
    )
    assert robot.ask(1.01) == 0.0
    node.loop.controller.update = update
    check_latched(bench, robot, node, 'command', 1.02)


@fault(
    'Control law raises an error',
    code='internal',
    detected='at the tick',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_internal(bench, robot, node):
    """An exception must end in a safe command, not in a dead node."""
    update = node.loop.controller.update
    node.loop.controller.update = lambda *arguments: 1 / 0
    assert robot.ask(1.01) == 0.0
    node.loop.controller.update = update
    check_latched(bench, robot, node, 'internal', 1.02)


@fault(
    'The base is too low over the stance foot, or leans too far',
    code='fall',
    detected='at the tick',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_fall(bench, robot):
    """A fallen robot must not go on stepping."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0, pitch_half=-0.5) == 0.0
    check_latched(bench, robot, node, 'fall', 1.2)


@fault(
    'A foot reports contact high above the floor, or no foot reports any',
    code='stuck_contact',
    detected='after stuck_contact_time (0.1 s)',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'sensors',
    [
        {'forces': (90.0, 90.0), 'position': (-0.3, 0.0, -0.9), 'engaged': (1.0, 0.0)},
        {'forces': (0.0, 0.0)},
    ],
)
def test_stuck_contact(bench, robot, sensors):
    """A switch that always says contact, or never, blinds the stance logic."""
    node = bench.controller()
    robot.wait()
    stamps = [1.0 + 0.01 * tick for tick in range(13)]
    efforts = [robot.ask(stamp, **sensors) for stamp in stamps]
    assert efforts[8] != 0.0 and efforts[-1] == 0.0
    assert node.loop.fault.code == 'stuck_contact'
    clear(bench, robot)
    assert robot.ask(2.0) == pytest.approx(EFFORT)


@fault(
    'Specific force 2 g beyond gravity',
    code='accelerometer',
    detected='after 0.03 s, unless a leg shows 0.59 m/s of it',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_specific_force_that_lasts(bench, robot):
    """A lie that an impact could be once is added up by a filter to a speed that is not there."""
    node = bench.controller()
    robot.wait()
    for tick in range(6):
        # never the same twice, or it would be one sample that is held
        force = 25.0 + 1e-3 * tick if tick else 0.0
        robot.ask(1.0 + 0.01 * tick, acceleration=(force, 0.0, 9.81))
        if node.loop.fault is not None:
            break
    assert tick == 4 and node.loop.fault.code == 'accelerometer'
    clear(bench, robot)
    assert robot.ask(2.0) == pytest.approx(EFFORT)


@fault(
    'Foot force that pulls',
    code='foot_force',
    detected='after 3 messages, beyond half of contact_on and twice contact_noise',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_foot_that_is_pulled(bench, robot):
    """No floor pulls: a sensor of the other sign would hide each touchdown."""
    node = bench.controller()
    robot.wait()
    efforts = [robot.ask(1.0 + 0.01 * tick, forces=(-86.0, 0.0)) for tick in range(5)]
    assert efforts[0] != 0.0 and efforts[-1] == 0.0
    assert node.loop.fault.code == 'foot_force'
    assert 'outer_foot' in node.loop.fault.message and 'sign' in node.loop.fault.message
    clear(bench, robot)
    assert robot.ask(2.0) == pytest.approx(EFFORT)


@fault(
    'Contact flicker',
    code='contact_flicker',
    detected=('beyond flicker_limit in a second; in space only a warning in /diagnostics'),
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_contact_flicker(bench, robot):
    """A loose wire must be bridged; one that is only noise must be a fault."""
    node = bench.controller(safety__flicker_limit=10, estimator__contact_hold=0.05)
    robot.wait()
    for tick in range(60):
        robot.ask(1.0 + 0.01 * tick, forces=(90.0 if tick % 2 else 0.0, 0.0))
        if tick == 8:
            assert node.loop.fault is None, 'a little flicker is bridged'
    assert node.loop.fault.code == 'contact_flicker'
    clear(bench, robot)
    assert robot.ask(3.0) == pytest.approx(EFFORT)


@fault(
    'Stamps run backwards',
    code='clock_backwards',
    detected='at the tick',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_clock_backwards(bench, robot, node):
    """A simulation that was reset, or two robots on one topic."""
    assert robot.ask(0.5) == 0.0
    check_latched(bench, robot, node, 'clock_backwards', 1.02)


@fault(
    'Stamps stand still',
    code='clock_stopped',
    detected=(
        'state_timeout on the steady clock; in real time an advance of less than a tenth '
        'of that is none'
    ),
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_clock_stopped(bench, robot, realtime):
    """Sensors that repeat one stamp are not live, however often they come: zero, and it stays."""
    assert robot.stream_until(lambda: realtime.fault is not None, step=0.0)
    assert realtime.fault.code == 'clock_stopped'
    assert robot.stream_until(lambda: resting(robot), step=0.0, timeout=1.0)
    count = len(robot.efforts)
    assert robot.stream_until(lambda: len(robot.efforts) > count + 20, step=0.0)
    assert not any(message.data[0] for message in robot.efforts[count:])


@fault(
    'Stamps jump ahead',
    code='clock_jump',
    detected=(
        'by more than state_timeout beyond the steady clock; in lockstep as joint states that stop'
    ),
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_clock_jump(bench, robot, realtime):
    """A stamp from the future is no silence: the message must say what is wrong."""
    assert robot.stream_until(lambda: realtime.fault is not None, step=10.0)
    assert realtime.fault.code == 'clock_jump', realtime.fault
    assert '10.0' in realtime.fault.message and 'nothing heard' not in realtime.fault.message
    assert robot.stream_until(lambda: resting(robot))


@fault(
    'A sensor is never heard',
    code='sensor_missing',
    detected='after waiting_timeout (30 s)',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'sensor, topic',
    [
        ('imu', topics.IMU),
        ('outer_foot', topics.foot_wrench('outer_foot')),
        pytest.param('locks', topics.LOCK_STATES, marks=pytest.mark.long),
        ('joints', topics.JOINT_STATES),
    ],
)
def test_sensor_missing(bench, robot, sensor, topic):
    """A controller that waits for ever and says that all is well is trusted for nothing."""
    node = bench.controller(realtime=True, waiting_timeout=1.5)
    heard = []
    robot.node.create_subscription(DiagnosticArray, '/diagnostics', heard.append, 10)
    robot.wait()
    assert robot.stream_until(lambda: heard, mute=sensor)
    assert heard[0].status[0].level == DiagnosticStatus.WARN
    assert topic in heard[0].status[0].message and 'waiting' in heard[0].status[0].message
    assert robot.stream_until(lambda: node.fault is not None, mute=sensor)
    assert node.fault.code == 'sensor_missing' and topic in node.fault.message
    assert bench.spin_until(lambda: resting(robot))


@fault(
    'A second node publishes our commands',
    code='second_publisher',
    detected='refused at activate; while active within a second',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it has gone',
)
@fault(
    'A second node publishes the IMU, a foot or the commands of the locks',
    code='second_publisher',
    detected='likewise; of joint states only a warning',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it has gone',
)
@pytest.mark.parametrize(
    'kind, topic', [(Float64MultiArray, topics.EFFORT_COMMANDS), (Imu, topics.IMU)]
)
def test_second_publisher(bench, robot, node, kind, topic):
    """Two laws on one motor, or two sensors in turn, must not go unnoticed."""
    intruder = bench.add(rclpy.create_node('intruder'))
    intruder.stop = lambda: None
    publisher = intruder.create_publisher(kind, topic, 1)
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'second_publisher'
    assert topic in node.fault.message and '/intruder' in node.fault.message
    assert not ask_clear(bench, robot).success, 'the cause lasts'
    node.trigger_deactivate()
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    intruder.destroy_publisher(publisher)
    assert bench.spin_until(lambda: node.trigger_activate() == TransitionCallbackReturn.SUCCESS)
    clear(bench, robot)
    robot.wait()
    assert robot.ask(2.0) == pytest.approx(EFFORT)


@fault(
    'robot_description becomes that of another robot',
    code='description',
    detected='when it is heard; at configure it refuses',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it is ours again',
)
def test_description(bench, robot, node):
    """Another robot than the one controlled, and be it a weaker motor, must stop the walk."""
    publisher = robot.node.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
    own = load_robot('dribbel').robot.urdf
    limit = re.search(r'effort="([1-9][^"]*)"', own)
    weaker = own.replace(limit.group(0), f'effort="{0.5 * float(limit.group(1)):g}"')
    publisher.publish(String(data=weaker))
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'description' and 'limits of joint' in node.fault.message
    assert not ask_clear(bench, robot).success, 'the cause lasts'
    publisher.publish(String(data=own.replace(limit.group(0), 'effort="strong"')))
    assert bench.spin_until(lambda: 'no number' in ask_clear(bench, robot).message)
    publisher.publish(String(data=own))
    assert bench.spin_until(lambda: ask_clear(bench, robot).success)
    assert robot.ask(1.01) == pytest.approx(EFFORT)


@fault(
    'A required watchdog is waited for in vain',
    code='watchdog',
    detected='zero is sent until it listens; after waiting_timeout',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_watchdog_waited_for(bench, robot):
    """Nobody may walk a robot whose last effort would stand if the controller died."""
    node = bench.controller(waiting_timeout=1.0)
    node.session.operation._obstacle = lambda: 'no watchdog is heard'
    robot.wait()
    assert robot.ask(1.0) == 0.0 and node.fault is None
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'watchdog' and 'no watchdog is heard' in node.fault.message
    assert robot.ask(1.01) == 0.0


def silence_limit(node):
    """Return the longest time silence may go unnoticed, with patience for a loaded machine."""
    return 2 * node.loop.period + node.loop.sensor_timeout + 0.25


@fault(
    'Joint states stop',
    code='stale_joint_state',
    detected='state_timeout (0.1 s), steady clock; in lockstep lockstep_timeout (2 s)',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_stale_joint_state(bench, robot, realtime):
    """The last effort must not stand when nobody knows how the joints move."""
    silent = time.monotonic()
    assert bench.spin_until(lambda: realtime.loop.fault is not None)
    assert time.monotonic() - silent < silence_limit(realtime)
    assert realtime.loop.fault.code == 'stale_joint_state'
    assert bench.spin_until(lambda: resting(robot))
    assert robot.stream_until(lambda: len(robot.efforts) > 10) and resting(robot)
    clear(bench, robot)
    assert robot.stream_until(lambda: moving(robot))


@pytest.mark.parametrize('sensor', ['imu', 'outer_foot', 'locks'])
@fault(
    'Lock states stop',
    code='stale_joint_state',
    detected='state_timeout and at most two control periods',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
@fault(
    'IMU stops',
    code='stale_imu',
    detected='state_timeout and at most two control periods',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'A foot sensor stops',
    code='stale_contact',
    detected='state_timeout and at most two control periods',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_stale_imu_and_contact(bench, robot, realtime, sensor):
    """A frozen IMU or foot sensor would be believed for ever."""
    assert robot.stream_until(lambda: realtime.loop.fault is not None, mute=sensor)
    assert (
        realtime.loop.fault.code
        == {'imu': 'stale_imu', 'locks': 'stale_joint_state', 'outer_foot': 'stale_contact'}[sensor]
    )
    assert bench.spin_until(lambda: resting(robot))


@fault(
    'A signal of the robot file beyond its bounds, or with a change beyond its own',
    code='signal',
    detected='once it has lasted for bridge_time',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@fault(
    'A signal of the robot file stops',
    code='stale_signal',
    detected='state_timeout and at most two control periods',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
@pytest.mark.parametrize('code', ['signal', 'stale_signal'])
def test_a_signal_of_the_robot_file(edited_robot_file, code):
    """A torque would be judged by the limits of an angle, or be believed for ever."""
    row = {'kind': 'effort', 'of': 'hip', 'topic': 'torque_sensor/joint_states'}
    path = edited_robot_file(lambda tree: tree['robot'].update(signals={'hip_torque': row}))
    robot_file = load_robot(path)
    latch = Latch(State.INACTIVE)
    operation = Operation(robot_file, None, latch, Patience(lockstep=False), lambda tick: None)
    operation.activate(0.0)
    sensors, now = sorted(operation.arrivals.missing(0.0), key='joint_state'.__eq__), 0.0
    plant = make_plant(robot_file)
    plant.reset(robot_file.start)
    for tick in range(1, 60):
        now += operation.loop.period
        plant.step(operation.loop.command, operation.loop.period)
        plant.measure(operation.measurement)
        if code == 'signal' and tick > 30:
            operation.measurement.own['hip_torque'][:] = 1e3
        for sensor in sensors:
            if code == 'signal' or tick < 30 or sensor != 'hip_torque':
                operation.arrived(sensor, now, tick, now)
        operation.watch(now)
    assert operation.fault.code == code, operation.fault
    if code == 'signal':
        assert 'the hip_torque of joint hip is 1e+03 N m; possible' in operation.fault.message


@fault(
    'A motor with thermal data reaches its limit of temperature',
    code='motor_heat',
    detected="within 0.1 s of its winding's estimate",
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it is cooler',
)
def test_motor_heat(bench, robot, edited_robot_file):
    """A winding would be burnt by a law that does not know it."""
    thermal = {'hip': {'winding_capacity': 0.01, 'winding_resistance': 500.0, 'limit': 60.0}}
    path = edited_robot_file(lambda tree: tree['robot'].update(thermal=thermal))
    node = bench.controller(robot_file=str(path))
    robot.wait()
    stamp = 1.0
    while node.loop.fault is None and stamp < 5.0:
        robot.ask(stamp)
        stamp += 0.01
    assert node.loop.fault.code == 'motor_heat', node.loop.fault
    assert 'winding of hip' in node.loop.fault.message


@fault(
    'Ticks take longer than three control periods',
    code='tick_overrun',
    detected='after overrun_limit (5) late ticks in a row, real time',
    reaction='fade: the effort fades at fade_rate',
    last='zero once faded',
    clears='~/clear_fault',
)
def test_tick_overrun(bench, robot, realtime):
    """A machine that cannot keep up must come to a controlled stop."""
    tick = realtime.loop.tick
    realtime.loop.tick = lambda *arguments: (time.sleep(0.035), tick(*arguments))[1]
    assert robot.stream_until(lambda: realtime.loop.fault is not None)
    assert realtime.loop.fault.code == 'tick_overrun'
    assert robot.stream_until(lambda: resting(robot))


@fault(
    'Emergency stop by service',
    code='emergency_stop',
    detected='when it is called',
    reaction='damping, then zero, at once',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_emergency_stop_service(bench, robot, node):
    """The stop must work without waiting for the next sensor."""
    client = robot.node.create_client(Trigger, 'walking_controller/emergency_stop')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    future = client.call_async(Trigger.Request())
    assert bench.spin_until(future.done) and future.result().success
    assert bench.spin_until(lambda: resting(robot))
    check_latched(bench, robot, node, 'emergency_stop', 1.01)


@fault(
    'Emergency stop by topic',
    code='emergency_stop',
    detected='when True is heard',
    reaction='damping, then zero, at once',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_emergency_stop_topic(bench, robot, node):
    """A button box publishes; False must not clear what True has stopped."""
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.EVENTS)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: resting(robot))
    publisher.publish(Bool(data=False))
    check_latched(bench, robot, node, 'emergency_stop', 1.01)


@fault(
    'Deactivation while walking',
    code=None,
    detected='at the transition',
    reaction='zero',
    last='zero, before the node leaves active',
    clears='activate, if no fault is latched',
)
def test_deactivation(bench, robot, node):
    """ros2_control holds the last command for ever: it must be zero."""
    node.trigger_deactivate()
    assert bench.spin_until(lambda: resting(robot))
    count = len(robot.efforts)
    robot.send(1.01)
    assert not bench.spin_until(lambda: len(robot.efforts) > count, timeout=0.3)


@fault(
    'Parameter out of range',
    code=None,
    detected='when it is set',
    reaction='refused with what, value and limit; walking goes on',
    last='as before',
    clears='nothing to clear',
)
def test_parameter_out_of_range(robot, node):
    """A typing error in rqt must not reach the motor."""
    (result,) = node.set_parameters([Parameter('hip_switching.set_point', value=3.0)])
    assert not result.successful
    assert robot.ask(1.01) == pytest.approx(EFFORT)


@fault(
    'Parameter of an unknown name or type',
    code=None,
    detected='at the request',
    reaction='refused, with the names close to it; walking goes on',
    last='as before',
    clears='nothing to clear',
)
@pytest.mark.parametrize(
    'name, kind, words',
    [
        ('hip_switching.kp', 3, "'hip_switching.kp' is not known"),
        ('', 3, "'' is not known"),
        ('hip_switching.set_point', 200, "'hip_switching.set_point' has type 200; must be 1 to 9"),
        ('hip_switching.set_point', 0, "'hip_switching.set_point' has type 0; must be 1 to 9"),
    ],
)
def test_parameter_of_nobody(bench, robot, node, name, kind, words):
    """One such request would end the controller, or take a parameter away from a walking law."""
    changed = ParameterMessage(name=name, value=ParameterValue(type=kind, double_value=0.3))
    for service in (SetParameters, SetParametersAtomically):
        verb = re.sub('([a-z])([A-Z])', r'\1_\2', service.__name__).lower()
        client = robot.node.create_client(service, f'walking_controller/{verb}')
        assert client.wait_for_service(10.0)
        future = client.call_async(service.Request(parameters=[changed]))
        assert bench.spin_until(future.done)
        answer = future.result()
        (result,) = answer.results if hasattr(answer, 'results') else [answer.result]
        assert not result.successful and words in result.reason
    assert robot.ask(1.01) == pytest.approx(EFFORT)


def test_parameters_that_change_while_running_come_first(bench, node):
    """rqt_reconfigure would show a hundred frozen parameters before the first slider."""
    names = node.list_parameters([], 0).names
    live = [not node.describe_parameter(name).read_only for name in names]
    assert sorted(live, reverse=True) == live and 3 < sum(live) < 0.5 * len(live)


@fault(
    'A callback raises an error, or a message cannot be taken',
    code='internal',
    detected='other nodes log it and go on',
    reaction='damping, then zero; a request is refused',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_broken_callback(bench, robot, node, monkeypatch):
    """The node would end without a last command."""
    described = robot.node.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
    with monkeypatch.context() as broken:
        broken.setattr(controller_node, 'differences', lambda ours, other: 1 // 0)
        broken.setattr(node.session, 'clear', lambda: 1 // 0)
        described.publish(String(data=''))
        assert bench.spin_until(lambda: node.loop.fault is not None)
        assert not ask_clear(bench, robot).success
    assert node.loop.fault.code == 'internal' and 'ZeroDivisionError' in node.loop.fault.message


@fault(
    'Combined state that cannot be read',
    code='joint_state',
    detected='at the message',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_half_a_message(bench, robot):
    """Half a message would end the controller."""
    node = bench.controller(combined_state='joint_state')
    publisher = robot.node.create_publisher(JointState, topics.COMBINED_STATE, topics.SENSOR_OUT)
    writer, measurement = combined_writer(node.loop.robot), Measurement(node.loop.robot)
    measurement.orientation[:] = 0.0, 0.0, 0.0, 1.0
    assert bench.spin_until(publisher.get_subscription_count)

    def send(part):
        measurement.stamp += 0.01
        raw = serialize_message(writer(measurement))
        publisher.publish(raw[: int(part * len(raw))])
        return bench.spin_until(lambda: node.loop.fault is not None, 0.1)

    for part in (1.0, 0.9, 0.5, 0.02, 1.0):
        send(part)
    assert bench.spin_until(lambda: send(1.0))
    assert node.loop.fault.code == 'joint_state' and 'cannot be read' in node.loop.fault.message


def start(module, *parameters):
    """Start a node of the package as a process of its own."""
    arguments = ['--ros-args']
    for parameter in parameters:
        arguments += ['-p', parameter]
    return Program(sys.executable, str(SCRIPTS / module), *arguments)


@pytest.fixture
def process(bench, robot):
    """Return a controller in a process of its own that answers in real time."""
    with start(
        'controller_node',
        'autostart:=true',
        'realtime:=true',
        'require_watchdog:=false',
        'safety.state_timeout:=1.0',
    ) as process:  # the sensors come from a busy test
        robot.wait(timeout=30.0)
        assert robot.stream_until(lambda: moving(robot), timeout=20.0)
        yield process


@pytest.mark.parametrize(
    'number', [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM]
)
@fault(
    'SIGINT',
    code=None,
    detected='at the signal',
    reaction='zero, then the node ends',
    last='zero',
    clears='a new start',
)
@fault(
    'SIGTERM',
    code=None,
    detected='at the signal',
    reaction='zero, then the node ends',
    last='zero',
    clears='a new start',
)
def test_signals(bench, robot, process, number):
    """Ctrl-C must stop the robot, not only the program."""
    process.send_signal(number)
    assert robot.stream_until(lambda: process.poll() is not None)
    bench.spin_until(lambda: resting(robot), timeout=2.0)
    assert resting(robot)
    assert process.returncode == 0
    assert 'Traceback' not in process.error


@pytest.mark.long
@fault(
    'Controller crash, SIGKILL',
    code=None,
    detected=(
        'by the watchdog after its timeout (0.1 s), by the embedded simulator after '
        'command_timeout (0.1 s) or lockstep_timeout'
    ),
    reaction='zero',
    last='zero, again every quarter of the timeout',
    clears='a new controller, activated by somebody',
)
def test_killed_controller(bench, robot):
    """A killed process sends nothing: without a watchdog the last effort would stand."""
    with (
        start('watchdog_node'),
        start(
            'controller_node',
            'autostart:=true',
            'realtime:=true',
            'watchdog_timeout:=5.0',
            'safety.state_timeout:=1.0',
        ) as controller,
    ):
        assert robot.stream_until(lambda: moving(robot), timeout=30.0)
        controller.kill()
        killed = time.monotonic()
        assert bench.spin_until(lambda: resting(robot))
        assert time.monotonic() - killed < 1.0  # benchmarks/watchdog.py measures it


@fault(
    'Watchdog lost',
    code='watchdog',
    detected=('watchdog_timeout (0.5 s) after its last heartbeat, steady clock'),
    reaction='fade: the effort fades at fade_rate',
    last='zero once faded, and until a watchdog listens',
    clears='~/clear_fault',
)
def test_watchdog_lost(bench, robot):
    """A controller that nobody watches any more may be killed with its torque on."""
    node = bench.controller(realtime=True, safety__state_timeout=1.0, require_watchdog=True)
    watchdog = bench.add(WatchdogNode())
    assert robot.stream_until(lambda: moving(robot), timeout=20.0)
    bench.remove(watchdog)
    assert robot.stream_until(lambda: node.loop.fault is not None)
    assert node.loop.fault.code == 'watchdog'
    assert robot.stream_until(lambda: resting(robot))
    clear(bench, robot)
    assert not robot.stream_until(lambda: moving(robot), timeout=0.3)
    bench.add(WatchdogNode())
    assert robot.stream_until(lambda: moving(robot), timeout=20.0)


@fault(
    'Simulator or driver lost',
    code='stale_joint_state',
    detected='as joint states that stop',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
@pytest.mark.parametrize('realtime', ['true', pytest.param('false', marks=pytest.mark.long)])
def test_killed_simulator(bench, realtime):
    """A controller whose robot has gone must not wake up with an old effort."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    node = bench.controller(
        realtime=realtime == 'true', lockstep_timeout=0.5, safety__state_timeout=0.3
    )
    with start('simulator_node', f'realtime:={realtime}'):  # killed at the end
        assert bench.spin_until(lambda: node.loop.state.steps > 1, timeout=30.0)
    assert bench.spin_until(lambda: node.loop.fault is not None)
    assert node.loop.fault.code == 'stale_joint_state'
    assert bench.spin_until(lambda: node.loop.command.effort[0] == 0.0)


def test_every_kind_of_fault_has_a_row(request):
    """A fault without a proven row in the table is a promise nobody has checked."""
    rows = {
        mark.kwargs['code'] for item in request.session.items for mark in item.iter_markers('fault')
    }
    if not any(item.name.startswith('test_killed_simulator') for item in request.session.items):
        pytest.skip('only meaningful when this whole file runs')
    assert set(KINDS) <= rows
