# SPDX-License-Identifier: Apache-2.0
"""Several controllers and settings on one plant under one disturbance, side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from walking_control.control_loop import ControlLoop
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.registry import CONTROLLERS
from walking_control.exceptions import (
    IncompatibleController,
    IncompatiblePlant,
    Interrupted,
    InvalidInput,
    NotAchieved,
    WalkingControlError,
)
from walking_control.experiments.robustness import find_first_failure, KINDS
from walking_control.gaits.samples import GaitError
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.resources import gait_beside, share_directory
from walking_control.models.robot import in_words
from walking_control.models.robot_file import GAIT, RobotFile
from walking_control.models.yaml_text import load_yaml
from walking_control.runs.disturbance_response import measure_response, MEASURES
from walking_control.runs.energies import observe_energies
from walking_control.runs.metrics import DEPTHS
from walking_control.runs.run import Run
from walking_control.simulation.disturbance import Disturbance, parse_disturbance, plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant

DISTURBANCE = 'step_down=0.05@6'   # as in [DS09] 5.2.3


@dataclass(frozen=True)
class Variant:
    """One walk of a comparison.

    Args:
        name: What to call it.
        controller: Name of the controller.
        settings: name -> value of its parameters, over those of the robot file.
    """

    name: str
    controller: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Walk:
    """What came of a variant.

    Args:
        variant: The `Variant`.
        measures: What `measure_response` says; with ``robustness`` where asked for.
        run: The `Run`; None when the simulation broke off.
        energies: What `observe_energies` gives, by the robot file's own field; None without a
            gait.
    """

    variant: Variant
    measures: dict[str, Any]
    run: Run | None = field(repr=False, default=None)
    energies: dict[str, np.ndarray] | None = field(repr=False, default=None)


def variants_path(robot: str) -> Path:
    """Return the path of the shipped variants of a robot.

    Raises:
        InvalidInput: There are none.
    """
    path = share_directory() / 'config' / 'comparisons' / f'{robot}.yaml'
    if not path.is_file():
        raise InvalidInput(f'comparison of {robot}', limit='no variants ship for this robot',
                           remedy='give --variants FILE')
    return path


def read_variants(path: Path | str) -> list[Variant]:
    """Return the `Variant` list of a file.

    Raises:
        InvalidInput: It cannot be read, or is not a list of name, controller and settings.
    """
    what = f'variants {path}'
    try:
        entries = load_yaml(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(what, limit=f'cannot be read: {error}') from error
    if not isinstance(entries, list) or not entries:
        raise InvalidInput(what, limit='must be a list of entries with name, controller and, if '
                           'need be, settings')
    variants = [_read_variant(entry, f'entry {i + 1} of {what}', path)
                for i, entry in enumerate(entries)]
    names = [variant.name for variant in variants]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f'name in {what}', value=name, limit='is given twice')
    return variants


def _read_variant(entry: Any, what: str, path: Path | str) -> Variant:
    if not isinstance(entry, dict):
        raise InvalidInput(what, value=entry, limit='must hold name and controller')
    for key in entry:
        if key not in ('name', 'controller', 'settings'):
            raise InvalidInput(f'{key} in {what}', limit='unknown',
                               remedy='known: name, controller, settings')
    for key in ('name', 'controller'):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise InvalidInput(f'{key} in {what}', value=entry.get(key), limit='must be a text')
    settings = {} if entry.get('settings') is None else entry['settings']
    if not isinstance(settings, dict):
        raise InvalidInput(f'settings in {what}', value=settings,
                           limit='must hold name: value pairs')
    if isinstance(settings.get(GAIT), str):
        settings[GAIT] = gait_beside(path, settings[GAIT])
    return Variant(entry['name'], entry['controller'], settings)


def load_variant(robot: str, variant: Variant,
                 overrides: Sequence[tuple[str, Any]] = ()) -> RobotFile:
    """Return the `RobotFile` of a variant.

    Raises:
        InvalidInput: A bad controller or setting; says of which variant.
    """
    try:
        CONTROLLERS.find(variant.controller)
        settings = [(f'{variant.controller}.{name}', value)
                    for name, value in variant.settings.items()]
        return load_robot(robot, [*overrides, *settings])
    except WalkingControlError as error:
        raise _of(variant, error) from error


def _of(variant: Variant, error: WalkingControlError) -> InvalidInput:
    return InvalidInput(f'variant {variant.name}: {error.what}', value=error.value,
                        limit=error.limit, remedy=error.remedy)


def compare(robot: str, variants: Sequence[Variant], disturb: Sequence[str] = (DISTURBANCE,),
            duration: float = 12.0, overrides: Sequence[tuple[str, Any]] = (),
            robustness: bool = False, progress: Callable[[str], None] | None = None,
            plant: str | None = None) -> list[Walk]:
    """Walk every variant under the same disturbances.

    Everything is checked before the first walk. All start as the robot file says, and all are
    measured by one field: the robot file's own of curve tracking.

    Args:
        robot: Name or path of a robot file.
        variants: `Variant` list.
        disturb: Texts ``KIND=SIZE@WHEN``.
        duration: Simulated time, s.
        overrides: Pairs (name, value) for every variant.
        robustness: Whether to look for the first failing size of each kind of disturbance too.
        progress: Called with a line of text now and then.
        plant: Name of the plant; None takes the robot file's, and rigid for first failing sizes.

    Returns:
        List of `Walk`.

    Raises:
        InvalidInput: A variant, a disturbance or an override is unusable.
        Interrupted: Somebody stopped it; holds the walks until then.
    """
    show = progress or (lambda text: None)
    disturbances = [parse_disturbance(text) for text in disturb]
    base = _on_plant(load_robot(robot, overrides), plant)
    _check_plant(base, disturb)
    prepared = [_prepare(robot, variant, overrides, plant) for variant in variants]
    walks = []
    try:
        for i, (variant, (robot_file, loop)) in enumerate(zip(variants, prepared, strict=True)):
            walk = _walk(variant, robot_file, loop, base.values(CurveTrackingParameters), disturb,
                         duration)
            walks.append(walk)
            show(f'[{i + 1}/{len(variants)}] {variant.name}: {outcome(walk.measures)}')
            if robustness:
                walk.measures['robustness'] = _first_failures(robot_file, variant, disturbances,
                                                              plant or 'rigid', show)
    except KeyboardInterrupt:
        if not walks:   # nothing to keep
            raise
        raise Interrupted(walks) from None
    return walks


def _on_plant(robot_file: RobotFile, plant: str | None) -> RobotFile:
    return robot_file if plant is None else replace(robot_file, plant=plant)


def _check_plant(base: RobotFile, disturb: Sequence[str]) -> None:
    if base.robot.base is Base.FREE:
        raise IncompatiblePlant(f'responses of {base.robot.name} side by side',
                                limit='are of robots in the plane or without turns',
                                remedy='compare its gaits')
    plan_disturbances(make_plant(base), disturb)


def _prepare(robot: str, variant: Variant, overrides: Sequence[tuple[str, Any]],
             plant: str | None) -> tuple[RobotFile, ControlLoop]:
    robot_file = _on_plant(load_variant(robot, variant, overrides), plant)
    try:
        return robot_file, ControlLoop(robot_file, variant.controller)
    except InvalidInput as error:
        raise _of(variant, error) from error


def _walk(variant: Variant, robot_file: RobotFile, loop: ControlLoop,
          field_values: CurveTrackingParameters, disturb: Sequence[str], duration: float) -> Walk:
    plant = make_plant(robot_file)
    plan_disturbances(plant, disturb)
    try:
        run = run_plant(plant, loop, robot_file.start, duration)
    except NotAchieved as error:
        unknown = dict.fromkeys(name for name, *_ in MEASURES)
        return Walk(variant, {'survived': False, 'reason': str(error), 'fault': None,
                              'fault_time': None, 'disturbed': None, **unknown})
    try:
        energies = observe_energies(run, field_values)
    except (IncompatibleController, GaitError):
        energies = None
    return Walk(variant, measure_response(run, energies), run, energies)


def _first_failures(robot_file: RobotFile, variant: Variant, disturbances: Sequence[Disturbance],
                    plant: str, show: Callable[[str], None]) -> dict[str, Any]:
    """Return kind -> first failing size and more, see `find_first_failure`.

    A kind that is asked for against the walk has ``_against`` at its end.
    """
    found = {}
    for kind, sign in dict.fromkeys((d.kind, math.copysign(1.0, d.size)) for d in disturbances):
        name = kind if sign > 0.0 else f'{kind}_against'
        largest, resolution = sign * KINDS[kind][0], KINDS[kind][1]
        try:
            result = find_first_failure(robot_file, kind, variant.controller, plant, largest,
                                        resolution)
            found[name] = {key: result[key] for key in (
                'first_failure', 'largest_survived', 'holes', 'unit', 'further_steps',
                'survivors', 'nominal_speed', 'nominal_squared_effort', *DEPTHS)}
            found[name] |= {'largest_tried': largest, 'resolution': resolution, 'reason': None}
            first = result['first_failure']
            text = f'none up to {largest:g}' if first is None else f'{first:g}'
        except (NotAchieved, IncompatibleController) as error:
            found[name] = {'first_failure': None, 'largest_tried': largest,
                           'resolution': resolution, 'reason': str(error)}
            text = str(error)
        show(f'  first failing {in_words(name)}: {text}')
    return found


def outcome(measures: Mapping[str, Any]) -> str:
    """Return in words how a walk ended."""
    if measures['steps'] is None:
        return f'broke off: {measures["reason"]}'
    if not measures['survived']:
        return f'{measures["reason"]}, after {measures["steps"]} steps'
    late = '' if measures['disturbed'] else ', before the disturbance'
    return f'survived, {measures["steps"]} steps{late}'
