# SPDX-License-Identifier: Apache-2.0
"""Several laws of one robot in space, side by side: speeds, what they cost, pushes survived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
import math
from typing import Any

from walking_control.exceptions import Interrupted, NotAchieved
from walking_control.experiments.branches import Branches, count_processors
from walking_control.experiments.comparison import load_variant, outcome, Variant, Walk
from walking_control.experiments.envelope import find_envelope, Grid
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import RobotFile
from walking_control.runs.quantities import (
    electrical_cost,
    ending,
    failure,
    gain,
    per_distance,
    plain,
    steady_rows,
    touchdowns,
)
from walking_control.runs.run import Run
from walking_control.runs.space import yaw
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import simulate

SPEEDS = (0.2, 0.4, 0.6, 0.8)   # m/s
# key, name, unit, significant digits
GAIT_MEASURES = (
    ('speed', 'Speed', 'm/s', 3),
    ('cost_of_transport', 'Cost of transport, mechanical', '', 3),
    ('cost_of_transport_electrical', 'Cost of transport, electrical', '', 3),
    ('step_time', 'Step time', 's', 3),
    ('heading', 'Largest turn of the base', 'deg', 2),
)


def compare_gaits(robot: str, variants: Sequence[Variant], speeds: Sequence[float] = SPEEDS,
                  disturb: Sequence[str] = (), duration: float = 12.0,
                  overrides: Sequence[tuple[str, Any]] = (), grid: Grid | None = None,
                  pushed_at: float = 0.5, processes: int | None = None,
                  progress: Callable[[str], None] | None = None,
                  plant: str | None = None) -> list[Walk]:
    """Walk every variant at every speed and, if asked to, find the pushes each survives.

    Args:
        robot: Name or path of a robot file; its base is free.
        variants: `Variant` list; their laws have a parameter ``speed``.
        speeds: Commanded, m/s.
        disturb: Texts ``KIND=SIZE@WHEN``, for every walk.
        duration: Simulated time of each walk, s.
        overrides: Pairs (name, value) for every variant.
        grid: Of the envelope of pushes; None leaves it out.
        pushed_at: Speed of the envelope, m/s.
        processes: How many walks at once; None: as many as there are processors.
        progress: Called with a line of text now and then.
        plant: Name of the plant; None takes the robot file's.

    Returns:
        List of `Walk` without runs; ``gaits`` of their measures holds those of each speed, see
        `measure_gait`, ``robustness`` the envelope.

    Raises:
        InvalidInput: A variant, a disturbance or an override is unusable.
        Interrupted: Somebody stopped it; holds the walks until then.
    """
    show = progress or (lambda text: None)

    def at(variant: Variant, speed: float) -> RobotFile:
        return load_variant(robot, variant, [*overrides, (f'{variant.controller}.speed', speed)])
    files = [[at(variant, speed) for speed in speeds] for variant in variants]
    plan_disturbances(make_plant(files[0][0], plant), disturb)
    walks: list[Walk] = []
    try:
        for i, (variant, own) in enumerate(zip(variants, files, strict=True)):
            gaits = _walk_all(variant, own, speeds, disturb, duration, plant, processes)
            walks.append(Walk(variant, _sum_up(gaits)))
            show(f'[{i + 1}/{len(variants)}] {variant.name}: {outcome(walks[-1].measures)}')
            if grid is not None:
                walks[-1].measures['robustness'] = {'push': _push(at(variant, pushed_at), variant,
                                                                  grid, plant, processes, show)}
    except KeyboardInterrupt:
        if not walks:   # nothing to keep
            raise
        raise Interrupted(walks) from None
    return walks


def _walk_all(variant: Variant, files: Sequence[RobotFile], speeds: Sequence[float],
              disturb: Sequence[str], duration: float, plant: str | None,
              processes: int | None) -> list[dict[str, Any]]:
    """Return what `measure_gait` says of the walk at each speed."""
    def walk(robot_file: RobotFile) -> dict[str, Any]:
        return measure_gait(simulate(robot_file, variant.controller, plant, duration, disturb))
    found: dict[float, dict[str, Any]] = {}
    with Branches[float](processes or count_processors()) as branches:
        for speed, robot_file in zip(speeds, files, strict=True):
            while not branches.has_room:
                found.update(branches.collect())
            branches.begin(speed, partial(walk, robot_file))
        while not branches.are_idle:
            found.update(branches.collect())
    return [{'commanded': speed, **found[speed]} for speed in speeds]


def _sum_up(gaits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    failed = [gait for gait in gaits if not gait['survived']]
    reason = f'{failed[0]["reason"]} (at {failed[0]["commanded"]:g} m/s)' if failed else None
    return {'survived': not failed, 'reason': reason, 'disturbed': True,
            'steps': sum(gait['steps'] for gait in gaits), 'gaits': list(gaits)}


def measure_gait(run: Run) -> dict[str, Any]:
    """Return the measures of a steady walk, ready for JSON; None where it did not last.

    Args:
        run: The `Run` of a robot in space.

    Returns:
        Dictionary: ``survived``, ``reason`` why not, ``steps``; over whole steps in the second
        half, an even number: ``speed`` ahead (m/s), ``cost_of_transport`` and
        ``cost_of_transport_electrical``, ``step_time`` (s); ``heading``, the largest turn of the
        base from where it began (deg).
    """
    window = steady_rows(run)
    own: dict[str, Any] = dict.fromkeys(name for name, *_ in GAIT_MEASURES)
    if window is not None:
        first, last = window
        begins = touchdowns(run)
        steps = int(((begins > first) & (begins <= last)).sum())
        duration = float(run.time[last] - run.time[first])
        weight = Dynamics(run.robot).mass * run.world.gravity
        looks = yaw(run)
        own = {'speed': (run.base.position[last, 0] - run.base.position[first, 0]) / duration,
               'cost_of_transport': per_distance(gain(run.work[[first, last]]).sum(), weight, run,
                                                 first, last),
               'cost_of_transport_electrical': electrical_cost(run, weight, first, last),
               'step_time': duration / steps,
               'heading': math.degrees(abs(looks - looks[0]).max())}
    return {'survived': not run.broke_off, 'reason': failure(ending(run)),
            'steps': int(run.steps[-1]), **{name: plain(value) for name, value in own.items()}}


def _push(robot_file: RobotFile, variant: Variant, grid: Grid, plant: str | None,
          processes: int | None, show: Callable[[str], None]) -> dict[str, Any]:
    """Return the envelope of pushes, or the reason why there is none."""
    try:
        found = find_envelope(robot_file, 'push', variant.controller, plant, grid=grid,
                              processes=processes)
    except NotAchieved as error:
        show(f'  first failing push: {error}')
        return {'first_failure': None, 'largest_tried': 0.0, 'reason': str(error)}
    first = found['first_failure']
    show(f'  first failing push: {"none" if first is None else format(first, "g")}')
    kept = ('first_failure', 'largest_survived', 'unit', 'cells', 'worst', 'after', 'resolution',
            'largest', 'nominal_speed', 'interrupted')
    return {**{name: found[name] for name in kept}, 'largest_tried': found['largest'],
            'reason': None}
