# SPDX-License-Identifier: Apache-2.0
"""Where the quantities lie in the flat array of support terms."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from walking_control.models.array_functions import array_function


class TermsPlaces(NamedTuple):
    """Index at which each part of the support terms begins; see `TermsLayout`."""

    mass: int
    bias: int
    foot: int
    jacobian: int
    drift: int
    base: int
    end: int


@array_function
def terms_places(n: int) -> TermsPlaces:
    """Return the `TermsPlaces` of n minimal coordinates."""
    size = n + 2
    bias = size * size
    foot = bias + size
    drift = foot + 2 + 2 * n
    return TermsPlaces(0, bias, foot, foot + 2, drift, drift + 2, drift + 4)


@array_function
def unpack_terms(terms: np.ndarray, free: np.ndarray, M: np.ndarray, M_f: np.ndarray,
                 h: np.ndarray, h_f: np.ndarray) -> None:
    """Take support terms apart for a foot that stands.

    Args:
        terms: The flat array.
        free: Indices of the coordinates that may move, ``(m,)``.
        M: Filled, mass matrix of these, ``(m, m)``.
        M_f: Filled, rows of the mass matrix in the directions of the foot, ``(2, n)``.
        h: Filled, bias of the free coordinates, ``(m,)``.
        h_f: Filled, bias in the directions of the foot, ``(2,)``.
    """
    n = M_f.shape[1]
    bias = terms_places(n).bias
    for i in range(free.shape[0]):
        row = 2 + free[i]
        h[i] = terms[bias + row]
        for j in range(free.shape[0]):
            M[i, j] = terms[row * (n + 2) + 2 + free[j]]
    for i in range(2):
        h_f[i] = terms[bias + i]
        for j in range(n):
            M_f[i, j] = terms[i * (n + 2) + 2 + j]


@dataclass(frozen=True)
class TermsLayout:
    """Where the quantities lie in the flat array of support terms.

    ``mass`` (n+2, n+2); ``bias`` (n+2,): Coriolis, centrifugal, gravity and passive joint forces;
    ``foot`` (2,): the other foot relative to the stance foot, m; ``jacobian`` (2, n): its
    derivative; ``drift`` (2,): its acceleration at zero joint acceleration; ``base`` (2,): the
    base link's origin relative to the stance foot.
    """

    n: int   # number of minimal coordinates

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return terms_places(self.n).end

    def split(self, terms: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts as a dictionary of shaped views."""
        names = ('mass', 'bias', 'foot', 'jacobian', 'drift', 'base')
        shapes = ((self.n + 2, self.n + 2), (-1,), (-1,), (2, self.n), (-1,), (-1,))
        start = terms_places(self.n)
        return {name: terms[start[i]:start[i + 1]].reshape(shape)
                for i, (name, shape) in enumerate(zip(names, shapes))}
