# SPDX-License-Identifier: Apache-2.0
"""Laws and plants from outside: a package that pip installs, a file, a class."""

import json
import os
from pathlib import Path
import shutil
import subprocess
import sys

import numpy as np
import pytest

import walking_control as wc
from walking_control.cli import main
from walking_control.cli.parser import make_parser
from walking_control.controllers.parameters import LawParameters
from walking_control.controllers.registry import CONTROLLERS
from walking_control.lab.experiments.margins import find_margin
from walking_control.lab.experiments.sweeps.sweep import run_sweep
from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.simulation.registry import PLANTS

PACKAGE = Path(__file__).parents[1] / 'foreign_package'


@pytest.fixture(scope='module')
def environment(tmp_path_factory):
    """Return a folder into which pip has installed the foreign package, without a network."""
    folder = tmp_path_factory.mktemp('environment')
    shutil.copytree(PACKAGE, source := folder / 'source')  # where building may leave its files
    subprocess.run(
        [
            sys.executable,
            '-m',
            'pip',
            'install',
            '--quiet',
            '--no-index',
            '--no-deps',
            '--no-build-isolation',
            '--disable-pip-version-check',
            '--target',
            folder / 'installed',
            source,
        ],
        check=True,
        timeout=120,
    )
    return folder / 'installed'


@pytest.fixture
def look_again(monkeypatch):
    """Return a function that puts a folder on the path, here and in processes started from here."""

    def look(folder):
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv('PYTHONPATH', str(folder))
        forget()

    def forget():
        for registry in (CONTROLLERS, PLANTS):
            registry.__dict__.pop('foreign', None)
            for names in (registry._classes, registry._references):
                names.clear()

    yield look
    monkeypatch.undo()
    forget()


@pytest.fixture
def installed(environment, look_again):
    """Let the foreign package be installed."""
    look_again(environment)


def write_distribution(folder, name, entry, **modules):
    """Write what pip would leave of a package with one entry point, and its modules."""
    info = folder / f'{name}-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(f'[walking_control.controllers]\n{entry}\n')
    for module, text in modules.items():
        (folder / f'{module}.py').write_text(text)


@pytest.mark.long
def test_it_walks_from_the_command_line(environment, tmp_path):
    """An installed package would not be found by the program, or only from its own folder."""
    command = [
        sys.executable,
        '-m',
        'walking_control',
        'simulate',
        'dribbel',
        '--controller',
        'stiff_hip',
        '--plant',
        'moon',
        '--set',
        'stiff_hip.stiffness=9.0',
        '--set',
        'moon.share=0.95',
        '--duration',
        '1.5',
        '--json',
        '--out',
        tmp_path,
    ]
    done = subprocess.run(
        command,
        env={**os.environ, 'PYTHONPATH': str(environment)},
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    summary = json.loads(done.stdout)
    assert (summary['controller'], summary['plant']) == ('stiff_hip', 'moon')
    assert summary['steps'] >= 1


@pytest.mark.parametrize(
    'plant', [pytest.param('rigid', marks=pytest.mark.long), 'mujoco', 'compliant', 'moon']
)
def test_it_walks_in_every_plant(installed, plant):
    """A law from outside would fit some plants alone."""
    run = wc.simulate(
        wc.load_robot('dribbel', controller='stiff_hip', stiffness=9.0), plant=plant, duration=1.2
    )
    assert run.controller == 'stiff_hip' and run.plant == plant
    assert run.settings['stiffness'] == 9.0 and run.steps[-1] >= 1 and not run.fell


@pytest.mark.long
def test_class_name_and_place_are_the_same_law(installed):
    """Which way a law is chosen would change its walk, or lose its parameters."""
    from springs_and_moons.moon import Moon
    from springs_and_moons.stiff_hip import StiffHip

    robot = wc.load_robot('dribbel')
    chosen = [
        wc.simulate(robot, StiffHip(stiffness=9.0), Moon(share=0.95), duration=0.8),
        wc.simulate(
            robot, wc.choose(StiffHip, stiffness=9.0), wc.choose(Moon, share=0.95), duration=0.8
        ),
    ]
    for law, plant in (
        (StiffHip, Moon),
        ('springs_and_moons.stiff_hip:StiffHip', 'springs_and_moons.moon:Moon'),
        ('stiff_hip', 'moon'),
    ):
        file = wc.load_robot(
            'dribbel',
            [
                ('controller', law),
                ('plant', plant),
                ('stiff_hip.stiffness', 9.0),
                ('moon.share', 0.95),
            ],
        )
        chosen.append(wc.simulate(file, duration=0.8))
    assert all(np.array_equal(run.q, chosen[0].q) for run in chosen)
    assert not np.array_equal(wc.simulate(robot, StiffHip, Moon, duration=0.8).q, chosen[0].q)
    assert (
        wc.load_robot('dribbel', controller=StiffHip(stiffness=9.0))
        .values(StiffHip.parameters)
        .stiffness
        == 9.0
    )


def test_it_stands_in_a_robot_file(installed, edited_robot_file):
    """YAML would know the package's own laws alone."""
    path = edited_robot_file(
        lambda tree: tree.update(
            controller='springs_and_moons.stiff_hip:StiffHip', stiff_hip={'angle': 0.3}
        )
    )
    assert wc.simulate(wc.load_robot(path), duration=0.1).settings['angle'] == 0.3
    assert wc.simulate(wc.load_robot(path, controller='none'), duration=0.1).controller == 'none'
    wrong = edited_robot_file(lambda tree: tree.update(stiff_hip={'angel': 0.3}))
    with pytest.raises(wc.InvalidInput, match=r'stiff_hip\.angel: unknown; did you mean angle'):
        wc.load_robot(wrong)


def test_it_stands_in_help_and_check(installed, capsys):
    """Nobody would find a law or plant that is installed."""
    with pytest.raises(SystemExit):
        make_parser().parse_args(['simulate', '--help'])
    said = capsys.readouterr().out
    assert 'stiff_hip' in said and 'moon' in said
    assert main(['check', 'dribbel', '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert 'stiff_hip' in str(facts) and 'moon' in str(facts)
    assert 'stiff_hip' not in wc.find_controllers(wc.load_robot('humanoid'))


@pytest.mark.long
def test_it_walks_in_sweeps_and_margins(installed):
    """Experiments would be shut to laws from outside."""
    from springs_and_moons.stiff_hip import StiffHip

    task = SweepTask(
        'dribbel',
        (Axis('stiff_hip.angle', 0.3, 0.35, 2),),
        StiffHip(stiffness=9.0),
        'moon',
        duration=1.2,
    )
    result = run_sweep(task, workers=2)
    assert result['controller'] == 'springs_and_moons.stiff_hip:StiffHip'
    table = result['table']
    assert table.column('stable').to_pylist() == [True, True], table.column('reason').to_pylist()
    margin = find_margin(
        wc.load_robot('dribbel', controller=StiffHip(stiffness=9.0), plant='rigid'),
        'mass',
        0.02,
        0.01,
        seeds=1,
        duration=1.2,
    )
    assert json.dumps(margin.summary()) and margin.largest_survived == 0.02


def test_it_walks_over_ros(installed):
    """Nodes would know the package's own laws alone."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from springs_and_moons.stiff_hip import StiffHip

    from walking_control.ros.nodes.demo import run_demo

    robot = wc.load_robot('dribbel', controller=StiffHip(stiffness=9.0), plant='moon')
    over_ros = run_demo(robot, 0.5).run
    direct = wc.simulate(robot, duration=0.5)
    assert np.array_equal(over_ros.q, direct.q)


def test_an_entry_point_that_fails_is_named(tmp_path, look_again, capsys):
    """One broken package would take all laws along, or be left out in silence."""
    write_distribution(
        tmp_path, 'broken', 'cracked = cracked_law:Law', cracked_law='import nothing_of_this_name'
    )
    look_again(tmp_path)
    robot = wc.load_robot('dribbel')
    assert 'hip_switching' in wc.find_controllers(robot)
    assert main(['check', 'dribbel']) == 0
    assert 'cracked_law:Law' in capsys.readouterr().out
    with pytest.raises(
        wc.InvalidInput,
        match='entry point cracked of walking_control.controllers '
        "is 'cracked_law:Law': cannot be imported: ModuleNotFoundError",
    ):
        wc.simulate(robot, 'cracked')


def test_two_laws_of_one_name_are_refused(tmp_path, environment, look_again):
    """Which of two laws walks would depend on the order of folders."""
    write_distribution(tmp_path, 'second', 'stiff_hip = second_law:Law', second_law='')
    look_again(environment)
    look_again(tmp_path)
    with pytest.raises(wc.InvalidInput, match="'stiff_hip': is there twice: second_law:Law and "):
        wc.simulate(wc.load_robot('dribbel'), 'stiff_hip')
    wc.simulate(wc.load_robot('dribbel'), 'hip_pd', duration=0.05)


def law(name='mine', section=None, base=wc.Controller):
    """Return a class that says it is a law."""
    parameters = type('MineParameters', (LawParameters,), {}, section=section or name)
    return type('Mine', (base,), {'name': name, 'parameters': parameters})


@pytest.mark.parametrize(
    'choice, words',
    [
        (dict, 'is no subclass of walking_control.Controller'),
        (3.0, 'is no subclass of walking_control.Controller|must be a name'),
        (law('hip_pd'), 'there is another of this name: walking_control.controllers.hip_pd:HipPd'),
        (law(section='other'), 'must be one name'),
        (
            type(
                'Rateless',
                (wc.Controller,),
                {'name': 'mine', 'parameters': type('P', (wc.Parameters,), {}, section='mine')},
            ),
            'parameters lack rate; let P inherit',
        ),
        (
            type('Bare', (wc.Controller,), {'name': 'mine'}),
            'must be a class of walking_control.Param',
        ),
        ('unitless:Law', 'parameter gain of Unitless: lacks a unit'),
        ('no_such_module:Law', 'cannot be imported: ModuleNotFoundError'),
        ('json:Law', 'cannot be imported: AttributeError'),
        (':', 'cannot be imported: ValueError'),
        (law()(stiffness=1.0), r'parameter mine.stiffness: unknown'),
    ],
)
def test_what_is_no_law_is_refused_in_a_line(look_again, tmp_path, choice, words):
    """A wrong choice would end in a trace, somewhere deep inside."""
    (tmp_path / 'unitless.py').write_text(
        'from walking_control.models.parameters import parameter, Parameters\n'
        "class Unitless(Parameters, section='mine'):\n"
        "    gain: float = parameter(1.0, '', 'A gain.')\n"
    )
    look_again(tmp_path)
    for attempt in (
        lambda: wc.simulate(wc.load_robot('dribbel'), choice),
        lambda: wc.load_robot('dribbel', controller=choice),
    ):
        with pytest.raises(wc.InvalidInput, match=words) as caught:
            attempt()
        assert '\n' not in str(caught.value)


def test_a_file_in_the_working_folder_is_found(environment, tmp_path, monkeypatch, look_again):
    """Programs do not look in the working folder for modules: a law beside one would be missed."""
    shutil.copy(environment / 'springs_and_moons/stiff_hip.py', tmp_path / 'my_own_law.py')
    look_again(tmp_path / 'elsewhere')
    monkeypatch.chdir(tmp_path)
    assert (
        wc.simulate(wc.load_robot('dribbel'), 'my_own_law:StiffHip', duration=0.05).controller
        == 'stiff_hip'
    )
