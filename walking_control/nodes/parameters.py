# SPDX-License-Identifier: Apache-2.0
"""Parameter tables as ROS parameters: declaration with ranges, reading, changing."""

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.parameter import Parameter as RosParameter

from walking_control.exceptions import ParameterError


def declare_table(node, table, values):
    """Declare the parameters of a table on a node.

    Args:
        node: The rclpy node.
        table: The `ParameterTable`.
        values: Validated values that serve as defaults, from the robot file.

    Raises:
        ParameterError: A value given from outside has the wrong type or is out of range.
    """
    for parameter in table.parameters.values():
        _declare(node, f'{table.section}.{parameter.name}', parameter,
                 getattr(values, parameter.name))
    read_table(node, table)


def _declare(node, name, parameter, default):
    try:
        node.declare_parameter(name, list(default) if isinstance(default, tuple) else default,
                               _descriptor(parameter))
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        override = node._parameter_overrides.get(name)
        raise ParameterError(f'parameter {name}', value=override.value if override else None,
                             limit=parameter.range_text or str(error)) from error


def _descriptor(parameter):
    descriptor = ParameterDescriptor(
        description=f'{parameter.description} [{parameter.unit}]',
        # integers are accepted for numbers, as in robot files
        dynamic_typing=parameter.type in (float, tuple),
        additional_constraints='' if parameter.live else 'not while active')
    if parameter.minimum is not None and parameter.maximum is not None:
        if parameter.type is float:
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=parameter.minimum, to_value=parameter.maximum)]
        elif parameter.type is int:
            descriptor.integer_range = [IntegerRange(
                from_value=int(parameter.minimum), to_value=int(parameter.maximum))]
    return descriptor


def read_table(node, table):
    """Return the validated values of a table from a node's parameters.

    Raises:
        ParameterError: A value breaks the table's rules.
    """
    return table.validate({
        name: _plain(node.get_parameter(f'{table.section}.{name}')) for name in table.parameters})


def _plain(parameter):
    if parameter.type_ in (RosParameter.Type.DOUBLE_ARRAY, RosParameter.Type.INTEGER_ARRAY):
        return list(parameter.value)
    return parameter.value


class NodeParameters:
    """Parameters of the node itself, declared without a section prefix.

    Args:
        node: The rclpy node.
        table: Their `ParameterTable`.
    """

    def __init__(self, node, table):
        self._node = node
        self._table = table
        for parameter in table.parameters.values():
            _declare(node, parameter.name, parameter, parameter.default)

    def read(self):
        """Return the validated values."""
        return self._table.validate({
            name: self._node.get_parameter(name).value for name in self._table.parameters})

    def check_changes(self, parameters, tables, active):
        """Return section -> {name: value} of a set of changes, all or nothing.

        Args:
            parameters: The rclpy parameters to be set.
            tables: The tables they may belong to.
            active: Whether the node is active, so that only live parameters may change.

        Raises:
            ParameterError: A change is out of range, contradictory, or not possible now.
        """
        by_section = {table.section: table for table in tables}
        changes = {}
        for parameter in parameters:
            section, _, name = parameter.name.rpartition('.')
            table = by_section.get(section)
            if table is None or name not in table.parameters:
                continue
            if active and not table.parameters[name].live:
                raise ParameterError(f'parameter {parameter.name}', value=parameter.value,
                                     limit='cannot change while the controller is active',
                                     remedy='deactivate and clean up first')
            changes.setdefault(section, {})[name] = _plain(parameter)
        for section, values in changes.items():
            table = by_section[section]
            now = {name: _plain(self._node.get_parameter(f'{section}.{name}'))
                   for name in table.parameters}
            validated = table.validate({**now, **values})
            changes[section] = {name: getattr(validated, name) for name in values}
        return changes
