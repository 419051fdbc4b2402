# SPDX-License-Identifier: Apache-2.0
"""A robot the package does not ship: RABBIT, the five-link planar biped, as its owner would write
it.

Masses, lengths and inertias as published for RABBIT ([CAA03]; torso 12 kg, thighs 6.8 kg, shanks
3.2 kg; 0.83 kg m^2 of rotors seen at each joint). Factors make giants and dwarfs of it,
`offset` makes one leg unlike the other.
"""

import yaml

# link -> mass kg, centre of mass from the joint above it (torso: above the hip) m, inertia kg m^2
LINKS = {'torso': (12.0, 0.24, 1.33), 'thigh': (6.8, -0.11, 0.47), 'shank': (3.2, -0.24, 0.20)}
LEG = 0.4  # m, of thigh and shank each
LIMITS = {'hip': (-1.5, 1.5), 'knee': (-0.05, 2.0)}  # rad


def write_rabbit(folder, edit=None, mass=1.0, length=1.0, offset=0.0, change_urdf=None):
    """Write URDF and robot file of a RABBIT and return the path of the robot file.

    Args:
        folder: Where.
        edit: Changes the parameter tree.
        mass: Factor of all masses.
        length: Factor of all lengths.
        offset: How much lower the left thigh's mass lies than the right one's, m.
        change_urdf: Returns another text for the URDF's.
    """
    text = rabbit_urdf(mass, length, offset)
    (folder / 'rabbit.urdf').write_text(change_urdf(text) if change_urdf else text)
    tree = rabbit_tree(mass * length**2)
    if edit is not None:
        edit(tree)
    path = folder / 'rabbit.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False))
    return path


def rabbit_urdf(mass=1.0, length=1.0, offset=0.0):
    """Return the URDF text; arguments as for `write_rabbit`."""
    parts = [_link('torso', 'torso', mass, length)]
    for side in ('left', 'right'):
        down = offset if side == 'left' else 0.0
        parts += [
            _link(f'{side}_thigh', 'thigh', mass, length, down),
            _link(f'{side}_shank', 'shank', mass, length),
            f'<link name="{side}_foot"><collision><geometry><sphere radius="{0.02 * length}"'
            '/></geometry></collision></link>',
            _joint(f'{side}_hip', 'torso', f'{side}_thigh', 0.0, mass * length**2),
            _joint(
                f'{side}_knee', f'{side}_thigh', f'{side}_shank', -LEG * length, mass * length**2
            ),
            f'<joint name="{side}_ankle" type="fixed"><parent link="{side}_shank"/>'
            f'<child link="{side}_foot"/><origin xyz="0 0 {-LEG * length}"/></joint>',
        ]
    return '<robot name="rabbit">\n' + '\n'.join(parts) + '\n</robot>\n'


def _link(name, kind, mass, length, down=0.0):
    kilograms, height, inertia = LINKS[kind]
    moment = inertia * mass * length**2
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {height * length - down}"/>'
        f'<mass value="{kilograms * mass}"/><inertia ixx="{moment}" iyy="{moment}" '
        f'izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(name, parent, child, z, scale):
    lower, upper = LIMITS[name.rpartition('_')[2]]
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="0 0 {z}"/><axis xyz="0 1 0"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="{150.0 * scale}" velocity="20"/>'
        '</joint>'
    )


def rabbit_tree(scale=1.0):
    """Return the parameters of the robot file; rotors and currents grow with the scale."""
    sides = {'left': 'right', 'right': 'left'}
    joints = [f'{side}_{joint}' for side in sides for joint in ('hip', 'knee')]
    motor = {
        'torque_constant': 0.15,
        'reduction': 50.0,
        'rotor_inertia': 0.83 / 2500 * scale,
        'resistance': 0.5,
        'current_limit': 20.0 * scale,
    }
    robot = {
        'name': 'rabbit',
        'urdf': 'rabbit.urdf',
        'base_link': 'torso',
        'planar': True,
        'joints': joints,
        'feet': ['left_foot', 'right_foot'],
        'mirror': {
            f'{side}_{joint}': {'partner': f'{other}_{joint}', 'sign': 1.0}
            for side, other in sides.items()
            for joint in ('hip', 'knee')
        },
        'coordinates': ['lean', 'stance_knee', 'stance_hip', 'swing_hip', 'swing_knee'],
        'supports': {
            f'{side}_foot': {
                'lean': {'pitch': -1.0, f'{side}_hip': -1.0, f'{side}_knee': -1.0},
                'stance_knee': {f'{side}_knee': 1.0},
                'stance_hip': {f'{side}_hip': 1.0},
                'swing_hip': {f'{other}_hip': 1.0},
                'swing_knee': {f'{other}_knee': 1.0},
            }
            for side, other in sides.items()
        },
        'actuators': {joint: dict(motor) for joint in joints},
    }
    return {
        'robot': robot,
        'world': {'slope': 0.0, 'gravity': 9.81, 'friction': 0.8},
        'start': {
            'support': 'left_foot',
            'q': [0.0, 0.3, -0.3, -0.5, 0.4],
            'v': [-1.0, 0.0, 0.0, 0.0, 0.0],
        },
        'controller': 'none',
        'plant': 'rigid',
        'search': {'speed': 0.6, 'actuation': 'joints', 'min_step_length': 0.2, 'clearance': 0.02},
    }
