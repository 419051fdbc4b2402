# SPDX-License-Identifier: Apache-2.0
"""Plants by name."""

from walking_control.controllers.registry import parameter_tables as controller_tables
from walking_control.estimation.planar import ESTIMATOR
from walking_control.exceptions import IncompatiblePlant
from walking_control.gaits.search.task import SEARCH
from walking_control.models.registry import Registry
from walking_control.models.robot_file import WORLD
from walking_control.safety.supervisor import SAFETY
from walking_control.simulation.mujoco.spatial import SpatialMujocoPlant

_ROOM = 'walking_control.simulation'
PLANTS = Registry('plant', {
    'mujoco': f'{_ROOM}.mujoco.plant:MujocoPlant',
    'rigid': f'{_ROOM}.rigid.plant:RigidPlant',
})
SPATIAL = {SpatialMujocoPlant.name: SpatialMujocoPlant}  # what serves robots in space


def make_plant(robot_file, name=None):
    """Return the plant of a name, built for a robot file.

    Args:
        robot_file: The `RobotFile`.
        name: Plant; None takes the robot file's default.

    Raises:
        InvalidInput: Unknown plant, or one that cannot simulate this robot.
    """
    name = name or robot_file.plant
    plant = PLANTS.find(name)
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
