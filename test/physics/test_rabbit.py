# SPDX-License-Identifier: Apache-2.0
"""RABBIT, five links on four motors: a gait and a walk from a file that says nothing of either."""

from pathlib import Path

import numpy as np
import pytest

from walking_control.controllers.curve_tracking.controller import (
    build_law,
    CurveTracking,
    load_gait,
)
from walking_control.gaits.gait_file import load_gait as load_polynomials
from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.simulation.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / 'examples'
ROBOT, GAIT = EXAMPLES / 'rabbit.yaml', EXAMPLES / 'rabbit_gait.yaml'


def on_gait(slower=1.0, **values):
    """Return the robot file, started on its gait with rates that are a share of the gait's."""
    q, v = load_polynomials(GAIT, load_robot(ROBOT)).start
    return load_robot(
        ROBOT,
        [
            ('start.q', q.tolist()),
            ('start.v', (slower * v).tolist()),
            *(
                (f'curve_tracking.{name}', value)
                for name, value in {'gait': str(GAIT), **values}.items()
            ),
        ],
    )


@pytest.mark.long
def test_a_blank_robot_file_is_enough_for_a_gait():
    """A stranger would get a gait of torques the robot does not have, its foot in the floor."""
    pytest.importorskip('casadi', reason='gait search needs the package casadi')
    from walking_control.lab.experiments.gait_search import find_gait

    robot_file = load_robot(ROBOT)
    assert 'search' not in robot_file.sections
    found = find_gait(robot_file, {'speed': 0.7, 'starts': 1, 'degree': 7, 'nodes': 10})
    assert found.summary['reason'] is None
    ankle, *joints = found.summary['peak_effort']
    assert ankle < 0.05 * max(joints)
    assert found.summary['clearance'] > 0.01
    assert found.summary['cost'] == pytest.approx(216.6, abs=0.5)


@pytest.mark.long
def test_walks_by_the_gains_of_its_size():
    """A walker with one motor less than coordinates would fall without gains found by hand."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    run = simulate(on_gait(slower=0.95), plant='mujoco', duration=3.0)
    summary = run.summary()
    assert not summary['fell'], summary['fall_reason']
    assert summary['steps'] >= 3 and 0.6 < summary['speed'] < 0.8
    undesired = run.telemetry['kinetic_energy_undesired']
    # 5e-4 and more where errors along the gait count like those across
    assert np.median(undesired) < 1e-5 * np.median(run.telemetry['kinetic_energy_desired'])


def test_tank_gets_what_the_gait_takes():
    """Level walking would end when the first joules are spent; a passive gait needs none."""
    for path, name, degrees, least, most in (
        (ROBOT, str(GAIT), 0.0, 48.0, 52.0),
        ('dribbel', 'dribbel_passive', 1.5, 0.0, 1e-3),
    ):
        robot_file = load_robot(
            path,
            [
                ('curve_tracking.gait', name),
                ('world.slope', np.radians(degrees)),
                ('curve_tracking.tank_supply', -1.0),
            ],
        )
        values, world = robot_file.values(CurveTracking.parameters), robot_file.values(World)
        gait = load_gait(robot_file.robot, values.gait, world)
        law = build_law(robot_file.robot, values, world, gait)
        assert least <= law.pieces[0].tank.supply <= most  # the gait takes 24.9 W
