# SPDX-License-Identifier: Apache-2.0
"""Friction and gear losses by their physics, on every plant."""

from dataclasses import replace

from joint_modes import GearedJoints, solve_joints
import numpy as np
import pytest

from walking_control.exceptions import IncompatiblePlant, InvalidInput
from walking_control.lab.experiments.resimulation import simulate_pinned_step
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.friction import entering_torque, gear_change, gear_table
from walking_control.models.robot_file import Start
from walking_control.models.signals import Command
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid.compiled import Walker
from walking_control.simulation.rigid.forces import accelerate
from walking_control.simulation.simulate import simulate

PLANTS = ['rigid', 'mujoco']
FADE = 1e-3  # rad/s
INERTIA = 0.1  # kg m^2, of a leg about the hip, where its mass lies


def balanced_compass(*overrides, com=0.0):
    """Return the robot file of a compass that any plant takes: legs with inertia, no ankle."""
    robot_file = load_robot('compass', [('leg_com', com), ('leg_inertia', INERTIA), *overrides])
    return replace(robot_file, robot=replace(robot_file.robot, ground_torque=None))


def swing(name, robot_file, effort, rate, duration=0.1):
    """Return time, rate of the swing leg in space and of the hip, energy, work of a short swing."""
    if name == 'mujoco':
        pytest.importorskip('mujoco')
    plant, dynamics = make_plant(robot_file, name), Dynamics(robot_file.robot)
    plant.reset(Start('left_foot', np.array([0.0, 0.3]), np.array([0.0, rate])))
    command, rows = Command(robot_file.robot), []
    command.effort[:] = effort
    for _ in range(round(duration / 0.002)):
        plant.step(command, 0.002)
        q, v = plant.truth.q, plant.truth.v
        energy = dynamics.kinetic_energy(q, v) + dynamics.potential_energy(q)
        # pitch is about +y, the hip about -y
        rows.append((plant.time, v[3] - v[2], v[3], energy, plant.truth.work[0]))
    return np.array(rows).T


@pytest.mark.parametrize('name', PLANTS)
def test_dry_friction_slows_a_leg_at_a_constant_rate(name):
    """Dry friction would not be mu: a leg hung in its mass loses mu / I of its rate a second."""
    robot_file = balanced_compass(('hip.coulomb', 0.5))
    time, rate, *_ = swing(name, robot_file, 0.0, 2.0)
    # the leg itself, whatever the other one does: nothing else turns it
    assert rate == pytest.approx(2.0 - 0.5 / INERTIA * time, abs=2e-9 if name == 'rigid' else 0.01)


@pytest.mark.parametrize('name', PLANTS)
def test_viscous_friction_decays_exponentially(name):
    """Viscous friction would not grow with the rate of the joint."""
    robot_file = balanced_compass(('hip.viscous', 0.2), ('hip_mass', 1e6), ('slope', 0.0))
    time, rate, *_ = swing(name, robot_file, 0.0, 2.0)
    assert rate == pytest.approx(2.0 * np.exp(-0.2 / INERTIA * time), rel=3e-3)


@pytest.mark.parametrize('name', PLANTS)
@pytest.mark.parametrize('effort', [1.0, -1.0])
def test_a_gear_passes_its_share_and_takes_its_toll(name, effort):
    """Raising would cost less, or lowering give back more, than efficiencies allow.

    The leg gains the share of what the motor gives beside its rotor; held back, it loses more
    than the motor takes.
    """
    robot_file = balanced_compass(
        ('actuators.hip.efficiency', 0.8),
        ('back_efficiency', 0.5),
        ('rotor_inertia', 0.03),
        ('slope', 0.0),
        com=0.4,
    )
    _, _, hip, energy, work = swing(name, robot_file, effort, 3.0, 0.08)
    assert (hip > 0.0).all()  # one way all along
    first = 15  # MuJoCo's floor has given way by then
    rotor = 0.5 * 0.03 * (hip[-1] ** 2 - hip[first] ** 2)
    links = energy[-1] - energy[first] - rotor
    entered = work[-1] - work[first] - rotor  # past the rotor, into the gear
    assert abs(entered) > 0.03
    share = 0.8 if entered > 0.0 else 1.0 / 0.5
    assert links == pytest.approx(share * entered, rel=1e-6 if name == 'rigid' else 0.02)


@pytest.mark.parametrize(
    'overrides',
    [
        [('hip.coulomb', 0.5)],
        [('hip.viscous', 0.5), ('outer_knee.viscous', 0.1)],
        [('inner_knee.coulomb', 0.1)],
        [('hip.efficiency', 0.5)],
        [('hip.efficiency', 0.6), ('back_efficiency', 0.4), ('hip.coulomb', 0.5)],
    ],
)
@pytest.mark.parametrize('effort', [2.0, -2.0])
def test_plants_move_alike(overrides, effort):
    """A passive element would be left out, or be another one, on one of the plants."""
    pytest.importorskip('mujoco')
    runs = []
    for name, changes in (('rigid', overrides), ('mujoco', overrides), ('rigid', [])):
        robot_file = load_robot('dribbel', changes)
        plant = make_plant(robot_file, name)
        plant.reset(
            Start('outer_foot', np.array([0.0, 0.0, 0.5, -0.4]), np.array([-0.3, 0.0, 1.0, 0.0]))
        )
        command = Command(robot_file.robot)
        command.effort[:] = effort
        command.lock[:] = True, False
        rates = []
        for _ in range(24):
            plant.step(command, 0.005)
            rates.append(plant.truth.v[3:].copy())
        runs.append(np.array(rates)[6:])  # MuJoCo's floor has given way by then
    effect = np.abs(runs[0] - runs[2]).max()
    assert effect > 0.05
    # where a joint turns back, MuJoCo's friction holds it for a few milliseconds
    assert runs[0] == pytest.approx(runs[1], abs=max(0.012, 0.1 * effect))


def test_power_flows_the_way_the_mode_says():
    """Gears would take power they do not have: driven the wrong way, or losing what is not there.

    1000 random states and efforts of a motor with a heavy rotor: what the links get is what
    enters the gear, by its efficiency.
    """
    robot_file = load_robot(
        'dribbel', [('hip.efficiency', 0.7), ('back_efficiency', 0.3), ('rotor_inertia', 2e-4)]
    )
    plant, ideal = (
        make_plant(robot_file, 'rigid'),
        make_plant(load_robot('dribbel', [('rotor_inertia', 0.0)]), 'rigid'),
    )
    ((armature, driving, back),) = gear_table(robot_file.robot)
    engine = plant.engine
    rng, size = np.random.default_rng(5), engine.model.n + 2
    modes = []
    for _ in range(50):
        q, v = rng.normal(0.0, 0.4, 4), rng.normal(0.0, 2.0, 4)
        plant.reset(Start('outer_foot', q, v))
        engine.state.mode[4:] = 0
        ideal.reset(Start('outer_foot', q, v))
        for effort in rng.normal(0.0, 8.0, 20):
            engine.state.effort[:] = effort
            accelerate(
                engine.terms,
                engine.model,
                engine.state.y,
                engine.state.mode,
                engine.state.effort,
                engine.workspace,
            )
            a = engine.workspace.acceleration
            entering = effort - armature * a[4]
            leaving = entering * (1.0 + gear_change(driving, back, entering, v[2], FADE))
            modes.append(entering * v[2] > 0.0)
            # the links alone, without rotor
            terms = ideal.engine._support.layout.split(ideal.engine._support.terms(0, q, v))
            wanted = terms['mass'][2:] @ a + terms['bias'][2:]
            assert wanted == pytest.approx(
                np.array([0.0, 0.0, leaving, 0.0]), abs=1e-9 * max(1.0, np.abs(terms['bias']).max())
            )
            assert (leaving - entering) * v[2] <= 0.0
    assert size == 6 and 0.2 < np.mean(modes) < 0.8


def test_plant_accelerates_as_the_exact_joints():
    """The plant's search for the modes would end in others than the only ones that fit."""
    robot_file = load_robot(
        'dribbel',
        [
            ('hip.efficiency', 0.7),
            ('back_efficiency', 0.3),
            ('rotor_inertia', 2e-4),
            ('hip.coulomb', 0.4),
            ('hip.viscous', 0.2),
            ('inner_knee.coulomb', 0.1),
        ],
    )
    plant, ideal = (
        make_plant(robot_file, 'rigid'),
        make_plant(load_robot('dribbel', [('rotor_inertia', 0.0)]), 'rigid'),
    )
    ((armature, _, _),), rng = gear_table(robot_file.robot), np.random.default_rng(8)
    joints = GearedJoints(
        np.array([0.0, 0.0, armature, 0.0]),
        np.array([1.0, 1.0, 0.7, 1.0]),
        np.array([1.0, 1.0, 0.3, 1.0]),
        np.array([0.0, 0.0, 0.4, 0.1]),
        np.array([0.0, 0.0, 0.2, 0.0]),
    )
    for q, v, effort in zip(
        rng.normal(0.0, 0.4, (200, 4)), rng.normal(0.0, 2.0, (200, 4)), rng.normal(0.0, 8.0, 200)
    ):
        v[2:] += 0.05 * np.sign(v[2:])  # well above the fade
        plant.reset(Start('outer_foot', q, v))
        engine = plant.engine
        engine.state.mode[4:] = 0
        engine.state.effort[:] = effort
        accelerate(
            engine.terms,
            engine.model,
            engine.state.y,
            engine.state.mode,
            engine.state.effort,
            engine.workspace,
        )
        terms = ideal.engine._support.layout.split(ideal.engine._support.terms(0, q, v))
        motion = solve_joints(
            terms['mass'][2:, 2:], terms['bias'][2:], np.array([0.0, 0.0, effort, 0.0]), v, joints
        )
        assert engine.workspace.acceleration[2:] == pytest.approx(
            motion.acceleration, rel=1e-8, abs=1e-8
        )


@pytest.mark.parametrize('name', PLANTS)
def test_a_held_joint_creeps_no_faster_than_said(name):
    """A joint that friction ought to hold would slide away, or one it cannot hold would stay."""
    coulomb, load = 0.5, 0.4
    robot_file = balanced_compass(('hip.coulomb', coulomb), ('slope', 0.0))
    _, _, rate, *_ = swing(name, robot_file, load, 0.0, 0.05)
    said = FADE * np.arctanh(load / coulomb) if name == 'rigid' else 1.7e-3
    assert 0.0 <= rate[-1] <= said * (1.0 + 1e-3)
    _, _, rate, *_ = swing(name, robot_file, 1.2 * coulomb, 0.0, 0.05)
    assert rate[-1] > 0.01


def test_what_a_law_asks_for_arrives():
    """A law that knows the gear would give it too much or too little."""
    rng = np.random.default_rng(2)
    for leaving, rate in rng.normal(0.0, [5.0, 0.01], (200, 2)):
        x = entering_torque(0.2, 0.4, leaving, rate, FADE)
        assert x * (1.0 + gear_change(0.2, 0.4, x, rate, FADE)) == pytest.approx(leaving)


def test_plain_and_compiled_agree():
    """Sweeps and cycles would brake joints otherwise than simulate does."""
    pytest.importorskip('casadi')
    pytest.importorskip('numba')
    robot_file = load_robot(
        'dribbel',
        [
            ('hip.coulomb', 0.1),
            ('inner_knee.viscous', 0.02),
            ('outer_knee.viscous', 0.02),
            ('hip.efficiency', 0.8),
        ],
    )
    states = []
    for walker in (Walker(robot_file, compiled=False), Walker(robot_file)):
        walker.start(0, robot_file.start.q, robot_file.start.v)
        walker.walk(1.0)
        states.append(walker.state.y.copy())
    assert states[0] == pytest.approx(states[1], abs=1e-6)
    assert states[0][0] > 0.1


def test_none_is_none():
    """Friction of nothing would change runs by rounding: old runs could not be repeated."""
    ends = []
    for overrides in ([], [('hip.coulomb', 0.0), ('hip.viscous', 0.0), ('hip.efficiency', 1.0)]):
        plant = make_plant(load_robot('dribbel', overrides), 'rigid')
        plant.reset(load_robot('dribbel').start)
        plant.step(Command(plant.robot), 0.05)
        ends.append(plant.engine.state.y.tobytes())
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    'name, value, words',
    [
        ('robot.friction.hip.coulomb', -0.1, 'must be from 0 to'),
        ('robot.friction.hip.viscous', -1.0, 'must be from 0 to'),
        ('robot.actuators.hip.efficiency', 0.0, 'must be from 0.01 to 1'),
        ('robot.actuators.hip.efficiency', 1.2, 'must be from 0.01 to 1'),
        ('robot.actuators.hip.back_efficiency', -0.5, 'must be from 0.01 to 1'),
    ],
)
def test_what_would_drive_is_refused(name, value, words):
    """Negative friction or an efficiency above 1 would feed the robot energy."""
    with pytest.raises(InvalidInput, match=words) as caught:
        load_robot('dribbel', [(name, value)])
    assert name.rpartition('.')[2] in str(caught.value) and '\n' not in str(caught.value)


def test_unknown_joint_is_refused(edited_robot_file):
    """Friction of a misspelt joint would brake nothing, silently."""
    path = edited_robot_file(lambda tree: tree['robot'].update(friction={'hop': {'coulomb': 0.1}}))
    with pytest.raises(InvalidInput, match='hop .*did you mean hip'):
        load_robot(path)


def test_back_efficiency_is_efficiency_unless_written():
    """A gear with one printed efficiency would be driven back without loss."""
    motor = load_robot('dribbel', [('hip.efficiency', 0.8)]).robot.actuators['hip']
    assert (motor.efficiency, motor.back_efficiency) == (0.8, 0.8)


def test_urdf_dynamics_are_the_default(edited_robot_file, tmp_path):
    """<dynamics> of a URDF would act on MuJoCo alone, or not at all; the robot file comes first."""
    urdf = load_robot('dribbel').robot.urdf.replace(
        '<joint name="hip" type="revolute">',
        '<joint name="hip" type="revolute"><dynamics damping="0.3" friction="0.2"/>',
    )
    (tmp_path / 'rubs.urdf').write_text(urdf)

    def load(**friction):
        path = edited_robot_file(
            lambda tree: tree['robot'].update(urdf=str(tmp_path / 'rubs.urdf'), friction=friction)
        )
        return load_robot(path).robot.friction['hip']

    assert (load().viscous, load().coulomb) == (0.3, 0.2)
    written = load(hip={'coulomb': 0.1})
    assert (written.viscous, written.coulomb) == (0.3, 0.1)
    (tmp_path / 'rubs.urdf').write_text(urdf.replace('friction="0.2"', 'friction="-0.2"'))
    with pytest.raises(InvalidInput, match='friction of joint hip is -0.2: must not be negative'):
        load()


@pytest.mark.parametrize('name', ['trunk_roll.coulomb', 'left_leg_pitch.viscous'])
def test_legs_without_mass_have_no_friction(name):
    """Friction would be written in the robot file and act nowhere."""
    with pytest.raises(IncompatiblePlant, match='friction of .* cannot act .* take it out'):
        make_plant(load_robot('walker3d_point', [(name, 0.1)]), 'rigid')


def test_pinned_step_has_no_gears():
    """A step in space would be judged without the losses its robot file states."""
    pytest.importorskip('scipy')
    robot_file = load_robot('walker3d_point')
    motor = replace(load_robot('dribbel').robot.actuators['hip'], efficiency=0.8)
    robot_file = replace(
        robot_file, robot=replace(robot_file.robot, actuators={'trunk_pitch': motor})
    )
    with pytest.raises(IncompatiblePlant, match='efficiency'):
        simulate_pinned_step(robot_file, None)


@pytest.mark.long
def test_a_law_makes_up_for_known_losses():
    """Friction and gear that the robot file states would change the walk that a law asks for."""
    losses = [('hip.coulomb', 0.3), ('hip.viscous', 0.1), ('hip.efficiency', 0.8)]
    share = 'curve_tracking.friction_compensation'
    joints = []
    for overrides in ([], losses, [*losses, (share, 0.0)]):
        robot_file = load_robot('dribbel', [('plant', 'rigid'), *overrides])
        run = simulate(robot_file, 'curve_tracking', duration=0.5)
        # at the start all three ask for more current than there is
        joints.append(run.joints[150:250])
    # what is left: rates within `compensation_fade`, and efforts held for a tick
    made_up, ignored = (np.abs(moved - joints[0]).max() for moved in joints[1:])
    assert ignored > 0.03 and made_up < 0.2 * ignored
