# SPDX-License-Identifier: Apache-2.0
"""Steps of a planar walker: stand on both feet, find a gait, follow it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from walking_control.controllers.curve_tracking.controller import CurveTracking
from walking_control.exceptions import WalkingControlError
from walking_control.gaits.gait_file import load_gait
from walking_control.lab.experiments import (
    FOLLOWS,
    gait_search,
    margins,
    Outcome,
    resimulate,
    Site,
    Step,
    tuning,
    walk,
)
from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.models import Dynamics, World

FROUDE = (0.22, 0.3, 0.15)  # speeds over sqrt(g L) at which gaits are sought, the first that works
DEGREES = (6, 8)  # of their polynomials
STARTS = 3  # first guesses each
PATIENCE = 180.0  # s of processor time, after which tuning tries no further gains
LEVEL = 0.005  # m: a foot that is higher does not stand
SPREAD = 3.0  # factor either way between which gains are sought
MARGINS = {'delay': (0.004, 0.004), 'mass': (0.1, 0.1)}  # largest tried, in steps of
GAINS = ('attraction', 'energy_gain', 'bandwidth')


def stand(site: Site) -> Outcome:
    """Say whether motors and friction hold the start still on the feet that are on the floor.

    The least common share s of all effort limits: with J the Jacobian of the standing points,
    g(q) = S tau + J' f, |tau| <= s limit, |fx| <= friction fz.
    """
    robot_file = site.load()
    robot, world, start = robot_file.robot, robot_file.values(World), robot_file.start
    dynamics = Dynamics(robot, world.gravity, world.slope)
    q, _ = dynamics.base_from_coordinates(start.support, start.q, np.zeros(len(start.q)))
    dynamics.place(q)
    feet = [foot for foot in robot.feet if dynamics.foot_position(foot)[2] < LEVEL]
    load = dynamics.gravity_efforts(q).copy()
    maps = np.hstack([dynamics.foot_jacobian(q, foot).T for foot in feet])
    motors = np.zeros((dynamics.nv, len(robot.actuators)))
    for i, joint in enumerate(robot.actuators):
        motors[dynamics.base.nv + robot.joint_index(joint), i] = 1.0
    n, forces = len(robot.actuators), maps.shape[1]
    limits = robot.effort_limits[:n]
    torque, zero = np.eye(n), np.zeros((n, forces))
    cone = np.kron(np.eye(len(feet)), [[1.0, -world.friction], [-1.0, -world.friction]])
    rows = np.vstack(
        (
            np.hstack((torque, zero, -limits[:, None])),
            np.hstack((-torque, zero, -limits[:, None])),
            np.hstack((np.zeros((len(cone), n)), cone, np.zeros((len(cone), 1)))),
        )
    )
    found = linprog(
        np.eye(n + forces + 1)[-1],
        rows,
        np.zeros(len(rows)),
        np.hstack((motors, maps, np.zeros((dynamics.nv, 1)))),
        load,
        bounds=[(None, None)] * (n + forces) + [(0.0, None)],
        method='highs',
    )
    if found.status != 0:
        return Outcome(
            False,
            'no forces of the floor hold the start still',
            None,
            f'friction {world.friction:g} on {" and ".join(feet)}',
            'start with both feet on the floor and the weight between them',
        )
    share = float(found.fun)
    if share > 1.0:
        return Outcome(
            False,
            'the motors are too weak to hold the start',
            round(share, 3),
            'of their limits',
            'stronger motors, or straighter legs',
        )
    return Outcome(
        True,
        f"on {len(feet)} feet with {100.0 * share:.0f} % of the motors' limits",
        round(share, 3),
        'of the limits, 1 at most',
    )


def gait(site: Site) -> Outcome:
    """Search a gait by the motors alone, over speeds and degrees, the first that is followed."""
    robot_file = site.load()
    scale = robot_file.scale
    froude = float(np.sqrt(scale.gravity * scale.length))
    speeds = [site.speed] if site.speed is not None else [share * froude for share in FROUDE]
    best: tuple[float, Any] | None = None
    reasons = []
    for speed in speeds:
        for degree in DEGREES:
            site.progress(f'gait at {speed:.2f} m/s, degree {degree}')
            task = {
                'actuation': 'joints',
                'starts': STARTS,
                **robot_file.sections.get('search', {}),
                'speed': float(speed),
                'degree': degree,
            }
            try:
                found = gait_search.find_gait(robot_file, task, seed=site.seed)
            except WalkingControlError as error:
                reasons.append(str(error))
                continue
            if found.summary['reason'] is None:
                return _keep(site, found)
            reasons.append(found.summary['reason'])
            if (forgiven := _forgive(site, found)) is not None:
                return forgiven
            if found.result.converged and (best is None or found.summary['cost'] < best[0]):
                best = found.summary['cost'], found
    if best is not None:  # feedback may follow what torques by the clock do not
        return _keep(site, best[1])
    return Outcome(
        False,
        f'no gait at {", ".join(f"{speed:.2f}" for speed in speeds)} m/s: {reasons[0]}',
        round(speeds[0], 3),
        'm/s',
        'another --speed, or knees that can bend',
    )


def _forgive(site: Site, found: Any) -> Outcome | None:
    """Keep a gait that the plant follows once it lets straight legs pass under the floor."""
    length = gait_search.scuff_length(found) if found.result.converged else None
    if length is None:
        return None
    length = float(np.ceil(1e3 * length) / 1e3)
    found.resimulation = resimulate(site.load(rigid__scuff_length=length), found.result.gait)
    if not found.resimulation.follows:
        return None
    found.summary['resimulation'], found.summary['reason'] = vars(found.resimulation), None
    return _keep(site, found, length)


def _keep(site: Site, found: Any, length: float | None = None) -> Outcome:
    """Write what `find_gait` found and the robot file that starts on it, with that scuff length."""
    forgiven = {} if length is None else {'rigid__scuff_length': length}
    file = gait_search.save_gait(found, site.folder)
    written = site.folder / f'{found.summary["robot"]}_walks.yaml'
    q, v = found.result.gait.start
    robot_file = site.load(
        controller=CurveTracking.name,
        plant='rigid',
        curve_tracking__gait=str(file.resolve()),
        start__support=found.robot_file.robot.feet[0],
        start__q=q.tolist(),
        start__v=v.tolist(),
        **forgiven,
    )
    robot_file.write(written)
    names = (
        'speed',
        'step_length',
        'period',
        'cost',
        'mechanical_power',
        'max_friction_ratio',
        'clearance',
    )
    figures = {name: found.summary[name] for name in names if found.summary[name] is not None}
    words = (
        f'{found.summary["speed"]:.3g} m/s, steps of {found.summary["step_length"]:.3g} m in '
        f'{found.summary["period"]:.3g} s'
    )
    if length is not None:
        depth = -1e3 * float(found.result.judgement.foot[:, 1].min())
        figures['scuff_length'] = length
        words += (
            f'; straight legs pass {depth:.2g} mm under the floor, forgiven by '
            f'rigid.scuff_length {length:g} m'
        )
    return Outcome(
        True,
        words,
        float(found.summary['speed']),
        figures=figures,
        files=[str(file)],
        robot_file=str(written),
    )


def resimulation(site: Site) -> Outcome:
    """Drive the plant by the gait's torques as functions of time, for one step."""
    robot_file = site.load()
    path = Path(robot_file.values(CurveTracking.parameters).gait)
    found = resimulate(robot_file, load_gait(path, robot_file))
    return Outcome(
        found.follows,
        f'off by {found.error_q:.1e} rad after a step' if found.follows else str(found.reason),
        found.error_q,
        f'rad, {FOLLOWS:g} at most',
        None if found.follows else 'feedback may follow it all the same: see the walk',
        {'error_q': found.error_q, 'error_v': found.error_v},
    )


def gains(site: Site) -> Outcome:
    """Walk with the scaled defaults, and tune them unless no point is to be tried."""
    robot_file = site.load()
    first = walk(site, robot_file, 'rigid', min(5.0, site.duration))
    kept = replace(first, what=f'the scaled defaults walk: {first.what}') if first.ok else first
    if site.evaluations < 1:
        return kept
    values = vars(robot_file.values(CurveTracking.parameters))
    names = [name for name in GAINS if isinstance(values.get(name), float) and values[name] > 0.0]
    section = CurveTracking.parameters.rows
    axes = tuple(
        Axis(
            f'{CurveTracking.name}.{name}',
            max(values[name] / SPREAD, section[name].minimum or 0.0),
            min(values[name] * SPREAD, section[name].maximum or np.inf),
        )
        for name in names
    )
    goals = [tuning.Goal('speed', 0.5 * (first.value or 0.1))] if first.ok else []
    task = SweepTask(
        str(site.current),
        axes,
        CurveTracking.name,
        'rigid',
        duration=min(5.0, site.duration),
        seed=site.seed,
    )
    try:
        found = tuning.tune(
            task,
            goals,
            'cost_of_transport_positive',
            site.evaluations,
            lambda share: site.progress(f'gains {100 * share:.0f} %'),
            PATIENCE,
        )
    except WalkingControlError as error:
        if first.ok:
            return replace(kept, what=f'{kept.what}; tuning: {error}')
        return replace(
            first, remedy='the gait at another --speed, or more --evaluations', figures={}
        )
    return site.keep_tuned(found)


def measure_margins(site: Site) -> Outcome:
    """Measure what delay and ignorance of its masses the walk survives."""
    figures: dict[str, Any] = {}
    for kind, (largest, resolution) in MARGINS.items():
        site.progress(f'margin {kind}')
        try:
            found = margins.find_margin(
                replace(site.load(), plant='rigid'), kind, largest, resolution, 1, 4.0
            )
            unit = '' if found['unit'] == '1' else f' {found["unit"]}'
            figures[kind] = f'{found.largest_survived:.3g}{unit}' + (
                '' if found.first_failure is not None else ' and more'
            )
        except WalkingControlError as error:
            figures[kind] = f'not measured: {error}'
    return Outcome(
        True, ', '.join(f'{kind} {value}' for kind, value in figures.items()), figures=figures
    )


PLANAR_STEPS = (
    Step('stand', ('check',), stand),
    Step('gait', ('check',), gait),
    Step('re-simulation', ('gait',), resimulation),
    Step('gains', ('gait',), gains),
    Step(
        'walk (rigid)',
        ('gait', 'gains'),
        lambda site: walk(site, site.load(), 'rigid', site.duration),
    ),
    Step(
        'walk (MuJoCo)',
        ('gait', 'gains'),
        lambda site: walk(site, site.load(), 'mujoco', site.duration),
    ),
    Step('margins', ('walk (rigid)',), measure_margins),
)
