# SPDX-License-Identifier: Apache-2.0
"""What a policy's network takes and gives: read from YAML, deploy.yaml or the network's metadata.

The angles asked of the joints are q* = default + scale a, with the network's action a; the motors
give stiffness (q* - q) - damping q'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from walking_control.controllers.policy.formats import is_deployment, of_deployment, of_metadata
from walking_control.exceptions import require, require_known, RobotFileError
from walking_control.models import finite, mapping, policy_path, read_yaml

# term -> how many numbers it has; None: one for each joint
TERMS: dict[str, int | None] = {
    'base_linear_velocity': 3,
    'base_angular_velocity': 3,
    'projected_gravity': 3,
    'command': 3,
    'command_linear': 2,
    'command_turn': 1,
    'joint_position': None,
    'joint_velocity': None,
    'last_action': None,
    'phase_cos': 2,
    'phase_sin': 2,
    'clock_cos': 1,
    'clock_sin': 1,
}
_KEYS = {
    'rate',
    'metadata',
    'action_scale',
    'joints',
    'held',
    'observation',
    'clock',
    'limits',
    'standstill',
}
_JOINT_KEYS = {'default', 'scale', 'stiffness', 'damping', 'observed'}
NO_CLIP = 1e6
STANDSTILLS = ('stands', 'steps')


@dataclass(frozen=True)
class Term:
    """A part of the observation.

    Args:
        name: One of `TERMS`.
        scale: Factor, one for all or one for each of its numbers.
        clip: Largest magnitude after scaling.
        history: How many observations of it the network takes, the oldest first; those before the
            first are like it.
    """

    name: str
    scale: np.ndarray
    clip: float
    history: int


@dataclass(frozen=True)
class JointGains:
    """What is asked of joints, an array element each.

    Args:
        names: Joints, in the order of the network.
        default: Angles at an action of zero, rad.
        scale: Angle per action, rad.
        stiffness: N m/rad.
        damping: N m s/rad.
        observed: 1 where the network sees the joint, else 0.
    """

    names: tuple[str, ...]
    default: np.ndarray
    scale: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    observed: np.ndarray

    def document(self) -> dict[str, dict[str, Any]]:
        """Return what a YAML file says of them: name -> key -> value."""
        keys = 'default', 'scale', 'stiffness', 'damping'
        columns = np.column_stack([getattr(self, key) for key in keys])
        rows = {
            name: dict(zip(keys, row, strict=True))
            for name, row in zip(self.names, columns.tolist(), strict=True)
        }
        for name in np.array(self.names)[self.observed == 0.0]:
            rows[name]['observed'] = False
        return rows


@dataclass(frozen=True)
class Clock:
    """What turns the phases that a network sees.

    Args:
        frequency: At rest, Hz.
        per_speed: How much faster per length of the command, Hz s/m.
        most: Largest frequency, Hz.
        start: The two phases at the start, rad.
    """

    frequency: float
    per_speed: float
    most: float
    start: tuple[float, float]

    def rate(self, speed: float) -> float:
        """Return the rate of the phases at a length of the command, rad/s."""
        return 2.0 * math.pi * min(self.frequency + self.per_speed * speed, self.most)


@dataclass(frozen=True)
class PolicyDescription:
    """What a network takes and gives.

    Args:
        rate: How often it is asked, Hz.
        joints: Those it moves.
        held: Those that are held at their default.
        terms: Of the observation, in its order.
        clock: `Clock` of its phases.
        limits: Largest speed ahead, sideways (m/s) and of turning (rad/s) it was trained for.
        standstill: What it does at a command of zero; None: not told.
    """

    rate: float
    joints: JointGains
    held: JointGains
    terms: tuple[Term, ...]
    clock: Clock
    limits: tuple[float, float, float]
    standstill: str | None

    @property
    def size(self) -> int:
        """Return how many numbers the observation has."""
        return sum(self.count(term) for term in self.terms)

    def count(self, term: Term) -> int:
        """Return how many numbers a term has, its history counted."""
        return (TERMS[term.name] or len(self.joints.names)) * term.history

    def document(self) -> dict[str, Any]:
        """Return what its YAML file says, in plain types."""
        told: dict[str, Any] = {
            'rate': self.rate,
            'metadata': False,  # all stands here
            'observation': [
                {
                    'term': term.name,
                    'scale': term.scale.tolist() if term.scale.size > 1 else term.scale.item(),
                }
                | ({'clip': term.clip} if term.clip < NO_CLIP else {})
                | ({'history': term.history} if term.history > 1 else {})
                for term in self.terms
            ],
            'clock': {**vars(self.clock), 'start': [*self.clock.start]},
            'limits': [*self.limits],
            'joints': self.joints.document(),
        }
        if self.held.names:
            told['held'] = self.held.document()
        return told | ({'standstill': self.standstill} if self.standstill else {})

    def write(self, path: Path) -> None:
        """Write its YAML file."""
        path.write_text(yaml.safe_dump(self.document(), sort_keys=False), encoding='utf-8')


def read_description(
    file: Path, config: str, metadata: Mapping[str, str], motors: Sequence[str]
) -> PolicyDescription:
    """Return the description of a network.

    Args:
        file: Of the network.
        config: Path of a YAML file, ours or a ``deploy.yaml`` of unitree_rl_lab, or name of a
            shipped one; empty takes ``file`` with the ending ``.yaml``, if it exists.
        metadata: Of the network: name -> text.
        motors: Of the robot, in the order in which its maker numbers them.

    Raises:
        InvalidInput: Nobody tells it, or what is told is incomplete or contradicts itself.
    """
    path = policy_path(config) if config else file.with_suffix('.yaml')
    told = of_metadata(metadata)
    if config or path.is_file():
        own = mapping(read_yaml(path, f'policy file {path}'), f'policy file {path}')
        if is_deployment(own):
            own = of_deployment(own, motors)
        if own.get('metadata') is False:
            told = {}
        joints = mapping(own.get('joints', {}), 'policy: joints')
        # the network's order counts; the file adds what its metadata leaves out
        merged = {
            name: {**row, **mapping(joints.get(name, {}), f'policy: joints.{name}')}
            for name, row in told.get('joints', {}).items()
        }
        told = {**told, **own, 'joints': {**merged, **joints, **merged}}
    try:
        return _describe(told)
    except RobotFileError as error:
        error.remedy = error.remedy or f'write it into {path}; doc/controllers/policy.md shows one'
        raise


def _describe(told: Mapping[str, Any]) -> PolicyDescription:
    _known(told, _KEYS, 'the policy file')
    for key in ('rate', 'joints', 'observation'):
        require(key in told, f'policy: {key}', limit='is missing', error=RobotFileError)
    joints = _read_joints(told['joints'], told.get('action_scale', 1.0), 'joints')
    seen = told['observation']
    require(
        isinstance(seen, list) and seen,
        'policy: observation',
        value=seen,
        limit='must be a list of terms',
        error=RobotFileError,
    )
    terms = tuple(_read_term(entry, len(joints.names)) for entry in seen)
    limits = _numbers(told.get('limits', [1.0, 0.5, 1.0]), 3, 'policy: limits')
    standstill = told.get('standstill')
    require(
        standstill in (None, *STANDSTILLS),
        'policy: standstill',
        value=standstill,
        limit=f'must be one of {STANDSTILLS}',
        error=RobotFileError,
    )
    return PolicyDescription(
        finite(told['rate'], 'policy: rate', 1.0, 1000.0),
        joints,
        _read_joints(told.get('held', {}), 0.0, 'held'),
        terms,
        _read_clock(told.get('clock', {})),
        (limits[0], limits[1], limits[2]),
        standstill,
    )


def _read_clock(entry: object) -> Clock:
    told = mapping(entry, 'policy: clock')
    _known(told, {'frequency', 'per_speed', 'most', 'start'}, 'policy: clock')
    frequency = finite(told.get('frequency', 0.0), 'policy: clock.frequency', 0.0, 100.0)
    start = _numbers(told.get('start', [0.0, math.pi]), 2, 'policy: clock.start')
    return Clock(
        frequency,
        finite(told.get('per_speed', 0.0), 'policy: clock.per_speed', 0.0, 100.0),
        finite(told.get('most', 100.0), 'policy: clock.most', 0.0, 100.0),
        (start[0], start[1]),
    )


def _read_joints(told: object, scale: object, what: str) -> JointGains:
    rows = mapping(told, f'policy: {what}')
    columns = []
    for name, entry in rows.items():
        entry = mapping(entry, f'policy: {what}.{name}')
        _known(entry, _JOINT_KEYS, f'policy: {what}.{name}')
        place = f'policy: {what}.{name}'
        columns.append(
            [
                finite(entry.get('default', 0.0), f'{place}.default', -10.0, 10.0),
                finite(entry.get('scale', scale), f'{place}.scale', -100.0, 100.0),
                finite(entry.get('stiffness'), f'{place}.stiffness', 0.0, 1e5),
                finite(entry.get('damping', 0.0), f'{place}.damping', 0.0, 1e4),
                float(bool(entry.get('observed', True))),
            ]
        )
    return JointGains(tuple(rows), *np.array(columns).reshape(-1, 5).T.copy())


def _read_term(entry: object, joints: int) -> Term:
    told = {'term': entry} if isinstance(entry, str) else mapping(entry, 'policy: observation')
    name = str(told.get('term'))
    _known({name: None}, set(TERMS), 'policy: observation')
    _known(told, {'term', 'scale', 'clip', 'history'}, f'policy: observation.{name}')
    scale = told.get('scale', 1.0)
    count = TERMS[name] or joints
    values = _numbers(scale, count, f'policy: {name}.scale') if isinstance(scale, list) else [scale]
    history = finite(told.get('history', 1), f'policy: {name}.history', 1, 1000)
    return Term(
        name,
        np.array([finite(value, f'policy: {name}.scale') for value in values]),
        finite(told.get('clip', NO_CLIP), f'policy: {name}.clip', 0.0),
        int(history),
    )


def _numbers(value: Any, count: int, what: str) -> list[float]:
    require(
        isinstance(value, list) and len(value) == count,
        what,
        value=value,
        limit=f'must be a list of {count} numbers',
        error=RobotFileError,
    )
    return [finite(each, what) for each in value]


def _known(told: Mapping[str, Any], known: set[str], what: str) -> None:
    """Refuse a name that nobody reads, with the nearest one that somebody does."""
    for name in told:
        require_known(name, sorted(known), f'{what}: {name}', RobotFileError, limit='is unknown')
