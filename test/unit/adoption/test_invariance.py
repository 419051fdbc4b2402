# SPDX-License-Identifier: Apache-2.0
"""A robot stays the same robot wherever its base frame lies, and whatever its parts are called."""

from functools import partial
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.guess import Told
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.urdf_parts import origin_of, placement_of
from walking_control.simulation.simulate import simulate

BASE = 'pelvis'
STEPPING = [('stepping.speed', 0.3)]
NEAR = 1e-6  # rad, m: how far the walks may lie apart; they do by 1e-12


@pytest.fixture(
    scope='module',
    params=[
        'walker3d',
        pytest.param('humanoid', marks=pytest.mark.long),
        pytest.param('walker3d_points', marks=pytest.mark.long),
        pytest.param('walker3d_built', marks=pytest.mark.long),
    ],
)
def biped(request):
    """Return the URDF text of one of our bipeds."""
    return load_robot(request.param).robot.urdf


def move(root, x=0.0, y=0.0, z=0.0, yaw=0.0):
    """Move and turn the frame of the root link; all parts of the robot stay where they are."""
    back = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, yaw), np.array([x, y, z])).inverse()
    joints = [joint for joint in root.findall('joint') if joint.find('parent').get('link') == BASE]
    for part in [*root.find(f"link[@name='{BASE}']"), *joints]:
        place = back * placement_of(part)
        for element in part.findall('origin'):
            part.remove(element)
        part.insert(0, origin_of(place))
    return str


def stand_on_footprint(root):
    """Give the robot the root that REP 120 asks for: a frame on the floor between the feet."""
    ElementTree.SubElement(root, 'link', name='base_footprint')
    joint = ElementTree.SubElement(root, 'joint', name='footprint_joint', type='fixed')
    ElementTree.SubElement(joint, 'parent', link='base_footprint')
    ElementTree.SubElement(joint, 'child', link=BASE)
    ElementTree.SubElement(joint, 'origin', xyz='0 0 0.8')
    return str


def rename(root, pairs=(('left', 'L'), ('right', 'R'), (BASE, 'middle'), ('hip', 'H'))):
    """Call links and joints otherwise; return what gives joints their old names back."""

    def other(name, swap=False):
        for old, new in pairs:
            name = name.replace(new, old) if swap else name.replace(old, new)
        return name

    for element in root.iter():
        if element.tag in ('link', 'joint', 'parent', 'child'):
            key = 'name' if 'name' in element.keys() else 'link'
            element.set(key, other(element.get(key)))
    return partial(other, swap=True)


def mirror(root):
    """Exchange left and right, in names and in numbers: a symmetric robot in another order."""
    rename(root, (('left', 'other'), ('right', 'left'), ('other', 'right')))
    for element in root.iter():
        for key, signs in {
            ('origin', 'xyz'): (1, -1, 1),
            ('origin', 'rpy'): (-1, 1, -1),
        }.items():
            if element.tag == key[0] and element.get(key[1]):
                numbers = np.array(element.get(key[1]).split(), float) * signs
                element.set(key[1], ' '.join(map(repr, numbers.tolist())))
        if element.tag == 'inertia':
            for entry in ('ixy', 'iyz'):
                element.set(entry, repr(-float(element.get(entry))))
    return str


def walked(folder, text):
    """Return sections and motors of an adopted robot, its run and its posture."""
    path = folder / 'stranger.urdf'
    path.write_text(text)
    adoption = adopt(path, Told(name='stranger'))
    assert not adoption.suspicions
    robot_file = load_robot(adoption.write(folder)[0], STEPPING)
    run = simulate(robot_file, 'stepping', 'mujoco', 0.8)
    sections = {
        f'{section}.{name}': value
        for section, values in adoption.parameters.items()
        if section not in ('robot', 'start') and isinstance(values, dict)
        for name, value in values.items()
    }
    motors = adoption.parameters['robot']['actuators']
    return sections, motors, run, adoption.standing.posture


@pytest.fixture(scope='module', autouse=True)
def pressed():
    """Press the feet a micrometre into the floor: on it, rounding decides which of them touch."""
    start = Dynamics.start_state

    def start_state(dynamics, *given):
        q, v = start(dynamics, *given)
        q[2] -= 1e-6
        return q, v

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dynamics, 'start_state', start_state)
        yield


@pytest.fixture(scope='module')
def as_it_is(biped, pressed, tmp_path_factory):
    """Return what `walked` gives of the robot before any change."""
    return walked(tmp_path_factory.mktemp('biped'), biped)


@pytest.mark.parametrize(
    'change',
    [
        pytest.param(partial(move, z=-0.4), marks=pytest.mark.long),
        partial(move, x=0.5, y=-0.3, z=0.5, yaw=-0.5 * np.pi),
        pytest.param(partial(move, z=-0.9, yaw=0.5 * np.pi), marks=pytest.mark.long),
        stand_on_footprint,
        rename,
        mirror,
    ],
    ids=['lower', 'moved and turned', 'under the feet', 'footprint', 'renamed', 'mirrored'],
)
def test_same_robot_gets_equal_parameters_and_an_equal_walk(tmp_path, biped, as_it_is, change):
    """Where CAD puts the base frame, or how a maker calls things, would change how it walks."""
    root = ElementTree.fromstring(biped)
    old = change(root)
    known, motors, run, posture = as_it_is
    sections, others, other, there = walked(
        tmp_path, ElementTree.tostring(root, encoding='unicode')
    )
    assert sections == known and {old(name): motor for name, motor in others.items()} == motors
    assert {old(name): value for name, value in there.items()} == pytest.approx(posture, abs=1e-5)
    assert not run.fell and run.steps[-1] >= 2 and other.steps[-1] == run.steps[-1]
    assert np.abs(other.q[:, :7] - run.q[:, :7]).max() < NEAR
    names = [old(name) for name in other.robot.joints]
    order = [7 + names.index(name) for name in run.robot.joints]
    assert np.abs(other.q[:, order] - run.q[:, 7:]).max() < NEAR


def test_scale_is_that_of_the_legs(tmp_path):
    """Defaults of a robot file would change with the place of its root frame."""
    path = load_robot('walker3d').path
    root = ElementTree.fromstring(load_robot('walker3d').robot.urdf)
    move(root, z=-0.4)
    (tmp_path / 'low.urdf').write_text(ElementTree.tostring(root, encoding='unicode'))
    text = path.read_text().replace('../../urdf/walker3d.urdf.xacro', 'low.urdf')
    (tmp_path / 'low.yaml').write_text(text.replace('xacro_args: {feet: soles}', ''))
    low, known = load_robot(tmp_path / 'low.yaml').scale, load_robot('walker3d').scale
    assert (low.mass, low.length) == pytest.approx((known.mass, known.length))
