# SPDX-License-Identifier: Apache-2.0
"""Does what is told of a policy fit its network? It is tried in the simulator, term by term.

A wrong order of joints, sign, gain, angle or scale shows in how the robot stands, walks ahead and
turns. Where it does one of them wrong, each term is changed in turn to what it is often mistaken
for, the likeliest kind of mistake first; a change with which the robot does all three, or does them
too fast or slow alone, is what the description probably should say.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.controllers import Policy, PolicyDescription
from walking_control.models import Dynamics, Measurement, RobotFile, with_section
from walking_control.runs import ending, leg_of_each_joint, mean_velocity
from walking_control.simulation import make_plant, run_plant

# until when, s: standing, walking ahead, turning; of the latter two that long is not judged
STAND, AHEAD, TURN, SETTLING = 1.0, 4.0, 6.5, 1.0
SPEED, RATE = 0.5, 0.4  # m/s, rad/s: asked for, within the policy's own limits
LEAST, MOST = 0.65, 1.35  # of what is asked: twelve right policies reach 0.75 to 1.18
ASTRAY = 0.35  # m/s or rad/s of what is not asked; the same reach 0.27
BLIND = 1.0, 0.25, 0.05  # scales of terms that networks do see
# commands varied in training by this many times what the robot then did: six policies 0.7 to 1.0
TRAINED = 0.55, 1.25
TURNING = 0.3  # rad/s: a policy for less may stand instead of turning on the spot
RATES = 25.0, 50.0, 100.0, 200.0  # Hz

Change = tuple[str, PolicyDescription]  # what is changed, in words, and what it is then


@dataclass(frozen=True)
class Trial:
    """How a robot stood, walked ahead and turned.

    Args:
        wrong: What it did otherwise than asked, sentences.
        ahead: Speeds ahead and to the left, m/s, and of turning, rad/s, while it should walk ahead.
        turn: The same while it should turn on the spot.
        asked: The speed and the rate that were asked for.
        only_slow: Whether all that is wrong is how fast it did as it was asked, too fast included.
    """

    wrong: tuple[str, ...]
    ahead: np.ndarray
    turn: np.ndarray
    asked: tuple[float, float]
    only_slow: bool = False

    @property
    def error(self) -> float:
        """How far it is from what was asked, in shares of it."""
        speed, rate = self.asked
        miss = self.ahead - [speed, 0.0, 0.0], self.turn - [0.0, 0.0, rate]
        return float(np.linalg.norm([*miss[0] / speed, *miss[1] / rate]))

    def __str__(self) -> str:
        """Say what it did."""
        speed, rate = self.asked
        done = f'{self.ahead[0]:.2f} of {speed:g} m/s, {self.turn[2]:.2f} of {rate:g} rad/s'
        return '; '.join(self.wrong) or f'stands, walks and turns: {done}'


def try_policy(robot_file: RobotFile, told: PolicyDescription) -> Trial:
    """Let a robot stand, walk ahead and turn by a policy as a description has it.

    Args:
        robot_file: With controller policy.
        told: Instead of its own description.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder, 'policy.yaml')
        told.write(file)
        robot_file = with_section(robot_file, 'policy', {'config': str(file)})
        # sensors are true here, and no policy is to be blamed for one that is doubted
        robot_file = with_section(robot_file, 'safety', {'lie_patience': 10**6})
        loop, plant = ControlLoop(robot_file, Policy.name), make_plant(robot_file)
    law = loop.controller
    assert isinstance(law, Policy)
    speed, rate = min(SPEED, told.limits[0]), min(RATE, told.limits[2])

    def lead(told: Measurement) -> None:
        wanted = (speed, 0.0, 0.0) if told.stamp < AHEAD else (0.0, 0.0, rate)
        loop.reference.velocity = np.array(wanted if told.stamp >= STAND else (0.0, 0.0, 0.0))

    run = run_plant(plant, loop, robot_file.start, TURN, before=lead)
    lasted = float(run.time[-1])
    found, wrong, slow = [], [], []
    if lasted < TURN - 1e-3:
        doing = 'standing' if lasted < STAND else 'walking ahead' if lasted < AHEAD else 'turning'
        reason = ending(run)['fault_reason'] or ending(run)['fall_reason']
        wrong.append(f'{doing}, it is over after {lasted:.1f} s: {reason}')
    for doing, begin, end, wanted, unit, axis in (
        ('walking ahead', STAND, AHEAD, speed, 'm/s', 0),
        ('turning', AHEAD, TURN, rate, 'rad/s', 2),
    ):
        first, last = np.searchsorted(run.time, (begin + SETTLING, end))
        ended = lasted < end - 1e-3
        velocity = np.full(3, np.nan) if ended else mean_velocity(run, first, last - 1)
        found.append(velocity)
        slow_by_nature = wanted < TURNING and axis == 2
        reached = 1.0 if slow_by_nature else np.nan_to_num(velocity[axis] / wanted, nan=1.0)
        if not LEAST <= reached <= MOST:
            slow.append(f'{doing}, it reaches {velocity[axis]:.2f} of {wanted:g} {unit}')
        others = np.delete(velocity, axis)
        if np.abs(others).max() > ASTRAY:
            wrong.append(f'{doing}, it goes astray by {np.abs(others).max():.2f} m/s or rad/s')
    asked = _asked_in_training(told, law.network.spreads())
    if not TRAINED[0] <= asked <= TRAINED[1]:
        slow.append(
            f'in training, commands varied {asked:.2f} times as much as the motion they met'
        )
    return Trial((*wrong, *slow), found[0], found[1], (speed, rate), not wrong)


def _asked_in_training(told: PolicyDescription, spreads: np.ndarray | None) -> float:
    """Return by how much commands varied in training over the motion; 1 where that is not known.

    Both turning, and walking ahead where the network sees its speed, by what the network divides
    them: a wrong scale of one of them stretches one and not the other.

    Args:
        told: The description.
        spreads: See `Network.spreads`.
    """
    if spreads is None:
        return 1.0
    ends = np.cumsum([told.count(term) for term in told.terms])
    seen = {
        # of its history the latest; what has a scale of 0 is not seen
        term.name: spreads[end - told.count(term) // term.history : end] / np.abs(term.scale)
        for term, end in zip(told.terms, ends, strict=True)
        if np.all(term.scale)
    }
    pairs = [
        (seen[command][axis], seen[motion][place])
        for command, axis, motion, place in (
            ('command', 2, 'base_angular_velocity', 2),
            ('command_turn', 0, 'base_angular_velocity', 2),
            ('command', 0, 'base_linear_velocity', 0),
        )
        if command in seen and motion in seen
        if seen[command][axis] > 0.0 and seen[motion][place] > 0.0  # trained without turning: 0
    ]
    return float(np.exp(np.mean([np.log(asked / moved) for asked, moved in pairs or [(1.0, 1.0)]])))


def find_mistakes(
    robot_file: RobotFile,
    told: PolicyDescription,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[Trial, list[tuple[str, Trial]]]:
    """Try a description, and where it is contradicted, what it may be mistaken for.

    Args:
        robot_file: With controller policy.
        told: The description.
        progress: Called with what is tried next.

    Returns:
        How it went as told, and (change, how it went) of each change of the first kind of which one
        mends it, the best first. If none does, those of any kind after which nothing is wrong but
        how fast it does as it is asked; none where nothing is wrong, or nothing else was.
    """
    first = try_policy(robot_file, told)
    groups: list[Callable[[RobotFile, PolicyDescription], Iterable[Change]]] = [
        _orders,
        _gravity,
        _defaults,
        _gains,
        _rates,
        _signs,
        _scales,
    ]
    # where it is too fast or slow and nothing else, the command first
    groups.insert(0 if first.only_slow else len(groups), _commands)
    nearly: list[tuple[str, Trial]] = []
    for group in groups if first.wrong else ():
        mended = []
        for words, changed in group(robot_file, told):
            progress(f'trying {words}')
            trial = try_policy(robot_file, changed)
            if not trial.wrong:
                mended.append((words, trial))
            elif trial.only_slow and not first.only_slow:
                nearly.append((words, trial))
        if mended:
            return first, sorted(mended, key=lambda pair: pair[1].error)
    return first, sorted(nearly, key=lambda pair: pair[1].error)


def _orders(robot_file: RobotFile, told: PolicyDescription) -> Iterator[Change]:
    """Yield other orders of the joints, each with the rows that go with the names, and without."""
    joints, robot, model = told.joints, robot_file.robot, Dynamics(robot_file.robot).model
    own = tuple(name for name in robot.actuators if name in joints.names)
    depths = {name: len(model.supports[model.getJointId(name)]) for name in own}
    orders = {
        "the robot's order of joints": own,
        'an order of joints by their depth, as Isaac Lab has it': (
            *sorted(own, key=lambda name: depths[name]),
        ),
        'joints of left and right exchanged': tuple(
            robot.mirror.get(name, (name, 1.0))[0] for name in joints.names
        ),
    }
    for words, names in orders.items():
        if names == joints.names or {*names} != {*joints.names}:
            continue
        yield f'{words}, numbers stay', _with(told, names=names)
        rows = [joints.names.index(name) for name in names]
        columns = {key: getattr(joints, key)[rows] for key in vars(joints) if key != 'names'}
        yield words, _with(told, names=names, **columns)


def _gravity(robot_file: RobotFile, told: PolicyDescription) -> Iterator[Change]:
    """Yield other axes of gravity."""
    yield from _scaled(
        told, 'projected_gravity', [(str(s), s) for s in ([-1, -1, -1], [-1, -1, 1], [1, 1, -1])]
    )


def _defaults(robot_file: RobotFile, told: PolicyDescription) -> Iterable[Change]:
    """Return other default angles."""
    robot = robot_file.robot
    places = [robot.joint_index(name) for name in told.joints.names]
    posture = np.array(robot_file.start.posture)[places]
    return [
        ('default angles of the start posture', _with(told, default=posture)),
        ('default angles of zero', _with(told, default=0.0 * posture)),
    ]


def _gains(robot_file: RobotFile, told: PolicyDescription) -> Iterable[Change]:
    """Return other stiffness and damping."""
    stiffness, damping = told.joints.stiffness, told.joints.damping
    return [
        *(
            (f'stiffness times {factor:g}', _with(told, stiffness=factor * stiffness))
            for factor in (0.25, 0.5, 2.0, 4.0)
        ),
        *(
            (f'damping times {factor:g}', _with(told, damping=factor * damping))
            for factor in ((0.1, 0.25, 4.0, 10.0) if damping.any() else ())
        ),
        *(
            (f'damping of {time:g} s times stiffness', _with(told, damping=time * stiffness))
            for time in (0.02, 0.06)  # damping over stiffness, s, of most
        ),
    ]


def _rates(robot_file: RobotFile, told: PolicyDescription) -> Iterable[Change]:
    """Return other rates of the network."""
    rates = (rate for rate in RATES if rate != told.rate)
    return [(f'a rate of {rate:g} Hz', replace(told, rate=rate)) for rate in rates]


def _signs(robot_file: RobotFile, told: PolicyDescription) -> Iterator[Change]:
    """Yield joints of the legs whose axis, and joints whose action, points the other way."""
    joints, leg = told.joints, leg_of_each_joint(robot_file.robot)
    usual = np.sign(np.median(joints.scale)) or 1.0
    for i, name in enumerate(joints.names):
        turned = np.where(np.arange(len(joints.names)) == i, -1.0, 1.0)
        scale = joints.scale * turned
        if joints.scale[i] * usual < 0.0:
            yield f'the sign of the scale of {name}', _with(told, scale=scale)
        if leg[name] is not None:
            axis = _with(told, scale=scale, default=joints.default * turned)
            yield (
                f'the sign of {name}',
                _rescaled(axis, {'joint_position', 'joint_velocity'}, turned),
            )


def _scales(robot_file: RobotFile, told: PolicyDescription) -> Iterator[Change]:
    """Yield other scales of what the network sees of the robot, or does not see."""
    for term in told.terms:
        if term.name != 'projected_gravity' and not term.name.startswith('command'):
            factors = [-1.0, 0.25, 4.0] + ([0.05, 20.0] if 'velocity' in term.name else [])
            yield from _scaled(told, term.name, [(f'{each:g}', each) for each in factors])


def _commands(robot_file: RobotFile, told: PolicyDescription) -> Iterable[Change]:
    """Return other scales of the command."""
    factors: list[tuple[str, Any]] = [(f'{each:g}', each) for each in (0.5, 2.0, 0.25, 4.0, -1.0)]
    parts = [(str(each), each) for each in ([2, 2, 0.25], [0.5, 0.5, 4], [1, 1, -1])]
    both = {'command_linear', 'command_turn'}
    whole = both <= {term.name for term in told.terms}
    return [
        *_scaled(told, 'command', factors + parts),
        *_scaled(told, 'command_linear', factors),
        *_scaled(told, 'command_turn', factors),
        *(
            (
                f'the whole command with its scale times {words}',
                _rescaled(told, both, factor),
            )
            for words, factor in (factors if whole else ())
        ),
    ]


def _scaled(
    told: PolicyDescription, name: str, factors: Sequence[tuple[str, Any]]
) -> Iterator[Change]:
    """Yield other scales of the terms of a name; of one that is not seen, that it is."""
    for i, term in enumerate(told.terms):
        blind = not np.any(term.scale)
        for words, factor in [(f'{each:g}', each) for each in BLIND] if blind else factors:
            if term.name == name:
                scale = np.asarray(factor) if blind else term.scale * np.asarray(factor)
                terms = (*told.terms[:i], replace(term, scale=scale), *told.terms[i + 1 :])
                said = f'a scale of {words}' if blind else f'its scale times {words}'
                yield f'{name} with {said}', replace(told, terms=terms)


def _rescaled(told: PolicyDescription, names: set[str], factor: Any) -> PolicyDescription:
    """Return a description with all terms of these names scaled."""
    terms = (
        replace(term, scale=term.scale * factor) if term.name in names else term
        for term in told.terms
    )
    return replace(told, terms=tuple(terms))


def _with(told: PolicyDescription, **columns: Any) -> PolicyDescription:
    """Return a description with other columns of its joints."""
    return replace(told, joints=replace(told.joints, **columns))
