# SPDX-License-Identifier: Apache-2.0
"""The numbers of the verbs `design transmission` and `design rotom`, as plain dictionaries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.design import (
    AXES,
    BACKWARD,
    backward_efficiency,
    FORWARD,
    Limb,
    limb_end,
    LOSSLESS,
    Mechanism,
    rotom,
    unit_direction,
)
from walking_control.exceptions import require

EFFICIENCIES = np.round(np.linspace(0.3, 1.0, 71), 10)


def along_axes(limb: Limb, direction: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return a direction of the world along the axes of a limb, of length 1.

    Args:
        limb: The `Limb`.
        direction: In the world, ``(3,)``.

    Raises:
        InvalidInput: It is zero, or across all of them.
    """
    unit = unit_direction(direction)[limb.rows]
    size = np.linalg.norm(unit)
    require(
        size >= 1e-9,
        'direction',
        value=[float(value) for value in direction],
        limit=f'must not be across all axes of the limb, {limb.axes}',
    )
    return np.asarray(unit / size)


def study_transmission(limb: Limb, direction: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """Return how heavy, strong and soft a limb's end is along a direction of the world, ``(3,)``.

    Args:
        limb: The `Limb`.
        direction: In the world, ``(3,)``.

    Returns:
        dict: ``motors``, ``inertia`` (matrices, kg), ``masses`` (effective and diagonal, kg),
        ``forces`` (N), ``corners`` (N), ``impact_mitigation`` (None of a held base),
        ``symmetric_error``, ``over_efficiency``, and what was asked for.
    """
    u, gears = along_axes(limb, direction), limb.transmission
    inertia = limb_end.task_inertia(limb)
    matrices = {'GIE': inertia.lossless, 'FGIE': inertia.forward, 'BGIE': inertia.backward}
    if limb.n_base:
        matrices['GIE, base free'] = limb_end.backward_inertia(limb, gears.shares(LOSSLESS))
        shares = gears.shares(BACKWARD)
        matrices['BGIE, base free'] = (
            limb_end.backward_inertia(limb, shares) if np.isfinite(shares).all() else None
        )
    polytopes = {kind: limb_end.force_capability(limb, kind) for kind in limb_end.CAPABILITIES}
    polytopes['AFC pushing'] = limb_end.asymmetric_capability(limb, u)
    polytopes['AFC giving way'] = limb_end.asymmetric_capability(limb, -u)
    return {
        'robot': limb.mechanism.name,
        'frame': limb.frame_name,
        'axes': limb.axes,
        'direction': u.tolist(),
        'base': 'free' if limb.n_base else 'held',
        'rotors': limb.rotors,
        'redundant': limb.redundant,
        'positions': dict(zip(limb.mechanism.joints, limb.mechanism.positions.tolist())),
        'motors': _motors(limb),
        'topology': gears.topology.tolist(),
        'inertia': {
            **{
                name: None if matrix is None else matrix.tolist()
                for name, matrix in matrices.items()
            },
            'FGIE, symmetric': inertia.forward_symmetric.tolist(),
        },
        'masses': {
            name: {'effective': np.inf, 'diagonal': np.inf}
            if matrix is None
            else {
                'effective': limb_end.effective_mass(matrix, u),
                'diagonal': limb_end.diagonal_mass(matrix, u),
            }
            for name, matrix in matrices.items()
        },
        'forces': {name: polytope.reach(u) for name, polytope in polytopes.items()},
        'corners': {
            name: None if (corners := polytope.corners()) is None else corners.tolist()
            for name, polytope in polytopes.items()
        },
        'impact_mitigation': limb_end.impact_mitigation(limb, u) if limb.n_base else None,
        'symmetric_error': {
            mode: limb_end.symmetric_error(limb, mode)
            for mode in (FORWARD, BACKWARD)
            if np.isfinite(gears.shares(mode)).all()
        },
        'over_efficiency': over_efficiency(limb, u),
    }


def _motors(limb: Limb) -> dict[str, dict[str, float]]:
    gears = limb.transmission
    return {
        joint: {
            'reduction': float(gears.reduction[i]),
            'rotor_inertia': float(gears.rotor_inertia[i]),
            'reflected_inertia': float(gears.reflected[i]),
            'efficiency': float(gears.efficiency[i]),
            'back_efficiency': float(gears.back_efficiency[i]),
            'torque': float(gears.torque[i]),
        }
        for i, joint in enumerate(gears.joints)
    }


def over_efficiency(
    limb: Limb, u: np.ndarray, efficiencies: np.ndarray = EFFICIENCIES
) -> dict[str, list[float]]:
    """Return forces and impact mitigation along u, with the same forward efficiency in all gears.

    Returns:
        dict: ``efficiency``, ``back_efficiency`` (of the first gear), ``FFC`` and ``BFC`` as shares
        of FC, ``factor``, ``effective`` and ``diagonal`` (of impact mitigation; empty of a held
        base).
    """
    lossless = limb_end.force_capability(limb).reach(u)
    limited = 0.0 < lossless < np.inf  # motors without limit, or without torque, leave no share
    reduction, rows = float(limb.transmission.reduction[0]), []
    for efficiency in efficiencies.tolist():
        other = with_gears(limb, efficiency=np.array([efficiency]))
        row = {
            kind: limb_end.force_capability(other, kind).reach(u) / lossless if limited else np.nan
            for kind in ('FFC', 'BFC')
        }
        softness = limb_end.impact_mitigation(other, u) if limb.n_base else {}
        back = backward_efficiency(efficiency, reduction)
        rows.append({'efficiency': efficiency, 'back_efficiency': back, **row, **softness})
    names = 'efficiency', 'back_efficiency', 'FFC', 'BFC', 'factor', 'effective', 'diagonal'
    return {name: [row[name] for row in rows if name in row] for name in names}


def with_gears(limb: Limb, **changes: np.ndarray) -> Limb:
    """Return a limb with other numbers in its transmission."""
    return Limb(
        limb.mechanism,
        limb.frame_name,
        limb.transmission.with_(**changes),
        limb.axes,
        limb.rotors,
        limb.carriers,
    )


def usual_contacts(mechanism: Mechanism) -> tuple[rotom.Contacts, list[str]]:
    """Return what a robot stands on if nobody says, and in words what that is."""
    robot = mechanism.dynamics.robot
    if mechanism.held:
        return rotom.NO_CONTACTS, []
    if not mechanism.standing:
        return rotom.NO_CONTACTS, ['no contacts: a free base moves with the whole force']
    flat = robot.is_free and len(robot.feet) <= 2
    return rotom.Contacts(mechanism.standing, rotom.SOLE if flat else rotom.POINT), [
        f'{" and ".join(mechanism.standing)} on the floor, ' + ('flat' if flat else 'as points')
    ]


def study_rotom(
    mechanism: Mechanism,
    direction: Sequence[float] | np.ndarray,
    contacts: rotom.Contacts = rotom.NO_CONTACTS,
    joints: Sequence[str] = (),
    zeros: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Return how a posture with contacts kept passes a force along a direction into motion.

    The index is told over `joints`; `zeros` looks for postures of no RoToM. ``half_axes`` go with
    ``directions`` (columns); ``center_of_mass`` is in m, ``mass`` in kg, ``descending_torque`` in
    1/rad, ``zeros`` in rad.
    """
    u = unit_direction(direction)
    found = rotom.transmissibility(mechanism, contacts)
    lengths, axes = found.axes
    torque = rotom.descending_torque(mechanism, u, contacts)
    return {
        'robot': mechanism.name,
        'base': 'held' if mechanism.held else 'free',
        'contacts': list(contacts.frames),
        'contact_kind': contacts.kind,
        'direction': u.tolist(),
        'mass': mechanism.mass,
        'positions': dict(zip(mechanism.joints, mechanism.positions.tolist())),
        'center_of_mass': mechanism.center_of_mass().tolist(),
        'matrix': found.matrix.tolist(),
        'half_axes': lengths.tolist(),
        'directions': axes.tolist(),
        'moves_along': _in_words(rotom.motion_space(mechanism)),
        'rotom': found.rotom(u),
        'to_surface': found.to_surface(u),
        'index': found.index,
        'descending_torque': dict(zip(mechanism.joints, torque.tolist())),
        'index_over': {
            joint: dict(
                zip(
                    ('position', 'index'),
                    (
                        values.tolist()
                        for values in rotom.index_over_joint(mechanism, joint, contacts)
                    ),
                )
            )
            for joint in joints
        },
        'zeros': [
            dict(zip(mechanism.joints, posture.tolist()))
            for posture in rotom.rotom_zeros(mechanism, u, seed=seed)
        ]
        if zeros
        else None,
    }


def _in_words(space: np.ndarray) -> str:
    """Return axes' names of a space along them, else its dimension."""
    if np.array_equal(space, np.eye(3)[:, np.abs(space).max(axis=1) > 0.0]):
        return ''.join(axis for axis, row in zip(AXES, space) if row.any())
    return f'{space.shape[1]} directions'
