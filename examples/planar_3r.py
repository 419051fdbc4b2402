# SPDX-License-Identifier: Apache-2.0
"""Inverse and direct dynamics of a planar arm with three joints, rotors and friction.

The worked example of [Bri26]: links along x, all joints about z, gravity along z and so without
effect. The closed forms (8) to (10), (24) to (28) stand beside the package's own dynamics. At the
end the arm is let go: with the printed friction, zero at rest, it creeps off under any torque; with
friction that sticks it stays.
"""

from joint_modes import GearedJoints, Mode, solve_joints
import numpy as np

from walking_control.models.dynamics import bare_robot, Dynamics

LENGTHS = np.array([0.5, 0.4])  # m, O1 O2 and O2 O3
MASSES = np.array([3.0, 2.0, 1.0])  # kg
CENTRES = np.array([0.25, 0.2, 0.0])  # m, along each link; the third link's is its joint
MOMENTS = np.array([0.07, 0.03, 0.004])  # kg m^2, of each link about its own centre
RATIOS = np.array([100.0, 80.0, 50.0])  # N, turns of the rotor per turn of the joint
ROTORS = np.array([2e-5, 1e-5, 4e-6])  # kg m^2
DRY = np.array([0.8, 0.5, 0.2])  # N m
VISCOUS = np.array([0.3, 0.2, 0.05])  # N m s/rad


def arm():
    """Return the arm as the package's dynamics, its base held in place (joints are the last)."""
    links, joints = '<link name="base"/>', ''
    for i, (mass, centre, moment) in enumerate(zip(MASSES, CENTRES, MOMENTS), 1):
        start = 0.0 if i == 1 else LENGTHS[i - 2]
        links += (
            f'<link name="body{i}"><inertial><origin xyz="{centre} 0 0"/>'
            f'<mass value="{mass}"/><inertia ixx="{moment}" iyy="{moment}" izz="{moment}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        joints += (
            f'<joint name="q{i}" type="continuous"><origin xyz="{start} 0 0"/>'
            f'<parent link="{"base" if i == 1 else f"body{i - 1}"}"/><child '
            f'link="body{i}"/><axis xyz="0 0 1"/></joint>'
        )
    return Dynamics(bare_robot(f'<robot name="planar_3r">{links}{joints}</robot>', 'planar_3r'))


def closed_forms(q, v):
    """Return M and c of [Bri26] (9), (10)."""
    l1, l2 = LENGTHS
    zz = MOMENTS + MASSES * CENTRES**2  # about the joints
    zz1r = zz[0] + (MASSES[1] + MASSES[2]) * l1**2
    zz2r, zz3 = zz[1] + MASSES[2] * l2**2, zz[2]
    lmx2r = l1 * (MASSES[1] * CENTRES[1] + MASSES[2] * l2)
    cos, sin = lmx2r * np.cos(q[1]), lmx2r * np.sin(q[1])
    M = np.array(
        [
            [zz1r + zz2r + zz3 + 2 * cos, zz2r + zz3 + cos, zz3],
            [zz2r + zz3 + cos, zz2r + zz3, zz3],
            [zz3, zz3, zz3],
        ]
    )
    return M, np.array([-(2 * v[0] + v[1]) * v[1] * sin, v[0] ** 2 * sin, 0.0])


def joints():
    """Return rotors by (24) and friction by (26) of the three joints; the gears lose nothing."""
    return GearedJoints(RATIOS**2 * ROTORS, np.ones(3), np.ones(3), DRY, VISCOUS)


def inverse_dynamics(q, v, a):
    """Return the torques of a motion, (27), N m."""
    M, c = closed_forms(q, v)
    return (M + np.diag(RATIOS**2 * ROTORS)) @ a + c + VISCOUS * v + DRY * np.sign(v)


def direct_dynamics(q, v, tau):
    """Return the motion under torques as `JointMotion`: (28), with friction that sticks."""
    M, c = closed_forms(q, v)
    return solve_joints(M, c, tau, v, joints())


def from_package(dynamics, q, v):
    """Return M and c by the package, from the URDF."""
    still = np.concatenate([np.zeros(6), v])
    full = dynamics.configuration(q)
    return dynamics.mass_matrix(full)[6:, 6:], (
        dynamics.bias(full, still) - dynamics.gravity_efforts(full)
    )[6:]


def main():
    """Print the arm's dynamics by both routes, there and back, and at rest; return the figures."""
    dynamics = arm()
    q, v, a = np.array([0.4, -0.9, 0.7]), np.array([1.2, -0.8, 2.0]), np.array([3.0, 1.0, -2.0])
    M, c = closed_forms(q, v)
    other_M, other_c = from_package(dynamics, q, v)
    tau = inverse_dynamics(q, v, a)
    back = direct_dynamics(q, v, tau)
    push = np.array([0.5, 0.3, 0.1])  # N m, less than each joint's dry friction
    rest = direct_dynamics(q, np.zeros(3), push)
    naive = np.linalg.solve(M + np.diag(RATIOS**2 * ROTORS), push)
    figures = {
        'difference of M': np.abs(M - other_M).max(),
        'difference of c': np.abs(c - other_c).max(),
        'torques': tau,
        'acceleration': back.acceleration,
        'at rest, printed (28)': naive,
        'at rest, sticking': rest.acceleration,
        'sticks': bool((rest.mode == Mode.STUCK).all()),
    }
    for name, value in figures.items():
        print(f'{name:>24}: {np.array2string(np.asarray(value), precision=4)}')
    return figures


if __name__ == '__main__':
    main()
