# SPDX-License-Identifier: Apache-2.0
"""Placements in a URDF: read from and written to its elements."""

from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin


def placement_of(part: Element) -> pin.SE3:
    """Return the ``<origin>`` of a part of a URDF; without one the identity."""
    origin = part.find('origin')
    xyz, rpy = (
        [
            float(number)
            for number in ('0 0 0' if origin is None else origin.get(name, '0 0 0')).split()
        ]
        for name in ('xyz', 'rpy')
    )
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))


def origin_of(place: pin.SE3) -> Element:
    """Return the ``<origin>`` of a placement."""
    return Element(
        'origin',
        xyz=numbers_text(place.translation),
        rpy=numbers_text(pin.rpy.matrixToRpy(place.rotation)),
    )


def numbers_text(numbers: np.ndarray) -> str:
    """Return numbers as attributes of a URDF hold them."""
    return ' '.join(f'{number:.12g}' for number in np.asarray(numbers, float) + 0.0)
