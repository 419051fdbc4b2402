# SPDX-License-Identifier: Apache-2.0
"""A `Run` of a robot that walked in another simulator or in the lab, from its recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.control_loop import ControlLoop
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.signals import BaseState, Command
from walking_control.recording.bag import Row
from walking_control.runs.run import Recorder, Run
from walking_control.simulation.engine import Truth

TOLD, ESTIMATED = 'recording', 'recording (base as estimated)'   # names of the plant


class RetoldWalk:
    """Stands in for the plant of a walk that was recorded, tick by tick.

    Joints, locks and forces are those measured, efforts those recorded, else those of the law that
    is given the recording. The base is where the simulator said (`names.TRUTH`), else where the
    estimator of this law believes it.

    Args:
        robot_file: The `RobotFile`.
        loop: The `ControlLoop` that is given the recording.
    """

    disturbances: tuple[Any, ...] = ()
    sensors: Mapping[str, Any] = {}

    def __init__(self, robot_file: RobotFile, loop: ControlLoop) -> None:
        self.robot, self._loop = robot_file.robot, loop
        self.world = robot_file.values(World)
        self.truth, self.time, self.name = Truth(self.robot), 0.0, ESTIMATED
        self._level = pin.utils.rotate('y', -self.world.slope)   # from the world to the floor
        self._motors = [(motor, self.robot.joint_index(joint))
                        for joint, motor in self.robot.actuators.items()]
        self._effort, self._rates = np.zeros(len(self.robot.efforts)), self.truth.v.copy()
        self._begin: float | None = None
        self._recorder: Recorder | None = None

    def add(self, row: Row) -> None:
        """Record a row that the loop has just answered."""
        measurement, told, truth = row.measurement, row.truth, self.truth
        base = self.robot.base
        if self._begin is None:
            self._begin = measurement.stamp
            self.name = ESTIMATED if told is None else TOLD
        h, self.time = measurement.stamp - self._begin - self.time, measurement.stamp - self._begin
        state = self._loop.state.base if told is None else self._floor_state(told)
        truth.q[:base.nq] = base.coordinates(state.position, state.orientation)
        self._rates[:] = truth.v
        truth.v[:base.nv] = base.velocities(state)
        truth.q[base.nq:], truth.v[base.nv:] = measurement.position, measurement.velocity
        truth.locked[:] = measurement.locked
        truth.foot_force[:] = measurement.foot_force   # of feet that stand flat
        self._book(0.5 * (self._rates + truth.v)[base.nv:], h)
        command = Command(self.robot)
        command.effort[:] = self._loop.command.effort if row.command is None else row.command[0]
        self._effort = command.effort
        law = self._loop.controller
        if self._recorder is None:
            self._recorder = Recorder(self.robot, law.name, self, settings=vars(law.values))
        self._recorder.record(self, self._loop.state, command)

    def finish(self) -> Run | None:
        """Return the `Run`, or None of an empty recording."""
        return None if self._recorder is None else self._recorder.finish(self._loop.fault)

    def _floor_state(self, told: np.ndarray) -> BaseState:
        state, tilt = BaseState(), pin.Quaternion(self._level)
        state.position[:], state.linear[:] = self._level @ told[:3], self._level @ told[7:10]
        state.orientation[:] = (tilt * pin.Quaternion(told[3:7])).coeffs()
        state.angular[:] = told[10:]
        return state

    def _book(self, velocity: np.ndarray, h: float) -> None:
        """Book the work of the efforts held since the row before, at mean velocities."""
        power = 0.0
        for i, (motor, joint) in enumerate(self._motors):
            effort, rate = float(self._effort[i]), float(velocity[joint])
            self.truth.work[i] += effort * rate * h
            power += motor.electrical_power(effort, rate)
        self.truth.electrical_energy += max(0.0, power) * h
