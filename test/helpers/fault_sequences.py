# SPDX-License-Identifier: Apache-2.0
"""Random sequences of events against the promises of the fault table.

Two things are tried. `walk_table` walks the table of states alone, a million sequences at once as
arrays: it proves nothing about the code around the table. `try_sequences` drives the real
`Operation`, with its checks, estimator and reactions, a scripted law and a scripted clock, one
event after the other: sensors sound and broken, stamps that stand, jump and run back, silence,
services, lifecycle, parameters, late answers. Every command, every change of state and the time to
zero are compared with the table. ROS, its executor and the threads below it are not in either;
`test/nodes` has them.
"""

import argparse
from dataclasses import dataclass, field
import math
import sys

import numpy as np

from walking_control.loading import load_robot
from walking_control.operation import Operation, Patience, sensor_kinds
from walking_control.safety.faults import STANDS
from walking_control.safety.latch import Latch
from walking_control.safety.machine import (
    ACTIVE,
    Event,
    LATCHED,
    LED,
    LIFECYCLE_EVENTS,
    NEXT,
    REACTION_EVENTS,
    State,
    step,
)
from walking_control.safety.parameters import SafetyParameters

# -- the table alone ----------------------------------------------------------------------------

STRENGTH = {State.FADING: 1, State.DAMPING: 2, State.RESTING: 3}


def transition_array():
    """Return the table as an array ``[state, event] -> state`` for many walks at once."""
    table = np.tile(np.arange(len(State), dtype=np.int8)[:, None], (1, len(Event)))
    for (state, event), after in NEXT.items():
        table[state, event] = after
    return table


def walk_table(sequences, length, fade=5, damping=8, seed=0):
    """Walk the table at random, all sequences at once.

    Args:
        sequences: How many.
        length: Events of each; every second one on average is a tick of the clock.
        fade: Ticks until nothing is left to fade.
        damping: Ticks that damping lasts.
        seed: Seed of the events.

    Returns:
        dict: name of a promise -> how often it was broken.
    """
    rng = np.random.default_rng(seed)
    table = np.array([[step(state, event) for event in Event] for state in State], dtype=np.int8)
    n_events = len(Event)
    latched = np.isin(np.arange(len(State)), [*LATCHED])
    strength = np.array([STRENGTH.get(state, 0) for state in State])
    ends = np.full(len(State), 10**6)
    ends[State.FADING], ends[State.DAMPING] = fade, damping
    state = np.zeros(sequences, dtype=np.int8)
    age = np.zeros(sequences, dtype=np.int32)  # ticks of the present reaction
    active_age = np.zeros(sequences, dtype=np.int32)  # ticks active with a fault
    led = np.isin(np.arange(len(State)), [*LED])
    names = 'left by request only', 'zero in time', 'never weaker', 'no law again'
    broken = dict.fromkeys(names, 0)
    for _ in range(length):
        event = rng.integers(0, 2 * n_events, sequences, dtype=np.int8)
        tick = event >= n_events
        age += tick
        active_age = np.where(strength[state] > 0, active_age + tick, 0)
        event = np.where(tick, np.where(age >= ends[state], Event.OVER, Event.SENSORS), event)
        # OVER is the clock's alone
        event = np.where((event == Event.OVER) & ~tick, Event.SENSORS, event)
        after = table[state, event]
        request = (event == Event.CLEAR) | (event == Event.SHUTDOWN)
        broken['left by request only'] += int((latched[state] & ~latched[after] & ~request).sum())
        both = (strength[state] > 0) & (strength[after] > 0)
        broken['never weaker'] += int((both & (strength[after] < strength[state])).sum())
        broken['no law again'] += int(((strength[state] > 0) & led[after]).sum())
        age = np.where(after != state, 0, age)
        state = after
        late = (active_age > fade + damping) & (strength[state] > 0) & (state != State.RESTING)
        broken['zero in time'] += int(late.sum())
    return broken


# -- the real operation -------------------------------------------------------------------------


@dataclass
class SequenceResult:
    """What happened.

    Attributes:
        sequences: How many were driven.
        events: How many events they had.
        commands: How many commands were sent.
        states: name -> how often an event ended there.
        faults: code -> how often it was the first.
        violations: Sentences, at most ten.
    """

    sequences: int = 0
    events: int = 0
    commands: int = 0
    states: dict = field(default_factory=dict)
    faults: dict = field(default_factory=dict)
    violations: list = field(default_factory=list)


class _Driver:
    """One operation, a clock of its own and everything that can happen to it."""

    def __init__(self, robot_file, lockstep, rng, result, stands):
        self.rng, self.result, self.lockstep = rng, result, lockstep
        self.latch = Latch(State.UNCONFIGURED)
        self.operation = Operation(
            robot_file,
            None,
            self.latch,
            Patience(lockstep, tick=0.5, sensors=2.0, speed=0.1),
            self.on_command,
        )
        self.loop, self.values = self.operation.loop, robot_file.values(SafetyParameters)
        self.loop.controller.update = self.law
        self.loop.controller.standstill = STANDS if stands else None
        self.loop.reset()
        self.sensors = list(sensor_kinds(robot_file.robot))
        self.limits = np.array(self.loop.supervisor.effort_limits)
        slack = 3.0 * self.loop.period
        self.bounds = {
            State.FADING: float(self.limits.max()) / self.values.fade_rate + slack,
            State.DAMPING: self.values.damping_time + slack,
            State.RESTING: slack,
            State.STOPPING: self.values.stop_time + slack,
            State.LOWERING: self.values.lower_time + slack,
        }
        self.stimuli = [
            self.walk,
            self.walk,
            self.walk,
            self.walk,
            self.pass_time,
            self.stop,
            self.clear,
            self.change_lifecycle,
            self.change_lifecycle,
            self.ask_speed,
            self.retune,
            self.answer_late,
            self.break_stamp,
            self.break_value,
            self.fall_silent,
            self.break_law,
        ]
        self.now, self.stamp = 100.0, 50.0

    # -- one sequence ----------------------------------------------------------------------------

    def run(self, length):
        """Drive one sequence from the unconfigured state."""
        self.latch.state, self.latch.fault, self.latch.later = State.UNCONFIGURED, None, ()
        self.loop.reset()
        self.latch.handle(Event.CONFIGURE)
        self.last = np.zeros(len(self.limits))
        self.gives, self.due, self.since = 1.0, None, self.now
        self.counted, self.mute, self.count = 0.0, None, self.result.commands
        self.lifecycle(Event.ACTIVATE)
        for _ in range(length):
            before, had = self.latch.state, self.latch.fault
            stimulus = self.stimuli[self.rng.integers(len(self.stimuli))]
            possible = stimulus()
            self.result.events += 1
            self.check(stimulus.__name__, before, had, possible)
        if self.latch.state in ACTIVE:
            self.lifecycle(Event.DEACTIVATE)
            self.expect(not self.last.any(), 'the last word is not zero')

    def check(self, what, before, had, possible):
        """Compare what a stimulus has done with the table."""
        after, fault = self.latch.state, self.latch.fault
        states = self.result.states
        states[after.name] = states.get(after.name, 0) + 1
        if fault is not None and had is None:
            self.result.faults[fault.code] = self.result.faults.get(fault.code, 0) + 1
        if after is not before:
            self.since, self.counted = self.now, 0.0
        self.expect(after in possible, f'{what} led from {before.name} to {after.name}')
        self.expect((fault is not None) == (after in LATCHED), f'{after.name} with fault {fault}')
        self.expect(
            fault is had or had is None or what in ('clear', 'change_lifecycle'),
            f'{what} changed the fault',
        )
        if after not in LED | {State.WALKING, State.FADING, State.DAMPING}:
            self.expect(not self.last.any(), f'{self.last} stands in {after.name} after {what}')
        if after in self.bounds:
            late = self.now - self.since
            if self.lockstep and self.operation.arrivals.stillness(self.now) < 0.7:
                late = self.counted
            self.expect(
                late <= self.bounds[after] or not self.last.any(),
                f'{self.last} stands after {late:.3f} s of {after.name}',
            )

    def expect(self, holds, words):
        """Note a broken promise."""
        if not holds and len(self.result.violations) < 10:
            self.result.violations.append(
                f'sequence {self.result.sequences}, {"lockstep" if self.lockstep else "real time"}'
                f': {words}'
            )

    def on_command(self, tick):
        """Take a command as the robot would."""
        effort, state = self.loop.command.effort, self.latch.state
        self.result.commands += 1
        self.expect(bool(np.isfinite(effort).all()), f'{effort} was sent')
        self.expect(bool((np.abs(effort) <= self.limits + 1e-12).all()), f'{effort} is too much')
        self.expect(state in ACTIVE, f'a command was sent in {state.name}')
        if state is State.FADING:
            self.expect(bool((np.abs(effort) <= np.abs(self.last) + 1e-12).all()), 'fading grows')
        self.last = effort.copy()

    # -- what can happen; each returns the states it may lead to ---------------------------------

    def walk(self):
        """Some sound sensors, as a robot sends them."""
        before = self.latch.state
        for _ in range(self.rng.choice([1, 2, 5, 30])):
            self.elapse(self.loop.period)
            self.send(self.stamp + self.loop.period)
        return reach(before, SENSED)

    def send(self, stamp, spoil=None):
        measurement = self.operation.measurement
        measurement.position[:], measurement.velocity[:] = 0.0, self.rng.normal(0.0, 0.3)
        measurement.position[0] = -0.3
        measurement.orientation[:] = 0.0, math.sin(-0.075), 0.0, math.cos(-0.075)
        measurement.angular_velocity[:] = measurement.linear_acceleration[:] = 0.0
        measurement.foot_force[:] = 0.0
        measurement.foot_force[0, 2] = 90.0
        if spoil is not None:
            spoil(measurement)
        step, self.stamp = stamp - self.stamp, stamp
        tick = 1 + round(stamp * 1e6) % 0xFFFFFFFF
        for sensor in reversed(self.sensors):  # joint states last
            if sensor != self.mute:
                answered = self.operation.arrived(sensor, stamp, tick, self.now)
                if answered:  # in lockstep, only an answered set is time that passes
                    self.counted += step if step > 0.0 else self.loop.period
                    self.operation.answered(self.now, self.now + 1e-4)

    def elapse(self, duration):
        """Let the steady clock run; look at it when the operation wants to."""
        end = self.now + duration
        while self.due is not None and self.due <= end and self.latch.state in ACTIVE:
            had = self.latch.fault
            self.now = max(self.now, self.due)
            self.due = self.now + max(self.operation.watch(self.now), 1e-3)
            if had is None and self.latch.fault is not None:
                self.due = min(self.due, self.now + self.loop.period)
        self.now = end

    def pass_time(self):
        """Silence."""
        before = self.latch.state
        self.elapse(self.rng.choice([0.004, 0.03, 0.08, 0.6, 2.5]))
        return reach(before, SENSED)

    def break_stamp(self):
        """Stamps that stand still, run back or jump ahead while messages go on."""
        before = self.latch.state
        jump = self.rng.choice([0.0, -0.5, -1e-5, 10.0, 1e-7, 0.2])
        for _ in range(self.rng.integers(1, 30)):
            self.elapse(self.loop.period)
            self.send(self.stamp + jump)
        return reach(before, SENSED)

    def break_value(self):
        """One measurement that cannot be, or joint states that lack a joint."""
        before, rng = self.latch.state, self.rng
        value = rng.choice([math.nan, math.inf, -math.inf, 1e100, 3.0])
        place = rng.integers(len(self.operation.measurement.values))
        if rng.random() < 0.1:
            self.operation.problem = 'joint_state', 'lacks a joint'
        self.elapse(self.loop.period)
        self.send(
            self.stamp + self.loop.period,
            lambda measurement: measurement.values.__setitem__(place, value),
        )
        return reach(before, SENSED)

    def fall_silent(self):
        """One sensor's plug is pulled, for a while."""
        before = self.latch.state
        self.mute = self.sensors[self.rng.integers(len(self.sensors))]
        for _ in range(self.rng.integers(1, 20)):
            self.elapse(self.loop.period)
            self.send(self.stamp + self.loop.period)
        self.mute = None
        return reach(before, SENSED)

    def break_law(self):
        """From now on the law gives this."""
        self.gives = self.rng.choice([1.0, -5.0, 1e9, math.nan, math.inf, 0.0])
        return {self.latch.state}

    def law(self, state, reference, dt, command):
        """Write what the law is to give; infinity stands for an exception."""
        if math.isinf(self.gives):
            raise ZeroDivisionError('broken law')
        command.effort[:] = self.gives
        command.lock[:] = True

    def answer_late(self):
        """Answers that take longer than the period, as often as is allowed and more."""
        before = self.latch.state
        for _ in range(self.rng.integers(1, 9)):
            self.elapse(self.loop.period)
            self.send(self.stamp + self.loop.period)
            self.operation.answered(self.now, self.now + 2.0 * self.loop.period)
        return reach(before, SENSED)

    def stop(self):
        """Somebody stops the robot, in any state."""
        before = self.latch.state
        code = self.rng.choice(
            [
                'emergency_stop',
                'power_off',
                'second_publisher',
                'watchdog',
                'watchdog',
                'clock_stopped',
            ]
        )
        self.operation.stop(str(code), 'stop', self.now)
        self.due_soon()
        stands = self.loop.supervisor.stands
        event = REACTION_EVENTS[self.values.reaction(code, stands)]
        return reach(step(before, event), {Event.OVER, Event.STOOD, Event.LOWER})

    def clear(self):
        """Somebody calls ~/clear_fault."""
        before = self.latch.state
        self.operation.clear(self.now)
        return {step(before, Event.CLEAR)}

    def change_lifecycle(self):
        """Somebody asks for a transition, possible or not; shutdown ends too much to be tried."""
        return {self.lifecycle(LIFECYCLE_EVENTS[self.rng.integers(4)])}

    def lifecycle(self, event):
        before = self.latch.state
        if (before, event) not in NEXT:  # rclpy refuses, see test/nodes/test_lifecycle.py
            return before
        if event is Event.ACTIVATE:
            self.operation.activate(self.now)
            self.due = self.now + self.loop.period
        elif event is Event.DEACTIVATE:
            self.operation.deactivate()
            self.due = None
            self.expect(not self.last.any(), 'the last word is not zero')
        else:
            self.latch.handle(event)
        return step(before, event)

    def ask_speed(self):
        """A speed on cmd_vel, of any kind; or a stop, or a start again."""
        asked = self.rng.integers(4)
        if asked == 0:
            self.operation.steering.stop(None if self.lockstep else self.now)
        elif asked == 1:
            self.operation.steering.start()
        self.operation.command_velocity(
            self.rng.choice([0.4, 0.0, -1.0, math.nan, math.inf, 1e9], 3).tolist(), self.now
        )
        return {self.latch.state}

    def retune(self):
        """A live parameter is set."""
        self.loop.retune(self.loop.controller.values)
        return {self.latch.state}

    def due_soon(self):
        if self.due is not None:
            self.due = min(self.due, self.now + self.loop.period)


SENSED = frozenset(
    {
        Event.SENSORS,
        Event.STOP,
        Event.STOOD,
        Event.LOWER,
        Event.FADE,
        Event.DAMP,
        Event.ZERO,
        Event.OVER,
    }
)


def reach(state, events):
    """Return the states that any sequence of some events can lead to."""
    found, new = {state}, {state}
    while new:
        new = {step(each, event) for each in new for event in events} - found
        found |= new
    return found


def try_sequences(robot_file, sequences, length=40, seed=0, progress=None, stands=False):
    """Drive an operation with random sequences of events, in real time and in lockstep in turn.

    Args:
        robot_file: The `RobotFile`.
        sequences: How many.
        length: Events of each.
        seed: Seed of the events.
        progress: Called with the number of sequences now and then.
        stands: Whether the law says that it can stand.

    Returns:
        The `SequenceResult`.
    """
    result, rng = SequenceResult(), np.random.default_rng(seed)
    drivers = [_Driver(robot_file, lockstep, rng, result, stands) for lockstep in (False, True)]
    for number in range(sequences):
        drivers[number % 2].run(length)
        result.sequences += 1
        if progress is not None and number % 100 == 0:
            progress(number)
    return result


def main():
    """Try sequences and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', nargs='?', default='dribbel')
    parser.add_argument('--sequences', type=int, default=10_000)
    parser.add_argument('--length', type=int, default=40, help='events of each sequence')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    broken = walk_table(1_000_000, options.length, seed=options.seed)
    print('table, 1000000 sequences:', broken)
    robot_file = load_robot(options.robot)
    result = try_sequences(
        robot_file,
        options.sequences,
        options.length,
        options.seed,
        lambda number: print(
            f'\r{number} of {options.sequences}', end='', file=sys.stderr, flush=True
        ),
    )
    print(file=sys.stderr)
    for name, value in vars(result).items():
        print(f'{name:>10}: {value}')
    return 1 if result.violations or any(broken.values()) else 0


if __name__ == '__main__':
    sys.exit(main())
