# SPDX-License-Identifier: Apache-2.0
"""The parameters of the state estimator."""

from walking_control.exceptions import ParameterError, require
from walking_control.models.parameters import parameter, Parameters


class EstimatorParameters(Parameters, section='estimator'):
    """Of contacts, stance foot, velocities and the place of the base."""

    contact_on: float = parameter(
        15.0, 'N', 'Load of a foot that counts as contact when it lasts.', 0.1, 1e4, scaled=True
    )
    contact_off: float = parameter(
        5.0, 'N', 'Load below which contact ends when it lasts.', 0.0, 1e4, scaled=True
    )
    contact_noise: float = parameter(
        10.0,
        'N',
        'Standard deviation of measured loads; noisier ones must last longer to be believed.',
        0.0,
        1e4,
        scaled=True,
    )
    force_time: float = parameter(
        0.0,
        's',
        'Foot forces are averaged over this, against lost samples.',
        0.0,
        1.0,
    )
    contact_height: float = parameter(
        0.02,
        'm',
        'Height over the floor at which a swing foot must carry twice contact_on to '
        'count as in contact.',
        1e-4,
        1.0,
        scaled=True,
    )
    contact_hold: float = parameter(
        0.02, 's', 'Shortest time between two changes of a contact.', 0.0, 1.0
    )
    min_step_length: float = parameter(
        0.05,
        'm',
        'How far ahead of the stance foot the swing foot must be to take over.',
        0.0,
        1.0,
        scaled=True,
    )
    min_step_time: float = parameter(
        0.1, 's', 'Shortest time between two changes of the stance foot.', 0.0, 2.0, scaled=True
    )
    lost_support_time: float = parameter(
        0.05,
        's',
        'A lone contact of the other foot for this long takes over anywhere.',
        0.0,
        2.0,
        scaled=True,
    )
    load_error: float = parameter(
        0.4,
        '1',
        'In space: share of the weight by which the feet may differ from the IMU before '
        'a foot sensor is mistrusted; 0: never.',
        0.0,
        1.0,
    )
    observer_time: float = parameter(
        0.003,
        's',
        'Time constant of the observer of foot forces by motors and IMU; at least the '
        'time between two measurements.',
        1e-4,
        0.1,
    )
    effort_error: float = parameter(
        0.05,
        '1',
        'Standard deviation of efforts that the observer assumes, as a share of the largest.',
        1e-3,
        1.0,
    )
    mass_error: float = parameter(
        0.05,
        '1',
        'Standard deviation of the mass that the observer assumes, as a share.',
        1e-3,
        1.0,
    )
    velocity: str = parameter(
        'measured',
        '',
        'Joint velocities: measured, filtered from positions, or by the model of a '
        'planar walker; auto: the model where measured ones lag (velocity_lag).',
        choices=('measured', 'filtered', 'model', 'auto'),
    )
    velocity_memory: float = parameter(
        0.03,
        's',
        'Memory of the velocity filter: a longer one passes less noise, and lags.',
        1e-4,
        1.0,
    )
    velocity_impact_memory: float = parameter(
        0.015, 's', 'What it keeps of this at an impact.', 0.0, 1.0
    )
    kind: str = parameter(
        'auto',
        '',
        'What tells the base: kinematic, orientation and stance leg, taken for exact; '
        'filter, a Kalman filter of IMU and legs; auto, the filter where errors are '
        'declared.',
        choices=('auto', 'kinematic', 'filter'),
    )
    gyro_sigma: float = parameter(
        0.0, 'rad/s', 'Standard deviation of the gyroscope in one measurement.', 0.0, 100.0
    )
    gyro_bias_sigma: float = parameter(0.0, 'rad/s', 'Of its bias when it begins.', 0.0, 100.0)
    gyro_bias_walk: float = parameter(
        1e-4, 'rad/s', 'Of the change of that bias in a second.', 0.0, 10.0
    )
    acceleration_sigma: float = parameter(
        0.0, 'm/s^2', 'Standard deviation of the accelerometer in one measurement.', 0.0, 1000.0
    )
    acceleration_bias_sigma: float = parameter(
        0.0, 'm/s^2', 'Of its bias when it begins.', 0.0, 100.0
    )
    acceleration_bias_walk: float = parameter(
        1e-3, 'm/s^2', 'Of the change of that bias in a second.', 0.0, 100.0
    )
    orientation_sigma: float = parameter(
        0.0,
        'rad',
        "Standard deviation of the IMU's orientation, which the filter takes at the start alone.",
        0.0,
        1.0,
    )
    position_sigma: float = parameter(
        0.0, 'rad', 'Standard deviation of joint positions.', 0.0, 1.0
    )
    velocity_sigma: float = parameter(
        0.0, 'rad/s', 'Standard deviation of joint velocities.', 0.0, 100.0
    )
    tachometers: bool = parameter(
        True,
        '',
        'Whether joint velocities are measured apart from positions.',
    )
    velocity_lag: float = parameter(
        0.0,
        's',
        'Time constant of the low-pass of joint velocities; natural_walking and velocity: '
        'auto make up for it.',
        0.0,
        0.1,
    )
    way_scale: float = parameter(
        1.0,
        '1',
        'Ratio of a walked distance to what joints and description say.',
        0.5,
        2.0,
    )
    way_scale_sigma: float = parameter(0.0, '1', 'Standard deviation of way_scale.', 0.0, 0.5)
    foot_motion: float = parameter(
        0.005,
        'm/s',
        'Standard deviation of the velocity of a foot that rests.',
        0.0,
        10.0,
    )
    firm_load: float = parameter(
        0.3,
        '1',
        'Share of the weight that a resting foot carries at least.',
        0.0,
        0.5,
    )
    foot_persistence: float = parameter(
        0.1, 's', 'How long a motion of a foot that rests goes on.', 0.0, 10.0
    )
    sole_spin: float = parameter(
        0.0,
        'rad/s',
        'Standard deviation of the turning of a flat sole at rest about the normal; 0: points.',
        0.0,
        10.0,
    )
    sole_tilt: float = parameter(
        0.05, 'rad', 'Largest angle to the floor of a flat sole.', 0.0, 1.0
    )
    floor_roughness: float = parameter(
        0.005,
        'm',
        'Standard deviation of the height of a foothold.',
        0.0,
        10.0,
    )
    floor_variation: float = parameter(
        0.0,
        '1',
        'In space: how much the slope may change between footholds; 0: it is that of '
        'the robot file.',
        0.0,
        1.0,
    )
    slip_probability: float = parameter(
        1e-5, '1', 'A resting foot whose motion is less probable than this slips.', 1e-12, 0.1
    )

    def check(self) -> None:
        """Refuse contacts that end above the load they begin at."""
        require(
            self.contact_off < self.contact_on,
            'parameter estimator.contact_off',
            value=self.contact_off,
            limit=f'must be below contact_on ({self.contact_on:g} N)',
            error=ParameterError,
        )
