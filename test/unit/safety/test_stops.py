# SPDX-License-Identifier: Apache-2.0
"""A stop ends as its category says: on two feet, lowered, or without power."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput, ParameterError
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Measurement, WalkerState
from walking_control.safety.faults import BEST, KINDS, LAW_LOST, STANDS
from walking_control.safety.machine import LED, State
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.supervisor import Supervisor

TICK = 0.01
SET = {'stop_time': 0.5, 'lower_time': 0.2, 'stand_time': 0.1}


class Robot:
    """A supervisor, and the state of a robot that stands on both feet or still moves."""

    def __init__(self, standstill=STANDS, standby=None, **safety):
        robot = load_robot('walker3d').robot
        self.supervisor = Supervisor(robot, SafetyParameters(**{**SET, **safety}), period=TICK)
        self.supervisor.lead(standstill, standby)
        self.supervisor.dispensable = frozenset(
            what for kind in KINDS.values() for what in kind.lost
        )
        self.latch = self.supervisor.fault_latch
        self.measurement, self.state = Measurement(robot), WalkerState(robot)
        self.measurement.orientation[:] = 0.0, 0.0, 0.0, 1.0
        self.state.base.position[2] = 0.8
        self.state.contact[:] = True
        self.tick(0.02, speed=0.5)

    def tick(self, duration, speed):
        """Let time pass while the base moves at a speed."""
        for _ in range(round(duration / TICK)):
            self.measurement.stamp = self.state.stamp = self.state.stamp + TICK
            self.supervisor.check_measurement(self.measurement)
            self.state.base.linear[0] = speed
            if self.supervisor.led:
                self.supervisor.check_state(self.state)

    def stop(self, code, **told):
        """Latch a fault; return the state it led to."""
        self.supervisor.latch(code, 'test', self.state.stamp, **told)
        return self.latch.state


@pytest.mark.parametrize('code', KINDS)
def test_every_fault_ends_as_the_table_says(code):
    """If it failed, the column "ends" would promise a stand or a fall that does not come."""
    robot, kind = Robot(standby=STANDS), KINDS[code]
    assert (robot.stop(code) in LED) == (kind.category > 0)
    robot.tick(0.2, speed=0.5)
    robot.tick(0.2, speed=0.0)
    ends = {0: {State.FADING, State.DAMPING, State.RESTING}, 1: {State.LOWERING}}
    assert robot.latch.state in ends.get(kind.category, {State.STANDING})
    robot.tick(0.3, speed=0.0)
    assert (robot.latch.state is State.STANDING) == (kind.category == 2)
    assert (robot.latch.state in LED) == (kind.ends == STANDS)


@pytest.mark.parametrize(
    'category, after', [(0, State.DAMPING), (1, State.STOPPING), (2, State.STOPPING)]
)
def test_category_of_the_emergency_stop(category, after):
    """If it failed, the button would do another thing than the parameter says."""
    robot = Robot(emergency_stop_category=category)
    assert robot.stop('emergency_stop') is after
    robot.tick(0.4, speed=0.0)
    if category:
        assert (robot.latch.state is State.STANDING) == (category == 2)


def test_power_off_wins_from_every_stop():
    """If it failed, somebody in danger could not take the power from a robot that stands."""
    for wait in (0.0, 0.15, 0.25):
        robot = Robot(emergency_stop_category=1, lower_time=5.0)
        robot.stop('emergency_stop')
        robot.tick(wait, speed=0.0)
        assert robot.stop('power_off') is State.DAMPING
        assert robot.stop('emergency_stop') is State.DAMPING


def test_a_stop_that_takes_too_long_is_damped():
    """If it failed, a robot that never comes to rest would be kept powered by its stop."""
    robot = Robot()
    robot.stop('watchdog')
    robot.tick(0.48, speed=0.5)
    assert robot.latch.state is State.STOPPING
    robot.tick(0.04, speed=0.5)
    assert robot.latch.state is State.DAMPING


def test_a_fall_ends_a_stop():
    """If it failed, the law would go on with a robot that lies."""
    robot = Robot()
    robot.stop('watchdog')
    robot.state.base.position[2] = 0.1
    robot.tick(0.02, speed=0.5)
    assert robot.latch.state is State.DAMPING and robot.supervisor.fault.code == 'watchdog'


@pytest.mark.parametrize('broken', ['foot', 'turning'])
def test_standing_is_more_than_little_speed(broken):
    """If it failed, the power could go from a robot on one foot, or one that topples."""
    robot = Robot()
    if broken == 'foot':
        robot.state.contact[1] = False
    else:
        robot.state.base.angular[0] = 0.6
    robot.stop('watchdog')
    robot.tick(0.3, speed=0.0)
    assert robot.latch.state is State.STOPPING


@pytest.mark.parametrize(
    'codes', [['tick_overrun', 'watchdog', 'jump'], pytest.param([*KINDS], marks=pytest.mark.long)]
)
def test_without_a_law_that_stands_every_fault_reacts_at_once(codes):
    """If it failed, a robot whose law cannot stand would be led on by it after a fault."""
    for code in codes:
        kind, robot = KINDS[code], Robot(standstill='steps on the spot')
        assert robot.stop(code) not in LED and kind.react(BEST, False) == kind.reaction


@pytest.mark.parametrize('code', [code for code, kind in KINDS.items() if kind.lost])
def test_a_lost_sensor_needs_others_that_stand_in(code):
    """If it failed, a robot that cannot do without its IMU would be left to a blind law."""
    robot = Robot(standby=STANDS)
    robot.supervisor.dispensable = frozenset()
    assert robot.stop(code) not in LED and robot.supervisor.lost == set(KINDS[code].lost)


@pytest.mark.parametrize('silent, code', [(0.02, 'gyroscope'), (0.06, 'imu_frozen')])
def test_a_gyroscope_that_lies_by_repeating_itself_takes_the_imu_along(silent, code):
    """If it failed, a stop would balance on an orientation that has been frozen since the fault."""
    robot = Robot(standby=STANDS)
    robot.tick(silent, speed=0.5)
    robot.measurement.angular_velocity[2] += 0.001
    robot.tick(silent, speed=0.5)
    robot.supervisor._lies.watch = lambda *_: ('gyroscope', 'z lies')
    robot.tick(TICK, speed=0.5)
    assert robot.supervisor.fault.code == code
    assert robot.supervisor.lost == set(KINDS[code].lost)


def test_a_lost_law_needs_one_that_stands_by():
    """If it failed, the law that raised an error would be asked to bring the robot to a stand."""
    assert not Robot().supervisor.lose_law('internal', 'test', 1.0)
    assert Robot(standby=STANDS).supervisor.lose_law('internal', 'test', 1.0)


@pytest.mark.parametrize('code', [code for code, kind in KINDS.items() if kind.category])
def test_a_stop_that_the_law_cannot_do_is_refused_by_name(code):
    """If it failed, a robot would fall where its file promises a stand."""
    name = 'emergency_stop_category' if code == 'emergency_stop' else f'on_{code}'
    value = 2 if code == 'emergency_stop' else 'stand'
    robot_file = load_robot('compass', [(f'safety.{name}', value)])
    with pytest.raises(ParameterError) as caught:
        ControlLoop(robot_file)
    assert name in str(caught.value)
    assert ('standby' if code in LAW_LOST else 'none') in str(caught.value)


def test_a_stop_without_a_sensor_that_is_needed_is_refused():
    """If it failed, a file could promise a stand to a walker on points that has lost its IMU."""
    robot_file = load_robot('dribbel', [('safety.on_stale_imu', 'stand')])
    with pytest.raises(ParameterError, match='on_stale_imu.*cannot stop without gyroscope'):
        ControlLoop(robot_file)
    loop = ControlLoop(load_robot('dribbel', [('standby', 'hip_stop')]))
    loop.stop('emergency_stop', 'test', Measurement(loop.robot))
    assert loop.supervisor.standby and not loop.supervisor.stands


def test_no_stop_without_joints():
    """If it failed, a robot file could ask a law to stand that does not know the joints."""
    for code in ('joint_state', 'stale_joint_state', 'clock_stopped'):
        with pytest.raises(ParameterError, match=f'on_{code}'):
            SafetyParameters(**{f'on_{code}': 'stand'})


def test_a_command_that_is_not_finite_is_replaced_by_the_standby_law():
    """If it failed, one NaN of a law would fell a robot that another law can hold up."""
    robot = Robot(standby=STANDS)

    command = Command(load_robot('walker3d').robot)
    command.effort[0] = np.nan
    assert robot.supervisor.limit(command, TICK, 1.0)
    assert robot.latch.state is State.STOPPING


@pytest.mark.parametrize('reaction', ['zero', 'fade', 'damping'])
def test_a_robot_that_cannot_stand_stops_as_it_was_told(reaction):
    """A user who wants the torque gone at once would get a second of damping."""
    values = load_robot('dribbel', [('safety.on_emergency_stop', reaction)]).values(
        SafetyParameters
    )
    assert values.reaction('emergency_stop', False) == reaction
    assert values.reaction('emergency_stop', True) == 'lower'


def test_a_stop_of_one_that_stands_ends_at_once():
    """If it failed, the button would do nothing for a robot that stands already."""
    robot = Robot()
    robot.tick(0.2, speed=0.0)
    assert robot.stop('internal', stands=True) is State.STOPPING
    robot.tick(0.15, speed=0.0)
    assert robot.latch.state is State.STANDING


def test_a_second_stop_of_the_same_kind_does_not_begin_anew():
    """If it failed, a cause that is said at every tick would put off the end of a stop for ever."""
    robot = Robot(emergency_stop_category=2)
    robot.stop('emergency_stop')
    for _ in range(7):
        robot.tick(0.1, speed=0.5)
        robot.stop('emergency_stop')
    assert robot.latch.state is State.DAMPING, 'stop_time is over'


def test_a_stop_of_one_that_falls_changes_nothing():
    """If it failed, a robot on the floor would be asked to stand."""
    robot = Robot()
    assert robot.stop('fall') is State.DAMPING and robot.stop('emergency_stop') is State.DAMPING


def test_a_stop_in_a_pause_waits():
    """If it failed, a stop would time out while no time passes."""
    robot = Robot(emergency_stop_category=2)
    robot.stop('emergency_stop')
    robot.supervisor.fault_latch.pass_time(0.0)
    assert robot.latch.state is State.STOPPING and robot.latch.elapsed == 0.0


@pytest.mark.parametrize(
    'robot, standby, words',
    [
        ('walker3d_point', 'hip_stop', 'hip_stop on walker3d_point'),
        ('dribbel', 'stepping', 'stepping on dribbel'),
        ('dribbel', 'a_bee', 'a_bee'),
    ],
)
def test_a_standby_law_that_does_not_fit_is_refused(robot, standby, words):
    """If it failed, the law that shall help would fail in the tick in which it is needed."""
    with pytest.raises(InvalidInput, match=words):
        ControlLoop(load_robot(robot, [('standby', standby)]))
