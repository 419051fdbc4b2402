# SPDX-License-Identifier: Apache-2.0
"""Several measures of stability of one walk at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from walking_control.controllers.registry import CONTROLLERS
from walking_control.exceptions import InvalidInput
from walking_control.experiments.stability.attraction import Attraction, find_attraction, RADIUS
from walking_control.experiments.stability.cycle import Eigenvalues, find_eigenvalues, StableCycle
from walking_control.experiments.stability.passage import find_passage, Passage
from walking_control.experiments.stability.sensitivity import find_sensitivity, Sensitivity
from walking_control.models.registry import Choice
from walking_control.models.robot_file import RobotFile, World
from walking_control.simulation.sensors import has_errors, SensorParameters

METRICS = {
    'eigenvalues': 'of the return map, with their error',
    'sensitivity': 'gait sensitivity norm of Hobbelen and Wisse',
    'passage': 'mean first passage time of Byl and Tedrake, with its interval',
    'attraction': 'region of attraction in energy-normalised distance, with its interval'}
DEFAULTS = {'roughness': None, 'steps': 20000, 'radius': RADIUS, 'samples': 1000}


@dataclass(eq=False)
class Stability(Eigenvalues, Sensitivity, Passage, Attraction):
    """What was measured of the cycle a robot settles on; of what was not, there is no entry.

    Beside the parts: ``robot``, ``controller``, ``plant``, ``slope`` (rad) and ``metrics``, the
    names of what was asked for.
    """

    robot: str = ''
    controller: str = ''
    plant: str = 'rigid'
    slope: float = 0.0
    metrics: list[str] = field(default_factory=list)


def find_metrics(robot_file: RobotFile, names: Sequence[str] = tuple(METRICS),
                 controller: Choice = None, seed: int = 0,
                 progress: Callable[[str], Callable[[float], None] | None] = lambda name: None,
                 **settings: Any) -> Stability:
    """Return measures of stability of the cycle a robot settles on.

    Args:
        robot_file: The `RobotFile` of a planar robot.
        names: Those of `METRICS` wanted.
        controller: Name of the controller; None takes the robot file's default.
        seed: Of the rough floor and of the states tried.
        progress: Name -> what is called with the share of it done.
        **settings: ``roughness`` and ``steps`` of `find_passage`, ``radius`` and ``samples`` of
            `find_attraction`; see `DEFAULTS`.

    Raises:
        InvalidInput: An unknown name, or sensors with errors: the cycle is that of a known state.
        NotAchieved: The walk settles on no cycle.
    """
    robot_file, controller = robot_file.choose(CONTROLLERS, controller)
    unknown = [name for name in names if name not in METRICS]
    if unknown or not names:
        raise InvalidInput('metric', value=unknown[0] if unknown else '', limit='unknown',
                           remedy='known: ' + ', '.join(METRICS) + ', all')
    if has_errors(robot_file.values(SensorParameters)):
        raise InvalidInput('sensors with errors', limit='a return map is that of a known state',
                           remedy='leave out --noise; robustness --margin noise asks about noise')
    chosen = {**DEFAULTS, **settings}
    result: dict[str, Any] = {
        'robot': robot_file.robot.name, 'controller': controller or robot_file.controller,
        'plant': 'rigid', 'slope': robot_file.values(World).slope, 'metrics': list(names)}
    sharp, settled = (cache(partial(StableCycle, robot_file, controller, sharp=sharp))
                      for sharp in (True, False))   # made once it is asked for
    if 'eigenvalues' in names:
        result |= find_eigenvalues(sharp())
    if 'sensitivity' in names:
        result |= find_sensitivity(sharp())
    if 'passage' in names:
        result |= find_passage(settled(), chosen['roughness'], chosen['steps'], seed,
                               progress('passage'))
    if 'attraction' in names:
        result |= find_attraction(settled(), chosen['radius'], chosen['samples'], seed,
                                  progress('attraction'))
    found = Stability(**result)
    for name in found.keys() - result.keys():
        del found[name]
    return found
