# SPDX-License-Identifier: Apache-2.0
"""Drives: what they make of a command, what they refuse, and that a law of efforts runs through."""

import ast
import math
from pathlib import Path
import re

import numpy as np
import pytest

import walking_control
from walking_control.control_loop import ControlLoop
from walking_control.controllers.hip_switching import HipSwitching
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.drive_kinds import KINDS
from walking_control.models.drives import Drives, fields_of
from walking_control.models.signals import Command, Measurement
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import simulate

BEARS = 'at most .*the drive samples at 1000'
IMPEDANCE = [('robot.actuators.hip.drive', 'impedance')]
SERVO = [('robot.actuators.hip.drive', 'position'), ('robot.actuators.hip.stiffness', 200.0)]
SERVO += [('robot.actuators.hip.damping', 1.0)]


def test_a_drive_at_the_rate_of_the_law_makes_the_efforts_of_the_law():
    """If it failed, a law would walk otherwise through a drive that adds nothing."""
    rate = ('robot.actuators.hip.drive_rate', 100.0)
    plain = simulate(load_robot('dribbel'), duration=3.0)
    driven = simulate(load_robot('dribbel', [*IMPEDANCE, rate]), duration=3.0)
    assert driven.fault is None and driven.steps[-1] > 2
    assert np.array_equal(plain.q, driven.q) and np.array_equal(plain.work, driven.work)


@pytest.mark.parametrize(
    'plant, duration', [('mujoco', 4.0), pytest.param('rigid', 1.0, marks=pytest.mark.long)]
)
@pytest.mark.parametrize('kind', [IMPEDANCE, SERVO], ids=['impedance', 'position'])
def test_a_law_of_efforts_walks_through_faster_drives(plant, duration, kind):
    """If it failed, robots whose drives take no efforts alone could not walk by such a law."""
    plain = simulate(load_robot('dribbel'), plant=plant, duration=duration)
    run = simulate(load_robot('dribbel', kind), plant=plant, duration=duration)
    assert run.fault is None
    assert abs(run.steps[-1] - plain.steps[-1]) <= 1
    far = [one.q[-1, 0] - one.q[0, 0] for one in (plain, run)]
    assert far[1] == pytest.approx(far[0], rel=0.1)


@pytest.mark.parametrize('speed', [0.0, pytest.param(0.3, marks=pytest.mark.long)])
def test_a_biped_stands_and_walks_on_position_servos(speed):
    """Robots of hobby servos, whose joints rub by a tenth of their torque, could not walk."""
    sets = [('stepping.speed', speed)]
    for joint, motor in load_robot('walker3d').robot.actuators.items():
        place = f'robot.actuators.{joint}'
        sets += [(f'{place}.drive', 'position'), (f'{place}.stiffness', 300.0)]
        sets += [(f'{place}.damping', 3.0)]
        sets += [(f'robot.friction.{joint}.coulomb', 0.1 * motor.effort_limit)]
    run = simulate(load_robot('walker3d', sets, controller='stepping'), duration=3.0)
    assert run.fault is None
    half = len(run.time) // 2
    way = (run.q[-1, 0] - run.q[half, 0]) / (run.time[-1] - run.time[half])
    assert 0.6 * speed - 0.02 < way < speed + 0.02, 'it comes up to its speed in 5 s'
    assert (run.steps[-1] >= 4) == (speed > 0.0)


def test_what_follows_resists_what_was_not_predicted():
    """If it failed, the drive would add no stiffness between two commands."""
    robot = load_robot('dribbel', IMPEDANCE).robot
    drives, command = Drives(robot, 0.01), Command(robot)
    q, v = np.zeros(3), np.array([0.5, 0.0, 0.0])
    command.effort[0] = 3.0
    drives.follow(command, q, v)
    along = [command.torque(q + t * v, v)[0] for t in np.arange(10) * 1e-3]
    assert np.mean(along) == pytest.approx(3.0, abs=1e-9)
    pushed = command.torque(q + np.array([0.01, 0.0, 0.0]), v + np.array([1.0, 0.0, 0.0]))[0]
    assert pushed == pytest.approx(along[0] - 0.01 * drives.stiffness[0] - drives.damping[0])


def test_no_command_is_no_stiffness():
    """If it failed, a stopped robot would go on to hold, stiffly, where its drives were told."""
    robot_file = load_robot('dribbel', IMPEDANCE)
    loop, plant = ControlLoop(robot_file), make_plant(robot_file)
    plant.reset(robot_file.start)
    measurement = Measurement(robot_file.robot)
    plant.measure(measurement)
    loop.tick(measurement)
    assert loop.command.stiffness[0] > 0.0
    loop.stop('power_off', 'pressed twice', measurement)
    assert not loop.command.stiffness.any() and not loop.command.damping.any()
    loop.reset()
    assert not loop.command.numbers.any()


class Stiff(HipSwitching):
    """Gives its drive gains."""

    gains = 30.0, 1.0

    def update(self, state, reference, dt, command):
        """Add gains to what it commands."""
        super().update(state, reference, dt, command)
        command.stiffness[0], command.damping[0] = self.gains
        command.position[0] = state.position[0]


def looped(overrides, gains, monkeypatch):
    """Return a loop whose law gives its drive gains."""
    monkeypatch.setattr(Stiff, 'gains', gains)
    robot_file = load_robot('dribbel', overrides)
    monkeypatch.setattr(
        'walking_control.control_loop.make_controller',
        lambda robot_file, controller: Stiff(
            robot_file, robot_file.values(HipSwitching.parameters)
        ),
    )
    return robot_file, ControlLoop(robot_file)


def test_gains_of_a_law_are_kept_within_what_the_drive_bears(monkeypatch):
    """If it failed, a law could make a drive shake, or pull beyond its motor's limit."""
    robot_file, loop = looped(IMPEDANCE, (1e9, 1e9), monkeypatch)
    measurement = Measurement(robot_file.robot)
    plant = make_plant(robot_file)
    plant.reset(robot_file.start)
    plant.measure(measurement)
    command = loop.tick(measurement)
    assert 0.0 < command.stiffness[0] == loop.drives.largest[0, 0] < 1e6
    limit = robot_file.robot.effort_limits[0]
    assert abs(command.torque(measurement.position, measurement.velocity)[0]) <= limit + 1e-9


def test_gains_that_are_not_finite_are_a_fault(monkeypatch):
    """If it failed, NaN would leave the process as a gain."""
    robot_file, loop = looped(IMPEDANCE, (30.0, 1.0), monkeypatch)
    monkeypatch.setattr(Stiff, 'gains', (math.nan, 0.0))
    measurement, plant = Measurement(robot_file.robot), make_plant(robot_file)
    plant.reset(robot_file.start)
    plant.measure(measurement)
    command = loop.tick(measurement)
    assert loop.fault.code == 'command' and np.isfinite(command.numbers).all()


def test_a_drive_that_ignores_stiffness_refuses_it(monkeypatch):
    """If it failed, a law would count on a stiffness that nobody makes."""
    with pytest.raises(InvalidInput, match='stiffness of joint hip is 30.0: its drive, effort'):
        looped([], (30.0, 1.0), monkeypatch)


@pytest.mark.parametrize(
    'overrides, words',
    [
        ([('robot.actuators.hip.stiffness', 10.0)], 'ignored by drive: effort'),
        ([*IMPEDANCE, ('robot.actuators.hip.damping', 5e4)], BEARS),
        (
            [*IMPEDANCE, ('robot.actuators.hip.stiffness', 9e5)],
            'at most .*the drive samples at 1000',
        ),
        ([*IMPEDANCE, ('robot.actuators.hip.stiffness', math.nan)], 'must be finite'),
        ([('robot.actuators.hip.drive', 'position')], 'stiffness of a motor'),
        ([('robot.actuators.hip.drive', 'torque')], 'one of effort, position, impedance'),
    ],
)
def test_what_is_refused(overrides, words):
    """If it failed, a drive would be simulated, or commanded, as what it is not."""
    with pytest.raises(InvalidInput, match=words):
        ControlLoop(load_robot('dribbel', overrides))


def test_what_each_kind_of_drive_hears():
    """If it failed, files and nodes would command an interface that the drive has not."""
    assert list(fields_of(load_robot('dribbel').robot)) == ['effort']
    assert list(fields_of(load_robot('dribbel', SERVO).robot)) == ['position']
    fields = ['effort', 'position', 'velocity', 'stiffness', 'damping']
    assert list(fields_of(load_robot('dribbel', IMPEDANCE).robot)) == fields


def test_the_page_names_each_kind_of_drive_with_a_robot_that_has_it():
    """Whoever owns a robot would not know which kind of drive it has."""
    page = Path(__file__).parents[3] / 'doc' / 'robot_file.md'
    text = page.read_text(encoding='utf-8')
    table = text.partition('## Drives\n')[2].partition('| a robot that has it |\n')[2]
    rows = dict(
        re.findall(r'^\| `(\w+)`.* \| (.*[A-Za-z].*) \|$', table.partition('\n\n')[0], re.M)
    )
    assert rows.keys() == KINDS.keys() and all(rows.values())


@pytest.mark.long
def test_a_drive_is_a_row():
    """A new kind of drive would have to be taught to every file that asks for one by name."""
    package = Path(walking_control.__file__).parent
    asks = {
        f'{path.relative_to(package)}:{node.lineno}'
        for path in package.rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and side.attr == 'drive'
    }
    assert not asks
    for name, kind in KINDS.items():
        own = {'stiffness': 50.0} if kind.has_own_gains else {}
        told = [('robot.actuators.hip.drive', name)]
        told += [(f'robot.actuators.hip.{gain}', value) for gain, value in own.items()]
        fields = fields_of(load_robot('dribbel', told).robot)
        assert tuple(fields) == kind.takes and set(map(len, fields.values())) == {1}


def test_a_motion_the_law_counts_on_meets_no_resistance():
    """A drive would hold back every joint that speeds up, and a walk would cost more."""
    robot = load_robot('dribbel', IMPEDANCE).robot
    drives, command = Drives(robot, 0.01), Command(robot)
    q, v, a = np.array([0.1, 0.0, 0.0]), np.array([0.5, 0.0, 0.0]), np.array([40.0, 0.0, 0.0])
    command.effort[0], command.acceleration[0] = 3.0, a[0]
    drives.follow(command, q, v)
    along = [
        command.torque(q + t * v + 0.5 * t * t * a, v + t * a)[0] for t in np.arange(10) * 1e-3
    ]
    assert np.mean(along) == pytest.approx(3.0, abs=1e-9)


@pytest.mark.long
def test_position_servos_with_dry_friction_stand():
    """If it failed, law and drive would both make up for one friction, and shake the robot."""
    told = {'drive': 'position', 'stiffness': 300.0, 'damping': 3.0}
    sets = []
    for joint in load_robot('walker3d').robot.joints:  # a tenth of the largest effort
        sets += [(f'robot.actuators.{joint}.{name}', value) for name, value in told.items()]
        sets += [(f'robot.friction.{joint}.coulomb', 6.0)]
    run = simulate(load_robot('walker3d', sets), 'stepping', duration=1.5)
    assert run.fault is None
