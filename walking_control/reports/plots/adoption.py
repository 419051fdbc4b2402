# SPDX-License-Identifier: Apache-2.0
"""An adopted robot at its start: frames, feet, mirror pairs and masses, from front and side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import colormaps
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from walking_control.adoption.adopt import Adoption
from walking_control.adoption.body_tree import BodyTree
from walking_control.models.robot import in_words
from walking_control.reports.plots.style import Axes, FAINT, FOOT_COLOURS, NEUTRAL, new_figure, save

_NAMED = 14   # pairs named at most


def draw_adoption(adoption: Adoption, path: Path) -> Path:
    """Write the picture, a PNG, and return its path."""
    tree = adoption.tree
    places = _places(adoption)
    figure, axes = new_figure(1, width=11.0, height=7.0, columns=2)
    colours = _pair_colours(adoption)
    for axis, across, title in zip(axes, (1, 0), ('from the front: y, z (m)',
                                                  'from the right: x, z (m)'), strict=True):
        _draw_shapes(axis, tree, places, across)
        _draw_joints(axis, tree, places, across, colours)
        _draw_masses(axis, tree, places, across)
        _draw_soles(axis, adoption, places, across)
        _draw_frame(axis, places[1], across, 0.25 * adoption.standing.height)
        axis.axhline(0.0, color=NEUTRAL, lw=1)
        axis.set_aspect('equal', adjustable='datalim')
        axis.set_title(title, loc='left', fontsize=11)
    if len(colours) // 2 <= _NAMED:
        _name_joints(axes[0], tree, places, colours)
    axes[0].invert_xaxis()   # seen from the front left is to the right
    figure.suptitle(f'{in_words(adoption.name)}: {tree.mass:.4g} kg, {adoption.base} base, '
                    f'{len(tree.limits)} joints; colours: mirror pairs, discs: masses',
                    x=0.01, ha='left', fontsize=12)
    save(figure, path)
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
        q[joint.idx_q:joint.idx_q + joint.nq] = value if joint.nq == 1 \
            else (np.cos(value), np.sin(value))
    pin.forwardKinematics(model, data, q)
    return [place.copy() for place in data.oMi]


def _pair_colours(adoption: Adoption) -> dict[int, Any]:
    """Return body -> colour, the same for both of a pair; black of what is its own image."""
    if adoption.mirror is None:
        return {}
    pairs, colours = adoption.mirror.pairs, {}
    for i, (a, b) in enumerate(pairs):
        colour = 'black' if a == b else colormaps['tab20'](i % 20)
        colours[a] = colours[b] = colour
    return colours


def _draw_shapes(axis: Axes, tree: BodyTree, places: Sequence[Any], across: int) -> None:
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
        axis.fill(*outline.T, facecolor=FAINT, edgecolor=NEUTRAL, alpha=0.18, lw=0.6)


def _draw_joints(axis: Axes, tree: BodyTree, places: Sequence[Any], across: int,
                 colours: Any) -> None:
    for body in range(2, tree.model.njoints):
        start, end = (places[i].translation for i in (tree.model.parents[body], body))
        axis.plot([start[across], end[across]], [start[2], end[2]], color=NEUTRAL, lw=1.2)
        axis.plot(end[across], end[2], 'o', ms=6, color=colours.get(body, FAINT))


def _draw_masses(axis: Axes, tree: BodyTree, places: Sequence[Any], across: int) -> None:
    for body in range(1, tree.model.njoints):
        inertia = tree.model.inertias[body]
        middle = places[body].act(inertia.lever)
        if inertia.mass > 0.0:
            axis.scatter(middle[across], middle[2], s=900.0 * inertia.mass / tree.mass,
                         color=FOOT_COLOURS[2], alpha=0.35, linewidths=0)


def _draw_soles(axis: Axes, adoption: Adoption, places: Sequence[Any], across: int) -> None:
    for i, sole in enumerate(adoption.soles):
        place = places[sole.body] * sole.place
        x, y = 0.5 * sole.length, 0.5 * sole.width
        corners = np.array([(x, y, 0), (x, -y, 0), (-x, -y, 0), (-x, y, 0), (x, y, 0)])
        world = corners @ place.rotation.T + place.translation
        start, end = places[sole.body].translation, place.translation
        axis.plot([start[across], end[across]], [start[2], end[2]], color=NEUTRAL, lw=1.2)
        colour = FOOT_COLOURS[i % len(FOOT_COLOURS)]
        axis.plot(world[:, across], world[:, 2], color=colour, lw=4, marker='o', ms=4)
        if across == 0:   # they would cover each other
            continue
        axis.annotate(in_words(sole.link), (place.translation[across], place.translation[2]),
                      xytext=(0, -14), textcoords='offset points', ha='center', fontsize=8,
                      color=colour)


def _draw_frame(axis: Axes, place: Any, across: int, size: float) -> None:
    for i, colour in enumerate(('#CC0000', '#009900', '#0000CC')):
        tip = place.translation + size * place.rotation[:, i]
        if np.hypot(tip[across] - place.translation[across], tip[2] - place.translation[2]) \
                > 0.1 * size:
            axis.annotate('', (tip[across], tip[2]),
                          (place.translation[across], place.translation[2]),
                          arrowprops={'arrowstyle': '-|>', 'color': colour, 'lw': 1.6})
            axis.annotate('xyz'[i], (tip[across], tip[2]), color=colour, fontsize=9)


def _name_joints(axis: Axes, tree: BodyTree, places: Sequence[Any], colours: Any) -> None:
    for body, colour in colours.items():
        place = places[body].translation
        left = place[1] >= 0.0
        axis.annotate(in_words(tree.joint(body)), (place[1], place[2]), fontsize=7, color=colour,
                      xytext=(-6 if left else 6, 3), textcoords='offset points',
                      ha='right' if left else 'left')
