# SPDX-License-Identifier: Apache-2.0
"""What a node's program asks of the machine, and what it says where that is refused."""

from contextlib import ExitStack
import os
from pathlib import Path
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from programs import Program
import pytest
import rclpy

from walking_control.models.resources import robot_path
from walking_control.ros.nodes import realtime

BUSY = 'while True: pass'
REFUSE = """import os
def refuse(*given):
    raise PermissionError(1, 'Operation not permitted')
os.sched_setscheduler = refuse
"""
DURATION = float(os.environ.get('WALKING_CONTROL_SOAK', 20.0))  # s for a robot
pytestmark = pytest.mark.skipif(
    not hasattr(os, 'sched_setscheduler'),
    reason='this system has no real-time priorities: needs Linux',
)


def start(module, *parameters, before=''):
    """Start a node of the package as a process of its own."""
    arguments = [word for parameter in parameters for word in ('-p', parameter)]
    code = f'{before}from walking_control.ros.nodes.{module} import main; main()'
    return Program(sys.executable, '-c', code, '--ros-args', *arguments)


@pytest.fixture
def said(bench):
    """Return a dict that fills with the newest real-time status of every node."""
    statuses, node = {}, rclpy.create_node('listener')
    node.stop = lambda: None
    bench.add(node)

    def on_diagnostics(message):
        for status in message.status:
            node_name, _, kind = status.name.partition(': ')
            statuses[node_name, kind] = status

    node.create_subscription(DiagnosticArray, '/diagnostics', on_diagnostics, 10)
    return statuses


@pytest.mark.long
@pytest.mark.parametrize('module', ['watchdog_node', 'controller_node', 'simulator_node'])
def test_what_is_refused_is_said_with_the_remedy(bench, said, module):
    """Nobody would know why a robot stops on a busy machine."""
    words = ['realtime:=true'] if module != 'watchdog_node' else []
    if module == 'controller_node':
        words += ['autostart:=true', 'require_watchdog:=false']
    with ExitStack() as programs:
        programs.enter_context(start(module, *words, 'cpu_affinity:=[4000]', before=REFUSE))
        if module == 'simulator_node':  # its robot stands until a controller comes
            bench.controller(realtime=True)
        name = (
            {
                'watchdog_node': '/watchdog',
                'controller_node': '/walking_controller',
                'simulator_node': '/simulator',
            }[module],
            'real time',
        )
        assert bench.spin_until(lambda: name in said, 60.0)
    status = said[name]
    assert status.level == DiagnosticStatus.WARN
    assert 'Operation not permitted; @realtime - rtprio 90 in' in status.message
    assert 'cpu_affinity (4000.0,) refused' in status.message


def test_what_is_asked_for_is_done(bench, said):
    """A node would say that it is on time, and not be."""
    with start('watchdog_node', 'cpu_affinity:=[0]') as watchdog:
        assert bench.spin_until(lambda: ('/watchdog', 'real time') in said, 60.0)
        status = said['/watchdog', 'real time']
        assert os.sched_getaffinity(watchdog.pid) == {0}
        policy, locked = (
            os.sched_getscheduler(watchdog.pid),
            Path(f'/proc/{watchdog.pid}/status').read_text().partition('VmLck:')[2].split()[0],
        )
        assert (policy == os.SCHED_FIFO) == ('priority' not in status.message)
        assert (int(locked) > 0) == ('lock_memory' not in status.message)


@pytest.mark.long
def test_a_priority_that_is_taken_away_is_said(bench, said):
    """Diagnostics would tell of a priority that the process no longer has."""
    with start('watchdog_node') as watchdog:
        name = '/watchdog', 'real time'
        assert bench.spin_until(lambda: name in said, 60.0)
        if os.sched_getscheduler(watchdog.pid) != os.SCHED_FIFO:
            pytest.skip('this user may have no real-time priority')
        assert told(said[name], 'priority') == '50'
        for thread in os.listdir(f'/proc/{watchdog.pid}/task'):
            os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))
        assert bench.spin_until(lambda: told(said[name], 'priority') == '0')
        assert said[name].level == DiagnosticStatus.WARN
        assert 'priority 50 was given, and is 0 now' in said[name].message


def told(status, key):
    """Return a value of a status."""
    return next(each.value for each in status.values if each.key == key)


def test_the_process_of_whoever_imports_a_node_is_left_alone(bench):
    """A script that walks a robot among other work would starve the machine."""
    before = os.sched_getscheduler(0)
    bench.controller(realtime=True)
    assert os.sched_getscheduler(0) == before


@pytest.mark.slow
@pytest.mark.parametrize('robot', ['dribbel', 'walker3d', 'humanoid'])
def test_beside_busy_processes_no_time_is_lost(bench, said, robot):
    """A robot would stop because somebody compiles beside it."""
    words = 'realtime:=true', f'robot_file:={robot_path(robot)}'
    with ExitStack() as programs:
        for _ in range(2):
            programs.enter_context(Program(sys.executable, '-c', BUSY))
        simulator = programs.enter_context(
            start('simulator_node', *words, 'state_rate:=500.0', f'duration:={DURATION}')
        )
        controller = programs.enter_context(
            start('controller_node', *words, 'autostart:=true', 'require_watchdog:=false')
        )
        assert bench.spin_until(lambda: simulator.poll() is not None, 90.0 + DURATION)
        error = f'{simulator.error}{controller.error}'
    refused = [
        status.message
        for (_, kind), status in said.items()
        if kind == 'real time' and 'priority' in status.message
    ]
    if refused:
        pytest.skip(f'this user may not raise a priority: {refused[0]}')
    assert simulator.returncode == 0, error


def test_a_process_leaves_the_kernel_its_share_in_small_pieces(monkeypatch):
    """Linux would stop a controller that takes a whole processor, for 50 ms at once."""
    used, share = 0.0, 1.0
    monkeypatch.setattr(realtime.time, 'thread_time', lambda: used)
    monkeypatch.setattr(realtime.time, 'monotonic', lambda: 0.0)
    answered = {}
    for share in (0.85, 1.0):
        used, rest, answers = 0.0, realtime.Rest(), []
        for tick in range(1, 1001):  # 2 s at 500 Hz
            answers.append(not rest.is_due(0.002 * tick))
            used += 0.002 * share * answers[-1]
        answered[share] = answers
        assert rest.pop() == answers.count(False) and rest.pop() == 0
    assert all(answered[0.85])
    assert 0.88 < sum(answered[1.0]) / 1000 < 0.92
    assert all(one or other for one, other in zip(answered[1.0], answered[1.0][1:]))
    rest, used = (
        realtime.Rest(),
        10.0,
    )  # a load of others: every second set is answered all the same
    assert [rest.is_due(0.002 * tick) for tick in range(4)] == [True, False, True, False]


@pytest.mark.long
def test_sets_left_unanswered_are_said(bench, said):
    """A robot would walk on every second set of sensors, and nobody would know why."""
    words = 'realtime:=true', f'robot_file:={robot_path("dribbel")}'
    before = 'import walking_control.ros.nodes.realtime as realtime; realtime.SHARE = 0.0\n'
    name = '/walking_controller', 'real time'
    with (
        start('simulator_node', *words, 'duration:=3.0') as simulator,
        start(
            'controller_node', *words, 'autostart:=true', 'require_watchdog:=false', before=before
        ) as controller,
    ):
        assert bench.spin_until(
            lambda: (
                name in said
                and 'left unanswered' in said[name].message
                or simulator.poll() is not None
            ),
            60.0,
        ), f'{simulator.error}{controller.error}'
    assert name in said, f'{simulator.error}{controller.error}'
    if 'priority' in said[name].message:
        pytest.skip('this user may have no real-time priority')
    assert said[name].level == DiagnosticStatus.WARN
    assert 'a lower rate of the law' in said[name].message
