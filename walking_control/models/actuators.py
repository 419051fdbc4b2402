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
        supply_voltage: What the amplifier can put on the motor, V; 0: as much as it takes.
    """

    torque_constant: float
    reduction: float
    rotor_inertia: float
    resistance: float
    current_limit: float
    efficiency: float = 1.0
    back_efficiency: float = 1.0
    supply_voltage: float = 0.0

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

    @property
    def stall_effort(self) -> float:
        """Largest effort the supply can cause at rest, N m; infinite without a supply voltage."""
        if self.supply_voltage <= 0.0:
            return np.inf
        return self.torque_per_ampere / self.resistance * self.supply_voltage

    @property
    def speed_drag(self) -> float:
        """Effort that is lost per velocity of the joint, N m s/rad; 0 without a supply voltage."""
        if self.supply_voltage <= 0.0:
            return 0.0
        return self.torque_per_ampere ** 2 / self.resistance

    def effort_range(self, velocity: Amount) -> tuple[Amount, Amount]:
        """Return smallest and largest effort the supply can cause at a joint velocity, N m.

        What voltage remains beside the one the turning rotor induces, N kt w, drives the current:
        R i = +-U - N kt w. Faster than U / (N kt) the motor brakes, whatever the amplifier does.
        Without a supply voltage nothing is limited.

        Args:
            velocity: rad/s.
        """
        if self.supply_voltage <= 0.0:
            return velocity * 0.0 - np.inf, velocity * 0.0 + np.inf
        slope, induced = self.torque_per_ampere / self.resistance, \
            self.torque_per_ampere * velocity
        return slope * (-self.supply_voltage - induced), slope * (self.supply_voltage - induced)

    def supplied(self, effort: float, velocity: float, duration: float) -> float:
        """Return what of an effort the supply causes at a joint velocity, N m.

        A braking torque is that of the velocity after the step it acts in, as far as the rotor's
        own inertia says; else a light rotor would be thrown back.

        Args:
            effort: N m.
            velocity: rad/s.
            duration: How long it acts, s.
        """
        low, high = self.effort_range(velocity)
        limited = min(max(effort, low), high)
        if limited * velocity < 0.0 and limited != effort:
            limited *= self.armature / (self.armature + self.speed_drag * duration)
        return limited

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
