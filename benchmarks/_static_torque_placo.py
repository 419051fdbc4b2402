# SPDX-License-Identifier: Apache-2.0
"""PlaCo's answers for `static_torque.py`; runs in PlaCo's own environment."""

import importlib.metadata
import json
from pathlib import Path
import statistics
import sys
import time

import numpy as np
import placo


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


def make_solver(question, q):
    """Return robot and solver that hold a posture on two soles."""
    robot = placo.RobotWrapper(question['urdf'], placo.Flags.ignore_collisions)
    robot.state.q = q
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    solver.gravity_only = True
    solver.enable_torque_limits(True)
    for frame in question['frames']:
        task = solver.add_frame_task(frame, robot.get_T_world_frame(frame))
        task.configure(frame, 'hard', 1.0, 1.0)
        contact = solver.add_planar_contact(task)
        contact.length, contact.width = question['length'], question['width']
        contact.mu = question['slope']
    joints = solver.add_joints_task()
    joints.set_joints(dict(zip(list(robot.model.names)[2:], q[7:].tolist())))
    joints.configure('posture', 'soft', 1e3)
    return robot, solver


def main():
    """Print the answers as one line of JSON."""
    question, repeats = json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])
    double, single, falling = (np.array(question[name]) for name in ('double', 'single', 'falling'))
    robot, solver = make_solver(question, double)

    def stand_on_two(q=double):
        robot.state.q = q
        robot.update_kinematics()
        return solver.solve(False)

    def stand_on_one():
        robot.state.q = single
        robot.update_kinematics()
        return robot.static_gravity_compensation_torques(question['frames'][0])

    answer = {
        'double': median_time(stand_on_two, repeats),
        'single': median_time(stand_on_one, repeats),
        'torque_norm': float(np.linalg.norm(stand_on_two().tau[6:])),
        'single_torque_norm': float(np.linalg.norm(stand_on_one()[-(len(single) - 7) :])),
        'version': importlib.metadata.version('placo'),
    }
    robot, solver = make_solver(question, falling)
    try:
        result = stand_on_two(falling)
        answer['falling'] = (
            f'success {result.success}, accelerations up to {abs(result.qdd).max():.3g}'
        )
    except RuntimeError as error:
        answer['falling'] = f'error: {error}'
    print(json.dumps(answer))


if __name__ == '__main__':
    main()
