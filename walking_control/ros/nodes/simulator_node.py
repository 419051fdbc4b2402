# SPDX-License-Identifier: Apache-2.0
"""Plays the part of robot and ros2_control: sensors out, commands in, on the same topics."""

from collections.abc import Callable
from functools import partial
import time
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String

from walking_control.controllers.registry import CONTROLLERS
from walking_control.estimation import EstimatorParameters, make_estimator
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot, PLANTS
from walking_control.models import parameter, picks_of, Robot, RobotFile, signals, World
from walking_control.ros.nodes import (
    combined_writer,
    describe,
    GuardedNode,
    JOINT_STATE,
    message_type,
    own_parameters,
    program,
    read_array,
    realtime,
    RouteTopics,
    SectionParameters,
    set_stamp,
    topics,
    writer_of,
)
from walking_control.ros.ros2_control.stand_in import HABITS, Place, read_controllers, StandIn
from walking_control.runs import read_route, Recorder, Run
from walking_control.safety import FALL, FallDetector, Fault, read_fault, SafetyParameters
from walking_control.simulation import (
    Guide,
    make_plant,
    plan_disturbances,
    planned_pushes,
    SensorParameters,
)
from walking_control.simulation.injection import (
    check_kind,
    Injection,
    INJECTIONS,
    LAW_FAULTS,
    SENSOR_FAULTS,
)


class SimulatorNodeParameters(realtime.RealTimeParameters, section='node'):
    """Of the node, beside those of the sections."""

    robot_file: str = parameter('dribbel', '', 'Robot: a name or the path of a robot file.')
    plant: str = parameter('', '', "Plant; empty takes the robot file's default.")
    controller: str = parameter('', '', 'Name of the controller, for its rate and the record.')
    realtime: bool = parameter(False, '', 'False: lockstep, every step waits for its command.')
    speed: float = parameter(
        1.0, '1', 'Pace of real time: simulated seconds in a second.', 0.001, 100.0
    )
    duration: float = parameter(
        0.0, 's', 'Simulated time after which to stop; 0 runs on.', 0.0, 1e6
    )
    lockstep_timeout: float = parameter(
        2.0, 's', 'Longest wait for a command in lockstep.', 0.1, 600.0
    )
    command_timeout: float = parameter(
        0.1,
        's',
        'In real time, age of a command after which the effort is zero, simulated time.',
        0.001,
        10.0,
    )
    disturb: str = parameter('', '', 'Disturbances KIND=SIZE@WHEN, separated by commas.')
    route: str = parameter(
        '',
        '',
        'Name of a shipped route, or path of a route file, that is asked of the '
        'controller on cmd_vel; empty: none.',
    )
    record_telemetry: bool = parameter(
        False,
        '',
        'Record what the controller says of every tick; its node must be told to send it.',
    )
    fault: str = parameter(
        '',
        '',
        'Kind of fault to provoke from now on, see walking_control fault --help; empty: none.',
        choices=('', *INJECTIONS),
        live=True,
    )
    controllers_file: str = parameter(
        '',
        '',
        'controllers.yaml of ros2_control: the node then treats messages as its '
        'controllers do; empty: as our own plants do.',
    )
    place: str = parameter(
        '',
        '',
        'Simulator whose habits are played under controllers_file: first, repeated and '
        'lost samples, joints without torque when they are let go; empty: none.',
        choices=tuple(HABITS),
    )
    state_rate: float = parameter(
        0.0, 'Hz', 'Rate of the sensors; 0: that of the controller.', 0.0, 10000.0
    )
    force_sign: float = parameter(
        1.0,
        '1',
        'Sign of the simulated force sensors under controllers_file: -1 for the force '
        'of the foot on the floor.',
        -1.0,
        1.0,
    )
    combined_state: str = parameter(
        '',
        '',
        'joint_state: all sensors in one message; empty: a topic each.',
        choices=('', JOINT_STATE),
    )
    discovery_timeout: float = parameter(
        120.0, 's', 'Longest wait for a controller to be active.', 0.1, 600.0
    )


REPEAT_AFTER = 0.2  # s of wall time in lockstep after which sensors are sent again


class SimulatorNode(GuardedNode):
    """A plant on ros2_control topics.

    It waits for a controller, then runs. In lockstep it sends its sensors, waits for the commands
    that carry their tick number and steps; the result does not depend on the machine's speed. In
    real time it steps by the steady clock.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.

    Raises:
        InvalidInput: The robot file, the plant or a parameter is unusable.
    """

    _started: float | None = None
    _commanded: float | None = None
    _lying: str | None = None  # why the robot counts as fallen
    _fall_reason: str | None = None
    fault: Fault | None = None
    # for law faults: of whoever has the controller here
    break_law: Callable[[str], None] | None = None

    def __init__(self, name: str = 'simulator', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._values = own_parameters(self, SimulatorNodeParameters).read()
        robot_file = load_robot(self._values.robot_file)
        plant_name = self._values.plant or robot_file.plant
        kinds = World, EstimatorParameters, SafetyParameters, SensorParameters
        sections = (*kinds, PLANTS.find(plant_name).parameters)
        SectionParameters(self, sections, robot_file).read_into(robot_file)
        self._build(robot_file, plant_name)
        self._create_topics(robot_file.robot)
        self._asked = self._guide = None
        if self._route is not None:
            self._asked = RouteTopics(self)
            self._guide = Guide(self._route, self._asked)
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self.finished = False
        self.wall_time = 0.0
        self.ticks = self.missed_ticks = 0
        self._created = time.monotonic()
        self._waiting = self.steady_timer(0.02, self._on_waiting)

    def _build(self, robot_file: RobotFile, plant_name: str) -> None:
        controller = CONTROLLERS.find(self._values.controller or robot_file.controller)
        settings = robot_file.values(controller.parameters)
        self.period = 1.0 / (self._values.state_rate or settings.rate)
        robot = robot_file.robot
        path = self._values.controllers_file
        self.stand_in = StandIn(robot, read_controllers(path)) if path else None
        self._place = Place(self._values.place if path else '', robot)
        self._held = 0.0  # s that it was held before it was let go
        self.plant = make_plant(robot_file, plant_name)
        plan_disturbances(self.plant, [text for text in self._values.disturb.split(',') if text])
        self._route = read_route(self._values.route) if self._values.route else None
        if self._route is not None:
            plan_disturbances(self.plant, planned_pushes(self._route))
        self.plant.reset(robot_file.start)
        self._origin = float(self.plant.truth.q[0])
        # the record shows what an estimator sees, wherever the controller runs
        self._observer = make_estimator(robot_file)
        self._observer.reset(robot_file.start.support)
        self._fall = FallDetector(robot, robot_file.values(SafetyParameters))
        self._measurement = signals.Measurement(robot)
        self._injection = Injection(robot)
        self._command = signals.Command(robot)
        self._command.lock[:] = True
        rows = round(self._values.duration / self.period) if self._values.duration else 6000
        fields = controller.telemetry_fields(robot) if self._values.record_telemetry else ()
        self._said = np.zeros(len(fields))
        self.recorder = Recorder(
            robot, controller.name, self.plant, rows + 1, vars(settings), fields
        )

    def _create_topics(self, robot: Robot) -> None:
        out, latest = topics.SENSOR_OUT, topics.LATEST
        stand_in = self.stand_in
        self._stop_publisher = self.create_publisher(
            Bool,
            topics.EMERGENCY_STOP,
            topics.EVENTS,
            event_callbacks=PublisherEventCallbacks(use_default_callbacks=False),
        )
        joints, *others = signals.sensors_of(robot)
        names_told = stand_in.joints if stand_in else None
        self._writers = {
            sensor.name: writer_of(sensor, names_told if sensor is joints else None)
            for sensor in (*others, joints)  # these complete a set
        }
        self._joints = joints
        # sensors, the publisher of what they say, and what makes a message of a measurement
        self._senders: list[tuple[list[str], Any, Callable[[signals.Measurement], Any]]]
        if self._values.combined_state:
            one = self.create_publisher(JointState, topics.COMBINED_STATE, out)
            self._senders = [([*self._writers], one, combined_writer(robot))]
        else:
            self._senders = [
                (
                    [sensor.name],
                    self.create_publisher(message_type(sensor), sensor.topic, out),
                    partial(self._write, sensor),
                )
                for sensor in (*others, joints)
            ]
        self._time = ClockMessage()
        self._time_publisher = self.create_publisher(ClockMessage, topics.CLOCK, latest)
        self._end_publisher = self.create_publisher(String, topics.SIMULATION_END, topics.EVENTS)
        # before the commands, so that of two that wait the word about the tick comes first
        self.create_subscription(String, topics.FAULT, self._on_fault, topics.LATCHED)
        self._ticks: dict[str, int | None] = {}  # what answers a tick -> the one of its newest
        if len(self._said):
            self._ticks[topics.TELEMETRY] = None
            self.create_subscription(
                Float64MultiArray, topics.TELEMETRY, self._on_telemetry, latest
            )
        heard = topics.SENSOR_IN if stand_in else latest  # ros2_control asks for nothing
        locks = {'lock': [*range(len(robot.locks))]} if robot.locks else {}
        for field, pick in {**picks_of(robot), **locks}.items():
            topic = topics.command_topic(field)
            self._ticks[topic] = None
            hear = partial(self._on_command, field, pick, topic)
            self.create_subscription(Float64MultiArray, topic, hear, heard, read=read_array)

    # -- start -----------------------------------------------------------------------------------

    def _on_waiting(self) -> None:
        """Start once a controller listens and speaks."""
        unheard = [
            publisher.topic_name
            for _, publisher, _ in self._senders
            if not publisher.get_subscription_count()
        ]
        silent = [topic for topic in self._ticks if not self.count_publishers(topic)]
        if self._asked is not None and self._asked.missing:
            unheard.append(self._asked.missing)
        if not (unheard or silent):
            self.destroy_timer(self._waiting)
            self._start()
        elif time.monotonic() - self._created > self._values.discovery_timeout:
            missing = [
                f'nobody {does} {", ".join(names)}'
                for does, names in (('listens to', unheard), ('sends', silent))
                if names
            ]
            self.finish(
                'no_controller',
                f'{"no" if silent else "no active"} controller for '
                f'{self._values.discovery_timeout:g} s: ' + '; '.join(missing),
            )

    @property
    def started(self) -> bool:
        """Whether a controller was found and the first sensors are sent."""
        return self._started is not None

    def _start(self) -> None:
        if self._values.realtime:
            realtime.begin(self, self._values)
        self._started = self._waiting_since = self._sent = time.monotonic()
        interval = self.period / self._values.speed if self._values.realtime else REPEAT_AFTER / 2
        callback = self._on_period if self._values.realtime else self._on_patience
        self.steady_timer(interval, callback)
        self._measure()
        self._tell()

    # -- commands --------------------------------------------------------------------------------

    def _on_command(
        self, field: str, pick: list[int], topic: str, message: Float64MultiArray
    ) -> None:
        """Take a field of a command, for which of its numbers."""
        dim = message.layout.dim
        if self._commanded is None and dim and dim[0].label == topics.WAITS:
            return  # the zeros of a controller that waits do not let go of the robot
        if self.stand_in is not None:
            self._commanded = time.monotonic()
            if not self.stand_in.receive(topic.partition('/')[0], message.data):
                return
        else:
            told = np.array(message.data)
            if told.shape != (len(pick),) or not np.isfinite(told).all():
                self.get_logger().error(
                    f'{topic}: {told.tolist()} dropped; must be {len(pick)} finite numbers',
                    throttle_duration_sec=1.0,
                )
                return
            self._commanded = time.monotonic()
            getattr(self._command, field)[pick] = told > 0.5 if field == 'lock' else told
        self._ticks[topic] = message.layout.data_offset
        if self.stand_in is None:
            self._complete()
        self._advance()

    def _complete(self) -> None:
        """Let servos hold what they were told, once they were told anything."""
        if self._ticks.get(topics.command_topic('position')) is not None:
            self.plant.drives.complete(self._command)

    def _on_telemetry(self, message: Float64MultiArray) -> None:
        if len(message.data) == len(self._said):
            self._said[:] = message.data
            self._ticks[topics.TELEMETRY] = message.layout.data_offset
            self._advance()

    def _on_fault(self, message: String) -> None:
        """Keep what the controller says of its fault; it goes on by sending safe commands."""
        if not self.finished or self.fault is None:
            self._judge(read_fault(message.data))

    def _update_stand_in(self, stand_in: StandIn) -> None:
        measurement = self._measurement
        for name in stand_in.update(measurement.position, measurement.velocity):
            self.get_logger().error(
                f'{name} is deactivated: its command has another size than its joints'
            )
        stand_in.write(self._command)
        self._complete()
        if self.plant.time < self._place.habits.limp:
            self._command.clear()

    def _advance(self) -> None:
        """In lockstep, step when all commands of this tick are there."""
        if self._values.realtime or self._started is None or self.finished:
            return
        if all(tick == self._tick for tick in self._ticks.values()):
            self._step()
            while self.plant.lost and not self.finished:  # nobody will answer
                self._step()

    def _on_patience(self) -> None:
        """In lockstep, ask again after a while and give up in the end."""
        waited = time.monotonic() - self._waiting_since
        # a controller that gets no sensors is as patient; its fault must be seen
        if waited > self._values.lockstep_timeout * (2.0 if self._injection.kind else 1.0):
            missing = [topic for topic, tick in self._ticks.items() if tick != self._tick]
            self.finish(
                'no_command',
                f'no command for {self._values.lockstep_timeout:g} s from ' + ', '.join(missing),
            )
        elif time.monotonic() - self._sent > REPEAT_AFTER:
            self.missed_ticks += 1
            if self._values.place:
                self._measure()
            self._publish()

    def _on_period(self) -> None:
        """In real time, step by the clock; the robot is held until the first command."""
        if self._commanded is None or self.finished:
            if self._values.place and not self.finished:  # there the clock goes on meanwhile
                self._held += self.period
                self._measure()
            self._publish()
            return
        silence = self._values.speed * (time.monotonic() - self._commanded)
        # ros2_control has no timeout
        if self.stand_in is None and silence > self._values.command_timeout:
            self._command.clear()
        if any(tick != self._tick for tick in self._ticks.values()):
            self.missed_ticks += 1
        self._step()

    # -- one tick --------------------------------------------------------------------------------

    def _step(self) -> None:
        """Make a tick; what breaks in it ends the walk, as no plant goes on from there."""
        try:
            self._make_tick()
        except Exception as error:
            self.finish('internal', describe(error))

    def _make_tick(self) -> None:
        if self.stand_in is not None:
            self._update_stand_in(self.stand_in)
        said = partial(np.copyto, src=self._said)
        self.recorder.record(self.plant, self._observer.state, self._command, said)
        if self._lying is not None:
            self.finish(FALL, self._lying)
            return
        duration = self._values.duration
        if duration and self.ticks >= round(duration / self.period):
            self.finish()
            return
        self.ticks += 1
        self.plant.step(self._command, self.period)
        self._measure()
        if not self.plant.lost:
            self._waiting_since = time.monotonic()
            self._tell()
        # the controller has seen it, too: its answer is the last row, as it is without ROS
        self._lying = self._fall.reason(self._observer.state) or self.plant.truth.trip

    def _tell(self) -> None:
        """Send the sensors, and estimate while a controller in a process of its own answers."""
        if self._guide is not None:  # what the route has now, before they go out
            self._guide.advance(self._told.stamp)
        self._publish()
        effort = self._command.effort if self.plant.drives.are_plain else self.plant.held
        self._observer.update(self._measurement, effort)

    def _measure(self) -> None:
        measurement = self._measurement
        self.plant.measure(measurement)
        if self.plant.lost:
            return
        measurement.stamp = signals.whole_nanoseconds(measurement.stamp + self._held)
        set_stamp(self._time.clock, measurement.stamp)
        self._told = self._place.spoil(self._injection.spoil(measurement))
        self._tick = topics.tick_number_of(round(self._told.stamp * 1e9))

    def _publish(self) -> None:
        self._time_publisher.publish(self._time)
        for sensors, publisher, write in self._senders:
            message = write(self._told)
            if not any(map(self._injection.mutes, sensors)):
                publisher.publish(message)
        self._sent = time.monotonic()

    def _write(self, sensor: signals.Sensor, measurement: signals.Measurement) -> Any:
        """Return the message of a sensor, as the controllers of the stand-in would write it."""
        name, parts, stand_in = sensor.name, measurement.parts[sensor.name], self.stand_in
        if stand_in is not None and sensor.kind == signals.CONTACT:
            parts = [stand_in.multiply(name, self._values.force_sign * parts[0])]
        if sensor.message == signals.STATE:
            parts = list(map(sensor.spread, sensor.signals, parts))
        writer = self._writers[name]
        if name == signals.JOINTS:
            n = len(writer.message.name)  # the last may be missing
            parts = [(stand_in.arrange(part) if stand_in else part)[:n] for part in parts]
        return writer.write(measurement.stamp, *parts)

    # -- faults on purpose -----------------------------------------------------------------------

    def _on_set_parameters(self, parameters: Any) -> SetParametersResult:
        for each in parameters:
            if each.name == 'fault':
                try:
                    self._provoke(each.value)
                except InvalidInput as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _provoke(self, kind: Any) -> None:
        if kind:
            check_kind(kind)
        if kind in LAW_FAULTS:
            if self.break_law is None:
                raise InvalidInput(
                    'fault',
                    value=kind,
                    limit='the control law runs in another process',
                    remedy='demo --processes 1',
                )
            self.break_law(kind)
        elif kind == 'emergency_stop':
            self._stop_publisher.publish(Bool(data=True))
        self._injection.begin(kind if kind in SENSOR_FAULTS else '')
        joints = self._injection.joints
        if self.stand_in is not None:
            joints = self.stand_in.joints[: len(joints)]
        self._writers[signals.JOINTS] = writer_of(self._joints, joints)

    def finish(self, code: str | None = None, reason: str | None = None) -> None:
        """End the walk; code and reason of the `Fault` say why before its time."""
        if code == FALL:
            self._fall_reason = reason
        if code is not None and self.fault is None:
            self._judge(Fault(code, reason or code, self.plant.time))
        self.finished = True
        # first: a line in the log may take longer than a controller waits for sensors
        self._end_publisher.publish(String(data=reason or 'its duration is over'))
        self.wall_time = time.monotonic() - (self._started or self._created)
        distance = round(self.plant.truth.q[0] - self._origin, 2) + 0.0  # never -0.00
        self.get_logger().info(
            f'{self._observer.state.steps} steps, {distance:.2f} m in {self.plant.time:.2f} s'
        )
        if reason is not None:
            self.get_logger().error(reason)

    def _judge(self, fault: Fault | None) -> None:
        self.fault, self.exit_status = fault, 0 if fault is None else 1

    def result(self) -> Run:
        """Return the `Run` so far."""
        run = self.recorder.finish(self.fault, self._fall_reason)
        run.route = self._route
        return run

    def stop(self) -> None:
        """Let the word that it has ended arrive: a simulated robot needs no other last word."""
        if self.finished:
            self._end_publisher.wait_for_all_acked(Duration(seconds=0.5))


main = program(SimulatorNode)
