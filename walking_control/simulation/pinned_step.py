# SPDX-License-Identifier: Apache-2.0
"""One step of a walker in space on a pinned stance foot, by Pinocchio and an adaptive integrator.

Constraint forces of the pinned foot by [DS09] (3.46), touchdown by (4.12); torques collocated with
the minimal coordinates follow a gait as functions of time.

Springs and friction of the joints act; whatever the forces pass through on their way from motors,
such as gears with losses, is not part of the step.

Simplifications: the stance foot neither slips nor lifts (its least normal force is reported); the
base does not turn (see `models.step_equations`).
"""

import numpy as np

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.gaits.gait import Gait
from walking_control.models import (
    constraint_forces,
    Dynamics,
    FADE,
    passive_torques,
    project_velocity,
    Robot,
    RobotFile,
    World,
)

LATE = 0.5  # share of the gait's period before which a foot near the floor does not touch down
BEYOND = 1.2  # the step is given up at this multiple of the period


class _Pinned:
    """Dynamics of base translation and joints with the first foot held."""

    def __init__(self, robot: Robot, world: World) -> None:
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        self.stance, self.swing = robot.feet
        base = len(robot.base.axes)
        # forces on the coordinates -> forces on base and joints, and the motion the other way
        lift = robot.joint_lifts[self.stance]
        self.spread = np.vstack((np.zeros((base, len(lift))), lift))
        self.gather = np.hstack((np.zeros((len(lift), base)), robot.supports[self.stance]))
        self._base = slice(base)
        require(
            not robot.has_gear_losses,
            f'pinned step of {robot.name}',
            value='efficiency below 1',
            limit='drives coordinates, not motors',
            remedy='set the efficiency of its gears to 1',
            error=IncompatiblePlant,
        )

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the forces on the minimal coordinates a motion takes.

        Args:
            q: Minimal coordinates, rad, ``(n,)``.
            v: Their rates, rad/s, ``(n,)``.
            a: And accelerations, rad/s^2, ``(n,)``.
        """
        dynamics, base = self.dynamics, self._base
        full_q, full_v = dynamics.base_from_coordinates(self.stance, q, v)
        M, A = dynamics.mass_matrix(full_q), dynamics.foot_jacobian(full_q, self.stance).T
        full_a = self.spread @ a
        full_a[base] -= A.T @ full_a + dynamics.foot_drift(full_q, full_v, self.stance)
        right = M @ full_a + self._bias(full_q, full_v)
        # the foot's force is what the base translation, free of any motor, leaves over
        return np.asarray(self.spread.T @ (right - A @ right[base]))

    def accelerate(
        self, q: np.ndarray, v: np.ndarray, effort: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return acceleration and force of the floor under efforts on the coordinates.

        Args:
            q: Coordinates of base and joints, ``(nv,)``.
            v: Their rates, ``(nv,)``.
            effort: On the minimal coordinates, N m, ``(n,)``.
        """
        dynamics = self.dynamics
        M, A = dynamics.mass_matrix(q), dynamics.foot_jacobian(q, self.stance).T
        force = self.gather.T @ effort - self._bias(q, v)
        reaction = constraint_forces(M, A, force, dynamics.foot_drift(q, v, self.stance))
        return np.linalg.solve(M, force + A @ reaction), reaction

    def _bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return all forces against the motion, those of springs and friction included."""
        bias, base = self.dynamics.bias(q, v), self._base.stop
        bias[base:] += passive_torques(self.dynamics.robot, q[base:], v[base:], FADE)
        return bias

    def height(self, q: np.ndarray) -> float:
        """Return the height of the swing foot, m."""
        self.dynamics.place(q)
        return self.dynamics.foot_position(self.swing)[2]

    def land(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and rates of the new support just after touchdown.

        Args:
            q: Coordinates of base and joints, ``(nv,)``.
            v: Their rates, ``(nv,)``.
        """
        dynamics, robot = self.dynamics, self.dynamics.robot
        v = project_velocity(dynamics.mass_matrix(q), dynamics.foot_jacobian(q, self.swing).T, v)
        joints = slice(robot.base.nv, None)
        return robot.supports[self.swing] @ q[joints], robot.supports[self.swing] @ v[joints]


def simulate_pinned_step(
    robot_file: RobotFile, gait: Gait
) -> tuple[str | None, np.ndarray, np.ndarray, float, float]:
    """Return (reason, q, v, period, least normal force) of a step driven by a gait's torques.

    Args:
        robot_file: The `RobotFile` of a robot whose base translates.
    """
    from scipy.integrate import solve_ivp

    pinned = _Pinned(robot_file.robot, robot_file.values(World))
    nv, normal = pinned.dynamics.nv, [np.inf]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        effort = pinned.torque(*(part[0] for part in gait.motion([t])))
        a, force = pinned.accelerate(y[:nv], y[nv:], effort)
        normal[0] = min(normal[0], force[2])
        return np.concatenate((y[nv:], a))

    def height(t: float, y: np.ndarray) -> float:
        return pinned.height(y[:nv]) if t > LATE * gait.period else 1.0

    height.terminal = True  # type: ignore[attr-defined]   # where scipy looks for it
    height.direction = -1.0  # type: ignore[attr-defined]   # likewise
    start = pinned.dynamics.base_from_coordinates(pinned.stance, *gait.start)
    run = solve_ivp(
        rates,
        (0.0, BEYOND * gait.period),
        np.concatenate(start),
        'DOP853',
        events=height,
        rtol=1e-9,
        atol=1e-10,
    )
    if not len(run.t_events[0]):
        return 'no touchdown', *gait.start, np.nan, normal[0]
    y = run.y_events[0][0]
    return None, *pinned.land(y[:nv], y[nv:]), float(run.t_events[0][0]), normal[0]
