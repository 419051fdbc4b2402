# SPDX-License-Identifier: Apache-2.0
"""One WebSocket for Foxglove and Lichtblick: channels, parameters, buttons and files.

Before it stands a gate, since the server itself asks nobody who they are. A browser lets any page
connect to this machine, and says only in the header `Origin` whose page it is (RFC 6455, section
10.2). Behind the gate the server listens where nobody can guess.
"""

import asyncio
from collections.abc import Callable, Iterable
from http.client import HTTPException, parse_headers
import io
import json
from pathlib import Path
import queue
import secrets
import socket
import sys
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from walking_control.exceptions import (
    import_optional,
    InvalidInput,
    refusing,
    require,
    WalkingControlError,
)
from walking_control.ros.nodes import BUTTONS, CONTROLLER, ControllerClient
from walking_control.runs import plain

PATIENCE, LONGEST = 10.0, 16384  # s and bytes of a request
AT_HOME = {'localhost', '127.0.0.1', '::1'}
VIEWERS = ('https://app.foxglove.dev',)  # whose pages may connect unless told otherwise
BLOCK = 1 << 16


def hidden_address() -> str:
    """Return an address of this machine that a page can neither know nor try out: 1 of 2^24."""
    if sys.platform != 'linux':  # elsewhere only one is up
        return '127.0.0.1'
    return '127.' + '.'.join(str(1 + secrets.randbelow(254)) for _ in range(3))


def is_origin(text: str) -> bool:
    """Return whether a text is an origin, such as ``https://viewer.example:8080``."""
    parts = urlsplit(text)
    return (
        bool(parts.scheme in ('http', 'https') and parts.hostname)
        and text == f'{parts.scheme}://{parts.netloc}'
    )


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

    def __init__(
        self, host: str, port: int, origins: Iterable[str], token: str, say: Callable[[str], Any]
    ) -> None:
        for origin in origins:
            require(
                is_origin(origin),
                'monitor --origin',
                value=origin,
                limit='must be like https://viewer.example:8080, without a path',
            )
        self._origins, self._token, self._say = {*VIEWERS, *origins}, token, say
        self._told: set[str] = set()
        self._thread: threading.Thread | None = None
        with refusing(
            OSError,
            'monitor',
            value=f'{host}:{port}',
            limit='{error.strerror}',
            remedy='choose another --port, or --host of this machine',
        ):
            family = socket.AF_INET6 if ':' in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family)
        self.port = self._socket.getsockname()[1]

    def open(self, host: str, port: int) -> None:
        """Let viewers through to a server."""
        self._server, self._stopped = (host, port), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        thread = self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._listen(),), daemon=True
        )
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

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), PATIENCE)
            reason = self._refusal(head)
            if reason is not None:
                body = f'{reason}\n'.encode()
                writer.write(
                    b'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: '
                    b'text/plain\r\nContent-Length: %d\r\n\r\n' % len(body) + body
                )
                await writer.drain()
                return
            to_viewer, inner = await asyncio.open_connection(*self._server)
            inner.write(head)
            await asyncio.gather(_pump(reader, inner), _pump(to_viewer, writer))
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            pass  # gone, or no viewer
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
            return (
                origin in self._origins
                or parts.hostname in AT_HOME
                or parts.scheme not in ('', 'http', 'https')
            )
        except ValueError:
            return False


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until nothing does."""
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


PACKAGE = 'foxglove-sdk'
REQUEST = {'type': 'object', 'properties': {}}
ANSWER = {
    'type': 'object',
    'properties': {'success': {'type': 'boolean'}, 'message': {'type': 'string'}},
}


class FoxgloveServer:
    """Serves what is logged to its channels, and asks the controller what viewers ask for.

    Args:
        client: The `ControllerClient`; asked from threads of the server.
        gate: The `WebGate` through which viewers come.

    Attributes:
        files: Name -> path of the files that viewers may read, and no others.
        wanted: Queue of topics that a viewer has subscribed to.

    Raises:
        MissingDependency: foxglove-sdk or rosbags is not installed.
        InvalidInput: Nobody can listen on this machine.
    """

    def __init__(self, client: ControllerClient, gate: WebGate) -> None:
        self._foxglove = import_optional('foxglove', 'monitor', PACKAGE)
        socket = import_optional('foxglove.websocket', 'monitor', PACKAGE)
        typesys = import_optional('rosbags.typesys', 'monitor', 'rosbags')
        self._store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        self._client, self._level = client, socket.StatusLevel
        self._context = self._foxglove.Context()
        self.files: dict[str, str] = {}
        self._refused: set[str] = set()
        self.wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
        host = hidden_address()
        try:
            self._server = self._foxglove.start_server(
                name='walking_control',
                host=host,
                port=0,
                context=self._context,
                capabilities=[
                    socket.Capability.Parameters,
                    socket.Capability.Services,
                    socket.Capability.Time,
                ],
                supported_encodings=['json'],
                server_listener=self,
                services=[self._button(socket, name) for name in BUTTONS],
                asset_handler=lambda name: (
                    Path(self.files[name]).read_bytes() if name in self.files else None
                ),
            )
        except RuntimeError as error:
            raise InvalidInput(
                'monitor', value=host, limit=str(error).rpartition('FoxgloveError: ')[2]
            ) from error
        self._gate = gate
        gate.open(host, self._server.port)

    # -- channels --------------------------------------------------------------------------------

    def channel(self, topic: str, kind: Any) -> Any:
        """Return a channel of serialized ROS messages, or None of a type nobody can describe.

        Args:
            topic: Its name.
            kind: Type, such as ``std_msgs/msg/String``.
        """
        if kind not in self._store.fielddefs:
            return None
        text = self._store.generate_msgdef(kind, ros_version=2)[0]
        schema = self._foxglove.Schema(name=kind, encoding='ros2msg', data=text.encode())
        return self._foxglove.Channel(
            topic, message_encoding='cdr', schema=schema, context=self._context
        )

    def frames_channel(self, topic: str) -> Any:
        """Return a channel of transforms, to log with `log_frames`."""
        channels = import_optional('foxglove.channels', 'monitor', PACKAGE)
        return channels.FrameTransformsChannel(topic, context=self._context)

    def log_frames(self, channel: Any, frames: Any, stamp: float) -> None:
        """Log transforms (parent, child, translation, quaternion xyzw) of a time in ns."""
        messages = import_optional('foxglove.messages', 'monitor', PACKAGE)
        when = messages.Timestamp(stamp // 1_000_000_000, stamp % 1_000_000_000)
        made = [
            messages.FrameTransform(
                timestamp=when,
                parent_frame_id=parent,
                child_frame_id=child,
                translation=messages.Vector3(**dict(zip('xyz', map(float, place)))),
                rotation=messages.Quaternion(**dict(zip('xyzw', map(float, turn)))),
            )
            for parent, child, place, turn in frames
        ]
        channel.log(messages.FrameTransforms(transforms=made), log_time=stamp)

    def tell_time(self, stamp: float, anew: bool) -> None:
        """Tell viewers the robot's time in ns; anew: it has gone back, forget what was."""
        if anew:
            self._server.clear_session()
        self._server.broadcast_time(stamp)

    def tell_parameters(self, values: Any) -> None:
        """Tell viewers of parameters that have changed: name -> value."""
        self._server.publish_parameter_values(self._parameters(values))

    def stop(self) -> None:
        """Close the sockets."""
        self._gate.close()
        self._server.stop()

    # -- called by threads of the server ---------------------------------------------------------

    def _button(self, socket: Any, name: str) -> Any:
        def message(schema: Any) -> Any:
            return socket.MessageSchema(
                encoding='json',
                schema=self._foxglove.Schema(
                    name='std_srvs/srv/Trigger',
                    encoding='jsonschema',
                    data=json.dumps(schema).encode(),
                ),
            )

        def press(request: Any) -> bytes:
            try:
                success, words = self._client.press(name)
            except WalkingControlError as error:
                success, words = False, str(error)
            if name == 'emergency_stop' and not success:
                self._complain(name, f'emergency stop NOT done: {words}')
            return json.dumps({'success': success, 'message': words}).encode()

        return socket.Service(
            f'/{CONTROLLER}/{name}',
            handler=press,
            schema=socket.ServiceSchema(
                name='std_srvs/srv/Trigger', request=message(REQUEST), response=message(ANSWER)
            ),
        )

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """Note that somebody wants a topic."""
        self.wanted.put(channel.topic)

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """Nothing: channels know whether anybody listens."""

    def on_get_parameters(
        self, client: Any, param_names: list[str], request_id: str | None = None
    ) -> list[Any]:
        """Return the controller's parameters, all without names."""
        try:
            return self._parameters(self._client.values(param_names))
        except WalkingControlError as error:
            self._complain('parameters', str(error))
            return []

    def on_set_parameters(
        self, client: Any, parameters: Any, request_id: str | None = None
    ) -> list[Any]:
        """Let the controller judge changes; return the values it has then."""
        try:
            for parameter in parameters:
                reason = self._client.change(parameter.name, parameter.get_value())
                self._settle(f'parameter {parameter.name}', reason)
            return self._parameters(self._client.values([each.name for each in parameters]))
        except WalkingControlError as error:
            self._complain('parameters', str(error))
            return []

    def on_parameters_subscribe(self, param_names: list[str]) -> None:
        """Nothing: changes are told to whoever wants them."""

    on_parameters_unsubscribe = on_parameters_subscribe

    def _parameters(self, values: Any) -> list[Any]:
        return [
            self._foxglove.Parameter(name, value=plain(value)) for name, value in values.items()
        ]

    def _settle(self, what: str, reason: str) -> None:
        """Show why something is refused until it is accepted."""
        if reason:
            self._complain(what, reason)
        elif what in self._refused:
            self._refused.discard(what)
            self._server.remove_status([what])

    def _complain(self, what: str, words: str) -> None:
        self._refused.add(what)
        self._server.publish_status(words, self._level.Error, what)
