# SPDX-License-Identifier: Apache-2.0
"""Walk as a learned policy does: its network at its own rate, a PD of the joints in between.

Each answer a gives angles q* = default + scale a; every tick the motors give
stiffness (q* - q) - damping q', within their limits: as an effort, or by the stiffness and damping
of a drive that has them. The network sees what its file lists, in the
axes of the base: velocities, gravity, the command, joints, its last answer and a clock.
"""

import math
from pathlib import Path

import numpy as np

from walking_control.controllers.controller import Controller
from walking_control.controllers.policy.description import PolicyDescription, read_description
from walking_control.controllers.policy.network import load_network
from walking_control.controllers.policy.parameters import PolicyParameters
from walking_control.exceptions import IncompatibleController, InvalidInput, require
from walking_control.models import Command, KINDS, Reference, Robot, RobotFile, WalkerState, World

STILL = 0.01  # m/s and rad/s: a command below it is one to stand


class Observation:
    """What the network sees, filled anew for each answer.

    Args:
        description: The `PolicyDescription`.
        places: Index of each of its joints among the robot's.
        up: The vertical in floor axes, ``(3,)``.
    """

    def __init__(self, description: PolicyDescription, places: np.ndarray, up: np.ndarray) -> None:
        self._joints, self._places, self._up = description.joints, places, up
        hidden = {'joint_position': self._joints.observed, 'joint_velocity': self._joints.observed}
        terms = description.terms
        self._names = [term.name for term in terms]
        counts = [description.count(term) // term.history for term in terms]
        scales = [term.scale * hidden.get(term.name, 1.0) for term in terms]
        self._scale = np.concatenate([np.broadcast_to(s, n) for s, n in zip(scales, counts)])
        self._most = np.repeat([term.clip for term in terms], counts)
        # a row for each observation, the oldest first, and which of its numbers the network takes
        self._past = np.zeros((max(term.history for term in terms), sum(counts)))
        order = np.arange(self._past.size).reshape(self._past.shape)
        parts = np.split(order, np.cumsum(counts)[:-1], axis=1)
        self._order = np.concatenate([p[-t.history :].ravel() for t, p in zip(terms, parts)])
        self.reset()

    def reset(self) -> None:
        """Begin with an empty history."""
        self._begun = False

    def read(
        self, state: WalkerState, command: np.ndarray, action: np.ndarray, phases: np.ndarray
    ) -> np.ndarray:
        """Return the observation, ``(description.size,)``.

        Args:
            state: What is known.
            command: Speeds ahead and to the left, m/s, and of turning, rad/s.
            action: The last answer.
            phases: Of the clock, rad, ``(2,)``.
        """
        axes, cosines, sines = state.base.rotation.T, np.cos(phases), np.sin(phases)
        seen = {
            'base_linear_velocity': axes @ state.base.linear,
            'base_angular_velocity': state.base.angular,
            'projected_gravity': -axes @ self._up,
            'command': command,
            'command_linear': command[:2],
            'command_turn': command[2:],
            'joint_position': state.position[self._places] - self._joints.default,
            'joint_velocity': state.velocity[self._places],
            'last_action': action,
            'phase_cos': cosines,
            'phase_sin': sines,
            'clock_cos': cosines[:1],
            'clock_sin': sines[:1],
        }
        past, most = self._past, self._most
        now = self._scale * np.concatenate([seen[name] for name in self._names])
        np.maximum(np.minimum(now, most, out=now), -most, out=now)
        past[:-1] = past[1:]
        past[-1 if self._begun else slice(None)] = now
        self._begun = True
        return np.asarray(past.ravel()[self._order])


class Policy(Controller):
    """A learned policy.

    Args:
        robot_file: The `RobotFile`.
        values: `PolicyParameters`.

    Attributes:
        network: The `Network`.
        description: The `PolicyDescription` of it.

    Raises:
        IncompatibleController: The robot has a joint without a motor that the policy moves, or a
            motor that neither the policy moves nor its file holds.
        InvalidInput: The network or its file cannot be used.
        MissingDependency: What runs the network is not installed.
    """

    name = 'policy'
    parameters = PolicyParameters
    values: PolicyParameters

    def __init__(self, robot_file: RobotFile, values: PolicyParameters) -> None:
        require(
            values.file,
            'parameter policy.file',
            limit='is empty',
            remedy='--policy FILE names the network',
        )
        file = Path(values.file)
        self.network = load_network(file)
        robot, world = robot_file.robot, robot_file.values(World)
        self.description = read_description(
            file, values.config, self.network.metadata, [*robot.actuators]
        )
        self.values = values
        self._check_network(file)
        joints, held = self.description.joints, self.description.held
        motors, names = [*robot.actuators], [*joints.names, *held.names]
        for name in names:
            require(
                name in motors,
                f'policy: joint {name}',
                limit=f'{robot.name} has no such motor',
                remedy=f'motors: {", ".join(motors)}',
                error=IncompatibleController,
            )
        left = [name for name in motors if name not in names]
        require(
            not left,
            f'controller policy on {robot.name}',
            value=', '.join(left),
            limit='the policy has no action for these motors',
            remedy="list them under 'held' in its file, with stiffness and damping",
            error=IncompatibleController,
        )
        self._limits = np.array(robot.effort_limits[: len(motors)])
        rows = [names.index(name) for name in motors]
        self._target, self._stiffness, self._damping = (
            np.concatenate([getattr(joints, column), getattr(held, column)])[rows]
            for column in ('default', 'stiffness', 'damping')
        )
        self._moved = np.array([motors.index(name) for name in joints.names])
        # these add stiffness and damping themselves, between our ticks as well
        self._by_drive = np.flatnonzero(
            [KINDS[motor.drive].takes_gains for motor in robot.actuators.values()]
        )
        places = np.array([robot.joint_index(name) for name in joints.names])
        # a slope tilts gravity, not the floor's axes: uphill is along -x where slope is positive
        up = np.array([-math.sin(world.slope), 0.0, math.cos(world.slope)])
        self._observation = Observation(self.description, places, up)
        self.standstill = self.description.standstill
        self.reset(WalkerState(robot))

    def _check_network(self, file: Path) -> None:
        told, network = self.description, self.network
        require(
            told.rate <= self.values.rate,
            'policy: rate',
            value=told.rate,
            limit=f'must not be above policy.rate, {self.values.rate:g} Hz',
            remedy='--set policy.rate=... raises it; most networks are asked at 50 Hz',
        )
        terms = ', '.join(f'{term.name} {told.count(term)}' for term in told.terms)
        self._compare(f'observation of {file}: {terms}', told.size, network.size() or told.size)
        try:
            outputs, duration = network.rehearse(told.size)
        except Exception as error:  # whatever its runtime raises
            raise InvalidInput(
                f'observation of {file}: {terms}',
                value=told.size,
                limit=f'the network refuses it: {str(error).strip().splitlines()[-1]}',
                remedy="compare with the policy's own deployment",
            ) from error
        self._compare(f'joints of {file}', len(told.joints.names), outputs)
        require(
            duration <= 1.0 / told.rate,
            f'policy {file}',
            value=f'{1e3 * duration:.1f} ms an answer',
            limit=f'asked every {1e3 / told.rate:.1f} ms',
            remedy='a faster machine, or a smaller network',
        )

    @staticmethod
    def _compare(what: str, ours: int, its: int) -> None:
        """Refuse a count that is not the network's."""
        require(
            ours == its,
            what,
            value=ours,
            limit=f'the network has {its}',
            remedy="compare with the policy's own deployment",
        )

    def reset(self, state: WalkerState) -> None:
        """Begin anew: no memory, no history, the clock at its start."""
        self.network.reset()
        self._observation.reset()
        joints = self.description.joints
        self._action = np.zeros(len(joints.names))
        self._target[self._moved] = joints.default
        self._phases = np.array(self.description.clock.start)
        self._wait, self._stood = 0.0, False

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command`: ask the network when it is time, hold the joints to its answer."""
        if self._wait <= 0.5 * dt:
            values = self.values
            usual = values.speed, values.sideways, values.turn
            self._ask(state, reference.velocity_within(self.description.limits, usual))
            # a silence has one answer
            self._wait = min(self._wait, 0.5 / self.values.rate) + 1.0 / self.description.rate
        self._wait -= min(dt, 2.0 / self.values.rate)
        stiffness, damping, by_drive = self._stiffness, self._damping, self._by_drive
        q, v = state.position[command.joints], state.velocity[command.joints]
        torque = stiffness * (self._target - q) - damping * v
        effort, limits = command.effort[: len(torque)], self._limits
        np.maximum(np.minimum(torque, limits, out=effort), -limits, out=effort)
        if by_drive.size:
            effort[by_drive] = 0.0
            command.position[by_drive], command.velocity[by_drive] = self._target[by_drive], 0.0
            command.stiffness[by_drive] = stiffness[by_drive]
            command.damping[by_drive] = damping[by_drive]

    def _ask(self, state: WalkerState, wanted: np.ndarray) -> None:
        clock, speed = self.description.clock, math.sqrt(wanted @ wanted)
        stands = speed < STILL and self.standstill == 'stands'
        if stands:
            self._phases[:] = math.pi
        elif self._stood:
            self._phases[:] = clock.start
        self._stood = stands
        seen = self._observation.read(state, wanted, self._action, self._phases)
        answer = self.network.answer(seen)
        # a limit of effort would make an infinite answer a finite effort that nobody doubts
        self._action = np.where(np.isfinite(answer), answer, np.nan)
        joints = self.description.joints
        self._target[self._moved] = joints.default + joints.scale * self._action
        turned = self._phases + clock.rate(speed) / self.description.rate
        self._phases = np.fmod(turned + math.pi, 2.0 * math.pi) - math.pi

    def velocity_limits(self) -> tuple[float, float, float]:
        """Return the largest speeds it was trained for: ahead, sideways (m/s), turning (rad/s)."""
        return self.description.limits

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (('largest_action', '1'),)

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say how large the network's last answer was."""
        out[0] = np.abs(self._action).max()
