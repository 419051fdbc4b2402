# SPDX-License-Identifier: Apache-2.0
"""SDF to URDF: the tree of its first model, closed chains cut.

Read are versions up to 1.7 as exporters write them: poses of links in the model, of joints in their
child; ``relative_to`` is refused. Pinocchio's wheels and MuJoCo read no SDF.
"""

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from walking_control.exceptions import given, require, UrdfError
from walking_control.lab.adoption import Guess, HIGH, LOW
from walking_control.models import add_joint, numbers_text, origin_of

_KINDS = {
    'revolute': 'revolute',
    'continuous': 'continuous',
    'prismatic': 'prismatic',
    'fixed': 'fixed',
}
_MODEL = 'model://'


def urdf_of_sdf(document: Element, path: Path) -> tuple[str, list[Guess]]:
    """Return URDF text and guesses of an SDF.

    Raises:
        UrdfError: It holds no model, or what is not read here.
    """
    found = given(document.find('.//model'), f'SDF {path}', limit='has no <model>', error=UrdfError)
    for pose in found.iter('pose'):
        require(
            not pose.get('relative_to') and not pose.get('frame'),
            f'SDF {path}',
            value=pose.get('relative_to') or pose.get('frame'),
            limit='poses relative to other frames are not read',
            remedy='convert it with Gazebo: gz sdf -p',
            error=UrdfError,
        )
    return _Model(found, path).convert()


class _Model:
    """A ``<model>`` on its way to a ``<robot>``.

    Args:
        model: The element.
        path: For messages.
    """

    def __init__(self, model: Element, path: Path) -> None:
        self._path = path
        self._links = {link.get('name', ''): link for link in model.findall('link')}
        self._places = {name: _pose(link) for name, link in self._links.items()}
        self._joints = [
            joint
            for joint in model.findall('joint')
            if _text(joint, 'parent') in self._links and _text(joint, 'child') in self._links
        ]
        self._robot = Element('robot', name=model.get('name') or path.stem)
        self._guesses = [Guess('format', f'SDF with {len(self._links)} links', HIGH, 'read here')]

    def convert(self) -> tuple[str, list[Guess]]:
        """Return URDF text and guesses."""
        tree, loops = self._span()
        held = self._held(tree, loops)
        for name, link in self._links.items():
            if (
                any(name in (_text(joint, 'parent'), _text(joint, 'child')) for joint in tree)
                or len(self._links) == 1
            ):
                self._add_link(name, link)
        for joint in tree:
            self._add_joint(joint, held.get(joint.get('name', '')))
        return ElementTree.tostring(self._robot, encoding='unicode'), self._guesses

    def _span(self) -> tuple[list[Element], list[Element]]:
        """Return joints that make a tree and those that close loops: balls before hinges."""
        tree: list[Element] = []
        loops: list[Element] = []
        order = sorted(self._joints, key=lambda joint: joint.get('type') not in _KINDS)
        groups = {name: name for name in self._links}

        def find(name: str) -> str:
            while groups[name] != name:
                name = groups[name]
            return name

        children = set()
        for joint in order:
            parent, child = _text(joint, 'parent'), _text(joint, 'child')
            if find(parent) == find(child) or child in children:
                loops.append(joint)
                continue
            groups[find(child)] = find(parent)
            children.add(child)
            tree.append(joint)
        return tree, loops

    def _held(self, tree: list[Element], loops: list[Element]) -> dict[str, str]:
        """Return joint -> why it is made fixed: springs, balls, what a closed chain leads."""
        held = {}
        parent = {_text(joint, 'child'): joint for joint in tree}
        for joint in tree:
            if joint.get('type') not in _KINDS:
                held[joint.get('name', '')] = f'it is of type {joint.get("type")}'
            elif float(_text(joint, 'axis/dynamics/spring_stiffness') or 0.0) > 0.0:
                held[joint.get('name', '')] = (
                    f'a spring of {_text(joint, "axis/dynamics/spring_stiffness")} N m/rad holds it'
                )
        for closing in loops:
            ends = [self._chain(parent, _text(closing, end)) for end in ('parent', 'child')]
            both = [joint for joint in ends[0] if joint in ends[1]]
            ring = [joint for chain in ends for joint in chain if joint not in both]
            ring.sort(
                key=lambda joint: (
                    not self._touches(tree, _text(joint, 'child')),
                    len(self._chain(parent, _text(joint, 'child'))),
                )
            )
            for joint in ring[1:]:  # the one nearest the base that moves what touches stays free
                held.setdefault(
                    joint.get('name', ''),
                    f'a closed chain leads it, closed by {closing.get("name")}',
                )
            self._guesses.append(
                Guess(
                    f'joint {closing.get("name")}',
                    'left out',
                    LOW,
                    'it closes a chain, which no tree does',
                )
            )
        return held

    def _touches(self, tree: list[Element], link: str) -> bool:
        """Return whether a link or what hangs on it has a collision shape; rods have none."""
        return self._links[link].find('collision') is not None or any(
            self._touches(tree, _text(joint, 'child'))
            for joint in tree
            if _text(joint, 'parent') == link
        )

    def _chain(self, parent: dict[str, Element], link: str) -> list[Element]:
        chain: list[Element] = []
        while link in parent and len(chain) <= len(parent):
            chain.append(parent[link])
            link = _text(parent[link], 'parent')
        return chain

    def _add_link(self, name: str, link: Element) -> None:
        element = SubElement(self._robot, 'link', name=name)
        inertial = link.find('inertial')
        if inertial is not None:
            part = SubElement(element, 'inertial')
            part.append(origin_of(_pose(inertial)))
            SubElement(part, 'mass', value=_text(inertial, 'mass') or '1')
            SubElement(
                part,
                'inertia',
                {
                    key: _text(inertial, f'inertia/{key}') or default
                    for key, default in zip(('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'), '111000')
                },
            )
        for tag in ('visual', 'collision'):
            for shape in link.findall(tag):
                self._add_shape(element, tag, shape)

    def _add_shape(self, element: Element, tag: str, shape: Element) -> None:
        geometry = SubElement(Element('unused'), 'geometry')
        for kind, names in (
            ('box', ('size',)),
            ('sphere', ('radius',)),
            ('cylinder', ('radius', 'length')),
        ):
            found = shape.find(f'geometry/{kind}')
            if found is not None:
                SubElement(geometry, kind, {name: _text(found, name) for name in names})
        uri = _text(shape, 'geometry/mesh/uri')
        if uri:
            name = 'package://' + uri[len(_MODEL) :] if uri.startswith(_MODEL) else uri
            mesh = SubElement(geometry, 'mesh', filename=name)
            if _text(shape, 'geometry/mesh/scale'):
                mesh.set('scale', _text(shape, 'geometry/mesh/scale'))
        if len(geometry):
            part = SubElement(element, tag)
            part.append(origin_of(_pose(shape)))
            part.append(geometry)

    def _add_joint(self, joint: Element, held: str | None) -> None:
        name, kind = joint.get('name', ''), _KINDS.get(joint.get('type', ''), 'fixed')
        parent, child = _text(joint, 'parent'), _text(joint, 'child')
        place, beside = self._places[parent].actInv(self._places[child]), _pose(joint)
        if held or kind == 'fixed':
            add_joint(self._robot, name, 'fixed', parent, child, place)
            if kind != 'fixed':
                self._guesses.append(Guess(f'joint {name}', 'fixed at 0', LOW, str(held)))
            return
        if np.linalg.norm(beside.translation) > 1e-9:  # a link where it turns
            SubElement(self._robot, 'link', name=f'{name}_frame')
            turn = pin.SE3(np.eye(3), beside.translation)
            add_joint(self._robot, f'{name}_back', 'fixed', f'{name}_frame', child, turn.inverse())
            child, place = f'{name}_frame', place * turn
        element = add_joint(self._robot, name, kind, parent, child, place)
        axis = np.array([float(x) for x in (_text(joint, 'axis/xyz') or '0 0 1').split()])
        if (_text(joint, 'axis/use_parent_model_frame') or '0') in ('1', 'true'):
            axis = self._places[_text(joint, 'child')].rotation.T @ axis
        else:
            axis = beside.rotation @ axis
        SubElement(element, 'axis', xyz=numbers_text(axis))
        limit = {key: _text(joint, f'axis/limit/{key}') for key in ('lower', 'upper')}
        lower, upper = float(limit['lower'] or '-1e16'), float(limit['upper'] or '1e16')
        if kind == 'revolute' and upper - lower > 1e3:
            lower, upper = -np.pi, np.pi
        SubElement(
            element,
            'limit',
            lower=f'{lower:.9g}',
            upper=f'{upper:.9g}',
            effort=_text(joint, 'axis/limit/effort') or '1e9',
            velocity=_text(joint, 'axis/limit/velocity') or '100',
        )
        SubElement(
            element,
            'dynamics',
            damping=_text(joint, 'axis/dynamics/damping') or '0',
            friction=_text(joint, 'axis/dynamics/friction') or '0',
        )


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or '').strip()


def _pose(element: Element) -> pin.SE3:
    numbers = [float(number) for number in (_text(element, 'pose') or '0 0 0 0 0 0').split()]
    return pin.SE3(pin.rpy.rpyToMatrix(*numbers[3:]), np.array(numbers[:3]))
