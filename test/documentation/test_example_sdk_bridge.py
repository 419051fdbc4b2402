# SPDX-License-Identifier: Apache-2.0
"""The example that connects Unitree's and Booster's robots as they are sold."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest
import sdk_bridge
from sdk_bridge import Commands, MOTORS


def motors(count, **values):
    """Return motors of a message."""
    blank = {'mode': 0, 'q': 0.0, 'dq': 0.0, 'tau': 0.0, 'kp': 0.0, 'kd': 0.0, 'reserve': 0}
    return [SimpleNamespace(**blank | values) for _ in range(count)]


def g1_command():
    """Return a LowCmd of a G1."""
    return SimpleNamespace(
        mode_pr=1, mode_machine=0, motor_cmd=motors(35), reserve=[0, 0, 0, 0], crc=0
    )


def bytewise(data):
    """Return CRC-32/MPEG-2 of bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C11DB7 * (crc >> 31))
            crc &= 0xFFFFFFFF
    return crc


def test_the_checksum_is_the_one_that_the_robot_computes():
    """A G1 would ignore every command, and stand in its damping."""
    assert bytewise(b'123456789') == 0x0376E6E7  # as catalogues of checksums have it
    message = g1_command()
    sdk_bridge.fill('g1', message, {field: np.arange(29.0) for field in sdk_bridge.SHORT}, 5)
    packed = struct.pack('<2B2x', 0, 5)
    for motor in message.motor_cmd:
        packed += struct.pack('<B3x5fI', motor.mode, *[motor.q] * 5, 0)
    packed += bytes(16)
    words = struct.unpack(f'<{len(packed) // 4}I', packed)
    assert message.crc == bytewise(struct.pack(f'>{len(words)}I', *words))


def test_states_of_both_makers_are_read():
    """Joints in another order, or an attitude in another form, would fell the robot at once."""
    imu = SimpleNamespace(
        quaternion=[np.cos(0.1), np.sin(0.1), 0.0, 0.0],
        gyroscope=[1.0, 2.0, 3.0],
        accelerometer=[0.0, 0.0, 9.8],
        rpy=[0.2, 0.0, 0.0],
        gyro=[1.0, 2.0, 3.0],
        acc=[0.0, 0.0, 9.8],
    )
    told = [SimpleNamespace(q=i, dq=2 * i, tau_est=3 * i) for i in range(35)]
    for kind, count in (('g1', 29), ('t1', 23)):
        state = SimpleNamespace(imu_state=imu, motor_state=told, motor_state_serial=told)
        q, dq, tau, orientation, turning, felt = sdk_bridge.read_state(kind, state)
        np.testing.assert_array_equal((q, dq, tau), np.outer([1, 2, 3], np.arange(count)))
        np.testing.assert_allclose(orientation, [np.sin(0.1), 0.0, 0.0, np.cos(0.1)], atol=1e-12)
        assert turning.tolist() == [1.0, 2.0, 3.0] and felt[2] == 9.8


@pytest.mark.parametrize('kind', ['g1', 't1'])
def test_a_tick_leaves_as_one_command(kind):
    """Gains of one tick would go out with efforts of another; arms would hang or jump."""
    joints = MOTORS[kind][3:5]
    commands = Commands(kind, {'effort': joints, 'stiffness': joints[1:]})
    assert commands.hear('effort', 1, [1.0, 2.0]) is None
    assert commands.hear('stiffness', 1, [3.0]) is None  # not before where it stands is known
    commands.held = np.full(len(MOTORS[kind]), 0.3)
    assert commands.hear('stiffness', 2, [30.0]) is None
    rows = commands.hear('effort', 2, [5.0, 6.0])
    assert rows['effort'][3:5].tolist() == [5.0, 6.0] and rows['stiffness'][4] == 30.0
    assert rows['position'][3] == 0.0 and rows['position'][0] == 0.3
    message = SimpleNamespace(
        **vars(g1_command()) | {'motor_cmd': motors(len(MOTORS[kind])), 'cmd_type': 0}
    )
    if kind == 'g1':
        message.motor_cmd = motors(35)
    sdk_bridge.fill(kind, message, rows)
    assert message.motor_cmd[4].tau == 6.0 and message.motor_cmd[0].kp == sdk_bridge.HOLDING


@pytest.mark.parametrize(
    ('robot', 'words'),
    [('walker3d', 'g1 has no motor of this name'), ('no_such', 'no_such')],
)
def test_another_robot_is_refused_in_a_line(robot, words, capsys):
    """Commands would go to motors of other joints."""
    assert sdk_bridge.main(['g1', robot]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count('\n') == 1
