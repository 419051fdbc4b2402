# SPDX-License-Identifier: Apache-2.0
"""Verbs of what a robot can bear: statics, endurance, check."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from walking_control.cli.common import (
    Common,
    Following,
    Learned,
    needing_ros,
    OR_URDF,
    policy_settings,
    requested_robot,
    Sensed,
    walking_robot,
)
from walking_control.cli.output import Answer, save_figures, say, text
from walking_control.cli.verb import argument, duration, not_negative, option, positive, verb
from walking_control.controllers import Policy
from walking_control.exceptions import InvalidInput, NotAchieved, require, writing_to
from walking_control.lab import experiments
from walking_control.lab.reports import plots
from walking_control.models import check_air, Dynamics, heating, RobotFile
from walking_control.ros.ros2_control.check import check_ros2_control
from walking_control.runs import ending, failure
from walking_control.simulation.simulate import simulate
from walking_control.statics import solvers, StaticSolution, StaticTorque

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
def statics(options: _Statics) -> Answer:
    """Find the joint torques that hold a robot still on one or two legs."""
    posture = experiments.statics.Posture(
        options.robot,
        options.left,
        options.right,
        options.q,
        options.friction,
        options.foot_size,
        options.set,
    )
    folder = options.out or Path()

    def draw(
        posture: experiments.statics.Posture, distributor: StaticTorque, solution: StaticSolution
    ) -> Path:
        with writing_to(folder):
            return plots.still.draw_statics(posture, distributor, solution, folder / 'statics.png')

    result = experiments.statics.solve_statics(
        posture,
        options.support,
        options.objective,
        options.solver,
        draw=None if options.out is None else draw,
    )
    fails = result['status'] != 'feasible'
    errors = [f'{posture.name} cannot be held: {result["reason"]}'] if fails else []
    say = text('statics.txt', contacts=_contacts(result))
    return Answer(result, say, errors, files=result['files'])


class _Endurance(Sensed, Following):
    duration: float = option('how long, s (default: 3600)', 'S', duration, default=3600.0)
    ambient: float = option('of the air, C (default: 25)', 'T', default=25.0)
    begin: float | None = option('of all motors at the start, C (default: that of the air)', 'T')
    speed: float | None = option("of robots in space, m/s (default: the robot file's)", 'V')
    posture: str | None = option(
        'stand in it, of a YAML file as for statics --q; or in the one that keeps the warmest '
        'motor coolest, which --out writes as such a file',
        'FILE|coolest',
    )
    recording: Path | None = option(
        'take the efforts of this run, a folder of simulate --out or its run.csv, '
        'instead of simulating 12 s',
        'RUN',
    )


@verb(
    'walking_control endurance humanoid --duration 3600 --ambient 30',
    'walking_control endurance walker3d --controller natural_walking --speed 0.8',
    'walking_control endurance humanoid --posture coolest --out out/coolest',
)
def endurance(options: _Endurance) -> Answer:
    """Say how warm the motors get, and when the first is at its limit."""
    posture = None if options.posture is None else _posture_to_hold(options, options.posture)
    robot_file = (
        requested_robot(options) if options.speed is None else walking_robot(options, options.speed)
    )
    robot, model = robot_file.robot, heating(robot_file.robot)
    begin = options.ambient if options.begin is None else options.begin
    check_air(options.ambient, begin, model.limit)
    if options.recording is not None:
        squared, friction = experiments.endurance.heat_of_table(options.recording, robot)
    else:
        run = simulate(robot_file, options.controller, options.plant, SIMULATED)
        require(
            (reason := failure(ending(run))) is None, f'{robot.name} {reason}', error=NotAchieved
        )
        squared, friction = experiments.endurance.heat_of_run(run)
    found = experiments.endurance.endure(
        model, squared, friction, options.duration, options.ambient, begin
    )
    curves, law = found.pop('curves'), options.controller or robot_file.controller
    result = {'robot': robot.name, 'controller': law, 'posture': posture, **found}

    def write(folder: Path) -> list[str]:
        dynamics = Dynamics(robot)
        start = dynamics.start_state(robot_file.start)[0]
        figure = plots.walk.plot_temperatures(curves, result, dynamics, start)
        files = save_figures(lambda: {'endurance': figure})(folder)
        if posture is not None:
            files.append(str(folder / 'posture.yaml'))
            Path(files[-1]).write_text(yaml.safe_dump({'joints': posture}, sort_keys=False))
        return files

    return Answer(result, text('endurance.txt'), write=write, document='endurance.json')


def _posture_to_hold(options: _Endurance, told: str) -> dict[str, float]:
    """Return joint -> rad of a posture, and let the robot start in it and hold it."""
    options.controller = options.controller or 'static_torque'
    if told == 'coolest':
        joints = experiments.endurance.stand_coolest(requested_robot(options), options.ambient)
    else:
        joints = experiments.statics.read_configuration(told)[0]
    options.set += [(f'start.posture.{joint}', angle) for joint, angle in joints.items()]
    if options.controller == 'static_torque':
        options.set.append(('static_torque.routine', 'hold'))
    return joints


class _Check(Common, Learned):
    robot: str = argument(OR_URDF)
    bringup: Path | None = option(
        'controllers.yaml, or the folder it is in: does it fit the robot?', 'PATH'
    )
    live: bool = option('listen to the running robot: do gravity and motion bear its sensors out?')
    namespace: str = option('of the running robot', 'NS', default='')
    seconds: float = option('how long to listen to it (default: 3)', 'S', positive, default=3.0)
    wait: float = option('longest wait for its sensors (default: 5)', 'S', positive, default=5.0)


@verb('walking_control check my_robot.yaml')
def check(options: _Check) -> Answer:
    """Say whether a robot can be used, and a policy on it."""
    options.set += [('controller', options.controller)] if options.controller else []
    options.set += policy_settings(options)
    files: list[str] = []
    looks = {
        'bring-up': partial(_check_ros2_control, options),
        'policy': partial(_check_policy, options, files),
    }
    asked = {'bring-up': options.bringup is not None or options.live, 'policy': options.policy}
    result = experiments.check.check_robot(
        options.robot,
        options.set,
        {name: look for name, look in looks.items() if asked[name]},
        all_laws=not options.live,  # whoever stands beside a robot waits for its own alone
    )
    return Answer(
        result,
        text('check.txt'),
        status=0 if result['ok'] else 2,
        files=files,
        document='check.json',
    )


def _check_policy(
    options: _Check, files: list[str], robot_file: RobotFile, found: experiments.check.Found
) -> None:
    """Add how a policy fares to what a check has found; write its description."""
    told = Policy(robot_file, robot_file.values(Policy.parameters)).description
    if options.out is not None:
        files.append(str(options.out / 'policy.yaml'))
        with writing_to(options.out):
            told.write(Path(files[-1]))
    first, mended = experiments.policy_check.find_mistakes(robot_file, told, say)
    found.facts['policy'] = str(first)
    if first.wrong:
        remedy = '; or '.join(f'with {words}: {trial}' for words, trial in mended[:3])
        error = InvalidInput(
            f'policy {options.policy}',
            limit=str(first),
            remedy=remedy
            or "compare with the policy's own deployment: no change of one term that was tried "
            'makes the robot stand, walk and turn',
        )
        found.errors.append(error)


def _check_ros2_control(
    options: _Check, robot_file: RobotFile, found: experiments.check.Found
) -> None:
    """Add what is wrong with the bring-up, on file and live, to what a check has found."""
    if options.bringup is not None:
        found.errors += check_ros2_control(robot_file, options.bringup)
    if options.live:
        with needing_ros('check --live'):
            from walking_control.ros.nodes.live_check import check_live
        problems, left_out, system = check_live(
            robot_file, options.namespace, options.wait, options.seconds
        )
        found.errors += [*problems, *system.problems]
        found.assumptions += left_out
        found.facts.update(system.facts)
        found.remarks = system.remarks


def _contacts(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return contact that carries -> all numbers of it: wrench, place of the pressure, margins."""
    places, margins = result['cop'] or {}, result['margins'] or {}
    return {
        side: {**wrench, **dict(zip('xy', places.get(side, ()))), **margins.get(side, {})}
        for side, wrench in result['wrenches'].items()
        if wrench
    }
