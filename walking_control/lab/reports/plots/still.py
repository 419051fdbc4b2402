# SPDX-License-Identifier: Apache-2.0
"""A robot at rest from front and side: adopted, with its frames; held, with its forces; warm."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from walking_control.lab.adoption.adopt import Adoption
from walking_control.lab.adoption.standing import place_joints
from walking_control.lab.experiments.statics import Posture
from walking_control.lab.reports.plots import Mark, mark, Panel, style
from walking_control.models import Dynamics, in_words
from walking_control.statics import centre_of_pressure, StaticSolution, StaticTorque

_NAMED = 14  # pairs named at most
_FORCE_SHARE = 0.6  # of the robot's height: length of an arrow of its whole weight
_BARS = 16  # joints named in the bar chart
# direction across the picture: 1 from the front, 0 from the right
_VIEWS = {1: 'from the front: y, z (m)', 0: 'from the right: x, z (m)'}
_EQUAL = {'aspect': 'equal', 'adjustable': 'datalim'}


def draw_adoption(adoption: Adoption, path: Path) -> Path:
    """Write the picture, a PNG, and return its path."""
    tree, colours = adoption.tree, _pair_colours(adoption)
    places = _places(adoption)
    figure = style.draw_panels(
        [
            Panel(title, '', _adopted(adoption, places, across, colours), more=_EQUAL)
            for across, title in _VIEWS.items()
        ],
        columns=2,
        title=f'{in_words(adoption.name)}: {tree.mass:.4g} kg, {adoption.base} base, '
        f'{len(tree.limits)} joints; colours: mirror pairs, discs: masses',
        size=12,
        width=11.0,
        height=7.0,
    )
    figure.axes[0].invert_xaxis()  # seen from the front left is to the right
    style.save(figure, path)
    return path


def _places(adoption: Adoption) -> list[Any]:
    """Return the placement of each body at the start, floor frame."""
    tree = adoption.tree
    model, data = tree.model, tree.model.createData()
    q = pin.neutral(model)
    q[2] = adoption.standing.height
    q[3:7] = pin.Quaternion(pin.exp3(np.array([0.0, adoption.pitch, 0.0]))).coeffs()
    place_joints(model, data, q, adoption.standing.posture)
    return [place.copy() for place in data.oMi]


def _pair_colours(adoption: Adoption) -> dict[int, Any]:
    """Return body -> colour, the same for both of a pair; black of what is its own image."""
    wheel = style.import_matplotlib().colormaps['tab20']
    pairs = () if adoption.mirror is None else adoption.mirror.pairs
    return {
        body: 'black' if pair[0] == pair[1] else wheel(i % 20)
        for i, pair in enumerate(pairs)
        for body in pair
    }


def _adopted(
    adoption: Adoption, places: list[Any], across: int, colours: dict[int, Any]
) -> Iterable[Mark]:
    """Yield what draws shapes, joints, masses, soles and frame of a robot in a view."""
    tree, view = adoption.tree, [across, 2]
    bodies, middle = range(1, tree.model.njoints), [place.translation[view] for place in places]
    for body in bodies:
        yield from _outline(tree.points(body) @ places[body].rotation.T[:, view] + middle[body])
    for body in bodies[1:]:
        line = np.stack([middle[tree.model.parents[body]], middle[body]])
        yield mark('plot', *line.T, color=style.NEUTRAL, lw=1.2)
        yield mark('plot', *middle[body], 'o', ms=6, color=colours.get(body, style.FAINT))
    for body in bodies:
        inertia = tree.model.inertias[body]
        look = {'color': style.FOOT_COLOURS[2], 'alpha': 0.35, 'linewidths': 0}
        size = 900.0 * inertia.mass / tree.mass
        yield mark('scatter', *places[body].act(inertia.lever)[view], s=size, **look)
    for i, sole in enumerate(adoption.soles):
        place, colour = places[sole.body] * sole.place, style.FOOT_COLOURS[i % 4]
        line = np.stack([middle[sole.body], place.translation[view]])
        yield mark('plot', *line.T, color=style.NEUTRAL, lw=1.2)
        outline = _rectangle(place, sole)[:, view]
        yield mark('plot', *outline.T, color=colour, lw=4, marker='o', ms=4)
        if across == 1:  # seen from the side they would cover each other
            yield _name(in_words(sole.link), line[1], colour, 8, (0, -14), ha='center')
    size = 0.25 * adoption.standing.height
    for axis, letter, colour in zip(places[1].rotation.T, 'xyz', ('#CC0000', '#009900', '#0000CC')):
        if np.hypot(*axis[view]) > 0.1:
            tip = middle[1] + size * axis[view]
            yield style.arrow(middle[1], tip, colour, 1.6)
            yield mark('annotate', letter, tip, color=colour, fontsize=9)
    yield mark('axhline', 0.0, color=style.NEUTRAL, lw=1)
    for body, colour in colours.items() if across == 1 and len(colours) // 2 <= _NAMED else ():
        side, text = (-6, 'right') if middle[body][0] >= 0.0 else (6, 'left')
        yield _name(in_words(tree.joint(body)), middle[body], colour, 7, (side, 3), ha=text)


def _outline(points: np.ndarray) -> Iterable[Mark]:
    """Yield what draws the hull of points in a view, where they have one."""
    try:
        outline = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return
    yield mark(
        'fill', *outline.T, facecolor=style.FAINT, edgecolor=style.NEUTRAL, alpha=0.18, lw=0.6
    )


def _rectangle(place: Any, sole: Any) -> np.ndarray:
    """Return the closed outline of what has length and width, floor frame, ``(5, 3)``, m."""
    x, y = 0.5 * sole.length, 0.5 * sole.width
    corners = np.array([(x, y, 0), (x, -y, 0), (-x, -y, 0), (-x, y, 0), (x, y, 0)])
    return np.asarray(corners @ place.rotation.T + place.translation)


def _name(
    words: str, place: Any, colour: Any, size: float, off: tuple[float, float], **more: Any
) -> Mark:
    """Return what writes words beside a place, by an offset in points."""
    look = {'color': colour, 'fontsize': size, 'xytext': off, 'textcoords': 'offset points'}
    return mark('annotate', words, place, **look, **more)


def draw_statics(
    posture: Posture, distributor: StaticTorque, solution: StaticSolution, path: Path
) -> Path:
    """Write the picture, a PNG, and return its path."""
    scene = _Scene(posture.dynamics, posture.q, distributor, solution)
    verdict = 'can be held' if solution.feasible else f'cannot be held: {solution.reason}'
    soles = 'soles from above: y, x (m); pressure o, mass x'
    bars = 'largest joint torques (of their limits), N m'
    figure = style.draw_panels(
        [
            *(Panel(title, '', scene.view(i), more=_EQUAL) for i, title in _VIEWS.items()),
            Panel(soles, '', scene.from_above(solution), more=_EQUAL),
            Panel(bars, '', _torques(posture.dynamics, distributor, solution)),
        ],
        columns=2,
        title=f'{in_words(posture.name)} {verdict}',
        size=12,
        width=10.5,
        height=4.4,
    )
    style.save(figure, path)
    return path


def warm_views(dynamics: Dynamics, q: np.ndarray, warmth: Mapping[str, float]) -> Iterator[Panel]:
    """Yield a robot from front and side, each motor in the colour of how warm it is.

    Args:
        dynamics: The `Dynamics`.
        q: Configuration, ``(nq,)``.
        warmth: Joint -> part of the way from the air to the limit of its winding.
    """
    model, data = dynamics.model, dynamics.model.createData()
    pin.forwardKinematics(model, data, dynamics.to_pinocchio(q))
    places = np.array([place.translation for place in data.oMi])
    at = places[[model.getJointId(joint) for joint in warmth]]
    order = np.argsort([*warmth.values()])  # the warmest above the others
    shares = np.array([*warmth.values()])[order]
    for across, title in _VIEWS.items():
        view = [across, 2]
        marks = [
            mark('plot', *places[[model.parents[i], i]][:, view].T, color=style.FAINT, lw=2.5)
            for i in range(2, model.njoints)
        ]
        discs = {'s': 70, 'cmap': 'turbo', 'vmin': 0.0, 'vmax': 1.0, 'edgecolors': style.NEUTRAL}
        marks.append(mark('scatter', *at[order][:, view].T, c=shares, zorder=3, **discs))
        marks += [mark('invert_xaxis')] * across  # seen from the front left is to the right
        yield Panel(title, '', marks, more=_EQUAL)


class _Scene:
    """Places in the world of everything that is drawn."""

    def __init__(
        self, dynamics: Dynamics, q: np.ndarray, distributor: StaticTorque, solution: StaticSolution
    ) -> None:
        model, data = dynamics.model, dynamics.model.createData()
        theirs = dynamics.to_pinocchio(q)
        pin.framesForwardKinematics(model, data, theirs)
        self.com = pin.centerOfMass(model, data, theirs).copy()
        places = [data.oMi[i].translation for i in range(model.njoints)]
        bones = [(places[model.parents[i]], places[i]) for i in range(2, model.njoints)]
        self.soles: dict[str, np.ndarray] = {}
        self.forces: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # place and force
        wrenches = solution.wrenches or {}
        for name, contact in distributor.contacts.items():
            frame = distributor.frames[name]
            place = data.oMf[frame]
            bones.append((places[model.frames[frame].parentJoint], place.translation))
            self.soles[name] = _rectangle(place, contact)
            centre = centre_of_pressure(wrenches[name]) if name in wrenches else [np.nan]
            if np.isfinite(centre).all():
                pressed = place.act(np.array([*centre, 0.0]))
                self.forces[name] = pressed, place.rotation @ wrenches[name][:3]
        self.bones = np.array(bones)
        height = float(np.ptp(self.bones[:, 1, 2])) or 1.0
        self.arrow = _FORCE_SHARE * height / dynamics.weight

    def view(self, across: int) -> Iterable[Mark]:
        """Yield what draws the robot and the forces on it."""
        view, look = [across, 2], {'lw': 2.5, 'marker': 'o', 'ms': 3, 'solid_capstyle': 'round'}
        for bone in self.bones:
            yield mark('plot', *bone[:, view].T, color=style.NEUTRAL, **look)
        for colour, (name, corners) in zip(style.FOOT_COLOURS, self.soles.items()):
            yield mark('plot', *corners[:, view].T, color=colour, lw=3)
            for place, force in [self.forces[name]] if name in self.forces else ():
                tip = (place + self.arrow * force)[view]
                yield style.arrow(place[view], tip, colour)
                if across == 1:  # seen from the side the labels would cover each other
                    words = f'{np.linalg.norm(force):.0f} N'
                    yield mark('annotate', words, tip, color=colour, fontsize=9)
        yield mark('plot', *self.com[view], marker='X', ms=9, color='black')
        yield mark('axvline', self.com[across], color=style.FAINT, lw=1, ls='--', zorder=0)

    def from_above(self, solution: StaticSolution) -> Iterable[Mark]:
        """Yield what draws the soles, where they are pressed and the centre of mass."""
        for colour, (name, corners) in zip(style.FOOT_COLOURS, self.soles.items()):
            outline, alpha = corners[:, [1, 0]], 0.25 if name in solution.support else 0.05
            yield mark('fill', *outline.T, color=colour, alpha=alpha)
            yield mark('plot', *outline.T, color=colour, lw=1.5)
            yield _name(in_words(name), outline[0], colour, 9, (0, 4))
            if name in self.forces:
                x, y, _ = self.forces[name][0]
                yield mark('plot', y, x, marker='o', ms=7, color=colour)
        yield mark('plot', self.com[1], self.com[0], marker='X', ms=9, color='black')
        yield mark('invert_xaxis')


def _torques(
    dynamics: Dynamics, distributor: StaticTorque, solution: StaticSolution
) -> Iterable[Mark]:
    if solution.torque is None or not solution.feasible:
        words = '\n'.join(map(str, solution.shortfalls[:8]))
        return [
            mark('axis', 'off'),
            lambda axis: axis.text(0.0, 0.95, words, va='top', wrap=True, transform=axis.transAxes),
        ]
    order = np.argsort(-abs(solution.torque))[:_BARS][::-1]
    limits, rows = distributor.effort_limits, np.arange(len(order))
    names = [f'{in_words(dynamics.joints[i])} (of {limits[i]:g})' for i in order]
    return [
        mark('barh', rows, solution.torque[order], color=style.FOOT_COLOURS[0]),
        mark('set_yticks', rows, names, fontsize=8),
    ]
