# SPDX-License-Identifier: Apache-2.0
"""Verb that shows a running system to Foxglove or Lichtblick."""

from __future__ import annotations

import os

from walking_control.cli.argument_types import port, positive
from walking_control.cli.inputs import needing_ros
from walking_control.cli.options import ROBOT
from walking_control.cli.verb import option, Options, verb


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
