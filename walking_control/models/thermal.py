# SPDX-License-Identifier: Apache-2.0
"""How warm motors get: two nodes a motor, its winding and its housing.

The copper of a joint that bears the effort u turns kappa u^2 into heat, kappa = R / (N kt)^2, more
when it is warm, for the resistance of copper grows as 234.5 C + W ([IEC 60034-1]):

    Cw dW/dt = kappa u^2 (234.5 + W) / (234.5 + 25) - (W - H) / Rw
    Ch dH/dt = (W - H) / Rw - (H - A) / Rh + p

with W, H, A the temperatures of winding, housing and air in C, Rw and Rh the thermal resistances
from winding to housing and on to the air in K/W, Cw and Ch the heat capacities in J/K, and p what
joint and gear lose by friction, W. At a constant mean of u^2 that is linear, x' = M x + b, and
solved exactly by the exponential of [[M, b], [0, 0]]. A step of walking lasts some tenths of a
second, a winding takes tens of seconds, so a walk counts with its means. Where kappa u^2 / 259.5
reaches 1 / (Rw + Rh), warmth makes more heat than the air takes: no temperature is the last.

What a robot file does not tell is guessed from the largest effort U of the motor, and said: an
actuator of the trade (catalogues of quasi-direct drives for legs) weighs 1 kg for 45 N m and bears
a third of U for good with its winding at 120 C. A fifth of the heat's way to the air is inside. Its
capacity is that of steel, copper and aluminium mixed, 500 J/(kg K), a tenth of it in the winding;
half a kilogram loses 1 W to the air for each 1.5 K, by a surface that grows as mass^(2/3).

Simplifications: one temperature of the air; links neither warm each other nor cool motors more
when they move; no losses of iron beside the friction that the robot file tells.
"""

from dataclasses import dataclass

import numpy as np

from walking_control.exceptions import ParameterError, require
from walking_control.models import MotorThermal, Robot

COPPER = 234.5  # K: below 0 C, where the resistance of copper would end
TOLD = 25.0  # C, at which data sheets tell a resistance
HOTTEST = 1e6  # C, beyond which nothing is followed
COLDEST, WARMEST = -60.0, 60.0  # C, of air that robots work in
BURNT = 200.0  # C, of a motor that no longer is one
_DENSITY = 45.0  # N m/kg, of actuators
_CONTINUOUS = 1.0 / 3.0  # of the largest effort, borne for good
_RATED = 120.0  # C, of a winding that bears it
_CAPACITY = 500.0  # J/(kg K)
_IN_WINDING = 0.1  # of the capacity
_INSIDE = 0.2  # of the thermal resistance, from winding to housing
_COOLING = 1.5  # K/W of an actuator of half a kilogram


@dataclass(frozen=True)
class Heating:
    """What warms and cools the motors of a robot, in their order, ``(n,)`` each.

    Args:
        joints: That they drive.
        copper: kappa, heat by squared effort at 25 C, W/(N m)^2.
        inside: Thermal resistance from winding to housing, K/W.
        outside: From housing to air, K/W.
        winding: Capacity, J/K.
        housing: Capacity, J/K.
        limit: Of the winding, C.
        guesses: In words, what nobody told.
    """

    joints: tuple[str, ...]
    copper: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    winding: np.ndarray
    housing: np.ndarray
    limit: np.ndarray
    guesses: tuple[str, ...]

    def step(
        self,
        temperature: np.ndarray,
        squared: np.ndarray,
        friction: np.ndarray,
        air: float,
        duration: float,
    ) -> np.ndarray:
        """Return the temperatures a time later, exactly, for constant heat.

        Args:
            temperature: Of windings and housings, C, ``(n, 2)``.
            squared: Mean squared efforts, (N m)^2, ``(n,)``.
            friction: Mean friction loss, W, ``(n,)``.
            air: Its temperature, C.
            duration: s.
        """
        from scipy.linalg import expm  # the loop needs `follow` alone

        system = np.zeros((len(self.joints), 3, 3))
        warming = self.copper * squared / (COPPER + TOLD)
        system[:, 0, 0] = (warming - 1.0 / self.inside) / self.winding
        system[:, 0, 1] = 1.0 / (self.inside * self.winding)
        system[:, 0, 2] = warming * COPPER / self.winding
        system[:, 1, 0] = 1.0 / (self.inside * self.housing)
        system[:, 1, 1] = -(1.0 / self.inside + 1.0 / self.outside) / self.housing
        system[:, 1, 2] = (air / self.outside + friction) / self.housing
        start = np.column_stack((temperature, np.ones(len(self.joints))))
        with np.errstate(over='ignore', invalid='ignore'):  # of heat that runs away
            moved = np.einsum('nij,nj->ni', expm(system * duration), start)[:, :2]
        moved = np.nan_to_num(moved, nan=HOTTEST, posinf=HOTTEST)
        return np.asarray(np.clip(moved, -COPPER, HOTTEST))

    def follow(
        self, temperature: np.ndarray, squared: np.ndarray, air: float, duration: float
    ) -> np.ndarray:
        """Return the temperatures a short time later, C, ``(n, 2)``; friction not counted.

        Backward Euler, for every tick: stable however small a capacity is.

        Args:
            temperature: Of windings and housings, C, ``(n, 2)``.
            squared: Squared efforts, (N m)^2, ``(n,)``.
            air: Its temperature, C.
            duration: s.
        """
        warming = self.copper * squared / (COPPER + TOLD)
        winding, housing = duration / self.winding, duration / self.housing
        # where heat runs away within the time no warmth follows: as warm as anything
        a = np.maximum(1.0 - winding * (warming - 1.0 / self.inside), 1e-6)
        d = 1.0 + housing * (1.0 / self.inside + 1.0 / self.outside)
        b, c = winding / self.inside, housing / self.inside
        r = temperature[:, 0] + winding * warming * COPPER
        s = temperature[:, 1] + housing * air / self.outside
        det = np.maximum(a * d - b * c, 1e-6)
        return np.column_stack(((r * d + b * s) / det, (a * s + c * r) / det)).clip(max=HOTTEST)

    def continuous(self, air: float) -> np.ndarray:
        """Return the effort that each motor bears for good without friction, N m, ``(n,)``.

        Args:
            air: Its temperature, C; above a limit nothing is borne.
        """
        heat = np.maximum(self.limit - air, 0.0) / (self.inside + self.outside)
        with np.errstate(divide='ignore'):
            squared = heat * (COPPER + TOLD) / (self.copper * (COPPER + self.limit))
            return np.asarray(np.sqrt(squared))

    def weights(self, air: float = TOLD) -> dict[str, float]:
        """Return joint -> what its squared torque counts where motors shall stay cool.

        It is the share of the warming that a motor bears for good, 1 / continuous effort^2, in
        units of their mean: what makes a weak or a badly cooled motor dear.

        Args:
            air: Its temperature, C.
        """
        share = np.maximum(self.continuous(air), 1e-6) ** -2.0
        share *= len(share) / max(share.sum(), 1e-12)
        return dict(zip(self.joints, share.tolist(), strict=True))


def check_air(air: float, start: float, limits: np.ndarray) -> None:
    """Refuse what is no temperature of air, or of a motor at the start, in degrees Celsius.

    Args:
        air: Temperature of the air.
        start: Of the motors.
        limits: What their windings may reach, ``(n,)``.

    Raises:
        ParameterError: One is below -60; the air is above 60 or less than 1 K below a limit; or a
            motor is above 200.
    """
    coolest = min(WARMEST, float(limits.min(initial=np.inf)) - 1.0)
    for name, value, most in (('ambient', air, coolest), ('begin', start, BURNT)):
        require(
            COLDEST <= value <= most,
            name,
            value=value,
            limit=f'must be from {COLDEST:g} to {most:g} C',
            remedy='temperatures are in degrees Celsius, not in kelvin or Fahrenheit, '
            'and in air as warm as its limit no motor can work',
            error=ParameterError,
        )


def heating(robot: Robot) -> Heating:
    """Return the `Heating` of a robot's motors, what is not told guessed and said.

    Args:
        robot: The `Robot`.
    """
    motors = robot.actuators
    told = [robot.thermal.get(joint, MotorThermal()) for joint in motors]
    # what the motor is, whatever share of it is counted on
    largest = np.maximum(robot.effort_limits[: len(motors)] / robot.effort_share, 1e-6)
    mass = largest / _DENSITY
    way = _COOLING * (mass / 0.5) ** (-2.0 / 3.0)
    guessed = {
        'winding_resistance': _INSIDE * way,
        'housing_resistance': (1.0 - _INSIDE) * way,
        'winding_capacity': _IN_WINDING * _CAPACITY * mass,
        'housing_capacity': (1.0 - _IN_WINDING) * _CAPACITY * mass,
    }
    found = {
        name: np.array([getattr(row, name) or guess for row, guess in zip(told, guess_of)])
        for name, guess_of in guessed.items()
    }
    way = found['winding_resistance'] + found['housing_resistance']
    borne = (_RATED - TOLD) / way * (COPPER + TOLD) / (COPPER + _RATED)
    copper = np.array(
        [
            motor.resistance / motor.torque_per_ampere**2 or guess
            for motor, guess in zip(motors.values(), borne / (_CONTINUOUS * largest) ** 2)
        ]
    )
    unwound = [joint for joint, motor in motors.items() if not motor.resistance]
    vague = [joint for joint, row in zip(motors, told) if not all(getattr(row, n) for n in guessed)]
    all_of_them = f'all {len(motors)} motors'
    guesses = (
        ('winding', unwound, 'it bears a third of the largest effort for good'),
        (
            'thermal data',
            vague,
            f'an actuator of 1 kg for 45 N m, {_CAPACITY:g} J/(kg K), {_COOLING:g} K/W at 0.5 kg '
            '(robot.thermal tells better)',
        ),
    )
    return Heating(
        tuple(motors),
        copper,
        found['winding_resistance'],
        found['housing_resistance'],
        found['winding_capacity'],
        found['housing_capacity'],
        np.array([row.limit for row in told]),
        tuple(
            f'{what} of {all_of_them if len(joints) == len(motors) else ", ".join(joints)}: {guess}'
            for what, joints, guess in guesses
            if joints
        ),
    )
