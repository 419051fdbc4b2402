# SPDX-License-Identifier: Apache-2.0
"""A robot on ros2_control: which controllers, tags, bridges and processes it takes, as files."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'doctor': 'diagnose Diagnosis Seen',
        'files': 'BRIDGE commanding CONTROLLERS controllers_of FORWARD GAZEBO_WORLD shipped_folder '
        'write_ros2_control',
        'gazebo': 'gazebo_description gazebo_world LOCK_EFFORT',
        'linear_feedback': 'feedback_controllers feedback_joints PLUGIN',
        'live': 'judge_record LiveRecord RECORDED',
        'mujoco': 'KEYFRAME mujoco_description write_mjcf',
        'names': 'COMMANDED EFFORT IMU_INTERFACES LOCK WRENCH_INTERFACES',
        'nav2': 'NAV2 nav2_parameters',
        'security': 'write_policy',
        'stand_in': 'read_controllers StandIn',
        'tags': 'commanded GAZEBO HARDWARE include MUJOCO',
        'wiring': 'state_interfaces wire Wiring',
    },
)
