# SPDX-License-Identifier: Apache-2.0
"""Faults provoked from outside, in nodes that walk."""

import contextlib
import json
import sys

from programs import Program
import pytest
from rclpy.parameter import Parameter

from walking_control.ros.nodes.fault_injection import break_law
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.simulation.injection import INJECTIONS

# the others are proven without ROS, in test/unit/simulation/test_injection.py
KINDS = (
    'joint_state',
    'stale_joint_state',
    'stale_imu',
    'stale_contact',
    'command',
    'emergency_stop',
)


@pytest.mark.parametrize(
    ('kind', 'combined'), [*((kind, '') for kind in KINDS), ('stale_imu', 'joint_state')]
)
def test_a_provoked_fault_reaches_the_controller(bench, kind, combined):
    """What the verb promises must happen on the topics, too, and in one message of all sensors."""
    simulator = bench.add(
        SimulatorNode(
            parameter_overrides=[
                Parameter('plant', value='rigid'),
                Parameter('lockstep_timeout', value=0.5),
                Parameter('combined_state', value=combined),
            ]
        )
    )
    node = bench.controller(lockstep_timeout=0.5, combined_state=combined)
    simulator.break_law = lambda kind: break_law(node, kind, False)
    assert bench.spin_until(lambda: simulator.ticks > 5)
    assert simulator.set_parameters([Parameter('fault', value=kind)])[0].successful
    assert bench.spin_until(lambda: node.loop.fault is not None)
    # in lockstep, silence of one is silence of all
    assert (
        node.loop.fault.code == kind
        or kind.startswith('stale')
        and node.loop.fault.code == 'stale_joint_state'
    )


def test_what_cannot_be_provoked_is_refused(bench):
    """A request that is accepted and does nothing would look like a fault that goes unnoticed."""
    simulator = bench.add(SimulatorNode())
    for kind, reason in (('nan', 'nan'), ('command', 'another process')):
        (answer,) = simulator.set_parameters([Parameter('fault', value=kind)])
        assert not answer.successful and reason in answer.reason


def walking_control(*arguments):
    """Start the command line in a process of its own."""
    return Program(sys.executable, '-m', 'walking_control', *arguments)


@pytest.mark.long
def test_verb_finds_the_demo_and_says_what_came_of_it(bench, tmp_path, monkeypatch):
    """Somebody who learns what the robot does in a fault has two shells and no ROS tools."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))  # other demos of this user are not ours
    with walking_control('fault', 'not_finite') as fault:
        assert fault.wait() == 2
        assert 'must be one; walking_control demo' in fault.error
    with (
        walking_control(
            'demo',
            '--realtime',
            '--duration',
            '60',
            '--set',
            'state_timeout=1.0',
            '--set',
            'overrun_limit=1000',
            '--plant',
            'rigid',
        ) as demo,
        contextlib.ExitStack() as stack,
    ):
        demo.wait_for('namespace /demo_')
        fault = stack.enter_context(walking_control('fault', 'not_finite', '--json'))
        assert fault.wait() == 0, fault.error
        answer = json.loads(fault.output)
        assert answer['code'] == 'not_finite' and answer['reaction'] == 'damping'
        assert 0.0 < answer['time'] < 5.0 and 'hip' in answer['message']


def test_every_kind_is_explained():
    """Help that leaves a kind out hides it."""
    with walking_control('fault', '--help') as fault:
        assert fault.wait() == 0
        assert all(kind in fault.output for kind in INJECTIONS)
