# SPDX-License-Identifier: Apache-2.0
"""Two legs or more without limits: least contact force and least torque in closed form.

These are what a floor that may pull and motors without limit would allow. They show where the
limits of the quadratic program begin to cost, and serve as its starting point in explanations.
"""

from collections.abc import Sequence

import numpy as np

from walking_control.models.base import ROOT


def minimum_force(
    gravity: np.ndarray, jacobians: Sequence[np.ndarray], moment_length: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return torque and wrenches of the least contact force ([STATIC], minimising contact forces).

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobians: One per contact in its own axes, each ``(6, nv)``.
        moment_length: Moments count as forces at this lever, m. The norm mixes N and N m, so the
            answer depends on it and on the point where wrenches are taken (the contact frame).

    Returns:
        ``(torque, wrenches)``: ``(n_joints,)`` N m and ``(n_contacts, 6)`` N, N m.
    """
    jacobian = np.vstack(jacobians)
    scale = np.tile([1.0, 1.0, 1.0, *[moment_length] * 3], len(jacobians))
    forces = scale * (np.linalg.pinv(jacobian[:, :ROOT].T * scale) @ gravity[:ROOT])
    return gravity[ROOT:] - forces @ jacobian[:, ROOT:], forces.reshape(-1, 6)


def minimum_torque(
    gravity: np.ndarray, jacobians: Sequence[np.ndarray], joint_weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return torque and wrenches of the least torque ([STATIC], minimising torques).

    All forces that carry the base are one of them plus the null space of the base equations; the
    torques are least over that space. Unlike a chain of inverted leg Jacobians this takes legs of
    any number of joints and straight knees, where the torques are unique and the forces of least
    norm in that space are returned.

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobians: One per contact in its own axes, each ``(6, nv)``.
        joint_weights: Factor on each squared torque, ``(n_joints,)``; None weighs all alike.

    Returns:
        ``(torque, wrenches)``: ``(n_joints,)`` N m and ``(n_contacts, 6)`` N, N m.
    """
    jacobian = np.vstack(jacobians)
    root = np.sqrt(np.ones(len(gravity) - ROOT) if joint_weights is None else joint_weights)
    base = jacobian[:, :ROOT].T
    carried = np.linalg.pinv(base) @ gravity[:ROOT]
    inner = np.linalg.svd(base)[2][ROOT:].T
    lever = jacobian[:, ROOT:].T
    left = root[:, None] * (lever @ inner)
    right = root * (gravity[ROOT:] - lever @ carried)
    forces = carried + inner @ np.linalg.lstsq(left, right, rcond=1e-10)[0]
    return gravity[ROOT:] - lever @ forces, forces.reshape(-1, 6)
