# SPDX-License-Identifier: Apache-2.0
"""Bad input costs nothing: no file elsewhere, no memory, no option without effect, no lost work."""

import json
import shutil

import pytest
import yaml

from walking_control.cli import main
from walking_control.lab.experiments import comparison, robustness
from walking_control.lab.experiments.variants import read_variants
from walking_control.loading import load_robot
from walking_control.models.resources import robot_path, share_directory
from walking_control.models.robot_file import read_parameters

VERBS = (
    ['simulate'],
    ['gait', 'search'],
    ['gait', 'cycle'],
    ['robustness', '--disturbance', 'push'],
    ['compare'],
)


@pytest.fixture
def compass_file(tmp_path):
    """Return a function that writes an edited robot file of the compass into a folder."""

    def write(edit, folder='robots'):
        source = robot_path('compass')
        tree = read_parameters(source)
        tree['robot']['urdf'] = str((source.parent / tree['robot']['urdf']).resolve())
        edit(tree)
        path = tmp_path / folder / 'edited.yaml'
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({'/**': {'ros__parameters': tree}}))
        return path

    return write


@pytest.mark.parametrize(
    'name', ['../../evil', '/tmp/evil', 'a/b', '..', '', '.hidden', 'a\nb', 'a' * 300]
)
def test_a_name_cannot_leave_the_folder(capsys, tmp_path, compass_file, name):
    """Gait files and reports are named after the robot: they would be written anywhere."""
    path = compass_file(lambda tree: tree['robot'].update(name=name))
    before = sorted(tmp_path.rglob('*'))
    for verb in VERBS:
        assert main([*verb, str(path)]) == 2
        assert 'robot.name' in capsys.readouterr().err
    assert sorted(tmp_path.rglob('*')) == before


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['simulate', 'dribbel', '--duration', '1e9'], 'at most 1e+06 s'),
        (['simulate', 'dribbel', '--duration', '1e300'], 'at most 1e+06 s'),
        (['compare', 'compass', '--duration', '1e9'], 'at most 1e+06 s'),
        (
            ['gait', 'search', 'compass', '--speed', '0.5', '--speeds', '0.4:0.8:3'],
            'not allowed with',
        ),
        (['check', 'dribbel', '--seed', '1'], '--seed'),
    ],
)
def test_what_would_have_no_effect_is_refused(capsys, arguments, words):
    """One of two speeds was ignored, a seed promised chance where there is none, memory ran out."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert words in captured.err and captured.err.count('\n') == 1


def test_a_seed_of_perfect_sensors_is_refused(capsys):
    """It promised chance where there is none."""
    assert main(['simulate', 'dribbel', '--seed', '1']) == 2
    error = capsys.readouterr().err
    assert '--seed' in error and '--noise' in error and error.count('\n') == 1


def test_sizes_beyond_counting_are_refused(capsys):
    """The number of sizes of a grid overflowed with a traceback."""
    assert (
        main(
            [
                'robustness',
                'compass',
                '--disturbance',
                'push',
                '--max',
                '1e300',
                '--resolution',
                '1e-300',
            ]
        )
        == 2
    )
    assert 'must give 1 to 100000 sizes' in capsys.readouterr().err


@pytest.fixture
def gait_folder(tmp_path):
    """Return a folder with the compass's gait under another name."""
    folder = tmp_path / 'robots'
    folder.mkdir()
    shutil.copy(share_directory() / 'config' / 'gaits' / 'compass.yaml', folder / 'mine.yaml')
    return folder


def test_a_gait_lies_beside_its_robot_file(gait_folder, compass_file, monkeypatch, tmp_path):
    """A robot file would work in one working directory only, though its URDF is found in all."""
    path = compass_file(lambda tree: tree['curve_tracking'].update(gait='mine.yaml'))
    monkeypatch.chdir(tmp_path)
    loaded = load_robot(path)
    assert loaded.sections['curve_tracking']['gait'] == str(gait_folder / 'mine.yaml')
    loaded.write(tmp_path / 'copy.yaml')  # as the demo hands it to its nodes
    again = load_robot(tmp_path / 'copy.yaml')
    assert again.sections['curve_tracking']['gait'] == str(gait_folder / 'mine.yaml')


def test_names_and_working_directory_stay(gait_folder, compass_file, monkeypatch):
    """A shipped gait's name would be taken for a file, a path typed at a prompt for another."""
    path = compass_file(lambda tree: tree['curve_tracking'].update(gait='compass'), 'elsewhere')
    assert load_robot(path).sections['curve_tracking']['gait'] == 'compass'
    monkeypatch.chdir(gait_folder)
    given = load_robot(path, [('curve_tracking.gait', 'mine.yaml')])
    assert given.sections['curve_tracking']['gait'] == str(gait_folder / 'mine.yaml')


def test_variants_name_gaits_beside_their_file(gait_folder, tmp_path, monkeypatch):
    """A file of variants would compare other gaits, or none, from another working directory."""
    file = gait_folder / 'variants.yaml'
    file.write_text(
        yaml.safe_dump(
            [{'name': 'one', 'controller': 'time_pd', 'settings': {'gait': 'mine.yaml'}}]
        )
    )
    monkeypatch.chdir(tmp_path)
    (variant,) = read_variants(file)
    assert variant.settings['gait'] == str(gait_folder / 'mine.yaml')


def _interrupt_after(monkeypatch, owner, name, calls):
    """Press Ctrl-C in the given call of a function."""
    work, count = getattr(owner, name), iter(range(1, calls + 1))

    def interrupted(*args, **kwargs):
        if next(count) == calls:
            raise KeyboardInterrupt
        return work(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupted)


def test_interrupted_robustness_keeps_its_sizes(capsys, monkeypatch, tmp_path):
    """Minutes of work would be lost with one key."""

    class Trial:
        depth = {'foot_depth': 0.0, 'foot_depth_ahead': None, 'scuff_reach': None}

        def __init__(self, *args):
            pass

        def settle(self):
            return {
                'nominal_squared_effort': 0.0,
                'min_normal_force': 1.0,
                'max_friction_ratio': 0.1,
            }

        def disturb(self, size):
            return 'fell' if size > 0.03 else None

    monkeypatch.setattr(robustness, '_CompiledTrial', Trial)
    _interrupt_after(monkeypatch, Trial, 'disturb', 6)
    status = main(
        [
            'robustness',
            'compass',
            '--disturbance',
            'step_down',
            '--resolution',
            '0.01',
            '--json',
            '--out',
            str(tmp_path),
        ]
    )
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert status == 130 and 'interrupted after 5 sizes' in captured.err
    assert result['interrupted'] is True and len(result['samples']) == 5
    assert result['largest_tried'] == 0.05 and result['first_failure'] == 0.04
    assert [str(tmp_path / 'robustness.png')] == result['files']


@pytest.mark.long
def test_interrupted_comparison_keeps_its_walks(capsys, monkeypatch, tmp_path):
    """The walks before the key would be lost, and the rest could not be told from a full table."""
    _interrupt_after(monkeypatch, comparison, 'run_plant', 2)
    status = main(['compare', 'compass', '--duration', '0.5', '--json', '--out', str(tmp_path)])
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert status == 130 and 'interrupted after 1 of' in captured.err
    assert result['interrupted'] is True and len(result['variants']) == 1
    assert 'interrupted' in (tmp_path / 'comparison.html').read_text()
    assert json.loads((tmp_path / 'comparison.json').read_text())['interrupted'] is True


@pytest.mark.long
def test_a_key_before_the_first_walk_is_no_result(capsys, monkeypatch):
    """An empty table would be printed."""
    _interrupt_after(monkeypatch, comparison, 'run_plant', 1)
    assert main(['compare', 'compass', '--duration', '0.5']) == 130
    assert 'interrupted' in capsys.readouterr().err


@pytest.mark.parametrize(
    'verb',
    [
        ['simulate', 'compass', '--duration', '0.1'],
        ['statics', 'humanoid'],
        ['compare', 'compass'],
        ['gait', 'impact', 'compass', '--q', '-0.2,0.4'],
        ['check', 'compass'],
    ],
)
def test_a_folder_that_cannot_be_made(capsys, tmp_path, verb):
    """Results that nobody can write must be known before the work, in one line."""
    (tmp_path / 'file').write_text('')
    assert main([*verb, '--out', str(tmp_path / 'file' / 'out')]) == 2
    captured = capsys.readouterr()
    assert captured.err.count('\n') == 1 and captured.out == ''


def test_check_writes_what_it_found(capsys, tmp_path):
    """`--out` had no effect on this verb."""
    assert main(['check', 'compass', '--out', str(tmp_path / 'new')]) == 0
    assert 'wrote' in capsys.readouterr().out
    assert json.loads((tmp_path / 'new' / 'check.json').read_text())['ok'] is True


def test_interrupted_while_it_starts(capsys, monkeypatch):
    """Ctrl-C in the first half second, while libraries are loaded, would print a traceback."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr('walking_control.cli.parser.make_parser', interrupted)
    assert main(['check', 'dribbel']) == 130
    assert capsys.readouterr().err == 'interrupted\n'
