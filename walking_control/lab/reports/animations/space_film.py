# SPDX-License-Identifier: Apache-2.0
"""A walk in space as a small GIF: from above, from the side and in perspective."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from walking_control.lab.reports import scene
from walking_control.lab.reports.plots.footprints import footprint_outlines
from walking_control.lab.reports.plots.style import FOOT_COLOURS, MARK
from walking_control.runs.run import Run
from walking_control.runs.space import pushes, yaw

WIDTH, HEIGHT = 720, 400
LONGEST = 15.0  # s the film takes
CELL, CELLS = 0.5, 5  # m between lines on the floor; lines to either side of the robot
EYE = np.array([-2.1, -2.6, 1.5])  # of the perspective, from the robot, in its heights
SHOWN_PUSH = 0.4  # s for which a push is drawn
LOOKS = 10  # frames between two looks at how tall the robot is


class Frame(NamedTuple):
    """A view of one instant: what turns places of the floor frame into pixels.

    Attributes:
        origin: Pixel of the place looked at, ``(2,)``.
        eye: Place looked at (orthographic) or looked from (perspective), ``(3,)``.
        axes: To the right, up and away from the viewer, rows, ``(3, 3)``.
        scale: Pixels per m, or per m at a distance of 1 m.
        perspective: Whether far things are smaller.
    """

    origin: tuple[float, float]
    eye: np.ndarray
    axes: np.ndarray
    scale: float
    perspective: bool = False

    def pixels(self, places: Any) -> list[tuple[float, float]]:
        """Return the pixels of places, ``(n, 3)``, as a list of pairs."""
        right, up, away = self.axes @ (np.atleast_2d(places) - self.eye).T
        scale = self.scale / np.maximum(away, 0.05) if self.perspective else self.scale
        return list(
            zip(
                (self.origin[0] + scale * right).tolist(),
                (self.origin[1] - scale * up).tolist(),
                strict=True,
            )
        )


def write_space_film(run: Run, path: Path | str, below: Run | None = None) -> None:
    """Write a walk in space as an endless GIF; a long one passes faster than it was.

    Blue and orange are the feet, dark prints where they stood; the arrow is a push. Lines on the
    floor are 0.5 m apart.

    Args:
        below: Another one, as long, to be seen below it at the same times.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    pace = max(1, math.ceil((run.time[-1] - run.time[0]) / LONGEST))
    times = np.arange(run.time[0], run.time[-1] + 1e-9, 2.0 * pace / scene.FRAME_RATE)
    rows = np.minimum(np.searchsorted(run.time, times - 1e-9), len(run.time) - 1)
    films = [
        _Film(each, np.minimum(rows, len(each.time) - 1), pace)
        for each in (run, *(() if below is None else (below,)))
    ]
    for film in films:  # of one scale
        film.height = max(each.height for each in films)
    frames = [_stack([film.draw(k) for film in films]) for k in range(len(rows))]
    scene.save_frames(frames, path, linger=run.broke_off, rate=scene.FRAME_RATE / 2.0)


def _stack(pictures: list[Any]) -> Any:
    """Return pictures of one size below each other as one."""
    width, height = pictures[0].size
    picture = scene.import_pillow().new(pictures[0].mode, (width, height * len(pictures)))
    for i, each in enumerate(pictures):
        picture.paste(each, (0, i * height))
    return picture


class _Film:
    """Everything needed to draw the frames of one walk.

    Attributes:
        height: Of the robot in its pictures, m.
    """

    def __init__(self, run: Run, rows: np.ndarray, pace: float) -> None:
        self._run, self._rows, self._pace = run, rows, pace
        self._scene = scene.Scene(run)
        # it may begin crouched
        self.height = max(
            float(np.ptp(self._scene.pose(row).points[:, 2])) or 1.0 for row in rows[::LOOKS]
        )
        self._prints = footprint_outlines(run)
        self._base, self._pushes = run.base.position, pushes(run)
        self._place = np.column_stack([scene.smooth(column) for column in self._base[rows, :2].T])
        self._look = scene.smooth(yaw(run)[rows])

    def _views(self, k: int) -> tuple[tuple[str, tuple[float, float], Frame], ...]:
        """Return (caption or none, its place, `Frame`) of the three views of frame k."""
        x, y = self._place[k]
        height = self.height
        c, s = math.cos(self._look[k]), math.sin(self._look[k])
        middle = np.array([x, y, 0.5 * height])
        size = 0.36 * HEIGHT / height
        forward = -EYE / np.linalg.norm(EYE)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return (
            (
                'from above',
                (0.19 * WIDTH, 0.53 * HEIGHT),
                Frame(
                    (0.19 * WIDTH, 0.34 * HEIGHT),
                    middle,
                    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]),
                    0.8 * size,
                ),
            ),
            (
                'from the right side',
                (0.19 * WIDTH, 0.94 * HEIGHT),
                Frame(
                    (0.19 * WIDTH, 0.74 * HEIGHT),
                    middle,
                    np.array([[c, s, 0.0], [0.0, 0.0, 1.0], [-s, c, 0.0]]),
                    0.72 * size,
                ),
            ),
            (
                '',
                (0.0, 0.0),
                Frame(
                    (0.69 * WIDTH, 0.55 * HEIGHT),
                    middle + height * EYE,
                    np.array([right, np.cross(right, forward), forward]),
                    0.62 * HEIGHT / height * np.linalg.norm(EYE) * height,
                    True,
                ),
            ),
        )

    def draw(self, k: int) -> Any:
        """Return frame k as an RGB image."""
        picture = scene.Picture(WIDTH, HEIGHT)
        pose, row = self._scene.pose(self._rows[k]), self._rows[k]
        edge, top = int(0.38 * WIDTH), int(0.14 * HEIGHT)
        panels = (
            (0, top, edge, int(0.53 * HEIGHT)),
            (0, int(0.57 * HEIGHT), edge, int(0.94 * HEIGHT)),
            (edge, top, WIDTH, HEIGHT),
        )
        for (caption, place, frame), box in zip(self._views(k), panels, strict=True):
            # each view on a sheet of its own, so that its floor does not run into the others
            sheet = scene.Picture(WIDTH, HEIGHT)
            self._draw_floor(sheet, frame, k)
            self._draw_prints(sheet, frame, row)
            self._draw_robot(sheet, frame, pose, row)
            self._draw_push(sheet, frame, row)
            cut = tuple(scene.OVERSAMPLING * side for side in box)
            picture.image.paste(sheet.image.crop(cut), cut[:2])
            if caption:
                picture.caption(place, caption)
        picture.line([(edge, top), (edge, HEIGHT)], scene.pale(scene.SOFT), 1)
        last = self._run.broke_off and k == len(self._rows) - 1
        picture.head(self._run, self._pace, scene.describe_row(self._run, row, last))
        return picture.finish()

    def _draw_floor(self, picture: scene.Picture, frame: Frame, k: int) -> None:
        """Draw lines on the floor around the robot; from the side they are one."""
        middle = CELL * np.round(self._place[k] / CELL)
        reach = CELL * np.arange(-CELLS, CELLS + 1)
        for offset in reach:
            for along, across in ((0, 1), (1, 0)):
                ends = np.zeros((2, 3))
                ends[:, along] = middle[along] + reach[[0, -1]]
                ends[:, across] = middle[across] + offset
                picture.line(frame.pixels(ends), scene.pale(scene.SOFT), 1)

    def _draw_prints(self, picture: scene.Picture, frame: Frame, row: int) -> None:
        for begin, foot, outline in self._prints:
            if begin > row:
                break
            _lay(picture, frame, np.insert(outline, 2, 0.0, axis=1), scene.pale(FOOT_COLOURS[foot]))

    def _draw_robot(self, picture: scene.Picture, frame: Frame, pose: scene.Pose, row: int) -> None:
        """Draw soles and limbs, the far ones first."""
        away = frame.axes[2] @ (pose.points - frame.eye).T
        pixels = frame.pixels(pose.points)
        for i, sole in enumerate(pose.soles):
            _lay(picture, frame, sole, FOOT_COLOURS[i])
        stance = self._run.support[row]
        for segment in sorted(
            self._scene.segments, key=lambda each: -(away[each.start] + away[each.end])
        ):
            picture.limb(segment, pixels, 5 if segment.foot == stance else 4)
        picture.disc(pixels[self._scene.base], 5, scene.INK)

    def _draw_push(self, picture: scene.Picture, frame: Frame, row: int) -> None:
        for push in self._pushes:
            if 0.0 <= self._run.time[row] - self._run.time[push.row] < SHOWN_PUSH:
                tip = self._base[row]
                foot = tip - 0.5 * self.height * np.append(push.way, 0.0)
                start, end = frame.pixels([foot, tip])
                picture.line([start, end], MARK, 4)
                picture.disc(end, 6, MARK)


def _lay(picture: scene.Picture, frame: Frame, sole: np.ndarray, colour: str) -> None:
    """Draw the outline of a sole, or a foot that is a point."""
    corners = frame.pixels(sole)
    if len(corners) > 2:
        picture.polygon(corners, colour)
    else:
        picture.disc(corners[0], 4, colour)
