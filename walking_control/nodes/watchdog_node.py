# SPDX-License-Identifier: Apache-2.0
"""Sends zero effort when a controller falls silent in the middle of work.

ros2_control holds the last effort for ever. A controller that is killed cannot send zero any more;
this node, in a process of its own, does. It needs nothing of the controller but its topic.
"""

import sys
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.nodes import topics
from walking_control.nodes.messages import ArrayWriter
from walking_control.nodes.parameters import NodeParameters
from walking_control.nodes.runtime import run_node

NODE = ParameterTable('node', [
    Parameter('timeout', 0.1, 's', 'Silence of the controller after which zero effort is sent.',
              0.005, 60.0),
])


class WatchdogNode(Node):
    """Watches the effort commands.

    Silence after an effort that was not zero is a dead controller: zeros are sent, and again every
    timeout, until a controller speaks again (a new one must be activated by somebody). Silence
    after zeros is a controller that has left.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.
    """

    finished = False
    exit_status = 0

    def __init__(self, name='watchdog', **kwargs):
        super().__init__(name, **kwargs)
        self._timeout = NodeParameters(self, NODE).read().timeout
        self._last = None
        self._heard = 0.0
        self.tripped = False
        self._publisher = self.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS,
                                                topics.LATEST)
        # who is here may command, too: see Neighbours
        self.create_publisher(Float64MultiArray, topics.WATCHDOG, topics.LATEST)
        self.create_subscription(Float64MultiArray, topics.EFFORT_COMMANDS, self._on_command,
                                 topics.LATEST)
        self.create_timer(self._timeout / 4, self._on_watch,
                          clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_command(self, message):
        if any(message.data):
            self._last = len(message.data)
            self._heard = time.monotonic()
            self.tripped = False
        elif not self.tripped:
            self._last = None   # the last word was zero

    def _on_watch(self):
        silence = time.monotonic() - self._heard
        if self._last is None or silence <= self._timeout:
            return
        if not self.tripped:
            self.tripped = True
            self.get_logger().error(f'no command for {silence:.3f} s after an effort that was not '
                                    'zero: sending zero')
        self._heard = time.monotonic()
        self._publisher.publish(ArrayWriter(self._last).write(0.0, 0))

    def stop(self):
        """Nothing to send."""


def main(args=None):
    """Run the watchdog node."""
    sys.exit(run_node(WatchdogNode, args))


if __name__ == '__main__':
    main()
