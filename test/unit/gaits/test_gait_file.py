# SPDX-License-Identifier: Apache-2.0
"""Gait files: what is written comes back, what does not fit is refused."""

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.cli import main  # noqa: E402
from walking_control.gaits.gait_file import (  # noqa: E402
    GaitFileError,
    load_gait,
    overrides_of,
    read_gait,
    write_gait,
)
from walking_control.lab.experiments.gait_search import (  # noqa: E402
    document_of,
    find_gait,
    save_family,
    sweep_speed,
)
from walking_control.loading import load_robot  # noqa: E402


@pytest.fixture(scope='module')
def found():
    """Return a search with an adapted spring."""
    return find_gait(
        load_robot('compass'),
        {'speed': 1.0, 'landing_speed': 0.5, 'starts': 1},
        ('spring', 'damper'),
    )


@pytest.fixture
def path(found, tmp_path):
    """Return the path of its gait file."""
    file = tmp_path / 'gait.yaml'
    write_gait(document_of(found), file)
    return file


def test_round_trip(found, path):
    """A gait that changes on its way through a file is another gait."""
    robot_file = load_robot('compass', overrides_of(read_gait(path)))
    gait = load_gait(path, robot_file)
    time = np.linspace(0.0, gait.period, 9)
    for ours, theirs in zip(gait.motion(time), found.result.gait.motion(time), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_provenance(found, path):
    """A gait without its task and origin cannot be judged or repeated."""
    document = read_gait(path)
    assert document['provenance']['task']['speed'] == 1.0
    assert document['provenance']['seed'] == 0
    assert document['provenance']['optimise'] == ['spring', 'damper']
    assert document['found']['cost'] == found.summary['cost']


@pytest.mark.parametrize(
    'robot, overrides, reason',
    [
        ('compass', [], 'other masses, springs'),
        ('dribbel', [], 'another name'),
        ('compass', [('leg_mass', 1.1)], 'other masses'),
        ('compass', [('slope', 0.0)], 'slope'),
    ],
)
def test_what_does_not_fit_is_refused(path, robot, overrides, reason):
    """A controller on the wrong gait falls; the file must say so first."""
    with pytest.raises(GaitFileError, match=reason):
        load_gait(path, load_robot(robot, overrides))


def test_adapted_numbers_are_named_in_the_refusal(path):
    """The user must learn which spring the gait needs."""
    with pytest.raises(GaitFileError, match='robot.springs.hip.stiffness='):
        load_gait(path, load_robot('compass'))


@pytest.mark.parametrize(
    'edit, reason',
    [
        (
            lambda text: text.replace('walking_control_gait: 1', 'walking_control_gait: 99'),
            'version',
        ),
        (lambda text: text.replace('phases:', 'parts:'), 'has no phases'),
        (lambda text: text.replace('q4: [', 'q9: ['), 'broken phase'),
        (lambda text: text.replace('- duration: 0', '- duration: -0'), 'finite'),
        (lambda text: 'just a text', 'not a gait file'),
        (lambda text: '{', 'cannot be read'),
    ],
)
def test_broken_files_are_refused(found, path, edit, reason):
    """Half a gait must not reach a controller."""
    path.write_text(edit(path.read_text()))
    with pytest.raises(GaitFileError, match=reason):
        load_gait(path, found.robot_file)


@pytest.mark.long
def test_command_line(tmp_path, capsys):
    """The verb must print the contract's keys and keep gait and figures."""
    import json

    status = main(
        [
            'gait',
            'search',
            'compass',
            '--speed',
            '0.8',
            '--starts',
            '1',
            '--json',
            '--quiet',
            '--out',
            str(tmp_path),
        ]
    )
    result = json.loads(capsys.readouterr().out)
    assert status == 0
    keys = {
        'converged',
        'cost',
        'cost_on_nodes',
        'period',
        'step_length',
        'step_width',
        'speed',
        'q',
        'v',
        'mechanical_power',
        'impact_loss_power',
        'parameters',
        'solve_time',
        'build_time',
        'file',
    }
    assert keys <= set(result)
    assert load_gait(result['file'], load_robot('compass')).period == result['period']
    assert {file.suffix for file in tmp_path.iterdir()} == {'.yaml', '.png'}


@pytest.mark.long
def test_cost_over_speed(tmp_path, capsys):
    """Fig. 5.2 must come out of one command, fixed mechanics beside adapted ones."""
    import json

    status = main(
        [
            'gait',
            'search',
            'compass',
            '--speeds',
            '0.9:1.0:2',
            '--starts',
            '1',
            '--landing-speed',
            '0.5',
            '--optimise',
            'spring,damper',
            '--json',
            '--quiet',
            '--out',
            str(tmp_path),
        ]
    )
    result = json.loads(capsys.readouterr().out)
    assert status == 0
    fixed, adapted = result['curves'].values()
    assert [round(row['speed'], 6) for row in fixed] == [0.9, 1.0]
    assert all(new['cost'] < old['cost'] for old, new in zip(fixed, adapted, strict=True))
    assert (tmp_path / 'cost_over_speed.png').stat().st_size > 10000


@pytest.mark.long
def test_command_line_says_what_failed(tmp_path, capsys):
    """A script must see by the status that there is no gait, and find the best iterate."""
    status = main(
        [
            'gait',
            'search',
            'compass',
            '--speed',
            '4.5',
            '--starts',
            '1',
            '--quiet',
            '--set',
            'max_iterations=40',
            '--json',
            '--out',
            str(tmp_path),
        ]
    )
    captured = capsys.readouterr()
    assert status == 1
    assert 'error: no gait of compass' in captured.err
    assert '"converged": false' in captured.out
    assert (tmp_path / 'compass_not_converged.yaml').exists()


@pytest.mark.long
def test_a_family_is_one_file_and_has_what_lies_between(tmp_path):
    """If it failed, speeds between those searched could not be walked, or holes would be."""
    robot_file = load_robot('compass')
    rows = sweep_speed(robot_file, [0.9, 0.95], {'landing_speed': 0.5, 'starts': 1})
    path = save_family(rows, tmp_path)
    for row in rows:
        whole = load_gait(f'{path}@{row.values.speed}', robot_file)
        np.testing.assert_allclose(whole.start, row.result.gait.start, atol=1e-12)
    between = load_gait(f'{path}@0.925', robot_file)
    mean = 0.5 * (rows[0].result.gait.period + rows[1].result.gait.period)
    assert between.period == pytest.approx(mean)
    q, _ = between.end
    # the step of straight legs of 1 m
    assert 2.0 * abs(np.sin(q[1] / 2.0)) / mean == pytest.approx(0.925, rel=2e-3)
    for place, reason in (
        ('', 'several speeds'),
        ('@1.2', 'none that meet'),
        ('@nan', 'none that'),
        ('@fast', 'broken member'),
        ('@0.925,0.3', 'none that meet'),
    ):
        with pytest.raises(GaitFileError, match=reason):
            load_gait(f'{path}{place}', robot_file)
    rows[1].summary['reason'] = 'the plant does not follow'
    with pytest.raises(GaitFileError, match='none that meet'):
        load_gait(f'{save_family(rows, tmp_path)}@0.925', robot_file)
