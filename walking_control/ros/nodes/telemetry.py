# SPDX-License-Identifier: Apache-2.0
"""What a controller thinks, as plain Float64 topics for rqt_plot, and where the robot is."""

import math
from typing import Any

from nav_msgs.msg import Odometry
import numpy as np
import pinocchio as pin
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import read_telemetry
from walking_control.models.signals import BaseState
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.guard import GuardedNode
from walking_control.ros.nodes.messages import set_stamp, write_axes

ODOM = 'odom'  # level frame with its origin at the first stance foot
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
        self._send(self._figures[name], Float64(data=float(value)))

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
        robot = loop.robot
        self._joints = [robot.joint_index(joint) for joint in robot.actuators]
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


class OdometryPublisher(Output):
    """Publishes Odometry and, where tf2_msgs exists, the transform odom -> base.

    The frame ``odom`` is level: x forward, z up, with its origin at the first stance foot.

    Args:
        slope: Inclination of the floor, rad, downhill positive.
        rate: See `Output`.
    """

    def __init__(self, node: GuardedNode, loop: ControlLoop, slope: float, rate: float) -> None:
        super().__init__(node, rate)
        self._loop, self._slope = loop, slope
        robot = loop.robot
        self._level = pin.utils.rotate('y', slope)  # from the floor's axes to those of odom
        self._turn, self._shift = pin.Quaternion.Identity(), np.zeros(3)
        self._kept: tuple[np.ndarray, np.ndarray] | None = None
        self._odometry = self._publisher(Odometry, 'odom')
        self._message = Odometry()
        self._message.header.frame_id = ODOM
        self._message.child_frame_id = robot.base_link
        self._tf = self._make_tf()

    def _make_tf(self) -> tuple[Any, Any] | None:
        try:
            from geometry_msgs.msg import TransformStamped
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return None
        transform = TransformStamped()
        return self._publisher(TFMessage, '/tf', 10), TFMessage(transforms=[transform])

    def resume(self) -> None:
        """Go on from where the last message was: the estimator begins anew at its origin."""
        pose = self._message.pose.pose
        if self._message.header.stamp.sec or self._message.header.stamp.nanosec:
            q, p = pose.orientation, pose.position
            self._kept = np.array([q.x, q.y, q.z, q.w]), np.array([p.x, p.y, p.z])

    def _continue(self, base: BaseState, turn: np.ndarray, place: np.ndarray) -> None:
        """Choose axes of odom in which the base is where it was, up to tilt and height."""
        self._kept, level = None, pin.utils.rotate('y', self._slope)
        now = level_orientation(base, self._slope)
        turned = pin.utils.rotate('z', heading_of(turn) - heading_of(now))
        self._level, self._turn = turned @ level, pin.Quaternion(turned)
        self._shift = place - self._level @ base.position
        self._shift[2] = 0.0

    def _write(self, stamp: float) -> None:
        base, message = self._loop.state.base, self._message
        if self._kept is not None:
            self._continue(base, *self._kept)
        set_stamp(message.header.stamp, self._loop.state.stamp)
        pose, twist = message.pose.pose, message.twist.twist
        write_axes(pose.position, self._level @ base.position + self._shift)
        write_axes(
            pose.orientation,
            (self._turn * pin.Quaternion(level_orientation(base, self._slope))).coeffs(),
        )
        # velocities are expressed in the base frame
        write_axes(twist.linear, base.linear @ base.rotation)
        write_axes(twist.angular, base.angular)
        self._write_covariance()
        self._send(self._odometry, message)
        if self._tf is not None:
            self._publish_tf(*self._tf)

    def _write_covariance(self) -> None:
        """Say how well all this is known; zeros, as ROS has it, where nobody knows."""
        estimator, message = self._loop.estimator, self._message
        if estimator.state.covariance is not None:
            pose, twist = odometry_covariance(estimator.state, self._level)
            twist[3:, 3:] = estimator.rate_covariance
            message.pose.covariance[:] = pose.ravel()
            message.twist.covariance[:] = twist.ravel()

    def _publish_tf(self, publisher: Any, message: Any) -> None:
        transform, odometry = message.transforms[0], self._message
        transform.header, transform.child_frame_id = odometry.header, odometry.child_frame_id
        place, position = transform.transform.translation, odometry.pose.pose.position
        place.x, place.y, place.z = position.x, position.y, position.z
        transform.transform.rotation = odometry.pose.pose.orientation
        self._send(publisher, message)


def odometry_covariance(state: Any, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances of pose and twist of an Odometry message, ``(6, 6)`` each.

    Args:
        state: A `WalkerState` with a covariance.
        level: Rotation from the floor frame to ``odom``, ``(3, 3)``.

    Returns:
        Of position and rotation about the axes of ``odom``, and of the velocity in base axes; the
        angular part of the latter is zero.
    """
    turn, place, speed = np.eye(9).reshape(3, 3, 9)[[0, 2, 1]]
    pose = np.vstack((level @ place, level @ turn))
    # seen from the base, a wrong turn turns the velocity
    rotation, v = state.base.rotation, state.base.linear
    cross = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    twist = np.vstack((rotation.T @ (speed + cross @ turn), np.zeros((3, 9))))
    return pose @ state.covariance @ pose.T, twist @ state.covariance @ twist.T


def level_orientation(base: BaseState, slope: float) -> np.ndarray:
    """Return the orientation of a `BaseState` in the level frame, quaternion xyzw."""
    return np.asarray(
        (pin.Quaternion(pin.utils.rotate('y', slope)) * pin.Quaternion(base.orientation)).coeffs()
    )


def heading_of(orientation: np.ndarray) -> float:
    """Return the yaw of a quaternion xyzw, rad."""
    x, y, z, w = orientation.tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
