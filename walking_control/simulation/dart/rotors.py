# SPDX-License-Identifier: Apache-2.0
"""Steps of a robot in DART with the inertia of its rotors, which DART's joints do not have.

Rotors behind gears add a constant diagonal J to the mass matrix M of the links. A step goes free
first and is stopped afterwards:

- Free: DART takes damping d of joints implicitly, ``(M + dt d) a = tau - d v - ...``. With
  ``d = J / dt`` and ``d v`` added to the torque that is ``(M + J) a = tau - ...``, exactly.
- Contacts, stops, locks and dry friction are impulses g on the coordinates, which DART finds from
  the mass matrix of links alone. They ought to be those of ``M' = M + J``:
  ``v = v_free + M'^-1 g``. So DART is given another velocity ``v_free + (M'^-1 - W^-1) g`` to
  start from, W the mass matrix it has; what it answers is g anew. Where g repeats itself DART has
  solved for the contacts of M'.

The closer W is to M', the sooner: an error in g shrinks by ``1 - A' A^-1`` each time, with A and A'
the inverse inertias at the contacts, between the extreme values e of ``W x = e M' x``. So the
impulses are found on a second skeleton, whose links carry a share of their motor's J about the
joint; the share is the one that keeps all e closest to 1 (0 and 2 are the limits). Anderson's
acceleration and the impulses of the last two steps, continued in a line, do the rest.

The velocity taken is ``v_free + M'^-1 g``: whatever remains of the error, momentum and friction
are those of the impulses that act.

Friction that resists the turning of feet about the floor's normal, which DART does not have.

The torque about the normal of each foot stops its turning, up to the friction, the normal force
and a radius: ``|t| <= mu r N``. It acts in the next step, from the rate of turning w after this:
``t = i - G w``, and ``i <- i - G w / 2`` holds against a lasting torque without creeping; both are
clamped. G is what would stop the foot in a step if nothing else touched it. With contacts it turns
less easily, by a share s of that: ``det = 1 - s``, ``trace = 2 - 3 s / 2``, whose roots lie inside
the unit circle for all s up to 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

TOLERANCE = 1e-4  # m/s and rad/s: a contact or stop may move by that
MOST = 20  # solutions of all contacts per step
MEMORY = 4  # solutions Anderson's acceleration looks back on
SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)


class Stepper:
    """Advances one robot.

    Args:
        links: The robot's skeleton, in no world; moved by forces.
        contact: Another one, in the world; stopped by impulses.
        world: DART's world.
        inertia: Of the rotor of each degree of freedom as felt at its joint, kg m^2.

    Attributes:
        links: As given.
        worst: Largest error so far, m/s and rad/s.
    """

    def __init__(
        self, dart: Any, links: Any, contact: Any, world: Any, inertia: np.ndarray
    ) -> None:
        self.links, self._contact = links, contact
        self._solver, self._timestep = world.getConstraintSolver(), world.getTimeStep()
        self._inertia = inertia
        self._rotors = np.diag(inertia)
        self._rate = inertia / self._timestep
        self._has_rotors = bool(inertia.any())
        for i in np.flatnonzero(inertia):
            dof = links.getDof(int(i))
            dof.setDampingCoefficient(dof.getDampingCoefficient() + self._rate[i])
        if self._has_rotors:
            self._load_links(dart)
        self.reset()

    def _load_links(self, dart: Any) -> None:
        """Give the links of the second skeleton their share of the rotors."""
        whole = self.mass_matrix()
        spreads = []
        for share in SHARES:
            _carry(dart, self.links, self._contact, share * self._inertia)
            values = np.linalg.eigvals(np.linalg.solve(whole, self._contact.getMassMatrix())).real
            spreads.append(max(1.0 - values.min(), values.max() - 1.0))
        self.share = SHARES[int(np.argmin(spreads))]
        _carry(dart, self.links, self._contact, self.share * self._inertia)

    def reset(self) -> None:
        """Begin a run: nothing has been touched yet."""
        self.worst = 0.0
        self._impulse = self._impulse_before = np.zeros(self.links.getNumDofs())

    def mass_matrix(self) -> np.ndarray:
        """Return the mass matrix with the rotors."""
        return np.asarray(self.links.getMassMatrix() + self._rotors)

    def step(self, force: np.ndarray) -> None:
        """Advance by a timestep under generalised forces, N m and N."""
        links = self.links
        links.setForces(force + self._rate * links.getVelocities())
        self._contact.setPositions(links.getPositions())
        whole = self.mass_matrix() if self._has_rotors else None
        links.computeForwardDynamics()
        links.integrateVelocities(self._timestep)
        self._stop(links.getVelocities(), whole)
        links.integratePositions(self._timestep)

    def _solve(self, velocity: np.ndarray) -> np.ndarray:
        """Return what contacts, stops and locks make of a velocity."""
        contact = self._contact
        contact.setVelocities(velocity)
        self._solver.solve()
        if not contact.isImpulseApplied():
            return velocity
        contact.computeImpulseForwardDynamics()
        contact.setImpulseApplied(False)
        return np.asarray(contact.getVelocities())

    def _stop(self, free: np.ndarray, whole: np.ndarray | None) -> None:
        """Let contacts, stops and locks act."""
        if whole is None:
            self.links.setVelocities(self._solve(free))
            return
        weight = self._contact.getMassMatrix()
        factor, weight_factor = dpotrf(whole)[0], dpotrf(weight)[0]
        g = 2.0 * self._impulse - self._impulse_before
        tried: list[np.ndarray] = []
        found: list[np.ndarray] = []
        for _ in range(MOST):
            before = free + dpotrs(factor, g)[0] - dpotrs(weight_factor, g)[0]
            after = self._solve(before)
            answer = weight @ (after - before)
            stopped = free + dpotrs(factor, answer)[0]
            apart = float(np.abs(stopped - after).max())
            if apart < TOLERANCE:
                break
            tried, found = [*tried[-MEMORY:], g], [*found[-MEMORY:], answer - g]
            g = _accelerate(tried, found)
        self.worst = max(self.worst, apart)
        self._impulse_before, self._impulse = self._impulse, answer
        self.links.setVelocities(stopped)


def _accelerate(tried: list[np.ndarray], found: list[np.ndarray]) -> np.ndarray:
    """Return the next guess after some guesses and their errors, by Anderson's acceleration."""
    g, error = tried[-1], found[-1]
    result: np.ndarray = g + error
    if len(tried) == 1:
        return result
    steps = np.diff(np.array(tried), axis=0)
    changes = np.diff(np.array(found), axis=0)
    part = np.linalg.lstsq(changes.T, error, rcond=1e-8)[0]
    result -= part @ (steps + changes)
    return result


def _carry(dart: Any, links: Any, contact: Any, inertia: np.ndarray) -> None:
    """Give each link of the second skeleton inertia about the joint that turns it, kg m^2."""
    for i in np.flatnonzero(inertia):
        name = links.getDof(int(i)).getName()
        joint = links.getJoint(name)
        if not hasattr(joint, 'getAxis') or 'Revolute' not in joint.getType():
            continue
        body, other = (each.getJoint(name).getChildBodyNode() for each in (links, contact))
        axis = joint.getTransformFromChildBodyNode().matrix()[:3, :3] @ joint.getAxis()
        own = body.getInertia()
        other.setInertia(
            dart.dynamics.Inertia(
                own.getMass(),
                own.getLocalCOM(),
                own.getMoment() + inertia[i] * np.outer(axis, axis),
            )
        )


class Torsion:
    """Torques on the feet of one skeleton.

    Args:
        links: DART's skeleton that forces move.
        feet: Its bodies that are feet.
        radius: Friction times radius, m; 0: none.
        timestep: s.
    """

    def __init__(self, links: Any, feet: Sequence[Any], radius: float, timestep: float) -> None:
        self._links, self._feet, self._radius, self._timestep = links, feet, radius, timestep
        self.acts = radius > 0.0
        self.reset(np.eye(links.getNumDofs()))

    def reset(self, mass_matrix: np.ndarray) -> None:
        """Begin a run from the posture the skeleton has, with its mass matrix and rotors."""
        inverse = np.linalg.inv(mass_matrix)
        self._held = self._torque = np.zeros(len(self._feet))
        rows = [self._links.getAngularJacobian(foot)[2] for foot in self._feet]
        self._gain = np.array(
            [1.0 / (self._timestep * float(row @ inverse @ row) + 1e-12) for row in rows]
        )

    def apply(self) -> None:
        """Add the torques to the external forces of the coming step."""
        for foot, torque in zip(self._feet, self._torque.tolist()):
            if torque != 0.0:
                foot.addExtTorque(np.array([0.0, 0.0, torque]), False)

    def follow(self, normal_force: np.ndarray) -> None:
        """Find the torques after a step with the normal force on each foot, N."""
        rate = np.array([foot.getAngularVelocity()[2] for foot in self._feet])
        limit, stopping = self._radius * np.maximum(normal_force, 0.0), self._gain * rate
        self._held = np.clip(self._held - 0.5 * stopping, -limit, limit)
        self._torque = np.clip(self._held - stopping, -limit, limit)
