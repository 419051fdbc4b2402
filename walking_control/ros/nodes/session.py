# SPDX-License-Identifier: Apache-2.0
"""What configure builds and cleanup takes away: publishers, sensors, timers around an Operation."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
import gc
from itertools import cycle
import math
import time
from typing import Any

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from walking_control.controllers.controller import FootPlanner, PostureHolder, StopJudge
from walking_control.exceptions import require
from walking_control.models import picks_of, RobotFile, World
from walking_control.operation import Operation, Patience
from walking_control.ros.nodes import (
    ArrayWriter,
    Claims,
    DiagnosticsPublisher,
    FeedbackWriter,
    FloorTopics,
    GuardedNode,
    JOINT_STATE,
    Neighbours,
    OdometryPublisher,
    open_recorder,
    Output,
    PostureTopics,
    sensor_topics,
    SensorSet,
    Telemetry,
    TickTimes,
    topics,
    VALUES,
    VelocityTopic,
    WalkMarkers,
    WatchClock,
    WatchdogGuard,
)
from walking_control.ros.recording.recorder import Recorder
from walking_control.ros.ros2_control import feedback_joints
from walking_control.safety import Event, Fault, Latch, LED, State
from walking_control.safety.arrivals import RATE_MARGIN

LAST_WORD = 0.2  # s: so long the zero of the end may take to arrive
LABELS = {State.WAITING: topics.WAITS, State.RESTING: topics.RESTS}
LATE = 0.25  # of the longest silence of a sensor: answers as late are said
WATCH = 1.0  # s between two looks at the neighbours, and two messages on /diagnostics half-way


class Session:
    """An `Operation` on ROS topics, from configure to cleanup.

    Args:
        robot_file: The `RobotFile` with the parameters as they are now.
        controller: Name of the controller.
        values: Validated values of the node's own parameters.
        latch: The `Latch` of the node.
        neighbours: The `Neighbours` of the node.
        on_fault: Called when another fault is latched, or none any more.

    Attributes:
        operation: The `Operation`.
        loop: Its `ControlLoop`.
        clock: By which silence is judged.
        guard: Whether the watchdog listens.
        claims: Who has claimed the efforts.

    Raises:
        InvalidInput: The loop cannot be built.
    """

    def __init__(
        self,
        node: GuardedNode,
        robot_file: RobotFile,
        controller: str,
        values: Any,
        latch: Latch,
        neighbours: Neighbours,
        on_fault: Callable[[], None],
    ) -> None:
        self._node, self._latch, self._on_fault = node, latch, on_fault
        self._neighbours, self._keeper, self._active = neighbours, ExitStack(), ExitStack()
        # stamp and values of the sensors, one look ago
        self._looked: tuple[float, np.ndarray] = math.nan, np.empty(0)
        self._reported = self._fault_state()
        with ExitStack() as broken:
            broken.callback(self._keeper.close)
            with node.kept_by(self._keeper):
                self._build(robot_file, controller, values)
            self._rehearse()
            broken.pop_all()

    def _build(self, robot_file: RobotFile, controller: str, values: Any) -> None:
        node, latch = self._node, self._latch
        robot = robot_file.robot
        sensors = sensor_topics(robot)
        one = {JOINT_STATE: topics.COMBINED_STATE, VALUES: topics.STATES}.get(values.combined_state)
        if one is not None:  # every sensor comes there
            sensors = {sensor: (JointState, one) for sensor in sensors}
        self.operation = Operation(
            robot_file,
            controller,
            latch,
            Patience(
                not values.realtime,
                values.lockstep_timeout,
                values.waiting_timeout,
                values.cmd_vel_timeout,
                values.cmd_vel_deceleration,
            ),
            self._send,
            {sensor: topic for sensor, (_, topic) in sensors.items()},
            lambda: self.guard.missing,
        )
        self._robot, self.loop = robot, self.operation.loop
        self.clock, self._values = WatchClock(node), values
        self._neighbours.expect({} if values.combined_state == VALUES else sensors)
        self._create_publishers(values)
        self.guard = WatchdogGuard(
            node,
            lambda: max(
                2,  # the robot and the watchdog
                min(
                    self._effort_publisher.get_subscription_count(),
                    self._neighbours.receivers(self._effort_publisher.topic_name),
                ),
            ),
            values.watchdog_timeout if values.require_watchdog else None,
            lambda words: self.stop('watchdog', words),
            lambda words: self.stop('second_publisher', words),
        )
        self.claims = Claims(
            node,
            self._driven[-2][-1].topic_name,
            feedback_joints(robot)
            or [
                robot.efforts[i] for i in self._driven[-2][1] if robot.efforts[i] in robot.actuators
            ],
            self._on_left,
        )
        self._outputs = self._make_outputs(robot_file, values)
        self._diagnostics = DiagnosticsPublisher(node, 'control loop', robot.name)
        self._open = open_recorder(node.get_logger(), values, robot_file, controller)
        self._recorder: Recorder | None = None
        self._watch_timer: Any = None
        self.times, self._invited = TickTimes(), False

    def _rehearse(self) -> None:
        """Do now what would hold up the first ticks: up to 0.1 s each, more than a robot waits."""

        def rehearse() -> None:
            for output in self._outputs:
                output.rehearse()

        self.loop.rehearse(rehearse)
        # the first line that rclpy logs looks for its caller in all modules
        self._node.get_logger().info(
            f'configured: {self._robot.name}, '
            f'{self.loop.controller.name}, {1.0 / self.loop.period:g} Hz'
        )
        gc.collect()  # all modules and models, once; from now on only what is new is looked at
        gc.freeze()

    def _create_publishers(self, values: Any) -> None:
        robot = self._robot
        require(
            robot.efforts,
            f'robot {robot.name}',
            limit='has no effort that a controller could command',
            remedy='give its robot file motors (robot.actuators)',
        )
        self._label: str | None = None  # of our messages
        # field of a command, which of its numbers, and how they leave; gains before efforts
        self._driven: list[tuple[str, np.ndarray, Any, Any]] = [
            (
                field,
                np.array(pick, int),
                ArrayWriter(len(pick)),
                self._neighbours.create_publisher(
                    Float64MultiArray, topics.command_topic(field), topics.LATEST
                ),
            )
            for field, pick in (
                *reversed(picks_of(robot).items()),
                ('lock', [*range(len(robot.locks))]),
            )
        ]
        self._effort_publisher = self._driven[-2][-1]  # of the message that moves the robot
        if feedback_joints(robot):
            writer = FeedbackWriter(robot)
            self._effort_publisher = self._neighbours.create_publisher(
                type(writer.message), topics.FEEDBACK, topics.LATEST
            )
            everything = np.arange(self.loop.command.numbers.size)
            self._driven.insert(0, ('numbers', everything, writer, self._effort_publisher))
        fields = self.loop.controller.telemetry_fields(robot) if values.record_telemetry else ()
        self._telemetry = ArrayWriter(len(fields)) if fields else None
        if fields:
            self._said = np.zeros(len(fields))
            self._telemetry_publisher = self._node.create_publisher(
                Float64MultiArray, topics.TELEMETRY, topics.LATEST
            )

    def _make_outputs(self, robot_file: RobotFile, values: Any) -> list[Output]:
        """Return what is published beside the commands."""
        node, loop, rate = self._node, self.loop, values.telemetry_rate
        outputs: list[Output] = [
            Telemetry(node, loop, rate),
            OdometryPublisher(
                node,
                loop,
                robot_file.values(World).slope,
                values.odometry_rate,
                values.footprint_frame,
            ),
        ]
        if isinstance(loop.controller, PostureHolder):
            outputs.append(PostureTopics(node, loop, loop.controller, rate))
        if isinstance(loop.controller, FootPlanner):
            outputs.append(
                WalkMarkers(node, loop, loop.controller, robot_file.values(World).slope, rate)
            )
        return outputs

    # -- lifecycle -------------------------------------------------------------------------------

    def _conflict(self) -> str | None:
        return self._neighbours.conflict() or self.claims.conflict

    def check_neighbours(self) -> None:
        """Refuse to begin beside a second law, a doubled sensor or a stop that cannot be heard.

        Raises:
            InvalidInput: Somebody is there who must not be.
        """
        conflict, deaf = self._conflict(), self._neighbours.deaf_stop()
        require(
            not conflict,
            'activate',
            limit=conflict,
            remedy='stop it; what crashed on '
            'another machine is forgotten after some twenty seconds',
        )
        require(not deaf, 'activate', limit=deaf, remedy='mend its type')

    def activate(self) -> None:
        """Begin to answer measurements."""
        self._recorder = self._open()
        for output in self._outputs:
            output.begin()
        self.times, self._invited = TickTimes(), False
        self.guard.begin()
        self.clock.begin(self._values.realtime)
        self.operation.activate(self.clock.now())
        with self._node.kept_by(self._active):
            self._listen(self._node, self._values)
            self._watch_timer = self._node.steady_timer(self.loop.period, self._on_watch)
            turns = cycle((self._on_neighbours, self._tell))  # half the pause each
            self._node.steady_timer(0.5 * WATCH, lambda: next(turns)())
        self._on_fault()

    def _listen(self, node: GuardedNode, values: Any) -> None:
        self._sensors = SensorSet(
            node,
            self.operation,
            self.clock,
            self._on_answered,
            values.combined_state,
            values.combined_force_sign,
            values.realtime,
        )
        self._velocity = VelocityTopic(
            node, self.operation, self.clock, values.cmd_vel_stamped, values.cmd_vel_timeout
        )
        law = self.loop.controller.parameters
        if 'edge_places' in law.rows:
            FloorTopics(node, law.section)

    def deactivate(self, event: Any = Event.DEACTIVATE) -> None:
        """Send zero effort, then stop answering."""
        self.guard.begin()
        self.operation.deactivate(event)
        # a process that ends takes along what has not arrived
        self._effort_publisher.wait_for_all_acked(Duration(seconds=LAST_WORD))
        self._active.close()
        self._watch_timer = None
        path = None if self._recorder is None else self._recorder.close()
        if path is not None:
            self._node.get_logger().info(f'recorded {path}')

    def destroy(self) -> None:
        """Take everything away."""
        gc.unfreeze()
        self._keeper.close()

    # -- one tick --------------------------------------------------------------------------------

    def _send(self, tick: int) -> None:
        command = self.loop.command
        self.guard.note(tick)
        label = LABELS.get(self._latch.state)
        if label != self._label:
            self._label = label
            for _, _, writer, _ in self._driven:
                writer.label(*filter(None, (label,)))
        if self._telemetry is not None and tick:
            self.loop.controller.write_telemetry(self._said)
            self._telemetry_publisher.publish(self._telemetry.write(self._said, tick))
        for field, pick, writer, publisher in self._driven:
            if len(pick):
                publisher.publish(writer.write(getattr(command, field)[pick], tick))
        self.report()

    def _on_answered(self, start: float) -> None:
        end = time.monotonic()
        pace = self.clock.pace
        self.times.add(start, end, self.loop.period / max(pace, 1e-9))
        self.operation.answered(start, end, pace)
        if self._recorder is not None:
            self._recorder.write(self.operation.measurement, self.loop.command, self.loop.reference)
        if self.loop.supervisor.led:
            for output in self._outputs:
                output.publish(self.operation.measurement.stamp)

    # -- faults ----------------------------------------------------------------------------------

    def _fault_state(self) -> tuple[Fault | None, tuple[str, ...]]:
        return self._latch.fault, self._latch.later

    def report(self) -> None:
        """Tell the node of another fault, if there is one; look at the clock again soon."""
        if self._fault_state() == self._reported:
            return
        before, fault, late = self._reported[0], self._latch.fault, self._late()
        if fault is not None and fault != before:
            if self._recorder is not None:
                self._recorder.save_fault()
            if late:
                self._latch.fault = replace(fault, message=f'{fault.message}; {late}')
        self._reported = self._fault_state()
        self._on_fault()
        if self._watch_timer is not None:
            self._set_watch(self.loop.period)

    def stop(self, code: str, message: Any) -> None:
        """Latch a fault, and send the safe command at once if active."""
        self.operation.stop(code, message, self.clock.now())
        self.report()

    def _on_left(self, words: str) -> None:
        if self.operation.active:  # an idle robot may be disarmed
            self.stop('second_publisher', words)

    def clear(self) -> str | None:
        """Clear a latched fault; return why it cannot be, or None.

        A cause that lasts latches again: it is looked at here where nothing else would.
        """
        if conflict := self._conflict():
            return f'second_publisher: {conflict}'
        self.operation.clear(self.clock.now())
        self.report()
        return None

    def _on_watch(self) -> None:
        if self.operation.active:
            self._node.catch_up()
            delay, still = self.operation.watch(self.clock.now()), self.clock.still
            self._set_watch(delay / max(1.0, self.clock.pace))
            # a pause may last; a simulator that has gone is silent
            if still > self._values.waiting_timeout and self.clock.lost:
                waiting = self._latch.state is State.WAITING
                self.stop(
                    'sensor_missing' if waiting else 'stale_joint_state',
                    'simulated time '
                    f'stands still for {still:.1f} s, and nobody publishes {topics.CLOCK}',
                )
            self.report()

    def _stoppable(self) -> dict[str, Any]:
        """Return what the law's step plan says of a stop from here."""
        law = self.loop.law
        if not isinstance(law, StopJudge) or self._latch.state not in LED | {State.WALKING}:
            return {}
        steps, margin = law.stoppable()
        return {'stoppable in steps': steps, 'stoppable margin': margin}

    def _late(self) -> str:
        """Return in words that answers came late, since `/diagnostics` last told; or nothing."""
        late = self.times.late * self.clock.pace
        if not self._values.realtime or late <= LATE * self.loop.sensor_timeout:
            return ''
        return f'answers came up to {1e3 * late:.0f} ms late in the last second'

    def _slow(self) -> str:
        """Return in words that joint states come more rarely than the law wants, or nothing."""
        usual, wanted = self.loop.supervisor.usual, 1.0 / self.loop.period
        if not self._values.realtime or RATE_MARGIN * wanted * usual <= 1.0:
            return ''
        return (
            f'joint states are answered at {1.0 / usual:.0f} Hz, the law wants {wanted:.0f}: '
            f'see update_rate of {topics.MANAGER}, or give the controller a faster processor'
        )

    def _invite(self) -> None:
        """Say once how to let a robot walk whose law stands until somebody asks for a velocity."""
        law, values = self.loop.controller, self._values
        stands = law.standstill is not None and vars(law.values).get('speed') == 0.0
        if self._invited or not stands or self._latch.state is not State.WALKING:
            return
        self._invited = True
        if self.operation.steering.source == 'parameters':
            kind, fields = 'Twist', '{linear: {x: 0.3}}'
            if values.cmd_vel_stamped:
                kind, fields = 'TwistStamped', f'{{twist: {fields}}}'
            topic = self._node.resolve_topic_name(topics.CMD_VEL)
            self._node.get_logger().info(
                'stands until a velocity is asked for: '
                f"ros2 topic pub -r 10 {topic} geometry_msgs/msg/{kind} '{fields}'"
            )

    def _set_watch(self, delay: float) -> None:
        self._watch_timer.timer_period_ns = int(1e9 * delay)
        self._watch_timer.reset()

    def _is_mocked(self) -> bool:
        """Return whether no sensor has changed to the last bit since a look ago, under torque."""
        measurement, (stamp, before) = self.operation.measurement, self._looked
        self._looked = measurement.stamp, measurement.values.copy()
        return (
            stamp != measurement.stamp
            and np.array_equal(before, measurement.values)
            and bool(self.loop.command.effort.any())
        )

    def _on_neighbours(self) -> None:
        self.claims.ask()
        if conflict := self._conflict():
            self.stop('second_publisher', conflict)

    def _tell(self) -> None:
        """Say on /diagnostics how the loop does."""
        steering, stoppable = self.operation.steering, self._stoppable()
        self._invite()
        warnings = (
            self._unmoved(),
            self._neighbours.deaf_stop(),
            *self._neighbours.warnings(),
            self._velocity.pop_problem(),
            self.loop.supervisor.warning,
            self._late(),
            self._slow(),
            # in a simulator it misses those for which the machine is too slow: no fault
            '' if self.clock.simulated else self.claims.missed,
            'no step that the law may take brings the robot to a stand'
            if stoppable.get('stoppable in steps', 0) < 0
            else '',
        )
        self._diagnostics.publish_loop(
            self._latch.state.name.lower(),
            self._latch.fault,
            self.times,
            {
                'clamped commands': self.loop.supervisor.clamped,
                'bridged measurements': self.loop.supervisor.bridged,
                'pace of time': self.clock.pace,
                'answers late by (ms)': 1e3 * self.times.pop_late(),
                'velocity by': steering.source,
                'cmd_vel refused': steering.refused,
                'cmd_vel clipped': steering.clipped,
                'later faults': ', '.join(self._latch.later),
                **stoppable,
            },
            [words for words in warnings if words],
        )

    def _unmoved(self) -> str:
        """Return in words why nothing seems to move, or nothing; log it now and then."""
        log, still, now = self._node.get_logger(), self.clock.still, self.clock.now()
        if self._latch.fault is None and still > WATCH:
            words = f'simulated time has stood still for {still:.1f} s: a pause?'
            log.info(words, throttle_duration_sec=5.0)
            return ''
        if self._latch.state is State.WAITING:
            waited = now - self.operation.arrivals.waiting_since
            words = f'waiting for {waited:.1f} s: {self.operation.wants(now)}'
        elif self._is_mocked():
            words = (
                'no sensor has changed in the last digit, under '
                f'{abs(self.loop.command.effort).max():.3g} N m: mock components?'
            )
        elif self.clock.lost:
            words = f'use_sim_time, but nobody publishes {topics.CLOCK}: stamps tell the time'
        else:
            return ''
        log.warning(words, throttle_duration_sec=5.0)
        return words
