# SPDX-License-Identifier: Apache-2.0
"""What adopting a robot guessed, how sure it is, and what was told instead."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOLD, HIGH, MEDIUM, LOW = 'told', 'high', 'medium', 'low'
REPAIRED = 'repaired'   # a slip of the description, not believed


@dataclass(frozen=True)
class Guess:
    """One thing the description did not say."""
    what: str   # of what
    value: Any   # the guess, in words or numbers
    confidence: str   # ``'told'``, ``'high'``, ``'medium'``, ``'low'`` or ``'repaired'``
    why: str   # what it rests on
    option: str = ''   # the option that says otherwise


@dataclass(frozen=True)
class Told:
    """What the user says instead of having it guessed; None or empty where he does not.

    Args:
        name: Of the robot.
        feet: Foot links.
        base: ``'planar'`` or ``'free'``.
        forward: Axis of the description that points ahead: x, y, -x or -y.
        mirror: joint -> partner.
        fixed: joint -> position at which it is made fixed.
        efforts: joint -> effort limit, N m or N.
        armatures: joint -> inertia of its rotor, felt at the joint, kg m^2.
        sole: Length and width of the soles, m; zeros make them points.
        posture: joint -> position of the start posture.
        bend: How much of its longest the leg is at the start.
        strict: Whether a description that has to be repaired is refused.
    """

    name: str | None = None
    feet: tuple[str, ...] = ()
    base: str | None = None
    forward: str | None = None
    mirror: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, float] = field(default_factory=dict)
    efforts: dict[str, float] = field(default_factory=dict)
    armatures: dict[str, float] = field(default_factory=dict)
    sole: tuple[float, float] | None = None
    posture: dict[str, float] = field(default_factory=dict)
    bend: float = 0.93
    strict: bool = False


@dataclass
class Description:
    """A robot description, read from any format."""
    name: str   # of the robot
    urdf: str   # URDF text, meshes by their paths
    path: Path   # where it was read from
    kind: str   # ``'URDF'``, ``'MJCF'`` or ``'SDF'``
    guesses: list[Guess] = field(default_factory=list)   # what reading it took
    # joint -> rotor inertia at the joint, kg m^2, where the format has one
    armatures: dict[str, float] = field(default_factory=dict)
