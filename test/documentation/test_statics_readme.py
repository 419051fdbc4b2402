# SPDX-License-Identifier: Apache-2.0
"""The script in the README of the statics room runs as it stands, on a robot of one's own."""

from pathlib import Path
import re
import sys

from programs import run

from walking_control.models.resources import share_directory
from walking_control.models.urdf import load_urdf

README = Path(__file__).parents[2] / 'walking_control' / 'statics' / 'README.md'


def script():
    """Return the script of the README."""
    return re.search(r'```python\n(.*?)```', README.read_text(encoding='utf-8'), re.S).group(1)


def run_script(tmp_path, text):
    """Return what the script prints on a humanoid with a name of its own."""
    urdf = load_urdf(share_directory() / 'urdf' / 'humanoid.urdf.xacro')
    (tmp_path / 'my_robot.urdf').write_text(
        urdf.replace('left_sole"', 'l_sole"').replace('right_sole"', 'r_sole"')
    )
    done = run(sys.executable, '-c', text, cwd=tmp_path, timeout=120.0)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_script_of_the_readme(tmp_path):
    """Somebody's first ten lines would end in an error, or print no torques by joint name."""
    text = script()
    assert len([line for line in text.splitlines() if line.strip()]) <= 10
    lines = run_script(tmp_path, text)
    assert lines[-1] == 'held' and len(lines) == 20
    assert re.fullmatch(r'left_hip_yaw: -?\d+\.\d{3} N m', lines[0])
    falling = run_script(tmp_path, text.replace('length=0.20', 'length=0.01'))
    assert falling[-1] != 'held' and len(falling) == 1


def test_modules_of_the_room():
    """A module of the room would be missing from its README, or one named that is gone."""
    room = README.parent
    listed = set(re.findall(r'^\| `(\w+)/?` \|', README.read_text(encoding='utf-8'), re.M))
    there = {path.stem for path in room.glob('*.py')} | {
        path.name for path in room.iterdir() if path.is_dir()
    }
    assert listed == {name for name in there - {'kernels'} if not name.startswith('__')}
