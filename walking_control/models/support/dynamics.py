# SPDX-License-Identifier: Apache-2.0
"""Support reduction: the floating-base robot seen from the foot it stands on.

Support coordinates ``z = [x, z of the stance foot, minimal coordinates q]``: while the foot rests,
the first two do not move and the rest obeys ordinary equations of motion ([DS09] (4.11)); contact
forces are what the first two rows then demand. The same coordinates serve flight (foot free) and
impact (the other foot's velocity is constrained as well).

Everything a plant needs of one configuration is one flat array, so that the functions generated in
`symbolic` and this class, which asks Pinocchio, can stand in for each other.

What efforts do: from commanded efforts to forces on the minimal coordinates.

The efforts of a robot are those of its actuated joints, then, if the robot file offers it,
``ground_torque``: a torque of the floor on the stance foot about +y. No machine with point feet has
it; plants here provide it, only while the foot stands, and say how long a foot would be needed.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import require
from walking_control.models import array_function, Dynamics, factorise_spd, spring_torques, Terms


class SupportDynamics:
    """Support terms of a planar robot by Pinocchio.

    Args:
        dynamics: `Dynamics` of the robot.

    Raises:
        InvalidInput: The robot is not planar.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        robot = dynamics.robot
        require(
            robot.is_planar,
            f'robot {robot.name}',
            value=f'base: {robot.base.value}',
            limit='support reduction is for planar robots',
        )
        self.dynamics = dynamics
        self.robot = robot
        self.layout = TermsLayout(len(robot.coordinates))
        # minimal coordinates -> (pitch, joints), by support
        self.lift = tuple(robot.lifts[foot] for foot in robot.feet)

    def relabel(self, support: int) -> np.ndarray:
        """Return the matrix S that turns q of one support into q of the other ([DS09] (4.10)).

        Args:
            support: Index of the foot that has been standing.
        """
        return np.asarray(self.robot.supports[self.robot.feet[1 - support]] @ self.lift[support])

    def terms(
        self, support: int, q: np.ndarray, v: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the flat array of support terms (see `TermsLayout`).

        Args:
            support: Index of the stance foot.
            q: Minimal coordinates, ``(n,)``.
            v: Their rates.
            out: Array to fill.
        """
        out = np.empty(self.layout.size) if out is None else out
        dynamics, n = self.dynamics, self.layout.n
        stance, other = self.robot.feet[support], self.robot.feet[1 - support]
        parts = self.layout.split(out)
        full_q, full_v = dynamics.base_from_coordinates(stance, q, v)
        J = dynamics.foot_jacobian(full_q, stance)[:, 2:] @ self.lift[support]
        J_other = dynamics.foot_jacobian(full_q, other)[:, 2:] @ self.lift[support]
        G = np.eye(n + 2)
        G[:2, 2:] = -J
        G[2:, 2:] = self.lift[support]
        # accelerations of the base and of the other foot at zero coordinate acceleration
        base_drift = np.zeros(n + 2)
        base_drift[:2] = -dynamics.foot_drift(full_q, full_v, stance)
        M = dynamics.mass_matrix(full_q)
        parts['mass'][:] = G.T @ M @ G
        parts['bias'][:] = G.T @ (dynamics.bias(full_q, full_v) + M @ base_drift)
        joints = self.lift[support][1:]
        parts['bias'][2:] += joints.T @ spring_torques(self.robot, joints @ q, joints @ v)
        dynamics.place(full_q)
        parts['foot'][:] = np.subtract(
            dynamics.foot_position(other)[::2], dynamics.foot_position(stance)[::2]
        )
        parts['jacobian'][:] = J_other - J
        parts['drift'][:] = dynamics.foot_drift(full_q, full_v, other) + base_drift[:2]
        parts['base'][:] = full_q[:2]
        return out

    def fill(
        self, support: int, q: np.ndarray, v: np.ndarray, parameters: object, out: np.ndarray
    ) -> None:
        """Fill the support terms, called as generated code is, whose parameters it does not need.

        Args:
            support: Index of the stance foot.
            q: Minimal coordinates, ``(n,)``.
            v: Their rates; more of a state may follow.
            parameters: Of generated code.
            out: Filled.
        """
        self.terms(support, q, v[: len(q)], out)


class TermsPlaces(NamedTuple):
    """Index at which each part of the support terms begins; see `TermsLayout`."""

    mass: int
    bias: int
    foot: int
    jacobian: int
    drift: int
    base: int
    end: int


@array_function
def terms_places(n: int) -> TermsPlaces:
    """Return the `TermsPlaces` of n minimal coordinates."""
    size = n + 2
    bias = size * size
    foot = bias + size
    drift = foot + 2 + 2 * n
    return TermsPlaces(0, bias, foot, foot + 2, drift, drift + 2, drift + 4)


@array_function
def unpack_terms(
    terms: np.ndarray,
    free: np.ndarray,
    M: np.ndarray,
    M_f: np.ndarray,
    h: np.ndarray,
    h_f: np.ndarray,
) -> None:
    """Take support terms apart for a foot that stands.

    Args:
        terms: The flat array.
        free: Indices of the coordinates that may move, ``(m,)``.
        M: Filled, mass matrix of these, ``(m, m)``.
        M_f: Filled, rows of the mass matrix in the directions of the foot, ``(2, n)``.
        h: Filled, bias of the free coordinates, ``(m,)``.
        h_f: Filled, bias in the directions of the foot, ``(2,)``.
    """
    n = M_f.shape[1]
    bias = terms_places(n).bias
    for i in range(free.shape[0]):
        row = 2 + free[i]
        h[i] = terms[bias + row]
        for j in range(free.shape[0]):
            M[i, j] = terms[row * (n + 2) + 2 + free[j]]
    h_f[:] = terms[bias : bias + 2]
    for i in range(2):
        M_f[i] = terms[i * (n + 2) + 2 : (i + 1) * (n + 2)]


class Mechanics(NamedTuple):
    """How a robot on its stance foot answers forces, now.

    Attributes:
        M: Mass matrix, ``(n, n)``.
        L: Its Cholesky factor.
        h: Bias, ``(n,)``.
        M_f: Rows of the mass matrix of the foot's directions x, z, ``(2, n)``.
        h_f: Bias of these rows, ``(2,)``.
    """

    M: np.ndarray
    L: np.ndarray
    h: np.ndarray
    M_f: np.ndarray
    h_f: np.ndarray


@array_function
def mechanics_of(
    terms: Terms, parameters: np.ndarray, support: int, q: np.ndarray, v: np.ndarray
) -> Mechanics:
    """Return the `Mechanics` of a state.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        parameters: Of the support terms.
        support: Index of the stance foot.
        q: Minimal coordinates, ``(n,)``.
        v: Their rates, ``(n,)``.
    """
    n = q.shape[0]
    M, L, M_f = np.zeros((n, n)), np.zeros((n, n)), np.zeros((2, n))
    h, h_f, buffer = np.zeros(n), np.zeros(2), np.zeros(terms_places(n).end)
    terms(support, q, v, parameters, buffer)
    unpack_terms(buffer, np.arange(n), M, M_f, h, h_f)
    factorise_spd(M, L)
    return Mechanics(M, L, h, M_f, h_f)


@dataclass(frozen=True)
class TermsLayout:
    """Where the quantities lie in the flat array of support terms.

    ``mass`` (n+2, n+2); ``bias`` (n+2,): Coriolis, centrifugal, gravity and passive joint forces;
    ``foot`` (2,): the other foot relative to the stance foot, m; ``jacobian`` (2, n): its
    derivative; ``drift`` (2,): its acceleration at zero joint acceleration; ``base`` (2,): the
    base link's origin relative to the stance foot.

    Args:
        n: Number of minimal coordinates.
    """

    n: int

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return terms_places(self.n).end

    def split(self, terms: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts as a dictionary of shaped views."""
        names = ('mass', 'bias', 'foot', 'jacobian', 'drift', 'base')
        shapes = ((self.n + 2, self.n + 2), (-1,), (-1,), (2, self.n), (-1,), (-1,))
        start = terms_places(self.n)
        return {
            name: terms[start[i] : start[i + 1]].reshape(shape)
            for i, (name, shape) in enumerate(zip(names, shapes))
        }


def foot_turn(support: SupportDynamics, foot: int) -> np.ndarray:
    """Return a foot's rate of rotation about +y per rate of (pitch, joints), ``(1 + n_joints,)``.

    Args:
        foot: Index of the foot.
    """
    dynamics = support.dynamics
    J = dynamics.foot_twist_jacobian(np.zeros(dynamics.nq), support.robot.feet[foot])
    return np.round(J[4, 2:], 12)


def effort_map(support: SupportDynamics, foot: int) -> np.ndarray:
    """Return generalised forces on q per effort with a foot standing, ``(n, n_efforts)``.

    Args:
        foot: Index of the stance foot.
    """
    robot = support.robot
    columns = [support.lift[foot][1 + robot.joint_index(joint)] for joint in robot.actuators]
    if robot.ground_torque is not None:
        columns.append(support.lift[foot].T @ foot_turn(support, foot))
    return np.ascontiguousarray(np.array(columns).reshape(-1, len(robot.coordinates)).T)
