# SPDX-License-Identifier: Apache-2.0
"""The form of the code: no class reaches into another, and arguments are few."""

import ast
from pathlib import Path

from members import private_members

import walking_control

PACKAGE = Path(walking_control.__file__).parent
# what other packages keep private, and we use for want of a public way
FOREIGN = {
    'argparse': {'_SubParsersAction'},  # the type of what `add_subparsers` returns
    'os': {'_exit'},  # public, by the library's own word
    'rclpy': {'_parameter_overrides'},  # what was given for a parameter that is not declared yet
    'rosidl': {'_CONVERT_TO_PY'},  # how a message is read: it has no limit of its length
    # its own cache names code by one file, and keeps what calls another function after that one has
    # changed; and it makes machine code anew at every level of calls
    'numba': {
        *('_cache', '_find_referenced_environments', '_loopvect'),
        *('_module_pass_manager', '_opt_level', '_rebuild', '_reduce', '_unique_ids'),
    },
}
MOST = 7  # arguments of a function
# numba compiles functions of arrays and numbers: an object for them would be copied at every call.
# All laws share one signature
COMPILED = {'array_function', 'compile_where_possible'}
LONG = {
    'simulate': 'what a script says of a walk, all but the robot with a default',
    'parameter': 'the columns of the tables of parameters',
}


def functions():
    """Yield (path, function) of every function of the package."""
    for path in sorted(PACKAGE.rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path.relative_to(PACKAGE), node


def test_no_private_member_of_another_class_is_touched():
    """A change within one class would break another; what foreign ones keep private is said."""
    found = {}
    for path in sorted(PACKAGE.rglob('*.py')):
        for node, mine, own in private_members(path):
            if not mine and not own:
                place = f'{path.relative_to(PACKAGE)}:{node.lineno}'
                found.setdefault(node.attr, []).append(place)
    foreign = set().union(*FOREIGN.values())
    assert found.keys() == foreign, {name: found.get(name) for name in found.keys() ^ foreign}
    inside = {place for name in FOREIGN['numba'] for place in found[name]}
    assert {place.partition(':')[0] for place in inside} == {'models/code_cache.py'}


def test_arguments_that_belong_together_are_one():
    """Nobody could call it without counting commas, and two of a type would change places."""
    long = {}
    for path, node in functions():
        given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        names = [each.arg for each in given if each.arg not in ('self', 'cls')]
        marks = {ast.unparse(each).partition('(')[0] for each in node.decorator_list}
        if len(names) > MOST and not marks & COMPILED:
            long[node.name] = f'{path}:{node.lineno}'
    assert long.keys() == LONG.keys(), long
