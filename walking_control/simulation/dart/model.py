# SPDX-License-Identifier: Apache-2.0
"""A robot's skeleton and its floor in DART."""

from collections.abc import Sequence
import math
from typing import Any
from xml.etree import ElementTree

import numpy as np

from walking_control.exceptions import require, UrdfError
from walking_control.models import (
    add_joint,
    caught_remarks,
    FloorProfile,
    NO_FRICTION,
    NO_SPRING,
    parse,
    place_meshes,
    Robot,
    support_balls,
)
from walking_control.simulation.terrain import DEPTH, FAR, Piece, WIDTH

# DART gives a link without inertial 1 kg; far less than any part, and enough to divide by
MASS, INERTIA = 1e-6, 1e-9  # kg, kg m^2
WIDE = 1e9  # N m: effort limits are the motors', not those of stops and locks
ROOT = 'root'


def write_urdf(robot: Robot) -> str:
    """Return the URDF for DART: inertials everywhere, a root joint in the plane, no visuals."""
    root = parse(place_meshes(robot.urdf, robot.meshes))
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    if robot.is_planar:
        _add_root(root, robot)
    for link in root.iterfind('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
        if link.find('inertial') is None:
            inertial = ElementTree.SubElement(link, 'inertial')
            ElementTree.SubElement(inertial, 'mass', value=str(MASS))
            tensor = {f'i{axes}': '0' for axes in ('xy', 'xz', 'yz')}
            tensor |= {f'i{axes}': str(INERTIA) for axes in ('xx', 'yy', 'zz')}
            ElementTree.SubElement(inertial, 'inertia', tensor)
    return ElementTree.tostring(root, encoding='unicode')


def root_joints(robot: Robot) -> list[str]:
    """Return the names of the joints between the floor and the base of a planar robot."""
    return [
        *(f'{ROOT}_{"xyz"[axis]}' for axis in robot.base.axes),
        *(f'{ROOT}_{angle}' for angle in robot.base.angles),
    ]


def _add_root(root: ElementTree.Element, robot: Robot) -> None:
    """Put joints along the axes of the base, then about y, between the floor and the base."""
    axes = [' '.join('1' if i == axis else '0' for i in range(3)) for axis in robot.base.axes]
    kinds = [*(('prismatic', axis) for axis in axes), ('continuous', '0 1 0')]
    parent = f'{ROOT}_floor'
    ElementTree.SubElement(root, 'link', name=parent)
    for name, (kind, axis) in zip(root_joints(robot), kinds, strict=True):
        last = name == root_joints(robot)[-1]
        child = robot.base_link if last else f'{name}_link'
        if not last:
            ElementTree.SubElement(root, 'link', name=child)
        joint = add_joint(root, name, kind, parent, child)
        ElementTree.SubElement(joint, 'axis', xyz=axis)
        if kind == 'prismatic':
            ElementTree.SubElement(
                joint,
                'limit',
                lower=str(-WIDE),
                upper=str(WIDE),
                effort=str(WIDE),
                velocity=str(WIDE),
            )
        parent = child


def build_skeleton(dart: Any, robot: Robot) -> Any:
    """Return DART's skeleton of a robot, its joints free but for stops, springs and friction.

    Args:
        dart: The module of DART.
        robot: The `Robot`.

    Raises:
        UrdfError: DART cannot build it.
    """
    loader, options = dart.utils.DartLoader(), dart.utils.DartLoaderOptions()
    kinds = dart.utils.DartLoaderRootJointType
    options.mDefaultRootJointType = kinds.FIXED if robot.is_planar else kinds.FLOATING
    loader.setOptions(options)
    with caught_remarks():  # that frames have no mass; so they are
        skeleton = loader.parseSkeletonString(write_urdf(robot), '')
    free = len(robot.base.axes) + len(robot.base.angles) if robot.is_planar else 6
    require(
        skeleton is not None and skeleton.getNumDofs() == free + len(robot.joints),
        f'URDF of {robot.name}',
        limit='DART refuses it, or sees other joints',
        error=UrdfError,
    )
    for index in range(skeleton.getNumDofs()):
        dof = skeleton.getDof(index)
        dof.setForceLimits(-WIDE, WIDE)
        dof.setVelocityLimits(-WIDE, WIDE)
    for name in robot.joints:
        dof = skeleton.getDof(name)
        skeleton.getJoint(name).setLimitEnforcement(True)
        spring = robot.springs.get(name, NO_SPRING)
        friction = robot.friction.get(name, NO_FRICTION)
        if spring.stiffness > 0.0:
            dof.setSpringStiffness(spring.stiffness)
            dof.setRestPosition(spring.rest)
        dof.setDampingCoefficient(spring.damping + friction.viscous)
        dof.setCoulombFriction(friction.coulomb)
    return skeleton


LEVEL = Piece((FAR, WIDTH, DEPTH), (0.0, 0.0, -DEPTH), 0.0)


class Floors:
    """What a robot stands on: each foot has a floor of its own, all else another.

    A floor is one body of DART with a box, or several where it changes at places.

    Args:
        world: DART's world, which the floors are added to.
        skeleton: The robot's in DART; every collision shape of it is given the friction.
        feet: Foot links, each with a floor that can be lowered.
        friction: Coefficient.
        pieces: Boxes of one floor for all; none: each foot has its own.
        profile: The `FloorProfile` they are made of, or None.
    """

    def __init__(
        self,
        dart: Any,
        world: Any,
        skeleton: Any,
        feet: Sequence[str],
        friction: float,
        pieces: Sequence[Piece],
        profile: FloorProfile | None = None,
    ) -> None:
        self._dart, self._friction = dart, friction
        self._pieces, self._profile = pieces or [LEVEL], profile
        for shape in _collision_shapes(skeleton):
            dynamics = shape.getDynamicsAspect() or shape.createDynamicsAspect()
            dynamics.setFrictionCoeff(friction)
            dynamics.setRestitutionCoeff(0.0)
        self._floor = dart.dynamics.Skeleton('floor')  # one, whose bodies ignore each other
        common, self._own = self._lay(), [] if pieces else [self._lay() for _ in feet]
        world.addSkeleton(self._floor)
        if pieces:
            return
        # DART hands out a copy of its options, whose filter is the one it uses
        filtering = world.getConstraintSolver().getCollisionOption().collisionFilter
        bodies = [skeleton.getBodyNode(i) for i in range(skeleton.getNumBodyNodes())]
        for body in bodies:
            for foot, floor in zip((None, *feet), (common, *self._own)):
                mine = body.getName() if body.getName() in feet else None
                if foot != mine:
                    filtering.addBodyNodePairToBlackList(body, floor)

    def _lay(self) -> Any:
        dart = self._dart
        _, body = self._floor.createWeldJointAndBodyNodePair()
        for piece in self._pieces:
            shape = body.createShapeNode(dart.dynamics.BoxShape([2.0 * x for x in piece.size]))
            shape.setRelativeTransform(_placement(dart, piece))
            shape.createCollisionAspect()
            dynamics = shape.createDynamicsAspect()
            dynamics.setFrictionCoeff(self._friction)
            dynamics.setRestitutionCoeff(0.0)
        return body

    def lower(self, heights: np.ndarray, slopes: np.ndarray) -> None:
        """Bring the floor of each foot to a height at x = 0, m, and a fall ahead.

        Args:
            heights: At x = 0, m, ``(n_feet,)``.
            slopes: Fall ahead, 1, ``(n_feet,)``.
        """
        for floor, height, slope in zip(self._own, heights.tolist(), slopes.tolist()):
            floor.getShapeNode(0).setRelativeTransform(
                _placement(self._dart, _lean(self._pieces[0], slope), height)
            )

    def height_over(
        self, points: np.ndarray, radius: np.ndarray, level: float, slope: float
    ) -> float:
        """Return how high the lowest of some balls is over the floor, m.

        Args:
            points: Their middles, m, ``(n, 3)``.
            radius: m, ``(n,)``.
            level: Of the floor at x = 0, if each foot has its own, m.
            slope: How much that falls for every metre ahead.
        """
        if self._profile is not None:  # measured along the normal of the piece straight below
            above = points[:, 2] - self._profile.height(points[:, 0])
            slopes = self._profile.slopes[self._profile.piece(points[:, 0])]
            return float((above / np.hypot(1.0, slopes) - radius).min())
        best = math.inf
        for piece in self._pieces if slope == 0.0 else [_lean(self._pieces[0], slope)]:
            c, s = math.cos(piece.pitch), math.sin(piece.pitch)
            x, z = points[:, 0] - piece.middle[0], points[:, 2] - piece.middle[2] - level
            along, above = c * x - s * z, s * x + c * z - piece.size[2]
            beside = np.maximum(np.abs(along) - piece.size[0], 0.0)
            # over the box straight up; off its ends to its edge, inside other boxes not at all
            over = np.where(beside > 0.0, np.hypot(beside, np.maximum(above, 0.0)), above)
            best = min(best, float((over - radius).min()))
        return best


def _lean(piece: Piece, slope: float) -> Piece:
    """Return a level box turned about the y axis of the floor."""
    if slope == 0.0:
        return piece
    pitch, depth = math.atan(slope), piece.middle[2]
    return Piece(piece.size, (depth * math.sin(pitch), 0.0, depth * math.cos(pitch)), pitch)


def _placement(dart: Any, piece: Piece, height: float = 0.0) -> Any:
    placement = np.eye(4)
    c, s = math.cos(piece.pitch), math.sin(piece.pitch)
    placement[0, 0], placement[0, 2], placement[2, 0], placement[2, 2] = c, s, -s, c
    placement[:3, 3] = piece.middle
    placement[2, 3] += height
    return dart.math.Isometry3(placement)


def _collision_shapes(skeleton: Any) -> list[Any]:
    bodies = [skeleton.getBodyNode(i) for i in range(skeleton.getNumBodyNodes())]
    shapes = [body.getShapeNode(i) for body in bodies for i in range(body.getNumShapeNodes())]
    return [shape for shape in shapes if shape.hasCollisionAspect()]


def foot_balls(robot: Robot, foot: str) -> tuple[np.ndarray, np.ndarray]:
    """Return middles (in the link's axes) and radii of balls whose hull are a foot's shapes.

    The origin of the link stands for a mesh, whose inside is DART's matter.

    Args:
        robot: The `Robot`.
        foot: Name of the link.

    Raises:
        UrdfError: The link has no collision shape.
    """
    balls = [each or (np.zeros((1, 3)), 0.0) for each in support_balls(robot.urdf, foot)]
    require(
        balls,
        f'URDF of {robot.name}',
        value=foot,
        limit='every foot link needs a collision geometry for DART',
        error=UrdfError,
    )
    places, radii = zip(*balls, strict=True)
    return np.vstack(places), np.repeat(radii, [len(each) for each in places])
