# SPDX-License-Identifier: Apache-2.0
"""Robots as CAD writes them: slips are mended and said."""

import os
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
from pinocchio import coal
import pytest

from walking_control.controllers.stepping.body import Body
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.whole_body import FootContact
from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.guess import REPAIRED, Told
from walking_control.lab.experiments.bring_up.run import bring_up
from walking_control.lab.experiments.bring_up.step import Site
from walking_control.lab.experiments.check import check_robot
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.resources import find_meshes, share_directory
from walking_control.models.urdf import load_urdf

WALKER = {'feet': 'soles'}
FOLDER = os.environ.get('WALKING_CONTROL_ROBOTS', '')
REAL = (
    sorted(path for kind in ('urdf', 'xml', 'sdf') for path in Path(FOLDER).glob(f'*/*.{kind}'))
    if FOLDER
    else [
        pytest.param(
            Path('none'),
            marks=pytest.mark.skip(
                reason='no robots; WALKING_CONTROL_ROBOTS names a folder of folders with them'
            ),
        )
    ]
)


@pytest.fixture(scope='module')
def biped():
    """Return the URDF text of our biped, as somebody else would bring it: no robot file."""
    return load_urdf(share_directory() / 'urdf' / 'walker3d.urdf.xacro', WALKER)


@pytest.fixture
def bring(tmp_path, biped):
    """Return what adopts the biped after a change of its tree."""

    def go(change, told=None):
        root = ElementTree.fromstring(biped)
        change(root)
        path = tmp_path / 'stranger.urdf'
        path.write_text(ElementTree.tostring(root, encoding='unicode'))
        return adopt(path, told or Told())

    return go


def repaired(adoption):
    """Return what was repaired, name -> words."""
    return {
        guess.what: f'{guess.value}: {guess.why}'
        for guess in adoption.guesses
        if guess.confidence == REPAIRED
    }


def part(root, tag, name):
    """Return a link or joint."""
    return next(each for each in root.findall(tag) if each.get('name') == name)


def spoil_inertia(root):
    """Give a link the inertia of no body."""
    link = next(
        link
        for link in root.findall('link')
        if link.find('inertial') is not None and 'shank' in link.get('name', '')
    )
    inertia = link.find('inertial/inertia')
    for key, value in {'ixx': 1e-3, 'iyy': 1e-3, 'izz': 9e-3}.items():
        inertia.set(key, repr(value))


def add_slips(root):
    """Add a mote that is fixed to the base, and a look that is not there."""
    base = root.findall('link')[0]
    look = ElementTree.SubElement(base, 'visual')
    shape = ElementTree.SubElement(look, 'geometry')
    ElementTree.SubElement(shape, 'mesh', filename='package://nowhere/shell.stl')
    mote = ElementTree.SubElement(root, 'link', name='mote')
    inertial = ElementTree.SubElement(mote, 'inertial')
    ElementTree.SubElement(inertial, 'mass', value='1e-6')
    ElementTree.SubElement(
        inertial, 'inertia', ixx='1e-15', iyy='1e-15', izz='1e-15', ixy='0', ixz='0', iyz='0'
    )
    joint = ElementTree.SubElement(root, 'joint', name='mote_joint', type='fixed')
    ElementTree.SubElement(joint, 'parent', link=base.get('name'))
    ElementTree.SubElement(joint, 'child', link='mote')


def test_slips_are_mended_and_said(bring, tmp_path):
    """One arm's inertia, a mote or a lost look would keep a whole robot out."""

    def change(root):
        spoil_inertia(root)
        add_slips(root)

    adoption = bring(change)
    said = repaired(adoption)
    assert 'mote' in said and any(name.startswith('inertia of') for name in said)
    assert 'shell.stl' in said['meshes']
    path = adoption.write(tmp_path)[0]
    assert check_robot(path)['ok']
    with pytest.raises(InvalidInput, match='--strict'):
        bring(change, Told(strict=True))


def test_sound_descriptions_are_left_alone(bring):
    """A robot without slips would be changed, or refused by --strict."""
    assert not repaired(bring(lambda root: None, Told(strict=True)))


@pytest.mark.parametrize('content', [None, b'', b'no mesh', b'\0' * 80 + b'\1' + b'\0' * 53])
def test_retired_and_lost_parts_of_an_mjcf(tmp_path, content):
    """An attribute MuJoCo no longer knows, or a mesh that is not there, would keep a robot out."""
    legs = ''.join(
        f'''<body name="{side}_thigh" pos="0 {y} 0"><joint name="{side}_roll"
      axis="1 0 0" range="-1 1"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2" mass="1"/>
      <body name="{side}_shank" pos="0 0 -.2"><joint name="{side}_knee" axis="0 1 0" range="0 2"/>
      <geom type="mesh" mesh="lost"/>
      <geom name="{side}_end" type="capsule" size=".02" fromto="0 0 0 0 0 -.2" mass=".5"/></body>
      </body>'''
        for side, y in (('left', 0.1), ('right', -0.1))
    )
    motors = ''.join(
        f'<motor joint="{side}_{joint}" ctrlrange="-9 9"/>'
        for side in ('left', 'right')
        for joint in ('roll', 'knee')
    )
    if content is not None:
        (tmp_path / 'lost.stl').write_bytes(content)
    path = tmp_path / 'old.xml'
    (tmp_path / 'links.xml').write_text(f"""<mujoco><body name="trunk" pos="0 0 1">
      <freejoint/><geom type="box" size=".1 .1 .1" mass="5" material="grain"/>{legs}</body></mujoco>
    """)
    path.write_text(f"""<mujoco model="old"><option collision="all"/><compiler angle="radian"/>
      <asset><mesh name="lost" file="lost.stl"/><texture name="wood" type="2d" file="lost.png"/>
      <material name="grain" texture="wood"/></asset>
      <worldbody><include file="links.xml"/></worldbody>
      <contact><pair geom1="left_end" geom2="ground"/></contact>
      <actuator>{motors}</actuator></mujoco>""")
    said = repaired(adopt(path))
    assert 'collision of option' in said['MJCF'] and 'file lost' in said['MJCF']
    assert 'file lost.png' in said['MJCF'], 'and its material has no texture'
    assert 'contacts with ground' in said['MJCF'], 'a part of a scene, whose floor it names'


def test_an_mjcf_may_lose_all_its_looks(tmp_path):
    """A checkout without its meshes, each of which MuJoCo refuses alone, would be refused."""
    looks = [f'look_{i}' for i in range(50)]
    legs = ''.join(
        f'''<body name="{side}_leg" pos="0 {y} 0"><joint name="{side}_hip" axis="1 0 0"
      range="-1 1" actuatorfrcrange="-9 9"/><geom type="capsule" size=".02"
      fromto="0 0 0 0 0 -.4" mass="1"/></body>'''
        for side, y in (('left', 0.1), ('right', -0.1))
    )
    path = tmp_path / 'bare.xml'
    path.write_text(f"""<mujoco model="bare"><asset>
      {''.join(f'<mesh name="{look}" file="{look}.stl"/>' for look in looks)}</asset>
      <worldbody><body name="trunk" pos="0 0 1"><freejoint/>
      <geom type="box" size=".1 .1 .1" mass="5"/>
      {''.join(f'<geom type="mesh" mesh="{look}"/>' for look in looks)}{legs}</body></worldbody>
      </mujoco>""")
    assert 'file look_49' in repaired(adopt(path))['MJCF']


def test_a_flat_mesh_of_an_mjcf_is_left_out(tmp_path):
    """A maker's logo, a sheet without volume, would keep a robot out (Adam lite)."""
    legs = ''.join(
        f'''<body name="{side}_leg" pos="0 {y} 0"><joint name="{side}_hip" axis="1 0 0"
      range="-1 1" actuatorfrcrange="-9 9"/><geom type="capsule" size=".02"
      fromto="0 0 0 0 0 -.4" mass="1"/><geom type="mesh" mesh="logo" contype="0"
      conaffinity="0"/></body>'''
        for side, y in (('left', 0.1), ('right', -0.1))
    )
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    (tmp_path / 'logo.obj').write_text(
        ''.join(f'v {x} {y} {z}\n' for x, y, z in corners) + 'f 1 2 3\nf 2 4 3\n'
    )
    path = tmp_path / 'flat.xml'
    path.write_text(f"""<mujoco model="flat"><asset><mesh file="logo.obj"/></asset>
      <worldbody><body name="trunk" pos="0 0 1"><freejoint/>
      <geom type="box" size=".1 .1 .1" mass="5"/>{legs}</body></worldbody></mujoco>""")
    assert repaired(adopt(path))['MJCF'].endswith('file logo')


def test_a_mesh_is_found_whatever_its_capitals(tmp_path):
    """A URDF written where .STL and .stl are the same file would lose its feet."""
    (tmp_path / 'meshes').mkdir()
    foot = tmp_path / 'meshes' / 'foot.stl'
    foot.write_bytes(b'a shape')
    (tmp_path / 'meshes' / 'hand.STL').write_bytes(b'a shape')
    (tmp_path / 'meshes' / 'hand.stl').write_bytes(b'another')
    names = 'meshes/Foot.STL', 'package://mine/meshes/foot.STL', 'meshes/hand.stl', 'meshes/no.stl'
    looks = ''.join(
        f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names
    )
    found = find_meshes(f'<robot name="r"><link name="a">{looks}</link></robot>', tmp_path)
    hand = tmp_path / 'meshes' / 'hand.stl'
    assert found == {names[0]: str(foot), names[1]: str(foot), names[2]: str(hand)}


def test_sliding_knees_are_named(tmp_path):
    """A leg that gets shorter would pass in silence, its limits taken for radians."""
    text = on_legs(TWO).replace('_knee" type="revolute">', '_knee" type="prismatic">')
    path = tmp_path / 'slides.urdf'
    path.write_text(
        f'<robot name="slides">{text.replace(LIMIT, LIMIT.replace("-1", "-.2"))}</robot>'
    )
    adoption = adopt(path)
    guess = next(each for each in adoption.guesses if each.what == 'sliding joints in the legs')
    assert guess.value == 'left_knee, right_knee' and guess.confidence == 'low'
    sentences = check_robot(adoption.write(tmp_path)[0])['assumptions']
    assert any('left_knee, right_knee: slides' in sentence for sentence in sentences)


def test_joints_without_limits_turn_half_a_turn(bring):
    """Forgotten limits of one joint would be read as no room to move."""

    def forget(root):
        for joint in root.findall('joint'):
            limit = joint.find('limit')
            if joint.get('type') == 'revolute' and 'yaw' in joint.get('name', ''):
                for key in ('lower', 'upper'):
                    limit.attrib.pop(key, None)

    adoption = bring(forget)
    assert any(name.startswith('limits of') for name in repaired(adoption))
    limit = adoption.tree.limits[next(name for name in adoption.tree.limits if 'yaw' in name)]
    assert limit.upper == pytest.approx(np.pi) and limit.lower == pytest.approx(-np.pi)


def test_the_start_is_bent_under_the_hips(bring, biped):
    """A leg that is longest ahead of the robot would be taken for one that stands."""
    adoption = bring(lambda root: None)
    knees = [abs(value) for name, value in adoption.standing.posture.items() if 'knee' in name]
    assert min(knees) > 0.4 and adoption.standing.error < 1e-4
    wide = bring(
        lambda root: [
            joint.find('origin').set(
                'xyz',
                ' '.join(
                    str(float(x) + (0.1 if i == 0 else 0.0))
                    for i, x in enumerate(joint.find('origin').get('xyz').split())
                ),
            )
            for joint in root.findall('joint')
            if 'hip_pitch' in joint.get('name', '') and joint.find('origin') is not None
        ]
    )
    assert wide.standing.longest < 1.05 * adoption.standing.longest


def test_light_joints_get_rotors(bring, tmp_path):
    """An ankle without rotor inertia would alternate from tick to tick under any damping."""
    adoption = bring(lambda root: None)
    motors = adoption.parameters['robot']['actuators']
    assert all(motor['rotor_inertia'] > 0.0 for motor in motors.values())
    assert any(guess.what == 'armature' for guess in adoption.guesses)
    name = next(iter(motors))
    told = bring(lambda root: None, Told(armatures={name: 0.123}))
    assert told.parameters['robot']['actuators'][name]['rotor_inertia'] == 0.123


def scaled(root, size):
    """Make a robot as many times as large, of the same density and the same motors per weight."""
    for element in root.iter():
        for key, power in (('xyz', 1), ('size', 1), ('radius', 1), ('length', 1)):
            if element.tag != 'axis' and element.get(key) is not None:
                element.set(
                    key, ' '.join(repr(size**power * float(x)) for x in element.get(key).split())
                )
        if element.tag == 'mass':
            element.set('value', repr(size**3 * float(element.get('value'))))
        if element.tag == 'inertia':
            for key in element.keys():
                element.set(key, repr(size**5 * float(element.get(key))))
        if element.tag == 'limit':
            for key, power in (('effort', 4), ('velocity', -0.5)):
                if element.get(key) is not None:
                    element.set(key, repr(size**power * float(element.get(key))))


def test_what_is_written_goes_with_size(bring, tmp_path):
    """A threshold in metres, newtons or seconds would refuse small robots or fell large ones."""
    whole, small = bring(lambda root: None), bring(lambda root: scaled(root, 0.25))
    big, little = whole.parameters['stepping'], small.parameters['stepping']
    powers = {'m': 1.0, 's': 0.5, 'm/s': 0.5, '1/s': -0.5, '1/s^2': -1.0, 'rad/s': -0.5}
    for name, value in big.items():
        row = SteppingParameters.rows[name]
        if row.unit in powers and row.minimum < little[name] < row.maximum:
            assert little[name] == pytest.approx(0.25 ** powers[row.unit] * value, rel=0.03), name
    assert check_robot(small.write(tmp_path)[0])['ok']


def test_a_leg_that_is_bent_at_zero_has_its_whole_length(bring, tmp_path):
    """Legs drawn bent would be taken for short ones: what adopt writes, check would refuse."""
    straight = load_robot(bring(lambda root: None).write(tmp_path)[0])

    def bend(root):
        for joint in root.findall('joint'):
            angle = {'hip_pitch': 0.5, 'knee': -1.0, 'ankle_pitch': 0.5}
            name = joint.get('name', '')
            turn = next((value for key, value in angle.items() if key in name), 0.0)
            axis = joint.find('axis')
            limit = joint.find('limit')
            if turn and axis is not None and axis.get('xyz').split()[1] not in ('0', '0.0'):
                sign = float(np.sign(float(axis.get('xyz').split()[1])))
                origin = joint.find('origin')
                origin.set('rpy', f'0 {turn} 0')
                for key in ('lower', 'upper'):
                    limit.set(key, repr(float(limit.get(key)) - sign * turn))

    bent = bring(bend)
    path = bent.write(tmp_path)[0]
    lengths = [
        Body(Dynamics(each.robot, 9.81, 0.0)).leg_length for each in (straight, load_robot(path))
    ]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.03)
    assert check_robot(path)['ok']


def test_a_blade_rolls_and_does_not_tip():
    """A foot that no joint can roll would be held flat sideways by a moment it cannot have."""
    blade = FootContact(0.2, 0.0, 0.5, 0.0, 1.0)
    assert blade.blade and list(blade.parts) == [0, 1, 2, 4, 5]
    assert not FootContact(0.2, 0.1, 0.5, 0.0, 1.0).blade
    assert not FootContact(0.0, 0.0, 0.5, 0.0, 1.0).blade
    ahead = np.array([0.0, 0.0, 100.0, -100.0 * 0.09, 0.0])  # within half the length, beyond it
    assert (blade.rows @ ahead >= blade.bound - 1e-6).all()
    ahead[3] = -100.0 * 0.11
    assert not (blade.rows @ ahead >= blade.bound - 1e-6).all()


LIMIT = '<limit lower="-1" upper="1" effort="50" velocity="10"/>'
TWO = (('left', 0.1), ('right', -0.1))
KNEE, KNEE_SLIDES = '_knee" type="revolute">', '_knee" type="prismatic">'


def a_link(name, mass=1.0, shape='<box size="0.2 0.08 0.02"/>'):
    """Return the text of a link."""
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="0.01" iyy="0.01" '
        f'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>{shape}'
        '</geometry></collision></link>'
    )


def a_joint(name, parent, child, xyz, kind='revolute', limit=LIMIT, axis='0 1 0'):
    """Return the text of a joint."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def on_legs(names, mass=1.0, limit=LIMIT):
    """Return the text of a trunk on legs of three joints."""
    return a_link('trunk', 10.0 * mass) + ''.join(
        a_link(f'{name}_hip', mass)
        + a_link(f'{name}_thigh', mass)
        + a_link(f'{name}_foot', mass)
        + a_joint(f'{name}_roll', 'trunk', f'{name}_hip', f'0 {y} 0', limit=limit, axis='1 0 0')
        + a_joint(f'{name}_pitch', f'{name}_hip', f'{name}_thigh', '0 0 -0.01', limit=limit)
        + a_joint(f'{name}_knee', f'{name}_thigh', f'{name}_foot', '0 0 -0.4', limit=limit)
        for name, y in names
    )


WHEELS = a_link('trunk', 10.0) + ''.join(
    a_link(f'{name}_wheel', 1.0, '<cylinder radius="0.1" length="0.05"/>')
    + a_joint(
        f'{name}_turn',
        'trunk',
        f'{name}_wheel',
        f'0 {y} -0.2',
        'continuous',
        '<limit effort="5" velocity="20"/>',
    )
    for name, y in TWO
)

MANY = 'lower="-1e6" upper="1e6" effort'
RIGHT_ROLL = '<joint name="right_roll" type="revolute">'
MIMICS = 'no image of left_roll; right_roll is fixed at 0: it mimics left_roll.*--fix left_roll=0'


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (WHEELS, 'are wheels'),
        (
            WHEELS.replace('continuous', 'revolute').replace('effort', MANY),
            'are wheels',
        ),
        (on_legs(TWO).replace(RIGHT_ROLL, f'{RIGHT_ROLL}<mimic joint="left_roll"/>'), MIMICS),
        (on_legs(TWO[:1]), 'a walker has two'),
        (on_legs(TWO).replace('_roll', '_shoulder').replace('_knee', '_elbow'), 'arms are no legs'),
        (on_legs((*TWO, ('third', 0.0))), 'a walker has two'),
        (on_legs(TWO, limit='<limit lower="-1" upper="1"/>'), 'has no effort'),
        (
            on_legs(TWO, limit=LIMIT.replace('50', '-5')),
            'effort limit of joint .* not be negative',
        ),
        (on_legs(TWO, mass=0.0), 'must be positive'),
        (on_legs(TWO) + a_link('stray'), 'has one root'),
        (on_legs(TWO) + a_joint('loop', 'left_foot', 'right_foot', '0 0 0'), 'a URDF is a tree'),
    ],
)
def test_what_is_no_biped_is_refused_in_one_line(tmp_path, text, words):
    """A robot that cannot walk would be adopted, or be refused by a trace."""
    path = tmp_path / 'none.urdf'
    path.write_text(f'<robot name="none">{text}</robot>')
    with pytest.raises(InvalidInput, match=words) as refused:
        adopt(path)
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize(
    ('link', 'words'),
    [('left_foot', 'joint left_knee: moves no mass'), ('left_thigh', 'without <inertial>')],
)
def test_a_leg_without_inertia_is_named(tmp_path, link, words):
    """A shank whose <inertial> was forgotten would end adopt in a division by zero."""
    text = re.sub(f'(<link name="{link}">)<inertial>.*?</inertial>', r'\1', on_legs(TWO))
    path = tmp_path / 'light.urdf'
    path.write_text(f'<robot name="light">{text}</robot>')
    try:
        said = ' '.join(map(str, adopt(path).suspicions))
    except InvalidInput as refused:
        said = str(refused)
    assert words in said and '\n' not in said


@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_legs_without_limits_are_no_wheels(tmp_path):
    """A robot whose joints are all continuous was refused for a foot in the middle of its ankle."""
    text = on_legs(TWO, limit='<limit effort="50" velocity="10"/>').replace(
        'revolute', 'continuous'
    )
    path = tmp_path / 'endless.urdf'
    path.write_text(f'<robot name="endless">{text}</robot>')
    assert [sole.body for sole in adopt(path).soles]


def test_a_mesh_is_read_once(tmp_path, monkeypatch):
    """A robot of 35 meshes that are shown 114 times took minutes: each was read for each time."""
    seen, load = [], coal.MeshLoader.load
    monkeypatch.setattr(
        coal.MeshLoader, 'load', lambda *given: seen.append(given[1]) or load(*given)
    )
    corners = np.eye(4, 3)[[0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]].reshape(4, 9)
    facets = np.hstack([np.zeros((4, 3)), corners]).astype('<f4')
    body = b''.join(row.tobytes() + bytes(2) for row in facets)
    (tmp_path / 'part.stl').write_bytes(bytes(80) + (4).to_bytes(4, 'little') + body)
    shown = '<visual><geometry><mesh filename="part.stl"/></geometry></visual></link>'
    path = tmp_path / 'shown.urdf'
    path.write_text(f'<robot name="shown">{on_legs(TWO)}</robot>'.replace('</link>', shown))
    assert len(adopt(path).soles) == 2 and len(seen) == 1


def test_a_shape_in_somebody_elses_element_needs_no_numbers(tmp_path):
    """Pinocchio's <collision_checking> names capsules without a size: the robot was refused."""
    path = tmp_path / 'named.urdf'
    extension = '<collision_checking><capsule name="shin"/></collision_checking></link>'
    path.write_text(f'<robot name="named">{on_legs(TWO)}</robot>'.replace('</link>', extension, 1))
    assert len(adopt(path).soles) == 2


@pytest.mark.parametrize(
    ('name', 'kind'), [('world', 'fixed'), ('dummy_link', 'floating'), ('lab', 'planar')]
)
def test_a_world_link_is_taken_away(tmp_path, name, kind):
    """A base that hangs on a world, whatever its name, would be fixed to it or refused."""
    path = tmp_path / 'hung.urdf'
    path.write_text(
        f'<robot name="hung"><link name="{name}"/>'
        + a_joint('anchor', name, 'trunk', '0 0 1', kind, '')
        + on_legs(TWO)
        + '</robot>'
    )
    assert any(guess.what == 'root' for guess in adopt(path).guesses)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize('path', REAL, ids=lambda path: path.stem)
def test_robots_of_a_folder_walk(tmp_path, path):
    """A stranger's robot would no longer stand and walk from its description alone."""
    site = Site(adopt(path).write(tmp_path)[0], tmp_path, evaluations=0, progress=lambda text: None)
    results = {name: outcome for name, outcome, _ in bring_up(site)}
    assert results['walk (MuJoCo)'].ok, {name: outcome.what for name, outcome in results.items()}
    laws = ['stepping', *['natural_walking'] * bool(results['natural gait'].files)]
    assert results['speed'].ok and all(f'{law}: ' in results['speed'].what for law in laws)
