# SPDX-License-Identifier: Apache-2.0
"""Accelerations of a walker on a compliant floor, which never stands as a rigid one does.

The robot is that of plant rigid in flight: the first foot is the reference for good, joint stops
and locks are its constraints. The floor's forces are applied, not constraints; their laws, and why
slip heats the floor, are in doc/compliant_floor.md ([DS09] 3.2.2). The state is
``y = [z, dz/dt, s, energies]``: support coordinates, the deformation along the floor at each foot,
and what has become of the energy so far, integrated with the rest.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.models import array_function, inner, Terms, terms_places
from walking_control.simulation.rigid.forces import (
    along_joint,
    apply_forces,
    apply_friction,
    evaluate,
    hold_parts,
    pass_gears,
    solve_constrained,
    swing_along,
)
from walking_control.simulation.rigid.model import (
    make_state,
    make_workspace,
    RigidModel,
    RigidState,
    Workspace,
)

FEET = 2
# energies so far, in this order behind the deformations: work of the efforts; taken by the floor's
# dampers; by slipping and rolling; stored when a foot left; taken by the joints
WORK, DAMPED, SLIPPED, RELEASED, PASSIVE, ENERGIES = range(6)
EXTRA = FEET + ENERGIES
# places in Feet.flags: relation of each foot to the floor, then the foot that landed last, ahead
OUTSIDE, INSIDE, PASSING = range(3)
LAST = FEET
# places in a row of Feet.touch
FORCE_X, FORCE_Z, GAP, GAP_RATE, PLACE, NORMAL, TOUCHES = range(7)


class Floor(NamedTuple):
    """Constants of a compliant floor and of the feet on it.

    Attributes:
        kind: Of damping, see `law`.
        stiffness: N/m.
        damping: N s/m.
        dissipation: s/m.
        sliding_stiffness: Along the floor, N/m.
        sliding_damping: N s/m.
        relief: Share of the deformation along the floor that rolling takes away, 1/rad.
        radius: Of round feet, m.
        turns: Rate of rotation about +y of each foot per rate of the coordinates, ``(2, n)``.
        places: Where the height of the floor is given, m.
        heights: The height there, m; straight in between, and beyond.
        levels: Height of the floor from each touchdown on, m; the last entry serves all later ones.
        joint_damping: Of the dampers beside joint springs, N m s/rad, ``(n_joints,)``.
    """

    kind: int  # of damping, see `normal_force`
    stiffness: float
    damping: float
    dissipation: float
    sliding_stiffness: float
    sliding_damping: float
    relief: float
    radius: float  # of round feet, m
    # rate of rotation about +y of each foot per rate of the coordinates, ``(2, n)``
    turns: np.ndarray
    places: np.ndarray
    heights: np.ndarray  # the height there, m; straight in between, and beyond
    # height of the floor from each touchdown on, m; the last entry serves all later ones
    levels: np.ndarray
    joint_damping: np.ndarray


class Feet(NamedTuple):
    """How the feet stand, changed in place.

    Attributes:
        flags: Relation of each foot to the floor, and the foot that landed last, integers.
        level: Height of the floor's step under each foot, m.
        touch: Of each foot the force of the floor, gap, its rate and the place, ``(2, TOUCHES)``.
        power: Rates of the energies, W.
        force: Generalised forces before friction and gears, working memory.
    """

    flags: np.ndarray
    level: np.ndarray  # height of the floor's step under each foot, m
    # of each foot the force of the floor, gap, its rate and the place, ``(2, TOUCHES)``
    touch: np.ndarray
    power: np.ndarray
    force: np.ndarray


def make_soft_state(model: RigidModel) -> tuple[RigidState, Feet]:
    """Return a `RigidState` with room for deformations and energies, and the `Feet`."""
    size = model.n + 2
    state = make_state(model)._replace(y=np.zeros(2 * size + EXTRA))
    return state, Feet(
        np.zeros(FEET + 1, dtype=np.int64),
        np.zeros(FEET),
        np.zeros((FEET, TOUCHES)),
        np.zeros(ENERGIES),
        np.zeros(size),
    )


def make_soft_workspace(model: RigidModel, terms_size: int) -> Workspace:
    """Return a `Workspace` for such states."""
    count = 2 * (model.n + 2) + EXTRA
    return make_workspace(model, terms_size)._replace(
        k=np.zeros((13, count)), trial=np.zeros(count), start=np.zeros(count)
    )


KELVIN_VOIGT, HUNT_CROSSLEY = range(2)  # places in `FLOORS`


@array_function
def normal_force(
    kind: int, stiffness: float, damping: float, dissipation: float, depth: float, rate: float
) -> float:
    """Return the force with which a floor presses a foot away, N.

    Args:
        kind: KELVIN_VOIGT or HUNT_CROSSLEY.
        stiffness: k, N/m.
        damping: c of the first, N s/m.
        dissipation: a of the second, s/m.
        depth: Of the foot in the floor, m.
        rate: Its rate, m/s.
    """
    if kind == KELVIN_VOIGT:
        return max(0.0, stiffness * depth + damping * rate)
    return max(0.0, stiffness * depth * (1.0 + dissipation * rate))


@array_function
def friction_force(
    stiffness: float,
    damping: float,
    relief: float,
    limit: float,
    slide: float,
    velocity: float,
    rolling: float,
) -> tuple[float, float]:
    """Return the force along the floor with which a foot drags it, N, and the deformation's rate.

    Args:
        stiffness: kt, N/m.
        damping: ct, N s/m, above zero.
        relief: beta, 1/rad.
        limit: mu N, N.
        slide: Deformation s, m.
        velocity: Of the foot over the floor, m/s.
        rolling: Rate at which the foot rolls, rad/s.
    """
    force = (stiffness * slide + damping * velocity) / (
        1.0 + damping * relief * abs(rolling) / stiffness
    )
    force = min(max(force, -limit), limit)
    return force, (force - stiffness * slide) / damping


@array_function
def fastest_rate(stiffness: float, damping: float, lightness: float) -> float:
    """Return the largest rate, 1/s, at which a mass on a spring and a damper moves.

    The size of the larger root of ``s^2 + c g s + k g = 0``.

    Args:
        stiffness: k, N/m.
        damping: c, N s/m.
        lightness: g, the inverse of the mass, 1/kg.
    """
    half, square = 0.5 * damping * lightness, stiffness * lightness
    if half * half <= square:
        return math.sqrt(square)
    return half + math.sqrt(half * half - square)


@array_function
def floor_at(floor: Floor, x: float) -> tuple[float, float]:
    """Return height, m, and slope of the floor at a place."""
    last = floor.places.shape[0] - 2
    i = 0
    while i < last and x >= floor.places[i + 1]:
        i += 1
    slope = (floor.heights[i + 1] - floor.heights[i]) / (floor.places[i + 1] - floor.places[i])
    return floor.heights[i] + slope * (x - floor.places[i]), slope


@array_function
def press_foot(
    model: RigidModel,
    floor: Floor,
    feet: Feet,
    y: np.ndarray,
    work: Workspace,
    foot: int,
    out: np.ndarray,
) -> None:
    """Add the force of the floor on a foot to the generalised forces; write the rate of its slide.

    Args:
        foot: 0 or 1.
        out: Rates of the deformations along the floor, ``(2,)``.
    """
    size, touch = work.M.shape[0], feet.touch
    n = size - 2
    places = terms_places(n)
    first = size * 2
    x, z = y[0], y[1]
    vx, vz = float(y[size]), float(y[size + 1])
    angle = inner(floor.turns[foot], y[2:])
    turning = inner(floor.turns[foot], y[size + 2 :])
    if foot == 1:
        x += work.terms[places.foot]
        z += work.terms[places.foot + 1]
        vx = swing_along(work, y[size:], 0)
        vz = swing_along(work, y[size:], 1)
    # a round foot: its centre lies above the end of the leg, along it
    over, up = floor.radius * math.sin(angle), floor.radius * math.cos(angle)
    height, slope = floor_at(floor, x + over)
    c = 1.0 / math.sqrt(1.0 + slope * slope)
    s = slope * c
    dx, dz = over + floor.radius * s, up - floor.radius * c  # from the end of the leg to contact
    vx += turning * dz
    vz -= turning * dx
    along, away = c * vx + s * vz, c * vz - s * vx
    gap = (z + up - height - feet.level[foot]) * c - floor.radius
    touch[foot, GAP], touch[foot, GAP_RATE], touch[foot, PLACE] = gap, away, x
    normal = 0.0
    if feet.flags[foot] == INSIDE:
        normal = normal_force(
            floor.kind, floor.stiffness, floor.damping, floor.dissipation, -gap, -away
        )
    slide = y[first + foot]
    drag, out[foot] = friction_force(
        floor.sliding_stiffness,
        floor.sliding_damping,
        floor.relief,
        model.grip * normal,
        slide,
        along,
        turning,
    )
    elastic = floor.sliding_stiffness * slide * out[foot]
    damped = floor.sliding_damping * out[foot] ** 2
    if normal > 0.0:
        feet.power[DAMPED] += damped + (normal + floor.stiffness * gap) * -away
        feet.power[SLIPPED] += drag * along - elastic - damped
    else:
        # out of contact nothing passes to the robot: what is stored turns into heat
        feet.power[RELEASED] += damped
        if feet.flags[foot] == INSIDE:
            feet.power[RELEASED] += floor.stiffness * gap * -away
    fx, fz = -s * normal - c * drag, c * normal - s * drag
    touch[foot, FORCE_X], touch[foot, FORCE_Z], touch[foot, NORMAL] = fx, fz, normal
    work.force[0] += fx
    work.force[1] += fz
    for j in range(n):
        work.force[2 + j] += floor.turns[foot, j] * (dz * fx - dx * fz)
        if foot == 1:
            work.force[2 + j] += (
                work.terms[places.jacobian + j] * fx + work.terms[places.jacobian + n + j] * fz
            )


@array_function
def power_of(y: np.ndarray, force: np.ndarray, before: np.ndarray) -> float:
    """Return the power of the change of generalised forces, W."""
    rates = y[before.shape[0] :]
    return inner(force, rates) - inner(before, rates)


@array_function
def drive(
    model: RigidModel,
    floor: Floor,
    feet: Feet,
    y: np.ndarray,
    mode: np.ndarray,
    effort: np.ndarray,
    work: Workspace,
) -> None:
    """Fill the generalised forces of efforts, bias and joint friction; begin the powers."""
    size = work.M.shape[0]
    bias, last = terms_places(size - 2).bias, feet.flags[LAST]
    apply_forces(model, mode, effort, work)
    if feet.flags[last] == INSIDE:  # a torque of the floor needs a standing foot
        work.force[2:] += floor.turns[last] * effort[model.n_driven :].sum()
    feet.force[:] = -work.terms[bias : bias + size]
    feet.power[WORK] = power_of(y, work.force, feet.force)
    feet.power[PASSIVE] = 0.0
    for joint in range(floor.joint_damping.shape[0]):
        if floor.joint_damping[joint] > 0.0:
            feet.power[PASSIVE] += (
                floor.joint_damping[joint] * along_joint(model, mode, y[size:], joint) ** 2
            )
    if model.rubs == 1:
        feet.force[:] = work.force
        apply_friction(model, y, mode, work)
        feet.power[PASSIVE] -= power_of(y, work.force, feet.force)


@array_function
def accelerate_softly(
    terms: Terms,
    model: RigidModel,
    floor: Floor,
    feet: Feet,
    y: np.ndarray,
    mode: np.ndarray,
    effort: np.ndarray,
    work: Workspace,
    out: np.ndarray,
) -> None:
    """Compute ``work.acceleration`` and the rates of deformations and energies.

    Args:
        out: Filled with these rates, ``(EXTRA,)``.
    """
    evaluate(terms, model, y, mode, work)
    drive(model, floor, feet, y, mode, effort, work)
    feet.power[DAMPED], feet.power[SLIPPED], feet.power[RELEASED] = 0.0, 0.0, 0.0
    for foot in range(FEET):
        press_foot(model, floor, feet, y, work, foot, out)
    k = hold_parts(model, mode, work, False)
    solve_constrained(model, work, work.force, work.acceleration, 0, k)
    if model.loses == 1:
        feet.force[:] = work.force
        pass_gears(model, y, mode, effort, work, 0, k)
        feet.power[PASSIVE] -= power_of(y, work.force, feet.force)
    out[FEET:] = feet.power
