# SPDX-License-Identifier: Apache-2.0
"""An animated run as a small GIF: a stick figure in the plane; from three sides in space."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from walking_control.lab.reports import scene
from walking_control.lab.reports.plots import FOOT_COLOURS, footprint_outlines, MARK
from walking_control.models import Dynamics
from walking_control.runs import foot_positions, pushes, quantities, Run, tilt, yaw

_FLOOR_HEIGHT = 0.17  # of the picture
_SIZE = 0.64  # of the picture's height: the robot's
_REACH = 0.6  # of the picture's width: how far the floor reaches to either side
_BEYOND = 10.0  # m of floor drawn before and behind a run
SPACE_WIDTH, SPACE_HEIGHT = 720, 400
LONGEST = 15.0  # s the film takes
CELL, CELLS = 0.5, 5  # m between lines on the floor; lines to either side of the robot
EYE = np.array([-2.1, -2.6, 1.5])  # of the perspective, from the robot, in its heights
SHOWN_PUSH = 0.4  # s for which a push is drawn
LOOKS = 10  # frames between two looks at how tall the robot is


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
    film = _PlaneFilm(run, rows)
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


def write_space_film(
    run: Run, path: Path | str, below: Run | None = None, longest: float = np.inf
) -> None:
    """Write a walk in space as an endless GIF; a long one passes faster than it was.

    Blue and orange are the feet, dark prints where they stood; the arrow is a push. Lines on the
    floor are 0.5 m apart.

    Args:
        below: Another one, as long, to be seen below it at the same times.
        longest: How much of its end is shown at most, s.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    shown = min(longest, run.time[-1] - run.time[0])
    pace = max(1, math.ceil(shown / LONGEST))
    times = np.arange(run.time[-1] - shown, run.time[-1] + 1e-9, 2.0 * pace / scene.FRAME_RATE)
    rows = np.minimum(np.searchsorted(run.time, times - 1e-9), len(run.time) - 1)
    films = [
        _SpaceFilm(each, np.minimum(rows, len(each.time) - 1), pace)
        for each in (run, *(() if below is None else (below,)))
    ]
    for film in films:  # of one scale
        film.height = max(each.height for each in films)
    image = scene.import_pillow()
    frames = [
        image.fromarray(np.vstack([film.draw(k) for film in films])) for k in range(len(rows))
    ]
    scene.save_frames(frames, path, linger=run.broke_off, rate=scene.FRAME_RATE / 2.0)


class _Film:
    """What the films of all runs have in common.

    Args:
        run: The `Run`.
        rows: Of it, one for each frame.
        pace: How much faster than real time it passes.
    """

    size = scene.WIDTH, scene.HEIGHT

    def __init__(self, run: Run, rows: np.ndarray, pace: float = 1.0) -> None:
        self._run, self._rows, self._pace, self._scene = run, rows, pace, scene.Scene(run)

    def paint(self, picture: scene.Picture, k: int) -> None:
        """Draw what is to be seen in frame k."""

    def draw(self, k: int) -> Any:
        """Return frame k as an RGB image."""
        picture = scene.Picture(*self.size)
        self.paint(picture, k)
        last = self._run.broke_off and k == len(self._rows) - 1
        words = scene.describe_row(self._run, self._rows[k], last)
        picture.head(self._run, self._pace, words)
        return picture.finish()


class _PlaneFilm(_Film):
    """The frames of one run in the plane."""

    def __init__(self, run: Run, rows: np.ndarray) -> None:
        super().__init__(run, rows)
        self._floor = _floor_of(run)
        ahead = scene.smooth(run.base.position[rows, 0])
        self._camera = np.column_stack([ahead, scene.smooth(self._level(ahead))])
        self._scale = _SIZE * scene.HEIGHT / max(0.1, self._scene.height)

    def _level(self, x: Any) -> np.ndarray:
        return np.asarray(np.interp(x, *self._floor.T))

    def paint(self, picture: scene.Picture, k: int) -> None:
        """Draw floor and robot."""
        self._draw_floor(picture, k)
        self._draw_robot(picture, k)

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


class _SpaceFilm(_Film):
    """The frames of one walk in space.

    Attributes:
        height: Of the robot in its pictures, m.
    """

    size = SPACE_WIDTH, SPACE_HEIGHT

    def __init__(self, run: Run, rows: np.ndarray, pace: float) -> None:
        super().__init__(run, rows, pace)
        # it may begin crouched
        self.height = max(
            float(np.ptp(self._scene.pose(row).points[:, 2])) or 1.0 for row in rows[::LOOKS]
        )
        self._prints = footprint_outlines(run)
        self._base, self._pushes = run.base.position, list(pushes(run))
        self._place = np.column_stack([scene.smooth(column) for column in self._base[rows, :2].T])
        self._look = scene.smooth(yaw(run)[rows])

    def _views(self, k: int) -> tuple[tuple[str, tuple[float, float], Frame], ...]:
        """Return (caption or none, its place, `Frame`) of the three views of frame k."""
        x, y = self._place[k]
        height = self.height
        c, s = math.cos(self._look[k]), math.sin(self._look[k])
        middle = np.array([x, y, 0.5 * height])
        size = 0.36 * SPACE_HEIGHT / height
        forward = -EYE / np.linalg.norm(EYE)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return (
            (
                'from above',
                (0.19 * SPACE_WIDTH, 0.53 * SPACE_HEIGHT),
                Frame(
                    (0.19 * SPACE_WIDTH, 0.34 * SPACE_HEIGHT),
                    middle,
                    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]),
                    0.8 * size,
                ),
            ),
            (
                'from the right side',
                (0.19 * SPACE_WIDTH, 0.94 * SPACE_HEIGHT),
                Frame(
                    (0.19 * SPACE_WIDTH, 0.74 * SPACE_HEIGHT),
                    middle,
                    np.array([[c, s, 0.0], [0.0, 0.0, 1.0], [-s, c, 0.0]]),
                    0.72 * size,
                ),
            ),
            (
                '',
                (0.0, 0.0),
                Frame(
                    (0.69 * SPACE_WIDTH, 0.55 * SPACE_HEIGHT),
                    middle + height * EYE,
                    np.array([right, np.cross(right, forward), forward]),
                    0.62 * SPACE_HEIGHT / height * np.linalg.norm(EYE) * height,
                    True,
                ),
            ),
        )

    def paint(self, picture: scene.Picture, k: int) -> None:
        """Draw the three views side by side."""
        pose, row = self._scene.pose(self._rows[k]), self._rows[k]
        edge, top = int(0.38 * SPACE_WIDTH), int(0.14 * SPACE_HEIGHT)
        panels = (
            (0, top, edge, int(0.53 * SPACE_HEIGHT)),
            (0, int(0.57 * SPACE_HEIGHT), edge, int(0.94 * SPACE_HEIGHT)),
            (edge, top, SPACE_WIDTH, SPACE_HEIGHT),
        )
        for (caption, place, frame), box in zip(self._views(k), panels, strict=True):
            # each view on a sheet of its own, so that its floor does not run into the others
            sheet = scene.Picture(SPACE_WIDTH, SPACE_HEIGHT)
            self._draw_floor(sheet, frame, k)
            self._draw_prints(sheet, frame, row)
            self._draw_robot(sheet, frame, pose, row)
            self._draw_push(sheet, frame, row)
            cut = tuple(scene.OVERSAMPLING * side for side in box)
            picture.image.paste(sheet.image.crop(cut), cut[:2])
            if caption:
                picture.caption(place, caption)
        picture.line([(edge, top), (edge, SPACE_HEIGHT)], scene.pale(scene.SOFT), 1)

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
