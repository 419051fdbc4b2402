# SPDX-License-Identifier: Apache-2.0
"""The front door: what a user imports has its types, its names, and what a run can do."""

from pathlib import Path
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import walking_control as wc

ROOT = Path(__file__).parents[2]
USES = """
import walking_control as wc

robot = wc.load_robot('dribbel')
run = wc.simulate(robot, duration=0.1)
reveal_type(wc.load_robot)
reveal_type(run)
reveal_type(wc.StaticTorque)
reveal_type(robot.values(wc.Parameters))
wc.nonsense
"""


def test_every_public_name_is_there():
    """If it failed, the door would promise a name that nobody can import."""
    assert all(getattr(wc, name) is not None for name in wc.__all__)


def test_an_old_name_says_its_new_one():
    """If it failed, a script of the last release would break without a word."""
    with pytest.warns(DeprecationWarning, match='is now find_first_failure'):
        assert wc.robustness is wc.find_first_failure


def test_types_reach_a_user(tmp_path):
    """If it failed, README's example would not pass mypy --strict, or everything were Any."""
    pytest.importorskip('mypy', reason='types need mypy: pip install mypy')
    example, = re.findall(r'```python\n(.*?)```', (ROOT / 'README.md').read_text('utf-8'), re.S)
    (tmp_path / 'example.py').write_text(example)
    (tmp_path / 'uses.py').write_text(USES)
    done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--config-file=',
                           'example.py', 'uses.py'], cwd=tmp_path, capture_output=True, text=True,
                          timeout=400)
    said = done.stdout
    assert 'example.py' not in said, said
    errors = [line for line in said.splitlines() if ' error: ' in line]
    assert len(errors) == 1 and 'nonsense' in errors[0], said
    for words in ('-> walking_control.models.robot_file.RobotFile', 'walking_control.runs.run.Run"',
                  'walking_control.statics.distributor.StaticTorque"',
                  'walking_control.models.parameters.Parameters"'):
        assert words in said, said


def test_a_run_gives_its_report_figures_and_table(tmp_path, monkeypatch):
    """If it failed, a user would have to find the modules that make these."""
    for module in ('matplotlib', 'PIL'):
        pytest.importorskip(module, reason=f'figures need {module}: pip install {module}')
    run = wc.simulate(wc.load_robot('dribbel', plant='rigid'), duration=1.5)
    monkeypatch.setitem(sys.modules, 'pandas', SimpleNamespace(DataFrame=dict))
    table = run.to_dataframe()
    assert np.array_equal(table['time [s]'], run.time)
    assert run.plot().axes and run.plot('ground_forces').axes
    with pytest.raises(wc.InvalidInput, match='figures of such runs: .*ground_forces'):
        run.plot('no_such')
    assert {Path(path).name for path in run.report(tmp_path)} >= {'report.html', 'run.csv'}


def test_a_description_is_no_robot_file():
    """If it failed, the first thing many try would end in a parser's error."""
    with pytest.raises(wc.InvalidInput, match='walking_control adopt .*rabbit.urdf'):
        wc.load_robot(ROOT / 'examples' / 'rabbit.urdf')
