# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics, kinematics and statics of a robot from its URDF, by Pinocchio.

The root joint is added here, as the robot's `Base` has it. Everything is expressed in the floor
frame: x along the floor, z along the floor normal; a slope tilts gravity. Robots that stand on
level ground may take it for the world.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput, refusing, require, UrdfError
from walking_control.models import (
    Base,
    load_urdf,
    moving_joints,
    parse,
    Robot,
    Start,
    without_shapes,
)
from walking_control.models.pose import joint_positions, unit_quaternion
from walking_control.models.urdf_structure import MOVING, root_link


def floor_gravity(gravity: float, slope: float) -> np.ndarray:
    """Return the gravity vector in the floor frame.

    Args:
        gravity: Magnitude, m/s^2.
        slope: Inclination, rad, downhill positive.

    Returns:
        Vector, m/s^2, ``(3,)``.
    """
    return np.array([gravity * math.sin(slope), 0.0, -gravity * math.cos(slope)])


def bare_robot(urdf: str, name: str = 'robot') -> Robot:
    """Return the `Robot` of a URDF alone: free in space, no feet, motors or coordinates.

    Args:
        urdf: URDF text.
        name: How messages call the robot.

    Raises:
        UrdfError: Pinocchio cannot build the model, or a joint has several degrees of freedom.
    """
    model = _build_model(urdf, Base.FREE, name)
    root = root_link(parse(urdf))
    return Robot(
        name,
        urdf,
        root,
        root,
        Base.FREE,
        tuple(model.names)[2:],
        {joint.name: joint for joint in moving_joints(urdf)},
    )


def load_bare_robot(path: Path | str, overrides: Sequence[tuple[str, Any]]) -> Robot:
    """Return the `Robot` of a URDF or xacro file alone, called as the file.

    Args:
        path: File path.
        overrides: Pairs (name, value) for a robot file, which is missing here.

    Raises:
        InvalidInput: There are overrides, or the file is unusable.
    """
    require(
        not overrides,
        'parameter ' + ', '.join(name for name, _ in overrides),
        limit='a URDF alone has none',
        remedy='use a robot file',
    )
    return bare_robot(load_urdf(path), Path(path).name.split('.')[0])


def _build_model(urdf: str, base: Base, name: str) -> pin.Model:
    for element in parse(urdf, name).findall('joint'):
        require(
            element.get('type') in (*MOVING, 'fixed'),
            f'joint {element.get("name")} of {name}',
            value=element.get('type'),
            limit='must be fixed, ' + ', '.join(MOVING),
            error=UrdfError,
        )
    with refusing(
        (ValueError, RuntimeError),
        f'URDF of {name}',
        limit='Pinocchio refuses it: {error}',
        error=UrdfError,
    ):
        return pin.buildModelFromXML(without_shapes(urdf), base.root_joint())


class Dynamics:
    """Floating-base model of a robot.

    Generalised coordinates q are those of the base (see `Base`), then the joints in the robot's
    order, ``(nq,)``; velocities v likewise, ``(nv,)``. Motor inertia (armature) is included.

    `robot`: the `Robot`. `gravity`: magnitude, m/s^2. `slope`: inclination of the floor, rad,
    downhill positive. Attributes: `model` and `data`: pinocchio's. `joints`: names, in the robot's
    order, which is meant wherever no other is named. `pinocchio_order`: place of each of our
    velocities among Pinocchio's, ``(nv,)``. `frames`: foot -> id of its frame.

    Raises:
        UrdfError: Pinocchio cannot build the model, a joint has several degrees of freedom, or one
            of a robot with coordinates is continuous.
    """

    def __init__(self, robot: Robot, gravity: float = 9.81, slope: float = 0.0) -> None:
        self.robot, self.base, self.joints = robot, robot.base, robot.joints
        self.model = _build_model(robot.urdf, robot.base, robot.name)
        self._gravity = floor_gravity(gravity, slope)
        self.accelerate(np.zeros(3))
        self._order_joints()
        for joint, motor in robot.actuators.items():
            self.model.armature[self.model.joints[self.model.getJointId(joint)].idx_v] = (
                motor.armature
            )
        self.data = self.model.createData()
        self.frames = {foot: self.model.getFrameId(foot) for foot in robot.feet}
        self.nv = self.model.nv
        self.nq = robot.base.nq + len(robot.joints)
        self.mass = pin.computeTotalMass(self.model)
        self.weight = self.mass * gravity
        self._axes = list(robot.base.axes)
        self._q = pin.neutral(self.model)
        self._v = np.zeros(self.nv)
        self._zero = np.zeros(self.nv)
        self._upright = self.configuration(np.zeros(len(self.joints)))

    def _order_joints(self) -> None:
        """Find for each of our coordinates its place in Pinocchio's."""
        robot, base = self.robot, self.robot.base
        order_q, order = list(range(base.nq)), list(range(base.nv))
        wound = []  # continuous joints, which Pinocchio stores as cos and sin
        for joint in robot.joints:
            place = self.model.joints[self.model.getJointId(joint)]
            if place.nq == 2:
                wound.append((len(order_q), place.idx_q))
                require(
                    not robot.coordinates,
                    f'joint {joint}',
                    value='continuous',
                    limit='is not supported in minimal coordinates',
                    remedy='make it revolute with limits',
                    error=UrdfError,
                )
            order_q.append(place.idx_q)
            order.append(place.idx_v)
        self._order_q, self.pinocchio_order = np.array(order_q), np.array(order)
        self._wound = tuple(wound)
        self._is_ordered = np.array_equal(order, np.arange(len(order)))

    def configuration(
        self,
        positions: Mapping[str, float] | Sequence[float] | np.ndarray,
        orientation: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0, 1.0),
        position: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the generalised coordinates of a pose, checked.

        Args:
            positions: Joint positions in our order, ``(n_joints,)``, or a mapping by name.
            orientation: Base to floor frame, quaternion xyzw; made unit within 1e-3 of it.
            position: Base origin in the floor frame, m; of no influence on torques and wrenches.
            out: Where to write it, ``(nq,)``.

        Raises:
            MeasurementError: A joint is missing or a number is not finite, or the quaternion is
                not a unit one.
        """
        q = np.zeros(self.nq) if out is None else out
        q[: self.base.nq] = self.base.coordinates(position, unit_quaternion(orientation))
        q[self.base.nq :] = joint_positions(positions, self.joints, self.robot.name)
        return q

    def to_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's configuration of q; a buffer that the next call overwrites."""
        self._q[self._order_q] = q
        for mine, theirs in self._wound:
            self._q[theirs], self._q[theirs + 1] = math.cos(q[mine]), math.sin(q[mine])
        return np.asarray(self._q)

    def from_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """Return our coordinates of Pinocchio's configuration, ``(nq,)``."""
        mine: np.ndarray = q[self._order_q]
        for place, theirs in self._wound:
            mine[place] = math.atan2(q[theirs + 1], q[theirs])
        return mine

    def to_pinocchio_velocity(self, v: np.ndarray) -> np.ndarray:
        """Return Pinocchio's velocity of v; a buffer that the next call overwrites."""
        self._v[self.pinocchio_order] = v
        return self._v

    def _columns(self, matrix: np.ndarray) -> np.ndarray:
        return matrix if self._is_ordered else matrix[:, self.pinocchio_order]

    def effort_limits(self) -> np.ndarray:
        """Return the URDF's effort limits, ``(n_joints,)``, N m or N (inf where it gives none)."""
        return np.array([self.robot.limits[joint].effort for joint in self.joints])

    def frame(
        self,
        name: str,
        offset: Sequence[float] = (0.0, 0.0, 0.0),
        rotation: Sequence[float] | None = None,
    ) -> int:
        """Return the id of a URDF frame, or of a new one beside it.

        Args:
            name: A link or fixed joint of the URDF.
            offset: Where the new frame lies, in the axes of the named one, m.
            rotation: From the new axes to the named one's, quaternion xyzw; None turns nothing.
                Without offset and rotation there is no new frame.

        Raises:
            InvalidInput: There is no such frame.
        """
        if not self.model.existFrame(name):
            known = [frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY]
            near = get_close_matches(str(name), known, n=3)
            raise InvalidInput(
                f'frame {name}',
                limit=f'is not a frame of {self.robot.name}',
                remedy=(f'did you mean {", ".join(near)}? ' if near else '')
                + 'known: '
                + ', '.join(known),
            )
        parent = self.model.getFrameId(name)
        if not any(offset) and rotation is None:
            return int(parent)
        turn = (
            np.eye(3)
            if rotation is None
            else pin.Quaternion(np.array(unit_quaternion(rotation))).matrix()
        )
        place = self.model.frames[parent].placement * pin.SE3(turn, np.array(offset, float))
        created = pin.Frame(
            f'{name} + {tuple(offset)}, {rotation}',
            self.model.frames[parent].parentJoint,
            parent,
            place,
            pin.FrameType.OP_FRAME,
        )
        frame = self.model.addFrame(created, False)
        self.data = self.model.createData()
        return int(frame)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix, ``(nv, nv)``, kg m^2 and mixed."""
        full = pin.crba(self.model, self.data, self.to_pinocchio(q))
        return np.asarray(full[np.ix_(self.pinocchio_order, self.pinocchio_order)])

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return Coriolis, centrifugal and gravity efforts, ``(nv,)``, N and N m.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
        """
        return np.asarray(
            pin.nonLinearEffects(
                self.model, self.data, self.to_pinocchio(q), self.to_pinocchio_velocity(v)
            )[self.pinocchio_order]
        )

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the efforts of a motion, ``(nv,)``: on the base, then joints, N and N m.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
            a: Generalised accelerations, ``(nv,)``.
        """
        rates, accelerations = np.empty((2, self.nv))
        rates[self.pinocchio_order], accelerations[self.pinocchio_order] = v, a
        efforts = pin.rnea(self.model, self.data, self.to_pinocchio(q), rates, accelerations)
        return np.asarray(efforts[self.pinocchio_order])

    def gravity_efforts(self, q: np.ndarray) -> np.ndarray:
        """Return the generalised gravity g(q), ``(nv,)``: on the base, then joints, N and N m."""
        efforts = pin.computeGeneralizedGravity(self.model, self.data, self.to_pinocchio(q))
        return np.asarray(efforts if self._is_ordered else efforts[self.pinocchio_order])

    def accelerate(self, acceleration: np.ndarray) -> None:
        """Weigh as in a body that accelerates (floor axes, m/s^2), until the next call."""
        self.model.gravity.linear = self._gravity - acceleration

    def potential_energy(self, q: np.ndarray) -> float:
        """Return the potential energy, J."""
        return float(pin.computePotentialEnergy(self.model, self.data, self.to_pinocchio(q)))

    def kinetic_energy(self, q: np.ndarray, v: np.ndarray) -> float:
        """Return the kinetic energy, J, armature included.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
        """
        v = np.asarray(v)
        return float(0.5 * v @ self.mass_matrix(q) @ v)

    def place(self, q: np.ndarray) -> None:
        """Compute all frame placements at q, for `foot_position` and `foot_rotation`."""
        pin.framesForwardKinematics(self.model, self.data, self.to_pinocchio(q))

    def move(self, q: np.ndarray, v: np.ndarray) -> None:
        """Compute placements, as `place`, and velocities, for `foot_velocity` as well.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
        """
        pin.forwardKinematics(
            self.model, self.data, self.to_pinocchio(q), self.to_pinocchio_velocity(v)
        )
        pin.updateFramePlacements(self.model, self.data)

    def foot_position(self, foot: str) -> list[float]:
        """Return x, y and z of a foot after `place` or `move`, m."""
        return list(self.data.oMf[self.frames[foot]].translation.tolist())

    def foot_rotation(self, foot: str) -> np.ndarray:
        """Return the rotation from a foot's frame to the floor frame after `place`, ``(3, 3)``."""
        return np.asarray(self.data.oMf[self.frames[foot]].rotation)

    def foot_velocity(self, foot: str) -> np.ndarray:
        """Return the velocity of a foot in the floor frame after `move`, ``(3,)``, m/s."""
        return np.asarray(
            pin.getFrameVelocity(
                self.model, self.data, self.frames[foot], pin.LOCAL_WORLD_ALIGNED
            ).linear
        )

    def foot_spin(self, foot: str) -> np.ndarray:
        """Return the angular velocity of a foot, floor frame, after `move`, ``(3,)``, rad/s."""
        return np.asarray(
            pin.getFrameVelocity(
                self.model, self.data, self.frames[foot], pin.LOCAL_WORLD_ALIGNED
            ).angular
        )

    def placement(self, q: np.ndarray, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Return position ``(3,)`` and rotation ``(3, 3)`` of a frame in the floor frame.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            frame: Index of the frame, see `frame`.
        """
        self.place(q)
        place = self.data.oMf[frame]
        return place.translation.copy(), place.rotation.copy()

    def center_of_mass(self, q: np.ndarray) -> np.ndarray:
        """Return the centre of mass in the floor frame, ``(3,)``, m."""
        return np.asarray(pin.centerOfMass(self.model, self.data, self.to_pinocchio(q)).copy())

    def frame_jacobian(self, q: np.ndarray, frame: int) -> np.ndarray:
        """Return the Jacobian of a frame in its own axes, ``(6, nv)``, linear rows first.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            frame: Index of the frame, see `frame`.
        """
        return self._columns(
            pin.computeFrameJacobian(self.model, self.data, self.to_pinocchio(q), frame, pin.LOCAL)
        )

    def point_jacobian(self, q: np.ndarray, frame: int) -> np.ndarray:
        """Return the Jacobian of a frame's origin along the floor's normal, ``(3, nv)``.

        z is the normal, x the heading of the base: the way its x axis points along the floor.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            frame: Index of the frame, see `frame`.
        """
        full = self._columns(
            pin.computeFrameJacobian(
                self.model, self.data, self.to_pinocchio(q), frame, pin.LOCAL_WORLD_ALIGNED
            )
        )
        x, y, z, w = q[3:7].tolist()
        across, along = 2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z)
        length = math.hypot(along, across)
        if length < 1e-9:  # face down: any heading is as good
            return full[:3]
        cos, sin = along / length, across / length
        rows: np.ndarray = full[:3].copy()
        rows[0] = cos * full[0] + sin * full[1]
        rows[1] = cos * full[1] - sin * full[0]
        return rows

    def body_jacobian(self, q: np.ndarray, frame: int) -> np.ndarray:
        """Return the Jacobian of the centre of mass of a frame's body in the floor's axes.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            frame: Index of a frame of the body, see `frame`.

        Returns:
            ``(3, nv)``.
        """
        self.place(q)
        joint = self.model.frames[frame].parentJoint
        J = pin.computeJointJacobian(self.model, self.data, self.to_pinocchio(q), joint)
        at_center = J[:3] - pin.skew(self.model.inertias[joint].lever) @ J[3:]
        return self._columns(self.data.oMi[joint].rotation @ at_center)

    def foot_twist_jacobian(self, q: np.ndarray, foot: str) -> np.ndarray:
        """Return the Jacobian of a foot in the floor's axes, ``(6, nv)``, linear rows first.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            foot: Its name.
        """
        full = pin.computeFrameJacobian(
            self.model, self.data, self.to_pinocchio(q), self.frames[foot], pin.LOCAL_WORLD_ALIGNED
        )
        return np.asarray(full[:, self.pinocchio_order])

    def foot_jacobian(self, q: np.ndarray, foot: str) -> np.ndarray:
        """Return the foot's velocity along the axes of the base per v, ``(len(axes), nv)``.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            foot: Its name.
        """
        return self.foot_twist_jacobian(q, foot)[self._axes]

    def foot_drift(self, q: np.ndarray, v: np.ndarray, foot: str) -> np.ndarray:
        """Return the foot's acceleration along these axes at zero joint acceleration, m/s^2.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
            foot: Its name.
        """
        pin.forwardKinematics(
            self.model, self.data, self.to_pinocchio(q), self.to_pinocchio_velocity(v), self._zero
        )
        motion = pin.getFrameClassicalAcceleration(
            self.model, self.data, self.frames[foot], pin.LOCAL_WORLD_ALIGNED
        )
        return np.asarray(motion.linear[self._axes])

    def base_from_coordinates(
        self, foot: str, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return floating-base position and velocity with a foot resting at the origin.

        A base that turns apart from its coordinates (`Base.angles`) is upright and does not.

        Args:
            foot: The stance foot.
            q: Minimal coordinates, ``(n_coordinates,)``.
            v: Their rates.

        Returns:
            ``(q, v)`` of the floating base model, ``(nq,)`` and ``(nv,)``.
        """
        lift, axes = self.robot.lifts[foot], self._axes
        full_q, full_v = self._upright.copy(), np.zeros(self.nv)
        full_q[self.nq - len(q) :] = lift @ q
        full_v[self.nv - len(v) :] = lift @ v
        self.place(full_q)
        foot_place = self.foot_position(foot)
        full_q[: len(axes)] = [-foot_place[axis] for axis in axes]
        full_v[: len(axes)] = -(self.foot_jacobian(full_q, foot) @ full_v)
        return full_q, full_v

    def start_state(self, start: Start) -> tuple[np.ndarray, np.ndarray]:
        """Return generalised coordinates ``(nq,)`` and velocities ``(nv,)`` of a `Start`.

        A posture begins at rest, the base upright, the lowest foot on the floor.
        """
        if start.posture is None:
            return self.base_from_coordinates(start.support, start.q, start.v)
        q = self.configuration(start.posture)
        self.place(q)
        q[len(self._axes) - 1] = -min(self.foot_position(foot)[2] for foot in self.robot.feet)
        return q, np.zeros(self.nv)

    def standing_height(self) -> float:
        """Return the height of the base above the lowest foot at zero angles, m."""
        self.place(self._upright)
        return -min(self.foot_position(foot)[2] for foot in self.robot.feet)
