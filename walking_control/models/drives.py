# SPDX-License-Identifier: Apache-2.0
"""Drives: what the controller inside a motor makes of a command until the next one.

A drive adds ``stiffness (q* - q) + damping (v* - v)`` to the effort commanded, at its own rate 1/h,
while a law answers once a period T. A drive of kind ``effort`` has no such gains, one of kind
``position`` has its own and takes q* alone, one of kind ``impedance`` takes all five numbers.

Any law of efforts runs through such drives (`Drives.follow`). The joint is predicted to go on at
its rate v and the acceleration a that the law counts on (`Command.acceleration`; 0 where it says
none): a time t later it is at q + t v + t^2 a / 2. The drive samples within a period at t = 0, h,
... T - h: the mean of t is s = (T - h) / 2, that of t^2 is (T - h) (2 T - h) / 6. With
q* = q + s v + (T - h) (2 T - h) a / 12 and v* = v + s a the drive so adds nothing on average as
long as the joint moves as predicted, and resists only what else moves it. At equal rates s is 0:
the drive makes exactly the effort of the law. A servo of stiffness K and damping D makes an effort
u by q* = q + s v + (u + D v) / K. The friction of its joint is the law's to make up for, as it is
with a drive of efforts: made up for twice it would shake the joint.

Unless the robot file says otherwise the gains are those of a double pole at 1 / (2 T) for the least
inertia I that a joint can have: damping I / T, stiffness I / (4 T^2). What a sampled drive bears:
with the effort held between samples the inertia obeys z^2 - (2 - a/2 - b) z + 1 - b + a/2, where
a = k h^2 / I and b = d h / I; it is stable for b < 2 and a < 2 b. Half of each is allowed: d up to
I / h, k up to d / h. And with k w T + d w, w the largest speed, it may add at most the largest
effort to what was commanded within a period.
"""

import numpy as np

from walking_control.exceptions import IncompatibleController, require, RobotFileError
from walking_control.models import Command, Dynamics, Robot
from walking_control.models.drive_kinds import FIELDS, KINDS


def fields_of(robot: Robot, simulated: bool = False) -> dict[str, tuple[str, ...]]:
    """Return what is commanded of a robot: field of a `Command` -> efforts or joints, in order.

    Args:
        robot: The `Robot`.
        simulated: Whether by a simulator whose joints have no gains.
    """
    kinds = {joint: KINDS[motor.drive] for joint, motor in robot.actuators.items()}
    takes = {joint: kind.simulated if simulated else kind.takes for joint, kind in kinds.items()}
    found = {
        field: tuple(name for name in robot.efforts if field in takes.get(name, ('effort',)))
        for field in FIELDS
    }
    return {field: names for field, names in found.items() if names}


def picks_of(robot: Robot) -> dict[str, list[int]]:
    """Return the same as places in the arrays of a `Command`."""
    return {field: [*map(robot.efforts.index, names)] for field, names in fields_of(robot).items()}


def least_inertias(robot: Robot) -> np.ndarray:
    """Return the least inertia that each motor can feel, robot free, at zero angles: kg m^2."""
    dynamics = Dynamics(robot)
    inverse = np.linalg.inv(
        dynamics.mass_matrix(dynamics.configuration(np.zeros(len(robot.joints))))
    )
    joints = robot.base.nv + np.array([robot.joint_index(joint) for joint in robot.actuators])
    return np.asarray(1.0 / np.diag(inverse)[joints])


class Drives:
    """The drives of a robot whose law has a period.

    Args:
        robot: The `Robot`.
        period: Of the law, s.

    Attributes:
        are_plain: Whether all take efforts alone.
        expected: Efforts on average until the next command, ``(n_efforts,)``.
        stiffness: That `follow` gives, or of servos, N m/rad, ``(n_motors,)``.
        damping: Likewise, N m s/rad.
        largest: Largest stiffness and damping that the rate of the drive and the period allow,
            ``(2, n_motors)``.

    Raises:
        RobotFileError: Gains of a drive that ignores them, or larger ones than it bears.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        motors = self._motors = robot.actuators
        self._period, n = period, len(motors)
        self._limits = robot.effort_limits[:n]
        kinds = [KINDS[motor.drive] for motor in motors.values()]
        self._stiff = np.array([kind.takes_gains for kind in kinds], bool)
        self._servo = np.array([kind.has_own_gains for kind in kinds], bool)
        self._reach = np.array(
            [[getattr(robot.limits[joint], end) for joint in motors] for end in ('lower', 'upper')]
        ).reshape(2, n)
        self.expected = np.zeros(len(robot.efforts))
        self._target = np.zeros(n)  # that servos were last told
        self.are_plain = not (self._stiff | self._servo).any()
        self.stiffness, self.damping, self.largest = np.zeros(n), np.zeros(n), np.zeros((2, n))
        rates = np.array([motor.drive_rate for motor in motors.values()])
        # mean of the times of a drive's samples within a period, and half the mean of their squares
        lasts = np.maximum(period - 1.0 / rates, 0.0)
        self._ahead, self._bent = 0.5 * lasts, lasts * (2.0 * period - 1.0 / rates) / 12.0
        if self.are_plain:
            return
        inertia = least_inertias(robot)
        fastest = np.array([robot.limits[joint].velocity for joint in motors])
        share = self._limits / fastest
        for i, (joint, motor) in enumerate(motors.items()):
            if kinds[i].is_plain:
                continue
            damping = motor.damping or min(inertia[i] / period, share[i] / 2.0)
            stiffness = motor.stiffness or min(
                inertia[i] / (4.0 * period**2), share[i] / (2.0 * period)
            )
            bears = inertia[i] * rates[i] ** 2, inertia[i] * rates[i]
            for name, value, most in (
                ('stiffness', stiffness, min(bears[0], damping * rates[i])),
                ('damping', damping, bears[1]),
            ):
                require(
                    value <= most,
                    f'robot.actuators.{joint}.{name}',
                    value=value,
                    limit=f'at most {most:.3g}: the drive samples at {rates[i]:g} Hz and the '
                    f'joint has {inertia[i]:.3g} kg m^2 at least',
                    remedy='lower it, raise drive_rate or, of stiffness, damping',
                    error=RobotFileError,
                )
            self.stiffness[i], self.damping[i] = stiffness, damping
            self.largest[:, i] = bears

    def follow(self, command: Command, position: np.ndarray, velocity: np.ndarray) -> None:
        """Complete a command in place: what the law left open, and limits on what it said.

        Args:
            command: The `Command`; its efforts are within their limits.
            position: Of the robot's joints as measured, rad or m, ``(n_joints,)``.
            velocity: Likewise, rad/s or m/s.

        Raises:
            IncompatibleController: The law gives gains to a drive that ignores them.
        """
        n = len(self._motors)
        q, v, effort = position[command.joints], velocity[command.joints], command.effort[:n]
        given = (command.stiffness != 0.0) | (command.damping != 0.0)
        ignored = given & ~self._stiff
        if ignored.any():
            i = int(ignored.argmax())
            joint = list(self._motors)[i]
            raise IncompatibleController(
                f'stiffness of joint {joint}',
                value=float(command.stiffness[i]),
                limit=f'its drive, {self._motors[joint].drive}, ignores gains of a law',
                remedy='drive: impedance in robot.actuators, if it is one',
            )
        np.clip(command.stiffness, 0.0, self.largest[0], out=command.stiffness)
        np.clip(command.damping, 0.0, self.largest[1], out=command.damping)
        ahead, mean = q + self._ahead * v, v + self._ahead * command.acceleration
        silent = self._stiff & ~given
        for field, values in (
            (command.stiffness, self.stiffness),
            (command.damping, self.damping),
            (command.position, ahead + self._bent * command.acceleration),
            (command.velocity, mean),
        ):
            field[silent] = values[silent]
        torque = command.torque(position, velocity)[:n]
        excess = torque - np.clip(torque, -self._limits, self._limits)
        effort[given] -= excess[given]
        self.expected[:n] = effort
        self.expected[:n][given] = torque[given] - excess[given]
        self.expected[n:] = command.effort[n:]
        self._pull(command, ahead, v)

    def rest(self, command: Command, position: np.ndarray, velocity: np.ndarray) -> None:
        """Let servos make the efforts of a command without gains, where measurements allow.

        Args:
            command: The `Command` of a reaction to a fault, changed in place.
            position: Of the robot's joints as measured, rad or m, ``(n_joints,)``.
            velocity: Likewise, rad/s or m/s.
        """
        if self._servo.any():
            target = np.clip(position[command.joints], *self._reach)
            fine = np.isfinite(position).all() and np.isfinite(velocity).all()
            self._target = target if fine else self._target
            self._pull(command, self._target, velocity[command.joints] if fine else 0.0 * target)

    def _pull(self, command: Command, ahead: np.ndarray, v: np.ndarray) -> None:
        """Give servos the positions at which they make the efforts of a command."""
        servo = self._servo
        if servo.any():
            effort = command.effort[: len(servo)]
            pull = (effort[servo] + (self.damping * v)[servo]) / self.stiffness[servo]
            target = ahead.copy()
            target[servo] += pull
            self._target = np.clip(target, *self._reach)
            command.position[servo] = self._target[servo]
            self.complete(command)

    def complete(self, command: Command) -> None:
        """Let servos have their own gains, and nothing but their positions of a command."""
        servo = self._servo
        command.effort[: len(servo)][servo] = 0.0
        command.velocity[servo] = 0.0
        command.stiffness[servo], command.damping[servo] = (
            self.stiffness[servo],
            self.damping[servo],
        )
