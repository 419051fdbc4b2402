# SPDX-License-Identifier: Apache-2.0
"""The robot and its world, advanced by commands: around every engine the same plant."""

from collections.abc import Mapping
import math
from types import MappingProxyType
from typing import Any

import numpy as np

from walking_control.exceptions import IncompatiblePlant, InvalidInput, require, require_known
from walking_control.models import (
    Command,
    drive_kinds,
    Drives,
    IMU,
    lagging,
    Measurement,
    Robot,
    Sensor,
    sensors_of,
    Start,
)
from walking_control.models.floor import STEEPEST
from walking_control.simulation.disturbance import (
    along_floor,
    Disturbance,
    How,
    LARGEST,
    make_push,
    PLAIN,
    Pushes,
    Touchdowns,
)
from walking_control.simulation.engine import Engine, Feature, Forces, REMEDIES, Truth
from walking_control.simulation.sensors import InertialUnit, SensorParameters
from walking_control.simulation.wires import Wires

__all__ = ['Plant', 'Truth']
PUSHES = ('push', 'side_push')
KINDS = ('step_down', 'step_up', 'slope_change', *PUSHES)
DRIVEN = 0.01  # s: the period that nothing depends on but what commands leave open
ALONG = 1e-9  # sine of a direction that is along the walk


class Plant:
    """A robot on its floor: clock, supply, pushes, floors, sensors, wires and books.

    What moves the robot is its `Engine`; everything else is here, once for all engines.

    Args:
        engine: The `Engine`, which knows robot and world.
        sensors: `SensorParameters`; None: ideal sensors and wires.

    Attributes:
        engine: As given.
        name: On the command line and in robot files. robot, world: Of the engine.
        truth: The `Truth`, updated by `reset`, `step` and `push`.
        touchdowns: The `Touchdowns` of this run.
        disturbances: Every `Disturbance` planned so far.
        sensors: name -> value of `SensorParameters` where they are not perfect.

    Raises:
        IncompatiblePlant: The world's floor is uneven, or a motor has backlash, and the engine has
            none such.
    """

    def __init__(self, engine: Engine, sensors: SensorParameters | None = None) -> None:
        self.engine, self.name = engine, engine.name
        self.robot: Robot = engine.robot
        self.world = engine.world
        if self.world.floor_places:
            self._require(Feature.UNEVEN, 'world.floor_heights')
        require(
            engine.has_backlash or not any(each.backlash for each in self.robot.actuators.values()),
            f'backlash of {self.robot.name} on plant {self.name}',
            limit='its joints have no play',
            remedy='take plant mujoco, or leave backlash away',
            error=IncompatiblePlant,
        )
        self.truth = Truth(self.robot)
        self.disturbances: list[Disturbance] = []
        self._motors = list(self.robot.actuators.values())
        self._is_supplied = any(motor.supply_voltage > 0.0 for motor in self._motors)
        self._imus = {
            sensor.name: InertialUnit(engine.dynamics, self.world.slope, sensor.frame)
            for sensor in sensors_of(self.robot)
            if sensor.kind == IMU
        }
        self._own = [
            (signal.row, self.robot.signals[signal.row], sensor)
            for sensor in sensors_of(self.robot)
            for signal in sensor.signals
            if signal.row
        ]
        # efforts on the robot now, and what motors that lag have come to
        self.held, self._reached, self._lags = np.zeros((3, len(self.robot.efforts)))
        self._lags[: len(self._motors)] = [motor.torque_lag for motor in self._motors]
        self.drives = Drives(self.robot, DRIVEN)
        # of each effort: what its drive makes, when it samples next, and how often
        self._driven, self._due, self._sampling = np.zeros((3, len(self.robot.efforts)))
        self._sampling[: len(self._motors)] = [
            0.0 if drive_kinds.KINDS[motor.drive].is_plain else 1.0 / motor.drive_rate
            for motor in self._motors
        ]
        self.touchdowns = Touchdowns(len(self.robot.feet), engine.dynamics.weight)
        self._pushes = Pushes(self.touchdowns)
        self._wires = None if sensors is None else Wires(self.robot, sensors, engine.resolution)
        self.sensors: Mapping[str, Any] = (
            MappingProxyType({}) if self._wires is None else self._wires.errors
        )

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.engine.time

    @property
    def resolution(self) -> float:
        """Durations of steps are whole multiples of this, s; 0: any will do."""
        return self.engine.resolution

    @property
    def lost(self) -> bool:
        """Whether the newest measurement never arrives, and nothing answers it."""
        return self._wires is not None and self._wires.lost

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero; nothing is under way."""
        truth = self.truth
        truth.trip, truth.electrical_energy = None, 0.0
        truth.work[:] = self.held[:] = self._reached[:] = 0.0
        self._due[:] = -math.inf
        self.touchdowns.reset()
        self._pushes.reset()
        self.engine.reset(start)
        self.engine.read(truth)
        for imu in self._imus.values():
            imu.reset()
        if self._wires is not None:
            self._wires.reset()

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now, unless it gets lost."""
        if self._wires is None:
            self._sense(measurement)
        else:
            self._wires.measure(self._sense, self.time, measurement)

    def _sense(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what ideal sensors say."""
        truth = self.truth
        for name, imu in self._imus.items():  # places the robot
            imu.measure(truth.q, truth.v, self.time, measurement.parts[name])
        truth.measure(self.time, self.engine.foot_rotations(), measurement)
        for name, row, sensor in self._own:
            measurement.own[name][:] = row.ideal(self, sensor)

    def motor_efforts(self, sensor: Sensor) -> list[float]:
        """Return the efforts of the motors now at the joints that a sensor tells of, N m."""
        held = dict(zip(self.robot.efforts, self.held.tolist()))
        return [held.get(joint, 0.0) for joint in sensor.signals[-1].labels]

    def motor_currents(self, sensor: Sensor) -> list[float]:
        """Return the currents of the motors now at the joints that a sensor tells of, A."""
        motors, joints = self.robot.actuators, sensor.signals[-1].labels
        efforts = zip(joints, self.motor_efforts(sensor))
        return [motors[joint].current(each) if joint in motors else 0.0 for joint, each in efforts]

    def floor_distance(self, sensor: Sensor) -> float:
        """Return how far the floor is along the x axis of a link, m; at most what can be told.

        The floor is taken as the plane of the floor frame, without its steps.
        """
        dynamics, kind = self.engine.dynamics, self.robot.signals[sensor.name].kind
        place, axes = dynamics.placement(self.truth.q, dynamics.frame(sensor.frame))
        down = -float(axes[2, 0])
        away = float(place[2]) / down if down > 1e-3 else kind.upper
        return min(max(away, kind.lower), kind.upper)

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s, once it has arrived.

        Args:
            command: The `Command`.
            duration: s, a whole multiple of `resolution`.

        Raises:
            InvalidInput: The duration is no multiple of `resolution`.
            NotAchieved: The physics cannot go on.
        """
        if self._wires is None:
            self._hold(command, duration)
            return
        for held, part in self._wires.carry(command, lambda: self.time, duration):
            self._hold(held, part)

    def _hold(self, command: Command, duration: float) -> None:
        """Hold a command for a duration in s, at once."""
        engine, truth = self.engine, self.truth
        count, now = self._count_steps(duration), engine.time
        h = engine.resolution or duration / count
        self._begin_pushes()
        before = engine.rates()
        for left in range(count, 0, -1):
            asked = command.effort if self.drives.are_plain else self._drive(command)
            if self._lags.any():
                # what motors that lag make of efforts on average over the step
                asked, self._reached = lagging(asked, self._reached, self._lags, h)
            effort = self._supply(asked, before, h) if self._is_supplied else asked
            forces = () if self._pushes.are_over else self._press(h)
            trip = engine.advance(effort, command.lock, h, forces)
            if trip is not None and truth.trip is None:
                truth.trip = trip
            self.held[:] = effort
            if left == 1:
                engine.read(truth)
            after = engine.rates()
            truth.book(self._motors, effort, *engine.book(effort, before, after, h), h)
            before = after
        if engine.longest_step < math.inf:  # a sum of steps would round
            engine.time = now + duration
        if engine.steps is None:
            self.touchdowns.follow(self.time, truth.foot_force[:, 2].tolist())
        else:
            self.touchdowns.count_to(self.time, engine.steps)

    def _drive(self, command: Command) -> np.ndarray:
        """Return what drives make of a command now, each at its own rate and within its limit."""
        now = self.engine.time
        due = now >= self._due - 1e-9
        if due.any():
            torque = command.torque(*self.engine.joints())
            limits = self.robot.effort_limits
            self._driven[due] = np.clip(torque, -limits, limits)[due]
            self._due[due] = now + self._sampling[due]
        return self._driven

    def _count_steps(self, duration: float) -> int:
        """Return how many steps of the engine a duration in s has."""
        step = self.engine.resolution
        if step == 0.0:
            longest = self.engine.longest_step
            if not self.drives.are_plain:
                longest = min(longest, *self._sampling[self._sampling > 0.0])
            return max(1, math.ceil(duration / longest - 1e-9))
        steps = round(duration / step)
        if steps < 1 or not math.isclose(steps * step, duration, rel_tol=1e-6):
            raise InvalidInput(
                'duration of a tick',
                value=duration,
                limit=f'must be a multiple of {self.name}.timestep ({step:g} s)',
                remedy=f'change {self.name}.timestep or the rate',
            )
        return steps

    def _supply(self, wanted: np.ndarray, rates: list[float], h: float) -> np.ndarray:
        """Return efforts limited to what the supply voltages cause at the joints' rates."""
        effort: np.ndarray = wanted.copy()
        for i, motor in enumerate(self._motors):
            if motor.supply_voltage > 0.0:
                effort[i] = motor.supplied(float(wanted[i]), rates[i], h)
        return effort

    def _begin_pushes(self) -> None:
        if self._pushes.are_over:
            return
        rotation = self.truth.base.rotation
        yaw = math.atan2(rotation[1, 0], rotation[0, 0])
        for impulse in self._pushes.begin(self.time, yaw):
            self._push(impulse)

    def _press(self, h: float) -> Forces:
        """Return the forces of the coming step; give their impulse now to an engine without."""
        forces = self._pushes.forces(h)
        if Feature.FORCES not in self.engine.lacks:
            return forces
        for link, force in forces:
            self._push(h * force, link)
        return ()

    def _push(self, impulse: np.ndarray, link: int = -1) -> None:
        self.engine.impulse(*((impulse,) if link < 0 else (impulse, link)))
        self.engine.read(self.truth)

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once.

        Args:
            impulse: N s.
            direction: Where it points, rad from x towards y.

        Raises:
            InvalidInput: The direction leaves the plane of a planar robot.
        """
        if abs(math.sin(direction)) > ALONG:
            self._require(Feature.SIDEWAYS, f'direction={math.degrees(direction):g}')
        self._push(along_floor(impulse, direction))

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance for every run from the next `reset` on.

        Pushes that are still to come act in a run under way, too.

        Args:
            kind: ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` (N s
                per kg of robot, along the walk) or ``'side_push'`` (likewise, to the left).
            step: The touchdown it comes with, counted from 1; 0 where `how` says when or where.
            how: Phase, time or place, and direction, duration and link of a push.

        Raises:
            InvalidInput: Unknown kind, or a step or size out of range.
            IncompatiblePlant: The engine has none such.
        """
        disturbance = Disturbance(kind, size, step, how)
        require_known(kind, KINDS, 'disturbance', value=kind)
        largest, unit = LARGEST.get(kind, (math.inf, ''))
        require(
            math.isfinite(size) and abs(size) <= largest,
            f'size of {kind}',
            value=size,
            limit='must be finite'
            if largest == math.inf
            else f'must be from {-largest:g} to {largest:g} {unit}',
        )
        last = self.engine.last_step
        require(
            how.time is not None or how.place is not None or 1 <= step <= last,
            'step of the disturbance',
            value=step,
            limit=f'must be 1 to {last}',
        )
        if kind in PUSHES:
            self._plan_push(disturbance)
        else:
            self._plan_floor(disturbance)
        self.disturbances.append(disturbance)

    def _plan_push(self, planned: Disturbance) -> None:
        engine, how = self.engine, planned.how
        if planned.kind == 'side_push':
            how = how._replace(direction=how.direction + 0.5 * math.pi)
        if abs(math.sin(how.direction)) > ALONG:
            self._require(Feature.SIDEWAYS, planned)
        if how.link not in ('', self.robot.base_link):
            self._require(Feature.LINKS, planned)
        self._pushes.plan(make_push(engine, planned.size * engine.dynamics.mass, planned.step, how))
        if planned.step > 0 and engine.steps is not None:
            engine.change_at_touchdown(planned.step, 0.0, 0.0)

    def _plan_floor(self, planned: Disturbance) -> None:
        kind, size, step, how = planned
        drop = {'step_down': size, 'step_up': -size, 'slope_change': 0.0}[kind]
        tilt = size if kind == 'slope_change' else 0.0
        require(
            not self.world.floor_places,
            'disturbance',
            value=kind,
            limit='the floor is given by heights already',
            remedy='put it into world.floor_heights',
        )
        require(
            how in (PLAIN, PLAIN._replace(place=how.place)),
            'disturbance',
            value=str(planned),
            limit='floors change at a touchdown or at a place, and nothing else is asked',
            remedy=f'for example {kind}=0.05@3 or {kind}=0.05@2m',
        )
        tilted = sum(other.size for other in self.disturbances if other.kind == 'slope_change')
        require(
            abs(tilted + tilt) <= STEEPEST,
            'slope_change',
            value=size,
            limit=f'floors lean by at most {STEEPEST:g} rad',
        )
        require(
            all(
                (other.how.place is None) == (how.place is None)
                for other in self.disturbances
                if other.kind not in PUSHES
            ),
            'disturbance',
            value=kind,
            limit='changes of the floor at touchdowns and at places do not mix',
            remedy='give all with @...m',
        )
        self._require(
            {
                (True, True): Feature.TILTS,
                (True, False): Feature.STEPS,
                (False, True): Feature.BENDS,
                (False, False): Feature.EDGES,
            }[how.place is None, kind == 'slope_change'],
            planned,
        )
        if how.place is not None:
            self.engine.change(how.place, drop, tilt)
        else:
            self.engine.change_at_touchdown(step, drop, tilt)

    def _require(self, feature: Feature, asked: object) -> None:
        """Refuse what the engine lacks, with its reason."""
        if feature in self.engine.lacks:
            raise IncompatiblePlant(
                f'{asked} on plant {self.name} with {self.robot.name}',
                limit=f'it has no {feature.value}: {self.engine.lacks[feature]}',
                remedy=REMEDIES.get(feature, 'doc/engines.md lists what each plant has'),
            )
