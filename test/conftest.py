# SPDX-License-Identifier: Apache-2.0
"""Fixtures shared by all tests."""

import faulthandler
import gc
import os
from pathlib import Path
import re
import tempfile
from types import SimpleNamespace

from domains import reserve_domain
from inventory import (  # noqa: F401  hooks and a fixture
    pytest_itemcollected,
    pytest_make_collect_report,
    pytest_runtest_makereport,
    seen_files,
)
import pytest
import xacro
import yaml

from walking_control.loading import load_robot
from walking_control.models.resources import robot_path, share_directory
from walking_control.models.robot_file import read_parameters

LAST_RESORT = 600.0  # s for one test; the limit of pytest-timeout is in pyproject.toml
ERRORS = pytest.StashKey()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """End a test that hangs where no signal of pytest-timeout reaches it, and its process."""
    asked = item.get_closest_marker('timeout')  # of a test that may take longer
    last = max(LAST_RESORT, 1.1 * asked.args[0] if asked is not None and asked.args else 0.0)
    faulthandler.dump_traceback_later(last, exit=True, file=item.config.stash[ERRORS])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_configure(config):
    """Register the marker whose arguments are the rows of doc/faults.md."""
    config.stash[ERRORS] = os.fdopen(os.dup(2), 'w')  # what is captured would end with the process
    config.addinivalue_line(
        'markers',
        'fault(title, code, detected, reaction, last, clears): proves a row of the fault table',
    )
    # for whatever a test starts: neither another worker nor another run may hear it
    number, give_back = reserve_domain()
    os.environ['ROS_DOMAIN_ID'] = str(number)
    config.add_cleanup(give_back)
    logs = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # recorded faults, too
    os.environ['ROS_LOG_DIR'] = logs.name
    config.add_cleanup(logs.cleanup)


@pytest.fixture(scope='module', autouse=True)
def imported():
    """Spare the garbage collector what is imported: a twentieth of a run would go into it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope='session', autouse=True)
def shipped_robots():
    """Expand a xacro of the package once for the same arguments: it is most of loading a robot.

    What a test writes itself, or lies elsewhere, is expanded anew.
    """
    shipped, expand, kept = share_directory() / 'urdf', xacro.process_file, {}

    def process_file(path, mappings):
        if not Path(path).resolve().is_relative_to(shipped):
            return expand(path, mappings=mappings)
        key = path, *sorted(mappings.items())
        if key not in kept:
            before = len(xacro.all_includes)
            text = expand(path, mappings=mappings).toxml()
            kept[key] = text, xacro.all_includes[before:]
        else:
            xacro.all_includes += kept[key][1]
        return SimpleNamespace(toxml=lambda: kept[key][0])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xacro, 'process_file', process_file)
        yield


@pytest.fixture
def dribbel():
    """Return Dribbel's robot file, freshly loaded."""
    return load_robot('dribbel')


@pytest.fixture
def edited_robot_file(tmp_path):
    """Return a function that writes a robot file, Dribbel's first, with an edit of its tree."""

    def write(edit, robot='dribbel'):
        path = robot_path(robot)
        tree = read_parameters(path)
        tree['robot']['urdf'] = str((path.parent / tree['robot']['urdf']).resolve())
        edit(tree)
        edited = tmp_path / 'edited.yaml'
        edited.write_text(yaml.safe_dump({'/**': {'ros__parameters': tree}}))
        return edited

    return write


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Take CONTRIBUTING's first step, a file of one's own; return its place."""
    text = (Path(__file__).parents[1] / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    (module,) = re.findall(r'```python\n(.*?)```', text, re.S)
    (tmp_path / 'hip_spring.py').write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    return 'hip_spring:HipSpring'
