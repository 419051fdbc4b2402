# SPDX-License-Identifier: Apache-2.0
"""Walks side by side: table, page, numbers, and files that are no list of variants."""

import csv
from io import StringIO
import json
import re

import pytest
import yaml

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved
from walking_control.lab.experiments import comparison as comparison_module
from walking_control.lab.experiments.variants import load_variant, read_variants, variants_path
from walking_control.lab.reports.comparison_page import rows_of
from walking_control.runs.disturbance_response import MEASURES

pytest.importorskip('matplotlib')

VARIANTS = [
    {'name': 'uncontrolled', 'controller': 'none'},
    {'name': 'tuned <shipped>', 'controller': 'curve_tracking'},
    {
        'name': 'wide set point',
        'controller': 'hip_pd',
        'settings': {'hip_angle': 0.7, 'hip_damping': 2.5},
    },
]


@pytest.fixture(scope='module')
def comparison(tmp_path_factory):
    """Return (exit status, JSON text, messages, directory) of a comparison over a step down."""
    directory = tmp_path_factory.mktemp('comparison')
    (directory / 'variants.yaml').write_text(yaml.safe_dump(VARIANTS))
    capture = pytest.MonkeyPatch()
    out, messages = StringIO(), StringIO()
    capture.setattr('sys.stdout', out)
    capture.setattr('sys.stderr', messages)
    try:
        status = main(
            [
                'compare',
                'compass',
                '--variants',
                str(directory / 'variants.yaml'),
                '--disturb',
                'step_down=0.05@2',
                '--duration',
                '4',
                '--json',
                '--out',
                str(directory / 'out'),
            ]
        )
    finally:
        capture.undo()
    return status, out.getvalue(), messages.getvalue(), directory / 'out'


@pytest.mark.long
def test_uncontrolled_falls_where_tuned_survives(comparison):
    """The comparison would not show what curve tracking is for ([DS09] Figs. 5.8 and 5.10)."""
    status, text, messages, _ = comparison
    alone, tuned, _ = json.loads(text)['variants']
    assert status == 0, messages
    assert not alone['survived'] and 'tripped' in alone['reason']
    assert tuned['survived'] and tuned['disturbed'] and tuned['reason'] is None
    # what the law can not help is the impact: 1.2 J of the tuned walk are there at the touchdown on
    # the lower floor, before its first effort; that they vanish then is tested in test_energies.py
    assert alone['max_undesired_energy'] > 4.0 * tuned['max_undesired_energy'] > 0.0
    assert alone['peak_effort'] == alone['energy_injected'] == alone['max_foot_length'] == 0.0


@pytest.mark.long
def test_measures_tell_before_from_after(comparison):
    """Effort spent on the disturbance would be charged to the undisturbed walk."""
    tuned, pd = json.loads(comparison[1])['variants'][1:]
    assert tuned['squared_effort_before'] < 1e-6 < 1.0 < tuned['squared_effort_after']
    assert pd['squared_effort_before'] > 1.0
    # on any foot nothing bounds it but the least load at which it is judged, 5 % of 7 kg
    assert 0.05 < tuned['max_foot_length'] < tuned['peak_effort'] / (0.05 * 7.0 * 9.81)
    assert pd['max_foot_length'] == 0.0
    assert tuned['energy_absorbed'] > tuned['energy_injected'] > 0.0


@pytest.mark.long
def test_progress_stays_off_standard_output(comparison):
    """A script that reads JSON would trip over progress; a person would wait without a word."""
    _, text, messages, _ = comparison
    assert set(json.loads(text)) == {
        'robot',
        'disturb',
        'duration',
        'interrupted',
        'variants',
        'files',
    }
    assert re.search(r'\[1/3\] uncontrolled: fell at [\d.]+ s: .*, after \d steps', messages)


@pytest.mark.long
def test_page_holds_every_walk_and_needs_nothing_else(comparison):
    """The page would lose a variant, its pictures, or break on a name."""
    directory = comparison[3]
    page = (directory / 'comparison.html').read_text(encoding='utf-8')
    bare = re.sub(r'base64,[A-Za-z0-9+/=]+', '', page)
    assert 'tuned &lt;shipped&gt;' in bare and '<shipped>' not in bare
    for variant in VARIANTS:
        assert bare.count(variant['name'].partition(' <')[0]) >= 2
    assert len(re.findall('src="data:image/png', page)) == 3  # walks, energies, efforts of one
    for outside in ('http', 'href', '<link', '<script', 'url(', '.png'):
        assert outside not in bare


@pytest.mark.long
def test_files_are_listed_and_table_reads_back(comparison):
    """Scripts would find other files, or other numbers, than they were told."""
    _, text, _, directory = comparison
    result = json.loads(text)
    assert sorted(result['files']) == sorted(str(path) for path in directory.iterdir())
    assert json.loads((directory / 'comparison.json').read_text()) == result
    with open(directory / 'comparison.csv', newline='', encoding='utf-8') as file:
        header, *rows = csv.reader(file)
    assert header[2:] == [variant['name'] for variant in VARIANTS]
    column = {name: values for name, _, *values in rows}
    assert len(rows) == 2 + len(MEASURES)
    assert float(column['Largest effort'][1]) == result['variants'][1]['peak_effort']


@pytest.mark.long
def test_shipped_variants_can_be_built():
    """`walking_control compare compass` would stop at a variant that no longer fits."""
    variants = read_variants(variants_path('compass'))
    names = [variant.name for variant in variants]
    assert names[:2] == ['uncontrolled', 'tuned, half foot 0.1 m'] and 'tuned, any foot' in names
    for variant in variants:
        loop = ControlLoop(load_variant('compass', variant), variant.controller)
        for name, value in variant.settings.items():
            stored = getattr(loop.controller.values, name)
            assert stored == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.long
def test_walk_that_breaks_off_is_reported(tmp_path, monkeypatch, capsys):
    """One diverging variant would take the whole comparison down."""

    def diverge(*_):
        raise NotAchieved('plant rigid on compass', value=1.0, limit='the integration diverged')

    monkeypatch.setattr(comparison_module, 'run_plant', diverge)
    (tmp_path / 'variants.yaml').write_text('- {name: a, controller: none}')
    assert (
        main(
            [
                'compare',
                'compass',
                '--variants',
                str(tmp_path / 'variants.yaml'),
                '--out',
                str(tmp_path / 'out'),
            ]
        )
        == 0
    )
    assert 'a: broke off: plant rigid' in capsys.readouterr().out
    assert 'broke off' in (tmp_path / 'out' / 'comparison.html').read_text(encoding='utf-8')


@pytest.mark.long
def test_first_failures_stand_in_the_table():
    """A first failing size would be confused with none found at all."""
    found = {'unit': 'm', 'largest_tried': 0.25, 'reason': None}
    summary = {
        'variants': [
            {
                **dict.fromkeys(key for key, *_ in MEASURES),
                'robustness': {'step_down': {**found, 'first_failure': first}},
            }
            for first in (0.025, None)
        ]
    }
    name, unit, _, values = rows_of(summary)[-1]
    assert (name, unit) == ('First failing step down', 'm')
    assert values == [0.025, 'none to 0.25']


@pytest.mark.long
@pytest.mark.parametrize(
    'text, message',
    [
        ('name: one', 'must be a list'),
        ('[]', 'must be a list'),
        ('- [a, b', 'cannot be read'),
        ('- 3', 'must hold name and controller'),
        ('- {name: a}', 'controller in entry 1'),
        ('- {name: a, controller: none, gains: {}}', 'gains in entry 1'),
        ('- {name: a, controller: none, settings: 3}', 'settings in entry 1'),
        ('- {name: a, controller: none}\n- {name: a, controller: none}', 'given twice'),
        ('- {name: a, controller: magic}', 'variant a: controller'),
        ('- {name: a, controller: hip_pd, settings: {stiffness: 1}}', 'variant a: parameter'),
        ('- {name: a, controller: curve_tracking, settings: {metric: [1, 1, 1]}}', 'variant a:'),
        ('- {name: a, controller: static_torque}', 'variant a:'),
    ],
)
def test_bad_variants_are_refused_in_one_line(tmp_path, capsys, text, message):
    """A slip of the pen would end in a traceback, or minutes later."""
    (tmp_path / 'variants.yaml').write_text(text)
    assert main(['compare', 'compass', '--variants', str(tmp_path / 'variants.yaml')]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith('error: ') and error.count('\n') == 1


@pytest.mark.long
@pytest.mark.parametrize(
    'arguments, message',
    [
        (['humanoid'], 'no variants ship'),
        (['compass', '--variants', 'nowhere.yaml'], 'cannot be read'),
        (['compass', '--disturb', 'step_down@3'], 'kind=size@step'),
        (['compass', '--disturb', 'wind=3@3'], 'known: step_down'),
    ],
)
def test_bad_arguments_are_refused_in_one_line(capsys, arguments, message):
    """Bad input would be found after a walk, or not at all."""
    assert main(['compare', *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count('\n') == 1


@pytest.mark.long
def test_a_robot_is_compared_on_the_plant_asked_for(capsys, tmp_path):
    """A comparison on plant mujoco would be one on the robot file's plant, or refused."""
    (tmp_path / 'variants.yaml').write_text('- {name: a, controller: hip_switching}')
    depths = []
    for plant in ('mujoco', 'rigid'):
        assert (
            main(
                [
                    'compare',
                    'dribbel',
                    '--variants',
                    str(tmp_path / 'variants.yaml'),
                    '--plant',
                    plant,
                    '--disturb',
                    'step_down=0.002@1',
                    '--duration',
                    '1',
                    '--json',
                ]
            )
            == 0
        )
        (walk,) = json.loads(capsys.readouterr().out)['variants']
        assert walk['survived'] and walk['disturbed'] and walk['speed'] > 0.2
        depths.append(walk['foot_depth'])
    assert depths[0] > 0.0 == depths[1]
