# SPDX-License-Identifier: Apache-2.0
"""What the animations are drawn with: size, colours, pen, GIF."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.exceptions import import_optional
from walking_control.reports.plots.style import FOOT_COLOURS, MARK

WIDTH, HEIGHT = 560, 380
FRAME_RATE = 25  # GIF delays are whole hundredths of a second
OVERSAMPLING = 2
BACKGROUND, INK, SOFT = '#FFFFFF', '#222222', '#9A9A9A'
CAMERA_TIME = 0.8  # s over which the camera averages the robot's position


def import_pillow() -> Any:
    """Return Pillow's Image module.

    Raises:
        MissingDependency: It is not installed.
    """
    return import_optional('PIL.Image', 'animation', 'pillow')


def save_frames(frames: Iterable[Any], path: Path | str, linger: bool = False,
                rate: float = FRAME_RATE) -> None:
    """Write RGB images as an endless GIF, in the package's colours.

    Args:
        frames: Images of one size.
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


def make_palette(image: Any) -> Any:
    """Return an image whose palette holds every colour drawn, blended with the background."""
    colours = []
    for name in (INK, SOFT, MARK, *FOOT_COLOURS):
        for share in (1.0, 0.75, 0.5, 0.25):
            colours += _blend(name, share)
    palette = image.new('P', (1, 1))
    palette.putpalette(colours + [255, 255, 255])
    return palette


def pale(name: str, share: float = 0.5) -> str:
    """Return a colour that holds a share of another one, the rest background."""
    return '#' + ''.join(f'{value:02X}' for value in _blend(name, share))


def _blend(name: str, share: float) -> list[int]:
    return [round(share * int(name[i:i + 2], 16) + (1.0 - share) * 255.0) for i in (1, 3, 5)]


def smooth(values: np.ndarray) -> np.ndarray:
    """Return a centred moving average; towards the ends the window shrinks evenly."""
    half = round(0.5 * CAMERA_TIME * FRAME_RATE)
    last = len(values) - 1
    reach = [min(half, k, last - k) for k in range(len(values))]
    return np.array([values[k - r:k + r + 1].mean() for k, r in enumerate(reach)])


def load_font(size: int) -> Any:
    """Return Pillow's own font in a size in pixels, if it has sizes."""
    from PIL import ImageFont
    try:
        return ImageFont.load_default(size)
    except TypeError:  # Pillow before 10.1 has one size only
        return ImageFont.load_default()


def write_text(pen: Any, place: Sequence[float], text: str, font: Any, colour: str,
               centred: bool = False) -> None:
    """Write text with its upper left corner, or the middle of its upper edge, at a place."""
    x, y = place
    if centred:
        left, _, right, _ = pen.textbbox((0, 0), text, font=font)
        x -= 0.5 * (right - left)
    pen.text((x, y), text, font=font, fill=colour)


def draw_disc(pen: Any, place: Sequence[float], radius: float, colour: str) -> None:
    """Draw a filled disc."""
    x, y = place
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colour)


def draw_bone(pen: Any, start: Sequence[float], end: Sequence[float], colour: str,
              width: float) -> None:
    """Draw a line with round ends."""
    pen.line([start, end], fill=colour, width=width)
    for place in (start, end):
        draw_disc(pen, place, 0.5 * width, colour)
