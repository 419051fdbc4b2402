# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: topics, time, parameters and lifecycle around the same chain that scripts use."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'controller_client': 'ControllerClient',
        'demo_place': 'DemoPlace',
        'diagnostics': 'DiagnosticsPublisher TickTimes',
        'guard': 'GuardedNode',
        'heartbeat': 'WatchClock',
        'messages': 'ArrayWriter axes_of JointStateReader make_marker message_type reader_of '
        'seconds set_stamp write_axes',
        'neighbours': 'endpoint_name Neighbours',
        'odometry': 'OdometryPublisher SensingParameters',
        'parameters': 'own_parameters SectionParameters',
        'runtime': 'avoid_shared_memory isolate_domain make_executor program ros spin spun '
        'StopSignal',
        'sensors': 'JOINT_STATE sensor_topics SensorSet VALUES',
        'telemetry': 'Output',
    },
)
