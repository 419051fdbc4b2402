# SPDX-License-Identifier: Apache-2.0
"""A planar walker on a compliant floor ([DS09] section 3.2); see doc/contact.md.

Simplifications: the bodies and the stops and locks of joints are rigid; a foot is one point, or an
arc about a centre on the leg; the floor is straight between the places its height is given at and
feels a foot where its arc is nearest; only feet touch it; other simplifications as of plant rigid.
"""

from collections.abc import Callable
import math
from typing import Any

import numpy as np

from walking_control.exceptions import IncompatiblePlant, InvalidInput, NotAchieved
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics
from walking_control.models.efforts import foot_turn
from walking_control.models.robot import Robot, Start
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Measurement
from walking_control.models.support.compiled import compile_law, compile_terms
from walking_control.models.support.dynamics import SupportDynamics
from walking_control.simulation.compliant import model as cm
from walking_control.simulation.compliant.law import fastest_rate
from walking_control.simulation.compliant.motion import advance
from walking_control.simulation.disturbance import (
    Disturbance,
    How,
    PLAIN,
    require_even,
    require_plain,
)
from walking_control.simulation.inertial import InertialUnit
from walking_control.simulation.parameters import CompliantParameters, FLOORS
from walking_control.simulation.plant import Plant, Truth
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.events import kinetic_energy
from walking_control.simulation.rigid.forces import collide
from walking_control.simulation.rigid.plant import build_rigid_model, push_direction

STABLE = 5.9   # the method is stable up to this product of step and fastest rate
DISTURBANCES = ('step_down', 'step_up', 'push')
FAILURES = {rm.DIVERGED: 'the integration diverged', rm.CHATTERED: 'joints chatter without end'}



class CompliantPlant(Plant):
    """The robot on a compliant floor; see `simulation.plant.Plant`.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: `CompliantParameters`.
        compiled: False runs plain Python and Pinocchio, some thousand times slower, to check by.

    Raises:
        IncompatiblePlant: The robot is not a planar walker on two feet.
        MissingDependency: CasADi or numba is missing.
        InvalidInput: The step is too long for the stiffness.
    """

    name = 'compliant'
    parameters = CompliantParameters

    def __init__(self, robot: Robot, world: World, values: CompliantParameters,
                 compiled: bool = True) -> None:
        if robot.base is not Base.PLANAR or not robot.coordinates:
            raise IncompatiblePlant(f'plant compliant on {robot.name}',
                                    limit='needs a planar robot with minimal coordinates')
        self.robot, self.world = robot, world
        self._support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
        terms, parameters = compile_terms(self._support.dynamics) if compiled \
            else (self._plain_terms, None)
        model = build_rigid_model(self._support, world, values, parameters)
        state, feet = cm.make_soft_state(model)
        work = cm.make_soft_workspace(model, self._support.layout.size)
        model_record, self.model = rm.as_record(model)
        floor_record, self.floor = rm.as_record(self._lay_floor(model, world, values))
        state_record, self.state = rm.as_record(state)
        feet_record, self.feet = rm.as_record(feet)
        work_record, self._work = rm.as_record(work)
        self._require_stable(values.timestep)
        move: Callable[..., int] = compile_law(advance) if compiled else advance
        given: tuple[Any, ...] = self.model, self.floor, self.state, self.feet, self._work
        if compiled:
            given = model_record, floor_record, state_record, feet_record, work_record
        self._advance: Callable[[float], int] = lambda duration: move(terms, *given, duration)
        self.truth = Truth(robot)
        self._imu = InertialUnit(self._support.dynamics, world.slope)
        self._joints = [robot.joint_index(joint) for joint in robot.actuators]
        self._motors = list(robot.actuators.values())
        self._mass = self._support.dynamics.mass
        self._fallen = False
        self._pushes: list[tuple[int, float]] = []   # (step, impulse), still to come
        self._planned_pushes: list[tuple[int, float]] = []
        self.disturbances: list[Disturbance] = []

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Plant]:
        """Return the plant of a robot: of a free base `SpacePlant`."""
        if robot.base is Base.FREE:
            from walking_control.simulation.compliant.space_plant import SpacePlant
            return SpacePlant
        return cls

    def _plain_terms(self, support: int, q: np.ndarray, v: np.ndarray, _: object,
                     out: np.ndarray) -> None:
        self._support.terms(support, q, v[:len(q)], out)   # more of the state follows

    def _lay_floor(self, model: rm.RigidModel, world: World,
                   values: CompliantParameters) -> cm.Floor:
        places, heights = list(world.floor_places), list(world.floor_heights)
        if not places:   # level as far as anything goes
            places, heights = [-1e4, 1e4], [0.0, 0.0]
        if len(places) < 64:   # one length for most floors: compiled code depends on it
            slope = (heights[-1] - heights[-2]) / (places[-1] - places[-2])
            for _ in range(64 - len(places)):
                places.append(places[-1] + 1.0)
                heights.append(heights[-1] + slope)
        damping = np.zeros(len(self.robot.joints))
        for joint, spring in self.robot.springs.items():
            damping[self.robot.joint_index(joint)] = spring.damping
        turns = np.array([self._support.lift[0].T @ foot_turn(self._support, foot)
                          for foot in range(cm.FEET)])
        return cm.Floor(
            FLOORS.index(values.kind), values.stiffness, values.damping, values.dissipation,
            values.sliding_stiffness, values.sliding_damping, values.rolling_relief,
            values.foot_radius, turns, np.array(places), np.array(heights),
            np.zeros(len(model.drops)), damping)

    def longest_stable_step(self) -> float:
        """Return the longest step the integration is stable with, s, for straight legs."""
        n, floor = self.model.n, self.floor
        parts = self._support.layout.split(self._support.terms(0, np.zeros(n), np.zeros(n)))
        rates = [floor.sliding_stiffness / floor.sliding_damping]
        for foot in range(cm.FEET):
            J = np.hstack((np.eye(2), parts['jacobian'] if foot else np.zeros((2, n))))
            lightness = J @ np.linalg.solve(parts['mass'], J.T)
            rates += [fastest_rate(floor.stiffness, floor.damping, lightness[1, 1]),
                      fastest_rate(floor.sliding_stiffness, floor.sliding_damping,
                                   lightness[0, 0])]
        return STABLE / max(rates)

    def _require_stable(self, step: float) -> None:
        longest = self.longest_stable_step()
        if step > longest:
            raise InvalidInput(
                'parameter compliant.timestep', value=step, limit=f'too long for this floor under '
                f'{self.robot.name}: at most {longest:.3g} s is stable',
                remedy='shorten it, or take less stiffness or damping')

    @property
    def time(self) -> float:   # type: ignore[override]   # nobody sets a clock
        """Simulated time, s."""
        return float(self.state.memo[rm.TIME])

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        state, n, support = self.state, self.model.n, self.robot.feet.index(start.support)
        for array in (state.y, state.mode, state.memo, *self.feet):
            array[:] = 0
        q, v = start.q, start.v
        if support == 1:
            relabel = self._support.relabel(1)
            q, v = relabel @ q, relabel @ v
        state.y[2:n + 2], state.y[n + 4:2 * n + 4] = q, v
        if support == 1:   # the second foot rests in the origin
            parts = self._support.layout.split(self._support.terms(0, q, v))
            state.y[:2] = -parts['foot']
            state.y[n + 2:n + 4] = -(parts['jacobian'] @ v)
        state.memo[rm.STEP_SIZE] = 1e-4
        state.armed[:] = 1
        angles = self.model.lift[0] @ q
        for i in range(self.model.n_locks):
            distance = abs(angles[1 + self.model.lock_joint[i]] - self.model.lock_angle[i])
            state.mode[rm.FIRST_STOP + self.model.n_joints + i] = \
                distance <= self.model.lock_capture[i]
        self.feet.flags[cm.LAST], self.feet.flags[support] = support, cm.INSIDE
        self._fallen, self.truth.trip = False, None
        self._pushes = sorted(self._planned_pushes)
        self.truth.work[:] = 0.0
        self.truth.electrical_energy = 0.0
        self._advance(0.0)
        self._update_truth()
        self._imu.reset()

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s.

        Raises:
            NotAchieved: The integration diverges.
        """
        while self._pushes and self.state.mode[rm.STEPS] >= self._pushes[0][0]:
            self.push(self._pushes.pop(0)[1])
        state, before = self.state, self.truth.q.copy()
        start = float(state.y[2 * self.model.n + 4 + cm.FEET + cm.WORK])
        state.effort[:] = command.effort
        for i, motor in enumerate(self._motors):
            if motor.supply_voltage > 0.0:
                state.effort[i] = motor.supplied(
                    float(command.effort[i]), float(self.truth.v[3 + self._joints[i]]), duration)
        state.armed[:self.model.n_locks] = command.lock
        status = rm.FELL if self._fallen else self._advance(duration)
        if status in FAILURES:
            raise NotAchieved(f'plant compliant on {self.robot.name} at {self.time:.4g} s',
                              limit=FAILURES[status],
                              remedy='loosen compliant.tolerance or check efforts')
        if status == rm.TRIPPED:
            self.truth.trip = 'a foot tripped: it is under the floor ahead of the other foot; ' \
                f'limit {1000.0 * self.model.scuff_depth:.3g} mm'
        if status in (rm.FELL, rm.TRIPPED):
            self._fallen = True
            state.y[self.model.n + 2:2 * self.model.n + 4] = 0.0
        self._update_truth()
        self._account(state.effort, before, duration, start)

    def _account(self, effort: np.ndarray, before: np.ndarray, duration: float,
                 work: float) -> None:
        """Add the work of a tick: exact for held efforts; recuperation within a tick only."""
        power, truth = 0.0, self.truth
        total = float(self.state.y[2 * self.model.n + 4 + cm.FEET + cm.WORK]) - work
        for i, joint in enumerate(self._joints):
            moved = truth.q[3 + joint] - before[3 + joint]
            truth.work[i] += effort[i] * moved
            total -= effort[i] * moved
            power += self._motors[i].electrical_power(float(effort[i]), moved / duration)
        if self.robot.ground_torque is not None:   # what is left is the floor's
            truth.work[-1] += total
        truth.electrical_energy += max(0.0, power) * duration

    def _update_truth(self) -> None:
        truth, state, n = self.truth, self.state, self.model.n
        z, v = state.y[:n + 2], state.y[n + 2:2 * n + 4]
        q, rate = self._support.dynamics.base_from_coordinates(self.robot.feet[0], z[2:], v[2:])
        truth.q[:], truth.v[:] = q, rate
        truth.q[:2] += z[:2]
        truth.v[:2] += v[:2]
        truth.locked[:] = state.mode[rm.FIRST_STOP + self.model.n_joints:]
        truth.foot_force[:, 0] = self.feet.touch[:, cm.FORCE_X]
        truth.foot_force[:, 2] = self.feet.touch[:, cm.FORCE_Z]
        truth.foot_height[:] = self.feet.touch[:, cm.GAP]

    def energies(self) -> dict[str, float]:
        """Return the energy ledger, J: what is there, what came in and where it went.

        ``kinetic``, ``potential``, ``joint springs`` and ``stored`` (in the floor) less
        ``work`` plus ``damped`` (by the floor), ``slipped``, ``released`` (stored where a foot
        left), ``joints`` (friction, gears, dampers) and ``impacts`` (of stops and locks) does not
        change while the robot walks.
        """
        dynamics, truth, floor = self._support.dynamics, self.truth, self.floor
        first = 2 * self.model.n + 4
        slides = self.state.y[first:first + cm.FEET]
        depths = np.where(self.feet.flags[:cm.FEET] == cm.INSIDE, self.feet.touch[:, cm.GAP], 0.0)
        booked = self.state.y[first + cm.FEET:]
        return {
            'kinetic': dynamics.kinetic_energy(truth.q, truth.v),
            'potential': dynamics.potential_energy(truth.q),
            'joint springs': sum(0.5 * spring.stiffness * (
                truth.q[3 + self.robot.joint_index(joint)] - spring.rest) ** 2
                for joint, spring in self.robot.springs.items()),
            'stored': float(0.5 * floor.stiffness * depths @ depths
                            + 0.5 * floor.sliding_stiffness * slides @ slides),
            'work': float(booked[cm.WORK]), 'damped': float(booked[cm.DAMPED]),
            'slipped': float(booked[cm.SLIPPED]), 'released': float(booked[cm.RELEASED]),
            'joints': float(booked[cm.PASSIVE]), 'impacts': float(self.state.memo[rm.LOSS])}

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now."""
        self._imu.measure(self.truth.q, self.truth.v, self.time, measurement)   # places the robot
        self.truth.measure(self.time, map(self._support.dynamics.foot_rotation, self.robot.feet),
                           measurement)

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once; see `Plant.push`.

        Raises:
            InvalidInput: The direction leaves the plane.
        """
        if direction != 0.0:
            raise InvalidInput('direction of the push', value=direction,
                               limit='must be 0 rad in the plane')
        n, state, work = self.model.n, self.state, self._work
        parts = self._support.layout.split(self._support.terms(
            0, state.y[2:n + 2], state.y[n + 4:2 * n + 4]))
        work.M[:] = parts['mass']
        work.impulse[:] = impulse * push_direction(self._support, state)
        before = kinetic_energy(self.model, state, work)
        collide(self.model, state, work, work.impulse, False)
        gained = kinetic_energy(self.model, state, work) - before
        state.y[2 * n + 4 + cm.FEET + cm.WORK] += gained
        self._advance(0.0)
        self._update_truth()

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance; see `Plant.disturb`."""
        require_plain(how, f'plant compliant on {self.robot.name}')
        if kind not in DISTURBANCES:
            raise InvalidInput('disturbance', value=kind, limit='unknown',
                               remedy='known: ' + ', '.join(DISTURBANCES))
        last = len(self.floor.levels) - 2
        if not 1 <= step <= last:
            raise InvalidInput('step of the disturbance', value=step, limit=f'must be 1 to {last}')
        if not math.isfinite(size):
            raise InvalidInput('size of the disturbance', value=size, limit='must be finite')
        require_even(self.world, kind)
        if kind == 'push':
            self._planned_pushes.append((step, size * self._mass))
        else:
            self.floor.levels[step:] += -size if kind == 'step_down' else size
        self.disturbances.append(Disturbance(kind, size, step))
