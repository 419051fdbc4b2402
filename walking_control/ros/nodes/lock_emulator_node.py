# SPDX-License-Identifier: Apache-2.0
"""Plays the locks of a robot in a simulator that has none: commands in, efforts and states out."""

from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from walking_control.exceptions import MeasurementError, require
from walking_control.loading import load_robot
from walking_control.models.parameters import parameter, Parameters
from walking_control.ros.nodes import (
    ArrayWriter,
    GuardedNode,
    JointStateReader,
    JointStateWriter,
    own_parameters,
    program,
    seconds,
    topics,
)
from walking_control.simulation.lock_emulation import LockEmulator


class LockEmulatorParameters(Parameters, section='node'):
    """Of the emulator."""

    robot_file: str = parameter('dribbel', '', 'Robot: a name or the path of a robot file.')
    held: bool = parameter(
        False,
        '',
        'Whether the simulator holds a joint by itself while it is told 1, not an effort.',
    )


class LockEmulatorNode(GuardedNode):
    """A `LockEmulator` at the rate of the joint states.

    Locks are armed until they are told otherwise, as those of our plants are.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.

    Raises:
        InvalidInput: The robot has no locks.
    """

    def __init__(self, name: str = 'lock_emulator', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        values = own_parameters(self, LockEmulatorParameters).read()
        robot = load_robot(values.robot_file).robot
        require(robot.locks, f'robot {robot.name}', limit='has no locks to play')
        self._emulator, self._held = LockEmulator(robot), values.held
        self._armed = np.ones(len(robot.locks), dtype=bool)
        self._reader = JointStateReader(robot.joints)
        self._position, self._velocity = np.zeros((2, len(robot.joints)))
        self._states = JointStateWriter([lock.joint for lock in robot.locks], ('position',))
        self._efforts = ArrayWriter(len(robot.locks))
        self._state_publisher = self.create_publisher(
            JointState, topics.LOCK_STATES, topics.SENSOR_OUT
        )
        self._effort_publisher = self.create_publisher(
            Float64MultiArray, topics.LOCK_EFFORT_COMMANDS, topics.LATEST
        )
        self.create_subscription(
            Float64MultiArray, topics.LOCK_COMMANDS, self._on_command, topics.SENSOR_IN
        )
        self.create_subscription(JointState, topics.JOINT_STATES, self._on_joints, topics.SENSOR_IN)

    def _on_command(self, message: Float64MultiArray) -> None:
        data = np.asarray(message.data)
        if data.shape != self._armed.shape or not np.isfinite(data).all():
            self.get_logger().error(
                f'{topics.LOCK_COMMANDS}: {list(data)} dropped', throttle_duration_sec=1.0
            )
            return
        self._armed[:] = data > 0.5

    def _on_joints(self, message: JointState) -> None:
        try:
            if not self._reader.read(message, self._position, self._velocity):
                return
        except MeasurementError as error:
            self.get_logger().error(str(error), throttle_duration_sec=1.0)
            return
        if not (np.isfinite(self._position).all() and np.isfinite(self._velocity).all()):
            return  # of such states no effort follows
        efforts = self._emulator.update(self._position, self._velocity, self._armed)
        self._effort_publisher.publish(
            self._efforts.write(self._emulator.engaged if self._held else efforts, 0)
        )
        self._state_publisher.publish(
            self._states.write(seconds(message.header.stamp), self._emulator.engaged)
        )

    def stop(self) -> None:
        """Leave zero effort behind."""
        self._effort_publisher.publish(self._efforts.write(0.0, 0))


main = program(LockEmulatorNode)
