# SPDX-License-Identifier: Apache-2.0
"""Figures of a gait search; every function returns a matplotlib Figure."""

import numpy as np
import pinocchio as pin

from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.robot_file import WORLD
from walking_control.models.step_equations import build_model, REFLECTION
from walking_control.reports.plots.style import (
    add_foot_legend,
    FAINT,
    FOOT_COLOURS,
    label,
    NEUTRAL,
    new_figure,
)
from walking_control.runs.kinematics import Skeleton, tilt

_COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')


def plot_snapshots(found, poses=9):
    """Draw one step of a gait as multiple exposures, early poses faint (Figs. 4.7, 4.14, 4.18)."""
    robot, gait = found.robot_file.robot, found.result.gait
    q, v, _ = gait.motion(np.linspace(0.0, gait.period, poses))
    planar = robot.planar
    figure, axes = new_figure(1, height=4.6, columns=1 if planar else 2, sharey=True)
    shapes = _planar_poses(robot, q) if planar else _spatial_poses(robot, q)
    slope = found.robot_file.values(WORLD).slope
    for k, segments in enumerate(shapes):
        strength = 0.2 + 0.8 * (k / max(1, poses - 1)) ** 1.3
        for points, foot in segments:
            colour = NEUTRAL if foot is None else FOOT_COLOURS[foot]
            options = {'color': colour, 'alpha': strength, 'linewidth': 2.4}
            if planar:
                axes[0].plot(*tilt(points, slope).T, **options)
            else:
                axes[0].plot(points[:, 0], points[:, 2], **options)
                axes[1].plot(points[:, 1], points[:, 2], **options)
    step = found.result.judgement.step
    for axis, title in zip(axes, ('from the side', 'from behind')):
        axis.set_aspect('equal')
        axis.axline((0.0, 0.0), slope=-np.tan(slope) if axis is axes[0] else 0.0, color='black',
                    linewidth=1.2)
        axis.set_title(f'{title}: step {100 * step[0]:.0f} cm in {gait.period:.2f} s'
                       if axis is axes[0] else title, loc='left', fontsize=11)
    axes[0].set_xlabel('forward (m)')
    axes[0].set_ylabel('up (m)')
    if not planar:
        axes[1].set_xlabel('to the left (m)')
    add_foot_legend(figure, robot)
    return figure


def _planar_poses(robot, coordinates):
    """Return for each pose its segments: points ``(2, 2)`` and the index of the leg's foot."""
    dynamics = PlanarDynamics(robot)
    skeleton = Skeleton(dynamics)
    poses = []
    for q in coordinates:
        full, _ = dynamics.base_from_coordinates(robot.feet[0], q, np.zeros(len(q)))
        points = skeleton.points(full)
        poses.append([(points[[segment.start, segment.end]], segment.foot)
                      for segment in skeleton.segments])
    return poses


class _SpatialPoints:
    """Hip, feet and the masses of further limbs of a spatial walker, stance foot at the origin."""

    def __init__(self, robot):
        self.model = build_model(robot)
        self.data = self.model.createData()
        self.feet = [self.model.getFrameId(foot) for foot in robot.feet]
        order = [self.model.joints[self.model.getJointId(joint)].idx_v for joint in robot.joints]
        self.spread = np.zeros((self.model.nv, len(order)))
        self.spread[order] = np.linalg.inv(robot.supports[robot.feet[0]])
        ends = {self.model.frames[foot].parentJoint for foot in self.feet}
        self.limbs = [i for i in range(2, self.model.njoints)
                      if i not in ends and np.linalg.norm(self.model.inertias[i].lever) > 1e-9]

    def at(self, q):
        """Return hip, feet and limb ends, m: ``(3,)``, ``(2, 3)``, ``(k, 3)``."""
        full = self.spread @ q
        pin.framesForwardKinematics(self.model, self.data, full)
        feet = np.array([self.data.oMf[foot].translation for foot in self.feet])
        limbs = [self.data.oMi[i].act(self.model.inertias[i].lever) for i in self.limbs]
        return -feet[0], feet - feet[0], np.array(limbs).reshape(-1, 3) - feet[0]


def _spatial_poses(robot, coordinates):
    points, poses = _SpatialPoints(robot), []
    for q in coordinates:
        hip, feet, limbs = points.at(q)
        poses.append([(np.array([hip, foot]), i) for i, foot in enumerate(feet)]
                     + [(np.array([hip, limb]), None) for limb in limbs])
    return poses


def plot_motion(found):
    """Draw coordinates, rates, torques, the swing foot's height and the floor's force."""
    result, robot = found.result, found.robot_file.robot
    gait, judgement = result.gait, result.judgement
    time = np.linspace(0.0, gait.period, 300)
    q, v, _ = gait.motion(time)
    figure, axes = new_figure(5, height=1.75, sharex=True)
    for i, name in enumerate(robot.coordinates):
        colour = _COLOURS[i % len(_COLOURS)]
        axes[0].plot(time, q[:, i], color=colour, label=name)
        axes[1].plot(time, v[:, i], color=colour)
        axes[2].plot(judgement.time, judgement.effort[:, i], color=colour)
    widest = 6 + max(len(name) for name in robot.coordinates)   # letters and the line before them
    figure.legend(ncols=max(1, 110 // widest), loc='outside upper right', fontsize=10,
                  frameon=False)
    axes[3].plot(judgement.time, judgement.foot[:, -1], color=FOOT_COLOURS[1])
    axes[4].plot(judgement.time, judgement.force[:, -1], color=FOOT_COLOURS[0])
    axes[4].plot(judgement.time, judgement.force[:, 0], color=FOOT_COLOURS[0], linestyle='--')
    label(axes[0], 'minimal coordinates', 'rad')
    label(axes[1], 'rates', 'rad/s')
    label(axes[2], f'torques; cost {judgement.cost:.3g} N²m²s', 'N m')
    label(axes[3], 'height of the swing foot', 'm')
    label(axes[4], 'force of the floor: normal, dashed forward', 'N')
    for axis in axes:
        for end in np.cumsum([phase.duration for phase in gait.phases])[:-1]:
            axis.axvline(end, color=FAINT, linewidth=1.0)
    axes[-1].set_xlabel('time (s)')
    return figure


def plot_top_view(found, steps=6):
    """Draw the paths of feet, hip and head of a spatial walker from above (Fig. 4.17)."""
    robot, gait = found.robot_file.robot, found.result.gait
    points = _SpatialPoints(robot)
    time = np.linspace(0.0, gait.period, 80)
    poses = [points.at(q) for q in gait.motion(time)[0]]
    hip = np.array([pose[0] for pose in poses])
    swing = np.array([pose[1][1] for pose in poses])
    limbs = np.array([pose[2] for pose in poses])
    figure, axes = new_figure(1, height=3.2)
    stance, mirror = np.zeros(3), np.eye(3)
    for step in range(steps):
        axes[0].plot(*(stance + swing @ mirror)[:, :2].T, color=FOOT_COLOURS[(step + 1) % 2])
        axes[0].plot(*stance[:2], 'o', color=FOOT_COLOURS[step % 2])
        axes[0].plot(*(stance + hip @ mirror)[:, :2].T, color=NEUTRAL)
        for k in range(limbs.shape[1]):
            axes[0].plot(*(stance + limbs[:, k] @ mirror)[:, :2].T, color=_COLOURS[2])
        stance, mirror = stance + mirror @ swing[-1], mirror @ REFLECTION
    axes[0].set_aspect('equal')
    label(axes[0], f'paths of the feet, the hip (grey) and the head (green), {steps} steps',
          'to the left (m)')
    axes[0].set_xlabel('forward (m)')
    add_foot_legend(figure, robot)
    return figure


def plot_cost_over_speed(curves):
    """Draw optimal cost, and adapted parameters, over walking speed (Fig. 5.2).

    Args:
        curves: name -> list of rows with ``speed``, ``cost`` and ``parameters``, as of
            `gait_search.sweep_speed`.
    """
    names = sorted({name for rows in curves.values() for row in rows
                    for name in row['parameters']})
    figure, axes = new_figure(1 + len(names), height=2.4, sharex=True)
    for k, (title, rows) in enumerate(curves.items()):
        speeds = [row['speed'] for row in rows]
        colour = _COLOURS[k % len(_COLOURS)]
        costs = [row['cost'] if row['reason'] is None else np.nan for row in rows]
        axes[0].semilogy(speeds, costs, 'o-', color=colour, label=title)
        for axis, name in zip(axes[1:], names, strict=True):
            values = [row['parameters'].get(name, np.nan) for row in rows]
            axis.plot(speeds, values, 'o-', color=colour)
    axes[0].legend()
    label(axes[0], 'optimal cost on a fine grid', 'cost (N²m²s)')
    for axis, name in zip(axes[1:], names, strict=True):
        label(axis, name, 'value (SI)')
    axes[-1].set_xlabel('speed (m/s)')
    return figure


def search_figures(found):
    """Return name -> figure of everything there is to see of a search."""
    figures = {'gait_snapshots': plot_snapshots(found), 'gait_motion': plot_motion(found)}
    if not found.robot_file.robot.planar:
        figures['gait_top_view'] = plot_top_view(found)
    return figures
