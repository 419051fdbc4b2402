# SPDX-License-Identifier: Apache-2.0
"""A step of bringing a robot up, what it may use, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from walking_control.exceptions import WalkingControlError
from walking_control.loading import load_robot
from walking_control.models.robot_file import RobotFile


@dataclass
class Outcome:
    """What came of a step.

    Args:
        ok: Whether it passed.
        what: In words what was found, or what stands in the way.
        value: The number that decided.
        limit: The limit it was held against, in words.
        remedy: What to do about it.
        figures: name -> number or text, for the report.
        files: Paths of what was written.
        robot_file: The robot file to go on with; empty: the one before.
    """

    ok: bool
    what: str
    value: Any = None
    limit: str | None = None
    remedy: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    robot_file: str = ''

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is kept in the journal."""
        return asdict(self)


def failure_of(error: WalkingControlError) -> Outcome:
    """Return the `Outcome` of a step that raised."""
    parts = error.as_dict()
    return Outcome(False, str(error), parts['value'], parts['limit'], parts['remedy'])


@dataclass
class Site:
    """Where a robot is brought up, and how.

    Args:
        path: Of the robot file that was given.
        folder: Where everything is written.
        speed: Asked for, m/s; None: found.
        duration: Of the walk that counts, s.
        evaluations: Points that tuning tries.
        seed: Of everything that is random.
        current: Of the robot file to go on with.
        done: name -> `Outcome` of the steps before.
        progress: Called with a line of text now and then.
    """

    path: Path
    folder: Path
    speed: float | None = None
    duration: float = 20.0
    evaluations: int = 12
    seed: int = 0
    current: Path = Path()
    done: dict[str, Outcome] = field(default_factory=dict)
    progress: Callable[[str], None] = print

    def load(self, **overrides: Any) -> RobotFile:
        """Return the `RobotFile` to go on with."""
        return load_robot(self.current, [(name.replace('__', '.'), value)
                                         for name, value in overrides.items()])

    def options(self) -> dict[str, Any]:
        """Return what steps depend on beside the robot."""
        return {'speed': self.speed, 'duration': self.duration, 'evaluations': self.evaluations,
                'seed': self.seed}


class Step(NamedTuple):
    """A step.

    Args:
        name: Its name.
        needs: Names of the steps that must have passed.
        run: Does it, given the `Site`.
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[Site], Outcome]
