# SPDX-License-Identifier: Apache-2.0
"""TSID's answers for `static_torque.py`; runs in TSID's own environment."""

import importlib.metadata
import json
from pathlib import Path
import statistics
import sys
import time

import numpy as np
import pinocchio as pin

try:
    from tsid import tsid_pywrap as tsid  # the wheel of 1.7.1 hides its names here
except ImportError:
    import tsid


def median_time(function, repeats):
    """Return the median thread time of a call, s."""
    for _ in range(50):
        function()
    times = []
    for _ in range(repeats):
        start = time.thread_time_ns()
        function()
        times.append(time.thread_time_ns() - start)
    return 1e-9 * statistics.median(times)


class Stand:
    """A posture held on soles by a task on accelerations."""

    def __init__(self, question, frames, q):
        model = pin.buildModelFromUrdf(question['urdf'], pin.JointModelFreeFlyer())
        robot = self.robot = tsid.RobotWrapper(model, tsid.FLOATING_BASE_SYSTEM, False)
        self.q, self.v = q, np.zeros(robot.nv)
        program = self.program = tsid.InverseDynamicsFormulationAccForce('stand', robot, False)
        program.computeProblemData(0.0, q, self.v)
        x, y = 0.5 * question['length'], 0.5 * question['width']
        corners = np.array([[x, x, -x, -x], [y, -y, y, -y], [0.0] * 4])
        self.kept = []  # TSID holds references only
        for frame in frames:
            contact = tsid.Contact6d(
                frame,
                robot,
                frame,
                corners,
                np.array([0.0, 0.0, 1.0]),
                question['slope'],
                0.0,
                question['max_force'],
            )
            contact.setKp(np.zeros(6))
            contact.setKd(np.zeros(6))
            contact.setReference(robot.framePosition(program.data(), model.getFrameId(frame)))
            program.addRigidContact(contact, 1e-6, 1.0, 0)
            self.kept.append(contact)
        posture = tsid.TaskJointPosture('posture', robot)
        posture.setKp(np.zeros(robot.na))
        posture.setKd(np.zeros(robot.na))
        path = tsid.TrajectoryEuclidianConstant('posture', q[7:])
        posture.setReference(path.computeNext())
        program.addMotionTask(posture, 1.0, 1, 0.0)
        bounds = tsid.TaskActuationBounds('limits', robot)
        limits = np.array(model.effortLimit[-robot.na :])
        bounds.setBounds(-limits, limits)
        program.addActuationTask(bounds, 1.0, 0, 0.0)
        self.kept += [posture, path, bounds]
        self.solver = tsid.SolverHQuadProgFast('solver')
        self.solver.resize(program.nVar, program.nEq, program.nIn)

    def solve(self):
        """Return TSID's solution and its torques."""
        solution = self.solver.solve(self.program.computeProblemData(0.0, self.q, self.v))
        return solution, self.program.getActuatorForces(solution)


def main():
    """Print the answers as one line of JSON."""
    question, repeats = json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])
    frames = question['frames']
    double = Stand(question, frames, np.array(question['double']))
    single = Stand(question, frames[:1], np.array(question['single']))
    answer = {
        'double': median_time(double.solve, repeats),
        'single': median_time(single.solve, repeats),
        'torque_norm': float(np.linalg.norm(double.solve()[1])),
        'single_torque_norm': float(np.linalg.norm(single.solve()[1])),
        'version': importlib.metadata.version('tsid'),
    }
    falling = Stand(question, frames, np.array(question['falling']))
    solution, _ = falling.solve()
    accelerations = falling.program.getAccelerations(solution)
    answer['falling'] = (
        f'status {int(solution.status)} (0 is optimal), accelerations up to '
        f'{abs(accelerations).max():.3g}'
    )
    print(json.dumps(answer))


if __name__ == '__main__':
    main()
