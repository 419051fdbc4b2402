# SPDX-License-Identifier: Apache-2.0
"""Figures of the design tools: a limb and its gears, and the ellipsoid of transmissibility."""

from itertools import cycle
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.design import AXES, Limb, Mechanism
from walking_control.lab.reports.plots import Mark, mark, Panel, style
from walking_control.models import in_words

_COLOURS = {
    'GIE': 'black',
    'FGIE': style.FOOT_COLOURS[0],
    'BGIE': style.FOOT_COLOURS[1],
    'FC': 'black',
    'FFC': style.FOOT_COLOURS[0],
    'BFC': style.FOOT_COLOURS[1],
    'AFC pushing': style.FOOT_COLOURS[2],
    'AFC giving way': style.FOOT_COLOURS[3],
}
_ARROWS = {
    'force': {'color': style.FOOT_COLOURS[1]},
    'what of it moves the mass': {'color': style.FOOT_COLOURS[2]},
    'of forces from all sides': {'color': style.FOOT_COLOURS[0]},
    'of a free mass': {'color': style.FAINT, 'linestyle': '--'},
}
_SOFT = (
    ('effective', 'of effective masses', '-'),
    ('diagonal', 'of diagonal masses', '--'),
    ('factor', 'determinant, all axes', ':'),
)
_EQUAL = [mark('set_aspect', 'equal', adjustable='datalim')]
_THIN = 1.0  # points
_CIRCLE = np.array(
    [np.cos(np.linspace(0.0, 2.0 * np.pi, 181)), np.sin(np.linspace(0.0, 2.0 * np.pi, 181))]
)


def skeleton(mechanism: Mechanism) -> np.ndarray:
    """Return the lines of a robot: from each joint to the next, and to the ends, (k, 2, 3), m."""
    dynamics = mechanism.dynamics
    dynamics.place(mechanism.q)
    model, data = dynamics.model, dynamics.data
    places = [data.oMi[i].translation.copy() for i in range(model.njoints)]
    lines = [(places[model.parents[i]], places[i]) for i in range(2, model.njoints)]
    leaves = set(range(1, model.njoints)) - set(model.parents[2:])
    lines += [
        (places[frame.parentJoint], data.oMf[i].translation.copy())
        for i, frame in enumerate(model.frames)
        if frame.type == pin.FrameType.BODY and frame.parentJoint in leaves
    ]
    return np.array(
        [line for line in lines if np.linalg.norm(line[1] - line[0]) > 1e-6]
        or [(places[1], places[1])]
    )


def plot_limb(limb: Limb, study: dict[str, Any]) -> style.Figure:
    """Draw a limb in its posture with its angles, how heavy its end feels, and its forces."""
    plane = drawing_plane(limb.axes)
    pose = _conventions(limb, plane, study)
    return style.draw_panels(
        [pose, _inertia(study, plane), _forces(study, plane)], columns=3, width=13.0, height=5.2
    )


def drawing_plane(axes: str) -> tuple[int, int]:
    """Return the two directions of a drawing, as places among x, y, z."""
    if len(axes) == 1:
        return (0, 2) if axes == 'z' else (AXES.index(axes), 2)
    return AXES.index(axes[0]), AXES.index(axes[-1])


def _conventions(limb: Limb, plane: tuple[int, int], study: dict[str, Any]) -> Panel:
    mechanism, dynamics, joints = limb.mechanism, limb.mechanism.dynamics, limb.transmission.joints
    faint, thick = {'color': style.FAINT}, {'linewidth': 5.0, 'solid_capstyle': 'round'}
    marks = [
        mark('plot', *line.T, zorder=1, **faint, **thick)
        for line in skeleton(mechanism)[:, :, plane]
    ]
    dynamics.place(mechanism.q)
    chain = [dynamics.data.oMi[dynamics.model.getJointId(joint)].translation for joint in joints]
    points = np.array([*chain, dynamics.data.oMf[limb.frame].translation])[:, plane]
    look = {'marker': 'o', 'markersize': 9, 'markerfacecolor': 'white', 'markeredgewidth': 2.0}
    marks.append(mark('plot', *points.T, color=style.NEUTRAL, zorder=2, **thick, **look))
    size = max(np.ptp(points, axis=0).max(), 1e-3)
    others: dict[tuple[float, ...], list[int]] = {}
    for i, joint in enumerate(joints):
        drawn = _angle(limb, joint, i, points, plane, 0.22 * size)
        marks += drawn
        if not drawn:
            others.setdefault(tuple(np.round(points[i] / size, 2)), []).append(i)
    beside = {'textcoords': 'offset points', 'zorder': 6}
    for numbers in others.values():  # they turn out of the drawing
        names, place = '\n'.join(in_words(joints[i]) for i in numbers), points[numbers[0]]
        look = {'fontsize': 9, 'color': style.NEUTRAL, 'xytext': (-8, 4), 'ha': 'right', **beside}
        marks.append(mark('annotate', names, place, **look))
    u = np.zeros(3)
    u[limb.rows] = study['direction']
    tip = points[-1] + 0.25 * size * u[list(plane)]
    base, center = (
        place[list(plane)]
        for place in (dynamics.data.oMi[1].translation, dynamics.center_of_mass(mechanism.q))
    )
    red = {'color': style.MARK, 'fontsize': 9.5, 'xytext': (0, 3), 'ha': 'center', 'va': 'bottom'}
    marks += [
        style.arrow(points[-1], tip, style.MARK, zorder=4),
        mark('annotate', 'direction', tip, textcoords='offset points', **red),
        mark('plot', *base, marker='s', markersize=26, zorder=0, **faint),
        mark('plot', *center, marker='X', markersize=9, color='black', zorder=5),
        *_EQUAL,
        mark('margins', 0.12),
    ]
    title = f'{in_words(mechanism.name)}, base {study["base"]}; X: centre of mass'
    return Panel(title, f'{AXES[plane[1]]} (m)', marks, f'{AXES[plane[0]]} (m)')


def _angle(
    limb: Limb,
    joint: str,
    i: int,
    points: np.ndarray,
    plane: tuple[int, int],
    radius: float,
) -> list[Mark]:
    """Return from where a joint is counted and how far it is turned, if it turns in the drawing."""
    dynamics, mechanism = limb.mechanism.dynamics, limb.mechanism
    model, data = dynamics.model, dynamics.data
    number = model.getJointId(joint)
    across = np.delete(np.arange(3), list(plane))
    column = pin.computeJointJacobians(model, data, dynamics.to_pinocchio(mechanism.q))[
        3:, model.joints[number].idx_v
    ]
    angle = mechanism.positions[mechanism.joints.index(joint)]
    place, link = points[i], points[i + 1] - points[i]
    if abs(column[across[0]]) < 0.99 or np.linalg.norm(link) < 1e-6:
        return []
    # sense in the drawing: +y points away from who sees x to the right and z up
    turn = -column[across[0]] if plane == (0, 2) else column[across[0]]
    now = np.arctan2(link[1], link[0])
    start = now - turn * angle
    arc, colour = np.linspace(start, now, 40), style.COLOURS[i % len(style.COLOURS)]

    def at(reach: float, direction: float) -> np.ndarray:
        return np.asarray(place + reach * np.array([np.cos(direction), np.sin(direction)]))

    zero, turned = (
        np.array([place, at(1.4 * radius, start)]),
        np.array([at(radius, x) for x in arc]),
    )
    look = {'color': colour, 'fontsize': 9.5, 'xytext': (5, 0), 'va': 'center', 'zorder': 6}
    words = f'{in_words(joint)}\n{np.degrees(angle):.0f}°'
    middle = at(1.15 * radius, 0.5 * (start + now))
    return [
        mark('plot', *zero.T, color=colour, linewidth=1.2, linestyle='--', zorder=3),
        mark('plot', *turned.T, color=colour, linewidth=1.6, zorder=3),
        style.arrow(at(radius, arc[-6]), at(radius, now), colour, _THIN, zorder=3),
        mark('annotate', words, middle, textcoords='offset points', **look),
    ]


def _seen(
    matrix: np.ndarray, axes: str, plane: tuple[int, int], inverse: bool
) -> np.ndarray | None:
    """Return the part of a matrix in the plane of the drawing, what is across it free."""
    places = [axes.index(AXES[i]) for i in plane if AXES[i] in axes]
    if matrix is None or len(places) < 2:
        return None
    matrix = np.array(matrix)
    if not inverse:
        return matrix[:, places]
    return np.linalg.inv(np.linalg.inv(matrix)[np.ix_(places, places)])


def _inertia(study: dict[str, Any], plane: tuple[int, int]) -> Panel:
    masses = {name: study['masses'][name]['effective'] for name in ('GIE', 'FGIE', 'BGIE')}
    looks: dict[str, dict[str, Any]] = {
        name: {'color': _COLOURS[name], 'label': f'{name}, {mass:.4g} kg'}
        for name, mass in masses.items()
    }
    dotted: dict[str, Any] = {'linestyle': ':', 'linewidth': 1.4, 'label': 'FGIE, symmetric'}
    looks['FGIE, symmetric'] = {'color': _COLOURS['FGIE'], **dotted}
    marks = [
        mark('plot', *(matrix @ _CIRCLE), **look)
        for name, look in looks.items()
        if (matrix := _seen(study['inertia'][name], study['axes'], plane, True)) is not None
    ]
    if not marks:
        return _bars(masses, 'kg')
    title = 'mass along the direction, the end free across it'
    return _curves(marks, title, 'force for 1 m/s² of the end, base held', plane)


def _bars(values: dict[str, Any], unit: str) -> Panel:
    """Return what has no plane as bars; what is without limit by words alone."""
    known = {name: value for name, value in values.items() if np.isfinite(value)}
    rows = {name: i for i, name in enumerate(reversed(values))}
    texts = {
        name: f' {values[name]:.4g} {unit}' if name in known else ' without limit' for name in rows
    }
    marks = [
        *(
            mark('barh', rows[name], value, color=_COLOURS[name], height=0.6)
            for name, value in known.items()
        ),
        *(
            mark('annotate', texts[name], (known.get(name, 0.0), row), va='center', fontsize=9.5)
            for name, row in rows.items()
        ),
        mark('set_yticks', list(rows.values()), list(rows)),
        *([] if known else [mark('set_xticks', [])]),
    ]
    wide = 1.3 * max(known.values(), default=1.0) or 1.0
    words = {'kg': 'mass of the end, base held', 'N': 'forces the end can give (F), resist (B)'}
    more = {'xlim': (0.0, wide), 'ylim': (-0.6, len(rows) - 0.4)}
    return Panel(words[unit], '', marks, f'along the direction ({unit})', more=more)


def _curves(marks: list[Mark], title: str, words: str, plane: tuple[int, int]) -> Panel:
    """Return curves in a plane to one scale, named below them, and their axes."""
    look = {'ncols': 2, 'fontsize': 9.5, 'title_fontsize': 9.5, 'frameon': False}
    below = {'loc': 'upper center', 'bbox_to_anchor': (0.45, -0.13), 'title': title, **look}
    up, along = AXES[plane[1]], AXES[plane[0]]
    return Panel(
        words, f'along {up} (N)', [*marks, *_EQUAL], f'force along {along} (N)', legend=below
    )


def _forces(study: dict[str, Any], plane: tuple[int, int]) -> Panel:
    from scipy.spatial import ConvexHull

    marks = []
    for name, corners in study['corners'].items():
        seen = None if corners is None else _seen(corners, study['axes'], plane, False)
        if seen is None:
            continue
        seen = seen[ConvexHull(seen).vertices]
        mixed = name.startswith('AFC')
        look = {'linestyle': '--' if mixed else '-', 'linewidth': 1.4 if mixed else 1.8}
        label = f'{name}, {study["forces"][name]:.4g} N'
        closed = np.vstack([seen, seen[:1]]).T
        marks.append(mark('plot', *closed, color=_COLOURS[name], label=label, **look))
    if not marks:
        return _bars(study['forces'], 'N')
    words = 'forces the end can give (F), resist (B)'
    return _curves(marks, 'force along the direction', words, plane)


def plot_efficiency(study: dict[str, Any]) -> style.Figure:
    """Draw backward efficiency, forces and impact mitigation over the efficiency of all gears."""
    over = study['over_efficiency']
    eta, ratio = np.array(over['efficiency']), np.array(over['BFC'], float)
    held, neutral = ~np.isfinite(ratio), {'color': style.NEUTRAL, 'fontsize': 9.5}
    back = [
        mark('plot', eta, over['back_efficiency'], color=style.FOOT_COLOURS[1]),
        mark('plot', eta, eta, color=style.FAINT, linestyle='--'),
        mark('annotate', 'equal', (0.62, 0.64), rotation=32, **neutral),
    ]
    force = [
        mark('axhline', 1.0, color='black', linewidth=1.2, label='FC, lossless'),
        mark('plot', eta, over['FFC'], color=_COLOURS['FFC'], label='FFC, lifting'),
        mark('plot', eta[~held], ratio[~held], color=_COLOURS['BFC'], label='BFC, resisting'),
        mark('set_ylim', 0.0, 5.0),
    ]
    shade = []
    if held.any() and not held.all():
        edge = 0.5 * (eta[held].max() + eta[~held].min())
        shade.append(mark('axvspan', eta[0], edge, color=style.FAINT, alpha=0.22, linewidth=0))
        words, place = 'no force turns\nthe motors', (0.5 * (eta[0] + edge), 2.5)
        force.append(mark('annotate', words, place, ha='center', **neutral))
    soft = [
        mark('plot', eta, over[name], line, color=style.FOOT_COLOURS[2], label=text)
        for name, text, line in _SOFT
        if over['effective']
    ]
    legend = {'loc': 'lower right', 'fontsize': 9.5} if soft else None
    hard = 'base held: nothing softens'
    impact = [
        *soft,
        mark('set_ylim', 0.0, 1.0)
        if soft
        else lambda axis: axis.text(0.5, 0.5, hard, ha='center', transform=axis.transAxes),
    ]
    named = {'loc': 'upper right', 'fontsize': 9.5}
    ends, along = {'xlim': (eta[0], eta[-1])}, 'forward efficiency of all gears (1)'
    title = 'backward efficiency of the first gear'
    return style.draw_panels(
        [
            Panel(title, 'efficiency (1)', [*back, *shade], along, more=ends),
            Panel(
                'force along the direction, share of FC',
                'share (1)',
                [*force, *shade],
                along,
                named,
                ends,
            ),
            Panel('impact mitigation', 'factor (1)', [*impact, *shade], along, legend, ends),
        ],
        columns=3,
        width=13.0,
        height=3.6,
    )


def plot_trade(study: dict[str, Any]) -> style.Figure | None:
    """Draw force resisted against impact mitigation, along gear efficiency; None of a held base."""
    over = study['over_efficiency']
    if not over['effective']:
        return None
    eta, force = np.array(over['efficiency']), np.array(over['BFC'], float)
    soft = np.array(over['effective'])
    kept = np.isfinite(force) & (force < 12.0)
    shares, orange = np.array(over['FFC']), _COLOURS['BFC']
    beside = {'fontsize': 9.5, 'xytext': (6, 5), 'textcoords': 'offset points'}
    named = [int(np.argmin(np.abs(eta - wanted))) for wanted in (0.55, 0.6, 0.7, 0.8, 0.9, 1.0)]
    dots = [(soft[i], force[i], f'{eta[i]:.2f}') for i in named if kept[i]]
    marks = [
        mark('plot', soft[kept], force[kept], color=orange, label='BFC, resisting'),
        mark('plot', soft[kept], shares[kept], color=_COLOURS['FFC'], label='FFC, lifting'),
        *(mark('plot', x, y, 'o', color=orange, markersize=5) for x, y, _ in dots),
        *(mark('annotate', words, (x, y), **beside) for x, y, words in dots),
        mark('set_yscale', 'log'),
        _name_ticks,
        mark('margins', x=0.08),
    ]
    panel = Panel(
        'strength against softness; dots: forward efficiency',
        'share of FC (1)',
        marks,
        'impact mitigation along the direction, of effective masses (1)',
        {'loc': 'upper right', 'fontsize': 9.5},
    )
    return style.draw_panels([panel], width=6.4, height=4.2)


def _name_ticks(axis: style.Axes) -> None:
    """Name round numbers within the ordinate, and nothing else."""
    low, high = axis.get_ylim()
    ticks = [tick for tick in (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10) if low <= tick <= high]
    axis.set_yticks(ticks, [f'{tick:g}' for tick in ticks])
    axis.set_yticks([], minor=True)


def plot_rotom(mechanism: Mechanism, study: dict[str, Any]) -> style.Figure:
    """Draw a robot with its ellipsoid, from two sides, and the index over its joints."""
    flat = study['moves_along']
    views = {'xz': [(0, 2)], 'yz': [(1, 2)], 'xy': [(0, 1)]}.get(flat, [(0, 2), (1, 2)])
    over = study['index_over']
    columns = len(views) + bool(over)
    panels = [_ellipsoid(mechanism, study, list(view)) for view in views]
    panels += [_index(mechanism, over)] if over else []
    figure = style.draw_panels(panels, columns=columns, width=4.6 * columns, height=4.6)
    style.add_legend(figure, _ARROWS, 'lower center')
    return figure


def _ellipsoid(mechanism: Mechanism, study: dict[str, Any], view: list[int]) -> Panel:
    lines = skeleton(mechanism)
    size = np.ptp(lines.reshape(-1, 3), axis=0).max()
    look = {'linewidth': 4.0, 'solid_capstyle': 'round', 'marker': 'o', 'markersize': 3.5}
    places = [
        mechanism.place_of(mechanism.dynamics.frame(name))[view] for name in study['contacts']
    ]
    scale, blue = 0.3 * size, {'color': style.FOOT_COLOURS[0]}
    center, T = np.array(study['center_of_mass'])[view], np.array(study['matrix'])
    # the outline of the shadow of {T x}: the support function of the ellipsoid, in the view
    values, vectors = np.linalg.eigh(T[view] @ T[:, view])
    shadow = vectors @ (np.sqrt(np.clip(values, 0.0, None))[:, None] * _CIRCLE)
    free, bound = (center[:, None] + scale * outline for outline in (_CIRCLE, shadow))
    marks = [
        *(
            mark('plot', *line.T, color=style.NEUTRAL, alpha=0.5, **look)
            for line in lines[:, :, view]
        ),
        *(mark('plot', *place, marker='s', color='black', markersize=7) for place in places),
        mark('plot', *free, color=style.FAINT, linewidth=1.2, linestyle='--'),
        mark('fill', *bound, alpha=0.22, **blue),
        mark('plot', *bound, **blue),
    ]
    u = np.array(study['direction'])
    for vector, colour, width in ((u, 1, 1.6), (T @ u, 2, 2.4)):
        tip, props = center + scale * vector[view], {'shrinkA': 0, 'shrinkB': 0, 'zorder': 6}
        if np.linalg.norm(tip - center) > 1e-3 * size:
            marks.append(style.arrow(center, tip, style.FOOT_COLOURS[colour], width, **props))
    middle = mark('plot', *center, marker='X', color='black', markersize=8, zorder=7)
    marks += [middle, *_EQUAL, mark('margins', 0.1)]
    title = f'RoToM {study["rotom"]:.3f}, index {study["index"]:.3f}'
    return Panel(title, f'{AXES[view[1]]} (m)', marks, f'{AXES[view[0]]} (m)')


def _index(mechanism: Mechanism, over: dict[str, dict[str, np.ndarray]]) -> Panel:
    marks = []
    for (joint, curve), colour in zip(over.items(), cycle(style.COLOURS)):
        x, y = curve['position'], curve['index']
        now = mechanism.positions[mechanism.joints.index(joint)]
        marks.append(mark('plot', x, y, color=colour, label=in_words(joint)))
        marks.append(mark('plot', now, np.interp(now, x, y), 'o', color=colour, markersize=6))
    title = 'transmissibility index over each joint; dots: now'
    more, xlabel = {'ylim': (0.0, 1.0)}, 'position of the joint (rad or m)'
    return Panel(title, 'index (1)', marks, xlabel, {'fontsize': 9.5}, more)
