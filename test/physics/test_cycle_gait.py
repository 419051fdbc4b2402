# SPDX-License-Identifier: Apache-2.0
"""Limit cycles as gaits: phases, accuracy, and the dynamics they must obey."""

import math

import numpy as np
import pytest

from walking_control.gaits.gait_file import load_gait, read_gait
from walking_control.lab.experiments.cycle_gait import (
    gait_of_cycle,
    make_precise_walker,
    save_cycles,
)
from walking_control.lab.experiments.resimulation import resimulate
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.resources import share_directory
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics

pytest.importorskip('casadi')
pytest.importorskip('numba')

SHIPPED = share_directory() / 'config' / 'gaits'


def on_slope(name, degrees):
    """Return a robot file on a slope."""
    return load_robot(name, [('world.slope', math.radians(degrees))])


def accelerations(robot_file, phase):
    """Return what free motion asks of a phase beside what its polynomials do, ``(m, free)``."""
    robot, world = robot_file.robot, robot_file.values(World)
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    free = [i for i in range(len(robot.coordinates)) if i not in phase.held]
    errors = []
    for q, v, a in zip(*phase.motion(np.linspace(0.01, 0.99, 23)), strict=True):
        parts = support.layout.split(support.terms(0, q, v))
        mass = parts['mass'][2:, 2:][np.ix_(free, free)]
        errors.append(np.linalg.solve(mass, -parts['bias'][2:][free]) - a[free])
    return np.array(errors)


@pytest.mark.long
@pytest.mark.parametrize('name, degrees', [('compass', 3.0), ('dribbel_passive', 1.5)])
def test_passive_gaits_are_cycles_of_gravity(name, degrees):
    """If it failed, laws would follow a motion that gravity alone does not make."""
    robot_file = on_slope(name.partition('_')[0], degrees)
    gait = load_gait(SHIPPED / f'{name}.yaml', robot_file)
    for phase in gait.phases:
        assert np.abs(accelerations(robot_file, phase)).max() < 1e-5  # rad/s^2
    assert resimulate(robot_file, gait).follows


@pytest.mark.long
def test_level_gait_of_dribbel_is_one_of_the_hip_alone():
    """If it failed, Dribbel's default gait would need motors it has not, or would not close."""
    robot_file = on_slope('dribbel', 0.0)
    document = read_gait(SHIPPED / 'dribbel.yaml')
    assert document['provenance']['task']['actuation'] == 'joints'
    check = resimulate(robot_file, load_gait(SHIPPED / 'dribbel.yaml', robot_file))
    assert check.follows and check.error_q < 1e-3


def test_passive_gait_of_dribbel_is_what_the_command_makes():
    """If it failed, the shipped gait would be of another robot or of another plant than ours."""
    shipped = read_gait(SHIPPED / 'dribbel_passive.yaml')
    robot_file = on_slope('dribbel', 1.5)
    q, v = load_gait(SHIPPED / 'dribbel_passive.yaml', robot_file).start
    made = gait_of_cycle(
        make_precise_walker(robot_file, 'none'),
        {'q': q[[0, 2, 3]], 'v': v[[0, 2, 3]], 'period': shipped['found']['period']},
    )
    assert made.error_q < 1e-9 and made.error_v < 1e-7
    assert [phase.held for phase in made.gait.phases] == [(1,), (1, 3)]
    for phase, old in zip(made.gait.phases, shipped['phases'], strict=True):
        assert phase.duration == pytest.approx(old['duration'], abs=1e-8)
        for i, values in enumerate(old['values'].values()):
            assert phase.values[:, i] == pytest.approx(values, abs=1e-8)
    assert '1.5 degrees' in shipped['provenance']['note']


def test_gait_under_a_sampled_law():
    """If it failed, the gait of a law with effort would not be the walk it makes."""
    robot_file = load_robot('dribbel')
    cycle = {
        'q': [0.146177586, -0.292355173, 0.0],
        'v': [-0.84525676, 0.15552345, 0.0],
        'period': 0.5685,
    }
    found = gait_of_cycle(make_precise_walker(robot_file, 'hip_switching'), cycle)
    assert [phase.held for phase in found.gait.phases] == [(1,), (1, 3)]
    assert found.error_q < 2e-5 and found.error_v < 1e-2  # efforts held for 10 ms leave kinks
    assert found.gait.period == pytest.approx(0.5685, abs=1e-4)
    assert np.abs(accelerations(robot_file, found.gait.phases[0])).max() > 1.0


def test_files_of_cycles(tmp_path):
    """If it failed, a cycle that is no gait would end the command instead of being named."""
    robot_file = on_slope('compass', 3.0)
    gait = load_gait(SHIPPED / 'compass.yaml', robot_file)
    q, v = (part.tolist() for part in gait.start)
    cycle = {
        'q': q,
        'v': v,
        'period': gait.period,
        'step_length': 0.59,
        'speed': 0.75,
        'stable': True,
        'residual': 0.0,
        'eigenvalues': [0.5 + 0j],
    }
    result = {'controller': 'none', 'cycles': [cycle, {**cycle, 'v': [0.0, 0.0]}]}
    written = save_cycles(robot_file, result, tmp_path)
    assert written == [str(tmp_path / 'cycle_0.yaml')] and result['cycles'][1]['file'] is None
    assert 'makes no step' in result['cycles'][1]['reason']
    again = load_gait(written[0], robot_file)
    assert again.period == pytest.approx(gait.period, abs=1e-9)
    assert read_gait(written[0])['provenance']['controller'] == 'none'
