# SPDX-License-Identifier: Apache-2.0
"""Motors that get too warm: temperatures estimated from what is commanded."""

import numpy as np

from walking_control.models.robot import Robot
from walking_control.models.thermal import heating

WARNED = 0.9  # part of the way from the air to the limit at which a motor is warm
COOLED = 1.0  # s between two samples that count at most as cooling


class HeatWatch:
    """Follows the temperature of each motor whose thermal data the robot file tells.

    Guessed data stop no robot. A fault does not make it forget: motors cool while it lasts.

    Args:
        robot: The `Robot`.
        air: Temperature of the air, and of motors at the start, C.

    Attributes:
        temperature: Of windings and housings, C, ``(n_motors, 2)``.
        warning: Which motors are warm, in words; or empty.
    """

    def __init__(self, robot: Robot, air: float) -> None:
        self._air, self._model = air, heating(robot)
        self._told = np.array([joint in robot.thermal for joint in robot.actuators], bool)
        self._watches = bool(robot.thermal)
        self.temperature = np.full((len(self._told), 2), air)
        self.warning = ''

    def watch(self, effort: np.ndarray, duration: float) -> str:
        """Let the motors bear efforts for a while; return in words which is at its limit, or ''.

        Args:
            effort: N m, ``(n_efforts,)``.
            duration: s.
        """
        if not self._watches:
            return ''
        model, squared = self._model, effort[: len(self._told)] ** 2
        self.temperature = model.follow(self.temperature, squared, self._air, duration)
        share = (self.temperature[:, 0] - self._air) / np.maximum(model.limit - self._air, 1.0)
        share[~self._told] = 0.0
        hottest = int(share.argmax())
        if share[hottest] < WARNED:
            self.warning = ''
            return ''
        self.warning = (
            f'winding of {model.joints[hottest]} at {self.temperature[hottest, 0]:.0f} C; limit '
            f'{model.limit[hottest]:.0f} C'
        )
        return self.warning if share[hottest] >= 1.0 else ''
