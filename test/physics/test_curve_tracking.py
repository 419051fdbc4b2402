# SPDX-License-Identifier: Apache-2.0
"""Curve tracking as a controller of the compass: on its gait, off it, and with bad input."""

from dataclasses import replace

import numpy as np
import pytest
from tracked import sensed

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import read_telemetry
from walking_control.controllers.curve_tracking import observation as motion
from walking_control.controllers.curve_tracking import tick as tracker
from walking_control.controllers.curve_tracking.controller import (
    build_tracker,
    CurveTracking,
    load_gait,
)
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.curve_tracking.vector_field import apply_field
from walking_control.controllers.parameters import TimePdParameters
from walking_control.controllers.time_pd import TimePd
from walking_control.exceptions import InvalidInput, ParameterError
from walking_control.gaits.gait import GaitError
from walking_control.gaits.gait_file import load_gait as load_file_gait
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.resources import gait_path, share_directory
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.models.support.dynamics import effort_map, SupportDynamics
from walking_control.runs.metrics import summarize
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid.compiled import Walker
from walking_control.simulation.rigid.model import DONE, STEPS, WORK
from walking_control.simulation.simulate import run_plant


@pytest.fixture
def compass():
    """Return the compass's robot file."""
    return load_robot('compass')


def law(robot_file, **values):
    """Return a `CurveTracking` of a robot file."""
    return CurveTracking(robot_file, CurveTrackingParameters.read(values))


def tick(controller, robot_file, q, v, support=0):
    """Return the effort at a state just after a touchdown."""
    state, command = WalkerState(robot_file.robot), Command(robot_file.robot)
    state.coordinates[:], state.rates[:] = q, v
    state.support, state.contact[support] = support, True
    controller.reset(state)
    controller.update(state, Reference(), 0.002, command)
    return command.effort.copy()


def test_natural_gait_needs_no_effort(compass):
    """On the passive gait nominal and potential efforts must cancel: 0.01 (N m)^2 s is the
    bound."""
    controller = law(compass)
    (gait,) = load_gait(compass.robot, controller.values.gait, compass.values(World)).pieces
    for q, v in zip(gait.q[::5], gait.v[::5], strict=True):
        assert np.abs(tick(controller, compass, q, v)).max() < 1e-3
        parts = controller.parts
        assert parts[tracker.NOMINAL] == pytest.approx(-parts[tracker.COMPENSATION], abs=1e-3)
    assert np.abs(controller.parts[tracker.NOMINAL]).max() < 5.0
    assert controller.report[tracker.UNDESIRED] < 1e-9


def test_kneed_gait_needs_no_effort_in_any_piece():
    """Free and locked swing knee are two mechanisms; on Dribbel's gait both must need nothing.

    Just after touchdown the knee of the new swing leg still waits to be released: if the law took
    that for the end of the step, it would act with all it has. Where the knees are held as in no
    piece, the law must leave the walker alone.
    """
    dribbel = load_robot('dribbel', [('world.slope', np.radians(1.5))])
    robot, controller = dribbel.robot, law(dribbel, gait='dribbel_passive')
    state, command = WalkerState(robot), Command(robot)
    controller.reset(state)
    to_joints = np.linalg.inv(robot.supports[robot.feet[0]])

    def update(q, v, locked, contact):
        state.coordinates[:], state.rates[:] = q, v
        state.locked[:], state.contact[:] = locked, contact
        state.position[:], state.velocity[:] = (to_joints @ q)[1:], (to_joints @ v)[1:]
        controller.update(state, Reference(), 0.002, command)
        return abs(command.effort[0])

    gait = load_gait(robot, controller.values.gait, dribbel.values(World))
    first = gait.pieces[0]
    i = np.flatnonzero(first.inside)[0]
    for _ in range(3):
        assert update(first.q[i], first.v[i], (True, True), (True, True)) < 1e-4
    assert controller.report[tracker.TRUST] == 1.0
    for piece in gait.pieces:
        for q, v in zip(piece.q[piece.inside][::4], piece.v[piece.inside][::4], strict=True):
            assert update(q, v, (True, 3 in piece.held), (True, False)) < 1e-4
            assert controller.report[tracker.TRUST] == 1.0
            assert np.abs(controller.parts[tracker.NOMINAL]).max() > 0.1
    assert update(q, v + [0.0, 0.0, 0.1, 0.0], (True, True), (True, False)) > 1e-3
    assert update(q, v, (False, True), (True, False)) == 0.0
    assert controller.report[tracker.TRUST] == 0.0


def test_feet_are_equal(compass):
    """The same posture on either foot must get mirrored hip and equal ground torque."""
    controller = law(compass)
    q, v = np.array([0.05, 0.1]), np.array([-0.7, 1.9])
    left, right = (tick(controller, compass, q, v, support) for support in (0, 1))
    assert np.abs(left).min() > 0.05
    assert right == pytest.approx([-left[0], left[1]], abs=1e-9)


def test_energies_add_up(compass):
    """Potential and both kinetic energies must be those of the whole robot by Pinocchio."""
    controller, rng = law(compass), np.random.default_rng(8)
    world = compass.values(World)
    dynamics, totals = Dynamics(compass.robot, world.gravity, world.slope), []
    for _ in range(4):
        q, v = rng.uniform(-0.3, 0.3, 2), rng.normal(size=2)
        tick(controller, compass, q, v)
        base_q, base_v = dynamics.base_from_coordinates('left_foot', q, v)
        report = controller.report
        assert report[tracker.DESIRED] + report[tracker.UNDESIRED] == pytest.approx(
            dynamics.kinetic_energy(base_q, base_v), rel=1e-9
        )
        assert report[tracker.POTENTIAL] == pytest.approx(
            dynamics.potential_energy(base_q), rel=1e-9
        )
        totals.append(report[tracker.ENERGY])
    assert np.ptp(totals) > 0.1
    assert len(read_telemetry(controller, compass.robot)) == len(tracker.TELEMETRY) + 7 * 2


def fully_actuated(name, slope, **values):
    """Return (terms by Pinocchio, law with a motor for each free coordinate, its values)."""
    robot_file = load_robot(name, [('world.slope', np.radians(slope))])
    robot, world = robot_file.robot, robot_file.values(World)
    values = CurveTrackingParameters.read({'limiting': 'off', **values})
    data = build_tracker(robot, values, world, load_gait(robot, values.gait, world))
    motors = np.tile(np.eye(len(data.free)), (2, 1, 1))
    limits = data.limits._replace(inputs=motors, largest=np.full(len(data.free), 1e9), ankle=-1)
    inputs = np.tile(np.eye(len(robot.coordinates))[:, data.free], (2, 1, 1))
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    return (
        lambda q, v, *out: support.layout.split(support.terms(0, q, v, *out)),
        data._replace(inputs=inputs, limits=limits),
        values,
    )


def expected_flows(values, report, integral, M, w, v, gradient):
    """Return (nu, power into the desired motion, power into the rest) by the book, W."""
    e = w / np.sqrt(w @ M @ w)
    nu = e @ M @ v
    rest = v - nu * e
    square = rest @ M @ rest
    a = values.transfer_gain / (np.sqrt(square) + values.transfer_threshold)
    transferred = values.method == 'transfer' and nu > 0.0
    lost = min(a * nu**2 if transferred else values.damping_rate, values.bandwidth) * square
    error = report[tracker.WANTED] - report[tracker.POTENTIAL] - 0.5 * nu * abs(nu)
    push = values.energy_gain * error + values.integral_gain * integral - e @ gradient
    return nu, lost * transferred + nu * push, -lost


FLOWS = {
    'transfer': {'transfer_gain': 0.5, 'transfer_threshold': 0.2, 'bandwidth': 20.0},
    'transfer_at_its_bound': {'transfer_gain': 50.0, 'bandwidth': 3.0},
    'damping': {'method': 'damping', 'damping_rate': 3.0},
    'surface': {'field': 'surface'},
    'integral': {'integral_gain': 0.7, 'energy': 'gait'},
    'free_matrix': {'freedom_rate': 0.5},
}


@pytest.mark.parametrize(
    'name, slope, case',
    [
        *(('compass', 3.0, case) for case in FLOWS if case != 'free_matrix'),
        ('dribbel', 1.5, 'free_matrix'),
    ],
)
def test_energies_flow_as_the_equations_say(name, slope, case):
    """The efforts together would leak energy between the buffers, or feed the wrong one.

    Flows by differences along the motion that the efforts cause, on and off the gait and against
    it: (5.12), (5.17) to (5.21), (5.25) and (5.27) in one.
    """
    evaluate, data, values = fully_actuated(name, slope, **FLOWS[case])
    rng, integral, nus, turns, step = np.random.default_rng(4), 0.4, [], [], 1e-5
    free, gait, n = data.free, data.field.curve.coefficients, data.spin.shape[1]

    def observe(q, v):
        out = tracker.make_outcome(np.zeros(data.limits.inputs.shape[2]))
        memory = tracker.make_memory(data)
        memory.scalars[tracker.INTEGRAL] = integral
        tracker.track(
            lambda foot, q, v, _, out: evaluate(q, v, out),
            data,
            memory,
            sensed(q, v, 0.0, fresh=True),
            out,
        )
        return out.report, out.parts

    while len(nus) < 20:
        q, v, a, w, spare = np.zeros((5, n))
        place = gait[rng.integers(10, len(gait) - 10)]
        q[free] = place[0] + 0.05 * rng.normal(size=len(free))
        v[free] = place[1] * rng.choice([1.0, 1.0, -1.0]) + 0.3 * rng.normal(size=len(free))
        report, parts = observe(q, v)
        if report[tracker.TRUST] < 1.0:
            continue
        M, h = (evaluate(q, v)[key][2:][free] for key in ('mass', 'bias'))
        M, gradient = M[:, 2 + free].copy(), evaluate(q, 0.0 * v)['bias'][2:][free]
        a[free] = np.linalg.solve(M, parts[tracker.APPLIED] - h)
        ahead, behind = (observe(q + t * v, v + t * a)[0] for t in (step, -step))
        flow = (ahead - behind) / (2.0 * step)
        w, v = w[free], v[free]
        apply_field(data.field, q[free], v, np.nan, w, spare[free])
        nu, desired, undesired = expected_flows(values, report, integral, M, w, v, gradient)
        bound = 1e-6 * (1.0 + v @ M @ v) * (1.0 + np.abs(parts).max())
        assert flow[tracker.DESIRED] == pytest.approx(desired, abs=bound)
        assert flow[tracker.UNDESIRED] == pytest.approx(undesired, abs=bound)
        if values.method == 'transfer' and nu > 0.0:
            assert 2.0 * report[tracker.RATE] * report[tracker.UNDESIRED] == pytest.approx(
                -undesired
            )
        turn = np.sqrt(parts[tracker.FREEDOM] @ np.linalg.solve(M, parts[tracker.FREEDOM]))
        most = values.freedom_rate * np.sqrt(2.0 * report[tracker.UNDESIRED])
        turns.append(turn / most)
        nus.append(nu)
    assert min(nus) < -0.1 and max(nus) > 0.1
    # Z, where there is one, turns what is undesired, mostly at its largest rate
    assert np.median(turns) == pytest.approx(float(len(free) > 2), abs=1e-9)
    assert max(turns) < 1.0 + 1e-9


def test_a_gait_that_needs_work_gets_what_it_takes():
    """If it failed, the energy error alone would drive such a gait: late, slower and at a price."""
    dribbel = load_robot('dribbel')
    settings = {
        **dribbel.sections['curve_tracking'],
        'limiting': 'off',
        'energy': 'gait',
        'impact_time': 0.0,
    }
    controller, world = law(dribbel, **settings), dribbel.values(World)
    support = SupportDynamics(Dynamics(dribbel.robot, world.gravity, world.slope))
    state, command = WalkerState(dribbel.robot), Command(dribbel.robot)
    state.locked[:], state.contact[:] = (True, False), (True, False)
    phase = load_file_gait(gait_path('dribbel'), dribbel).phases[0]
    to_joints, largest = np.linalg.inv(dribbel.robot.supports[dribbel.robot.feet[0]]), 0.0
    for q, v, a in zip(*phase.motion(np.linspace(0.1, 0.9, 9)), strict=True):
        parts = support.layout.split(support.terms(0, q, v))
        force = (parts['mass'][2:, 2:] @ a + parts['bias'][2:])[2]  # of the hip
        state.coordinates[:], state.rates[:] = q, v
        state.position[:], state.velocity[:] = (to_joints @ q)[1:], (to_joints @ v)[1:]
        controller.reset(state)
        for _ in range(3):  # the knee has to be seen free
            controller.update(state, Reference(), 0.002, command)
        assert command.effort[0] == pytest.approx(force, abs=0.05)
        largest = max(largest, abs(force))
    assert largest > 1.0


def test_desired_energy_between_the_samples():
    """Where the gait has no sample, or is past its end, the energy wanted must not jump."""
    knots, values = np.array([0.0, 0.3, 0.4, 1.0]), np.array([3.0, -1.0, 2.0, 5.0])
    for s in np.linspace(-0.5, 1.5, 41):
        assert motion.interpolate(knots, values, s) == pytest.approx(np.interp(s, knots, values))


def test_foot_in_the_air_gets_no_effort(compass):
    """The law takes the stance foot as fixed; in flight its efforts would be nonsense."""
    controller = law(compass)
    state, command = WalkerState(compass.robot), Command(compass.robot)
    state.coordinates[:], state.rates[:] = (0.05, 0.1), (-0.7, 1.9)
    efforts = []
    for stands in (True, False):
        state.contact[:] = stands, True
        controller.reset(state)
        controller.update(state, Reference(), 0.002, command)
        efforts.append(np.abs(command.effort).max())
    assert efforts[0] > 0.1 and efforts[1] == 0.0 and controller.report[tracker.TRUST] == 0.0


def test_hip_alone_accelerates_the_hip_as_both_would(compass):
    """With the hip alone, and all directions alike, the hip must accelerate as under hip and ankle,
    and a small tank be spent to its last and no more."""
    object.__setattr__(compass.robot, 'ground_torque', None)
    both, rng, spent = load_robot('compass'), np.random.default_rng(6), 0
    gentle = {
        'limiting': 'off',
        'along': 1.0,
        'attraction': 3.2,
        'energy_gain': 0.6,
        'transfer_gain': 0.1,
        'transfer_threshold': 0.01,
        'damping_rate': 4.0,
    }
    alone, full = law(compass, **gentle), law(both, **gentle)
    poor = law(compass, **gentle, tank_initial=1e-3)
    world = both.values(World)
    support = SupportDynamics(Dynamics(both.robot, world.gravity, world.slope))
    for _ in range(40):
        q, v = rng.uniform(-0.3, 0.3, 2), rng.normal(size=2)
        hip = tick(alone, compass, q, v)
        M = support.layout.split(support.terms(0, q, v))['mass'][2:, 2:]
        difference = effort_map(support, 0) @ (tick(full, both, q, v) - np.append(hip, 0.0))
        assert np.linalg.solve(M, difference)[1] == pytest.approx(0.0, abs=1e-8)
        tick(poor, compass, q, v)
        payable = min(alone.report[tracker.POWER], 1e-3 / 0.002)
        assert poor.report[tracker.POWER] == pytest.approx(payable, abs=1e-9)
        spent += payable < alone.report[tracker.POWER]
    assert spent > 5


@pytest.mark.long
def test_walks_through_the_whole_chain(compass):
    """Estimator, law, safety and plant together must walk, nearly without effort."""
    run = run_plant(make_plant(compass), ControlLoop(compass, 'curve_tracking'), compass.start, 2.5)
    summary = summarize(run)
    assert not summary['fell'] and summary['steps'] >= 2
    assert summary['squared_effort_per_step'] < 0.5


@pytest.mark.parametrize(
    'values, words',
    [
        ({'energy_gain': 0.0}, 'energy_gain'),
        ({'transfer_gain': -1.0}, 'transfer_gain'),
        ({'bandwidth': 0.0}, 'bandwidth'),
        ({'attraction': 0.0}, 'attraction'),
        ({'transfer_threshold': 0.0}, 'transfer_threshold'),
        ({'damping_rate': -1.0}, 'damping_rate'),
        ({'integral_gain': -0.1}, 'integral_gain'),
        ({'energy_gain': float('nan')}, 'energy_gain'),
        ({'tank_initial': 30.0}, 'tank_capacity'),
    ],
)
def test_gains_that_are_not_positive_are_refused(values, words):
    """A gain of the wrong sign drives the robot off its path."""
    with pytest.raises(ParameterError, match=words):
        CurveTrackingParameters.read(values)


def test_gaits_that_do_not_fit_are_refused(compass):
    """The gait of another robot would throw the walker."""
    gaits = share_directory() / 'config' / 'gaits'
    with pytest.raises(GaitError, match='another name'):
        law(compass, gait=str(gaits / 'dribbel.yaml'))
    with pytest.raises(InvalidInput, match='2 weights'):
        law(compass, metric=[1.0, 1.0, 1.0])


def test_time_pd_is_quiet_on_the_gait(compass):
    """Played back in time from touchdown, the gait itself must need next to no torque."""
    world = compass.values(World)
    rival = TimePd(compass, TimePdParameters.read({}))
    gait = load_gait(compass.robot, rival.values.gait, world)
    (piece,) = gait.pieces
    state, command = WalkerState(compass.robot), Command(compass.robot)
    rival.reset(state)
    for time, q, v in zip(piece.time, piece.q, piece.v, strict=True):
        if 0.0 <= time <= gait.period:
            state.stamp, state.coordinates[:], state.rates[:] = time, q, v
            rival.update(state, Reference(), 0.002, command)
            assert np.abs(command.effort).max() < 1e-3
    state.coordinates[1] += 0.1
    rival.update(state, Reference(), 0.002, command)
    assert abs(command.effort[0]) > 0.5


def test_time_pd_plays_the_phases_of_a_kneed_walker():
    """Played through the knee strike, Dribbel's own gait must need next to no torque either."""
    dribbel = load_robot('dribbel')
    world = dribbel.values(World)
    rival = TimePd(dribbel, TimePdParameters.read({'gait': 'dribbel_passive'}))
    gait = load_gait(dribbel.robot, rival.values.gait, world)
    state, command = WalkerState(dribbel.robot), Command(dribbel.robot)
    rival.reset(state)
    rates = []
    for piece in gait.pieces:
        for i in np.flatnonzero(piece.inside)[:-1]:  # the last one belongs to the next piece
            state.stamp = piece.time[i]
            state.coordinates[:], state.rates[:] = piece.q[i], piece.v[i]
            rival.update(state, Reference(), 0.002, command)
            assert np.abs(command.effort).max() < 1e-3
            rates.append(piece.v[i, 3])
    assert np.abs(np.diff(rates)).max() > 1.0  # the strike is in it
    state.coordinates[2] += 0.1
    rival.update(state, Reference(), 0.002, command)
    assert abs(command.effort[0]) > 0.5


@pytest.mark.long
def test_survives_the_steps_down_of_the_book(compass):
    """[DS09] 5.2.3: 0.11 m tuned, where the walker alone falls from half of that."""
    pytest.importorskip('numba')
    law = replace(compass, controller='curve_tracking')
    tracked = find_first_failure(law, 'step_down', largest=0.11, resolution=0.055)
    assert tracked.first_failure is None
    assert tracked['nominal_squared_effort'] < 0.01
    alone = find_first_failure(
        replace(compass, controller='none'), 'step_down', largest=0.055, resolution=0.055
    )
    assert alone.first_failure == pytest.approx(0.055)


@pytest.mark.long
def test_supply_bounds_what_goes_into_the_walker(compass):
    """What is injected must stay below the supply so far, and a full tank must not run over."""
    robot_file = load_robot(
        'compass',
        [
            ('world.slope', 0.0),
            *(
                (f'curve_tracking.tank_{name}', value)
                for name, value in (('initial', 0.0), ('capacity', 0.5), ('supply', 2.0))
            ),
        ],
    )
    run = run_plant(
        make_plant(robot_file), ControlLoop(robot_file, 'curve_tracking'), robot_file.start, 2.0
    )
    given = run.telemetry['energy_injected'] - run.telemetry['energy_absorbed']
    assert given.max() > 0.3 and np.all(given <= 2.0 * run.time + 1e-3)
    resting = law(compass, tank_initial=0.0, tank_capacity=0.5, tank_supply=2.0)
    state, command, levels = WalkerState(compass.robot), Command(compass.robot), []
    resting.reset(state)  # no foot bears: no effort
    state.contact[1] = True
    for _ in range(200):
        resting.update(state, Reference(), 0.002, command)
        levels.append(resting.report[tracker.LEVEL])
    assert levels == pytest.approx(np.minimum(0.004 * np.arange(1, 201), 0.5))


@pytest.mark.long
def test_plant_and_tank_keep_the_same_books(compass):
    """Work on the robot must be one number, for the plant and for the tank, across a touchdown
    too."""
    walker = Walker(compass, 'curve_tracking', compiled=False)
    walker.start(0, np.array(compass.start.q), 0.9 * np.array(compass.start.v))
    assert walker.walk(1.2, False) == DONE and walker.state.mode[STEPS] == 1
    done = float(walker.state.memo[WORK])
    walker.walk(0.002, False)  # the law books a period at the begin of the next
    booked = walker.data.memory[tracker.INJECTED] - walker.data.memory[tracker.ABSORBED]
    assert booked == pytest.approx(done, abs=1e-12)
    assert walker.data.memory[tracker.INJECTED] > 0.01 and abs(done) < 5.0
