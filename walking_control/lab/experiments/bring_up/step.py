# SPDX-License-Identifier: Apache-2.0
"""Steps of bringing a robot up, and those that every robot goes through."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
import time
from typing import Any, NamedTuple

from walking_control.exceptions import NotAchieved
from walking_control.lab.experiments import check_robot, why_it_stopped
from walking_control.loading import load_robot
from walking_control.models import RobotFile
from walking_control.runs import Run, summarize
from walking_control.simulation.simulate import simulate

KEPT = (
    'duration',
    'steps',
    'distance',
    'speed',
    'peak_effort',
    'min_normal_force',
    'max_friction_ratio',
    'step_time',
    'step_length',
)
PATIENCE = 120.0  # s of processor time for a walk


@dataclass
class Outcome:
    """What came of a step.

    Args:
        ok: Whether it passed.
        what: In words what was found, or what stands in the way.
        value: The number that decided.
        limit: The limit it was held against, in words.
        remedy: What to do about it.
        figures: name -> number or text, for the report.
        files: Paths of what was written.
        robot_file: The robot file to go on with; empty: the one before.
        share: Of what it tried that passed; the steps after it go on, whatever it is.
    """

    ok: bool
    what: str
    value: Any = None
    limit: str | None = None
    remedy: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    robot_file: str = ''
    share: float = 1.0

    @property
    def verdict(self) -> str:
        """Return in a word or two whether it passed."""
        if not self.ok or self.share <= 0.0:
            return 'not passed'
        return 'passed' if self.share >= 1.0 else 'passed in part'


@dataclass
class Site:
    """Where a robot is brought up, and how.

    Args:
        path: Of the robot file that was given.
        folder: Where everything is written.
        speed: Asked for, m/s; None: found.
        duration: Of the walk that counts, s.
        evaluations: Points that tuning tries.
        seed: Of everything that is random.
        gaits: Whether only what leads to gaits of its own is done.
        current: Of the robot file to go on with.
        done: name -> `Outcome` of the steps before.
        progress: Called with a line of text now and then.
        more: `Step` after `Step` to be done at the end.
    """

    path: Path  #: of the robot file that was given
    folder: Path  #: where everything is written
    speed: float | None = None  #: asked for, m/s; None: found
    duration: float = 20.0  #: of the walk that counts, s
    evaluations: int = 12  #: points that tuning tries
    seed: int = 0  #: of everything that is random
    gaits: bool = False  #: whether only what leads to gaits of its own is done
    current: Path = Path()  #: of the robot file to go on with
    done: dict[str, Outcome] = field(default_factory=dict)  #: name -> `Outcome` of the steps before
    progress: Callable[[str], None] = print  #: called with a line of text now and then
    more: tuple['Step', ...] = ()  #: `Step` after `Step` to be done at the end

    def load(self, **overrides: Any) -> RobotFile:
        """Return the `RobotFile` to go on with."""
        return load_robot(
            self.current, [(name.replace('__', '.'), value) for name, value in overrides.items()]
        )

    def options(self) -> dict[str, Any]:
        """Return what steps depend on beside the robot."""
        return {
            'speed': self.speed,
            'duration': self.duration,
            'evaluations': self.evaluations,
            'seed': self.seed,
        }

    def keep_tuned(self, found: dict[str, Any]) -> Outcome:
        """Write what `tune` found and return it as the `Outcome` to go on with."""
        written = self.folder / f'{found["robot_file"].robot.name}_tuned.yaml'
        found['robot_file'].write(written)
        before = '' if found['cost_before'] is None else f' from {found["cost_before"]:.4g}'
        return Outcome(
            True,
            f'cost of transport {found["cost"]:.4g}{before}',
            found['cost'],
            figures=found['parameters'],
            robot_file=str(written),
        )


class Step(NamedTuple):
    """A step.

    Args:
        name: Its name.
        needs: Names of the steps that must have passed.
        run: Does it, given the `Site`.
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[Site], Outcome]


def check_step(site: Site) -> Outcome:
    """Say whether the robot file can be used."""
    result = check_robot(site.current)
    facts = {
        name: value
        for name, value in result['facts'].items()
        if name in ('mass', 'plants', 'controllers', 'start')
    }
    if result['ok']:
        return Outcome(True, f'usable, {facts.get("mass")} kg', figures=facts)
    first = result['problems'][0]
    return Outcome(
        False, str(first['what']), first['value'], first['limit'], first['remedy'], facts
    )


def walk(
    site: Site, robot_file: RobotFile, plant: str, duration: float, disturb: Sequence[str] = ()
) -> Outcome:
    """Return the `Outcome` of a walk with a robot file's own law.

    Args:
        duration: s.
        disturb: Disturbances on the way.
    """
    run = simulate(
        robot_file, plant=plant, duration=duration, disturb=disturb, progress=_lose_patience(plant)
    )
    return judge_walk(run, duration)


def _lose_patience(plant: str) -> Callable[[float], None]:
    """Return what ends a walk that costs too much processor time, such as one that chatters."""
    begin = time.process_time()

    def check(simulated: float) -> None:
        if time.process_time() - begin > PATIENCE:
            raise NotAchieved(
                f'walk in plant {plant}',
                value=round(simulated, 2),
                limit=f's walked in {PATIENCE:g} s of processor time',
                remedy='a shorter --duration, or see why: walking_control simulate',
            )

    return check


def judge_walk(run: Run, duration: float) -> Outcome:
    """Return the `Outcome` of a run that should be a walk to the end."""
    summary = summarize(run)
    figures = {name: summary[name] for name in KEPT if summary.get(name) is not None}
    steady = summary.get('steady') or {}
    figures['steady_speed'] = float(steady.get('speed') or 0.0)
    cost = steady.get('cost_of_transport_positive')
    if cost is not None:  # the net work would count the sink at the start, and be below 0
        figures['cost_of_transport_positive'] = cost
    time = float(summary['duration'])
    reason = why_it_stopped(run)
    if reason is not None or time < duration - 0.1:
        return Outcome(
            False,
            reason or 'it ended early',
            round(time, 2),
            f's of {duration:g} s',
            figures=figures,
        )
    if not summary.get('steps'):
        return Outcome(False, 'no step was made', 0, 'steps', figures=figures)
    speed = summary.get('speed') or 0.0
    return Outcome(
        True,
        f'{time:g} s, {summary["steps"]} steps, {speed:.3g} m/s',
        round(speed, 3),
        figures=figures,
    )
