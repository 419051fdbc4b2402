# SPDX-License-Identifier: Apache-2.0
"""Walk a biped in space on a gait of its own, and leave it when pushed.

As in section 5.2 of [DS09] the momentum is split into that along the gait's curve and that across
it. Across it ten wishes are regulated; along it the robot falls, and only the sole's pressure and
the next step take what deviates, the part s of the step running with the time left,
s' = (1 - s) / tau. Beyond what they can take plain stepping catches the fall, with the base sunk;
then it rises again, and enters the gait at a touchdown (doc/controllers/natural_walking.md).
"""

from dataclasses import replace
import math

import numpy as np
import pinocchio as pin

from walking_control.controllers.natural_walking.books import Books, FIELDS
from walking_control.controllers.natural_walking.parameters import NaturalWalkingParameters
from walking_control.controllers.natural_walking.reference import (
    CAPTURE,
    FOOT,
    FOOT_TURN,
    GaitTable,
    KNEE,
    PRESSURE,
    RATE,
    Stride,
    TURN,
)
from walking_control.controllers.stepping.controller import (
    HEIGHT,
    LEFT,
    SIDE,
    Stepping,
    TILT,
    TRUNK,
    YAW,
)
from walking_control.controllers.stepping.controller import PRESSURE as PRESSING
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.step_plan import (
    Aim,
    offsets_of,
    steady_offset,
    step_limits,
)
from walking_control.controllers.stepping.swing import LATE
from walking_control.gaits.gait_family import GaitFamily
from walking_control.models.base import ROOT
from walking_control.models.resources import gait_path
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Command, Reference, WalkerState

CALM = 0.06  # m: deviation at a touchdown within which a step was calm
TO_RISE, TO_ENTER = 2, 4  # calm steps
MATCHED = 0.05  # m/s: of a gait that is entered
FIRST, LAST = 0.05, 0.75  # parts of the step between which it is left: no impact moves the
# deviation yet, and there is time for another step than the one under way
IMPACT = 0.03  # s after a touchdown, and while it is late: efforts change slowly there
FROZEN = 0.06  # s before the end, from which the gait's mean pressure is kept
FOOT_ERROR, KNEE_ERROR = 0.5, 0.9  # parts of the step over which errors of a touchdown fade
FOLLOW = 40.0  # 1/s: how fast the swing foot follows its foothold
STRAIGHT = 0.999  # share of its length that a leg may get


class NaturalWalking(Stepping):
    """Natural walking for a biped whose every joint has a motor.

    `robot_file`: the `RobotFile`; the left foot is the first. Attributes: `on_gait`: whether it
    walks on the gait; it stands or steps otherwise.

    Raises `IncompatibleController`: as `Stepping`, or the robot stands on points. `GaitError`: the
    library is of another robot.
    """

    name = 'natural_walking'
    parameters = NaturalWalkingParameters
    values: NaturalWalkingParameters

    def __init__(self, robot_file: RobotFile, values: NaturalWalkingParameters) -> None:
        super().__init__(robot_file, values)
        family = GaitFamily.read(gait_path(values.gait or robot_file.robot.name), robot_file)
        self._table = GaitTable(family, self._dynamics, self._gravity)
        lag = robot_file.sections.get('estimator', {}).get('velocity_lag', 0.0)
        self._prediction.lag = float(lag)  # checked when the file was read
        model, robot = self._dynamics.model, robot_file.robot
        foot = model.frames[self._dynamics.frames[robot.feet[LEFT]]]
        self._ankle, joints = foot.placement.translation.copy(), [*robot.actuators]
        self._books = Books(values.tank_capacity, np.array([*map(robot.joint_index, joints)]))
        # between hip axes that do not meet are arms: the joint before the knee begins the leg
        knees = [model.getJointId(self._dynamics.joints[knee]) for knee in self._table.knees]
        self._thighs = [model.parents[knee] for knee in knees]
        self._leg = sum(
            float(np.linalg.norm(model.jointPlacements[joint].translation))
            for joint in model.supports[foot.parentJoint]
            if joint >= knees[LEFT]
        )

    def reset(self, state: WalkerState) -> None:
        """Begin anew, standing, with full books."""
        super().reset(state)
        self._books.reset()
        self._last_effort: np.ndarray | None = None

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick, as `Stepping` does, and keep the books."""
        self._books.work(state.position, dt)
        super().update(state, reference, dt, command)
        if (
            self.on_gait
            and self._last_effort is not None
            and (self._elapsed < IMPACT or self.step.remaining < 0.0)
        ):
            most = self.values.effort_rate * dt
            np.clip(
                command.effort,
                self._last_effort - most,
                self._last_effort + most,
                out=command.effort,
            )
        self._last_effort = command.effort.copy()
        self._books.hold(command.effort, state.position)
        self._books.weigh(self._body, self.stance, self._gravity)

    def _clear(self) -> None:
        super()._clear()
        self.on_gait, self._calm, self._height = False, TO_ENTER, 0.0
        self._s, self._deviation, self._center = 0.0, np.zeros(2), np.zeros(2)
        self._drift = np.zeros(2)  # deviation at the last touchdown that belongs to the command
        self._shift, self._shift_rate = np.zeros(2), np.zeros(2)
        self._foot_error, self._turn_error = np.zeros(3), np.zeros(3)
        self._knee_error = 0.0
        self._manners: tuple[SteppingParameters, ...] = ()

    @property
    def _manner(self) -> SteppingParameters:
        values = self.values
        if not self._manners or self._manners[0] is not values:
            self._manners = (
                values,
                replace(values, height=values.tall, clearance=values.tall_clearance),
            )
        return self._manners[self._calm >= TO_RISE]

    @property
    def _slowing(self) -> float:
        return 1.0 if self.on_gait else super()._slowing

    def _base_height(self) -> float:
        return self._height

    def _follow(self, reference: Reference, dt: float) -> None:
        super()._follow(reference, dt)
        stance = self._body.feet[self.stance]
        if self.on_gait or self._height == 0.0:
            self._height = -float(stance.position[2])
        else:
            values, aim = self.values, self._manner.height
            self._height += min(
                max(aim - self._height, -values.sinking_down * dt), values.rising * dt
            )

    def _change_feet(self) -> None:
        before = self._table.stride.speed
        if not self.on_gait:
            self._find_fall()
            left = (
                self._capture
                - self.step.foothold
                - steady_offset(
                    self._wanted_gait(),
                    SIDE[1 - self.stance],
                    self._rate,
                    step_limits(self._manner),
                )
            )
            calm = math.hypot(*left) < CALM
            if self._calm < TO_ENTER:
                self._calm = self._calm + 1 if calm else 0
        super()._change_feet()
        self.on_gait, gait = self.on_gait and self.walking, self._table.stride
        faster = 0.5 * self._body.mass * max(gait.speed**2 - before**2, 0.0)
        self._books.close_step(self.values.tank_refill * max(gait.work, 0.0) + faster)

    def _begin_step(self) -> None:
        super()._begin_step()
        self._s = 0.0
        side = SIDE[self.stance]
        wanted = self._wanted_gait()
        gait = self._table.choose(float(wanted[0]))
        row = self._table.row(0.0, self.stance)
        self._find_fall()
        self._drift = offsets_of(
            self._aim_at(wanted, gait, np.zeros(2)), side, self._rate, np.zeros(1)
        )[:, 0]
        self._deviation = self._capture - row[CAPTURE] - self._drift
        fits = self._table.speeds[0] - MATCHED < self._aim[0] < self._table.speeds[-1] + MATCHED
        if not self.on_gait:
            near = math.hypot(*self._deviation) < self.values.entering
            self.on_gait = fits and near and self._calm >= TO_ENTER
            self._books.fill()
        else:
            self.on_gait = fits
        if self.on_gait:
            self._fade_from(row)

    def _aim_at(self, wanted: np.ndarray, gait: Stride, ahead: np.ndarray) -> Aim:
        """Return what a gait and going sideways and turning ask of a step; `ahead`: b of both."""
        return Aim(wanted, gait.duration, abs(gait.way[1]), np.zeros(2), math.nan, ahead, True)

    def _fade_from(self, row: np.ndarray) -> None:
        """Note how far foot and knee are from the gait: that fades within the step."""
        feet = self._body.feet
        stance, swing = feet[self.stance], feet[1 - self.stance]
        self._shift[:] = self._shift_rate[:] = 0.0
        self._foot_error = self._level(swing.position - stance.position) - row[FOOT][:3]
        turn = pin.utils.rotate('z', -self._heading) @ swing.rotation
        self._turn_error = pin.log3(turn @ pin.exp3(row[FOOT_TURN][:3]).T)
        self._knee_error = self._knee()[0] - row[KNEE][0]

    def _knee(self) -> tuple[float, float]:
        """Return angle and rate of the stance knee, rad and rad/s."""
        place, (q, v) = self._table.knees[self.stance], self._now
        return float(q[ROOT + 1 + place]), float(v[ROOT + place])

    def _level(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector in the heading frame, ``(3,)``."""
        return np.array([*self._to_heading(vector), vector[2]])

    def _unlevel(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector of the heading frame in floor axes, ``(3,)``."""
        return np.array([*self._from_heading(vector), vector[2]])

    def _want_step(self, dt: float) -> None:
        if self.on_gait:
            self._find_fall()
            self._advance(dt)
        if not self.on_gait:
            super()._want_step(dt)
            return
        self._program.begin((self.stance,))
        row = self._table.row(self._s, self.stance)
        rate = (
            (1.0 - self._s) / self.step.remaining
            if self.step.remaining > dt
            else 1.0 / self._table.stride.duration
        )
        if self.step.remaining < 0.0:  # the floor is late: a push-off that went on would fly
            row = row.copy()
            row[KNEE][0] -= row[KNEE][1] * rate * self.step.remaining
            row[KNEE][2] = row[TURN][6:] = 0.0
        self._want_trunk(row[TURN], rate)
        self._want_knee(row[KNEE], rate)
        self._want_foot(row, rate, dt)
        place = self._on_sole(row[PRESSURE] + self._deviation)
        self._program.want_pressure(self.stance, self._from_heading(place), PRESSING)

    def _want_posture(self) -> None:
        if not self.on_gait:
            super()._want_posture()

    def _advance(self, dt: float) -> None:
        """Find the deviation; leave the gait, or go on along it and plan the step."""
        gait = self._table.stride
        row = self._table.row(self._s, self.stance)
        growth = math.exp(row[RATE] * self._elapsed)
        self._deviation = self._capture - row[CAPTURE] - self._drift * growth
        if (
            FIRST < self._s < LAST
            and math.hypot(*self._deviation) > self.values.leaving
            or self.step.remaining < -2.0 * LATE
        ):
            self.on_gait, self._calm = False, 0
            return
        if self.step.remaining <= self.values.early:
            self.step = self.step._replace(remaining=self.step.remaining - dt)
        else:
            self._plan_on(gait, row, dt)
        left = max(self.step.remaining, 0.0)
        self._s += (1.0 - self._s) * min(1.0, dt / (left + dt))

    def _plan_on(self, gait: Stride, row: np.ndarray, dt: float) -> None:
        """Plan the step: an undisturbed one is the gait's own, and leads into the next one's."""
        mirror = np.array([1.0, SIDE[self.stance]])
        left = (1.0 - self._s) * gait.duration
        if left > FROZEN:
            growth = math.exp(row[RATE] * left)
            self._center = (gait.end * mirror - row[CAPTURE] * growth) / (1.0 - growth)
        wanted = self._wanted_gait() - self._aim + self._aim_after(left)
        then = self._table.stride_at(float(wanted[0]))
        aim = self._aim_at(wanted, then, (then.end - then.way) * mirror)._replace(
            foothold=gait.way * mirror - self._center, remaining=gait.duration - self._elapsed
        )
        limits = step_limits(self._manner)._replace(time=gait.duration, width=abs(gait.way[1]))
        self._plan_to(aim, self._center, limits, dt)

    def _want_trunk(self, turn: np.ndarray, rate: float) -> None:
        body, values, program = self._body, self.values, self._program
        level = pin.utils.rotate('z', self._heading)
        error = pin.log3(body.rotation.T @ level @ pin.exp3(turn[:3]))
        spin = level @ turn[3:6] * rate
        spin[2] += self._aim[2]
        wanted = (
            body.rotation.T @ (level @ turn[6:] * rate**2)
            + values.gait_trunk_stiffness * error
            + values.gait_trunk_damping * (body.rotation.T @ spin - body.velocity[3:ROOT])
        )
        program.want(np.eye(3)[:2], wanted[:2], TRUNK, 3)
        program.want(np.eye(3)[2:], wanted[2:], YAW, 3)

    def _want_knee(self, knee: np.ndarray, rate: float) -> None:
        values, place = self.values, self._table.knees[self.stance]
        column = int(self._dynamics.pinocchio_order[ROOT + place])
        fade = (self._knee_error * each for each in fading(self._s / KNEE_ERROR))
        angle, first, second = (
            each + more / KNEE_ERROR**order for order, (each, more) in enumerate(zip(knee, fade))
        )
        now, speed = self._knee()
        wanted = (
            second * rate**2
            + values.gait_knee_stiffness * (angle - now)
            + values.gait_knee_damping * (first * rate - speed)
        )
        self._program.want(np.eye(1), np.array([wanted]), HEIGHT, column)

    def _want_foot(self, row: np.ndarray, rate: float, dt: float) -> None:
        """Let the swing foot go where the gait has it, moved to the foothold."""
        values, desired = self.values, self._swing
        swing = self._body.feet[1 - self.stance]
        place, speed, acceleration = (
            row[FOOT].reshape(3, 3) * np.array([1.0, rate, rate**2])[:, None]
        )
        fade = fading(self._s / FOOT_ERROR)
        scale = rate / FOOT_ERROR
        place = place + self._foot_error * fade[0]
        speed = speed + self._foot_error * fade[1] * scale
        acceleration = acceleration + self._foot_error * fade[2] * scale**2
        mirror = np.array([1.0, SIDE[self.stance]])
        far = self.step.foothold - self._table.stride.way * mirror
        jump = FOLLOW**2 * (far - self._shift) - 2.0 * FOLLOW * self._shift_rate
        self._shift_rate += dt * jump
        self._shift += dt * self._shift_rate
        share, first, second = 1.0 - fading(self._s)[0], *(-each for each in fading(self._s)[1:])
        place[:2] += share * self._shift
        speed[:2] += first * rate * self._shift + share * self._shift_rate
        acceleration[:2] += (
            second * rate**2 * self._shift + 2.0 * first * rate * self._shift_rate + share * jump
        )
        if self.step.remaining < 0.0:  # the floor is late
            place[2] += speed[2] * -self.step.remaining
            speed[:2] = acceleration[:] = 0.0
        place = self._unlevel(place)
        thigh = self._dynamics.data.oMi[self._thighs[1 - self.stance]].translation
        leg = place - swing.rotation @ self._ankle - (thigh - self._body.feet[self.stance].position)
        # a leg that is too short lands short: in the air at the gait's push-off it would fly
        most = math.sqrt(max((STRAIGHT * self._leg) ** 2 - leg[2] ** 2, 0.0))
        place[:2] -= leg[:2] * max(0.0, 1.0 - most / max(math.hypot(leg[0], leg[1]), 1e-9))
        desired.position[:], desired.velocity[:] = place, self._unlevel(speed)
        desired.acceleration[:] = self._unlevel(acceleration)
        self._want_swing(values.gait_swing_stiffness, values.gait_swing_damping)
        level = pin.utils.rotate('z', self._heading + self._aim[2] * max(self.step.remaining, 0.0))
        turn, spin, gain = row[FOOT_TURN].reshape(3, 3)
        wanted = level @ pin.exp3(self._turn_error * fade[0]) @ pin.exp3(turn)
        error = swing.rotation @ pin.log3(swing.rotation.T @ wanted)
        spin = level @ (spin * rate + self._turn_error * fade[1] * scale)
        gain = level @ (gain * rate**2 + self._turn_error * fade[2] * scale**2)
        self._program.want(
            swing.jacobian[3:],
            gain
            + values.gait_swing_stiffness * error
            + values.gait_swing_damping * (spin - swing.velocity[3:])
            - swing.drift[3:],
            TILT,
        )

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (
            *Stepping.telemetry_fields(robot),
            ('on_gait', 'bool'),
            ('part', '1'),
            ('deviation_x', 'm'),
            ('deviation_y', 'm'),
            *FIELDS,
        )

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say what `Stepping` does, and where it is on the gait, or how far off."""
        own = 4 + len(FIELDS)
        super().write_telemetry(out[:-own])
        out[-own:] = self.on_gait, self._s, *self._deviation, *self._books.values


def fading(part: float) -> tuple[float, float, float]:
    """Return what of an error is left at a part of its time, and two derivatives in the part."""
    u = min(max(part, 0.0), 1.0)
    return (
        1.0 - u**3 * (10.0 - u * (15.0 - 6.0 * u)),
        -30.0 * u**2 * (1.0 - u) ** 2,
        -60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
    )
