# SPDX-License-Identifier: Apache-2.0
"""A robot's skeleton in DART, from its URDF."""

from typing import Any
from xml.etree import ElementTree

from walking_control.exceptions import UrdfError
from walking_control.models.meshes import place_meshes
from walking_control.models.robot import Robot
from walking_control.models.urdf import parse

# DART gives a link without inertial 1 kg; far less than any part, and enough to divide by
MASS, INERTIA = 1e-6, 1e-9   # kg, kg m^2
WIDE = 1e9                   # N m: effort limits are the motors', not those of stops and locks
ROOT = 'root'


def write_urdf(robot: Robot) -> str:
    """Return the URDF text DART is given: inertials everywhere, a root joint of planar robots.

    Visuals and what other simulators read are left out.
    """
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
    return [*(f'{ROOT}_{"xyz"[axis]}' for axis in robot.base.axes),
            *(f'{ROOT}_{angle}' for angle in robot.base.angles)]


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
        joint = ElementTree.SubElement(root, 'joint', name=name, type=kind)
        ElementTree.SubElement(joint, 'parent', link=parent)
        ElementTree.SubElement(joint, 'child', link=child)
        ElementTree.SubElement(joint, 'axis', xyz=axis)
        if kind == 'prismatic':
            ElementTree.SubElement(joint, 'limit', lower=str(-WIDE), upper=str(WIDE),
                                   effort=str(WIDE), velocity=str(WIDE))
        parent = child


def build_skeleton(dart: Any, robot: Robot) -> Any:
    """Return DART's skeleton of a robot, its joints free but for stops, springs and friction.

    Raises:
        UrdfError: DART cannot build it.
    """
    loader, options = dart.utils.DartLoader(), dart.utils.DartLoaderOptions()
    kinds = dart.utils.DartLoaderRootJointType
    options.mDefaultRootJointType = kinds.FIXED if robot.is_planar else kinds.FLOATING
    loader.setOptions(options)
    skeleton = loader.parseSkeletonString(write_urdf(robot), '')
    free = len(robot.base.axes) + len(robot.base.angles) if robot.is_planar else 6
    if skeleton is None or skeleton.getNumDofs() != free + len(robot.joints):
        raise UrdfError(f'URDF of {robot.name}', limit='DART refuses it, or sees other joints')
    for index in range(skeleton.getNumDofs()):
        dof = skeleton.getDof(index)
        dof.setForceLimits(-WIDE, WIDE)
        dof.setVelocityLimits(-WIDE, WIDE)
    for name in robot.joints:
        dof = skeleton.getDof(name)
        skeleton.getJoint(name).setLimitEnforcement(True)
        spring, friction = robot.springs.get(name), robot.friction.get(name)
        dof.setDampingCoefficient(0.0)
        dof.setCoulombFriction(0.0)
        if spring is not None:
            dof.setSpringStiffness(spring.stiffness)
            dof.setRestPosition(spring.rest)
            dof.setDampingCoefficient(spring.damping)
        if friction is not None:
            dof.setDampingCoefficient(dof.getDampingCoefficient() + friction.viscous)
            dof.setCoulombFriction(friction.coulomb)
    return skeleton
