# SPDX-License-Identifier: Apache-2.0
"""Branches of limit cycles over a parameter, by pseudo-arclength continuation ([AG03]).

A cycle of k strides is a zero of F(z) = P(...P(x, u)..., u) - x, z = (x, u): P is the stride
function, u the parameter, 0 to 1 over its range. The next cycle is sought in the plane across the
tangent, so that a branch goes on where it turns back. Of the eigenvalues of the map of all strides
one is 1 at a fold and -1 where the period doubles; a pair of size 1 begins a torus. Cycles of twice
the period leave along the eigenvector of -1.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from walking_control.exceptions import given, NotAchieved, require, WalkingControlError
from walking_control.search.return_map import sorted_eigenvalues, Stride, StrideFunction

FIRST, LARGEST, SMALLEST = 0.01, 0.05, 1e-6  # distances from cycle to cycle
TURN = 0.9  # cosine of the angle between their tangents, at least
BESIDE = (0.02, 0.005, 0.001, 3e-4, 1e-4)  # how far beside a doubling the doubled cycle is sought
MOST = 400  # cycles in one direction
ROUNDS, EARLY = 16, 6  # of Broyden's method: at most, and until it has to have come nearer
TOLERANCE = 1e-9  # largest entry of F that counts as zero
INTO = 1e-5  # the range, for differences of u
FAILURES = WalkingControlError, np.linalg.LinAlgError, ValueError  # of a search for a cycle


class Orbit(NamedTuple):
    """A limit cycle on a branch."""

    z: np.ndarray  # state just after touchdown and the parameter, ``(m + 1,)``
    strides: list[Stride]
    slope: np.ndarray  # derivative of the map of all strides by z, ``(m, m + 1)``
    tangent: np.ndarray  # of the branch, ``(m + 1,)``, of length 1
    event: str = ''  # what happens here, of `TESTS`

    @property
    def eigenvalues(self) -> np.ndarray:
        """Those of the map of all its strides, largest first."""
        return sorted_eigenvalues(self.slope[:, :-1])

    @property
    def split(self) -> np.ndarray:
        """From its state to that half its strides later, ``(m,)``: none where it is not doubled."""
        return np.asarray(self.strides[len(self.strides) // 2 - 1].x - self.z[:-1])


def _pairs(values: np.ndarray) -> float:
    first, second = np.triu_indices(len(values), 1)
    return float(np.prod(values[first] * values[second] - 1.0).real)


# name -> what changes its sign there
TESTS: dict[str, Callable[[Orbit], float]] = {
    'fold': lambda orbit: float(orbit.tangent[-1]),
    'period doubling': lambda orbit: float(np.prod(orbit.eigenvalues + 1.0).real),
    'torus': lambda orbit: _pairs(orbit.eigenvalues),
}


class Continuation:
    """Cycles of a number of strides.

    Args:
        stride_at: U -> stride function, an error where there is none.
        difference: Of the entries of x, for derivatives.
    """

    def __init__(
        self, stride_at: Callable[[float], StrideFunction], times: int = 1, difference: float = 1e-6
    ) -> None:
        self.stride_at, self.times = lru_cache(4)(stride_at), times
        self.difference = difference

    def walk(self, z: np.ndarray) -> list[Stride]:
        """Return the strides from z; NotAchieved: the robot falls."""
        stride, strides = self.stride_at(float(z[-1])), [Stride(z[:-1], 0.0, 0.0)]
        for _ in range(self.times):
            there = given(
                stride(strides[-1].x), 'stride', limit='the robot falls', error=NotAchieved
            )
            strides.append(there)
        return strides[1:]

    def orbit(self, z: np.ndarray, along: np.ndarray) -> Orbit:
        """Return the `Orbit` of a zero of F, its tangent towards `along`.

        Args:
            z: State and parameter, ``(n + 1,)``.
            along: The tangent before, ``(n + 1,)``.
        """
        columns, into = [], math.copysign(INTO, 0.5 - z[-1])
        for step in np.diag([*[self.difference] * (len(z) - 1), into]):
            low, high = z if step[-1] else z - step, z + step
            columns.append((self.walk(high)[-1].x - self.walk(low)[-1].x) / (high - low).sum())
        slope = np.array(columns).T
        tangent = np.linalg.svd(slope - np.eye(*slope.shape))[2][-1]
        return Orbit(z, self.walk(z), slope, tangent if tangent @ along >= 0.0 else -tangent)

    def solve(self, z: np.ndarray, slope: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return the zero of F near z in the plane across a row; NotAchieved: none is found.

        Args:
            z: First guess, ``(n + 1,)``.
            slope: Derivative of F there, ``(n, n + 1)``.
            row: Normal of the plane, ``(n + 1,)``.
        """
        matrix, step = np.vstack((slope - np.eye(*slope.shape), row)), np.zeros(len(z))
        most = np.inf
        for i in range(ROUNDS):  # Broyden's method
            missed = self.walk(z)[-1].x - z[:-1]
            size = np.abs(missed).max()
            if size < TOLERANCE:
                return z
            most = 0.1 * size if i == 0 else most
            if i >= EARLY and size > most:
                break
            matrix[:-1] += np.outer(missed, step) / max(step @ step, 1e-300)
            step = np.linalg.solve(matrix, np.append(-missed, 0.0))
            z = z + step
        raise NotAchieved('cycle', limit='no convergence')

    def advance(self, here: Orbit, size: float) -> Orbit:
        """Return the next `Orbit`, a distance ahead or at the end of the range.

        Args:
            here: The `Orbit` to go on from.
            size: Distance, in the unit of z.
        """
        z, row = here.z + size * here.tangent, here.tangent
        if not 0.0 <= z[-1] <= 1.0:
            row = np.eye(len(z))[-1]
            z += (np.clip(z[-1], 0.0, 1.0) - z[-1]) / here.tangent[-1] * here.tangent
            z[-1] = round(z[-1])
        there = self.orbit(self.solve(z, here.slope, row), here.tangent)
        require(
            there.tangent @ here.tangent >= TURN and np.linalg.norm(there.z - here.z) <= 2.0 * size,
            'cycle',
            limit='the next one is too far',
            error=NotAchieved,
        )
        return there

    def follow(self, here: Orbit) -> tuple[list[Orbit], str]:
        """Return the orbits from one on, events among them, and why they end."""
        orbits, size = [here], FIRST
        while len(orbits) < MOST:
            here = orbits[-1]
            if not 0.0 < here.z[-1] < 1.0 and (here.z[-1] - 0.5) * here.tangent[-1] > 0.0:
                return orbits, 'end of the range'
            try:
                there = self.advance(here, size)
            except FAILURES as error:
                size *= 0.5
                if size < SMALLEST:
                    return orbits, str(error)
                continue
            if self.times > 1 and there.split @ here.split < 0.0:
                return orbits, 'cycles of half the period'
            for event, test in TESTS.items():
                if test(here) * test(there) < 0.0:
                    orbits += self._locate(event, here, there)
            orbits.append(there)
            size = min(LARGEST, 1.4 * size)
        return orbits, f'{MOST} cycles'

    def _locate(self, event: str, here: Orbit, there: Orbit) -> list[Orbit]:
        """Return the orbit of an event between two, if it is one."""
        test = TESTS[event]
        try:
            found = self.advance(
                here,
                brentq(
                    lambda size: test(self.advance(here, size) if size else here),
                    0.0,
                    (there.z - here.z) @ here.tangent,
                    xtol=1e-8,
                ),
            )
        except FAILURES:
            found = min(here, there, key=lambda orbit: abs(test(orbit)))
        near = np.abs(np.abs(found.eigenvalues) - 1.0) < 1e-3
        real = event == 'torus' and not np.iscomplex(found.eigenvalues[near]).any()
        return [] if real else [found._replace(event=event)]

    def double(self, orbit: Orbit) -> tuple[Continuation, Orbit]:
        """Return where cycles of twice the strides begin; NotAchieved: they are not found."""
        values, vectors = np.linalg.eig(orbit.slope[:, :-1])
        away = np.append(vectors[:, np.argmin(np.abs(values + 1.0))].real, 0.0)
        away /= np.linalg.norm(away)
        twice = Continuation(self.stride_at, 2 * self.times, self.difference)
        for size in BESIDE:
            with suppress(*FAILURES):
                z = orbit.z + size * away
                there = twice.orbit(twice.solve(z, twice.orbit(z, away).slope, away), away)
                moved, rate = there.z[-1] - orbit.z[-1], there.tangent[-1] / (there.tangent @ away)
                if abs(moved - 0.5 * size * rate) < 0.2 * abs(moved):  # a parabola, not another
                    return twice, there
        raise NotAchieved('doubled cycle', limit='not found')
