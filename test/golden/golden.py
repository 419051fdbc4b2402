# SPDX-License-Identifier: Apache-2.0
"""Golden walks: a change of any number of any recorded column is found, and named.

``make golden`` compares the walks of `walks.py` with what is kept in ``test/golden/records``. After
a change that is meant, ``make golden ARGS=--write`` keeps the walks as they are now, and the
message of the commit says which changed and why.

Digits depend on the processor and on the libraries that compute. So there is one file for each
machine, in this sense. On a machine without one walks are compared as far as they are the same
anywhere, and the tool says so: positions in the first second, then steps, distance and cost of the
whole. A walk with noise may become another one there, where a sample of a sensor flips; gravity
that differs in its last digits does the same. How far it then comes from itself is its spread, kept
with it. Which walks flip is chance, so each is allowed what any of them showed. ``--add`` keeps the
walks of one more machine; it is for code whose walks are kept already, since nothing there is
compared to the last digit.
"""

import argparse
from functools import cache
import hashlib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import platform
import sys

import numpy as np
from walks import WALKS

from walking_control.exceptions import MissingDependency

RECORDS = Path(__file__).parent / 'records'
COMPUTING = (
    'numpy',
    'scipy',
    'numba',
    'llvmlite',
    'pin',
    'mujoco',
    'dartpy',
    'daqp',
    'quadprog',
    'casadi',
)
NEEDS = {'mujoco': 'mujoco', 'dart': 'dartpy', 'ros': 'rclpy', 'compiled': 'numba'}
BLOCKS = 16  # parts of a column that are told apart
# telemetry that is read from a clock, or judged of the state without any effect on the walk
MEASURED = {'solve_time', 'stoppable_steps', 'stoppable_margin'}
EARLY = (0.25, 0.5, 0.75, 1.0)  # s: when positions are compared between machines
ULPS = (
    1,
    -1,
    2,
    -2,
)  # units in the last place by which gravity differs in walks that show a spread
FACTOR = 5.0  # of the largest of these spreads: as far another machine may be
# and at least, for a walk without noise: rad or m, m, and a share of the cost
NEAR = {'early': 1e-7, 'distance': 1e-6, 'cost': 1e-5, 'steps': 0}
# spread of walks with noise, of records that hold none: the largest of ten walks, four flips
SPREAD = {'early': 0.05, 'distance': 0.019, 'cost': 0.08, 'steps': 1}


def machine():
    """Return what the digits of a walk depend on besides the code: name -> value."""
    from numba.core.registry import cpu_target

    made_by = {
        'python': platform.python_version_tuple()[1],
        'system': platform.system(),
        'libc': ' '.join(platform.libc_ver()),
        'processor': list(cpu_target.target_context.codegen().magic_tuple()),
        'vectors of numpy': np.show_config(mode='dicts')['SIMD Extensions']['found'],
    }
    for name in COMPUTING:
        try:
            made_by[name] = version(name)
        except PackageNotFoundError:
            made_by[name] = None
    if 'OPENBLAS_CORETYPE' in os.environ:  # else it is that of the processor
        made_by['core of OpenBLAS'] = os.environ['OPENBLAS_CORETYPE']
    # tens of features, of which one stands for all
    made_by['processor'][2] = _digest(made_by['processor'][2].encode())
    return made_by


def record_path(made_by):
    """Return the file of a machine."""
    digest = _digest(json.dumps(made_by, sort_keys=True).encode(), 8)
    return RECORDS / f'{made_by["processor"][1]}-{digest}.json'


def columns(run):
    """Return name -> ``(T, k)`` of all that was recorded, but for what a clock says."""
    named = {
        **run.columns,
        **{
            f'telemetry {name}': values
            for name, values in run.telemetry.items()
            if name not in MEASURED
        },
    }
    return {
        name: np.ascontiguousarray(values.reshape(len(values), -1))
        for name, values in named.items()
    }


def summarize(run):
    """Return what is kept of a run.

    Returns:
        ``early``: positions at the times `EARLY`; ``steps``, ``distance`` (m) and ``cost`` (mean of
        the squared efforts) at its end, ``ended`` (why, or None), ``rows``: two digits for each row
        of the table, and for each column a ``digest``, one of each of its `BLOCKS` and its values
        in the last row.
    """
    table = columns(run)
    length = len(run.time)
    rows = [hashlib.sha256() for _ in range(length)]
    for values in table.values():
        for row, line in zip(rows, values, strict=True):
            row.update(line.tobytes())
    return {
        'early': [run.q[run.time <= time + 1e-9][-1].tolist() for time in EARLY],
        'cost': float(np.mean(np.square(run.effort))),
        'steps': int(run.steps[-1]),
        'distance': float(run.q[-1, 0]),
        'ended': None if run.fault is None else str(run.fault.code),
        'rows': ''.join(row.hexdigest()[:2] for row in rows),
        'columns': {
            name: {
                'digest': _digest(values.tobytes(), 16),
                'blocks': ''.join(
                    _digest(block.tobytes(), 4) for block in np.array_split(values, BLOCKS)
                ),
                'last': values[-1].tolist(),
            }
            for name, values in table.items()
        },
    }


def difference(kept, now):
    """Return in a line where a walk departs from what is kept of it, None where it does not."""
    before, after = kept['columns'], now['columns']
    if before.keys() != after.keys():
        return 'other columns: ' + ', '.join(sorted(before.keys() ^ after.keys()))
    changed = [name for name in before if before[name]['digest'] != after[name]['digest']]
    if not changed:
        return None
    old, new = (len(walk['rows']) // 2 for walk in (kept, now))
    row = next(
        (
            i
            for i in range(min(old, new))
            if kept['rows'][2 * i : 2 * i + 2] != now['rows'][2 * i : 2 * i + 2]
        ),
        min(old, new),
    )
    if old != new:
        return f'{new} rows instead of {old}, the first that differs is row {row}'
    starts = np.cumsum([0, *map(len, np.array_split(np.arange(old), BLOCKS))])
    block = int(np.searchsorted(starts, row, side='right')) - 1
    part = slice(4 * block, 4 * block + 4)
    there = [
        name for name in changed if before[name]['blocks'][part] != after[name]['blocks'][part]
    ]
    apart = {
        name: np.nanmax(
            np.abs(np.subtract(before[name]['last'], after[name]['last'], dtype=float)), initial=0.0
        )
        for name in changed
    }
    return (
        f'first in row {row} of {old}; in rows {starts[block]} to {starts[block + 1] - 1} '
        f'columns {", ".join(there)}; {len(changed)} of {len(before)} columns in all; off in '
        'the last row: '
        + ', '.join(
            f'{name} {error:.3g}'
            for name, error in apart.items()
            if name in ('q', 'effort', there[0])
        )
    )


def apart(one, other):
    """Return how far two summaries lie apart, name -> rad, m, a share of the cost, or steps."""
    found = {
        'distance': abs(one['distance'] - other['distance']),
        'steps': abs(one['steps'] - other['steps']),
    }
    if 'early' in one and 'early' in other:  # not in older records
        found['early'] = float(np.abs(np.subtract(one['early'], other['early'])).max())
        found['cost'] = abs(one['cost'] - other['cost']) / max(1e-12, one['cost'])
    return found


def spread(walk, summary):
    """Return how far a walk with noise comes from its summary; gravity differs in last digits."""
    gravity, ulp = 9.81, float(np.spacing(9.81))
    found = [apart(summary, summarize(walk.walk(world__gravity=gravity + n * ulp))) for n in ULPS]
    return {name: max(each[name] for each in found) for name in found[0]}


def allowed(name, walks):
    """Return how far a walk may lie from what is kept of it on another machine."""
    if not WALKS[name].noise:
        return NEAR
    spreads = [walks[other].get('spread', SPREAD) for other in walks if WALKS[other].noise]
    most = {key: max(each[key] for each in spreads) for key in NEAR}
    return {key: max(NEAR[key], FACTOR * most[key]) for key in NEAR} | {
        'steps': max(1, most['steps'])
    }


def loose_difference(kept, now, limits):
    """Return in a line how a walk is another one than on another machine, or None."""
    if kept['ended'] != now['ended']:
        return f'ended by {now["ended"]}, instead of {kept["ended"]}'
    return next(
        (
            f'{name} is off by {found:.3g}, {limits[name]:.3g} at most'
            for name, found in apart(kept, now).items()
            if found > limits[name]
        ),
        None,
    )


@cache
def kept():
    """Return the walks that are kept, and the machine they are from where it is another.

    Returns:
        ``(name -> summary, None or name -> (there, here) of what differs)``.
    """
    here = machine()
    own = record_path(here)
    if own.exists():
        return json.loads(own.read_text())['walks'], None
    others = sorted(RECORDS.glob('*.json'))
    if not others:
        raise FileNotFoundError(f'no walks are kept in {RECORDS}; make golden ARGS=--write does')
    other = json.loads(others[0].read_text())
    there = other['machine']
    return other['walks'], {
        name: (there.get(name), here.get(name))
        for name in {**there, **here}
        if there.get(name) != here.get(name)
    }


def missing(walk):
    """Return what this machine lacks for a walk, or None."""
    for kind in (walk.plant, walk.way):
        try:
            import_module(NEEDS.get(kind, 'numpy'))
        except ImportError:
            return f'{kind} needs {NEEDS[kind]}: pip install {NEEDS[kind]}, or make setup'
    return None


def judge(name):
    """Walk; return what differs from what is kept, or None."""
    walks, elsewhere = kept()
    if name not in walks:
        return 'is not kept yet: make golden ARGS=--write'
    now = summarize(WALKS[name].walk())
    if elsewhere is None:
        return difference(walks[name], now)
    return loose_difference(walks[name], now, allowed(name, walks))


def write(add=False):
    """Keep the walks as they are; those of other machines go, for they are of another code."""
    made_by = machine()
    walks = {}
    for name, walk in WALKS.items():
        lacks = missing(walk)
        if lacks:
            raise MissingDependency(f'golden walk {name}', limit=lacks)
        walks[name] = summarize(walk.walk())
        if walk.noise:
            walks[name]['spread'] = spread(walk, walks[name])
    path = record_path(made_by)
    before = json.loads(path.read_text())['walks'] if path.exists() else {}
    if not add:
        for other in RECORDS.glob('*.json'):
            other.unlink()
    RECORDS.mkdir(exist_ok=True)
    lines = (f'{json.dumps(name)}: {json.dumps(walk)}' for name, walk in walks.items())
    path.write_text(
        f'{{"machine": {json.dumps(made_by)},\n"walks": {{\n' + ',\n'.join(lines) + '\n}}\n'
    )
    for name, walk in walks.items():
        said = 'new' if name not in before else difference(before[name], walk)
        print(f'{name}: {said or "unchanged"}')
    print(f'wrote {path}')


def main(arguments=None):
    """Compare or keep; return the exit status: 1 where a walk has changed."""
    parser = argparse.ArgumentParser(prog='make golden', description=__doc__.split('\n')[0])
    parser.add_argument('--write', action='store_true', help='keep the walks as they are now')
    parser.add_argument('--add', action='store_true', help='keep those of one more machine')
    options = parser.parse_args(arguments)
    if options.write or options.add:
        write(options.add)
        return 0
    try:
        _, elsewhere = kept()
    except FileNotFoundError as error:
        print(error)
        return 2
    if elsewhere is not None:
        print(
            'cannot compare digits: no walks are kept of a machine like this one. Compared are '
            'positions in the first second, steps, distance and cost. Different: '
            + '; '.join(
                f'{name} {there} there, {here} here' for name, (there, here) in elsewhere.items()
            )
        )
    changed = 0
    for name, walk in WALKS.items():
        lacks = missing(walk)
        found = None if lacks else judge(name)
        changed += found is not None
        print(f'{name}: ' + (f'left out, {lacks}' if lacks else found or 'as kept'), flush=True)
    return int(changed > 0)


def _digest(data, digits=12):
    return hashlib.sha256(data).hexdigest()[:digits]


if __name__ == '__main__':
    sys.exit(main())
