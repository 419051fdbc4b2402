# SPDX-License-Identifier: Apache-2.0
"""Points of a foot that touch the floor, from its collision geometry."""

from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from walking_control.exceptions import IncompatiblePlant
from walking_control.models.robot import Robot
from walking_control.models.urdf import parse


class Points(NamedTuple):
    """Points of all feet, each the centre of a ball of some radius.

    Attributes:
        foot: Index of the foot of each, ``(n,)``.
        place: In the frame of the foot's link, m, ``(n, 3)``.
        radius: m, ``(n,)``; 0 of corners.
    """

    foot: np.ndarray
    place: np.ndarray
    radius: np.ndarray


def contact_points(robot: Robot) -> Points:
    """Return the corners of boxes and the centres of balls that feet have for collision.

    Raises:
        IncompatiblePlant: A foot has other geometry, or none.
    """
    links = {link.get('name'): link for link in parse(robot.urdf, robot.name).findall('link')}
    rows: list[tuple[int, np.ndarray, float]] = []
    for index, foot in enumerate(robot.feet):
        found = [
            points
            for geometry in links[foot].findall('collision')
            for points in _points_of(geometry)
        ]
        if not found:
            raise IncompatiblePlant(
                f'plant compliant on {robot.name}',
                value=foot,
                limit='needs a box or a ball for collision on every foot',
            )
        rows += [(index, place, radius) for place, radius in found]
    feet, places, radii = zip(*rows)
    return Points(np.array(feet), np.array(places), np.array(radii))


def _points_of(collision: Element) -> list[tuple[np.ndarray, float]]:
    """Return (place, radius) of the points of one collision element."""
    import pinocchio as pin

    origin = collision.find('origin')
    given = {} if origin is None else origin.attrib
    middle = np.array([float(x) for x in given.get('xyz', '0 0 0').split()])
    turn = pin.rpy.rpyToMatrix(*(float(x) for x in given.get('rpy', '0 0 0').split()))
    ball, box = collision.find('geometry/sphere'), collision.find('geometry/box')
    if ball is not None:
        return [(middle, float(ball.get('radius', '0')))]
    if box is None:
        return []
    half = 0.5 * np.array([float(x) for x in box.get('size', '0 0 0').split()])
    signs = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), -1).reshape(-1, 3)
    return [(middle + turn @ (sign * half), 0.0) for sign in signs]
