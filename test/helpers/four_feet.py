# SPDX-License-Identifier: Apache-2.0
"""A robot with four legs of three joints on points, as a URDF."""

_LIMIT = '<limit lower="{}" upper="{}" effort="40" velocity="20"/>'


def _inertial(mass, x, y, z, low=0.0):
    moments = (mass * (a * a + b * b) / 12.0 for a, b in ((y, z), (x, z), (x, y)))
    xx, yy, zz = moments
    return (
        f'<inertial><origin xyz="0 0 {-low}"/><mass value="{mass}"/><inertia ixx="{xx:.6g}" '
        f'iyy="{yy:.6g}" izz="{zz:.6g}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def _joint(name, parent, child, place, axis, lower, upper):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/>{_LIMIT.format(lower, upper)}</joint>'
    )


def four_feet():
    """Return the URDF text: 10.8 kg, 0.4 m long, legs of twice 0.2 m."""
    text = f'<robot name="four"><link name="trunk">{_inertial(6, 0.4, 0.2, 0.1)}</link>'
    for leg, ahead, left in (('fl', 1, 1), ('fr', 1, -1), ('hl', -1, 1), ('hr', -1, -1)):
        text += (
            _joint(
                f'{leg}_hip_roll',
                'trunk',
                f'{leg}_hip',
                f'{0.18 * ahead} {0.07 * left} 0',
                '1 0 0',
                -0.8,
                0.8,
            )
            + f'<link name="{leg}_hip">{_inertial(0.4, 0.05, 0.05, 0.05)}</link>'
            + _joint(
                f'{leg}_hip_pitch',
                f'{leg}_hip',
                f'{leg}_thigh',
                f'0 {0.05 * left} 0',
                '0 1 0',
                -1.5,
                1.5,
            )
            + f'<link name="{leg}_thigh">{_inertial(0.6, 0.04, 0.04, 0.2, 0.1)}</link>'
            + _joint(f'{leg}_knee', f'{leg}_thigh', f'{leg}_foot', '0 0 -0.2', '0 1 0', -2.5, 0)
            + f'<link name="{leg}_foot">{_inertial(0.2, 0.02, 0.02, 0.2, 0.1)}<collision><origin '
            'xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>'
        )
    return text + '</robot>'
