# SPDX-License-Identifier: Apache-2.0
"""Every command that a page shows ends as the page says; all of them by `-m slow`."""

import importlib.util
import os
from pathlib import Path
import re
import shutil
import signal
import sys
import time

from page_commands import commands_of, GUIDES, PAGES, ROOT
from planar_strangers import compass_urdf, three_link_urdf
from programs import Program
import pytest
import yaml

from walking_control.cli import main
from walking_control.cli.parser import make_parser
from walking_control.loading import load_robot

OF_MAKE = ('ARGS', 'MAKEFLAGS', 'MAKEOVERRIDES', 'MAKELEVEL', 'MFLAGS')
LONGEST = float(os.environ.get('WALKING_CONTROL_COMMAND', 1800.0))  # s for a command
BIN = Path(sys.executable).parent
PLACEHOLDER = r'\b[A-Z]+(_[A-Z]+)*\b(?!=)|<\w+>|\.\.\.'  # what the reader puts in: ROBOT, <name>

# Commands that nothing here runs, each with the reason.
ELSEWHERE = {
    r'(.* && )?(ros2|colcon|rosdep|source|export|plotjuggler|cd)\b.*': 'needs a ROS 2',
    r'(sudo )?(apt|pip|pre-commit) .*': 'changes the machine; `make setup` installs the same',
    r'yq .*': 'needs Nav2',
    r'make (test|soak|setup)( .*)?': 'the tests themselves, and what they run in',
    r'make golden ARGS=--write': 'writes the records; test_golden does so elsewhere',
    r'make site': 'test_site builds it',
    r'python doc/generate.py': 'test_documentation compares what it writes',
    r'python doc/reached.py': 'test_coverage runs each command of it',
    r'python doc/draw.py .*': 'it draws of what test_coverage runs',
    r'pytest (.* )?-m (slow|long).*': 'tests, which `make soak` or a developer runs',
    r'walking_control( [a-z-]+)?( check| adopt| cycle| identify| gallery| sweep)': "a verb's name",
    r'walking_control check .* --live .*': 'needs a running robot: test_beside_ros2_control',
    r'walking_control [a-z]+ .* --policy .*': 'needs a learned policy of somebody',
    r'walking_control fault stale_imu': 'needs the demo of another shell: test_fault_injection',
    r'walking_control (adopt|bring-up) (bolt|cassie|talos|icub|g1).*': 'needs a foreign model',
    r'(walking_control (adopt (model.urdf|reemc.lua)|import walking.mat|estimate walking|'
    r'measure runs.14_1|reproduce --data)|'
    r'python (examples/real_(compass|pendulum|foot_loads)|'
    r'benchmarks/(humanoid_(books|gait)|polic(ies|y_mistakes))).py) .*': 'a foreign log or network',
}
# What is shown with numbers that take hours is run with smaller ones.
SHORTER = (
    (r'0\.4:1\.2:5', '0.6:0.8:2'),
    (r'--robustness --quick', '--duration 6'),
    (r'--seeds 20', '--seeds 1'),
    (r'--evaluations 60', '--evaluations 4'),
    (r'--trials 54', '--trials 9'),
    (r'--steps 8000', '--steps 400'),
    (r':9\b', ':3'),
    (r':0\.5:6', ':0.5:2'),
    (r'--realtime --duration 600', '--realtime --duration 6'),
    (r'--duration (60|31)', '--duration 6'),
    (r'--kills 200', '--kills 2'),
    (r'--sequences 1000000', '--sequences 1000'),
    (r'--starts 50', '--starts 1'),
    (r'--minutes 12', '--minutes 0.1'),
    (r'false_names.py', 'false_names.py --walks flat'),
    (r'--events \d+', '--events 30'),
    (r'--events \d+', '--events 30'),
    (r'reproduce --out doc', 'reproduce --only sr20-backward --out doc'),
)
# What takes a second or two, and test_site does not run as part of a guide.
QUICK = (
    r'walking_control (check|ros2_control|replay|plot) .*',
    r'walking_control statics .*(json|statics)',
    r'walking_control simulate dribbel .*(hip_spring|set_point=0.35|--record).*',
)


def reason_of(command):
    """Return why a command is not run here, or None."""
    if re.search(PLACEHOLDER, re.sub(r'\$\w+', '', command.text)) and not command.block:
        return 'has a place for the reader to fill in'
    return next(
        (reason for pattern, reason in ELSEWHERE.items() if re.fullmatch(pattern, command.text)),
        None,
    )


def is_quick(command):
    """Return whether a command takes a second or two."""
    return reason_of(command) is None and any(
        re.fullmatch(pattern, command.text) for pattern in QUICK
    )


def name_of(page):
    """Return how a page is called."""
    return str(page.relative_to(ROOT))


@pytest.fixture
def desk(tmp_path, monkeypatch, edited_robot_file, toy):
    """Go to a folder with what a reader of the pages has: the sources, and a robot of his own."""
    monkeypatch.chdir(tmp_path)
    for name in ('examples', 'benchmarks', 'test'):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(edited_robot_file(lambda tree: None), 'my_robot.yaml')
    humanoid = load_robot('humanoid')
    (tmp_path / 'my_robot.urdf').write_text(
        humanoid.robot.urdf.replace('left_foot', 'l_sole').replace('right_foot', 'r_sole')
    )
    (tmp_path / 'standing.yaml').write_text(
        yaml.safe_dump(
            {'joints': dict(zip(humanoid.robot.joints, map(float, humanoid.start.posture)))}
        )
    )
    (tmp_path / 'compass_half_kilogram.urdf').write_text(compass_urdf())
    (tmp_path / 'three_link.urdf').write_text(three_link_urdf())
    return tmp_path


def test_every_command_is_classified():
    """A command would be read by users and run by nobody, or a reason outlive its command."""
    commands = [command for page in PAGES for command in commands_of(page)]
    assert len(commands) > 150
    for pattern in ELSEWHERE:
        assert any(re.fullmatch(pattern, command.text) for command in commands), pattern
    for pattern, _ in SHORTER:
        assert any(re.search(pattern, command.text) for command in commands), pattern


def test_arguments_are_known():
    """A page would show an option or a file that is not there."""
    commands = {
        command.text: command
        for page in PAGES
        for command in commands_of(page)
        if reason_of(command) is None and '--help' not in command.text
    }
    parser = make_parser()
    for program, *arguments in (command.words for command in commands.values()):
        if program == 'walking_control':
            parser.parse_args(arguments)
        elif program == 'make':
            assert re.search(f'^{arguments[0]}:', (ROOT / 'Makefile').read_text(), re.M)
        else:
            assert program in ('python', 'PYTHONPATH=.')
            assert (ROOT / [each for each in arguments if each.endswith('.py')][0]).is_file()


@pytest.mark.long
@pytest.mark.parametrize(
    'page',
    [
        page
        for page in PAGES
        if page.stem not in GUIDES and any(is_quick(command) for command in commands_of(page))
    ],
    ids=name_of,
)
def test_quick_commands(page, desk, capsys):
    """A newcomer would copy a command that fails."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    pytest.importorskip('rosbags', reason='recording needs the package rosbags')
    for command in commands_of(page):
        if is_quick(command):
            status, said = main(command.words[1:]), capsys.readouterr()
            assert status == command.status, (command.text, said.out[-1000:], said.err[-1000:])


def run_whole(command):
    """Run a command as a shell does; return what is wrong with how it ended, or None."""
    text = command.text
    for pattern, shorter in SHORTER:
        text = re.sub(pattern, shorter, text)
    environment = {
        name: value for name, value in os.environ.items() if name not in OF_MAKE
    }  # its options are not those of a `make` on the page
    environment['PYTHONPATH'] = f'{ROOT / "examples"}:{ROOT / "benchmarks"}:.'
    begun = time.monotonic()
    with Program(
        'bash',
        '-c',
        f'PATH="{BIN}:$PATH"; {text}',
        env=environment,
        cwd=ROOT if text.startswith('make ') else None,
    ) as program:
        if text.startswith('walking_control monitor'):  # serves until it is told to stop
            program.wait_for('8765' if '8766' not in text else '8766')
            status = program.stop(signal.SIGINT)
        else:
            status = program.wait(LONGEST)
        print(f'{status} {time.monotonic() - begun:6.1f} s  {text}', flush=True)
        if status != command.status:
            return f'{text}: exit status {status}: {program.output[-600:]}\n{program.error[-600:]}'
    return None


@pytest.mark.timeout(10800)
@pytest.mark.parametrize(
    'page',
    [
        pytest.param(
            page,
            marks=pytest.mark.long if page.stem == 'README' else pytest.mark.slow,
            id=name_of(page),
        )
        for page in PAGES
    ],
)
def test_all_commands(page, desk):
    """The long form of the above: each command of a page after the other, in a shell.

    CI runs those of the README.
    """
    if importlib.util.find_spec('rclpy') is None:
        pytest.skip('demos need ROS 2: install the extra "ros"')
    wrong = []
    for command in commands_of(page):
        if reason_of(command) is None:
            try:
                wrong += filter(None, [run_whole(command)])
            except AssertionError as error:
                wrong.append(str(error)[-2000:])
    assert not wrong, '\n\n'.join(wrong)
