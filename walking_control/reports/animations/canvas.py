# SPDX-License-Identifier: Apache-2.0
"""What the animations are drawn with: size, colours, pen, GIF."""

import numpy as np

from walking_control.exceptions import import_optional
from walking_control.reports.plots.style import FOOT_COLOURS, MARK

WIDTH, HEIGHT = 560, 380
FRAME_RATE = 25  # GIF delays are whole hundredths of a second
OVERSAMPLING = 2
BACKGROUND, INK, SOFT = '#FFFFFF', '#222222', '#9A9A9A'
CAMERA_TIME = 0.8  # s over which the camera averages the robot's position


def import_pillow():
    """Return Pillow's Image module.

    Raises:
        MissingDependency: It is not installed.
    """
    return import_optional('PIL.Image', 'animation', 'pillow')


def save_frames(frames, path, linger=False, rate=FRAME_RATE):
    """Write RGB images as an endless GIF, in the package's colours.

    Args:
        frames: Images of one size.
        path: Where to write.
        linger: Show the last one longer.
        rate: Frames per second.
    """
    image = import_pillow()
    palette = make_palette(image)
    frames = [frame.quantize(palette=palette, dither=image.Dither.NONE) for frame in frames]
    durations = [round(1000 / rate)] * len(frames)
    if linger:
        durations[-1] = 1500
    frames[0].save(path, format='GIF', save_all=True, append_images=frames[1:],
                   duration=durations, loop=0, optimize=False, disposal=1)


def make_palette(image):
    """Return an image whose palette holds every colour drawn, blended with the background."""
    colours = []
    for name in (INK, SOFT, MARK, *FOOT_COLOURS):
        for share in (1.0, 0.75, 0.5, 0.25):
            colours += _blend(name, share)
    palette = image.new('P', (1, 1))
    palette.putpalette(colours + [255, 255, 255])
    return palette


def pale(name, share=0.5):
    """Return a colour that holds a share of another one, the rest background."""
    return '#' + ''.join(f'{value:02X}' for value in _blend(name, share))


def _blend(name, share):
    colour = np.array([int(name[i:i + 2], 16) for i in (1, 3, 5)])
    return (share * colour + (1.0 - share) * 255.0).round().astype(int).tolist()


def smooth(values):
    """Return a centred moving average; towards the ends the window shrinks evenly."""
    half = round(0.5 * CAMERA_TIME * FRAME_RATE)
    last = len(values) - 1
    reach = [min(half, k, last - k) for k in range(len(values))]
    return np.array([values[k - r:k + r + 1].mean() for k, r in enumerate(reach)])


def load_font(size):
    """Return Pillow's own font in a size in pixels, if it has sizes."""
    from PIL import ImageFont
    try:
        return ImageFont.load_default(size)
    except TypeError:  # Pillow before 10.1 has one size only
        return ImageFont.load_default()


def write_text(pen, place, text, font, colour, centred=False):
    """Write text with its upper left corner, or the middle of its upper edge, at a place."""
    x, y = place
    if centred:
        left, _, right, _ = pen.textbbox((0, 0), text, font=font)
        x -= 0.5 * (right - left)
    pen.text((x, y), text, font=font, fill=colour)


def draw_disc(pen, place, radius, colour):
    """Draw a filled disc."""
    x, y = place
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colour)


def draw_bone(pen, start, end, colour, width):
    """Draw a line with round ends."""
    pen.line([start, end], fill=colour, width=width)
    for place in (start, end):
        draw_disc(pen, place, 0.5 * width, colour)
