# SPDX-License-Identifier: Apache-2.0
"""Periodic motion: found on the return map, judged by its eigenvalues."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'curve': 'Curve evaluate make_curve make_time_curve',
        'gait': 'evaluation Gait GaitError on_slope Phase points STEEPEST',
        'gait_family': 'family_document',
        'gait_file': 'fit_gait gait_document plane_family read_gait write_gait',
        'samples': 'GaitSamples Piece read_samples',
        'step_judgement': 'asymmetry COARSE FINE judge_step StepJudgement',
    },
)
