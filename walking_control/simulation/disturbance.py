# SPDX-License-Identifier: Apache-2.0
"""One-off disturbances in words: ``KIND=SIZE@STEP``."""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from walking_control.simulation.plant import Plant


class Disturbance(NamedTuple):
    """A one-off change of the walker's world.

    Attributes:
        kind: ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` or
            ``'side_push'`` (N s per kg of robot).
        size: Its size.
        step: The touchdown it comes with, counted from 1.
    """

    kind: str
    size: float
    step: int

    def __str__(self) -> str:
        return f'{self.kind}={self.size:g}@{self.step}'


LAST_FOOTHOLD = 61   # as far as plants plan


def rough_floor(size: float, seed: int) -> list[Disturbance]:
    """Return the steps up and down of a floor whose footholds lie higher or lower by chance.

    The height of every foothold is drawn evenly between -size and size, but for the start's and
    those after the 61st, where the floor is level again. Wherever a foot comes down, the floor of
    its step is at that height; in between it is as the plant has it where footholds differ.

    Args:
        size: m.
        seed: Of the heights; floors of one seed differ in size alone.
    """
    heights = size * np.random.default_rng((seed, 3)).uniform(-1.0, 1.0, LAST_FOOTHOLD)
    rises = np.diff(heights, prepend=0.0, append=0.0).tolist()
    return [Disturbance('step_down', -rise, step) for step, rise in enumerate(rises, 1)]


def plan_disturbances(plant: Plant, disturbances: Iterable[Disturbance | str]) -> None:
    """Plan disturbances on a plant.

    Args:
        plant: A `Plant` that can `disturb`, unless there is nothing to plan.
        disturbances: Each a `Disturbance` or a text of the form ``step_down=0.05@3``: at the third
            touchdown.

    Raises:
        InvalidInput: A text has another form, or the plant knows no such disturbance.
    """
    for item in disturbances:
        plant.disturb(*(parse_disturbance(item) if isinstance(item, str) else item))


def parse_disturbance(text: str) -> Disturbance:
    """Return the `Disturbance` of a text ``KIND=SIZE@STEP``.

    Raises:
        InvalidInput: The text has another form.
    """
    kind, _, rest = text.partition('=')
    size, _, step = rest.partition('@')
    try:
        value = float(size)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not step.isdigit():
        raise InvalidInput('disturbance', value=text, limit='must have the form kind=size@step',
                           remedy='for example step_down=0.05@3')
    return Disturbance(kind, value, int(step))
