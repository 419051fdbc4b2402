# SPDX-License-Identifier: Apache-2.0
"""The parameters of a search of gaits in space, beside those of every search."""

from walking_control.models import parameter, Parameters


class SpaceSearchParameters(Parameters, section='space_search'):
    """Of the search of gaits of bipeds on soles; what a law needs to correct a step is left."""

    gait_width: float = parameter(
        0.2125, 'm', 'Distance between the soles sideways; 0 leaves it free.', 0.0, 1.0, scaled=True
    )
    gait_time: float = parameter(
        0.38, 's', 'Time of a step; 0 leaves it free.', 0.0, 3.0, scaled=True
    )
    sole_clearance: float = parameter(
        0.0375, 'm', 'Height of the whole sole half-way.', 0.0, 0.5, scaled=True
    )
    least_gap: float = parameter(
        0.12,
        'm',
        'Least distance sideways between the middles of the soles.',
        0.0,
        1.0,
        scaled=True,
    )
    least_bend: float = parameter(0.2, 'rad', 'Least bend of the knees.', 0.0, 1.0)
    base_tilt: float = parameter(0.2, 'rad', 'Largest tilt and turn of the base.', 0.01, 1.0)
    fastest_landing: float = parameter(
        0.28, 'm/s', 'Fastest landing, downwards.', 0.0, 3.0, scaled=True
    )
    landing_slip: float = parameter(0.45, 'm/s', 'The same along the floor.', 0.0, 3.0, scaled=True)
    relied_friction: float = parameter(0.35, '1', 'Friction a gait relies on.', 0.01, 2.0)
    margin: float = parameter(
        1.0,
        '1',
        'Room to correct a step, against price: at 0 steps are a fifth longer and knees '
        'may be half as bent.',
        0.0,
        2.0,
    )
    sole_share: float = parameter(
        0.7,
        '1',
        'Share of the sole that the pressure stays in.',
        0.01,
        1.0,
    )
    motor_share: float = parameter(0.8, '1', "Largest share of the motors' efforts.", 0.01, 1.0)
    rate_share: float = parameter(
        0.7, '1', 'The same of the speed limits of the joints.', 0.01, 1.0
    )
    exchange: float = parameter(
        0.0,
        '1',
        'Share of the cost in which joints exchange power at the supply.',
        0.0,
        1.0,
    )
