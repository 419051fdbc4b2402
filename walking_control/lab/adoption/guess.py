# SPDX-License-Identifier: Apache-2.0
"""What adopting a robot guessed, how sure it is, and what was told instead."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOLD, HIGH, MEDIUM, LOW = 'told', 'high', 'medium', 'low'
REPAIRED = 'repaired'  # a slip of the description, not believed


@dataclass(frozen=True)
class Guess:
    """One thing the description did not say."""

    what: str  # of what
    value: Any  # the guess, in words or numbers
    confidence: str  # ``'told'``, ``'high'``, ``'medium'``, ``'low'`` or ``'repaired'``
    why: str  # what it rests on
    option: str = ''  # the option that says otherwise


@dataclass(frozen=True)
class Told:
    """What the user says instead of having it guessed; None or empty where he does not."""

    name: str | None = None  #: of the robot
    feet: tuple[str, ...] = ()  #: foot links
    base: str | None = None  #: ``'planar'`` or ``'free'``
    forward: str | None = None  #: axis of the description that points ahead: x, y, -x or -y
    mirror: dict[str, str] = field(default_factory=dict)  #: joint -> partner
    #: joint -> position at which it is made fixed
    fixed: dict[str, float] = field(default_factory=dict)
    efforts: dict[str, float] = field(default_factory=dict)  #: joint -> effort limit, N m or N
    #: joint -> inertia of its rotor, felt at the joint, kg m^2
    armatures: dict[str, float] = field(default_factory=dict)
    #: length and width of the soles, m; zeros make them points
    sole: tuple[float, float] | None = None
    #: joint -> position of the start posture
    posture: dict[str, float] = field(default_factory=dict)
    bend: float = 0.93  #: how much of its longest the leg is at the start
    strict: bool = False  #: whether a description that has to be repaired is refused


@dataclass
class Description:
    """A robot description, read from any format."""

    name: str  # of the robot
    urdf: str  # URDF text, meshes by their paths
    path: Path  # where it was read from
    kind: str  # ``'URDF'``, ``'MJCF'`` or ``'SDF'``
    guesses: list[Guess] = field(default_factory=list)  # what reading it took
    # joint -> rotor inertia at the joint, kg m^2, where the format has one
    armatures: dict[str, float] = field(default_factory=dict)
