# SPDX-License-Identifier: Apache-2.0
"""Topic names, quality of service.

Names are relative, so a namespace moves them all. They are those of ros2_control's broadcasters
and command controllers; see doc/topics.md.
"""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from walking_control.models.signals import topic_word
from walking_control.ros.ros2_control.names import *  # noqa: F403

# labels of the zeros of a controller that waits, for its watchdog say, and of one that has stopped
WAITS, RESTS = 'waits', 'rests'


def telemetry(name: str) -> str:
    """Return the topic of one figure, such as a coordinate."""
    return f'~/telemetry/{topic_word(name)}'


# Broadcasters latch their last message; we only ever want the newest one that is live.
SENSOR_OUT = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
LATEST = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
)
LATCHED = SENSOR_OUT
# What asks for nothing hears every publisher, reliable or not.
SENSOR_IN = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE
)
# Every message counts.
EVENTS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# One subscription each, so that a stop is heard from whoever publishes it: reliably where that is
# offered, also from a button box that was pressed before we were there, and from one that is not
# reliable. To hear it twice does no harm. True is kept though many a false comes before it is read.
STOP_IN = tuple(
    QoSProfile(depth=100, reliability=reliability, durability=durability)
    for reliability, durability in (
        (ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
        (ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL),
        (ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE),
    )
)
