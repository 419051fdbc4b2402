# SPDX-License-Identifier: Apache-2.0
"""Efficient gaits by optimisation ([DS09] Definition 4.2), from a robot file and nothing else.

Several seeded first guesses are solved with polynomials of low degree, then of the wanted degree;
the quadrature is refined until the cost on its nodes agrees with the cost on a fine grid. What the
solver calls converged is checked against the constraints again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
import time

import numpy as np

from walking_control.gaits.gait import Gait
from walking_control.models import RobotFile, spring_rows, step_parameters, World
from walking_control.models.step_equations import step_equations
from walking_control.search import (
    can_lift,
    expand_gait,
    find_adaptation,
    guess_gait,
    judge_gait,
    Judgement,
    pack,
    SearchParameters,
    Shape,
    unpack,
)
from walking_control.search.problem import (
    build_program,
    check_task,
    cost_metric,
    held_coordinates,
    leg_length,
    LONGEST,
    parameters,
    passive_forces,
    Program,
    search_limits,
    SHORTEST,
)

FEASIBLE = 1e-6  # largest violation of a constraint that counts as met
AGREEMENT = 0.01  # relative difference of cost on nodes and fine grid that ends refinement
LOW_DEGREE = 5
REFINEMENTS = 3


@dataclass(frozen=True)
class Attempt:
    """One first guess and where it led.

    Attributes:
        converged: Whether the solver met its tolerances and the constraints hold.
        status: The solver's own word.
        cost: On the nodes.
        violation: Largest violation of a constraint.
        worst: What that constraint is about.
        iterations: Of the solver.
    """

    converged: bool
    status: str
    cost: float
    violation: float
    worst: str
    iterations: int
    x: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class SearchResult:
    """What a search found, converged or not.

    Attributes:
        converged: See `Attempt`; also demands that node and fine-grid cost agree.
        status: The solver's word, or why the result is not to be trusted.
        gait: `Gait`.
        judgement: `Judgement` on the fine grid; its cost is the gait's cost.
        attempt: The best `Attempt`, on the final nodes; its cost is what the solver minimised.
        parameters: Adapted numbers by their name in the robot file.
        speed: m/s.
        solve_time: s, all attempts.
        build_time: s, spent on building programs (0 where they existed).
        attempts: Every `Attempt` of the final degree.
        theta: Numbers of the step equations, adapted.
        nodes: Intervals of the final quadrature.
    """

    converged: bool
    status: str
    gait: Gait
    # `Judgement` on the fine grid; its cost is the gait's cost
    judgement: Judgement = field(repr=False)
    attempt: Attempt
    parameters: dict[str, float]
    speed: float
    solve_time: float
    build_time: float
    attempts: tuple[Attempt, ...] = field(repr=False)
    theta: np.ndarray = field(repr=False)
    nodes: int = 20


class _Search:
    """A robot, its task and the programs that serve them."""

    def __init__(
        self,
        robot_file: RobotFile,
        values: SearchParameters,
        optimise: Sequence[str],
        progress: Callable[[str], None] | None,
    ) -> None:
        world = robot_file.values(World)
        self.robot, self.values = robot_file.robot, values
        self.equations = step_equations(self.robot)
        self.theta = step_parameters(self.robot, world.gravity, world.slope)
        self.adaptation = find_adaptation(robot_file, self.theta, optimise, values)
        self.held, self.bends = held_coordinates(self.robot)
        self.passive = tuple(passive_forces(self.robot, self.held))
        self.weights = cost_metric(self.robot, values, self.passive)
        self.friction = world.friction * values.friction_share
        self.progress = progress or (lambda text: None)
        self.solve_time = self.build_time = 0.0
        self.shape = Shape(
            values.degree,
            values.nodes,
            values.quadrature,
            self.held,
            len(self.adaptation.start),
            values.speed > 0.0,
            self._clears(),
            values.contact,
            self.passive if values.actuation == 'joints' else (),
            self.adaptation.keeps_mass,
        )

    def _clears(self) -> bool:
        """Return whether the swing foot has to stay clear of the floor."""
        clearance = self.values.clearance
        if clearance <= 0.0:
            return clearance == 0.0
        if can_lift(
            self.equations,
            self.theta,
            clearance,
            self.held[0],
            *search_limits(self.robot, self.held[-1]),
        ):
            return True
        self.progress(
            f'no clearance of {clearance:g} m: these legs cannot lift a foot past the other one'
        )
        return False

    def solve(self, shape: Shape, x: np.ndarray) -> Attempt:
        """Solve one program from x; return the `Attempt`."""
        program = build_program(
            self.equations, shape, len(self.theta), (('max_iter', self.values.max_iterations),)
        )
        if not program.used:
            self.build_time += program.build_time
            program.used.append(True)
        numbers = parameters(
            self.theta,
            self.adaptation,
            self.weights,
            self.values,
            self.friction,
            self.equations.masses,
        )
        attempt, spent = solve_program(program, x, numbers, *self._bounds(shape))
        self.solve_time += spent
        return attempt

    def _bounds(self, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
        low, high = search_limits(self.robot, self.held[-1])
        lower, upper = [], []
        for held in shape.held:
            free = [i for i in range(self.equations.n) if i not in held]
            lower += [*np.repeat(low[free], shape.degree + 1), SHORTEST]
            upper += [*np.repeat(high[free], shape.degree + 1), LONGEST]
        return (
            np.concatenate([lower, self.adaptation.lower]),
            np.concatenate([upper, self.adaptation.upper]),
        )


def solve_program(
    program: Program, x: np.ndarray, numbers: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[Attempt, float]:
    """Return the `Attempt` from a first guess, its constraints checked again, and its time, s.

    Args:
        program: The `Program`.
        x: The guess.
        numbers: Parameters of the program.
        lower: Bounds of the unknowns.
        upper: Likewise.
    """
    begin = time.perf_counter()
    solution = program.solver(
        x0=x, p=numbers, lbx=lower, ubx=upper, lbg=program.lower, ubg=program.upper
    )
    spent = time.perf_counter() - begin
    x, statistics = np.array(solution['x']).ravel(), program.solver.stats()
    g = np.array(program.constraints(x, numbers)).ravel()
    excess = np.maximum(program.lower - g, g - program.upper)
    worst = int(np.argmax(np.where(np.isfinite(excess), excess, np.inf)))
    status = statistics['return_status']
    converged = status == 'Solve_Succeeded' and excess[worst] <= FEASIBLE
    attempt = Attempt(
        bool(converged),
        status,
        float(solution['f']),
        float(max(0.0, excess[worst])),
        program.names[worst],
        int(statistics['iter_count']),
        x,
    )
    return attempt, spent


def search(
    robot_file: RobotFile,
    values: SearchParameters | None = None,
    optimise: Sequence[str] = (),
    seed: int = 0,
    start: Gait | None = None,
    progress: Callable[[str], None] | None = None,
    alone: bool = False,
) -> SearchResult:
    """Find an efficient gait.

    Args:
        values: `SearchParameters`; None takes the robot file's.
        optimise: Of ``'spring'``, ``'damper'``, ``'mass'``: what of the mechanics may change.
        seed: Of the first guesses.
        start: `Gait` to start from beside the guesses, e.g. that of a neighbouring speed.
        progress: Called with a line of text now and then.
        alone: Whether to start from `start` alone, and so stay on its branch.

    Returns:
        `SearchResult`; not converged when no attempt was: the best iterate is kept then.

    Raises:
        InvalidInput: The task contradicts itself or the robot.
        MissingDependency: CasADi is not installed.
    """
    values = robot_file.values(SearchParameters) if values is None else values
    check_task(robot_file, values)
    case = _Search(robot_file, values, optimise, progress)
    attempts = []
    for i, (x, shape) in enumerate(
        _first_guesses(case, seed, start, 0 if alone and start else values.starts)
    ):
        if shape != case.shape:
            gait, adapted = unpack(x, shape, case.equations.n)
            x = pack(gait, case.shape.degree, adapted)
        attempts.append(case.solve(case.shape, x))
        case.progress(
            f'start {i + 1}: {attempts[-1].status}, cost {attempts[-1].cost:.4g}, '
            f'{attempts[-1].iterations} iterations'
        )
    best = min(attempts, key=lambda attempt: _rank(case, attempt))
    return _refine(case, best, tuple(attempts))


def _rank(case: _Search, attempt: Attempt) -> tuple[bool, float, float]:
    """Return what sorts attempts: converged, cheap, and of two mirror images legs uncrossed."""
    if not attempt.converged:
        return True, attempt.violation, attempt.cost
    q, _ = unpack(attempt.x, case.shape, case.equations.n)[0].end
    foot = np.array(case.equations.foot(q)).ravel()
    # the second foot of the robot file is the left one
    crossed = len(foot) == 3 and foot[1] < 0.0
    return False, float(f'{attempt.cost:.4g}'), crossed


def _first_guesses(
    case: _Search, seed: int, start: Gait | None, starts: int
) -> Iterator[tuple[np.ndarray, Shape]]:
    """Yield unknowns and the shape they fit, solved at low degree already."""
    values, n = case.values, case.equations.n
    random = np.random.default_rng(seed)
    low = replace(case.shape, degree=min(LOW_DEGREE, values.degree))
    simple = replace(low, held=low.held[-1:], clearance=False, passive=())
    length = leg_length(case.equations, case.theta)
    if start is not None:
        yield pack(start, values.degree, case.adaptation.start), case.shape
    for i in range(starts):
        period = random.uniform(0.5, 1.0) * np.sqrt(length)
        step = values.speed * period if values.speed else random.uniform(0.2, 0.6) * length
        step = np.clip(step, values.min_step_length, 0.8 * length)
        posture = random.normal(0.0, 0.02 if i == 0 else 0.1, n)
        posture[list(case.held[-1])] = 0.0
        bend = random.uniform(0.3, 1.0)
        gait = guess_gait(case.equations, simple, step, period, posture)
        if len(low.held) > 1 and i % 2 == 0:
            # the simpler robot's own gait; every other start goes without
            x = case.solve(simple, pack(gait, low.degree, case.adaptation.start)).x
            gait, _ = unpack(x, simple, n)
        gait = expand_gait(gait, low, case.bends, bend)
        yield case.solve(low, pack(gait, low.degree, case.adaptation.start)).x, low


def _refine(case: _Search, attempt: Attempt, attempts: tuple[Attempt, ...]) -> SearchResult:
    """Return the result; where the nodes hide cost, more of them are used."""
    shape = case.shape
    for _ in range(REFINEMENTS + 1):
        gait, adapted = unpack(attempt.x, shape, case.equations.n)
        theta = case.theta + case.adaptation.columns @ (adapted - case.adaptation.base)
        judgement = judge_gait(
            case.equations, gait, theta, case.weights, spring_rows(case.robot, theta)
        )
        agrees = abs(judgement.cost - attempt.cost) <= AGREEMENT * judgement.cost + 1e-6
        if agrees or not attempt.converged or shape.quadrature != 'lobatto':
            break
        if shape.intervals >= case.shape.intervals * 2**REFINEMENTS:
            break
        shape = replace(shape, intervals=2 * shape.intervals)
        case.progress(
            f'nodes hide cost: {attempt.cost:.4g} against {judgement.cost:.4g}; '
            f'{shape.intervals} intervals now'
        )
        attempt = case.solve(shape, attempt.x)
    status = attempt.status
    if attempt.converged and not agrees and shape.quadrature == 'lobatto':
        status = 'cost on the nodes and on a fine grid disagree'
    return SearchResult(
        attempt.converged and (agrees or shape.quadrature != 'lobatto'),
        status,
        gait,
        judgement,
        attempt,
        case.adaptation.name(adapted),
        float(judgement.step[0] / gait.period),
        case.solve_time,
        case.build_time,
        attempts,
        theta,
        shape.intervals,
    )
