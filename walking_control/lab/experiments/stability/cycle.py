# SPDX-License-Identifier: Apache-2.0
"""The cycle a robot settles on by itself: eigenvalues of its return map, gait sensitivity norm.

Central differences of the stride function are extrapolated over falling step sizes; the difference
between the last two extrapolations says what error is left. The norm of Hobbelen and Wisse [HW07]
is the root of the sum of squares by which gait indicators stray after one small disturbance, per
its size: the H2 norm of the linearised return map. See doc/stability.md.
"""

from collections.abc import Callable
import math
from typing import Any

import numpy as np

from walking_control.exceptions import given, IncompatiblePlant, NotAchieved, require
from walking_control.lab.experiments.cycles import Section
from walking_control.models import Dynamics, require_equal_legs, RobotFile, with_section, World
from walking_control.runs import plain
from walking_control.search.return_map import Cycle, judge, polish, sorted_eigenvalues
from walking_control.simulation import make_walker, RigidParameters, STEP_LENGTH, STEPPED, TIME

SETTLING = 200  # steps from the start of the robot file to its cycle, at most
STEP_SIZES = (1e-3, 5e-4, 2.5e-4)  # of differences; rad, and rad/s over the pace
TOLERANCE = 1e-13  # of the integration: what is left is divided by the step
INDICATORS = {'step_time': 's', 'step_length': 'm'}
# disturbance -> size of differences, in leg lengths or in the leg's pendulum speed
DISTURBANCES = {'floor': 4e-5, 'push': 4e-5}
FORGOTTEN, MOST_STEPS = 1e-6, 2000  # share of the disturbance left at the last step that counts


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

    def __init__(
        self, robot_file: RobotFile, controller: str | None = None, sharp: bool = False
    ) -> None:
        robot = robot_file.robot
        if sharp:
            robot_file = with_section(robot_file, RigidParameters.section, {'tolerance': TOLERANCE})
        require(
            robot.is_planar and robot.coordinates,
            f'return map of {robot.name}',
            value=robot.base.value,
            limit='these numbers are of planar walkers on plant rigid',
            remedy='for others: robustness --disturbance',
            error=IncompatiblePlant,
        )
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
            require(
                walker.walk(self.section.longest, True) == STEPPED,
                f'{robot.name} undisturbed',
                value=step,
                limit='falls after that many steps',
                remedy='change start, slope or controller',
                error=NotAchieved,
            )
        n = walker.model.n
        x = polish(
            self.section.stride,
            self.section.point(walker.state.y[2 : n + 2], walker.state.y[n + 4 :]),
        )
        cycle = None if x is None else judge(self.section.stride, x)
        if cycle is None or not cycle.stable:
            raise NotAchieved(
                f'stable cycle of {robot.name}',
                limit=f'the walk is on none after {SETTLING} steps',
                remedy='change slope or controller; walking_control gait cycle shows '
                'what cycles there are',
            )
        return cycle


def find_eigenvalues(settled: StableCycle) -> dict[str, Any]:
    """Return the eigenvalues of the return map and what is known of their errors.

    Returns:
        Dictionary: ``eigenvalues``, largest first; ``eigenvalue_error``, the largest difference to
        those of the next coarser extrapolation; ``coordinates``, their ``q`` and ``v`` just after
        touchdown;
        ``period`` (s), ``step_length`` (m), ``speed`` (m/s), ``residual`` of the fixed point.
    """
    section, cycle = settled.section, settled.cycle
    scale = np.array([1.0, section.pace, section.pace])

    def after(x: np.ndarray) -> np.ndarray:
        stride = given(
            section.stride(x),
            'eigenvalues',
            limit='the walker falls beside its cycle',
            error=NotAchieved,
        )
        return stride.x

    fine, coarse = (
        np.array(
            [
                extrapolate(
                    lambda size, i=i: (
                        (  # type: ignore[misc]
                            after(cycle.x + size * scale[i] * np.eye(3)[i])
                            - after(cycle.x - size * scale[i] * np.eye(3)[i])
                        )
                        / (2.0 * size * scale[i])
                    ),
                    sizes,
                )
                for i in range(3)
            ]
        ).T
        for sizes in (STEP_SIZES, STEP_SIZES[:-1])
    )
    values, rough = sorted_eigenvalues(fine), sorted_eigenvalues(coarse)
    q, v = section.state(cycle.x)
    return {
        'eigenvalues': [complex(value) for value in values],
        'eigenvalue_error': float(np.abs(values - rough).max()),
        'coordinates': [section.walker.robot.coordinates[i] for i in section.reported],
        'q': (q[section.reported] + 0.0).tolist(),
        'v': (v[section.reported] + 0.0).tolist(),
        'period': cycle.period,
        'step_length': cycle.length,
        'speed': cycle.speed,
        'residual': cycle.residual,
    }


def extrapolate(
    difference: Callable[[float], np.ndarray], sizes: tuple[float, ...] = STEP_SIZES
) -> np.ndarray:
    """Return the limit of central differences as their size goes to zero (Richardson).

    Args:
        difference: Size -> central difference, whose error is even in the size.
        sizes: Each half of the one before.
    """
    row = [difference(size) for size in sizes]
    for order in range(1, len(row)):
        row = [
            (4.0**order * finer - coarser) / (4.0**order - 1.0)
            for coarser, finer in zip(row, row[1:], strict=False)
        ]
    return row[0]


def find_sensitivity(settled: StableCycle) -> dict[str, Any]:
    """Return the gait sensitivity norms of a walk ([HW07]).

    Returns:
        Dictionary: ``sensitivity``, disturbance (floor: one foothold lower by 1 m; push: 1 N s per
        kg of robot along the walk just after touchdown) -> indicator (step_time, s; step_length,
        m) -> norm; ``gait_sensitivity_norm``, step time over floor height, no units;
        ``sensitivity_steps`` that count; ``responses``, disturbance -> indicator -> change of each
        step per unit of the disturbance.
    """
    largest = max(float(abs(settled.cycle.eigenvalues[0])), 1e-3)
    steps = min(MOST_STEPS, 5 + math.ceil(math.log(FORGOTTEN) / math.log(largest)))
    units = {'floor': settled.length_unit, 'push': settled.length_unit / settled.time_unit}
    responses = {}
    for kind, share in DISTURBANCES.items():
        size = share * units[kind]
        response = extrapolate(
            lambda size, kind=kind: (
                (
                    walk_disturbed(settled, kind, size, steps)  # type: ignore[misc]
                    - walk_disturbed(settled, kind, -size, steps)
                )
                / (2.0 * size)
            ),
            (size, 0.5 * size, 0.25 * size),
        )
        responses[kind] = dict(zip(INDICATORS, response.T, strict=True))
    norms = {
        kind: {name: float(np.linalg.norm(values)) for name, values in rows.items()}
        for kind, rows in responses.items()
    }
    norm = norms['floor']['step_time'] * settled.length_unit / settled.time_unit
    return {
        'sensitivity': norms,
        'gait_sensitivity_norm': norm,
        'sensitivity_steps': steps,
        'responses': plain(responses),
    }


def walk_disturbed(settled: StableCycle, kind: str, size: float, steps: int) -> np.ndarray:
    """Return the indicators of steps from the cycle after one disturbance, ``(steps, 2)``.

    ``'floor'`` lowers the first foothold by the size, m; ``'push'`` is N s per kg just after
    touchdown.

    Raises:
        NotAchieved: The walker falls.
    """
    walker, section = settled.walker, settled.section
    drops = walker.model.drops
    walker.start(0, *section.state(settled.cycle.x))
    if kind == 'push':
        walker.push(size * settled.mass)
    before, drops[1] = drops[1], size if kind == 'floor' else 0.0
    indicators = np.empty((steps, len(INDICATORS)))
    time = 0.0
    try:
        for row in indicators:
            require(
                walker.walk(section.longest, True) == STEPPED,
                'gait sensitivity',
                value=size,
                limit=f'so small a disturbance ({kind}) fells the walker',
                error=NotAchieved,
            )
            memo = walker.state.memo
            row[:] = memo[TIME] - time, memo[STEP_LENGTH]
            time = memo[TIME]
    finally:
        drops[1] = before
    return indicators
