# SPDX-License-Identifier: Apache-2.0
"""How fast the compiled rigid plant is, beside MuJoCo on the same robot and Drake's compass gait.

Prints strides per second of the compass with the error of its fixed point, and how many times real
time Dribbel walks under its hip law; then the same of the rivals, measured in the same process.
Drake (pip install drake) is left out where it is missing.

    python benchmarks/rigid_plant.py [--strides 20000] [--seconds 200]
"""

import argparse
import time

import numpy as np

from walking_control.lab.experiments.cycles import Section
from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.search.return_map import polish
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid.compiled import Walker

FAST = (('rigid.tolerance', 1e-8), ('rigid.max_step', 0.2))
EXACT = (('rigid.tolerance', 1e-13), ('rigid.max_step', 0.05))


def timed(function, repeats=3):
    """Return the shortest time of a call, s."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def fixed_point(overrides):
    """Return the compass's walker and the touchdown state of its stable cycle."""
    robot_file = load_robot('compass', overrides)
    section = Section(Walker(robot_file), robot_file.values(World).gravity)
    start = robot_file.start
    return section, polish(section.stride, np.array([start.q[0], *start.v]))


def compass_strides(count):
    """Return strides per second and the error of the fixed point."""
    section, x = fixed_point(FAST)
    _, exact = fixed_point(EXACT)
    walker = section.walker
    walker.start(0, *section.state(x))
    walker.stride_many(10)
    return count / timed(lambda: walker.stride_many(count)), float(np.abs(x - exact).max())


def dribbel_speed(seconds):
    """Return how many times real time Dribbel walks, compiled and plain."""
    robot_file = load_robot('dribbel')
    factors = []
    for compiled, duration in ((True, seconds), (False, 2.0)):
        walker = Walker(robot_file, compiled=compiled)

        def walk():
            walker.start(0, robot_file.start.q, robot_file.start.v)
            assert walker.walk(duration) == 0

        walk()
        factors.append(duration / timed(walk, 2))
    return factors


def mujoco_speed(seconds):
    """Return how many times real time MuJoCo steps Dribbel: its physics alone, no control."""
    import mujoco

    robot_file = load_robot('dribbel')
    plant = make_plant(robot_file, 'mujoco')
    substeps = round(0.01 / plant.engine.model.opt.timestep)

    def walk():
        plant.reset(robot_file.start)
        for _ in range(int(seconds / 0.01)):
            mujoco.mj_step(plant.engine.model, plant.engine.data, substeps)

    return seconds / timed(walk, 2)


def drake_strides(seconds):
    """Return strides and wall time of Drake's compass gait as it comes, or None."""
    try:
        from pydrake.examples import CompassGait
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import EventStatus
    except ImportError:
        return None
    simulator = Simulator(CompassGait())
    context = simulator.get_mutable_context()
    context.SetAccuracy(1e-4)  # the isolation of touchdown asks for it
    toes = []

    def count(root):
        toes.append(root.get_discrete_state_vector()[0])
        return EventStatus.DidNothing()

    def walk():
        context.SetTime(0.0)
        context.get_mutable_continuous_state_vector().SetFromVector([0.0, 0.0, 0.4, -2.0])
        simulator.Initialize()
        simulator.AdvanceTo(seconds)

    simulator.set_monitor(count)
    walk()
    simulator.clear_monitor()
    strides = int(np.sum(np.diff(toes) > 0.1))
    assert strides > seconds, 'Drake walks about 1.3 strides per second'
    return strides, timed(walk, 2)


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--strides', type=int, default=20000)
    parser.add_argument('--seconds', type=float, default=200.0)
    options = parser.parse_args()
    rate, error = compass_strides(options.strides)
    print(f'compass, compiled: {rate:.0f} strides/s, fixed point to {error:.1e}')
    drake = drake_strides(options.seconds / 10)
    if drake is None:
        print('compass, Drake: not installed')
    else:
        strides, wall = drake
        print(f'compass, Drake: {strides / wall:.0f} strides/s; ratio {rate * wall / strides:.0f}')
    compiled, plain = dribbel_speed(options.seconds)
    print(
        f'Dribbel, compiled: {compiled:.0f} times real time under the hip law; '
        f'plain Python and Pinocchio: {plain:.1f}'
    )
    mujoco = mujoco_speed(min(options.seconds, 20.0))
    print(
        f'Dribbel, MuJoCo physics alone: {mujoco:.0f} times real time; '
        f'ratio {compiled / mujoco:.1f}'
    )


if __name__ == '__main__':
    main()
