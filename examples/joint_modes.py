# SPDX-License-Identifier: Apache-2.0
"""Accelerations of geared joints with dry friction that truly sticks.

With link inertia M, remaining efforts h and the efforts tau of the motors, rate w and acceleration
a of a joint obey ``(M a + h) = y(x) - viscous w - coulomb sign(w)``, where ``x = tau - Ia a`` has
passed the rotor Ia and enters the gear. The gear passes ``y = efficiency x`` while power flows to
the joint, ``x w > 0``, and ``y = x / back_efficiency`` while it flows to the motor, ``x w < 0``
([SR20] (4), (5)). What decides is the power *through* the gear, not that of the motor.

At rest the direction in which a joint is about to move takes the place of w, and every torque
between those of the two directions may hold it.

Each joint's torque is then a decreasing (at rest set-valued) function of its own acceleration, and
M is positive definite, so that ``M a + h - torque(a)`` increases strictly: whatever the number of
motors, exactly one acceleration, and with it one mode of every joint, fits. `solve_joints` finds it
by solving joint after joint and, once the modes stay, all of them together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from walking_control.exceptions import InvalidInput

_SWEEPS = 10000  # far beyond what any mass matrix of a robot needs
_TIE = 1e-9  # share of a joint's torques by which a mode may miss: rounding


class Mode(IntEnum):
    """What a gear does."""

    DRIVEN = -1  # power flows from the joint to the motor
    STUCK = 0
    DRIVING = 1  # power flows from the motor to the joint


@dataclass(frozen=True)
class GearedJoints:
    """The transmissions between motors and joints, one number a joint each.

    Args:
        armature: Rotor inertia as felt at the joint, kg m^2, at least 0.
        efficiency: Share of power that passes to the joint, in (0, 1].
        back_efficiency: Share that passes to the motor, in (0, 1].
        coulomb: Dry friction, N m, at least 0.
        viscous: Friction per rate, N m s/rad, at least 0.

    Raises:
        InvalidInput: A number is outside its range.
    """

    armature: np.ndarray
    efficiency: np.ndarray
    back_efficiency: np.ndarray
    coulomb: np.ndarray
    viscous: np.ndarray

    def __post_init__(self) -> None:
        """Refuse what would drive a joint."""
        for name in ('efficiency', 'back_efficiency'):
            _check(
                name,
                getattr(self, name),
                lambda value: 0.0 < value <= 1.0,
                'must be above 0 and at most 1',
            )
        for name in ('armature', 'coulomb', 'viscous'):
            _check(
                name,
                getattr(self, name),
                lambda value: 0.0 <= value < np.inf,
                'must be finite and at least 0',
            )

    def reaching(self, entering: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return what reaches the joints of torques that enter, by direction of motion, N m."""
        return entering * np.where(
            entering * direction > 0.0, self.efficiency, 1.0 / self.back_efficiency
        )


def _check(name: str, values: np.ndarray, fits: Callable[[float], bool], limit: str) -> None:
    for value in np.atleast_1d(values):
        if not fits(float(value)):
            raise InvalidInput(name.replace('_', ' '), value=float(value), limit=limit)


@dataclass(frozen=True)
class JointMotion:
    """What joints do next.

    Args:
        acceleration: rad/s^2.
        torque: What gear and friction together give the links, N m.
        entering: What enters the gears behind the rotors, N m.
        direction: Sign of the rate or, at rest, of the acceleration; 0 of joints that stick.
        mode: `Mode` of each gear.
    """

    acceleration: np.ndarray
    torque: np.ndarray
    entering: np.ndarray
    direction: np.ndarray
    mode: np.ndarray


def solve_joints(
    mass: np.ndarray, bias: np.ndarray, effort: np.ndarray, rates: np.ndarray, joints: GearedJoints
) -> JointMotion:
    """Return the one motion that fits the modes of all joints.

    Args:
        mass: Inertia of the links without rotors, positive definite, ``(n, n)``.
        bias: Coriolis, gravity and other efforts to overcome, ``(n,)``, N m.
        effort: Torques of the motors times reductions, ``(n,)``, N m.
        rates: Of the joints, rad/s; exactly 0 is rest.
        joints: The `GearedJoints`.
    """
    mass, bias, effort = (np.asarray(each, float) for each in (mass, bias, effort))
    direction, gain = np.sign(rates).astype(float), np.ones(len(bias))
    drag = joints.viscous * np.asarray(rates, float)
    resting, acceleration = direction == 0.0, np.zeros(len(bias))
    for _ in range(_SWEEPS):
        before = (gain.copy(), direction.copy())
        for i in range(len(bias)):
            load = bias[i] + drag[i] + mass[i] @ acceleration - mass[i, i] * acceleration[i]
            if resting[i]:
                direction[i] = _onset(joints, i, effort[i], load)
            gain[i], acceleration[i] = _own_acceleration(
                joints, i, mass[i, i], effort[i], load, direction[i]
            )
        if all(map(np.array_equal, before, (gain, direction))):
            together = _solve_modes(mass, bias + drag, effort, joints, gain, direction)
            if _fits(together, mass, bias + drag, effort, joints, gain, direction, resting):
                acceleration = together
                break
    entering = effort - joints.armature * acceleration
    mode = np.sign(entering * direction).astype(int)
    return JointMotion(acceleration, mass @ acceleration + bias, entering, direction, mode)


def _onset(joints: GearedJoints, i: int, effort: float, load: float) -> float:
    """Return the direction in which a resting joint starts under a load, 0 if it sticks."""
    forward, back = joints.efficiency[i], 1.0 / joints.back_efficiency[i]
    least = (forward if effort > 0.0 else back) * effort - joints.coulomb[i]
    most = (back if effort > 0.0 else forward) * effort + joints.coulomb[i]
    return 1.0 if load < least else -1.0 if load > most else 0.0


def _own_acceleration(
    joints: GearedJoints, i: int, mass: float, effort: float, load: float, direction: float
) -> tuple[float, float]:
    """Return gain of the gear and acceleration of one joint while the others keep theirs."""
    if direction == 0.0:
        return 1.0, 0.0
    for gain in (joints.efficiency[i], 1.0 / joints.back_efficiency[i]):
        own = (gain * effort - direction * joints.coulomb[i] - load) / (
            mass + gain * joints.armature[i]
        )
        if gain <= 1.0 and (effort - joints.armature[i] * own) * direction >= 0.0:
            break
    return gain, own


def _solve_modes(
    mass: np.ndarray,
    load: np.ndarray,
    effort: np.ndarray,
    joints: GearedJoints,
    gain: np.ndarray,
    direction: np.ndarray,
) -> np.ndarray:
    """Return all accelerations at once for given modes."""
    free = direction != 0.0
    matrix = (mass + np.diag(gain * joints.armature))[np.ix_(free, free)]
    right = (gain * effort - direction * joints.coulomb - load)[free]
    acceleration = np.zeros(len(load))
    acceleration[free] = np.linalg.solve(matrix, right) if free.any() else 0.0
    return acceleration


def _fits(
    acceleration: np.ndarray,
    mass: np.ndarray,
    load: np.ndarray,
    effort: np.ndarray,
    joints: GearedJoints,
    gain: np.ndarray,
    direction: np.ndarray,
    resting: np.ndarray,
) -> bool:
    """Return whether accelerations agree with the modes they were found for."""
    scale = np.abs(effort) + np.abs(load) + np.abs(mass) @ np.abs(acceleration) + 1e-30
    entering = effort - joints.armature * acceleration
    drives = (entering * direction > _TIE * scale) & (gain > joints.efficiency * (1.0 + _TIE))
    driven = (entering * direction < -_TIE * scale) & (
        gain < 1.0 / joints.back_efficiency * (1.0 - _TIE)
    )
    turned = resting & (acceleration * direction < 0.0)
    held = mass @ acceleration + load
    slack = joints.coulomb + _TIE * scale
    low = joints.reaching(effort, np.ones(len(load))) - slack
    high = joints.reaching(effort, -np.ones(len(load))) + slack
    slipping = (direction == 0.0) & ((held < low) | (held > high))
    return not bool((drives | driven | turned | slipping).any())
