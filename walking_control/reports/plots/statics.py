# SPDX-License-Identifier: Apache-2.0
"""A robot at rest with its forces: from the front, from the side, and its soles from above."""

from pathlib import Path

import numpy as np
import pinocchio as pin

from walking_control.experiments.statics import Posture
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.reports.plots.style import Axes, FAINT, FOOT_COLOURS, NEUTRAL, new_figure, save
from walking_control.statics.contacts import centre_of_pressure
from walking_control.statics.distributor import StaticSolution, StaticTorque

_FORCE_SHARE = 0.6   # of the robot's height: length of an arrow of its whole weight
_BARS = 16           # joints named in the bar chart


def draw_statics(posture: Posture, distributor: StaticTorque, solution: StaticSolution,
                 path: Path) -> Path:
    """Write the picture, a PNG, and return its path."""
    dynamics, q = posture.dynamics, posture.q
    scene = _Scene(dynamics, q, distributor, solution)
    figure, (front, side, above, bars) = new_figure(2, width=10.5, height=4.4, columns=2)
    _draw_view(front, scene, 1, 'from the front: y, z (m)')
    _draw_view(side, scene, 0, 'from the right: x, z (m)')
    _draw_soles(above, scene, solution)
    _draw_torques(bars, dynamics, distributor, solution)
    verdict = 'can be held' if solution.feasible else f'cannot be held: {solution.reason}'
    figure.suptitle(f'{in_words(posture.name)} {verdict}', x=0.01, ha='left', fontsize=12)
    save(figure, path)
    return path


class _Scene:
    """Places in the world of everything that is drawn."""

    def __init__(self, dynamics: Dynamics, q: np.ndarray, distributor: StaticTorque,
                 solution: StaticSolution) -> None:
        model, data = dynamics.model, dynamics.model.createData()
        theirs = dynamics.to_pinocchio(q)
        pin.framesForwardKinematics(model, data, theirs)
        pin.centerOfMass(model, data, theirs)
        places = [data.oMi[i].translation for i in range(model.njoints)]
        self.bones = [(places[model.parents[i]], places[i]) for i in range(2, model.njoints)]
        self.com = data.com[0].copy()
        self.soles: dict[str, np.ndarray] = {}
        self.forces: dict[str, np.ndarray] = {}
        self.pressures: dict[str, np.ndarray] = {}
        wrenches = solution.wrenches or {}
        for name, contact in distributor.contacts.items():
            frame = distributor.frames[name]
            place = data.oMf[frame]
            self.bones.append((places[model.frames[frame].parentJoint], place.translation))
            x, y = 0.5 * contact.length, 0.5 * contact.width
            corners = np.array([(x, y, 0), (x, -y, 0), (-x, -y, 0), (-x, y, 0), (x, y, 0)])
            self.soles[name] = corners @ place.rotation.T + place.translation
            if name in wrenches:
                centre = centre_of_pressure(wrenches[name])
                if np.isfinite(centre).all():
                    self.pressures[name] = place.act(np.array([*centre, 0.0]))
                    self.forces[name] = place.rotation @ wrenches[name][:3]
        points = np.array([end for _, end in self.bones])
        self.height = float(np.ptp(points[:, 2])) or 1.0
        self.arrow = _FORCE_SHARE * self.height / dynamics.weight


def _draw_view(axis: Axes, scene: _Scene, across: int, title: str) -> None:
    for start, end in scene.bones:
        axis.plot([start[across], end[across]], [start[2], end[2]], color=NEUTRAL, lw=2.5,
                  marker='o', ms=3, solid_capstyle='round')
    for colour, (name, corners) in zip(FOOT_COLOURS, scene.soles.items()):
        axis.plot(corners[:, across], corners[:, 2], color=colour, lw=3)
        if name in scene.forces:
            tip = scene.pressures[name] + scene.arrow * scene.forces[name]
            axis.annotate('', (tip[across], tip[2]),
                          (scene.pressures[name][across], scene.pressures[name][2]),
                          arrowprops={'arrowstyle': '-|>', 'color': colour, 'lw': 2})
            if across == 1:   # seen from the side the labels would cover each other
                axis.annotate(f'{np.linalg.norm(scene.forces[name]):.0f} N', (tip[across], tip[2]),
                              color=colour, fontsize=9)
    axis.plot(scene.com[across], scene.com[2], marker='X', ms=9, color='black')
    axis.axvline(scene.com[across], color=FAINT, lw=1, ls='--', zorder=0)
    axis.set_aspect('equal', adjustable='datalim')
    axis.set_title(title, loc='left', fontsize=11)


def _draw_soles(axis: Axes, scene: _Scene, solution: StaticSolution) -> None:
    for colour, (name, corners) in zip(FOOT_COLOURS, scene.soles.items()):
        carries = name in solution.support
        axis.fill(corners[:, 1], corners[:, 0], color=colour, alpha=0.25 if carries else 0.05)
        axis.plot(corners[:, 1], corners[:, 0], color=colour, lw=1.5)
        axis.annotate(in_words(name), corners[0, [1, 0]], color=colour, fontsize=9,
                      xytext=(0, 4), textcoords='offset points')
        if name in scene.pressures:
            place = scene.pressures[name]
            axis.plot(place[1], place[0], marker='o', ms=7, color=colour)
    axis.plot(scene.com[1], scene.com[0], marker='X', ms=9, color='black')
    axis.invert_xaxis()
    axis.set_aspect('equal', adjustable='datalim')
    axis.set_title('soles from above: y, x (m); pressure o, mass x', loc='left', fontsize=11)


def _draw_torques(axis: Axes, dynamics: Dynamics, distributor: StaticTorque,
                  solution: StaticSolution) -> None:
    axis.set_title('largest joint torques (of their limits), N m', loc='left', fontsize=11)
    torque = solution.torque
    if torque is None or not solution.feasible:
        axis.axis('off')
        axis.text(0.0, 0.95, '\n'.join(str(shortfall) for shortfall in solution.shortfalls[:8]),
                  va='top', wrap=True, transform=axis.transAxes)
        return
    order = np.argsort(-abs(torque))[:_BARS][::-1]
    rows = np.arange(len(order))
    axis.barh(rows, torque[order], color=FOOT_COLOURS[0])
    axis.set_yticks(rows, [f'{in_words(dynamics.joints[i])} (of {distributor.effort_limits[i]:g})'
                           for i in order], fontsize=8)
