# SPDX-License-Identifier: Apache-2.0
"""What a running system does beside telling numbers: clock, rates, gaps, rights; in plain words.

A listener's own delay cannot be told from that of the robot. What may be either is a remark, what
cannot be its fault a problem.
"""

from dataclasses import dataclass, field
import itertools
import time
from typing import Any

import numpy as np

from walking_control.controllers.registry import CONTROLLERS as LAWS
from walking_control.exceptions import InvalidInput
from walking_control.models.robot_file import RobotFile
from walking_control.ros.ros2_control import names
from walking_control.safety.arrivals import RATE_MARGIN
from walking_control.safety.parameters import SafetyParameters

CLOSE = 0.01  # rad or m from a limit, where a limiter takes efforts away
CLOCKS_AGREE = 1.0  # s
FIRST = 1.0  # s after the first effort that are looked at
ENOUGH = 5  # messages by which a rate is judged


@dataclass
class Seen:
    """What was seen of a system.

    Args:
        arrivals: Topic -> when each message was heard, and its stamp, s.
        clock: When each message on ``/clock`` was heard, and what it said, s.
        commands: When each command was heard, and whether it was an effort.
        alone: Whether nobody commanded at first.
        mismatches: Sentences on publishers that a subscriber cannot hear.
        parameters: Node -> name -> value of those that answered.
        statuses: Name -> level and message on ``/diagnostics``.
        priority: Highest real-time priority that this user may have.
    """

    # topic -> when each message was heard, and its stamp, s
    arrivals: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    # when each message on ``/clock`` was heard, and what it said, s
    clock: list[tuple[float, float]] = field(default_factory=list)
    # when each command was heard, and whether it was an effort
    commands: list[tuple[float, bool]] = field(default_factory=list)
    alone: bool = False  # whether nobody commanded at first
    # sentences on publishers that a subscriber cannot hear
    mismatches: list[str] = field(default_factory=list)
    # node -> name -> value of those that answered
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    # name -> level and message on ``/diagnostics``
    statuses: dict[str, tuple[int, str]] = field(default_factory=dict)
    priority: int = 0


@dataclass
class Diagnosis:
    """What came of it: facts by name, what is wrong, and what might be, each with a remedy."""

    facts: dict[str, str] = field(default_factory=dict)
    problems: list[InvalidInput] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def diagnose(robot_file: RobotFile, seen: Seen, position: np.ndarray | None) -> Diagnosis:
    """Judge what was `Seen`.

    Args:
        seen: What was seen.
        position: Of the joints, ``(n_joints,)``, or None where they were not heard.
    """
    found = Diagnosis()
    timeout = robot_file.values(SafetyParameters).state_timeout
    rate = robot_file.values(LAWS.find(robot_file.controller).parameters).rate
    pace = _judge_clock(found, seen)
    _judge_rates(found, seen, timeout, pace, rate)
    _judge_start(found, seen, timeout)
    found.problems += [
        InvalidInput(
            'topics', limit=words, remedy='let both say the same type and quality of service'
        )
        for words in seen.mismatches
    ]
    if position is not None:
        _judge_limiter(found, seen, robot_file, position)
    found.remarks += [
        f'{name} says: {message}'
        + (
            ': the simulator misses cycles of its manager; walks bear a tenth of them'
            if 'bad periodicity' in message and len(seen.clock) > 1
            else ''
        )
        for name, (level, message) in sorted(seen.statuses.items())
        if level
    ]
    found.facts['real-time priority'] = f'up to {seen.priority}' if seen.priority else 'none'
    if not seen.priority:
        found.remarks.append(
            'this user may have no real-time priority, so that a busy machine '
            'makes ticks late: "@realtime - rtprio 90" in '
            '/etc/security/limits.conf'
        )
    return found


def _judge_clock(found: Diagnosis, seen: Seen) -> float:
    """Say which clock there is; return its pace against the steady one, 1 without a simulated."""
    controller = seen.parameters.get(names.CONTROLLER, {})
    simulated = controller.get('use_sim_time')
    if len(seen.clock) < 2:
        found.facts['clock'] = f'steady: nobody publishes {names.CLOCK}'
        if simulated:
            found.problems.append(
                InvalidInput(
                    f'use_sim_time of {names.CONTROLLER}',
                    value=True,
                    limit=f'nobody publishes {names.CLOCK}',
                    remedy='set it to false, or start the simulator',
                )
            )
        rows = seen.arrivals.get(names.JOINT_STATES)
        if (
            rows
            and abs(off := rows[-1][1] - (rows[-1][0] + time.time() - time.monotonic()))
            > CLOCKS_AGREE
        ):
            found.remarks.append(
                f'{names.JOINT_STATES} is stamped {off:+.3g} s off the clock of '
                'this machine: another machine? Then let both keep time (chrony)'
            )
        return 1.0
    (first, start), (last, end) = seen.clock[0], seen.clock[-1]
    pace = (end - start) / max(last - first, 1e-9)
    found.facts['clock'] = f'simulated, {pace:.2g} of real time'
    if pace <= 0.0:
        found.problems.append(
            InvalidInput(
                names.CLOCK,
                value=f'{end:.3f} s',
                limit='must advance',
                remedy='unpause the simulator; end a second one',
            )
        )
    elif simulated is False and controller.get('realtime'):
        found.problems.append(
            InvalidInput(
                f'use_sim_time of {names.CONTROLLER}',
                value=False,
                limit=f'{names.CLOCK} is there',
                remedy='set it to true, so that silence is judged in simulated time',
            )
        )
    return pace if pace > 0.0 else 1.0


def _judge_rates(found: Diagnosis, seen: Seen, timeout: float, pace: float, rate: float) -> None:
    """Judge how often sensors come; the joint states set the pace of a law of a rate, Hz."""
    rates = {}
    for topic, rows in seen.arrivals.items():
        heard, stamps = np.array(rows).reshape(-1, 2).T
        steps = np.diff(np.unique(stamps))
        if len(steps) < ENOUGH:
            continue
        period = float(np.median(steps))
        jitter = float(np.percentile(np.abs(steps - period), 99))
        rates[topic] = f'{topic} {1.0 / period:.4g} Hz +- {1e3 * jitter:.2f} ms'
        # this listener misses some of them: most steps may be of two
        slow = topic == names.JOINT_STATES and np.percentile(steps, 10) * RATE_MARGIN * rate > 1.0
        if slow or period > RATE_MARGIN * timeout:
            least, by, remedy = (
                (
                    RATE_MARGIN * rate,
                    f'the rate of the law, {rate:g} Hz',
                    f'raise update_rate of {names.MANAGER}',
                )
                if slow
                else (
                    1.0 / (RATE_MARGIN * timeout),
                    'safety.state_timeout',
                    'raise the rate of its broadcaster, or safety.state_timeout',
                )
            )
            found.problems.append(
                InvalidInput(
                    topic,
                    value=f'{1.0 / period:.3g} Hz',
                    limit=f'must come at {least:.3g} Hz or more, by {by}',
                    remedy=remedy,
                )
            )
        elif (gap := float(np.max(np.diff(heard))) * pace) > timeout:
            found.remarks.append(
                f'{topic} was not heard for {1e3 * gap:.0f} ms once, safety.state_timeout is '
                f'{1e3 * timeout:.0f} ms: give {names.MANAGER} a real-time priority, or raise it'
            )
    if rates:
        found.facts['rates'] = ', '.join(rates.values())


def _judge_start(found: Diagnosis, seen: Seen, timeout: float) -> None:
    """Look for gaps of the commands after the first effort, if that was heard."""
    times = [when for when, _ in seen.commands]
    first = next((when for when, effort in seen.commands if effort), None)
    if first is None or first == times[0] and not seen.alone or times[-1] < first + FIRST:
        found.remarks.append(
            'the first second of a walk was not heard: begin one while --seconds '
            'last, and its gaps are judged'
        )
        return
    gap = max(
        (b - a for a, b in itertools.pairwise(times) if first <= a < first + FIRST), default=0.0
    )
    found.facts['first second'] = f'largest gap of the commands {1e3 * gap:.0f} ms'
    if gap > timeout:
        found.remarks.append(
            f'{names.EFFORT_COMMANDS} was not heard for {1e3 * gap:.0f} ms in the first second: '
            'give the controller a real-time priority, or look for what else begins then'
        )


def _judge_limiter(
    found: Diagnosis, seen: Seen, robot_file: RobotFile, position: np.ndarray
) -> None:
    enforced = seen.parameters.get(names.MANAGER, {}).get('enforce_command_limits')
    if enforced is not None:
        found.facts['enforce_command_limits'] = str(enforced).lower()
    if not enforced:
        return
    robot = robot_file.robot
    close = [
        joint
        for joint, value in zip(robot.joints, position)
        if not robot.limits[joint].lower + CLOSE < value < robot.limits[joint].upper - CLOSE
    ]
    if close:
        found.problems.append(
            InvalidInput(
                f'enforce_command_limits of {names.MANAGER}',
                value=True,
                limit='takes away every '
                f'effort past a position limit, and there stands {", ".join(close)}',
                remedy='set it to false, or give that limit a margin in the URDF',
            )
        )
