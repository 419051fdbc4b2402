# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of a walker from its URDF, by Pinocchio.

The root joint is added here: planar robots get x, z and pitch (prismatic, prismatic, revolute
about +y), spatial robots a free flyer. Everything is expressed in the floor frame: x along the
floor, z along the floor normal; a slope tilts gravity.
"""

import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import UrdfError

PLANAR_ROOT = 3


def floor_gravity(gravity, slope):
    """Return the gravity vector in the floor frame.

    Args:
        gravity: Magnitude, m/s^2.
        slope: Inclination, rad, downhill positive.

    Returns:
        Vector, m/s^2, ``(3,)``.
    """
    return np.array([gravity * math.sin(slope), 0.0, -gravity * math.cos(slope)])


class PlanarDynamics:
    """Floating-base dynamics of a planar robot.

    Generalised coordinates: ``q = [x, z, pitch, joints...]`` of the base link in the floor frame,
    joints in the robot's order; velocities likewise. Motor inertia (armature) is included.

    Args:
        robot: The `Robot`.
        gravity: Magnitude, m/s^2.
        slope: Inclination of the floor, rad, downhill positive.

    Raises:
        UrdfError: Pinocchio cannot build the model, or a joint is continuous.
    """

    def __init__(self, robot, gravity=9.81, slope=0.0):
        root = pin.JointModelComposite(3)
        root.addJoint(pin.JointModelPX())
        root.addJoint(pin.JointModelPZ())
        root.addJoint(pin.JointModelRY())
        try:
            self.model = pin.buildModelFromXML(robot.urdf, root)
        except (ValueError, RuntimeError) as error:
            raise UrdfError(f'URDF of {robot.name}', limit=f'Pinocchio refuses it: {error}'
                            ) from error
        self.robot = robot
        self.model.gravity.linear = floor_gravity(gravity, slope)
        self._order = self._joint_order()
        for joint, motor in robot.actuators.items():
            self.model.armature[self._velocity_index(joint)] = motor.armature
        self.data = self.model.createData()
        self.frames = {foot: self.model.getFrameId(foot) for foot in robot.feet}
        self.nv = self.model.nv
        self._q = np.zeros(self.nv)
        self._v = np.zeros(self.nv)
        self._zero = np.zeros(self.nv)

    def _velocity_index(self, joint):
        return self.model.joints[self.model.getJointId(joint)].idx_v

    def _joint_order(self):
        """Return for each of our coordinates its place in Pinocchio's."""
        order = list(range(PLANAR_ROOT))
        for joint in self.robot.joints:
            if self.robot.limits[joint].kind == 'continuous':
                raise UrdfError(f'joint {joint}', value='continuous', limit='is not supported',
                                remedy='make it revolute with limits')
            order.append(self._velocity_index(joint))
        return np.array(order)

    @property
    def mass(self):
        """Total mass, kg."""
        return pin.computeTotalMass(self.model)

    def _in(self, q, v=None):
        self._q[self._order] = q
        if v is not None:
            self._v[self._order] = v

    def mass_matrix(self, q):
        """Return the mass matrix, ``(nv, nv)``, kg m^2 and mixed."""
        self._in(q)
        full = pin.crba(self.model, self.data, self._q)
        return full[np.ix_(self._order, self._order)]

    def bias(self, q, v):
        """Return Coriolis, centrifugal and gravity efforts, ``(nv,)``, N and N m."""
        self._in(q, v)
        return pin.nonLinearEffects(self.model, self.data, self._q, self._v)[self._order]

    def potential_energy(self, q):
        """Return the potential energy, J."""
        self._in(q)
        return pin.computePotentialEnergy(self.model, self.data, self._q)

    def kinetic_energy(self, q, v):
        """Return the kinetic energy, J, armature included."""
        v = np.asarray(v)
        return 0.5 * v @ self.mass_matrix(q) @ v

    def place(self, q):
        """Compute all frame placements at q, for `foot_position`."""
        self._in(q)
        pin.framesForwardKinematics(self.model, self.data, self._q)

    def foot_position(self, foot):
        """Return x and z of a foot after `place`, m."""
        x, _, z = self.data.oMf[self.frames[foot]].translation.tolist()
        return x, z

    def foot_rotation(self, foot):
        """Return the rotation from a foot's frame to the floor frame after `place`, ``(3, 3)``."""
        return self.data.oMf[self.frames[foot]].rotation

    def foot_jacobian(self, q, foot):
        """Return d(x, z)/dq of a foot, ``(2, nv)``."""
        self._in(q)
        full = pin.computeFrameJacobian(self.model, self.data, self._q, self.frames[foot],
                                        pin.LOCAL_WORLD_ALIGNED)
        return full[[0, 2]][:, self._order]

    def foot_drift(self, q, v, foot):
        """Return the acceleration (x, z) of a foot when all joint accelerations vanish, m/s^2."""
        self._in(q, v)
        pin.forwardKinematics(self.model, self.data, self._q, self._v, self._zero)
        motion = pin.getFrameClassicalAcceleration(self.model, self.data, self.frames[foot],
                                                   pin.LOCAL_WORLD_ALIGNED)
        return motion.linear[[0, 2]]

    def base_from_coordinates(self, foot, q, v):
        """Return floating-base position and velocity with a foot resting at the origin.

        Args:
            foot: The stance foot.
            q: Minimal coordinates, ``(n_coordinates,)``.
            v: Their rates.

        Returns:
            ``(q, v)`` of the floating base model, each ``(nv,)``.
        """
        inverse = np.linalg.inv(self.robot.supports[foot])
        full_q = np.concatenate(([0.0, 0.0], inverse @ q))
        full_v = np.concatenate(([0.0, 0.0], inverse @ v))
        self.place(full_q)
        full_q[:2] = -np.array(self.foot_position(foot))
        full_v[:2] = -(self.foot_jacobian(full_q, foot) @ full_v)
        return full_q, full_v


def standing_height(robot):
    """Return the height of the base above the lowest foot at zero angles, m."""
    dynamics = PlanarDynamics(robot)
    dynamics.place(np.zeros(dynamics.nv))
    return -min(dynamics.foot_position(foot)[1] for foot in robot.feet)
