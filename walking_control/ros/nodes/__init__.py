# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: topics, time, parameters and lifecycle around the same chain that scripts use."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'controller_client': 'ask_parameter ControllerClient',
        'controller_node': 'ControllerNode',
        'demo_place': 'announce DemoPlace',
        'diagnostics': 'DiagnosticsPublisher TickTimes',
        'fault_injection': 'break_law',
        'floor_topics': 'FloorTopics',
        'foxglove_server': 'FoxgloveServer WebGate',
        'guard': 'describe GuardedNode report',
        'heartbeat': 'FallbackSwitch heartbeat_writer WatchClock WatchdogGuard',
        'messages': 'ArrayWriter axes_of feedback_type FeedbackWriter JointStateReader '
        'JointStateWriter make_marker message_type read_array reader_of seconds set_stamp '
        'without_effort write_axes writer_of',
        'neighbours': 'Claims endpoint_name Neighbours',
        'odometry': 'OdometryPublisher SensingParameters',
        'parameters': 'frozen_error own_parameters SectionParameters',
        'posture_topics': 'PostureTopics',
        'printing': 'print_from_threads',
        'robot_frames': 'RobotFrames',
        'runtime': 'avoid_shared_memory isolate_domain make_executor program ros spin spun '
        'StopSignal',
        'sensors': 'combined_writer JOINT_STATE KINDS sensor_topics SensorSet stamp_of VALUES',
        'session': 'Session',
        'simulator_node': 'SimulatorNode',
        'telemetry': 'Output Telemetry',
        'tick_recorder': 'open_recorder',
        'topics': 'BUTTONS CONTROLLER',
        'velocity': 'RouteTopics VelocityTopic',
        'walk_markers': 'WalkMarkers',
    },
)
