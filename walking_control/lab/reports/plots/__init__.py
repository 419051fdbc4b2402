# SPDX-License-Identifier: Apache-2.0
"""Figures; every function returns a matplotlib Figure."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'comparison': 'plot_all_energies plot_all_walks plot_gaits',
        'disturbance': 'plot_effort_parts plot_walk_energies plot_walks',
        'footprints': 'footprint_outlines',
        'still': 'warm_views',
        'style': 'Figure FOOT_COLOURS import_matplotlib Mark mark MARK Panel save_all',
        'walk': 'bones over_time phase_planes stance step_marks strengths',
    },
)
