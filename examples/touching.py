# SPDX-License-Identifier: Apache-2.0
"""Where bodies touch and what the touch stores: [DS09] 3.1 and 3.2, printed and drawn.

Closest points over a plane in closed form ((3.1) to (3.7)), an ellipsoid followed over a wavy floor
((3.8) to (3.19)), a ball that comes down and presses (Fig. 3.8), the spatial spring ((3.20) to
(3.34)), and the deformation under a velocity that comes and goes (Fig. 3.9).

Run: python examples/touching.py out
"""

import os
from pathlib import Path
import sys

from contact_kinematics.closest import ClosestPair
from contact_kinematics.over_plane import (
    disc_over_plane,
    ellipsoid_over_plane,
    point_over_plane,
    Pose,
    Twist,
)
from contact_kinematics.spring import contact_wrench, interconnection, spring_energy
from contact_kinematics.surface import ellipsoid, plane, sine_floor
import numpy as np

from walking_control.models.contact import (
    deform,
    deforming_motions,
    slip_share,
    SpringModel,
    undeformed,
)

RADII = [0.2, 0.3, 0.25]  # m
SPRING = SpringModel(2e4, 30.0, relief=3.0, most_slide=0.002, most_twist=0.1, share=0.3)


def over_plane() -> dict[str, float]:
    """Return how high a point, a disc and an ellipsoid are over a plane, m."""
    c, s = np.cos(0.4), np.sin(0.4)
    pose = Pose(np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([0.3, -0.2, 0.5]))
    twist = Twist(np.array([0.8, -0.5, 0.4]), np.array([0.1, 0.2, -0.05]))
    return {
        'point': point_over_plane(pose, twist, [0.1, -0.2, -0.3]).distance,
        'disc': disc_over_plane(pose, twist, 0.4).distance,
        'ellipsoid': ellipsoid_over_plane(pose, twist, RADII).distance,
    }


def over_waves() -> tuple[float, float]:
    """Return the distance of an ellipsoid over waves after 0.6 s, m, by theorem and by search."""
    pair = ClosestPair(sine_floor(0.05, 0.7), ellipsoid(RADII))
    pose = Pose(np.eye(3), np.array([0.1, -0.25, 0.45]))
    twist = Twist(np.array([0.8, -0.5, 0.4]), np.array([0.1, 0.2, -0.05]))
    pair.find(pose)
    for _ in range(60):
        pose = pair.follow(pose, twist, 0.01)
    return pair.distance(pose), ClosestPair(pair.fixed, pair.moving).find(pose)


def pressing() -> np.ndarray:
    """Return the depth of a ball that comes down onto a floor and turns, m, over time."""
    pair, depths = ClosestPair(plane(1.0), ellipsoid([0.2, 0.2, 0.2])), []
    pose = Pose(np.eye(3), np.array([0.0, 0.0, 0.25]))
    pair.find(pose)
    for _ in range(8):
        pose = pair.follow(pose, Twist(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])), 0.01)
        depths.append(-pair.distance(pose))
    return np.array(depths)


def power() -> float:
    """Return by how much the energy of a random deformation and the power of its wrench differ."""
    rng, state = np.random.default_rng(6), undeformed()
    scale = np.array([1.0, 1.0, 1.0, 0.02, 0.02, 0.02])
    for _ in range(20):
        state = deform(SPRING, state, scale * rng.normal(size=6), 0.01)
    twist, h = scale * rng.normal(size=6), 1e-6
    power = contact_wrench(SPRING, state, np.zeros(6)) @ deforming_motions(SPRING, state, twist)
    before, after = (
        spring_energy(SPRING, deform(SPRING, state, twist, t)) for t in (-0.5 * h, 0.5 * h)
    )
    return float(abs(power @ twist / ((after - before) / h) - 1.0))


def slipping(step: float = 1e-3) -> np.ndarray:
    """Return time, velocity, share (3.26) and deformation under a block of velocity ((n, 4))."""
    slide, most, rows = 0.0, 1.0, []
    for time in np.arange(0.0, 8.0, step):
        velocity = 1.0 if time < 2.0 else 0.0 if time < 4.0 else -1.0 if time < 7.0 else 0.0
        share = slip_share(slide, velocity, most)
        rows.append((time, velocity, share, slide))
        slide += step * share * velocity
    return np.array(rows)


def draw(rows: np.ndarray, folder: str) -> Path:
    """Draw Fig. 3.9 into a folder; return the path."""
    from matplotlib.figure import Figure

    os.makedirs(folder, exist_ok=True)
    axes = Figure(figsize=(6, 3)).subplots()
    for column, name in enumerate(('velocity', 'share that deforms', 'deformation'), 1):
        axes.plot(rows[:, 0], rows[:, column], label=name)
    axes.set_xlabel('time, s')
    axes.legend()
    path = Path(folder) / 'slipping.svg'
    axes.figure.savefig(path)
    return path


def main(folder: str | None = None) -> dict[str, object]:
    """Print each of these, and draw Fig. 3.9 into a folder; return the figures."""
    followed, searched = over_waves()
    matrix, rows, depths = interconnection(-1e-3), slipping(), pressing()
    figures = {
        'heights over a plane, m': over_plane(),
        'over waves by theorem, m': followed,
        'by search, m': searched,
        'ball in the floor at last, m': float(depths[-1]),
        'interconnection is skew': bool(np.array_equal(matrix, -matrix.T)),
        'energy against power': power(),
        'deformation at most': float(rows[:, 3].max()),
        'at the end': float(rows[-1, 3]),
    }
    for name, value in figures.items():
        print(f'{name:>28}: {value}')
    if folder is not None:
        print(draw(rows, folder))
    return figures


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else None)
