# SPDX-License-Identifier: Apache-2.0
"""Plants by name."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from walking_control.exceptions import MissingDependency
from walking_control.loading import PLANTS
from walking_control.models import Choice, Robot, RobotFile, World
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.sensors import has_errors, SensorParameters

if TYPE_CHECKING:
    from walking_control.simulation.engine import Engine
    from walking_control.simulation.plant import Plant


def make_plant(robot_file: RobotFile, name: Choice = None, robot: Robot | None = None) -> Plant:
    """Return a plant, built for a robot file, with its sensors as they are.

    Args:
        robot_file: The `RobotFile`.
        name: Name, ``module:Class``, class or class with parameters; None takes the robot file's
            default.
        robot: The `Robot` that is really there; None: the one of the file. A controller built for
            the file then knows its robot with an error.

    Raises:
        InvalidInput: Unknown plant, or one that cannot simulate this robot.
    """
    from walking_control.simulation.plant import Plant
    from walking_control.simulation.wires import check_delays

    robot_file, name = robot_file.choose(PLANTS, name)
    chosen: type[Engine] = PLANTS.find(name or robot_file.plant)
    robot, sensors = robot or robot_file.robot, robot_file.values(SensorParameters)
    kind = chosen.kind_for(robot)
    engine = kind(robot, robot_file.values(World), robot_file.values(kind.parameters))
    rows = robot.signals.values()
    if not has_errors(sensors) and not any(row.values.noise or row.values.delay for row in rows):
        return Plant(engine)
    check_delays(sensors, robot_file.values(SafetyParameters).state_timeout)
    return Plant(engine, sensors)


def make_fast_plant(
    robot_file: RobotFile, name: Choice = None, robot: Robot | None = None
) -> Plant:
    """Return what `make_plant` does, compiled where that is possible: for many long walks.

    The same to rounding; the first use of a robot's structure compiles for some time.

    Args:
        robot_file: The `RobotFile`.
        name: Of the plant, ``module:Class`` or class; None takes the file's own.
        robot: The `Robot` that is really there; None: that of the file.
    """
    from walking_control.simulation.rigid.compiled import compile_engine
    from walking_control.simulation.rigid.engine import RigidEngine

    plant = make_plant(robot_file, name, robot)
    if type(plant.engine) is RigidEngine:
        with contextlib.suppress(MissingDependency):
            compile_engine(plant.engine)
    return plant
