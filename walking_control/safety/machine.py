# SPDX-License-Identifier: Apache-2.0
"""What a controller may do in each state, and what leads from one state to the next.

The one table of lifecycle, faults and reactions, as data: the code asks it, the page prints it,
the tests walk it at random.
"""

from enum import IntEnum


class State(IntEnum):
    """Where a controller stands; a latched fault is part of it."""

    UNCONFIGURED = 0
    INACTIVE = 1
    WAITING = 2  # active; no complete set of sensors, or no watchdog, yet
    WALKING = 3  # active; the law answers
    FADING = 4  # latched; the last effort fades
    DAMPING = 5  # latched; the joints are damped
    RESTING = 6  # latched; zero effort
    UNCONFIGURED_LATCHED = 7
    INACTIVE_LATCHED = 8
    FINALIZED = 9
    STOPPING = 10  # latched; the law brings the robot to a stand
    STANDING = 11  # latched; it stands, and the law holds it
    LOWERING = 12  # latched; the law lowers it before its power goes


class Event(IntEnum):
    """What can happen to a controller."""

    CONFIGURE = 0
    ACTIVATE = 1
    DEACTIVATE = 2
    CLEANUP = 3
    SHUTDOWN = 4
    SENSORS = 5  # a complete set is answered, sound or not
    FADE = 6  # a fault whose reaction is fade
    DAMP = 7  # a fault whose reaction is damping
    ZERO = 8  # a fault whose reaction is zero
    OVER = 9  # the time of the reaction has passed, or nothing is left to fade
    CLEAR = 10  # somebody calls ~/clear_fault
    STOP = 11  # a fault whose reaction is stand or lower
    STOOD = 12  # the robot has come to a stand
    LOWER = 13  # it stands, and its power shall go


# What leaves in each state. No other effort may.
OUTPUTS = {
    State.UNCONFIGURED: 'nothing',
    State.INACTIVE: 'nothing; the last message was zero',
    State.WAITING: 'nothing, or zero',
    State.WALKING: 'what the law says, finite and within its limits',
    State.FADING: 'the last effort, less by fade_rate',
    State.DAMPING: 'damping of the actuated joints within their limits',
    State.RESTING: 'zero',
    State.UNCONFIGURED_LATCHED: 'nothing',
    State.INACTIVE_LATCHED: 'nothing; the last message was zero',
    State.FINALIZED: 'nothing; the last message was zero',
    State.STOPPING: 'what the law, or the standby law, says at a velocity of zero',
    State.STANDING: 'the same',
    State.LOWERING: 'the same, as it lowers the robot',
}
# latched states in which a law still answers, and the command is what it says
LED = frozenset({State.STOPPING, State.STANDING, State.LOWERING})
ACTIVE = LED | {State.WAITING, State.WALKING, State.FADING, State.DAMPING, State.RESTING}
LATCHED = LED | {
    State.FADING,
    State.DAMPING,
    State.RESTING,
    State.UNCONFIGURED_LATCHED,
    State.INACTIVE_LATCHED,
}
REACTION_EVENTS = {
    'stand': Event.STOP,
    'lower': Event.STOP,
    'fade': Event.FADE,
    'damping': Event.DAMP,
    'zero': Event.ZERO,
}
LIFECYCLE_EVENTS = (
    Event.CONFIGURE,
    Event.ACTIVATE,
    Event.DEACTIVATE,
    Event.CLEANUP,
    Event.SHUTDOWN,
)

_S, _E = State, Event
_FAULTS = (_E.STOP, _E.FADE, _E.DAMP, _E.ZERO)

# state, events, next state. An event that is not listed has no effect; a transition of the
# lifecycle that is not listed is refused. A second fault can only make the reaction stronger:
# stop, fade, damping, zero.
ROWS = (
    (_S.UNCONFIGURED, (_E.CONFIGURE,), _S.INACTIVE),
    (_S.UNCONFIGURED, _FAULTS, _S.UNCONFIGURED_LATCHED),
    (_S.UNCONFIGURED, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.UNCONFIGURED_LATCHED, (_E.CONFIGURE,), _S.INACTIVE_LATCHED),
    (_S.UNCONFIGURED_LATCHED, (_E.CLEAR,), _S.UNCONFIGURED),
    (_S.UNCONFIGURED_LATCHED, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.INACTIVE, (_E.ACTIVATE,), _S.WAITING),
    (_S.INACTIVE, (_E.CLEANUP,), _S.UNCONFIGURED),
    (_S.INACTIVE, _FAULTS, _S.INACTIVE_LATCHED),
    (_S.INACTIVE, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.INACTIVE_LATCHED, (_E.ACTIVATE,), _S.RESTING),
    (_S.INACTIVE_LATCHED, (_E.CLEANUP,), _S.UNCONFIGURED_LATCHED),
    (_S.INACTIVE_LATCHED, (_E.CLEAR,), _S.INACTIVE),
    (_S.INACTIVE_LATCHED, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.WAITING, (_E.SENSORS,), _S.WALKING),
    (_S.WAITING, _FAULTS, _S.RESTING),
    (_S.WAITING, (_E.DEACTIVATE,), _S.INACTIVE),
    (_S.WAITING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.WALKING, (_E.STOP,), _S.STOPPING),
    (_S.WALKING, (_E.FADE,), _S.FADING),
    (_S.WALKING, (_E.DAMP,), _S.DAMPING),
    (_S.WALKING, (_E.ZERO,), _S.RESTING),
    (_S.WALKING, (_E.DEACTIVATE,), _S.INACTIVE),
    (_S.WALKING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.STOPPING, (_E.STOOD,), _S.STANDING),
    (_S.STOPPING, (_E.FADE,), _S.FADING),
    (_S.STOPPING, (_E.DAMP, _E.OVER), _S.DAMPING),
    (_S.STOPPING, (_E.ZERO,), _S.RESTING),
    (_S.STOPPING, (_E.CLEAR,), _S.WALKING),
    (_S.STOPPING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.STOPPING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.STANDING, (_E.LOWER,), _S.LOWERING),
    (_S.STANDING, (_E.FADE,), _S.FADING),
    (_S.STANDING, (_E.DAMP,), _S.DAMPING),
    (_S.STANDING, (_E.ZERO,), _S.RESTING),
    (_S.STANDING, (_E.CLEAR,), _S.WALKING),
    (_S.STANDING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.STANDING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.LOWERING, (_E.FADE,), _S.FADING),
    (_S.LOWERING, (_E.DAMP, _E.OVER), _S.DAMPING),
    (_S.LOWERING, (_E.ZERO,), _S.RESTING),
    (_S.LOWERING, (_E.CLEAR,), _S.WALKING),
    (_S.LOWERING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.LOWERING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.FADING, (_E.DAMP,), _S.DAMPING),
    (_S.FADING, (_E.ZERO, _E.OVER), _S.RESTING),
    (_S.FADING, (_E.CLEAR,), _S.WAITING),
    (_S.FADING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.FADING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.DAMPING, (_E.ZERO, _E.OVER), _S.RESTING),
    (_S.DAMPING, (_E.CLEAR,), _S.WAITING),
    (_S.DAMPING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.DAMPING, (_E.SHUTDOWN,), _S.FINALIZED),
    (_S.RESTING, (_E.CLEAR,), _S.WAITING),
    (_S.RESTING, (_E.DEACTIVATE,), _S.INACTIVE_LATCHED),
    (_S.RESTING, (_E.SHUTDOWN,), _S.FINALIZED),
)
NEXT = {(state, event): after for state, events, after in ROWS for event in events}


def step(state: State, event: Event) -> State:
    """Return the state after an event; the same if the event has no effect."""
    return NEXT.get((state, event), state)
