# SPDX-License-Identifier: Apache-2.0
"""What the feet of a real REEM-C bear, told by the torques of its legs, beside its force sensors.

Reads a walk in the format of EUROBENCH (eurobench/eb_hum_bench, BSD-2): positions, torques and the
wrenches of the feet, which serve to judge alone. Forces follow by the least squares of
`walking_control/estimation/foot_loads.py`, tick by tick without its filter: inverse dynamics less
torques is what the feet press, with a mass known to 5 %, torques of the legs to 5 N m, and nothing
said of other joints. Where torques are left out, the six rows of the base remain.

Run: python examples/real_foot_loads.py FOLDER_OF_REEMC [RUN]
"""

from pathlib import Path
import sys

import numpy as np
import pinocchio as pin

from walking_control.estimation.foot_loads import ARM, SIDEWAYS, TWIST
from walking_control.lab.experiments.measured_walks import read_body, read_walk

MASS, EFFORT, UNKNOWN = 0.05, 5.0, 1e3  # share of the weight; N m; N m
LEVER, LEG = 0.25, 0.86  # m


def foot_forces(walk, with_torques):
    """Return the force on each foot, ``(T, 2)``, N, of a `Walk`."""
    model, data = walk.model, walk.model.createData()
    weight = pin.computeTotalMass(model) * np.linalg.norm(model.gravity.linear)
    legs = [model.joints[i].idx_v for i, name in enumerate(model.names) if name.startswith('leg_')]
    sigma = np.full(model.nv, UNKNOWN)
    sigma[:3], sigma[3:6] = MASS * weight, MASS * weight * LEVER
    if with_torques:
        sigma[legs] = EFFORT
    wrench = weight * np.array([SIDEWAYS, SIDEWAYS, 1.0, ARM * LEG, ARM * LEG, TWIST * LEG])
    prior, found = np.diag(np.tile(wrench**-2.0, 2)), []
    for q, v, a, efforts in zip(walk.q, walk.v, walk.a, walk.efforts):
        residual = pin.rnea(model, data, q, v, a)
        residual[6:] -= efforts[6:]  # nothing drives the base
        J = np.vstack(
            [pin.computeFrameJacobian(model, data, q, foot, pin.LOCAL) for foot in walk.frames[:2]]
        )
        J = J / sigma
        forces = np.linalg.solve(J @ J.T + prior, J @ (residual / sigma)).reshape(2, 6)[:, :3]
        found.append(np.linalg.norm(forces, axis=1))
    return np.array(found), weight


def main(folder, run='14_1'):
    """Print and return by how much the forces are off, as shares of the weight."""
    body, base = read_body(Path(folder) / 'robot.yaml')
    walk, _ = read_walk(Path(folder) / 'runs' / run, body, base)
    measured, shares = np.linalg.norm(walk.loads[:, :, :3], axis=2), {}
    for name, with_torques in (('torques and base', True), ('base alone', False)):
        forces, weight = foot_forces(walk, with_torques)
        shares[name] = np.sqrt(np.mean((forces - measured) ** 2, axis=0)) / weight
        left, right = shares[name]
        print(f'{name}: left {left:.1%}, right {right:.1%} of {weight:.0f} N rms')
    return shares


if __name__ == '__main__':
    main(*sys.argv[1:])
