# SPDX-License-Identifier: Apache-2.0
"""What a controller heard and answered, as a bag that ros2 bag reads, and what it answers again."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'bag': 'Bag open_bag read_rows Row',
        'mcap': 'END McapFile unfinished',
        'recorder': 'CONTROLLER LOST numbered Recorder ROBOT_FILE robot_file_text SUFFIX',
        'replay': 'RetoldWalk TOLD',
        'ticks': 'Messages PACKAGE type_store',
    },
)
