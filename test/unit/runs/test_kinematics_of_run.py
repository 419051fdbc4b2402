# SPDX-License-Identifier: Apache-2.0
"""Stick figures against hand-computed places."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics, floor_gravity
from walking_control.runs.kinematics import foot_positions, Skeleton, tilt

TRUNK_WALKER = """<robot name="trunk_walker">
  <link name="pelvis"><inertial><origin xyz="0 0 0.25"/><mass value="5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  {legs}
</robot>"""
LEG = """<link name="{side}_leg"><inertial><origin xyz="0 0 -0.4"/><mass value="1"/>
    <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.01"/></inertial></link>
  <joint name="{side}_hip" type="revolute"><parent link="pelvis"/><child link="{side}_leg"/>
    <origin xyz="0 {y} 0"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="10"/></joint>
  <link name="{side}_foot"/>
  <joint name="{side}_ankle" type="fixed"><parent link="{side}_leg"/><child link="{side}_foot"/>
    <origin xyz="0 0 -0.8"/></joint>"""
ROBOT_FILE = """/**:
  ros__parameters:
    robot:
      name: trunk_walker
      urdf: walker.urdf
      base_link: pelvis
      base: planar
      joints: [left_hip, right_hip]
      feet: [left_foot, right_foot]
      mirror:
        left_hip: {partner: right_hip, sign: 1.0}
        right_hip: {partner: left_hip, sign: 1.0}
      coordinates: [stance, swing, trunk]
      supports:
        left_foot: {stance: {pitch: -1.0, left_hip: 1.0}, swing: {right_hip: 1.0},
                    trunk: {pitch: 1.0}}
        right_foot: {stance: {pitch: -1.0, right_hip: 1.0}, swing: {left_hip: 1.0},
                     trunk: {pitch: 1.0}}
      actuators: {}
    start: {support: left_foot, q: [0.0, 0.0, 0.0], v: [0.0, 0.0, 0.0]}
    controller: none
    plant: rigid
"""


@pytest.fixture
def trunk_walker(tmp_path):
    """Return the dynamics of a walker with a trunk, unlike any that ships."""
    legs = LEG.format(side='left', y=0.1) + LEG.format(side='right', y=-0.1)
    (tmp_path / 'walker.urdf').write_text(TRUNK_WALKER.format(legs=legs))
    path = tmp_path / 'walker.yaml'
    path.write_text(ROBOT_FILE)
    return Dynamics(load_robot(path).robot)


def test_dribbel_has_four_limbs_in_leg_colours():
    """A thigh or shank would be missing from the picture or take the other leg's colour."""
    skeleton = Skeleton(Dynamics(load_robot('dribbel').robot))
    points = skeleton.points(np.zeros(6))
    lengths = {}
    for segment in skeleton.segments:
        length = np.linalg.norm(points[segment.end] - points[segment.start])
        lengths.setdefault(segment.foot, []).append(round(float(length), 9))
    drawn = {
        foot: sorted(value for value in values if value > 0.0) for foot, values in lengths.items()
    }
    assert drawn == {0: [0.43, 0.47], 1: [0.43, 0.47]}


def test_bent_dribbel_is_drawn_where_trigonometry_says():
    """A joint would bend the wrong way."""
    skeleton = Skeleton(Dynamics(load_robot('dribbel').robot))
    pitch, hip, knee = 0.2, 0.5, -0.7
    points = skeleton.points(np.array([1.0, 0.9, pitch, hip, 0.0, knee]))
    thigh, shank = hip - pitch, hip - pitch + knee  # from straight down, forward positive
    foot = points[skeleton.feet[1]]
    assert foot == pytest.approx(
        [
            1.0 + 0.47 * np.sin(thigh) + 0.43 * np.sin(shank),
            0.0,
            0.9 - 0.47 * np.cos(thigh) - 0.43 * np.cos(shank),
        ]
    )
    assert points[skeleton.base] == pytest.approx([1.0, 0.0, 0.9])


def test_trunk_is_drawn_and_belongs_to_no_leg(trunk_walker):
    """A robot with a trunk would be drawn as bare legs."""
    skeleton = Skeleton(trunk_walker)
    points = skeleton.points(np.array([0.0, 0.8, 0.0, 0.0, 0.0]))
    trunks = [segment for segment in skeleton.segments if segment.foot is None]
    assert len(trunks) == 1
    assert points[trunks[0].end] == pytest.approx([0.0, 0.0, 1.3])
    assert [points[foot].tolist() for foot in skeleton.feet] == [[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]


def test_foot_path_and_skeleton_agree(trunk_walker):
    """Measures and pictures would disagree about where the feet are."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.5, 0.5, (5, 5))
    skeleton = Skeleton(trunk_walker)
    drawn = np.array([skeleton.points(row)[skeleton.feet] for row in q])
    assert foot_positions(trunk_walker, q) == pytest.approx(drawn)


@pytest.mark.parametrize('slope', [-0.1, 0.0, 0.05])
def test_gravity_points_down_the_picture(slope):
    """A downhill floor would be drawn uphill."""
    gravity = floor_gravity(9.81, slope)[[0, 2]]
    assert tilt(gravity, slope) == pytest.approx([0.0, -9.81])
    assert np.sign(tilt(np.array([1.0, 0.0]), slope)[1]) == -np.sign(slope)
