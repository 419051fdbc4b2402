# SPDX-License-Identifier: Apache-2.0
"""Published results of compliant contact; the source prints no parameters, `FIT` does."""

from functools import cache
from typing import Any

import numpy as np

from walking_control.lab.reports.reproduction.row import Row
from walking_control.loading import load_robot
from walking_control.models.contact import deform, SpringModel, undeformed
from walking_control.models.dynamics import Dynamics
from walking_control.runs.metrics import step_table
from walking_control.runs.run import Run
from walking_control.simulation.simulate import simulate

FIT: tuple[tuple[str, Any], ...] = (
    ('switching', 'printed'), ('reduction', 95.0), ('compliant.stiffness', 350000.0),
    ('compliant.damping', 430.0), ('compliant.sliding_stiffness', 180000.0),
    ('compliant.sliding_damping', 320.0), ('compliant.timestep', 0.002),
    ('estimator.contact_on', 4.0), ('estimator.contact_off', 2.0),
    ('estimator.contact_noise', 0.0), ('estimator.contact_hold', 0.0))
FIT_DURATION = 16.0
SIMULATE_FIT = f'walking_control simulate dribbel --plant compliant --duration {FIT_DURATION:g} ' \
    + ' '.join(f'--set {name}={value}' for name, value in FIT)
FITTED = 'a fit: reduction and contact parameters, which are not printed, were chosen for it'
ASYMMETRY = 'shorter steps on the inner foot, whose knee bends less'
MOTIONS = 'goes down, moves and saturates, relaxes by rolling'
BALL = SpringModel(2e4, 30.0, relief=4.0, most_slide=0.001)


@cache
def fitted_walk() -> tuple[Run, dict[str, Any]]:
    """Return run and summary of Dribbel by the printed rule on the fitted floor."""
    run = simulate(load_robot('dribbel', FIT), 'hip_switching', 'compliant', FIT_DURATION)
    return run, run.summary()


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
    return (float(np.mean(lengths[0]) - np.mean(lengths[1])),
            float(np.mean(flexions[0]) - np.mean(flexions[1])))


def _asymmetry() -> str:
    longer, deeper = asymmetry()
    return ASYMMETRY if longer > 0.01 and deeper > 0.03 else 'another one'


def ball_on_plane() -> list[np.ndarray]:
    """Return the deformation (turn, x, y, z) after penetrating, sliding and rolling."""
    state, after = undeformed(), []
    for twist, duration in (((0, 0, 0, 0, 0, -0.01), 0.1), ((0, 0, 0, 0.05, 0, 0), 0.2),
                            ((0, 2.0, 0, 0, 0, 0), 0.5)):
        for _ in range(100):
            state = deform(BALL, state, np.array(twist, float), duration / 100)
        after.append(state.total)
    return after


def _motions() -> str:
    down, slid, rolled = ball_on_plane()
    fits = down[3] < 0.0 and not down[1] and 0.99 < slid[1] / BALL.most_slide <= 1.0 \
        and 0.0 < rolled[1] < 0.05 * slid[1] and down[3] == slid[3] == rolled[3]
    return MOTIONS if fits else 'does something else'


ROWS = (
    Row('ds09-fig-3.10', 'DS09', 'Fig. 3.10', 'deformation under a ball that penetrates, slides, '
        'rolls', '1', MOTIONS, _motions, None),
    Row('ds09-fit-speed', 'DS09', '5.3.1', 'speed of Dribbel on a compliant floor, printed rule',
        'm/s', 0.54, lambda: float(fitted_walk()[1]['steady']['speed']), 0.005, quick=False,
        note=FITTED, command=SIMULATE_FIT),
    Row('ds09-fit-cost', 'DS09', '(5.30)', 'its cost of transport, mechanical', '1', 0.22,
        lambda: float(fitted_walk()[1]['steady']['cost_of_transport']), 0.005, quick=False,
        note=FITTED, command=SIMULATE_FIT),
    Row('ds09-fit-current', 'DS09', '5.3.1', 'its peak current', 'A', 7.5,
        lambda: float(fitted_walk()[1]['peak_current']), 0.05, quick=False, note=FITTED,
        command=SIMULATE_FIT),
    Row('ds09-fit-asymmetry', 'DS09', 'Fig. 5.13', 'its asymmetry', '1', ASYMMETRY, _asymmetry,
        None, quick=False, note=FITTED, command=SIMULATE_FIT))
