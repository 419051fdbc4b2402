# SPDX-License-Identifier: Apache-2.0
"""Laws and settings of one robot side by side: disturbed in the plane, at speeds in space."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
import math
from typing import Any, NamedTuple

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.controllers import CurveTrackingParameters
from walking_control.exceptions import (
    IncompatibleController,
    Interrupted,
    NotAchieved,
    WalkingControlError,
)
from walking_control.gaits.gait import GaitError
from walking_control.lab.experiments import (
    Branches,
    count_processors,
    DISTURBANCES,
    find_envelope,
    find_first_failure,
    FirstFailure,
    Grid,
    load_variant,
    of_variant,
    PRICE,
    Variant,
)
from walking_control.loading import load_robot
from walking_control.models import Dynamics, in_words, RobotFile
from walking_control.runs import DEPTHS, ending, failure, Run, steady_in_space, yaw
from walking_control.runs.disturbance_response import measure_response, MEASURES, observe_energies
from walking_control.simulation import make_plant, parse_disturbance, plan_disturbances
from walking_control.simulation.simulate import run_plant, simulate

DISTURBANCE = 'step_down=0.05@6'  # as in [DS09] 5.2.3
SPEEDS = (0.4, 0.6, 0.8, 1.0)  # m/s
PUSHED_AT = 0.8  # m/s: speed of envelopes
# name, what searches, what is asked for, what is kept of the answer
Search = tuple[str, Callable[[], FirstFailure], dict[str, Any], Sequence[str]]
# key, name, unit, significant digits
GAIT_MEASURES = (
    ('speed', 'Speed', 'm/s', 3),
    ('cost_of_transport_electrical', 'Cost of transport, electrical', '', 3),
    ('cost_of_transport_each_joint', 'no joint driving another', '', 3),
    ('step_time', 'Step time', 's', 3),
    ('heading', 'Largest turn of the base', 'deg', 2),
)


@dataclass(frozen=True)
class Walk:
    """What came of a variant.

    Args:
        measures: What `measure_response` says; with ``robustness`` where asked for.
        run: The `Run`; None when the simulation broke off.
        energies: What `observe_energies` gives, by the robot file's own field; None without a
            gait.
    """

    variant: Variant
    measures: dict[str, Any]
    run: Run | None = field(repr=False, default=None)  # None when the simulation broke off
    # of `observe_energies`, by the robot file's own field; None without a gait
    energies: dict[str, np.ndarray] | None = field(repr=False, default=None)


class Comparison(NamedTuple):
    """What is compared, and how each variant walks."""

    robot: str  # name or path of a robot file
    variants: Sequence[Variant]  # the laws of a free base have a parameter ``speed``
    disturb: Sequence[str] = ()  # texts ``KIND=SIZE@WHEN``, for every walk
    duration: float = 12.0  # simulated time of each walk, s
    overrides: Sequence[tuple[str, Any]] = ()  # pairs (name, value) for every variant
    # name; None takes the robot file's, and rigid for first failing sizes in the plane
    plant: str | None = None

    def load(self, variant: Variant, *settings: tuple[str, Any]) -> RobotFile:
        """Return the `RobotFile` of a variant."""
        robot_file = load_variant(self.robot, variant, [*self.overrides, *settings])
        return robot_file if self.plant is None else replace(robot_file, plant=self.plant)

    def prepare(
        self, variant: Variant, *settings: tuple[str, Any]
    ) -> tuple[RobotFile, ControlLoop]:
        """Return file and loop of a variant, or say whose law does not fit."""
        robot_file = self.load(variant, *settings)
        try:
            return robot_file, ControlLoop(robot_file, variant.controller)
        except WalkingControlError as error:
            raise of_variant(variant, error) from error


def compare(
    asked: Comparison,
    speeds: Sequence[float] = SPEEDS,
    robustness: bool | Grid = False,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Walk]:
    """Walk every variant under the same disturbances, in space at several speeds.

    Everything is checked before the first walk. All start as the robot file says. In the plane all
    are measured by one field: the robot file's own of curve tracking.

    Args:
        asked: The `Comparison`.
        speeds: Commanded in space, m/s.
        robustness: Whether to look for first failing sizes too: in the plane of each kind of
            disturbance, in space of pushes as a `Grid` says.
        processes: How many walks at once in space; None: as many as there are processors.
        progress: Called with a line of text now and then.

    Walks in space have no runs: ``gaits`` of their measures holds those of each speed, see
    `measure_gait`. InvalidInput: a variant, a disturbance or an override is unusable; Interrupted
    holds the walks until then.
    """
    in_space = load_robot(asked.robot, asked.overrides).robot.is_free
    side: _Responses | _Gaits = (
        _Gaits(asked, speeds, processes or count_processors()) if in_space else _Responses(asked)
    )
    walks = []
    try:
        for i, variant in enumerate(asked.variants):
            walks.append(side.walk(variant))
            progress(
                f'[{i + 1}/{len(asked.variants)}] {variant.name}: {outcome(walks[-1].measures)}'
            )
            if robustness is not False:
                walks[-1].measures['robustness'] = {
                    search[0]: _first_failure(*search, progress)
                    for search in side.searches(variant, robustness)
                }
    except KeyboardInterrupt:
        if not walks:  # nothing to keep
            raise
        raise Interrupted(walks) from None
    return walks


def _first_failure(
    name: str,
    find: Callable[[], FirstFailure],
    asked: dict[str, Any],
    kept: Sequence[str],
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Return what is kept of a first failing size, or what was asked for and why there is none."""
    entry = {'first_failure': None, **asked, 'reason': None}
    try:
        found = find().summary()
        entry |= {key: found[key] for key in kept}
        entry['largest_tried'] = found.get('largest', entry['largest_tried'])
        first = found['first_failure']
        text = f'none up to {entry["largest_tried"]:g}' if first is None else f'{first:g}'
    except (NotAchieved, IncompatibleController) as error:
        entry['reason'] = text = str(error)
    progress(f'  first failing {in_words(name)}: {text}')
    return entry


class _Responses:
    """Walks in the plane, disturbed on their way."""

    def __init__(self, asked: Comparison) -> None:
        self._asked = asked
        self._kinds = [parse_disturbance(text) for text in asked.disturb]
        base = load_robot(asked.robot, asked.overrides)
        self._field = base.values(CurveTrackingParameters)
        plan_disturbances(make_plant(base, asked.plant), asked.disturb)
        self._prepared = {variant.name: asked.prepare(variant) for variant in asked.variants}

    def walk(self, variant: Variant) -> Walk:
        """Walk a variant."""
        robot_file, loop = self._prepared[variant.name]
        plant = make_plant(robot_file)
        plan_disturbances(plant, self._asked.disturb)
        try:
            run = run_plant(plant, loop, robot_file.start, self._asked.duration)
        except NotAchieved as error:
            return Walk(
                variant,
                {
                    'survived': False,
                    'reason': str(error),
                    'fault': None,
                    'fault_time': None,
                    'disturbed': None,
                    **dict.fromkeys(name for name, *_ in MEASURES),
                },
            )
        try:
            energies = observe_energies(run, self._field)
        except (IncompatibleController, GaitError):
            energies = None
        return Walk(variant, measure_response(run, energies), run, energies)

    def searches(self, variant: Variant, robustness: Any) -> Iterator[Search]:
        """Yield the searches of each kind; against the walk its name ends with ``_against``."""
        kept = (
            'first_failure',
            'largest_survived',
            'holes',
            'unit',
            'further_steps',
            'survivors',
            'nominal_speed',
            'nominal_squared_effort',
            *DEPTHS,
        )
        for kind, sign in dict.fromkeys((d.kind, math.copysign(1.0, d.size)) for d in self._kinds):
            largest, resolution = sign * DISTURBANCES[kind].largest, DISTURBANCES[kind].resolution
            yield (
                kind if sign > 0.0 else f'{kind}_against',
                partial(
                    find_first_failure,
                    self._prepared[variant.name][0],
                    kind,
                    largest,
                    resolution,
                    self._asked.plant if self._asked.plant != 'rigid' else None,
                ),
                {'largest_tried': largest, 'resolution': resolution},
                kept,
            )


class _Gaits:
    """Walks in space, at several speeds."""

    def __init__(self, asked: Comparison, speeds: Sequence[float], processes: int) -> None:
        self._asked, self._speeds, self._processes = asked, speeds, processes
        self._files = {
            variant.name: [self._at(variant, speed) for speed in speeds]
            for variant in asked.variants
        }
        for variant in asked.variants:  # in this process, before the first walk
            asked.prepare(variant, (f'{variant.controller}.speed', speeds[0]))
        plan_disturbances(make_plant(self._files[asked.variants[0].name][0]), asked.disturb)

    def _at(self, variant: Variant, speed: float) -> RobotFile:
        return self._asked.load(variant, (f'{variant.controller}.speed', speed))

    def walk(self, variant: Variant) -> Walk:
        """Walk a variant at each speed; sum up what `measure_gait` says."""

        def walk(robot_file: RobotFile) -> dict[str, Any]:
            return measure_gait(
                simulate(
                    robot_file, variant.controller, None, self._asked.duration, self._asked.disturb
                )
            )

        walks = [partial(walk, robot_file) for robot_file in self._files[variant.name]]
        with Branches[float](self._processes) as branches:
            found = dict(branches.work(zip(self._speeds, walks, strict=True)))
        gaits = [{'commanded': speed, **found[speed]} for speed in self._speeds]
        failed = [gait for gait in gaits if not gait['survived']]
        reason = f'{failed[0]["reason"]} (at {failed[0]["commanded"]:g} m/s)' if failed else None
        return Walk(
            variant,
            {
                'survived': not failed,
                'reason': reason,
                'disturbed': True,
                'steps': sum(gait['steps'] for gait in gaits),
                'gaits': gaits,
            },
        )

    def searches(self, variant: Variant, robustness: Any) -> Iterator[Search]:
        """Yield the search of the push that fells it, from every side."""
        kept = (
            'first_failure',
            'largest_survived',
            'unit',
            'cells',
            'worst',
            'after',
            'resolution',
            'largest',
            'nominal_speed',
            PRICE,
            'interrupted',
        )
        yield (
            'push',
            partial(
                find_envelope,
                self._at(variant, PUSHED_AT),
                'push',
                grid=None if robustness is True else robustness,
                processes=self._processes,
            ),
            {'largest_tried': 0.0},
            kept,
        )


def measure_gait(run: Run) -> dict[str, Any]:
    """Return the measures of a steady walk in space, ready for JSON; None where it did not last.

    Returns:
        Dictionary: ``survived``, ``reason`` why not, ``steps``; `GAIT_MEASURES`, those of
        `steady_in_space` and ``heading``, the largest turn of the base from where it began (deg).
    """
    steady, looks = steady_in_space(run, Dynamics(run.robot)), yaw(run)
    turned = None if steady['start'] is None else math.degrees(abs(looks - looks[0]).max())
    return {
        'survived': not run.broke_off,
        'reason': failure(ending(run)),
        'steps': int(run.steps[-1]),
        **{name: steady.get(name, turned) for name, *_ in GAIT_MEASURES},
    }


def outcome(measures: Mapping[str, Any]) -> str:
    """Return in words how a walk ended."""
    if measures['steps'] is None:
        return f'broke off: {measures["reason"]}'
    if not measures['survived']:
        return f'{measures["reason"]}, after {measures["steps"]} steps'
    late = '' if measures['disturbed'] else ', before the disturbance'
    return f'survived, {measures["steps"]} steps{late}'
