# SPDX-License-Identifier: Apache-2.0
"""Energy, wrench and power of the spatial spring ([DS09] section 3.2); see `models.contact`."""

import math

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.models.contact import Deformation, SpringModel


def check_spring(spring: SpringModel) -> SpringModel:
    """Return a spring as it is.

    Raises:
        InvalidInput: A stiffness or a limit is not above zero, or a loss below it.
    """
    for name in ('translation', 'rotation', 'most_slide', 'most_twist'):
        if not getattr(spring, name) > 0.0:
            raise InvalidInput(
                f'{name} of the contact spring',
                value=getattr(spring, name),
                limit='must be above 0',
            )
    for name in ('damping', 'relief'):
        if not 0.0 <= getattr(spring, name) < math.inf:
            raise InvalidInput(
                f'{name} of the contact spring', value=getattr(spring, name), limit='must be from 0'
            )
    if not 0.0 <= spring.share <= 1.0:
        raise InvalidInput(
            'share of the contact spring', value=spring.share, limit='must be from 0 to 1'
        )
    return spring


def interconnection(distance: float) -> np.ndarray:
    """Return the matrix of (3.20): (T1, T2, Wc) to (W1, W2, T of body 2 against 1), ``(18, 18)``.

    It is skew-symmetric: contact is made and broken without power.
    """
    closed = 1.0 if distance < 0.0 else 0.0
    one, none = closed * np.eye(6), np.zeros((6, 6))
    return np.block([[none, none, one], [none, none, -one], [-one, one, none]])


def deformation_map(deformation: Deformation) -> np.ndarray:
    """Return the matrix of (3.33): twist of deformation to rates of turn, x, y, z, ``(4, 6)``."""
    turn = deformation.first[0]
    x, y = deformation.second[1:3]
    c, s = math.cos(turn), math.sin(turn)
    return np.array(
        [
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, -x * s - y * c, c, -s, 0.0],
            [0.0, 0.0, x * c - y * s, s, c, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )


def spring_energy(spring: SpringModel, deformation: Deformation) -> float:
    """Return the stored energy (3.32), J."""
    turn, *places = deformation.total
    return (
        0.5 * spring.translation * float(np.dot(places, places))
        + 0.5 * spring.rotation * float(turn) ** 2
    )


def contact_wrench(
    spring: SpringModel, deformation: Deformation, deforming: np.ndarray
) -> np.ndarray:
    """Return the wrench of spring (3.34) and damper on the deformation, ``(6,)``, N m and N.

    Args:
        spring: `SpringModel`.
        deformation: `Deformation`.
        deforming: Twist of deformation, for the damper.
    """
    stiffness = np.array([spring.rotation, *[spring.translation] * 3])
    elastic = deformation_map(deformation).T @ (stiffness * deformation.total)
    return elastic + spring.damping * deforming
