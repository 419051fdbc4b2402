# SPDX-License-Identifier: Apache-2.0
"""Where files lie: those of the package (robot files, URDF, launch), and meshes of a URDF."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import metadata
import os
from os.path import isfile
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

from walking_control.exceptions import given, InvalidInput, require
from walking_control.models.urdf import parse

_PACKAGE = 'walking_control'
DESCRIPTIONS = ('.urdf', '.xacro', '.xml', '.mjcf', '.sdf')


@cache
def share_directory() -> Path:
    """Return the directory that holds ``config/``, ``urdf/`` and ``launch/``.

    A source checkout comes first, then an installed distribution (pip), then the ament index
    (colcon).

    Raises:
        InvalidInput: None of the three holds the files.
    """
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / 'package.xml').is_file():
        return checkout
    found = given(
        _from_distribution() or _from_ament_index(),
        'the files of walking_control',
        limit='not found beside the package',
        remedy='install it with pip or colcon (pip install -e leaves them out)',
    )
    return found


def _from_distribution() -> Path | None:
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(_PACKAGE) or ():
            directory = Path(file.locate()).parent
            if file.match(f'share/{_PACKAGE}/package.xml') and (directory / 'config').is_dir():
                return directory.resolve()
    return None


def _from_ament_index() -> Path | None:
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(_PACKAGE))
    except (ImportError, LookupError, OSError):
        return None


def gait_path(name_or_path: str | Path) -> Path:
    """Return the path of a gait file given its path, or its name if it ships with the package.

    A folder of that name, as a robot's reports may lie in, hides no shipped gait.
    """
    return _shipped(name_or_path, 'gaits')


def policy_path(name_or_path: str | Path) -> Path:
    """Return the path of a policy's description, given as `gait_path` has it."""
    return _shipped(name_or_path, 'policies')


def _shipped(name_or_path: str | Path, folder: str) -> Path:
    if Path(name_or_path).suffix or isfile(name_or_path):
        return Path(name_or_path)
    shipped = share_directory() / 'config' / folder / f'{name_or_path}.yaml'
    return shipped if isfile(shipped) else Path(name_or_path)


def gait_beside(file: str | Path, name_or_path: str) -> str:
    """Return what a file says of a gait, a path of it, if it is one, made absolute.

    Args:
        file: Path of the file that says it; relative paths count from its folder.
        name_or_path: Path of a gait file, or name of a shipped one, which stays as it is.
    """
    path = Path(file).resolve().parent / name_or_path
    return str(path) if path.suffix or isfile(path) else name_or_path


def noise_path(name_or_path: str | Path) -> Path:
    """Return the path of a noise preset given its name or its path.

    Raises:
        InvalidInput: There is no such preset.
    """
    return _given_or_shipped(name_or_path, 'noise', 'noise preset', 'noise preset', 'a file')


def drives_path(name_or_path: str | Path) -> Path:
    """Return the path of a file of drives given its name or its path.

    Raises:
        InvalidInput: There is no such file.
    """
    return _given_or_shipped(name_or_path, 'drives', 'drives', 'file of drives', 'a file')


def route_path(name_or_path: str | Path) -> Path:
    """Return the path of a route file given its name or its path.

    Raises:
        InvalidInput: There is no such route.
    """
    return _given_or_shipped(name_or_path, 'routes', 'route', 'route file', 'a file')


def route_names() -> list[str]:
    """Return the names of the routes that ship with the package."""
    return _shipped_names('routes')


def robot_names() -> list[str]:
    """Return the names of the robots that ship with the package."""
    return _shipped_names('robots')


def robot_path(name_or_path: str | Path) -> Path:
    """Return the path of a robot file given its name or its path.

    Raises:
        InvalidInput: There is no such robot, or it is a URDF.
    """
    require(
        Path(name_or_path).suffix.lower() not in DESCRIPTIONS,
        'robot file',
        value=str(name_or_path),
        limit='is the description of a robot, which says nothing of feet, motors and start',
        remedy=f'make a robot file of it: walking_control adopt {name_or_path} --out DIR',
    )
    path = _given_or_shipped(name_or_path, 'robots', 'robot', 'robot file', 'a robot file')
    return path.resolve() if path == Path(name_or_path) else path


def _shipped_names(folder: str) -> list[str]:
    return sorted(path.stem for path in (share_directory() / 'config' / folder).glob('*.yaml'))


def _given_or_shipped(
    name_or_path: str | Path, folder: str, what: str, file: str, kind: str
) -> Path:
    """Return a path that is given, or that of what ships under a name in a folder of config.

    Args:
        name_or_path: The name or the path.
        folder: The folder.
        what: How messages call the thing.
        file: How they call its file.
        kind: What to give the path of, instead of a name.
    """
    path = Path(name_or_path)
    if path.suffix in ('.yaml', '.yml') or isfile(path):
        require(isfile(path), f'{file} {path}', limit='no such file')
        return path
    path = share_directory() / 'config' / folder / f'{name_or_path}.yaml'
    if not isfile(path):
        known = _shipped_names(folder)
        near = get_close_matches(str(name_or_path), known, 1)
        raise InvalidInput(
            what,
            value=str(name_or_path),
            limit=f'unknown, did you mean {near[0]}?' if near else 'unknown',
            remedy='known: ' + ', '.join(known) + f'; or give the path of {kind}',
        )
    return path


def find_meshes(urdf: str, folder: Path | str) -> dict[str, str]:
    """Return name -> path of the mesh files of a URDF that are there, by what it calls them.

    Args:
        urdf: URDF text.
        folder: Where the URDF lies; relative names count from there.
    """
    names = [mesh.get('filename', '') for _, mesh in _meshes(parse(urdf))]
    # each folder is listed once, and only where a mesh is not found under its very name
    listed = cache(lambda at: {each.name.lower(): each for each in at.iterdir() if isfile(each)})
    paths = {
        name: next(
            filter(None, (_file_at(path, listed) for path in _candidates(name, Path(folder)))), None
        )
        for name in names
    }
    return {name: str(path.resolve()) for name, path in paths.items() if path is not None}


def missing_meshes(urdf: str, found: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (tag, name) of every mesh that is not there; the tag is visual or collision.

    Args:
        urdf: URDF text.
        found: From `find_meshes`.
    """
    return [
        (tag, mesh.get('filename', ''))
        for tag, mesh in _meshes(parse(urdf))
        if mesh.get('filename', '') not in found
    ]


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


def _file_at(path: Path, listed: Callable[[Path], dict[str, Path]]) -> Path | None:
    """Return a file, though its name has other capitals: not every system tells them apart."""
    with suppress(OSError, ValueError):
        return path if isfile(path) else listed(path.parent).get(path.name.lower())
    return None


def _candidates(name: str, folder: Path) -> list[Path]:
    """Return the paths a mesh name may stand for."""
    try:
        parts = urlparse(name)
    except ValueError:  # half an address, such as http://[
        return []
    if parts.scheme == 'file':
        return [Path(unquote(parts.path))]
    if parts.scheme != 'package':
        return [folder / name]
    package, inside = parts.netloc, unquote(parts.path).lstrip('/')
    shares = [Path(prefix) / 'share' for prefix in _listed('AMENT_PREFIX_PATH')]
    roots = [*shares, *map(Path, _listed('ROS_PACKAGE_PATH')), *folder.resolve().parents]
    around = [folder.resolve(), *folder.resolve().parents]
    return [
        *(root / package / inside for root in roots),  # a package may lie in another folder
        *(parent / inside for parent in sorted(around, key=lambda at: at.name != package)),
    ]


def _listed(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
