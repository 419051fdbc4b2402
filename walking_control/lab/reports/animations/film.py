# SPDX-License-Identifier: Apache-2.0
"""An animated stick figure of a run as a small GIF: of the plane here, of space in `space_film`."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.lab.reports import scene
from walking_control.lab.reports.animations.space_film import write_space_film
from walking_control.lab.reports.plots.style import FOOT_COLOURS
from walking_control.models.dynamics import Dynamics
from walking_control.runs import quantities
from walking_control.runs.kinematics import foot_positions, tilt
from walking_control.runs.run import Run

_FLOOR_HEIGHT = 0.17  # of the picture
_SIZE = 0.64  # of the picture's height: the robot's
_REACH = 0.6  # of the picture's width: how far the floor reaches to either side
_BEYOND = 10.0  # m of floor drawn before and behind a run


def write_animation(run: Run, path: Path | str, longest: float = 6.0) -> None:
    """Write a run as an endless GIF, less than 1.5 MB; see `write_space_film` of one in space.

    The end is shown in real time. The camera follows the robot; gravity points down the picture,
    so a slope is drawn tilted. The stance foot carries a disc and its leg is thicker. Floor marks
    are 0.1 m apart.

    Args:
        longest: Longest time that an animation of the plane takes, s.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    scene.import_pillow()
    if 1 in run.robot.base.axes:
        write_space_film(run, path)
        return
    rows = _frame_rows(run, longest)
    film = _Film(run, rows)
    scene.save_frames([film.draw(k) for k in range(len(rows))], path, linger=run.broke_off)


def describe_animation(run: Run) -> str:
    """Return the caption of an animation."""
    if 1 in run.robot.base.axes:
        return (
            'The run from above, from its right side and in perspective. Lines on the floor '
            'are 0.5 m apart; a red arrow is a push.'
        )
    return 'The end of the run, real time.'


def _frame_rows(run: Run, longest: float) -> np.ndarray:
    """Return the row shown in each frame: the end, from a touchdown on, if there is one."""
    begin, end = run.time[0], run.time[-1]
    if end - begin > longest:
        begins = run.time[quantities.touchdowns(run)]
        begin = min(begins[begins >= end - longest], default=end - longest)
    times = np.arange(begin, end + 1e-9, 1.0 / scene.FRAME_RATE)
    return np.minimum(np.searchsorted(run.time, times - 1e-9), len(run.time) - 1)


def _floor_of(run: Run) -> np.ndarray:
    """Return the corners of the floor in the floor frame, far beyond the run, m, ``(p, 2)``."""
    ahead = run.base.position[:, 0]
    far = np.array([ahead.min() - _BEYOND, ahead.max() + _BEYOND])
    if (
        all('push' in disturbance.kind for disturbance in run.disturbances)
        and not run.world.floor_places
    ):
        return np.stack([far, 0.0 * far], axis=1)
    places = quantities.footholds(run, foot_positions(Dynamics(run.robot), run.q))
    profile = quantities.floor_profile(run, places)
    tilted = np.tan(quantities.floor_tilt(run, run.steps[-1] + 1))
    end = profile[-1, 1] - tilted * (far[1] - profile[-1, 0])
    return np.array([[far[0], profile[0, 1]], *profile, [far[1], end]])


class _Film:
    """Everything needed to draw the frames of one run in the plane."""

    def __init__(self, run: Run, rows: np.ndarray) -> None:
        self._run, self._rows = run, rows
        self._scene, self._floor = scene.Scene(run), _floor_of(run)
        ahead = scene.smooth(run.base.position[rows, 0])
        self._camera = np.column_stack([ahead, scene.smooth(self._level(ahead))])
        self._scale = _SIZE * scene.HEIGHT / max(0.1, self._scene.height)

    def _level(self, x: Any) -> np.ndarray:
        return np.asarray(np.interp(x, *self._floor.T))

    def draw(self, k: int) -> Any:
        """Return frame k as an RGB image."""
        picture, row = scene.Picture(scene.WIDTH, scene.HEIGHT), self._rows[k]
        self._draw_floor(picture, k)
        self._draw_robot(picture, k)
        last = self._run.broke_off and k == len(self._rows) - 1
        picture.head(self._run, 1, scene.describe_row(self._run, row, last))
        return picture.finish()

    def _pixels(self, points: Any, k: int) -> list[tuple[float, float]]:
        """Return where places in the floor frame, ``(n, 2)``, appear in frame k."""
        seen = self._scale * tilt(np.asarray(points) - self._camera[k], self._run.world.slope)
        x, z = 0.5 * scene.WIDTH + seen[:, 0], (1.0 - _FLOOR_HEIGHT) * scene.HEIGHT - seen[:, 1]
        return list(zip(x.tolist(), z.tolist(), strict=True))

    def _draw_floor(self, picture: scene.Picture, k: int) -> None:
        span = _REACH * scene.WIDTH / self._scale / math.cos(self._run.world.slope)
        left, right = self._camera[k, 0] - span, self._camera[k, 0] + span
        inner = self._floor[(self._floor[:, 0] > left) & (self._floor[:, 0] < right)]
        ends = [[x, self._level(x)] for x in (left, right)]
        picture.line(self._pixels([ends[0], *inner, ends[1]], k), scene.INK, 2)
        for tenth in range(math.ceil(10.0 * left), math.floor(10.0 * right) + 1):
            x, z = 0.1 * tenth, self._level(0.1 * tenth)
            depth = 0.035 if tenth % 5 == 0 else 0.02
            picture.line(self._pixels([[x, z], [x, z - depth]], k), scene.SOFT, 1)
            if tenth % 5 == 0:
                picture.caption(self._pixels([[x, z - 0.075]], k)[0], f'{x:.1f} m')

    def _draw_robot(self, picture: scene.Picture, k: int) -> None:
        """Draw the robot, its stance leg in front, on a disc."""
        row = self._rows[k]
        pixels = self._pixels(self._scene.pose(row).points[:, ::2], k)
        stance = self._run.support[row]
        for segment in sorted(self._scene.segments, key=lambda each: each.foot == stance):
            width = 6 if segment.foot == stance else 4
            picture.limb(segment, pixels, width)
        picture.disc(pixels[self._scene.base], 6, scene.INK)
        picture.disc(pixels[self._scene.feet[stance]], 6, FOOT_COLOURS[stance])
