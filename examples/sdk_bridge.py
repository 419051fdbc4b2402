# SPDX-License-Identifier: Apache-2.0
"""Topics of Unitree's and Booster's robots beside those of ros2_control, for robots as sold.

Unitree's G1 tells its state on `lowstate` and takes commands on `lowcmd` (package unitree_hg of
unitreerobotics/unitree_ros2); Booster's T1 has `low_state` and `joint_ctrl` (booster_interface of
BoosterRobotics/booster_robotics_sdk_ros2). This node publishes what the controller awaits,
`joint_states` with measured efforts and `imu_broadcaster/imu`, and sends what it commands:
efforts, and with `drive: impedance` also positions, velocities and gains. The messages of one tick
go out together. Motors that the robot file does not have, such as those of arms, are held where
they are at first. While no command comes, all motors damp.

It has not been run on a robot: hang it up, and take the gains from your robot's maker.

Run: python examples/sdk_bridge.py {g1,t1} ROBOT_FILE [--dry]
"""

import argparse
import struct
import sys

import numpy as np
import pinocchio as pin

from walking_control.exceptions import WalkingControlError
from walking_control.loading import load_robot
from walking_control.models.drives import fields_of

SIDES = ('left', 'right')
LEG = ('hip_pitch', 'hip_roll', 'hip_yaw', 'knee', 'ankle_pitch', 'ankle_roll')
ARM = ('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow', 'wrist_roll', 'wrist_pitch')
T1_ARM = ('Shoulder_Pitch', 'Shoulder_Roll', 'Elbow_Pitch', 'Elbow_Yaw')
T1_LEG = ('Hip_Pitch', 'Hip_Roll', 'Hip_Yaw', 'Knee_Pitch', 'Ankle_Pitch', 'Ankle_Roll')
# joints in the order of the makers' motors
MOTORS = {
    'g1': [
        *(f'{side}_{part}_joint' for side in SIDES for part in LEG),
        *(f'waist_{part}_joint' for part in ('yaw', 'roll', 'pitch')),
        *(f'{side}_{part}_joint' for side in SIDES for part in (*ARM, 'wrist_yaw')),
    ],
    't1': [
        'AAHead_yaw',
        'Head_pitch',
        *(f'{side}_{part}' for side in ('Left', 'Right') for part in T1_ARM),
        'Waist',
        *(f'{side}_{part}' for side in ('Left', 'Right') for part in T1_LEG),
    ],
}
TOPICS = {'g1': ('lowstate', 'lowcmd'), 't1': ('low_state', 'joint_ctrl')}
SHORT = {'effort': 'tau', 'position': 'q', 'velocity': 'dq', 'stiffness': 'kp', 'damping': 'kd'}
G1_MESSAGE = '<2B2x' + 35 * 'B3x5fI' + '5I'  # LowCmd as the robot has it in its memory
HOLDING, DAMPING, SILENCE = 60.0, 2.0, 0.1  # N m/rad; N m s/rad; s
POLYNOMIAL = 0x04C11DB7


def checksum(data):
    """Return the CRC-32 of words of 32 bits, least significant byte first, as G1 computes it."""
    crc = 0xFFFFFFFF
    for (word,) in struct.iter_unpack('<I', data):
        crc ^= word
        for _ in range(32):
            crc = (crc << 1 ^ (POLYNOMIAL if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


def sign(message):
    """Write the checksum of a LowCmd of a G1."""
    motors = [
        number
        for motor in message.motor_cmd
        for number in (motor.mode, motor.q, motor.dq, motor.tau, motor.kp, motor.kd, motor.reserve)
    ]
    words = (message.mode_pr, message.mode_machine, *motors, *message.reserve, 0)
    message.crc = checksum(struct.pack(G1_MESSAGE, *words)[:-4])


def read_state(kind, message):
    """Return q, dq and efforts of the motors; orientation (xyzw), turning and force of the IMU."""
    imu = message.imu_state
    if kind == 'g1':
        w, x, y, z = imu.quaternion
        motors, inertial = message.motor_state, ([x, y, z, w], imu.gyroscope, imu.accelerometer)
    else:
        turned = pin.Quaternion(pin.rpy.rpyToMatrix(np.array(imu.rpy, float))).coeffs()
        motors, inertial = message.motor_state_serial, (turned, imu.gyro, imu.acc)
    motors = motors[: len(MOTORS[kind])]
    told = ([getattr(motor, name) for motor in motors] for name in ('q', 'dq', 'tau_est'))
    return tuple(np.array(row, float) for row in (*told, *inertial))


class Commands:
    """Commands of one tick, gathered from topics of their own.

    Args:
        kind: ``'g1'`` or ``'t1'``.
        fields: Field of a `Command` -> joints in the order of its topic, see `fields_of`.
    """

    def __init__(self, kind, fields):
        self._kind = kind
        self._places = {
            field: [MOTORS[kind].index(joint) for joint in joints]
            for field, joints in fields.items()
        }
        self._heard = {}
        self.held = None  # where all motors are at first, rad

    def hear(self, field, number, values):
        """Return the five rows of the makers' motors once all of a tick are here, else None."""
        self._heard[field] = number, values
        numbers = {n for n, _ in self._heard.values()}
        if len(self._heard) < len(self._places) or len(numbers) > 1 or self.held is None:
            return None
        rows = {name: np.zeros(len(MOTORS[self._kind])) for name in SHORT}
        others = np.setdiff1d(np.arange(len(self.held)), sum(self._places.values(), []))
        rows['position'][others] = self.held[others]
        rows['stiffness'][others], rows['damping'][others] = HOLDING, DAMPING
        for each, (_, told) in self._heard.items():
            rows[each][self._places[each]] = told
        return rows


def fill(kind, message, rows, machine=0):
    """Write the rows of the motors into a command of the maker, with its checksum."""
    for i, motor in enumerate(message.motor_cmd[: len(MOTORS[kind])]):
        motor.mode = 1 if kind == 'g1' else 0
        for field, name in SHORT.items():
            setattr(motor, name, float(rows[field][i]))
    if kind == 'g1':  # pitch and roll of ankles, not their two motors
        message.mode_pr, message.mode_machine = 0, machine
        sign(message)
    else:
        message.cmd_type = 1  # serial joints


def check_joints(kind, robot):
    """Refuse a robot with motors that the maker's robot has not."""
    others = [joint for joint in robot.actuators if joint not in MOTORS[kind]]
    if others:
        raise WalkingControlError(
            f'joint {others[0]} of {robot.name}: {kind} has no motor of this name; '
            f'adopt the description of its maker'
        )


def run(kind, robot, dry):
    """Spin the node until it is interrupted."""
    import rclpy
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import Float64MultiArray

    from walking_control.ros.nodes import topics

    if kind == 'g1':
        from unitree_hg.msg import LowCmd, LowState
    else:
        from booster_interface.msg import LowCmd, LowState, MotorCmd
    rclpy.init()
    node = rclpy.create_node('sdk_bridge')
    joints = node.create_publisher(JointState, topics.JOINT_STATES, topics.SENSOR_OUT)
    inertial = node.create_publisher(Imu, topics.IMU, topics.SENSOR_OUT)
    sends = node.create_publisher(LowCmd, TOPICS[kind][1], 10)
    fields = fields_of(robot)
    commands, machine, last = Commands(kind, fields), [0], [-np.inf]

    def now():
        return node.get_clock().now()

    def on_state(message):
        q, dq, tau, orientation, turning, felt = read_state(kind, message)
        commands.held = q if commands.held is None else commands.held
        machine[0], stamp = getattr(message, 'mode_machine', 0), now().to_msg()
        told = Imu()
        told.header.stamp, told.header.frame_id = stamp, robot.imu_link
        for part, values, axes in (
            (told.orientation, orientation, 'xyzw'),
            (told.angular_velocity, turning, 'xyz'),
            (told.linear_acceleration, felt, 'xyz'),
        ):
            for axis, value in zip(axes, values):
                setattr(part, axis, float(value))
        inertial.publish(told)
        state = JointState(name=MOTORS[kind], position=q, velocity=dq, effort=tau)
        state.header.stamp = stamp
        joints.publish(state)

    def send(rows):
        message = LowCmd()
        if kind == 't1':
            message.motor_cmd = [MotorCmd() for _ in MOTORS[kind]]
        fill(kind, message, rows, machine[0])
        if not dry:
            sends.publish(message)

    def on_command(field, message):
        rows = commands.hear(field, message.layout.data_offset, message.data)
        if rows is not None:
            last[0] = 1e-9 * now().nanoseconds
            send(rows)

    def damp():
        if 1e-9 * now().nanoseconds - last[0] > SILENCE:
            rows = {field: np.zeros(len(MOTORS[kind])) for field in SHORT}
            rows['damping'][:] = DAMPING
            send(rows)

    node.create_subscription(LowState, TOPICS[kind][0], on_state, topics.SENSOR_IN)
    for field in fields:
        node.create_subscription(
            Float64MultiArray,
            topics.command_topic(field),
            lambda message, field=field: on_command(field, message),
            topics.LATEST,
        )
    node.create_timer(0.02, damp)
    rclpy.spin(node)


def main(arguments=None):
    """Bridge a robot of a maker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('kind', choices=sorted(MOTORS))
    parser.add_argument('robot_file')
    parser.add_argument('--dry', action='store_true', help='send nothing')
    options = parser.parse_args(arguments)
    try:
        robot = load_robot(options.robot_file).robot
        check_joints(options.kind, robot)
    except WalkingControlError as error:
        print(f'error: {error}', file=sys.stderr)
        return 2
    try:
        run(options.kind, robot, options.dry)
    except ModuleNotFoundError as error:
        print(f'error: {error}; source the workspace of the maker’s messages', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
