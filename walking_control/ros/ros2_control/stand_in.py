# SPDX-License-Identifier: Apache-2.0
"""A controller manager that is none, so that what ros2_control does to a robot can be tried here.

It reads a controllers.yaml and the ros2_control tags of a URDF and treats messages as
ros2_controllers do: ForwardCommandController drops what is not finite, fails on a wrong length and
is then deactivated, holds the last command for ever and counts joints in its own order; the wrench
broadcaster multiplies; `enforce_command_limits` is the JointSaturationLimiter (read in 4.46.0,
5.16.0 and 6.8.0): efforts are clamped, and taken to zero where they push a joint past its limit of
position or speed. `HABITS` are what simulators do beside.

Simplifications: all controllers are active from the beginning, and updates come once per physics
step of the caller.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.exceptions import require
from walking_control.models import (
    Command,
    fields_of,
    JOINTS,
    mapping,
    Measurement,
    moving_joints,
    parse,
    read_yaml,
    Robot,
    UrdfJoint,
)
from walking_control.ros.ros2_control import feedback_joints, names, PLUGIN
from walking_control.ros.ros2_control import files as plugins

WILDCARD = '/**/'


@dataclass
class Forwarder:
    """One ForwardCommandController.

    Args:
        interfaces: Command interfaces in the order of the message.
        active: Whether it still forwards.
        message: The newest message that was not dropped.
    """

    interfaces: tuple[str, ...]
    active: bool = True
    message: tuple[float, ...] | None = None


def read_controllers(path: str | Path) -> dict[str, dict[str, Any]]:
    """Return node -> parameters of a controllers.yaml.

    Raises:
        InvalidInput: It cannot be read, or is no ROS 2 parameter file of a controller manager.
    """
    what = f'controllers file {path}'
    found = {}
    for key, value in mapping(read_yaml(path, what), what).items():
        section = mapping(value, f'{key} of {what}')
        found[str(key).removeprefix(WILDCARD).strip('/')] = dict(
            mapping(section.get('ros__parameters', {}), f'ros__parameters of {key} of {what}')
        )
    require(
        names.MANAGER in found,
        what,
        limit=f'has no {names.MANAGER}',
        remedy='write one by walking_control ros2_control ROBOT --out DIR',
    )
    return found


def declared(tree: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return controller -> plugin of what a controllers.yaml declares."""
    return {
        name: str(value['type'])
        for name, value in tree[names.MANAGER].items()
        if isinstance(value, Mapping) and 'type' in value
    }


def interfaces_of(description: str) -> dict[str, set[str]]:
    """Return ``'command'`` and ``'state'`` -> names of the interfaces in a URDF's tags."""
    found: dict[str, set[str]] = {'command': set(), 'state': set()}
    for component in parse(description).findall('ros2_control/*'):
        for kind, interfaces in found.items():
            interfaces |= {
                f'{component.get("name")}/{interface.get("name")}'
                for interface in component.findall(f'{kind}_interface')
            }
    return found


class StandIn:
    """A controller manager with its controllers, between messages and a plant.

    Args:
        tree: From `read_controllers`.
        description: URDF with the tags and limits; empty takes the robot's.

    Attributes:
        joints: In the order in which the joint state broadcaster tells them.
        dropped: Messages that were dropped.
        cut: Efforts that were limited.

    Raises:
        InvalidInput: A controller is missing, or asks for an interface that is not there.
    """

    def __init__(
        self, robot: Robot, tree: Mapping[str, Mapping[str, Any]], description: str = ''
    ) -> None:
        description = description or robot.urdf
        self._robot, self._tree = robot, tree
        self._kinds, self._offered = declared(tree), interfaces_of(description)
        self.joints = tuple(
            self._list(names.JOINT_STATE_BROADCASTER, 'joints') or sorted(robot.joints)
        )
        self._order = [robot.joint_index(self._known(joint)) for joint in self.joints]
        self._find(names.JOINT_STATE_BROADCASTER, plugins.JOINT_STATES)
        self._find(names.IMU_BROADCASTER, plugins.IMU)
        fields = fields_of(robot)
        wanted = [names.COMMANDED[field][0] for field in fields]
        for name, _ in names.COMMANDED.values():
            require(
                name not in self._kinds or name in wanted,
                f'controller {name}',
                value=', '.join(self._list(name, 'joints')),
                limit='commands an interface beside the one that the drives take: '
                + ', '.join(fields),
                remedy='leave it out, or say what they take: drive in robot.actuators',
            )
        if feedback_joints(robot):  # hears the same five arrays in place of its own message
            self._find(names.EFFORT_CONTROLLER, PLUGIN)
            self.forwarders = {
                names.COMMANDED[field][0]: Forwarder(
                    tuple(f'{joint}/{names.COMMANDED[field][1]}' for joint in joints)
                )
                for field, joints in fields.items()
            }
        else:
            self.forwarders = {name: self._forwarder(name) for name in wanted}
        claims = Counter(part for each in self.forwarders.values() for part in each.interfaces)
        for interface, count in claims.items():
            require(
                count <= 1,
                f'interface {interface}',
                value=count,
                limit='is commanded more than once',
            )
        if names.LOCK_EFFORT_CONTROLLER in self._kinds:  # a simulator
            name = names.LOCK_EFFORT_CONTROLLER
            self.forwarders[name] = self._forwarder(name)
        elif robot.locks:
            self._find(names.LOCK_BROADCASTER, plugins.JOINT_STATES)
            self.forwarders[names.LOCK_CONTROLLER] = self._forwarder(names.LOCK_CONTROLLER)
        self._multipliers = {foot: self._multiplier(foot) for foot in robot.foot_sensors}
        self._values: dict[str, float] = {}
        enforced = tree[names.MANAGER].get('enforce_command_limits', False)
        self._limited = [
            (f'{joint.name}/{names.EFFORT}', robot.joint_index(joint.name), joint)
            for joint in moving_joints(description)
            if enforced and joint.name in robot.joints
        ]
        self.dropped = self.cut = 0

    def _find(self, name: str, plugin: str) -> Mapping[str, Any]:
        require(
            name in self._kinds, f'controller {name}', limit='is not declared in controllers.yaml'
        )
        require(
            self._kinds[name] == plugin,
            f'type of controller {name}',
            value=self._kinds[name],
            limit=f'must be {plugin}',
        )
        return self._tree.get(name, {})

    def _list(self, name: str, parameter: str) -> Sequence[str]:
        value = self._tree.get(name, {}).get(parameter, [])
        return value if isinstance(value, list) else [value]

    def _known(self, joint: str) -> str:
        require(
            joint in self._robot.joints,
            f'joint {joint}',
            limit=f'is none of robot {self._robot.name}',
        )
        return joint

    def _forwarder(self, name: str) -> Forwarder:
        parameters = self._find(name, plugins.FORWARD)
        interfaces = tuple(
            f'{joint}/{parameters.get("interface_name")}' for joint in self._list(name, 'joints')
        )
        for interface in interfaces:
            require(
                interface in self._offered['command'],
                f'controller {name}',
                value=interface,
                limit='is no command interface of the robot_description: it cannot be activated',
                remedy=f'include {self._robot.name}.ros2_control.xacro in the URDF',
            )
        return Forwarder(interfaces)

    def _multiplier(self, foot: str) -> np.ndarray:
        parameters = self._find(names.wrench_broadcaster(foot), plugins.WRENCH)
        sensor = f'{parameters.get("sensor_name")}/force.z'
        require(
            sensor in self._offered['state'],
            f'controller {names.wrench_broadcaster(foot)}',
            value=sensor,
            limit='is no state interface of the robot_description: it cannot be activated',
        )
        force = parameters.get('multiplier', {}).get('force', {})
        return np.array([float(force.get(axis, 1.0)) for axis in 'xyz'])

    # -- states ----------------------------------------------------------------------------------

    def arrange(self, values: np.ndarray) -> np.ndarray:
        """Return positions or velocities of the robot in the broadcaster's order of joints."""
        return values[self._order]

    def multiply(self, foot: str, force: np.ndarray) -> np.ndarray:
        """Return what the broadcaster of a foot makes of its sensor's force, ``(3,)``, N."""
        return np.asarray(self._multipliers[foot] * force)

    # -- commands --------------------------------------------------------------------------------

    def receive(self, name: str, data: Sequence[float]) -> bool:
        """Take a message for a command controller; return whether it was not dropped."""
        if not all(map(math.isfinite, data)):
            self.dropped += 1
            return False
        self.forwarders[name].message = tuple(data)
        return True

    def update(
        self, position: np.ndarray | None = None, velocity: np.ndarray | None = None
    ) -> list[str]:
        """Do what one cycle does; return the controllers that were deactivated for failing.

        Args:
            position: Of the robot's joints, rad, by which commands are limited; None clamps alone.
            velocity: Likewise, rad/s.
        """
        failed = []
        for name, forwarder in self.forwarders.items():
            if not forwarder.active or forwarder.message is None:
                continue
            if len(forwarder.message) != len(forwarder.interfaces):
                forwarder.active = False
                failed.append(name)
                continue
            self._values.update(zip(forwarder.interfaces, forwarder.message))
        for interface, index, joint in self._limited:
            if interface in self._values:
                self._limit(
                    interface,
                    joint,
                    None
                    if position is None or velocity is None
                    else (float(position[index]), float(velocity[index])),
                )
        return failed

    def _limit(self, interface: str, joint: UrdfJoint, state: tuple[float, float] | None) -> None:
        lower, upper = -joint.effort, joint.effort
        if state is not None:
            position, velocity = state
            if position <= joint.lower and velocity <= 0.0 or velocity < -joint.velocity:
                lower = 0.0
            if position >= joint.upper and velocity >= 0.0 or velocity > joint.velocity:
                upper = 0.0
        asked = self._values[interface]
        self._values[interface] = min(max(asked, lower), upper)
        self.cut += self._values[interface] != asked

    def effort(self, joint: str) -> float:
        """Return what the effort interface of a joint holds, N m."""
        return self._values.get(f'{joint}/{names.EFFORT}', 0.0)

    def write(self, command: Command) -> None:
        """Copy what the interfaces hold to a plant's command, by name."""
        for i, joint in enumerate(self._robot.actuators):
            for field, (_, interface) in names.COMMANDED.items():
                getattr(command, field)[i] = self._values.get(f'{joint}/{interface}', 0.0)
        for i, each in enumerate(self._robot.locks):
            held = self._values.get(f'{each.joint}/{names.LOCK}', float(command.lock[i]))
            command.lock[i] = held > 0.5


@dataclass(frozen=True)
class Habits:
    """What a place does to sensors and motors beside its controllers.

    Args:
        first: What the first messages of IMU and feet hold instead of values.
        repeated: Share of the samples that repeat the one before under a new stamp.
        dropped: Share of the samples in which a loaded foot tells no force.
        limp: For how long nothing drives the joints after they are let go, s.
    """

    first: tuple[float, ...] = ()
    repeated: float = 0.0
    dropped: float = 0.0
    limp: float = 0.0


# Seen from outside in 2026: Gazebo Fortress 6.7 with gz_ros2_control, mujoco_ros2_control of main.
# Newer gz_ros2_control tells NaN before its first sample (#610), older zeros.
HABITS = {
    '': Habits(),
    'mujoco': Habits(limp=0.015),
    'gazebo': Habits((0.0, math.nan), 0.15, 0.02, 0.015),
}


class Place:
    """Spoils measurements as a place does, the same ones in every run.

    Args:
        name: A key of `HABITS`.
    """

    def __init__(self, name: str, robot: Robot) -> None:
        self.habits = HABITS[name]
        self._told, self._random = Measurement(robot), np.random.default_rng(0)
        self._first = list(self.habits.first)

    def spoil(self, measurement: Measurement) -> Measurement:
        """Return the `Measurement` that is told instead of the true one."""
        if self.habits == HABITS['']:
            return measurement
        told = self._told
        if not told.stamp or self._random.random() >= self.habits.repeated:
            told.values[:], told.locked[:] = measurement.values, measurement.locked
            dropped = self._random.random(len(told.foot_force)) < self.habits.dropped
            told.foot_force[dropped] = 0.0
        if self._first:
            value = self._first.pop(0)
            for name, block in told.blocks.items():
                block[:] = block if name == JOINTS else value
        told.stamp = measurement.stamp
        return told
