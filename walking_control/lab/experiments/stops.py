# SPDX-License-Identifier: Apache-2.0
"""Whether a walker that is stopped stands: the work behind `robustness --stop`.

A robot walks until it has settled, then on and on. At a part of each step a copy of the process is
stopped by each cause (see `branches`); it shall come to rest on both feet, and stay there. Whether
it fell is judged by the plant's own state.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
import math
from typing import Any

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.controllers import StopJudge
from walking_control.exceptions import NotAchieved, require, require_known
from walking_control.lab.experiments import branches, margins
from walking_control.models import Command, Measurement, RobotFile, with_section
from walking_control.safety import LED, SafetyParameters, State
from walking_control.safety.faults import EMERGENCY_STOP, INTERNAL, KINDS, LAW_LOST, OVERRUN, STOPS
from walking_control.simulation import How, Injection, make_plant, SENSOR_FAULTS, Walk

SPEEDS = 5  # shares of the largest one, one after another
SETTLING = 10  # steps
LONGEST = 20.0  # s of settling, and of a stop
HOLD = 1.0  # s for which a robot that has come to a stand stays there
SOON = 1.5  # s after which a robot that is stopped should be at rest
PUSHED = 0.2  # s from a push to the stop
# parts of the largest push and of a turn from a push to the next one: they fill a square evenly
SIZED, TURNED = 0.7548776662, 0.5698402910
LATE = 10  # ticks in a row whose answer comes a tick late, before an overrun is said
WARNED = 0.3  # s before a fall by which somebody should know
JUDGED = 0.01  # s between two looks at what the step plan says of one that is stopped
SILENT = {'stale_imu': 'imu', 'stale_contact': 'contact'}  # sensors that say no more
TRIED = tuple(
    code
    for code, kind in KINDS.items()
    if kind.category and code in {*SENSOR_FAULTS, *LAW_LOST, EMERGENCY_STOP, OVERRUN}
)


def try_stops(
    robot_file: RobotFile,
    causes: Sequence[str] = (EMERGENCY_STOP,),
    starts: int = 48,
    speed: float = 0.5,
    push: Sequence[float] = (0.0, 0.0),
    processes: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Stop a walker at many parts of a step, at five speeds, by one or more causes.

    Args:
        robot_file: The `RobotFile`; its categories of stops are tried, see `with_category`.
        causes: Codes of faults that sensors or the law can provoke, or that are only said;
            ``('all',)``: all after which a stop of category 1 or 2 is the default.
        starts: How many stops of each cause.
        speed: The largest, m/s; the others are shares of it.
        push: Smallest and largest impulse on the base 0.2 s before the stop, N s per kg of robot;
            size and direction differ from start to start.
        processes: How many stops are tried at a time; None takes one for each processor.
        progress: Called with the share of starts, 0 to 1, after each.

    Returns:
        The conditions; ``causes``: of each ``cause`` its ``category``, ``starts``, how many
        ``stood``, and were at rest ``soon`` (1.5 s), ``median_time`` and ``worst_time`` (s) until
        the base was at rest, ``worst_way`` (m), and what the law's step plan had said
        (``said_no``, ``said_yes_and_fell``, of those that fell ``warned``: a no that lasted for
        0.3 s); ``trials``: of each start ``cause``, ``phase`` of the step, ``speed``, ``push``,
        whether it ``stood``, ``time``, ``way``, ``why`` not, ``stoppable_steps`` and
        ``stoppable_margin``, and for how long before its fall the plan had said no, ``warned`` (s).

    Raises:
        InvalidInput: An unknown cause, or no law that can stand.
        NotAchieved: The robot does not walk to where it would be stopped.
    """
    require(starts >= 1, 'starts', value=starts, limit='must be at least 1')
    causes = TRIED if tuple(causes) == ('all',) else tuple(causes)
    categories = _categories(robot_file, causes)
    trials: list[dict[str, Any]] = []

    def stops() -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield each stop when its walk has come to where a copy of it is stopped."""
        for number in range(min(SPEEDS, starts)):
            walk = _Trial(robot_file)
            for start in range(number, starts, SPEEDS):
                phase = (start // SPEEDS + 0.5) / math.ceil(starts / SPEEDS)
                walk.walk_to(phase, (1 + number) / SPEEDS * speed)
                size = push[0] + (start * SIZED) % 1.0 * (push[1] - push[0])
                for cause in causes:
                    turn = 2.0 * math.pi * TURNED * start
                    yield cause, partial(walk.stop, cause, start, size, turn)

    with branches.Branches[str](processes or branches.count_processors()) as copies:
        for _, trial in copies.work(stops()):
            trials.append(trial)
            progress(len(trials) / (starts * len(causes)))
    trials.sort(key=lambda trial: (causes.index(trial['cause']), trial.pop('number')))
    return {
        **margins.describe_walks(robot_file),
        'speed': speed,
        'push': list(push),
        'causes': [
            _sum_up(
                cause, categories[cause], [trial for trial in trials if trial['cause'] == cause]
            )
            for cause in causes
        ],
        'trials': trials,
    }


def _sum_up(cause: str, category: int, trials: list[dict[str, Any]]) -> dict[str, Any]:
    times = [trial['time'] for trial in trials if trial['stood']]
    said = [trial for trial in trials if trial['stoppable_steps'] is not None]
    fell = [trial for trial in said if trial['warned'] is not None]
    return {
        'cause': cause,
        'category': category,
        'starts': len(trials),
        'stood': len(times),
        'soon': sum(time <= SOON for time in times),
        'median_time': float(np.median(times)) if times else None,
        'worst_time': max(times, default=None),
        'worst_way': max((trial['way'] for trial in trials if trial['stood']), default=None),
        # what the law's step plan said of it when it was stopped
        'said_no': sum(trial['stoppable_steps'] < 0 for trial in said),
        'said_yes_and_fell': sum(trial['stoppable_steps'] >= 0 for trial in fell),
        'fell': len(fell),
        'warned': sum(trial['warned'] >= WARNED for trial in fell),
    }


def _categories(robot_file: RobotFile, causes: Sequence[str]) -> dict[str, int]:
    """Return the category of the stop after each cause."""
    for cause in causes:
        require_known(cause, KINDS, 'cause', value=cause)
    loop = ControlLoop(robot_file)
    supervisor = loop.supervisor
    require(
        supervisor.stands or supervisor.standby,
        f'stop of {robot_file.robot.name} with {loop.controller.name}',
        limit='needs a law that can stand',
        remedy='choose another controller, or name a standby law',
    )
    safety = robot_file.values(SafetyParameters)
    stands = {
        cause: supervisor.standby or cause not in LAW_LOST and supervisor.stands for cause in causes
    }
    return {cause: STOPS.get(safety.reaction(cause, stands[cause]), 0) for cause in causes}


def with_category(robot_file: RobotFile, causes: Sequence[str], category: int) -> RobotFile:
    """Return the robot file with a category of the stops after some causes.

    Args:
        robot_file: The `RobotFile`.
        causes: As for `try_stops`.
        category: 0 to 2.

    Raises:
        InvalidInput: An unknown cause, or a category that there is not after it.
    """
    causes = TRIED if tuple(causes) == ('all',) else causes
    for cause in causes:
        require_known(cause, KINDS, 'cause', value=cause)
    reactions = {number: name for name, number in STOPS.items()}
    chosen: dict[str, Any] = {
        f'on_{cause}': {0: KINDS[cause].reaction, **reactions}.get(category) for cause in causes
    }
    if EMERGENCY_STOP in causes:
        del chosen[f'on_{EMERGENCY_STOP}']
        chosen['emergency_stop_category'] = category
    SafetyParameters.read(chosen)
    return with_section(robot_file, SafetyParameters.section, chosen)


class _Trial:
    """A walk that is stopped; `time` (s) and `way` (m) say how it came to rest."""

    def __init__(self, robot_file: RobotFile) -> None:
        self._plant, self._loop = make_plant(robot_file), ControlLoop(robot_file)
        self._injection = Injection(robot_file.robot)
        self._stand_time = robot_file.values(SafetyParameters).stand_time
        self._lean = robot_file.values(SafetyParameters).fall_lean
        self._steps = SETTLING
        self.time = self.way = math.inf
        self._judged = -math.inf
        self._refused = math.inf  # since when the step plan says that it cannot be stopped
        ticks = round(LONGEST / self._loop.period)
        self._walk = Walk(self._plant, self._loop, robot_file.start, ticks, self._tell)

    def _tell(self, measurement: Measurement) -> Measurement:
        """Return what the sensors tell, once one of them fails."""
        kind = self._injection.kind
        if kind in SILENT:
            age = self._plant.time - self._stopped
            self._loop.supervisor.check_age(SILENT[kind], age, measurement.stamp)
        return self._injection.spoil(measurement)

    def _tick_late(self, ticks: int) -> None:
        """Let answers reach the robot a tick late."""
        late = deepcopy(self._loop.command)
        for _ in range(ticks):
            now = deepcopy(self._loop.command)
            self._walk.tick(late)
            late = now

    def walk_to(self, phase: float, speed: float) -> None:
        """Walk to a part of a step, once settled: of a later step than the last one."""
        loop = self._loop
        loop.reference.velocity = np.array([speed, 0.0, 0.0])
        loop.reference.speed = None if self._plant.robot.is_free else speed
        self._phase, self._speed = phase, speed

        def arrived() -> bool:
            state = loop.state
            gone = state.stamp - state.touchdown
            return state.steps >= self._steps and phase * state.step_time <= gone

        self._walk.go(round(LONGEST / loop.period), until=arrived)
        require(
            loop.fault is None and arrived(),
            f'{self._plant.robot.name} at {speed:g} m/s',
            value=loop.state.steps,
            limit=str(loop.fault or f'steps within {LONGEST:g} s'),
            remedy='give another --speed, or a robot that walks',
            error=NotAchieved,
        )
        self._steps = loop.state.steps + 1

    def stop(self, cause: str, number: int, push: float, direction: float) -> dict[str, Any]:
        """Push it, if it shall be pushed, and stop it by a cause; return what became of it."""
        plant, loop = self._plant, self._loop
        if push:
            how = How(time=plant.time, direction=direction)
            plant.disturb('push', push, 0, how)
            until = plant.time + PUSHED - 1e-9
            while loop.fault is None and plant.time < until:
                self._walk.tick()
                self._judge()
        law, begun = loop.controller, plant.time
        self._stopped = begun
        place = plant.truth.base.position[:2].copy()
        said = law.stoppable() if isinstance(law, StopJudge) else None
        if cause in SENSOR_FAULTS:
            self._injection.begin(cause)
        elif cause in LAW_LOST:
            vars(law)['update'] = _raise if cause == INTERNAL else _say_nothing
        else:
            if cause == OVERRUN:
                self._tick_late(LATE)
            loop.stop(cause, 'robustness --stop', self._walk.measurement)
        why = self._watch(begun, place)
        return {
            'number': number,
            'cause': cause,
            'phase': self._phase,
            'speed': self._speed,
            'push': push,
            'stood': why is None,
            'time': self.time if why is None else None,
            'way': self.way if why is None else None,
            'why': why,
            'stoppable_steps': None if said is None else said.steps,
            'stoppable_margin': None if said is None else said.margin,
            'warned': None if why is None else max(plant.time - self._refused, 0.0),
        }

    def _judge(self) -> None:
        """Note since when the step plan says without a break that it cannot be stopped."""
        law, now = self._loop.law, self._plant.time
        if isinstance(law, StopJudge) and now >= self._judged + JUDGED - 1e-9:
            self._judged = now
            self._refused = min(self._refused, now) if law.stoppable().steps < 0 else math.inf

    def _watch(self, begun: float, place: np.ndarray) -> str | None:
        plant, loop = self._plant, self._loop
        latch, lowered = loop.supervisor.fault_latch, False
        while plant.time < begun + LONGEST:
            self._walk.tick()
            x, y = plant.truth.base.orientation[:2].tolist()
            if math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y))) > self._lean:
                return f'fell {plant.time - begun:.2f} s after {loop.fault}'
            if latch.state not in (*LED, State.WALKING):
                if not lowered:
                    return f'{", ".join(latch.later) or "damped"} after {loop.fault}'
                return None
            self._judge()
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
