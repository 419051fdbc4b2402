# SPDX-License-Identifier: Apache-2.0
"""Reasons for postures that cannot be held, under joint noise: are they right, when are they known?

For each noise it makes as many impossible postures as asked for, in seven ways. A row says how many
reasons cure the case when every named limit is lifted by its amount, how many do not at 2 % less,
how many begin with what was put there, how far the stated distance of a leaning robot is from the
true one, and the thread time of the verdict (least of three; how many single ones took above
300 us) and of the longest step of an explanation.

    python benchmarks/static_reasons.py [--count 1000] [--seed 0]

What is wrong with a posture is known because it was put there; joint noise then moves the soles
apart, as encoders do. A reason is right when lifting every limit it names by the stated amount
makes the posture possible, lifting them by 2 % less does not, and it begins with what was put
there.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import math
import time
from typing import Any

from lifting import lift
import numpy as np

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.pose import unit_quaternion
from walking_control.statics.contacts import (
    CENTRE_OF_PRESSURE,
    Contact,
    FRICTION,
    LEAST_FORCE,
    MAX_FORCE,
    Shortfall,
    TORQUE,
    TORSION,
    UNILATERAL,
)
from walking_control.statics.distributor import StaticTorque

NOISES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)  # rad, standard deviation of every joint
LENGTH, WIDTH, FRICTION_GIVEN = 0.20, 0.10, 0.7  # of the humanoid's soles
_SPARE = 0.98
_EDGE = 0.005  # m: a centre of mass less far outside a sole is not sent, noise might bring it back


@dataclass
class Case:
    """A posture that something makes impossible.

    Args:
        kind: What: a key of `KINDS`.
        distributor: The `StaticTorque`.
        q: Configuration without noise, ``(nq,)``.
        support: Names of the contacts in use.
        caps: contact -> largest normal force, N.
    """

    kind: str
    distributor: StaticTorque
    q: np.ndarray
    support: tuple[str, ...] = ('left', 'right')
    caps: Mapping[str, float] | None = None


@dataclass
class Verdict:
    """What was said of a case.

    Args:
        case: The `Case`.
        q: The configuration with noise, ``(nq,)``.
        shortfalls: The reason.
        cured: Whether lifting all of them by their amounts makes the posture possible.
        least: Whether lifting them by 2 % less does not.
        named: Whether the first is what was put there.
        verdict_times: Thread time until "infeasible", three times, s.
        step_time: Longest thread time of one step of the explanation, s.
    """

    case: Case
    q: np.ndarray
    shortfalls: tuple[Shortfall, ...]
    cured: bool
    least: bool
    named: bool
    verdict_times: tuple[float, ...]
    step_time: float


class Humanoid:
    """The humanoid, and ways to make its start posture impossible."""

    def __init__(self) -> None:
        file = load_robot('humanoid')
        assert file.start.posture is not None
        self.dynamics, self.posture = Dynamics(file.robot), file.start.posture
        self.limits = self.dynamics.effort_limits()

    def soles(self, **changes: Any) -> dict[str, Contact]:
        """Return the contacts of both feet."""
        values = {'length': LENGTH, 'width': WIDTH, 'friction': FRICTION_GIVEN, **changes}
        return {side: Contact(f'{side}_sole', **values) for side in ('left', 'right')}

    def outside(self, q: np.ndarray) -> float:
        """Return how far the centre of mass is beyond the toes or heels of level soles, m."""
        place, rotation = self.dynamics.placement(q, self.dynamics.frame('left_sole'))
        return float(
            abs((rotation.T @ (self.dynamics.center_of_mass(q) - place))[0]) - 0.5 * LENGTH
        )

    def lean(self, rng: np.random.Generator) -> Case | None:
        """Lean over toes or heels, both soles flat."""
        angle = rng.uniform(-0.5, 0.5)
        posture = self.posture.copy()
        for side in ('left', 'right'):
            posture[self.dynamics.joints.index(f'{side}_ankle_pitch')] -= angle
        q = self.dynamics.configuration(posture, _turn(0.0, angle))
        if self.outside(q) < _EDGE:
            return None
        return Case('lean', StaticTorque(self.dynamics, self.soles()), q)

    def one_leg(self, rng: np.random.Generator) -> Case:
        """Stand on one leg with the weight between both."""
        side = ('left', 'right')[rng.integers(2)]
        return Case('one_leg', StaticTorque(self.dynamics, self.soles()), self._any(rng), (side,))

    def slope(self, rng: np.random.Generator) -> Case:
        """Stand with tilted soles on a floor too slippery for it."""
        roll, pitch = rng.uniform(0.03, 0.1, 2) * rng.choice([-1.0, 1.0], 2)
        friction = rng.uniform(0.1, 0.6) * math.hypot(roll, pitch)
        # wide soles: the weight stays above them
        return Case(
            'slope',
            StaticTorque(self.dynamics, self.soles(friction=friction, length=1.0, width=1.0)),
            self.dynamics.configuration(self.posture, _turn(roll, pitch)),
        )

    def weak(self, rng: np.random.Generator) -> Case:
        """Have motors that cannot hold the knees or arms."""
        efforts = dict(
            zip(self.dynamics.joints, self.limits * rng.uniform(0.001, 0.02, len(self.limits)))
        )
        return Case(
            'weak', StaticTorque(self.dynamics, self.soles(), effort_limits=efforts), self._any(rng)
        )

    def capped(self, rng: np.random.Generator) -> Case:
        """Have to unload a foot that the weight needs."""
        return Case(
            'capped',
            StaticTorque(self.dynamics, self.soles()),
            self.dynamics.configuration(self.posture),
            caps={'right': rng.uniform(1.0, 40.0)},
        )

    def pressed(self, rng: np.random.Generator) -> Case:
        """Have to press harder than the weight does."""
        least = rng.uniform(0.6, 1.5) * self.dynamics.weight
        return Case(
            'pressed',
            StaticTorque(self.dynamics, self.soles(min_force=least)),
            self.dynamics.configuration(self.posture),
        )

    def hanging(self, rng: np.random.Generator) -> Case:
        """Hang from the ceiling."""
        roll, pitch = rng.uniform(-0.1, 0.1, 2)
        return Case(
            'hanging',
            StaticTorque(self.dynamics, self.soles()),
            self.dynamics.configuration(self.posture, _turn(math.pi + roll, pitch)),
        )

    def _any(self, rng: np.random.Generator) -> np.ndarray:
        """Return the start posture with the arms anyhow, soles level."""
        posture = self.posture.copy()
        for i, joint in enumerate(self.dynamics.joints):
            if 'shoulder' in joint or 'elbow' in joint:
                posture[i] += rng.uniform(-0.1, 0.1)
        return self.dynamics.configuration(posture)


# kind of case -> the limits that may be named first, the robot's method
KINDS: dict[str, tuple[tuple[str, ...], Callable[..., Case | None]]] = {
    'lean': ((CENTRE_OF_PRESSURE,), Humanoid.lean),
    'one_leg': ((CENTRE_OF_PRESSURE,), Humanoid.one_leg),
    'slope': ((FRICTION, TORSION), Humanoid.slope),
    'weak': ((TORQUE,), Humanoid.weak),
    'capped': ((MAX_FORCE,), Humanoid.capped),
    'pressed': ((LEAST_FORCE,), Humanoid.pressed),
    'hanging': ((UNILATERAL,), Humanoid.hanging),
}


def judge_reasons(noise: float, count: int, seed: int = 0) -> Iterator[Verdict]:
    """Yield the `Verdict` of one impossible posture after the other, kinds in turn.

    Args:
        noise: Standard deviation of every joint's position, rad.
        count: How many.
        seed: Of all that is random.
    """
    rng, robot = np.random.default_rng(seed), Humanoid()
    kinds = list(KINDS.values())
    done = 0
    while done < count:
        case = kinds[done % len(kinds)][1](robot, rng)
        if case is None:
            continue
        q = case.q.copy()
        q[robot.dynamics.base.nq :] += noise * rng.standard_normal(len(robot.posture))
        verdict = judge(case, q)
        if verdict is not None:
            done += 1
            yield verdict


def judge(case: Case, q: np.ndarray) -> Verdict | None:
    """Return what is said of a case at a configuration; None where the posture can be held."""
    case.distributor.solve(q, case.support, case.caps, measured=True)  # lays out the program
    times = []
    for _ in range(3):
        start = time.thread_time()
        solution = case.distributor.solve(q, case.support, case.caps, measured=True)
        times.append(time.thread_time() - start)
    if solution.explanation is None:
        return None
    longest, known = 0.0, False
    while not known:
        start = time.thread_time()
        known = solution.explanation.step()
        longest = max(longest, time.thread_time() - start)
    found = solution.shortfalls
    spared = [Shortfall(s.limit, s.where, _SPARE * s.amount) for s in found]
    return Verdict(
        case,
        q,
        found,
        _holds(case, q, found),
        not _holds(case, q, spared),
        found[0].limit in KINDS[case.kind][0],
        tuple(times),
        longest,
    )


def _holds(case: Case, q: np.ndarray, shortfalls: tuple[Shortfall, ...] | list[Shortfall]) -> bool:
    distributor, caps = lift(case.distributor, shortfalls, case.caps)
    return distributor.solve(q, case.support, caps).feasible


def _turn(roll: float, pitch: float) -> tuple[float, float, float, float]:
    """Return the quaternion (xyzw) of a pitch after a roll."""
    a, b, c, d = (
        math.sin(0.5 * roll),
        math.cos(0.5 * roll),
        math.sin(0.5 * pitch),
        math.cos(0.5 * pitch),
    )
    return unit_quaternion((a * d, b * c, -a * c, b * d))


def main():
    """Print a row for each noise, then what was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    robot = Humanoid()
    print(
        '| noise, rad | cured | not at 2 % less | named | of which centre of pressure | lean off '
        'by, m | verdict us: median, 99 %, max | above 300 us | step us: median, max |'
    )
    print('|---|---|---|---|---|---|---|---|---|')
    wrong = []
    for noise in NOISES:
        found = list(judge_reasons(noise, options.count, options.seed))
        pressure = [v for v in found if CENTRE_OF_PRESSURE in KINDS[v.case.kind][0]]
        off = [
            abs(v.shortfalls[0].amount - robot.outside(v.case.q))
            for v in found
            if v.case.kind == 'lean' and v.named
        ]
        single = 1e6 * np.array([v.verdict_times for v in found])
        verdict = single.min(axis=1)
        step = 1e6 * np.array([v.step_time for v in found])
        print(
            f'| {noise:g} | {sum(v.cured for v in found)} of {len(found)} '
            f'| {sum(v.least for v in found)} | {sum(v.named for v in found)} '
            f'| {sum(v.named for v in pressure)} of {len(pressure)} | {max(off):.2g} '
            f'| {np.median(verdict):.0f}, {np.percentile(verdict, 99):.0f}, {verdict.max():.0f} '
            f'| {(single > 300.0).sum()} of {single.size} '
            f'| {np.median(step):.0f}, {step.max():.0f} |'
        )
        wrong += [(noise, v) for v in found if not (v.cured and v.least and v.named)]
    for noise, v in wrong[:20]:
        print(
            f'noise {noise:g}, {v.case.kind}: cured {v.cured}, least {v.least}, named {v.named}: '
            + '; '.join(map(str, v.shortfalls))
        )


if __name__ == '__main__':
    main()
