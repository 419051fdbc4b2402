# SPDX-License-Identifier: Apache-2.0
"""Accelerations and impacts of the rigid walker under its active constraints.

Small dense algebra written out, so that the same lines run plain and compiled: Cholesky (L D L^T)
of the mass matrix, Schur complement of the constraints ([DS09] (3.46), (3.44)). A constraint that
depends on others is skipped, which gives one of the equivalent force distributions.
"""

import numpy as np

from walking_control.models import (
    ARMATURE,
    array_function,
    BACK_LOSS,
    COULOMB,
    DRIVING_LOSS,
    friction_torque,
    gear_change,
    inner,
    multiply,
    Terms,
    terms_places,
    VISCOUS,
)
from walking_control.simulation.rigid.model import (
    FIRST_STOP,
    RigidModel,
    RigidState,
    STANCE,
    SUPPORT,
    SWING,
    Workspace,
)

DEPENDENT = 1e-10  # relative pivot below which a constraint counts as dependent
RESTING = 1e-9  # normal speed below which a contact does not separate, m/s or rad/s


@array_function
def evaluate(
    terms: Terms, model: RigidModel, y: np.ndarray, mode: np.ndarray, work: Workspace
) -> None:
    """Compute the support terms at y and unpack the mass matrix."""
    size = work.M.shape[0]
    # slices, as laws pass them: arrays of a record are of other types, for which it compiles anew
    terms(mode[SUPPORT], y[2:size], y[size + 2 :], model.parameters[:], work.terms[:])
    unpack_mass(work)


@array_function
def unpack_mass(work: Workspace) -> None:
    """Copy the mass matrix from the support terms."""
    size = work.M.shape[0]
    work.M[:] = work.terms[: size * size].reshape((size, size))


@array_function
def apply_forces(model: RigidModel, mode: np.ndarray, effort: np.ndarray, work: Workspace) -> None:
    """Fill the generalised forces: inputs minus bias."""
    size, support = work.M.shape[0], mode[SUPPORT]
    bias = terms_places(size - 2).bias
    work.force[:] = -work.terms[bias : bias + size]
    for i in range(model.relabel.shape[1]):
        # a torque of the floor needs a standing foot
        for j in range(effort.shape[0] if mode[STANCE] == 1 else model.n_driven):
            work.force[2 + i] += model.inputs[support, i, j] * effort[j]


@array_function
def hold_swing_foot(model: RigidModel, work: Workspace) -> int:
    """Write the rows that hold the swing foot, the first ones; return the number of rows."""
    n = model.relabel.shape[1]
    places = terms_places(n)
    for i in range(2):
        row = places.jacobian + i * n
        work.A[i, :2], work.A[i, i] = 0.0, 1.0
        work.A[i, 2 : n + 2] = work.terms[row : row + n]
        work.drift[i] = work.terms[places.drift + i]
    return 2


@array_function
def add_joint_row(model: RigidModel, mode: np.ndarray, joint: int, work: Workspace, k: int) -> int:
    """Append the row that holds a joint; return the number of rows."""
    n = model.relabel.shape[1]
    work.A[k, :2], work.drift[k] = 0.0, 0.0
    work.A[k, 2 : n + 2] = model.lift[mode[SUPPORT], 1 + joint, :n]
    return k + 1


@array_function
def hold_parts(model: RigidModel, mode: np.ndarray, work: Workspace, swing: bool) -> int:
    """Write the rows of engaged locks and of joints on a stop; return the number of rows.

    Args:
        mode: Of the `RigidState`.
        work: Its ``A`` and ``drift`` are filled.
        swing: Whether the swing foot is held as well.
    """
    k = hold_swing_foot(model, work) if swing else 0
    locks = FIRST_STOP + model.lower.shape[0]
    for i in range(model.n_locks):
        if mode[locks + i] == 1:
            k = add_joint_row(model, mode, model.lock_joint[i], work, k)
    for joint in range(model.lower.shape[0]):
        if mode[FIRST_STOP + joint] != 0:
            k = add_joint_row(model, mode, joint, work, k)
    return k


@array_function
def factorise(M: np.ndarray, L: np.ndarray, start: int, size: int) -> None:
    """Factorise ``M[start:, start:]`` as unit lower factor, pivots, transposed factor.

    L holds the factor below its diagonal, the inverse pivots on it, factor times pivot above.

    Args:
        M: Symmetric, ``(n, n)``.
        L: Filled, ``(n, n)``.
        start: First row that counts.
        size: Number of all rows.
    """
    for i in range(start, size):
        for j in range(start, i):
            total = M[i, j]
            for k in range(start, j):
                total -= L[i, k] * L[k, j]
            L[j, i] = total  # pivot times factor
            L[i, j] = total * L[j, j]
        total = M[i, i]
        for k in range(start, i):
            total -= L[i, k] * L[k, i]
        L[i, i] = 1.0 / total


@array_function
def forward(L: np.ndarray, right: np.ndarray, out: np.ndarray, start: int, size: int) -> None:
    """Solve for the rows from start on with the unit lower factor.

    Args:
        L: From `factorise`.
        right: ``(n,)``.
        out: Filled, ``(n,)``.
        start: First row that counts.
        size: Number of all rows.
    """
    for i in range(start, size):
        total = right[i]
        for k in range(start, i):
            total -= L[i, k] * out[k]
        out[i] = total


@array_function
def backward(L: np.ndarray, x: np.ndarray, start: int, size: int) -> None:
    """Divide by the pivots and solve with the transposed factor, in place.

    Args:
        L: From `factorise`.
        x: Changed in place, ``(n,)``.
        start: First row that counts.
        size: Number of all rows.
    """
    for i in range(size - 1, start - 1, -1):
        total = x[i] * L[i, i]
        for k in range(i + 1, size):
            total -= L[k, i] * x[k]
        x[i] = total


@array_function
def solve_multipliers(G: np.ndarray, right: np.ndarray, k: int) -> None:
    """Solve ``G x = right`` in place for symmetric positive semi-definite G; G is destroyed.

    Args:
        G: ``(k, k)``; destroyed.
        right: Changed in place, ``(k,)``.
        k: Number of rows.
    """
    for i in range(k):
        own = G[i, i]
        for j in range(i):
            G[i, i] -= G[i, j] * G[i, j] * G[j, j]
        dependent = G[i, i] <= DEPENDENT * own
        if dependent:
            G[i, i] = 1.0
        for r in range(i + 1, k):
            total = G[r, i]
            for j in range(i):
                total -= G[r, j] * G[i, j] * G[j, j]
            G[r, i] = 0.0 if dependent else total / G[i, i]
        for j in range(i):
            right[i] -= G[i, j] * right[j]
        if dependent:
            right[i] = 0.0
            G[i, :i] = 0.0
    for i in range(k - 1, -1, -1):
        right[i] /= G[i, i]
    for i in range(k - 1, -1, -1):
        for r in range(i + 1, k):
            right[i] -= G[r, i] * right[r]


@array_function
def solve_constrained(
    model: RigidModel, work: Workspace, right: np.ndarray, out: np.ndarray, start: int, k: int
) -> None:
    """Solve ``M out = right + A^T work.multipliers``, ``A out = -drift``; from row start on."""
    size = work.M.shape[0]
    out[:start] = 0.0
    factorise(work.M, work.L, start, size)
    forward(work.L, right, out, start, size)
    for r in range(k):
        forward(work.L, work.A[r], work.Y[r], start, size)
    for r in range(k):
        total = work.drift[r]
        for i in range(start, size):
            total += work.Y[r, i] * work.L[i, i] * out[i]
        work.multipliers[r] = -total
        for c in range(r + 1):
            total = 0.0
            for i in range(start, size):
                total += work.Y[r, i] * work.L[i, i] * work.Y[c, i]
            work.G[r, c] = total
    solve_multipliers(work.G, work.multipliers, k)
    for r in range(k):
        for i in range(start, size):
            out[i] += work.Y[r, i] * work.multipliers[r]
    backward(work.L, out, start, size)


@array_function
def apply_friction(model: RigidModel, y: np.ndarray, mode: np.ndarray, work: Workspace) -> None:
    """Add the friction of all joints to the generalised forces."""
    for joint in range(model.friction.shape[0]):
        torque = friction_torque(
            model.friction[joint, VISCOUS],
            model.friction[joint, COULOMB],
            along_joint(model, mode, y[work.M.shape[0] :], joint),
            model.fade,
        )
        for j in range(model.relabel.shape[1]):
            work.force[2 + j] -= model.lift[mode[SUPPORT], 1 + joint, j] * torque


@array_function
def along_motor(model: RigidModel, mode: np.ndarray, rates: np.ndarray, motor: int) -> float:
    """Return the rate of a motor's joint given rates of the support coordinates.

    Args:
        model: `RigidModel`.
        mode: Discrete state.
        rates: Of the support coordinates, ``(n + 2,)``.
        motor: Its index.
    """
    return inner(model.inputs[mode[SUPPORT], :, motor], rates[2:])


@array_function
def pass_gears(
    model: RigidModel,
    y: np.ndarray,
    mode: np.ndarray,
    effort: np.ndarray,
    work: Workspace,
    start: int,
    k: int,
) -> None:
    """Let the gears take their losses: accelerations, multipliers and forces anew.

    Call after the lossless accelerations are known. A gear that passes the share s of the torque
    that enters it passes the effort and the rotor's inertia by that share; which way the power
    flows is tried until the accelerations agree with it. Afterwards mass matrix and rows are as
    before, and the losses are part of the forces.
    """
    n, rates = model.relabel.shape[1], y[work.M.shape[0] :]
    shares, force = work.shares, work.applied
    force[:], shares[: model.n_driven] = work.force, -2.0  # none yet
    for _ in range(2 + model.n_driven):
        changed = False
        for i in range(model.n_driven):
            entering = effort[i] - model.gears[i, ARMATURE] * along_motor(
                model, mode, work.acceleration, i
            )
            share = gear_change(
                model.gears[i, DRIVING_LOSS],
                model.gears[i, BACK_LOSS],
                entering,
                along_motor(model, mode, rates, i),
                model.fade,
            )
            changed = changed or share != shares[i]
            shares[i] = share
        if not changed:
            break
        work.force[:] = force
        unpack_mass(work)
        for i in range(model.n_driven):
            for r in range(n):
                row = shares[i] * model.inputs[mode[SUPPORT], r, i]
                work.force[2 + r] += row * effort[i]
                for c in range(n):
                    work.M[2 + r, 2 + c] += (
                        row * model.gears[i, ARMATURE] * model.inputs[mode[SUPPORT], c, i]
                    )
        solve_constrained(model, work, work.force, work.acceleration, start, k)
    unpack_mass(work)
    for i in range(model.n_driven):
        added = (
            -shares[i] * model.gears[i, ARMATURE] * along_motor(model, mode, work.acceleration, i)
        )
        for r in range(n):
            work.force[2 + r] += added * model.inputs[mode[SUPPORT], r, i]


@array_function
def accelerate(
    terms: Terms,
    model: RigidModel,
    y: np.ndarray,
    mode: np.ndarray,
    effort: np.ndarray,
    work: Workspace,
) -> int:
    """Compute ``work.acceleration`` under all active constraints; return the number of rows."""
    evaluate(terms, model, y, mode, work)
    apply_forces(model, mode, effort, work)
    if model.rubs == 1:
        apply_friction(model, y, mode, work)
    start = 2 if mode[STANCE] == 1 else 0
    k = hold_parts(model, mode, work, mode[SWING] == 1)
    solve_constrained(model, work, work.force, work.acceleration, start, k)
    if model.loses == 1:
        pass_gears(model, y, mode, effort, work, start, k)
    return k


@array_function
def find_reactions(model: RigidModel, mode: np.ndarray, work: Workspace) -> None:
    """Write the floor's forces on reference and swing foot, x then z, after `accelerate`, N."""
    for i in range(2):
        work.reactions[2 + i] = work.multipliers[i] if mode[SWING] == 1 else 0.0
        work.reactions[i] = 0.0
        if mode[STANCE] == 1:
            total = -work.force[i] - work.reactions[2 + i]
            for j in range(work.M.shape[0]):
                total += work.M[i, j] * work.acceleration[j]
            work.reactions[i] = total


@array_function
def add_ground_torque(model: RigidModel, state: RigidState, work: Workspace, share: float) -> None:
    """Add a share of the floor's torque on the reference foot to the generalised forces."""
    for i in range(model.relabel.shape[1]):
        turns = model.inputs[state.mode[SUPPORT], i, model.n_driven :]
        work.force[2 + i] += share * inner(turns, state.effort[model.n_driven :])


@array_function
def normal_acceleration(model: RigidModel, state: RigidState, work: Workspace, foot: int) -> float:
    """Return how fast a foot would leave the floor if it were released ([DS09] (3.55)), m/s^2.

    With the reference foot goes the floor's torque on it, for it is part of the contact.

    Args:
        foot: STANCE or SWING; the other, if in contact, and locks and stops stay closed.
    """
    mode = state.mode
    k = hold_parts(model, mode, work, foot == STANCE and mode[SWING] == 1)
    start = 2 if foot == SWING and mode[STANCE] == 1 else 0
    if foot == STANCE and mode[STANCE] == 1:
        add_ground_torque(model, state, work, -1.0)
    solve_constrained(model, work, work.force, work.acceleration, start, k)
    if foot == STANCE and mode[STANCE] == 1:
        add_ground_torque(model, state, work, 1.0)
    if foot == STANCE:
        return float(work.acceleration[1])
    return swing_normal(model, work, work.acceleration, True)


@array_function
def firmness(model: RigidModel, state: RigidState, work: Workspace, foot: int) -> float:
    """Return how firmly a foot stays in contact, m/s^2; below zero it leaves the floor.

    A foot leaves when it would rise if it were released and no force that a floor can give holds
    it. Either test alone errs: by the first a foot that bears half the weight flies off as soon as
    the hip pulls back and friction keeps it down, by the second a foot that would have to be
    pulled sinks into the floor.

    Args:
        foot: STANCE or SWING, in contact; `find_reactions` has been called.
    """
    at = 0 if foot == STANCE else 2
    held = model.grip * work.reactions[at + 1] - abs(work.reactions[at])
    if held >= 0.0:
        return float(held / work.M[1, 1])  # per mass of the robot
    return float(max(held / work.M[1, 1], -normal_acceleration(model, state, work, foot)))


@array_function
def swing_along(work: Workspace, rates: np.ndarray, axis: int) -> float:
    """Return what the swing foot's Jacobian makes of rates: its velocity along x (0) or z (1).

    Args:
        work: Its support terms are those of the present state.
        rates: Of the support coordinates, ``(n + 2,)`` or more.
        axis: 0 or 1.
    """
    n = work.M.shape[0] - 2
    row = terms_places(n).jacobian + axis * n
    return float(rates[axis] + inner(work.terms[row : row + n], rates[2:]))


@array_function
def swing_normal(model: RigidModel, work: Workspace, rates: np.ndarray, with_drift: bool) -> float:
    """Return the normal component of the swing foot's velocity or acceleration."""
    total = swing_along(work, rates, 1)
    if with_drift:
        total += work.terms[terms_places(model.relabel.shape[1]).drift + 1]
    return float(total)


@array_function
def along_joint(model: RigidModel, mode: np.ndarray, y: np.ndarray, joint: int) -> float:
    """Return the angle of a joint, its rate or its acceleration, given the support coordinates'.

    Args:
        model: `RigidModel`.
        mode: Discrete state.
        y: Of the support coordinates, ``(n + 2,)`` or more.
        joint: Its index.
    """
    return inner(model.lift[mode[SUPPORT], 1 + joint], y[2:])


@array_function
def collide(
    model: RigidModel, state: RigidState, work: Workspace, impulse: np.ndarray, swing_strikes: bool
) -> None:
    """Apply an inelastic impact to the velocities in place; open what separates.

    Contacts and stops that were closed push only if they would be violated otherwise ([DS09]
    (3.57)); locks hold. The support terms must be those of the present state.

    Args:
        impulse: Applied generalised impulse, ``(n + 2,)``.
        swing_strikes: Whether the swing foot has just reached the floor.
    """
    size, mode, v = work.M.shape[0], state.mode, state.y[work.M.shape[0] :]
    stance, swing = mode[STANCE], mode[SWING]
    stops = mode[FIRST_STOP : FIRST_STOP + model.lower.shape[0]].copy()
    hold_stance, hold_swing = 0, 1 if swing_strikes else 0
    mode[FIRST_STOP : FIRST_STOP + model.lower.shape[0]] = 0
    after = work.acceleration
    for _ in range(4 + model.lower.shape[0]):
        multiply(work.M, v, work.force)
        work.force[:] += impulse
        k = hold_parts(model, mode, work, hold_swing == 1)
        work.drift[:k] = 0.0
        solve_constrained(model, work, work.force, after, 2 if hold_stance == 1 else 0, k)
        changed = False
        if stance == 1 and hold_stance == 0 and after[1] <= RESTING:
            hold_stance, changed = 1, True
        if swing == 1 and hold_swing == 0 and swing_normal(model, work, after, False) <= RESTING:
            hold_swing, changed = 1, True
        for joint in range(model.lower.shape[0]):
            stop = stops[joint]
            if (
                stop != 0
                and mode[FIRST_STOP + joint] == 0
                and stop * along_joint(model, mode, after, joint) >= -RESTING
            ):
                mode[FIRST_STOP + joint] = stop
                changed = True
        if not changed:
            break
    mode[STANCE], mode[SWING] = hold_stance, hold_swing
    v[:size] = after
