# SPDX-License-Identifier: Apache-2.0
"""Figures of the design tools: a limb and its gears, and the ellipsoid of transmissibility."""

from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.design.limb import Limb
from walking_control.design.mechanism import AXES, Mechanism
from walking_control.lab.reports.plots import style
from walking_control.models.robot import in_words

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
    figure, (pose, inertia, forces) = style.new_figure(1, width=13.0, height=5.2, columns=3)
    plane = drawing_plane(limb.axes)
    _draw_conventions(pose, limb, plane, study)
    _draw_inertia(inertia, study, plane)
    _draw_forces(forces, study, plane)
    return figure


def drawing_plane(axes: str) -> tuple[int, int]:
    """Return the two directions of a drawing, as places among x, y, z."""
    if len(axes) == 1:
        return (0, 2) if axes == 'z' else (AXES.index(axes), 2)
    return AXES.index(axes[0]), AXES.index(axes[-1])


def _draw_conventions(
    axis: style.Axes, limb: Limb, plane: tuple[int, int], study: dict[str, Any]
) -> None:
    mechanism, dynamics = limb.mechanism, limb.mechanism.dynamics
    lines = skeleton(mechanism)[:, :, plane]
    for line in lines:
        axis.plot(*line.T, color=style.FAINT, linewidth=5.0, solid_capstyle='round', zorder=1)
    dynamics.place(mechanism.q)
    chain = [
        dynamics.data.oMi[dynamics.model.getJointId(joint)].translation.copy()
        for joint in limb.transmission.joints
    ]
    points = np.array([*chain, dynamics.data.oMf[limb.frame].translation.copy()])[:, plane]
    axis.plot(
        *points.T,
        color=style.NEUTRAL,
        linewidth=5.0,
        solid_capstyle='round',
        zorder=2,
        marker='o',
        markersize=9,
        markerfacecolor='white',
        markeredgewidth=2.0,
    )
    size = max(np.ptp(points, axis=0).max(), 1e-3)
    others: dict[tuple[float, ...], list[int]] = {}
    for i, joint in enumerate(limb.transmission.joints):
        if not _draw_angle(axis, limb, joint, i, points, plane, 0.22 * size):
            others.setdefault(tuple(np.round(points[i] / size, 2)), []).append(i)
    for numbers in others.values():  # they turn out of the drawing
        names = [in_words(limb.transmission.joints[i]) for i in numbers]
        axis.annotate(
            '\n'.join(names),
            points[numbers[0]],
            fontsize=9,
            color=style.NEUTRAL,
            xytext=(-8, 4),
            textcoords='offset points',
            ha='right',
            zorder=6,
        )
    u = np.zeros(3)
    u[limb.rows] = study['direction']
    tip = points[-1] + 0.25 * size * u[list(plane)]
    axis.annotate(
        '',
        tip,
        points[-1],
        zorder=4,
        arrowprops={'arrowstyle': '-|>', 'color': style.MARK, 'linewidth': 2.0},
    )
    axis.annotate(
        'direction',
        tip,
        color=style.MARK,
        fontsize=9.5,
        xytext=(0, 3),
        ha='center',
        textcoords='offset points',
        va='bottom',
    )
    base = dynamics.data.oMi[1].translation[list(plane)]
    axis.plot(*base, marker='s', markersize=26, color=style.FAINT, zorder=0)
    center = mechanism.dynamics.center_of_mass(mechanism.q)[list(plane)]
    axis.plot(*center, marker='X', markersize=9, color='black', zorder=5)
    axis.set_aspect('equal', adjustable='datalim')
    axis.margins(0.12)
    style.label(
        axis,
        f'{in_words(mechanism.name)}, base {study["base"]}; X: centre of mass',
        f'{AXES[plane[1]]} (m)',
        f'{AXES[plane[0]]} (m)',
    )


def _draw_angle(
    axis: style.Axes,
    limb: Limb,
    joint: str,
    i: int,
    points: np.ndarray,
    plane: tuple[int, int],
    radius: float,
) -> bool:
    """Draw from where a joint is counted and how far it is turned, if it turns in the drawing."""
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
        return False
    # sense in the drawing: +y points away from who sees x to the right and z up
    turn = -column[across[0]] if plane == (0, 2) else column[across[0]]
    now = np.arctan2(link[1], link[0])
    start = now - turn * angle
    arc, colour = np.linspace(start, now, 40), style.COLOURS[i % len(style.COLOURS)]

    def at(reach: float, direction: float) -> np.ndarray:
        return np.asarray(place + reach * np.array([np.cos(direction), np.sin(direction)]))

    axis.plot(
        *np.array([place, at(1.4 * radius, start)]).T,
        color=colour,
        linewidth=1.2,
        linestyle='--',
        zorder=3,
    )
    axis.plot(
        *np.array([at(radius, each) for each in arc]).T, color=colour, linewidth=1.6, zorder=3
    )
    axis.annotate(
        '',
        at(radius, now),
        at(radius, arc[-6]),
        arrowprops={'arrowstyle': '-|>', 'color': colour},
        zorder=3,
    )
    axis.annotate(
        f'{in_words(joint)}\n{np.degrees(angle):.0f}°',
        at(1.15 * radius, 0.5 * (start + now)),
        color=colour,
        fontsize=9.5,
        xytext=(5, 0),
        textcoords='offset points',
        va='center',
        zorder=6,
    )
    return True


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


def _draw_inertia(axis: style.Axes, study: dict[str, Any], plane: tuple[int, int]) -> None:
    for name in ('GIE', 'FGIE', 'BGIE'):
        matrix = _seen(study['inertia'][name], study['axes'], plane, True)
        if matrix is not None:
            axis.plot(
                *(matrix @ _CIRCLE),
                color=_COLOURS[name],
                label=f'{name}, {study["masses"][name]["effective"]:.4g} kg',
            )
    matrix = _seen(study['inertia']['FGIE, symmetric'], study['axes'], plane, True)
    if matrix is not None:
        axis.plot(
            *(matrix @ _CIRCLE),
            color=_COLOURS['FGIE'],
            linestyle=':',
            linewidth=1.4,
            label='FGIE, symmetric',
        )
        title = 'mass along the direction, the end free across it'
        _name_curves(axis, title, 'force for 1 m/s² of the end, base held', plane)
    else:
        effective = {name: study['masses'][name]['effective'] for name in ('GIE', 'FGIE', 'BGIE')}
        _draw_bars(axis, effective, 'kg')


def _draw_bars(axis: style.Axes, values: Any, unit: str) -> None:
    """Draw what has no plane as bars; what is without limit by words alone."""
    known = {name: value for name, value in values.items() if np.isfinite(value)}
    rows = {name: i for i, name in enumerate(reversed(values))}
    for name, value in known.items():
        axis.barh(rows[name], value, color=_COLOURS[name], height=0.6)
    for name, row in rows.items():
        text = f' {values[name]:.4g} {unit}' if name in known else ' without limit'
        axis.annotate(text, (known.get(name, 0.0), row), va='center', fontsize=9.5)
    axis.set_yticks(list(rows.values()), list(rows))
    axis.set(
        xlim=(0.0, 1.3 * max(known.values(), default=1.0) or 1.0), ylim=(-0.6, len(rows) - 0.4)
    )
    if not known:
        axis.set_xticks([])
    style.label(
        axis,
        'mass of the end, base held' if unit == 'kg' else 'forces the end can give (F), resist (B)',
        xlabel=f'along the direction ({unit})',
    )


def _name_curves(axis: style.Axes, title: str, words: str, plane: tuple[int, int]) -> None:
    """Name curves in a plane below them, and their axes, to one scale."""
    axis.set_aspect('equal', adjustable='datalim')
    axis.legend(
        loc='upper center',
        bbox_to_anchor=(0.45, -0.13),
        ncols=2,
        fontsize=9.5,
        title=title,
        title_fontsize=9.5,
        frameon=False,
    )
    up, along = AXES[plane[1]], AXES[plane[0]]
    style.label(axis, words, f'along {up} (N)', f'force along {along} (N)')


def _draw_forces(axis: style.Axes, study: dict[str, Any], plane: tuple[int, int]) -> None:
    from scipy.spatial import ConvexHull

    for name, corners in study['corners'].items():
        seen = None if corners is None else _seen(corners, study['axes'], plane, False)
        if seen is None:
            continue
        seen = seen[ConvexHull(seen).vertices]
        closed = np.vstack([seen, seen[:1]])
        mixed = name.startswith('AFC')
        axis.plot(
            *closed.T,
            color=_COLOURS[name],
            linestyle='--' if mixed else '-',
            linewidth=1.4 if mixed else 1.8,
            label=f'{name}, {study["forces"][name]:.4g} N',
        )
    if not axis.lines:
        _draw_bars(axis, study['forces'], 'N')
        return
    _name_curves(
        axis, 'force along the direction', 'forces the end can give (F), resist (B)', plane
    )


def plot_efficiency(study: dict[str, Any]) -> style.Figure:
    """Draw backward efficiency, forces and impact mitigation over the efficiency of all gears."""
    over = study['over_efficiency']
    eta = np.array(over['efficiency'])
    figure, (back, force, impact) = style.new_figure(1, width=13.0, height=3.6, columns=3)
    back.plot(eta, over['back_efficiency'], color=style.FOOT_COLOURS[1])
    back.plot(eta, eta, color=style.FAINT, linestyle='--')
    back.annotate('equal', (0.62, 0.64), color=style.NEUTRAL, fontsize=9.5, rotation=32)
    style.label(back, 'backward efficiency of the first gear', 'efficiency (1)')
    ratio = np.array(over['BFC'], float)
    held = ~np.isfinite(ratio)
    force.axhline(1.0, color='black', linewidth=1.2, label='FC, lossless')
    force.plot(eta, over['FFC'], color=_COLOURS['FFC'], label='FFC, lifting')
    force.plot(eta[~held], ratio[~held], color=_COLOURS['BFC'], label='BFC, resisting')
    force.set_ylim(0.0, 5.0)
    if held.any() and not held.all():
        edge = 0.5 * (eta[held].max() + eta[~held].min())
        for axis in (back, force, impact):
            axis.axvspan(eta[0], edge, color=style.FAINT, alpha=0.22, linewidth=0)
        force.annotate(
            'no force turns\nthe motors',
            (0.5 * (eta[0] + edge), 2.5),
            ha='center',
            color=style.NEUTRAL,
            fontsize=9.5,
        )
    force.legend(loc='upper right', fontsize=9.5)
    style.label(force, 'force along the direction, share of FC', 'share (1)')
    if over['effective']:
        for name, text, line in (
            ('effective', 'of effective masses', '-'),
            ('diagonal', 'of diagonal masses', '--'),
            ('factor', 'determinant, all axes', ':'),
        ):
            impact.plot(eta, over[name], line, color=style.FOOT_COLOURS[2], label=text)
        impact.set_ylim(0.0, 1.0)
        impact.legend(loc='lower right', fontsize=9.5)
    else:
        impact.text(0.5, 0.5, 'base held: nothing softens', ha='center', transform=impact.transAxes)
    style.label(impact, 'impact mitigation', 'factor (1)')
    for axis in (back, force, impact):
        axis.set(xlabel='forward efficiency of all gears (1)', xlim=(eta[0], eta[-1]))
    return figure


def plot_trade(study: dict[str, Any]) -> style.Figure | None:
    """Draw force resisted against impact mitigation, along gear efficiency; None of a held base."""
    over = study['over_efficiency']
    if not over['effective']:
        return None
    eta, force = np.array(over['efficiency']), np.array(over['BFC'], float)
    soft = np.array(over['effective'])
    kept = np.isfinite(force) & (force < 12.0)
    figure, (axis,) = style.new_figure(1, width=6.4, height=4.2)
    axis.plot(soft[kept], force[kept], color=_COLOURS['BFC'], label='BFC, resisting')
    axis.plot(soft[kept], np.array(over['FFC'])[kept], color=_COLOURS['FFC'], label='FFC, lifting')
    for mark in (0.55, 0.6, 0.7, 0.8, 0.9, 1.0):
        place = int(np.argmin(np.abs(eta - mark)))
        if kept[place]:
            axis.plot(soft[place], force[place], 'o', color=_COLOURS['BFC'], markersize=5)
            axis.annotate(
                f'{eta[place]:.2f}',
                (soft[place], force[place]),
                fontsize=9.5,
                xytext=(6, 5),
                textcoords='offset points',
            )
    axis.set_yscale('log')
    ticks = [
        tick
        for tick in (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10)
        if axis.get_ylim()[0] <= tick <= axis.get_ylim()[1]
    ]
    axis.set_yticks(ticks, [f'{tick:g}' for tick in ticks])
    axis.set_yticks([], minor=True)
    axis.margins(x=0.08)
    axis.legend(loc='upper right', fontsize=9.5)
    style.label(
        axis,
        'strength against softness; dots: forward efficiency',
        'share of FC (1)',
        'impact mitigation along the direction, of effective masses (1)',
    )
    return figure


def plot_rotom(mechanism: Mechanism, study: dict[str, Any]) -> style.Figure:
    """Draw a robot with its ellipsoid, from two sides, and the index over its joints."""
    flat = study['moves_along']
    views = (
        [(0, 2)]
        if flat == 'xz'
        else [(1, 2)]
        if flat == 'yz'
        else [(0, 1)]
        if flat == 'xy'
        else [(0, 2), (1, 2)]
    )
    over = study['index_over']
    columns = len(views) + bool(over)
    figure, axes = style.new_figure(1, width=4.6 * columns, height=4.6, columns=columns)
    for axis, view in zip(axes, views):
        _draw_ellipsoid(axis, mechanism, study, view)
    if over:
        _draw_index(axes[-1], mechanism, over)
    style.add_legend(figure, _ARROWS, 'lower center')
    return figure


def _draw_ellipsoid(
    axis: style.Axes, mechanism: Mechanism, study: dict[str, Any], view: Any
) -> None:
    view, lines = list(view), skeleton(mechanism)
    size = np.ptp(lines.reshape(-1, 3), axis=0).max()
    for line in lines[:, :, view]:
        axis.plot(
            *line.T,
            color=style.NEUTRAL,
            linewidth=4.0,
            solid_capstyle='round',
            alpha=0.5,
            marker='o',
            markersize=3.5,
        )
    for name in study['contacts']:
        axis.plot(
            *mechanism.place_of(mechanism.frame(name))[view],
            marker='s',
            color='black',
            markersize=7,
        )
    scale = 0.3 * size
    center, T = np.array(study['center_of_mass'])[view], np.array(study['matrix'])
    # the outline of the shadow of {T x}: the support function of the ellipsoid, in the view
    outline = T[view] @ T[:, view]
    values, vectors = np.linalg.eigh(outline)
    shadow = vectors @ (np.sqrt(np.clip(values, 0.0, None))[:, None] * _CIRCLE)
    axis.plot(
        *(center[:, None] + scale * _CIRCLE), color=style.FAINT, linewidth=1.2, linestyle='--'
    )
    axis.fill(*(center[:, None] + scale * shadow), color=style.FOOT_COLOURS[0], alpha=0.22)
    axis.plot(*(center[:, None] + scale * shadow), color=style.FOOT_COLOURS[0])
    u = np.array(study['direction'])
    for vector, colour, width in (
        (u, style.FOOT_COLOURS[1], 1.6),
        (T @ u, style.FOOT_COLOURS[2], 2.4),
    ):
        tip = center + scale * vector[view]
        if np.linalg.norm(tip - center) > 1e-3 * size:
            axis.annotate(
                '',
                tip,
                center,
                zorder=6,
                arrowprops={
                    'arrowstyle': '-|>',
                    'color': colour,
                    'linewidth': width,
                    'shrinkA': 0,
                    'shrinkB': 0,
                },
            )
    axis.plot(*center, marker='X', color='black', markersize=8, zorder=7)
    axis.set_aspect('equal', adjustable='datalim')
    axis.margins(0.1)
    style.label(
        axis,
        f'RoToM {study["rotom"]:.3f}, index {study["index"]:.3f}',
        f'{AXES[view[1]]} (m)',
        f'{AXES[view[0]]} (m)',
    )


def _draw_index(
    axis: style.Axes, mechanism: Mechanism, over: dict[str, dict[str, np.ndarray]]
) -> None:
    for i, (joint, curve) in enumerate(over.items()):
        colour = style.COLOURS[i % len(style.COLOURS)]
        axis.plot(curve['position'], curve['index'], color=colour, label=in_words(joint))
        now = mechanism.positions[mechanism.joints.index(joint)]
        axis.plot(
            now, np.interp(now, curve['position'], curve['index']), 'o', color=colour, markersize=6
        )
    axis.set_ylim(0.0, 1.0)
    axis.legend(fontsize=9.5)
    style.label(
        axis,
        'transmissibility index over each joint; dots: now',
        'index (1)',
        'position of the joint (rad or m)',
    )
