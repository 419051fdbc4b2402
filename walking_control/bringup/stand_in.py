# SPDX-License-Identifier: Apache-2.0
"""A controller manager that is none, so that what ros2_control does to a robot can be tried here.

It reads a controllers.yaml and the ros2_control tags of a URDF and treats messages as
ros2_controllers do: ForwardCommandController drops what is not finite, fails on a wrong length and
is then deactivated, holds the last command for ever and counts joints in its own order; the wrench
broadcaster multiplies; with `enforce_command_limits` efforts are clamped to the URDF's limits.

Simplifications: all controllers are active from the beginning, updates come once per physics step
of the caller, and limits of position and speed do not bear on efforts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from walking_control.bringup import controllers as plugins
from walking_control.bringup import names
from walking_control.exceptions import InvalidInput
from walking_control.models.entries import mapping
from walking_control.models.robot import Robot
from walking_control.models.urdf import moving_joints, parse
from walking_control.models.yaml_text import load_yaml

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
    try:
        tree = load_yaml(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(what, limit=f'cannot be read: {error}') from error
    found = {}
    for key, value in mapping(tree, what).items():
        section = mapping(value, f'{key} of {what}')
        found[str(key).removeprefix(WILDCARD).strip('/')] = dict(mapping(
            section.get('ros__parameters', {}), f'ros__parameters of {key} of {what}'))
    if names.MANAGER not in found:
        raise InvalidInput(what, limit=f'has no {names.MANAGER}', remedy='write one by '
                           'walking_control ros2_control ROBOT --out DIR')
    return found


def declared(tree: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return controller -> plugin of what a controllers.yaml declares."""
    return {name: str(value['type']) for name, value in tree[names.MANAGER].items()
            if isinstance(value, Mapping) and 'type' in value}


def interfaces_of(description: str) -> dict[str, set[str]]:
    """Return ``'command'`` and ``'state'`` -> names of the interfaces in a URDF's tags."""
    found: dict[str, set[str]] = {'command': set(), 'state': set()}
    for component in parse(description).findall('ros2_control/*'):
        for kind, interfaces in found.items():
            interfaces |= {f'{component.get("name")}/{interface.get("name")}'
                           for interface in component.findall(f'{kind}_interface')}
    return found


class StandIn:
    """A controller manager with its controllers, between messages and a plant.

    Args:
        robot: The `Robot`; its URDF has the tags.
        tree: From `read_controllers`.

    Attributes:
        joints: In the order in which the joint state broadcaster tells them.
        dropped: Messages that were dropped.

    Raises:
        InvalidInput: A controller is missing, or asks for an interface that is not there.
    """

    def __init__(self, robot: Robot, tree: Mapping[str, Mapping[str, Any]]) -> None:
        self._robot, self._tree = robot, tree
        self._kinds, self._offered = declared(tree), interfaces_of(robot.urdf)
        self.joints = tuple(self._list(names.JOINT_STATE_BROADCASTER, 'joints')
                            or sorted(robot.joints))
        self._order = [robot.joint_index(self._known(joint)) for joint in self.joints]
        self._find(names.JOINT_STATE_BROADCASTER, plugins.JOINT_STATES)
        self._find(names.IMU_BROADCASTER, plugins.IMU)
        self.forwarders = {names.EFFORT_CONTROLLER: self._forwarder(names.EFFORT_CONTROLLER)}
        if robot.locks:
            self._find(names.LOCK_BROADCASTER, plugins.JOINT_STATES)
            self.forwarders[names.LOCK_CONTROLLER] = self._forwarder(names.LOCK_CONTROLLER)
        self._multipliers = np.array([self._multiplier(foot) for foot in robot.feet])
        self._values: dict[str, float] = {}
        enforced = tree[names.MANAGER].get('enforce_command_limits', False)
        self._limits = {f'{joint.name}/{names.EFFORT}': joint.effort
                        for joint in moving_joints(robot.urdf)
                        if enforced and joint.effort is not None}
        self.dropped = 0

    def _find(self, name: str, plugin: str) -> Mapping[str, Any]:
        if name not in self._kinds:
            raise InvalidInput(f'controller {name}', limit='is not declared in controllers.yaml')
        if self._kinds[name] != plugin:
            raise InvalidInput(f'type of controller {name}', value=self._kinds[name],
                               limit=f'must be {plugin}')
        return self._tree.get(name, {})

    def _list(self, name: str, parameter: str) -> Sequence[str]:
        value = self._tree.get(name, {}).get(parameter, [])
        return value if isinstance(value, list) else [value]

    def _known(self, joint: str) -> str:
        if joint not in self._robot.joints:
            raise InvalidInput(f'joint {joint}', limit=f'is none of robot {self._robot.name}')
        return joint

    def _forwarder(self, name: str) -> Forwarder:
        parameters = self._find(name, plugins.FORWARD)
        interfaces = tuple(f'{joint}/{parameters.get("interface_name")}'
                           for joint in self._list(name, 'joints'))
        for interface in interfaces:
            if interface not in self._offered['command']:
                raise InvalidInput(f'controller {name}', value=interface, limit='is no command '
                                   'interface of the robot_description: it cannot be activated')
        return Forwarder(interfaces)

    def _multiplier(self, foot: str) -> list[float]:
        parameters = self._find(names.wrench_broadcaster(foot), plugins.WRENCH)
        sensor = f'{parameters.get("sensor_name")}/force.z'
        if sensor not in self._offered['state']:
            raise InvalidInput(f'controller {names.wrench_broadcaster(foot)}', value=sensor,
                               limit='is no state interface of the robot_description: it cannot '
                               'be activated')
        force = parameters.get('multiplier', {}).get('force', {})
        return [float(force.get(axis, 1.0)) for axis in 'xyz']

    # -- states ----------------------------------------------------------------------------------

    def arrange(self, values: np.ndarray) -> np.ndarray:
        """Return positions or velocities of the robot in the broadcaster's order of joints."""
        return values[self._order]

    def multiply(self, foot: int, force: np.ndarray) -> np.ndarray:
        """Return what the broadcaster of a foot makes of its sensor's force, ``(3,)``, N."""
        return self._multipliers[foot] * force

    # -- commands --------------------------------------------------------------------------------

    def receive(self, name: str, data: Sequence[float]) -> bool:
        """Take a message for a command controller; return whether it was not dropped."""
        if not all(map(math.isfinite, data)):
            self.dropped += 1
            return False
        self.forwarders[name].message = tuple(data)
        return True

    def update(self) -> list[str]:
        """Do what one cycle does; return the controllers that were deactivated for failing."""
        failed = []
        for name, forwarder in self.forwarders.items():
            if not forwarder.active or forwarder.message is None:
                continue
            if len(forwarder.message) != len(forwarder.interfaces):
                forwarder.active = False
                failed.append(name)
                continue
            self._values.update(zip(forwarder.interfaces, forwarder.message))
        return failed

    def write(self, effort: np.ndarray, lock: np.ndarray) -> None:
        """Copy what the interfaces hold to a plant's efforts and locks, by name."""
        for i, joint in enumerate(self._robot.actuators):
            interface = f'{joint}/{names.EFFORT}'
            limit = self._limits.get(interface, math.inf)
            effort[i] = min(max(self._values.get(interface, 0.0), -limit), limit)
        for i, each in enumerate(self._robot.locks):
            lock[i] = self._values.get(f'{each.joint}/{names.LOCK}', float(lock[i])) > 0.5
