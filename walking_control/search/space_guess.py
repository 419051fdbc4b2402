# SPDX-License-Identifier: Apache-2.0
"""Joints of a biped whose base and swing sole follow given paths, level and straight ahead."""

import casadi as ca
import numpy as np

from walking_control.models import SpaceEquations

ROUNDS, LONGEST = 60, 0.3  # Newton's, and rad of a joint in each


def follow_poses(
    equations: SpaceEquations, swing: np.ndarray, base: np.ndarray, posture: np.ndarray
) -> np.ndarray:
    """Return joint angles at every point of the paths, ``(m, n)``, rad.

    What legs cannot reach they reach for: a guess needs no more.

    Args:
        swing: Places of the swing sole, ``(m, 3)``, m.
        base: Places of the base, ``(m, 3)``, m.
        posture: Where Newton's method begins, ``(n,)``.
    """
    q = ca.SX.sym('q', equations.n)
    places, turns = equations.poses(q)
    pose = ca.vertcat(
        places[:, 0],
        places[:, 1],
        *(ca.vertcat(R[2, 1], R[2, 0], R[1, 0]) for R in (turns[:, :3], turns[:, 3:])),
    )
    pose_of = ca.Function('pose', [q], [pose, ca.jacobian(pose, q)])
    rows, now = [], np.array(posture, dtype=float)
    for target in np.hstack([swing, base]):
        for _ in range(ROUNDS):
            value, jacobian = (np.array(part) for part in pose_of(now))
            error = np.concatenate([target, np.zeros(6)]) - value.ravel()
            step = np.linalg.lstsq(jacobian, error, rcond=1e-3)[0]
            now = now + step * min(1.0, LONGEST / max(1e-9, np.abs(step).max()))
            if np.abs(error).max() < 1e-9:
                break
        rows.append(now)
    return np.array(rows)
