# SPDX-License-Identifier: Apache-2.0
"""A robot in DART, built from its URDF.

DART advances in steps of fixed size by impulses: whatever touches, stops or locks within a step has
its velocity at the end of the step, without any bounce; no stiffness is involved.

Simplifications: the friction cone is a pyramid, along two directions of DART's choice; a foot
resists no turning about the normal but by several points; motors act as ideal effort sources with
reflected inertia (see `rotors`). Dry friction holds a joint at rest; a gear's loss is dry friction
as large as its load of the step before makes it (see `models.friction`).
"""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.exceptions import import_optional, IncompatiblePlant, InvalidInput
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics, floor_gravity
from walking_control.models.friction import BACK_LOSS, DRIVING_LOSS, gear_table
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.robot import Robot, Start
from walking_control.models.signals import Command, Measurement
from walking_control.simulation.dart.floor import Floors, support_balls
from walking_control.simulation.dart.model import build_skeleton, root_joints
from walking_control.simulation.dart.rotors import Stepper
from walking_control.simulation.inertial import InertialUnit
from walking_control.simulation.mujoco.floor import Levels
from walking_control.simulation.mujoco.pushes import Pushes
from walking_control.simulation.mujoco.terrain import Change
from walking_control.simulation.plant import Plant, Truth

SCUFF_DEPTH = 0.001   # m: a foot ahead of the other that is deeper under a step up has tripped
FIRST = 4             # steps by which the forces at the start are found
FAR = 10.0            # m: feet higher than this count as that high

DART = ParameterTable('dart', [
    Parameter('timestep', 0.0005, 's', 'Step of the physics.', 1e-5, 0.01),
    Parameter('force_time', 0.002, 's', 'Foot forces are averaged over this, at most since the last '
              'measurement: an impact takes no time.', 0.0, 0.1),
    Parameter('lock_time', 0.01, 's', 'Time in which an engaged lock draws its joint to its angle.',
              0.001, 1.0),
])


class DartPlant(Plant):
    """The robot and a possibly sloped floor, flat but for steps; see `simulation.plant.Plant`.

    Args:
        robot: The `Robot`.
        world: Validated values of `WORLD`.
        values: Validated values of `DART`.

    Raises:
        MissingDependency: DART is not installed.
        UrdfError: DART cannot build the model.
    """

    name = 'dart'
    parameters = DART

    def __init__(self, robot: Robot, world: SimpleNamespace, values: SimpleNamespace) -> None:
        self._dart = import_optional('dartpy', 'plant dart', "walking_control[dart]")
        if robot.servos or robot.virtual_efforts:
            raise IncompatiblePlant(f'plant dart on {robot.name}',
                                    value=', '.join((*robot.servos, *robot.virtual_efforts)),
                                    limit='offered by plant rigid alone')
        self.robot, self.world, self._values = robot, world, values
        self.resolution = values.timestep
        self._changes: list[Change] = []
        self._prepare()
        self._dynamics = Dynamics(robot, world.gravity, world.slope)
        self._imu = InertialUnit(self._dynamics, world.slope)
        self.truth = Truth(robot)
        self.time = 0.0
        self._steps = 0
        self._levels = Levels(SCUFF_DEPTH)

    def _prepare(self) -> None:
        dart, robot = self._dart, self.robot
        world = self._dart.simulation.World()
        world.setTimeStep(self._values.timestep)
        world.setGravity(floor_gravity(self.world.gravity, self.world.slope))
        world.setCollisionDetector(dart.simulation.ODE)   # four points under a sole on any floor
        self._contact, self._skeleton = (build_skeleton(dart, robot) for _ in range(2))
        self._skeleton.setTimeStep(self._values.timestep)
        self._skeleton.setGravity(world.getGravity())
        world.addSkeleton(self._contact)
        self._floors = Floors(dart, world, self._contact, robot.feet, self.world.friction,
                              self._changes)
        self._dart_world = world   # kept alive
        self._index()
        inertia = np.zeros(self._skeleton.getNumDofs())
        inertia[self._motor_dof] = [motor.armature for motor in self._motors]
        self.rotors = Stepper(dart, self._skeleton, self._contact, world, inertia)

    def _index(self) -> None:
        skeleton, robot = self._skeleton, self.robot
        def find(name: str) -> int:
            return int(skeleton.getDof(name).getIndexInSkeleton())
        self._joint_dof = np.array([find(name) for name in robot.joints], dtype=int)
        self._root_dof = np.array([find(name) for name in root_joints(robot)], dtype=int) \
            if robot.base is Base.PLANAR else np.array([3, 4, 5])
        self._motors = list(robot.actuators.values())
        self._motor_dof = [find(name) for name in robot.actuators]
        self._supplied = [(i, dof, motor) for i, (dof, motor) in enumerate(zip(
            self._motor_dof, self._motors)) if motor.supply_voltage > 0.0]
        self._gears = [(i, dof, motor.armature, float(loss[DRIVING_LOSS]), float(loss[BACK_LOSS]))
                       for i, (dof, motor, loss) in enumerate(zip(
                           self._motor_dof, self._motors, gear_table(robot)))
                       if min(motor.efficiency, motor.back_efficiency) < 1.0]
        self._lock_dof = [self._contact.getDof(lock.joint) for lock in robot.locks]
        self._feet = [skeleton.getBodyNode(foot) for foot in robot.feet]
        self._balls = [support_balls(robot, foot) for foot in robot.feet]
        self._foot_names = {foot: i for i, foot in enumerate(robot.feet)}

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        self._place(start)
        self.rotors.reset()
        self.time, self._steps = 0.0, 0
        self.truth.trip = None
        self.truth.work[:] = 0.0
        self.truth.electrical_energy = 0.0
        self.truth.locked[:] = False
        self._arm(np.ones(len(self.robot.locks), dtype=bool))
        self._feel_start()
        self._update_truth()
        self._imu.reset()

    def _feel_start(self) -> None:
        """Find the forces on the feet at the start: those of the first steps, without motors."""
        skeleton, force = self._skeleton, np.zeros(self._skeleton.getNumDofs())
        positions, velocities = skeleton.getPositions(), skeleton.getVelocities()
        self._force = np.zeros((len(self._feet), 3))
        for _ in range(FIRST):   # a foot that just touches is inside the floor after one
            self._arm(self.truth.locked)
            self.rotors.step(force)
            self._feel(1.0 / FIRST)
        skeleton.setPositions(positions)
        skeleton.setVelocities(velocities)
        self.rotors.reset()

    def _place(self, start: Start) -> None:
        dynamics = self._dynamics
        if start.posture is None:
            q, v = dynamics.base_from_coordinates(start.support, start.q, start.v)
        else:   # at rest, the base upright, the lowest foot on the floor
            q, v = dynamics.configuration(start.posture), np.zeros(dynamics.nv)
            dynamics.place(q)
            q[len(self.robot.base.axes) - 1] = -min(dynamics.foot_position(foot)[2]
                                                    for foot in self.robot.feet)
        self._set_state(q, v)

    def _set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        base, skeleton = self.robot.base, self._skeleton
        positions, velocities = skeleton.getPositions(), skeleton.getVelocities()
        positions[self._joint_dof], velocities[self._joint_dof] = q[base.nq:], v[base.nv:]
        if base is Base.FREE:   # DART turns and moves the origin in the floor's axes
            rotation = pin.Quaternion(q[3:7]).matrix()
            positions[:6] = *pin.log3(rotation), *q[:3]
            velocities[:6] = *(rotation @ v[3:6]), *(rotation @ v[:3])
        else:
            positions[self._root_dof], velocities[self._root_dof] = q[:3], v[:3]
        skeleton.setPositions(positions)
        skeleton.setVelocities(velocities)

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s, a whole number of timesteps."""
        steps = round(duration / self._values.timestep)
        if steps < 1 or not math.isclose(steps * self._values.timestep, duration, rel_tol=1e-6):
            raise InvalidInput('duration of a tick', value=duration,
                               limit=f'must be a multiple of dart.timestep '
                               f'({self._values.timestep:g} s)',
                               remedy='change dart.timestep or the rate')
        skeleton, rotors, dt = self._skeleton, self.rotors, self._values.timestep
        force = np.zeros(skeleton.getNumDofs())
        efforts = command.effort.tolist()
        force[self._motor_dof] = efforts
        velocity = skeleton.getVelocities()
        before = velocity[self._motor_dof].tolist()
        self._force[:] = 0.0
        felt = min(steps, max(1, round(self._values.force_time / dt)))
        for left in range(steps, 0, -1):
            self._arm(command.lock)
            for i, dof, motor in self._supplied:
                efforts[i] = force[dof] = motor.supplied(
                    float(command.effort[i]), before[i], dt)
            rotors.step(force)
            after = skeleton.getVelocities()[self._motor_dof].tolist()
            self._account(efforts, before, after, dt)
            before = after
            if left <= felt:
                self._feel(1.0 / felt)
        self._steps += steps
        self.time = self._steps * dt
        self._update_truth()

    def _feel(self, share: float) -> None:
        """Add a share of the forces on the feet in the step just made."""
        for contact in self._dart_world.getLastCollisionResult().getContacts():
            for thing, sign in ((contact.collisionObject1, 1.0), (contact.collisionObject2, -1.0)):
                foot = self._foot_names.get(thing.getShapeFrame().asShapeNode().getBodyNode().getName())
                if foot is not None:
                    self._force[foot] += (sign * share) * contact.force

    def _account(self, efforts: list[float], before: list[float], after: list[float],
                 dt: float) -> None:
        """Add the work of one physics step; no energy flows back to the supply."""
        power = 0.0
        for i, effort in enumerate(efforts):
            velocity = 0.5 * (before[i] + after[i])
            self.truth.work[i] += effort * velocity * dt
            power += self._motors[i].electrical_power(effort, velocity)
        self.truth.electrical_energy += max(0.0, power) * dt

    def _arm(self, armed: np.ndarray) -> None:
        """Release locks that are not armed; engage armed ones whose joint has arrived."""
        locked, kinds = self.truth.locked, self._dart.dynamics
        for i, (lock, dof) in enumerate(zip(self.robot.locks, self._lock_dof)):
            away = lock.angle - dof.getPosition()
            holds = bool(armed[i]) and (bool(locked[i]) or abs(away) <= lock.capture)
            if holds != locked[i]:
                joint = self._contact.getJoint(lock.joint)
                joint.setActuatorType(kinds.SERVO if holds else kinds.FORCE)
                joint.setLimitEnforcement(not holds)
                locked[i] = holds
            if holds:
                dof.setCommand(away / self._values.lock_time)

    def _update_truth(self) -> None:
        truth, skeleton, base = self.truth, self._skeleton, self.robot.base
        positions, velocities = skeleton.getPositions(), skeleton.getVelocities()
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

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now."""
        truth, base = self.truth, self.robot.base
        measurement.stamp = self.time
        measurement.position[:] = truth.q[base.nq:]
        measurement.velocity[:] = truth.v[base.nv:]
        measurement.locked[:] = truth.locked
        self._imu.measure(truth.q, truth.v, self.time, measurement)
        for i, body in enumerate(self._feet):
            rotation = body.getWorldTransform().matrix()[:3, :3]
            np.dot(truth.foot_force[i], rotation, out=measurement.foot_force[i])

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once.

        Args:
            impulse: N s.
            direction: Where it points, rad from x towards y.
        """
        generalised = np.zeros(self._skeleton.getNumDofs())
        along = impulse * math.cos(direction), impulse * math.sin(direction), 0.0
        for dof, axis in zip(self._root_dof, self.robot.base.axes):
            generalised[dof] = along[axis]
        change = np.linalg.solve(self.rotors.mass_matrix(), generalised)
        self._skeleton.setVelocities(self._skeleton.getVelocities() + change)
        self._update_truth()
