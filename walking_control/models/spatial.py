# SPDX-License-Identifier: Apache-2.0
"""Free-flyer statics and kinematics of any robot, straight from its URDF, by Pinocchio.

The base may have any position and orientation; gravity points along the world's -z. Nothing here
needs a robot file. Positions and efforts are arrays in the order of `SpatialDynamics.joints`.
"""

from collections.abc import Mapping
from difflib import get_close_matches
import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput, MeasurementError, UrdfError
from walking_control.models.urdf import MOVING, moving_joints, parse

ROOT = 6
_UNIT_TOLERANCE = 1e-3


class SpatialDynamics:
    """Floating-base model of a robot in space.

    The generalised velocity is the base twist in the base frame (linear, then angular), then the
    joint rates. Motor inertia plays no part in statics and is left out.

    Args:
        urdf: URDF text.
        gravity: Magnitude, m/s^2.
        name: How messages call the robot.

    Raises:
        UrdfError: Pinocchio cannot build the model, or a joint has several degrees of freedom.
    """

    def __init__(self, urdf, gravity=9.81, name='robot'):
        for element in parse(urdf, name).findall('joint'):
            if element.get('type') not in (*MOVING, 'fixed'):
                raise UrdfError(f'joint {element.get("name")} of {name}',
                                value=element.get('type'),
                                limit='must be fixed, ' + ', '.join(MOVING))
        try:
            self.model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
        except (ValueError, RuntimeError) as error:
            raise UrdfError(f'URDF of {name}', limit=f'Pinocchio refuses it: {error}') from error
        self.name = name
        self.model.gravity.linear = np.array([0.0, 0.0, -gravity])
        self.joints = tuple(self.model.names)[2:]
        self.limits = {joint.name: joint for joint in moving_joints(urdf)}
        self._index_q, self._wound = self._position_indices()
        self.data = self.model.createData()
        self.weight = pin.computeTotalMass(self.model) * gravity

    def _position_indices(self):
        """Return each joint's index in q, and the positions in it of those stored as cos, sin."""
        indices, wound = [], []
        for i, joint in enumerate(self.joints):
            model = self.model.joints[self.model.getJointId(joint)]
            indices.append(model.idx_q)
            if model.nq == 2:
                wound.append(i)
        return np.array(indices, dtype=int), tuple(wound)

    def effort_limits(self):
        """Return the URDF's effort limits, ``(n_joints,)``, N m or N (inf where it gives none)."""
        return np.array([self.limits[joint].effort for joint in self.joints])

    def frame(self, name, offset=(0.0, 0.0, 0.0)):
        """Return the id of a URDF frame, or of a new one beside it.

        Args:
            name: A link or fixed joint of the URDF.
            offset: Where the new frame lies, in the axes of the named one, m; zero makes none.

        Raises:
            InvalidInput: There is no such frame.
        """
        if not self.model.existFrame(name):
            known = [frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY]
            near = get_close_matches(str(name), known, n=3)
            raise InvalidInput(f'frame {name}', limit=f'is not a frame of {self.name}',
                               remedy=(f'did you mean {", ".join(near)}? ' if near else '')
                               + 'known: ' + ', '.join(known))
        parent = self.model.getFrameId(name)
        if not any(offset):
            return parent
        place = self.model.frames[parent].placement * pin.SE3(np.eye(3), np.array(offset, float))
        created = pin.Frame(f'{name} + {tuple(offset)}', self.model.frames[parent].parentJoint,
                            parent, place, pin.FrameType.OP_FRAME)
        frame = self.model.addFrame(created, False)
        self.data = self.model.createData()
        return frame

    def positions(self, values):
        """Return joint positions in our order from a mapping of name to value.

        Args:
            values: Mapping, any order, every joint of the robot, rad or m.

        Raises:
            MeasurementError: A joint is missing or not finite.
            InvalidInput: A name is no joint of the robot.
        """
        for name in values:
            if name not in self.limits:
                near = get_close_matches(str(name), self.joints, n=3)
                raise InvalidInput(f'joint {name}', limit=f'is not a moving joint of {self.name}',
                                   remedy='known: ' + ', '.join(near or self.joints))
        missing = [joint for joint in self.joints if joint not in values]
        if missing:
            raise MeasurementError('position of joint ' + ', '.join(missing), limit='is missing',
                                   remedy='give every moving joint of the URDF')
        array = np.array([values[joint] for joint in self.joints], dtype=float)
        self._check_finite(array)
        return array

    def _check_finite(self, positions):
        if not math.isfinite(positions.sum()):
            bad = self.joints[int(np.argmin(np.isfinite(positions)))]
            raise MeasurementError(f'position of joint {bad}',
                                   value=float(positions[self.joints.index(bad)]),
                                   limit='must be finite')

    def configuration(self, positions, orientation=(0.0, 0.0, 0.0, 1.0), position=(0.0, 0.0, 0.0),
                      out=None):
        """Return Pinocchio's configuration vector.

        Args:
            positions: Joint positions in our order, ``(n_joints,)``, or a mapping by name.
            orientation: Base frame to world, quaternion xyzw; made unit within 1e-3 of it.
            position: Base origin in the world, m; of no influence on torques and wrenches.
            out: Where to write it, ``(nq,)``.

        Raises:
            MeasurementError: A joint is missing or a number is not finite, or the quaternion is
                not a unit one.
        """
        if isinstance(positions, Mapping):
            positions = self.positions(positions)
        else:
            positions = np.asarray(positions, dtype=float)
            if positions.shape != (len(self.joints),):
                raise MeasurementError('joint positions', value=positions.shape,
                                       limit=f'must hold {len(self.joints)} numbers')
            self._check_finite(positions)
        q = np.zeros(self.model.nq) if out is None else out
        q[:3] = position
        q[3:7] = unit_quaternion(orientation)
        q[self._index_q] = positions
        for i in self._wound:
            index = self._index_q[i]
            q[index], q[index + 1] = math.cos(positions[i]), math.sin(positions[i])
        return q

    def joint_positions(self, q):
        """Return the joint positions of a configuration, ``(n_joints,)``, rad or m."""
        positions = q[self._index_q]
        for i in self._wound:
            index = self._index_q[i]
            positions[i] = math.atan2(q[index + 1], q[index])
        return positions

    def gravity_efforts(self, q):
        """Return the generalised gravity g(q), ``(nv,)``: base wrench, then joints, N and N m."""
        return pin.computeGeneralizedGravity(self.model, self.data, q)

    def frame_jacobian(self, q, frame):
        """Return the Jacobian of a frame in its own axes, ``(6, nv)``, linear rows first."""
        return pin.computeFrameJacobian(self.model, self.data, q, frame, pin.LOCAL)

    def placement(self, q, frame):
        """Return position ``(3,)`` and rotation ``(3, 3)`` of a frame in the world."""
        pin.framesForwardKinematics(self.model, self.data, q)
        place = self.data.oMf[frame]
        return place.translation.copy(), place.rotation.copy()

    def center_of_mass(self, q):
        """Return the centre of mass in the world, ``(3,)``, m."""
        return pin.centerOfMass(self.model, self.data, q).copy()


def unit_quaternion(quaternion):
    """Return the quaternion scaled to unit length.

    Raises:
        MeasurementError: It is not finite, or its length is further than 1e-3 from 1.
    """
    x, y, z, w = quaternion
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:
        raise MeasurementError('base orientation', value=[float(x), float(y), float(z), float(w)],
                               limit='must be a unit quaternion (xyzw), its length is '
                               f'{length:.6g}')
    return x / length, y / length, z / length, w / length
