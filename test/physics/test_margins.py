# SPDX-License-Identifier: Apache-2.0
"""Margins: lasting errors grow until the walk ends, each on the right side of the loop."""

from dataclasses import replace
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.experiments import margins, robustness
from walking_control.lab.experiments.margins import find_margin, why_it_stopped
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.urdf import scale_masses
from walking_control.runs.run import Run
from walking_control.simulation.disturbance import rough_floor
from walking_control.simulation.registry import make_fast_plant, make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.fixture(scope='module')
def dribbel():
    """Return the shipped Dribbel."""
    return load_robot('dribbel')


@pytest.mark.long
def test_delay_has_a_margin(dribbel):
    """The coarse margin of the switching law: it walks with 10 ms and falls with 30."""
    result = find_margin(dribbel, 'delay', duration=12.0, resolution=0.01, largest=0.03)
    assert result.samples[0][:2] == [0.01, True]
    assert result.first_failure in (0.02, 0.03)
    assert result.largest_survived == pytest.approx(result.first_failure - 0.01)
    assert result['seeds'] == 1 and not result['noise']
    assert result.samples[-1][0] == result.first_failure, 'it ends with the first failure'


@pytest.fixture
def built(monkeypatch):
    """Return (robot, world, sensors) of every plant that margins builds; nothing walks."""
    seen = []

    def make(robot_file, name=None, robot=None):
        plant = make_plant(robot_file, name, robot)
        seen.append((plant.robot, plant.world, getattr(plant._wires, '_values', None)))
        return plant

    run = Run(load_robot('humanoid').robot, 'none', 'mujoco', None)
    monkeypatch.setattr(margins, 'make_fast_plant', make)
    monkeypatch.setattr(margins, 'run_plant', lambda *_: run)
    return seen


def test_the_plant_gets_the_error_and_the_controller_does_not(dribbel, built):
    """If it failed, a controller would know of the mass it is not told about."""
    loop = margins._Trial(dribbel, 'mass', 1, 1.0)._loop
    find_margin(dribbel, 'mass', resolution=0.25, largest=0.5)
    masses = [Dynamics(robot).mass for robot, _, _ in built]
    nominal = Dynamics(dribbel.robot).mass
    assert masses == pytest.approx([nominal, 1.25 * nominal, 1.5 * nominal])
    assert Dynamics(loop.robot).mass == nominal
    built.clear()
    find_margin(dribbel, 'grip', resolution=0.4, largest=0.8)
    assert [world.friction for _, world, _ in built] == pytest.approx([1.0, 0.6, 0.2])
    built.clear()
    find_margin(dribbel, 'friction', resolution=0.5, largest=0.5)
    assert [[joint.coulomb for joint in robot.friction.values()] for robot, _, _ in built] == [
        [0.0] * 3,
        [0.5] * 3,
    ]
    assert not loop.robot.friction
    built.clear()
    result = find_margin(dribbel, 'noise', resolution=1.0, largest=2.0, seeds=3)
    assert [(values.scale, values.seed) for *_, values in built if values] == [
        (size, seed) for size in (0.0, 1.0, 2.0) for seed in range(3)
    ]
    assert built[-1][2].force_noise == 5.0 and result['noise'] and result.first_failure is None
    built.clear()
    noisy = load_robot(
        'dribbel', [*noise_overrides('lab'), ('command_delay', 0.005), ('sensors.seed', 7)]
    )
    find_margin(noisy, 'delay', resolution=0.01, largest=0.01, seeds=2)
    assert [(values.command_delay, values.seed) for *_, values in built] == [
        (delay, seed) for delay in (0.005, 0.015) for seed in (7, 8)
    ]


def test_scaled_masses_scale_the_dynamics(dribbel):
    """If it failed, a heavier robot would have another inertia than its mass says."""
    heavy = scale_masses(dribbel.robot.urdf, 1.3)
    values = [
        float(element.get('value'))
        for urdf in (dribbel.robot.urdf, heavy)
        for element in ElementTree.fromstring(urdf).iterfind('link/inertial/mass')
    ]
    half = len(values) // 2
    assert half and values[half:] == pytest.approx([1.3 * value for value in values[:half]])
    passive = replace(dribbel.robot, actuators={})
    q = np.array([0.0, 0.8, 0.1, 0.3, -0.2, -0.4])
    light, loaded = (
        Dynamics(replace(passive, urdf=urdf)).mass_matrix(q) for urdf in (dribbel.robot.urdf, heavy)
    )
    assert loaded == pytest.approx(1.3 * light, rel=1e-12)


def test_a_walk_that_stalls_is_none(dribbel):
    """If it failed, a robot that stands still for ever would count as walking."""

    def run(touchdowns, end=6.0):
        record = Run(dribbel.robot, 'none', 'rigid', None)
        time = np.arange(0.0, end, 0.01)
        record.columns = {'time': time, 'steps': np.searchsorted(touchdowns, time)}
        return record

    assert why_it_stopped(run(np.arange(0.5, 6.0, 0.5))) is None
    assert 'no further step after 4' in why_it_stopped(run([0.5, 1.0, 1.5, 2.0]))
    assert 'no further step after 0' in why_it_stopped(run([]))


def test_a_compiled_plant_is_the_plant():
    """If it failed, margins would be those of another robot than simulate walks."""
    pytest.importorskip('numba', reason='compiling needs numba')
    compass, states = load_robot('compass'), []
    for make in (make_plant, make_fast_plant):
        plant = make(compass, 'rigid')
        plant.disturb('step_down', 0.01, 1)
        run = run_plant(plant, ControlLoop(compass, 'none'), compass.start, 1.5)
        states.append((run.steps, run.q, run.foot_force))
    assert states[0][0][-1] >= 1
    for plain, compiled in zip(*states, strict=True):
        assert compiled == pytest.approx(plain, abs=1e-6)


@pytest.mark.long
def test_disturbances_of_noisy_robots_go_through_the_chain(dribbel, monkeypatch):
    """If it failed, --noise would be accepted by robustness and change nothing."""
    monkeypatch.setattr(robustness, 'make_fast_plant', make_plant)
    monkeypatch.setattr(robustness, 'SETTLING_STEPS', 1)
    monkeypatch.setattr(robustness, 'FURTHER_STEPS', 1)
    noisy = load_robot('dribbel', [('sensors.gyro_noise', 0.005)])
    result = find_first_failure(noisy, 'push', largest=1.6, resolution=1.6)
    ((size, survived, reason),) = result.samples
    assert size == 1.6 and survived is False and reason
    assert result['nominal_squared_effort'] > 0.0 and result['foot_depth'] is not None
    heavy = find_first_failure(dribbel, 'push', largest=1.6, resolution=1.6, heavier=0.2)
    assert heavy['chain'] and heavy['heavier'] == 0.2
    assert heavy['min_normal_force'] > 1.1 * result['min_normal_force']  # the plant's own mass
    with pytest.raises(InvalidInput, match='heavier'):
        find_first_failure(dribbel, 'push', heavier=-1.0)
    lossy = load_robot('dribbel', [('sensors.lost_measurements', 0.9)])
    with pytest.raises(NotAchieved, match='undisturbed.*stale_joint_state'):
        find_first_failure(lossy, 'push')


@pytest.mark.parametrize(
    'options, words',
    [
        ({'kind': 'luck'}, 'known: delay, noise, mass, friction, grip, rough'),
        ({'kind': 'grip', 'largest': 1.0}, 'below 1'),
        ({'kind': 'delay', 'largest': 0.2}, 'safety.state_timeout'),
        ({'kind': 'noise', 'largest': -1.0}, 'at least 0'),
        ({'kind': 'mass', 'largest': -1.5}, 'at least -0.95'),
        ({'kind': 'mass', 'largest': 0.0}, 'other than 0'),
        ({'kind': 'mass', 'resolution': 2.0}, 'sizes up to'),
        ({'kind': 'noise', 'seeds': 0}, 'at least 1'),
    ],
)
def test_margins_of_nothing_are_refused(dribbel, options, words):
    """If it failed, a slip would cost minutes and give a figure of something else."""
    with pytest.raises(InvalidInput, match=words):
        find_margin(dribbel, **options)


def test_a_floor_that_is_not_slipped_on_has_no_grip(dribbel):
    """If it failed, the rigid plant would be said to bear any floor."""
    with pytest.raises(InvalidInput, match='do not slip'):
        find_margin(replace(dribbel, plant='rigid'), 'grip')


def test_verb(capsys, tmp_path):
    """Scripts read the JSON, people the plot."""
    assert (
        main(
            [
                'robustness',
                'dribbel',
                '--margin',
                'delay',
                '--resolution',
                '0.01',
                '--max',
                '0.01',
                '--duration',
                '2',
                '--json',
                '--out',
                str(tmp_path),
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert result['margin'] == 'delay' and result['unit'] == 's'
    assert result['samples'] == [[0.01, True, None]] and result['first_failure'] is None
    assert (tmp_path / 'robustness.png').is_file() and result['files']


def test_heights_of_a_rough_floor():
    """Footholds beyond the size would fell robots that walk on such floors, or spare them."""
    heights = -np.cumsum([step.size for step in rough_floor(0.005, 3)])
    assert len(heights) == 62 and heights[-1] == pytest.approx(0.0, abs=1e-15)
    assert 0.004 < np.abs(heights).max() <= 0.005
    assert np.allclose(heights, 5.0 * -np.cumsum([step.size for step in rough_floor(0.001, 3)]))
    assert rough_floor(0.005, 4) != rough_floor(0.005, 3)


def test_rough_floor_has_a_margin(dribbel, built, monkeypatch):
    """A margin of roughness would walk on the level floor, or on one floor for all seeds."""
    plans = []
    monkeypatch.setattr(margins, 'plan_disturbances', lambda plant, plan: plans.append(plan))
    find_margin(replace(dribbel, plant='rigid'), 'rough', resolution=0.001, largest=0.001, seeds=2)
    assert len(plans) == len(built) == 3, 'level, and rough with two seeds'
    assert plans == [rough_floor(0.0, 0), rough_floor(0.001, 0), rough_floor(0.001, 1)]
