# SPDX-License-Identifier: Apache-2.0
"""The parameters of natural walking."""

from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.models.parameters import parameter


class NaturalWalkingParameters(SteppingParameters, section='natural_walking'):
    """Of natural walking; the others are those of the stepping it starts with and falls back to."""

    gait: str = parameter(
        '', '', 'Library of gaits, or name of a shipped one; empty: that of the robot.'
    )
    speed_limit: float = parameter(
        1.2, 'm/s', SteppingParameters.rows['speed_limit'].description, 0.0, 3.0, live=True
    )
    speed_rate: float = parameter(
        0.25,
        'm/s^2',
        'How fast the speed follows the command (turning in rad/s^2); off the gait it '
        'slows down three times as fast.',
        0.01,
        10.0,
        live=True,
    )
    tall: float = parameter(
        0.97,
        'm',
        'Height of the base at a stand and to enter the gait; off the gait it sinks to height.',
        0.05,
        3.0,
        scaled=True,
    )
    tall_clearance: float = parameter(
        0.044, 'm', 'Height of the swing foot half-way there.', 0.0, 1.0, scaled=True
    )
    swing_acceleration: float = parameter(
        80.0,
        'm/s^2',
        'Acceleration counted on to move the swing foot; more throws a high base up.',
        1.0,
        1e4,
    )
    leaving: float = parameter(
        0.15,
        'm',
        'Deviation of the divergent component, looked ahead, beyond which the gait is left.',
        0.001,
        1.0,
        live=True,
        scaled=True,
    )
    leaving_sideways: float = parameter(
        0.1,
        'm',
        'The same sideways.',
        0.001,
        1.0,
        live=True,
        scaled=True,
    )
    leaving_missed: float = parameter(
        0.0,
        'm',
        'The gait is left only if the next foothold misses the one that ends the deviation by '
        'this.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    leaving_rough: float = parameter(
        0.1,
        'm',
        'On a rough floor, alone: how far the next foothold may miss the one that ends '
        'the deviation.',
        0.001,
        1.0,
        live=True,
        scaled=True,
    )
    look_ahead: float = parameter(
        0.045, 's', 'How far the deviation is looked ahead.', 0.0, 0.2, live=True, scaled=True
    )
    entering: float = parameter(
        0.125,
        'm',
        'Deviation at a touchdown within which it is entered.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    calm: float = parameter(
        0.075,
        'm',
        'Deviation at a touchdown below which a step is calm; two such steps let the base'
        ' rise, four let the gait be entered.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    matched: float = parameter(
        0.056,
        'm/s',
        'How far the speed aimed at may be outside those of the gaits.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    frozen: float = parameter(
        0.0671,
        's',
        'How long before the end of a step its mean pressure is kept.',
        0.01,
        0.5,
        live=True,
        scaled=True,
    )
    slippery: float = parameter(
        10.0,
        '1',
        'Friction relied on once a foot that stands spins, as on a slippery floor; the usual '
        'one comes back by 0.01 a step.',
        0.01,
        10.0,
        live=True,
    )
    place_rate: float = parameter(
        13.4,
        '1/s',
        'How fast the part of the step follows the place of the centre of mass on the '
        'gait; 0: the clock.',
        0.0,
        200.0,
        live=True,
        scaled=True,
    )
    pressure_gain: float = parameter(
        2.0,
        '1',
        "How far the pressure moves from the gait's, per deviation.",
        0.0,
        10.0,
        live=True,
    )
    sinking_down: float = parameter(
        1.12, 'm/s', 'How fast the base sinks when pushed off the gait.', 0.01, 10.0, scaled=True
    )
    rising: float = parameter(0.09, 'm/s', 'How fast it rises again.', 0.001, 10.0, scaled=True)
    gait_trunk_stiffness: float = parameter(
        300.0,
        '1/s^2',
        'On the gait: angular acceleration per turn of the trunk.',
        0.0,
        1e4,
        live=True,
    )
    gait_trunk_damping: float = parameter(35.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    gait_knee_stiffness: float = parameter(
        400.0,
        '1/s^2',
        'On the gait: acceleration of the stance knee per error.',
        0.0,
        1e4,
        live=True,
    )
    gait_knee_damping: float = parameter(40.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    gait_swing_stiffness: float = parameter(
        500.0,
        '1/s^2',
        'On the gait: acceleration of the swing foot per error; angular too.',
        0.0,
        1e4,
        live=True,
    )
    gait_swing_damping: float = parameter(45.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    tank_capacity: float = parameter(
        20.0,
        'J',
        'Energy that the tank holds; what motors put in beyond what each step refills drains it.',
        0.01,
        1e5,
        scaled=True,
    )
    tank_refill: float = parameter(
        4.0, '1', 'What a touchdown refills, in impacts of the gait.', 0.0, 100.0
    )
    effort_rate: float = parameter(
        2700.0,
        'N m/s',
        'Fastest change of an effort at a touchdown, beside the jump that the gait has there.',
        10.0,
        1e6,
        scaled=True,
    )
    impact: float = parameter(
        0.0334,
        's',
        'How long after a touchdown, and while the floor is late, effort_rate holds.',
        0.0,
        0.5,
        live=True,
        scaled=True,
    )
