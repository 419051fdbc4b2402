# SPDX-License-Identifier: Apache-2.0
"""Classes of `Parameters` as ROS parameters: declaration with ranges, reading, changing."""

from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter import Parameter as RosParameter

from walking_control.exceptions import ParameterError
from walking_control.models.robot_file import RobotFile

FROZEN = 'can only change while the controller is unconfigured'
REMEDY = 'deactivate and clean up first'


def frozen_error(node: Node, parameter: Parameter) -> ParameterError | None:
    """Return the error of setting a parameter that is read-only for now, or None."""
    if not (
        node.has_parameter(parameter.name) and node.describe_parameter(parameter.name).read_only
    ):
        return None
    return ParameterError(
        f'parameter {parameter.name}', value=parameter.value, limit=FROZEN, remedy=REMEDY
    )


def freeze(node: Node, name: str, parameter: Parameter, frozen: bool) -> None:
    """Make a declared parameter read-only for now, or changeable again, unless it is live."""
    # the descriptor that rclpy keeps: set_descriptor() would never let go of a read-only one
    node.describe_parameter(name).read_only = frozen and not parameter.live


def declare_section(node: Node, values: Any) -> None:
    """Declare the parameters of a section on a node.

    Args:
        values: Those that serve as defaults, from the robot file.

    Raises:
        ParameterError: A value given from outside has the wrong type or is out of range.
    """
    for name, row in values.rows.items():
        _declare(node, f'{values.section}.{name}', row, getattr(values, name))
    read_section(node, type(values))


def _declare(node: Node, name: str, parameter: Parameter, default: Any) -> None:
    override = node._parameter_overrides.get(name)
    # an empty list in a file of parameters has no type, and comes as no value
    empty = (
        override is not None
        and override.type_ is RosParameter.Type.NOT_SET
        and parameter.type is tuple
    )
    if empty or isinstance(default, tuple):
        default = [] if empty else list(default)
    try:
        node.declare_parameter(name, default, _descriptor(parameter), ignore_override=empty)
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise ParameterError(
            f'parameter {name}',
            value=override.value if override else None,
            limit=parameter.range_text or str(error),
        ) from error


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(
        description=f'{parameter.description} [{parameter.unit}]',
        # integers are accepted for numbers, as in robot files
        dynamic_typing=parameter.type in (float, tuple),
        additional_constraints='' if parameter.live else f'{FROZEN}; {REMEDY}',
    )
    if parameter.minimum is not None and parameter.maximum is not None:
        if parameter.type is float:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=parameter.minimum, to_value=parameter.maximum)
            ]
        elif parameter.type is int:
            descriptor.integer_range = [
                IntegerRange(from_value=int(parameter.minimum), to_value=int(parameter.maximum))
            ]
    return descriptor


def read_section(node: Node, kind: Any) -> Any:
    """Return the values of a section, of a class of `Parameters`, from a node's parameters.

    Raises:
        ParameterError: A value breaks the class's rules.
    """
    return kind.read(
        {name: _plain(node.get_parameter(f'{kind.section}.{name}')) for name in kind.rows}
    )


def _plain(parameter: Parameter) -> Any:
    if parameter.type_ in (RosParameter.Type.DOUBLE_ARRAY, RosParameter.Type.INTEGER_ARRAY):
        return list(parameter.value)
    return parameter.value


class NodeParameters:
    """Parameters of the node itself, declared without a section prefix.

    Args:
        kind: Their class of `Parameters`.
    """

    def __init__(self, node: Node, kind: Any) -> None:
        self._node = node
        self._kind = kind
        for name, row in kind.rows.items():
            _declare(node, name, row, row.default)

    def freeze(self, frozen: bool) -> None:
        """Make those that are not live read-only for now, or changeable again."""
        for name, parameter in self._kind.rows.items():
            freeze(self._node, name, parameter, frozen)

    def read(self) -> Any:
        """Return the validated values."""
        return self._kind.read(
            {name: self._node.get_parameter(name).value for name in self._kind.rows}
        )


class SectionParameters:
    """The sections of a robot file as parameters ``<section>.<name>`` of a node.

    Args:
        kinds: The class of `Parameters` of each section.
        robot_file: The `RobotFile` that gives the defaults.
    """

    def __init__(self, node: Node, kinds: Any, robot_file: RobotFile) -> None:
        self._node = node
        self._kinds = {kind.section: kind for kind in kinds}
        try:
            for kind in kinds:
                declare_section(node, robot_file.values(kind))
            self._refuse_unknown()
        except ParameterError:
            self.undeclare()
            raise

    def _refuse_unknown(self) -> None:
        """Refuse what was given from outside under a known section but is not in its class."""
        for name in self._node._parameter_overrides:
            section, _, leaf = name.rpartition('.')
            if section in self._kinds and leaf not in self._kinds[section].rows:
                self._kinds[section].read({leaf: None})

    def undeclare(self) -> None:
        """Take the parameters back, to declare those of another robot."""
        for section, kind in self._kinds.items():
            for name in kind.rows:
                if self._node.has_parameter(f'{section}.{name}'):
                    self._node.undeclare_parameter(f'{section}.{name}')

    def freeze(self, frozen: bool) -> None:
        """Make those that are not live read-only for now, or changeable again."""
        for section, kind in self._kinds.items():
            for name, parameter in kind.rows.items():
                freeze(self._node, f'{section}.{name}', parameter, frozen)

    def read_into(self, robot_file: RobotFile) -> None:
        """Put the parameters as they are now into a robot file's sections."""
        for section, kind in self._kinds.items():
            robot_file.sections[section] = vars(read_section(self._node, kind))

    def check_changes(self, parameters: Any) -> dict[str, Any]:
        """Return section -> validated values of a set of changes; all or nothing.

        Args:
            parameters: The rclpy parameters to be set.

        Raises:
            ParameterError: A change is out of range or contradictory.
        """
        changes: dict[str, Any] = {}
        for parameter in parameters:
            section, _, name = parameter.name.rpartition('.')
            kind = self._kinds.get(section)
            if kind is not None and name in kind.rows:
                changes.setdefault(section, {})[name] = _plain(parameter)
        for section, values in changes.items():
            kind = self._kinds[section]
            now = {
                name: _plain(self._node.get_parameter(f'{section}.{name}')) for name in kind.rows
            }
            changes[section] = kind.read({**now, **values})
        return changes
