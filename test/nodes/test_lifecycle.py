# SPDX-License-Identifier: Apache-2.0
"""The lifecycle as others see it: through services, with faults and messages under way."""

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
import pytest
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
import yaml

from walking_control.exceptions import MissingDependency
from walking_control.models.resources import share_directory
from walking_control.ros.nodes import session, topics
from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.safety.machine import Event, NEXT

EFFORT = 74 * 0.0302 * 10.0 * 0.6  # N kt Kp (0.3 + 0.3 rad)
NODE = 'walking_controller'
fault = pytest.mark.fault


def call(bench, robot, kind, name, request):
    """Call a service of the controller and return the response."""
    client = robot.node.create_client(kind, f'{NODE}/{name}')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    future = client.call_async(request)
    assert bench.spin_until(future.done), f'{name} does not answer'
    return future.result()


def change_state(bench, robot, transition):
    """Ask for a transition and return whether it succeeded."""
    request = ChangeState.Request(transition=Transition(id=transition))
    return call(bench, robot, ChangeState, 'change_state', request).success


def test_a_robot_without_motors_is_refused(bench, tmp_path, capfd):
    """Who forgot the motors would be told of an index out of range."""
    text = (share_directory() / 'config/robots/compass.yaml').read_text()
    tree = yaml.safe_load(text.replace('../../', f'{share_directory()}/'))
    section = tree['/**']['ros__parameters']
    section['controller'] = 'none'
    section['robot'].pop('ground_torque')
    section['robot']['actuators'] = {}
    file = tmp_path / 'compass.yaml'
    file.write_text(yaml.safe_dump(tree))
    node = bench.controller(robot_file=str(file), activate=False)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'has no effort that a controller could command' in capfd.readouterr().err


@pytest.mark.parametrize('asked', [0, 1, 2])
def test_autostart_bears_who_was_faster(bench, capfd, asked):
    """A launch file that configures a node that starts by itself would make it end in a fault."""
    node = bench.controller(activate=False, autostart=True)
    for transition in (node.trigger_configure, node.trigger_activate)[:asked]:
        transition()
    assert bench.spin_until(lambda: node._state_machine.current_state[1] == 'active', 5.0)
    bench.spin_until(lambda: False, 0.1)
    assert not node.finished and 'not registered' not in capfd.readouterr().err


def test_everything_through_services(bench, robot):
    """ros2 lifecycle, rqt and launch files reach the node by its services alone."""
    bench.controller(activate=False)
    assert change_state(bench, robot, Transition.TRANSITION_CONFIGURE)
    assert change_state(bench, robot, Transition.TRANSITION_ACTIVATE)
    state = call(bench, robot, GetState, 'get_state', GetState.Request())
    assert state.current_state.id == State.PRIMARY_STATE_ACTIVE
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT)
    gain = Parameter('hip_switching.proportional_gain', value=5.0).to_parameter_msg()
    response = call(
        bench, robot, SetParameters, 'set_parameters', SetParameters.Request(parameters=[gain])
    )
    assert response.results[0].successful
    response = call(
        bench,
        robot,
        GetParameters,
        'get_parameters',
        GetParameters.Request(names=['hip_switching.proportional_gain']),
    )
    assert response.values[0].double_value == 5.0
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP):
        assert change_state(bench, robot, transition)


def test_a_fault_survives_reactivation(bench, robot):
    """Only an explicit clear may re-arm, or a restart in somebody's hands would walk."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    assert robot.lose_joints(1.01) == 0.0
    heard = []
    robot.node.create_subscription(String, f'{NODE}/fault', heard.append, topics.LATCHED)
    node.trigger_deactivate()
    node.trigger_activate()
    robot.wait()
    assert robot.ask(3.0) == 0.0 and node.loop.fault.code == 'not_finite'
    assert bench.spin_until(lambda: heard and 'not_finite' in heard[-1].data)
    assert call(bench, robot, Trigger, 'clear_fault', Trigger.Request()).success
    assert robot.ask(3.01) == pytest.approx(EFFORT)


def test_sensors_under_way_do_not_wake_a_deactivated_node(bench, robot):
    """A set that was queued when the node left active must not become the last command."""
    node = bench.controller()
    for round_ in range(5):
        robot.wait()
        robot.ask(1.0 + round_)
        robot.send(1.01 + round_)
        node.trigger_deactivate()
        bench.spin_until(lambda: False, timeout=0.1)
        assert robot.efforts[-1].data[0] == 0.0
        node.trigger_activate()


@pytest.mark.parametrize('moment', ['inactive', 'fault'])
def test_gains_set_while_not_walking_are_kept(bench, robot, moment):
    """Retuning after a fall is the usual moment: what was accepted must be in force."""
    node = bench.controller()
    robot.wait()
    robot.ask(1.0)
    gain = Parameter('hip_switching.proportional_gain', value=5.0)
    if moment == 'inactive':
        node.trigger_deactivate()
        assert node.set_parameters([gain])[0].successful
        node.trigger_activate()
        robot.wait()
    else:
        robot.lose_joints(1.01)
        assert node.set_parameters([gain])[0].successful
        assert call(bench, robot, Trigger, 'clear_fault', Trigger.Request()).success
    assert robot.ask(2.0) == pytest.approx(EFFORT / 2)


def test_emergency_stop_while_inactive_counts(bench, robot):
    """A button pressed before activation must keep the robot from starting."""
    node = bench.controller()
    node.trigger_deactivate()
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.EVENTS)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: node.loop.fault is not None)
    node.trigger_activate()
    robot.wait()
    assert robot.ask(1.0) == 0.0 and node.loop.fault.code == 'emergency_stop'


@pytest.mark.parametrize('transition', ['configure', 'activate', 'deactivate'])
def test_an_emergency_stop_during_a_transition_counts(bench, robot, monkeypatch, transition):
    """A button pressed while the node is busy with a transition would be lost."""
    publisher = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, topics.EVENTS)
    proper = getattr(ControllerNode, f'on_{transition}')

    def pressed_meanwhile(node, state):
        publisher.publish(Bool(data=True))
        return proper(node, state)

    monkeypatch.setattr(ControllerNode, f'on_{transition}', pressed_meanwhile)
    node = bench.controller(activate=False)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0)
    for step in ('configure', 'activate', 'deactivate'):
        getattr(node, f'trigger_{step}')()
        if step == transition:
            break
    assert bench.spin_until(lambda: node._latch.fault is not None)
    for step in ('configure', 'activate'):
        if (node._latch.state, Event[step.upper()]) in NEXT:
            getattr(node, f'trigger_{step}')()
    robot.wait()
    assert robot.ask(1.0) == 0.0 and node._latch.fault.code == 'emergency_stop'


@fault(
    'Transition that is not possible now',
    code=None,
    detected='at the request',
    reaction='refused with success false; walking goes on',
    last='as before',
    clears='nothing to clear',
)
@pytest.mark.parametrize('state', ['unconfigured', 'inactive', 'active'])
def test_impossible_transitions_are_refused(bench, robot, state):
    """A wrong request must not end the process in mid-step; the table says what is possible."""
    node = bench.controller(activate=state == 'active')
    if state == 'inactive':
        node.trigger_configure()
    events = {
        Transition.TRANSITION_CONFIGURE: Event.CONFIGURE,
        Transition.TRANSITION_ACTIVATE: Event.ACTIVATE,
        Transition.TRANSITION_DEACTIVATE: Event.DEACTIVATE,
        Transition.TRANSITION_CLEANUP: Event.CLEANUP,
    }
    refused = [
        transition for transition, event in events.items() if (node._latch.state, event) not in NEXT
    ]
    for transition in (*refused, 99):
        assert not change_state(bench, robot, transition)
    answer = call(
        bench,
        robot,
        ChangeState,
        'change_state',
        ChangeState.Request(transition=Transition(label='fly')),
    )
    assert not answer.success and len(refused) == {'inactive': 2}.get(state, 3)
    if state == 'active':
        robot.wait()
        assert robot.ask(1.0) == pytest.approx(EFFORT), 'it walks on'


@fault(
    'Clear without a fault',
    code=None,
    detected='at the request',
    reaction='ignored',
    last='as before',
    clears='nothing to clear',
)
def test_clear_without_a_fault_changes_nothing(bench, robot):
    """A clear in mid-step that forgot the stance foot would make a walker fall."""
    node = bench.controller()
    robot.wait()
    robot.ask(1.0)
    node.loop.estimator.state.steps = 7
    response = call(bench, robot, Trigger, 'clear_fault', Trigger.Request())
    assert response.success and 'no fault' in response.message
    assert node.loop.state.steps == 7
    assert robot.ask(1.01) == pytest.approx(EFFORT)


@fault(
    'Cleanup and configure with a fault latched',
    code=None,
    detected='at the transition',
    reaction='zero',
    last='zero',
    clears='~/clear_fault',
)
def test_a_fault_survives_cleanup(bench, robot):
    """A new session is no clear: whoever configures again may not know of the fault."""
    node = bench.controller()
    robot.wait()
    robot.ask(1.0)
    robot.lose_joints(1.01)
    for transition in (
        node.trigger_deactivate,
        node.trigger_cleanup,
        node.trigger_configure,
        node.trigger_activate,
    ):
        transition()
    robot.wait()
    assert robot.ask(2.0) == 0.0 and node.fault.code == 'not_finite'
    assert call(bench, robot, Trigger, 'clear_fault', Trigger.Request()).success
    assert robot.ask(2.01) == pytest.approx(EFFORT)


def test_read_only_while_configured(bench, robot):
    """Rqt must show no slider that refuses, and show it again when it would not."""
    node = bench.controller()
    request = DescribeParameters.Request(
        names=['safety.fall_lean', 'robot_file', 'hip_switching.proportional_gain']
    )

    def read_only():
        answer = call(bench, robot, DescribeParameters, 'describe_parameters', request)
        return [descriptor.read_only for descriptor in answer.descriptors]

    assert read_only() == [True, True, False]
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert read_only() == [False, False, False]
    assert node.set_parameters([Parameter('safety.fall_lean', value=0.8)])[0].successful


def test_a_failed_configure_can_be_mended(bench):
    """A bad parameter must not leave a node that only a restart can save."""
    node = bench.controller(activate=False, controller='none', hip_switching__set_point=9.0)
    for controller, works in (('hip_switching', False), ('none', True)):
        assert node.set_parameters([Parameter('controller', value=controller)])[0].successful
        outcome = node.trigger_configure()
        assert (outcome.name == 'SUCCESS') == works


def test_a_session_that_cannot_be_made_leaves_nothing(bench, monkeypatch):
    """Each configure that is refused would leave publishers of commands behind, until the end."""

    def refuse(*_):
        raise MissingDependency('recording', remedy='install it')

    monkeypatch.setattr(session, 'open_recorder', refuse)
    node = bench.controller(activate=False)
    before = len(list(node.publishers)), len(list(node.subscriptions)), len(list(node.timers))
    node.trigger_configure()
    assert node.session is None
    assert before == (
        len(list(node.publishers)),
        len(list(node.subscriptions)),
        len(list(node.timers)),
    )
