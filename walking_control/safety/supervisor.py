# SPDX-License-Identifier: Apache-2.0
"""Watches every tick; after a fault only a safe command leaves, until somebody clears it."""

import math
from typing import Any

import numpy as np

from walking_control.models import Command, Measurement, Robot, WalkerState
from walking_control.safety import Event, Latch, LED, SafetyParameters, State
from walking_control.safety.arrivals import SLOWEST_CLOCK
from walking_control.safety.fall import FallDetector, StandDetector
from walking_control.safety.faults import COMMAND, Fault, IMU, KINDS, STANDS
from walking_control.safety.heat import COOLED, HeatWatch
from walking_control.safety.imu import ImuCheck
from walking_control.safety.lies import LieDetector
from walking_control.safety.plausibility import Plausibility, SILENCE
from walking_control.safety.repeats import RepeatCheck

NAMED = 0.01  # s by which a sample is late that a fault tells of
USUAL = 0.02  # of each time between two samples goes into the usual one
CRAWLED = 0.01  # s over which stamps and the steady clock are compared
# what stamps that crawl look like: everything moves faster than it can
BY_TIME = ('contradiction', 'jump', 'gyroscope', 'orientation', 'accelerometer', 'imu_gravity')
HELD = 0.03  # s for which an IMU that ticks more rarely may repeat itself
LOWERED = 0.8  # part of `safety.lower_time` after which the robot is low


class Supervisor:
    """Checks measurements, states and commands; says what is safe after a fault.

    A reaction runs on the steady clock of whoever has one (`now`), whatever the stamps do. A
    script and a lockstep run have none and must not depend on the speed of a machine: there it
    runs on the stamps, and a tick whose stamp does not advance counts as one control period.

    Args:
        latch: The `Latch`; None takes a new one, active from the start.
        period: Control period, s.
        gravity: m/s^2.
        soles: Whether feet that rest lie flat.

    Attributes:
        usual: Time between two samples lately, s.
    """

    def __init__(
        self,
        robot: Robot,
        values: SafetyParameters,
        latch: Latch | None = None,
        period: float = 0.01,
        gravity: float = 9.81,
        soles: bool = False,
    ) -> None:
        self.fault_latch = Latch() if latch is None else latch
        self._period = period
        self._robot = robot
        self._values = values
        self._fall = FallDetector(robot, values)
        self._stand = StandDetector(values, self._fall.standing_height)
        self.stands = self.standby = False  # whether the law can stand, and one that stands by
        self.dispensable: frozenset[str] = frozenset()  # what a stop can do without
        # of a robot whose feet have no sensors, the estimator's `FootLoads`
        self.foot_loads: Any = None
        self._imu = ImuCheck(robot, values, gravity)
        self.heat = HeatWatch(robot, values.ambient, values.ambient + values.motors_warmer)
        self._lies = LieDetector(robot, gravity, values.lie_patience, soles)
        self._repeats = RepeatCheck(robot, gravity)
        self._plausibility = Plausibility(robot, values, self.latch)
        self._joints = [robot.joint_index(joint) for joint in robot.actuators]
        self.effort_limits = robot.effort_limits
        # in space feet may stand on steps, and the estimator weighs what they say
        self._highest = math.inf if robot.is_free else values.stuck_contact_height
        self._flight = values.flight_time if robot.is_free else values.stuck_contact_time
        # s, of what a law leads to
        self._longest = {State.STOPPING: values.stop_time, State.LOWERING: values.lower_time}
        self.clamped = 0  # commands that were larger than a limit
        self.forget()

    @property
    def fault(self) -> Fault | None:
        """The latched `Fault`, or None."""
        return self.fault_latch.fault

    @property
    def bridged(self) -> int:
        """Measurements so far of which something was impossible."""
        return self._plausibility.bridged

    @property
    def led(self) -> bool:
        """Whether a law says what leaves: there is no fault, or it brings the robot to a stand."""
        return self.fault_latch.fault is None or self.fault_latch.state in LED

    def latch(self, code: str, message: str, stamp: float, stands: bool | None = None) -> None:
        """Latch a fault of a kind in `KINDS`; a second one can only make the reaction stronger.

        Args:
            code: Of a kind in `KINDS`.
            message: One sentence with value and limit.
            stamp: When, s.
            stands: Whether there is a law that can stand; None: the one in command or on standby.
        """
        if code in BY_TIME and self._told < SLOWEST_CLOCK * self._real:
            code, message = (
                'clock_stopped',
                f'stamps advance by less than a tenth of time: {message}',
            )
        stands = self.stands or self.standby if stands is None else stands
        stands = stands and self.dispensable.issuperset(KINDS[code].lost)
        reaction = self._values.reaction(code, stands)
        message = '; '.join(filter(None, (message, self._lateness(NAMED))))
        if self.fault_latch.catch(code, message, stamp, reaction):
            self._faded = self._last
            self._stand.forget()

    @property
    def lost(self) -> set[str]:
        """What of the sensors is no longer to be believed."""
        latch = self.fault_latch
        codes = () if latch.fault is None else (latch.fault.code, *latch.later)
        return {what for code in codes for what in KINDS[code].lost}

    def lose_law(self, code: str, message: str, stamp: float) -> bool:
        """Latch that the law gives nothing any more; return whether a standby law shall lead.

        Args:
            code: Of a kind in `KINDS`.
            message: Why, one sentence.
            stamp: When, s.
        """
        self.latch(code, message, stamp, self.standby)
        return self.led

    @property
    def lowering(self) -> float:
        """By which share of its height a robot that is stopped shall be lowered now."""
        latch, values = self.fault_latch, self._values
        if latch.state is not State.LOWERING:
            return 0.0
        u = min(latch.elapsed / (LOWERED * values.lower_time + 1e-9), 1.0)
        return values.crouch * u * u * (3.0 - 2.0 * u)

    def lead(self, law: str | None, standby: str | None) -> None:
        """Take what two laws do at a velocity of zero.

        Args:
            law: The `Controller.standstill` of the one in command.
            standby: That of the one that stands by.
        """
        self.stands, self.standby = law == STANDS, standby == STANDS

    def forget(self) -> None:
        """Forget the past, not the fault."""
        self._last: np.ndarray = np.zeros(len(self.effort_limits))
        self._faded = self._last
        self._stamp: float | None = None
        self._passed = self._now = self._heard = math.nan
        self._age, self.usual, self._locks_at = 0.0, self._period, math.nan
        self._late, self._late_at = 0.0, -math.inf
        # time lately by stamps and by the steady clock, s
        self._told: float = 0.0
        self._real: float = 0.0
        self._imu.forget()
        self._lies.forget()
        self._repeats.forget()
        self._plausibility.forget()
        self._airborne_since = math.inf
        self.warning = ''  # what is wrong but no fault, in words
        self._overruns, self._late_since = 0, 0.0
        self._impossible_since = [math.inf] * len(self._robot.feet)

    # -- measurement -----------------------------------------------------------------------------

    def check_measurement(
        self, measurement: Measurement, now: float | None = None
    ) -> Measurement | None:
        """Latch a fault when a `Measurement` is not to be believed.

        Args:
            now: Steady clock, s; None where only stamps count.

        Returns:
            Measurement | None: The one to believe; None where no law leads, see `led`.
        """
        stamp = measurement.stamp
        self._pass_time(stamp, now)
        self.fault_latch.handle(Event.SENSORS)
        if not math.isfinite(stamp):
            self.latch('not_finite', 'the stamp is not finite', stamp)
        elif self._check_clock(stamp, now):
            heard, lost = self._hear(self._age), self.lost
            self._plausibility.imu_lost, gap = bool(lost), self._plausibility.imu_gap
            told = self._plausibility.judge(measurement, heard)
            self.heat.hear(told.values)
            if self.foot_loads is not None:
                told.foot_force[:] = self.foot_loads.forces
            if lost:  # what stands in contradicts nothing
                return told if self.led else None
            for code, words in (
                *self._imu.feel(told, heard),
                ('imu_frozen', self._imu.stand_still(measurement, heard)),
            ):
                if words is not None:
                    self.latch(code, words, stamp)
            lie = self._repeats.watch(measurement, heard) or self._lies.watch(
                told, heard, self._age + max(gap, 0.0) > SILENCE * heard
            )
            if lie is not None:
                code, words = lie
                # what it says beside is no better
                frozen = code in IMU and self._imu.repeated > HELD
                self.latch('imu_frozen' if frozen else code, words, stamp)
            return told if self.led else None
        return measurement if self.led else None

    def _lateness(self, least: float) -> str:
        """Return in words how late samples came in the last second, if more than so many s."""
        if self._late <= least:
            return ''
        return f'samples came up to {1e3 * self._late:.0f} ms late in the last second'

    def hear_apart(self, locks_at: float, imu_lag: float) -> None:
        """Note of when the next measurement's parts are, where they come on their own.

        Args:
            locks_at: Stamp of the locks, s.
            imu_lag: By how much the stamp of the IMU is behind that of the joints, s.
        """
        plausibility, before = self._plausibility, self._locks_at
        plausibility.locks_heard, self._locks_at = locks_at != before, locks_at
        plausibility.imu_gap, plausibility.imu_lag = plausibility.last_lag - imu_lag, imu_lag

    def _hear(self, age: float) -> float:
        """Return the time that a sample stands for, s: not the silence before it.

        `age`: time since the last one, s.
        """
        late, stamp = age - self.usual, self._stamp or 0.0
        if late > self._late or stamp - self._late_at > 1.0:
            self._late, self._late_at = late, stamp
        self.usual += USUAL * (min(age, 2.0 * self.usual) - self.usual)
        return min(age, self.usual)

    def _pass_time(self, stamp: float, now: float | None) -> None:
        """Let the reaction, if any, grow older, and motors cool that no law drives."""
        if now is not None:
            step, self._now = now - self._now, now  # at first NaN, which lets nothing grow older
        else:
            passed, self._passed = stamp - self._passed, stamp  # also of one that is refused
            # sensors may be faster than the law, not without bound; an infinite step ends it
            passed = passed if passed > 0.02 * self._period else self._period
            step = 0.0 if self.fault_latch.fault is None else passed
        self.fault_latch.pass_time(step)
        if step > 0.0 and not self.led:
            self.heat.watch(self._last, min(step, COOLED))

    def _check_clock(self, stamp: float, now: float | None) -> bool:
        before, self._age = self._stamp, 0.0
        heard = math.nan if now is None else now
        waited, self._heard = heard - self._heard, heard
        if before is not None:
            self._age = stamp - before
            if not math.isnan(waited):
                kept = math.exp(-waited / CRAWLED)
                self._told = kept * self._told + self._age
                self._real = kept * self._real + waited
            if stamp < before:
                self.latch(
                    'clock_backwards',
                    f'stamp {stamp:.6f} s follows {before:.6f} s: was a simulator reset?',
                    stamp,
                )
                return False
            self._check_gap(before, stamp, waited)
        self._stamp = stamp
        return True

    def _check_gap(self, before: float, stamp: float, waited: float) -> None:
        age, limit = self._age, self._values.state_timeout
        if age <= limit and not waited > limit:
            return
        code, came = 'stale_joint_state', f', but came {waited:.3f} s later'
        if age > limit and waited < 0.5 * age:
            code = 'clock_jump'
        elif age > limit:  # else it was under way while we slept
            came = ''
        words = f'stamp {stamp:.6f} s follows {before:.6f} s, {age:.3f} s later{came}'
        self.latch(code, f'{words}; limit {limit:g} s', stamp)

    def check_age(self, sensor: str, age: float, stamp: float) -> None:
        """Latch a fault when a sensor is silent for too long.

        Args:
            sensor: ``'joint_state'``, ``'imu'`` or ``'contact'``.
            age: Time since it was heard, s.
            stamp: Time now, s.
        """
        limit = self._values.state_timeout
        if age > limit:
            self.latch(
                f'stale_{sensor}', f'nothing heard for {age:.3f} s; limit {limit:g} s', stamp
            )

    # -- state -----------------------------------------------------------------------------------

    def check_state(self, state: WalkerState) -> bool:
        """Latch a fault when a `WalkerState` shows a fall or impossible sensors; return `led`."""
        if self.foot_loads is not None and self.foot_loads.signs.flaw:
            self.latch('signal', self.foot_loads.signs.flaw, state.stamp)
        reason = self._fall.reason(state, self.fault_latch.state is State.LOWERING)
        if reason is not None:
            self.latch('fall', reason, state.stamp)
        else:
            self._check_contacts(state)
            self._judge_stop(state)
        return self.led

    def _judge_stop(self, state: WalkerState) -> None:
        """Go on from a stop to a stand, from there to lowering, or give it up."""
        latch = self.fault_latch
        if latch.state is State.STOPPING and self._stand.stands(state):
            latch.handle(Event.STOOD)
        if latch.state is State.STANDING and latch.lowers:
            latch.handle(Event.LOWER)
        self._end_stop()

    def _end_stop(self) -> None:
        latch = self.fault_latch
        if latch.elapsed >= self._longest.get(latch.state, math.inf):
            latch.handle(Event.OVER)

    def _check_contacts(self, state: WalkerState) -> None:
        values, stamp, contact = self._values, state.stamp, state.contact.tolist()
        for i, (foot, pulled, height) in enumerate(
            zip(self._robot.feet, state.pulled.tolist(), state.foot_height)
        ):
            if pulled:
                self.latch(
                    'foot_force',
                    f'{foot} says that the floor pulls it down: sign of the sensor?',
                    stamp,
                )
            impossible = contact[i] and height > self._highest
            since = self._impossible_since[i] = _since(self._impossible_since[i], impossible, stamp)
            if stamp - since > values.stuck_contact_time:
                self.latch(
                    'stuck_contact',
                    f'{foot} reports contact '
                    f'{height:.2f} m above the floor for '
                    f'{stamp - since:.2f} s',
                    stamp,
                )
        since = self._airborne_since = _since(self._airborne_since, not any(contact), stamp)
        if stamp - since > self._flight:
            self.latch('stuck_contact', f'no foot reports contact for {stamp - since:.2f} s', stamp)
        wrong = [foot for foot, lies in zip(self._robot.feet, state.mistrusted.tolist()) if lies]
        flickers = ''
        if state.flicker > values.flicker_limit:
            flickers = (
                f'{state.flicker} changes of a contact within a second '
                f'were suppressed; limit {values.flicker_limit}'
            )
            # a step of a robot with coordinates is a change of contact; in space the law asks
            # where the feet are, too, and an upright robot on ice is not to be let go
            if not self._robot.is_free:
                self.latch('contact_flicker', flickers, stamp)
        contradicts = (
            f'sensor contradicts weight and legs, motors and IMU tell its load: {", ".join(wrong)}'
            if wrong
            else ''
        )
        late = self._lateness(0.3 * values.state_timeout)
        self.warning = '; '.join(filter(None, (contradicts, flickers, self.heat.warning, late)))

    def check_compute(self, duration: float, period: float, stamp: float) -> None:
        """Latch a fault when ticks in a row took longer than three control periods, s.

        Up to three, every third sample is answered: a walk bears a law at a third of its rate. A
        short row is borne, too: it makes commands no later than a sensor may be silent.
        """
        self._overruns = self._overruns + 1 if duration > 3.0 * period else 0
        if self._overruns == 1:
            self._late_since = stamp
        if (
            self._overruns > self._values.overrun_limit
            and stamp - self._late_since >= self._values.state_timeout
        ):
            self.latch(
                'tick_overrun',
                f'{self._overruns} ticks in a row took longer than '
                f'{3.0 * period:g} s, three periods, the last {duration:.4f} s',
                stamp,
            )

    # -- command ---------------------------------------------------------------------------------

    def limit(self, command: Command, dt: float, stamp: float) -> bool:
        """Clamp a command in place to effort and rate limits; latch a fault if not finite.

        Args:
            command: The `Command`.
            dt: Time since the last one, s.
            stamp: Time now, s.

        Returns:
            Whether a standby law shall say another one instead.
        """
        numbers, before, limits = command.numbers.tolist(), self._last, self.effort_limits
        # a sum is quick; only one that is too large needs the second look
        if not (math.isfinite(sum(numbers)) or np.isfinite(command.numbers).all()):
            return self.lose_law(
                COMMAND, 'the controller computed a command that is not finite', stamp
            )
        # a silence is no reason for a jump
        step = self._values.effort_rate_limit * min(dt, 2.0 * self._period)
        rows = zip(numbers, before.tolist(), limits.tolist())
        if any([abs(now - last) > step or abs(now) > limit for now, last, limit in rows]):
            lower, upper = np.maximum(before - step, -limits), np.minimum(before + step, limits)
            within = np.minimum(np.maximum(command.effort, lower), upper)
            self.clamped += int(np.count_nonzero(within != command.effort))
            command.effort[:] = within
        self._last = command.effort.copy()
        words = self.heat.watch(command.effort, dt)
        if words:
            self.latch('motor_heat', words, stamp)
        return False

    def react(
        self,
        measurement: Measurement,
        command: Command,
        now: float | None = None,
        live: bool = True,
    ) -> None:
        """Overwrite a command with the safe one of the present reaction.

        Args:
            measurement: The last `Measurement`.
            command: The `Command` to overwrite.
            now: Steady clock, s; None where only stamps count.
            live: Whether the measurement says how the joints move now; if not, nothing is damped.
        """
        if now is not None:
            self._pass_time(measurement.stamp, now)
        latch = self.fault_latch
        self._end_stop()
        if latch.state in LED:  # what the law said last stands until it is asked again
            return
        command.lock[:] = True
        if latch.state is State.DAMPING and latch.elapsed >= self._values.damping_time:
            latch.handle(Event.OVER)
        self._last = np.zeros(len(self.effort_limits))
        if latch.state is State.DAMPING and live:
            self._last = self._damping(measurement)
        elif latch.state is State.FADING:
            left = np.maximum(abs(self._faded) - latch.elapsed * self._values.fade_rate, 0.0)
            self._last = np.sign(self._faded) * left
            if not self._last.any():
                latch.handle(Event.OVER)
        command.clear()
        command.effort[:] = self._last

    def _damping(self, measurement: Measurement) -> np.ndarray:
        efforts = np.zeros(len(self.effort_limits))  # virtual efforts rest
        speed, fastest = measurement.velocity[self._joints], self._plausibility.speeds[self._joints]
        # no more than a joint that can be: a sensor may lie
        damping = -self._values.damping * np.clip(speed, -fastest, fastest)
        efforts[: len(speed)] = np.where(np.isfinite(speed), damping, 0.0)
        return np.asarray(np.clip(efforts, -self.effort_limits, self.effort_limits))


def _since(before: float, lasts: bool, stamp: float) -> float:
    """Return since when something has lasted that lasts now, s; infinity: it does not."""
    return min(before, stamp) if lasts else math.inf
