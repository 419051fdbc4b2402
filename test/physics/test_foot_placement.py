# SPDX-License-Identifier: Apache-2.0
"""The walker with all mass in the hip: the printed equations against the plant, and its laws."""

import math

import numpy as np
from once_per_step import (
    linearise_step,
    make_laws_walker,
    next_middle,
    nominal_middle,
    regulate,
    start_nominal,
    survives,
)
from printed_walker import pass_over, printed_push_off, PrintedWalker, radial_matrix
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import IncompatibleController, ParameterError
from walking_control.lab.experiments.cycles import find_robot_cycles, PointSection
from walking_control.loading import load_robot
from walking_control.models.pendulum import (
    find_landing,
    leg_angles,
    leg_direction,
    leg_rates,
    push_off_speed,
    stand,
    step_over,
    swing,
)
from walking_control.search.return_map import linearise, polish, Stride
from walking_control.simulation.massless import walk as point_walk
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid.model import LOSS, STEPPED, TIME, WORK
from walking_control.simulation.simulate import run_plant, simulate

GRAVITY = np.array([0.0, 0.0, -9.81])
# [DS09] 5.4.3, and nothing that the book does not have
PRINTED = {
    'lateral_gain': 0.3,
    'position_gain': 1.0,
    'velocity_gain': 1.5,
    'largest_rate': 0.3,
    'pitch_gain': 0.0,
    'energy_gain': 0.0,
    'leave_out_sway': False,
    'longest_step': 0.7,
}
START = np.array([-0.3, -0.1, 2.0, 0.3, 0.05])  # q4, q5, their rates, y of the hip


def robot(controller='foot_placement', **values):
    """Return the robot file with parameters of a controller."""
    return load_robot(
        'walker3d_point', [(f'{controller}.{name}', value) for name, value in values.items()]
    )


def section(controller='foot_placement', **values):
    """Return the section of the return map under a controller."""
    robot_file = robot(controller, **values)
    return PointSection(point_walk.PointWalker(robot_file, controller), robot_file, 2.0)


def postures(count):
    """Return random states at touchdown: angles of stance and swing leg and rates of the first."""
    rng = np.random.default_rng(7)
    return np.column_stack(
        (
            rng.uniform(0.1, 0.5, count),
            rng.uniform(-0.3, 0.1, count),
            -rng.uniform(0.1, 0.5, count),
            rng.uniform(-0.1, 0.3, count),
            rng.uniform(0.5, 2.5, count),
            rng.uniform(-0.5, 0.5, count),
        )
    )


def test_push_off_is_the_printed_one_and_keeps_the_energy():
    """(5.36) and (5.37) would be misread, or the push-off would change the energy."""
    tried = 0
    for q4, q5, q6, q7, dq4, dq5 in postures(300):
        printed = printed_push_off(q4, q5, q6, q7, dq4, dq5)
        if printed <= 0.0:  # the hip moves away from the new foot
            continue
        y, direction, angles, rates = np.zeros(6), np.zeros(3), np.zeros(2), np.zeros(2)
        stand(q4, q5, dq4, dq5, 1.0, y)
        leg_direction(q6, q7, direction)
        before = y[3:] @ y[3:]
        push = push_off_speed(y, direction, 0.0)
        assert push == pytest.approx(printed, abs=1e-12)
        impact = step_over(y, direction, push)
        assert impact == pytest.approx(push, abs=1e-12)
        assert y[3:] @ y[3:] == pytest.approx(before, abs=1e-12)
        leg_angles(-y[:3], angles)
        leg_rates(y, rates)
        dq6, dq7, radial = pass_over(q4, q5, q6, q7, dq4, dq5, push)
        assert (*angles, *rates, -radial) == pytest.approx((q6, q7, dq6, dq7, push), abs=1e-12)
        tried += 1
    assert tried > 200


@pytest.mark.parametrize('gain', [-0.05, 0.2])
def test_push_off_changes_the_energy_as_told(gain):
    """The generalised push-off would not regulate the energy."""
    y, direction = np.zeros(6), np.zeros(3)
    stand(0.3, -0.1, 1.8, 0.3, 1.0, y)
    leg_direction(-0.3, 0.1, direction)
    before = y[3:] @ y[3:]
    step_over(y, direction, push_off_speed(y, direction, gain))
    assert y[3:] @ y[3:] - before == pytest.approx(gain, abs=1e-12)


def test_what_a_push_off_cannot_do_is_clipped():
    """A push-off would pull, or tear the new foot off the floor."""
    y, direction = np.zeros(6), np.zeros(3)
    stand(0.3, -0.1, 1.8, 0.3, 1.0, y)
    leg_direction(-0.3, 0.1, direction)
    assert push_off_speed(y, direction, -1e3) == 0.0
    impact = step_over(y.copy(), direction, push_off_speed(y, direction, 1e3))
    assert impact == pytest.approx(0.0, abs=1e-12)


def test_leg_velocity_is_that_of_the_matrix():
    """(5.34) would be misread."""
    y = np.zeros(6)
    stand(0.2, -0.15, 1.1, -0.4, 1.0, y)
    assert y[3:] == pytest.approx(radial_matrix(0.2, -0.15) @ (1.1, -0.4, 0.0), abs=1e-14)


def test_swing_keeps_energy_and_length():
    """The pendulum would gain or lose energy, or its leg grow."""
    y, after = np.zeros(6), np.zeros(6)
    stand(-0.3, -0.1, 1.9, 0.4, 1.0, y)
    swing(y, GRAVITY, 1.0, True, 0.35, after)
    kinetic = 0.5 * (after[3:] @ after[3:] - y[3:] @ y[3:])
    assert kinetic == pytest.approx(GRAVITY @ (after[:3] - y[:3]), abs=1e-12)
    assert after[:3] @ after[:3] == pytest.approx(1.0, abs=1e-13)
    swing(after, GRAVITY, 1.0, True, -0.35, after)
    assert after == pytest.approx(y, abs=1e-12)


def test_landing_at_the_end_of_a_tick_is_not_missed():
    """A foot that reaches the floor just where a tick ends would pass through it."""
    walker = make_laws_walker('walker3d_point', 1.0, np.zeros((3, 3)))
    middle, inputs = nominal_middle(walker.knowledge)  # lands after 0.2 s, twenty pieces of 10 ms
    assert next_middle(walker.knowledge, middle, inputs) == pytest.approx(middle, abs=1e-9)
    y, after = np.zeros(6), np.zeros(6)
    y[1], y[2], y[3] = middle[0], math.sqrt(1.0 - middle[0] ** 2), middle[1]
    landing = find_landing(
        y, GRAVITY, 1.0, True, np.array([-inputs[0], inputs[1]]), np.zeros(2), 0.0, 1.0, after
    )
    assert landing == pytest.approx(0.2, abs=1e-6)


def test_plant_and_law_walk_as_printed():
    """The plant under the sampled law would not do what (5.31) to (5.42) say."""
    printed, mine = PrintedWalker((0.3, 1.0, 1.5)), section(speed=1.8, **PRINTED)
    x = y = START
    for _ in range(4):
        x, y = printed.stride(x), mine.stride(y).x
        assert y == pytest.approx(x, abs=2e-5)  # the reference is linear within a tick


def test_plant_keeps_the_energy_over_steps():
    """Push-off and impact of the plant under (5.37) would not balance."""
    walker = section('push_off', energy_gain=0.0, speed=1.8).walker
    walker.start(0, *section().state(START[:4]))
    energy = 0.5 * walker.state.y[3:] @ walker.state.y[3:] + 9.81 * walker.state.y[2]
    for _ in range(3):
        assert walker.walk(2.0, True) == STEPPED
        y = walker.state.y
        assert 0.5 * y[3:] @ y[3:] + 9.81 * y[2] == pytest.approx(energy, abs=1e-11)
    assert walker.state.memo[WORK] == pytest.approx(walker.state.memo[LOSS], rel=1e-11)
    assert walker.state.memo[WORK] > 1.0


def eigenvalues(stride, x):
    """Return the sizes of the eigenvalues of a stride function, largest first."""
    return np.sort(np.abs(np.linalg.eigvals(linearise(stride, x))))[::-1]


def settle(stride, x, steps=80):
    """Return where a stride function leads."""
    for _ in range(steps):
        x = stride(x).x
    return x


def test_eigenvalues_by_two_routes():
    """The lateral instability would be seen by one of plant and printed equations alone."""
    fixed = PrintedWalker((0.0, 0.0, 0.0))

    def printed(x):
        return Stride(fixed.stride(np.append(x, 0.0))[:4], 1.0, 1.0)

    mine = section('push_off', energy_gain=0.0, speed=1.8)
    x = polish(mine.stride, np.array([-0.3, -0.1, 2.0, 0.15]))
    first, second = eigenvalues(mine.stride, x), eigenvalues(printed, x)
    assert first == pytest.approx(second, abs=1e-4)
    assert first[0] > 1.3  # sideways
    assert first[1] == pytest.approx(1.0, abs=1e-4)  # energy is what it is


def test_foot_placement_removes_the_instability():
    """(5.40) would not stabilise the cycle that push-off alone leaves unstable."""
    sizes = {}
    for gain in (0.0, 0.3, 0.8):
        mine = section(speed=1.8, position_gain=0.0, velocity_gain=0.0, lateral_gain=gain)
        x = polish(mine.stride, np.array([-0.3, -0.1, 1.95, 0.16]))
        sizes[gain] = eigenvalues(mine.stride, x)[0]
    assert sizes[0.3] < 0.75 < 1.0 < min(sizes[0.0], sizes[0.8])


def test_reference_must_not_be_frozen():
    """The printed gains would be said to diverge with the reference (5.41) kept up to date."""

    def stride_of(walker):
        return lambda x: Stride(walker.stride(x), 1.0, 1.0)

    follow = stride_of(PrintedWalker((0.3, 1.0, 1.5)))
    x = settle(follow, START)
    assert eigenvalues(follow, x)[0] < 1.001  # 1: the energy
    freeze = stride_of(PrintedWalker((0.3, 1.0, 1.5), frozen=True))
    there = polish(freeze, x)
    assert there is None or eigenvalues(freeze, there)[0] > 1.01


@pytest.mark.long
def test_gait_cycle_of_both_controllers():
    """`gait cycle` would not tell the unstable cycle from the stabilised one."""
    found = find_robot_cycles(robot('push_off'), 'push_off', starts=8).cycles
    assert [cycle.stable for cycle in found] == [False]
    found = find_robot_cycles(robot(), starts=8).cycles
    assert [cycle.stable for cycle in found] == [True]
    assert found[0].speed == pytest.approx(1.0, rel=1e-6)
    assert found[0].eigenvalues[0] != 0.0 and len(found[0].eigenvalues) == 5


@pytest.mark.parametrize('speed', [0.7, 1.3, 2.0, 2.6])
def test_speed_is_held(speed):
    """The walker would not walk as fast as asked."""
    mine = section(speed=speed).walker
    start_nominal(mine)
    for _ in range(30):
        assert mine.walk(2.0, True) == STEPPED
    place, time = mine.state.anchor[0], mine.state.memo[TIME]
    for _ in range(10):
        assert mine.walk(2.0, True) == STEPPED
    assert (mine.state.anchor[0] - place) / (mine.state.memo[TIME] - time) == pytest.approx(
        speed, rel=0.02
    )


def test_plain_and_compiled_walks_are_one(monkeypatch):
    """The law would be two laws."""
    compiled = section(speed=1.4).walker
    monkeypatch.setattr(point_walk, 'compile_where_possible', lambda function: function)
    plain = section(speed=1.4).walker
    for walker in (compiled, plain):
        walker.start(0, *section().state(START[:4]))
        assert walker.walk(2.0, True) == STEPPED
    assert plain.state.y == pytest.approx(compiled.state.y, abs=1e-11)


@pytest.fixture(scope='module')
def long_walk():
    """A walk with a push, a step aside, a turn by 45 degrees, and a stop."""
    return simulate(
        robot(
            speed=1.8,
            schedule=[0.0, 12.0, 12.001, 20.0, 20.001, 26.0, 26.001, 60.0],
            lateral_schedule=[0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
            heading_schedule=[
                0.0,
                0.0,
                0.0,
                0.0,
                0.25 * math.pi,
                0.25 * math.pi,
                0.25 * math.pi,
                0.25 * math.pi,
            ],
            speed_schedule=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.8, -1.8],
        ),
        duration=30.0,
        disturb=['side_push=-0.3@10'],
    )


def test_walk_returns_to_its_line(long_walk):
    """After a push the walker would stay aside, or a step in y would not be followed."""
    run, y = long_walk, long_walk.base.position[:, 1]
    pushed = np.argmax(run.steps >= 10)
    assert not run.broke_off and y[pushed] - y[pushed : pushed + 400].min() > 0.08
    assert np.abs(y[(run.time > 10.0) & (run.time < 12.0)]).max() < 0.05
    assert y[(run.time > 18.0) & (run.time < 20.0)] == pytest.approx(0.5, abs=0.05)


def test_walk_turns(long_walk):
    """A change of heading by 45 degrees at once would not be followed."""
    rows = (long_walk.time > 24.0) & (long_walk.time < 26.0)
    x, y = long_walk.base.position[rows, :2].T
    assert np.polyfit(x, y, 1)[0] == pytest.approx(1.0, abs=0.1)


def test_walk_stops(long_walk):
    """The walker would walk on when told to stop, or fall."""
    run = long_walk
    begins = 1 + np.flatnonzero(np.diff(run.steps) > 0)
    after = begins[run.time[begins] > 26.0]
    fourth = run.base.position[after[3] : after[4], :2]
    pace = np.hypot(*(fourth[-1] - fourth[0])) / (run.time[after[4]] - run.time[after[3]])
    assert pace < 0.1 * 1.8
    assert np.ptp(run.base.position[run.time > 29.0, 0]) < 0.1


def test_law_foresees_its_footholds(long_walk):
    """The law would not know where it walks: its line would drift away from the floor's."""
    run = long_walk
    rows = (run.time > 1.0) & (run.time < 12.0)
    assert run.telemetry['aside'][rows] == pytest.approx(run.base.position[rows, 1], abs=0.03)


def test_continuous_turning():
    """The walker would not walk in a circle."""
    run = simulate(robot(schedule=[0.0, 15.0], heading_schedule=[0.0, 7.5]), duration=15.0)
    assert not run.broke_off
    half = run.time > 5.0
    way = np.hypot(*np.diff(run.base.position[half, :2], axis=0).T).sum()
    assert way / 10.0 == pytest.approx(1.0, rel=0.05)


def test_velocity_command():
    """A velocity on cmd_vel would not steer the walk."""
    robot_file = robot()
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    loop.reference.velocity = np.array([1.2, 0.0, 0.5])
    run = run_plant(plant, loop, robot_file.start, 8.0)
    assert not run.broke_off and run.telemetry['heading'][-1] == pytest.approx(4.0, abs=0.01)
    turned = np.unwrap(np.arctan2(run.base.linear[:, 1], run.base.linear[:, 0]))[-200:].mean()
    assert turned == pytest.approx(run.telemetry['heading'][-200:].mean(), abs=0.3)
    assert run.telemetry['wanted_speed'][-1] == pytest.approx(1.2)


def test_once_per_step_regulators():
    """The regulators that set push-off against foot placement would not be what they claim."""
    walker = make_laws_walker('walker3d_point', 1.8, np.zeros((3, 3)))
    A, B = linearise_step(walker.knowledge)
    assert max(abs(np.linalg.eigvals(A))) == pytest.approx(1.512, abs=1e-3)
    for inputs in (('push',), ('roll',)):
        feedback = regulate(A, B, inputs, 0.01)
        assert max(abs(np.linalg.eigvals(A + B @ feedback))) < 0.8
        walker = make_laws_walker('walker3d_point', 1.8, feedback)
        assert survives(walker, 0.02, 3, 40) and not survives(walker, 2.0, 3, 40)
    assert not survives(make_laws_walker('walker3d_point', 1.8, np.zeros((3, 3))), 0.02, 3, 40)


@pytest.mark.parametrize(
    'values, words',
    [
        ({'schedule': [0.0, 1.0], 'speed_schedule': [0.0, 1.0, 2.0]}, 'speed_schedule'),
        ({'schedule': [1.0, 0.0]}, 'must not fall'),
        ({'roll': 0.3, 'largest_roll': 0.2}, 'foot_placement.roll'),
        ({'longest_step': 3.0}, 'longest_step'),
    ],
)
def test_bad_parameters(values, words):
    """A slip in the robot file would be walked on."""
    with pytest.raises(ParameterError, match=words):
        simulate(robot(**values), duration=0.1)


def test_other_robots_are_refused():
    """A robot with masses in its legs would get speeds for torques."""
    with pytest.raises(IncompatibleController, match='servos'):
        simulate(load_robot('compass'), 'foot_placement', duration=0.1)


def test_the_verb_prints_a_cycle_without_a_floor_to_scuff(capsys):
    """A walker whose feet have no depth in the floor ended the verb with a traceback."""
    from walking_control.cli import main

    assert main(['gait', 'cycle', 'walker3d_point']) == 0
    assert 'eigenvalues' in capsys.readouterr().out
