# SPDX-License-Identifier: Apache-2.0
"""Provokes a fault in a running demo and watches what the controller does about it."""

from collections.abc import Callable
import math
import os
import time
from typing import Any

import rclpy
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from walking_control.exceptions import NotAchieved, require
from walking_control.models.signals import Command, Reference
from walking_control.ros.nodes import (
    ControllerClient,
    DemoPlace,
    isolate_domain,
    make_executor,
    ros,
    topics,
)
from walking_control.safety.faults import KINDS, LOWERED, read_fault

DISCOVERY = 15.0  # s
REACTION = 8.0  # s for a fault to be noticed, and for the effort to end


def break_law(node: Node, kind: Any, realtime: bool) -> None:
    """Make the control law of a `ControllerNode` in this process provoke a fault.

    Args:
        kind: A kind of `LAW_FAULTS`.
        realtime: Whether it ticks by the clock.

    Raises:
        InvalidInput: The fault cannot come in lockstep.
    """
    law, period = node.loop.controller, node.loop.period
    update = law.update
    require(
        kind != 'tick_overrun' or realtime,
        'fault',
        value=kind,
        limit='in lockstep no tick is too late',
        remedy='demo --realtime',
    )

    def broken(state: Any, reference: Reference, dt: float, command: Command) -> None:
        update(state, reference, dt, command)
        if kind == 'command':
            command.effort[:] = math.nan
        elif kind == 'internal':
            raise RuntimeError('broken on purpose')
        else:
            time.sleep(3.5 * period)

    law.update = broken


class FaultWatch:
    """Tells a simulator to provoke a fault and follows the controller.

    Args:
        place: The `DemoPlace`.
    """

    def __init__(self, place: DemoPlace) -> None:
        self.node = rclpy.create_node(f'fault_{os.getpid()}', namespace=place.namespace)
        self._executor = make_executor()
        self._executor.add_node(self.node)
        # when, and what
        self._fault: tuple[float, str] = -math.inf, ''
        self._effort: tuple[float, bool] = -math.inf, False
        listen = self.node.create_subscription
        listen(String, topics.FAULT, self._on_fault, topics.LATCHED)
        listen(Float64MultiArray, topics.EFFORT_COMMANDS, self._on_effort, topics.LATEST)
        self._controller, self._simulator = (
            ControllerClient(self.node, name, self._spin_until)
            for name in (topics.CONTROLLER, 'simulator')
        )

    def _on_fault(self, message: String) -> None:
        self._fault = time.monotonic(), message.data

    def _on_effort(self, message: Float64MultiArray) -> None:
        self._effort = time.monotonic(), any(message.data)

    def _spin_until(self, condition: Callable[[], Any], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not condition() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.02)
        return bool(condition())

    def _walks(self) -> bool:
        return (
            self._controller.is_ready
            and self._simulator.is_ready
            and self._fault[0] > -math.inf
            and self._effort[0] > -math.inf
        )

    def provoke(self, kind: Any) -> dict[str, Any]:
        """Provoke a fault and return what came of it.

        Args:
            kind: A key of `INJECTIONS`.

        Returns:
            dict: code, time from request to fault in s, reaction, message, and zero_after: time
            from fault to zero effort in s, None if it did not come; ends: how the robot ended,
            "stands", "is lowered" or "falls", by whether and when the effort went.

        Raises:
            InvalidInput: No demo answers, it has a fault already, or it refuses.
            NotAchieved: No fault came.
        """
        require(
            self._spin_until(self._walks, DISCOVERY),
            f'namespace {self.node.get_namespace()}',
            limit=f'no walking demo within {DISCOVERY:g} s',
            remedy='start walking_control demo --realtime --duration 600',
        )
        require(
            not self._fault[1],
            'the demo',
            limit=f'has a fault already: {self._fault[1]}',
            remedy='start it again',
        )
        reaction = self._reaction(kind)
        begin = time.monotonic()
        refusal = self._simulator.change('fault', kind)
        require(not refusal, f'fault {kind}', limit=f'refused by the demo: {refusal}')
        require(
            self._spin_until(lambda: self._fault[1], REACTION),
            f'fault {kind}',
            limit=f'no fault was latched within {REACTION:g} s',
            error=NotAchieved,
        )
        when, text = self._fault
        fault = read_fault(text)
        assert fault is not None  # a text that is not empty is one
        ended = self._spin_until(lambda: self._effort[0] >= when and not self._effort[1], REACTION)
        zero_after = self._effort[0] - when if ended else None
        # no reaction of category 0 lasts as long as to lower a robot and to damp it
        ends = 'stands' if zero_after is None else 'falls'
        if zero_after is not None and zero_after > sum(self._lasting):
            ends = LOWERED
        return {
            'code': fault.code,
            'time': when - begin,
            'reaction': reaction if fault.code == kind else self._reaction(fault.code),
            'message': fault.message,
            'zero_after': zero_after,
            'ends': ends,
        }

    def _reaction(self, code: str) -> str:
        """Return what the controller is told to do about a fault."""
        names = [f'safety.on_{code}', 'safety.lower_time', 'safety.damping_time']
        told = self._controller.values(names)
        self._lasting = [told.get(name, 0.0) for name in names[1:]]
        return told.get(names[0]) or KINDS[code].reaction


def provoke_fault(kind: Any, place: DemoPlace) -> dict[str, Any]:
    """Provoke a fault in a running demo; see `FaultWatch.provoke`."""
    os.environ['ROS_DOMAIN_ID'] = place.domain
    isolate_domain()
    with ros():
        return FaultWatch(place).provoke(kind)
