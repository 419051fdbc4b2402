# SPDX-License-Identifier: Apache-2.0
"""Ten robots with slips in their URDFs, drawn from a seed, through adopt and check."""

import os

import pytest
from urdf_mutations import judge

# of slips that ended in a traceback or a warning, or named no part, one each
FOUND = (37, 114, 131, 209, 503, 551, 599, 659, 3814, 4651, 7340, 100176)
QUICK = range(24)
MANY = int(os.environ.get('WALKING_CONTROL_FUZZ', '0')) or 3000


@pytest.mark.parametrize(
    'seeds', [FOUND, pytest.param(QUICK, marks=pytest.mark.long)], ids=['found before', 'quick']
)
def test_no_urdf_ends_in_a_traceback(seeds, tmp_path):
    """A slip of an exporter would end in a traceback, or in a line that names no part."""
    assert [found for seed in seeds if (found := judge(seed, tmp_path))] == []


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_thousands_of_slips(tmp_path):
    """A slip that is rarer than the few of the quick test would."""
    wrong = [found for seed in range(MANY) if (found := judge(seed, tmp_path))]
    assert wrong == []
