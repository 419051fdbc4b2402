# SPDX-License-Identifier: Apache-2.0
"""What a controller thinks, as plain Float64 topics for rqt_plot."""

import math
from typing import Any

from rclpy.serialization import serialize_message
from std_msgs.msg import Float64

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import read_telemetry
from walking_control.ros.nodes import GuardedNode, topics

# velocities asked of the law: ahead, to the left, turning
COMMANDED = ('commanded_ahead', 'commanded_left', 'commanded_turn')


class Output:
    """What is published beside the commands while walking, at a limited rate of sensor time.

    Args:
        rate: Messages per second; 0 publishes nothing.
    """

    def __init__(self, node: GuardedNode, rate: float) -> None:
        self._node, self._keeper = node, node.keeper
        self._figures: dict[str, Any] = {}  # name -> its publisher
        self._period = 1.0 / rate if rate > 0.0 else math.inf
        self._rehearsing = False
        self.begin()

    def begin(self) -> None:
        """Forget the past: another walk begins."""
        self._last = self._next = -math.inf

    def rehearse(self) -> None:
        """Do all that the first message takes but sending it: its publishers alone take 100 ms."""
        self._rehearsing = True
        self.publish(0.0)
        self._rehearsing = False
        self.begin()

    def publish(self, stamp: float) -> None:
        """Look at the tick of a stamp in s; publish if it is time to."""
        if not self._period < math.inf:
            return
        if stamp < self._last:
            self.begin()
        self._last = stamp
        self._look(stamp)
        if stamp >= self._next - 1e-9:
            self._next = stamp + self._period
            self._write(stamp)

    def _look(self, stamp: float) -> None:
        """Do what every tick asks for."""

    def _write(self, stamp: float) -> None:
        """Send what there is to say; `_send` does it."""

    def _publisher(self, kind: Any, topic: str, qos: Any = topics.LATEST) -> Any:
        """Return a publisher that goes with this."""
        with self._node.kept_by(self._keeper):
            return self._node.create_publisher(kind, topic, qos)

    def _tell(self, name: str, value: float) -> None:
        """Send a figure on a telemetry topic of its own."""
        if name not in self._figures:
            self._figures[name] = self._publisher(Float64, topics.telemetry(name))
        if self._has_reader(self._figures[name]):
            self._send(self._figures[name], Float64(data=float(value)))

    def _has_reader(self, publisher: Any) -> bool:
        """Return whether a message is worth making: to publish costs as much if nobody listens."""
        return self._rehearsing or bool(publisher.get_subscription_count())

    def _send(self, publisher: Any, message: Any) -> None:
        if self._rehearsing:
            serialize_message(message)
        else:
            publisher.publish(message)


class Telemetry(Output):
    """Publishes coordinates, support, efforts and the law's own figures at a limited rate.

    Args:
        rate: See `Output`, of each topic.
    """

    def __init__(self, node: GuardedNode, loop: ControlLoop, rate: float) -> None:
        self._loop = loop
        super().__init__(node, rate)

    def begin(self) -> None:
        """Forget the past."""
        super().begin()
        self._work = StepWork(self._loop)

    def _look(self, stamp: float) -> None:
        self._work.add(stamp)

    def _write(self, stamp: float) -> None:
        for name, value in self._told().items():
            self._tell(name, value)

    def _told(self) -> dict[str, float]:
        loop, work = self._loop, self._work
        robot, state, velocity = loop.robot, loop.state, loop.reference.velocity
        figures = {
            **dict(zip(robot.coordinates, state.coordinates.tolist())),
            **{f'{name}_rate': rate for name, rate in zip(robot.coordinates, state.rates.tolist())},
            'support': state.support,
            'step_length': state.step_length,
            'step_time': state.step_time if math.isfinite(state.step_time) else 0.0,
            **{
                f'effort_{joint}': effort
                for joint, effort in zip(robot.actuators, loop.command.effort.tolist())
            },
            'mechanical_power': work.power,
            'step_work': work.net,
            'step_push': work.positive,
        }
        if robot.thermal:
            windings = loop.supervisor.heat.temperature[:, 0].tolist()
            figures.update(
                (f'winding_{joint}', warmth) for joint, warmth in zip(robot.actuators, windings)
            )
        if velocity is not None or self._rehearsing:  # somebody may ask for one later
            figures.update(zip(COMMANDED, [0.0] * 3 if velocity is None else velocity.tolist()))
        return {**figures, **read_telemetry(loop.controller, robot)}


class StepWork:
    """Work of all actuators in the last step, at commanded efforts and estimated speeds.

    Attributes:
        power: Now, W.
        net: Of the last step, J.
        positive: The same, of positive power alone: what the actuators put in, J.
    """

    def __init__(self, loop: ControlLoop) -> None:
        self._loop = loop
        self._joints = loop.command.joints
        self._stamp: float | None = None
        self._steps = 0
        self._sums = [0.0, 0.0]  # of the step under way
        self.power = self.net = self.positive = 0.0

    def add(self, stamp: float) -> None:
        """Take the power of a tick."""
        state, command = self._loop.state, self._loop.command
        elapsed = 0.0 if self._stamp is None else stamp - self._stamp
        if elapsed < 0.0 or state.steps < self._steps:  # another walk
            self._sums, elapsed = [0.0, 0.0], 0.0
        # what was commanded a tick ago has acted since
        self._sums[0] += elapsed * self.power
        self._sums[1] += elapsed * max(self.power, 0.0)
        if state.steps != self._steps:
            (self.net, self.positive), self._sums = self._sums, [0.0, 0.0]
        self._stamp, self._steps = stamp, state.steps
        self.power = float(command.effort[: len(self._joints)] @ state.velocity[self._joints])
