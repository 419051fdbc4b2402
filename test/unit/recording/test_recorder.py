# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: what was written stays readable, whatever ends its writer."""

import contextlib
import os
import random
import resource
import signal
import sys
import time

import numpy as np
from programs import Program
import pytest

from walking_control.cli import main
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Measurement, Reference
from walking_control.ros.recording.bag import open_bag, read_rows
from walking_control.ros.recording.recorder import FLUSH, LOST, make_room, Recorder
from walking_control.ros.recording.replay import recorded_robot
from walking_control.simulation.simulate import simulate

# walks, no faster than real time, and prints stamp and time of every tick that is recorded
WALK = """
import sys, time
from pathlib import Path
from walking_control.loading import load_robot
from walking_control.ros.recording.recorder import Recorder
from walking_control.simulation.simulate import simulate
robot_file = load_robot(sys.argv[1])
recorder = Recorder(robot_file, robot_file.controller, Path(sys.argv[2]))
begun = None
def listen(measurement, command, reference):
    global begun
    begun = begun or time.monotonic() - measurement.stamp
    time.sleep(max(0.0, begun + measurement.stamp - time.monotonic()))
    recorder.write(measurement, command, reference)
    print(measurement.stamp, time.monotonic(), flush=True)
simulate(robot_file, duration=60.0, listen=listen)
"""


def stamps_of(bag):
    """Return the stamps of the ticks in a bag that holds its robot."""
    return [row.measurement.stamp for row in read_rows(bag, recorded_robot(bag).robot)]


def recorded(path):
    """Return how many ticks can be read of a file, also while it is written."""
    try:
        return len(stamps_of(open_bag(path)))
    except InvalidInput:  # no tick yet
        return 0


def numbers(robot, time):
    """Return a measurement and a command in which every number is another one."""
    measurement, command = Measurement(robot), Command(robot)
    measurement.stamp = time
    measurement.values[:] = time + np.arange(len(measurement.values))
    command.effort[:] = -time - np.arange(len(command.effort))
    return measurement, command


@contextlib.contextmanager
def small_disk(size):
    """Let no file of this process grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def wait_until(condition):
    """Wait for what another thread does."""
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize('robot', ['dribbel', 'walker3d'])
def test_every_number_is_read_as_it_was_written(robot, tmp_path):
    """If it failed, numbers would be put where the messages hold others."""
    robot_file = load_robot(robot)
    recorder = Recorder(robot_file, robot_file.controller, tmp_path / 'walk.mcap')
    times = [0.001 * k for k in range(300)]
    for k, stamp in enumerate(times):
        measurement, command = numbers(robot_file.robot, stamp)
        measurement.locked[:] = command.lock[:] = k % 2
        recorder.write(measurement, command, Reference(speed=0.1 * (k // 100)))
        if k == 150:
            time.sleep(2.0 * FLUSH)  # in more than one chunk
    for k, row in enumerate(read_rows(open_bag(recorder.close()), robot_file.robot)):
        measurement, command = numbers(robot_file.robot, times[k])
        assert row.measurement.stamp == pytest.approx(times[k], abs=1e-9)
        assert np.array_equal(row.measurement.values, measurement.values)
        assert np.array_equal(row.command[0], command.effort)
        assert row.reference.speed == 0.1 * (k // 100)
        if robot_file.robot.locks:
            assert (row.measurement.locked == k % 2).all() and (row.command[1] == k % 2).all()
    assert k == 299


def test_a_clock_that_goes_back_keeps_the_order(tmp_path):
    """If it failed, a recording of a restarted simulator would be sorted into nonsense."""
    robot_file = load_robot('dribbel')
    for closed in (True, False):
        recorder = Recorder(robot_file, 'hip_switching', tmp_path / f'{closed}.mcap')
        times = [1.0, 1.01, 0.2, 0.21, -0.5, 3.0]
        for stamp in times:
            recorder.write(*numbers(robot_file.robot, stamp), Reference())
        wait_until(lambda: recorded(tmp_path / f'{closed}.mcap') == len(times))
        if closed:
            recorder.close()
        assert stamps_of(open_bag(tmp_path / f'{closed}.mcap')) == pytest.approx(times)
        recorder.close()


@pytest.mark.long
def test_a_torn_file_is_read_up_to_its_last_whole_chunk(tmp_path, capsys):
    """If it failed, a power cut in the middle of a write would lose the whole walk."""
    robot_file = load_robot('dribbel')
    path = tmp_path / 'walk.mcap'
    recorder = Recorder(robot_file, 'hip_switching', path)
    ends = []
    for part in range(4):
        for k in range(20):
            recorder.write(*numbers(robot_file.robot, part + 0.01 * k), Reference())
        wait_until(lambda: recorded(path) == 20 * (part + 1))
        ends.append(path.stat().st_size)
    recorder.close()
    whole = path.read_bytes()
    torn = tmp_path / 'torn.mcap'
    cuts = sorted(random.Random(0).sample(range(ends[0], len(whole)), 5))
    for cut in [*ends, *cuts]:
        torn.write_bytes(whole[:cut])
        kept = recorded(torn)
        assert 20 * sum(end <= cut for end in ends) <= kept <= 80, cut
    capsys.readouterr()
    for words in (['replay'], ['plot', '--out', str(tmp_path)]):
        assert main([*words, str(torn), '--json']) in (0, 1)
        remark = capsys.readouterr().err
        assert remark.count('was not closed') == 1 and remark.count('\n') == 1, words
    assert main(['replay', str(path), '--json']) in (0, 1)
    assert not capsys.readouterr().err


def test_a_full_disk_keeps_what_was_written(tmp_path):
    """If it failed, a full disk would end the walk, or spoil what was recorded before."""
    robot_file = load_robot('dribbel')
    recorder = Recorder(robot_file, 'hip_switching', tmp_path / 'walk.mcap')
    with small_disk(400_000):
        written = 0
        while recorder.problem is None and written < 10_000:
            recorder.write(*numbers(robot_file.robot, 0.001 * written), Reference())
            written += 1
            time.sleep(0.0005)
        for _ in range(10):
            recorder.write(*numbers(robot_file.robot, 20.0), Reference())
        assert recorder.close() is None
    assert 'stays readable' in recorder.problem
    bag = open_bag(tmp_path / 'walk.mcap')
    stamps = stamps_of(bag)
    assert 0 < len(stamps) < written and 'was not closed' in bag.remark
    assert stamps == pytest.approx([0.001 * k for k in range(len(stamps))])


def test_an_error_in_the_recorder_is_heard(tmp_path, monkeypatch):
    """If it failed, a recording would end without a word."""
    said = []
    recorder = Recorder(
        load_robot('dribbel'),
        'hip_switching',
        tmp_path / 'walk.mcap',
        say=lambda words, complaint: said.append((words, complaint)),
    )
    recorder._queue.append('no tick')
    wait_until(lambda: said)
    assert 'has ended' in said[0][0] and said[0][1]
    assert recorder.close() is None


def test_the_last_minute_is_saved_at_every_fault(tmp_path, monkeypatch):
    """If it failed, nobody could see what led to a fault, or a second would delete the first."""
    monkeypatch.setattr('walking_control.ros.recording.recorder.AFTER', 2.0 * FLUSH)
    robot_file, said = load_robot('walker3d'), []
    recorder = Recorder(
        robot_file,
        'stepping',
        None,
        tmp_path / 'fault.mcap',
        lambda words, complaint: said.append(words),
    )
    for fault in range(2):
        for k in range(50):
            recorder.write(*numbers(robot_file.robot, fault + 0.01 * k), Reference())
        recorder.save_fault()
        wait_until(lambda: len(said) > fault)
    recorder.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ['fault-2.mcap', 'fault.mcap']
    assert len(stamps_of(open_bag(tmp_path / 'fault.mcap'))) == 50
    assert len(stamps_of(open_bag(tmp_path / 'fault-2.mcap'))) == 100  # it is the last minute


@pytest.mark.parametrize('limit, kept', [({'FAULTS': 4}, 3), ({'FAULT_BYTES': 250}, 2)])
def test_saved_faults_do_not_fill_the_disk(tmp_path, monkeypatch, limit, kept):
    """A robot that faults again and again would write 14 MB a minute for ever."""
    for name, value in limit.items():
        monkeypatch.setattr(f'walking_control.ros.recording.recorder.{name}', value)
    names = ['fault.mcap', *(f'fault-{number}.mcap' for number in range(2, 7))]
    for age, name in enumerate(reversed([*names, 'fault-of-mine.mcap', 'default.mcap'])):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000.0 - age, 1000.0 - age))
    make_room(tmp_path / 'fault.mcap')
    left = {each.name for each in tmp_path.iterdir()} - {'fault-of-mine.mcap', 'default.mcap'}
    assert left == {*names[-kept:]}


def test_the_ring_holds_a_minute(tmp_path, monkeypatch):
    """If it failed, the memory of a controller would grow while it walks."""
    monkeypatch.setattr('walking_control.ros.recording.recorder.BEFORE', 5.0 * FLUSH)
    robot_file = load_robot('dribbel')
    recorder = Recorder(robot_file, 'hip_switching', None, tmp_path / 'fault.mcap')
    end = time.monotonic() + 12.0 * FLUSH
    while time.monotonic() < end:
        recorder.write(*numbers(robot_file.robot, time.monotonic()), Reference())
        time.sleep(0.005)
    held = [segment.heard for segment in recorder._ring]
    recorder.close()
    assert held[-1] - held[0] <= 6.0 * FLUSH and not list(tmp_path.iterdir())


def kill_in_a_walk(robot, path, after):
    """Kill a walking recorder some time after its first tick; return lost time and the bag, s."""
    with Program(sys.executable, '-c', WALK, robot, path) as program:
        program.wait_for('\n')
        time.sleep(after)
        program.send_signal(signal.SIGKILL)
        program.wait()
        ticks = np.array([line.split() for line in program.output.split('\n')[:-1]], float)
    bag = open_bag(path)
    stamps = stamps_of(bag)
    assert stamps == pytest.approx(ticks[: len(stamps), 0], abs=1e-9)
    return ticks[-1, 1] - ticks[max(0, len(stamps) - 1), 1], bag


@pytest.mark.long
@pytest.mark.parametrize('robot', ['dribbel', 'walker3d', 'humanoid'])
def test_a_killed_walk_is_there(robot, tmp_path):
    """If it failed, the recording would lose the crash it was made for."""
    lost, bag = kill_in_a_walk(robot, tmp_path / 'walk.mcap', 1.5)
    assert lost < 1.0 and 'was not closed' in bag.remark  # the bar itself: `-m slow`


@pytest.mark.slow
@pytest.mark.parametrize('robot', ['dribbel', 'walker3d', 'humanoid'])
def test_kill_at_any_time_loses_little(robot, tmp_path):
    """If it failed, more than the last 0.3 s of a killed walk would be lost now and then."""
    rng = random.Random(os.getpid())
    losses = [
        kill_in_a_walk(robot, tmp_path / f'{k}.mcap', rng.uniform(0.3, 3.0))[0] for k in range(20)
    ]
    print(robot, 'lost, s:', sorted(losses))
    assert max(losses) <= LOST


def test_a_walk_that_ends_is_complete(tmp_path):
    """If it failed, a simulation faster than real time would leave ticks behind at its end."""
    robot_file = load_robot('dribbel')
    recorder = Recorder(robot_file, 'hip_switching', tmp_path / 'walk.mcap')
    run = simulate(robot_file, duration=1.0, listen=recorder.write)
    assert len(stamps_of(open_bag(recorder.close()))) == len(run.time)
