# SPDX-License-Identifier: Apache-2.0
"""Energy management along the desired motion ([DS09] eq. (5.27)), and a tank that bounds it.

(5.27) multiplies the field w, a velocity; an effort is a covector, so the desired momentum
direction ``m = M w / |w|`` takes its place: the effort then changes the speed along the field and
nothing else.
"""

import numpy as np

from walking_control.models.array_functions import array_function


@array_function
def integrate_error(integral: float, error: float, dt: float, limit: float) -> float:
    """Return the integral of the energy error, bounded, J s."""
    return min(max(integral + error * dt, -limit), limit)


@array_function
def energy_force(error: float, integral: float, proportional: float, integral_gain: float,
                 m: np.ndarray, out: np.ndarray) -> None:
    """Fill the effort that brings the energy to its desired value.

    Args:
        error: Desired minus present energy, J.
        integral: Integral of the error, J s.
        proportional: Kp, 1/(s J^0.5).
        integral_gain: Ki, 1/(s^2 J^0.5).
        m: Desired momentum direction, ``(n,)``.
        out: Filled, ``(n,)``.
    """
    size = proportional * error + integral_gain * integral
    for i in range(m.shape[0]):
        out[i] = size * m[i]


@array_function
def draw(tank: float, work: float, capacity: float) -> float:
    """Return the tank level after the controller did work on the robot, J.

    Work taken from the robot fills the tank up to its capacity; more is lost. A period may inject
    a little more than foreseen at its begin: that stays as a debt, to be absorbed before anything
    is injected again.
    """
    return min(tank - work, capacity)


@array_function
def tank_share(tank: float, work: float) -> float:
    """Return the part, 0 to 1, of an effort that a tank, J, can pay for if it injects work, J.

    Absorbing is always allowed.
    """
    if work <= max(tank, 0.0):
        return 1.0
    return max(tank, 0.0) / work
