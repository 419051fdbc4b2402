# SPDX-License-Identifier: Apache-2.0
"""Robots by name or file, checked against the parameters of the whole package.

Imports neither laws nor plants nor compilers.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from walking_control.controllers.registry import sections as sections_of_laws
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.gaits.search.parameters import SearchParameters
from walking_control.gaits.search.space_parameters import SpaceSearchParameters
from walking_control.models.parameters import Parameters
from walking_control.models.registry import Chosen
from walking_control.models.robot_file import read_robot_file, RobotFile
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.parameters import (
    CompliantParameters,
    DartParameters,
    MujocoParameters,
    RigidParameters,
)
from walking_control.simulation.registry import REGISTRIES
from walking_control.simulation.sensors import SensorParameters


def load_robot(
    name_or_path: str | Path, overrides: Iterable[tuple[str, Any]] = (), **parameters: Any
) -> RobotFile:
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
    return read_robot_file(name_or_path, pairs, sections)


def sections(names: Mapping[str, list[Any]] = MappingProxyType({})) -> list[type[Parameters]]:
    """Return every section a robot file may have beside its robot and world.

    Args:
        names: Those in it of each ``controller``, ``plant`` and ``section``: what comes from
            outside has its section only where it is named.
    """
    own: list[type[Parameters]] = [
        EstimatorParameters,
        SafetyParameters,
        SensorParameters,
        SearchParameters,
        SpaceSearchParameters,
        *sections_of_laws(),
        DartParameters,
        MujocoParameters,
        RigidParameters,
        CompliantParameters,
    ]
    unknown = set(names.get('section', ())) - {kind.section for kind in own}
    return own + [
        found
        for kind, registry in REGISTRIES.items()
        for found in registry.sections(names.get(kind, []), sorted(unknown))
    ]
