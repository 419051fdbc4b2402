# SPDX-License-Identifier: Apache-2.0
"""A control loop in operation: lifecycle, arrival of sensors, time and faults around it.

All that a controller node decides, without ROS: it is told what arrives and what time it is on a
clock that never runs back, here called steady, and says when a command is to be sent. The node adds
topics and timers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import given, InvalidInput, require
from walking_control.models import CONTACT, IMU, LOCKS, Measurement, Robot, RobotFile, sensors_of
from walking_control.safety import Fault, Latch, Steering
from walking_control.safety.arrivals import Arrivals
from walking_control.safety.machine import ACTIVE, Event, State

LOOK = 0.1  # s between two looks at the clock while waiting for sensors in lockstep


@dataclass(frozen=True)
class Patience:
    """How long an operation waits.

    Args:
        lockstep: Whether a tick starts when all stamps are equal, or with every joint state.
        tick: In lockstep, longest wait for the next tick, s.
        sensors: Longest wait for the first complete set of sensors, s.
        speed: How long a commanded velocity holds, s; 0 for ever.
        deceleration: How fast it is taken back then, m/s^2; turning in rad/s^2.
    """

    # whether a tick starts when all stamps are equal, or with every joint state
    lockstep: bool = True
    tick: float = 2.0
    sensors: float = 30.0
    speed: float = 0.5
    deceleration: float = 0.5


class Operation:
    """Drives a `ControlLoop` from activate to deactivate.

    Args:
        controller: Name of the controller; None takes the robot file's default.
        latch: The `Latch`; it outlives the operation and carries the lifecycle.
        send: Called with the tick number when `loop.command` is to be sent; 0 answers no tick.
        names: Sensor -> what messages call it, e.g. its topic.
        obstacle: Callable that returns why the effort must stay zero, e.g. that no watchdog
            listens, or ``''``.

    Raises:
        InvalidInput: The loop cannot be built from the robot file.
    """

    def __init__(
        self,
        robot_file: RobotFile,
        controller: str | None,
        latch: Latch,
        patience: Patience,
        send: Callable[[int], None],
        names: Mapping[str, str] | None = None,
        obstacle: Callable[[], str] = lambda: '',
    ) -> None:
        self.loop = ControlLoop(robot_file, controller, latch)
        self.measurement = Measurement(robot_file.robot)
        # code and words: why joint or lock states could not be read
        self.problem: tuple[str, str] | None = None
        self._latch, self._patience, self._send_command = latch, patience, send
        self._limit = patience.tick if patience.lockstep else self.loop.sensor_timeout
        self._kinds = sensor_kinds(robot_file.robot)
        self.arrivals = Arrivals(self._kinds, patience.lockstep, self._limit)
        self._names, self._obstacle = names or {}, obstacle
        self.steering = Steering(
            self.loop.reference,
            self.loop.controller.velocity_limits,
            patience.speed,
            patience.deceleration,
        )
        self._silent: set[str] = set()  # have told nothing but zeros or NaN
        self._answered: int | None = None
        self._sent = -math.inf

    @property
    def active(self) -> bool:
        """Whether measurements are answered."""
        return self._latch.state in ACTIVE

    @property
    def fault(self) -> Fault | None:
        """The latched `Fault`, or None."""
        return self._latch.fault

    # -- lifecycle -------------------------------------------------------------------------------

    def activate(self, now: float) -> None:
        """Begin to answer measurements; a fault that nobody has cleared stays."""
        self._latch.handle(Event.ACTIVATE)
        self._start(now)
        self.measurement.velocity[:] = 0.0  # of an earlier activation
        self.arrivals.reset(now)
        self._answered = None
        self.loop.reference.clear()
        self.steering.reset()

    def deactivate(self, event: Event = Event.DEACTIVATE) -> None:
        """Send zero effort as the last command and stop answering."""
        if self.active:
            self.loop.command.clear()
            self.loop.command.lock[:] = True
            self._send_command(0)
        self._latch.handle(event)

    def _start(self, now: float) -> None:
        self.loop.reset(clear_fault=False)
        self.problem = None
        self.arrivals.wait(now)

    # -- one tick --------------------------------------------------------------------------------

    def arrived(self, sensor: str, stamp: float, tick: int, now: float) -> bool:
        """Note a sensor that has been read into `measurement`; answer it if it completes a set.

        Args:
            sensor: Its name in the table of `sensors_of`.
            stamp: Its stamp, s.
            tick: Its tick number.
            now: Steady clock, s.

        Returns:
            bool: Whether a set was answered that had not been answered before.
        """
        waiting = self._latch.state is State.WAITING
        if waiting:
            self._silent.discard(sensor)
            self._silent |= {sensor} if self._says_nothing(sensor) else set()
        # a set may be under way while the node is deactivated
        if (
            not self.active
            or not self.arrivals.arrived(sensor, stamp, now)
            or (waiting and self._silent)
        ):
            return False
        if self._latch.state is State.WAITING and self._obstacle():
            self._send_command(tick)  # the command of the reset: zero
            return False
        fresh = tick != self._answered
        if fresh:
            self._answered = tick
            self._answer(stamp, now)
        elif self.fault is not None and not self._patience.lockstep:
            self.loop.react(self.measurement, now)  # its end must not depend on stamps
        self._send(tick, now)
        return fresh

    def _says_nothing(self, sensor: str) -> bool:
        """Return whether a message holds what simulators tell before their first sample."""
        kind, part = self._kinds[sensor], self.measurement.parts[sensor][0]
        if kind == IMU:  # all zeros, or NaN
            return not np.abs(part).max() > 1e-3
        return kind == CONTACT and bool(np.isnan(part).all())

    def _answer(self, stamp: float, now: float) -> None:
        loop, measurement = self.loop, self.measurement
        measurement.stamp = stamp
        steady = self._steady(now)
        try:
            self.steering.steer(stamp if steady is None else now)
            self._judge_set(stamp)
            loop.tick(measurement, steady)
        except Exception as error:  # whatever breaks, the robot must get a safe command
            loop.give_up(f'{type(error).__name__}: {error}', measurement, steady)

    def _judge_set(self, stamp: float) -> None:
        supervisor = self.loop.supervisor
        supervisor.fault_latch.handle(Event.SENSORS)
        if self.problem is not None:
            supervisor.latch(*self.problem, stamp)
        if self._patience.lockstep:
            return
        lags = self.arrivals.lags()
        supervisor.hear_apart(stamp - lags.get(LOCKS, 0.0), lags[IMU])
        for sensor, lag in lags.items():
            if not abs(lag) <= self._limit:
                words = 'behind' if lag > 0.0 else 'ahead of'
                supervisor.latch(
                    f'stale_{self._kinds[sensor]}',
                    f'the stamp of {self._name(sensor)} is '
                    f'{abs(lag):.3f} s {words} the joint states; limit '
                    f'{self._limit:g} s',
                    stamp,
                )

    def _send(self, tick: int, now: float) -> None:
        if self._latch.state is not State.WAITING:
            self._sent = now
            self._send_command(tick)

    def answered(self, start: float, end: float, pace: float = 1.0) -> None:
        """Judge how long the answer to a set took, from its arrival to the sending.

        In real time, too many late answers in a row are a fault. In lockstep the robot waits, and
        its silence counts from the answer on.

        Args:
            start: Of the answer, steady clock, s.
            end: Of the answer.
            pace: Of the robot's time: a simulator at half of it gives the law twice the time.
        """
        if self._patience.lockstep:
            self.arrivals.excuse(end)
        else:
            self.loop.supervisor.check_compute(
                pace * (end - start), self.loop.period, self.measurement.stamp
            )

    # -- steady clock ----------------------------------------------------------------------------

    def watch(self, now: float) -> float:
        """Judge what the steady clock shows; return after how many s to look again."""
        if self._latch.state is State.WAITING:
            waited = now - self.arrivals.waiting_since
            if waited <= self._patience.sensors:
                # in real time, sensors are read at each look
                return LOOK if self._patience.lockstep else self.loop.period
            # a watchdog can hear us only once sensors are answered
            starved = self.arrivals.missing(now) or self.arrivals.slow()
            code = 'watchdog' if self._obstacle() and not starved else 'sensor_missing'
            self.stop(code, f'{self.wants(now)}; waited {waited:.1f} s', now)
        elif math.isfinite(self.arrivals.complete_at):
            before = self._latch.state
            self._judge_silence(now)
            if self._latch.state is not before:
                self._repeat(now)
        if self.fault is None:
            return max(self._limit - self._oldest(now), self.loop.period)
        if self._patience.lockstep:
            if self._oldest(now) > self._limit:
                self._repeat(now)
            return max(self._limit - self._oldest(now), 0.25 * self._limit)
        if now - self._sent > 1.5 * self.loop.period:  # no measurement has been answered lately
            self._repeat(now)
        return self.loop.period

    def _oldest(self, now: float) -> float:
        arrivals, ages = self.arrivals, []
        if not self._patience.lockstep:
            ages = [age for _, age in arrivals.silences(now)]
        return max([arrivals.stillness(now), *ages])

    def _judge_silence(self, now: float) -> None:
        arrivals, supervisor = self.arrivals, self.loop.supervisor
        stamp, limit = self.measurement.stamp, self._limit
        if self._patience.lockstep:
            if arrivals.silence(now) > limit:
                supervisor.latch(
                    'stale_joint_state', f'no complete set of sensors for {limit:g} s', stamp
                )
        else:
            silences = arrivals.silences(now)
            all_silent = min(age for _, age in silences) > 0.5 * limit
            for kind, age in silences:
                supervisor.check_age('joint_state' if all_silent else kind, age, stamp)
        still = arrivals.stillness(now)
        if still > limit and arrivals.silence(now) <= 0.5 * limit:  # while messages go on
            supervisor.latch(
                'clock_stopped',
                f'the stamp is {stamp:.6f} s, as {still:.3f} s ago or hardly more',
                stamp,
            )

    def _repeat(self, now: float) -> None:
        """Send the safe command of now, which answers no measurement."""
        # whether the last measurement says how the joints move now
        live = self.arrivals.silence(now) <= 2.0 * self.loop.period
        self.loop.react(self.measurement, self._steady(now), live)
        self._send(0, now)

    # -- what others ask for ---------------------------------------------------------------------

    def stop(self, code: str, message: str, now: float) -> None:
        """Latch a fault and, if active, send the safe command at once.

        Args:
            code: Of a kind in `safety.faults.KINDS`.
            message: Why, one sentence.
            now: Steady clock, s.
        """
        self.loop.supervisor.latch(code, message, self.measurement.stamp)
        if self.active:
            self._repeat(now)

    def clear(self, now: float) -> bool:
        """Clear a latched fault and begin anew; without one the sensors are trusted again.

        The effort of the reaction must not stand while new sensors are waited for: zero is sent.
        A robot that a law still leads stands on until `start_walking`.

        Returns:
            bool: Whether there was a fault.
        """
        if not self._latch.clear():
            self.loop.estimator.trust()
            return False
        if self._latch.state is State.WALKING:
            self.loop.resume()
            self.steering.stop(self._steady(now))
            return True
        self._start(now)
        if self.active:
            self._send_command(0)
        return True

    def command_velocity(self, velocity: Sequence[float], now: float) -> str | None:
        """Take a velocity: ahead and to the left in m/s, turning to the left in rad/s.

        Laws that know forward speed alone take a negative one as: return to your parameters.

        Returns:
            In words what of it was not taken as it came, or None; see `Steering.command`.
        """
        return self.steering.command(velocity, self._steady(now))

    def stop_walking(self, now: float) -> str:
        """Take the velocity back to zero until `start_walking`; return what the law does there.

        Raises:
            InvalidInput: The law cannot come to a stop and go on, or does not walk now.
        """
        law = self.loop.controller
        self._check_walking()
        standstill = given(
            law.standstill,
            f'stop of controller {law.name}',
            limit='it cannot stand',
            remedy='emergency_stop damps the joints, deactivate sends zero',
        )
        self.steering.stop(self._steady(now))
        return standstill

    def start_walking(self) -> str:
        """Obey velocities again; return who decides on them.

        Raises:
            InvalidInput: The law does not walk now.
        """
        self._check_walking()
        self.steering.start()
        return self.steering.source

    def _check_walking(self) -> None:
        if self.fault is not None:
            raise InvalidInput(
                'controller',
                limit=f'is stopped by the fault {self.fault.code}',
                remedy='clear_fault first',
            )
        require(self.active, 'controller', limit='is not active', remedy='activate it')

    def _steady(self, now: float) -> float | None:
        """Return the steady clock, s; None in lockstep, where only stamps count."""
        return None if self._patience.lockstep else now

    # -- what is missing -------------------------------------------------------------------------

    def wants(self, now: float) -> str:
        """Return in words what a controller that waits is waiting for."""
        arrivals = self.arrivals
        missing, slow = arrivals.missing(now), arrivals.slow()
        if slow:
            rates = ', '.join(
                f'{self._name(sensor)} comes at {rate:.1f} Hz' for sensor, rate in slow.items()
            )
            return (
                f'{rates}; safety.state_timeout {self._limit:g} s needs '
                f'{arrivals.slowest_rate:.0f} Hz or more'
            )
        if missing:
            return 'not heard: ' + ', '.join(map(self._name, missing))
        if self._silent:
            return 'zeros or NaN alone come from ' + ', '.join(map(self._name, self._silent))
        if self._obstacle():
            return self._obstacle()
        if self._patience.lockstep:
            return (
                'all sensors are heard, but their stamps are never equal, as lockstep needs; '
                'set realtime'
            )
        return f'the stamps stand still at {self.measurement.stamp:.6f} s'

    def _name(self, sensor: str) -> str:
        return self._names.get(sensor, sensor)


def sensor_kinds(robot: Robot) -> dict[str, str]:
    """Return sensor -> kind of all that a complete set of a robot's sensors needs."""
    return {sensor.name: sensor.kind for sensor in sensors_of(robot)}
