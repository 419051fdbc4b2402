# SPDX-License-Identifier: Apache-2.0
"""The biped that walks in space, in MuJoCo, with what its sensors say."""

import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Measurement
from walking_control.runs.quantities import each_joint_energy
from walking_control.runs.space import heading_error
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant, simulate


class Walk:
    """A walk that can be steered and pushed on the way."""

    def __init__(self, name, **parameters):
        self.robot_file = load_robot(name, **parameters)
        self.plant, self.loop = make_plant(self.robot_file), ControlLoop(self.robot_file)
        self.plant.reset(self.robot_file.start)
        self.measurement = Measurement(self.plant.robot)

    def go(self, duration, velocity=(0.0, 0.0, 0.0)):
        """Walk on; return how far the base went, in the plane."""
        self.loop.reference.velocity = np.array(velocity)
        before = self.plant.truth.base.position[:2].copy()
        for _ in range(round(duration / self.loop.period)):
            self.plant.measure(self.measurement)
            command = self.loop.tick(self.measurement)
            assert self.loop.fault is None, self.loop.fault
            self.plant.step(command, self.loop.period)
        return self.plant.truth.base.position[:2] - before

    @property
    def yaw(self):
        rotation = self.plant.truth.base.rotation
        return math.atan2(rotation[1, 0], rotation[0, 0])


@pytest.mark.long
def test_it_stands_walks_turns_and_stands_again():
    """The one thing it is for: at the commanded speed, and still once nothing is asked."""
    walk = Walk('walker3d')
    walk.go(0.5)
    assert not walk.loop.controller.engine.walking and walk.loop.controller.engine.steps == 0
    walk.go(2.0, (0.5, 0.0, 0.0))
    way = walk.go(1.8, (0.5, 0.0, 0.0))
    np.testing.assert_allclose(way, [0.9, 0.0], atol=0.05)
    assert abs(walk.yaw) < math.radians(5.0)
    walk.go(2.0, (0.2, 0.0, 0.3))
    assert walk.yaw == pytest.approx(0.3 * (2.0 - 0.3), abs=0.1)
    before = walk.loop.controller.engine.steps
    walk.go(2.0)
    assert not walk.loop.controller.engine.walking
    assert walk.loop.controller.engine.steps - before <= 5
    assert np.abs(walk.go(0.5)).max() < 0.01


@pytest.mark.long
def test_fast_walking_keeps_its_heading():
    """At 1 m/s the swinging legs would turn the robot: soles must hold it within 5 degrees."""
    run = simulate(load_robot('walker3d', speed=1.0), duration=5.0)
    assert run.fault is None
    x, y, z, w = run.base.orientation.T
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    assert np.abs(yaw).max() < math.radians(5.0)


@pytest.mark.long
def test_a_push_is_survived():
    """Half a newton second per kilogram from any side is what a step is for."""
    for direction in (0.5 * math.pi, math.pi):
        walk = Walk('walker3d')
        walk.go(1.5, (0.3, 0.0, 0.0))
        walk.plant.push(0.5 * 10.0, direction)
        walk.go(1.5, (0.3, 0.0, 0.0))


@pytest.mark.long
@pytest.mark.parametrize('name, speed', [('walker3d', 0.5), ('walker3d_points', 0.4)])
@pytest.mark.parametrize('load', [0.0, 100.0])
def test_it_walks_on_though_the_sensor_of_a_foot_lies(name, speed, load):
    """A foot sensor that is dead, or says the same for ever, must not fell a robot."""
    robot_file = load_robot(
        name,
        [
            *noise_overrides('lab'),
            ('sensors.stuck_foot', 1),
            ('sensors.stuck_force', load),
            ('sensors.stuck_after', 1.5),
        ],
        speed=speed,
    )
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    run = run_plant(plant, loop, robot_file.start, 5.0)
    assert run.fault is None, run.fault
    assert 'left' in loop.supervisor.warning and 'right' not in loop.supervisor.warning
    last = run.base.position[run.time > 4.0]
    assert np.ptp(last[:, 0]) > 0.7 * speed
    loop.estimator.trust()
    assert not loop.state.mistrusted.any()


def test_a_flight_after_a_push_is_no_lost_sensor():
    """If it failed, a robot that lands on its feet would be dropped in the air."""
    walk = Walk('walker3d')
    supervisor, state = walk.loop.supervisor, walk.loop.state
    state.contact[:] = False
    state.base.position[2] = 0.8
    for stamp, fault in ((1.0, None), (1.29, None), (1.31, 'stuck_contact')):
        state.stamp = stamp
        supervisor.check_state(state)
        assert getattr(supervisor.fault, 'code', None) == fault


@pytest.mark.long
def test_it_walks_on_points():
    """Two balls instead of soles, one parameter file each."""
    run = simulate(load_robot('walker3d_points', speed=0.4), duration=4.0)
    summary = run.summary()
    assert not summary['fell'] and run.fault is None
    steps = np.flatnonzero(np.diff(run.steps)) + 1
    late = steps[steps > len(run.time) // 2]
    way = run.base.position[late[-1], 0] - run.base.position[late[0], 0]
    assert way / (run.time[late[-1]] - run.time[late[0]]) == pytest.approx(0.4, rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize('disturbance', ['step_down=0.1@7', 'step_up=0.03@7'])
def test_an_unseen_step_is_walked_over(disturbance):
    """A late floor must be looked for while the fall goes on, an early one found at once."""
    run = simulate(load_robot('walker3d', speed=0.4), duration=4.0, disturb=[disturbance])
    assert run.fault is None


@pytest.mark.long
def test_the_speed_on_a_known_slope_is_the_commanded_one():
    """Downhill the pendulum is pulled along: not counted on, it would run away from the command."""
    robot_file = load_robot('walker3d', [('world.slope', 0.087)], speed=0.4)
    run = simulate(robot_file, duration=5.0)
    late = np.flatnonzero(np.diff(run.steps) * (run.time[1:] > 2.5)) + 1
    first, last = late[0], late[-1 if len(late) % 2 else -2]
    way = run.base.position[last, 0] - run.base.position[first, 0]
    assert way / (run.time[last] - run.time[first]) == pytest.approx(0.4, rel=0.05)


@pytest.mark.parametrize('name, plant', [('walker3d', 'mujoco'), ('dribbel', 'rigid')])
def test_a_fast_motor_gives_no_more_than_its_supply_drives(name, plant):
    """Both plants would let a motor pull at any speed: robots would swing faster than real ones."""
    bare = load_robot(name)
    joint, motor = next(iter(bare.robot.actuators.items()))
    key = f'robot.actuators.{joint}'
    given = [(f'{key}.resistance', 1.0), (f'{key}.supply_voltage', 1e-3)]
    work = []
    for overrides in ([], given):
        robot_file = load_robot(name, overrides)
        world = make_plant(robot_file, plant)
        world.reset(robot_file.start)
        command = Command(world.robot)
        command.effort[0] = 1.0
        for _ in range(5):
            world.step(command, 0.002)
        work.append(abs(world.truth.work[0]))
    assert work[1] < 0.1 * work[0]


@pytest.mark.long
def test_a_push_too_large_is_a_fall():
    """A delayed law would count on accelerations that no motor gives, until they are infinite."""
    robot_file = load_robot('walker3d', [('sensors.command_delay', 0.01)], delay=0.01, speed=0.5)
    run = simulate(robot_file, duration=5.0, disturb=['push=3@12:direction=0'])
    assert run.fault is not None and 'finite' not in run.fault.message


@pytest.mark.long
def test_points_keep_their_heading_on_the_average_of_a_stride():
    """A moment spent against the sway of each step would leave none for the heading."""
    run = simulate(load_robot('walker3d_points', speed=0.6), duration=8.0)
    assert run.fault is None
    assert np.abs(heading_error(run)[run.time > 8.0 / 3.0]).max() < math.radians(9.0)


@pytest.mark.long
def test_the_walker_that_can_be_built_stays_on_its_gait():
    """Heavy legs, gears and friction would throw it off its gait, or cost far more."""
    robot_file = load_robot('walker3d_built', [('natural_walking.speed', 0.6)])
    run = simulate(robot_file, duration=5.0)
    assert run.fault is None
    first, last = np.searchsorted(run.time, 3.0), len(run.time) - 1
    assert run.telemetry['on_gait'][first:].mean() > 0.95
    way = np.hypot(*(run.base.position[last] - run.base.position[first])[:2])
    assert way == pytest.approx(1.2, abs=0.06)
    assert each_joint_energy(run, first, last) / (14.0 * 9.81 * way) < 0.3


@pytest.mark.parametrize('name', ['walker3d', 'walker3d_points', 'walker3d_built'])
def test_a_fallen_robot_lies_on_the_floor(name):
    """It would sink through it but for its soles, and what its sensors say then would mislead."""
    robot_file = load_robot(name)
    plant, idle = make_plant(robot_file), Command(robot_file.robot)
    plant.reset(robot_file.start)
    heights = []
    while plant.time < 3.0:
        plant.step(idle, 0.01)
        heights.append(plant.truth.base.position[2])
    assert min(heights) > 0.0 and heights[-1] < 0.5 * heights[0]
