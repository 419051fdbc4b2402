# SPDX-License-Identifier: Apache-2.0
"""Pushes: when they begin, and the force that acts meanwhile.

A push is a constant force along the floor at the centre of mass of a link, for a time, or an
impulse on the base. It begins at a time, or at a touchdown or a part of a step after one. What a
touchdown is, the engine says where it knows; elsewhere a foot carries that had carried nothing for
a while.
"""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.simulation.disturbance import How
from walking_control.simulation.engine import Engine, Forces

FIRST_WITH_PHASE = 3
CARRIES = 0.02     # of the weight: a foot with less stands on nothing
AIRBORNE = 0.05    # s: a foot that was off the floor for less has bounced, not stepped
EARLY = 1e-9       # s: times are sums of timesteps


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
        self._left = [0.0] * self._feet   # when each foot last carried
        self._times: list[float] = []
        self.count, self.last, self.period = 0, 0.0, 0.0

    def follow(self, time: float, normal_force: Sequence[float]) -> None:
        """Take note of the normal force on each foot at a time."""
        for foot, force in enumerate(normal_force):
            if force < self._least:
                continue
            if time - self._left[foot] > AIRBORNE:
                self._note(time)
            self._left[foot] = time

    def count_to(self, time: float, count: int) -> None:
        """Take note of how many the engine has counted at a time."""
        while self.count < count:
            self._note(time)

    def _note(self, time: float) -> None:
        self.count, self.last = self.count + 1, time
        self._times = [*self._times[-2:], time]
        if len(self._times) > 1:
            self.period = (time - self._times[0]) / (len(self._times) - 1)


class Push(NamedTuple):
    """A planned push."""

    impulse: float   # N s
    direction: float   # rad from ahead of the base to the left
    duration: float   # s; 0: at once
    link: int   # index of the pushed link in the engine
    touchdown: int = 0   # the touchdown it comes with; 0 where `time` says when
    phase: float = 0.0   # part of a step by which it comes later
    time: float = 0.0   # when it comes, s

    def is_due(self, time: float, touchdowns: Touchdowns) -> bool:
        """Return whether it begins now."""
        if self.touchdown == 0:
            return time >= self.time - EARLY
        if touchdowns.count != self.touchdown:   # a later one without it: the step was short
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
        self._acting: list[tuple[int, np.ndarray, float]] = []   # (link, force, time left)

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
                self._acting.append((push.link, along_floor(
                    push.impulse / push.duration, push.direction + yaw), push.duration))
        return at_once

    def forces(self, h: float) -> Forces:
        """Return the mean forces of the coming time h, s, which then is over."""
        acting = [(link, force if left >= h - EARLY else force * (left / h))
                  for link, force, left in self._acting]
        self._acting = [(link, force, left - h) for link, force, left in self._acting
                        if left > h + EARLY]
        return acting


def along_floor(size: float, direction: float) -> np.ndarray:
    """Return a vector along the floor, ``(3,)``; direction in rad from x towards y."""
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
    if how.place is not None:
        raise InvalidInput('place of a push', value=how.place, limit='pushes come at a touchdown '
                           'or a time', remedy='for example push=0.5@12.25 or push=0.5@4.5s')
    if how.phase > 0.0 and step < FIRST_WITH_PHASE:
        raise InvalidInput('touchdown of the push', value=step + how.phase,
                           limit='a part of a step is told by the two before: must be from '
                           f'{FIRST_WITH_PHASE}')
    base, timestep = engine.robot.base_link, engine.resolution
    link = how.link or base
    index = engine.link_index(link)
    if index < 0 and link != base:
        raise InvalidInput('link of the push', value=link, limit=f'is none of {engine.robot.name}',
                           remedy='leave it out to push the base, or take a link of the URDF')
    duration = engine.push_duration if how.duration is None else how.duration
    if timestep > 0.0:
        steps = round(duration / timestep)
        if duration > 0.0 and steps < 1:
            raise InvalidInput('duration of the push', value=duration, limit='is shorter than '
                               f'the timestep of the plant ({timestep:g} s)',
                               remedy='give duration=0: at once')
        duration = steps * timestep
    if duration == 0.0 and link != base:
        raise InvalidInput('link of the push', value=link, limit='a push at once is of the base',
                           remedy='give a duration above 0')
    return Push(impulse, how.direction, duration, index, step, how.phase, how.time or 0.0)

