# SPDX-License-Identifier: Apache-2.0
"""Whether a posture can be held at all, and if not, which limits would have to give by how much.

No solver's flag is trusted. The verdict comes from one program: the least share by which every
limit, each in its own scale, would have to give. Zero yields a point that meets them all. For the
reason each limit has an amount of its own (doc/controllers/static_torque_evidence.md). A sole whose
edges move out by d changes its rows by d times the force that presses, a product of two unknowns:
each program takes the force from the one before (Newton's method). An amount is read off the forces
found, so lifting every limit by its amount makes these very forces possible.

Solved one program at a time, an explanation can be spread over ticks.
"""

from collections.abc import Generator, Iterator

import numpy as np

from walking_control.models import ROOT
from walking_control.statics import (
    CENTRE_OF_PRESSURE,
    edge_gains,
    FRICTION,
    LEAST_FORCE,
    LIMITS,
    MAX_FORCE,
    NO_BALANCE,
    Shortfall,
    StaticProgram,
    TORQUE,
    TORSION,
    UNILATERAL,
)
from walking_control.statics.solvers import Decider, NO_BOUND, Problem

# What a limit costs to lift by its whole scale. A cap and a motor are somebody's choice; friction
# and soles are the robot's and the floor's; a floor that pulls is the last thing to ask for.
_PRICES = {
    MAX_FORCE: 0.03,
    LEAST_FORCE: 0.03,
    TORQUE: 0.1,
    TORSION: 2.0,
    FRICTION: 2.0,
    CENTRE_OF_PRESSURE: 1.0,
    UNILATERAL: 20.0,
}
_CURVATURE = 1e-6  # chooses among equals
_DEARER = 3.0  # a smaller set of limits may cost so many times the least sum
_ROUNDS = 6  # of Newton's method
_CONVERGED = 1e-6  # of the sole
_LEAST_PRESSURE = 0.02  # of the weight: a foot that carries less counts as this at first
_LEVER = 0.05  # m: a motor is not scaled below the weight on so short a lever


Amounts = dict[tuple[str, str], float]  # (limit, where) -> by how much
Lifting = tuple[float, np.ndarray, Amounts]  # cost, forces, amounts


def nearest_point(program: StaticProgram, decider: Decider) -> np.ndarray | None:
    """Return the contact forces that break the limits of an assembled program least.

    Args:
        program: The `StaticProgram`, assembled.

    Returns:
        Forces, ``(n,)``, for `StaticProgram.judge` to say whether they break any; None where no
        forces balance the robot.
    """
    problem, weight = program.problem, program.dynamics.weight
    if program.violation is None:
        n = problem.rows.shape[1]
        scale = np.array([_scale(program, *label) for label in program.labels])
        rows = np.zeros((len(problem.bound) + 1, n + 1))
        rows[ROOT:-1, n] = scale / weight
        rows[-1, n] = 1.0
        gradient = np.zeros(n + 1)
        gradient[n] = 1.0
        program.violation = Problem(
            _CURVATURE * np.eye(n + 1), gradient, rows, np.zeros(len(rows)), ROOT
        )
    least = program.violation
    least.rows[:-1, :-1] = problem.rows
    np.divide(problem.bound, weight, out=least.bound[:-1])
    least.bound[:-1][problem.bound <= -NO_BOUND] = -NO_BOUND
    x = decider.solve(least)
    return None if x is None else x[:-1] * weight


def _scale(program: StaticProgram, limit: str, where: str) -> float:
    """Return how much of a row counts as one: N or N m."""
    weight = program.dynamics.weight
    if limit == TORQUE:
        joint = program.dynamics.joints.index(where)
        return float(max(program.effort_limits[joint], _LEVER * weight))
    if limit in (CENTRE_OF_PRESSURE, TORSION):
        contact = program.contacts[where]
        return float(weight * max(0.25 * (contact.length + contact.width), 1e-3))
    return float(weight)


def imbalance(rows: np.ndarray, bound: np.ndarray, weight: float) -> float:
    """Return how far the centre of mass lies beside what contacts can carry, m.

    Args:
        rows: The base equations, six rows or more, ``(m, n)``: forces first.
        bound: ``(m,)``.
        weight: Of the robot, N.
    """
    stiff = np.array([1e6, 1e6, 1e6, 1.0, 1.0, 1.0])  # forces balance, moments as far as they can
    A, b = rows[:ROOT] * stiff[:, None], bound[:ROOT] * stiff
    left = b - A @ np.linalg.lstsq(A, b, rcond=1e-13)[0]
    return float(np.linalg.norm(left[3:])) / weight


class Explanation:
    """The reason why an assembled program has no solution, found step by step.

    Args:
        program: The `StaticProgram`; what it holds now is copied.
        forces: Contact forces near the reason, ``(n,)``, N; None where none are known.
    """

    def __init__(
        self, program: StaticProgram, decider: Decider, forces: np.ndarray | None = None
    ) -> None:
        self._program, self._decider = program, decider
        self._rows = program.problem.rows.copy()
        self._bound = program.problem.bound.copy()
        self._others = program.overloads()
        self._found: tuple[Shortfall, ...] | None = None
        self._steps = self._search(self._first_guess() if forces is None else forces)

    @property
    def done(self) -> bool:
        """Whether the reason is known."""
        return self._found is not None

    @property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """The limits that would have to give, the one to name first in front; finishes the work."""
        while not self.step():
            pass
        assert self._found is not None
        return self._found

    def step(self) -> bool:
        """Solve one program more (some 0.1 ms); return whether the reason is known."""
        if self._found is None:
            next(self._steps, None)
        return self._found is not None

    def _first_guess(self) -> np.ndarray:
        forces = np.zeros(self._rows.shape[1])
        for part in self._program.slices:
            forces[part.start + 2] = self._program.dynamics.weight / len(self._program.slices)
        return forces

    def _search(self, forces: np.ndarray) -> Iterator[None]:
        least = yield from self._newton(set(LIMITS), forces)
        if least is None or not (least[2] or self._others):
            self._found = self._others or (
                Shortfall(
                    NO_BALANCE,
                    ' and '.join(self._program.support),
                    imbalance(self._rows, self._bound, self._program.dynamics.weight),
                ),
            )
            return
        cost, forces, amounts = least
        for kind in sorted({kind for kind, _ in amounts}, key=_PRICES.__getitem__, reverse=True):
            used = {name for name, _ in amounts}
            if len(used) < 2 or kind not in used:
                continue
            fewer = yield from self._newton(used - {kind}, forces)
            if fewer is not None and fewer[0] <= _DEARER * cost:
                _, forces, amounts = fewer
        found = [Shortfall(limit, where, amount) for (limit, where), amount in amounts.items()]
        found += self._others
        self._found = tuple(sorted(found, key=lambda s: (-LIMITS.index(s.limit), -s.amount)))

    def _newton(self, kinds: set[str], forces: np.ndarray) -> Generator[None, None, Lifting | None]:
        """Return the least lifting of some kinds; None if none suffices."""
        relaxed = Relaxation(self._program, kinds)
        edge = 0.0
        best: Lifting | None = None
        for turn in range(_ROUNDS):
            problem = relaxed.assemble(
                self._rows, self._bound, forces, edge, _LEAST_PRESSURE if turn == 0 else 0.0
            )
            # that all limits together do not suffice must be certain; that fewer do not, need not
            x = (self._decider.solve if kinds == set(LIMITS) else self._decider.attempt)(problem)
            yield
            if x is None:
                return best
            forces, amounts = relaxed.read(x, self._rows, self._bound)
            cost = relaxed.cost(amounts)
            if best is None or cost < best[0]:
                best = cost, forces, amounts
            last, edge = edge, relaxed.edge_of(x)
            if abs(edge - last) <= _CONVERGED * relaxed.sole and all(
                kind in kinds for kind, _ in amounts
            ):
                break
        return best


class Relaxation:
    """A program whose limits of some kinds may give, each at its price.

    The unknowns are the contact forces in weights and the amounts in the limits' scales: one edge
    for all soles, and for each contact or joint one of each other kind.

    Args:
        kinds: Names of the limits that may give.
    """

    def __init__(self, program: StaticProgram, kinds: set[str]) -> None:
        self._program, self._kinds = program, kinds
        self._weight = program.dynamics.weight
        self._of: dict[tuple[str, str], list[int]] = {}  # the rows of each limit
        for i, label in enumerate(program.labels, ROOT):
            self._of.setdefault(label, []).append(i)
        self.sole = max(
            (0.25 * (contact.length + contact.width) for contact in program.contacts.values()),
            default=0.0,
        )
        self._gains = {name: edge_gains(contact) for name, contact in program.contacts.items()}
        self._amounts = [
            (kind, where)
            for kind, where in self._of
            if kind in kinds and kind not in (CENTRE_OF_PRESSURE, UNILATERAL)
        ]
        self._amounts += [
            (kind, name)
            for name, contact in program.contacts.items()
            for kind in (LEAST_FORCE, UNILATERAL)
            if kind in kinds and (kind == UNILATERAL or contact.min_force > 0.0)
        ]
        self._edge = CENTRE_OF_PRESSURE in kinds and self.sole > 0.0

    def cost(self, amounts: Amounts) -> float:
        """Return what amounts cost; the soles' edge counts once."""
        edge = max(
            (amount for (limit, _), amount in amounts.items() if limit == CENTRE_OF_PRESSURE),
            default=0.0,
        )
        return _PRICES[CENTRE_OF_PRESSURE] * edge / max(self.sole, 1e-9) + sum(
            _PRICES[limit] * amount / _scale(self._program, limit, where)
            for (limit, where), amount in amounts.items()
            if limit != CENTRE_OF_PRESSURE
        )

    def edge_of(self, x: np.ndarray) -> float:
        """Return how far an answer moves the soles' edges out, m."""
        return max(0.0, float(x[-1])) * self.sole if self._edge else 0.0

    def _block(self, name: str) -> slice:
        """Return the rows of a contact apart from its least force."""
        first = self._of[UNILATERAL, name][0] + 1
        return slice(first, first + len(self._gains[name]))

    def _parts(self) -> Iterator[tuple[str, slice]]:
        return zip(self._program.contacts, self._program.slices)

    def assemble(
        self, rows: np.ndarray, bound: np.ndarray, forces: np.ndarray, edge: float, pressure: float
    ) -> Problem:
        """Return the `Problem` of the least lifting, near forces and an edge.

        No foot counts as pressing with less than a share of the weight.
        """
        n, k, weight = rows.shape[1], len(self._amounts), self._weight
        m = len(rows)
        lowered = [i for i, (kind, _) in enumerate(self._amounts) if kind == LEAST_FORCE]
        A = np.zeros((m + k + self._edge + len(lowered), n + k + self._edge))
        b = np.zeros(len(A))
        A[:m, :n] = rows
        b[:m] = np.where(bound > -NO_BOUND, bound / weight, -NO_BOUND)
        gradient = np.zeros(n + k + self._edge)
        if self._edge:
            self._move_edges(A[:m], b[:m], forces / weight, edge, pressure)
            gradient[-1] = _PRICES[CENTRE_OF_PRESSURE]
        for i, (kind, where) in enumerate(self._amounts):
            scale = _scale(self._program, kind, where)
            self._let_give(A[:m], n + i, kind, where, scale / weight)
            gradient[n + i] = _PRICES[kind]
        A[m : m + k + self._edge, n:] = np.eye(k + self._edge)
        for row, i in enumerate(lowered, m + k + self._edge):  # no lower than to zero
            A[row, n + i] = -1.0
            b[row] = -self._program.contacts[self._amounts[i][1]].min_force / weight
        return Problem(_CURVATURE * np.eye(A.shape[1]), gradient, A, b, ROOT)

    def _let_give(self, A: np.ndarray, column: int, kind: str, where: str, size: float) -> None:
        if kind == UNILATERAL:  # presses as if a magnet did
            block = self._block(where)
            at = dict(self._parts())[where].start + 2
            A[block, column] = size * A[block, at]
        A[self._of[UNILATERAL if kind == LEAST_FORCE else kind, where], column] = size

    def _move_edges(
        self, A: np.ndarray, b: np.ndarray, forces: np.ndarray, edge: float, pressure: float
    ) -> None:
        """Write soles whose edges lie further out, and what a further metre would give."""
        for name, part in self._parts():
            block, gains = self._block(name), self._gains[name]
            A[block, part] += edge * gains
            pressing = forces[part].copy()
            pressing[2] = max(
                pressing[2] + self._program.contacts[name].adhesion / self._weight, pressure
            )
            gain = np.maximum(gains @ pressing, 0.0)
            A[block, -1] = self.sole * gain
            b[block] += edge * gain

    def read(
        self, x: np.ndarray, rows: np.ndarray, bound: np.ndarray
    ) -> tuple[np.ndarray, Amounts]:
        """Return forces, N, and by how much each limit must give for just these forces.

        Args:
            x: Solution of the program.
            rows: Of the limits, ``(m, n)``.
            bound: Of these rows, ``(m,)``.
        """
        program, n = self._program, rows.shape[1]
        forces = x[:n] * self._weight
        short = bound - rows @ forces
        given = dict(zip(self._amounts, x[n:]))
        amounts: Amounts = {}
        tolerance = 0.9 * program.tolerance  # what the verdict forgives is no reason
        for name, part in self._parts():
            stick = max(0.0, given.get((UNILATERAL, name), 0.0)) * self._weight
            block = self._block(name)
            pull = float(short[block.start - 1])  # below the least force
            stick = max(stick, pull - program.contacts[name].min_force)
            stick = stick if stick > tolerance else 0.0
            amounts[UNILATERAL, name] = stick
            amounts[LEAST_FORCE, name] = min(pull - stick, program.contacts[name].min_force)
            pressing = forces[part].copy()
            pressing[2] += program.contacts[name].adhesion + stick
            lack = short[block] - stick * rows[block, part.start + 2]
            self._read_contact(amounts, name, pressing, lack, self.edge_of(x))
        for (kind, where), places in self._of.items():
            if kind in (MAX_FORCE, TORQUE):
                amounts[kind, where] = float(max(short[places]))
        sizes = {
            label: amount * (self._weight if label[0] == CENTRE_OF_PRESSURE else 1.0)
            for label, amount in amounts.items()
        }
        least = max(1e-12, min(tolerance, max(sizes.values())))  # on the boundary the largest
        return forces, {label: amounts[label] for label, size in sizes.items() if size >= least}

    def _read_contact(
        self, amounts: Amounts, name: str, pressing: np.ndarray, lack: np.ndarray, largest: float
    ) -> None:
        """Read how far edges must move out, then what friction and twist still lack.

        The edge follows the pressure; for the twist's sake it goes no further than the largest.
        """
        gains, block = self._gains[name], self._block(name)
        kinds = [kind for kind, _ in self._program.labels[block.start - ROOT : block.stop - ROOT]]
        edges, twists, slides = (
            np.array([kind == wanted for kind in kinds])
            for wanted in (CENTRE_OF_PRESSURE, TORSION, FRICTION)
        )
        if self._edge and edges.any():
            gain = gains @ pressing
            need = lack / np.maximum(gain, 1e-9 * self._weight)
            edge = max(0.0, float(need[edges].max()))
            edge = max(edge, min(largest, float(need[twists].max())))
            amounts[CENTRE_OF_PRESSURE, name] = edge
            lack = lack - edge * gain
        else:
            amounts[CENTRE_OF_PRESSURE, name] = float(lack[edges].max(initial=0.0)) / max(
                float(pressing[2]), 1e-9 * self._weight
            )
        amounts[TORSION, name] = float(lack[twists].max(initial=0.0))
        amounts[FRICTION, name] = float(lack[slides].max())
