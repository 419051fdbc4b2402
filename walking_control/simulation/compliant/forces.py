# SPDX-License-Identifier: Apache-2.0
"""Accelerations of the walker on a compliant floor, and the rates of its energies."""

import math

import numpy as np

from walking_control.models.array_functions import array_function, Terms
from walking_control.models.support.layout import terms_places
from walking_control.simulation.compliant.law import friction_force, normal_force
from walking_control.simulation.compliant.model import (
    DAMPED,
    FEET,
    Feet,
    Floor,
    FORCE_X,
    FORCE_Z,
    GAP,
    GAP_RATE,
    INSIDE,
    LAST,
    NORMAL,
    PASSIVE,
    PLACE,
    RELEASED,
    SLIPPED,
    WORK,
)
from walking_control.simulation.rigid.forces import (
    add_lock_rows,
    add_stop_rows,
    apply_forces,
    apply_friction,
    evaluate,
    joint_rate,
    pass_gears,
    solve_constrained,
)
from walking_control.simulation.rigid.model import RigidModel, Workspace


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
def press_foot(model: RigidModel, floor: Floor, feet: Feet, y: np.ndarray, work: Workspace,
               foot: int, out: np.ndarray) -> None:
    """Add the force of the floor on a foot to the generalised forces; write the rate of its slide.

    Args:
        foot: 0 or 1.
        out: Rates of the deformations along the floor, ``(2,)``.
    """
    size, touch = work.M.shape[0], feet.touch
    n = size - 2
    places = terms_places(n)
    first = size * 2
    x, z, vx, vz = y[0], y[1], y[size], y[size + 1]
    angle, turning = 0.0, 0.0
    for j in range(n):
        angle += floor.turns[foot, j] * y[2 + j]
        turning += floor.turns[foot, j] * y[size + 2 + j]
    if foot == 1:
        x += work.terms[places.foot]
        z += work.terms[places.foot + 1]
        for j in range(n):
            vx += work.terms[places.jacobian + j] * y[size + 2 + j]
            vz += work.terms[places.jacobian + n + j] * y[size + 2 + j]
    # a round foot: its centre lies above the end of the leg, along it
    over, up = floor.radius * math.sin(angle), floor.radius * math.cos(angle)
    height, slope = floor_at(floor, x + over)
    c = 1.0 / math.sqrt(1.0 + slope * slope)
    s = slope * c
    dx, dz = over + floor.radius * s, up - floor.radius * c   # from the end of the leg to contact
    vx += turning * dz
    vz -= turning * dx
    along, away = c * vx + s * vz, c * vz - s * vx
    gap = (z + up - height - feet.level[foot]) * c - floor.radius
    touch[foot, GAP], touch[foot, GAP_RATE], touch[foot, PLACE] = gap, away, x
    normal = 0.0
    if feet.flags[foot] == INSIDE:
        normal = normal_force(floor.kind, floor.stiffness, floor.damping, floor.dissipation, -gap,
                              -away)
    slide = y[first + foot]
    drag, out[foot] = friction_force(floor.sliding_stiffness, floor.sliding_damping, floor.relief,
                                     model.grip * normal, slide, along, turning)
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
            work.force[2 + j] += work.terms[places.jacobian + j] * fx \
                + work.terms[places.jacobian + n + j] * fz


@array_function
def power_of(y: np.ndarray, force: np.ndarray, before: np.ndarray) -> float:
    """Return the power of the change of generalised forces, W."""
    total = 0.0
    for i in range(before.shape[0]):
        total += (force[i] - before[i]) * y[before.shape[0] + i]
    return total


@array_function
def drive(model: RigidModel, floor: Floor, feet: Feet, y: np.ndarray, mode: np.ndarray,
          effort: np.ndarray, work: Workspace) -> None:
    """Fill the generalised forces of efforts, bias and joint friction; begin the powers."""
    size = work.M.shape[0]
    bias, last = terms_places(size - 2).bias, feet.flags[LAST]
    apply_forces(model, mode, effort, work)
    if feet.flags[last] == INSIDE:   # a torque of the floor needs a standing foot
        for i in range(size - 2):
            for j in range(model.n_driven, effort.shape[0]):
                work.force[2 + i] += floor.turns[last, i] * effort[j]
    for i in range(size):
        feet.force[i] = -work.terms[bias + i]
    feet.power[WORK] = power_of(y, work.force, feet.force)
    feet.power[PASSIVE] = 0.0
    for joint in range(floor.joint_damping.shape[0]):
        if floor.joint_damping[joint] > 0.0:
            feet.power[PASSIVE] += floor.joint_damping[joint] \
                * joint_rate(model, mode, y[size:], joint) ** 2
    if model.rubs == 1:
        feet.force[:] = work.force
        apply_friction(model, y, mode, work)
        feet.power[PASSIVE] -= power_of(y, work.force, feet.force)


@array_function
def accelerate_softly(terms: Terms, model: RigidModel, floor: Floor, feet: Feet, y: np.ndarray,
                      mode: np.ndarray, effort: np.ndarray, work: Workspace,
                      out: np.ndarray) -> None:
    """Compute ``work.acceleration`` and the rates of deformations and energies.

    Args:
        out: Filled with these rates, ``(EXTRA,)``.
    """
    evaluate(terms, model, y, mode, work)
    drive(model, floor, feet, y, mode, effort, work)
    feet.power[DAMPED], feet.power[SLIPPED], feet.power[RELEASED] = 0.0, 0.0, 0.0
    for foot in range(FEET):
        press_foot(model, floor, feet, y, work, foot, out)
    k = add_lock_rows(model, mode, work, 0)
    k = add_stop_rows(model, mode, work, k)
    solve_constrained(model, work, work.force, work.acceleration, 0, k)
    if model.loses == 1:
        feet.force[:] = work.force
        pass_gears(model, y, mode, effort, work, 0, k)
        feet.power[PASSIVE] -= power_of(y, work.force, feet.force)
    for i in range(feet.power.shape[0]):
        out[FEET + i] = feet.power[i]
