# SPDX-License-Identifier: Apache-2.0
"""The static verdict along a gait: what would hold each posture of a step, beside what walks it.

walker3d walks on its gait. At parts of one step each posture is held on the stance foot alone
([STATIC] (3)): how far from the middle of the sole the floor would have to press, and the largest
joint torque. Beside it stand the same with the acceleration of the centre of mass counted as
weight, and what the motors and the floor did. A step that no posture of it could stand in is
dynamic walking; what the acceleration explains of the torques is not friction or swing.

Run: python examples/statics_along.py out
"""

import os
from pathlib import Path
import sys
from typing import NamedTuple

import numpy as np

import walking_control as wc
from walking_control.statics.contacts import centre_of_pressure

SPEED, DURATION = 0.8, 4.0  # m/s, s
SOLE = np.array([0.06, 0.03])  # half of it, m
PARTS = 12
HUGE = 1e4  # N m and m: limits that never bind, so that every posture gets its torques


class Part(NamedTuple):
    """A posture of the step.

    Attributes:
        share: Of the step that is over.
        place: Of the pressure from the middle of the sole at rest, m, ``(2,)``.
        moving_place: The same with the mass's acceleration.
        torque: Largest of a joint at rest, N m.
        moving_torque: With the mass's acceleration.
        motor: Largest of the motors as it walked, N m.
        friction: Share of the weight that the floor gave along itself.
    """

    share: float
    place: np.ndarray
    moving_place: np.ndarray
    torque: float
    moving_torque: float
    motor: float
    friction: float

    @property
    def stands(self) -> bool:
        """Whether the posture could be held."""
        return bool((abs(self.place) <= SOLE).all())


def step_of(run: wc.Run) -> np.ndarray:
    """Return the rows of the last whole step on the left foot."""
    change = np.diff((run.support == 0).astype(int))
    left, right = (np.flatnonzero(change == sign) + 1 for sign in (1, -1))
    start = left[left < right[-1]][-1]
    return np.arange(start, right[right > start][0])


def _largest(torque: np.ndarray | None) -> float:
    return float(np.abs(np.asarray(torque)).max())


def along(robot_file: wc.RobotFile, run: wc.Run) -> list[Part]:
    """Return what would hold the postures of a step, and what moved through them."""
    dynamics, foot = wc.Dynamics(robot_file.robot), robot_file.robot.feet[0]
    contact = wc.Contact(foot, 2.0 * HUGE, 2.0 * HUGE, friction=HUGE)
    statics = wc.StaticTorque(
        dynamics, {foot: contact}, effort_limits=dict.fromkeys(robot_file.robot.joints, HUGE)
    )
    rows, parts = step_of(run), []
    mass = np.array([dynamics.center_of_mass(q) for q in run.q])
    velocity = np.gradient(mass, run.time, axis=0)
    width = 10  # ticks over which differences of the mass's place are smooth
    for row in rows[np.linspace(width, len(rows) - width, PARTS).astype(int)]:
        span = run.time[row + width] - run.time[row - width]
        acceleration = (velocity[row + width] - velocity[row - width]) / span
        still = statics.solve(run.q[row])
        moving = statics.solve(run.q[row], acceleration=acceleration)
        force = run.foot_force[row, 0]
        assert still.wrenches and moving.wrenches  # nothing limits them
        parts.append(
            Part(
                float(row - rows[0]) / len(rows),
                centre_of_pressure(still.wrenches[foot]),
                centre_of_pressure(moving.wrenches[foot]),
                _largest(still.torque),
                _largest(moving.torque),
                _largest(run.effort[row]),
                float(np.hypot(*force[:2]) / max(force[2], 1e-9)),
            )
        )
    return parts


def draw(parts: list[Part], folder: str) -> Path:
    """Draw torques and pressure over the step into a folder; return the path."""
    from matplotlib.figure import Figure

    os.makedirs(folder, exist_ok=True)
    upper, lower = Figure(figsize=(6, 5)).subplots(2, 1, sharex=True)
    share = [part.share for part in parts]
    for name in ('torque', 'moving_torque', 'motor'):
        upper.plot(share, [getattr(part, name) for part in parts], label=name.replace('_', ', '))
    for name in ('place', 'moving_place'):
        lower.plot(share, [getattr(part, name)[0] for part in parts], label=name.replace('_', ', '))
    lower.axhspan(-SOLE[0], SOLE[0], alpha=0.2)
    upper.set_ylabel('largest joint torque, N m')
    lower.set_ylabel('pressure ahead, m')
    lower.set_xlabel('share of the step')
    for axes in (upper, lower):
        axes.legend()
    path = Path(folder) / 'statics_along.svg'
    upper.figure.savefig(path)
    return path


def main(folder: str | None = None) -> list[Part]:
    """Walk, print a row for each part of a step, draw it into a folder; return the parts."""
    robot_file = wc.load_robot('walker3d', [('natural_walking.speed', SPEED)])
    run = wc.simulate(robot_file, 'natural_walking', duration=DURATION)
    parts = along(robot_file, run)
    print('share  stands  pressure ahead, m      largest torque, N m           friction')
    print('               at rest   moving       at rest   moving   motors')
    for part in parts:
        print(
            f'{part.share:5.2f}  {"yes" if part.stands else "no":6}  {part.place[0]:7.3f}  '
            f'{part.moving_place[0]:7.3f}      {part.torque:7.1f}  {part.moving_torque:7.1f}  '
            f'{part.motor:7.1f}     {part.friction:8.2f}'
        )
    if folder is not None:
        print(draw(parts, folder))
    return parts


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else None)
