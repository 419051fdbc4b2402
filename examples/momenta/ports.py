# SPDX-License-Identifier: Apache-2.0
"""Systems described by energy and ports, and what becomes of two of them ([DS09] appendix B.1)."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PortHamiltonian:
    """A system with the energy x^T Q x / 2 and one power port (u, y) ([DS09] (B.1)).

    Args:
        Q: Symmetric and positive definite, ``(n, n)``.
        J: Skew-symmetric, ``(n, n)``.
        R: Symmetric and positive semi-definite: what the state loses, ``(n, n)``.
        g: From the port to the state, ``(n, m)``.
        K: Skew-symmetric, ``(m, m)``.
        S: Symmetric and positive semi-definite: what the port loses, ``(m, m)``.
    """

    Q: np.ndarray
    J: np.ndarray
    R: np.ndarray
    g: np.ndarray
    K: np.ndarray
    S: np.ndarray

    def rate(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return dx/dt, ``(n,)``."""
        return (self.J - self.R) @ self.Q @ x + self.g @ u

    def output(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return y, ``(m,)``."""
        return self.g.T @ self.Q @ x + (self.K + self.S) @ u

    def power(self, x: np.ndarray, u: np.ndarray) -> float:
        """Return the rate of the energy, W, by its gradient."""
        return float(x @ self.Q @ self.rate(x, u))

    def lost(self, x: np.ndarray, u: np.ndarray) -> float:
        """Return the power that state and port lose, W ([DS09] (B.2))."""
        gradient = self.Q @ x
        return float(gradient @ self.R @ gradient + u @ self.S @ u)


def storage(stiffness: float) -> PortHamiltonian:
    """Return an element that stores the energy ``stiffness x^2 / 2`` ([DS09] (B.6)).

    With an effort at its port it is a mass of ``1 / stiffness``, with a flow a spring.
    """
    none, one = np.zeros((1, 1)), np.ones((1, 1))
    return PortHamiltonian(stiffness * one, none, none, one, none, none)


def connect(first: PortHamiltonian, second: PortHamiltonian) -> PortHamiltonian:
    """Return both as one system: y1 = u2 and u1 = u - y2 ([DS09] (B.3) to (B.5)).

    Args:
        first: Strictly proper, that is, with K and S of zero; its port stays open.
        second: Closes a loop around it.
    """
    n, m = len(first.Q), len(second.Q)
    through = first.g @ second.K @ first.g.T
    J = np.block([[first.J - through, -first.g @ second.g.T], [second.g @ first.g.T, second.J]])
    R = np.zeros((n + m, n + m))
    R[:n, :n] = first.R + first.g @ second.S @ first.g.T
    R[n:, n:] = second.R
    Q = np.zeros((n + m, n + m))
    Q[:n, :n], Q[n:, n:] = first.Q, second.Q
    g = np.vstack((first.g, np.zeros((m, first.g.shape[1]))))
    return PortHamiltonian(Q, J, R, g, first.K, first.S)
