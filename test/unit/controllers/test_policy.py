# SPDX-License-Identifier: Apache-2.0
"""A learned policy: what its network sees, what the motors get, and what is refused."""

import contextlib
import json
import math
import pickle
import sys
import time

import numpy as np
import onnx
import pytest
import yaml

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.controllers.policy.controller import Policy
from walking_control.controllers.policy.description import read_description
from walking_control.controllers.policy.network import load_network, OnnxNetwork
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.safety.machine import State
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import Walk

TERMS = {
    'base_linear_velocity': 3,
    'base_angular_velocity': 3,
    'projected_gravity': 3,
    'command': 3,
    'joint_position': 12,
    'joint_velocity': 12,
    'last_action': 12,
    'phase_cos': 2,
    'phase_sin': 2,
}
SIZE = sum(TERMS.values())


def write_network(path, weights, offset=0.0, metadata=None):
    """Write a network whose action is weights times the observation plus an offset."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    outputs, inputs = weights.shape
    graph = helper.make_graph(
        [helper.make_node('Gemm', ['obs', 'w', 'b'], ['action'], transB=1)],
        'policy',
        [helper.make_tensor_value_info('obs', kind, [1, inputs])],
        [helper.make_tensor_value_info('action', kind, [1, outputs])],
        [
            onnx.numpy_helper.from_array(weights.astype(np.float32), 'w'),
            onnx.numpy_helper.from_array(np.full(outputs, offset, dtype=np.float32), 'b'),
        ],
    )
    save(graph, path, metadata)


def save(graph, path, metadata=None):
    """Write a graph as ONNX that an older onnxruntime reads, too."""
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid('', 13)], ir_version=8
    )
    onnx.helper.set_model_props(model, metadata or {})
    onnx.save(model, path)


@pytest.fixture
def robot_file():
    """Return walker3d, which has twelve motors."""
    return load_robot('walker3d')


def describe(robot_file, **changes):
    """Return the description of a policy of walker3d, as its YAML says it."""
    robot = robot_file.robot
    posture = robot_file.start.posture
    joints = {
        name: {'default': float(posture[robot.joint_index(name)]), 'stiffness': 200.0}
        for name in robot.actuators
    }
    for row in joints.values():
        row['damping'] = 5.0
    told = {
        'rate': 50.0,
        'action_scale': 0.5,
        'joints': joints,
        'observation': list(TERMS),
        'clock': {'frequency': 1.5},
    }
    return {**told, **changes}


@pytest.fixture
def policy(tmp_path, robot_file):
    """Return a function that makes a policy from weights and changes of its description."""

    def make(weights=None, offset=0.0, metadata=None, values=None, **changes):
        file = tmp_path / 'policy.onnx'
        weights = np.zeros((12, SIZE)) if weights is None else weights
        write_network(file, weights, offset, metadata)
        file.with_suffix('.yaml').write_text(
            yaml.safe_dump(describe(robot_file, **changes), sort_keys=False)
        )
        chosen = load_robot('walker3d', [('policy.file', str(file)), *(values or ())])
        return Policy(chosen, chosen.values(Policy.parameters))

    return make


def tick(law, robot, state=None, velocity=(0.4, 0.1, -0.2)):
    """Return the efforts of a tick."""
    command = Command(robot)
    law.update(state, Reference(velocity=np.array(velocity)), 0.002, command)
    return command.effort.copy()


def test_drives_hold_the_joints_themselves(policy, tmp_path, robot_file):
    """The stiffness it was trained with would be lost between our ticks."""
    state = WalkerState(robot_file.robot)
    state.position[:] = robot_file.start.posture
    state.velocity[:] = 0.3
    plain = policy(offset=0.02)
    effort = tick(plain, plain_robot := robot_file.robot, state)
    motors = {
        joint: {**vars(motor), 'drive': 'impedance'}
        for joint, motor in plain_robot.actuators.items()
    }
    driven = load_robot('walker3d', [('robot.actuators', motors)])
    values = load_robot('walker3d', [('policy.file', str(tmp_path / 'policy.onnx'))])
    law = Policy(driven, values.values(Policy.parameters))
    command = Command(driven.robot)
    law.update(state, Reference(velocity=np.array([0.4, 0.1, -0.2])), 0.002, command)
    assert not command.effort.any()
    assert command.stiffness == pytest.approx(200.0) and command.damping == pytest.approx(5.0)
    limits = driven.robot.effort_limits
    drive = np.clip(command.torque(state.position, state.velocity), -limits, limits)
    assert drive == pytest.approx(effort)


def test_every_term_reaches_the_network_where_its_file_says(policy, robot_file):
    """A policy would be fed joints where it expects gravity, and fall."""
    robot = robot_file.robot
    state = WalkerState(robot)
    state.base.orientation[:] = 0.0, math.sin(0.1), 0.0, math.cos(0.1)  # pitched by 0.2 rad
    state.base.linear[:] = 0.5, 0.0, 0.0
    state.base.angular[:] = 0.1, 0.2, 0.3
    state.position[:] = robot_file.start.posture
    state.position[robot.joint_index(next(iter(robot.actuators)))] += 0.01
    expected = np.concatenate(
        [
            [0.5 * math.cos(0.2), 0.0, 0.5 * math.sin(0.2)],
            [0.1, 0.2, 0.3],
            [math.sin(0.2), 0.0, -math.cos(0.2)],
            [0.4, 0.1, -0.2],
            [0.01, *np.zeros(11)],
            np.zeros(24),
            [1.0, -1.0, 0.0, 0.0],
        ]
    )
    for start in range(0, SIZE, 12):
        weights = np.zeros((12, SIZE))
        rows = np.arange(min(12, SIZE - start))
        weights[rows, start + rows] = 1.0
        law = policy(weights)
        law.reset(state)
        effort = tick(law, robot, state)
        zero = policy()
        zero.reset(state)
        action = (effort - tick(zero, robot, state)) / (200.0 * 0.5)
        limits = np.abs(effort) >= np.array(robot.effort_limits)
        seen = np.where(limits, np.nan, action)[: len(rows)]
        kept = ~np.isnan(seen)
        np.testing.assert_allclose(seen[kept], expected[start : start + len(rows)][kept], atol=1e-6)
        assert kept.sum() >= len(rows) - 2


def test_motors_pull_to_the_answer_and_the_network_is_asked_at_its_own_rate(policy, robot_file):
    """The PD would act on an old or no answer, or the network run at every tick."""
    robot = robot_file.robot
    weights = np.zeros((12, SIZE))
    weights[:, SIZE - 4] = 0.1  # the cosine of its clock
    law = policy(weights)
    state = WalkerState(robot)
    state.position[:] = robot_file.start.posture
    law.reset(state)
    efforts = np.array([tick(law, robot, state) for _ in range(21)])
    np.testing.assert_allclose(efforts[0], 200.0 * 0.5 * 0.1, rtol=1e-5)
    assert np.ptp(efforts[:10], axis=0).max() == 0.0
    cosine = math.cos(2.0 * math.pi * 1.5 * 0.02)
    np.testing.assert_allclose(efforts[10], 10.0 * cosine, rtol=1e-5)


def test_a_silence_has_one_answer(policy, robot_file, monkeypatch):
    """Its clock and its history would run ahead of the robot."""
    robot, law, command, asked = robot_file.robot, policy(), Command(robot_file.robot), []
    state = WalkerState(robot)
    state.position[:] = robot_file.start.posture
    law.reset(state)
    answer = law.network.answer
    monkeypatch.setattr(law.network, 'answer', lambda seen: (asked.append(now), answer(seen))[1])
    ticks = [*np.arange(0.002, 0.02, 0.002), *np.arange(0.078, 0.14, 0.002)]
    for now, before in zip(ticks, [0.0, *ticks]):
        law.update(state, Reference(velocity=np.zeros(3)), now - before, command)
    assert np.diff(asked)[1:] == pytest.approx(0.02, abs=2.1e-3) and asked[1] == ticks[9]


def test_a_network_with_a_memory_gets_it_back(tmp_path, robot_file):
    """A recurrent policy would begin anew at every answer."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT

    def tensor(name, size):
        return helper.make_tensor_value_info(name, kind, [1, size])

    graph = helper.make_graph(
        [
            helper.make_node('Add', ['h', 'one'], ['after']),
            helper.make_node('Identity', ['after'], ['action']),
        ],
        'counter',
        [tensor('obs', SIZE), tensor('h', 12)],
        [tensor('action', 12), tensor('after', 12)],
        [onnx.numpy_helper.from_array(np.full((1, 12), 0.01, dtype=np.float32), 'one')],
    )
    file = tmp_path / 'policy.onnx'
    save(graph, file)
    file.with_suffix('.yaml').write_text(yaml.safe_dump(describe(robot_file), sort_keys=False))
    chosen = load_robot('walker3d', [('policy.file', str(file))])
    law = Policy(chosen, chosen.values(Policy.parameters))
    state = WalkerState(chosen.robot)
    state.position[:] = robot_file.start.posture
    for _ in range(2):  # a reset forgets
        law.reset(state)
        efforts = np.array([tick(law, chosen.robot, state) for _ in range(21)])
        np.testing.assert_allclose(efforts[0], 1.0, rtol=1e-5)
        np.testing.assert_allclose(efforts[20], 3.0, rtol=1e-5)


def lstm(path):
    """Write a network of twelve LSTM cells: observation, h, c -> action, h, c."""
    helper, kind, random = onnx.helper, onnx.TensorProto.FLOAT, np.random.default_rng(1)

    def tensor(name, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    def weights(name, *shape):
        return onnx.numpy_helper.from_array(random.normal(0.0, 0.3, shape).astype('f'), name)

    graph = helper.make_graph(
        [
            helper.make_node('Reshape', ['obs', 'sequence'], ['x']),
            helper.make_node(
                'LSTM',
                ['x', 'w', 'r', 'b', '', 'h_in', 'c_in'],
                ['y', 'h_out', 'c_out'],
                hidden_size=12,
            ),
            helper.make_node('Reshape', ['y', 'row'], ['actions']),
        ],
        'lstm',
        [tensor('obs', 1, SIZE), tensor('h_in', 1, 1, 12), tensor('c_in', 1, 1, 12)],
        [tensor('actions', 1, 12), tensor('h_out', 1, 1, 12), tensor('c_out', 1, 1, 12)],
        [
            onnx.numpy_helper.from_array(np.array([1, 1, SIZE]), 'sequence'),
            onnx.numpy_helper.from_array(np.array([1, 12]), 'row'),
            weights('w', 1, 48, SIZE),
            weights('r', 1, 48, 12),
            weights('b', 1, 96),
        ],
    )
    save(graph, path)


@pytest.mark.parametrize('rate', [25.0, 50.0, 100.0])
def test_an_lstm_is_asked_at_its_rate_and_remembers_both_states(tmp_path, robot_file, rate):
    """A recurrent policy would forget half of what it knows, or hear of time that did not pass."""
    file = tmp_path / 'policy.onnx'
    lstm(file)
    told = describe(robot_file, rate=rate, observation=[*TERMS], clock={'frequency': 0.0})
    file.with_suffix('.yaml').write_text(yaml.safe_dump(told, sort_keys=False))
    chosen = load_robot('walker3d', [('policy.file', str(file))])
    law, state = Policy(chosen, chosen.values(Policy.parameters)), WalkerState(chosen.robot)
    state.position[:] = robot_file.start.posture
    ticks = round(500.0 / rate)
    efforts = np.array([tick(law, chosen.robot, state) for _ in range(2 * ticks + 1)])
    changes = 1 + np.flatnonzero(np.abs(np.diff(efforts, axis=0)).max(axis=1))
    assert changes.tolist() == [ticks, 2 * ticks]
    # by hand, without the chain: the same cells, both states kept
    session = load_network(file)._session
    action, h, c = np.zeros(12), *np.zeros((2, 1, 1, 12), 'f')
    for effort in efforts[::ticks]:
        seen = np.concatenate(
            [np.zeros(6), [0, 0, -1, 0.4, 0.1, -0.2], np.zeros(24), action, [1, -1, 0, 0]]
        )
        given = {'obs': seen[None].astype('f'), 'h_in': h, 'c_in': c}
        action, h, c = session.run(None, given)
        action = action.ravel()
        np.testing.assert_allclose(effort, 200.0 * 0.5 * action, rtol=1e-4, atol=1e-3)


def test_gains_and_order_come_from_metadata(policy, robot_file):
    """What exporters write into the file would have to be typed again, in the right order."""
    joints = list(robot_file.robot.actuators)[::-1]
    law = policy(
        offset=0.02,
        metadata={'dof_names': json.dumps(joints), 'kp': json.dumps([100.0] * 12), 'kd': '[1.0]'},
        joints={name: {'default': 0.0} for name in joints},
        action_scale=1.0,
    )
    state = WalkerState(robot_file.robot)
    law.reset(state)
    np.testing.assert_allclose(tick(law, robot_file.robot, state), 2.0, rtol=1e-5)


def deployment(robot_file, **changes):
    """Return what unitree_rl_lab would write beside a policy of walker3d, as YAML."""
    n = len(robot_file.robot.actuators)
    places = list(range(n))[::-1]  # joints of the network run backwards
    term = {'params': {}, 'clip': None, 'scale': [1.0] * 3, 'history_length': 1}
    each = {**term, 'scale': [1.0] * n}
    told = {
        'joint_ids_map': places,
        'step_dt': 0.02,
        'stiffness': [100.0 + i for i in range(n)],
        'damping': [1.0 + i for i in range(n)],
        'default_joint_pos': [0.01 * i for i in range(n)],
        'commands': {
            'base_velocity': {
                'ranges': {
                    'lin_vel_x': [-0.5, 0.9],
                    'lin_vel_y': [-0.3, 0.3],
                    'ang_vel_z': [-0.2, 0.2],
                    'heading': None,
                }
            }
        },
        'actions': {
            'JointPositionAction': {
                'clip': None,
                'scale': [0.25] * n,
                'offset': [0.01 * i for i in range(n)],
            }
        },
        'observations': {
            'base_ang_vel': {**term, 'scale': [0.2] * 3, 'clip': [-100.0, 100.0]},
            'projected_gravity': {**term, 'history_length': 3},
            'velocity_commands': term,
            'joint_pos_rel': each,
            'joint_vel_rel': {**each, 'scale': [0.05] * n},
            'last_action': each,
            'gait_phase': {**term, 'params': {'period': 0.8}},
        },
    }
    text = yaml.safe_dump({**told, **changes}, sort_keys=False)
    slice_ = '    joint_ids: !!python/object/apply:builtins.slice [null, null, null]\n'
    return text.replace('  JointPositionAction:\n', '  JointPositionAction:\n' + slice_)


def test_a_deployment_of_unitree_rl_lab_is_read(tmp_path, robot_file):
    """Its gains stand in the order of motors, its angles in that of the network: a robot falls."""
    motors = [*robot_file.robot.actuators]
    path = tmp_path / 'deploy.yaml'
    path.write_text(deployment(robot_file))
    told = read_description(tmp_path / 'policy.onnx', str(path), {}, motors)
    n = len(motors)
    assert told.joints.names == tuple(motors[::-1])
    assert told.joints.stiffness == pytest.approx([100.0 + i for i in range(n)][::-1])
    assert told.joints.default == pytest.approx([0.01 * i for i in range(n)])
    assert told.joints.scale == pytest.approx(0.25) and told.rate == pytest.approx(50.0)
    assert told.limits == (0.9, 0.3, 0.2) and told.clock.frequency == pytest.approx(1.25)
    assert [term.name for term in told.terms] == [
        'base_angular_velocity',
        'projected_gravity',
        'command',
        'joint_position',
        'joint_velocity',
        'last_action',
        'clock_sin',
        'clock_cos',
    ]
    assert told.size == 3 + 9 + 3 + 3 * n + 2 and told.terms[0].clip == pytest.approx(20.0)
    # what is written in our own words is read as the same
    ours = tmp_path / 'ours.yaml'
    ours.write_text(yaml.safe_dump(told.document(), sort_keys=False))
    again = read_description(tmp_path / 'policy.onnx', str(ours), {}, motors)
    assert again.document() == told.document()


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'joint_ids_map': [0, 99]}, 'joint_ids_map'),
        ({'stiffness': [1.0]}, 'stiffness'),
        ({'actions': {}}, 'JointPositionAction'),
        ({'step_dt': 0.0}, 'step_dt'),
        ({'commands': None}, 'base_velocity'),
        ({'default_joint_pos': [1.0] * 12}, 'an offset other than'),
        ({'observations': {'height_scan': {}}}, 'height_scan'),
        ({'observations': {'gait_phase': {}}}, 'params'),
    ],
)
def test_a_deployment_that_cannot_be_read_is_refused(tmp_path, robot_file, changes, words):
    """A robot would walk with gains or angles that nobody told."""
    path = tmp_path / 'deploy.yaml'
    path.write_text(deployment(robot_file, **changes))
    with pytest.raises(InvalidInput) as refused:
        read_description(tmp_path / 'p.onnx', str(path), {}, [*robot_file.robot.actuators])
    assert words in str(refused.value) and '\n' not in str(refused.value)


def test_a_history_begins_with_what_is_seen_first(policy, robot_file):
    """A network would be told at its start that gravity had been off until then."""
    weights = np.zeros((12, SIZE + 6))
    weights[0, 6 + 2] = weights[1, 6 + 5] = -0.1  # the two oldest
    terms = [*TERMS]
    terms[2] = {'term': 'projected_gravity', 'history': 3}
    law = policy(weights, observation=terms)
    state = WalkerState(robot_file.robot)
    state.position[:] = robot_file.start.posture
    law.reset(state)
    assert tick(law, robot_file.robot, state)[:2] == pytest.approx(10.0)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'observation': ['projected_gravity']}, 'projected_gravity 3'),
        ({'observation': ['projected_gravty']}, 'did you mean projected_gravity'),
        ({'joints': {'nose': {'stiffness': 1.0}}}, 'the network has 52'),
        ({'rate': 0.0}, 'rate'),
        ({'rate': float('nan')}, 'rate'),
        ({'rate': 900.0}, 'must not be above policy.rate'),
        ({'limits': [1.0]}, 'limits'),
        ({'spring': 3}, 'spring'),
        ({'standstill': 'sits'}, 'standstill'),
    ],
)
def test_a_wrong_description_is_refused_by_name(policy, changes, words):
    """A robot would walk with another observation or gain than its policy was trained with."""
    with pytest.raises(InvalidInput) as refused:
        policy(**changes)
    assert words in str(refused.value) and '\n' not in str(refused.value)


def test_a_joint_of_another_robot_is_refused(policy, robot_file):
    """A policy of another robot would move whatever joints come first."""
    joints = describe(robot_file)['joints']
    renamed = {f'{name}_x' if i == 0 else name: row for i, (name, row) in enumerate(joints.items())}
    with pytest.raises(InvalidInput, match='no such motor'):
        policy(joints=renamed)
    with pytest.raises(InvalidInput, match='no action for these motors'):
        policy(np.zeros((11, SIZE - 3)), joints=dict(list(joints.items())[1:]))


class Pickled:
    """What runs Python when it is unpickled: it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), 'w')


def test_a_file_that_is_no_network_is_refused_in_one_line(tmp_path, capsys):
    """A user would read a stack trace of onnxruntime."""
    file = tmp_path / 'policy.onnx'
    ran = tmp_path / 'ran'
    for content in (b'import os', b'', pickle.dumps(Pickled(ran))):
        file.write_bytes(content)
        status = main(['simulate', 'walker3d', '--policy', str(file), '--duration', '1'])
        words = capsys.readouterr().err
        assert status == 2 and str(file) in words and 'Traceback' not in words
        assert not ran.exists(), 'what is pickled was run'
    assert main(['simulate', 'walker3d', '--controller', 'policy', '--duration', '1']) == 2
    assert '--policy FILE' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('kind', 'opset', 'words'),
    [
        (onnx.TensorProto.FLOAT, 99, 'onnxruntime refuses it'),
        (onnx.TensorProto.INT64, 13, 'must be float tensors'),
    ],
)
def test_a_network_that_cannot_be_run_is_refused(tmp_path, policy, kind, opset, words):
    """A network of an opset or with inputs that nobody can give would end in a stack trace."""
    policy()  # which writes the description
    helper, file = onnx.helper, tmp_path / 'policy.onnx'
    graph = helper.make_graph(
        [helper.make_node('Identity', ['obs'], ['action'])],
        'policy',
        [helper.make_tensor_value_info('obs', kind, [1, SIZE])],
        [helper.make_tensor_value_info('action', kind, [1, SIZE])],
    )
    opsets = [helper.make_opsetid('', opset)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), file)
    with pytest.raises(InvalidInput, match=words) as refused:
        load_network(file)
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize(
    ('second', 'remembered', 'words'),
    [('height_scan', False, '2 inputs, 1 outputs'), ('h', True, 'the network refuses it')],
)
def test_an_input_that_nobody_can_give_is_refused(tmp_path, policy, second, remembered, words):
    """A network would be fed what is not meant for it, or stop at its second answer."""
    policy()  # which writes the description
    helper, kind, file = onnx.helper, onnx.TensorProto.FLOAT, tmp_path / 'policy.onnx'
    nodes = [helper.make_node('MatMul', ['obs', 'w'], ['action'])]
    inputs = [
        helper.make_tensor_value_info('obs', kind, [1, SIZE]),
        helper.make_tensor_value_info(second, kind, [1, 4]),
    ]
    outputs = [helper.make_tensor_value_info('action', kind, [1, 12])]
    weights = [onnx.numpy_helper.from_array(np.zeros((SIZE, 12), dtype=np.float32), 'w')]
    if remembered:  # at another length than what is asked for
        nodes.append(helper.make_node('Concat', ['h', 'h'], ['after'], axis=1))
        outputs.append(helper.make_tensor_value_info('after', kind, [1, 8]))
    save(helper.make_graph(nodes, 'policy', inputs, outputs, weights), file)
    chosen = load_robot('walker3d', [('policy.file', str(file))])
    with pytest.raises(InvalidInput, match=words) as refused:
        Policy(chosen, chosen.values(Policy.parameters))
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize('outputs', [11, 13])
def test_an_action_of_another_length_is_refused(policy, outputs):
    """Joints would get each other's angles."""
    with pytest.raises(InvalidInput, match=rf'joints of .* is 12: the network has {outputs}'):
        policy(np.zeros((outputs, SIZE)))


def test_a_network_that_is_too_slow_is_refused(policy, monkeypatch):
    """Every tick in which it is asked would come late."""

    def answer(self, observation):
        time.sleep(0.1)
        return np.zeros(12)

    monkeypatch.setattr(OnnxNetwork, 'answer', answer)
    with pytest.raises(InvalidInput, match=r'10\d\.\d ms an answer.*asked every 20.0 ms'):
        policy()


@pytest.mark.parametrize('answer', [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_reaches_a_motor(policy, tmp_path, capsys, answer):
    """A network that diverges would command anything, all a motor has where it is infinite."""
    policy(offset=answer)
    file = str(tmp_path / 'policy.onnx')
    assert main(['simulate', 'walker3d', '--policy', file, '--duration', '0.3', '--json']) == 1
    told = json.loads(capsys.readouterr().out)
    assert 'finite' in told['fault_reason']
    assert math.isfinite(told['peak_effort'])


def test_it_runs_by_option(policy, tmp_path, capsys):
    """The option would not choose the law."""
    policy(values=())
    file = str(tmp_path / 'policy.onnx')
    arguments = ['simulate', 'walker3d', '--policy', file, '--duration', '0.3', '--json']
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)['controller'] == 'policy'


def test_a_standby_law_stands_when_the_network_gives_no_number(policy, tmp_path):
    """A robot would be let go, and fall, though the laws here can stand."""
    policy(np.full((12, SIZE), np.nan))
    sets = ('policy.file', str(tmp_path / 'policy.onnx')), ('standby', 'stepping')
    chosen = load_robot('walker3d', sets)
    plant, loop = make_plant(chosen), ControlLoop(chosen, 'policy')
    walk = Walk(plant, loop, chosen.start, 500)
    for _ in range(500):
        walk.tick()
    assert loop.fault.code == 'command' and loop.law is loop.standby
    assert loop.supervisor.fault_latch.state is State.STANDING


def test_it_is_a_controller_with_limits_of_its_own(policy):
    """Velocities beyond those it was trained for would be asked of it."""
    law = policy(limits=[0.6, 0.3, 0.9], standstill='stands')
    assert law.velocity_limits() == (0.6, 0.3, 0.9) and law.standstill == 'stands'


class FakeTensor(np.ndarray):
    """As much of a tensor as a network needs."""

    clone = np.ndarray.copy

    def copy_(self, other):
        self[...] = other

    def numpy(self):
        return np.asarray(self)


class FakeTorch:
    """As much of torch as loads a network that counts how often it was asked."""

    def __init__(self, inputs):
        self.inputs, self.count = inputs, np.zeros(1).view(FakeTensor)
        self.jit = self
        self.no_grad = contextlib.nullcontext

    def set_num_threads(self, count):
        pass

    def load(self, path, map_location):
        if 'pickle' in path:
            raise RuntimeError('constants.pkl is missing\nand more')
        return self

    def eval(self):
        return self

    def named_buffers(self):
        return [('count', self.count)]

    def from_numpy(self, array):
        return array.view(FakeTensor)

    def __call__(self, observation):
        if observation.shape != (1, self.inputs):
            raise RuntimeError(f'{observation.shape[1]} and {self.inputs} do not multiply')
        self.count += 1.0
        return 0.01 * self.count * np.ones((1, 12)).view(FakeTensor)


def test_a_network_in_torchscript(policy, tmp_path, robot_file, monkeypatch):
    """Most policies that one can download are of this kind."""
    monkeypatch.setitem(sys.modules, 'torch', FakeTorch(SIZE))
    policy()  # which writes the description
    (tmp_path / 'policy.onnx').unlink()
    chosen = load_robot('walker3d', [('policy.file', str(tmp_path / 'policy.pt'))])
    law, state = Policy(chosen, chosen.values(Policy.parameters)), WalkerState(robot_file.robot)
    state.position[:] = robot_file.start.posture
    first, *_, later = (tick(law, robot_file.robot, state) for _ in range(11))
    assert later == pytest.approx(first + 1.0)  # 0.01 times a scale of 0.5 and 200 N m/rad
    law.reset(state)  # what it remembers as well
    assert tick(law, robot_file.robot, state) == pytest.approx(first)
    for name, size, limit in (
        ('policy.pt', SIZE - 1, 'do not multiply'),
        ('pickle.pt', SIZE, 'constants.pkl is missing'),
    ):
        monkeypatch.setitem(sys.modules, 'torch', FakeTorch(size))
        values = {
            'policy.file': str(tmp_path / name),
            'policy.config': str(tmp_path / 'policy.yaml'),
        }
        chosen = load_robot('walker3d', values.items())
        with pytest.raises(InvalidInput, match=limit) as caught:
            Policy(chosen, chosen.values(Policy.parameters))
        assert '\n' not in str(caught.value)
