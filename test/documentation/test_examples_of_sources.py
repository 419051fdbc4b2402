# SPDX-License-Identifier: Apache-2.0
"""The examples that let a reader run sections of the sources say what the sources say."""

from functools import partial

import circling_mass
import dribbel_measured
import foundations
import less_rotom
import numpy as np
import pinocchio as pin
import pytest
import round_feet
import statics_along
import sticking
import touching
import towards_passive

import walking_control as wc
from walking_control.design import Contacts, Mechanism, transmissibility


def test_a_mass_circles_without_work(capsys):
    """Energy beside the circle would stay there, or a force of (5.22) to (5.24) do work."""
    figures = circling_mass.main()
    assert figures['kept apart to, J'] < 1e-9 and figures['power of the forces, W'] < 1e-12
    assert figures['beside the circle at the start, J'] == pytest.approx(0.18)
    assert figures['at the end, J'] < 1e-9
    assert figures['along the circle at the end, J'] == pytest.approx(0.5, abs=1e-6)
    assert figures['coupling is skew to'] < 1e-9 and figures['energy of the ports, W'] < 1e-12
    assert 'along the circle' in capsys.readouterr().out


def test_foundations_agree(capsys):
    """An equation of the appendices, or a basic one, would not hold by its second route."""
    figures = foundations.main()
    # the printed Jacobian has a wrong sign: 2 q1, and the board's way ends with its step
    assert figures.pop('the same as printed') == pytest.approx(0.8)
    assert figures.pop('four short ways, sideways') < 1e-3
    assert {name: value for name, value in figures.items() if not value < 1e-5} == {}
    assert 'screws' in capsys.readouterr().out


def test_bodies_touch_as_printed(tmp_path, capsys):
    """Theorem and search would part, or the deformation of Fig. 3.9 pass its limit."""
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    figures = touching.main(str(tmp_path))
    assert figures['over waves by theorem, m'] == pytest.approx(figures['by search, m'], abs=1e-9)
    assert figures['interconnection is skew'] and figures['energy against power'] < 1e-6
    assert figures['ball in the floor at last, m'] > 0.02
    # (3.26): the deformation nears its limit of 1 as 1 - exp(-t), and comes back at the whole speed
    assert figures['deformation at most'] == pytest.approx(1.0 - np.exp(-2.0), abs=1e-3)
    assert -1.0 < figures['at the end'] < -0.85
    assert (tmp_path / 'slipping.svg').is_file() and 'slipping.svg' in capsys.readouterr().out


def test_round_feet_roll_as_by_hand():
    """A foot would slip where it rolls, or its touchdown be that of a point."""
    assert round_feet.synthetic_wheel() == pytest.approx(4.058, abs=1e-3)
    for radius in 0.0, 0.3, 1.0:
        share, by_hand = round_feet.lost_share(radius, 0.25)
        assert share == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.long
def test_round_feet_walk_faster(capsys):
    """A point foot would not be the compass, or a round one cost what a point does."""
    found = round_feet.main()
    assert found[0.0].speed == pytest.approx(0.7537, abs=1e-4)
    assert found[0.2].speed == pytest.approx(0.919, abs=1e-3)
    assert 'synthetic wheel' in capsys.readouterr().out


@pytest.mark.long
def test_no_posture_of_a_step_stands(tmp_path, capsys):
    """The statics would count a walk as a row of stands, or the acceleration explain nothing."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    parts = statics_along.main(str(tmp_path))
    assert not any(part.stands for part in parts)
    ahead = np.array([(part.place[0], part.moving_place[0]) for part in parts])
    assert np.ptp(ahead[:, 0]) > 0.15 and (abs(ahead[1:-1, 1]) < statics_along.SOLE[0]).all()
    middle = parts[len(parts) // 2]
    assert middle.moving_torque == pytest.approx(middle.motor, rel=0.15)
    assert middle.torque > 1.15 * middle.motor
    assert (tmp_path / 'statics_along.svg').is_file() and 'moving' in capsys.readouterr().out


@pytest.mark.long
def test_a_fit_finds_what_a_walk_was_made_with(monkeypatch):
    """Efficiency and friction would be another walk's, or ideal joints not the file's."""
    seeded = np.array([0.6, 0.0])
    monkeypatch.setattr(dribbel_measured, 'DURATION', 8.0)
    ideal = dribbel_measured.speed_and_power((1.0, 0.0))
    assert ideal == pytest.approx([0.458, 11.8], rel=0.03)
    walked = dribbel_measured.speed_and_power(seeded)
    assert (walked < ideal).all()
    values, within, missed = dribbel_measured.fit((0.66, 0.0), 0, walked, rounds=3)
    assert values == pytest.approx(seeded, abs=0.01) and 0.0 < within < 0.1
    assert (abs(missed) < 0.3 * dribbel_measured.WITHIN).all()


@pytest.mark.long
def test_dribbel_walks_as_measured(capsys):
    """The machine's speed and power would be fitted, and its magnets and its hip missed."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    fits, walks = dribbel_measured.main()
    assert fits['gear alone'][0][0] == pytest.approx(0.319, abs=0.01)
    assert fits['friction alone'][0][1] == pytest.approx(3.48, abs=0.3)
    for plant in 'rigid', 'mujoco':
        walk = walks[f'gear alone, {plant}']
        assert walk.speed == pytest.approx(dribbel_measured.SPEED, abs=0.01)
        assert walk.swing_share == pytest.approx(dribbel_measured.SWING_SHARE, abs=0.02)
        assert walk.total == pytest.approx(dribbel_measured.TOTAL, abs=0.4)
        assert walk.overshoot < 0.1 < walks['ideal joints'].overshoot
    assert 'magnets' in capsys.readouterr().out


def test_shares_of_wrenches_lie_between_0_and_1():
    """A rotation would have a share above 1, or a force another one than RoToM's."""
    robot_file = wc.load_robot('humanoid')
    dynamics = wc.Dynamics(robot_file.robot)
    contacts = Contacts(robot_file.robot.feet)
    for seed in range(4):
        posture = np.random.default_rng(seed).uniform(-0.3, 0.6, len(dynamics.joints))
        here = Mechanism(dynamics, dynamics.configuration(posture), False)
        S = less_rotom.wrench_shares(here, contacts)
        sizes = np.linalg.eigvalsh(S)
        assert -1e-12 < sizes[0] and sizes[-1] < 1.0
        assert S[:3, :3] == pytest.approx(transmissibility(here, contacts).matrix, abs=1e-9)
    # a robot that floats, and whose rotors weigh nothing, passes all of any wrench on
    light = wc.load_robot(
        'humanoid', [(f'actuators.{joint}.rotor_inertia', 0.0) for joint in dynamics.joints]
    )
    dynamics = wc.Dynamics(light.robot)
    floats = Mechanism(dynamics, dynamics.configuration(posture), False)
    assert less_rotom.wrench_shares(floats, Contacts()) == pytest.approx(np.eye(6), abs=1e-9)


def test_a_wrench_changes_the_momentum_by_its_share():
    """The share would not be that of the momentum a wrench gives in a short time."""
    robot_file = wc.load_robot('humanoid')
    dynamics = wc.Dynamics(robot_file.robot)
    here = Mechanism(dynamics, dynamics.configuration(robot_file.start.posture), False)
    contacts, model, data = Contacts(robot_file.robot.feet), dynamics.model, dynamics.data
    q = dynamics.to_pinocchio(here.q)
    C = contacts.jacobian(here)[:, np.argsort(dynamics.pinocchio_order)]
    # on what moves as the average, J = I^-1 A; the contacts by multipliers
    pin.ccrba(model, data, q, np.zeros(dynamics.nv))
    A, inertia = data.Ag.copy(), data.Ig.matrix()
    M = dynamics.mass_matrix(here.q)[np.ix_(*[np.argsort(dynamics.pinocchio_order)] * 2)]
    torque = np.array([0.0, 0.0, 0.0, 0.7, -0.2, 0.4])
    n, k = len(M), len(C)
    whole = np.block([[M, C.T], [C, np.zeros((k, k))]])
    push = A.T @ np.linalg.solve(inertia, torque)
    rates = np.linalg.lstsq(whole, np.concatenate([push, np.zeros(k)]), rcond=None)[0][:n]
    values, vectors = np.linalg.eigh(inertia)
    root = vectors @ np.diag(values**0.5) @ vectors.T
    S = less_rotom.wrench_shares(here, contacts)
    assert A @ rates == pytest.approx(root @ S @ np.linalg.solve(root, torque), abs=1e-8)


@pytest.mark.long
def test_less_rotom_needs_less_torque(capsys):
    """The posture would move its feet, or its motors need as much as before."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    found = less_rotom.main()
    first, last = found[1.0]
    assert last.force < 0.1 * first.force
    assert found['static'][-1] < 0.5 * found['static'][0]
    run = found['run']
    assert run.fault is None
    assert np.linalg.norm(run.effort[-1]) == pytest.approx(found['static'][-1], rel=0.02)
    assert 'RoToM' in capsys.readouterr().out


def test_joints_stick_within_what_gear_and_friction_hold():
    """A plant would creep where a joint sticks, or hold what no gear holds."""
    held = partial(sticking.moved, sticking.Sticking, duration=0.03)
    assert held([('hip.coulomb', 2.0)], 1.45) == pytest.approx(0.0, abs=1e-9)
    gear = [('hip.efficiency', 0.8), ('back_efficiency', 0.5), ('rotor_inertia', 0.03)]
    for load in 0.81, 1.98:  # of a motor of 1 N m: from .8 to 1 / .5
        assert held(gear, load, 1.0) == pytest.approx(0.0, abs=1e-9)
    # by hand: driving, (efficiency tau - load) t^2 / 2 over links and the rotor seen through it
    links = sticking.INERTIA + 0.25
    rises = 0.5 * (0.8 - 0.7) * 0.03**2 / (links + 0.8 * 0.03)
    sinks = 0.5 * (2.0 - 2.1) * 0.03**2 / (links + 0.03 / 0.5)
    assert held(gear, 0.7, 1.0) == pytest.approx(rises, rel=0.02)
    assert held(gear, 2.1, 1.0) == pytest.approx(sinks, rel=0.02)


def test_a_plant_that_sticks_refuses_locks():
    """Locks would be passed over in silence."""
    with pytest.raises(wc.WalkingControlError, match='takes no locks'):
        wc.make_plant(wc.load_robot('dribbel'), sticking.Sticking)


@pytest.mark.long
def test_the_compass_walks_alike_where_joints_stick(capsys):
    """Friction that sticks would make another walk than friction that fades within 1 mrad/s."""
    found = sticking.main(2.0)
    walks = [found[f'{name} walks'].summary().speed for name in ('sticking', 'rigid')]
    assert walks[0] == pytest.approx(walks[1], rel=0.02)
    assert 'mrad' in capsys.readouterr().out


@pytest.mark.long
def test_the_compass_arrives_at_its_passive_gait(capsys):
    """A continuation would end beside the gait without motors, or never lose its price."""
    places, away = towards_passive.compass()
    assert away < 1e-3
    costs = [place['cost'] for place in places]
    assert costs == sorted(costs, reverse=True) and costs[-1] < 1e-3 * costs[1]
    assert 'limit cycle' in capsys.readouterr().out


@pytest.mark.long
def test_a_family_says_where_it_ends(capsys):
    """A family without a passive end would end in silence, or its motors grow weaker for ever."""
    family = towards_passive.Family(wc.load_robot('walker3d'), towards_passive.SPEED)
    (place,) = family.downhill([0.0])
    assert place.reason is None and place.price < 0.09
    *_, last = family.weaker(place)
    assert last.reason and 0.0 < last.bound < 10.0
    assert 'no gait' in capsys.readouterr().out


def test_a_family_without_a_beginning_is_refused(monkeypatch):
    """A walk without any gait would end in an error of Python's."""
    none = towards_passive.Place(0.0, 48.0, np.nan, 0.0, np.nan, '', 'friction is missed by 2')
    monkeypatch.setattr(towards_passive.Family, 'at', lambda *_: none)
    with pytest.raises(wc.WalkingControlError, match='friction is missed by 2'):
        towards_passive.walker3d()
