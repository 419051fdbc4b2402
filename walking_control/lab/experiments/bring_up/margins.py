# SPDX-License-Identifier: Apache-2.0
"""What a walk in space bears: turning, going sideways, and a lab's noise with delay and a push."""

from collections.abc import Callable
from typing import Any

import numpy as np

from walking_control.controllers import Body, WalkingLaw
from walking_control.lab.experiments.bring_up.step import Outcome, Site, walk
from walking_control.loading import load_robot
from walking_control.models import Dynamics, RobotFile
from walking_control.models.scale import REFERENCE
from walking_control.simulation.sensors import noise_overrides

TRIED = 5.0  # s of a walk that tells whether a way of stepping works
PUSH = 0.3  # N s/kg
PUSHED = 8.25  # s
DELAY = 0.005  # s


def pace(robot_file: RobotFile) -> float:
    """Return sqrt(g L), L the longest a leg gets, m/s: what speeds are counted in."""
    gravity = robot_file.scale.gravity
    return float(np.sqrt(gravity * Body(Dynamics(robot_file.robot, gravity, 0.0)).leg_length))


def noisy_walk(site: Site, robot_file: RobotFile, name: str, duration: float, at: float) -> Outcome:
    """Walk with a lab's noise, delay and a push, forces by mass; the law is told.

    Args:
        site: Where.
        robot_file: The `RobotFile`.
        name: Of the law that walks.
        duration: s.
        at: When it is pushed, s.
    """
    light = min(1.0, robot_file.scale.mass / REFERENCE.mass)  # its cells would be smaller, too
    lab = [
        (key, value * light if '.force' in key else value) for key, value in noise_overrides('lab')
    ]  # the estimator is told
    delays = [('sensors.command_delay', DELAY), (f'{name}.delay', DELAY)]
    tried = load_robot(robot_file.path, [('controller', name), *lab, *delays])
    return walk(site, tried, 'mujoco', duration, (f'push={PUSH:g}@{at:g}s',))


def try_margins(site: Site, robot_file: RobotFile, law: type[WalkingLaw]) -> Outcome:
    """Walk with turning, sideways, and with delay, a push and a lab's noise, forces by mass.

    Args:
        site: Where.
        robot_file: The `RobotFile`.
        law: That walks.
    """
    values, name = vars(robot_file.values(law.parameters)), law.name

    def steer(key: str) -> Outcome:
        given = [('controller', name), (f'{name}.{key}', 0.5 * values[f'{key}_limit'])]
        return walk(site, load_robot(robot_file.path, given), 'mujoco', TRIED)

    trials: dict[str, tuple[float, Callable[[], Outcome]]] = {
        'turning': (TRIED, lambda: steer('turn')),
        'sideways': (TRIED, lambda: steer('sideways')),
        f'lab noise, {1e3 * DELAY:g} ms, push of {PUSH:g} N s/kg': (
            site.duration,
            lambda: noisy_walk(site, robot_file, name, site.duration, PUSHED),
        ),
    }
    figures: dict[str, Any] = {}
    passed = 0
    for trial, (duration, attempt) in trials.items():
        site.progress(trial)
        outcome = attempt()
        passed += outcome.ok
        figures[trial] = (
            f'{duration:g} s' if outcome.ok else f'no, {outcome.value} s: {outcome.what}'
        )
    return Outcome(
        True,
        ', '.join(f'{trial} {value}' for trial, value in figures.items()),
        figures=figures,
        share=passed / len(trials),
    )
