# SPDX-License-Identifier: Apache-2.0
"""Motors that get too warm: temperatures estimated from efforts, measured ones where told."""

import numpy as np

from walking_control.models import check_air, heating, motor_places, Robot

WARNED = 0.9  # part of the way from the air to the limit at which a motor is warm
LOOK = 0.1  # s between two looks at the temperatures: windings take seconds to warm
COOLED = 1.0  # s between two samples that count at most as cooling
EASED = 0.75  # part of that way from which on the robot walks slower
RESTED = 0.95  # part of that way from which on it stands, until it is below `EASED`
SCARCE = 0.02  # part of that way that counts as left to a motor at its limit
CORRECTED = 5.0  # s in which an estimate goes to what a drive measures
ALIVE = 1.0  # K by which a measured temperature has changed whose sensor is not stuck


class HeatWatch:
    """Follows the temperature of each motor whose thermal data the robot file tells.

    Guessed data stop no robot. A fault does not make it forget: motors cool while it lasts.
    A measured temperature is taken for the winding's. One that never changes may be a stuck sensor:
    it makes no motor cooler than the efforts do.

    Args:
        robot: The `Robot`; its signals of kind effort, current and temperature are heard.
        air: Temperature of the air, C.
        start: Of the motors at the start, C.

    Attributes:
        temperature: Of windings and housings, C, ``(n_motors, 2)``.
        warning: Which motors are warm, in words; or empty.
        pace: Share of the wanted velocity at which the motors get no hotter, 0 to 1.
        room: Part of the way from the air to its limit that each motor has left, `SCARCE` to 1,
            ``(n_motors,)``; 1 where nobody told a limit.
    """

    def __init__(self, robot: Robot, air: float, start: float) -> None:
        self._air, self._model = air, heating(robot)
        motors = robot.actuators
        self._watches = bool(robot.thermal)
        told = [joint in robot.thermal for joint in motors]
        self._limits = np.where(told, self._model.limit, np.inf)
        check_air(air, start, self._limits)
        self.temperature = np.full((len(told), 2), start)
        self.warning, self.pace, self.room = '', 1.0, np.ones(len(told))
        self._heat, self._span = np.zeros(len(told)), 0.0  # (N m)^2 s, s since the last look
        efforts, currents, self._degrees = (
            motor_places(robot, kind) for kind in ('effort', 'current', 'temperature')
        )
        self._efforts = np.where(efforts < 0, currents, efforts)  # where drives tell them, or -1
        self._unsaid = self._efforts < 0
        amperes = [motor.torque_per_ampere for motor in motors.values()]
        self._factor = np.where(efforts < 0, amperes, 1.0)
        self._first = np.full(len(motors), np.nan)  # C, that a drive told at first
        self._alive = np.zeros(len(motors), bool)  # whether it has told another since
        self._values: np.ndarray | None = None

    def hear(self, values: np.ndarray) -> None:
        """Take what is measured, `Measurement.values`."""
        self._values = values

    def _correct(self, said: np.ndarray, duration: float) -> None:
        """Bring the estimates nearer to measured temperatures, C."""
        self._first = np.where(np.isnan(self._first), said, self._first)
        self._alive |= abs(said - self._first) > ALIVE
        error = said - self.temperature[:, 0]
        error[(self._degrees < 0) | ~self._alive & (error < 0.0)] = 0.0
        self.temperature += (1.0 - np.exp(-duration / CORRECTED)) * error[:, None]

    def watch(self, effort: np.ndarray, duration: float) -> str:
        """Let the motors bear efforts for a while; return in words which is at its limit, or ''.

        Args:
            effort: Commanded, N m, ``(n_efforts,)``; measured ones count where there are any.
            duration: s.
        """
        if not self._watches:
            return ''
        model, values, borne = self._model, self._values, effort[: len(self._limits)]
        if values is not None:
            borne = np.where(self._unsaid, borne, self._factor * values[self._efforts])
        self._heat += duration * borne * borne
        self._span += duration
        if self._span < LOOK:
            return ''
        self.temperature = model.follow(
            self.temperature, self._heat / self._span, self._air, self._span
        )
        if values is not None:
            self._correct(values[self._degrees], self._span)
        self._heat, self._span = np.zeros(len(borne)), 0.0
        share = (self.temperature[:, 0] - self._air) / (self._limits - self._air)
        self.room = np.clip(1.0 - share, SCARCE, 1.0)
        hottest = int(share.argmax())
        rests = share[hottest] >= (RESTED if self.pace > 0.0 else EASED)
        self.pace = 0.0 if rests else min((1.0 - float(share[hottest])) / (1.0 - EASED), 1.0)
        self.warning = ''
        if share[hottest] >= WARNED:
            self.warning = (
                f'winding of {model.joints[hottest]} at {self.temperature[hottest, 0]:.0f} C; '
                f'limit {self._limits[hottest]:.0f} C'
                + f', its sensor has said {self._first[hottest]:.0f} C since the start'
                * bool(self._degrees[hottest] >= 0 and not self._alive[hottest])
            )
        return self.warning if share[hottest] >= 1.0 else ''
