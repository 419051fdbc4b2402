# SPDX-License-Identifier: Apache-2.0
"""Published results of compliant contact; the source prints no parameters, `FIT` does."""

from functools import cache
from typing import Any

import numpy as np

from walking_control.loading import load_robot
from walking_control.models import (
    constraint_forces,
    contact_acceleration,
    deform,
    Dynamics,
    impact_of_second_foot,
    SpringModel,
    undeformed,
)
from walking_control.runs import Run, step_table
from walking_control.simulation.simulate import simulate

FIT: tuple[tuple[str, Any], ...] = (
    ('switching', 'printed'),
    ('reduction', 95.0),
    ('compliant.stiffness', 350000.0),
    ('compliant.damping', 430.0),
    ('compliant.sliding_stiffness', 180000.0),
    ('compliant.sliding_damping', 320.0),
    ('compliant.timestep', 0.002),
    ('estimator.contact_on', 4.0),
    ('estimator.contact_off', 2.0),
    ('estimator.contact_noise', 0.0),
    ('estimator.contact_hold', 0.0),
)
FIT_DURATION = 16.0
ASYMMETRY = 'shorter steps on the inner foot, whose knee bends less'
MOTIONS = 'goes down, moves and saturates, relaxes by rolling'
BALL = SpringModel(2e4, 30.0, relief=4.0, most_slide=0.001)


@cache
def fitted_walk() -> tuple[Run, dict[str, Any]]:
    """Return run and summary of Dribbel by the printed rule on the fitted floor."""
    run = simulate(load_robot('dribbel', FIT), 'hip_switching', 'compliant', FIT_DURATION)
    return run, run.summary()


def fitted(name: str) -> float:
    """Return a number of its summary."""
    summary = fitted_walk()[1]
    return float({**summary, **summary['steady']}[name])


def asymmetry() -> tuple[float, float]:
    """Return how much longer steps on the outer foot are (m) and how much more its knee flexes."""
    run = fitted_walk()[0]
    table = step_table(run, Dynamics(run.robot))
    lengths: tuple[list[float], list[float]] = ([], [])
    flexions: tuple[list[float], list[float]] = ([], [])
    for i in range(len(table['row']) - 9, len(table['row']) - 1):
        foot, rows = int(table['support'][i]), slice(int(table['row'][i]), int(table['end'][i]))
        lengths[foot].append(float(table['length'][i]))
        # hip, outer and inner knee follow the base's three coordinates
        flexions[1 - foot].append(-float(run.q[rows, 5 - foot].min()))
    return (
        float(np.mean(lengths[0]) - np.mean(lengths[1])),
        float(np.mean(flexions[0]) - np.mean(flexions[1])),
    )


def shorter() -> str:
    """Return the words on its asymmetry."""
    longer, deeper = asymmetry()
    return ASYMMETRY if longer > 0.01 and deeper > 0.03 else 'another one'


def ball_on_plane() -> list[np.ndarray]:
    """Return the deformation (turn, x, y, z) after penetrating, sliding and rolling."""
    state, after = undeformed(), []
    for twist, duration in (
        ((0, 0, 0, 0, 0, -0.01), 0.1),
        ((0, 0, 0, 0.05, 0, 0), 0.2),
        ((0, 2.0, 0, 0, 0, 0), 0.5),
    ):
        for _ in range(100):
            state = deform(BALL, state, np.array(twist, float), duration / 100)
        after.append(state.total)
    return after


def motions() -> str:
    """Return the words on `ball_on_plane`."""
    down, slid, rolled = ball_on_plane()
    fits = (
        down[3] < 0.0
        and not down[1]
        and 0.99 < slid[1] / BALL.most_slide <= 1.0
        and 0.0 < rolled[1] < 0.05 * slid[1]
        and down[3] == slid[3] == rolled[3]
    )
    return MOTIONS if fits else 'does something else'


def tip(what: str, axis: int) -> float:
    """Return a force (N) or free acceleration (m/s^2) of the tip of Example 3.13, from (3.49)."""
    c1, s1 = np.cos(np.pi / 4.0), np.sin(np.pi / 4.0)
    c12, s12, c2 = -s1, c1, 0.0
    mass = np.array([[1.5 + c2, 0.25 + 0.5 * c2], [0.25 + 0.5 * c2, 0.25]])
    contact = np.array([[-c1 - c12, -s1 - s12], [-c12, -s12]])
    torque = np.sqrt(2.0) / 4.0 * np.array([-1.0, 1.0])
    law = {'force': constraint_forces, 'acceleration': contact_acceleration}[what]
    return float(law(mass, contact, torque, np.zeros(2))[axis])


def closet() -> str:
    """Return which closets of Example 3.15, their mass in the middle, go on after the impact."""
    goes_on = []
    for h in (0.99, 1.01):
        left, right = (np.array([[1.0, 0.0], [0.0, 1.0], [h, w]]) for w in (-1.0, 1.0))
        goes_on.append(
            impact_of_second_foot(
                np.diag([1.0, 1.0, 1e-6]), left, right, np.array([h, -1.0, -1.0])
            )[1]
        )
    return 'a tall one goes on, a wide one stops' if goes_on == [False, True] else 'others'
