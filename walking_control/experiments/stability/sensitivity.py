# SPDX-License-Identifier: Apache-2.0
"""The gait sensitivity norm of Hobbelen and Wisse [HW07].

A walker on its cycle is disturbed once; gait indicators of the step with the disturbance and of all
steps after it stray from the cycle's. The norm is the root of the sum of their squares per size of
the disturbance, in the limit of small ones: the H2 norm of the linearised return map with the
disturbance as input and the indicator as output.
"""

from dataclasses import dataclass
import math

import numpy as np

from walking_control.exceptions import NotAchieved
from walking_control.experiments.stability.cycle import extrapolate, StableCycle
from walking_control.runs.result import Result
from walking_control.simulation.rigid.model import STEP_LENGTH, STEPPED, TIME

INDICATORS = {'step_time': 's', 'step_length': 'm'}
# disturbance -> size of differences, in leg lengths or in the leg's pendulum speed
DISTURBANCES = {'floor': 4e-5, 'push': 4e-5}
FORGOTTEN, MOST_STEPS = 1e-6, 2000   # share of the disturbance left at the last step that counts


@dataclass(eq=False)
class Sensitivity(Result):
    """The gait sensitivity norms of a walk.

    ``sensitivity``, disturbance -> indicator -> norm in SI units (``floor``: one foothold lower by
    1 m, ``push``: 1 N s per kg of robot along the walk just after touchdown; ``step_time`` in s,
    ``step_length`` in m); ``gait_sensitivity_norm``, that of step time over floor height, as in
    [HW07], without units (time in sqrt(leg length / gravity), height in leg lengths);
    ``sensitivity_steps``, how many steps count; ``responses``, disturbance -> indicator -> change
    of each step per unit of the disturbance.
    """

    sensitivity: dict[str, dict[str, float]] | None = None
    gait_sensitivity_norm: float | None = None
    sensitivity_steps: int | None = None
    responses: dict[str, dict[str, list[float]]] | None = None


def find_sensitivity(settled: StableCycle) -> Sensitivity:
    """Return the `Sensitivity` of a walk."""
    steps = _steps_that_count(float(abs(settled.cycle.eigenvalues[0])))
    units = {'floor': settled.length_unit, 'push': settled.length_unit / settled.time_unit}
    responses = {}
    for kind, share in DISTURBANCES.items():
        size = share * units[kind]
        response = extrapolate(
            lambda size, kind=kind: (walk_disturbed(settled, kind, size, steps)   # type: ignore[misc]
                                     - walk_disturbed(settled, kind, -size, steps)) / (2.0 * size),
            (size, 0.5 * size, 0.25 * size))
        responses[kind] = dict(zip(INDICATORS, response.T, strict=True))
    norms = {kind: {name: float(np.linalg.norm(values)) for name, values in rows.items()}
             for kind, rows in responses.items()}
    return Sensitivity(
        norms, norms['floor']['step_time'] * settled.length_unit / settled.time_unit, steps,
        responses)


def _steps_that_count(largest: float) -> int:
    """Return after how many steps a disturbance is forgotten, of the largest eigenvalue's size."""
    return min(MOST_STEPS, 5 + math.ceil(math.log(FORGOTTEN) / math.log(max(largest, 1e-3))))


def walk_disturbed(settled: StableCycle, kind: str, size: float, steps: int) -> np.ndarray:
    """Return the indicators of steps from the cycle after one disturbance, ``(steps, 2)``.

    Args:
        kind: ``'floor'``: the first foothold is lower by the size, m; ``'push'``: N s per kg just
            after touchdown.

    Raises:
        NotAchieved: The walker falls.
    """
    walker, section = settled.walker, settled.section
    drops = walker.model.drops
    walker.start(0, *section.state(settled.cycle.x))
    if kind == 'push':
        walker.push(size * settled.mass)
    before, drops[1] = drops[1], size if kind == 'floor' else 0.0
    indicators = np.empty((steps, len(INDICATORS)))
    time = 0.0
    try:
        for row in indicators:
            if walker.walk(section.longest, True) != STEPPED:
                raise NotAchieved('gait sensitivity', value=size,
                                  limit=f'so small a disturbance ({kind}) fells the walker')
            memo = walker.state.memo
            row[:] = memo[TIME] - time, memo[STEP_LENGTH]
            time = memo[TIME]
    finally:
        drops[1] = before
    return indicators
