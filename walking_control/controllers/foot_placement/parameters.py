# SPDX-License-Identifier: Apache-2.0
"""The parameters of foot placement and push-off."""

from walking_control.controllers.parameters import LawParameters
from walking_control.exceptions import ParameterError, require
from walking_control.models import parameter


class WalkParameters(LawParameters):
    """Of both laws."""

    rate: float = parameter(200.0, 'Hz', 'Rate of the control law.', 20.0, 2000.0)
    speed: float = parameter(
        1.0, 'm/s', 'Speed asked for while no other is; 0 steps in place.', 0.0, 5.0, live=True
    )
    heading: float = parameter(
        0.0, 'rad', 'Direction of the walk, from x towards y.', -100.0, 100.0, live=True
    )
    pitch: float = parameter(
        0.3, 'rad', 'Pitch of the legs at touchdown, q6nom of (5.40).', 0.05, 0.6
    )
    roll: float = parameter(
        0.1, 'rad', 'Roll of the legs at touchdown, q7nom of (5.40).', 0.02, 0.4
    )
    longest_step: float = parameter(
        0.4,
        's',
        'Longest time of a step; goes with the root of the leg length.',
        0.1,
        2.0,
    )
    leap: float = parameter(
        0.5,
        'm/s',
        'Largest rise of the speed aimed at, each step.',
        0.01,
        10.0,
        live=True,
    )
    energy_gain: float = parameter(
        1.0,
        '1',
        'Share of a lack of energy that a push-off makes up; 0 keeps the energy, (5.37).',
        0.0,
        1.0,
        live=True,
    )
    push_off: str = parameter(
        'energy',
        '',
        'Whether the push-off regulates the energy, or is that of the nominal step.',
        choices=('energy', 'nominal'),
    )
    push_feedback: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        '1',
        'Push-off (m/s) per deviation at mid-step of place (m), speed (m/s) and roll rate (rad/s).',
        -100.0,
        100.0,
    )
    schedule: tuple[float, ...] = parameter(
        (0.0,),
        's',
        'Times of the entries of the schedules; linear in between.',
        0.0,
        1e6,
    )
    speed_schedule: tuple[float, ...] = parameter(
        (0.0,), 'm/s', 'Added to the speed asked for.', -5.0, 5.0
    )
    heading_schedule: tuple[float, ...] = parameter(
        (0.0,), 'rad', 'Added to the heading.', -1e3, 1e3
    )
    lateral_schedule: tuple[float, ...] = parameter(
        (0.0,), 'm', 'Added to the place beside the line.', -1e3, 1e3
    )

    def check(self) -> None:
        """Refuse schedules that do not fit together."""
        for name in ('speed_schedule', 'heading_schedule', 'lateral_schedule'):
            require(
                len(getattr(self, name)) in (1, len(self.schedule)),
                f'parameter {name}',
                value=list(getattr(self, name)),
                limit=f'must have 1 entry or {len(self.schedule)}, as many as schedule',
                error=ParameterError,
            )
        require(
            all(b >= a for a, b in zip(self.schedule, self.schedule[1:])),
            'parameter schedule',
            value=list(self.schedule),
            limit='must not fall',
            error=ParameterError,
        )


class FootPlacementParameters(WalkParameters, section='foot_placement'):
    """Of foot placement."""

    lateral_gain: float = parameter(0.3, 's', 'Kl of (5.40).', 0.0, 5.0, live=True)
    position_gain: float = parameter(0.5, '1/(m s)', 'Kp of (5.41).', 0.0, 20.0, live=True)
    velocity_gain: float = parameter(0.5, '1/m', 'Kd of (5.41).', 0.0, 20.0, live=True)
    largest_rate: float = parameter(
        0.3, 'rad/s', 'Largest roll rate that (5.41) may ask for.', 0.0, 5.0, live=True
    )
    leave_out_sway: bool = parameter(
        True,
        '',
        'Whether (5.41) leaves out the lateral speed of the nominal step; as printed it '
        'widens steps.',
    )
    lateral: float = parameter(
        0.0,
        'm',
        'Place left of the line through the start: the reference of (5.41).',
        -1e3,
        1e3,
        live=True,
    )
    pitch_gain: float = parameter(
        0.35,
        'rad s/m',
        'Pitch of the swing leg per forward speed beyond the nominal one.',
        0.0,
        1.0,
        live=True,
    )
    least_roll: float = parameter(
        -0.3, 'rad', 'Least roll of the swing leg; below 0 feet cross.', -0.8, 0.4
    )
    largest_roll: float = parameter(0.5, 'rad', 'Largest roll of the swing leg.', 0.02, 0.9)
    largest_pitch: float = parameter(0.6, 'rad', 'Largest pitch of the swing leg.', 0.1, 1.2)
    pitch_feedback: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        '1',
        'Pitch of the swing leg (rad) per deviation at mid-step of place (m), speed '
        '(m/s) and roll rate (rad/s).',
        -100.0,
        100.0,
    )
    roll_feedback: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), '1', 'Likewise its roll (rad).', -100.0, 100.0
    )

    def check(self) -> None:
        """Refuse ranges and schedules that do not fit."""
        require(
            self.least_roll <= self.roll <= self.largest_roll,
            'parameter foot_placement.roll',
            value=self.roll,
            limit=f'must be from least_roll ({self.least_roll:g}) to '
            f'largest_roll ({self.largest_roll:g})',
            error=ParameterError,
        )
        super().check()


class PushOffParameters(WalkParameters, section='push_off'):
    """Of push-off alone."""

    # the law of foot placement with nothing placed: no gains, and bounds that no step reaches
    lateral = lateral_gain = position_gain = velocity_gain = largest_rate = pitch_gain = 0.0
    pitch_feedback = roll_feedback = (0.0, 0.0, 0.0)
    leave_out_sway = False
    least_roll, largest_roll, largest_pitch = -2.0, 2.0, 2.0
