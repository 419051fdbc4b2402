# SPDX-License-Identifier: Apache-2.0
"""URDF files that describe no physical robot are refused."""

import pytest

from walking_control.design.mechanism import load_mechanism
from walking_control.exceptions import InvalidInput, UrdfError
from walking_control.lab.adoption.description import read_description
from walking_control.lab.experiments.statics import Posture
from walking_control.models.dynamics import bare_robot, Dynamics
from walking_control.models.urdf import load_urdf, moving_joints

LINK = """<robot name="r"><link name="a"><inertial><mass value="{mass}"/>
<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""


@pytest.mark.parametrize(
    'text, words',
    [
        (LINK.format(mass=-1, ixx=1), 'mass of link a is -1.0'),
        (LINK.format(mass='nan', ixx=1), 'mass of link a is nan'),
        (LINK.format(mass='much', ixx=1), "mass of link a is 'much'"),
        (LINK.format(mass=1, ixx=3), 'inertia of link a'),
        (LINK.format(mass=1, ixx=-1), 'inertia of link a'),
        ('<robot', 'not well-formed'),
        ('<model/>', 'must be <robot>'),
    ],
)
def test_unphysical_urdf(tmp_path, text, words):
    """A negative mass or impossible inertia makes a simulation explode much later."""
    path = tmp_path / 'robot.urdf'
    path.write_text(text)
    with pytest.raises(UrdfError) as caught:
        load_urdf(path)
    assert words in str(caught.value)


def test_physical_urdf(tmp_path):
    """A sound link must not be refused."""
    path = tmp_path / 'robot.urdf'
    path.write_text(LINK.format(mass=1, ixx=1))
    assert load_urdf(path)


def test_a_xacro_file_in_capitals_is_expanded(tmp_path):
    """It would be read as a URDF, whose numbers are formulas."""
    path = tmp_path / 'ROBOT.XACRO'
    text = LINK.format(mass='${2 * 3}', ixx=1)
    path.write_text(text.replace('<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    assert 'mass value="6"' in load_urdf(path)
    assert 'mass value="6"' in read_description(path).urdf


@pytest.mark.parametrize('read', [load_urdf, read_description])
def test_a_folder_is_not_called_lost(tmp_path, read):
    """Its owner would look for what is there."""
    with pytest.raises(UrdfError, match='is a folder: give a file'):
        read(tmp_path)
    with pytest.raises(UrdfError, match='no such file'):
        read(tmp_path / 'robot.urdf')


def test_a_bare_urdf_has_no_parameters(tmp_path):
    """They would be dropped in silence."""
    path = tmp_path / 'robot.urdf'
    path.write_text(LINK.format(mass=1, ixx=1))
    for load in (load_mechanism, lambda path, sets: Posture(path, 'a', 'a', overrides=sets)):
        with pytest.raises(InvalidInput, match=r'parameter world\.gravity: a URDF alone has none'):
            load(path, [('world.gravity', 3.7)])


def test_limits_are_read(dribbel):
    """Limits that are lost would let a command exceed what the joint bears."""
    hip = {joint.name: joint for joint in moving_joints(dribbel.robot.urdf)}['hip']
    assert (hip.lower, hip.upper, hip.effort, hip.velocity) == (-1.5, 1.5, 22.0, 10.0)


@pytest.mark.parametrize('kind, refused', [('fixed', False), ('continuous', True)])
def test_axis_without_direction(tmp_path, kind, refused):
    """Exporters write 0 0 0 for fixed joints: half of the known robots would be refused."""
    path = tmp_path / 'robot.urdf'
    path.write_text(
        LINK.format(mass=1, ixx=1).replace(
            '</robot>',
            f'<link name="b"/><joint name="j" type="{kind}"><parent link="a"/>'
            '<child link="b"/><axis xyz="0 0 0"/></joint></robot>',
        )
    )
    if not refused:
        assert load_urdf(path)
        return
    with pytest.raises(UrdfError, match='axis of joint j .*has no direction'):
        load_urdf(path)


def test_remarks_of_the_reader_are_said_once(tmp_path, capfd):
    """A drawing with a nameless colour would bury what we say under thousands of lines."""
    shape = '<visual><geometry><sphere radius="1"/></geometry><material/></visual><inertial>'
    path = tmp_path / 'robot.urdf'
    path.write_text(LINK.format(mass=1, ixx=1).replace('<inertial>', shape))
    for _ in range(3):
        urdf = load_urdf(path)
        bare_robot(urdf)
        Dynamics(bare_robot(urdf))
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and 'remarks, one of them' in said[0]


def test_the_reader_names_the_joint_that_it_refuses(tmp_path):
    """A shape that it leaves out would be named, and not the joint for which it gives up."""
    path = tmp_path / 'robot.urdf'
    joint = (
        '<link name="b"><visual><geometry/></visual></link><joint name="ankle" type="fixed">'
        '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1"/></joint>'
        '</robot>'
    )
    path.write_text(LINK.format(mass=1, ixx=1).replace('</robot>', joint))
    with pytest.raises(UrdfError, match=r'joint \[ankle\]: limit has no velocity'):
        load_urdf(path)


def test_arguments_of_a_xacro(tmp_path):
    """One without a default stopped it without a remedy, one of an included file was unknown."""
    path, above = tmp_path / 'robot.xacro', tmp_path / 'above.xacro'
    xmlns = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    path.write_text(
        LINK.format(mass='$(arg mass)', ixx='$(arg inertia)').replace(
            '<robot name="r">', f'{xmlns}<xacro:arg name="inertia" default="1"/>'
        )
    )
    above.write_text(f'{xmlns}<xacro:include filename="robot.xacro"/></robot>')
    with pytest.raises(UrdfError, match='argument mass.*--xacro NAME=VALUE of adopt'):
        read_description(above)
    told = {'mass': '6', 'inertia': '1.5'}
    urdf = read_description(above, told).urdf
    assert 'mass value="6"' in urdf and 'ixx="1.5"' in urdf
    with pytest.raises(UrdfError, match='xacro argument weight: not declared in above.xacro'):
        load_urdf(above, {**told, 'weight': 6})
    path.rename(tmp_path / 'robot.urdf')
    with pytest.raises(UrdfError, match='xacro arguments need a .xacro file'):
        read_description(tmp_path / 'robot.urdf', told)


def test_a_xacro_may_read_yaml_and_leave_includes_out(tmp_path):
    """What xacro notes beside its includes would be read as one, and the robot be refused."""
    path = tmp_path / 'robot.xacro'
    (tmp_path / 'sizes.yaml').write_text('mass: 6.0')
    optional = '<xacro:include filename="absent.xacro" optional="true"/>'
    text = LINK.format(mass="${xacro.load_yaml('sizes.yaml')['mass']}", ixx=1)
    path.write_text(
        text.replace(
            '<robot name="r">',
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
            f'<xacro:arg name="hand" default="no"/>{optional}',
        )
    )
    assert 'mass value="6.0"' in load_urdf(path) == load_urdf(path, {'hand': 'yes'})
