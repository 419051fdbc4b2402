# SPDX-License-Identifier: Apache-2.0
"""A `Run` of a robot that walked in another simulator or in the lab, from its recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.models.robot_file import RobotFile, World
from walking_control.models.signals import BaseState, Command, WalkerState
from walking_control.recording.bag import Row
from walking_control.runs.run import Recorder, Run
from walking_control.safety.faults import Fault
from walking_control.simulation.engine import Truth

TOLD, ESTIMATED = 'recording', 'recording (base as estimated)'   # names of the plant


class RetoldWalk:
    """Stands in for the plant of a walk that was recorded, tick by tick.

    Joints, locks and forces are those measured. The base is where the simulator or a camera said
    (`names.TRUTH`), else where the estimator believes it.

    Args:
        law: Name of the law that answers.
        settings: name -> value of its parameters.
    """

    disturbances: tuple[Any, ...] = ()
    sensors: Mapping[str, Any] = {}

    def __init__(self, robot_file: RobotFile, law: str,
                 settings: Mapping[str, Any] | None = None) -> None:
        self.robot, self._law, self._settings = robot_file.robot, law, settings
        self.world = robot_file.values(World)
        self.truth, self.time, self.name = Truth(self.robot), 0.0, ESTIMATED
        self._level = pin.utils.rotate('y', -self.world.slope)   # from the world to the floor
        self._motor_joints = [self.robot.joint_index(joint) for joint in self.robot.actuators]
        self._rates, self._command = self.truth.v.copy(), Command(self.robot)
        self._begin: float | None = None
        self._recorder: Recorder | None = None

    def add(self, row: Row, state: WalkerState, effort: np.ndarray | None = None) -> None:
        """Record a row.

        Args:
            state: What the estimator made of it.
            effort: That answers it where none was recorded; None: zero.
        """
        measurement, told, truth = row.measurement, row.truth, self.truth
        base = self.robot.base
        if self._begin is None:
            self._begin = measurement.stamp
            self.name = ESTIMATED if told is None else TOLD
        h, self.time = measurement.stamp - self._begin - self.time, measurement.stamp - self._begin
        true = state.base if told is None else self._floor_state(told)
        self._rates[:] = truth.v
        truth.q[:base.nq] = base.coordinates(true.position, true.orientation)
        truth.v[:base.nv] = base.velocities(true)
        truth.q[base.nq:], truth.v[base.nv:] = measurement.position, measurement.velocity
        truth.locked[:] = measurement.locked
        truth.foot_force[:] = measurement.foot_force   # of feet that stand flat
        rates = (0.5 * (self._rates + truth.v)[base.nv:])[self._motor_joints].tolist()
        held = self._command.effort   # since the row before
        truth.book(self.robot.actuators.values(), held, [
            effort * rate * h for effort, rate in zip(held.tolist(), rates)], rates, h)
        self._command.effort[:] = row.command[0] if row.command is not None else \
            0.0 if effort is None else effort
        if self._recorder is None:
            self._recorder = Recorder(self.robot, self._law, self, settings=self._settings)
        self._recorder.record(self, state, self._command)

    def finish(self, fault: Fault | None = None) -> Run | None:
        """Return the `Run`, or None of an empty recording."""
        return None if self._recorder is None else self._recorder.finish(fault)

    def _floor_state(self, told: np.ndarray) -> BaseState:
        state, tilt = BaseState(), pin.Quaternion(self._level)
        state.position[:], state.linear[:] = self._level @ told[:3], self._level @ told[7:10]
        state.orientation[:] = (tilt * pin.Quaternion(told[3:7])).coeffs()
        state.angular[:] = told[10:]
        return state
