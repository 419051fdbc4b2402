# SPDX-License-Identifier: Apache-2.0
"""One control tick: measurement, estimator, controller, safety, command.

Scripts, the simulation loop and the ROS nodes all call this chain; none has one of its own.
"""

from collections.abc import Callable
import math

import numpy as np

from walking_control.controllers import LawParameters, make_controller
from walking_control.estimation import (
    dispensable,
    EstimatorParameters,
    GYROSCOPE,
    make_estimator,
    StandIn,
)
from walking_control.exceptions import ParameterError, require
from walking_control.models import (
    Choice,
    Command,
    Drives,
    Measurement,
    Reference,
    RobotFile,
    WalkerState,
    World,
)
from walking_control.safety import Fault, INTERNAL, Latch, SafetyParameters
from walking_control.safety.supervisor import Supervisor


class ControlLoop:
    """Everything between a `Measurement` and a `Command`.

    Sensors may tick faster than the control law: the estimator sees every measurement, the law
    runs at its own rate and its command is held in between.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the controller; None takes the robot file's default.
        latch: The `Latch` that keeps the fault; None takes a new one, active from the start.

    Raises:
        InvalidInput: An unknown controller, one that does not fit, or a bad parameter.
    """

    def __init__(
        self, robot_file: RobotFile, controller: Choice = None, latch: Latch | None = None
    ) -> None:
        robot = robot_file.robot
        self.robot = robot
        self._dispensable = dispensable(robot, robot_file.values(EstimatorParameters))
        self.controller = make_controller(robot_file, controller)
        self.estimator = make_estimator(robot_file, getattr(self.controller.values, 'delay', 0.0))
        # the law that brings the robot to a stand when the controller cannot, or gives nothing
        self.standby = (
            make_controller(robot_file, robot_file.standby) if robot_file.standby else None
        )
        self.law = self.controller  # the one in command
        self.period = 1.0 / self.controller.values.rate
        safety = robot_file.values(SafetyParameters)
        gravity, slope = robot_file.values(World).gravity, robot_file.values(World).slope
        self._stand_in = StandIn(robot, slope) if self._dispensable else None
        self._weight = robot_file.scale.mass * gravity  # counts as contact on any robot
        soles = robot_file.values(EstimatorParameters).sole_spin > 0.0
        self._safety = safety, gravity, soles
        self.supervisor = self._supervise(latch)
        self._lead_by_controller()
        stands, standby = self.supervisor.stands, self.supervisor.standby
        safety.require(self.controller.name, stands, standby, self._dispensable)
        self._told = Measurement(robot)  # what was believed last
        self.command = Command(robot)
        self.drives = Drives(robot, self.period)
        self._offset = np.zeros(len(robot.efforts))
        require(
            safety.state_timeout >= 1.5 * self.period,
            'parameter safety.state_timeout',
            value=safety.state_timeout,
            limit=f'must be at least one and a half control periods ({1.5 * self.period:g} s)',
            remedy='raise it or the rate of the controller',
            error=ParameterError,
        )
        self.sensor_timeout = safety.state_timeout
        self._retune_rate = safety.retune_rate
        self.reference = Reference()
        self._stop = Reference(0.0, np.zeros(3), stop=True)
        self._start, self._support = robot_file.start, robot_file.start.support
        self._retuned: LawParameters | None = None
        self.reset(clear_fault=False)
        self.rehearse()

    def _supervise(self, latch: Latch | None) -> Supervisor:
        safety, gravity, soles = self._safety
        supervisor = Supervisor(self.robot, safety, latch, self.period, gravity, soles)
        supervisor.dispensable = self._dispensable
        supervisor.foot_loads = self.estimator.foot_loads
        return supervisor

    def rehearse(self, then: Callable[[], None] = lambda: None) -> None:
        """Do and forget what a tick does: whatever compiles, loads or allocates does so now.

        The robot stands as it starts, upright and at rest; what comes out does not matter.

        Args:
            then: What follows a tick, see `walking_control.ros.nodes.telemetry.Output.rehearse`.
        """
        robot, start, measurement = self.robot, self._start, Measurement(self.robot)
        # what the rehearsal latches and counts is nobody's
        kept, self.supervisor = self.supervisor, self._supervise(None)
        if start.posture is None:
            measurement.position[:] = robot.joint_lifts[start.support] @ start.q
        else:
            measurement.position[:] = start.posture
        measurement.locked[:] = True
        measurement.foot_force[:, 2] = self._weight
        for _ in range(2):
            self.tick(measurement)
            # a fault would have kept the law from its part
            for law in filter(None, (self.controller, self.standby)):
                law.update(self.state, self.reference, self.period, self.command)
            self.supervisor.limit(self.command, self.period, measurement.stamp)
        then()
        self.stop('internal', 'rehearsal', measurement)
        self.supervisor = kept
        self.reset(clear_fault=False)

    @property
    def state(self) -> WalkerState:
        """The `WalkerState` of the last tick."""
        return self.estimator.state

    @property
    def fault(self) -> Fault | None:
        """The latched `Fault`, or None."""
        return self.supervisor.fault

    def reset(self, clear_fault: bool = True) -> None:
        """Begin anew: the start's stance foot stands, parameters are as last set.

        Args:
            clear_fault: Whether a latched fault is forgotten.
        """
        if self._retuned is not None:
            self.controller.values = self._retuned
        if clear_fault:
            self.supervisor.fault_latch.clear()
        self.estimator.reset(self._support)
        self.supervisor.forget()
        self._lead_by_controller()
        self.controller.reset(self.state)
        self.command.clear()
        self.drives.expected[:] = 0.0
        self.command.lock[:] = True
        self._last_update = -math.inf
        self._retuned = None
        self._offset[:] = 0.0
        self._blending = False

    def retune(self, values: LawParameters) -> None:
        """Change parameters while walking; the effort follows at `safety.retune_rate`.

        Args:
            values: Validated values of the controller's table.
        """
        self._retuned = values

    def tick(self, measurement: Measurement, now: float | None = None) -> Command:
        """Return the `Command` that answers a `Measurement`; the same object every time.

        Args:
            now: Steady clock, s; None where only stamps count, in scripts and in lockstep.
        """
        supervisor, command = self.supervisor, self.command
        latched = supervisor.fault_latch.fault is not None
        if latched and supervisor.led and self._stand_in is not None:
            lost = supervisor.lost
            measurement = self._stand_in.replace(measurement, lost, self._told, self.state)
            self.estimator.level_by_imu(GYROSCOPE in lost)
        told = supervisor.check_measurement(measurement, now)
        if told is not None:
            plain = self.drives.are_plain
            effort = command.effort if plain else self.drives.expected
            state, self._told = self.estimator.update(told, effort), told
            if supervisor.check_state(state) and self._due(measurement.stamp):
                self._control(state, measurement.stamp)
        if not supervisor.led:
            self.react(measurement)
        return command

    def stop(
        self,
        code: str,
        message: str,
        measurement: Measurement,
        now: float | None = None,
        live: bool = True,
    ) -> Command:
        """Latch a fault from outside and return the safe `Command`.

        Args:
            code: Of a kind in `safety.faults.KINDS`.
            message: Why, one sentence.
            measurement: The last `Measurement`.
            now: Steady clock, s; None where only stamps count.
            live: Whether the measurement says how the joints move now.
        """
        self.supervisor.latch(code, message, measurement.stamp)
        return self.react(measurement, now, live)

    def give_up(self, message: str, measurement: Measurement, now: float | None = None) -> Command:
        """Latch that an answer broke where no standby law could help; return the safe `Command`.

        Args:
            message: What broke, one sentence.
            measurement: The last `Measurement`.
            now: Steady clock, s; None where only stamps count.
        """
        self.supervisor.latch(INTERNAL, message, measurement.stamp, stands=False)
        return self.react(measurement, now)

    def react(
        self, measurement: Measurement, now: float | None = None, live: bool = True
    ) -> Command:
        """Return the safe `Command` of a latched fault, between two measurements.

        Args:
            measurement: The last `Measurement`.
            now: Steady clock, s; None where only stamps count.
            live: Whether it says how the joints move now; if not, nothing is damped.
        """
        self.supervisor.react(measurement, self.command, now, live)
        if not self.supervisor.led:
            self.drives.rest(self.command, measurement.position, measurement.velocity)
        return self.command

    def _due(self, stamp: float) -> bool:
        # a hair early counts, so that rounding of stamps does not skip a tick
        return stamp - self._last_update >= self.period * (1.0 - 1e-6)

    def _control(self, state: WalkerState, stamp: float) -> None:
        age, self._last_update = stamp - self._last_update, stamp
        dt = age if age <= self.sensor_timeout else 2.0 * self.period  # the first tick has no age
        command, reference = self.command, self.reference
        supervisor = self.supervisor
        if supervisor.fault_latch.fault is not None:
            reference = self._stop
            reference.lower = supervisor.lowering
            plain = GYROSCOPE in supervisor.lost and supervisor.standby
            if plain or not supervisor.stands:
                self._hand_over(state)
        reference.pace, reference.room = supervisor.heat.pace, supervisor.heat.room
        # unless the law says otherwise
        command.gains[:] = command.acceleration[:] = 0.0
        try:
            self.law.update(state, reference, dt, command)
        except Exception as error:
            if not supervisor.lose_law(INTERNAL, f'{type(error).__name__}: {error}', stamp):
                raise
            self._catch(state, dt)
        if self._retuned is not None and self.law is self.controller:
            self._blend(state, reference, self._retuned)
        if self._blending:
            step = self._retune_rate * dt
            self._offset -= np.clip(self._offset, -step, step)
            self._blending = bool(self._offset.any())
            command.effort += self._offset
        if supervisor.limit(command, dt, stamp):
            self._catch(state, dt)
            supervisor.limit(command, dt, stamp)
        if not self.drives.are_plain or any(command.gains.tolist()):
            self.drives.follow(command, self._told.position, self._told.velocity)

    def _catch(self, state: WalkerState, dt: float) -> None:
        """Let the standby law answer in place of the one that gave nothing, from this tick on."""
        self._hand_over(state)
        self.law.update(state, self._stop, dt, self.command)

    def _hand_over(self, state: WalkerState) -> None:
        """Let the standby law lead: the one in command cannot stand, or gives nothing."""
        assert self.standby is not None
        self.law = self.standby
        self.supervisor.lead(self.law.standstill, None)
        self.law.take_over(state)
        self.command.clear()
        self._offset[:], self._blending = 0.0, False

    def resume(self) -> None:
        """Give the lead back to the controller: the robot stands, and nothing is latched."""
        if self.law is not self.controller:
            self._lead_by_controller()
            self.controller.reset(self.state)

    def _lead_by_controller(self) -> None:
        self.law = self.controller
        standby = None if self.standby is None else self.standby.standstill
        self.supervisor.lead(self.law.standstill, standby)

    def _blend(self, state: WalkerState, reference: Reference, values: LawParameters) -> None:
        """Take new parameters over; what the effort would jump by becomes a fading offset."""
        command = self.command
        self._offset += command.effort
        self.controller.values, self._retuned = values, None
        self.controller.update(state, reference, 0.0, command)
        self._offset -= command.effort
        self._blending = True
