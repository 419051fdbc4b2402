# SPDX-License-Identifier: Apache-2.0
"""Natural walking beside squatting, and on floors: what it costs, how long it is on its gait.

    python benchmarks/natural_walking.py                    # both laws over speed, a minute
    python benchmarks/natural_walking.py --film OUT.gif     # the film of the README
    python benchmarks/natural_walking.py --floors ramp=8 tiles=0.02 [--speeds 0.5 0.8]
        [--noise none|lab|told] [--seeds 5] [--duration 8] [--set NAME=VALUE ...]
    python benchmarks/natural_walking.py --push 0.15 [--noise ...] [--seeds ...] [--set ...]
    python benchmarks/natural_walking.py --floors real friction=1 [--rubs 2] [--family FILE]
    python benchmarks/natural_walking.py --page doc/controllers/natural_walking.md [--floors ...]

Walker3d in MuJoCo, or `--robot`. A floor is level, ramp=DEGREES (uphill positive, from 0.6 m on),
cross=DEGREES (under each foot from its first swing beyond 0.5 m on), tiles=HEIGHT, strips=HEIGHT,
stairs=HEIGHT, sinks=HEIGHT (m; at 4 s, in 20 ms, under the foot that stands), or friction=COULOMB:
N m of every joint, a tenth of it in N m s/rad, known to the law, which walks on a family searched
with it, half a minute. Joints that rub `--rubs` times as much are not known to it. `real` is a
level floor of friction 0.6, noise of the laboratory times 1.5 unless `--noise` says otherwise,
torques that lag by 5 ms, 0.5 degrees of backlash, joints that rub by 0.3 N m, 80 % of the motors,
and a robot whose parts each weigh up to 5 % more or less than the law knows, its trunk 3 % more
besides; the law knows lag, friction and motors. Noise `told` is the laboratory's with 10 ms of
delay that the law knows. Figures are of the time from 3 s on, the first steps on the floor
included: the share on the gait, and the cost at the supply and of each motor alone, less height
over distance. Each seed is another floor and other errors of the sensors. A push (N s/kg, at 0.8
m/s, an eighth of a step after a touchdown) is told by its deviation at the end of its step and of
the next, mean size over seeds: `--set natural_walking.place_rate=0` leaves the part of the step to
the clock, `pressure_gain=1` asks for less of the sole, and `tank_capacity` makes a tank that is
soon empty. With `--page` the rows of a page's table of floors are walked and written anew, with
noise `told` but for `real`, and times of their own: all of them, or those of `--floors` and
`--speeds`.
"""

import argparse
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
import math
from pathlib import Path
import tempfile
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
from walking_envelope import tiles

from walking_control.cli.verb import setting
from walking_control.control_loop import ControlLoop
from walking_control.lab.experiments.gait_search import find_gaits, save_gaits
from walking_control.lab.reports.animations.film import write_space_film
from walking_control.loading import load_robot
from walking_control.runs.quantities import each_joint_energy
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.mujoco.engine import MujocoEngine
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant, simulate

SPEEDS = (0.4, 0.6, 0.8, 1.0, 1.2)
LAWS = 'natural_walking', 'stepping'
BEGIN = 3.0  # s
SINKS = 4.0  # s: when the floor does, in 20 ms
PUSHED = 6.0  # s: at 0.8 m/s after the 16th touchdown
DELAY = 0.01  # s
LAG, BACKLASH = 0.005, 0.0087  # of `real`: s, rad
RUBBING, SHARE, LOUDER, SLIPPERY = 0.3, 0.8, 1.5, 0.6  # N m, of motors, noise, friction
WEIGHED, BURDEN = 0.05, 1.03  # how well parts are weighed, and the trunk over that
# the page's table of floors: speeds, and how long each is walked, s
FAST = (0.8,), 6.0
PAGE = {
    **dict.fromkeys(('level', 'ramp=8', 'ramp=-8', 'cross=8', 'real', 'friction=1'), FAST),
    **dict.fromkeys(('tiles=0.02', 'strips=0.02', 'tiles=0.05'), FAST),
    'strips=0.05': ((0.5,), 8.0),
    'sinks=0.01': ((0.5,), 5.5),
    'stairs=0.05': ((0.5,), 16.0),
}
JOINTS = 'hip_yaw', 'hip_roll', 'hip_pitch', 'knee', 'ankle_pitch', 'ankle_roll'


def leaning(lean):
    """Return how MuJoCo's floor follows the feet, leaning across by an angle in rad."""
    follow, half = MujocoEngine._follow_feet, 0.5 * lean
    turned = math.cos(half), math.sin(half), 0.0, 0.0

    def follow_feet(engine):
        trip, under = follow(engine), engine.data.mocap_quat
        for i, height in enumerate(engine._foot_heights()):
            place = engine.data.xpos[engine._foot_body[i], 0]
            if i in engine.leant or height > 0.008 and place > 0.5:
                engine.leant.add(i)
                under[engine._mocaps[i]] = turned
        return trip

    MujocoEngine.leant = set()
    return patch.object(MujocoEngine, '_follow_feet', follow_feet)


def sinking(height, since=SINKS):
    """Return how MuJoCo's floor sinks under the feet, from a time on, while one of them stands."""
    follow = MujocoEngine._follow_feet

    def follow_feet(engine):
        trip = follow(engine)
        part = min(max((engine.data.time - since) / 0.02, 0.0), 1.0)
        engine.data.mocap_pos[engine._mocaps, 2] -= height * part
        return trip

    return patch.object(MujocoEngine, '_follow_feet', follow_feet)


def walk(law, speed, duration, noise=None, robot='walker3d'):
    """Return a run of a law at a speed, m/s."""
    overrides = [(f'{law}.speed', speed), (f'{law}.speed_limit', 1.2), *noise_overrides(noise)]
    return simulate(load_robot(robot, [*overrides, ('controller', law)]), duration=duration)


def edges(kind, height, seed):
    """Return words for a floor of tiles of 0.3 m, strips of 0.1 to 0.3 m, or stairs.

    These are ten up and ten down, of 0.3 m each, with 0.9 m between.
    """
    if kind == 'stairs':
        up = 0.8 + 0.3 * np.arange(10)
        stairs = (('up', up), ('down', up + up[-1] + 0.1))
        return [f'step_{way}={height}@{place:.4g}m' for way, places in stairs for place in places]
    if kind == 'tiles':
        return tiles(height)(seed)
    rng, place, words = np.random.default_rng((seed, 8)), 0.8, []
    for _ in range(20):
        wide = rng.uniform(0.1, 0.3)
        words += [f'step_up={height}@{place:.4g}m', f'step_up={-height}@{place + wide:.4g}m']
        place += wide + rng.uniform(0.4, 0.8)
    return words


def of_each_joint(what, **values):
    """Return values of the robot file that are of every joint alike: name=number."""
    return [
        (f'robot.{what}.{side}_{joint}.{name}', value)
        for side in ('left', 'right')
        for joint in JOINTS
        for name, value in values.items()
    ]


def rubbing(size):
    """Return values of the robot file for joints that rub by a size, N m."""
    return of_each_joint('friction', coulomb=size, viscous=0.1 * size)


@cache
def family_of(robot, size):
    """Return the file of a family searched for joints that rub by a size, N m."""
    found = find_gaits(load_robot(robot, rubbing(size)), (0.1, 0.4, 0.6, 0.8))
    return save_gaits(found, tempfile.mkdtemp())


def real_sets(noise):
    """Return values of the robot file for a robot as it is."""
    sets = [('world.friction', SLIPPERY), ('robot.effort_share', SHARE)]
    sets += of_each_joint('actuators', torque_lag=LAG, backlash=BACKLASH)
    return sets if noise != 'none' else [*sets, *noisy('lab'), ('sensors.scale', LOUDER)]


def weighed(robot, seed):
    """Return a robot whose parts weigh other than its file says."""
    root, rng = ElementTree.fromstring(robot.urdf), np.random.default_rng((seed, 9))
    for link in root.iterfind('link'):
        factor = 1.0 + WEIGHED * rng.uniform(-1.0, 1.0)
        if link.get('name') == robot.base_link:
            factor *= BURDEN
        for element in (*link.iterfind('inertial/mass'), *link.iterfind('inertial/inertia')):
            for name, value in element.items():
                element.set(name, repr(factor * float(value)))
    return replace(robot, urdf=ElementTree.tostring(root, encoding='unicode'))


def rubbed(robot, share):
    """Return a robot whose joints rub so many times as much."""
    friction = {
        joint: replace(row, viscous=share * row.viscous, coulomb=share * row.coulomb)
        for joint, row in robot.friction.items()
    }
    return replace(robot, friction=friction)


def noisy(noise):
    """Return values of the robot file for sensors: none, lab, or told."""
    sets = [] if noise == 'none' else noise_overrides('lab')
    if noise == 'told':
        sets += [('sensors.command_delay', DELAY), ('natural_walking.delay', DELAY)]
    return sets


def walk_floor(floor, speed, seed, options):
    """Return the fault or None, share on the gait, cost at the supply and of each motor alone."""
    kind, _, value = floor.partition('=')
    size = float(value or 0.0)
    sets = [('natural_walking.speed', speed), ('sensors.seed', seed)]
    sets += noisy(options.noise)
    moves, words = nullcontext(), []
    if kind == 'ramp':
        words = [f'slope_change={-math.radians(size):.6f}@0.6m']
    elif kind == 'cross':
        moves, words = leaning(math.radians(size)), ['step_up=0.0000001@1']
    elif kind == 'sinks':
        moves, words = sinking(size), ['step_up=0.0000001@1']
    elif kind in ('tiles', 'strips', 'stairs'):
        words = edges(kind, size, seed)
    elif kind in ('friction', 'real'):
        size = RUBBING if kind == 'real' else size
        family = options.family or family_of(options.robot, size)
        sets += [*rubbing(size), ('natural_walking.gait', str(family))]
    if kind == 'real':
        sets += real_sets(options.noise)
    robot_file = load_robot(options.robot, [*sets, *options.set], controller='natural_walking')
    real = rubbed(robot_file.robot, options.rubs)
    if kind == 'real':
        real = weighed(real, seed)
    with moves:
        plant = make_plant(robot_file, robot=real)
        plan_disturbances(plant, words)
        run = run_plant(plant, ControlLoop(robot_file), robot_file.start, options.duration)
    first, last = int(np.searchsorted(run.time, BEGIN)), len(run.time) - 1
    if run.fault is not None or first >= last:
        return str(run.fault), math.nan, math.nan, math.nan
    way = run.base.position[last] - run.base.position[first]
    weight, length = robot_file.scale.mass * 9.81, math.hypot(*way[:2])
    supply = run.electrical_energy[last] - run.electrical_energy[first]
    costs = [energy / weight - way[2] for energy in (supply, each_joint_energy(run, first, last))]
    on_gait = float(run.telemetry['on_gait'][first:].mean())
    return None, on_gait, *(cost / length for cost in costs)


def push(size, direction, noise, seed, more):
    """Return deviations at the ends of two steps, m, and the price of those before the push."""
    sets = [('natural_walking.speed', 0.8), ('sensors.seed', seed), *noisy(noise), *more]
    run = simulate(
        load_robot('walker3d', sets, controller='natural_walking'),
        duration=PUSHED + 1.0,
        disturb=[f'push={size}@16.125:direction={direction}'],
    )
    if run.fault is not None:
        return [math.nan] * 4
    told = run.telemetry
    changes = np.flatnonzero(np.diff(told['stance']))
    feet = np.flatnonzero(np.diff(run.steps))
    last = int(np.searchsorted(changes, feet[16] - 20))
    ends = [
        math.hypot(told['deviation_x'][row], told['deviation_y'][row])
        for row in changes[last : last + 2] - 5
    ]
    first, pushed = changes[last - 5], changes[last - 1]
    way = np.hypot(*(run.base.position[pushed] - run.base.position[first])[:2])
    energy = run.electrical_energy[pushed] - run.electrical_energy[first]
    return [*ends, energy / (98.1 * way), float(told['on_gait'][changes[last] :].mean())]


def floor_row(floor, speed, options):
    """Return the cells of a row and why walks ended."""
    rows = [walk_floor(floor, speed, seed, options) for seed in range(1, options.seeds + 1)]
    walked = [row[1:] for row in rows if row[0] is None]
    on_gait, cost, alone = np.mean(walked, axis=0) if walked else [math.nan] * 3
    cells = floor, f'{speed:g}', f'{len(walked)} of {len(rows)}'
    faults = [row[0] for row in rows if row[0] is not None]
    return [*cells, f'{on_gait:.2f}', f'{cost:.3f}', f'{alone:.3f}'], faults


def print_floors(options):
    """Print a row for each floor and speed."""
    print('| floor | m/s | walked | on the gait | cost less height | each motor alone |')
    print('|---|---|---|---|---|---|')
    for floor in options.floors:
        for speed in options.speeds or (0.5, 0.8):
            cells, faults = floor_row(floor, speed, options)
            print('\n  '.join([f'| {" | ".join(cells)} |', *faults]), flush=True)


def write_floors(options):
    """Write rows of a page's table anew, each as soon as it is walked."""
    for floor in options.floors or PAGE:
        options.noise = 'none' if floor == 'real' else 'told'  # it has its own
        speeds, options.duration = PAGE[floor]
        for speed in options.speeds or speeds:
            cells, faults = floor_row(floor, speed, options)
            text = options.page.read_text(encoding='utf-8')
            options.page.write_text(with_row(text, cells), encoding='utf-8')
            print(*cells, *faults, flush=True)


def with_row(text, cells):
    """Return a page whose row that begins with the same two cells is new, or one row longer."""
    begins, lines = f'| `{cells[0]}` | {cells[1]} |', text.splitlines(keepends=True)
    rows = [i for i, line in enumerate(lines) if line.startswith('| `')]
    if not rows:
        raise SystemExit('the page has no row of a floor, as | `level` |; one is needed')
    same = [i for i in rows if lines[i].startswith(begins)]
    place = same[0] if same else rows[-1] + 1
    lines[place : place + len(same)] = [f'{begins} {" | ".join(cells[2:])} |\n']
    return ''.join(lines)


def print_pushes(options):
    """Print a row for each direction."""
    print('| push | mm at the end of its step | of the next | cost before | then on the gait |')
    print('|---|---|---|---|---|')
    for name, direction in (('ahead', 0), ('left', 90), ('back', 180), ('right', 270)):
        rows = [
            push(options.push, direction, options.noise, seed, options.set)
            for seed in range(1, options.seeds + 1)
        ]
        mine, following, cost, on_gait = np.mean(rows, axis=0)
        print(
            f'| {name} | {1e3 * mine:.0f} | {1e3 * following:.0f} | {cost:.4f} | {on_gait:.2f} |',
            flush=True,
        )


def main():
    """Print a table; write the film where a path is given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--film', metavar='OUT.gif')
    parser.add_argument('--floors', nargs='*', default=[])
    parser.add_argument('--robot', default='walker3d')
    parser.add_argument('--rubs', type=float, default=1.0, help='times what the law knows')
    parser.add_argument('--family', help='of gaits, of floors friction and real')
    parser.add_argument('--speeds', nargs='*', type=float, default=[], help='0.5 and 0.8 m/s')
    parser.add_argument('--page', type=Path, help='with a table of floors, to be written anew')
    parser.add_argument('--push', type=float, help='N s/kg')
    parser.add_argument('--noise', choices=('none', 'lab', 'told'), default='none')
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--duration', type=float, default=8.0, help='s')
    parser.add_argument('--set', action='append', default=[], type=setting, metavar='NAME=VALUE')
    options = parser.parse_args()
    if options.film:
        natural, squat = (walk(law, 0.8, 5.0, robot=options.robot) for law in LAWS)
        write_space_film(natural, options.film, squat)
        return
    if options.page:
        write_floors(options)
        return
    if options.floors:
        print_floors(options)
    if options.push:
        print_pushes(options)
    if options.floors or options.push:
        return
    print('law              noise  m/s   speed  electrical cost')
    for law in LAWS:
        for noise in (None, 'lab'):
            for speed in SPEEDS:
                steady = walk(law, speed, 24.0, noise).summary()['steady']
                cost = steady['cost_of_transport_electrical']
                print(
                    f'{law:16} {noise or "none":5} {speed:4.1f}'
                    + (f' {steady["speed"]:7.3f} {cost:9.3f}' if cost else ' did not last')
                )


if __name__ == '__main__':
    main()
