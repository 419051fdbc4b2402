# SPDX-License-Identifier: Apache-2.0
"""Verbs about recordings: import, replay, estimate, plot, measure, identify."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.cli.common import Common, OfBag, RECORDED, ROBOT
from walking_control.cli.output import Answer, save_figures, say, say_nothing, say_remark, text
from walking_control.cli.verb import argument, not_negative, option, positive, share, verb
from walking_control.controllers import CONTROLLERS
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import given, require
from walking_control.lab.experiments import identification, measured_walks
from walking_control.lab.reports import plots
from walking_control.loading import load_robot
from walking_control.models import Dynamics, RobotFile, with_section
from walking_control.ros import recording
from walking_control.runs import indicators
from walking_control.runs.tables import (
    pick_columns,
    read_recording,
    read_summary,
    read_table,
    run_columns,
    TABLE,
)

SAME = 1e-6  # relative, of masses


class _Import(Common):
    log: Path = argument(
        '.mat (5 or 7.3), text with a header and commas, or a folder of such tables', 'LOG'
    )
    layout: Path = argument('which column is what, in which unit and frame', 'LAYOUT.yaml')
    robot: str = option(ROBOT, 'ROBOT', required=True)

    def prepare(self) -> None:
        """Make no folder: the recording makes its own, and overwrites none."""


@verb(
    'walking_control adopt model.urdf --out robot',
    'walking_control import walking.mat layout.yaml --robot robot/robot.yaml --out walking',
    name='import',
)
def import_log(options: _Import) -> Answer:
    """Make a recording of the log of a real robot: MATLAB or CSV, by a layout of its columns."""
    out = options.out or Path(f'{options.log.stem}_recording')
    robot_file = load_robot(options.robot, options.set)
    for words in recording.measured.import_log(options.log, options.layout, robot_file, out):
        say(f'remark: {words}')
    return Answer({'recording': str(out)}, say_nothing, files=[str(out)])


class _Estimate(OfBag):
    fit: float | None = option(
        'fit the noise of the sensors to this share of the recording, from '
        'the beginning, and judge the rest',
        'SHARE',
        share,
    )


@verb(
    'walking_control simulate walker3d --noise lab --record walk.mcap',
    'walking_control estimate walk.mcap --out out/estimate',
)
def estimate(options: _Estimate) -> Answer:
    """Run the estimator alone over a recording; with a truth in it, judge and fit it."""
    log = recording.log_estimate
    bag = recording.bag.open_bag(options.recording)
    robot_file, fitted = _robot(options, bag), {}
    if options.fit is not None:
        fitted = log.fit_noise(bag, robot_file, options.fit)
        robot_file = with_section(robot_file, EstimatorParameters.section, fitted)
    run = log.estimate_log(bag, robot_file)
    parts = {'whole': (0.0, 1.0)}
    if options.fit is not None:
        parts |= {'fitted': (0.0, options.fit), 'held_out': (options.fit, 1.0)}
    errors = {name: log.judge_estimate(run, part) for name, part in parts.items()}
    say_remark(bag.remark)

    result = {
        'robot': run.robot.name,
        'rows': len(run.time),
        'parameters': fitted,
        **errors,
        'recording': str(options.recording),
    }
    return Answer(result, text('estimate.txt', parts=errors), write=run.report)


class _Replay(OfBag):
    controller: str | None = option(lambda: ', '.join(CONTROLLERS) + RECORDED, 'C')


@verb('walking_control simulate dribbel --record walk.mcap', 'walking_control replay walk.mcap')
def replay(options: _Replay) -> Answer:
    """Give a controller what another heard, and compare what they answer."""
    bag = recording.bag.open_bag(options.recording)
    result, run = recording.replay.replay(bag, _robot(options, bag), options.controller)
    say_remark(bag.remark)
    told = {'recording': str(options.recording)} if options.json else {}
    differs = result['compared'] and not result['identical']
    return Answer({**result, **told}, status=int(differs), write=run.report)


class _Plot(OfBag):
    recording: Path = argument(
        '.mcap or folder of a rosbag2; folder of --out or its run.csv', 'FILE'
    )


@verb('walking_control plot walk.mcap --out out/walk')
def plot(options: _Plot) -> Answer:
    """Draw a recording or a run: joints, forces and efforts over time."""
    options.out = options.out or Path('.')
    columns = recording.replay.read_columns(options.recording, options.robot, options.set)
    say_remark(columns.remark)
    result = {
        'rows': len(columns.time),
        'columns': {name: list(labels) for name, (_, labels, _) in columns.groups.items()},
    }
    name = f'{options.recording.stem}_recording'
    draw = save_figures(lambda: {name: plots.walk.plot_columns(columns)})
    return Answer(result, say_nothing, write=draw)


def _robot(options: OfBag | _Measure, bag: recording.bag.Bag) -> RobotFile:
    """Return the robot that is named, or the one in the bag."""
    if options.robot is not None:
        return load_robot(options.robot, options.set)
    return recording.replay.recorded_robot(bag, options.set)


class _Measure(Common):
    recording: Path = argument(
        'folder of a walk in files of EUROBENCH (pos.csv, ...), folder of --out or its run.csv, or '
        'a recording',
        'RUN',
    )
    robot: str | None = option(
        ROBOT + ', or of a robot.yaml of EUROBENCH (default: the one above the walk, or that the '
        'run names)',
        'ROBOT',
    )


@verb(
    'walking_control simulate walker3d --set stepping.speed=0.4 --out out/walk',
    'walking_control measure out/walk',
)
def measure(options: _Measure) -> Answer:
    """Tell the indicators of the field for a walk, measured or simulated, by phase of the gait."""
    walk, remarks = _walk(options)
    series = indicators.series_of(walk, indicators.observe(walk))
    lost = walk.time[series['beyond_foot'] > 0.0]
    result = {
        'run': str(options.recording),
        'indicators': indicators.measure(walk, series),
        'falls_from': float(lost[0]) if len(lost) else None,
        'remarks': remarks,
    }
    say = text('indicators.txt', digits=_digits)
    return Answer(result, say, document='indicators.json')


def _digits(value: Any) -> str:
    return np.array2string(np.array(value, float), precision=4)


def _walk(options: _Measure) -> tuple[indicators.Walk, list[str]]:
    """Return the walk that is to be measured, and remarks on its log."""
    path = options.recording
    require(path.exists(), f'run {path}', limit='no such file or folder')
    if path.suffix == '.mcap' or (path / 'metadata.yaml').is_file():
        bag = recording.bag.open_bag(path)
        robot_file = _robot(options, bag)
        run = recording.log_estimate.estimate_log(bag, robot_file)
        pick = pick_columns(run_columns(run), path, robot_file.robot)
    elif path.is_file() or (path / TABLE).is_file():
        robot_file = _walker(options)
        pick = read_table(path, robot_file.robot)
    else:
        above = (folder / 'robot.yaml' for folder in path.resolve().parents)
        found = options.robot or next(filter(Path.is_file, above), 'robot.yaml')
        return measured_walks.read_walk(path, *measured_walks.read_body(Path(found)))
    return measured_walks.walk_of_run(pick, robot_file.robot), []


class _Identify(Common):
    recording: Path = argument('folder of simulate --out or demo --out, or its run.csv', 'RUN')
    robot: str | None = option(ROBOT + ' (default: the one that the run names)', 'ROBOT')
    confidence: float = option('of the intervals (default: 0.95)', 'C', positive, default=0.95)
    model_error: float = option(
        'share by which masses and floor may make torques differ from the model (default: 0.01)',
        'E',
        not_negative,
        default=0.01,
    )


@verb(
    'walking_control simulate dribbel --duration 60 --out out/walk',
    'walking_control identify out/walk',
)
def identify(options: _Identify) -> Answer:
    """Find friction and motor constants in a recorded run."""
    robot_file = _walker(options)
    found = identification.identify(
        robot_file,
        read_recording(options.recording, robot_file.robot),
        options.confidence,
        options.model_error,
    )
    result = {**found, 'run': str(options.recording)}
    return Answer(result, text('identification.txt'), document='identification.json')


def _walker(options: _Identify | _Measure) -> RobotFile:
    """Return the `RobotFile` of the robot that walked, on the floor it walked on.

    Raises:
        InvalidInput: Nobody says which, or it is another one.
    """
    summary = read_summary(options.recording)
    name = given(
        options.robot if options.robot is not None else summary.get('robot'),
        f'run {options.recording}',
        limit='does not say which robot walked',
        remedy='give --robot',
    )
    world: list[tuple[str, Any]] = [
        (f'world.{key}', summary[key]) for key in ('slope', 'gravity') if key in summary
    ]
    robot_file = load_robot(name, [*world, *options.set])
    robot = robot_file.robot
    require(
        summary.get('robot') in (None, robot.name),
        f'run {options.recording}',
        value=summary.get('robot'),
        limit=f'is of another robot than {robot.name}',
        remedy='choose another --robot',
    )
    mass = Dynamics(robot).mass
    require(
        math.isclose(summary.get('mass', mass), mass, rel_tol=SAME),
        f'run {options.recording}',
        value=summary.get('mass'),
        limit=f'is of a robot of another mass than {robot.name}, {mass:.6g} kg',
        remedy='give the robot file and --set it was recorded with',
    )
    return robot_file
