# SPDX-License-Identifier: Apache-2.0
"""Steering over real topics: cmd_vel, start and stop, on the biped that walks in space."""

import json
import math
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, PoseArray, PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Path
import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray
import yaml

from walking_control.cli import main
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.centroidal_monitor_node import CentroidalMonitorNode
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.nodes.messages import set_stamp
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.ros2_control.names import ODOM
from walking_control.runs.route import read_route, Route
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
fault = pytest.mark.fault


class Pilot:
    """Steers a simulated walker from outside, as people do."""

    def __init__(self, bench, robot='walker3d', kind=Twist, sensors=(), **parameters):
        self.bench, self.kind = bench, kind
        self.simulator = bench.add(
            SimulatorNode(
                parameter_overrides=[
                    Parameter('robot_file', value=robot),
                    *(Parameter(f'sensors.{name}', value=value) for name, value in sensors),
                ]
            )
        )
        self.controller = bench.controller(
            robot_file=robot, cmd_vel_stamped=kind is TwistStamped, **parameters
        )
        self.node = rclpy.create_node('pilot')
        self.node.stop = lambda: None
        bench.add(self.node)
        self.publisher = self.node.create_publisher(kind, topics.CMD_VEL, 1)
        assert bench.spin_until(
            lambda: self.publisher.get_subscription_count() and self.simulator.started, timeout=60.0
        ), 'nobody listens to cmd_vel, or the walk has not begun'

    @property
    def law(self):
        return self.controller.loop.controller

    @property
    def reference(self):
        return self.controller.loop.reference

    def send(self, ahead=0.0, left=0.0, turn=0.0, stamp=None):
        """Publish a velocity, and let the walk go on until it has had time to arrive."""
        message = self.kind()
        twist = message.twist if self.kind is TwistStamped else message
        twist.linear.x, twist.linear.y, twist.angular.z = ahead, left, turn
        if stamp is not None:
            set_stamp(message.header.stamp, stamp)
        self.publisher.publish(message)
        self.walk(0.02)

    def walk(self, duration):
        """Let simulated time pass."""
        end = self.simulator.plant.time + duration
        assert self.bench.spin_until(lambda: self.simulator.plant.time >= end, timeout=60.0)
        assert self.controller.fault is None, self.controller.fault

    def ask(self, name):
        """Call a service of the controller; return the response."""
        client = self.node.create_client(Trigger, f'walking_controller/{name}')
        assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
        future = client.call_async(Trigger.Request())
        assert self.bench.spin_until(future.done)
        return future.result()

    def listen(self, kind, topic):
        """Return a list that grows by the messages of a topic."""
        heard = []
        self.node.create_subscription(kind, topic, heard.append, 10)
        return heard


@pytest.mark.long
@fault(
    'Sensor of a foot that is dead or stuck, of robots in space',
    code=None,
    detected='once weight and legs have contradicted it for 0.2 s (load_error)',
    reaction='named in /diagnostics; motors, encoders and IMU tell the load of its foot',
    last='what the law says',
    clears='~/clear_fault: the sensor is trusted again',
)
def test_a_foot_sensor_that_lies_is_named_and_the_robot_walks_on(bench):
    """If it failed, a robot with a broken switch would fall, or walk on unknown to all."""
    pilot = Pilot(bench, sensors=(('stuck_foot', 2), ('stuck_after', 0.5)), cmd_vel_timeout=0.0)
    health = pilot.listen(DiagnosticArray, '/diagnostics')
    pilot.send(0.4)
    assert bench.spin_until(
        lambda: any('right_sole' in message.status[0].message for message in health), timeout=60.0
    )
    steps = pilot.law.engine.steps
    pilot.walk(0.5)
    assert pilot.law.engine.walking and pilot.law.engine.steps > steps
    assert pilot.ask('clear_fault').message == 'cleared'
    pilot.walk(0.1)


@pytest.mark.long
def test_stop_walks_to_a_stand_and_start_goes_on(bench):
    """Who asks a biped to stop wants it to stand there, not to lie there, nor to walk on."""
    pilot = Pilot(bench, cmd_vel_timeout=0.0)
    pilot.send(0.4)
    pilot.walk(1.4)
    assert pilot.law.engine.walking
    response, steps = pilot.ask('stop'), pilot.law.engine.steps
    assert response.success and 'stands' in response.message
    pilot.send(0.4)
    assert bench.spin_until(lambda: not pilot.law.engine.walking, timeout=60.0)
    assert pilot.law.engine.steps - steps <= 5
    place = pilot.simulator.plant.truth.base.position.copy()
    pilot.walk(0.3)
    pilot.send(0.4)
    assert not pilot.law.engine.walking, 'a stop that cmd_vel undoes'
    assert np.abs(pilot.simulator.plant.truth.base.position - place).max() < 0.03
    response = pilot.ask('start')
    assert response.success and 'cmd_vel' in response.message
    pilot.send(0.4)
    pilot.walk(0.2)
    assert pilot.law.engine.walking


@fault(
    'Commanded velocity beyond the limits of the law',
    code=None,
    detected='when it arrives',
    reaction='clipped; counted on /diagnostics',
    last='as the law says',
    clears='a velocity within the limits',
)
@fault(
    'Commanded velocity not finite',
    code=None,
    detected='when it arrives',
    reaction='refused; the one before holds for its cmd_vel_timeout; counted on /diagnostics',
    last='as the law says',
    clears='a finite velocity',
)
def test_velocities_that_cannot_be_obeyed_are_said(bench, capfd):
    """A wish that is silently changed or dropped leaves people wondering what is broken."""
    pilot = Pilot(bench)
    health = pilot.listen(DiagnosticArray, '/diagnostics')
    commanded = pilot.listen(Float64, 'walking_controller/telemetry/commanded_ahead')
    pilot.send(9.0, -9.0, 9.0)
    assert pilot.reference.velocity.tolist() == [1.0, -0.2, 0.3]
    pilot.send(math.nan)
    assert pilot.reference.velocity.tolist() == [1.0, -0.2, 0.3]

    def figures():
        return {
            pair.key: pair.value for message in health[-1:] for pair in message.status[0].values
        }

    assert bench.spin_until(lambda: figures().get('cmd_vel refused') == '1')
    said = capfd.readouterr().err
    assert 'cmd_vel clipped: ahead 9 m/s, limit 1' in said and 'cmd_vel refused: (nan' in said
    assert figures()['cmd_vel clipped'] == '1' and figures()['velocity by'] == 'cmd_vel'
    assert any('cmd_vel refused' in message.status[0].message for message in health)
    assert commanded and commanded[0].data == 1.0
    pilot.walk(0.8)
    assert pilot.reference.velocity[0] < 1.0, 'NaN is no renewal: cmd_vel_timeout'


@fault(
    'Commanded velocity of another time',
    code=None,
    detected='stamped more than cmd_vel_timeout in the past or future',
    reaction='refused; the one before holds for its cmd_vel_timeout; counted on /diagnostics',
    last='as the law says',
    clears='a velocity stamped now, or with no stamp',
)
def test_stale_velocities_are_refused(bench):
    """A radio that delivers the wishes of a minute ago must not steer."""
    pilot = Pilot(bench, kind=TwistStamped)
    now = time.time()
    for age in (60.0, -60.0):
        pilot.send(0.3, stamp=now - age)
        assert pilot.reference.velocity is None
    assert pilot.controller.loop is not None
    assert pilot.controller.session.operation.steering.refused == 2
    pilot.send(0.3, stamp=time.time())
    assert pilot.reference.speed == 0.3
    pilot.send(0.2)
    assert pilot.reference.speed == 0.2, 'no stamp is no stamp'


@pytest.mark.long
def test_a_silent_joystick_makes_it_stand(bench):
    """The radio dies in mid-walk: the robot must come to a stand by itself."""
    pilot = Pilot(bench, cmd_vel_timeout=0.3)
    for _ in range(5):
        pilot.send(0.3)
        pilot.walk(0.1)
    assert pilot.law.engine.walking
    pilot.walk(2.4)
    assert not pilot.law.engine.walking and not pilot.reference.velocity.any()


@pytest.mark.long
def test_feet_and_fall_are_drawn(bench):
    """What RViz shows must be where feet are and will be, in the frame of the odometry."""
    pilot = Pilot(bench, cmd_vel_timeout=0.0)
    heard = pilot.listen(MarkerArray, 'walking_controller/markers')
    power, work, push = (
        pilot.listen(Float64, f'walking_controller/telemetry/{name}')
        for name in ('mechanical_power', 'step_work', 'step_push')
    )
    plant = pilot.simulator.plant
    begin = plant.engine.data.xpos[plant.engine._foot_body].copy()
    pilot.send(0.4)
    pilot.walk(1.6)
    markers = heard[-1].markers
    assert {marker.header.frame_id for marker in markers} == {'odom'}
    named = {
        name: [m for m in markers if m.ns == name]
        for name in ('placed', 'planned', 'capture', 'heading', 'floor')
    }
    placed = named['placed']
    assert len(placed) == 2 + pilot.law.engine.steps and placed[0].type == Marker.CUBE
    assert all(abs(marker.pose.position.z) < 0.03 for marker in placed)
    x = [marker.pose.position.x for marker in placed]
    y = [marker.pose.position.y for marker in placed]
    stance = pilot.law.engine.stance  # the first footprints are those of the feet in their order
    way = plant.engine.data.xpos[plant.engine._foot_body][stance] - begin[stance]
    assert (x[-1] - x[stance], y[-1] - y[stance]) == pytest.approx(way[:2], abs=0.03)
    assert way[0] > 0.2
    (floor,) = named['floor']
    assert floor.pose.position.x == pytest.approx(x[-1], abs=0.05)
    assert floor.pose.orientation.w > 0.999  # level
    (planned,) = named['planned']
    assert 0.0 < planned.pose.position.x - x[-1] < 0.3
    (capture,) = named['capture']
    base = pilot.controller.loop.state.base.position
    assert abs(capture.pose.position.x - base[0]) < 0.3
    start, tip = named['heading'][0].points
    assert tip.x - start.x == pytest.approx(0.3, abs=0.02)
    assert any(message.data != 0.0 for message in power)
    assert push[-1].data > abs(work[-1].data), 'it brakes as well as it pushes'
    done = plant.truth.work.sum() / pilot.law.engine.steps
    assert 0.1 * done < push[-1].data < 10.0 * done + 1.0


def tell_floor(bench, topic, kind, pose_kind, axes):
    """Return a `Pilot`, what sends places on a topic, and what checks that one is refused."""
    pilot, warned = Pilot(bench, controller='stepping', cmd_vel_timeout=0.0), []
    publisher = pilot.node.create_publisher(kind, topic, 1)
    pilot.controller.get_logger = lambda: SimpleNamespace(warning=warned.append)
    assert bench.spin_until(publisher.get_subscription_count, timeout=20.0)

    def send(places, frame='odom', stamp=0.0):
        message = kind()
        message.header.frame_id = frame
        set_stamp(message.header.stamp, stamp)
        for place in places:
            pose = pose_kind()
            position = getattr(pose, 'pose', pose).position
            for axis, value in zip(axes, place, strict=True):
                setattr(position, axis, value)
            message.poses.append(pose)
        publisher.publish(message)

    def refuses(places, frame, stamp, words):
        send(places, frame, stamp)
        assert bench.spin_until(lambda: warned, timeout=20.0), words
        assert warned[0].startswith(f'{topic} refused: ') and words in warned.pop()

    return pilot, warned, send, refuses


def test_stairs_are_told_or_refused(bench):
    """Stairs that a camera sees would not reach the law, or a broken list would replace them."""
    pilot, warned, send, refuses = tell_floor(bench, 'stairs', Path, PoseStamped, 'xz')
    law, good = pilot.law, [(2.0, 0.1), (2.3, 0.2), (3.0, 0.0)]
    send(good)
    assert bench.spin_until(lambda: law.values.edge_places, timeout=20.0)
    assert law.values.edge_places == (2.0, 2.3, 3.0)
    assert law.values.edge_rises == pytest.approx((0.1, 0.1, -0.2))
    assert 'rises -0.2 m' in warned.pop() and not warned  # above highest_edge, 0.15 m
    for bad in (
        ([], 'odom', 0.0, 'no pose'),
        (good, 'map', 0.0, "frame is 'map'"),
        (good, 'odom', 1.0, 'stamp'),
        ([(math.nan, 0.1)], 'odom', 0.0, 'finite'),
        ([(2.0, 0.1), (1.0, 0.2)], 'odom', 0.0, 'must rise'),
    ):
        refuses(*bad)
        assert law.values.edge_places == (2.0, 2.3, 3.0)


def test_footholds_are_told_or_refused(bench):
    """Footholds that a planner finds would not reach the law, or a broken list would be a fault."""
    pilot, _, send, refuses = tell_floor(bench, 'footholds', PoseArray, Pose, 'xy')
    law = pilot.law
    send([(0.2, 0.1), (0.4, -0.1)])
    assert bench.spin_until(lambda: law.values.footholds, timeout=20.0)
    for bad in (
        ([(0.2, 0.1)], 'map', 0.0, "frame is 'map'"),
        ([(0.2, 0.1)], 'odom', 1.0, 'stamp'),
        ([(math.nan, 0.1)], 'odom', 0.0, 'finite'),
        ([(1e5, 0.1)], 'odom', 0.0, 'footholds'),
    ):
        refuses(*bad)
        assert law.values.footholds == (0.2, 0.1, 0.4, -0.1)
    assert pilot.controller.fault is None
    send([])
    assert bench.spin_until(lambda: not law.values.footholds, timeout=20.0)


def test_rviz_is_shown_what_there_is(bench):
    """A display of a topic that nobody publishes stays empty, and nobody knows why."""
    config = yaml.safe_load((share_directory() / 'config' / 'rviz' / 'walk.rviz').read_text())
    manager = config['Visualization Manager']
    assert manager['Global Options']['Fixed Frame'] == ODOM
    shown = {
        (display.get('Topic') or display['Description Topic'])['Value']: display['Class']
        for display in manager['Displays']
        if 'Grid' not in display['Class']
    }
    node = bench.controller(robot_file='walker3d')
    bench.add(
        CentroidalMonitorNode(parameter_overrides=[Parameter('robot_file', value='walker3d')])
    )
    del shown['/robot_description']  # robot_state_publisher's
    published = {}

    def all_found():  # discovery takes its time, even of a node in this process
        published.update(
            (topic, types[0].split('/')[2])
            for topic, types in node.get_topic_names_and_types()
            if node.count_publishers(topic)
        )
        return shown.keys() <= published.keys()

    assert bench.spin_until(all_found), f'nobody publishes {sorted(shown.keys() - published)}'
    assert {topic: kind.split('/')[1] for topic, kind in shown.items()} == {
        topic: published[topic] for topic in shown
    }


@pytest.mark.parametrize(
    'state, words',
    [
        ('active', 'cannot stand'),
        ('inactive', 'not active'),
        ('unconfigured', 'unconfigured'),
        ('stopped', 'emergency_stop'),
    ],
)
def test_stop_says_why_it_cannot(bench, robot, state, words):
    """A stop that says nothing, of a walker that cannot stand, would be waited for in vain."""
    node = bench.controller(activate=state in ('active', 'stopped'))
    if state == 'inactive':
        node.trigger_configure()
    if state == 'stopped':
        node.stop_now('emergency_stop', 'emergency stop')
    for service in ('stop', 'start') if state != 'active' else ('stop',):
        client = robot.node.create_client(Trigger, f'walking_controller/{service}')
        assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
        future = client.call_async(Trigger.Request())
        assert bench.spin_until(future.done)
        assert not future.result().success and words in future.result().message


@pytest.mark.long
def test_a_route_over_topics_equals_one_in_a_script(tmp_path):
    """Velocities, stop, start and pushes must come at the same tick: one chain, one result."""
    path = tmp_path / 'route.yaml'
    path.write_text("""segments:
  - {duration: 0.6, ahead: 0.4}
  - {duration: 0.5, ahead: 0.4, turn: 0.3, push: 0.3, push_at: 0.1, push_direction: 90}
  - {duration: 0.4, stop: true}
  - {duration: 0.3, left: 0.1}
""")
    robot_file = load_robot('walker3d', noise_overrides('lab'))
    route = read_route(path)
    direct = simulate(robot_file, duration=route.duration, route=route)
    over_ros = run_demo(robot_file, route.duration, route=str(path)).run
    assert direct.fault is None and direct.steps[-1] > 3
    assert np.array_equal(direct.q, over_ros.q) and over_ros.route == route
    unpushed = simulate(
        robot_file,
        duration=1.1,
        route=Route(tuple(segment._replace(push=0.0) for segment in route.segments)),
    )
    assert np.abs(unpushed.q[-1] - direct.q[len(unpushed.q) - 1]).max() > 0.02, 'nothing pushed'


@pytest.mark.parametrize('ahead, status', [(0.0, 0), (0.4, 1)])
def test_demo_says_how_the_route_was_kept(tmp_path, capfd, ahead, status):
    """A demo that ends well whatever was walked proves nothing."""
    path = tmp_path / 'route.yaml'
    path.write_text(f'segments: [{{name: the one, duration: 0.6, ahead: {ahead}}}]')
    assert main(['demo', 'walker3d', '--route', str(path), '--json']) == status
    out, err = capfd.readouterr()
    (verdict,) = json.loads(out)['route']
    assert verdict['kept'] is (status == 0) and verdict['name'] == 'the one'
    assert ('did not keep to its route; the one: no whole stride' in err) is (status == 1)


def test_a_law_that_is_asked_for_comes_before_the_route_s(tmp_path, capfd):
    """`demo --controller` would walk by the law of the route, and say nothing."""
    path = tmp_path / 'route.yaml'
    path.write_text('controller: natural_walking\nsegments: [{name: stands, duration: 0.2}]')
    main(['demo', 'walker3d', '--controller', 'stepping', '--route', str(path), '--json'])
    assert json.loads(capfd.readouterr().out)['controller'] == 'stepping'
