# SPDX-License-Identifier: Apache-2.0
"""An animated stick figure of a robot in space: from the front and from the right, as a GIF."""

import math

import numpy as np

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
    pale,
    save_frames,
    smooth,
    SOFT,
    WIDTH,
    write_text,
)
from walking_control.reports.plots.style import FOOT_COLOURS
from walking_control.reports.scene import Scene
from walking_control.runs.posture import support_intervals
from walking_control.runs.quantities import ending, failure

_FLOOR_HEIGHT = 0.13           # of the picture
_VIEWS = ((1, 0.27, 'front', 'left'), (0, 0.75, 'right side', 'forward'))   # axis, middle, names


def write_animation(run, path, longest=8.0):
    """Write a run as an endless GIF, less than 1.5 MB.

    A run that neither steps nor falls is shown whole, a long one faster than it was; of others
    the end is shown in real time. Arrows are the floor's forces, drawn from the middle of each
    sole, the cross is the centre of mass. The floor is level in the picture, whatever its slope.

    Args:
        run: The `Run`, of a robot in space.
        path: Where to write.
        longest: Longest time the animation takes, s.

    Raises:
        MissingDependency: Pillow is not installed.
    """
    import_pillow()
    rows, pace = frame_rows(run, longest)
    film = _Film(run, rows, pace)
    save_frames([film.draw(k) for k in range(len(rows))], path, linger=run.broke_off)


def frame_rows(run, longest):
    """Return the row shown in each frame and how much faster than real time they pass."""
    begin, end = run.time[0], run.time[-1]
    pace = 1
    if run.broke_off or run.steps[-1] > 0:
        begin = max(begin, end - longest)
    else:
        pace = max(1, math.ceil((end - begin) / longest))
    times = np.arange(begin, end + 1e-9, pace / FRAME_RATE)
    return np.minimum(np.searchsorted(run.time, times - 1e-9), len(run.time) - 1), pace


class _Film:
    """Everything needed to draw the frames of one run."""

    def __init__(self, run, rows, pace):
        self._run, self._rows, self._pace = run, rows, pace
        self._scene = Scene(run)
        middle = np.array([self._scene.middle(row) for row in rows])
        self._camera = np.column_stack([smooth(column) for column in middle.T])
        self._scale = 0.70 * HEIGHT * OVERSAMPLING / self._scene.height
        self._font = load_font(13 * OVERSAMPLING)
        self._small = load_font(11 * OVERSAMPLING)
        self._support = np.empty(len(run.time), dtype=object)
        for begin, end, feet in support_intervals(run):
            self._support[begin:end] = [feet] * (end - begin)

    def draw(self, k):
        """Return frame k as an RGB image."""
        from PIL import Image, ImageDraw
        size = WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING
        picture = Image.new('RGB', size, BACKGROUND)
        pen = ImageDraw.Draw(picture)
        pose = self._scene.pose(self._rows[k])
        for across, centre, name, direction in _VIEWS:
            self._draw_view(pen, pose, k, across, centre)
            place = centre * WIDTH * OVERSAMPLING, (HEIGHT - 22) * OVERSAMPLING
            write_text(pen, place, f'from the {name}; {direction} >', self._small, SOFT,
                       centred=True)
        self._draw_text(pen, k)
        return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def _draw_view(self, pen, pose, k, across, centre):
        origin = centre * WIDTH * OVERSAMPLING, (1.0 - _FLOOR_HEIGHT) * HEIGHT * OVERSAMPLING
        eye = self._camera[k][across]

        def pixel(point):
            return (origin[0] + self._scale * (point[across] - eye),
                    origin[1] - self._scale * point[2])
        self._draw_floor(pen, origin, eye)
        for segment in sorted(self._scene.segments, key=lambda segment: segment.foot is None):
            colour = pale(INK if segment.foot is None else FOOT_COLOURS[segment.foot])
            ends = [pixel(pose.points[segment.start]), pixel(pose.points[segment.end])]
            pen.line(ends, fill=colour, width=5 * OVERSAMPLING)
            for end in ends:
                draw_disc(pen, end, 2.5 * OVERSAMPLING, colour)
        for i, sole in enumerate(pose.soles):
            pen.line([pixel(corner) for corner in sole], fill=FOOT_COLOURS[i],
                     width=5 * OVERSAMPLING)
        for i, (foot, tip) in pose.arrows.items():
            _draw_arrow(pen, pixel(foot), pixel(tip), FOOT_COLOURS[i])
        _draw_cross(pen, pixel(pose.com))

    def _draw_floor(self, pen, origin, eye):
        reach = 0.23 * WIDTH * OVERSAMPLING
        pen.line([(origin[0] - reach, origin[1]), (origin[0] + reach, origin[1])], fill=INK,
                 width=2 * OVERSAMPLING)
        span = reach / self._scale
        for tenth in range(math.ceil(10.0 * (eye - span)), math.floor(10.0 * (eye + span)) + 1):
            x = origin[0] + self._scale * (0.1 * tenth - eye)
            depth = self._scale * (0.03 if tenth % 5 == 0 else 0.015)
            pen.line([(x, origin[1]), (x, origin[1] + depth)], fill=SOFT, width=OVERSAMPLING)

    def _draw_text(self, pen, k):
        run, row = self._run, self._rows[k]
        margin, line = 12 * OVERSAMPLING, 19 * OVERSAMPLING
        write_text(pen, (margin, margin), f'{run.robot.name}, {in_words(run.controller)}, '
                   f'{run.plant}' + (f', {self._pace} x real time' if self._pace > 1 else ''),
                   self._font, INK)
        feet = self._support[row]
        stands = 'no foot' if not feet else ' and '.join(in_words(run.robot.feet[i]) for i in feet)
        text = f'{run.time[row]:.1f} s, on {stands}'
        if run.broke_off and k == len(self._rows) - 1:
            text = f'{run.time[row]:.1f} s, {failure(ending(run))}'
        write_text(pen, (margin, margin + line), text, self._font, INK)


def _draw_arrow(pen, foot, tip, colour):
    """Draw an arrow with a pale edge, so that it stands out before a leg of its colour."""
    foot, tip = np.array(foot), np.array(tip)
    length = math.hypot(*(tip - foot))
    if length < OVERSAMPLING:
        return
    along = (tip - foot) / length
    across = np.array([-along[1], along[0]])
    head = min(11.0 * OVERSAMPLING, length)
    neck = tip - head * along
    corners = [tuple(point) for point in (tip, neck + 0.5 * head * across,
                                          neck - 0.5 * head * across)]
    pen.line([tuple(foot), tuple(neck)], fill=BACKGROUND, width=5 * OVERSAMPLING)
    pen.line([tuple(foot), tuple(neck)], fill=colour, width=3 * OVERSAMPLING)
    pen.polygon(corners, fill=colour, outline=BACKGROUND)


def _draw_cross(pen, place):
    reach = 6 * OVERSAMPLING
    x, y = place
    for colour, width in ((BACKGROUND, 6), (INK, 3)):
        for sign in (-1, 1):
            pen.line([(x - reach, y - sign * reach), (x + reach, y + sign * reach)], fill=colour,
                     width=width * OVERSAMPLING)
