# SPDX-License-Identifier: Apache-2.0
"""Where the demos of this user run, so that another shell finds them."""

from collections.abc import Iterator
import contextlib
from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import tempfile

from walking_control.exceptions import require


@dataclass(frozen=True)
class DemoPlace:
    """Where a demo's nodes are.

    Args:
        domain: ROS domain.
        namespace: Namespace of its nodes and topics.
    """

    domain: str
    namespace: str


def _folder() -> Path:
    return Path(tempfile.gettempdir()) / f'walking_control-{os.getuid()}'


@contextlib.contextmanager
def announce(place: DemoPlace) -> Iterator[None]:
    """Let others find a demo of this process while the context lasts."""
    path = _folder() / f'{os.getpid()}.json'
    # else the demo runs all the same; it is found by --domain and --namespace
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(json.dumps(asdict(place)), encoding='utf-8')
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def find_demo() -> DemoPlace:
    """Return the `DemoPlace` of the one demo that runs.

    Raises:
        InvalidInput: None runs, or more than one.
    """
    places = {
        path.stem: place
        for path in sorted(_folder().glob('*.json'))
        if (place := _read(path)) is not None
    }
    remedy = (
        'walking_control demo --realtime --duration 600'
        if not places
        else 'choose by --domain and --namespace: '
        + ', '.join(
            f'--domain {place.domain} --namespace {place.namespace}' for place in places.values()
        )
    )
    require(
        len(places) == 1, 'running demos', value=len(places), limit='must be one', remedy=remedy
    )
    return next(iter(places.values()))


def _read(path: Path) -> DemoPlace | None:
    """Return the place in a file, or None if its process is gone."""
    try:
        os.kill(int(path.stem), 0)
        return DemoPlace(**json.loads(path.read_text(encoding='utf-8')))
    except PermissionError:
        return None
    except (OSError, ValueError, TypeError):  # ended without saying so
        with contextlib.suppress(OSError):
            path.unlink()
        return None
