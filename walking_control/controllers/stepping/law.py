# SPDX-License-Identifier: Apache-2.0
"""What laws on the walking engine have in common: what they say of themselves."""

import math
from typing import ClassVar

import numpy as np

from walking_control.controllers import (
    Controller,
    FootPlan,
    SteppingParameters,
    Stoppable,
    velocity_limits,
    WalkingEngine,
)
from walking_control.controllers.stepping.stoppable import judge_stop
from walking_control.models import Robot, RobotFile, WalkerState


class WalkingLaw(Controller):
    """A law on the walking engine; what it chooses each tick is in its `update`.

    Args:
        robot_file: The `RobotFile`; the left foot is the first.
        values: The parameters.
        velocity_lag: See `WalkingEngine`.

    Attributes:
        engine: The `WalkingEngine`.
    """

    parameters: ClassVar[type[SteppingParameters]] = SteppingParameters

    def __init__(
        self, robot_file: RobotFile, values: SteppingParameters, velocity_lag: float = 0.0
    ) -> None:
        self.values = values
        self.engine = WalkingEngine(self.name, robot_file, values, velocity_lag)
        self._refused = -math.inf
        self.standstill = 'stands' if self.engine.soles else 'steps on the spot'

    def reset(self, state: WalkerState) -> None:
        """Begin anew, standing."""
        self.engine.reset()
        self._refused = -math.inf  # when it could not have been stopped, s

    def take_over(self, state: WalkerState) -> None:
        """Begin anew in the middle of another law's step.

        Args:
            state: What is known.
        """
        self.reset(state)
        self.engine.take_over(state, self.values)

    def velocity_limits(self) -> tuple[float, float, float]:
        """Return the largest speed ahead or back, sideways (m/s) and of turning (rad/s)."""
        return velocity_limits(self.values)

    def foot_plan(self) -> FootPlan:
        """Return where the feet are, where the next one shall land and where the fall would end."""
        return self.engine.foot_plan()

    def stoppable(self) -> Stoppable:
        """Return whether, in how many steps and with what margin it could be stopped now.

        Who stumbles is sometimes above its foot, or on no foot, for an instant: a no holds until
        the pendulum has had its time 1 / w without another one.
        """
        engine, said = self.engine, judge_stop(self.engine)
        if said.steps < 0:
            self._refused = engine.floor.stamp
        doubtful = engine.floor.stamp - self._refused < 1.0 / engine.fall.rate
        return said._replace(steps=-1) if doubtful else said

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
            ('stoppable_steps', '1'),
            ('stoppable_margin', 'm'),
        )

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say whether it walks, on which foot, where and when the next step lands, and why."""
        engine, plan = self.engine, self.engine.plan
        step = plan.step
        out[:] = (
            engine.walking,
            engine.stance,
            plan.elapsed,
            step.remaining if engine.walking and math.isfinite(step.remaining) else 0.0,
            *step.foothold,
            step.missing,
            *engine.fall.capture,
            engine.heading.angle,
            engine.velocity.value[0],
            engine.program.feasible,
            *engine.floor.tilted[2, :2],
            *self.stoppable(),
        )
