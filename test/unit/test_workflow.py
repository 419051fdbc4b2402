# SPDX-License-Identifier: Apache-2.0
"""The hosted tests: what their workflow names is there."""

from pathlib import Path
import re
import shlex

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / '.github' / 'workflows' / 'ci.yml'
ON_A_MANAGER = ROOT / 'test' / 'nodes' / 'test_on_controller_manager.py'


@pytest.fixture
def jobs():
    """Return the jobs of the workflow."""
    if not WORKFLOW.is_file():
        pytest.skip('the workflow does not belong to a release')
    return yaml.safe_load(WORKFLOW.read_text())['jobs']


def steps(jobs):
    """Return (condition, commands) of each step that runs some."""
    return [
        (step.get('if', ''), step['run'].replace('\\\n', ' '))
        for job in jobs.values()
        for step in job['steps']
        if 'run' in step
    ]


def made(jobs):
    """Return (target, what it is told) of each call of make."""
    runs = '\n'.join(run for _, run in steps(jobs))
    calls = re.findall(r"(?:^|&& )make ([a-z]+)(?: ARGS='([^']*)')?", runs, re.M)
    assert calls
    return calls


def test_targets_markers_and_tests_are_there(jobs):
    """A name that is gone would end a hosted run, or let it pass without a test."""
    targets = set(re.findall(r'^([a-z]+):', (ROOT / 'Makefile').read_text(), re.M))
    markers = set(re.findall(r"^    '(\w+): ", (ROOT / 'pyproject.toml').read_text(), re.M))
    tests = ''.join(path.read_text() for path in (ROOT / 'test').rglob('test_*.py'))
    for target, arguments in made(jobs):
        assert target in targets
        words = shlex.split(arguments)
        for option, value in zip(words, words[1:]):
            if option == '-m':
                assert value in markers
            if option == '-k':
                assert f'def {value}(' in tests


def test_a_real_controller_manager_walks_on_jazzy_and_lyrical(jobs):
    """Every test on a real manager would skip in silence, and in MuJoCo none be asked for."""
    matrix = jobs['ros']['strategy']['matrix']['distribution']
    assert jobs['ros']['container'] == 'ros:${{ matrix.distribution }}'
    (slow,) = re.findall(r'@pytest.mark.slow\ndef (\w+)', ON_A_MANAGER.read_text())
    packages = {
        name.replace('_', '-')
        for call in re.findall(r'need\(([^)]*)\)', ON_A_MANAGER.read_text())
        for name in re.findall(r"'(\w+)'", call)
    } - {'no-such-package', 'robot-state-publisher'}  # the latter is in package.xml
    on_both = [run for condition, run in steps(jobs) if re.search('"jazzy", "lyrical"', condition)]
    assert {'jazzy', 'lyrical'} <= set(matrix)
    installed = set(re.findall(r'ros-\$\{\{ matrix.distribution \}\}-([\w-]+)', ''.join(on_both)))
    assert packages <= installed
    assert any(f'-k {slow}' in run and '-m slow' in run for run in on_both)
