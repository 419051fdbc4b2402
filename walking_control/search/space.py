# SPDX-License-Identifier: Apache-2.0
"""Efficient gaits of bipeds on soles in space: what of the motors' energy a step costs least.

The robot stands on one flat sole, its joints are polynomials of time, and left and right change
places at each touchdown. The cost is copper loss and positive power of each joint per weight and
distance. Where a joint's rms effort is more than its motor bears for good, by the thermal data that
the robot file tells, its heat is counted dearer until it is not: the price is the bound's Lagrange
multiplier. The search begins from a compass of bent legs that the start posture of the robot file
bends, and, over a family of speeds, from the gait of the speed before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
import time

import numpy as np

from walking_control.exceptions import InvalidInput, require
from walking_control.gaits import COARSE, evaluation, Gait, judge_step, on_slope, Phase, points
from walking_control.models import (
    floor_gravity,
    heating,
    hip_height,
    Robot,
    RobotFile,
    Scale,
    step_parameters,
    World,
)
from walking_control.models.space_equations import space_equations, SpaceEquations
from walking_control.search import (
    Adaptation,
    Attempt,
    find_adaptation,
    Numbers,
    SearchParameters,
    Shape,
    solve_program,
    SpaceSearchParameters,
    unknowns,
)
from walking_control.search.problem import assemble, Program
from walking_control.search.space_blocks import step_block, TASK, touchdown_block
from walking_control.search.space_guess import follow_poses

SMOOTH = 0.002  # of weight times sqrt(g l): power below which a joint's sign of power is blurred
HEAT = 0.8  # of the same: copper loss at full effort of motors of unknown winding
STOP = 0.02  # rad: how far a gait stays from joint stops
CROUCH = 0.94  # of the height of the hips over the soles at zero angles: where a guess walks
FAST = 20.0  # rad in sqrt(l / g): rates that no gait reaches
AIR = 25.0  # C, around motors that bear their rms effort for good
WARMER = 0.01  # of that effort: how much more a gait may ask for
DEARER = 4  # power of its excess by which the heat of a joint gets dearer in a round
ROUNDS = 8  # searches until the heat of each joint has its price
EACH = ' of joint '  # in the name of a constraint: before the index of a joint
PERIODS = 0.4, 3.0  # of sqrt(l / g): shortest and longest step of a free time


@dataclass(frozen=True)
class SpaceResult:
    """What a search in space found, converged or not.

    Attributes:
        attempt: The solver's, see `Attempt`.
        gait: `Gait` of one phase: the robot's joints on its first foot.
        speed: Along the floor, m/s.
        slope: Of the floor, rad, downhill positive.
        values: `SpaceSearchParameters`.
        parameters: Adapted numbers by their name in the robot file.
        solve_time, build_time: s.
    """

    attempt: Attempt
    gait: Gait
    speed: float
    slope: float
    values: SpaceSearchParameters
    parameters: dict[str, float]
    solve_time: float
    build_time: float


@lru_cache(maxsize=4)
def _program(
    equations: SpaceEquations,
    degree: int,
    nodes: int,
    adapted: int,
    size: int,
    width: bool,
    iterations: int,
) -> Program:
    """Return the program; robots with one skeleton share it."""
    begin = time.perf_counter()
    shape = Shape(degree, nodes, 'lobatto', ((),), adapted)
    of_joints = dict.fromkeys(('copper', 'limits', 'rates'), equations.n)
    numbers = Numbers(size, adapted, of_joints, TASK)
    blocks = [
        step_block(equations, shape, numbers),
        touchdown_block(equations, shape, numbers, width),
    ]
    return assemble(
        blocks,
        unknowns(shape, equations.n),
        numbers.symbol.shape[0],
        (
            ('max_iter', iterations),
            ('mu_strategy', 'monotone'),
            ('mu_init', 1e-5),
            ('tol', 1e-7),
            ('acceptable_iter', 0),
        ),
        begin,
    )


class SpaceSearch:
    """A biped on soles and what its gaits are searched with.

    Args:
        optimise: Of ``'spring'``, ``'damper'``, ``'mass'``: what of the mechanics may change.
        progress: Called with a line of text now and then.

    Raises:
        InvalidInput: The robot is no biped with two mirrored legs of six joints on soles, or one
            leg is heavier or longer.
        MissingDependency: CasADi is not installed.
    """

    def __init__(
        self,
        robot_file: RobotFile,
        optimise: Sequence[str] = (),
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.progress = progress or (lambda text: None)
        self.robot_file, self.equations = robot_file, space_equations(robot_file.robot)
        self.robot = _with_shared_limits(robot_file.robot, self.equations.mirror, self.progress)
        self.gravity = robot_file.values(World).gravity
        self.theta = step_parameters(self.robot, self.gravity, 0.0)
        self.general = robot_file.values(SearchParameters)
        self.adaptation: Adaptation = find_adaptation(
            robot_file, self.theta, optimise, self.general
        )
        self.sole = sole_size(robot_file)
        self.scale = robot_file.scale
        self.weight = self.scale.mass * self.gravity

    def find(
        self,
        values: SpaceSearchParameters,
        speed: float,
        start: Gait | None = None,
        slope: float = 0.0,
        strength: float = 1.0,
    ) -> SpaceResult:
        """Return the gait of a speed on a slope, searched from a `Gait` such as its neighbour's.

        Args:
            values: What is asked of it.
            speed: Along the floor, backwards below 0, m/s.
            start: Where the search begins; None takes a guess.
            slope: Of the floor, rad, downhill positive.
            strength: How many times as strong and fast motors are thought to be.
        """
        robot, price = self.robot, np.ones(self.equations.n)
        told = dict(zip(robot.actuators, heating(robot).continuous(AIR).tolist()))
        borne = strength * np.array(
            [told[joint] if joint in robot.thermal else np.inf for joint in robot.joints]
        )
        for _ in range(ROUNDS):
            result = self._search(values, speed, start, slope, strength, price)
            if not result.attempt.converged or np.isinf(borne).all():
                return result
            judged = judge_step(robot, result.gait, self.gravity, slope, COARSE)
            warmth, start = judged.rms_effort / borne, result.gait
            hottest = int(warmth.argmax())
            if warmth[hottest] <= 1.0 + WARMER:
                return result
            # the price of its heat at which a joint is as warm as it may be
            price *= np.maximum(warmth, 1.0) ** DEARER
        attempt = replace(
            result.attempt,
            converged=False,
            status='too warm',
            worst=f'continuous effort of {robot.joints[hottest]}',
            violation=float(warmth[hottest] - 1.0),
        )
        return replace(result, attempt=attempt)

    def _search(
        self,
        values: SpaceSearchParameters,
        speed: float,
        start: Gait | None,
        slope: float,
        strength: float,
        price: np.ndarray,
    ) -> SpaceResult:
        """Return the gait at prices of the joints' heat, ``(n,)``."""
        general, (lower, upper) = self.general, self._bounds(values)
        program = _program(
            self.equations,
            general.degree,
            general.nodes,
            len(self.adaptation.start),
            len(self.theta),
            values.gait_width > 0.0,
            general.max_iterations,
        )
        gait = self.guess(values, speed) if start is None else start
        grid = evaluation(gait.phases[0].degree, points(general.degree)) @ gait.phases[0].values
        x = np.concatenate([grid.ravel(order='F'), [gait.period], self.adaptation.start])
        numbers = self._numbers(values, speed, slope, strength, price)
        attempt, spent = solve_program(program, np.clip(x, lower, upper), numbers, lower, upper)
        attempt, x = replace(attempt, worst=self._in_words(attempt.worst)), attempt.x
        self.progress(
            f'{speed:.3g} m/s{on_slope(slope)}: {attempt.status}, cost {attempt.cost:.4g}, '
            f'{attempt.iterations} iterations, {spent:.1f} s'
        )
        n = self.equations.n
        size = (general.degree + 1) * n
        found = Gait((Phase(float(x[size]), x[:size].reshape(-1, n, order='F')),))
        return SpaceResult(
            attempt,
            found,
            speed,
            slope,
            values,
            self.adaptation.name(x[size + 1 :]),
            spent,
            program.build_time,
        )

    def _in_words(self, worst: str) -> str:
        """Return what a constraint is about, the joint by its name."""
        what, _, joint = worst.partition(EACH)
        return f'{what} of {self.robot.joints[int(joint)]}' if joint else what

    def limits(self, values: SpaceSearchParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest efforts (N m) and rates (rad/s) that a gait may ask of the joints."""
        rates = [
            min(self.robot.limits[joint].velocity, FAST / self.scale.time)
            for joint in self.robot.joints
        ]
        efforts = self.robot.effort_limits[: len(self.robot.joints)]
        return values.motor_share * efforts, values.rate_share * np.array(rates)

    def _numbers(
        self,
        values: SpaceSearchParameters,
        speed: float,
        slope: float,
        strength: float,
        price: np.ndarray,
    ) -> np.ndarray:
        """Return the parameters of the program."""
        limits, rates = (strength * most for most in self.limits(values))
        power = self.weight * np.sqrt(self.gravity * self.scale.length)
        wound = wind(self.robot, self.scale).actuators
        copper = [
            rise * wound[joint].resistance / wound[joint].torque_per_ampere ** 2
            for joint, rise in zip(self.robot.joints, price.tolist(), strict=True)
        ]
        half = 0.5 * values.sole_share * np.array(self.sole)
        task = [
            speed,
            values.gait_width,
            values.sole_clearance,
            values.least_gap,
            values.base_tilt,
            values.fastest_landing,
            values.landing_slip,
            values.relied_friction,
            *half,
            *(0.5 * np.array(self.sole)),
            self.weight,
            SMOOTH * power,
            values.exchange,
        ]
        still = self.theta - self.adaptation.columns @ self.adaptation.base
        still[:3] = floor_gravity(self.gravity, slope)
        return np.concatenate(
            [still, np.ravel(self.adaptation.columns, order='F'), copper, limits, rates, task]
        )

    def _bounds(self, values: SpaceSearchParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of the unknowns: joint limits, knees bent, time, mechanics."""
        limits = (self.robot.limits[joint] for joint in self.robot.joints)
        low, high = np.array([(limit.lower + STOP, limit.upper - STOP) for limit in limits]).T
        for knee, way in self._knees():
            if way > 0.0:
                low[knee] = max(low[knee], values.least_bend)
            else:
                high[knee] = min(high[knee], -values.least_bend)
        for joint, least, most in zip(self.robot.joints, low, high, strict=True):
            require(
                least < most,
                f'joint {joint}',
                value=f'from {self.robot.limits[joint].lower:g} to '
                f'{self.robot.limits[joint].upper:g} rad',
                limit=f'leaves a gait no room: it keeps {STOP:g} rad from each stop, and bends '
                f'knees by {values.least_bend:g} rad at least',
                remedy='wider limits in the description, or a smaller space_search.least_bend',
            )
        times = (
            (values.gait_time,) * 2
            if values.gait_time > 0.0
            else [factor * self.scale.time for factor in PERIODS]
        )
        return (
            np.concatenate(
                [np.repeat(low, self.general.degree + 1), [times[0]], self.adaptation.lower]
            ),
            np.concatenate(
                [np.repeat(high, self.general.degree + 1), [times[1]], self.adaptation.upper]
            ),
        )

    def _knees(self) -> list[tuple[int, float]]:
        """Return of each leg the joint that the start posture bends most, and which way."""
        posture = self.robot_file.start.posture
        if (
            posture is None
            or min(np.abs(posture[list(leg)]).max() for leg in self.equations.legs) < 0.05
        ):
            raise InvalidInput(
                'start.posture',
                limit='must bend the knees: a gait search begins there',
                remedy='write the angle of each knee',
            )
        return [
            max(((joint, float(posture[joint])) for joint in leg), key=lambda pair: abs(pair[1]))
            for leg in self.equations.legs
        ]

    def guess(self, values: SpaceSearchParameters, speed: float) -> Gait:
        """Return a first guess: base and foot on smooth paths, joints by inverse kinematics.

        Args:
            values: `SpaceSearchParameters`.
            speed: m/s.
        """
        period = values.gait_time or 1.4 * self.scale.time
        width = values.gait_width or 1.3 * values.least_gap
        length, s = speed * period, points(self.general.degree)
        height = self.scale.length * min(CROUCH, np.sqrt(1.0 - (0.35 * length) ** 2))
        height -= hip_height(self.robot)
        rise = 1.5 * values.sole_clearance * np.sin(np.pi * s) ** 2
        swing = np.stack(
            [length * (1.0 - 2.0 * (0.5 + 0.5 * np.cos(np.pi * s))), np.full_like(s, -width), rise],
            axis=1,
        )
        base = np.stack(
            [
                length * (s - 0.5),
                -0.5 * width + 0.1 * width * np.sin(np.pi * s),
                np.full_like(s, height),
            ],
            axis=1,
        )
        assert self.robot_file.start.posture is not None
        return Gait(
            (
                Phase(
                    period, follow_poses(self.equations, swing, base, self.robot_file.start.posture)
                ),
            )
        )


def _with_shared_limits(robot: Robot, mirror: np.ndarray, progress: Callable[[str], None]) -> Robot:
    """Return a robot each of whose joints keeps to what its partner on the other leg can do too."""
    limits = {}
    for joint, row in zip(robot.joints, mirror):
        own, other = robot.limits[joint], robot.limits[robot.joints[int(np.abs(row).argmax())]]
        ends = sorted((row.sum() * other.lower, row.sum() * other.upper))
        limits[joint] = replace(
            own,
            lower=max(own.lower, ends[0]),
            upper=min(own.upper, ends[1]),
            effort=min(own.effort, other.effort),
            velocity=min(own.velocity, other.velocity),
        )
        if limits[joint] != own:
            progress(
                f'{joint} keeps to what the other leg can do too: '
                'from {lower:g} to {upper:g} rad, {effort:g} N m, {velocity:g} rad/s'.format(
                    **vars(limits[joint])
                )
            )
    return replace(robot, limits=limits)


def wind(robot: Robot, scale: Scale) -> Robot:
    """Return a robot whose motors have windings: as told, or, if none is, assumed ones.

    Args:
        robot: The `Robot`.
        scale: Its `Scale`; a motor at its effort limit then heats by `HEAT` m g sqrt(g L).
    """
    if any(motor.resistance for motor in robot.actuators.values()):
        return robot
    heat = HEAT * scale.mass * scale.gravity * np.sqrt(scale.gravity * scale.length)
    return replace(
        robot,
        actuators={
            joint: replace(motor, resistance=heat * (motor.torque_per_ampere / limit) ** 2)
            for (joint, motor), limit in zip(robot.actuators.items(), robot.effort_limits.tolist())
        },
    )


def sole_size(robot_file: RobotFile) -> tuple[float, float]:
    """Return length and width of the soles that a law may rely on, m.

    Raises:
        InvalidInput: The robot file says nothing of them.
    """
    section = robot_file.sections.get('stepping', {})
    length, width = (float(section.get(name, 0.0)) for name in ('sole_length', 'sole_width'))
    require(
        min(length, width) > 0.0,
        'stepping.sole_length, stepping.sole_width',
        value=(length, width),
        limit='must be the size of the soles for a gait in space',
        remedy='adopt with --sole; robots on point feet walk by stepping',
    )
    return length, width
