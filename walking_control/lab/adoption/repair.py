# SPDX-License-Identifier: Apache-2.0
"""Slips of exporters that are mended, each with a note: what no reader of robots needs to refuse.

Inertias no body can have become those MuJoCo's ``balanceinertia`` makes; a revolute joint whose
limits were forgotten turns half a turn either way; a motor whose speed limit is 0 gets none; meshes
that are not there are left out.
"""

from collections.abc import Callable
import math
from pathlib import Path
import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring, ParseError, SubElement, tostring

import numpy as np

from walking_control.lab.adoption import Guess, REPAIRED
from walking_control.models import find_meshes

MOTE = 1e-5  # of the robot's mass: a fixed part that is lighter moves nothing
LEAST = 1e-9  # of the largest moment: a balanced inertia has none smaller
UNLIMITED = 100.0  # rad/s or m/s: of a joint without a speed limit
TRIES = 200  # of mending an MJCF: one slip each, a mesh or texture that is not there too
ENTRIES = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')


def repair(root: Element, folder: Path) -> list[Guess]:
    """Mend a URDF, changed in place, and return what was mended.

    Args:
        root: Its ``<robot>``.
        folder: Where it lies.
    """
    mended = [
        (
            'inertia of {all}',
            _balance(root),
            'principal moments must be positive, '
            'none above the sum of the others: all three their mean',
            'balanced',
        ),
        (
            '{all}',
            _fold(root),
            f'lighter than {MOTE:g} of the robot',
            'left to the parts they are fixed to',
        ),
        (
            'limits of {all}',
            _loosen(root),
            'revolute joints without limits',
            'half a turn either way',
        ),
        (
            'speed limits of {all}',
            _speed_up(root),
            'a joint with a motor and a speed limit of 0',
            f'{UNLIMITED:g} rad/s',
        ),
        (
            'meshes',
            _drop_meshes(root, folder),
            '{first} and others are not there: sizes are '
            'guessed without them; AMENT_PREFIX_PATH says where package:// is',
            '{count} not read, left out',
        ),
    ]
    return [
        _said(
            what.format(all=', '.join(names)),
            why.format(first=names[0]),
            value.format(count=len(names)),
        )
        for what, names, why, value in mended
        if names
    ]


def _said(what: str, why: str, value: str) -> Guess:
    return Guess(what, value, REPAIRED, why, '--strict refuses it')


def tensor_of(inertia: Element) -> np.ndarray:
    """Return the tensor of an ``<inertia>``, ``(3, 3)``; NaN where an entry is no number."""
    try:
        xx, yy, zz, xy, xz, yz = (float(inertia.get(key, 'nan')) for key in ENTRIES)
    except ValueError:
        xx = yy = zz = xy = xz = yz = math.nan
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _balance(root: Element) -> list[str]:
    names = []
    for link in root.findall('link'):
        inertia = link.find('inertial/inertia')
        if inertia is None or not np.isfinite(tensor := tensor_of(inertia)).all():
            continue  # said by who reads it
        moments, axes = np.linalg.eigh(tensor)
        slack = 1e-9 * max(1e-6, abs(moments).max())
        if moments[0] >= -slack and moments[2] <= moments[0] + moments[1] + slack:
            continue
        moments = np.maximum(moments, LEAST * abs(moments).max())
        if moments[2] > moments[0] + moments[1]:
            moments[:] = moments.mean()
        tensor = (axes * moments) @ axes.T
        for key, value in zip(
            ENTRIES, (*tensor.diagonal(), *tensor[np.triu_indices(3, 1)]), strict=True
        ):
            inertia.set(key, f'{value:.9g}')
        names.append(link.get('name', ''))
    return names


def _fold(root: Element) -> list[str]:
    """Take the inertia from motes that are fixed to a part."""
    masses = {}
    for link in root.findall('link'):
        try:
            masses[link.get('name')] = float(link.find('inertial/mass').get('value'))  # type: ignore[union-attr, arg-type]
        except (AttributeError, TypeError, ValueError):
            continue
    fixed = {
        joint.find('child').get('link')  # type: ignore[union-attr]
        for joint in root.findall('joint')
        if joint.get('type') == 'fixed' and joint.find('child') is not None
    }
    motes = [
        name
        for name, mass in masses.items()
        if name in fixed and 0.0 < mass < MOTE * sum(masses.values())
    ]
    for link in root.findall('link'):
        if link.get('name') in motes:
            link.remove(link.find('inertial'))  # type: ignore[arg-type]
    return [str(name) for name in motes]


def _loosen(root: Element) -> list[str]:
    """Give revolute joints without any limit of their position one."""
    names = []
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if (
            joint.get('type') != 'revolute'
            or joint.find('mimic') is not None
            or (limit is not None and not {'lower', 'upper'}.isdisjoint(limit.keys()))
        ):
            continue
        limit = SubElement(joint, 'limit') if limit is None else limit
        limit.attrib.update(lower=f'{-math.pi:.9g}', upper=f'{math.pi:.9g}')
        names.append(joint.get('name', ''))
    return names


def _speed_up(root: Element) -> list[str]:
    """Give joints whose speed limit is zero, as exporters write it, one that nobody meant."""
    names = []
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if limit is None or joint.get('type') == 'fixed':
            continue
        try:
            velocity, effort = (float(limit.get(name, 'nan')) for name in ('velocity', 'effort'))
        except ValueError:
            continue  # said by who reads it
        if velocity <= 0.0 < effort:
            limit.set('velocity', f'{UNLIMITED:g}')
            names.append(joint.get('name', ''))
    return names


def _drop_meshes(root: Element, folder: Path) -> list[str]:
    there, missing = find_meshes(tostring(root, encoding='unicode'), folder), []
    for link in root.findall('link'):
        for tag in ('visual', 'collision'):
            for part in link.findall(tag):
                mesh = part.find('geometry/mesh')
                if mesh is not None and mesh.get('filename', '') not in there:
                    missing.append(mesh.get('filename', ''))
                    link.remove(part)
    return sorted(set(missing))


def compile_mended(
    compile_text: Callable[[str], Any], path: Path, problem: str
) -> tuple[Any, list[Guess]]:
    """Return what MuJoCo compiles of an MJCF it refused, and what was mended for it.

    Args:
        compile_text: Compiles a text.
        path: Of the MJCF.
        problem: Why it was refused.

    Raises:
        ValueError: It cannot be mended; MuJoCo's words.
    """
    try:
        root = _whole(path)
    except (OSError, ParseError):
        raise ValueError(problem) from None
    if not any({'meshdir', 'assetdir'} & set(each.keys()) for each in root.findall('compiler')):
        root.insert(0, Element('compiler', assetdir=str(path.parent.resolve())))
    notes: list[str] = []
    while len(notes) < TRIES and (note := _mend(root, problem)):
        notes.append(note)
        try:
            model = compile_text(tostring(root, encoding='unicode'))
        except ValueError as error:
            problem = str(error)
        else:
            return model, [
                _said(
                    'MJCF',
                    'MuJoCo refuses it with them: ' + ', '.join(dict.fromkeys(notes)),
                    'parts left out',
                )
            ]
    raise ValueError(problem)


def _whole(path: Path) -> Element:
    """Return an MJCF with its includes in place and the folders that it names absolute."""
    root = fromstring(path.read_bytes())
    for parent in list(root.iter()):
        for include in parent.findall('include'):
            at = list(parent).index(include)
            parent.remove(include)
            for i, part in enumerate(_whole(path.parent / include.get('file', ''))):
                parent.insert(at + i, part)
    for compiler in root.findall('compiler'):
        for folder in ('meshdir', 'texturedir', 'assetdir'):
            if compiler.get(folder) is not None:
                compiler.set(folder, str((path.parent / compiler.get(folder, '')).resolve()))
    return root


def _mend(root: Element, problem: str) -> str | None:
    """Take what MuJoCo complains of out of an MJCF and return what it was; None: nothing."""
    unknown = re.search(r"unrecognized attribute: '(\w+)'\s*Element '(\w+)'", problem)
    if unknown:
        attribute, tag = unknown.groups()
        for element in root.iter(tag):
            element.attrib.pop(attribute, None)
        return f'attribute {attribute} of {tag}'
    absent = re.search(r"geom '([^']+)' not found", problem)  # the floor of a scene, usually
    if absent:
        for parent in list(root.iter('contact')):
            for pair in parent.findall('pair'):
                if absent.group(1) in (pair.get('geom1'), pair.get('geom2')):
                    parent.remove(pair)
        return f'contacts with {absent.group(1)}, which is not there'
    lost = re.search(r"(?:opening|open|read|load|file)[^']*'([^']+)'", problem) or re.search(
        r"(?:vertices required\s*Element name '|mesh volume is too small: )([^'\s]+)", problem
    )
    if not lost:
        return None
    name = Path(lost.group(1)).name
    gone = {
        (element.tag, element.get('name') or Path(element.get('file', '')).stem)
        for element in root.iter()
        if Path(element.get('file', '')).name == name
        or (element.tag, element.get('name') or Path(element.get('file', '')).stem)
        == ('mesh', name)
    }
    for parent in list(root.iter()):
        for element in list(parent):
            if ('texture', element.get('texture')) in gone:
                element.attrib.pop('texture')
            if (
                (element.tag, element.get('name') or Path(element.get('file', '')).stem) in gone
                or element.tag == 'geom'
                and ('mesh', element.get('mesh')) in gone
            ):
                parent.remove(element)
    return f'file {name}' if gone else None
