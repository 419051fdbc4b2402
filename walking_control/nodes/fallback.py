# SPDX-License-Identifier: Apache-2.0
"""Asks the controller manager of ros2_control to let another controller take the joints over."""


from typing import Any

from rclpy.node import Node
from rclpy.task import Future


class FallbackSwitch:
    """One request to ``<controller_manager>/switch_controller``, made when it is needed.

    Zero effort has been sent before and goes on being sent: the switch is in addition to it.

    Args:
        node: The rclpy node that asks.
        values: `fallback_controller`, `effort_controller` and `controller_manager`.
    """

    def __init__(self, node: Node, values: Any) -> None:
        self._node, self._values = node, values
        self.outcome = 'ready'
        self._client = None
        try:
            # comes with ros2_control, which the watchdog does without otherwise
            from controller_manager_msgs.srv import SwitchController
        except ImportError:
            self._fail('controller_manager_msgs is not installed')
            return
        self._kind = SwitchController
        self._client = node.create_client(SwitchController,
                                          f'{values.controller_manager}/switch_controller')

    def _fail(self, words: str) -> None:
        self.outcome = f'{self._values.fallback_controller} not activated: {words}'
        self._node.get_logger().error(self.outcome)

    def request(self) -> None:
        """Ask for the switch; the answer comes later and is kept in `outcome`."""
        if self._client is None:
            return
        if not self._client.service_is_ready():
            self._fail(f'{self._values.controller_manager} does not answer')
            return
        request = self._kind.Request()
        request.activate_controllers = [self._values.fallback_controller]
        request.deactivate_controllers = [self._values.effort_controller]
        # all or nothing: joints that nobody commands any more would be worse than zero effort
        request.strictness = self._kind.Request.STRICT
        request.activate_asap = True
        self.outcome = 'asked for'
        self._client.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Future) -> None:
        error = future.exception()
        if error is not None:
            self._fail(str(error))
        elif not future.result().ok:
            self._fail('the controller manager refused')
        else:
            self.outcome = f'{self._values.fallback_controller} activated'
            self._node.get_logger().warning(self.outcome)
