# SPDX-License-Identifier: Apache-2.0
"""Balance within the soles: margin of the capture point, sway, gains for a delay."""

import math

import numpy as np
import pinocchio as pin
import pytest
from static_robots import humanoid_file

from walking_control.controllers.static_torque.body_motion import BodyMotion
from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.controllers.static_torque.gains import coupled_inertias, DelayBounds, mobility
from walking_control.controllers.static_torque.parameters import StaticTorqueParameters
from walking_control.controllers.static_torque.support_change import SupportChange
from walking_control.loading import load_robot
from walking_control.models.base import ROOT
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.statics.kernels import hull_of, margin_inside, share_inside

FEET = ('left_sole', 'right_sole')
DT = 0.002


@pytest.fixture(scope='module')
def control():
    """Return the controller of the humanoid."""
    return PostureControl(humanoid_file(), StaticTorqueParameters.read({}))


def standing(control, push=(0.0, 0.0)):
    """Return state and command; the body turns about its soles with a centre-of-mass speed."""
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
    square = hull_of(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]))
    assert margin_inside(square, np.array([0.3, 0.5])) == pytest.approx(0.3)
    assert margin_inside(square, np.array([0.5, 1.25])) == pytest.approx(-0.25)
    assert margin_inside(square, np.array([1.3, 1.4])) == pytest.approx(-0.5)  # from a corner


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
    v = np.concatenate((state.base.linear, state.base.angular, rates))  # upright: axes agree
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
    assert 0.8 * half < rest <= half
    ahead, _, height = control.balance._now.com - control.balance._now.feet[0]
    reach = 0.3 / np.sqrt(9.81 / height)  # of the capture point ahead of the centre of mass
    assert said[0.3]['capture_margin'] == pytest.approx(half - ahead - reach, abs=0.003)
    assert said[0.6]['capture_margin'] < -0.02


def test_margin_on_a_slope():
    """On a slope the capture point would be sought along the normal of the floor, not where
    gravity points."""
    margins = {}
    for slope in (0.0, 0.05):  # downhill ahead
        file = load_robot('humanoid', [('world.slope', slope)])
        control = PostureControl(file, StaticTorqueParameters.read({}))
        state, command = standing(control)
        control.update(state, Reference(), DT, command)
        margins[slope] = control.balance.margin
        height = control.balance._now.com[2] - control.balance._now.feet[0][2]
    ahead = control.balance._now.com[0] - control.balance._now.feet[0][0]  # below zero: behind
    moved = height * math.tan(0.05)
    half = 0.5 * control.values.sole_length
    assert margins[0.0] == pytest.approx(half + ahead, abs=1e-3)
    assert margins[0.05] == pytest.approx(half - ahead - moved, abs=1e-3)
    assert control.solution.feasible  # the braked program agrees


@pytest.mark.parametrize(
    'move, share', [((0.5, 0.0), 1.0), ((1.0, 0.0), 0.7), ((0.0, -1.0), 0.5), ((0.0, 0.0), 1.0)]
)
def test_share_of_a_move(move, share):
    """Braking would take the centre of pressure over an edge of the soles, or not up to it."""
    square = hull_of(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert share_inside(square, np.array([0.3, 0.5]), np.array(move)) == pytest.approx(share)
    assert share_inside(square, np.array([-0.1, 0.5]), np.array(move)) == 0.0


@pytest.mark.parametrize('speed', [(0.1, 0.0), (0.0, -0.15), (0.6, 0.1)])
def test_sway_is_braked_within_the_soles(control, speed):
    """Torques would speed a swaying body up, brake it less than the soles allow, or more."""
    state, command = standing(control, speed)
    for _ in range(20):
        control.update(state, Reference(), DT, command)
    solution, balance = control.solution, control.balance
    total = sum(wrench[:3] for wrench in solution.wrenches.values())  # the soles are level
    ahead = np.array(speed) / np.linalg.norm(speed)
    now = balance._now
    height = now.com[2] - now.feet[0][2]
    pressure = now.com[:2] + height / control.dynamics.weight * -total[:2]
    rest = margin_inside(balance._hull, now.com[:2])
    if balance.margin > 0.01:  # under the capture point
        reach = balance._velocity[:2] / np.sqrt(9.81 / height)  # what has come through the filter
        assert pressure - now.com[:2] == pytest.approx(reach, rel=1e-3, abs=1e-6)
    else:
        assert 0.0 < margin_inside(balance._hull, pressure) < 0.15 * rest
    assert total[:2] @ ahead < 0.0 and solution.feasible


def test_held_motion_is_not_braked(control):
    """A commanded move of the centre of mass would be resisted as if it were a push."""
    state, command = standing(control)
    posture = humanoid_file().start.posture.copy()
    posture[
        [control.dynamics.joints.index(f'{side}_ankle_roll') for side in ('left', 'right')]
    ] += 0.05
    reference = Reference(posture=posture)
    for _ in range(30):
        before = control._held.copy()
        control.update(state, reference, DT, command)
        state.velocity[:] = (control._held - before) / DT
        state.position[:] = control._held
        # both soles stay level while the ankles roll: the base turns
        rate = state.velocity[control.dynamics.joints.index('left_ankle_roll')]
        angle = control._held[control.dynamics.joints.index('left_ankle_roll')]
        state.base.angular[:] = [-rate, 0.0, 0.0]
        state.base.orientation[:] = [-np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)]
        foot = control.balance._now.feet.mean(axis=0)
        state.base.linear[:] = np.cross(state.base.angular, -foot)
    sway = abs(control.balance._velocity[1])
    assert sway > 0.05
    assert abs(control.balance.brake(1.0)[1]) < 0.1 * np.sqrt(9.81 / 0.55) * sway


def test_inertia_of_a_pendulum_and_of_legs():
    """Gains would follow from an inertia that no joint has."""
    file = humanoid_file()
    dynamics = PostureControl(file, StaticTorqueParameters.read({})).dynamics
    free, fixed = (
        1.0 / np.diag(mobility(dynamics, file.start.posture, frames))
        for frames in ((), [dynamics.frame(foot) for foot in FEET])
    )
    ankle, elbow = (dynamics.joints.index(name) for name in ('left_ankle_roll', 'left_elbow'))
    # a forearm of 0.9 kg, 0.1 m from its joint, and its motor; the upper arm gives way a little
    arm = 0.9 * (0.1**2 + (0.05**2 + 0.2**2) / 12) + 50.0**2 * 1e-5
    assert free[elbow] == pytest.approx(arm, rel=0.25)
    assert free[ankle] < 0.05 and fixed[ankle] > 1.0  # a foot, or the robot on it


def test_inertia_of_coupled_joints():
    """Two joints that move one body faster together than each alone would be given its gains."""
    W = np.array([[2.0, -1.5], [-1.5, 2.0]])  # the mode 1, -1 moves 1 / 3.5 kg m^2
    assert coupled_inertias(W) == pytest.approx(1.0 / np.array([3.5, 3.5]))
    scale = np.diag([1.0, 10.0])  # another unit for one of them changes nothing but its unit
    assert coupled_inertias(scale @ W @ scale) == pytest.approx(1.0 / np.array([3.5, 350.0]))
    assert coupled_inertias(np.diag([2.0, 5.0])) == pytest.approx([0.5, 0.2])


def test_delay_bounds():
    """A delay would make a leg swing, or gains would fall that no delay asks to."""
    file = humanoid_file()
    control = PostureControl(file, StaticTorqueParameters.read({}))
    frames, limits = list(control.distributor.frames.values()), control._limits
    stiffness, damping = 4.0 * limits, 0.15 * limits
    over = control._plan(file.start.posture)._keys[1][2]
    for posture in (file.start.posture, over):
        bounds = DelayBounds(control.dynamics, frames, posture)
        assert bounds.apply(stiffness, damping, 0.0, [0.0, 0.0])[0] is stiffness
        for standing in ((1, 1), (1, 0), (0, 1), (0, 0)):
            W = mobility(
                control.dynamics, posture, [frame for frame, on in zip(frames, standing) if on]
            )
            for delay in (0.005, 0.012):
                K, D = bounds.apply(stiffness, damping, delay, standing)
                fastest = np.linalg.eigvals(W * D).real.max()
                # within 60 degrees of phase, and not far below where the joints bind
                assert fastest * delay < np.pi / 6.0 + 1e-9
                assert delay < 0.01 or fastest * delay > 0.7 * np.pi / 6.0
                assert _settles(W, K, D, delay)
        assert not _settles(W, stiffness, damping, 0.02)


def _settles(W, stiffness, damping, delay, steps=5):
    """Return whether a delayed impedance of all joints is stable: by its map over a step."""
    n, dt = len(W), delay / steps
    size = n * (steps + 2)  # places, speeds, efforts on their way
    A = np.zeros((size, size))
    A[n : 2 * n, n : 2 * n], A[n : 2 * n, -n:] = np.eye(n), dt * W
    A[:n, :n], A[:n, n : 2 * n], A[:n, -n:] = np.eye(n), dt * np.eye(n), dt * dt * W
    A[2 * n : 3 * n, :n], A[2 * n : 3 * n, n : 2 * n] = -np.diag(stiffness), -np.diag(damping)
    A[3 * n :, 2 * n : -n] = np.eye(n * (steps - 1))
    return abs(np.linalg.eigvals(A)).max() < 1.0 + 1e-6  # what the floor holds stays: 1


def test_light_foot_is_soft(control):
    """A sole that hardly presses would be driven as if it stood firm, and turn over its edge."""
    state, _ = standing(control)
    firm = control._firmness()
    assert firm == pytest.approx([1.0, 1.0], abs=0.05)
    control._loads = dict(zip(FEET, (0.9 * control.dynamics.weight, 0.1 * control.dynamics.weight)))
    control.solution = None
    assert control._firmness() == pytest.approx([1.0, 0.2])
    control.support.share[1] = 0.05  # and never firmer than the change of support says
    assert control._firmness() == pytest.approx([1.0, 0.05])


def test_light_sole_is_not_turned_over(control):
    """An ankle would press a lightly loaded sole over its edge, and the foot rattle there; or a
    foot that stands, or one in the air, would lose torque."""
    q, (_, right) = control._q, control._bounds.legs
    frame = list(control.distributor.frames.values())[1]
    lever = control.dynamics.frame_jacobian(q, frame)[:, ROOT + right].T
    gravity = control.dynamics.gravity_efforts(q)[ROOT:]
    wrench = np.array([0.0, 0.0, 30.0, 3.0, -9.0, 0.0])  # 0.1 m beside the middle, 0.3 m ahead
    wanted = gravity.copy()
    wanted[right] -= lever @ wrench

    def limited(firm):
        effort = wanted.copy()
        control._soles.limit(q, effort, [1.0, firm])
        return effort

    assert (limited(0.0) == wanted).all() and (limited(1.0) == wanted).all()
    light = limited(1e-9)
    ankles = [control.dynamics.joints.index(f'right_ankle_{axis}') for axis in ('pitch', 'roll')]
    assert np.flatnonzero(abs(light - wanted) > 1e-9).tolist() == ankles
    edge = wrench.copy()
    edge[3], edge[4] = 30.0 * 0.045, -30.0 * 0.09  # of the soles relied on
    assert light[ankles] == pytest.approx((gravity[right] - lever @ edge)[-2:], abs=1e-6)
    assert limited(0.5)[ankles] == pytest.approx(0.5 * (light + wanted)[ankles], abs=1e-6)


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
