# SPDX-License-Identifier: Apache-2.0
"""Bases of every kind: one dynamics, one state in space, one key in the robot file."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics


def motion_of(dynamics, rng):
    """Return random generalised coordinates and velocities."""
    q = dynamics.configuration(
        rng.uniform(-0.5, 0.5, len(dynamics.joints)),
        pin.Quaternion(pin.rpy.rpyToMatrix(0.2, 0.3, -0.4)).coeffs(),
        rng.uniform(-1.0, 1.0, 3),
    )
    return q, rng.normal(0.0, 1.0, dynamics.nv)


@pytest.mark.parametrize('name', ['dribbel', 'walker3d_point', 'humanoid'])
def test_state_moves_as_the_coordinates_do(name):
    """The recorded velocity of a base would not be the rate of its recorded pose."""
    dynamics = Dynamics(load_robot(name).robot)
    base, h = dynamics.base, 1e-6
    q, v = motion_of(dynamics, np.random.default_rng(0))
    later, earlier = (
        base.state(
            dynamics.from_pinocchio(
                pin.integrate(
                    dynamics.model,
                    dynamics.to_pinocchio(q).copy(),
                    step * v[dynamics.pinocchio_order],
                )
            ),
            v,
        )
        for step in (h, -h)
    )
    state = base.state(q, v)
    assert (later.position - earlier.position) / (2 * h) == pytest.approx(state.linear, abs=1e-8)
    spin = pin.log3(earlier.rotation.T @ later.rotation) / (2 * h)
    assert spin == pytest.approx(state.angular, abs=1e-8)
    assert base.coordinates(state.position, state.orientation) == pytest.approx(q[: base.nq])
    if base is Base.PLANAR:
        assert state.position[1] == 0.0 and state.pitch == pytest.approx(q[2])


def test_state_of_a_record_is_that_of_its_rows():
    """A figure over time would show another base than the tick had."""
    dynamics = Dynamics(load_robot('humanoid').robot)
    rows = [motion_of(dynamics, np.random.default_rng(seed)) for seed in range(3)]
    record = dynamics.base.state(*(np.array(part) for part in zip(*rows, strict=True)))
    for k, row in enumerate(rows):
        one = dynamics.base.state(*row)
        assert record.linear[k] == pytest.approx(one.linear)
        assert record.pitch[k] == pytest.approx(one.pitch)


def test_order_of_joints_is_the_robot_file_s():
    """Torques or places would go to other joints where a file lists them in its own order."""
    robot = load_robot('humanoid').robot
    shuffled = replace(robot, joints=tuple(reversed(robot.joints)))
    mine, other = Dynamics(robot), Dynamics(shuffled)
    q, v = motion_of(mine, np.random.default_rng(1))
    flipped = [np.concatenate((part[:k], part[k:][::-1])) for part, k in ((q, 7), (v, 6))]
    assert other.foot_jacobian(flipped[0], 'left_sole') @ flipped[1] == pytest.approx(
        mine.foot_jacobian(q, 'left_sole') @ v, abs=1e-12
    )
    assert other.bias(*flipped)[6:] == pytest.approx(mine.bias(q, v)[6:][::-1])
    assert other.gravity_efforts(flipped[0])[6:] == pytest.approx(mine.gravity_efforts(q)[6:][::-1])
    assert other.kinetic_energy(*flipped) == pytest.approx(mine.kinetic_energy(q, v))
    assert other.frame_jacobian(flipped[0], other.frames['left_sole'])[:, 6:] == pytest.approx(
        mine.frame_jacobian(q, mine.frames['left_sole'])[:, 6:][:, ::-1]
    )


def test_plane_is_a_slice_of_space():
    """A robot would weigh or move otherwise once its base may leave the plane."""
    robot = load_robot('dribbel').robot
    plane = Dynamics(robot, slope=0.1)
    space = Dynamics(replace(robot, base=Base.FREE), slope=0.1)
    q, v = motion_of(plane, np.random.default_rng(2))
    state = robot.base.state(q, v)
    free_q = space.configuration(q[3:], state.orientation, state.position)
    free_v = np.concatenate((state.linear @ state.rotation, state.angular, v[3:]))
    assert space.kinetic_energy(free_q, free_v) == pytest.approx(plane.kinetic_energy(q, v))
    assert space.potential_energy(free_q) == pytest.approx(plane.potential_energy(q))
    space.move(free_q, free_v)
    assert space.foot_velocity('inner_foot')[::2] == pytest.approx(
        plane.foot_jacobian(q, 'inner_foot') @ v
    )


@pytest.mark.parametrize(
    'name, older, base',
    [
        ('dribbel', True, Base.PLANAR),
        ('walker3d_point', False, Base.TRANSLATING),
        ('humanoid', False, Base.FREE),
    ],
)
def test_older_key_means_the_same(edited_robot_file, name, older, base):
    """Robot files written before the key ``base`` would load as another robot or not at all."""

    def write_older(tree):
        assert tree['robot'].pop('base') == base.value
        tree['robot']['planar'] = older

    robot = load_robot(edited_robot_file(write_older, name)).robot
    assert robot.base is base is load_robot(name).robot.base


@pytest.mark.parametrize(
    'keys, message',
    [
        ({'base': 'flying'}, "robot.base is 'flying': unknown; known: planar, translating, free"),
        ({'planar': True}, "robot.base is 'planar': must be given once"),
        ({'base': None}, 'robot.base'),
        ({'base': ''}, 'must be given once'),
    ],
)
def test_unclear_base_is_refused(edited_robot_file, keys, message):
    """A misspelt base would silently become another one."""
    with pytest.raises(InvalidInput, match=message):
        load_robot(edited_robot_file(lambda tree: tree['robot'].update(keys)))
