# SPDX-License-Identifier: Apache-2.0
"""Which code of the table of coverage a command calls: what a reader can run of the sources.

Runs the commands of coverage.yaml, each in a folder of its own beside the examples, watched by
cProfile, and keeps the functions of the table that each called in data/reached.yaml. Compiled
code is not seen, so numba is told not to compile the plant of walker3d_point, which else it does.

Run: python doc/reached.py [PART of commands ...]
"""

import ast
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import tempfile

import generate
import yaml

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / 'doc' / 'data' / 'reached.yaml'
WATCH = """
import cProfile, os, runpy, sys
root, program, *arguments = sys.argv[1:]
sys.argv = [program, *arguments]
sys.path.insert(0, os.path.dirname(program) or os.getcwd())
seen = cProfile.Profile(subcalls=False, builtins=False)
try:
    seen.enable()
    if program.endswith('.py'):
        runpy.run_path(program, run_name='__main__')
    else:
        runpy.run_module(program, run_name='__main__')
except SystemExit as ended:
    if ended.code not in (None, 0, 1):  # 1: it did not happen, with the reason
        raise
finally:
    seen.disable()
    import walking_control

    installed = os.path.dirname(os.path.dirname(os.path.realpath(walking_control.__file__)))
    with open('called.txt', 'w') as file:
        for entry in seen.getstats():
            path = os.path.realpath(getattr(entry.code, 'co_filename', ''))
            base = installed if path.startswith(installed) else root
            if path.startswith(base):
                print(path[len(base) + 1:], entry.code.co_qualname, file=file)
"""


def called_by(command):
    """Run a command as a page shows it; return the functions it called, as 'path:Class.method'.

    Args:
        command: `walking_control ...` or `python examples/...`.

    Raises:
        RuntimeError: It failed.
    """
    program, *arguments = shlex.split(command)
    words = [program, *arguments] if program == 'walking_control' else arguments
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'examples').symlink_to(ROOT / 'examples')
        done = subprocess.run(
            [sys.executable, '-c', WATCH, str(ROOT), *words],
            cwd=folder,
            env={**os.environ, 'NUMBA_DISABLE_JIT': str(int('simulate walker3d_point' in command))},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f'{command}: {done.stdout[-500:]}{done.stderr[-1500:]}')
        called = (Path(folder) / 'called.txt').read_text(encoding='utf-8').splitlines()
    return {line.replace(' ', ':', 1) for line in called}


def runnable(cell):
    """Return the places of a cell of code that can be called, as 'path:name'.

    Records without methods, files that are no Python, and helpers of tests are none.
    """
    found = set()
    for path, name in generate.places(cell):
        place = path.relative_to(ROOT)
        if name and place.parts[0] != 'test' and _is_called(path, name):
            found.add(f'{place}:{name}')
    return found


def _is_called(path, name):
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return any(isinstance(part, ast.FunctionDef) for part in node.body)
    return True


def _is_class(place):
    return re.search(r':_?[A-Z]\w*$', place) is not None


def places_in(called, wanted):
    """Return which wanted places were called: a class is by any of its methods."""
    return {
        place
        for place in wanted
        if (place in called and not _is_class(place))
        or any(one.startswith(f'{place}.') for one in called)
    }


def main(parts):
    """Run the commands that have one of these parts, or all; keep what they called."""
    table = generate.coverage()
    rows = [row for source in table['sources'] for row in source['rows']]
    wanted = set().union(*(runnable(row[3]) for row in rows))
    kept = yaml.safe_load(KEPT.read_text(encoding='utf-8')) if KEPT.is_file() else {}
    kept = {command: kept.get(command, []) for command in table['commands']}
    for command in table['commands']:
        if not parts or any(part in command for part in parts):
            kept[command] = sorted(places_in(called_by(command), wanted))
            print(f'{len(kept[command]):4} places: {command}', flush=True)
    KEPT.write_text(yaml.safe_dump(kept, sort_keys=False, width=1000), encoding='utf-8')
    for place in sorted(wanted.difference(*kept.values())):
        print(f'nothing runs {place}')


if __name__ == '__main__':
    main(sys.argv[1:])
