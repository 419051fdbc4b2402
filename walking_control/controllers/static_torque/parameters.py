# SPDX-License-Identifier: Apache-2.0
"""The parameters of static torques."""

from walking_control.controllers.parameters import LawParameters
from walking_control.models import parameter
from walking_control.statics.solvers import NAMES

REACTIONS = ('impedance', 'damping', 'zero')


class StaticTorqueParameters(LawParameters, section='static_torque'):
    """Of holding a posture by static torques and joint impedance."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 10.0, 2000.0)
    objective: str = parameter(
        'torque',
        '',
        'What is made small: joint torques, contact forces, or heat of the motors.',
        choices=('torque', 'force', 'heat'),
    )
    solver: str = parameter(
        'auto',
        '',
        'Solver of the quadratic program; auto: the fastest installed.',
        choices=('auto', *NAMES),
    )
    friction: float = parameter(0.5, '1', 'Friction relied on.', 0.01, 10.0)
    sole_length: float = parameter(0.18, 'm', 'Length of sole relied on.', 0.001, 1.0, scaled=True)
    sole_width: float = parameter(0.09, 'm', 'Width of sole relied on.', 0.001, 1.0, scaled=True)
    effort_share: float = parameter(
        0.9,
        '1',
        'Share of each effort limit for static torques; the rest is for the impedance.',
        0.05,
        1.0,
    )
    stiffness: float = parameter(
        4.0, '1/rad', 'Torque per joint error, in effort limits.', 0.0, 100.0, live=True
    )
    damping: float = parameter(
        0.15, 's/rad', 'Damping torque per joint speed, in effort limits.', 0.0, 10.0, live=True
    )
    delay: float = parameter(
        0.012,
        's',
        'Delay from joints to torques that the impedance bears: it bounds stiffness and damping.',
        0.0,
        1.0,
        live=True,
    )
    sway_damping: float = parameter(
        1.0,
        '1',
        'How far the pressure runs ahead of a swaying mass: 1, to the capture point; 0 '
        'leaves braking to the joints.',
        0.0,
        5.0,
        live=True,
    )
    posture_rate: float = parameter(
        0.2,
        'rad/s',
        'Fastest joint on the way to a commanded posture.',
        0.001,
        10.0,
        live=True,
    )
    debounce: float = parameter(0.02, 's', 'How long a contact must last to be believed.', 0.0, 1.0)
    ramp_time: float = parameter(
        0.5, 's', 'Time in which a foot gives or takes its whole load.', 0.0, 10.0
    )
    effort_rate: float = parameter(
        500.0, 'N m/s', 'Fastest change of a feed-forward torque.', 1.0, 1e6, live=True, scaled=True
    )
    fade_rate: float = parameter(
        2.0,
        '1/s',
        'Rate at which the feed-forward fades while the posture is impossible.',
        0.01,
        1000.0,
        live=True,
    )
    fade_time: float = parameter(
        0.5,
        's',
        'How long the posture may be impossible before the reaction.',
        0.0,
        60.0,
        live=True,
    )
    reaction: str = parameter(
        'damping',
        '',
        'What follows: impedance without feed-forward, damping, or no effort.',
        choices=REACTIONS,
    )
    routine: str = parameter(
        'hold',
        '',
        'Without a commanded posture: hold the first one, or stand on each leg in turn.',
        choices=('hold', 'shift'),
    )
