# SPDX-License-Identifier: Apache-2.0
"""What mujoco_ros2_control does between MuJoCo and a controller manager, for trials without it."""

# It hands on force and torque with the other sign than MuJoCo's sensors have:
# mujoco_system_interface.cpp of 0.0.1 to 0.0.3 and of main in August 2026
HANDED_ON = -1.0
