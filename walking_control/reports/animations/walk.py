# SPDX-License-Identifier: Apache-2.0
"""An animated stick figure of a run as a small GIF, for any planar robot."""

import math

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.reports.animations.canvas import (
    BACKGROUND,
    draw_disc,
    FRAME_RATE,
    HEIGHT,
    import_pillow,
    INK,
    load_font,
    OVERSAMPLING,
    save_frames,
    smooth,
    SOFT,
    WIDTH,
    write_text,
)
from walking_control.reports.plots.style import FOOT_COLOURS
from walking_control.runs.floor import floor_profile, floor_tilt
from walking_control.runs.kinematics import foot_positions, Skeleton, tilt
from walking_control.runs.metrics import footholds
from walking_control.runs.quantities import ending, failure, touchdowns

_FLOOR_HEIGHT = 0.17  # of the picture
_BEYOND = 10.0   # m of floor drawn before and behind a run


def write_animation(run, path, longest=6.0):
    """Write the end of a run as an endless GIF in real time, less than 1.5 MB.

    The camera follows the robot; gravity points down the picture, so a slope is drawn tilted. The
    stance foot carries a disc and its leg is thicker. Floor marks are 0.1 m apart.

    Args:
        run: The `Run`.
        path: Where to write.
        longest: Longest time shown, s; it begins at a touchdown and ends with the run.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    import_pillow()
    rows = _frame_rows(run, longest)
    scene = _Scene(run, rows)
    save_frames([scene.draw(k) for k in range(len(rows))], path, linger=run.broke_off)


def _frame_rows(run, longest):
    """Return the row shown in each frame."""
    end = run.time[-1]
    begins = run.time[touchdowns(run)]
    begin = begins[np.searchsorted(begins, end - longest)] if begins[-1] >= end - longest \
        else end - longest
    times = np.arange(begin, end + 1e-9, 1.0 / FRAME_RATE)
    return np.searchsorted(run.time, times - 1e-9)


def _floor_of(run):
    """Return the corners of the floor in the floor frame, far beyond the run, m, ``(p, 2)``."""
    ahead = run.base.position[:, 0]
    far = np.array([ahead.min() - _BEYOND, ahead.max() + _BEYOND])
    if all(disturbance.kind == 'push' for disturbance in run.disturbances):
        return np.stack([far, 0.0 * far], axis=1)
    profile = floor_profile(run, footholds(run, foot_positions(Dynamics(run.robot), run.q)))
    end = profile[-1, 1] - np.tan(floor_tilt(run, run.steps[-1] + 1)) * (far[1] - profile[-1, 0])
    return np.array([[far[0], profile[0, 1]], *profile, [far[1], end]])


class _Scene:
    """Everything needed to draw the frames of one run."""

    def __init__(self, run, rows):
        self._run, self._rows = run, rows
        self._skeleton = Skeleton(Dynamics(run.robot))
        self._points = np.array([self._skeleton.points(run.q[row])[:, ::2] for row in rows])
        self._floor = _floor_of(run)
        ahead = smooth(self._points[:, self._skeleton.base, 0])
        self._camera = np.stack([ahead, smooth(self._level(ahead))], axis=1)
        self._slope = run.world.slope
        heights = self._points[..., 1].max(axis=1) - self._camera[:, 1]
        height = max(0.1, np.quantile(heights, 0.9))
        self._scale = 0.62 * HEIGHT * OVERSAMPLING / height
        self._font = load_font(13 * OVERSAMPLING)
        self._small = load_font(11 * OVERSAMPLING)

    def _level(self, x):
        return np.interp(x, *self._floor.T)

    def draw(self, k):
        """Return frame k as an RGB image."""
        from PIL import Image, ImageDraw
        size = WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING
        picture = Image.new('RGB', size, BACKGROUND)
        pen = ImageDraw.Draw(picture)
        self._draw_floor(pen, k)
        self._draw_robot(pen, k)
        self._draw_text(pen, k)
        return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def _pixels(self, points, k):
        """Return where floor-frame points appear in frame k."""
        seen = tilt(np.asarray(points) - self._camera[k], self._slope) * self._scale
        origin = 0.5 * WIDTH, (1.0 - _FLOOR_HEIGHT) * HEIGHT
        return [(origin[0] * OVERSAMPLING + x, origin[1] * OVERSAMPLING - z) for x, z in seen]

    def _draw_floor(self, pen, k):
        reach = 0.6 * WIDTH * OVERSAMPLING / self._scale / math.cos(self._slope)
        left, right = self._camera[k, 0] - reach, self._camera[k, 0] + reach
        pen.line(self._pixels(self._floor, k), fill=INK, width=2 * OVERSAMPLING)
        for tenth in range(math.ceil(10.0 * left), math.floor(10.0 * right) + 1):
            long = tenth % 5 == 0
            x, depth = 0.1 * tenth, 0.035 if long else 0.02
            z = self._level(x)
            pen.line(self._pixels([[x, z], [x, z - depth]], k), fill=SOFT, width=OVERSAMPLING)
            if long:
                place, = self._pixels([[x, z - 0.075]], k)
                write_text(pen, place, f'{x:.1f} m', self._small, SOFT, centred=True)

    def _draw_robot(self, pen, k):
        pixels = self._pixels(self._points[k], k)
        stance = self._run.support[self._rows[k]]
        swing_first = sorted(self._skeleton.segments, key=lambda segment: segment.foot == stance)
        for segment in swing_first:
            width = OVERSAMPLING * (6 if segment.foot == stance else 4)
            colour = INK if segment.foot is None else FOOT_COLOURS[segment.foot]
            pen.line([pixels[segment.start], pixels[segment.end]], fill=colour, width=width)
            for end in (segment.start, segment.end):
                draw_disc(pen, pixels[end], 0.5 * width, colour)
        draw_disc(pen, pixels[self._skeleton.base], 6 * OVERSAMPLING, INK)
        draw_disc(pen, pixels[self._skeleton.feet[stance]], 6 * OVERSAMPLING, FOOT_COLOURS[stance])

    def _draw_text(self, pen, k):
        run, row = self._run, self._rows[k]
        margin, line = 12 * OVERSAMPLING, 19 * OVERSAMPLING
        title = f'{run.robot.name}, {in_words(run.controller)}, {run.plant}'
        if run.world.slope:
            title += f', slope {math.degrees(run.world.slope):.3g} deg'
        write_text(pen, (margin, margin), title, self._font, INK)
        text = f'{run.time[row]:.1f} s, step {run.steps[row]}'
        if run.broke_off and k == len(self._rows) - 1:
            text += f', {failure(ending(run))}'
        write_text(pen, (margin, margin + line), text, self._font, INK)
