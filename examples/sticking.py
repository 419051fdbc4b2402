# SPDX-License-Identifier: Apache-2.0
"""A plant whose joints stick: gears and dry friction that hold at rest ([SR20], `joint_modes`).

The plant `rigid` lets friction and gear losses fade near rest, so a joint creeps under a load. This
one is `rigid` without losses; what gears and friction give the links is found slice by slice by
`solve_joints` (one motion fits, whatever the number of motors) and held meanwhile. A slice ends
where a joint comes to rest. Joints that stick are then stopped by the impulse that does nothing
else, of the size of what the torque has changed in a slice.

A gear at rest under a torque tau of its motor holds any load from `efficiency` tau to tau /
`back_efficiency`: what makes geared arms stand when they ought to fall.

Simplifications: a robot without locks, whose joints with friction have motors; while both feet
stand nothing rubs.

Run: python examples/sticking.py, or in examples/ walking_control simulate compass
--plant sticking:Sticking --controller hip_pd --set sticking.scuff_length=0.05
--set robot.friction.hip.coulomb=0.5
"""

from dataclasses import replace
import math

from joint_modes import GearedJoints, solve_joints
import numpy as np

import walking_control as wc
from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models import Command
from walking_control.simulation import RigidParameters
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import RigidEngine

REST = 1e-9  # rad/s: slower joints are at rest
SHORTEST = 1e-9  # s, of a slice
INERTIA = 0.1  # kg m^2, of a leg: MuJoCo wants some
HEAVY = 1e6  # kg: a hip that its legs do not move
SCUFF = 0.05  # m: straight legs scuff, as the compass's file says of `rigid`
LEG = 1.0 * 9.81 * 0.5  # N m: of the compass's leg, held level


class StickingParameters(RigidParameters, section='sticking'):
    """Those of `rigid`, and how long torques are held."""

    slice: float = wc.parameter(0.001, 's', 'How long torques of joints are held.', 1e-5, 0.01)


class Sticking(RigidEngine):
    """A planar robot on a rigid floor, its joints with gears and friction that stick.

    Raises:
        IncompatiblePlant: The robot has locks, or friction in a joint without a motor.
    """

    name = 'sticking'
    parameters = StickingParameters

    def __init__(self, robot, world, values):
        require(
            not robot.locks and set(robot.friction) <= set(robot.actuators),
            f'plant sticking on {robot.name}',
            limit='takes no locks, and friction only where there is a motor',
            error=IncompatiblePlant,
        )
        motors = {
            joint: replace(motor, efficiency=1.0, back_efficiency=1.0)
            for joint, motor in robot.actuators.items()
        }
        super().__init__(replace(robot, actuators=motors, friction={}), world, values)
        table = {joint: (0.0, 1.0, 1.0) for joint in ('pitch', *robot.joints)}
        for joint, motor in robot.actuators.items():
            table[joint] = motor.armature, motor.efficiency, motor.back_efficiency
        rubs = [robot.friction.get(joint) for joint in table]
        armature, efficiency, back = np.array(list(table.values())).T
        self.joints_as_they_are = GearedJoints(
            armature,
            efficiency,
            back,
            np.array([each.coulomb if each else 0.0 for each in rubs]),
            np.array([each.viscous if each else 0.0 for each in rubs]),
        )
        self._motors = [1 + robot.joint_index(joint) for joint in robot.actuators]
        self._plain, self.move = self.move, self._in_slices
        self.stuck = np.zeros(len(table), bool)

    @classmethod
    def kind_for(cls, robot):
        """Return this class for all robots."""
        return cls

    def _equations(self):
        """Return mass matrix, bias and rates of pitch and joints, ``(n, n)`` and ``(n,)``."""
        state, n = self.state, self.model.n
        support = int(state.mode[rm.SUPPORT])
        q, v = state.y[2 : n + 2], state.y[n + 4 :]
        parts = self._support.layout.split(self._support.terms(support, q, v))
        back = np.linalg.inv(self.model.lift[support])  # from pitch and joints to coordinates
        driven = self.model.n_driven
        floor = self.model.inputs[support][:, driven:] @ state.effort[driven:]
        mass = back.T @ parts['mass'][2:, 2:] @ back
        return mass, back.T @ (parts['bias'][2:] - floor), self.model.lift[support] @ v

    def _in_slices(self, duration):
        """Go on for a time, s; return the status of `rigid`."""
        state, asked = self.state, self.state.effort.copy()
        joints, motors, status = self.joints_as_they_are, self._motors, rm.DONE
        effort = np.zeros(len(joints.armature))
        effort[motors] = asked[: len(motors)]
        while duration > SHORTEST and status == rm.DONE:
            length, steps = min(duration, self._values.slice), self.steps
            if state.mode[rm.SWING]:
                status = self._plain(length)
                duration -= length
                continue
            mass, bias, rates = self._equations()
            rates[np.abs(rates) < REST] = 0.0
            motion = solve_joints(mass - np.diag(joints.armature), bias, effort, rates, joints)
            self.stuck = motion.direction == 0.0
            slowing = rates * motion.acceleration < 0.0
            slowing[0] = False  # nothing brakes the robot's own turning
            if slowing.any():
                to_rest = (-rates[slowing] / motion.acceleration[slowing]).min()
                length = min(length, max(to_rest, SHORTEST))
            state.effort[: len(motors)] = (motion.torque + joints.armature * motion.acceleration)[
                motors
            ]
            status = self._plain(length)
            state.effort[:] = asked
            duration -= length
            if self.steps == steps:
                self._stop(rates)
        return status

    def _stop(self, before):
        """Bring joints to rest that stick, or that turned back in a slice."""
        mass, _, rates = self._equations()
        turned = (before * rates <= 0.0) & (before != 0.0)
        turned[0] = False
        rows = np.eye(len(rates))[np.flatnonzero(self.stuck | turned)]
        if len(rows):
            free = np.linalg.solve(mass, rows.T)
            change = free @ np.linalg.solve(rows @ free, rows @ rates)
            back = np.linalg.inv(self.model.lift[int(self.state.mode[rm.SUPPORT])])
            self.state.y[self.model.n + 4 :] -= back @ change


def moved(plant, settings, load, effort=0.0, duration=1.0):
    """Return how far a leg turns whose weight is a load at its hip, rad, upwards positive.

    Args:
        plant: Name or class.
        settings: Of the compass's robot file.
        load: N m.
        effort: Of the motor, against the load, N m.
        duration: s.
    """
    settings = [('hip_mass', HEAVY), ('leg_inertia', INERTIA), ('slope', 0.0), *settings]
    robot_file = wc.load_robot('compass', settings)
    # no torque of the floor: plants with bodies cannot give it
    robot_file = replace(robot_file, robot=replace(robot_file.robot, ground_torque=None))
    body, angle = wc.make_plant(robot_file, plant), math.asin(load / LEG)
    body.reset(wc.Start('left_foot', np.array([0.0, angle]), np.zeros(2)))
    command = Command(robot_file.robot)
    command.effort[:] = effort
    for _ in range(round(duration / 0.002)):
        body.step(command, 0.002)
    hip = body.truth.q[3]
    return math.copysign(1.0, hip) * hip - angle


def main(duration=4.0):
    """Hold legs in two plants, then walk in them; return what they did."""
    plants, found = {'sticking': Sticking(scuff_length=SCUFF), 'rigid': 'rigid'}, {}
    for name, plant in plants.items():
        found[name] = moved(plant, [('hip.coulomb', 2.0)], 1.45, duration=0.2)
        print(f'{name}: 2 N m of dry friction, 1.45 N m: {1e3 * found[name]:+.4f} mrad in 0.2 s')
    gear = [('hip.efficiency', 0.8), ('back_efficiency', 0.5), ('rotor_inertia', 0.03)]
    for load in (0.7, 0.9, 1.9, 2.1):
        turns = found[load] = [moved(plant, gear, load, 1.0, 0.2) for plant in plants.values()]
        words = ', '.join(f'{name} {1e3 * turn:+.4f}' for name, turn in zip(plants, turns))
        print(f'motor 1 N m, gear .8 forward, .5 back, load {load} N m: {words} mrad in 0.2 s')
    for name, plant in plants.items():
        robot_file = wc.load_robot('compass', [('robot.friction.hip.coulomb', 0.5)])
        run = wc.simulate(robot_file, 'hip_pd', plant, duration=duration)
        found[f'{name} walks'] = run
        print(f'{name}: hip_pd with .5 N m of friction: {run.summary().speed:.4f} m/s; {run.fault}')
    return found


if __name__ == '__main__':
    main()
