# SPDX-License-Identifier: Apache-2.0
"""Hold a posture: static torques as feed-forward, joint impedance around the posture.

While the posture is impossible the last possible feed-forward fades at a stated rate and the
impedance holds on alone; after a stated time the configured reaction follows and stays.
"""

from collections.abc import Mapping

import numpy as np

from walking_control.controllers import Controller, require_motors, StaticTorqueParameters
from walking_control.controllers.static_torque.balance import Balance
from walking_control.controllers.static_torque.flat_soles import FlatSoles
from walking_control.controllers.static_torque.gains import DelayBounds
from walking_control.controllers.static_torque.routine import PostureRoutine, shifting_routine
from walking_control.controllers.static_torque.support_change import SupportChange
from walking_control.exceptions import given, IncompatibleController
from walking_control.models import (
    Command,
    Dynamics,
    Reference,
    Robot,
    RobotFile,
    WalkerState,
    World,
)
from walking_control.statics import Contact, Explanation, Shortfall, StaticSolution, StaticTorque

HOLDING, CHANGING, INFEASIBLE, REACTING = 'holding', 'changing_support', 'infeasible', 'reacting'
NO_CONTACT = 'no_contact'
START_REACH = 0.01  # rad from the start's posture within which its routine serves


class PostureControl(Controller):
    """Static torques and joint impedance for a robot in space.

    Attributes:
        status: ``'holding'``, ``'changing_support'``, ``'infeasible'`` or ``'reacting'``.
        solution: The last `StaticSolution`; None without a contact.
        shortfall: Why the posture is impossible, known some ticks after the verdict; else None.
        feedforward: Static torques sent, ``(n_joints,)``, N m.

    Raises:
        IncompatibleController: The base is not free, a joint has no motor or a motor no torque, or
            the robot starts from no posture.
    """

    name = 'static_torque'
    parameters = StaticTorqueParameters

    def __init__(self, robot_file: RobotFile, values: StaticTorqueParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_motors('static_torque', robot)
        self.values = values
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        self._to_command = np.array([robot.joint_index(joint) for joint in robot.actuators])
        self._limits = np.zeros(len(robot.joints))
        self._limits[self._to_command] = robot.effort_limits[: len(robot.actuators)]
        self.contacts = {
            foot: Contact(foot, values.sole_length, values.sole_width, values.friction)
            for foot in robot.feet
        }
        limits = dict(zip(robot.joints, values.effort_share * self._limits))
        self.distributor = StaticTorque(
            self.dynamics,
            self.contacts,
            values.objective,
            limits,
            None if values.solver == 'auto' else values.solver,
        )
        self.distributor.prepare()
        self.balance = Balance(self.dynamics, self.contacts)
        self._bounds = self._bound(_rest_posture(robot_file))
        self._soles = FlatSoles(
            self.dynamics,
            list(self.contacts.values()),
            list(self.distributor.frames.values()),
            self._bounds.legs,
        )
        self.support = SupportChange(robot.feet, values.debounce, values.ramp_time)
        self._q = np.zeros(self.dynamics.nq)
        self._room = np.ones(len(self.dynamics.joints))
        # planned before time counts for the posture the robot is meant to start from
        self._start = _rest_posture(robot_file)
        self._planned = self._plan(self._start) if values.routine == 'shift' else None
        self._routine: PostureRoutine | None = None
        self._held: np.ndarray | None = None
        self._clear()

    def _clear(self) -> None:
        n = len(self.dynamics.joints)
        self.status = HOLDING
        self.solution: StaticSolution | None = None
        self.shortfall: Shortfall | None = None
        self._explanation: Explanation | None = None
        self.feedforward = np.zeros(n)
        self._loads: dict[str, float] = {}  # on each foot, as last planned, N
        self._stood = False  # since the start
        self._possible, self._held_rate = np.zeros(n), np.zeros(n)
        self._fade = 1.0
        self._impossible_time = 0.0
        self.balance.reset()

    def reset(self, state: WalkerState) -> None:
        """Begin anew: the next tick holds its posture on the feet that touch the floor."""
        self._clear()
        self._held = None

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: The `WalkerState`: positions, velocities, contacts, orientation.
            reference: The `Reference`: posture, support and how warm the motors are.
            dt: Time since the last tick, s.
            command: The `Command` to fill.
        """
        dt = min(dt, 2.0 / self.values.rate)  # in a silence no contact was heard
        position, velocity = state.position, state.velocity
        if self._held is None:
            self._begin(position, state)
        assert self._held is not None
        before = self._held.copy()
        wanted = self._follow(reference, state.contact, dt)
        if dt > 0.0:  # it is 0 where parameters changed
            smoothing = dt / (dt + self.values.delay)  # no jump of the torque where a move stops
            self._held_rate += smoothing * ((self._held - before) / dt - self._held_rate)
        self.dynamics.configuration(position, state.base.orientation, out=self._q)
        self.support.update(state.contact, wanted, dt)
        if self.values.objective == 'heat' and reference.room is not None:
            self._room[self._to_command] = reference.room
            self.distributor.share_heat(self._room)
        self.balance.observe(self._q, velocity, state.base, self._held, self.support.support, dt)
        self._judge(self._static_torque(wanted, dt), dt)
        effort = self._impedance(position, velocity)
        np.clip(effort, -self._limits, self._limits, out=effort)
        command.effort[:] = effort[self._to_command]

    def _begin(self, position: np.ndarray, state: WalkerState) -> None:
        self._held = position.copy()
        self._bounds = self._bound(position)
        self.support.reset(state.contact)
        if self._planned is not None:
            near = abs(position - self._start).max() < START_REACH
            routine = self._planned if near else self._plan(position)
            self._routine = routine.begin_at(position.copy())

    def _bound(self, posture: np.ndarray) -> DelayBounds:
        return DelayBounds(self.dynamics, list(self.distributor.frames.values()), posture)

    def _plan(self, posture: np.ndarray) -> PostureRoutine:
        return shifting_routine(self.dynamics, posture.copy(), self.contacts)

    def _follow(
        self, reference: Reference, contact: np.ndarray, dt: float
    ) -> tuple[str, ...] | None:
        """Move the held posture towards the commanded one; return the commanded support."""
        posture, wanted = reference.posture, reference.support
        if posture is not None:
            move = posture - self._held
            largest, step = abs(move).max(), self.values.posture_rate * dt
            self._held += move if largest <= step else move * (step / largest)
        elif self._routine is not None:
            touching = [foot for foot, touches in zip(self.contacts, contact) if touches]
            self._held, support = self._routine.advance(dt, touching)
            wanted = support if wanted is None else wanted
        return wanted

    def _static_torque(self, wanted: tuple[str, ...] | None, dt: float) -> np.ndarray | None:
        """Return the static torques of the present support, None when there are none."""
        change, weight = self.support, self.dynamics.weight
        if not change.support:
            self.solution, self._explanation = None, None
            self.shortfall = Shortfall(NO_CONTACT, 'every foot', 0.0)
            return None
        caps = change.caps(weight)
        solution = self._solve(caps)
        if not solution.feasible and caps:
            change.hold_back(wanted, dt)
            solution = self._distribute(change.caps(weight))
            if not solution.feasible:
                solution = self._distribute({})
        self.solution = solution
        self._explain(solution)
        return solution.torque

    def _solve(self, caps: Mapping[str, float]) -> StaticSolution:
        """Return what brakes the sway where the limits allow it, else what holds still."""
        acceleration = self.balance.brake(self.values.sway_damping)
        if acceleration is not None:
            solution = self._distribute(caps, acceleration)
            if solution.feasible:
                return solution
        return self._distribute(caps)

    def _distribute(
        self, caps: Mapping[str, float], acceleration: np.ndarray | None = None
    ) -> StaticSolution:
        return self.distributor.solve(self._q, self.support.support, caps, acceleration, True)

    def _firmness(self) -> list[float]:
        """Return how much each leg counts as standing, 0 to 1.

        A sole bears moments in proportion to what presses it. Beyond them it turns over its edge,
        and the leg moves no more than its own inertia.
        """
        self._stood |= bool(self.support.support)
        if not self._stood:  # at the start: what gives way before it carries never carries
            return [1.0] * len(self.contacts)
        wrenches = None if self.solution is None else self.solution.wrenches
        if wrenches is not None:
            self._loads = {foot: float(wrench[2]) for foot, wrench in wrenches.items()}
        part = self.dynamics.weight / len(self.contacts)
        return [
            min(share, max(0.0, self._loads.get(foot, 0.0) / part))
            for foot, share in zip(self.contacts, self.support.share)
        ]

    def _explain(self, solution: StaticSolution) -> None:
        """Take the reason of the first impossible tick a step further; never more in one tick."""
        if solution.feasible:
            self.shortfall = self._explanation = None
            return
        if self._explanation is None:
            self._explanation = solution.explanation
        assert self._explanation is not None
        if self.shortfall is None and self._explanation.step():
            self.shortfall = self._explanation.shortfalls[0]

    def _judge(self, torque: np.ndarray | None, dt: float) -> None:
        """Update status, fading and feed-forward from whether there are static torques."""
        values = self.values
        fade = values.fade_rate * dt
        if torque is not None:
            self._possible = torque
            self._fade = min(1.0, self._fade + fade)
            self._impossible_time = 0.0
        else:
            self._fade = max(0.0, self._fade - fade)
            self._impossible_time += dt
        if self.status == REACTING or self._impossible_time > values.fade_time:
            self.status = REACTING
        elif torque is None:
            self.status = INFEASIBLE
        else:
            self.status = CHANGING if self.support.changing else HOLDING
        step = values.effort_rate * dt
        aim = 0.0 if self.status == REACTING else self._fade * self._possible
        self.feedforward = self.feedforward + np.clip(aim - self.feedforward, -step, step)

    def _impedance(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return feed-forward and impedance, or the reaction, ``(n_joints,)``, N m."""
        values, limits = self.values, self._limits
        if self.status == REACTING and values.reaction != 'impedance':
            brake = values.damping if values.reaction == 'damping' else 0.0
            return np.asarray(-brake * limits * velocity)
        firmness = self._firmness()
        stiffness, damping = self._bounds.apply(
            values.stiffness * limits, values.damping * limits, values.delay, firmness
        )
        effort: np.ndarray = (
            self.feedforward
            + stiffness * (self._held - position)
            + damping * (self._held_rate - velocity)
        )
        self._soles.limit(self._q, effort, firmness)
        return effort

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say whether static torques hold, what is left of them, their norm, the solver's time."""
        solution = self.solution
        out[0], out[1] = self.feasible, self._fade
        out[2] = np.linalg.norm(self.feedforward)
        out[3] = 0.0 if solution is None else solution.solve_time
        out[4] = self.balance.margin

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (
            ('feasible', 'bool'),
            ('feedforward_share', '1'),
            ('static_torque_norm', 'N m'),
            ('solve_time', 's'),
            ('capture_margin', 'm'),
        )

    @property
    def feasible(self) -> bool:
        """Whether the feed-forward sent is a static torque that respects every limit."""
        return self.status in (HOLDING, CHANGING) and self._fade == 1.0


def _rest_posture(robot_file: RobotFile) -> np.ndarray:
    posture = given(
        robot_file.start.posture,
        f'controller static_torque on {robot_file.robot.name}',
        limit='needs a robot that starts at rest, from a posture',
        remedy='choose another controller',
        error=IncompatibleController,
    )
    return posture
