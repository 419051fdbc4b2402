# SPDX-License-Identifier: Apache-2.0
"""Joint torques and contact wrenches that hold a floating-base robot still.

With g the generalised gravity, J_i the Jacobian of contact i in its own axes and f_i its wrench,

    g_base   = sum (J_i')_base f_i              six equations of the unactuated base
    g_joints = tau + sum (J_i')_joints f_i      one per joint

([STATIC] eq. (3)). One sole leaves no choice: f follows from the base, tau from f, in closed form.
Several contacts leave 6 (n - 1) choices, which a quadratic program makes: least weighted torque or
least contact force, subject to the base equations, every limit of the contacts and of the motors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
import time
from typing import Any

import numpy as np

from walking_control.exceptions import (
    InvalidInput,
    MeasurementError,
    ParameterError,
    require,
    require_known,
    UrdfError,
)
from walking_control.models import check_limits, Dynamics, heating, Robot, ROOT
from walking_control.statics import (
    Contact,
    contact_margins,
    Explanation,
    is_beyond,
    nearest_point,
    Shortfall,
    solvers,
    stand_on_one,
    stand_on_points,
    StaticProgram,
)


@dataclass(frozen=True)
class Objective:
    """What the distributor makes small: torque |W tau|^2 + force |f|^2, moments over a length.

    Args:
        torque: Weight of the joint torques, 1/(N m)^2.
        force: Weight of the contact wrenches, 1/N^2.
        moment_length: A moment m counts as the force m / moment_length, m. The norm of a wrench
            depends on where it is taken: here the middle of the sole.
        joint_weights: joint -> factor on its squared torque; 1 where not named.
        regularisation: Share of the wrench norm added so that the program has one solution, 1/N^2;
            it decides only what torques leave open (inner forces of straight legs).
    """

    torque: float = 1.0
    force: float = 0.0  # weight of the contact wrenches, 1/N^2
    # A moment m counts as the force m / moment_length, m. The norm of a wrench depends on where it
    # is taken: here the middle of the sole.
    moment_length: float = 1.0
    # joint -> factor on its squared torque; 1 where not named
    joint_weights: dict[str, float] = field(default_factory=dict)
    # share of the wrench norm added so that the program has one solution, 1/N^2; it decides only
    # what torques leave open (inner forces of straight legs)
    regularisation: float = 1e-6


_REST = np.zeros(3)
OBJECTIVES = {
    'torque': Objective(),
    'force': Objective(torque=0.0, force=1.0),
    'heat': Objective(),  # with the weights of the robot's motors
}


@dataclass(slots=True)
class StaticSolution:
    """What holds the robot, or why nothing does.

    Args:
        support: Names of the contacts in use.
        torque: Joint torques in the model's order, ``(n_joints,)``, N m; None when infeasible.
        wrenches: contact -> wrench of the floor on the robot in the sole frame, ``(6,)``, N, N m;
            of an infeasible single support those it would need, else None.
        base_residual: Largest error of the base equations, N and N m.
        explanation: The reason when it is infeasible, found when asked for; None when feasible.
        solver: Name of what solved it.
        solve_time: Wall time of the verdict, kinematics included, s.
    """

    support: tuple[str, ...]  # names of the contacts in use
    # joint torques in the model's order, ``(n_joints,)``, N m; None when infeasible
    torque: np.ndarray | None
    # contact -> wrench of the floor on the robot in the sole frame, ``(6,)``, N, N m; of an
    # infeasible single support those it would need, else None
    wrenches: dict[str, np.ndarray] | None
    base_residual: float | None  # largest error of the base equations, N and N m
    # the reason when it is infeasible, found when asked for; None when feasible
    explanation: Explanation | None
    solver: str
    solve_time: float

    @property
    def feasible(self) -> bool:
        """Whether torque and wrenches respect every limit."""
        return self.explanation is None

    @property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """The limits that would have to give, the one to name first; empty when feasible.

        They are sought now, in a few ms, unless `Explanation.step` has found them already.
        """
        return () if self.explanation is None else self.explanation.shortfalls

    @property
    def reason(self) -> str | None:
        """Why it is infeasible, in words; None when it is feasible."""
        return None if self.feasible else str(self.shortfalls[0])


class StaticTorque:
    """Distributor of static torques for one robot and its contacts.

    Args:
        dynamics: The `Dynamics`.
        contacts: Name -> `Contact`; of a sequence each is called by its frame.
        objective: ``'torque'``, ``'force'``, ``'heat'`` (torques weighed by how warm each motor
            gets of them) or an `Objective`.
        effort_limits: Joint -> limit in N m, in place of the URDF's.
        solver: Name of the quadratic-program solver; None takes the preferred one installed.

    Attributes:
        problems: `UrdfError` of every joint whose motor has an effort limit of zero. Such a joint
            is taken at its word: a posture in which it must work is infeasible.

    Raises `InvalidInput`: a frame is unknown, an effort limit names no joint. `ParameterError`: the
    objective is unknown or leaves nothing to minimise. `MissingDependency`: the solver is not
    installed.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        contacts: Mapping[str, Contact] | Sequence[Contact],
        objective: str | Objective = 'torque',
        effort_limits: Mapping[str, float] | None = None,
        solver: str | None = None,
    ) -> None:
        self.dynamics = dynamics
        self.contacts = _by_name(contacts)
        self.objective = _find_objective(objective, dynamics.robot)
        self.frames = {
            name: dynamics.frame(contact.frame, contact.offset, contact.rotation)
            for name, contact in self.contacts.items()
        }
        self.effort_limits = _by_joint(
            dynamics, effort_limits, dynamics.effort_limits(), 'effort limit'
        )
        self.joint_weights = _by_joint(
            dynamics, self.objective.joint_weights, np.ones(len(dynamics.joints)), 'weight'
        )
        self.problems = tuple(
            UrdfError(
                f'effort limit of joint {joint}',
                value=0.0,
                limit=f'the URDF of {dynamics.robot.name} gives its motor no torque',
                remedy='write its real limit into the URDF or give effort_limits',
            )
            for joint, limit in zip(dynamics.joints, self.effort_limits)
            if limit == 0.0
        )
        self.solver = solver or (solvers.available() or ('none',))[0]
        self._solve = solvers.load(solver)
        self._decider = solvers.load_decider(solver)
        limits = [dynamics.robot.limits[joint] for joint in dynamics.joints]
        self._first_joint = dynamics.base.nq
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._programs: dict[tuple[str, ...], StaticProgram] = {}

    def solve(
        self,
        q: np.ndarray,
        support: Iterable[str] | None = None,
        caps: Mapping[str, float] | None = None,
        acceleration: np.ndarray | None = None,
        measured: bool = False,
    ) -> StaticSolution:
        """Return the `StaticSolution` at a configuration.

        Args:
            q: From `Dynamics.configuration`.
            support: Names of the contacts in use; None takes all.
            caps: Contact -> largest normal force, N, below its own.
            acceleration: That the whole body shall have at once, without turning, floor axes,
                ``(3,)``, m/s^2: it weighs as if gravity were less by so much; None: at rest.
            measured: Whether sensors say q: then joints may be beyond their stops, as noise and
                play put them.

        Raises:
            InvalidInput: A contact is unknown, or there is none; a cap is no force, or of no
                contact of the support; a joint is beyond its stops.
            MeasurementError: The configuration is not finite.
        """
        if acceleration is not None:
            self.dynamics.accelerate(acceleration)
            try:
                return self.solve(q, support, caps, None, measured)
            finally:
                self.dynamics.accelerate(_REST)
        program = self.program(support)
        start = time.perf_counter()
        if is_beyond(q[self._first_joint :], self._lower, self._upper) and not measured:
            check_limits(q[self._first_joint :], self.dynamics.joints, self.dynamics.robot.limits)
        if program.is_few_points:
            solution = self._on_points(q, program, caps)
        elif program.is_single:
            solution = self._single(q, program, caps)
        else:
            solution = self._several(q, program, caps)
        solution.solve_time = time.perf_counter() - start
        return solution

    def program(self, support: Iterable[str] | None = None) -> StaticProgram:
        """Return the `StaticProgram` of a support, built at its first use."""
        support = tuple(self.contacts) if support is None else tuple(support)
        program = self._programs.get(support)
        if program is None:
            for name in support:
                require_known(name, self.contacts, 'support', value=name, limit='is no contact')
            program = self._programs[support] = StaticProgram(
                self.dynamics,
                {name: self.contacts[name] for name in support},
                [self.frames[name] for name in support],
                self.objective,
                self.effort_limits,
                self.joint_weights,
            )
        return program

    def share_heat(self, room: np.ndarray) -> None:
        """Weigh the torques by what each motor can still take: less of those that are warm.

        Args:
            room: Part of the way to its limit of temperature that is left to the motor of each
                joint, above 0, ``(n_joints,)``.
        """
        for program in self._programs.values():
            program.weigh(self.joint_weights / room)

    def _single(
        self, q: np.ndarray, program: StaticProgram, caps: Mapping[str, float] | None
    ) -> StaticSolution:
        program.fill_caps(caps)
        rows, bound = program.contact_limits
        torque, wrench, residual, slack, overload = stand_on_one(
            self.dynamics.gravity_efforts(q),
            program.jacobian(q, 0),
            rows,
            bound,
            self.effort_limits,
        )
        # written so that a NaN counts as broken
        held = slack >= -program.tolerance and overload <= program.tolerance
        return StaticSolution(
            program.support,
            torque if held else None,
            {program.support[0]: wrench},
            residual,
            None if held else self._explain(q, program, caps, wrench),
            'closed form',
            0.0,
        )

    def _explain(
        self,
        q: np.ndarray,
        program: StaticProgram,
        caps: Mapping[str, float] | None,
        forces: np.ndarray,
    ) -> Explanation:
        _check_finite(q, self.dynamics)
        program.assemble(q, caps)
        return Explanation(program, self._decider, forces)

    def _on_points(
        self, q: np.ndarray, program: StaticProgram, caps: Mapping[str, float] | None
    ) -> StaticSolution:
        _check_finite(q, self.dynamics)
        forces = stand_on_points(program.assemble(q, caps), ROOT)
        torque, residual, overloaded = program.judge(forces)
        held = residual is not None and not overloaded
        return StaticSolution(
            program.support,
            torque if held else None,
            program.wrenches(forces),
            residual,
            None if held else Explanation(program, self._decider, forces),
            'closed form',
            0.0,
        )

    def _several(
        self, q: np.ndarray, program: StaticProgram, caps: Mapping[str, float] | None
    ) -> StaticSolution:
        problem = program.assemble(q, caps)
        forces, name = self._solve(problem).x, self.solver
        residual = None
        if forces is not None:
            torque, residual, overloaded = program.judge(forces)
        if residual is None:
            _check_finite(q, self.dynamics)
            forces = nearest_point(program, self._decider)
            if forces is not None:
                torque, residual, overloaded = program.judge(forces)
            if residual is None:
                return StaticSolution(
                    program.support,
                    None,
                    None,
                    None,
                    Explanation(program, self._decider, forces),
                    name,
                    0.0,
                )
            name += ' (feasible point)'
        assert forces is not None
        return StaticSolution(
            program.support,
            None if overloaded else torque,
            program.wrenches(forces),
            residual,
            Explanation(program, self._decider, forces) if overloaded else None,
            name,
            0.0,
        )

    def prepare(self) -> None:
        """Compile and allocate what the first solutions would have to: call before time counts."""
        q = self.dynamics.configuration(np.zeros(len(self.dynamics.joints)))
        for name, contact in self.contacts.items():
            if not contact.is_point:
                self.solve(q, (name,), measured=True)
        if len(self.contacts) > 1:
            self.solve(q, measured=True)

    def margins(self, solution: StaticSolution) -> dict[str, dict[str, Any]]:
        """Return how far a feasible solution is from every limit.

        Returns:
            contact -> margins as of `contact_margins`, and ``'torque'``: the joint nearest to its
            limit and the share of it still free.

        Raises:
            InvalidInput: The solution is not feasible.
        """
        if solution.torque is None or solution.wrenches is None:
            raise InvalidInput(
                'margins of a posture', value=solution.reason, limit='only a feasible one has any'
            )
        margins: dict[str, dict[str, Any]] = {
            name: contact_margins(self.contacts[name], wrench)
            for name, wrench in solution.wrenches.items()
        }
        used = abs(solution.torque) / np.maximum(self.effort_limits, 1e-12)
        worst = int(np.argmax(used))
        margins['torque'] = {'joint': self.dynamics.joints[worst], 'free': float(1.0 - used[worst])}
        return margins


def _by_name(contacts: Mapping[str, Contact] | Sequence[Contact]) -> dict[str, Contact]:
    named = (
        dict(contacts)
        if isinstance(contacts, Mapping)
        else {getattr(contact, 'frame', repr(contact)): contact for contact in contacts}
    )
    for name, contact in named.items():
        require(
            isinstance(contact, Contact),
            f'contact {name}',
            value=contact,
            limit='must be a Contact',
        )
    require(
        len(named) >= len(contacts),
        'contacts',
        value=[contact.frame for contact in named.values()],
        limit='several share a frame',
        remedy='give a mapping of names to contacts',
    )
    return named


def _check_finite(q: np.ndarray, dynamics: Dynamics) -> None:
    if not np.isfinite(q).all():
        names = (*('base pose',) * (dynamics.nq - len(dynamics.joints)), *dynamics.joints)
        bad = int(np.argmin(np.isfinite(q)))
        raise MeasurementError(
            f'configuration: {names[bad]}', value=float(q[bad]), limit='must be finite'
        )


def _find_objective(objective: str | Objective, robot: Robot) -> Objective:
    if isinstance(objective, str):
        require_known(objective, OBJECTIVES, 'objective', ParameterError, objective)
        warms = objective == 'heat'
        objective = OBJECTIVES[objective]
        if warms:
            objective = replace(objective, joint_weights=heating(robot).weights())
    for name in ('torque', 'force', 'regularisation'):
        require(
            getattr(objective, name) >= 0.0,
            f'objective.{name}',
            value=getattr(objective, name),
            limit='must not be negative',
            error=ParameterError,
        )
    require(
        objective.force + objective.regularisation > 0.0 and objective.moment_length > 0.0,
        'objective',
        value=objective,
        limit='force or regularisation, and moment_length, must be positive',
        error=ParameterError,
    )
    return objective


def _by_joint(
    dynamics: Dynamics, values: Mapping[str, float] | None, default: np.ndarray, what: str
) -> np.ndarray:
    array = np.array(default, dtype=float)
    for joint, value in (values or {}).items():
        require_known(
            joint,
            dynamics.joints,
            f'{what} of joint {joint}',
            limit=f'is not a moving joint of {dynamics.robot.name}',
        )
        require(value >= 0.0, f'{what} of joint {joint}', value=value, limit='must not be negative')
        array[dynamics.joints.index(joint)] = value
    return array
