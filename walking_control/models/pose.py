# SPDX-License-Identifier: Apache-2.0
"""Joint positions and orientations as people and sensors give them, checked."""

from collections.abc import Mapping, Sequence
import math

import numpy as np

from walking_control.exceptions import InvalidInput, MeasurementError, require, require_known
from walking_control.models.urdf import UrdfJoint

_UNIT_TOLERANCE = 1e-3
_ROUNDING = 1e-6  # rad or m: of positions written down with six digits


def joint_positions(
    values: Mapping[str, float] | Sequence[float] | np.ndarray, joints: tuple[str, ...], name: str
) -> np.ndarray:
    """Return joint positions as an array.

    Args:
        values: Mapping of every joint to its position, any order, or an array in the order of
            the joints, rad or m.
        joints: Names of the joints.
        name: How messages call the robot.

    Raises:
        MeasurementError: A joint is missing or not finite.
        InvalidInput: A name is no joint of the robot.
    """
    if isinstance(values, Mapping):
        for joint in values:
            require_known(joint, joints, f'joint {joint}', limit=f'is not a moving joint of {name}')
        missing = [joint for joint in joints if joint not in values]
        require(
            not missing,
            'position of joint ' + ', '.join(missing),
            limit='is missing',
            remedy='give every moving joint of the URDF',
            error=MeasurementError,
        )
        values = [values[joint] for joint in joints]
    array = np.asarray(values, dtype=float)
    if array.shape != (len(joints),):
        raise MeasurementError(
            'joint positions', value=array.shape, limit=f'must hold {len(joints)} numbers'
        )
    if not math.isfinite(array.sum()):
        bad = int(np.argmin(np.isfinite(array)))
        raise MeasurementError(
            f'position of joint {joints[bad]}', value=float(array[bad]), limit='must be finite'
        )
    return array


def check_limits(
    positions: np.ndarray, joints: tuple[str, ...], limits: Mapping[str, UrdfJoint]
) -> None:
    """Refuse joint positions beyond the joints' stops.

    Args:
        positions: ``(n_joints,)``, rad or m.
        joints: Names of the joints.
        limits: joint -> its limits.

    Raises:
        InvalidInput: A joint is beyond its limits by more than rounding.
    """
    for joint, position in zip(joints, positions.tolist()):
        lower, upper = limits[joint].lower, limits[joint].upper
        if not lower - _ROUNDING <= position <= upper + _ROUNDING:
            raise InvalidInput(
                f'position of joint {joint}',
                value=position,
                limit=f'must be within its limits, {lower:g} to {upper:g}',
            )


def unit_quaternion(quaternion: Sequence[float] | np.ndarray) -> tuple[float, float, float, float]:
    """Return the quaternion scaled to unit length.

    Raises:
        MeasurementError: It is not finite, or its length is further than 1e-3 from 1.
    """
    x, y, z, w = map(float, quaternion)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:
        raise MeasurementError(
            'base orientation',
            value=[x, y, z, w],
            limit=f'must be a unit quaternion (xyzw), its length is {length:.6g}',
        )
    return x / length, y / length, z / length, w / length
