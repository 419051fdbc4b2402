# SPDX-License-Identifier: Apache-2.0
"""Names that a robot on ros2_control and this package share: controllers, interfaces, topics.

Topic names are relative, so a namespace moves them all. Each is where the controller of that name
publishes or listens by its own habit.
"""

from walking_control.models.signals import IMU_BROADCASTER as IMU_BROADCASTER
from walking_control.models.signals import INERTIAL, topic_word
from walking_control.models.signals import LOCK_BROADCASTER as LOCK_BROADCASTER

CONTROLLER = 'walking_controller'  # our node
MANAGER = 'controller_manager'
ACTIVITY = f'{MANAGER}/activity'  # which of its controllers are active, at every change
JOINT_STATE_BROADCASTER = 'joint_state_broadcaster'
STATE_BROADCASTER = 'state_broadcaster'  # all states in one message
EFFORT_CONTROLLER = 'effort_controller'
LOCK_CONTROLLER = 'lock_controller'
# Field of a `Command` -> controller and interface. The gains are called as hardware_unitree_sdk2
# calls them; the Berkeley humanoid's stack says stiffness and damping.
COMMANDED = {
    'effort': (EFFORT_CONTROLLER, 'effort'),
    'position': ('position_controller', 'position'),
    'velocity': ('velocity_controller', 'velocity'),
    'stiffness': ('stiffness_controller', 'kp'),
    'damping': ('damping_controller', 'kd'),
}
# who tells LAAS's linear_feedback_controller the state, and the topic of its own commands
STATE_ESTIMATOR = 'joint_state_estimator'
FEEDBACK = 'control'
# commands by which a simulator without locks is made to hold a joint, see `lock_emulator_node`
LOCK_EFFORT_CONTROLLER = 'lock_effort_controller'

JOINT_STATES = 'joint_states'
IMU = f'{IMU_BROADCASTER}/imu'
LOCK_STATES = f'{LOCK_BROADCASTER}/joint_states'
EFFORT_COMMANDS = f'{EFFORT_CONTROLLER}/commands'
LOCK_COMMANDS = f'{LOCK_CONTROLLER}/commands'
LOCK_EFFORT_COMMANDS = f'{LOCK_EFFORT_CONTROLLER}/commands'
STATES = f'{STATE_BROADCASTER}/values'
STATE_NAMES = f'{STATE_BROADCASTER}/names'
COMBINED_STATE = 'combined_state'  # the same from our simulator, as a JointState
ROBOT_DESCRIPTION = 'robot_description'
CLOCK = '/clock'
TELEMETRY = 'controller_telemetry'
# where mujoco_ros2_control says how a free base moves: Odometry, its linear velocity in world axes
TRUTH = 'simulator/floating_base_state'
CMD_VEL = 'cmd_vel'
EMERGENCY_STOP = 'emergency_stop'
# services of the controller that somebody presses
BUTTONS = ('start', 'stop', 'emergency_stop', 'power_off', 'clear_fault')
SIMULATION_END = 'simulation_end'
# A watchdog says here that it is awake; whoever does may also send commands: zeros.
WATCHDOG = 'watchdog/heartbeat'
FAULT = f'{CONTROLLER}/fault'

# Frames of REP 105 and 120. The odometry: level, its origin at the first stance foot.
ODOM = 'odom'
FOOTPRINT = 'base_footprint'  # between the soles on the floor, with the heading of the base
SOLES = ('l_sole', 'r_sole')

TICKS = 2**32 - 1  # tick numbers run from 1 to this

# interfaces of ros2_control
EFFORT, LOCK = 'effort', 'lock'
IMU_INTERFACES = tuple(f'{signal.name}.{axis}' for signal in INERTIAL for axis in signal.labels)
WRENCH_INTERFACES = (*(f'force.{axis}' for axis in 'xyz'), *(f'torque.{axis}' for axis in 'xyz'))


def tick_number_of(stamp: int) -> int:
    """Return the number that ties a command to the measurement it answers.

    Float64MultiArray has no stamp, so the measurement's stamp travels in ``layout.data_offset``,
    in microseconds modulo 2^32; ros2_control ignores the layout. Zero is left to senders that do
    not set it.

    Args:
        stamp: Of the measurement, ns.
    """
    return stamp // 1000 % TICKS + 1


def command_topic(field: str) -> str:
    """Return the topic on which a field of a `Command` goes, its locks among them."""
    return LOCK_COMMANDS if field == 'lock' else f'{COMMANDED[field][0]}/commands'


def wrench_broadcaster(foot: str) -> str:
    """Return the name of the broadcaster of a foot's force sensor."""
    return f'{topic_word(foot)}_broadcaster'


def foot_wrench(foot: str) -> str:
    """Return the wrench topic of a foot link."""
    return f'{wrench_broadcaster(foot)}/wrench'
