# SPDX-License-Identifier: Apache-2.0
"""Services and parameters of another node, the controller's as a rule, asked by name."""

from collections.abc import Callable, Sequence
import threading
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from std_srvs.srv import Trigger

from walking_control.exceptions import NotAchieved, require
from walking_control.ros.nodes import topics

PATIENCE = 5.0  # s of wall time for an answer


def ask_parameter(client: Any, name: str) -> Any:
    """Return the future of the answer to what a parameter is, or None of nobody there.

    Args:
        client: Of the service ``get_parameters`` of a node.
        name: Of the parameter.
    """
    if not client.service_is_ready():
        return None
    return client.call_async(GetParameters.Request(names=[name]))


class ControllerClient:
    """Asks the controller, or another node.

    Args:
        node: The rclpy node that asks.
        asked: Name of the node that is asked.
        wait: Waits until a condition holds, at most so long (s), and returns whether it does; None
            where another thread spins the node.
    """

    def __init__(
        self,
        node: Node,
        asked: str = topics.CONTROLLER,
        wait: Callable[[Callable[[], bool], float], bool] | None = None,
    ) -> None:
        self._wait = wait

        def client(kind: Any, name: str) -> Any:
            return node.create_client(kind, f'{asked}/{name}')

        self._buttons = {name: client(Trigger, name) for name in topics.BUTTONS}
        self._list = client(ListParameters, 'list_parameters')
        self._get = client(GetParameters, 'get_parameters')
        self._set = client(SetParameters, 'set_parameters')

    @property
    def is_ready(self) -> bool:
        """Whether the parameters can be asked for and set."""
        return bool(self._get.service_is_ready() and self._set.service_is_ready())

    def press(self, name: str) -> tuple[bool, str]:
        """Call one of `topics.BUTTONS`; return whether it was done, and what the controller said.

        Raises:
            NotAchieved: No answer.
        """
        answer = self._ask(self._buttons[name], Trigger.Request())
        return answer.success, answer.message

    def values(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """Return name -> value of parameters that are set, without names of all.

        Raises:
            NotAchieved: No answer.
        """
        names = list(names) or sorted(self._ask(self._list, ListParameters.Request()).result.names)
        return {
            name: parameter_value_to_python(value)
            for name, value in self._messages(names).items()
            if value.type != ParameterType.PARAMETER_NOT_SET
        }

    def ask_later(self, name: str) -> Any:
        """Return the future of the answer to what a parameter is, or None of nobody there."""
        return ask_parameter(self._get, name)

    def change(self, name: str, value: Any) -> str:
        """Set a parameter; return why the controller refuses it, or an empty text.

        A viewer does not tell 1 from 1.0: a number takes the type the parameter has.

        Raises:
            NotAchieved: No answer.
        """
        (now,) = self._messages([name]).values() or (None,)
        try:
            parameter = Parameter(name, value=_fit(value, now and now.type))
        except (TypeError, ValueError):  # of a kind that ROS parameters do not have
            return f'parameter {name} is {value!r}: a ROS parameter cannot hold it'
        request = SetParameters.Request(parameters=[parameter.to_parameter_msg()])
        (result,) = self._ask(self._set, request).results
        return '' if result.successful else result.reason or 'refused'

    def _messages(self, names: Sequence[str]) -> dict[str, Any]:
        values = self._ask(self._get, GetParameters.Request(names=names)).values
        # an unknown name empties the answer
        return dict(zip(names, values)) if len(values) == len(names) else {}

    def _ask(self, client: Any, request: Any) -> Any:
        require(
            client.service_is_ready(),
            client.srv_name,
            limit='nobody offers it',
            remedy='is the controller running?',
            error=NotAchieved,
        )
        done, future = threading.Event(), client.call_async(request)
        future.add_done_callback(lambda _: done.set())
        if not (self._wait(future.done, PATIENCE) if self._wait else done.wait(PATIENCE)):
            client.remove_pending_request(future)
            raise NotAchieved(client.srv_name, limit=f'no answer for {PATIENCE:g} s')
        return future.result()


def _fit(value: Any, kind: Any) -> Any:
    """Return a value as the type of a parameter wants its numbers."""
    if (
        kind == ParameterType.PARAMETER_DOUBLE
        and isinstance(value, int)
        and not isinstance(value, bool)
    ):
        return float(value)
    if kind == ParameterType.PARAMETER_INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == ParameterType.PARAMETER_DOUBLE_ARRAY and isinstance(value, list):
        return [_fit(each, ParameterType.PARAMETER_DOUBLE) for each in value]
    return value
