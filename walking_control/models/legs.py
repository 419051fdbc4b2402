# SPDX-License-Identifier: Apache-2.0
"""The two legs of a biped in space: their joints, and how left and right change places."""

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import Robot
from walking_control.models.step_equations import joint_axis, REFLECTION

ALIKE = 1e-3   # of an axis: how far it may be from its partner's mirror image
Legs = tuple[tuple[int, ...], ...]


def mirrored_joints(robot: Robot) -> tuple[Legs, np.ndarray]:
    """Return the joints of both legs from the base down, and the mirror matrix of them all.

    Args:
        robot: On a free base, whose joints are those of two equal legs.

    Raises:
        InvalidInput: It has other joints, or the legs' axes are no mirror images.
    """
    what = f'gait of {robot.name} in space'
    if not robot.is_free or len(robot.feet) != 2:
        raise InvalidInput(what, limit='needs a free base and two feet')
    model = Dynamics(robot).model
    frames = [model.frames[model.getFrameId(foot)] for foot in robot.feet]
    chains = [list(model.supports[frame.parentJoint])[2:] for frame in frames]
    legs = tuple(tuple(robot.joint_index(model.names[i]) for i in chain) for chain in chains)
    if sorted(legs[0] + legs[1]) != list(range(len(robot.joints))) or len(legs[0]) != 6 \
            or len(legs[1]) != 6:
        raise InvalidInput(what, value=len(robot.joints), limit='needs two legs of six joints and '
                           'no others', remedy='walking_control bring-up holds the others and '
                           'writes a robot file of the legs alone')
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    matrix = np.zeros((12, 12))
    for a, b in zip(*chains, strict=True):
        one, other = (data.oMi[i].rotation @ joint_axis(model, i)[0] for i in (a, b))
        sign = float(-(REFLECTION @ one) @ other)
        if abs(abs(sign) - 1.0) > ALIKE:
            raise InvalidInput(what, value=f'{model.names[a]} and {model.names[b]}',
                               limit='needs legs whose axes are mirror images of each other')
        i, j = (robot.joint_index(model.names[k]) for k in (a, b))
        matrix[i, j] = matrix[j, i] = round(sign)
    return legs, matrix
