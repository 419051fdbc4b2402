# SPDX-License-Identifier: Apache-2.0
"""The state of a controller, the fault that brought it there, and for how long it has reacted."""

from walking_control.safety.faults import Fault, KINDS
from walking_control.safety.machine import Event, LATCHED, REACTION_EVENTS, State, step


class Latch:
    """Walks `machine.ROWS`; keeps the first fault until somebody clears it.

    It outlives the control loop: cleanup and configure do not forget a fault.

    Args:
        state: The `State` to begin in. A script is active from the start.
    """

    def __init__(self, state: State = State.WAITING) -> None:
        self.state = state
        self.fault: Fault | None = None  # the first; it says why
        self.later: tuple[str, ...] = ()  # codes of other kinds that came while it was latched
        self.elapsed = 0.0  # s since the present reaction began
        self.lowers = False  # whether a robot that stands is lowered, and its power taken away

    def handle(self, event: Event) -> bool:
        """Take an `Event`; return whether the state changed."""
        before, self.state = self.state, step(self.state, event)
        if self.state is before:
            return False
        self.elapsed = 0.0
        return True

    def catch(self, code: str, message: str, stamp: float, reaction: str = 'zero') -> bool:
        """Latch a fault of a kind in `KINDS`; return whether another reaction begins.

        The first fault stays the one that is shown; a second one can only make the reaction
        stronger.
        """
        code = KINDS[code].code
        if self.fault is None:
            self.fault = Fault(code, message, stamp)
        elif code != self.fault.code and code not in self.later:
            self.later = (*self.later, code)
        self.lowers |= reaction == 'lower'
        return self.handle(REACTION_EVENTS[reaction])

    def pass_time(self, duration: float) -> None:
        """Count s towards the end of the reaction."""
        if self.state in LATCHED and duration > 0.0:
            self.elapsed += duration

    def clear(self) -> bool:
        """Forget the fault; return whether there was one."""
        if self.fault is None:
            return False
        self.fault, self.later, self.lowers = None, (), False
        self.handle(Event.CLEAR)
        return True
