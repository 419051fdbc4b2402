"""A spring that pulls the swing leg ahead, on robots with one motor, at the hip."""

from walking_control import (
    Command,
    Controller,
    LawParameters,
    parameter,
    Reference,
    RobotFile,
    WalkerState,
)
from walking_control.controllers.hip_switching import find_hip
from walking_control.controllers.knee_locks import KneeLocks


class StiffHipParameters(LawParameters, section='stiff_hip'):
    """Of the spring."""

    rate: float = parameter(200.0, 'Hz', 'Rate of the control law.', 10.0, 2000.0)
    stiffness: float = parameter(8.0, 'N m/rad', 'Stiffness of the spring.', 0.0, 1e3, live=True)
    angle: float = parameter(0.35, 'rad', 'Hip angle at rest.', 0.0, 1.0, live=True)


class StiffHip(Controller):
    """Efforts in N m, proportional to the hip's distance from an angle ahead of the stance leg."""

    name = 'stiff_hip'
    parameters = StiffHipParameters
    values: StiffHipParameters

    def __init__(self, robot_file: RobotFile, values: StiffHipParameters) -> None:
        robot = robot_file.robot
        joint, self._hip = find_hip(robot, self.name)
        self._signs = [robot.supports[foot][self._hip, 1 + joint] for foot in robot.feet]
        self._locks = KneeLocks(robot, 0.05)
        self.values = values

    def reset(self, state: WalkerState) -> None:
        self._locks.reset()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        lead = self.values.angle - state.coordinates[self._hip]
        command.effort[:] = 0.0
        command.effort[0] = self._signs[state.support] * self.values.stiffness * lead
        self._locks.update(state, command)
