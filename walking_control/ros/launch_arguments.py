# SPDX-License-Identifier: Apache-2.0
"""What the launch files can be asked for, and which node parameters follow.

Like `walking_control.cli` it is a way into the package, for `ros2 launch` instead of a shell; it
needs neither launch nor rclpy.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
import math
from pathlib import Path
from typing import Any

from walking_control.exceptions import InvalidInput, require, require_known


@dataclass(frozen=True)
class LaunchArgument:
    """One argument of a launch file.

    Args:
        name: Name.
        default: Default, as text; ``''`` leaves the choice to the parameter and robot files.
        kind: Type of the value: str, bool or float.
        nodes: Nodes it sets a parameter of.
        description: One sentence for ``ros2 launch --show-args``.
        parameter: Name of that parameter, if not the argument's.
    """

    name: str
    default: str
    kind: type
    nodes: tuple[str, ...]
    description: str
    parameter: str = ''


CONTROLLER = 'walking_controller'
SIMULATOR = 'simulator'

# One name means one thing in every launch file.
_ROBOT = LaunchArgument(
    'robot',
    'dribbel',
    str,
    (CONTROLLER, SIMULATOR),
    'Name of a shipped robot or path of a robot file.',
    'robot_file',
)
_CONTROLLER = LaunchArgument(
    'controller',
    '',
    str,
    (CONTROLLER, SIMULATOR),
    "Name of the controller; empty: the robot file's.",
)
_POLICY = (
    LaunchArgument(
        'policy',
        '',
        str,
        (CONTROLLER,),
        'ONNX file of a learned policy, which then is the controller.',
        'policy.file',
    ),
    LaunchArgument(
        'policy_config',
        '',
        str,
        (CONTROLLER,),
        'YAML that says what the policy takes and gives, or name of a shipped one.',
        'policy.config',
    ),
)
_PARAMS_FILE = LaunchArgument(
    'params_file',
    '',
    str,
    (),
    'ROS 2 parameter file for our nodes; arguments that are not empty win.',
)
_WATCHDOG = LaunchArgument(
    'watchdog',
    'true',
    bool,
    (),
    'Start the watchdog node, which sends zero effort when the controller dies.',
)
_SILENCE = LaunchArgument(
    'watchdog_timeout',
    '',
    float,
    (),
    'Silence of the controller after '
    'which the watchdog sends zero, s, of a simulator in its own time; '
    'empty: 0.1, in lockstep 4.0.',
)
_SPEED = LaunchArgument(
    'speed',
    '1.0',
    float,
    (SIMULATOR,),
    'Pace of a simulator that does not run in lockstep: simulated seconds in a second.',
)
_NAMESPACE = LaunchArgument('namespace', '', str, (), 'Namespace of all nodes and topics.')

SIMULATION = (
    _ROBOT,
    _CONTROLLER,
    *_POLICY,
    LaunchArgument('plant', '', str, (SIMULATOR,), "Name of the plant; empty: the robot file's."),
    _PARAMS_FILE,
    LaunchArgument(
        'realtime',
        'false',
        bool,
        (CONTROLLER, SIMULATOR),
        'Pace by the wall clock (true) or tick by tick as fast as it goes (false).',
    ),
    LaunchArgument(
        'duration',
        '0.0',
        float,
        (SIMULATOR,),
        'Simulated seconds after which everything ends; 0.0: none.',
    ),
    LaunchArgument(
        'disturb', '', str, (SIMULATOR,), 'Disturbances KIND=SIZE@WHEN, separated by commas.'
    ),
    LaunchArgument(
        'route',
        '',
        str,
        (SIMULATOR,),
        'Route that is asked of the controller on '
        'cmd_vel: name of a shipped one or path of a file; empty: none.',
    ),
    LaunchArgument(
        'lockstep_timeout',
        '',
        float,
        (CONTROLLER, SIMULATOR),
        'Longest wait in lockstep for the other side, s of wall time.',
    ),
    LaunchArgument(
        'discovery_timeout',
        '',
        float,
        (SIMULATOR,),
        'Longest wait for the controller to be active, s.',
    ),
    _SPEED,
    _WATCHDOG,
    _SILENCE,
    _NAMESPACE,
)

_ON_ROS2_CONTROL = (
    _ROBOT,
    _CONTROLLER,
    *_POLICY,
    _PARAMS_FILE,
    LaunchArgument(
        'bringup',
        '',
        str,
        (),
        'Folder that `walking_control ros2_control` wrote; '
        "empty: the shipped robot's, or one written for this launch.",
    ),
    LaunchArgument(
        'manager_timeout', '60.0', float, (), 'Longest wait for the controller manager, s.'
    ),
    _WATCHDOG,
    _SILENCE,
    _NAMESPACE,
)
_HEADLESS = LaunchArgument('headless', 'false', bool, (), 'Without a window.')

GAZEBO = (*_ON_ROS2_CONTROL, _HEADLESS, _SPEED)
MUJOCO = (*_ON_ROS2_CONTROL, _HEADLESS, _SPEED)
HARDWARE = (
    *_ON_ROS2_CONTROL,
    LaunchArgument(
        'dry_run',
        'false',
        bool,
        (),
        'Send the commands to dry_run/... alone: the robot does not move.',
    ),
    LaunchArgument(
        'combined',
        'false',
        bool,
        (),
        'Hear all sensors in one message, by state_interfaces_broadcaster (Jazzy and later).',
    ),
    LaunchArgument(
        'arm', 'false', bool, (), 'Activate at once what moves the robot; false: say how to.'
    ),
)
MONITOR = (
    LaunchArgument(
        'tools',
        'rviz2',
        str,
        (),
        'What to start: rviz2, plotjuggler, rqt_robot_monitor, separated by commas.',
    ),
    _NAMESPACE,
)

TELEOP = (
    LaunchArgument(
        'input', 'joystick', str, (), 'Who steers: joystick (a game controller) or keyboard.'
    ),
    LaunchArgument(
        'stamped', 'false', bool, (), 'Send TwistStamped: for a controller with cmd_vel_stamped.'
    ),
    LaunchArgument(
        'use_sim_time',
        'false',
        bool,
        (),
        'Stamp by /clock: beside a simulator, where a stamp of the wall clock is of another time.',
    ),
    LaunchArgument(
        'buttons',
        '',
        str,
        (),
        'Parameter file of buttons, axes and scales; empty: config/teleop/game_controller.yaml.',
    ),
    LaunchArgument(
        'terminal',
        'xterm -e',
        str,
        (),
        'What the keyboard is read in; empty: nothing, launch has no keyboard.',
    ),
    _NAMESPACE,
)

# How long the watchdog waits, s: in lockstep the simulator may hold the clock.
WATCHDOG_TIMEOUT = {True: 0.1, False: 4.0}

_TRUTH = {'true': True, 'false': False}


def refuse_unknown(argv: Iterable[str], arguments: Sequence[LaunchArgument] = SIMULATION) -> None:
    """Refuse what was typed behind a launch file and is not an argument of it.

    Args:
        argv: Texts ``name:=value``.
        arguments: The table of `LaunchArgument`.

    Raises:
        InvalidInput: A name is not in the table.
    """
    known = [argument.name for argument in arguments]
    for text in argv:
        name, given, _ = text.partition(':=')
        if given:
            require_known(name, known, f'launch argument {name}')


def read_arguments(
    texts: Mapping[str, str], arguments: Sequence[LaunchArgument] = SIMULATION
) -> dict[str, Any]:
    """Return the typed values of launch arguments.

    Args:
        texts: name -> text, as launch hands them over; names it does not give get their default.
        arguments: The table of `LaunchArgument`.

    Returns:
        dict: name -> value of the argument's type.

    Raises:
        InvalidInput: A text does not mean a value of its type, or names no file.
    """
    values = {
        argument.name: _read(argument, texts.get(argument.name, argument.default))
        for argument in arguments
    }
    for name in ('params_file', 'policy'):
        path = values.get(name)
        require(
            not path or Path(path).is_file(),
            f'launch argument {name}',
            value=path,
            limit='no such file',
        )
    if values.get('policy'):
        values['policy'] = str(Path(values['policy']).resolve())
        values['controller'] = values['controller'] or 'policy'
    return values


def node_parameters(
    node: str, values: Mapping[str, Any], arguments: Sequence[LaunchArgument] = SIMULATION
) -> list[Any]:
    """Return what a node is started with, weakest first: parameter file, then arguments.

    Args:
        node: `CONTROLLER`, `SIMULATOR` or another that takes a parameter file.
        values: Values from `read_arguments`.
        arguments: The table they were read with.

    Returns:
        list: The ``parameters`` of a ``launch_ros.actions.Node``.
    """
    given = {
        argument.parameter or argument.name: values[argument.name]
        for argument in arguments
        if node in argument.nodes and values[argument.name] != ''
    }
    files = [values['params_file']] if values['params_file'] else []
    return [*files, given]


def _read(argument: LaunchArgument, text: str) -> Any:
    if argument.kind is str or text == argument.default == '':
        return text
    if argument.kind is bool:
        if text.lower() in _TRUTH:
            return _TRUTH[text.lower()]
        near = get_close_matches(text.lower(), _TRUTH, n=1)
        raise InvalidInput(
            f'launch argument {argument.name}',
            value=text,
            limit='must be true or false',
            remedy=f'did you mean {near[0]}?' if near else None,
        )
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    require(
        math.isfinite(value) and value >= 0.0,
        f'launch argument {argument.name}',
        value=text,
        limit='must be a finite number, not negative',
    )
    return value
