# SPDX-License-Identifier: Apache-2.0
"""MCAP files (https://mcap.dev/spec) that can be read at any moment, whatever ends their writer.

Libraries write a chunk when it is full, and what a reader needs at the end when the file is
closed. Here the caller says when a chunk is written, and behind each stands the shortest end that
the format allows, without an index; the next chunk overwrites it, and closing puts the index there.
"""

from collections.abc import Mapping
import contextlib
from pathlib import Path
import struct
import zlib

import numpy as np

MAGIC = b'\x89MCAP0\r\n'
(HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX) = range(1, 9)
STATISTICS, DATA_END = 0x0B, 0x0F
HEAD = struct.Struct('<BQ')  # of a record: what it is, and how many bytes follow


def _record(kind: int, *parts: bytes) -> bytes:
    body = b''.join(parts)
    return HEAD.pack(kind, len(body)) + body


def _sized(data: bytes) -> bytes:
    return struct.pack('<I', len(data)) + data


def _text(text: str) -> bytes:
    return _sized(text.encode())


def _end(summary_start: int = 0) -> bytes:
    return _record(FOOTER, struct.pack('<QQI', summary_start, 0, 0)) + MAGIC


_DATA_END = _record(DATA_END, bytes(4))
END = _DATA_END + _end()  # of a file without an index


class McapFile:
    """Writes a file that does not exist yet, chunk by chunk.

    Attributes:
        messages: Channel -> messages so far.

    Raises:
        OSError: It cannot be made; from methods: it cannot be written. What there was stays.
    """

    def __init__(self, path: Path) -> None:
        self._file, self._at = path.open('xb', buffering=0), 0
        self._schemas: dict[str, int] = {}
        self._definitions: list[bytes] = []  # records of schemas and channels
        self._told = 0  # of them stand in the file
        self._chunks: list[bytes] = []
        self.messages: dict[int, int] = {}
        self._times = 2**63 - 1, 0
        self._put(MAGIC + _record(HEADER, _text('ros2'), _text('walking_control')), END)

    def add_channel(self, topic: str, kind: str, definition: str, digest: str) -> int:
        """Return the number of a new channel of ROS messages.

        Args:
            kind: Type of its messages, such as ``std_msgs/msg/String``.
            definition: Text of that type, with those it consists of.
            digest: RIHS01 hash of it.
        """
        if kind not in self._schemas:
            self._schemas[kind] = len(self._schemas) + 1
            self._definitions.append(
                _record(
                    SCHEMA,
                    struct.pack('<H', self._schemas[kind]),
                    _text(kind),
                    _text('ros2msg'),
                    _text(definition),
                )
            )
        channel = len(self.messages) + 1
        self.messages[channel] = 0
        metadata = b''.join(map(_text, ('offered_qos_profiles', '[]', 'topic_type_hash', digest)))
        self._definitions.append(
            _record(
                CHANNEL,
                struct.pack('<HH', channel, self._schemas[kind]),
                _text(f'/{topic}'),
                _text('cdr'),
                _sized(metadata),
            )
        )
        return channel

    def write(self, data: bytes, index: Mapping[int, np.ndarray]) -> None:
        """Write a chunk.

        Args:
            data: Message records.
            index: Channel -> time (ns) and offset in the data of its messages, ``(n, 2)``.
        """
        told = b''.join(self._definitions[self._told :])
        data = told + data
        start = min(int(pairs[:, 0].min()) for pairs in index.values())
        end = max(int(pairs[:, 0].max()) for pairs in index.values())
        chunk = _record(
            CHUNK,
            struct.pack('<QQQI', start, end, len(data), zlib.crc32(data)),
            _text(''),
            struct.pack('<Q', len(data)),
            data,
        )
        indices, places = [], []
        length = len(chunk)
        for channel, pairs in index.items():
            places.append(struct.pack('<HQ', channel, self._at + length))
            rows = (pairs + np.array([0, len(told)], np.uint64)).astype('<u8').tobytes()
            indices.append(_record(MESSAGE_INDEX, struct.pack('<H', channel), _sized(rows)))
            length += len(indices[-1])
        summary = _record(
            CHUNK_INDEX,
            struct.pack('<QQQQ', start, end, self._at, len(chunk)),
            _sized(b''.join(places)),
            struct.pack('<Q', length - len(chunk)),
            _text(''),
            struct.pack('<QQ', len(data), len(data)),
        )
        self._put(b''.join((chunk, *indices)), END)
        self._told = len(self._definitions)
        self._chunks.append(summary)
        self._times = min(self._times[0], start), max(self._times[1], end)
        for channel, pairs in index.items():
            self.messages[channel] += len(pairs)

    def close(self) -> None:
        """Write the index and close the file."""
        counts = b''.join(struct.pack('<HQ', *pair) for pair in self.messages.items())
        total = sum(self.messages.values())
        statistics = _record(
            STATISTICS,
            struct.pack(
                '<QHIIIIQQ',
                total,
                len(self._schemas),
                len(self.messages),
                0,
                0,
                len(self._chunks),
                *(self._times if total else (0, 0)),
            ),
            _sized(counts),
        )
        summary = b''.join((*self._definitions, *self._chunks, statistics))
        try:
            self._put(b'', _DATA_END + summary + _end(self._at + len(_DATA_END)))
        finally:
            self._file.close()

    def _put(self, data: bytes, end: bytes) -> None:
        rest = memoryview(data + end)
        try:
            self._file.seek(self._at)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with contextlib.suppress(OSError):  # what there was, as it was
                self._file.truncate(self._at)
                self._file.seek(self._at)
                self._file.write(END)
            raise
        self._at += len(data)


def unfinished(path: Path) -> tuple[int, int] | None:
    """Return how many bytes of whole records a file begins with and how many follow.

    None is the answer for a file that was closed, and for one that is no MCAP at all.
    """
    with path.open('rb') as file:
        size = path.stat().st_size
        if file.read(len(MAGIC)) != MAGIC:
            return None
        file.seek(max(0, size - len(END)))
        tail = file.read()
        if tail == END:
            return size - len(END), 0
        if (
            tail[-len(_end()) :][: HEAD.size] == _end()[: HEAD.size]
            and tail.endswith(MAGIC)
            and any(tail[HEAD.size - len(_end()) :][:8])
        ):
            return None  # a footer that says where the index is
        at = len(MAGIC)
        while at + HEAD.size <= size:
            file.seek(at)
            kind, length = HEAD.unpack(file.read(HEAD.size))
            if not kind or kind in (DATA_END, FOOTER) or at + HEAD.size + length > size:
                break
            at += HEAD.size + length
        return at, size - at
