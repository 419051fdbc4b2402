# SPDX-License-Identifier: Apache-2.0
"""Robot files are read whole or refused in one line."""

import numpy as np
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.resources import gait_path, robot_names


@pytest.mark.parametrize('name', robot_names())
def test_shipped_robot_files_load(name):
    """A shipped robot that cannot be loaded is broken for everyone."""
    assert load_robot(name).robot.name == name


def test_misspelt_section(edited_robot_file):
    """A misspelt section would leave every parameter in it at its default, silently."""
    path = edited_robot_file(lambda tree: tree.update(safty={'damping': 2.0}))
    with pytest.raises(InvalidInput, match='did you mean safety'):
        load_robot(path)


def test_mirror_twice_is_identity(dribbel):
    """If relabelling twice did not give the leg back, left and right would drift apart."""
    mirror = dribbel.robot.mirror
    for joint, (partner, sign) in mirror.items():
        assert mirror[partner][0] == joint and sign * mirror[partner][1] == 1.0


def test_supports_are_mirror_images(dribbel):
    """The coordinates must look alike from either foot, or the law favours a leg."""
    robot = dribbel.robot
    rng = np.random.default_rng(1)
    joints = rng.uniform(-1.0, 1.0, len(robot.joints))
    q = robot.supports['outer_foot'] @ np.concatenate(([0.0], joints))
    mirrored = np.array(
        [
            sign * joints[robot.joint_index(partner)]
            for partner, sign in (robot.mirror[joint] for joint in robot.joints)
        ]
    )
    # the inner thigh must have the pitch the outer one had, here zero
    pitch = joints[robot.joint_index('hip')] * -1.0
    image = robot.supports['inner_foot'] @ np.concatenate(([pitch], mirrored))
    assert np.allclose(image, q, atol=1e-14)


def edit_robot(**changes):
    """Return an edit of the section robot."""
    return lambda tree: tree['robot'].update(changes)


def misspell_joint(tree):
    """Write a joint that the URDF does not have."""
    tree['robot']['joints'] = ['hip', 'outer_kne', 'inner_knee']


def break_mirror(tree):
    """Make the mirror a one-way street."""
    tree['robot']['mirror']['outer_knee'] = {'partner': 'hip', 'sign': 1.0}


def break_support(tree):
    """Make two coordinates the same."""
    tree['robot']['supports']['outer_foot']['q4'] = {'hip': 1.0}


@pytest.mark.parametrize(
    'edit, words',
    [
        (misspell_joint, ('outer_kne', 'did you mean outer_knee')),
        (edit_robot(joints=['hip', 'outer_knee']), ('inner_knee', 'not in robot.joints')),
        (edit_robot(feet=['outer_foot']), ('robot.feet', 'two feet')),
        (edit_robot(base_link='torso'), ('torso', 'not a link')),
        (edit_robot(urdf='nowhere.urdf'), ('nowhere.urdf', 'no such file')),
        (edit_robot(colour='red'), ('robot.colour', 'unknown; known: name')),
        (break_mirror, ('robot.mirror', 'mirroring twice')),
        (break_support, ('robot.supports.outer_foot', 'one to one')),
        (lambda tree: tree.pop('start'), ('has no start',)),
        (lambda tree: tree.update(safety=3), ('section safety', 'name: value')),
        (lambda tree: tree.update(controller=[]), ('controller', 'must be a name')),
        (edit_robot(joints=[['hip']]), ('robot.joints', 'list of names')),
        (edit_robot(feet=3), ('robot.feet', 'list of names')),
        (edit_robot(name=3), ('robot.name', 'must be a text')),
        (edit_robot(mirror=3), ('robot.mirror', 'must be a mapping of name: value')),
        (edit_robot(effort_share=1.5), ('robot.effort_share', 'from 0.01 to 1')),
        (lambda tree: tree['robot']['mirror'].update(hip=None), ('robot.mirror.hip',)),
        (lambda tree: tree['robot']['supports']['outer_foot'].update(q3=None), ('outer_foot.q3',)),
        (
            lambda tree: tree['robot']['supports']['outer_foot'].update(q3={'pitch': float('nan')}),
            ('outer_foot.q3.pitch', 'finite'),
        ),
        (
            lambda tree: tree['robot']['supports']['outer_foot'].update(q3={'pitch': True}),
            ('outer_foot.q3.pitch', 'finite'),
        ),
        (lambda tree: tree['robot']['locks'].update(outer_knee=None), ('robot.locks.outer_knee',)),
        (
            lambda tree: tree['robot']['locks']['outer_knee'].update(capture=-1.0),
            ('outer_knee.capture', 'at least 0'),
        ),
        (lambda tree: tree['start'].update(q=[0.1]), ('start.q', '4 finite numbers')),
        (
            lambda tree: tree['start'].update(v=['1e-3', 0.0, 0.0, 0.0]),
            ('start.v, q3', '1e-3', 'write 0.001; '),
        ),
        (lambda tree: tree['start'].update(v=[True, 0.0, 0.0, 0.0]), ('start.v, q3', 'True')),
        (
            lambda tree: tree['start'].update(q=[1e200, 0.0, 0.0, 0.0]),
            ('start.q, q3', 'at most 1000'),
        ),
        (lambda tree: tree['start'].update(support='toe'), ('start.support', 'outer_foot')),
        (
            lambda tree: tree['robot']['actuators']['hip'].update(reduction=-1.0),
            ('actuators.hip.reduction', '-1.0'),
        ),
        (lambda tree: tree['robot']['actuators'].update(ankle={}), ('ankle', 'not a joint')),
        (
            lambda tree: tree['robot']['locks']['outer_knee'].update(foot='toe'),
            ('toe', 'outer_foot'),
        ),
        (
            lambda tree: tree['robot'].update(xacro_args={'foot_mass': -1.0}),
            ('mass of link', 'must not be negative'),
        ),
        (lambda tree: tree['robot'].update(xacro_args={'foot_mass': 'heavy'}), ('xacro file',)),
        (lambda tree: tree['robot'].update(xacro_args={'tail_mass': 1.0}), ('tail_mass',)),
        (lambda tree: tree.update(world={'friction': -1.0}), ('world.friction', '-1.0')),
    ],
)
def test_bad_robot_files_are_refused(edited_robot_file, edit, words):
    """A robot file that contradicts its URDF would move the wrong joint."""
    with pytest.raises(InvalidInput) as caught:
        load_robot(edited_robot_file(edit))
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert '\n' not in text


@pytest.mark.parametrize('content', ['{', '- 1', 'a: {b: 1}', '\x00'])
def test_not_a_parameter_file(tmp_path, content):
    """Any other YAML, or none, must be refused without a stack trace."""
    path = tmp_path / 'robot.yaml'
    path.write_text(content)
    with pytest.raises(InvalidInput, match='robot file'):
        load_robot(path)


def test_unknown_robot():
    """A misspelt robot must be answered with the robots there are."""
    with pytest.raises(InvalidInput, match='known: .*dribbel'):
        load_robot('drible')


def test_overrides_by_short_name():
    """`--set` must reach motors, the world and masses by their own names."""
    robot_file = load_robot('dribbel', [('reduction', 66.0), ('slope', 0.05), ('hip_mass', 5.0)])
    assert robot_file.robot.actuators['hip'].reduction == 66.0
    assert robot_file.sections['world']['slope'] == 0.05
    assert robot_file.tree['robot']['xacro_args'] == {'hip_mass': 5.0}
    assert (
        load_robot('dribbel', xacro_args={'hip_mass': 5.0}).robot.urdf
        == load_robot('dribbel', [('robot.xacro_args.hip_mass', 5.0)]).robot.urdf
    )


def test_short_name_means_the_robots_own_controller():
    """`--set rate=...` must reach the robot's controller, whatever other controllers have."""
    robot_file = load_robot('dribbel', [('knee_flexed', 0.07)])
    assert robot_file.sections['hip_switching']['knee_flexed'] == 0.07


@pytest.mark.parametrize('name, words', [('redction', 'reduction'), ('angle', 'ambiguous')])
def test_bad_overrides(name, words):
    """A misspelt or ambiguous name must not silently change nothing."""
    with pytest.raises(InvalidInput, match=words):
        load_robot('dribbel', [(name, 1.0)])


def test_write_gives_the_same_robot(tmp_path):
    """The file handed to another process must describe the robot that was asked for."""
    robot_file = load_robot('dribbel', [('reduction', 66.0), ('hip_mass', 5.0)])
    robot_file.write(tmp_path / 'copy.yaml')
    copy = load_robot(tmp_path / 'copy.yaml')
    assert copy.robot.urdf == robot_file.robot.urdf
    assert copy.robot.actuators == robot_file.robot.actuators
    assert copy.sections == robot_file.sections


def test_a_folder_named_as_a_robot_hides_no_shipped_gait(tmp_path, monkeypatch):
    """A report in a folder of the robot's name would break every walk started beside it."""
    (tmp_path / 'compass').mkdir()
    monkeypatch.chdir(tmp_path)
    assert gait_path('compass').is_file()


def test_a_controller_that_is_no_name_is_refused_before_other_overrides():
    """The command line would end in a stack trace."""
    with pytest.raises(InvalidInput, match='must be a name'):
        load_robot('compass', [('controller', [1]), ('bandwidth', 100.0)])


def test_a_supply_voltage_needs_a_resistance():
    """The current it drives would be without bound, and so the limit none or not a number."""
    with pytest.raises(InvalidInput, match='resistance of a motor with supply_voltage'):
        load_robot('walker3d', [('robot.actuators.left_knee.resistance', 0.0)])
