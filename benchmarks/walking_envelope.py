# SPDX-License-Identifier: Apache-2.0
"""Walk a biped in space over floors, with loads and with faults that nobody told it of.

    python benchmarks/walking_envelope.py [CONDITION ...] [--seeds 20] [--first 1]
        [--robot walker3d] [--controller stepping] [--noise lab] [--speed 0.5] [--duration S]
        [--set PARAMETER=VALUE ...]

A row for each condition; without one, all of them. Each seed is another walk: of the sensors'
errors, of the tiles, of when and where something fails. A walk is survived if the robot is up at
the end, has gone half as far as it was told to and knows how it leans within 5 degrees; where a
foot switch lies, if it went on, named the switch and stands. Speed, over the last third of the
walk, is along the floor; the error of the pitch is that of the estimate, there. Exits with status 1
if a walk was not survived.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import math
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np

import walking_control as wc
from walking_control.cli.verb import setting
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

Settings = list[tuple[str, Any]]
TILE, TREAD = 0.3, 0.3  # m, along the walk
FIRST = 0.8  # m ahead of the start: the first edge
STEPS = 10  # of stairs, up and down
LANDING = 0.9  # m, between up and down
SEVERE = math.radians(5.0)
COMMANDED = 4.0  # s, from one drawn command to the next


@dataclass(frozen=True)
class Condition:
    """What a walk has to bear, for a seed.

    Attributes:
        meaning: In words.
        duration: s.
        settings: Of the robot file.
        floor: Words of `simulate --disturb`.
        payload: Share of the robot's mass on its trunk, unknown to the controller.
        weak: Share of one motor's effort that is missing, likewise.
        silent: How long all sensors are silent, once a second, s.
        lies: Whether a foot switch does.
        commanded: Whether speed, sideways and turn are drawn anew now and then.
    """

    meaning: str
    duration: float = 10.0
    settings: Callable[[int], Settings] = lambda seed: []
    floor: Callable[[int], list[str]] = lambda seed: []
    payload: float = 0.0
    weak: float = 0.0
    silent: float = 0.0
    lies: bool = False
    commanded: bool = False


def tiled(heights: np.ndarray) -> list[str]:
    """Return words for tiles of these heights, m; the second one begins half a metre ahead."""
    rises = enumerate(np.diff(heights))
    return [f'step_up={rise:.6f}@{0.5 + TILE * i:.6g}m' for i, rise in rises if rise]


def tiles(highest: float) -> Callable[[int], list[str]]:
    """Return words for tiles whose heights are drawn from 0 to the highest, m."""

    def words(seed: int) -> list[str]:
        heights = highest * np.random.default_rng((seed, 7)).uniform(0.0, 1.0, 80)
        heights[0] = 0.0
        return tiled(heights)

    return words


def edges(rise: float) -> tuple[list[float], list[float]]:
    """Return places and rises of stairs up and down, m."""
    up = [round(FIRST + TREAD * i, 6) for i in range(STEPS)]
    down = [round(up[-1] + LANDING + TREAD * i, 6) for i in range(STEPS)]
    return [*up, *down], [rise] * STEPS + [-rise] * STEPS


def stairs(rise: float) -> Callable[[int], list[str]]:
    """Return words for stairs, ``STEPS`` up and as many down."""
    return lambda seed: [f'step_up={each}@{place}m' for place, each in zip(*edges(rise))]


def told(rise: float) -> Callable[[int], Settings]:
    """Return the settings that tell the law of stairs."""
    places, rises = edges(rise)
    return lambda seed: [('stepping.edge_places', places), ('stepping.edge_rises', rises)]


def liar(force: float) -> Callable[[int], Settings]:
    """Return the settings of a foot switch that always says a force, N."""
    return lambda seed: [
        ('sensors.stuck_foot', 1 + seed % 2),
        ('sensors.stuck_force', force),
        ('sensors.stuck_after', 1.0 + seed / 20.0),
    ]


def fixed(**settings: float) -> Callable[[int], Settings]:
    """Return settings, with ``__`` for the dot in their names."""
    return lambda seed: [(name.replace('__', '.'), value) for name, value in settings.items()]


CONDITIONS = {
    'level': Condition('a level floor'),
    'downhill': Condition(
        '8 degrees downhill from 0.6 m on', 30.0, floor=lambda seed: ['slope_change=0.1396@0.6m']
    ),
    'uphill': Condition(
        '8 degrees uphill from 0.6 m on', 30.0, floor=lambda seed: ['slope_change=-0.1396@0.6m']
    ),
    'tiles': Condition('tiles of 0.3 m, 0 to 5 cm high by chance', floor=tiles(0.05)),
    'stairs_told': Condition(
        '10 steps of 10 cm up and 10 down, told', 18.0, told(0.1), stairs(0.1)
    ),
    'stairs_blind': Condition(
        '10 steps of 5 cm up and 10 down, not told', 18.0, floor=stairs(0.05)
    ),
    'switch_dead': Condition('a foot switch that says nothing any more', 8.0, liar(0.0), lies=True),
    'switch_stuck': Condition('a foot switch that always says 100 N', 8.0, liar(100.0), lies=True),
    'payload': Condition('20 % of the mass on top of the trunk', payload=0.2),
    'weak_motor': Condition('one motor gives 30 % less than it is told to', weak=0.3),
    'silence': Condition('48 ms without a sensor, once a second', silent=0.048),
    'delay': Condition(
        '10 ms from command to effort, known to the law',
        settings=fixed(sensors__command_delay=0.01, stepping__delay=0.01),
    ),
    'soft': Condition(
        'a soft floor: contacts with a time constant of 20 ms',
        settings=fixed(mujoco__contact_time=0.02),
    ),
    'middle': Condition('a floor of 10 ms', settings=fixed(mujoco__contact_time=0.01)),
    'slippery': Condition(
        'friction 0.4 where 0.5 is relied on', settings=fixed(world__friction=0.4)
    ),
    'commands': Condition(
        'another command every 4 s: 0 to 0.8 m/s, 0.1 m/s sideways, turns of 0.3 rad/s',
        3600.0,
        commanded=True,
    ),
}


def burden(text: str, link: str, mass: float) -> str:
    """Return a URDF with a mass in kg on a link, in proportion to what it has: centre and all."""
    root = ElementTree.fromstring(text)
    for each in root.iterfind('link'):
        inertial = each.find('inertial')
        if each.get('name') == link and inertial is not None:
            own = inertial.find('mass')
            share = 1.0 + mass / float(own.get('value'))
            for element in (own, inertial.find('inertia')):
                for name, value in element.items():
                    element.set(name, repr(share * float(value)))
    return ElementTree.tostring(root, encoding='unicode')


def heaviest_link(text: str) -> tuple[str, float]:
    """Return the link of most mass of a URDF, and the mass of all, kg."""
    masses = {
        link.get('name'): float(link.find('inertial/mass').get('value'))
        for link in ElementTree.fromstring(text).iterfind('link')
        if link.find('inertial/mass') is not None
    }
    return max(masses, key=masses.get), sum(masses.values())


@dataclass(frozen=True)
class Outcome:
    """What came of a walk: why it was not survived, or None; speed (m/s), worst pitch (rad)."""

    reason: str | None
    speed: float
    pitch: float


def draw_velocity(rng: np.random.Generator, speed: float) -> np.ndarray:
    """Return a command (m/s, m/s, rad/s) about a speed: one in eight says stop, one backwards."""
    kind = rng.integers(8)
    if kind == 0:
        return np.zeros(3)
    ahead = -0.4 if kind == 1 else rng.uniform(0.0, 1.6)
    return np.array([ahead * speed, rng.uniform(-0.1, 0.1), rng.uniform(-0.3, 0.3)])


def pitch_of(rotation: np.ndarray) -> float:
    """Return the pitch of a base, rad."""
    return math.asin(max(-1.0, min(1.0, -rotation[2, 0])))


def walk(
    condition: Condition,
    seed: int,
    speed: float = 0.5,
    robot: str = 'walker3d',
    controller: str = 'stepping',
    noise: str = 'lab',
    more: Sequence[tuple[str, Any]] = (),
    duration: float | None = None,
) -> Outcome:
    """Walk once under a condition; return the `Outcome`."""
    duration = duration or condition.duration
    robot_file = wc.load_robot(
        robot,
        [
            (f'{controller}.speed', speed),
            *noise_overrides(noise),
            ('sensors.seed', seed),
            *condition.settings(seed),
            *more,
        ],
    )
    real = robot_file.robot
    if condition.payload:
        link, mass = heaviest_link(real.urdf)
        real = replace(real, urdf=burden(real.urdf, link, condition.payload * mass))
    plant, loop = make_plant(robot_file, None, real), wc.ControlLoop(robot_file, controller)
    plan_disturbances(plant, condition.floor(seed))
    effort = np.ones(len(real.actuators))
    effort[seed % len(effort)] -= condition.weak
    plant.reset(robot_file.start)
    loop.reset()
    measurement, rows, places = wc.Measurement(real), [], []
    quiet, every = (round(s / loop.period) for s in (condition.silent, COMMANDED))
    rng, least = np.random.default_rng((seed, 9)), 0.0 if condition.commanded else speed * duration
    for tick in range(round(duration / loop.period)):
        if condition.commanded and tick % every == 0:
            velocity = loop.reference.velocity = draw_velocity(rng, speed)
            least += math.hypot(*velocity[:2]) * COMMANDED
            places.append(plant.truth.base.position.copy())
        plant.measure(measurement)
        if not (
            quiet
            and tick > 1.0 / loop.period
            and tick % round(1.0 / loop.period) in range(1, quiet)
        ):
            command = loop.tick(measurement)
            command.effort *= effort
        if loop.fault is not None:
            return Outcome(f'{loop.fault} after {plant.time:.1f} s', math.nan, math.nan)
        plant.step(command, loop.period)
        if plant.time > duration * 2.0 / 3.0 and tick % 5 == 0:
            base = plant.truth.base
            rows.append(
                (
                    plant.time,
                    *base.position,
                    pitch_of(base.rotation) - pitch_of(loop.state.base.rotation),
                )
            )
    places.append(plant.truth.base.position.copy())
    gone = float(np.hypot(*(np.diff(places, axis=0, prepend=np.zeros((1, 3))).T[:2])).sum())
    return judge(condition, np.array(rows), plant, loop, gone, 0.5 * least)


def judge(
    condition: Condition, rows: np.ndarray, plant: Any, loop: Any, gone: float, least: float
) -> Outcome:
    """Return the `Outcome` of a walk that ended without a fault; its length and the least, m."""
    way, time = rows[-1, 1:4] - rows[0, 1:4], rows[-1, 0] - rows[0, 0]
    speed, pitch = float(np.hypot(*way[:2]) / time), float(np.abs(rows[:, 4]).max())
    if any('slope' in each.kind for each in plant.disturbances):
        speed = float(np.sqrt(way @ way) / time)
    reason = None
    if condition.lies:
        if loop.state.mistrusted.sum() != 1:
            reason = 'the switch was not named'
        elif getattr(loop.controller, 'walking', False):
            reason = 'does not stand'
    elif gone < least:
        reason = f'went {gone:.2f} m, {least:.2f} at least were asked'
    elif pitch > SEVERE:
        reason = f'took its pitch {math.degrees(pitch):.1f} degrees wrong'
    return Outcome(reason, speed, pitch)


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return a line of the table."""
    condition, lived = CONDITIONS[name], [each for each in outcomes if each.reason is None]
    speeds = [each.speed for each in lived]
    far = f'{min(speeds):.3f} to {max(speeds):.3f}' if lived and not condition.lies else '-'
    pitch = f'{math.degrees(max(each.pitch for each in lived)):.2f}' if lived else '-'
    return (
        f'| `{name}` | {condition.meaning} | {condition.duration:g} | '
        f'{len(lived)} of {len(outcomes)} | {far} | {pitch} |'
    )


def main() -> int:
    """Print a row for each condition, and why what was not survived was not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        'conditions', nargs='*', metavar='CONDITION', help=f'of {", ".join(CONDITIONS)}'
    )
    parser.add_argument('--seeds', type=int, default=20, help='how many')
    parser.add_argument('--first', type=int, default=1, help='the first')
    parser.add_argument('--robot', default='walker3d')
    parser.add_argument('--controller', default='stepping')
    parser.add_argument('--noise', default='lab')
    parser.add_argument('--speed', type=float, default=0.5, help='m/s')
    parser.add_argument('--duration', type=float, help='s, instead of the own one')
    parser.add_argument(
        '--set', action='append', default=[], type=setting, metavar='PARAMETER=VALUE'
    )
    options = parser.parse_args()
    unknown = [name for name in options.conditions if name not in CONDITIONS]
    if unknown:
        parser.error(f'condition {unknown[0]!r} is unknown; known: {", ".join(CONDITIONS)}')
    print('| condition | what | s | survived | speed, m/s | pitch off, degrees |')
    print('|---|---|---|---|---|---|')
    survived = True
    for name in options.conditions or CONDITIONS:
        outcomes = [
            walk(
                CONDITIONS[name],
                seed,
                options.speed,
                options.robot,
                options.controller,
                options.noise,
                options.set,
                options.duration,
            )
            for seed in range(options.first, options.first + options.seeds)
        ]
        print(row(name, outcomes), flush=True)
        for seed, outcome in enumerate(outcomes, options.first):
            if outcome.reason is not None:
                survived = False
                print(f'  seed {seed}: {outcome.reason}', flush=True)
    return 0 if survived else 1


if __name__ == '__main__':
    sys.exit(main())
