# SPDX-License-Identifier: Apache-2.0
"""Spoilt files: whatever they hold, the commands answer in one line and write nothing elsewhere."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from mutations import spoilt, spoilt_element, spoilt_text
import pytest
import yaml

from walking_control.loading import load_robot
from walking_control.models.resources import robot_path, share_directory
from walking_control.models.robot_file import read_parameters

ROBOTS = ('compass', 'dribbel', 'humanoid', 'walker3d_point')
GAITS = ('compass', 'dribbel_passive')
SHORT = ('--duration', '0.03')


def _plain_tree(robot):
    """Return the parameter tree of a robot whose URDF needs no xacro, and that URDF."""
    tree = read_parameters(robot_path(robot))
    tree['robot'].pop('xacro_args', None)
    tree['robot']['urdf'] = 'robot.urdf'
    return tree, load_robot(robot).robot.urdf


TREES = {robot: _plain_tree(robot) for robot in ROBOTS}


def _write(folder, tree, urdf):
    (folder / 'robot.urdf').write_text(urdf, encoding='utf-8')
    text = tree if isinstance(tree, str) else _document(tree)
    (folder / 'robot.yaml').write_text(text, encoding='utf-8', errors='surrogatepass')


def _document(tree):
    return yaml.safe_dump({'/**': {'ros__parameters': tree}})


robot_names = st.sampled_from(ROBOTS)


@given(data=st.data(), robot=robot_names)
def test_robot_files(data, robot, judge, tmp_path):
    """A robot file that is wrong somewhere would end in a traceback, or run as if it were right."""
    tree, urdf = TREES[robot]
    _write(tmp_path, data.draw(spoilt(tree)), urdf)
    judge('check', 'robot.yaml')
    judge('simulate', 'robot.yaml', *SHORT, '--out', 'out')


@given(data=st.data(), robot=robot_names)
def test_robot_files_that_are_no_yaml(data, robot, judge, tmp_path):
    """A slip of the keyboard in a robot file would end in a traceback."""
    tree, urdf = TREES[robot]
    _write(tmp_path, data.draw(spoilt_text(_document(tree))), urdf)
    judge('check', 'robot.yaml', '--json')


@pytest.mark.long
@given(data=st.data(), robot=robot_names)
def test_urdfs(data, robot, judge, tmp_path):
    """What exporters write into a URDF would reach the libraries behind, which end the process."""
    tree, urdf = TREES[robot]
    element = data.draw(spoilt_element(ElementTree.fromstring(urdf)))
    _write(tmp_path, tree, ElementTree.tostring(element, encoding='unicode'))
    judge('check', 'robot.yaml')
    judge('simulate', 'robot.yaml', *SHORT)
    feet = tree['robot']['feet']
    judge('statics', 'robot.urdf', '--left', feet[0], '--right', feet[1], '--out', 'out')


@given(data=st.data(), name=st.sampled_from(GAITS))
@pytest.mark.parametrize('controller', ['curve_tracking', 'time_pd'])
def test_gait_files(data, name, controller, judge, tmp_path):
    """A gait cut short or edited by hand would end in a traceback, or be followed."""
    path = share_directory() / 'config' / 'gaits' / f'{name}.yaml'
    document = data.draw(spoilt(yaml.safe_load(path.read_text())))
    (tmp_path / 'gait.yaml').write_text(yaml.safe_dump(document))
    slope = ('--slope-deg', '1.5') if name == 'dribbel_passive' else ()
    judge(
        'simulate',
        name.partition('_')[0],
        '--controller',
        controller,
        '--gait',
        'gait.yaml',
        *slope,
        *SHORT,
    )


@given(data=st.data())
def test_configurations(data, judge, tmp_path):
    """A posture for statics with a wrong joint or quaternion would end in a traceback."""
    joints = TREES['humanoid'][0]['robot']['joints']
    good = {
        'joints': dict.fromkeys(joints, 0.1),
        'base': {'position': [0.0, 0.0, 0.7], 'quaternion_xyzw': [0.0, 0.0, 0.0, 1.0]},
    }
    (tmp_path / 'q.yaml').write_text(yaml.safe_dump(data.draw(spoilt(good))))
    judge('statics', 'humanoid', '--q', 'q.yaml')


@given(data=st.data())
def test_variants(data, judge, tmp_path):
    """A list of variants with a slip in it would end in a traceback after the first walks."""
    good = [
        {'name': 'one', 'controller': 'none'},
        {'name': 'two', 'controller': 'hip_pd', 'settings': {'proportional_gain': 3.0}},
    ]
    (tmp_path / 'variants.yaml').write_text(yaml.safe_dump(data.draw(spoilt(good))))
    judge('compare', 'compass', '--variants', 'variants.yaml', '--duration', '0.05')
