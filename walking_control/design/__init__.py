# SPDX-License-Identifier: Apache-2.0
"""Questions asked before a robot is built: what gears cost, how a posture passes force on."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'limb': 'Limb',
        'mechanism': 'AXES load_mechanism Mechanism require_inertia SINGULAR unit_direction',
        'rotom': 'Contacts motion_space Transmissibility transmissibility',
        'study': 'study_rotom study_transmission usual_contacts',
        'transmission': 'BACKWARD backward_efficiency FORWARD LOSSLESS make_transmission '
        'Transmission',
    },
)
