# SPDX-License-Identifier: Apache-2.0
"""Support terms as generated code: CasADi expressions from the URDF, written out as flat Python.

Pinocchio reads the URDF; its tree of placements and inertias is walked once with symbols. Numbers
that are not zero stay parameters of the generated function, so that another mass or slope needs
no new code. numba compiles the result (see `simulation.rigid.compiled`).

Simplification: planar robots of revolute and prismatic joints.
"""

from collections.abc import Iterator

import casadi as ca
import numpy as np
import pinocchio as pin

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models.dynamics import Dynamics


class _Numbers:
    """Turns numbers into parameters: zero stays zero, each other value gets a symbol.

    Equal values of one kind (mass, length...) share a symbol, as those of equal legs do. Kinds
    keep values apart that are equal by chance, so that the code depends on the structure alone.
    """

    def __init__(self) -> None:
        self.values: list[float] = []
        self.symbols: list[ca.SX] = []
        self._known: dict[tuple[str, float], ca.SX] = {}

    def __call__(self, value: float, kind: str) -> ca.SX | float:
        value = float(value)
        if value == 0.0:
            return 0.0
        key = kind, abs(value)
        if key not in self._known:
            self._known[key] = ca.SX.sym(f'p{len(self.values)}')
            self.values.append(abs(value))
            self.symbols.append(self._known[key])
        return -self._known[key] if value < 0.0 else self._known[key]


def _direction(angle: ca.SX | float) -> ca.SX:
    """Return the rotation by `angle` about +y, acting on (x, z)."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, s), ca.horzcat(-s, c))


class _Tree:
    """The planar kinematics of a robot with a foot of its own at the origin."""

    def __init__(self, dynamics: Dynamics, support: int, numbers: _Numbers) -> None:
        self.robot, self.model, self.numbers = dynamics.robot, dynamics.model, numbers
        self.n = len(self.robot.coordinates)
        self.q, self.v = ca.SX.sym('q', self.n), ca.SX.sym('v', self.n)
        self.lift = self.robot.lifts[self.robot.feet[support]]
        self._rotations: dict[tuple[tuple[float, ...], float], ca.SX] = {}
        self._walk()
        feet = [self._foot(foot) for foot in self.robot.feet]
        self.origin = feet[support]
        self.other_foot = feet[1 - support] - self.origin

    def rotation(self, coefficients: np.ndarray, offset: float) -> ca.SX:
        """Return the rotation by ``coefficients . q + offset``, shared between equal angles."""
        key = tuple(np.round(coefficients, 9)), round(offset, 12)
        if key not in self._rotations:
            angle = sum((float(c) * self.q[i] for i, c in enumerate(key[0]) if c), 0.0)
            self._rotations[key] = _direction(angle + self.numbers(offset, 'angle'))
        return self._rotations[key]

    def _walk(self) -> None:
        """Compute angle and position of every joint frame, base first."""
        model = self.model
        self.angles = {1: (self.lift[0], 0.0)}
        self.positions = {1: ca.SX.zeros(2)}
        rows = {
            model.getJointId(name): self.lift[1 + i] for i, name in enumerate(self.robot.joints)
        }
        for i in range(2, model.njoints):
            parent = model.parents[i]
            placement = model.jointPlacements[i]
            coefficients, offset = self.angles[parent]
            position = self.positions[parent] + self._point(parent, placement.translation)
            turn = placement.rotation
            offset = offset + float(np.arctan2(turn[0, 2], turn[0, 0]))
            axis = _axis(model, i)
            if abs(axis[4]) == 1.0:
                coefficients = coefficients + axis[4] * rows[i]
            else:
                slide = self.rotation(coefficients, offset) @ ca.DM(axis[[0, 2]])
                position = position + slide * (ca.DM(rows[i]).T @ self.q)
            self.angles[i], self.positions[i] = (coefficients, offset), position

    def _point(self, joint: int, translation: np.ndarray, kind: str = 'length') -> ca.SX:
        point = ca.vertcat(self.numbers(translation[0], kind), self.numbers(translation[2], kind))
        return self.rotation(*self.angles[joint]) @ point

    def _foot(self, foot: str) -> ca.SX:
        frame = self.model.frames[self.model.getFrameId(foot)]
        return self.positions[frame.parentJoint] + self._point(
            frame.parentJoint, frame.placement.translation
        )

    def bodies(self) -> Iterator[tuple[ca.SX | float, ca.SX | float, ca.SX, np.ndarray]]:
        """Yield mass, inertia about y, centre of mass and angle coefficients of each body."""
        for i in range(1, self.model.njoints):
            inertia = self.model.inertias[i]
            if inertia.mass > 0.0:
                com = self.positions[i] + self._point(i, inertia.lever, 'lever') - self.origin
                yield (
                    self.numbers(inertia.mass, 'mass'),
                    self.numbers(inertia.inertia[1, 1], 'inertia'),
                    com,
                    self.angles[i][0],
                )


def _axis(model: pin.Model, i: int) -> np.ndarray:
    joint = model.joints[i]
    data = joint.createData()
    joint.calc(data, np.zeros(model.nq))
    axis = np.asarray(data.S).reshape(6)
    turns = np.isclose(abs(axis[4]), 1.0) and np.isclose(np.abs(axis).sum(), 1.0)
    slides = np.isclose(np.hypot(axis[0], axis[2]), 1.0) and np.isclose(axis[1], 0.0)
    require(
        turns or slides,
        f'joint {model.names[i]}',
        value=axis.tolist(),
        limit='a planar robot turns about y or slides in x-z',
        error=IncompatiblePlant,
    )
    return np.round(axis) if turns else axis


def support_terms(dynamics: Dynamics) -> tuple[list[ca.Function], np.ndarray]:
    """Return the support terms as expressions.

    Args:
        dynamics: `Dynamics`; gives the tree and its numbers.

    Returns:
        ``(functions, values)``: for each foot a CasADi function (q, v, p) -> terms with that foot
        as stance foot, and the values of the parameters p; the first two are gravity along x, z.

    Raises:
        IncompatiblePlant: A joint leaves the plane.
    """
    numbers, gravity = _Numbers(), ca.SX.sym('g', 2)
    trees = [_Tree(dynamics, support, numbers) for support in range(len(dynamics.robot.feet))]
    terms = [_terms(tree, gravity) for tree in trees]
    parameters = ca.vertcat(gravity, *numbers.symbols)
    functions = [
        ca.Function(
            f'terms_{i}',
            [tree.q, tree.v, parameters],
            [ca.densify(ca.cse(ca.simplify(expression)))],
            ['q', 'v', 'p'],
            ['terms'],
        )
        for i, (tree, expression) in enumerate(zip(trees, terms))
    ]
    slope = dynamics.model.gravity.linear
    return functions, np.array([slope[0], slope[2], *numbers.values])


def _terms(tree: _Tree, gravity: ca.SX) -> ca.SX:
    """Return the flat vector of `TermsLayout` for one support."""
    numbers, robot, lift = tree.numbers, tree.robot, tree.lift[1:]
    M, bias = _dynamics(tree, gravity)
    for joint, motor in robot.actuators.items():
        row = lift[robot.joint_index(joint)]
        M[2:, 2:] += numbers(motor.armature, 'armature') * np.outer(row, row)
    for joint, spring in robot.springs.items():
        row = ca.DM(lift[robot.joint_index(joint)])
        bias[2:] += row * (
            numbers(spring.stiffness, 'stiffness') * (row.T @ tree.q - numbers(spring.rest, 'rest'))
            + numbers(spring.damping, 'damping') * (row.T @ tree.v)
        )
    J = ca.jacobian(tree.other_foot, tree.q)
    return ca.vertcat(
        ca.vec(M),
        bias,
        tree.other_foot,
        ca.vec(J.T),
        ca.jtimes(J @ tree.v, tree.q, tree.v),
        -tree.origin,
    )


def _dynamics(tree: _Tree, gravity: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return mass matrix and bias from the bodies' Jacobians."""
    n = tree.n
    M, bias = ca.SX(n + 2, n + 2), ca.SX(n + 2, 1)
    for mass, inertia, com, angle in tree.bodies():
        J_com = ca.jacobian(com, tree.q)
        J = ca.horzcat(ca.SX.eye(2), J_com)
        turn = ca.DM(np.concatenate(([0.0, 0.0], angle)))
        drift = ca.jtimes(J_com @ tree.v, tree.q, tree.v)
        M += mass * (J.T @ J) + inertia * (turn @ turn.T)
        bias += mass * (J.T @ (drift - gravity))
    return M, bias


_TWO = {'OP_ADD': '{} + {}', 'OP_SUB': '{} - {}', 'OP_MUL': '{} * {}', 'OP_DIV': '{} / {}'}
_ONE = {
    'OP_NEG': '-{}',
    'OP_SQ': '{0} * {0}',
    'OP_SIN': 'math.sin({})',
    'OP_COS': 'math.cos({})',
    'OP_TWICE': '2.0 * {}',
    'OP_INV': '1.0 / {}',
    'OP_SQRT': 'math.sqrt({})',
    'OP_ASSIGN': '{}',
}


def write_python(function: ca.Function, name: str) -> str:
    """Return the source of a flat Python function that does what a CasADi function does.

    Args:
        function: CasADi SX function with vector inputs and one vector output.
        name: Name of the Python function; its arguments are the inputs and the output array.
    """
    arguments = [function.name_in(i) for i in range(function.n_in())]
    lines = [f'def {name}({", ".join(arguments)}, out):']
    templates = {getattr(ca, op): text for op, text in {**_TWO, **_ONE}.items()}
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        source, target = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            lines.append(f'    out[{target[1]}] = w{source[0]}')
        elif op == ca.OP_INPUT:
            lines.append(f'    w{target[0]} = {arguments[source[0]]}[{source[1]}]')
        elif op == ca.OP_CONST:
            lines.append(f'    w{target[0]} = {function.instruction_constant(k)!r}')
        else:
            lines.append(f'    w{target[0]} = ' + templates[op].format(*[f'w{i}' for i in source]))
    return '\n'.join(lines) + '\n'
