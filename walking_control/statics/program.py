# SPDX-License-Identifier: Apache-2.0
"""The quadratic program of a static posture, assembled in place.

The variables are the contact wrenches alone: torques follow from them, so torque limits are
inequalities on the wrenches too. Rows: six base equations; the fixed inequalities of every
contact; a cap on every normal force; the upper, then the lower torque limit of every joint that a
contact loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput, require
from walking_control.models import Dynamics, ROOT
from walking_control.statics import (
    Contact,
    fill_program,
    judge_forces,
    MAX_FORCE,
    Shortfall,
    solvers,
    TORQUE,
    UNILATERAL,
    wrench_bounds,
    wrench_limits,
)

if TYPE_CHECKING:
    from walking_control.statics.distributor import Objective

EQUALITY_TOLERANCE = 1e-8  # of the weight (at least 1 N): error left in the base equations
LIMIT_TOLERANCE = 1e-7  # of the weight: numerical overstepping of a limit that is forgiven


class StaticProgram:
    """Quadratic program of one support.

    Args:
        contacts: name -> `Contact`, those in use.
        frames: Frame id of each.
        effort_limits: ``(n_joints,)``, N m.
        joint_weights: ``(n_joints,)``.

    Raises:
        InvalidInput: There is no contact.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        contacts: Mapping[str, Contact],
        frames: Sequence[int],
        objective: Objective,
        effort_limits: np.ndarray,
        joint_weights: np.ndarray,
    ) -> None:
        self.dynamics, self.contacts, self.frames = dynamics, contacts, frames
        self.support = tuple(contacts)
        self._objective = objective
        self.effort_limits = effort_limits
        self.is_single = len(contacts) == 1
        self.tolerance = LIMIT_TOLERANCE * dynamics.weight
        self.equality_tolerance = EQUALITY_TOLERANCE * max(1.0, dynamics.weight)
        self.is_few_points = len(contacts) < 3 and all(c.is_point for c in contacts.values())
        require(contacts, 'support', value=list(contacts), limit='needs a contact')
        self._loaded = loaded_joints(dynamics, frames)
        self._columns = ROOT + self._loaded
        self._limited = np.flatnonzero(np.isfinite(effort_limits[self._loaded]))
        self._free = np.setdiff1d(np.flatnonzero(np.isfinite(effort_limits)), self._loaded)
        self._free_limits = effort_limits[self._free]
        self._free = self._free + ROOT
        self._lay_out(joint_weights)

    def _lay_out(self, joint_weights: np.ndarray) -> None:
        """Allocate the problem and fill in what does not depend on the configuration."""
        objective, names = self._objective, self.support
        ends = np.cumsum([contact.size for contact in self.contacts.values()])
        self.slices = [
            slice(end - contact.size, end) for end, contact in zip(ends, self.contacts.values())
        ]
        self._sizes = [contact.size for contact in self.contacts.values()]
        # points that stand on the floor's normal, whatever the link's axes
        self._upright = [
            contact.is_point and contact.rotation is None for contact in self.contacts.values()
        ]
        n, k = int(ends[-1]), len(self._limited)
        blocks, bound, self.labels = [], [], []
        for name, contact, part in zip(names, self.contacts.values(), self.slices):
            rows, limits = wrench_limits(contact)
            block = np.zeros((1 + len(rows), n))
            block[0, part.start + 2] = 1.0
            block[1:, part] = rows
            blocks.append(block)
            bound += [contact.min_force - contact.adhesion, *wrench_bounds(contact, rows, limits)]
            self.labels += [(limit, name) for limit in (UNILATERAL, *limits)]
        caps = np.zeros((len(names), n))
        for i, part in enumerate(self.slices):
            caps[i, part.start + 2] = -1.0
        fixed = np.vstack((*blocks, caps))
        self._caps = slice(ROOT + len(bound), ROOT + len(fixed))
        self._upper = slice(self._caps.stop, self._caps.stop + k)
        self._lower = slice(self._upper.stop, self._upper.stop + k)
        joints = [self.dynamics.joints[self._loaded[i]] for i in self._limited]
        self.labels += [(MAX_FORCE, name) for name in names]
        self.labels += [(TORQUE, joint) for joint in joints + joints]
        self.problem = solvers.Problem(
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros((self._lower.stop, n)),
            np.zeros(self._lower.stop),
            ROOT,
        )
        self.problem.rows[ROOT : self._caps.stop] = fixed
        self.problem.bound[ROOT : self._caps.start] = bound
        self._jacobian = np.zeros((n, self.dynamics.model.nv))
        self.weigh(joint_weights)
        norm = [1.0, 1.0, 1.0, *[objective.moment_length**-2] * 3]
        scale = np.concatenate([norm[:size] for size in self._sizes])
        self._force_hessian = np.diag((objective.force + objective.regularisation) * scale)
        self._limits = self.effort_limits[self._loaded[self._limited]]
        self.gravity = np.zeros(self.dynamics.nv)
        self.violation: solvers.Problem | None = None  # laid out when first needed
        self._own_caps = {
            name: min(contact.max_force, solvers.NO_BOUND)
            for name, contact in self.contacts.items()
        }
        self._capped = True
        self.fill_caps(None)

    def weigh(self, joint_weights: np.ndarray) -> None:
        """Set the factors on squared torques, ``(n_joints,)``."""
        self._torque_weights = self._objective.torque * joint_weights[self._loaded]

    def jacobian(self, q: np.ndarray, index: int) -> np.ndarray:
        """Return the Jacobian of a contact in its axes, ``(size, nv)``.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            index: Of the contact.
        """
        if self._upright[index]:
            return self.dynamics.point_jacobian(q, self.frames[index])
        return self.dynamics.frame_jacobian(q, self.frames[index])[: self._sizes[index]]

    def fill_caps(self, caps: Mapping[str, float] | None) -> None:
        """Write the largest normal forces, N: each contact's own, or the given ones if smaller."""
        if not caps and not self._capped:
            return
        caps = caps or {}
        for name, cap in caps.items():
            if name not in self._own_caps:
                raise InvalidInput(
                    f'cap of {name}',
                    value=cap,
                    limit='is no contact of the support: ' + ', '.join(self.support),
                )
            if not cap >= self.contacts[name].min_force:
                raise InvalidInput(
                    f'cap of {name}',
                    value=cap,
                    limit='must be a force of at '
                    f'least its min_force ({self.contacts[name].min_force:g} N)',
                )
        for i, (name, cap) in enumerate(self._own_caps.items(), self._caps.start):
            self.problem.bound[i] = -min(cap, caps.get(name, cap))
        self._capped = bool(caps)

    @property
    def contact_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and bounds of the contacts' own limits."""
        return self.problem.rows[ROOT : self._caps.stop], self.problem.bound[ROOT : self._caps.stop]

    def assemble(self, q: np.ndarray, caps: Mapping[str, float] | None = None) -> solvers.Problem:
        """Return the `Problem` at a configuration (the same object every time).

        Args:
            q: Configuration, ``(nq,)``.
            caps: contact -> largest normal force, N.
        """
        problem, jacobian = self.problem, self._jacobian
        gravity = self.gravity = self.dynamics.gravity_efforts(q)
        for index, part in enumerate(self.slices):
            jacobian[part] = self.jacobian(q, index)
        self.fill_caps(caps)
        fill_program(
            gravity,
            jacobian,
            self._columns,
            self._limited,
            self._torque_weights,
            self._limits,
            self._force_hessian,
            problem.hessian,
            problem.gradient,
            problem.rows,
            problem.bound,
            self._upper.start,
            self._lower.start,
        )
        return problem

    def judge(self, forces: np.ndarray) -> tuple[np.ndarray, float | None, bool]:
        """Return ``(torque, residual, overload)`` of forces; no residual if a limit breaks.

        This, not a solver's word, decides what counts as a solution.

        Args:
            forces: ``(n,)``.

        Returns:
            Joint torques, ``(n_joints,)``, N m; largest error of the base equations, N and N m, or
            None when it or a limit is beyond tolerance; whether a joint that no contact loads is
            beyond its limit.
        """
        efforts, equality, shortfall, overload = judge_forces(
            self.gravity,
            self._jacobian,
            self.problem.rows,
            self.problem.bound,
            forces,
            self._free,
            self._free_limits,
        )
        good = equality <= self.equality_tolerance and shortfall <= self.tolerance
        return efforts[ROOT:], equality if good else None, overload > self.tolerance

    def wrenches(self, forces: np.ndarray) -> dict[str, np.ndarray]:
        """Return contact -> wrench in its sole frame, ``(6,)``, N and N m."""
        return {
            name: np.append(forces[part], np.zeros(ROOT - (part.stop - part.start)))
            for name, part in zip(self.support, self.slices)
        }

    def overloads(self) -> tuple[Shortfall, ...]:
        """Return the shortfalls of joints that no contact loads (arms, head), worst first."""
        over = (abs(self.gravity[self._free]) - self._free_limits).tolist()
        order = sorted(
            (i for i, value in enumerate(over) if value > self.tolerance), key=lambda i: -over[i]
        )
        return tuple(
            Shortfall(TORQUE, self.dynamics.joints[self._free[i] - ROOT], over[i]) for i in order
        )


def loaded_joints(dynamics: Dynamics, frames: Sequence[int]) -> np.ndarray:
    """Return the indices of the joints between the base and any of the frames, sorted.

    Args:
        dynamics: `Dynamics` of the robot.
        frames: Of the contacts, by index.
    """
    model, loaded = dynamics.model, set()
    for frame in frames:
        loaded.update(model.supports[model.frames[frame].parentJoint])
    return np.array(
        [i for i, joint in enumerate(dynamics.joints) if model.getJointId(joint) in loaded],
        dtype=int,
    )
