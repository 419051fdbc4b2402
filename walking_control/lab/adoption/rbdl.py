# SPDX-License-Identifier: Apache-2.0
"""RBDL's models in Lua to URDF: their tables are read as data, nothing is executed."""

from pathlib import Path
import re
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin
import yaml

from walking_control.exceptions import UrdfError
from walking_control.models import numbers_text

# effort and speed: no motor has them, so that others are guessed
_LIMIT = f'<limit lower="{-np.pi:.12g}" upper="{np.pi:.12g}" effort="1e9" velocity="100"/>'
# as YAML has them: lists, in which what has a name is a mapping of one entry
_AS_YAML = (
    (r'--\[\[[\s\S]*?\]\]|--[^\n]*', ''),
    ('{', '['),
    ('}', ']'),
    (';', ','),
    (r'(\w+)\s*=', r'\1: '),
)


def read_lua(path: Path) -> dict[str, Any]:
    """Return the table that a file of Lua makes and returns; it holds numbers, words and tables.

    Raises:
        UrdfError: It cannot be read, or is more than one table of data.
    """
    try:
        text = path.read_text(encoding='utf-8')
        for lua, ours in _AS_YAML:
            text = re.sub(lua, ours, text)
        whole = re.fullmatch(r'\s*(?:local\s+)?(\w+): (.*\])\s*return\s+\1\s*', text, re.DOTALL)
        if whole is None:
            raise ValueError('it must be one table, and return it')
        return dict(_merge(yaml.load(whole[2].replace('\t', ' '), yaml.CSafeLoader)))
    except (OSError, ValueError, TypeError, yaml.YAMLError) as error:
        words = ' '.join(str(error).split())
        raise UrdfError(f'model {path}', limit=f'is no table of data in Lua: {words}') from error


def _merge(value: Any) -> Any:
    """Return lists of mappings of one entry as one mapping, all through."""
    if isinstance(value, dict):
        return {name: _merge(part) for name, part in value.items()}
    if not isinstance(value, list):
        return value
    parts = [_merge(part) for part in value]
    named = [isinstance(part, dict) and len(part) == 1 for part in value]
    return {name: part for each in parts for name, part in each.items()} if all(named) else parts


def urdf_of_lua(path: Path) -> str:
    """Return the URDF text of an RBDL model in Lua; joints are called as their links, with _joint.

    The joint of the root is left out: a base moves freely.

    Raises:
        UrdfError: It is no such model, has several roots, or a joint of several axes.
    """
    model = read_lua(path)
    try:
        parts = [_link(frame) for frame in model['frames']]
        parts += [_joint(frame) for frame in model['frames'] if frame['parent'] != 'ROOT']
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UrdfError(
            f'model {path}',
            value=str(error),
            limit='must hold frames with name, parent, body, joint and joint_frame as RBDL does',
        ) from error
    return f'<robot name={quoteattr(path.stem)}>{"".join(parts)}</robot>'


def _link(frame: dict[str, Any]) -> str:
    body, inner = frame.get('body'), ''
    if body:
        inertia = np.array(body['inertia'], float)
        sides = {f'i{"xyz"[i]}{"xyz"[j]}': inertia[i, j] for i in range(3) for j in range(i, 3)}
        tensor = ' '.join(f'{side}="{value:.12g}"' for side, value in sides.items())
        inner = (
            f'<inertial><origin xyz="{numbers_text(body["com"])}" rpy="0 0 0"/>'
            f'<mass value="{float(body["mass"]):.12g}"/><inertia {tensor}/></inertial>'
        )
    return f'<link name={quoteattr(frame["name"])}>{inner}</link>'


def _joint(frame: dict[str, Any]) -> str:
    """Return the joint of a frame: E turns the parent's axes to its own, r is in the parent's."""
    axes = np.array(frame.get('joint') or np.zeros((0, 6)), float).reshape(-1, 6)
    turns = bool(axes[:, :3].any())
    if len(axes) > 1 or (turns and axes[:, 3:].any()):
        raise ValueError(f'{frame["name"]} moves about several axes')
    at = frame.get('joint_frame') or {}
    rpy = pin.rpy.matrixToRpy(np.array(at.get('E', np.eye(3)), float).T)
    kind = 'fixed' if not len(axes) else 'revolute' if turns else 'prismatic'
    axis = ''.join(
        f'<axis xyz="{numbers_text(row.reshape(2, 3).sum(0))}"/>{_LIMIT}' for row in axes
    )
    name = quoteattr(frame['name'].removesuffix('_link') + '_joint')
    return (
        f'<joint name={name} type="{kind}"><parent link={quoteattr(frame["parent"])}/>'
        f'<child link={quoteattr(frame["name"])}/>{axis}'
        f'<origin xyz="{numbers_text(at.get("r", np.zeros(3)))}" rpy="{numbers_text(rpy)}"/>'
        '</joint>'
    )
