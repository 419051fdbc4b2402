# SPDX-License-Identifier: Apache-2.0
"""Files and words that are meant to hang, to end in a traceback or to write elsewhere."""

import re

import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Command
from walking_control.models.urdf import load_urdf
from walking_control.simulation.registry import make_plant

DEEP = 5000
LETTERS = 'abcdefghijkl'
ALIASES = 'a: &a [x, x]\n' + ''.join(
    f'{new}: &{new} [{", ".join(9 * ["*" + old])}]\n' for old, new in zip(LETTERS, LETTERS[1:])
)
MERGED = 'a: &a {x: 1}\n' + ''.join(
    f'{new}: &{new} {{<<: [{", ".join(9 * ["*" + old])}]}}\n'
    for old, new in zip(LETTERS, LETTERS[1:])
)


@pytest.fixture(scope='module')
def biped():
    """Return the URDF of a robot that is sound."""
    return load_robot('walker3d').robot.urdf


@pytest.mark.parametrize('text', [ALIASES, MERGED], ids=['aliases', 'merged'])
def test_a_few_lines_that_mean_a_library(text, judge, tmp_path, capsys):
    """Ten lines of aliases of aliases would be unfolded until the memory is full."""
    # since 6.0.4 PyYAML merges a mapping once, however often it is named: nothing is unfolded
    refused = 'make more than' if text == ALIASES else 'make more than|has no ros__parameters'
    (tmp_path / 'robot.yaml').write_text(text)
    assert len(text) < 700
    assert judge('simulate', 'robot.yaml') == 2
    with pytest.raises(InvalidInput, match=refused):
        load_robot(tmp_path / 'robot.yaml')


@pytest.mark.parametrize(
    'name, around', [('robot.urdf', 'robot'), ('robot.sdf', 'sdf'), ('robot.xml', 'mujoco')]
)
def test_a_description_nested_without_end(name, around, judge, tmp_path):
    """Elements within each other would end in a RecursionError."""
    (tmp_path / name).write_text(
        f'<{around}>' + DEEP * '<link>' + DEEP * '</link>' + f'</{around}>'
    )
    assert judge('adopt', name, '--out', 'out') == 2
    assert not (tmp_path / 'out').exists()
    if around == 'robot':
        assert judge('statics', name, '--left', 'a', '--right', 'b') == 2


@pytest.mark.parametrize(
    'old, new, words',
    [
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', 'axis of joint left_hip_yaw'),
        ('lower="-0.9" upper="0.9"', 'lower="0.9" upper="-0.9"', 'left_hip_yaw is .0.9 to -0.9'),
        ('lower="-0.9" upper="0.9"', '', 'left_hip_yaw is .0 to 0'),
    ],
)
def test_joints_that_cannot_move(old, new, words, judge, tmp_path, biped):
    """A joint without axis or room would be called usable, or end in a traceback.

    Limits that were forgotten are given, and said.
    """
    (tmp_path / 'robot.urdf').write_text(biped.replace(old, new, 1))
    assert judge('check', 'robot.urdf') > 0
    assert judge('adopt', 'robot.urdf', '--out', 'out') == (2 if new else 0)
    assert judge('adopt', 'robot.urdf', '--strict', '--out', 'strict') == 2
    if new:
        with pytest.raises(InvalidInput, match=words):
            load_urdf(tmp_path / 'robot.urdf')


@pytest.mark.parametrize('name', ['../../x', '/tmp/x', '', '.hidden', 'a' * 70])
def test_a_name_stays_in_its_folder(name, judge, tmp_path, biped):
    """An adopted robot would be written wherever its name points."""
    (tmp_path / 'robot.urdf').write_text(biped)
    assert judge('adopt', 'robot.urdf', f'--name={name}', '--out', 'out') == 2
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('words', ['push=9e99@3', 'push=-101@3', 'step_down=11@3'])
def test_a_size_beyond_reason_is_named(words, judge):
    """A slip of the keyboard would end the physics, and MuJoCo write its log where one stands."""
    assert judge('simulate', 'walker3d', '--disturb', words, '--duration', '1') == 2


def test_physics_that_end_are_told(tmp_path, monkeypatch):
    """MuJoCo would begin anew by itself, and write its log into the folder where one stands."""
    monkeypatch.chdir(tmp_path)
    robot_file = load_robot('walker3d')
    plant = make_plant(robot_file)
    plant.reset(robot_file.start)
    command = Command(plant.robot)
    plant.step(command, 0.01)
    assert plant.truth.trip is None
    plant.engine.data.qvel[:] = 1e30
    plant.step(command, 0.01)
    assert 'unstable' in plant.truth.trip
    assert not list(tmp_path.iterdir())
    plant.reset(robot_file.start)
    plant.step(command, 0.01)
    assert plant.truth.trip is None


@pytest.mark.parametrize('verb', ['simulate', 'bring-up', 'robustness'])
def test_who_is_refused_leaves_no_folder(verb, judge, tmp_path):
    """Empty folders would tell of work that was never begun."""
    (tmp_path / 'robot.yaml').write_text('/**: {ros__parameters: {robot: {}}}')
    assert judge(verb, 'robot.yaml', '--out', 'out/of/this') == 2
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('suffix', ['urdf', 'urdf.xacro', 'sdf'])
def test_a_description_is_told_from_a_robot_file(suffix, judge, tmp_path, biped, capsys):
    """Who has a URDF would be told that his robot is unknown, and not what to do with it."""
    path = tmp_path / f'my_robot.{suffix}'
    path.write_text(biped)
    assert judge('simulate', path) == 2
    with pytest.raises(InvalidInput, match=re.escape(f'walking_control adopt {path} --out')):
        load_robot(path)


def test_remarks_of_the_reader_are_counted(tmp_path, capfd, biped):
    """The one line that says what is wrong would stand below thousands that do not."""
    twice = 20 * '<material name="m"><color rgba="0 0 0 1"/></material>'
    path = tmp_path / 'robot.urdf'
    path.write_text(biped.replace('<link name="imu_link"/>', '<link name="imu_link"/>' + twice))
    with pytest.raises(
        InvalidInput, match="makes [0-9]+ remarks, one of them: .*'m' is not unique"
    ):
        load_urdf(path)
    assert not capfd.readouterr().err
