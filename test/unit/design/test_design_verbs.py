# SPDX-License-Identifier: Apache-2.0
"""The verbs design transmission and design rotom, on robots of others too, and their page."""

from html import unescape
import json
from pathlib import Path
import re

from browser import browse
import numpy as np
import pytest
from static_robots import real_path

from walking_control.cli import main

LEG = str(Path(__file__).parents[3] / 'examples' / 'two_joint_leg.urdf')
STUDY = [
    LEG,
    '--frame',
    'foot',
    '--base',
    'free',
    '--q',
    'hip=1.0472,knee=1.0472',
    '--reduction',
    '1/20',
    '--rotor-inertia',
    '6.4e-5',
    '--torque',
    '17',
    '--efficiency',
    '0.8,0.7',
]
ROBOTS = {
    'ur5': (
        'ur_description/urdf/ur5_robot.urdf',
        ['--frame', 'tool0', '--q', 'elbow_joint=1.2,shoulder_lift_joint=-1'],
        (),
    ),
    'solo12': (
        'solo_description/robots/solo12.urdf',
        ['--frame', 'FL_FOOT', '--base', 'free', '--q', 'FL_HFE=0.8,FL_KFE=-1.6'],
        ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT'),
    ),
    'talos': (
        'talos_data/robots/talos_reduced.urdf',
        [
            '--frame',
            'left_sole_link',
            '--base',
            'free',
            '--q',
            'leg_left_3_joint=-0.4,leg_left_4_joint=0.8,leg_left_5_joint=-0.4',
        ],
        ('left_sole_link', 'right_sole_link'),
    ),
}


def design(capsys, *arguments):
    """Return what a design verb prints as JSON."""
    assert main(['design', *arguments, '--json']) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize('name', ROBOTS)
def test_robots_of_others(capsys, name):
    """The tools would serve our own robots alone."""
    path, options, feet = ROBOTS[name]
    path = str(real_path(path))
    gears = ['--reduction', '1/50', '--rotor-inertia', '2e-5', '--efficiency', '0.75']
    study = design(capsys, 'transmission', path, *options, *gears)
    masses, forces = study['masses'], study['forces']
    assert 0.0 < masses['GIE']['effective'] < masses['BGIE']['effective']
    assert forces['FFC'] == pytest.approx(0.75 * forces['FC'])
    assert forces['BFC'] > forces['FC']
    assert name == 'ur5' or 0.0 < study['impact_mitigation']['factor'] < 1.0
    base = options[options.index('--q') :] + (['--base', 'free'] if feet else [])
    kind = ['--contacts', ','.join(feet)] if feet else []
    posture = design(
        capsys,
        'rotom',
        path,
        *base,
        *kind,
        *(['--contact-kind', 'point'] if name == 'solo12' else []),
    )
    assert 0.0 < posture['rotom'] < 1.0 and 0.0 <= posture['index'] < 1.0
    assert posture['moves_along'] == 'xyz'


def test_text_and_files(capsys, tmp_path):
    """The verb would promise tables, plots and a page and leave one out, or draw nothing."""
    assert (
        main(['design', 'transmission', *STUDY, '--rotors', 'coupled', '--out', str(tmp_path)]) == 0
    )
    text = capsys.readouterr().out
    assert re.search(r'FFC +79\.33 +0\.7', text) and re.search(r'hip +0\.05 +0\.0256', text)
    assert 'actual error 0.0554 %, 1.6 % of the coupled energy; printed estimate 1.57 %' in text
    names = {
        'transmission.png',
        'efficiency.png',
        'trade.png',
        'transmission.html',
        'transmission.json',
    }
    assert {file.name for file in tmp_path.iterdir()} == names
    assert all(
        (tmp_path / name).stat().st_size > 10_000
        for name in names
        if name.endswith(('.png', '.html'))
    )
    assert json.loads((tmp_path / 'transmission.json').read_text())['robot'] == 'two_joint_leg'
    assert main(['design', 'rotom', LEG, '--q', 'knee=1', '--zeros', '--out', str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.count('zero:') == 4 and (tmp_path / 'rotom.png').stat().st_size > 10_000
    assert len(json.loads((tmp_path / 'rotom.json').read_text())['zeros']) == 4


def test_robot_files_know_their_motors(capsys):
    """Gears of a robot file would be asked for again, or be read upside down (74 for 1/74)."""
    study = design(capsys, 'transmission', 'humanoid')
    knee = study['motors']['left_knee']
    assert knee['reduction'] == pytest.approx(0.02) and knee['torque'] == pytest.approx(90.0)
    assert knee['reflected_inertia'] == pytest.approx(0.025)
    assert study['frame'] == 'left_sole' and study['redundant']
    standing = design(capsys, 'rotom', 'humanoid')
    assert standing['contacts'] == ['left_sole', 'right_sole']
    free = design(capsys, 'rotom', 'humanoid', '--contacts', 'none')
    assert free['rotom'] == pytest.approx(1.0) and free['index'] == pytest.approx(1.0)
    walker = design(capsys, 'rotom', 'dribbel')
    assert walker['moves_along'] == 'xz' and walker['contacts'] == ['outer_foot']
    assert 0.0 < walker['index'] < 1.0  # on both feet it could not move at all
    # legs that lie on each other are two points in one place: no answer there, but elsewhere
    points = design(capsys, 'rotom', 'compass', '--set', 'hip_mass=0', '--joint', 'hip')
    assert points['index_over']['hip']['index'].count(None) == 1


def test_page_of_the_tools_holds_the_verbs_figures(capsys):
    """The table and sentences of the page would be those of another leg."""
    page = (Path(LEG).parents[1] / 'doc' / 'design.md').read_text(encoding='utf-8')
    study, soft = (
        design(capsys, 'transmission', *STUDY, *more) for more in ([], ['--efficiency', '1'])
    )
    masses, forces = study['masses'], study['forces']
    for row in (
        [masses[name]['effective'] for name in ('GIE', 'FGIE', 'BGIE')],
        [masses[name]['diagonal'] for name in ('GIE', 'FGIE', 'BGIE')],
        [forces[name] for name in ('FC', 'FFC', 'BFC')],
        *(
            [of['impact_mitigation'][name] for of in (soft, study)]
            for name in ('effective', 'factor')
        ),
    ):
        assert any(
            all(re.search(rf'\b{cell}\b', line) for cell in map('{:.4g}'.format, row))
            or all(f'{cell:.3f}' in line or f'{cell:.1f} (' in line for cell in row)
            for line in page.splitlines()
        ), row
    forward = design(capsys, 'rotom', 'humanoid', '--direction', '1,0,0')['rotom']
    up = design(capsys, 'rotom', 'humanoid')['rotom']
    assert f'{100 * up:.0f} % of a vertical force and {100 * forward:.0f} % of a forward' in page


@pytest.mark.parametrize(
    'arguments, words',
    [
        (
            ['transmission', *STUDY, '--efficiency', '0'],
            'efficiency of hip is 0.0: must be above 0',
        ),
        (['transmission', *STUDY, '--efficiency', '1.2'], 'efficiency of hip is 1.2'),
        (['transmission', *STUDY, '--reduction', '20'], 'meant is 0.05?'),
        (['transmission', *STUDY, '--q', 'hip=1,knee=0'], 'Jacobian of foot along xz'),
        (['transmission', *STUDY, '--direction', '0,0,0'], 'direction is [0.0, 0.0, 0.0]'),
        (['transmission', *STUDY, '--direction', '0,1,0'], 'across all axes of the limb, xz'),
        (['transmission', *STUDY, '--axes', 'xy'], 'cannot move along y'),
        (['transmission', *STUDY, '--axes', 'ab'], 'must be one or more of x, y, z'),
        (['transmission', *STUDY, '--frame', 'fot'], 'did you mean foot'),
        (['transmission', *STUDY, '--frame', 'base'], 'no joint moves it'),
        (['transmission', *STUDY, '--topology', '1,0;1'], 'must be serial, parallel or a matrix'),
        (['transmission', *STUDY, '--topology', '1,1;1,1'], 'must be an invertible matrix'),
        (['transmission', *STUDY, '--q', 'hop=1'], 'joint hop'),
        (['transmission', *STUDY, '--q', 'hip=9'], 'hip'),
        (['transmission', LEG], 'give --frame FRAME'),
        (['transmission', LEG, '--frame', 'foot', '--rotor-inertia', '1e-5'], 'give --reduction'),
        (['transmission', 'dribbel', '--frame', 'inner_foot'], 'Jacobian of inner_foot'),
        (['rotom', LEG, '--direction', '0,0,0'], 'not all zero'),
        (['rotom', LEG, '--direction', '0,1,0', '--zeros'], 'in every posture'),
        (['rotom', LEG, '--joint', 'hop'], 'joint hop'),
        (['rotom', 'humanoid', '--contacts', 'nowhere'], 'frame nowhere'),
        (['rotom', 'humanoid', '--zeros'], '--base held'),
        (['rotom', 'compass', '--set', 'hip_mass=0', '--q', 'hip=0'], 'moves no mass'),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, words):
    """A mistake would end in a traceback, or in figures of something else."""
    assert main(['design', *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and captured.err.count('\n') == 1 and not captured.out


@pytest.mark.parametrize(
    'arguments',
    [
        ['transmission', *STUDY, '--reduction', '1/0'],
        ['transmission', *STUDY, '--torque', 'x'],
        ['transmission', *STUDY, '--q', 'hip=x'],
        ['rotom', LEG, '--base', 'loose'],
        ['transmission', *STUDY, '--efficiency', 'nan'],
    ],
)
def test_bad_options_are_one_line(capsys, arguments):
    """An option that is no number would end in a traceback."""
    with pytest.raises(SystemExit) as caught:
        main(['design', *arguments])
    assert caught.value.code == 2 and capsys.readouterr().err.count('\n') == 1


@pytest.mark.parametrize(
    'options',
    [
        ['--torque', '1e-300', '--direction', '1e300,0,1'],
        pytest.param(['--axes', 'z'], marks=pytest.mark.long),
        pytest.param(['--efficiency', '0.4,0.9', '--reduction', '1e-6'], marks=pytest.mark.long),
        ['--back-efficiency', '1e-9,1'],
    ],
)
def test_extremes_have_an_answer(capsys, tmp_path, options):
    """A motor without torque, or a gear that holds, would end in a traceback or an empty plot."""
    assert main(['design', 'transmission', *STUDY, *options, '--out', str(tmp_path)]) == 0
    assert capsys.readouterr().err == ''
    study = json.loads((tmp_path / 'transmission.json').read_text())
    assert study['masses']['GIE']['effective'] > 0.0


@pytest.mark.parametrize('verb', ['transmission', 'rotom'])
def test_help_has_an_example(capsys, verb):
    """Nobody would know how to begin."""
    with pytest.raises(SystemExit):
        main(['design', verb, '--help'])
    assert f'walking_control design {verb}' in capsys.readouterr().out


def results(page):
    """Return the numbers that a page holds."""
    return json.loads(unescape(re.search('<pre id="results"[^>]*>(.*?)</pre>', page).group(1)))


@pytest.mark.long
def test_sliders_move_the_numbers(capsys, tmp_path):
    """Moving a slider would change nothing, or another gear; 'as given' would not come back."""
    assert main(['design', 'transmission', *STUDY, '--out', str(tmp_path)]) == 0
    capsys.readouterr()
    page = (tmp_path / 'transmission.html').read_text()
    moves = {
        'all': "find('alike').checked = true; find('eta1').value = 0.9;"
        "find('eta1').dispatchEvent(new Event('input'));",
        'back': "find('G0').value = 0; find('G0').dispatchEvent(new Event('input'));"
        "find('restart').click();",
    }
    wanted = {'all': '0.9', 'back': '0.8,0.7'}
    for name, move in moves.items():
        copy = tmp_path / f'{name}.html'
        copy.write_text(page.replace('</body>', f'<script>{move}</script></body>'))
        found = results(browse(f'file://{copy}'))
        study = design(capsys, 'transmission', *STUDY, '--efficiency', wanted[name])
        assert found['mass']['backward'] == pytest.approx(study['masses']['BGIE']['effective'])


@pytest.mark.parametrize(
    'options, changed',
    [
        (['--rotors', 'coupled'], ('0.62,0.9', '0.2,0.04')),
        pytest.param(
            [
                '--topology',
                'parallel',
                '--carrier',
                'base',
                '--rotors',
                'coupled',
                '--back-efficiency',
                '0.5',
            ],
            None,
            marks=pytest.mark.long,
        ),
    ],
)
def test_page_in_a_browser(capsys, tmp_path, options, changed):
    """The sliders would show other numbers than the verb: everything is computed twice."""
    assert main(['design', 'transmission', *STUDY, *options, '--out', str(tmp_path)]) == 0
    address, asked = f'file://{tmp_path}/transmission.html', []
    if changed:
        address += f'#eta={changed[0]}&G={changed[1]}'
        asked = ['--efficiency', changed[0], '--reduction', changed[1]]
    capsys.readouterr()
    study = design(capsys, 'transmission', *STUDY, *options, *asked)
    page = browse(address)
    found = results(page)
    assert found['back'] == pytest.approx(
        [motor['back_efficiency'] for motor in study['motors'].values()]
    )
    for mode, inertia, force in (
        ('none', 'GIE', 'FC'),
        ('forward', 'FGIE', 'FFC'),
        ('backward', 'BGIE', 'BFC'),
    ):
        assert found['mass'][mode] == pytest.approx(study['masses'][inertia]['effective'])
        assert found['diagonal'][mode] == pytest.approx(study['masses'][inertia]['diagonal'])
        assert found['force'][mode] == pytest.approx(study['forces'][force])
    impact = study['impact_mitigation']
    assert found['impact']['backward']['effective'] == pytest.approx(impact['effective'])
    assert found['impact']['backward']['factor'] == pytest.approx(impact['factor'])
    # drawn, not only computed
    for drawing in ('inertia', 'forces', 'trade'):
        assert re.search(f'id="{drawing}".*?<path d="M[-0-9.]+,', page, re.S)
    assert 'NaN' not in page and np.isfinite(found['force']['none'])
