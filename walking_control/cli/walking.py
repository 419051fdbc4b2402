# SPDX-License-Identifier: Apache-2.0
"""Verbs that walk a robot: demo, simulate, robustness, compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walking_control.cli import common, output
from walking_control.cli.output import Answer
from walking_control.cli.verb import (
    argument,
    duration,
    number_range,
    numbers,
    option,
    positive,
    verb,
    words,
)
from walking_control.exceptions import given, Interrupted, require
from walking_control.lab import experiments, reports
from walking_control.lab.experiments.variants import read_variants, variants_path
from walking_control.loading import PLANTS
from walking_control.models.resources import route_names
from walking_control.ros import recording
from walking_control.runs import read_route, Route

NODE = 'node.'  # --set of a demo: parameters of its nodes
# of measures of stability: those in one line, and those too long for any
LISTS = ('eigenvalues', 'coordinates', 'q', 'v')
LONG = ('responses', 'attraction_samples', 'metrics')
SETTINGS = ('roughness', 'steps', 'radius', 'samples')


class _Demo(common.Recorded, common.Sensed, common.Disturbed, common.Following):
    robot: str = argument(common.ROBOT, nargs='?', default='dribbel')
    duration: float | None = option(
        'simulated time in s (default: 20, or as long as the route takes)', 'S', duration
    )
    realtime: bool = option('step by the clock instead of in lockstep')
    route: str | None = option(
        'what is asked for on cmd_vel: name of a shipped route or path of a route file (default: '
        'that of the robot, with its noise, if there is one); none: nothing',
        'ROUTE',
    )
    processes: int = option('2: the controller in a process of its own', choices=(1, 2), default=1)


@verb('walking_control demo dribbel --duration 60 --out out/demo')
def demo(options: _Demo) -> Answer:
    """Walk a robot over ROS 2 topics."""
    with common.needing_ros('demo', '; without ROS: walking_control simulate'):
        from walking_control.ros.nodes.demo import run_demo
    settings = [(name[len(NODE) :], value) for name, value in options.set if name.startswith(NODE)]
    settings.append(('realtime', options.realtime))
    options.set = [(name, value) for name, value in options.set if not name.startswith(NODE)]
    name, route = _choose_route(options)
    if route is not None:
        options.noise = route.noise if options.noise is None else options.noise
        options.set = [*route.overrides, *options.set]
        if options.controller is not None:  # it counts before the route's
            options.set.append(('controller', options.controller))
    duration = options.duration or (20.0 if route is None else route.duration)
    robot_file = common.requested_robot(options)
    if options.record is not None:
        settings.append(('record', str(recording.recorder.bag_path(options.record).resolve())))
    run, figures = run_demo(
        robot_file,
        duration,
        settings,
        options.processes,
        options.disturb,
        name,
        output.show_progress(duration),
    )
    return output.answer_run(run, figures)


def _choose_route(options: _Demo) -> tuple[str, Route | None]:
    """Return name or path and the `Route` of a demo: the one given, or the robot's; or none."""
    name = options.route
    if name is None:
        steered = options.controller in (None, 'stepping', 'natural_walking')
        name = options.robot if steered and options.robot in route_names() else 'none'
    return ('', None) if name == 'none' else (name, read_route(name))


class _Simulate(common.Sensed, common.Disturbed, common.Recorded, common.Following, common.Timed):
    speed: float | None = option("of robots in space, m/s (default: the robot file's)", 'V')


@verb(
    'walking_control simulate dribbel --duration 60 --set set_point=0.35 --json',
    'walking_control simulate walker3d --controller natural_walking --speed 0.8',
)
def simulate(options: _Simulate) -> Answer:
    """Walk a robot by the same chain without ROS."""
    from walking_control.simulation.simulate import simulate as walk

    robot_file = (
        common.requested_robot(options)
        if options.speed is None
        else common.walking_robot(options, options.speed)
    )
    bag = None
    if options.record is not None:
        bag = recording.Recorder(
            robot_file, options.controller or robot_file.controller, options.record
        )
    try:
        run = walk(
            robot_file,
            options.controller,
            options.plant,
            options.duration,
            options.disturb,
            output.show_progress(options.duration),
            listen=None if bag is None else bag.write,
        )
    finally:
        if bag is not None:
            path = bag.close()
            output.say(bag.problem or f'recorded {path}')
    return output.answer_run(run, {})


class _Robustness(common.Enveloped, common.Sensed, common.Following, common.Timed):
    disturbance: str | None = option(
        'one-off: step_down, step_up, push or slope_change (default of robots in space: push)',
        'KIND',
        apart='of',
    )
    margin: str | None = option(
        'lasting: delay (s), noise (factor on the preset), mass (share), friction (dry, of every '
        'joint, N m), grip (share lost of the friction of the floor) or rough (height of '
        'footholds, m), unknown to the controller; up to the first failure, on any plant',
        'KIND',
        apart='of',
    )
    metric: tuple[str, ...] | None = option(
        'measures of the cycle the walk settles on, plant rigid: eigenvalues of the return map, '
        'sensitivity (gait sensitivity norm), passage (mean first passage time on a rough floor), '
        'attraction (region of attraction), or all',
        'NAME[,NAME]',
        words,
        apart='of',
    )
    roughness: float | None = option(
        'of metric passage: standard deviation of the height from one foothold to the next '
        '(default: 0.2 %% of the leg length)',
        'M',
        positive,
    )
    steps: int | None = option('of metric passage: steps to walk (default: 20000)', 'N')
    radius: float | None = option(
        'of metric attraction: ball of states to try, in energy-normalised distance (default: 0.5)',
        'R',
        positive,
    )
    samples: int | None = option('of metric attraction: states to try (default: 1000)', 'N')
    max: float | None = option(
        'last size tried; below 0 for pushes against the walk and lighter robots (default: 0.3 m '
        'down, 0.1 m up, 1.6 N s/kg, 0.1 rad; 0.05 s, factor 10, mass 1, 5 N m, grip 0.95, 0.02 m)',
        'M',
    )
    resolution: float | None = option(
        'distance between sizes (default: 0.001 m, 0.01 N s/kg, 0.002 rad; 0.001 s, 0.25, 0.05, '
        '0.05 N m, 0.05, 0.001 m)',
        'R',
        positive,
    )
    chain: bool = option(
        'of a disturbance: walk through the whole chain of estimator, law and safety even where '
        'the state may be taken as known; margins, noise and plants but rigid always do (some '
        'hundred times as long)'
    )
    heavier: float = option(
        'of a disturbance: masses and inertias are larger by this share than the controller '
        'knows, 0.05 for 5 %%; goes through the chain',
        'SHARE',
        default=0.0,
    )
    seeds: int = option(
        'of a margin with noise or of a rough floor: walks at each size, each with '
        'its own seed (default: 5)',
        'N',
        default=5,
    )
    speed: float | None = option(
        'of robots in space, m/s (default: 0.5 where the robot file says 0)', 'V'
    )
    stop: bool = option(
        'stop a robot at many parts of a step, at five speeds up to --speed: how many '
        'come to a stand, how fast and how far',
        apart='of',
    )
    cause: tuple[str, ...] = option(
        'of --stop: codes of the faults that stop it, or all after which a robot stands (default: '
        'emergency_stop)',
        'CODE[,CODE]',
        words,
        default=('emergency_stop',),
    )
    pushed: tuple[float, ...] = option(
        'of --stop: push the base 0.2 s before, N s per kg of robot, in all directions; two '
        'numbers: all sizes in between',
        'P[,P]',
        numbers,
        default=(0.0,),
    )
    category: int | None = option(
        "of --stop: of the stop, 0, 1 or 2, see doc/stops.md (default: the robot file's)", 'N'
    )
    starts: int = option('of --stop: how many stops (default: 48)', 'N', default=48)


@verb(
    'walking_control robustness compass --controller curve_tracking --disturbance step_down',
    'walking_control robustness dribbel --margin delay --noise lab --json',
    'walking_control robustness walker3d --quick --out out/envelope',
    'walking_control robustness walker3d --stop --category 2 --noise lab --starts 10',
)
def robustness(options: _Robustness) -> Answer:
    """Find the first disturbance or lasting error that fells the walker, or measure stability."""
    if options.stop:
        return _try_stops(options)
    if options.metric is not None:
        return _measure_stability(options, options.metric)
    try:
        found = _first_failure(options)
    except Interrupted as stopped:
        found = stopped.result
    result = found.summary()
    draw = (
        reports.plots.comparison.plot_envelope
        if 'cells' in result
        else reports.plots.gait.plot_robustness
    )
    return Answer(
        result,
        output.without('samples', 'cells', then='envelope.txt' if 'cells' in result else ''),
        status=output.say_interrupted(result, f'after {len(result["samples"])} sizes'),
        write=output.save_figures(lambda: {'robustness': draw(result)}),
        document='robustness.json' if 'cells' in result else '',
    )


def _try_stops(options: _Robustness) -> Answer:
    """Say how many stops ended on two feet; exit status 1 if one did not."""
    require(
        len(options.pushed) <= 2,
        'option --pushed',
        value=','.join(f'{size:g}' for size in options.pushed),
        limit='takes a size, or the least and the largest',
    )
    stops, robot_file = experiments.stops, common.walking_robot(options, options.speed)
    if options.category is not None:
        robot_file = stops.with_category(robot_file, options.cause, options.category)
    result = stops.try_stops(
        robot_file,
        options.cause,
        options.starts,
        0.5 if options.speed is None else options.speed,
        (options.pushed[0], options.pushed[-1]),
        options.processes,
        output.show_share('tried'),
    )
    result['noise'] = options.noise or 'none'
    fell = any(row['category'] and row['stood'] < row['starts'] for row in result['causes'])
    return Answer(
        result,
        output.without('causes', 'trials', then='stops.txt'),
        status=int(fell),
        write=lambda folder: reports.pages.write_stop_sheet(result, folder),
        document='stops.json',
    )


def _measure_stability(options: _Robustness, metric: tuple[str, ...]) -> Answer:
    """Measure stability; settings that are None are usual."""
    from walking_control.lab.experiments.stability.metrics import find_metrics, METRICS

    common.require_rigid(options)
    seed, options.noise_seed = options.noise_seed or 0, None  # not of sensors
    robot_file = common.requested_robot(options)
    output.suggest_compiler()
    settings = {name: getattr(options, name) for name in SETTINGS}
    result = find_metrics(
        robot_file,
        tuple(METRICS) if metric == ('all',) else metric,
        options.controller,
        seed,
        output.show_share,
        **{name: value for name, value in settings.items() if value is not None},
    )
    return Answer(
        result,
        lambda result: output.print_summary(
            {
                name: _in_digits(value) if name in LISTS else value
                for name, value in result.items()
                if name not in LONG
            }
        ),
        write=output.save_figures(lambda: reports.plots.sweep.stability_figures(result)),
    )


def _in_digits(values: list[Any]) -> str:
    """Return names or numbers in one line, numbers with all the digits that may be known."""
    return ', '.join(
        value
        if isinstance(value, str)
        else f'{value.real:.12g}'
        if not getattr(value, 'imag', 0.0)
        else f'{value:.12g}'
        for value in values
    )


def _first_failure(options: _Robustness) -> experiments.margins.FirstFailure:
    """Return what was found of the disturbance or margin that was asked for."""
    sizes = options.max, options.resolution
    robot_file = common.walking_robot(options, options.speed)
    in_space = robot_file.robot.is_free
    if options.margin is not None or not in_space:
        common.refuse_grid(
            options, 'robots with base: free alone have an envelope, of disturbances'
        )
    if options.margin is not None:
        return experiments.margins.find_margin(
            robot_file,
            options.margin,
            *sizes,
            options.seeds,
            options.duration,
            output.show_share('tried'),
        )
    if in_space:
        return experiments.envelope.find_envelope(
            robot_file,
            options.disturbance or 'push',
            *sizes,
            common.requested_grid(options),
            options.processes,
            output.show_share('tried'),
        )
    kind = given(
        options.disturbance,
        f'robustness of {robot_file.robot.name}',
        limit='robots with base: free alone have an envelope',
        remedy='give --disturbance or --margin',
    )
    plant = None if options.plant == 'rigid' else options.plant
    if plant is None:
        output.suggest_compiler()
    return experiments.robustness.find_first_failure(
        robot_file,
        kind,
        *sizes,
        plant or ('rigid' if options.chain else None),
        options.heavier,
        output.show_share('tried'),
    )


class _Compare(common.Enveloped, common.Sensed, common.OnFloor):
    disturb: list[str] = option(common.DISTURB + ' (default: step_down=0.05@6)', 'KIND=SIZE@WHEN')
    duration: float = option('simulated time in s (default: 12)', 'S', duration, default=12.0)
    gait: Path | None = option(
        'gait file of all that follow one and name none, or name of a shipped one', 'FILE'
    )
    variants: Path | None = option(
        'list of name, controller, settings (default: config/comparisons/ROBOT.yaml)', 'FILE'
    )
    plant: str | None = option(
        lambda: ', '.join(PLANTS) + " (default: the robot file's, and rigid for --robustness)", 'P'
    )
    robustness: bool = option(
        'look for the first failing size of the disturbance too, of robots in space of pushes from '
        'all sides (minutes)'
    )
    speeds: Sequence[float] | None = option(
        'of robots in space, m/s (default: 0.4:1.0:4)', 'LO:HI:N', number_range
    )


@verb(
    'walking_control compare compass --disturb step_down=0.05@6 --out out/compare',
    'walking_control compare walker3d --robustness --quick --out out/compare',
)
def compare(options: _Compare) -> Answer:
    """Walk several controllers under one disturbance and set them side by side."""
    comparison, pages = experiments.comparison, reports.comparison_page
    robot = common.requested_robot(options).robot
    variants = read_variants(options.variants or variants_path(robot.name))
    gaits = common.gait_settings(options.gait, *(variant.controller for variant in variants))
    robustness: Any = options.robustness
    if robot.is_free and robustness:
        robustness = common.requested_grid(options)
    else:
        common.refuse_grid(
            options,
            'without --robustness nothing is pushed'
            if robot.is_free
            else 'robots with base: free alone are pushed from all sides',
        )
    if not robot.is_free:
        require(
            options.speeds is None,
            'option --speeds',
            limit='has no effect: robots with base: free alone are compared at several',
            remedy='leave it out',
        )
        options.disturb = options.disturb or [comparison.DISTURBANCE]
    interrupted = False
    try:
        asked = comparison.Comparison(
            options.robot,
            variants,
            options.disturb,
            options.duration,
            [*common.settings_of(options), *gaits],
            options.plant,
        )
        walks = comparison.compare(
            asked,
            options.speeds or comparison.SPEEDS,
            robustness,
            options.processes,
            output.say,
        )
    except Interrupted as stopped:
        walks, interrupted = stopped.result, True
    result = pages.summarize_comparison(
        walks, robot.name, options.disturb, options.duration, interrupted
    )
    return Answer(
        result,
        output.text(
            'comparison.txt',
            rows=pages.rows_of(result),
            outcome=comparison.outcome,
            text_of=pages.text_of,
        ),
        status=output.say_interrupted(result, f'after {len(walks)} of {len(variants)} walks'),
        write=lambda folder: pages.write_comparison(walks, result, folder),
    )
