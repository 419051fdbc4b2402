# SPDX-License-Identifier: Apache-2.0
"""One step of a spatial walker on a pinned stance foot, by Pinocchio and an adaptive integrator.

Constraint forces of the pinned foot by [DS09] (3.46), touchdown by (4.12); torques collocated with
the minimal coordinates follow a gait as functions of time.

Simplifications: the stance foot neither slips nor lifts (its least normal force is reported); the
base does not turn (see `models.step_equations`).
"""

import numpy as np
import pinocchio as pin

from walking_control.models.contact import constraint_forces, project_velocity
from walking_control.models.dynamics import floor_gravity
from walking_control.models.robot_file import WORLD
from walking_control.models.step_equations import build_model

LATE = 0.5    # share of the gait's period before which a foot near the floor does not touch down
BEYOND = 1.2  # the step is given up at this multiple of the period


class _Pinned:
    """Dynamics of base translation and joints with foot 0 held."""

    def __init__(self, robot, gravity, slope):
        self.model = build_model(robot)
        self.model.gravity.linear = floor_gravity(gravity, slope)
        self.data = self.model.createData()
        self.feet = [self.model.getFrameId(foot) for foot in robot.feet]
        order = [self.model.joints[self.model.getJointId(joint)].idx_v for joint in robot.joints]
        # coordinates (m minimal) -> joints in Pinocchio's order
        self.spread = np.zeros((self.model.nv, len(order)))
        self.spread[order] = np.linalg.inv(robot.supports[robot.feet[0]])

    def jacobian(self, q, foot):
        return pin.computeFrameJacobian(self.model, self.data, q, self.feet[foot],
                                        pin.LOCAL_WORLD_ALIGNED)[:3]

    def position(self, q, foot):
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.feet[foot]].translation.copy()

    def place(self, q, v):
        """Return base and joints with foot 0 at the origin at rest."""
        full_q, full_v = self.spread @ q, self.spread @ v
        full_q[:3] -= self.position(full_q, 0)
        full_v[:3] -= self.jacobian(full_q, 0) @ full_v
        return full_q, full_v

    def mass_matrix(self, q):
        M = pin.crba(self.model, self.data, q)
        return np.triu(M) + np.triu(M, 1).T

    def torque(self, q, v, a):
        """Return the forces on the minimal coordinates a motion takes."""
        full_q, full_v = self.place(q, v)
        M, A = self.mass_matrix(full_q), self.jacobian(full_q, 0).T
        full_a = self.spread @ a
        full_a[:3] -= A.T @ full_a + self.drift(full_q, full_v)
        right = M @ full_a + pin.nonLinearEffects(self.model, self.data, full_q, full_v)
        # the foot's force is what the base translation, free of any motor, leaves over
        force = right[:3]
        return self.spread.T @ (right - A @ force)

    def drift(self, q, v):
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        return pin.getFrameClassicalAcceleration(self.model, self.data, self.feet[0],
                                                 pin.LOCAL_WORLD_ALIGNED).linear

    def accelerate(self, q, v, effort):
        """Return acceleration and force of the floor under efforts on the coordinates."""
        M, A = self.mass_matrix(q), self.jacobian(q, 0).T
        force = np.linalg.pinv(self.spread).T @ effort \
            - pin.nonLinearEffects(self.model, self.data, q, v)
        reaction = constraint_forces(M, A, force, self.drift(q, v))
        return np.linalg.solve(M, force + A @ reaction), reaction


def simulate_spatial_step(robot_file, gait):
    """Return (reason, q, v, period, least normal force) of a step driven by a gait's torques."""
    from scipy.integrate import solve_ivp
    robot, world = robot_file.robot, robot_file.values(WORLD)
    pinned = _Pinned(robot, world.gravity, world.slope)
    nv, normal = pinned.model.nv, [np.inf]

    def effort(t):
        return pinned.torque(*(part[0] for part in gait.motion([t])))

    def rates(t, y):
        a, force = pinned.accelerate(y[:nv], y[nv:], effort(t))
        normal[0] = min(normal[0], force[2])
        return np.concatenate((y[nv:], a))

    def height(t, y):
        return pinned.position(y[:nv], 1)[2] if t > LATE * gait.period else 1.0

    height.terminal, height.direction = True, -1.0
    run = solve_ivp(rates, (0.0, BEYOND * gait.period), np.concatenate(pinned.place(*gait.start)),
                    'DOP853', events=height, rtol=1e-9, atol=1e-10)
    if not len(run.t_events[0]):
        return 'no touchdown', *gait.start, np.nan, normal[0]
    y = run.y_events[0][0]
    q, v = y[:nv], y[nv:]
    v = project_velocity(pinned.mass_matrix(q), pinned.jacobian(q, 1).T, v)
    rows = robot.supports[robot.feet[1]] @ np.linalg.inv(robot.supports[robot.feet[0]])
    joints = np.linalg.pinv(pinned.spread)
    return None, rows @ (joints @ q), rows @ (joints @ v), float(run.t_events[0][0]), normal[0]
