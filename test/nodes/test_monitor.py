# SPDX-License-Identifier: Apache-2.0
"""The monitor as a viewer sees it: a client of its own speaks the protocol of Foxglove."""

import contextlib
import json
import socket
import struct
import sys
import threading
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from programs import run
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

from walking_control.cli import main
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.ros.nodes.robot_frames import RobotFrames
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.nodes.topics import BUTTONS

pytest.importorskip('foxglove', reason='the monitor needs the package foxglove-sdk')
client = pytest.importorskip('websockets.sync.client', reason='a viewer needs websockets')

from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402

from walking_control.ros.nodes.monitor_node import FRAMES, MonitorNode  # noqa: E402

NUMBER = 'hip_switching.set_point'  # live, from 0.05 to 0.8 rad


class Viewer:
    """A client of the WebSocket; a thread of its own keeps what it hears."""

    def __init__(self, port):
        self.channels, self.services, self.messages = {}, {}, {}
        self.parameters, self.statuses, self.answers, self.files = {}, [], [], []
        self.time, self.sessions = None, []
        self._stack = contextlib.ExitStack()
        self._socket = self._stack.enter_context(
            client.connect(
                f'ws://127.0.0.1:{port}', max_size=None, subprotocols=['foxglove.sdk.v1']
            )
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        with contextlib.suppress(ConnectionClosed):  # the server, or this viewer, has left
            self._read_until_closed()

    def _read_until_closed(self):
        for message in self._socket:
            if isinstance(message, str):
                self._on_text(json.loads(message))
            elif message[0] == 1:
                number, self.time = struct.unpack_from('<IQ', message, 1)
                topic = next(name for name, each in self.channels.items() if each['id'] == number)
                self.messages.setdefault(topic, []).append(message[13:])
            elif message[0] == 3:
                self.answers.append(json.loads(message[13 + len('json') :]))
            elif message[0] == 4:
                self.files.append(message)

    def _on_text(self, message):
        if message['op'] == 'advertise':
            self.channels.update({each['topic']: each for each in message['channels']})
        elif message['op'] == 'advertiseServices':
            self.services.update({each['name']: each['id'] for each in message['services']})
        elif message['op'] == 'parameterValues':
            self.parameters.update(
                {each['name']: each.get('value') for each in message['parameters']}
            )
        elif message['op'] == 'serverInfo':
            self.sessions.append(message['sessionId'])
        elif message['op'] == 'status':
            self.statuses.append(message['message'])

    def tell(self, op, **content):
        """Send a request as text."""
        self._socket.send(json.dumps({'op': op, **content}))

    def subscribe(self, *topics):
        """Ask for topics that are offered."""
        self.tell(
            'subscribe',
            subscriptions=[
                {'id': self.channels[topic]['id'], 'channelId': self.channels[topic]['id']}
                for topic in topics
            ],
        )

    def press(self, name):
        """Call one of the controller's services."""
        number = self.services[f'/walking_controller/{name}']
        self._socket.send(struct.pack('<BIII', 2, number, 1, len('json')) + b'json{}')

    def set(self, **values):
        """Change parameters; __ stands for a dot."""
        self.tell(
            'setParameters',
            id='',
            parameters=[
                {'name': name.replace('__', '.'), 'value': value} for name, value in values.items()
            ],
        )

    def fetch(self, uri):
        """Ask for a file."""
        self.tell('fetchAsset', uri=uri, requestId=len(self.files))

    def close(self):
        """Leave."""
        self._stack.close()
        self._thread.join(5.0)


@pytest.fixture
def watch(bench):
    """Return a function that starts monitor and viewer."""
    viewers = []

    def start(**parameters):
        monitor = bench.add(MonitorNode(port=0, **parameters))
        viewers.append(Viewer(monitor.port))
        return viewers[-1]

    yield start
    for viewer in viewers:
        viewer.close()


def walk(bench, namespace=''):
    """Start a simulator and its controller."""
    bench.add(
        SimulatorNode(
            namespace=namespace,
            parameter_overrides=[
                Parameter('duration', value=600.0),
                Parameter('lockstep_timeout', value=20.0),
            ],
        )
    )
    return bench.controller(namespace=namespace, lockstep_timeout=20.0)


def heard(viewer, kind, topic):
    """Return the messages of a topic."""
    return [deserialize_message(raw, kind) for raw in viewer.messages.get(topic, ())]


def test_viewer_sees_the_robot_walk(bench, watch):
    """If it failed, an operator would look at a robot that stands while it walks, or at none."""
    controller = walk(bench, '/north')
    viewer = watch(namespace='/north')
    effort = '/walking_controller/telemetry/effort_hip'
    wanted = [
        '/joint_states',
        effort,
        '/outer_foot_broadcaster/wrench',
        '/robot_description',
        '/walking_controller/fault',
        '/diagnostics',
        '/odom',
        FRAMES,
    ]
    assert bench.spin_until(lambda: set(wanted) <= set(viewer.channels)), viewer.channels.keys()
    assert viewer.channels[effort]['schemaName'] == 'std_msgs/msg/Float64'
    assert viewer.channels[effort]['schema'].split() == ['float64', 'data']
    viewer.subscribe(*wanted)
    assert bench.spin_until(
        lambda: all(
            len(viewer.messages.get(topic, ()))
            >= (1 if topic in ('/robot_description', '/walking_controller/fault') else 2)
            for topic in wanted
        )
    ), {topic: len(each) for topic, each in viewer.messages.items()}
    assert bench.spin_until(lambda: len(viewer.messages['/joint_states']) > 10)
    positions = [message.position for message in heard(viewer, JointState, '/joint_states')]
    assert np.ptp(positions, axis=0).max() > 0.05
    assert any(message.data for message in heard(viewer, Float64, effort))
    (description,) = {message.data for message in heard(viewer, String, '/robot_description')}
    assert description == controller.loop.robot.urdf
    assert heard(viewer, String, '/walking_controller/fault')[-1].data == ''
    viewer.press('emergency_stop')
    assert bench.spin_until(lambda: viewer.answers and controller.fault is not None)
    assert viewer.answers == [{'success': True, 'message': 'stopped'}]
    assert bench.spin_until(
        lambda: heard(viewer, String, '/walking_controller/fault')[-1].data.startswith(
            'emergency_stop'
        )
    )


def test_another_simulation_is_shown_from_its_beginning(bench, robot, watch):
    """If it failed, viewers would draw a second walk before the first, without robot and fault."""
    bench.controller()
    robot.wait()
    viewer = watch(robot='dribbel')
    latched = '/robot_description', '/walking_controller/fault'
    assert bench.spin_until(lambda: {'/joint_states', *latched} <= set(viewer.channels))
    viewer.subscribe('/joint_states', *latched)
    assert bench.spin_until(lambda: set(latched) <= set(viewer.messages)), viewer.messages.keys()
    for stamp, sessions in ((100.0, 2), (1.0, 3)):  # the first session was that of the wall clock
        robot.ask(stamp)

        def shown():
            robot.send(stamp)
            bench.spin_until(lambda: False, 0.05)
            return viewer.time == round(stamp * 1e9) and len(viewer.sessions) == sessions

        assert bench.spin_until(shown), (viewer.time, viewer.sessions)
    assert bench.spin_until(
        lambda: all(len(viewer.messages.get(topic, ())) > 1 for topic in latched)
    ), viewer.messages.keys()


def test_parameters_are_judged_by_the_controller(bench, watch):
    """If it failed, a viewer could set what the controller never allows, or would not learn why."""
    controller = bench.controller()
    viewer = watch()
    assert bench.spin_until(lambda: len(viewer.services) == len(BUTTONS))

    def asked():  # until the controller is found
        viewer.tell('getParameters', parameterNames=[], id='all')
        bench.spin_until(lambda: viewer.parameters, 1.0)
        return viewer.parameters

    assert bench.spin_until(asked)
    assert viewer.parameters[NUMBER] == controller.get_parameter(NUMBER).value
    viewer.set(hip_switching__set_point=0.3)
    assert bench.spin_until(lambda: viewer.parameters[NUMBER] == 0.3)
    assert controller.get_parameter(NUMBER).value == 0.3
    for name, value, reason in (
        (NUMBER, 7, 'range'),
        (NUMBER, 'fast', ''),
        ('robot_file', 'compass', 'unconfigured'),
        ('nonsense', 1.0, ''),
    ):
        viewer.statuses.clear()
        viewer.set(**{name.replace('.', '__'): value})
        assert bench.spin_until(lambda: viewer.statuses), (name, value)
        assert reason in viewer.statuses[0], viewer.statuses
    assert controller.get_parameter(NUMBER).value == 0.3
    assert controller.get_parameter('robot_file').value == 'dribbel'
    # what others change is told, too
    viewer.tell('subscribeParameterUpdates', parameterNames=[NUMBER])
    bench.spin_until(lambda: False, 0.3)
    controller.set_parameters([Parameter(NUMBER, value=0.4)])
    assert bench.spin_until(lambda: viewer.parameters[NUMBER] == 0.4)


def test_nobody_there_is_said(bench, watch):
    """If it failed, a stop that reached nobody would look like one that was done."""
    viewer = watch()
    assert bench.spin_until(lambda: len(viewer.services) == len(BUTTONS))
    viewer.press('emergency_stop')
    assert bench.spin_until(lambda: viewer.answers and viewer.statuses)
    assert not viewer.answers[0]['success']
    assert 'nobody offers it' in viewer.answers[0]['message']
    assert 'NOT done' in viewer.statuses[0]


@pytest.mark.long
def test_sensors_are_left_alone_until_a_controller_hears_them(bench, watch):
    """If it failed, a simulator would take the monitor for its controller and start without one."""
    simulator = bench.add(
        SimulatorNode(parameter_overrides=[Parameter('discovery_timeout', value=60.0)])
    )
    viewer = watch()
    assert bench.spin_until(lambda: '/joint_states' in viewer.channels)
    viewer.subscribe('/joint_states')
    bench.spin_until(lambda: False, 1.5)
    assert not simulator.count_subscribers('joint_states')


def test_no_file_but_the_robots_meshes_is_served(bench, watch, tmp_path):
    """If it failed, whoever reaches the port could read any file of the user, or no mesh."""
    viewer = watch(robot='dribbel')
    mesh = tmp_path / 'leg.stl'
    mesh.write_bytes(b'solid leg')
    bench.nodes[-1].server.files = {'package://dribbel/leg.stl': str(mesh)}
    viewer.fetch('package://dribbel/leg.stl')
    assert bench.spin_until(lambda: viewer.files)
    assert viewer.files.pop().endswith(b'solid leg')
    for uri in ('/etc/passwd', 'file:///etc/passwd', 'package://dribbel/../../etc/passwd'):
        viewer.fetch(uri)
    assert bench.spin_until(lambda: len(viewer.files) == 3)
    assert all(b'root:' not in answer and answer[5] == 1 for answer in viewer.files)


def connects(port, origin=None, path=''):
    """Return whether a viewer whose page is of an origin is let through."""
    try:
        with client.connect(
            f'ws://127.0.0.1:{port}/{path}',
            origin=origin,
            max_size=None,
            subprotocols=['foxglove.sdk.v1'],
        ) as viewer:
            return json.loads(viewer.recv(10.0))['op'] == 'serverInfo'
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
        return False


def test_pages_of_others_are_refused(bench):
    """If it failed, any page that somebody opens could stop or retune a robot on his network."""
    port = bench.add(MonitorNode(port=0, origins=['https://viewer.example'])).port
    for origin in (
        None,
        'http://localhost:8080',
        'http://127.0.0.1',
        'https://app.foxglove.dev',
        'https://viewer.example',
        'file://',
    ):
        assert connects(port, origin), origin
    for origin in (
        'https://evil.example',
        'http://viewer.example',
        'https://viewer.example.evil',
        'http://localhost.evil.example',
        'null',
        'http://[',
        'https://app.foxglove.dev.',
    ):
        assert not connects(port, origin), origin
    for request in (b'GET / HTTP/1.1\r\n\r\n', b'\0\r\n\r\n', b'x' * 100_000 + b'\r\n\r\n'):
        with (
            socket.create_connection(('127.0.0.1', port)) as page,
            contextlib.suppress(ConnectionResetError, BrokenPipeError),
        ):
            page.sendall(request)
            assert page.recv(12) in (b'HTTP/1.1 403', b''), request[:20]
    assert connects(port)


def test_a_token_is_asked_for(bench):
    """If it failed, whoever reaches an open port could stop the robot."""
    port = bench.add(MonitorNode(port=0, token='a b&c')).port
    assert connects(port, path='?token=a%20b%26c')
    for path in ('', '?token=', '?token=a', '?key=a%20b%26c', 'a%20b%26c', '?token=%ff'):
        assert not connects(port, path=path), path


def test_no_origin_is_one_line(capsys):
    """If it failed, a page would be refused that somebody believes to have allowed."""
    assert main(['monitor', '--port', '0', '--origin', 'viewer.example']) == 2
    error = capsys.readouterr().err
    assert error.startswith('error: monitor --origin') and error.count('\n') == 1


def test_frames_are_those_of_the_model():
    """If it failed, the viewer would draw links elsewhere than they are."""
    urdf = load_robot('dribbel').robot.urdf
    model = pin.buildModelFromXML(urdf)
    data, q = model.createData(), np.array([0.3, -0.2, 0.1])
    pin.framesForwardKinematics(model, data, q)
    names = list(model.names)[1:]
    order = [2, 0, 1]
    frames = {
        child: (parent, pin.SE3(pin.Quaternion(turn).matrix(), place))
        for parent, child, place, turn in RobotFrames(urdf).transforms(
            ['of_another', *(names[i] for i in order)], [9.0, *q[order]]
        )
    }
    assert len(frames) == len(ElementTree.fromstring(urdf).findall('joint'))

    def place_of(link):
        if link not in frames:  # the root
            return pin.SE3.Identity()
        parent, pose = frames[link]
        return place_of(parent) * pose

    for link in frames:
        assert place_of(link).isApprox(data.oMf[model.getFrameId(link, pin.BODY)]), link


def test_taken_port_is_one_line(capsys):
    """If it failed, a second monitor would end in a traceback."""
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(['monitor', '--port', str(port)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: monitor is '127.0.0.1:{port}'") and error.count('\n') == 1
    assert 'in use' in error and '--port' in error


def test_missing_package_is_one_line():
    """If it failed, who has not installed the extra would see a traceback instead of the remedy."""
    code = (
        "import sys; sys.modules['foxglove'] = None; from walking_control.cli import main; "
        "sys.exit(main(['monitor', '--port', '0']))"
    )
    done = run(sys.executable, '-c', code)
    assert done.returncode == 2
    assert done.stderr.startswith('error: monitor') and done.stderr.count('\n') == 1
    assert done.stderr.rstrip().endswith('pip install foxglove-sdk')


def test_layouts_show_what_there_is(bench):
    """If it failed, a panel of the shipped layouts would stay empty, or a button press nothing."""
    config = share_directory() / 'config'
    panels = json.loads((config / 'foxglove' / 'walk.json').read_text())
    placed = []

    def collect(part):
        if isinstance(part, str):
            placed.append(part)
        else:
            collect(part['first'])
            collect(part['second'])

    collect(panels['layout'])
    assert sorted(placed) == sorted(panels['configById'])
    assert {
        each['serviceName'] for each in panels['configById'].values() if 'serviceName' in each
    } == {f'/walking_controller/{name}' for name in BUTTONS}
    walk(bench)
    drawn = {
        path['value'] for each in panels['configById'].values() for path in each.get('paths', ())
    }
    drawn = {value.partition('.')[0] for value in drawn}
    curves = [
        curve.get('name')
        for curve in ElementTree.parse(config / 'plotjuggler' / 'walk.xml').iter('curve')
    ]
    drawn |= {
        '/odom' if name.startswith('/odom') else name.removesuffix('/data') for name in curves
    }
    node = bench.nodes[-1]
    assert bench.spin_until(lambda: all(node.count_publishers(topic) for topic in drawn)), [
        topic for topic in drawn if not node.count_publishers(topic)
    ]
