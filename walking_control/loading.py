# SPDX-License-Identifier: Apache-2.0
"""Robots by name or file, checked against every parameter table of the package."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from walking_control.models.registry import Chosen
from walking_control.models.robot_file import read_robot_file, RobotFile
from walking_control.simulation.registry import parameter_tables, REGISTRIES


def load_robot(name_or_path: str | Path, overrides: Iterable[tuple[str, Any]] = (),
               **parameters: Any) -> RobotFile:
    """Return the `RobotFile` of a robot; every section of it is validated.

    Args:
        name_or_path: Name of a shipped robot or path of a robot file.
        overrides: Pairs (name, value) of parameters of robot, world, controller, plant, ...; the
            name is a dotted path or its end. A controller or plant is a name, ``module:Class``, a
            class, or a class with parameters such as ``HipSpring(stiffness=8.0)``.
        **parameters: Overrides by the end of their names, such as ``set_point=0.35``.

    Raises:
        InvalidInput: The file, its URDF or an override is unusable; carries all that was found.
    """
    pairs = []
    for name, value in (*overrides, *parameters.items()):
        given: list[tuple[str, Any]] = []
        if name in REGISTRIES and isinstance(value, (type, Chosen)):
            value, given = REGISTRIES[name].choose(value)
        pairs += [(name, value), *given]
    return read_robot_file(name_or_path, pairs, parameter_tables)
