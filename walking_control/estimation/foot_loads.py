# SPDX-License-Identifier: Apache-2.0
"""Forces of the floor on feet without force sensors, from motors, encoders and IMU.

The momentum observer of [DLM05] on a floating base. In axes that move along with the IMU, but do
not turn, the base has no velocity, and gravity less the acceleration of these axes is the specific
force a that the accelerometer feels: neither attitude nor speed of the robot is needed. What the
feet must bear between two measurements is then

    s = M(q) (v - v_) / dt + C v + g(a) - S^T tau = sum over the feet of J_i^T w_i,

with the turning of the base and the joints in v, the efforts tau that reach the joints through
rotors, gears and known friction, and a as the mean between the measurements, as IMUs tell it. The
first-order filter r' = (s - r) / T is the observer r = (p - integral(S^T tau + C^T v - g + r)) / T
of the momentum p = M v, because M' = C + C^T: no acceleration is differentiated that is not
integrated again. T is at least the time between two measurements: else nothing would be filtered.

Six rows of r are of the base: how all feet together press. One row is of each joint: which foot
does. The wrenches w_i follow by least squares from all rows, each over its error: of efforts a
share of the largest one (friction and gain that nobody knows), of the base a share of the weight;
and from what is known of w_i before: some share of the weight, within a sole. Joint velocities have
two more errors, which act through M on all rows at once. They are noisy, and the observer makes
accelerations of this noise. And they lag: what efforts have changed by meanwhile either presses on
the floor, or moves a leg with an acceleration M_jj^-1 (tau - tau_late) that is not seen yet.
Without these errors the swing of a heavy leg would be taken for a load. The covariance of wrenches
says how well loads are known, and so from which load on a foot is known to touch the floor.

A leg in the air shows how its drives rub: nothing else acts on its foot, so what is left in the row
of a joint that moves is dry friction, f sign(q'). A Kalman filter of each f learns it within some
steps; then efforts of joints that move are better known, and a contact is seen at a smaller load.
Joints at rest hold by friction that nobody knows.

What is felt of a foot in the air after that is an error that changes slowly: it is learned and
taken away, up to one standard deviation. A foot that comes to rest on the floor may press so little
that no motor feels it; but it stops, against the stance foot, and near the height of the floor.
That counts as a load, see `FootLoads.resting`.

A push on the body is borne by the base's rows alone: no feet that agree with the joints explain it.
What they leave of these rows is little else, in units of its error, root mean square. Where it is
more than `EXPLAINED`, the rows of the base count by so much squared less, and the joints say who
carries. Without this a swing foot would bear a third of the weight while somebody pushes.

Where no efforts are known (`foot_forces: imu`), the six rows of the base are left: the point where
the floor presses then says which foot does.

Stated simplifications: errors of all rows are independent; robots that nothing else touches.
"""

from collections import deque
from dataclasses import replace
import math

import numpy as np

from walking_control.estimation.effort_signs import EffortSigns
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import require, RobotFileError
from walking_control.models import (
    Dynamics,
    gear_table,
    lagging,
    loses,
    lost_torques,
    Measurement,
    motor_places,
    scale_of,
    spring_torques,
)
from walking_control.models.robot import INERTIAL, MOTORS, Robot

SIDEWAYS, ARM, TWIST = 0.5, 0.06, 0.02  # of the weight, and twice of it times the leg: of a foot
LEARNING, SLOWING = 0.05, 0.008  # s: of the error in the air, of the motion of a foot
SLIDES, SINKS = 0.6, 0.15  # m/s: a foot that moves so is in the air
EXPLAINED = 0.7  # standard deviations: what feet leave of the base's rows, and nobody pushes
COM = 0.3  # of the leg: how far out masses lie that are not known
# standard deviations of a load that is one, of one that ends, and of what changes from tick to tick
CERTAIN, GONE, WHITE = 1.3, 1.1, 0.45
EARLY = 1e-6  # s: stamps are rounded
TURN = 2.0 * math.pi
STARTING = 0.2  # rad/s: below, dry friction is not known by its sign
# of learning friction, errors in those of efforts: squared, of a row over the observer's time, by
# which it is learned; what is never known; the largest friction. And s for which it is remembered.
RESTLESS, REST, MOST, KEPT = 8.0, 0.2, 2.0, 20.0


class FootLoads:
    """What the floor does to the feet, by momentum.

    Args:
        robot: The `Robot`; its base is free.
        values: `EstimatorParameters`.
        gravity: m/s^2.
        delay: From a measurement to the effect of the effort that answers it, s.

    Attributes:
        forces: Of the floor on each foot in its axes, N, ``(n_feet, 3)``; none pulls.
        friction: Of each joint, dry, beyond what the robot file knows, N m, ``(n_joints,)``.
        signs: The `EffortSigns`: what measured efforts have the other sign.
        sigma: Standard deviation of the load of one, N, joints in the middle of their ranges.
        sigmas: Of each as they are now, and as what is known of their friction, ``(n_feet,)``.
    """

    def __init__(
        self, robot: Robot, values: EstimatorParameters, gravity: float, delay: float = 0.0
    ) -> None:
        dynamics = self._dynamics = Dynamics(robot, gravity=0.0)
        self._gravity, self._time, self._delay = gravity, values.observer_time, delay
        self._lag = np.array([values.velocity_lag])
        self._q = dynamics.configuration(np.zeros(len(robot.joints)))
        self._arm, self._axes = dynamics.placement(self._q, dynamics.frame(robot.imu_link))
        self._feet = list(dynamics.frames.values())
        motors = list(robot.actuators)
        self._joints = np.array([robot.joint_index(joint) for joint in motors], int)
        self._lags = np.array([motor.torque_lag for motor in robot.actuators.values()])
        self._gears, self._loses = gear_table(robot), loses(robot)
        places = motor_places(robot, 'effort')
        self._told = places >= 0
        self._places = places[self._told]
        measured = sorted(self._joints[self._told].tolist())
        self.signs = EffortSigns([robot.joints[i] for i in measured], [6 + i for i in measured])
        self._all_told, self._blind = bool(self._told.all()), robot.foot_forces == INERTIAL
        self._noise = 0.0 if self._blind else values.velocity_sigma
        weight, leg = dynamics.mass * gravity, scale_of(robot, gravity).length
        known = values.mass_error * weight * np.array([1.0, 1.0, 1.0, COM, COM, COM])
        known[3:] *= leg
        efforts = np.full(len(robot.joints), 1e-3 * weight * leg)  # of joints without a motor
        efforts[self._joints] = values.effort_error * robot.effort_limits[: len(motors)]
        self._efforts_error = efforts
        self._weights = 1.0 / np.concatenate((known, efforts))
        wrench = weight * np.array([SIDEWAYS, SIDEWAYS, 1.0, ARM * leg, ARM * leg, TWIST * leg])
        self._base_only = self._weights * (np.arange(dynamics.nv) < len(known))
        self._prior = np.diag(np.tile(wrench**-2.0, len(self._feet)))
        self.forces = np.zeros((len(self._feet), 3))
        ranges = [(robot.limits[joint].lower, robot.limits[joint].upper) for joint in robot.joints]
        bent = [0.5 * (lower + upper) if upper - lower < TURN else 0.0 for lower, upper in ranges]
        self._q[dynamics.base.nq :] = bent
        J = self._jacobians(self._weights)
        covariance = np.linalg.inv(J @ J.T + self._prior)
        self.sigma = math.sqrt(covariance.diagonal()[2::6].max())
        self.sigmas = np.full(len(self._feet), self.sigma)
        legs = J.reshape(len(self._feet), 6, dynamics.nv)[:, :, len(known) :]
        self._legs = np.abs(legs).max(axis=1) > 0.0  # which joints are between a foot and the base
        self.reset()

    def widen(self, values: EstimatorParameters) -> EstimatorParameters:
        """Return the `EstimatorParameters` of contacts that are told by these loads."""
        return replace(
            values,
            contact_on=max(values.contact_on, CERTAIN * self.sigma),
            contact_off=max(values.contact_off, GONE * self.sigma),
            contact_noise=max(values.contact_noise, WHITE * self.sigma),
        )

    def thresholds(self, foot: int) -> tuple[float, float, float]:
        """Return the loads from which contact begins and below which it ends, and the noise, N.

        Args:
            foot: Its index.
        """
        sigma = float(self.sigmas[foot])
        return CERTAIN * sigma, GONE * sigma, WHITE * sigma

    def reset(self) -> None:
        """Forget the past."""
        self._stamp: float | None = None
        self._rates: np.ndarray | None = None
        self._asked: deque[tuple[float, np.ndarray]] = deque()
        self._reached = np.zeros(len(self._joints))
        self._residual = np.zeros(self._dynamics.nv)
        self._known = False  # whether the rows of the joints are
        # efforts as late as velocities, and by how much they differ, through the observer
        self._late, self._unseen = np.zeros((2, len(self._dynamics.robot.joints)))
        self._doubt = self._efforts_error**2
        self.friction, self._moving = np.zeros((2, len(self._efforts_error)))
        self.forces[:] = 0.0
        self._error, self._rest = np.zeros((2, len(self._feet)))
        self._moves, self._share = np.zeros((len(self._feet), 3)), 1.0
        self._passed = np.zeros(len(self._dynamics.robot.joints))
        self.signs.reset()

    def update(
        self, measurement: Measurement, effort: np.ndarray | None, contact: np.ndarray
    ) -> None:
        """Take a `Measurement` in; `forces` are those of its stamp.

        Args:
            measurement: The `Measurement`; finite.
            effort: That answered the last one, N m, ``(n_efforts,)``; None: nobody knows.
            contact: Which feet touch the floor, as known before, ``(n_feet,)``.
        """
        stamp, motion = measurement.stamp, self._motion(measurement)
        before, self._stamp = self._stamp, stamp
        dt = 0.0 if before is None else stamp - before
        rates, self._rates = motion if self._rates is None else self._rates, motion
        efforts = self._efforts(measurement, effort, before, dt)
        acceleration = (motion - rates) / dt if dt > 0.0 else np.zeros_like(motion)
        mean = 0.5 * (motion + rates)
        self._q[self._dynamics.base.nq :] = measurement.position
        acceleration[:3] = self._felt(measurement, mean[3:6], acceleration[3:6])
        needed = self._dynamics.inverse(self._q, mean, acceleration)
        share = 1.0 - math.exp(-min(dt / self._time, 1.0))
        if efforts is not None:
            self._passed = self._passed_on(efforts, measurement, mean[6:], acceleration[6:])
            needed[6:] -= self._passed
            if not self._known:  # what was before is not known
                self._residual[6:], self._late, self._known = needed[6:], self._passed, True
            self._late = lagging(self._passed, self._late, self._lag, dt)[1]
            self._unseen += share * (self._passed - self._late - self._unseen)
        self._residual += (1.0 if before is None else share) * (needed - self._residual)
        self._moving += share * (np.tanh(mean[6:] / STARTING) - self._moving)
        self._share = 1.0 - math.exp(-dt / SLOWING)
        J = self._split(contact, dt, share)
        if self._known and not self.signs.judged:
            efforts = np.append(np.zeros(6), self._passed)
            residual, efforts = self._weights * np.array((self._residual, efforts))
            self.signs.update(mean, residual, efforts, J, self._prior, dt)

    def resting(self, foot: int, motion: np.ndarray, height: float, lifted: float) -> float:
        """Return the load that the rest of a foot in the air speaks for its contact, N.

        Args:
            foot: Its index.
            motion: Its velocity over the stance foot, floor axes, m/s, ``(3,)``.
            height: Its height over the floor through the stance foot, m.
            lifted: Height from which on a foot counts as lifted, m.
        """
        moves = self._moves[foot]
        moves += self._share * (motion - moves)
        along, down = math.hypot(moves[0], moves[1]), abs(moves[2])
        rest = 1.0 - along / SLIDES - down / SINKS - max(height, 0.0) / lifted
        self._rest[foot] = max(rest, 0.0)
        return float(CERTAIN * self.sigmas[foot] * self._rest[foot])

    def _motion(self, measurement: Measurement) -> np.ndarray:
        """Return the velocities in axes that move along with the IMU, ``(nv,)``."""
        turning = self._axes @ measurement.angular_velocity
        return np.concatenate((np.zeros(3), turning, measurement.velocity))

    def _felt(self, measurement: Measurement, rate: np.ndarray, turning: np.ndarray) -> np.ndarray:
        """Return the specific force at the base's origin, m/s^2; without accelerometer gravity."""
        felt = self._axes @ measurement.linear_acceleration
        if not felt.any():
            x, y, z, w = measurement.orientation.tolist()
            up = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
            return np.asarray(self._gravity * (self._axes @ up))
        arm = self._arm
        return np.asarray(felt - np.cross(turning, arm) - np.cross(rate, np.cross(rate, arm)))

    def _efforts(
        self, measurement: Measurement, effort: np.ndarray | None, before: float | None, dt: float
    ) -> np.ndarray | None:
        """Return the mean efforts of the motors since the last measurement; None: not known."""
        if self._blind:
            return None
        asked, efforts = self._asked, np.zeros(len(self._joints)) if self._all_told else None
        if effort is not None and before is not None:
            asked.append((before, effort[: len(self._joints)].copy()))
            while len(asked) > 1 and asked[1][0] <= before - self._delay + EARLY:
                asked.popleft()
            if asked[0][0] <= before - self._delay + EARLY:
                efforts, self._reached = lagging(asked[0][1], self._reached, self._lags, dt)
        if efforts is not None:
            efforts[self._told] = measurement.values[self._places]
        return efforts

    def _passed_on(
        self,
        efforts: np.ndarray,
        measurement: Measurement,
        rates: np.ndarray,
        accelerations: np.ndarray,
    ) -> np.ndarray:
        """Return what is left of efforts behind gears, springs and friction, ``(n_joints,)``."""
        robot, passed = self._dynamics.robot, np.zeros(len(rates))
        passed[self._joints] = efforts
        if robot.springs:
            passed -= spring_torques(robot, measurement.position, measurement.velocity)
        if self._loses:
            passed -= lost_torques(robot, self._gears, efforts, rates, accelerations, STARTING)
        return passed

    def _jacobians(self, weights: np.ndarray) -> np.ndarray:
        """Return the rows of the feet's wrenches, columns weighted, ``(6 n_feet, nv)``."""
        rows = [self._dynamics.frame_jacobian(self._q, foot) for foot in self._feet]
        return np.asarray(np.concatenate(rows) * weights)

    def _split(self, contact: np.ndarray, dt: float, share: float) -> np.ndarray:
        """Write the forces that explain the residual best; return their weighted Jacobians."""
        forces = self.forces
        weights, residual = self._base_only, self._residual.copy()
        if self._known:
            residual[6:] += self._learn_friction(contact, dt)
            weights = self._weights.copy()
        mass = self._dynamics.mass_matrix(self._q)[:, 6:]
        hidden = self._legs * np.linalg.solve(mass[6:], self._unseen)
        # of white noise that is differentiated, behind the observer
        shake = self._noise * share * math.sqrt(2.0 / (2.0 - share)) / max(dt, EARLY)
        hidden = np.hstack((shake * mass, mass @ hidden.T))
        for _ in range(2):
            J, blur = self._jacobians(weights), weights[:, None] * hidden
            wanted = weights * residual
            spread = np.eye(len(weights)) + blur @ blur.T
            known = np.linalg.solve(spread, J.T).T
            covariance = np.linalg.inv(known @ J.T + self._prior)
            wrenches = covariance @ known @ wanted
            if not self._known:  # the rows of the base are all there is
                break
            missed = (wanted - wrenches @ J)[:6]
            pushed = missed @ np.linalg.solve(spread[:6, :6], missed) / (6.0 * EXPLAINED**2)
            if pushed < 1.0:
                break
            weights[:6] /= pushed
        forces[:] = wrenches.reshape(-1, 6)[:, :3]
        if self._known:
            np.sqrt(covariance.diagonal()[2::6], out=self.sigmas)
        error = self._error
        error += min(dt / LEARNING, 1.0) * (1.0 - self._rest) * (forces[:, 2] - error)
        np.clip(error, -self.sigma, self.sigma, out=error)
        error[contact] = 0.0
        forces[:, 2] -= error
        forces[forces[:, 2] < 0.0] = 0.0
        return J

    def _learn_friction(self, contact: np.ndarray, dt: float) -> np.ndarray:
        """Return the dry friction of joints as the legs in the air have shown it, N m."""
        error, moving, doubt = self._efforts_error, self._moving, self._doubt
        rubs = self.friction * moving
        seen = np.where(self._legs[~contact].any(axis=0), moving, 0.0)
        noise = RESTLESS * error**2 * self._time / max(dt, EARLY)
        gain = doubt * seen / (noise + doubt * seen**2)
        self.friction -= gain * (self._residual[6:] + rubs)
        np.clip(self.friction, -MOST * error, MOST * error, out=self.friction)
        doubt *= 1.0 - gain * seen
        doubt += (error**2 - doubt) * min(dt / KEPT, 1.0)
        moves = np.abs(moving)
        known = (1.0 - REST) * np.sqrt(doubt) + REST * error
        self._weights[6:] = 1.0 / (error * (1.0 - moves) + moves * known)
        return np.asarray(self.friction * moving)


def require_loads(robot: Robot) -> None:
    """Refuse a robot whose foot forces nobody knows unless he commands its efforts.

    Args:
        robot: The `Robot`.

    Raises:
        RobotFileError: Neither its foot forces nor the efforts of all motors are measured.
    """
    places = motor_places(robot, 'effort')
    missing = [joint for joint, place in zip(robot.actuators, places) if place < 0]
    require(
        not missing or robot.foot_forces != MOTORS,
        f'robot.foot_forces of {robot.name}',
        value=robot.foot_forces,
        limit='needs measured efforts where another controller commands them; none of '
        + ', '.join(missing),
        remedy='signals: {torque: {kind: effort}} in the robot file, if its drives tell them; '
        f'else foot_forces: {INERTIAL}, for odometry alone',
        error=RobotFileError,
    )
