# SPDX-License-Identifier: Apache-2.0
"""Find joint positions that put the centre of mass above chosen feet without sliding any."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from walking_control.exceptions import NotAchieved
from walking_control.models import Dynamics, ROOT
from walking_control.statics.contacts import Contact

_ROUNDS = 100
_TOLERANCE = 1e-7
_OF_BASE = 0.3  # weight of its rotation and height beside soles and centre of mass


def search_posture(
    dynamics: Dynamics,
    posture: np.ndarray,
    contacts: Mapping[str, Contact],
    shares: Mapping[str, float],
    lifts: Mapping[str, float] | None = None,
) -> np.ndarray:
    """Return the nearest posture whose centre of mass is above the weighted mean of the soles.

    Soles stay where they are relative to each other, apart from those that are lifted; the base
    keeps its height and orientation as far as the rest allows. Damped Gauss-Newton steps on all
    joints with the base free.

    Args:
        dynamics: The `Dynamics`, of a free base.
        posture: Where to begin, soles parallel and level with the base, ``(n_joints,)``.
        contacts: Foot -> `Contact`.
        shares: Foot -> weight of its sole in the mean, summing to 1.
        lifts: Foot -> how much higher its sole shall be, m.

    Returns:
        Joint positions, ``(n_joints,)``.

    Raises:
        NotAchieved: No such posture within the joint limits was found.
    """
    model, data = dynamics.model, dynamics.model.createData()
    frames = {foot: dynamics.frame(contact.frame) for foot, contact in contacts.items()}
    q = dynamics.to_pinocchio(dynamics.configuration(posture)).copy()
    pin.framesForwardKinematics(model, data, q)
    goals = {}
    for foot, frame in frames.items():
        goals[foot] = data.oMf[frame].copy()
        goals[foot].translation = goals[foot].translation + [0.0, 0.0, (lifts or {}).get(foot, 0.0)]
    middle = sum(share * data.oMf[frames[foot]].translation[:2] for foot, share in shares.items())
    base = pin.SE3(data.oMi[1])
    limits = [dynamics.robot.limits[joint] for joint in dynamics.joints]
    lower, upper = np.array([(limit.lower, limit.upper) for limit in limits]).T
    for _ in range(_ROUNDS):
        error, jacobian = _tasks(model, data, q, frames, goals, middle, base)
        if abs(error[:-4]).max() < _TOLERANCE:
            return dynamics.from_pinocchio(q)[ROOT + 1 :]
        normal = jacobian.T @ jacobian + 1e-6 * np.eye(model.nv)
        step = np.linalg.solve(normal, jacobian.T @ error)
        q = pin.integrate(model, q, step / max(1.0, abs(step).max() / 0.2))
        mine = dynamics.from_pinocchio(q)
        place, turn, joints = np.split(mine, [3, ROOT + 1])
        mine = dynamics.configuration(np.clip(joints, lower, upper), turn, place)
        q = dynamics.to_pinocchio(mine).copy()
    raise NotAchieved(
        'posture with the centre of mass above '
        + ', '.join(foot for foot, share in shares.items() if share > 0.0),
        value=float(abs(error[:-4]).max()),
        limit=f'must be within {_TOLERANCE:g} m of it; out of reach of the joints',
    )


def _tasks(
    model: pin.Model,
    data: pin.Data,
    q: np.ndarray,
    frames: Mapping[str, int],
    goals: Mapping[str, pin.SE3],
    middle: np.ndarray,
    base: pin.SE3,
) -> tuple[np.ndarray, np.ndarray]:
    """Return stacked errors and Jacobian: soles, centre of mass, then base rotation and height."""
    pin.computeJointJacobians(model, data, q)
    pin.jacobianCenterOfMass(model, data, q)
    pin.updateFramePlacements(model, data)
    soles = [pin.log6(data.oMf[frame].actInv(goals[foot])).vector for foot, frame in frames.items()]
    moves = [pin.getFrameJacobian(model, data, frame, pin.LOCAL) for frame in frames.values()]
    here = data.oMi[1]
    turn, rise = pin.log3(here.rotation.T @ base.rotation), (base.translation - here.translation)[2]
    rows = np.zeros((4, model.nv))
    rows[:3, 3:ROOT] = np.eye(3)
    rows[3, :3] = here.rotation[2]
    errors = *soles, middle - data.com[0][:2], _OF_BASE * np.append(turn, rise)
    return np.concatenate(errors), np.vstack([*moves, data.Jcom[:2], _OF_BASE * rows])
