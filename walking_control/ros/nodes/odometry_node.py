# SPDX-License-Identifier: Apache-2.0
"""Where a biped is, from joint encoders, IMU and foot forces; for any controller, ours or not."""

from typing import Any

import numpy as np
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from walking_control.estimation import DECLARED, EstimatorParameters, require_loads
from walking_control.loading import load_robot
from walking_control.models import parameter, World
from walking_control.operation import Operation, Patience
from walking_control.ros.nodes import (
    DiagnosticsPublisher,
    GuardedNode,
    OdometryPublisher,
    own_parameters,
    program,
    SensingParameters,
    sensor_topics,
    SensorSet,
    TickTimes,
    topics,
    WatchClock,
)
from walking_control.safety import Event, Fault, Latch, State
from walking_control.simulation.sensors import noise_overrides

LOOK = 0.5  # s between two looks at sensors that are silent or wrong


class OdometryParameters(SensingParameters, section='node'):
    """Of the odometry."""

    robot_file: str = parameter('walker3d', '', 'Robot: a name or the path of a robot file.')
    rate: float = parameter(50.0, 'Hz', 'Messages per second of sensor time.', 0.1, 1000.0)
    noise: str = parameter(
        'lab',
        '',
        'Preset of the noise that the sensors are taken to have where the robot file '
        'declares none; none: they are taken for exact, and nobody knows how far off odom is.',
        choices=('none', 'lab', 'rough'),
    )


class OdometryNode(GuardedNode):
    """Publishes ``odom`` with its covariance, and the transforms odom -> footprint -> base.

    The sensors come on the topics that the controller hears, and are judged as there: while one is
    silent or wrong nothing is published, `/diagnostics` says why, and the way goes on afterwards
    from where it ended; ``~/reset`` begins it anew. Efforts are heard if somebody commands them on
    our topic; planar walkers need them for their rates.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.

    Raises:
        InvalidInput: The robot file or a parameter is unusable.
    """

    def __init__(self, name: str = 'odometry', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        values = own_parameters(self, OdometryParameters).read()
        robot_file = load_robot(values.robot_file)
        declared = robot_file.values(EstimatorParameters)
        if values.noise != 'none' and not any(getattr(declared, name) for name in DECLARED):
            robot_file = load_robot(values.robot_file, noise_overrides(values.noise))
        robot, self._latch = robot_file.robot, Latch(State.UNCONFIGURED)
        require_loads(robot)
        self.operation = Operation(
            robot_file,
            'none',
            self._latch,
            Patience(False),
            lambda tick: None,
            {sensor: topic for sensor, (_, topic) in sensor_topics(robot).items()},
        )
        self._watch, self._times = WatchClock(self), TickTimes()
        self._effort = np.zeros(len(robot.efforts))
        self._told: Fault | None = None
        self._odometry = OdometryPublisher(
            self,
            self.operation.loop,
            robot_file.values(World).slope,
            values.rate,
            values.footprint_frame,
        )
        self._diagnostics = DiagnosticsPublisher(self, 'odometry', robot.name)
        self._latch.handle(Event.CONFIGURE)
        self._watch.begin()
        self.operation.activate(self._watch.now())
        SensorSet(
            self,
            self.operation,
            self._watch,
            self._on_answered,
            values.combined_state,
            values.combined_force_sign,
        )
        self.create_subscription(
            Float64MultiArray, topics.EFFORT_COMMANDS, self._on_effort, topics.SENSOR_IN
        )
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.steady_timer(LOOK, self._on_look)

    def _on_reset(self, request: Any, response: Any) -> Any:
        self.operation.loop.reset(clear_fault=False)
        self._odometry.restart()
        return Trigger.Response(success=True, message='odom begins between the feet')

    def _on_effort(self, message: Float64MultiArray) -> None:
        heard = np.asarray(message.data)
        if heard.shape == self._effort.shape and np.isfinite(heard).all():
            self._effort[:] = heard

    def _on_answered(self, start: float) -> None:
        if self._latch.fault is None:
            self._odometry.publish(self.operation.measurement.stamp)
        self.operation.loop.command.effort[:] = self._effort  # acts until the next measurement

    def _on_look(self) -> None:
        """Say what is wrong; begin again once it has been said."""
        now, fault = self._watch.now(), self._latch.fault
        if fault is None:
            self.operation.watch(now)
            fault = self._latch.fault
        if fault is not None:
            if self._told is None or self._told.code != fault.code:
                self.get_logger().warning(f'no odometry: {fault}')
            self.operation.clear(now)
            self._odometry.resume()
        self._told = fault
        waiting = self._latch.state is State.WAITING
        self._diagnostics.publish_loop(
            'waiting' if waiting else 'running',
            fault,
            self._times,
            {},
            [self.operation.wants(now)] if waiting and fault is None else [],
        )


main = program(OdometryNode)
