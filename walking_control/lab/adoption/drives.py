# SPDX-License-Identifier: Apache-2.0
"""Named drives of the trade: what moves the joints of a robot, from public data sheets.

A file of `config/drives` has `drives`, name -> parameters of a motor as a robot file has them, and
`friction`; and `joints`, pattern -> name of a drive: the first pattern that fits a joint's name
counts. What a data sheet does not tell is left out: without a torque constant an ampere stands for
a newton metre of the joint, without a resistance no heat is counted, as of any motor that tells
none.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import yaml

from walking_control.exceptions import refusing, require
from walking_control.models import drives_path, GearedMotor, JointFriction


class Drive(NamedTuple):
    """The drive of a joint.

    Args:
        name: Of the drive.
        motor: Parameters of `GearedMotor` that are told, name -> value.
        friction: `viscous` in N m s/rad and `coulomb` in N m at the joint, as far as told.
    """

    name: str
    motor: dict[str, float]
    friction: dict[str, float]

    @property
    def reduction(self) -> float:
        """Return the turns of the rotor per turn of the joint."""
        return self.motor.get('reduction', 1.0)

    @property
    def armature(self) -> float | None:
        """Return the inertia of the rotor as felt at the joint, kg m^2; None where untold."""
        inertia = self.motor.get('rotor_inertia')
        return None if inertia is None else self.reduction**2 * inertia

    def written(self, effort: float, armature: float) -> dict[str, float]:
        """Return the motor as a robot file has it.

        Args:
            effort: Limit at the joint, N m.
            armature: Inertia of the rotor as felt at the joint, kg m^2.
        """
        constant = self.motor.get('torque_constant', 1.0 / self.reduction)
        return {
            'torque_constant': constant,
            'reduction': 1.0,
            'resistance': 0.0,
            **self.motor,
            'rotor_inertia': float(f'{armature / self.reduction**2:.9g}'),
            'current_limit': float(f'{effort / (self.reduction * constant):.9g}'),
        }


def read_drives(name_or_path: str, joints: Iterable[str]) -> dict[str, Drive]:
    """Return joint -> `Drive` of the joints that a file of drives knows.

    Args:
        name_or_path: Of a file, or the name of one that ships with the package.
        joints: Names of the robot's joints.

    Raises:
        InvalidInput: There is no such file, it is none of drives, or it fits none of the joints.
    """
    path, joints = drives_path(name_or_path), list(joints)
    with refusing(
        (OSError, ValueError, yaml.YAMLError, KeyError, TypeError, AttributeError),
        f'drives {path}',
        limit='cannot be read: {error}',
        remedy='see config/drives/open_duck_mini.yaml',
    ):
        tree = yaml.safe_load(path.read_text(encoding='utf-8'))
        known = {name: _read(name, entry) for name, entry in tree['drives'].items()}
        patterns = [(pattern, known[name]) for pattern, name in tree['joints'].items()]
    found = {
        joint: next(drive for pattern, drive in patterns if fnmatchcase(joint, pattern))
        for joint in joints
        if any(fnmatchcase(joint, pattern) for pattern, _ in patterns)
    }
    require(
        found,
        'option --drives',
        value=name_or_path,
        limit='fits no joint of this robot: ' + ', '.join(joints[:4]),
        remedy='its patterns are ' + ', '.join(pattern for pattern, _ in patterns),
    )
    return found


def _read(name: str, entry: dict[str, Any]) -> Drive:
    """Return a drive as its file says it; a `ParameterError` says what of it is wrong."""
    motor = {key: value for key, value in entry.items() if key != 'friction'}
    friction = entry.get('friction', {})
    GearedMotor.read(motor, place=f'drive {name}')
    JointFriction.read(friction, place=f'friction of drive {name}')
    return Drive(name, motor, friction)
