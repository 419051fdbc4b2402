# SPDX-License-Identifier: Apache-2.0
"""Geared electric motors, springs and friction: what turns, holds and brakes a joint."""

from typing import TypeVar

import numpy as np

from walking_control.exceptions import ParameterError, require
from walking_control.models.drive_kinds import KINDS
from walking_control.models.parameters import parameter, Parameters

Amount = TypeVar('Amount', float, np.ndarray)  # one number, or one a row


class GearedMotor(Parameters, section='actuators'):
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
        torque_lag: Time constant with which the torque follows a command, s.
        backlash: How far the joint turns freely before motor and gear hold it, rad.
    """

    torque_constant: float = parameter(1.0, 'N m/A', 'Torque per ampere at the rotor.', 1e-6, 1e3)
    reduction: float = parameter(1.0, '1', 'Rotor turns per joint turn.', 1e-3, 1e4)
    rotor_inertia: float = parameter(0.0, 'kg m^2', 'Inertia at the rotor.', 0.0, 10.0)
    resistance: float = parameter(0.0, 'ohm', 'Winding resistance.', 0.0, 1e3)
    current_limit: float = parameter(1e3, 'A', 'Largest current of the amplifier.', 1e-3, 1e6)
    efficiency: float = parameter(
        1.0, '1', 'Share of power that passes from motor to joint.', 0.01, 1.0
    )
    back_efficiency: float = parameter(
        1.0, '1', 'The same from joint to motor; where not written, `efficiency`.', 0.01, 1.0
    )
    supply_voltage: float = parameter(
        0.0,
        'V',
        'Of the amplifier: limits torque by speed; 0: as much as it takes.',
        0.0,
        1e4,
    )

    torque_lag: float = parameter(
        0.0, 's', 'Time constant with which the torque follows a command.', 0.0, 0.1
    )
    backlash: float = parameter(
        0.0,
        'rad',
        'How far the joint turns freely in its gear; the encoder is on the joint.',
        0.0,
        0.2,
    )

    drive: str = parameter(
        'effort',
        '',
        'What the drive takes: '
        + '; '.join(f'{name}: {kind.meaning}' for name, kind in KINDS.items())
        + '.',
        choices=tuple(KINDS),
    )
    stiffness: float = parameter(
        0.0,
        'N m/rad',
        'Of a position drive; of an impedance drive where a law says none (0: from '
        'inertia and period).',
        0.0,
        1e6,
    )
    damping: float = parameter(0.0, 'N m s/rad', 'Likewise.', 0.0, 1e5)
    drive_rate: float = parameter(
        1000.0, 'Hz', 'Rate at which the drive samples its joint.', 10.0, 1e5
    )

    def check(self) -> None:
        """Refuse what does not go together: supply and winding, play and rotor, drive and gains."""
        require(
            self.supply_voltage <= 0.0 or self.resistance > 0.0,
            'resistance of a motor with supply_voltage',
            value=self.resistance,
            limit='must be above 0 ohm: it limits the current',
            error=ParameterError,
        )
        require(
            self.backlash <= 0.0 or self.rotor_inertia > 0.0,
            'rotor_inertia of a motor with backlash',
            value=self.rotor_inertia,
            limit='must be above 0 kg m^2: it alone is moved within the play',
            error=ParameterError,
        )
        kind = KINDS[self.drive]
        require(
            not kind.is_plain or (not self.stiffness and not self.damping),
            'stiffness, damping of a motor',
            value=[self.stiffness, self.damping],
            limit=f'are ignored by drive: {self.drive}',
            remedy='drive: impedance or drive: position, if it is one',
            error=ParameterError,
        )
        require(
            not kind.has_own_gains or self.stiffness,
            'stiffness of a motor',
            value=self.stiffness,
            limit=f'must be above 0 N m/rad of drive: {self.drive}: it alone makes the torque',
            error=ParameterError,
        )

    @property
    def torque_per_ampere(self) -> float:
        """Effort per ampere, N m/A."""
        return self.reduction * self.torque_constant

    @property
    def armature(self) -> float:
        """Rotor inertia as felt at the joint, N^2 J in kg m^2."""
        return self.reduction**2 * self.rotor_inertia

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
        return self.torque_per_ampere**2 / self.resistance

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
        slope, induced = self.torque_per_ampere / self.resistance, self.torque_per_ampere * velocity
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
        """Return the electrical power, W, of efforts, N m, at joint velocities, rad/s.

        Args:
            effort: N m.
            velocity: Of the joint, rad/s.
        """
        current = effort / self.torque_per_ampere
        power: Amount = effort * velocity + self.resistance * current * current
        return power


class JointSpring(Parameters, section='springs'):
    """A passive linear spring and damper across a joint.

    Args:
        stiffness: N m/rad.
        damping: N m s/rad.
        rest: Angle at which the spring is relaxed, rad.
    """

    stiffness: float = parameter(
        0.0, 'N m/rad', 'Stiffness of the spring across the joint.', 0.0, 1e6
    )
    damping: float = parameter(0.0, 'N m s/rad', 'Viscous damping across the joint.', 0.0, 1e4)
    rest: float = parameter(0.0, 'rad', 'Joint angle at which the spring is relaxed.', -10.0, 10.0)

    def effort(self, position: Amount, velocity: Amount) -> Amount:
        """Return the opposing torque, N m: positive when it acts against positive motion.

        Args:
            position: Of the joint, rad.
            velocity: rad/s.
        """
        return self.stiffness * (position - self.rest) + self.damping * velocity


class JointFriction(Parameters, section='friction'):
    """What resists every motion of a joint; what a loaded gear adds is `GearedMotor`'s.

    Args:
        viscous: Per speed, N m s/rad.
        coulomb: Dry friction, N m, whatever the speed.
    """

    viscous: float = parameter(
        0.0,
        'N m s/rad',
        'Friction torque per speed; where not written, `damping` of the URDF.',
        0.0,
        1e4,
    )
    coulomb: float = parameter(
        0.0, 'N m', 'Dry friction; where not written, `friction` of the URDF.', 0.0, 1e4
    )


NO_SPRING, NO_FRICTION = JointSpring(), JointFriction()


class MotorThermal(Parameters, section='thermal'):
    """Of a motor that gets warm; 0: guessed from its largest effort.

    Args:
        winding_resistance: From winding to housing, K/W.
        housing_resistance: From housing to air, K/W.
        winding_capacity: J/K.
        housing_capacity: J/K.
        limit: Of the winding, C.
    """

    winding_resistance: float = parameter(
        0.0, 'K/W', 'Thermal resistance from winding to housing; 0: guessed.', 0.0, 1e3
    )
    housing_resistance: float = parameter(
        0.0, 'K/W', 'Thermal resistance from housing to air; 0: guessed.', 0.0, 1e3
    )
    winding_capacity: float = parameter(
        0.0, 'J/K', 'Heat capacity of the winding; 0: guessed.', 0.0, 1e5
    )
    housing_capacity: float = parameter(
        0.0, 'J/K', 'Heat capacity of all that the winding warms; 0: guessed.', 0.0, 1e6
    )
    limit: float = parameter(90.0, 'C', 'Temperature that the winding may reach.', 30.0, 300.0)


def lagging(
    asked: np.ndarray, reached: np.ndarray, lags: np.ndarray, duration: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return what motors that lag make of efforts on average over a time, and at its end.

    T y' = u - y goes on as y = u + (y_0 - u) e^(-t/T), whose mean over h is
    u + (y_0 - u) (1 - e^(-h/T)) T/h; without a lag it is u.

    Args:
        asked: u, N m, ``(n,)``.
        reached: y_0, likewise.
        lags: T, s, ``(n,)``.
        duration: h, s.
    """
    times = np.maximum(lags, 1e-9)
    behind, left = reached - asked, np.exp(-duration / times)
    return asked + behind * (1.0 - left) * times / max(duration, 1e-9), asked + behind * left
