# SPDX-License-Identifier: Apache-2.0
"""Imports point one way: from the upper rooms to the lower ones."""

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
import subprocess
import sys

import pytest

import walking_control

PACKAGE = Path(walking_control.__file__).parent

# Each room and what it may import of the package, besides itself, exceptions and door: those
# before it in its part, and the core; lab and ros may import the workshop, too. Only the command
# line knows ros and lab.
CORE = (
    'models',
    'statics',
    'gaits',
    'estimation',
    'controllers',
    'safety',
    'control_loop',
    'operation',
    'loading',
)
WORKSHOP = ('runs', 'simulation', 'search', 'design')
PARTS = {
    'lab': ('adoption', 'experiments', 'reports'),
    'ros': ('ros2_control', 'recording', 'nodes'),
}
ROOMS = (*CORE, *WORKSHOP, *PARTS['lab'], *PARTS['ros'], 'cli', '__main__')
ALLOWED = {
    room: set(rooms[:i])
    for part in PARTS.values()
    for rooms in [(*CORE, *WORKSHOP, *part)]
    for i, room in enumerate(rooms)
}
ALLOWED['cli'] = ALLOWED['__main__'] = set(ROOMS)
# side by side: neither may know the other
for room, other in (('statics', 'gaits'), ('estimation', 'controllers')):
    ALLOWED[other].discard(room)
ALLOWED['search'] -= {'runs', 'simulation'}
ALLOWED['design'] -= {'runs', 'simulation', 'search'}
ALLOWED['safety'] = ALLOWED['launch_arguments'] = {'models'}
ALLOWED['estimation'].discard('statics')
ALLOWED['nodes'].add('launch_arguments')  # carried out there
ROS = {
    'rclpy',
    'std_msgs',
    'sensor_msgs',
    'geometry_msgs',
    'std_srvs',
    'lifecycle_msgs',
    'rcl_interfaces',
    'rosgraph_msgs',
    'nav_msgs',
    'diagnostic_msgs',
    'visualization_msgs',
    'trajectory_msgs',
    'tf2_msgs',
    'builtin_interfaces',
}


@cache
def imported_modules(path):
    """Return the dotted names a file imports, anywhere in it."""
    return [*find_imports(path)]


def find_imports(path):
    """Yield the dotted names a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            # `from package import module` imports the module
            yield from (f'{node.module}.{alias.name}' for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f'{path} has a relative import')


def room_of(path):
    """Return the room of a file: its folder, or its own name beside the rooms."""
    return room_in(path.relative_to(PACKAGE).with_suffix('').parts)


def room_in(parts):
    """Return the room that a dotted name without the package's lies in."""
    return parts[1] if parts[0] in PARTS and len(parts) > 1 else parts[0]


def folder_of(room):
    """Return where a room lies."""
    return PACKAGE / next((part for part, rooms in PARTS.items() if room in rooms), '') / room


def test_arrows_point_up():
    """A room that reaches for a higher room would turn the house into a ball of mud."""
    wrong = []
    for path in PACKAGE.rglob('*.py'):
        room = room_of(path)
        for module in imported_modules(path):
            parts = module.split('.')
            if parts[0] != 'walking_control' or len(parts) < 2 or parts[1] == '__version__':
                continue
            if room_in(parts[1:]) not in {room, 'exceptions', 'door', *ALLOWED.get(room, set())}:
                wrong.append(f'{path.relative_to(PACKAGE)} imports {module}')
    assert not wrong


def test_ros_stays_in_nodes():
    """Code outside nodes/ that imports ROS would not run at a desk without ROS."""
    wrong = [
        f'{path.relative_to(PACKAGE)} imports {module}'
        for path in PACKAGE.rglob('*.py')
        if room_of(path) != 'nodes'
        for module in imported_modules(path)
        if module.split('.')[0] in ROS
    ]
    assert not wrong


def test_every_room_has_rules():
    """A new room without a rule would escape the arrow test."""
    rooms = {room_of(path) for path in PACKAGE.rglob('*.py')} - {'__init__', 'exceptions', 'door'}
    inside = {path.name for part in PARTS for path in (PACKAGE / part).iterdir() if path.is_dir()}
    assert inside - {'__pycache__'} == {room for part in PARTS.values() for room in part}
    assert rooms <= set(ALLOWED)


def test_the_table_of_rooms():
    """A room would be missing where a newcomer looks for it, or stand below one that it imports."""
    page = (Path(__file__).parents[2] / 'doc' / 'concepts.md').read_text(encoding='utf-8')
    table = page.partition('## Where a line of code is')[2].partition('\n## ')[0]
    rooms = [
        room
        for part in (CORE, WORKSHOP, *PARTS.values(), ('cli',))
        for room in part
        if folder_of(room).is_dir()
    ]
    assert re.findall(r'^- `(\w+)`: ', table, re.M) == rooms[::-1]
    assert 0 < len(re.findall(r'^- \*\*', page, re.M)) <= 14, 'words'


INSIDES = 250  # names of one module alone that tests may reach for


def names_from(paths, places):
    """Yield file, module and name of each import from the package; `places`: what doors offer."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, 'module', None) or ''
            for alias in node.names if module.partition('.')[0] == 'walking_control' else ():
                yield path, places.get((module, alias.name), (module, alias.name))


@pytest.mark.long
def test_tests_reach_few_insides():
    """Tests of what one module keeps to itself would have to be written anew with each change.

    An inside is a name that no door offers and no other module of the package imports.
    """
    places = {}
    for init in PACKAGE.rglob('__init__.py'):
        room = '.'.join(('walking_control', *init.parent.relative_to(PACKAGE).parts))
        for name, (module, other) in getattr(import_module(room), '_PUBLIC', {}).items():
            places[room, name] = f'walking_control.{module}', other
    shared = set(places.values())
    for path, (module, name) in names_from(PACKAGE.rglob('*.py'), places):
        if PACKAGE.parent / Path(*module.split('.')).with_suffix('.py') != path:
            shared.add((module, name))
    reached = {place for _, place in names_from(Path(__file__).parents[1].rglob('*.py'), places)}
    insides = {
        (module, name)
        for module, name in reached - shared
        if not (PACKAGE.parent / Path(*module.split('.'), name)).with_suffix('.py').is_file()
        and not (PACKAGE.parent / Path(*module.split('.'), name)).is_dir()
    }
    assert 100 < len(insides) <= INSIDES, len(insides)


def test_help_loads_no_statistics():
    """Half of the time that a command takes before its first line would go into scipy.stats."""
    script = """
import sys
from walking_control.cli import main
try:
    main(['--version'])
except SystemExit:
    print(*sorted(sys.modules))
"""
    ran = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=True, timeout=120
    )
    assert not {'scipy.stats', 'scipy.signal', 'scipy.ndimage', 'casadi'} & {*ran.stdout.split()}


def test_reading_a_robot_loads_no_law_no_plant_and_no_compiler():
    """If it failed, every program would wait for scipy, numba and CasADi before its first line."""
    script = (
        "import sys, walking_control as wc; wc.load_robot('dribbel'); print(*sorted(sys.modules))"
    )
    loaded = set(
        subprocess.run(
            [sys.executable, '-c', script], capture_output=True, text=True, check=True, timeout=60
        ).stdout.split()
    )
    assert not loaded & {'scipy', 'numba', 'casadi', 'mujoco', 'rclpy'}
    assert not {
        name
        for room in ('controllers', 'simulation')
        for name in loaded
        if name.startswith(f'walking_control.{room}.')
        and (PACKAGE / Path(*name.split('.')[1:])).with_suffix('.py').is_file()
        and name.rpartition('.')[2] not in ('parameters', 'registry', 'sensors')
    }


WITHOUT_CASADI = """
import sys
sys.modules['casadi'] = None  # as where it is not installed
import walking_control as wc
from walking_control.exceptions import MissingDependency
from walking_control.simulation import make_walker
print(make_walker(wc.load_robot('compass')).is_compiled)
try:
    import walking_control.search.optimisation
except MissingDependency as error:
    print(error)
"""


def test_without_casadi_robots_walk_and_searches_say_what_they_need():
    """If it failed, a plain install would end in a traceback before its first step."""
    said = subprocess.run(
        [sys.executable, '-c', WITHOUT_CASADI], capture_output=True, text=True, timeout=60
    )
    compiled, error = said.stdout.splitlines()
    assert compiled == 'False', said.stderr
    assert error.startswith('gait search: needs the package casadi'), error
    assert error.endswith('; pip install casadi'), error


LOOP_AND_LAWS = """
import sys
import walking_control.control_loop, walking_control.loading, walking_control.operation
from walking_control.controllers.registry import CONTROLLERS
laws = list(CONTROLLERS.values())
"""
SIMULATION = """
import sys
import walking_control.simulation.simulate, walking_control.simulation.registry
import walking_control.simulation.rigid.compiled, walking_control.simulation.mujoco.engine
"""


@pytest.mark.parametrize(
    ('script', 'others'),
    [
        (LOOP_AND_LAWS, ('runs', 'simulation', 'search', 'design', 'lab', 'ros', 'cli')),
        (SIMULATION, ('simulation.compliant', 'simulation.dart', 'simulation.massless', 'search')),
    ],
)
def test_who_walks_loads_what_walks(script, others):
    """A walking robot would carry a simulator, a walk in it the engines that it does not use."""
    loaded = subprocess.run(
        [sys.executable, '-c', script + 'print(*sorted(sys.modules))'],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()
    wrong = tuple(f'walking_control.{other}' for other in others)
    assert not [name for name in loaded if name.startswith(wrong)]


@pytest.mark.parametrize('folder', ['benchmarks', 'examples'])
def test_programs_beside_the_package_import_what_there_is(folder):
    """A benchmark that a page names would end in an ImportError, and no test would run it."""
    wrong = []
    for path, (module, name) in names_from((PACKAGE.parent / folder).rglob('*.py'), {}):
        if module.startswith('walking_control.ros'):  # needs ROS 2
            continue
        if not hasattr(import_module(module), name) and not find_spec(f'{module}.{name}'):
            wrong.append(f'{path.name}: {name} of {module}')
    assert not wrong
