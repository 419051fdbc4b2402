# SPDX-License-Identifier: Apache-2.0
"""Port-based curve tracking with energy management ([DS09] section 5.2) as a controller.

Follows the path of a natural gait instead of a timetable; see
``doc/controllers/curve_tracking_derivation.md``.
Simplification: the walker is taken as fixed to the floor at its stance foot; limits within the law
keep it there, and while the foot is in the air the effort is zero.
"""

from collections.abc import Sequence
from dataclasses import replace
import math

import numpy as np

from walking_control.controllers import (
    ArrayLaw,
    Controller,
    CurveTrackingParameters,
    find_hip,
    KneeLocks,
    make_compensation,
    make_limits,
)
from walking_control.controllers.curve_tracking import forces as curve_law
from walking_control.controllers.curve_tracking import tick as tracker
from walking_control.controllers.curve_tracking.control_period import check_period
from walking_control.controllers.curve_tracking.vector_field import (
    Field,
    join_curves,
    make_field,
    reach_on,
)
from walking_control.exceptions import IncompatibleController, ParameterError, require
from walking_control.gaits.curve import make_curve
from walking_control.gaits.samples import GaitSamples, Piece, read_samples
from walking_control.models import (
    Command,
    compile_law,
    Dynamics,
    gait_path,
    make_terms,
    Reference,
    Robot,
    RobotFile,
    SupportDynamics,
    WalkerState,
    World,
)

METHOD = {'damping': curve_law.DAMPING, 'transfer': curve_law.TRANSFER}


RESERVE = 2.0  # supply of the tank over what the gait takes
NOBODY = -1.0  # no foot has stood yet


def require_walker(robot: Robot, controller: str) -> None:
    """Refuse (`IncompatibleController`) all but planar walkers on two feet with a motor.

    Args:
        robot: The `Robot`.
        controller: Name of the law, for the message.
    """
    require(
        robot.is_planar and len(robot.feet) == 2 and robot.efforts,
        f'controller {controller} on {robot.name}',
        limit='needs a planar walker on two feet with a motor',
        error=IncompatibleController,
    )


def load_gait(robot: Robot, gait: str, world: World) -> GaitSamples:
    """Return the `GaitSamples` of a gait's name, checked; empty: of the robot's own.

    Args:
        robot: The `Robot`.
        gait: Name or path of a gait file.
        world: Its slope and gravity must be those of the gait.
    """
    return read_samples(gait_path(gait or robot.name), robot, world)


def metric_of(weights: Sequence[float], n: int) -> np.ndarray:
    """Return the metric of distances; `ParameterError` unless each coordinate has a weight.

    Args:
        weights: Of the coordinates, 1; empty: all ones.
        n: Number of coordinates.
    """
    require(
        not weights or len(weights) == n,
        'parameter curve_tracking.metric',
        value=list(weights),
        limit=f'must hold {n} weights, one per coordinate, or none',
        error=ParameterError,
    )
    return np.diag(weights) if weights else np.eye(n)


def build_tracker(
    robot: Robot,
    values: CurveTrackingParameters,
    world: World,
    gait: GaitSamples,
    parameters: np.ndarray | None = None,
    piece: int = 0,
) -> tracker.TrackerData:
    """Return the `TrackerData` of a robot and one piece of a gait.

    Args:
        robot: The `Robot`; planar, two feet.
        world: `World`: slope and gravity the law counts on.
        parameters: Of generated support terms; gravity alone where Pinocchio serves.
        piece: Which.

    Raises:
        IncompatibleController: Springs or dampers, which the energy of the law does not know.
        ParameterError: A gain too fast for the rate, see `control_period`.
    """
    require(
        all(not spring.stiffness and not spring.damping for spring in robot.springs.values()),
        f'controller curve_tracking on {robot.name}',
        value=sorted(robot.springs),
        limit='does not know the energy of joint springs yet',
        error=IncompatibleController,
    )
    part = gait.pieces[piece]
    free = np.array([i for i in range(len(robot.coordinates)) if i not in part.held])
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    gravity = support.dynamics.model.gravity.linear[[0, 2]]
    spin = np.array([robot.supports[foot][:, 0] for foot in robot.feet])
    field, part, inside = make_gait_field(support, values, gait, piece)
    q, v = part.q[:, free], part.v[:, free]
    energy, speed = _energies(support, gravity, spin, part)
    proper = part.inside
    drive = np.where(proper, np.gradient(energy, part.time) / speed, 0.0)
    if values.energy == 'constant':
        energy, drive = np.full(len(energy), energy[proper].mean()), np.zeros(len(energy))
    check_period(values, speed[proper], field, q[proper], v[proper])
    gains = tracker.Gains(
        values.energy_gain,
        values.integral_gain,
        values.integral_limit,
        values.transfer_gain,
        values.transfer_threshold,
        values.bandwidth,
        values.damping_rate,
        values.freedom_rate,
        values.impact_time,
        values.lead_lacking,
        values.lead_excess,
        values.lead_limit,
        values.along,
    )
    limits = make_limits(support, values)
    reduced = limits._replace(inputs=np.ascontiguousarray(limits.inputs[:, free]))
    return tracker.TrackerData(
        free,
        limits.inputs,
        field,
        np.array(gravity if parameters is None else parameters),
        np.array([support.relabel(foot) for foot in range(2)]),
        spin,
        reduced,
        energy[inside],
        drive[inside],
        gains,
        METHOD[values.method],
        tracker.Tank(
            values.tank_initial,
            values.tank_capacity,
            values.tank_supply
            if values.tank_supply >= 0.0
            else RESERVE * power_taken(support, gravity, spin, gait),
        ),
        make_compensation(support, values),
    )


def make_gait_field(
    support: SupportDynamics, values: CurveTrackingParameters, gait: GaitSamples, piece: int
) -> tuple[Field, Piece, np.ndarray]:
    """Return the `Field` of a piece of a gait, the `Piece` as it goes on there, and what is used.

    Args:
        piece: Which.
    """
    robot, part = support.robot, gait.pieces[piece]
    free = np.array([i for i in range(len(robot.coordinates)) if i not in part.held])
    metric = metric_of(values.metric, len(robot.coordinates))[np.ix_(free, free)]
    leads = np.zeros(len(robot.coordinates))
    if values.lead_lacking or values.lead_excess:
        leads[find_hip(robot, 'curve_tracking')[1]] = 1.0
    reaches = (
        values.continuation == 'reach'
        and values.field == 'closest'
        and piece == len(gait.pieces) - 1
    )
    path = part
    if reaches:
        path = reach_on(
            part, support, find_hip(robot, 'curve_tracking')[1], values.reach, values.reach_blend
        )
    inside = np.ones(len(path.time), bool) if values.field == 'closest' else path.inside
    field = make_field(
        values.field,
        make_curve(path.time[inside], path.q[inside][:, free], path.v[inside][:, free], metric),
        values.attraction,
        values.surface_offset,
        leads[free],
        path.end,
    )
    if reaches:
        without = make_curve(part.time, part.q[:, free], part.v[:, free], metric)
        field = field._replace(curve=join_curves(without, field.curve, part.end))
    return field, path, inside


def _energies(
    support: SupportDynamics, gravity: np.ndarray, spin: np.ndarray, piece: Piece
) -> tuple[np.ndarray, np.ndarray]:
    """Return energy, J, and speed in the kinetic metric, J^0.5, along a piece of a gait."""
    energy, speed = np.zeros(len(piece.time)), np.zeros(len(piece.time))
    for i, (q, v) in enumerate(zip(piece.q, piece.v, strict=True)):
        M = support.layout.split(support.terms(0, q, v))['mass']
        speed[i] = math.sqrt(v @ M[2:, 2:] @ v)
        height, ahead = M[0, 2:] @ spin[0], -M[1, 2:] @ spin[0]
        energy[i] = 0.5 * speed[i] ** 2 - gravity[0] * ahead - gravity[1] * height
    return energy, speed


def power_taken(
    support: SupportDynamics, gravity: np.ndarray, spin: np.ndarray, gait: GaitSamples
) -> float:
    """Return the power a gait takes from the motors, W: what energy rises by between its jumps.

    Friction of joints comes on top. A gait that lives on gravity alone takes none.

    Args:
        support: `SupportDynamics` of the robot.
        gravity: Along x and z of the floor, m/s^2, ``(2,)``.
        spin: Rates of q when the robot turns about its foot at 1 rad/s, ``(n,)``.
        gait: `GaitSamples`.
    """
    gained = 0.0
    for piece in gait.pieces:
        ends = np.flatnonzero(piece.inside)[[0, -1]]
        energy, _ = _energies(
            support,
            gravity,
            spin,
            replace(piece, time=piece.time[ends], q=piece.q[ends], v=piece.v[ends]),
        )
        gained += energy[1] - energy[0]
    return max(gained / gait.period, 0.0)


def build_law(
    robot: Robot,
    values: CurveTrackingParameters,
    world: World,
    gait: GaitSamples,
    parameters: np.ndarray | None = None,
) -> tracker.TrackerLaw:
    """Return the `TrackerLaw` of a robot on all pieces of a gait.

    Arguments as for `build_tracker`.

    Raises:
        IncompatibleController: A locked joint is not a coordinate of its own.
    """
    pieces = tuple(
        build_tracker(robot, values, world, gait, parameters, i) for i in range(len(gait.pieces))
    )
    masks = np.array([sum(1 << i for i in piece.held) for piece in gait.pieces])
    held = np.zeros((len(robot.feet), len(robot.locks)), dtype=np.int64)
    for i, foot in enumerate(robot.feet):
        for k, lock in enumerate(robot.locks):
            rows = robot.supports[foot]
            alone = [
                row
                for row in np.flatnonzero(rows[:, 1 + robot.joint_index(lock.joint)])
                if np.count_nonzero(rows[row]) == 1
            ]
            require(
                len(alone) == 1,
                f'controller curve_tracking on {robot.name}',
                value=lock.joint,
                limit='a locked joint must be a minimal coordinate',
                error=IncompatibleController,
            )
            held[i, k] = alone[0]
    return tracker.TrackerLaw(pieces, masks, held, 1.0 / values.rate)


class CurveTracking(Controller):
    """Follow a natural gait on a planar walker.

    Args:
        robot_file: The `RobotFile`; the law counts on the slope and gravity of its world.

    Attributes:
        report: Telemetry of the last tick, see `telemetry_fields`.

    Raises:
        IncompatibleController: Not a planar walker on two feet with something to drive.
        InvalidInput: The gait does not fit, or a gain is too fast for the rate.
    """

    name = 'curve_tracking'
    parameters = CurveTrackingParameters

    def __init__(self, robot_file: RobotFile, values: CurveTrackingParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_walker(robot, self.name)
        self.values = values
        gait = load_gait(robot, values.gait, world)
        dynamics = Dynamics(robot, world.gravity, world.slope)
        self._locks = KneeLocks(robot, values.knee_flexed)
        self._terms, parameters = make_terms(dynamics)
        self._follow = compile_law(tracker.follow) if values.compiled else tracker.follow
        self._law = build_law(robot, values, world, gait, parameters)
        self.data = self._law.pieces[0]
        self._memory = tracker.make_memory(self.data)
        self._outcome = tracker.make_outcome(np.zeros(len(robot.efforts)))
        self.report, self.parts = self._outcome.report, self._outcome.parts
        self._steps: int | None = None

    def reset(self, state: WalkerState) -> None:
        """Begin anew: full tank, no integral."""
        self._locks.reset()
        tracker.forget(self.data, self._memory)
        self._steps = None

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: every effort, every lock.
        """
        fresh = state.steps != self._steps
        self._steps = state.steps
        # until the first contact is reported the start's stance foot counts as standing
        grounded = bool(state.contact[state.support]) or not state.contact.any()
        self._locks.update(state, command)
        sensed = tracker.Sensed(
            state.support,
            self._locks.held,
            grounded,
            fresh,
            state.coordinates,
            state.rates,
            min(dt, self._law.period),
        )
        outcome = self._outcome._replace(effort=command.effort)
        self._follow(self._terms, self._law, self._memory, sensed, outcome)

    def array_law(self) -> ArrayLaw:
        """Return the law as an `ArrayLaw`."""
        memory = np.concatenate((*tracker.make_memory(self.data), [NOBODY]))
        return ArrayLaw(tracker.tracking_law, self._law, memory, self.values.knee_flexed)

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say the report, then the parts of the efforts."""
        out[: len(self.report)] = self.report
        out[len(self.report) :] = self.parts.ravel()

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick on a robot."""
        torques = (
            (f'{part}_{effort}', 'N m') for part in tracker.PARTS for effort in robot.efforts
        )
        return (*tracker.TELEMETRY, *torques)
