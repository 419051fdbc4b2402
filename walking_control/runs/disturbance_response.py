# SPDX-License-Identifier: Apache-2.0
"""How a walk took its first disturbance, and its energies as curve tracking sees them.

Energies ([DS09] Figs. 5.8b and 5.10b) are an observer's: the law's own functions, applied to
recorded states. Potential energy counts from the stance foot, so on a steady gait it begins each
step at the same value, as in the book.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from walking_control.controllers import CurveTrackingParameters, observe
from walking_control.controllers.curve_tracking.controller import build_law, load_gait
from walking_control.controllers.curve_tracking.tick import held_mask, TrackerLaw
from walking_control.exceptions import IncompatibleController, require
from walking_control.models import Dynamics, make_terms, Terms
from walking_control.runs import DEPTHS, plain, quantities, Run, summarize

# name and unit of each entry, with the names of the law's telemetry
FIELDS = (
    ('potential_energy', 'J'),
    ('kinetic_energy_desired', 'J'),
    ('kinetic_energy_undesired', 'J'),
    ('energy', 'J'),
    ('desired_energy', 'J'),
    ('gait_distance', 'rad'),
    ('gait_phase', 's'),
)
# key, name, unit, significant digits
MEASURES = (
    ('steps', 'Steps', '', 3),
    ('duration', 'Duration', 's', 3),
    ('speed', 'Speed, start and end included', 'm/s', 3),
    ('squared_effort_before', 'Squared effort per step, before', 'N²m²s', 2),
    ('squared_effort_after', 'Squared effort per step, after', 'N²m²s', 3),
    ('peak_effort', 'Largest effort', 'N m', 3),
    ('energy_injected', 'Energy injected by the actuators', 'J', 3),
    ('energy_absorbed', 'Energy absorbed by the actuators', 'J', 3),
    ('min_normal_force', 'Smallest normal force, rebounds too', 'N', 3),
    ('max_friction_ratio', 'Largest friction ratio', '', 3),
    ('foot_depth', 'Deepest a foot was in the floor', 'm', 3),
    ('foot_depth_ahead', 'How far ahead it was there', 'm', 3),
    ('scuff_reach', 'How far ahead still 1 mm inside', 'm', 3),
    ('max_foot_length', 'Largest foot length used', 'm', 3),
    ('max_undesired_energy', 'Largest undesired kinetic energy', 'J', 2),
    ('max_gait_distance', 'Largest distance to the gait', 'rad', 2),
)


def observe_energies(
    run: Run,
    values: CurveTrackingParameters | None = None,
) -> dict[str, np.ndarray]:
    """Return the energies along the recorded states of a planar run, whatever its controller.

    Args:
        run: The `Run`.
        values: Of curve tracking, to measure by; None takes those of the run if curve tracking
            ran, else the defaults.

    Returns:
        name -> ``(T,)`` by `FIELDS`: potential energy relative to the stance foot, kinetic energy
        along and across the desired field, their sum, the energy wanted there, distance to the
        gait in the field's metric, and the place on it.

    Raises:
        IncompatibleController: Curve tracking does not know this kind of robot.
        GaitError: The robot has no gait, or another one.
    """
    robot, world = run.robot, run.world
    require(
        robot.is_planar,
        f'energies of {robot.name}',
        limit='need a planar robot',
        error=IncompatibleController,
    )
    if values is None:
        values = CurveTrackingParameters.read(
            run.settings if run.controller == 'curve_tracking' else {}
        )
    terms, parameters = make_terms(Dynamics(robot, world.gravity, world.slope))
    law = build_law(robot, values, world, load_gait(robot, values.gait, world), parameters)
    return _along(run, terms, law)


def _along(run: Run, terms: Terms, law: TrackerLaw) -> dict[str, np.ndarray]:
    known = law.masks.tolist()
    lock_foot = np.array([run.robot.feet.index(lock.foot) for lock in run.robot.locks], int)
    rows = np.full((len(run.time), len(FIELDS)), np.nan)
    before, s, opened = None, np.nan, None
    for row, support in enumerate(run.support.tolist()):
        locked, step = run.locked[row], run.steps[row]
        if before is None or step != before[0]:
            opened = np.zeros(len(locked), bool)
        # for a tick or so after touchdown the knee of the new swing leg waits to be released
        opened |= ~locked
        mask = held_mask(law.coordinate_of, support, locked & (opened | (lock_foot == support)))
        if (step, mask) != before:
            before, s = (step, mask), np.nan
        if mask not in known:
            continue
        motion = observe(
            terms, law.pieces[known.index(mask)], support, s, run.coordinates[row], run.rates[row]
        )
        desired, undesired = 0.5 * motion.nu * motion.nu, 0.5 * motion.rho * motion.rho
        s = motion.s
        rows[row] = (
            motion.potential,
            desired,
            undesired,
            desired + undesired + motion.potential,
            motion.wanted,
            motion.distance,
            s,
        )
    return {name: column for (name, _), column in zip(FIELDS, rows.T, strict=True)}


def measure_response(run: Run, energies: Mapping[str, np.ndarray] | None = None) -> dict[str, Any]:
    """Return the measures of a disturbed walk of a planar robot, ready for JSON.

    Args:
        run: The `Run`.
        energies: What `observe_energies` gives; None: without.

    Returns:
        Dictionary: ``survived``, ``reason`` why not, in words, ``fault`` and ``fault_time`` (s) of
        the fault that ended it, ``disturbed`` (whether the disturbance came before the end), and
        the keys of `MEASURES` in SI units. Squared efforts are integrals over the whole steps
        before the one that ends at the disturbance, and from that one on, over their number: a
        walker meets another floor while its foot is still in the air. Injected and absorbed energy
        are summed over ticks, each actuator for itself. The step of a fault, such as a fall, counts
        as a whole one, the reaction to it not as an effort. The foot length is how far from the
        ankle the centre of pressure would have to lie: ground torque over normal force, while the
        foot carries at least 5 % of the weight; None without a driven ankle.
    """
    whole, end = summarize(run), quantities.ending(run)
    row = quantities.disturbed_row(run)
    begins = quantities.touchdowns(run)
    if run.broke_off:
        begins = np.append(begins, len(run.time) - 1)
    at = len(begins) - 1 if row is None else int(np.searchsorted(begins, row)) - 1
    work = np.diff(run.work, axis=0)
    effort = run.effort[:-1] if run.broke_off else run.effort
    undesired, away = (
        None if energies is None else quantities.largest(energies[name])
        for name in ('kinetic_energy_undesired', 'gait_distance')
    )
    measures = {
        'survived': not run.broke_off,
        'reason': quantities.failure(end),
        'fault': end['fault'],
        'fault_time': end['fault_time'],
        'disturbed': row is not None,
        **{
            name: whole[name]
            for name in (
                'steps',
                'duration',
                'speed',
                'min_normal_force',
                'max_friction_ratio',
                *DEPTHS,
            )
        },
        'peak_effort': quantities.largest(np.abs(effort)),
        'squared_effort_before': _squared_effort(run, begins[: at + 1]),
        'squared_effort_after': _squared_effort(run, begins[at:]),
        'energy_injected': np.maximum(work, 0.0).sum(),
        'energy_absorbed': np.maximum(-work, 0.0).sum(),
        'max_foot_length': _foot_length(run, whole['mass'] * whole['gravity']),
        'max_undesired_energy': undesired,
        'max_gait_distance': away,
    }
    return dict(plain(measures))


def _squared_effort(run: Run, begins: np.ndarray) -> float | None:
    """Return the integral of the squared efforts from first to last of some touchdowns / steps."""
    if len(begins) < 2:
        return None
    return quantities.squared_effort(run, begins[0], begins[-1]) / (len(begins) - 1)


def _foot_length(run: Run, weight: float) -> float | None:
    if run.robot.ground_torque is None:
        return None
    # the floor's force of a row answers the effort held until then
    rows = np.arange(1, len(run.time))
    normal = run.foot_force[rows, run.support[rows], 2]
    loaded = (normal >= quantities.LOADED * weight) & (np.diff(run.support) == 0)
    return quantities.largest(np.abs(run.effort[rows - 1, -1][loaded]) / normal[loaded])
