# SPDX-License-Identifier: Apache-2.0
"""What the launch files start, walked without launch: every name meets its counterpart."""

import ast
from collections import Counter
from pathlib import Path
import re
import shlex
from xml.etree import ElementTree

import pytest
from stranger import write_rabbit
import yaml

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.models.urdf import parse
from walking_control.ros.launch_arguments import GAZEBO as GAZEBO_ARGUMENTS
from walking_control.ros.launch_arguments import HARDWARE as HARDWARE_ARGUMENTS
from walking_control.ros.launch_arguments import MONITOR, read_arguments, SIMULATION, TELEOP
from walking_control.ros.launch_arguments import MUJOCO as MUJOCO_ARGUMENTS
from walking_control.ros.ros2_control import names
from walking_control.ros.ros2_control.files import (
    commanding,
    CONTROLLERS,
    controllers_of,
    write_ros2_control,
)
from walking_control.ros.ros2_control.launching import (
    Call,
    find_place,
    Include,
    Lifecycle,
    plan_gazebo,
    plan_hardware,
    plan_monitor,
    plan_mujoco,
    Process,
    US,
)
from walking_control.ros.ros2_control.tags import GAZEBO, HARDWARE, MUJOCO, PLUGINS
from walking_control.ros.ros2_control.wiring import state_interfaces, wire

PLANS = {
    GAZEBO: (plan_gazebo, GAZEBO_ARGUMENTS),
    MUJOCO: (plan_mujoco, MUJOCO_ARGUMENTS),
    HARDWARE: (plan_hardware, HARDWARE_ARGUMENTS),
}
FILES = {GAZEBO: 'gazebo', MUJOCO: 'mujoco_ros2_control', HARDWARE: 'hardware'}
ROBOTS = ('dribbel', 'humanoid', 'walker3d', 'walker3d_points')
TABLES = {
    'simulation': SIMULATION,
    'monitor': MONITOR,
    'teleop': TELEOP,
    **{FILES[target]: arguments for target, (_, arguments) in PLANS.items()},
}


def steps_of(target, **arguments):
    """Return key -> step of a launch, and its place."""
    plan, table = PLANS[target]
    place = find_place(read_arguments(arguments, table))
    steps = plan(place)
    assert len({step.key for step in steps}) == len(steps)
    return {step.key: step for step in steps}, place


@pytest.fixture(
    scope='module',
    params=[
        (target, robot)
        for target in PLANS
        for robot in ROBOTS
        if (target, robot) != (GAZEBO, 'dribbel')
    ],
    ids='-'.join,
)
def launched(request):
    """Return target, key -> step and place of a launch of a shipped robot."""
    target, robot = request.param
    return target, *steps_of(target, robot=robot)


def spawned(step):
    """Return the controllers that a spawner is given, and its options."""
    first = step.arguments.index('--controller-manager')
    return list(step.arguments[:first]), list(step.arguments[first:])


def test_every_launch_file_has_its_table():
    """If it failed, a launch file would have arguments that nothing here looks at."""
    files = {
        path.name.removesuffix('.launch.py')
        for path in (share_directory() / 'launch').glob('*.launch.py')
    }
    assert set(TABLES) <= files
    for table in TABLES.values():
        for argument in table:  # one name, one meaning
            assert argument in [
                other for each in TABLES.values() for other in each if other.name == argument.name
            ]
            assert (
                len(
                    {
                        other.default
                        for each in TABLES.values()
                        for other in each
                        if other.name == argument.name
                    }
                )
                == 1
            )
        assert read_arguments({}, table)


def test_files_and_executables_are_there(launched):
    """If it failed, a process would be given a file or program that does not exist."""
    _, steps, _ = launched
    root = Path(__file__).parents[3]
    for step in steps.values():
        words = [*getattr(step, 'arguments', ()), *getattr(step, 'parameters', ())]
        for word in words:
            if isinstance(word, str) and word.startswith('/'):
                assert Path(word).is_file()
            elif isinstance(word, dict) and 'config_file' in word:
                assert Path(word['config_file']).is_file()
        if isinstance(step, Include):
            assert Path(shlex.split(step.arguments['gz_args'])[0]).is_file()
        elif isinstance(step, Process) and step.package == US:
            assert (root / 'scripts' / step.executable).is_file()


def test_our_nodes_declare_what_they_are_given(launched):
    """If it failed, a node of ours would end on a parameter that it does not know."""
    _, steps, _ = launched
    for step in steps.values():
        if isinstance(step, Process) and step.package == US:
            source = (
                Path(__file__).parents[3]
                / 'walking_control'
                / 'ros'
                / 'nodes'
                / f'{step.executable}.py'
            ).read_text()  # not every machine can import it
            declared = {
                'use_sim_time',
                *re.findall(r'^    (\w+): \S+ = parameter\(', source, re.M),
                *(f'estimator.{name}' for name in EstimatorParameters.rows),
            }
            for parameters in step.parameters:
                assert set(parameters) <= declared


def test_the_order_leads_somewhere(launched):
    """If it failed, a step would wait for one that is not there, or for itself."""
    _, steps, _ = launched
    for step in steps.values():
        seen, key = set(), step.key
        while key:
            assert key in steps and key not in seen
            seen.add(key)
            after = getattr(steps[key], 'activate_after', '') or getattr(steps[key], 'after', '')
            # these end, and a lifecycle node becomes active
            assert not after or isinstance(steps[after], (Process, Call))
            key = after


def test_spawners_start_the_controllers_of_their_file(launched):
    """If it failed, a controller would be spawned that the file does not hold, or never."""
    target, steps, place = launched
    path = place.path(CONTROLLERS[target])
    # all sensors in one message are asked for
    expected = [
        name for name in controllers_of(place.wiring, target) if name != names.STATE_BROADCASTER
    ]
    loaded = []
    for step in steps.values():
        if isinstance(step, Process) and step.executable == 'spawner':
            controllers, options = spawned(step)
            assert options[options.index('--param-file') + 1] == path
            told = yaml.safe_load(Path(path).read_text())
            assert all(f'/**/{name}' in told for name in controllers)
            loaded += controllers
    assert sorted(loaded) == sorted(expected)


class Manager:
    """A controller manager that is called as a launch goes on; it counts what is done to each.

    A spawner configures whatever it is given, loaded or not, and activates it unless told
    otherwise: spawner.py of ros2_control 2.54.0, 4.46.0 and 6.8.0.
    """

    def __init__(self):
        self.configured, self.active, self.order = Counter(), set(), []

    def carry_out(self, steps):
        """Carry out steps as they wait for one another."""
        done, waiting = {''}, list(steps.values())
        while waiting:
            ready = [
                step
                for step in waiting
                if done >= {getattr(step, 'after', ''), getattr(step, 'activate_after', '')}
            ]
            assert ready, waiting
            for step in ready:
                self._do(step)
                done.add(step.key)
                waiting.remove(step)

    def _do(self, step):
        self.order.append(step.key)
        if isinstance(step, Process) and step.executable == 'spawner':
            controllers, options = spawned(step)
            self.configured.update(controllers)
            self.active |= set() if '--inactive' in options else set(controllers)
        elif isinstance(step, Call) and 'switch_controller' in ' '.join(step.command):
            # without a strictness the controller manager warns at every start
            assert re.search('--strict |strictness: 2,', ' '.join(step.command))
            request = re.search(
                r'--activate (.*)|activate_controllers: .([^]]*)', ' '.join(step.command)
            )
            controllers = set(re.split('[, ]+', request.group(1) or request.group(2)))
            assert controllers <= set(self.configured) - self.active
            self.active |= controllers


def test_what_moves_the_robot_comes_last(launched):
    """If it failed, a robot would be limp before our controller is there, or configured twice."""
    target, steps, place = launched
    moving = set(commanding(place.wiring, target))
    controller, manager = steps['controller'], Manager()
    assert isinstance(controller, Lifecycle) and controller.needed
    manager.carry_out(steps)
    assert set(manager.configured.values()) == {1} and moving <= set(manager.configured)
    if target == HARDWARE:
        assert not controller.activate and not moving & manager.active
        said = steps['arm'].text
        assert said.index('lifecycle set') < said.index('switch_controllers')
        assert all(name in said for name in moving)
    else:
        assert set(manager.active) == set(manager.configured)
        # ours is active then and has heard sensors, or hears them as the world goes on
        go = steps[manager.order[-1]]
        assert steps[go.after] is controller
        if target == GAZEBO and place.wiring.robot.name != 'walker3d_points':
            assert set(go.command) >= moving  # held until then
        else:
            assert ('pause: false' if target == GAZEBO else 'paused: false') in str(go)
    parameters = controller.parameters[-1]
    assert parameters['realtime'] is True and parameters['require_watchdog'] is True
    assert 'virtual_efforts' not in parameters


def test_topics_of_controllers_are_those_of_our_nodes(launched):
    """If it failed, both sides would run and hear nothing of each other."""
    target, steps, place = launched
    wiring = place.wiring
    published = {
        'joint_state_broadcaster': names.JOINT_STATES,
        'imu_broadcaster': names.IMU,
        'lock_broadcaster': names.LOCK_STATES,
        **{names.wrench_broadcaster(foot): names.foot_wrench(foot) for foot in wiring.robot.feet},
    }
    heard = {
        'effort_controller': names.EFFORT_COMMANDS,
        'lock_controller': names.LOCK_COMMANDS,
        'lock_effort_controller': names.LOCK_EFFORT_COMMANDS,
    }
    for name, (plugin, parameters) in controllers_of(wiring, target).items():
        if name == names.STATE_BROADCASTER:
            assert parameters['interfaces'] == state_interfaces(wiring.robot)
            assert names.STATES == f'{name}/values' and names.STATE_NAMES == f'{name}/names'
            continue
        local = name + '/' if parameters.get('use_local_topics', True) else ''
        kinds = {
            'JointStateBroadcaster': 'joint_states',
            'IMUSensorBroadcaster': f'{name}/imu',
            'ForceTorqueSensorBroadcaster': f'{name}/wrench',
            'ForwardCommandController': f'{name}/commands',
        }
        topic = kinds[plugin.rpartition('/')[2]]
        if topic == 'joint_states' and name != 'joint_state_broadcaster':
            topic = local + topic
        assert topic == {**published, **heard}[name]
    if wiring.locks and target != HARDWARE:
        assert steps['locks'].executable == 'lock_emulator_node'
        # of an effort instead of 1, or the other way round, the knees would buckle
        assert steps['locks'].parameters[0]['held'] == (target == MUJOCO)
    else:
        assert 'locks' not in steps


def test_descriptions_and_worlds_fit_together(launched):
    """If it failed, a simulator would load another plugin, model or world than it is told of."""
    target, steps, place = launched
    if target == HARDWARE:
        assert 'description' not in steps  # whoever started the controller manager tells it
        return
    description = parse(steps['description'].parameters[0]['robot_description'])
    hardware = description.find('ros2_control/hardware')
    assert hardware.find('plugin').text == PLUGINS[target]
    if target == MUJOCO:
        model = hardware.find('param[@name="mujoco_model"]').text
        root = ElementTree.parse(model).getroot()
        assert hardware.find('param[@name="initial_keyframe"]').text == root.find(
            'keyframe/key'
        ).get('name')
        sensors = {sensor.get('name') for sensor in root.find('sensor')}
        for sensor in description.findall('ros2_control/sensor'):
            name = sensor.find('param[@name="mujoco_sensor_name"]').text
            kind = sensor.find('param[@name="mujoco_type"]').text
            assert {
                f'{name}_{end}'
                for end in {'imu': ('quat', 'gyro', 'accel'), 'fts': ('force', 'torque')}[kind]
            } <= sensors
        return
    (path,) = shlex.split(steps['gazebo'].arguments['gz_args'])
    world = ElementTree.parse(path).getroot().find('world')
    assert steps['gazebo'].arguments['on_exit_shutdown'] == 'true'  # else it would hang at its end
    assert steps['load'].after == 'spawn'  # the manager comes with the robot
    create = dict(zip(steps['spawn'].arguments[::2], steps['spawn'].arguments[1::2]))
    assert create['-world'] == world.get('name')
    assert f'/world/{world.get("name")}/control' in steps['unpause'].command
    model = ElementTree.parse(create['-file']).getroot()
    own = {plugin.find('parameters').text for plugin in model.findall('gazebo/plugin')}
    assert own == {place.path(CONTROLLERS[GAZEBO])}
    measured = {sensor.get('name'): sensor.get('type') for sensor in model.findall('gazebo/sensor')}
    tagged = {sensor.get('name') for sensor in description.findall('ros2_control/sensor')}
    assert set(measured) == tagged
    systems = {plugin.get('name').rpartition('::')[2] for plugin in world.findall('plugin')}
    assert {'imu': 'Imu', 'force_torque': 'ForceTorque'}.keys() == set(measured.values())
    assert {'Imu', 'ForceTorque', 'Physics', 'UserCommands'} <= systems
    (bridged,) = yaml.safe_load(Path(steps['bridge'].parameters[0]['config_file']).read_text())
    assert bridged['ros_topic_name'] == names.CLOCK
    step = float(world.find('physics/max_step_size').text)
    manager = yaml.safe_load(Path(place.path(CONTROLLERS[GAZEBO])).read_text())[
        '/**/controller_manager'
    ]['ros__parameters']
    assert manager['update_rate'] * step == pytest.approx(1.0)


def test_the_page_names_every_package(launched):
    """If it failed, a user would not be told what to install."""
    _, steps, _ = launched
    page = (Path(__file__).parents[3] / 'doc' / 'ros2_control.md').read_text()
    for step in steps.values():
        package = getattr(step, 'package', US)
        assert package == US or package.replace('_', '-') in page


def test_dry_run_reaches_nothing_that_moves():
    """If it failed, the first run of somebody's robot would move it."""
    steps, place = steps_of(HARDWARE, robot='dribbel', dry_run='true')
    moving = set(commanding(place.wiring, HARDWARE))
    for step in steps.values():
        assert not moving & set(getattr(step, 'arguments', ()))
    shadows = {
        (topic, f'dry_run/{topic}') for topic in (names.EFFORT_COMMANDS, names.LOCK_COMMANDS)
    }
    for key in ('controller', 'watchdog'):
        assert set(steps[key].remappings) == shadows
    assert steps['controller'].activate


def test_arming_at_once_is_asked_for():
    """If it failed, a robot would be armed that nobody armed, or our controller stay inactive."""
    steps, place = steps_of(
        HARDWARE, robot='humanoid', arm='true', watchdog='false', namespace='left'
    )
    assert list(steps['arm'].command[3:]) == [
        '--controller-manager',
        '/left/controller_manager',
        '--strict',
        '--activate',
        *commanding(place.wiring, HARDWARE),
    ]
    assert steps['controller'].activate and steps['arm'].after == 'controller'
    assert 'watchdog' not in steps
    assert steps['controller'].parameters[-1]['require_watchdog'] is False


def test_one_message_of_all_sensors_is_asked_for(tmp_path):
    """If it failed, `combined` would start nothing, or forget the sign of the force sensors."""
    write_ros2_control(load_robot('dribbel'), wire(load_robot('dribbel'), -1.0), tmp_path)
    steps, _ = steps_of(HARDWARE, robot='dribbel', combined='true', bringup=str(tmp_path))
    assert names.STATE_BROADCASTER in spawned(steps['sensors'])[0]
    given = steps['controller'].parameters[-1]
    assert (given['combined_state'], given['combined_force_sign']) == ('values', -1.0)


def test_a_robot_from_outside_is_launched(tmp_path):
    """If it failed, only shipped robots could be launched."""
    path = write_rabbit(tmp_path)
    with pytest.raises(InvalidInput, match='in the middle of a step.*mujoco_ros2_control'):
        steps_of(GAZEBO, robot=str(path))
    for target in (HARDWARE, MUJOCO):
        steps, place = steps_of(target, robot=str(path))
        assert place.folder == place.scratch and place.path(CONTROLLERS[target])
        assert steps['controller'].parameters[-1]['robot_file'] == str(path)


def test_bad_input_is_refused(tmp_path):
    """If it failed, a launch would start half of what it needs, or hardware with no such effort."""
    with pytest.raises(InvalidInput, match='ground_torque'):
        steps_of(HARDWARE, robot='compass')
    with pytest.raises(InvalidInput, match='no such file.*ros2_control dribbel --out'):
        steps_of(HARDWARE, robot='dribbel', bringup=str(tmp_path))
    with pytest.raises(InvalidInput, match='rviz3'):
        plan_monitor(read_arguments({'tools': 'rviz3'}, MONITOR))


@pytest.mark.parametrize('name', sorted(TABLES))
def test_launch_files_are_thin(name):
    """If it failed, a launch file would do what no test without launch sees."""
    tree = ast.parse((share_directory() / 'launch' / f'{name}.launch.py').read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions[0].name == 'generate_launch_description'
    if name != 'simulation':
        assert len(functions) == 1 and len(functions[0].body) == 2  # docstring, return


def test_forces_in_gazebo_are_averaged_unless_told_otherwise(tmp_path):
    """If it failed, single samples that balls lose there would end a walk: contact_flicker."""
    (tmp_path / 'mine.yaml').touch()
    given = {'robot': 'walker3d', 'params_file': str(tmp_path / 'mine.yaml')}
    first, mine, _ = steps_of(GAZEBO, **given)[0]['controller'].parameters
    assert first == {'estimator.force_time': 0.005} and mine == given['params_file']
    assert len(steps_of(MUJOCO, robot='walker3d')[0]['controller'].parameters) == 1


def test_simulators_at_another_speed():
    """If it failed, no simulator could be slowed down, or its robot would be stopped."""
    for target in (GAZEBO, MUJOCO):
        steps, _ = steps_of(target, robot='humanoid', speed='0.3', watchdog_timeout='0.2')
        if target == GAZEBO:
            world = Path(shlex.split(steps['gazebo'].arguments['gz_args'])[0]).read_text()
            assert '<real_time_factor>0.3</real_time_factor>' in world
        else:
            assert (
                '"sim_speed_factor">0.3<' in steps['description'].parameters[0]['robot_description']
            )
        assert steps['watchdog'].parameters[0] == {'use_sim_time': True, 'timeout': 0.2}
        with pytest.raises(InvalidInput, match='speed'):
            steps_of(target, speed='0')
    assert steps_of(HARDWARE)[0]['watchdog'].parameters[0] == {'use_sim_time': False}
