# SPDX-License-Identifier: Apache-2.0
"""The parameters of the supervisor."""

from walking_control.exceptions import ParameterError, require
from walking_control.models.parameters import parameter, Parameters
from walking_control.safety.faults import BEST, EMERGENCY_STOP, KINDS, LAW_LOST, STOPS

REACTIONS = {
    f'on_{kind.code}': parameter(
        kind.default, '', f'Reaction when {kind.meaning}.', choices=kind.choices
    )
    for kind in KINDS.values()
}


class SafetyParameters(Parameters, section='safety', more=REACTIONS):
    """Of what counts as a fault, and what follows."""

    # more than the 50 ms for which Linux stops real-time programs that leave too little to others
    state_timeout: float = parameter(0.1, 's', 'Longest silence of a sensor.', 0.001, 10.0)
    fall_lean: float = parameter(
        0.9,
        'rad',
        'Lean of the stance leg, or of the base in space, that is a fall.',
        0.1,
        3.2,
    )
    fall_height: float = parameter(
        0.6,
        '1',
        'Height of the base that is a fall, as a share of that at zero angles.',
        0.0,
        1.0,
    )
    ambient: float = parameter(25.0, 'C', 'Temperature of the air.', -60.0, 60.0)
    motors_warmer: float = parameter(
        0.0, 'K', 'How much warmer than the air the motors are at the start.', 0.0, 100.0
    )
    joint_limit_margin: float = parameter(
        0.15, 'rad', 'How far beyond its URDF limits a joint may be.', 0.0, 10.0
    )
    velocity_limit_factor: float = parameter(
        1.0, '1', 'Largest joint speed, of its URDF limit.', 0.01, 100.0
    )
    bridge_time: float = parameter(
        0.015,
        's',
        'How long the last good values replace impossible ones before a fault.',
        0.0,
        1.0,
        scaled=True,
    )
    jump_margin: float = parameter(
        0.1,
        'rad',
        'How far beyond its fastest speed a joint or the base may move between two measurements.',
        0.0,
        10.0,
    )
    base_rate_limit: float = parameter(
        20.0, 'rad/s', 'Fastest turning of the base, about each axis.', 0.1, 1e3, scaled=True
    )
    specific_force_limit: float = parameter(
        1000.0, 'm/s^2', 'Largest specific force of the IMU, along each axis.', 10.0, 1e6
    )
    foot_force_limit: float = parameter(
        10000.0, 'N', 'Largest force under a foot, along each axis.', 0.1, 1e7, scaled=True
    )
    gravity_error: float = parameter(
        1.0,
        '1',
        'How far from gravity the averaged specific force may be, as a share.',
        0.1,
        100.0,
    )
    # as long as a silence may last
    imu_frozen_time: float = parameter(
        0.06,
        's',
        'How long the IMU may repeat itself while joints move.',
        0.0,
        1000.0,
    )
    imu_frozen_motion: float = parameter(
        0.05, 'rad, m', 'How far a joint may move meanwhile.', 0.0, 10.0
    )
    stuck_contact_height: float = parameter(
        0.05,
        'm',
        'Height above the stance foot at which no foot of a planar robot touches the floor.',
        0.0,
        1.0,
        scaled=True,
    )
    stuck_contact_time: float = parameter(
        0.1, 's', 'How long a contact may be impossible, or no foot touch the floor.', 0.0, 10.0
    )
    flight_time: float = parameter(
        0.3, 's', 'The same of a robot in space that no foot carries.', 0.0, 10.0
    )
    flicker_limit: int = parameter(
        10, '1', 'Changes of a contact within a second that may be suppressed.', 1, 10000
    )
    lie_patience: int = parameter(
        3, '1', 'Looks of 20 ms in a row that must name a lying sensor.', 1, 10**6
    )
    overrun_limit: int = parameter(
        5,
        '1',
        'Ticks in a row that may take over three periods, if they do so for `state_timeout`.',
        1,
        10000,
    )
    effort_rate_limit: float = parameter(
        4000.0, 'N m/s', 'Fastest change of a commanded effort.', 1.0, 1e7, scaled=True
    )
    retune_rate: float = parameter(
        20.0,
        'N m/s',
        'Fastest change of an effort by a change of parameters.',
        0.1,
        1e6,
        scaled=True,
    )
    damping: float = parameter(
        1.0, 'N m s/rad', 'Damping of actuated joints after a fault.', 0.0, 1e3, scaled=True
    )
    damping_time: float = parameter(
        1.0, 's', 'How long damping lasts before the effort is zero.', 0.0, 60.0
    )
    emergency_stop_category: int = parameter(
        -1,
        '1',
        'Category of the emergency stop (IEC 60204-1): 0 as `on_emergency_stop` says, 1 '
        'a stand, then no power, 2 a stand; -1: 1 where the law can stand, else 0.',
        -1,
        2,
    )
    stop_time: float = parameter(
        5.0, 's', 'Longest way to a stand after a fault; then damping.', 0.1, 60.0
    )
    stand_time: float = parameter(
        0.3, 's', 'How long a robot stands still before it counts as stopped.', 0.0, 10.0
    )
    stand_speed: float = parameter(
        0.08,
        'm/s',
        'Fastest speed of the base of a robot that stands.',
        0.001,
        10.0,
        scaled=True,
    )
    lower_time: float = parameter(
        2.0, 's', 'How long lowering takes before the power goes.', 0.0, 60.0
    )
    crouch: float = parameter(
        0.35, '1', 'Share of its height by which the base is lowered.', 0.0, 0.95
    )
    fade_rate: float = parameter(50.0, 'N m/s', 'How fast the effort fades.', 0.1, 1e6, scaled=True)

    def chosen(self, code: str) -> str:
        """Return the reaction that is chosen for a fault.

        Args:
            code: Of a kind in `KINDS`.
        """
        if code == EMERGENCY_STOP and self.emergency_stop_category:
            return {-1: BEST, 1: 'lower', 2: 'stand'}[self.emergency_stop_category]
        return str(getattr(self, f'on_{code}'))

    def reaction(self, code: str, stands: bool) -> str:
        """Return the reaction to a fault.

        Args:
            code: Of a kind in `KINDS`.
            stands: Whether there is a law that can stand.
        """
        own: str = getattr(self, f'on_{code}')
        instead = own if own in KINDS[code].reactions else ''
        return KINDS[code].react(self.chosen(code), stands, instead)

    def require(
        self, law: str, stands: bool, standby: bool, dispensable: frozenset[str] = frozenset()
    ) -> None:
        """Refuse a stop that was chosen and that the law cannot do.

        Args:
            law: Its name.
            stands: Whether it can stand.
            standby: Whether a standby law can.
            dispensable: What a stop of the robot can do without.

        Raises:
            ParameterError: Which parameter, and what would do.
        """
        for code, kind in KINDS.items():
            require(
                self.chosen(code) not in STOPS or dispensable.issuperset(kind.lost),
                f'parameter safety.on_{code}',
                value=self.chosen(code),
                limit=f'{law} cannot stop without {", ".join(kind.lost)} on this robot',
                remedy='choose best',
                error=ParameterError,
            )
            able = standby if code in LAW_LOST else stands or standby
            if self.chosen(code) in STOPS and not able:
                name = 'emergency_stop_category' if code == EMERGENCY_STOP else f'on_{code}'
                raise ParameterError(
                    f'parameter safety.{name}',
                    value=getattr(self, name),
                    limit='needs a standby law that can stand'
                    if code in LAW_LOST
                    else f'controller {law} cannot stand',
                    remedy='name one in the robot file (standby: stepping)'
                    if code in LAW_LOST
                    else 'choose 0, or a controller or standby law that stands'
                    if code == EMERGENCY_STOP
                    else 'choose best, or a controller or standby law that stands',
                )
