# SPDX-License-Identifier: Apache-2.0
"""Verbs that walk robots many times: sweep, tune, reproduce."""

from collections.abc import Sequence
from pathlib import Path
import sys

from walking_control.cli import common, output
from walking_control.cli.output import Answer
from walking_control.cli.verb import axis, count, margin, option, verb
from walking_control.exceptions import Interrupted, require, writing_to
from walking_control.lab import experiments
from walking_control.lab.experiments.sweeps.task import Axis, check_task, MOST, SweepTask
from walking_control.lab.reports import plots
from walking_control.loading import load_robot

TABLE = 'sweep.parquet'


class _Sweep(common.Sensed, common.Disturbed, common.Following, common.Timed):
    grid: list[Axis] = option(
        'N values of a parameter, by its name in the robot file, or of the initial state: '
        'start.q.NAME, start.v.NAME of a coordinate; repeatable',
        'NAME=LO:HI:N',
        axis,
        required=True,
        default=None,
    )
    points: int | None = option(
        'draw N points at random between the ends of the axes instead of '
        'the grid (NAME=LO:HI will do)',
        'N',
        count,
    )
    repeats: int = option(
        "walks of each point, each with its own seed of the sensors' errors (default: 1)",
        'N',
        count,
        default=1,
    )
    workers: int | None = option(
        'processes; 1 walks in this one (default: one for each core)', 'N', count
    )
    scheduler: str | None = option(
        'of a running Dask cluster to use instead, such as tcp://host:8786', 'ADDRESS'
    )
    resume: Path | None = option(
        'go on with an interrupted sweep.parquet; with more --points, append to it', 'FILE'
    )
    row: int | None = option('walk this row alone and print it', 'N')
    yes: bool = option('more than a million runs are meant')


@verb(
    'walking_control sweep dribbel --plant rigid --grid set_point=0.1:0.5:9 --grid '
    'proportional_gain=2:18:9 --out out/sweep'
)
def sweep(options: _Sweep) -> Answer:
    """Walk a grid of parameters or initial states, on all cores or a cluster; draw maps."""
    task = requested_task(options)
    if options.row is not None:
        return _walk_row(options, options.row, task)
    output.suggest_compiler()
    file = options.resume or (options.out and options.out / TABLE)
    try:
        result = experiments.sweeps.sweep.run_sweep(
            task,
            file,
            options.workers,
            options.scheduler,
            options.resume is not None,
            _may_be_many(options, task),
            output.show_share('walked'),
        )
    except Interrupted as stopped:
        output.say_interrupted(
            stopped.result, f'after {stopped.result["runs"]} of {task.rows} rows'
        )
        if file is not None:
            print(f'--resume {file} goes on', file=sys.stderr)
        raise KeyboardInterrupt from None
    table = result.pop('table')
    return Answer(
        result,
        output.without('columns', 'file', 'interrupted'),
        files=[] if file is None else [str(file)],
        write=output.save_figures(lambda: plots.sweep.sweep_figures(task, table, result)),
    )


class _Tune(common.Sensed, common.Following, common.Timed):
    disturb: Sequence[str] = ()  # a point is walked once, undisturbed
    points: int | None = None
    repeats = 1
    grid: list[Axis] = option(
        'what may change, and between which ends; twice or more',
        'NAME=LO:HI',
        axis,
        required=True,
        default=None,
    )
    margin: list[tuple[str, float]] = option(
        'what has to be survived: speed (m/s at least), a disturbance or margin of robustness '
        '(step_down=0.01, push=0.2, delay=0.005, noise=2); repeatable',
        'KIND=SIZE',
        margin,
    )
    cost: str = option(
        'what is to be little: cost_of_transport_electrical (default), cost_of_transport_positive, '
        'cost_of_transport, mechanical_power, peak_effort, squared_effort_per_step',
        'NAME',
        default='cost_of_transport_electrical',
    )
    evaluations: int = option('points to try (default: 150)', 'N', count, default=150)


@verb(
    'walking_control tune dribbel --plant rigid --duration 10 --grid set_point=0.2:0.5 --grid '
    'proportional_gain=4:16 --margin speed=0.4 --margin step_down=0.006 --out out/tune'
)
def tune(options: _Tune) -> Answer:
    """Find gains that keep margins at the least cost, and write them as a robot file."""
    output.suggest_compiler()
    tuning = experiments.tuning
    try:
        result = tuning.tune(
            requested_task(options),
            [tuning.Goal(*each) for each in options.margin],
            options.cost,
            options.evaluations,
            output.show_share('tried'),
        )
    except Interrupted as stopped:
        result = stopped.result
    robot_file, result['file'] = result.pop('robot_file'), None
    if options.out is not None:
        result['file'] = str(options.out / f'{result["robot"]}_tuned.yaml')
        with writing_to(options.out):
            robot_file.write(Path(result['file']))
    return Answer(
        result,
        output.without('pareto', 'points', 'interrupted', 'file'),
        status=output.say_interrupted(result, f'after {result["trials"]} points'),
        files=[result['file']] if result['file'] else [],
        write=output.save_figures(lambda: {'pareto': plots.sweep.plot_pareto(result)}),
    )


def requested_task(options: _Sweep | _Tune) -> SweepTask:
    """Return the `SweepTask` that options describe."""
    settings = common.settings_of(options)
    if options.gait is not None:
        settings += common.gait_settings(
            options.gait, options.controller or load_robot(options.robot, settings).controller
        )
    robot = options.robot
    if Path(robot).is_file():
        robot = str(Path(robot).resolve())  # workers may live in another folder
    return SweepTask(
        robot,
        tuple(options.grid),
        options.controller,
        options.plant,
        options.duration,
        tuple((name, value) for name, value in settings),
        tuple(options.disturb),
        options.points or 0,
        options.repeats,
        options.noise_seed or 0,
    )


def _may_be_many(options: _Sweep, task: SweepTask) -> bool:
    """Return whether more than a million runs are meant; ask whoever sits there."""
    if options.yes or task.rows <= MOST or not sys.stdin.isatty():
        return bool(options.yes)
    print(f'{task.rows:,} runs: go on? [y/N] ', end='', file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ('y', 'yes')


def _walk_row(options: _Sweep, number: int, task: SweepTask) -> Answer:
    """Walk one row alone and, where its table is there, say whether it is the same."""
    check_task(task, True)
    require(0 <= number < task.rows, 'row', value=number, limit=f'must be 0 to {task.rows - 1}')
    row, matches = experiments.sweeps.walks.walk_rows(task, [number])[0], None
    file = options.resume or (options.out and options.out / TABLE)
    if file is not None and file.is_file():
        table = experiments.sweeps.table.read_table(file)
        stored = [there for there in table.to_pylist() if there['row'] == number]
        matches = bool(stored) and stored[0] == row
    errors = [f'row {number} is not what {file} holds'] if matches is False else []
    return Answer({**row, 'matches': matches}, errors=errors)


class _Reproduce(common.Writing):
    only: list[str] = option('one row, or all whose names begin so; repeatable', 'ID')
    quick: bool = option('only what takes a second or less')
    data: Path | None = option(
        'instead the indicators published with a set of measured walks (EUROBENCH)', 'DIR'
    )
    out: Path | None = option('write the page', 'DIR')


@verb('walking_control reproduce --only gcrc98')
def reproduce(options: _Reproduce) -> Answer:
    """Compute the numbers the sources print and say which hold."""
    from walking_control.lab.reports.reproduction import humanoid, table
    from walking_control.lab.reports.reproduction.row import UNEXPLAINED

    output.suggest_compiler()
    if options.data is None:
        rows = table.reproduce(options.only, options.quick, output.show_share('reproduced'))
    else:
        rows = humanoid.reproduce_walks(options.data)
    open_rows = [row['id'] for row in rows if row['status'] == UNEXPLAINED]
    errors = [f'unexplained: {", ".join(open_rows)}'] if open_rows else []
    return Answer(
        {'rows': rows},
        output.text('reproduction.txt'),
        errors,
        write=lambda folder: [table.write_page(rows, folder)],
    )
