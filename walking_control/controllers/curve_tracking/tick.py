# SPDX-License-Identifier: Apache-2.0
"""One tick of curve tracking as an array function: plain in the controller, compiled in sweeps."""

import math
from typing import NamedTuple

import numpy as np

from walking_control.controllers.curve_tracking.forces import (
    asymptotic_force,
    convergence,
    draw,
    energy_force,
    integrate_error,
    nominal_force,
    potential_force,
    relieve,
    tank_share,
)
from walking_control.controllers.curve_tracking.observation import Motion, observe
from walking_control.controllers.curve_tracking.vector_field import Field, trust_of
from walking_control.controllers.limits.efforts import (
    Compensation,
    keep_foot,
    Limits,
    make_up,
    nearest_effort_across,
)
from walking_control.models import array_function, form, inner, multiply, solve_spd, Terms

# places in TrackerMemory.scalars
PHASE, INTEGRAL, TANK, INJECTED, ABSORBED, PIECE, SINCE = range(7)
NOWHERE = -1.0  # no piece of the gait has the knees held as they are

# Telemetry: name and unit of each entry of the report; torques by effort follow.
TELEMETRY = (
    ('potential_energy', 'J'),
    ('kinetic_energy_desired', 'J'),
    ('kinetic_energy_undesired', 'J'),
    ('energy', 'J'),
    ('desired_energy', 'J'),
    ('tank_level', 'J'),
    ('energy_injected', 'J'),
    ('energy_absorbed', 'J'),
    ('gait_phase', 's'),
    ('gait_distance', 'rad'),
    ('trust', '1'),
    ('convergence_rate', '1/s'),
    ('power', 'W'),
    ('normal_force', 'N'),
    ('friction_ratio', '1'),
    ('foot_length', 'm'),
    ('effort_share', '1'),
)
(
    POTENTIAL,
    DESIRED,
    UNDESIRED,
    ENERGY,
    WANTED,
    LEVEL,
    GIVEN,
    TAKEN,
    WHERE,
    DISTANCE,
    TRUST,
    RATE,
    POWER,
    NORMAL,
    FRICTION,
    FOOT,
    SHARE,
) = range(len(TELEMETRY))
PARTS = ('nominal', 'potential', 'asymptotic', 'energy', 'freedom', 'wanted', 'applied')
NOMINAL, COMPENSATION, ASYMPTOTIC, MANAGEMENT, FREEDOM, SUM, APPLIED = range(len(PARTS))


class Gains(NamedTuple):
    """Gains of the law; their parameters and units are those of the table `curve_tracking`.

    Attributes:
        energy: kp of (5.27).
        integral: ki.
        integral_limit: Largest contribution of the integral, J.
        transfer: a0 of (5.21).
        threshold: a1 of (5.21).
        bandwidth: Fastest decay asked for, 1/s.
        damping: Decay of undesired momentum under method DAMPING, 1/s.
        freedom: Fastest turning of the free matrix Z, 1/s.
        impact_time: How long no effort is given after an impact, s.
        lead_lacking: How far the swing leg runs ahead per energy that is lacking, s/J.
        lead_excess: And per energy in excess.
        lead_limit: How far it may, s.
        along: How much errors of the acceleration along the gait count.
    """

    energy: float
    integral: float
    integral_limit: float
    transfer: float
    threshold: float
    bandwidth: float
    damping: float
    freedom: float
    impact_time: float
    lead_lacking: float
    lead_excess: float
    lead_limit: float
    along: float


class Tank(NamedTuple):
    """The energy that the law may inject.

    Attributes:
        initial: J.
        capacity: J.
        supply: W.
    """

    initial: float
    capacity: float
    supply: float


class TrackerData(NamedTuple):
    """What the law knows of one piece of a gait, as plain arrays and numbers.

    A walker with knees held by locks is a mechanism of its own, with fewer coordinates: ``m`` of
    all ``n`` are free in a piece, and field, forces and limits are in these.

    Attributes:
        free: Indices of the free coordinates, ``(m,)``.
        inputs: Generalised force on all coordinates per effort, by support, ``(2, n, k)``.
        field: `Field`.
        parameters: Of the support terms; gravity along x and z first.
        relabel: q of the old stance foot to q of the new one, by the old one, ``(2, n, n)``.
        spin: Rates of q when the robot turns about its foot at 1 rad/s, by support, ``(2, n)``.
        limits: `Limits`, with inputs ``(2, m, k)``.
        energy: Desired energy at the knots of the gait, J.
        gains: `Gains`.
        method: How r decays, DAMPING or TRANSFER.
        tank: `Tank`.
        losses: `Compensation`.
    """

    free: np.ndarray
    inputs: np.ndarray
    field: Field
    parameters: np.ndarray  # of the support terms; gravity along x and z first
    # q of the old stance foot to q of the new one, by the old one, ``(2, n, n)``
    relabel: np.ndarray
    # rates of q when the robot turns about its foot at 1 rad/s, by support, ``(2, n)``
    spin: np.ndarray
    limits: Limits
    energy: np.ndarray  # desired energy at the knots of the gait, J
    # its rate over the speed along the gait, there: what the motors of the gait itself do, J^0.5/s
    drive: np.ndarray
    gains: Gains
    method: int
    tank: Tank
    losses: Compensation


class TrackerMemory(NamedTuple):
    """What the law remembers from tick to tick.

    Attributes:
        scalars: Parameter on the gait, integral of the energy error, tank, energies so far, piece
            of the gait, time since the last impact.
        q: Coordinates at the last tick.
        effort: Held since.
    """

    # parameter on the gait, integral of the energy error, tank, energies so far, piece of the gait,
    # time since the last impact
    scalars: np.ndarray
    q: np.ndarray
    effort: np.ndarray


class Sensed(NamedTuple):
    """What the law is told at a tick.

    Attributes:
        support: Index of the stance foot.
        held: Which locks hold, see `knee_locks.holds`, ``(n_locks,)``.
        grounded: Whether the stance foot is on the floor; without, the effort is zero.
        fresh: Whether it took over since the last tick.
        q: Minimal coordinates, all of them, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        dt: Time since the last tick, s.
    """

    support: int
    held: np.ndarray
    grounded: bool
    fresh: bool
    q: np.ndarray
    v: np.ndarray
    dt: float


class Outcome(NamedTuple):
    """What a tick fills.

    Attributes:
        effort: N m, ``(k,)``.
        report: Telemetry, see `TELEMETRY`.
        parts: Efforts by `PARTS`, N m, ``(7, k)``.
    """

    effort: np.ndarray
    report: np.ndarray
    parts: np.ndarray


class TrackerLaw(NamedTuple):
    """What the law knows of all pieces of a gait.

    Attributes:
        pieces: Tuple of `TrackerData`.
        masks: Coordinates held in each piece, see `held_mask`, ``(n_pieces,)``.
        coordinate_of: See `held_mask`.
        period: Control period, s.
    """

    pieces: tuple[TrackerData, ...]
    masks: np.ndarray
    coordinate_of: np.ndarray
    period: float


def make_memory(data: TrackerData) -> TrackerMemory:
    """Return a fresh `TrackerMemory`."""
    n = data.spin.shape[1]
    memory = TrackerMemory(np.zeros(7), np.zeros(n), np.zeros(data.limits.inputs.shape[2]))
    forget(data, memory)
    return memory


def forget(data: TrackerData, memory: TrackerMemory) -> None:
    """Begin anew: full tank, no integral, phase unknown.

    Args:
        data: `TrackerData` of any piece, for the tank.
        memory: Changed in place.
    """
    memory.scalars[:] = np.nan, 0.0, data.tank.initial, 0.0, 0.0, NOWHERE, 0.0
    memory.q[:] = 0.0
    memory.effort[:] = 0.0


@array_function
def make_outcome(effort: np.ndarray) -> Outcome:
    """Return an `Outcome` that fills the effort given, ``(k,)``; the rest is zero."""
    return Outcome(effort, np.zeros(len(TELEMETRY)), np.zeros((len(PARTS), effort.shape[0])))


@array_function
def settle(data: TrackerData, memory: TrackerMemory, sensed: Sensed) -> None:
    """Book the work the held effort did in the last dt seconds, and fill or drain the tank.

    Exact, but for the ground torque's in the period of a touchdown: then the turn of the new
    stance foot stands for that of both.

    Args:
        data: `TrackerData` of the piece.
        memory: Changed in place.
        sensed: `Sensed`.
    """
    scalars, before = memory.scalars, sensed.q * 0.0
    if sensed.fresh:
        multiply(data.relabel[1 - sensed.support], memory.q, before)
    else:
        before[:] = memory.q
    work = form(sensed.q - before, data.inputs[sensed.support], memory.effort)
    scalars[TANK] = draw(scalars[TANK], work - data.tank.supply * sensed.dt, data.tank.capacity)
    if work > 0.0:
        scalars[INJECTED] += work
    else:
        scalars[ABSORBED] -= work


@array_function
def compose(
    data: TrackerData,
    motion: Motion,
    error: float,
    integral: float,
    trust: float,
    forces: np.ndarray,
) -> float:
    """Fill the wanted generalised forces, rows NOMINAL to SUM, ``(6, m)``.

    Args:
        error: Energy the desired motion lacks, J.
        integral: Its integral, J s.
        trust: How far the law may act, 0 to 1.
        forces: Zero on entry, filled.

    Returns:
        Rate at which undesired momentum decays, 1/s.
    """
    gains, e, m, r = data.gains, motion.e, motion.m, motion.r
    n, nu, rho = e.shape[0], motion.nu, motion.rho
    a = convergence(nu, rho, gains.transfer, gains.threshold, gains.bandwidth)
    nominal_force(motion.turn, m, nu, r, forces[NOMINAL])
    potential_force(motion.gradient, e, m, forces[COMPENSATION])
    rate = asymptotic_force(
        motion.robot.M,
        m,
        r,
        nu,
        rho,
        data.method,
        a,
        min(gains.damping, gains.bandwidth),
        forces[ASYMPTOTIC],
    )
    energy_force(error, integral, gains.energy, gains.integral, m, forces[MANAGEMENT])
    forces[MANAGEMENT] += motion.drive * m
    for part in range(4):
        forces[SUM] += forces[part]
    if gains.freedom > 0.0 and n > 2:
        direction = e * 0.0
        solve_spd(motion.robot.L, forces[SUM], direction)
        multiply(motion.robot.M, r, forces[FREEDOM])
        relieve(forces[SUM], direction, m, e, r, rho, gains.freedom, forces[FREEDOM])
    forces[SUM] += forces[FREEDOM]
    forces[:6] *= trust
    return rate


@array_function
def realise(
    data: TrackerData,
    motion: Motion,
    sensed: Sensed,
    tank: float,
    forces: np.ndarray,
    out: Outcome,
) -> tuple[float, float, float]:
    """Fill the efforts that come nearest to wanted forces within tank and limits.

    Args:
        data: `TrackerData` of the piece.
        motion: `Motion` of the state.
        sensed: `Sensed`; its dt is the period the efforts are held for.
        tank: Energy at hand, J.
        forces: See `compose`.
        out: `Outcome`; effort and all parts but the last are filled.

    Returns:
        ``(share, Fx, Fz)``: factor efforts were scaled by, and the force of the floor, N.
    """
    effort = out.effort
    B, k = data.limits.inputs[sensed.support], effort.shape[0]
    H, LH, work = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k)
    for part in range(6):
        nearest_effort_across(
            motion.robot.L, B, forces[part], motion.e, data.gains.along, H, LH, out.parts[part]
        )
    effort[:] = out.parts[SUM]
    for j in range(k):
        work[j] = inner(B[:, j], motion.v) * sensed.dt
    share = tank_share(tank, inner(work, effort))
    effort *= share
    kept, fx, fz = keep_foot(data.limits, motion.robot, B, LH, work, tank, effort)
    return share * kept, fx, fz


@array_function
def track(
    terms: Terms, data: TrackerData, memory: TrackerMemory, sensed: Sensed, out: Outcome
) -> None:
    """Fill the efforts of one tick on one piece of a gait.

    The books, memory and report are of torques at the joints; the efforts make up for what is lost
    on the way from the motors.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        data: `TrackerData` of the piece.
        memory: `TrackerMemory`, changed.
        sensed: `Sensed`; locks do not count.
        out: `Outcome`, filled.
    """
    scalars, integral = memory.scalars, memory.scalars[INTEGRAL]
    effort, report, fresh = out.effort, out.report, sensed.fresh
    settle(data, memory, sensed)
    phase = np.nan if fresh else scalars[PHASE]
    motion = observe(terms, data, sensed.support, phase, sensed.q, sensed.v)
    nu, inputs = motion.nu, data.limits.inputs[sensed.support]
    # of the desired motion alone, signed: against the field an effort along it must turn the
    # walker round, while by the total energy of (5.27) an excess would drive it on backwards
    error = motion.wanted - motion.potential - 0.5 * nu * abs(nu)
    scalars[SINCE] = 0.0 if fresh else scalars[SINCE] + sensed.dt
    # else an impact is under way
    rigid = sensed.grounded and scalars[SINCE] >= data.gains.impact_time
    trust = trust_of(motion.margin) if rigid else 0.0
    if nu > 0.0:  # backwards, an effort along e changes the energy the other way round
        scalars[INTEGRAL] = integrate_error(
            integral, trust * error, sensed.dt, data.gains.integral_limit
        )
    forces = np.zeros((6, motion.e.shape[0]))
    rate = compose(data, motion, error, scalars[INTEGRAL], trust, forces)
    share, fx, fz = realise(data, motion, sensed, scalars[TANK], forces, out)
    if not math.isfinite(motion.potential + motion.rho + nu + effort.sum()):  # rates overflow
        trust, share = 0.0, 0.0
        effort[:] = 0.0
        scalars[INTEGRAL] = integral
    elif abs(scalars[INTEGRAL]) > abs(integral) and (
        share < 1.0
        or scalars[TANK] <= 0.0
        or lacks(inputs, motion.e, out.parts[SUM], effort, error)
    ):
        scalars[INTEGRAL] = integral
    scalars[PHASE] = motion.s
    memory.q[:] = sensed.q
    memory.effort[:] = effort
    out.parts[APPLIED, :] = effort
    report_energies(motion, scalars, report)
    report[TRUST], report[RATE], report[SHARE] = trust, rate, share
    report[POWER] = form(motion.v, inputs, effort)
    report[NORMAL], report[FRICTION] = fz, abs(fx) / fz if fz > 0.0 else math.inf
    report[FOOT] = 0.0
    if data.limits.ankle >= 0 and fz > 0.0:
        report[FOOT] = abs(effort[data.limits.ankle]) / fz
    if data.losses.share > 0.0 and trust > 0.0:
        wanted = expected(data, motion, sensed.support, effort, sensed.v.shape[0])
        make_up(data.losses, sensed.support, sensed.v, wanted, effort)


@array_function
def expected(
    data: TrackerData, motion: Motion, support: int, effort: np.ndarray, n: int
) -> np.ndarray:
    """Return the accelerations of all n coordinates that torques at the joints are to cause.

    Args:
        data: `TrackerData` of the piece.
        motion: `Motion` of the state.
        support: Index of the stance foot.
        effort: Torques at the joints, N m, ``(k,)``.
        n: Number of all coordinates.
    """
    force, free, a = motion.robot.h * 0.0, motion.robot.h * 0.0, np.zeros(n)
    multiply(data.limits.inputs[support], effort, force)
    solve_spd(motion.robot.L, force - motion.robot.h, free)
    a[data.free] = free
    return a


@array_function
def report_energies(motion: Motion, scalars: np.ndarray, report: np.ndarray) -> None:
    """Fill the report's energies and the place on the gait.

    Args:
        motion: `Motion` of the state.
        scalars: Of `TrackerMemory`.
        report: Filled in part, see `TELEMETRY`.
    """
    desired, undesired = 0.5 * motion.nu * motion.nu, 0.5 * motion.rho * motion.rho
    report[POTENTIAL], report[DESIRED], report[UNDESIRED] = motion.potential, desired, undesired
    report[ENERGY], report[WANTED] = desired + undesired + motion.potential, motion.wanted
    report[LEVEL] = max(scalars[TANK], 0.0)
    report[GIVEN], report[TAKEN] = scalars[INJECTED], scalars[ABSORBED]
    report[WHERE], report[DISTANCE] = motion.s, motion.distance


@array_function
def held_mask(coordinate_of: np.ndarray, support: int, held: np.ndarray) -> int:
    """Return the coordinates locks hold, as a sum of powers of two.

    Args:
        coordinate_of: Coordinate each lock holds, by support, ``(2, n_locks)``.
        support: Index of the stance foot.
        held: Which locks hold, see `knee_locks.holds`, ``(n_locks,)``.
    """
    mask = 0
    for i in range(coordinate_of.shape[1]):
        if held[i]:
            mask += 1 << coordinate_of[support, i]
    return mask


@array_function
def follow(
    terms: Terms, law: TrackerLaw, memory: TrackerMemory, sensed: Sensed, out: Outcome
) -> None:
    """Fill the efforts of one tick on whatever piece of the gait has the knees held as they are.

    Where none has, the effort is zero and ``trust`` in the report 0.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        law: `TrackerLaw`.
        memory: `TrackerMemory`, changed.
        sensed: `Sensed`.
        out: `Outcome`, filled.
    """
    scalars, found = memory.scalars, -1
    mask = held_mask(law.coordinate_of, sensed.support, sensed.held)
    for i in range(law.masks.shape[0]):
        if law.masks[i] == mask:
            found = i
    if found != int(scalars[PIECE]):
        scalars[PHASE], scalars[SINCE] = np.nan, -sensed.dt  # a knee has struck or come free
    scalars[PIECE] = found
    if found >= 0:
        track(terms, law.pieces[found], memory, sensed, out)
        return
    settle(law.pieces[0], memory, sensed)
    memory.q[:] = sensed.q
    out.effort[:], memory.effort[:], out.report[:], out.parts[:] = 0.0, 0.0, 0.0, 0.0
    out.report[LEVEL] = max(scalars[TANK], 0.0)
    out.report[GIVEN], out.report[TAKEN] = scalars[INJECTED], scalars[ABSORBED]


@array_function
def lacks(
    B: np.ndarray, e: np.ndarray, wanted: np.ndarray, applied: np.ndarray, error: float
) -> bool:
    """Return whether limits withhold effort along e that would lessen the energy error.

    Integrating the error meanwhile would only store up an overshoot.

    Args:
        B: Generalised force per effort, ``(n, k)``.
        e: Direction, ``(n,)``.
        wanted: Efforts before limits, N m, ``(k,)``.
        applied: And within them, N m, ``(k,)``.
        error: Energy that is lacking, J.
    """
    asked, given = form(e, B, wanted), form(e, B, applied)
    return (asked - given) * error > 1e-9 * abs(asked * error)


@array_function
def tracking_law(
    terms: Terms,
    law: TrackerLaw,
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """The law as an `ArrayLaw`; memory: scalars, q, effort of `TrackerMemory`, who stood last.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        law: `TrackerLaw`.
        memory: What the law remembers, changed in place, ``(k,)``.
        support: Index of the stance foot.
        held: Which locks hold, ``(n_locks,)``.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    n, k = q.shape[0], effort.shape[0]
    scalars = memory.shape[0] - n - k - 1
    last = memory.shape[0] - 1
    kept = TrackerMemory(
        memory[:scalars], memory[scalars : scalars + n], memory[scalars + n : last]
    )
    fresh = support != memory[last]
    memory[last] = support
    sensed = Sensed(support, held, True, fresh, q, v, law.period)
    follow(terms, law, kept, sensed, make_outcome(effort))
