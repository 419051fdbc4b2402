# SPDX-License-Identifier: Apache-2.0
"""Plants by name."""

from walking_control.controllers.registry import parameter_tables as controller_tables
from walking_control.estimation.planar import ESTIMATOR
from walking_control.exceptions import IncompatiblePlant, InvalidInput
from walking_control.gaits.search.task import SEARCH
from walking_control.models.robot_file import WORLD
from walking_control.safety.supervisor import SAFETY
from walking_control.simulation.mujoco.plant import MujocoPlant
from walking_control.simulation.mujoco.spatial import SpatialMujocoPlant
from walking_control.simulation.rigid.plant import RigidPlant

PLANTS = {plant.name: plant for plant in (MujocoPlant, RigidPlant)}
SPATIAL = {SpatialMujocoPlant.name: SpatialMujocoPlant}  # what serves robots in space


def find_plant(name):
    """Return the plant class of a name.

    Raises:
        InvalidInput: Unknown; says what is known.
    """
    if name not in PLANTS:
        raise InvalidInput('plant', value=name, limit='unknown',
                           remedy='known: ' + ', '.join(sorted(PLANTS)))
    return PLANTS[name]


def make_plant(robot_file, name=None):
    """Return the plant of a name, built for a robot file.

    Args:
        robot_file: The `RobotFile`.
        name: Plant; None takes the robot file's default.

    Raises:
        InvalidInput: Unknown plant, or one that cannot simulate this robot.
    """
    name = name or robot_file.plant
    plant = find_plant(name)
    if not robot_file.robot.planar:
        if name not in SPATIAL:
            raise IncompatiblePlant(f'plant {name} on {robot_file.robot.name}',
                                    limit='needs a planar robot')
        plant = SPATIAL[name]
    return plant(robot_file.robot, robot_file.values(WORLD), robot_file.values(plant.parameters))


def parameter_tables():
    """Return every parameter table a robot file may hold a section of."""
    return [ESTIMATOR, SAFETY, SEARCH, *controller_tables(),
            *(plant.parameters for plant in PLANTS.values())]
