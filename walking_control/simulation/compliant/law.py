# SPDX-License-Identifier: Apache-2.0
"""Force of a compliant floor on a foot, and where the power that enters the contact goes.

Normal to the floor, with depth d of the undeformed surfaces in each other ([DS09] 3.2.2):

- Kelvin-Voigt: ``N = k d + c dd``;
- Hunt-Crossley: ``N = k d (1 + a dd)``, which neither jumps at touchdown nor pulls at the end.

The floor never pulls: where N would be negative the foot has left, and the energy still stored is
lost on release ([DS09] remark 3.10).

Along the floor a spring and damper in series with Coulomb friction: the deformation s moves with
the sliding velocity v as long as ``F = kt s + ct ds`` stays below ``mu N``; beyond, F is
``mu N`` and the rest of v slips. So ``ds = (F - kt s) / ct`` in either case, a smooth enough
equation without modes, and the deformation saturates at ``mu N / kt`` as [DS09] (3.26) wants.
[DS09] puts the saturation into a power-continuous transformer, whose force vanishes as the foot
slips; here the force stays and the slipping heats the floor (see doc/compliant_floor.md).

Rolling at the rate w brings undeformed surface into the contact: the deformation fades by
``beta |w| F / kt`` ([DS09] (3.25)), whose power is heat as well.
"""

import math

from walking_control.models.array_functions import array_function

KELVIN_VOIGT, HUNT_CROSSLEY = range(2)   # places in `FLOORS`


@array_function
def normal_force(kind: int, stiffness: float, damping: float, dissipation: float, depth: float,
                 rate: float) -> float:
    """Return the force with which a floor presses a foot away, N.

    Args:
        kind: KELVIN_VOIGT or HUNT_CROSSLEY.
        stiffness: k, N/m.
        damping: c of the first, N s/m.
        dissipation: a of the second, s/m.
        depth: Of the foot in the floor, m.
        rate: Its rate, m/s.
    """
    if kind == KELVIN_VOIGT:
        return max(0.0, stiffness * depth + damping * rate)
    return max(0.0, stiffness * depth * (1.0 + dissipation * rate))


@array_function
def friction_force(stiffness: float, damping: float, relief: float, limit: float, slide: float,
                   velocity: float, rolling: float) -> tuple[float, float]:
    """Return the force along the floor with which a foot drags it, N, and the deformation's rate.

    Args:
        stiffness: kt, N/m.
        damping: ct, N s/m, above zero.
        relief: beta, 1/rad.
        limit: mu N, N.
        slide: Deformation s, m.
        velocity: Of the foot over the floor, m/s.
        rolling: Rate at which the foot rolls, rad/s.
    """
    force = (stiffness * slide + damping * velocity) \
        / (1.0 + damping * relief * abs(rolling) / stiffness)
    force = min(max(force, -limit), limit)
    return force, (force - stiffness * slide) / damping


@array_function
def fastest_rate(stiffness: float, damping: float, lightness: float) -> float:
    """Return the largest rate, 1/s, at which a mass on a spring and a damper moves.

    The size of the larger root of ``s^2 + c g s + k g = 0``.

    Args:
        stiffness: k, N/m.
        damping: c, N s/m.
        lightness: g, the inverse of the mass, 1/kg.
    """
    half, square = 0.5 * damping * lightness, stiffness * lightness
    if half * half <= square:
        return math.sqrt(square)
    return half + math.sqrt(half * half - square)
