# SPDX-License-Identifier: Apache-2.0
"""Verb that provokes a fault in a running demo."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from walking_control.cli.inputs import needing_ros
from walking_control.cli.output import print_json, print_summary
from walking_control.simulation.injection import check_kind

if TYPE_CHECKING:
    from argparse import Namespace


def fault(options: Namespace) -> int:
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
    if options.json:
        print_json(result)
    else:
        print_summary({**result, 'files': []})
    return 0 if result['code'] == kind else 1
