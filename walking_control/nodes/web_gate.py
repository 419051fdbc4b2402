# SPDX-License-Identifier: Apache-2.0
"""Lets viewers through to a WebSocket server that itself asks nobody who they are.

A browser lets any page connect to this machine, and says only in the header `Origin` whose page it
is (RFC 6455, section 10.2). Behind the gate the server listens where nobody can guess.
"""

import asyncio
from collections.abc import Callable, Iterable
from http.client import HTTPException, parse_headers
import io
import secrets
import socket
import sys
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from walking_control.exceptions import InvalidInput

PATIENCE, LONGEST = 10.0, 16384   # s and bytes of a request
AT_HOME = {'localhost', '127.0.0.1', '::1'}
VIEWERS = ('https://app.foxglove.dev',)   # whose pages may connect unless told otherwise
BLOCK = 1 << 16


def hidden_address() -> str:
    """Return an address of this machine that a page can neither know nor try out: 1 of 2^24."""
    if sys.platform != 'linux':   # elsewhere only one is up
        return '127.0.0.1'
    return '127.' + '.'.join(str(1 + secrets.randbelow(254)) for _ in range(3))


def is_origin(text: str) -> bool:
    """Return whether a text is an origin, such as ``https://viewer.example:8080``."""
    parts = urlsplit(text)
    return bool(parts.scheme in ('http', 'https') and parts.hostname) \
        and text == f'{parts.scheme}://{parts.netloc}'


class WebGate:
    """Listens for viewers, judges the first lines of each, and passes on all that follows.

    Programs, which have no origin, are let through; so are pages of this machine.

    Args:
        host: Address to listen on.
        port: TCP port; 0 takes a free one.
        origins: Of pages of others that may connect.
        token: That a viewer must give as ``?token=``; '' asks for none.
        say: Called with a sentence on a page that was refused, once for each origin.

    Raises:
        InvalidInput: Nobody can listen there, such as on a port that is taken; or it is no origin.
    """

    def __init__(self, host: str, port: int, origins: Iterable[str], token: str,
                 say: Callable[[str], Any]) -> None:
        for origin in origins:
            if not is_origin(origin):
                raise InvalidInput('monitor --origin', value=origin, limit='must be like '
                                   'https://viewer.example:8080, without a path')
        self._origins, self._token, self._say = {*VIEWERS, *origins}, token, say
        self._told: set[str] = set()
        self._thread: threading.Thread | None = None
        try:
            family = socket.AF_INET6 if ':' in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            raise InvalidInput('monitor', value=f'{host}:{port}', limit=error.strerror,
                               remedy='choose another --port, or --host of this machine') from error
        self.port = self._socket.getsockname()[1]

    def open(self, host: str, port: int) -> None:
        """Let viewers through to a server."""
        self._server, self._stopped = (host, port), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        thread = self._thread = threading.Thread(target=self._loop.run_until_complete,
                                                 args=(self._listen(),), daemon=True)
        thread.start()

    def close(self) -> None:
        """Let nobody through any more, and part from those who were."""
        if self._thread is None:
            self._socket.close()
        else:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(PATIENCE)

    async def _listen(self) -> None:
        listening = await asyncio.start_server(self._serve, sock=self._socket, limit=LONGEST)
        await self._stopped.wait()
        listening.close()
        viewers = asyncio.all_tasks() - {asyncio.current_task()}
        for viewer in viewers:
            viewer.cancel()
        await asyncio.gather(*viewers, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader,
                     writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), PATIENCE)
            reason = self._refusal(head)
            if reason is not None:
                body = f'{reason}\n'.encode()
                writer.write(b'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: '
                             b'text/plain\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
                await writer.drain()
                return
            to_viewer, inner = await asyncio.open_connection(*self._server)
            inner.write(head)
            await asyncio.gather(_pump(reader, inner), _pump(to_viewer, writer))
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            pass   # gone, or no viewer
        finally:
            writer.close()

    def _refusal(self, head: bytes) -> str | None:
        """Return in words why a request is refused, or None."""
        try:
            line, _, rest = head.partition(b'\r\n')
            path = line.decode('ascii').split()[1]
            headers = parse_headers(io.BytesIO(rest))
            asked = parse_qs(urlsplit(path).query).get('token', [''])
        except (ValueError, IndexError, HTTPException):
            return 'not understood'
        if (headers.get('Upgrade') or '').lower() != 'websocket':
            return 'a WebSocket for Foxglove and Lichtblick'
        for origin in headers.get_all('Origin') or ():
            if not self._may(origin):
                if origin not in self._told and len(self._told) < 100:
                    self._told.add(origin)
                    self._say(f'refused a page of {origin[:100]!r}; allow it with --origin')
                return f'pages of {origin[:100]} may not connect'
        if self._token and not secrets.compare_digest(asked[-1].encode(), self._token.encode()):
            return 'the token is missing or wrong: ws://...?token=TOKEN'
        return None

    def _may(self, origin: str) -> bool:
        """Return whether a page may connect; what is no page of the web is a program."""
        try:
            parts = urlsplit(origin)
            return origin in self._origins or parts.hostname in AT_HOME \
                or parts.scheme not in ('', 'http', 'https')
        except ValueError:
            return False


async def _pump(reader: asyncio.StreamReader,
                     writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until nothing does."""
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
