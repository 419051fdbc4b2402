# SPDX-License-Identifier: Apache-2.0
"""A limit cycle of the rigid plant as a gait: phases between its events, polynomials of time.

Within a tick the plant is asked again and again from the same snapshot, so that switches and
samples are as accurate as its own event location. A phase ends where a lock or joint stop takes or
frees a joint, or where an impact makes the rates jump; touchdown ends the last one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.exceptions import NotAchieved, require
from walking_control.gaits import Gait, gait_document, Phase, points, write_gait
from walking_control.lab.experiments.impact import lock_angles, reported_coordinates
from walking_control.models import Robot, RobotFile, with_section
from walking_control.simulation import arrays_of, make_walker, Walker
from walking_control.simulation.rigid import model as rm

TOLERANCE = 1e-13  # local error of the integration
INSTANT = 1e-12  # s, to which events within a step are known
NEAR = 1e-11  # s: as near before an event as samples are taken
SHORTEST = 1e-7  # s: events closer than this are one
SAME_LOSS = 1e-10  # J: impacts that lose less are the rounding of another one
DEGREES = (*range(8, 41, 4), 48, 56, 64, 80)
GOOD_Q, GOOD_V = 1e-10, 1e-8  # rad and rad/s: error at which a degree is high enough
FIT_POINTS = 97


class CycleError(NotAchieved):
    """A cycle is not a gait of phases with held coordinates."""


@dataclass(frozen=True)
class CycleGait:
    """A limit cycle as a gait.

    Attributes:
        gait: `Gait`.
        error_q: Largest error of the polynomials between their points, rad.
        error_v: Of their rates, rad/s.
    """

    gait: Gait
    error_q: float
    error_v: float


class StepRecord:
    """One step of a walker that can be asked for its state at any time.

    Args:
        q: Minimal coordinates just after touchdown, first foot standing, ``(n,)``.
        v: Their rates.
        longest: s, within which the step must end.

    Attributes:
        period: s.
        events: Times within the step at which rates jump or a joint is taken or freed, s.

    Raises:
        CycleError: No step within that time.
    """

    def __init__(self, walker: Walker, q: np.ndarray, v: np.ndarray, longest: float) -> None:
        self._walker = walker
        self._tick = min(walker.data.period, longest)
        self._ticks: list[tuple[float, list[np.ndarray]]] = []
        self.events: list[float] = []
        walker.start(0, q, v)
        status = rm.DONE
        while status == rm.DONE and self._now() < longest:
            self._ticks.append((self._now(), [array.copy() for array in arrays_of(walker)]))
            status = walker.walk(self._tick, True)
            end = self._now()
            if status not in (rm.DONE, rm.STEPPED):
                break
            self._find_events(min(self._tick, end - self._ticks[-1][0]), status)
        require(
            status == rm.STEPPED,
            'cycle',
            limit=f'makes no step within {longest:.3g} s',
            error=CycleError,
        )
        self.period = end

    def state(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinates, rates and mode at a time within the step."""
        at = max(i for i, (begin, _) in enumerate(self._ticks) if begin <= time)
        self._go(at, time - self._ticks[at][0])
        state, n = self._walker.state, self._walker.model.n
        return state.y[2 : n + 2].copy(), state.y[n + 4 :].copy(), state.mode.copy()

    def _now(self) -> float:
        return float(self._walker.state.memo[rm.TIME])

    def _go(self, at: int, duration: float) -> tuple[np.ndarray, float]:
        """Walk on from the begin of a tick for a duration; return mode and energy lost."""
        rm.put_back(arrays_of(self._walker), self._ticks[at][1])
        if duration > 0.0:
            self._walker.walk(duration, True)
        return self._walker.state.mode.copy(), float(self._walker.state.memo[rm.LOSS])

    def _find_events(self, duration: float, status: int) -> None:
        """Note the events of the last tick, but for the touchdown that ends the step."""
        at = len(self._ticks) - 1
        after = [array.copy() for array in arrays_of(self._walker)]
        # what a command changes at once belongs to the begin of the tick
        first, begin = 0.0, self._ticks[at][0]
        before = self._go(at, 0.0) if begin > 0.0 else self._go(at, NEAR)
        last = duration - (SHORTEST if status == rm.STEPPED else 0.0)
        ending = self._go(at, last)
        while not _alike(before, ending):
            low, high = first, last
            while high - low > INSTANT:
                middle = 0.5 * (low + high)
                passed = not _alike(self._go(at, middle), before)
                low, high = (low, middle) if passed else (middle, high)
            self.events.append(begin + high)
            first = min(high + SHORTEST, last)
            before = self._go(at, first)
        rm.put_back(arrays_of(self._walker), after)


def _alike(one: tuple[np.ndarray, float], other: tuple[np.ndarray, float]) -> bool:
    """Return whether no event lies between two states, given as mode and energy lost."""
    return np.array_equal(one[0], other[0]) and abs(one[1] - other[1]) < SAME_LOSS


def held_coordinates(robot: Robot, model: rm.RigidModel, mode: np.ndarray) -> tuple[int, ...]:
    """Return the indices of the coordinates that engaged locks and stops hold in a mode.

    Raises:
        CycleError: The stance foot is in the air, the other one on the floor, or a joint is held
            that is no coordinate.
    """
    require(
        mode[rm.SUPPORT] == 0 and mode[rm.STANCE] == 1 and mode[rm.SWING] == 0,
        'cycle',
        limit='has a phase with both feet or none on the floor',
        error=CycleError,
    )
    stops = mode[rm.FIRST_STOP : rm.FIRST_STOP + model.n_joints]
    locks = mode[rm.FIRST_STOP + model.n_joints : rm.FIRST_STOP + model.n_joints + model.n_locks]
    joints = {i for i, stop in enumerate(stops) if stop} | {
        int(model.lock_joint[i]) for i, lock in enumerate(locks) if lock
    }
    held = []
    for joint in joints:
        row = model.lift[0, 1 + joint]
        require(
            np.count_nonzero(row) == 1,
            'cycle',
            value=robot.joints[joint],
            limit='is held while not one of the minimal coordinates',
            error=CycleError,
        )
        held.append(int(np.argmax(np.abs(row))))
    return tuple(sorted(held))


def make_gait(record: StepRecord, robot: Robot, model: rm.RigidModel) -> CycleGait:
    """Return the `CycleGait` of a `StepRecord`."""
    bounds = [
        0.0,
        *(time for time in record.events if SHORTEST < time < record.period - SHORTEST),
        record.period,
    ]
    fits = [_fit(record, robot, model, *pair) for pair in zip(bounds[:-1], bounds[1:])]
    phases, errors_q, errors_v = zip(*fits)
    return CycleGait(Gait(phases), max(errors_q), max(errors_v))


def _fit(
    record: StepRecord, robot: Robot, model: rm.RigidModel, start: float, end: float
) -> tuple[Phase, float, float]:
    """Return the `Phase` between two times with its errors, of the lowest degree that will do."""
    held = held_coordinates(robot, model, record.state(0.5 * (start + end))[2])
    begin, length = start + NEAR, end - start - 2.0 * NEAR
    between = (np.arange(FIT_POINTS) + 0.5) / FIT_POINTS
    q_true, v_true = _samples(record, begin + length * between)
    fits = []
    for degree in DEGREES:
        values = _samples(record, begin + length * points(degree))[0]
        values[:, held] = np.round(values[0, held], 9)  # located to an instant
        # finer digits are rounding, and ugly where a coordinate is zero
        phase = Phase(float(end - start), np.round(values, 15) + 0.0, held)
        q, v, _ = phase.motion(between)
        errors = float(np.abs(q - q_true).max()), float(np.abs(v - v_true).max())
        fits.append((phase, *errors))
        if errors[0] < GOOD_Q and errors[1] < GOOD_V:
            break
    return min(fits, key=lambda fit: fit[2])


def _samples(record: StepRecord, times: np.ndarray) -> tuple[np.ndarray, ...]:
    states = [record.state(time)[:2] for time in times]
    return tuple(np.array(part) for part in zip(*states, strict=True))


def make_precise_walker(robot_file: RobotFile, controller: str | None = None) -> Walker:
    """Return the walker of a robot file with the tolerance that gaits take."""
    return make_walker(with_section(robot_file, 'rigid', {'tolerance': TOLERANCE}), controller)


def gait_of_cycle(walker: Walker, cycle: Mapping[str, Any]) -> CycleGait:
    """Return the `CycleGait` of a cycle in a summary, walked by one of `make_precise_walker`.

    Raises:
        CycleError: It has a phase with both feet or none on the floor.
    """
    robot = walker.robot
    reported = reported_coordinates(robot)
    q, v = lock_angles(robot), np.zeros(len(robot.coordinates))
    q[reported], v[reported] = cycle['q'], cycle['v']
    return make_gait(StepRecord(walker, q, v, 1.5 * cycle['period']), robot, walker.model)


def save_cycles(robot_file: RobotFile, result: dict[str, Any], directory: Path) -> list[str]:
    """Write the cycles of a result as gait files, each one's ``file`` noted in it.

    A cycle that is no gait of phases gets ``file`` None and a ``reason``.

    Returns:
        List of the paths written.

    Raises:
        InvalidInput: The directory cannot be written.
    """
    if not robot_file.robot.is_planar:
        for cycle in result['cycles']:
            cycle['file'], cycle['reason'] = None, 'gait files of cycles are those of planar robots'
        return []
    walker = make_precise_walker(robot_file, result['controller'])
    for i, cycle in enumerate(result['cycles']):
        cycle['file'] = cycle['reason'] = None
        try:
            found = gait_of_cycle(walker, cycle)
        except CycleError as error:
            cycle['reason'] = str(error)
            continue
        document = cycle_document(robot_file, cycle, found, result['controller'])
        cycle['file'] = str(write_gait(document, directory / f'cycle_{i}.yaml'))
    return [cycle['file'] for cycle in result['cycles'] if cycle['file'] is not None]


def cycle_document(
    robot_file: RobotFile, cycle: Mapping[str, Any], found: CycleGait, controller: str | None
) -> dict[str, Any]:
    """Return the gait document of a cycle, its `CycleGait` and the controller's name."""
    figures = {key: cycle[key] for key in ('period', 'step_length', 'speed', 'stable', 'residual')}
    figures['eigenvalues'] = [[value.real, value.imag] for value in cycle['eigenvalues']]
    figures['fit_error_q'], figures['fit_error_v'] = found.error_q, found.error_v
    return gait_document(
        robot_file,
        found.gait,
        figures,
        {'method': 'fixed point of the return map', 'controller': controller, 'plant': 'rigid'},
    )
