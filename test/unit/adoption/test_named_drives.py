# SPDX-License-Identifier: Apache-2.0
"""Named drives make the motors of an adopted robot."""

import pytest

from walking_control.cli import main
from walking_control.exceptions import InvalidInput, ParameterError
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.drives import read_drives
from walking_control.lab.adoption.guess import Told
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.models.urdf import load_urdf

SHIPPED = sorted(path.stem for path in (share_directory() / 'config' / 'drives').glob('*.yaml'))
JOINTS = {  # of a leg, as each description calls them, and the inertia that a knee shall feel
    'unitree_g1': ('left_knee_joint', 0.0251),
    'booster_t1': ('Left_Knee_Pitch', 0.0636),
    'open_duck_mini': ('left_knee', 0.0216),
    'berkeley_humanoid_lite': ('leg_left_knee_pitch_joint', None),
    'unitree_h1_2': ('left_knee_joint', 0.1605),
    'bruce': ('knee_pitch_r', 0.00182),
}


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_drives_are_motors(name):
    """A shipped file of drives could not be read, or a knee would feel another rotor inertia."""
    knee, armature = JOINTS[name]
    drive = read_drives(name, [knee])[knee]
    assert drive.armature == (armature and pytest.approx(armature, rel=0.01))
    motor = drive.written(100.0, drive.armature or 0.01)
    assert motor['current_limit'] * motor['reduction'] * motor['torque_constant'] == (
        pytest.approx(100.0)
    )


def test_adopted_robot_has_its_drives(tmp_path):
    """`adopt --drives` would lose gear, winding, friction or effort limit of a drive."""
    urdf = load_urdf(share_directory() / 'urdf' / 'walker3d.urdf.xacro', {'feet': 'soles'})
    (tmp_path / 'stranger.urdf').write_text(urdf)
    adoption = adopt(tmp_path / 'stranger.urdf', Told(drives='open_duck_mini'))
    adoption.write(tmp_path)
    robot = load_robot(tmp_path / f'{adoption.name}.yaml').robot
    motor = robot.actuators['left_knee']
    assert motor.reduction == 345.0 and motor.resistance == 2.75
    assert motor.effort_limit == pytest.approx(60.0)
    assert motor.armature == pytest.approx(0.0216, rel=1e-3)
    assert robot.friction['left_knee'].coulomb == 0.053
    assert next(guess for guess in adoption.guesses if guess.what == 'drives').confidence == 'told'


def test_drives_that_do_not_fit_are_named(tmp_path, capsys):
    """Drives unknown, of another robot or with a wrong number would be taken, or end in a trace."""
    with pytest.raises(InvalidInput, match='fits no joint'):
        read_drives('booster_t1', ['left_knee_joint'])
    file = tmp_path / 'mine.yaml'
    file.write_text("drives: {a: {reduction: -3.0}}\njoints: {'*': a}\n")
    with pytest.raises(ParameterError, match='reduction'):
        read_drives(str(file), ['knee'])
    file.write_text("drives: {a: {}}\njoints: {'*': b}\n")
    with pytest.raises(InvalidInput, match='cannot be read'):
        read_drives(str(file), ['knee'])
    urdf = tmp_path / 'stranger.urdf'
    urdf.write_text(
        load_urdf(share_directory() / 'urdf' / 'walker3d.urdf.xacro', {'feet': 'soles'})
    )
    assert main(['adopt', str(urdf), '--drives', 'unitree_gi', '--out', str(tmp_path / 'out')]) == 2
    assert 'did you mean unitree_g1' in capsys.readouterr().err
