# SPDX-License-Identifier: Apache-2.0
"""Balance within the soles: margin of the capture point, the net wrench, gains for a delay."""

import numpy as np
import pinocchio as pin
import pytest
from static_robots import humanoid_file

from walking_control.controllers.static_torque.balance import BodyMotion, margin_inside
from walking_control.controllers.static_torque.controller import PARAMETERS, PostureControl
from walking_control.controllers.static_torque.gains import DelayBounds, joint_inertias
from walking_control.controllers.static_torque.support_change import SupportChange
from walking_control.models.base import ROOT
from walking_control.models.signals import Command, Reference, WalkerState

FEET = ('left_sole', 'right_sole')
DT = 0.002


@pytest.fixture(scope='module')
def control():
    """Return the controller of the humanoid."""
    return PostureControl(humanoid_file(), PARAMETERS.validate({'balance_margin': 0.35}))


def standing(control, push=(0.0, 0.0)):
    """Return state and command; the whole body turns about its soles with a centre-of-mass speed.
    """
    file = humanoid_file()
    state, command = WalkerState(file.robot), Command(file.robot)
    state.position[:] = file.start.posture
    state.contact[:] = True
    control.reset(state)
    control.update(state, Reference(), DT, command)
    height = control.balance._now.com[2] - control.balance._now.feet[0][2]
    state.base.angular[:] = [-push[1] / height, push[0] / height, 0.0]
    foot = control.balance._now.feet.mean(axis=0)
    state.base.linear[:] = np.cross(state.base.angular, -foot)
    return state, command


def test_margin_of_a_square():
    """A point would be inside that is outside, or its distance to the edge be another's."""
    square = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    assert margin_inside(square, np.array([0.3, 0.5])) == pytest.approx(0.3)
    assert margin_inside(square, np.array([0.5, 1.25])) == pytest.approx(-0.25)
    assert margin_inside(square, np.array([1.3, 1.4])) == pytest.approx(-0.5)   # from a corner


def test_velocity_of_the_centre_of_mass(control):
    """The capture point would rest on another velocity than differences of places give."""
    rng = np.random.default_rng(0)
    dynamics, file = control.dynamics, humanoid_file()
    state = WalkerState(file.robot)
    state.base.linear[:], state.base.angular[:] = rng.normal(size=3), rng.normal(size=3)
    rates = rng.normal(size=len(file.robot.joints))
    q = dynamics.configuration(file.start.posture)
    motion = BodyMotion(dynamics, control.contacts)
    motion.update(q, rates, state.base)
    v = np.concatenate((state.base.linear, state.base.angular, rates))   # upright: axes agree
    step = pin.integrate(dynamics.model, dynamics.to_pinocchio(q).copy(), 1e-6 * v)
    there = pin.centerOfMass(dynamics.model, dynamics.model.createData(), step)
    assert motion.velocity == pytest.approx((there - motion.com) / 1e-6, abs=1e-4)


def test_margin_says_it_before_the_robot_tips(control):
    """A push that needs a step would not be seen in the telemetry while the robot still stands."""
    names = [name for name, _ in control.telemetry_fields(humanoid_file().robot)]
    said = {}
    for speed in (0.0, 0.3, 0.6):
        state, command = standing(control, (speed, 0.0))
        for _ in range(20):
            control.update(state, Reference(), DT, command)
        out = np.zeros(len(names))
        control.write_telemetry(out)
        said[speed] = dict(zip(names, out))
    half, rest = 0.5 * control.values.sole_length, said[0.0]['capture_margin']
    assert 0.8 * half < rest <= half and said[0.0]['balance_share'] == 0.0
    ahead, _, height = control.balance._now.com - control.balance._now.feet[0]
    reach = 0.3 / np.sqrt(9.81 / height)   # of the capture point ahead of the centre of mass
    assert said[0.3]['capture_margin'] == pytest.approx(half - ahead - reach, abs=0.003)
    assert said[0.6]['capture_margin'] < -0.02 and said[0.6]['balance_share'] == 1.0


@pytest.mark.parametrize('speed', [(0.25, 0.0), (-0.25, 0.0), (0.0, 0.3)])
def test_balance_brings_the_body_back(control, speed):
    """The floor would be asked for a force that speeds a falling robot up, or for one it cannot
    give."""
    state, command = standing(control, speed)
    for _ in range(20):
        control.update(state, Reference(), DT, command)
    balance, program = control.balance, control.distributor.program(FEET)
    torque = balance.torque(control._q, state.base, program, {}, 0.01, 100.0, 25.0)
    # what the floor must do for these torques with the legs at rest
    lever = program._jacobian[:, ROOT:]
    forces = np.linalg.lstsq(lever.T, program.gravity[ROOT:] - torque, rcond=None)[0]
    total = sum(forces[part][:3] for part in program.slices)
    ahead = np.array(speed) / np.linalg.norm(speed)
    assert total[:2] @ ahead < -0.1 * control.dynamics.weight
    rows, bound = program.contact_limits
    assert (rows @ forces - bound >= -1e-5 * control.dynamics.weight).all()


def test_margin_without_balance():
    """The capture point would only be watched where the balance is switched on."""
    control = PostureControl(humanoid_file(), PARAMETERS.validate({}))
    state, command = standing(control, (0.6, 0.0))
    for _ in range(20):
        control.update(state, Reference(), DT, command)
    assert control.balance.margin < -0.02 and control.balance_share == 0.0


def test_inertia_of_a_pendulum_and_of_legs():
    """Gains would follow from an inertia that no joint has."""
    file = humanoid_file()
    dynamics = PostureControl(file, PARAMETERS.validate({})).dynamics
    posture = file.start.posture
    free = joint_inertias(dynamics, posture, ())
    fixed = joint_inertias(dynamics, posture, [dynamics.frame(foot) for foot in FEET])
    ankle, elbow = (dynamics.joints.index(name) for name in ('left_ankle_roll', 'left_elbow'))
    # a forearm of 0.9 kg, 0.1 m from its joint, and its motor; the upper arm gives way a little
    arm = 0.9 * (0.1 ** 2 + (0.05 ** 2 + 0.2 ** 2) / 12) + 50.0 ** 2 * 1e-5
    assert free[elbow] == pytest.approx(arm, rel=0.25)
    assert free[ankle] < 0.05 and fixed[ankle] > 1.0   # a foot, or the robot on it


def test_delay_bounds():
    """A delay would make a foot off the floor swing, or gains fall that no delay asks to."""
    file = humanoid_file()
    control = PostureControl(file, PARAMETERS.validate({}))
    bounds = DelayBounds(control.dynamics, list(control.distributor.frames.values()),
                         file.start.posture)
    n = len(control.dynamics.joints)
    stiffness, damping = np.full(n, 200.0), np.full(n, 10.0)
    assert bounds.apply(stiffness, damping, 0.0, [0.0, 0.0])[0] is stiffness
    ankle = control.dynamics.joints.index('left_ankle_pitch')
    for delay in (0.005, 0.01, 0.02):
        soft, free = (values[ankle] for values in bounds.apply(stiffness, damping, delay,
                                                               [0.0, 1.0]))
        inertia = joint_inertias(control.dynamics, file.start.posture, ())[ankle]
        # the loop of damping and delay keeps 60 degrees of phase; stepped, it settles
        assert free * delay / inertia == pytest.approx(np.pi / 6.0, rel=1e-9)
        assert _settles(inertia, soft, free, delay)
        assert not _settles(inertia, 200.0, 10.0, delay)
        stiff, held = (values[ankle] for values in bounds.apply(stiffness, damping, delay,
                                                                [1.0, 1.0]))
        assert stiff >= soft and held >= free


def _settles(inertia, stiffness, damping, delay, dt=1e-4):
    """Return whether a delayed impedance brings a joint to rest."""
    place, speed, late = 0.01, 0.0, [0.0] * round(delay / dt)
    for _ in range(round(3.0 / dt)):
        late.append(-stiffness * place - damping * speed)
        speed += late.pop(0) / inertia * dt
        place += speed * dt
        if abs(place) > 1.0:
            return False
    return abs(place) < 0.005


def test_feet_that_land_together_carry_at_once():
    """After a hop no foot would be allowed to carry for the rest of a ramp."""
    change = SupportChange(FEET, debounce=0.0, ramp_time=0.5)
    change.update([False, False], None, DT)
    assert change.support == ()
    change.update([True, True], None, DT)
    assert change.share == [0.5, 0.5]
    for _ in range(400):
        change.update([True, True], None, DT)
        assert sum(change.share) >= 1.0
    assert change.share == [1.0, 1.0]
