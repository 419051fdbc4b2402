# SPDX-License-Identifier: Apache-2.0
"""Which measured efforts have the other sign, found while a robot stands.

What the feet must bear, W r with the residual r and the weights W of `FootLoads`, is explained by
their wrenches up to the cost y^T N y of the least squares, y = W r and N = I - A^T (A A^T + P)^-1 A
with the weighted Jacobians A. An effort tau of the other sign is in r with -tau in place of tau, so
turning it adds 2 tau. All are turned at once, since one driver tells them. Joints whose sign hardly
matters, such as those that carry nothing, are not named; nor is any if the other sign does not
explain what is felt, for then something else is wrong.
"""

from collections.abc import Sequence

import numpy as np

STILL, STANDS = 0.2, 0.3  # rad/s; s
WRONG, EXPLAINED, NAMED = 50.0, 0.3, 16.0  # squared standard deviations, share of it, of a joint


class EffortSigns:
    """Judges measured efforts once, when a robot has stood still for a while.

    Args:
        joints: Names of the joints whose effort is measured.
        rows: Their rows among the generalised velocities.
    """

    def __init__(self, joints: Sequence[str], rows: Sequence[int]) -> None:
        self._joints, self._rows = joints, list(rows)
        self.reset()

    def reset(self) -> None:
        """Judge anew."""
        self.judged, self.flaw = not self._rows, ''
        self._time, self._sums = 0.0, np.zeros(1)

    def update(
        self,
        motion: np.ndarray,
        residual: np.ndarray,
        efforts: np.ndarray,
        J: np.ndarray,
        prior: np.ndarray,
        dt: float,
    ) -> None:
        """Take a tick in; `flaw` says in words what is wrong, once it is known.

        Args:
            motion: Generalised velocities, ``(nv,)``.
            residual: Weighted residual, ``(nv,)``.
            efforts: Weighted efforts that reached the joints, ``(nv,)``, zeros of the base.
            J: Weighted Jacobians of the feet, ``(6 n_feet, nv)``.
            prior: Of the wrenches, ``(6 n_feet, 6 n_feet)``.
            dt: s.
        """
        self._time, self._sums = (
            self._time + dt,
            self._sums + dt * np.array((motion, residual, efforts)),
        )
        if self._time < STANDS:
            return
        motion, residual, efforts = self._sums / self._time
        self.reset()
        if np.abs(motion).max() < STILL:
            self.judged = True
            N = np.eye(len(motion)) - J.T @ np.linalg.solve(J @ J.T + prior, J)
            self._judge(N, residual, efforts)

    def _judge(self, N: np.ndarray, residual: np.ndarray, efforts: np.ndarray) -> None:
        def cost(y: np.ndarray) -> float:
            return float(y @ N @ y)

        turns = np.zeros((len(self._rows), len(efforts)))  # a joint each
        turns[range(len(turns)), self._rows] = 2.0 * efforts[self._rows]
        other = residual + turns.sum(axis=0)
        limit = cost(other) + NAMED
        if cost(residual) > WRONG and cost(other) < EXPLAINED * cost(residual):
            pairs = zip(self._joints, turns)
            named = [joint for joint, turn in pairs if cost(other - turn) > limit]
            joints = ', '.join(named or self._joints)
            self.flaw = f'efforts of {joints} have the other sign, as the robot stands'
