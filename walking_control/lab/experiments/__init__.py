# SPDX-License-Identifier: Apache-2.0
"""What takes many walks: margins, sweeps, tuning, comparisons, cycles, bringing a robot up."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'branches': 'Branches count_processors',
        'bring_up.margins': 'noisy_walk pace TRIED try_margins',
        'bring_up.natural': 'gait_margins LEAD natural_file natural_gait',
        'bring_up.planar': 'PLANAR_STEPS',
        'bring_up.spatial': 'GAIT_STEPS SPATIAL_STEPS',
        'bring_up.step': 'check_step judge_walk Outcome Site Step walk',
        'check': 'check_robot',
        'comparison': 'GAIT_MEASURES outcome Walk',
        'envelope': 'find_envelope Grid PRICE',
        'gait_search': 'family_members FamilySearch find_gaits Member middle_speed save_gaits',
        'margins': 'describe_walks DISTURBANCES FirstFailure size_grid why_it_stopped',
        'obstacles': 'find_walk_obstacles',
        'resimulation': 'FOLLOWS resimulate',
        'robustness': 'find_first_failure',
        'tuning': 'Goal tune',
        'variants': 'load_variant of_variant Variant',
    },
)
