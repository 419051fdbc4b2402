# SPDX-License-Identifier: Apache-2.0
"""Where the package's own files (robot files, URDF, launch) lie, however it was installed."""

from functools import cache
from importlib import metadata
from os.path import isfile  # False of what cannot be a path, such as one too long
from pathlib import Path
from typing import NoReturn

from walking_control.exceptions import InvalidInput

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
    return _from_distribution() or _from_ament_index() or _missing()


def _from_distribution() -> Path | None:
    try:
        files = metadata.files(_PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.match(f'share/{_PACKAGE}/package.xml'):
            directory = Path(file.locate()).resolve().parent
            if (directory / 'config').is_dir():
                return directory
    return None


def _from_ament_index() -> Path | None:
    try:
        from ament_index_python.packages import get_package_share_directory
        return Path(get_package_share_directory(_PACKAGE))
    except (ImportError, LookupError, OSError):
        return None


def _missing() -> NoReturn:
    raise InvalidInput('the files of walking_control', limit='not found beside the package',
                       remedy='install it with pip or colcon (pip install -e leaves them out)')


def gait_path(name_or_path: str | Path) -> Path:
    """Return the path of a gait file given its path, or its name if it ships with the package.

    A folder of that name, as a robot's reports may lie in, hides no shipped gait.
    """
    if Path(name_or_path).suffix or isfile(name_or_path):
        return Path(name_or_path)
    shipped = share_directory() / 'config' / 'gaits' / f'{name_or_path}.yaml'
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
    if Path(name_or_path).suffix in DESCRIPTIONS:
        raise InvalidInput('robot file', value=str(name_or_path), limit='is the description of a '
                           'robot, which says nothing of feet, motors and start', remedy='make a '
                           f'robot file of it: walking_control adopt {name_or_path} --out DIR')
    path = _given_or_shipped(name_or_path, 'robots', 'robot', 'robot file', 'a robot file')
    return path.resolve() if path == Path(name_or_path) else path


def _shipped_names(folder: str) -> list[str]:
    return sorted(path.stem for path in (share_directory() / 'config' / folder).glob('*.yaml'))


def _given_or_shipped(name_or_path: str | Path, folder: str, what: str, file: str,
                      kind: str) -> Path:
    """Return a path that is given, or that of what ships under a name in a folder of config."""
    path = Path(name_or_path)
    if path.suffix in ('.yaml', '.yml') or isfile(path):
        if isfile(path):
            return path
        raise InvalidInput(f'{file} {path}', limit='no such file')
    path = share_directory() / 'config' / folder / f'{name_or_path}.yaml'
    if not isfile(path):
        raise InvalidInput(what, value=str(name_or_path), limit='unknown',
                           remedy='known: ' + ', '.join(_shipped_names(folder))
                           + f'; or give the path of {kind}')
    return path
