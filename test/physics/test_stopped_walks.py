# SPDX-License-Identifier: Apache-2.0
"""A walker that is stopped within a step stands on both feet; so does one whose law has failed."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments import stops
from walking_control.lab.experiments.stops import try_stops, with_category
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.safety.faults import EMERGENCY_STOP, KINDS
from walking_control.safety.machine import State
from walking_control.simulation.injection import SENSOR_FAULTS
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import Walk


@pytest.fixture
def early(monkeypatch):
    """Let a walk be stopped after three steps: how well it has settled is no matter here."""
    monkeypatch.setattr(stops, 'SETTLING', 3)


@pytest.mark.usefixtures('early')
@pytest.mark.parametrize('category', [pytest.param(1, marks=pytest.mark.long), 2])
def test_an_emergency_stop_ends_on_two_feet(category):
    """If it failed, the button would fell a robot that could have stood."""
    robot_file = load_robot('walker3d', emergency_stop_category=category)
    (row,) = try_stops(robot_file, starts=1, speed=0.4)['causes']
    assert row['stood'] == row['starts'] == 1
    assert row['category'] == category and 0.0 < row['worst_way'] < 0.6


@pytest.mark.usefixtures('early')
@pytest.mark.parametrize('cause', ['internal', pytest.param('command', marks=pytest.mark.long)])
def test_a_standby_law_catches_a_law_that_failed(cause):
    """If it failed, an error in a law would be a fall although another law stands by."""
    result = try_stops(load_robot('walker3d'), [cause], starts=1, speed=1.0)
    assert result['trials'][0]['stood'], result['trials']


@pytest.mark.long
def test_a_walker_ends_as_the_table_of_faults_says():
    """If it failed, the column "ends" would promise a stand that does not come, or hide one."""
    robot_file = load_robot('walker3d', noise_overrides('lab'))
    causes = [code for code, kind in KINDS.items() if kind.category or code not in SENSOR_FAULTS]
    result = try_stops(robot_file, causes, starts=1, speed=1.5)
    wrong = [
        (trial['cause'], trial['why'])
        for trial in result['trials']
        if trial['stood'] == (KINDS[trial['cause']].ends == 'falls')
    ]
    assert not wrong and len(result['trials']) == len(causes)


@pytest.mark.long
@pytest.mark.usefixtures('early')
@pytest.mark.parametrize('starts', [1, 5])
def test_a_walker_comes_to_rest_soon(starts):
    """If it failed, a stop would be slowed down like any command, or wait for its base to rise."""
    given = {'emergency_stop_category': 2, 'controller': 'natural_walking'}
    walk = try_stops(load_robot('walker3d', **given), starts=starts)
    (row,) = walk['causes']
    assert row['soon'] == row['stood'] == starts and row['worst_way'] < 0.3


@pytest.mark.long
@pytest.mark.usefixtures('early')
def test_a_fall_is_foretold():
    """If it failed, nobody would be warned of a fall that no step can stop."""
    robot_file = load_robot('walker3d', emergency_stop_category=2)
    (row,) = try_stops(robot_file, starts=2, speed=1.0, push=(3.0, 4.0))['causes']
    assert row['fell'] == row['said_no'] == 2 and row['said_yes_and_fell'] == 0


@pytest.mark.usefixtures('early')
def test_a_planar_walker_stands_on_both_feet():
    """If it failed, Dribbel's last step would be a fall."""
    robot_file = load_robot('dribbel', noise_overrides('lab'))
    robot_file = with_category(robot_file, [EMERGENCY_STOP], 2)
    (trial,) = try_stops(robot_file, starts=1, speed=2.0)['trials']
    assert trial['stood'], trial
    assert 0.1 < trial['way'] < 1.0 and trial['time'] < 3.0


@pytest.mark.long
@pytest.mark.usefixtures('early')
def test_a_push_before_the_stop_moves_the_robot():
    """If it failed, stops after a push would be stops of a robot that nobody pushed."""
    ways = [
        try_stops(load_robot('walker3d'), starts=1, speed=1.0, push=(push, push))['trials'][0][
            'way'
        ]
        for push in (0.0, 0.3)
    ]
    assert abs(ways[1] - ways[0]) > 0.01


def test_a_walk_can_be_stopped_and_a_fall_cannot():
    """If it failed, `stoppable` would promise a stand to one that falls, or warn of every step."""
    robot_file = load_robot('walker3d')
    loop = ControlLoop(robot_file)
    walk = Walk(make_plant(robot_file), loop, robot_file.start, 1000)
    assert loop.controller.stoppable().steps == 0, 'it stands'
    loop.reference.velocity = np.array([0.3, 0.0, 0.0])
    walk.go(round(1.0 / loop.period))
    steps, margin = loop.controller.stoppable()
    assert 1 <= steps <= 3 and 0.0 < margin < 0.2
    engine = loop.controller.engine
    engine.fall = engine.fall._replace(velocity=np.array([3.0, 0.0]))
    steps, margin = loop.controller.stoppable()
    assert steps == -1 and margin < 0.0


@pytest.mark.long
def test_a_walker_with_warm_motors_stands_before_they_are_hot():
    """If it failed, a motor near its limit would end the walk by a fault, or by a fall."""
    thermal = {'winding_capacity': 0.5, 'winding_resistance': 20.0, 'limit': 75.0}
    motors = {f'{side}_hip_roll': thermal for side in ('left', 'right')}
    given = [('robot.thermal', motors), ('safety.motors_warmer', 44.0)]
    robot_file = load_robot('walker3d', given)
    loop = ControlLoop(robot_file)
    walk = Walk(make_plant(robot_file), loop, robot_file.start, 1500)
    loop.reference.velocity, heat, paces = np.array([0.4, 0.0, 0.0]), loop.supervisor.heat, []
    for _ in range(150):
        walk.go(10)
        paces.append(heat.pace)
    assert walk.fault is None and heat.temperature.max() < 75.0
    assert 0.0 < paces[10] < 0.5 and paces[-1] == 0.0
    rested = 10 * paces.index(0.0)
    assert rested < 750 and walk.loop.state.steps > 0
    speed = np.linalg.norm(walk.plant.truth.base.linear)
    assert speed < 0.05 and walk.loop.state.contact.all()


@pytest.mark.long
def test_a_walker_is_lowered_on_feet_side_by_side():
    """If it failed, the foot behind would reach its joints' stops first, and the robot topple."""
    given = [('safety.emergency_stop_category', 1), ('stepping.crouch_lean', 0.8)]
    robot_file = load_robot('walker3d', given)
    loop, plant = ControlLoop(robot_file), make_plant(robot_file)
    measurement, body = Measurement(plant.robot), loop.controller.engine.body
    plant.reset(robot_file.start)
    loop.reference.velocity = np.array([0.4, 0.0, 0.0])

    def walk(until):
        while not until():
            plant.measure(measurement)
            loop.tick(measurement)
            plant.step(loop.command, loop.period)
        return abs(body.feet[0].position[0] - body.feet[1].position[0])

    walk(lambda: plant.time > 1.0)
    loop.stop('emergency_stop', 'test', measurement)
    latch = loop.supervisor.fault_latch
    assert walk(lambda: latch.state is State.LOWERING) > 0.08, 'it stands as its last step left it'
    assert walk(lambda: latch.elapsed > 1.9) < 0.04 and latch.state is State.LOWERING
    assert np.arcsin(body.rotation[0, 2]) == pytest.approx(0.8 * 0.35, abs=0.05), 'it leans ahead'


@pytest.mark.usefixtures('early')
def test_category_0_falls_and_is_said_so():
    """If it failed, a stop that takes the power would be counted as a stand."""
    result = try_stops(load_robot('walker3d', emergency_stop_category=0), starts=1, speed=1.0)
    assert result['causes'][0]['stood'] == 0 and result['causes'][0]['median_time'] is None
    assert 'emergency_stop' in result['trials'][0]['why']


@pytest.mark.parametrize(
    'robot, given, words',
    [
        ('humanoid', {}, 'law that can stand'),
        ('walker3d', {'causes': ['nonsense']}, 'unknown'),
        ('walker3d', {'starts': 0}, 'at least 1'),
    ],
)
def test_what_cannot_be_tried_is_refused(robot, given, words):
    """If it failed, a question without a sense would get a number for an answer."""
    with pytest.raises(InvalidInput, match=words):
        try_stops(load_robot(robot), **given)


@pytest.mark.parametrize(
    'causes, category, words',
    [
        (['emergency_stop'], 3, 'emergency_stop_category'),
        (['jump'], 2, 'on_jump'),
        (['nonsense'], 1, 'unknown'),
    ],
)
def test_a_category_that_there_is_not_is_refused(causes, category, words):
    """If it failed, stops of another category would be counted."""
    with pytest.raises(InvalidInput, match=words):
        with_category(load_robot('walker3d'), causes, category)
