# SPDX-License-Identifier: Apache-2.0
"""Disturbances in words, and the floors they make."""

import math

import numpy as np
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command
from walking_control.simulation.disturbance import (
    How,
    parse_disturbance,
    plan_disturbances,
    Touchdowns,
)
from walking_control.simulation.registry import make_plant
from walking_control.simulation.terrain import Change, lay_floor


@pytest.mark.parametrize(
    'text',
    [
        'step_down=0.05@3',
        'push=-0.5@12.25',
        'push=0.5@4.5s',
        'step_up=0.03@2m',
        'push=0.5@12:direction=-90:duration=0.2:link=left_shank',
    ],
)
def test_words_are_read_as_they_are_written(text):
    """A command printed by an experiment would plan another disturbance than the experiment did."""
    assert str(parse_disturbance(text)) == text


@pytest.mark.parametrize(
    'text',
    [
        'push',
        'push=0.5',
        'push=x@3',
        'push=nan@3',
        'push=0.5@',
        'push=0.5@-3',
        'push=0.5@1.2.3s',
        'push=0.5@3:direction=nan',
        'push=0.5@3:duration=-1',
        'push=0.5@3:side=left',
        'push=0.5@3:',
    ],
)
def test_other_words_are_refused(text):
    """A slip of the pen would be taken for a disturbance that was not meant."""
    with pytest.raises(InvalidInput):
        parse_disturbance(text)


@pytest.mark.parametrize(
    'robot, plant, text, remedy',
    [
        ('walker3d', None, 'push=0.5@3:link=tail', 'URDF'),
        ('walker3d', None, 'push=0.5@3m', '12.25'),
        ('walker3d', None, 'push=0.5@2.5', 'from 3'),
        ('walker3d', None, 'push=0.5@3:duration=0.0001', 'at once'),
        ('compass', 'compliant', 'slope_change=0.1@3', '2m'),
        ('walker3d', None, 'step_up=0.1@2.5s', '2m'),
        ('walker3d', None, 'slope_change=2@1m', '1 rad'),
        ('dribbel', 'mujoco', 'side_push=0.5@3', 'plane'),
        ('compass', 'rigid', 'push=0.5@3:direction=30', 'against it'),
        ('compass', 'compliant', 'step_up=0.01@1m', 'touchdown'),
    ],
)
def test_what_a_plant_does_not_know_is_refused_with_the_remedy(robot, plant, text, remedy):
    """The wrong disturbance would act, or a reader would not know what to write instead."""
    with pytest.raises(InvalidInput, match=remedy):
        plan_disturbances(make_plant(load_robot(robot), plant), [text])


def test_the_floor_has_the_heights_that_were_asked_for():
    """A step or slope would be higher, steeper or elsewhere than it is said to be."""
    pieces = lay_floor([Change(2.0, 0.0, 0.1), Change(1.0, -0.03, 0.0), Change(3.0, 0.1, -0.2)])

    def height(x):
        for piece in pieces:
            s, c = math.sin(piece.pitch), math.cos(piece.pitch)
            top = np.array(piece.middle)[[0, 2]] + piece.size[2] * np.array([s, c])
            along = (x - top[0]) / c
            if abs(along) <= piece.size[0]:
                return top[1] - s * along
        return None

    after = 0.03 - math.tan(0.1) - 0.1
    for x, z in (
        (0.5, 0.0),
        (1.5, 0.03),
        (2.5, 0.03 - 0.5 * math.tan(0.1)),
        (4.0, after + math.tan(0.1)),
    ):
        assert height(x) == pytest.approx(z, abs=1e-12)


def test_a_bounce_is_no_touchdown():
    """A push at a part of a step would come at another one after each foot that bounces."""
    touchdowns, time = Touchdowns(2, 100.0), 0.0
    # what the left foot carries, and for how long; the right one stands
    for force, duration in (
        (50.0, 0.2),
        (0.0, 0.3),
        (50.0, 0.01),
        (0.0, 0.02),
        (50.0, 0.3),
        (0.0, 0.3),
        (50.0, 0.1),
    ):
        for _ in range(round(duration / 0.01)):
            time += 0.01
            touchdowns.follow(time, (force, 60.0))
    assert touchdowns.count == 2
    assert touchdowns.period == pytest.approx(0.01 + 0.02 + 0.3 + 0.3)


@pytest.mark.parametrize(
    'how',
    [How(), How(direction=0.5 * math.pi), How(duration=0.0, direction=2.0), How(link='left_shank')],
)
def test_a_push_gives_its_impulse(how):
    """Robots would be pushed harder, softer or elsewhere than the table says."""
    plant = make_plant(load_robot('walker3d'))
    plant.disturb('push', 0.6, 0, how._replace(time=0.02))
    dynamics, command = Dynamics(plant.robot), Command(plant.robot)
    for _ in range(2):  # a second run like the first one
        plant.reset(load_robot('walker3d').start)
        plant.engine.data.qpos[2] += 1.0  # in the air, where nothing else pushes along the floor
        for _ in range(100):
            plant.step(command, 0.002)
        before = dynamics.center_of_mass(plant.truth.q)
        for _ in range(10):
            plant.step(command, 0.002)
        speed = (dynamics.center_of_mass(plant.truth.q) - before)[:2] / 0.02
        wanted = 0.6 * np.array([math.cos(how.direction), math.sin(how.direction)])
        np.testing.assert_allclose(speed, wanted, atol=6e-3)


@pytest.mark.parametrize('robot', ['walker3d', 'walker3d_points'])
def test_a_floor_of_boxes_carries_like_a_plane(robot):
    """Feet would feel the floor upside down, or not at all, once it has an edge somewhere."""
    forces = []
    for disturb in ([], ['step_up=0.03@2m']):
        robot_file = load_robot(robot)
        plant = make_plant(robot_file)
        plan_disturbances(plant, disturb)
        plant.reset(robot_file.start)
        plant.engine.data.qpos[2] -= 0.002  # pressed into it
        plant.step(Command(plant.robot), 0.002)
        forces.append(plant.truth.foot_force.copy())
        assert np.isfinite(plant.truth.foot_height).all()
    assert forces[0][:, 2].min() > 5.0
    np.testing.assert_allclose(*forces, rtol=0.05, atol=1.0)
