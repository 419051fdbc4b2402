# SPDX-License-Identifier: Apache-2.0
"""How long a G1 stands in the posture of its public deployment, and in cooler ones.

    python benchmarks/standing_heat.py G1.yaml [--minutes 7.5]

G1.yaml is what `adopt` makes of g1_29dof_rev_1_0.urdf. Whatever holds a posture, gains or a law,
the joints bear the static torques of it. So three postures are compared: that of unitree_rl_gym's
deployment, the adopted one, and the one of `endurance --posture coolest`. Windings and cooling are
guessed.
Then the heat of all motors is made larger by one factor, so that the deployed posture reaches the
limit after --minutes, as users report of their ankles.
"""

import argparse
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from walking_control.lab.experiments.endurance import endure, stand_coolest
from walking_control.lab.experiments.statics import Posture
from walking_control.loading import load_robot
from walking_control.models import heating
from walking_control.statics.distributor import StaticTorque

SOLE = (0.17, 0.06)  # m
LEGS = ('hip_pitch', 'knee', 'ankle_pitch')
# the file deploy/deploy_mujoco/configs/g1.yaml of unitree_rl_gym
DEPLOYED = dict(zip(LEGS, (-0.1, 0.3, -0.2)))
AIR = 25.0  # C
HOUR = 3600.0  # s


def both(angles: dict[str, float]) -> dict[str, float]:
    """Return joint -> angle of both sides."""
    sides = ('left', 'right')
    return {f'{side}_{name}_joint': angle for name, angle in angles.items() for side in sides}


def main() -> None:
    """Print what each posture asks of the warmest motor, and until when."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robot')
    parser.add_argument('--minutes', type=float, default=7.5)
    options = parser.parse_args()
    posture = Posture(options.robot, foot_size=SOLE)
    robot_file = load_robot(options.robot)
    model = heating(robot_file.robot)
    dynamics = posture.dynamics
    solver = StaticTorque(dynamics, posture.contacts, 'heat')
    joints = list(dynamics.joints)
    motors = [joints.index(joint) for joint in model.joints]
    adopted = dict(zip(joints, posture.q[dynamics.base.nq :].tolist()))
    still = np.zeros(len(motors))
    squared = {}
    for name, told in (
        ('deployed', both(DEPLOYED)),
        ('adopted', adopted),
        ('cool', stand_coolest(robot_file, AIR)),
    ):
        q = posture.q.copy()
        q[dynamics.base.nq :] = [told.get(joint, 0.0) for joint in joints]
        torque = solver.solve(q, ('left', 'right')).torque
        assert torque is not None
        squared[name] = torque[motors] ** 2

    def hottest(name: str, factor: float) -> tuple[str, float, float]:
        """Return joint, temperature after an hour and time to the limit, s, with more heat."""
        warmer = replace(model, copper=factor * model.copper)
        found = endure(warmer, squared[name], still, HOUR, AIR, AIR)['hottest']
        return found['joint'], found['temperature'], found['time_to_limit'] or np.inf

    def late(factor: float) -> float:
        return float(min(hottest('deployed', factor)[2], HOUR) - 60.0 * options.minutes)

    measured = float(brentq(late, 1.0, 100.0, xtol=1e-3))
    for factor in (1.0, measured):
        for name in squared:
            joint, degrees, time = hottest(name, factor)
            print(
                f'heat x {factor:.2f}, {name}: {joint} at {degrees:.1f} C after an hour, '
                f'at its limit after {time / 60.0:.1f} min'
            )


if __name__ == '__main__':
    main()
