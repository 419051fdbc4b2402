# SPDX-License-Identifier: Apache-2.0
"""The return map of a walker with all mass in the hip: its section and its starts.

The section is the state just after touchdown: angles and rates of the stance leg. Legs without mass
are where the law puts them, so the swing leg is no part of it. Of a law that follows a line the
distance from the line is one more coordinate.
"""

from collections.abc import Sequence
import math

import numpy as np

from walking_control.controllers.foot_placement.law import FOOT_Y, HEADING, PlacementData
from walking_control.exceptions import IncompatiblePlant
from walking_control.gaits.return_map import Cycle, Stride
from walking_control.models.pendulum import stand
from walking_control.models.robot_file import RobotFile
from walking_control.simulation.rigid.model import STANCE, STEPPED, SUPPORT, TIME
from walking_control.simulation.rigid.point_walk import observe_point, PointWalker

LEG = 2            # coordinates of the stance leg
SPREAD = 0.05      # rad, and times the pace rad/s: how far starts lie from that of the robot file
FAMILY = 1e-5      # eigenvalues this near to 1 mean that the cycle is one of a family


class PointSection:
    """Touchdown states of a `PointWalker`, seen as standing on the first foot.

    Args:
        longest: Longest step, s.
    """

    def __init__(self, walker: PointWalker, robot_file: RobotFile, longest: float) -> None:
        robot = walker.robot
        if robot_file.start.support != robot.feet[0]:
            raise IncompatiblePlant(f'gait cycle of {robot.name}', value=robot_file.start.support,
                                    limit=f'must start on {robot.feet[0]}')
        self.walker, self.longest = walker, longest
        self.reported = list(range(LEG))
        knowledge = walker.knowledge
        self.follows = isinstance(knowledge, PlacementData) and knowledge.lateral[1] > 0.0
        self._heading = float(knowledge.wish[HEADING]) \
            if isinstance(knowledge, PlacementData) else 0.0
        self._start = robot_file.start
        self._count = len(robot.coordinates)

    def state(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return minimal coordinates and rates of section coordinates x."""
        q, v = np.zeros(self._count), np.zeros(self._count)
        q[:LEG], q[LEG:2 * LEG] = x[:LEG], -x[:LEG]
        v[:LEG] = x[LEG:2 * LEG]
        return q, v

    def stride(self, x: np.ndarray) -> Stride | None:
        """Return the `Stride` from x, or None where the robot falls."""
        walker = self.walker
        walker.start(0, *self.state(x))
        beside = 0.0
        if self.follows:   # x counts the hip from the line, the law counts the foot
            beside = walker.data.memory[FOOT_Y] = x[-1] - walker.state.y[1]
        if walker.walk(self.longest, True) != STEPPED:
            return None
        state = walker.state
        if state.mode[STANCE] != 1 or state.mode[SUPPORT] != 1:
            return None
        observe_point(state, walker.data)
        after = [*walker.data.q[:LEG], *walker.data.v[:LEG]]
        if self.follows:
            after.append(-(beside + state.anchor[1] + state.y[1]))
        length = float(state.anchor[:2] @ (math.cos(self._heading), math.sin(self._heading)))
        return Stride(np.array(after), float(state.memo[TIME]), length)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return section coordinates around the start of the robot file, ``(count, m)``."""
        first = np.concatenate((self._start.q[:LEG], self._start.v[:LEG]))
        spread = SPREAD * np.array([1.0, 1.0, *[9.81 ** 0.5] * LEG])
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
        if family:
            alone.append(min(family, key=lambda cycle:
                             float(np.abs(cycle.x[:2 * LEG] - first).max())))
        return alone


def is_family(cycle: Cycle) -> bool:
    """Return whether there is a cycle beside every cycle, as where energy is kept as it is."""
    return bool(np.abs(cycle.eigenvalues - 1.0).min() < FAMILY)
