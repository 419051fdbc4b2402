# SPDX-License-Identifier: Apache-2.0
"""The energies of any walk as curve tracking sees them ([DS09] Figs. 5.8b and 5.10b).

An observer, not a controller: the field, the split of the velocity and the potential energy are
the law's own functions (`controllers.curve_tracking.observation`), applied to recorded states.
Potential energy counts from the stance foot, so on a steady gait it begins each step at the same
value, as in the book.
"""


import numpy as np

from walking_control.controllers.curve_tracking.controller import build_pieces, load_gait
from walking_control.controllers.curve_tracking.observation import observe
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.curve_tracking.tick import held_mask, TrackerData
from walking_control.exceptions import IncompatibleController
from walking_control.models.array_functions import Terms
from walking_control.models.dynamics import Dynamics
from walking_control.models.support.compiled import make_terms
from walking_control.runs.run import Run

# name and unit of each entry, with the names of the law's telemetry
FIELDS = (('potential_energy', 'J'), ('kinetic_energy_desired', 'J'),
          ('kinetic_energy_undesired', 'J'), ('energy', 'J'), ('desired_energy', 'J'),
          ('gait_distance', 'rad'), ('gait_phase', 's'))


def observe_energies(run: Run, values: CurveTrackingParameters | None = None,
                     ) -> dict[str, np.ndarray]:
    """Return the energies along the recorded states of a run, whatever its controller.

    Args:
        run: The `Run` of a planar robot that has a gait.
        values: Validated values of curve tracking's parameters: gait, field and metric to measure
            by. None takes those of the run if curve tracking ran, else the defaults.

    Returns:
        name -> ``(T,)`` by `FIELDS`: potential energy relative to the stance foot, kinetic energy
        along and across the desired field, their sum, the energy wanted there, distance to the
        gait in the field's metric, and the place on it.

    Raises:
        IncompatibleController: Curve tracking does not know this kind of robot.
        GaitError: The robot has no gait, or another one.
    """
    robot, world = run.robot, run.world
    if not robot.is_planar:
        raise IncompatibleController(f'energies of {robot.name}', limit='need a planar robot')
    if values is None:
        values = CurveTrackingParameters.read(
            run.settings if run.controller == 'curve_tracking' else {})
    terms, parameters = make_terms(Dynamics(robot, world.gravity, world.slope))
    pieces = build_pieces(robot, values, world, load_gait(robot, values.gait, world), parameters)
    return _along(run, terms, *pieces)


def _along(run: Run, terms: Terms, pieces: tuple[TrackerData, ...], masks: np.ndarray,
           coordinate_of: np.ndarray) -> dict[str, np.ndarray]:
    known = masks.tolist()
    lock_foot = np.array([run.robot.feet.index(lock.foot) for lock in run.robot.locks], int)
    rows = np.full((len(run.time), len(FIELDS)), np.nan)
    before, s, opened = None, np.nan, None
    for row, support in enumerate(run.support.tolist()):
        locked, step = run.locked[row], run.steps[row]
        if before is None or step != before[0]:
            opened = np.zeros(len(locked), bool)
        # for a tick or so after touchdown the knee of the new swing leg waits to be released
        opened |= ~locked
        mask = held_mask(coordinate_of, support, locked & (opened | (lock_foot == support)))
        if (step, mask) != before:
            before, s = (step, mask), np.nan
        if mask not in known:
            continue
        motion = observe(terms, pieces[known.index(mask)], support, s, run.coordinates[row],
                         run.rates[row])
        desired, undesired = 0.5 * motion.nu * motion.nu, 0.5 * motion.rho * motion.rho
        s = motion.s
        rows[row] = (motion.potential, desired, undesired, desired + undesired + motion.potential,
                     motion.wanted, motion.distance, s)
    return {name: column for (name, _), column in zip(FIELDS, rows.T, strict=True)}
