# SPDX-License-Identifier: Apache-2.0
"""Fully actuated mechanical systems to try tracking laws on: M, velocity and potential forces."""

import numpy as np
import pinocchio as pin

from walking_control.controllers.curve_tracking import forces as curve_law
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.support.dynamics import SupportDynamics


class PointMass:
    """A mass in n dimensions without potential."""

    def __init__(self, n, mass=1.0):
        self.n, self.mass = n, mass

    def inertia(self, q):
        """Return the mass matrix."""
        return self.mass * np.eye(self.n)

    def bias(self, q, v):
        """Return velocity and potential forces."""
        return np.zeros(self.n)


class Pinned:
    """A walker fixed to the floor at its stance foot."""

    def __init__(self, name):
        robot = load_robot(name).robot
        self.support = SupportDynamics(Dynamics(robot, slope=0.05))
        self.n = len(robot.coordinates)

    def _parts(self, q, v):
        return self.support.layout.split(self.support.terms(0, q, v))

    def inertia(self, q):
        """Return the mass matrix."""
        return self._parts(q, np.zeros(self.n))['mass'][2:, 2:].copy()

    def bias(self, q, v):
        """Return velocity and potential forces."""
        return self._parts(q, v)['bias'][2:].copy()


class Arm:
    """Six revolute joints about changing axes, with offsets and full inertias."""

    n = 6

    def __init__(self):
        rng = np.random.default_rng(7)
        self.model, parent = pin.Model(), 0
        joints = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)
        for i in range(self.n):
            place = pin.SE3(pin.exp3(rng.normal(size=3)), rng.uniform(-0.4, 0.4, 3))
            parent = self.model.addJoint(parent, joints[i % 3](), place, f'joint_{i}')
            body = pin.Inertia(
                1.0 + rng.uniform(), rng.uniform(-0.2, 0.2, 3), np.diag(rng.uniform(0.05, 0.06, 3))
            )
            self.model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        self.data = self.model.createData()

    def inertia(self, q):
        """Return the mass matrix."""
        M = pin.crba(self.model, self.data, q)
        return np.triu(M) + np.triu(M, 1).T

    def bias(self, q, v):
        """Return velocity and potential forces."""
        return pin.nonLinearEffects(self.model, self.data, q, v).copy()


def split(system, q, v, w, dw):
    """Return (M, e, m, r, nu, rho, M b, gradient) of a state, by the law's own functions."""
    n, M = system.n, system.inertia(q)
    e, m, r, turn = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    nu, rho, length = curve_law.split_velocity(M, w, v, e, m, r)
    velocity = 0.25 * (system.bias(q, v + w) - system.bias(q, v - w))
    curve_law.turn_of(M @ dw + velocity, length, e, m, turn)
    return M, e, m, r, nu, rho, turn, system.bias(q, np.zeros(n))


def filled(function, *arguments):
    """Return what a function writes into its last argument, as long as its first vector."""
    out = np.zeros(next(len(a) for a in arguments if np.ndim(a) == 1))
    function(*arguments, out)
    return out
