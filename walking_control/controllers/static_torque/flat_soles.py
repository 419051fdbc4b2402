# SPDX-License-Identifier: Apache-2.0
"""Keep lightly loaded soles flat: no ankle asks more moment of its sole than the load bears.

Torques tau of a leg at rest press its sole with the wrench f of J' f = g - tau. The sole turns over
its edge where the centre of pressure would lie beyond, |m_y| > f_z length / 2 or |m_x| > f_z width
/ 2. Then the floor no longer holds the foot: it moves with an inertia a hundredth of what the
gains of a standing leg are made for, and rattles from edge to edge. The program of the statics
keeps these limits, an impedance around it does not; what it asks beyond them is taken from the
joints next to the sole, the less the nearer the foot is to standing as the gains have it.
"""

from collections.abc import Sequence

import numpy as np

from walking_control.models import Dynamics, ROOT
from walking_control.statics.contacts import Contact


class FlatSoles:
    """What the soles of a robot bear.

    Args:
        contacts: Of every foot.
        frames: Of their soles.
        legs: The joints of each leg.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        contacts: Sequence[Contact],
        frames: Sequence[int],
        legs: Sequence[np.ndarray],
    ) -> None:
        self._dynamics, self._frames, self._legs = dynamics, list(frames), list(legs)
        self._reach = [np.array([contact.width, contact.length]) / 2.0 for contact in contacts]

    def limit(self, q: np.ndarray, effort: np.ndarray, firmness: Sequence[float]) -> None:
        """Take out of torques what would turn a sole over its edge.

        Args:
            q: Configuration, ``(nq,)``.
            effort: Torques, changed in place, ``(n_joints,)``, N m.
            firmness: How much each leg counts as standing, 0 to 1; nothing is taken from 0, which
                is in the air, nor from 1.
        """
        light = [foot for foot, firm in enumerate(firmness) if 0.0 < firm < 1.0]
        if not light:
            return
        gravity = self._dynamics.gravity_efforts(q)
        for foot in light:
            leg = self._legs[foot]
            jacobian = self._dynamics.frame_jacobian(q, self._frames[foot])[:, ROOT + leg].T
            wrench = np.linalg.lstsq(jacobian, gravity[ROOT + leg] - effort[leg], rcond=_SINGULAR)[
                0
            ]
            reach = self._reach[foot] * max(0.0, wrench[2])
            beyond = wrench[3:5] - np.clip(wrench[3:5], -reach, reach)
            # an axis that passes so near to the sole is an ankle's
            near = np.hypot.reduce(jacobian[:, :3], axis=1) < self._reach[foot].max()
            effort[leg[near]] += (1.0 - firmness[foot]) * (jacobian[near, 3:5] @ beyond)


_SINGULAR = 1e-3  # of the largest singular value: what torques do not show, along straight legs
