# SPDX-License-Identifier: Apache-2.0
"""Which endpoints of the ROS graph belong to a process of this machine that has ended.

DDS remembers what crashed for some twenty seconds. Fast DDS writes machine and process into the
identity of an endpoint (https://fast-dds.docs.eprosima.com, GUID), so that nobody need wait.
"""

from collections.abc import Iterable, Iterator
import os
from pathlib import Path

MACHINE, PROCESS, WHOLE = slice(0, 4), slice(4, 6), slice(0, 8)   # bytes of an identity
HALF = 1 << 16   # process numbers are told modulo this


class EndedProcesses:
    """Knows processes that were seen at work and have gone since.

    Whatever was not seen alive counts as alive: another machine or container, another middleware.

    Args:
        own: Identities of endpoints of this process.
    """

    def __init__(self, own: Iterable[bytes]) -> None:
        ours = os.getpid() % HALF
        self._machines = {gid[MACHINE] for gid in own if _process(gid) == ours}
        # participant -> numbers of the processes that it may have been
        self._seen: dict[bytes, list[int]] = {}

    def has_ended(self, gid: bytes) -> bool:
        """Return whether the process of an endpoint's identity has ended; remember it if not."""
        participant = gid[WHOLE]
        if participant not in self._seen:
            self._seen[participant] = [
                number for number in _numbers() if number % HALF == _process(gid)
                and _runs(number)] if gid[MACHINE] in self._machines else []
        numbers = self._seen[participant]
        return bool(numbers) and not any(map(_runs, numbers))


def _process(gid: bytes) -> int:
    return int.from_bytes(gid[PROCESS], 'little')


def _numbers() -> Iterator[int]:
    return (int(path.name) for path in Path('/proc').glob('[0-9]*'))


def _runs(number: int) -> bool:
    try:
        state = Path(f'/proc/{number}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state not in 'ZX'   # ended, and nobody has asked how
