# SPDX-License-Identifier: Apache-2.0
"""A gait judged on a fine grid: cost, powers, contact forces, clearance.

The grid is far finer than any search's nodes, so that what a search hides between its nodes shows
here. For a true solution the motors' and gravity's power, less what dampers take, equals the
energy lost at impacts; the mismatch says how far the numbers can be trusted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from walking_control.gaits.gait import fine_grid, Gait
from walking_control.models import StepEquations

FINE = 400
# share of the step after lift-off and before touchdown in which the foot need not be clear yet
WINDOW = 0.1


@dataclass(frozen=True)
class Judgement:
    """What a gait does and takes.

    Attributes:
        cost: Integral of ``tau^T Q tau``, N^2 m^2 s.
        step: Position of the landing foot relative to the stance foot, m.
        mechanical_power: Mean power of all torques, W.
        gravity_power: Mean power of gravity, W.
        damping_power: Mean power taken by joint dampers and friction, W.
        impact_loss_power: Energy lost at impacts per time, W.
        clearance: Lowest height of the foot within the window of the search, m.
        min_normal_force: N.
        max_friction_ratio: Force along the floor over normal force.
        peak_effort: Largest force collocated with each coordinate, ``(n,)``.
        time: s, ``(m,)``.
        effort: Forces collocated with the coordinates, ``(m, n)``.
        force: Of the floor on the stance foot, N, ``(m, 2 or 3)``.
        foot: Of the swing foot relative to the stance foot, m, ``(m, 2 or 3)``.
    """

    cost: float
    step: np.ndarray
    mechanical_power: float
    gravity_power: float
    damping_power: float
    impact_loss_power: float
    clearance: float
    min_normal_force: float
    max_friction_ratio: float
    foot_height_ahead: float  # highest place of the foot ahead of the stance foot, m
    peak_effort: np.ndarray
    time: np.ndarray = field(repr=False)
    effort: np.ndarray = field(repr=False)
    force: np.ndarray = field(repr=False)  # of the floor on the stance foot, N, ``(m, 2 or 3)``
    # of the swing foot relative to the stance foot, m, ``(m, 2 or 3)``
    foot: np.ndarray = field(repr=False)

    @property
    def power_mismatch(self) -> float:
        """Return power supplied less power lost, W; zero for a true solution."""
        return (
            self.mechanical_power + self.gravity_power - self.damping_power - self.impact_loss_power
        )


def judge_gait(
    equations: StepEquations,
    gait: Gait,
    theta: np.ndarray,
    weights: np.ndarray,
    springs: Sequence[tuple[np.ndarray, float]],
) -> Judgement:
    """Return the `Judgement` of a gait.

    Args:
        theta: Numbers of the step equations.
        weights: Cost metric Q, ``(n, n)``.
        springs: Pairs (row of the joint in the coordinates ``(n,)``, damping N m s/rad).
    """
    s, share = fine_grid(FINE)
    parts, cost, work, damped, clear, start = [], 0.0, 0.0, 0.0, [], 0.0
    for i, phase in enumerate(gait.phases):
        q, v, a = phase.motion(s)
        effort, force, foot = _forces(equations, q, v, a, theta)
        effort[:, list(phase.held)] = 0.0
        dt = share * phase.duration
        cost += dt @ np.einsum('mi,ij,mj->m', effort, weights, effort)
        work += dt @ np.sum(effort * v, axis=1)
        damped += sum(damping * (dt @ (v @ row) ** 2) for row, damping in springs)
        damped += dt @ np.array(equations.friction_power.map(len(v))(v.T)).ravel()
        inside = s >= (WINDOW if i == 0 else 0.0)
        inside &= s <= (1.0 - WINDOW if i == len(gait.phases) - 1 else 1.0)
        clear.append(foot[inside, -1])
        parts.append((start + s * phase.duration, effort, force, foot))
        start += phase.duration
    time, effort, force, foot = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    normal, along = force[:, -1], np.linalg.norm(force[:, :-1], axis=1)
    q_end, _ = gait.end
    return Judgement(
        float(cost),
        np.array(equations.foot(q_end)).ravel(),
        float(work) / gait.period,
        _gravity_work(equations, gait, theta) / gait.period,
        float(damped) / gait.period,
        _impact_loss(equations, gait, theta) / gait.period,
        float(np.concatenate(clear).min()),
        float(normal.min()),
        float((along / np.maximum(normal, 1e-9)).max()),
        float(np.max(foot[:, -1], where=foot[:, 0] > 0.0, initial=0.0)),
        np.abs(effort).max(axis=0),
        time,
        effort,
        force,
        foot,
    )


def _forces(
    equations: StepEquations, q: np.ndarray, v: np.ndarray, a: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(q)
    every = np.tile(theta[:, None], count)
    effort = np.array(equations.effort.map(count)(q.T, v.T, a.T, every)).T
    force = np.array(equations.force.map(count)(q.T, v.T, a.T, every)).T
    return effort, force, np.array(equations.foot.map(count)(q.T)).T


def _gravity_work(equations: StepEquations, gait: Gait, theta: np.ndarray) -> float:
    (q, v), (q_end, v_end) = gait.start, gait.end
    return float(equations.energy(q, v, theta)[1] - equations.energy(q_end, v_end, theta)[1])


def _impact_loss(equations: StepEquations, gait: Gait, theta: np.ndarray) -> float:
    """Return the kinetic energy lost at all impacts of a step, J."""
    loss = 0.0
    for before, after in zip(gait.phases, (*gait.phases[1:], gait.phases[0]), strict=True):
        (q, v, _), (q_new, v_new, _) = before.motion([1.0]), after.motion([0.0])
        loss += float(
            equations.energy(q[0], v[0], theta)[0] - equations.energy(q_new[0], v_new[0], theta)[0]
        )
    return loss
