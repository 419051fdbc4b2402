# SPDX-License-Identifier: Apache-2.0
"""An animated stick figure of a run as a small GIF, for any planar robot."""

import math

import numpy as np

from walking_control.exceptions import MissingDependency
from walking_control.experiments.kinematics import Skeleton, tilt
from walking_control.experiments.measures import touchdowns
from walking_control.experiments.style import FOOT_COLOURS, in_words
from walking_control.models.dynamics import PlanarDynamics

WIDTH, HEIGHT = 560, 380
FRAME_RATE = 25  # GIF delays are whole hundredths of a second
_OVERSAMPLING = 2
_FLOOR_HEIGHT = 0.17  # of the picture
_BACKGROUND, _INK, _SOFT = '#FFFFFF', '#222222', '#9A9A9A'
_CAMERA_TIME = 0.8  # s over which the camera averages the base's position


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
    image = import_pillow()
    rows = _frame_rows(run, longest)
    scene = _Scene(run, rows)
    palette = _palette(image)
    frames = [scene.draw(k).quantize(palette=palette, dither=image.Dither.NONE)
              for k in range(len(rows))]
    period = 1000 // FRAME_RATE
    durations = [period] * len(frames)
    if run.fell:
        durations[-1] = 1500
    frames[0].save(path, format='GIF', save_all=True, append_images=frames[1:],
                   duration=durations, loop=0, optimize=False, disposal=1)


def import_pillow():
    """Return Pillow's Image module.

    Raises:
        MissingDependency: It is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependency('animation', limit='needs the package pillow',
                                remedy='pip install pillow') from error
    return Image


def _frame_rows(run, longest):
    """Return the row shown in each frame."""
    end = run.time[-1]
    begins = run.time[touchdowns(run)]
    begin = begins[np.searchsorted(begins, end - longest)] if begins[-1] >= end - longest \
        else end - longest
    times = np.arange(begin, end + 1e-9, 1.0 / FRAME_RATE)
    return np.searchsorted(run.time, times - 1e-9)


def _palette(image):
    """Return an image whose palette holds every colour drawn, blended with the background."""
    colours = []
    for name in (_INK, _SOFT, *FOOT_COLOURS):
        colour = np.array([int(name[i:i + 2], 16) for i in (1, 3, 5)])
        for share in (1.0, 0.75, 0.5, 0.25):
            colours += (share * colour + (1.0 - share) * 255.0).round().astype(int).tolist()
    palette = image.new('P', (1, 1))
    palette.putpalette(colours + [255, 255, 255])
    return palette


class _Scene:
    """Everything needed to draw the frames of one run."""

    def __init__(self, run, rows):
        self._run, self._rows = run, rows
        self._skeleton = Skeleton(PlanarDynamics(run.robot))
        self._points = np.array([self._skeleton.points(run.q[row]) for row in rows])
        self._camera = _smooth(self._points[:, self._skeleton.base, 0])
        self._slope = run.world.slope
        height = max(0.1, np.quantile(self._points[..., 1].max(axis=1), 0.9))
        self._scale = 0.62 * HEIGHT * _OVERSAMPLING / height
        self._font = _font(13 * _OVERSAMPLING)
        self._small = _font(11 * _OVERSAMPLING)

    def draw(self, k):
        """Return frame k as an RGB image."""
        from PIL import Image, ImageDraw
        size = WIDTH * _OVERSAMPLING, HEIGHT * _OVERSAMPLING
        picture = Image.new('RGB', size, _BACKGROUND)
        pen = ImageDraw.Draw(picture)
        self._draw_floor(pen, k)
        self._draw_robot(pen, k)
        self._draw_text(pen, k)
        return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def _pixels(self, points, k):
        """Return where floor-frame points appear in frame k."""
        seen = tilt(np.asarray(points) - [self._camera[k], 0.0], self._slope) * self._scale
        origin = 0.5 * WIDTH, (1.0 - _FLOOR_HEIGHT) * HEIGHT
        return [(origin[0] * _OVERSAMPLING + x, origin[1] * _OVERSAMPLING - z) for x, z in seen]

    def _draw_floor(self, pen, k):
        reach = 0.6 * WIDTH * _OVERSAMPLING / self._scale / math.cos(self._slope)
        left, right = self._camera[k] - reach, self._camera[k] + reach
        pen.line(self._pixels([[left, 0.0], [right, 0.0]], k), fill=_INK, width=2 * _OVERSAMPLING)
        for tenth in range(math.ceil(10.0 * left), math.floor(10.0 * right) + 1):
            long = tenth % 5 == 0
            x, depth = 0.1 * tenth, 0.035 if long else 0.02
            pen.line(self._pixels([[x, 0.0], [x, -depth]], k), fill=_SOFT, width=_OVERSAMPLING)
            if long:
                place, = self._pixels([[x, -0.075]], k)
                _write(pen, place, f'{x:.1f} m', self._small, _SOFT, centred=True)

    def _draw_robot(self, pen, k):
        pixels = self._pixels(self._points[k], k)
        stance = self._run.support[self._rows[k]]
        swing_first = sorted(self._skeleton.segments, key=lambda segment: segment.foot == stance)
        for segment in swing_first:
            width = _OVERSAMPLING * (6 if segment.foot == stance else 4)
            colour = _INK if segment.foot is None else FOOT_COLOURS[segment.foot]
            pen.line([pixels[segment.start], pixels[segment.end]], fill=colour, width=width)
            for end in (segment.start, segment.end):
                _disc(pen, pixels[end], 0.5 * width, colour)
        _disc(pen, pixels[self._skeleton.base], 6 * _OVERSAMPLING, _INK)
        _disc(pen, pixels[self._skeleton.feet[stance]], 6 * _OVERSAMPLING, FOOT_COLOURS[stance])

    def _draw_text(self, pen, k):
        run, row = self._run, self._rows[k]
        margin, line = 12 * _OVERSAMPLING, 19 * _OVERSAMPLING
        title = f'{run.robot.name}, {in_words(run.controller)}, {run.plant}'
        if run.world.slope:
            title += f', slope {math.degrees(run.world.slope):.3g} deg'
        _write(pen, (margin, margin), title, self._font, _INK)
        text = f'{run.time[row]:.1f} s, step {run.steps[row]}'
        if run.fell and k == len(self._rows) - 1:
            text += f', fell: {run.fall_reason}'
        _write(pen, (margin, margin + line), text, self._font, _INK)


def _smooth(values):
    """Return a centred moving average; towards the ends the window shrinks evenly."""
    half = round(0.5 * _CAMERA_TIME * FRAME_RATE)
    last = len(values) - 1
    reach = [min(half, k, last - k) for k in range(len(values))]
    return np.array([values[k - r:k + r + 1].mean() for k, r in enumerate(reach)])


def _font(size):
    from PIL import ImageFont
    try:
        return ImageFont.load_default(size)
    except TypeError:  # Pillow before 10.1 has one size only
        return ImageFont.load_default()


def _write(pen, place, text, font, colour, centred=False):
    x, y = place
    if centred:
        left, _, right, _ = pen.textbbox((0, 0), text, font=font)
        x -= 0.5 * (right - left)
    pen.text((x, y), text, font=font, fill=colour)


def _disc(pen, place, radius, colour):
    x, y = place
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colour)
