# SPDX-License-Identifier: Apache-2.0
"""Walk a biped in space on a gait of its own, and leave it when pushed.

As in section 5.2 of [DS09] the momentum is split into that along the gait's curve and that across
it (`gait_tracking`). Beyond what sole and step can take plain stepping catches the fall, with the
base sunk; then it rises again, and enters the gait at a touchdown (`gait_switch`;
doc/controllers/natural_walking.md).
"""

import numpy as np

from walking_control.controllers import (
    GaitTable,
    LEFT,
    NaturalWalkingParameters,
    posture_tasks,
    RIGHT,
    SLOWING,
    standing_tasks,
    step_tasks,
    Task,
    WalkingLaw,
)
from walking_control.controllers.natural_walking.books import Books, FIELDS
from walking_control.controllers.natural_walking.gait_switch import GaitSwitch
from walking_control.controllers.natural_walking.gait_tracking import GaitTracking
from walking_control.exceptions import IncompatibleController, require
from walking_control.gaits.gait_family import GaitFamily
from walking_control.models import (
    Command,
    gait_path,
    Reference,
    Robot,
    RobotFile,
    WalkerState,
    World,
)

HURRY = 4.0  # so many times faster efforts change after a touchdown that was too early or late


class NaturalWalking(WalkingLaw):
    """Natural walking for a biped whose every joint has a motor.

    Args:
        robot_file: The `RobotFile`; the left foot is the first.
        values: The parameters.

    Raises:
        IncompatibleController: As `Stepping`, or the robot stands on points.
        GaitError: The library is of another robot.
    """

    name = 'natural_walking'
    parameters = NaturalWalkingParameters
    values: NaturalWalkingParameters

    def __init__(self, robot_file: RobotFile, values: NaturalWalkingParameters) -> None:
        lag = float(robot_file.sections.get('estimator', {}).get('velocity_lag', 0.0))  # checked
        super().__init__(robot_file, values, lag)
        what = f'controller {self.name} on {robot_file.robot.name}'
        require(
            min(values.sole_length, values.sole_width) > 0.0,
            what,
            value=(values.sole_length, values.sole_width),
            limit='needs the length and width of flat soles, m',
            remedy='write natural_walking.sole_length and .sole_width; adopt does',
            error=IncompatibleController,
        )
        require(
            values.gait or gait_path(robot_file.robot.name).is_file(),
            what,
            limit='has no gaits yet, which bring-up and gait search find',
            error=IncompatibleController,
        )
        family = GaitFamily.read(gait_path(values.gait or robot_file.robot.name), robot_file)
        engine, robot = self.engine, robot_file.robot
        scale, told = robot_file.scale, robot_file.values(World).slope
        table = GaitTable(family, engine.dynamics, engine.gravity, told, values.compiled)
        self.tracking = GaitTracking(engine, table, scale)
        self.switch = GaitSwitch(scale.time)
        self._joints = np.array([robot.joint_index(joint) for joint in robot.actuators])
        self._books = Books(values.tank_capacity, self._joints, lag > 0.0)

    @property
    def on_gait(self) -> bool:
        """Return whether it walks on the gait; it stands or steps otherwise."""
        return self.switch.on_gait

    def reset(self, state: WalkerState) -> None:
        """Begin anew, standing, with full books."""
        super().reset(state)
        self.switch.reset()
        self.tracking.reset()
        self._books.reset()
        self._height, self._last_effort = 0.0, np.zeros(0)

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick, and keep the books.

        Args:
            state: Joints, attitude and velocity of the base, contacts.
            reference: The velocity that is commanded.
            dt: Time since the last tick, s.
            command: The `Command` to fill.
        """
        engine = self.engine
        self._books.work(state.position, state.velocity, dt)
        engine.observe(state, self.values)
        if reference.stop:
            self.switch.on_gait = False
        engine.follow(reference, dt, 1.0 if self.on_gait else SLOWING)
        self.tracking.feel(self.on_gait, dt)
        self._follow_height(dt, reference.stop)
        if engine.walking:
            landed = engine.has_landed(state.contact, dt)
            if self.on_gait:
                landed = self.tracking.lands(landed, state.contact, dt)
            if landed:
                self._change_feet()
        elif engine.must_step():
            engine.begin_walking()
            self._begin_step()
        standing = [engine.stance] if engine.walking else [LEFT, RIGHT]
        engine.act(standing, self._tasks(dt), dt, command)
        engine.brake_spin(dt, self.values.slippery, command)
        self._limit_effort(command.effort, engine.coming(dt))
        self._books.hold(command.effort, state.position, state.velocity)
        self._books.weigh(engine.body, engine.stance, engine.gravity)

    def _follow_height(self, dt: float, stop: bool) -> None:
        """Let the base sink or rise to the height it steps with; on the gait it has its own.

        One that is being stopped does not rise: it would not come to rest before it is up.
        """
        engine, values = self.engine, self.values
        now = -float(engine.floor.normal @ engine.body.feet[engine.stance].position)
        if self.on_gait or self._height == 0.0:
            self._height = now
        else:
            aim = values.tall if self.switch.tall else values.height
            way = max(aim - self._height, -values.sinking_down * dt)
            self._height += min(way, 0.0 if stop else values.rising * dt)

    def _change_feet(self) -> None:
        """Let the swing foot stand; what the step was counts for the next ones."""
        engine, table = self.engine, self.tracking.table
        before = table.stride.speed
        if self.on_gait:  # its own efforts jump at a touchdown: that answers no impact
            self._last_effort += table.jump(engine.stance)[self._joints]
        else:
            engine.find_fall()
            self.switch.count(engine.left_over(), self.tracking.felt.uneven, self.values)
        self.tracking.end_step(self.on_gait)
        engine.change_feet()
        if engine.walking:
            self._begin_step()
        else:
            self.switch.on_gait = False
        faster = 0.5 * engine.body.mass * max(table.stride.speed**2 - before**2, 0.0)
        self._books.close_step(self.values.tank_refill * max(table.stride.work, 0.0) + faster)

    def _begin_step(self) -> None:
        """Enter the gait, go on along it, or step."""
        tracking, switch = self.tracking, self.switch
        tracking.begin_step()
        if not switch.on_gait:
            self._books.level = self.values.tank_capacity
        switch.begin_step(
            float(self.engine.velocity.value[0]),
            tracking.table.speeds,
            tracking.deviation,
            tracking.surprised,
            self.values,
        )
        if switch.on_gait:
            tracking.fade_in()

    def _tasks(self, dt: float) -> list[Task]:
        """Return what is wanted of the whole body: on the gait, in a step off it, or standing."""
        engine, tracking, values = self.engine, self.tracking, self.values
        if not engine.walking:
            return [*standing_tasks(engine), *posture_tasks(engine, self._height)]
        if self.on_gait:
            tracking.measure()
            felt, elapsed = tracking.felt, engine.plan.elapsed
            if not (tracking.touching or engine.touchdown.trip.lifts(elapsed)):
                jumps = felt.rough or tracking.surprised
                self.switch.judge(
                    tracking.deviation, elapsed, jumps, felt.settled, engine.coming(dt)
                )
            part = min(tracking.s, elapsed / tracking.table.stride.duration)
            self.switch.go_on(part, engine.plan.step, felt.rough, values)
        if self.on_gait:
            tracking.may_inject = self._books.level > 0.0
            tracking.advance(dt, values)
            return tracking.tasks(dt, values)
        engine.find_fall()
        engine.plan_step(dt)
        clearance = values.tall_clearance if self.switch.tall else values.clearance
        engine.swing_on(clearance + tracking.felt.higher, dt, tracking.felt.rough)
        return [*step_tasks(engine), *posture_tasks(engine, self._height)]

    def _limit_effort(self, effort: np.ndarray, dt: float) -> None:
        """Let efforts change slowly at an impact."""
        plan, last, tracking = self.engine.plan, self._last_effort, self.tracking
        calm = plan.elapsed >= self.values.impact and plan.step.remaining >= 0.0
        if self.on_gait and len(last) and (tracking.touching or not calm):
            most = self.values.effort_rate * dt * (HURRY if tracking.surprised else 1.0)
            np.clip(effort, last - most, last + most, out=effort)
        self._last_effort = effort.copy()

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (
            *WalkingLaw.telemetry_fields(robot),
            ('on_gait', 'bool'),
            ('part', '1'),
            ('deviation_x', 'm'),
            ('deviation_y', 'm'),
            *FIELDS,
        )

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say what `Stepping` does, and where it is on the gait, or how far off."""
        own, tracking = 4 + len(FIELDS), self.tracking
        super().write_telemetry(out[:-own])
        out[-own:] = self.on_gait, tracking.s, *tracking.deviation, *self._books.values
