# SPDX-License-Identifier: Apache-2.0
"""What proves the gears of the design tools: the equation of motion of a limb."""

import numpy as np


def equation_of_motion(limb, velocity, shares):
    """Return H, bias and map of the motors' torques of the dissipative equation of motion.

    ``H a + bias = J^T f + map tau_psi``, [SR20] (12), gravity in the bias.

    Args:
        limb: The `Limb`.
        velocity: Of base and limb, ``(n,)``; the other joints are held.
        shares: Diagonal of E, finite.
    """
    mechanism = limb.mechanism
    full = np.zeros(len(mechanism.moving))
    full[limb.columns] = velocity
    whole = np.zeros(mechanism.dynamics.nv)
    whole[mechanism.moving] = full
    bias = mechanism.dynamics.bias(mechanism.q, whole)[mechanism.moving][limb.columns]
    if limb.rotors == 'coupled':
        to_rotors, none = limb.transmission.to_rotors, np.zeros(len(full) + limb.m)
        spin = to_rotors @ full[mechanism.velocity_places(limb.transmission.joints)]
        turning, locked = (
            limb.rotor_model.efforts(np.concatenate([full, turn]), none)
            for turn in (spin, 0.0 * spin)
        )
        bias += (turning - locked)[: -limb.m][limb.columns]
        bias[limb.n_base :] += to_rotors.T @ (shares * turning[-limb.m :])
    motors = np.zeros((len(limb.columns), limb.m))
    motors[limb.n_base :] = limb.motor_map(shares)
    return limb.inertia(shares), bias, motors
