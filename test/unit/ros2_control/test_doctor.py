# SPDX-License-Identifier: Apache-2.0
"""What `check --live` says of a running system: named where it is wrong, with a remedy."""

import time

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.ros.ros2_control import names
from walking_control.ros.ros2_control.doctor import diagnose, Seen


def running(rate=500.0, pace=None, seconds=2.0):
    """Return what is `Seen` of a healthy system; pace: of a simulated clock, None without one."""
    start = time.monotonic()
    stamp = time.time() if pace is None else 10.0
    heard = np.arange(0.0, seconds, 1.0 / rate / (pace or 1.0))
    seen = Seen(priority=90)
    seen.arrivals = {names.JOINT_STATES: [(start + t, stamp + t * (pace or 1.0)) for t in heard]}
    seen.commands = [(start + t, t > 0.5) for t in heard]
    if pace is not None:
        seen.clock = [(start + t, stamp + t * pace) for t in heard]
    seen.parameters = {names.CONTROLLER: {'use_sim_time': pace is not None, 'realtime': True}}
    return seen


def stopped(seen):
    seen.clock = [(when, 3.0) for when, _ in seen.clock]


def wall_time(seen):
    seen.parameters[names.CONTROLLER]['use_sim_time'] = False


def limiter(seen):
    seen.parameters[names.MANAGER] = {'enforce_command_limits': True}


@pytest.mark.parametrize('robot', ['dribbel', 'walker3d'])
@pytest.mark.parametrize('pace', [None, 1.0, 0.1])
def test_a_healthy_system_has_nothing_wrong(robot, pace):
    """If it failed, people would learn to overlook what is said of their robot."""
    found = diagnose(load_robot(robot), running(pace=pace, seconds=2.0 / (pace or 1.0)), None)
    assert not found.problems and not found.remarks, (found.problems, found.remarks)
    assert ('steady' if pace is None else f'{pace:.2g} of real time') in found.facts['clock']
    assert '500 Hz' in found.facts['rates']
    assert 'largest gap' in found.facts['first second']


@pytest.mark.parametrize('robot', ['dribbel', 'walker3d'])
@pytest.mark.parametrize(
    ('pace', 'change', 'words'),
    [
        (1.0, stopped, 'must advance'),
        (1.0, wall_time, 'use_sim_time'),
        (
            None,
            lambda seen: seen.parameters[names.CONTROLLER].update(use_sim_time=True),
            'start the',
        ),
        (
            None,
            lambda seen: seen.mismatches.append('cmd_vel of x cannot be heard by y'),
            'quality of',
        ),
        (None, limiter, 'margin in the URDF'),
    ],
)
def test_what_is_wrong_is_a_problem_with_its_remedy(robot, pace, change, words):
    """If it failed, a system that cannot work would be called usable."""
    robot_file, seen = load_robot(robot), running(pace=pace)
    change(seen)
    limits = [robot_file.robot.limits[joint] for joint in robot_file.robot.joints]
    position = np.array([max(limit.lower, -9.0) for limit in limits])
    (problem,) = diagnose(robot_file, seen, position).problems
    assert words in str(problem) and problem.remedy


def test_a_start_that_begins_with_an_effort_is_judged():
    """If it failed, the stall of a first tick would be heard and not said."""
    seen = running()
    seen.commands = [(when, True) for when, _ in seen.commands]
    assert 'first second' not in diagnose(load_robot('dribbel'), seen, None).facts
    seen.alone = True  # nobody commanded before
    assert 'first second' in diagnose(load_robot('dribbel'), seen, None).facts


def test_a_slow_sensor_is_a_problem():
    """If it failed, the controller would wait for ever and `check` would not say why."""
    (problem,) = diagnose(load_robot('dribbel'), running(rate=10.0), None).problems
    assert problem.what == names.JOINT_STATES and '10 Hz' in str(problem)


def test_joint_states_slower_than_the_law_are_a_problem():
    """A manager at 100 Hz would let a law of 500 Hz walk at a fifth of its rate, without a word."""
    for rate, told in ((490.0, False), (100.0, True)):
        problems = diagnose(load_robot('walker3d'), running(rate=rate), None).problems
        assert bool(problems) == told
    (problem,) = problems
    assert problem.what == names.JOINT_STATES and 'must come at 400 Hz' in str(problem)
    assert 'update_rate of controller_manager' in problem.remedy


def silent(seen):
    rows = seen.arrivals[names.JOINT_STATES]
    seen.arrivals[names.JOINT_STATES] = [row for row in rows if not 0.2 < row[0] - rows[0][0] < 0.5]


def stalls(seen):
    first = seen.commands[0][0]
    seen.commands = [each for each in seen.commands if not 0.6 < each[0] - first < 0.75]


def test_what_a_manager_says_of_a_simulators_pace_is_explained():
    """A newcomer would look for a fault of the robot's files where only the simulator is slow."""
    words = 'Controller Manager has bad periodicity : 931.2 Hz. Expected consistent 1000 Hz'
    for pace, explained in ((0.3, True), (None, False)):
        seen = running(pace=pace, seconds=7.0)
        seen.statuses['controller_manager: Controller Manager Activity'] = 2, words
        found = diagnose(load_robot('walker3d'), seen, None)
        assert len(found.remarks) == 1 and words in found.remarks[0]
        assert explained == ('the simulator misses cycles' in found.remarks[0])


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        (silent, 'was not heard for 30'),
        (stalls, 'in the first second'),
        (lambda seen: seen.commands.clear(), 'was not heard: begin one'),
        (lambda seen: setattr(seen, 'priority', 0), 'rtprio'),
        (lambda seen: seen.statuses.update(watchdog=(1, 'hears nobody')), 'says: hears nobody'),
        (
            lambda seen: seen.arrivals.update(
                {
                    names.JOINT_STATES: [
                        (when, stamp - 100.0) for when, stamp in seen.arrivals[names.JOINT_STATES]
                    ]
                }
            ),
            'chrony',
        ),
    ],
)
def test_what_may_be_the_listener_is_a_remark(change, words):
    """If it failed, a busy listener would call a good robot unusable, or say nothing of a stall."""
    seen = running()
    change(seen)
    found = diagnose(load_robot('walker3d'), seen, None)
    assert not found.problems
    assert any(words in remark for remark in found.remarks), found.remarks
