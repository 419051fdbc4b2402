# SPDX-License-Identifier: Apache-2.0
"""What a walk on a gait feels of the floor: how it leans, and how rough it is.

A gait of the family is chosen by how the floor rises ahead. On the gait that is what the sole that
stands says, from its first moments on flat on the floor: footholds tell it a step later. What the
family does not know of the floor's normal, a lean across or more than its steepest slope, turns the
swing sole and the trunk: with the hips parallel to the floor both legs are as long as on the gait.

Heights between two footholds that the slope does not explain are roughness. It raises the swing
foot half-way, and for some steps the gait is left only where the next foothold is out of reach.

Lengths are in leg lengths L, times in sqrt(L / g), unless said.
"""

import math

import numpy as np
import pinocchio as pin

from walking_control.controllers.stepping.body import Foot
from walking_control.models import array_function, Scale

SETTLED, TURNING = 0.14, 0.143  # a sole is believed so long after its touchdown, and turning slower
STEEPEST = 0.3  # rise over run: no floor is steeper
ALONE, WARY = 0.17, 0.06  # so much off what footholds say one sole is believed, less on a floor
# that was rough before: beyond, it lies on an edge
SLOPE_TIME = 0.105  # how fast the gait follows the slope that the sole finds
EVEN, SMOOTH = 0.00625, 0.0025  # a height that is no roughness; roughness that is forgotten
LEAN = 0.03  # rise over run: a floor that leans
FORGET = 0.8  # part of the roughness that is left a step later
LIFT, HIGHEST = 1.5, 0.0625  # how much higher the foot swings than the floor is rough; at most
AT_REST = np.array([1.0, 0.0, 0.0])  # what does not fade, and its two derivatives
UP, DOWN = (0.2, 0.5), (0.7, 1.0)  # parts of the step in which the foot goes higher, and back,
STEADY = 1.5  # from half-way at nearly this speed, over the mean


class FeltFloor:
    """The floor under a walk on a gait.

    Args:
        scale: The robot's size.

    Attributes:
        slope: Rise over run along x and y of the floor axes, as the gait follows it, ``(2,)``.
        bank: What of the floor's lean the gait does not know, heading frame, ``(3, 3)``.
        roughness: m.
        settled: Whether the sole that stands lies still on the floor.
    """

    def __init__(self, scale: Scale) -> None:
        self._length, self._time = scale.length, scale.time
        self.reset()

    def reset(self) -> None:
        """Forget the past: the floor is level and smooth."""
        self.slope, self._found = np.zeros((2, 2))
        self.bank, self.roughness, self.settled = np.eye(3), 0.0, True
        self._wary = False

    def follow(
        self, slope: np.ndarray, foot: Foot, elapsed: float, on_gait: bool, dt: float
    ) -> None:
        """Follow the felt slope: on the gait that of the sole that stands, once it has settled.

        Args:
            slope: As the estimator has it of several footholds, rise over run, ``(2,)``.
            foot: That stands.
            elapsed: Since its touchdown, s.
            on_gait: Whether the gait is walked.
            dt: Of the tick, s.
        """
        turning = math.hypot(*foot.velocity[3:5].tolist()) * self._time
        self.settled = elapsed > SETTLED * self._time and turning < TURNING
        if on_gait:
            if self.settled:
                normal = foot.rotation[:, 2]
                lean = -normal[:2] / max(normal[2], STEEPEST)
                if math.hypot(*(lean - slope).tolist()) < (WARY if self._wary else ALONE):
                    self._found[:] = np.minimum(np.maximum(lean, -STEEPEST), STEEPEST)
            self.slope += min(1.0, dt / (SLOPE_TIME * self._time)) * (self._found - self.slope)
        else:
            self.slope[:] = self._found[:] = slope

    def turn(self, ahead: float, across: float) -> None:
        """Turn the bank to what the gait does not know, rise over run in the heading frame."""
        normal = np.array([-ahead, -across, 1.0])
        self.bank[:] = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).matrix()

    def touch(self, height: float) -> None:
        """Take a touchdown: the height of an edge, or over the slope from foot to foot, m."""
        self._wary = self.rough
        self.roughness = max(abs(height) - EVEN * self._length, FORGET * self.roughness)
        if self.roughness < SMOOTH * self._length:
            self.roughness = 0.0

    @property
    def rough(self) -> bool:
        """Return whether footholds differ by more than the slope explains."""
        return self.roughness > 0.0

    @property
    def uneven(self) -> bool:
        """Return whether the floor is rough, or leans."""
        return self.rough or math.hypot(*self.slope.tolist()) > LEAN

    @property
    def higher(self) -> float:
        """Return how much higher a foot swings over what is known to be rough, m."""
        return min(LIFT * self.roughness, HIGHEST * self._length)


@array_function
def bump(s: float, rate: float, height: float) -> np.ndarray:
    """Return how much higher than on the gait a foot swings, with two derivatives, ``(3,)``.

    It comes down at a steady speed v: a floor that is h off is met h / v off its time.

    Args:
        s: Part of the step that is over.
        rate: Of s, 1/s.
        height: Half-way, m.
    """
    if s > 0.5 * (UP[1] + DOWN[0]):
        return np.asarray(height * fading(s, DOWN[0], DOWN[1], rate, STEADY))
    return np.asarray(height * (AT_REST - fading(s, UP[0], UP[1], rate)))


@array_function
def fading(s: float, begin: float, end: float, rate: float, slope: float = 0.0) -> np.ndarray:
    """Return what of an error is left, and its two derivatives in time, ``(3,)``.

    Args:
        s: Part of the step that is over.
        begin: Part of the step at which it begins to fade.
        end: Part of the step at which it is gone.
        rate: Of s, 1/s.
        slope: How fast it still fades then, over the mean.
    """
    u, pace = min(max((s - begin) / (end - begin), 0.0), 1.0), rate / (end - begin)
    a, b, c = 10.0 - 4.0 * slope, 15.0 - 7.0 * slope, 6.0 - 3.0 * slope
    return np.array(
        [
            1.0 - u**3 * (a - u * (b - u * c)),
            -(u**2) * (3.0 * a - u * (4.0 * b - u * 5.0 * c)) * pace,
            -u * (6.0 * a - u * (12.0 * b - u * 20.0 * c)) * pace**2,
        ]
    )
