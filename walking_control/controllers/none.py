# SPDX-License-Identifier: Apache-2.0
"""No control: motors off, knee locks alone. What a passive walker needs."""

from walking_control.controllers.knee_locks import KneeLocks
from walking_control.models.parameters import Parameter, ParameterTable

PARAMETERS = ParameterTable('none', [
    Parameter('rate', 100.0, 'Hz', 'Rate at which knee locks are switched.', 10.0, 2000.0),
    Parameter('knee_flexed', 0.05, 'rad', 'Flexion after which an extending knee is re-armed.',
              0.0, 0.5),
])


class NoControl:
    """Zero effort on every actuator.

    Args:
        robot: The `Robot`.
        values: Validated values of `PARAMETERS`.
    """

    name = 'none'
    parameters = PARAMETERS

    def __init__(self, robot, values):
        self.values = values
        self._locks = KneeLocks(robot, values.knee_flexed)

    def reset(self, state):
        """Start with locked knees."""
        self._locks.reset()

    def update(self, state, reference, dt, command):
        """Fill the `Command`: zero effort, locks by the phase of the gait."""
        command.effort[:] = 0.0
        self._locks.update(state, command)
