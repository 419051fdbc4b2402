# SPDX-License-Identifier: Apache-2.0
"""Efficient gaits by optimisation ([DS09] Definition 4.2)."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'adaptation': 'Adaptation find_adaptation',
        'blocks': 'Block ends_block nodes_block Numbers passive_block Shape TASK unknowns',
        'continuation': 'Continuation FAILURES Orbit',
        'guess': 'can_lift expand_gait guess_gait pack unpack',
        'judgement': 'judge_gait Judgement',
        'optimisation': 'Attempt search SearchResult solve_program',
        'parameters': 'SearchParameters',
        'return_map': 'find_cycles find_simplest_cycle judge polish Stride StrideFunction',
        'space': 'HEAT SpaceResult SpaceSearch wind',
        'space_parameters': 'SpaceSearchParameters',
    },
)
