# SPDX-License-Identifier: Apache-2.0
"""What is told of a policy is tried, and what contradicts its network is named."""

from dataclasses import replace
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml

from walking_control.cli import main
from walking_control.controllers.policy.controller import Policy
from walking_control.controllers.policy.network import load_network
from walking_control.lab.experiments import policy_check
from walking_control.lab.experiments.policy_check import find_mistakes, Trial, try_policy
from walking_control.loading import load_robot

TERMS = ['base_angular_velocity', 'projected_gravity', 'command', 'joint_velocity', 'last_action']
SIZE = 3 + 3 + 3 + 12 + 12


def write_network(file, divide=None, spreads=None):
    """Write a network that answers zeros, and may divide what it sees by spreads first."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    numbers = {'w': np.zeros((SIZE, 12)), 'mean': np.zeros(SIZE)}
    nodes = [helper.make_node('MatMul', ['divided' if divide else 'obs', 'w'], ['action'])]
    if divide:
        numbers['spreads'] = spreads if divide == 'Div' else 1.0 / spreads
        nodes = [
            helper.make_node('Sub', ['obs', 'mean'], ['less']),
            helper.make_node(divide, ['less', 'spreads'], ['divided']),
            *nodes,
        ]
    graph = helper.make_graph(
        nodes,
        'policy',
        [helper.make_tensor_value_info('obs', kind, [1, SIZE])],
        [helper.make_tensor_value_info('action', kind, [1, 12])],
        [
            onnx.numpy_helper.from_array(each.astype(np.float32), name)
            for name, each in numbers.items()
        ],
    )
    opset = [helper.make_opsetid('', 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), file)


@pytest.fixture
def robot_file(tmp_path):
    """Return walker3d with a policy that holds its start posture."""
    plain = load_robot('walker3d')
    file = tmp_path / 'policy.onnx'
    write_network(file)
    robot = plain.robot
    rows = {
        name: {
            'default': float(plain.start.posture[robot.joint_index(name)]) + 0.01,
            'stiffness': 400.0,
            'damping': 10.0,
        }
        for name in robot.actuators
    }
    told = {'rate': 50.0, 'action_scale': 0.25, 'joints': rows, 'observation': TERMS}
    file.with_suffix('.yaml').write_text(yaml.safe_dump(told, sort_keys=False))
    return load_robot('walker3d', [('controller', 'policy'), ('policy.file', str(file))])


def told_of(robot_file):
    """Return the description of its policy."""
    return Policy(robot_file, robot_file.values(Policy.parameters)).description


def scaled(told, name, factor):
    """Return a description in which a term has another scale."""
    terms = [
        replace(term, scale=term.scale * np.asarray(factor)) if term.name == name else term
        for term in told.terms
    ]
    return replace(told, terms=tuple(terms))


def rows_of(told, **columns):
    """Return a description with other numbers of its joints."""
    return replace(told, joints=replace(told.joints, **columns))


def mirrored_axis(told, i):
    """Return a description in which a joint points the other way."""
    turned = np.ones(12)
    turned[i] = -1.0
    told = scaled(told, 'joint_velocity', turned)
    joints = told.joints
    return rows_of(told, scale=joints.scale * turned, default=joints.default * turned)


MISTAKES = {
    'order': lambda told: rows_of(told, names=told.joints.names[::-1]),
    'sign of': lambda told: mirrored_axis(told, 3),
    'stiffness times 0.25': lambda told: rows_of(told, stiffness=4.0 * told.joints.stiffness),
    'projected_gravity': lambda told: scaled(told, 'projected_gravity', -1.0),
    'command': lambda told: scaled(told, 'command', 0.5),
    'rate of 50': lambda told: replace(told, rate=10.0),
    'joint_velocity with a scale of 1': lambda told: scaled(told, 'joint_velocity', 0.0),
    'default angles': lambda told: rows_of(told, default=0.0 * told.joints.default),
}


@pytest.mark.parametrize('name', MISTAKES)
def test_each_kind_of_mistake_is_named(robot_file, monkeypatch, name):
    """A mistake would be contradicted by the walk, and nobody would say which it is."""
    told = told_of(robot_file)
    right = told.document()
    if name == 'default angles':  # of which the start posture is the guess
        posture = [robot_file.robot.joint_index(joint) for joint in told.joints.names]
        right = rows_of(told, default=np.array(robot_file.start.posture)[posture]).document()
    good = Trial((), np.array([0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.4]), (0.5, 0.4))

    def answer(_, changed):
        same = json.dumps(round_all(changed.document())) == json.dumps(round_all(right))
        return good if same else replace(good, wrong=('it falls',))

    monkeypatch.setattr(policy_check, 'try_policy', answer)
    first, mended = find_mistakes(robot_file, MISTAKES[name](told))
    assert first.wrong and [name in words for words, _ in mended] == [True]
    if name != 'default angles':
        first, mended = find_mistakes(robot_file, told)
        assert not first.wrong and not mended, 'what is right is accused'


def test_a_change_after_which_it_is_but_too_fast_is_said(robot_file, monkeypatch):
    """Default angles of zero would not be named where the start posture is only near to right."""
    told = told_of(robot_file)
    posture = [robot_file.robot.joint_index(joint) for joint in told.joints.names]
    near = np.array(robot_file.start.posture)[posture]
    fast = np.array([0.75, 0.0, 0.0]), np.array([0.0, 0.0, 0.4])
    falls = Trial(('standing, it is over',), *np.full((2, 3), np.nan), (0.5, 0.4))
    slow = Trial(('walking ahead, it reaches 0.75 of 0.5 m/s',), *fast, (0.5, 0.4), True)
    monkeypatch.setattr(
        policy_check,
        'try_policy',
        lambda _, changed: slow if np.array_equal(changed.joints.default, near) else falls,
    )
    first, mended = find_mistakes(robot_file, rows_of(told, default=0.0 * near))
    assert first is falls and mended == [('default angles of the start posture', slow)]
    # where it was but too fast before, the same again is no news
    monkeypatch.setattr(policy_check, 'try_policy', lambda *_: slow)
    assert find_mistakes(robot_file, told) == (slow, [])


def round_all(value):
    """Return numbers without rounding errors, a scale as a list, within anything."""
    if isinstance(value, dict):
        return {
            key: round_all(np.broadcast_to(each, 12).tolist() if key == 'scale' else each)
            if not (key == 'scale' and np.ndim(each) and len(each) == 3)
            else round_all(np.tile(each, 4).tolist())
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [round_all(each) for each in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


@pytest.mark.long
@pytest.mark.parametrize('divide', ['Div', 'Mul'])
def test_half_the_command_shows_in_what_the_network_divides_by(robot_file, divide):
    """Half the command cannot be told from a policy that walks slowly by nature."""
    told = told_of(robot_file)
    spreads = np.ones(SIZE)
    spreads[[2, 8]] = 0.8, 0.6  # turning, and the command of it
    file = Path(robot_file.sections['policy']['file'])
    write_network(file, divide, spreads)
    network = load_network(file)
    np.testing.assert_allclose(network.spreads(), spreads, rtol=1e-6)
    for factor, expected in (1.0, 0.75), (0.5, 1.5), (2.0, 0.375):
        changed = scaled(told, 'command', factor)
        words = [each for each in try_policy(robot_file, changed).wrong if 'in training' in each]
        assert len(words) == (factor != 1.0)
        assert all(f'{expected:.2f} times' in each for each in words)


def test_a_network_that_divides_nothing_says_nothing(robot_file):
    """A weight would be taken for a spread; one number for all tells as little as none."""
    file = Path(robot_file.sections['policy']['file'])
    assert load_network(file).spreads() is None
    write_network(file, 'Div', np.array([2.0]))
    assert load_network(file).spreads() is None


@pytest.mark.long
def test_a_policy_that_stands_only_is_told_so(robot_file):
    """A policy that does not walk would be called right before its first step."""
    trial = try_policy(robot_file, told_of(robot_file))
    assert any(words.startswith('walking ahead') for words in trial.wrong)


@pytest.mark.long
def test_check_says_it_and_writes_what_it_read(robot_file, tmp_path, monkeypatch, capsys):
    """A contradiction would not reach who asks, or the description could not be kept."""
    found = Trial(('standing, it is over',), *np.full((2, 3), np.nan), (0.5, 0.4))
    walks = Trial((), np.array([0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.4]), (0.5, 0.4))
    answers = iter([(found, [('another order', walks)]), (walks, []), (found, [])])
    monkeypatch.setattr(policy_check, 'find_mistakes', lambda *_: next(answers))
    arguments = [
        'check',
        'walker3d',
        '--policy',
        str(tmp_path / 'policy.onnx'),
        '--out',
        str(tmp_path),
    ]
    assert main(arguments) == 2
    assert 'another order' in capsys.readouterr().out
    written = yaml.safe_load((tmp_path / 'policy.yaml').read_text())
    assert written == told_of(robot_file).document()
    assert main(arguments) == 0
    assert main(arguments) == 2
    assert 'own deployment' in capsys.readouterr().out
