# SPDX-License-Identifier: Apache-2.0
"""The mathematics that [DS09] keeps in its appendices: metrics, groups, ports."""

import math

from momenta.ports import connect, PortHamiltonian
import numpy as np
import pinocchio as pin
import pytest

from walking_control import load_robot
from walking_control.controllers.curve_tracking.forces import split_velocity
from walking_control.models.dynamics import Dynamics


def make_system(rng, states, ports, proper=False):
    """Return a system of random matrices; `proper`: its output does not see its input."""

    def square(size):
        return rng.normal(size=(size, size))

    A, B, C, D, E = square(states), square(states), square(states), square(ports), square(ports)
    return PortHamiltonian(
        Q=A @ A.T + np.eye(states),
        J=B - B.T,
        R=C @ C.T,
        g=rng.normal(size=(states, ports)),
        K=(D - D.T) * (not proper),
        S=E @ E.T * (not proper),
    )


@pytest.mark.parametrize('seed', range(5))
def test_energy_of_a_system_grows_by_its_port_less_its_losses(seed):
    """A system of ports would make energy, or lose some that is not in (B.2)."""
    rng = np.random.default_rng(seed)
    system = make_system(rng, 5, 2)
    x, u = rng.normal(size=5), rng.normal(size=2)
    supplied = float(system.output(x, u) @ u)
    assert system.power(x, u) == pytest.approx(supplied - system.lost(x, u), rel=1e-12)
    assert system.lost(x, u) > 0.0


@pytest.mark.parametrize('seed', range(5))
def test_two_connected_systems_are_one(seed):
    """The interconnection would add energy, or (B.5) be wrong in a block."""
    rng = np.random.default_rng(seed)
    first, second = make_system(rng, 4, 2, proper=True), make_system(rng, 3, 2)
    x1, x2, u = rng.normal(size=4), rng.normal(size=3), rng.normal(size=2)
    both, x = connect(first, second), np.concatenate((x1, x2))
    y1 = first.output(x1, u)  # of a strictly proper system: whatever its input
    u1 = u - second.output(x2, y1)
    parts = np.concatenate((first.rate(x1, u1), second.rate(x2, y1)))
    assert both.rate(x, u) == pytest.approx(parts, rel=1e-12)
    assert both.output(x, u) == pytest.approx(y1, rel=1e-12)
    assert pytest.approx(np.zeros((7, 7)), abs=1e-12) == both.J + both.J.T
    power = first.power(x1, u1) + second.power(x2, y1)
    assert both.power(x, u) == pytest.approx(power, rel=1e-12)
    assert both.lost(x, u) == pytest.approx(first.lost(x1, u1) + second.lost(x2, y1), rel=1e-12)


def test_twist_of_exponential_coordinates():
    """The series (A.33) would not be the rate of a pose: a sign or a factorial were wrong."""
    rng = np.random.default_rng(1)
    coordinates, rates = rng.normal(scale=0.8, size=6), rng.normal(size=6)
    # ad of a twist (linear, angular), as the cross product of motions
    adjoint = pin.Motion(coordinates).action
    term, twist = rates, np.zeros(6)
    for order in range(30):
        twist = twist + (-1.0) ** order / math.factorial(order + 1) * term
        term = adjoint @ term
    step = 1e-6
    ahead = pin.exp6(pin.Motion(coordinates + step * rates))
    behind = pin.exp6(pin.Motion(coordinates - step * rates))
    assert pin.log6(behind.actInv(ahead)).vector / (2.0 * step) == pytest.approx(twist, abs=1e-8)
    assert pin.Jexp6(pin.Motion(coordinates)) @ rates == pytest.approx(twist, abs=1e-10)
    # an arm of a group: poses multiply, and their inverse leads back ((A.17) to (A.19), (A.24))
    pose = pin.exp6(pin.Motion(coordinates))
    assert (pose * pose.inverse()).isIdentity(1e-12)
    assert (pose * behind).homogeneous == pytest.approx(pose.homogeneous @ behind.homogeneous)


def test_the_mass_matrix_is_a_metric():
    """Length and angle of velocities would not be those of energy ((A.12) to (A.14))."""
    robot = load_robot('compass').robot
    dynamics, rng = Dynamics(robot), np.random.default_rng(2)
    q = rng.normal(scale=0.3, size=robot.base.nq + len(robot.joints))
    M = dynamics.mass_matrix(q)
    v, w = rng.normal(size=(2, len(M)))
    direction, momentum, rest = np.zeros((3, len(v)))
    speed, size, length = split_velocity(M, v, w, direction, momentum, rest)
    assert length == pytest.approx(np.sqrt(v @ M @ v), rel=1e-12)
    assert direction @ M @ rest == pytest.approx(0.0, abs=1e-12)  # the rest is orthogonal
    assert speed**2 + size**2 == pytest.approx(w @ M @ w, rel=1e-12)  # so energies add up
    cosine = speed / np.sqrt(w @ M @ w)
    assert cosine == pytest.approx((v @ M @ w) / np.sqrt((v @ M @ v) * (w @ M @ w)), rel=1e-12)
    # the momentum M v is a co-vector: with a velocity it makes power-like numbers, in any basis
    basis = rng.normal(size=(len(M), len(M)))
    there, covector = np.linalg.solve(basis, v), basis.T @ (M @ v)
    assert there @ covector == pytest.approx(v @ M @ v, rel=1e-10)
