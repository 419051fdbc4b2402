# SPDX-License-Identifier: Apache-2.0
"""The ros2_control tags of a URDF: interfaces of joints and sensors, values they start with.

Each target has its own: hardware has locks; Gazebo and MuJoCo know none, so that there a joint
with a lock takes an effort, by which `nodes.lock_emulator_node` holds it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from walking_control.models.drives import fields_of
from walking_control.models.signals import topic_word
from walking_control.models.urdf import parse
from walking_control.ros.ros2_control.names import (
    COMMANDED,
    EFFORT,
    IMU_INTERFACES,
    LOCK,
    WRENCH_INTERFACES,
)
from walking_control.ros.ros2_control.wiring import state_interfaces, Wiring

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

    Gazebo and MuJoCo have no gains in their drives: there impedance is commanded as effort.
    """
    motors, fields = wiring.robot.actuators, fields_of(wiring.robot, target != HARDWARE)
    found = {field: tuple(j for j in joints if j in motors) for field, joints in fields.items()}
    return {field: joints for field, joints in found.items() if joints}


def components(wiring: Wiring, target: str) -> list[Component]:
    """Return the joints and sensors of a robot on a target."""
    found = []
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
        found.append(Component('joint', joint, tuple(commands), tuple(states)))
    for kind, interfaces, sensors in (
        ('imu', IMU_INTERFACES, wiring.imus),
        ('fts', WRENCH_INTERFACES, wiring.forces),
    ):
        for sensor in sensors.values():
            named = ('mujoco_type', kind), ('mujoco_sensor_name', sensor)
            more = named if target == MUJOCO else ()
            found.append(Component('sensor', sensor, (), interfaces, more))
    if target == HARDWARE:
        rows = [name for name in wiring.robot.signals if name in own]
        found += [Component('sensor', name, (), tuple(own[name])) for name in rows]
    return found


def tags(
    wiring: Wiring, target: str, plugin: str = '', parameters: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the ``<ros2_control>`` element of a robot on a target.

    Args:
        target: `HARDWARE`, `GAZEBO` or `MUJOCO`.
        plugin: Hardware plugin; empty takes the target's.
        parameters: Pairs (name, value) for the plugin.
    """
    parts = [
        text for component in components(wiring, target) for text in _render(component, wiring)
    ]
    return '\n'.join(_frame(wiring, plugin or PLUGINS[target], parts, parameters))


def include(wiring: Wiring) -> str:
    """Return a xacro file whose macro writes the tags; ``gazebo`` drops what Gazebo lacks."""
    real, simulated = (components(wiring, target) for target in (HARDWARE, GAZEBO))
    parts = []
    for one, other in zip(real, simulated):
        if one == other:
            parts += _render(one, wiring)
        else:
            for word, component in (('unless', one), ('if', other)):
                parts += [
                    f'<xacro:{word} value="${{gazebo}}">',
                    *_shift(_render(component, wiring)),
                    f'</xacro:{word}>',
                ]
    robot = wiring.robot
    command = f'walking_control ros2_control {robot.name}'
    defaults = f'plugin:={PLUGINS[HARDWARE]} gazebo:=false'
    return '\n'.join(
        (
            '<?xml version="1.0"?>',
            f'<!-- Written by `{command}`; do not edit. -->',
            f'<robot name={quoteattr(robot.name)} xmlns:xacro="http://www.ros.org/wiki/xacro">',
            f'  <xacro:macro name="{topic_word(robot.name)}_ros2_control" params="{defaults}">',
            *_shift(_frame(wiring, '${plugin}', parts, ()), 2),
            '  </xacro:macro>',
            '</robot>',
            '',
        )
    )


def with_tags(urdf: str, *elements: str) -> str:
    """Return a URDF with these elements in place of its ``<ros2_control>`` ones.

    Args:
        urdf: URDF text.
        *elements: XML texts, put at its end.
    """
    root = parse(urdf)
    for old in root.findall('ros2_control'):
        root.remove(old)
    for text in elements:
        root.append(ElementTree.fromstring(text))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode')


def _frame(
    wiring: Wiring, plugin: str, parts: Iterable[str], parameters: Sequence[tuple[str, str]]
) -> list[str]:
    hardware = (
        [f'<hardware><plugin>{plugin}</plugin></hardware>']
        if not parameters
        else [
            '<hardware>',
            f'  <plugin>{plugin}</plugin>',
            *_shift(_parameters(parameters)),
            '</hardware>',
        ]
    )
    return [
        f'<ros2_control name={quoteattr(wiring.robot.name)} type="system">',
        *_shift(hardware),
        *_shift(parts),
        '</ros2_control>',
    ]


def _render(component: Component, wiring: Wiring) -> list[str]:
    lines = [
        f'<{component.kind} name={quoteattr(component.name)}>',
        *_shift(_parameters(component.parameters)),
        *(f'  <command_interface name="{name}"/>' for name in component.commands),
    ]
    for name in component.states:
        value = wiring.start.get(f'{component.name}/{name}')
        lines.append(
            f'  <state_interface name="{name}"/>'
            if value is None
            else f'  <state_interface name="{name}">'
            f'<param name="initial_value">{value!r}</param></state_interface>'
        )
    return [*lines, f'</{component.kind}>']


def _parameters(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [f'<param name="{name}">{value}</param>' for name, value in pairs]


def _shift(lines: Iterable[str], levels: int = 1) -> list[str]:
    return ['  ' * levels + line for line in lines]
