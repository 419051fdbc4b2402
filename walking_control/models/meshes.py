# SPDX-License-Identifier: Apache-2.0
"""Where the mesh files of a URDF lie."""

from collections.abc import Iterator, Mapping
import os
from os.path import isfile  # False of what cannot be a path, such as one too long
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

from walking_control.models.urdf import parse


def find_meshes(urdf: str, folder: Path | str) -> dict[str, str]:
    """Return name -> path of the mesh files of a URDF that are there, by what it calls them.

    Args:
        urdf: URDF text.
        folder: Where the URDF lies; relative names count from there.
    """
    found = {}
    for _, mesh in _meshes(parse(urdf)):
        name = mesh.get('filename', '')
        path = next(filter(isfile, _candidates(name, Path(folder))), None)
        if path is not None:
            found[name] = str(path.resolve())
    return found


def missing_meshes(urdf: str, found: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (tag, name) of every mesh that is not there; the tag is visual or collision.

    Args:
        urdf: URDF text.
        found: From `find_meshes`.
    """
    return [(tag, mesh.get('filename', '')) for tag, mesh in _meshes(parse(urdf))
            if mesh.get('filename', '') not in found]


def place_meshes(urdf: str, found: Mapping[str, str]) -> str:
    """Return a URDF text that calls its meshes by their paths.

    Readers of the text alone would look for them in the working directory.

    Args:
        urdf: URDF text.
        found: From `find_meshes`.
    """
    if not found:
        return urdf
    root = parse(urdf)
    for _, mesh in _meshes(root):
        name = mesh.get('filename', '')
        mesh.set('filename', found.get(name, name))
    return ElementTree.tostring(root, encoding='unicode')


def _meshes(root: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    for tag in ('collision', 'visual'):
        for element in root.iter(tag):
            for mesh in element.iter('mesh'):
                yield tag, mesh


def _candidates(name: str, folder: Path) -> list[Path]:
    """Return the paths a mesh name may stand for."""
    try:
        parts = urlparse(name)
    except ValueError:   # half an address, such as http://[
        return []
    if parts.scheme == 'file':
        return [Path(unquote(parts.path))]
    if parts.scheme != 'package':
        return [folder / name]
    package, inside = parts.netloc, unquote(parts.path).lstrip('/')
    shares = [Path(prefix) / 'share' for prefix in _listed('AMENT_PREFIX_PATH')]
    roots = [*shares, *map(Path, _listed('ROS_PACKAGE_PATH')), *folder.resolve().parents]
    around = [folder.resolve(), *folder.resolve().parents]
    return [*(root / package / inside for root in roots),   # a package may lie in another folder
            *(parent / inside for parent in sorted(around, key=lambda at: at.name != package))]


def _listed(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
