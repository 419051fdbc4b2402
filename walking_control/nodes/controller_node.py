# SPDX-License-Identifier: Apache-2.0
"""Lifecycle node that runs a control loop on ros2_control topics."""

import sys
import time

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.control_loop import ControlLoop
from walking_control.controllers.registry import CONTROLLERS
from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.estimation.planar import ESTIMATOR
from walking_control.exceptions import InvalidInput, WalkingControlError
from walking_control.loading import load_robot
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.robot_file import WORLD
from walking_control.models.urdf import differences
from walking_control.nodes import topics
from walking_control.nodes.diagnostics import DiagnosticsPublisher, TickTimes
from walking_control.nodes.heartbeat import WatchdogGuard
from walking_control.nodes.messages import ArrayWriter
from walking_control.nodes.parameters import NodeParameters, SectionParameters
from walking_control.nodes.posture_topics import PostureTopics
from walking_control.nodes.runtime import run_node
from walking_control.nodes.sensors import SensorSet
from walking_control.nodes.telemetry import OdometryPublisher, Telemetry
from walking_control.safety.supervisor import SAFETY

NODE = ParameterTable('node', [
    Parameter('robot_file', 'dribbel', '', 'Robot: a name or the path of a robot file.'),
    Parameter('controller', '', '', "Controller; empty takes the robot file's default."),
    Parameter('realtime', False, '', 'False: lockstep, a tick starts when all sensors of one '
              'stamp are there. True: a tick starts with every joint state.'),
    Parameter('lockstep_timeout', 2.0, 's', 'Longest wait for the next tick in lockstep.',
              0.1, 600.0),
    Parameter('virtual_efforts', False, '', 'Allow efforts that no hardware has, such as the '
              'ground torque of the compass: true with the embedded simulator only.'),
    Parameter('require_watchdog', True, '', 'Send zero effort until a watchdog node listens to '
              'this controller, and stop when it no longer does: false with the embedded '
              'simulator only.'),
    Parameter('watchdog_timeout', 0.5, 's', 'Longest silence of a required watchdog.', 0.05, 60.0),
    Parameter('autostart', False, '', 'Configure and activate without being told to.'),
    Parameter('telemetry_rate', 20.0, 'Hz', 'Rate of the telemetry topics; 0: none.', 0.0, 1000.0),
    Parameter('record_telemetry', False, '', 'Send what the law says of every tick on one topic, '
              'for a simulator that records it.'),
    Parameter('odometry_rate', 20.0, 'Hz', 'Rate of odometry and tf; 0: none.', 0.0, 1000.0),
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
    exit_status = 0

    def __init__(self, name='walking_controller', **kwargs):
        super().__init__(name, **kwargs)
        self._active = False
        self.loop = None
        self._sections = self._loaded = None
        self._published = []
        self._description = None
        self._node_parameters = NodeParameters(self, NODE)
        self._load()
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self.create_subscription(String, topics.ROBOT_DESCRIPTION, self._on_description,
                                 topics.LATCHED)
        if self._node_parameters.read().autostart:
            self._autostart = self.create_timer(0.0, self._on_autostart,
                                                clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _load(self):
        """Read the robot file and declare what its controller can be told."""
        values = self._node_parameters.read()
        loaded = values.robot_file, values.controller
        if loaded == self._loaded:
            return
        robot_file = load_robot(values.robot_file)
        controller = values.controller or robot_file.controller
        tables = [WORLD, ESTIMATOR, SAFETY, CONTROLLERS.find(controller).parameters]
        if self._sections is not None:
            self._sections.undeclare()
            self._sections = self._loaded = None
        self._sections = SectionParameters(self, tables, robot_file)
        self._robot_file, self._controller, self._loaded = robot_file, controller, loaded

    def _on_autostart(self):
        self.destroy_timer(self._autostart)
        for transition in (self.trigger_configure, self.trigger_activate):
            if transition() != TransitionCallbackReturn.SUCCESS:
                self.finished, self.exit_status = True, 2
                return

    # -- lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state):
        """Build the control loop from the parameters as they are now."""
        try:
            self._configure()
        except WalkingControlError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception as error:   # rclpy would swallow it without a word
            self.get_logger().error(f'{type(error).__name__}: {error}')
            raise
        return super().on_configure(state)

    def _configure(self):
        self._load()
        robot_file = self._robot_file
        self._sections.read_into(robot_file)
        self._check_description()
        if robot_file.robot.ground_torque is not None \
                and not self._node_parameters.read().virtual_efforts:
            raise InvalidInput(f'robot {robot_file.robot.name}', value='ground_torque',
                               limit='no hardware has this effort',
                               remedy='with the embedded simulator, set virtual_efforts')
        self.loop = ControlLoop(robot_file, self._controller)
        robot, values = robot_file.robot, self._node_parameters.read()
        self._lockstep = not values.realtime
        self._patience = values.lockstep_timeout if self._lockstep else self.loop.sensor_timeout
        self._sensors = SensorSet(robot, self._lockstep, self._control)
        self._effort = ArrayWriter(len(robot.efforts))
        self._lock = ArrayWriter(len(robot.locks))
        publish = self.create_publisher
        self._effort_publisher = publish(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
        self._lock_publisher = publish(Float64MultiArray, topics.LOCK_COMMANDS, topics.LATEST)
        self._fault_publisher = publish(String, '~/fault', topics.LATCHED)
        self._published = [self._effort_publisher, self._lock_publisher, self._fault_publisher]
        fields = self.loop.controller.telemetry_fields(robot) if values.record_telemetry else ()
        self._telemetry = ArrayWriter(len(fields)) if fields else None
        if fields:
            self._said = np.zeros(len(fields))
            self._telemetry_publisher = publish(Float64MultiArray, topics.TELEMETRY,
                                                topics.LATEST)
            self._published.append(self._telemetry_publisher)
        self._offered = [self.create_service(Trigger, '~/clear_fault', self._on_clear),
                          self.create_service(Trigger, '~/emergency_stop', self._on_stop_service)]
        self._stop_subscription = self.create_subscription(
            Bool, topics.EMERGENCY_STOP, self._on_stop_topic, topics.EVENTS)
        self._guard = WatchdogGuard(
            self, self._effort_publisher,
            values.watchdog_timeout if values.require_watchdog else None,
            lambda words: self._stop_at_once('watchdog', words))
        self._outputs = self._make_outputs(robot_file, values)
        self._diagnostics = DiagnosticsPublisher(self, robot.name)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._reported = None
        self._times = TickTimes()

    def _make_outputs(self, robot_file, values):
        """Return what is published beside the commands."""
        loop, rate = self.loop, values.telemetry_rate
        outputs = [Telemetry(self, loop, rate)]
        if robot_file.robot.planar:
            outputs.append(OdometryPublisher(self, loop, robot_file.values(WORLD).slope,
                                             values.odometry_rate))
        if loop.controller.name == PostureControl.name:
            outputs.append(PostureTopics(self, loop, rate))
        return outputs

    def on_activate(self, state):
        """Begin to answer measurements; a fault that nobody has cleared stays."""
        self.loop.reset(clear_fault=False)
        self.loop.reference.clear()
        self._answered = None
        self._guard.begin()
        self._times = TickTimes()
        self._sensors.subscribe(self, self.loop.reference)
        self._watch_timer = self.create_timer(self._patience, self._on_watch, clock=self._steady)
        self._timers_active = [
            self._watch_timer, self.create_timer(1.0, self._on_diagnostics, clock=self._steady)]
        self._active = True
        self._report()
        return super().on_activate(state)

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
        """Send zero effort and forget the control loop."""
        self.stop()
        self._release()
        return super().on_error(state)

    def stop(self):
        """Send zero effort as the last command and stop answering, if active."""
        if not self._active:
            return
        self._active = False
        self._guard.begin()
        self._publish_commands(0.0, 1.0, 0)
        for timer in self._timers_active:
            self.destroy_timer(timer)
        self._sensors.unsubscribe()

    def _release(self):
        if self.loop is None:
            return
        self.loop = None
        for publisher in self._published:
            self.destroy_publisher(publisher)
        for service in self._offered:
            self.destroy_service(service)
        self._offered = []
        self.destroy_subscription(self._stop_subscription)
        for part in (*self._outputs, self._guard, self._diagnostics):
            part.destroy()

    # -- one tick --------------------------------------------------------------------------------

    def _control(self, tick):
        """Answer a complete set of sensors; a repeated one gets the same answer again."""
        if not self._active:   # the set was under way while the node was deactivated
            return
        start = time.perf_counter()
        measurement = self._sensors.measurement
        stamp = measurement.stamp
        fresh = tick != self._answered
        if fresh:
            self._answered = tick
            self._guard.note(tick)
            try:
                if self._sensors.problem is not None:
                    self.loop.supervisor.latch('joint_state', self._sensors.problem, stamp)
                if self._guard.listens or self.loop.fault is not None:
                    self.loop.tick(measurement)   # until then the command of the reset: zero
            except Exception as error:  # whatever breaks, the robot must get a safe command
                self.loop.stop('internal', f'{type(error).__name__}: {error}', measurement)
        self._send(tick)
        if fresh:
            self._watch_time(start, stamp)
            if self.loop.fault is None:
                for output in self._outputs:
                    output.publish(stamp)

    def _watch_time(self, start, stamp):
        end = time.perf_counter()
        self._times.add(start, end, self.loop.period)
        if not self._lockstep:
            self.loop.supervisor.check_compute(end - start, self.loop.period, stamp)

    def _send(self, tick):
        command = self.loop.command
        if self._telemetry is not None and tick:
            self.loop.controller.write_telemetry(self._said)
            self._telemetry_publisher.publish(self._telemetry.write(self._said, tick))
        self._publish_commands(command.effort, command.lock, tick)
        if self.loop.fault is not self._reported:
            self._report()

    def _publish_commands(self, effort, lock, tick):
        self._effort_publisher.publish(self._effort.write(effort, tick))
        if self._robot_file.robot.locks:
            self._lock_publisher.publish(self._lock.write(lock, tick))

    # -- faults ----------------------------------------------------------------------------------

    def _on_watch(self):
        """Notice on the steady clock that sensors stopped; look again when they could have."""
        if not self._active:
            return
        oldest = self._watch() if self._sensors.heard else 0.0
        left = max(self._patience - oldest, self.loop.period)
        self._watch_timer.timer_period_ns = int(1e9 * left)
        self._watch_timer.reset()

    def _watch(self):
        """Latch a fault if a sensor is silent; return the age of the one silent longest, s."""
        sensors, supervisor = self._sensors, self.loop.supervisor
        stamp = sensors.measurement.stamp
        oldest = sensors.silence()
        if self._lockstep:
            if oldest > self._patience:
                supervisor.latch('stale_joint_state', 'no complete set of sensors for '
                                 f'{self._patience:g} s', stamp)
        else:
            ages = list(sensors.ages())
            all_silent = min(age for _, age in ages) > 0.5 * self._patience
            for kind, age in ages:
                supervisor.check_age('joint_state' if all_silent else kind, age, stamp)
                oldest = max(oldest, age)
            frozen = sensors.frozen()
            oldest = max(oldest, frozen)
            if frozen > self._patience:
                supervisor.latch('clock_stopped', f'the stamp has been {stamp:.6f} s for '
                                 f'{frozen:.3f} s', stamp)
        if supervisor.fault is not None and sensors.silence() > 2.0 * self.loop.period:
            # nobody can say how the joints move, so nothing is damped
            self.loop.command.effort[:] = 0.0
            self._send(0)
        return oldest

    def _on_stop_service(self, request, response):
        self._stop_at_once('emergency_stop', 'emergency stop')
        response.success, response.message = True, 'stopped'
        return response

    def _on_stop_topic(self, message):
        if message.data:
            self._stop_at_once('emergency_stop', 'emergency stop')

    def _stop_at_once(self, code, words):
        self.loop.stop(code, words, self._sensors.measurement)
        if not self._active:
            self._report()
            return
        if self._sensors.silence() > 2.0 * self.loop.period:
            self.loop.command.effort[:] = 0.0   # nobody can say how the joints move
        self._send(0)
        self._watch_timer.timer_period_ns = int(2e9 * self.loop.period)
        self._watch_timer.reset()

    def _on_clear(self, request, response):
        self.loop.reset()
        self._sensors.problem = None
        self._report()
        response.success, response.message = True, 'cleared'
        return response

    def _report(self):
        fault = self._reported = self.loop.fault
        if fault is not None:
            self.get_logger().error(str(fault))
        self._fault_publisher.publish(String(data='' if fault is None else str(fault)))

    def _on_diagnostics(self):
        state = 'active' if self._sensors.heard else 'active, waiting for sensors'
        if not self._sensors.heard:
            self.get_logger().warning('no sensor heard yet', throttle_duration_sec=5.0)
        elif self._guard.missing:
            state = f'active, waiting: {self._guard.missing}'
            self.get_logger().warning(f'effort stays zero: {self._guard.missing}',
                                      throttle_duration_sec=5.0)
        self._diagnostics.publish(state, self.loop.fault, self._times,
                                  {'clamped commands': self.loop.supervisor.clamped})

    # -- parameters and description --------------------------------------------------------------

    def _on_set_parameters(self, parameters):
        if self._sections is None:   # they are being declared
            return SetParametersResult(successful=True)
        try:
            changes = self._sections.check_changes(parameters, configured=self.loop is not None)
        except WalkingControlError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if self.loop is not None and self.loop.controller.name in changes:
            self.loop.retune(changes[self.loop.controller.name])
        return SetParametersResult(successful=True)

    def _on_description(self, message):
        self._description = message.data
        if self._active:
            try:
                self._check_description()
            except InvalidInput as error:
                self.get_logger().error(f'while active: {error}')

    def _check_description(self):
        """Refuse another robot than the one on /robot_description."""
        if self._description is None:
            return
        found = differences(self._robot_file.robot.urdf, self._description)
        if found:
            raise InvalidInput('robot_description', limit='is another robot than the robot file: '
                               + '; '.join(found),
                               remedy='give robot_file the robot that is there')


def main(args=None):
    """Run the controller node."""
    sys.exit(run_node(ControllerNode, args))


if __name__ == '__main__':
    main()
