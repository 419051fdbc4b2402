# SPDX-License-Identifier: Apache-2.0
"""Lifecycle node that runs a control loop on ros2_control topics."""

import sys
import time

from geometry_msgs.msg import Twist, WrenchStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.control_loop import ControlLoop
from walking_control.controllers.registry import find_controller
from walking_control.estimation.planar import ESTIMATOR
from walking_control.exceptions import WalkingControlError
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.robot_file import load_robot_file, WORLD
from walking_control.models.signals import Measurement
from walking_control.nodes import topics
from walking_control.nodes.messages import (ArrayWriter, JointStateReader, read_force, read_imu,
                                            seconds)
from walking_control.nodes.parameters import declare_table, NodeParameters, read_table
from walking_control.nodes.runtime import run_node
from walking_control.safety.supervisor import SAFETY

NODE = ParameterTable('node', [
    Parameter('robot_file', 'dribbel', '', 'Robot: a name or the path of a robot file.'),
    Parameter('controller', '', '', "Controller; empty takes the robot file's default."),
    Parameter('realtime', False, '', 'False: lockstep, a tick starts when all sensors of one '
              'stamp are there. True: a tick starts with every joint state.'),
    Parameter('lockstep_timeout', 2.0, 's', 'Longest wait for the next tick in lockstep.',
              0.1, 600.0),
])


class ControllerNode(LifecycleNode):
    """Sensors in, effort and lock commands out; one `ControlLoop` in between.

    Configure builds the loop, activate begins to answer measurements, deactivate sends zero effort
    first. After a fault the safe command is sent until ``~/clear_fault`` is called.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.lifecycle.LifecycleNode`.

    Raises:
        InvalidInput: The robot file or a parameter is unusable.
    """

    finished = False

    def __init__(self, name='walking_controller', **kwargs):
        super().__init__(name, **kwargs)
        self._node_parameters = NodeParameters(self, NODE)
        values = self._node_parameters.read()
        self._robot_file = load_robot_file(values.robot_file)
        self._controller = values.controller or self._robot_file.controller
        self._tables = [WORLD, ESTIMATOR, SAFETY, find_controller(self._controller).parameters]
        for table in self._tables:
            declare_table(self, table, self._robot_file.values(table))
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self._active = False
        self.loop = None

    # -- lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state):
        """Build the control loop from the parameters as they are now."""
        try:
            self._configure()
        except WalkingControlError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def _configure(self):
        robot_file = self._robot_file
        for table in self._tables:
            robot_file.sections[table.section] = vars(read_table(self, table))
        values = self._node_parameters.read()
        self.loop = ControlLoop(robot_file, self._controller)
        robot = robot_file.robot
        self._lockstep = not values.realtime
        timeout = robot_file.values(SAFETY).state_timeout
        self._silence = values.lockstep_timeout if self._lockstep else timeout
        self._measurement = Measurement(robot)
        self._reader = JointStateReader(robot.joints)
        self._lock_reader = JointStateReader([lock.joint for lock in robot.locks])
        self._lock_positions = self._measurement.locked.astype(float)
        self._effort = ArrayWriter(len(robot.actuators))
        self._lock = ArrayWriter(len(robot.locks))
        self._effort_publisher = self.create_publisher(
            Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
        self._lock_publisher = self.create_publisher(
            Float64MultiArray, topics.LOCK_COMMANDS, topics.LATEST)
        self._fault_publisher = self.create_publisher(String, '~/fault', topics.LATCHED)
        self._clear_service = self.create_service(Trigger, '~/clear_fault', self._on_clear)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)

    def on_activate(self, state):
        """Begin to answer measurements."""
        robot = self.loop.robot
        self.loop.reset()
        self._reported = None
        self._stamps = {}
        self._needed = 2 + len(robot.feet) + (1 if robot.locks else 0)
        self._tick = None
        self._heard = time.monotonic()
        self._subscribe(robot)
        self._watchdog = self.create_timer(self._silence / 4, self._on_watchdog,
                                           clock=self._steady)
        self._active = True
        return super().on_activate(state)

    def _subscribe(self, robot):
        latest = topics.LATEST
        self._subscriptions_active = [
            self.create_subscription(JointState, topics.JOINT_STATES, self._on_joints, latest),
            self.create_subscription(Imu, topics.IMU, self._on_imu, latest),
            self.create_subscription(Twist, topics.CMD_VEL, self._on_cmd_vel, latest)]
        for i, foot in enumerate(robot.feet):
            self._subscriptions_active.append(self.create_subscription(
                WrenchStamped, topics.foot_wrench(foot), self._foot_callback(i), latest))
        if robot.locks:
            self._subscriptions_active.append(self.create_subscription(
                JointState, topics.LOCK_STATES, self._on_locks, latest))

    def on_deactivate(self, state):
        """Send zero effort, then stop answering."""
        self.stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state):
        """Forget the control loop."""
        self._release()
        return super().on_cleanup(state)

    def on_shutdown(self, state):
        """Send zero effort and forget the control loop."""
        self.stop()
        self._release()
        return super().on_shutdown(state)

    def on_error(self, state):
        """Send zero effort."""
        self.stop()
        return super().on_error(state)

    def stop(self):
        """Send zero effort as the last command and stop answering, if active."""
        if not self._active:
            return
        self._active = False
        self._effort_publisher.publish(self._effort.write(0.0, 0))
        self._lock_publisher.publish(self._lock.write(1.0, 0))
        self.destroy_timer(self._watchdog)
        for subscription in self._subscriptions_active:
            self.destroy_subscription(subscription)

    def _release(self):
        if self.loop is None:
            return
        self.loop = None
        for publisher in (self._effort_publisher, self._lock_publisher, self._fault_publisher):
            self.destroy_publisher(publisher)
        self.destroy_service(self._clear_service)

    # -- sensors ---------------------------------------------------------------------------------

    def _on_joints(self, message):
        try:
            self._reader.read(message, self._measurement.position, self._measurement.velocity)
        except WalkingControlError as error:
            self.loop.supervisor.latch('joint_state', str(error), seconds(message.header.stamp))
        self._arrived('joints', message.header.stamp)

    def _on_imu(self, message):
        read_imu(message, self._measurement)
        self._arrived('imu', message.header.stamp)

    def _foot_callback(self, index):
        def on_wrench(message):
            read_force(message, self._measurement.foot_force[index])
            self._arrived(index, message.header.stamp)
        return on_wrench

    def _on_locks(self, message):
        try:
            self._lock_reader.read(message, self._lock_positions)
        except WalkingControlError as error:
            self.loop.supervisor.latch('lock_state', str(error), seconds(message.header.stamp))
        self._measurement.locked[:] = self._lock_positions > 0.5
        self._arrived('locks', message.header.stamp)

    def _on_cmd_vel(self, message):
        speed = message.linear.x
        self.loop.reference.speed = speed if 0.0 < speed < float('inf') else None

    def _arrived(self, sensor, stamp):
        """Note a sensor; tick when the set is complete."""
        tick = topics.tick_number(stamp)
        self._stamps[sensor] = tick
        if self._lockstep:
            complete = len(self._stamps) == self._needed and \
                all(other == tick for other in self._stamps.values())
        else:
            complete = sensor == 'joints' and len(self._stamps) == self._needed
        if complete:
            self._heard = time.monotonic()
            self._control(seconds(stamp), tick)

    def _control(self, stamp, tick):
        if tick != self._tick:  # a repeated measurement gets the same answer again
            self._tick = tick
            self._measurement.stamp = stamp
            try:
                self.loop.tick(self._measurement)
            except Exception as error:  # whatever breaks, the robot must get a safe command
                self.loop.supervisor.latch('internal', f'{type(error).__name__}: {error}', stamp)
                self.loop.supervisor.react(self._measurement, self.loop.command)
        self._send(tick)

    def _send(self, tick):
        command = self.loop.command
        self._effort_publisher.publish(self._effort.write(command.effort, tick))
        if self.loop.robot.locks:
            self._lock_publisher.publish(self._lock.write(command.lock, tick))
        if self.loop.fault is not self._reported:
            self._report()

    # -- faults and parameters -------------------------------------------------------------------

    def _on_watchdog(self):
        if time.monotonic() - self._heard <= self._silence or not self._stamps:
            return
        supervisor = self.loop.supervisor
        if supervisor.fault is None:
            supervisor.latch('stale', f'no complete set of sensor data for {self._silence:g} s',
                             self._measurement.stamp)
        # nobody can say how the joints move, so nothing is damped
        self.loop.command.effort[:] = 0.0
        self._send(0)

    def _report(self):
        fault = self._reported = self.loop.fault
        if fault is not None:
            self.get_logger().error(f'{fault.code}: {fault.message}')
        self._fault_publisher.publish(
            String(data='' if fault is None else f'{fault.code}: {fault.message}'))

    def _on_clear(self, request, response):
        response.success = self._active
        response.message = 'cleared' if self._active else 'the controller is not active'
        if self._active:
            self.loop.reset()
            self._report()
        return response

    def _on_set_parameters(self, parameters):
        try:
            changes = self._node_parameters.check_changes(parameters, self._tables, self._active)
        except WalkingControlError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if self.loop is not None:
            law = self.loop.controller
            for name, value in changes.get(law.name, {}).items():
                setattr(law.values, name, value)
        return SetParametersResult(successful=True)


def main(args=None):
    """Run the controller node."""
    sys.exit(run_node(ControllerNode, args))


if __name__ == '__main__':
    main()
