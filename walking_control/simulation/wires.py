# SPDX-License-Identifier: Apache-2.0
"""What lies between a plant and the loop that drives it."""

from collections.abc import Callable, Iterator
import math

import numpy as np

from walking_control.exceptions import ParameterError, require
from walking_control.models import Command, Measurement, Robot
from walking_control.simulation.sensors import SensorParameters, Sensors

SLIVER = 1e-9  # s: a shorter piece of a step is none


class Wires:
    """Between a plant and what drives it: errors of sensors, delays and losses of messages.

    A measurement that is lost leaves the `Measurement` as it was, stamp and all, and nothing
    answers it. What a measurement takes to arrive is booked with the command that answers it: a
    loop that answers each measurement when it comes makes the same of both. Messages keep their
    order; the first command counts at once, as though the robot had been held until it came.
    Commands take effect within a step, at whole physics steps of a plant that has such.

    Args:
        resolution: Commands take effect at whole multiples of this, s; 0: at any time.

    Attributes:
        errors: name -> value of `SensorParameters` where they are not perfect.
        lost: Whether the newest measurement never arrives.
    """

    def __init__(self, robot: Robot, values: SensorParameters, resolution: float) -> None:
        self._values, self._resolution = values, resolution
        self.errors = {
            name: value
            for name, value in vars(values).items()
            if value != SensorParameters.rows[name].default or name == 'seed'
        }
        self._sensors = Sensors(robot, values)
        self._told, self._held = Measurement(robot), Command(robot)
        self.reset()

    def reset(self) -> None:
        """Begin a run: nothing is under way."""
        self._sensors.reset()
        self._luck = np.random.default_rng((self._values.seed, 2))
        self._under_way: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._newest = -math.inf  # arrival of the newest command
        self._measured = -math.inf  # time of the newest measurement
        self._is_driven = self.lost = False

    def measure(
        self, sense: Callable[[Measurement], None], time: float, measurement: Measurement
    ) -> None:
        """Fill a `Measurement` with what arrives, unless it gets lost.

        Args:
            sense: Fills a `Measurement` as ideal sensors do.
            time: Now, s.
            measurement: Changed.
        """
        told = self._told
        if time > self._measured:
            unlucky = self._luck.random() < self._values.lost_measurements
            self.lost = unlucky and self._measured >= 0.0  # the first arrives
            self._measured = time
            sense(told)
            self._sensors.spoil(told)
        if not self.lost:
            measurement.stamp = told.stamp
            measurement.values[:] = told.values
            measurement.locked[:] = told.locked

    def carry(
        self, command: Command, clock: Callable[[], float], duration: float
    ) -> Iterator[tuple[Command, float]]:
        """Send a command; give what is held in the coming time, one after the other.

        Args:
            clock: Gives the plant's time, s, which moves on by what was given.
            duration: s.

        Yields:
            A `Command` that has arrived, and for how long it is held, s.
        """
        now = clock()
        self._send(command, now)
        end, held = now + duration, self._held
        while self._under_way and self._under_way[0][0] < end - SLIVER:
            arrival, numbers, lock = self._under_way.pop(0)
            if arrival > clock() + SLIVER:
                yield held, arrival - clock()
            held.numbers[:], held.lock[:] = numbers, lock
        yield held, end - clock() if clock() > now else duration

    def _send(self, command: Command, now: float) -> None:
        values, luck = self._values, self._luck.random(3)
        if self.lost:  # nobody has answered it
            return
        delay = (
            values.measurement_delay
            + values.command_delay
            + values.measurement_jitter * (2.0 * luck[0] - 1.0)
            + values.command_jitter * (2.0 * luck[1] - 1.0)
        )
        if not self._is_driven:
            self._is_driven, delay = True, 0.0
        elif luck[2] < values.lost_commands:
            return
        if self._resolution > 0.0:
            delay = self._resolution * math.ceil(delay / self._resolution - SLIVER)
        self._newest = max(self._newest, now + delay)
        self._under_way.append((self._newest, command.numbers.copy(), command.lock.copy()))


def check_delays(values: SensorParameters, timeout: float) -> None:
    """Refuse delays that the watchdog of the control loop does not allow.

    Args:
        timeout: Value of ``safety.state_timeout``, s.

    Raises:
        ParameterError: A delay is longer.
    """
    kinds = [
        (f'{kind}_delay', getattr(values, f'{kind}_delay') + getattr(values, f'{kind}_jitter'))
        for kind in ('measurement', 'command')
    ]
    kinds.append(('contact_delay', values.contact_delay))
    kinds.append(('measurement_delay', sum(longest for _, longest in kinds[:2])))
    for name, longest in kinds:
        require(
            longest <= timeout,
            f'parameter sensors.{name}',
            value=getattr(values, name),
            limit=f'{longest:g} s with jitter and all on the way is longer than '
            f'safety.state_timeout ({timeout:g} s) allows',
            remedy='lower it, or raise safety.state_timeout',
            error=ParameterError,
        )
