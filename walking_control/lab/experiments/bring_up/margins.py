# SPDX-License-Identifier: Apache-2.0
"""What a walk in space bears: turning, going sideways, and a lab's noise with delay and a push."""

from typing import Any

import numpy as np

from walking_control.controllers.stepping.body import Body
from walking_control.controllers.stepping.law import WalkingLaw
from walking_control.lab.experiments.bring_up.step import Outcome, Site, walk
from walking_control.loading import load_robot
from walking_control.models import Dynamics, RobotFile
from walking_control.models.scale import REFERENCE
from walking_control.simulation.sensors import noise_overrides

TRIED = 5.0  # s of a walk that tells whether a way of stepping works
PUSH = 0.3  # N s/kg
DELAY = 0.005  # s


def pace(robot_file: RobotFile) -> float:
    """Return sqrt(g L), L the longest a leg gets, m/s: what speeds are counted in."""
    gravity = robot_file.scale.gravity
    return float(np.sqrt(gravity * Body(Dynamics(robot_file.robot, gravity, 0.0)).leg_length))


def try_margins(site: Site, robot_file: RobotFile, law: type[WalkingLaw]) -> Outcome:
    """Walk with turning, sideways, and with delay, a push and a lab's noise, forces by mass.

    Args:
        site: Where.
        robot_file: The `RobotFile`.
        law: That walks.
    """
    values, name = vars(robot_file.values(law.parameters)), law.name
    light = min(1.0, robot_file.scale.mass / REFERENCE.mass)  # its cells would be smaller, too
    lab = [
        (key, value * light if '.force' in key else value) for key, value in noise_overrides('lab')
    ]  # the estimator is told
    delays = [('sensors.command_delay', DELAY), (f'{name}.delay', DELAY)]
    trials: dict[str, tuple[list[tuple[str, Any]], tuple[str, ...], float]] = {
        'turning': ([(f'{name}.turn', 0.5 * values['turn_limit'])], (), TRIED),
        'sideways': ([(f'{name}.sideways', 0.5 * values['sideways_limit'])], (), TRIED),
        f'lab noise, {1e3 * DELAY:g} ms, push of {PUSH:g} N s/kg': (
            [*lab, *delays],
            (f'push={PUSH:g}@8.25',),
            site.duration,
        ),
    }
    figures: dict[str, Any] = {}
    passed = 0
    for trial, (changed, disturb, duration) in trials.items():
        site.progress(trial)
        tried = load_robot(robot_file.path, [('controller', name), *changed])
        outcome = walk(site, tried, 'mujoco', duration, disturb)
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
