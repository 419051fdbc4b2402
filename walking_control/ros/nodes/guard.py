# SPDX-License-Identifier: Apache-2.0
"""No message, request or timer ends a node: one guard around every callback.

What is wrong with a message is judged where it is read. This is for what nobody thought of: rclpy
lets an exception in a callback end the process, and nobody would send the safe command.

Nor does one hold up the next tick: what is too long is refused before it is read, parameters are
set a few at a time, and what takes long is done in a thread beside the callbacks. An executor calls
in the order of arrival, and a machine that is too slow lets its queue grow: what is urgent, such as
an emergency stop, is therefore looked for between the callbacks as well. After a pause there is no
queue: whatever had come was called before it.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, ExitStack, suppress
import difflib
import functools
import math
from pathlib import Path
import threading
import time
import traceback
from typing import Any
from weakref import WeakSet

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.time_source import TimeSource

from walking_control.ros.nodes.limits import Excess, limited_service

SAID = 1.0  # s between two reports of broken callbacks
HEED = 0.002  # s between two looks for what is urgent, at least: each takes 0.06 ms
PAUSED = 0.001  # s without a callback in which an executor has nothing to call
LARGEST = 1 << 18  # bytes of a message; those of our own topics have a few kB
MOST, TOGETHER = 500, 50  # parameters of a request, and of one that wants all or none
LONGEST, LARGE = 200, 4096  # characters of a parameter's name; length of its value
PIECE, PAUSE = 0.0003, 0.002  # s of work on a request, and between two pieces of it
# service -> what there may be too much of in a request
FIELDS = {
    SetParameters: 'parameters',
    SetParametersAtomically: 'parameters',
    GetParameters: 'names',
    GetParameterTypes: 'names',
    DescribeParameters: 'names',
    ListParameters: 'prefixes',
}
LAST_TYPE = max(kind.value for kind in Parameter.Type)


class GuardedNode(Node):
    """What a node inherits in place of, or before, rclpy's own class.

    An error in a callback of a subscription, a service (rclpy's own, too) or a timer is told to
    `on_broken`; a request is then answered as refused. What breaks outside callbacks, a message
    that cannot be taken or the answer of another node, comes there through `runtime.spin`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._urgent = WeakSet[Any]()  # subscriptions and services
        self._uncalled = WeakSet[Any]()  # subscriptions that no executor calls
        self._heeded = 0.0  # when what is urgent was looked at; inf: it is now
        self._called = 0.0  # when the last callback ended
        super().__init__(*args, **kwargs)
        for service in self.services:  # of the lifecycle: rclpy makes them by itself
            if not hasattr(service.callback, '__wrapped__'):
                service.callback = self._guard(service.callback, service.srv_name)

    # a program of one node, see `runtime.run_node`
    finished = False
    exit_status = 0
    keeper: ExitStack | None = None  # takes away what is created from now on

    @contextmanager
    def kept_by(self, keeper: ExitStack | None) -> Iterator[None]:
        """Let a stack take away, when it closes, what is created in this context."""
        before, self.keeper = self.keeper, keeper
        try:
            yield
        finally:
            self.keeper = before

    def _kept(self, made: Any, destroy: Callable[[Any], Any]) -> Any:
        if self.keeper is not None:
            self.keeper.callback(destroy, made)
        return made

    def create_publisher(self, *args: Any, **kwargs: Any) -> Any:
        """Publish on a topic, see `rclpy.node.Node`."""
        return self._kept(super().create_publisher(*args, **kwargs), self.destroy_publisher)

    def create_client(self, *args: Any, **kwargs: Any) -> Any:
        """Call a service, see `rclpy.node.Node`."""
        return self._kept(super().create_client(*args, **kwargs), self.destroy_client)

    def may_end(self) -> bool:
        """Return whether the program may end now; asked again and again once it shall."""
        return True

    def stop(self) -> None:
        """Leave a last word, where one is needed, before the node goes."""

    def steady_timer(self, period: float, callback: Callable[..., Any]) -> Any:
        """Return a timer by the steady clock: it goes on where simulated time stands still."""
        return self.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_broken(self, words: str) -> None:
        """Take the error of a callback, in words; unless overridden the node only says so."""
        self.get_logger().error(words, throttle_duration_sec=SAID)

    def heed(self, entity: Any) -> Any:
        """Let what comes to a subscription or service overtake all that waits; return it."""
        self._urgent.add(entity)
        return entity

    def _heed(self) -> None:
        """Call what is urgent and has come."""
        now = time.monotonic()
        if now < self._heeded + HEED:
            return
        queue, before = now < self._called + PAUSED, self._heeded
        self._heeded = math.inf  # while it is called
        try:
            for entity in [*(self._urgent if queue else self._urgent & self._uncalled)]:
                _take(entity)
        finally:
            self._heeded = time.monotonic() if queue else before

    def catch_up(self) -> None:
        """Read, in a callback, what has come on topics that no executor calls but the clock's."""
        for entity in [*self._uncalled]:
            try:
                if entity not in self._urgent:
                    _take(entity)
            except Exception as error:
                report(self, error, entity.topic_name)

    @property
    def subscriptions(self) -> Iterator[Any]:
        """What an executor calls: not rclpy's own for /clock, which may come at 1 kHz.

        That is read before a callback instead, as what is urgent is.
        """
        yield from (each for each in super().subscriptions if each not in self._uncalled)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Listen to a topic, see `rclpy.node.Node`; what is too long is dropped unread.

        Args:
            read: Makes of the bytes of a message what the callback gets, sooner than rclpy does;
                None where it cannot: rclpy does.
            called: Whether an executor calls it; if not, `catch_up` does.
        """
        raw, largest = kwargs.pop('raw', False), kwargs.pop('largest', LARGEST)
        read, called = kwargs.pop('read', lambda content: None), kwargs.pop('called', True)

        def drop(why: str) -> None:
            self.get_logger().error(f'{topic}: {why}: dropped', throttle_duration_sec=SAID)

        def hear(content: bytes) -> None:
            if len(content) > largest:
                drop(f'a message of {len(content)} bytes; limit {largest}')
                return
            try:
                message = content if raw else read(content)
                if message is None:
                    message = deserialize_message(content, msg_type)
            except Exception as error:  # of bytes that are no message
                drop(describe(error))
                return
            callback(message)

        kwargs['raw'] = True
        made = super().create_subscription(
            msg_type, topic, self._guard(hear, topic) if called else hear, *args, **kwargs
        )
        clock = isinstance(getattr(callback, '__self__', None), TimeSource)
        if clock:
            self.heed(made)
        if clock or not called:
            self._uncalled.add(made)
        return self._kept(made, self.destroy_subscription)

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Offer a service, see `rclpy.node.Node`."""
        if srv_type is SetParameters:
            callback = _set_later
        field, kind = FIELDS.get(srv_type, ''), srv_type
        if field:  # too many are refused before they are objects
            most = TOGETHER if srv_type is SetParametersAtomically else MOST
            kind, field = limited_service(srv_type, most), f'{field} at once; limit {most}'
        service = super().create_service(
            kind, srv_name, self._guard(_judged(callback, field), srv_name), *args, **kwargs
        )
        if srv_type is SetParameters:
            service.send_response = functools.partial(self._answer, service.send_response)
        return service

    def beside(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Let a thread work, and hand over what it returns between two callbacks.

        Args:
            work: Called in a thread of its own; what it raises is raised in a callback.
            done: Called with what it returned.
        """
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)

        def look() -> None:
            if future.done():
                self.destroy_timer(timer)
                done(future.result())

        threading.Thread(target=run, daemon=True).start()

        timer = self.steady_timer(2.0 * PAUSE, look)

    def create_timer(
        self, timer_period_sec: float, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Call something again and again, see `rclpy.node.Node`.

        What the events executor owes after an overload it calls at once and counts as periods to
        come: without a new beginning the timer would then sleep as long.
        """

        def call() -> None:
            if timer not in self.timers:  # it was destroyed when the executor owed it a call
                return
            callback()
            with suppress(InvalidHandle):  # it may have destroyed its timer
                if (timer.time_until_next_call() or 0) > timer.timer_period_ns:
                    timer.reset()

        timer = super().create_timer(timer_period_sec, self._guard(call, 'timer'), *args, **kwargs)
        return self._kept(timer, self.destroy_timer)

    def _guard(self, callback: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(callback)
        def guarded(*given: Any) -> Any:
            try:
                self._heed()
                return callback(*given)
            except Exception as error:
                words = report(self, error, name)
                return _refuse(*given, words) if len(given) == 2 else None
            finally:
                self._called = time.monotonic()

        return guarded

    # -- parameters ------------------------------------------------------------------------------

    def _answer(self, send: Callable[..., None], response: Any, header: Any) -> None:
        """Send a response; of `_set_later` do its work first, a piece at a time."""
        if not isinstance(response, SetParameters.Request):
            send(response, header)
            return
        left, results, timers = deque(response.parameters), [], list[Any]()

        def work() -> None:
            until = time.monotonic() + PIECE
            while left and time.monotonic() < until:
                results.append(self._set_one(left.popleft()))
            if not left:
                for timer in timers:
                    self.destroy_timer(timer)
                send(SetParameters.Response(results=results), header)

        work()
        if left:
            timers.append(self.steady_timer(PAUSE, work))

    def _set_one(self, message: Any) -> SetParametersResult:
        try:
            return self.set_parameters([Parameter.from_parameter_msg(message)])[0]
        except Exception as error:  # as in `_guard`: it has a request, and an answer
            return SetParametersResult(reason=report(self, error, 'set_parameters'))

    def set_parameters(self, parameter_list: list[Parameter]) -> list[SetParametersResult]:
        """Set parameters one by one."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set parameters, all or none; one that is not known is named, with those like it."""
        for parameter in parameter_list:
            if not self.has_parameter(parameter.name):
                like = difflib.get_close_matches(parameter.name, self._parameters, 3)
                return SetParametersResult(
                    reason=f'parameter {parameter.name!r} is not known'
                    + ('; close to it: ' + ', '.join(like) if like else '')
                )
        return super().set_parameters_atomically(parameter_list)

    def list_parameters(self, prefixes: list[str], depth: int) -> Any:
        """List parameters; those that change while running first: viewers keep this order."""
        result = super().list_parameters(prefixes, depth)

        def frozen(name: str) -> bool:
            descriptor = self.describe_parameter(name)
            return descriptor.read_only or bool(descriptor.additional_constraints)

        result.names = sorted(result.names, key=frozen)
        return result


def _take(entity: Any) -> None:
    """Do what an executor does with a subscription or a service that may be ready."""
    taken = None
    with suppress(InvalidHandle), entity.handle:  # it may have been destroyed
        if isinstance(entity, Subscription):
            taken = entity.handle.take_message(entity.msg_type, entity.raw)
        else:
            taken = entity.handle.service_take_request(entity.srv_type.Request)
    if taken is None or taken[1] is None:
        return
    if isinstance(entity, Subscription):
        entity.callback(taken[0])
    else:
        entity.send_response(entity.callback(taken[0], entity.srv_type.Response()), taken[1])


def describe(error: Exception) -> str:
    """Return an exception in a line: kind, words and place."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f' ({Path(frames[-1].filename).name}:{frames[-1].lineno})' if frames else ''
    return f'{type(error).__name__}: {" ".join(str(error).split())}{place}'


def report(node: Node, error: Exception, name: str) -> str:
    """Tell a node of an exception in one of its callbacks; return it in words."""
    words = f'{name}: {describe(error)}'
    try:
        node.on_broken(words)
    except Exception as another:  # the node goes on all the same
        node.get_logger().error(f'{words}; then {describe(another)}')
    return words


def _judged(callback: Callable[..., Any], limit: str) -> Callable[..., Any]:
    """Return a callback for requests of any content: those of no use are refused unread."""

    def check(request: Any, response: Any) -> Any:
        if isinstance(request, Excess):
            return _refuse(request, response, f'{request.elements} {limit}')
        words = next(filter(None, map(_flaw, getattr(request, 'parameters', ()))), '')
        return _refuse(request, response, words) if words else callback(request, response)

    return check


def _flaw(parameter: Any) -> str:
    """Return in words why a parameter is not looked at, or nothing.

    A type that ROS does not know has no value; type 0, no value, would take the parameter away.
    """
    value = parameter.value
    texts = value.string_value, value.byte_array_value, value.string_array_value
    size = sum(map(len, (*texts, value.double_array_value, value.integer_array_value)))
    if len(parameter.name) > LONGEST:
        return f'parameter {parameter.name[:20]!r}... has a name of more than {LONGEST} characters'
    if not 0 < value.type <= LAST_TYPE:
        return f'parameter {parameter.name!r} has type {value.type}; must be 1 to {LAST_TYPE}'
    return f'parameter {parameter.name!r} is {size} long; limit {LARGE}' if size > LARGE else ''


def _set_later(request: Any, response: Any) -> Any:
    """Return the request: `GuardedNode` sets its parameters, and then answers."""
    return request


def _refuse(request: Any, response: Any, words: str) -> Any:
    """Return the response to a request that is refused."""
    response = type(response)()
    if hasattr(response, 'results'):
        count = request.elements if isinstance(request, Excess) else len(request.parameters)
        response.results = [SetParametersResult(reason=words)] * count
    elif isinstance(getattr(response, 'result', None), SetParametersResult):
        response.result.reason = words
    elif hasattr(response, 'message'):
        response.message = words
    return response
