# SPDX-License-Identifier: Apache-2.0
"""Every fault by name: what it means and what the robot does about it unless told otherwise."""

from dataclasses import dataclass
import math

# damping: damp the actuated joints for `safety.damping_time`, then zero effort.
# fade: let the last effort fade at `safety.fade_rate`, locks armed: a controlled stop.
# zero: no effort at once.
FALL = 'fall'  # code of the fault that ends most walks
REACTIONS = ('damping', 'fade', 'zero')


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault."""

    code: str  # short name, also the end of the parameter ``safety.on_<code>``
    meaning: str  # what it means, half a sentence
    reaction: str  # default reaction
    # reactions that can be chosen; without a running clock or joint states nothing can be damped or
    # faded
    reactions: tuple[str, ...] = REACTIONS
    # Whether ``~/clear_fault`` looks whether the cause is still there, and refuses then. All other
    # causes latch again by themselves if they last.
    lasting: bool = False


_KINDS = (
    FaultKind('not_finite', 'a measured value is NaN or infinite', 'damping'),
    FaultKind('joint_state', 'a joint is missing from the joint states', 'zero', ('zero',)),
    FaultKind('lock', 'a lock says engaged where it cannot be, or no lock state', 'damping'),
    FaultKind('gyroscope', 'the base is measured turning faster than it can', 'damping'),
    FaultKind(
        'accelerometer',
        'the specific force is larger, or lasts longer, than in an impact',
        'damping',
    ),
    FaultKind('foot_force', 'a foot force is larger than an impact makes it, or pulls', 'damping'),
    FaultKind('contradiction', 'angles change otherwise than their measured rates say', 'damping'),
    FaultKind('orientation', 'the IMU quaternion has not norm 1', 'damping'),
    FaultKind(
        'imu_gravity', 'the IMU feels gravity elsewhere than its orientation says', 'damping'
    ),
    FaultKind('imu_frozen', 'the IMU repeats itself while the joints move', 'damping'),
    FaultKind('sensor_missing', 'a sensor was waited for in vain', 'zero', ('zero',)),
    FaultKind('stale_joint_state', 'joint states have stopped', 'zero', ('zero',)),
    FaultKind('stale_imu', 'the IMU has stopped', 'damping'),
    FaultKind('stale_contact', 'a foot sensor has stopped', 'damping'),
    FaultKind('stuck_contact', 'a foot in the air reports contact, or no foot does', 'damping'),
    FaultKind('contact_flicker', 'a contact flickers faster than debouncing can help', 'damping'),
    FaultKind('jump', 'a joint or the base moved faster than it can', 'damping'),
    FaultKind('joint_limit', 'a joint is beyond its limits', 'damping'),
    FaultKind('velocity_limit', 'a joint is faster than its limit', 'damping'),
    FaultKind(FALL, 'the robot has fallen', 'damping'),
    FaultKind('command', 'the control law gave an effort that is not finite', 'damping'),
    FaultKind('internal', 'the control law raised an error', 'damping'),
    FaultKind('tick_overrun', 'ticks take longer than the control period', 'fade'),
    FaultKind('clock_stopped', 'the stamps of the sensors stand still', 'zero', ('zero',)),
    FaultKind('clock_backwards', 'the stamps of the sensors run backwards', 'zero', ('zero',)),
    FaultKind('clock_jump', 'the stamps of the sensors jump ahead', 'zero', ('zero',)),
    FaultKind(
        'second_publisher',
        'somebody else publishes our commands or one of our sensors',
        'damping',
        lasting=True,
    ),
    FaultKind(
        'description', 'robot_description has become that of another robot', 'damping', lasting=True
    ),
    FaultKind('watchdog', 'the watchdog that is required no longer listens', 'fade'),
    FaultKind('emergency_stop', 'somebody pressed the emergency stop', 'damping'),
)
KINDS = {kind.code: kind for kind in _KINDS}


@dataclass(frozen=True)
class Fault:
    """What stopped the robot."""

    code: str  # code of its `FaultKind`
    message: str  # one sentence with value and limit
    stamp: float  # when, s

    def __str__(self) -> str:
        return f'{self.code}: {self.message} (at {round(self.stamp, 6)!r} s)'


def read_fault(text: str) -> Fault | None:
    """Return the `Fault` of its text, as ``~/fault`` has it; None of an empty text."""
    if not text:
        return None
    code, _, rest = text.partition(': ')
    words, _, stamp = rest.rpartition(' (at ')
    try:
        return Fault(code, words, float(stamp.removesuffix(' s)')))
    except ValueError:  # written by somebody else
        return Fault(code, rest, math.nan)
