# SPDX-License-Identifier: Apache-2.0
"""A point mass that is to circle: [DS09] examples 5.2 and 5.6, and its ports (appendix B).

The field points along circles about the origin. The frame of momenta (5.4) shows the motion along
the field apart from the rest; the nominal force keeps both kinetic energies apart and the
asymptotic force moves that of the rest into the circle, both without work ((5.22) to (5.24)). The
same mass with a spring and a damper is two systems of ports that become one ((B.1) to (B.5)).

Run: python examples/circling_mass.py
"""

from momenta.frame import junction, momentum_frame
from momenta.ports import connect, PortHamiltonian, storage
import numpy as np

from walking_control.controllers.curve_tracking.forces import (
    asymptotic_force,
    convergence,
    nominal_force,
    split_velocity,
    TRANSFER,
    turn_of,
)

MASS = 1.0  # kg
DURATION, STEP = 6.0, 0.002  # s
A0, A1, BANDWIDTH = 0.5, 0.1, 1e9  # of (5.21)


def field(q: np.ndarray) -> np.ndarray:
    """Return the desired direction of motion, along a circle."""
    return np.array([-q[1], q[0]])


def forces(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return nominal and asymptotic force, N, and the speeds along and beside the field."""
    M, (e, m, r, turn, nominal, transfer) = MASS * np.eye(2), np.zeros((6, 2))
    nu, rho, length = split_velocity(M, field(q), v, e, m, r)
    turn_of(MASS * field(v), length, e, m, turn)
    nominal_force(turn, m, nu, r, nominal)
    asymptotic_force(
        M, m, r, nu, rho, TRANSFER, convergence(nu, rho, A0, A1, BANDWIDTH), 1.0, transfer
    )
    return nominal, transfer, nu, rho


def walk(transferring: bool) -> tuple[np.ndarray, float]:
    """Return both kinetic energies over time, J, ``(n, 2)``, and the largest power, W.

    Args:
        transferring: Whether the asymptotic force acts.
    """

    def rates(x: np.ndarray) -> np.ndarray:
        nominal, transfer, *_ = forces(x[:2], x[2:])
        return np.concatenate((x[2:], (nominal + transferring * transfer) / MASS))

    x, energies, power = np.array([1.0, 0.0, 0.6, 0.8]), [], 0.0
    for _ in range(round(DURATION / STEP)):
        nominal, transfer, nu, rho = forces(x[:2], x[2:])
        energies.append((0.5 * nu**2, 0.5 * rho**2))
        power = max(power, abs((nominal + transferring * transfer) @ x[2:]))
        a = rates(x)
        b = rates(x + 0.5 * STEP * a)
        c = rates(x + 0.5 * STEP * b)
        x = x + STEP / 6.0 * (a + 2.0 * b + 2.0 * c + rates(x + STEP * c))
    return np.array(energies), power


def coupling(q: np.ndarray, alpha: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Return the matrix that moves energy between the momenta of the free mass ((5.5), (5.6))."""

    def momenta(x: np.ndarray) -> np.ndarray:
        S = momentum_frame(MASS * np.eye(2), field(x), pole=field(q))
        return np.asarray(S.T @ alpha)

    slope = np.column_stack(
        [(momenta(q + e) - momenta(q - e)) / (2.0 * step) for e in step * np.eye(2)]
    )
    return junction(momentum_frame(MASS * np.eye(2), field(q), pole=field(q)), slope)


def ports() -> float:
    """Return by how much the energy of mass, spring and damper differs from what its port gives."""
    none, one = np.zeros((1, 1)), np.ones((1, 1))
    mass = storage(1.0 / MASS)
    spring = PortHamiltonian(9.0 * one, none, none, one, none, 0.5 * one)  # N/m; N s/m across it
    both, rng, worst = connect(mass, spring), np.random.default_rng(0), 0.0
    for x, u in zip(rng.normal(size=(20, 2)), rng.normal(size=(20, 1)), strict=True):
        supplied = float(both.output(x, u) @ u)
        worst = max(worst, abs(both.power(x, u) - supplied + both.lost(x, u)))
    return worst


def main() -> dict[str, float]:
    """Print where the energy is with and without transfer; return the figures."""
    kept, power = walk(transferring=False)
    moved, other = walk(transferring=True)
    matrix = coupling(np.array([0.6, 0.8]), np.array([0.3, -0.5]))
    figures = {
        'kept apart to, J': float(np.ptp(kept, axis=0).max()),
        'beside the circle at the start, J': float(moved[0, 1]),
        'at the end, J': float(moved[-1, 1]),
        'along the circle at the end, J': float(moved[-1, 0]),
        'power of the forces, W': max(power, other),
        'coupling is skew to': float(np.abs(matrix + matrix.T).max()),
        'energy of the ports, W': ports(),
    }
    for name, value in figures.items():
        print(f'{name:>36}: {value:.3g}')
    return figures


if __name__ == '__main__':
    main()
