# SPDX-License-Identifier: Apache-2.0
"""What others write about their networks, in the words of our own YAML.

mjlab and BeyondMimic write texts separated by commas into the network (joint_names,
joint_stiffness, joint_damping, default_joint_pos, action_scale, observation_names), holosoma JSON
lists (dof_names, kp, kd). unitree_rl_lab writes a ``deploy.yaml`` beside it, which numbers motors
instead of naming them.
"""

from collections.abc import Mapping, Sequence
import json
import math
from typing import Any

from walking_control.exceptions import refusing, require, RobotFileError
from walking_control.models.yaml_text import finite, mapping

# the names that exporters write
_ALIASES = {
    'base_lin_vel': 'base_linear_velocity',
    'base_ang_vel': 'base_angular_velocity',
    'velocity_commands': 'command',
    'joint_pos': 'joint_position',
    'joint_pos_rel': 'joint_position',
    'joint_vel': 'joint_velocity',
    'joint_vel_rel': 'joint_velocity',
    'actions': 'last_action',
}
_RANGES = 'lin_vel_x', 'lin_vel_y', 'ang_vel_z'
_SAME = 1e-6  # rad: angles that differ by less are one


def of_metadata(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return what a network's own metadata says, as far as its names are in use.

    Args:
        metadata: Name -> text.

    Raises:
        InvalidInput: It cannot be read.
    """

    def read(key: str) -> list[Any]:
        text = metadata.get(key, '')
        if text.startswith(('[', '{')):
            return list(json.loads(text))
        return [each.strip() for each in text.split(',') if each.strip()]

    told: dict[str, Any] = {}
    with refusing(
        (ValueError, TypeError, IndexError),
        'metadata of the policy',
        limit='cannot be read: {error}',
    ):
        names = read('joint_names') or read('dof_names')
        if not names:
            return told
        columns = {
            'stiffness': read('joint_stiffness') or read('kp'),
            'damping': read('joint_damping') or read('kd'),
            'default': read('default_joint_pos'),
            'scale': read('action_scale'),
        }
        told['joints'] = {
            str(name): {key: float(c[i % len(c)]) for key, c in columns.items() if c}
            for i, name in enumerate(names)
        }
        if metadata.get('observation_names'):
            told['observation'] = [_ALIASES.get(name, name) for name in read('observation_names')]
    return told


def is_deployment(told: Mapping[str, Any]) -> bool:
    """Return whether a YAML document is a ``deploy.yaml`` of unitree_rl_lab."""
    return 'joint_ids_map' in told


def of_deployment(told: Mapping[str, Any], motors: Sequence[str]) -> dict[str, Any]:
    """Return what a ``deploy.yaml`` says.

    Its ``joint_ids_map`` gives for each joint of the network the number of its motor. Stiffness and
    damping stand in the order of the motors, all else in that of the network.

    Args:
        told: The document.
        motors: Names of the robot's motors, in the order in which its maker numbers them.

    Raises:
        RobotFileError: Something is missing, or is not of this kind.
    """
    places = _list(told, 'joint_ids_map')
    for place in places:
        require(
            isinstance(place, int) and 0 <= place < len(motors),
            'deploy.yaml: joint_ids_map',
            value=place,
            limit=f'the robot has the motors 0 to {len(motors) - 1}',
            remedy='name the joints in a YAML of our own',
            error=RobotFileError,
        )
    action = mapping(_part(told, 'actions', 'JointPositionAction'), 'deploy.yaml: actions')
    defaults, scales, offsets = (
        _numbers(rows, key, len(places))
        for rows, key in ((told, 'default_joint_pos'), (action, 'scale'), (action, 'offset'))
    )
    require(
        not action.get('clip') and all(abs(a - b) <= _SAME for a, b in zip(defaults, offsets)),
        'deploy.yaml: actions',
        limit='has a clip, or an offset other than default_joint_pos, which nobody reads here',
        error=RobotFileError,
    )
    gains = [_numbers(told, key, 1 + max(places)) for key in ('stiffness', 'damping')]
    step = finite(told.get('step_dt'), 'deploy.yaml: step_dt', 1e-3, 1.0)
    terms: list[dict[str, Any]] = []
    clock = {}
    for name, row in mapping(told.get('observations'), 'deploy.yaml: observations').items():
        row = mapping(row, f'deploy.yaml: observations.{name}')
        if name == 'gait_phase':
            period = finite(_part(row, 'params', 'period'), f'deploy.yaml: {name}.period', 0.01)
            begin = 2.0 * math.pi * step / period  # it turns before it is looked at
            clock = {'frequency': 1.0 / period, 'start': [begin, begin + math.pi]}
            terms += [{'term': 'clock_sin'}, {'term': 'clock_cos'}]
        else:
            terms.append(_term(name, row))
    ranges = mapping(_part(told, 'commands', 'base_velocity', 'ranges'), 'deploy.yaml: ranges')
    return {
        'rate': 1.0 / step,
        'observation': terms,
        'clock': clock,
        'limits': [_numbers(ranges, key, 2)[1] for key in _RANGES],
        'joints': {
            motors[place]: {
                'default': defaults[i],
                'scale': scales[i],
                'stiffness': gains[0][place],
                'damping': gains[1][place],
            }
            for i, place in enumerate(places)
        },
    }


def _term(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a term of the observation; what is clipped before scaling there is so after it."""
    scale = row.get('scale') or 1.0
    if isinstance(scale, list) and len(set(scale)) == 1:
        scale = scale[0]
    term = {
        'term': _ALIASES.get(name, name),
        'scale': scale,
        'history': row.get('history_length', 1),
    }
    if row.get('clip'):
        low, high = _numbers(row, 'clip', 2)
        require(
            low == -high and not isinstance(scale, list),
            f'deploy.yaml: {name}.clip',
            value=[low, high],
            limit='must be the same on both sides, with one scale',
            error=RobotFileError,
        )
        term['clip'] = high * abs(finite(scale, f'deploy.yaml: {name}.scale'))
    return term


def _part(told: Mapping[str, Any], *keys: str) -> Any:
    """Return what stands under keys within keys."""
    for key in keys:
        require(
            isinstance(told, Mapping) and key in told,
            f'deploy.yaml: {".".join(keys)}',
            limit='is missing',
            error=RobotFileError,
        )
        told = told[key]
    return told


def _list(told: Mapping[str, Any], key: str) -> list[Any]:
    value: Any = told.get(key)
    require(
        isinstance(value, list) and value,
        f'deploy.yaml: {key}',
        value=value,
        limit='must be a list',
        error=RobotFileError,
    )
    return list(value)


def _numbers(told: Mapping[str, Any], key: str, count: int) -> list[float]:
    """Return the first numbers of a list that has at least as many."""
    values = _list(told, key)
    require(
        len(values) >= count,
        f'deploy.yaml: {key}',
        value=len(values),
        limit=f'must be {count} numbers',
        error=RobotFileError,
    )
    return [finite(value, f'deploy.yaml: {key}') for value in values[:count]]
