# SPDX-License-Identifier: Apache-2.0
"""The front door: what a user imports has its types, its names, and what a run can do."""

from importlib import import_module
from pathlib import Path
import pydoc
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import walking_control as wc

ROOT = Path(__file__).parents[2]
USES = """
from springs_and_moons.moon import Moon
from springs_and_moons.stiff_hip import StiffHip
import walking_control as wc

robot = wc.load_robot('dribbel')
run = wc.simulate(robot, duration=0.1)
reveal_type(wc.load_robot)
reveal_type(run)
reveal_type(wc.StaticTorque)
reveal_type(run.summary().steps)
reveal_type(robot.values(wc.Parameters))
reveal_type(StiffHip.parameters(stiffness=9.0).stiffness)
class Still(wc.Controller):
    name = 'still'
    parameters = wc.LawParameters

    def __init__(self, robot_file: wc.RobotFile, values: wc.LawParameters) -> None:
        self.values = values

    def reset(self, state: wc.WalkerState) -> None:
        pass

    def update(
        self, state: wc.WalkerState, reference: wc.Reference, dt: float, command: wc.Command
    ) -> None:
        command.effort[:] = 0.0

Still(robot, robot.values(wc.LawParameters))
wc.simulate(robot, wc.choose(Still, rate=200.0), duration=0.1)
wc.simulate(robot, wc.choose(StiffHip, stiffness=9.0), wc.choose(Moon, share=0.95), duration=0.1)
wc.choose(StiffHip, stifness=9.0)
wc.choose(Moon, share='much')
wc.nonsense
"""


def test_every_public_name_is_there():
    """If it failed, the door would promise a name that nobody can import."""
    assert all(getattr(wc, name) is not None for name in wc.__all__)
    package = Path(wc.__file__).parent
    stubs = package.rglob('*/__init__.pyi')
    doors = [stub.parent for stub in stubs if '__all__' in stub.read_text(encoding='utf-8')]
    rooms = ['.'.join(door.relative_to(package.parent).parts) for door in doors]
    assert 'walking_control.models' in rooms
    for room in map(import_module, rooms):
        assert all(getattr(room, name) is not None for name in room.__all__), room
    with pytest.raises(ImportError, match='nonsense'):
        from walking_control.models import nonsense  # noqa: F401


@pytest.mark.parametrize('record', [wc.WalkerState, wc.Measurement, wc.Command])
def test_help_says_what_each_number_is(record):
    """Whoever writes a law would read bare names, without meaning, unit or shape."""
    said = pydoc.plain(pydoc.render_doc(record))
    for name in record.__slots__:
        assert f' |  {name}\n |      ' in said, name
    assert re.search(r', N, ``|N m or N, ``|rad or m, ``', said)


@pytest.mark.long
def test_types_reach_a_user(tmp_path):
    """If it failed, README's example or a law from outside would not pass mypy --strict."""
    pytest.importorskip('mypy', reason='types need mypy: pip install mypy')
    (example,) = re.findall(r'```python\n(.*?)```', (ROOT / 'README.md').read_text('utf-8'), re.S)
    (tmp_path / 'example.py').write_text(example)
    (tmp_path / 'uses.py').write_text(USES)
    shutil.copytree(ROOT / 'test/foreign_package/springs_and_moons', tmp_path / 'springs_and_moons')
    done = subprocess.run(
        [
            sys.executable,
            '-m',
            'mypy',
            '--strict',
            '--config-file=',
            'example.py',
            'uses.py',
            'springs_and_moons',
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
    )
    said = done.stdout
    errors = [line for line in said.splitlines() if ' error: ' in line]
    wrong = ('keyword argument "stifness"', 'argument "share" to "choose"', 'nonsense')
    assert len(errors) == len(wrong) and all(
        word.lower() in line.lower() for word, line in zip(wrong, errors)
    ), said
    for words in (
        '-> walking_control.models.robot_file.RobotFile',
        'walking_control.runs.run.Run"',
        'walking_control.statics.distributor.StaticTorque"',
        'walking_control.models.parameters.Parameters"',
        'type is "float"',
        'type is "int"',
    ):
        assert words in said, said


@pytest.mark.long
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
