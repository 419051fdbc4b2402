# SPDX-License-Identifier: Apache-2.0
"""A run of everything runs everything, whatever the machine lacks."""

from importlib.util import find_spec
from pathlib import Path
import platform

from inventory import find_gaps
import pytest

# rclpy comes with ROS 2, or as wheels for this platform only
ROS = find_spec('rclpy') or (platform.system(), platform.machine()) == ('Linux', 'x86_64')


def test_a_run_of_everything_leaves_nothing_out(seen_files):
    """A folder that is lost on the way looks like a run in which all is well."""
    if seen_files is not None:  # not in a run of a part
        assert not find_gaps(
            Path(__file__).parents[1], seen_files, () if ROS else ('nodes', 'launch')
        )


INVENTORY = """
from pathlib import Path
from inventory import find_gaps

def test_inventory(seen_files):
    assert seen_files is None or not find_gaps(Path(__file__).parents[1], seen_files)
"""


@pytest.fixture
def tree(pytester):
    """Return a pytester in a small tree of tests with our hooks."""
    pytester.makeini(
        '[pytest]\naddopts = -m "not slow and not long"\n'
        'markers =\n  slow: as in pyproject.toml\n  long: the same\n'
    )
    for file, text in {
        'conftest.py': 'from inventory import *',
        'unit/test_all.py': INVENTORY,
        'physics/test_walk.py': 'def test_walk():\n    pass\n',
    }.items():
        write(pytester, file, text)
    return pytester


def write(tree, file, text):
    """Write a file of a tree's tests."""
    path = tree.path / 'test' / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


GAPS = {
    'import': ('physics/test_walk.py', "import pytest\npytest.importorskip('no_such_module')\n"),
    'test': (
        'physics/test_walk.py',
        "import pytest\n\ndef test_walk():\n    pytest.importorskip('no_such_module')\n",
    ),
    'folder': ('physics/conftest.py', "collect_ignore = ['test_walk.py']\n"),
}


@pytest.mark.parametrize('gap', GAPS)
def test_a_gap_is_a_failure(tree, gap):
    """Tests that are not run prove nothing, and nobody counts how many there were."""
    write(tree, *GAPS[gap])
    assert tree.runpytest_inprocess('test').parseoutcomes().get('failed') == 1
    assert 'failed' not in tree.runpytest_inprocess('test/unit').parseoutcomes()


def test_without_a_gap_all_is_well(tree):
    """An inventory that always complains would be switched off."""
    write(
        tree,
        'physics/test_shown.py',
        "import pytest\npytest.skip('launch_ros is missing', allow_module_level=True)\n",
    )
    outcomes = tree.runpytest_inprocess('test').parseoutcomes()
    assert outcomes == {'passed': 2, 'skipped': 1}
