# SPDX-License-Identifier: Apache-2.0
"""The point of a polyhedron nearest to a given one, exactly, for a handful of unknowns.

Dual active-set method of Goldfarb and Idnani (Mathematical Programming 27, 1983): begins at the
wanted point and takes up one violated row after the other, dropping rows that no longer push. Each
step raises the distance, so no set of rows comes twice and the method ends. With the Cholesky
factor ``H = L L^T`` known, ``y = L^T x`` turns it into a least distance, and rows of unit length
make the tolerances independent of scale. The few active rows are made orthonormal anew at each
step.
"""

import math

import numpy as np

from walking_control.models import array_function, inner

FEASIBLE = 1e-11  # violation borne, relative to the sizes of the terms of a row
PARALLEL = 1e-10  # sine of the angle below which a row is a combination of the active ones
ROUNDS = 60  # per row; a few per active row are needed


@array_function
def nearest_allowed(L: np.ndarray, A: np.ndarray, d: np.ndarray, x: np.ndarray) -> bool:
    """Move x to the nearest point with ``A x <= d``, distance in the metric ``L L^T``.

    Args:
        L: Lower triangular, ``(k, k)``.
        A: Rows, ``(r, k)``; rows of zeros and repeated ones are welcome.
        d: Bounds, ``(r,)``.
        x: Changed in place, ``(k,)``; unchanged if nothing is allowed.

    Returns:
        Whether there is an allowed point.
    """
    rows, k = A.shape
    N, b, y = np.zeros((rows, k)), np.zeros(rows), np.zeros(k)
    if not whiten(L, A, d, N, b):
        return False
    for i in range(k):
        for j in range(i, k):
            y[i] += L[j, i] * x[j]
    Q, R = np.zeros((k, k)), np.zeros((k, k))
    active, push = np.zeros(k, np.int64), np.zeros(k + 1)
    z, pull = np.zeros(k), np.zeros(k)
    count, new = 0, -1
    for _ in range(ROUNDS * rows):
        if new < 0:
            new = most_violated(N, b, y, active, count)
            if new < 0:
                solve_transposed(L, y, x)
                return True
            push[count] = 0.0
        for i in range(count):
            orthogonalise(Q, i, N[active[i]], R[:, i], z)
            R[i, i] = math.sqrt(inner(z, z))
            for j in range(k):
                Q[i, j] = z[j] / R[i, i]
        orthogonalise(Q, count, N[new], pull, z)
        for i in range(count - 1, -1, -1):
            for j in range(i + 1, count):
                pull[i] -= R[i, j] * pull[j]
            pull[i] /= R[i, i]
        leaving, step = -1, math.inf
        for i in range(count):
            if pull[i] > 0.0 and push[i] < step * pull[i]:
                leaving, step = i, push[i] / pull[i]
        free = inner(z, z)
        if count < k and free > PARALLEL**2:
            full = max(inner(N[new], y) - b[new], 0.0) / free
            if full <= step:
                leaving, step = -1, full
            for j in range(k):
                y[j] -= step * z[j]
        elif leaving < 0:
            return False
        for i in range(count):
            push[i] -= step * pull[i]
        push[count] += step
        if leaving < 0:
            active[count] = new
            count, new = count + 1, -1
        else:
            count -= 1
            for i in range(leaving, count):
                active[i], push[i] = active[i + 1], push[i + 1]
            push[count] = push[count + 1]
    return False


@array_function
def whiten(L: np.ndarray, A: np.ndarray, d: np.ndarray, N: np.ndarray, b: np.ndarray) -> bool:
    """Fill rows of unit length in ``y = L^T x`` and their bounds; False if a zero row forbids all.

    A row is zero if rounding could have made it: its length is tiny against the longest.

    Args:
        L: Cholesky factor of the metric, ``(k, k)``.
        A: Rows, ``(m, k)``.
        d: Their bounds, ``(m,)``.
        N: Filled, ``(m, k)``.
        b: Filled, ``(m,)``.
    """
    rows, k = A.shape
    longest = 0.0
    for i in range(rows):
        for j in range(k):
            N[i, j] = A[i, j]
            for c in range(j):
                N[i, j] -= L[j, c] * N[i, c]
            N[i, j] /= L[j, j]
        b[i] = math.sqrt(inner(N[i], N[i]))
        longest = max(longest, b[i])
    for i in range(rows):
        length = b[i]
        if length > 1e-14 * longest:
            for j in range(k):
                N[i, j] /= length
            b[i] = d[i] / length
        elif d[i] < 0.0:
            return False
        else:
            N[i, :] = 0.0
            b[i] = math.inf
    return True


@array_function
def most_violated(
    N: np.ndarray, b: np.ndarray, y: np.ndarray, active: np.ndarray, count: int
) -> int:
    """Return the row violated most beyond rounding, or -1; active rows hold by construction.

    Args:
        N: Rows of unit length, ``(m, k)``.
        b: Their bounds, ``(m,)``.
        y: The point, ``(k,)``.
        active: Indices of the rows that hold, ``(k,)``.
        count: How many of these.
    """
    worst, most = -1, 0.0
    size = math.sqrt(inner(y, y))
    for i in range(N.shape[0]):
        excess = inner(N[i], y) - b[i]
        if excess > most and excess > FEASIBLE * (size + abs(b[i])):
            held = False
            for j in range(count):
                held = held or active[j] == i
            if not held:
                worst, most = i, excess
    return worst


@array_function
def orthogonalise(
    Q: np.ndarray, count: int, row: np.ndarray, shares: np.ndarray, z: np.ndarray
) -> None:
    """Fill z with the part of a row orthogonal to the first rows of Q, and its shares of these.

    Args:
        Q: Orthonormal rows, ``(k, k)``.
        count: How many of them count.
        row: ``(k,)``.
        shares: Filled: of each of them in the row, ``(k,)``.
        z: Filled, ``(k,)``.
    """
    k = row.shape[0]
    z[:], shares[:] = row, 0.0
    for _ in range(2):  # once more, for rows that are nearly parallel
        for i in range(count):
            share = inner(Q[i], z)
            shares[i] += share
            for j in range(k):
                z[j] -= share * Q[i, j]


@array_function
def solve_transposed(L: np.ndarray, y: np.ndarray, x: np.ndarray) -> None:
    """Fill ``x = L^-T y``.

    Args:
        L: Lower triangular, ``(k, k)``.
        y: ``(k,)``.
        x: Filled, ``(k,)``.
    """
    k = y.shape[0]
    for i in range(k - 1, -1, -1):
        x[i] = y[i]
        for j in range(i + 1, k):
            x[i] -= L[j, i] * x[j]
        x[i] /= L[i, i]
