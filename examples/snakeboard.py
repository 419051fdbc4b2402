# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that are no tree of simple joints: [DS09] 2.2 and 2.4.

A snakeboard (example 2.22) is driven ahead by the torques of its torso and wheels alone, in the
momenta that its wheels allow. Two gearwheels (2.32) to (2.37) are a loop that the same momenta
close. A ball joint (2.38), (2.39) has a pose and a twist of its own, a spinning body
rates about its own axes (2.62) to (2.68).

Run: python examples/snakeboard.py
"""

from typing import NamedTuple

from momenta import momentum
import numpy as np
import pinocchio as pin

M_BODY, R, J_TORSO, J_WHEELS = 6.0, 0.4, 0.3, 0.05  # kg, m, kg m^2
DURATION, STEP = 6.0, 0.002  # s


class Snakeboard:
    """Mass matrix, constraints and momentum basis of [DS09] example 2.22; J = m r^2.

    Coordinates: place x, y of the board, its turn, torso and wheels against it.
    """

    M = np.zeros((5, 5))
    M[:2, :2] = M_BODY * np.eye(2)
    M[2:4, 2:4] = [[M_BODY * R * R, J_TORSO], [J_TORSO, J_TORSO]]
    M[4, 4] = J_WHEELS

    @staticmethod
    def constraints(q: np.ndarray) -> np.ndarray:
        """Return A with ``A^T dq/dt = 0``: wheels do not slip sideways, ``(5, 2)``."""
        theta, phi = q[2], q[4]
        return np.transpose(
            [
                [np.sin(theta - phi), -np.cos(theta - phi), R * np.cos(phi), 0, 0],
                [np.sin(theta + phi), -np.cos(theta + phi), -R * np.cos(phi), 0, 0],
            ]
        )

    @staticmethod
    def basis(q: np.ndarray) -> np.ndarray:
        """Return the momenta S that the wheels allow, ``(5, 3)``."""
        theta, phi = q[2], q[4]
        beta = np.sqrt(M_BODY * R * R - J_TORSO * np.sin(phi) ** 2)
        first = [
            M_BODY * R * np.cos(theta) * np.cos(phi) / beta,
            M_BODY * R * np.sin(theta) * np.cos(phi) / beta,
            (M_BODY * R * R - J_TORSO) * np.sin(phi) / beta,
            0,
            0,
        ]
        return np.transpose([first, [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]])

    @classmethod
    def slope(cls, q: np.ndarray, alpha: np.ndarray, step: float = 1e-6) -> np.ndarray:
        """Return d(S alpha)/dq by central differences, ``(5, 5)``."""
        columns = [
            (cls.basis(q + e) - cls.basis(q - e)) @ alpha / (2 * step) for e in step * np.eye(5)
        ]
        return np.transpose(columns)


class Ride(NamedTuple):
    """What a ride came to: coordinates at its end, worst slip, m/s, and error of the energy, J."""

    q: np.ndarray
    slip: float
    energy: float


def ride(duration: float = DURATION, step: float = STEP) -> Ride:
    """Swing torso and wheels to and fro; integrate (2.110), (2.111) by Runge and Kutta."""

    def effort(t: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        swing = np.array([0.7, 0.5]) * np.sin(4.0 * t - np.array([0.5 * np.pi, 0.0]))
        stiff, soft = np.array([2.0, 2.0]), np.array([0.3, 0.3])
        return np.concatenate((np.zeros(3), stiff * (swing - q[3:]) - soft * dq[3:]))

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        q, alpha = x[:5], x[5:8]
        S = Snakeboard.basis(q)
        dq = np.linalg.solve(Snakeboard.M, S @ alpha)
        u = effort(t, q, dq)
        dq, dalpha = momentum.momentum_rates(
            Snakeboard.M, S, Snakeboard.slope(q, alpha), np.zeros(5), alpha, u
        )
        return np.concatenate((dq, dalpha, [u @ dq]))

    x, slip, error = np.zeros(9), 0.0, 0.0
    for i in range(round(duration / step)):
        t, half = i * step, 0.5 * step
        a = rates(t, x)
        b = rates(t + half, x + half * a)
        c = rates(t + half, x + half * b)
        d = rates(t + step, x + step * c)
        x = x + step / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        dq = rates(t + step, x)[:5]
        slip = max(slip, np.abs(Snakeboard.constraints(x[:5]).T @ dq).max())
        error = max(error, abs(0.5 * dq @ Snakeboard.M @ dq - x[8]))
    return Ride(x[:5], slip, error)


def gearwheels(ratio: float = 1.0) -> tuple[float, float]:
    """Return the worst error of (2.36), (2.37) and the inertia of both wheels as one joint.

    Two wheels of radius 1 m and `ratio` m turn about axes of one frame; where they meet they move
    alike ((2.32)), which is one constraint on both rates. The momentum it allows has the inertia
    that a motor at the first wheel feels.
    """
    A = np.array([[1.0], [ratio]])  # (2.33): both points of contact have one velocity
    M = np.diag([0.02, 0.03])
    S = momentum.compatible_momenta(M, A)
    rates = np.linalg.solve(M, S)[:, 0]
    rates /= rates[0]
    return abs(rates[1] + 1.0 / ratio), float(rates @ M @ rates)


def ball_joint(step: float = 1e-6) -> float:
    """Return the worst error of the twist (2.39) against differences of the pose (2.38)."""
    rng = np.random.default_rng(0)
    p1, p2, w = rng.normal(size=(3, 3))
    R1 = pin.exp3(rng.normal(size=3))

    def pose(time: float) -> np.ndarray:
        H = np.eye(4)
        H[:3, :3] = pin.exp3(w * time) @ R1
        H[:3, 3] = H[:3, :3] @ p2 + p1
        return H

    twist = (pose(step) - pose(-step)) / (2.0 * step) @ np.linalg.inv(pose(0.0))
    said = np.concatenate((w, np.cross(p1, w)))  # T = [I; p1~] w
    found = np.concatenate(([twist[2, 1], twist[0, 2], twist[1, 0]], twist[:3, 3]))
    return float(np.abs(found - said).max())


def spinning_body(step: float = 1e-6) -> float:
    """Return by how much quasi-velocities miss Euler's equations ((2.62) to (2.68), (2.81)).

    A free body turns; its coordinates are roll, pitch and yaw, its quasi-velocities the rates about
    its own axes.
    """
    inertia = np.diag([1.0, 2.0, 3.5])
    q, v, u = np.array([0.3, -0.4, 0.7]), np.array([0.5, -1.1, 0.8]), np.array([0.1, 0.2, -0.3])

    def body_rates(q: np.ndarray) -> np.ndarray:
        r, p = q[0], q[1]
        return np.array(
            [
                [1, 0, -np.sin(p)],
                [0, np.cos(r), np.sin(r) * np.cos(p)],
                [0, -np.sin(r), np.cos(r) * np.cos(p)],
            ]
        )

    p = inertia @ v
    slope = np.column_stack(
        [(body_rates(q + e).T @ p - body_rates(q - e).T @ p) / (2 * step) for e in step * np.eye(3)]
    )
    _, rate = momentum.quasi_velocity_rates(body_rates(q), slope, np.zeros(3), v, u)
    return float(np.abs(rate - np.cross(p, v) - u).max())


def main() -> dict[str, object]:
    """Print where the board goes and what the other mechanisms check; return the figures."""
    went = ride()
    print(
        f'snakeboard: after {DURATION:g} s {np.hypot(*went.q[:2]):.2f} m on, wheels slip by '
        f'{went.slip:.1e} m/s, energy is the work to {went.energy:.1e} J'
    )
    error, inertia = gearwheels()
    print(f'gearwheels: turn against each other to {error:.1e}, felt as {inertia:.3f} kg m^2')
    ball = ball_joint()
    print(f'ball joint: twist right to {ball:.1e}')
    euler = spinning_body()
    print(f'spinning body: momentum turns as Euler says to {euler:.1e} N m')
    return {
        'place': went.q[:2],
        'slip': went.slip,
        'energy': went.energy,
        'gearwheels': error,
        'reduced inertia': inertia,
        'ball joint': ball,
        'spinning body': euler,
    }


if __name__ == '__main__':
    main()
