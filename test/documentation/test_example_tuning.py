# SPDX-License-Identifier: Apache-2.0
"""The example that tunes the laws of the compass."""

import math
import sys

import pytest
import tune_compass as tuning


def test_missing_optimiser_is_named(monkeypatch):
    """Who lacks the optimiser would get a traceback instead of the command that installs it."""
    monkeypatch.setitem(sys.modules, 'cma', None)
    with pytest.raises(SystemExit, match=r'pip install "walking_control\[tune\]"'):
        tuning.main('hip_pd', 10)


def test_search_finds_the_better_settings(monkeypatch):
    """The search would turn the score round, or leave the bounds of the settings."""
    pytest.importorskip('cma', reason='the search needs the package cma')
    tried = []

    def score(law, settings):
        tried.append(settings)
        return (
            10.0
            - abs(math.log(settings['hip_stiffness'] / 30.0))
            - abs(settings['hip_angle'] - 0.7)
        )

    monkeypatch.setattr(tuning, 'score', score)
    found = tuning.main('hip_pd', 300)
    assert found['hip_stiffness'] == pytest.approx(30.0, rel=0.1)
    assert found['hip_angle'] == pytest.approx(0.7, abs=0.05)
    for name, (low, high, *_) in tuning.SPACES['hip_pd'].items():
        assert all(low <= settings[name] <= high for settings in tried), name


def test_search_begins_where_the_table_says():
    """The search would begin elsewhere, where perhaps nothing walks and all trials score alike."""
    assert tuning.decode(
        tuning.SPACES['hip_pd'], tuning.encode(tuning.SPACES['hip_pd'])
    ) == pytest.approx({name: start for name, (*_, start) in tuning.SPACES['hip_pd'].items()})
