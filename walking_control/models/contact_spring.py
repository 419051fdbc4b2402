# SPDX-License-Identifier: Apache-2.0
"""The spatial spring between two bodies in contact ([DS09] section 3.2).

Twists and wrenches are ``(6,)``, turning part first. The contact frame has its z axis along the
normal of body 1; seen from it, body 2 moves by the twist T: it rolls by its first two components,
twists by the third, slides by the fourth and fifth, and by the sixth goes away from body 1.
"""

import math
from typing import NamedTuple

import numpy as np


class SpringModel(NamedTuple):
    """A spring, a damper and what lets them slip."""

    translation: float   # kt of (3.32), N/m
    rotation: float   # kr of (3.32), N m/rad
    damping: float = 0.0   # r of the Kelvin-Voigt model, N s/m (and N m s/rad)
    relief: float = 0.0   # beta of (3.25), 1/rad: how fast rolling relieves the sliding deformation
    most_slide: float = math.inf   # largest deformation along the surface, m; inf never slips
    most_twist: float = math.inf   # largest twist, rad
    share: float = 0.5   # k2 / (k1 + k2), the part of the deformation that is body 1's ((3.28))


class Deformation(NamedTuple):
    """Deformation of both surfaces as in (3.24): turn, x, y, z of each, ``(4,)``."""

    first: np.ndarray
    second: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Turn, x, y and z of both together ((3.31)), rad and m."""
        turn, x, y, z = self.first
        c, s = math.cos(turn), math.sin(turn)
        other = self.second
        return np.array([turn + other[0], x + c * other[1] - s * other[2],
                         y + s * other[1] + c * other[2], z + other[3]])


def undeformed() -> Deformation:
    """Return no deformation, as at the moment of touchdown."""
    return Deformation(np.zeros(4), np.zeros(4))


def slip_share(slide: float, velocity: float, most: float) -> float:
    """Return the share of a velocity that still deforms, (3.26): 1 far from saturation, 0 at it."""
    return 1.0 - abs(slide) / most if slide * velocity > 0.0 else 1.0


def deforming_motions(spring: SpringModel, deformation: Deformation,
                      twist: np.ndarray) -> np.ndarray:
    """Return the matrix X of (3.25), with the rows of rolling as its text means them, ``(6, 6)``.

    Rolling about y goes along x and relieves the slide along x; (3.25) as printed would pair x with
    x, and rolling in the plane of a slide, as in Fig. 3.10, would not relieve it.

    Args:
        twist: Of body 2 against body 1 in the contact frame.
    """
    turn, x, y, _ = deformation.total
    X = np.zeros((6, 6))
    X[2, 2] = slip_share(turn, twist[2], spring.most_twist)
    X[3, 3] = slip_share(x, twist[3], spring.most_slide)
    X[4, 4] = slip_share(y, twist[4], spring.most_slide)
    X[3, 1] = -spring.relief * x * np.sign(twist[1])
    X[4, 0] = -spring.relief * y * np.sign(twist[0])
    X[5, 5] = 1.0
    return X


def deformation_rates(spring: SpringModel, deformation: Deformation,
                      deforming: np.ndarray) -> Deformation:
    """Return the rates of both surfaces' deformation, (3.29) and (3.30) in coordinates."""
    turn, x, y = deforming[2:5]
    c, s = math.cos(deformation.first[0]), math.sin(deformation.first[0])
    place = deformation.second
    first = np.array([turn, c * x - s * y, s * x + c * y, deforming[5]])
    second = np.array([turn, x - turn * place[2], y + turn * place[1], deforming[5]])
    return Deformation(spring.share * first, (1.0 - spring.share) * second)


def deform(spring: SpringModel, deformation: Deformation, twist: np.ndarray,
           duration: float) -> Deformation:
    """Return the deformation after a constant twist, by one step of the midpoint rule.

    Args:
        deformation: `Deformation` before.
        twist: Of body 2 against body 1 in the contact frame, ``(6,)``.
        duration: s.
    """
    def rates(at: Deformation) -> Deformation:
        return deformation_rates(spring, at, deforming_motions(spring, at, twist) @ twist)
    half, whole = rates(deformation), deformation
    middle = Deformation(whole.first + 0.5 * duration * half.first,
                         whole.second + 0.5 * duration * half.second)
    change = rates(middle)
    return Deformation(whole.first + duration * change.first,
                       whole.second + duration * change.second)
