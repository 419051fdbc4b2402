# SPDX-License-Identifier: Apache-2.0
"""Follow a gait's curve: where on it the robot is, how far off, and the tasks that keep it there.

Along the curve the robot falls. The part s of the step is the place on the curve where the centre
of mass is as far ahead, so that the deviation there is the energy beyond the gait's,

    E - E_gait = m (x' + x'_gait)/2 w delta,    E = m/2 (x'^2 - w^2 x^2),

which the sole's pressure p = p_gait + k delta takes out as e^-kwt, for (E - E_gait)' = -m w^2 x'
(p - p_gait); the next step takes the rest. Across it ten tasks act.
"""

from functools import partial
import math

import numpy as np
import pinocchio as pin

from walking_control.controllers import (
    FootTurnTask,
    Gains,
    JointTask,
    LEFT,
    NaturalWalkingParameters,
    PressureTask,
    SIDE,
    Task,
    TrunkTask,
    WalkingEngine,
)
from walking_control.controllers.natural_walking.felt_floor import FeltFloor
from walking_control.controllers.natural_walking.gait_motion import move_foot, turn_joints
from walking_control.controllers.natural_walking.gait_plan import plan_on_gait
from walking_control.controllers.natural_walking.reference import (
    CAPTURE,
    COLUMNS,
    FOOT,
    FOOT_TURN,
    GaitTable,
    KNEE,
    PRESSURE,
    RATE,
    TURN,
)
from walking_control.controllers.stepping.step_plan import Aim, Fall, offsets_of
from walking_control.controllers.stepping.stepping_tasks import (
    HEIGHT,
    held_tasks,
    SWING,
    swing_task,
    TILT,
    TRUNK,
    YAW,
)
from walking_control.controllers.stepping.stepping_tasks import PRESSURE as PRESSING
from walking_control.controllers.stepping.trip import FIRST
from walking_control.models import compile_ahead, Scale

RISE = 0.15  # L: so far a leg that stands gets longer in a step; more would throw the body up
# in sqrt(L / g), L the length of a leg
FOLLOW = 11.4  # how fast the swing foot follows its foothold
SURPRISE = 0.07  # so long before its time a foot that touches is no surprise
DEEPER = 1.5  # g: so much faster a foot looks for a late floor
BEND, SINK = 6.5, 0.35  # so much faster the stance knee bends meanwhile, for a straight leg reaches
# no lower; and the hip sinks, g
STEADY = 0.04  # L: with a larger deviation, as after a push, no touchdown is foreseen
SLOW = 0.03  # L in sqrt(L / g): slower, or backwards, the place says too little of the part
STRAIGHT = 0.999  # share of its length that a leg may get


class GaitTracking:
    """Where the robot is on its gait.

    Args:
        engine: The walking engine.
        table: The gaits.
        scale: The robot's size.

    Attributes:
        table: The gaits.
        s: Part of the step that is over.
        deviation: Of the divergent component from the gait's, heading frame, m, ``(2,)``.
        felt: What is felt of the floor.
        touching: Whether the foot in the air touches something: the deviation is not found then.
        struck: Whether it met the floor before its time, and waits there to carry.
        pace: Rate of s over the gait's own.
        may_inject: Whether the pressure may put energy in.
        off: By how much the last touchdown was too early, s; too late below 0.
    """

    def __init__(self, engine: WalkingEngine, table: GaitTable, scale: Scale) -> None:
        self._engine, self.table, self.felt = engine, table, FeltFloor(scale)
        self._time, self._length, self._gravity = scale.time, scale.length, scale.gravity
        model, dynamics = engine.dynamics.model, engine.dynamics
        foot = model.frames[dynamics.frames[dynamics.robot.feet[LEFT]]]
        # between hip axes that do not meet are arms: the joint before the knee begins the leg
        knees = [model.getJointId(dynamics.joints[knee]) for knee in engine.body.knees]
        self._thighs = [model.parents[knee] for knee in knees]
        bones = [
            model.jointPlacements[joint].translation
            for joint in model.supports[foot.parentJoint]
            if joint >= knees[LEFT]
        ]
        self._leg = (
            foot.placement.translation.copy(),
            STRAIGHT * sum(float(np.linalg.norm(bone)) for bone in bones),
            FOLLOW / self._time,
            DEEPER * self._gravity,
        )
        self.reset()
        compile_some = partial(compile_ahead, wanted=engine.values.compiled)
        step, turned = (np.zeros(COLUMNS), (0.0,) * 6, self._errors), np.zeros((3, 3))
        landing = (np.zeros(2),) * 4, (1.0, False, 0.0, 0.0)
        leg = self._leg[0], turned, turned, *self._leg
        self._move = compile_some(move_foot, *step, *landing, leg, turned)
        self._turn = compile_some(turn_joints, *step, (0.0, 0.0), turned, turned)
        self._plan = compile_some(
            plan_on_gait,
            table.tables,
            table.places,
            (np.zeros(3), np.zeros(3), np.zeros(2)),
            Fall(np.zeros(2), np.zeros(2), 1.0),
            engine.moving,
            engine.limits,
            np.zeros(2),
            (1.0,) * 10,
        )

    def reset(self) -> None:
        """Begin anew."""
        self.s, self.pace = 0.0, 1.0
        self.deviation, self._center = np.zeros(2), np.zeros(2)
        self._drift = np.zeros(2)  # deviation at the last touchdown that belongs to the command
        self._errors = np.zeros(3), np.zeros(3), np.zeros((2, 2))
        self._knee_error = self._speed = self.off = self._touched = 0.0
        self._drop = self._squat = 0.0  # of the next foothold; a leg that is short stays so, m
        self._bend = 0.0  # of the stance knee for these, rad
        self.touching = self.struck = self._stumbled = False
        self._awaits = False  # the floor under a foot whose touchdown was foreseen
        self.may_inject = True
        self.felt.reset()

    def row(self) -> np.ndarray:
        """Return what the gait asks for now, a row of the table: all that is tracked reads it."""
        return self.table.row(self.s, self._engine.stance)

    def feel(self, on_gait: bool, dt: float) -> None:
        """Follow the felt floor, with the gait that belongs to it."""
        engine, felt, table = self._engine, self.felt, self.table
        floor, foot = engine.floor, engine.body.feet[engine.stance]
        felt.follow(floor.tilted[2, :2], foot, engine.plan.elapsed, on_gait, dt)
        floor.lean(felt.slope)
        ahead, across = engine.heading.from_floor(felt.slope).tolist()
        table.choose(self._speed, ahead)
        felt.turn(ahead - table.rise, across)

    def end_step(self, on_gait: bool) -> None:
        """Take a touchdown: when it was and, on the gait, how high."""
        engine = self._engine
        way, trip = engine.floor.level @ engine.way, engine.touchdown.trip
        self.felt.touch(max(abs(way[2]) if on_gait else 0.0, trip.edge(way)))
        self.off, self._stumbled = engine.plan.step.remaining, trip.met

    def begin_step(self) -> None:
        """Choose the gait of the step that begins, and find the deviation from it."""
        engine, self.s, self.pace = self._engine, 0.0, 1.0
        wanted = engine.velocity.planned
        self._speed = float(wanted[0])
        gait, fall = self.table.choose(self._speed, self.table.rise), engine.find_fall()
        self.touching = self.struck = False
        aim = Aim(wanted, gait.duration, abs(gait.way[1]), np.zeros(2), math.nan, np.zeros(2), True)
        self._drift = offsets_of(aim, SIDE[engine.stance], fall.rate, np.zeros(1))[:, 0]
        self.deviation = fall.capture - self.row()[CAPTURE] - self._drift

    def fade_in(self) -> None:
        """Note how far foot and knee are from the gait: that fades within the step."""
        engine, row = self._engine, self.row()
        swing, heading = engine.body.feet[1 - engine.stance], engine.heading
        off, turned, shift = self._errors
        shift[:] = 0.0
        off[:] = heading.from_floor(engine.floor.level @ engine.way) - row[FOOT][:3]
        turn = self.felt.bank.T @ pin.utils.rotate('z', -heading.angle) @ swing.rotation
        turned[:] = pin.log3(turn @ pin.exp3(row[FOOT_TURN][:3]).T)
        knee = (
            self.table.knee_signs[engine.stance]
            * engine.body.joint(engine.body.knees[engine.stance])[0]
        )
        long = self._bones(row[KNEE][0])[2]
        self._squat = max(long - self._bones(knee)[2] - RISE * self._length, 0.0)
        self._foresee_drop(row[KNEE][0])
        self._knee_error = knee - row[KNEE][0] - self._bend

    def _foresee_drop(self, angle: float) -> None:
        """Find how much farther the stance knee bends where the next foothold is lower, rad.

        The leg gets shorter by as much.

        Args:
            angle: Of the knee on the gait, rad.
        """
        self._drop, self._bend = self._engine.floor.next_drop, 0.0
        shorter = max(self._drop, self._squat)
        if shorter > 0.0:
            both, bent, length = self._bones(angle)
            less = math.cos(bent) - shorter * (2.0 * length - shorter) / both
            self._bend = math.copysign(math.acos(max(less, 0.0)), bent) - bent

    def _bones(self, angle: float) -> tuple[float, float, float]:
        """Return twice thigh times shank, m^2, how bent the leg is, rad, and how long, m."""
        body = self._engine.body
        thigh, shank = body.bones[LEFT]
        both, bent = 2.0 * thigh * shank, angle - body.straight[LEFT]
        return both, bent, math.sqrt(thigh**2 + shank**2 + both * math.cos(bent))

    def _bending(self, angle: float) -> float:
        """Return how fast a stance knee bends more after a late floor, rad/s^2.

        So that the leg gets shorter by a part of g: more would be a free fall.
        """
        both, bent, length = self._bones(angle)
        lever = 0.5 * both * abs(math.sin(bent)) / length  # of the length, m/rad
        most = min(BEND / self._time**2, SINK * self._gravity / max(lever, 1e-9))
        return math.copysign(most, bent)

    def measure(self) -> None:
        """Find the deviation from the gait; not while an impact of the swing foot makes it.

        A foot that meets an edge is lifted over it, one that meets the floor later waits there
        until it carries, or touches nothing any more.
        """
        engine, row, elapsed = self._engine, self.row(), self._engine.plan.elapsed
        fall = engine.find_fall()
        self.touching = engine.touchdown.touches and self.s > FIRST
        engine.meet_edges()
        if self.touching:
            self._touched = elapsed
            self.struck = (
                self.struck or self.may_land and self._surprises(engine.plan.step.remaining)
            )
        else:
            self.struck &= not self._surprises(elapsed - self._touched)
            self.deviation = (
                fall.capture - row[CAPTURE] - self._drift * math.exp(row[RATE] * elapsed)
            )

    def _surprises(self, early: float) -> bool:
        """Return whether a touchdown so much too early is a surprise, s."""
        return early > SURPRISE * self._time

    @property
    def surprised(self) -> bool:
        """Return whether the last foot hit an edge, or came down much too early or too late."""
        return self._stumbled or self._surprises(abs(self.off))

    def lands(self, felt: bool, contact: np.ndarray, dt: float) -> bool:
        """Return whether the foot in the air stands from now on: as is felt, or foreseen.

        What is planned acts later than its measurement, and a touchdown is felt later still. So on
        an even floor, near the gait, a foot stands when its time has come. If the floor is felt
        late after all, the next touchdown is not foreseen.

        Args:
            felt: Whether its touchdown is.
            contact: What the feet's sensors say, ``(2,)``.
            dt: Of the tick, s.
        """
        engine = self._engine
        if self._awaits:
            early = engine.ahead - engine.plan.elapsed
            self._awaits = not contact[engine.stance]
            self.off = min(early, 0.0) if self._awaits else early
        if felt:
            return self.may_land
        due = engine.plan.step.remaining < 1.5 * engine.coming(dt)
        steady = math.hypot(*self.deviation.tolist()) < STEADY * self._length
        if engine.ahead == 0.0 or not (due and steady) or self.felt.uneven or self.surprised:
            return False
        engine.foresee_impact()
        self._awaits = True
        return True

    @property
    def may_land(self) -> bool:
        """Return whether a foot that touches may stand: it has left, and is not being lifted."""
        elapsed, trip = self._engine.plan.elapsed, self._engine.touchdown.trip
        time = max(self.table.stride.duration, elapsed + self._engine.plan.step.remaining)
        return elapsed > FIRST * time and not trip.lifts(elapsed)

    def advance(self, dt: float, values: NaturalWalkingParameters) -> None:
        """Plan the step, and go on along the gait."""
        plan, tick = self._engine.plan, self._engine.coming(dt)
        dt = self._engine.of_step(dt)
        if self.struck or plan.step.remaining <= values.early:
            plan.count_down(tick)
        else:
            slow = self.table.stride.speed * self._time < SLOW * self._length
            rate = 0.0 if self.felt.uneven or self.surprised or slow else values.place_rate
            engine, table, velocity = self._engine, self.table, self._engine.velocity
            self.s, self.pace, plan.step = self._plan(
                table.tables,
                table.places,
                (velocity.value, velocity.wanted, velocity.trim.value),
                engine.fall,
                engine.moving,
                engine.limits,
                self._center,
                (
                    self.s,
                    self.pace,
                    rate,
                    dt,
                    tick,
                    plan.elapsed,
                    plan.step.remaining,
                    table.rise,
                    velocity.rate,
                    values.frozen,
                ),
            )
        left = max(plan.step.remaining, 0.0)
        self.s += (1.0 - self.s) * min(1.0, dt / max(left + dt, 1e-9))

    def tasks(self, dt: float, values: NaturalWalkingParameters) -> list[Task]:
        """Return the tasks of a step on the gait."""
        engine, row = self._engine, self.row()
        stance, remaining = engine.stance, engine.plan.step.remaining
        tick = engine.coming(dt)
        rate = (1.0 - self.s) / remaining if remaining > tick else 1.0 / self.table.stride.duration
        if remaining < 0.0:  # the floor is late: a push-off that went on would fly
            row[KNEE][0] -= row[KNEE][1] * rate * remaining
            row[KNEE][2] = row[TURN][6:] = 0.0
            more = np.array([0.5 * remaining**2, -remaining / rate, 1.0 / rate**2])
            row[KNEE] += more * self._bending(row[KNEE][0] + self._bend)
        moment = (
            self.s,
            rate,
            remaining,
            tick,
            engine.heading.angle,
            float(engine.velocity.value[2]),
        )
        swing_gains = Gains(values.gait_swing_stiffness, values.gait_swing_damping, SWING)
        if engine.touchdown.trip.met:  # no gait has a foot that steps over an edge
            engine.swing_on(0.0, dt)
        else:
            self._move_foot(row, moment)
            engine.hold_swing(swing_gains.stiffness, swing_gains.damping)
        shift = pressure_shift(
            self.deviation, values.pressure_gain, self.may_inject, self.table.stride.speed
        )
        place = engine.on_sole(row[PRESSURE] + shift)
        swing = swing_task(engine, swing_gains)
        if self.struck:  # what is planned tells the landing; the foot is braked alone
            gains = swing_gains._replace(stiffness=0.0)
            swing = swing._replace(motion=np.zeros((3, 3)), gains=gains)
        self._foresee_drop(float(row[KNEE][0]))
        knee, (level, turn, spin, gain), turned = self._turn(
            row,
            moment,
            self._errors,
            (self._knee_error, self._bend),
            self.felt.bank,
            engine.body.rotation,
        )
        gains = Gains(values.gait_trunk_stiffness, values.gait_trunk_damping, TRUNK)
        angle, rate, acceleration = (self.table.knee_signs[stance] * knee).tolist()
        return [
            TrunkTask(level, gains, Gains(*gains[:2], YAW), turn, spin, gain),
            JointTask(
                engine.body.knees[stance],
                angle,
                rate,
                acceleration,
                Gains(values.gait_knee_stiffness, values.gait_knee_damping, HEIGHT),
            ),
            swing,
            FootTurnTask(
                1 - stance,
                turned[0],
                Gains(*engine.touchdown.trip.turning(*swing_gains[:2]), TILT),
                turned[1],
                turned[2],
            ),
            PressureTask(stance, engine.heading.to_floor(place), PRESSING),
            *held_tasks(engine),
        ]

    def _move_foot(self, row: np.ndarray, moment: tuple[float, ...]) -> None:
        """Let the swing foot go where the gait has it, moved to the foothold."""
        engine, foot = self._engine, 1 - self._engine.stance
        own = self.table.stride.way * np.array([1.0, SIDE[engine.stance]])
        hip = engine.dynamics.data.oMi[self._thighs[foot]].translation
        leg = hip - engine.body.feet[engine.stance].position, engine.body.feet[foot].rotation
        self._move(
            row,
            moment,
            self._errors,
            (engine.plan.step.foothold, own, engine.fall.capture, self._center),
            (engine.fall.rate, self.felt.rough, self.felt.higher, self._drop),
            (*leg, engine.floor.tilted, *self._leg),
            engine.swing.motion,
        )


def pressure_shift(
    deviation: np.ndarray, gain: float, may_inject: bool, speed: float = 1.0
) -> np.ndarray:
    """Return how far from where it does on the gait the floor shall press, m, ``(2,)``.

    Args:
        deviation: From the gait, heading frame, m, ``(2,)``.
        gain: k, in deviations.
        may_inject: Whether energy may be put in: pressing farther back than on the gait does, by
            -m w^2 (p - p_gait) x'.
        speed: Of the gait; below 0, backwards, pressing farther ahead does.
    """
    shift = gain * deviation
    if not may_inject and shift[0] * speed < 0.0:
        shift[0] = 0.0
    return shift
