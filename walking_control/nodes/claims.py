# SPDX-License-Identifier: Apache-2.0
"""Whether ros2_control has given our joints to somebody else."""

from collections.abc import Iterable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from walking_control.ros2_control import names


class Claims:
    """Asks the controller manager, where there is one, who has claimed the efforts.

    Args:
        topic: Of the effort commands, with all remappings; it begins with the name of our command
            controller.
        joints: Names of the joints with a motor.
    """

    def __init__(self, node: Node, topic: str, joints: Iterable[str]) -> None:
        self._ours = topic.split('/')[-2]
        self._wanted = {f'{joint}/{names.EFFORT}' for joint in joints}
        self._node = node
        self._client: Any = None
        self._asked: Future | None = None
        self.conflict: str | None = None   # in words, or None
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:   # comes with ros2_control
            return
        self._kind = ListControllers
        self._client = node.create_client(ListControllers, f'{names.MANAGER}/list_controllers')

    def ask(self) -> None:
        """Ask again; the answer comes later."""
        if self._asked is not None:   # a manager that ended does not answer
            self._client.remove_pending_request(self._asked)
            self._asked = None
        if self._client is None or not self._client.service_is_ready():
            self.conflict = None
            return
        asked = self._asked = self._client.call_async(self._kind.Request())
        asked.add_done_callback(self._on_answer)

    def _on_answer(self, future: Future) -> None:
        self._asked = None
        if future.exception() is not None:
            return
        controllers = future.result().controller
        state = {controller.name: controller.state for controller in controllers}
        claimed = [f'{interface} is claimed by {controller.name}' for controller in controllers
                   if controller.name != self._ours
                   for interface in sorted(self._wanted & {*controller.claimed_interfaces})]
        # without ours, on a dry run or behind a node of one's own, anybody may drive the joints
        self.conflict = f'{", ".join(claimed)}, and {self._ours} is {state[self._ours]}' \
            if claimed and self._ours in state else None

    def destroy(self) -> None:
        """Ask no more."""
        if self._client is not None:
            self._node.destroy_client(self._client)
