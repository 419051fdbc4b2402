# SPDX-License-Identifier: Apache-2.0
"""A robot in DART, built from its URDF.

DART advances by impulses: what touches, stops or locks within a step of the physics has its
velocity at the end of the step, without bounce; no stiffness is involved.

Simplifications: the friction cone is a pyramid, along two directions of DART's choice; a single
point turns freely about the normal but for `torsion`; motors act as ideal effort sources with
reflected inertia (see `rotors`). Dry friction holds a joint at rest; a gear's loss is dry friction
as large as its load of the step before makes it (see `models.friction`).
"""

import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import import_optional
from walking_control.models.base import Base
from walking_control.models.dynamics import floor_gravity
from walking_control.models.friction import BACK_LOSS, DRIVING_LOSS, gear_table
from walking_control.models.robot import Robot, Start
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Measurement
from walking_control.simulation.dart.floor import Floors, support_balls
from walking_control.simulation.dart.model import build_skeleton, root_joints
from walking_control.simulation.dart.rotors import Stepper
from walking_control.simulation.dart.torsion import Torsion
from walking_control.simulation.engine import EnginePlant, FAR
from walking_control.simulation.parameters import DartParameters

FIRST = 4   # steps by which the forces at the start are found


class DartPlant(EnginePlant):
    """The robot and a floor, sloped, with steps or uneven; see `simulation.plant.Plant`.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: `DartParameters`.

    Attributes:
        stepper: The `Stepper`, which knows how well rotors and contacts agreed.

    Raises:
        MissingDependency: DART is not installed.
        UrdfError: DART cannot build the model.
    """

    name = 'dart'
    parameters = DartParameters
    _values: DartParameters

    def __init__(self, robot: Robot, world: World, values: DartParameters) -> None:
        self._dart = import_optional('dartpy', 'plant dart', "'walking_control[dart]'")
        super().__init__(robot, world, values)

    def _prepare(self) -> None:
        dart, robot = self._dart, self.robot
        self._engine = engine = dart.simulation.World()
        engine.setTimeStep(self._values.timestep)
        engine.setGravity(floor_gravity(self.world.gravity, self.world.slope))
        engine.setCollisionDetector(dart.simulation.ODE)   # four points under a sole
        # one is moved by forces, the other stopped by contacts (see `rotors`)
        self._contact, self._links = (build_skeleton(dart, robot) for _ in range(2))
        self._links.setTimeStep(self._values.timestep)
        self._links.setGravity(engine.getGravity())
        engine.addSkeleton(self._contact)
        self._floors = Floors(dart, engine, self._contact, robot.feet, self.world.friction,
                              self._lay_pieces(), self._profile)
        self._index()
        inertia = np.zeros(self._links.getNumDofs())
        inertia[self._motor_dof] = [motor.armature for motor in self._motors]
        self.stepper = Stepper(dart, self._links, self._contact, engine, inertia)
        self._torsion = Torsion(self._links, self._feet, self._values.torsion * self.world.friction,
                                self._values.timestep)

    def _find_dof(self, joint: str) -> int:
        return int(self._links.getDof(joint).getIndexInSkeleton())

    def _index(self) -> None:
        robot, find = self.robot, self._find_dof
        self._joint_dof = np.array([find(name) for name in robot.joints], dtype=int)
        # of a free base the turn comes first, then the place
        self._root_dof = np.array([find(name) for name in root_joints(robot)], dtype=int) \
            if robot.base is Base.PLANAR else np.array([3, 4, 5])
        self._motor_dof = np.array([find(name) for name in robot.actuators], dtype=int)
        self._gears = [(i, name, self._motors[i].armature, float(loss[DRIVING_LOSS]),
                        float(loss[BACK_LOSS]), self._contact.getDof(name).getCoulombFriction())
                       for i, (name, loss) in enumerate(zip(robot.actuators, gear_table(robot)))
                       if min(self._motors[i].efficiency, self._motors[i].back_efficiency) < 1.0]
        self._locks = [(lock, self._links.getDof(lock.joint), self._contact.getJoint(lock.joint))
                       for lock in robot.locks]
        self._feet = [self._links.getBodyNode(foot) for foot in robot.feet]
        self._foot_of_body = {foot: i for i, foot in enumerate(robot.feet)}
        self._balls = [support_balls(robot, foot) for foot in robot.feet]

    def _find_body(self, link: str) -> int:
        names = [self._links.getBodyNode(i).getName() for i in range(self._links.getNumBodyNodes())]
        return names.index(link) if link in names else -1

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        q, v = self._start_state(start)
        self._floors.lower(self._levels.heights)
        self._begin()
        self.truth.locked[:] = False
        self._set_state(q, v)
        self._feel_start()
        self._update_truth()
        self._imu.reset()

    def _set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        base, links = self.robot.base, self._links
        positions, velocities = links.getPositions(), links.getVelocities()
        positions[self._joint_dof], velocities[self._joint_dof] = q[base.nq:], v[base.nv:]
        if base is Base.FREE:   # DART turns and moves the origin in the floor's axes
            rotation = pin.Quaternion(q[3:7]).matrix()
            positions[:6] = *pin.log3(rotation), *q[:3]
            velocities[:6] = *(rotation @ v[3:6]), *(rotation @ v[:3])
        else:
            positions[self._root_dof], velocities[self._root_dof] = q[:3], v[:3]
        links.setPositions(positions)
        links.setVelocities(velocities)

    def _feel_start(self) -> None:
        """Find the forces on the feet at the start: those of the first steps, without motors."""
        links, force = self._links, np.zeros(self._links.getNumDofs())
        positions, velocities = links.getPositions(), links.getVelocities()
        self._force = np.zeros((len(self._feet), 3))
        self.stepper.reset()
        self._arm(np.ones(len(self.robot.locks), dtype=bool))
        for _ in range(FIRST):   # a foot that just touches is inside the floor after one
            self.stepper.step(force)
            self._feel(1.0 / FIRST)
        links.setPositions(positions)
        links.setVelocities(velocities)
        self.stepper.reset()
        self._torsion.reset(self.stepper.mass_matrix())

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s, a whole number of timesteps."""
        steps = self._count_steps(duration)
        pushing = self._begin_pushes()
        links, motors = self._links, self._motor_dof
        force, efforts = np.zeros(links.getNumDofs()), command.effort.tolist()
        before = links.getVelocities()[motors].tolist()
        felt = min(steps, max(1, round(self._values.force_time / self._values.timestep)))
        self._force[:] = 0.0
        for left in range(steps, 0, -1):
            self._arm(command.lock)
            self._supply(command, efforts, before)
            force[motors] = efforts
            if pushing or self._torsion.acts:
                links.clearExternalForces()
                self._push_bodies()
                self._torsion.apply()
            self.stepper.step(force)
            after = links.getVelocities()[motors].tolist()
            self._account(efforts, before, after)
            if self._gears:
                self._brake_gears(efforts, before, after)
            before = after
            if left <= felt:
                self._feel(1.0 / felt)
            if self._torsion.acts:
                self._torsion.follow(self._forces()[:, 2])
            if self._levels.planned:
                self._follow_feet()
        links.clearExternalForces()
        self._steps += steps
        self.time = self._steps * self._values.timestep
        self._update_truth()
        self.touchdowns.follow(self.time, self.truth.foot_force[:, 2].tolist())

    def _push_bodies(self) -> None:
        """Apply what pushes for a time to the centres of mass of its links."""
        links = self._links
        if self._pushes_in_space.are_over:
            return
        applied = np.zeros((links.getNumBodyNodes(), 6))
        self._pushes_in_space.apply(applied)
        for body in np.flatnonzero(applied.any(axis=1)):
            node = links.getBodyNode(int(body))
            node.addExtForce(applied[body, :3], node.getLocalCOM(), False, True)

    def _brake_gears(self, efforts: list[float], before: list[float], after: list[float]) -> None:
        """Let each gear brake by the share it loses of the torque that enters it."""
        for i, name, armature, driving, back, friction in self._gears:
            entering = efforts[i] - armature * (after[i] - before[i]) / self._values.timestep
            loss = driving if entering * after[i] > 0.0 else back
            self._contact.getDof(name).setCoulombFriction(friction + loss * abs(entering))

    def _feel(self, share: float) -> None:
        """Add a share of the forces on the feet in the step just made."""
        self._force += share * self._forces()

    def _forces(self) -> np.ndarray:
        """Return the forces on the feet in the step just made, N, ``(n_feet, 3)``."""
        forces = np.zeros((len(self._feet), 3))
        for contact in self._engine.getLastCollisionResult().getContacts():
            # the force is that on the first one
            for thing, sign in ((contact.collisionObject1, 1.0),
                                (contact.collisionObject2, -1.0)):
                body = thing.getShapeFrame().asShapeNode().getBodyNode()
                foot = self._foot_of_body.get(body.getName())
                if foot is not None:
                    forces[foot] += sign * contact.force
        return forces

    def _arm(self, armed: np.ndarray) -> None:
        """Release locks that are not armed; engage armed ones whose joint has arrived."""
        locked, kinds = self.truth.locked, self._dart.dynamics
        for i, (lock, dof, joint) in enumerate(self._locks):
            away = lock.angle - dof.getPosition()
            holds = bool(armed[i]) and (bool(locked[i]) or abs(away) <= lock.capture)
            if holds != locked[i]:
                # a stop at the angle itself would take the place of the lock
                joint.setActuatorType(kinds.SERVO if holds else kinds.FORCE)
                joint.setLimitEnforcement(not holds)
                locked[i] = holds
            if holds:
                joint.setCommand(0, away / self._values.lock_time)

    def _update_truth(self) -> None:
        truth, links, base = self.truth, self._links, self.robot.base
        positions, velocities = links.getPositions(), links.getVelocities()
        truth.q[base.nq:] = positions[self._joint_dof]
        truth.v[base.nv:] = velocities[self._joint_dof]
        if base is Base.FREE:
            rotation = pin.exp3(positions[:3])
            truth.q[:3], truth.q[3:7] = positions[3:6], pin.Quaternion(rotation).coeffs()
            truth.v[:3], truth.v[3:6] = velocities[3:6] @ rotation, velocities[:3] @ rotation
        else:
            truth.q[:3], truth.v[:3] = positions[self._root_dof], velocities[self._root_dof]
        truth.foot_force[:] = self._force
        truth.foot_height[:] = self._foot_heights()

    def _foot_heights(self) -> list[float]:
        """Return the height of the lowest point of each foot over its floor, m."""
        heights = []
        for body, (points, radii), level in zip(self._feet, self._balls, self._levels.heights):
            place = body.getWorldTransform().matrix()
            heights.append(min(FAR, self._floors.height_over(
                points @ place[:3, :3].T + place[:3, 3], radii, float(level))))
        return heights

    def _follow_feet(self) -> None:
        """Bring the floor of each foot to its level, see `Levels`."""
        places = [float(body.getWorldTransform().matrix()[0, 3]) for body in self._feet]
        self._follow(places, self._foot_heights())
        self._floors.lower(self._levels.heights)

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now."""
        self._imu.measure(self.truth.q, self.truth.v, self.time, measurement)
        self.truth.measure(self.time, (body.getWorldTransform().matrix()[:3, :3]
                                       for body in self._feet), measurement)

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once.

        Args:
            impulse: N s.
            direction: Where it points, rad from x towards y.
        """
        links = self._links
        generalised = np.zeros(links.getNumDofs())
        along = impulse * math.cos(direction), impulse * math.sin(direction), 0.0
        for dof, axis in zip(self._root_dof, self.robot.base.axes):
            generalised[dof] = along[axis]
        change = np.linalg.solve(self.stepper.mass_matrix(), generalised)
        links.setVelocities(links.getVelocities() + change)
        self._update_truth()
