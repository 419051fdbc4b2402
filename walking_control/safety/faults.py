# SPDX-License-Identifier: Apache-2.0
"""Every fault by name: what it means and what the robot does about it unless told otherwise."""

from dataclasses import dataclass
import math

# Categories of a stop, in the words of IEC 60204-1.
# Category 2, stand: the law brings the robot to a stand and holds it there, powered.
# Category 1, lower: likewise; then the robot is lowered and its power taken away, damped.
# Category 0, the power goes at once:
# damping: damp the actuated joints for `safety.damping_time`, then zero effort.
# fade: let the last effort fade at `safety.fade_rate`, locks armed.
# zero: no effort at once.
FALL = 'fall'  # code of the fault that ends most walks
REACTIONS = ('damping', 'fade', 'zero')
STOPS = {'stand': 2, 'lower': 1}  # reactions that need a law that can stand -> category
BEST = 'best'  # the category of `FaultKind` where the law can stand, else category 0
LOWERED = 'is lowered'  # how a stop of category 1 ends
STANDS = 'stands'  # what `Controller.standstill` says of a law that can
EMERGENCY_STOP, POWER_OFF = 'emergency_stop', 'power_off'
INTERNAL, COMMAND, OVERRUN = 'internal', 'command', 'tick_overrun'
IMU = ('gyroscope', 'orientation', 'accelerometer')  # what it says
LAW_LOST = (COMMAND, INTERNAL)  # of these a standby law brings to a stand


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault.

    Args:
        code: Short name, also the end of the parameter ``safety.on_<code>``.
        meaning: What it means, half a sentence.
        reaction: Default reaction of category 0.
        known: What is still known after it, half a sentence: why the category is what it is.
        category: Category of a stop that this allows, of IEC 60204-1.
        reactions: Reactions of category 0 that can be chosen; without a running clock or joint
            states nothing can be damped or faded.
        lost: What of the sensors is no longer to be believed; a stop of category 1 or 2 needs a
            robot that can do without.
    """

    code: str
    meaning: str
    reaction: str
    known: str
    category: int = 0
    reactions: tuple[str, ...] = REACTIONS
    lost: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """Reactions that the parameter ``safety.on_<code>`` may name."""
        stops = (BEST, *STOPS) if self.category and self.code != EMERGENCY_STOP else ()
        return (*stops, *self.reactions)

    @property
    def default(self) -> str:
        """Default of that parameter."""
        return self.choices[0] if BEST in self.choices else self.reaction

    def react(self, chosen: str, stands: bool, instead: str = '') -> str:
        """Return the reaction.

        Args:
            chosen: One of `choices`.
            stands: Whether there is a law that can stand; without one it is of category 0.
            instead: The reaction of category 0; empty takes the default one.
        """
        instead = instead or self.reaction
        if chosen == BEST:
            stops = (name for name, number in STOPS.items() if number == self.category)
            chosen = next(stops, instead)
        return chosen if stands or chosen not in STOPS else instead

    @property
    def ends(self) -> str:
        """How it ends by default, of a robot whose law can stand."""
        return {0: 'falls', 1: LOWERED, 2: STANDS}[self.category]


_KINDS = (
    FaultKind(
        'not_finite', 'a measured value is NaN or infinite', 'damping', 'the sensor may be a joint'
    ),
    FaultKind(
        'joint_state',
        'a joint is missing from the joint states',
        'zero',
        'joints unknown',
        reactions=('zero',),
    ),
    FaultKind(
        'lock',
        'a lock says engaged where it cannot be, or no lock state',
        'damping',
        'whether a knee holds is unknown',
    ),
    FaultKind(
        'gyroscope',
        'the base is measured turning faster than it can',
        'damping',
        'all but the gyroscope: the leg that stands says how the base turns',
        category=2,
        lost=('gyroscope',),
    ),
    FaultKind(
        'accelerometer',
        'the specific force is larger, or lasts longer, than in an impact',
        'damping',
        'all but the accelerometer',
        category=2,
        lost=('accelerometer',),
    ),
    FaultKind(
        'foot_force',
        'a foot force is larger than an impact makes it, or pulls',
        'damping',
        'all; motors, encoders and IMU tell the load of the foot',
        category=2,
        lost=('foot',),
    ),
    FaultKind(
        'signal',
        'a signal of the robot file is beyond its bounds',
        'damping',
        'all that the laws here stand by',
        category=2,
    ),
    FaultKind(
        'motor_heat',
        'a motor whose thermal data the robot file tells is at its limit of temperature',
        'damping',
        'all; standing asks for less than walking',
        category=2,
    ),
    FaultKind(
        'contradiction',
        'angles change otherwise than their measured rates say',
        'damping',
        'joints or attitude uncertain',
    ),
    FaultKind(
        'orientation',
        'the IMU quaternion has not norm 1',
        'damping',
        'all but the orientation, which the gyroscope carries on',
        category=2,
        lost=('orientation',),
    ),
    FaultKind(
        'imu_gravity',
        'the IMU feels gravity elsewhere than its orientation says, or its axes have changed',
        'damping',
        'attitude of the base wrong',
    ),
    FaultKind(
        'imu_frozen',
        'the IMU repeats itself while the joints move',
        'damping',
        'joints and feet: the leg that stands says how the base turns',
        category=2,
        lost=IMU,
    ),
    FaultKind(
        'sensor_missing',
        'a sensor was waited for in vain',
        'zero',
        'never complete',
        reactions=('zero',),
    ),
    FaultKind(
        'stale_joint_state',
        'joint states have stopped',
        'zero',
        'joints unknown',
        reactions=('zero',),
    ),
    FaultKind(
        'stale_imu',
        'the IMU has stopped',
        'damping',
        'joints and feet: the leg that stands says how the base turns',
        category=2,
        lost=IMU,
    ),
    FaultKind(
        'stale_contact',
        'a foot sensor has stopped',
        'damping',
        'all; motors, encoders and IMU tell the load of the foot',
        category=2,
        lost=('foot',),
    ),
    FaultKind(
        'stale_signal',
        'a signal of the robot file has stopped',
        'damping',
        'all that the laws here stand by',
        category=2,
    ),
    FaultKind(
        'stuck_contact',
        'a foot in the air reports contact, or no foot does',
        'damping',
        'contacts wrong, or the robot flies',
    ),
    FaultKind(
        'contact_flicker',
        'a contact flickers faster than debouncing can help',
        'damping',
        'contacts uncertain',
    ),
    FaultKind(
        'jump',
        'a joint or the base moved faster than it can',
        'damping',
        'joints or attitude uncertain',
    ),
    FaultKind(
        'joint_limit',
        'a joint is beyond its limits',
        'damping',
        'joints uncertain, or a leg is caught',
    ),
    FaultKind(
        'velocity_limit',
        'a joint is faster than its limit',
        'damping',
        'joints uncertain, or the robot falls',
    ),
    FaultKind(FALL, 'the robot has fallen', 'damping', 'the robot lies'),
    FaultKind(
        COMMAND,
        'the control law gave an effort that is not finite',
        'damping',
        'all but what the law would have done',
        category=2,
    ),
    FaultKind(
        INTERNAL,
        'the control law raised an error',
        'damping',
        'all but what the law would have done',
        category=2,
    ),
    FaultKind(
        OVERRUN,
        'ticks take longer than three control periods',
        'fade',
        'all, late; for how long is unknown',
        category=1,
    ),
    FaultKind(
        'clock_stopped',
        'the stamps of the sensors stand still',
        'zero',
        'when anything was measured is unknown',
        reactions=('zero',),
    ),
    FaultKind(
        'clock_backwards',
        'the stamps of the sensors run backwards',
        'zero',
        'when anything was measured is unknown',
        reactions=('zero',),
    ),
    FaultKind(
        'clock_jump',
        'the stamps of the sensors jump ahead',
        'zero',
        'when anything was measured is unknown',
        reactions=('zero',),
    ),
    FaultKind(
        'second_publisher',
        'somebody else publishes our commands or one of our sensors',
        'damping',
        'whose commands the motors hear is unknown',
    ),
    FaultKind(
        'description',
        'robot_description has become that of another robot',
        'damping',
        'which robot it is is unknown',
    ),
    FaultKind(
        'watchdog',
        'the watchdog that is required no longer listens',
        'fade',
        'all; nobody would send zero if this process ended',
        category=1,
    ),
    FaultKind(
        EMERGENCY_STOP,
        'somebody pressed the emergency stop',
        'damping',
        'all; somebody wants the power to go',
        category=1,
    ),
    FaultKind(
        POWER_OFF,
        'somebody asked for the power to go',
        'damping',
        'all; somebody wants the power to go at once',
    ),
)
KINDS = {kind.code: kind for kind in _KINDS}


@dataclass(frozen=True)
class Fault:
    """What stopped the robot.

    Args:
        code: Code of its `FaultKind`.
        message: One sentence with value and limit.
        stamp: When, s.
    """

    code: str
    message: str
    stamp: float

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
