# SPDX-License-Identifier: Apache-2.0
"""No control: motors off, knee locks alone. What a passive walker needs."""

import numpy as np

from walking_control.controllers import ArrayLaw, Controller, KneeLocks
from walking_control.controllers.parameters import NoControlParameters
from walking_control.models import array_function, Command, Reference, RobotFile, Terms, WalkerState


@array_function
def no_law(
    terms: Terms,
    knowledge: tuple[float],
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """No effort.

    Args:
        terms: Not used.
        knowledge: None to speak of.
        memory: Not used.
        support: Index of the stance foot.
        held: Not used.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    effort[:] = 0.0


class NoControl(Controller):
    """Zero effort on every actuator.

    Args:
        robot_file: The `RobotFile`.
        values: `NoControlParameters`.
    """

    name = 'none'
    parameters = NoControlParameters

    def __init__(self, robot_file: RobotFile, values: NoControlParameters) -> None:
        self.values = values
        self._locks = KneeLocks(robot_file.robot, values.knee_flexed)

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees."""
        self._locks.reset()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command`: zero effort, locks by the phase of the gait.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: every effort, every lock.
        """
        command.effort[:] = 0.0
        self._locks.update(state, command)

    def array_law(self) -> ArrayLaw:
        """Return no effort as an `ArrayLaw`."""
        return ArrayLaw(no_law, (0.0,), np.zeros(1), self.values.knee_flexed, passive=True)
