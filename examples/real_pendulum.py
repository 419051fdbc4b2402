# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters of a real double pendulum, from ten seconds of motion and torques.

Reads `20220812-055640-PM.csv` of dfki-ric-underactuated-lab/double_pendulum (BSD-3): time,
positions, velocities and torques of two joints. What is known before is rough: two rods of half a
kilogram each and of the lengths of that machine. The first 70 % are fitted, the rest is predicted.
"""

import sys

from inertias import identify_inertias, Motion, show
import numpy as np
import pinocchio as pin

LENGTHS, MASS, ROTOR = (0.3, 0.2), 0.5, 0.003  # m, kg, kg m^2
STEP = 0.002  # s
# what its authors found from records of their own: m2 r2, m1 r1 + m2 l1, I2 about its joint
AUTHORS = {'elbow.mz': -0.1111, 'reach': 0.3491, 'elbow.Iyy': 0.0239}


def rods():
    """Return the model of two rods that hang from each other."""
    model, parent = pin.Model(), 0
    for joint, length, above in zip(('shoulder', 'elbow'), LENGTHS, (0.0, LENGTHS[0])):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -above]))
        parent = model.addJoint(parent, pin.JointModelRY(), place, joint)
        across = MASS * length**2 / 12.0
        model.appendBodyToJoint(
            parent,
            pin.Inertia(
                MASS, np.array([0.0, 0.0, -0.5 * length]), np.diag([across, across, 0.01 * across])
            ),
            pin.SE3.Identity(),
        )
    model.armature = np.full(2, ROTOR)
    return model


def read(path):
    """Return the `Motion` of a record, at even times."""
    table = np.genfromtxt(path, delimiter=',', names=True)
    time = np.arange(table['time'][0] + 0.01, table['time'][-1], STEP)

    def columns(*names):
        return np.column_stack([np.interp(time, table['time'], table[name]) for name in names])

    return Motion(time, columns('pos1', 'pos2'), columns('tau1', 'tau2'), np.full(len(time), -1))


def main(path):
    """Identify, print what is told and return the result of `identify_inertias`."""
    found = identify_inertias(rods(), read(path))
    told = found['parameters']
    show(found)
    found['reach'] = -told['shoulder.mz']['value'] + LENGTHS[0] * told['elbow.mass']['value']
    print(
        f'first moment about the shoulder, both straight down to the elbow: {found["reach"]:.3f} '
        f'kg m; its authors: {AUTHORS["reach"]:.3f}'
    )
    for name in 'elbow.mz', 'elbow.Iyy':
        print(f'{name}: {told[name]["value"]:.4f}; its authors: {AUTHORS[name]:.4f}')
    return found


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: python examples/real_pendulum.py 20220812-055640-PM.csv')
    main(sys.argv[1])
