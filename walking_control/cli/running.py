# SPDX-License-Identifier: Apache-2.0
"""Verbs about a running system: monitor, fault."""

from __future__ import annotations

import os

from walking_control.cli.argument_types import port, positive
from walking_control.cli.inputs import needing_ros
from walking_control.cli.options import Answered, ROBOT
from walking_control.cli.output import print_summary, tell
from walking_control.cli.verb import argument, option, Options, verb
from walking_control.simulation.injection import check_kind, INJECTIONS

KINDS = '\n'.join(f'  {kind:18} {words}' for kind, words in INJECTIONS.items())


class _Monitor(Options):
    host: str = option('to listen on (default: 127.0.0.1, this machine alone: whoever connects may '
                       'stop and retune the robot)', 'ADDRESS', default='127.0.0.1')
    port: int = option('0: a free one (default: 8765)', 'N', port, default=8765)
    rate: float = option('messages per second and topic (default: 30)', 'HZ', positive,
                         default=30.0)
    robot: str | None = option(ROBOT + ' (default: the one the controller names)', 'ROBOT')
    origin: list[str] = option(
        'whose web pages may connect, such as https://viewer.example; may be repeated (always: '
        'those of this machine and of app.foxglove.dev)', 'URL')
    token: str | None = option('that viewers must give: ws://...?token=TOKEN (default: '
                               'WALKING_CONTROL_TOKEN of the environment, else none)')
    namespace: str | None = option('of the controller (default: none)', 'NS', apart='where')
    demo: bool = option('the one demo that runs', apart='where')


@verb('walking_control monitor --demo    (while walking_control demo --realtime --duration 600 '
      'runs elsewhere)')
def monitor(options: _Monitor) -> int:
    """Serve a running system to Foxglove or Lichtblick: model, topics, parameters, buttons."""
    with needing_ros('monitor'):
        from walking_control.nodes.demo_place import find_demo
        from walking_control.nodes.monitor_node import run_monitor
    namespace = options.namespace or ''
    if options.demo:
        place = find_demo()
        os.environ['ROS_DOMAIN_ID'], namespace = place.domain, place.namespace
        os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    run_monitor(options.host, options.port, options.rate, options.robot or '', options.origin,
                options.token or os.environ.get('WALKING_CONTROL_TOKEN', ''), namespace)
    return 0


class _Fault(Answered):
    kind: str = argument('what goes wrong, see below', 'KIND')
    domain: int | None = option('ROS domain of the demo (default: the one demo that runs)', 'N',
                                choices=range(233))
    namespace: str | None = option('its namespace', 'NS')


@verb('walking_control fault stale_imu    (while walking_control demo --realtime --duration 600 '
      'runs elsewhere)', before=f'Kinds:\n{KINDS}\n\n')
def fault(options: _Fault) -> int:
    """Provoke a fault in a running demo and say what the controller does."""
    kind = check_kind(options.kind)
    with needing_ros('fault'):
        from walking_control.nodes.demo_place import DemoPlace, find_demo
        from walking_control.nodes.fault_injection import provoke_fault
    if options.domain is None and options.namespace is None:
        place = find_demo()
    else:
        domain = os.environ.get('ROS_DOMAIN_ID', '0') if options.domain is None \
            else str(options.domain)
        place = DemoPlace(domain, options.namespace or '')
    result = provoke_fault(kind, place)
    tell(options, result, lambda result: print_summary({**result, 'files': []}))
    return 0 if result['code'] == kind else 1
