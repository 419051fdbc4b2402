# SPDX-License-Identifier: Apache-2.0
"""Numbers that were alive and now repeat to the last bit: a wire, a driver or an encoder is dead.

Noise changes what a live sensor says almost every time. One number that no longer does, while
others of its sensor go on, is not measured any more. What never was alive is
not judged: coarse digits, an axis that a planar robot does not have, a sensor that is slower than
the rest. A joint may come to rest, but not with a velocity; a foot in the air may repeat itself.
"""

from typing import NamedTuple

import numpy as np

from walking_control.models import (
    CONTACT,
    IMU,
    JOINTS,
    Measurement,
    places_of,
    Robot,
    scale_of,
    sensors_of,
)

NEWS = 12  # of a sensor in a row in which a number repeats itself
LIVELY = 0.9  # of the news before in which it changed
MEMORY = 0.05  # share of the newest in that
MOVED = 0.002  # rad or m that a joint which stands still cannot have moved by its own velocity
LEAST = 0.05  # of the weight, on a foot that is judged
KINDS = {'angular_velocity': 'gyroscope', 'linear_acceleration': 'accelerometer'}


class _Part(NamedTuple):
    """Numbers that repeat themselves together."""

    code: str
    what: str
    numbers: list[int]
    news: slice  # of the sensor whose change counts as news
    joint: int  # -1: none


def numbers(place: slice) -> list[int]:
    """Return the numbers of a place."""
    return list(range(place.start, place.stop))


def _parts(robot: Robot) -> list[_Part]:
    rows, places = [], places_of(robot)
    every = slice(0, max(place.stop for place in places.values()))
    for sensor in sensors_of(robot):
        if sensor.name == JOINTS:
            q, v = (places[JOINTS, i].start for i in range(2))
            rows += [
                _Part('contradiction', f'joint {joint}', [q + i, v + i], every, i)
                for i, joint in enumerate(robot.joints)
            ]
        elif sensor.name == IMU:
            first, last = places[IMU, 0], places[IMU, len(sensor.signals) - 1]
            block = slice(first.start, last.stop)
            rows.append(
                _Part('orientation', 'the orientation of the IMU', numbers(first), block, -1)
            )
            for i, signal in enumerate(sensor.signals):
                rows += [
                    _Part(
                        KINDS[signal.name], f'{axis} of the {KINDS[signal.name]}', [at], block, -1
                    )
                    for axis, at in zip(signal.labels, numbers(places[IMU, i]))
                    if signal.name in KINDS
                ]
        elif sensor.kind == CONTACT:
            place = places[sensor.name, 0]
            rows.append(
                _Part('foot_force', f'the force on {sensor.name}', numbers(place), every, -1)
            )
    return rows


class RepeatCheck:
    """Names a number that repeats itself.

    Args:
        robot: The `Robot`.
        gravity: m/s^2.
    """

    def __init__(self, robot: Robot, gravity: float) -> None:
        self._least = LEAST * scale_of(robot, gravity).mass * gravity
        self._parts = _parts(robot)
        self._feet = {i for i, part in enumerate(self._parts) if part.code == 'foot_force'}
        self._in_space = robot.is_free
        # number -> all that repeat themselves with it
        self._fellows = {number: {*part.numbers} for part in self._parts for number in part.numbers}
        n = len(self._parts)
        # which numbers are of each part, then which of the sensor whose change counts as news
        self._owner = np.zeros((2 * n, self._parts[0].news.stop))
        for i, part in enumerate(self._parts):
            self._owner[i, part.numbers] = self._owner[n + i, part.news] = 1.0
        self.forget()

    def forget(self) -> None:
        """Forget the past."""
        n = len(self._parts)
        self._last: np.ndarray | None = None
        self._lively, self._was, self._held = np.zeros((3, n))
        self._count = np.zeros(n, int)

    def watch(self, measurement: Measurement, heard: float) -> tuple[str, str] | None:
        """Return code and words of what repeats itself, or None.

        Args:
            measurement: The `Measurement`, finite.
            heard: Time that it stands for, s.
        """
        values = measurement.values[: self._owner.shape[1]]
        if self._last is None:
            self._last = values.copy()
            return None
        other = values != self._last
        self._last[:] = values
        still, fellows = {*(~other).nonzero()[0].tolist()}, self._fellows
        if not any(fellows[number] <= still for number in still & fellows.keys()):
            # every part is new, as it should be
            self._lively += MEMORY * (1.0 - self._lively)
            self._was[:], self._count[:], self._held[:] = self._lively, 0, 0.0
            return None
        changed, news = (self._owner @ other > 0.0).reshape(2, -1)
        self._lively += MEMORY * news * (changed - self._lively)
        self._was[changed] = self._lively[changed]
        self._count += news
        self._held += heard
        self._count[changed] = self._held[changed] = 0
        found = ((self._count >= NEWS) & (self._was > LIVELY)).nonzero()[0].tolist()
        # one foot alone the estimator of a robot in space finds out, and bears
        borne = self._in_space and not self._feet <= {*found}
        for i in found:
            part, joint = self._parts[i], self._parts[i].joint
            told = values[part.numbers]
            if joint >= 0 and abs(told[1]) * self._held[i] < MOVED:
                continue  # it has come to rest
            in_air = i in self._feet and float(np.linalg.norm(told)) < self._least
            if in_air or i in self._feet and borne:
                continue  # in the air a coarse cell always says the same
            words = ', '.join(f'{value:.3g}' for value in told)
            return part.code, (
                f'{part.what} repeats itself: {words} for {self._held[i]:.3f} s of samples, while '
                'others change'
            )
        return None
