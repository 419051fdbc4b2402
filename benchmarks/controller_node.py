# SPDX-License-Identifier: Apache-2.0
"""What the hip controller costs: its tick alone, and its node against an echo node.

The echo node has the same subscriptions and publications and does nothing but wait for a complete
set of sensors and answer. Both answer the same recorded walk, in turns, in the driver's process
and in one of their own; the ratios of their median round-trip times are printed, and the shares
of a core that controller, the same with all sensors in one message, and echo take in a process of
their own in real time at 500 Hz, as ratios to the echo's. Beside them stand how long the slowest
hundredth of the round trips took, how long a fresh process needs from its start to the first
command, files in the caches, and the load of the machine. Last comes the latency from a set of
sensors to the command at 500 Hz beside a busy process on each processor, with and without
real-time priority of the controller; the driver has a higher one than it. The echo's with the same
priority tells how much of it is the machine's and the middleware's.

    python benchmarks/controller_node.py [--ticks 2000] [--rounds 5]
"""

import argparse
import contextlib
import gc
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import time

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement, sensors_of
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.ros.nodes.messages import ArrayWriter, message_type, set_stamp, writer_of
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain, make_executor, spin
from walking_control.ros.nodes.sensors import combined_writer
from walking_control.ros.ros2_control.names import tick_number_of
from walking_control.simulation.registry import make_plant

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'helpers'))
from programs import Program, SCRIPTS  # noqa: E402


def record_walk(robot_file, ticks):
    """Return the measurements of a simulated walk."""
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurements = []
    for _ in range(ticks):
        measurement = Measurement(robot_file.robot)
        plant.measure(measurement)
        measurements.append(measurement)
        plant.step(loop.tick(measurement), loop.period)
    return measurements


def tick_number(stamp):
    """Return `tick_number_of` a builtin_interfaces Time, see there."""
    return tick_number_of(stamp.sec * 1_000_000_000 + stamp.nanosec)


def time_tick(robot_file, measurements):
    """Return the median time of a control tick without ROS, s."""
    loop = ControlLoop(robot_file)
    times = []
    for measurement in measurements:
        start = time.perf_counter()
        loop.tick(measurement)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


PRIORITY = 45  # of a node in real time, its default
TELEMETRY_EVERY = 5  # ticks at 100 Hz, for the default of 20 Hz


class EchoNode(Node):
    """Subscribes and publishes like the controller node and computes nothing."""

    def __init__(self, robot, **kwargs):
        super().__init__('echo', **kwargs)
        self._tick_of = {}
        self._needed = 3 + len(robot.feet)
        self._effort = ArrayWriter(len(robot.actuators))
        self._lock = ArrayWriter(len(robot.locks))
        latest = topics.LATEST
        self._publishers_used = [
            self.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, latest),
            self.create_publisher(Float64MultiArray, topics.LOCK_COMMANDS, latest),
        ]
        names = [*robot.coordinates, *robot.coordinates, *robot.actuators, 'a', 'b', 'c']
        self._telemetry = [
            self.create_publisher(Float64, f'~/telemetry/figure_{i}', latest)
            for i in range(len(names))
        ]
        self._odometry = self.create_publisher(Odometry, 'odom', latest)
        self._number, self._pose = Float64(), Odometry()
        self._answers = 0
        for sensor in sensors_of(robot):
            self._listen(message_type(sensor), sensor.topic)
        self.create_subscription(Twist, topics.CMD_VEL, lambda message: None, latest)

    def _listen(self, kind, topic):
        def arrived(message):
            tick = tick_number(message.header.stamp)
            self._tick_of[topic] = tick
            if len(self._tick_of) == self._needed and all(
                other == tick for other in self._tick_of.values()
            ):
                self._publishers_used[0].publish(self._effort.write(0.0, tick))
                self._publishers_used[1].publish(self._lock.write(1.0, tick))
                self._answers += 1
                if self._answers % TELEMETRY_EVERY == 0:
                    for publisher in self._telemetry:
                        publisher.publish(self._number)
                    self._odometry.publish(self._pose)

        self.create_subscription(kind, topic, arrived, topics.LATEST)

    def stop(self):
        """Nothing to stop."""


class Driver(Node):
    """Sends recorded sensors and notes when the commands come back."""

    def __init__(self, robot, measurements, replay=True, combined=False):
        super().__init__('driver')
        self._combined = combined_writer(robot) if combined else None
        if combined:
            self._combined_publisher = self.create_publisher(
                JointState, topics.COMBINED_STATE, topics.SENSOR_OUT
            )
        self._measurements = measurements
        joints, *others = sensors_of(robot)
        self._told = [
            (
                sensor.name,
                writer_of(sensor),
                self.create_publisher(message_type(sensor), sensor.topic, topics.SENSOR_OUT),
            )
            for sensor in (*others, joints)
        ]
        self._time = Time()
        self.create_subscription(
            Float64MultiArray,
            topics.EFFORT_COMMANDS,
            lambda message: self._answered('effort', message),
            topics.LATEST,
        )
        self.create_subscription(
            Float64MultiArray,
            topics.LOCK_COMMANDS,
            lambda message: self._answered('lock', message),
            topics.LATEST,
        )
        self.times = []
        self._replay = replay
        self._sent, self._answers = {}, {}
        self._row = 0

    @property
    def matched(self):
        """Whether a node listens to everything and answers."""
        publishers = [publisher for _, _, publisher in self._told]
        if self._combined is not None:
            publishers = [self._combined_publisher]
        return (
            all(publisher.get_subscription_count() for publisher in publishers)
            and self.count_publishers(topics.EFFORT_COMMANDS) > 0
            and self.count_publishers(topics.LOCK_COMMANDS) > 0
        )

    @property
    def done(self):
        """Whether the recorded walk is over."""
        return self._row == len(self._measurements)

    def send(self, measurement=None):
        """Send the sensors of the next tick, or of a measurement."""
        if measurement is None:
            measurement = self._measurements[self._row]
        set_stamp(self._time, measurement.stamp)
        self._sent[tick_number(self._time)] = time.perf_counter()
        if self._combined is not None:
            self._combined_publisher.publish(self._combined(measurement))
            return
        for name, writer, publisher in self._told:
            publisher.publish(writer.write(measurement.stamp, *measurement.parts[name]))

    def _answered(self, what, message):
        tick = message.layout.data_offset
        self._answers[what] = tick
        if len(set(self._answers.values())) == 1 and len(self._answers) == 2 and tick in self._sent:
            self.times.append(time.perf_counter() - self._sent.pop(tick))
            self._row += 1
            if not self.done and self._replay:
                self.send()

    def stop(self):
        """Nothing to stop."""


def play(driver, nodes):
    """Let a driver play its walk to whoever answers; return all round trips, s."""
    executor = make_executor()
    for each in (driver, *nodes):
        executor.add_node(each)
    match(executor, driver)
    driver.send()
    last = sent = time.monotonic()
    rows = 0
    while not driver.done:
        executor.spin_once(timeout_sec=0.1)
        if len(driver.times) > rows:
            last, rows = time.monotonic(), len(driver.times)
            sent = last
        elif time.monotonic() - last > 20.0:
            raise SystemExit('error: no answer for 20 s')
        elif time.monotonic() - sent > 0.5:  # the first message may be lost to discovery
            driver.send()
            sent = time.monotonic()
    return driver.times


def match(executor, driver):
    """Spin until a driver and whoever answers have found each other."""
    deadline = time.monotonic() + 20.0
    while not driver.matched:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > deadline:
            raise SystemExit('error: the nodes did not find each other within 20 s')


def time_here(make_node, robot, measurements):
    """Return the round trips to a node in this process, s."""
    rclpy.init(args=[])
    driver, node = Driver(robot, measurements), make_node()
    times = play(driver, [node])
    for each in (node, driver):
        each.stop()
        each.destroy_node()
    rclpy.shutdown()
    return times


def start_controller(robot_file, *parameters):
    """Start the controller node in a process of its own."""
    arguments = [
        str(SCRIPTS / 'controller_node'),
        '--ros-args',
        '-p',
        f'robot_file:={robot_file.path}',
        '-p',
        'autostart:=true',
        '-p',
        'require_watchdog:=false',
    ]
    for parameter in parameters:
        arguments += ['-p', parameter]
    return Program(sys.executable, *arguments)


def time_apart(process, robot, measurements):
    """Return the round trips to a node in another process, s, and end that process."""
    with process:
        rclpy.init(args=[])
        driver = Driver(robot, measurements)
        times = play(driver, [])
        driver.destroy_node()
        rclpy.shutdown()
        process.stop()
    return times


def cpu_seconds(process):
    """Return the processor time a process has used so far, s; Linux only."""
    fields = Path(f'/proc/{process.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def core_share(robot, process, rate, duration, measurements, combined=False):
    """Let a process answer in real time, and end it.

    Returns:
        The share of one core that it takes, and how long its answers took, s.

    Args:
        robot: The `Robot`.
        process: The process, a controller or an echo node.
        rate: Sets of sensors per second.
        duration: How long to measure, s.
        measurements: A walk recorded at 100 Hz.
        combined: Whether all sensors are sent in one message.
    """
    rclpy.init(args=[])
    driver = Driver(robot, measurements, replay=False, combined=combined)
    executor = make_executor()
    executor.add_node(driver)
    match(executor, driver)
    gc.collect()  # from here on the driver holds up nothing for some 25 ms
    gc.freeze()
    begin, used = time.monotonic(), cpu_seconds(process)
    for tick in range(round(rate * duration)):
        measurement = measurements[min(tick * 100 // int(rate), len(measurements) - 1)]
        measurement.stamp = 1.0 + tick / rate
        driver.send(measurement)
        due = begin + (tick + 1) / rate
        while (left := due - time.monotonic()) > 0.0:
            executor.spin_once(timeout_sec=left)
    share = (cpu_seconds(process) - used) / (time.monotonic() - begin)
    driver.destroy_node()
    rclpy.shutdown()
    process.stop()
    return share, driver.times


def patient(rate):
    """Return parameters of a controller in real time that bears late and sparse sensors."""
    return (
        'realtime:=true',
        f'hip_switching.rate:={rate}',
        'safety.state_timeout:=1.0',
        'safety.jump_margin:=5.0',
        'safety.overrun_limit:=10000',
    )


def time_latency(robot_file, rate, duration=10.0):
    """Return how late commands come beside busy processes, with and without priority, us."""
    measurements, latency = record_walk(robot_file, round(100 * duration)), {}
    starts = {
        **{
            f'latency_{name}_priority': lambda priority=priority: start_controller(
                robot_file, *patient(rate), f'priority:={priority}'
            )
            for name, priority in (('with', PRIORITY), ('without', 0))
        },
        'latency_of_echo_with_priority': lambda: start_echo(PRIORITY),
    }
    with contextlib.ExitStack() as busy:
        for _ in range(os.cpu_count()):
            busy.enter_context(Program(sys.executable, '-c', 'while True: pass'))
        for name, start in starts.items():
            with start() as process:
                with as_driver():
                    _, times = core_share(robot_file.robot, process, rate, duration, measurements)
            latency.update(told_of(name, times))
            latency[f'{name}_unanswered'] = round(rate * duration) - len(times)
    return latency


def told_of(name, times):
    """Return median, slowest hundredth and slowest of times in s, in us."""
    hundredths = statistics.quantiles(times, n=100)
    told = (('p50', hundredths[49]), ('p99', hundredths[98]), ('max', max(times)))
    return {f'{name}_{which}_us': 1e6 * value for which, value in told}


@contextlib.contextmanager
def as_driver():
    """Have a real-time priority above every node's meanwhile, where that is allowed."""
    try:
        raise_priority(60)
    except OSError as error:
        print(f'no real-time priority: {error}', file=sys.stderr)
    yield
    for thread in os.listdir('/proc/self/task'):
        os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))


def compare_core_shares(robot_file, rate, duration=6.0):
    """Return the shares of a core of controller and echo node at a rate."""
    measurements, given = record_walk(robot_file, round(100 * duration)), patient(rate)
    starts = {
        'controller': lambda: start_controller(robot_file, *given),
        'combined': lambda: start_controller(robot_file, *given, 'combined_state:=joint_state'),
        'echo': start_echo,
    }
    shares = {}
    for name, start in starts.items():
        with start() as process:
            shares[f'core_share_{name}'], _ = core_share(
                robot_file.robot, process, rate, duration, measurements, name == 'combined'
            )
    return shares


FIRST_COMMAND = """
import walking_control as wc
robot_file = wc.load_robot({name!r})
wc.ControlLoop(robot_file).tick(wc.Measurement(robot_file.robot))
"""


def time_start(name):
    """Return how long a process takes from its start to its end after a first command, s."""
    times = []
    for _ in range(3):  # the first fills the caches
        start = time.perf_counter()
        subprocess.run([sys.executable, '-c', FIRST_COMMAND.format(name=name)], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def start_echo(priority=0):
    """Start the echo node in a process of its own, with a real-time priority or none."""
    return Program(sys.executable, __file__, '--echo', '--priority', priority)


def make_controller(robot_file):
    """Return an active controller node."""
    node = ControllerNode(
        parameter_overrides=[
            Parameter('robot_file', value=str(robot_file.path)),
            Parameter('require_watchdog', value=False),
        ]
    )
    node.trigger_configure()
    node.trigger_activate()
    return node


def run_echo(robot, priority):
    """Be the echo node in a process of its own."""
    rclpy.init(args=[])
    node = EchoNode(robot)
    executor = make_executor()
    executor.add_node(node)
    gc.freeze()
    try:
        if priority:
            raise_priority(priority)
        spin(executor)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--ticks', type=int, default=2000)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--echo', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--priority', type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    isolate_domain()
    robot_file = load_robot('dribbel')
    robot = robot_file.robot
    if options.echo:
        run_echo(robot, options.priority)
        return
    measurements = record_walk(robot_file, options.ticks)
    times = {name: [] for name in ('controller', 'echo', 'controller_apart', 'echo_apart')}
    for _ in range(options.rounds):
        times['controller'].extend(
            time_here(lambda: make_controller(robot_file), robot, measurements)
        )
        times['echo'].extend(time_here(lambda: EchoNode(robot), robot, measurements))
        times['controller_apart'].extend(
            time_apart(start_controller(robot_file), robot, measurements)
        )
        times['echo_apart'].extend(time_apart(start_echo(), robot, measurements))
    middle = {name: statistics.median(values) for name, values in times.items()}
    result = {
        'tick_us': 1e6 * time_tick(robot_file, measurements),
        **{f'{name}_round_trip_us': 1e6 * value for name, value in middle.items()},
        **{
            f'{name}_slowest_hundredth_us': 1e6 * statistics.quantiles(values, n=100)[-1]
            for name, values in times.items()
        },
        'ratio_to_echo': middle['controller'] / middle['echo'],
        'ratio_to_echo_two_processes': middle['controller_apart'] / middle['echo_apart'],
    }
    if Path('/proc').is_dir():
        shares = compare_core_shares(robot_file, 500.0)
        result.update(shares)
        for name in ('controller', 'combined'):
            ratio = shares[f'core_share_{name}'] / shares['core_share_echo']
            result[f'core_share_{name}_to_echo'] = ratio
        result.update(time_latency(robot_file, 500.0))
    for name in ('dribbel', 'walker3d'):
        result[f'first_command_of_{name}_s'] = time_start(name)
    result['load'], result['processors'] = os.getloadavg()[0], os.cpu_count()
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f'{name:>38}: {value:.4g}')


if __name__ == '__main__':
    main()
