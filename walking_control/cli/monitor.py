# SPDX-License-Identifier: Apache-2.0
"""Verb that shows a running system to Foxglove or Lichtblick."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from walking_control.cli.inputs import needing_ros

if TYPE_CHECKING:
    from argparse import Namespace


def monitor(options: Namespace) -> int:
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
