# SPDX-License-Identifier: Apache-2.0
"""A walker with all mass in the hip under a control law, tick by tick, plain or compiled.

As `rigid.walk`: the state is taken as known, and after a stop at a step the control clock starts
anew.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from walking_control.controllers import LawFunction, make_controller
from walking_control.exceptions import given, IncompatibleController
from walking_control.models import (
    array_function,
    compile_where_possible,
    leg_rates,
    require_level,
    Robot,
    RobotFile,
    Start,
    World,
)
from walking_control.simulation import DONE, FloorChange, RigidParameters, SUPPORT
from walking_control.simulation.massless.engine import build_point_model, PointLegs, start_point
from walking_control.simulation.massless.model import (
    advance_point,
    make_point_state,
    PointModel,
    PointState,
    push_point,
)
from walking_control.simulation.rigid.walk import Motion

NO_TERMS: Any = 0  # of support: such laws have their own model


class PointLaw(NamedTuple):
    """What a control law remembers and how it is connected, as plain arrays.

    Attributes:
        memory: The law's memory, see `ArrayLaw`.
        phases: Of locks, of which there are none.
        sign: Of roll in the coordinates of each support, ``(2,)``.
        efforts: Index of the law's effort in each place of `PointState.effort`, or -1, ``(5,)``.
        effort: The law's efforts.
        q: Minimal coordinates, ``(n,)``.
        v: Their rates.
        period: Control period, s.
    """

    memory: np.ndarray
    phases: np.ndarray
    sign: np.ndarray  # of roll in the coordinates of each support, ``(2,)``
    # index of the law's effort in each place of `PointState.effort`, or -1, ``(5,)``
    efforts: np.ndarray
    effort: np.ndarray
    q: np.ndarray
    v: np.ndarray
    period: float


@array_function
def observe_point(state: PointState, data: PointLaw) -> None:
    """Fill the minimal coordinates of the present support and their rates."""
    support = state.mode[SUPPORT]
    sign, rates = data.sign[support], np.zeros(2)
    leg_rates(state.y, rates)
    data.q[0], data.q[1] = state.angles[support, 0], sign * state.angles[support, 1]
    data.q[2], data.q[3] = state.angles[1 - support, 0], sign * state.angles[1 - support, 1]
    data.v[0], data.v[1] = rates[0], sign * rates[1]


@array_function
def walk_point(
    advance: Motion,
    law: LawFunction,
    knowledge: Any,
    model: PointModel,
    state: PointState,
    data: PointLaw,
    duration: float,
    stop_at_step: bool,
) -> int:
    """Walk under a control law.

    Args:
        advance: `advance_point`, see `walk.walk`.
        law: Function of an `ArrayLaw`.
        knowledge: What it knows.
        state: `PointState`, changed in place.
        duration: s, rounded to whole control periods.
        stop_at_step: Whether to return just after the next touchdown.

    Returns:
        A status of `advance_point`.
    """
    period = min(data.period, duration)
    held = np.zeros(0, np.bool_)
    for _ in range(int(round(duration / period))):
        observe_point(state, data)
        law(
            NO_TERMS, knowledge, data.memory, state.mode[SUPPORT], held, data.q, data.v, data.effort
        )
        for i in range(data.efforts.shape[0]):
            state.effort[i] = data.effort[data.efforts[i]] if data.efforts[i] >= 0 else 0.0
        status = advance(model, state, period, stop_at_step)
        if status != DONE:
            return status
    return DONE


class PointWalker:
    """A walker with all mass in the hip, ready for fast strides.

    Args:
        controller: Name of the controller; None takes the robot file's default.
        steps: Floor changes ``(step, drop, 0)``, see `rigid.engine.build_rigid_model`.

    Attributes:
        robot: The `Robot`.
        leg_length: m.
        model: `PointModel`.
        state: `PointState`.
        data: `PointLaw`.

    Raises:
        IncompatibleController: The law has no array form.
    """

    def __init__(
        self,
        robot_file: RobotFile,
        controller: str | None = None,
        steps: Sequence[FloorChange] = (),
    ) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        chosen = make_controller(robot_file, controller)
        law = given(
            chosen.array_law(),
            f'controller {chosen.name}',
            limit='has no array law',
            error=IncompatibleController,
        )
        self.robot: Robot = robot
        self._legs = PointLegs(robot)
        self.leg_length = self._legs.length
        require_level(world, f'compiled walk of {robot.name}')
        model = build_point_model(robot, self._legs, world, robot_file.values(RigidParameters))
        for step, drop, _ in steps:
            model.drops[step] += drop
        n = len(robot.coordinates)
        self.knowledge = law.knowledge
        self._memory = law.memory.copy()
        self.model, self.state = model, make_point_state()
        self.data = PointLaw(
            law.memory,
            np.zeros(1, np.int64),
            self._legs.sign,
            self._legs.efforts,
            np.zeros(max(1, len(robot.efforts))),
            np.zeros(n),
            np.zeros(n),
            1.0 / chosen.values.rate,
        )
        self._advance = compile_where_possible(advance_point)
        self._law = compile_where_possible(law.function)
        self._walk = compile_where_possible(walk_point)

    def start(self, support: int, q: np.ndarray, v: np.ndarray) -> None:
        """Stand on a foot just after touchdown.

        Args:
            support: Index of the stance foot.
            q: Minimal coordinates, rad, ``(n,)``.
            v: Their rates, rad/s, ``(n,)``.
        """
        foot = self.robot.feet[support]
        start_point(
            self.model,
            self.state,
            self._legs,
            Start(foot, np.asarray(q), np.asarray(v)),
            support,
            self.robot.joint_lifts[foot],
        )
        self.data.memory[:] = self._memory

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the hip, at once; see `push_point`.

        Args:
            impulse: N s.
            direction: rad from x towards y.
        """
        push_point(
            self.model,
            self.state,
            np.array([impulse * np.cos(direction), impulse * np.sin(direction), 0.0]),
        )

    def walk(self, duration: float, stop_at_step: bool = False) -> int:
        """Walk on; see `walk_point`.

        Args:
            duration: s.
            stop_at_step: Whether to return just after the next touchdown.
        """
        return self._walk(
            self._advance,
            self._law,
            self.knowledge,
            self.model,
            self.state,
            self.data,
            duration,
            stop_at_step,
        )
