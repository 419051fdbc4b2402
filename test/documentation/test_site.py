# SPDX-License-Identifier: Apache-2.0
"""The pages are a site, and the commands of guides do what they print."""

import importlib.util
import json
import re
import runpy
import sys

from page_commands import commands_of, GUIDES, ROOT
from programs import run
import pytest
import setuptools

from walking_control.cli import main
from walking_control.cli.parser import make_parser
from walking_control.ros import launch_arguments

LAUNCH_ARGUMENTS = {
    'simulation': launch_arguments.SIMULATION,
    'monitor': launch_arguments.MONITOR,
    'hardware': launch_arguments.HARDWARE,
}
ROS = importlib.util.find_spec('rclpy') is not None


def build(source, out, timeout=400.0):
    """Build the site as `make site` does and return the process."""
    for module in ('sphinx', 'myst_parser', 'furo'):
        pytest.importorskip(module, reason='the site needs the extra "docs"')
    return run(
        sys.executable,
        '-m',
        'sphinx',
        '-n',
        '-W',
        '--keep-going',
        '-q',
        '-c',
        ROOT / 'doc',
        source,
        out,
        cwd=ROOT,
        timeout=timeout,
    )


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    """A link would lead nowhere, a page stand in no table of contents, an equation as source."""
    built = build(ROOT, tmp_path)
    assert built.returncode == 0, built.stderr
    (entry,) = re.findall('url=(.+)"', (tmp_path / 'index.html').read_text())
    assert (tmp_path / entry).is_file()
    equations = (tmp_path / 'doc' / 'estimation_evidence.html').read_text()
    assert '$$' not in equations and r'$\hat' not in equations  # they would stand there as source


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_no_page_scrolls_sideways(tmp_path):
    """A page would be cut on a phone, where only tables may scroll, or on a desktop."""
    pytest.importorskip('PyQt6.QtWebEngineWidgets', reason='needs the package PyQt6-WebEngine')
    built = build(ROOT, tmp_path)
    assert built.returncode == 0, built.stderr
    for pixels in ('360', '1400'):
        helper = ROOT / 'test' / 'helpers' / 'page_widths.py'
        looked = run(sys.executable, helper, tmp_path, pixels, timeout=620.0)
        assert looked.returncode == 0, looked.stderr
        assert json.loads(looked.stdout.splitlines()[-1]) == [], pixels


def test_dead_ends_do_not_pass(tmp_path):
    """A build that tells nobody of a dead link, dead anchor or lost page would prove nothing."""
    doc = tmp_path / 'source' / 'doc'
    doc.mkdir(parents=True)
    (doc / 'index.rst').write_text('Title\n=====\n\n.. toctree::\n\n   page\n')
    (doc / 'page.md').write_text('# Page\n[a](page.md#gone)\n[b](gone.md)\n[c](../gone.yaml)\n')
    (doc / 'lost.md').write_text('# Lost\n')
    built = build(doc.parent, tmp_path / 'site')
    assert built.returncode != 0
    for words in ("'gone'", "'gone.md'", "'../gone.yaml'", 'lost.md'):
        assert words in built.stderr


def read_commands(page):
    """Yield the words of each command in a page's blocks with the lines printed below it."""
    for command in commands_of(ROOT / 'doc' / f'{page}.md'):
        if command.block:
            yield command.words, command.printed


@pytest.mark.long
@pytest.mark.parametrize('page', GUIDES)
def test_verbs_of_guides(page, capfd, monkeypatch, tmp_path):
    """A newcomer would meet an error, or other words than the page prints."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    pytest.importorskip('rosbags', reason='recording needs the package rosbags')
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'examples').symlink_to(ROOT / 'examples')
    for (program, *arguments), printed in read_commands(page):
        if program != 'walking_control':
            continue
        make_parser().parse_args(arguments)
        if (
            '--live' in arguments
            or '--realtime' in arguments
            or arguments[0] in ('fault', 'bring-up')
            or arguments[0] == 'demo'
            and not ROS
        ):
            continue  # they need a robot, a second shell, ROS 2 or minutes
        status = main(arguments)
        captured = capfd.readouterr()
        said = ' '.join((captured.out + captured.err).split())
        for line in printed:
            assert line in said, arguments
        refused = any(line.startswith(('not usable', 'error')) for line in printed)
        assert (status != 0) == refused, (arguments, said)


def extras():
    """Return the names of setup.py's extras."""
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, 'setup', given.update)
        patch.chdir(ROOT)
        runpy.run_path('setup.py')
    return set(given['extras_require'])


@pytest.mark.parametrize('page', GUIDES)
def test_other_commands_of_guides(page):
    """A newcomer would be sent to a launch file, argument, target or extra that is not there."""
    for (program, *arguments), _ in read_commands(page):
        if (program, *arguments[:2]) == ('ros2', 'launch', 'walking_control'):
            file, *values = arguments[2:]
            assert (ROOT / 'launch' / file).is_file()
            known = {argument.name for argument in LAUNCH_ARGUMENTS[file.split('.')[0]]}
            assert {value.split(':=')[0] for value in values} <= known
        elif program == 'make':
            assert re.search(f'^{arguments[0]}:', (ROOT / 'Makefile').read_text(), re.M)
        elif program == 'pip':
            (named,) = re.findall(r'\[(.+)\]', arguments[-1])
            assert set(named.split(',')) <= extras()
        else:
            assert program in ('walking_control', 'ros2', 'source', 'rosdep', 'colcon')


def test_the_table_of_extras():
    """An extra would be promised that pip does not know, or one that users need be left out."""
    table = (ROOT / 'doc' / 'install.md').read_text().partition('## Without ROS 2')[2]
    assert set(re.findall(r'^- `(\w+)`: ', table, re.M)) == extras() - {'test', 'lint'}
