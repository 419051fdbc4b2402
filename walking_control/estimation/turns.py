# SPDX-License-Identifier: Apache-2.0
"""Rotations in three rows, written out so that they run plain and compiled."""

import math

import numpy as np

from walking_control.models import array_function, rotation_of


@array_function
def fill_turn(axis: np.ndarray, angle: float, out: np.ndarray) -> None:
    """Fill the rotation about a unit axis, ``(3, 3)``; of an axis that is zero the identity.

    Args:
        axis: Of unit length or zero, ``(3,)``.
        angle: rad.
        out: Filled, ``(3, 3)``.
    """
    s, versed = math.sin(angle), 1.0 - math.cos(angle)
    size = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a, a] = 1.0 - versed * (size - axis[a] * axis[a])
        out[a, b] = versed * axis[a] * axis[b] - s * axis[c]
        out[b, a] = versed * axis[a] * axis[b] + s * axis[c]


@array_function
def fill_exponential(x: np.ndarray, turn: np.ndarray, along: np.ndarray) -> None:
    """Fill the rotation by a rotation vector, and its mean over the way there.

    The mean is the left Jacobian of the rotation: what becomes of a column that grows evenly
    while everything turns (see [HJGE20]).

    Args:
        x: Rotation vector, rad.
        turn: Written, ``(3, 3)``.
        along: Written, ``(3, 3)``.
    """
    square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    angle = math.sqrt(square)
    if angle < 1e-3:  # the next terms are below the rounding error
        sine, versed, rest = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        sine, versed = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
        rest = (1.0 - sine) / square
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        rim = x[a] * x[a] - square
        turn[a, a], along[a, a] = 1.0 + versed * rim, 1.0 + rest * rim
        both = x[a] * x[b]
        turn[a, b], along[a, b] = versed * both - sine * x[c], rest * both - versed * x[c]
        turn[b, a], along[b, a] = versed * both + sine * x[c], rest * both + versed * x[c]


@array_function
def fill_cross(x: np.ndarray, out: np.ndarray) -> None:
    """Fill the matrix that takes y to ``x`` times y, ``(3, 3)``.

    Args:
        x: ``(3,)``.
        out: Filled, ``(3, 3)``.
    """
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a, a] = 0.0
        out[a, b], out[b, a] = -x[c], x[c]


@array_function
def fill_product(A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out = A B`` of three rows and columns each; out is neither.

    Args:
        A: ``(3, 3)``.
        B: ``(3, 3)``.
        out: Filled, ``(3, 3)``.
    """
    for a in range(3):
        for b in range(3):
            out[a, b] = A[a, 0] * B[0, b] + A[a, 1] * B[1, b] + A[a, 2] * B[2, b]


@array_function
def fill_cross_product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out = x times y``; out is neither.

    Args:
        x: ``(3,)``.
        y: ``(3,)``.
        out: Filled, ``(3,)``.
    """
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a] = x[b] * y[c] - x[c] * y[b]


@array_function
def write_turn(R: np.ndarray, out: np.ndarray) -> None:
    """Write a rotation as a unit quaternion, and as that says it: rounding errors add up.

    Args:
        R: Changed in place, ``(3, 3)``.
        out: Quaternion xyzw; written.
    """
    trace = R[0, 0] + (R[1, 1] + R[2, 2])
    turns = trace <= 0.0  # by so much that the cosine of half of it may be small
    a = int(np.argmax(np.diag(R)))
    b, c = (a + 1) % 3, (a + 2) % 3
    size = math.sqrt((R[a, a] - R[b, b] - R[c, c] if turns else trace) + 1.0)
    part = 0.5 / size
    out[a] = 0.5 * size if turns else (R[c, b] - R[b, c]) * part
    out[b] = (R[b, a] + R[a, b] if turns else R[a, c] - R[c, a]) * part
    out[c] = (R[c, a] + R[a, c] if turns else R[b, a] - R[a, b]) * part
    out[3] = (R[c, b] - R[b, c]) * part if turns else 0.5 * size
    out /= math.sqrt((out[0] ** 2 + out[2] ** 2) + (out[1] ** 2 + out[3] ** 2))
    R[:] = np.array(rotation_of(out[0], out[1], out[2], out[3]))
