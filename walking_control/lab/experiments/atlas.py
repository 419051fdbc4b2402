# SPDX-License-Identifier: Apache-2.0
"""All cycles of a robot over a parameter: the work behind `gait atlas`, see doc/atlas.md.

Cycles are sought at the middle and both ends of the range; each that lies on no branch yet is
followed both ways, and where the period doubles so are the cycles of twice the period.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from walking_control.exceptions import NotAchieved, require
from walking_control.lab.experiments.cycles import make_section, PointSection, Section
from walking_control.models import RobotFile
from walking_control.search import (
    Continuation,
    FAILURES,
    find_cycles,
    Orbit,
    polish,
    Stride,
    StrideFunction,
)

PLACES = (0.5, 0.0, 1.0)  # of the range, where cycles are sought
STARTS = 600
TICKED = 1e-3  # differences for a law with ticks: at each the derivative of a stride jumps
SAME = 1e-5  # largest entry of the difference of two states that are one
Branch = tuple[list[Orbit], str, str]  # cycles, where they come from and where they end


def find_atlas(
    robot_at: Callable[[float], RobotFile],
    parameter: str,
    ends: tuple[float, float],
    controller: str | None = None,
    seed: int = 0,
    strides: int = 4,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Return the cycles of the robots that a parameter makes between two ends, branch by branch.

    Args:
        robot_at: Value of the parameter -> `RobotFile`.
        strides: Of a cycle, at most. NotAchieved: no cycle is found.
    """
    low, high = ends
    require(low < high, f'range of {parameter}', value=ends, limit='must rise')
    robot_at(low)
    robot_file = robot_at(high)
    name, law = robot_file.robot.name, controller or robot_file.controller

    def section_at(u: float) -> Section | PointSection:
        return make_section(robot_at(low + (high - low) * u), controller)[0]

    def stride_at(u: float) -> StrideFunction:
        stride = section_at(u).stride

        def scaled(x: np.ndarray) -> Stride | None:
            there = stride(x * scale)
            return there and replace(there, x=there.x / scale)

        return scaled

    scale = section_at(0.5).scale
    single = Continuation(stride_at, difference=1e-6 if law == 'none' else TICKED)
    branches: list[Branch] = []
    for i, u in enumerate(PLACES):
        section = section_at(u)
        with suppress(NotAchieved):
            for cycle in section.keep(
                find_cycles(section.stride, section.sample(np.random.default_rng(seed), STARTS))
            ):
                z = np.append(cycle.x / scale, u)
                if not any(_holds(single, branch[0], z) for branch in branches):
                    branches += _follow_both(single, z, strides)
        progress((i + 1) / len(PLACES))
    require(
        branches,
        f'limit cycle of {name}',
        limit=f'none found at {parameter} of {low:g}, {0.5 * (low + high):g} and {high:g}',
        remedy='try another range, controller or seed, or --on-gait',
        error=NotAchieved,
    )

    def describe(orbit: Orbit) -> dict[str, Any]:
        q, v = section.state(orbit.z[:-1] * scale)
        times, lengths = zip(*((stride.period, stride.length) for stride in orbit.strides))
        values = [complex(value) for value in orbit.eigenvalues]
        return {
            'value': low + (high - low) * orbit.z[-1],
            'event': orbit.event,
            'stable': abs(values[0]) < 1.0 - 1e-6,
            'eigenvalues': values,
            'speed': sum(lengths) / sum(times),
            'step_times': times,
            'step_lengths': lengths,
            'q': q[section.reported].tolist(),
            'v': v[section.reported].tolist(),
        }

    return {
        'robot': name,
        'controller': law,
        'parameter': parameter,
        'coordinates': [robot_file.robot.coordinates[i] for i in section.reported],
        'branches': [
            {
                'strides': len(orbits[0].strides),
                'begin': begin,
                'end': end,
                'cycles': [describe(orbit) for orbit in orbits],
            }
            for orbits, begin, end in branches
        ],
    }


def _follow_both(single: Continuation, z: np.ndarray, strides: int) -> list[Branch]:
    """Return the branch through a cycle and those it doubles to."""
    first = single.orbit(z, np.eye(len(z))[-1])
    back, why = single.follow(first._replace(tangent=-first.tangent))
    ahead, end = single.follow(first)
    found = [(single, (back[:0:-1] + ahead, why, end))]
    for continuation, (orbits, _, _) in found:  # grows
        for orbit in orbits:
            if orbit.event == 'period doubling' and 2 * continuation.times <= strides:
                with suppress(*FAILURES):
                    twice, start = continuation.double(orbit)
                    ahead, end = twice.follow(start)
                    begin = orbit._replace(strides=2 * orbit.strides, event='')
                    found.append((twice, ([begin, *ahead], orbit.event, end)))
    return [branch for _, branch in found]


def _holds(single: Continuation, orbits: list[Orbit], z: np.ndarray) -> bool:
    """Return whether a cycle of one stride lies on a branch."""
    for a, b in zip(orbits, orbits[1:]):
        if len(a.strides) == 1 and (a.z[-1] - z[-1]) * (b.z[-1] - z[-1]) <= 0.0:
            share = (z[-1] - a.z[-1]) / (b.z[-1] - a.z[-1] or 1.0)
            x = polish(single.stride_at(z[-1]), (a.z + share * (b.z - a.z))[:-1])
            if x is not None and np.abs(x - z[:-1]).max() < SAME:
                return True
    return False
