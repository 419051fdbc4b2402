# SPDX-License-Identifier: Apache-2.0
"""A robot in DART, built from its URDF.

DART advances by impulses: what touches, stops or locks within a step of the physics has its
velocity at the end of the step, without bounce; no stiffness is involved.

Simplifications: the friction cone is a pyramid, along two directions of DART's choice; a single
point turns freely about the normal but for `torsion`; motors act as ideal effort sources with
reflected inertia (see `rotors`). Dry friction holds a joint at rest; a gear's loss is dry friction
as large as its load of the step before makes it (see `models.friction`).
"""

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from walking_control.exceptions import import_optional
from walking_control.models import (
    BACK_LOSS,
    Base,
    DRIVING_LOSS,
    floor_gravity,
    gear_table,
    Robot,
    Start,
    World,
)
from walking_control.simulation.dart.model import build_skeleton, Floors, foot_balls, root_joints
from walking_control.simulation.dart.rotors import Stepper, Torsion
from walking_control.simulation.engine import Forces, Truth
from walking_control.simulation.parameters import DartParameters
from walking_control.simulation.stepped import FAR, SteppedEngine

FIRST = 4  # steps by which the forces at the start are found


class DartEngine(SteppedEngine):
    """The robot and a floor, sloped, with steps or uneven; see `simulation.engine.Engine`.

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
        engine.setCollisionDetector(dart.simulation.ODE)  # four points under a sole
        # one is moved by forces, the other stopped by contacts (see `rotors`)
        self._contact, self._links = (build_skeleton(dart, robot) for _ in range(2))
        self._links.setTimeStep(self._values.timestep)
        self._links.setGravity(engine.getGravity())
        engine.addSkeleton(self._contact)
        self._floors = Floors(
            dart,
            engine,
            self._contact,
            robot.feet,
            self.world.friction,
            self._lay_pieces(),
            self._profile,
        )
        self._index()
        inertia = np.zeros(self._links.getNumDofs())
        inertia[self._motor_dof] = [motor.armature for motor in self._motors]
        self.stepper = Stepper(dart, self._links, self._contact, engine, inertia)
        self._torsion = Torsion(
            self._links,
            self._feet,
            self._values.torsion * self.world.friction,
            self._values.timestep,
        )

    def _find_dof(self, joint: str) -> int:
        return int(self._links.getDof(joint).getIndexInSkeleton())

    def _index(self) -> None:
        robot, find = self.robot, self._find_dof
        self._joint_dof = np.array([find(name) for name in robot.joints], dtype=int)
        # of a free base the turn comes first, then the place
        self._root_dof = (
            np.array([find(name) for name in root_joints(robot)], dtype=int)
            if robot.is_planar
            else np.array([3, 4, 5])
        )
        self._motor_dof = np.array([find(name) for name in robot.actuators], dtype=int)
        self._gears = [
            (
                i,
                name,
                self._motors[i].armature,
                float(loss[DRIVING_LOSS]),
                float(loss[BACK_LOSS]),
                self._contact.getDof(name).getCoulombFriction(),
            )
            for i, (name, loss) in enumerate(zip(robot.actuators, gear_table(robot)))
            if min(self._motors[i].efficiency, self._motors[i].back_efficiency) < 1.0
        ]
        self._locks = [
            (lock, self._links.getDof(lock.joint), self._contact.getJoint(lock.joint))
            for lock in robot.locks
        ]
        self._feet = [self._links.getBodyNode(foot) for foot in robot.feet]
        self._foot_of_body = {foot: i for i, foot in enumerate(robot.feet)}
        self._balls = [foot_balls(robot, foot) for foot in robot.feet]

    def link_index(self, link: str) -> int:
        """Return the number of a link's body, below 0 of what is none."""
        names = [self._links.getBodyNode(i).getName() for i in range(self._links.getNumBodyNodes())]
        return names.index(link) if link in names else -1

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        q, v = self._start_state(start)
        self._floors.lower(self._levels.heights, self._levels.slopes)
        self._begin()
        self._locked = np.zeros(len(self.robot.locks), dtype=bool)
        self._set_state(q, v)
        self._feel_start()

    def _set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        base, links = self.robot.base, self._links
        positions, velocities = links.getPositions(), links.getVelocities()
        positions[self._joint_dof], velocities[self._joint_dof] = q[base.nq :], v[base.nv :]
        if base is Base.FREE:  # DART turns and moves the origin in the floor's axes
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
        for _ in range(FIRST):  # a foot that just touches is inside the floor after one
            self.stepper.step(force)
            self._force += 1.0 / FIRST * self._forces()
        self._felt: list[np.ndarray] = []  # forces of the steps since they were last read
        links.setPositions(positions)
        links.setVelocities(velocities)
        self.stepper.reset()
        self._torsion.reset(self.stepper.mass_matrix())

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Make a timestep; see `Engine.advance`.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.
        """
        links, force = self._links, np.zeros(self._links.getNumDofs())
        self._arm(armed)
        force[self._motor_dof] = effort
        if forces or self._torsion.acts:
            links.clearExternalForces()
            for body, push in forces:
                node = links.getBodyNode(body)
                node.addExtForce(push, node.getLocalCOM(), False, True)
            self._torsion.apply()
        before = self.rates() if self._gears else []
        self.stepper.step(force)
        if self._gears:
            self._brake_gears(effort.tolist(), before, self.rates())
        felt = self._forces()
        self._felt.append(felt)
        if self._torsion.acts:
            self._torsion.follow(felt[:, 2])
        links.clearExternalForces()
        self._tick()
        return self._follow_feet() if self._levels.planned else None

    def rates(self) -> list[float]:
        """Return how fast the joints of the motors turn now, rad/s."""
        return list(self._links.getVelocities()[self._motor_dof].tolist())

    def _brake_gears(self, efforts: list[float], before: list[float], after: list[float]) -> None:
        """Let each gear brake by the share it loses of the torque that enters it."""
        for i, name, armature, driving, back, friction in self._gears:
            entering = efforts[i] - armature * (after[i] - before[i]) / self._values.timestep
            loss = driving if entering * after[i] > 0.0 else back
            self._contact.getDof(name).setCoulombFriction(friction + loss * abs(entering))

    def _forces(self) -> np.ndarray:
        """Return the forces on the feet in the step just made, N, ``(n_feet, 3)``."""
        forces = np.zeros((len(self._feet), 3))
        for contact in self._engine.getLastCollisionResult().getContacts():
            # the force is that on the first one
            for thing, sign in ((contact.collisionObject1, 1.0), (contact.collisionObject2, -1.0)):
                body = thing.getShapeFrame().asShapeNode().getBodyNode()
                foot = self._foot_of_body.get(body.getName())
                if foot is not None:
                    forces[foot] += sign * contact.force
        return forces

    def _arm(self, armed: np.ndarray) -> None:
        """Release locks that are not armed; engage armed ones whose joint has arrived."""
        locked, kinds = self._locked, self._dart.dynamics
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

    def read(self, truth: Truth) -> None:
        """Fill a `Truth`; forces are means over `force_time`."""
        links, base = self._links, self.robot.base
        truth.locked[:] = self._locked
        positions, velocities = links.getPositions(), links.getVelocities()
        truth.q[base.nq :] = positions[self._joint_dof]
        truth.v[base.nv :] = velocities[self._joint_dof]
        if base is Base.FREE:
            rotation = pin.exp3(positions[:3])
            truth.q[:3], truth.q[3:7] = positions[3:6], pin.Quaternion(rotation).coeffs()
            truth.v[:3], truth.v[3:6] = velocities[3:6] @ rotation, velocities[:3] @ rotation
        else:
            truth.q[:3], truth.v[:3] = positions[self._root_dof], velocities[self._root_dof]
        if self._felt:
            count = min(len(self._felt), max(1, round(self._values.force_time / self.resolution)))
            self._force[:] = 0.0
            for force in self._felt[-count:]:
                self._force += 1.0 / count * force
            self._felt.clear()
        truth.foot_force[:] = self._force
        truth.foot_height[:] = self._foot_heights()

    def _foot_heights(self) -> list[float]:
        """Return the height of the lowest point of each foot over its floor, m."""
        heights = []
        levels = self._levels
        for body, (points, radii), level, slope in zip(
            self._feet, self._balls, levels.heights, levels.slopes
        ):
            place = body.getWorldTransform().matrix()
            heights.append(
                min(
                    FAR,
                    self._floors.height_over(
                        points @ place[:3, :3].T + place[:3, 3], radii, float(level), float(slope)
                    ),
                )
            )
        return heights

    def _follow_feet(self) -> str | None:
        """Bring the floor of each foot to its level, see `Levels`."""
        places = [float(body.getWorldTransform().matrix()[0, 3]) for body in self._feet]
        trip = self._levels.walk(places, self._foot_heights())
        self._floors.lower(self._levels.heights, self._levels.slopes)
        return trip

    def foot_rotations(self) -> Iterator[np.ndarray]:
        """Return what turns the axes of each foot to the floor's."""
        return (body.getWorldTransform().matrix()[:3, :3] for body in self._feet)

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push the base at once by an impulse in the floor frame, N s, ``(3,)``.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        links = self._links
        generalised = np.zeros(links.getNumDofs())
        for dof, axis in zip(self._root_dof, self.robot.base.axes):
            generalised[dof] = impulse[axis]
        change = np.linalg.solve(self.stepper.mass_matrix(), generalised)
        links.setVelocities(links.getVelocities() + change)
