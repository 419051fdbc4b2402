# SPDX-License-Identifier: Apache-2.0
"""Launch arguments and what they turn into, without launch."""

import pytest

from walking_control.exceptions import InvalidInput
from walking_control.models.resources import robot_names
from walking_control.ros.launch_arguments import (
    CONTROLLER,
    LaunchArgument,
    node_parameters,
    read_arguments,
    refuse_unknown,
    SIMULATION,
    SIMULATOR,
)


def test_defaults_start_a_shipped_robot():
    """If it failed, `ros2 launch` without arguments would start nothing."""
    values = read_arguments({})
    assert values['robot'] in robot_names()
    assert values['realtime'] is False
    assert values['duration'] == 0.0


def test_empty_choices_stay_with_the_files():
    """If it failed, an empty controller or plant would override the parameter or robot file."""
    for node in (CONTROLLER, SIMULATOR):
        (parameters,) = node_parameters(node, read_arguments({}))
        assert not {'controller', 'plant'} & set(parameters)


def test_values_reach_the_nodes_that_declare_them():
    """If it failed, a node would be given a parameter of another name, node or type."""
    values = read_arguments(
        {
            'robot': 'dribbel',
            'controller': 'hip_switching',
            'plant': 'mujoco',
            'realtime': 'True',
            'duration': '5',
            'namespace': 'left',
        }
    )
    assert node_parameters(CONTROLLER, values) == [
        {'robot_file': 'dribbel', 'controller': 'hip_switching', 'realtime': True}
    ]
    assert node_parameters(SIMULATOR, values) == [
        {
            'robot_file': 'dribbel',
            'controller': 'hip_switching',
            'plant': 'mujoco',
            'realtime': True,
            'duration': 5.0,
            'speed': 1.0,
        }
    ]


def test_arguments_win_over_the_parameter_file(tmp_path):
    """If it failed, launch would load the file last and undo what was typed."""
    path = tmp_path / 'tuned.yaml'
    path.write_text('/**: {ros__parameters: {controller: none}}')
    values = read_arguments({'params_file': str(path), 'controller': 'hip_switching'})
    first, last = node_parameters(CONTROLLER, values)
    assert first == str(path)
    assert last['controller'] == 'hip_switching'


@pytest.mark.parametrize(
    'name, text, limit',
    [
        ('realtime', 'tru', 'true or false'),
        ('realtime', '1', 'true or false'),
        ('duration', 'ten', 'finite'),
        ('duration', '-1', 'not negative'),
        ('duration', 'inf', 'finite'),
        ('duration', 'nan', 'finite'),
        ('params_file', '/no/such/file.yaml', 'no such file'),
    ],
)
def test_unusable_text_is_refused(name, text, limit):
    """If it failed, a typing error would start a robot with something else."""
    with pytest.raises(InvalidInput) as caught:
        read_arguments({name: text})
    assert name in str(caught.value)
    assert limit in str(caught.value)


def test_unknown_arguments_are_refused():
    """If it failed, `robt:=compass` would start Dribbel in silence."""
    refuse_unknown(['robot:=compass', '--debug'])
    with pytest.raises(InvalidInput) as caught:
        refuse_unknown(['robt:=compass'])
    assert 'robt' in str(caught.value) and 'did you mean robot' in str(caught.value)


def test_every_default_is_readable():
    """If it failed, the table would hold a default that its own reader refuses."""
    for argument in SIMULATION:
        value = read_arguments({argument.name: argument.default})[argument.name]
        assert isinstance(argument, LaunchArgument)
        assert isinstance(value, argument.kind) or value == argument.default == ''


def test_a_policy_is_the_controller(tmp_path):
    """If it failed, a learned policy would walk in scripts alone."""
    network = tmp_path / 'policy.onnx'
    network.touch()
    (parameters,) = node_parameters(CONTROLLER, read_arguments({'policy': str(network)}))
    assert parameters['policy.file'] == str(network)
    assert parameters['controller'] == 'policy'
    with pytest.raises(InvalidInput, match='policy.*no such file'):
        read_arguments({'policy': 'no_such.onnx'})
