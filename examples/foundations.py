# SPDX-License-Identifier: Apache-2.0
"""What the sources presuppose, each checked by a second route: [DS09] appendices and 2.1 to 2.3.

Vectors, co-vectors and tensors by coordinates ((A.1), (A.5) to (A.11)), brackets and functions
along fields ((A.2) to (A.4), (A.15), (A.16)), groups of motions and their exponential coordinates
((A.17) to (A.33)), points, screws and momenta of a rigid body ((2.9), (2.18), (2.69)), an arm with
gearwheels ((2.41)), a linear actuator on a turning joint ((2.50)), and the elements of bond graphs
((B.6)). Also a wedge with friction ([SR20] (1)) and a free mass ([Mor17] (1)). Each line that is
printed says how far the two routes differ.

Run: python examples/foundations.py
"""

from collections.abc import Callable
import math

from momenta.momentum import quasi_velocity_rates
from momenta.ports import connect, storage
import numpy as np
import pinocchio as pin

from walking_control.models import contact

Field = Callable[[np.ndarray], np.ndarray]
STEP = 1e-5  # of differences


def skew(w: np.ndarray) -> np.ndarray:
    """Return the matrix of the cross product with w ((2.13))."""
    return np.asarray(pin.skew(w))


def twist_matrix(twist: np.ndarray) -> np.ndarray:
    """Return the matrix of a twist, angular part first, ``(4, 4)``."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = skew(twist[:3]), twist[3:]
    return matrix


def twist_of(matrix: np.ndarray) -> np.ndarray:
    """Return the twist of a matrix, angular part first, ``(6,)``."""
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0], *matrix[:3, 3]])


def adjoint(pose: np.ndarray) -> np.ndarray:
    """Return what carries twists through a pose ``(4, 4)``, angular part first, ``(6, 6)``."""
    R, p = pose[:3, :3], pose[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def series(terms: Callable[[int], np.ndarray], count: int = 30) -> np.ndarray:
    """Return the sum of terms 0 to `count`."""
    total = terms(0)
    for order in range(1, count):
        total = total + terms(order)
    return total


def exponential(V: np.ndarray, t: float = 1.0) -> np.ndarray:
    """Return the integral curve of a left-invariant field at t, by its series ((A.26))."""
    return series(lambda i: np.linalg.matrix_power(t * V, i) / math.factorial(i), 40)


def difference(function: Callable[[float], np.ndarray]) -> np.ndarray:
    """Return the derivative at 0, by central differences."""
    return (function(STEP) - function(-STEP)) / (2.0 * STEP)


def gradient(function: Callable[[np.ndarray], float], p: np.ndarray) -> np.ndarray:
    """Return the gradient of a function of points."""
    return np.array(
        [float(difference(lambda t, e=e: np.array(function(p + t * e)))) for e in np.eye(len(p))]
    )


# vectors, co-vectors, tensors: [DS09] A.1


def coordinates(basis: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the coordinates of a vector in a basis, whose columns are its elements ((A.1))."""
    return np.linalg.solve(basis, v)


def dual_basis(basis: np.ndarray) -> np.ndarray:
    """Return the co-vectors that are 1 of one element and 0 of the others, as rows ((A.7))."""
    return np.linalg.inv(basis)


def vectors() -> float:
    """Return by how much power and kinetic energy change with the basis of the rates.

    The rates of four joints, one by one or each added to those before; torques are co-vectors
    ((A.5), (A.6), (A.8) to (A.10)), the mass matrix is a tensor of two vectors ((A.11)).
    """
    rng = np.random.default_rng(0)
    rates, torques = rng.normal(size=(2, 4))
    root = rng.normal(size=(4, 4))
    mass, basis = root @ root.T + np.eye(4), np.tril(np.ones((4, 4)))
    there = coordinates(basis, rates)
    covector = torques @ basis  # what it makes of each element
    tensor = np.einsum('ij,ik,jl->kl', mass, basis, basis)
    again = covector @ dual_basis(basis)
    return max(
        float(np.abs(dual_basis(basis) @ basis - np.eye(4)).max()),
        float(np.abs(again - torques).max()),
        abs(covector @ there - torques @ rates),
        abs(there @ tensor @ there - rates @ mass @ rates),
        float(np.abs(basis @ there - rates).max()),
    )


# brackets and fields: [DS09] A.1, A.2


def commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the bracket of two matrices."""
    return A @ B - B @ A


def brackets() -> float:
    """Return by how much twists miss what a Lie bracket obeys ((A.2) to (A.4))."""
    a, b, c = (twist_matrix(x) for x in np.random.default_rng(1).normal(size=(3, 6)))
    linear = commutator(2.0 * a - 3.0 * b, c) - 2.0 * commutator(a, c) + 3.0 * commutator(b, c)
    turned = commutator(a, b) + commutator(b, a)
    jacobi = sum(commutator(x, commutator(y, z)) for x, y, z in ((a, b, c), (b, c, a), (c, a, b)))
    return float(max(np.abs(each).max() for each in (linear, turned, jacobi)))


def flow(field: Field, p: np.ndarray, t: float, count: int = 20) -> np.ndarray:
    """Return where the integral curve of a field from p is at t, by Runge and Kutta (Fig. A.2)."""
    h = t / count
    for _ in range(count):
        a = field(p)
        b = field(p + 0.5 * h * a)
        c = field(p + 0.5 * h * b)
        p = p + h / 6.0 * (a + 2.0 * b + 2.0 * c + field(p + h * c))
    return p


def along(field: Field, function: Callable[[np.ndarray], float], p: np.ndarray) -> float:
    """Return the rate of a function along the integral curve of a field from p ((A.15))."""
    return float(difference(lambda t: np.array(function(flow(field, p, t, 1)))))


def field_bracket(X: Field, Y: Field, p: np.ndarray) -> np.ndarray:
    """Return the bracket of two fields at p, by the derivatives of both."""
    return difference(lambda t: Y(p + t * X(p))) - difference(lambda t: X(p + t * Y(p)))


def fields() -> tuple[float, float]:
    """Return errors of (A.15) and (A.16), and of the way a board goes sideways.

    One field drives a board ahead, the other turns it. Ahead, turned, back and turned back it has
    moved sideways, by their bracket.
    """

    def ahead(p: np.ndarray) -> np.ndarray:
        return np.array([np.cos(p[2]), np.sin(p[2]), 0.0])

    def turn(p: np.ndarray) -> np.ndarray:
        return np.array([0.0, 0.0, 1.0])

    def height(p: np.ndarray) -> float:
        return float(np.sin(p[0]) * p[1] + p[2] ** 2 * p[0])

    p = np.array([0.3, -0.4, 0.7])
    rate = abs(along(ahead, height, p) - gradient(height, p) @ ahead(p))
    between = field_bracket(ahead, turn, p)
    h = 1e-3  # of differences of differences: between rounding and curvature

    def twice(X: Field, Y: Field) -> float:
        """Return the rate along X of the rate of the height along Y."""
        total = 0.0
        for there in (1.0, -1.0):
            q = flow(X, p, there * h, 1)
            total += there * (height(flow(Y, q, h, 1)) - height(flow(Y, q, -h, 1)))
        return total / (2.0 * h) ** 2

    printed = twice(ahead, turn) - twice(turn, ahead)
    q = p
    for field, way in ((ahead, h), (turn, h), (ahead, -h), (turn, -h)):
        q = flow(field, q, way)
    sideways = (q - p) / h**2
    return (
        max(rate, abs(printed - gradient(height, p) @ between)),
        float(np.abs(sideways - between).max()),
    )


# groups of motions: [DS09] A.3


def planar_motion(angle: float, place: np.ndarray) -> np.ndarray:
    """Return a motion in the plane as a matrix ((A.20), (A.21), (A.24)), ``(3, 3)``."""
    c, s = np.cos(angle), np.sin(angle)
    return np.block([[np.array([[c, -s], [s, c]]), np.reshape(place, (2, 1))], [0.0, 0.0, 1.0]])


def turn_by_quaternion(axis: np.ndarray, angle: float, v: np.ndarray) -> np.ndarray:
    """Return a vector turned by the unit quaternion (A.22), ``(3,)``."""
    w, n = np.cos(0.5 * angle), np.sin(0.5 * angle) * axis
    return v + 2.0 * np.cross(n, np.cross(n, v) + w * v)


def groups() -> float:
    """Return by how much motions miss the rules of a group, and their products (A.23)."""
    rng = np.random.default_rng(2)
    a, b, c = (planar_motion(angle, rng.normal(size=2)) for angle in (0.3, -1.2, 2.0))
    parts = np.hstack((b[:2, :2] @ a[:2, :2], (b[:2, 2] + b[:2, :2] @ a[:2, 2])[:, None]))
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    v = rng.normal(size=3)
    turned = turn_by_quaternion(axis, 0.8, v) - exponential(skew(0.8 * axis)) @ v
    both = turn_by_quaternion(axis, 0.8 + 2.0 * np.pi, v) - turn_by_quaternion(axis, 0.8, v)
    apart = (
        a @ np.eye(3) - a,  # (A.17)
        a @ (b @ c) - (a @ b) @ c,  # (A.18)
        a @ np.linalg.inv(a) - np.eye(3),  # (A.19)
        (b @ a)[:2] - parts,
        turned,
        both,  # two quaternions are one turn
    )
    return float(max(np.abs(each).max() for each in apart))


def rates_to_twist(phi: np.ndarray) -> np.ndarray:
    """Return what makes the twist of the rates of exponential coordinates ((A.33)), ``(6, 6)``."""
    ad = np.block([[skew(phi[:3]), np.zeros((3, 3))], [skew(phi[3:]), skew(phi[:3])]])
    return series(lambda i: (-1.0) ** i / math.factorial(i + 1) * np.linalg.matrix_power(ad, i))


def exponential_coordinates() -> float:
    """Return errors of the curve (A.25), the coordinates (A.27) to (A.29) and the twist (A.33)."""
    rng = np.random.default_rng(3)
    phi, rate, start = rng.normal(scale=0.6, size=6), rng.normal(size=6), rng.normal(size=6)
    V, base = twist_matrix(phi), exponential(twist_matrix(start))
    curve = difference(lambda t: exponential(V, 0.7 + t)) - exponential(V, 0.7) @ V

    def pose(t: float) -> np.ndarray:
        return base @ exponential(twist_matrix(phi + t * rate))

    H, dH = pose(0.0), difference(pose)
    A, dA = twist_matrix(phi), twist_matrix(rate)

    def sorted_products(i: int) -> np.ndarray:
        """Return the part of (A.30) with i factors A around the rate of A."""
        power = np.linalg.matrix_power
        parts = (power(A, k) @ dA @ power(A, i - k) for k in range(i + 1))
        return sum(parts, np.zeros((4, 4))) / math.factorial(i + 1)

    def nested(i: int) -> np.ndarray:
        """Return the part of (A.32) with i brackets."""
        term = dA
        for _ in range(i):
            term = commutator(A, term)
        return (-1.0) ** i / math.factorial(i + 1) * term

    said = rates_to_twist(phi) @ rate
    found = np.linalg.solve(H, dH)
    apart = (
        curve,
        np.linalg.solve(base, dH) - series(sorted_products),
        found - series(nested),
        twist_of(found) - said,
        adjoint(H) @ twist_of(found) - twist_of(dH @ np.linalg.inv(H)),
    )
    return float(max(np.abs(each).max() for each in apart))


# rigid bodies and mechanisms: [DS09] 2.1 to 2.3


def tilted(theta: float, a: float, b: float) -> np.ndarray:
    """Return the pose (2.9) of an ellipsoid that leans over a plane, ``(4, 4)``."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, 0, s, 0], [0, 1, 0, a], [-s, 0, c, b], [0, 0, 0, 1]])


def point_of_ellipsoid(theta: float, a: float, b: float) -> float:
    """Return by how much the point (2.10) differs from the same by a turn about an axis."""
    point = np.array([0.0, 2.0, 1.0])
    printed = tilted(theta, a, b) @ [*point, 1.0]
    turned = pin.exp3(theta * np.array([0.0, 1.0, 0.0])) @ point + [0.0, a, b]
    closed = [np.sin(theta), 2.0 + a, np.cos(theta) + b]
    return float(max(np.abs(printed[:3] - turned).max(), np.abs(turned - closed).max()))


def screw(twist: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return axis, a place on it, turning and sliding of a twist ((2.18), Chasles).

    Args:
        twist: Angular part first, ``(6,)``.
    """
    w, v = twist[:3], twist[3:]
    turning = float(np.linalg.norm(w))
    if turning == 0.0:
        sliding = float(np.linalg.norm(v))
        return (v / sliding if sliding else np.eye(3)[2]), np.zeros(3), 0.0, sliding
    axis = w / turning
    sliding = float(axis @ v)
    return axis, np.cross(axis, v - sliding * axis) / turning, turning, sliding


def chasles() -> float:
    """Return by how much (2.18) misses a twist, and the motion leaves the axis."""
    worst = 0.0
    for twist in (*np.random.default_rng(4).normal(size=(20, 6)), np.array([0, 0, 0, 1.0, 2, 3])):
        axis, place, turning, sliding = screw(twist)
        said = np.concatenate((turning * axis, turning * np.cross(place, axis) + sliding * axis))
        motion = exponential(twist_matrix(twist))
        moved = (motion @ [*place, 1.0])[:3]
        apart = np.abs(moved - place - sliding * axis).max()
        worst = max(worst, float(np.abs(said - twist).max()), float(apart))
    return worst


def gearwheel_arm(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Jacobian and pose of the end of an arm with gearwheels ((2.41) to (2.43)).

    Args:
        q: A slide, m, a turn of both wheels, rad, and another slide, m.
    """
    slide = np.eye(4)
    slide[1, 3] = -q[0]
    c, s = np.cos(q[1]), np.sin(q[1])
    wheel = np.array([[1, 0, 0, 0], [0, c, s, 0], [0, -s, c, 3], [0, 0, 0, 1.0]])
    out = np.eye(4)
    out[2, 3] = q[2]
    twists = np.array([[0, 0, 0, 0, -1, 0], [-1, 0, 0, 0, -3, 0], [0, 0, 0, 0, 0, 1.0]])
    reached = (np.eye(4), slide, slide @ wheel)
    J = np.column_stack([adjoint(H) @ T for H, T in zip(reached, twists, strict=True)])
    return J, slide @ wheel @ out


def arm_error() -> tuple[float, float]:
    """Return errors of that Jacobian against differences, and of the printed (2.43)."""
    q = np.array([0.4, 0.7, 0.2])
    J, pose = gearwheel_arm(q)
    columns = [
        twist_of(difference(lambda t, e=e: gearwheel_arm(q + t * e)[1]) @ np.linalg.inv(pose))
        for e in np.eye(3)
    ]
    printed = np.zeros((6, 3))
    printed[4, 0], printed[0, 1], printed[4:, 1] = -1.0, -1.0, (-3.0, q[0])
    printed[4:, 2] = np.sin(q[1]), np.cos(q[1])
    apart = np.abs(J - np.column_stack(columns)).max()
    return float(apart), float(np.abs(J - printed).max())


def linear_actuator() -> float:
    """Return by how much the torque (2.51) of a linear actuator misses force times lengthening.

    A joint turns link j about the x axis of link i, and the actuator pulls between a point of each.
    """
    angle, pull = 0.6, 40.0  # rad, N
    here, there = np.array([0.0, -0.2, 0.1]), np.array([0.0, 0.1, 0.5])  # m, in i and in j

    def end(q: float) -> np.ndarray:
        return np.asarray(pin.exp3(np.array([q, 0.0, 0.0])) @ there)

    def length(q: float) -> np.ndarray:
        return np.array(np.linalg.norm(end(q) - here))

    force = pull * (end(angle) - here) / length(angle)
    wrench = np.concatenate((np.cross(end(angle), force), force))
    relative = np.array([1.0, 0, 0, 0, 0, 0])  # the motion X that the joint allows
    # (2.50): behind the joint there is one column more, so the other wrench cancels elsewhere
    before = np.column_stack((np.arange(6.0), np.zeros(6)))
    behind = before + np.column_stack((np.zeros(6), relative))
    torque = behind.T @ wrench - before.T @ wrench
    work = pull * difference(lambda t: length(angle + t))
    return float(max(abs(torque[1] - work), abs(torque[0])))


INERTIA = np.diag([0.4, 0.7, 0.9, 2.0, 2.0, 2.0])  # about its middle, kg m^2 and kg


def turning(twist: np.ndarray) -> np.ndarray:
    """Return how the momentum of a free body changes in its own axes ((2.85)), ``(6,)``."""
    p = INERTIA @ twist
    return np.concatenate(
        (np.cross(p[:3], twist[:3]) + np.cross(p[3:], twist[3:]), np.cross(p[3:], twist[:3]))
    )


def on_poses() -> float:
    """Return by how much theorem 2.18 misses a free body ((2.69) to (2.80)).

    Poses are no vector space. Around each, exponential coordinates take their place, whose rates
    are the twist by (A.33); at the pose itself both are the same.
    """
    twist, wrench = np.random.default_rng(6).normal(size=(2, 6))
    p = INERTIA @ twist
    slope = np.column_stack(
        [difference(lambda t, e=e: rates_to_twist(t * e).T @ p) for e in np.eye(6)]
    )
    _, rate = quasi_velocity_rates(rates_to_twist(np.zeros(6)), slope, np.zeros(6), twist, wrench)
    return float(np.abs(rate - turning(twist) - wrench).max())


def world_momentum(duration: float = 1.0, step: float = 1e-3) -> tuple[float, float]:
    """Return errors of the momentum of a free body in the axes of the world ((2.86), (2.87)).

    A body spins and flies, moved by Euler's equations in its own axes. Its momentum in the axes of
    the world stays without a wrench (first figure), and grows by the wrench else (second).
    """

    def rates(x: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        H, twist = x[:16].reshape(4, 4), x[16:]
        # the power of a wrench is the same in both axes, so it goes the other way
        force = adjoint(H).T @ wrench
        change = np.linalg.solve(INERTIA, turning(twist) + force)
        return np.concatenate(((H @ twist_matrix(twist)).ravel(), change))

    def momentum(x: np.ndarray) -> np.ndarray:
        H = x[:16].reshape(4, 4)
        return np.linalg.solve(adjoint(H).T, INERTIA @ x[16:])

    errors = []
    for wrench in (np.zeros(6), np.array([0.3, -0.2, 0.1, 1.0, 0.5, -2.0])):
        x = np.concatenate((np.eye(4).ravel(), [1.0, -2.0, 0.5, 0.3, 0.2, -0.1]))
        first = momentum(x)
        for _ in range(round(duration / step)):
            a = rates(x, wrench)
            b = rates(x + 0.5 * step * a, wrench)
            c = rates(x + 0.5 * step * b, wrench)
            x = x + step / 6.0 * (a + 2.0 * b + 2.0 * c + rates(x + step * c, wrench))
        errors.append(float(np.abs(momentum(x) - first - duration * wrench).max()))
    return errors[0], errors[1]


# ports: [DS09] B.2


def elements() -> tuple[float, float]:
    """Return the power that elements of bond graphs lose, and the error of a stored energy (B.6).

    A transformer, a gyrator, a gyrator of one bond and both junctions keep the power. A mass and a
    spring, which store it ((B.6)), swing together with the energy they began with.
    """
    rng = np.random.default_rng(5)
    X, f, e = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=3)
    Y, g, shares = skew(rng.normal(size=3)), rng.normal(size=2), rng.normal(size=3)
    efforts = shares - shares.mean()  # of a junction of one flow, summing to zero
    kept = (
        (X.T @ e) @ f - e @ (X @ f),  # transformer: f2 = X f1, e1 = X^T e2
        (X.T @ e) @ g - e @ (X @ g),  # gyrator: e2 = X f1, e1 = X^T f2
        (Y @ e) @ e,
        efforts.sum() * 0.7,
    )
    mass, spring = storage(1.0 / 2.0), storage(9.0)  # 2 kg, 9 N/m
    both, x, step = connect(mass, spring), np.array([1.0, 0.2]), 1e-3
    first = 0.5 * x @ both.Q @ x
    swing = 0.5 * step * both.J @ both.Q
    for _ in range(3000):  # by the middle of each step, which keeps the energy
        x = np.linalg.solve(np.eye(2) - swing, x + swing @ x)
    return float(max(map(abs, kept))), float(abs(0.5 * x @ both.Q @ x - first))


# the beginnings of other papers


def wedge(friction: float, angle: float, forward: bool) -> tuple[float, float]:
    """Return acceleration, m/s^2, and force, N, between wedge and block ([SR20] (1), Fig. 2).

    A block of 3 kg is pushed by 2 N against a wedge of 0.7 kg and 5 N.

    Args:
        friction: Between both.
        angle: Of the slope, rad.
        forward: Whether the block drives the wedge, else the wedge the block.
    """
    M, m, pushes, resists = 3.0, 0.7, 2.0, -5.0
    shared = np.cos(angle) + (1.0 if forward else -1.0) * friction * np.sin(angle)
    # the wedge moves 1 / cos(angle) times as far as the block
    rows = np.array([[M, 1.0], [m / np.cos(angle), -shared]])
    acceleration, force = np.linalg.solve(rows, [pushes, -resists])
    return float(acceleration), float(force)


def wedge_efficiencies(friction: float, angle: float) -> tuple[float, float]:
    """Return forward and backward efficiency of a wedge ([SR20] II-B).

    Args:
        friction: Coefficient of friction of the slope.
        angle: Of the slope, rad; the reduction is its cosine.
    """
    loss = friction * np.tan(angle)
    return float(1.0 / (1.0 + loss)), float(max(0.0, 1.0 - loss))


def wedge_error(friction: float = 0.3, angle: float = 0.5) -> float:
    """Return by how much the wedge by its efficiencies ((4), (5)) misses that by Newton (1)."""
    forward, backward = wedge_efficiencies(friction, angle)
    worst = 0.0
    for drives, share in ((True, forward), (False, 1.0 / backward)):
        wanted = (2.0 + share * 5.0 / np.cos(angle)) / (3.0 + share * 0.7 / np.cos(angle) ** 2)
        worst = max(worst, abs(wedge(friction, angle, drives)[0] - wanted))
    return worst


def free_mass(force: np.ndarray, mass: float) -> np.ndarray:
    """Return the acceleration of a free mass, m/s^2 ([Mor17] (1))."""
    free = np.zeros((3, 0))
    return np.asarray(contact.acceleration(mass * np.eye(3), force, free, np.zeros(0)))


def main() -> dict[str, float]:
    """Print how far the two routes of each differ; return the figures."""
    derivative, sideways = fields()
    jacobian, printed = arm_error()
    stays, grows = world_momentum()
    kept, stored = elements()
    force = np.array([1.0, -2.0, 0.5])
    figures = {
        'power and energy in two bases, W, J': vectors(),
        'bracket of twists': brackets(),
        'function along fields': derivative,
        'four short ways, sideways': sideways,
        'groups of motions': groups(),
        'exponential coordinates': exponential_coordinates(),
        'point of an ellipsoid': point_of_ellipsoid(0.4, 0.3, 0.9),
        'screws': chasles(),
        'Jacobian of the gearwheel arm': jacobian,
        'the same as printed': printed,
        'linear actuator, N m': linear_actuator(),
        'free body by theorem 2.18': on_poses(),
        'its momentum in the world': stays,
        'the same under a wrench': grows,
        'power of bond-graph elements, W': kept,
        'energy of a mass and a spring, J': stored,
        'wedge, m/s^2': wedge_error(),
        'free mass, m/s^2': float(np.abs(free_mass(force, 2.0) - force / 2.0).max()),
    }
    for name, value in figures.items():
        print(f'{name:>36}: {value:.1e}')
    return figures


if __name__ == '__main__':
    main()
