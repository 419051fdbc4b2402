"""The rigid plant with a share of the world's gravity; laws still reckon with all of it."""

from types import SimpleNamespace

from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.simulation.rigid.plant import RIGID, RigidPlant


class Moon(RigidPlant):
    """A planar robot under less gravity than its law believes."""

    name = 'moon'
    parameters = ParameterTable('moon', [
        Parameter('share', 0.9, '1', "Share of the world's gravity.", 0.1, 1.0)])

    def __init__(self, robot, world, values):
        less = SimpleNamespace(**{**vars(world), 'gravity': values.share * world.gravity})
        super().__init__(robot, less, RIGID.validate({}))

    @classmethod
    def kind_for(cls, robot):
        return cls
