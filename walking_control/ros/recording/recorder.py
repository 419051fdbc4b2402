# SPDX-License-Identifier: Apache-2.0
"""Flight recorder: a controller tick by tick, on the disk within `FLUSH`, by its own thread."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count, groupby
from pathlib import Path
import re
import threading
import time
from typing import Any

import numpy as np
import yaml

from walking_control.exceptions import InvalidInput, refusing, require
from walking_control.models import Command, Measurement, Reference, RobotFile
from walking_control.ros.recording import McapFile, ticks
from walking_control.ros.ros2_control import names

SUFFIX = '.mcap'
ROBOT_FILE = 'walking_controller/robot_file'
CONTROLLER = 'walking_controller/controller'
FLUSH = 0.1  # s between two writes
LOST = 0.3  # s: no more than that is missing of what a killed program heard
BEFORE, AFTER = 60.0, 2.0  # s around a fault that are saved
CHUNK = 10  # segments of them a chunk
FAULTS, FAULT_BYTES = 20, 256 << 20  # so many files of faults are kept, and bytes in them
WAIT = 5.0  # s for the disk, at the end
MOST = 100_000  # ticks kept in memory, also where a disk stands still


def bag_path(path: Path) -> Path:
    """Return the path of a bag that can be written.

    Raises:
        InvalidInput: It is no ``.mcap``, or something lies there already.
    """
    _check_suffix(path)
    require(
        not path.exists(),
        f'recording {path}',
        limit='exists',
        remedy='choose another name, or take it away',
    )
    return path


def _check_suffix(path: Path) -> None:
    require(path.suffix == SUFFIX, f'recording {path}', limit=f'must end in {SUFFIX}')


class Recorder:
    """Records a controller tick by tick, and what was before and after its faults.

    A disk that fills up or fails ends a recording, not the walk: what there was stays readable.

    Args:
        robot_file: The `RobotFile` with the parameters as they are.
        controller: Name of the controller.
        path: Of a ``.mcap`` that holds all; None keeps nothing but the last `BEFORE`.
        faults: Of the ``.mcap`` that a fault is saved in, numbered where one exists; or None. The
            oldest give way, see `make_room`.
        say: Called with a sentence, and whether it is a complaint, from our thread too.

    Attributes:
        problem: Why the recording of all ended early, or None.

    Raises:
        MissingDependency: rosbags is not installed.
        InvalidInput: The file cannot be made.
    """

    def __init__(
        self,
        robot_file: RobotFile,
        controller: str,
        path: Path | None = None,
        faults: Path | None = None,
        say: Callable[[str, bool], None] = lambda words, complaint: None,
    ) -> None:
        self.path, self._faults, self._say = path, faults, say
        self.problem: str | None = None
        if faults is not None:
            _check_suffix(faults)
        self._content = _Content(robot_file, controller)
        self._all = None if path is None else _Bag(bag_path(path), self._content)
        self._fault: _Bag | None = None
        self._until = 0.0  # where that ends, by the steady clock
        self._queue: deque[tuple[float, np.ndarray, ticks.Wanted]] = deque(maxlen=MOST)
        self._ring: deque[ticks.Stretch] = deque()
        self._wanted, self._last = ticks.wanted(Reference()), 0  # the last time of a message, ns
        self._failed, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name='recorder', daemon=True)
        self._thread.start()

    # -- of the control thread -------------------------------------------------------------------

    def write(self, measurement: Measurement, command: Command, reference: Reference) -> None:
        """Record a measurement, what was wanted and the command that answers both."""
        now = ticks.wanted(reference)
        if now != self._wanted:
            self._wanted = now
        self._queue.append((measurement.stamp, ticks.row_of(measurement, command), self._wanted))

    def save_fault(self) -> None:
        """Save what was before now and comes after, soon."""
        self._failed.set()

    def close(self) -> Path | None:
        """Finish all files; return the path of that of all, None where it ended early."""
        if self._closing.is_set():
            return None
        self._closing.set()
        self._thread.join(WAIT)
        if self._thread.is_alive():
            self.problem = f'recording {self.path or self._faults}: the disk does not answer'
            self._say(self.problem, True)
        return self.path if self.problem is None else None

    # -- of our thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closing.wait(FLUSH):
                self._flush()
            self._flush()
        except Exception as error:  # nothing here may end the walk, or go unheard
            self._faults = self._fault = None
            self._give_up(error)
        self._end_fault()
        if self._all is not None:
            try:
                self._all.close()
            except OSError as error:
                self._give_up(error)

    def _flush(self) -> None:
        failed = self._failed.is_set()
        self._failed.clear()
        segments = list(self._segments([self._queue.popleft() for _ in range(len(self._queue))]))
        if self._faults is not None:
            self._keep(segments)
            self._write_fault(failed, segments)
        if self._all is not None and segments:
            try:
                self._all.write(segments)
            except OSError as error:
                self._give_up(error)

    def _segments(
        self, entries: Iterable[tuple[float, np.ndarray, ticks.Wanted]]
    ) -> Iterator[ticks.Stretch]:
        now = time.monotonic()
        for asked, group in groupby(entries, key=lambda entry: entry[2]):
            stamps, rows, _ = zip(*group)
            nanoseconds = np.rint(np.array(stamps) * 1e9).astype(np.int64)
            times = np.maximum(np.maximum.accumulate(nanoseconds), self._last)
            self._last = int(times[-1])
            yield ticks.Stretch(asked, nanoseconds, times, np.array(rows), now)

    def _keep(self, segments: list[ticks.Stretch]) -> None:
        self._ring.extend(segments)
        kept = sum(len(segment.stamps) for segment in self._ring)
        while self._ring and (kept > MOST or self._ring[0].heard < time.monotonic() - BEFORE):
            kept -= len(self._ring.popleft().stamps)

    def _write_fault(self, failed: bool, segments: list[ticks.Stretch]) -> None:
        now = time.monotonic()
        try:
            if self._fault is not None and segments:
                self._fault.write(segments)
            if self._fault is not None and now > self._until:
                self._end_fault()
            elif failed and not self._ring:
                self._failed.set()  # its tick is on the way
            elif failed and self._fault is None and self._faults is not None:
                make_room(self._faults)
                path = next(path for path in numbered(self._faults) if not path.exists())
                self._fault, self._until = _Bag(path, self._content), now + AFTER
                ring = list(self._ring)
                for i in range(0, len(ring), CHUNK):
                    self._fault.write(ring[i : i + CHUNK])
        except (OSError, InvalidInput) as error:
            self._fault = None
            self._say(f'a fault could not be saved: {error}', True)

    def _end_fault(self) -> None:
        if self._fault is None:
            return
        bag, self._fault = self._fault, None
        try:
            bag.close()
        except OSError as error:
            self._say(f'recording {bag.path} has ended: {error.strerror}', True)
        else:
            self._say(
                f'saved {bag.path}: up to {BEFORE:g} s before the fault, {AFTER:g} s after', False
            )

    def _give_up(self, error: Exception) -> None:
        self._all = None
        words = error.strerror if isinstance(error, OSError) else repr(error)
        self.problem = f'recording {self.path} has ended: {words}; what was written stays readable'
        self._say(self.problem, True)


class _Content:
    """What every file of a controller begins with, and how its ticks are written."""

    def __init__(self, robot_file: RobotFile, controller: str) -> None:
        robot = robot_file.robot
        self.layout, self.messages = ticks.TickLayout(robot), ticks.Messages(robot)
        self.texts = {
            names.ROBOT_DESCRIPTION: robot.urdf,
            ROBOT_FILE: robot_file_text(robot_file),
            CONTROLLER: controller,
        }


class _Bag:
    """A file that is complete in itself.

    Raises:
        InvalidInput: It cannot be made.
    """

    def __init__(self, path: Path, content: _Content) -> None:
        with refusing(OSError, f'recording {path}', limit='cannot be made: {error.strerror}'):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = McapFile(path)
        self.path, self._content, self.close = path, content, self._file.close
        self._wanted: ticks.Wanted | None = None
        self._channels: dict[str, int] = {}
        for topic, kind in content.layout.kinds.items():
            self._channel(topic, kind)

    def write(self, segments: list[ticks.Stretch]) -> None:
        """Write segments as one chunk."""
        data, size, layout = [], 0, self._content.layout
        index: dict[int, list[np.ndarray]] = {}
        for segment in segments:
            time = int(segment.times[0])
            for topic, message in self._news(segment):
                channel = self._channel(topic, message.__msgtype__)
                data.append(ticks.message_record(channel, time, ticks.serialized(message)))
                index.setdefault(channel, []).append(np.array([[time, size]], np.uint64))
                size += len(data[-1])
            data.append(layout.encode(segment, self._channels))
            for topic, pairs in layout.index(segment).items():
                index.setdefault(self._channels[topic], []).append(
                    pairs + np.array([0, size], np.uint64)
                )
            size += len(data[-1])
        self._file.write(
            b''.join(data), {channel: np.concatenate(parts) for channel, parts in index.items()}
        )

    def _news(self, segment: ticks.Stretch) -> Iterator[tuple[str, Any]]:
        messages, before = self._content.messages, self._wanted
        self._wanted = segment.wanted
        if before is None:
            for topic, text in self._content.texts.items():
                yield topic, messages.string(text)
        if segment.wanted != before:
            stamp = divmod(int(segment.stamps[0]), 1_000_000_000)
            yield from messages.reference(segment.wanted, before, stamp)

    def _channel(self, topic: str, kind: str) -> int:
        if topic not in self._channels:
            store = ticks.type_store()
            self._channels[topic] = self._file.add_channel(
                topic, kind, store.generate_msgdef(kind, ros_version=2)[0], store.hash_rihs01(kind)
            )
        return self._channels[topic]


def numbered(path: Path) -> Iterator[Path]:
    """Yield a path, then the same with numbers from 2 on."""
    yield path
    for number in count(2):
        yield path.with_name(f'{path.stem}-{number}{path.suffix}')


def make_room(path: Path) -> None:
    """Remove the oldest of a path and those of its name with numbers, for one more.

    Less than `FAULTS` stay, and no more than `FAULT_BYTES`: whatever faults again and again would
    fill the disk.
    """
    name = re.compile(rf'{re.escape(path.stem)}(-[0-9]+)?{SUFFIX}')
    there = path.parent.iterdir() if path.parent.is_dir() else ()
    files = [(each.stat(), each) for each in there if name.fullmatch(each.name)]
    files.sort(key=lambda pair: pair[0].st_mtime)
    while len(files) >= FAULTS or sum(stat.st_size for stat, _ in files) > FAULT_BYTES:
        files.pop(0)[1].unlink()


def robot_file_text(robot_file: RobotFile) -> str:
    """Return a robot file as text, overrides and parameters as they are applied."""
    tree = {**robot_file.tree, **robot_file.sections}
    return yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False)
