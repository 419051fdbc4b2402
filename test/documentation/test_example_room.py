# SPDX-License-Identifier: Apache-2.0
"""The example that walks through a room of obstacles."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import room

SIZE, GOAL, LIMITS = 0.3, (20.0, 0.0), (1.0, 0.2, 0.3)


def roll(path):
    """Return places of a point that does what is commanded at once, ``(n, 2)``."""
    base = SimpleNamespace(position=np.zeros(3), rotation=np.eye(3))
    reference = SimpleNamespace(velocity=np.zeros(3), speed=None)
    loop = SimpleNamespace(
        state=SimpleNamespace(base=base),
        reference=reference,
        controller=SimpleNamespace(velocity_limits=lambda: LIMITS),
    )
    walk, places = room.Follower(loop, path), []
    for tick in range(1500):
        walk.command(0.1 * tick)
        ahead, left, turning = reference.velocity
        base.position[:2] += 0.1 * (base.rotation[:2, :2] @ [ahead, left])
        base.rotation = base.rotation @ pin.utils.rotate('z', 0.1 * turning)
        places.append(base.position[:2].copy())
        if walk.arrived:
            break
    return np.array(places), walk.arrived


@pytest.mark.parametrize('seed', range(1, 11))
def test_paths_and_what_follows_them_keep_clear_of_obstacles(seed):
    """The example would lead a robot into a table, or never arrive."""
    place = room.make_room(seed, SIZE, GOAL)
    path = place.path((0.0, 0.0), GOAL)
    places, arrived = roll(path)
    assert arrived and place.clearance(path) > 0.0 and place.clearance(places) > 0.0


@pytest.mark.parametrize(
    ('goal', 'words'),
    [
        ('9,0', 'goal 9,0 is 0.00 m from an obstacle or wall; the robot needs 0.30 m'),
        ('50,0', 'goal 50,0 is outside the room'),
        ('nan,0', 'must be two finite numbers'),
        ('3', 'must be two finite numbers'),
    ],
)
def test_a_goal_that_nobody_reaches_is_refused_in_a_line(monkeypatch, capsys, goal, words):
    """Who asks for a goal in an obstacle would wait for ever, or read a traceback."""
    obstacle = room.Room(np.array([[9.0, 0.0, 0.5]]), SIZE)
    monkeypatch.setattr(room, 'walk_through', lambda seed, goal: obstacle.path((0.0, 0.0), goal))
    with pytest.raises(SystemExit) as refused:
        room.main([f'--goal={goal}'])
    told = capsys.readouterr().err
    assert refused.value.code == 2 and words in told and told.count('\n') == 1


def test_a_wall_of_obstacles_leaves_no_way(capsys):
    """The search would go on until the room is full."""
    wall = [(10.0, y, 0.5) for y in np.arange(-3.0, 3.1, 0.5)]
    with pytest.raises(SystemExit, match='2'):
        room.Room(np.array(wall), SIZE).path((0.0, 0.0), GOAL)
    assert 'no way leads to goal 20,0' in capsys.readouterr().err


def test_who_does_not_arrive_is_told(monkeypatch, capsys):
    """A robot that is still on its way, or has fallen, would count as arrived."""
    monkeypatch.setattr(room, 'LONGEST', 0.1)
    assert room.main(['--seed', '2']) == 1
    assert 'did not arrive' in capsys.readouterr().out


@pytest.mark.long
def test_a_biped_walks_through_a_room(capsys):
    """Speeds, turning or odometry would not do for 20 m between obstacles."""
    assert room.main(['--seed', '1']) == 0
    assert 'arrived' in capsys.readouterr().out
