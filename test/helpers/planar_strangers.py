# SPDX-License-Identifier: Apache-2.0
"""Planar walkers with straight legs, as their owners would describe them: URDFs alone.

The compass has the proportions of [GTE98], m_H = 2 m and a = b, at 0.5 kg and legs of 0.3 m. The
three-link walker is that of [GAP01]: legs of 5 kg and 1 m, hip 15 kg, torso 10 kg at 0.5 m.
"""


def compass_urdf(mass=0.125, hip=0.25, leg=0.3):
    """Return the URDF text of a compass whose base is its left leg.

    Args:
        mass: Of each leg, in its middle, kg.
        hip: Between the legs, kg.
        leg: Length of a leg, m.
    """
    legs = ''.join(
        _link(f'{side}_leg', mass, -0.5 * leg) + _foot(side, leg) for side in ('left', 'right')
    )
    return (
        '<robot name="compass_half_kilogram">'
        + legs
        + _link('hip_mass', hip, 0.0)
        + '<joint name="hip_mass_joint" type="fixed"><parent link="left_leg"/>'
        '<child link="hip_mass"/></joint>'
        + _joint('hip', 'left_leg', 'right_leg', 2.0)
        + '</robot>'
    )


def three_link_urdf(mass=5.0, hip=15.0, torso=10.0, leg=1.0, length=0.5):
    """Return the URDF text of two straight legs and a torso.

    Args:
        mass: Of each leg, in its middle, kg.
        hip: Between the legs, kg.
        torso: At its upper end, kg.
        leg: Length of a leg, m.
        length: Of the torso, m.
    """
    legs = ''.join(
        _link(f'{side}_leg', mass, -0.5 * leg)
        + _foot(side, leg)
        + _joint(f'{side}_hip', 'torso', f'{side}_leg', 150.0)
        for side in ('left', 'right')
    )
    whole = torso + hip
    middle = torso * length / whole
    moment = torso * length**2 - whole * middle**2  # two points make a rod
    return '<robot name="three_link">' + _link('torso', whole, middle, moment) + legs + '</robot>'


def _link(name, mass, z, moment=0.0):
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>'
        f'<inertia ixx="{moment}" iyy="{moment}" izz="0" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link>'
    )


def _foot(side, leg):
    return (
        f'<link name="{side}_foot"><collision><geometry><sphere radius="{0.01 * leg}"/>'
        f'</geometry></collision></link><joint name="{side}_ankle" type="fixed"><parent '
        f'link="{side}_leg"/><child link="{side}_foot"/><origin xyz="0 0 {-leg}"/></joint>'
    )


def _joint(name, parent, child, effort):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" effort="{effort}" velocity="20"/>'
        '</joint>'
    )
