# SPDX-License-Identifier: Apache-2.0
"""Lifecycle node that runs a control loop on ros2_control topics."""

from collections.abc import Callable
from functools import partial
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import SetParametersResult
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from walking_control.control_loop import ControlLoop
from walking_control.controllers.registry import CONTROLLERS
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import given, InvalidInput, require, WalkingControlError
from walking_control.loading import load_robot
from walking_control.models import differences, parameter, World
from walking_control.ros.nodes import (
    frozen_error,
    GuardedNode,
    Neighbours,
    own_parameters,
    program,
    realtime,
    SectionParameters,
    SensingParameters,
    Session,
    topics,
)
from walking_control.safety import (
    EMERGENCY_STOP,
    Event,
    Fault,
    Latch,
    LED,
    POWER_OFF,
    SafetyParameters,
    State,
)

SERVICE = -1  # way of an emergency stop beside those of `topics.STOP_IN`


DESCRIPTION = 1 << 22  # bytes of a robot description


class ControllerNodeParameters(SensingParameters, realtime.RealTimeParameters, section='node'):
    """Of the node, beside those of the sections."""

    robot_file: str = parameter('dribbel', '', 'Robot: a name or the path of a robot file.')
    controller: str = parameter('', '', "Controller; empty takes the robot file's default.")
    realtime: bool = parameter(
        False,
        '',
        'False: lockstep, a tick starts when all sensors of one stamp are there. True: '
        'a tick starts with every joint state.',
    )
    lockstep_timeout: float = parameter(
        2.0, 's', 'Longest wait for the next tick in lockstep.', 0.1, 600.0
    )
    waiting_timeout: float = parameter(
        30.0,
        's',
        'Longest wait of an active controller for the first complete set of sensors.',
        0.1,
        3600.0,
    )
    cmd_vel_timeout: float = parameter(
        0.5, 's', 'How long a speed on cmd_vel holds; 0: for ever.', 0.0, 3600.0
    )
    cmd_vel_deceleration: float = parameter(
        0.5, 'm/s^2', 'How fast that speed is then taken back to zero.', 0.001, 100.0
    )
    cmd_vel_stamped: bool = parameter(
        False,
        '',
        'Whether cmd_vel is a TwistStamped; one whose stamp is older than '
        'cmd_vel_timeout, or as far ahead, is refused. A stamp of zero is none.',
    )
    virtual_efforts: bool = parameter(
        False,
        '',
        'Allow efforts that no hardware has, such as the ground torque of the compass: '
        'true with the embedded simulator only.',
    )
    require_watchdog: bool = parameter(
        True,
        '',
        'Send zero effort until a watchdog node listens to this controller, and stop '
        'when it no longer does: false with the embedded simulator only.',
    )
    watchdog_timeout: float = parameter(
        0.5, 's', 'Longest silence of a required watchdog.', 0.05, 60.0
    )
    autostart: bool = parameter(False, '', 'Configure and activate without being told to.')
    telemetry_rate: float = parameter(
        20.0, 'Hz', 'Rate of the telemetry topics; 0: none.', 0.0, 1000.0
    )
    record_telemetry: bool = parameter(
        False,
        '',
        'Send what the law says of every tick on one topic, for a simulator that records it.',
    )
    record: str = parameter(
        '',
        '',
        'File .mcap to which is recorded what the controller hears and answers while '
        'active; empty: none.',
    )
    record_faults: str = parameter(
        'log',
        '',
        'File .mcap in which the last 60 s before a fault are saved; log: in real time '
        'ROBOT_fault.mcap in the folder of ROS logs; empty: none.',
    )
    odometry_rate: float = parameter(20.0, 'Hz', 'Rate of odometry and tf; 0: none.', 0.0, 1000.0)


class ControllerNode(GuardedNode, LifecycleNode):
    """Sensors in, effort and lock commands out: the life of a `Session`.

    Configure builds the session, activate begins to answer measurements, deactivate sends zero
    effort first. A fault is kept through all of them until ``~/clear_fault``; the emergency stop
    is heard in every state.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.lifecycle.LifecycleNode`.

    Attributes:
        session: The `Session`, None while unconfigured.

    Raises:
        InvalidInput: The robot file or a parameter is unusable.
    """

    session: Session | None = None
    _sections: SectionParameters | None = None  # None while they are being declared
    _loaded: tuple[str, str] | None = None
    _description: str | None = None
    _difference: str | None = None  # of that from our robot, in words
    _logged: tuple[Fault | None, tuple[str, ...]] | None = None
    _told: str | None = None  # on ~/fault

    def __init__(self, name: str = 'walking_controller', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._latch = Latch(State.UNCONFIGURED)
        self._neighbours = Neighbours(self)
        self._refuse_illegal_transitions()
        self._node_parameters = own_parameters(self, ControllerNodeParameters)
        self._load()
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self._fault_publisher = self.create_publisher(String, '~/fault', topics.LATCHED)
        for name, press in {
            'clear_fault': self._clear,
            'emergency_stop': lambda: self._press(SERVICE),
            'power_off': lambda: self.stop_now(POWER_OFF, 'power off'),
            'start': lambda: self._steer(
                lambda session: 'velocity by ' + session.operation.start_walking()
            ),
            'stop': lambda: self._steer(
                lambda session: (
                    'slows down, then ' + session.operation.stop_walking(session.clock.now())
                )
            ),
        }.items():
            self.heed(self.create_service(Trigger, f'~/{name}', partial(self._on_button, press)))
        # by which ways the emergency stop that is latched came -> whether it has been released
        self._pressed: dict[int, bool] = {}
        for way, qos in enumerate(topics.STOP_IN):
            # one of the three fits any publisher; that the others do not is no news
            self.heed(
                self.create_subscription(
                    Bool,
                    topics.EMERGENCY_STOP,
                    partial(self._on_stop_topic, way),
                    qos,
                    event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
                )
            )
        self.create_subscription(
            String,
            topics.ROBOT_DESCRIPTION,
            self._on_description,
            topics.LATCHED,
            largest=DESCRIPTION,
        )
        self.create_subscription(
            String, topics.SIMULATION_END, self._on_simulation_end, topics.EVENTS
        )
        if self._node_parameters.read().autostart:
            self._autostart = self.steady_timer(0.0, self._on_autostart)

    @property
    def loop(self) -> ControlLoop | None:
        """The `ControlLoop`, or None while unconfigured."""
        return None if self.session is None else self.session.loop

    @property
    def fault(self) -> Fault | None:
        """The latched `Fault`, or None."""
        return self._latch.fault

    def _load(self) -> SectionParameters:
        """Read the robot file and declare what its controller can be told; return that."""
        values = self._node_parameters.read()
        loaded = values.robot_file, values.controller
        if loaded == self._loaded and self._sections is not None:
            return self._sections
        robot_file = load_robot(values.robot_file)
        controller = values.controller or robot_file.controller
        kinds = [
            World,
            EstimatorParameters,
            SafetyParameters,
            CONTROLLERS.find(controller).parameters,
        ]
        if self._sections is not None:
            self._sections.undeclare()
            self._sections = self._loaded = None
        self._sections = SectionParameters(self, kinds, robot_file)
        self._robot_file, self._controller, self._loaded = robot_file, controller, loaded
        return self._sections

    def _on_autostart(self) -> None:
        self.destroy_timer(self._autostart)
        for state, transition in (
            ('unconfigured', self.trigger_configure),
            ('inactive', self.trigger_activate),
        ):  # somebody may have asked for one of them already
            now = self._state_machine.current_state[1]
            if now == state and transition() != TransitionCallbackReturn.SUCCESS:
                self.finished, self.exit_status = True, 2
                return

    # -- lifecycle -------------------------------------------------------------------------------

    def _refuse_illegal_transitions(self) -> None:
        """Answer a transition that is not possible now with success false.

        rclpy raises in the callback of its service, which would end the process in mid-step.
        """
        service = self.heed(self._service_change_state)
        change = service.callback

        def on_change_state(request: Any, response: Any) -> ChangeState.Response:
            wanted = request.transition
            possible = [
                (number, label) for number, label, *_ in self._state_machine.available_transitions
            ]
            if any(
                wanted.label == label if wanted.label else wanted.id == number
                for number, label in possible
            ):
                return change(request, response)
            state = self._state_machine.current_state[1]
            self.get_logger().error(
                f'transition {wanted.label or wanted.id} refused: the controller is {state}; '
                'possible: ' + ', '.join(f'{label} ({number})' for number, label in possible)
            )
            return ChangeState.Response(success=False)

        service.callback = on_change_state

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Build the session from the parameters as they are now."""
        try:
            self._configure()
        except WalkingControlError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception as error:  # rclpy would swallow it without a word
            self.get_logger().error(f'{type(error).__name__}: {error}')
            raise
        return super().on_configure(state)

    def _configure(self) -> None:
        sections = self._load()
        robot_file, values = self._robot_file, self._node_parameters.read()
        sections.read_into(robot_file)
        self._check_description()
        virtual = robot_file.robot.virtual_efforts
        require(
            not virtual or values.virtual_efforts,
            f'robot {robot_file.robot.name}',
            value=', '.join(virtual),
            limit='no hardware has this effort',
            remedy='with the embedded simulator, set virtual_efforts',
        )
        self.session = Session(
            self, robot_file, self._controller, values, self._latch, self._neighbours, self._report
        )
        self._latch.handle(Event.CONFIGURE)
        self._freeze(True)

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Begin to answer measurements; a fault that nobody has cleared stays."""
        try:
            assert self.session is not None  # inactive is configured
            self.session.check_neighbours()
            self.session.activate()
        except InvalidInput as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        values = self._node_parameters.read()
        if values.realtime:
            realtime.begin(self, values)
        return super().on_activate(state)

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Send zero effort, then stop answering."""
        self.stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Send zero effort and forget the session, not a fault."""
        self._release(Event.CLEANUP)
        return super().on_cleanup(state)

    on_error = on_cleanup

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """Send zero effort and forget the session."""
        self._release(Event.SHUTDOWN)
        return super().on_shutdown(state)

    def stop(self) -> None:
        """Send zero effort as the last command and stop answering, if active."""
        if self.session is not None:
            self.session.deactivate()

    def _release(self, event: Any) -> None:
        self.stop()
        self._latch.handle(event)
        if self.session is not None:
            self.session.destroy()
            self.session = None
            self._freeze(False)

    # -- buttons ---------------------------------------------------------------------------------

    def _on_button(self, press: Callable[[], str], request: Any, response: Any) -> Any:
        try:
            response.message, response.success = press(), True
        except InvalidInput as error:
            response.message = str(error)
        return response

    def _steer(self, ask: Callable[[Session], str]) -> str:
        """Obey velocities again after a stop, or walk to a stand whatever cmd_vel says."""
        session = given(
            self.session, 'controller', limit='is unconfigured', remedy='configure and activate it'
        )
        words = ask(session)
        self.get_logger().info(words)
        return words

    def _clear(self) -> str:
        """Clear a fault unless its cause lasts, or trust again whom a warning names."""
        session = self.session
        if self._latch.fault is None and (session is None or not session.loop.supervisor.warning):
            return 'no fault is latched; nothing has changed'
        if session is None:
            self._latch.clear()
            self._report()
        elif obstacle := self._difference or session.clear():
            raise InvalidInput('not cleared', limit=obstacle)
        return 'cleared'

    # -- faults ----------------------------------------------------------------------------------

    def on_broken(self, words: str) -> None:
        """Stop the robot: something broke in a callback."""
        self.stop_now('internal', words)

    def _on_stop_topic(self, way: int, message: Bool) -> None:
        if message.data:
            self._press(way)
        elif way in self._pressed:
            self._pressed[way] = True

    def _press(self, way: int) -> str:
        """Stop as the category of the emergency stop says; take the power at the second time.

        A button that goes on saying true is pressed once: until it has said false. Each message may
        come by several subscriptions: it is a second one only to its own.
        """
        fault, pressed = self._latch.fault, self._pressed
        if fault is None or EMERGENCY_STOP not in (fault.code, *self._latch.later):
            pressed.clear()
        other = bool(pressed) and (way == SERVICE or SERVICE in pressed and way not in pressed)
        again = other or pressed.get(way, False)
        pressed[way] = False
        if again:
            self.stop_now(POWER_OFF, 'emergency stop, for the second time')
        else:
            self.stop_now(EMERGENCY_STOP, 'emergency stop')
        return 'stopped'

    def stop_now(self, code: str, words: str) -> str:
        """Latch a fault, and send the safe command at once if active; return the words.

        Args:
            code: Of the `Fault`.
            words: Its message.
        """
        if self.session is not None:
            self.session.stop(code, words)
        else:
            self._latch.catch(code, words, 0.0)
            self._report()
        return words

    def _report(self) -> None:
        """Publish the fault, and log it once."""
        fault, later = self._latch.fault, self._latch.later
        text = '' if fault is None else str(fault)
        if (fault, later) != self._logged and fault is not None:
            self.get_logger().error(text + (f'; then {", ".join(later)}' if later else ''))
        self._logged = fault, later
        if text != self._told:
            self._told = text
            self._fault_publisher.publish(String(data=text))

    def _on_simulation_end(self, message: String) -> None:
        """Leave the active state when the simulator says that it has ended: no sensor is lost."""
        if self._latch.state not in LED | {State.WAITING, State.WALKING}:
            return
        self.get_logger().info(f'the simulation has ended: {message.data}')
        self.trigger_deactivate()

    # -- parameters and description --------------------------------------------------------------

    def _freeze(self, configured: bool) -> None:
        """Show as read-only what cannot change while configured, so that rqt offers no slider."""
        if self._sections is not None:
            self._sections.freeze(configured)
        self._node_parameters.freeze(configured)

    def set_parameters_atomically(self, parameters: Any) -> SetParametersResult:
        """Set parameters, all or none; one that is read-only for now says until when."""
        for error in filter(None, (frozen_error(self, each) for each in parameters)):
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(parameters)

    def _on_set_parameters(self, parameters: Any) -> SetParametersResult:
        if self._sections is None:  # they are being declared
            return SetParametersResult(successful=True)
        loop = self.loop
        try:
            changes = self._sections.check_changes(parameters)
        except WalkingControlError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if loop is not None and loop.controller.name in changes:
            loop.retune(changes[loop.controller.name])
        return SetParametersResult(successful=True)

    def _on_description(self, message: String) -> None:
        text = self._description = message.data
        session, ours = self.session, self._robot_file.robot.urdf

        def judge(problem: str | None) -> None:
            if session is None or session is not self.session or text is not self._description:
                return  # configured anew, or told anew
            self._difference = problem
            if problem is not None:
                session.stop('description', problem)

        if session is not None:
            self.beside(lambda: _difference(ours, text), judge)

    def _check_description(self) -> None:
        """Refuse another robot than the one on /robot_description."""
        if self._description is not None:
            self._difference = _difference(self._robot_file.robot.urdf, self._description)
        require(
            self._difference is None,
            'robot_description',
            limit=self._difference,
            remedy='give robot_file the robot that is there',
        )


def _difference(ours: str, description: str) -> str | None:
    """Return in words how a description is another robot than ours, or None."""
    found = differences(ours, description)
    return 'is another robot than the robot file: ' + '; '.join(found) if found else None


main = program(ControllerNode)
