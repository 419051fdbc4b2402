# SPDX-License-Identifier: Apache-2.0
"""Motors that get too warm: temperatures estimated from efforts, measured ones where told."""

from collections.abc import Mapping

import numpy as np

from walking_control.models.robot import Robot
from walking_control.models.thermal import heating

WARNED = 0.9  # part of the way from the air to the limit at which a motor is warm
COOLED = 1.0  # s between two samples that count at most as cooling
EASED = 0.75  # part of that way from which on the robot walks slower
CORRECTED = 5.0  # s in which an estimate goes to what a drive measures
ALIVE = 1.0  # K by which a measured temperature has changed whose sensor is not stuck


class HeatWatch:
    """Follows the temperature of each motor whose thermal data the robot file tells.

    Guessed data stop no robot. A fault does not make it forget: motors cool while it lasts.
    A measured temperature is taken for the winding's. One that never changes may be a stuck sensor:
    it makes no motor cooler than the efforts do.

    Args:
        robot: The `Robot`; its signals of kind effort, current and temperature are heard.
        air: Temperature of the air, and of motors at the start, C.

    Attributes:
        temperature: Of windings and housings, C, ``(n_motors, 2)``.
        warning: Which motors are warm, in words; or empty.
        pace: Share of the wanted velocity at which the motors get no hotter, 0 to 1.
    """

    def __init__(self, robot: Robot, air: float) -> None:
        self._air, self._model = air, heating(robot)
        self._told = np.array([joint in robot.thermal for joint in robot.actuators], bool)
        self._watches = bool(robot.thermal)
        self.temperature = np.full((len(self._told), 2), air)
        self.warning, self.pace = '', 1.0
        motors = robot.actuators
        amperes = np.array([motor.torque_per_ampere for motor in motors.values()])
        self._efforts = [
            (name, of, at, factor[of])
            for kind, factor in (('current', amperes), ('effort', np.ones(len(motors))))
            for name, of, at in _rows(robot, kind)
        ]
        self._degrees = _rows(robot, 'temperature')
        self._measured: Mapping[str, np.ndarray] = {}
        self._first: dict[str, np.ndarray] = {}  # C, that a drive told at first
        self._alive = np.zeros(len(motors), bool)  # whether it has told another since

    def hear(self, measured: Mapping[str, np.ndarray]) -> None:
        """Take what drives measure, by the name of its signal."""
        self._measured = measured

    def _correct(self, duration: float) -> None:
        """Bring the estimates nearer to measured temperatures."""
        for name, of, at in self._degrees if self._measured else ():
            said = self._measured[name][at]
            self._alive[of] |= abs(said - self._first.setdefault(name, said)) > ALIVE
            error = said - self.temperature[of, 0]
            error[~self._alive[of]] = error[~self._alive[of]].clip(min=0.0)
            self.temperature[of] += (1.0 - np.exp(-duration / CORRECTED)) * error[:, None]

    def watch(self, effort: np.ndarray, duration: float) -> str:
        """Let the motors bear efforts for a while; return in words which is at its limit, or ''.

        Args:
            effort: Commanded, N m, ``(n_efforts,)``; measured ones count where there are any.
            duration: s.
        """
        if not self._watches:
            return ''
        model, borne = self._model, effort[: len(self._told)].copy()
        for name, of, at, factor in self._efforts if self._measured else ():
            borne[of] = factor * self._measured[name][at]
        self.temperature = model.follow(self.temperature, borne**2, self._air, duration)
        self._correct(duration)
        share = (self.temperature[:, 0] - self._air) / np.maximum(model.limit - self._air, 1.0)
        share[~self._told] = 0.0
        hottest = int(share.argmax())
        self.pace = min(max((1.0 - float(share[hottest])) / (1.0 - EASED), 0.0), 1.0)
        self.warning = ''
        if share[hottest] >= WARNED:
            self.warning = (
                f'winding of {model.joints[hottest]} at {self.temperature[hottest, 0]:.0f} C; '
                f'limit {model.limit[hottest]:.0f} C'
            )
        return self.warning if share[hottest] >= 1.0 else ''


def _rows(robot: Robot, kind: str) -> list[tuple[str, list[int], list[int]]]:
    """Return of each signal of a kind: its name, motors that it tells of, their places in it."""
    motors, found = list(robot.actuators), []
    for row in robot.signals.values():
        if row.values.kind == kind:
            at = [place for place, joint in enumerate(row.of) if joint in motors]
            found.append((row.name, [motors.index(row.of[place]) for place in at], at))
    return found
