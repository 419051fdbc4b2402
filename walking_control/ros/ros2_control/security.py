# SPDX-License-Identifier: Apache-2.0
"""Who of our nodes publishes, hears, serves and calls what: a table, and the SROS2 policy of it."""

from pathlib import Path
from typing import NamedTuple

from walking_control.exceptions import refusing
from walking_control.models import fields_of, fill, Robot, sensors_of
from walking_control.ros.ros2_control import feedback_joints, names

_TO_CONTROLLER = tuple(f'{names.CONTROLLER}/{name}' for name in names.BUTTONS)
_PARAMETERS = (
    'describe_parameters',
    'get_parameter_types',
    'get_parameters',
    'list_parameters',
    'set_parameters',
    'set_parameters_atomically',
)
_TF = ('/tf', '/tf_static')
_LIFECYCLE = (
    'change_state',
    'get_state',
    'get_available_states',
    'get_available_transitions',
    'get_transition_graph',
)


class Access(NamedTuple):
    """What a node may do; names as ROS has them: relative, ``~/`` its own, ``*`` any.

    Args:
        publishes: Topics.
        subscribes: Topics.
        serves: Services.
        calls: Services.
    """

    publishes: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


def accesses(robot: Robot) -> dict[str, Access]:
    """Return node -> `Access` of all our nodes, and of whoever steers: ``operator``."""
    sensors = tuple(sensor.topic for sensor in sensors_of(robot))
    driven = tuple(map(names.command_topic, fields_of(robot)))
    chained = (names.FEEDBACK,) if feedback_joints(robot) else ()
    commands = *chained, *driven, names.LOCK_COMMANDS
    gains = *map(names.command_topic, ('stiffness', 'damping')), *chained
    nodes = {
        names.CONTROLLER: Access(
            (
                *commands,
                '~/fault',
                '~/telemetry/*',
                '~/markers',
                '~/wrench/*',
                '~/transition_event',
                names.TELEMETRY,
                'odom',
                *_TF,
                '/diagnostics',
            ),
            (
                *sensors,
                names.COMBINED_STATE,
                names.STATES,
                names.STATE_NAMES,
                names.CMD_VEL,
                names.EMERGENCY_STOP,
                names.ROBOT_DESCRIPTION,
                names.SIMULATION_END,
                names.WATCHDOG,
                'posture',
                'support',
                'footholds',
                'stairs',
                names.ACTIVITY,
                '/diagnostics',
                *_TF,
            ),
            (
                *(f'~/{name}' for name in names.BUTTONS),
                *(f'~/{name}' for name in _LIFECYCLE),
            ),
            tuple(
                f'{names.MANAGER}/{name}'
                for name in ('list_controllers', 'list_hardware_components')
            ),
        ),
        'watchdog': Access(
            (names.EFFORT_COMMANDS, *gains, names.WATCHDOG, '/diagnostics'),
            (names.EFFORT_COMMANDS, *gains),
            (),
            (f'{names.MANAGER}/switch_controller',),
        ),
        'simulator': Access(
            (
                *sensors,
                names.LOCK_STATES,
                names.COMBINED_STATE,
                names.CLOCK,
                names.SIMULATION_END,
                names.EMERGENCY_STOP,
                names.CMD_VEL,
                '/diagnostics',
            ),
            (*commands, names.FAULT, names.TELEMETRY),
            (),
            _TO_CONTROLLER,
        ),
        'odometry': Access(
            ('odom', *_TF, '/diagnostics'),
            (
                *sensors,
                names.COMBINED_STATE,
                names.STATES,
                names.STATE_NAMES,
                names.EFFORT_COMMANDS,
                *_TF,
            ),
            ('~/reset',),
        ),
        'centroidal_monitor': Access(('~/index', '~/rotom', '~/ellipsoid'), sensors),
        'monitor': Access(
            (),
            ('*', '/diagnostics', *_TF),
            (),
            (*_TO_CONTROLLER, *(f'{names.CONTROLLER}/{name}' for name in _PARAMETERS)),
        ),
        'live_check': Access(
            (),
            (*sensors, names.ROBOT_DESCRIPTION, names.EFFORT_COMMANDS, '/diagnostics'),
            (),
            tuple(f'{node}/get_parameters' for node in (names.CONTROLLER, names.MANAGER)),
        ),
        'operator': Access(
            (names.CMD_VEL, names.EMERGENCY_STOP, 'posture', 'support', 'stairs', 'footholds'),
            ('*', '/diagnostics', *_TF),
            (),
            (
                *_TO_CONTROLLER,
                *(f'{names.CONTROLLER}/{name}' for name in (*_PARAMETERS, *_LIFECYCLE)),
            ),
        ),
    }
    if robot.locks:
        nodes['lock_emulator'] = Access(
            (names.LOCK_STATES, names.LOCK_EFFORT_COMMANDS),
            (names.LOCK_COMMANDS, names.JOINT_STATES),
        )
    every = Access(
        ('/rosout', '/parameter_events'),
        (names.CLOCK, '/parameter_events'),
        tuple(f'~/{name}' for name in (*_PARAMETERS, 'get_type_description')),
    )
    return {
        node: Access(*(tuple(dict.fromkeys(own + common)) for own, common in zip(access, every)))
        for node, access in nodes.items()
    }


def resolved(name: str, node: str, namespace: str = '') -> str:
    """Return the full name of a topic or service of a node."""
    if name.startswith('/'):
        return name
    return f'{namespace}/{node}{name[1:]}' if name.startswith('~') else f'{namespace}/{name}'


def policy(robot: Robot, namespace: str = '') -> str:
    """Return the SROS2 policy of our nodes as XML: an enclave for each, what is not named denied.

    Args:
        robot: The `Robot`, for its feet and locks.
        namespace: Of the nodes, such as ``/north``; '' is none.
    """
    namespace = f'/{namespace.strip("/")}' if namespace.strip('/') else ''
    nodes = accesses(robot)
    return fill(__package__, 'policy.xml', nodes=nodes, namespace=namespace, resolved=resolved)


def write_policy(robot: Robot, namespace: str, path: Path) -> Path:
    """Write the policy of a robot; return its path.

    Raises:
        InvalidInput: It cannot be written.
    """
    with refusing(OSError, f'policy {path}', limit='cannot be written: {error.strerror}'):
        path.write_text(policy(robot, namespace), encoding='utf-8')
    return path
