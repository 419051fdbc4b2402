# SPDX-License-Identifier: Apache-2.0
"""How fast many walks are: the sweep of Fig. 5.12 by some workers, and compass strides.

One worker, two and one for each processor sweep, where that is not the same.

Beside the strides, measured in the same run: the same time walked by MuJoCo's rollout, physics
alone, and one stride integrated by SciPy from the closed form of the compass.

    python benchmarks/sweep.py [--strides 100000] [--workers 2 8]

Besides wall time it prints CPU time, which a busy machine changes less.
"""

import argparse
from dataclasses import replace
import math
import os
from pathlib import Path
import tempfile
import time

import numpy as np
from scipy.integrate import solve_ivp

from walking_control.lab.experiments.stability.cycle import StableCycle
from walking_control.lab.experiments.sweeps.sweep import run_sweep
from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.loading import load_robot
from walking_control.simulation.registry import make_plant

MAPS = SweepTask(
    'dribbel',
    (
        Axis('set_point', 0.1, 0.5, 9),
        Axis('proportional_gain', 2.0, 18.0, 9),
        Axis('derivative_gain', 0.0, 0.5, 6),
    ),
    plant='rigid',
    duration=10.0,
)


def timed(function):
    """Return what a function returns, with wall and CPU time of this process, s."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def sweep_once(folder, workers):
    """Sweep by workers that are up already; return the bytes, wall time and CPU time of each."""
    import distributed

    file = Path(folder) / f'{workers}.parquet'
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host='127.0.0.1',
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = client.run(time.process_time)
        _, wall, cpu = timed(lambda: run_sweep(MAPS, file, scheduler=cluster.scheduler_address))
        after = client.run(time.process_time)
    return file.read_bytes(), wall, cpu, [after[name] - before[name] for name in before]


def sweeps(workers):
    """Print the sweep by one worker and by each of these numbers."""
    with tempfile.TemporaryDirectory() as folder:
        tables, busiest = [], []
        for count in sorted({1, *workers}):
            table, wall, cpu, each = sweep_once(folder, count)
            tables.append(table)
            busiest.append(max(each))
            print(
                f'Fig. 5.12, {MAPS.rows} walks of 10 s, {count} worker(s): {wall:.1f} s of wall '
                f'time, {MAPS.rows / wall:.0f} walks/s; CPU {cpu:.1f} s here, '
                + ', '.join(f'{t:.1f}' for t in each)
                + ' s in workers'
            )
        print(
            f'tables equal: {all(table == tables[0] for table in tables)}; CPU of the busiest '
            f'worker falls by {busiest[0] / busiest[-1]:.2f}'
        )


def strides(count):
    """Print compass strides, compiled; return CPU time and simulated time."""
    settled = StableCycle(load_robot('compass', [('rigid.tolerance', 1e-8)]))
    walker = settled.walker
    walker.start(0, *settled.section.state(settled.cycle.x))
    walker.stride_many(10, settled.section.longest)
    made, wall, cpu = timed(lambda: walker.stride_many(count, settled.section.longest))
    assert made == count
    print(f'{count} compass strides, local error 1e-8: {wall:.2f} s of wall time, {cpu:.2f} s CPU')
    return cpu, count * settled.cycle.period, settled.cycle


def mujoco_rollout(seconds):
    """Return CPU time of MuJoCo's rollout of the compass over a time, its own step."""
    from mujoco import mj_getState, mj_stateSize, mjtState, rollout

    robot_file = load_robot('compass', [('leg_inertia', 1e-3)])  # MuJoCo refuses points
    plant = make_plant(robot_file, 'mujoco', replace(robot_file.robot, ground_torque=None))
    plant.reset(robot_file.start)
    kind = mjtState.mjSTATE_FULLPHYSICS
    engine = plant.engine
    state = np.zeros(mj_stateSize(engine.model, kind))
    mj_getState(engine.model, engine.data, state, kind)
    steps = round(seconds / engine.model.opt.timestep)
    rollout.rollout(engine.model, engine.data, state[None], nstep=10)
    return timed(lambda: rollout.rollout(engine.model, engine.data, state[None], nstep=steps))[2]


def scipy_stride(cycle):
    """Return CPU time of one stride by SciPy, same local error, [DS09] (4.11) with (4.7)."""
    slope = math.radians(3.0)

    def rates(_, y):  # leg masses 1 kg at mid-leg, hip 5 kg, legs 1 m
        q3, q4, v3, v4 = y
        c, s, swing = math.cos(q4), math.sin(q4), 0.5 * math.sin(q3 + q4 - slope)
        cross = 0.25 - 0.5 * c
        M = np.array([[6.5 - c, cross], [cross, 0.25]])
        force = np.array(
            [
                9.81 * (6.5 * math.sin(q3 - slope) - swing) - s * v3 * v4 - 0.5 * s * v4**2,
                -9.81 * swing + 0.5 * s * v3**2,
            ]
        )
        return np.concatenate(([v3, v4], np.linalg.solve(M, force)))

    def stride():
        return solve_ivp(
            rates,
            (0.0, cycle.period),
            [cycle.x[0], -2.0 * cycle.x[0], *cycle.x[1:]],
            method='DOP853',
            rtol=1e-8,
            atol=1e-8,
        ).y[:, -1]

    q3, q4, *_ = stride()
    assert abs(q3 + q4 - cycle.x[0]) < 1e-6, 'the same walker'
    return timed(lambda: [stride() for _ in range(20)])[2] / 20


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--strides', type=int, default=100000)
    parser.add_argument('--workers', type=int, nargs='+', default=[2, os.cpu_count()])
    options = parser.parse_args()
    cpu, simulated, cycle = strides(options.strides)
    share = 0.01
    rollout = mujoco_rollout(share * simulated) / share
    print(
        f'the same time by MuJoCo rollout at the step of plant mujoco, physics alone: '
        f'{rollout:.0f} s CPU; ratio {rollout / cpu:.1f}'
    )
    scipy = scipy_stride(cycle) * options.strides
    print(
        f'as many strides by SciPy, no contact, no events: {scipy:.0f} s CPU; '
        f'ratio {scipy / cpu:.0f}'
    )
    sweeps(options.workers)


if __name__ == '__main__':
    main()
