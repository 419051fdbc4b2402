# SPDX-License-Identifier: Apache-2.0
"""Parts of a URDF: placements, joints and shapes, read from and written to its elements."""

from collections.abc import Iterator
import math
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from walking_control.models.urdf import parse

RIM = 12  # points that stand for the rim of a cylinder


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


def add_joint(
    root: Element, name: str, kind: str, parent: str, child: str, place: pin.SE3 | None = None
) -> Element:
    """Return a joint that is added to a robot.

    Args:
        root: The ``<robot>``.
        name: Of the joint.
        kind: Its type.
        parent: Link that it hangs on.
        child: Link that hangs on it.
        place: Of the child in the parent; None: the same.
    """
    joint = SubElement(root, 'joint', name=name, type=kind)
    SubElement(joint, 'parent', link=parent)
    SubElement(joint, 'child', link=child)
    if place is not None:
        joint.append(origin_of(place))
    return joint


def support_balls(urdf: str, link: str) -> Iterator[tuple[np.ndarray, float] | None]:
    """Yield balls whose hull is a collision shape of a link; None of what is no simple shape.

    Corners of boxes and points on the rims of cylinders are balls of no size.

    Args:
        urdf: Text of the URDF.
        link: Name of the link.

    Yields:
        Middles in the link's axes, m, ``(n, 3)``, and the radius of all, m.
    """
    for collision in parse(urdf).iterfind(f"link[@name='{link}']/collision"):
        shape, place = collision.find('geometry/*'), placement_of(collision)
        found = None if shape is None else _shape_balls(shape)
        yield found and (found[0] @ place.rotation.T + place.translation, found[1])


def _shape_balls(shape: Element) -> tuple[np.ndarray, float] | None:
    if shape.tag == 'box':
        half = 0.5 * np.array([float(number) for number in shape.get('size', '').split()])
        signs = np.array(np.meshgrid((-1, 1), (-1, 1), (-1, 1))).reshape(3, -1).T
        return signs * half, 0.0
    if shape.tag not in ('sphere', 'cylinder', 'capsule'):
        return None
    radius, half_length = float(shape.get('radius', 0.0)), 0.5 * float(shape.get('length', 0.0))
    ends = np.array([[0.0, 0.0, half_length], [0.0, 0.0, -half_length]])
    if shape.tag == 'cylinder':
        turn = np.linspace(0.0, 2.0 * math.pi, RIM, endpoint=False)
        rim = radius * np.stack((np.cos(turn), np.sin(turn), np.zeros(RIM)), axis=1)
        return np.concatenate([rim + end for end in ends]), 0.0
    return (np.zeros((1, 3)), radius) if shape.tag == 'sphere' else (ends, radius)
