# SPDX-License-Identifier: Apache-2.0
"""Plants by name."""

import contextlib

from walking_control.controllers.registry import parameter_tables as controller_tables
from walking_control.estimation.estimator import ESTIMATOR
from walking_control.exceptions import MissingDependency
from walking_control.gaits.search.task import SEARCH
from walking_control.models.parameters import ParameterTable
from walking_control.models.registry import Registry
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile, WORLD
from walking_control.safety.supervisor import SAFETY
from walking_control.simulation.instrumented import check_delays, InstrumentedPlant
from walking_control.simulation.plant import Plant
from walking_control.simulation.sensors import has_errors, SENSORS

_ROOM = 'walking_control.simulation'
PLANTS = Registry('plant', {
    'dart': f'{_ROOM}.dart.plant:DartPlant',
    'mujoco': f'{_ROOM}.mujoco.plant:MujocoPlant',
    'rigid': f'{_ROOM}.rigid.plant:RigidPlant',
    'compliant': f'{_ROOM}.compliant.plant:CompliantPlant',
})


def make_plant(robot_file: RobotFile, name: str | None = None,
               robot: Robot | None = None) -> Plant:
    """Return the plant of a name, built for a robot file, with its sensors as they are.

    Args:
        robot_file: The `RobotFile`.
        name: Plant; None takes the robot file's default.
        robot: The `Robot` that is really there; None: the one of the file. A controller built for
            the file then knows its robot with an error.

    Raises:
        InvalidInput: Unknown plant, or one that cannot simulate this robot.
    """
    chosen: type[Plant] = PLANTS.find(name or robot_file.plant)
    robot, sensors = robot or robot_file.robot, robot_file.values(SENSORS)
    kind = chosen.kind_for(robot)
    plant = kind(robot, robot_file.values(WORLD), robot_file.values(kind.parameters))
    if not has_errors(sensors):
        return plant
    check_delays(sensors, robot_file.values(SAFETY).state_timeout)
    return InstrumentedPlant(plant, sensors)


def make_fast_plant(robot_file: RobotFile, name: str | None = None,
                    robot: Robot | None = None) -> Plant:
    """Return what `make_plant` does, compiled where that is possible: for many long walks.

    The same to rounding; the first use of a robot's structure compiles for some time.
    """
    from walking_control.simulation.rigid.compiled import compile_plant
    from walking_control.simulation.rigid.plant import RigidPlant
    plant = make_plant(robot_file, name, robot)
    inner = plant.inner if isinstance(plant, InstrumentedPlant) else plant
    if type(inner) is RigidPlant:
        with contextlib.suppress(MissingDependency):
            compile_plant(inner)
    return plant


def parameter_tables() -> list[ParameterTable]:
    """Return every parameter table a robot file may hold a section of."""
    return [ESTIMATOR, SAFETY, SENSORS, SEARCH, *controller_tables(),
            *(plant.parameters for plant in PLANTS.values())]
