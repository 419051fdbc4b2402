# SPDX-License-Identifier: Apache-2.0
"""What touchdown does to a walker: the work behind `gait impact` ([DS09] section 4.2.2)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from walking_control.exceptions import require
from walking_control.models import (
    Dynamics,
    impact_of_second_foot,
    JointLock,
    loss_matrix,
    project_velocity,
    Robot,
    RobotFile,
    SupportDynamics,
    World,
)


def principal_losses(M: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of energy an impact takes and the velocities that lose them.

    M is the mass matrix, D the loss matrix of [DS09] (4.17), both ``(n, n)``.

    Returns:
        ``(shares, directions)``: between 0 and 1, falling, ``(n,)``; columns of unit
        ``v^T M v``, ``(n, n)`` ([DS09] (4.19) to (4.21)).
    """
    inverse = np.linalg.inv(np.linalg.cholesky(M)).T
    shares, axes = np.linalg.eigh(inverse.T @ D @ inverse)
    return shares[::-1], inverse @ axes[:, ::-1]


class Touchdown:
    """The touchdown of the swing foot with the first foot standing and all locks engaged.

    Args:
        robot_file: The `RobotFile`.
    """

    def __init__(self, robot_file: RobotFile) -> None:
        world = robot_file.values(World)
        self.robot = robot_file.robot
        self._support = SupportDynamics(Dynamics(self.robot, world.gravity, world.slope))
        self.reported = reported_coordinates(self.robot)
        self.free = free_coordinates(self.robot)

    def matrices(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mass matrix and foot constraint matrices (old, new), locked coordinates left out.

        Args:
            q: All minimal coordinates, ``(n,)``.
        """
        layout = self._support.layout
        terms = layout.split(self._support.terms(0, q, np.zeros(layout.n)))
        keep = np.concatenate(([0, 1], 2 + np.array(self.free)))
        A_new = np.vstack((np.eye(2), terms['jacobian'].T))[keep]
        return terms['mass'][np.ix_(keep, keep)], np.eye(len(keep))[:, :2], A_new

    def relabel(self) -> np.ndarray:
        """Return the relabelling of the free coordinates, square."""
        return self._support.relabel(0)[np.ix_(self.free, self.free)]

    def complete(self, q: ArrayLike) -> np.ndarray:
        """Return all minimal coordinates of the reported ones, locked ones at their lock's angle.

        Raises:
            InvalidInput: Not that many numbers, or not finite.
        """
        q = np.asarray(q, dtype=float)
        n = len(self.robot.coordinates)
        names = [self.robot.coordinates[i] for i in self.reported]
        require(
            q.shape in ((len(self.reported),), (n,), (len(self.free),)) and np.isfinite(q).all(),
            'q',
            value=q.tolist(),
            limit=f'must be {len(names)} finite numbers: ' + ', '.join(names),
        )
        full = lock_angles(self.robot)
        full[
            {len(self.free): self.free, len(self.reported): self.reported, n: list(range(n))}[
                len(q)
            ]
        ] = q
        return full


def _locked(robot: Robot) -> Iterator[tuple[int, JointLock, float]]:
    """Yield (coordinate, lock, factor) of locks that hold one minimal coordinate of foot 0."""
    lift = robot.lifts[robot.feet[0]]
    for lock in robot.locks:
        row = lift[1 + robot.joint_index(lock.joint)]
        coordinate = int(np.argmax(np.abs(row)))
        yield coordinate, lock, row[coordinate]


def lock_angles(robot: Robot) -> np.ndarray:
    """Return minimal coordinates with every lock engaged and zero elsewhere."""
    q = np.zeros(len(robot.coordinates))
    for coordinate, lock, factor in _locked(robot):
        q[coordinate] = lock.angle / factor
    return q


def free_coordinates(robot: Robot) -> list[int]:
    """Return the minimal coordinates no lock holds."""
    locked = {coordinate for coordinate, _, _ in _locked(robot)}
    return [i for i in range(len(robot.coordinates)) if i not in locked]


def reported_coordinates(robot: Robot) -> list[int]:
    """Return the minimal coordinates but for those locked throughout stance."""
    locked = {coordinate for coordinate, lock, _ in _locked(robot) if lock.foot == robot.feet[0]}
    return [i for i in range(len(robot.coordinates)) if i not in locked]


def analyse_impact(
    robot_file: RobotFile, q: ArrayLike, v: ArrayLike | None = None
) -> dict[str, Any]:
    """Analyse the touchdown at a configuration.

    Args:
        q: Minimal coordinates at touchdown, as the command line gives them.
        v: Rates of the coordinates no lock holds, before touchdown; None takes the direction that
            loses least, the stance leg moving forward.

    Returns:
        Dictionary: ``robot``; ``coordinates``, the free ones; ``q``; ``singular_values``, shares of
        the energy, falling, and a row of ``principal_directions`` for each; ``loss_matrix``;
        ``impact_map`` from rates before to relabelled rates after; ``velocity``; whether support
        then passes at once, ``instantaneous``.
    """
    touchdown = Touchdown(robot_file)
    full = touchdown.complete(q)
    M, A_old, A_new = touchdown.matrices(full)
    D = loss_matrix(M, A_new)[2:, 2:]
    shares, directions = principal_losses(M[2:, 2:], D)
    directions = directions * np.where(directions[0] > 0.0, -1.0, 1.0)
    if v is None:
        v = directions[:, -1]
    v = np.asarray(v, dtype=float)
    require(
        v.shape == (len(touchdown.free),) and np.isfinite(v).all(),
        'v',
        value=v.tolist(),
        limit=f'must be {len(touchdown.free)} finite numbers',
    )
    before = np.concatenate(([0.0, 0.0], v))
    _, instantaneous = impact_of_second_foot(M, A_old, A_new, before)
    columns = [project_velocity(M, A_new, e)[2:] for e in np.eye(len(M))[2:]]
    robot = robot_file.robot
    return {
        'robot': robot.name,
        'coordinates': [robot.coordinates[i] for i in touchdown.free],
        'q': full.tolist(),
        'singular_values': shares.tolist(),
        'principal_directions': directions.T.tolist(),
        'loss_matrix': D.tolist(),
        'impact_map': (touchdown.relabel() @ np.array(columns).T).tolist(),
        'velocity': v.tolist(),
        'instantaneous': bool(instantaneous),
    }


def losses_over_angle(robot_file: RobotFile, angles: Iterable[float]) -> np.ndarray:
    """Return the shares of energy lost at symmetric touchdowns, ``(len(angles), n)``.

    Args:
        robot_file: The `RobotFile`; two coordinates free of locks.
        angles: Hip angles at touchdown, rad.
    """
    touchdown = Touchdown(robot_file)
    shares = []
    for angle in angles:
        M, _, A_new = touchdown.matrices(touchdown.complete([-0.5 * angle, angle]))
        shares.append(principal_losses(M[2:, 2:], loss_matrix(M, A_new)[2:, 2:])[0])
    return np.array(shares)
