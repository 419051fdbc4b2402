# SPDX-License-Identifier: Apache-2.0
"""The simplified walker of [DS09] 5.4 as printed, (5.31) to (5.42): a second route for tests.

Unit mass and leg length. Angles q4, q5 of the stance leg, q6, q7 of the swing leg; the walker
always stands on its right foot, the left one is seen in a mirror.
"""

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81


def radial_matrix(pitch, roll):
    """Return (5.34): rates of pitch, roll and leg length to the velocity of the hip."""
    sa, ca, sb, cb = np.sin(pitch), np.cos(pitch), np.sin(roll), np.cos(roll)
    return np.array([[ca * cb, -sa * sb, sa * cb], [0.0, -cb, -sb], [-sa * cb, -ca * sb, ca * cb]])


def printed_push_off(q4, q5, q6, q7, dq4, dq5):
    """Return (5.37)."""
    above = dq5 * np.cos(q4 - q6) * np.cos(q7) * np.sin(q5) + np.cos(q5) * (
        dq4 * np.cos(q7) * np.sin(q4 - q6) - dq5 * np.sin(q7)
    )
    return above / (1.0 + np.cos(q5) * np.cos(q4 - q6) * np.cos(q7) + np.sin(q5) * np.sin(q7))


def pass_over(q4, q5, q6, q7, dq4, dq5, push_off):
    """Return rates of q6 and q7 after (5.36), and the radial speed that the impact takes."""
    velocity = radial_matrix(q4, q5) @ (dq4, dq5, push_off)
    return np.linalg.solve(radial_matrix(q6, q7), velocity)


def rates(_, x):
    """Return (5.31) of q4, q5, p1, p2."""
    q4, q5, p1, p2 = x
    return [
        p1 / np.cos(q5) ** 2,
        p2,
        GRAVITY * np.sin(q4) * np.cos(q5),
        -(p1**2) * np.sin(q5) / np.cos(q5) ** 3 + GRAVITY * np.cos(q4) * np.sin(q5),
    ]


class PrintedWalker:
    """Walks by (5.42).

    Args:
        gains: Kl, Kp, Kd.
        largest: Bound on the reference (5.41), rad/s.
        nominal: q6, q7.
        frozen: Whether (5.41) is evaluated at q4 = 0 instead of until touchdown.
    """

    def __init__(self, gains, largest=0.3, nominal=(-0.3, 0.1), frozen=False):
        self.gains, self.largest, self.nominal, self.frozen = gains, largest, nominal, frozen

    def reference(self, x, foot_y):
        """Return (5.41) for a state."""
        q4, q5, p1, p2 = x
        y = foot_y - np.sin(q5)
        wanted = self.gains[1] * y - self.gains[2] * np.cos(q5) * p2
        return np.clip(wanted, -self.largest, self.largest)

    def stride(self, x):
        """Return the state after a step: q4, q5, their rates, y of the hip; None after a fall."""
        q4, q5, dq4, dq5, y = x
        foot_y = y + np.sin(q5)
        start = [q4, q5, np.cos(q5) ** 2 * dq4, dq5]

        def middle(_, state):
            return state[0]

        middle.terminal, middle.direction = True, 1.0
        settings = {'rtol': 1e-11, 'atol': 1e-12, 'method': 'DOP853'}
        first = solve_ivp(rates, (0.0, 3.0), start, events=middle, **settings)
        if not len(first.t_events[0]):
            return None
        at_middle = first.y_events[0][0]
        kept = self.reference(at_middle, foot_y)

        def swing(state):
            wanted = kept if self.frozen else self.reference(state, foot_y)
            return self.nominal[0], self.nominal[1] + self.gains[0] * (wanted - at_middle[3])

        def height(_, state):
            q6, q7 = swing(state)
            return np.cos(state[0]) * np.cos(state[1]) - np.cos(q6) * np.cos(q7)

        height.terminal, height.direction = True, -1.0
        second = solve_ivp(rates, (0.0, 3.0), at_middle, events=height, **settings)
        if not len(second.t_events[0]):
            return None
        state = second.y_events[0][0]
        (q4, q5, p1, p2), (q6, q7) = state, swing(state)
        dq4, dq5 = p1 / np.cos(q5) ** 2, p2
        push = printed_push_off(q4, q5, q6, q7, dq4, dq5)
        dq6, dq7, _ = pass_over(q4, q5, q6, q7, dq4, dq5, push)
        return np.array([q6, -q7, dq6, -dq7, -(foot_y - np.sin(q5))])
