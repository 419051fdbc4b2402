# SPDX-License-Identifier: Apache-2.0
"""A described robot at zero angles: joints, masses and shapes, all in the axes of its base."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from pinocchio import coal

from walking_control.exceptions import Findings, require, UrdfError
from walking_control.lab.adoption import Description
from walking_control.models import (
    bare_robot,
    moving_joints,
    parse,
    placement_of,
    UrdfJoint,
    without_shapes,
)

ROOT = 1  # index of the base among Pinocchio's joints
LEAST = 1e-12  # kg m^2 or kg: what moves with a joint has more
_ROUND = 96  # points around a cylinder


@dataclass(frozen=True)
class Shape:
    """What a link looks like or collides with.

    Args:
        link: Its link.
        body: Index of the joint it moves with.
        points: Corners, in the axes of that joint, m, ``(n, 3)``.
        collides: Whether it is a collision shape.
    """

    link: str
    body: int
    points: np.ndarray
    collides: bool


class BodyTree:
    """Joints, masses and shapes of a description; bodies are what moves with one joint.

    Attributes:
        model: Pinocchio's, with a free base, body 1.
        limits: `UrdfJoint` by joint.
        places: Placement of each body at zero angles, in base axes.
        shapes: Every `Shape` that could be read.
        unread: Meshes that could not.
        frames: (link, body, placement in the body) of every link.

    Raises:
        UrdfError: Pinocchio cannot read it, or nothing moves.
    """

    def __init__(self, description: Description) -> None:
        self.urdf = description.urdf
        self.name = description.name
        bare_robot(self.urdf, self.name)  # says what joint is unknown
        self.model = pin.buildModelFromXML(without_shapes(self.urdf), pin.JointModelFreeFlyer())
        require(
            self.model.njoints >= 3,
            f'robot description {description.path}',
            limit='has no joint that moves',
            remedy='free some of its joints',
            error=UrdfError,
        )
        self.data = self.model.createData()
        self._require_masses()
        self.limits: dict[str, UrdfJoint] = {
            joint.name: joint for joint in moving_joints(self.urdf)
        }
        self.mass = float(pin.computeTotalMass(self.model))
        pin.forwardKinematics(self.model, self.data, pin.neutral(self.model))
        self.places = [place.copy() for place in self.data.oMi]
        self.frames = [
            (frame.name, frame.parentJoint, frame.placement)
            for frame in self.model.frames
            if frame.type == pin.FrameType.BODY
        ]
        self.unread: list[str] = []
        self.shapes = list(self._read_shapes())

    def _require_masses(self) -> None:
        """Refuse joints that move nothing: their acceleration would be anything."""
        moved = np.diag(pin.crba(self.model, self.data, pin.neutral(self.model)))[6:]
        findings = Findings()
        for body in range(2, self.model.njoints):
            joint = self.model.joints[body]
            findings.attempt(
                require,
                moved[joint.idx_v - 6] > LEAST,
                f'joint {self.joint(body)}',
                limit='moves no mass: the links behind it have none',
                remedy='give them an <inertial>, or fix the joint',
                error=UrdfError,
            )
        findings.raise_first()

    def joint(self, body: int) -> str:
        """Return the name of the joint a body moves with."""
        return str(self.model.names[body])

    def body(self, joint: str) -> int:
        """Return the body that moves with a joint."""
        return int(self.model.getJointId(joint))

    def axis(self, body: int) -> np.ndarray:
        """Return the direction of a joint's axis at zero angles, base axes, ``(3,)``."""
        motion = np.asarray(self.model.joints[body].createData().S).reshape(6, -1)[:, 0]
        local = motion[3:] if np.linalg.norm(motion[3:]) > 0.5 else motion[:3]
        return np.asarray(self.places[body].rotation @ local)

    def chain(self, body: int) -> list[int]:
        """Return the bodies from the base, left out, to a body."""
        return [int(joint) for joint in self.model.supports[body]][2:]

    def children(self, body: int) -> list[int]:
        """Return the bodies that hang on a body."""
        return [
            child for child in range(2, self.model.njoints) if self.model.parents[child] == body
        ]

    def points(self, body: int, of: str = 'all') -> np.ndarray:
        """Return the corners of a body's shapes, collision shapes where there are any, ``(n, 3)``.

        Args:
            of: ``'all'``, or the name of a link of it.
        """
        shapes = [
            shape for shape in self.shapes if shape.body == body and of in ('all', shape.link)
        ]
        chosen = [shape for shape in shapes if shape.collides] or shapes
        return np.vstack([shape.points for shape in chosen]) if chosen else np.zeros((0, 3))

    def extent(self, body: int) -> float:
        """Return the size of a body by its shapes, joints and, but for the base, frames, m."""
        places = [np.zeros((1, 3)), self.points(body)]
        places += [
            self.model.jointPlacements[child].translation[None] for child in self.children(body)
        ]
        places += [place.translation[None] for _, at, place in self.frames if at == body != ROOT]
        return float(np.linalg.norm(np.ptp(np.vstack(places), axis=0)))

    def at_zero(self, body: int, points: np.ndarray) -> np.ndarray:
        """Return points of a body in base axes at zero angles, ``(n, 3)``."""
        place = self.places[body]
        return np.asarray(points @ place.rotation.T + place.translation)

    def _read_shapes(self) -> Iterator[Shape]:
        where = {link: (body, place) for link, body, place in self.frames}
        parts = [
            (link.get('name', ''), tag, part)
            for link in parse(self.urdf).findall('link')
            for tag in ('collision', 'visual')
            for part in link.findall(tag)
        ]
        for name, tag, part in parts:
            (body, place), points = where[name], self._points_of(part)
            if points is not None:
                at = place * placement_of(part)
                corners = points @ at.rotation.T + at.translation
                yield Shape(name, body, corners, tag == 'collision')

    def _points_of(self, part: Element) -> np.ndarray | None:
        """Return corners of a URDF shape in its own axes; None of what cannot be read."""
        shape = part.find('geometry/*')
        if shape is None:
            return None
        if shape.tag == 'box':
            sides = [0.5 * float(side) for side in shape.get('size', '').split()]
            return np.array(list(product(*((-side, side) for side in sides))))
        if shape.tag == 'sphere':
            return float(shape.get('radius', 0)) * np.vstack((np.eye(3), -np.eye(3)))
        if shape.tag in ('cylinder', 'capsule'):
            radius, half = float(shape.get('radius', 0)), 0.5 * float(shape.get('length', 0))
            angles = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
            rim = radius * np.column_stack((np.cos(angles), np.sin(angles)))
            return np.vstack([np.column_stack((rim, np.full(_ROUND, z))) for z in (-half, half)])
        return (
            self._mesh(shape.get('filename', ''), shape.get('scale', '1 1 1'))
            if shape.tag == 'mesh'
            else None
        )

    def _mesh(self, name: str, scale: str) -> np.ndarray | None:
        numbers = np.array([float(x) for x in scale.split()])
        try:
            points = _corners(name, Path(name).stat().st_mtime_ns) * numbers
        except (OSError, RuntimeError, ValueError, AttributeError):
            self.unread.append(name)
            return None
        if _is_y_up(name):  # as Gazebo turns it; loaders of the file alone do not
            points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
        return np.asarray(points[np.isfinite(points).all(axis=1)])


@lru_cache(maxsize=256)  # parts are shown many times, and trees are built anew
def _corners(name: str, written: int) -> np.ndarray:
    """Return the corners of a mesh in a file that was written at a time, m."""
    return np.array(coal.MeshLoader().load(name, np.ones(3)).vertices())


def _is_y_up(name: str) -> bool:
    """Return whether a mesh is a COLLADA file whose y points up."""
    return name.endswith('.dae') and (
        'Y_UP' in Path(name).read_text(encoding='utf-8', errors='ignore')[:20000]
    )
