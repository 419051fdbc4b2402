# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters, rotors and friction of any robot from its motion and efforts.

Reads a recorded run (the folder of `simulate --out`) and the robot file that is to be judged.

Equations of motion are linear in the ten parameters of a link: mass, first moments, inertia. As
``d(M v)/dt = effort + dM/dt v - C v - g``, sums over windows with weights that vanish at both ends
need no acceleration: by parts, momenta ``M v`` enter times the change of the weight. The regressors
are Pinocchio's. The wrench on a foot that alone touches the floor drops out with motions that leave
the foot where it is.

Such sums tell only some combinations of the parameters (base parameters). The rest stays where the
model has it: a prior lets each log-Cholesky parameter (Rucker and Wensing, 2022; any values are a
possible body) move by a factor of e. Intervals come from fits without a tenth of the record each.
"""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any, NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput, WalkingControlError
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import RobotFile, World
from walking_control.runs.tables import effort_headers, joint_unit, read_table

WINDOW = 0.3  # s
BLOCKS = 10  # of the part that is fitted, for the intervals
SETTLE = 0.02  # s around touchdowns that are left out
SLOW = 0.1  # rad/s: dry friction changes sign over about that
PER_LINK = ('mass', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
LINK_UNITS = 'kg', *3 * ['kg m'], *6 * ['kg m^2']
PER_JOINT = {'viscous': 'N m s/rad', 'coulomb': 'N m', 'offset': 'N m', 'rotor': 'kg m^2'}


class Motion(NamedTuple):
    """A record of T rows in Pinocchio's coordinates; an effort is held until the next row."""

    time: np.ndarray  # s, ``(T,)``
    q: np.ndarray  # ``(T, nq)``
    effort: np.ndarray  # of all velocities, ``(T, nv)``
    foot: np.ndarray  # frame that alone touches the floor; -1: a fixed base; -2: left out


class Sums(NamedTuple):
    """Equations of K windows."""

    columns: np.ndarray  # ``(K, m, 10 n_links + 4 n_joints)``
    left: np.ndarray  # mean effort, N m, ``(K, m)``
    time: np.ndarray  # middle of each, s, ``(K,)``


def identify_inertias(
    model: Any,
    motion: Motion,
    fitted: float = 0.7,
    confidence: float = 0.95,
    window: float = WINDOW,
) -> dict[str, Any]:
    """Return what a record says of masses, centres of mass, inertias, rotors and friction.

    Args:
        model: Pinocchio's, with what is known before; where its armature is zero there is no rotor.
        fitted: Share of the record that is fitted; the rest is predicted.

    Returns ``parameters``: name -> ``value``, ``low``, ``high``, ``unit``, ``robot_file``, ``told``
    (whether the record halves the prior's deviation), of a link in the frame of its joint;
    ``base_parameters`` of the robot, ``seen``: combinations that the record tells so well;
    ``condition`` of the equations; ``held_out``: rms of the efforts, and of what is missed of them
    as identified and with the model's inertias and friction fitted, N m. Raises `InvalidInput`: the
    record is too short.
    """
    from scipy.stats import t as student

    sums = window_sums(model, motion, window)
    last = motion.time[0] + fitted * np.ptp(motion.time)
    rows, after = np.flatnonzero(sums.time < last - window), sums.time > last + window
    if len(rows) < 2 * BLOCKS or not after.any():
        raise InvalidInput(
            'record',
            value=f'{len(rows)} windows',
            limit=f'must have at least {2 * BLOCKS} to fit',
            remedy='record a longer motion',
        )
    bodies = _Bodies(model, motion.effort)
    x = bodies.start
    for _ in range(3):  # equations weigh as they are met
        off = sums.left[rows] - sums.columns[rows] @ bodies.parameters(x)
        sigma = np.sqrt((off**2).mean(axis=0)) + 1e-9
        x = bodies.fit(sums, rows, sigma, x)
    others = [
        bodies.parameters(bodies.fit(sums, np.setdiff1d(rows, block), sigma, x, 4))
        for block in np.array_split(rows, BLOCKS)
    ]
    value, nominal = bodies.parameters(x), bodies.parameters(bodies.start)
    columns = sums.columns[rows] / sigma[:, None]
    alone, behind, seen = bodies.deviations(columns, x)
    half = student.ppf(0.5 * (1.0 + confidence), BLOCKS - 1) * np.sqrt(
        (BLOCKS - 1) * np.var(others, axis=0) + behind**2
    )
    rms = [
        float(np.sqrt(((sums.left - sums.columns @ p)[after] ** 2).mean()))
        for p in (0.0 * value, value, bodies.friction_alone(sums, rows, sigma))
    ]
    rank, condition = excitation(model, columns)
    return {
        'confidence': confidence,
        'windows': len(rows),
        'base_parameters': rank,
        'seen': seen,
        'condition': condition,
        'held_out': dict(zip(('effort', 'identified', 'robot_file'), rms, strict=True)),
        'parameters': {
            name: {
                'value': float(value[i]),
                'low': float(value[i] - half[i]),
                'high': float(value[i] + half[i]),
                'unit': unit,
                'robot_file': float(nominal[i]),
                'told': bool(behind[i] < 0.5 * alone[i]),
            }
            for i, (name, unit) in enumerate(bodies.names)
        },
    }


def read_motion(path: Path, robot_file: RobotFile) -> tuple[Any, Motion]:
    """Return Pinocchio's model and the motion in the table of a run: base, joints, efforts, forces.

    What is within `SETTLE` of a time when not exactly one foot bears load is left out.
    """
    from scipy.ndimage import minimum_filter1d

    robot, world, pick = (
        robot_file.robot,
        robot_file.values(World),
        read_table(path, robot_file.robot),
    )
    dynamics, time = Dynamics(robot, world.gravity, world.slope), pick('time [s]')[:, 0]
    place = pick(*(f'{axis} [m]' for axis in 'xyz'), *(f'quaternion_{i} [1]' for i in 'xyzw'))
    joints = pick(*(f'{joint} [{joint_unit(robot, joint)}]' for joint in robot.joints))
    q = np.array(
        [
            dynamics.to_pinocchio(np.r_[robot.base.coordinates(row[:3], row[3:]), angles]).copy()
            for row, angles in zip(place, joints, strict=True)
        ]
    )
    effort = np.zeros((len(time), dynamics.nv))
    driven = [
        dynamics.pinocchio_order[robot.base.nv + robot.joint_index(joint)]
        for joint in robot.actuators
    ]
    effort[:, driven] = pick(*effort_headers(robot))[:, : len(driven)]
    loaded = np.stack(
        [pick(*(f'{foot}_force_{axis} [N]' for axis in 'xyz')).any(axis=1) for foot in robot.feet],
        1,
    )
    ticks = 2 * round(SETTLE / float(np.median(np.diff(time)))) + 1
    alone = minimum_filter1d(
        (loaded & (loaded.sum(axis=1) == 1)[:, None]).astype(int), ticks, axis=0
    )
    frames = np.array([*dynamics.frames.values()])
    return dynamics.model, Motion(
        time, q, effort, np.where(alone.any(axis=1), frames[alone.argmax(axis=1)], -2)
    )


class _Bodies:
    """Parameters of all links and joints as functions of what is fitted, x."""

    def __init__(self, model: Any, effort: np.ndarray) -> None:
        import pinocchio as pin

        self.links, self.joints = model.njoints - 1, _joints(model)
        self.rotor = np.array(model.armature[model.nv - self.joints :])
        starts = []
        for inertia in list(model.inertias)[1:]:
            matrix = pin.PseudoInertia.FromInertia(inertia).toMatrix()
            matrix[:3, :3] += 1e-7 * max(inertia.mass, 1e-3) * np.eye(3)
            upper = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1] + 0.0
            scale = upper[3, 3]
            upper /= scale
            starts += [
                np.log(scale),
                *np.log(np.diag(upper)[:3]),
                upper[0, 1],
                upper[1, 2],
                upper[0, 2],
                *upper[:3, 3],
            ]
        self.start = np.concatenate((starts, np.zeros(4 * self.joints)))
        # one over what is expected: a factor of e, friction as large as the efforts at 1 rad/s
        size = np.maximum(np.sqrt((effort[:, -self.joints :] ** 2).mean(axis=0)), 1e-9)
        self.weigh = np.concatenate(
            (np.ones(10 * self.links), *3 * [1.0 / size], np.ones(self.joints))
        )
        self.names = [
            (f'{link}.{name}', unit)
            for link in list(model.names)[1:]
            for name, unit in zip(PER_LINK, LINK_UNITS, strict=True)
        ]
        self.names += [
            (f'{joint}.{kind}', unit)
            for kind, unit in PER_JOINT.items()
            for joint in list(model.names)[-self.joints :]
        ]

    def parameters(self, x: np.ndarray) -> np.ndarray:
        """Return the parameters the equations are linear in."""
        import pinocchio as pin

        n = 10 * self.links
        links = [
            pin.LogCholeskyParameters(part).toDynamicParameters() for part in x[:n].reshape(-1, 10)
        ]
        return np.concatenate(
            (*links, x[n : n + 3 * self.joints], self.rotor * np.exp(x[n + 3 * self.joints :]))
        )

    def derivative(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of `parameters`."""
        import pinocchio as pin

        n = 10 * self.links
        result = np.eye(len(x))
        for i, part in enumerate(x[:n].reshape(-1, 10)):
            at = slice(10 * i, 10 * i + 10)
            result[at, at] = pin.LogCholeskyParameters(part).calculateJacobian()
        last = n + 3 * self.joints
        result[last:, last:] = np.diag(self.rotor * np.exp(x[last:]))
        return result

    def fit(
        self, sums: Sums, rows: np.ndarray, sigma: np.ndarray, x: np.ndarray, steps: int = 60
    ) -> np.ndarray:
        """Return the x that meets equations and prior best."""
        from scipy.optimize import least_squares

        A = (sums.columns[rows] / sigma[:, None]).reshape(-1, sums.columns.shape[2])
        R = np.asarray(np.linalg.qr(np.column_stack((A, (sums.left[rows] / sigma).ravel())), 'r'))
        found = least_squares(
            lambda x: np.r_[
                R[:, :-1] @ self.parameters(x) - R[:, -1], self.weigh * (x - self.start)
            ],
            x,
            lambda x: np.vstack((R[:, :-1] @ self.derivative(x), np.diag(self.weigh))),
            x_scale='jac',
            ftol=1e-6,
            max_nfev=steps,
        )
        return np.asarray(found.x)

    def deviations(self, columns: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the deviations of parameters by the prior alone and with equations, and `seen`."""
        turn = self.derivative(x) / self.weigh
        A = columns.reshape(-1, columns.shape[2]) @ turn
        left = np.linalg.inv(A.T @ A + np.eye(len(x)))
        seen = np.linalg.svd(A[:, : 10 * self.links], compute_uv=False) > np.sqrt(3.0)
        return (
            np.linalg.norm(turn, axis=1),
            np.sqrt(np.einsum('ij,jk,ik->i', turn, left, turn)),
            int(seen.sum()),
        )

    def friction_alone(self, sums: Sums, rows: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Return the parameters with the model's inertias and friction to the equations."""
        p, n = self.parameters(self.start), 10 * self.links
        A = sums.columns[rows, :, n : n + 3 * self.joints] / sigma[:, None]
        left = (sums.left[rows] - sums.columns[rows] @ p) / sigma
        p[n : n + 3 * self.joints] = np.linalg.lstsq(
            A.reshape(left.size, -1), left.ravel(), rcond=None
        )[0]
        return p


def window_sums(model: Any, motion: Motion, length: float = WINDOW) -> Sums:
    """Return the equations of all windows, each over half of the next."""
    count, base = len(motion.time), model.nv - _joints(model)
    dt = float(np.median(np.diff(motion.time)))
    momentum, rate, free, v = _regressors(model, motion)
    half = max(4, round(0.5 * length / dt))
    phase = np.pi * (np.arange(2 * half) + 0.5) / (2 * half)
    weight, slope = np.sin(phase) ** 2 / half, np.sin(2.0 * phase) * np.pi / (2 * half**2 * dt)
    joints = v[:, base:]
    losses = np.stack((joints, np.tanh(joints / SLOW), np.ones(joints.shape)), 1)
    effort = 0.5 * (motion.effort + np.vstack((motion.effort[:1], motion.effort[:-1])))
    columns, left, middle = [], [], []
    for first in range(0, count - 2 * half + 1, half):
        rows = slice(first, first + 2 * half)
        if (
            motion.foot[first] == -2
            or np.ptp(motion.foot[rows])
            or motion.time[rows.stop - 1] - motion.time[first] > 2.2 * half * dt
        ):
            continue
        N = np.array(free[rows])
        turning = np.gradient(N, dt, axis=0) * weight[:, None, None] + N * slope[:, None, None]
        inertial = -np.einsum('kij,kip->jp', turning, momentum[rows]) - np.einsum(
            'k,kij,kip->jp', weight, N, rate[rows]
        )
        lost = np.einsum('k,kij,kli->jli', weight, N[:, base:], losses[rows])
        rotor = -np.einsum('kij,ki->ji', turning[:, base:], joints[rows])
        columns.append(np.hstack((inertial, lost.reshape(len(lost), -1), rotor)))
        left.append(np.einsum('k,kij,ki->j', weight, N, effort[rows]))
        middle.append(motion.time[first + half])
    return Sums(np.array(columns), np.array(left), np.array(middle))


def _regressors(
    model: Any, motion: Motion
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return what parameters give momenta and their rates, free motions, and velocities."""
    import pinocchio as pin

    data, base = model.createData(), model.nv - _joints(model)
    still, rest, eps = pin.Model(model), np.zeros(model.nv), 1e-5
    still.gravity.linear = np.zeros(3)
    v = np.array(
        [
            pin.difference(model, motion.q[a], motion.q[a + 2])
            / (motion.time[a + 2] - motion.time[a])
            for a in range(len(motion.time) - 2)
        ]
    )
    v = np.vstack((v[0], v, v[-1]))
    momentum, rate, free = [], [], []
    for q, w, foot in zip(motion.q, v, motion.foot, strict=True):
        ahead, behind = (
            pin.computeJointTorqueRegressor(
                still, data, pin.integrate(model, q, way * w), rest, w
            ).copy()
            for way in (eps, -eps)
        )
        momentum.append(0.5 * (ahead + behind))
        rate.append(
            (ahead - behind) / (2.0 * eps)
            - pin.computeJointTorqueRegressor(model, data, q, w, rest)
        )
        keep = np.eye(model.nv)[:, base if foot >= 0 else 0 :]
        if foot >= 0:  # the base moves with the joints so that the foot stays
            jacobian = pin.computeFrameJacobian(model, data, q, int(foot))
            keep[:base] = -np.linalg.lstsq(jacobian[:, :base], jacobian[:, base:], rcond=None)[0]
        free.append(keep)
    return np.array(momentum), np.array(rate), free, v


def _joints(model: Any) -> int:
    """Return how many velocities are those of joints, not of a free base."""
    return int(model.nv - (model.joints[1].nv if model.joints[1].nv > 1 else 0))


def excitation(model: Any, columns: np.ndarray) -> tuple[int, float]:
    """Return how many base parameters there are, and the condition of those the record shows best.

    The number is the rank that random states would give; the condition that of as many columns of
    unit length, chosen by a pivoted QR decomposition.
    """
    import pinocchio as pin
    from scipy.linalg import qr

    data, rng, n = model.createData(), np.random.default_rng(0), 10 * (model.njoints - 1)
    rows = [
        pin.computeJointTorqueRegressor(
            model,
            data,
            pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)),
            *rng.normal(size=(2, model.nv)),
        ).copy()
        for _ in range(2 * n)
    ]
    rank = int(np.linalg.matrix_rank(np.vstack(rows), tol=1e-8 * n))
    A = columns[:, :, :n].reshape(-1, n)
    A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-12 * np.linalg.norm(A))
    _, R, order = qr(A, mode='economic', pivoting=True)
    singular = np.linalg.svd(A[:, order[:rank]], compute_uv=False)
    return rank, float(singular[0] / max(singular[-1], 1e-300))


def show(found: dict[str, Any]) -> None:
    """Print what `identify_inertias` returns: what the record tells."""
    held_out = found['held_out']
    print(
        f'{found["windows"]} windows, condition {found["condition"]:.3g}, {found["seen"]} '
        f'combinations told, of {found["base_parameters"]} base parameters'
    )
    print(
        f'efforts held out: {held_out["effort"]:.3g} N m rms; missed '
        f'{held_out["identified"]:.3g}, by what was known before, '
        f'with friction fitted, {held_out["robot_file"]:.3g}'
    )
    for name, it in found['parameters'].items():
        if it['told']:
            print(
                f'{name:28} {it["value"]:10.5f}  {it["low"]:10.5f} to {it["high"]:10.5f}  '
                f'before {it["robot_file"]:10.5f} {it["unit"]}'
            )


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: python examples/inertias.py RUN ROBOT')
    try:
        show(
            identify_inertias(*read_motion(Path(sys.argv[1]), load_robot(sys.argv[2])), window=0.15)
        )
    except WalkingControlError as error:
        print(f'error: {error}', file=sys.stderr)
        sys.exit(2)
