# SPDX-License-Identifier: Apache-2.0
"""The film that shows a robot as it looks."""

import os
from pathlib import Path
import sys

from programs import run
import pytest

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'mesh_film.py'


@pytest.mark.long
def test_a_robot_is_filmed_as_it_looks(tmp_path):
    """Somebody would see sticks where a description has a body, or a still picture."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    image = pytest.importorskip('PIL.Image', reason='films need the package pillow')
    film = tmp_path / 'film.gif'
    words = (EXAMPLE, 'dribbel', '--duration', '0.4', '--set', 'set_point=0.3', '--out', film)
    ended = run(sys.executable, *words, env={**os.environ, 'MUJOCO_GL': 'egl'}, timeout=100.0)
    if 'draws nothing here' in ended.stderr:
        assert ended.returncode == 2
        pytest.skip('no graphics on this machine')
    assert ended.returncode == 0, ended.stderr
    with image.open(film) as told:
        assert told.n_frames > 4
        first = told.convert('RGB').tobytes()
        told.seek(told.n_frames - 1)
        assert told.convert('RGB').tobytes() != first
