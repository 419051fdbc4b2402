# SPDX-License-Identifier: Apache-2.0
"""The README's code runs as it stands there; its commands: test_commands."""

from pathlib import Path
import re

import pytest

import walking_control as wc

ROOT = Path(__file__).parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')


def test_python_example(capsys, tmp_path, monkeypatch):
    """The first ten lines a library user copies must work."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r'```python\n(.*?)```', README, re.S)
    assert len(code.split('\n\n')[1].splitlines()) < 10
    exec(compile(code, 'README.md', 'exec'), {})
    laws, walk = capsys.readouterr().out.splitlines()
    fell, speed, _ = walk.split()
    assert 'hip_switching' in laws and fell == 'False' and 0.4 < float(speed) < 0.6
    assert (tmp_path / 'out/walk/report.html').is_file()


def test_length_and_pictures():
    """A reader would have to scroll through decimals, or wait for a film of many megabytes."""
    assert len(README.split()) <= 900
    films = re.findall(r'\((doc/\S+\.gif)\)', README)
    assert len(films) == 4
    assert all((ROOT / film).stat().st_size < 1e6 for film in films)


def test_torques_of_a_urdf(capsys):
    """The distributor would need a controller, or ROS, or more lines than its page says."""
    page = (ROOT / 'doc' / 'controllers' / 'static_torque.md').read_text(encoding='utf-8')
    (code,) = re.findall(r'```python\n(.*?)```', page, re.S)
    urdf = ROOT / 'urdf' / 'humanoid.urdf.xacro'
    robot = wc.load_robot('humanoid')
    positions = dict(zip(robot.robot.joints, robot.start.posture))
    exec(
        compile(code.replace('my_robot.urdf', str(urdf)), 'static_torque.md', 'exec'),
        {'positions': positions, 'imu_quaternion': (0.0, 0.0, 0.0, 1.0)},
    )
    assert len(capsys.readouterr().out.split()) >= 19
