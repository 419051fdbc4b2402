# SPDX-License-Identifier: Apache-2.0
"""Where the mesh files of a URDF lie."""

import os
from pathlib import Path
from urllib.parse import unquote, urlparse

from walking_control.models.urdf import parse


def missing_meshes(urdf: str, folder: Path | str) -> list[tuple[str, str]]:
    """Return (tag, name) of every mesh that is not there; the tag is visual or collision.

    Args:
        urdf: URDF text.
        folder: Where the URDF lies; relative names count from there.
    """
    missing = []
    for tag in ('collision', 'visual'):
        for element in parse(urdf).iter(tag):
            for mesh in element.iter('mesh'):
                name = mesh.get('filename') or ''
                if not any(path.is_file() for path in _candidates(name, Path(folder))):
                    missing.append((tag, name))
    return missing


def _candidates(name: str, folder: Path) -> list[Path]:
    """Return the paths a mesh name may stand for."""
    parts = urlparse(name)
    if parts.scheme == 'file':
        return [Path(unquote(parts.path))]
    if parts.scheme != 'package':
        return [folder / name]
    package, inside = parts.netloc, unquote(parts.path).lstrip('/')
    shares = [Path(prefix) / 'share' for prefix in _listed('AMENT_PREFIX_PATH')]
    roots = [*shares, *map(Path, _listed('ROS_PACKAGE_PATH')), *folder.resolve().parents]
    return [*(root / package / inside for root in roots),
            *(parent / inside for parent in (folder.resolve(), *folder.resolve().parents)
              if parent.name == package)]


def _listed(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
