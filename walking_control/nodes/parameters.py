# SPDX-License-Identifier: Apache-2.0
"""Parameter tables as ROS parameters: declaration with ranges, reading, changing."""

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.parameter import Parameter as RosParameter

from walking_control.exceptions import ParameterError

FROZEN = 'can only change while the controller is unconfigured'
REMEDY = 'deactivate and clean up first'


def frozen_error(node, parameter):
    """Return the error of setting a parameter that is read-only for now, or None."""
    if not (node.has_parameter(parameter.name)
            and node.describe_parameter(parameter.name).read_only):
        return None
    return ParameterError(f'parameter {parameter.name}', value=parameter.value, limit=FROZEN,
                          remedy=REMEDY)


def freeze(node, name, parameter, frozen):
    """Make a declared parameter read-only for now, or changeable again, unless it is live."""
    # the descriptor that rclpy keeps: set_descriptor() would never let go of a read-only one
    node.describe_parameter(name).read_only = frozen and not parameter.live


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
    override = node._parameter_overrides.get(name)
    # an empty list in a file of parameters has no type, and comes as no value
    empty = override is not None and override.type_ is RosParameter.Type.NOT_SET \
        and parameter.type is tuple
    if empty or isinstance(default, tuple):
        default = [] if empty else list(default)
    try:
        node.declare_parameter(name, default, _descriptor(parameter), ignore_override=empty)
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise ParameterError(f'parameter {name}', value=override.value if override else None,
                             limit=parameter.range_text or str(error)) from error


def _descriptor(parameter):
    descriptor = ParameterDescriptor(
        description=f'{parameter.description} [{parameter.unit}]',
        # integers are accepted for numbers, as in robot files
        dynamic_typing=parameter.type in (float, tuple),
        additional_constraints='' if parameter.live else f'{FROZEN}; {REMEDY}')
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

    def freeze(self, frozen):
        """Make those that are not live read-only for now, or changeable again."""
        for name, parameter in self._table.parameters.items():
            freeze(self._node, name, parameter, frozen)

    def read(self):
        """Return the validated values."""
        return self._table.validate({
            name: self._node.get_parameter(name).value for name in self._table.parameters})


class SectionParameters:
    """The sections of a robot file as parameters ``<section>.<name>`` of a node.

    Args:
        node: The rclpy node.
        tables: The `ParameterTable` of each section.
        robot_file: The `RobotFile` that gives the defaults.
    """

    def __init__(self, node, tables, robot_file):
        self._node = node
        self._tables = {table.section: table for table in tables}
        try:
            for table in tables:
                declare_table(node, table, robot_file.values(table))
            self._refuse_unknown()
        except ParameterError:
            self.undeclare()
            raise

    def _refuse_unknown(self):
        """Refuse what was given from outside under a known section but is not in its table."""
        for name in self._node._parameter_overrides:
            section, _, leaf = name.rpartition('.')
            if section in self._tables and leaf not in self._tables[section].parameters:
                self._tables[section].validate({leaf: None})

    def undeclare(self):
        """Take the parameters back, to declare those of another robot."""
        for section, table in self._tables.items():
            for name in table.parameters:
                if self._node.has_parameter(f'{section}.{name}'):
                    self._node.undeclare_parameter(f'{section}.{name}')

    def freeze(self, frozen):
        """Make those that are not live read-only for now, or changeable again."""
        for section, table in self._tables.items():
            for name, parameter in table.parameters.items():
                freeze(self._node, f'{section}.{name}', parameter, frozen)

    def read_into(self, robot_file):
        """Put the parameters as they are now into a robot file's sections."""
        for section, table in self._tables.items():
            robot_file.sections[section] = vars(read_table(self._node, table))

    def check_changes(self, parameters):
        """Return section -> validated values of a set of changes; all or nothing.

        Args:
            parameters: The rclpy parameters to be set.

        Raises:
            ParameterError: A change is out of range or contradictory.
        """
        changes = {}
        for parameter in parameters:
            section, _, name = parameter.name.rpartition('.')
            table = self._tables.get(section)
            known = table is not None and name in table.parameters
            if known:
                changes.setdefault(section, {})[name] = _plain(parameter)
        for section, values in changes.items():
            table = self._tables[section]
            now = {name: _plain(self._node.get_parameter(f'{section}.{name}'))
                   for name in table.parameters}
            changes[section] = table.validate({**now, **values})
        return changes
