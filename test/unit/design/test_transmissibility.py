# SPDX-License-Identifier: Apache-2.0
"""RoToM, its ellipsoid and what follows from it, by limit cases and second routes."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from static_robots import real_robot

from walking_control.design.mechanism import load_mechanism, Mechanism, unit_direction
from walking_control.design.rotom import (
    constrained_mobility,
    Contacts,
    descending_torque,
    index_over_joint,
    rotom_gradient,
    rotom_zeros,
    transmissibility,
)
from walking_control.design.study import study_rotom
from walking_control.exceptions import InvalidInput
from walking_control.models.dynamics import bare_robot, Dynamics

ALL = np.eye(3)


def chain(bodies, name='chain'):
    """Return a mechanism on a held base.

    Args:
        bodies: For each body (parent, kind, axis, origin, mass, centre, moments).
        name: Its name.
    """
    links, joints = '<link name="l0"/>', ''
    for i, (parent, kind, axis, origin, mass, centre, moments) in enumerate(bodies, 1):

        def text(values):
            return ' '.join(repr(float(value)) for value in values)

        links += (
            f'<link name="l{i}"><inertial><origin xyz="{text(centre)}"/>'
            f'<mass value="{mass}"/><inertia ixx="{moments[0]}" iyy="{moments[1]}" '
            f'izz="{moments[2]}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        joints += (
            f'<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child '
            f'link="l{i}"/><origin xyz="{text(origin)}"/><axis xyz="{text(axis)}"/>'
            '<limit lower="-3.2" upper="3.2" effort="9" velocity="9"/></joint>'
        )
    dynamics = Dynamics(bare_robot(f'<robot name="{name}">{links}{joints}</robot>', name))
    return Mechanism(dynamics, dynamics.configuration([0.0] * len(bodies)), True)


def pendulum(*lengths, moment=0.0):
    """Return a pendulum in the plane x, y, its links' mass at their ends."""
    bodies = [
        (
            i,
            'continuous',
            (0, 0, 1),
            (lengths[i - 1] if i else 0.0, 0, 0),
            1.0,
            (length, 0, 0),
            (moment,) * 3,
        )
        for i, length in enumerate(lengths)
    ]
    return chain(bodies)


def random_chain(rng):
    """Return a random tree of up to 5 joints on a held base, in a random posture."""
    bodies = []
    for i in range(int(rng.integers(1, 6))):
        moments = 10.0 ** rng.uniform(-4, 0) * np.array([1.0, 1.0, rng.uniform(0.1, 1.9)])
        bodies.append(
            (
                int(rng.integers(0, i + 1)),
                'continuous' if rng.random() < 0.8 else 'prismatic',
                rng.normal(size=3),
                rng.normal(0, 0.5, 3),
                10.0 ** rng.uniform(-1, 1),
                rng.normal(0, 0.5, 3),
                moments,
            )
        )
    mechanism = chain(
        [(*body[:2], body[2] / np.linalg.norm(body[2]), *body[3:]) for body in bodies]
    )
    return mechanism.at(rng.uniform(-3, 3, len(bodies)))


def test_ratios_stay_between_0_and_1():
    """A posture would pass on more than the whole force, in 1 of 300 random chains."""
    rng, ratios = np.random.default_rng(1), []
    for _ in range(300):
        found = transmissibility(random_chain(rng), space=ALL)
        u = unit_direction(rng.normal(size=3))
        lengths, _ = found.axes
        assert lengths.min() >= 0.0 and lengths.max() <= 1.0 + 1e-9
        ratios.append(found.rotom(u))
        assert -1e-12 <= found.to_surface(u) <= ratios[-1] + 1e-9 <= 1.0 + 2e-9
    assert min(ratios) < 0.02 and max(ratios) > 0.95


@pytest.mark.parametrize('q', np.linspace(0.0, 2.0, 5))
def test_the_printed_pendulum(q):
    """(23) to (28): all along the swing, nothing along the rod, the printed matrix between."""
    found = transmissibility(pendulum(0.7).at(np.array([q])))
    s, c = np.sin(q), np.cos(q)
    assert found.matrix[:2, :2] == pytest.approx(np.array([[s * s, -s * c], [-s * c, c * c]]))
    for n in (0, 1):
        along = q + n * np.pi
        assert found.rotom(np.array([np.cos(along), np.sin(along), 0.0])) == pytest.approx(0.0)
        across = along + 0.5 * np.pi
        assert found.rotom(np.array([np.cos(across), np.sin(across), 0.0])) == pytest.approx(1.0)


def test_rotom_is_the_support_function_not_the_distance():
    """Read as the distance to the surface, RoToM of the pendulum would be 0 nearly everywhere."""
    found = transmissibility(pendulum(1.0))
    slanting = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    assert found.rotom(slanting) == pytest.approx(np.sqrt(0.5))  # as (26) has it
    assert found.to_surface(slanting) == 0.0
    rng = np.random.default_rng(2)
    for _ in range(20):
        found = transmissibility(random_chain(rng), space=ALL)
        u = unit_direction(rng.normal(size=3))
        points = rng.normal(size=(20000, 3))
        surface = found.matrix @ (points / np.linalg.norm(points, axis=1)[:, None]).T
        assert (u @ surface).max() == pytest.approx(found.rotom(u), rel=2e-2)
        lengths, axes = found.axes
        for length, axis in zip(lengths, axes.T):
            assert found.rotom(axis) == pytest.approx(length, abs=1e-9)
            assert found.to_surface(axis) == pytest.approx(length, abs=1e-6)


def test_the_distance_lies_on_the_surface():
    """The distance that the source prints would be that of another ellipsoid."""
    found = transmissibility(pendulum(1.0, 0.8, moment=0.01).at(np.array([0.2, 1.1])))
    T = found.matrix[:2, :2]
    for angle in np.linspace(0.0, 3.0, 7):
        u = np.array([np.cos(angle), np.sin(angle), 0.0])
        point = found.to_surface(u) * u[:2]
        assert np.linalg.norm(np.linalg.solve(T, point)) == pytest.approx(1.0)


def test_acceleration_by_forward_dynamics():
    """T would not be what a push on the centre of mass does: the push shared among the links."""
    mechanism = random_chain(np.random.default_rng(5))
    dynamics, force = mechanism.dynamics, np.array([3.0, -2.0, 1.0])
    model, q = dynamics.model, dynamics.to_pinocchio(mechanism.q).copy()
    inertia = pin.crba(model, dynamics.data, q)[6:, 6:]
    # each body pushed by its share of the mass accelerates as if the centre of mass were
    efforts = np.zeros(len(mechanism.joints))
    for i in range(2, model.njoints):
        jacobian = pin.computeJointJacobian(model, dynamics.data, q, i)
        pin.forwardKinematics(model, dynamics.data, q)
        turn = dynamics.data.oMi[i].rotation
        lever = model.inertias[i].lever
        point = turn @ (jacobian[:3] - pin.skew(lever) @ jacobian[3:])
        efforts += point[:, 6:].T @ force * model.inertias[i].mass / mechanism.mass
    a = np.linalg.solve(inertia, efforts)
    moved = mechanism.momentum_map() @ a / mechanism.mass
    assert mechanism.mass * moved == pytest.approx(
        transmissibility(mechanism, space=ALL).matrix @ force
    )


def test_index_depends_on_the_second_joint_only():
    """Fig. 6: turning a double pendulum as a whole must not change its index; folding it must."""
    double = pendulum(1.0, 1.0)
    curves = [
        index_over_joint(double.at(np.array([first, 0.0])), 'j2', points=61) for first in (0.0, 1.3)
    ]
    positions, index = curves[0]
    assert curves[1][1] == pytest.approx(index, abs=1e-9)
    assert index[np.argmin(np.abs(positions))] == pytest.approx(0.0, abs=1e-9)  # stretched
    assert index == pytest.approx(index[::-1])
    _, still = index_over_joint(double.at(np.array([0.0, 0.8])), 'j1', points=11)
    assert np.ptp(still) < 1e-9 and 0.1 < still[0] < 1.0


def test_mass_and_force_do_not_count():
    """RoToM would change with the robot's scale of mass."""
    values = []
    for factor in (1.0, 7.0):
        bodies = [
            (0, 'continuous', (0, 1, 0), (0, 0, 0), factor, (0.4, 0, 0), (0.02 * factor,) * 3),
            (
                1,
                'continuous',
                (0, 0, 1),
                (0.8, 0, 0),
                2 * factor,
                (0.3, 0, 0),
                (0.01 * factor,) * 3,
            ),
        ]
        values.append(transmissibility(chain(bodies).at(np.array([0.3, 0.9])), space=ALL).matrix)
    assert values[1] == pytest.approx(values[0], abs=1e-12)


def test_a_held_base_does_not_count(tmp_path):
    """The mass of what stands still would make every posture pass on less, or more than all."""
    light = Path(__file__).parents[3] / 'examples' / 'two_joint_leg.urdf'
    heavy = tmp_path / 'heavy.urdf'
    heavy.write_text(light.read_text().replace('<mass value="5.0"/>', '<mass value="500"/>'))
    found = [load_mechanism(path, positions={'hip': 0.3, 'knee': 1.1}) for path in (light, heavy)]
    for mechanism in found:
        assert mechanism.mass == pytest.approx(0.8)
        # the middle of each link, 0.15 m on
        thigh = 0.15 * np.array([np.cos(0.3), 0.0, -np.sin(0.3)])
        shank = 2.0 * thigh + 0.15 * np.array([np.cos(1.4), 0.0, -np.sin(1.4)])
        assert mechanism.center_of_mass() == pytest.approx(0.5 * (thigh + shank))
    ratios = [transmissibility(mechanism).matrix for mechanism in found]
    assert ratios[1] == pytest.approx(ratios[0], abs=1e-12)


@pytest.mark.parametrize('name, kind', [('talos', 'sole'), ('solo12', 'point'), (None, 'sole')])
def test_contacts_of_robots_that_stand(name, kind):
    """A free base passes on everything; with contacts T is that of the constrained equations."""
    if name is None:
        mechanism = load_mechanism('humanoid')
        feet = mechanism.dynamics.robot.feet
    else:
        dynamics, feet, positions = real_robot(name)
        mechanism = Mechanism(dynamics, dynamics.configuration(positions), False)
    assert transmissibility(mechanism, space=ALL).matrix == pytest.approx(np.eye(3), abs=1e-9)
    contacts = Contacts(tuple(feet), kind)
    found = transmissibility(mechanism, contacts)
    assert 0.0 < found.axes[0].min() and found.axes[0].max() < 1.0 and 0.0 < found.index < 1.0
    # second route: all equations at once, in the least squares of dependent contacts
    M, C, P = mechanism.inertia(), contacts.jacobian(mechanism), mechanism.momentum_map()
    n, c = len(M), len(C)
    whole = np.block([[M, C.T], [C, np.zeros((c, c))]])
    right = np.vstack([P.T, np.zeros((c, 3))])
    moved = np.linalg.lstsq(whole, right, rcond=1e-12)[0][:n]
    assert C @ moved == pytest.approx(np.zeros((c, 3)), abs=1e-6)
    assert P @ moved / mechanism.mass == pytest.approx(found.matrix, abs=1e-6)


def test_dependent_contacts_count_once():
    """A foot that is named twice would hold twice, or break the inverse."""
    mechanism = load_mechanism('humanoid')
    once = transmissibility(mechanism, Contacts(('left_sole',)), ALL)
    twice = transmissibility(mechanism, Contacts(('left_sole', 'left_sole')), ALL)
    assert twice.matrix == pytest.approx(once.matrix, abs=1e-9)
    assert constrained_mobility(np.eye(2), np.eye(2)) == pytest.approx(np.zeros((2, 2)))


def test_a_damped_pseudo_inverse_breaks_the_bound():
    """The source leaves open which pseudo-inverse (4) takes: damped, it passes on 180 %."""
    double = pendulum(1.0, 1.0).at(np.array([0.4, 0.5]))
    J, M, m = double.momentum_map()[:2] / double.mass, double.inertia(), double.mass
    damped = J.T @ np.linalg.inv(J @ J.T + 0.05 * np.eye(2))
    T = m * np.linalg.inv(damped.T @ M @ damped)
    assert np.linalg.norm(T, 2) > 1.5
    # and the plain one of a redundant robot is not (5)
    triple = pendulum(1.0, 1.0, 1.0).at(np.array([0.4, 0.5, -1.0]))
    J, M, m = triple.momentum_map()[:2] / triple.mass, triple.inertia(), triple.mass
    plain = np.linalg.pinv(J)
    other = m * np.linalg.inv(plain.T @ M @ plain)
    assert np.abs(other - transmissibility(triple).matrix[:2, :2]).max() > 0.05


def test_gradient_and_torque_towards_less():
    """(15) would push the wrong way: the pendulum's RoToM along x is |sin q|."""
    swing = pendulum(0.7).at(np.array([0.6]))
    assert rotom_gradient(swing, [1.0, 0.0, 0.0]) == pytest.approx([np.cos(0.6)], abs=1e-8)
    assert descending_torque(swing, [2.0, 0.0, 0.0]) == pytest.approx([-np.cos(0.6)], abs=1e-8)
    # followed, it ends where nothing is passed on
    fold = pendulum(1.0, 1.0).at(np.array([0.8, 1.0]))
    before = transmissibility(fold).rotom(np.array([0.0, 1.0, 0.0]))
    for _ in range(60):
        fold = fold.at(fold.positions + 0.2 * descending_torque(fold, [0.0, 1.0, 0.0]))
    assert transmissibility(fold).rotom(np.array([0.0, 1.0, 0.0])) < 0.2 * before


def test_torque_of_a_standing_robot_does_the_same_work():
    """On contacts the torques must do the gradient's work on every motion that keeps the feet."""
    mechanism = load_mechanism('humanoid')
    contacts = Contacts(('left_sole', 'right_sole'))
    torque = descending_torque(mechanism, [0.0, 0.0, 1.0], contacts)
    gradient = rotom_gradient(mechanism, [0.0, 0.0, 1.0], contacts)
    _, _, right = np.linalg.svd(contacts.jacobian(mechanism))
    for motion in right[12:]:
        assert torque @ motion[6:] == pytest.approx(-gradient @ motion, abs=1e-7)


def test_zeros_are_postures_without_gravity_torque():
    """(16): a double pendulum under gravity passes nothing on hanging, standing and folded."""
    double = load_mechanism(Path(__file__).parents[3] / 'examples' / 'two_joint_leg.urdf')
    zeros = rotom_zeros(double, [0.0, 0.0, 1.0])
    assert len(zeros) == 4
    for posture in zeros:
        there = double.at(posture)
        efforts = there.dynamics.gravity_efforts(there.q)[6:]
        assert efforts == pytest.approx(np.zeros(2), abs=1e-5)
        assert np.sin(2.0 * posture[0]) == pytest.approx(0.0, abs=1e-5)
        assert np.sin(posture[1]) == pytest.approx(0.0, abs=1e-5)


def test_planar_robots_have_two_directions():
    """The index of every planar robot would be 0: its ellipsoid is flat in space."""
    study = study_rotom(load_mechanism('dribbel', held=True), [0.0, 0.0, 1.0])
    assert study['moves_along'] == 'xz' and study['index'] > 0.0
    slanting = chain([(0, 'continuous', (1, 1, 0), (0, 0, 0), 1.0, (0, 0, 0.5), (0.01,) * 3)])
    assert study_rotom(slanting, [0.0, 0.0, 1.0])['moves_along'] == '2 directions'


@pytest.mark.parametrize('direction', [[0.0, 0.0, 0.0], [np.nan, 0.0, 1.0], [1.0, 0.0]])
def test_a_direction_needs_a_length(direction):
    """A force of zero has no direction to divide by."""
    with pytest.raises(InvalidInput, match='direction is .*not all zero; give one such as 0,0,1'):
        study_rotom(pendulum(1.0), direction)


def test_what_has_no_zeros_is_said():
    """A search for what is everywhere, or on a free base, would return anything."""
    with pytest.raises(InvalidInput, match='in every posture'):
        rotom_zeros(pendulum(1.0, 1.0), [0.0, 0.0, 1.0])
    with pytest.raises(InvalidInput, match='--base held'):
        rotom_zeros(load_mechanism('humanoid'), [0.0, 0.0, 1.0])
    with pytest.raises(InvalidInput, match='joint j9.*known: j1, j2'):
        index_over_joint(pendulum(1.0, 1.0), 'j9')
