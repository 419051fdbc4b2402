# SPDX-License-Identifier: Apache-2.0
"""An animated stick figure of a run as a small GIF: one view of the plane, two of space."""

from collections.abc import Sequence
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from walking_control.lab.reports import scene
from walking_control.lab.reports.animations.space_film import write_space_film
from walking_control.lab.reports.plots.style import FOOT_COLOURS
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.runs import quantities
from walking_control.runs.kinematics import foot_positions, tilt
from walking_control.runs.posture import keeps_posture, support_intervals
from walking_control.runs.run import Run
from walking_control.runs.space import walks_in_space

_FLOOR_HEIGHT = 0.17  # of the picture
_SIZE = 0.64  # of the picture's height: the robot's
_BEYOND = 10.0  # m of floor drawn before and behind a run
_LONGEST = 6.0, 8.0  # s shown: of a walk, of a kept posture


class View(NamedTuple):
    """A direction to look from.

    Attributes:
        across: Axis of the floor frame across the picture.
        centre: Where the camera looks, of the picture's width.
        reach: How far the floor reaches to either side, of the picture's width.
        caption: What is seen, or None.
    """

    across: int
    centre: float
    reach: float
    caption: str | None


_PLANE = (View(0, 0.5, 0.6, None),)
_SPACE = (
    View(1, 0.27, 0.23, 'from the front; left >'),
    View(0, 0.75, 0.23, 'from the right side; forward >'),
)


def write_animation(run: Run, path: Path | str, longest: float | None = None) -> None:
    """Write a run as an endless GIF, less than 1.5 MB.

    Of a walk the end is shown in real time; a kept posture is shown whole, a long one faster than
    it was. The camera follows the robot; gravity points down the picture, so a slope is drawn
    tilted. Of a walk the stance foot carries a disc and its leg is thicker; of a kept posture
    arrows are the floor's forces, drawn from the middle of each sole, the cross is the centre of
    mass. Floor marks are 0.1 m apart.

    Args:
        longest: Longest time the animation takes, s; None takes 6 of a walk, 8 of a posture.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    scene.import_pillow()
    if walks_in_space(run):
        write_space_film(run, path)
        return
    rows, pace = frame_rows(run, _LONGEST[keeps_posture(run)] if longest is None else longest)
    film = _Film(run, rows, pace)
    scene.save_frames([film.draw(k) for k in range(len(rows))], path, linger=run.broke_off)


def describe_animation(run: Run) -> str:
    """Return the caption of an animation."""
    if walks_in_space(run):
        return (
            'The run from above, from its right side and in perspective. Lines on the floor '
            'are 0.5 m apart; a red arrow is a push.'
        )
    words = 'The end of the run, real time.'
    if keeps_posture(run):
        words = (
            'The run. Arrows: forces of the floor; cross: centre of mass; marks on the floor '
            'are 0.1 m apart.'
        )
        if 1 in run.robot.base.axes:
            words = words.replace('The run.', 'The run from the front and from the right.')
    return words


def frame_rows(run: Run, longest: float) -> tuple[np.ndarray, float]:
    """Return the row shown in each frame and how much faster than real time they pass."""
    begin, end, pace = run.time[0], run.time[-1], 1
    if keeps_posture(run) and not run.broke_off and not run.steps[-1]:
        pace = max(1, math.ceil((end - begin) / longest))
    elif end - begin > longest:  # from a touchdown on, if there is one
        begins = run.time[quantities.touchdowns(run)]
        begin = min(begins[begins >= end - longest], default=end - longest)
    times = np.arange(begin, end + 1e-9, pace / scene.FRAME_RATE)
    return np.minimum(np.searchsorted(run.time, times - 1e-9), len(run.time) - 1), pace


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
    """Everything needed to draw the frames of one run."""

    def __init__(self, run: Run, rows: np.ndarray, pace: float) -> None:
        self._run, self._rows, self._pace = run, rows, pace
        self._scene, self._floor, self._slope = scene.Scene(run), _floor_of(run), run.world.slope
        self._views = _SPACE if 1 in run.robot.base.axes else _PLANE
        self._shows_forces = keeps_posture(run)
        middle = (
            np.array([self._scene.middle(row) for row in rows])
            if self._shows_forces
            else run.base.position[rows, :2]
        )
        ahead, left = (scene.smooth(column) for column in middle.T)
        self._camera = np.column_stack([ahead, left, scene.smooth(self._level(ahead))])
        self._scale = _SIZE * scene.HEIGHT / max(0.1, self._scene.height)
        self._support = np.empty(len(run.time), dtype=object)
        for begin, end, feet in support_intervals(run):
            self._support[begin:end] = [feet] * (end - begin)

    def _level(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.interp(x, *self._floor.T))

    def draw(self, k: int) -> Any:
        """Return frame k as an RGB image."""
        picture, pose = scene.Picture(scene.WIDTH, scene.HEIGHT), self._scene.pose(self._rows[k])
        for view in self._views:
            self._draw_floor(picture, view, k)
            draw = self._draw_forces if self._shows_forces else self._draw_stance
            draw(picture, view, k, pose)
            if view.caption is not None:
                picture.caption((view.centre * scene.WIDTH, scene.HEIGHT - 22), view.caption)
        self._draw_text(picture, k)
        return picture.finish()

    def _pixels(
        self, points: Sequence[Any] | np.ndarray, view: View, k: int
    ) -> list[tuple[float, float]]:
        """Return where places in the floor frame, ``(n, 3)``, appear in a view of frame k."""
        from_camera = np.asarray(points) - self._camera[k]
        seen = tilt(from_camera[:, ::2], self._slope)
        across = from_camera[:, 1] if view.across else seen[:, 0]
        x = view.centre * scene.WIDTH + self._scale * across
        z = (1.0 - _FLOOR_HEIGHT) * scene.HEIGHT - self._scale * seen[:, 1]
        return list(zip(x.tolist(), z.tolist(), strict=True))

    def _draw_floor(self, picture: scene.Picture, view: View, k: int) -> None:
        eye = self._camera[k]
        span = view.reach * scene.WIDTH / self._scale / math.cos(self._slope)
        left, right = eye[view.across] - span, eye[view.across] + span

        def on_floor(places: Any) -> np.ndarray:
            if view.across:
                return np.array([[eye[0], y, eye[2]] for y in places])
            return np.array([[x, eye[1], self._level(x)] for x in places])

        corners = self._floor if view.across == 0 else np.zeros((0, 2))
        corners = corners[(corners[:, 0] > left) & (corners[:, 0] < right)]
        line = np.insert(corners, 1, eye[1], axis=1)  # an edge has two corners at one x
        ends = on_floor([left, right])
        picture.line(self._pixels([ends[0], *line, ends[1]], view, k), scene.INK, 2)
        for tenth in range(math.ceil(10.0 * left), math.floor(10.0 * right) + 1):
            foot = on_floor([0.1 * tenth])[0]
            depth = 0.035 if tenth % 5 == 0 else 0.02
            picture.line(self._pixels([foot, foot - [0.0, 0.0, depth]], view, k), scene.SOFT, 1)
            if tenth % 5 == 0 and view.caption is None:
                (place,) = self._pixels([foot - [0.0, 0.0, 0.075]], view, k)
                picture.caption(place, f'{0.1 * tenth:.1f} m')

    def _draw_stance(self, picture: scene.Picture, view: View, k: int, pose: scene.Pose) -> None:
        """Draw the robot, its stance leg in front, on a disc."""
        pixels = self._pixels(pose.points, view, k)
        stance = self._run.support[self._rows[k]]
        for segment in sorted(self._scene.segments, key=lambda each: each.foot == stance):
            colour = scene.INK if segment.foot is None else FOOT_COLOURS[segment.foot]
            picture.bone(
                pixels[segment.start],
                pixels[segment.end],
                colour,
                6 if segment.foot == stance else 4,
            )
        picture.disc(pixels[self._scene.base], 6, scene.INK)
        picture.disc(pixels[self._scene.feet[stance]], 6, FOOT_COLOURS[stance])

    def _draw_forces(self, picture: scene.Picture, view: View, k: int, pose: scene.Pose) -> None:
        """Draw the robot, pale, its soles, the forces on them and its centre of mass."""
        pixels = self._pixels(pose.points, view, k)
        for segment in sorted(self._scene.segments, key=lambda segment: segment.foot is None):
            colour = scene.INK if segment.foot is None else FOOT_COLOURS[segment.foot]
            picture.bone(pixels[segment.start], pixels[segment.end], scene.pale(colour), 5)
        for i, sole in enumerate(pose.soles):
            picture.line(self._pixels(sole, view, k), FOOT_COLOURS[i], 5)
        for i, arrow in pose.arrows.items():
            foot, tip = self._pixels(arrow, view, k)
            _draw_arrow(picture, foot, tip, FOOT_COLOURS[i])
        _draw_cross(picture, *self._pixels([pose.com], view, k))

    def _draw_text(self, picture: scene.Picture, k: int) -> None:
        run, row = self._run, self._rows[k]
        feet = ' and '.join(in_words(run.robot.feet[i]) for i in self._support[row])
        text = f'{run.time[row]:.1f} s, ' + (
            f'on {feet or "no foot"}' if self._shows_forces else f'step {run.steps[row]}'
        )
        if run.broke_off and k == len(self._rows) - 1:
            reason = quantities.failure(quantities.ending(run))
            text = f'{run.time[row]:.1f} s, step {run.steps[row]}, {reason}'
        picture.head(run, self._pace, text)


def _draw_arrow(picture: scene.Picture, begin: Any, end: Any, colour: str) -> None:
    """Draw an arrow with a pale edge, so that it stands out before a leg of its colour."""
    foot, tip = np.array(begin), np.array(end)
    length = math.hypot(*(tip - foot))
    if length < 1.0:
        return
    along = (tip - foot) / length
    across = np.array([-along[1], along[0]])
    head = min(11.0, length)
    neck = tip - head * along
    picture.line([foot, neck], scene.BACKGROUND, 5)
    picture.line([foot, neck], colour, 3)
    picture.polygon(
        [tip, neck + 0.5 * head * across, neck - 0.5 * head * across], colour, scene.BACKGROUND
    )


def _draw_cross(picture: scene.Picture, place: Sequence[float]) -> None:
    x, y = place
    for colour, width in ((scene.BACKGROUND, 6), (scene.INK, 3)):
        for rise in (-6, 6):
            picture.line([(x - 6, y - rise), (x + 6, y + rise)], colour, width)
