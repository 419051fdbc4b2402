# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo, built from its URDF.

Simplifications: contacts are MuJoCo's soft contacts, stiff by choice of time constant; motors act
as ideal effort sources with reflected inertia; an engaged lock is a soft equality constraint. Dry
friction of joints is MuJoCo's `frictionloss`, which holds a joint at rest; a gear's loss is dry
friction as large as its load of the step before makes it (see `models.friction`).
"""

from collections.abc import Iterator
import math
from typing import Any

import numpy as np

from walking_control.exceptions import refusing, require, UrdfError
from walking_control.models import (
    BACK_LOSS,
    Base,
    DRIVING_LOSS,
    floor_gravity,
    gear_table,
    NO_FRICTION,
    NO_SPRING,
    place_meshes,
    Robot,
    Start,
    World,
)
from walking_control.simulation import Forces, import_mujoco, Truth
from walking_control.simulation.parameters import MujocoParameters
from walking_control.simulation.stepped import FAR, SteppedEngine

FREE_JOINT = 'floating_base_joint'  # by this name mujoco_ros2_control says how the base moves


class MujocoEngine(SteppedEngine):
    """The robot and a floor, sloped, with steps or uneven; see `simulation.engine.Engine`.

    Raises:
        MissingDependency: MuJoCo is not installed.
        UrdfError: MuJoCo cannot build the model.
    """

    name = 'mujoco'
    has_backlash = True
    parameters = MujocoParameters
    _values: MujocoParameters

    def __init__(self, robot: Robot, world: World, values: MujocoParameters) -> None:
        self._mj = import_mujoco('plant mujoco')
        super().__init__(robot, world, values)

    def _prepare(self) -> None:
        kind = self._mj.mjtWarning
        self._unstable = [
            int(bad) for bad in (kind.mjWARN_BADQPOS, kind.mjWARN_BADQVEL, kind.mjWARN_BADQACC)
        ]
        with refusing(
            ValueError,
            f'URDF of {self.robot.name}',
            limit='MuJoCo refuses it: {error}',
            error=UrdfError,
        ):
            self.model = self.make_spec().compile()
        self.data = self._mj.MjData(self.model)
        self._index()

    def make_spec(self) -> Any:
        """Return a new `mujoco.MjSpec` of robot and floor, to be compiled or written."""
        mj, robot, values = self._mj, self.robot, self._values
        with refusing(
            ValueError, f'URDF of {robot.name}', limit='MuJoCo refuses it: {error}', error=UrdfError
        ):
            spec = mj.MjSpec.from_string(place_meshes(robot.urdf, robot.meshes))
        spec.compiler.fusestatic = False
        spec.option.timestep = values.timestep
        spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = values.impratio
        spec.option.gravity = floor_gravity(self.world.gravity, self.world.slope)
        self._add_root(spec)
        self._add_joint_properties(spec)
        self._add_floor(spec)
        return spec

    def _add_root(self, spec: Any) -> None:
        link, base, kind = spec.body(self.robot.base_link), self.robot.base, self._mj.mjtJoint
        self._root = []
        if base is Base.FREE:
            self._root.append(FREE_JOINT)
            link.add_freejoint(name=FREE_JOINT)
            return
        for axis in base.axes:
            self._root.append(f'root_{"xyz"[axis]}')
            link.add_joint(name=self._root[-1], type=kind.mjJNT_SLIDE, axis=np.eye(3)[axis])
        for angle in base.angles:
            self._root.append(f'root_{angle}')
            link.add_joint(name=self._root[-1], type=kind.mjJNT_HINGE, axis=[0, 1, 0])

    def _add_joint_properties(self, spec: Any) -> None:
        mj, values = self._mj, self._values
        solref = [values.contact_time, 1.0]
        for name in self.robot.joints:
            joint = spec.joint(name)
            # the URDF's effort limit is the motor's; it must not limit what stops and locks do
            joint.actfrclimited = False
            joint.solref_limit = joint.solref_friction = solref
            spring = self.robot.springs.get(name, NO_SPRING)
            friction = self.robot.friction.get(name, NO_FRICTION)
            joint.damping = _linear(joint.damping, spring.damping + friction.viscous)
            joint.frictionloss = friction.coulomb
            joint.stiffness = _linear(joint.stiffness, spring.stiffness)
            joint.springref = spring.rest
            motor = self.robot.actuators.get(name)
            joint.armature = motor.armature if motor else 0.0
            if motor and motor.backlash > 0.0:
                self._add_play(spec, joint, motor.backlash)
        for lock in self.robot.locks:
            data = np.zeros(mj.mjNEQDATA)
            data[0] = lock.angle
            spec.add_equality(
                name=f'lock_{lock.joint}',
                type=mj.mjtEq.mjEQ_JOINT,
                objtype=mj.mjtObj.mjOBJ_JOINT,
                name1=lock.joint,
                data=data,
                solref=solref,
                active=False,
            )

    def _add_play(self, spec: Any, joint: Any, backlash: float) -> None:
        """Let the body of a joint turn on behind it, between the flanks of its gear.

        Rotor, friction and motor stay with the joint; its spring, which lies across both, becomes
        that of a tendon.
        """
        play = joint.parent.add_joint(
            name=f'{joint.name}_play', type=joint.type, axis=joint.axis, pos=joint.pos
        )
        play.limited, play.range = True, [-0.5 * backlash, 0.5 * backlash]
        play.solref_limit = [2.0 * self._values.timestep, 1.0]  # as stiff as steps bear
        spring = self.robot.springs.get(joint.name, NO_SPRING)
        if spring.stiffness:
            across = spec.add_tendon(name=f'{joint.name}_spring')
            for part in (joint, play):
                across.wrap_joint(part.name, 1.0)
            across.stiffness = _linear(across.stiffness, spring.stiffness)
            across.springlength = [spring.rest, spring.rest]
            joint.stiffness = _linear(joint.stiffness, 0.0)

    def _add_floor(self, spec: Any) -> None:
        mj, values = self._mj, self._values
        contact = {
            'solref': [values.contact_time, 1.0],
            'condim': 4 if values.torsion > 0.0 else 3,
            'friction': [self.world.friction, self.world.friction * values.torsion, 0.0001],
        }
        # every foot meets a floor of its own, whose level may differ; all else the first one
        own = {foot: 2 << i for i, foot in enumerate(self.robot.feet)}
        for geom in spec.geoms:
            if geom.conaffinity:  # MuJoCo gives none to what a description only shows
                geom.conaffinity = own.get(geom.parent.name, 1)
            geom.contype = 0
            geom.mass = 0.0  # masses are the inertials' alone
            for name, value in contact.items():
                setattr(geom, name, value)
        pieces = self._lay_pieces()
        if pieces:
            for i, piece in enumerate(pieces):
                turn = 0.5 * piece.pitch
                spec.worldbody.add_geom(
                    name=f'floor_{i}',
                    type=mj.mjtGeom.mjGEOM_BOX,
                    size=piece.size,
                    pos=piece.middle,
                    quat=[math.cos(turn), 0.0, math.sin(turn), 0.0],
                    contype=1 | sum(own.values()),
                    conaffinity=0,
                    **contact,
                )
            return
        for name, bit in [('floor', 1), *((f'floor_{foot}', bit) for foot, bit in own.items())]:
            body = spec.worldbody.add_body(name=name, mocap=bit > 1)  # what is static cannot move
            body.add_geom(
                name=name,
                type=mj.mjtGeom.mjGEOM_PLANE,
                size=[0, 0, 1],
                contype=bit,
                conaffinity=0,
                **contact,
            )

    def _index_joints(self) -> None:
        mj, model = self._mj, self.model
        joints = [*self._root, *self.robot.joints]
        ids = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name) for name in joints]
        self._qpos, self._dof = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        self._joint_qpos, self._joint_dof = (
            addresses[len(self._root) :] for addresses in (self._qpos, self._dof)
        )
        # joints with play, counted from the last, and where that is: what turns is their sum
        played = {joint for joint, motor in self.robot.actuators.items() if motor.backlash}
        loose = [i for i, joint in enumerate(self.robot.joints) if joint in played]
        plays = [f'{self.robot.joints[i]}_play' for i in loose]
        ids = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name) for name in plays]
        self._loose = np.array(loose, dtype=int) - len(self.robot.joints)
        self._play_qpos, self._play_dof = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        if self.robot.is_free:
            first, dof = int(self._qpos[0]), int(self._dof[0])
            # MuJoCo's quaternion is wxyz, ours xyzw
            self._qpos = np.array(
                [
                    *range(first, first + 3),
                    *range(first + 4, first + 7),
                    first + 3,
                    *self._joint_qpos,
                ]
            )
            self._dof = np.array([*range(dof, dof + 6), *self._joint_dof])

    def _index(self) -> None:
        mj, model, robot = self._mj, self.model, self.robot
        self._index_joints()
        self._motor_dof = np.array(
            [int(self._joint_dof[robot.joint_index(name)]) for name in robot.actuators], dtype=int
        )
        self._gears = [
            (
                i,
                dof,
                motor.armature,
                float(loss[DRIVING_LOSS]),
                float(loss[BACK_LOSS]),
                float(model.dof_frictionloss[dof]),
            )
            for i, (dof, motor, loss) in enumerate(
                zip(self._motor_dof, self._motors, gear_table(robot))
            )
            if min(motor.efficiency, motor.back_efficiency) < 1.0
        ]
        self._lock_qpos = [
            int(self._joint_qpos[robot.joint_index(lock.joint)]) for lock in robot.locks
        ]
        self._base_body = self.link_index(robot.base_link)
        self._foot_body = [self.link_index(foot) for foot in robot.feet]
        self._foot_of_geom = {
            geom: foot
            for geom in range(model.ngeom)
            for foot, body in enumerate(self._foot_body)
            if model.geom_bodyid[geom] == body and model.geom_conaffinity[geom]
        }
        pieces = self._lay_pieces()
        floors = range(len(pieces)) if pieces else robot.feet
        self._floors = [
            mj.mj_name2id(model, mj.mjtObj.mjOBJ_GEOM, f'floor_{name}') for name in floors
        ]
        self._one_floor = bool(pieces)
        self._mocaps = model.body_mocapid[model.geom_bodyid[self._floors]]
        require(
            set(self._foot_of_geom.values()) == set(range(len(robot.feet))),
            f'URDF of {robot.name}',
            value=list(robot.feet),
            limit='every foot link needs a collision geometry for MuJoCo',
            error=UrdfError,
        )
        self._wrench, self._pressed = np.zeros(6), False

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        self._mj.mj_resetData(self.model, self.data)
        self.data.qpos[self._qpos], self.data.qvel[self._dof] = self._start_state(start)
        self._begin()
        self._arm(np.ones(len(self.robot.locks), dtype=bool))
        self._pressed = False

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Make a timestep; one that becomes unstable ends the walk: MuJoCo then begins anew.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.
        """
        data = self.data
        self._arm(armed)
        data.qfrc_applied[self._motor_dof] = effort
        if self._gears:
            self._brake_gears(effort.tolist())
        if forces or self._pressed:
            self._press(forces)
        self._mj.mj_step(self.model, data)
        self._tick()
        if any(data.warning[kind].number for kind in self._unstable):  # it has begun anew
            return 'the simulation became unstable: positions or accelerations beyond all bounds'
        return self._follow_feet() if self._levels.planned else None

    def _press(self, forces: Forces) -> None:
        """Let forces act on links from now on."""
        applied = self.data.xfrc_applied
        applied[:] = 0.0
        for body, force in forces:
            applied[body, :3] += force
        self._pressed = len(forces) > 0

    def rates(self) -> list[float]:
        """Return how fast the joints of the motors turn now, rad/s."""
        return list(self.data.qvel[self._motor_dof].tolist())

    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities of the joints now, rad or m, ``(n_joints,)``."""
        q, v = self.data.qpos[self._joint_qpos], self.data.qvel[self._joint_dof]
        q[self._loose] += self.data.qpos[self._play_qpos]
        v[self._loose] += self.data.qvel[self._play_dof]
        return q, v

    def _brake_gears(self, efforts: list[float]) -> None:
        """Let each gear brake by the share it loses of the torque that enters it."""
        data, loss = self.data, self.model.dof_frictionloss
        for i, dof, armature, driving, back, friction in self._gears:
            entering = efforts[i] - armature * float(data.qacc[dof])
            drives = entering * float(data.qvel[dof]) > 0.0
            loss[dof] = friction + (driving if drives else back) * abs(entering)

    def _arm(self, armed: np.ndarray) -> None:
        """Release locks that are not armed; engage armed ones whose joint has arrived."""
        active = self.data.eq_active
        for i, lock in enumerate(self.robot.locks):
            if not armed[i]:
                active[i] = 0
            elif not active[i]:
                arrived = abs(float(self.data.qpos[self._lock_qpos[i]]) - lock.angle)
                active[i] = arrived <= lock.capture

    def read(self, truth: Truth) -> None:
        """Bring everything derived from the state up to date and fill a `Truth`."""
        if self._pressed:  # sensors agree on the robot without what pushes it
            self._press(())
        self._mj.mj_forward(self.model, self.data)
        data = self.data
        truth.q[:], truth.v[:] = data.qpos[self._qpos], data.qvel[self._dof]
        truth.q[self._loose] += data.qpos[self._play_qpos]
        truth.v[self._loose] += data.qvel[self._play_dof]
        if self.robot.is_free:  # MuJoCo moves the origin in the floor's axes
            truth.v[:3] = truth.v[:3] @ data.xmat[self._base_body].reshape(3, 3)
        truth.locked[:] = data.eq_active[: len(self.robot.locks)]
        truth.foot_force[:] = 0.0
        truth.foot_height[:] = self._foot_heights()
        for i in range(data.ncon):
            # the force is that on the second one; boxes of the floor come after balls
            for geom, sign in ((data.contact.geom2[i], 1.0), (data.contact.geom1[i], -1.0)):
                foot = self._foot_of_geom.get(int(geom))
                if foot is not None:
                    self._mj.mj_contactForce(self.model, data, i, self._wrench)
                    truth.foot_force[foot] += sign * (
                        self._wrench[:3] @ data.contact.frame[i].reshape(3, 3)
                    )

    def _foot_heights(self) -> list[float]:
        """Return the height of the lowest point of each foot over its floor, m."""
        heights = [FAR] * len(self._foot_body)
        for geom, foot in self._foot_of_geom.items():
            for floor in self._floors_near(geom, foot):
                heights[foot] = min(
                    heights[foot],
                    self._mj.mj_geomDistance(self.model, self.data, floor, geom, FAR, None),
                )
        return heights

    def _floors_near(self, geom: int, foot: int) -> list[int]:
        """Return the shapes of the floor that may be the nearest to a shape of a foot."""
        if not self._one_floor:
            return self._floors[foot : foot + 1]
        if self._profile is None:
            return self._floors
        x, reach = float(self.data.geom_xpos[geom, 0]), float(self.model.geom_rbound[geom])
        first, last = self._profile.piece(np.array([x - reach, x + reach])).tolist()
        return self._floors[first : last + 1]

    def _follow_feet(self) -> str | None:
        """Bring the floor of each foot to its level, see `Levels`."""
        trip = self._levels.walk(self.data.xpos[self._foot_body, 0].tolist(), self._foot_heights())
        if not self._one_floor:  # its height is where it is; touchdowns are counted
            self.data.mocap_pos[self._mocaps, 2] = self._levels.heights
            half = 0.5 * np.arctan(self._levels.slopes)
            self.data.mocap_quat[self._mocaps, 0] = np.cos(half)
            self.data.mocap_quat[self._mocaps, 2] = np.sin(half)
        return trip

    def link_index(self, link: str) -> int:
        """Return the number of a link's body, below 0 of what is none."""
        return int(self._mj.mj_name2id(self.model, self._mj.mjtObj.mjOBJ_BODY, link))

    def foot_rotations(self) -> Iterator[np.ndarray]:
        """Return what turns the axes of each foot to the floor's."""
        return (self.data.xmat[body].reshape(3, 3) for body in self._foot_body)

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push the base at once by an impulse in the floor frame, N s, ``(3,)``.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        generalised = np.zeros((1, self.model.nv))
        for i, axis in enumerate(self.robot.base.axes):
            generalised[0, self._dof[i]] = impulse[axis]
        change = np.zeros((1, self.model.nv))
        self._mj.mj_solveM(self.model, self.data, change, generalised)
        self.data.qvel += change[0]


def _linear(like: float | np.ndarray, value: float) -> float | np.ndarray:
    """Return a damping or stiffness as MuJoCo has it: from 4 on a polynomial, linear term first."""
    if np.ndim(like) == 0:
        return value
    terms = np.zeros_like(like)
    terms[0] = value
    return terms
