# SPDX-License-Identifier: Apache-2.0
"""Whether a walker that is stopped stands: the work behind `robustness --stop`.

A robot walks until it has settled, and is stopped at a part of a step; then it shall come
to rest on both feet, and stay there. One that stands (category 2) walks on from there to the next
start; the others begin anew, with other noise. Whether it fell is judged by the plant's own state.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
import math
from typing import Any

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import StopJudge, Stoppable
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.experiments.margins import describe_walks
from walking_control.models.registry import Choice
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Command, Measurement, whole_nanoseconds
from walking_control.safety.faults import EMERGENCY_STOP, INTERNAL, KINDS, LAW_LOST, OVERRUN, STOPS
from walking_control.safety.machine import LED, State
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.disturbance import How
from walking_control.simulation.injection import Injection, SENSOR_FAULTS
from walking_control.simulation.registry import choose_parts, make_plant
from walking_control.simulation.sensors import SensorParameters
from walking_control.simulation.simulate import BEYOND_THE_LAW

SPEEDS = 5  # shares of the largest one, one after another
SETTLING = 5  # steps
LONGEST = 20.0  # s of settling
HOLD = 1.0  # s for which a robot that has come to a stand stays there
PUSHED = 0.2  # s from a push to the stop
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))  # rad from the direction of a push to the next one
LATE = 10  # ticks in a row whose answer comes a tick late, before an overrun is said
SILENT = {'stale_imu': 'imu', 'stale_contact': 'contact'}  # sensors that say no more
TRIED = tuple(
    code
    for code, kind in KINDS.items()
    if kind.category and code in {*SENSOR_FAULTS, *LAW_LOST, EMERGENCY_STOP, OVERRUN}
)


def try_stops(
    robot_file: RobotFile,
    causes: Sequence[str] = (EMERGENCY_STOP,),
    category: int | None = None,
    starts: int = 48,
    controller: Choice = None,
    plant: Choice = None,
    speed: float = 0.5,
    push: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Stop a walker at many parts of a step, at five speeds, by one or more causes.

    Args:
        robot_file: The `RobotFile`.
        causes: Codes of faults that sensors or the law can provoke, or that are only said;
            ``('all',)``: all after which a stop of category 1 or 2 is the default.
        category: Of the stops, 0 to 2; None takes the robot file's.
        starts: How many stops of each cause.
        controller: Name of the controller; None takes the robot file's default.
        plant: Likewise.
        speed: The largest, m/s; the others are shares of it.
        push: Impulse on the base 0.2 s before the stop, N s per kg of robot; its direction turns
            from start to start.
        progress: Called with the share of starts, 0 to 1, after each.

    Returns:
        The conditions; ``causes``: of each ``cause`` its ``category``, ``starts``, how many
        ``stood``, ``median_time`` and ``worst_time`` (s) until the base was at rest, ``worst_way``
        (m), and what the law's step plan had said (``said_no``, ``said_yes_and_fell``);
        ``trials``: of each start ``cause``, ``phase`` of the step, ``speed``, whether it ``stood``,
        ``time``, ``way``, ``why`` not, ``stoppable_steps`` and ``stoppable_margin``.

    Raises:
        InvalidInput: An unknown cause, a category that the law cannot do, or no law that can stand.
        NotAchieved: The robot does not walk to where it would be stopped.
    """
    robot_file, controller, plant = choose_parts(robot_file, controller, plant)
    if starts < 1:
        raise InvalidInput('starts', value=starts, limit='must be at least 1')
    causes = TRIED if tuple(causes) == ('all',) else causes
    rows, trials, total = [], [], starts * len(causes)
    for number, cause in enumerate(causes):
        stopped = _Stops(robot_file, cause, category, controller, plant)
        for start in range(starts):
            share = (1 + start % SPEEDS) / SPEEDS
            phase = (start // SPEEDS + 0.5) / math.ceil(starts / SPEEDS)
            trials.append(stopped.try_one(start, phase, share * speed, push))
            if progress is not None:
                progress((number * starts + start + 1) / total)
        rows.append(_sum_up(cause, stopped.category, trials[-starts:]))
    return {
        **describe_walks(robot_file, controller, plant),
        'speed': speed,
        'push': push,
        'causes': rows,
        'trials': trials,
    }


def _sum_up(cause: str, category: int, trials: list[dict[str, Any]]) -> dict[str, Any]:
    stood = [trial for trial in trials if trial['stood']]
    said = [trial for trial in trials if trial['stoppable_steps'] is not None]
    return {
        'cause': cause,
        'category': category,
        'starts': len(trials),
        'stood': len(stood),
        'median_time': float(np.median([trial['time'] for trial in stood])) if stood else None,
        'worst_time': max((trial['time'] for trial in stood), default=None),
        'worst_way': max((trial['way'] for trial in stood), default=None),
        # what the law's step plan said of it when it was stopped
        'said_no': sum(trial['stoppable_steps'] < 0 for trial in said),
        'said_yes_and_fell': sum(
            trial['stoppable_steps'] >= 0 and not trial['stood'] for trial in said
        ),
    }


class _Stops:
    """Stops of one cause, one after another; `category`: of the stop."""

    def __init__(
        self,
        robot_file: RobotFile,
        cause: str,
        category: int | None,
        controller: str | None,
        plant: str | None,
    ) -> None:
        if cause not in KINDS:
            raise InvalidInput(
                'cause', value=cause, limit='unknown', remedy='all, or of ' + ', '.join(KINDS)
            )
        self._file, self._cause = _with_category(robot_file, cause, category), cause
        self._loop, self._plant = ControlLoop(self._file, controller), plant
        self._trial: _Trial | None = None
        supervisor = self._loop.supervisor
        stands = supervisor.standby or cause not in LAW_LOST and supervisor.stands
        reaction = self._file.values(SafetyParameters).reaction(cause, stands)
        self.category = STOPS.get(reaction, 0)
        if not (supervisor.stands or supervisor.standby):
            raise InvalidInput(
                f'stop of {self._file.robot.name} with {self._loop.controller.name}',
                limit='needs a law that can stand',
                remedy='choose another controller, or name a standby law',
            )

    def try_one(self, number: int, phase: float, speed: float, push: float) -> dict[str, Any]:
        """Return what became of a stop."""
        trial = self._trial
        if trial is None or not trial.resume():
            trial = self._trial = _Trial(_seeded(self._file, number), self._loop, self._plant)
        trial.walk_to(phase, speed)
        if push:
            trial.push(push, GOLDEN * number)
        why, said = trial.stop(self._cause), trial.stoppable
        return {
            'cause': self._cause,
            'phase': phase,
            'speed': speed,
            'stood': why is None,
            'time': trial.time if why is None else None,
            'way': trial.way if why is None else None,
            'why': why,
            'stoppable_steps': None if said is None else said.steps,
            'stoppable_margin': None if said is None else said.margin,
        }


def _with_category(robot_file: RobotFile, cause: str, category: int | None) -> RobotFile:
    """Return the robot file with a category of the stop after a cause."""
    if category is None:
        return robot_file
    kind = KINDS[cause]
    name: str = f'on_{cause}'
    value: Any = {**{number: name for name, number in STOPS.items()}, 0: kind.reaction}.get(
        category
    )
    if cause == EMERGENCY_STOP:
        name, value = 'emergency_stop_category', category
    safety = {**robot_file.sections.get('safety', {}), name: value}
    SafetyParameters.read({name: value})
    return replace(robot_file, sections={**robot_file.sections, 'safety': safety})


def _seeded(robot_file: RobotFile, number: int) -> RobotFile:
    """Return the robot file with the noise of another walk."""
    sensors = robot_file.sections.get('sensors', {})
    seed = robot_file.values(SensorParameters).seed + number
    return replace(
        robot_file, sections={**robot_file.sections, 'sensors': {**sensors, 'seed': seed}}
    )


class _Trial:
    """A walk that is stopped; `time` (s) and `way` (m) say how it came to rest."""

    def __init__(self, robot_file: RobotFile, loop: ControlLoop, plant: str | None) -> None:
        self._plant, self._loop = make_plant(robot_file, plant), loop
        self._measurement = Measurement(robot_file.robot)
        self._injection = Injection(robot_file.robot)
        self._stand_time = robot_file.values(SafetyParameters).stand_time
        self._lean = robot_file.values(SafetyParameters).fall_lean
        self._plant.reset(robot_file.start)
        loop.reset()
        self._begin()
        self._answer()

    def _begin(self) -> None:
        self.time = self.way = math.inf
        self.stoppable: Stoppable | None = None
        self._begun, self._steps = self._plant.time, self._loop.state.steps

    def resume(self) -> bool:
        """Let a robot that stands, with all that it needs, walk on; return whether it does."""
        latch = self._loop.supervisor.fault_latch
        free = self._plant.robot.is_free  # in the plane nothing starts from a stand
        if latch.state is not State.STANDING or self._injection.kind or not free:
            return False
        latch.clear()
        self._loop.resume()
        self._begin()
        return True

    def _answer(self) -> None:
        plant, loop, measurement = self._plant, self._loop, self._measurement
        plant.measure(measurement)
        if plant.lost:
            return
        measurement.stamp = whole_nanoseconds(measurement.stamp)
        told = self._injection.spoil(measurement)
        if self._injection.kind in SILENT:
            age = plant.time - self._stopped
            loop.supervisor.check_age(SILENT[self._injection.kind], age, measurement.stamp)
        try:
            loop.tick(told)
        except BEYOND_THE_LAW as error:
            loop.give_up(f'{type(error).__name__}: {error}', told)

    def _tick(self) -> None:
        self._plant.step(self._loop.command, self._loop.period)
        self._answer()

    def _tick_late(self, ticks: int) -> None:
        """Let answers reach the robot a tick late."""
        loop, late = self._loop, Command(self._plant.robot)
        late.numbers[:], late.lock[:] = loop.command.numbers, loop.command.lock
        for _ in range(ticks):
            self._plant.step(late, loop.period)
            late.numbers[:], late.lock[:] = loop.command.numbers, loop.command.lock
            self._answer()

    def push(self, size: float, direction: float) -> None:
        """Push the base, and walk on for as long as somebody takes to press a button."""
        now = self._plant.time
        self._plant.disturb('push', size, 0, How(time=now, direction=direction))
        while self._loop.fault is None and self._plant.time < now + PUSHED - 1e-9:
            self._tick()

    def walk_to(self, phase: float, speed: float) -> None:
        """Walk to a part of a step, once settled."""
        loop = self._loop
        loop.reference.velocity = np.array([speed, 0.0, 0.0])
        loop.reference.speed = None if self._plant.robot.is_free else speed
        while loop.fault is None and self._plant.time < self._begun + LONGEST:
            state = loop.state
            gone = state.stamp - state.touchdown
            if state.steps >= self._steps + SETTLING and phase * state.step_time <= gone:
                return
            self._tick()
        raise NotAchieved(
            f'{self._plant.robot.name} at {speed:g} m/s',
            value=loop.state.steps,
            limit=str(loop.fault or f'steps within {LONGEST:g} s'),
            remedy='give another --speed, or a robot that walks',
        )

    def stop(self, cause: str) -> str | None:
        """Stop it by a cause; return why it did not stand, or None."""
        plant, loop = self._plant, self._loop
        law, begun = loop.controller, plant.time
        self._stopped = begun
        place = plant.truth.base.position[:2].copy()
        if isinstance(law, StopJudge):
            self.stoppable = law.stoppable()
        if cause in SENSOR_FAULTS:
            self._injection.begin(cause)
        elif cause in LAW_LOST:
            vars(law)['update'] = _raise if cause == INTERNAL else _say_nothing
        else:
            if cause == OVERRUN:
                self._tick_late(LATE)
            loop.stop(cause, 'robustness --stop', self._measurement)
        try:
            reason = self._watch(begun, place)
        finally:
            vars(law).pop('update', None)
        return reason

    def _watch(self, begun: float, place: np.ndarray) -> str | None:
        plant, loop = self._plant, self._loop
        latch, lowered = loop.supervisor.fault_latch, False
        while plant.time < begun + LONGEST:
            self._tick()
            x, y = plant.truth.base.orientation[:2].tolist()
            if math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y))) > self._lean:
                return f'fell {plant.time - begun:.2f} s after {loop.fault}'
            if latch.state not in (*LED, State.WALKING):
                if not lowered:
                    return f'{", ".join(latch.later) or "damped"} after {loop.fault}'
                return None
            if latch.state in (State.STANDING, State.LOWERING) and math.isinf(self.time):
                self.time = plant.time - begun - self._stand_time
                self.way = float(np.linalg.norm(plant.truth.base.position[:2] - place))
            lowered = latch.state is State.LOWERING
            if latch.state is State.STANDING and plant.time > begun + self.time + HOLD:
                return None
        return f'no stop within {LONGEST:g} s: {loop.fault}'


def _raise(*_: Any) -> None:
    raise ArithmeticError('the law was broken')


def _say_nothing(state: Any, reference: Any, dt: float, command: Command) -> None:
    command.effort[:] = math.nan
