# SPDX-License-Identifier: Apache-2.0
"""Walking with random faults: every command must be safe, every fault must end in one."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
import math
import sys
import tracemalloc

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Measurement
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.registry import make_plant


def _spoil_position(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.position[rng.integers(len(measurement.position))] = math.nan


def _spoil_velocity(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.velocity[rng.integers(len(measurement.velocity))] = rng.choice([math.inf, 1e6])


def _spoil_imu(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.orientation[:] = rng.choice([0.0, math.nan])


def _spoil_force(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.foot_force[rng.integers(len(measurement.foot_force)), 2] = math.nan


def _jump(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.position[rng.integers(len(measurement.position))] += rng.choice([-1.0, 1.0]) * 2.0


def _turn_back_clock(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.stamp -= 0.5


def _lose_time(measurement: Measurement, rng: np.random.Generator) -> None:
    measurement.stamp += 0.3


def _flip_contact(measurement: Measurement, rng: np.random.Generator) -> None:
    """A few samples of a loose wire: to be bridged, not a fault."""
    measurement.foot_force[:] = 0.0


# name -> (what happens to measurements in a row, longer than bridge_time; whether it must latch)
FAULTS = {
    'position': (_spoil_position, True),
    'velocity': (_spoil_velocity, True),
    'imu': (_spoil_imu, True),
    'force': (_spoil_force, True),
    'jump': (_jump, True),
    'clock': (_turn_back_clock, True),
    'silence': (_lose_time, True),
    'contact': (_flip_contact, False),
}


@dataclass
class SoakResult:
    """What happened.

    Attributes:
        ticks: Control ticks.
        injected: name -> how often.
        faults: code -> how often it latched.
        unnoticed: Faults that had to latch and did not.
        unsafe: Commands that were not finite or beyond a limit.
        growth: Growth of Python's memory over the second half, bytes.
    """

    ticks: int = 0
    injected: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    unnoticed: list[tuple[int, str]] = field(default_factory=list)
    unsafe: list[tuple[int, str | None, list[float]]] = field(default_factory=list)
    growth: int = 0

    @property
    def passed(self) -> bool:
        """Whether every command was safe, every fault noticed and memory flat."""
        return not self.unnoticed and not self.unsafe and self.growth < 100_000


def soak(
    robot_file: RobotFile,
    duration: float,
    seed: int = 0,
    mean_interval: float = 3.0,
    progress: Callable[[float], None] | None = None,
) -> SoakResult:
    """Walk with random faults; after each one's reaction the robot is set up and cleared again.

    Args:
        robot_file: The `RobotFile`.
        duration: Simulated time, s.
        seed: Seed of what goes wrong when.
        mean_interval: Mean time between faults, s.
        progress: Called with the simulated time now and then.

    Returns:
        The `SoakResult`.
    """
    rng = np.random.default_rng(seed)
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    measurement, result = Measurement(plant.robot), SoakResult()
    ticks, names = round(duration / loop.period), list(FAULTS)
    limits = np.array(loop.supervisor.effort_limits)
    lasting, name = robot_file.values(SafetyParameters).bridge_time + 1.5 * loop.period, None

    def set_up() -> tuple[float, None]:
        plant.reset(robot_file.start)
        loop.reset()
        return rng.exponential(mean_interval), None

    due, reacting = set_up()
    tracemalloc.start()
    baseline = 0
    for tick in range(ticks):
        plant.measure(measurement)
        if name is None and plant.time >= due and loop.fault is None:
            name, draw, began = names[rng.integers(len(names))], rng.integers(2**32), plant.time
            due = plant.time + rng.exponential(mean_interval)
            result.injected[name] = result.injected.get(name, 0) + 1
        if name is not None:
            FAULTS[name][0](measurement, np.random.default_rng(draw))
        command = loop.tick(measurement)
        if not np.isfinite(command.effort).all() or (np.abs(command.effort) > limits).any():
            result.unsafe.append((tick, name, command.effort.tolist()))
        if loop.fault is not None and reacting is None:
            reacting = plant.time
            result.faults[loop.fault.code] = result.faults.get(loop.fault.code, 0) + 1
            name = None
        elif name is not None and plant.time - began > lasting:
            if FAULTS[name][1]:
                result.unnoticed.append((tick, name))
            name = None
        plant.step(command, loop.period)
        if reacting is not None and plant.time - reacting > 1.5:
            due, reacting = set_up()
        if tick == ticks // 2:
            baseline = tracemalloc.get_traced_memory()[0]
        if progress is not None and tick % 1000 == 0:
            progress(tick * loop.period)
    result.growth = tracemalloc.get_traced_memory()[0] - baseline
    tracemalloc.stop()
    result.ticks = ticks
    return result


def main() -> int:
    """Soak a robot and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', nargs='?', default='dribbel')
    parser.add_argument('--duration', type=float, default=1800.0, help='simulated time in s')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    robot_file = load_robot(options.robot)
    result = soak(
        robot_file,
        options.duration,
        options.seed,
        progress=lambda time: print(
            f'\r{time:7.0f} of {options.duration:g} s', end='', file=sys.stderr, flush=True
        ),
    )
    print(file=sys.stderr)
    for name, value in vars(result).items():
        print(f'{name:>10}: {value}')
    print('passed' if result.passed else 'failed')
    return 0 if result.passed else 1


if __name__ == '__main__':
    sys.exit(main())
