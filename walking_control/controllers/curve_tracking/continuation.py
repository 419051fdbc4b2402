# SPDX-License-Identifier: Apache-2.0
"""Where the path of a gait goes when the floor is late: on by free motion, or reaching for it.

Past the touchdown that did not come a passive swing leg falls back. On a lower floor it then lands
under the hip, and there is no time left to bring the other leg past before the walker has tipped
over it. A path that *reaches* keeps the legs apart and opens them further as the walker tips: the
step becomes longer, its impact takes more of the energy of the fall, and the next swing has time.
No undisturbed step comes there, so it costs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp

from walking_control.gaits.curve import Curve

if TYPE_CHECKING:
    from walking_control.gaits.samples import Piece
    from walking_control.models.support.dynamics import SupportDynamics

PRECISE = 1e-10   # tolerance of the integration


def reach_on(piece: Piece, support: SupportDynamics, hip: int, reach: float,
             blend: float, after: float = 0.5) -> Piece:
    """Return a piece whose path, past its end, reaches for a floor that is late.

    The hip's rate turns, with a time constant, into a multiple of the rate at which the stance leg
    tips; all other coordinates go on by free motion. The hip's acceleration leaves that of the free
    motion smoothly, within one time constant.

    Args:
        piece: `Piece` that ends with touchdown.
        support: `SupportDynamics` of the robot.
        hip: Coordinate of the hip.
        reach: Rate of the hip per rate of the stance leg.
        blend: Time constant, s.
        after: How long it goes on, in durations of the piece.
    """
    count = int(np.count_nonzero(piece.time <= piece.end))
    step = piece.time[count - 1] - piece.time[count - 2]
    n, layout = piece.q.shape[1], support.layout
    moving = np.array([i for i in range(n) if i not in piece.held])
    at_hip, others = int(np.flatnonzero(moving == hip)[0]), moving[moving != hip]
    lean = support.robot.supports[support.robot.feet[0]][:, 0]
    leg = int(np.flatnonzero(lean)[0])

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        parts = layout.split(support.terms(0, x[:n], x[n:]))
        out = np.zeros(2 * n)
        out[:n] = x[n:]
        mass, bias = parts['mass'][2:, 2:], parts['bias'][2:]
        free = np.linalg.solve(mass[np.ix_(moving, moving)], -bias[moving])[at_hip]
        wanted = (reach * lean[leg] * x[n + leg] - x[n + hip]) / blend
        share = min(t / blend, 1.0) ** 3
        out[n + hip] = (1.0 - share) * free + share * wanted
        out[n + others] = np.linalg.solve(mass[np.ix_(others, others)],
                                          -bias[others] - mass[others, hip] * out[n + hip])
        return out

    times = step * np.arange(1, int(after * (piece.end - piece.start) / step) + 1)
    solution = solve_ivp(rates, (0.0, times[-1]),
                         np.concatenate((piece.q[count - 1], piece.v[count - 1])), 'DOP853', times,
                         rtol=PRECISE, atol=PRECISE)
    q, v = solution.y[:n].T, solution.y[n:].T
    return replace(piece, time=np.concatenate((piece.time[:count], piece.end + times[:len(q)])),
                   q=np.concatenate((piece.q[:count], q)), v=np.concatenate((piece.v[:count], v)))


def join_curves(first: Curve, second: Curve, at: float) -> Curve:
    """Return the first curve up to a parameter and the second from there.

    A curve of acceleration continuous everywhere bends a little before it has to; so the gait stays
    what it is without the reach, to the last digit, and the accelerations of both meet within the
    error of the interpolation.

    Args:
        second: `Curve` with the same knots up to the joint.
        at: A knot of both.
    """
    joint = int(np.searchsorted(first.knots, at))
    return Curve(second.knots,
                 np.concatenate((first.coefficients[:joint], second.coefficients[joint:])),
                 second.metric)
