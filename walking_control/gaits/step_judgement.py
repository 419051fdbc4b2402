# SPDX-License-Identifier: Apache-2.0
"""A gait in space judged on a fine grid by Pinocchio, apart from the equations it was searched by.

The robot floats; base velocity and acceleration are those that keep the stance sole at rest, the
wrench of the floor is what the base rows of inverse dynamics leave, and the touchdown is the
plants' own impact map. What the motors and the way down give, less what friction takes, must
equal what the touchdown costs; the mismatch says how far the numbers can be trusted.
"""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from walking_control.gaits.gait import fine_grid, Gait
from walking_control.models import (
    Dynamics,
    mirrored_joints,
    motor_efforts,
    passive_torques,
    project_velocity,
    Robot,
)
from walking_control.models.step_numbers import FADE

FINE = 100  # intervals of four points: 400 points
COARSE = 12  # the same where it is known that a gait is one: 48 points fit its forces


@dataclass(frozen=True)
class StepJudgement:
    """What a step in space does and takes.

    Attributes:
        cost_of_transport_electrical: Energy drawn at the supply, where joints exchange power, per
            weight and distance, as runs count it.
        cost_of_transport_each_joint: The same, each joint paying alone.
        copper_share: Of copper loss in the energy the joints take.
        mechanical_power: Mean power of all torques, W.
        impact_loss_power: Energy lost at touchdown per time, W.
        power_mismatch: Mean power of motors and of the way down, less friction's, less impact
            loss, W.
        periodicity: Largest mismatch of joint angles (rad) and rates after touchdown (rad/s).
        rms_effort: Of each joint, over a step on either foot, N m, ``(n,)``.
        step: Place of the landing sole, m, ``(3,)``.
        twist: Of the landing sole, m/s and rad/s, ``(6,)``.
        impulse: Wrench of touchdown on it, N s and N m s, ``(6,)``.
        s: Grid, ``(m,)``.
        effort: Of motors, N m, ``(m, n)``.
        wrench: Of the floor on the stance sole, ``(m, 6)``.
        pressure: Pressure point in the sole's frame, m, ``(m, 2)``.
        swing: Place of the swing sole, m, ``(m, 3)``.
    """

    # energy drawn at the supply, where joints exchange power, per weight and distance, as runs
    # count it
    cost_of_transport_electrical: float
    cost_of_transport_each_joint: float
    copper_share: float
    mechanical_power: float
    impact_loss_power: float
    power_mismatch: float
    # largest mismatch of joint angles (rad) and rates after touchdown (rad/s)
    periodicity: tuple[float, float]
    rms_effort: np.ndarray = field(repr=False)
    step: np.ndarray = field(repr=False)
    twist: np.ndarray = field(repr=False)
    impulse: np.ndarray = field(repr=False)
    s: np.ndarray = field(repr=False)
    effort: np.ndarray = field(repr=False)
    wrench: np.ndarray = field(repr=False)
    pressure: np.ndarray = field(repr=False)
    swing: np.ndarray = field(repr=False)

    @property
    def friction_ratio(self) -> float:
        """Largest force along the floor over that along its normal."""
        return float((np.hypot(*self.wrench[:, :2].T) / self.wrench[:, 2]).max())


class Standing:
    """A biped that stands flat on its first foot, by Pinocchio.

    Args:
        gravity: m/s^2.
        slope: Of the floor, rad, downhill positive.
    """

    def __init__(self, robot: Robot, gravity: float, slope: float = 0.0) -> None:
        self.robot, self.dynamics = robot, Dynamics(robot, gravity, slope)

    def place(self, q: np.ndarray) -> np.ndarray:
        """Return generalised coordinates of joints q, ``(nq,)``."""
        dynamics, foot = self.dynamics, self.robot.feet[0]
        full = dynamics.configuration(q)
        dynamics.place(full)
        R, p = dynamics.foot_rotation(foot).copy(), np.array(dynamics.foot_position(foot))
        turn = pin.Quaternion(R.T)
        full[:7] = [*(-R.T @ p), turn.x, turn.y, turn.z, turn.w]
        return full

    def jacobian(self, full: np.ndarray, foot: int) -> np.ndarray:
        """Return the Jacobian of a sole in its own axes, ``(6, nv)``."""
        return self.dynamics.frame_jacobian(full, self.dynamics.frames[self.robot.feet[foot]])

    def move(self, full: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return generalised velocities of joint rates v, ``(nv,)``."""
        J = self.jacobian(full, 0)
        return np.concatenate([-np.linalg.solve(J[:, :6], J[:, 6:] @ v), v])

    def forces(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return joint torques ``(n,)`` beside none of springs, and the wrench of the floor."""
        dynamics = self.dynamics
        full = self.place(q)
        V = self.move(full, v)
        J = self.jacobian(full, 0)
        pin.forwardKinematics(
            dynamics.model,
            dynamics.data,
            dynamics.to_pinocchio(full),
            dynamics.to_pinocchio_velocity(V),
            np.zeros(dynamics.nv),
        )
        drift = pin.getFrameAcceleration(
            dynamics.model, dynamics.data, dynamics.frames[self.robot.feet[0]], pin.LOCAL
        ).vector
        A = np.concatenate([-np.linalg.solve(J[:, :6], J[:, 6:] @ a + drift), a])
        total = dynamics.mass_matrix(full) @ A + dynamics.bias(full, V)
        wrench = np.linalg.solve(J[:, :6].T, total[:6])
        return total[6:] - J[:, 6:].T @ wrench, wrench


def judge_step(
    robot: Robot, gait: Gait, gravity: float = 9.81, slope: float = 0.0, intervals: int = FINE
) -> StepJudgement:
    """Return the `StepJudgement` of a gait of one phase on the first foot.

    Args:
        robot: The `Robot`.
        gait: The `Gait`.
        gravity: m/s^2.
        slope: Of the floor, rad, downhill positive.
        intervals: Of the grid, of four points each.
    """
    standing, (_, mirror) = Standing(robot, gravity, slope), mirrored_joints(robot)
    s, weights = fine_grid(intervals)
    motion = gait.phases[0].motion(s)
    forces = [standing.forces(*row) for row in zip(*motion, strict=True)]
    passive = np.array(
        [passive_torques(robot, q, v, FADE) for q, v in zip(*motion[:2], strict=True)]
    )
    torque = np.array([torque for torque, _ in forces])
    effort, driven = torque + passive, [robot.joint_index(joint) for joint in robot.actuators]
    effort[:, driven] = motor_efforts(
        robot, effort[:, driven], motion[1][:, driven], motion[2][:, driven], FADE
    )
    wrench = np.array([floor for _, floor in forces])
    rates, dynamics, other = motion[1], standing.dynamics, robot.feet[1]
    swing = []
    for q in motion[0]:
        dynamics.place(standing.place(q))
        swing.append(dynamics.foot_position(other))
    motors = [robot.actuators[joint] for joint in robot.joints]
    drawn = np.stack(
        [motor.electrical_power(effort[:, i], rates[:, i]) for i, motor in enumerate(motors)],
        axis=1,
    )
    copper = drawn - effort * rates
    (q, v), (q_new, v_new) = gait.end, gait.start
    full = standing.place(q)
    V = standing.move(full, v)
    twist = standing.jacobian(full, 1) @ V
    A = standing.jacobian(full, 1).T
    M = dynamics.mass_matrix(full)
    after = project_velocity(M, A, V)
    step, squared = np.array(swing[-1]), weights @ effort**2
    period, each = gait.period, np.maximum(drawn, 0.0).sum(axis=1)
    scale = dynamics.weight * abs(step[0]) / period
    power = float(weights @ (effort * rates).sum(axis=1))
    given = float(weights @ (torque * rates).sum(axis=1))
    loss = float(0.5 * (V @ M @ V - after @ M @ after)) / period
    given += float(dynamics.weight * np.sin(slope) * step[0]) / period  # by the way down
    return StepJudgement(
        float(weights @ np.maximum(drawn.sum(axis=1), 0.0)) / scale,
        float(weights @ each) / scale,
        float(weights @ copper.sum(axis=1) / (weights @ each)),
        power,
        loss,
        given - loss,
        (float(np.abs(mirror @ q - q_new).max()), float(np.abs(mirror @ after[6:] - v_new).max())),
        np.sqrt(0.5 * (squared + np.abs(mirror) @ squared)),
        step,
        twist,
        np.linalg.solve(A[:6], (M @ (after - V))[:6]),
        s,
        effort,
        wrench,
        np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3],
        np.array(swing),
    )


def asymmetry(robot: Robot) -> float:
    """Return by what share the mass matrix of mirrored postures differs: 0 of legs quite alike."""
    dynamics, (_, mirror) = Dynamics(robot), mirrored_joints(robot)
    q = np.random.default_rng(0).normal(0.0, 0.3, len(robot.joints))
    one, other = (
        dynamics.mass_matrix(dynamics.configuration(angles)) for angles in (q, mirror @ q)
    )
    whole = np.eye(len(one))  # the base's velocities, too: a trunk may lean to one side
    whole[:6, :6], whole[6:, 6:] = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), mirror
    return float(np.abs(one - whole @ other @ whole.T).max() / np.abs(one).max())
