# SPDX-License-Identifier: Apache-2.0
"""Stand where less of the weight can move the robot: (15) of [Mor17] as a posture task.

RoToM along gravity falls towards postures whose bones carry the weight. Here the joints go down its
gradient among the motions that keep both soles where they are and the centre of mass above them,
and the law `static_torque` holds what comes out: `LessRotom` is that law with this as its posture.

Section V of the source asks for the same of wrenches, and says that rotations have no ratio because
the inertia changes with the posture. Compared with the robot locked in the same posture they have
one: with the centroidal map A, h = A v, and P the accelerations per force that the contacts leave,
a wrench W changes h by A P A^T I^-1 W. A robot that floats freely has A M^-1 A^T = I, the inertia
of the locked robot, and P <= M^-1. So S = I^-1/2 A P A^T I^-1/2 lies between 0 and 1, and its
linear block is the T of RoToM. `blend` is the section's sum of both shares, one coefficient apart.

Run: python examples/less_rotom.py, or in examples/
walking_control simulate humanoid --controller less_rotom:LessRotom --duration 10
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

import walking_control as wc
from walking_control.controllers import StaticTorqueParameters
from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.design import Contacts, Mechanism
from walking_control.design.rotom import constrained_mobility

UP, ROLL = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
STRIDE = 0.02  # rad: of the joint that turns most, from posture to posture
STEP = 1e-5  # rad, of derivatives
STRAIGHT = 0.05  # rad: nearer no joint comes to its stop, where RoToM has a kink
MOST = 60  # postures
BACK = 1e-4  # share of RoToM that a posture must win


def wrench_shares(mechanism: Mechanism, contacts: Contacts) -> np.ndarray:
    """Return S, ``(6, 6)``, linear rows first: what share of a wrench moves a posture."""
    dynamics = mechanism.dynamics
    q = dynamics.to_pinocchio(mechanism.q)
    pin.ccrba(dynamics.model, dynamics.data, q, np.zeros(dynamics.nv))
    A, locked = dynamics.data.Ag.copy(), dynamics.data.Ig.matrix()
    A = A[:, dynamics.pinocchio_order][:, mechanism.moving]
    P = constrained_mobility(mechanism.inertia(), contacts.jacobian(mechanism))
    values, vectors = np.linalg.eigh(locked)
    white = vectors @ np.diag(values**-0.5) @ vectors.T
    return np.asarray(white @ A @ P @ A.T @ white)


class Shares(NamedTuple):
    """How much of a force up and of a torque about the way ahead moves a posture, 0 to 1."""

    force: float
    torque: float

    def blend(self, coefficient: float) -> float:
        """Return the sum of section V: 1 counts the force alone, 0 the torque."""
        return coefficient * self.force + (1.0 - coefficient) * self.torque


def shares(mechanism: Mechanism, contacts: Contacts) -> Shares:
    """Return the `Shares` of a posture."""
    S = wrench_shares(mechanism, contacts)
    return Shares(float(np.linalg.norm(S[:3, :3] @ UP)), float(np.linalg.norm(S[3:, 3:] @ ROLL)))


def descend(
    mechanism: Mechanism, contacts: Contacts, coefficient: float = 1.0, most: int = MOST
) -> list[Mechanism]:
    """Return postures with ever less of a blend, the soles and the centre of mass in place.

    It ends where a joint comes to its stop, or where a posture wins nothing.
    """
    limits = [mechanism.dynamics.robot.limits[joint] for joint in mechanism.joints]
    low = np.array([limit.lower for limit in limits]) + STRAIGHT
    high = np.array([limit.upper for limit in limits]) - STRAIGHT
    places = [mechanism]
    for _ in range(most):
        here = places[-1]
        unit = np.eye(len(here.moving))
        gradient = np.array(
            [
                shares(here.moved(STEP * each), contacts).blend(coefficient)
                - shares(here.moved(-STEP * each), contacts).blend(coefficient)
                for each in unit
            ]
        ) / (2.0 * STEP)
        held = np.vstack([contacts.jacobian(here), here.momentum_map()[:2] / here.mass])
        _, sizes, right = np.linalg.svd(held)
        free = right[int((sizes > 1e-9 * sizes[0]).sum()) :]
        # (15) among the motions that are left, and as long as a stride
        move = -free.T @ (free @ gradient)
        move *= STRIDE / np.abs(move[here.n_base :]).max()
        there = here.moved(move)
        before, after = (shares(each, contacts).blend(coefficient) for each in (here, there))
        inside = (low <= there.positions) & (there.positions <= high) | (
            here.positions == there.positions
        )
        if not inside.all() or after > before * (1.0 - BACK):
            break
        places.append(there)
    return places


class LessRotomParameters(StaticTorqueParameters, section='less_rotom'):
    """Those of `static_torque`."""


class LessRotom(PostureControl):
    """The law `static_torque`, its posture the one that descends from the robot's start."""

    name = 'less_rotom'
    parameters = LessRotomParameters

    def __init__(self, robot_file, values):
        super().__init__(robot_file, values)
        self._target = path(robot_file)[-1].positions.copy()

    def update(self, state, reference, dt, command):
        """Fill the `Command` for this tick."""
        reference.posture = self._target
        super().update(state, reference, dt, command)


def path(robot_file: wc.RobotFile, coefficient: float = 1.0) -> list[Mechanism]:
    """Return the postures from the start of a robot file."""
    robot = robot_file.robot
    dynamics = wc.Dynamics(robot)
    start = Mechanism(dynamics, dynamics.configuration(robot_file.start.posture), False)
    return descend(start, Contacts(robot.feet), coefficient)


def held(robot_file: wc.RobotFile, mechanism: Mechanism) -> float:
    """Return the norm of the least static torques of a posture, N m."""
    soles = {foot: wc.Contact(foot, 0.18, 0.09, 0.5) for foot in robot_file.robot.feet}
    solution = wc.StaticTorque(mechanism.dynamics, soles).solve(mechanism.q)
    return float(np.linalg.norm(np.asarray(solution.torque)))


def main(duration=10.0):
    """Descend, say what the motors need on the way, and let the law do it; return the figures."""
    robot_file = wc.load_robot('humanoid')
    contacts, knee = Contacts(robot_file.robot.feet), robot_file.robot.joint_index('left_knee')
    found = {}
    for coefficient in (1.0, 0.5, 0.0):
        places = path(robot_file, coefficient)
        first, last = found[coefficient] = [
            shares(each, contacts) for each in places[:: len(places) - 1]
        ]
        print(
            f'coefficient {coefficient}: RoToM {first.force:.3f} to {last.force:.3f}, of the '
            f'torque {first.torque:.3f} to {last.torque:.3f}'
        )
    places = path(robot_file)
    found['static'] = [held(robot_file, place) for place in places]
    for place, torque in list(zip(places, found['static'], strict=True))[::3]:
        print(
            f'knee {place.positions[knee]:.2f} rad: RoToM {shares(place, contacts).force:.3f}, '
            f'static torques {torque:.2f} N m'
        )
    run = wc.simulate(robot_file, LessRotom, duration=duration)
    found['run'] = run
    norms = np.linalg.norm(run.effort, axis=1)
    print(
        f'in MuJoCo: motors {norms[200:250].mean():.2f} N m after half a second, '
        f'{norms[-250:].mean():.2f} at last; {run.fault or "no fault"}'
    )
    return found


if __name__ == '__main__':
    main()
