# SPDX-License-Identifier: Apache-2.0
"""Energies along recorded walks: those of the law, those of physics, those of the book."""

from dataclasses import replace

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import read_telemetry
from walking_control.controllers.curve_tracking.controller import CurveTracking
from walking_control.exceptions import IncompatibleController
from walking_control.gaits.samples import GaitError
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.runs.disturbance_response import observe_energies
from walking_control.runs.kinematics import foot_positions
from walking_control.runs.quantities import (
    disturbed_row,
    floor_profile,
    footholds,
    rows_around,
    touchdowns,
)
from walking_control.runs.tables import run_columns
from walking_control.simulation.disturbance import Disturbance, plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant


def walk(controller, duration, disturb, loop=None):
    """Return a run of the compass."""
    robot_file = load_robot('compass')
    plant = make_plant(robot_file)
    plan_disturbances(plant, disturb)
    return run_plant(plant, loop or ControlLoop(robot_file, controller), robot_file.start, duration)


@pytest.fixture(scope='module')
def heard():
    """Return a run of curve tracking over a step down at its second touchdown, and what it said."""
    loop, said = ControlLoop(load_robot('compass'), 'curve_tracking'), []
    tick = loop.tick

    def listen(measurement):
        command = tick(measurement)
        said.append(read_telemetry(loop.controller, loop.robot))
        return command

    loop.tick = listen
    return walk('curve_tracking', 2.6, ['step_down=0.05@2'], loop), said


@pytest.fixture(scope='module')
def tracked(heard):
    """Return that run."""
    return heard[0]


@pytest.fixture(scope='module')
def alone():
    """Return a run without control over the same step."""
    return walk('none', 5.0, ['step_down=0.05@2'])


def test_telemetry_is_recorded_as_said(heard):
    """Figures and tables would show another tick, or another figure, than the controller's."""
    run, said = heard
    fields = CurveTracking.telemetry_fields(run.robot)
    table = run_columns(run)
    assert len(run.time) == len(said) == 1301
    for name, unit in fields:
        values = np.array([row[name] for row in said])
        assert np.array_equal(run.telemetry[name], values), name
        assert np.array_equal(table[f'curve_tracking_{name} [{unit}]'], values), name
    assert list(run.telemetry) == [name for name, _ in fields]
    assert np.ptp(run.telemetry['applied_hip']) > 0.1


def test_observer_is_the_law(tracked):
    """A second implementation of the split would drift away from the law's own."""
    energies = observe_energies(tracked)
    for name, values in energies.items():
        assert np.array_equal(values, tracked.telemetry[name]), name
    assert energies['kinetic_energy_undesired'].max() > 0.01


@pytest.mark.long
def test_energies_are_those_of_physics(alone, tracked):
    """The parts must sum to Pinocchio's energy, potential energy counted from the stance foot."""
    for run in (alone, tracked):
        dynamics = Dynamics(run.robot, run.world.gravity, run.world.slope)
        gravity = dynamics.model.gravity.linear
        energies, feet = observe_energies(run), foot_positions(dynamics, run.q)
        stance = feet[np.arange(len(run.time)), run.support]
        kinetic = [dynamics.kinetic_energy(q, v) for q, v in zip(run.q, run.v, strict=True)]
        potential = [dynamics.potential_energy(q) for q in run.q]
        assert energies['potential_energy'] == pytest.approx(
            potential + dynamics.mass * stance @ gravity, abs=1e-9
        )
        total = energies['kinetic_energy_desired'] + energies['kinetic_energy_undesired']
        assert total == pytest.approx(kinetic, abs=1e-9)


@pytest.mark.long
def test_foot_is_reported_as_the_plant_finds_it(tracked):
    """Telemetry would call for another foot, or another floor, than the walker needs."""
    force = tracked.foot_force[np.arange(len(tracked.time)), tracked.support]
    # the plant's force is that of the effort held till then: compare where it hardly changes
    change = np.abs(np.diff(tracked.effort, axis=0, prepend=0.0)).max(axis=1)
    rows = (change < 0.02) & (np.abs(tracked.effort).min(axis=1) > 0.1)
    assert rows.sum() > 20
    normal, along = force[rows, 2], np.abs(force[rows, 0])
    said = {name: values[rows] for name, values in tracked.telemetry.items()}
    assert said['normal_force'] == pytest.approx(normal, abs=0.01)
    assert said['friction_ratio'] == pytest.approx(along / normal, abs=2e-3)
    ankle = np.abs(tracked.effort[rows, 1])
    assert said['foot_length'] == pytest.approx(ankle / normal, abs=1e-3)
    # and what the efforts do is the plant's own work
    done = np.diff(tracked.work.sum(axis=1), append=np.nan)[rows] / 0.002
    assert said['power'] == pytest.approx(done, abs=0.01)


@pytest.mark.long
def test_passive_walk_goes_astray_only_after_the_step(alone):
    """[DS09] 5.2.3: undesired energy is nil in nominal walking, then wild until the fall."""
    undesired, row = observe_energies(alone)['kinetic_energy_undesired'], disturbed_row(alone)
    assert alone.fell and alone.time[-1] - alone.time[row] < 1.5
    assert undesired[:row].max() < 1e-9 and undesired[row:].max() > 1.0


@pytest.mark.long
def test_tracked_walk_survives_and_converges(tracked):
    """[DS09] Fig. 5.10: the same step is survived, what went astray comes back."""
    undesired, row = tracked.telemetry['kinetic_energy_undesired'], disturbed_row(tracked)
    assert not tracked.fell
    assert undesired[-1] < 0.01 * undesired[row:].max()


@pytest.mark.long
def test_floor_lies_under_every_foothold(tracked):
    """A picture would show the walker above or below its floor."""
    places = footholds(tracked, foot_positions(Dynamics(tracked.robot), tracked.q))
    floor = floor_profile(tracked, places)
    assert tracked.disturbances == (Disturbance('step_down', 0.05, 2),)
    ahead, up = np.diff(floor, axis=0).T
    assert np.flatnonzero(np.abs(up) > 1e-9).tolist() == [5]  # three points a foothold
    assert up[5] == pytest.approx(-0.05) and ahead[5] == 0.0
    assert places[1, 0] < floor[5, 0] < places[2, 0]


@pytest.mark.long
def test_window_lies_around_the_disturbance(tracked):
    """Figures would miss what they are to show."""
    rows = rows_around(tracked, 1, 1)
    assert rows.start < disturbed_row(tracked) < rows.stop - 1
    assert set(tracked.steps[rows]) == {1, 2, 3}
    calm = replace(tracked, disturbances=())
    assert disturbed_row(calm) is None
    assert rows_around(calm, 1, 1) == slice(*(touchdowns(calm)[[-3, -1]] + [0, 1]))
    fallen = replace(calm, fell=True)
    assert rows_around(fallen, 1, 1).stop == len(calm.time)


@pytest.mark.long
def test_report_shows_what_a_run_has(tracked, alone):
    """Figures 5.10 and 5.11 of the book would be missing, or drawn of a law that has no parts."""
    pytest.importorskip('matplotlib')
    from walking_control.lab.reports.sections import WALK

    shown = {
        run.controller: [name for name, plot, _ in WALK.figures if plot(run) is not None]
        for run in (tracked, alone)
    }
    further = {'disturbed_walk', 'energies', 'effort_parts'}
    assert further <= set(shown['curve_tracking'])
    assert further & set(shown['none']) == {'disturbed_walk'}


def test_robot_without_gait_is_refused():
    """A robot without a gait would end in a bare KeyError or a made-up gait."""
    robot_file = load_robot('dribbel')
    object.__setattr__(robot_file.robot, 'name', 'nobody')
    plant = make_plant(robot_file, 'rigid')
    run = run_plant(plant, ControlLoop(robot_file), robot_file.start, 0.05)
    with pytest.raises((GaitError, IncompatibleController), match='gait'):
        observe_energies(run)
