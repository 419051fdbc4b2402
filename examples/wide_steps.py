# SPDX-License-Identifier: Apache-2.0
"""Walk with wide slow steps: a law of one's own on the walking engine.

The weight goes over one foot, then the other foot steps. The robot never falls from foot to foot,
so it is slow, and may stop at any time: `python examples/wide_steps.py`.
"""

import math

import numpy as np

import walking_control as wc
from walking_control.controllers import (
    BalanceTask,
    LEFT,
    posture_tasks,
    PressureTask,
    RIGHT,
    SIDE,
    Step,
    step_tasks,
    SteppingParameters,
    WalkingLaw,
)

ASKED = 0.01  # m/s, rad/s: slower is a command to stand
AT_REST = 1e-4  # weight of even pressure under both soles


class WideStepsParameters(SteppingParameters, section='wide_steps'):
    """Of wide slow steps, beside those of stepping."""

    swing_time: float = wc.parameter(0.6, 's', 'How long a foot is in the air.', 0.1, 5.0)
    cycle_time: float = wc.parameter(1.2, 's', 'From step to step, counted on.', 0.2, 10.0)
    near: float = wc.parameter(
        0.02,
        'm',
        'From the middle of a sole to where the fall ends, when the other foot lifts.',
        0.0,
        0.2,
    )


class WideSteps(WalkingLaw):
    """Put the weight over a foot, step with the other one.

    Args:
        robot_file: The `RobotFile`; the left foot is the first.
        values: `WideStepsParameters`.
    """

    name = 'wide_steps'
    parameters = WideStepsParameters

    def update(self, state, reference, dt, command):
        """Fill the `Command` for this tick."""
        engine, values = self.engine, self.values
        engine.observe(state, values)
        engine.follow(reference, dt)
        feet, goes = engine.body.feet, np.abs(engine.velocity.value).max() > ASKED
        if engine.walking:
            if engine.has_landed(state.contact, dt):
                engine.change_feet()
                engine.walking = False  # the weight goes over the foot that has landed first
        elif goes and self._is_over(feet[engine.stance]):
            engine.begin_step(engine.stance)
        place = feet[engine.stance].position
        if engine.walking:
            engine.find_fall()
            engine.plan.step = self._step()
            engine.swing_on(values.clearance, dt)
            standing, tasks = [engine.stance], step_tasks(engine)
        else:
            standing = [LEFT, RIGHT]
            tasks = [PressureTask(foot, np.zeros(2), AT_REST) for foot in standing]
            if not goes:
                place = 0.5 * (feet[LEFT].position + feet[RIGHT].position)
        body = engine.body
        wanted = values.balance_stiffness * (place - body.com)
        wanted -= values.balance_damping * body.momentum / body.mass
        tasks += [BalanceTask(wanted[:2], 1.0), *posture_tasks(engine, values.height)]
        engine.act(standing, tasks, dt, command)

    def _is_over(self, foot):
        """Return whether the fall ends over a foot, so that the robot can stand on it alone."""
        return math.dist(self.engine.divergent_point(), foot.position[:2]) < self.values.near

    def _step(self):
        """Return the step: as far ahead of the foot that stands as the robot goes in a cycle."""
        engine, values = self.engine, self.values
        ahead, aside, _ = engine.velocity.value * values.cycle_time
        beside = SIDE[1 - engine.stance] * values.step_width + aside
        return Step(np.array([ahead, beside]), values.swing_time - engine.plan.elapsed, 0.0)


def main():
    """Walk a biped so, and say how."""
    soles = {'sole_length': 0.1, 'sole_width': 0.05}
    run = wc.simulate(wc.load_robot('walker3d'), WideSteps(speed=0.1, **soles), duration=12.0)
    print(f'{run.steps[-1]} steps, {run.summary().speed:.3f} m/s, {run.fault or "no fault"}')


if __name__ == '__main__':
    main()
