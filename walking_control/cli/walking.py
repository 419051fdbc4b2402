# SPDX-License-Identifier: Apache-2.0
"""Verbs that walk a robot: demo, simulate, robustness, compare."""

from __future__ import annotations

import math
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import (
    needing_ros,
    noise_settings,
    refuse_grid,
    requested_grid,
    requested_robot,
    walking_robot,
)
from walking_control.cli.output import (
    print_files,
    print_json,
    print_summary,
    report_run,
    save_figures,
    say_interrupted,
    say_recorded,
    show_progress,
    show_share,
    suggest_compiler,
    write_json,
)
from walking_control.exceptions import Interrupted, InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace

    from matplotlib.figure import Figure

    from walking_control.experiments.first_failure import FirstFailure
    from walking_control.runs.route import Route

NODE = 'node.'   # --set of a demo: parameters of its nodes


def demo(options: Namespace) -> int:
    """Walk a robot over ROS 2 topics."""
    with needing_ros('demo', '; without ROS: walking_control simulate'):
        from walking_control.nodes.demo import run_demo
    settings = [(name[len(NODE):], value) for name, value in options.set if name.startswith(NODE)]
    options.set = [(name, value) for name, value in options.set if not name.startswith(NODE)]
    name, route = _choose_route(options)
    if route is not None:
        options.noise = route.noise if options.noise is None else options.noise
        options.set = [*route.overrides, *options.set]
    duration = options.duration or (20.0 if route is None else route.duration)
    robot_file = requested_robot(options)
    if options.record is not None:
        from walking_control.recording.recorder import bag_path
        settings.append(('record', str(bag_path(options.record).resolve())))
    result = run_demo(robot_file, options.controller, options.plant, duration,
                      options.realtime, options.processes, options.disturb,
                      show_progress(duration), settings, name)
    simulated = len(result.run.time) and float(result.run.time[-1])
    extra = {'transport': 'ros2', 'rmw': result.rmw, 'ticks': result.ticks,
             'missed_ticks': result.missed_ticks,
             'real_time_factor': simulated / result.wall_time if result.wall_time else None}
    return report_run(result.run, options, extra)


def _choose_route(options: Namespace) -> tuple[str, Route | None]:
    """Return name or path and the `Route` of a demo: the one given, or the robot's; or none."""
    from walking_control.models.resources import route_names
    from walking_control.runs.route import read_route
    name = options.route
    if name is None:
        steered = options.controller in (None, 'stepping', 'natural_walking')
        name = options.robot if steered and options.robot in route_names() else 'none'
    return ('', None) if name == 'none' else (name, read_route(name))


def simulate(options: Namespace) -> int:
    """Walk a robot by the same chain without ROS."""
    from walking_control.simulation.simulate import simulate as walk
    robot_file = requested_robot(options)
    bag = None
    if options.record is not None:
        from walking_control.recording.recorder import Recorder
        bag = Recorder(robot_file, options.controller or robot_file.controller, options.record)
    try:
        run = walk(robot_file, options.controller, options.plant, options.duration,
                   options.disturb, show_progress(options.duration),
                   listen=None if bag is None else bag.write)
    finally:
        if bag is not None:
            say_recorded(bag.close(), bag.problem)
    return report_run(run, options, {})


def robustness(options: Namespace) -> int:
    """Find the first disturbance or lasting error that fells the walker, or measure stability."""
    if options.metric is not None:
        from walking_control.cli.stability import measure_stability
        return measure_stability(options)
    try:
        found = _first_failure(options)
    except Interrupted as stopped:
        found = stopped.result
    result = found.summary()
    status = say_interrupted(result, f'after {len(result["samples"])} sizes')
    result['files'] = []
    if options.out is not None:
        result['files'] = save_figures(options.out, {'robustness': _draw(result)})
        if 'cells' in result:
            result['files'].append(write_json(result, options.out / 'robustness.json'))
    if options.json:
        print_json(result)
    else:
        print_summary({name: value for name, value in result.items()
                       if name not in ('samples', 'cells')})
        if 'cells' in result:
            from walking_control.reports.envelope_table import format_cells
            print('\n'.join(format_cells(result)))
    return status


def _draw(result: dict[str, Any]) -> Figure:
    if 'cells' in result:
        from walking_control.reports.plots.envelope import plot_envelope
        return plot_envelope(result)
    from walking_control.reports.plots.gait import plot_robustness
    return plot_robustness(result)


def _first_failure(options: Namespace) -> FirstFailure:
    """Return what was found of the disturbance or margin that was asked for."""
    from walking_control.models.base import Base
    sizes = options.max, options.resolution
    robot_file = walking_robot(options)
    in_space = robot_file.robot.base is Base.FREE
    if options.margin is not None or not in_space:
        refuse_grid(options, 'robots with base: free alone have an envelope, of disturbances')
    if options.margin is not None:
        from walking_control.experiments.margins import find_margin
        return find_margin(robot_file, options.margin, options.controller, options.plant, *sizes,
                           options.seeds, options.duration, show_share('tried'))
    if in_space:
        from walking_control.experiments.envelope import find_envelope
        return find_envelope(robot_file, options.disturbance or 'push', options.controller,
                             options.plant, *sizes, requested_grid(options), options.processes,
                             show_share('tried'))
    if options.disturbance is None:
        raise InvalidInput(f'robustness of {robot_file.robot.name}', limit='robots with base: '
                           'free alone have an envelope', remedy='give --disturbance or --margin')
    from walking_control.experiments.robustness import find_first_failure
    plant = options.plant or 'rigid'
    if plant == 'rigid':
        suggest_compiler()
    return find_first_failure(robot_file, options.disturbance, options.controller, plant, *sizes,
                              show_share('tried'), options.chain, options.heavier)


def compare(options: Namespace) -> int:
    """Walk several controllers under one disturbance and set them side by side."""
    from walking_control.experiments import comparison
    from walking_control.experiments.variants import read_variants, variants_path
    from walking_control.models.base import Base
    from walking_control.reports import comparison_page as pages
    robot = requested_robot(options).robot
    variants = read_variants(options.variants or variants_path(robot.name))
    robustness: Any = options.robustness
    if robot.base is Base.FREE and robustness:
        robustness = requested_grid(options)
    else:
        refuse_grid(options, 'without --robustness nothing is pushed' if robot.base is Base.FREE
                    else 'robots with base: free alone are pushed from all sides')
    if robot.base is not Base.FREE:
        if options.speeds is not None:
            raise InvalidInput('option --speeds', limit='has no effect: robots with base: free '
                               'alone are compared at several', remedy='leave it out')
        options.disturb = options.disturb or [comparison.DISTURBANCE]
    interrupted = False
    try:
        walks = comparison.compare(
            options.robot, variants, options.disturb, options.duration, _overrides(options),
            robustness, _say, options.plant, options.speeds or comparison.SPEEDS,
            options.processes)
    except Interrupted as stopped:
        walks, interrupted = stopped.result, True
    result = pages.summarize_comparison(walks, robot.name, options.disturb, options.duration,
                                        interrupted)
    status = say_interrupted(result, f'after {len(walks)} of {len(variants)} walks')
    if options.out is not None:
        result['files'] = pages.write_comparison(walks, result, options.out)
    if options.json:
        print_json(result)
    else:
        print('\n'.join(pages.format_comparison(result)))
        print_files(result)
    return status


def _overrides(options: Namespace) -> list[tuple[str, Any]]:
    slope = [] if options.slope_deg is None else [('world.slope', math.radians(options.slope_deg))]
    return [*noise_settings(options), *options.set, *slope]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
