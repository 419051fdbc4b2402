# SPDX-License-Identifier: Apache-2.0
"""From what is measured to what is known: contacts, stance foot, minimal coordinates."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'attitude': 'floor_rotation',
        'estimator': 'DECLARED make_estimator',
        'floor_slope': 'FloorSlope',
        'foot_loads': 'require_loads',
        'invariant': 'correct FilterState GYRO',
        'odometry': 'LegOdometry',
        'parameters': 'EstimatorParameters',
        'stand_in': 'dispensable GYROSCOPE StandIn',
        'turns': 'fill_exponential fill_product',
    },
)
