# SPDX-License-Identifier: Apache-2.0
"""Dribbel in the MJCF written for mujoco_ros2_control: its sensors, motors, start, played locks."""

from collections import deque

import mujoco
from mujoco_place import HANDED_ON
import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.ros.ros2_control.files import controllers_of
from walking_control.ros.ros2_control.mujoco import KEYFRAME, write_mjcf
from walking_control.ros.ros2_control.names import wrench_broadcaster
from walking_control.ros.ros2_control.tags import MUJOCO
from walking_control.ros.ros2_control.wiring import wire
from walking_control.simulation.lock_emulation import LockEmulator

TICK = 0.001  # s, of controller manager and emulator


class Bench:
    """What mujoco_ros2_control, its broadcasters and our nodes do, in one loop.

    Args:
        delay: Ticks from states to the effort that answers them.
        held: Whether the simulator holds by itself what is told 1; else an effort holds it.

    Attributes:
        carried: Mean force of the floor on the feet, N.
        weight: Of the robot, N.
    """

    def __init__(self, delay, held=True):
        robot_file = load_robot('dribbel')
        self.robot = robot_file.robot
        wiring = wire(robot_file)
        spec = mujoco.MjSpec.from_string(write_mjcf(robot_file, wiring))
        for lock in () if held else self.robot.locks:
            motor = spec.actuator(lock.joint)
            motor.set_to_motor()
            motor.ctrllimited = motor.forcelimited = False
        self.model, self._held = spec.compile(), held
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key(KEYFRAME).id)
        self.loop, self.measurement = ControlLoop(robot_file), Measurement(self.robot)
        self.emulator = LockEmulator(self.robot)
        self._imu, self._forces = wiring.imu, wiring.forces
        told = controllers_of(wiring, MUJOCO)
        self._signs = {
            foot: told[wrench_broadcaster(foot)][1]['multiplier']['force']['z']
            for foot in self.robot.feet
        }
        self._under_way = deque([np.zeros(3)] * delay)
        self.carried, self.weight = 0.0, robot_file.scale.mass * wiring.world.gravity

    def measure(self, tick):
        """Fill the measurement as the broadcasters tell it."""
        data, measurement = self.data, self.measurement
        mujoco.mj_forward(self.model, data)
        measurement.stamp = tick * TICK
        measurement.position[:] = [data.joint(name).qpos[0] for name in self.robot.joints]
        measurement.velocity[:] = [data.joint(name).qvel[0] for name in self.robot.joints]
        measurement.orientation[:] = data.sensor(f'{self._imu}_quat').data[[1, 2, 3, 0]]
        measurement.angular_velocity[:] = data.sensor(f'{self._imu}_gyro').data
        measurement.linear_acceleration[:] = data.sensor(f'{self._imu}_accel').data
        for i, (foot, sensor) in enumerate(self._forces.items()):
            measurement.foot_force[i] = (
                self._signs[foot] * HANDED_ON * data.sensor(f'{sensor}_force').data
            )

    def walk(self, duration):
        """Walk; the first ticks only hear the sensors, as a node does."""
        ticks = round(duration / TICK)
        for tick in range(ticks):
            self.measure(tick)
            measurement = self.measurement
            self.carried += measurement.foot_force[:, 2].sum() / ticks
            efforts = self.emulator.update(
                measurement.position, measurement.velocity, self.loop.command.lock
            )
            measurement.locked[:] = self.emulator.engaged
            told = self.emulator.engaged if self._held else efforts
            command = self.loop.tick(measurement) if tick >= 6 else self.loop.command
            if self.loop.fault is not None:
                return
            self._under_way.append(np.concatenate([command.effort, told]))
            for name, effort in zip(('hip', 'outer_knee', 'inner_knee'), self._under_way.popleft()):
                self.data.actuator(name).ctrl[0] = effort
            mujoco.mj_step(self.model, self.data, 2)


@pytest.mark.parametrize(
    ('delay', 'held'),
    [
        pytest.param(0, True, marks=pytest.mark.long),
        pytest.param(14, True, marks=pytest.mark.long),
        pytest.param(0, False, marks=pytest.mark.long),
        pytest.param(9, False, marks=pytest.mark.long),
        (14, False),
    ],
)
def test_dribbel_walks_on_played_locks(delay, held):
    """If it failed, Dribbel's knees would buckle or rattle in simulators without locks.

    A stiffer spring from outside rings at this delay: the knee bounces, and the leg gives way.
    """
    bench = Bench(delay, held)
    bench.walk(4.0)
    assert bench.loop.fault is None
    assert bench.loop.state.steps >= 5
    assert bench.data.joint('root_x').qpos[0] > 1.2
    assert bench.carried == pytest.approx(bench.weight, rel=0.1)  # by the floor, upward


def test_locks_are_captured_and_let_go():
    """If it failed, a knee would be caught in mid-swing or never come free again."""
    robot = load_robot('dribbel').robot
    emulator = LockEmulator(robot)
    armed, rest = np.array([True, True]), np.zeros(3)
    effort = emulator.update(np.array([0.0, -0.02, -0.005]), rest, armed)
    assert emulator.engaged.tolist() == [False, True]
    assert effort[0] == 0.0 and effort[1] > 0.0  # towards the angle it holds
    effort = emulator.update(np.array([0.0, -0.02, -0.02]), rest, armed)
    assert emulator.engaged[1] and effort[1] == pytest.approx(
        4.0 * emulator.update(np.array([0.0, -0.02, -0.005]), rest, armed)[1]
    )
    assert not emulator.update(np.zeros(3), rest, ~armed).any() and not emulator.engaged.any()
