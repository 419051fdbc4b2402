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

from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from walking_control.exceptions import IncompatiblePlant, NotAchieved, require
from walking_control.models import (
    Base,
    Dynamics,
    effort_map,
    FloorProfile,
    foot_turn,
    friction_table,
    gear_table,
    Parameters,
    read_profile,
    Robot,
    Start,
    SupportDynamics,
    Terms,
    World,
)
from walking_control.simulation import (
    Change,
    CompliantParameters,
    Engine,
    Feature,
    Forces,
    profile_of,
    RigidParameters,
    Truth,
)
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.events import foot_heights
from walking_control.simulation.rigid.forces import accelerate, collide, find_reactions
from walking_control.simulation.rigid.model import begin_uneven, lay_ahead
from walking_control.simulation.rigid.motion import advance, MOST_EVENTS

FAILURES = {
    rm.DIVERGED: 'the integration diverged',
    rm.CHATTERED: 'contacts or joints chatter without end',
}

FloorChange = tuple[int, float, float]  # step, drop in m, tilt in rad


def build_rigid_model(
    support: SupportDynamics,
    world: World,
    values: RigidParameters | CompliantParameters,
    parameters: np.ndarray | None = None,
    steps: Sequence[FloorChange] = (),
) -> rm.RigidModel:
    """Return the `RigidModel` of a robot.

    Args:
        support: `SupportDynamics` of the robot.
        values: Of the plant.
        parameters: Of generated support terms; gravity alone where Pinocchio serves.
        steps: Floor changes ``(step, drop, tilt)``: at that touchdown the floor is lower by drop,
            m, and from there on steeper by tilt, rad.

    Raises:
        IncompatiblePlant: Not two feet, or a lock away from the stops of its joint.
    """
    robot = support.robot
    require(
        len(robot.feet) == 2,
        f'plant rigid on {robot.name}',
        value=list(robot.feet),
        limit='walks on two feet',
        error=IncompatiblePlant,
    )
    limits = [robot.limits[joint] for joint in robot.joints]
    for lock in robot.locks:
        joint = robot.limits[lock.joint]
        require(
            min(abs(lock.angle - joint.lower), abs(lock.angle - joint.upper)) <= 1e-9,
            f'lock of joint {lock.joint}',
            value=lock.angle,
            limit='must lie at a joint limit for plant rigid',
            error=IncompatiblePlant,
        )
    drops, tilts = floor_changes(steps)
    gravity = support.dynamics.model.gravity.linear
    return rm.RigidModel(
        support.layout.n,
        len(robot.joints),
        len(robot.locks),
        len(robot.actuators),
        np.array([gravity[0], gravity[2]]) if parameters is None else parameters,
        np.array(support.lift),
        np.array([support.relabel(i) for i in range(2)]),
        np.array([effort_map(support, i) for i in range(2)]),
        np.array([limit.lower for limit in limits]),
        np.array([limit.upper for limit in limits]),
        np.array([robot.joint_index(lock.joint) for lock in robot.locks] or [-1]),
        np.array([lock.angle for lock in robot.locks] or [0.0]),
        np.array([lock.capture for lock in robot.locks] or [0.0]),
        drops,
        tilts,
        values.scuff_length,
        values.scuff_depth,
        values.tolerance,
        values.max_step,
        values.fall_height * support.dynamics.standing_height(),
        world.friction,
        friction_table(robot),
        gear_table(robot),
        values.friction_fade,
        int(bool(robot.friction)),
        int(robot.has_gear_losses),
    )


def floor_changes(steps: Sequence[FloorChange]) -> tuple[np.ndarray, np.ndarray]:
    """Return drops and tilts by step number; the last entries serve all later steps."""
    last = max((step for step, _, _ in steps), default=0)
    # one length for most floors: compiled code depends on it
    length = 64 * (1 + (last + 1) // 64)
    drops, tilts = np.zeros(length), np.zeros(length)
    for step, drop, tilt in steps:
        require(step >= 1, 'step of a floor change', value=step, limit='counts from 1')
        drops[step] += drop
        tilts[step:] += tilt
    return drops, tilts


class EventEngine(Engine):
    """An engine that goes from event to event: its state keeps clock and steps."""

    state: Any  # arrays `memo` and `mode`, as `rigid.model` lays them out

    @property
    def time(self) -> float:  # type: ignore[override]   # nobody sets a clock
        """Simulated time, s."""
        return float(self.state.memo[rm.TIME])

    @property
    def steps(self) -> int:
        """Touchdowns so far."""
        return int(self.state.mode[rm.STEPS])


class PlanarEngine(EventEngine):
    """What engines share whose state is a `RigidState` of a planar walker on two feet.

    Args:
        values: Validated values of `parameters`.

    Raises:
        IncompatiblePlant: The robot is none.

    Attributes:
        terms: Fills the support terms by Pinocchio.
    """

    model: rm.RigidModel
    state: rm.RigidState
    move: Callable[[float], int]  # integrates for a time, s; returns a status of `rigid.model`
    workspace: rm.Workspace

    def __init__(self, robot: Robot, world: World, values: Parameters) -> None:
        require(
            robot.is_planar and robot.coordinates,
            f'plant {self.name} on {robot.name}',
            limit='needs a planar robot with minimal coordinates',
            error=IncompatiblePlant,
        )
        super().__init__(robot, world, values)
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        self._support = SupportDynamics(self.dynamics)
        self.terms = self._support.fill
        self._changes: list[Change] = []
        self._joints = [3 + robot.joint_index(joint) for joint in robot.actuators]
        self._q, self._v = np.zeros((2, 3 + len(robot.joints)))  # as last read
        self._profile: FloorProfile | None = None  # of a floor that is laid as the robot goes
        self._fallen = False

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Integrate for a time h; see `Engine.advance`.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.

        Raises:
            NotAchieved: The integration diverges.
        """
        state, n, self._before = self.state, self.model.n, self._q.copy()
        state.effort[:] = effort
        state.armed[: self.model.n_locks] = armed
        if self._profile is not None:
            lay_ahead(self.model, state, self.workspace, self._profile)
        status = rm.FELL if self._fallen else self.move(h)
        if status in FAILURES:
            raise self._failure(status)
        if status in (rm.FELL, rm.TRIPPED):
            self._fallen = True
            state.y[n + 2 : 2 * n + 4] = 0.0
        return self._trip() if status == rm.TRIPPED else None

    def _failure(self, status: int) -> NotAchieved:
        """Return the error that says why the integration cannot go on."""
        return NotAchieved(
            f'plant {self.name} on {self.robot.name} at {self.time:.4g} s',
            limit=FAILURES[status],
            remedy=f'loosen {self.name}.tolerance or check efforts',
        )

    @abstractmethod
    def _trip(self) -> str:
        """Return in words where the swing foot met the floor."""

    def rates(self) -> list[float]:
        """Return how fast the joints of the motors turned when last read, rad/s."""
        return list(self._v[self._joints].tolist())

    def book(
        self, effort: np.ndarray, before: list[float], after: list[float], h: float
    ) -> tuple[list[float], list[float]]:
        """Return work and mean rates, see `Engine.book`: exact, for efforts are held."""
        moved = (self._q - self._before)[self._joints]
        work = (effort[: len(moved)] * moved).tolist()
        if self.robot.ground_torque is not None:
            work += self._book_floor(effort, work)
        return work, (moved / h).tolist()

    @abstractmethod
    def _book_floor(self, effort: np.ndarray, work: list[float]) -> list[float]:
        """Return the work of the efforts that no motor makes, given that of the motors, J."""

    def _place(self, truth: Truth, support: int) -> None:
        """Fill coordinates and velocities of a `Truth` from the state, seen from a foot."""
        n = self._support.layout.n
        z, v = self.state.y[: n + 2], self.state.y[n + 2 : 2 * n + 4]
        q, rate = self._support.dynamics.base_from_coordinates(
            self.robot.feet[support], z[2:], v[2:]
        )
        truth.q[:], truth.v[:] = q, rate
        truth.q[:2] += z[:2]
        truth.v[:2] += v[:2]
        self._q[:], self._v[:] = truth.q, truth.v


class RigidEngine(PlanarEngine):
    """The robot on a rigid floor; `IncompatiblePlant` for all but planar walkers on two feet."""

    name = 'rigid'
    parameters: ClassVar[type[Parameters]] = RigidParameters  # of a subclass: its own
    lacks = MappingProxyType(
        {
            Feature.SIDEWAYS: 'it moves in a plane',
            Feature.FORCES: 'it is given as one impulse a tick',
        }
    )

    def __init__(self, robot: Robot, world: World, values: RigidParameters) -> None:
        super().__init__(robot, world, values)
        self.model = build_rigid_model(self._support, world, values)
        self.last_step = len(self.model.drops) - 2
        self.state = rm.make_state(self.model)
        self.workspace = rm.make_workspace(self.model, self._support.layout.size)
        self._profile = read_profile(world)
        self.move = lambda duration: advance(  # see `compiled.compile_engine`
            self.terms, self.model, self.state, self.workspace, duration, False
        )
        self._turns = [foot_turn(self._support, i) for i in range(2)]

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Engine]:
        """Return the engine of a robot; all mass is in the hip where the base does not turn."""
        if robot.base is Base.TRANSLATING and robot.coordinates:
            from walking_control.simulation.massless.engine import PointEngine

            return PointEngine
        return cls

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        set_start(self.model, self.state, self.robot.feet.index(start.support), start.q, start.v)
        self._fallen = False
        if self._profile is not None:
            begin_uneven(self.model, self._profile)

    def change_at_touchdown(self, step: int, drop: float, tilt: float) -> None:
        """Plan a floor that is lower and leans more from a touchdown on; see `Engine`.

        Args:
            step: The touchdown, counted from 1.
            drop: m.
            tilt: rad, downhill positive.
        """
        self.model.drops[step] += drop
        self.model.tilts[step:] += tilt

    def change(self, place: float, drop: float, tilt: float) -> None:
        """Plan a floor that is lower by drop, m, and leans more by tilt, rad, from a place on.

        Args:
            place: Ahead of the start, m.
            drop: m.
            tilt: rad, downhill positive.
        """
        self._changes.append(Change(place, drop, tilt))
        self._profile = profile_of(self._changes)

    def _book_floor(self, effort: np.ndarray, work: list[float]) -> list[float]:
        if not self.state.mode[rm.STANCE]:
            return []
        turn = self._turns[int(self.state.mode[rm.SUPPORT])]
        return [
            *[0.0] * (len(effort) - len(work) - 1),
            float(effort[-1] * (turn @ (self._q[2:] - self._before[2:]))),
        ]

    def _trip(self) -> str:
        """Return in words where the swing foot met the floor."""
        swing = self.robot.feet[1 - int(self.state.mode[rm.SUPPORT])]
        foot = self.workspace.foot0
        return (
            f'{swing} tripped: {1000.0 * -foot[rm.AHEAD_HEIGHT]:.3g} mm under the floor '
            f'{foot[rm.AHEAD]:.3g} m ahead of the stance foot; limit '
            f'{1000.0 * self.model.scuff_depth:.3g} mm beyond {max(self.model.scuff, 0.0):g} m'
        )

    def _failure(self, status: int) -> NotAchieved:
        """Return the error that says why the integration cannot go on."""
        if status == rm.CHATTERED:
            return NotAchieved(
                f'events within one tick of plant rigid on {self.robot.name} at {self.time:.4g} s',
                limit=f'more than {MOST_EVENTS}, or so many short steps: contacts chatter, as when '
                'a robot sinks down between both feet and each landing lifts the other foot',
                remedy='start with straighter legs, hold the knees (locks, springs or a '
                'controller), or choose plant mujoco',
            )
        return super()._failure(status)

    def read(self, truth: Truth) -> None:
        """Fill a `Truth`; foot forces are those of the instant."""
        state, mode = self.state, self.state.mode
        support = int(mode[rm.SUPPORT])
        self._place(truth, support)
        truth.locked[:] = mode[rm.FIRST_STOP + self.model.n_joints :]
        accelerate(self.terms, self.model, state.y, mode, state.effort, self.workspace)
        find_reactions(self.model, mode, self.workspace)
        truth.foot_force[:] = 0.0
        truth.foot_force[support, [0, 2]] = self.workspace.reactions[:2]
        truth.foot_force[1 - support, [0, 2]] = self.workspace.reactions[2:]
        truth.foot_height[support], truth.foot_height[1 - support] = foot_heights(
            self.model, state, self.workspace
        )

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push a link at once by an impulse in the floor frame, N s; closed contacts hold.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        push(
            self.terms,
            self.model,
            self.state,
            self.workspace,
            push_direction(self._support, self.state, link),
            float(impulse[0]),
        )


def push_direction(support: SupportDynamics, state: rm.RigidState, link: int = -1) -> np.ndarray:
    """Return the generalised impulse of a unit impulse along x on a link, ``(n + 2,)``.

    Args:
        state: Where the robot is.
        link: Frame of the link, pushed at its centre of mass; below 0 the base, at its origin.
    """
    n = support.layout.n
    foot = support.robot.feet[int(state.mode[rm.SUPPORT])]
    direction = np.zeros(n + 2)
    direction[0] = 1.0  # the base moves with the foot and by the change of its offset from it
    for i, v in enumerate(np.eye(n)):
        q, rates = support.dynamics.base_from_coordinates(foot, state.y[2 : n + 2], v)
        direction[2 + i] = (
            rates[0] if link < 0 else (support.dynamics.body_jacobian(q, link) @ rates)[0]
        )
    return direction


def push(
    terms: Terms,
    model: rm.RigidModel,
    state: rm.RigidState,
    work: rm.Workspace,
    direction: np.ndarray,
    impulse: float,
) -> None:
    """Add an impulse, N s, to a `RigidState` at once; closed contacts hold unless torn off."""
    accelerate(terms, model, state.y, state.mode, state.effort, work)
    work.impulse[:] = impulse * direction
    collide(model, state, work, work.impulse, bool(state.mode[rm.SWING]))


def set_start(
    model: rm.RigidModel, state: rm.RigidState, support: int, q: np.ndarray, v: np.ndarray
) -> None:
    """Put a `RigidState` just after touchdown: one foot at the origin, locks in reach engaged."""
    state.y[:] = 0.0
    state.y[2 : model.n + 2] = q
    state.y[model.n + 4 :] = v
    state.mode[:] = 0
    state.mode[rm.SUPPORT], state.mode[rm.STANCE] = support, 1
    state.memo[:] = 0.0
    state.memo[rm.STEP_SIZE], state.memo[rm.MIN_NORMAL] = 1e-3, np.inf
    rm.forget_depths(state.memo)
    state.armed[:] = 1
    engage_locks(model, state, support)


def engage_locks(model: rm.RigidModel, state: rm.RigidState, support: int) -> None:
    """Engage the locks whose joints are within reach, seen from the reference foot."""
    angles = model.lift[support] @ state.y[2 : model.n + 2]
    for i in range(model.n_locks):
        distance = abs(angles[1 + model.lock_joint[i]] - model.lock_angle[i])
        state.mode[rm.FIRST_STOP + model.n_joints + i] = distance <= model.lock_capture[i]
