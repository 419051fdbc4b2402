# SPDX-License-Identifier: Apache-2.0
"""Classes of `Parameters` as ROS parameters: declaration with ranges, reading, changing."""

from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from walking_control.exceptions import ParameterError, refusing
from walking_control.models.robot_file import RobotFile

FROZEN = 'can only change while the controller is unconfigured'
REMEDY = 'deactivate and clean up first'
OWN = 'node'  # section of the parameters of a node itself


def frozen_error(node: Node, parameter: Parameter) -> ParameterError | None:
    """Return the error of setting a parameter that is read-only for now, or None."""
    if not (
        node.has_parameter(parameter.name) and node.describe_parameter(parameter.name).read_only
    ):
        return None
    return ParameterError(
        f'parameter {parameter.name}', value=parameter.value, limit=FROZEN, remedy=REMEDY
    )


def _declare(node: Node, name: str, parameter: Parameter, default: Any) -> None:
    override = node._parameter_overrides.get(name)
    # an empty list in a file of parameters has no type, and comes as no value
    empty = (
        override is not None
        and override.type_ is Parameter.Type.NOT_SET
        and parameter.type is tuple
    )
    if empty or isinstance(default, tuple):
        default = [] if empty else list(default)
    with refusing(
        (InvalidParameterTypeException, InvalidParameterValueException),
        f'parameter {name}',
        value=override.value if override else None,
        limit=parameter.range_text or '{error}',
        error=ParameterError,
    ):
        node.declare_parameter(name, default, _descriptor(parameter), ignore_override=empty)


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


def _plain(parameter: Parameter) -> Any:
    if parameter.type_ in (Parameter.Type.DOUBLE_ARRAY, Parameter.Type.INTEGER_ARRAY):
        return list(parameter.value)
    return parameter.value


class Section:
    """Values of a class of `Parameters` as parameters of a node.

    They are called ``<section>.<name>``, those of the node itself ``<name>``.

    Args:
        values: Those that serve as defaults.

    Raises:
        ParameterError: A value given from outside has the wrong type, is out of range or breaks
            the class's rules.
    """

    def __init__(self, node: Node, values: Any) -> None:
        self._node, self.kind = node, type(values)
        self._prefix = '' if values.section == OWN else f'{values.section}.'
        try:
            for name, row in values.rows.items():
                _declare(node, self._prefix + name, row, getattr(values, name))
            self.read()
        except ParameterError:
            self.undeclare()
            raise

    def read(self, **changes: Any) -> Any:
        """Return the validated values as they are now, some of them changed."""
        now = {
            name: _plain(self._node.get_parameter(self._prefix + name)) for name in self.kind.rows
        }
        return self.kind.read({**now, **changes})

    def freeze(self, frozen: bool) -> None:
        """Make those that are not live read-only for now, or changeable again."""
        for name, row in self.kind.rows.items():
            # the descriptor that rclpy keeps: set_descriptor() would never let go of it
            descriptor = self._node.describe_parameter(self._prefix + name)
            descriptor.read_only = frozen and not row.live

    def undeclare(self) -> None:
        """Take the parameters back."""
        for name in map(self._prefix.__add__, self.kind.rows):
            if self._node.has_parameter(name):
                self._node.undeclare_parameter(name)


def own_parameters(node: Node, kind: Any) -> Section:
    """Declare the parameters of the node itself, without a prefix."""
    return Section(node, kind.read())


class SectionParameters:
    """The sections of a robot file as parameters of a node.

    Args:
        kinds: The class of `Parameters` of each section.
        robot_file: The `RobotFile` that gives the defaults.
    """

    def __init__(self, node: Node, kinds: Any, robot_file: RobotFile) -> None:
        self._node = node
        self._sections: dict[str, Section] = {}
        try:
            for kind in kinds:
                self._sections[kind.section] = Section(node, robot_file.values(kind))
            for name in node._parameter_overrides:  # given from outside
                section, _, leaf = name.rpartition('.')
                if section in self._sections and leaf not in self._sections[section].kind.rows:
                    self._sections[section].kind.read({leaf: None})
        except ParameterError:
            self.undeclare()
            raise

    def undeclare(self) -> None:
        """Take the parameters back, to declare those of another robot."""
        for section in self._sections.values():
            section.undeclare()

    def freeze(self, frozen: bool) -> None:
        """Make those that are not live read-only for now, or changeable again."""
        for section in self._sections.values():
            section.freeze(frozen)

    def read_into(self, robot_file: RobotFile) -> None:
        """Put the parameters as they are now into a robot file's sections."""
        robot_file.sections.update(
            {name: vars(section.read()) for name, section in self._sections.items()}
        )

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
            if section in self._sections and name in self._sections[section].kind.rows:
                changes.setdefault(section, {})[name] = _plain(parameter)
        return {
            section: self._sections[section].read(**values) for section, values in changes.items()
        }
