# SPDX-License-Identifier: Apache-2.0
"""The cycle a robot settles on by itself, and the eigenvalues of its return map with their errors.

Central differences of the stride function are extrapolated over falling step sizes, which leaves
the error of the integration divided by the step; the difference between the last two extrapolations
says what is left. For the model of [GCRC98] `gaits.simplest_walker` needs no differences.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walking_control.exceptions import IncompatiblePlant, NotAchieved
from walking_control.experiments.cycles import Section
from walking_control.experiments.first_failure import with_section
from walking_control.gaits.return_map import Cycle, judge, polish, sorted_eigenvalues
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.symmetry import require_equal_legs
from walking_control.runs.result import Result
from walking_control.simulation.parameters import RigidParameters
from walking_control.simulation.rigid.compiled import make_walker
from walking_control.simulation.rigid.model import STEPPED

SETTLING = 200   # steps from the start of the robot file to its cycle, at most
STEP_SIZES = (1e-3, 5e-4, 2.5e-4)   # of differences; rad, and rad/s over the pace
TOLERANCE = 1e-13   # of the integration: what is left is divided by the step


class StableCycle:
    """A walker on the plant `rigid` and the limit cycle it settles on.

    Args:
        robot_file: The `RobotFile` of a planar robot.
        controller: Name of the controller; None takes the robot file's default.
        sharp: Whether to integrate as exactly as differences need it.

    Attributes:
        walker: The walker, compiled where that is possible.
        section: `Section` of its return map.
        cycle: The `Cycle`.
        mass: kg.

    Raises:
        IncompatiblePlant: The base is not planar, or more than two coordinates stay free of locks.
        NotAchieved: The walk falls or does not settle.
    """

    def __init__(self, robot_file: RobotFile, controller: str | None = None,
                 sharp: bool = False) -> None:
        robot = robot_file.robot
        if sharp:
            robot_file = with_section(robot_file, RigidParameters.section, {'tolerance': TOLERANCE})
        if not robot.is_planar or not robot.coordinates:
            raise IncompatiblePlant(f'return map of {robot.name}', value=robot.base.value,
                                    limit='these numbers are of planar walkers on plant rigid',
                                    remedy='for others: robustness --disturbance')
        require_equal_legs(robot, f'return map of {robot.name}')
        self.robot_file, self.gravity = robot_file, robot_file.values(World).gravity
        self.walker = make_walker(robot_file, controller)
        self.section = Section(self.walker, self.gravity)
        self.mass = float(Dynamics(robot).mass)
        self.cycle = self._settle()

    @property
    def length_unit(self) -> float:
        """Leg length, m."""
        return float(self.walker.leg_length)

    @property
    def time_unit(self) -> float:
        """The leg's time as a pendulum, sqrt(leg length / gravity), s."""
        return 1.0 / self.section.pace

    def _settle(self) -> Cycle:
        walker, start, robot = self.walker, self.robot_file.start, self.robot_file.robot
        walker.start(robot.feet.index(start.support), start.q, start.v)
        for step in range(SETTLING):
            if walker.walk(self.section.longest, True) != STEPPED:
                raise NotAchieved(f'{robot.name} undisturbed', value=step,
                                  limit='falls after that many steps',
                                  remedy='change start, slope or controller')
        n, free = walker.model.n, self.section.free
        q, v = walker.state.y[2:n + 2], walker.state.y[n + 4:]
        x = polish(self.section.stride, np.concatenate((q[free[:1]], v[free])))
        cycle = None if x is None else judge(self.section.stride, x)
        if cycle is None or not cycle.stable:
            raise NotAchieved(f'stable cycle of {robot.name}',
                              limit=f'the walk is on none after {SETTLING} steps',
                              remedy='change slope or controller; walking_control gait cycle shows '
                              'what cycles there are')
        return cycle


@dataclass(eq=False)
class Eigenvalues(Result):
    """The eigenvalues of a return map and what is known of their errors.

    ``eigenvalues``, largest first; ``eigenvalue_error``, the largest difference to those of the
    next coarser extrapolation; ``q`` and ``v`` of the ``coordinates`` just after touchdown;
    ``period`` (s), ``step_length`` (m), ``speed`` (m/s), ``residual`` of the fixed point.
    """

    eigenvalues: list[complex] | None = None
    eigenvalue_error: float | None = None
    coordinates: list[str] | None = None
    q: list[float] | None = None
    v: list[float] | None = None
    period: float | None = None
    step_length: float | None = None
    speed: float | None = None
    residual: float | None = None


def find_eigenvalues(settled: StableCycle) -> Eigenvalues:
    """Return the `Eigenvalues` of a cycle."""
    section, cycle = settled.section, settled.cycle
    scale = np.array([1.0, section.pace, section.pace])

    def after(x: np.ndarray) -> np.ndarray:
        stride = section.stride(x)
        if stride is None:
            raise NotAchieved('eigenvalues', limit='the walker falls beside its cycle')
        return stride.x

    fine, coarse = (
        np.array([extrapolate(lambda size, i=i: (   # type: ignore[misc]
            after(cycle.x + size * scale[i] * np.eye(3)[i])
            - after(cycle.x - size * scale[i] * np.eye(3)[i])) / (2.0 * size * scale[i]), sizes)
            for i in range(3)]).T for sizes in (STEP_SIZES, STEP_SIZES[:-1]))
    values, rough = sorted_eigenvalues(fine), sorted_eigenvalues(coarse)
    q, v = section.state(cycle.x)
    return Eigenvalues(
        [complex(value) for value in values], np.abs(values - rough).max(),
        [section.walker.robot.coordinates[i] for i in section.reported],
        (q[section.reported] + 0.0).tolist(), (v[section.reported] + 0.0).tolist(),
        cycle.period, cycle.length, cycle.speed, cycle.residual)


def extrapolate(difference: Callable[[float], np.ndarray],
                sizes: tuple[float, ...] = STEP_SIZES) -> np.ndarray:
    """Return the limit of central differences as their size goes to zero (Richardson).

    Args:
        difference: Size -> central difference, whose error is even in the size.
        sizes: Each half of the one before.
    """
    row = [difference(size) for size in sizes]
    for order in range(1, len(row)):
        row = [(4.0 ** order * finer - coarser) / (4.0 ** order - 1.0)
               for coarser, finer in zip(row, row[1:], strict=False)]
    return row[0]
