# SPDX-License-Identifier: Apache-2.0
"""State of a robot from joint encoders, IMU and foot contacts."""

from collections import deque
from collections.abc import Callable, Sequence
import math

import numpy as np

from walking_control.estimation import EstimatorParameters, FloorSlope, LegOdometry
from walking_control.estimation.attitude import Attitude
from walking_control.estimation.contact import ContactEvidence, lift_load, LoadBalance, PullEvidence
from walking_control.estimation.foot_loads import FootLoads
from walking_control.estimation.stance import Load, Touchdowns
from walking_control.estimation.velocities import StanceModel, VelocityFilter
from walking_control.exceptions import ParameterError, require
from walking_control.models import Dynamics, Measurement, Robot, RobotFile, WalkerState, World

# noise that calls for the filter where none is forbidden
DECLARED = (
    'gyro_sigma',
    'gyro_bias_sigma',
    'acceleration_sigma',
    'acceleration_bias_sigma',
    'orientation_sigma',
    'position_sigma',
)


class Estimator:
    """Who stands, where the base is, and the minimal coordinates of robots that have them.

    The chain: attitude from the IMU, contacts from loads and heights, the stance foot from
    contacts (of robots with coordinates) or load, the base's place from the legs. The stance foot
    is taken to rest on the floor; of kind ``filter``, any foot in contact that does not slip.

    Args:
        robot: The `Robot`.
        values: `EstimatorParameters`.
        slope: Inclination of the floor, rad, downhill positive.
        gravity: Magnitude, m/s^2.
        delay: From a measurement to the effect of the efforts that answer it, s.

    Attributes:
        foot_loads: The `FootLoads` of a robot without force sensors in its feet, or None.
        places: Of the feet from the base, floor axes, m, n_feet lists of three.
    """

    places: list[list[float]]

    def __init__(
        self,
        robot: Robot,
        values: EstimatorParameters,
        slope: float = 0.0,
        gravity: float = 9.81,
        delay: float = 0.0,
    ) -> None:
        self._robot, self._values = robot, values
        self._observer = self.foot_loads = None
        if robot.is_free and (not robot.foot_sensors or values.load_error > 0.0):
            self._observer = FootLoads(robot, values, gravity, delay)
            if not robot.foot_sensors:
                self.foot_loads, self._values = self._observer, self._observer.widen(values)
        values, dynamics = self._values, Dynamics(robot)
        self._maps = [robot.supports.get(foot) for foot in robot.feet]
        self._q = dynamics.configuration(np.zeros(len(robot.joints)))
        self._v = np.zeros(dynamics.nv)
        self._idle = np.zeros(len(robot.efforts))
        self._velocities = _make_velocities(robot, values, slope, gravity)
        self._turn_base, self._odometry = _make_odometry(dynamics, values, slope, gravity)
        self._stance = Touchdowns(values) if robot.coordinates else Load(values)
        base, angles = robot.base, len(robot.base.angles)
        self._angles, self._rates = self._q[base.nq - angles :], self._v[base.nv - angles :]
        self.state = WalkerState(robot)
        self.state.position, self.state.velocity = self._q[base.nq :], self._v[base.nv :]
        self.state.base, self.state.covariance = self._odometry.base, self._odometry.covariance
        self._floor = (
            FloorSlope(dynamics, values) if robot.is_free and values.floor_variation > 0.0 else None
        )
        if self._floor is not None:
            self.state.floor_slope, self._odometry.floor = self._floor.value, self._floor
        self._mass = dynamics.mass
        # a view: the floor's normal in the IMU's axes
        self._normal = dynamics.data.oMf[dynamics.frame(robot.imu_link)].rotation[2]
        self._forces = np.zeros((len(robot.feet), 3))
        self._by_motors = [False] * len(robot.feet)
        self._balance = (
            LoadBalance(
                values.load_error * dynamics.weight,
                values.contact_on,
                values.contact_height,
                self.state.mistrusted,
            )
            if robot.foot_sensors and self._observer is not None
            else None
        )
        self.reset(robot.feet[0])

    def reset(self, support: str) -> None:
        """Forget the past; the named foot stands, at the origin."""
        values, state = self._values, self.state
        self._contacts = [ContactEvidence(values.contact_hold) for _ in self._robot.feet]
        self._pulls = [
            PullEvidence(values.contact_on, values.contact_noise) for _ in self._robot.feet
        ]
        self._recent: deque[tuple[float, np.ndarray]] = deque()
        self._stance.reset()
        if self._velocities is not None:
            self._velocities.reset()
        self._odometry.reset()
        self.level_by_imu(False)
        if self._floor is not None:
            self._floor.reset()
        self.trust()
        state.support = self._robot.feet.index(support)
        state.steps = 0
        state.touchdown = -math.inf
        state.step_length = state.step_time = 0.0
        state.foothold[:] = 0.0

    def trust(self) -> None:
        """Believe the sensors of all feet again."""
        if self._observer is not None:
            self._observer.reset()
        if self._balance is not None:
            self._balance.reset()
        for foot in range(len(self._contacts)):
            self._choose_source(foot)

    def level_by_imu(self, wanted: bool) -> None:
        """Take how the base leans from the IMU's orientation, whatever the gyroscope added up.

        Args:
            wanted: Whether; else as usual.
        """
        self._odometry.level_by_imu = wanted

    def update(self, measurement: Measurement, effort: np.ndarray | None = None) -> WalkerState:
        """Return the `WalkerState` of a `Measurement`; the same object every time.

        Args:
            measurement: The `Measurement`; finite.
            effort: Efforts on the robot since the last one, ``(n_efforts,)``; None: none.
        """
        state, velocities = self.state, self._velocities
        state.stamp = measurement.stamp
        state.position[:] = measurement.position  # and with them generalised coordinates
        state.velocity[:] = measurement.velocity
        state.locked[:] = measurement.locked
        for name, part in measurement.own.items():
            state.signals[name][:] = part
        self._turn_base(measurement, self._q, self._v)
        support = state.support
        if velocities is not None:
            velocities.update(
                state.stamp,
                support,
                self._angles,
                self._rates,
                state.locked,
                self._idle if effort is None else effort,
            )
        places = self.places = self._odometry.place_feet(self._q, self._v)
        by_motors = self._by_motors
        if self._observer is not None and any(by_motors):
            self._observer.update(measurement, effort, state.contact)
            measurement.foot_force[by_motors] = self._observer.forces[by_motors]
            for foot in np.flatnonzero(by_motors).tolist():
                self._contacts[foot].expect(*self._observer.thresholds(foot))
        forces, each = measurement.foot_force, measurement.foot_force.tolist()
        loads = self._odometry.loads(
            each if not self._values.force_time else self._average(measurement)
        )
        told = list(loads)  # before anything is made of it
        acceleration = measurement.linear_acceleration.tolist()
        if self._balance is not None and any(acceleration):
            forces = self._correct(forces, acceleration, loads, places)
        for i, (contact, pull) in enumerate(zip(self._contacts, self._pulls)):
            # a floor does not pull, but an edge does that the foot rubs against
            x, y, z = each[i]
            across = math.sqrt(max(x * x + y * y + z * z - told[i] ** 2, 0.0))
            state.pulled[i] = pull.update(told[i] + across)
            loads[i] = max(loads[i], 0.0)
            state.contact[i] = contact.update(
                loads[i] - self._lift(i, places) + self._rest(i, places), state.stamp
            )
        state.flicker = max([contact.suppressed for contact in self._contacts])
        self._stance.update(state, places, loads)
        if velocities is not None and state.support != support and self._robot.coordinates:
            velocities.touch_down(support, self._angles, self._rates)
            self._odometry.place_feet(self._q, self._v)
        if self._floor is not None:
            self._floor.update(state, places)
        self._odometry.update(state, places, forces)
        mapping = self._maps[state.support]
        if mapping is not None:
            np.dot(mapping, self._angles, out=state.coordinates)
            np.dot(mapping, self._rates, out=state.rates)
        return state

    def _correct(
        self,
        forces: np.ndarray,
        acceleration: Sequence[float],
        loads: list[float],
        places: Sequence[Sequence[float]],
    ) -> np.ndarray:
        """Let loads agree with the weight; return the forces on the feet that do, ``(n, 3)``."""
        assert self._balance is not None
        state = self.state
        weighed = self._mass * sum([a * b for a, b in zip(self._normal.tolist(), acceleration)])
        along, across = state.floor_slope.tolist()
        heights = [z - along * x - across * y for x, y, z in places]
        foot = self._balance.correct(loads, weighed, heights, state.support, state.stamp)
        self._forces[:] = forces
        if foot is not None:
            self._forces[foot] = 0.0, 0.0, loads[foot]
            self._choose_source(foot)
        return self._forces

    def _choose_source(self, foot: int) -> None:
        """Let its sensor tell the load of a foot; without one that is believed, motors and IMU."""
        self._by_motors[foot] = self.foot_loads is not None or self.state.mistrusted[foot]
        values = self._values
        self._contacts[foot].expect(values.contact_on, values.contact_off, values.contact_noise)

    def _average(self, measurement: Measurement) -> list[list[float]]:
        recent, stamp = self._recent, measurement.stamp
        recent.append((stamp, measurement.foot_force.copy()))
        while not stamp - self._values.force_time < recent[0][0] <= stamp:
            recent.popleft()
        return list(np.mean([force for _, force in recent], axis=0).tolist())

    @property
    def rate_covariance(self) -> np.ndarray | None:
        """Covariance of the base's angular velocity, base axes, ``(3, 3)``; None if not said."""
        return self._odometry.rate_covariance

    def _lift(self, foot: int, places: Sequence[Sequence[float]]) -> float:
        """Return the load that a walker's swing foot's height speaks against its contact, N."""
        support, values = self.state.support, self._values
        if foot == support or not self._robot.coordinates:
            return 0.0  # who stands on several feet may stand on steps
        height = places[foot][2] - places[support][2]
        rise = float(self._odometry.foot_motion(foot)[2] - self._odometry.foot_motion(support)[2])
        # what it will be when the contact may change next
        return lift_load(
            height, rise, values.contact_hold, values.contact_height, values.contact_on
        )

    def _rest(self, foot: int, places: Sequence[Sequence[float]]) -> float:
        """Return the load that a foot's rest speaks for its contact where no sensor does, N."""
        state, values, support = self.state, self._values, self.state.support
        if (
            self._observer is None
            or not self._by_motors[foot]
            or foot == support
            or state.contact[foot]
        ):
            return 0.0
        motion = self._odometry.foot_motion(foot) - self._odometry.foot_motion(support)
        x, y, height = (there - here for there, here in zip(places[foot], places[support]))
        height -= float(state.floor_slope @ (x, y))
        return self._observer.resting(foot, motion, height, values.contact_height)


def _make_odometry(
    dynamics: Dynamics, values: EstimatorParameters, slope: float, gravity: float
) -> tuple[Callable[..., None], LegOdometry]:
    """Return what says how the base is turned, and what says where it is."""
    if (
        values.kind == 'kinematic'
        or values.kind == 'auto'
        and not any(getattr(values, name) for name in DECLARED)
    ):
        kinematic = LegOdometry(dynamics)
        return Attitude(dynamics, slope, kinematic.base).update, kinematic
    # compiles, or loads what was compiled
    from walking_control.estimation.inertial_odometry import InertialOdometry

    odometry = InertialOdometry(dynamics, values, slope, gravity)
    return odometry.turn, odometry


def make_estimator(robot_file: RobotFile, delay: float = 0.0) -> Estimator:
    """Return the `Estimator` of a robot file's robot.

    Args:
        robot_file: The `RobotFile`.
        delay: See `Estimator`.
    """
    world, values = robot_file.values(World), robot_file.values(EstimatorParameters)
    return Estimator(robot_file.robot, values, world.slope, world.gravity, delay)


def _make_velocities(
    robot: Robot, values: EstimatorParameters, slope: float, gravity: float
) -> VelocityFilter | None:
    if values.velocity == 'measured' or values.velocity == 'auto' and values.velocity_lag == 0.0:
        return None
    if values.velocity == 'filtered':
        return VelocityFilter(robot, values)
    require(
        robot.is_planar and robot.coordinates,
        'parameter estimator.velocity',
        value=values.velocity,
        limit='needs a planar robot with minimal coordinates',
        remedy='choose filtered',
        error=ParameterError,
    )
    return VelocityFilter(robot, values, StanceModel(Dynamics(robot, gravity, slope)))
