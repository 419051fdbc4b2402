# SPDX-License-Identifier: Apache-2.0
"""Find joint positions without sliding a foot: over chosen feet, or cool for the motors."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from scipy.optimize import minimize

from walking_control.exceptions import NotAchieved, require
from walking_control.models import Dynamics, Heating, ROOT
from walking_control.statics import Contact, StaticTorque

_ROUNDS = 100
_TOLERANCE = 1e-7
_OF_BASE = 0.3  # weight of its rotation and height beside soles and centre of mass
_ASIDE = 0.15  # of length and width of a sole that the centre of mass may be off the middle
_FAR, _OFF_STOPS = 0.5, 0.1  # rad that joints may move, and stay away from their stops
_SHARPNESS = 8  # power mean that stands for the largest share


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


def coolest_posture(
    distributor: StaticTorque, heating: Heating, posture: np.ndarray, air: float
) -> np.ndarray:
    """Return the posture nearby in which the warmest motor of a standing robot stays coolest.

    What is made small is the largest |torque| / continuous effort of all motors, as their power
    mean of `_SHARPNESS`. Base upright, soles where they are relative to each other and level, the
    centre of mass at most `_ASIDE` of a sole off the middle between them, no joint farther than
    `_FAR` from where it was or nearer than `_OFF_STOPS` to a stop that it did not touch.

    Args:
        distributor: The `StaticTorque` of a free base on its feet.
        heating: The `Heating` of the robot's motors.
        posture: Where to begin, soles level with the base, ``(n_joints,)``.
        air: Its temperature, C.

    Returns:
        Joint positions, ``(n_joints,)``.

    Raises:
        NotAchieved: The robot cannot stand where it begins, or no cooler posture was found.
    """
    dynamics, contacts = distributor.dynamics, distributor.contacts.values()
    model, data = dynamics.model, dynamics.model.createData()
    motors = [dynamics.joints.index(joint) for joint in heating.joints]
    continuous = heating.continuous(air)
    reach = _ASIDE * np.min([(contact.length, contact.width) for contact in contacts], axis=0)

    def soles(joints: np.ndarray) -> list[pin.SE3]:
        q = dynamics.to_pinocchio(dynamics.configuration(joints))
        pin.framesForwardKinematics(model, data, q)
        pin.centerOfMass(model, data, q, False)
        return [data.oMf[frame].copy() for frame in distributor.frames.values()]

    begin = soles(posture)

    def moved(joints: np.ndarray) -> np.ndarray:
        here = soles(joints)
        turned = [pin.log3(old.rotation.T @ new.rotation) for old, new in zip(begin, here)]
        shifts = [new.translation - old.translation for old, new in zip(begin, here)]
        return np.concatenate((*turned, *(shift - shifts[0] for shift in shifts[1:])))

    def inside(joints: np.ndarray) -> np.ndarray:
        middle = np.mean([sole.translation for sole in soles(joints)], axis=0)
        off = (data.com[0] - middle)[:2]
        return np.concatenate((reach - off, reach + off))

    def share(joints: np.ndarray) -> float:
        torque = distributor.solve(dynamics.configuration(joints), measured=True).torque
        if torque is None:
            return np.inf
        return float(np.linalg.norm(torque[motors] / continuous, _SHARPNESS))

    before = share(posture)
    require(
        np.isfinite(before),
        'posture to begin with',
        limit='cannot be held by the static torques of both feet',
        remedy='begin with one that stands: statics says why',
        error=NotAchieved,
    )
    limits = [dynamics.robot.limits[joint] for joint in dynamics.joints]
    found = minimize(
        share,
        posture,
        method='SLSQP',
        bounds=[
            (
                min(max(x - _FAR, limit.lower + _OFF_STOPS), x),
                max(min(x + _FAR, limit.upper - _OFF_STOPS), x),
            )
            for x, limit in zip(posture.tolist(), limits)
        ],
        constraints=[{'type': 'eq', 'fun': moved}, {'type': 'ineq', 'fun': inside}],
        options={'maxiter': _ROUNDS, 'ftol': 1e-4},
    )
    after = share(found.x)
    require(
        after < before and abs(moved(found.x)).max() < 1e-4,
        'coolest posture',
        value=after / before,
        limit='must ask less of the warmest motor than the posture to begin with',
        error=NotAchieved,
    )
    return np.asarray(found.x)
