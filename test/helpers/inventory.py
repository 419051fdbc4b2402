# SPDX-License-Identifier: Apache-2.0
"""Hooks of pytest that keep a run of everything complete.

They note which files are collected, and let a test fail that is skipped for want of something
`make test` installs. A run that is asked for a part, by path or by selection, is left alone.
"""

from pathlib import Path
import re

import pytest

SEEN = pytest.StashKey()  # file -> why it is skipped, or '' where it is collected
# What a run of everything may do without: it comes with ROS 2, a desktop, a right or others' data.
MAY_BE_MISSING = re.compile(
    r'\b(launch|launch_ros|launch_pytest|browser|controller_manager|'
    r'mujoco_ros2_control|raise a priority|measurements of real robots|'
    r'walks of REEM-C|texts of the sources)\b'
)


def asks_for_everything(config):
    """Return whether a run is asked for all tests, not for a folder, file or selection."""
    paths = [Path(config.invocation_params.dir, argument).resolve() for argument in config.args]
    return (
        config.rootpath / 'test' in paths
        and config.option.markexpr in ('', 'not slow and not long')
        and not config.option.keyword
    )


def pytest_itemcollected(item):
    """Note the file of a test."""
    item.config.stash.setdefault(SEEN, {})[item.path] = ''


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Note a file or folder that is skipped as a whole, and why."""
    report = yield
    if report.skipped:
        seen = collector.config.stash.setdefault(SEEN, {})
        seen[collector.path] = str(report.longrepr[-1])
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Let a test fail that is skipped in a run of everything without a good reason."""
    report = yield
    if (
        report.skipped
        and not hasattr(report, 'wasxfail')
        and asks_for_everything(item.config)
        and not MAY_BE_MISSING.search(str(report.longrepr[-1]))
    ):
        report.outcome = 'failed'
        report.longrepr = (
            f'{report.longrepr[-1]}; a run of everything needs what make test installs'
        )
    return report


@pytest.fixture
def seen_files(request):
    """Return file -> why it is skipped ('' where it is not) of a run of everything, or None."""
    config = request.config
    return config.stash[SEEN] if asks_for_everything(config) and not config.option.lf else None


def find_gaps(tests, seen, apart=()):
    """Return what a run of everything has left out.

    Args:
        tests: Folder of the tests.
        seen: What the fixture `seen_files` gives.
        apart: Names of folders that cannot be run on this machine.

    Returns:
        list: Files that were not collected, and files or folders with a reason that is no good one.
    """
    files = [path for path in tests.rglob('test_*.py') if path.parent.name not in apart]
    return [str(path) for path in files if path not in seen] + [
        f'{path}: {why}'
        for path, why in seen.items()
        if why and path.name not in apart and not MAY_BE_MISSING.search(why)
    ]
