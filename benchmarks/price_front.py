# SPDX-License-Identifier: Apache-2.0
"""How cheap a rival can be at which margin: a hip PD with an ankle, tuned with its price.

The compass on half a foot of 0.1 m, plant rigid, as in `price_under_noise`. The worst margin is the
largest share of the sizes of `REFERENCE` up to which a walk survives all of four disturbances; the
sizes are those of the hip PD that was tuned for margins alone.

``search`` asks CMA-ES, for one most allowed price after the other, for the settings of the best
worst margin (compiled walks that know the state, on a coarse grid), each beginning from the best so
far, and writes every trial not far too dear. ``measure`` takes some of those that none beats
in both, looks for their worst margin with the true state more finely, and measures their price with
sensors of a laboratory through the whole chain.

``margins`` takes that front, the hip PD that was tuned for margins alone, and gaits of curve
tracking. For each it looks for the largest size of each disturbance that a walk survives with the
true state. Then it asks through the whole chain, with sensors of a laboratory, which share of that
size every seed survives: at most all of it, less by 0.05 whenever a seed falls. It takes for
granted that a seed that survives a size survives smaller ones. Every walk starts on its own cycle,
is disturbed at step 7, and survives if 5 steps follow; it prints how many of the smallest falls
with the true state come that soon. The price under noise is that of steps 3 to 6. Begun again with
more seeds, it goes on where it ended.

Run: python benchmarks/price_front.py search trials.yaml --trials 54
     python benchmarks/price_front.py measure trials.yaml front.yaml --seeds 3
     python benchmarks/price_front.py margins front.yaml price_noise.yaml --seeds 20
"""

import argparse
import math
import os
from pathlib import Path
import sys
import tempfile
import time

import numpy as np
from price_under_noise import LAW, RIVAL, searched, settings, walk
import yaml

from walking_control.control_loop import ControlLoop
from walking_control.controllers import hip_pd
from walking_control.exceptions import WalkingControlError
from walking_control.lab.experiments import robustness
from walking_control.loading import load_robot
from walking_control.models import compile_law, make_terms
from walking_control.simulation import make_fast_plant, Walk
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.sensors import noise_overrides

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'examples'))
from tune_compass import decode, FIXED, SPACES  # noqa: E402

# kind and size, m or N s/kg
REFERENCE = (('step_up', 0.095), ('step_down', 0.192), ('push', 1.23), ('push', -0.57))
SPACE = SPACES['hip_pd'] | {  # weaker than those that were tuned for margins alone
    'hip_stiffness': (0.2, 100.0, True, 18.6),
    'hip_damping': (0.02, 30.0, True, 3.36),
    'energy': (50.0, 75.0, False, 66.1),
}
PRICES = 30.0, 22.0, 16.0, 11.0, 7.5, 5.0, 3.0, 1.5, 0.5  # (N m)^2 s a step
RISE, FURTHER = 0.15, 8  # in the search: of the share, from size to size; steps that are to follow
NAMES = 'step_up', 'step_down', 'push_along', 'push_against'  # of those of `REFERENCE`
COARSE, FINE = 0.05, 0.01  # of the sizes of `REFERENCE`, from size to size
LESS = 0.05  # of what is survived with the true state, from size to size under noise
UNSETTLED, SETTLED, SOON = 2, 6, 5  # steps before the price counts, the disturbance, and the end
LONGEST = 5.0  # s, of a step


class Judge:
    """Price and worst margin of settings of one law, by compiled walks that know the state."""

    def __init__(self, law, overrides=()):
        self.law, self.overrides = law, list(overrides)
        self.trial = robustness._CompiledTrial(self.load({}), 'step_down')

    def load(self, values):
        """Return the robot file with settings of the law."""
        more = [(f'{self.law}.{name}', value) for name, value in values.items()]
        chosen = [('controller', self.law), *self.overrides, *more]
        return load_robot('compass', [(name, value) for name, value in chosen])

    def __call__(self, values, rise=RISE, most=math.inf):
        """Return price, speed, worst margin, and how many of four survive the next share.

        Args:
            values: Settings of the law.
            rise: Of the share from size to size.
            most: Price above which margins are not looked for.
        """
        trial = self.trial
        trial._file = self.load(values)
        trial._walker.change_law(trial._file, self.law)
        trial._walker.model.drops[:] = 0.0
        nominal = trial.settle()
        price, speed = nominal['nominal_squared_effort'], nominal['nominal_speed']
        share, survived = 0.0, 0
        while price <= most:
            survived = sum(self.survives(kind, (share + rise) * size) for kind, size in REFERENCE)
            if survived < len(REFERENCE):
                break
            share += rise
        return price, speed, share, survived

    def survives(self, kind, size):
        """Return whether the settled walk survives a disturbance."""
        trial = self.trial
        trial._walker.model.drops[:] = 0.0
        trial._kind = kind
        return trial.disturb(size) is None


def encode(values):
    """Return the point of settings in the unit cube, not quite at its walls."""
    shares = []
    for name, (low, high, by_ratio, _) in SPACE.items():
        share = (values[name] - low) / (high - low)
        if by_ratio:
            share = math.log(values[name] / low) / math.log(high / low)
        shares.append(min(max(share, 0.01), 0.99))
    return shares


def front(trials):
    """Return the trials that none beats in price and worst margin, cheapest first."""
    best, kept = -1.0, []
    for trial in sorted(trials, key=lambda each: (each['price'], -each['worst'])):
        if trial['worst'] > best:
            best = trial['worst']
            kept.append(trial)
    return kept


def search(path, count, seconds):
    """Search the front of the hip PD; write every trial that walks."""
    import cma

    robustness.FURTHER_STEPS = FURTHER  # most falls come sooner; `measure` makes all of them
    judge, begun, made = Judge('hip_pd'), time.time(), 0
    (_, known) = settings(RIVAL)
    given = {name.partition('.')[2]: value for name, value in known}
    trials = [dict(zip(('price', 'speed', 'worst'), judge(given)), settings=given)]
    print(f'best of a search for margins alone: {trials[0]}', flush=True)
    for most in PRICES:
        near = [each for each in trials if each['price'] <= 1.3 * most]
        first = max(near or trials, key=lambda each: each['worst'] - abs(each['price'] - most) / 50)
        strategy = cma.CMAEvolutionStrategy(
            encode(first['settings']),
            0.12,
            {'bounds': [0.0, 1.0], 'seed': 1, 'maxfevals': count, 'verbose': -9},
        )
        while not strategy.stop() and time.time() - begun < seconds:
            points, losses = strategy.ask(), []
            for point in points:
                values = {**FIXED['hip_pd'], **decode(SPACE, point)}
                made += 1
                try:
                    price, speed, worst, survived = judge(values, most=3.0 * most)
                except WalkingControlError:  # it does not walk
                    losses.append(2.0)
                    continue
                dear = max(0.0, math.log(price / most))
                losses.append(dear - worst - RISE * survived / (1 + len(REFERENCE)))
                if price <= 3.0 * most:
                    trials.append(
                        {'price': price, 'speed': speed, 'worst': worst, 'settings': values}
                    )
            strategy.tell(points, losses)
        cheap = [each for each in trials if each['price'] <= most]
        best = max(cheap, key=lambda each: each['worst'], default=None)
        print(f'{made} trials, {time.time() - begun:.0f} s, at most {most:g}: {best}', flush=True)
        path.write_text(yaml.safe_dump({'made': made, 'trials': trials}), encoding='utf-8')


def measure(path, out, seeds, points, duration):
    """Measure the front of the hip PD: all further steps, finer sizes, and prices in the lab."""
    trials = yaml.safe_load(path.read_text(encoding='utf-8'))['trials']
    kept = [each for each in front(trials) if each['worst'] > 0.0 and each is not trials[0]]
    every = max(1.0, (len(kept) - 1) / max(1, points - 1))
    judge, rows = Judge('hip_pd'), []
    for each in [kept[round(i * every)] for i in range(min(points, len(kept)))]:
        values = each['settings']
        price, speed, worst, _ = judge(values, 0.05)
        row = {'price': price, 'worst': round(worst, 2), 'speed': round(speed, 3)}
        pairs = [(f'hip_pd.{name}', value) for name, value in values.items()]
        walks = [walk('hip_pd', pairs, 'lab', seed, None, duration) for seed in range(seeds)]
        row['lab_walks'] = sum(bool(whole) for *_, whole in walks)
        row['lab_price'] = float(sum(walk[0] for walk in walks) / seeds)
        row['settings'] = {
            name: float(f'{value:.4g}') if isinstance(value, float) else value
            for name, value in values.items()
        }
        rows.append(row)
        print(row, flush=True)
        out.write_text(yaml.safe_dump(rows, sort_keys=False), encoding='utf-8')


def candidates(path, only, folder):
    """Return name, law and overrides of the walks that are compared, by the front of the hip PD."""
    law, tuned = settings(LAW)
    ours = [
        (f'{law}, {speed} m/s', law, tuned + more())
        for speed, more in (
            ('0.754', list),
            ('1.0', lambda: searched(f'{folder}/slow', '0.9:1.0:2', 1.2)),
            ('1.2', lambda: searched(f'{folder}/fast')),
        )
        if only != 'rival'
    ]
    if only == 'law':
        return ours
    rows = yaml.safe_load(path.read_text(encoding='utf-8'))
    theirs = [
        (
            f'hip_pd, {row["price"]:.2g} with the true state',
            'hip_pd',
            [(f'hip_pd.{name}', value) for name, value in row['settings'].items()],
        )
        for row in rows
    ]
    return [*ours, *theirs, ('hip_pd, tuned for margins alone', *settings(RIVAL))]


def with_true_state(law, overrides):
    """Return what is known of a walk with the true state, as a row of the table.

    Returns:
        Dictionary with the price, (N m)^2 s a step, the speed, m/s, the shares of the sizes of
        `REFERENCE` below the first that fells, and the start on the walk's own cycle.
    """
    judge = Judge(law, overrides)
    nominal = judge.trial.settle()
    state, n = judge.trial._walker.state, judge.trial._walker.model.n
    start = {
        'support': judge.trial._file.robot.feet[int(state.mode[rm.SUPPORT])],
        'q': state.y[2 : n + 2].tolist(),
        'v': state.y[n + 4 :].tolist(),
    }
    shares = {}
    for own, (kind, size) in zip(NAMES, REFERENCE):
        share = 0.0
        for rise in (COARSE, FINE):
            while share < 2.0 and judge.survives(kind, (share + rise) * size):
                share += rise
        shares[own] = round(share, 2)
    robustness.FURTHER_STEPS, known = SOON, robustness.FURTHER_STEPS
    soon = sum(
        not judge.survives(kind, (shares[own] + FINE) * size)
        for own, (kind, size) in zip(NAMES, REFERENCE)
    )
    robustness.FURTHER_STEPS = known
    print(f'{law}: {soon} of {len(REFERENCE)} fall within {SOON} steps', flush=True)
    return {
        'price': float(f'{nominal["nominal_squared_effort"]:.3g}'),
        'speed': round(nominal['nominal_speed'], 3),
        'shares': shares,
        'start': start,
    }


class Settled:
    """A walk of the whole chain under noise, settled, that is disturbed again and again.

    Args:
        law: Its name.
        overrides: Of the robot file.
        noise: Preset of the sensors.
        seed: Of their noise.

    Attributes:
        price: Of the steps after `UNSETTLED`, (N m)^2 s a step; None: it fell.
    """

    def __init__(self, law, overrides, noise, seed):
        chosen = [('controller', law), *noise_overrides(noise), ('sensors.seed', seed), *overrides]
        robot_file = load_robot('compass', [(name, value) for name, value in chosen])
        self._loop = ControlLoop(robot_file)
        self._plant = make_fast_plant(robot_file, 'rigid')
        engine = self._plant.engine
        engine.terms, _ = make_terms(engine.dynamics)  # the same to rounding, faster
        self._walk = Walk(self._plant, self._loop, robot_file.start, 20000)
        self.price = None
        squares = 0.0
        while self._goes_on() and self._loop.state.steps < SETTLED:
            self._walk.tick()
            if UNSETTLED <= self._loop.state.steps < SETTLED:
                squares += float(np.sum(np.square(self._loop.command.effort)))
        if self._goes_on():
            self.price = squares * self._loop.period / (SETTLED - UNSETTLED)

    def _goes_on(self):
        state = self._loop.state
        late = state.stamp - max(state.touchdown, 0.0) > LONGEST
        return self._walk.fault is None and not late

    def survives(self, kind, size):
        """Return whether it survives a disturbance; a copy of this process walks on."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            survived = False
            try:
                self._plant.disturb(kind, size, SETTLED + 1)
                last = SETTLED + 1 + SOON
                while self._goes_on() and self._loop.state.steps < last:
                    self._walk.tick()
                survived = self._goes_on()
            finally:
                os.write(writing, b'1' if survived else b'0')
                os._exit(0)
        os.close(writing)
        answer = os.read(reading, 1)
        os.close(reading)
        os.waitpid(child, 0)
        return answer == b'1'


def margins(path, out, seeds, noise, only):
    """Measure prices and all four margins under noise, of the law and of the rival alike."""
    rows = yaml.safe_load(out.read_text(encoding='utf-8')) if out.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        walkers = candidates(path, only, folder)
        for name, law, overrides in walkers:
            if name not in rows:
                rows[name] = {
                    **with_true_state(law, overrides),
                    'noise': noise,
                    'prices': [],
                    'kept': dict.fromkeys(NAMES, 1.0),
                }
                print(name, rows[name], flush=True)
                out.write_text(yaml.safe_dump(rows, sort_keys=False), encoding='utf-8')
        hip_pd.ankle_law = compile_law(hip_pd.ankle_law)
        for seed in range(seeds):
            for name, law, overrides in walkers:
                row = rows[name]
                if len(row['prices']) > seed:
                    continue
                more = [(f'start.{name}', value) for name, value in row['start'].items()]
                if law == 'curve_tracking':
                    more.append(('curve_tracking.compiled', True))
                settled = Settled(law, overrides + more, noise, seed)
                for own, (kind, size) in zip(NAMES, REFERENCE):
                    largest, kept = row['shares'][own] * size, row['kept']
                    while kept[own] > 0.0 and (
                        settled.price is None or not settled.survives(kind, kept[own] * largest)
                    ):
                        kept[own] = max(0.0, round(kept[own] - LESS, 2))
                price = settled.price
                row['prices'].append(price if price is None else float(f'{price:.4g}'))
                print(f'{time.strftime("%H:%M")} seed {seed}', name, price, kept, flush=True)
                out.write_text(yaml.safe_dump(rows, sort_keys=False), encoding='utf-8')


def main():
    """Search or measure."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    verbs = parser.add_subparsers(dest='verb', required=True)
    searching = verbs.add_parser('search')
    searching.add_argument('trials_file', type=Path)
    searching.add_argument('--trials', type=int, default=54, help='for each most allowed price')
    searching.add_argument('--seconds', type=float, default=math.inf)
    measuring = verbs.add_parser('measure')
    measuring.add_argument('trials_file', type=Path)
    measuring.add_argument('out', type=Path)
    measuring.add_argument('--seeds', type=int, default=3)
    measuring.add_argument('--points', type=int, default=4)
    measuring.add_argument('--duration', type=float, default=26.0, help='s, under noise')
    under = verbs.add_parser('margins')
    under.add_argument('front', type=Path, help='what `measure` wrote')
    under.add_argument('out', type=Path)
    under.add_argument('--seeds', type=int, default=20)
    under.add_argument('--noise', default='lab')
    under.add_argument('--only', choices=['law', 'rival'])
    given = parser.parse_args()
    if given.verb == 'margins':
        margins(given.front, given.out, given.seeds, given.noise, given.only)
    elif given.verb == 'search':
        search(given.trials_file, given.trials, given.seconds)
    else:
        measure(given.trials_file, given.out, given.seeds, given.points, given.duration)


if __name__ == '__main__':
    main()
