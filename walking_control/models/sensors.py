# SPDX-License-Identifier: Apache-2.0
"""The table of a robot's sensors: what each tells, in which unit, message, topic and order.

`Measurement`, nodes, recordings, plots, bounds and errors of sensors all read it. A new sensor is
a row here, and a plant that fills it.
"""

from __future__ import annotations

from operator import attrgetter
import re
from typing import Any, NamedTuple, TYPE_CHECKING

if TYPE_CHECKING:
    from walking_control.models.robot import Robot

JOINTS, IMU, LOCKS, CONTACT = 'joint_state', 'imu', 'locks', 'contact'   # IMU: of the estimator
IMU_BROADCASTER, LOCK_BROADCASTER = 'imu_broadcaster', 'lock_broadcaster'


class Signal(NamedTuple):
    """Numbers of a sensor that are one quantity."""

    name: str   # also of its interfaces in ros2_control
    unit: str   # in SI
    labels: tuple[str, ...]   # of its numbers: joints, or axes
    title: str = ''   # Of its plot; one title, one plot. Empty: it is not drawn.
    field: str = ''   # of the message that holds it, where that is not its name

    def read(self, message: Any) -> list[float]:
        """Return the numbers along axes that a message holds."""
        vector = attrgetter(self.field or self.name)(message)
        return [getattr(vector, axis) for axis in self.labels]

    def write(self, message: Any, values: Any) -> None:
        """Put numbers along axes into a message."""
        vector = attrgetter(self.field or self.name)(message)
        for axis, value in zip(self.labels, values.tolist()):
            setattr(vector, axis, value)


class Sensor(NamedTuple):
    """What one message on one topic tells."""

    name: str   # `JOINTS`, `IMU`, a foot, the link of another IMU, or `LOCKS`
    kind: str   # the end of the code of the fault when it falls silent
    message: str   # its type in ROS
    controller: str   # broadcaster of ros2_control that publishes it
    topic: str   # relative
    frame: str   # link in whose axes it counts; empty for joints
    # in the order of `Measurement.values`; locks, which are no numbers, stand apart
    signals: tuple[Signal, ...]


STATE = 'sensor_msgs/msg/JointState'
INERTIAL = (Signal('orientation', '1', tuple('xyzw')),
            Signal('angular_velocity', 'rad/s', tuple('xyz'), 'angular velocity'),
            Signal('linear_acceleration', 'm/s^2', tuple('xyz'), 'specific force'))


def sensors_of(robot: Robot) -> list[Sensor]:
    """Return the sensors of a robot in the order of `Measurement.values`, locks last."""
    joints, locks = tuple(robot.joints), tuple(lock.joint for lock in robot.locks)
    rows = [
        Sensor(JOINTS, JOINTS, STATE, 'joint_state_broadcaster', 'joint_states', '', (
            Signal('position', 'rad', joints, 'joint positions'),
            Signal('velocity', 'rad/s', joints, 'joint velocities'))),
        _inertial(IMU, IMU_BROADCASTER, robot.imu_link)]
    for foot in robot.feet:
        controller = f'{topic_word(foot)}_broadcaster'
        rows.append(Sensor(
            foot, CONTACT, 'geometry_msgs/msg/WrenchStamped', controller, f'{controller}/wrench',
            foot, (Signal('force', 'N', tuple('xyz'), 'forces on the feet', 'wrench.force'),)))
    rows += [_inertial(imu_name(link), f'{topic_word(link)}_{IMU_BROADCASTER}', link)
             for link in robot.more_imus]
    if locks:
        rows.append(Sensor(LOCKS, JOINTS, STATE, LOCK_BROADCASTER,
                           f'{LOCK_BROADCASTER}/joint_states', '', (
                               Signal('lock', '1', locks, '', 'position'),)))
    return rows


def imu_name(link: str) -> str:
    """Return the name of an IMU beside the one that the estimator hears."""
    return f'imu_{link}'


def _inertial(name: str, controller: str, link: str) -> Sensor:
    return Sensor(name, IMU, 'sensor_msgs/msg/Imu', controller, f'{controller}/imu', link, INERTIAL)


def topic_word(name: str) -> str:
    """Return a name of the robot file as part of a ROS topic: letters, digits and _ alone."""
    word = re.sub('[^A-Za-z0-9_]', '_', name)
    return f'_{word}' if word[:1].isdigit() else word
