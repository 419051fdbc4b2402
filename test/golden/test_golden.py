# SPDX-License-Identifier: Apache-2.0
"""Short walks through every plant and law are what they were, to the last digit."""

import json

import golden
import pytest
from walks import WALKS

from walking_control.controllers.registry import CONTROLLERS
from walking_control.loading import PLANTS

NOISY = 'natural_walking_mujoco_lab'


# others of the same laws and plants, or of the same plant in space
AGAIN = (
    'curve_tracking_compliant_uneven',
    'stepping_points_compliant',
    'stepping_points_uneven',
    'stepping_soles_route',
    'time_pd_dart',
)


@pytest.mark.parametrize(
    'name',
    [pytest.param(name, marks=pytest.mark.long) if name in AGAIN else name for name in WALKS],
)
def test_walk_is_what_it_was(name):
    """A change of a law, an estimator or a plant would pass unnoticed; `make golden` says where."""
    lacks = golden.missing(WALKS[name])
    if lacks:
        pytest.skip(lacks)
    found = golden.judge(name)
    assert found is None, f'{found}; if it is meant: make golden ARGS=--write, and say why'


def test_every_law_and_plant_walks():
    """A law or plant that no golden walk uses could change."""
    # a policy walks by a network that is not of this package: test_policy; hip_stop does not walk
    walking = set(CONTROLLERS) - {'policy', 'hip_stop'}
    quick = [walk for name, walk in WALKS.items() if name not in AGAIN]
    assert {walk.controller for walk in quick} == walking
    assert {walk.plant for walk in quick} == set(PLANTS)
    assert {*AGAIN} < {*WALKS}


@pytest.fixture(scope='module')
def short():
    """Return a short walk of the rigid Dribbel."""
    return WALKS['hip_switching_rigid']._replace(duration=0.5)


def test_a_gain_changed_in_its_twelfth_digit_is_found(short):
    """Small mistakes would pass: the walk is the same to the eye and to the looser comparison."""
    kept = golden.summarize(short.walk())
    gain = 10.0
    assert (
        golden.difference(kept, golden.summarize(short.walk(hip_switching__proportional_gain=gain)))
        is None
    )
    changed = golden.summarize(short.walk(hip_switching__proportional_gain=gain * (1.0 + 1e-12)))
    found = golden.difference(kept, changed)
    assert found.startswith('first in row 0 of 51; in rows 0 to 3 columns ') and 'effort' in found
    assert golden.loose_difference(kept, changed, golden.NEAR) is None
    further = golden.summarize(short.walk(hip_switching__proportional_gain=(1.0 + 1e-4) * gain))
    assert 'is off by' in golden.loose_difference(kept, further, golden.NEAR)


def test_what_another_processor_may_make_of_a_walk():
    """Noise made another walk of one on another processor, and the tests failed there."""
    walks, _ = golden.kept()
    noisy, calm = (golden.allowed(name, walks) for name in (NOISY, 'hip_switching_rigid'))
    there = {**walks[NOISY], 'distance': walks[NOISY]['distance'] + 0.000779}  # as it was seen
    assert golden.loose_difference(walks[NOISY], there, noisy) is None
    assert 'distance is off by' in golden.loose_difference(walks[NOISY], there, calm)
    lame = {**walks[NOISY], 'steps': walks[NOISY]['steps'] - 2}
    assert 'steps is off by 2' in golden.loose_difference(walks[NOISY], lame, noisy)


def test_a_walk_that_ends_early_is_found(short):
    """A walk with fewer rows would be compared by what it has."""
    kept, less = (golden.summarize(walk.walk()) for walk in (short, short._replace(duration=0.4)))
    assert (
        golden.difference(kept, less) == '41 rows instead of 51, the first that differs is row 41'
    )


@pytest.mark.long
def test_another_machine_says_that_it_cannot_compare(tmp_path, monkeypatch, capsys):
    """Another processor would make everything fail, or nothing be compared, in silence."""
    name = 'hip_switching_rigid'
    walk = WALKS[name]
    there = {**golden.machine(), 'numpy': '1.0'}
    summary = golden.summarize(walk.walk())
    summary['columns']['q']['digest'] = '0'
    monkeypatch.setattr(golden, 'RECORDS', tmp_path)
    monkeypatch.setattr(golden, 'WALKS', {name: walk})
    for distance, status in ((summary['distance'] + 1e-9, 0), (summary['distance'] + 1e-3, 1)):
        golden.kept.cache_clear()
        golden.record_path(there).write_text(
            json.dumps({'machine': there, 'walks': {name: {**summary, 'distance': distance}}})
        )
        assert golden.main([]) == status
        said = capsys.readouterr().out
        assert said.startswith('cannot compare digits') and 'numpy 1.0 there' in said
    golden.kept.cache_clear()
