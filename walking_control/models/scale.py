# SPDX-License-Identifier: Apache-2.0
"""How defaults grow with a robot: by its mass m, its size L and its time T = sqrt(L / g).

Robots of the same shape move alike when forces go with m g, torques and energies with m g L, and
times with T (dynamic similarity, the equality of Froude numbers). A default that carries a unit of
force, length or time fits one size of robot; its unit says what it is for another.
"""

from dataclasses import dataclass
from functools import lru_cache
import math

import pinocchio as pin

from walking_control.models.robot import Robot
from walking_control.models.urdf import without_shapes

# unit -> exponents of mass, length and time, and what a default in it goes with
RULES = {
    'kg': ((1.0, 0.0, 0.0), 'm'),
    'm': ((0.0, 1.0, 0.0), 'L'),
    's': ((0.0, 0.0, 1.0), 'T'),
    '1/s^2': ((0.0, 0.0, -2.0), '1/T^2'),
    '1/s': ((0.0, 0.0, -1.0), '1/T'),
    'rad/s': ((0.0, 0.0, -1.0), '1/T'),
    'm/s': ((0.0, 1.0, -1.0), 'L / T'),
    'N': ((1.0, 1.0, -2.0), 'm g'),
    'N/m': ((1.0, 0.0, -2.0), 'm g / L'),
    'N s/m': ((1.0, 0.0, -1.0), 'm g T / L'),
    'N m': ((1.0, 2.0, -2.0), 'm g L'),
    'N m/rad': ((1.0, 2.0, -2.0), 'm g L'),
    'N m/s': ((1.0, 2.0, -3.0), 'm g L / T'),
    'N m s/rad': ((1.0, 2.0, -1.0), 'm g L T'),
    'J': ((1.0, 2.0, -2.0), 'm g L'),
    'W': ((1.0, 2.0, -3.0), 'm g L / T'),
    'J s': ((1.0, 2.0, -1.0), 'm g L T'),
    'J^0.5': ((0.5, 1.0, -1.0), '(m g L)^0.5'),
    '1/(s J^0.5)': ((-0.5, -1.0, 0.0), '1 / (T (m g L)^0.5)'),
    'J^-0.5 s^-1': ((-0.5, -1.0, 0.0), '1 / (T (m g L)^0.5)'),
    '1/(s^2 J^0.5)': ((-0.5, -1.0, -1.0), '1 / (T^2 (m g L)^0.5)'),
}


@dataclass(frozen=True)
class Scale:
    """The size of a robot."""

    mass: float  # kg
    length: float  # height of the base above the lowest foot at zero angles, m
    gravity: float  # m/s^2

    @property
    def time(self) -> float:
        """Return sqrt(L / g), s."""
        return math.sqrt(self.length / self.gravity)

    def factor(self, unit: str) -> float:
        """Return a quantity of this robot over that of the robot defaults are written for."""
        (mass, length, time), _ = RULES[unit]
        return float(
            (self.mass / REFERENCE.mass) ** mass
            * (self.length / REFERENCE.length) ** length
            * (self.time / REFERENCE.time) ** time
        )


REFERENCE = Scale(10.0, 1.0, 9.81)  # what the tables' defaults are written for


def scale_of(robot: Robot, gravity: float) -> Scale:
    """Return the `Scale` of a robot; of one that is flat at zero angles the reference's length."""
    mass, length = _mass_and_length(robot.urdf, robot.feet)
    return Scale(mass, length, gravity)


@lru_cache(maxsize=64)
def _mass_and_length(urdf: str, feet: tuple[str, ...]) -> tuple[float, float]:
    model = pin.buildModelFromXML(without_shapes(urdf), pin.JointModelFreeFlyer())  # for its mass
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    length = -min(float(data.oMf[model.getFrameId(foot)].translation[2]) for foot in feet)
    return pin.computeTotalMass(model), length if length > 1e-6 else REFERENCE.length
