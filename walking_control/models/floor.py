# SPDX-License-Identifier: Apache-2.0
"""Uneven floors along the way: heights at places, straight in between.

The places count from where the robot starts, along x of the floor frame, which `world.slope` may
tilt as a whole. Before the first place and beyond the last one the end pieces go on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from walking_control.exceptions import IncompatiblePlant, ParameterError, require

if TYPE_CHECKING:
    from walking_control.models.robot_file import World

STEEPEST = 1.0  # rad
AT_START = 1e-6  # m: how exactly a floor must be at height 0 where the robot starts


class FloorProfile:
    """The floor of a world that has one.

    Args:
        places: m, rising, ``(n,)``.
        heights: m, ``(n,)``.

    Attributes:
        places, heights: As given.
        slopes: Rise over run of each piece, ``(n - 1,)``.
    """

    def __init__(self, places: np.ndarray, heights: np.ndarray) -> None:
        self.places, self.heights = places, heights
        self.slopes = np.diff(heights) / np.diff(places)

    def piece(self, x: np.ndarray | float) -> np.ndarray:
        """Return the index of the piece at places, m."""
        return np.searchsorted(self.places[1:-1], x, side='right')

    def height(self, x: np.ndarray | float) -> np.ndarray:
        """Return the height at places, m."""
        i = self.piece(x)
        return np.asarray(self.heights[i] + self.slopes[i] * (x - self.places[i]))


def read_profile(world: World) -> FloorProfile | None:
    """Return the `FloorProfile` of the `World`, None of a level floor."""
    if not world.floor_places:
        return None
    return FloorProfile(np.array(world.floor_places), np.array(world.floor_heights))


def require_level(world: World, what: str) -> None:
    """Raise `IncompatiblePlant` where a world's floor is uneven, for what needs a level one.

    Args:
        world: The `World`.
        what: What needs a level floor, for the message.
    """
    require(
        not world.floor_places,
        f'world.floor_places under {what}',
        limit='it needs a level floor',
        remedy='simulate takes uneven ones in plants mujoco, dart and '
        'compliant, and in rigid with planar robots',
        error=IncompatiblePlant,
    )


def check_floor(values: World) -> None:
    """Check places and heights of a floor.

    Raises:
        ParameterError: They do not rise, do not match, are too steep or away from the start.
    """
    places, heights = values.floor_places, values.floor_heights
    require(
        len(places) == len(heights) and len(places) != 1,
        'parameter world.floor_heights',
        value=list(heights),
        limit=f'must have as many entries as floor_places ({len(places)}), two at least',
        error=ParameterError,
    )
    for a, b in zip(places, places[1:]):
        require(
            b > a,
            'parameter world.floor_places',
            value=[a, b],
            limit='must rise strictly: an upright floor has no normal',
            error=ParameterError,
        )
    profile = read_profile(values)
    if profile is None:
        return
    steepest = int(np.argmax(np.abs(profile.slopes)))
    require(
        abs(profile.slopes[steepest]) <= math.tan(STEEPEST),
        'parameter world.floor_heights',
        value=list(heights[steepest : steepest + 2]),
        limit=f'leans by {math.atan(profile.slopes[steepest]):.3g} rad from '
        f'{places[steepest]:g} m on, at most {STEEPEST:g} rad',
        error=ParameterError,
    )
    start = float(profile.height(0.0))
    require(
        abs(start) <= AT_START,
        f'floor {"below" if start < 0.0 else "above"} the start',
        value=round(start, 6),
        limit='the robot starts at height 0 m',
        remedy='give world.floor_heights that are 0 at place 0',
        error=ParameterError,
    )
