# SPDX-License-Identifier: Apache-2.0
"""Where the robot is: Odometry, and the frames of REP 105 and 120."""

from collections import deque
import math
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from nav_msgs.msg import Odometry
import numpy as np
import pinocchio as pin
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header

from walking_control.control_loop import ControlLoop
from walking_control.models import link_names, parameter, Parameters, Robot
from walking_control.ros.nodes import (
    axes_of,
    GuardedNode,
    KINDS,
    Output,
    set_stamp,
    topics,
    write_axes,
)

TF, TF_STATIC = '/tf', '/tf_static'
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
OURS = 200  # of our transforms that may still come back to us
# m/s and rad/s: how a robot may have moved while nobody looked
UNSEEN = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.5])


class SensingParameters(Parameters):
    """What nodes have in common that hear a robot's sensors and tell where it is."""

    footprint_frame: str = parameter(
        topics.FOOTPRINT,
        '',
        'Frame on the floor between the feet that tf has between odom and the base, as REP 120 '
        'has it; empty: none.',
    )
    combined_state: str = parameter(
        '',
        '',
        'All sensors in one message: joint_state, of our simulator; values, of '
        'state_interfaces_broadcaster; empty: a topic each.',
        choices=KINDS,
    )
    combined_force_sign: float = parameter(
        1.0,
        '1',
        'Sign of the forces in a combined state: -1 for that of the foot on the floor.',
        -1.0,
        1.0,
    )


class Frames:
    """The transforms odom -> footprint -> base.

    A frame that somebody else tells has a parent already: it is left to him, and that is said.

    Args:
        node: The node that hears ``/tf`` and ``/tf_static``.
        kind: The class TFMessage.
        footprint: Name of the frame on the floor; empty: none.
        base: Name of the base.
    """

    def __init__(self, node: GuardedNode, kind: Any, footprint: str, base: str) -> None:
        self._node, self._kind, self._base = node, kind, base
        self._names = [name for name in (footprint, base) if name]
        self._ours: deque[tuple[str, int, int]] = deque(maxlen=OURS)
        node.create_subscription(kind, TF, self._hear, topics.EVENTS)
        node.create_subscription(kind, TF_STATIC, self._hear, STATIC)

    def _hear(self, message: Any) -> None:
        for each in message.transforms:
            stamp, child = each.header.stamp, each.child_frame_id
            if child in self._names and (child, stamp.sec, stamp.nanosec) not in self._ours:
                self._names.remove(child)
                self._node.get_logger().warning(
                    f'tf: somebody else tells {each.header.frame_id} -> {child}: ours is withheld'
                )

    def message(self, stamp: Any, base: pin.SE3, middle: np.ndarray) -> Any:
        """Return the TFMessage of a pose of the base, both in axes of odom.

        Args:
            stamp: A builtin_interfaces Time.
            base: Pose of the base.
            middle: On the floor between the feet, m, ``(3,)``.
        """
        floor = pin.SE3(pin.utils.rotate('z', heading_of(base.rotation)), middle)
        above, origin, transforms = topics.ODOM, pin.SE3.Identity(), []
        for name in self._names:
            pose = base if name == self._base else floor
            transforms.append(_transform(stamp, above, name, origin.actInv(pose)))
            self._ours.append((name, stamp.sec, stamp.nanosec))
            above, origin = name, pose
        return self._kind(transforms=transforms)


class OdometryPublisher(Output):
    """Publishes Odometry and, where tf2_msgs exists, the transforms odom -> footprint -> base.

    The frame ``odom`` is level: x forward, z up, with its origin at the first stance foot.

    Args:
        slope: Inclination of the floor, rad, downhill positive.
        rate: See `Output`.
        footprint: Name of the frame on the floor between the feet; empty: none.
    """

    def __init__(
        self, node: GuardedNode, loop: ControlLoop, slope: float, rate: float, footprint: str = ''
    ) -> None:
        super().__init__(node, rate)
        self._loop, self._slope = loop, pin.utils.rotate('y', slope)
        self._axes = pin.SE3(self._slope, np.zeros(3))  # of the floor, in odom
        # where to go on from: turn and place of the base; no place: the feet at the origin
        self._kept: tuple[np.ndarray, np.ndarray | None] | None = None
        # covariance of what was added up until a beginning, and the place where that was
        self._before, self._begun = np.zeros((6, 6)), np.zeros(3)
        self._pose = pin.SE3.Identity()
        self._message = Odometry(
            header=Header(frame_id=topics.ODOM), child_frame_id=loop.robot.base_link
        )
        self._odometry = self._publisher(Odometry, 'odom')
        self._frames = self._make_frames(node, loop.robot, footprint) if rate > 0.0 else None

    def _make_frames(self, node: GuardedNode, robot: Robot, footprint: str) -> Frames | None:
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return None
        links = link_names(robot.urdf)
        self._tf = self._publisher(TFMessage, TF, 10)
        if robot.is_free and not {*links} & {*topics.SOLES}:
            self._soles = self._publisher(TFMessage, TF_STATIC, STATIC)
            here = pin.SE3.Identity()
            soles = [_transform(Time(), *pair, here) for pair in zip(robot.feet, topics.SOLES)]
            self._soles.publish(TFMessage(transforms=soles))
        return Frames(node, TFMessage, '' if footprint in links else footprint, robot.base_link)

    def resume(self) -> None:
        """Go on from where the last message was: the estimator begins anew at its origin."""
        if self._message.header.stamp.sec or self._message.header.stamp.nanosec:
            self._kept = self._pose.rotation, self._pose.translation

    def restart(self) -> None:
        """Begin anew: between the feet is the origin, and ahead is along x."""
        self._kept, self._before = (np.eye(3), None), np.zeros((6, 6))

    def _continue(self, turn: np.ndarray, place: np.ndarray | None, stamp: float) -> None:
        """Choose axes of odom in which the base is where it was, up to tilt and height."""
        base, then, self._kept = self._loop.state.base, self._message.header.stamp, None
        turned = heading_of(turn) - heading_of(self._slope @ base.rotation)
        rotation = pin.utils.rotate('z', turned) @ self._slope
        if place is None:
            shift = -rotation @ _middle(self._loop)
        else:
            shift = place - rotation @ base.position
            unseen = UNSEEN * (stamp - then.sec - 1e-9 * then.nanosec)
            known = np.reshape(self._message.pose.covariance, (6, 6))
            self._before, self._begun = known + np.diag(unseen**2), place
        shift[2] = 0.0
        self._axes = pin.SE3(rotation, shift)

    def _write(self, stamp: float) -> None:
        base, message = self._loop.state.base, self._message
        if self._kept is not None:
            self._continue(*self._kept, stamp)
        set_stamp(message.header.stamp, self._loop.state.stamp)
        pose, twist = message.pose.pose, message.twist.twist
        self._pose = self._axes * pin.SE3(base.rotation, base.position)
        write_axes(pose.position, self._pose.translation)
        write_axes(pose.orientation, pin.Quaternion(self._pose.rotation).coeffs())
        # velocities are expressed in the base frame
        write_axes(twist.linear, base.linear @ base.rotation)
        write_axes(twist.angular, base.angular)
        self._write_covariance()
        self._send(self._odometry, message)
        if self._frames is not None:
            middle = self._axes.act(_middle(self._loop))
            self._send(self._tf, self._frames.message(message.header.stamp, self._pose, middle))

    def _write_covariance(self) -> None:
        """Say how well all this is known; zeros, as ROS has it, where nobody knows."""
        estimator, message = self._loop.estimator, self._message
        if estimator.state.covariance is not None:
            pose, twist = odometry_covariance(estimator.state, self._axes.rotation)
            twist[3:, 3:] = estimator.rate_covariance
            wrong = np.eye(6)  # now, what was then: the way since is turned by a wrong heading
            wrong[:3, 3:] = -pin.skew(self._pose.translation - self._begun)
            message.pose.covariance[:] = (pose + wrong @ self._before @ wrong.T).ravel()
            message.twist.covariance[:] = twist.ravel()


def _transform(stamp: Any, above: str, name: str, pose: pin.SE3) -> TransformStamped:
    turn = pin.Quaternion(pose.rotation).coeffs()
    return TransformStamped(
        header=Header(frame_id=above, stamp=stamp),
        child_frame_id=name,
        transform=Transform(
            translation=axes_of(Vector3, pose.translation), rotation=axes_of(Quaternion, turn)
        ),
    )


def _middle(loop: ControlLoop) -> np.ndarray:
    """Return the place between the feet at the height of the lower one, floor axes, m, ``(3,)``."""
    places = loop.state.base.position + np.array(loop.estimator.places)
    return np.array([*places[:, :2].mean(axis=0), places[:, 2].min()])


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
    rotation, cross = state.base.rotation, pin.skew(np.array(state.base.linear))
    twist = np.vstack((rotation.T @ (speed + cross @ turn), np.zeros((3, 9))))
    return pose @ state.covariance @ pose.T, twist @ state.covariance @ twist.T


def heading_of(rotation: np.ndarray) -> float:
    """Return the yaw of a rotation ``(3, 3)``, rad."""
    return math.atan2(rotation[1, 0], rotation[0, 0])
