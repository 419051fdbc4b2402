# SPDX-License-Identifier: Apache-2.0
"""No bad measurement reaches the law, no bad command leaves, faults stay until cleared."""

import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Command, IMU, JOINTS, LOCKS, Measurement, WalkerState
from walking_control.operation import Operation, Patience, sensor_kinds
from walking_control.safety import Latch
from walking_control.safety.fall import told_apart
from walking_control.safety.machine import Event, State
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.plausibility import Plausibility
from walking_control.safety.supervisor import Supervisor


@pytest.fixture
def loop(dribbel):
    """Return a control loop and a sound measurement to feed it."""
    loop = ControlLoop(dribbel)
    measurement = Measurement(dribbel.robot)
    measurement.position[0] = -0.3
    measurement.orientation[:] = 0.0, math.sin(-0.075), 0.0, math.cos(-0.075)
    measurement.foot_force[0, 2] = 90.0
    return loop, measurement


def spoil(name, index, value):
    """Return a function that writes a value into a measurement."""

    def write(measurement):
        getattr(measurement, name)[index] = value

    return write


@pytest.mark.parametrize(
    'write, code, words',
    [
        (spoil('position', 1, math.nan), 'not_finite', 'outer_knee'),
        (spoil('velocity', 0, math.inf), 'not_finite', 'hip'),
        (spoil('orientation', 0, math.nan), 'not_finite', 'IMU orientation'),
        (spoil('angular_velocity', 1, -math.inf), 'not_finite', 'angular velocity'),
        (spoil('angular_velocity', 1, 1e6), 'gyroscope', 'angular velocity is 1e+06 rad/s'),
        (spoil('linear_acceleration', 2, 1e300), 'accelerometer', 'acceleration is 1e+300'),
        (spoil('foot_force', 0, math.nan), 'not_finite', 'foot force of outer_foot'),
        (spoil('foot_force', 1, 1e300), 'foot_force', 'foot force of inner_foot is 1e+300 N'),
        (spoil('position', 1, 1e300), 'joint_limit', 'outer_knee is 1e+300'),
        (spoil('orientation', 3, 0.5), 'orientation', 'norm'),
        (spoil('velocity', 2, 1e3), 'velocity_limit', 'inner_knee'),
    ],
)
def test_bad_measurement_stops_the_law(loop, write, code, words):
    """A NaN that reached the law would come out as torque."""
    loop, measurement = loop
    effort = loop.tick(measurement).effort[0]
    write(measurement)
    measurement.stamp = 0.01
    assert loop.tick(measurement).effort[0] == pytest.approx(effort), 'a single one is bridged'
    measurement.stamp = 0.02
    command = loop.tick(measurement)
    assert loop.fault.code == code and words in loop.fault.message
    assert np.isfinite(command.effort).all() and command.lock.all()


def test_a_bridged_velocity_is_that_of_the_position(dribbel):
    """A wrong velocity within an impact would be bridged by that before it: torque."""
    plausibility = Plausibility(dribbel.robot, dribbel.values(SafetyParameters), pytest.fail)
    measurement = Measurement(dribbel.robot)
    measurement.orientation[3] = 1.0
    measurement.velocity[0] = 3.0
    for k, velocity in enumerate((3.0, 3.0, math.nan, math.nan)):  # stopped by an impact at 2
        measurement.stamp, measurement.velocity[0] = 0.002 * k, velocity
        measurement.position[0] = 0.006 * min(k, 1) + 0.001 * max(k - 1, 0)
        told = plausibility.judge(measurement, 0.002)
        assert told.velocity[0] == pytest.approx(3.0 if k < 2 else 0.5)
    assert plausibility.bridged == 2


def test_late_samples_are_named():
    """If it failed, a busy machine would look like a broken sensor."""
    robot = load_robot('walker3d').robot
    supervisor, measurement = Supervisor(robot, SafetyParameters.read({}), period=0.002), None
    measurement, state = Measurement(robot), WalkerState(robot)
    state.base.position[2], state.contact[:] = 1.0, True
    for stamp in (0.0, 0.002, 0.004, 0.045):
        measurement.stamp = state.stamp = stamp
        supervisor.check_measurement(measurement)
    supervisor.check_state(state)
    words = 'samples came up to 39 ms late in the last second'
    assert supervisor.warning == words
    supervisor.latch('fall', 'it lies', 0.045)
    assert supervisor.fault.message == 'it lies; ' + words


@pytest.mark.parametrize('pace, code', [(0.05, 'clock_stopped'), (1.0, None)])
def test_stamps_that_crawl_are_named_so(dribbel, pace, code):
    """Joints that seem to move too fast for their rates would be blamed on the encoders."""
    supervisor = Supervisor(dribbel.robot, SafetyParameters(), period=0.01)
    measurement = Measurement(dribbel.robot)
    for k in range(100):
        now = 0.002 * k
        measurement.stamp = 1.0 + (now if now < 0.05 else 0.05 + pace * (now - 0.05))
        measurement.position[0] = 0.3 * math.sin(20.0 * now)
        measurement.velocity[0] = 6.0 * math.cos(20.0 * now)
        measurement.angular_velocity[0] = 1e-6 * k  # no IMU repeats itself
        supervisor.check_measurement(measurement, now)
    fault = supervisor.fault
    assert (fault and fault.code) == code, fault
    assert fault is None or 'stamps advance by less than a tenth' in fault.message


def test_silence_is_not_counted_against_a_lock(dribbel):
    """If it failed, a late message of a lock, or one sample after a gap, would end a walk."""
    told = []
    values = dribbel.values(SafetyParameters)
    plausibility = Plausibility(dribbel.robot, values, lambda *words: told.append(words))
    measurement = Measurement(dribbel.robot)
    for stamp, engaged, spoke in (
        (0.0, False, True),
        (0.05, True, True),  # after a silence
        (0.06, True, False),  # the joints alone go on
        (0.07, True, False),
    ):
        measurement.position[1], measurement.locked[0] = -0.5, engaged
        measurement.stamp, plausibility.locks_heard = stamp, spoke
        plausibility.judge(measurement, min(0.01, stamp))
    assert told == []
    measurement.stamp, plausibility.locks_heard = 0.08, True
    plausibility.judge(measurement, 0.01)
    assert told[0][0] == 'lock'


def standing_operation(robot_file):
    """Return an `Operation` at work, its measurement of a robot that stands, and its sensors."""
    latch, patience = Latch(State.UNCONFIGURED), Patience(lockstep=False)
    operation = Operation(robot_file, None, latch, patience, lambda tick: None)
    latch.handle(Event.CONFIGURE)
    operation.activate(0.0)
    measurement = operation.measurement
    measurement.orientation[3] = 1.0
    measurement.linear_acceleration[2], measurement.foot_force[0, 2] = 9.81, 90.0
    return operation, measurement, sensor_kinds(robot_file.robot)


@pytest.mark.parametrize('late, code', [(True, None), (False, 'lock')])
def test_a_lock_that_comes_later_than_its_joint_is_no_fault(dribbel, late, code):
    """A message of the locks that is 30 ms under way would be blamed on a knee that swings.

    `late`: whether the locks are silent meanwhile, or say by new stamps that they hold.
    """
    operation, measurement, sensors = standing_operation(dribbel)
    measurement.locked[:] = True
    for tick in range(40):
        stamp = 0.002 * tick
        measurement.linear_acceleration[1] = 1e-6 * tick  # no IMU repeats itself
        if tick >= 20:  # the knee has been let go
            measurement.position[1] -= 0.002 * 8.0
            measurement.velocity[1] = -8.0
        if tick == 36:
            measurement.locked[0] = False
        spoke = {LOCKS} if not late or tick < 20 or tick >= 36 else set()
        for sensor in (*sorted(set(sensors) - {JOINTS, LOCKS}), *spoke, JOINTS):
            operation.arrived(sensor, 1.0 + stamp, round(1e6 * stamp) + 1, stamp)
    assert (operation.fault and operation.fault.code) == code, operation.fault


@pytest.mark.parametrize('own', [True, False])
def test_an_imu_of_another_moment_contradicts_nothing(dribbel, own):
    """A silence that one sensor ends earlier would be a turn that its gyroscope has not seen.

    `own`: whether its stamps say so.
    """
    operation, measurement, sensors = standing_operation(dribbel)
    measurement.angular_velocity[1] = rate = 3.6

    def hear(joints, imu):
        half = 0.5 * rate * imu - 0.2
        measurement.orientation[:] = 0.0, math.sin(half), 0.0, math.cos(half)
        for sensor in (*set(sensors) - {JOINTS}, JOINTS):
            stamp = imu if sensor == IMU and own else joints
            operation.arrived(sensor, 1.0 + stamp, round(1e6 * stamp) + 1, joints)

    for tick in range(20):
        hear(0.002 * tick, 0.002 * tick)
    assert operation.fault is None
    hear(0.088, 0.040)  # of 50 ms the joints tell the end, the IMU the beginning
    for tick in range(47, 57):
        hear(0.002 * tick, 0.002 * tick)
    words = operation.fault.message if operation.fault else ''
    assert own or 'gyroscope' in words
    assert not own or operation.loop.supervisor.bridged == 0 and 'gyroscope' not in words, words


@pytest.mark.parametrize('foot', [False, True])
@pytest.mark.parametrize('lag, words', [(0.12, 'behind'), (-0.12, 'ahead of'), (0.08, '')])
def test_sensors_whose_stamps_do_not_belong_together_are_named(dribbel, foot, lag, words):
    """A sensor on another clock, or long under way, would be taken for what is now."""
    operation, measurement, sensors = standing_operation(dribbel)
    off = dribbel.robot.feet[0] if foot else IMU
    for tick in range(20):
        now = 0.002 * tick
        for sensor in (*sorted(set(sensors) - {JOINTS}), JOINTS):
            stamp = 1.0 + now - lag * (sensor == off)
            operation.arrived(sensor, stamp, round(1e6 * stamp), now)
    if words:
        assert operation.fault.code == ('stale_contact' if foot else 'stale_imu')
        assert f'the stamp of {off} is 0.120 s {words} the joint states' in operation.fault.message
    else:
        assert operation.fault is None


@pytest.mark.parametrize('seen, code', [(1.0, None), (0.4, 'gyroscope')])
def test_a_turn_in_a_silence_is_no_lie(seen, code):
    """A gyroscope would be blamed for what the base turned while nobody heard it.

    `seen`: of how fast the base turns, what the gyroscope says. Of 74 ms 50 are silent.
    """
    supervisor = Supervisor(load_robot('walker3d').robot, SafetyParameters.read({}), period=0.002)
    measurement = Measurement(load_robot('walker3d').robot)
    for tick in range(600):
        measurement.stamp += 0.002 + 0.05 * (tick % 12 == 0 and code is None)
        angle, rate = (f(6.0 * measurement.stamp) for f in (math.sin, math.cos))
        half, live = 0.15 * angle, 1e-3 * (tick % 2)
        measurement.orientation[:] = 0.0, math.sin(half), 0.0, math.cos(half)
        measurement.angular_velocity[:] = live, seen * 1.8 * rate, 0.0
        down = -9.81 * math.sin(2.0 * half), live, 9.81 * math.cos(2.0 * half)
        measurement.linear_acceleration[:] = down
        supervisor.check_measurement(measurement)
    assert (supervisor.fault and supervisor.fault.code) == code, supervisor.fault


@pytest.mark.parametrize('silence', [0.0, 0.05])
def test_a_law_is_told_how_long_a_silence_was(silence):
    """Of two periods instead, its step would come as much too late, and the robot fall."""
    loop = ControlLoop(load_robot('walker3d'))
    measurement, told = Measurement(loop.robot), []
    measurement.foot_force[:, 2] = 70.0
    update = loop.law.update
    loop.law.update = lambda *given: (told.append(given[2]), update(*given))
    for stamp in (0.0, 0.002, 0.004 + silence):
        measurement.stamp = stamp
        loop.tick(measurement)
    assert told[1:] == pytest.approx([0.002, 0.002 + silence])


def test_a_flickering_contact_ends_no_walk_in_space():
    """If it failed, an upright robot on ice would be let go for what its estimator bears."""
    for name, code in (('walker3d', None), ('dribbel', 'contact_flicker')):
        robot = load_robot(name).robot
        supervisor, state = Supervisor(robot, SafetyParameters.read({})), WalkerState(robot)
        state.base.position[2], state.contact[:], state.flicker = 1.0, True, 11
        supervisor.check_state(state)
        assert (supervisor.fault and supervisor.fault.code) == code
        assert code or '11 changes of a contact' in supervisor.warning


def test_silence_is_a_fault(loop):
    """After a gap in the sensors the state is unknown."""
    loop, measurement = loop
    loop.tick(measurement)
    measurement.stamp = 0.2
    loop.tick(measurement)
    assert loop.fault.code == 'stale_joint_state'


def test_a_value_and_its_limit_are_told_apart():
    """A fault would say that 0.48 m is less than 0.48 m."""
    assert told_apart(0.47962, 0.48004) == ('0.4796', '0.4800')
    assert told_apart(0.3, 0.48) == ('0.30', '0.48')


def test_fall_damps_then_lets_go(loop):
    """A fallen robot must be damped, then left without torque."""
    loop, measurement = loop
    measurement.orientation[:] = 0.0, math.sin(0.6), 0.0, math.cos(0.6)
    measurement.velocity[0] = 2.0
    command = loop.tick(measurement)
    assert loop.fault.code == 'fall' and command.effort[0] == pytest.approx(-2.0)
    measurement.stamp = 1.5
    assert loop.tick(measurement).effort[0] == 0.0


def test_fault_stays_until_cleared(loop):
    """A fault that clears itself would let the robot start up in somebody's hands."""
    loop, measurement = loop
    measurement.position[1] = math.nan  # there is nothing yet to bridge it with
    loop.tick(measurement)
    measurement.position[1] = 0.0
    measurement.stamp = 0.01
    loop.tick(measurement)
    assert loop.fault is not None
    loop.reset()
    assert loop.fault is None and loop.tick(measurement).effort[0] != 0.0


@pytest.fixture
def supervisor(dribbel):
    """Return Dribbel's supervisor."""
    return Supervisor(dribbel.robot, dribbel.values(SafetyParameters))


@pytest.mark.parametrize('wanted, limit', [(1e3, 74 * 0.0302 * 8.0), (-1e3, -74 * 0.0302 * 8.0)])
def test_effort_limit(supervisor, dribbel, wanted, limit):
    """More torque than the amplifier can give must never be asked for."""
    command = Command(dribbel.robot)
    for _ in range(3):
        command.effort[0] = wanted
        supervisor.limit(command, 0.01, 0.0)
    assert command.effort[0] == pytest.approx(limit)


def test_effort_rate_limit(supervisor, dribbel):
    """A jump of the effort beyond the stated rate would break gears."""
    command = Command(dribbel.robot)
    command.effort[0] = 10.0
    supervisor.limit(command, 0.001, 0.0)
    assert command.effort[0] == pytest.approx(4.0)
    command.effort[0] = -10.0
    supervisor.limit(command, 0.001, 0.0)
    assert command.effort[0] == pytest.approx(0.0)


@pytest.mark.parametrize('periods, code', [(2.9, None), (3.1, 'tick_overrun')])
def test_a_law_at_a_third_of_its_rate_goes_on(supervisor, periods, code):
    """A busy machine must not end a walk that would go on: every third sample is answered."""
    for stamp in np.arange(0.0, 1.0, 0.01):
        supervisor.check_compute(periods * 0.01, 0.01, stamp)
    assert getattr(supervisor.fault, 'code', None) == code


def test_not_finite_effort_is_a_fault(supervisor, dribbel):
    """A law that computes NaN must not pass it on."""
    command = Command(dribbel.robot)
    command.effort[0] = math.nan
    supervisor.limit(command, 0.01, 0.0)
    assert supervisor.fault.code == 'command'


def test_law_runs_at_its_own_rate(dribbel):
    """With faster sensors the law must keep its rate and hold its command in between."""
    loop = ControlLoop(dribbel)
    measurement = Measurement(dribbel.robot)
    measurement.foot_force[0, 2] = 90.0
    calls = []
    update = loop.controller.update
    loop.controller.update = lambda *arguments: (calls.append(arguments[2]), update(*arguments))
    for tick in range(100):
        measurement.stamp = tick * 0.001
        loop.tick(measurement)
    assert len(calls) == 10
    assert np.allclose(calls[1:], 0.01)


def test_virtual_effort_rests_while_joints_are_damped():
    """The ground torque is no joint: a damping torque meant for the hip must not reach it."""
    robot_file = load_robot('compass')
    supervisor = Supervisor(robot_file.robot, robot_file.values(SafetyParameters))
    measurement, command = Measurement(robot_file.robot), Command(robot_file.robot)
    measurement.velocity[0] = 2.0
    supervisor.check_measurement(measurement)
    supervisor.latch('fall', 'test', 0.0)
    supervisor.react(measurement, command)
    assert command.effort.tolist() == [-2.0, 0.0]


def test_reaction_takes_the_stamps_of_refused_measurements(supervisor, dribbel):
    """In lockstep damping would last longer than told if the first measurement is the bad one."""
    measurement, command = Measurement(dribbel.robot), Command(dribbel.robot)
    measurement.position[0] = math.nan
    supervisor.check_measurement(measurement)
    assert supervisor.fault.code == 'not_finite'
    measurement.position[0], measurement.velocity[0], measurement.stamp = 0.0, 2.0, 1.5
    supervisor.check_measurement(measurement)
    supervisor.react(measurement, command)
    assert command.effort[0] == 0.0, 'damping_time has passed'


def test_a_measurement_that_was_long_under_way_is_stale(supervisor, dribbel):
    """A process that wakes up must not answer what was measured before it slept."""
    measurement = Measurement(dribbel.robot)
    supervisor.check_measurement(measurement, 100.0)
    assert supervisor.fault is None
    measurement.stamp = 0.01
    supervisor.check_measurement(measurement, 101.0)
    assert supervisor.fault.code == 'stale_joint_state'
