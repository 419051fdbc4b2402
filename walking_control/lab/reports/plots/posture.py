# SPDX-License-Identifier: Apache-2.0
"""Figures of a kept posture; a band of colour marks a foot that stands alone, grey a flight."""

from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from walking_control.lab.reports.plots import bones, Mark, mark, over_time, Panel, style
from walking_control.lab.reports.scene import Pose, Scene, telling_rows
from walking_control.models import Dynamics, in_words, Robot
from walking_control.runs import (
    base_lean,
    friction_ratios,
    is_held,
    joint_motion,
    leg_of_each_joint,
    LOADED,
    Run,
)

_DASHES = ('-', '--', ':')  # beyond seven joints in a panel
_FORCE_FRAME = 2.5  # weights; landing peaks leave the frame
_SIDES = ('left_', 'right_')


def plot_efforts(run: Run) -> style.Figure | None:
    """Draw every effort as a share of its limit, one panel a leg; None without actuators."""
    robot = run.robot
    if not robot.actuators:
        return None
    limits = robot.effort_limits
    share = run.effort / np.where(limits > 0.0, limits, np.inf)
    columns = {joint: share[:, i] for i, joint in enumerate(robot.actuators)}
    return _plot_joints(run, columns, 'effort of the {}, share of its limit', 'share (1)', 0.05)


def plot_joint_motion(run: Run) -> style.Figure | None:
    """Draw the distance of every joint from the start posture, one panel a leg."""
    motion = joint_motion(run)
    columns = {joint: motion[:, i] for i, joint in enumerate(run.robot.joints)}
    title = (
        'drift of the {} from the held posture'
        if is_held(run)
        else 'motion of the {} from the start posture'
    )
    return _plot_joints(run, columns, title, 'angle (rad)', 0.002)


def _plot_joints(run: Run, columns: Any, title: str, ylabel: str, least: float) -> style.Figure:
    """Draw a line for each joint, in panels of the leg they belong to, all to one scale."""
    reach, panels = 1.08 * max(least, *(np.abs(each).max() for each in columns.values())), []
    looks = [(form, colour) for form in _DASHES for colour in style.COLOURS]
    for name, joints in _limbs(run.robot).items():
        lines = [
            mark('plot', run.time, columns[joint], form, label=_short(joint, joints), **look)
            for joint, (form, colour) in zip(filter(columns.__contains__, joints), cycle(looks))
            for look in [{'linewidth': 1.5, 'color': colour}]
        ]
        more = {'ylim': (-reach, reach)}
        panels.append(Panel(title.format(name), ylabel, lines, legend=style.BESIDE, more=more))
    return _over_time(run, [panel for panel in panels if panel.marks], 2.3)


def _limbs(robot: Robot) -> dict[str, list[str]]:
    """Return words for a limb -> its joints: one for each foot, one for the rest of the body."""
    limbs: dict[str, list[str]] = {}
    for joint, foot in leg_of_each_joint(robot).items():
        name = 'upper body' if foot is None else _leg(robot.feet[foot])
        limbs.setdefault(name, []).append(joint)
    return limbs


def _leg(foot: str) -> str:
    sides = (f'{side[:-1]} leg' for side in _SIDES if foot.startswith(side))
    return next(sides, f'leg of the {in_words(foot)}')


def _short(joint: str, joints: Sequence[str]) -> str:
    """Return a joint in words, without the side that all joints of its limb share."""
    shared = (side for side in _SIDES if all(other.startswith(side) for other in joints))
    return in_words(joint.removeprefix(next(shared, '')))


def plot_foot_forces(run: Run, rows: slice = slice(None)) -> style.Figure:
    """Draw normal force, force along the floor and friction used of each foot."""
    weight, friction = Dynamics(run.robot).mass * run.world.gravity, run.world.friction
    normal = run.foot_force[rows, :, 2]
    along = np.hypot(run.foot_force[rows, :, 0], run.foot_force[rows, :, 1])
    peak, frame = normal.max(), _FORCE_FRAME * weight
    beyond = f'; sampled peaks reach {peak:.0f} N' if peak > frame else ''
    # equal feet both stay visible
    looks = [
        {'color': style.FOOT_COLOURS[i], 'linewidth': 2.0 if i == 0 else 1.2}
        for i in range(len(run.robot.feet))
    ]

    def panel(
        title: str, ylabel: str, values: np.ndarray, top: float, level: Sequence[Mark] = ()
    ) -> Panel:
        lines = [mark('plot', run.time[rows], y, **look) for y, look in zip(values.T, looks)]
        return Panel(title, ylabel, [*lines, *level], more={'ylim': (0.0, top)})

    black = {'color': 'black', 'linewidth': 1.0}
    panels = [
        panel(
            f'normal force; dotted: weight, {weight:.0f} N{beyond}',
            'force (N)',
            normal,
            min(frame, 1.08 * max(weight, peak)),
            [mark('axhline', weight, linestyle=':', **black)],
        ),
        panel(
            'force along the floor, size',
            'force (N)',
            along,
            min(frame, 1.08 * max(0.02 * weight, along.max())),
        ),
        panel(
            f'friction used by feet with {100 * LOADED:.0f} % of the weight; dashed: '
            'coefficient of friction',
            'ratio (1)',
            friction_ratios(run, weight)[rows],
            1.1 * friction,
            [mark('axhline', friction, linestyle='--', **black)],
        ),
    ]
    return _over_time(run, panels, 2.2, rows)


def plot_base(run: Run) -> style.Figure:
    """Draw lean, height and place of the base over time."""
    tilt, forward, left = base_lean(run)
    (x, y, z), high = 1e3 * (run.base.position - run.base.position[0]).T, run.base.position[0, 2]
    ahead, aside = style.COLOURS[2:4]
    lean = ('size', tilt, style.FAINT), ('forward', forward, ahead), ('to the left', left, aside)
    place = ('forward', x, ahead), ('to the left', y, aside)
    start = f'height of the base above {high:.3f} m, that of the start'
    panels = [
        _lines(run, 'lean of the base from the vertical', 'angle (rad)', lean, 2e-3),
        _lines(run, start, 'height (mm)', [('', z, 'black')], 1.0),
        _lines(
            run, 'place of the base along the floor, from the start', 'distance (mm)', place, 1.0
        ),
    ]
    return _over_time(run, panels, 2.0)


def _lines(run: Run, title: str, ylabel: str, lines: Any, least: float) -> Panel:
    """Return named lines; the scale never shows less than `least` either way."""
    low = min(-least, *(values.min() for _, values, _ in lines), 0.0)
    high = max(least, *(values.max() for _, values, _ in lines), 0.0)
    ends = low - 0.06 * (high - low), high + 0.06 * (high - low)
    marks = [
        mark('plot', run.time, values, color=colour, linewidth=1.5, label=name)
        for name, values, colour in lines
    ]
    return Panel(
        title,
        ylabel,
        marks,
        legend=style.BESIDE if len(lines) > 1 else None,
        more={'ylim': ends},
    )


def _over_time(
    run: Run, panels: Sequence[Panel], height: float, rows: slice = slice(None)
) -> style.Figure:
    """Return panels with bands of what the robot stands on, and names of the colours."""
    standing = run.contact.sum(axis=1)
    bands = [
        style.shade(run.time, standing == 0, style.FAINT, 0.35),
        *(
            style.shade(run.time, contact & (standing == 1), colour)
            for contact, colour in zip(run.contact.T, style.FOOT_COLOURS)
        ),
    ]
    flies = None if standing.all() else ('no foot on the floor', style.FAINT)
    words, look = '(band: stands alone)', {'width': 10.0, 'height': height}
    return over_time(run, rows, panels, bands, words, flies, **look)


def plot_poses(run: Run) -> style.Figure:
    """Draw the robot with the forces on its feet, from the front and from the right."""
    rows, scene = telling_rows(run), Scene(run)
    front, side = list[Panel](), list[Panel]()
    for row, words in rows:
        pose, up = scene.pose(row), '' if front else 'up (m)'
        marks = [*pose_marks(scene, pose, 1), *_forces(scene, pose, run.foot_force[row])]
        title = f'{words}, {run.time[row]:.2f} s'
        front.append(Panel(title, up, marks, 'from the front: left (m)'))
        above = '' if len(rows) == 1 else up  # beside it, or below
        side.append(Panel('', above, pose_marks(scene, pose, 0), 'from the right: forward (m)'))
    columns = max(2, len(rows))
    figure = style.draw_panels(
        [*front, *side], columns=columns, width=3.6 * columns, height=4.4, sharey=True
    )
    style.add_foot_legend(figure, run.robot, 'and the force on it')
    return figure


def pose_marks(scene: Any, pose: Pose, across: int) -> list[Mark]:
    """Return what draws a robot that stands, the forces on it and its centre of mass.

    Args:
        scene: What has its ``segments`` and its ``height``, m.
        pose: The `Pose`.
        across: Direction across the picture: 0 ahead, 1 to the left.
    """
    from matplotlib.patheffects import withStroke

    view, height = [across, 2], scene.height
    halo = [withStroke(linewidth=3.2, foreground='white')]
    props: dict[str, Any] = {
        'mutation_scale': 15,
        'shrinkA': 0,
        'shrinkB': 0,
        'path_effects': halo,
        'zorder': 6,
    }
    middle = np.mean([sole.mean(axis=0) for sole in pose.soles], axis=0)[across]
    low, high = pose.points[:, across].min() - 0.06, pose.points[:, across].max() + 0.06
    ends = min(middle - 0.42 * height, low), max(middle + 0.42 * height, high)
    plumb = np.stack([pose.com, pose.plumb])[:, view].T
    return [
        mark('axhline', 0.0, color='black', linewidth=1.0, zorder=1),
        *bones(scene, pose.points[:, view], linewidth=4.5, alpha=0.45),
        *(
            mark('plot', *sole[:, view].T, color=colour, linewidth=4.0)
            for sole, colour in zip(pose.soles, style.FOOT_COLOURS)
        ),
        *(
            style.arrow(foot[view], tip[view], style.FOOT_COLOURS[i], **props)
            for i, (foot, tip) in pose.arrows.items()
        ),
        mark('plot', *plumb, color='black', linewidth=1.0, linestyle='--', zorder=5),
        mark('plot', *pose.com[view], marker='X', markersize=9, color='black', zorder=6),
        mark('set', xlim=ends, ylim=(-0.07 * height, 1.1 * height)),
        mark('set', aspect='equal', adjustable='box'),
    ]


def _forces(scene: Scene, pose: Pose, forces: Any) -> Iterable[Mark]:
    """Yield what writes the normal force beside each foot, outside the legs."""
    middle = np.mean([sole.mean(axis=0)[1] for sole in pose.soles])
    for i, sole in enumerate(pose.soles):
        outside = sole[:, 1].mean() > middle
        yield mark(
            'annotate',
            f'{forces[i, 2]:.0f} N',
            (sole[:, 1].max() if outside else sole[:, 1].min(), 0.06 * scene.height),
            color=style.FOOT_COLOURS[i],
            fontsize=10,
            ha='left' if outside else 'right',
            xytext=(5 if outside else -5, 0),
            textcoords='offset points',
        )
