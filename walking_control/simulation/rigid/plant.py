# SPDX-License-Identifier: Apache-2.0
"""A planar walker with rigid contacts, integrated from event to event.

Simplifications: bodies, floor and locks are rigid and impacts inelastic; feet do not slip (the
friction this takes is reported); only feet touch the floor; a robot whose base has sunk below a
fraction of its standing height has fallen and stays where it is; a lock holds a joint that turns
back within its reach at the angle it has there; gears pass impacts without loss; a joint at rest
is braked by no friction, see `models.friction`. Where `scuff_length` is set, touchdowns less far
ahead than that pass through the floor, as straight legs need; a foot still inside the floor further
ahead has tripped, which ends the walk as a fall does.
"""

from collections.abc import Callable, Sequence
import math

import numpy as np

from walking_control.exceptions import IncompatiblePlant, InvalidInput, NotAchieved
from walking_control.models.array_functions import Terms
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics
from walking_control.models.efforts import effort_map, foot_turn
from walking_control.models.floor import read_profile
from walking_control.models.friction import friction_table, gear_table
from walking_control.models.robot import Robot, Start
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Measurement
from walking_control.models.support.dynamics import SupportDynamics
from walking_control.simulation.disturbance import (
    Disturbance,
    How,
    PLAIN,
    require_even,
    require_plain,
)
from walking_control.simulation.inertial import InertialUnit
from walking_control.simulation.parameters import CompliantParameters, RigidParameters
from walking_control.simulation.plant import Plant, Truth
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.events import foot_heights
from walking_control.simulation.rigid.forces import accelerate, collide, find_reactions
from walking_control.simulation.rigid.motion import advance, MOST_EVENTS
from walking_control.simulation.rigid.profile import begin_uneven, lay_ahead

DISTURBANCES = ('step_down', 'step_up', 'push', 'slope_change')
FAILURES = {rm.DIVERGED: 'the integration diverged', rm.CHATTERED: 'contacts chatter without end'}

FloorChange = tuple[int, float, float]   # step, drop in m, tilt in rad


def build_rigid_model(support: SupportDynamics, world: World,
                      values: RigidParameters | CompliantParameters,
                      parameters: np.ndarray | None = None,
                      steps: Sequence[FloorChange] = ()) -> rm.RigidModel:
    """Return the `RigidModel` of a robot.

    Args:
        support: `SupportDynamics` of the robot.
        world: `World`.
        values: Of the plant.
        parameters: Of generated support terms; gravity alone where Pinocchio serves.
        steps: Floor changes ``(step, drop, tilt)``: at that touchdown the floor is lower by drop,
            m, and from there on steeper by tilt, rad.

    Raises:
        IncompatiblePlant: Not two feet, or a lock away from the stops of its joint.
    """
    robot = support.robot
    if len(robot.feet) != 2:
        raise IncompatiblePlant(f'plant rigid on {robot.name}', value=list(robot.feet),
                                limit='walks on two feet')
    limits = [robot.limits[joint] for joint in robot.joints]
    for lock in robot.locks:
        joint = robot.limits[lock.joint]
        if min(abs(lock.angle - joint.lower), abs(lock.angle - joint.upper)) > 1e-9:
            raise IncompatiblePlant(f'lock of joint {lock.joint}', value=lock.angle,
                                    limit='must lie at a joint limit for plant rigid')
    drops, tilts = floor_changes(steps)
    gravity = support.dynamics.model.gravity.linear
    standing = support.dynamics.standing_height()
    return rm.RigidModel(
        support.layout.n, len(robot.joints), len(robot.locks), len(robot.actuators),
        np.array([gravity[0], gravity[2]]) if parameters is None else parameters,
        np.array(support.lift), np.array([support.relabel(i) for i in range(2)]),
        np.array([effort_map(support, i) for i in range(2)]),
        np.array([limit.lower for limit in limits]), np.array([limit.upper for limit in limits]),
        np.array([robot.joint_index(lock.joint) for lock in robot.locks] or [-1]),
        np.array([lock.angle for lock in robot.locks] or [0.0]),
        np.array([lock.capture for lock in robot.locks] or [0.0]), drops, tilts,
        values.scuff_length, values.scuff_depth, values.tolerance, values.max_step,
        values.fall_height * standing, world.friction, friction_table(robot),
        gear_table(robot), values.friction_fade, int(bool(robot.friction)),
        int(robot.has_gear_losses))


def floor_changes(steps: Sequence[FloorChange]) -> tuple[np.ndarray, np.ndarray]:
    """Return drops and tilts by step number; the last entries serve all later steps."""
    last = max((step for step, _, _ in steps), default=0)
    # one length for most floors: compiled code depends on it
    length = 64 * (1 + (last + 1) // 64)
    drops, tilts = np.zeros(length), np.zeros(length)
    for step, drop, tilt in steps:
        if step < 1:
            raise InvalidInput('step of a floor change', value=step, limit='counts from 1')
        drops[step] += drop
        tilts[step:] += tilt
    return drops, tilts


class RigidPlant(Plant):
    """The robot on a rigid floor; see `simulation.plant.Plant`.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: `RigidParameters`.
        steps: Floor changes, see `build_rigid_model`.

    Attributes:
        disturbances: Every `Disturbance` planned so far.

    Raises:
        IncompatiblePlant: The robot is not a planar walker on two feet.
    """

    name = 'rigid'
    parameters = RigidParameters

    def __init__(self, robot: Robot, world: World, values: RigidParameters,
                 steps: Sequence[FloorChange] = ()) -> None:
        if robot.base is not Base.PLANAR or not robot.coordinates:
            raise IncompatiblePlant(f'plant rigid on {robot.name}',
                                    limit='needs a planar robot with minimal coordinates')
        self.robot, self.world = robot, world
        self._support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
        self.model = build_rigid_model(self._support, world, values, steps=steps)
        self.state = rm.make_state(self.model)
        self._work = rm.make_workspace(self.model, self._support.layout.size)
        self.truth = Truth(robot)
        self._imu = InertialUnit(self._support.dynamics, world.slope)
        self._profile = read_profile(world)
        self.advance: Callable[[float], int] = self._advance   # see `compiled.compile_plant`
        self._joints = [robot.joint_index(joint) for joint in robot.actuators]
        self._motors = list(robot.actuators.values())
        self._mass = self._support.dynamics.mass
        self._turns = [foot_turn(self._support, i) for i in range(2)]
        self._fallen = False
        self._pushes: list[tuple[int, float]] = []   # (step, impulse), still to come
        self._planned_pushes: list[tuple[int, float]] = []
        self.disturbances: list[Disturbance] = [
            Disturbance(*change) for step, drop, tilt in steps
            for change in (('step_down', drop, step), ('slope_change', tilt, step))
            if change[1] != 0.0]

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Plant]:
        """Return the plant of a robot: that with all mass in the hip where the base does not turn.
        """
        if robot.base is Base.TRANSLATING and robot.coordinates:
            from walking_control.simulation.rigid.point_plant import PointPlant
            return PointPlant
        return cls

    def _advance(self, duration: float) -> int:
        return advance(self.terms, self.model, self.state, self._work, duration, False)

    def terms(self, support: int, q: np.ndarray, v: np.ndarray, parameters: np.ndarray,
              out: np.ndarray) -> None:
        """Fill the support terms by Pinocchio."""
        self._support.terms(support, q, v, out)

    @property
    def time(self) -> float:   # type: ignore[override]   # nobody sets a clock
        """Simulated time, s."""
        return float(self.state.memo[rm.TIME])

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        set_start(self.model, self.state, self.robot.feet.index(start.support), start.q, start.v)
        self._fallen, self.truth.trip = False, None
        self._pushes = sorted(self._planned_pushes)
        self.truth.work[:] = 0.0
        self.truth.electrical_energy = 0.0
        if self._profile is not None:
            begin_uneven(self.model, self._profile)
        self._update_truth()
        self._imu.reset()

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance; see `Plant.disturb`."""
        require_plain(how, f'plant rigid on {self.robot.name}')
        if kind not in DISTURBANCES:
            raise InvalidInput('disturbance', value=kind, limit='unknown',
                               remedy='known: ' + ', '.join(DISTURBANCES))
        last = len(self.model.drops) - 2
        if not 1 <= step <= last:
            raise InvalidInput('step of the disturbance', value=step, limit=f'must be 1 to {last}')
        if not math.isfinite(size):
            raise InvalidInput('size of the disturbance', value=size, limit='must be finite')
        require_even(self.world, kind)
        if kind == 'push':
            self._planned_pushes.append((step, size * self._mass))
        elif kind == 'slope_change':
            self.model.tilts[step:] += size
        else:
            self.model.drops[step] += size if kind == 'step_down' else -size
        self.disturbances.append(Disturbance(kind, size, step))

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s.

        Raises:
            NotAchieved: The integration diverges.
        """
        while self._pushes and self.state.mode[rm.STEPS] >= self._pushes[0][0]:
            self.push(self._pushes.pop(0)[1])
        state, before = self.state, self.truth.q.copy()
        state.effort[:] = command.effort
        for i, motor in enumerate(self._motors):
            if motor.supply_voltage > 0.0:
                state.effort[i] = motor.supplied(
                    float(command.effort[i]), float(self.truth.v[3 + self._joints[i]]), duration)
        state.armed[:self.model.n_locks] = command.lock
        if self._profile is not None:
            lay_ahead(self.model, state, self._work, self._profile)
        status = rm.FELL
        if not self._fallen:
            status = self.advance(duration)
        if status in FAILURES:
            raise self._failure(status)
        if status == rm.TRIPPED:
            self.truth.trip = self._trip()
        if status in (rm.FELL, rm.TRIPPED):
            self._fallen = True
            state.y[self.model.n + 2:] = 0.0
        self._update_truth()
        self._account(state.effort, before, duration)

    def _trip(self) -> str:
        """Return in words where the swing foot met the floor."""
        swing = self.robot.feet[1 - int(self.state.mode[rm.SUPPORT])]
        foot = self._work.foot0
        return (f'{swing} tripped: {1000.0 * -foot[rm.AHEAD_HEIGHT]:.3g} mm under the floor '
                f'{foot[rm.AHEAD]:.3g} m ahead of the stance foot; limit '
                f'{1000.0 * self.model.scuff_depth:.3g} mm beyond {max(self.model.scuff, 0.0):g} m')

    def _failure(self, status: int) -> NotAchieved:
        """Return the error that says why the integration cannot go on."""
        where = f'plant rigid on {self.robot.name} at {self.time:.4g} s'
        if status == rm.CHATTERED:
            return NotAchieved(
                f'events within one tick of {where}',
                limit=f'more than {MOST_EVENTS}, or so many short steps: contacts chatter, as when '
                'a robot sinks down between both feet and each landing lifts the other foot',
                remedy='start with straighter legs, hold the knees (locks, springs or a '
                'controller), or choose plant mujoco')
        return NotAchieved(where, limit=FAILURES[status],
                           remedy='loosen rigid.tolerance or check efforts')

    def _account(self, effort: np.ndarray, before: np.ndarray, duration: float) -> None:
        """Add the work of a tick: exact for held efforts; recuperation within a tick only."""
        power = 0.0
        for i, joint in enumerate(self._joints):
            moved = self.truth.q[3 + joint] - before[3 + joint]
            self.truth.work[i] += effort[i] * moved
            power += self._motors[i].electrical_power(float(effort[i]), moved / duration)
        if self.robot.ground_torque is not None and self.state.mode[rm.STANCE]:
            turn = self._turns[int(self.state.mode[rm.SUPPORT])]
            self.truth.work[-1] += effort[-1] * (turn @ (self.truth.q[2:] - before[2:]))
        self.truth.electrical_energy += max(0.0, power) * duration

    def _update_truth(self) -> None:
        truth, state, n = self.truth, self.state, self.model.n
        mode, z, v = state.mode, state.y[:n + 2], state.y[n + 2:]
        support = int(mode[rm.SUPPORT])
        foot = self.robot.feet[support]
        q, rate = self._support.dynamics.base_from_coordinates(foot, z[2:], v[2:])
        truth.q[:], truth.v[:] = q, rate
        truth.q[:2] += z[:2]
        truth.v[:2] += v[:2]
        truth.locked[:] = mode[rm.FIRST_STOP + self.model.n_joints:]
        accelerate(self.terms, self.model, state.y, mode, state.effort, self._work)
        find_reactions(self.model, mode, self._work)
        truth.foot_force[:] = 0.0
        truth.foot_force[support, [0, 2]] = self._work.reactions[:2]
        truth.foot_force[1 - support, [0, 2]] = self._work.reactions[2:]
        truth.foot_height[support], truth.foot_height[1 - support] = foot_heights(
            self.model, state, self._work)

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now."""
        self._imu.measure(self.truth.q, self.truth.v, self.time, measurement)   # places the robot
        self.truth.measure(self.time, map(self._support.dynamics.foot_rotation, self.robot.feet),
                           measurement)

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once; closed contacts hold.

        Args:
            impulse: N s.
            direction: 0, along x: there is no other in the plane.

        Raises:
            InvalidInput: The direction leaves the plane.
        """
        if direction != 0.0:
            raise InvalidInput('direction of the push', value=direction,
                               limit='must be 0 rad in the plane')
        push(self.terms, self.model, self.state, self._work,
             push_direction(self._support, self.state), impulse)
        self._update_truth()


def push_direction(support: SupportDynamics, state: rm.RigidState) -> np.ndarray:
    """Return the generalised impulse of a unit impulse on the base along x, ``(n + 2,)``."""
    n = support.layout.n
    foot = support.robot.feet[int(state.mode[rm.SUPPORT])]
    direction = np.zeros(n + 2)
    direction[0] = 1.0   # the base moves with the foot and by the change of its offset from it
    for i, v in enumerate(np.eye(n)):
        direction[2 + i] = support.dynamics.base_from_coordinates(foot, state.y[2:n + 2], v)[1][0]
    return direction


def push(terms: Terms, model: rm.RigidModel, state: rm.RigidState, work: rm.Workspace,
         direction: np.ndarray, impulse: float) -> None:
    """Add an impulse, N s, to a `RigidState` at once; closed contacts hold unless torn off."""
    accelerate(terms, model, state.y, state.mode, state.effort, work)
    work.impulse[:] = impulse * direction
    collide(model, state, work, work.impulse, bool(state.mode[rm.SWING]))


def set_start(model: rm.RigidModel, state: rm.RigidState, support: int, q: np.ndarray,
              v: np.ndarray) -> None:
    """Put a `RigidState` just after touchdown: one foot at the origin, locks in reach engaged."""
    state.y[:] = 0.0
    state.y[2:model.n + 2] = q
    state.y[model.n + 4:] = v
    state.mode[:] = 0
    state.mode[rm.SUPPORT], state.mode[rm.STANCE] = support, 1
    state.memo[:] = 0.0
    state.memo[rm.STEP_SIZE], state.memo[rm.MIN_NORMAL] = 1e-3, np.inf
    rm.forget_depths(state.memo)
    state.armed[:] = 1
    angles = model.lift[support] @ state.y[2:model.n + 2]
    for i in range(model.n_locks):
        distance = abs(angles[1 + model.lock_joint[i]] - model.lock_angle[i])
        state.mode[rm.FIRST_STOP + model.n_joints + i] = distance <= model.lock_capture[i]
