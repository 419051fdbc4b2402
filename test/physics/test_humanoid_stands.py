# SPDX-License-Identifier: Apache-2.0
"""The humanoid in MuJoCo: stands on two legs and on one, takes a push, changes support."""

from dataclasses import replace
import math

import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.models.urdf import scale_masses
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import read_preset
from walking_control.simulation.simulate import run_plant
from walking_control.statics.posture_search import search_posture

pytest.importorskip('mujoco')

BOTH, LEFT = ('left_sole', 'right_sole'), ('left_sole',)


class Stand:
    """The humanoid under posture control, observed tick by tick."""

    def __init__(self, **parameters):
        overrides = [(f'static_torque.{name}', value) for name, value in parameters.items()]
        file = load_robot('humanoid', overrides)
        self.file, self.loop = file, ControlLoop(file)
        self.plant = make_plant(file)
        self.plant.reset(file.start)
        self.measurement = Measurement(file.robot)
        self.drift, self.states, self.torque_step = 0.0, [], 0.0

    @property
    def control(self):
        return self.loop.controller

    def run(self, duration, each=None):
        """Advance; the largest distance from the held posture is kept in `drift`."""
        self.drift, last = 0.0, self.control.feedforward
        for _ in range(round(duration / self.loop.period)):
            self.plant.measure(self.measurement)
            command = self.loop.tick(self.measurement)
            assert self.loop.fault is None, self.loop.fault
            self.plant.step(command, self.loop.period)
            control = self.control
            error = abs(self.measurement.position - control._held).max()
            self.drift = max(self.drift, float(error))
            self.torque_step = max(self.torque_step, abs(control.feedforward - last).max())
            last = control.feedforward
            self._note(control)
            if each is not None and each():
                break

    def _note(self, control):
        seen = control.status, control.support.support
        if not self.states or self.states[-1] != seen:
            self.states.append(seen)


def real_plant(file):
    """Return a plant with preset lab, 5 ms of delay, masses 5 % larger and a slippery floor."""
    worse = dict(
        sensors=read_preset('lab')
        | {'measurement_delay': 0.003, 'command_delay': 0.002, 'seed': 1},
        world={**file.sections['world'], 'friction': 0.3},
    )
    return make_plant(
        replace(
            file,
            sections=file.sections | worse,
            robot=replace(file.robot, urdf=scale_masses(file.robot.urdf, 1.05)),
        )
    )


def stance(lift):
    """Return the posture that stands on the left sole with the right one lifted, m."""
    file = load_robot('humanoid')
    dynamics = Dynamics(file.robot)
    contacts = Stand(routine='hold').control.contacts
    over = search_posture(dynamics, file.start.posture, contacts, {BOTH[0]: 1.0, BOTH[1]: 0.0})
    return over, search_posture(
        dynamics, over, contacts, {BOTH[0]: 1.0, BOTH[1]: 0.0}, {BOTH[1]: lift}
    )


@pytest.mark.long
def test_half_a_minute_on_two_legs():
    """Standing on two legs would drift from its posture or fall."""
    stand = Stand(routine='hold')
    stand.run(30.0)
    assert stand.drift < 0.02
    assert stand.states == [('holding', BOTH)]
    forces = stand.plant.truth.foot_force[:, 2]
    assert forces.sum() == pytest.approx(stand.control.dynamics.weight, rel=1e-3)


@pytest.mark.long
def test_half_a_minute_on_one_leg():
    """Standing on one leg would drift from its posture or fall."""
    over, raised = stance(0.04)
    stand = Stand(routine='hold')
    stand.run(0.1)
    reference = stand.loop.reference
    reference.posture = over
    stand.run(2.0)
    reference.support = LEFT
    stand.run(1.0)
    reference.posture = raised
    stand.run(3.0)
    stand.run(30.0)
    assert stand.drift < 0.02
    assert stand.states[-1] == ('holding', LEFT)
    assert stand.plant.truth.foot_force[1, 2] == 0.0
    assert 'infeasible' not in {status for status, _ in stand.states}


@pytest.mark.long
@pytest.mark.parametrize('direction', [0.0, 0.5 * math.pi, math.pi])
def test_push_on_two_legs(direction):
    """A push of 0.2 N s per kg forward, sideways or backward would fell the robot."""
    stand = Stand(routine='hold')
    stand.run(1.0)
    mass = stand.control.dynamics.weight / 9.81
    stand.plant.push(0.2 * mass, direction)
    stand.run(1.0)
    assert stand.drift > 0.005  # it was felt
    stand.run(2.0)
    stand.run(1.0)
    assert stand.drift < 0.02 and stand.control.status == 'holding'


@pytest.mark.long
def test_changes_of_support():
    """Shifting the weight and standing on each leg in turn would fail or jerk a joint."""
    stand = Stand()
    stand.run(0.002)
    stand.torque_step = 0.0  # the first tick counts for two periods
    stand.run(31.0)
    supports = [
        support
        for i, (_, support) in enumerate(stand.states)
        if i == 0 or support != stand.states[i - 1][1]
    ]
    single = [support for support in supports if support != BOTH]  # a landing foot may rebound
    assert [s for i, s in enumerate(single) if s not in single[:i]] == [LEFT, ('right_sole',)]
    assert supports[0] == supports[-1] == BOTH and sorted(single, key=single.index) == single
    assert {status for status, _ in stand.states} <= {'holding', 'changing_support'}
    rate = stand.control.values.effort_rate
    assert stand.torque_step <= rate * stand.loop.period * (1.0 + 1e-9)


@pytest.mark.long
def test_changes_of_support_with_real_sensors():
    """With noise, 5 ms of delay, wrong masses and a slippery floor the law would make joints swing
    as a leg is unloaded, or let the body sway off its leg."""
    file = load_robot('humanoid')
    run = run_plant(real_plant(file), ControlLoop(file), file.start, 9.5)
    assert run.fault is None and not run.broke_off
    assert (run.contact[-1] == [True, False]).all()  # it stands on one leg


def test_push_with_real_sensors():
    """The foot that a push lifts would rattle on its edges until its ankle is too fast."""
    file = load_robot('humanoid', [('static_torque.routine', 'hold')])
    plant = real_plant(file)
    plan_disturbances(plant, ['push=0.35@0.5s:direction=240'])
    run = run_plant(plant, ControlLoop(file), file.start, 1.5)
    assert run.fault is None and not run.broke_off


@pytest.mark.long
def test_sway_dies_down_on_one_leg():
    """On one leg the body would go on swaying for half a minute after a touch."""
    over, raised = stance(0.04)
    stand = Stand(routine='hold')
    stand.run(0.1)
    stand.loop.reference.posture = over
    stand.run(2.0)
    stand.loop.reference.support = LEFT
    stand.run(1.0)
    stand.loop.reference.posture = raised
    stand.run(1.0)
    stand.plant.push(0.05 * stand.control.dynamics.mass, 0.5 * math.pi)
    stand.run(2.0)
    stand.run(0.5)
    assert stand.drift < 0.01 and stand.states[-1] == ('holding', LEFT)


@pytest.mark.long
def test_lean_is_called_impossible_before_it_tips():
    """The robot would tip over its toes before the distributor says that it cannot hold."""
    stand = Stand(routine='hold', posture_rate=0.05)
    stand.run(0.5)
    posture = stand.file.start.posture.copy()
    for side in ('left', 'right'):
        posture[stand.file.robot.joints.index(f'{side}_ankle_pitch')] += 0.5
    stand.loop.reference.posture = posture
    stand.run(10.0, lambda: stand.control.shortfall is not None)
    assert stand.control.status == 'infeasible'
    assert stand.control.shortfall.limit == 'centre_of_pressure'
    assert stand.control.solution.torque is None and not stand.control.feasible
    # both soles still lie flat: the base leans by what the leg joints say
    joints = [
        stand.file.robot.joints.index(f'left_{name}')
        for name in ('hip_pitch', 'knee', 'ankle_pitch')
    ]
    bent = float(stand.measurement.position[joints].sum())
    assert abs(bent) > 0.05
    assert stand.loop.state.base.pitch == pytest.approx(-bent, abs=5e-3)
    assert stand.plant.truth.foot_force[:, 2].min() > 0.2 * stand.control.dynamics.weight
