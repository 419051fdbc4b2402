# SPDX-License-Identifier: Apache-2.0
"""A walk of the compiled rigid walker as a `Run`, for the measures every run has.

Thirty times as fast as the chain of plant, estimator, law and supervisor, and without two of them:
the law knows the state, and nothing but a fall or a trip ends the walk.
"""

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import RobotFile, World
from walking_control.runs.run import Run
from walking_control.safety.faults import FALL, Fault
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.compiled import Walker
from walking_control.simulation.rigid.walk import WalkRows

ENDINGS = {rm.FELL: 'fell', rm.TRIPPED: 'tripped', rm.DIVERGED: 'the integration diverged',
           rm.CHATTERED: 'contacts chattered'}


def record_run(walker: Walker, robot_file: RobotFile, controller: str,
               duration: float, dynamics: Dynamics) -> Run:
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
    run = Run(robot, controller, 'rigid', robot_file.values(World), columns=_columns(
        walker, rows, dynamics))
    if status in ENDINGS:
        run.fell, run.fall_reason = True, ENDINGS[status]
        run.fault = Fault(FALL, ENDINGS[status], float(run.time[-1]))
    return run


def _columns(walker: Walker, rows: WalkRows,
             dynamics: Dynamics) -> dict[str, np.ndarray]:
    n, robot = walker.model.n, walker.robot
    z, rates = rows.y[:, :n + 2], rows.y[:, n + 2:]
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
    for row, foot in zip(q, support, strict=True):   # the base so that the foot is where it stands
        dynamics.place(row)
        row[:2] = [-place for place in dynamics.foot_position(robot.feet[foot])[::2]]
    q[:, :2] += z[:, :2]
    time = rows.memo[:, rm.TIME]
    return {'time': time, 'q': q, 'v': v, 'coordinates': z[:, 2:], 'rates': rates[:, 2:],
            'support': support, 'steps': rows.mode[:, rm.STEPS], 'contact': contact,
            'effort': rows.effort, 'work': rows.memo[:, [rm.WORK]],
            'electrical_energy': _electrical_energy(walker, time, q, rows.effort)}


def _electrical_energy(walker: Walker, time: np.ndarray, q: np.ndarray,
                       effort: np.ndarray) -> np.ndarray:
    """Return the energy drawn at the motors' terminals; recuperation within a tick only."""
    robot, elapsed = walker.robot, np.diff(time)
    power = np.zeros(len(elapsed))
    elapsed = np.maximum(elapsed, 1e-12)
    for i, (joint, motor) in enumerate(robot.actuators.items()):
        moved = np.diff(q[:, 3 + robot.joint_index(joint)])
        power += motor.electrical_power(effort[:-1, i], moved / elapsed)
    return np.concatenate(([0.0], np.cumsum(np.maximum(power, 0.0) * elapsed)))
