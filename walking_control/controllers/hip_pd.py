# SPDX-License-Identifier: Apache-2.0
"""Plain PD control of the hip to a fixed set point: the rival of every other law.

Where the robot offers a ``ground_torque`` the ankle may help: a torque in proportion to the energy
the walker lacks, under the same limits of the stance foot as curve tracking (`controllers.limits`).
"""

from typing import Any, NamedTuple

import numpy as np

from walking_control.controllers import (
    ArrayLaw,
    Controller,
    keep_foot,
    KneeLocks,
    Limits,
    make_limits,
    nearest_effort,
)
from walking_control.controllers.curve_tracking.observation import potential
from walking_control.controllers.hip_switching import find_hip, hip_law, HipData
from walking_control.controllers.parameters import HipPdParameters
from walking_control.exceptions import IncompatibleController, require
from walking_control.models import (
    array_function,
    Command,
    Dynamics,
    form,
    make_terms,
    mechanics_of,
    Reference,
    Robot,
    RobotFile,
    SupportDynamics,
    Terms,
    WalkerState,
    World,
)

NOTHING = np.zeros(1)  # the law remembers nothing
NO_TERMS: Any = None  # the hip alone needs none


class AnkleData(NamedTuple):
    """What the law knows besides the hip where foot or ankle count, as plain arrays and numbers.

    Attributes:
        hip: `HipData`.
        limits: `Limits`.
        parameters: Of the support terms; gravity along x and z first.
        spin: Rates of q when the robot turns about its foot at 1 rad/s, by support, ``(2, n)``.
        gain: Torque of the ankle per energy the walker lacks, N m/J.
        energy: Aimed at, J.
    """

    hip: HipData
    limits: Limits
    parameters: np.ndarray  # of the support terms; gravity along x and z first
    # rates of q when the robot turns about its foot at 1 rad/s, by support, ``(2, n)``
    spin: np.ndarray
    gain: float
    energy: float


@array_function
def ankle_law(
    terms: Terms,
    data: AnkleData,
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """PD of the hip and energy feedback of the ankle, within limits, as an `ArrayLaw`.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        data: `AnkleData`.
        memory: What the law remembers, changed in place, ``(k,)``.
        support: Index of the stance foot.
        held: Which locks hold, ``(n_locks,)``.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    n, k = q.shape[0], effort.shape[0]
    H, LH, spare = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k)
    robot = mechanics_of(terms, data.parameters, support, q, v)
    energy = potential(data.parameters, data.spin[support], robot.M_f)
    energy += 0.5 * form(v, robot.M, v)
    B = data.limits.inputs[support]
    nearest_effort(robot.L, B, np.zeros(n), H, LH, spare)  # for LH
    hip_law(terms, data.hip, memory, support, held, q, v, effort)
    if data.limits.ankle >= 0:
        effort[data.limits.ankle] = data.gain * (data.energy - energy)
    keep_foot(data.limits, robot, B, LH, spare, 0.0, effort)


class HipPd(Controller):
    """Plain hip PD for a planar walker with one motor at the hip.

    Raises:
        IncompatibleController: The robot has not exactly one motor, a hip between its two legs.
    """

    name = 'hip_pd'
    parameters = HipPdParameters

    def __init__(self, robot_file: RobotFile, values: HipPdParameters) -> None:
        robot = robot_file.robot
        joint, self._coordinate = find_hip(robot, self.name)
        self._signs = np.array(
            [robot.supports[foot][self._coordinate, 1 + joint] for foot in robot.feet]
        )
        self._limit = float(robot.effort_limits[0])
        self._locks = KneeLocks(robot, values.knee_flexed)
        self._joints = len(robot.actuators)  # efforts of an ankle come after theirs
        self._needs_terms = values.limiting != 'off' or values.ankle_energy_gain > 0.0
        require(
            values.ankle_energy_gain <= 0.0 or robot.ground_torque is not None,
            f'parameter hip_pd.ankle_energy_gain on {robot.name}',
            value=values.ankle_energy_gain,
            limit='needs a robot with an ankle (ground_torque)',
            remedy='set it to 0',
            error=IncompatibleController,
        )
        self.values, self._terms = values, NO_TERMS
        if self._needs_terms:
            self._build(robot, robot_file.values(World))

    def _build(self, robot: Robot, world: World) -> None:
        """Prepare what only foot and ankle need."""
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        support = SupportDynamics(self.dynamics)
        self._terms, parameters = make_terms(self.dynamics)
        gravity = support.dynamics.model.gravity.linear[[0, 2]]
        self._parameters = np.array(gravity if parameters is None else parameters)
        self._limits = make_limits(support, self.values)
        self._spin = np.array([robot.supports[foot][:, 0] for foot in robot.feet])

    def _hip(self) -> HipData:
        """Return the hip's part with the gains of now."""
        values = self.values
        return HipData(
            self._coordinate,
            values.hip_angle,
            values.hip_stiffness,
            values.hip_damping,
            self._limit,
            self._signs,
        )

    def _ankle(self) -> AnkleData:
        """Return the whole law with the gains of now."""
        return AnkleData(
            self._hip(),
            self._limits,
            self._parameters,
            self._spin,
            self.values.ankle_energy_gain,
            self.values.energy,
        )

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees."""
        self._locks.reset()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: every effort, every lock.
        """
        self._locks.update(state, command)
        law = self.array_law()
        law.function(
            self._terms,
            law.knowledge,
            NOTHING,
            state.support,
            self._locks.held,
            state.coordinates,
            state.rates,
            command.effort,
        )
        # until the first contact is reported the start's stance foot counts as standing
        if not state.contact[state.support] and state.contact.any():
            command.effort[self._joints :] = 0.0

    def array_law(self) -> ArrayLaw:
        """Return the law as an `ArrayLaw`."""
        if self._needs_terms:
            return ArrayLaw(ankle_law, self._ankle(), NOTHING, self.values.knee_flexed)
        return ArrayLaw(hip_law, self._hip(), NOTHING, self.values.knee_flexed)
