# SPDX-License-Identifier: Apache-2.0
"""A robot at rest from front and side: adopted, with its frames, or held, with its forces."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from walking_control.lab.adoption.adopt import Adoption
from walking_control.lab.adoption.body_tree import BodyTree
from walking_control.lab.experiments.statics import Posture
from walking_control.lab.reports.plots import style
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.statics.contacts import centre_of_pressure
from walking_control.statics.distributor import StaticSolution, StaticTorque

_NAMED = 14  # pairs named at most
_FORCE_SHARE = 0.6  # of the robot's height: length of an arrow of its whole weight
_BARS = 16  # joints named in the bar chart


def draw_adoption(adoption: Adoption, path: Path) -> Path:
    """Write the picture, a PNG, and return its path."""
    tree = adoption.tree
    places = _places(adoption)
    figure, axes = style.new_figure(1, width=11.0, height=7.0, columns=2)
    colours = _pair_colours(adoption)
    for axis, across, title in zip(
        axes, (1, 0), ('from the front: y, z (m)', 'from the right: x, z (m)'), strict=True
    ):
        _draw_shapes(axis, tree, places, across)
        _draw_joints(axis, tree, places, across, colours)
        _draw_masses(axis, tree, places, across)
        _draw_soles(axis, adoption, places, across)
        _draw_frame(axis, places[1], across, 0.25 * adoption.standing.height)
        axis.axhline(0.0, color=style.NEUTRAL, lw=1)
        style.label(axis, title, aspect='equal', adjustable='datalim')
    if len(colours) // 2 <= _NAMED:
        _name_joints(axes[0], tree, places, colours)
    axes[0].invert_xaxis()  # seen from the front left is to the right
    figure.suptitle(
        f'{in_words(adoption.name)}: {tree.mass:.4g} kg, {adoption.base} base, '
        f'{len(tree.limits)} joints; colours: mirror pairs, discs: masses',
        x=0.01,
        ha='left',
        fontsize=12,
    )
    style.save(figure, path)
    return path


def _places(adoption: Adoption) -> list[Any]:
    """Return the placement of each body at the start, floor frame."""
    tree = adoption.tree
    model, data = tree.model, tree.model.createData()
    q = pin.neutral(model)
    q[2] = adoption.standing.height
    q[3:7] = pin.Quaternion(pin.exp3(np.array([0.0, adoption.pitch, 0.0]))).coeffs()
    for name, value in adoption.standing.posture.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else (np.cos(value), np.sin(value))
        )
    pin.forwardKinematics(model, data, q)
    return [place.copy() for place in data.oMi]


def _pair_colours(adoption: Adoption) -> dict[int, Any]:
    """Return body -> colour, the same for both of a pair; black of what is its own image."""
    if adoption.mirror is None:
        return {}
    pairs, colours = adoption.mirror.pairs, {}
    for i, (a, b) in enumerate(pairs):
        colour = 'black' if a == b else style.import_matplotlib().colormaps['tab20'](i % 20)
        colours[a] = colours[b] = colour
    return colours


def _draw_shapes(axis: style.Axes, tree: BodyTree, places: Sequence[Any], across: int) -> None:
    for body in range(1, tree.model.njoints):
        points = tree.points(body)
        if len(points) < 4:
            continue
        world = points @ places[body].rotation.T + places[body].translation
        flat = world[:, [across, 2]]
        try:
            outline = flat[ConvexHull(flat).vertices]
        except (QhullError, ValueError):
            continue
        axis.fill(*outline.T, facecolor=style.FAINT, edgecolor=style.NEUTRAL, alpha=0.18, lw=0.6)


def _draw_joints(
    axis: style.Axes, tree: BodyTree, places: Sequence[Any], across: int, colours: Any
) -> None:
    for body in range(2, tree.model.njoints):
        start, end = (places[i].translation for i in (tree.model.parents[body], body))
        axis.plot([start[across], end[across]], [start[2], end[2]], color=style.NEUTRAL, lw=1.2)
        axis.plot(end[across], end[2], 'o', ms=6, color=colours.get(body, style.FAINT))


def _draw_masses(axis: style.Axes, tree: BodyTree, places: Sequence[Any], across: int) -> None:
    for body in range(1, tree.model.njoints):
        inertia = tree.model.inertias[body]
        middle = places[body].act(inertia.lever)
        if inertia.mass > 0.0:
            axis.scatter(
                middle[across],
                middle[2],
                s=900.0 * inertia.mass / tree.mass,
                color=style.FOOT_COLOURS[2],
                alpha=0.35,
                linewidths=0,
            )


def _draw_soles(axis: style.Axes, adoption: Adoption, places: Sequence[Any], across: int) -> None:
    for i, sole in enumerate(adoption.soles):
        place = places[sole.body] * sole.place
        x, y = 0.5 * sole.length, 0.5 * sole.width
        corners = np.array([(x, y, 0), (x, -y, 0), (-x, -y, 0), (-x, y, 0), (x, y, 0)])
        world = corners @ place.rotation.T + place.translation
        start, end = places[sole.body].translation, place.translation
        axis.plot([start[across], end[across]], [start[2], end[2]], color=style.NEUTRAL, lw=1.2)
        colour = style.FOOT_COLOURS[i % len(style.FOOT_COLOURS)]
        axis.plot(world[:, across], world[:, 2], color=colour, lw=4, marker='o', ms=4)
        if across == 0:  # they would cover each other
            continue
        axis.annotate(
            in_words(sole.link),
            (place.translation[across], place.translation[2]),
            xytext=(0, -14),
            textcoords='offset points',
            ha='center',
            fontsize=8,
            color=colour,
        )


def _draw_frame(axis: style.Axes, place: Any, across: int, size: float) -> None:
    for i, colour in enumerate(('#CC0000', '#009900', '#0000CC')):
        tip = place.translation + size * place.rotation[:, i]
        if (
            np.hypot(tip[across] - place.translation[across], tip[2] - place.translation[2])
            > 0.1 * size
        ):
            axis.annotate(
                '',
                (tip[across], tip[2]),
                (place.translation[across], place.translation[2]),
                arrowprops={'arrowstyle': '-|>', 'color': colour, 'lw': 1.6},
            )
            axis.annotate('xyz'[i], (tip[across], tip[2]), color=colour, fontsize=9)


def _name_joints(axis: style.Axes, tree: BodyTree, places: Sequence[Any], colours: Any) -> None:
    for body, colour in colours.items():
        place = places[body].translation
        left = place[1] >= 0.0
        axis.annotate(
            in_words(tree.joint(body)),
            (place[1], place[2]),
            fontsize=7,
            color=colour,
            xytext=(-6 if left else 6, 3),
            textcoords='offset points',
            ha='right' if left else 'left',
        )


def draw_statics(
    posture: Posture, distributor: StaticTorque, solution: StaticSolution, path: Path
) -> Path:
    """Write the picture, a PNG, and return its path."""
    dynamics, q = posture.dynamics, posture.q
    scene = _Scene(dynamics, q, distributor, solution)
    figure, (front, side, above, bars) = style.new_figure(2, width=10.5, height=4.4, columns=2)
    _draw_view(front, scene, 1, 'from the front: y, z (m)')
    _draw_view(side, scene, 0, 'from the right: x, z (m)')
    _draw_soles_from_above(above, scene, solution)
    _draw_torques(bars, dynamics, distributor, solution)
    verdict = 'can be held' if solution.feasible else f'cannot be held: {solution.reason}'
    figure.suptitle(f'{in_words(posture.name)} {verdict}', x=0.01, ha='left', fontsize=12)
    style.save(figure, path)
    return path


class _Scene:
    """Places in the world of everything that is drawn."""

    def __init__(
        self, dynamics: Dynamics, q: np.ndarray, distributor: StaticTorque, solution: StaticSolution
    ) -> None:
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


def _draw_view(axis: style.Axes, scene: _Scene, across: int, title: str) -> None:
    for start, end in scene.bones:
        axis.plot(
            [start[across], end[across]],
            [start[2], end[2]],
            color=style.NEUTRAL,
            lw=2.5,
            marker='o',
            ms=3,
            solid_capstyle='round',
        )
    for colour, (name, corners) in zip(style.FOOT_COLOURS, scene.soles.items()):
        axis.plot(corners[:, across], corners[:, 2], color=colour, lw=3)
        if name in scene.forces:
            tip = scene.pressures[name] + scene.arrow * scene.forces[name]
            axis.annotate(
                '',
                (tip[across], tip[2]),
                (scene.pressures[name][across], scene.pressures[name][2]),
                arrowprops={'arrowstyle': '-|>', 'color': colour, 'lw': 2},
            )
            if across == 1:  # seen from the side the labels would cover each other
                axis.annotate(
                    f'{np.linalg.norm(scene.forces[name]):.0f} N',
                    (tip[across], tip[2]),
                    color=colour,
                    fontsize=9,
                )
    axis.plot(scene.com[across], scene.com[2], marker='X', ms=9, color='black')
    axis.axvline(scene.com[across], color=style.FAINT, lw=1, ls='--', zorder=0)
    style.label(axis, title, aspect='equal', adjustable='datalim')


def _draw_soles_from_above(axis: style.Axes, scene: _Scene, solution: StaticSolution) -> None:
    for colour, (name, corners) in zip(style.FOOT_COLOURS, scene.soles.items()):
        carries = name in solution.support
        axis.fill(corners[:, 1], corners[:, 0], color=colour, alpha=0.25 if carries else 0.05)
        axis.plot(corners[:, 1], corners[:, 0], color=colour, lw=1.5)
        axis.annotate(
            in_words(name),
            corners[0, [1, 0]],
            color=colour,
            fontsize=9,
            xytext=(0, 4),
            textcoords='offset points',
        )
        if name in scene.pressures:
            place = scene.pressures[name]
            axis.plot(place[1], place[0], marker='o', ms=7, color=colour)
    axis.plot(scene.com[1], scene.com[0], marker='X', ms=9, color='black')
    axis.invert_xaxis()
    style.label(
        axis, 'soles from above: y, x (m); pressure o, mass x', aspect='equal', adjustable='datalim'
    )


def _draw_torques(
    axis: style.Axes, dynamics: Dynamics, distributor: StaticTorque, solution: StaticSolution
) -> None:
    axis.set_title('largest joint torques (of their limits), N m', loc='left', fontsize=11)
    torque = solution.torque
    if torque is None or not solution.feasible:
        axis.axis('off')
        axis.text(
            0.0,
            0.95,
            '\n'.join(str(shortfall) for shortfall in solution.shortfalls[:8]),
            va='top',
            wrap=True,
            transform=axis.transAxes,
        )
        return
    order = np.argsort(-abs(torque))[:_BARS][::-1]
    rows = np.arange(len(order))
    axis.barh(rows, torque[order], color=style.FOOT_COLOURS[0])
    axis.set_yticks(
        rows,
        [f'{in_words(dynamics.joints[i])} (of {distributor.effort_limits[i]:g})' for i in order],
        fontsize=8,
    )
