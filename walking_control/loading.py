# SPDX-License-Identifier: Apache-2.0
"""Robots by name or file, checked against the parameters of the whole package.

Imports neither laws nor plants nor compilers; sections of a robot file know by name alone where
their parameters stand.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from walking_control.controllers.registry import CONTROLLERS
from walking_control.models import Parameters, RobotFile
from walking_control.models.registry import Chosen, Registry
from walking_control.models.robot_file import read_robot_file

_PLANTS = 'walking_control.simulation'
PLANTS = Registry(
    'plant',
    {
        'dart': f'{_PLANTS}.dart.engine:DartEngine',
        'mujoco': f'{_PLANTS}.mujoco.engine:MujocoEngine',
        'rigid': f'{_PLANTS}.rigid.engine:RigidEngine',
        'compliant': f'{_PLANTS}.compliant.engine:CompliantEngine',
    },
    'walking_control.plants',
    f'{_PLANTS}.engine:Engine',
)
REGISTRIES = {'controller': CONTROLLERS, 'plant': PLANTS}  # by the key of robot files

# every section a robot file may have beside its robot and world, and where its parameters stand
_LAWS = 'walking_control.controllers'
SECTIONS = Registry(
    'section',
    {
        'estimator': 'walking_control.estimation.parameters:EstimatorParameters',
        'safety': 'walking_control.safety.parameters:SafetyParameters',
        'sensors': f'{_PLANTS}.sensors:SensorParameters',
        'search': 'walking_control.search.parameters:SearchParameters',
        'space_search': 'walking_control.search.space_parameters:SpaceSearchParameters',
        'curve_tracking': f'{_LAWS}.curve_tracking.parameters:CurveTrackingParameters',
        'foot_placement': f'{_LAWS}.foot_placement.parameters:FootPlacementParameters',
        'hip_pd': f'{_LAWS}.parameters:HipPdParameters',
        'hip_stop': f'{_LAWS}.parameters:HipStopParameters',
        'hip_switching': f'{_LAWS}.parameters:HipSwitchingParameters',
        'natural_walking': f'{_LAWS}.natural_walking.parameters:NaturalWalkingParameters',
        'none': f'{_LAWS}.parameters:NoControlParameters',
        'policy': f'{_LAWS}.policy.parameters:PolicyParameters',
        'push_off': f'{_LAWS}.foot_placement.parameters:PushOffParameters',
        'static_torque': f'{_LAWS}.static_torque.parameters:StaticTorqueParameters',
        'stepping': f'{_LAWS}.stepping.parameters:SteppingParameters',
        'time_pd': f'{_LAWS}.parameters:TimePdParameters',
        'dart': f'{_PLANTS}.parameters:DartParameters',
        'mujoco': f'{_PLANTS}.parameters:MujocoParameters',
        'rigid': f'{_PLANTS}.parameters:RigidParameters',
        'compliant': f'{_PLANTS}.parameters:CompliantParameters',
    },
)


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
    return read_robot_file(name_or_path, pairs, SECTIONS, _from_outside)


def _from_outside(names: Mapping[str, list[Any]]) -> dict[str, type[Parameters]]:
    """Return the sections of what comes from outside: it has one only where it is named.

    Args:
        names: Those in a file of each ``controller``, ``plant`` and ``section``.
    """
    unknown = sorted(set(names['section']) - set(SECTIONS))
    return {
        found.section: found
        for kind, registry in REGISTRIES.items()
        for found in registry.sections(names[kind], unknown)
    }
