# SPDX-License-Identifier: Apache-2.0
"""How well a node keeps its time: `/diagnostics` once a second, for rqt_robot_monitor."""

from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
from rclpy.node import Node
from std_msgs.msg import Header

from walking_control.safety.faults import Fault

WINDOW = 1000  # ticks that the figures look back on


class TickTimes:
    """Periods and compute times of the last ticks; allocates nothing in the tick."""

    def __init__(self) -> None:
        self._periods, self._computes = np.zeros(WINDOW), np.zeros(WINDOW)
        self.ticks = 0
        self.missed = 0
        self.late = 0.0  # s by which an answer came late at most, since `pop_late`
        self._last: float | None = None
        self._ended = 0.0

    def add(self, start: float, end: float, expected: float) -> None:
        """Note a tick.

        Args:
            start: Wall time at which the tick began, s.
            end: Wall time at which its command had left, s.
            expected: Control period, s; a gap of more than one and a half is a missed tick.
        """
        if self._last is not None:
            row = self.ticks % WINDOW
            self._periods[row], self._computes[row] = start - self._last, end - start
            self.ticks += 1
            self.missed += start - self._last > 1.5 * expected
            self.late = max(self.late, end - self._ended - expected)
        self._last, self._ended = start, end

    def pop_late(self) -> float:
        """Return by how many s an answer came late at most since the last call."""
        late, self.late = self.late, 0.0
        return late

    def figures(self) -> dict[str, float]:
        """Return name -> value in ms, or an empty dict before the first tick."""
        n = min(self.ticks, WINDOW)
        if n == 0:
            return {}
        periods, computes = 1e3 * self._periods[:n], 1e3 * self._computes[:n]
        return {
            'period mean (ms)': periods.mean(),
            'jitter p99 (ms)': np.percentile(np.abs(periods - np.median(periods)), 99),
            'compute p50 (ms)': np.percentile(computes, 50),
            'compute p99 (ms)': np.percentile(computes, 99),
        }


class DiagnosticsPublisher:
    """Publishes a DiagnosticArray of one status.

    Args:
        what: Of it is told.
        robot: Name of the robot, the hardware id.
    """

    def __init__(self, node: Node, what: str, robot: str = '') -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._what, self._robot = f'{node.get_fully_qualified_name()}: {what}', robot

    def publish(self, level: Any, words: str, figures: dict[str, Any]) -> None:
        """Publish a level of DiagnosticStatus, a message, and name -> number or text."""
        values = [
            KeyValue(key=key, value=f'{value:.4g}' if isinstance(value, float) else str(value))
            for key, value in figures.items()
        ]
        status = DiagnosticStatus(
            name=self._what, hardware_id=self._robot, level=level, message=words, values=values
        )
        now = Header(stamp=self._node.get_clock().now().to_msg())
        self._publisher.publish(DiagnosticArray(header=now, status=[status]))

    def publish_loop(
        self,
        state: str,
        fault: Fault | None,
        times: TickTimes,
        counts: dict[str, Any],
        warnings: Sequence[str],
    ) -> None:
        """Publish the health of a control loop.

        Args:
            state: What the controller does, e.g. ``'walking'``.
            fault: The latched `Fault`, or None.
            counts: name -> number or text, further figures.
            warnings: What is wrong but no fault, in words.
        """
        wrong = '; '.join(warnings)
        level = (
            DiagnosticStatus.ERROR
            if fault is not None
            else DiagnosticStatus.WARN
            if wrong
            else DiagnosticStatus.OK
        )
        words = str(fault) if fault is not None else wrong or state
        self.publish(
            level,
            words,
            {
                'state': state,
                'fault': '' if fault is None else fault.code,
                'warnings': wrong,
                'ticks': times.ticks,
                'missed ticks': times.missed,
                **counts,
                **times.figures(),
            },
        )
