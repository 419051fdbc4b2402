# SPDX-License-Identifier: Apache-2.0
"""Verb that provokes a fault in a running demo."""

from __future__ import annotations

import os

from walking_control.cli.inputs import needing_ros
from walking_control.cli.options import Answered
from walking_control.cli.output import print_summary, tell
from walking_control.cli.verb import argument, option, verb
from walking_control.simulation.injection import check_kind, INJECTIONS

KINDS = '\n'.join(f'  {kind:18} {words}' for kind, words in INJECTIONS.items())


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
