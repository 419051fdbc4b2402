# SPDX-License-Identifier: Apache-2.0
"""Natural walking in space: tracked gaits, and the law as a whole."""

from dataclasses import replace

import numpy as np
import pytest

from walking_control.controllers.natural_walking.books import Books
from walking_control.controllers.natural_walking.reference import (
    _find_knee,
    CAPTURE,
    FOOT,
    GaitTable,
    RATE,
)
from walking_control.controllers.registry import make_controller
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.runs.route import read_route
from walking_control.simulation.simulate import simulate


@pytest.fixture(scope='module')
def walk():
    """Return seven seconds of walking at 0.8 m/s."""
    robot_file = load_robot('walker3d', controller='natural_walking', speed=0.8)
    return simulate(robot_file, duration=7.0)


def test_it_walks_on_the_gait_at_its_price(walk):
    """The law would squat, fall, or fight its own gait: at a price far above the gait's."""
    assert walk.fault is None
    on = walk.telemetry['on_gait'] > 0.0
    assert on[walk.time > 2.5].all()
    rows = np.flatnonzero(np.diff(walk.steps))[-7:]  # six steps
    way = np.hypot(*(walk.base.position[rows[-1]] - walk.base.position[rows[0]])[:2])
    energy = np.ptp(walk.electrical_energy[rows[[0, -1]]])
    assert way / np.ptp(walk.time[rows[[0, -1]]]) == pytest.approx(0.8, abs=0.03)
    assert energy / (10.0 * 9.81 * way) < 0.08


def test_the_robot_stays_within_millimetres_of_the_gait(walk):
    """Place and time of steps would not be the gait's own on the gait."""
    part = walk.telemetry['part']
    late = (walk.time > 5.0) & (part > 0.05) & (part < 0.9)  # not in the impact itself
    off = np.hypot(walk.telemetry['deviation_x'], walk.telemetry['deviation_y'])
    assert off[late].max() < 0.01


def test_energies_are_booked_to_the_last_digit(walk):
    """Energy would come from nowhere, a tank would run dry on the gait, or efforts jump."""
    told = walk.telemetry
    booked = told['energy_injected'] - told['energy_absorbed'] - told['energy_lost']
    np.testing.assert_allclose(told['energy'] - booked, told['energy'][0] - booked[0], atol=1e-9)
    rows = np.flatnonzero(np.diff(walk.steps))[-3:]
    done = walk.work[rows[-1]].sum() - walk.work[rows[0]].sum()
    assert np.ptp(
        (told['energy_injected'] - told['energy_absorbed'])[rows[[0, -1]] + 1]
    ) == pytest.approx(done, abs=0.2)
    assert told['tank_level'].min() > 0.0
    jumps = np.abs(np.diff(walk.effort, axis=0)).max(axis=1)
    assert jumps[walk.time[1:] > 4.0].max() < 5.0


@pytest.mark.long
def test_a_turn_at_full_speed_is_walked(tmp_path):
    """Where the floor is late the push-off went on: the robot flew, and fell off its gait."""
    path = tmp_path / 'turn.yaml'
    path.write_text(
        'segments: [{duration: 7.2, ahead: 1.2}, {duration: 2.5, ahead: 1.2, turn: -0.3}]\n'
    )
    run = simulate(load_robot('walker3d'), 'natural_walking', duration=9.7, route=read_route(path))
    assert run.fault is None
    turning = run.time > 7.2
    off = run.telemetry['on_gait'][turning] == 0.0
    assert len(np.unique(run.steps[turning][off])) <= 4
    force = np.linalg.norm(run.foot_force[turning].sum(axis=1), axis=1)
    assert np.mean(force == 0.0) < 0.02, 'it flies'


def test_noise_of_positions_does_no_work():
    """Efforts that answer noise would be booked with that noise, and empty any tank."""
    rng, stiffness, dt = np.random.default_rng(0), 4000.0, 0.002
    books, done, before = Books(10.0, np.arange(1)), 0.0, None
    for tick in range(20000):
        true = 0.1 * np.sin(20.0 * tick * dt)
        told = np.array([true + rng.normal(0.0, 1e-3)])
        books.work(told, dt)
        if before is not None:
            done += before[0] * (true - before[1])
        drive = 2.0 * np.cos(20.0 * tick * dt)  # in phase with the speed: it does work
        effort = drive - stiffness * (told - true)
        before = drive, true
        books.hold(effort, told)
    assert done == pytest.approx(80.0, rel=0.02)
    assert books.values[2] - books.values[3] == pytest.approx(done, rel=0.1)  # k n^2: 80 J more


@pytest.fixture(scope='module')
def table():
    """Return the table of the shipped gaits."""
    return make_controller(load_robot('walker3d', controller='natural_walking'))._table


def test_a_step_of_the_table_ends_where_the_next_begins(table):
    """Rows of the two feet would not be each other's mirror, or derivatives in the wrong unit."""
    assert isinstance(table, GaitTable)
    stride = table.choose(0.8)
    end, begin = table.row(1.0, 0), table.row(0.0, 1)
    np.testing.assert_allclose(end[FOOT][:2], stride.way, atol=2e-3)
    np.testing.assert_allclose(begin[FOOT][:2], -end[FOOT][:2], atol=2e-3)
    # but for the way down, that ends with the impact
    np.testing.assert_allclose(begin[CAPTURE], end[CAPTURE] - stride.way, atol=2e-2)
    place = [table.row(s, 0)[FOOT][:3] for s in (0.49, 0.51)]
    np.testing.assert_allclose(
        (place[1] - place[0]) / 0.02, table.row(0.5, 0)[FOOT][3:6], atol=2e-2
    )
    assert end[RATE] == pytest.approx(begin[RATE], rel=2e-2)


def test_hips_with_arms_between_their_axes_are_no_knees():
    """A robot whose hip axes do not meet would be held up by a hip and fall at its first step."""
    robot = load_robot('walker3d').robot
    link = '<parent link="left_hip_yaw_link"/>'
    moved = robot.urdf.replace(f'xyz="0 0 0"/>{link}', f'xyz="0 0.06 -0.1"/>{link}')
    assert moved != robot.urdf
    dynamics = Dynamics(replace(robot, urdf=moved))
    assert dynamics.joints[_find_knee(dynamics, robot.feet[0])] == 'left_knee'
