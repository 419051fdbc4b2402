# SPDX-License-Identifier: Apache-2.0
"""What is written of an adopted robot: the URDF with soles, and the tree of the robot file."""

from collections.abc import Mapping, Sequence
import math
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from walking_control.adoption.body_tree import BodyTree
from walking_control.adoption.feet import Sole
from walking_control.adoption.guess import Description, Guess, LOW
from walking_control.adoption.urdf_parts import numbers_text, origin_of
from walking_control.models.urdf import moving_joints, parse

_ENTRIES = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
THICK = 0.01     # m: of the box under a sole
RELIED = 0.85    # of a sole: what laws rely on
# of the weight: what counts as contact, what ends it, how much of it is noise
CONTACT_ON, CONTACT_OFF, CONTACT_NOISE = 0.1, 0.05, 0.04
FASTER = 2.0     # than the description's speed limits: where the robot is stopped
RISE = 0.002     # s: in which a motor may go from nothing to its limit


def sole_names(tree: BodyTree, soles: Sequence[Sole]) -> list[str]:
    """Return the links that stand on the floor in the robot file, new ones beside the feet."""
    links = {link for link, _, _ in tree.frames}
    names = []
    for sole in soles:
        name = f'{sole.link}_contact'
        while name in links:
            name += '_'
        names.append(name)
    return names


def write_urdf(tree: BodyTree, soles: Sequence[Sole], names: Sequence[str],
               efforts: Mapping[str, float]) -> str:
    """Return the URDF text with a link for each sole, its box or ball the foot's only shape.

    Shapes that are meshes do not collide any more, for not every plant reads every format; looks
    stay.

    Args:
        tree: The `BodyTree`.
        soles: The soles.
        names: Their links.
        efforts: joint -> effort limit, N m or N.
    """
    root = parse(tree.urdf)
    feet = {sole.body for sole in soles}
    places = {link: (body, place) for link, body, place in tree.frames}
    for link in root.findall('link'):
        on_foot = places[link.get('name', '')][0] in feet
        for shape in link.findall('collision'):
            if on_foot or shape.find('geometry/mesh') is not None:
                link.remove(shape)
    for sole, name in zip(soles, names, strict=True):
        _add_sole(root, sole, name, places[sole.link][1].actInv(sole.place))
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if joint.get('name') in efforts:
            if joint.get('type') == 'continuous':
                joint.set('type', 'revolute')
            limit = SubElement(joint, 'limit') if limit is None else limit
            limit.set('effort', f'{efforts[joint.get("name", "")]:.9g}')
            for key, default in (('lower', -math.pi), ('upper', math.pi), ('velocity', 100.0)):
                if limit.get(key) is None or not math.isfinite(float(limit.get(key, '0'))):
                    limit.set(key, f'{default:.9g}')
    return tostring(root, encoding='unicode')


def fill_hollow(description: Description, tree: BodyTree) -> list[Guess]:
    """Give links that have mass but hardly any inertia that of a body of their size; say which.

    Simulators in space refuse such links.

    Args:
        description: Changed.
        tree: Its `BodyTree`.
    """
    root, names = parse(description.urdf), []
    bodies = {name: body for name, body, _ in tree.frames}
    for link in root.findall('link'):
        mass, inertia = link.find('inertial/mass'), link.find('inertial/inertia')
        if mass is None or inertia is None or float(mass.get('value', 0)) <= 0.0:
            continue
        xx, yy, zz, xy, xz, yz = (float(inertia.get(key, 0)) for key in _ENTRIES)
        least = float(np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0])
        kilograms, size = float(mass.get('value', 0)), tree.extent(bodies[link.get('name', '')])
        # of a ball a tenth as wide as the body; that is filled which has less than a thousandth
        radius = max(0.005, 0.1 * size)
        moment = 0.4 * kilograms * radius ** 2
        if least < 1e-3 * moment:
            for key, value in zip(_ENTRIES, (moment, moment, moment, 0.0, 0.0, 0.0), strict=True):
                inertia.set(key, f'{value:.6g}')
            names.append(link.get('name', ''))
    description.urdf = tostring(root, encoding='unicode')
    return [Guess('inertia of ' + ', '.join(names), 'that of a ball', LOW,
                  'the description has hardly any')] if names else []


def _add_sole(root: Element, sole: Sole, name: str, place: Any) -> None:
    link = SubElement(root, 'link', name=name)
    shape = SubElement(link, 'collision')
    up = sole.radius if sole.is_point else 0.5 * THICK
    SubElement(shape, 'origin', xyz=f'0 0 {up:.9g}')
    geometry = SubElement(shape, 'geometry')
    if sole.is_point:
        SubElement(geometry, 'sphere', radius=f'{max(sole.radius, 1e-3):.9g}')
    else:
        SubElement(geometry, 'box', size=numbers_text(
            np.array([sole.length, sole.width, THICK])))
    joint = SubElement(root, 'joint', name=f'{name}_joint', type='fixed')
    SubElement(joint, 'parent', link=sole.link)
    SubElement(joint, 'child', link=name)
    joint.append(origin_of(place))


def motors_of(tree: BodyTree, efforts: Mapping[str, float],
              armatures: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return joint -> motor of the robot file: one ampere for each N m, no gear."""
    return {joint.name: {'torque_constant': 1.0, 'reduction': 1.0,
                         'rotor_inertia': float(f'{armatures.get(joint.name, 0.0):.9g}'),
                         'resistance': 0.0,
                         'current_limit': float(f'{efforts[joint.name]:.9g}')}
            for joint in moving_joints(tree.urdf)}


def sections_of(mass: float, soles: Sequence[Sole], planar: bool, height: float, apart: float,
                efforts: Mapping[str, float], lays_flat: bool = True) -> dict[str, Any]:
    """Return the parameter sections of the robot file.

    Args:
        mass: kg.
        soles: The soles.
        planar: Whether it moves in the plane.
        height: Of the base over the floor at the start, m.
        apart: Distance between the feet sideways at the start, m.
        efforts: joint -> effort limit.
        lays_flat: Whether the legs can lay their soles flat wherever they step.
    """
    weight = 9.81 * mass
    sections: dict[str, Any] = {
        'estimator': {'contact_on': _short(CONTACT_ON * weight),
                      'contact_off': _short(CONTACT_OFF * weight),
                      'contact_noise': _short(CONTACT_NOISE * weight)},
        'safety': {'effort_rate_limit': _short(min(1e6, max(efforts.values()) / RISE))},
        'mujoco': {}}
    if planar:
        return {**sections, 'none': {}, 'rigid': {}}
    sections['safety']['velocity_limit_factor'] = FASTER
    sections['mujoco'] = {'timestep': 0.001}
    stepping = {'height': _short(height), 'step_width': _short(apart),
                'narrowest': _short(0.6 * apart), 'widest': _short(4.0 * apart)}
    # a point bears no moment
    sections['static_torque'] = {'sole_length': 0.001, 'sole_width': 0.001, 'friction': 0.5}
    if not any(sole.is_point for sole in soles):
        length, width = (min(getattr(sole, side) for sole in soles) for side in
                         ('length', 'width'))
        relied = {'sole_length': _short(RELIED * length), 'sole_width': _short(RELIED * width)}
        sections['static_torque'] = {**relied, 'friction': 0.5}
        stepping = {**stepping, **(relied if lays_flat else {}), 'narrowest': _short(min(
            apart, max(0.6 * apart, 1.02 * max(sole.width for sole in soles))))}
    return {**sections, 'stepping': stepping} if len(soles) == 2 else sections


def _short(number: float) -> float:
    return float(f'{number:.4g}')
