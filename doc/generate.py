# SPDX-License-Identifier: Apache-2.0
"""Write the pages of this folder that follow from code: `python doc/generate.py`."""

import ast
from functools import cache, partial
from importlib import import_module
import itertools
import json
from pathlib import Path
from pkgutil import iter_modules
import re

import walking_control
from walking_control.loading import load_robot, SECTIONS
from walking_control.models.actuators import GearedMotor, JointFriction, JointSpring, MotorThermal
from walking_control.models.own_signals import KINDS as KINDS_OF_SIGNALS
from walking_control.models.own_signals import SignalParameters
from walking_control.models.robot_file import World
from walking_control.models.robot_section import PushOffLimit, ServoParameters
from walking_control.models.scale import RULES
from walking_control.models.signals import STATE
from walking_control.models.yaml_text import read_yaml
from walking_control.ros.ros2_control.security import accesses
from walking_control.safety.faults import BEST, KINDS
from walking_control.safety.machine import (
    Event,
    LATCHED,
    LIFECYCLE_EVENTS,
    NEXT,
    OUTPUTS,
    REACTION_EVENTS,
    ROWS,
    State,
)
from walking_control.simulation.engine import Feature
from walking_control.simulation.registry import make_plant

FOLDER = Path(__file__).parent

HEADER = """# Parameters

Generated from the classes of parameters by `python doc/generate.py`; do not edit.

Every section is one of a robot file (`config/robots/*.yaml`) and a group of ROS parameters (`<section>.<name>`). On the command line
`--set <section>.<name>=<value>` sets a parameter; the name alone means the robot's own controller and plant. A parameter with a star is *live*: it
may change while the robot walks, all others only while the controller is unconfigured.

After the name stands the default if it is not 0 or empty, and in brackets the range. Without a range any value from a tenth to ten times the default is taken,
of a default of 0 any from 0 to 1; `ros2 param describe`, and every refusal, tell the limits. A row without a description repeats one from the nearest section
above. A default marked \\~ is that of a robot of 10 kg and 1 m and [grows with the robot](#defaults-that-grow). A number in the robot file counts as it is. σ is a standard deviation.
"""

SHARED = {
    'natural_walking': 'stepping',
    'push_off': 'foot_placement',
    'time_pd': 'curve_tracking',
    'hip_pd': 'curve_tracking',
    'hip_stop': 'hip_pd',
    'compliant': 'rigid',
    'mujoco': 'dart',
}
CONTINUED = ('The same', 'Likewise', 'Of its', 'Of the change')  # of the parameter before
ON_CODE = (
    '- `on_<code>`: reaction to each fault; defaults and choices: '
    '[what a fault leaves](faults.md#what-a-fault-leaves).'
)


def parameters_page():
    """Return the text of parameters.md."""
    lines, said = [HEADER], {}
    places = {
        GearedMotor: r'robot.actuators.\<joint>',
        JointSpring: r'robot.springs.\<joint>',
        JointFriction: r'robot.friction.\<joint>',
        MotorThermal: r'robot.thermal.\<joint>',
        ServoParameters: r'robot.servos.\<joint>',
        PushOffLimit: 'robot.push_off',
        SignalParameters: r'robot.signals.\<name>',
    }
    for kind in (World, *SECTIONS.values(), *places):
        lines += [f'## {places.get(kind, kind.section)}', *_rows(kind, said), '']
    return '\n'.join([*lines, *_kinds(), *_growing(), ''])


def _rows(kind, said):
    """Return the lines of a section; what it has from a section above is named, not said again.

    `said`: name -> description of the parameters above; those of this section are added.
    """
    rows = {
        name: row
        for name, row in kind.rows.items()
        if kind.section != 'safety' or name[:3] != 'on_'
    }
    lines = []
    if kind in SECTIONS.values() and kind.section in SHARED:
        other = SECTIONS[SHARED[kind.section]]
        shared = [name for name, row in rows.items() if _same(row, other.rows.get(name))]
        rows = {name: row for name, row in rows.items() if name not in shared}
        names, left = (
            ', '.join(f'`{name}`' for name in them)
            for them in (shared, [name for name in other.rows if name not in kind.rows])
        )
        as_there = f'As in [{other.section}](#{other.section})'
        if len(left) < len(names):
            but = f' but {left}' * bool(left)
            lines = ['', f'{as_there}, where nothing else is said here: all{but}.']
        else:
            lines = ['', f'{as_there}: {names}.']
    if rows:
        lines.append('')
        for parameter in rows.values():
            words = parameter.description.replace('Standard deviation of', 'σ of')
            repeated = said.get(parameter.name) == parameter.description
            if repeated and not words.startswith(CONTINUED):
                lines.append(f'- {_row(parameter)}')
            elif lines[-1] and words.startswith(CONTINUED):
                lines[-1] += f' {_row(parameter)}: {words}'
            else:
                lines.append(f'- {_row(parameter)}: {words}')
        said.update((name, row.description) for name, row in rows.items())
    if kind.section == 'safety':
        lines.append(ON_CODE)
    return lines


def _same(row, other):
    """Return whether two parameters have one default, range and meaning."""
    return other is not None and all(
        getattr(row, what) == getattr(other, what)
        for what in ('default', 'unit', 'range_text', 'live', 'description')
    )


def _kinds():
    """Return the lines on kinds of signals."""
    lines = [
        '## Kinds of signals',
        '',
        'What a row of `robot.signals` begins with ([robot files](robot_file.md#signals)). A simulated one is measured, or says '
        '`at_rest` if that stands here.',
        '',
    ]
    for name, kind in KINDS_OF_SIGNALS.items():
        bounds = (
            'bounds to be written'
            if kind.upper != kind.upper
            else f'{kind.lower:g} to {kind.upper:g}'
        )
        bounds = 'bounds of the motor' if name == 'effort' else bounds
        field = kind.field + (f'.{kind.axes}' if kind.axes else '')
        of = '' if kind.message == STATE else ', of a link'
        meaning = kind.meaning + ('' if kind.sense else '; `at_rest`')
        lines.append(f'- `{name}`{of}, {kind.unit} ({bounds}), `{kind.message}:{field}`: {meaning}')
    return [*lines, '']


def _growing():
    """Return the lines on defaults that grow with the robot."""
    rules = {}
    for kind in SECTIONS.values():
        for parameter in kind.rows.values():
            if parameter.scaled:
                units = rules.setdefault(RULES[parameter.unit][1].replace(' ', ''), [])
                if parameter.unit not in units:
                    units.append(parameter.unit)
    told = (f'{", ".join(units)} with {rule}' for rule, units in rules.items())
    return [
        '## Defaults that grow',
        '',
        'm is the mass of the robot, L the height of the first joint of a leg above its foot at zero angles, g gravity and T = '
        '(L/g)^0.5. A default is multiplied by what its unit grows with, as a ratio to a robot of 10 kg and 1 m on earth:',
        '',
        f'{"; ".join(told)}.',
        '',
        'For one of 32 kg and 0.6 m, for instance, 15 N become 48 N, and 0.2 m become 0.12 m.',
    ]


def _row(parameter):
    default = parameter.default
    if isinstance(default, tuple):
        default = list(default)
    # what is 0 or empty is not said
    if default is not False and not (any(default) if isinstance(default, list) else default):
        default = ''
    unit = '' if parameter.unit == '1' else parameter.unit
    cell = f'{default} {unit}'.strip()
    limits = parameter.range_text.removeprefix('must be ').removeprefix('from ')
    limits = limits.removeprefix('one of ').removesuffix(f' {unit}').replace(' to ', '…')
    if _is_wide(parameter):
        limits = ''
    marks = '\\*' * parameter.live + '\\~' * parameter.scaled
    return f'`{parameter.name}`{marks}{f", {cell}" * bool(cell)}{f" ({limits})" * bool(limits)}'


def _is_wide(parameter):
    """Return whether a parameter takes all from a tenth to ten times its default (of 0: up to 1)."""
    value, least, most = parameter.default, parameter.minimum, parameter.maximum
    if not isinstance(value, (int, float)) or isinstance(value, bool) or None in (least, most):
        return False
    return 0 <= least <= value / 10 and most >= (10 * value or 1.0)


FAULTS_HEADER = """# Faults

Generated by `python doc/generate.py` from the markers of the tests that prove each finding (`test/nodes`) and from
`walking_control/safety/machine.py`; do not edit. [A page to click through](fault_stepper.html) shows what happens next in each state.

**A fault latches.** Only safe commands are sent until somebody calls `~/clear_fault`, whatever the lifecycle does meanwhile. A cause that lasts
latches again at the next tick. The first fault stays the one that is shown; others follow in the log and in `/diagnostics`. In real time,
what led to a fault is [saved](recording.md).

**Reactions.** `safety.on_<code>` chooses one:

- `stand` and `lower`: stops of [category](stops.md#categories-of-a-stop) 2 and 1, by the law;
- `damping`: the actuated joints are damped for `damping_time`, then the effort is zero (category 0, as the rest). If
  sensors stop, so does the damping, because nobody knows how the joints move;
- `fade`: the last effort fades at `fade_rate` to zero;
- `zero`: the effort is zero at once;
- `best`: the stop of the category in the list below where the law can stand, else the reaction beside it.

A second fault can only make the reaction stronger, in the order stop, fade, damping, zero. Zero is reached within `damping_time`, or the largest
effort divided by `fade_rate`, and two control periods. In real time a reaction runs on the steady clock, beside a simulator
(`use_sim_time`) on the simulated clock, in lockstep on the stamps. Stamps that stand still for `lockstep_timeout` end in zero.

**Impossible measurements are bridged.** For `bridge_time` (0.015 s for a robot of 1 m) the last good values replace what cannot be
([what is possible](sensor_checks.md)). If it lasts, or comes before the first good value, it is a fault. `/diagnostics` counts
`bridged measurements`.

## What a fault leaves

The [category of the stop](stops.md#categories-of-a-stop) depends on what is still known: a law that stands needs the joints, the attitude of the base and
the floor. `stepping` and `natural_walking` on soles can stand, and so can `hip_stop` and a standby law. With other laws a robot falls by the reaction
beside the category. A robot that no torque held stays as it was.

With category 1 or 2 the default of `safety.on_<code>` is `best`, and any reaction may be chosen. With category 0 the default is the reaction beside it;
`damping`, `fade` and `zero` may be chosen, but where `zero` stands nothing else. For the emergency stop `safety.emergency_stop_category`
chooses the category, and `on_emergency_stop` what category 0 does. A category that the law cannot do is refused at configure.

The lists below have the faults of each category, with the reaction where the law cannot stand. A line has the code, what is found, and in italics what is
still known. In brackets stands when a fault is found, if not at the tick; a time alone means once it has lasted that long. A timeout may take two control
periods longer.
"""

DETECTED = {'once it has lasted for bridge_time': '`bridge_time`'}
AT_ONCE = (
    'at the tick',
    'at the request',
    'at the message',
    'at its first message',
    'at the signal',
    'at the transition',
    'before sending',
    'when it arrives',
    'when it is called',
    'when it is set',
)
OBVIOUS = (
    '~/clear_fault',
    'nothing to clear',
    'a new message',
    'a new start',
    'a velocity within the limits',
    'a finite velocity',
    'activate',
)
IMPLIED = ('zero', 'as before', 'as the law says', 'what the law says', 'the clamped effort')

FAULT_TESTS = (
    'test_faults.py',
    'test_claims.py',
    'test_reactions.py',
    'test_lifecycle.py',
    'test_controller_node.py',
    'test_cmd_vel.py',
)

OTHERS_HEADER = """
## What is no fault

The robot walks on, unless its line says otherwise.

"""

STATES_HEADER = """
## States

An event that is not listed has no effect; a transition of the lifecycle that is not listed is refused. `shutdown` leads from
every state to finalized. `fade`, `damp` and `zero` are faults with that reaction, `stop` one with stand or lower. `stood` means
that the robot has stood still for `stand_time`, `lower` that its power shall go, `sensors` a complete set of measurements, and `over` that the
time of the reaction has passed. In brackets stands what leaves the controller.

"""


def faults_page():
    """Return the text of faults.md, read from the markers of the tests and the state machine."""
    findings = _findings()
    rows = []
    for group in sorted({(kind.category, kind.reaction) for kind in KINDS.values()}, reverse=True):
        category, reaction = group
        what = f', else `{reaction}`' if category else f': `{reaction}`'
        rows += ['', f'**Category {category}{what}**', '']
        rows += [
            f'- `{kind.code}`: {". ".join(findings[kind.code])}. '
            f'*{kind.known[0].upper()}{kind.known[1:]}.*'
            for kind in KINDS.values()
            if (kind.category, kind.reaction) == group
        ]
    states = [
        f'- **{_word(state)}** ({output})'
        + ''.join(
            f'; {", ".join(map(_word, events))}: {_word(after)}'
            for at, events, after in ROWS
            if at is state and after is not State.FINALIZED
        )
        for state, output in OUTPUTS.items()
    ]
    return ''.join(
        (
            FAULTS_HEADER,
            '\n'.join(rows),
            '\n',
            OTHERS_HEADER,
            '\n'.join(findings[None]),
            '\n',
            STATES_HEADER,
            '\n'.join(states),
            '\n',
        )
    )


SECURITY_HEADER = """# Security

Generated by `python doc/generate.py` from `walking_control/ros/ros2_control/security.py`; do not edit. A test sets the table beside what the nodes do.

Whoever reaches the ROS network may command the motors: DDS asks nobody who he is. What keeps others out is a network of the robot's own,
`ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST` where all runs on one machine, or SROS2; the [monitor](monitoring.md#who-may-connect)
has a gate for web pages. SROS2 gives every program a key and a list of what it may do:

```console
$ walking_control ros2_control my_robot.yaml --policy policy.xml
$ ros2 security create_keystore keys
$ ros2 security generate_artifacts -k keys -p policy.xml
$ export ROS_SECURITY_KEYSTORE=$PWD/keys ROS_SECURITY_ENABLE=true ROS_SECURITY_STRATEGY=Enforce
$ ros2 run walking_control controller_node --ros-args --enclave /walking_controller -p realtime:=true
$ ros2 run walking_control watchdog_node --ros-args --enclave /watchdog
```

With `--namespace north` enclaves are `/north/walking_controller` and so on. `operator` is for whoever
steers and stops, such as teleop. On a robot leave the key of `simulator` away: it may tell sensors. The nodes of ros2_control
get theirs by `ros2 security generate_policy` beside a running robot. Keys must not be readable by others.

No other program than the controller and the watchdog may then publish efforts; a thief of their keys, or of the machine, may.
Encryption takes time that a tick waits for: look at the jitter in `/diagnostics` before the robot walks. The policy is valid by the schema of sros2;
nodes were not run with keys.

| node | publishes | hears | serves | calls |
|---|---|---|---|---|
"""

LIFECYCLE = (
    'change_state',
    'get_state',
    'get_available_states',
    'get_available_transitions',
    'get_transition_graph',
)
SECURITY_GROUPS = {  # what several nodes have, by one word
    'sensors': (
        'joint_states',
        'imu_broadcaster/imu',
        'outer_foot_broadcaster/wrench',
        'inner_foot_broadcaster/wrench',
        'lock_broadcaster/joint_states',
    ),
    'buttons': tuple(
        f'walking_controller/{name}'
        for name in ('start', 'stop', 'emergency_stop', 'power_off', 'clear_fault')
    ),
    'parameters': tuple(
        f'walking_controller/{name}'
        for name in (
            'describe_parameters',
            'get_parameter_types',
            'get_parameters',
            'list_parameters',
            'set_parameters',
            'set_parameters_atomically',
        )
    ),
    'lifecycle': tuple(f'walking_controller/{name}' for name in LIFECYCLE),
    'gains': ('stiffness_controller/commands', 'damping_controller/commands'),
    'frames': ('/tf', '/tf_static'),
}

SECURITY_NOTE = """
Of Dribbel, whose feet are `outer_foot` and `inner_foot`; `*` is any of the namespace, or below that name. Every node also
publishes `/rosout` and `/parameter_events`, hears `/clock` and `/parameter_events`, and serves its parameters.
"""


def security_page():
    """Return the text of security.md."""
    table, rows = accesses(load_robot('dribbel').robot), []
    every = [set.intersection(*map(set, names)) for names in zip(*table.values())]
    for node, access in table.items():
        cells = (
            ', '.join(_grouped([name for name in names if name not in common], f'{node}/'))
            for names, common in zip(access, every)
        )
        rows.append(f'| `{node}` | {" | ".join(cells)} |')
    groups = (
        f'- *{word}*: {", ".join(f"`{name}`" for name in names)}.'
        for word, names in SECURITY_GROUPS.items()
    )
    return '\n'.join((SECURITY_HEADER + '\n'.join(rows), '', *groups, SECURITY_NOTE))


def _grouped(names, own):
    """Return names as the table has them, those of a group by its word, first of all.

    `own`: the namespace of the node, which its own names have as `~/`.
    """
    words, names = [], [name.replace('~/', own) for name in names]
    for word, group in SECURITY_GROUPS.items():
        if set(group) <= set(names):
            words.append(f'*{word}*')
            names = [name for name in names if name not in group]
    return [*words, *(f'`{name.replace(own, "~/")}`' for name in names)]


def _word(name):
    return name.name.lower().replace('_', ' ')


def _findings():
    """Return code: what the tests prove to be found; of None the lines on what is no fault."""
    findings = {}
    for name in FAULT_TESTS:
        source = (FOLDER.parent / 'test' / 'nodes' / name).read_text(encoding='utf-8')
        for function in ast.parse(source).body:
            for mark in getattr(function, 'decorator_list', ()):
                if getattr(getattr(mark, 'func', None), 'id', None) == 'fault':
                    title = ast.literal_eval(mark.args[0])
                    row = {each.arg: ast.literal_eval(each.value) for each in mark.keywords}
                    findings.setdefault(row['code'], []).append(_found(title, row))
    return findings


def _found(title, row):
    """Return what is found, and when; of what is no fault the line with what follows."""
    detected = row['detected'].removesuffix(' and at most two control periods')
    detected = '' if detected in AT_ONCE else DETECTED.get(detected, detected)
    if row['code']:
        more = '; '.join(filter(None, (detected, row['reaction'].partition('; ')[2])))
        more = more.replace(' (', ', ').replace(')', '')
        return f'{title} ({more})' if more else title
    follows = row['reaction'].removesuffix('; walking goes on')
    if row['last'] not in IMPLIED:
        follows = row['last']
    if row['clears'] not in OBVIOUS:
        follows += f'; ended by {row["clears"]}'
    return f'- **{title}**{f", {detected}" * bool(detected)}: {follows}.'


EVENT_WORDS = {
    Event.CONFIGURE: 'configure',
    Event.ACTIVATE: 'activate',
    Event.DEACTIVATE: 'deactivate',
    Event.CLEANUP: 'cleanup',
    Event.SHUTDOWN: 'shutdown',
    Event.SENSORS: 'a set of sensors is answered',
    Event.FADE: 'a fault that fades',
    Event.DAMP: 'a fault that damps',
    Event.ZERO: 'a fault that ends in zero at once',
    Event.OVER: 'the time of the reaction has passed',
    Event.CLEAR: '~/clear_fault is called',
    Event.STOP: 'a fault after which the robot stands',
    Event.STOOD: 'the robot has come to a stand',
    Event.LOWER: 'it stands, and its power shall go',
}


def stepper_data():
    """Return what the stepper walks: states, events, the table between them, kinds of fault."""
    following = {state.name: {} for state in State if any(at is state for at, _ in NEXT)}
    for (state, event), after in NEXT.items():
        following[state.name][event.name] = after.name
    return {
        'start': State.UNCONFIGURED.name,
        'states': {
            state.name: {'output': OUTPUTS[state], 'latched': state in LATCHED} for state in State
        },
        'events': {event.name: EVENT_WORDS[event] for event in Event},
        'lifecycle': [event.name for event in LIFECYCLE_EVENTS],
        'reactions': [event.name for event in dict.fromkeys(REACTION_EVENTS.values())],
        'next': following,
        'kinds': {
            kind.code: {
                'meaning': kind.meaning,
                'reaction': kind.react(BEST, True),
                'event': REACTION_EVENTS[kind.react(BEST, True)].name,
            }
            for kind in KINDS.values()
        },
    }


def stepper_page():
    """Return the text of fault_stepper.html, one file that needs nothing else."""
    template = (FOLDER / 'fault_stepper.template.html').read_text(encoding='utf-8')
    return template.replace('/*DATA*/', json.dumps(stepper_data(), indent=1))


STUB = """# SPDX-License-Identifier: Apache-2.0
# Generated by `python doc/generate.py` from `_PUBLIC`; do not edit.
"""


def stub(door=walking_control, modules=False):
    """Return the text of __init__.pyi: the front door, or that of a room, for type checkers.

    `modules`: whether the modules of the room are named, too.
    """
    inner = sorted(each.name for each in iter_modules(door.__path__)) if modules else ()
    named = [(door.__name__, module, module) for module in inner]
    named += [(f'walking_control.{at}', other, name) for name, (at, other) in door._PUBLIC.items()]
    lines = sorted(
        (f'from {module} import {other} as {name}' for module, other, name in named),
        key=lambda line: (line.lower(), line),
    )
    # as the formatter has them
    lines = [
        line if len(line) <= 100 else line.replace(' import ', ' import (\n    ') + ',\n)'
        for line in lines
    ]
    own = ['__version__'] if door is walking_control else []
    names = [f'    {name!r},' for name in (*door._PUBLIC, *own)]
    more = [line for name in own for line in ('', f'{name}: str')]
    offered = ('', '__all__ = [', *names, ']') if names else ()
    return '\n'.join((STUB, *lines, *offered, *more, ''))


PAIRS = (
    ('compass', 'rigid'),
    ('walker3d_point', 'rigid'),
    ('compass', 'compliant'),
    ('walker3d', 'compliant'),
    ('dribbel', 'mujoco'),
    ('walker3d', 'mujoco'),
    ('dribbel', 'dart'),
    ('walker3d', 'dart'),
)

FEATURES_HEAD = """# What each plant offers

Generated by `python doc/generate.py` from what the engines declare; do not edit.

Every plant knows pushes along the walk: at a touchdown (`push=0.1@3`), a part of a step later (`push=0.1@3.25`) or at
a time (`push=0.1@2.5s`), at once or for a duration. What else it offers depends on whether the robot
moves in a plane or in space. What is not offered is refused with the reason below.

"""


def features_page():
    """Return the text of plant_features.md, read from the engines."""
    reasons, columns = {}, {}
    for robot, plant in PAIRS:
        lacks = make_plant(load_robot(robot), plant).engine.lacks
        cells = tuple(
            f'{reasons.setdefault(lacks[each], len(reasons) + 1)})' if each in lacks else 'yes'
            for each in Feature
        )
        columns.setdefault((robot, cells), []).append(plant)  # plants that offer the same
    heads = [f'{" or ".join(plants)}, {robot}' for (robot, _), plants in columns.items()]
    lines = [
        '| | ' + ' | '.join(heads) + ' |',
        '|---' * (len(heads) + 1) + '|',
        *(
            f'| {feature.value} | ' + ' | '.join(row) + ' |'
            for feature, *row in zip(Feature, *(cells for _, cells in columns))
        ),
    ]
    notes = [f'{i}. {reason[0].upper()}{reason[1:]}.' for reason, i in reasons.items()]
    return FEATURES_HEAD + '\n'.join([*lines, '', *notes, ''])


COVERAGE_HEAD = """# What the sources print, and where it is

Generated by `python doc/generate.py`; do not edit. [coverage.yaml](coverage.yaml) has a row for every numbered equation, figure,
table and statement (lemma, theorem, definition, remark or example) of the five sources ([references](references.md)): what it says, what
became of it, code, test, and the row of [reproduction](reproduction.md) that computes its number anew. A test finds each of them. This page
counts them and says which command calls the code (found by running it, `python doc/reached.py`). Every equation, lemma and theorem has
one: `python doc/draw.py 12` draws twelve and runs them. [Errata](errata.md) says what is wrong in the sources.

"""

TITLES = {
    'DS09': 'Walking robots',
    'SR20': 'Losses of gears',
    'Mor17': 'Transmission of motion',
    'Bri26': 'Serial robots',
    'STATIC': 'Static torques',
}
NO_PLACE = ('not applicable', 'none')


def coverage():
    """Return the commands of coverage.yaml and what it says of each source."""
    return read_yaml(FOLDER / 'coverage.yaml', 'table of coverage')


def sources():
    """Return what coverage.yaml says of each source."""
    return coverage()['sources']


def places(cell):
    """Yield (file, name) of every place a cell of code or tests names."""
    if not cell.startswith(NO_PLACE):
        for place in cell.split(', '):
            path, _, name = place.partition(':')
            yield (
                next((folder / path for folder in ROOMS if (folder / path).is_file()), Path(path)),
                name,
            )


ROOMS = [FOLDER.parent / name for name in ('', 'walking_control', 'test')]


@cache
def names_in(path):
    """Return the functions, classes and methods of a file, methods as Class.method."""
    names = set()
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        names.add(getattr(node, 'name', None))
        if isinstance(node, ast.ClassDef):
            names.update(f'{node.name}.{part.name}' for part in node.body if hasattr(part, 'name'))
    return names


def _absent(rows):
    """Yield a line on each row of a source that is not implemented."""
    for items, says, state, *_ in rows:
        kind, _, reason = state.partition(': ')
        if kind == 'not implemented':
            yield f'- not implemented: {items}, {says}: {reason}.'


def runs():
    """Yield the rows of each source, and for each command of `reached.py` the rows it runs.

    A row goes to the command that calls most of its code, of several to that which calls least else.
    """
    called = read_yaml(FOLDER / 'data' / 'reached.yaml', 'code that commands call')
    for source in sources():
        rows = {command: [] for command in called}
        for row in source['rows']:
            wanted = {f'{path.relative_to(FOLDER.parent)}:{name}' for path, name in places(row[3])}
            shared = {command: len(wanted.intersection(called[command])) for command in called}
            best = max(called, key=lambda command: (shared[command], -len(called[command])))
            if shared[best]:
                rows[best].append(row)
        yield source, rows


ITEM = re.compile(
    r'(Fig\. |Table |Lemma |Theorem |\()((?:\w\.)?)(\d+)\)?(?:-\(?(?:\w\.)?(\d+)\)?)?'
)


def _ranges(rows):
    """Yield what rows name, each chapter's equations, lemmas and the like as ranges."""
    numbers = {}
    for row in rows:
        for kind, chapter, first, last in ITEM.findall(row[0]):
            known = numbers.setdefault((kind, chapter), set())
            known.update(range(int(first), int(last or first) + 1))
    for (kind, chapter), known in numbers.items():
        start, end = ('(', ')') if kind == '(' else ('', '')
        ranges = []
        for first in sorted(known - {n + 1 for n in known}):
            last = next(n for n in itertools.count(first) if n + 1 not in known)
            whole = (first, last) if last > first else (first,)
            ranges.append('-'.join(f'{start}{chapter}{n}{end}' for n in whole))
        yield kind.strip('(') + ', '.join(ranges)


def coverage_page():
    """Return the text of coverage.md."""
    lines, called = [], {}
    for source, commands in runs():
        states = [row[2].partition(':')[0] for row in source['rows']]
        counted = ', '.join(f'{states.count(state)} {state}' for state in dict.fromkeys(states))
        numbered = ', '.join(
            f'{sum(chapters.values())} {kind}s' for kind, chapters in source['numbered'].items()
        )
        lines += [
            f'- {TITLES[source["key"]]} [{source["key"]}]: {numbered}, in {len(source["rows"])} rows: {counted}.',
            *(f'  {line}' for line in _absent(source['rows'])),
        ]
        for command, rows in commands.items():
            if rows:
                called.setdefault(command, []).append(
                    f'[{source["key"]}] {", ".join(_ranges(rows))}'
                )
    lines += ['', '## Which command calls the code', '']
    lines += [f'- `{command}`: {"; ".join(called[command])}.' for command in sorted(called)]
    return COVERAGE_HEAD + '\n'.join([*lines, ''])


def _told(page, pattern):
    """Return what a pattern finds in the page of a law."""
    text = (FOLDER / 'controllers' / page).read_text(encoding='utf-8')
    return re.findall(pattern, text, re.M)


def price_figure():
    """Return the figure of price against push, as SVG, by the tables of two pages."""
    low, *taller = _told(
        'stepping_evidence.md', r'^\| .*?(0\.\d+) m.*?cm.*? \| ([0-9.]+) \| ([0-9.]+) \|'
    )
    (price,) = _told(
        'natural_walking.md', r'^\| electrical cost of transport, level \| ([0-9.]+) \|'
    )
    (push,) = _told('natural_walking.md', r'^\| pushes survived.*? of ([0-9.]+) N s/kg \|')
    at, words, parts = _chart(
        ('electrical cost of transport, 0.8 m/s', (0, 0.1, 0.2, 0.3, 0.4), 0.45),
        ('first push that fells it, N s/kg', (0, 0.4, 0.8, 1.2), 1.4),
    )
    places = [at(*row[1:]) for row in (low, *taller)]
    way = ' '.join(f'{x:.0f},{y:.0f}' for x, y in places)
    parts.append(
        f'<polyline points="{way}" fill="none" stroke="#D55E00" stroke-width="1.5" '
        'stroke-dasharray="4 4"/>'
    )
    parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="#D55E00"/>' for x, y in places]
    for (tall, *_), (x, y) in zip(taller, places[1:]):
        drop = -4 if (x, y) == places[1] else 6  # the line to the default goes by below
        parts.append(words(x + 10, y + drop, f'{float(tall):.2f} m', color='#A84300'))
    y = places[0][1]
    parts.append(words(WIDE - 16, y + 22, 'stepping, hips', 'end', '#A84300'))
    parts.append(words(WIDE - 16, y + 38, f'at {low[0]} m, the default', 'end', '#A84300'))
    x, y = at(price, push)
    parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="7" fill="#0072B2"/>')
    for lift, word in ((28, 'natural_'), (13, 'walking')):
        parts.append(words(x - 40, y - lift, word, color='#0072B2', more=' font-weight="bold"'))
    return _drawing('Price of walking against the push that fells the robot', parts)


def margin_points():
    """Return what the compass pays for which worst margin, in both noises.

    Returns:
        Dictionary by the name of a walk: a pair (squared effort a step, (N m)^2 s; worst of four
        margins, in those of the hip PD that was tuned for margins alone) with the true state, and
        one with the sensors of preset lab, the mean price and the margins that every seed survives.
    """
    rows = read_yaml(FOLDER / 'data' / 'price_noise.yaml', 'prices and margins under noise')
    return {
        name: (
            (row['price'], min(row['shares'].values())),
            (
                sum(row['prices']) / len(row['prices']),
                min(row['kept'][own] * share for own, share in row['shares'].items()),
            ),
        )
        for name, row in rows.items()
    }


def margin_figure():
    """Return the figure of price against worst margin of the compass, as SVG, by data."""
    points = margin_points()
    at, words, parts = _chart(
        ('squared effort per step, (N m)^2 s', (0, 10, 20, 30, 40), 44),
        ('worst of four margins (1: hip PD, true state)', (0, 0.25, 0.5, 0.75, 1), 1.2),
    )
    for law, color in (('hip_pd', '#D55E00'), ('curve_tracking', '#0072B2')):
        walks = {name: pair for name, pair in points.items() if name.startswith(law)}
        for noisy, filled in enumerate((color, '#ffffff')):
            places = [at(*pair[noisy]) for pair in walks.values()]
            way = ' '.join(f'{x:.0f},{y:.0f}' for x, y in places)
            dashes = ' stroke-dasharray="4 4"' if noisy else ''
            parts.append(f'<polyline points="{way}" fill="none" stroke="{color}"{dashes}/>')
            parts += [
                f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="{filled}" stroke="{color}"/>'
                for x, y in places
            ]
    for name, word, across in (('0.754', '0.75', 12), ('1.0', '1.0', -8), ('1.2', '1.2 m/s', 2)):
        x, y = at(*points[f'curve_tracking, {name} m/s'][0])
        down = 5 if name == '0.754' else -10
        parts.append(words(x + across, y + down, word, color='#0072B2'))
    x, y = at(14, 0.32)
    parts += [
        words(x, y, 'curve_tracking', color='#0072B2', more=' font-weight="bold"'),
        words(x, y + 17, 'hip PD, tuned with its price', color='#A84300'),
        words(x, y + 34, 'filled: true state'),
        words(x, y + 51, 'open: sensors of lab'),
    ]
    return _drawing('Price of the compass against its worst margin', parts)


WIDE, HIGH, LEFT, BELOW = 345, 300, 48, 52


def _chart(across, up):
    """Return where numbers lie, what writes, and the axes: each a label, its ticks, and its end."""

    def at(first, second):
        x = LEFT + (WIDE - LEFT - 16) * float(first) / across[2]
        return x, HIGH - BELOW - (HIGH - BELOW - 34) * float(second) / up[2]

    def words(x, y, text, anchor='start', color='#222', more=''):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}"{more}>{text}</text>'

    def line(start, end):
        (x1, y1), (x2, y2) = start, end
        ends = f'x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"'
        return f'<line {ends} stroke="#ddd"/>'

    parts = []
    for tick in up[1]:
        x, y = at(0, tick)
        parts += [line((x, y), (WIDE - 16, y)), words(x - 6, y + 4, f'{tick:g}', 'end')]
    for tick in across[1]:
        x, y = at(tick, 0)
        parts += [line((x, 34), (x, y)), words(x, y + 18, f'{tick:g}', 'middle')]
    parts += [words(8, 18, up[0]), words((LEFT + WIDE - 16) / 2, HIGH - 12, across[0], 'middle')]
    return at, words, parts


def _drawing(title, parts):
    """Return parts of a chart as a picture."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" '
        f'height="{HIGH}" font-family="sans-serif" font-size="13">'
    )
    ground = f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>'
    return '\n'.join((head, f'<title>{title}</title>', ground, *parts, '</svg>', ''))


PAGES = {
    '../walking_control/__init__.pyi': stub,
    **{
        f'../walking_control/{room}/__init__.pyi': partial(
            stub, import_module(f'walking_control.{room.replace("/", ".")}')
        )
        for room in (
            'controllers',
            'design',
            'estimation',
            'gaits',
            'lab/adoption',
            'models',
            'ros/nodes',
            'ros/ros2_control',
            'runs',
            'safety',
            'search',
            'simulation',
            'statics',
        )
    },
    **{
        f'../walking_control/{room}/__init__.pyi': partial(
            stub, import_module(f'walking_control.{room.replace("/", ".")}'), True
        )
        for room in (
            'lab/experiments',
            'lab/experiments/sweeps',
            'lab/reports',
            'lab/reports/plots',
            'ros/recording',
        )
    },
    'parameters.md': parameters_page,
    'faults.md': faults_page,
    'security.md': security_page,
    'fault_stepper.html': stepper_page,
    'plant_features.md': features_page,
    'coverage.md': coverage_page,
    'images/price_push.svg': price_figure,
    'images/price_margin.svg': margin_figure,
}


if __name__ == '__main__':
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding='utf-8')
