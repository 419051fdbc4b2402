# SPDX-License-Identifier: Apache-2.0
"""What no robot can be is refused before it walks, with what, value, limit and remedy."""

import re

import pytest
from stranger import write_rabbit

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot


def refusal(folder, **arguments):
    """Return all errors of loading a RABBIT."""
    with pytest.raises(InvalidInput) as caught:
        load_robot(write_rabbit(folder, **arguments))
    return [str(error) for error in (caught.value, *caught.value.others)]


def in_urdf(old, new):
    """Return a change of the URDF that must find its text."""

    def change(text):
        assert old in text
        return text.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    'old, new, words',
    [
        ('name="right_knee"', 'name="left_knee"', 'joint left_knee is 2: times in the URDF'),
        ('<link name="right_foot">', '<link name="left_foot">', 'link left_foot is 2'),
        (
            '<limit lower="-1.5" upper="1.5" effort="150.0" velocity="20"/>',
            '',
            'joint left_hip: is revolute and has no <limit>',
        ),
        (
            'effort="150.0" velocity="20"',
            'effort="150.0"',
            'limit of joint left_hip: has no velocity',
        ),
        (
            '<parent link="left_thigh"/>',
            '<parent link="thigh"/>',
            "parent of joint left_knee is 'thigh'",
        ),
        ('type="fixed"', 'type="floating"', "type of joint left_ankle is 'floating': must be"),
        (
            '<axis xyz="0 1 0"/>',
            '<axis xyz="0 1 0"/><mimic joint="right_hip"/>',
            'joint left_hip is \'<mimic joint="right_hip">\': cannot be coupled',
        ),
    ],
)
def test_what_is_wrong_with_a_urdf(tmp_path, old, new, words):
    """A library would only say that the file is not valid, or let the joint move freely."""
    assert any(words in error for error in refusal(tmp_path, change_urdf=in_urdf(old, new)))


def test_robot_without_mass(tmp_path):
    """A robot of no mass divides by zero somewhere later."""
    errors = refusal(
        tmp_path, change_urdf=lambda text: re.sub(r'<inertial>.*?</inertial>', '', text)
    )
    assert 'total mass of the robot' in errors[0] and 'must be positive' in errors[0]


@pytest.mark.parametrize(
    'old, new, words',
    [
        (
            '<parent link="left_thigh"/><child link="left_shank"/>',
            '<parent link="left_thigh"/><child link="left_thigh"/>',
            'left_thigh is 2: joints have it',
        ),
        (
            '<link name="torso">',
            '<link name="spare"/><link name="torso">',
            "links without a parent is 'spare, torso'",
        ),
    ],
)
def test_links_must_form_a_tree(tmp_path, old, new, words):
    """Rings and lost parts have no equations of motion."""
    assert words in refusal(tmp_path, change_urdf=in_urdf(old, new))[0]


def put(*path, value):
    """Return an edit of the tree that sets an entry."""

    def edit(tree):
        for key in path[:-1]:
            tree = tree[key]
        tree[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    'edit, words',
    [
        (put('robot', 'feet', value=['left_foot', 'left_foot']), 'names left_foot twice'),
        (put('robot', 'base_link', value='left_thigh'), 'must be the root link of the URDF, torso'),
        (
            put('robot', 'supports', 'right_foot', 'stance_hip', value={'right_hip': -1.0}),
            "-1 right_hip': takes the place of left_hip on right_foot, where robot.mirror says "
            '+1 right_hip',
        ),
        (
            put('start', 'q', value=[0.0, 2.5, -0.3, -0.5, 0.4]),
            'puts joint left_knee at 2.5 rad, beyond its limits of -0.05 to 2 rad',
        ),
    ],
)
def test_contradictions_of_a_robot_file(tmp_path, edit, words):
    """One leg twice, a leg seen in no mirror or a broken knee would walk on paper only."""
    assert words in refusal(tmp_path, edit=edit)[0]


def test_relabelling_twice_leads_back(tmp_path):
    """With the pitch of one foot wrong, coordinates would drift from step to step."""

    def edit(tree):
        rows = tree['robot']['supports']['right_foot']
        rows['lean'] = {'pitch': -1.0, 'right_hip': -1.0, 'right_knee': -1.0, 'left_hip': 0.5}

    assert 'relabelling twice' in refusal(tmp_path, edit=edit)[0]


def test_key_that_stands_twice(tmp_path):
    """The first of two values would be lost in silence."""
    path = write_rabbit(tmp_path)
    text = path.read_text()
    line = '      planar: true\n'
    path.write_text(text.replace(line, 2 * line))
    with pytest.raises(InvalidInput, match='the key planar stands twice'):
        load_robot(path)


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    """Mending a robot file would take one run for each mistake."""

    def edit(tree):
        tree['robot']['feet'] = ['left_foot', 'left_foot']
        tree['robot']['mirror']['left_hip']['sign'] = 2.0
        tree['robot']['actuators']['left_hip']['reduction'] = -1.0
        tree['world']['gravity'] = -9.81

    errors = refusal(tmp_path, edit=edit)
    assert len(errors) == 4 and all(
        any(word in error for error in errors)
        for word in ('left_foot twice', 'left_hip.sign', 'left_hip.reduction', 'world.gravity')
    )


def test_names_that_ros_cannot_tell_apart(tmp_path):
    """Two feet would be heard on one topic."""

    def edit(tree):
        tree['robot']['coordinates'][:2] = ['a b', 'a-b']
        for rows in tree['robot']['supports'].values():
            rows['a b'], rows['a-b'] = rows.pop('lean'), rows.pop('stance_knee')

    assert '2 become a_b' in refusal(tmp_path, edit=edit)[0]
