# SPDX-License-Identifier: Apache-2.0
"""The ros2_control tags of a URDF: interfaces of joints and sensors, values they start with.

Each target has its own: hardware has locks; Gazebo and MuJoCo know none, so that there a joint
with a lock takes a command of effort: in Gazebo `nodes.lock_emulator_node` holds it by that, in
MuJoCo it tells the simulator so to hold it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from walking_control.models import fields_of, fill, parse, topic_word
from walking_control.ros.ros2_control import (
    COMMANDED,
    EFFORT,
    feedback_joints,
    IMU_INTERFACES,
    LOCK,
    state_interfaces,
    Wiring,
    WRENCH_INTERFACES,
)

HARDWARE, GAZEBO, MUJOCO = 'hardware', 'gazebo', 'mujoco'
PLUGINS = {
    HARDWARE: 'mock_components/GenericSystem',
    GAZEBO: 'gz_ros2_control/GazeboSimSystem',
    MUJOCO: 'mujoco_ros2_control/MujocoSystemInterface',
}


@dataclass(frozen=True)
class Component:
    """A joint or sensor in the tags.

    Args:
        kind: ``'joint'`` or ``'sensor'``.
        name: Its name.
        commands: Command interfaces.
        states: State interfaces.
        parameters: Pairs (name, value).
    """

    kind: str
    name: str
    commands: tuple[str, ...]
    states: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...] = ()


def commanded(wiring: Wiring, target: str) -> dict[str, tuple[str, ...]]:
    """Return field of a `Command` -> the joints it goes to on a target.

    Gazebo and MuJoCo have no gains in their drives: there impedance is commanded as effort. So are
    the joints below a linear_feedback_controller.
    """
    motors, robot = wiring.robot.actuators, wiring.robot
    fields = fields_of(robot, target != HARDWARE or bool(feedback_joints(robot)))
    found = {field: tuple(j for j in joints if j in motors) for field, joints in fields.items()}
    return {field: joints for field, joints in found.items() if joints}


def components(wiring: Wiring, target: str) -> Iterator[Component]:
    """Yield the joints and sensors of a robot on a target."""
    own: dict[str, list[str]] = {}  # joint or sensor -> state interfaces of the robot file's own
    for interface in state_interfaces(wiring.robot):
        owner, _, name = interface.partition('/')
        own.setdefault(owner, []).append(name)
    fields = commanded(wiring, target)
    for joint in wiring.robot.joints:
        lock = joint in wiring.locks
        simulated = target != HARDWARE
        commands = [COMMANDED[field][1] for field, joints in fields.items() if joint in joints]
        commands = [EFFORT] if lock and simulated and not commands else commands
        states = ['position', 'velocity', *([EFFORT] if commands else [])]
        if lock and not simulated:
            commands, states = [*commands, LOCK], [*states, LOCK]
        states += [name for name in own.get(joint, ()) if name not in states and not simulated]
        yield Component('joint', joint, tuple(commands), tuple(states))
    for kind, interfaces, sensors in (
        ('imu', IMU_INTERFACES, wiring.imus),
        ('fts', WRENCH_INTERFACES, wiring.forces),
    ):
        for sensor in sensors.values():
            named = ('mujoco_type', kind), ('mujoco_sensor_name', sensor)
            more = named if target == MUJOCO else ()
            yield Component('sensor', sensor, (), interfaces, more)
    if target == HARDWARE:
        rows = [name for name in wiring.robot.signals if name in own]
        yield from (Component('sensor', name, (), tuple(own[name])) for name in rows)


def tags(
    wiring: Wiring, target: str, plugin: str = '', parameters: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the ``<ros2_control>`` element of a robot on a target.

    Args:
        target: `HARDWARE`, `GAZEBO` or `MUJOCO`.
        plugin: Hardware plugin; empty takes the target's.
        parameters: Pairs (name, value) for the plugin.
    """
    parts = [(part, part) for part in components(wiring, target)]
    return _fill('tags.xml', wiring, plugin or PLUGINS[target], parts, parameters)


def include(wiring: Wiring) -> str:
    """Return a xacro file whose macro writes the tags; ``gazebo`` drops what Gazebo lacks."""
    parts = zip(components(wiring, HARDWARE), components(wiring, GAZEBO))
    return _fill('include.xacro', wiring, '${plugin}', parts, ())


def with_tags(urdf: str, *elements: str) -> str:
    """Return a URDF with these elements in place of its ``<ros2_control>`` ones.

    Args:
        urdf: URDF text.
        *elements: XML texts, put at its end.
    """
    root = parse(urdf)
    for old in root.findall('ros2_control'):
        root.remove(old)
    root.extend(map(ElementTree.fromstring, elements))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')


def _fill(
    name: str,
    wiring: Wiring,
    plugin: str,
    parts: Iterable[tuple[Component, Component]],
    parameters: Sequence[tuple[str, str]],
) -> str:
    """Return a template filled with the parts of a robot, each on hardware and in Gazebo."""
    return fill(
        __package__,
        name,
        robot=wiring.robot.name,
        word=topic_word(wiring.robot.name),
        plugin=plugin,
        usual=PLUGINS[HARDWARE],
        parts=parts,
        parameters=parameters,
        start=wiring.start,
    )
