# SPDX-License-Identifier: Apache-2.0
"""Walk a biped in space: step where and when the fall is caught, by whole-body torques.

The parts, each of which can be read alone: `step_plan` says where and when to land, `swing` how
the foot gets there, `whole_body` which torques do that and hold the trunk up, `body` what the
robot is at this instant. Here they are put together, and here is decided when to stand and when
to walk.
"""

import math
from typing import ClassVar, NamedTuple

import numpy as np
import pinocchio as pin

from walking_control.controllers.controller import Controller, FootPlan, require_motors
from walking_control.controllers.stepping.body import Body
from walking_control.controllers.stepping.heading import StrideMean
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.prediction import Prediction
from walking_control.controllers.stepping.stairs import Stairs
from walking_control.controllers.stepping.step_plan import (
    Aim,
    plan_step,
    pressure_place,
    steady_aim,
    Step,
    step_limits,
    StepLimits,
)
from walking_control.controllers.stepping.swing import LATE, SwingFoot
from walking_control.controllers.stepping.trim import SpeedTrim
from walking_control.controllers.stepping.velocity_plan import plan_by_velocity
from walking_control.controllers.stepping.whole_body import FootContact, MotorLimits, WholeBody
from walking_control.models.base import ROOT
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.models.support.compiled import compile_law

LEFT, RIGHT = 0, 1
SIDE = (1.0, -1.0)
TOUCHING = 2  # ticks a contact must last to be a touchdown
EARLIEST = 0.3  # part of the step time before which the swing foot does not land
PATIENT = 0.25  # of the same: how long a sensor that works is waited for
LEG = 0.8  # m: of the walker whose `Thresholds` these are; others' go with size
STOPPED = 0.006  # m: how far a foot on the floor stays behind one that sinks on
FAR = 0.015  # m: a foot that is farther behind may still be in the air
RISING = 0.05  # m/s: a foot that rises faster has not landed,
BOUNCING = 0.2  # m/s: nor one that bounces, where it should come down
CREEP = 0.1  # m/s: a slower plan does not tell a foot at rest from one in the air
SLOW = 0.02  # m/s, rad/s: commands below it ask to stand
SLOWING = 3.0  # times faster it slows down than it speeds up
STILL = 0.6  # part of the support within which the fall must end for standing
SAGGING = 0.15  # s: within which the base comes back to its height after a stair
FALLEN = 0.3  # part of the height below which a body has fallen, and the law lives on
LOWEST, HIGHEST = -8.0, 15.0  # m/s^2: limits of the base's vertical acceleration
# Weights of the wishes; they matter when not all can be met. Height and trunk go before the swing
# foot: friction could be had for its acceleration by pressing harder, and the robot would hop. Yaw
# goes last: to hold it against a fast swing would cost the foothold.
TRUNK, HEIGHT, SWING, TILT, BALANCE, PRESSURE = 1.0, 10.0, 0.3, 0.01, 1.0, 0.01
YAW = 0.01
ANKLE = 0.9  # share of the sole that the centre of pressure is sent to
TORSION = 10.0  # per (N m)^2, on points
TWIST = 0.3  # rad: farthest that a foot in the air is turned against the base


class Thresholds(NamedTuple):
    """What tells rest from motion, in the size of a robot: m and m/s, see the constants."""

    stopped: float
    far: float
    rising: float
    bouncing: float
    creep: float
    slow: float


def thresholds_of(leg: float, gravity: float) -> Thresholds:
    """Return the `Thresholds` for a leg in m and gravity in m/s^2, by dynamic similarity."""
    speed = math.sqrt(leg / LEG * gravity / 9.81)
    size = leg / LEG
    return Thresholds(
        STOPPED * size, FAR * size, RISING * speed, BOUNCING * speed, CREEP * speed, SLOW * speed
    )


class Stepping(Controller):
    """Stepping in space for a biped whose every joint has a motor.

    `robot_file`: the `RobotFile`; the left foot is the first. Attributes: `walking`: whether it
    walks; it stands otherwise, or waits to. `stance`: index of the foot that stands. `step`: the
    planned `Step`. `steps`: touchdowns so far.

    Raises `IncompatibleController`: the base is not free, a joint has no motor, or there are not
    two feet.
    """

    name = 'stepping'
    parameters: ClassVar[type[SteppingParameters]] = SteppingParameters

    def __init__(self, robot_file: RobotFile, values: SteppingParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_motors('stepping', robot, biped=True)
        self.values = values
        # on a slope the pendulum is that of gravity along the floor's normal, shifted downhill
        self._gravity = world.gravity * math.cos(world.slope)
        self._downhill = np.array([math.tan(world.slope), 0.0])
        self._dynamics = Dynamics(robot, world.gravity, world.slope)
        self._body = Body(self._dynamics)
        self._rest = thresholds_of(self._body.leg_length, world.gravity)
        order = self._dynamics.pinocchio_order[ROOT:] - ROOT
        self._to_command = np.array([order[robot.joint_index(joint)] for joint in robot.actuators])
        self._contact = FootContact(
            values.sole_length,
            values.sole_width,
            values.friction,
            values.torsion,
            0.02 * self._dynamics.weight,
        )
        by_joint = np.argsort(self._to_command)  # every joint has a motor
        motors = list(robot.actuators.values())
        stops = np.zeros((2, len(order)))
        stops[:, order] = np.array(
            [[robot.limits[joint].lower, robot.limits[joint].upper] for joint in robot.joints]
        ).T
        self._program = WholeBody(
            self._body,
            self._contact,
            MotorLimits(
                [motors[i] for i in by_joint],
                values.effort_share * robot.effort_limits[by_joint],
                np.array([robot.limits[list(robot.actuators)[i]].velocity for i in by_joint]),
            ),
            stops,
            values.compiled,
        )
        self._plan_step = compile_law(plan_step) if values.compiled else plan_step
        self._pressure_place = compile_law(pressure_place) if values.compiled else pressure_place
        self._soles = values.sole_length > 0.0
        self.standstill = 'stands' if self._soles else 'steps on the spot'
        self._q, self._v = np.zeros(self._dynamics.nq), np.zeros(self._dynamics.nv)
        self._prediction = Prediction(self._dynamics, values.delay)
        self._swing = SwingFoot()
        self._sway, self._trim = StrideMean(), SpeedTrim()
        self.step = Step(np.zeros(2), 0.0, 0.0)
        self._clear()

    def _clear(self) -> None:
        self.walking = False
        self.stance, self.steps = LEFT, 0
        self._elapsed, self._landing, self._lifted = 0.0, 0, False
        self._edges: SteppingParameters | None = None  # whose edges `_stairs` has
        self._stairs: Stairs | None = None
        self._rise = self._over = self._sag = self._edge_drift = 0.0  # m
        self._drops = [0.0, 0.0]  # by how much the last two footholds were lower, m
        self._felt, self._touches = [True, True], False  # did its sensor tell of a foot's landing
        self._heading, self._begun = 0.0, False
        self._aim = np.zeros(3)  # wanted speed ahead, to the left, rate of turning
        self._trim.reset()
        self._aim_then = np.zeros(2)  # what the step under way was begun for
        self._capture = np.zeros(2)
        self._floor, self._leveled = np.eye(3), np.eye(3)  # places rise with it, and back
        self._prediction.reset()
        self._sway.reset()
        self._stride = [self.values.step_time] * 2  # how long the last two steps took

    def reset(self, state: WalkerState) -> None:
        """Begin anew, standing."""
        self._clear()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        `state`: the `WalkerState`: joints, attitude and velocity of the base, contacts.
        `reference`: the `Reference`: velocity. `dt`: control period, s. `command`: the `Command` to
        fill.
        """
        body = self._body
        self._observe(state)
        if not self._begun:
            self._heading, self._begun = body.yaw, True
        self._find_stairs()
        self._follow(reference, dt)
        if self.walking:
            self._elapsed += dt
            if self._has_landed(state.contact):
                self._change_feet()
        elif self._must_step():
            self._begin_walking()
        if self.walking:
            self._want_step(dt)
            if not self._soles and self._contact.size > 3:
                self._want_heading(dt)
        else:
            self._want_standing()
        self._want_posture()
        torque = self._program.solve()
        self._prediction.remember(self._program.acceleration, dt)
        command.effort[:] = torque[self._to_command]

    def _observe(self, state: WalkerState) -> None:
        dynamics, base, v = self._dynamics, state.base, self._v
        dynamics.configuration(state.position, base.orientation, out=self._q)
        v[:3] = base.linear @ base.rotation
        v[3:ROOT], v[ROOT:] = base.angular, state.velocity
        self._now = self._prediction.predict(self._q, v)
        self._body.update(*self._now)
        self._place = float(base.position[0]) + self._edge_drift
        self._altitude = float(base.position[2])
        self._measured = dynamics.to_pinocchio_velocity(v).copy()  # not foreseen
        self._floor[2, :2], self._leveled[2, :2] = state.floor_slope, -state.floor_slope

    def _find_stairs(self) -> None:
        """Take what is known of edges of the floor, which may change while it walks."""
        values, known = self.values, self._edges
        if known is not values:
            self._edges = values
            self._stairs = (
                Stairs(
                    values.edge_places,
                    values.edge_rises,
                    0.5 * values.sole_length,
                    values.highest_edge,
                )
                if values.edge_places
                else None
            )

    def _follow(self, reference: Reference, dt: float) -> None:
        """Move the aim towards what is commanded, within the limits, and the heading with it."""
        values = self.values
        wanted = np.array([values.speed, values.sideways, values.turn])
        if reference.velocity is not None:
            wanted[:] = reference.velocity
        elif reference.speed is not None:
            wanted[0] = reference.speed
        limit = np.array(self.velocity_limits())
        np.clip(wanted, -limit, limit, out=wanted)
        if (
            self._stairs is not None
            and self._place + self._aim[0] * self.values.step_time > self._stairs.end
        ):
            wanted[0] = min(wanted[0], 0.0)
        self._wanted = wanted
        self._aim = self._aim_after(dt)
        self._heading += self._aim[2] * dt

    @property
    def _slowing(self) -> float:
        """How many times faster it slows down than it speeds up."""
        return SLOWING

    def _aim_after(self, time: float) -> np.ndarray:
        """Return what the aim will be after a time in s, ``(3,)``."""
        slowing = np.abs(self._wanted) < np.abs(self._aim)
        step = self.values.speed_rate * time * np.where(slowing, self._slowing, 1.0)
        return self._aim + np.clip(self._wanted - self._aim, -step, step)

    @property
    def _manner(self) -> SteppingParameters:
        """The height, width, time and clearance it steps with now."""
        return self.values

    def _base_height(self) -> float:
        """Return the height of the base wanted now, m."""
        return self._manner.height

    def velocity_limits(self) -> tuple[float, float, float]:
        """Return the largest speed ahead or back, sideways (m/s) and of turning (rad/s)."""
        values = self.values
        return values.speed_limit, values.sideways_limit, values.turn_limit

    def _has_landed(self, contact: np.ndarray) -> bool:
        """Return whether the swing foot stands: it carries, or it no longer sinks as it should.

        The second does not need a sensor of the foot; it counts once the foot shall be down. A
        sensor that has not let go since the foot was lifted is stuck: it says nothing. Nor is one
        believed while the foot goes on as planned: a floor would stop it. A leg may be too slow to
        come down, too, and is far behind: a sensor that told of the last landing is waited for.
        """
        self._touches = bool(contact[1 - self.stance])
        self._lifted = self._lifted or not self._touches
        swing, elapsed, rest = self._body.feet[1 - self.stance], self._elapsed, self._rest
        speed = swing.velocity[2]
        carries = (
            self._lifted
            and self._touches
            and elapsed > EARLIEST * self._manner.step_time
            and self._is_halted()
        )
        way = swing.position - self._body.feet[self.stance].position
        lag = (self._leveled @ way)[2] - self._swing.position[2]
        self._felt[self.stance] |= bool(contact[self.stance])
        waits = self._felt[1 - self.stance] and lag > rest.far
        patience = PATIENT * self._manner.step_time if waits else 0.0
        stopped = self.step.remaining <= -patience and lag > rest.stopped
        # of one that shall come down and carries the speed may be noise
        falls = carries and self._swing.velocity[2] < -rest.creep and speed < rest.bouncing
        stands = (carries or stopped) and (falls or speed < rest.rising)
        self._landing = self._landing + 1 if stands else 0
        return self._landing >= TOUCHING

    def _is_halted(self) -> bool:
        """Return whether the swing foot, as measured, is nearer to rest than to its planned motion.

        Upwards alone, or in all: on ice a foot that has landed slides on.
        """
        planned, creep = self._swing.velocity, self._rest.creep
        moves = self._body.feet[1 - self.stance].jacobian[:3] @ self._measured
        return (
            planned[2] < -creep
            and moves[2] > 0.5 * planned[2]
            or bool(planned @ planned > creep**2 and moves @ planned < 0.5 * planned @ planned)
        )

    def _change_feet(self) -> None:
        """Let the swing foot stand; stand on both if there is nothing more to catch."""
        feet, values = self._body.feet, self.values
        self._felt[1 - self.stance] = self._lifted and self._touches
        way = feet[1 - self.stance].position - feet[self.stance].position
        step = self._to_heading(way[:2])
        self._trim.add(step, self._elapsed, self._aim_then, values.speed_trim)
        self._stride = [self._stride[1], self._elapsed]
        # the base goes on from where it was to be, now over the other foot
        rise = float((self._leveled @ way)[2])
        self._sag, self._drops = self._lowering() - rise, [self._drops[1], -rise]
        self.stance = 1 - self.stance
        if self._stairs is not None:
            x, _, z = feet[self.stance].position
            self._edge_drift += self._stairs.locate(self._place + x, self._altitude + z)
        self.steps += 1
        self._landing = 0
        asked = max(np.abs(self._wanted).max(), np.abs(self._aim).max())
        if self._soles and asked < self._rest.slow and self._is_caught():
            self.walking = False
        else:
            self._begin_step()

    def _begin_walking(self) -> None:
        """Lift the foot towards which the robot falls; the right one if it does not."""
        feet = self._body.feet
        middle = 0.5 * (feet[LEFT].position + feet[RIGHT].position)[:2]
        sideways = self._to_heading(self._divergent_point() - middle)[1]
        self.stance = RIGHT if sideways > 1e-3 else LEFT
        self.walking = True
        self._trim.reset()
        self._begin_step()

    def _begin_step(self) -> None:
        feet, swing = self._body.feet, 1 - self.stance
        self._elapsed, self._lifted = 0.0, False
        self._aim_then = self._aim[:2].copy()
        self._swing.start(
            self._leveled @ (feet[swing].position - feet[self.stance].position),
            self._leveled @ feet[swing].velocity[:3],
        )
        self.step = Step(np.zeros(2), math.inf, 0.0)

    def _must_step(self) -> bool:
        if not self._soles or np.abs(self._aim).max() > self._rest.slow:
            return True
        return not self._is_caught(1.2)

    def _is_caught(self, share: float = STILL) -> bool:
        """Return whether the fall ends within a share of the soles and what lies between."""
        feet, values = self._body.feet, self.values
        offsets = [self._to_heading((foot.position[:2] - self._divergent_point())) for foot in feet]
        x = sorted(offset[0] for offset in offsets)
        y = sorted(offset[1] for offset in offsets)
        length, width = 0.5 * share * values.sole_length, 0.5 * share * values.sole_width
        return bool(x[0] - length < 0.0 < x[1] + length and y[0] - width < 0.0 < y[1] + width)

    def _divergent_point(self) -> np.ndarray:
        """Return where the fall would end, floor axes, the base the origin, m, ``(2,)``."""
        body = self._body
        height = self._pendulum(body.com[2] - min(foot.position[2] for foot in body.feet))
        rate = math.sqrt(self._gravity / height)
        return np.asarray(body.com[:2] + body.momentum[:2] / (body.mass * rate))

    def _pendulum(self, height: float) -> float:
        """Return a height of the centre of mass as that of a pendulum, which has not fallen, m."""
        return max(height, FALLEN * self.values.height)

    def _to_heading(self, vector: np.ndarray) -> np.ndarray:
        c, s = math.cos(self._heading), math.sin(self._heading)
        return np.array([c * vector[0] + s * vector[1], -s * vector[0] + c * vector[1]])

    def _from_heading(self, vector: np.ndarray) -> np.ndarray:
        c, s = math.cos(self._heading), math.sin(self._heading)
        return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])

    def _want_step(self, dt: float) -> None:
        body, values = self._body, self.values
        swing = body.feet[1 - self.stance]
        self._find_fall()
        self._plan(dt)
        foothold = self._from_heading(self.step.foothold)
        if self._stairs is not None:
            stance = self._place + float(body.feet[self.stance].position[0])
            if self.step.remaining > values.early:
                foothold[0] = self._stairs.beside(stance + float(foothold[0]), stance) - stance
                self.step = self.step._replace(foothold=self._to_heading(foothold))
                self._rise, self._over = self._stairs.rise(
                    stance, stance + float(self._swing.position[0]), stance + float(foothold[0])
                )
            self._sag *= math.exp(-dt / SAGGING)
        else:  # who went down goes on down; a foot that meets the floor early does no harm
            drop = 0.5 * sum(self._drops)
            self._rise = -drop if drop > self._rest.far else 0.0
        self._swing.advance(
            foothold, self._elapsed, self.step.remaining, dt, self._manner, self._rise, self._over
        )
        program = self._program
        program.begin((self.stance,))
        self._want_swing(values.swing_stiffness, values.swing_damping)
        if self._soles or self._contact.size == 4:
            yaw = self._heading + self._aim[2] * max(self.step.remaining, 0.0)
            twist = math.remainder(yaw - body.yaw, 2.0 * math.pi)
            yaw = body.yaw + min(max(twist, -TWIST), TWIST)  # the leg would meet its stop
            normal = np.append(-self._floor[2, :2], 1.0)
            tilt = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal)
            wanted = tilt.matrix() @ pin.utils.rotate('z', yaw)
            error = swing.rotation @ pin.log3(swing.rotation.T @ wanted)
            turning = (
                values.swing_stiffness * error
                - values.swing_damping * swing.velocity[3:]
                - swing.drift[3:]
            )
            rows, first = swing.jacobian[3:], 0 if self._soles else 2
            if self._contact.blade:  # no joint rolls it
                rows, turning, first = swing.rotation.T @ rows, swing.rotation.T @ turning, 1
            program.want(rows[first:], turning[first:], TILT)
        program.want_pressure(self.stance, self._from_heading(self._pressure()), PRESSURE)

    def _want_swing(self, stiffness: float, damping: float) -> None:
        """Let the swing foot move as desired."""
        swing, desired = self._body.feet[1 - self.stance], self._swing
        place = swing.position - self._body.feet[self.stance].position
        acceleration = (
            self._floor @ desired.acceleration
            + stiffness * (self._floor @ desired.position - place)
            + damping * (self._floor @ desired.velocity - swing.velocity[:3])
            - swing.drift[:3]
        )
        self._program.want(swing.jacobian[:3], acceleration, SWING)

    def _pressure(self) -> np.ndarray:
        """Return where on the sole the floor shall press, from its middle, m, ``(2,)``.

        `step_plan` says how that moves the divergent component; what the foothold leaves of the
        fall is asked of it, as far as the sole reaches.
        """
        if not self._soles or self.values.placement == 'velocity':  # the rival has no such thing
            return np.zeros(2)
        return self._on_sole(
            self._pressure_place(
                self._capture,
                self.step,
                self._rate,
                self._wanted_gait(),
                SIDE[1 - self.stance],
                step_limits(self._manner),
            )
        )

    def _on_sole(self, place: np.ndarray) -> np.ndarray:
        """Return the nearest place within the share of the sole that is pressed on, m."""
        values = self.values
        most = 0.5 * ANKLE * np.array([values.sole_length, values.sole_width])
        return np.asarray(np.clip(place, -most, most))

    def _want_heading(self, dt: float) -> None:
        """Turn the robot on its point as the mean of a stride asks; `heading` says why."""
        body, values = self._body, self.values
        off = math.remainder(body.yaw - self._heading, 2.0 * math.pi)
        mean, rate = self._sway.add(off, dt, sum(self._stride))
        turning = -values.pivot_stiffness * mean - values.pivot_damping * rate
        self._program.want_torsion(self.stance, body.yaw_inertia * turning, TORSION)

    def _wanted_gait(self) -> np.ndarray:
        """Return what steps are planned for: speed ahead, to the left and of turning."""
        return np.append(self._aim[:2] + self._trim.value, self._aim[2])

    def _find_fall(self) -> None:
        """Find centre of mass and its divergent component, from the stance foot, heading frame."""
        body, stance = self._body, self._body.feet[self.stance]
        com = body.com - stance.position
        momentum = body.momentum_about(stance.position)
        com[2] = self._pendulum((self._leveled @ com)[2])
        velocity = np.array([momentum[1], -momentum[0]]) / (body.mass * com[2])
        self._rate = rate = math.sqrt(self._gravity / com[2])
        self._ahead = self._to_heading(com[:2] + com[2] * self._downhill)
        self._pace = self._to_heading(velocity)
        self._capture = self._ahead + self._pace / rate

    def _plan(self, dt: float) -> None:
        """Plan foothold and time; shortly before touchdown they are kept."""
        body, step = self._body, self.step
        if -LATE < step.remaining <= self.values.early:
            self.step = step._replace(remaining=step.remaining - dt)
            return
        wanted, side, limits = self._wanted_gait(), SIDE[1 - self.stance], step_limits(self._manner)
        if self.values.placement == 'velocity':
            hip = self._to_heading((body.feet[1 - self.stance].hip - body.com)[:2])
            self.step = plan_by_velocity(
                self._ahead,
                self._to_heading(body.momentum[:2] / body.mass),
                self._rate,
                wanted[:2],
                side,
                self._elapsed,
                hip,
                limits,
                self.values.velocity_gain,
            )
            return
        self._plan_to(steady_aim(wanted, side, limits), np.zeros(2), limits, dt)

    def _plan_to(self, aim: Aim, center: np.ndarray, limits: StepLimits, dt: float) -> None:
        """Plan the step to an `Aim` from where the floor presses, m, heading frame, ``(2,)``."""
        body, last = self._body, self.step.remaining - dt
        hip = self._to_heading((body.feet[1 - self.stance].hip - body.com)[:2])
        foot = self._swing.position.copy()
        foot[:2] = self._to_heading(foot[:2]) - center
        foot[2] -= max(self._rise, 0.0)  # down it goes faster
        step = self._plan_step(
            self._ahead - center,
            self._pace,
            self._rate,
            aim,
            SIDE[1 - self.stance],
            self._elapsed,
            foot,
            self._to_heading(self._swing.velocity[:2]),
            hip,
            limits,
            last,
        )
        self.step = step._replace(
            foothold=step.foothold + center,
            remaining=last if self.step.remaining <= -LATE else step.remaining,
        )

    def _want_standing(self) -> None:
        """Both feet carry; the centre of mass is brought above their middle."""
        body, values, program = self._body, self.values, self._program
        program.begin((LEFT, RIGHT))
        middle = 0.5 * (body.feet[LEFT].position + body.feet[RIGHT].position)
        speed = body.momentum / body.mass
        wanted = values.balance_stiffness * (middle - body.com) - values.balance_damping * speed
        program.want_com(wanted[:2], BALANCE)
        for foot in (LEFT, RIGHT):
            program.want_pressure(foot, np.zeros(2), 1e-4)

    def _lowering(self) -> float:
        """Return how much higher than usual over the stance foot the base shall be, m.

        While the floor is late it goes down after the foot; on stairs it rises on the way.
        """
        if self._stairs is None:
            return min(float(self._swing.position[2]), 0.0)
        gone = self._elapsed / max(self._elapsed + max(self.step.remaining, 0.0), 1e-6)
        # a foot that comes up from a lower stair is no late floor
        late = min(float(self._swing.position[2]), 0.0) if gone > 0.5 else 0.0
        return late + self._sag + max(self._rise, 0.0) * gone

    def _want_posture(self) -> None:
        """Hold the trunk upright, on soles ahead, and at its height."""
        body, values, program = self._body, self.values, self._program
        wanted = pin.utils.rotate('z', self._heading if self._soles else body.yaw)
        error, rate = pin.log3(body.rotation.T @ wanted), body.velocity[3:ROOT]
        turning = values.trunk_stiffness * error - values.trunk_damping * rate
        program.want(np.eye(3)[:2], turning[:2], TRUNK, 3)
        if self._soles:
            turning[2] = values.yaw_stiffness * error[2] - values.yaw_damping * (
                rate[2] - self._aim[2]
            )
            program.want(np.eye(3)[2:], turning[2:], YAW, 3)
        stance = body.feet[self.stance]
        way = stance.hip - stance.position
        longest = values.straightest * body.leg_length
        # while the floor is late the base goes down after the foot
        lower = self._lowering() if self.walking else 0.0
        above = -float(body.rotation[:, 2] @ stance.hip)  # the base over its hips
        rise = -float(self._floor[2, :2] @ stance.position[:2])  # from the stance foot to the base
        height = min(
            self._base_height() + lower + rise,
            above + math.sqrt(max(longest**2 - way[0] ** 2 - way[1] ** 2, 0.25 * longest**2)),
        )
        up = body.rotation[2]
        acceleration = values.height_stiffness * (
            height + stance.position[2]
        ) - values.height_damping * float(self._leveled[2] @ body.rotation @ body.velocity[:3])
        acceleration = min(max(acceleration, LOWEST), HIGHEST)
        drift = float(up @ pin.skew(body.velocity[3:ROOT]) @ body.velocity[:3])
        program.want(up[None], np.array([acceleration - drift]), HEIGHT)

    def foot_plan(self) -> FootPlan:
        """Return where the feet are, where the next one shall land and where the fall would end."""
        feet, stance = self._body.feet, self._body.feet[self.stance].position
        foothold = capture = None
        if self.walking:
            foothold, capture = stance.copy(), stance.copy()
            foothold[:2] += self._from_heading(self.step.foothold)
            capture[:2] += self._from_heading(self._capture)
        else:
            capture = np.array([*self._divergent_point(), stance[2]])
        return FootPlan(
            np.array([foot.position for foot in feet]),
            np.array([math.atan2(foot.rotation[1, 0], foot.rotation[0, 0]) for foot in feet]),
            1 - self.stance if self.walking else None,
            foothold,
            capture,
            self._heading,
            (self.values.sole_length, self.values.sole_width),
        )

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (
            ('walking', 'bool'),
            ('stance', '1'),
            ('step_elapsed', 's'),
            ('step_remaining', 's'),
            ('foothold_x', 'm'),
            ('foothold_y', 'm'),
            ('missing', 'm'),
            ('capture_x', 'm'),
            ('capture_y', 'm'),
            ('heading', 'rad'),
            ('speed_aim', 'm/s'),
            ('feasible', 'bool'),
            ('floor_slope_x', '1'),
            ('floor_slope_y', '1'),
        )

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say whether it walks, on which foot, where and when the next step lands, and why."""
        step = self.step
        out[:] = (
            self.walking,
            self.stance,
            self._elapsed,
            step.remaining if self.walking and math.isfinite(step.remaining) else 0.0,
            *step.foothold,
            step.missing,
            *self._capture,
            self._heading,
            self._aim[0],
            self._program.feasible,
            *self._floor[2, :2],
        )
