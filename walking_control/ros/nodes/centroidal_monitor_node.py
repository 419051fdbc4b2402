# SPDX-License-Identifier: Apache-2.0
"""Shows how a robot that stands passes a force on its centre of mass into motion.

Listens to the joints, the orientation and the loads of the feet, on the topics of the controller;
sends nothing but figures and a marker. What a foot carries counts as contact.
"""

from collections.abc import Callable
from functools import partial
import math
import time
from typing import Any

import numpy as np
import pinocchio as pin
from std_msgs.msg import Float64
from visualization_msgs.msg import Marker

from walking_control.design import (
    Contacts,
    load_mechanism,
    Mechanism,
    motion_space,
    Transmissibility,
    transmissibility,
    unit_direction,
    usual_contacts,
)
from walking_control.exceptions import WalkingControlError
from walking_control.models import (
    IMU,
    JOINTS,
    Measurement,
    parameter,
    Parameters,
    Robot,
    sensors_of,
)
from walking_control.models.pose import unit_quaternion
from walking_control.ros.nodes import (
    GuardedNode,
    make_marker,
    message_type,
    own_parameters,
    program,
    reader_of,
    topics,
    write_axes,
)


class CentroidalMonitorParameters(Parameters, section='node'):
    """Of the monitor."""

    robot_file: str = parameter('humanoid', '', 'Robot: a name or the path of a robot file.')
    rate: float = parameter(10.0, 'Hz', 'Figures per second of wall time.', 0.1, 200.0)
    direction: tuple[float, ...] = parameter(
        (0.0, 0.0, 1.0),
        '1',
        'Direction of the force that RoToM is about, in the world; z is up.',
        -1e6,
        1e6,
    )
    contact_kind: str = parameter(
        '',
        '',
        'Whether loaded feet may turn: point, or sole; empty: as usual for the robot.',
        choices=('', 'point', 'sole'),
    )
    load: float = parameter(
        0.05, '1', 'Share of the weight from which a foot counts as standing.', 0.001, 1.0
    )
    timeout: float = parameter(
        0.5, 's', 'Age of the joints after which nothing is published.', 0.01, 60.0
    )
    marker_size: float = parameter(0.5, 'm', 'Drawn half axis of a free mass.', 0.001, 10.0)


THIN = 1e-3  # m: RViz draws no flat ellipsoid


class CentroidalMonitorNode(GuardedNode):
    """Publishes ``~/index``, ``~/rotom`` (Float64) and ``~/ellipsoid`` (Marker, base frame).

    Without an orientation the base counts as upright; a foot from which nothing was ever heard
    counts as standing.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.

    Raises:
        InvalidInput: The robot file or a parameter is unusable.
    """

    def __init__(self, name: str = 'centroidal_monitor', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._values = own_parameters(self, CentroidalMonitorParameters).read()
        self._mechanism = load_mechanism(self._values.robot_file, held=False)
        self._direction = unit_direction(self._values.direction)
        robot = self._mechanism.dynamics.robot
        self._kind = self._values.contact_kind or usual_contacts(self._mechanism)[0].kind
        self._space = motion_space(self._mechanism)
        self._measurement = Measurement(robot)
        self._measurement.position[:] = math.nan
        self._heard: dict[str, float] = {}  # sensor -> when
        self._imu: np.ndarray | None = None  # rotation from the IMU's axes to the world's
        self._publish_to()
        self._listen_to(robot)
        self.steady_timer(1.0 / self._values.rate, self._on_timer)

    def _publish_to(self) -> None:
        self._index = self.create_publisher(Float64, '~/index', topics.LATEST)
        self._rotom = self.create_publisher(Float64, '~/rotom', topics.LATEST)
        self._marker_publisher = self.create_publisher(Marker, '~/ellipsoid', topics.LATEST)
        self._marker = make_marker(
            self._mechanism.dynamics.robot.base_link,
            'transmissibility',
            0,
            Marker.SPHERE,
            (0.0, 0.45, 0.7, 0.5),
            (0.0, 0.0, 0.0),
        )

    def _listen_to(self, robot: Robot) -> None:
        """Hear the first signal of each sensor: angles, orientation, forces."""
        for sensor in sensors_of(robot):
            if sensor.name in (JOINTS, IMU, *robot.foot_sensors):
                first = sensor._replace(signals=sensor.signals[:1])
                read = reader_of(first, self._measurement.parts[sensor.name][:1])
                hear = partial(self._hear, sensor.name, read)
                self.create_subscription(message_type(sensor), sensor.topic, hear, topics.SENSOR_IN)

    def _hear(self, sensor: str, read: Callable[[Any], bool], message: Any) -> None:
        try:
            if not read(message):
                return
            if sensor == IMU:
                orientation = unit_quaternion(self._measurement.orientation.tolist())
                self._imu = pin.Quaternion(np.array(orientation)).matrix()
        except WalkingControlError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        self._heard[sensor] = time.monotonic()
        if sensor == JOINTS:
            self._stamp = message.header.stamp

    # -- figures -------------------------------------------------------------------------------

    def standing(self) -> tuple[str, ...]:
        """Return the feet that carry something, or have never been heard of."""
        least = self._values.load * self._mechanism.dynamics.weight
        feet = self._mechanism.dynamics.robot.feet
        loads = np.linalg.norm(self._measurement.foot_force, axis=1)
        return tuple(
            foot for foot, load in zip(feet, loads) if foot not in self._heard or load >= least
        )

    def _on_timer(self) -> None:
        age = time.monotonic() - self._heard.get(JOINTS, -math.inf)
        if age > self._values.timeout or not np.isfinite(self._measurement.position).all():
            return
        mechanism = self._mechanism.at(self._measurement.position)
        found = transmissibility(mechanism, Contacts(self.standing(), self._kind), self._space)
        # the mechanism's base is upright, so its axes are the base's
        self._index.publish(Float64(data=found.index))
        self._rotom.publish(Float64(data=found.rotom(self._to_base(mechanism))))
        self._marker_publisher.publish(self._drawn(mechanism, found))

    def _to_base(self, mechanism: Mechanism) -> np.ndarray:
        """Return the direction in the base's axes."""
        if self._imu is None:
            return self._direction
        dynamics = mechanism.dynamics
        turned = dynamics.placement(mechanism.q, dynamics.frame(dynamics.robot.imu_link))[1]
        return np.asarray(turned @ self._imu.T @ self._direction)

    def _drawn(self, mechanism: Mechanism, found: Transmissibility) -> Marker:
        lengths, axes = found.axes
        if np.linalg.det(axes) < 0.0:
            axes = axes * np.array([1.0, 1.0, -1.0])
        marker, size = self._marker, 2.0 * self._values.marker_size
        marker.header.stamp = self._stamp
        dynamics = mechanism.dynamics
        base = dynamics.placement(mechanism.q, dynamics.frame(dynamics.robot.base_link))[0]
        write_axes(marker.pose.position, mechanism.center_of_mass() - base)
        write_axes(marker.pose.orientation, pin.Quaternion(axes).coeffs())
        write_axes(marker.scale, np.maximum(size * lengths, THIN))
        return marker


main = program(CentroidalMonitorNode)
