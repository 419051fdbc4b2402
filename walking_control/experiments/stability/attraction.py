# SPDX-License-Identifier: Apache-2.0
"""The region of attraction of a cycle: how much of its surroundings returns to it.

States just after touchdown differ from the cycle in the angle of the stance leg (the hip angle goes
along, both feet being down) and two rates. Their distance is one of energies: kinetic energy of the
difference of rates plus the potential energy of a pendulum of the robot's mass and leg length
turned by the difference of angle, over the kinetic energy of the cycle; the root of that has no
unit. The region is measured by walking from states drawn evenly from a ball of this distance.
"""

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from scipy import stats

from walking_control.exceptions import InvalidInput
from walking_control.experiments.stability.cycle import StableCycle
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics
from walking_control.runs.result import Result

RADIUS = 0.5
STRIDES = 40        # within which a state has to come near the cycle
NEAR = 0.02         # distance that counts as having returned, if it still shrinks
CONFIDENCE = 0.95


@dataclass(eq=False)
class Attraction(Result):
    """How much of a ball around a cycle returns to it.

    ``attraction_radius``; ``attraction_share`` of the ball that returns and its
    ``attraction_share_interval`` of 95 % (Clopper and Pearson); ``attraction_volume`` and
    ``attraction_volume_interval``, the same times the volume of the ball, rad (rad/s)^2;
    ``attraction_core``, distance of the nearest state tried that does not return (None: all
    do); ``attraction_samples`` as [angle, rate, rate, distance, returned].
    """

    attraction_radius: float | None = None
    attraction_share: float | None = None
    attraction_share_interval: list[float] | None = None
    attraction_volume: float | None = None
    attraction_volume_interval: list[float] | None = None
    attraction_core: float | None = None
    attraction_samples: list[list[Any]] | None = None


def find_attraction(settled: StableCycle, radius: float = RADIUS, samples: int = 1000,
                    seed: int = 0, progress: Callable[[float], None] | None = None
                    ) -> Attraction:
    """Return how much of a ball around a cycle returns to it.

    Args:
        radius: Of the ball, in the distance of the module.
        samples: States to try.
        progress: Called with the share of them tried, 0 to 1.

    Raises:
        InvalidInput: A ball or number that makes no sample.
    """
    if not (math.isfinite(radius) and radius > 0.0):
        raise InvalidInput('radius', value=radius, limit='must be above 0')
    if samples < 10:
        raise InvalidInput('samples', value=samples, limit='must be at least 10')
    to_energy = energy_root(settled)
    to_state = np.linalg.inv(to_energy)
    rng = np.random.default_rng(seed)
    rows: list[list[Any]] = []
    for _ in range(samples):
        direction = rng.standard_normal(3)
        distance = radius * rng.random() ** (1.0 / 3.0)
        x = settled.cycle.x + to_state @ (distance * direction / np.linalg.norm(direction))
        rows.append([*map(float, x), float(distance), returns(settled, x, to_energy)])
        if progress is not None:
            progress(len(rows) / samples)
    share, interval = share_interval(sum(row[-1] for row in rows), samples)
    volume = 4.0 / 3.0 * math.pi * radius ** 3 * abs(float(np.linalg.det(to_state)))
    return Attraction(
        radius, share, interval, share * volume, [end * volume for end in interval],
        min((row[-2] for row in rows if not row[-1]), default=None), rows)


def energy_root(settled: StableCycle) -> np.ndarray:
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


def returns(settled: StableCycle, x: np.ndarray, to_energy: np.ndarray) -> bool:
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
    low = 0.0 if hits == 0 else float(stats.beta.ppf(tail, hits, samples - hits + 1))
    high = 1.0 if hits == samples else float(stats.beta.ppf(1.0 - tail, hits + 1, samples - hits))
    return hits / samples, [low, high]
