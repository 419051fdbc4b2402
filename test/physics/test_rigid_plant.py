# SPDX-License-Identifier: Apache-2.0
"""The rigid plant by its physics: energy, impacts, lift-off, stops, locks, floor changes."""

import numpy as np
import pytest

from walking_control.exceptions import IncompatiblePlant, InvalidInput, NotAchieved
from walking_control.loading import load_robot
from walking_control.models import contact
from walking_control.models.robot_file import Start, World
from walking_control.models.signals import Command
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import push_direction
from walking_control.simulation.rigid.events import kinetic_energy
from walking_control.simulation.rigid.forces import collide, evaluate
from walking_control.simulation.rigid.motion import advance


def rigid(name, *overrides):
    """Return the rigid plant of a shipped robot in its start state."""
    robot_file = load_robot(name, overrides)
    plant = make_plant(robot_file, 'rigid')
    plant.reset(robot_file.start)
    return plant


def energy(plant):
    """Return the mechanical energy, J."""
    dynamics = plant.engine._support.dynamics
    return dynamics.kinetic_energy(plant.truth.q, plant.truth.v) + dynamics.potential_energy(
        plant.truth.q
    )


def idle(plant, duration, lock=True):
    """Let the plant move without effort."""
    command = Command(plant.robot)
    command.lock[:] = lock
    plant.step(command, duration)


@pytest.mark.parametrize('name, lock', [('compass', True), ('dribbel', True), ('dribbel', False)])
def test_energy_is_conserved_in_swing(name, lock):
    """If it failed, the integration would feed or bleed the walker between impacts."""
    plant = rigid(name)
    idle(plant, 0.01, lock)
    before = energy(plant)
    for _ in range(10):
        idle(plant, 0.02, lock)
        assert energy(plant) == pytest.approx(before, rel=1e-9)
    assert plant.engine.state.mode[rm.STEPS] == 0


def test_spring_stores_and_damper_takes_energy():
    """If it failed, the hip spring would not be conservative or the damper would drive."""
    overrides = (('stiffness', 8.0), ('rest', 0.1))
    robot_file = load_robot('compass', overrides)
    plant = make_plant(robot_file, 'rigid')
    plant.reset(robot_file.start)

    def total():
        return energy(plant) + 0.5 * 8.0 * (plant.truth.q[3] - 0.1) ** 2

    before = total()
    idle(plant, 0.2)
    assert total() == pytest.approx(before, rel=1e-9)
    damped = rigid('compass', ('springs.hip.damping', 0.5))
    before = energy(damped)
    idle(damped, 0.2)
    assert energy(damped) < before - 1e-3


@pytest.mark.parametrize(
    'name, q, v',
    [
        ('compass', [-0.28, 0.6], [-1.4, -0.2]),
        ('dribbel', [-0.12, 0.0, 0.26, 0.0], [-0.9, 0, -0.1, 0]),
    ],
)
def test_touchdown_loses_what_the_projection_says(name, q, v):
    """If it failed, impacts would lose other energy than (3.45), or leave other velocities."""
    plant = rigid(name)
    plant.reset(Start(plant.robot.feet[0], np.array(q), np.array(v)))
    engine = plant.engine
    support, state, n = engine._support, engine.state, engine.model.n
    status = advance(engine.terms, engine.model, state, engine.workspace, 1.0, True)
    assert status == rm.STEPPED
    # back to the configuration at touchdown, then the velocity from the energy that was left
    q_end = np.linalg.solve(support.relabel(0), state.y[2 : n + 2])
    plant.reset(Start(plant.robot.feet[0], np.array(q), np.array(v)))
    advance(engine.terms, engine.model, state, engine.workspace, touchdown_time(plant), False)
    before = state.y.copy()
    assert before[2 : n + 2] == pytest.approx(q_end, abs=1e-9)
    terms = support.layout.split(support.terms(0, before[2 : n + 2], before[n + 4 :]))
    model = engine.model
    locks = [model.lift[0, 1 + model.lock_joint[i]] for i in range(model.n_locks)]
    rows = [np.vstack((np.eye(2), terms['jacobian'].T))] + [
        np.concatenate(([0.0, 0.0], row))[:, None] for row in locks
    ]
    A = np.hstack(rows)
    kinetic = 0.5 * before[n + 2 :] @ terms['mass'] @ before[n + 2 :]
    after = contact.project_velocity(terms['mass'], A, before[n + 2 :])
    advance(engine.terms, engine.model, state, engine.workspace, 1e-9, True)
    assert state.mode[rm.STEPS] == 1
    lost = state.memo[rm.LOSS]
    D, v = contact.loss_matrix(terms['mass'], A), before[n + 2 :]
    assert lost == pytest.approx(0.5 * v @ D @ v, abs=1e-7 * kinetic)
    assert state.y[n + 4 :] == pytest.approx(support.relabel(0) @ after[2:], abs=1e-7)


def touchdown_time(plant):
    """Return a time a hair before the first touchdown, the plant back at its start."""
    engine = plant.engine
    kept = [array.copy() for array in engine.state]
    advance(engine.terms, engine.model, engine.state, engine.workspace, 1.0, True)
    time = plant.time
    for array, values in zip(engine.state, kept):
        array[:] = values
    return time - 1e-10


def test_collision_is_the_projection():
    """If it failed, compiled impacts would differ from (3.44) and the energy from (3.45)."""
    rng = np.random.default_rng(2)
    plant = rigid('dribbel')
    engine = plant.engine
    n, support = engine.model.n, engine._support
    for _ in range(10):
        q, v = rng.uniform(-0.4, 0.4, n), rng.uniform(-1, 1, n + 2)
        engine.state.y[2 : n + 2], engine.state.y[n + 2 :] = q, v
        engine.state.mode[:] = 0
        engine.state.mode[-1] = 1  # one lock engaged, both feet free
        work = engine.workspace
        evaluate(engine.terms, engine.model, engine.state.y, engine.state.mode, work)
        terms = support.layout.split(support.terms(0, q, v[2:]))
        A = np.hstack(
            (
                np.vstack((np.eye(2), terms['jacobian'].T)),
                np.concatenate(([0.0, 0.0], engine.model.lift[0, 3]))[:, None],
            )
        )
        before = kinetic_energy(engine.model, engine.state, work)
        work.impulse[:] = 0.0
        collide(engine.model, engine.state, work, work.impulse, True)
        expected = contact.project_velocity(terms['mass'], A, v)
        assert engine.state.y[n + 2 :] == pytest.approx(expected, abs=1e-12)
        lost = before - kinetic_energy(engine.model, engine.state, work)
        assert lost == pytest.approx(0.5 * v @ contact.loss_matrix(terms['mass'], A) @ v, abs=1e-12)


def test_stance_foot_rests_and_carries_the_weight_on_average():
    """If it failed, the foot would slide or the floor's force would not carry the weight."""
    plant = rigid('compass')
    world = load_robot('compass').values(World)
    weight = 7.0 * world.gravity * np.cos(world.slope)
    momentum, impulse, dt = [], 0.0, 1e-3

    def vertical():
        dynamics = plant.engine._support.dynamics
        return (dynamics.mass_matrix(plant.truth.q) @ plant.truth.v)[1]

    momentum.append(vertical())
    forces = [plant.truth.foot_force[:, 2].sum()]
    for _ in range(300):
        idle(plant, dt)
        forces.append(plant.truth.foot_force[:, 2].sum())
    impulse = dt * (np.sum(forces) - 0.5 * (forces[0] + forces[-1]))
    assert vertical() - momentum[0] == pytest.approx(impulse - 0.3 * weight, abs=1e-4)


def test_fast_hip_takes_off_flies_and_lands():
    """If it failed, a foot would stick to the floor, or flight would not be a parabola."""
    robot_file = load_robot('compass', (('slope', 0.0),))
    plant = make_plant(robot_file, 'rigid')
    plant.reset(Start('left_foot', np.array([0.1, 0.2]), np.array([-3.4, 0.0])))
    idle(plant, 0.002)
    engine = plant.engine
    assert engine.state.mode[rm.STANCE] == 0
    assert np.all(plant.truth.foot_force == 0.0)
    before = energy(plant)
    M = engine._support.dynamics.mass_matrix(plant.truth.q)
    horizontal = (M @ plant.truth.v)[0]
    idle(plant, 0.02)
    assert engine.state.mode[rm.STANCE] == 0
    assert energy(plant) == pytest.approx(before, rel=1e-9)
    M = engine._support.dynamics.mass_matrix(plant.truth.q)
    assert (M @ plant.truth.v)[0] == pytest.approx(horizontal, rel=1e-9)
    for _ in range(10):
        idle(plant, 0.01)
    assert engine.state.mode[rm.STANCE] == 1
    assert engine.state.mode[rm.STEPS] == 1
    assert engine.state.y[1] == pytest.approx(0.0, abs=1e-12)


def test_ground_torque_goes_with_the_contact():
    """A torque of the floor must not lift the foot it acts on: it ends when the foot leaves.

    Were it counted in the free acceleration, the foot would leave and land without end.
    """
    plant = rigid('compass')
    plant.reset(Start('right_foot', (0.2215, -0.5825), (-1.2272, 0.7742)))
    command = Command(plant.robot)
    command.effort[:] = -0.77, -9.5
    plant.step(command, 0.004)
    assert plant.engine.state.mode[rm.STANCE] == 1 and plant.truth.foot_force[1, 2] > 20.0


def test_unlocked_knee_stops_at_the_kneecap():
    """If it failed, a knee would bend backwards or chatter at its stop."""
    plant = rigid('dribbel')
    for _ in range(60):
        idle(plant, 0.01, False)
        assert plant.truth.q[4:].max() < 1e-6
    assert plant.truth.q[4:].min() < -0.3


def test_armed_lock_holds_the_knee():
    """If it failed, an armed knee lock would let the knee bend."""
    plant = rigid('dribbel')
    idle(plant, 0.2)
    assert np.abs(plant.truth.q[4:]).max() < 1e-12
    assert plant.truth.locked.all()


def test_step_down_lowers_the_floor_once():
    """If it failed, a disturbance of the floor would not be where it was asked for."""
    robot_file = load_robot('compass')
    plant = make_plant(robot_file, 'rigid')
    plant.disturb('step_down', 0.01, 2)
    plant.reset(robot_file.start)
    heights = []
    while plant.time < 4.0:
        engine = plant.engine
        steps = engine.state.mode[rm.STEPS]
        idle(plant, 0.05)
        if engine.state.mode[rm.STEPS] > steps:
            heights.append(engine.state.y[1])
    assert heights == pytest.approx([0.0] + [-0.01] * (len(heights) - 1), abs=1e-12)


def test_push_changes_momentum_of_the_free_directions_only():
    """If it failed, a push would move the stance foot or give less than its impulse."""
    plant = rigid('compass')
    idle(plant, 0.1)
    engine = plant.engine
    before = engine.state.y.copy()
    plant.push(1.0)
    n = engine.model.n
    assert engine.state.y[n + 2 : n + 4] == pytest.approx([0.0, 0.0], abs=1e-12)
    terms = engine._support.layout.split(
        engine._support.terms(
            int(engine.state.mode[rm.SUPPORT]), before[2 : n + 2], before[n + 4 :]
        )
    )
    direction = push_direction(engine._support, engine.state)[2:]
    change = engine.state.y[n + 4 :] - before[n + 4 :]
    assert terms['mass'][2:, 2:] @ change == pytest.approx(direction, abs=1e-12)


def test_fallen_robot_stays():
    """If it failed, a robot would fall through the floor for ever."""
    robot_file = load_robot('compass')
    plant = make_plant(robot_file, 'rigid')
    plant.reset(Start('left_foot', np.array([0.6, -1.2]), np.array([0.5, 0.0])))
    for _ in range(300):
        idle(plant, 0.02)
    q = plant.truth.q.copy()
    assert 0.1 < q[1] < 0.4
    idle(plant, 0.1)
    assert np.array_equal(q, plant.truth.q)


def test_rigid_plant_refuses_what_it_cannot_do(edited_robot_file):
    """If it failed, a lock in mid-range would silently never engage."""

    def edit(tree):
        tree['robot']['locks']['outer_knee']['angle'] = -0.5

    robot_file = load_robot(edited_robot_file(edit))
    with pytest.raises(IncompatiblePlant, match='joint limit'):
        make_plant(robot_file, 'rigid')


def test_diverging_integration_is_an_error():
    """If it failed, a state of NaN would go on as if it were a walk."""
    plant = rigid('compass')
    command = Command(plant.robot)
    command.effort[0] = 1e300
    with pytest.raises(NotAchieved, match='diverged'):
        plant.step(command, 0.01)


def test_planned_disturbances_come_at_their_step():
    """If it failed, --disturb would do nothing, or come at another step than asked for."""
    plant = rigid('compass')
    plant.disturb('step_down', 0.008, 1)
    plant.disturb('push', 0.01, 2)
    robot_file = load_robot('compass')
    for _ in range(2):  # a second run has the same disturbances
        plant.reset(robot_file.start)
        speeds = []
        while plant.engine.state.mode[rm.STEPS] < 2 and plant.time < 3.0:
            idle(plant, 0.01)
            speeds.append(plant.truth.v[0])
        assert plant.engine.state.y[1] == pytest.approx(-0.008, abs=1e-12)
        before = plant.truth.v[0]
        idle(plant, 1e-6)
        assert plant.truth.v[0] > before + 0.005
        idle(plant, 0.01)
    for bad in (('quake', 1.0, 1), ('push', 1.0, 0), ('push', np.nan, 1)):
        with pytest.raises(InvalidInput):
            plant.disturb(*bad)
