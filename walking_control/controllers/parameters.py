# SPDX-License-Identifier: Apache-2.0
"""Parameters that several laws have, and those of the smaller laws.

They stand apart from the laws, which a robot file is read without.
"""

from walking_control.exceptions import ParameterError, require
from walking_control.models import parameter, Parameters

LIMITING = ('off', 'scale', 'project')


class LawParameters(Parameters):
    """The parameters of a law: subclass it, one `parameter` a line.

    Args:
        rate: Of the control law, Hz, which every law has.
    """

    rate: float = parameter(100.0, 'Hz', 'Rate of the control law.', 10.0, 2000.0)


class KneeParameters(LawParameters):
    """Of laws that switch knee locks."""

    knee_flexed: float = parameter(
        0.05, 'rad', 'Flexion after which an extending knee is re-armed.', 0.0, 0.5
    )


class FootParameters(LawParameters):
    """Of laws that keep their efforts within what motors and stance foot can bear."""

    limiting: str = parameter(
        'project',
        '',
        'How efforts stay within limits: each alone, scaled down together, or projected.',
        choices=LIMITING,
    )
    min_normal_force: float = parameter(
        0.1, '1', 'Least normal force of the stance foot, as a share of the weight.', 0.0, 0.9
    )
    friction_used: float = parameter(0.6, '1', 'Coefficient of friction counted on.', 0.01, 10.0)
    foot_half_length: float = parameter(
        0.0, 'm', 'Foot on either side of the ankle; 0: any.', 0.0, 1.0
    )


class LossParameters(LawParameters):
    """Of laws that make up for friction and gear losses."""

    friction_compensation: float = parameter(
        1.0, '1', 'Share of known friction and gear losses made up for.', 0.0, 1.0
    )
    compensation_fade: float = parameter(
        0.05,
        'rad/s',
        'Rate of a joint below which friction compensation fades.',
        1e-6,
        10.0,
    )


class NoControlParameters(KneeParameters, section='none'):
    """Of no control at all."""

    rate: float = parameter(100.0, 'Hz', 'Rate at which knee locks are switched.', 10.0, 2000.0)


class HipSwitchingParameters(KneeParameters, section='hip_switching'):
    """Of switching PD control of the hip."""

    rate: float = parameter(100.0, 'Hz', 'Rate of the control law.', 10.0, 2000.0)
    proportional_gain: float = parameter(10.0, 'A/rad', 'Kp of (5.29).', 0.0, 50.0, live=True)
    derivative_gain: float = parameter(0.0, 'A s/rad', 'Kd of (5.29).', 0.0, 5.0, live=True)
    set_point: float = parameter(
        0.3, 'rad', 'Hip angle aimed at while no speed is asked for.', 0.05, 0.8, live=True
    )
    speed: float = parameter(
        0.0, 'm/s', 'Speed asked for at the start; 0 walks with set_point.', 0.0, 2.0, live=True
    )
    speed_table: tuple[float, ...] = parameter(
        (0.3, 0.6), 'm/s', 'Speeds at which set_point_table was measured.', 0.0, 2.0
    )
    set_point_table: tuple[float, ...] = parameter(
        (0.2, 0.4), 'rad', 'Set point that gives each speed.', 0.05, 0.8
    )
    speed_gain: float = parameter(
        0.1, 'rad s/m', 'Change of the set point per speed error, once a step.', 0.0, 2.0, live=True
    )
    switching: str = parameter(
        'stance',
        '',
        'When the set point changes sign: stance, as the swing foot lands; printed, as '
        'in [DS09] 5.3.1, with the foot that stands alone.',
        choices=('stance', 'printed'),
    )

    def check(self) -> None:
        """Refuse tables that do not match or do not rise."""
        speeds, set_points = self.speed_table, self.set_point_table
        require(
            len(speeds) == len(set_points) and len(speeds) >= 2,
            'parameter hip_switching.speed_table',
            value=list(speeds),
            limit='must have as many entries as set_point_table, two or more',
            error=ParameterError,
        )
        require(
            all(b > a for a, b in zip(speeds, speeds[1:])),
            'parameter hip_switching.speed_table',
            value=list(speeds),
            limit='must rise strictly',
            error=ParameterError,
        )


class HipPdParameters(FootParameters, KneeParameters, section='hip_pd'):
    """Of plain PD control of the hip."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 10.0, 5000.0)
    hip_stiffness: float = parameter(
        20.0, 'N m/rad', 'Torque per error of the hip angle.', 0.0, 1e4, live=True, scaled=True
    )
    hip_damping: float = parameter(
        3.0, 'N m s/rad', 'Torque against the rate of the hip.', 0.0, 1e3, live=True, scaled=True
    )
    hip_angle: float = parameter(
        0.6, 'rad', 'Hip angle aimed at, swing leg ahead.', 0.0, 1.5, live=True
    )
    ankle_energy_gain: float = parameter(
        0.0,
        'N m/J',
        'Torque of the ankle per energy the walker lacks; 0 leaves it alone.',
        0.0,
        1e3,
    )
    energy: float = parameter(
        0.0,
        'J',
        'Energy the ankle aims at: kinetic, and potential above the stance foot.',
        0.0,
        1e5,
    )
    # a hip alone asks little of the foot: no limits but the motor's, unless they are chosen
    limiting: str = parameter(
        'off', '', FootParameters.rows['limiting'].description, choices=LIMITING
    )

    def check(self) -> None:
        """Refuse an ankle that does not know what energy to aim at."""
        require(
            self.ankle_energy_gain <= 0.0 or self.energy != 0.0,
            'parameter hip_pd.energy',
            value=self.energy,
            limit='must be above 0 where ankle_energy_gain is',
            remedy='set the energy the walker has on its gait, above the stance foot',
            error=ParameterError,
        )


class HipStopParameters(KneeParameters, section='hip_stop'):
    """Of the last step of a planar walker."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 10.0, 5000.0)
    hip_stiffness: float = parameter(
        20.0, 'N m/rad', 'Torque per error of the hip angle.', 0.0, 1e4, live=True, scaled=True
    )
    hip_damping: float = parameter(
        3.0, 'N m s/rad', 'Torque against the rate of the hip.', 0.0, 1e3, live=True, scaled=True
    )
    hip_angle: float = parameter(
        0.8, 'rad', 'How far ahead the last step is thrown.', 0.1, 1.5, live=True
    )
    swing_angle: float = parameter(
        0.3, 'rad', 'The same before the hip is over the stance foot.', 0.1, 1.5, live=True
    )


class TimePdParameters(FootParameters, LossParameters, KneeParameters, section='time_pd'):
    """Of PD control to a gait played back in time."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 10.0, 5000.0)
    gait: str = parameter('', '', 'Gait file, or name of a shipped one; empty: that of the robot.')
    gait_stiffness: float = parameter(
        20.0, 'N m/rad', 'Force on each coordinate per error.', 0.0, 1e4, scaled=True
    )
    gait_damping: float = parameter(
        3.0, 'N m s/rad', 'Force on each coordinate per error of rate.', 0.0, 1e3, scaled=True
    )
