# SPDX-License-Identifier: Apache-2.0
"""The rigid plant of robots whose base does not turn: all mass counts at the hip ([DS09] 5.4).

Legs and trunk have no mass and move without effort: swing legs turn at the commanded speeds, the
trunk stays as it starts. For the equations and simplifications see `models.pendulum`; as on the
other rigid plant feet do not slip, and the friction this takes is reported.
"""

from collections.abc import Iterator
import math
from types import MappingProxyType

import numpy as np

from walking_control.exceptions import IncompatiblePlant, NotAchieved, require
from walking_control.models import (
    Base,
    clearance,
    compile_where_possible,
    Dynamics,
    floor_gravity,
    leg_direction,
    leg_rates,
    passive_elements,
    Robot,
    stand,
    Start,
    tension,
    World,
)
from walking_control.simulation import Feature, Forces, RigidParameters, Truth
from walking_control.simulation.massless.model import (
    advance_point,
    make_point_state,
    MOST_EVENTS,
    PointModel,
    PointState,
    PUSH_OFF,
    push_point,
)
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import EventEngine

PLACES = 64  # steps at which the floor may change


class PointLegs:
    """Where legs of pitch and roll have their joints and servos.

    Attributes:
        length: m.
        joints: Index of pitch and roll joint of each foot, ``(2, 2)``.
        efforts: Index of the effort of each place of `PointState.effort`, -1 without, ``(5,)``.
        sign: Of roll in the coordinates of each support, ``(2,)``.

    Raises:
        IncompatiblePlant: The legs are built otherwise.
    """

    def __init__(self, robot: Robot) -> None:
        what = f'plant rigid on {robot.name}'
        require(
            robot.base is Base.TRANSLATING and len(robot.feet) == 2 and len(robot.coordinates) >= 4,
            what,
            limit='needs two feet and minimal coordinates',
            error=IncompatiblePlant,
        )
        acting = passive_elements(robot)
        require(
            not acting,
            what,
            value=next(iter(acting), None),
            limit='cannot act on legs without mass',
            remedy='take it out of the robot file',
            error=IncompatiblePlant,
        )
        rows = [robot.supports[foot][:2] for foot in robot.feet]
        require(
            all(np.count_nonzero(row) == 1 for pair in rows for row in pair),
            what,
            limit='the first two coordinates must be pitch and roll of the stance leg',
            error=IncompatiblePlant,
        )
        self.joints = np.array([[int(np.argmax(np.abs(row))) for row in pair] for pair in rows])
        self.sign = np.array(
            [pair[1][joints[1]] for pair, joints in zip(rows, self.joints, strict=True)]
        )
        dynamics = Dynamics(robot)
        self.length = dynamics.standing_height()
        self._check_shape(robot, dynamics, what)
        names = [robot.joints[i] for i in self.joints.ravel()]
        self.efforts = np.array(
            [
                robot.efforts.index(name) if name in robot.efforts else -1
                for name in (*names, 'push_off')
            ]
        )

    def _check_shape(self, robot: Robot, dynamics: Dynamics, what: str) -> None:
        angles = np.zeros(len(robot.joints))
        angles[self.joints] = [[0.3, -0.2], [-0.4, 0.25]]
        dynamics.place(dynamics.configuration(angles))
        for foot, joints in zip(robot.feet, self.joints, strict=True):
            wanted = np.zeros(3)
            leg_direction(angles[joints[0]], angles[joints[1]], wanted)
            require(
                np.allclose(dynamics.foot_position(foot), self.length * wanted, atol=1e-9),
                what,
                value=foot,
                limit='needs straight legs that leave '
                'from one point and turn about y, then about their own x',
                error=IncompatiblePlant,
            )


def build_point_model(
    robot: Robot, legs: PointLegs, world: World, values: RigidParameters
) -> PointModel:
    """Return the `PointModel` of a robot.

    Args:
        robot: The `Robot`.
        legs: Its `PointLegs`.
        world: `World`.
        values: `RigidParameters`.
    """
    limits = [[robot.limits[robot.joints[i]] for i in pair] for pair in legs.joints]
    return PointModel(
        float(Dynamics(robot).mass),
        legs.length,
        floor_gravity(world.gravity, world.slope),
        np.array([[limit.lower for limit in pair] for pair in limits]),
        np.array([[limit.upper for limit in pair] for pair in limits]),
        np.zeros(PLACES),
        values.fall_height * legs.length,
    )


def start_point(
    model: PointModel,
    state: PointState,
    legs: PointLegs,
    start: Start,
    support: int,
    lift: np.ndarray,
) -> None:
    """Put a `PointState` just after touchdown, the stance foot at the origin.

    Args:
        state: `PointState`, changed in place.
        legs: The robot's `PointLegs`.
        start: `Start`; of the rates those of the stance leg count.
        support: Index of the stance foot.
        lift: Coordinates of this support to joints.
    """
    joints, rates = lift @ start.q, lift @ start.v
    state.angles[:] = joints[legs.joints]
    pitch_rate, roll_rate = rates[legs.joints[support]]
    stand(
        state.angles[support, 0],
        state.angles[support, 1],
        pitch_rate,
        roll_rate,
        model.length,
        state.y,
    )
    state.anchor[:] = 0.0
    state.effort[:] = 0.0
    state.mode[:] = 0
    state.mode[rm.SUPPORT], state.mode[rm.STANCE] = support, 1
    state.memo[:] = 0.0
    state.memo[rm.MIN_NORMAL], state.memo[rm.SCUFF_REACH] = np.inf, -np.inf


class PointEngine(EventEngine):
    """A robot with all mass in the hip on a rigid floor; see `simulation.engine.Engine`.

    Raises:
        IncompatiblePlant: The robot's legs are built otherwise.
    """

    name = 'rigid'
    parameters = RigidParameters
    last_step = PLACES - 2
    lacks = MappingProxyType(
        {
            **dict.fromkeys(
                (Feature.TILTS, Feature.EDGES, Feature.BENDS, Feature.UNEVEN),
                'the swing of a massless leg is solved over level floors',
            ),
            Feature.LINKS: 'all mass is in the hip',
            Feature.FORCES: 'it is given as one impulse a tick',
        }
    )

    def __init__(self, robot: Robot, world: World, values: RigidParameters) -> None:
        super().__init__(robot, world, values)
        self._legs = PointLegs(robot)
        self.model = build_point_model(robot, self._legs, world, values)
        self.state: PointState = make_point_state()
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        self._advance = compile_where_possible(advance_point)
        self._still = np.zeros(len(robot.joints))
        self._fallen, self._worked = False, 0.0

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero."""
        lift = self.robot.joint_lifts[start.support]
        self._still[:] = lift @ start.q
        start_point(
            self.model, self.state, self._legs, start, self.robot.feet.index(start.support), lift
        )
        self._fallen = False

    def change_at_touchdown(self, step: int, drop: float, tilt: float) -> None:
        """Plan a floor that is lower from a touchdown on; see `Engine`.

        Args:
            step: The touchdown, counted from 1.
            drop: m.
            tilt: 0: it lacks `Feature.TILTS`.
        """
        self.model.drops[step] += drop

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Go on by h; see `Engine.advance`.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.

        Raises:
            NotAchieved: Landings follow each other without end.
        """
        self._worked, duration = float(self.state.memo[rm.WORK]), h
        for place, index in enumerate(self._legs.efforts):
            self.state.effort[place] = effort[index] if index >= 0 else 0.0
        status = rm.FELL if self._fallen else self._advance(self.model, self.state, duration, False)
        if status == rm.CHATTERED:
            raise NotAchieved(
                f'events within one tick of plant rigid on {self.robot.name} at {self.time:.4g} s',
                value=MOST_EVENTS,
                limit='landings follow each other without end',
                remedy='ask for longer steps',
            )
        if status == rm.FELL:
            self.state.y[3:] = 0.0
            if self._fallen:
                self.state.memo[rm.TIME] += duration
            self._fallen = True
        return None

    def rates(self) -> list[float]:
        """Return nothing: no motor is modelled."""
        return []

    def book(
        self, effort: np.ndarray, before: list[float], after: list[float], h: float
    ) -> tuple[np.ndarray, list[float]]:
        """Return the work of the push-off, see `Engine.book`; legs without mass take none."""
        work, push_off = np.zeros(len(effort)), self._legs.efforts[PUSH_OFF]
        if push_off >= 0:
            work[push_off] = self.state.memo[rm.WORK] - self._worked
        return work, []

    def read(self, truth: Truth) -> None:
        """Fill a `Truth`."""
        state, legs = self.state, self._legs
        base = self.robot.base.nq
        support = int(state.mode[rm.SUPPORT])
        truth.q[:3] = state.anchor + state.y[:3]
        truth.v[:3] = state.y[3:]
        truth.q[base:] = self._still
        truth.v[base:] = 0.0
        for foot in range(2):
            truth.q[base + legs.joints[foot]] = state.angles[foot]
            truth.v[base + legs.joints[foot]] = state.effort[2 * foot : 2 * foot + 2]
            truth.foot_height[foot] = (
                0.0
                if foot == support and state.mode[rm.STANCE]
                else clearance(
                    state.y, state.angles[foot, 0], state.angles[foot, 1], self.model.length
                )
            )
        truth.foot_force[:] = 0.0
        if state.mode[rm.STANCE] and not self._fallen:
            rates = np.zeros(2)
            leg_rates(state.y, rates)
            truth.v[base + legs.joints[support]] = rates
            # the push of the stance leg on the hip per leg length, N/m
            load = self.model.mass * tension(state.y, self.model.gravity)
            truth.foot_force[support] = load * state.y[:3]
        elif self._fallen:
            truth.v[:] = 0.0

    def foot_rotations(self) -> Iterator[np.ndarray]:
        """Return what turns the axes of each foot to the floor's."""
        for pitch, roll in self.state.angles:
            c, s = math.cos(pitch), math.sin(pitch)
            cr, sr = math.cos(roll), math.sin(roll)
            yield np.array([[c, s * sr, s * cr], [0.0, cr, -sr], [-s, c * sr, c * cr]])

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push the hip at once by an impulse in the floor frame, N s, ``(3,)``.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        push_point(self.model, self.state, impulse)
