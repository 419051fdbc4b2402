# SPDX-License-Identifier: Apache-2.0
"""Which foot the robot stands on: by touchdowns of one that walks, by load of one that stands."""

from collections.abc import Sequence
import math

from walking_control.estimation.contact import STAMP_TOLERANCE
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.models.signals import WalkerState


class Touchdowns:
    """The stance foot changes when the swing foot touches down ahead of it.

    A scuff beside the stance foot does not count; a foot that stands alone takes over in the end.

    Args:
        values: `EstimatorParameters`.
    """

    def __init__(self, values: EstimatorParameters) -> None:
        self._values = values
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._alone_since = math.inf

    def update(
        self, state: WalkerState, places: Sequence[Sequence[float]], loads: Sequence[float]
    ) -> None:
        """Change the stance foot of a `WalkerState` if it is time to.

        Args:
            state: The `WalkerState`, contacts up to date.
            places: x, y and z of every foot in the floor's axes, from any one point, m.
            loads: Force of the floor on every foot along its normal, N.
        """
        x_support = places[state.support][0]
        elapsed = state.stamp - state.touchdown + STAMP_TOLERANCE
        if elapsed < self._values.min_step_time:
            return
        for i, (x, _, _) in enumerate(places):
            if i == state.support or not state.contact[i]:
                continue
            if x - x_support >= self._values.min_step_length or self._alone(state):
                state.steps += 1
                state.step_length = x - x_support
                state.step_time = state.stamp - state.touchdown
                state.touchdown = state.stamp
                self._alone_since = math.inf
                move_support(state, places, i)
                break

    def _alone(self, state: WalkerState) -> bool:
        """Return whether the stance foot has long been off the floor while another is on it."""
        if state.contact[state.support]:
            self._alone_since = math.inf
            return False
        if state.stamp < self._alone_since:
            self._alone_since = state.stamp
        return state.stamp - self._alone_since >= self._values.lost_support_time - STAMP_TOLERANCE


class Load:
    """The stance foot is the one that carries most.

    Another takes over when it carries clearly more, so that noise does not move the support of a
    robot that stands on both feet alike. That is a step if the other has just come down.

    Args:
        values: `EstimatorParameters`.
    """

    def __init__(self, values: EstimatorParameters) -> None:
        self._margin, self._soon = values.contact_on, 2.0 * values.min_step_time
        self.reset()

    def reset(self) -> None:
        """Forget the past: nobody has come down."""
        self._landed: list[float] = []
        self._contact: list[bool] = []

    def update(
        self, state: WalkerState, places: Sequence[Sequence[float]], loads: Sequence[float]
    ) -> None:
        """Change the stance foot of a `WalkerState`; see `Touchdowns.update`.

        Args:
            state: Written in place.
            places: Of the feet from the base, floor axes, m, ``(n_feet, 3)``.
            loads: Normal forces on the feet, N, ``(n_feet,)``.
        """
        self._watch_landings(state)
        heaviest = loads.index(max(loads))
        if loads[heaviest] > loads[state.support] + self._margin:
            if state.stamp - self._landed[heaviest] <= self._soon + STAMP_TOLERANCE:
                self._count(state, places, heaviest)
            move_support(state, places, heaviest)

    def _watch_landings(self, state: WalkerState) -> None:
        contact = state.contact.tolist()
        if not self._contact:
            self._contact, self._landed = contact, [-math.inf] * len(contact)
        self._landed = [
            state.stamp if touches and not touched else landed
            for touches, touched, landed in zip(contact, self._contact, self._landed)
        ]
        self._contact = contact

    def _count(self, state: WalkerState, places: Sequence[Sequence[float]], foot: int) -> None:
        """Count a step; its length is along where the base looks."""
        ahead = state.base.rotation[:2, 0].tolist()
        way = [places[foot][axis] - places[state.support][axis] for axis in range(2)]
        state.steps += 1
        state.step_length = (way[0] * ahead[0] + way[1] * ahead[1]) / math.hypot(*ahead)
        state.step_time = self._landed[foot] - state.touchdown
        state.touchdown, self._landed[foot] = self._landed[foot], -math.inf


def move_support(state: WalkerState, places: Sequence[Sequence[float]], foot: int) -> None:
    """Let a foot of a `WalkerState` take over where it stands on the floor.

    Args:
        state: Written in place.
        places: Of the feet from the base, floor axes, m, ``(n_feet, 3)``.
        foot: Index of the new stance foot.
    """
    for axis in range(2):
        state.foothold[axis] += places[foot][axis] - places[state.support][axis]
    state.support = foot
