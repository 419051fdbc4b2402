# SPDX-License-Identifier: Apache-2.0
"""Static torques against inverse dynamics, least squares, linear programs, the printed chain."""

from least_squares import minimum_force, minimum_torque
import numpy as np
import pinocchio as pin
import pytest
from static_robots import (
    BIPEDS,
    corner_forces,
    humanoid,
    linear_program,
    random_orientation,
    random_posture,
    real_robot,
)

from walking_control.models.base import ROOT
from walking_control.models.dynamics import bare_robot, Dynamics
from walking_control.statics import solvers
from walking_control.statics.contacts import Contact, wrench_limits
from walking_control.statics.distributor import Objective, StaticTorque

WIDE = {'length': 20.0, 'width': 20.0, 'friction': 100.0}  # a sole without limits that matter


def with_contact_wrenches(dynamics, q, frames, wrenches, acceleration=None):
    """Return the base wrench and torques of inverse dynamics with wrenches on soles."""
    model, data = dynamics.model, dynamics.model.createData()
    external = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    for frame, wrench in zip(frames, wrenches):
        joint = model.frames[frame].parentJoint
        external[joint] += model.frames[frame].placement.act(pin.Force(wrench))
    zero = np.zeros(model.nv)
    return pin.rnea(
        model,
        data,
        dynamics.to_pinocchio(q),
        zero,
        zero if acceleration is None else acceleration,
        external,
    )[dynamics.pinocchio_order]


def jacobians(dynamics, q, distributor):
    """Return generalised gravity and the Jacobian of every contact."""
    return dynamics.gravity_efforts(q).copy(), [
        dynamics.frame_jacobian(q, frame).copy() for frame in distributor.frames.values()
    ]


def independent_least_torque(gravity, stack):
    """Return the least-torque torques by the null space of all equations in torques and forces."""
    n = len(gravity) - ROOT
    jacobian = np.vstack(stack)
    equations = np.zeros((len(gravity), n + len(jacobian)))
    equations[ROOT:, :n] = np.eye(n)
    equations[:, n:] = jacobian.T
    particular = np.linalg.lstsq(equations, gravity, rcond=None)[0]
    free = np.linalg.svd(equations)[2][len(gravity) :].T
    step = np.linalg.lstsq(free[:n], -particular[:n], rcond=1e-11)[0]
    return (particular + free @ step)[:n]


def test_single_support_equals_inverse_dynamics():
    """Torques on one leg would differ from inverse dynamics with the same floor wrench."""
    rng = np.random.default_rng(0)
    dynamics, contacts, posture = humanoid()
    contacts = {side: Contact(f'{side}_sole', **WIDE) for side in contacts}
    strong = dict.fromkeys(dynamics.joints, 1e4)
    distributor = StaticTorque(dynamics, contacts, effort_limits=strong)
    for _ in range(50):
        q = dynamics.configuration(random_posture(rng, posture), random_orientation(rng, 0.3))
        for side in contacts:
            solution = distributor.solve(q, [side])
            found = with_contact_wrenches(
                dynamics, q, [distributor.frames[side]], [solution.wrenches[side]]
            )
            scale = abs(solution.torque).max()
            assert abs(found[ROOT:] - solution.torque).max() < 1e-9 * scale
            assert abs(found[:ROOT]).max() < 1e-9 * dynamics.weight
            assert solution.base_residual < 1e-8


@pytest.mark.parametrize('support', [('left',), ('left', 'right')])
def test_accelerated_body_equals_inverse_dynamics(support):
    """Torques that brake a sway would not give the body the acceleration that was asked for."""
    dynamics, contacts, posture = humanoid()
    contacts = {side: Contact(f'{side}_sole', **WIDE) for side in contacts}
    distributor = StaticTorque(
        dynamics, contacts, effort_limits=dict.fromkeys(dynamics.joints, 1e4)
    )
    q, at_rest = dynamics.configuration(posture), distributor.solve(dynamics.configuration(posture))
    acceleration = np.array([0.7, -1.1, 0.3])
    solution = distributor.solve(q, support, None, acceleration)
    joints = np.zeros(dynamics.nv)
    joints[:3] = acceleration  # upright: the axes of the base are the floor's
    found = with_contact_wrenches(
        dynamics,
        q,
        [distributor.frames[side] for side in support],
        [solution.wrenches[side] for side in support],
        joints,
    )
    assert found[ROOT:] == pytest.approx(solution.torque, abs=1e-9)
    assert abs(found[:ROOT]).max() < 1e-7
    again = distributor.solve(q)  # and the next question is one at rest
    assert np.array_equal(again.torque, at_rest.torque)


@pytest.mark.parametrize('solver', solvers.available())
@pytest.mark.parametrize('objective', ['torque', 'force'])
def test_double_support_balances_within_all_limits(solver, objective):
    """Torques of two legs would not balance the robot, or break a limit of floor or motors."""
    rng = np.random.default_rng(1)
    dynamics, contacts, posture = humanoid()
    distributor = StaticTorque(dynamics, contacts, objective, solver=solver)
    limits = dynamics.effort_limits()
    feasible = 0
    for _ in range(40):
        q = dynamics.configuration(random_posture(rng, posture), random_orientation(rng, 0.05))
        solution = distributor.solve(q)
        if not solution.feasible:
            continue
        feasible += 1
        frames = distributor.frames.values()
        found = with_contact_wrenches(dynamics, q, frames, solution.wrenches.values())
        assert abs(found[:ROOT]).max() < 1e-8 and solution.base_residual < 1e-8
        assert found[ROOT:] == pytest.approx(solution.torque, abs=1e-8)
        assert (abs(solution.torque) <= limits + 1e-5).all()
        for side, wrench in solution.wrenches.items():
            assert wrench[2] >= -1e-5
            assert np.hypot(wrench[0], wrench[1]) <= contacts[side].friction * wrench[2] + 1e-5
            assert abs(wrench[4]) <= 0.10 * wrench[2] + 1e-5
            assert abs(wrench[3]) <= 0.05 * wrench[2] + 1e-5
    assert feasible > 20


@pytest.mark.parametrize('objective', ['torque', 'force'])
def test_solvers_agree(objective):
    """The choice of solver would change the torques a robot receives."""
    if len(solvers.available()) < 2:
        pytest.skip('only one solver is installed')
    rng = np.random.default_rng(2)
    dynamics, contacts, posture = humanoid(friction=0.4)
    distributors = [
        StaticTorque(dynamics, contacts, objective, solver=name) for name in solvers.available()
    ]
    for _ in range(30):
        q = dynamics.configuration(random_posture(rng, posture), random_orientation(rng, 0.05))
        found = [distributor.solve(q) for distributor in distributors]
        assert len({solution.feasible for solution in found}) == 1
        if found[0].feasible:
            for solution in found[1:]:
                assert solution.torque == pytest.approx(found[0].torque, abs=1e-5)


def test_corner_forces_span_the_wrench_limits():
    """The inequalities on a sole's wrench would allow what four corner forces cannot transmit."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    contact = Contact('sole', 0.2, 0.1, 0.6)
    rows, _ = wrench_limits(contact)
    corners = corner_forces(contact)
    cone = np.zeros((16, 12))
    for i in range(16):
        cone[i, 3 * (i // 4) + (i // 2) % 2] = (-1.0, 1.0)[i % 2]
        cone[i, 3 * (i // 4) + 2] = -contact.pyramid
    bounds = [(None, None), (None, None), (0.0, None)] * 4
    verdicts = []
    for _ in range(300):
        wrench = rng.uniform(-1.0, 1.0, 6) * [0.5, 0.5, 0.0, 0.05, 0.1, 0.06] + [0, 0, 1, 0, 0, 0]
        inside = bool((rows @ wrench >= 0.0).all())
        found = linprog(np.zeros(12), cone, np.zeros(16), corners, wrench, bounds, method='highs')
        assert (found.status == 0) == inside
        verdicts.append(inside)
    assert 0.1 < np.mean(verdicts) < 0.9


@pytest.mark.parametrize(
    'solver, count',
    [
        *((name, 40) for name in solvers.available()),
        *(pytest.param(name, 1000, marks=pytest.mark.long) for name in solvers.available()[:1]),
    ],
)
def test_verdicts_equal_a_linear_program(solver, count):
    """A posture would be called possible that no forces can hold, or impossible that some can.

    1000 postures, 40 where time is short and for the second choices of solver: random ones, and
    the same with motors 0.1 % stronger and weaker than the least that a linear program on corner
    forces finds sufficient.
    """
    rng = np.random.default_rng(4)
    dynamics, contacts, posture = humanoid(friction=0.5)
    limits = dynamics.effort_limits()
    frames = list(StaticTorque(dynamics, contacts).frames.values())
    cases, verdicts = 0, []
    while cases < count:
        q = dynamics.configuration(random_posture(rng, posture, 0.2), random_orientation(rng, 0.12))
        least = linear_program(dynamics, q, contacts.values(), frames, limits, scale_torque=True)
        factors = (1.0,) if least is None else (1.0, 1.001 * least, 0.999 * least)
        for factor in factors:
            strong = dict(zip(dynamics.joints, factor * limits))
            distributor = StaticTorque(dynamics, contacts, effort_limits=strong, solver=solver)
            expected = least is not None and factor >= least
            found = distributor.solve(q).feasible
            assert found == expected, (cases, factor, least)
            verdicts.append(expected)
            cases += 1
    assert 0.2 < np.mean(verdicts) < 0.8


@pytest.mark.long
def test_friction_boundary():
    """The verdict would be wrong close to the least friction that holds a leaning robot."""
    rng = np.random.default_rng(5)
    dynamics, contacts, posture = humanoid()
    found = 0
    while found < 12:
        q = dynamics.configuration(random_posture(rng, posture, 0.2), random_orientation(rng, 0.12))
        limits, frames = dynamics.effort_limits(), None

        def holds(friction):
            nonlocal frames
            soles = {side: Contact(f'{side}_sole', 0.20, 0.10, friction) for side in contacts}
            frames = frames or list(StaticTorque(dynamics, soles).frames.values())
            return linear_program(dynamics, q, soles.values(), frames, limits), soles

        low, high = 0.0, 2.0
        if not holds(high)[0] or holds(1e-3)[0]:
            continue
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if holds(middle)[0] else (middle, high)
        for friction, expected in ((1.001 * high, True), (0.999 * low, False)):
            solution = StaticTorque(dynamics, holds(friction)[1]).solve(q)
            assert solution.feasible == expected
        found += 1


def test_printed_chain():
    """Least torque would differ from the chain C, D, E, F of [STATIC] where that exists."""
    rng = np.random.default_rng(6)
    dynamics, contacts, posture = humanoid()
    distributor = StaticTorque(dynamics, contacts)
    left, right = slice(ROOT, ROOT + 6), slice(ROOT + 6, ROOT + 12)
    assert dynamics.joints[0].startswith('left_hip') and dynamics.joints[6].startswith('right_hip')
    for _ in range(20):
        q = dynamics.configuration(random_posture(rng, posture), random_orientation(rng, 0.3))
        gravity, (jl, jr) = jacobians(dynamics, q, distributor)
        inverse = np.linalg.inv(jl[:, :ROOT].T)
        a, b = -inverse @ jr[:, :ROOT].T, inverse @ gravity[:ROOT]
        c = -np.linalg.inv(jl[:, left].T @ a)
        d = -c @ (gravity[left] - jl[:, left].T @ b)
        e = -np.linalg.inv(jr[:, right].T)
        f = -e @ gravity[right]
        chain = np.linalg.pinv(np.hstack((c, -e))) @ (f - d)
        torque, _ = minimum_torque(gravity, (jl, jr))
        assert torque[:12] == pytest.approx(chain, rel=1e-7, abs=1e-7)


def test_least_force_is_the_pseudo_inverse():
    """The force objective would not be the least wrench norm at the soles."""
    dynamics, contacts, posture = humanoid()
    distributor = StaticTorque(dynamics, contacts, 'force')
    q = dynamics.configuration(posture)
    gravity, stack = jacobians(dynamics, q, distributor)
    base = np.hstack([jacobian[:, :ROOT].T for jacobian in stack])
    expected = np.linalg.pinv(base) @ gravity[:ROOT]
    torque, wrenches = minimum_force(gravity, stack)
    assert wrenches.ravel() == pytest.approx(expected, abs=1e-9)
    solution = distributor.solve(q)
    assert np.concatenate(list(solution.wrenches.values())) == pytest.approx(expected, abs=1e-7)
    assert solution.torque == pytest.approx(torque, abs=1e-7)


@pytest.mark.parametrize('name', BIPEDS)
def test_real_robots_least_torque(name):
    """Least torque of a robot that others built would differ from an independent solution."""
    dynamics, feet, positions = real_robot(name)
    contacts = {foot: Contact(foot, **WIDE) for foot in feet}
    distributor = StaticTorque(
        dynamics, contacts, effort_limits=dict.fromkeys(dynamics.joints, np.inf)
    )
    q = dynamics.configuration(positions)
    gravity, stack = jacobians(dynamics, q, distributor)
    expected = np.linalg.norm(independent_least_torque(gravity, stack))
    closed = np.linalg.norm(minimum_torque(gravity, stack)[0])
    program = distributor.solve(q)
    assert program.feasible and program.base_residual < 1e-8
    assert closed == pytest.approx(expected, rel=1e-9)
    assert np.linalg.norm(program.torque) == pytest.approx(expected, rel=1e-6)


def test_straight_knees():
    """Straight legs, where the leg Jacobians are singular, would stop the distributor."""
    dynamics, contacts, posture = humanoid()
    q = dynamics.configuration(np.zeros(len(posture)))
    distributor = StaticTorque(dynamics, contacts)
    solution = distributor.solve(q)
    assert solution.feasible and solution.base_residual < 1e-8
    gravity, stack = jacobians(dynamics, q, distributor)
    expected = np.linalg.norm(minimum_torque(gravity, stack)[0])
    assert np.linalg.norm(solution.torque) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    'fixed, joints', [(('left_hip_yaw', 'right_hip_yaw'), 5), (('right_ankle_roll',), None)]
)
def test_legs_with_fewer_joints(fixed, joints):
    """A leg without exactly six joints would be refused or held by wrong torques."""
    dynamics, contacts, posture = humanoid()
    from static_robots import humanoid_file

    urdf = humanoid_file().robot.urdf
    for joint in fixed:
        urdf = urdf.replace(
            f'<joint name="{joint}" type="revolute">', f'<joint name="{joint}" type="fixed">'
        )
    fewer = Dynamics(bare_robot(urdf))
    assert len(fewer.joints) == len(dynamics.joints) - len(fixed)
    distributor = StaticTorque(fewer, contacts)
    q = fewer.configuration(
        {joint: value for joint, value in zip(dynamics.joints, posture) if joint not in fixed}
    )
    solution = distributor.solve(q)
    gravity, stack = jacobians(fewer, q, distributor)
    expected = np.linalg.norm(minimum_torque(gravity, stack)[0])
    assert solution.feasible and solution.base_residual < 1e-8
    assert np.linalg.norm(solution.torque) == pytest.approx(expected, rel=1e-5)


def test_turning_the_world_changes_nothing():
    """Torques would depend on heading or place, which gravity does not see."""
    dynamics, contacts, posture = humanoid()
    distributor = StaticTorque(dynamics, contacts)
    straight = distributor.solve(dynamics.configuration(posture))
    turned = distributor.solve(
        dynamics.configuration(posture, [0.0, 0.0, np.sin(0.6), np.cos(0.6)], [3.0, -2.0, 1.0])
    )
    assert turned.torque == pytest.approx(straight.torque, abs=1e-7)


def test_three_contacts():
    """A hand on a table beside two soles would not be used, or break the balance."""
    dynamics, contacts, posture = humanoid()
    posture = posture.copy()
    posture[dynamics.joints.index('left_shoulder_pitch')] = -0.9
    hand = Contact('left_forearm', friction=0.6, offset=(0.0, 0.0, -0.2))
    distributor = StaticTorque(dynamics, {**contacts, 'hand': hand})
    q = dynamics.configuration(posture)
    two, three = distributor.solve(q, ['left', 'right']), distributor.solve(q)
    assert three.feasible and three.base_residual < 1e-8
    assert (three.wrenches['hand'][3:] == 0.0).all() and three.wrenches['hand'][2] >= -1e-5
    turn = dynamics.placement(q, distributor.frames['hand'])[1]  # a point's force is the floor's
    wrenches = {**three.wrenches, 'hand': np.append(three.wrenches['hand'][:3] @ turn, np.zeros(3))}
    found = with_contact_wrenches(dynamics, q, distributor.frames.values(), wrenches.values())
    assert found == pytest.approx(np.concatenate((np.zeros(6), three.torque)), abs=1e-7)
    assert np.linalg.norm(three.torque) <= np.linalg.norm(two.torque) + 1e-6


def test_point_feet():
    """Four point contacts would not carry a robot that two soles through them carry."""
    dynamics, contacts, posture = humanoid()
    points = {
        f'{side}{x}{y}': Contact(f'{side}_sole', offset=(0.1 * x, 0.05 * y, 0.0))
        for side in contacts
        for x in (-1, 1)
        for y in (-1, 1)
    }
    q = dynamics.configuration(posture)
    soles = StaticTorque(dynamics, contacts).solve(q)
    solution = StaticTorque(dynamics, points).solve(q)
    assert solution.feasible and solution.base_residual < 1e-8
    assert np.linalg.norm(solution.torque) == pytest.approx(np.linalg.norm(soles.torque), rel=1e-4)


def test_joint_weights_move_the_load():
    """The weight of a joint would not relieve it."""
    dynamics, contacts, posture = humanoid()
    q = dynamics.configuration(posture)
    knee = dynamics.joints.index('left_knee')
    even = StaticTorque(dynamics, contacts).solve(q)
    spared = StaticTorque(dynamics, contacts, Objective(joint_weights={'left_knee': 100.0})).solve(
        q
    )
    assert abs(spared.torque[knee]) < 0.5 * abs(even.torque[knee])


def test_caps_unload_a_foot():
    """A cap on a foot's normal force would not be obeyed, or not end at single support."""
    dynamics, contacts, posture = humanoid()
    posture = posture.copy()
    for side in ('left', 'right'):  # lean to the left foot
        posture[dynamics.joints.index(f'{side}_hip_roll')] = -0.15
        posture[dynamics.joints.index(f'{side}_ankle_roll')] = 0.15
    distributor = StaticTorque(dynamics, contacts)
    q = dynamics.configuration(posture)
    single = distributor.solve(q, ['left'])
    assert single.feasible, single.reason
    for cap in (100.0, 10.0, 1e-3):
        solution = distributor.solve(q, caps={'right': cap})
        assert solution.feasible and solution.wrenches['right'][2] <= cap + 1e-5
    assert solution.torque == pytest.approx(single.torque, abs=1e-3)


def test_points_stand_on_the_normal_of_the_floor():
    """A quadruped's shanks, far from upright, would tilt its friction cones: refused on a floor
    that holds it."""
    dynamics, feet, positions = real_robot('solo12')
    q = dynamics.configuration(positions)
    lowest = [dynamics.placement(q, dynamics.frame(foot)) for foot in feet]
    assert all(rotation[2, 2] < 0.8 for _, rotation in lowest)
    for turn in (0.0, 0.7):  # the heading of the robot changes nothing
        turned = dynamics.configuration(positions, (0.0, 0.0, np.sin(turn), np.cos(turn)))
        solution = StaticTorque(dynamics, [Contact(foot, friction=0.1) for foot in feet]).solve(
            turned
        )
        assert solution.feasible, solution.reason
        total = sum(wrench[:3] for wrench in solution.wrenches.values())
        assert total == pytest.approx([0.0, 0.0, dynamics.weight], abs=1e-6)
    tilted = [Contact(foot, friction=1.0, rotation=(0.0, 0.0, 0.0, 1.0)) for foot in feet]
    assert StaticTorque(dynamics, tilted).solve(q).shortfalls[0].limit == 'friction'
