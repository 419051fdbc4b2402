# SPDX-License-Identifier: Apache-2.0
"""A planar walker on a compliant floor ([DS09] section 3.2); see doc/compliant_floor.md.

Simplifications: the bodies and the stops and locks of joints are rigid; a foot is one point, or an
arc about a centre on the leg; the floor is straight between the places its height is given at and
feels a foot where its arc is nearest; only feet touch it; other simplifications as of plant rigid.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models import (
    compile_law,
    compile_terms,
    foot_turn,
    Robot,
    spring_table,
    Start,
    World,
)
from walking_control.simulation import (
    Change,
    collide,
    CompliantParameters,
    Engine,
    Feature,
    FLOORS,
    Forces,
    profile_of,
    Truth,
)
from walking_control.simulation.compliant import forces as cm
from walking_control.simulation.compliant.forces import fastest_rate
from walking_control.simulation.compliant.motion import advance
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import (
    build_rigid_model,
    engage_locks,
    PlanarEngine,
    push_direction,
)
from walking_control.simulation.rigid.events import kinetic_energy

STABLE = 5.9  # the method is stable up to this product of step and fastest rate


class CompliantEngine(PlanarEngine):
    """The robot on a compliant floor; see `simulation.engine.Engine`.

    Args:
        compiled: False runs plain Python and Pinocchio, some thousand times slower, to check by.

    Raises:
        IncompatiblePlant: The robot is not a planar walker on two feet.
        MissingDependency: CasADi or numba is missing.
        InvalidInput: The step is too long for the stiffness.
    """

    name = 'compliant'
    parameters = CompliantParameters
    floor: cm.Floor
    feet: cm.Feet
    lacks = MappingProxyType(
        {
            Feature.SIDEWAYS: 'it moves in a plane',
            Feature.TILTS: 'both feet share one floor, which cannot lean under one of them',
            Feature.EDGES: 'feet roll over the floor, and an upright edge has no normal',
            Feature.FORCES: 'it is given as one impulse a tick',
        }
    )

    def __init__(
        self, robot: Robot, world: World, values: CompliantParameters, compiled: bool = True
    ) -> None:
        super().__init__(robot, world, values)
        terms, parameters = (
            compile_terms(self._support.dynamics) if compiled else (self.terms, None)
        )
        model = build_rigid_model(self._support, world, values, parameters)
        state, feet = cm.make_soft_state(model)
        work = cm.make_soft_workspace(model, self._support.layout.size)
        parts: tuple[Any, ...] = model, self._lay_floor(model, values), state, feet, work
        records, views = zip(*(rm.as_record(part) for part in parts))
        self.model, self.floor, self.state, self.feet, self.workspace = views
        longest = self.longest_stable_step()
        require(
            values.timestep <= longest,
            'parameter compliant.timestep',
            value=values.timestep,
            limit=f'too long for this floor under '
            f'{self.robot.name}: at most {longest:.3g} s is stable',
            remedy='shorten it, or take less stiffness or damping',
        )
        move: Callable[..., int] = compile_law(advance) if compiled else advance
        given = records if compiled else views
        self.move = lambda duration: move(terms, *given, duration)
        self.last_step = len(self.floor.levels) - 2

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Engine]:
        """Return the engine of a robot: of a free base `SpaceEngine`."""
        if robot.is_free:
            from walking_control.simulation.compliant.space_engine import SpaceEngine

            return SpaceEngine
        return cls

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the height of the floor is given, and the height there, m."""
        places, heights = list(self.world.floor_places), list(self.world.floor_heights)
        if self._changes:
            profile = profile_of(self._changes)
            places, heights = profile.places.tolist(), profile.heights.tolist()
        if not places:  # level as far as anything goes
            places, heights = [-1e4, 1e4], [0.0, 0.0]
        if len(places) < 64:  # one length for most floors: compiled code depends on it
            slope = (heights[-1] - heights[-2]) / (places[-1] - places[-2])
            for _ in range(64 - len(places)):
                places.append(places[-1] + 1.0)
                heights.append(heights[-1] + slope)
        return np.array(places), np.array(heights)

    def _lay_floor(self, model: rm.RigidModel, values: CompliantParameters) -> cm.Floor:
        _, damping, _ = spring_table(self.robot).T
        turns = np.array(
            [self._support.lift[0].T @ foot_turn(self._support, foot) for foot in range(cm.FEET)]
        )
        return cm.Floor(
            FLOORS.index(values.kind),
            values.stiffness,
            values.damping,
            values.dissipation,
            values.sliding_stiffness,
            values.sliding_damping,
            values.rolling_relief,
            values.foot_radius,
            turns,
            *self._places(),
            np.zeros(len(model.drops)),
            np.ascontiguousarray(damping),
        )

    def longest_stable_step(self) -> float:
        """Return the longest step the integration is stable with, s, for straight legs."""
        n, floor = self.model.n, self.floor
        parts = self._support.layout.split(self._support.terms(0, np.zeros(n), np.zeros(n)))
        rates = [floor.sliding_stiffness / floor.sliding_damping]
        for foot in range(cm.FEET):
            J = np.hstack((np.eye(2), parts['jacobian'] if foot else np.zeros((2, n))))
            try:
                lightness = J @ np.linalg.solve(parts['mass'], J.T)
            except np.linalg.LinAlgError:
                free = int(np.argmax(np.abs(np.linalg.eigh(parts['mass'])[1][-n:, 0])))
                raise IncompatiblePlant(
                    f'coordinate {self.robot.coordinates[free]} of {self.robot.name}',
                    limit='moves a link without mass',
                    remedy='give each link that moves an <inertial>',
                ) from None
            rates += [
                fastest_rate(floor.stiffness, floor.damping, lightness[1, 1]),
                fastest_rate(floor.sliding_stiffness, floor.sliding_damping, lightness[0, 0]),
            ]
        return STABLE / max(rates)

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""
        state, n, support = self.state, self.model.n, self.robot.feet.index(start.support)
        for array in (state.y, state.mode, state.memo, *self.feet):
            array[:] = 0
        q, v = start.q, start.v
        if support == 1:
            relabel = self._support.relabel(1)
            q, v = relabel @ q, relabel @ v
        state.y[2 : n + 2], state.y[n + 4 : 2 * n + 4] = q, v
        if support == 1:  # the second foot rests in the origin
            parts = self._support.layout.split(self._support.terms(0, q, v))
            state.y[:2] = -parts['foot']
            state.y[n + 2 : n + 4] = -(parts['jacobian'] @ v)
        state.memo[rm.STEP_SIZE] = 1e-4
        state.armed[:] = 1
        engage_locks(self.model, state, 0)
        self.feet.flags[cm.LAST], self.feet.flags[support] = support, cm.INSIDE
        self._fallen = False
        self.move(0.0)

    def change_at_touchdown(self, step: int, drop: float, tilt: float) -> None:
        """Plan a floor that is lower from a touchdown on; see `Engine`.

        Args:
            step: The touchdown, counted from 1.
            drop: m.
            tilt: 0: it lacks `Feature.TILTS`.
        """
        self.floor.levels[step:] += -drop

    def change(self, place: float, drop: float, tilt: float) -> None:
        """Plan a floor that leans more by tilt, rad, from a place on.

        Args:
            place: Ahead of the start, m.
            drop: m.
            tilt: rad, downhill positive.
        """
        self._changes.append(Change(place, drop, tilt))
        self.floor.places[:], self.floor.heights[:] = self._places()

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Note the work so far, then go on; see `PlanarEngine.advance`.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.
        """
        self._worked = self._work_so_far
        return super().advance(effort, armed, h, forces)

    def _trip(self) -> str:
        return (
            'a foot tripped: it is under the floor ahead of the other foot; '
            f'limit {1000.0 * self.model.scuff_depth:.3g} mm'
        )

    @property
    def _work_so_far(self) -> float:
        return float(self.state.y[2 * self.model.n + 4 + cm.FEET + cm.WORK])

    def _book_floor(self, effort: np.ndarray, work: list[float]) -> list[float]:
        left = self._work_so_far - self._worked  # what is left is the floor's
        for done in work:
            left -= done
        return [left]

    def read(self, truth: Truth) -> None:
        """Fill a `Truth`; foot forces are those of the instant."""
        self._place(truth, 0)
        truth.locked[:] = self.state.mode[rm.FIRST_STOP + self.model.n_joints :]
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
        dynamics, floor = self.dynamics, self.floor
        first = 2 * self.model.n + 4
        slides = self.state.y[first : first + cm.FEET]
        depths = np.where(self.feet.flags[: cm.FEET] == cm.INSIDE, self.feet.touch[:, cm.GAP], 0.0)
        booked = self.state.y[first + cm.FEET :]
        return {
            'kinetic': dynamics.kinetic_energy(self._q, self._v),
            'potential': dynamics.potential_energy(self._q),
            'joint springs': sum(
                0.5
                * spring.stiffness
                * (self._q[3 + self.robot.joint_index(joint)] - spring.rest) ** 2
                for joint, spring in self.robot.springs.items()
            ),
            'stored': float(
                0.5 * floor.stiffness * depths @ depths
                + 0.5 * floor.sliding_stiffness * slides @ slides
            ),
            'work': float(booked[cm.WORK]),
            'damped': float(booked[cm.DAMPED]),
            'slipped': float(booked[cm.SLIPPED]),
            'released': float(booked[cm.RELEASED]),
            'joints': float(booked[cm.PASSIVE]),
            'impacts': float(self.state.memo[rm.LOSS]),
        }

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push a link at once by an impulse in the floor frame, N s, ``(3,)``.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        n, state, work = self.model.n, self.state, self.workspace
        parts = self._support.layout.split(
            self._support.terms(0, state.y[2 : n + 2], state.y[n + 4 : 2 * n + 4])
        )
        work.M[:] = parts['mass']
        work.impulse[:] = float(impulse[0]) * push_direction(self._support, state, link)
        before = kinetic_energy(self.model, state, work)
        collide(self.model, state, work, work.impulse, False)
        gained = kinetic_energy(self.model, state, work) - before
        state.y[2 * n + 4 + cm.FEET + cm.WORK] += gained
        self.move(0.0)
