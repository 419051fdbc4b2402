# SPDX-License-Identifier: Apache-2.0
"""A plant seen through its sensors and driven through its wires."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from walking_control.exceptions import ParameterError
from walking_control.models.robot import Start
from walking_control.models.signals import Command, Measurement
from walking_control.simulation.disturbance import Disturbance, How, PLAIN
from walking_control.simulation.plant import Plant
from walking_control.simulation.sensors import SensorParameters, Sensors

SLIVER = 1e-9   # s: a shorter piece of a step is none


class InstrumentedPlant(Plant):
    """A `Plant` whose measurements have errors, and whose messages take time or get lost.

    A measurement that is lost leaves the `Measurement` as it was, stamp and all, and nothing
    answers it. What a measurement takes to arrive is booked with the command that answers it: a
    loop that answers each measurement when it comes makes the same of both. Messages keep their
    order; the first command counts at once, as though the robot had been held until it came.
    Commands take effect within a step, at whole physics steps of a plant that has such.

    Args:
        plant: The `Plant`.
        values: `SensorParameters`.

    Attributes:
        inner: The plant.
        lost: Whether the newest measurement never arrives.
    """

    def __init__(self, plant: Plant, values: SensorParameters) -> None:
        self.inner, self._values = plant, values
        self.name, self.parameters = plant.name, plant.parameters
        self.robot, self.world, self.truth = plant.robot, plant.world, plant.truth
        self.resolution = plant.resolution
        self.sensors = {name: value for name, value in vars(values).items()
                        if value != SensorParameters.rows[name].default or name == 'seed'}
        self._sensors = Sensors(plant.robot, values)
        self._told, self._held = Measurement(plant.robot), Command(plant.robot)
        self._forget()

    @property
    def time(self) -> float:   # type: ignore[override]   # nobody sets a clock
        """Simulated time, s."""
        return self.inner.time

    @property
    def disturbances(self) -> Sequence[Disturbance]:   # type: ignore[override]
        """Every `Disturbance` planned so far."""
        return self.inner.disturbances

    def _forget(self) -> None:
        self._luck = np.random.default_rng((self._values.seed, 2))
        self._under_way: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._newest = -math.inf    # arrival of the newest command
        self._measured = -math.inf  # time of the newest measurement
        self._is_driven = self.lost = False

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero; nothing is under way."""
        self.inner.reset(start)
        self._sensors.reset()
        self._forget()

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now, unless it gets lost."""
        told = self._told
        if self.time > self._measured:
            unlucky = self._luck.random() < self._values.lost_measurements
            self.lost = unlucky and self._measured >= 0.0   # the first arrives
            self._measured = self.time
            self.inner.measure(told)
            self._sensors.spoil(told)
        if not self.lost:
            measurement.stamp = told.stamp
            measurement.values[:] = told.values
            measurement.locked[:] = told.locked

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s, once it has arrived."""
        now = self.time
        self._send(command, now)
        end, held = now + duration, self._held
        while self._under_way and self._under_way[0][0] < end - SLIVER:
            arrival, effort, lock = self._under_way.pop(0)
            if arrival > self.time + SLIVER:
                self.inner.step(held, arrival - self.time)
            held.effort[:], held.lock[:] = effort, lock
        self.inner.step(held, end - self.time if self.time > now else duration)

    def _send(self, command: Command, now: float) -> None:
        values, luck = self._values, self._luck.random(3)
        if self.lost:   # nobody has answered it
            return
        delay = values.measurement_delay + values.command_delay \
            + values.measurement_jitter * (2.0 * luck[0] - 1.0) \
            + values.command_jitter * (2.0 * luck[1] - 1.0)
        if not self._is_driven:
            self._is_driven, delay = True, 0.0
        elif luck[2] < values.lost_commands:
            return
        if self.resolution > 0.0:
            delay = self.resolution * math.ceil(delay / self.resolution - SLIVER)
        self._newest = max(self._newest, now + delay)
        self._under_way.append((self._newest, command.effort.copy(), command.lock.copy()))

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once."""
        self.inner.push(impulse, direction)

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance; see `Plant.disturb`."""
        self.inner.disturb(kind, size, step, how)


def check_delays(values: SensorParameters, timeout: float) -> None:
    """Refuse delays that the watchdog of the control loop does not allow.

    Args:
        values: `SensorParameters`.
        timeout: Value of ``safety.state_timeout``, s.

    Raises:
        ParameterError: A delay is longer.
    """
    kinds = [(f'{kind}_delay', getattr(values, f'{kind}_delay') + getattr(values, f'{kind}_jitter'))
             for kind in ('measurement', 'command')]
    kinds.append(('contact_delay', values.contact_delay))
    kinds.append(('measurement_delay', sum(longest for _, longest in kinds[:2])))
    for name, longest in kinds:
        if longest > timeout:
            raise ParameterError(
                f'parameter sensors.{name}', value=getattr(values, name),
                limit=f'{longest:g} s with jitter and all on the way is longer than '
                f'safety.state_timeout ({timeout:g} s) allows',
                remedy='lower it, or raise safety.state_timeout')
