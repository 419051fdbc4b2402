# SPDX-License-Identifier: Apache-2.0
"""Verbs about ROS 2: monitor and fault of a running system, ros2_control before one runs."""

import os
from pathlib import Path

from walking_control.cli.common import Answered, Common, needing_ros, ROBOT
from walking_control.cli.output import Answer, say_nothing, text
from walking_control.cli.verb import argument, option, Options, port, positive, verb
from walking_control.loading import load_robot
from walking_control.ros.ros2_control import (
    controllers_of,
    HARDWARE,
    wire,
    write_policy,
    write_ros2_control,
)
from walking_control.simulation.injection import check_kind, INJECTIONS

KINDS = '\n'.join(f'  {kind:18} {words}' for kind, words in INJECTIONS.items())


class _Monitor(Options):
    host: str = option(
        'to listen on (default: 127.0.0.1, this machine alone: whoever connects may '
        'stop and retune the robot)',
        'ADDRESS',
        default='127.0.0.1',
    )
    port: int = option('0: a free one (default: 8765)', 'N', port, default=8765)
    rate: float = option(
        'messages per second and topic (default: 30)', 'HZ', positive, default=30.0
    )
    robot: str | None = option(ROBOT + ' (default: the one the controller names)', 'ROBOT')
    origin: list[str] = option(
        'whose web pages may connect, such as https://viewer.example; may be repeated (always: '
        'those of this machine and of app.foxglove.dev)',
        'URL',
    )
    token: str | None = option(
        'that viewers must give: ws://...?token=TOKEN (default: '
        'WALKING_CONTROL_TOKEN of the environment, else none)'
    )
    namespace: str | None = option('of the controller (default: none)', 'NS', apart='where')
    demo: bool = option('the one demo that runs', apart='where')


@verb(
    'walking_control monitor --demo    (while walking_control demo --realtime --duration 600 '
    'runs elsewhere)'
)
def monitor(options: _Monitor) -> Answer:
    """Serve a running system to Foxglove or Lichtblick: model, topics, parameters, buttons."""
    with needing_ros('monitor'):
        from walking_control.ros.nodes.demo_place import find_demo
        from walking_control.ros.nodes.monitor_node import run_monitor
    namespace = options.namespace or ''
    if options.demo:
        place = find_demo()
        os.environ['ROS_DOMAIN_ID'], namespace = place.domain, place.namespace
        os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    run_monitor(
        options.host,
        options.port,
        options.rate,
        options.robot or '',
        options.origin,
        options.token or os.environ.get('WALKING_CONTROL_TOKEN', ''),
        namespace,
    )
    return Answer({}, say_nothing)


class _Fault(Answered):
    kind: str = argument('what goes wrong, see below', 'KIND')
    domain: int | None = option(
        'ROS domain of the demo (default: the one demo that runs)', 'N', choices=range(233)
    )
    namespace: str | None = option('its namespace', 'NS')


@verb(
    'walking_control fault stale_imu    (while walking_control demo --realtime --duration 600 '
    'runs elsewhere)',
    before=f'Kinds:\n{KINDS}\n\n',
)
def fault(options: _Fault) -> Answer:
    """Provoke a fault in a running demo and say what the controller does."""
    kind = check_kind(options.kind)
    with needing_ros('fault'):
        from walking_control.ros.nodes.demo_place import DemoPlace, find_demo
        from walking_control.ros.nodes.fault_injection import provoke_fault
    if options.domain is None and options.namespace is None:
        place = find_demo()
    else:
        domain = (
            os.environ.get('ROS_DOMAIN_ID', '0') if options.domain is None else str(options.domain)
        )
        place = DemoPlace(domain, options.namespace or '')
    result = provoke_fault(kind, place)
    return Answer(result, status=int(result['code'] != kind))


class _Ros2Control(Common):
    robot: str = argument(ROBOT)
    force_sign: int = option(
        '-1: foot sensors that tell the force of the foot on the floor '
        '(default: 1, that of the floor on the foot)',
        'S',
        choices=(1, -1),
        default=1,
    )
    policy: Path | None = option(
        'write the SROS2 policy of our nodes: who may publish, hear, serve and call what',
        'FILE.xml',
    )
    namespace: str = option('of the nodes in the policy', 'NS', default='')


@verb('walking_control ros2_control my_robot.yaml --out bringup')
def ros2_control(options: _Ros2Control) -> Answer:
    """Write controllers, URDF tags, bridge and launch file of a robot on ros2_control."""
    robot_file = load_robot(options.robot, options.set)
    wiring = wire(robot_file, options.force_sign)
    files = []
    if options.policy is not None:
        files = [str(write_policy(robot_file.robot, options.namespace, options.policy))]
    virtual = wiring.robot.virtual_efforts
    result = {
        'robot': wiring.robot.name,
        'motors': list(wiring.motors),
        'locks': list(wiring.locks),
        'passive': list(wiring.passive),
        'imu': wiring.imu,
        'forces': wiring.forces,
        'controllers': {
            name: plugin for name, (plugin, _) in controllers_of(wiring, HARDWARE).items()
        },
        'assumptions': [
            f'{", ".join(virtual)}: no hardware has it; walking_controller refuses the '
            'robot until the robot file goes without'
        ]
        if virtual
        else [],
    }
    return Answer(
        result,
        text('ros2_control.txt'),
        files=files,
        write=lambda folder: [str(path) for path in write_ros2_control(robot_file, wiring, folder)],
    )
