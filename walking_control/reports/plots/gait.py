# SPDX-License-Identifier: Apache-2.0
"""Figures of gaits: losses at impact, energy over steps, survived disturbances."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np

from walking_control.experiments.impact import losses_over_angle
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.models.robot_file import RobotFile
from walking_control.reports.plots.style import (
    FAINT,
    Figure,
    FOOT_COLOURS,
    label,
    MARK,
    NEUTRAL,
    new_figure,
)
from walking_control.reports.plots.walk import phase_planes
from walking_control.runs.quantities import touchdowns
from walking_control.runs.run import Run


def plot_cycle(run: Run, cycle: dict[str, Any]) -> Figure:
    """Draw a limit cycle in the phase planes, its touchdown as the jump that closes it.

    Args:
        run: The `Run` that starts on the cycle.
        cycle: Its description by `cycles.find_robot_cycles`.
    """
    figure, axes, moving = phase_planes(run)
    begins = [*touchdowns(run), len(run.time)]
    after = slice(begins[1], begins[min(5, len(begins) - 1)])
    for axis, i in zip(axes, moving, strict=False):
        x, y = run.coordinates[:, i], run.rates[:, i]
        first = slice(0, begins[1])
        axis.plot(x[after], y[after], '.', color=FAINT, markersize=3, zorder=1,
                  label='the steps after it')
        axis.plot(x[first], y[first], color=FOOT_COLOURS[0], label='one step')
        axis.plot(x[[begins[1] - 1, 0]], y[[begins[1] - 1, 0]], '--', color=MARK, linewidth=1.3,
                  label='touchdown: feet change roles, the impact takes speed')
        axis.plot(x[:1], y[:1], 'o', color=FOOT_COLOURS[0], markersize=5, label='just after it')
    figure.legend(*axes[0].get_legend_handles_labels(), loc='outside lower center', ncols=4,
                  frameon=False, fontsize=9.5)
    figure.suptitle(_cycle_title(run, cycle), x=0.01, ha='left', fontsize=11)
    return figure


def _cycle_title(run: Run, cycle: dict[str, Any]) -> str:
    slope = math.degrees(run.world.slope)
    floor = f'{abs(slope):.3g}° {"downhill" if slope > 0.0 else "uphill"}' if slope else 'level'
    values = [complex(value) for value in cycle['eigenvalues']]
    texts = [f'{value.real:.3g}' if value.imag == 0.0 else f'{value.real:.3g} ± {value.imag:.3g}i'
             for value in values if value.imag >= 0.0]
    stable = 'stable' if cycle['stable'] else 'unstable'
    return (f'{run.robot.name}, {in_words(run.controller)}, {floor}: {stable} cycle, period '
            f'{cycle["period"]:.4g} s, step {cycle["step_length"]:.3g} m, '
            f'{cycle["speed"]:.3g} m/s\neigenvalues of the return map {", ".join(texts)}; the '
            f'largest is {max(map(abs, values)):.3g} in size')


def plot_impact_losses(robot_file: RobotFile, angle: float | None = None) -> Figure:
    """Draw the shares of energy lost over the hip angle at touchdown, as Fig. 4.6 of [DS09].

    Args:
        angle: Hip angle to mark, rad.
    """
    angles = np.linspace(0.02, np.pi / 2, 120)
    shares = losses_over_angle(robot_file, angles)
    figure, (axis,) = new_figure(1, height=4.0)
    axis.fill_between(angles, shares[:, 0], shares[:, -1], color=FAINT, alpha=0.4)
    for column, colour, name in ((0, FOOT_COLOURS[0], 'most'), (-1, FOOT_COLOURS[1], 'least')):
        axis.plot(angles, shares[:, column], color=colour, label=f'{name} lossy direction')
    if angle is not None:
        axis.axvline(angle, color=NEUTRAL, linewidth=1.0)
    label(axis, f'Share of kinetic energy lost at touchdown, {robot_file.robot.name}', 'share')
    axis.set_xlabel('hip angle at touchdown (rad)')
    axis.legend()
    return figure


def plot_losses_over_mass_ratio(name: str, overrides: Sequence[tuple[str, Any]] = (),
                                ratios: Sequence[float] = (0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
                                ) -> Figure:
    """Draw the least share lost for several hip to leg mass ratios, as Fig. 4.5 of [DS09].

    Args:
        name: Robot with parameters leg_mass and hip_mass.
        overrides: Further overrides of its robot file.
        ratios: Hip mass over leg mass.
    """
    angles = np.linspace(0.02, np.pi / 2, 80)
    figure, (axis,) = new_figure(1, height=4.0)
    for i, ratio in enumerate(ratios):
        robot_file = load_robot(name, (*overrides, ('leg_mass', 1.0), ('hip_mass', ratio)))
        shares = losses_over_angle(robot_file, angles)
        shade = 0.25 + 0.75 * i / max(1, len(ratios) - 1)
        axis.plot(angles, shares[:, -1], color=FOOT_COLOURS[0], alpha=shade,
                  label=f'hip {ratio:g} : leg 1')
    label(axis, 'Smallest share of kinetic energy lost at touchdown', 'share')
    axis.set_xlabel('hip angle at touchdown (rad)')
    axis.legend()
    return figure


def plot_energy(run: Run) -> Figure:
    """Draw kinetic and potential energy over the steps of a run, as Fig. 5.8 of [DS09]."""
    dynamics = Dynamics(run.robot, run.world.gravity, run.world.slope)
    kinetic = np.array([dynamics.kinetic_energy(q, v) for q, v in zip(run.q, run.v, strict=True)])
    potential = np.array([dynamics.potential_energy(q) for q in run.q])
    figure, axes = new_figure(2, height=2.4, sharex=True)
    axes[0].plot(run.time, kinetic, color=FOOT_COLOURS[0], label='kinetic')
    axes[0].plot(run.time, potential - potential[0], color=FOOT_COLOURS[1],
                 label='potential, from the start')
    axes[1].plot(run.time, kinetic + potential - potential[0] - kinetic[0], color=NEUTRAL,
                 label='total')
    axes[1].plot(run.time, run.work.sum(axis=1), color=FOOT_COLOURS[2], label='work of actuators')
    for axis, title in zip(axes, ('Energy', 'Total energy and work, from the start'), strict=True):
        label(axis, title, 'J')
        axis.legend(ncols=2)
        for row in touchdowns(run)[1:]:
            axis.axvline(run.time[row], color=FAINT, linewidth=0.8)
    axes[1].set_xlabel('time (s)')
    return figure


def plot_robustness(result: dict[str, Any]) -> Figure:
    """Draw which sizes of a disturbance or lasting error were survived.

    Args:
        result: Summary of a `FirstFailure` of `find_first_failure` or `find_margin`.
    """
    figure, (axis,) = new_figure(1, height=1.6)
    for survived, colour, name in ((True, FOOT_COLOURS[0], 'survived'),
                                   (False, FOOT_COLOURS[1], 'failed')):
        sizes = [size for size, lives, _ in result['samples'] if lives is survived]
        axis.plot(sizes, np.full(len(sizes), float(survived)), '|', markersize=14, color=colour,
                  label=name)
    axis.set_yticks([0.0, 1.0], ['failed', 'survived'])
    axis.set_ylim(-0.6, 1.6)
    what = result.get('disturbance') or result['margin']
    lasted = f'{result["further_steps"]} further steps' if 'further_steps' in result else \
        f'{result["duration"]:g} s, seeds: {result["seeds"]}'
    axis.set_xlabel(f'{what.replace("_", " ")} ({result["unit"]})')
    label(axis, f'{result["robot"]} under {result["controller"]}, {lasted}', '')
    return figure
