# SPDX-License-Identifier: Apache-2.0
"""Uneven floors: one list of heights in a robot file serves every plant."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from walking_control.cli.parser import make_parser
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.floor import FloorProfile
from walking_control.ros.ros2_control.gazebo import gazebo_world
from walking_control.ros.ros2_control.wiring import wire
from walking_control.runs.quantities import floor_profile
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_fast_plant, make_plant
from walking_control.simulation.rigid.compiled import make_walker
from walking_control.simulation.simulate import run_plant
from walking_control.simulation.terrain import lay_profile

PLACES = np.union1d(np.linspace(-1.0, 4.0, 61), 0.0)
WAVE = {
    'floor_places': tuple(PLACES.tolist()),
    'floor_heights': tuple((0.001 * np.sin(2.0 * np.pi * PLACES)).tolist()),
}
PLANTS = ('rigid', 'compliant', 'mujoco', 'dart')


def on(floor, name='dribbel', *others):
    """Return the robot file of a robot on a floor."""
    return load_robot(name, [*((f'world.{key}', value) for key, value in floor.items()), *others])


@pytest.fixture(scope='module')
def walks():
    """Return a function: the run of Dribbel over a wave of 2 mm in a plant, each walked once."""
    known = {}

    def walk(name):
        if name in ('mujoco', 'dart'):
            pytest.importorskip({'dart': 'dartpy'}.get(name, name), reason='an optional engine')
        if name not in known:
            robot_file = on(WAVE)
            known[name] = run_plant(
                make_fast_plant(robot_file, name), ControlLoop(robot_file), robot_file.start, 4.0
            )
        return known[name]

    return walk


@pytest.mark.parametrize(
    'name',
    [pytest.param(name, marks=pytest.mark.long) if name == 'dart' else name for name in PLANTS],
)
def test_feet_stand_where_the_floor_is(walks, name):
    """A plant would ignore the heights, shift them or turn them upside down."""
    run = walks(name)
    profile = FloorProfile(*(np.array(values) for values in WAVE.values()))
    dynamics = Dynamics(run.robot)
    floor, feet, gaps = [], [], []
    for row in range(0, len(run.time), 10):
        dynamics.place(run.q[row])
        for foot, name_ in enumerate(run.robot.feet):
            if run.foot_force[row, foot, 2] > 50.0:
                x, _, z = dynamics.foot_position(name_)
                floor.append(float(profile.height(x)))
                feet.append(z)
                gaps.append(run.foot_height[row, foot])
    assert np.ptp(floor) > 0.0015
    assert np.polyfit(floor, feet, 1)[0] == pytest.approx(1.0, abs=0.2)
    assert np.array(feet) - floor == pytest.approx(np.array(gaps), abs=1e-4)


@pytest.mark.parametrize('name', [*PLANTS[:2], pytest.param('dart', marks=pytest.mark.long)])
def test_plants_walk_alike_over_a_wave(walks, name):
    """An edge between two pieces would catch or kick the feet in one of the plants."""
    run, other = walks(name), walks('mujoco')
    assert not run.fell and run.steps[-1] == other.steps[-1] >= 6
    assert run.base.position[-1, 0] == pytest.approx(other.base.position[-1, 0], rel=0.03)


def test_boxes_meet_where_the_heights_are():
    """A foot would trip over an edge, or fall into a gap, between two boxes of the floor."""
    floor = {'floor_places': (-1.0, 0.0, 0.3, 1.0), 'floor_heights': (0.1, 0.0, -0.1, 0.4)}
    profile = FloorProfile(*(np.array(values) for values in floor.values()))
    ends = []
    for box in lay_profile(profile):
        c, s = math.cos(box.pitch), math.sin(box.pitch)
        for side in (-1.0, 1.0):
            along, up = side * box.size[0], box.size[2]
            ends.append((box.middle[0] + c * along + s * up, box.middle[2] - s * along + c * up))
    for x, z in ends:
        assert z == pytest.approx(float(profile.height(x)), abs=1e-9)
    assert np.array(ends[1:-1]) == pytest.approx(
        np.array([(0.0, 0.0)] * 2 + [(0.3, -0.1)] * 2), abs=1e-9
    )
    assert ends[0][0] < -100.0 and ends[-1][0] > 100.0


@pytest.mark.parametrize(
    'places, heights, words',
    [
        ((-1.0, 1.0, 1.0), (0.0, 0.0, 0.1), r'floor_places is \[1.0, 1.0\]: must rise strictly'),
        ((-1.0, 1.0), (0.0, math.nan), 'floor_heights is nan: must be finite'),
        (
            (-1.0, 0.0, 0.1),
            (0.0, 0.0, 1.0),
            'floor_heights .* leans by 1.47 rad from 0 m on, at most',
        ),
        ((0.0,), (0.0,), 'as many entries as floor_places .*two at least'),
        ((), (0.0, 0.0), 'as many entries as floor_places'),
        ((-1.0, 1.0), (0.0, 0.2), 'floor above the start is 0.1'),
    ],
)
def test_floors_that_cannot_be_are_refused(places, heights, words):
    """A mistaken floor would be walked over in silence, or end in a traceback."""
    with pytest.raises(InvalidInput, match=words):
        on({'floor_places': places, 'floor_heights': heights})


def test_who_counts_on_a_level_floor_says_so():
    """Compiled walks and points would ignore the heights."""
    with pytest.raises(InvalidInput, match='under compiled walk of dribbel: it needs a level'):
        make_walker(on(WAVE))
    with pytest.raises(InvalidInput, match='over level floors'):
        make_plant(on(WAVE, 'walker3d_point'), 'rigid')


@pytest.mark.parametrize('name', ['rigid', 'compliant', 'mujoco'])
def test_steps_do_not_mix_with_heights(name):
    """A step would shift the floor that is given, differently in each plant."""
    if name == 'mujoco':
        pytest.importorskip('mujoco', reason='an optional engine')
    plant = make_plant(on(WAVE), name)
    with pytest.raises(InvalidInput, match='put it into world.floor_heights'):
        plan_disturbances(plant, ['step_down=0.01@3'])
    plan_disturbances(plant, ['push=0.05@3'])


def test_pictures_show_the_floor(walks):
    """A film or plot would show a level floor below feet that rise and sink."""
    run = walks('rigid')
    drawn = floor_profile(run, np.zeros((2, 3)))
    assert np.ptp(drawn[:, 1]) > 0.0015 and (np.diff(drawn[:, 0]) > 0.0).all()
    assert drawn[0, 0] < 0.0 and drawn[-1, 0] > run.base.position[-1, 0]


def test_gazebo_gets_the_floor():
    """A robot would walk over heights in its files and over a plane in Gazebo."""
    world = ElementTree.fromstring(gazebo_world(wire(on(WAVE))))
    boxes = world.findall('.//collision/geometry/box')
    poses = [pose.text.split() for pose in world.findall('.//collision/pose')]
    assert len(boxes) == len(poses) == 60 and world.find('.//plane') is None
    pitches = [float(pose[4]) for pose in poses]
    assert (
        max(pitches)
        == pytest.approx(-min(pitches))
        == pytest.approx(math.atan(0.012 * math.sin(math.pi / 6.0)))
    )


@pytest.mark.parametrize(
    'places, heights',
    [
        ((-1.0, 1.0, 3.0, 5.0), (0.0, 0.0, 0.2, 0.2)),
        ((-1.0, 1.0, 1.02, 1.1, 1.12), (0.0, 0.0, 0.02, 0.02, 0.0)),
        ((-1.0, 0.5, 0.51, 0.8, 0.82, 1.1), (0.0, 0.0, 0.01, 0.01, -0.005, -0.005)),
    ],
    ids=['ramp', 'sill', 'tiles'],
)
def test_ramps_sills_and_tiles_are_worlds_of_gazebo(places, heights):
    """A foot would find an edge elsewhere in Gazebo than in the plants, or fall between boxes."""
    sets = [('world.floor_places', places), ('world.floor_heights', heights)]
    robot_file = load_robot('walker3d', sets)
    world = ElementTree.fromstring(gazebo_world(wire(robot_file)))
    tops = []
    for box in world.findall('.//collision'):
        x, _, z, _, pitch, _ = map(float, box.find('pose').text.split())
        long, _, thick = (float(word) for word in box.find('geometry/box/size').text.split())
        along = np.array((math.cos(pitch), -math.sin(pitch)))
        top = np.array((x, z)) + 0.5 * thick * np.array((-along[1], along[0]))
        tops.append((top - 0.5 * long * along, top + 0.5 * long * along))
    assert len(tops) == len(places) - 1
    for (_, end), (begin, _), place, height in zip(tops, tops[1:], places[1:], heights[1:]):
        assert end == pytest.approx((place, height)) and begin == pytest.approx((place, height))


@pytest.mark.parametrize('plant', PLANTS)
def test_demo_takes_every_plant(plant):
    """The demo over ROS 2 would refuse a plant that simulate takes."""
    assert make_parser().parse_args(['demo', 'dribbel', '--plant', plant]).plant == plant
