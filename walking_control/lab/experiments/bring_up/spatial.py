# SPDX-License-Identifier: Apache-2.0
"""Steps of a biped in space: hold its arms, stand, step, walk, walk fast, find gaits, in MuJoCo."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from walking_control.controllers import NaturalWalking, PostureControl, Stepping
from walking_control.exceptions import WalkingControlError
from walking_control.lab.adoption import Description, fix_joints
from walking_control.lab.experiments import (
    find_walk_obstacles,
    gait_margins,
    Goal,
    LEAD,
    natural_file,
    natural_gait,
    Outcome,
    pace,
    Site,
    Step,
    TRIED,
    try_margins,
    tune,
    walk,
)
from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.loading import load_robot
from walking_control.models import place_meshes, read_parameters, RobotFile
from walking_control.runs import base_lean, leg_of_each_joint, sole_corners
from walking_control.simulation.simulate import simulate

STANDS = 3.0  # s
LEANS = 0.1  # rad: a robot that stands leans no more at the end
FROUDE = 0.08  # speed over sqrt(g L) that is walked at
# Ways of stepping, each as factors on what fits the size of the robot, the likely ones first.
WAYS: tuple[dict[str, float], ...] = (
    {},
    {'step_time': 0.85},
    {'step_time': 1.2},
    {'height': 0.96},
    {'height': 0.92},
    {'step_time': 0.75, 'height': 0.96},
    {'step_width': 1.25},
    {'step_width': 0.8},
    {'clearance': 0.6},
    {'step_time': 0.85, 'clearance': 0.6, 'height': 0.96},
)
LEVELS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)  # over sqrt(g L): speeds that are tried
HASTES: tuple[dict[str, float], ...] = ({}, {'step_time': 0.85}, {'height': 0.96})  # at each
KEEPS = 0.85  # of the speed asked for, at least
TUNED = {'step_time': 1.25, 'clearance': 1.6, 'trunk_stiffness': 2.0}


def legs_alone(robot_file: RobotFile, path: Path, folder: Path) -> tuple[Path, list[str]]:
    """Write a robot file whose joints are the legs' and return its path and what is held.

    On the robot the others are held in the start posture by controllers of their own.

    Args:
        robot_file: The `RobotFile`, of a free base.
        path: Where it was read from.
    """
    robot, start = robot_file.robot, robot_file.start
    assert start.posture is not None
    legs = leg_of_each_joint(robot)
    held = {
        joint: float(angle)
        for joint, angle in zip(robot.joints, start.posture, strict=True)
        if legs[joint] is None
    }
    name = f'{robot.name}_legs'
    description = Description(name, place_meshes(robot.urdf, robot.meshes), path, 'URDF')
    fix_joints(description, held, {})
    (folder / f'{name}.urdf').write_text(description.urdf, encoding='utf-8')
    tree: dict[str, Any] = {**read_parameters(path)}

    def of_legs(by_joint: dict[str, Any]) -> dict[str, Any]:
        return {joint: value for joint, value in by_joint.items() if joint not in held}

    tree['robot'] = {
        **{
            key: of_legs(value) if key in ('actuators', 'springs', 'friction') else value
            for key, value in tree['robot'].items()
            if key != 'xacro_args'
        },
        'name': name,
        'urdf': f'{name}.urdf',
        'joints': [joint for joint in robot.joints if joint not in held],
    }
    tree['start'] = {'posture': of_legs(tree['start']['posture'])}
    written = folder / f'{name}.yaml'
    written.write_text(
        yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False), encoding='utf-8'
    )
    return written, list(held)


def stand(site: Site) -> Outcome:
    """Stand still in MuJoCo, on static torques or as stepping stands; on points it steps."""
    robot_file = site.load()
    feet = robot_file.robot.feet
    on_points = len(feet) < 3 and all(
        len(sole_corners(robot_file.robot.urdf, foot)) == 1 for foot in feet
    )
    how = 'stepping on the spot, on point feet' if on_points else 'still'
    if not on_points:
        outcome = _stand_by(robot_file, PostureControl.name, how)
        if outcome.ok or len(feet) != 2:
            return outcome
        how = f'still, by stepping ({PostureControl.name}: {outcome.what})'
    return _stand_by(robot_file, Stepping.name, how)


def _stand_by(robot_file: RobotFile, law: str, how: str) -> Outcome:
    """Return what comes of standing by a law; `how` in words."""
    run = simulate(robot_file, law, 'mujoco', STANDS)
    lean = float(base_lean(run)[0][-1])
    figures = {'lean': lean, 'law': law, 'time': float(run.time[-1])}
    if run.broke_off:
        return Outcome(
            False,
            f'{how}: {run.fall_reason or run.fault}',
            round(float(run.time[-1]), 2),
            f's of {STANDS:g} s',
            'see walking_control statics, and the guesses of adopt',
            figures,
        )
    if lean > LEANS:
        return Outcome(
            False,
            f'{how}, but it leans',
            round(lean, 3),
            f'rad, {LEANS:g} at most',
            'give its posture: --posture of adopt',
            figures,
        )
    return Outcome(
        True,
        f'{how}, leaning {1e3 * lean:.2g} mrad after {STANDS:g} s',
        round(lean, 5),
        f'rad, {LEANS:g} at most',
        figures=figures,
    )


def legs(site: Site) -> Outcome:
    """Hold what is no leg where it starts: arms, hands, heads and waists."""
    feet = len(site.load().robot.feet)
    if feet != 2:
        return Outcome(True, f'nothing held: the laws that walk are of two feet, not of {feet}')
    written, held = legs_alone(site.load(), site.current, site.folder)
    return Outcome(
        True, f'{len(held)} joints held', len(held), robot_file=str(written), files=[str(written)]
    )


def speed_of(site: Site, robot_file: RobotFile) -> float:
    """Return the speed to walk at, m/s."""
    return site.speed if site.speed is not None else float(f'{FROUDE * pace(robot_file):.2g}')


def stepping(site: Site) -> Outcome:
    """Find a way of stepping that walks."""
    feet = len(site.load().robot.feet)
    if feet != 2:
        return Outcome(
            False,
            f'the laws that walk are of two feet, not of {feet}',
            feet,
            'feet',
            'write a law that walks on them, see CONTRIBUTING.md',
        )
    robot_file = site.load(controller=Stepping.name)
    speed = speed_of(site, robot_file)
    obstacles = find_walk_obstacles(robot_file)
    tried: list[Outcome] = []
    for way in WAYS:
        site.progress(
            'stepping: '
            + (
                ', '.join(f'{name} x {factor:g}' for name, factor in way.items())
                or 'as its size says'
            )
        )
        try:
            trial = _with_way(site, way, speed)
            outcome = walk(site, trial, 'mujoco', site.duration)  # what walks 5 s may fall at 6
        except WalkingControlError as error:
            outcome = Outcome(False, str(error), figures={'duration': 0.0})
        tried.append(outcome)
        if outcome.ok and abs(outcome.value - speed) < 0.6 * speed:
            path = site.folder / f'{trial.robot.name}_walks.yaml'
            trial.write(path)
            changed = {name: getattr(trial.values(Stepping.parameters), name) for name in way}
            return replace(
                outcome,
                limit=f'm/s of {speed:g}',
                robot_file=str(path),
                figures={**outcome.figures, **changed},
            )
    best = max(tried, key=lambda each: float(each.figures['duration']))
    words = str(obstacles[0]) if obstacles else best.what
    return Outcome(
        False,
        words,
        round(float(best.figures['duration']), 2),
        f's of {site.duration:g} s in the best of {len(WAYS)} ways of stepping',
        obstacles[0].remedy
        if obstacles
        else 'stronger motors, another --speed, or stepping parameters by hand',
        best.figures,
    )


def _with_way(site: Site, way: dict[str, float], speed: float) -> RobotFile:
    """Return the robot file with a way of stepping."""
    values = vars(site.load().values(Stepping.parameters))
    changed: dict[str, Any] = {
        f'stepping__{name}': factor * values[name] for name, factor in way.items()
    }
    if 'step_time' in way:
        for name in ('shortest_step', 'longest_step'):
            changed[f'stepping__{name}'] = way['step_time'] * values[name]
    if 'step_width' in way and way['step_width'] < 1.0:
        changed['stepping__narrowest'] = min(
            values['narrowest'], way['step_width'] * values['step_width']
        )
    return site.load(
        controller=Stepping.name,
        standby=Stepping.name,  # and brings it to a stand where another law cannot
        stepping__speed=speed,
        stepping__speed_limit=max(speed, values['speed_limit']),
        **changed,
    )


def gains(site: Site) -> Outcome:
    """Tune the way of stepping for little effort, at the speed, with pushes survived."""
    if site.evaluations < 1:
        return Outcome(True, 'left as they are', 0, 'evaluations')
    values = vars(site.load().values(Stepping.parameters))
    axes = tuple(
        Axis(f'stepping.{name}', values[name] / factor, values[name] * factor)
        for name, factor in TUNED.items()
    )
    task = SweepTask(
        str(site.current), axes, Stepping.name, 'mujoco', duration=TRIED, seed=site.seed
    )
    try:
        found = tune(
            task,
            [Goal('speed', 0.7 * values['speed'])],
            'cost_of_transport_positive',
            site.evaluations,
            lambda share: site.progress(f'gains {100 * share:.0f} %'),
        )
    except WalkingControlError as error:
        return Outcome(True, f'left as they are: {error}')
    if not walk(site, found['robot_file'], 'mujoco', site.duration).ok:  # cheap, but not for long
        return Outcome(True, 'left as they are: the cheapest do not last', found['cost'])
    return site.keep_tuned(found)


def walk_mujoco(site: Site) -> Outcome:
    """Walk in MuJoCo, as was tried if no gains changed; plant rigid takes planar robots alone."""
    tried = site.done['stepping']
    if tried.robot_file == str(site.current):
        return replace(tried, robot_file='')
    return walk(site, site.load(), 'mujoco', site.duration)


def fastest(site: Site) -> Outcome:
    """Find how fast stepping walks, and natural_walking if gaits were found; keep the faster."""
    base, unit = site.load(), pace(site.load())
    best, words, figures = 0.0, [], dict[str, Any]()
    laws = {Stepping.name: _quick_steps(site, base, unit)}
    natural = natural_file(site)
    if natural is not None:
        laws[NaturalWalking.name] = (
            'no more was tried',
            [
                (
                    level,
                    load_robot(natural, [(f'{NaturalWalking.name}.speed', LEAD * level * unit)]),
                )
                for level in reversed(LEVELS)
            ],
        )
    path = site.folder / f'{base.robot.name}_fast.yaml'
    for law, (why, trials) in laws.items():
        for level, trial in trials:
            site.progress(f'{law} at {level:g} sqrt(g L)')
            try:
                outcome = walk(site, trial, 'mujoco', site.duration)
            except WalkingControlError as error:
                outcome = Outcome(False, str(error), figures={'steady_speed': 0.0})
            speed = outcome.figures['steady_speed']
            if outcome.ok and speed >= KEEPS * level * unit:
                break
            why = f'{level:g} fails: {"it does not get so fast" if outcome.ok else outcome.what}'
        else:
            words.append(f'{law}: none beyond the walk before; {why}')
            continue
        share = round(speed / unit, 3)
        cost = outcome.figures['cost_of_transport_positive']
        figures |= {law: share, f'{law} cost_of_transport_positive': cost}
        words.append(
            f'{law}: {speed:.3g} m/s, {share:.2g} sqrt(g L), for {site.duration:g} s at a '
            f'cost of {cost:.2g}; {why}'
        )
        if share > best:
            best = share
            trial.write(path)
    return Outcome(
        True,
        '. '.join(words),
        best or round(base.values(Stepping.parameters).speed / unit, 3),
        'sqrt(g L)',
        figures=figures,
        files=[str(path)] if best else [],
    )


def _quick_steps(
    site: Site, base: RobotFile, unit: float
) -> tuple[str, list[tuple[float, RobotFile]]]:
    """Return why no faster way of stepping lasts, and levels of those that do, fastest first."""
    kept: list[tuple[float, RobotFile]] = []
    for level in LEVELS:
        if level * unit <= base.values(Stepping.parameters).speed:
            continue
        for way in HASTES:
            site.progress(f'{Stepping.name} at {level:g} sqrt(g L)')
            trial = _with_way(site, way, level * unit)
            outcome = walk(site, trial, 'mujoco', TRIED)
            if outcome.ok:
                kept.insert(0, (level, trial))
                break
        else:
            return f'{level:g} fails: {outcome.what}', kept
    return 'no more was tried', kept


SPATIAL_STEPS = (
    Step('legs', ('check',), legs),
    Step('stand', ('legs',), stand),
    Step('stepping', ('legs', 'stand'), stepping),
    Step('gains', ('stepping',), gains),
    Step('walk (MuJoCo)', ('stepping',), walk_mujoco),
    Step('margins', ('walk (MuJoCo)',), lambda site: try_margins(site, site.load(), Stepping)),
    Step('natural gait', ('walk (MuJoCo)',), natural_gait),
    Step('gait margins', ('natural gait',), gait_margins),
    Step('speed', ('walk (MuJoCo)', 'natural gait'), fastest),
)
# what leads to gaits: tuning, margins and the greatest speed of stepping take longer than they do
GAIT_STEPS = tuple(step for step in SPATIAL_STEPS if step.name not in ('gains', 'margins', 'speed'))
