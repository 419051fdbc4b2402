# SPDX-License-Identifier: Apache-2.0
"""The mean first passage time of Byl and Tedrake [BT09]: how long a walk lasts on a rough floor.

Each foothold is lower than the one before by a random height of a normal distribution. Such a walk
falls for sure, but the time until then hardly depends on how it began: once the begin is forgotten
it falls with the same small chance in every step, and the mean number of steps to a fall says
everything. Here it is counted on walks of the plant itself, without a grid of states; falls within
the first steps, before the begin is forgotten, do not count.
"""

from collections.abc import Callable
from dataclasses import dataclass
import math

import numpy as np
from scipy import stats

from walking_control.exceptions import InvalidInput
from walking_control.experiments.stability.cycle import StableCycle
from walking_control.runs.result import Result
from walking_control.simulation.rigid.model import STEPS

ROUGHNESS = 0.002      # in leg lengths
BEGIN = 20             # steps until the begin of a walk is forgotten
BATCH = 60             # footholds drawn at a time; the model keeps 64
ENOUGH = 400           # falls: the interval is then some 10 % either way
CONFIDENCE = 0.95

Strides = Callable[[np.random.Generator, bool], tuple[int, bool]]


@dataclass(eq=False)
class Passage(Result):
    """How long a walk on a rough floor lasts.

    ``roughness`` (m), ``mean_first_passage_steps`` and its ``mean_first_passage_interval`` of 95 %,
    ``mean_first_passage_time`` (s) at the period of the cycle, ``falls``, ``steps_counted``.
    Without a fall mean and upper end are None, and the lower end is what that many steps prove.
    """

    roughness: float | None = None
    mean_first_passage_steps: float | None = None
    mean_first_passage_interval: list[float | None] | None = None
    mean_first_passage_time: float | None = None
    falls: int | None = None
    steps_counted: int | None = None


def find_passage(settled: StableCycle, roughness: float | None = None, steps: int = 20000,
                 seed: int = 0, progress: Callable[[float], None] | None = None
                 ) -> Passage:
    """Return the mean first passage time of a walk on a rough floor.

    Args:
        roughness: Standard deviation of the height from one foothold to the next, m; None takes
            0.2 % of the leg length.
        steps: Number of steps to walk, all walks together; fewer where falls are frequent.
        progress: Called with the share of steps walked, 0 to 1.
    """
    height = ROUGHNESS * settled.length_unit if roughness is None else roughness
    if not (math.isfinite(height) and height > 0.0):
        raise InvalidInput('roughness', value=height, limit='must be above 0')
    if steps < 10 * BEGIN:
        raise InvalidInput('steps', value=steps, limit=f'must be at least {10 * BEGIN}')
    counted, falls = count_falls(_strides_of(settled, height), steps, seed, progress)
    mean, interval = passage_interval(counted, falls)
    return Passage(height, mean, interval, None if mean is None else mean * settled.cycle.period,
                   falls, counted)


def count_falls(walk: Strides, steps: int, seed: int,
                progress: Callable[[float], None] | None = None) -> tuple[int, int]:
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
        more += fell   # the step that fails is one as well
        before, made = made, made + more
        walked += more
        counted += max(made, BEGIN) - max(before, BEGIN)
        falls += fell and made > BEGIN
        anew, made = fell, 0 if fell else made
        if progress is not None:
            progress(min(1.0, max(walked / steps, falls / ENOUGH)))
    return counted, falls


def passage_interval(steps: int, falls: int) -> tuple[float | None, list[float | None]]:
    """Return mean steps to a fall and the ends of its interval of confidence.

    Falls come with the same chance in every step, so twice the steps over the mean follow a
    chi-squared distribution; the ends hold for a count that stopped at a number of steps.
    """
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = 2.0 * steps / stats.chi2.ppf(1.0 - tail, 2 * falls + 2)
    if falls == 0:
        return None, [float(low), None]
    return steps / falls, [float(low), float(2.0 * steps / stats.chi2.ppf(tail, 2 * falls))]


def _strides_of(settled: StableCycle, height: float) -> Strides:
    walker, section = settled.walker, settled.section
    drops, mode = walker.model.drops, walker.state.mode

    def walk(rng: np.random.Generator, anew: bool) -> tuple[int, bool]:
        if anew:
            walker.start(0, *section.state(settled.cycle.x))
        mode[STEPS] = 0
        drops[1:BATCH + 1] = rng.normal(0.0, height, BATCH)
        made = walker.stride_many(BATCH, section.longest)
        drops[:] = 0.0
        return made, made < BATCH
    return walk
