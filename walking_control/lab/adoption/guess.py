# SPDX-License-Identifier: Apache-2.0
"""What adopting a robot guessed, how sure it is, and what was told instead."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOLD, HIGH, MEDIUM, LOW = 'told', 'high', 'medium', 'low'
REPAIRED = 'repaired'  # a slip of the description, not believed


@dataclass(frozen=True)
class Guess:
    """One thing the description did not say.

    Args:
        what: Of what.
        value: The guess, in words or numbers.
        confidence: ``'told'``, ``'high'``, ``'medium'``, ``'low'`` or ``'repaired'``.
        why: What it rests on.
        option: The option that says otherwise.
    """

    what: str
    value: Any
    confidence: str
    why: str
    option: str = ''


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
        drives: Name or path of a file of drives.
        foot_forces: What tells the forces on the feet; None: sensors.
        xacro_args: Argument of a xacro -> value.
    """

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
    drives: str | None = None  #: name or path of a file of drives
    foot_forces: str | None = None  #: what tells the forces on the feet: sensors, or motors
    xacro_args: dict[str, str] = field(default_factory=dict)  #: argument of a xacro -> value


@dataclass
class Description:
    """A robot description, read from any format.

    Args:
        name: Of the robot.
        urdf: URDF text, meshes by their paths.
        path: Where it was read from.
        kind: ``'URDF'``, ``'MJCF'`` or ``'SDF'``.
        guesses: What reading it took.
        armatures: joint -> rotor inertia at the joint, kg m^2, where the format has one.
    """

    name: str
    urdf: str
    path: Path
    kind: str
    guesses: list[Guess] = field(default_factory=list)  # what reading it took
    # joint -> rotor inertia at the joint, kg m^2, where the format has one
    armatures: dict[str, float] = field(default_factory=dict)
