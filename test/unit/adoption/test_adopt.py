# SPDX-License-Identifier: Apache-2.0
"""A stranger's description becomes a robot file, and its slips are named."""

import json
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from planar_strangers import compass_urdf, three_link_urdf
import pytest
from static_robots import real_path
from stranger import rabbit_urdf

from walking_control.cli import main
from walking_control.controllers import NaturalWalking, Stepping
from walking_control.exceptions import IncompatibleController, InvalidInput
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.description import place_base
from walking_control.lab.adoption.guess import Description, LOW, MEDIUM, Told
from walking_control.lab.adoption.mirror import partner_name, side_of, without_side
from walking_control.lab.adoption.robot_tree import SHARED
from walking_control.lab.experiments.check import check_robot
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.models.signals import Command
from walking_control.models.urdf import load_urdf
from walking_control.search.space_parameters import SpaceSearchParameters
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import simulate

BOLT = 'bolt_description/robots/bolt.urdf'
CASSIE = 'cassie_description/robots/cassie_v2.sdf'


@pytest.fixture(scope='module')
def biped():
    """Return the URDF text of our biped, as somebody else would bring it: no robot file."""
    return load_urdf(share_directory() / 'urdf' / 'walker3d.urdf.xacro', {'feet': 'soles'})


def adopt_text(folder, text, told=None):
    """Return the `Adoption` of a URDF text."""
    path = folder / 'stranger.urdf'
    path.write_text(text)
    return adopt(path, told or Told())


def edited(text, link_or_joint, change):
    """Return a URDF text with one part of it changed."""
    root = ElementTree.fromstring(text)
    part = next(
        part
        for part in (*root.findall('link'), *root.findall('joint'))
        if part.get('name') == link_or_joint
    )
    change(part)
    return ElementTree.tostring(root, encoding='unicode')


def set_numbers(path, attribute, change):
    """Return what changes numbers of an element of a part."""

    def apply(part):
        element = part.find(path)
        numbers = [float(x) for x in element.get(attribute).split()]
        element.set(attribute, ' '.join(repr(float(x)) for x in change(np.array(numbers))))

    return apply


def test_planar_walker_is_written_and_passes_check(tmp_path):
    """Somebody's planar biped would have to be described by hand."""
    adoption = adopt_text(tmp_path, rabbit_urdf())
    path, _ = adoption.write(tmp_path)
    assert adoption.base == 'planar' and not adoption.suspicions
    result = check_robot(path)
    assert result['ok'], result['problems']
    robot = load_robot(path).robot
    assert robot.mirror['left_hip'] == ('right_hip', 1.0)
    assert robot.coordinates == ('lean', 'stance_hip', 'stance_knee', 'swing_hip', 'swing_knee')


def test_base_in_a_leg_is_relabelled(tmp_path):
    """A compass, whose base is one of its legs, would get supports that exchange nothing."""
    adoption = adopt_text(tmp_path, compass_urdf())
    path, _ = adoption.write(tmp_path)
    robot = load_robot(path).robot
    assert robot.mirror == {'hip': ('hip', -1.0)}
    assert adoption.tree.mass == pytest.approx(0.5)
    assert check_robot(path)['ok'] and not adoption.suspicions


def test_straight_legs_with_a_torso(tmp_path):
    """Legs without knees would be asked to bend, or their masses at points be called a slip."""
    adoption = adopt_text(tmp_path, three_link_urdf())
    path, _ = adoption.write(tmp_path)
    assert check_robot(path)['ok'] and not adoption.suspicions
    left, right = (
        abs(adoption.standing.posture[f'{side}_hip'] + adoption.pitch) for side in ('left', 'right')
    )
    assert left == pytest.approx(right, abs=1e-4)  # upright between its feet


def test_biped_stands_where_its_owner_stood_it(tmp_path, biped):
    """The start of a biped would fall over: feet not flat, or the weight beside them."""
    adoption = adopt_text(tmp_path, biped)
    path, _ = adoption.write(tmp_path)
    assert not adoption.suspicions
    assert check_robot(path)['ok']
    assert [sole.link for sole in adoption.soles] == ['left_sole', 'right_sole']
    assert adoption.soles[0].length == pytest.approx(0.12)
    assert adoption.soles[0].width == pytest.approx(0.06)
    run = simulate(load_robot(path), 'static_torque', duration=0.6)
    assert not run.fell and abs(run.base.position[-1, 2] - adoption.standing.height) < 0.01


def test_natural_walking_knows_the_soles(tmp_path, biped):
    """A gait of a stranger's own would be walked as on points, until its contacts flicker."""
    path, _ = adopt_text(tmp_path, biped).write(tmp_path)
    robot_file = load_robot(path)
    known, values = robot_file.sections['stepping'], robot_file.sections['natural_walking']
    assert {name: values[name] for name in SHARED} == {name: known[name] for name in SHARED}
    assert known['narrowest'] < values['step_width']  # as wide as gaits are searched
    usual = SpaceSearchParameters.read({}, load_robot(path).scale).gait_width
    assert values['step_width'] == pytest.approx(usual, rel=0.02)
    assert load_robot(path).sections['estimator']['floor_variation'] > 0.0  # soles feel slopes
    assert values['tall'] == pytest.approx(0.97 * 0.8, abs=0.01)  # legs of 0.8 m
    assert values['height'] == pytest.approx(0.825 * 0.8, abs=0.01)  # it sinks to reach far
    assert values['place_rate'] == 0.0  # by the clock
    assert values['swing_share'] == 0.85  # weak hips catch a push late otherwise
    with pytest.raises(IncompatibleController, match='flat soles'):
        simulate(load_robot('walker3d_points', controller='natural_walking'))


def test_a_folder_of_the_robots_name_is_no_gait(tmp_path, biped, monkeypatch):
    """README's own commands make one, and `check` then named a gait file that is a directory."""
    path, _ = adopt_text(tmp_path, biped, Told(name='stranger')).write(tmp_path)
    monkeypatch.chdir(tmp_path)
    robot_file = load_robot(path, controller='natural_walking')
    (tmp_path / robot_file.robot.name).mkdir()
    with pytest.raises(IncompatibleController, match='has no gaits yet, which bring-up'):
        simulate(robot_file)


def test_a_robot_that_can_rest_on_its_stops_is_told_to(tmp_path, biped):
    """If it failed, a stop of category 1 would let go of a robot that could have sat down."""
    ends = {'hip_pitch': -2.5, 'knee': 2.8, 'ankle_pitch': -1.3}
    for joint, end in [
        (f'{side}_{part}', end) for side in ('left', 'right') for part, end in ends.items()
    ]:
        side = 'upper' if end > 0.0 else 'lower'
        biped = edited(biped, joint, lambda part: part.find('limit').set(side, str(end)))
    adoption = adopt_text(tmp_path, biped)
    safety, law = (adoption.parameters[name] for name in ('safety', 'natural_walking'))
    lean = sum(ends.values()) * -1.0
    assert law['crouch_lean'] * safety['crouch'] == pytest.approx(lean, abs=1e-3)
    assert 0.5 < safety['crouch'] < 0.95 and safety['lower_time'] == 4.0
    assert any('hold it without torque' in guess.why for guess in adoption.guesses)
    for end in '-0.3', '-1.45':  # it would not balance there, or a jolt would tip it over its toes
        weak = edited(biped, 'left_ankle_pitch', lambda part: part.find('limit').set('lower', end))
        assert 'crouch' not in adopt_text(tmp_path, weak).parameters['safety']


def test_a_trunk_may_lean_either_way_as_a_stop_lowers_it():
    """Robots that `adopt` lets sit down so would be refused by both laws."""
    for lean in -0.147, 1.649:  # of zq_sa01 and of iCub, per share of the height
        leaning = [(f'{law}.crouch_lean', lean) for law in ('stepping', 'natural_walking')]
        robot_file = load_robot('walker3d', leaning)
        for law in Stepping, NaturalWalking:
            assert robot_file.values(law.parameters).crouch_lean == lean


def test_one_foot_larger_is_said(tmp_path, biped):
    """Whoever gave one foot a wrong size would wonder why neither is used."""

    def said(text):
        return [guess.why for guess in adopt_text(tmp_path, text).guesses if guess.what == 'soles']

    large = biped.replace('0.12 0.06 0.01', '0.18 0.06 0.01', 1)
    assert said(biped) == [] and ['they differ in size' in why for why in said(large)] == [True]
    sections = adopt_text(tmp_path, large).parameters
    assert sections['natural_walking']['sole_length'] == pytest.approx(0.85 * 0.12)


def test_efforts_before_the_gears_are_said(tmp_path, biped):
    """A robot whose description has the torques of its rotors would be said to be too weak."""

    def motors(text):
        guesses = adopt_text(tmp_path, text).guesses
        return next(guess.why for guess in guesses if guess.what == 'motors')

    weak = re.sub('effort="[^"]*"', 'effort="3"', biped)
    assert 'before the gears?' in motors(weak) and 'gears?' not in motors(biped)


def test_limits_that_every_joint_shares_are_doubted(tmp_path, biped):
    """Exporters that know no motors write 1 N m and 20 rad/s, by which a strong robot falls."""

    def motors(text):
        guesses = adopt_text(tmp_path, text).guesses
        return next((guess.confidence, guess.why) for guess in guesses if guess.what == 'motors')

    same = re.sub(
        'velocity="[^"]*"', 'velocity="20"', re.sub('effort="[^"]*"', 'effort="40"', biped)
    )
    other = same.replace('effort="40"', 'effort="41"', 1)
    assert motors(same)[0] == LOW and 'the same for every joint' in motors(same)[1]
    assert motors(other)[0] == MEDIUM and 'the same for every joint' not in motors(other)[1]


def test_turned_robot_is_turned_back(tmp_path, biped):
    """A robot whose x axis points backwards or sideways would walk that way."""
    known = adopt_text(tmp_path, biped)
    description = Description('turned', biped, tmp_path, 'URDF')
    place_base(description, pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, -np.pi / 2.0), np.zeros(3)))
    there = adopt_text(tmp_path, description.urdf)
    forward = {guess.what: guess.value for guess in there.guesses}['forward']
    assert forward == 'y' and not there.suspicions
    assert [sole.link for sole in there.soles] == ['left_sole', 'right_sole']
    for joint, value in known.standing.posture.items():
        assert there.standing.posture[joint] == pytest.approx(value, abs=1e-3), joint


@pytest.mark.parametrize(
    'part, change, words',
    [
        (
            'left_hip_yaw',
            set_numbers('origin', 'xyz', lambda xyz: xyz * [1, -1, 1]),
            'sign of y is flipped',
        ),
        # a place of zero is no slip of units
        (
            'left_hip_yaw',
            set_numbers('origin', 'xyz', lambda xyz: 0 * xyz),
            'mirror images is 0.07',
        ),
        ('left_knee', set_numbers('axis', 'xyz', lambda xyz: -xyz), 'one sign is flipped'),
        (
            'left_shank',
            set_numbers('inertial/mass', 'value', lambda mass: 10.0 * mass),
            'differs by a factor of 10',
        ),
        ('left_knee', set_numbers('origin', 'xyz', lambda xyz: 1000.0 * xyz), 'in millimetres'),
        (
            'left_hip_roll',
            set_numbers('axis', 'xyz', lambda xyz: xyz[[1, 0, 2]]),
            'a frame is turned',
        ),
    ],
)
def test_slip_on_one_side_is_named_in_one_line(tmp_path, biped, part, change, words):
    """A slip in a URDF would show as a robot that falls, days later."""
    found = [str(error) for error in adopt_text(tmp_path, edited(biped, part, change)).suspicions]
    assert len(found) == 1 and words in found[0], found
    assert 'left_' in found[0] and ('millimetres' in words) == ('millimetres' in found[0])


def test_swapped_sides_are_named(tmp_path, biped):
    """Left and right exchanged would be taken for a robot that walks backwards."""
    marked = biped.replace('left_', 'LLL_').replace('right_', 'left_').replace('LLL_', 'right_')
    found = [str(error) for error in adopt_text(tmp_path, marked, Told(forward='x')).suspicions]
    assert len(found) == 1 and 'left and right are swapped' in found[0], found


def test_millimetres_everywhere_are_named(tmp_path, biped):
    """A robot drawn in millimetres would be a kilometre high."""

    def enlarge(match):
        return match[1] + ' '.join(repr(1000.0 * float(x)) for x in match[2].split()) + '"'

    text = re.sub(r'((?:xyz|size|radius|length)=")([^"]*)"', enlarge, biped)
    text = re.sub(
        r'(<axis xyz=")([^"]*)"',
        lambda match: match[1] + ' '.join(repr(0.001 * float(x)) for x in match[2].split()) + '"',
        text,
    )
    found = [str(error) for error in adopt_text(tmp_path, text).suspicions]
    assert len(found) == 1 and 'millimetres' in found[0], found


def test_bolt_on_points(tmp_path):
    """A biped on points, with effort limits nobody believes, would be refused or given soles."""
    adoption = adopt(real_path(BOLT), Told())
    path, _ = adoption.write(tmp_path)
    assert all(sole.is_point for sole in adoption.soles)
    assert adoption.parameters['controller'] == 'stepping'
    assert (
        max(motor['current_limit'] for motor in adoption.parameters['robot']['actuators'].values())
        < 10.0
    )
    assert check_robot(path)['ok']


def test_sdf_with_closed_chains(tmp_path):
    """Cassie, an SDF with rods that close chains, would not be read at all."""
    adoption = adopt(real_path(CASSIE), Told())
    path, _ = adoption.write(tmp_path)
    assert len(adoption.tree.limits) == 10
    left_out = [guess.what for guess in adoption.guesses if guess.value == 'left out']
    assert len(left_out) == 4
    assert check_robot(path)['ok']


def test_mjcf_is_the_same_robot(tmp_path, biped):
    """An MJCF would become another robot than the URDF it says the same as."""
    urdf = adopt_text(tmp_path, biped)
    robot = load_robot('walker3d')
    spec = make_plant(robot).engine.make_spec()
    spec.compile()
    path = tmp_path / 'stranger.xml'
    path.write_text(spec.to_xml())
    there = adopt(path, Told(efforts={joint: 60.0 for joint in urdf.tree.limits}))
    assert there.tree.mass == pytest.approx(urdf.tree.mass)
    assert set(there.tree.limits) == set(urdf.tree.limits)
    assert there.standing.height == pytest.approx(urdf.standing.height, abs=1e-3)


def test_a_foot_that_is_a_mesh_has_a_level_sole(tmp_path, biped):
    """A foot that is higher behind would stand pitched, along its axes of inertia."""
    spec = make_plant(load_robot('walker3d')).engine.make_spec()
    spec.compile()
    root = ElementTree.fromstring(spec.to_xml())
    # a wedge: 5 cm high at its heel, 1 cm at its toe
    corners = [
        (x, y, z)
        for x, top in ((-0.08, 0.05), (0.12, 0.01))
        for y in (-0.04, 0.04)
        for z in (0.0, top)
    ]
    text = ' '.join(f'{number:g}' for corner in corners for number in corner)
    asset = root.find('asset')
    asset = ElementTree.SubElement(root, 'asset') if asset is None else asset
    ElementTree.SubElement(asset, 'mesh', name='wedge', vertex=text)
    feet = [body for body in root.iter('body') if body.get('name', '').endswith('foot')]
    for body in feet:
        for geom in body.findall('geom'):
            body.remove(geom)
        ElementTree.SubElement(body, 'geom', type='mesh', mesh='wedge', pos='0 0 -0.05')
    path = tmp_path / 'stranger.xml'
    path.write_text(ElementTree.tostring(root, encoding='unicode'))
    efforts = {joint: 60.0 for joint in adopt_text(tmp_path, biped).tree.limits}
    soles = adopt(path, Told(efforts=efforts)).soles
    assert len(feet) == len(soles) == 2
    for sole in soles:
        assert sole.place.rotation[2, 2] == pytest.approx(1.0, abs=1e-4)
        assert (sole.length, sole.width) == pytest.approx((0.2, 0.08), abs=1e-3)


def test_what_falls_lies_on_the_floor(tmp_path, biped):
    """A stranger whose trunk is a mesh, or drawn only, would sink through the floor as it falls."""
    text = edited(biped, 'pelvis', lambda link: link.remove(link.find('collision')))
    path, _ = adopt_text(tmp_path, text).write(tmp_path)
    robot_file = load_robot(path)
    plant, idle = make_plant(robot_file), Command(robot_file.robot)
    plant.reset(robot_file.start)
    while plant.time < 2.0:
        plant.step(idle, 0.01)
        assert plant.truth.base.position[2] > 0.0


def test_told_counts(tmp_path, biped):
    """What the owner says would be guessed over."""
    adoption = adopt_text(
        tmp_path,
        biped,
        Told(
            name='mine',
            feet=('right_foot', 'left_foot'),
            sole=(0.1, 0.05),
            fixed={'left_ankle_roll': 0.0, 'right_ankle_roll': 0.0},
            efforts={'left_knee': 77.0},
            armatures={'left_knee': 0.02},
        ),
    )
    robot = adoption.parameters['robot']
    assert robot['name'] == 'mine' and 'left_ankle_roll' not in robot['joints']
    motor = robot['actuators']['left_knee']
    assert (motor['current_limit'], motor['rotor_inertia']) == (77.0, 0.02)
    assert {guess.what for guess in adoption.guesses if guess.confidence == 'told'} >= {'feet'}
    assert adoption.soles[0].width == 0.05


def test_description_without_its_meshes(tmp_path):
    """A URDF that was copied alone would get feet from nowhere, without a word."""
    text = real_path('talos_data/robots/talos_reduced.urdf').read_text()
    adoption = adopt_text(tmp_path, text, Told(sole=(0.2, 0.12)))
    guesses = {guess.what: guess for guess in adoption.guesses}
    assert 'not read' in guesses['meshes'].value and guesses['feet'].confidence == 'low'
    assert [sole.link for sole in adoption.soles] == ['left_sole_link', 'right_sole_link']
    assert adoption.soles[0].length == 0.2
    # the one slip that is really in it: two bodies of an arm are no mirror images
    missed = 'distance in m by which the centres of mass behind {} and {} miss mirror images'
    assert {str(error).split(' is ')[0] for error in adoption.suspicions} == {
        missed.format(f'arm_left_{i}_joint', f'arm_right_{i}_joint') for i in (3, 4)
    }


@pytest.mark.parametrize(
    'text, words',
    [
        ('<robot name="a"><link name="b"/></robot>', 'total mass'),
        ('<hello/>', 'must be <robot>'),
        ('<robot', 'not well-formed'),
        ('<mujoco><worldbody/></mujoco>', 'has no body'),
        ('<sdf version="1.6"/>', 'no <model>'),
    ],
)
def test_what_is_no_robot_is_refused_in_one_line(tmp_path, capsys, text, words):
    """Bad input would end in a traceback."""
    path = tmp_path / 'bad.xml'
    path.write_text(text)
    assert main(['adopt', str(path), '--out', str(tmp_path / 'out')]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count('\n') == 1


def test_a_package_that_is_not_found_says_how_to_tell(tmp_path):
    """A traceback of another package would say that it is lost, not where to put it."""
    path = tmp_path / 'far.urdf.xacro'
    path.write_text(
        '<robot name="far" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find no_such_package)/a.xacro"/></robot>'
    )
    with pytest.raises(InvalidInput, match="'no_such_package' not found; source the workspace"):
        adopt(path)


def test_a_package_that_was_never_built_is_found_around_the_file(tmp_path, biped):
    """A robot in a checkout would ask for a workspace, though all its files lie there."""
    package = tmp_path / 'my_description'
    (package / 'urdf').mkdir(parents=True)
    (package / 'package.xml').write_text('<package><name>my_description</name></package>')
    whole = biped.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    (package / 'urdf' / 'all.xacro').write_text(whole)
    path = package / 'urdf' / 'my.urdf.xacro'
    path.write_text(
        '<robot name="my" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find my_description)/urdf/all.xacro"/></robot>'
    )
    feet = [
        adopt(each).parameters['robot']['feet'] for each in (path, package / 'urdf' / 'all.xacro')
    ]
    assert feet[0] == feet[1]


def test_unknown_names_are_refused(tmp_path, biped):
    """A typing error in what is told would be passed over."""
    for told in (
        Told(feet=('no', 'left_foot')),
        Told(fixed={'no': 0.0}),
        Told(posture={'no': 0.0}),
        Told(posture={'left_knee': 9.0}),
        Told(efforts={'left_knee': -1.0}),
        Told(base='planar'),
    ):
        with pytest.raises(InvalidInput):
            adopt_text(tmp_path, biped, told)


def test_command_writes_and_says(tmp_path, capsys):
    """The verb would leave out the file, the picture or what it guessed."""
    (tmp_path / 'rabbit.urdf').write_text(rabbit_urdf())
    assert (
        main(['adopt', str(tmp_path / 'rabbit.urdf'), '--out', str(tmp_path / 'out'), '--json'])
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert all(Path(file).is_file() for file in (result['file'], *result['files']))
    assert {'what', 'value', 'confidence'} <= set(result['guesses'][0])
    assert any(file.endswith('.png') for file in result['files'])


def test_a_robot_as_it_is_sold_awaits_no_force_sensor(tmp_path, biped):
    """Who owns a robot without force sensors would wait for their topics, and not know why."""
    bare = re.sub(r'<ros2_control.*</ros2_control>', '', biped, flags=re.DOTALL)
    bare = re.sub(r'<gazebo.*?</gazebo>', '', bare, flags=re.DOTALL)
    for text, confidence in ((biped, 'high'), (bare, 'low')):
        adoption = adopt_text(tmp_path, text)
        (guess,) = [guess for guess in adoption.guesses if guess.what == 'foot forces']
        assert (guess.value, guess.confidence) == ('sensors', confidence)
        assert ('tell motors' in guess.why) == (confidence == 'low')
    adoption = adopt_text(tmp_path, bare, Told(foot_forces='motors'))
    robot = load_robot(adoption.write(tmp_path)[0]).robot
    assert robot.foot_forces == 'motors' and not robot.foot_sensors


def test_a_planar_robot_needs_its_force_sensors(tmp_path):
    """A robot file would be written that no verb takes."""
    (tmp_path / 'rabbit.urdf').write_text(rabbit_urdf())
    with pytest.raises(InvalidInput, match='--foot-forces.*freely in space'):
        adopt(tmp_path / 'rabbit.urdf', Told(foot_forces='motors'))


def test_sides_of_names():
    """Makers call sides l, L, left or FL; a mirror found by names alone would miss some."""
    for name, other in (
        ('left_hip', 'right_hip'),
        ('leg_left_1_joint', 'leg_right_1_joint'),
        ('l_knee', 'r_knee'),
        ('LHipPitch', 'RHipPitch'),
        ('FL_HAA', 'FR_HAA'),
        ('arm_l', 'arm_r'),
        ('left-knee-op', 'right-knee-op'),
    ):
        assert partner_name(name) == other and partner_name(other) == name
        assert side_of(name) == 1 and side_of(other) == -1
    assert partner_name('roll') is None and partner_name('hip') is None
    assert without_side('leg_left_1_joint') == 'leg_1_joint'


def test_legs_above_their_hips_are_refused(tmp_path, biped, monkeypatch):
    """A leg whose joints lie a kilometre apart would end in the square root of a length below 0."""
    monkeypatch.setattr('walking_control.lab.adoption.standing.find_longest', lambda problem: -0.3)
    with pytest.raises(InvalidInput, match='it does not stand'):
        adopt_text(tmp_path, biped)
