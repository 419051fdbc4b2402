# SPDX-License-Identifier: Apache-2.0
"""What the launch files start, in which order, as tables: they need launch only to be carried out.

On a robot and in Gazebo the controllers are loaded, those that tell sensors are activated, then our
controller, and last those that move the robot: until then brakes, or Gazebo's `hold_joints`, hold
it. Nothing holds it in MuJoCo: there all are active before it goes on from a pause at its start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
import os
from pathlib import Path
import shlex
import tempfile
from typing import Any

from walking_control.exceptions import require
from walking_control.loading import load_robot
from walking_control.models import RobotFile, share_directory
from walking_control.ros.ros2_control import (
    BRIDGE,
    commanding,
    CONTROLLERS,
    controllers_of,
    GAZEBO,
    gazebo,
    GAZEBO_WORLD,
    HARDWARE,
    KEYFRAME,
    MUJOCO,
    mujoco_description,
    names,
    read_controllers,
    shipped_folder,
    wire,
    Wiring,
    write_mjcf,
    write_ros2_control,
)
from walking_control.runs.kinematics import sole_corners

US = 'walking_control'
MUJOCO_NODE = '/mujoco_ros2_control_node'  # its services, which no namespace moves
# of Gazebo's force sensors: balls lose single samples (8 in 0.4 s seen on Fortress 6.7)
FORCE_TIME = 0.005  # s
SETTLE = 0.2  # s from our controller being active to a call that takes a second to come up
PAUSE = 2.0  # s from our controller being active to the end of a pause: a call is under way
TOOLS = ('rviz2', 'plotjuggler', 'rqt_robot_monitor')


@dataclass(frozen=True)
class Process:
    """A ROS node or program.

    Args:
        key: What other steps call it.
        package: Its package.
        executable: Its executable.
        name: Node name; empty leaves it the executable's.
        arguments: Command-line arguments.
        parameters: Parameter files and mappings, weakest first.
        remappings: Pairs of topic names.
        after: Key of a step that has to end well first.
        needed: Whether everything ends with it.
        prefix: Command line before it, e.g. a terminal; empty: none.
    """

    key: str
    package: str
    executable: str
    name: str = ''
    arguments: tuple[str, ...] = ()
    parameters: tuple[Any, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    after: str = ''
    needed: bool = False
    prefix: str = ''


@dataclass(frozen=True)
class Lifecycle(Process):
    """A lifecycle node, configured at once.

    Args:
        activate: Whether it is activated.
        activate_after: Key of a step that has to end well before that.
    """

    activate: bool = True
    activate_after: str = ''


@dataclass(frozen=True)
class Include:
    """Another package's launch file.

    Args:
        key: What other steps call it.
        package: The package.
        file: Name of the file in its folder ``launch``.
        arguments: Its arguments.
    """

    key: str
    package: str
    file: str
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class Call:
    """A command line that does something once.

    Args:
        key: What other steps call it.
        command: The words.
        after: Key of a step that has to end well first, or of a `Lifecycle` that has to be active.
        delay: How long after that, s.
    """

    key: str
    command: tuple[str, ...]  # the words
    # key of a step that has to end well first, or of a `Lifecycle` that has to be active
    after: str = ''
    delay: float = 0.0


@dataclass(frozen=True)
class Say:
    """A sentence for the operator.

    Args:
        key: What other steps call it.
        text: The sentence.
        after: Key of a step that has to end well first.
    """

    key: str
    text: str
    after: str = ''


Step = Process | Include | Call | Say


@dataclass(frozen=True)
class Place:
    """Where the files of a launch lie.

    Args:
        robot_file: The `RobotFile`.
        wiring: Its `Wiring`.
        folder: Of controllers, bridge and world.
        scratch: Of what is written for this launch alone.
        values: Values of the launch arguments.
    """

    robot_file: RobotFile
    wiring: Wiring
    folder: Path
    scratch: Path
    values: Mapping[str, Any]

    def path(self, name: str) -> str:
        """Return the path of a file in the folder, which must be there."""
        path = self.folder / name
        require(
            path.is_file(),
            f'file {path}',
            limit='no such file',
            remedy='write it by '
            f'walking_control ros2_control {self.wiring.robot.name} --out '
            f'{self.folder}',
        )
        return str(path)

    def keep(self, name: str, text: str) -> str:
        """Write a file for this launch and return its path."""
        path = self.scratch / name
        path.write_text(text, encoding='utf-8')
        return str(path)


def find_place(values: Mapping[str, Any]) -> Place:
    """Return where the files of a launch lie; those that are nowhere are written.

    Args:
        values: From `launch_arguments.read_arguments`.

    Raises:
        InvalidInput: The robot cannot be used, or a folder lacks a file.
    """
    robot_file = load_robot(values['robot'])
    wiring = wire(robot_file)
    virtual = wiring.robot.virtual_efforts
    require(
        not virtual,
        f'robot {wiring.robot.name}',
        value=', '.join(virtual),
        limit='no hardware has this effort',
        remedy='take it out of the robot file',
    )
    require(
        values.get('speed', 1.0) > 0.0,
        'launch argument speed',
        value=values.get('speed'),
        limit='must be above 0',
    )
    scratch = Path(tempfile.mkdtemp(prefix='walking_control_'))
    shipped = shipped_folder(wiring.robot.name)
    if values['bringup']:
        folder = Path(values['bringup'])
    elif shipped.is_dir() and values['robot'] == wiring.robot.name:
        folder = shipped
    else:
        folder = scratch
        write_ros2_control(robot_file, wiring, folder)
    return Place(robot_file, wiring, folder, scratch, values)


# -- plans ---------------------------------------------------------------------------------------


def plan_gazebo(place: Place) -> list[Step]:
    """Return what `gazebo.launch.py` does: joints are held until the last step, arming."""
    wiring, values = place.wiring, place.values
    require(
        place.robot_file.start.posture is not None,
        f'robot {wiring.robot.name} in Gazebo',
        limit='starts at rest there, and its robot file has it start in the middle of a step',
        remedy='mujoco_ros2_control.launch.py, or a start.posture in which it stands',
    )
    model = place.keep(
        f'{wiring.robot.name}.gazebo.urdf',
        gazebo.gazebo_model(wiring, place.path(CONTROLLERS[GAZEBO]), values['namespace']),
    )
    server = ' -s' if values['headless'] else ''
    world = place.path(GAZEBO_WORLD)
    if values['speed'] != 1.0:
        world = place.keep(
            GAZEBO_WORLD, gazebo.at_speed(Path(world).read_text('utf-8'), values['speed'])
        )
    return [
        Include(
            'gazebo',
            'ros_gz_sim',
            'gz_sim.launch.py',
            {  # which hands it to a shell
                'gz_args': shlex.quote(world) + server,
                'on_exit_shutdown': 'true',
            },
        ),
        Process(
            'bridge',
            'ros_gz_bridge',
            'parameter_bridge',
            'bridge',
            parameters=({'config_file': place.path(BRIDGE)},),
        ),
        _robot_state_publisher(gazebo.gazebo_description(wiring)),
        Process(
            'spawn',
            'ros_gz_sim',
            'create',
            arguments=(
                '-world',
                gazebo.WORLD,
                '-name',
                wiring.robot.name,
                '-file',
                model,
                *gazebo.spawn_arguments(wiring),
            ),
        ),
        *_emulator(place),
        *_watchdog(place, sim_time=True),
        Say(
            'spawned',
            'if no robot appears, Gazebo has refused its model: look for '
            f'"{wiring.robot.name}" and "Error" in the lines above',
            'spawn',
        ),
        _load(place, GAZEBO, 'spawn'),
        *_let_go(place),
    ]


def _let_go(place: Place) -> list[Step]:
    """Return the last steps in Gazebo, which depend on whether the robot stands while held.

    One on points would fall: it is let go by the first update after the pause, in which all that
    was asked for takes effect; it is without torque until our first answer.
    """
    robot = place.wiring.robot
    points = all(len(sole_corners(robot.urdf, foot)) == 1 for foot in robot.feet)
    controller = _controller(
        place,
        sim_time=True,
        activate_after='load' if points else 'sensors',
        own=({'estimator.force_time': FORCE_TIME},),
    )
    unpause = Call(
        'unpause',
        (
            'gz',
            'service',
            '-s',
            f'/world/{gazebo.WORLD}/control',
            '--reqtype',
            'gz.msgs.WorldControl',
            '--reptype',
            'gz.msgs.Boolean',
            '--timeout',
            '5000',
            '--req',
            'pause: false',
        ),
        'controller' if points else 'load',
        PAUSE if points else 0.0,
    )
    if not points:
        return [
            unpause,
            _switch(place, 'sensors', _sensing(place, GAZEBO), 'unpause'),
            controller,
            _switch(place, 'arm', commanding(place.wiring, GAZEBO), 'controller'),
        ]
    everything = ', '.join(controllers_of(place.wiring, GAZEBO))
    return [
        Call(
            'arm',
            (
                'ros2',
                'service',
                'call',
                _absolute(place, names.MANAGER) + '/switch_controller',
                'controller_manager_msgs/srv/SwitchController',
                f'{{activate_controllers: [{everything}], strictness: 2, timeout: {{sec: 120}}}}',
            ),
            'load',
        ),
        controller,
        unpause,
    ]


def plan_mujoco(place: Place) -> list[Step]:
    """Return what `mujoco_ros2_control.launch.py` does; that runs from the beginning.

    So it is paused once the controllers are active, and the robot put back to where it starts. In a
    pause the controller manager does nothing, neither tell sensors nor switch controllers: from
    going on to our first answer, six messages later, the robot is without torque.
    """
    wiring, values = place.wiring, place.values
    model = place.keep(f'{wiring.robot.name}.mjcf.xml', write_mjcf(place.robot_file, wiring))
    messages = 'mujoco_ros2_control_msgs/srv/'

    def call(
        key: str, service: str, kind: str, request: str, after: str, delay: float = 0.0
    ) -> Call:
        return Call(
            key,
            ('ros2', 'service', 'call', f'{MUJOCO_NODE}/{service}', messages + kind, request),
            after,
            delay,
        )

    return [
        _robot_state_publisher(
            mujoco_description(wiring, model, values['headless'], values['speed'])
        ),
        Process(
            'simulator',
            'mujoco_ros2_control',
            'ros2_control_node',
            needed=True,
            parameters=({'use_sim_time': True}, place.path(CONTROLLERS[MUJOCO])),
            # on Humble it listens to a topic of its own
            remappings=(('~/robot_description', '/robot_description'),)
            if os.environ.get('ROS_DISTRO') == 'humble'
            else (),
        ),
        *_emulator(place, held=True),
        *_watchdog(place, sim_time=True),
        _load(place, MUJOCO),
        _switch(place, 'activate', list(controllers_of(wiring, MUJOCO)), 'load'),
        call('pause', 'set_pause', 'SetPause', '{paused: true}', 'activate'),
        call('reset', 'reset_world', 'ResetWorld', f"{{keyframe: '{KEYFRAME}'}}", 'pause'),
        _controller(place, sim_time=True, activate_after='reset'),
        call('resume', 'set_pause', 'SetPause', '{paused: false}', 'controller', SETTLE),
    ]


def plan_hardware(place: Place) -> list[Step]:
    """Return what `hardware.launch.py` does beside a controller manager that runs already.

    Sensors are told at once. What moves the robot is loaded and stays inactive until it is armed;
    on a dry run it is not even loaded, and the commands go to a shadow topic.
    """
    wiring, values = place.wiring, place.values
    moving = commanding(wiring, HARDWARE)
    steps: list[Step] = [
        *_watchdog(place),
        _spawn(place, HARDWARE, 'sensors', _sensing(place, HARDWARE)),
    ]
    if values['dry_run']:
        return [
            *steps,
            _controller(place, activate_after='sensors'),
            Say('dry', 'dry run: commands go to dry_run/... and nothing moves', 'sensors'),
        ]
    steps.append(_spawn(place, HARDWARE, 'load', moving, 'sensors', '--inactive'))
    arm = _switch(place, 'arm', moving, 'controller')
    if values['arm']:
        return [*steps, _controller(place, activate_after='load'), arm]
    return [
        *steps,
        _controller(place, activate=False),
        Say(
            'arm',
            f'not armed. To arm: ros2 lifecycle set {_absolute(place, names.CONTROLLER)} '
            f'activate; then: {" ".join(arm.command)}',
            'load',
        ),
    ]


def plan_monitor(values: Mapping[str, Any]) -> list[Step]:
    """Return what `monitor.launch.py` starts.

    Raises:
        InvalidInput: A tool is unknown.
    """
    tools = [tool for tool in values['tools'].split(',') if tool]
    for tool in tools:
        require(
            tool in TOOLS,
            'launch argument tools',
            value=tool,
            limit='must be among ' + ', '.join(TOOLS),
        )
    view = str(share_directory() / 'config' / 'rviz' / 'walk.rviz')
    return [
        Process(tool, tool, tool, arguments=('-d', view) if tool == 'rviz2' else ())
        for tool in tools
    ]


# -- steps they share ----------------------------------------------------------------------------


def _robot_state_publisher(description: str) -> Process:
    return Process(
        'description',
        'robot_state_publisher',
        'robot_state_publisher',
        parameters=({'robot_description': description, 'use_sim_time': True},),
    )


def _spawn(
    place: Place, target: str, key: str, controllers: list[str], after: str = '', *options: str
) -> Process:
    # relative, so that a namespace moves it
    return Process(
        key,
        'controller_manager',
        'spawner',
        key,
        (
            *controllers,
            '--controller-manager',
            names.MANAGER,
            '--param-file',
            place.path(CONTROLLERS[target]),
            '--controller-manager-timeout',
            repr(place.values['manager_timeout']),
            *options,
        ),
        after=after,
    )


def _load(place: Place, target: str, after: str = '') -> Process:
    return _spawn(
        place, target, 'load', list(controllers_of(place.wiring, target)), after, '--inactive'
    )


def _switch(place: Place, key: str, controllers: list[str], after: str) -> Call:
    """Return what activates controllers that are loaded; a spawner would configure them again."""
    return Call(
        key,
        (
            'ros2',
            'control',
            'switch_controllers',
            '--controller-manager',
            _absolute(place, names.MANAGER),
            '--strict',
            '--activate',
            *controllers,
        ),
        after,
    )


def _sensing(place: Place, target: str) -> list[str]:
    """Return the controllers that move nothing."""
    left_out = {
        *commanding(place.wiring, target),
        *(() if place.values.get('combined') else (names.STATE_BROADCASTER,)),
    }
    return [name for name in controllers_of(place.wiring, target) if name not in left_out]


def _absolute(place: Place, name: str) -> str:
    return '/'.join(('', *filter(None, (place.values['namespace'].strip('/'), name))))


def _controller(
    place: Place,
    sim_time: bool = False,
    activate: bool = True,
    activate_after: str = '',
    own: tuple[Any, ...] = (),
) -> Lifecycle:
    values = place.values
    files = (values['params_file'],) if values['params_file'] else ()
    chosen = {'controller': values['controller']} if values['controller'] else {}
    if values.get('combined'):
        chosen = {**chosen, 'combined_state': 'values', 'combined_force_sign': _force_sign(place)}
    return Lifecycle(
        'controller',
        US,
        'controller_node',
        names.CONTROLLER,
        parameters=(
            *own,
            *files,
            {
                'robot_file': values['robot'],
                'realtime': True,
                'use_sim_time': sim_time,
                'require_watchdog': values['watchdog'],
                **chosen,
            },
        ),
        remappings=_shadows(values),
        needed=True,
        activate=activate,
        activate_after=activate_after,
    )


def _force_sign(place: Place) -> float:
    """Return the sign in controllers.yaml, which a combined state is told without."""
    feet = place.wiring.robot.foot_sensors
    if not feet:
        return 1.0
    parameters = read_controllers(place.path(CONTROLLERS[HARDWARE]))[
        names.wrench_broadcaster(feet[0])
    ]
    return float(parameters.get('multiplier', {}).get('force', {}).get('z', 1.0))


def _shadows(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        tuple((topic, f'dry_run/{topic}') for topic in (names.EFFORT_COMMANDS, names.LOCK_COMMANDS))
        if values.get('dry_run')
        else ()
    )


def _watchdog(place: Place, sim_time: bool = False) -> list[Step]:
    values = place.values
    chosen = {'timeout': values['watchdog_timeout']} if values['watchdog_timeout'] != '' else {}
    return (
        [
            Process(
                'watchdog',
                US,
                'watchdog_node',
                'watchdog',
                needed=True,
                parameters=({'use_sim_time': sim_time, **chosen},),
                remappings=_shadows(values),
            )
        ]
        if values['watchdog']
        else []
    )


def _emulator(place: Place, held: bool = False) -> list[Step]:
    """Return what plays locks: by efforts, or held by the simulator itself."""
    return (
        [
            Process(
                'locks',
                US,
                'lock_emulator_node',
                'lock_emulator',
                needed=True,
                parameters=(
                    {'robot_file': place.values['robot'], 'use_sim_time': True, 'held': held},
                ),
            )
        ]
        if place.wiring.locks
        else []
    )
