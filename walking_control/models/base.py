# SPDX-License-Identifier: Apache-2.0
"""How a base moves: in the vertical plane, without turning, or freely.

Everything that depends on it asks one of these members a question; what a robot can do beyond
that (minimal coordinates, feet, motors) is asked of the robot.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from walking_control.models.signals import BaseState, pitch_of


class Base(Enum):
    """The freedom of a base, and with it the base's part of the generalised coordinates.

    In the plane it is x, z and pitch; of a base that does not turn x, y, z; of a free one x, y, z
    and the quaternion xyzw to the floor frame. The generalised velocity is the rate of these, of
    a free base its twist in base axes, linear before angular, as Pinocchio has it.

    Attributes:
        axes: Axes of the floor frame along which it moves.
        angles: Angles of it that support maps may name, before the joints.
        nq: Number of generalised coordinates.
        nv: Number of generalised velocities.
    """

    axes: tuple[int, ...]
    angles: tuple[str, ...]
    nq: int
    nv: int

    PLANAR = 'planar', (0, 2), ('pitch',), 3, 3
    TRANSLATING = 'translating', (0, 1, 2), (), 3, 3
    FREE = 'free', (0, 1, 2), (), 7, 6

    def __new__(
        cls, value: str, axes: tuple[int, ...], angles: tuple[str, ...], nq: int, nv: int
    ) -> 'Base':
        """Keep the name as value and the rest as attributes."""
        member = object.__new__(cls)
        member._value_ = value
        member.axes, member.angles, member.nq, member.nv = axes, angles, nq, nv
        return member

    def root_joint(self) -> Any:
        """Return Pinocchio's joint between the floor and the base."""
        import pinocchio as pin

        if self is Base.FREE:
            return pin.JointModelFreeFlyer()
        if self is Base.TRANSLATING:
            return pin.JointModelTranslation()
        root = pin.JointModelComposite(3)
        root.addJoint(pin.JointModelPX())
        root.addJoint(pin.JointModelPZ())
        root.addJoint(pin.JointModelRY())
        return root

    def coordinates(
        self, position: Sequence[float] | np.ndarray, orientation: Sequence[float] | np.ndarray
    ) -> list[float]:
        """Return the base's generalised coordinates at a pose; what it cannot do is left out.

        Args:
            position: In the floor frame, m, ``(3,)``.
            orientation: Quaternion xyzw to the floor frame, ``(4,)``.
        """
        x, y, z = position
        if self is Base.PLANAR:
            return [x, z, pitch_of(*orientation)]
        return [x, y, z, *orientation] if self is Base.FREE else [x, y, z]

    def velocities(self, state: BaseState) -> np.ndarray:
        """Return the base's generalised velocities; what it cannot do is left out.

        Args:
            state: One `BaseState`.
        """
        if self is Base.FREE:
            return np.concatenate((state.linear @ state.rotation, state.angular))
        along = state.linear[list(self.axes)]
        return np.append(along, state.angular[1]) if self is Base.PLANAR else along

    def state(self, q: np.ndarray, v: np.ndarray) -> BaseState:
        """Return the `BaseState` of generalised coordinates and velocities.

        Args:
            q: ``(..., nq)`` or more of the robot's, the base first.
            v: ``(..., nv)`` or more.
        """
        state = BaseState(q.shape[:-1])
        state.position[..., self.axes] = q[..., : len(self.axes)]
        state.linear[..., self.axes] = v[..., : len(self.axes)]
        if self is Base.PLANAR:
            state.orientation[..., 1] = np.sin(0.5 * q[..., 2])
            state.orientation[..., 3] = np.cos(0.5 * q[..., 2])
            state.angular[..., 1] = v[..., 2]
        elif self is Base.FREE:
            state.orientation[:] = q[..., 3:7]
            state.angular[:] = v[..., 3:6]
            state.linear[:] = np.einsum('...ij,...j->...i', state.rotation, v[..., :3])
        return state


ROOT = Base.FREE.nv  # equations of a free base, ahead of those of the joints
