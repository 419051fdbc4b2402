# SPDX-License-Identifier: Apache-2.0
"""From wanted generalised forces to efforts that motors and stance foot can bear.

Three steps. Efforts that motors can make: of all efforts the one nearest to the wanted force in
the metric M^-1 (nearest in the accelerations it causes); where motors are fewer than coordinates
that is an approximation, and may inject more power at an instant than the wanted force would.
Then limits: effort limits, a stance foot that pushes (normal force above a floor), does not slip
(friction) and, where the ankle is driven, does not tip (foot length). Efforts are scaled down
together, or moved to the nearest allowed ones (`nearest_point`). Last comes the energy at hand:
what foot or motors ask for instead of the wanted effort must not inject more than the tank holds
either.

Contact forces are affine in the efforts: ``F = M_f M^-1 (B tau - h) + h_f``.

From the torque a law wants at a joint to the effort of the motor that gives it.

What friction and gear take on the way is known from the robot file (`models.friction`) and made up
for. Laws think in torques at the joint, and keep their books in them: what is added here only
replaces what is lost. As friction changes its sign with the rate, which is measured, the
compensation of dry friction and gear losses fades around rest, and a share below 1 leaves some
friction, lest a joint that rests be pushed.
"""

from typing import NamedTuple

import numpy as np

from walking_control.controllers.curve_tracking.forces import tank_share
from walking_control.controllers.limits.nearest_point import nearest_allowed
from walking_control.controllers.parameters import FootParameters, LIMITING, LossParameters
from walking_control.models import (
    array_function,
    BACK_LOSS,
    COULOMB,
    DRIVING_LOSS,
    effort_map,
    factorise_spd,
    friction_table,
    friction_torque,
    gear_table,
    inner,
    Mechanics,
    solve_spd,
    SupportDynamics,
    VISCOUS,
)
from walking_control.models.friction import ARMATURE, entering_torque

OFF, SCALE, PROJECT = 0, 1, 2


class Limits(NamedTuple):
    """What bounds the efforts.

    Attributes:
        inputs: Generalised force per effort, by support, ``(2, n, k)``.
        largest: Largest efforts, N m, ``(k,)``.
        ankle: Effort of the ankle, or -1.
        limiting: OFF (largest efforts alone), SCALE or PROJECT.
        least: Smallest normal force of the stance foot, N.
        friction: Coefficient counted on.
        half_length: Distance of the foot's edges from the ankle, m; 0 for any.
    """

    inputs: np.ndarray
    largest: np.ndarray
    ankle: int
    limiting: int
    least: float
    friction: float
    half_length: float


def make_limits(support: SupportDynamics, values: FootParameters) -> Limits:
    """Return the `Limits` of a robot.

    Args:
        values: Validated values of a table that `FootParameters`.
    """
    robot, gravity = support.robot, support.dynamics.model.gravity.linear
    return Limits(
        np.array([effort_map(support, i) for i in range(2)]),
        robot.effort_limits,
        -1 if robot.ground_torque is None else len(robot.efforts) - 1,
        LIMITING.index(values.limiting),
        values.min_normal_force * support.dynamics.mass * float(np.linalg.norm(gravity)),
        values.friction_used,
        values.foot_half_length,
    )


@array_function
def nearest_effort(
    L: np.ndarray, B: np.ndarray, force: np.ndarray, H: np.ndarray, LH: np.ndarray, tau: np.ndarray
) -> None:
    """Fill H = B^T M^-1 B, its Cholesky factor, and the efforts nearest to a force.

    Args:
        L: Cholesky factor of the mass matrix.
        B: Generalised force per effort, ``(n, k)``.
        force: Wanted, ``(n,)``.
        H: Filled, ``(k, k)``.
        LH: Filled, ``(k, k)``.
        tau: Filled, ``(k,)``.
    """
    nearest_effort_across(L, B, force, force * 0.0, 1.0, H, LH, tau)


@array_function
def nearest_effort_across(
    L: np.ndarray,
    B: np.ndarray,
    force: np.ndarray,
    e: np.ndarray,
    along: float,
    H: np.ndarray,
    LH: np.ndarray,
    tau: np.ndarray,
) -> None:
    """Fill the efforts nearest to a force, errors along a direction counting less.

    The metric of forces is ``G = M^-1 - (1 - along) e e^T``: what accelerates along e counts
    ``along`` times, what accelerates across it fully. Where motors are one fewer than
    coordinates, the acceleration across e is met exactly as ``along`` goes to zero.

    Args:
        L: Cholesky factor of the mass matrix.
        B: Generalised force per effort, ``(n, k)``.
        force: Wanted, ``(n,)``.
        e: Direction of unit length in M, ``(n,)``.
        along: Weight of squared errors along e, above 0, at most 1.
        H: Filled with B^T G B, ``(k, k)``.
        LH: Filled with its Cholesky factor, ``(k, k)``.
        tau: Filled, ``(k,)``.
    """
    k = B.shape[1]
    solved, column, right = force * 0.0, force * 0.0, tau * 0.0
    solve_spd(L, force, solved)
    lost = (1.0 - along) * inner(e, force)
    for j in range(k):
        right[j] = inner(B[:, j], solved) - lost * inner(B[:, j], e)
    for j in range(k):
        column[:] = B[:, j]
        solve_spd(L, column, solved)
        lost = (1.0 - along) * inner(e, column)
        for i in range(k):
            H[i, j] = inner(B[:, i], solved) - lost * inner(B[:, i], e)
    factorise_spd(H, LH)
    solve_spd(LH, right, tau)


@array_function
def foot_limits(
    limits: Limits, robot: Mechanics, B: np.ndarray, A: np.ndarray, d: np.ndarray
) -> tuple[float, float]:
    """Fill the rows ``A tau <= d`` of everything that bounds the efforts.

    Args:
        robot: `Mechanics` of the state.
        B: Generalised force per effort, ``(n, k)``.
        A: Filled, ``(2 k + 5, k)``.
        d: Filled, ``(2 k + 5,)``.

    Returns:
        ``(Fx, Fz)`` without effort, N.
    """
    k = B.shape[1]
    L, M_f, friction, half_length = robot.L, robot.M_f, limits.friction, limits.half_length
    x, column = robot.h * 0.0, robot.h * 0.0
    solve_spd(L, robot.h, x)
    fx0, fz0 = robot.h_f[0] - inner(M_f[0], x), robot.h_f[1] - inner(M_f[1], x)
    A[:] = 0.0
    for j in range(k):
        A[2 * j, j], A[2 * j + 1, j] = 1.0, -1.0
        d[2 * j], d[2 * j + 1] = limits.largest[j], limits.largest[j]
        column[:] = B[:, j]
        solve_spd(L, column, x)
        fx, fz = inner(M_f[0], x), inner(M_f[1], x)
        A[2 * k, j] = -fz
        A[2 * k + 1, j] = fx - friction * fz
        A[2 * k + 2, j] = -fx - friction * fz
        if limits.ankle >= 0 and half_length > 0.0:
            own = 1.0 if j == limits.ankle else 0.0
            A[2 * k + 3, j] = own - half_length * fz
            A[2 * k + 4, j] = -own - half_length * fz
    d[2 * k] = fz0 - limits.least
    d[2 * k + 1] = friction * fz0 - fx0
    d[2 * k + 2] = friction * fz0 + fx0
    d[2 * k + 3] = d[2 * k + 4] = max(half_length * fz0, 0.0)
    return fx0, fz0


@array_function
def scale_effort(A: np.ndarray, d: np.ndarray, tau: np.ndarray) -> float:
    """Scale efforts down until no row is violated; return the factor.

    Zero effort where even the unforced walker violates a row that the efforts make worse.

    Args:
        A: Rows, ``(m, k)``.
        d: Bounds of ``A tau``, ``(m,)``.
        tau: Efforts, changed in place, N m, ``(k,)``.
    """
    factor = 1.0
    for i in range(A.shape[0]):
        load = inner(A[i], tau)
        if load > 0.0 and load > d[i]:
            factor = min(factor, max(d[i], 0.0) / load)
    tau *= factor
    return factor


@array_function
def keep_foot(
    limits: Limits,
    robot: Mechanics,
    B: np.ndarray,
    LH: np.ndarray,
    work: np.ndarray,
    tank: float,
    effort: np.ndarray,
) -> tuple[float, float, float]:
    """Bring efforts within all limits; return ``(share, Fx, Fz)``.

    Who asks for nothing, as a law does that is not trusted or has an empty tank, gets nothing.

    Args:
        robot: `Mechanics` of the state.
        B: Generalised force per effort, ``(n, k)``.
        LH: Cholesky factor of B^T M^-1 B, ``(k, k)``.
        work: Energy each effort injects during the period per N m, ``(k,)``.
        tank: Energy at hand, J.
        effort: Changed in place, ``(k,)``.

    Returns:
        Factor efforts were scaled by (1 where projected), and the force of the floor then, N.
    """
    k, share, asked = effort.shape[0], 1.0, effort.any()
    A, d = np.zeros((2 * k + 5, k)), np.zeros(2 * k + 5)
    fx, fz = foot_limits(limits, robot, B, A, d)
    if limits.limiting == SCALE or (
        limits.limiting == PROJECT and asked and not nearest_allowed(LH, A, d, effort)
    ):
        share = scale_effort(A, d, effort)
    for j in range(k):
        effort[j] = min(max(effort[j], -limits.largest[j]), limits.largest[j])
    paid = tank_share(tank, inner(work, effort))
    for j in range(k):
        effort[j] *= paid
        fz -= A[2 * k, j] * effort[j]
        fx += 0.5 * (A[2 * k + 1, j] - A[2 * k + 2, j]) * effort[j]
    return share * paid, fx, fz


class Compensation(NamedTuple):
    """What makes up for friction and gear losses.

    Attributes:
        share: Of the losses, 0 to 1; 0 where the robot has none.
        fade: Rate below which the compensation of dry friction and gear losses fades, rad/s.
        friction: Rows of `friction_table` of the motors' joints, ``(k, 2)``.
        gears: `gear_table`.
        inputs: Generalised force per effort, by support, ``(2, n, n_efforts)``.
        largest: Largest efforts, N m, ``(n_efforts,)``.
    """

    share: float
    fade: float
    friction: np.ndarray
    gears: np.ndarray
    inputs: np.ndarray
    largest: np.ndarray


def make_compensation(support: SupportDynamics, values: LossParameters) -> Compensation:
    """Return the `Compensation` of a robot.

    Args:
        support: `SupportDynamics`.
        values: `LossParameters`.
    """
    robot = support.robot
    joints = [robot.joint_index(joint) for joint in robot.actuators]
    friction = friction_table(robot)[joints]
    lossy = robot.has_gear_losses or bool(friction.any())
    return Compensation(
        values.friction_compensation if lossy else 0.0,
        values.compensation_fade,
        friction,
        gear_table(robot)[: len(joints)],
        np.array([effort_map(support, i) for i in range(2)]),
        robot.effort_limits,
    )


@array_function
def make_up(
    losses: Compensation, support: int, v: np.ndarray, a: np.ndarray, effort: np.ndarray
) -> None:
    """Turn torques wanted at joints into the efforts of motors, within their limits.

    Args:
        support: Index of the stance foot.
        v: Rates of the minimal coordinates, ``(n,)``.
        a: Accelerations the torques are to cause, or zeros: then the gear's loss on what turns
            the rotor is left.
        effort: Changed in place.
    """
    for i in range(losses.friction.shape[0]):
        rate, turning = 0.0, 0.0
        for j in range(v.shape[0]):
            rate += losses.inputs[support, j, i] * v[j]
            turning += losses.inputs[support, j, i] * a[j] * losses.gears[i, ARMATURE]
        leaving = (
            effort[i]
            - turning
            + friction_torque(
                losses.friction[i, VISCOUS], losses.friction[i, COULOMB], rate, losses.fade
            )
        )
        wanted = turning + entering_torque(
            losses.gears[i, DRIVING_LOSS], losses.gears[i, BACK_LOSS], leaving, rate, losses.fade
        )
        wanted = effort[i] + losses.share * (wanted - effort[i])
        effort[i] = min(max(wanted, -losses.largest[i]), losses.largest[i])
