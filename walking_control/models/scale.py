# SPDX-License-Identifier: Apache-2.0
"""How defaults grow with a robot: by its mass m, its size L and its time T = sqrt(L / g).

Robots of the same shape move alike when forces go with m g, torques and energies with m g L, and
times with T (dynamic similarity, the equality of Froude numbers). A default that carries a unit of
force, length or time fits one size of robot; its unit says what it is for another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
import math

import numpy as np
import pinocchio as pin

from walking_control.models import Robot, without_shapes

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
    """The size of a robot.

    Args:
        mass: kg.
        length: Height of a leg's first joint over its foot at zero angles, of the longer leg, m.
        gravity: m/s^2.
    """

    mass: float
    length: float
    gravity: float

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
    """Return the `Scale` of a robot; of one that is flat at zero angles the reference's length.

    Args:
        robot: The `Robot`.
        gravity: Where it walks, m/s^2.
    """
    mass, length, _ = _sizes(robot.urdf, robot.feet)
    return Scale(mass, length, gravity)


def hip_height(robot: Robot) -> float:
    """Return how high the hip of the longer leg lies above the base at zero angles, m."""
    return _sizes(robot.urdf, robot.feet)[2]


@lru_cache(maxsize=64)
def _sizes(urdf: str, feet: tuple[str, ...]) -> tuple[float, float, float]:
    """Return mass, length of the longer leg and height of its hip above the base, kg and m."""
    model = pin.buildModelFromXML(without_shapes(urdf), pin.JointModelFreeFlyer())  # for its mass
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    frames = [model.getFrameId(foot) for foot in feet]
    hips = hip_joints(model, [model.frames[frame].parentJoint for frame in frames])
    above = [float(data.oMi[hip].translation[2]) for hip in hips]
    lengths = [
        height - float(data.oMf[frame].translation[2])
        for height, frame in zip(above, frames, strict=True)
    ]
    longest = int(np.argmax(lengths))
    length = lengths[longest] if lengths[longest] > 1e-6 else REFERENCE.length
    return pin.computeTotalMass(model), length, above[longest]


def hip_joints(model: pin.Model, feet: Sequence[int]) -> list[int]:
    """Return the joint at which each leg begins, the first one that no other leg hangs on.

    Args:
        model: Pinocchio model with a free base, joint 1.
        feet: Joint that each foot moves with.

    Returns:
        Joint by foot; of a foot of the base that joint 1.
    """
    chains = [list(model.supports[foot]) for foot in feet]
    shared = set(chains[0]).intersection(*chains[1:])
    return [next((joint for joint in chain if joint not in shared), 1) for chain in chains]
