# SPDX-License-Identifier: Apache-2.0
"""A robot with the forces on its feet at one instant, and what films draw it with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
import math
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.exceptions import import_optional
from walking_control.lab.reports.plots.style import FOOT_COLOURS, MARK
from walking_control.models import Dynamics, in_words
from walking_control.runs import (
    Bone,
    ending,
    failure,
    LOADED,
    place_soles,
    Run,
    Skeleton,
    sole_corners,
    support_intervals,
)

_ARROW = 0.45  # of the robot's height: length of an arrow of its whole weight
_OFF_SEGMENT = 0.05  # m; small motor housings beside a joint are not drawn
WIDTH, HEIGHT = 560, 380
FRAME_RATE = 25  # GIF delays are whole hundredths of a second
OVERSAMPLING = 2
BACKGROUND, INK, SOFT = '#FFFFFF', '#222222', '#9A9A9A'
CAMERA_TIME = 0.8  # s over which the camera averages the robot's position


@dataclass(frozen=True)
class Pose:
    """Places in the floor frame of everything drawn of one row, m.

    Args:
        points: Of the skeleton, ``(n_points, 3)``.
        soles: Closed outline of each foot's sole, ``(n, 3)`` each.
        arrows: foot index -> (foot, tip) of the arrow of its force, while it carries a load.
        com: Centre of mass, ``(3,)``.
        plumb: Where the vertical through it meets the floor, ``(3,)``.
    """

    points: np.ndarray
    soles: tuple[np.ndarray, ...]  # closed outline of each foot's sole, ``(n, 3)`` each
    # foot index -> (foot, tip) of the arrow of its force, while it carries a load
    arrows: dict[int, tuple[np.ndarray, np.ndarray]]
    com: np.ndarray
    plumb: np.ndarray


class Scene:
    """The poses of a run.

    Attributes:
        segments: The `Bone` list of the skeleton.
        base: Index of the base's point.
        feet: Index of each foot's point.
        height: Of the drawn robot at the start, m.
        weight: m g, N.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._dynamics = Dynamics(run.robot, run.world.gravity, run.world.slope)
        self._corners = [sole_corners(run.robot.urdf, foot) for foot in run.robot.feet]
        self._skeleton = Skeleton(self._dynamics, _OFF_SEGMENT)
        self.segments, self.base = self._skeleton.segments, self._skeleton.base
        self.feet = self._skeleton.feet
        self.weight = self._dynamics.weight
        self.height = float(np.ptp(self._skeleton.points(run.q[0])[:, 2])) or 1.0
        self._arrow = _ARROW * self.height / self.weight

    def pose(self, row: int) -> Pose:
        """Return the `Pose` of a row."""
        run = self._run
        com = self._dynamics.center_of_mass(run.q[row])
        points = self._skeleton.points(run.q[row])
        soles = place_soles(self._dynamics, self._corners)
        arrows = {}
        for i, force in enumerate(run.foot_force[row]):
            if force[2] >= LOADED * self.weight:
                foot = soles[i][:-1].mean(axis=0) if len(soles[i]) > 1 else soles[i][0]
                arrows[i] = foot, foot + self._arrow * force
        plumb = com + com[2] * np.array([np.tan(run.world.slope), 0.0, -1.0])
        return Pose(points, soles, arrows, com, plumb)


def telling_rows(run: Run) -> list[tuple[int, str]]:
    """Return the rows that tell most of a run, in order of time, with the reason for each.

    They are the middle of the longest time on every set of feet, at most three of them; after a
    fall also the last row; where the robot never changed its support, only the last row.

    Returns:
        List of (row, words).
    """
    longest: dict[tuple[int, ...], tuple[int, int]] = {}
    for begin, end, feet in support_intervals(run):
        if feet and end - begin > len(range(*longest.get(feet, (0, 0)))):
            longest[feet] = begin, end
    if run.broke_off:
        longest = dict(list(longest.items())[-2:])
    rows = [((begin + end - 1) // 2, _stands(run, feet)) for feet, (begin, end) in longest.items()]
    if len(longest) < 2 and not run.broke_off:
        rows = []
    if run.broke_off or not rows:
        rows.append((len(run.time) - 1, 'the end'))
    return sorted(rows[-3:])


def _stands(run: Run, feet: tuple[int, ...]) -> str:
    if len(feet) == len(run.robot.feet):
        return 'on both feet' if len(feet) == 2 else 'on all feet'
    return 'on ' + ', '.join(in_words(run.robot.feet[i]) for i in feet)


def import_pillow() -> Any:
    """Return Pillow's Image module.

    Raises:
        MissingDependency: It is not installed.
    """
    return import_optional('PIL.Image', 'animation', 'pillow')


def save_frames(
    frames: Iterable[Any], path: Path | str, linger: bool = False, rate: float = FRAME_RATE
) -> None:
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
    frames[0].save(
        path,
        format='GIF',
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        optimize=False,
        disposal=1,
    )


def make_palette(image: Any) -> Any:
    """Return an image whose palette holds every colour drawn, blended with the background."""
    colours = [
        each
        for name in (INK, SOFT, MARK, *FOOT_COLOURS)
        for share in (1.0, 0.75, 0.5, 0.25)
        for each in _blend(name, share)
    ]
    palette = image.new('P', (1, 1))
    palette.putpalette(colours + [255, 255, 255])
    return palette


def pale(name: str, share: float = 0.5) -> str:
    """Return a colour that holds a share of another one, the rest background."""
    return '#' + ''.join(f'{value:02X}' for value in _blend(name, share))


def _blend(name: str, share: float) -> list[int]:
    return [round(share * int(name[i : i + 2], 16) + (1.0 - share) * 255.0) for i in (1, 3, 5)]


def smooth(values: np.ndarray) -> np.ndarray:
    """Return a centred moving average; towards the ends the window shrinks evenly."""
    half = round(0.5 * CAMERA_TIME * FRAME_RATE)
    last = len(values) - 1
    reach = [min(half, k, last - k) for k in range(len(values))]
    return np.array([values[k - r : k + r + 1].mean() for k, r in enumerate(reach)])


def describe_row(run: Run, row: int, last: bool) -> str:
    """Return what is said of a row: its time, step and segment; of the last one, why it ended."""
    text = f'{run.time[row]:.1f} s, step {run.steps[row]}'
    for segment in run.route.segments if run.route is not None else ():
        if segment.begin <= run.time[row] < segment.end:
            text += f': {segment.name}'
    return f'{text}, {failure(ending(run))}' if last else text


class Picture:
    """A picture in the package's colours, in pixels; it is drawn finer and then made smooth."""

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self._size, fine = (width, height), (width * OVERSAMPLING, height * OVERSAMPLING)
        self.image = Image.new('RGB', fine, BACKGROUND)
        self._pen = ImageDraw.Draw(self.image)

    def finish(self) -> Any:
        """Return it in its size."""
        return self.image.resize(self._size, import_pillow().Resampling.LANCZOS)

    def line(self, places: Any, colour: str, width: float) -> None:
        """Draw a line through places."""
        self._pen.line(_fine(places), fill=colour, width=OVERSAMPLING * width)

    def polygon(self, corners: Any, colour: str) -> None:
        """Fill a polygon."""
        self._pen.polygon(_fine(corners), fill=colour)

    def disc(self, place: Sequence[float], radius: float, colour: str) -> None:
        """Fill a disc."""
        x, y = place
        self._pen.ellipse(_fine([(x - radius, y - radius), (x + radius, y + radius)]), fill=colour)

    def limb(self, segment: Bone, places: Sequence[Any], width: float) -> None:
        """Draw a segment of a robot with round ends, in the colour of the foot of its leg.

        Args:
            segment: Which.
            places: Of all points of the robot.
            width: Of the line.
        """
        colour = INK if segment.foot is None else FOOT_COLOURS[segment.foot]
        ends = [places[segment.start], places[segment.end]]
        self.line(ends, colour, width)
        for place in ends:
            self.disc(place, 0.5 * width, colour)

    def caption(self, place: Sequence[float], text: str) -> None:
        """Write small text, the middle of its upper edge at a place."""
        (x, y), font = _fine([place])[0], _font(11)
        left, _, right, _ = self._pen.textbbox((0, 0), text, font=font)
        self._pen.text((x - 0.5 * (right - left), y), text, font=font, fill=SOFT)

    def head(self, run: Run, pace: float, text: str) -> None:
        """Write what the run is, how much faster than real time it passes, and text below."""
        title = f'{run.robot.name}, {in_words(run.controller)}, {run.plant}'
        if run.world.slope:
            title += f', slope {math.degrees(run.world.slope):.3g} deg'
        if pace > 1:
            title += f', {pace} x real time'
        for place, line in zip(_fine([(12, 12), (12, 31)]), (title, text), strict=True):
            self._pen.text(place, line, font=_font(13), fill=INK)


def _fine(places: Any) -> list[tuple[float, ...]]:
    return [tuple(OVERSAMPLING * each for each in place) for place in places]


@cache
def _font(size: int) -> Any:
    """Return Pillow's own font in a size in pixels, if it has sizes."""
    from PIL import ImageFont

    try:
        return ImageFont.load_default(size * OVERSAMPLING)
    except TypeError:  # Pillow before 10.1 has one size only
        return ImageFont.load_default()
