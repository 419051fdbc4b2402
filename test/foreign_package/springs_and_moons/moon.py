"""The rigid plant with a share of the world's gravity; laws still reckon with all of it."""

from dataclasses import replace

from walking_control import Engine, parameter, Parameters, Robot
from walking_control.models.robot_file import World
from walking_control.simulation.parameters import RigidParameters
from walking_control.simulation.rigid.engine import RigidEngine


class MoonParameters(Parameters, section='moon'):
    """Of the moon."""

    share: float = parameter(0.9, '1', "Share of the world's gravity.", 0.1, 1.0)


class Moon(RigidEngine):
    """A planar robot under less gravity than its law believes."""

    name = 'moon'
    parameters = MoonParameters

    def __init__(self, robot: Robot, world: World, values: MoonParameters) -> None:
        less = replace(world, gravity=values.share * world.gravity)
        super().__init__(robot, less, RigidParameters())

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Engine]:
        return cls
