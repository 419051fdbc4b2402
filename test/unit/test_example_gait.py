# SPDX-License-Identifier: Apache-2.0
"""The worked example of doc/gaits.md."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'find_gait.py'


def test_own_urdf_to_gait(tmp_path, capsys):
    """A user who follows the example with an own URDF must end with a gait the plant follows."""
    spec = importlib.util.spec_from_file_location('find_gait', EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    summary, gait = module.main(tmp_path)
    assert summary['resimulation']['follows']
    assert summary['speed'] == pytest.approx(0.4, abs=1e-6)
    assert summary['mechanical_power'] == pytest.approx(summary['impact_loss_power'], rel=1e-6)
    assert gait.period == summary['period']
    assert (tmp_path / 'three_link_walker_gait.yaml').exists()
    assert 'steps of' in capsys.readouterr().out
