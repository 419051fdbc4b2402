# SPDX-License-Identifier: Apache-2.0
"""Read a robot description of any format as a URDF text that is a walker's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from walking_control.exceptions import refusing, require, require_known, UrdfError
from walking_control.lab.adoption import (
    Description,
    Guess,
    HIGH,
    LOW,
    MEDIUM,
    TOLD,
    urdf_of_lua,
    urdf_of_mjcf,
    urdf_of_sdf,
)
from walking_control.lab.adoption.repair import repair
from walking_control.models import (
    add_joint,
    check_urdf,
    find_meshes,
    load_urdf,
    mimic_joints,
    moving_joints,
    origin_of,
    parse,
    parse_xml,
    place_meshes,
    placement_of,
    require_room,
    root_link,
)

BASE = 'hips'  # link that an adopted robot gets where its own base lies elsewhere or turned
_ANCHORS = ('world', 'map', 'odom', 'ground', 'universe')
_FREE = ('floating', 'planar')  # joints that no walker has but at a root


def read_description(path: Path | str, xacro_args: Mapping[str, str] | None = None) -> Description:
    """Return the `Description` of a URDF, xacro, MJCF or SDF file, or of a model of RBDL in Lua.

    Args:
        path: Of the description.
        xacro_args: Argument of a xacro -> value.

    Raises:
        InvalidInput: It is none of these, or describes no robot.
    """
    path = Path(path)
    require(
        path.is_file(),
        f'robot description {path}',
        limit='is a folder: give a file' if path.is_dir() else 'no such file',
        error=UrdfError,
    )
    if xacro_args or path.suffix.lower() == '.xacro':
        return _finish(load_urdf(path, xacro_args), path, 'URDF', [], {})
    if path.suffix == '.lua':
        return _finish(urdf_of_lua(path), path, 'Lua', [], {})
    with refusing(
        OSError, f'robot description {path}', limit='cannot be read: {error}', error=UrdfError
    ):
        root = parse_xml(path.read_bytes(), f'robot description {path}')
    if root.tag == 'mujoco':
        urdf, guesses, armatures = urdf_of_mjcf(path)
        return _finish(urdf, path, 'MJCF', guesses, armatures)
    if root.tag == 'sdf':
        urdf, guesses = urdf_of_sdf(root, path)
        return _finish(urdf, path, 'SDF', guesses, {})
    require(
        root.tag == 'robot',
        f'robot description {path}',
        value=root.tag,
        limit='the root element must be <robot> (URDF), <mujoco> (MJCF) or <sdf>',
        error=UrdfError,
    )
    return _finish(ElementTree.tostring(root, encoding='unicode'), path, 'URDF', [], {})


def _finish(
    urdf: str, path: Path, kind: str, guesses: list[Guess], armatures: dict[str, float]
) -> Description:
    root = parse(urdf, path)
    guesses = [*guesses, *_cut_anchor(root), *repair(root, path.parent)]
    urdf = ElementTree.tostring(root, encoding='unicode')
    check_urdf(urdf, path)
    name = re.sub('[^A-Za-z0-9_.-]', '_', root.get('name') or path.stem).strip('_.-')[:64]
    return Description(
        name or 'robot',
        place_meshes(urdf, find_meshes(urdf, path.parent)),
        path,
        kind,
        guesses,
        armatures,
    )


def _cut_anchor(root: ElementTree.Element) -> Iterator[Guess]:
    """Take away a world, by any name, that the base hangs on: plants give a robot its root."""
    children = {
        joint.find('child').get('link')  # type: ignore[union-attr]
        for joint in root.findall('joint')
        if joint.find('child') is not None
    }
    for link in root.findall('link'):
        name = link.get('name', '')
        at = [
            joint
            for joint in root.findall('joint')
            if joint.find('parent') is not None and joint.find('parent').get('link') == name  # type: ignore[union-attr]
        ]
        if (
            name not in children
            and link.find('inertial') is None
            and len(at) == 1
            and (at[0].get('type') in _FREE or name in _ANCHORS and at[0].get('type') == 'fixed')
        ):
            root.remove(link)
            root.remove(at[0])
            yield Guess(
                'root',
                f'{name} taken away',
                HIGH,
                'it has no mass; plants add their own root joint',
            )


def fix_joints(
    description: Description,
    fixed: Mapping[str, float],
    efforts: Mapping[str, float],
    armatures: Mapping[str, float] | None = None,
) -> None:
    """Make joints fixed that were told to be, and those that no motor can turn.

    Args:
        description: Changed.
        fixed: joint -> position, as told.
        efforts: joint -> effort limit, as told.
        armatures: joint -> inertia of its rotor, as told.

    Raises:
        InvalidInput: A name is no moving joint, or one that stays has no room to move.
    """
    root = parse(description.urdf)
    joints = {joint.name: joint for joint in moving_joints(description.urdf)}
    for what, names in (('--fix', fixed), ('--effort', efforts), ('--armature', armatures or {})):
        for name, value in names.items():
            require_known(
                name, joints, f'{what} {name}', limit='is no moving joint of the description'
            )
            require(
                value >= 0.0 or names is fixed,
                f'{what} {name}',
                value=value,
                limit='must not be negative',
            )
    description.armatures.update(armatures or {})
    mimics = mimic_joints(root)
    for element in root.findall('joint'):
        name = element.get('name', '')
        if name not in joints:
            continue
        at = fixed.get(name, min(max(0.0, joints[name].lower), joints[name].upper))
        if name in fixed:
            said = TOLD, 'as told', '--fix'
        elif name in mimics:
            said = MEDIUM, f'it mimics {mimics[name]}; coupled joints are not modelled', '--fix'
        elif joints[name].effort <= 0.0 and name not in efforts:
            said = LOW, 'its effort limit is 0: no motor', '--effort, --fix'
        else:
            continue
        _fix(element, at)
        description.guesses.append(Guess(f'joint {name}', f'fixed at {at:g}', *said))
    description.urdf = ElementTree.tostring(root, encoding='unicode')
    require_room(description.urdf)


def _fix(joint: ElementTree.Element, position: float) -> None:
    """Make a joint fixed at a position."""
    element = joint.find('axis')
    axis = np.array(
        [float(x) for x in ('1 0 0' if element is None else element.get('xyz', '1 0 0')).split()]
    )
    axis /= np.linalg.norm(axis)
    place = placement_of(joint) * (
        pin.SE3(np.eye(3), position * axis)
        if joint.get('type') == 'prismatic'
        else pin.SE3(pin.exp3(position * axis), np.zeros(3))
    )
    joint.set('type', 'fixed')
    for tag in ('axis', 'limit', 'mimic', 'dynamics', 'origin'):
        for element in joint.findall(tag):
            joint.remove(element)
    joint.append(origin_of(place))


def place_base(description: Description, place: pin.SE3) -> None:
    """Give a robot a new root link, to which the old one is fixed; no other part changes.

    Args:
        description: The `Description`, changed.
        place: Of the new root in the old one.
    """
    root = parse(description.urdf)
    old, links = root_link(root), {link.get('name') for link in root.findall('link')}
    name = BASE
    while name in links:
        name += '_'
    ElementTree.SubElement(root, 'link', name=name)
    add_joint(root, f'{name}_joint', 'fixed', name, old, place.inverse())
    description.urdf = ElementTree.tostring(root, encoding='unicode')
