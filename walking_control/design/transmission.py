# SPDX-License-Identifier: Apache-2.0
"""Gears between motors and joints: what power they pass, forwards and backwards ([SR20]).

A motor turns by phi, the output of its gear by ``psi = G phi`` and the joints by ``q = D psi``:
G < 1 is the reduction of each gear, D how motors and joints are connected (the identity if every
joint has its own motor). A gear passes its efficiency of the power: ``eta_f`` where motors drive
the limb (forward), ``eta_b`` where the limb drives the motors (backward). What that makes of a limb
says `limb`.

Torques here are those of motors times reductions (``tau_psi = tau / G``), as everywhere in this
package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walking_control.design.mechanism import Mechanism, SINGULAR
from walking_control.exceptions import require

FORWARD, BACKWARD, LOSSLESS = 'forward', 'backward', 'lossless'
LEAST = 1e-6  # of efficiencies and reductions; a backward efficiency below counts as 0
MOST = 1e9  # of rotor inertia, kg m^2, and torque, N m; beyond, numbers overflow


def backward_efficiency(forward: float, reduction: float) -> float:
    """Return the backward efficiency of a gear with a forward one ([SR20] (15)).

    0 means that nothing at the output turns the motor. It is never above the forward efficiency,
    for the difference has the sign of ``(1 - G^2) (1 - eta_f)^2``.

    Args:
        forward: Forward efficiency, in (0, 1].
        reduction: Turns of the output per turn of the rotor, G in (0, 1].

    Raises:
        InvalidInput: A number is outside its range.
    """
    _check_share('efficiency', forward)
    _check_reduction('', reduction)
    square = reduction**2
    return max(0.0, (2.0 * forward - 1.0 + square) / ((1.0 - square) * forward + 2.0 * square))


def _check_share(name: str, value: float) -> None:
    require(0.0 < value <= 1.0, name, value=float(value), limit='must be above 0 and at most 1')
    require(value >= LEAST, name, value=float(value), limit=f'must be at least {LEAST:g}')


def _check_reduction(joint: str, value: float) -> None:
    what = 'reduction' + (f' of {joint}' if joint else '')
    require(not 0.0 < value < LEAST, what, value=float(value), limit=f'must be at least {LEAST:g}')
    require(
        0.0 < value <= 1.0,
        what,
        value=float(value),
        limit='must be above 0 and at most 1: turns of the output per turn of '
        'the rotor, 0.05 for 20:1',
        remedy=f'meant is {1.0 / value:.4g}?' if 1.0 < value < np.inf else None,
    )


@dataclass(frozen=True)
class Transmission:
    """Motors and gears of a limb, one number a motor each.

    Raises:
        InvalidInput: A number is outside its range, or the topology cannot be inverted.
    """

    joints: tuple[str, ...]  # of the limb, from the base outwards
    reduction: np.ndarray  # turns of the output per turn of the rotor, G, in (0, 1]
    rotor_inertia: np.ndarray  # of each rotor about its own axis, kg m^2
    efficiency: np.ndarray  # forward, in (0, 1]
    torque: np.ndarray  # largest torque of the motor times reduction, N m
    # None until `__post_init__` has filled them in: backward, from 0 (the gear holds) to 1, None
    # follows `backward_efficiency`; D, ``(m, m)``, joint angles per outputs' angles, None gives
    # each joint its own motor
    back_efficiency: np.ndarray = None  # type: ignore[assignment]
    topology: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Spread single numbers over all motors and check every one."""
        size = len(self.joints)
        for name in ('reduction', 'rotor_inertia', 'efficiency', 'torque', 'back_efficiency'):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _one_each(name, given, size))
        for joint, reduction, inertia, share, torque in zip(
            self.joints, self.reduction, self.rotor_inertia, self.efficiency, self.torque
        ):
            _check_reduction(joint, reduction)
            _check_share(f'efficiency of {joint}', share)
            for what, value in (('rotor inertia', inertia), ('torque', torque)):
                require(
                    0.0 <= value <= MOST or (what == 'torque' and value == np.inf),
                    f'{what} of {joint}',
                    value=float(value),
                    limit=f'must be from 0 to {MOST:g}',
                )
        if self.back_efficiency is None:
            object.__setattr__(
                self,
                'back_efficiency',
                np.array(
                    [backward_efficiency(*pair) for pair in zip(self.efficiency, self.reduction)]
                ),
            )
        for joint, share in zip(self.joints, self.back_efficiency):
            require(
                0.0 <= share <= 1.0,
                f'back efficiency of {joint}',
                value=float(share),
                limit='must be from 0 to 1',
            )
        # what is as good as nothing is nothing, or numbers overflow
        for name, least in (('back_efficiency', LEAST), ('torque', 1e-9)):
            values = getattr(self, name)
            object.__setattr__(self, name, np.where(values < least, 0.0, values))
        topology = np.eye(size) if self.topology is None else np.asarray(self.topology, float)
        require(
            topology.shape == (size, size)
            and np.isfinite(topology).all()
            and np.linalg.cond(topology) <= 1.0 / SINGULAR,
            'topology',
            value=topology.tolist(),
            limit=f'must be an invertible matrix of {size} x {size} numbers',
        )
        object.__setattr__(self, 'topology', topology)

    def with_(self, **changes: Any) -> Transmission:
        """Return the same with other numbers; the back efficiency follows the efficiency."""
        kept = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if {'efficiency', 'reduction'} & set(changes):
            kept['back_efficiency'] = None
        return Transmission(**{**kept, **changes})

    @property
    def reflected(self) -> np.ndarray:
        """Inertia of each rotor as felt behind its gear, kg m^2: ``I / G^2``."""
        return np.asarray(self.rotor_inertia / self.reduction**2)

    @property
    def to_rotors(self) -> np.ndarray:
        """Velocities of rotors per those of joints, ``(D G)^-1``, ``(m, m)``."""
        return np.linalg.inv(self.topology * self.reduction)

    def shares(self, mode: str) -> np.ndarray:
        """Return the diagonal of E, ``(m,)``; infinite where a gear lets nothing back.

        Args:
            mode: ``'forward'``, ``'backward'`` or ``'lossless'``.
        """
        if mode == FORWARD:
            return self.efficiency
        if mode == LOSSLESS:
            return np.ones(len(self.joints))
        with np.errstate(divide='ignore'):
            return 1.0 / self.back_efficiency


def _one_each(name: str, given: Any, size: int) -> np.ndarray:
    values = np.atleast_1d(np.asarray(given, float))
    require(
        values.shape in ((1,), (size,)),
        name.replace('_', ' '),
        value=values.tolist(),
        limit=f'must be one number, or {size}, one for each joint of the limb',
    )
    return np.broadcast_to(values, size).astype(float)


def make_transmission(
    mechanism: Mechanism,
    frame: str,
    given: Mapping[str, Sequence[float]],
    topology: np.ndarray | None = None,
) -> tuple[Transmission, list[str]]:
    """Return the transmission of a limb that ends with a frame, and in words what nobody gave.

    `given` are numbers of reduction, rotor_inertia, efficiency, back_efficiency or torque; the rest
    comes from the motors of the robot file, or is assumed. `topology` is D; None: a motor at each
    joint.
    """
    joints = tuple(mechanism.joints_to(mechanism.dynamics.frame(frame)))
    require(joints, f'frame {frame}', limit='no joint moves it against the base')
    robot, assumptions = mechanism.dynamics.robot, []
    values: dict[str, Any] = dict(given)
    known = [robot.actuators.get(joint) for joint in joints]
    require(
        'rotor_inertia' not in given or 'reduction' in given or all(known),
        'reduction',
        limit='is needed to reflect the rotor inertia',
        remedy='give --reduction, such as 0.05 for 20:1',
    )
    of_motors: dict[str, tuple[Callable[[Any], float], float | None]] = {
        'reduction': (lambda motor: 1.0 / motor.reduction, 1.0),
        'rotor_inertia': (lambda motor: motor.rotor_inertia, 0.0),
        'efficiency': (lambda motor: motor.efficiency, 1.0),
        'torque': (lambda motor: motor.effort_limit, None),
    }
    for name, (read, default) in of_motors.items():
        if name in values:
            continue
        found = [default if motor is None else read(motor) for motor in known]
        if name == 'torque':
            found = [
                robot.limits[joint].effort if value is None else value
                for joint, value in zip(joints, found)
            ]
        elif not all(known):
            whose = (
                ', '.join(j for j, motor in zip(joints, known) if not motor)
                if any(known)
                else 'all gears'
            )
            assumptions.append(f'{name.replace("_", " ")} of {whose}: {default:g}')
        values[name] = found
    if all(known) and not {'efficiency', 'reduction', 'back_efficiency'} & set(given):
        values['back_efficiency'] = [motor.back_efficiency for motor in known if motor]
    if topology is not None:
        values['topology'] = topology
    return Transmission(joints, **values), assumptions
