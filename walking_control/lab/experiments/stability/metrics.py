# SPDX-License-Identifier: Apache-2.0
"""How stable a walk is: region of attraction, mean first passage time, and all measures at once.

The region of attraction is how much of a cycle's surroundings returns to it, measured by walking
from states just after touchdown drawn evenly from a ball. States differ from the cycle in the angle
of the stance leg and two rates; their distance, without unit, is the root of the energy of that
difference over the kinetic energy of the cycle.

The mean first passage time of Byl and Tedrake [BT09] is how long a walk lasts on a rough floor,
each foothold lower than the one before by a random height of a normal distribution: once its begin
is forgotten it falls with the same small chance in every step. Both are derived in
doc/stability.md.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
import math
from typing import Any

import numpy as np
from scipy.special import betaincinv, chdtri

from walking_control.controllers import CONTROLLERS
from walking_control.exceptions import require
from walking_control.lab.experiments.stability import cycle
from walking_control.models import Choice, Dynamics, RobotFile, SupportDynamics, World
from walking_control.runs import plain
from walking_control.simulation import has_errors, SensorParameters, STEPS

RADIUS = 0.5
STRIDES = 40  # within which a state has to come near the cycle
NEAR = 0.02  # distance that counts as having returned, if it still shrinks
ROUGHNESS = 0.002  # in leg lengths
BEGIN = 20  # steps until the begin of a walk is forgotten
BATCH = 60  # footholds drawn at a time; the model keeps 64
ENOUGH = 400  # falls: the interval is then some 10 % either way
CONFIDENCE = 0.95

Strides = Callable[[np.random.Generator, bool], tuple[int, bool]]
METRICS = {
    'eigenvalues': 'of the return map, with their error',
    'sensitivity': 'gait sensitivity norm of Hobbelen and Wisse',
    'passage': 'mean first passage time of Byl and Tedrake, with its interval',
    'attraction': 'region of attraction in energy-normalised distance, with its interval',
}
DEFAULTS = {'roughness': None, 'steps': 20000, 'radius': RADIUS, 'samples': 1000}


def find_attraction(
    settled: cycle.StableCycle,
    radius: float = RADIUS,
    samples: int = 1000,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Return how much of a ball around a cycle returns to it.

    Args:
        radius: Of the ball, in the distance of the module.
        samples: States to try.
        progress: Called with the share of them tried, 0 to 1.

    Returns:
        Dictionary: ``attraction_radius``; ``attraction_share`` of the ball that returns and
        ``attraction_volume``, that share of the volume (rad (rad/s)^2), each with its
        ``_interval`` of 95 % (Clopper and Pearson); ``attraction_core``, distance of the nearest
        state that leaves; ``attraction_samples``, [angle, rate, rate, distance, returned] each.

    Raises:
        InvalidInput: A ball or number that makes no sample.
    """
    require(math.isfinite(radius) and radius > 0.0, 'radius', value=radius, limit='must be above 0')
    require(samples >= 10, 'samples', value=samples, limit='must be at least 10')
    to_energy = energy_root(settled)
    to_state = np.linalg.inv(to_energy)
    rng = np.random.default_rng(seed)
    rows: list[list[Any]] = []
    for _ in range(samples):
        direction = rng.standard_normal(3)
        distance = radius * rng.random() ** (1.0 / 3.0)
        x = settled.cycle.x + to_state @ (distance * direction / np.linalg.norm(direction))
        rows.append([*map(float, x), float(distance), returns(settled, x, to_energy)])
        progress(len(rows) / samples)
    share, interval = share_interval(sum(row[-1] for row in rows), samples)
    volume = 4.0 / 3.0 * math.pi * radius**3 * abs(float(np.linalg.det(to_state)))
    return {
        'attraction_radius': radius,
        'attraction_share': share,
        'attraction_share_interval': interval,
        'attraction_volume': share * volume,
        'attraction_volume_interval': [end * volume for end in interval],
        'attraction_core': min((row[-2] for row in rows if not row[-1]), default=None),
        'attraction_samples': plain(rows),
    }


def energy_root(settled: cycle.StableCycle) -> np.ndarray:
    """Return the matrix that turns differences of section states into distances, ``(3, 3)``."""
    section, robot = settled.section, settled.robot_file.robot
    world = settled.robot_file.values(World)
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    q, v = section.state(settled.cycle.x)
    mass = support.layout.split(support.terms(0, q, v))['mass'][2:, 2:]
    free = np.ix_(section.free, section.free)
    energy = 0.5 * v @ mass @ v
    root = np.zeros((3, 3))
    root[0, 0] = math.sqrt(0.5 * settled.mass * world.gravity * settled.length_unit / energy)
    root[1:, 1:] = np.linalg.cholesky(0.5 * mass[free] / energy).T
    return root


def returns(settled: cycle.StableCycle, x: np.ndarray, to_energy: np.ndarray) -> bool:
    """Return whether a walk from a section state comes back to the cycle."""
    last = math.inf
    for _ in range(STRIDES):
        stride = settled.section.stride(x)
        if stride is None:
            return False
        x, before = stride.x, last
        last = float(np.linalg.norm(to_energy @ (x - settled.cycle.x)))
        if last < NEAR and last < before:
            return True
    return False


def share_interval(hits: int, samples: int) -> tuple[float, list[float]]:
    """Return a share and the ends of its exact interval of confidence."""
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, tail))
    high = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1.0 - tail))
    return hits / samples, [low, high]


def find_passage(
    settled: cycle.StableCycle,
    roughness: float | None = None,
    steps: int = 20000,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Return the mean first passage time of a walk on a rough floor.

    Args:
        roughness: Standard deviation of the height from one foothold to the next, m; None takes
            0.2 % of the leg length.
        steps: Number of steps to walk, all walks together; fewer where falls are frequent.
        progress: Called with the share of steps walked, 0 to 1.

    Returns:
        Dictionary: ``roughness`` (m), ``mean_first_passage_steps``, ``mean_first_passage_interval``
        of 95 % and ``mean_first_passage_time`` (s, at the period of the cycle); without a fall mean
        and upper end are None; ``falls`` and ``steps_counted``.
    """
    height = ROUGHNESS * settled.length_unit if roughness is None else roughness
    require(
        math.isfinite(height) and height > 0.0, 'roughness', value=height, limit='must be above 0'
    )
    require(steps >= 10 * BEGIN, 'steps', value=steps, limit=f'must be at least {10 * BEGIN}')
    counted, falls = count_falls(_strides_of(settled, height), steps, seed, progress)
    mean, interval = passage_interval(counted, falls)
    return {
        'roughness': height,
        'mean_first_passage_steps': mean,
        'mean_first_passage_interval': plain(interval),
        'mean_first_passage_time': None if mean is None else mean * settled.cycle.period,
        'falls': falls,
        'steps_counted': counted,
    }


def count_falls(
    walk: Strides, steps: int, seed: int, progress: Callable[[float], None] = lambda share: None
) -> tuple[int, int]:
    """Return the steps that count and the falls among them.

    Args:
        walk: (random numbers, whether to begin anew) -> (steps made, whether it fell then).
        steps: How many to walk, those that do not count included.
        progress: Called with the share of steps walked, 0 to 1.
    """
    rng = np.random.default_rng(seed)
    walked = counted = falls = 0
    anew, made = True, 0
    while walked < steps and falls < ENOUGH:
        more, fell = walk(rng, anew)
        more += fell  # the step that fails is one as well
        before, made = made, made + more
        walked += more
        counted += max(made, BEGIN) - max(before, BEGIN)
        falls += fell and made > BEGIN
        anew, made = fell, 0 if fell else made
        progress(min(1.0, max(walked / steps, falls / ENOUGH)))
    return counted, falls


def passage_interval(steps: int, falls: int) -> tuple[float | None, list[float | None]]:
    """Return mean steps to a fall and the ends of its interval of confidence.

    Falls come with the same chance in every step, so twice the steps over the mean follow a
    chi-squared distribution; the ends hold for a count that stopped at a number of steps.
    """
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = 2.0 * steps / chdtri(2 * falls + 2, tail)
    if falls == 0:
        return None, [float(low), None]
    return steps / falls, [float(low), float(2.0 * steps / chdtri(2 * falls, 1.0 - tail))]


def _strides_of(settled: cycle.StableCycle, height: float) -> Strides:
    walker, section = settled.walker, settled.section
    drops, mode = walker.model.drops, walker.state.mode

    def walk(rng: np.random.Generator, anew: bool) -> tuple[int, bool]:
        if anew:
            walker.start(0, *section.state(settled.cycle.x))
        mode[STEPS] = 0
        drops[1 : BATCH + 1] = rng.normal(0.0, height, BATCH)
        made = walker.stride_many(BATCH, section.longest)
        drops[:] = 0.0
        return made, made < BATCH

    return walk


def find_metrics(
    robot_file: RobotFile,
    names: Sequence[str] = tuple(METRICS),
    controller: Choice = None,
    seed: int = 0,
    progress: Callable[[str], Callable[[float], None]] = lambda name: lambda share: None,
    **settings: Any,
) -> dict[str, Any]:
    """Return measures of stability of the cycle a robot settles on.

    Args:
        robot_file: The `RobotFile` of a planar robot.
        names: Those of `METRICS` wanted.
        seed: Of the rough floor and of the states tried.
        progress: Name -> what is called with the share of it done.
        **settings: ``roughness`` and ``steps`` of `find_passage`, ``radius`` and ``samples`` of
            `find_attraction`; see `DEFAULTS`.

    Returns:
        Dictionary: ``robot``, ``controller``, ``plant``, ``slope`` (rad), ``metrics`` that were
        asked for, and what the functions of each return.

    Raises:
        InvalidInput: An unknown name, or sensors with errors: the cycle is that of a known state.
        NotAchieved: The walk settles on no cycle.
    """
    robot_file, controller = robot_file.choose(CONTROLLERS, controller)
    unknown = [name for name in names if name not in METRICS]
    require(
        not unknown and names,
        'metric',
        value=unknown[0] if unknown else '',
        limit='unknown',
        remedy='known: ' + ', '.join(METRICS) + ', all',
    )
    require(
        not has_errors(robot_file.values(SensorParameters)),
        'sensors with errors',
        limit='a return map is that of a known state',
        remedy='leave out --noise; robustness --margin noise asks about noise',
    )
    chosen = {**DEFAULTS, **settings}
    result: dict[str, Any] = {
        'robot': robot_file.robot.name,
        'controller': controller or robot_file.controller,
        'plant': 'rigid',
        'slope': robot_file.values(World).slope,
        'metrics': list(names),
    }
    sharp, settled = (
        cache(partial(cycle.StableCycle, robot_file, controller, sharp=sharp))
        for sharp in (True, False)
    )  # made once it is asked for
    finders: dict[str, Callable[[], Any]] = {
        'eigenvalues': lambda: cycle.find_eigenvalues(sharp()),
        'sensitivity': lambda: cycle.find_sensitivity(sharp()),
        'passage': lambda: find_passage(
            settled(), chosen['roughness'], chosen['steps'], seed, progress('passage')
        ),
        'attraction': lambda: find_attraction(
            settled(), chosen['radius'], chosen['samples'], seed, progress('attraction')
        ),
    }
    for name in filter(names.__contains__, finders):
        result |= finders[name]()
    return result
