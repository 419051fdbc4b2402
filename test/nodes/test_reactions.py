# SPDX-License-Identifier: Apache-2.0
"""Reactions end in time while the robot goes on publishing whatever it would really publish."""

import math
import time

from domains import BUSY
import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.messages import set_stamp
from walking_control.safety.machine import State

EFFORT = 74 * 0.0302 * 10.0 * 0.6  # N kt Kp (0.3 + 0.3 rad)
NODE = 'walking_controller'
fault = pytest.mark.fault
SLOW = {'velocity': (2.0, 0.0, 0.0)}  # damped with -2 N m
SLACK = 0.25  # s for a loaded machine, on top of what is promised

# what the sensors do after the fault: how far each stamp advances, and what else is wrong
PATHOLOGIES = {
    'sound': (0.01, {}),
    'frozen': (0.0, {}),
    'backwards': (-0.01, {}),
    'ahead': (5.0, {}),
    'nan': (0.01, {'velocity': (math.nan, 0.0, 0.0)}),
    'silent': (0.01, {'mute': ('imu', 'locks', 'outer_foot', 'inner_foot', 'joints')}),
    'imu silent': (0.01, {'mute': 'imu'}),
}


@pytest.fixture(params=['damping', 'fade', 'zero'])
def stopped(request, bench, robot):
    """Return a walking controller whose emergency stop has this reaction, and its bound in s."""
    node = bench.controller(
        realtime=True,
        safety__state_timeout=0.2,
        safety__damping_time=0.4,
        safety__on_emergency_stop=request.param,
    )
    node.loop.supervisor.lead(None, None)  # with no law that can stand
    client = robot.node.create_client(Trigger, f'{NODE}/emergency_stop')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0])

    def stop():
        for _ in range(5):
            client.call_async(Trigger.Request())
            assert robot.stream_until(lambda: node.fault is not None, **SLOW)
            if node.fault.code == 'emergency_stop':
                return time.monotonic()
            # a busy machine held the robot up before the stop arrived: walk again
            assert node.session.clear() is None
            assert robot.stream_until(lambda: robot.efforts[-1].data[0])
        raise AssertionError(f'never walked until the stop: {node.fault}')

    bound = {'damping': 0.4, 'fade': EFFORT / 50.0, 'zero': 0.0}[request.param]
    return node, stop, bound


@pytest.mark.long
@fault(
    'Sensors fail after a stop',
    code=None,
    detected='at the tick',
    reaction='zero within the time of the reaction',
    last='zero',
    clears='~/clear_fault',
)
@pytest.mark.parametrize('pathology', PATHOLOGIES)
def test_zero_in_time_whatever_the_sensors_do(robot, stopped, pathology):
    """A torque held for ever is the way a stopped robot hurts somebody."""
    node, stop, bound = stopped
    step, sensors = PATHOLOGIES[pathology]
    began = stop()
    if pathology == 'imu silent' and node._latch.state is State.FADING:
        bound += 0.4  # the second fault makes the reaction stronger: damping
    assert robot.stream_until(
        lambda: node._latch.state is State.RESTING and not robot.efforts[-1].data[0],
        step=step,
        **{**SLOW, **sensors},
    )
    assert time.monotonic() - began < bound + 2 * node.loop.period + SLACK
    count = len(robot.efforts)
    assert robot.stream_until(
        lambda: len(robot.efforts) > count + 10, step=step, **{**SLOW, **sensors}
    )
    assert not any(message.data[0] for message in robot.efforts[count:])
    assert node.fault.code == 'emergency_stop', 'the first fault says why'


@pytest.mark.parametrize('step', [0.0, 2e-6])
def test_an_unstamped_driver_is_a_fault_and_ends_in_zero(bench, robot, step):
    """A driver that never stamps, or in the wrong unit: the first effort must not stand."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    robot.wait()
    robot._stamp = 0.0
    assert robot.stream_until(lambda: node.fault is not None, step=step)
    assert node.fault.code == 'clock_stopped'
    assert robot.stream_until(lambda: robot.efforts and not robot.efforts[-1].data[0], step=step)
    count = len(robot.efforts)
    assert robot.stream_until(lambda: len(robot.efforts) > count + 20, step=step)
    assert not any(message.data[0] for message in robot.efforts[count:])


@fault(
    'IMU stamp older than the joint states',
    code='stale_imu',
    detected='in real time, beyond state_timeout; a foot likewise',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_an_old_imu_stamp_is_a_fault(bench, robot):
    """An IMU whose data is a second old would be believed."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0])
    assert robot.stream_until(lambda: node.fault is not None, lags={'imu': 1.0})
    assert node.fault.code == 'stale_imu' and '1.000 s behind' in node.fault.message


@fault(
    'Sensors too rare for state_timeout',
    code='sensor_missing',
    detected='before the first command, in real time: after waiting_timeout',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_slow_sensors_are_said_at_the_start(bench, robot):
    """Sensors rarer than state_timeout would stop the walk at its first step, with another word."""
    node = bench.controller(realtime=True, waiting_timeout=1.5, require_watchdog=True)
    robot.wait()
    assert robot.stream_until(lambda: node.fault is not None, every=0.12)
    assert node.fault.code == 'sensor_missing', node.fault
    assert 'Hz; safety.state_timeout 0.1 s needs 12 Hz or more' in node.fault.message
    assert not any(message.data[0] for message in robot.efforts)


@fault(
    'Joint states of another device',
    code=None,
    detected='at the message',
    reaction='ignored',
    last='as before',
    clears='nothing to clear',
)
def test_another_device_on_joint_states_is_ignored(bench, robot):
    """A gripper's joints on the same topic must neither stop the walk nor be read."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT)
    other = robot.node.create_publisher(JointState, topics.JOINT_STATES, 1)
    message = JointState(name=['finger'], position=[9.0], velocity=[0.0])
    set_stamp(message.header.stamp, 77.0)
    assert bench.spin_until(lambda: other.get_subscription_count() > 0)
    for tick in range(5):
        other.publish(message)
        assert robot.ask(1.01 + 0.01 * tick) == pytest.approx(EFFORT)
    assert node.fault is None


@fault(
    'Force cell without an axis, NaN from the start',
    code=None,
    detected='at its first message',
    reaction='the axis counts as 0; one that is lost later is `not_finite`',
    last='as before',
    clears='nothing to clear',
)
def test_a_force_cell_with_one_axis_is_usable(bench, robot):
    """A cheap cell measures z alone: NaN in x and y from the start is no broken sensor."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0, force_axes='z') == pytest.approx(EFFORT)
    assert robot.ask(1.01, force_axes='z') == pytest.approx(EFFORT)
    for stamp in (1.02, 1.03):  # longer than bridge_time
        robot.ask(stamp, force_axes='z', forces=(math.nan, 0.0))
    assert node.fault.code == 'not_finite', 'an axis that is lost on the way is broken'


RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT


@fault(
    'Emergency stop while unconfigured or inactive',
    code='emergency_stop',
    detected='when True is heard, of any quality of service',
    reaction='nothing is sent; activating sends zero',
    last='zero',
    clears='~/clear_fault',
)
@pytest.mark.parametrize(
    'reliability, durability',
    [
        (RELIABLE, DurabilityPolicy.VOLATILE),
        (BEST_EFFORT, DurabilityPolicy.VOLATILE),
        (BEST_EFFORT, DurabilityPolicy.TRANSIENT_LOCAL),
    ],
)
def test_emergency_stop_is_heard_whatever_its_quality_of_service(
    bench, robot, reliability, durability
):
    """A button box that publishes unreliably must not be pressed in vain."""
    node = bench.controller(activate=False)
    publisher = robot.node.create_publisher(
        Bool,
        topics.EMERGENCY_STOP,
        QoSProfile(depth=1, reliability=reliability, durability=durability),
    )
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: node.fault is not None), 'unconfigured, too, it is heard'
    assert node.fault.code == 'emergency_stop'


@fault(
    'Power off by service, or by a second emergency stop',
    code='power_off',
    detected='when it is called, or heard: True after False, or the service after any',
    reaction='damping, then zero, at once',
    last='zero after damping_time',
    clears='~/clear_fault',
)
def test_a_second_emergency_stop_takes_the_power(bench, robot):
    """If it failed, a button that repeats itself would fell a robot, a second press not."""
    node = bench.controller(activate=False)
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 2, 40.0)
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: len(node._pressed) == 3, 40.0), 'heard by all subscriptions'
    for _ in range(5):
        publisher.publish(Bool(data=True))
    bench.spin_until(lambda: False, 0.5)
    assert node.fault.code == 'emergency_stop' and node._latch.later == (), (
        'it is held, not pressed'
    )
    publisher.publish(Bool(data=False))
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: node._latch.later == ('power_off',), 40.0)
    client = robot.node.create_client(Trigger, f'{NODE}/power_off')
    bench.spin_until(lambda: False, 0.5)  # the copies of the second press
    node._latch.clear()
    assert client.wait_for_service(40.0)
    client.call_async(Trigger.Request())
    assert bench.spin_until(lambda: node.fault is not None) and node.fault.code == 'power_off'


def test_a_button_pressed_before_the_controller_came(bench, robot):
    """A latched stop is pressed before anybody walks: it must count."""
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
    publisher.publish(Bool(data=True))
    node = bench.controller(activate=False)
    assert bench.spin_until(lambda: node.fault is not None)


@fault(
    'Emergency stop that cannot be heard, of another type',
    code=None,
    detected='at activate; while active a warning in /diagnostics',
    reaction='refused to activate',
    last='zero',
    clears='a button of type std_msgs/Bool',
)
def test_a_stop_of_another_type_refuses_to_activate(bench):
    """A button that cannot be heard is worse than none."""
    node = bench.controller(activate=False)
    node.trigger_configure()
    context = rclpy.Context()  # one participant has one type for a topic
    rclpy.init(context=context)
    try:
        stranger = rclpy.create_node('stranger', context=context)
        stranger.create_publisher(String, topics.EMERGENCY_STOP, 1)

        def kinds():  # as activation reads them: a publisher may be counted before
            return [
                (info.node_name, info.topic_type)
                for info in node.get_publishers_info_by_topic(topics.EMERGENCY_STOP)
            ]

        assert bench.spin_until(lambda: ('stranger', 'std_msgs/msg/String') in kinds(), 40.0), (
            f'nobody publishes the emergency stop: {kinds()}'
        )
        assert node.trigger_activate().name == 'FAILURE', kinds()
        stranger.destroy_node()
    finally:
        rclpy.shutdown(context=context)


def test_best_effort_sensors_are_heard(bench):
    """Many drivers publish sensors unreliably: they must not be silence."""
    from conftest import HandDrivenRobot

    bench.controller()
    robot = HandDrivenRobot(bench, qos=QoSProfile(depth=1, reliability=BEST_EFFORT))
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT)


def test_emergency_stop_within_two_periods(bench, robot):
    """The stop must not wait for sensors, timers or a queue: damped within two control periods."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.EVENTS)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    robot.wait()
    delays = []
    for _ in range(40):
        assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0] > 0.0, **SLOW)
        pressed = time.monotonic()
        publisher.publish(Bool(data=True))
        assert robot.stream_until(lambda: robot.efforts[-1].data[0] < 0.0, **SLOW)
        delays.append(time.monotonic() - pressed)
        node.session.clear()
    assert sorted(delays)[len(delays) // 2] < 2 * node.loop.period


@fault(
    'The simulator says that it has ended',
    code=None,
    detected='at the message on simulation_end',
    reaction='deactivation',
    last='zero',
    clears='activate',
)
def test_the_end_of_a_simulation_is_no_fault(bench, robot):
    """A run that ended as it was to must not end in an error."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    publisher = robot.node.create_publisher(String, topics.SIMULATION_END, topics.EVENTS)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0])
    publisher.publish(String(data='its duration is over'))
    assert bench.spin_until(lambda: not robot.efforts[-1].data[0])
    assert not bench.spin_until(lambda: node.fault is not None, timeout=0.3)
    assert rclpy.ok()
