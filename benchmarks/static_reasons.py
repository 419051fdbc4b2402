# SPDX-License-Identifier: Apache-2.0
"""Reasons for postures that cannot be held, under joint noise: are they right, when are they known?

For each noise as many impossible postures as asked for, made so on purpose in seven ways
(`experiments/static_reasons.py`). A row says how many reasons cure the case when every named limit
is lifted by its amount, how many do not at 2 % less, how many begin with what was put there, how
far the stated distance of a leaning robot is from the true one, and the thread time of the verdict
(least of three; how many single ones took above 300 us) and of the longest step of an explanation.

    python benchmarks/static_reasons.py [--count 1000] [--seed 0]
"""

import argparse

import numpy as np

from walking_control.experiments.static_reasons import Humanoid, judge_reasons, KINDS, NOISES
from walking_control.statics.contacts import CENTRE_OF_PRESSURE


def main():
    """Print a row for each noise, then what was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    robot = Humanoid()
    print('| noise, rad | cured | not at 2 % less | named | of which centre of pressure | lean off '
          'by, m | verdict us: median, 99 %, max | above 300 us | step us: median, max |')
    print('|---|---|---|---|---|---|---|---|---|')
    wrong = []
    for noise in NOISES:
        found = list(judge_reasons(noise, options.count, options.seed))
        pressure = [v for v in found if CENTRE_OF_PRESSURE in KINDS[v.case.kind][0]]
        off = [abs(v.shortfalls[0].amount - robot.outside(v.case.q)) for v in found
               if v.case.kind == 'lean' and v.named]
        single = 1e6 * np.array([v.verdict_times for v in found])
        verdict = single.min(axis=1)
        step = 1e6 * np.array([v.step_time for v in found])
        print(f'| {noise:g} | {sum(v.cured for v in found)} of {len(found)} '
              f'| {sum(v.least for v in found)} | {sum(v.named for v in found)} '
              f'| {sum(v.named for v in pressure)} of {len(pressure)} | {max(off):.2g} '
              f'| {np.median(verdict):.0f}, {np.percentile(verdict, 99):.0f}, {verdict.max():.0f} '
              f'| {(single > 300.0).sum()} of {single.size} '
              f'| {np.median(step):.0f}, {step.max():.0f} |')
        wrong += [(noise, v) for v in found if not (v.cured and v.least and v.named)]
    for noise, v in wrong[:20]:
        print(f'noise {noise:g}, {v.case.kind}: cured {v.cured}, least {v.least}, named {v.named}: '
              + '; '.join(map(str, v.shortfalls)))


if __name__ == '__main__':
    main()
