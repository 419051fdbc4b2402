# SPDX-License-Identifier: Apache-2.0
"""Walk a biped in space: step where and when the fall is caught, by whole-body torques.

The parts, each of which can be read alone: `step_plan` says where and when to land, `swing` how
the foot gets there, `stepping_tasks` what is wanted of the whole body meanwhile, `whole_body` which
torques do that, `body` what the robot is at this instant. `engine` puts them together.
"""

from walking_control.controllers import LEFT, RIGHT, SteppingParameters, StrideMean, WalkingLaw
from walking_control.controllers.stepping.stepping_tasks import (
    pivot_task,
    posture_tasks,
    standing_tasks,
    step_tasks,
)
from walking_control.models import Command, Reference, RobotFile, WalkerState


class Stepping(WalkingLaw):
    """Stepping in space for a biped whose every joint has a motor.

    Args:
        robot_file: The `RobotFile`; the left foot is the first.
        values: The parameters.

    Raises:
        IncompatibleController: The base is not free, a joint has no motor, or there are not two
            feet.
    """

    name = 'stepping'
    values: SteppingParameters

    def __init__(self, robot_file: RobotFile, values: SteppingParameters) -> None:
        super().__init__(robot_file, values)
        self._sway = StrideMean()

    def reset(self, state: WalkerState) -> None:
        """Begin anew, standing."""
        super().reset(state)
        self._sway.reset()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: Joints, attitude and velocity of the base, contacts.
            reference: The velocity that is commanded.
            dt: Time since the last tick, s.
            command: The `Command` to fill.
        """
        engine, values = self.engine, self.values
        engine.observe(state, values)
        engine.follow(reference, dt)
        if engine.walking:
            if engine.has_landed(state.contact, dt):
                engine.change_feet()
        elif engine.must_step():
            engine.begin_walking()
        if engine.walking:
            engine.find_fall()
            engine.plan_step(dt)
            engine.swing_on(values.clearance, dt)
            standing, tasks = [engine.stance], step_tasks(engine)
            if not engine.soles and engine.program.contact.size > 3:
                tasks.append(pivot_task(engine, self._sway, dt))
        else:
            standing, tasks = [LEFT, RIGHT], standing_tasks(engine)
        tasks += posture_tasks(engine, values.height)
        engine.act(standing, tasks, dt, command)
