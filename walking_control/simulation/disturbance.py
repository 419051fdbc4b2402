# SPDX-License-Identifier: Apache-2.0
"""Disturbances: one-off changes of a world, told in words, and pushes while they act.

In words ``KIND=SIZE@WHEN``, with ``:NAME=VALUE`` for the rest. WHEN is a touchdown
(``push=0.5@12``), a part of a step after one (``push=0.5@12.25``), a time (``push=0.5@4.5s``) or a
place ahead of the start (``step_up=0.03@2m``).

A push is a constant force along the floor at the centre of mass of a link, for a time, or an
impulse on the base. What a touchdown is, the engine says where it knows; elsewhere a foot carries
that had carried nothing for a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import math
import re
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput, require
from walking_control.simulation.engine import Engine, Forces

if TYPE_CHECKING:
    from walking_control.simulation.plant import Plant


class How(NamedTuple):
    """When, where and in which way a disturbance comes, where a touchdown alone does not say it.

    Attributes:
        phase: Part of a step by which it comes after its touchdown, 0 up to 1.
        time: When it comes, s, instead of a touchdown; None: at the touchdown.
        place: Where the floor changes, m ahead of the start, instead of a touchdown; None likewise.
        direction: Where a push points, rad from ahead of the base to the left.
        duration: Of a push, s, its force constant; None takes the plant's own.
        link: The link that is pushed, at its centre of mass; ``''``: the base.
    """

    phase: float = 0.0
    time: float | None = None  # when it comes, s, instead of a touchdown; None: at the touchdown
    # where the floor changes, m ahead of the start, instead of a touchdown; None likewise
    place: float | None = None
    direction: float = 0.0
    duration: float | None = None
    link: str = ''


LARGEST = {
    'push': (100.0, 'N s/kg'),
    'side_push': (100.0, 'N s/kg'),
    'step_down': (10.0, 'm'),
    'step_up': (10.0, 'm'),
}  # beyond it a size is a slip
PLAIN = How()  # at a touchdown, along the walk


class Disturbance(NamedTuple):
    """A one-off change of the walker's world.

    Attributes:
        kind: ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` or
            ``'side_push'`` (N s per kg of robot).
        size: Its size.
        step: The touchdown it comes with, counted from 1; 0 where `how` says when or where.
        how: The rest.
    """

    # ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` or ``'side_push'`` (N
    # s per kg of robot)
    kind: str
    size: float
    step: int
    how: How = PLAIN

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


LAST_FOOTHOLD = 61  # as far as plants plan


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
        raise InvalidInput(
            'disturbance',
            value=text,
            limit='must have the form kind=size@step',
            remedy='for example step_down=0.05@3; push=0.5@12.25 comes a quarter of '
            'a step later, push=0.5@4.5s at a time, step_up=0.03@2m at a place',
        )
    how = PLAIN
    step, part, other, unit = found.groups()
    if part is not None:
        how = how._replace(phase=float(f'0{part}'))
    elif unit is not None:
        at = _number(other)
        require(
            at >= 0.0,
            f'time or place of the disturbance {text}',
            value=other,
            limit='must be a number from 0',
        )
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
    raise InvalidInput(
        f'disturbance {text}',
        value=detail,
        limit='is no detail of a disturbance',
        remedy='known: direction=DEGREES, duration=SECONDS, link=NAME',
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


FIRST_WITH_PHASE = 3
CARRIES = 0.02  # of the weight: a foot with less stands on nothing
AIRBORNE = 0.05  # s: a foot that was off the floor for less has bounced, not stepped
EARLY = 1e-9  # s: times are sums of timesteps


class Touchdowns:
    """Counts the touchdowns of all feet.

    Args:
        feet: Number of feet.
        weight: Of the robot, N.

    Attributes:
        count: Touchdowns so far.
        last: Time of the last one, s.
        period: Mean time of the last two steps, s; 0 as long as there were none.
    """

    def __init__(self, feet: int, weight: float) -> None:
        self._least = CARRIES * weight
        self._feet = feet
        self.reset()

    def reset(self) -> None:
        """Begin with all feet on the floor."""
        self._left = [0.0] * self._feet  # when each foot last carried
        self._times: list[float] = []
        self.count, self.last, self.period = 0, 0.0, 0.0

    def follow(self, time: float, normal_force: Sequence[float]) -> None:
        """Take note of the normal force on each foot at a time.

        Args:
            time: s.
            normal_force: On each foot, N, ``(n_feet,)``.
        """
        for foot, force in enumerate(normal_force):
            if force < self._least:
                continue
            if time - self._left[foot] > AIRBORNE:
                self._note(time)
            self._left[foot] = time

    def count_to(self, time: float, count: int) -> None:
        """Take note of how many the engine has counted at a time.

        Args:
            time: s.
            count: Touchdowns so far.
        """
        while self.count < count:
            self._note(time)

    def _note(self, time: float) -> None:
        self.count, self.last = self.count + 1, time
        self._times = [*self._times[-2:], time]
        if len(self._times) > 1:
            self.period = (time - self._times[0]) / (len(self._times) - 1)


class Push(NamedTuple):
    """A planned push.

    Attributes:
        impulse: N s.
        direction: rad from ahead of the base to the left.
        duration: s; 0: at once.
        link: Index of the pushed link in the engine.
        touchdown: The touchdown it comes with; 0 where `time` says when.
        phase: Part of a step by which it comes later.
        time: When it comes, s.
    """

    impulse: float
    direction: float
    duration: float
    link: int
    touchdown: int = 0
    phase: float = 0.0
    time: float = 0.0

    def is_due(self, time: float, touchdowns: Touchdowns) -> bool:
        """Return whether it begins now.

        Args:
            time: s.
            touchdowns: The `Touchdowns` of the run.
        """
        if self.touchdown == 0:
            return time >= self.time - EARLY
        if touchdowns.count != self.touchdown:  # a later one without it: the step was short
            return touchdowns.count > self.touchdown
        return time >= touchdowns.last + self.phase * touchdowns.period - EARLY


class Pushes:
    """All pushes of a robot: planned, still to come, acting.

    Args:
        touchdowns: The `Touchdowns` of the walk.
    """

    def __init__(self, touchdowns: Touchdowns) -> None:
        self._touchdowns = touchdowns
        self._planned: list[Push] = []
        self.reset()

    def reset(self) -> None:
        """Begin a run: all that is planned is still to come."""
        self._waiting = list(self._planned)
        self._acting: list[tuple[int, np.ndarray, float]] = []  # (link, force, time left)

    def plan(self, push: Push) -> None:
        """Plan a push for every run, that under way included."""
        self._planned.append(push)
        self._waiting.append(push)

    @property
    def are_over(self) -> bool:
        """Whether nothing acts and nothing is still to come."""
        return not self._waiting and not self._acting

    def begin(self, time: float, yaw: float) -> list[np.ndarray]:
        """Begin what is due; return the impulses of pushes at once, N s, ``(3,)`` each.

        Args:
            time: Now, s.
            yaw: Of the base, rad.
        """
        at_once = []
        for push in [push for push in self._waiting if push.is_due(time, self._touchdowns)]:
            self._waiting.remove(push)
            if push.duration == 0.0:
                at_once.append(along_floor(push.impulse, push.direction + yaw))
            else:
                self._acting.append(
                    (
                        push.link,
                        along_floor(push.impulse / push.duration, push.direction + yaw),
                        push.duration,
                    )
                )
        return at_once

    def forces(self, h: float) -> Forces:
        """Return the mean forces of the coming time h, s, which then is over."""
        acting = [
            (link, force if left >= h - EARLY else force * (left / h))
            for link, force, left in self._acting
        ]
        self._acting = [
            (link, force, left - h) for link, force, left in self._acting if left > h + EARLY
        ]
        return acting


def along_floor(size: float, direction: float) -> np.ndarray:
    """Return a vector along the floor, ``(3,)``; direction in rad from x towards y.

    Args:
        size: Of the vector.
        direction: rad from x towards y.
    """
    return size * np.array([math.cos(direction), math.sin(direction), 0.0])


def make_push(engine: Engine, impulse: float, step: int, how: How) -> Push:
    """Return the `Push` of a disturbance.

    Args:
        engine: The `Engine` whose robot is pushed.
        impulse: N s.
        step: Its touchdown.
        how: The rest.

    Raises:
        InvalidInput: It comes at a place or too early, on no link, or is too short.
    """
    require(
        how.place is None,
        'place of a push',
        value=how.place,
        limit='pushes come at a touchdown or a time',
        remedy='for example push=0.5@12.25 or push=0.5@4.5s',
    )
    require(
        how.phase <= 0.0 or step >= FIRST_WITH_PHASE,
        'touchdown of the push',
        value=step + how.phase,
        limit=f'a part of a step is told by the two before: must be from {FIRST_WITH_PHASE}',
    )
    base, timestep = engine.robot.base_link, engine.resolution
    link = how.link or base
    index = engine.link_index(link)
    require(
        index >= 0 or link == base,
        'link of the push',
        value=link,
        limit=f'is none of {engine.robot.name}',
        remedy='leave it out to push the base, or take a link of the URDF',
    )
    duration = engine.push_duration if how.duration is None else how.duration
    if timestep > 0.0:
        steps = round(duration / timestep)
        require(
            duration <= 0.0 or steps >= 1,
            'duration of the push',
            value=duration,
            limit=f'is shorter than the timestep of the plant ({timestep:g} s)',
            remedy='give duration=0: at once',
        )
        duration = steps * timestep
    require(
        duration != 0.0 or link == base,
        'link of the push',
        value=link,
        limit='a push at once is of the base',
        remedy='give a duration above 0',
    )
    return Push(impulse, how.direction, duration, index, step, how.phase, how.time or 0.0)
