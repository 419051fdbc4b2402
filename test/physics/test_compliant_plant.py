# SPDX-License-Identifier: Apache-2.0
"""The compliant plant: bounces, rest, slip, energy, the rigid limit; what is refused."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.lab.reports.reproduction.contacts import asymmetry, fitted_walk
from walking_control.loading import load_robot
from walking_control.models.robot import Start
from walking_control.models.robot_file import World
from walking_control.models.signals import Command
from walking_control.simulation.compliant import forces as cm
from walking_control.simulation.compliant.engine import CompliantEngine
from walking_control.simulation.compliant.forces import (
    friction_force,
    HUNT_CROSSLEY,
    KELVIN_VOIGT,
    normal_force,
)
from walking_control.simulation.parameters import CompliantParameters
from walking_control.simulation.plant import Plant
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant

STORES = ('kinetic', 'potential', 'joint springs', 'stored')
LOSSES = ('damped', 'slipped', 'released', 'joints', 'impacts')


def balance(plant):
    """Return what does not change: what is there and what was lost, less what came in, J."""
    energies = plant.engine.energies()
    return sum(energies[name] for name in (*STORES, *LOSSES)) - energies['work']


def plain(name, *overrides):
    """Return the plant of a shipped robot by plain Python, for short motions."""
    robot_file = load_robot(name, overrides)
    return robot_file, Plant(
        CompliantEngine(
            robot_file.robot,
            robot_file.values(World),
            robot_file.values(CompliantParameters),
            compiled=False,
        )
    )


def restitution(kind, damping, dissipation, mass=2.0, stiffness=5e4, speed=0.7):
    """Return the speed of a ball after a bounce over that before, without gravity."""

    def rates(_, y):
        force = normal_force(kind, stiffness, damping, dissipation, y[0], y[1])
        return y[1], -force / mass

    def left(t, y):
        return y[0] if t > 1e-4 else 1.0

    left.terminal, left.direction = True, -1.0
    run = solve_ivp(
        rates, (0.0, 1.0), (0.0, speed), events=left, rtol=1e-9, atol=1e-13, max_step=1e-4
    )
    return -run.y[1, -1] / speed


def test_ball_bounces_by_kelvin_voigt():
    """If it failed, the damper of the floor would take another share than a linear one does."""
    mass, stiffness, ratio = 2.0, 5e4, 0.2
    damping = 2.0 * ratio * math.sqrt(stiffness * mass)
    root = math.sqrt(1.0 - ratio**2)
    # the contact ends where the force does, before the spring is at its length
    turn = math.pi - math.atan2(2.0 * ratio * root, 1.0 - 2.0 * ratio**2)
    expected = math.exp(-ratio / root * turn)
    assert restitution(KELVIN_VOIGT, damping, 0.0) == pytest.approx(expected, rel=1e-4)


def test_ball_bounces_by_hunt_and_crossley():
    """If it failed, the rate would not weigh with depth, and slow balls would bounce like fast."""
    a, speed = 0.8, 0.7

    def share(v):  # v dv / (1 + a v) = -(k / m) d dd, integrated
        return v / a - math.log(1.0 + a * v) / a**2

    expected = brentq(lambda e: share(speed) - share(-e * speed), 0.1, 1.0)
    assert restitution(HUNT_CROSSLEY, 0.0, a, speed=speed) == pytest.approx(expected, rel=1e-5)
    assert restitution(HUNT_CROSSLEY, 0.0, a, speed=0.07) > expected + 0.1


def test_foot_sticks_then_slips_and_never_gives_energy():
    """If it failed, friction would exceed its cone, slip below it, or drive the robot."""
    stiffness, damping, limit = 1e5, 200.0, 30.0
    slide, dt = 0.0, 1e-5
    for i in range(4000):
        velocity = 0.05 * math.cos(2.0 * math.pi * i / 2000.0)
        force, rate = friction_force(stiffness, damping, 0.0, limit, slide, velocity, 0.0)
        assert abs(force) <= limit
        lost = force * velocity - stiffness * slide * rate
        assert lost >= -1e-12
        if abs(force) < limit:
            assert rate == pytest.approx(velocity, abs=1e-12)
        slide += dt * rate
    force, rate = friction_force(stiffness, damping, 0.0, limit, 0.9e-4, 0.0, 0.0)
    assert (force, rate) == (pytest.approx(9.0), pytest.approx(0.0))
    relieved, rate = friction_force(stiffness, damping, 5.0, limit, 0.9e-4, 0.0, -2.0)
    assert 0.0 < relieved < 9.0 and rate < 0.0  # rolling, either way, lets the spring relax


def test_foot_at_rest_sinks_by_weight_over_stiffness():
    """If it failed, the stiffness would not be what the table says."""
    _, plant = plain('compass', ('slope', 0.0), ('compliant.damping', 1300.0))
    plant.reset(Start('left_foot', np.zeros(2), np.zeros(2)))
    plant.step(Command(plant.robot), 0.12)
    weight = plant.engine._support.dynamics.weight
    assert plant.truth.foot_force[0, 2] == pytest.approx(weight, rel=1e-3)
    assert -plant.truth.foot_height[0] * plant.engine.floor.stiffness == pytest.approx(
        weight, rel=1e-3
    )


def test_slope_of_the_floor_is_a_tilt_of_gravity():
    """If it failed, normals of an uneven floor, or forces along them, would be wrong."""
    slope, hips = 0.05235987755982988, []
    falling = tuple(math.tan(slope) * x for x in (5.0, -5.0))
    for overrides, lean in (
        ([('world.slope', slope)], 0.0),
        (
            [
                ('world.slope', 0.0),
                ('world.floor_places', (-5.0, 5.0)),
                ('world.floor_heights', falling),
            ],
            -slope,
        ),
    ):
        robot_file, plant = plain('compass', *overrides)
        start = robot_file.start
        plant.reset(Start(start.support, start.q + np.array([lean, 0.0]), start.v))
        plant.step(Command(plant.robot), 0.05)
        hips.append(
            (plant.truth.q[3], plant.truth.v[3], *np.linalg.norm(plant.truth.foot_force, axis=1))
        )
    assert hips[0] == pytest.approx(hips[1], rel=1e-6)


@pytest.fixture(scope='module')
def walked():
    """Return plant, ledger at the start and run of 10 s of Dribbel."""
    robot_file = load_robot('dribbel')
    plant = make_plant(robot_file, 'compliant')
    plant.reset(robot_file.start)
    before = balance(plant)
    return plant, before, run_plant(plant, ControlLoop(robot_file), robot_file.start, 10.0)


def test_every_joule_of_a_walk_is_accounted_for(walked):
    """If it failed, the contact would make or swallow energy unseen."""
    plant, before, run = walked
    assert not run.fell and run.summary()['steps'] >= 15
    energies = plant.engine.energies()
    assert balance(plant) == pytest.approx(before, rel=1e-6)
    assert min(energies[name] for name in LOSSES) >= 0.0
    assert energies['damped'] > 1.0 and energies['released'] > 0.0
    assert energies['work'] == pytest.approx(plant.truth.work.sum(), rel=1e-9)


def test_dribbel_walks_as_elsewhere(walked):
    """If it failed, a floor that hardly gives way would change the walk (MuJoCo: 0.456 m/s)."""
    assert walked[2].summary()['steady']['speed'] == pytest.approx(0.456, rel=0.03)


def test_stiff_floors_approach_the_rigid_one():
    """If it failed, the compliant plant would simulate another robot than the rigid one."""
    robot_file = load_robot('dribbel')
    rigid, errors = make_plant(robot_file, 'rigid'), []
    command = Command(robot_file.robot)
    command.lock[:] = True
    rigid.reset(robot_file.start)
    for _ in range(2):
        rigid.step(command, 0.15)
    for stiffness in (1e5, 1e6, 1e7):
        damping = 0.7 * math.sqrt(stiffness * 9.0)
        plant = make_plant(
            load_robot(
                'dribbel',
                [
                    ('compliant.stiffness', stiffness),
                    ('compliant.damping', damping),
                    ('compliant.sliding_stiffness', stiffness),
                    ('compliant.sliding_damping', damping),
                    ('compliant.timestep', 0.0002),
                ],
            ),
            'compliant',
        )
        plant.reset(robot_file.start)
        for _ in range(2):
            plant.step(command, 0.15)
        errors.append(np.abs(plant.truth.q - rigid.truth.q).max())
    assert errors[0] < 0.02
    assert errors[1] < 0.3 * errors[0] and errors[2] < 0.3 * errors[1]


def test_plain_and_compiled_agree():
    """If it failed, compiled code would be other physics than the lines that are read."""
    robot_file, slow = plain('dribbel')
    fast = make_plant(robot_file, 'compliant')
    command = Command(robot_file.robot)
    command.effort[0], command.lock[:] = 3.0, True
    for plant in (slow, fast):
        plant.reset(robot_file.start)
        plant.step(command, 0.004)
    assert slow.engine.state.y == pytest.approx(fast.engine.state.y, rel=1e-10, abs=1e-12)
    assert slow.engine.feet.flags.tolist() == fast.engine.feet.flags.tolist()


def test_round_feet_roll():
    """If it failed, a round foot would slide where it should roll, or lean on another point."""
    _, plant = plain('compass', ('slope', 0.0), ('compliant.foot_radius', 0.3))
    start = Start('left_foot', np.array([0.1, -0.2]), np.array([-1.0, 1.0]))
    plant.reset(start)
    for _ in range(10):
        plant.step(Command(plant.robot), 0.01)
    leaned = 0.1 - (-plant.truth.q[2])
    # the centre of the arc moves by the radius per angle
    centre = plant.engine.feet.touch[0, cm.PLACE] + 0.3 * math.sin(plant.truth.q[2])
    begun = 0.3 * math.sin(-0.1)
    assert centre - begun == pytest.approx(0.3 * leaned, rel=0.02)
    assert plant.engine.energies()['slipped'] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    'name, overrides, words',
    [
        ('dribbel', [('compliant.stiffness', -1.0)], 'stiffness is -1.0: must be from'),
        ('dribbel', [('compliant.damping', 1e9)], 'damping is 1000000000.0: must be from'),
        (
            'dribbel',
            [('compliant.stiffness', 1e8)],
            'timestep is 0.004: too long .* at most 0.00179',
        ),
        (
            'dribbel',
            [('world.floor_places', (0.0, 0.0)), ('world.floor_heights', (0.0, 1.0))],
            'an upright floor has no normal',
        ),
        ('dribbel', [('world.floor_places', (0.0,))], 'must have as many entries'),
    ],
)
def test_floors_that_cannot_be_are_refused(name, overrides, words):
    """If it failed, a mistaken floor would blow up, or do something else in silence."""
    with pytest.raises(InvalidInput, match=words):
        plain(name, *overrides)


@pytest.mark.parametrize('height, word', [(-0.02, 'below'), (0.02, 'above')])
def test_floor_away_from_the_start_is_refused(height, word):
    """If it failed, the robot would begin in the air or inside the floor."""
    with pytest.raises(InvalidInput, match=f'floor {word} the start is {height}'):
        load_robot(
            'dribbel',
            [('world.floor_places', (-1.0, 1.0)), ('world.floor_heights', (height, height))],
        )


@pytest.mark.long
def test_dribbel_walks_the_printed_figures_by_the_printed_rule():
    """If it failed, the page would promise a fit of [DS09] 5.3.1 that is none any more."""
    summary = fitted_walk()[1]
    assert summary['steady']['speed'] == pytest.approx(0.54, rel=0.1)
    assert summary['steady']['cost_of_transport'] == pytest.approx(0.22, rel=0.1)
    assert summary['peak_current'] == pytest.approx(7.5, rel=0.1)
    longer, deeper = asymmetry()
    assert longer > 0.01 and deeper > 0.03
