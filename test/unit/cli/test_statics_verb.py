# SPDX-License-Identifier: Apache-2.0
"""The verb `statics`: its numbers, its exit status, its bad input."""

import json

import pytest
import yaml

from walking_control.cli import main
from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.statics import Posture, solve_statics
from walking_control.models.resources import share_directory

URDF = str(share_directory() / 'urdf' / 'humanoid.urdf.xacro')
SOLES = ['--left', 'left_sole', '--right', 'right_sole']


def run(capsys, *arguments):
    """Return exit status, JSON document and error text."""
    status = main(['statics', *arguments, '--json'])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else None, output.err


def test_humanoid_on_two_legs(capsys):
    """The verb would lack a key of its contract, or its numbers would not balance."""
    status, result, _ = run(capsys, 'humanoid')
    assert status == 0 and result['status'] == 'feasible' and result['reason'] is None
    assert {
        'joint_torques',
        'wrenches',
        'torque_norm',
        'base_residual',
        'cop',
        'margins',
        'solve_time',
    } <= set(result)
    wrenches = result['wrenches']
    assert set(wrenches) == {'left', 'right'}
    assert set(wrenches['left']) == {'fx', 'fy', 'fz', 'mx', 'my', 'mz'}
    assert wrenches['left']['fz'] + wrenches['right']['fz'] == pytest.approx(31.6 * 9.81)
    assert result['base_residual'] < 1e-8
    assert result['torque_norm'] == pytest.approx(
        sum(t * t for t in result['joint_torques'].values()) ** 0.5
    )


def test_text_is_a_table(capsys):
    """A person would read dictionaries and 15 digits, or other numbers than a program."""
    assert main(['statics', 'humanoid']) == 0
    text = capsys.readouterr().out
    _, result, _ = run(capsys, 'humanoid')
    rows = {
        line.split(':')[0].strip(): line.split(':', 1)[1].split()
        for line in text.splitlines()
        if ':' in line
    }
    assert '{' not in text and 'e-' not in text.replace(' '.join(rows['solved by']), '')
    assert '-0.0000' not in text and '-0.000 ' not in text
    wrenches, margins = result['wrenches'], result['margins']
    assert rows['fz'] == [*(f'{wrenches[side]["fz"]:.3f}' for side in ('left', 'right')), 'N']
    assert rows['left_knee'] == [f'{result["joint_torques"]["left_knee"]:.4f}', 'N', 'm']
    edge = [f'{1e3 * margins[side]["centre_of_pressure"]:.1f}' for side in ('left', 'right')]
    assert rows['pressure to edge'] == [*edge, 'mm']
    assert rows['pressure at x'][0] == f'{1e3 * result["cop"]["left"][0]:.1f}'
    assert main(['statics', 'humanoid', '--support', 'left']) == 1
    assert 'centre_of_pressure of left by 0.04 m' in capsys.readouterr().out


def test_force_objective_needs_less_force(capsys):
    """The objective would not reach the distributor."""
    results = {
        name: run(capsys, 'humanoid', '--objective', name)[1] for name in ('torque', 'force')
    }
    norms = {
        name: sum(value**2 for wrench in result['wrenches'].values() for value in wrench.values())
        for name, result in results.items()
    }
    assert norms['force'] <= norms['torque'] + 1e-9
    assert results['torque']['torque_norm'] <= results['force']['torque_norm'] + 1e-9


def test_one_leg_without_shifting_weight(capsys):
    """An impossible posture would end with status 0, or with torques."""
    status, result, error = run(capsys, 'humanoid', '--support', 'left')
    assert status == 1 and result['status'] == 'infeasible' and result['joint_torques'] is None
    assert result['shortfalls'][0] == {
        'limit': 'centre_of_pressure',
        'where': 'left',
        'unit': 'm',
        'amount': pytest.approx(0.04, abs=1e-6),
    }
    assert result['wrenches']['right'] is None
    assert 'cannot be held: centre_of_pressure: left' in error


def test_joint_beyond_its_stop(capsys, tmp_path):
    """A posture that no joint can take would be held by torques."""
    joints = {**dict.fromkeys(Posture('humanoid').dynamics.joints, 0.0), 'left_knee': 3.2}
    file = tmp_path / 'bent.yaml'
    file.write_text(yaml.safe_dump({'joints': joints}))
    assert main(['statics', 'humanoid', '--q', str(file)]) == 2
    assert (
        'position of joint left_knee is 3.2: must be within its limits' in capsys.readouterr().err
    )


def test_gravity_of_the_world(capsys):
    """Torques for another planet would be those of the earth."""
    earth, moon = (
        run(capsys, 'humanoid', '--set', f'world.gravity={g}')[1]['joint_torques']
        for g in (9.81, 1.62)
    )
    for joint, torque in earth.items():
        assert moon[joint] == pytest.approx(torque * 1.62 / 9.81, abs=1e-4)


def test_slippery_floor_and_small_soles(capsys, tmp_path):
    """Friction and size of the soles would not reach the distributor."""
    tilted = tmp_path / 'tilted.yaml'
    joints = dict.fromkeys(Posture('humanoid').dynamics.joints, 0.0)
    base = {'quaternion_xyzw': [0.02, 0.0, 0.0, 0.9998]}
    tilted.write_text(yaml.safe_dump({'joints': joints, 'base': base}))
    assert run(capsys, 'humanoid', '--q', str(tilted))[0] == 0
    status, result, _ = run(capsys, 'humanoid', '--q', str(tilted), '--friction', '0.03')
    assert status == 1 and result['shortfalls'][0]['limit'] == 'friction'
    status, result, _ = run(capsys, 'humanoid', '--foot-size', '0.01', '0.01')
    assert status == 1 and result['shortfalls'][0]['limit'] == 'centre_of_pressure'


def test_bare_urdf_equals_robot_file(capsys, tmp_path):
    """A URDF without a robot file would give other torques, or need one."""
    posture = Posture('humanoid')
    file = tmp_path / 'q.yaml'
    dynamics = posture.dynamics
    joints = dict(zip(dynamics.joints, posture.q[dynamics.base.nq :].tolist()))
    file.write_text(yaml.safe_dump({'joints': joints}))
    named = run(capsys, 'humanoid')[1]
    bare = run(capsys, URDF, *SOLES, '--q', str(file))[1]
    assert bare['joint_torques'] == pytest.approx(named['joint_torques'], abs=1e-9)


def test_picture(capsys, tmp_path):
    """The picture would not be written, for a posture that holds or one that does not."""
    pytest.importorskip('matplotlib')
    for name, support in (('holds', 'both'), ('falls', 'left')):
        result = run(capsys, 'humanoid', '--support', support, '--out', str(tmp_path / name))[1]
        assert result['files'] == [str(tmp_path / name / 'statics.png')]
        assert (tmp_path / name / 'statics.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize(
    'arguments, message',
    [
        (['dribbel'], 'robot dribbel: is planar'),
        ([URDF], 'give --left FRAME --right FRAME'),
        ([URDF, '--left', 'left_foot_', '--right', 'right_sole'], 'did you mean left_foot'),
        (['humanoid', '--q', '/no/such/file'], 'configuration /no/such/file: cannot be read'),
        (['no_robot'], "robot is 'no_robot': unknown"),
    ],
)
def test_bad_input(capsys, arguments, message):
    """Bad input would end in a traceback, or not say what to do."""
    assert main(['statics', *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count('\n') == 1


@pytest.mark.parametrize(
    'document',
    [
        '[]',
        'joints: 3',
        'joints: {left_knee: bent}',
        'joints: {left_knee: 0.1}',
        'joints: {left_kne: 0.1}',
        'joints: {}\nbase: {position: [0, 0]}',
        'joints: {}\nbase: {orientation: [0, 0, 0, 1]}',
    ],
)
def test_bad_configuration(capsys, tmp_path, document):
    """A configuration file of another form would be read as something."""
    file = tmp_path / 'q.yaml'
    file.write_text(document)
    assert main(['statics', 'humanoid', '--q', str(file)]) == 2
    assert capsys.readouterr().err.count('\n') == 1


def test_zero_effort_limits_are_reported(tmp_path):
    """Joints whose URDF gives the motor no torque would go unmentioned."""
    from walking_control.models.urdf import load_urdf

    file = tmp_path / 'weak.urdf'
    file.write_text(load_urdf(URDF).replace('effort="15"', 'effort="0"'))
    result = solve_statics(Posture(file, 'left_sole', 'right_sole'))
    assert [problem['what'] for problem in result['problems']] == [
        'effort limit of joint left_elbow',
        'effort limit of joint right_elbow',
    ]
    with pytest.raises(InvalidInput, match='known: left, right, both'):
        solve_statics(Posture(file, 'left_sole', 'right_sole'), 'none')


def test_assumed_soles_are_said(capsys):
    """Torques would rest on soles that nobody gave, in silence."""
    sole = 'soles of 0.2 m x 0.1 m, a guess'
    assert any(sole in text for text in run(capsys, URDF, *SOLES)[1]['assumptions'])
    given = run(capsys, URDF, *SOLES, '--foot-size', '0.2', '0.1')[1]['assumptions']
    assert 'soles of 0.2 m x 0.1 m' in given and not any('guess' in text for text in given)
    main(['statics', 'humanoid'])
    assert sole in capsys.readouterr().out


def test_feet_that_are_points(capsys):
    """A robot on point feet could not be asked for, though a size of 0 is documented as a point."""
    status, result, error = run(capsys, 'humanoid', '--foot-size', '0', '0')
    assert any('points' in text for text in result['assumptions'])
    assert (status == 0) == (result['status'] == 'feasible') and 'Traceback' not in error
    assert status == 0 or 'left and right cannot balance' in error


def test_one_frame_for_both_soles(capsys):
    """One sole would carry the robot twice."""
    status, _, error = run(capsys, URDF, '--left', 'left_sole', '--right', 'left_sole')
    assert status == 2 and 'are the same frame' in error and error.count('\n') == 1


def test_heat_as_objective_spares_badly_cooled_motors(capsys):
    """A motor that hardly cools would carry as much as one that does."""
    _, usual, _ = run(capsys, 'humanoid', '--objective', 'torque')
    badly = ['--set', 'robot.thermal.left_knee.housing_resistance=500.0']
    _, cool, _ = run(capsys, 'humanoid', '--objective', 'heat', *badly)
    knee = 'left_knee'
    assert abs(cool['joint_torques'][knee]) < abs(usual['joint_torques'][knee]) - 1e-3


@pytest.mark.long
def test_endurance_of_a_walk_and_of_its_record(capsys, tmp_path):
    """The verb would lack a key of its contract, or a recorded run be as warm as another walk."""
    assert main(['endurance', 'dribbel', '--json', '--ambient', '30', '--begin', '40']) == 0
    walk = json.loads(capsys.readouterr().out)
    assert set(walk['hottest']) == {'joint', 'temperature', 'time_to_limit'}
    row = walk['temperatures']['hip']
    assert 30.0 < row['settles_at'] < 200.0
    assert main(['simulate', 'dribbel', '--duration', '12', '--out', str(tmp_path / 'run')]) == 0
    capsys.readouterr()
    recorded = ['endurance', 'dribbel', '--recording', str(tmp_path / 'run'), '--json']
    assert main([*recorded, '--out', str(tmp_path / 'out')]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['temperatures']['hip']['settles_at'] - 25.0 == pytest.approx(
        row['settles_at'] - 30.0, rel=0.3
    )
    assert {file.rpartition('/')[2] for file in told['files']} == {
        'endurance.png',
        'endurance.json',
    }


def test_endurance_refuses_kelvin(capsys):
    """A temperature in kelvin would be taken for one in degrees Celsius."""
    assert main(['endurance', 'dribbel', '--ambient', '298']) == 2
    assert 'Celsius' in capsys.readouterr().err


@pytest.mark.long
def test_endurance_finds_the_coolest_posture(capsys, tmp_path):
    """A robot would be said to stand for minutes that can stand for good with straighter knees."""
    bent = tmp_path / 'bent.yaml'
    legs = {'hip_pitch': -0.4, 'knee': 0.8, 'ankle_pitch': -0.4}
    joints = {f'{side}_{name}': q for side in ('left', 'right') for name, q in legs.items()}
    bent.write_text(yaml.safe_dump({'joints': joints}))
    asked = ['endurance', 'humanoid', '--json', '--posture']
    found = {}
    for name, more in {
        'bent': [str(bent)],
        'cool': ['coolest', '--out', str(tmp_path / 'out')],
    }.items():
        assert main([*asked, *more]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    rise = {name: result['hottest']['temperature'] - 25.0 for name, result in found.items()}
    assert rise['cool'] < 0.2 * rise['bent']
    written = yaml.safe_load((tmp_path / 'out' / 'posture.yaml').read_text())
    assert written['joints'] == found['cool']['posture']
    knees = [written['joints'][f'{side}_knee'] for side in ('left', 'right')]
    assert knees[0] == pytest.approx(knees[1], abs=1e-3) and knees[0] >= 0.1 - 1e-6


@pytest.mark.parametrize(
    'robot, posture, words',
    [('compass', 'coolest', 'needs a robot in space'), ('humanoid', 'cool', 'cannot be read')],
)
def test_endurance_refuses_a_posture(capsys, robot, posture, words):
    """A posture that a robot cannot have would end in a traceback."""
    assert main(['endurance', robot, '--posture', posture]) == 2
    assert words in capsys.readouterr().err
