# SPDX-License-Identifier: Apache-2.0
"""Robots and independent calculations that the tests of static torques share."""

from functools import cache
from importlib import metadata

import numpy as np
import pinocchio as pin
import pytest

from walking_control.loading import load_robot
from walking_control.models.base import ROOT
from walking_control.models.dynamics import bare_robot, Dynamics
from walking_control.statics.contacts import Contact

# name -> (URDF, feet, SRDF with half_sitting or None), in example-robot-data
REAL = {
    'talos': ('talos_data/robots/talos_reduced.urdf', ('left_sole_link', 'right_sole_link')),
    'icub': ('icub_description/robots/icub.urdf', ('l_sole', 'r_sole')),
    'romeo': ('romeo_description/urdf/romeo.urdf', ('l_sole', 'r_sole')),
    'g1': (
        'g1_description/urdf/g1_29dof_rev_1_0.urdf',
        ('left_ankle_roll_link', 'right_ankle_roll_link'),
    ),
    'solo12': ('solo_description/robots/solo12.urdf', ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT')),
}
BIPEDS = ('talos', 'icub', 'romeo', 'g1')
# Knees bent by hand: the same joint roles under each maker's names.
BENT = {
    'talos': {'leg_{}_3_joint': -0.4, 'leg_{}_4_joint': 0.8, 'leg_{}_5_joint': -0.4},
    'icub': {'{}_hip_pitch': 0.3, '{}_knee': -0.6, '{}_ankle_pitch': -0.3},
    'romeo': {'{}HipPitch': -0.4, '{}KneePitch': 0.8, '{}AnklePitch': -0.4},
    'g1': {'{}_hip_pitch_joint': -0.3, '{}_knee_joint': 0.6, '{}_ankle_pitch_joint': -0.3},
    'solo12': {'F{}_HFE': 0.8, 'F{}_KFE': -1.6, 'H{}_HFE': 0.8, 'H{}_KFE': -1.6},
}
SIDES = {
    'talos': ('left', 'right'),
    'icub': ('l', 'r'),
    'romeo': ('L', 'R'),
    'g1': ('left', 'right'),
    'solo12': ('L', 'R'),
}


@cache
def humanoid_file():
    """Return the robot file of our humanoid."""
    return load_robot('humanoid')


def humanoid(friction=0.7, **contact):
    """Return dynamics, contacts and the start posture of our humanoid."""
    file = humanoid_file()
    dynamics = Dynamics(file.robot)
    contacts = {
        side: Contact(f'{side}_sole', 0.20, 0.10, friction, **contact) for side in ('left', 'right')
    }
    return dynamics, contacts, file.start.posture


def real_path(path):
    """Return where a file of example-robot-data lies."""
    try:
        files = metadata.files('example-robot-data')
    except metadata.PackageNotFoundError:
        pytest.skip('example-robot-data is not installed')
    found = [file for file in files if str(file).endswith(f'/robots/{path}')]
    if not found:
        pytest.skip(f'example-robot-data holds no {path}')
    return found[0].locate()


def real_robot(name):
    """Return dynamics, foot frames and bent-knee positions of a robot of example-robot-data."""
    path, feet = REAL[name]
    dynamics = Dynamics(bare_robot(real_path(path).read_text(encoding='utf-8'), name))
    limits = dynamics.robot.limits
    positions = {
        joint: min(max(0.0, limits[joint].lower), limits[joint].upper) for joint in dynamics.joints
    }  # an elbow of icub does not reach zero
    for pattern, value in BENT[name].items():
        for side in SIDES[name]:
            joint = pattern.format(side)
            assert joint in positions, f'{joint} is not a joint of {name}'
            positions[joint] = value
    return dynamics, feet, positions


def random_posture(rng, posture, spread=0.15):
    """Return joint positions near a posture."""
    return posture + spread * rng.uniform(-1.0, 1.0, len(posture))


def random_orientation(rng, tilt=0.1):
    """Return a base orientation, quaternion xyzw, turned anyhow about z and tilted a little."""
    turn = pin.exp3(np.array([0.0, 0.0, rng.uniform(-3.0, 3.0)]))
    lean = pin.exp3(rng.uniform(-tilt, tilt, 3) * [1.0, 1.0, 0.0])
    return pin.Quaternion(turn @ lean).coeffs()


def corner_forces(contact):
    """Return ``(6, 12)``: the wrench of one force at each corner of a sole."""
    x, y = 0.5 * contact.length, 0.5 * contact.width
    blocks = []
    for corner in ((x, y), (x, -y), (-x, y), (-x, -y)):
        blocks.append(np.vstack((np.eye(3), pin.skew(np.array([*corner, 0.0])))))
    return np.hstack(blocks)


def linear_program(dynamics, q, contacts, frames, effort_limits, scale_torque=False):
    """Judge a posture by corner forces and a linear program, apart from our inequalities.

    Args:
        scale_torque: Minimise the common factor on all effort limits instead of judging.

    Returns:
        True when it can be held; with scale_torque the least factor, None when there is none.
    """
    from scipy.optimize import linprog

    gravity = dynamics.gravity_efforts(q).copy()
    maps, rows = [], []
    for contact, frame in zip(contacts, frames):
        maps.append(dynamics.frame_jacobian(q, frame).T @ corner_forces(contact))
        for corner in range(4):
            for axis in (0, 1):
                for sign in (-1.0, 1.0):
                    row = np.zeros(12)
                    row[3 * corner + axis] = sign
                    row[3 * corner + 2] = -contact.pyramid
                    rows.append(row)
    transmit = np.hstack(maps)
    n, count = transmit.shape[1], len(contacts)
    cone = np.zeros((len(rows), n + 1))
    for i, row in enumerate(rows):
        at = 12 * (i // (len(rows) // count))
        cone[i, at : at + 12] = row
    lever, load = transmit[ROOT:], gravity[ROOT:]
    upper = np.hstack((-lever, -effort_limits[:, None]))
    lower = np.hstack((lever, -effort_limits[:, None]))
    bounds = [(None, None), (None, None), (0.0, None)] * (n // 3)
    cost = np.zeros(n + 1)
    if scale_torque:
        cost[-1], factor = 1.0, (0.0, None)
    else:
        factor = (1.0, 1.0)
    found = linprog(
        cost,
        np.vstack((cone, upper, lower)),
        np.concatenate((np.zeros(len(cone)), -load, load)),
        np.hstack((transmit[:ROOT], np.zeros((ROOT, 1)))),
        gravity[:ROOT],
        bounds=[*bounds, factor],
        method='highs',
    )
    if scale_torque:
        return float(found.fun) if found.status == 0 else None
    return found.status == 0
