# SPDX-License-Identifier: Apache-2.0
"""Bad input and impossible postures: each is refused by its own name."""

import math

import numpy as np
import pytest
from static_robots import humanoid, humanoid_file

from walking_control.exceptions import InvalidInput, MeasurementError, ParameterError, UrdfError
from walking_control.models.dynamics import bare_robot, Dynamics
from walking_control.statics.contacts import Contact
from walking_control.statics.distributor import Objective, StaticTorque


@pytest.fixture(scope='module')
def model():
    """Return dynamics, contacts and posture of the humanoid."""
    return humanoid()


def named(model):
    """Return the start posture by joint name."""
    dynamics, _, posture = model
    return dict(zip(dynamics.joints, posture))


def test_nan_joint(model):
    """A joint that is not a number would reach the torques."""
    with pytest.raises(MeasurementError, match='joint left_knee is nan: must be finite'):
        model[0].configuration({**named(model), 'left_knee': math.nan})


def test_missing_joint(model):
    """A joint that was not measured would be taken for zero."""
    positions = named(model)
    del positions['right_ankle_roll']
    with pytest.raises(MeasurementError, match='joint right_ankle_roll: is missing'):
        model[0].configuration(positions)


def test_unknown_joint(model):
    """A misspelt joint would be ignored."""
    with pytest.raises(InvalidInput, match='left_kne: is not a moving joint.*left_knee'):
        model[0].configuration({**named(model), 'left_kne': 0.0})


def test_shuffled_joints(model):
    """The order of names in a message would change the torques."""
    dynamics, contacts, posture = model
    shuffled = dict(sorted(named(model).items(), reverse=True))
    assert tuple(shuffled) != dynamics.joints
    assert (dynamics.configuration(shuffled) == dynamics.configuration(posture)).all()


def test_wrong_number_of_joints(model):
    """An array of another robot would be taken."""
    with pytest.raises(MeasurementError, match='must hold 19 numbers'):
        model[0].configuration(np.zeros(18))


@pytest.mark.parametrize(
    'quaternion', [(0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.01), (0.0, 0.0, 0.0, math.nan)]
)
def test_non_unit_quaternion(model, quaternion):
    """An orientation that is no rotation would scale gravity."""
    with pytest.raises(MeasurementError, match='must be a unit quaternion'):
        model[0].configuration(model[2], quaternion)


def test_rounded_quaternion_is_made_unit(model):
    """An orientation rounded by a sensor would be refused, or scale gravity."""
    q = model[0].configuration(model[2], (0.0, 0.0, 0.0, 1.0003))
    assert q[3:7] == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-15)


def test_unknown_frame(model):
    """A misspelt sole would end in Pinocchio's universe frame."""
    with pytest.raises(
        InvalidInput, match='frame left_sol: is not a frame.*left_sole.*known:.*right_sole'
    ):
        StaticTorque(model[0], {'left': Contact('left_sol', 0.2, 0.1)})


def test_unknown_support(model):
    """A support that is no contact would be ignored."""
    dynamics, contacts, posture = model
    with pytest.raises(InvalidInput, match='is no contact; known: left, right'):
        StaticTorque(dynamics, contacts).solve(dynamics.configuration(posture), ['middle'])


def test_no_contact(model):
    """A robot in the air would be held by nothing."""
    with pytest.raises(InvalidInput, match='needs a contact'):
        StaticTorque(model[0], {'point': Contact('left_sole')}).solve(
            model[0].configuration(model[2]), []
        )


@pytest.mark.parametrize(
    'values',
    [
        {'friction': -0.1},
        {'length': 0.2},
        {'width': math.nan},
        {'min_force': -1.0},
        {'min_force': 20.0, 'max_force': 10.0},
        {'friction': math.inf},
        {'rotation': (0.0, 0.0, 0.0, 2.0)},
    ],
)
def test_contact_of_no_sole(values):
    """A sole of impossible size, friction or force would be taken."""
    with pytest.raises(InvalidInput, match='sole'):
        Contact('sole', **values)


@pytest.mark.parametrize('support', [['left'], ['left', 'right']])
@pytest.mark.parametrize('place', [3, 12, -1])
def test_configuration_that_is_no_number(model, support, place):
    """A posture with a NaN would be called feasible without any torque."""
    dynamics, contacts, posture = model
    q = dynamics.configuration(posture).copy()
    q[place] = math.nan
    with pytest.raises(MeasurementError, match='configuration: .* is nan: must be finite'):
        StaticTorque(dynamics, contacts).solve(q, support)


@pytest.mark.parametrize('support', [('left',), ('left', 'right')])
def test_joint_beyond_its_stops(model, support):
    """A posture that the robot cannot take would be held on paper."""
    dynamics, contacts, posture = model
    knee = dynamics.joints.index('left_knee')
    distributor = StaticTorque(dynamics, contacts)
    q = dynamics.configuration(posture)
    q[dynamics.base.nq + knee] = -0.3
    with pytest.raises(
        InvalidInput, match='joint left_knee is -0.3: must be within its limits, 0 to 2.4'
    ):
        distributor.solve(q, support)
    q[dynamics.base.nq + knee] = -0.003  # an encoder's error is no reason to fall
    assert distributor.solve(q, ('left', 'right'), measured=True).feasible


@pytest.mark.parametrize(
    'caps, message',
    [
        ({'rigth': 10.0}, 'cap of rigth is 10.0: is no contact of the support: left, right'),
        ({'right': -5.0}, 'cap of right is -5.0: must be a force of at least'),
        ({'right': math.nan}, 'cap of right is nan: must be a force'),
    ],
)
def test_caps_of_nothing(model, caps, message):
    """A misspelt or negative load cap would be passed over in silence."""
    with pytest.raises(InvalidInput, match=message):
        StaticTorque(model[0], model[1]).solve(model[0].configuration(model[2]), caps=caps)


def test_contacts_in_a_sequence(model):
    """A list of contacts would end in a TypeError, two of one frame be one, a number be a sole."""
    dynamics, contacts, posture = model
    listed = StaticTorque(dynamics, list(contacts.values()))
    assert set(listed.solve(dynamics.configuration(posture)).wrenches) == {
        'left_sole',
        'right_sole',
    }
    with pytest.raises(InvalidInput, match='several share a frame'):
        StaticTorque(dynamics, [contacts['left'], contacts['left']])
    with pytest.raises(InvalidInput, match='must be a Contact'):
        StaticTorque(dynamics, {'left': 0.1})


def test_presses_less_than_it_must(model):
    """A foot that presses, though not as hard as it must, would be said to pull."""
    shortfall = impossible(model, contact={'min_force': 200.0})
    assert shortfall.limit == 'least_force' and 'less than it must' in str(shortfall)
    assert shortfall.amount == pytest.approx(200.0 - 0.5 * model[0].weight, abs=1e-3)


def test_no_hidden_cap(model):
    """Feet that press with many weights against slippery walls would break a cap nobody gave, or a
    contact's rotation be passed over."""
    dynamics, _, posture = model
    walls = {
        side: Contact(
            f'{side}_sole',
            0.2,
            0.1,
            0.05,
            rotation=(sign * math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)),
        )
        for side, sign in (('left', 1.0), ('right', -1.0))
    }  # z towards the robot
    strong = dict.fromkeys(dynamics.joints, math.inf)
    q = dynamics.configuration(posture)
    held = StaticTorque(dynamics, walls, effort_limits=strong).solve(q)
    assert held.feasible, held.reason
    for wrench in held.wrenches.values():  # half the weight by friction alone
        assert wrench[2] >= 0.5 * dynamics.weight / walls['left'].pyramid - 1e-3
    weak = StaticTorque(dynamics, walls).solve(q)
    assert 'load_cap' not in {shortfall.limit for shortfall in weak.shortfalls}


def test_unknown_objective(model):
    """A misspelt objective would silently become another one."""
    with pytest.raises(ParameterError, match='did you mean torque'):
        StaticTorque(model[0], model[1], 'torqe')
    with pytest.raises(ParameterError, match='must be positive'):
        StaticTorque(model[0], model[1], Objective(regularisation=0.0))


def test_joint_of_several_axes():
    """A ball or planar joint in a URDF would be taken for a revolute one."""
    urdf = humanoid_file().robot.urdf.replace(
        '<joint name="waist_yaw" type="revolute">', '<joint name="waist_yaw" type="planar">'
    )
    with pytest.raises(UrdfError, match='waist_yaw of robot is .planar.: must be fixed'):
        Dynamics(bare_robot(urdf))


def impossible(
    model, posture=None, orientation=(0.0, 0.0, 0.0, 1.0), support=None, contact=None, **distributor
):
    """Return the first shortfall of a posture that cannot be held."""
    dynamics = model[0]
    contacts = {
        side: Contact(f'{side}_sole', **{'length': 0.2, 'width': 0.1, **(contact or {})})
        for side in ('left', 'right')
    }
    solution = StaticTorque(dynamics, contacts, **distributor).solve(
        dynamics.configuration(model[2] if posture is None else posture, orientation), support
    )
    assert not solution.feasible and solution.torque is None
    assert solution.reason.startswith(solution.shortfalls[0].limit)
    return solution.shortfalls[0]


def leaning(model, angle):
    """Return the start posture with both ankles turned, so that the robot leans forward."""
    posture = model[2].copy()
    for side in ('left', 'right'):
        posture[model[0].joints.index(f'{side}_ankle_pitch')] -= angle
    return posture, (0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle))


def test_centre_of_mass_outside_one_sole(model):
    """Standing on one leg without shifting weight would pass, or the distance would be wrong."""
    dynamics, _, posture = model
    shortfall = impossible(model, support=['left'])
    q = dynamics.configuration(posture)
    place, rotation = dynamics.placement(q, dynamics.frame('left_sole'))
    offset = rotation.T @ (dynamics.center_of_mass(q) - place)
    assert (shortfall.limit, shortfall.where) == ('centre_of_pressure', 'left')
    assert shortfall.amount == pytest.approx(abs(offset[1]) - 0.05, abs=1e-9)


def test_centre_of_mass_outside_the_polygon(model):
    """Leaning too far on two legs would not be named as such, with the distance."""
    dynamics = model[0]
    posture, orientation = leaning(model, 0.3)
    shortfall = impossible(model, posture, orientation)
    q = dynamics.configuration(posture, orientation)
    place, rotation = dynamics.placement(q, dynamics.frame('left_sole'))
    offset = rotation.T @ (dynamics.center_of_mass(q) - place)
    assert shortfall.limit == 'centre_of_pressure'
    assert shortfall.amount == pytest.approx(offset[0] - 0.1, rel=1e-3)


def test_friction_too_small(model):
    """A floor too slippery for a tilted stance would pass, or be called something else."""
    shortfall = impossible(
        model, orientation=(math.sin(0.02), 0.0, 0.0, math.cos(0.02)), contact={'friction': 0.03}
    )
    assert shortfall.limit == 'friction'
    weight = model[0].weight
    assert shortfall.amount <= weight * math.sin(0.04) - 0.03 / math.sqrt(2) * weight * 0.99 + 0.1
    assert shortfall.amount > 0.1


def test_friction_too_small_on_one_leg(model):
    """The missing tangential force on one leg would be wrong."""
    dynamics, _, posture = model
    tilt = (math.sin(0.05), 0.0, 0.0, math.cos(0.05))
    shortfall = impossible(
        model,
        orientation=tilt,
        support=['left'],
        contact={'friction': 0.05, 'width': 2.0, 'length': 2.0},
    )
    expected = dynamics.weight * (math.sin(0.1) - 0.05 / math.sqrt(2.0) * math.cos(0.1))
    assert (shortfall.limit, shortfall.amount) == ('friction', pytest.approx(expected, rel=1e-9))


@pytest.mark.parametrize('support', [None, ['left', 'right'], ['right']])
def test_weak_joint(model, support):
    """A motor that cannot hold the posture would be sent its torque, or not be named."""
    knees = {'left_knee': 0.5, 'right_knee': 0.5}
    shortfall = impossible(
        model, support=support, effort_limits=knees, contact={'width': 1.0, 'friction': 5.0}
    )
    assert shortfall.limit == 'joint_torque' and 'knee' in shortfall.where
    assert shortfall.amount > 0.1


def test_weak_arm(model):
    """A joint that no contact loads would be left out of the limits."""
    posture = model[2].copy()
    posture[model[0].joints.index('left_shoulder_pitch')] = -1.5
    shortfall = impossible(
        model, posture, effort_limits={'left_shoulder_pitch': 0.5}, contact={'length': 0.5}
    )
    assert (shortfall.limit, shortfall.where) == ('joint_torque', 'left_shoulder_pitch')


@pytest.mark.parametrize('support', [['left'], ['left', 'right']])
def test_hanging_from_the_ceiling(model, support):
    """A robot upside down would be held by soles that cannot pull."""
    shortfall = impossible(model, orientation=(1.0, 0.0, 0.0, 0.0), support=support)
    assert shortfall.limit == 'unilateral_force'
    # one foot beside the centre of mass by 0.09 m sticks at its edge, half a width of 0.05 m away
    total = model[0].weight * (1.0 + 0.09 / 0.05) if len(support) == 1 else 0.5 * model[0].weight
    assert shortfall.amount == pytest.approx(total, rel=1e-6 if len(support) == 1 else 0.1)


def test_foot_that_must_carry(model):
    """A load cap that the balance cannot meet would be named as something else."""
    dynamics, contacts, posture = model
    solution = StaticTorque(dynamics, contacts).solve(
        dynamics.configuration(posture), caps={'right': 10.0}
    )
    shortfall = solution.shortfalls[0]
    assert (shortfall.limit, shortfall.where) == ('load_cap', 'right')
    # the centre of mass is 0.09 m from each sole: the right one carries at least the share that
    # moves the pressure to the inner edge of the left one
    least = dynamics.weight * (0.09 - 0.05) / (2 * 0.09 - 0.05 + 0.05)
    assert shortfall.amount == pytest.approx(least - 10.0, rel=0.3)


def test_margins_of_an_impossible_posture(model):
    """Asking how far an impossible posture is from its limits would end in a traceback."""
    dynamics, contacts, posture = model
    distributor = StaticTorque(dynamics, contacts)
    solution = distributor.solve(dynamics.configuration(posture), ['left'])
    with pytest.raises(InvalidInput, match='only a feasible one has any'):
        distributor.margins(solution)


def test_zero_effort_limit():
    """A joint whose URDF gives its motor no torque would be treated as unlimited."""
    urdf = humanoid_file().robot.urdf.replace('effort="90"', 'effort="0"')
    dynamics, contacts, posture = humanoid()
    dynamics = Dynamics(bare_robot(urdf))
    distributor = StaticTorque(dynamics, contacts)
    assert [problem.what for problem in distributor.problems] == [
        'effort limit of joint left_knee',
        'effort limit of joint right_knee',
    ]
    assert 'gives its motor no torque' in str(distributor.problems[0])
    solution = distributor.solve(dynamics.configuration(posture))
    assert solution.shortfalls[0].limit == 'joint_torque' and 'knee' in solution.reason
