# SPDX-License-Identifier: Apache-2.0
"""Many walks over a grid of parameters or initial states: the work behind `sweep`."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'sweep': 'chosen_point',
        'table': 'EXTRA SweepTable',
        'task': 'Axis batches check_task SweepTask',
        'walks': 'measure MEASURES walk_rows Workshop',
    },
)
