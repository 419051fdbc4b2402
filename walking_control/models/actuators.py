# SPDX-License-Identifier: Apache-2.0
"""Geared electric motors, springs and friction: what turns, holds and brakes a joint."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Amount = TypeVar('Amount', float, np.ndarray)   # one number, or one a row


@dataclass(frozen=True)
class GearedMotor:
    """A DC motor with a rigid reduction.

    Efforts are torques of the motor times the reduction: what a gear without losses, at constant
    speed, would give the joint. What losses leave of it says `models.friction`.

    Simplifications: no inductance, rotor spins about the joint axis only (its gyroscopic coupling
    to the link is neglected).

    Args:
        torque_constant: kt in N m/A.
        reduction: Rotor turns per joint turn, N > 0.
        rotor_inertia: Rotor and gear inertia at the rotor, kg m^2.
        resistance: Winding resistance, ohm.
        current_limit: Largest current the amplifier gives, A.
        efficiency: Share of the power that reaches the joint while the motor drives it.
        back_efficiency: Share that reaches the motor while the joint drives it.
    """

    torque_constant: float
    reduction: float
    rotor_inertia: float
    resistance: float
    current_limit: float
    efficiency: float = 1.0
    back_efficiency: float = 1.0

    @property
    def torque_per_ampere(self) -> float:
        """Effort per ampere, N m/A."""
        return self.reduction * self.torque_constant

    @property
    def armature(self) -> float:
        """Rotor inertia as felt at the joint, N^2 J in kg m^2."""
        return self.reduction ** 2 * self.rotor_inertia

    @property
    def effort_limit(self) -> float:
        """Largest effort the amplifier can cause, N m."""
        return self.torque_per_ampere * self.current_limit

    def current(self, effort: Amount) -> Amount:
        """Return the current in A that causes an effort in N m."""
        return effort / self.torque_per_ampere

    def electrical_power(self, effort: Amount, velocity: Amount) -> Amount:
        """Return the terminal power in W: mechanical power plus copper loss.

        Args:
            effort: N m.
            velocity: Joint velocity, rad/s.
        """
        current = effort / self.torque_per_ampere
        return effort * velocity + self.resistance * current * current


@dataclass(frozen=True)
class JointSpring:
    """A passive linear spring and damper across a joint.

    Args:
        stiffness: N m/rad.
        damping: N m s/rad.
        rest: Angle at which the spring is relaxed, rad.
    """

    stiffness: float
    damping: float
    rest: float

    def effort(self, position: Amount, velocity: Amount) -> Amount:
        """Return the opposing torque, N m: positive when it acts against positive motion."""
        return self.stiffness * (position - self.rest) + self.damping * velocity


@dataclass(frozen=True)
class JointFriction:
    """What resists every motion of a joint; what a loaded gear adds is `GearedMotor`'s.

    Args:
        viscous: Per speed, N m s/rad.
        coulomb: Dry friction, N m, whatever the speed.
    """

    viscous: float
    coulomb: float
