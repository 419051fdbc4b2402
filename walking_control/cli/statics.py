# SPDX-License-Identifier: Apache-2.0
"""Verbs of what a robot can bear: statics, endurance, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.common import (
    Common,
    Following,
    make_folder,
    needing_ros,
    OR_URDF,
    requested_robot,
    Sensed,
    walking_robot,
)
from walking_control.cli.output import print_files, save_figures, tell, write_json
from walking_control.cli.verb import argument, duration, not_negative, option, positive, verb
from walking_control.exceptions import InvalidInput, writing_to
from walking_control.statics import solvers

if TYPE_CHECKING:
    from walking_control.lab.experiments.statics import Posture
    from walking_control.statics.distributor import StaticSolution, StaticTorque

SIMULATED = 12.0  # s of a walk whose heat is taken


class _Statics(Common):
    robot: str = argument(OR_URDF)
    left: str | None = option('left sole (default: first foot)', 'FRAME')
    right: str | None = option('right sole (default: second foot)', 'FRAME')
    support: str = option(choices=('left', 'right', 'both'), default='both')
    q: Path | None = option('configuration, YAML (default: start posture, or zero)', 'FILE')
    objective: str = option(choices=('torque', 'force', 'heat'), default='torque')
    friction: float = option(None, 'MU', positive, default=0.7)
    foot_size: Sequence[float] | None = option(
        'length and width of the soles in m; 0 0: points (default: 0.20 0.10)',
        ('L', 'W'),
        not_negative,
        nargs=2,
    )
    solver: str | None = option(choices=solvers.NAMES)


@verb('walking_control statics humanoid --support both --out out/statics')
def statics(options: _Statics) -> int:
    """Find the joint torques that hold a robot still on one or two legs."""
    from walking_control.lab.experiments.statics import Posture, solve_statics

    make_folder(options)
    posture = Posture(
        options.robot,
        options.left,
        options.right,
        options.q,
        options.friction,
        options.foot_size,
        options.set,
    )
    result = solve_statics(
        posture, options.support, options.objective, options.solver, draw=_picture(options.out)
    )
    tell(options, result, _print_statics)
    if result['status'] != 'feasible':
        print(f'error: {posture.name} cannot be held: {result["reason"]}', file=sys.stderr)
        return 1
    return 0


class _Endurance(Sensed, Following):
    duration: float = option('how long, s (default: 3600)', 'S', duration, default=3600.0)
    ambient: float = option('of the air, C (default: 25)', 'T', default=25.0)
    begin: float | None = option('of all motors at the start, C (default: that of the air)', 'T')
    speed: float | None = option("of robots in space, m/s (default: the robot file's)", 'V')
    recording: Path | None = option(
        'take the efforts of this run, a folder of simulate --out or its run.csv, '
        'instead of simulating 12 s',
        'RUN',
    )


@verb(
    'walking_control endurance humanoid --duration 3600 --ambient 30',
    'walking_control endurance walker3d --controller natural_walking --speed 0.8',
)
def endurance(options: _Endurance) -> int:
    """Say how warm the motors get, and when the first is at its limit."""
    from walking_control.lab.experiments.endurance import (
        check_air,
        endure,
        heat_of_run,
        heat_of_table,
    )
    from walking_control.models.thermal import heating
    from walking_control.runs.quantities import ending, failure
    from walking_control.simulation.simulate import simulate

    robot_file = (
        requested_robot(options) if options.speed is None else walking_robot(options, options.speed)
    )
    check_air(options.ambient, options.begin)
    robot, model = robot_file.robot, heating(robot_file.robot)
    if options.recording is not None:
        squared, friction = heat_of_table(options.recording, robot)
    else:
        run = simulate(robot_file, options.controller, options.plant, SIMULATED)
        if (reason := failure(ending(run))) is not None:
            print(f'error: {robot.name} {reason}', file=sys.stderr)
            return 1
        squared, friction = heat_of_run(run)
    found = endure(model, squared, friction, options.duration, options.ambient, options.begin)
    curves, law = found.pop('curves'), options.controller or robot_file.controller
    result = {'robot': robot.name, 'controller': law, **found, 'files': []}
    if options.out is not None:
        from walking_control.lab.reports.plots.walk import plot_temperatures

        result['files'] = save_figures(
            options.out, {'endurance': plot_temperatures(curves, result)}
        )
        result['files'].append(write_json(result, options.out / 'endurance.json'))
    tell(options, result, _print_endurance)
    return 0


def _print_endurance(result: Mapping[str, Any]) -> None:
    for sentence in result['assumptions']:
        print(f'assumed: {sentence}')
    print(f'{"":>28}{"winding":>10}{"housing":>10}{"settles at":>12}{"limit":>8}  limit reached')
    for joint, row in result['temperatures'].items():
        when, last = row['time_to_limit'], row['settles_at']
        print(
            f'{joint:>28}{row["winding"]:>8.1f} C{row["housing"]:>8.1f} C'
            f'{"never" if last is None else f"{last:.1f} C":>12}{row["limit"]:>6.0f} C  '
            + ('never' if when is None else f'after {when / 60.0:.1f} min')
        )
    hottest = result['hottest']
    when = hottest['time_to_limit']
    print(
        f'{hottest["joint"]} is the nearest to its limit: {hottest["temperature"]:.1f} C after '
        f'{result["duration"] / 60.0:.4g} min, '
        + ('and never reaches it' if when is None else f'reaches it after {when / 60.0:.1f} min')
    )
    print_files(result)


class _Check(Common):
    robot: str = argument(OR_URDF)
    bringup: Path | None = option(
        'controllers.yaml, or the folder it is in: does it fit the robot?', 'PATH'
    )
    live: bool = option('listen to the running robot: do gravity and motion bear its sensors out?')
    namespace: str = option('of the running robot', 'NS', default='')
    seconds: float = option('how long to listen to it (default: 3)', 'S', positive, default=3.0)
    wait: float = option('longest wait for its sensors (default: 10)', 'S', positive, default=10.0)


@verb('walking_control check my_robot.yaml')
def check(options: _Check) -> int:
    """Say whether a robot can be used."""
    from walking_control.lab.experiments.check import check_robot

    make_folder(options)
    result = {**check_robot(options.robot, options.set), 'files': []}
    if options.bringup is not None or options.live:
        _check_ros2_control(options, result)
    if options.out is not None:
        result['files'] = [write_json(result, options.out / 'check.json')]
    tell(options, result, _print_check)
    return 0 if result['ok'] else 2


def _print_check(result: Mapping[str, Any]) -> None:
    for name, value in result['facts'].items():
        print(f'{name:>16}: {", ".join(value) if isinstance(value, list) else value}')
    for sentence in result['assumptions']:
        print(f'         assumed: {sentence}')
    for sentence in result.get('remarks', ()):
        print(f'          remark: {sentence}')
    for problem in result['problems']:
        print(f'         problem: {InvalidInput(**problem)}')
    print('usable' if result['ok'] else 'not usable')
    print_files(result)


def _check_ros2_control(options: _Check, result: dict[str, Any]) -> None:
    """Add what is wrong with the bring-up, on file and live, to the result of a check."""
    from walking_control.loading import load_robot
    from walking_control.ros.ros2_control.check import check_ros2_control

    if not result['ok']:
        result['assumptions'].append('not looked at, for the robot file comes first: bring-up')
        return
    robot_file = load_robot(options.robot, options.set)
    problems = []
    if options.bringup is not None:
        problems += check_ros2_control(robot_file, options.bringup)
    if options.live:
        with needing_ros('check --live'):
            from walking_control.ros.nodes.live_check import check_live
        found, left_out, system = check_live(
            robot_file, options.namespace, options.wait, options.seconds
        )
        problems += [*found, *system.problems]
        result['assumptions'] += left_out
        result['facts'].update(system.facts)
        result['remarks'] = system.remarks
    result['problems'] += [problem.as_dict() for problem in problems]
    result['ok'] = not result['problems']


def _picture(out: Path | None) -> Callable[..., Path] | None:
    """Return what draws the picture into a folder; None without one."""
    if out is None:
        return None

    def draw(posture: Posture, distributor: StaticTorque, solution: StaticSolution) -> Path:
        from walking_control.lab.reports.plots.still import draw_statics

        with writing_to(Path(out)):
            return draw_statics(posture, distributor, solution, Path(out) / 'statics.png')

    return draw


def _print_statics(result: Mapping[str, Any]) -> None:
    for sentence in result['assumptions']:
        print(f'{"assumed":>20}: {sentence}')
    for joint, torque in (result['joint_torques'] or {}).items():
        print(f'{joint:>20}: {_rounded(torque, 4):>12} N m')
    if result['torque_norm'] is not None:
        print(f'{"norm":>20}: {_rounded(result["torque_norm"], 4):>12} N m')
    _print_soles(result)
    nearest = (result['margins'] or {}).get('torque')
    if nearest:
        print(
            f'{"nearest its limit":>20}: {nearest["joint"]}, {100.0 * nearest["free"]:.0f} % of '
            'its torque free'
        )
    for shortfall in result['shortfalls']:
        print(
            f'{"would have to give":>20}: {shortfall["limit"]} of {shortfall["where"]} by '
            f'{shortfall["amount"]:.4g} {shortfall["unit"]}'
        )
    solved = f'{result["solver"]}, {1e6 * result["solve_time"]:.0f} us'
    if result['base_residual'] is not None:
        solved += f', base equations to {result["base_residual"]:.0e} N'
    print(f'{"solved by":>20}: {solved}')
    for problem in result['problems']:
        print(f'{"problem":>20}: {InvalidInput(**problem)}')
    print_files(result)


def _print_soles(result: Mapping[str, Any]) -> None:
    """Print a column for each contact: what the floor gives, where, and what is left."""
    wrenches = {side: wrench for side, wrench in result['wrenches'].items() if wrench}
    if not wrenches:
        return
    print(f'{"":>20}  ' + ''.join(f'{side:>12}' for side in wrenches))
    rows = [
        (
            name,
            'N' if name[0] == 'f' else 'N m',
            3,
            1.0,
            {side: wrench[name] for side, wrench in wrenches.items()},
        )
        for name in ('fx', 'fy', 'fz', 'mx', 'my', 'mz')
    ]
    for i, axis in enumerate('xy'):
        rows.append(
            (
                f'pressure at {axis}',
                'mm',
                1,
                1e3,
                {side: point[i] for side, point in (result['cop'] or {}).items()},
            )
        )
    for label, key, unit, digits, scale in (
        ('pressure to edge', 'centre_of_pressure', 'mm', 1, 1e3),
        ('friction free', 'friction', '%', 0, 100.0),
        ('force free', 'normal_force', 'N', 1, 1.0),
        ('twist free', 'torsion', 'N m', 3, 1.0),
    ):
        rows.append(
            (
                label,
                unit,
                digits,
                scale,
                {side: (result['margins'] or {}).get(side, {}).get(key) for side in wrenches},
            )
        )
    for label, unit, digits, scale, values in rows:
        shown = [
            None if values.get(side) is None else _rounded(scale * values[side], digits)
            for side in wrenches
        ]
        if any(shown):
            print(f'{label:>20}: ' + ''.join(f'{text or "-":>12}' for text in shown) + f' {unit}')


def _rounded(value: float, digits: int) -> str:
    """Return a number without the sign of a zero."""
    return f'{round(value, digits) + 0.0:.{digits}f}'
