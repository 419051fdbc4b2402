# SPDX-License-Identifier: Apache-2.0
"""Pushes on robots in space: when they begin, and the force that acts meanwhile.

A push is a constant force along the floor at the centre of mass of a link, for a time. It begins
at a time, or at a touchdown or a part of a step after one. What a touchdown is, the plant itself
says: a foot carries that had carried nothing for a while.
"""

from collections.abc import Callable, Sequence
import math
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.models.robot import Robot
from walking_control.simulation.disturbance import How

DURATION = 0.1     # s: how long a push lasts unless told otherwise
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
                self.count, self.last = self.count + 1, time
                self._times = [*self._times[-2:], time]
                if len(self._times) > 1:
                    self.period = (time - self._times[0]) / (len(self._times) - 1)
            self._left[foot] = time


class Push(NamedTuple):
    """A planned push.

    Attributes:
        impulse: N s.
        direction: rad from ahead of the base to the left.
        steps: Physics steps it lasts; 0: at once.
        body: Index of the pushed body in the engine.
        touchdown: The touchdown it comes with; 0 where `time` says when.
        phase: Part of a step by which it comes later.
        time: When it comes, s.
    """

    impulse: float
    direction: float
    steps: int
    body: int
    touchdown: int = 0
    phase: float = 0.0
    time: float = 0.0

    def is_due(self, time: float, touchdowns: Touchdowns) -> bool:
        """Return whether it begins now."""
        if self.touchdown == 0:
            return time >= self.time - EARLY
        if touchdowns.count != self.touchdown:   # a later one without it: the step was short
            return touchdowns.count > self.touchdown
        return time >= touchdowns.last + self.phase * touchdowns.period - EARLY


class Pushes:
    """All pushes of a robot in space: planned, still to come, acting.

    Args:
        feet: Number of feet.
        weight: Of the robot, N.
        timestep: Of the physics, s.

    Attributes:
        touchdowns: The `Touchdowns`.
    """

    def __init__(self, feet: int, weight: float, timestep: float) -> None:
        self._timestep = timestep
        self.touchdowns = Touchdowns(feet, weight)
        self._planned: list[Push] = []
        self.reset()

    def reset(self) -> None:
        """Begin a run: all that is planned is still to come."""
        self.touchdowns.reset()
        self._waiting = list(self._planned)
        self._acting: list[tuple[np.ndarray, int, int]] = []   # (force, body, steps left)

    def plan(self, push: Push) -> None:
        """Plan a push for every run, that under way included."""
        self._planned.append(push)
        self._waiting.append(push)

    @property
    def are_over(self) -> bool:
        """Whether nothing acts and nothing is still to come."""
        return not self._waiting and not self._acting

    def begin(self, time: float, yaw: float) -> list[tuple[float, float]]:
        """Begin what is due; return (impulse, direction in the floor frame) of pushes at once.

        Args:
            time: Now, s.
            yaw: Of the base, rad.
        """
        at_once = []
        for push in [push for push in self._waiting if push.is_due(time, self.touchdowns)]:
            self._waiting.remove(push)
            direction = push.direction + yaw
            if push.steps == 0:
                at_once.append((push.impulse, direction))
                continue
            size = push.impulse / (push.steps * self._timestep)
            force = size * np.array([math.cos(direction), math.sin(direction), 0.0])
            self._acting.append((force, push.body, push.steps))
        return at_once

    def apply(self, applied: np.ndarray) -> None:
        """Set the external forces ``(n_bodies, 6)`` of the coming physics step."""
        applied[:] = 0.0
        for force, body, _ in self._acting:
            applied[body, :3] += force
        self._acting = [(force, body, left - 1) for force, body, left in self._acting if left > 1]


def make_push(robot: Robot, find_body: Callable[[str], int], timestep: float, impulse: float,
              step: int, how: How) -> Push:
    """Return the `Push` of a disturbance.

    Args:
        robot: The `Robot`.
        find_body: Gives the index of a link's body in the engine, below 0 of what is none.
        timestep: Of the physics, s.
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
    link = how.link or robot.base_link
    body = find_body(link)
    if body < 0:
        raise InvalidInput('link of the push', value=link, limit=f'is none of {robot.name}',
                           remedy='leave it out to push the base, or take a link of the URDF')
    duration = DURATION if how.duration is None else how.duration
    steps = round(duration / timestep)
    if duration > 0.0 and steps < 1:
        raise InvalidInput('duration of the push', value=duration, limit='is shorter than '
                           f'the timestep of the plant ({timestep:g} s)',
                           remedy='give duration=0: at once')
    if steps == 0 and link != robot.base_link:
        raise InvalidInput('link of the push', value=link, limit='a push at once is of the base',
                           remedy='give a duration above 0')
    return Push(impulse, how.direction, steps, body, step, how.phase, how.time or 0.0)
