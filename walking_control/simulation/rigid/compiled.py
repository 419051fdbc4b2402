# SPDX-License-Identifier: Apache-2.0
"""The rigid walker compiled, and walks of it: generated support terms and functions under numba.

The same model and the same integration as `RigidEngine`, some hundred times faster; equal to it to
rounding. The first use compiles for some seconds; later processes find the code kept.

A walk of the compiled rigid walker as a `Run`, for the measures every run has.

Thirty times as fast as the chain of plant, estimator, law and supervisor, and without two of them:
the law knows the state, and nothing but a fall or a trip ends the walk.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from walking_control.controllers import ArrayLaw, make_controller
from walking_control.controllers.knee_locks import STANCE
from walking_control.exceptions import MissingDependency
from walking_control.models import (
    Base,
    compile_law,
    compile_terms,
    Dynamics,
    point_to,
    point_to_terms,
    require_level,
    RobotFile,
    SupportDynamics,
    World,
)
from walking_control.runs.run import Run
from walking_control.safety.faults import FALL, Fault
from walking_control.simulation.parameters import RigidParameters
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import (
    build_rigid_model,
    FloorChange,
    push,
    push_direction,
    RigidEngine,
    set_start,
)
from walking_control.simulation.rigid.model import as_record, make_state, make_workspace
from walking_control.simulation.rigid.motion import advance
from walking_control.simulation.rigid.walk import (
    LawData,
    make_law,
    record_walk,
    stride_many,
    walk,
    WalkRows,
)

PASSIVE_INTERVAL = 0.01  # s, between the rows of a walk that nothing controls


class Walker:
    """A rigid walker ready for fast strides; the arrays are views of what compiled code changes.

    Args:
        controller: Name of the controller; None takes the robot file's default.
        steps: Floor changes, see `rigid.engine.build_rigid_model`.
        compiled: False walks by plain Python and Pinocchio: to check the compiled path by, or where
            it cannot be.

    Attributes:
        robot: The `Robot`.
        leg_length: Height of the base in upright stance, m.
        is_compiled: As given.
        support: `SupportDynamics`.
        model: `RigidModel`.
        state: `RigidState`.
        data: `LawData`.

    Raises:
        MissingDependency: CasADi or numba is missing for compiled code.
    """

    data: LawData

    def __init__(
        self,
        robot_file: RobotFile,
        controller: str | None = None,
        steps: Sequence[FloorChange] = (),
        compiled: bool = True,
    ) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_level(world, f'compiled walk of {robot.name}')
        chosen = make_controller(robot_file, controller)
        support = self.support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
        self.robot, self.leg_length = robot, support.dynamics.standing_height()
        self.is_compiled, parameters, self._terms = compiled, None, support.fill
        if compiled:
            terms, parameters = compile_terms(support.dynamics)
            self._terms = point_to_terms(terms)
        model, self.model = self._keep(
            build_rigid_model(support, world, robot_file.values(RigidParameters), parameters, steps)
        )
        state, self.state = self._keep(make_state(self.model))
        work, self._work = self._keep(make_workspace(self.model, support.layout.size))
        self._records = model, state, work  # as `_keep` gives them
        self._take_law(*make_law(robot, chosen))

    def _ready(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a shared function as this walker calls it."""
        return compile_law(function) if self.is_compiled else function

    def _by_address(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Return a shared function as others that are handed it call it, with such arguments."""
        return point_to(function, *arguments) if self.is_compiled else function

    def _keep(self, data: Any) -> tuple[Any, Any]:
        """Return a tuple of arrays as functions take it, and with arrays to look at."""
        return as_record(data) if self.is_compiled else (data, data)

    def change_law(self, robot_file: RobotFile, controller: str | None = None) -> None:
        """Take another law, or other values of it, on the same robot and floor.

        Args:
            robot_file: The `RobotFile` with its values.
            controller: Its name; None takes the file's own.
        """
        self._take_law(*make_law(self.robot, make_controller(robot_file, controller)))

    def _take_law(self, law: ArrayLaw, data: LawData) -> None:
        self._memory = data.memory.copy()
        record, self.data = self._keep(data)
        q, locks = np.zeros(self.model.n), np.zeros(1, bool)
        motion = self._by_address(advance, self._terms, *self._records, 0.0, True)
        tick = self._by_address(law.function, self._terms, law.knowledge, q, 0, locks, q, q, q)
        self._arguments = motion, self._terms, tick, law.knowledge, *self._records, record

    def walk(self, duration: float, stop_at_step: bool = False) -> int:
        """Walk on; see `walk.walk`.

        Args:
            duration: s.
            stop_at_step: Whether to return just after the next touchdown.
        """
        return int(self._ready(walk)(*self._arguments, duration, stop_at_step))

    def stride_many(self, count: int, longest: float = 3.0) -> int:
        """Make strides in a row; see `walk.stride_many`.

        Args:
            count: How many.
            longest: Longest time of one, s.
        """
        return int(self._ready(stride_many)(*self._arguments, count, longest))

    def start(self, support: int, q: np.ndarray, v: np.ndarray) -> None:
        """Stand on a foot just after touchdown, every lock in its stance phase.

        Args:
            support: Index of the stance foot.
            q: Minimal coordinates, rad, ``(n,)``.
            v: Their rates, rad/s, ``(n,)``.
        """
        set_start(self.model, self.state, support, q, v)
        self.data.phases[:] = STANCE
        self.data.memory[:] = self._memory

    def record(self, duration: float) -> tuple[WalkRows, int]:
        """Walk for a duration, s; return the `WalkRows`, one a tick, and how it ended."""
        interval = self.data.period if self.data.period < duration else PASSIVE_INTERVAL
        count = max(1, round(duration / interval)) + 1
        state = self.state
        rows = WalkRows(
            np.zeros((count, len(state.y))),
            np.zeros((count, len(state.mode)), int),
            np.zeros((count, len(state.memo))),
            np.zeros((count, len(state.effort))),
        )
        made, status = self._ready(record_walk)(*self._arguments, interval, *rows)
        return WalkRows(*(array[:made] for array in rows)), status

    def push(self, impulse: float) -> None:
        """Add an impulse in N s along the floor to the base, at once."""
        push(
            self.support.fill,
            self.model,
            self.state,
            self._work,
            push_direction(self.support, self.state),
            impulse,
        )


def make_walker(
    robot_file: RobotFile, controller: str | None = None, steps: Sequence[FloorChange] = ()
) -> Walker:
    """Return a compiled walker (or `PointWalker`), or a plain one without CasADi or numba.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the law; None takes the file's own.
        steps: Changes of the floor.
    """
    if robot_file.robot.base is Base.TRANSLATING:
        from walking_control.simulation.massless.walk import PointWalker

        return PointWalker(robot_file, controller, steps)  # type: ignore[return-value]
    try:
        return Walker(robot_file, controller, steps)
    except MissingDependency:
        return Walker(robot_file, controller, steps, compiled=False)


def arrays_of(walker: Walker) -> tuple[np.ndarray, ...]:
    """Return everything that a walk changes."""
    return (*walker.state, walker.data.phases, walker.data.memory)


def compile_engine(engine: RigidEngine) -> None:
    """Let an engine move by compiled code from now on: the same to rounding, much faster.

    Raises:
        MissingDependency: CasADi or numba is missing.
    """
    terms, parameters = compile_terms(engine.dynamics)
    model, engine.model = as_record(engine.model._replace(parameters=parameters))
    state, engine.state = as_record(engine.state)
    work, engine.workspace = as_record(engine.workspace)
    compiled, pointer = compile_law(advance), point_to_terms(terms)
    engine.move = lambda duration: compiled(pointer, model, state, work, duration, False)


ENDINGS = {
    rm.FELL: 'fell',
    rm.TRIPPED: 'tripped',
    rm.DIVERGED: 'the integration diverged',
    rm.CHATTERED: 'contacts chattered',
}


def record_run(
    walker: Walker, robot_file: RobotFile, controller: str, duration: float, dynamics: Dynamics
) -> Run:
    """Walk from the start of a robot file and return the record.

    Args:
        walker: Of that robot.
        controller: Name of the controller, for the record.
        duration: s; a fall ends the walk earlier.
        dynamics: `Dynamics` of the robot.

    Returns:
        The `Run`; columns of estimate, forces and feet are left out, as is the base's linear
        velocity (NaN); work is that of all actuators together.
    """
    robot, start = robot_file.robot, robot_file.start
    walker.start(robot.feet.index(start.support), start.q, start.v)
    rows, status = walker.record(duration)
    run = Run(
        robot,
        controller,
        'rigid',
        robot_file.values(World),
        columns=_columns(walker, rows, dynamics),
    )
    if status in ENDINGS:
        run.fell, run.fall_reason = True, ENDINGS[status]
        run.fault = Fault(FALL, ENDINGS[status], float(run.time[-1]))
    return run


def _columns(walker: Walker, rows: WalkRows, dynamics: Dynamics) -> dict[str, np.ndarray]:
    n, robot = walker.model.n, walker.robot
    z, rates = rows.y[:, : n + 2], rows.y[:, n + 2 :]
    support = rows.mode[:, rm.SUPPORT]
    contact = np.empty((len(z), 2), bool)
    index = np.arange(len(z))
    contact[index, support] = rows.mode[:, rm.STANCE] == 1
    contact[index, 1 - support] = rows.mode[:, rm.SWING] == 1
    q, v = np.zeros((len(z), dynamics.nq)), np.full((len(z), dynamics.nv), np.nan)
    for i, foot in enumerate(robot.feet):
        stands = support == i
        q[stands, 2:] = z[stands, 2:] @ robot.lifts[foot].T
        v[stands, 2:] = rates[stands, 2:] @ robot.lifts[foot].T
    for row, foot in zip(q, support, strict=True):  # the base so that the foot is where it stands
        dynamics.place(row)
        row[:2] = [-place for place in dynamics.foot_position(robot.feet[foot])[::2]]
    q[:, :2] += z[:, :2]
    time = rows.memo[:, rm.TIME]
    return {
        'time': time,
        'q': q,
        'v': v,
        'coordinates': z[:, 2:],
        'rates': rates[:, 2:],
        'support': support,
        'steps': rows.mode[:, rm.STEPS],
        'contact': contact,
        'effort': rows.effort,
        'work': rows.memo[:, [rm.WORK]],
        'electrical_energy': _electrical_energy(walker, time, q, rows.effort),
    }


def _electrical_energy(
    walker: Walker, time: np.ndarray, q: np.ndarray, effort: np.ndarray
) -> np.ndarray:
    """Return the energy drawn at the motors' terminals; recuperation within a tick only."""
    robot, elapsed = walker.robot, np.diff(time)
    power = np.zeros(len(elapsed))
    elapsed = np.maximum(elapsed, 1e-12)
    for i, (joint, motor) in enumerate(robot.actuators.items()):
        moved = np.diff(q[:, 3 + robot.joint_index(joint)])
        power += motor.electrical_power(effort[:-1, i], moved / elapsed)
    return np.concatenate(([0.0], np.cumsum(np.maximum(power, 0.0) * elapsed)))
