# SPDX-License-Identifier: Apache-2.0
"""Joint velocities from joint positions: differentiation without its noise.

A polynomial filter of first degree with fading memory ([Mor69]): the line through past positions
whose squared residuals, weighted by ``exp(-2 age / memory)``, have the least sum. Until that memory
has filled, the gains are those of plain least squares over the k positions so far.

A line lags behind a joint that accelerates. Where a model says how a joint accelerates, the line is
bent accordingly and the memory may be long: it has to find out only what the model does not know. A
walker on one foot has such a model, with its efforts and held knees. At touchdowns and knee strikes
velocities jump as the model of the impact says, and the memory begins anew at a length that leaves
room for an error of that jump.

Simplifications: positions are equally uncertain; the foot does not slip; joint stops without locks
are not known; an impact counts from the measurement that shows it.
"""

import math

import numpy as np

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.models import (
    Dynamics,
    effort_map,
    gear_table,
    loses,
    lost_torques,
    make_terms,
    project_velocity,
    Robot,
    SupportDynamics,
)

FADE = 0.05  # rad/s: joints this slow may be on their way either way
LONGEST_SAMPLE = 0.1  # s: after a longer silence the past says nothing of the present


class StanceModel:
    """How a walker that stands on one foot accelerates, and what impacts do to its velocities.

    Args:
        dynamics: `Dynamics` of a planar robot with coordinates.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        support, robot = SupportDynamics(dynamics), dynamics.robot
        self._terms, parameters = make_terms(dynamics)
        self._parameters = np.zeros(0) if parameters is None else parameters
        self._maps = [robot.supports[foot] for foot in robot.feet]
        self._lifts = support.lift
        self._inputs = [effort_map(support, i) for i in range(len(robot.feet))]
        out = np.zeros(support.layout.size)
        self._out, self._parts = out, support.layout.split(out)
        # coordinates that a lock holds, as rows of the joint's angle, by support
        joints = [1 + robot.joint_index(lock.joint) for lock in robot.locks]
        self._rows = [lift[joints] for lift in support.lift]
        self._held = np.zeros(len(joints), dtype=bool)
        self._robot, self._gears, self._loses = robot, gear_table(robot), loses(robot)
        self._last = np.zeros(1 + len(robot.joints))  # acceleration
        # whatever compiles does so now
        rest = np.zeros(1 + len(robot.joints))
        self.acceleration(0, rest, rest, np.zeros(len(robot.efforts)))

    def hold(self, locked: np.ndarray) -> bool:
        """Take which locks hold; return whether one has caught its joint since the last time."""
        caught = bool((locked & ~self._held).any())
        self._held[:] = locked
        return caught

    def acceleration(
        self, support: int, angles: np.ndarray, rates: np.ndarray, effort: np.ndarray
    ) -> np.ndarray:
        """Return the acceleration of base pitch and joints, ``(1 + n_joints,)``, rad/s^2.

        Args:
            support: Index of the stance foot.
            angles: Pitch from the floor normal and joints, rad.
            rates: Theirs.
            effort: Efforts on the robot, ``(n_efforts,)``.
        """
        self._evaluate(support, angles, rates)
        A = self._rows[support][self._held]
        m, n = A.shape
        system, right = np.zeros((n + m, n + m)), np.zeros(n + m)
        system[:n, :n], system[:n, n:], system[n:, :n] = self._parts['mass'][2:, 2:], A.T, A
        right[:n] = self._inputs[support] @ effort - self._parts['bias'][2:]
        if self._loses:
            # what turns the rotors is not known yet: the last acceleration serves
            lost = lost_torques(self._robot, self._gears, effort, rates[1:], self._last[1:], FADE)
            right[:n] -= self._lifts[support][1:].T @ lost
        self._last = self._lifts[support] @ np.linalg.solve(system, right)[:n]
        return self._last

    def strike(
        self, support: int, swing: bool, angles: np.ndarray, rates: np.ndarray
    ) -> np.ndarray:
        """Return the rates of base pitch and joints after an impact, ``(1 + n_joints,)``, rad/s.

        Args:
            support: Index of the foot that stood before.
            swing: Whether the other foot strikes the floor and the old one is free; else a knee
                strikes its lock and the stance foot holds.
            angles: As for `acceleration`.
            rates: Theirs before the impact.
        """
        v = self._evaluate(support, angles, rates)
        n = len(v)
        foot = np.hstack((np.eye(2), self._parts['jacobian'] if swing else np.zeros((2, n))))
        knees = np.pad(self._rows[support][self._held], ((0, 0), (2, 0)))
        A = np.vstack((foot, knees)).T
        after = project_velocity(self._parts['mass'], A, np.append(np.zeros(2), v))
        return np.asarray(self._lifts[support] @ after[2:])

    def _evaluate(self, support: int, angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Compute the support terms; return the rates of the minimal coordinates."""
        mapping = self._maps[support]
        v: np.ndarray = mapping @ rates
        self._terms(support, mapping @ angles, v, self._parameters, self._out)
        return v


class VelocityFilter:
    """Joint velocities, and with a model the base's rate, from positions and gyroscope.

    Args:
        model: The `StanceModel` of a planar walker; None lets the line be straight.
    """

    def __init__(
        self, robot: Robot, values: EstimatorParameters, model: StanceModel | None = None
    ) -> None:
        self._values, self._model = values, model
        self._joints = slice(-len(robot.joints), None)
        self._locks = np.array(
            [robot.joint_index(lock.joint) - len(robot.joints) for lock in robot.locks],
            dtype=np.int64,
        )
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement begins with its own velocities."""
        self._stamp = -math.inf
        self._memory = 0.0  # s, so far

    def update(
        self,
        stamp: float,
        support: int,
        angles: np.ndarray,
        rates: np.ndarray,
        locked: np.ndarray,
        effort: np.ndarray,
    ) -> None:
        """Replace measured rates by estimates.

        Args:
            stamp: Of the measurement, s.
            support: Index of the foot that has been standing.
            angles: Measured angles of the base, if it has any, and the joints, rad.
            rates: Measured; changed.
            locked: Which locks hold, ``(n_locks,)``.
            effort: Efforts since the last measurement.
        """
        dt = stamp - self._stamp
        if 0.0 < dt <= LONGEST_SAMPLE:
            self._predict(dt, support, effort)
            self._predicted[:] = self._v
            if self._model is not None and self._model.hold(locked):
                self._strike(support, False, angles)
            else:
                self._correct(dt, angles, rates)
        elif dt != 0.0:  # a measurement that comes twice says nothing new
            self._begin(angles, rates, locked)
        if not math.isfinite(self._x @ self._v):
            self._begin(angles, rates, locked)
        self._stamp = stamp
        self._v[self._locks[locked]] = 0.0
        self._write(rates)

    def _begin(self, angles: np.ndarray, rates: np.ndarray, locked: np.ndarray) -> None:
        self._x, self._v, self._predicted = angles.copy(), rates.copy(), rates.copy()
        self._memory = 0.0
        if self._model is not None:  # it carries a good first guess on
            self._memory = self._values.velocity_impact_memory
            self._model.hold(locked)

    def touch_down(self, support: int, angles: np.ndarray, rates: np.ndarray) -> None:
        """Let velocities jump as the other foot takes over; after `update`.

        Args:
            support: Index of the foot that stood before.
            angles: As for `update`.
            rates: Changed.
        """
        self._strike(support, True, angles)
        self._write(rates)

    def _strike(self, support: int, swing: bool, angles: np.ndarray) -> None:
        """Let velocities jump at an impact some time since the last measurement.

        The way since then is partly that after the impact: it says nothing of the velocity before.
        """
        self._x[:] = angles
        if self._model is not None:
            self._v = self._model.strike(support, swing, angles, self._predicted)
        self._memory = min(self._memory, self._values.velocity_impact_memory)

    def _write(self, rates: np.ndarray) -> None:
        first = self._joints if self._model is None else slice(None)
        rates[first] = self._v[first]

    def _predict(self, dt: float, support: int, effort: np.ndarray) -> None:
        acceleration = (
            0.0
            if self._model is None
            else self._model.acceleration(support, self._x, self._v, effort)
        )
        self._x += dt * self._v + 0.5 * dt * dt * acceleration
        self._v += dt * acceleration

    def _correct(self, dt: float, angles: np.ndarray, rates: np.ndarray) -> None:
        memory = self._values.velocity_memory
        self._memory += dt
        k = max(self._memory / dt, 2.0)  # positions so far
        theta = math.exp(-dt / memory)
        position = max(1.0 - theta * theta, 2.0 * (2.0 * k - 1.0) / (k * (k + 1.0)))
        velocity = max((1.0 - theta) ** 2, 6.0 / (k * (k + 1.0)))
        joints, base = self._joints, slice(0, len(angles) - len(angles[self._joints]))
        residual = angles[joints] - self._x[joints]
        self._x[joints] += position * residual
        self._v[joints] += velocity / dt * residual
        # the gyroscope measures the base's rate itself: a mean with fading memory
        self._x[base] = angles[base]
        self._v[base] += max(1.0 - theta, 1.0 / k) * (rates[base] - self._v[base])
