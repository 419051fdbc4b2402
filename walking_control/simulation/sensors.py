# SPDX-License-Identifier: Apache-2.0
"""Sensors as they are: what an IMU feels, errors of all sensors, presets of them.

Everything is off by default and seeded; `config/noise` says where the numbers of the presets come
from. Stated simplifications: errors are white, constant or a slow wander, and normal; those of
different axes and sensors are independent; the rate from an encoder is differentiated at the rate
of the measurements.
"""

from collections.abc import Mapping, Sequence
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import ParameterError, require
from walking_control.models import (
    Dynamics,
    IMU,
    JOINTS,
    LOCKS,
    Measurement,
    noise_path,
    parameter,
    Parameters,
    read_yaml,
    Robot,
    sensors_of,
)


class SensorParameters(Parameters, section='sensors'):
    """Of the errors, delays and losses between plant and controller."""

    seed: int = parameter(0, '1', 'Seed of all errors: one seed, one run.', 0, 10**9)
    scale: float = parameter(
        1.0, '1', 'Factor on all errors, not on delays and losses.', 0.0, 1000.0
    )
    position_resolution: float = parameter(
        0.0, 'rad, m', 'Smallest step of a joint encoder.', 0.0, 1.0
    )
    position_noise: float = parameter(
        0.0, 'rad, m', 'Standard deviation of a joint position.', 0.0, 1.0
    )
    velocity_noise: float = parameter(
        0.0,
        'rad/s, m/s',
        'Standard deviation of a joint velocity, beside differentiation.',
        0.0,
        100.0,
    )
    velocity_cutoff: float = parameter(
        0.0,
        'Hz',
        'Low-pass of differentiated encoders; 0: a true tachometer.',
        0.0,
        1e4,
    )
    gyro_noise: float = parameter(
        0.0, 'rad/s', 'Standard deviation of an angular velocity.', 0.0, 100.0
    )
    gyro_bias: float = parameter(
        0.0, 'rad/s', 'Standard deviation of its error that stays for a run.', 0.0, 100.0
    )
    acceleration_noise: float = parameter(
        0.0, 'm/s^2', 'Standard deviation of a specific force.', 0.0, 1000.0
    )
    acceleration_bias: float = parameter(
        0.0, 'm/s^2', 'Standard deviation of its error that stays for a run.', 0.0, 100.0
    )
    orientation_noise: float = parameter(
        0.0, 'rad', 'Standard deviation of the orientation, each axis.', 0.0, 1.0
    )
    orientation_bias: float = parameter(
        0.0, 'rad', 'Standard deviation of its error that stays for a run.', 0.0, 1.0
    )
    orientation_drift: float = parameter(
        0.0, 'rad', 'Standard deviation of its error that wanders.', 0.0, 1.0
    )
    orientation_drift_time: float = parameter(5.0, 's', 'Memory of the wandering error.', 0.01, 1e4)
    force_noise: float = parameter(
        0.0, 'N', 'Standard deviation of a foot force, each axis.', 0.0, 1e4
    )
    contact_threshold: float = parameter(
        0.0, 'N', 'Foot force below which its sensor reports none.', 0.0, 1e4
    )
    contact_delay: float = parameter(
        0.0,
        's',
        'Age of the foot forces, in whole measurements.',
        0.0,
        1.0,
    )
    stuck_foot: int = parameter(
        0,
        '1',
        'Foot whose sensor says the same for ever, counted from 1; 0: none.',
        0,
        100,
    )
    stuck_force: float = parameter(0.0, 'N', 'What it says; 0: it is dead.', 0.0, 1e4)
    stuck_after: float = parameter(1.0, 's', 'From when on.', 0.0, 1e6)
    measurement_delay: float = parameter(
        0.0, 's', 'From the instant of a measurement to its arrival.', 0.0, 1.0
    )
    measurement_jitter: float = parameter(
        0.0, 's', 'Largest deviation of this delay, evenly distributed.', 0.0, 1.0
    )
    command_delay: float = parameter(0.0, 's', 'From a command to its effect.', 0.0, 1.0)
    command_jitter: float = parameter(
        0.0, 's', 'Largest deviation of this delay, evenly distributed.', 0.0, 1.0
    )
    lost_measurements: float = parameter(
        0.0, '1', 'Share of measurements that never arrive.', 0.0, 0.99
    )
    lost_commands: float = parameter(0.0, '1', 'Share of commands that never arrive.', 0.0, 0.99)

    def check(self) -> None:
        """Refuse a jitter that exceeds its delay."""
        for kind in ('measurement', 'command'):
            delay, jitter = (getattr(self, f'{kind}_{part}') for part in ('delay', 'jitter'))
            require(
                jitter <= delay,
                f'parameter sensors.{kind}_jitter',
                value=jitter,
                limit=f'must be at most sensors.{kind}_delay ({delay:g} s): '
                'nothing arrives before it is sent',
                error=ParameterError,
            )


EARLY = 1e-9  # s: stamps are rounded; a hair early counts
_NOISES = (
    'position_noise',
    'orientation_noise',
    'gyro_noise',
    'acceleration_noise',
    'velocity_noise',
    'force_noise',
)
_BIASES = ('orientation_bias', 'gyro_bias', 'acceleration_bias')


# what changes nothing by itself
_IDLE = ('seed', 'scale', 'orientation_drift_time', 'stuck_after')


def has_errors(values: SensorParameters) -> bool:
    """Return whether `SensorParameters` spoil, delay or lose anything."""
    return any(value != 0.0 for name, value in vars(values).items() if name not in _IDLE)


class Sensors:
    """Turns the true `Measurement` of a plant into the one that is told.

    Every error is drawn whether it is used or not, so that one more error, or a larger one, leaves
    the others as they are.

    Args:
        robot: The `Robot`.
        values: `SensorParameters`.
    """

    _position: np.ndarray

    def __init__(self, robot: Robot, values: SensorParameters) -> None:
        feet = len(robot.foot_sensors)
        require(
            values.stuck_foot <= feet,
            'parameter sensors.stuck_foot',
            value=values.stuck_foot,
            limit=f'{robot.name} has {feet} feet with a sensor',
            error=ParameterError,
        )
        scaled = {
            name: values.scale * getattr(values, name)
            for name in (*_NOISES, *_BIASES, 'orientation_drift', 'position_resolution')
        }
        self._values = values
        self._resolution = scaled['position_resolution']
        self._drift = scaled['orientation_drift']
        told = [sensor for sensor in sensors_of(robot) if sensor.name != LOCKS]
        main = (JOINTS, IMU, *robot.feet)
        imus = [sensor.name for sensor in told if sensor.kind == IMU]  # turned about three axes
        # whose errors are drawn, in turn: those of every robot by kind, then what else it has
        turns = sorted(
            (
                (sensor.name, i, signal)
                for sensor in told
                for i, signal in enumerate(sensor.signals)
            ),
            key=lambda turn: (
                _NOISES.index(turn[2].noise)
                if turn[0] in main and turn[2].noise in _NOISES
                else len(_NOISES)
            ),
        )
        counts = [
            min(len(signal.labels), 3) if name in imus else len(signal.labels)
            for name, _, signal in turns
        ]
        sizes = [
            scaled[signal.noise] if isinstance(signal.noise, str) else values.scale * signal.noise
            for _, _, signal in turns
        ]
        self._size = np.repeat(sizes, counts)
        # one draw for all; these are its parts
        self._noise = np.zeros(len(self._size))
        parts = np.split(self._noise, np.cumsum(counts)[:-1])
        noises = {(name, i): part for (name, i, _), part in zip(turns, parts)}
        self._on_position, self._on_velocity = noises[JOINTS, 0], noises[JOINTS, 1]
        self._on_force = [noises[foot, 0] for foot in robot.foot_sensors]
        self._bias_size = np.repeat([scaled[name] for name in _BIASES], 3)
        # sensor -> errors of its orientation, gyroscope and accelerometer
        self._on_imus = {imu: [noises[imu, i] for i in range(3)] for imu in imus}
        self._on_own = {signal.row: noises[name, i] for name, i, signal in turns if signal.row}
        self._ranges = {
            name: (row.kind.lower, row.kind.upper) for name, row in robot.signals.items()
        }
        self._delays = {name: row.values.delay for name, row in robot.signals.items()}
        self.reset()

    def reset(self) -> None:
        """Begin a run: the errors of its seed from the start."""
        self._white, self._slow = (np.random.default_rng((self._values.seed, i)) for i in range(2))
        self._biases, self._wanders = {}, {}
        for imu in self._on_imus:
            biases = self._bias_size * self._slow.standard_normal(len(self._bias_size))
            self._biases[imu] = np.split(biases, 3)
            self._wanders[imu] = self._slow.standard_normal(3)
        self._stamp: float | None = None
        self._past: dict[str, list[tuple[float, np.ndarray]]] = {}

    def spoil(self, measurement: Measurement) -> None:
        """Add the errors of the next measurement, in place."""
        elapsed = 0.0 if self._stamp is None else measurement.stamp - self._stamp
        self._white.standard_normal(out=self._noise)
        self._noise *= self._size
        self._encode(measurement, elapsed)
        measurement.velocity += self._on_velocity
        for imu, noise in self._on_imus.items():
            orientation, *rates = measurement.parts[imu]
            biases = self._biases[imu]
            self._turn(orientation, self._wanders[imu], biases[0], noise[0], elapsed)
            for part, bias, error in zip(rates, biases[1:], noise[1:]):
                part += bias + error
        if self._on_force:
            self._feel(measurement)
        for name, part in measurement.own.items():
            self._delay(name, part, self._delays[name], measurement.stamp)
            part += self._on_own[name]
            np.clip(part, *self._ranges[name], out=part)  # it saturates
        self._stamp = measurement.stamp

    def _encode(self, measurement: Measurement, elapsed: float) -> None:
        """Measure joint positions and, where no tachometer does, differentiate them."""
        position, cutoff = measurement.position, self._values.velocity_cutoff
        position += self._on_position
        if self._resolution > 0.0:
            position[:] = self._resolution * np.round(position / self._resolution)
        if cutoff > 0.0:
            if self._stamp is None:  # the drives have run for long
                self._velocity = measurement.velocity.copy()
            elif elapsed > 0.0:
                share = 1.0 - math.exp(-2.0 * math.pi * cutoff * elapsed)
                self._velocity += share * ((position - self._position) / elapsed - self._velocity)
            self._position = position.copy()
            measurement.velocity[:] = self._velocity

    def _turn(
        self,
        orientation: np.ndarray,
        wander: np.ndarray,
        bias: np.ndarray,
        noise: np.ndarray,
        elapsed: float,
    ) -> None:
        """Turn an orientation, xyzw in place, by its error about the axes of the IMU."""
        kept = math.exp(-elapsed / self._values.orientation_drift_time)
        wander *= kept
        wander += math.sqrt(1.0 - kept * kept) * self._slow.standard_normal(3)
        error = bias + self._drift * wander + noise
        angle = math.sqrt(error @ error)
        if angle == 0.0:
            return
        axis, c = math.sin(0.5 * angle) / angle * error, math.cos(0.5 * angle)
        across = float(orientation[:3] @ axis)
        (a, b, d), (x, y, z, w) = axis.tolist(), orientation.tolist()
        orientation[:] = (
            w * a + c * x + (y * d - z * b),
            w * b + c * y + (z * a - x * d),
            w * d + c * z + (x * b - y * a),
            w * c - across,
        )

    def _feel(self, measurement: Measurement) -> None:
        """Measure foot forces: as they were, noisy, none below the threshold."""
        force, values = measurement.foot_force, self._values
        self._delay('', force, values.contact_delay, measurement.stamp)
        force += self._on_force
        if values.contact_threshold > 0.0:
            force[np.linalg.norm(force, axis=1) < values.contact_threshold] = 0.0
        if values.stuck_foot and measurement.stamp >= values.stuck_after - EARLY:
            force[values.stuck_foot - 1] = 0.0, 0.0, values.stuck_force

    def _delay(self, name: str, part: np.ndarray, delay: float, stamp: float) -> None:
        """Put what numbers were a delay ago, s, in their place."""
        if delay > 0.0:
            past = self._past.setdefault(name, [])
            past.append((stamp, part.copy()))
            while len(past) > 1 and past[1][0] <= stamp - delay + EARLY:
                past.pop(0)
            part[:] = past[0][1]


OWN = 'seed'  # what no preset decides


def read_preset(name_or_path: str | Path) -> dict[str, Any]:
    """Return name -> value of `SensorParameters` but the seed; what the file leaves out is off.

    Args:
        name_or_path: Name of a shipped preset, or path of a file of the same kind.

    Raises:
        InvalidInput: There is none, it cannot be read, or holds a parameter that is none or a bad
            value.
    """
    path = noise_path(name_or_path)
    what = f'noise preset {name_or_path}'
    values = read_yaml(path, what)
    require(
        isinstance(values, Mapping),
        what,
        limit='must be a list of parameters of sensors, name: value',
    )
    require(
        OWN not in values,
        f'{OWN} in {what}',
        value=values.get(OWN),
        limit='is not part of a preset',
        remedy='give --seed',
    )
    preset = vars(SensorParameters.read(values)).copy()
    del preset[OWN]
    return preset


def noise_overrides(name_or_path: str | Path | None) -> list[tuple[str, Any]]:
    """Return a preset as overrides for `load_robot`, none of None.

    The sensors are to have these errors, and the estimator is to expect them.
    """
    if name_or_path is None:
        return []
    preset = read_preset(name_or_path)
    return [
        *((f'{SensorParameters.section}.{name}', value) for name, value in preset.items()),
        *(
            (f'{EstimatorParameters.section}.{name}', value)
            for name, value in expected_errors(SensorParameters(**preset)).items()
        ),
    ]


def expected_errors(sensors: SensorParameters) -> dict[str, Any]:
    """Return the parameters of the estimator that say how good sensors are.

    Args:
        sensors: `SensorParameters`.
    """
    scale, step = sensors.scale, sensors.position_resolution
    position = math.hypot(sensors.position_noise, step / math.sqrt(12.0))
    # an encoder's difference over the time constant of its low-pass
    rate = 2.0 * math.pi * sensors.velocity_cutoff * position
    orientation = math.hypot(
        sensors.orientation_noise, sensors.orientation_bias, sensors.orientation_drift
    )
    return {
        'gyro_sigma': scale * sensors.gyro_noise,
        'gyro_bias_sigma': scale * sensors.gyro_bias,
        'acceleration_sigma': scale * sensors.acceleration_noise,
        'acceleration_bias_sigma': scale * sensors.acceleration_bias,
        'orientation_sigma': scale * orientation,
        'position_sigma': scale * position,
        'velocity_sigma': scale * math.hypot(sensors.velocity_noise, rate),
        'tachometers': sensors.velocity_cutoff == 0.0,
        'velocity_lag': 0.0
        if sensors.velocity_cutoff == 0.0
        else min(1.0 / (2.0 * math.pi * sensors.velocity_cutoff), 0.1),
    }


class InertialUnit:
    """What gyroscope, accelerometer and attitude filter of a robot would say without error.

    Orientation and angular velocity are those of the instant. The accelerometer gives the specific
    force averaged since the last measurement, as units do that integrate inside: the change of the
    IMU's velocity less that by gravity, over the time between, in the axes halfway between the two
    orientations. So an impact weighs by its impulse, however short it is, and the velocity can be
    found again by summing up. The first measurement says gravity's reaction alone.

    Args:
        dynamics: The robot's `Dynamics` with the world's gravity and slope.
        slope: Inclination of the floor, rad, downhill positive: the orientation counts from
            gravity.
        link: That carries it.
    """

    _rotation: pin.Quaternion
    _velocity: np.ndarray

    def __init__(self, dynamics: Dynamics, slope: float, link: str) -> None:
        self._dynamics = dynamics
        self._frame = dynamics.frame(link)
        self._gravity = dynamics.model.gravity.linear.copy()
        self._world_floor = pin.Quaternion(pin.utils.rotate('y', slope))
        self._specific_force = np.zeros(3)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement is the first."""
        self._time: float | None = None

    def measure(
        self, q: np.ndarray, v: np.ndarray, time: float, parts: Sequence[np.ndarray]
    ) -> None:
        """Fill the parts of a `Measurement` that are an IMU's.

        Args:
            q: Generalised coordinates of the robot.
            v: Generalised velocities.
            time: Simulated time, s; the time of the last measurement repeats its specific force.
            parts: Orientation, angular velocity and specific force.
        """
        dynamics = self._dynamics
        dynamics.move(q, v)
        twist = pin.getFrameVelocity(dynamics.model, dynamics.data, self._frame, pin.LOCAL)
        matrix = dynamics.data.oMf[self._frame].rotation
        rotation, velocity = pin.Quaternion(matrix), matrix @ twist.linear
        if self._time is None:
            self._specific_force[:] = rotation.inverse() * -self._gravity
        elif time > self._time:
            force = (velocity - self._velocity) / (time - self._time) - self._gravity
            self._specific_force[:] = self._rotation.slerp(0.5, rotation).inverse() * force
        self._time, self._rotation, self._velocity = time, rotation, velocity
        orientation, turning, felt = parts
        orientation[:] = (self._world_floor * rotation).coeffs()
        turning[:] = twist.angular
        felt[:] = self._specific_force
