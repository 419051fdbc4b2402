# SPDX-License-Identifier: Apache-2.0
"""From a stranger's URDF, MJCF or SDF to a robot file: everything guessed, told and weighed."""

from walking_control.door import open_door

# module -> the names in it that others of the room, or outside of it, need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'body_tree': 'BodyTree ROOT',
        'description': 'BASE fix_joints place_base read_description',
        'drives': 'Drive read_drives',
        'feet': 'find_base find_feet find_forward find_sole Sole',
        'guess': 'Description Guess HIGH LOW MEDIUM REPAIRED TOLD Told',
        'mirror': 'find_mirror Mirror partner_name REFLECTION side_of without_side',
        'mjcf': 'urdf_of_mjcf',
        'rbdl': 'read_lua urdf_of_lua',
        'repair': 'compile_mended ENTRIES tensor_of',
        'robot_tree': 'armatures_of fill_hollow GAIT_WIDTH LAYS_FLAT leg_joints motors_of '
        'sections_of SHARED sole_names TALL write_urdf',
        'sdf': 'urdf_of_sdf',
        'standing': 'find_seat find_standing find_stride MAY_BE_OFF Standing support_maps',
        'suspicion': 'find_suspicions',
    },
)
