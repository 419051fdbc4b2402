# SPDX-License-Identifier: Apache-2.0
"""No message, request or timer ends a node: one guard around every callback.

What is wrong with a message is judged where it is read. This is for what nobody thought of: rclpy
lets an exception in a callback end the process, and nobody would send the safe command.
"""

from collections.abc import Callable
from contextlib import suppress
import difflib
import functools
from pathlib import Path
import traceback
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.parameter import Parameter

SAID = 1.0  # s between two reports of broken callbacks
LAST_TYPE = max(kind.value for kind in Parameter.Type)


class GuardedNode(Node):
    """What a node inherits in place of, or before, rclpy's own class.

    An error in a callback of a subscription, a service (rclpy's own, too) or a timer is told to
    `on_broken`; a request is then answered as refused. What breaks outside callbacks, a message
    that cannot be taken or the answer of another node, comes there through `runtime.spin`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for service in self.services:  # of the lifecycle: rclpy makes them by itself
            if not hasattr(service.callback, '__wrapped__'):
                service.callback = self._guard(service.callback, service.srv_name)

    # a program of one node, see `runtime.run_node`
    finished = False
    exit_status = 0

    def stop(self) -> None:
        """Leave a last word, where one is needed, before the node goes."""

    def steady_timer(self, period: float, callback: Callable[..., Any]) -> Any:
        """Return a timer by the steady clock: it goes on where simulated time stands still."""
        return self.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_broken(self, words: str) -> None:
        """Take the error of a callback, in words; unless overridden the node only says so."""
        self.get_logger().error(words, throttle_duration_sec=SAID)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Listen to a topic, see `rclpy.node.Node`."""
        return super().create_subscription(
            msg_type, topic, self._guard(callback, topic), *args, **kwargs
        )

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Offer a service, see `rclpy.node.Node`."""
        if srv_type in (SetParameters, SetParametersAtomically):
            callback = _with_types_known(callback)
        return super().create_service(
            srv_type, srv_name, self._guard(callback, srv_name), *args, **kwargs
        )

    def create_timer(
        self, timer_period_sec: float, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Call something again and again, see `rclpy.node.Node`.

        What the events executor owes after an overload it calls at once and counts as periods to
        come: without a new beginning the timer would then sleep as long.
        """

        def call() -> None:
            callback()
            with suppress(InvalidHandle):  # it may have destroyed its timer
                if (timer.time_until_next_call() or 0) > timer.timer_period_ns:
                    timer.reset()

        timer = super().create_timer(timer_period_sec, self._guard(call, 'timer'), *args, **kwargs)
        return timer

    def _guard(self, callback: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(callback)
        def guarded(*given: Any) -> Any:
            try:
                return callback(*given)
            except Exception as error:
                words = report(self, error, name)
                return _refuse(*given, words) if len(given) == 2 else None

        return guarded

    # -- parameters ------------------------------------------------------------------------------

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


def _with_types_known(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a callback that sets parameters, for requests of any content.

    A type that ROS does not know has no value; type 0, no value, would take the parameter away.
    """

    def check(request: Any, response: Any) -> Any:
        for each in request.parameters:
            if not 0 < each.value.type <= LAST_TYPE:
                return _refuse(
                    request,
                    response,
                    f'parameter {each.name!r} has type {each.value.type}; must be 1 to {LAST_TYPE}',
                )
        return callback(request, response)

    return check


def _refuse(request: Any, response: Any, words: str) -> Any:
    """Return the response to a request that is refused."""
    response = type(response)()
    if hasattr(response, 'results'):
        response.results = [SetParametersResult(reason=words) for _ in request.parameters]
    elif isinstance(getattr(response, 'result', None), SetParametersResult):
        response.result.reason = words
    elif hasattr(response, 'message'):
        response.message = words
    return response
