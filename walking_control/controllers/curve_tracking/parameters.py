# SPDX-License-Identifier: Apache-2.0
"""The parameters of curve tracking."""

from walking_control.controllers.parameters import FootParameters, KneeParameters, LossParameters
from walking_control.exceptions import ParameterError, require
from walking_control.models import parameter

SMALLEST = 1e-9


class CurveTrackingParameters(
    FootParameters, LossParameters, KneeParameters, section='curve_tracking'
):
    """Of port-based curve tracking with energy management."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 10.0, 5000.0)
    gait: str = parameter('', '', 'Gait file, or name of a shipped one; empty: that of the robot.')
    field: str = parameter(
        'closest',
        '',
        'Vector field: nearest point, or the surface (5.28).',
        choices=('closest', 'surface'),
    )
    metric: tuple[float, ...] = parameter(
        (),
        '1',
        'Weight of each coordinate in the squared distance; empty: ones.',
        1e-3,
        1e3,
    )
    surface_offset: float = parameter(
        0.05, 'rad', 'Distance of the curves the surface is fitted to.', 0.01, 1.0
    )
    attraction: float = parameter(
        5.0,
        '1/s',
        'Rate at which a gap to the gait closes.',
        SMALLEST,
        100.0,
        scaled=True,
    )
    continuation: str = parameter(
        'free',
        '',
        'Past a late touchdown: on by free motion, or reaching for a lower floor.',
        choices=('free', 'reach'),
    )
    reach: float = parameter(
        1.0,
        '1',
        'Opening of the hip per tilt of the stance leg, with continuation reach.',
        0.0,
        5.0,
    )
    reach_blend: float = parameter(
        0.05, 's', 'Time constant with which the reach begins.', 0.005, 1.0
    )
    lead_lacking: float = parameter(
        0.0,
        's/J',
        'How far the swing leg runs ahead per energy that the walker lacks.',
        0.0,
        100.0,
    )
    lead_excess: float = parameter(0.0, 's/J', 'The same per energy in excess.', 0.0, 100.0)
    lead_limit: float = parameter(0.3, 's', 'How far it may run ahead.', 0.0, 1.0)
    energy_gain: float = parameter(3.0, '1/(s J^0.5)', 'Kp of (5.27).', SMALLEST, 1e4, scaled=True)
    integral_gain: float = parameter(
        0.0, '1/(s^2 J^0.5)', 'Integral action on the energy error.', 0.0, 100.0
    )
    integral_limit: float = parameter(
        10.0, 'J s', 'Bound of the integral of the energy error.', 0.0, 1e3, scaled=True
    )
    energy: str = parameter(
        'constant',
        '',
        'Desired energy: mean of the gait, or point by point.',
        choices=('constant', 'gait'),
    )
    method: str = parameter(
        'transfer',
        '',
        'Undesired momentum: moved into the gait (5.18) or damped (5.17).',
        choices=('transfer', 'damping'),
    )
    transfer_gain: float = parameter(
        20.0, 'J^-0.5 s^-1', 'a0 of (5.21).', SMALLEST, 1e4, scaled=True
    )
    transfer_threshold: float = parameter(
        0.25,
        'J^0.5',
        'a1 of (5.21): undesired momentum below which the transfer is linear.',
        SMALLEST,
        100.0,
        scaled=True,
    )
    bandwidth: float = parameter(
        100.0, '1/s', 'Fastest decay of undesired momentum.', SMALLEST, 5000.0, scaled=True
    )
    damping_rate: float = parameter(
        40.0,
        '1/s',
        'R of (5.17), and where the motion runs backwards.',
        SMALLEST,
        5000.0,
        scaled=True,
    )
    freedom_rate: float = parameter(
        10.0,
        '1/s',
        'How fast Z of (5.12) may turn undesired momentum to save effort.',
        0.0,
        1e3,
        scaled=True,
    )
    along: float = parameter(
        0.01,
        '1',
        'With fewer motors than coordinates: weight of errors along the gait beside '
        'those across it.',
        1e-6,
        1.0,
    )
    impact_time: float = parameter(
        0.0,
        's',
        'How long no effort is given after a touchdown or knee strike, while rates still jump.',
        0.0,
        0.1,
    )
    tank_initial: float = parameter(
        10.0, 'J', 'Energy the law may inject at first.', 0.0, 1e6, scaled=True
    )
    tank_capacity: float = parameter(
        20.0, 'J', 'Most energy it may hold ready.', 0.0, 1e6, scaled=True
    )
    tank_supply: float = parameter(
        -1.0,
        'W',
        'Power into the tank, for gaits that need work; below 0: twice what the gait takes.',
        -1.0,
        1e5,
    )
    compiled: bool = parameter(False, '', 'Compile the law when configured, some ten seconds once.')

    def check(self) -> None:
        """Refuse a tank that is fuller than it can be."""
        require(
            self.tank_initial <= self.tank_capacity,
            'parameter curve_tracking.tank_initial',
            value=self.tank_initial,
            limit=f'must be at most tank_capacity, {self.tank_capacity:g} J',
            remedy='lower it or raise tank_capacity',
            error=ParameterError,
        )
