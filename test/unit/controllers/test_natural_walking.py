# SPDX-License-Identifier: Apache-2.0
"""Natural walking in space: tracked gaits, and the law as a whole."""

from dataclasses import replace
import re
from types import SimpleNamespace
from xml.etree import ElementTree

from natural_walking import sinking
import numpy as np
import pinocchio as pin
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.controllers.natural_walking.books import Books
from walking_control.controllers.natural_walking.felt_floor import bump, FeltFloor
from walking_control.controllers.natural_walking.gait_motion import SMALL, turn_by
from walking_control.controllers.natural_walking.gait_plan import follow_place
from walking_control.controllers.natural_walking.gait_switch import GaitSwitch
from walking_control.controllers.natural_walking.gait_tracking import GaitTracking, pressure_shift
from walking_control.controllers.natural_walking.parameters import NaturalWalkingParameters
from walking_control.controllers.natural_walking.reference import (
    CAPTURE,
    FOOT,
    FOOT_TURN,
    GaitTable,
    part_at,
    PARTS,
    PLACE,
    PRESSURE,
    RATE,
)
from walking_control.controllers.registry import make_controller
from walking_control.controllers.stepping.body import Body
from walking_control.controllers.stepping.engine import ANKLE
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.step_plan import Step
from walking_control.controllers.stepping.trip import Trip
from walking_control.exceptions import ParameterError
from walking_control.gaits.gait import Gait
from walking_control.gaits.gait_family import GaitFamily, KEY
from walking_control.gaits.gait_file import read_document, read_phase
from walking_control.lab.experiments.bring_up.spatial import legs_alone
from walking_control.loading import load_robot
from walking_control.models.actuators import JointFriction
from walking_control.models.dynamics import Dynamics
from walking_control.models.resources import gait_path, robot_path
from walking_control.models.scale import Scale
from walking_control.runs.route import read_route
from walking_control.simulation.dart.rotors import Stepper
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.mujoco.engine import MujocoEngine
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant, simulate


@pytest.fixture(scope='module')
def walk():
    """Return seven seconds of walking at 0.8 m/s."""
    robot_file = load_robot('walker3d', controller='natural_walking', speed=0.8)
    return simulate(robot_file, duration=7.0)


@pytest.mark.parametrize('angle', [0.0, 0.5 * SMALL, 0.999 * SMALL, 1.001 * SMALL, 0.3, 3.1, 7.0])
def test_a_turn_is_that_of_pinocchio(angle):
    """Walks would change in their last digits with whatever turns them."""
    turn = angle * np.array([0.48, -0.6, 0.64])
    np.testing.assert_array_equal(turn_by(turn), pin.exp3(turn))


def test_a_law_that_is_made_stands_still():
    """Before its first tick it would say that nothing stops it: gaits move the same body."""
    body = make_controller(load_robot('walker3d'), 'natural_walking').engine.body
    assert not body.momentum.any() and not body.velocity.any()


@pytest.mark.long
def test_efforts_jump_at_a_touchdown_as_the_gait_has_it(walk):
    """A leg that has just landed would give way until its efforts are those of a stance leg.

    Beside the gait's own jump they change by 4.8 N m a tick at most, 2400 N m/s.
    """
    robot_file = load_robot('walker3d', controller='natural_walking', speed=0.8)
    table = make_controller(robot_file).tracking.table
    table.choose(0.8)
    stance = walk.telemetry['stance']
    steps = np.flatnonzero(np.diff(stance)) + 1
    for row in steps[walk.time[steps] > 4.0][:6]:
        foot = int(stance[row - 1])
        change = walk.effort[row] - walk.effort[row - 1]
        assert np.abs(change - table.jump(foot)).max() < 5.5 < np.abs(change).max()


@pytest.mark.long
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


@pytest.mark.long
def test_the_robot_stays_within_millimetres_of_the_gait(walk):
    """Place and time of steps would not be the gait's own on the gait."""
    part = walk.telemetry['part']
    late = (walk.time > 5.0) & (part > 0.05) & (part < 0.9)  # not in the impact itself
    off = np.hypot(walk.telemetry['deviation_x'], walk.telemetry['deviation_y'])
    assert off[late].max() < 0.01


@pytest.mark.long
def test_energies_are_booked_to_the_last_digit(walk):
    """Energy would come from nowhere, a tank would run dry on the gait, or efforts jump."""
    told = walk.telemetry
    booked = told['energy_injected'] - told['energy_absorbed'] - told['energy_lost']
    np.testing.assert_allclose(told['energy'] - booked, told['energy'][0] - booked[0], atol=1e-9)
    rows = np.flatnonzero(np.diff(walk.steps))[-3:]
    done = walk.work[rows[-1]].sum() - walk.work[rows[0]].sum()
    assert np.ptp(
        (told['energy_injected'] - told['energy_absorbed'])[rows[[0, -1]] + 1]
    ) == pytest.approx(done, rel=0.02)
    assert told['tank_level'].min() > 0.0
    jumps = np.abs(np.diff(walk.effort, axis=0)).max(axis=1)
    within = np.diff(told['stance']) == 0.0  # at a touchdown the gait's own jump
    assert jumps[within & (walk.time[1:] > 4.0)].max() < 5.0


def walk_over(disturb, speed, duration, **more):
    """Return a run over a floor, and the share on the gait and the price from 3 s on.

    The price is electrical, per weight and level way, less what the way up took.
    """
    robot_file = load_robot('walker3d', controller='natural_walking', speed=speed, **more)
    run = simulate(robot_file, duration=duration, disturb=disturb)
    assert run.fault is None
    late = run.time > 3.0
    way = np.ptp(run.base.position[late][[0, -1]], axis=0)
    up = np.diff(run.base.position[late][[0, -1], 2]).item()
    energy = np.ptp(run.electrical_energy[late])
    length = np.hypot(*way[:2])
    return run, run.telemetry['on_gait'][late].mean(), (energy / 98.1 - up) / length


@pytest.mark.parametrize(
    'slope, speed, most',
    [
        pytest.param(-0.1396, 0.5, 0.12, marks=pytest.mark.long),
        pytest.param(0.1396, 0.8, 0.07, marks=pytest.mark.long),
    ],
)
def test_a_ramp_is_walked_on_its_own_gait(slope, speed, most):
    """A ramp of 8 degrees would end the gait at its edge, and squatting cost eight times as much.

    `most`: price without the height, which is regained downhill in part.
    """
    run, on_gait, price = walk_over([f'slope_change={slope}@0.6m'], speed, 7.0)
    assert on_gait == 1.0 and price + min(-slope, 0.0) < most
    late = (run.time > 5.5) & (run.telemetry['part'] > 0.05) & (run.telemetry['part'] < 0.9)
    off = np.hypot(run.telemetry['deviation_x'], run.telemetry['deviation_y'])
    assert off[late].max() < 0.02


@pytest.mark.long
def test_tiles_do_not_end_the_gait():
    """A foot that met the floor early or late ended the gait, at every third tile of 2 cm."""
    heights = 0.02 * np.random.default_rng((1, 7)).uniform(0.0, 1.0, 20)
    tiles = [f'step_up={rise:.4f}@{0.5 + 0.3 * i:.4g}m' for i, rise in enumerate(np.diff(heights))]
    _, on_gait, price = walk_over(tiles, 0.5, 7.0)
    assert on_gait > 0.9 and price < 0.2


def test_a_bump_is_smooth_and_comes_down_at_a_steady_speed():
    """A foot that hurried down and then waited met a floor 5 mm lower 30 ms late, or bounced."""
    floor = FeltFloor(Scale(10.0, 0.8, 9.81))
    floor.touch(0.015)
    assert floor.roughness == pytest.approx(0.01)
    s = np.linspace(0.0, 1.0, 2001)
    height, first, second = np.array([bump(part, 1.0, floor.higher) for part in s]).T
    assert height.max() == pytest.approx(0.015) and height[-1] == height[0] == 0.0
    speeds = first[s > 0.88]
    assert speeds.max() < 0.9 * speeds.min() < -0.06
    np.testing.assert_allclose(np.gradient(height, s), first, atol=2e-3)
    np.testing.assert_allclose(np.gradient(first, s), second, atol=0.1)
    for _ in range(8):
        floor.touch(0.001)
    assert floor.roughness == 0.0 and floor.higher == 0.0


def sole(pitch):
    """Return a foot that lies still, its toe up by an angle in rad."""
    return SimpleNamespace(velocity=np.zeros(6), rotation=pin.utils.rotate('y', -pitch))


@pytest.mark.long
def test_on_a_rough_floor_it_is_right_to_land_at_any_time(monkeypatch):
    """A foot that was met 40 ms early stood 2 cm too far out, by the arc of the gait's own way."""
    off, move = [], GaitTracking._move_foot

    def moved(tracking, row, moment):
        move(tracking, row, moment)
        engine, step = tracking._engine, tracking._engine.plan.step
        if engine.steps > 3 and 0.8 < tracking.s < 0.97:
            moves = engine.fall.capture - tracking._center
            right = step.foothold - moves * np.expm1(engine.fall.rate * step.remaining)
            off.append((engine.heading.from_floor(engine.swing.position[:2]) - right)[1])

    monkeypatch.setattr(GaitTracking, '_move_foot', moved)
    monkeypatch.setattr(FeltFloor, 'rough', True)
    simulate(load_robot('walker3d', controller='natural_walking', speed=0.4), duration=2.2)
    assert len(off) > 40 and np.abs(off).max() < 0.015


@pytest.mark.long
def test_a_foot_that_hangs_on_an_edge_is_lifted_over_it():
    """A force along the floor is no contact: a foot hung by its toe until the robot had fallen."""
    for place in (0.8, 0.84, 0.88):
        walk_over([f'step_up=0.05@{place}m'], 0.5, 4.5)


@pytest.mark.long
def test_a_strip_of_5_cm_is_walked_over():
    """The next foot hung at the same edge, or the knee gave way into a free fall behind it."""
    edges = [f'step_up=0.05@{place}m' for place in (0.8, 1.8)]
    edges += [f'step_up=-0.05@{place + 0.12}m' for place in (0.8, 1.8)]
    _, on_gait, _ = walk_over(edges, 0.5, 7.0)
    assert on_gait > 0.6


@pytest.mark.long
def test_a_touchdown_is_foreseen_over_a_known_delay():
    """The law would hear of each 10 ms late, and look for the floor until then."""
    delay = [('sensors.command_delay', 0.01), ('natural_walking.delay', 0.01)]
    robot_file = load_robot('walker3d', delay, controller='natural_walking', speed=0.3)
    run = simulate(robot_file, duration=2.2)
    told = run.telemetry
    last = np.flatnonzero(np.diff(told['stance']) * told['on_gait'][1:] * told['on_gait'][:-1])
    # the second step, from the first to the gait's own length, is too far off it to be foreseen
    assert run.fault is None and np.sum(told['step_remaining'][last] > -0.002) >= 3


@pytest.mark.long
@pytest.mark.parametrize(
    'speed, sideways, most',
    [(-0.3, 0.0, 0.15), (0.0, 0.1, 0.4)],
)
def test_backwards_and_sideways_are_walked_on_gaits_of_their_own(speed, sideways, most):
    """It would squat, at several times the price."""
    sets = [('natural_walking.gait', 'walker3d_both_ways'), ('natural_walking.sideways', sideways)]
    run = simulate(
        load_robot('walker3d', sets, controller='natural_walking', speed=speed), duration=3.5
    )
    late = run.time > 2.0
    way = np.hypot(*np.ptp(run.base.position[late][[0, -1], :2], axis=0))
    assert run.fault is None and run.telemetry['on_gait'][late].all()
    assert np.ptp(run.electrical_energy[late]) / (98.1 * way) < most


def test_a_lean_beyond_the_family_turns_trunk_and_sole(table):
    """The gait of its steepest slope would be walked as if the floor leant no more."""
    ahead, across, felt = 0.2, 0.1, FeltFloor(Scale(10.0, 0.8, 9.81))
    table.choose(0.8, ahead)
    assert table.rise == pytest.approx(0.1405, abs=1e-4)
    felt.turn(ahead - table.rise, across)
    normal = felt.bank[:, 2]
    np.testing.assert_allclose(normal[:2] / normal[2], [table.rise - ahead, -across])
    table.choose(0.8)


@pytest.mark.long
def test_knees_may_turn_about_opposite_axes(tmp_path, monkeypatch):
    """The right leg of robots such as XBot-L would fold: there a knee bends the other way round."""
    path, _ = legs_alone(load_robot('walker3d'), robot_path('walker3d'), tmp_path)
    root = ElementTree.parse(tmp_path / 'walker3d_legs.urdf')
    joint = next(each for each in root.iter('joint') if each.get('name') == 'right_knee')
    joint.find('axis').set('xyz', '0 -1 0')
    limit = joint.find('limit')
    low, high = (float(limit.get(end)) for end in ('lower', 'upper'))
    limit.set('lower', str(-high))
    limit.set('upper', str(-low))
    root.write(tmp_path / 'walker3d_legs.urdf')
    path.write_text(re.sub('(right_knee: )([0-9])', r'\1-\2', path.read_text()))
    sets = [('natural_walking.gait', 'walker3d'), ('natural_walking.speed_limit', 0.6)]
    robot_file = load_robot(path, sets, controller='natural_walking', speed=0.4)
    knee, members = robot_file.robot.joint_index('right_knee'), []
    for entry in read_document(gait_path('walker3d'), KEY, {'members': list})['members']:
        if not entry.get('slope') and 0.3 < entry['found']['speed'] < 0.7:
            members.append(Gait((read_phase(entry, robot_file.robot.joints, 'walker3d'),)))
            members[-1].phases[0].values[:, knee] *= -1.0
    family = GaitFamily(robot_file, members)
    monkeypatch.setattr(GaitFamily, 'read', lambda *given: family)
    run = simulate(robot_file, duration=2.3)
    assert run.fault is None and run.telemetry['on_gait'][-350:].all()
    assert np.abs(run.base.position[-350:, 2] - 0.78).max() < 0.03


@pytest.mark.long
@pytest.mark.parametrize('sinks', [True, False])
def test_what_a_walk_was_told_wrong_is_borne(sinks):
    """A floor that sinks by 1 cm under a foot, or joints that rub, would make it fall."""
    sets, rubs = [('natural_walking.compiled', True)], {}
    robot_file = load_robot('walker3d', sets, controller='natural_walking', speed=0.5)
    if not sinks:
        rubs = {
            joint: JointFriction(viscous=0.03, coulomb=0.3) for joint in robot_file.robot.actuators
        }
    with sinking(0.01 * sinks, since=1.3):
        plant = make_plant(robot_file, robot=replace(robot_file.robot, friction=rubs))
        plan_disturbances(plant, ['step_up=0.0000001@1m'])
        run = run_plant(plant, ControlLoop(robot_file), robot_file.start, 1.9)
    assert run.fault is None and run.telemetry['on_gait'][-1] and run.q[-1, 0] > 0.3
    assert run.base.position[-1, 2] == pytest.approx(0.78 - 0.01 * sinks, abs=0.03)


def test_a_tank_of_zero_is_refused():
    """A law without a tank would divide by it, or run as if it were full."""
    with pytest.raises(ParameterError, match='tank_capacity'):
        load_robot('walker3d', [('natural_walking.tank_capacity', 0.0)])


def test_a_sole_on_an_edge_is_no_slope():
    """A toe on a tile of 2 cm would turn the gait and the trunk to a ramp of 17 degrees."""
    lean = [0.0, 0.0]
    for rough in range(2):
        for i, pitch in enumerate((0.14, 0.35)):
            floor = FeltFloor(Scale(10.0, 0.8, 9.81))
            for _ in range(2 * rough):
                floor.touch(0.03)
            for _ in range(200):
                floor.follow(np.zeros(2), sole(pitch), 0.1, True, 0.002)
            lean[i] = floor.slope[0]
        # a ramp is believed at once where the floor was even
        assert lean[0] == pytest.approx(0.0 if rough else np.tan(0.14), abs=1e-3)
        assert lean[1] == 0.0
    for _ in range(200):  # and on any floor once footholds say the same
        floor.follow(np.array([0.33, 0.0]), sole(0.35), 0.1, True, 0.002)
    assert floor.slope[0] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize('missing, uneven', [(0.04, False), (0.09, True), (0.07, True)])
def test_a_rough_floor_ends_the_gait_only_where_no_foothold_helps(missing, uneven):
    """A landing that comes early moves the fall by 10 cm; squatting costs eight times as much."""
    values = load_robot('walker3d').values(NaturalWalkingParameters)
    switch, step = GaitSwitch(0.2857), Step(np.zeros(2), 0.2, missing)
    switch.on_gait = True
    for tick in range(60):
        switch.judge(np.array([0.3, 0.0]), 0.002 * tick, True, True, 0.002)
        switch.go_on(0.2, step, uneven, values)
        assert switch.on_gait == (0.002 * tick < 0.06 or uneven and missing < 0.08)


def test_a_toe_that_scrapes_the_stair_it_leaves_does_not_land():
    """Going down it would be stood on behind the body, which falls ahead."""

    def may_land(elapsed, remaining):
        plan = SimpleNamespace(elapsed=elapsed, step=Step(np.zeros(2), remaining, 0.0))
        touchdown = SimpleNamespace(trip=Trip())
        tracking = SimpleNamespace(
            _engine=SimpleNamespace(plan=plan, touchdown=touchdown),
            table=SimpleNamespace(stride=SimpleNamespace(duration=0.34)),
        )
        return GaitTracking.may_land.fget(tracking)

    assert may_land(0.11, 0.2) and not may_land(0.11, 0.36)


def test_the_gait_is_left_for_what_grows():
    """A small push would end the gait at 30 J, or a large one be noticed too late for a step."""
    patient = load_robot('walker3d').values(NaturalWalkingParameters)
    values = replace(patient, leaving_missed=0.0)

    def on_gait_after(begin, growth, ahead=True, missing=0.0, values=values):
        switch = GaitSwitch(0.2857)
        switch.on_gait = True
        for tick in range(40):
            deviation = begin * np.exp(growth * 0.002 * tick) * np.array([ahead, not ahead])
            switch.judge(deviation, 0.002 * tick, False, True, 0.002)
            switch.go_on(0.3, Step(np.zeros(2), 0.2, missing), False, values)
        return switch.on_gait

    assert on_gait_after(0.14, 0.0) and not on_gait_after(0.16, 0.0)
    assert not on_gait_after(0.10, 4.0) and on_gait_after(0.14, -20.0)
    assert not on_gait_after(0.14, 0.0, ahead=False)  # sideways the sole is narrow
    assert on_gait_after(0.16, 0.0, True, 0.02, patient)  # the next foothold takes it
    assert not on_gait_after(0.16, 0.0, True, 0.04, patient)


def test_friction_of_joints_is_made_up_for():
    """A joint that rubs, as the robot file knows, would stay behind, and the gait be left."""
    rubs = load_robot('walker3d', [('robot.friction.left_knee.coulomb', 1.0)]).robot
    free = load_robot('walker3d').robot
    efforts = []
    for robot in (rubs, free):
        dynamics = Dynamics(robot)
        body, v = Body(dynamics), np.zeros(dynamics.nv)
        v[6 + dynamics.joints.index('left_knee')] = 2.0
        body.update(dynamics.configuration(np.full(len(dynamics.joints), 0.1)), v)
        efforts.append(body.bias.copy())
    more = efforts[0] - efforts[1]
    assert np.abs(more).sum() == pytest.approx(1.0) and more.max() == pytest.approx(1.0)


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
    books, done, before = Books(10.0, np.arange(1), True), 0.0, None
    for tick in range(20000):
        true = 0.1 * np.sin(20.0 * tick * dt)
        told = np.array([true + rng.normal(0.0, 1e-3)])
        books.work(told, told, dt)
        if before is not None:
            done += before[0] * (true - before[1])
        drive = 2.0 * np.cos(20.0 * tick * dt)  # in phase with the speed: it does work
        effort = drive - stiffness * (told - true)
        before = drive, true
        books.hold(effort, told, told)
    assert done == pytest.approx(80.0, rel=0.02)
    assert books.values[2] - books.values[3] == pytest.approx(done, rel=0.1)  # k n^2: 80 J more


def floor_meter(monkeypatch, plant):
    """Return a list whose one number becomes the work, J, of contacts, stops and dry friction."""
    work = [0.0]
    if plant == 'mujoco':

        def advance(engine, *given, plain=MujocoEngine.advance):
            before = engine.data.qvel.copy()
            trip = plain(engine, *given)
            work[0] += engine.data.qfrc_constraint @ (before + engine.data.qvel) * 5e-4
            return trip

        monkeypatch.setattr(MujocoEngine, 'advance', advance)
    else:
        pytest.importorskip('dartpy', reason='plant dart needs the package dartpy')

        def step(self, force, plain=Stepper.step):
            before = self.links.getVelocities().copy()
            plain(self, force)
            work[0] += 0.5 * self._impulse @ (before + self.links.getVelocities())

        monkeypatch.setattr(Stepper, 'step', step)
    return work


@pytest.mark.long
@pytest.mark.parametrize('plant', ['mujoco', 'dart'])
def test_books_are_those_of_motors_and_floor(monkeypatch, plant):
    """The energy put in would be that of another walk, or more be lost than the floor takes."""
    work, taken = floor_meter(monkeypatch, plant), []
    robot_file = load_robot('walker3d', controller='natural_walking', speed=0.8)
    simulated = make_plant(robot_file, plant)
    assert simulated.resolution == 1e-3
    run = run_plant(
        simulated,
        ControlLoop(robot_file),
        robot_file.start,
        5.0,
        listen=lambda *_: taken.append(work[0]),
    )
    first, *_, last = np.flatnonzero(np.diff(run.steps) * (run.time[1:] > 3.0)) + 1
    told = {name: np.ptp(column[[first, last]]) for name, column in run.telemetry.items()}
    booked = told['energy_injected'] - told['energy_absorbed']
    given = np.ptp(run.work.sum(axis=1)[[first, last]])
    assert booked == pytest.approx(given, rel=0.02)
    floor = -np.diff(np.array(taken[-len(run.time) :])[[first, last]])
    assert told['energy_lost'] == pytest.approx(floor, rel=0.02)


@pytest.fixture(scope='module')
def table():
    """Return the table of the shipped gaits."""
    return make_controller(load_robot('walker3d', controller='natural_walking')).tracking.table


def test_a_knee_bends_by_as_much_as_the_next_foothold_is_lower(table, monkeypatch):
    """Knees that are straight at another angle than zero would bend too far, or too little."""
    robot_file = load_robot('walker3d', controller='stepping')
    root = ElementTree.fromstring(robot_file.robot.urdf)
    for joint in root.findall('joint'):
        if joint.get('name').endswith('ankle_pitch'):
            joint.find('origin').set('xyz', '0.1 0 -0.4')  # straight at 0.24 rad
    robot = replace(robot_file.robot, urdf=ElementTree.tostring(root, encoding='unicode'))
    engine = make_controller(replace(robot_file, robot=robot)).engine
    tracking, angle, lengths = GaitTracking(engine, table, robot_file.scale), 0.6, []
    monkeypatch.setattr(type(engine.floor), 'next_drop', 0.03)
    tracking._foresee_drop(angle)
    model, data = engine.dynamics.model, engine.dynamics.data
    for bend in 0.0, tracking._bend:
        posture = np.zeros(len(robot.joints))
        posture[engine.body.knees[0]] = angle + bend
        engine.body.update(engine.dynamics.configuration(posture), np.zeros(engine.dynamics.nv))
        hip, ankle = (
            data.oMi[model.getJointId(f'left_{name}_pitch')].translation
            for name in ('hip', 'ankle')
        )
        lengths.append(np.linalg.norm(hip - ankle))
    assert lengths[0] - lengths[1] == pytest.approx(0.03, abs=1e-6)


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


@pytest.mark.parametrize('rise', [0.1405, 0.03, -0.0699, -0.2])
def test_a_step_on_a_slope_ends_where_the_next_begins(table, rise):
    """Feet would be set down into the slope or above it, and each step begin off its gait."""
    stride = table.choose(0.8, rise)
    end, begin = table.row(1.0, 0), table.row(0.0, 1)
    np.testing.assert_allclose(end[FOOT][:3], [*stride.way, 0.0], atol=2e-3)
    np.testing.assert_allclose(begin[FOOT][:3], -end[FOOT][:3], atol=2e-3)
    np.testing.assert_allclose(begin[CAPTURE], end[CAPTURE] - stride.way, atol=2e-2)
    sole = pin.exp3(end[FOOT_TURN][:3])  # of the foot that lands: flat on the floor
    assert -sole[0, 2] / sole[2, 2] == pytest.approx(max(rise, -0.1405), abs=1e-3)
    assert table.rise == pytest.approx(max(rise, -0.1405), abs=1e-4)
    table.choose(0.8)


def test_energy_beyond_the_gait_is_the_deviation(table):
    """The pressure would regulate something else than (5.27) does: at one place on the curve
    E - E_gait = m x' w delta, x' the mean of both, and (p - p_gait) = k delta ends it as e^-kwt.
    """
    stride, gain, mass = table.choose(0.8), 2.0, 10.0
    row = table.row(0.4, 0)
    rate, place = row[RATE], row[PLACE]
    assert part_at(table.tables.rows, table.places, place) == pytest.approx(0.4, abs=1e-3)
    gait = rate * (row[CAPTURE][0] - place)  # of a pendulum there: xi = x + x' / w
    assert gait == pytest.approx(stride.speed, rel=0.3)
    velocity = gait + 0.05

    def energy(x, v):
        return 0.5 * mass * (v**2 - (rate * x) ** 2)

    deviation = place + velocity / rate - row[CAPTURE][0]
    more = energy(place, velocity) - energy(place, gait)
    assert more == pytest.approx(mass * 0.5 * (gait + velocity) * rate * deviation)
    # both go on from there, the gait's pressure at the foot: at each place they are compared
    dt, x, v, time, began = 1e-5, place, velocity, 0.0, more
    while x < place + 0.05:
        v_gait = np.sqrt(gait**2 + rate**2 * (x**2 - place**2))
        v += dt * rate**2 * (x - gain * (v - v_gait) / rate)
        x, time = x + dt * v, time + dt
    v_gait = np.sqrt(gait**2 + rate**2 * (x**2 - place**2))
    left = 0.5 * mass * (v**2 - v_gait**2)
    assert left == pytest.approx(began * np.exp(-gain * rate * time), rel=0.03)


@pytest.mark.parametrize('gain, axis', [(1.0, 1), (2.0, 1), (0.5, 0), (2.0, 0)])
@pytest.mark.parametrize('pace', [1.0, 0.7])
def test_sideways_or_by_a_clock_the_deviation_goes_as_the_page_says(gain, axis, pace):
    """By a clock a deviation stays at k = 1, and at a pace T s' of the gait the page's equation
    delta' = w (1 - k) delta - w (T s' - 1) (xi_gait - p_gait) would be another law's.
    """
    rate, dt, pressure = 3.6, 1e-5, np.array([0.01, -0.02])
    gait = np.array([0.05, -0.06])  # divergent component; at a pace s' it falls so much faster
    mine, expected = gait.copy(), 0.01
    mine[axis] += expected
    for _ in range(10000):
        own = pressure + pressure_shift(mine - gait, gain, True)
        off = (pace - 1.0) * (gait - pressure)[axis]
        expected += dt * rate * ((1.0 - gain) * expected - off)
        gait += dt * pace * rate * (gait - pressure)
        mine += dt * rate * (mine - own)
    assert (mine - gait)[axis] == pytest.approx(expected, rel=1e-6)
    if pace == 1.0:
        assert expected == pytest.approx(0.01 * np.exp(rate * (1.0 - gain) * 0.1), rel=1e-3)


def test_the_part_of_the_step_follows_the_place_critically_damped(table):
    """A filter that swings would make a gait that hurries and waits; one that is slow, a clock."""
    stride, rate, dt, behind = table.choose(0.8), 15.0, 1e-4, 0.02
    (s, pace), true = (0.3, 1.0), 0.3 + behind
    place = [table.row(part, 0)[PLACE] for part in PARTS]
    for tick in range(1, 1501):
        part = part_at(table.tables.rows, table.places, np.interp(true, PARTS, place))
        s, pace = follow_place(s, pace, part, rate, dt, stride.duration)
        s += dt * pace / stride.duration  # as between two plans
        true += dt / stride.duration
        half = 0.5 * rate * dt * tick
        assert true - s == pytest.approx(behind * (1.0 - half) * np.exp(-half), abs=2e-4)


def test_a_sole_reaches_so_far_beyond_the_gaits_pressure(table):
    """The page's reason why the whole of 5.2 is not built: forces of 2 to 6 N, m w^2 dp."""
    table.choose(0.8)
    rows = np.array([table.row(s, 0) for s in np.linspace(0.1, 0.9, 41)])
    ahead, out = rows[:, PRESSURE].mean(axis=0)
    long, wide = 0.5 * ANKLE * np.array([0.10, 0.05])
    reach = np.array([long - ahead, long + ahead, wide - out, wide + out])
    np.testing.assert_allclose(reach, [0.05, 0.04, 0.015, 0.03], atol=0.002)
    forces = 10.0 * rows[:, RATE].mean() ** 2 * reach
    assert 1.9 < forces.min() and forces.max() < 6.1


def test_lengths_times_and_speeds_grow_with_the_robot():
    """A base that sinks at 1 m/s is slow on Atlas, and falls on a robot of 30 cm."""
    own = set(NaturalWalkingParameters.rows) - set(SteppingParameters.rows)
    for name in own:
        row = NaturalWalkingParameters.rows[name]
        assert row.scaled or row.unit not in ('m', 's', 'm/s', 'N m/s', 'J'), name


def test_an_empty_tank_cuts_what_injects_alone():
    """A law that pays for more than its gait would go on, or could not brake any more."""
    behind, ahead = np.array([-0.02, 0.01]), np.array([0.02, 0.01])
    np.testing.assert_allclose(pressure_shift(behind, 2.0, True), [-0.04, 0.02])
    np.testing.assert_allclose(pressure_shift(behind, 2.0, False), [0.0, 0.02])
    np.testing.assert_allclose(pressure_shift(ahead, 2.0, False), [0.04, 0.02])
    np.testing.assert_allclose(pressure_shift(ahead, 2.0, False, -1.0), [0.0, 0.02])
    np.testing.assert_allclose(pressure_shift(behind, 2.0, False, -1.0), [-0.04, 0.02])


@pytest.mark.long
def test_a_small_push_is_taken_back_within_its_step():
    """By a clock a deviation stays, 43 mm of this push, for the next foothold to pay for."""
    robot_file = load_robot('walker3d', controller='natural_walking', speed=0.8)
    run = simulate(robot_file, duration=6.4, disturb=['push=0.15@16.125:direction=0'])
    assert run.fault is None
    pushed = np.flatnonzero(np.diff(run.steps))[15] + 50
    end = pushed + np.flatnonzero(np.diff(run.telemetry['stance'][pushed:]))[0]
    assert 0.01 < run.telemetry['deviation_x'][end - 5] < 0.035
    assert run.telemetry['on_gait'][pushed:].all()


def test_hips_with_arms_between_their_axes_are_no_knees():
    """A robot whose hip axes do not meet would be held up by a hip and fall at its first step."""
    robot = load_robot('walker3d').robot
    link = '<parent link="left_hip_yaw_link"/>'
    moved = robot.urdf.replace(f'xyz="0 0 0"/>{link}', f'xyz="0 0.06 -0.1"/>{link}')
    assert moved != robot.urdf
    dynamics = Dynamics(replace(robot, urdf=moved))
    assert dynamics.joints[Body(dynamics).knees[0]] == 'left_knee'
