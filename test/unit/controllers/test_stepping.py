# SPDX-License-Identifier: Apache-2.0
"""The parts of the stepping law, each against what it is derived from."""

import cmath
from dataclasses import replace
from itertools import product
import math
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import Stoppable
from walking_control.controllers.natural_walking.gait_motion import move_foot, turn_joints
from walking_control.controllers.natural_walking.gait_plan import plan_on_gait
from walking_control.controllers.natural_walking.reference import choose, row_at
from walking_control.controllers.registry import make_controller
from walking_control.controllers.stepping import law
from walking_control.controllers.stepping.body import Body, see_foot
from walking_control.controllers.stepping.controller import Stepping
from walking_control.controllers.stepping.floor import Floor
from walking_control.controllers.stepping.heading import StrideMean
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.prediction import Prediction
from walking_control.controllers.stepping.size import Size
from walking_control.controllers.stepping.step_plan import (
    Aim,
    Fall,
    find_fall,
    find_step,
    find_stop,
    plan_step,
    pressure_place,
    steady_aim,
    steady_offset,
    Step,
    StepLimits,
    Swing,
    SwingLeg,
)
from walking_control.controllers.stepping.stoppable import judge_stop
from walking_control.controllers.stepping.swing import (
    advance_swing,
    hold_swing,
    SwingFoot,
    SwingWay,
)
from walking_control.controllers.stepping.tasks import (
    BalanceTask,
    FootTask,
    FootTurnTask,
    PressureTask,
    TrunkTask,
)
from walking_control.controllers.stepping.touchdown import Descent, Touchdown
from walking_control.controllers.stepping.trim import SpeedTrim
from walking_control.controllers.stepping.trip import Trip
from walking_control.controllers.stepping.whole_body import (
    fill_program,
    FootContact,
    Gains,
    MotorLimits,
    torque_range,
    turn_about_normal,
    WholeBody,
)
from walking_control.exceptions import IncompatibleController, ParameterError
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import WalkerState
from walking_control.models.support.compiled import compile_law
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant, simulate

LIMITS = StepLimits(0.3, 0.15, 0.5, 0.16, 2.0, 0.02, 2.0, 2.0, 1e4, 10.0)
SHAPE = SteppingParameters(step_time=0.3, touchdown_speed=0.2, sinking=0.25, early=0.03)
RATE = 3.9
HIP = np.zeros(2)


def pendulum(x, v, time):
    """Return place and velocity of the linear inverted pendulum after a time."""
    c, s = math.cosh(RATE * time), math.sinh(RATE * time)
    return x * c + v / RATE * s, x * RATE * s + v * c


def test_the_wanted_gait_repeats_itself():
    """The offset of the gait would not be that of a walk with this speed, time and width."""
    wanted, side = np.array([0.5, 0.1, 0.0]), 1.0
    way, xi = np.zeros(2), steady_offset(wanted, -side, RATE, LIMITS)
    for _ in range(2):  # two steps: the width comes back
        grown = xi * math.exp(RATE * LIMITS.time)
        foothold = grown - steady_offset(wanted, side, RATE, LIMITS)
        way += foothold
        xi, side = grown - foothold, -side
    np.testing.assert_allclose(way, 2.0 * LIMITS.time * wanted[:2], atol=1e-12)
    np.testing.assert_allclose(xi, steady_offset(wanted, -1.0, RATE, LIMITS), atol=1e-12)


def test_a_turning_gait_goes_where_it_looks():
    """Turning, the robot would drift to the outside: each step it would be aimed as if ahead."""
    wanted, time = np.array([0.5, 0.1, 0.9]), LIMITS.time
    turn = cmath.exp(1j * wanted[2] * time)

    def offset(side, left=0.0):
        return complex(*steady_offset(wanted, side, RATE, LIMITS, left))

    for side in (-1.0, 1.0):
        foothold = offset(-side) * math.exp(RATE * time) - offset(side, time)
        np.testing.assert_allclose(  # seen from the heading in which it lands
            foothold / turn, complex(*wanted[:2]) * time + 1j * side * LIMITS.width, atol=1e-12
        )
    assert offset(1.0, time) == pytest.approx(offset(1.0) * turn)


def plan(com, velocity, wanted, side, elapsed, foot, pace, hip, limits, last=math.inf):
    """Return the step of the pendulum's own gait."""
    aim = steady_aim(wanted, side, limits)
    fall, leg = Fall(com, velocity, RATE), SwingLeg(side, foot, pace, hip)
    return plan_step(fall, leg, aim, elapsed, limits, last)


def test_a_push_is_caught_in_one_step():
    """Within its reach one foothold must end the disturbance: the pendulum is simulated to it."""
    wanted = np.array([0.3, 0.0, 0.0])
    x, v = np.array([0.02, -0.06]), np.array([0.9, -0.4])
    step = plan(x, v, wanted, -1.0, 0.1, np.array([0.0, -0.1, 0.03]), HIP, HIP, LIMITS)
    x, v = pendulum(x, v, step.remaining)
    assert step.missing < 1e-9
    np.testing.assert_allclose(
        x - step.foothold + v / RATE, steady_offset(wanted, -1.0, RATE, LIMITS), atol=1e-9
    )


def test_time_gives_what_reach_cannot():
    """A push beyond the reach must hasten the step: waiting makes the fall grow."""
    near = LIMITS._replace(reach=0.35, hip_reach=0.35)
    calm, pushed = (
        plan(
            np.zeros(2),
            np.array([speed, -0.3]),
            np.zeros(3),
            -1.0,
            0.0,
            np.array([0.0, -0.16, 0.0]),
            HIP,
            HIP,
            near,
        )
        for speed in (0.1, 0.75)
    )
    assert pushed.remaining < calm.remaining - 0.05
    assert pushed.missing < 0.02


def gait_plan(limits, center, out=0.0):
    """Return the step of a gait about to land at 0.25 m, and its aim; `out`: pushed so far, m."""
    foothold, left, wanted = np.array([0.25, 0.15]), 0.1, np.array([0.8, 0.0, 0.0])
    gait = np.array([0.1, -0.05])
    capture = center + (foothold - center + gait) * math.exp(-RATE * left)
    capture[1] += out
    fall = Fall(np.array([0.05, 0.05]), RATE * (capture - np.array([0.05, 0.05])), RATE)
    foot, pace, still = np.array([0.05, 0.12, 0.02]), np.array([2.2, 0.2, 0.0]), np.zeros(3)
    swing = Swing(1.0, foot, pace, still, still, 0.0, 0.0)
    aim = Aim(wanted, 0.3, 0.15, foothold - center, left, gait, True)
    return find_step(fall, swing, aim, limits, center, 0.2, math.inf, 0.0), aim


def test_a_gait_is_not_put_off_for_a_leg_that_walks_it():
    """A slow leg was counted as late on its own gait: steps were 24 ms too long, and dearer."""
    slow = LIMITS._replace(acceleration=10.0)
    step, aim = gait_plan(slow, np.zeros(2))
    assert step.remaining == aim.remaining
    np.testing.assert_allclose(step.foothold, [0.25, 0.15], atol=1e-9)


def test_limits_sideways_are_those_between_the_feet():
    """They were counted from where the floor presses: a narrow gait was clipped, and put off."""
    tight, center = LIMITS._replace(narrowest=0.145), np.array([-0.04, 0.01])
    step, aim = gait_plan(tight, center)
    assert step.remaining == aim.remaining
    step, _ = gait_plan(tight, center, -0.03)
    assert step.foothold[1] >= 0.145 - 1e-9


def test_the_sole_ends_what_the_foothold_does_not():
    """The ankle would push the wrong way, or too far: the pendulum is simulated on its pressure."""
    wanted, side = np.array([0.3, 0.0, 0.0]), -1.0
    near = LIMITS._replace(reach=0.2)
    x, v = np.array([0.02, -0.06]), np.array([1.0, -0.4])
    step = plan(x, v, wanted, side, 0.1, np.array([0.0, -0.1, 0.03]), HIP, HIP, near)
    assert step.missing > 0.01
    place = pressure_place(x + v / RATE, step, RATE, wanted, side, near)
    end, speed = pendulum(x - place, v, step.remaining)
    np.testing.assert_allclose(
        end + place - step.foothold + speed / RATE,
        steady_offset(wanted, side, RATE, near),
        atol=1e-9,
    )


def test_friction_is_that_of_the_cone():
    """Forces beyond friction would slip; a pyramid that wastes it makes the robot hop for more."""
    for contact in (FootContact(0.1, 0.05, 0.5, 0.0, 2.0), FootContact(0.0, 0.0, 0.5, 0.003, 2.0)):
        angles = np.linspace(0.0, 2.0 * math.pi, 121)
        force = np.zeros((121, contact.size))
        force[:, 0], force[:, 1], force[:, 2] = np.cos(angles), np.sin(angles), 100.0
        slope = contact.rows[:, :2] @ force[:, :2].T
        with np.errstate(divide='ignore', invalid='ignore'):
            most = np.where(slope < -1e-12, (contact.rows[:, 2:3] * 100.0) / -slope, np.inf)
        most = most.min(axis=0)
        assert most.max() <= 50.0 + 1e-9
        assert most.min() >= 46.0
        np.testing.assert_allclose(most[::30], 50.0)  # ahead, back and sideways all of it


def test_legs_do_not_cross_and_reach_no_further_than_they_can():
    """A foothold beyond the limits would be a fall, or a leg through the other."""
    limits = LIMITS._replace(reach=0.5, narrowest=0.08, hip_reach=0.3)
    rng = np.random.default_rng(0)
    for _ in range(300):
        side = rng.choice((-1.0, 1.0))
        hip = np.array([0.0, 0.07 * side])
        com, velocity = rng.normal(0.0, 0.1, 2), rng.normal(0.0, 1.0, 2)
        step = plan(
            com,
            velocity,
            rng.normal(0.0, 0.5, 3),
            side,
            0.1,
            np.array([0.0, 0.1 * side, 0.02]),
            HIP,
            hip,
            limits,
        )
        x, _ = pendulum(com, velocity, step.remaining)
        assert np.hypot(*(step.foothold - x - hip)) <= 0.3 + 1e-9
        assert step.remaining >= limits.shortest - 0.1 - 1e-12
        assert np.isfinite([*step.foothold, step.remaining]).all()


def test_a_landing_that_is_near_is_not_put_off():
    """A foothold that runs away with the fall would be chased until the robot is down."""
    args = (
        np.array([0.1, -0.1]),
        np.array([0.6, -0.2]),
        np.zeros(3),
        -1.0,
        0.25,
        np.array([0.1, -0.1, 0.01]),
        HIP,
        HIP,
        LIMITS._replace(acceleration=50.0),
    )
    assert plan(*args).remaining > 0.1
    assert plan(*args, last=0.05).remaining <= 0.05


def test_the_swing_foot_arrives():
    """The foot would land elsewhere, late, or hit the floor faster than it should."""
    foot, dt = SwingFoot(), 0.002
    foot.start(np.array([-0.2, 0.16, 0.0]), np.array([0.1, 0.0, 0.05]))
    aim, highest, total = np.array([0.2, 0.1]), 0.0, 0.3
    for tick in range(150):
        elapsed = tick * dt
        if elapsed > 0.1:
            aim = np.array([0.25, 0.12])  # the plan changes its mind
        foot.advance(SwingWay(aim, total - elapsed, 0.06), elapsed, dt, SHAPE)
        highest = max(highest, foot.position[2])
    np.testing.assert_allclose(foot.position[:2], aim, atol=1e-9)
    assert abs(foot.position[2]) < 2e-3 and abs(foot.velocity[2] + 0.25) < 0.06
    assert highest == pytest.approx(0.06, abs=0.004)
    for _ in range(20):
        foot.advance(SwingWay(aim, -0.01, 0.06), 0.3, dt, SHAPE)
    assert foot.velocity[2] == -0.25  # the floor is late: it is looked for


def test_a_floor_that_is_lower_is_found_soon():
    """The fall would grow meanwhile: down blind stairs it ran ever faster."""
    foot, dt, late = SwingFoot(), 0.002, 0.0
    foot.start(np.array([0.2, 0.1, 0.0]), np.array([0.0, 0.0, -0.2]))
    while foot.position[2] > -0.05:
        late += dt
        foot.advance(SwingWay(np.array([0.2, 0.1]), -late, 0.06), 0.3 + late, dt, SHAPE)
    assert late == pytest.approx(0.083, abs=0.003)


def test_a_hurried_swing_foot_is_down_in_time():
    """It would hang over the floor when it should carry, and the fall would go on meanwhile."""
    foot, dt = SwingFoot(), 0.002
    foot.start(np.array([0.0, 0.16, 0.0]), np.zeros(3))
    highest = 0.0
    for tick in range(75):
        way = SwingWay(np.array([0.1, 0.16]), 0.15 - tick * dt, 0.06)
        foot.advance(way, tick * dt, dt, SHAPE)
        highest = max(highest, foot.position[2])
    assert highest == pytest.approx(0.03, abs=0.003)  # half the time, half the height
    assert abs(foot.position[2]) < 2e-3


def test_a_push_does_not_teach_the_speed():
    """The robot would run for seconds after a push, to make up for what it lost."""
    trim, aim, width = SpeedTrim(), np.array([0.5, 0.0]), np.array([0.0, 0.16])
    for i, speed in enumerate([0.47] * 12 + [-0.4, -0.3, 0.2] + [0.47] * 4):
        if i == 12:
            learned = trim.value.copy()
        trim.add(np.array([0.3 * speed, 0.0]) + (-1) ** i * width, 0.3, aim, 0.2)
    assert learned[0] == pytest.approx(0.2 * 10 * 0.03)  # what is steadily off is learned
    np.testing.assert_allclose(trim.value, learned, atol=0.04)


@pytest.fixture(scope='module')
def robot_file():
    """Return the biped on soles."""
    return load_robot('walker3d')


def moving(dynamics, seed):
    """Return a configuration near standing and a velocity."""
    rng = np.random.default_rng(seed)
    q = dynamics.configuration(np.zeros(len(dynamics.joints)))
    q[7:] = load_robot('walker3d').start.posture + rng.normal(0.0, 0.1, len(q) - 7)
    return q, rng.normal(0.0, 0.3, dynamics.nv)


def test_momentum_about_a_foot(robot_file):
    """The fall would be judged by another momentum than the robot's."""
    dynamics = Dynamics(robot_file.robot)
    body = Body(dynamics)
    q, v = moving(dynamics, 1)
    body.update(q, v)
    point = body.feet[0].position
    model, data = dynamics.model, dynamics.data
    pin.forwardKinematics(
        model, data, dynamics.to_pinocchio(q), v[np.argsort(dynamics.pinocchio_order)]
    )
    total = np.zeros(3)
    for joint in range(1, model.njoints):  # body by body
        inertia, motion = model.inertias[joint], data.v[joint]
        force = data.oMi[joint].act(inertia * motion)
        total += force.angular - np.cross(point, force.linear)
    np.testing.assert_allclose(body.momentum_about(point), total, atol=1e-10)
    assert body.leg_length == pytest.approx(0.8)


OPEN = np.array([[-np.inf], [np.inf]]) * np.ones(12)  # joints without stops


def strong(robot_file):
    """Return the limits of the robot's motors without that by their speed."""
    motors = [replace(motor, supply_voltage=0.0) for motor in robot_file.robot.actuators.values()]
    return MotorLimits(motors, np.full(12, 60.0), np.full(12, np.inf))


def test_fast_joints_are_asked_for_less(robot_file):
    """The program would plan with torques that the supply voltage cannot drive."""
    motors = list(robot_file.robot.actuators.values())
    speed = np.linspace(-14.0, 14.0, len(motors))
    stall = np.array([motor.stall_effort for motor in motors])
    drag = np.array([motor.speed_drag for motor in motors])
    low, high = torque_range(np.full(12, 60.0), stall, drag, speed)
    for motor, w, least, most in zip(motors, speed, low, high):
        given = motor.effort_range(w)
        assert most == pytest.approx(min(60.0, max(given[1], 0.0)))
        assert least == pytest.approx(max(-60.0, min(given[0], 0.0)))
        if abs(w) < 12.0:  # at the limit current and induced voltage make up the supply's
            volts = motor.resistance * motor.current(given[1]) + motor.torque_per_ampere * w
            assert volts == pytest.approx(24.0)


@pytest.mark.parametrize('standing', [(0,), (0, 1)])
def test_torques_do_what_was_planned(robot_file, standing):
    """Torque, accelerations and forces would not belong together, or break a limit."""
    dynamics = Dynamics(robot_file.robot)
    body = Body(dynamics)
    contact = FootContact(0.1, 0.05, 0.5, 0.0, 2.0)
    program = WholeBody(body, contact, strong(robot_file), OPEN)
    for seed in range(10):
        body.update(*moving(dynamics, seed))
        program.begin(standing)
        program.want(np.eye(3), np.array([1.0, -2.0, 0.5]), 1.0, 3)
        BalanceTask(np.array([0.3, 0.1]), 0.1).add_to(program)
        torque = program.solve()
        efforts = body.mass_matrix @ program.acceleration + body.bias
        for foot, force in zip(body.feet, program.forces):
            efforts -= foot.jacobian.T @ force
        np.testing.assert_allclose(efforts[:6], 0.0, atol=1e-6)
        np.testing.assert_allclose(efforts[6:], torque, atol=1e-6)
        assert np.abs(torque).max() <= 60.0
        for foot in standing:
            state, force = body.feet[foot], program.forces[foot]
            assert np.hypot(*force[:2]) <= 0.5 * force[2] + 1e-6
            rows = contact.rows @ turn_about_normal(state.rotation) @ force
            assert (rows >= contact.bound - 1e-6).all()
            np.testing.assert_allclose(
                state.jacobian @ program.acceleration + state.drift,
                -20.0 * state.velocity,
                atol=1e-6,
            )


def test_a_sole_holds_the_heading(robot_file):
    """The floor's moment about the normal would be left unused, and each step turn the trunk."""
    dynamics = Dynamics(robot_file.robot)
    body = Body(dynamics)
    program = WholeBody(body, FootContact(0.1, 0.05, 0.5, 0.0, 2.0), strong(robot_file), OPEN)
    body.update(dynamics.configuration(robot_file.start.posture), np.zeros(dynamics.nv))
    program.begin((0,))
    program.want(np.eye(6), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0]), 1.0)
    program.solve()
    assert program.acceleration[5] == pytest.approx(2.0, abs=0.05)
    assert abs(program.forces[0, 5]) > 0.1  # N m


def test_a_wish_within_the_limits_is_met(robot_file):
    """Weights would matter although nothing stands in the way."""
    dynamics = Dynamics(robot_file.robot)
    body = Body(dynamics)
    program = WholeBody(body, FootContact(0.1, 0.05, 0.5, 0.0, 2.0), strong(robot_file), OPEN)
    q = dynamics.configuration(robot_file.start.posture)
    body.update(q, np.zeros(dynamics.nv))
    program.begin((0, 1))
    program.want(np.eye(3), np.array([0.5, 0.3, -0.2]), 1.0, 3)
    program.want(np.array([[0.0, 0.0, 1.0]]), np.array([0.7]), 1.0)
    program.solve()
    np.testing.assert_allclose(program.acceleration[3:6], [0.5, 0.3, -0.2], atol=1e-3)
    assert program.acceleration[2] == pytest.approx(0.7, abs=1e-3)


def test_a_knee_does_not_lock_itself(robot_file):
    """A leg swung straight would be pushed into its stop, and one that stands fall there."""
    dynamics = Dynamics(robot_file.robot)
    body, knee = Body(dynamics), 9  # the right one
    stops = OPEN.copy()
    stops[0, knee] = 0.0
    program = WholeBody(body, FootContact(0.1, 0.05, 0.5, 0.0, 2.0), strong(robot_file), stops)
    q, v = dynamics.configuration(robot_file.start.posture), np.zeros(dynamics.nv)
    q[7 + knee], v[6 + knee] = 0.01, -3.0
    body.update(q, v)
    for standing in (0,), (1,):  # 6 / 0.015 + 0.04 / 0.015^2
        program.begin(standing)
        program.want(np.eye(1), np.zeros(1), 1.0, 6 + knee)
        program.solve()
        assert program.acceleration[6 + knee] == pytest.approx(400.0, rel=0.5)


def test_a_knee_does_not_bend_backwards(robot_file):
    """A pushed G1 hyperextended its knee: its foot dragged along the floor, and it fell."""
    knees, posture = ('left_knee', 'right_knee'), robot_file.start.posture
    root = ElementTree.fromstring(robot_file.robot.urdf)
    for joint in root.findall('joint'):
        if joint.get('name').endswith('ankle_pitch'):
            joint.find('origin').set('xyz', '0.04 0 -0.4')  # no longer below the knee at zero
    for bent in 1.0, -1.0:
        low, high = sorted((-0.2 * bent, 2.4 * bent))
        given = robot_file.robot
        limits = {joint: replace(given.limits[joint], lower=low, upper=high) for joint in knees}
        robot = replace(
            given,
            urdf=ElementTree.tostring(root, encoding='unicode'),
            limits={**given.limits, **limits},
        )
        start = replace(robot_file.start, posture=bent * np.array(posture))
        engine = make_controller(replace(robot_file, robot=robot, start=start), 'stepping').engine
        straight, stops = math.atan2(0.04, 0.4), engine.program._bounds
        assert engine.body.straight == pytest.approx([straight] * 2)
        for bones in engine.body.bones:
            assert bones == pytest.approx((0.4, math.hypot(0.04, 0.4)))
        for knee in engine.body.knees:
            column = engine.body.joint(knee)[2] - 6
            nearest = (stops.lower if bent > 0.0 else stops.upper)[column]
            assert nearest == pytest.approx(straight + 0.025 * bent)


def test_a_leg_is_asked_for_what_its_motors_give(robot_file):
    """Heavy legs on weak hips would be sent where they cannot get in time, and thrown beyond it."""
    engine = Stepping(robot_file, robot_file.values(SteppingParameters)).engine
    assert engine.limits.acceleration == 120.0 < 0.5 * engine.body.quickest
    weak = [(f'{joint}.current_limit', 3.0) for joint in robot_file.robot.joints]  # not 30 A
    weak_file = load_robot('walker3d', weak)
    feeble = Stepping(weak_file, weak_file.values(SteppingParameters)).engine
    assert feeble.body.quickest == pytest.approx(0.1 * engine.body.quickest)
    assert feeble.limits.acceleration == pytest.approx(0.6 * feeble.body.quickest)
    bolder = Stepping(weak_file, replace(feeble.values, swing_share=0.85)).engine
    assert bolder.limits.acceleration == pytest.approx(0.85 * feeble.body.quickest)


def test_the_wanted_motion_does_not_run_from_the_foot():
    """A foot would chase a motion it cannot follow, and be thrown beyond its foothold."""
    swing, still = SwingFoot(), np.zeros(3)
    swing.start(np.array([0.3, 0.4, 0.1]), np.array([1.0, 0.0, -0.5]))
    swing.hold(still, still, np.eye(3), (900.0, 60.0, 50.0))
    asked = 900.0 * swing.position[:2] + 60.0 * swing.velocity[:2]
    assert np.hypot(*asked) == pytest.approx(50.0)
    assert swing.position[2] == 0.1 and swing.velocity[2] == -0.5  # it comes down all the same
    before = swing.position.copy()
    swing.hold(still, still, np.eye(3), (900.0, 60.0, 51.0))
    np.testing.assert_array_equal(swing.position, before)


def test_a_swinging_joint_keeps_its_speed_limit(robot_file):
    """Knees in the air would go faster than their description allows, and a fault end the walk."""
    dynamics = Dynamics(robot_file.robot)
    body, knee = Body(dynamics), 9  # the right one
    motors = strong(robot_file)._replace(speeds=np.full(12, 4.0))
    program = WholeBody(body, FootContact(0.1, 0.05, 0.5, 0.0, 2.0), motors, OPEN)
    q, v = dynamics.configuration(robot_file.start.posture), np.zeros(dynamics.nv)
    v[6 + knee] = 3.9
    body.update(q, v)
    program.begin((0,))
    program.want(np.eye(1), np.array([300.0]), 1.0, 6 + knee)
    program.solve()
    assert program.acceleration[6 + knee] <= 50.0 * (0.95 * 4.0 - 3.9) + 1e-3


@pytest.mark.parametrize('arm', [True, False])
def test_a_joint_beyond_its_stop_does_not_undo_the_floor(robot_file, arm):
    """Talos' arms rest at their stops: with noise no torque held them, and all limits were off."""
    body, weak = Body(Dynamics(robot_file.robot)), 11  # in the right ankle
    stops, efforts = OPEN.copy(), np.full(12, 60.0)
    stops[0, weak], efforts[weak] = 0.1, 0.1
    motors = MotorLimits(list(robot_file.robot.actuators.values()), efforts, np.full(12, np.inf))
    if arm:
        body.apart = [weak]
    program = WholeBody(body, FootContact(0.1, 0.05, 0.5, 0.0, 2.0), motors, stops)
    q = body.dynamics.configuration(robot_file.start.posture)
    q[7 + weak] = 0.0
    body.update(q, np.zeros(body.nv))
    program.begin((0,))
    program.want(np.eye(1), np.array([30.0]), 1.0)  # more than friction bears
    program.solve()
    force = program.forces[0]
    assert program.feasible
    assert np.hypot(*force[:2]) == pytest.approx(0.5 * force[2], rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize('law', ['stepping', 'natural_walking'])
def test_the_compiled_law_is_the_plain_one(law):
    """A walk would depend on whether the law is compiled."""
    plain, compiled = (
        simulate(
            load_robot('walker3d', [(f'{law}.speed', 0.6), (f'{law}.compiled', choice)]),
            law,
            duration=6.0,
        )
        for choice in (False, True)
    )
    assert np.ptp(plain.q[:, 0]) > 0.5
    np.testing.assert_allclose(compiled.q, plain.q, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    'law, functions',
    [
        (
            'stepping',
            (
                *(find_fall, find_step, find_stop, pressure_place, fill_program),
                *(advance_swing, hold_swing, see_foot),
            ),
        ),
        pytest.param(
            'natural_walking',
            (find_stop, choose, row_at, plan_on_gait, move_foot, turn_joints, hold_swing, see_foot),
            marks=pytest.mark.long,
        ),
    ],
)
def test_nothing_is_compiled_while_it_walks(law, functions):
    """The robot would wait for the compiler at its first step, and fall."""
    pytest.importorskip('numba', reason='nothing is compiled without the extra "fast"')
    robot_file = load_robot('walker3d', [(f'{law}.speed', 0.6)])
    loop, plant = ControlLoop(robot_file, law), make_plant(robot_file)
    kinds = [len(compile_law(function).overloads) for function in functions]
    run = run_plant(plant, loop, robot_file.start, 1.0)
    assert run.fault is None and loop.controller.engine.steps >= 2
    assert kinds == [len(compile_law(function).overloads) for function in functions]
    assert min(kinds) > 0


@pytest.mark.long
@pytest.mark.parametrize(
    'sizes', [(0.1, 0.05, 0.5, 0.0, 2.0), (0.1, 0.0, 0.5, 0.0, 2.0), (0.0, 0.0, 0.5, 0.003, 2.0)]
)
def test_the_compiled_program_is_the_plain_one(robot_file, sizes):
    """On soles, blades or points compiled code would write another program than the plain one."""
    dynamics = Dynamics(robot_file.robot)
    body, contact = Body(dynamics), FootContact(*sizes)
    programs = [
        WholeBody(body, contact, strong(robot_file), OPEN, compiled) for compiled in (False, True)
    ]
    for seed in range(5):
        body.update(*moving(dynamics, seed))
        rng, gains = np.random.default_rng(seed), Gains(400.0, 40.0, 0.3)
        motion, turn = rng.normal(size=(3, 3)), pin.exp3(rng.normal(size=3))
        for program in programs:
            program.begin((seed % 2,))
            program.want(np.eye(3), np.array([1.0, -2.0, 0.5]), 1.0, 3)
            FootTask(1 - seed % 2, seed % 2, motion, gains).add_to(program)
            FootTurnTask(1 - seed % 2, turn, gains, *motion[1:], slice(1, 3), True).add_to(program)
            TrunkTask(turn, gains, gains, turn.T, *motion[1:]).add_to(program)
            PressureTask(seed % 2, np.array([0.02, 0.01]), 0.01).add_to(program)
            program.solve()
        np.testing.assert_allclose(
            programs[1].acceleration, programs[0].acceleration, rtol=1e-9, atol=1e-9
        )


def test_thresholds_go_with_size():
    """What is rest for a robot of a metre would be a stride for one of twenty centimetres."""
    found = []
    for lag, speed, elapsed, felt in product(
        (0.004, 0.008, 0.02), (-0.25, -0.08, 0.0, 0.04, 0.06, 0.15, 0.25), (0.05, 0.4), (0, 1)
    ):
        answers = []
        for size in (Size(), Size(length=4.0)):
            moves, goes = np.zeros((2, 3))
            moves[2], goes[2] = speed * size.speed, -0.3 * size.speed
            descent = Descent(1, moves, moves, goes, lag * size.length, elapsed, -0.01)
            finder = Touchdown(size)
            for contact in ((1, 0), (1, felt), (1, felt)):
                answers.append(finder.has_come(np.array(contact, bool), descent, 0.3))
        assert answers[:3] == answers[3:], (lag, speed, elapsed, felt)
        found += answers
    assert {*found} == {False, True}


def test_a_swing_goes_with_size():
    """A small robot would chase a late floor and a foothold as fast as one four times its size."""
    shape = SteppingParameters(step_time=0.4, early=0.05, touchdown_speed=0.2, sinking=0.2)
    small = SteppingParameters(step_time=0.2, early=0.025, touchdown_speed=0.1, sinking=0.1)
    own, less, dt = SwingFoot(), SwingFoot(Size(length=0.25)), 0.002
    for tick in range(240):  # the floor is late, and the foothold moves at the end
        elapsed, left = tick * dt, 0.4 - tick * dt
        way = SwingWay(np.array([0.2 + 0.1 * (left < 0.0), 0.1]), left, 0.04)
        near = SwingWay(0.25 * way.foothold, 0.5 * left, 0.01)
        own.advance(way, elapsed, dt, shape)
        less.advance(near, 0.5 * elapsed, 0.5 * dt, small)
        np.testing.assert_allclose(less.position, 0.25 * own.position, rtol=1e-9, atol=1e-12)


def test_a_trim_learns_with_size():
    """A robot of a quarter of the size would take a push for its usual speed, and learn from it."""
    own, small = SpeedTrim(), SpeedTrim(Size(length=0.25, acceleration=1.0))
    for speed in (0.5, 0.45, 0.43, 0.42, 0.8, 0.42):
        own.add(np.array([0.4 * speed, 0.0]), 0.4, np.array([0.5, 0.0]), 0.3)
        small.add(np.array([0.1 * speed, 0.0]), 0.2, np.array([0.25, 0.0]), 0.3)
    np.testing.assert_allclose(small.value, 0.5 * own.value, atol=1e-12)
    assert abs(own.value[0]) > 1e-3


def test_a_sensor_that_works_is_waited_for():
    """A slow leg would be stood on in the air; one whose sensor died would never be."""
    air, still = np.array([True, False]), np.zeros(3)
    behind = Descent(1, still, still, still, 0.05, 0.4, -0.01)

    def landed(descent, felt=True):
        """Return whether a touchdown is found in five ticks, after one that was felt or not."""
        finder = Touchdown()
        if not felt:
            finder.end_step(1)
        finder.begin_step()
        return any(finder.has_come(air, descent, 0.3) for _ in range(5))

    assert not landed(behind)
    assert landed(behind, felt=False)
    assert landed(behind._replace(lag=0.01))  # a little: it stands, and does not press yet
    assert not landed(behind._replace(lag=0.01, velocity=np.array([0.0, 0.0, -0.25])))  # it sinks
    assert landed(behind._replace(remaining=-0.15))


def test_prediction_is_the_motion_with_planned_accelerations(robot_file):
    """A compensated delay would put the robot where it never comes."""
    dynamics = Dynamics(robot_file.robot)
    prediction, dt = Prediction(dynamics, 0.01), 0.002
    q, v = moving(dynamics, 3)
    then_q, then_v = q.copy(), v.copy()
    rng = np.random.default_rng(4)
    planned = rng.normal(0.0, 5.0, (8, dynamics.nv))
    for acceleration in planned:
        prediction.remember(acceleration, dt)
    for acceleration in planned[-5:]:  # of more than the delay the oldest are over
        mine = acceleration[dynamics.pinocchio_order]
        Q = pin.integrate(
            dynamics.model,
            dynamics.to_pinocchio(then_q),
            (then_v + 0.5 * dt * mine)[np.argsort(dynamics.pinocchio_order)] * dt,
        )
        then_q, then_v = dynamics.from_pinocchio(Q), then_v + mine * dt
    q, v = prediction.predict(q, v)
    np.testing.assert_allclose(v, then_v, atol=1e-12)
    np.testing.assert_allclose(q, then_q, atol=2e-4)  # turning does not commute


@pytest.mark.filterwarnings('error')
def test_a_tick_without_time_is_no_end_of_numbers(robot_file):
    """A stamp that comes twice would make what is foreseen no number, and the walk a fault."""
    dynamics = Dynamics(robot_file.robot)
    prediction, (q, v) = Prediction(dynamics, 0.01), moving(dynamics, 3)
    prediction.impact = np.ones(dynamics.nv)
    for dt in (0.0, 0.002):  # the jump waits for a tick that lasts
        prediction.remember(np.zeros(dynamics.nv), dt)
    np.testing.assert_allclose(prediction.predict(q, v)[1], v + 1.0)
    assert prediction.impact is None, 'it jumps once'


@pytest.mark.parametrize('late', [0, 5])
def test_velocities_that_lag_are_caught_up_with(robot_file, late):
    """Drives that smooth their rates would have a fast foot land early and short.

    What is planned moves them only once it acts, `late` ticks later.
    """
    dynamics, lag, dt = Dynamics(robot_file.robot), 0.004, 0.002
    prediction = Prediction(dynamics, late * dt, lag)
    q = dynamics.configuration(robot_file.start.posture)
    true, told = np.zeros(dynamics.nv), np.zeros(dynamics.nv)
    planned = [np.full(dynamics.nv, 40.0 * np.sin(0.1 * tick)) for tick in range(100)]
    for tick, plan in enumerate(planned):
        prediction.remember(plan, dt)
        acceleration = planned[tick - late] if tick >= late else np.zeros(dynamics.nv)
        before, true = true, true + dt * acceleration
        share = np.exp(-dt / lag)  # of what goes up evenly, exactly
        told = share * told + (1.0 - share) * before + (dt - lag * (1.0 - share)) * acceleration
    assert abs(told - true).max() > 0.02
    found = prediction.predict(q, told)[1]
    more = dt * np.sum(planned[100 - late :], axis=0) if late else np.zeros(dynamics.nv)
    np.testing.assert_allclose(found[6:], (true + more)[6:], atol=1e-9)
    np.testing.assert_allclose(found[:6], (told + more)[:6])  # a gyroscope does not lag


def test_a_foreseen_impact_keeps_the_momentum_about_the_foot(robot_file):
    """Another jump of velocities would be answered by efforts until the true one is measured."""
    engine = make_controller(robot_file, 'stepping').engine
    body, (q, v) = engine.body, moving(engine.dynamics, 3)
    body.update(q, v)
    landing = body.feet[1 - engine.stance]
    place, before = landing.position.copy(), body.momentum_about(landing.position)
    assert np.linalg.norm(landing.velocity[:3]) > 0.05
    engine.foresee_impact()
    np.testing.assert_allclose(body.feet[1 - engine.stance].velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(body.momentum_about(place), before, atol=0.01)  # rotors have some


def test_rates_go_on_as_planned_between_noisy_measurements(robot_file):
    """A law would pay for the noise of its encoders, or hear of an impact too late."""
    dynamics, dt, rng = Dynamics(robot_file.robot), 0.002, np.random.default_rng(5)
    plain, smooth = (Prediction(dynamics, 0.0, 0.0, time) for time in (0.0, 0.01))
    q = dynamics.configuration(robot_file.start.posture)
    true, errors = np.zeros(dynamics.nv), []
    for tick in range(300):
        told = true + rng.normal(0.0, 0.1, dynamics.nv)
        found = [each.predict(q, told)[1] for each in (plain, smooth)]
        np.testing.assert_array_equal(found[0], told)
        np.testing.assert_array_equal(found[1][:6], told[:6])  # of the base nothing is planned
        errors.append(found[1][6:] - true[6:])
        acceleration = np.full(dynamics.nv, 40.0 * np.sin(0.1 * tick))
        for each in (plain, smooth):
            each.remember(acceleration, dt)
        true = true + dt * acceleration
    assert np.std(errors[20:]) < 0.4 * 0.1  # (1 - k) / (1 + k) of the variance, k = e^(-dt/T)
    assert abs(np.mean(errors[20:])) < 0.005
    found = smooth.predict(q, true + 3.0)[1]  # an impact that nothing planned
    assert abs(found[6:] - true[6:] - 3.0).max() < 0.51


def test_bad_parameters_and_robots_are_refused(robot_file):
    """A step time outside its own limits, or a robot that cannot step, would be taken."""
    with pytest.raises(ParameterError, match='shortest_step'):
        load_robot('walker3d', step_time=0.1)
    with pytest.raises(ParameterError, match='narrowest'):
        load_robot('walker3d', step_width=0.01)
    with pytest.raises(IncompatibleController, match='biped in space'):
        make_controller(load_robot('dribbel'), 'stepping')


def test_the_mean_over_a_stride_does_not_see_the_sway():
    """What the legs do one step and undo the next must not reach the moment for the heading."""
    mean, dt, stride = StrideMean(), 0.002, 0.6
    for k in range(1000):
        time = k * dt
        sway = 0.2 * math.sin(2.0 * math.pi * time / stride)
        value, rate = mean.add(0.3 * time + sway, dt, stride)
    assert value == pytest.approx(0.3 * (time - 0.5 * stride), abs=2e-3)
    assert rate == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize('turned', [0.0, math.pi / 2.0, 2.8, math.pi])
def test_a_zero_pose_that_lies_has_a_leg_all_the_same(turned):
    """Speeds go with the root of the length of a leg: of one that points up it was negative."""
    robot = load_robot('walker3d').robot
    root = ElementTree.fromstring(robot.urdf)
    for joint in root.findall('joint'):
        if joint.get('name') in ('left_hip_yaw', 'right_hip_yaw'):
            joint.find('origin').set('rpy', f'0 {turned} 0')
    robot = replace(robot, urdf=ElementTree.tostring(root, encoding='unicode'))
    body = Body(Dynamics(robot, 9.81, 0.0), 9.81)
    assert body.leg_length > 0.2 and body.size.speed > 0.0


def test_a_foot_that_an_edge_holds_is_lifted_over_it():
    """It pushed on against the edge until its toe was turned down, and the robot fell over it."""
    trip, planned = Trip(), SwingFoot()
    planned.start(np.array([0.1, 0.2, 0.03]), np.array([1.0, 0.0, 0.0]))
    follows, hangs = np.array([0.08, 0.2, 0.03]), np.array([0.07, 0.2, 0.03])

    def meets(place, speed, elapsed=0.1, touches=False):
        velocity = np.array([speed, 0.0, 0.0])
        return trip.meets(touches, planned, place, place[2], velocity, elapsed, 0.25 - elapsed)

    assert not meets(hangs, 0.9) and not meets(follows, 0.0), 'a foot that follows goes on'
    assert meets(hangs, 0.1) and trip.over == pytest.approx(0.095)
    assert trip.lifts(0.17) and not trip.lifts(0.19) and trip.soonest > 0.25
    assert trip.most(0.17) < 20.0 and trip.most(0.19) == np.inf
    assert trip.turning(900.0, 60.0) == pytest.approx((2500.0, 100.0))
    assert not meets(hangs, 0.1, 0.15), 'while it is lifted'
    assert meets(hangs, 0.1, 0.19), 'once more'
    trip.begin_step()
    assert meets(follows, 0.9, touches=True) and not trip.held
    assert not meets(hangs, 0.1, 0.12, touches=True) and not trip.held, 'it stands on something'
    trip.begin_step()
    assert meets(hangs, 0.1, 0.16) and not trip.lowered
    trip.begin_step()  # up stairs a step over an edge met so late went two of them up, and fell
    assert meets(hangs, 0.1, 0.17) and trip.lowered, 'no time to step over it'
    assert not trip.lifts(0.17) and trip.most(0.18) < 20.0, 'nor to push on'
    trip.begin_step()
    assert not meets(hangs, 0.1, 0.24), 'it may land'


def test_a_foot_that_comes_down_on_an_edge_has_landed():
    """It was lifted off a strip or ramp that it stood on: the step took half as long again."""
    trip, planned, place = Trip(), SwingFoot(), np.array([0.1, 0.2, 0.05])
    for speed, height, met in ((-0.3, 0.05, True), (-0.8, 0.05, False), (-0.3, 0.01, False)):
        place[2] = height
        planned.start(place, np.array([1.2, 0.0, speed]))
        assert trip.meets(True, planned, place, height, planned.velocity, 0.18, 0.12) == met
        trip.begin_step()


def test_a_sole_whose_corner_is_on_the_floor_meets_no_edge(monkeypatch):
    """A pushed robot brushed the floor with a tilted foot and stepped over it, too late."""
    engine = make_controller(load_robot('walker3d'), 'stepping').engine
    monkeypatch.setattr(Touchdown, 'touches', True)
    engine._prediction.predict(np.zeros(engine.dynamics.nq), np.zeros(engine.body.nv))
    engine.swing.start(np.array([0.1, 0.2, 0.03]), np.array([1.0, 0.0, 0.0]))
    for pitch, met in ((0.0, True), (0.3, False)):
        for foot, place in zip(engine.body.feet, ([0.0, 0.0, 0.0], [0.1, 0.2, 0.025])):
            foot.position[:], foot.jacobian[:] = place, 0.0
            foot.rotation[:] = pin.utils.rotate('y', pitch)
        engine._see_foot()
        engine.plan.elapsed, engine.plan.step = 0.15, Step(np.zeros(2), 0.1, 0.0)
        engine.meet_edges()
        assert engine.touchdown.trip.met == met
        engine.touchdown.begin_step()


def test_a_foot_that_spins_on_a_corner_is_braked_by_its_hip():
    """On the edge of a strip feet turned by 1.1 rad, up to the stop of the hip."""
    engine = make_controller(load_robot('walker3d'), 'stepping').engine
    foot, command = engine.body.feet[engine.stance], SimpleNamespace(effort=np.zeros(12))
    for spin, least, most in ((0.9, 0.0, 0.0), (-9.0, 2.0, 20.0)):
        foot.velocity[:] = 0.0, 0.0, 0.0, 0.0, 0.0, spin
        engine.brake_spin(0.002, 10.0, command)
        yaw, *others = command.effort
        assert least <= yaw <= most and np.abs(others).max() <= 0.1 * most


def test_a_foot_that_spins_for_long_relies_on_less_friction():
    """On ice it slid away: the place of the base, found from that foot, tells of no sliding."""
    engine = make_controller(load_robot('walker3d'), 'stepping').engine
    foot, command = engine.body.feet[engine.stance], SimpleNamespace(effort=np.zeros(12))
    contact, usual = engine.program.contact, engine.values.friction
    least, engine.walking, engine.plan.elapsed = FootContact(0.1, 0.05, 0.18, 0.0, 2.0), True, 0.1
    for spin, ticks, relied in ((9.0, 0, usual), (0.2, 99, usual), (0.5, 3, usual), (0.5, 9, 0.18)):
        foot.velocity[:] = 0.0, 0.0, 0.0, 0.0, 0.0, spin
        for _ in range(ticks):
            engine.brake_spin(0.002, 0.18, command)
        assert contact.friction == relied
    np.testing.assert_allclose(contact.rows[1:9], least.rows[1:9], atol=1e-12)
    assert contact.rows[0, 2] == 1.0
    engine.reset()
    assert contact.friction == usual


def test_an_edge_before_which_a_foot_came_down_tells_no_height():
    """Every foot would hit the same stair."""
    trip, planned, place = Trip(), SwingFoot(), np.array([0.1, 0.2, 0.03])
    assert trip.edge(np.array([0.2, 0.2, 0.04])) == 0.0
    planned.start(np.array([0.2, 0.2, 0.03]), np.array([1.0, 0.0, 0.0]))
    assert trip.meets(False, planned, place, 0.03, np.zeros(3), 0.1, 0.2)
    for height, ahead, edge in ((0.04, 0.15, 0.03), (0.0, 0.15, 0.05), (0.0, 0.3, 0.03)):
        # beyond the edge it may come down lower, too: it would lift its feet high for many steps
        assert trip.edge(np.array([ahead, 0.2, height])) == pytest.approx(edge)


def test_who_went_up_alone_comes_down_again():
    """A foot came down late behind every strip of 5 cm; stairs up are no such strip."""
    floor = Floor(0.015)
    drops = []
    for rise in (0.05, -0.05, -0.05, 0.0, 0.05, 0.0, 0.05, -0.05, 0.05, 0.0, -0.05, 0.0, 0.05):
        floor.end_step(np.array([0.2, 0.2, rise]), np.zeros(3), 0.0)
        drops.append(floor.next_drop)
    stairs = [0.05, 0.05, 0.0, 0.0, 0.05]
    assert drops == pytest.approx([0.05, 0.0, 0.05, 0.025, *stairs, 0.05, 0.025, 0.025, 0.05])
    for rise in (0.016, -0.06):  # on the strip with both feet: it stayed up there, and fell behind
        floor.end_step(np.array([0.2, 0.2, rise]), np.zeros(3), 0.0)
        assert floor.next_drop == pytest.approx(0.05 if rise > 0.0 else 0.022)


def test_a_no_to_a_stop_holds_for_the_time_of_the_pendulum(monkeypatch):
    """If it failed, who is above its foot for an instant of a stumble would be said to stand."""
    controller = make_controller(load_robot('walker3d'), 'stepping')
    engine, said = controller.engine, {}
    monkeypatch.setattr(law, 'judge_stop', lambda engine: said[engine.floor.stamp])
    controller.reset(None)
    engine.fall, told = Fall(np.zeros(2), np.zeros(2), 4.0), []
    for engine.floor.stamp, steps in ((0.0, 2), (0.1, -1), (0.2, 3), (0.34, 3), (0.36, 3)):
        said[engine.floor.stamp] = Stoppable(steps, 0.01)
        told.append(controller.stoppable().steps)
    assert told == [2, -1, -1, -1, 3]


def test_a_compiled_law_judges_a_stop_by_its_compiled_plan():
    """It judged by the plain one: 7 % of a tick, and a third of one while the robot falls."""
    engine = make_controller(load_robot('walker3d'), 'stepping').engine
    engine.reset()
    engine.fall = Fall(np.zeros(2), np.array([2.0, 0.0]), RATE)
    engine.walking, engine.plan.elapsed = True, 0.1
    engine.plan.stop = lambda fall, leg, elapsed, *rest: (3, elapsed)
    assert judge_stop(engine) == (3, 0.1)


def test_steps_to_a_stop_are_taken_with_both_feet():
    """Stops would be promised that only a robot with two left feet could make."""
    pytest.importorskip('numba', reason='nothing is compiled without the extra "fast"')
    limits = LIMITS._replace(reach=0.5, narrowest=0.05, widest=0.4, hip_reach=0.6, longest=0.4)
    found, fast, rng = set(), compile_law(find_stop), np.random.default_rng(0)
    for side in (1.0, -1.0) * 10:
        com, velocity, way = (rng.normal(0.0, sigma, 2) for sigma in (0.1, 0.8, 0.2))
        fall = Fall(com, velocity, RATE)
        leg = SwingLeg(side, np.append(way, 0.03), np.zeros(2), np.array([0.0, 0.1 * side]))
        steps, margin = find_stop(fall, leg, 0.1, limits, 0.2, 0.02)
        found.add(steps)
        compiled = fast(fall, leg, 0.1, limits, 0.2, 0.02)
        assert compiled[0] == steps and compiled[1] == pytest.approx(margin, abs=1e-12)
        mirror = np.array([1.0, -1.0])
        other = leg._replace(side=-side, hip=leg.hip * mirror)
        other = other._replace(foot=np.append(way * mirror, 0.03))
        mirrored = find_stop(
            Fall(com * mirror, velocity * mirror, RATE), other, 0.1, limits, 0.2, 0.02
        )
        assert mirrored == (steps, pytest.approx(margin, abs=1e-9))
    assert {-1, 1, 2} <= found


def test_a_foot_that_lands_early_lands_right():
    """On a higher floor it would land where the fall has not come, and the next step go wide."""
    offset, capture = np.array([0.05, 0.04]), np.array([0.02, 0.05])
    foot, time, step = SwingFoot(), 0.0, 0.002
    foot.start(np.array([-0.2, 0.15, 0.0]), np.zeros(3))
    end = capture * math.exp(RATE * 0.3)
    while time < 0.28:
        way = SwingWay(end - offset, 0.3 - time, 0.05, drift=RATE * end, rate=RATE)
        foot.advance(way, time, step, SHAPE)
        time += step
        if time > 0.23:
            assert foot.position[:2] == pytest.approx(
                capture * math.exp(RATE * time) - offset, abs=0.005
            )


def test_a_foot_meets_an_edge_only_while_the_other_one_stands():
    """Exchanged plugs would lift each foot in the air over the load of the other, until it fell."""
    still = np.zeros(3)
    finder, descent = Touchdown(), Descent(1, still, still, still, 0, 0.1, 0.2)
    for contact, scrapes in (((1, 0), False), ((1, 1), True), ((0, 1), False)):
        finder.has_come(np.array(contact, bool), descent, 0.3)
        assert finder.scrapes == scrapes


@pytest.mark.parametrize(
    ('wish', 'moved'),
    [
        ((0.02, -0.01), (0.02, -0.01)),
        ((0.06, 0.0), (0.03, 0.0)),  # balance comes first
        ((0.2, 0.0), (0.0, 0.0)),  # meant for another step
        ((0.0, 0.09), (0.0, 0.0)),  # feet would cross
    ],
)
def test_a_foothold_is_moved_to_one_that_is_wished_for(robot_file, wish, moved):
    """Stones that a planner found would be missed, or the robot would fall for one."""
    state = WalkerState(robot_file.robot)
    state.position[:], state.base.position[:] = robot_file.start.posture, (2.0, 1.0, 0.7)
    law = make_controller(robot_file, 'stepping')
    law.engine.observe(state, law.values)
    law.engine.begin_walking()  # the right foot swings
    place = np.array([0.1, -law.values.narrowest - 0.02])
    stance = law.engine.body.feet[law.engine.stance].position[:2] + (2.0, 1.0)
    wished = stance + place + wish
    law.engine.observe(state, replace(law.values, footholds=(9.0, 9.0, *wished.tolist())))
    law.engine.plan.step = Step(place, 0.2, 0.0)
    law.engine.swing_on(0.05, 0.002)
    np.testing.assert_allclose(law.engine.plan.step.foothold, place + moved, atol=1e-9)
    with pytest.raises(ParameterError, match='stepping.footholds.*x and y of each'):
        load_robot('walker3d', [('stepping.footholds', (0.1, 0.2, 0.3))]).values(SteppingParameters)
