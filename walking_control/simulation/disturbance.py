# SPDX-License-Identifier: Apache-2.0
"""One-off disturbances in words: ``KIND=SIZE@WHEN``, with ``:NAME=VALUE`` for the rest.

WHEN is a touchdown (``push=0.5@12``), a part of a step after one (``push=0.5@12.25``), a time
(``push=0.5@4.5s``) or a place ahead of the start (``step_up=0.03@2m``).
"""

from __future__ import annotations

from collections.abc import Iterable
import math
import re
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from walking_control.simulation.plant import Plant


class How(NamedTuple):
    """When, where and in which way a disturbance comes, where a touchdown alone does not say it."""

    phase: float = 0.0   # part of a step by which it comes after its touchdown, 0 up to 1
    time: float | None = None   # when it comes, s, instead of a touchdown; None: at the touchdown
    # where the floor changes, m ahead of the start, instead of a touchdown; None likewise
    place: float | None = None
    direction: float = 0.0   # where a push points, rad from ahead of the base to the left
    duration: float | None = None   # of a push, s, its force constant; None takes the plant's own
    link: str = ''   # the link that is pushed, at its centre of mass; ``''``: the base


LARGEST = {'push': (100.0, 'N s/kg'), 'side_push': (100.0, 'N s/kg'), 'step_down': (10.0, 'm'),
           'step_up': (10.0, 'm')}   # beyond it a size is a slip
PLAIN = How()   # at a touchdown, along the walk


class Disturbance(NamedTuple):
    """A one-off change of the walker's world."""

    # ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` or ``'side_push'`` (N
    # s per kg of robot)
    kind: str
    size: float
    step: int   # the touchdown it comes with, counted from 1; 0 where `how` says when or where
    how: How = PLAIN   # the rest

    def __str__(self) -> str:
        how, when = self.how, f'{self.step + self.how.phase:.10g}'
        if how.time is not None:
            when = f'{how.time:g}s'
        elif how.place is not None:
            when = f'{how.place:g}m'
        details = [f':direction={math.degrees(how.direction):.10g}'] if how.direction != 0.0 else []
        details += [f':duration={how.duration:g}'] if how.duration is not None else []
        details += [f':link={how.link}'] if how.link else []
        return f'{self.kind}={self.size:g}@{when}{"".join(details)}'


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
        disturbances: Each a `Disturbance` or a text of the form ``step_down=0.05@3``: at the third
            touchdown.

    Raises:
        InvalidInput: A text has another form, or the plant knows no such disturbance.
    """
    for item in disturbances:
        disturbance = parse_disturbance(item) if isinstance(item, str) else item
        plant.disturb(*disturbance)


_WHEN = re.compile(r'(\d+)(\.\d*)?|([0-9.eE+-]+)(s|m)')


def parse_disturbance(text: str) -> Disturbance:
    """Return the `Disturbance` of a text ``KIND=SIZE@WHEN:NAME=VALUE...``.

    Raises:
        InvalidInput: The text has another form.
    """
    kind, _, rest = text.partition('=')
    size, _, rest = rest.partition('@')
    when, *details = rest.split(':')
    found = _WHEN.fullmatch(when)
    value = _number(size)
    if not math.isfinite(value) or found is None:
        raise InvalidInput('disturbance', value=text, limit='must have the form kind=size@step',
                           remedy='for example step_down=0.05@3; push=0.5@12.25 comes a quarter of '
                           'a step later, push=0.5@4.5s at a time, step_up=0.03@2m at a place')
    how = PLAIN
    step, part, other, unit = found.groups()
    if part is not None:
        how = how._replace(phase=float(f'0{part}'))
    elif unit is not None:
        at = _number(other)
        if not at >= 0.0:
            raise InvalidInput(f'time or place of the disturbance {text}', value=other,
                               limit='must be a number from 0')
        how = how._replace(time=at) if unit == 's' else how._replace(place=at)
    for detail in details:
        how = _with_detail(how, detail, text)
    return Disturbance(kind, value, int(step or 0), how)


def _with_detail(how: How, detail: str, text: str) -> How:
    name, _, value = detail.partition('=')
    if name == 'link' and value:
        return how._replace(link=value)
    number = _number(value)
    if name == 'direction' and math.isfinite(number):
        return how._replace(direction=math.radians(number))
    if name == 'duration' and 0.0 <= number < math.inf:
        return how._replace(duration=number)
    raise InvalidInput(f'disturbance {text}', value=detail, limit='is no detail of a disturbance',
                       remedy='known: direction=DEGREES, duration=SECONDS, link=NAME')


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
