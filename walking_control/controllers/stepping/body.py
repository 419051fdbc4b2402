# SPDX-License-Identifier: Apache-2.0
"""What the stepping law knows of the robot at one instant: masses, feet, momentum."""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import minimize

from walking_control.controllers.stepping.size import GRAVITY, LEG, Size
from walking_control.models import compile_ahead, Dynamics, passive_torques, ROOT
from walking_control.models.array_functions import array_function, as_block, taken_by
from walking_control.statics.program import loaded_joints

FLAT = 10.0  # m: what a tilted sole counts against the length of a leg
FOOT = 6  # coordinates of a foot: what as many joints move as they like
NEARLY = 0.01  # of the largest singular value: less is a leg that is straight
TINY = 1e-9  # kg m: of a joint that has nothing to move
RUBBING = 0.2  # rad/s: below, dry friction is made up for in part, for noise would shake joints
ALIKE = 0.99  # cosine of the angle between axes that count as parallel
BENT = 1.02  # times as long as at zero angles: a leg that is bent there


class Foot(NamedTuple):
    """One foot at one instant, in floor axes; the base's origin is the origin.

    Its arrays are written in place by each `Body.update`.

    Attributes:
        position: Of its frame, m, ``(3,)``.
        rotation: To the floor frame, ``(3, 3)``.
        velocity: Linear, then angular, m/s and rad/s, ``(6,)``.
        drift: Acceleration at zero joint acceleration, likewise, ``(6,)``.
        jacobian: Of the velocity, ``(6, nv)``.
        hip: Where the first joint of its leg is, m, ``(3,)``.
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    drift: np.ndarray
    jacobian: np.ndarray
    hip: np.ndarray


class Instant(NamedTuple):
    """How the robot moves: one piece of memory, for compiled code."""

    angles: np.ndarray  # of the joints, rad, ``(nv - 6,)``
    velocity: np.ndarray  # ``(nv,)``
    rotation: np.ndarray  # base to floor frame, ``(3, 3)``
    feet: Foot  # all in a row: each array has one more dimension, the first


@array_function
def see_foot(
    instant: Sequence[Instant],
    level: np.ndarray,
    measured: np.ndarray,
    stance: int,
    seen: np.ndarray,
) -> None:
    """Find place and velocity of the foot in the air.

    Args:
        instant: One `Instant`: how the robot moves.
        level: Turns places on the slope into level ones, ``(3, 3)``.
        measured: Velocities before they were foreseen, ``(nv,)``.
        stance: The other foot.
        seen: Filled: its place from the stance foot, m, and velocity, m/s, in level axes; its
            velocity as measured, in floor axes and in level ones, ``(4, 3)``.
    """
    feet, foot = instant[0].feet, 1 - stance
    jacobian = feet.jacobian[foot][:3]
    seen[0] = level @ (feet.position[foot] - feet.position[stance])
    seen[1] = level @ feet.velocity[foot][:3]
    seen[2] = jacobian @ measured
    seen[3] = level @ jacobian @ measured


class Body:
    """Inverse dynamics and momentum of a biped, by Pinocchio, in Pinocchio's order of joints.

    All arrays but q and v are the same in each tick, written in place: who keeps one copies it.
    Mass matrix and bias are Pinocchio's own: what else is computed with `dynamics` changes them.

    Args:
        dynamics: The robot's `Dynamics`; its base is free.
        gravity: m/s^2.
        compiled: Whether its arithmetic is compiled.

    Attributes:
        mass: kg.
        mass_matrix: ``(nv, nv)``.
        bias: Coriolis, centrifugal, gravity, spring and friction efforts, ``(nv,)``.
        rotation: Base to floor frame, ``(3, 3)``.
        yaw: Turn of the base about the floor normal, rad.
        velocity: Generalised velocity, ``(nv,)``.
        angles: Of the joints, rad, ``(nv - 6,)``.
        q, v: Generalised coordinates and velocities in the robot's own order of joints.
        com: Centre of mass, m, ``(3,)``; the base's origin is the origin.
        momentum: Linear momentum, kg m/s, ``(3,)``.
        spin: Angular momentum about the centre of mass, kg m^2/s, ``(3,)``.
        feet: A `Foot` for each of the robot's.
        now: The arrays that change each tick, as an `Instant` of views of `block`.
        block: The same in one piece of memory, see `as_block`.
        seen: What is known of the foot in the air, see `see_foot`.
        legs: Which joints move each foot, ``(n_feet, nv - 6)``.
        knees: The joint in the middle of each leg, where it bends, an index of the robot's joints.
        leg_length: From hip to a flat foot, m: at zero angles, or where that pose is not straight
            the longest its joints allow.
        size: What constants grow with.
        dynamics: As given.
        motors: Place of each motor's joint among the joints, ``(n_motors,)``.
        quickest: Largest acceleration along the floor that a leg gives its foot, m/s^2.
        straight: Angle of each knee at which its leg is straight, rad.
        bones: Thigh and shank of each leg, seen along its knee's axis, m, ``(2, 2)``.
        apart: Joints of no leg, indices of the robot's.
        has_gear_losses: Whether any gear of the robot loses power.
    """

    def __init__(
        self, dynamics: Dynamics, gravity: float = GRAVITY, compiled: bool = False
    ) -> None:
        self.dynamics, self._model, self._data = dynamics, dynamics.model, dynamics.data
        robot, order = dynamics.robot, dynamics.pinocchio_order[ROOT:] - ROOT
        self._order = order
        self.motors = np.array([order[robot.joint_index(joint)] for joint in robot.actuators], int)
        self.quickest = math.inf
        self.mass, self.nv = dynamics.mass, dynamics.nv
        self.has_gear_losses = robot.has_gear_losses
        self._frames = [dynamics.frames[foot] for foot in dynamics.robot.feet]
        self.legs = np.array(
            [
                [
                    joint in self._model.supports[self._model.frames[frame].parentJoint]
                    for joint in range(2, self._model.njoints)
                ]
                for frame in self._frames
            ]
        )
        places = np.arange(len(dynamics.joints))
        self.apart = np.setdiff1d(places, loaded_joints(dynamics, self._frames)).tolist()
        self.knees = [self._find_knee(frame) for frame in self._frames]
        self._zero = np.zeros(self.nv)
        self._is_passive = bool(robot.springs or robot.friction)
        self._lower = np.tri(self.nv, k=-1, dtype=bool)
        self.block, self.now = as_block(
            Instant(
                np.zeros(self.nv - ROOT),
                self._zero,
                np.eye(3),
                Foot(
                    *(
                        np.zeros((len(self._frames), *shape))
                        for shape in ((3,), (3, 3), (6,), (6,), (6, self.nv), (3,))
                    )
                ),
            )
        )
        self.angles, self.velocity, self.rotation, feet = self.now
        self.feet = [Foot(*each) for each in zip(*feet)]
        self.seen = np.zeros((4, 3))
        still = np.eye(3), self._zero, 0, self.seen
        self._see = compile_ahead(see_foot, self.block, *still, wanted=compiled)
        self._memory = taken_by(self._see, self.block, self.now)
        # what is read each tick is bound to Pinocchio's memory: a look-up there takes a microsecond
        self.mass_matrix, self.bias = self._data.M, self._data.nle
        self._motion = (
            self._data.oMi[1].rotation,
            self._data.com[0],
            self._data.hg.linear,
            self._data.hg.angular,
        )
        self.com, self.momentum, self.spin = np.zeros((3, 3))
        self._places = [
            (
                foot,
                frame,
                self._data.oMf[frame].translation,
                self._data.oMf[frame].rotation,
                # the first joint of its leg: those of the universe and the base come before it
                self._data.oMi[
                    self._model.supports[self._model.frames[frame].parentJoint][2]
                ].translation,
            )
            for foot, frame in zip(self.feet, self._frames)
        ]
        self.update(dynamics.configuration(np.zeros(len(dynamics.joints))), self._zero)
        self.straight, self.bones = zip(*map(self._find_bones, self.feet, self.knees))
        foot = self.feet[0]
        at_zero, longest = float(foot.hip[2] - foot.position[2]), self._longest_leg()
        self.leg_length = longest if longest > BENT * at_zero else at_zero
        self.size = Size(self.leg_length / LEG, gravity / GRAVITY)

    def update(self, q: np.ndarray, v: np.ndarray) -> None:
        """Compute everything at generalised coordinates ``(nq,)`` and velocities ``(nv,)``.

        The base's place in q does not matter: it is taken as the origin.
        """
        model, data, dynamics = self._model, self._data, self.dynamics
        self.q, self.v = q, v
        Q, V = dynamics.to_pinocchio(q), dynamics.to_pinocchio_velocity(v)
        Q[:3] = 0.0
        self.angles[self._order], self.velocity[:] = q[ROOT + 1 :], V
        pin.computeAllTerms(model, data, Q, V)
        np.copyto(self.mass_matrix, self.mass_matrix.T, where=self._lower)
        if self._is_passive:
            borne = passive_torques(dynamics.robot, q[ROOT + 1 :], v[ROOT:], RUBBING)
            self.bias[dynamics.pinocchio_order[ROOT:]] += borne
        pin.forwardKinematics(model, data, Q, V, self._zero)
        pin.updateFramePlacements(model, data)
        self.rotation[:], self.com[:], self.momentum[:], self.spin[:] = self._motion
        self.yaw = math.atan2(self.rotation[1, 0], self.rotation[0, 0])
        axes = pin.LOCAL_WORLD_ALIGNED
        for foot, frame, position, rotation, hip in self._places:
            foot.position[:], foot.rotation[:], foot.hip[:] = position, rotation, hip
            foot.velocity[:] = pin.getFrameVelocity(model, data, frame, axes).vector
            foot.drift[:] = pin.getFrameClassicalAcceleration(model, data, frame, axes).vector
            foot.jacobian[:] = pin.getFrameJacobian(model, data, frame, axes)

    def _find_knee(self, frame: int) -> int:
        foot, model = self._model.frames[frame], self._model
        leg = list(model.supports[foot.parentJoint])[2:]
        ways = [
            float(np.linalg.norm(place.translation))
            for place in (*(model.jointPlacements[joint] for joint in leg[1:]), foot.placement)
        ]
        middle = max(range(len(leg)), key=lambda i: min(sum(ways[:i]), sum(ways[i:])))
        return int(self.dynamics.joints.index(model.names[leg[middle]]))

    def _find_bones(self, foot: Foot, knee: int) -> tuple[float, tuple[float, float]]:
        """Return where thigh and shank lie in a row, seen along the knee's axis, and how long.

        All joints are at zero now; hip and ankle are the nearest ones that turn about such an axis.
        Without such a hip the joint before the knee begins the thigh.
        """
        axes, here = foot.jacobian[3:, ROOT:], self.joint(knee)[2] - ROOT
        axis = axes[:, here]
        alike = np.flatnonzero(np.abs(axis @ axes) > ALIKE).tolist()
        before = [joint for joint in alike if joint < here] or [here - 1]
        chain = [before[-1], here, *(joint for joint in alike if joint > here)]
        joints = [self._data.oMi[joint + 2].translation for joint in chain]
        hip, middle, end = [*joints, foot.position][:3]
        thigh, shank = (np.cross(axis, bone) for bone in (middle - hip, end - middle))
        angle = math.atan2(float(axis @ np.cross(shank, thigh)), float(shank @ thigh))
        return angle, (float(np.linalg.norm(thigh)), float(np.linalg.norm(shank)))

    def _longest_leg(self) -> float:
        """Return how high a hip gets over its flat sole, the base upright, within limits, m."""
        model, data, frame = self._model, self._data, self._frames[0]
        leg = list(model.supports[model.frames[frame].parentJoint])[2:]
        if any(model.joints[joint].nq != 1 for joint in leg):
            return 0.0  # it turns without end: no limits to look within
        places = [model.joints[joint].idx_q for joint in leg]
        lower, upper = (
            np.clip(limit[places], -np.pi, np.pi)
            for limit in (model.lowerPositionLimit, model.upperPositionLimit)
        )
        q = pin.neutral(model)

        def sunk(x: np.ndarray) -> float:
            q[places] = x
            pin.framesForwardKinematics(model, data, q)
            sole, hip = data.oMf[frame], data.oMi[leg[0]].translation
            return float(sole.translation[2] - hip[2] + FLAT * (1.0 - sole.rotation[2, 2]))

        starts = np.clip(0.0, lower, upper), np.clip(0.5 * (lower + upper), -1.0, 1.0)
        return max(
            -float(
                minimize(
                    sunk,
                    np.clip(start, lower, upper),
                    method='L-BFGS-B',
                    bounds=np.column_stack((lower, upper)),
                ).fun
            )
            for start in starts
        )

    def joint(self, place: int) -> tuple[float, float, int]:
        """Return angle (rad), rate (rad/s) and column of the acceleration of a joint of the robot.

        Args:
            place: Index of the joint among the robot's.
        """
        column = int(self.dynamics.pinocchio_order[ROOT + place])
        return float(self.q[ROOT + 1 + place]), float(self.v[ROOT + place]), column

    def find_quickest_swing(self, posture: np.ndarray) -> None:
        """Find `quickest`: what a leg in the air gives its foot within its motors' limits.

        The base is held, the foot keeps its height and turn; ahead or sideways, whichever is less.
        A leg of other than six joints has no limit.

        Args:
            posture: Joint angles at which, in the robot's own order, ``(n,)``, rad.
        """
        leg = self.legs[0]
        if leg.sum() != FOOT:
            return
        efforts = np.zeros(self.nv - ROOT)
        efforts[self.motors] = self.dynamics.robot.effort_limits[: len(self.motors)]
        self.update(self.dynamics.configuration(posture), self._zero)
        jacobian = self.feet[0].jacobian[:, ROOT:][:, leg]
        motion = np.linalg.lstsq(jacobian, np.eye(FOOT)[:, :2], rcond=NEARLY)[0]
        needed = np.abs(self.mass_matrix[ROOT:, ROOT:][np.ix_(leg, leg)] @ motion)
        self.quickest = float(np.min(efforts[leg] / np.maximum(needed.max(axis=1), TINY)))

    def momentum_about(self, point: np.ndarray) -> np.ndarray:
        """Return the angular momentum about a point at rest, kg m^2/s, ``(3,)``."""
        return np.asarray(self.spin + pin.skew(self.com - point) @ self.momentum)

    def see_foot(self, level: np.ndarray, measured: np.ndarray, stance: int) -> None:
        """Fill `seen`; the arguments are those of the function `see_foot`."""
        self._see(self._memory, level, measured, stance, self.seen)

    @property
    def yaw_inertia(self) -> float:
        """Of the whole robot about the floor normal through its centre of mass, kg m^2."""
        return float(self._data.Ig.inertia[2, 2])
