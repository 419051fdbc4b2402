# SPDX-License-Identifier: Apache-2.0
"""Energy management along the desired motion ([DS09] eq. (5.27)), and a tank that bounds it.

(5.27) multiplies the field w, a velocity; an effort is a covector, so the desired momentum
direction
``m = M w / |w|`` takes its place: the effort then changes the speed along the field and
nothing else.
"""

from walking_control.models.shared import shared


@shared
def integrate_error(integral, error, dt, limit):
    """Return the integral of the energy error, bounded, J s."""
    return min(max(integral + error * dt, -limit), limit)


@shared
def energy_force(error, integral, proportional, integral_gain, m, out):
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


@shared
def draw(tank, work, capacity):
    """Return the tank level after the controller did work on the robot, J.

    Work taken from the robot fills the tank up to its capacity; more is lost.
    """
    return min(max(tank - work, 0.0), capacity)


@shared
def tank_share(tank, power, dt):
    """Return the part of an effort the tank can pay for during a period, 0 to 1."""
    if power * dt <= tank:
        return 1.0
    return max(tank, 0.0) / (power * dt)
