# SPDX-License-Identifier: Apache-2.0
"""Limit cycles of a robot on the rigid plant: the work behind `gait cycle`.

The section of the return map is the state just after touchdown, both feet on the floor and locked
joints at rest: the first minimal coordinate and the rates of all that are not locked. A sampled law
restarts its clock at each touchdown. Of a walker with all mass in the hip the swing leg is no part
of it; of a law that follows a line the distance from the line is one more coordinate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np

from walking_control.controllers import CONTROLLERS
from walking_control.controllers.foot_placement.law import FOOT_Y, HEADING, PlacementData
from walking_control.exceptions import IncompatiblePlant, require
from walking_control.lab.experiments.impact import (
    free_coordinates,
    lock_angles,
    reported_coordinates,
)
from walking_control.models import Base, Choice, require_equal_legs, RobotFile, stand, Start, World
from walking_control.runs import Run
from walking_control.search.return_map import Cycle, find_cycles, Stride
from walking_control.simulation import make_walker, Walker
from walking_control.simulation.massless.walk import observe_point, PointWalker
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.simulate import simulate

FLOOR_ROUNDS = 8  # of Newton's method that puts a foot on the floor
LEG = 2  # coordinates of the stance leg
SPREAD = 0.05  # rad, and times the pace rad/s: how far starts lie from that of the robot file
FAMILY = 1e-5  # eigenvalues this near to 1 mean that the cycle is one of a family
# In units of sqrt(leg length / gravity): in a longer step the leg swings more than once.
LONGEST_STRIDE = 5.0
STARTS, FEW_STARTS = 3000, 150


class PointSection:
    """Touchdown states of a `PointWalker` on its first foot, steps at most `longest` seconds."""

    def __init__(self, walker: PointWalker, robot_file: RobotFile, longest: float) -> None:
        robot = walker.robot
        require(
            robot_file.start.support == robot.feet[0],
            f'gait cycle of {robot.name}',
            value=robot_file.start.support,
            limit=f'must start on {robot.feet[0]}',
            error=IncompatiblePlant,
        )
        self.walker, self.longest = walker, longest
        self.reported = list(range(LEG))
        knowledge = walker.knowledge
        self.follows = isinstance(knowledge, PlacementData) and knowledge.lateral[1] > 0.0
        self._heading = (
            float(knowledge.wish[HEADING]) if isinstance(knowledge, PlacementData) else 0.0
        )
        self.scale = np.ones(2 * LEG + self.follows)  # see `Section`
        self._start = robot_file.start
        self._count = len(robot.coordinates)

    def state(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return minimal coordinates and rates of section coordinates x."""
        q, v = np.zeros(self._count), np.zeros(self._count)
        q[:LEG], q[LEG : 2 * LEG] = x[:LEG], -x[:LEG]
        v[:LEG] = x[LEG : 2 * LEG]
        return q, v

    def stride(self, x: np.ndarray) -> Stride | None:
        """Return the `Stride` from x, or None where the robot falls."""
        walker = self.walker
        walker.start(0, *self.state(x))
        beside = 0.0
        if self.follows:  # x counts the hip from the line, the law counts the foot
            beside = walker.data.memory[FOOT_Y] = x[-1] - walker.state.y[1]
        if walker.walk(self.longest, True) != rm.STEPPED:
            return None
        state = walker.state
        if state.mode[rm.STANCE] != 1 or state.mode[rm.SUPPORT] != 1:
            return None
        observe_point(state, walker.data)
        after = [*walker.data.q[:LEG], *walker.data.v[:LEG]]
        if self.follows:
            after.append(-(beside + state.anchor[1] + state.y[1]))
        length = float(state.anchor[:2] @ (math.cos(self._heading), math.sin(self._heading)))
        return Stride(np.array(after), float(state.memo[rm.TIME]), length)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return section coordinates around the start of the robot file, ``(count, m)``."""
        first = np.concatenate((self._start.q[:LEG], self._start.v[:LEG]))
        spread = SPREAD * np.array([1.0, 1.0, *[9.81**0.5] * LEG])
        points = first + spread * rng.uniform(-1.0, 1.0, (count, len(first)))
        if self.follows:
            y = np.zeros(6)
            sides = []
            for q4, q5, _, _ in points:
                stand(q4, q5, 0.0, 0.0, self.walker.leg_length, y)
                sides.append(y[1] + rng.uniform(-0.05, 0.05))
            points = np.column_stack((points, sides))
        return points

    def keep(self, cycles: Sequence[Cycle]) -> list[Cycle]:
        """Return the cycles that are worth reporting: of a family the one nearest to the start."""
        first = np.concatenate((self._start.q[:LEG], self._start.v[:LEG]))
        alone = [cycle for cycle in cycles if not is_family(cycle)]
        family = [cycle for cycle in cycles if is_family(cycle)]
        family.sort(key=lambda cycle: float(np.abs(cycle.x[: 2 * LEG] - first).max()))
        return alone + family[:1]


def is_family(cycle: Cycle) -> bool:
    """Return whether there is a cycle beside every cycle, as where energy is kept as it is."""
    return bool(np.abs(cycle.eigenvalues - 1.0).min() < FAMILY)


class Section:
    """Touchdown states of a planar walker, as `start` is one where more than two angles are free.

    IncompatiblePlant: fewer are, or they need a start.
    """

    def __init__(self, walker: Walker, gravity: float, start: Start | None = None) -> None:
        robot = walker.robot
        self.walker = walker
        self._base_q = lock_angles(robot)
        self.free, self.reported = free_coordinates(robot), reported_coordinates(robot)
        require(
            walker.leg_length > 0.0,
            f'leg length of {robot.name}',
            value=walker.leg_length,
            limit='must be above 0 m',
            error=IncompatiblePlant,
        )
        require(
            len(self.free) >= 2 and (len(self.free) <= 2 or start is not None),
            f'gait cycle of {robot.name}',
            value=[robot.coordinates[i] for i in self.free],
            limit='needs two coordinates free of locks at touchdown',
            error=IncompatiblePlant,
        )
        self._start = None
        if len(self.free) > 2 and start is not None:
            self._start, self._base_q = self.point(start.q, start.v), start.q
        self.pace = math.sqrt(gravity / walker.leg_length)  # 1/s
        self.longest = LONGEST_STRIDE / self.pace
        # of section coordinates: angles count in rad, rates as shares of the pace
        self.scale = np.repeat([1.0, self.pace], [len(self.free) - 1, len(self.free)])

    def state(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return minimal coordinates and rates of section coordinates x."""
        q, v, last = self._base_q.copy(), np.zeros_like(self._base_q), self.free[-1]
        q[self.free[:-1]], v[self.free] = np.split(x, [len(self.free) - 1])
        if self._start is None:
            q[last] = -2.0 * x[0]
            return q, v
        support = self.walker.support
        for _ in range(FLOOR_ROUNDS):  # the last coordinate puts the foot on the floor
            terms = support.layout.split(support.terms(0, q, v))
            q[last] -= terms['foot'][1] / terms['jacobian'][1, last]
        return q, v

    def point(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the section coordinates of a state just after touchdown."""
        return np.concatenate((q[self.free[:-1]], v[self.free]))

    def stride(self, x: np.ndarray) -> Stride | None:
        """Return the `Stride` from x, or None where the robot falls or a lock stays open."""
        walker, model = self.walker, self.walker.model
        walker.start(0, *self.state(x))
        if walker.walk(self.longest, True) != rm.STEPPED:
            return None
        mode, memo = walker.state.mode, walker.state.memo
        locks = mode[
            rm.FIRST_STOP + model.n_joints : rm.FIRST_STOP + model.n_joints + model.n_locks
        ]
        if mode[rm.STANCE] != 1 or mode[rm.SUPPORT] != 1 or not locks.all():
            return None
        after = self.point(walker.state.y[2 : model.n + 2], walker.state.y[model.n + 4 :])
        return Stride(after, float(memo[rm.TIME]), float(memo[rm.STEP_LENGTH]))

    def keep(self, cycles: Sequence[Cycle]) -> list[Cycle]:
        """Return the cycles that are worth reporting: all."""
        return list(cycles)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return section coordinates of walking robots, ``(count, 2 n - 1)``."""
        pace = self.pace
        if self._start is not None:
            return self._start[np.newaxis]
        return np.column_stack(
            (
                rng.uniform(0.03, 0.5, count),
                pace * rng.uniform(-0.8, -0.03, count),
                pace * rng.uniform(-0.6, 0.6, count),
            )
        )


@dataclass(frozen=True)
class LimitCycle:
    """A limit cycle, at the start of a step just after touchdown.

    Args:
        q, v: Minimal coordinates (rad) and rates (rad/s), as ``coordinates`` of `RobotCycles`.
        period: Of a step, s.
        step_length: m.
        speed: m/s.
        eigenvalues: Of the return map.
        stable: Whether all are within the unit circle.
        residual: How far the map misses the cycle.
        foot_depth, foot_depth_ahead, scuff_reach: See `foot_in_floor`, m.
    """

    q: list[float]
    v: list[float]  # their rates, rad/s
    period: float
    step_length: float
    speed: float
    eigenvalues: list[complex]
    stable: bool
    residual: float
    foot_depth: float | None  # m, as the next two: see `foot_in_floor`
    foot_depth_ahead: float | None
    scuff_reach: float | None


@dataclass(frozen=True)
class RobotCycles:
    """The limit cycles of a robot.

    Args:
        robot, controller, plant: Names.
        coordinates: Names of those in ``q`` and ``v`` of a cycle.
        slope: rad, downhill positive.
        starts: How many were tried.
    """

    robot: str
    controller: str
    plant: str
    coordinates: list[str]
    slope: float
    starts: int
    cycles: list[LimitCycle]

    def summary(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {**vars(self), 'cycles': [vars(cycle).copy() for cycle in self.cycles]}


def make_section(
    robot_file: RobotFile, controller: str | None
) -> tuple[Section | PointSection, int]:
    """Return the section of a robot's return map, and from how many starts to search it."""
    require_equal_legs(robot_file.robot, f'gait cycle of {robot_file.robot.name}')
    gravity, walker = robot_file.values(World).gravity, make_walker(robot_file, controller)
    if isinstance(walker, PointWalker):
        longest = LONGEST_STRIDE * math.sqrt(walker.leg_length / gravity)
        return PointSection(walker, robot_file, longest), FEW_STARTS
    return Section(walker, gravity, robot_file.start), STARTS if walker.is_compiled else FEW_STARTS


def find_robot_cycles(
    robot_file: RobotFile,
    controller: Choice = None,
    seed: int = 0,
    starts: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> RobotCycles:
    """Return the periodic walks of a planar robot on its slope, stable or not: `RobotCycles`.

    Args:
        robot_file: The `RobotFile`.
        controller: Name, ``module:Class`` or class; None takes the robot file's default.
        seed: Of the random states that the search starts from.
        starts: How many; None takes many where strides are compiled and few where not.
        progress: Called with the share done now and then, from 0 to 1.

    Raises:
        NotAchieved: No cycle; says what was tried.
        InvalidInput: The legs differ, so that a step with one is none with the other.
    """
    robot_file, controller = robot_file.choose(CONTROLLERS, controller)
    section, usual = make_section(robot_file, controller)
    starts = starts or usual
    points = section.sample(np.random.default_rng(seed), starts)
    cycles = section.keep(find_cycles(section.stride, points, progress=progress))
    return RobotCycles(
        robot_file.robot.name,
        controller or robot_file.controller,
        'rigid',
        [section.walker.robot.coordinates[i] for i in section.reported],
        robot_file.values(World).slope,
        starts,
        [_describe(section, cycle) for cycle in cycles],
    )


def walk_cycle(
    robot_file: RobotFile,
    cycle: Mapping[str, Any],
    controller: str | None = None,
    duration: float = 4.0,
) -> Run:
    """Return the `Run` of a cycle, by name as in a summary, by plant and control loop."""
    robot = robot_file.robot
    reported = reported_coordinates(robot)
    q, v = lock_angles(robot), np.zeros(len(robot.coordinates))
    if robot.base is Base.TRANSLATING:
        q[:4], v[:2] = [*cycle['q'], *(-angle for angle in cycle['q'])], cycle['v']
    else:
        q[reported], v[reported] = cycle['q'], cycle['v']
    start = Start(robot.feet[0], q, v)
    return simulate(replace(robot_file, start=start), controller, 'rigid', duration)


def _describe(section: Section | PointSection, cycle: Cycle) -> LimitCycle:
    section.stride(cycle.x)  # leaves the memo of this step
    q, v = section.state(cycle.x)
    q, v = q[section.reported] + 0.0, v[section.reported] + 0.0
    return LimitCycle(
        q.tolist(),
        v.tolist(),
        cycle.period,
        cycle.length,
        cycle.speed,
        [complex(value) for value in cycle.eigenvalues],
        cycle.stable,
        cycle.residual,
        **rm.foot_in_floor(section.walker.state.memo),
    )
