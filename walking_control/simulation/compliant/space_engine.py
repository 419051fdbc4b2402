# SPDX-License-Identifier: Apache-2.0
"""A robot with a free base on a compliant floor, by Pinocchio and a semi-implicit method.

The law of `forces` at every corner of a sole and at the lowest point of every ball, with its
deformation along the floor in two directions. Contact forces, joint stops and joint friction are
those at the end of a step ([DS09] section 3.2 with the velocities after it): stable at any
stiffness, at the price of a damping of its own that falls with the step. So the ledger of energies
has an entry for it, unlike that of the planar plant, whose integration would take a hundred times
as long here.

Simplifications: those of `plant`; joint stops are springs and dampers of 4 ms; dry friction of
joints fades below 0.01 rad/s; friction along the floor of a point that slips is that of the normal
force one iteration before.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from walking_control.exceptions import IncompatiblePlant, NotAchieved, require
from walking_control.models import friction_table, Robot, spring_table, Start, support_balls, World
from walking_control.simulation import (
    CompliantParameters,
    Feature,
    FLOORS,
    Forces,
    profile_of,
    SteppedEngine,
    Truth,
)
from walking_control.simulation.compliant.forces import HUNT_CROSSLEY

STOP_TIME = 0.004  # s: time constant of joint stops
FADE = 0.01  # rad/s: dry friction of joints fades below
ROUNDS = 6  # of the search which points press and which slip
ALONG = [0, 1, 3]  # rows of a point along the floor: x, y, its turning


class Points(NamedTuple):
    """Points of all feet that touch the floor, each the centre of a ball of some radius.

    Attributes:
        foot: Index of the foot of each, ``(n,)``.
        place: In the frame of the foot's link, m, ``(n, 3)``.
        radius: m, ``(n,)``; 0 of corners.
    """

    foot: np.ndarray
    place: np.ndarray
    radius: np.ndarray


def contact_points(robot: Robot) -> Points:
    """Return the points of feet by their collision geometry.

    Args:
        robot: The `Robot`.

    Raises:
        IncompatiblePlant: A foot has none, or one that is no box, ball, cylinder or capsule.
    """
    feet, places, radii = [], [], []
    for index, foot in enumerate(robot.feet):
        balls = list(support_balls(robot.urdf, foot))
        require(
            balls and None not in balls,
            f'plant compliant on {robot.name}',
            value=foot,
            limit='needs boxes, balls, cylinders or capsules for collision on every foot',
            error=IncompatiblePlant,
        )
        for points, radius in filter(None, balls):
            feet += [index] * len(points)
            places.append(points)
            radii += [radius] * len(points)
    return Points(np.array(feet), np.vstack(places), np.array(radii))


class _Forces(NamedTuple):
    """Forces at the points of one step, in the floor frame, and their velocities."""

    points: np.ndarray  # (m,): which points may touch
    force: np.ndarray  # (m, 4): x, y, z, and of the turning about z at the radius `torsion`
    velocity: np.ndarray  # (m, 4), after the step
    depth: np.ndarray  # (m,), before it


class SpaceEngine(SteppedEngine):
    """The robot on a compliant floor in space; see `simulation.engine.Engine`.

    Raises:
        IncompatiblePlant: It has locks, gears with losses, virtual efforts or feet that no balls,
            boxes, cylinders or capsules are.
    """

    name = 'compliant'
    parameters = CompliantParameters
    _values: CompliantParameters

    def __init__(self, robot: Robot, world: World, values: CompliantParameters) -> None:
        super().__init__(robot, world, values)
        require(
            not robot.locks and not robot.has_gear_losses,
            f'plant compliant on {robot.name}',
            value=', '.join(lock.joint for lock in robot.locks) or 'efficiency below 1',
            limit='a free base is simulated without locks and gear losses',
            error=IncompatiblePlant,
        )
        require(
            values.foot_radius <= 0.0,
            'plant compliant of a free base',
            value='foot_radius',
            limit='its feet are those of the URDF',
            error=IncompatiblePlant,
        )
        self.resolution, self.longest_step = 0.0, values.timestep
        edges = 'feet sink into the floor, and an upright edge has no normal'
        self.lacks = {**self.lacks, Feature.EDGES: edges}
        model = self.dynamics.model
        self._points = contact_points(robot)
        self._frames = [self.dynamics.frames[foot] for foot in robot.feet]
        self._index_joints()
        self._pin = model, model.createData()
        self._q, self._v = pin.neutral(model), np.zeros(model.nv)
        self._slides = np.zeros((len(self._points.foot), 3))
        self._turns = np.tile(np.eye(3), (len(self._points.foot), 1, 1))  # where points touch
        self._foot_force = np.zeros((len(robot.feet), 3))
        self._booked = dict.fromkeys(('work', 'damped', 'slipped', 'released', 'joints'), 0.0)
        self._begun = 0.0

    def _prepare(self) -> None:
        if self._changes:
            self._profile = profile_of(self._changes)

    def _index_joints(self) -> None:
        robot, base = self.robot, self.robot.base
        self._dof = self.dynamics.pinocchio_order[base.nv :]
        self._motor_dof = np.array(
            [self._dof[robot.joint_index(joint)] for joint in robot.actuators], dtype=int
        )
        limits = [robot.limits[joint] for joint in robot.joints]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._viscous, self._coulomb = friction_table(robot).T
        self._stiffness, damping, self._rest = spring_table(robot).T
        self._viscous += damping

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero."""
        q, v = self._start_state(start)
        self._q[:] = self.dynamics.to_pinocchio(q)
        self._v[:] = self.dynamics.to_pinocchio_velocity(v)
        self._begin()
        self._slides[:] = self._foot_force[:] = self._begun = 0.0
        self._booked = dict.fromkeys(self._booked, 0.0)
        self._begun = -self.energies()['integration']

    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Go on by a step; see `Engine.advance`.

        Args:
            effort: Of all efforts, N m, ``(n_efforts,)``.
            armed: Which locks are armed, ``(n_locks,)``.
            h: For how long, s.
            forces: On links: pairs of a frame and N, ``(3,)``.
        """
        self._move(effort, h, forces)
        if not np.isfinite(self._v).all():
            raise NotAchieved(
                f'plant compliant on {self.robot.name} at {self.time:.4g} s',
                limit='the integration diverged',
                remedy='check efforts',
            )
        if not self._levels.planned:
            return None
        heights, feet = self._heights(), range(len(self._frames))
        places = [float(self.dynamics.data.oMf[frame].translation[0]) for frame in self._frames]
        return self._levels.walk(
            places, [float(heights[self._points.foot == foot].min()) for foot in feet]
        )

    def rates(self) -> list[float]:
        """Return how fast the joints of the motors turn now, rad/s."""
        return list(self._v[self._motor_dof].tolist())

    def _move(self, efforts: np.ndarray, h: float, forces: Forces) -> None:
        """Move on by one step."""
        model, data = self._pin
        q, v = self._q, self._v
        M = pin.crba(model, data, q)
        force = -pin.nonLinearEffects(model, data, q, v)
        force[self._motor_dof] += efforts
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        pushed = self._pushed(forces)
        force += pushed
        A = M.copy()
        brake = self._brake_joints(A, force, h, M)
        right = M @ v + h * force
        found = self._press(A, right, h)
        new = self._solution
        self._booked['work'] += 0.5 * h * float(pushed @ (v + new))
        self._account(efforts, 0.5 * (v + new), found, brake, new, h)
        self._v[:] = new
        self._q[:] = pin.integrate(model, q, new * h)

    def _pushed(self, forces: Forces) -> np.ndarray:
        """Return the generalised forces of forces on links."""
        model, data = self._pin
        total = np.zeros(model.nv)
        for frame, push in forces:
            joint = model.frames[frame].parentJoint
            place = data.oMi[joint].act(model.inertias[joint].lever)
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            arm = place - data.oMi[joint].translation
            total += J[:3].T @ push + J[3:].T @ np.cross(arm, push)
        return total

    def _brake_joints(
        self, A: np.ndarray, force: np.ndarray, h: float, M: np.ndarray
    ) -> np.ndarray:
        """Add springs, friction and stops of joints; return the damping of each, N m s/rad."""
        dof = self._dof
        angle = self.dynamics.from_pinocchio(self._q)[self.robot.base.nq :]
        damping: np.ndarray = self._viscous + self._coulomb / np.maximum(np.abs(self._v[dof]), FADE)
        stiffness, away = self._stiffness.copy(), self._stiffness * (angle - self._rest)
        beyond = angle - np.clip(angle, self._lower, self._upper)
        stopped = beyond != 0.0
        if stopped.any():
            inertia = M[dof, dof][stopped]
            stiffness[stopped] += inertia / STOP_TIME**2
            away[stopped] += inertia / STOP_TIME**2 * beyond[stopped]
            damping = damping + np.where(stopped, 2.0 * M[dof, dof] / STOP_TIME, 0.0)
        force[dof] -= away
        A[dof, dof] += h * damping + h * h * stiffness
        return damping

    def _reach(self, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points that may touch within a step, their Jacobians and depths."""
        model, data = self._pin
        points, rows, depths, which = self._points, [], [], []
        for foot, frame in enumerate(self._frames):
            place = data.oMf[frame]
            mine = np.flatnonzero(points.foot == foot)
            arms = points.place[mine] @ place.rotation.T
            below, turns = self._floor_at(place.translation[0] + arms[:, 0], foot)
            arms -= points.radius[mine][:, None] * turns[:, 2]
            depth = ((below - (place.translation + arms)) * turns[:, 2]).sum(1)
            if depth.max() < -0.02:
                continue
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            for i, arm, deep, turn in zip(mine, arms, depth, turns):
                row = np.vstack((J[:3], turn[2] @ J[3:]))
                row[3] *= self._values.torsion if self._points.radius[i] > 0.0 else 0.0
                row[0] += arm[2] * J[4] - arm[1] * J[5]
                row[1] += arm[0] * J[5] - arm[2] * J[3]
                row[2] += arm[1] * J[3] - arm[0] * J[4]
                row[:3] = turn @ row[:3]
                if deep > 0.0 or deep - h * (row[2] @ self._v) > 0.0:
                    rows.append(row)
                    depths.append(deep)
                    which.append(i)
                    self._turns[i] = turn
        return np.array(which, dtype=int), np.array(rows), np.array(depths)

    def _press(self, A: np.ndarray, right: np.ndarray, h: float) -> _Forces:
        """Solve for the velocities after the step, with the forces of the floor at its end."""
        values, grip = self._values, self.world.friction
        which, rows, depths = self._reach(h)
        if len(which) == 0:
            self._solution = np.linalg.solve(A, right)
            return _Forces(which, np.zeros((0, 4)), np.zeros((0, 4)), depths)
        k, kt, ct = values.stiffness, values.sliding_stiffness, values.sliding_damping
        c = np.full(len(which), values.damping)
        if FLOORS.index(values.kind) == HUNT_CROSSLEY:
            c = k * values.dissipation * np.maximum(depths, 0.0)
        normal, slides = rows[:, 2], self._slides[which]
        presses = np.ones(len(which), dtype=bool)
        slips = np.zeros((len(which), 3), dtype=bool)
        force = np.zeros((len(which), 4))
        for _ in range(ROUNDS):
            p = normal[presses]
            S = A + h * (p.T * (k * h + c[presses])) @ p
            r = right + h * p.T @ (k * depths[presses])
            for place, axis in enumerate(ALONG):
                sticks, moved = presses & ~slips[:, place], presses & slips[:, place]
                t = rows[sticks, axis]
                S += h * (kt * h + ct) * t.T @ t
                r -= h * kt * t.T @ slides[sticks, place]
                r += h * rows[moved, axis].T @ force[moved, axis]
            new = np.linalg.solve(S, r)
            velocity = rows @ new
            before = force[:, ALONG]
            force[:, 2] = np.where(presses, k * depths - (k * h + c) * velocity[:, 2], 0.0)
            trial = -(kt * slides + (kt * h + ct) * velocity[:, ALONG])
            slipping = self._saturate(trial, grip * np.maximum(force[:, 2], 0.0))
            force[:, ALONG] = np.where(presses[:, None], trial, 0.0)
            lifted = presses & (force[:, 2] < 0.0)
            if (
                not lifted.any()
                and not (slipping & ~slips).any()
                and np.allclose(before[slips], force[:, ALONG][slips], rtol=1e-3, atol=1e-6)
            ):
                break
            presses &= ~lifted
            force[lifted] = 0.0
            slips |= slipping & presses[:, None]
        force[:, 2] = np.maximum(force[:, 2], 0.0)
        self._solution, self._damping = new, c
        return _Forces(which, force, velocity, depths)

    @staticmethod
    def _saturate(drag: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Shorten drags along the floor and about its normal to a limit; return which slip."""
        slips = np.empty(drag.shape, dtype=bool)
        for places in (slice(0, 2), slice(2, 3)):
            size = np.linalg.norm(drag[:, places], axis=1)
            slips[:, places] = (size > limit * (1.0 + 1e-9))[:, None]
            drag[:, places] *= np.minimum(1.0, limit / np.maximum(size, 1e-300))[:, None]
        return slips

    def _account(
        self,
        efforts: np.ndarray,
        mean: np.ndarray,
        found: _Forces,
        brake: np.ndarray,
        new: np.ndarray,
        h: float,
    ) -> None:
        """Book work and losses of a step, and let the deformations along the floor follow."""
        values, booked = self._values, self._booked
        kt, ct = values.sliding_stiffness, values.sliding_damping
        drag = np.zeros_like(self._slides)  # with which the feet drag the floor
        drag[found.points] = -found.force[:, ALONG]
        after = (drag + ct / h * self._slides) / (kt + ct / h)
        rates = (after - self._slides) / h
        booked['damped'] += h * ct * float((rates**2).sum())
        if len(found.points):
            on = found.force[:, 2] > 0.0
            sinking = -found.velocity[on, 2]
            booked['damped'] += h * float(self._damping[on] @ sinking**2)
            rising = np.maximum(found.depth, 0.0) * found.velocity[:, 2]
            booked['released'] += h * values.stiffness * float(rising[~on].sum())
            slip = found.velocity[:, ALONG] - rates[found.points]
            booked['slipped'] += h * float((drag[found.points] * slip).sum())
        self._slides[:] = after
        booked['joints'] += h * float(brake @ new[self._dof] ** 2)
        for effort, rate in zip(efforts.tolist(), mean[self._motor_dof].tolist()):
            booked['work'] += effort * rate * h
        self._foot_force[:] = 0.0
        for i, force in zip(found.points, found.force):
            self._foot_force[self._points.foot[i]] += force[:3] @ self._turns[i]

    def _heights(self) -> np.ndarray:
        """Return the height of the lowest point of each ball or corner over the floor, m."""
        self.dynamics.place(self.dynamics.from_pinocchio(self._q))
        data = self.dynamics.data
        places = np.array(
            [data.oMf[self._frames[foot]].act(place) for foot, place, _ in zip(*self._points)]
        )
        below, turns = self._floor_at(places[:, 0], self._points.foot)
        return np.asarray(((places - below) * turns[:, 2]).sum(1) - self._points.radius)

    def _floor_at(self, x: np.ndarray, feet: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of the floor at places along it, and its axes there.

        Args:
            x: m, ``(n,)``.
            feet: Whose floor, ``(n,)`` or one of all.

        Returns:
            ``(n, 3)``, y left at 0, and rows along, to the left and normal, ``(n, 3, 3)``.
        """
        points, turns = np.zeros((len(x), 3)), np.zeros((len(x), 3, 3))
        points[:, 0], turns[:] = x, np.eye(3)
        rise = None
        if self._levels.planned:
            slopes = self._levels.slopes[feet]
            points[:, 2], rise = self._levels.heights[feet] - slopes * x, -np.arctan(slopes)
        elif self._profile is not None:
            points[:, 2] = self._profile.height(x)
            rise = np.arctan(self._profile.slopes[self._profile.piece(x)])
        if rise is not None:
            turns[:, 0, 0] = turns[:, 2, 2] = np.cos(rise)
            turns[:, 0, 2], turns[:, 2, 0] = np.sin(rise), -np.sin(rise)
        return points, turns

    def read(self, truth: Truth) -> None:
        """Fill a `Truth`; foot forces are those of the step just made."""
        dynamics = self.dynamics
        truth.foot_force[:] = self._foot_force
        truth.q[:] = dynamics.from_pinocchio(self._q)
        truth.v[:] = self._v[dynamics.pinocchio_order]
        heights = self._heights()
        for foot in range(len(self._frames)):
            truth.foot_height[foot] = heights[self._points.foot == foot].min()

    def energies(self) -> dict[str, float]:
        """Return the energy ledger, J; ``integration`` is what the method itself has taken."""
        dynamics, values = self.dynamics, self._values
        q = dynamics.from_pinocchio(self._q)
        depths = np.maximum(0.0, -self._heights())
        angle = q[self.robot.base.nq :]
        there = {
            'kinetic': self._kinetic(),
            'potential': dynamics.potential_energy(q),
            'joint springs': float(0.5 * self._stiffness @ (angle - self._rest) ** 2),
            'stored': float(
                0.5 * values.stiffness * depths @ depths
                + 0.5 * values.sliding_stiffness * (self._slides**2).sum()
            ),
        }
        booked = self._booked
        missing = (
            booked['work']
            - sum(there.values())
            - booked['damped']
            - booked['slipped']
            - booked['released']
            - booked['joints']
        )
        return {**there, **booked, 'integration': missing + self._begun}

    def _kinetic(self) -> float:
        dynamics = self.dynamics
        return dynamics.kinetic_energy(
            dynamics.from_pinocchio(self._q), self._v[dynamics.pinocchio_order]
        )

    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push the base at once by an impulse in the floor frame, N s, ``(3,)``.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """
        model, data = self._pin
        generalised = np.zeros(model.nv)
        generalised[:3] = pin.Quaternion(self._q[3:7]).matrix().T @ impulse
        before = self._kinetic()
        self._v += np.linalg.solve(pin.crba(model, data, self._q), generalised)
        self._booked['work'] += self._kinetic() - before

    def link_index(self, link: str) -> int:
        """Return the number of a link's frame, below 0 of what is none."""
        model = self.dynamics.model
        return int(model.getBodyId(link)) if model.existBodyName(link) else -1
