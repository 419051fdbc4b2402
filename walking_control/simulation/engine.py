# SPDX-License-Identifier: Apache-2.0
"""What plants share that an engine with contacts and a fixed step of the physics advances."""

from abc import abstractmethod
import math

import numpy as np

from walking_control.exceptions import IncompatiblePlant, InvalidInput
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics
from walking_control.models.floor import read_profile, STEEPEST
from walking_control.models.robot import Robot, Start
from walking_control.models.robot_file import World
from walking_control.models.signals import Command
from walking_control.simulation.disturbance import (
    Disturbance,
    How,
    PLAIN,
    require_even,
    require_plain,
)
from walking_control.simulation.inertial import InertialUnit
from walking_control.simulation.levels import LATEST, Levels
from walking_control.simulation.parameters import EngineParameters
from walking_control.simulation.plant import Plant, Truth
from walking_control.simulation.pushes import make_push, Pushes, Touchdowns
from walking_control.simulation.terrain import Change, lay_floor, lay_profile, Piece

DISTURBANCES = ('step_down', 'step_up', 'push')
IN_SPACE = (*DISTURBANCES, 'side_push', 'slope_change')   # to robots with a free base
SCUFF_DEPTH = 0.001   # m: a foot ahead of the other that is deeper under a step up has tripped
FAR = 10.0            # m: feet higher than this count as that high


class EnginePlant(Plant):
    """A plant on an engine: clock, efforts, disturbances; see `simulation.plant.Plant`.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: Of the class `parameters`.

    Raises:
        IncompatiblePlant: The robot has efforts that no engine offers.
    """

    def __init__(self, robot: Robot, world: World, values: EngineParameters) -> None:
        if robot.servos or robot.virtual_efforts:
            raise IncompatiblePlant(f'plant {self.name} on {robot.name}',
                                    value=', '.join((*robot.servos, *robot.virtual_efforts)),
                                    limit='offered by plant rigid alone')
        self.robot, self.world, self._values = robot, world, values
        self.resolution = values.timestep
        self._profile = read_profile(world)
        self._changes: list[Change] = []
        self._motors = list(robot.actuators.values())
        self._prepare()
        self._dynamics = Dynamics(robot, world.gravity, world.slope)
        self._imu = InertialUnit(self._dynamics, world.slope)
        self.truth = Truth(robot)
        self._levels = Levels(SCUFF_DEPTH)
        self._pushes: list[tuple[int, float]] = []   # (step, impulse), still to come
        self._planned_pushes: list[tuple[int, float]] = []
        self._pushes_in_space = Pushes(len(robot.feet), self._dynamics.weight, values.timestep)
        self.disturbances: list[Disturbance] = []
        self._begin()

    @abstractmethod
    def _prepare(self) -> None:
        """Build the engine's model of the robot and the floor as it is planned."""

    @abstractmethod
    def _find_body(self, link: str) -> int:
        """Return the engine's index of a link, below 0 of what is none."""

    def _lay_pieces(self) -> list[Piece]:
        """Return the boxes of one floor for all; none where each foot has a plane of its own."""
        if self._profile is not None:
            return lay_profile(self._profile)
        return lay_floor(self._changes) if self._changes else []

    @property
    def touchdowns(self) -> Touchdowns:
        """The touchdowns of this run, by which pushes in space are timed."""
        return self._pushes_in_space.touchdowns

    def _begin(self) -> None:
        """Begin a run at time zero; all that is planned is still to come."""
        truth = self.truth
        self.time, self._steps = 0.0, 0
        self._pushes = sorted(self._planned_pushes)
        self._pushes_in_space.reset()
        truth.trip, truth.electrical_energy = None, 0.0
        truth.work[:] = 0.0

    def _start_state(self, start: Start) -> tuple[np.ndarray, np.ndarray]:
        """Return generalised coordinates and velocities of a `Start`; the floors are level."""
        dynamics = self._dynamics
        if self._levels.planned:
            self._levels.reset(self.robot.feet.index(start.support))
        if start.posture is None:
            return dynamics.base_from_coordinates(start.support, start.q, start.v)
        # at rest, the base upright, the lowest foot on the floor
        q = dynamics.configuration(start.posture)
        dynamics.place(q)
        q[len(self.robot.base.axes) - 1] = -min(dynamics.foot_position(foot)[2]
                                                for foot in self.robot.feet)
        return q, np.zeros(dynamics.nv)

    def _count_steps(self, duration: float) -> int:
        """Return how many steps of the physics a duration in s has."""
        timestep = self._values.timestep
        steps = round(duration / timestep)
        if steps < 1 or not math.isclose(steps * timestep, duration, rel_tol=1e-6):
            raise InvalidInput('duration of a tick', value=duration,
                               limit=f'must be a multiple of {self.name}.timestep '
                               f'({timestep:g} s)',
                               remedy=f'change {self.name}.timestep or the rate')
        return steps

    def _begin_pushes(self) -> bool:
        """Push at once what is due; return whether forces are to be applied in space."""
        while self._pushes and self._levels.steps >= self._pushes[0][0]:
            self.push(self._pushes.pop(0)[1])
        if self._pushes_in_space.are_over:
            return False
        rotation = self.truth.base.rotation
        yaw = math.atan2(rotation[1, 0], rotation[0, 0])
        for impulse, direction in self._pushes_in_space.begin(self.time, yaw):
            self.push(impulse, direction)
        return True

    def _supply(self, command: Command, efforts: list[float], rates: list[float]) -> None:
        """Limit efforts to what the supply voltages cause at the joints' rates, in place."""
        for i, motor in enumerate(self._motors):
            if motor.supply_voltage > 0.0:
                efforts[i] = motor.supplied(float(command.effort[i]), rates[i],
                                            self._values.timestep)

    def _account(self, efforts: list[float], before: list[float], after: list[float]) -> None:
        """Add the work of one physics step; no energy flows back to the supply."""
        power, dt = 0.0, self._values.timestep
        for i, effort in enumerate(efforts):
            velocity = 0.5 * (before[i] + after[i])
            self.truth.work[i] += effort * velocity * dt
            power += self._motors[i].electrical_power(effort, velocity)
        self.truth.electrical_energy += max(0.0, power) * dt

    def _follow(self, places: list[float], heights: list[float]) -> None:
        """Bring the floor of each foot to its level, see `Levels`.

        Args:
            places: Of the feet along the floor, m.
            heights: Of their lowest points over their floors, m.
        """
        levels = self._levels
        depth = levels.follow(places, [float(a + b) for a, b in zip(heights, levels.heights)])
        if depth > 0.0 and self.truth.trip is None:
            self.truth.trip = f'a foot tripped: {1000.0 * depth:.3g} mm under a step up where it ' \
                f'passes the stance foot; limit {1000.0 * SCUFF_DEPTH:.3g} mm'

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance; see `Plant.disturb`.

        Pushes of robots in space that are still to come act in a run under way, too.
        """
        robot, space, plant = self.robot, self.robot.base is Base.FREE, f'plant {self.name}'
        offered = IN_SPACE if space else DISTURBANCES
        if kind not in offered or self.robot.base is Base.TRANSLATING or len(robot.feet) != 2:
            raise InvalidInput('disturbance', value=kind, limit=f'is not offered by {plant} on '
                               f'{robot.name}', remedy='it offers ' + ', '.join(DISTURBANCES)
                               + ' to planar robots on two feet, ' + ', '.join(IN_SPACE[3:])
                               + ' besides to those in space; or choose plant rigid')
        if not space:
            require_plain(how, f'{plant} on {robot.name}')
        if how.time is None and how.place is None and not 1 <= step <= LATEST - 2:
            raise InvalidInput('step of the disturbance', value=step,
                               limit=f'must be 1 to {LATEST - 2}')
        if not math.isfinite(size):
            raise InvalidInput('size of the disturbance', value=size, limit='must be finite')
        require_even(self.world, kind)
        if kind in ('push', 'side_push') and space:
            turn = 0.5 * math.pi if kind == 'side_push' else 0.0
            self._pushes_in_space.plan(make_push(
                robot, self._find_body, self._values.timestep, size * self._dynamics.mass, step,
                how._replace(direction=how.direction + turn)))
        elif kind == 'push':
            self._planned_pushes.append((step, size * self._dynamics.mass))
            self._levels.plan(0.0, step)
        elif space and (how != PLAIN or kind == 'slope_change'):
            self._plan_change(kind, size, how)
        else:
            self._levels.plan({'step_down': size, 'step_up': -size}[kind], step)
        if self._changes and self._levels.planned:
            raise InvalidInput('disturbance', value=kind, limit='steps at touchdowns and changes '
                               'of the floor at places do not mix', remedy='give all with @...m')
        self.disturbances.append(Disturbance(kind, size, step, how))

    def _plan_change(self, kind: str, size: float, how: How) -> None:
        if how.place is None or how != PLAIN._replace(place=how.place):
            raise InvalidInput('disturbance', value=kind, limit='floors in space change at a '
                               'touchdown (steps alone) or at a place, and nothing else is asked',
                               remedy=f'for example {kind}=0.05@2m')
        drops = {'step_down': size, 'step_up': -size, 'slope_change': 0.0}
        tilt = size if kind == 'slope_change' else 0.0
        if abs(sum(change.tilt for change in self._changes) + tilt) > STEEPEST:
            raise InvalidInput('slope_change', value=size, limit='floors lean by at most '
                               f'{STEEPEST:g} rad')
        self._changes.append(Change(how.place, drops[kind], tilt))
        self._prepare()
