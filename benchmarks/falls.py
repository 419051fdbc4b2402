# SPDX-License-Identifier: Apache-2.0
"""How hard a walker that cannot be caught hits the floor, by what its motors do meanwhile.

    python benchmarks/falls.py [REACTION ...] [--falls 10] [--push 1.5,2.5] [--notice 0.1]
        [--stiffness 3000] [--damping 0.3] [--seed 0]

A walker3d whose trunk, thighs and shanks meet the floor, too, stands with bent knees on plant
mujoco (timestep 0.5 ms, true state), held by its joints. A push on its base, of a size within
--push (N s/kg) and from a direction all around, fells it; --notice seconds later it reacts, for
1.6 s in all. A row for each reaction: median and largest of the peak vertical force that the floor
gives to all of it, and to its trunk alone, in weights; the median of both in shares of the first
reaction's, fall by fall; how many falls ended low.

Contacts yield: --stiffness over the mass that hits (1/s^2: 3000 is 25 kN/m under the trunk of
8.5 kg) and --damping, share of the critical one. Peaks grow with both; compare rows, not tables.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
import re

import numpy as np

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command, Measurement
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.registry import make_plant

LOW = 0.2  # m, of the pelvis that has arrived
TICK, LASTS = 0.002, 1.6  # s
FLEXED = {'hip_pitch': -1.6, 'knee': 2.35, 'ankle_pitch': -0.95}  # squatted, soles flat
SITTING = {'hip_pitch': -1.5, 'knee': 2.0, 'ankle_pitch': 0.3}


class Fall:
    """A robot that falls, and what its reactions see of it."""

    def __init__(self) -> None:
        robot_file = load_robot('walker3d', [('mujoco.timestep', 0.0005)])
        bodies = r'(<visual>(.*?)</visual>)(?=\s*</link>)'
        urdf = re.sub(bodies, r'\1<collision>\2</collision>', robot_file.robot.urdf, flags=re.S)
        links = r'<link name="\w+_(?:hip_yaw_link|hip_roll_link|ankle_link|foot)">.*?</link>'
        urdf = re.sub(links, lambda found: _bare(found[0]), urdf, flags=re.S)
        self.robot_file = replace(robot_file, robot=replace(robot_file.robot, urdf=urdf))
        self.robot = self.robot_file.robot
        self.plant = make_plant(self.robot_file, 'mujoco')
        self.command, self.said = Command(self.robot), Measurement(self.robot)
        self.legs = Dynamics(self.robot)
        self.start = self.robot_file.start.posture
        self.limits = self.robot.effort_limits
        self.weight = self.robot_file.scale.mass * 9.81
        self.engine = self.plant.engine
        bodies, trunk = self.engine.model.geom_bodyid, self.engine.link_index('pelvis')
        self.trunk = {geom for geom, body in enumerate(bodies) if body == trunk}
        self.damping = self.robot_file.values(SafetyParameters).damping

    def angles(self, posture: dict[str, float]) -> np.ndarray:
        """Return the joint angles of a posture of both legs."""
        return np.array([posture.get(joint.split('_', 1)[1], 0.0) for joint in self.robot.joints])

    def hold(
        self, target: np.ndarray, stiffness: float, damping: float, rate: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return efforts that draw the joints to angles."""
        said = self.said
        return stiffness * (target - said.position) + damping * (rate - said.velocity)

    def forces(self) -> tuple[float, float]:
        """Return the vertical force of the floor on all of the robot, and on its trunk, N."""
        mj, data, wrench, every, trunk = self.engine._mj, self.engine.data, np.zeros(6), 0.0, 0.0
        for i in range(data.ncon):
            contact = data.contact[i]
            mj.mj_contactForce(self.engine.model, data, i, wrench)
            force = abs(float((wrench[:3] @ contact.frame.reshape(3, 3))[2]))
            every += force
            if contact.geom1 in self.trunk or contact.geom2 in self.trunk:
                trunk += force
        return every, trunk

    def run(
        self, react: 'Reaction', impulse: float, direction: float, notice: float
    ) -> tuple[float, float, float]:
        """Return the peak forces of a fall after it was noticed, and the height at the end."""
        plant, said = self.plant, self.said
        plant.reset(self.robot_file.start)
        plant.push(impulse, direction)
        peak = np.zeros(2)
        while plant.time < LASTS:
            plant.measure(said)
            since = plant.time - notice
            efforts = self.hold(self.start, 200.0, 5.0) if since < 0.0 else react(self, since)
            self.command.effort[:] = np.clip(efforts, -self.limits, self.limits)
            plant.step(self.command, TICK)
            if since > 0.0:
                peak = np.maximum(peak, self.forces())
        every, trunk = (peak / self.weight).tolist()
        return every, trunk, float(plant.truth.base.position[2])


Reaction = Callable[[Fall, float], np.ndarray]


def _bare(link: str) -> str:
    return re.sub(r'<collision>.*?</collision>', '', link, flags=re.S)


def damp(fall: Fall, since: float) -> np.ndarray:
    """What a fault does today: damping, then zero."""
    return -fall.damping * fall.said.velocity if since < 1.0 else np.zeros(12)


def let_go(fall: Fall, since: float) -> np.ndarray:
    """No torque at all."""
    return np.zeros(12)


def damp_by(damping: float) -> 'Reaction':
    """Damp by another number."""
    return lambda fall, since: -damping * fall.said.velocity


def fold(posture: dict[str, float], time: float) -> 'Reaction':
    """Fold the legs within a time."""

    def react(fall: Fall, since: float) -> np.ndarray:
        u = min(since / time, 1.0)
        share, rate = u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u) / time
        begin, end = fall.start, fall.angles(posture)
        target = begin + share * (end - begin)
        return fall.hold(target, 100.0, 3.0, rate * (end - begin))

    return react


def carry(share: float, brake: bool = False) -> 'Reaction':
    """Push along the line from each foot on the floor to the centre of mass, by J^T f.

    A share of the weight is carried upwards; with `brake`, what stops the mass by constant
    deceleration just above the floor: m (g + w^2 / (2 h)).
    """

    def react(fall: Fall, since: float) -> np.ndarray:
        legs, truth, said = fall.legs, fall.plant.truth, fall.said
        q, v = truth.q, truth.v
        centre = legs.center_of_mass(q)
        efforts = -0.3 * said.velocity
        on_floor = [i for i in range(2) if said.foot_force[i, 2] > 1.0]
        up = share * fall.weight
        if brake:
            sinking = max(-float((truth.base.rotation @ v[:3])[2]), 0.0)
            left = max(float(truth.base.position[2]) - LOW, 0.03)
            up = min(up + fall.weight / 9.81 * sinking**2 / (2.0 * left), 4.0 * fall.weight)
        for i in on_floor:
            foot = fall.robot.feet[i]
            J = legs.foot_jacobian(q, foot)
            line = centre - (np.asarray(legs.foot_position(foot)))
            line = line / max(line[2], 0.1)
            slide = np.hypot(*line[:2])
            line[:2] *= min(1.0, 0.7 / max(slide, 1e-9))
            efforts -= (J.T @ (up / len(on_floor) * line))[6:]
        return efforts

    return react


REACTIONS = {
    'damping then zero': damp,
    'no torque': let_go,
    'damping 4': damp_by(4.0),
    'damping 15': damp_by(15.0),
    'squat in 0.4 s': fold(FLEXED, 0.4),
    'carry 0.6': carry(0.6),
    'carry 0.3 and brake': carry(0.3, True),
    'sit in 0.3 s': fold(SITTING, 0.3),
}


def main() -> None:
    """Print a row for each reaction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('reactions', nargs='*', default=list(REACTIONS))
    parser.add_argument('--falls', type=int, default=10)
    parser.add_argument('--push', default='1.5,2.5')
    parser.add_argument('--stiffness', type=float, default=3000.0)
    parser.add_argument('--damping', type=float, default=0.3)
    parser.add_argument('--notice', type=float, default=0.1)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    fall, rng = Fall(), np.random.default_rng(options.seed)
    model = fall.engine.model
    model.geom_solref[:] = -options.stiffness, -2.0 * options.damping * options.stiffness**0.5
    low, high = map(float, options.push.split(','))
    cases = [
        (
            fall.weight / 9.81 * rng.uniform(low, high),
            2.0 * np.pi * (i + rng.uniform()) / options.falls,
        )
        for i in range(options.falls)
    ]
    first = np.zeros((0, 3))
    for name in options.reactions:
        rows = np.array([fall.run(REACTIONS[name], *case, options.notice) for case in cases])
        first = first if len(first) else rows
        every, trunk, height = rows.T
        print(
            f'| {name} | {np.median(every):.1f}, {every.max():.1f} '
            f'| {np.median(trunk):.1f}, {trunk.max():.1f} '
            f'| {np.median(every / first[:, 0]):.2f} '
            f'| {np.median(trunk / np.maximum(first[:, 1], 0.1)):.2f} '
            f'| {(height < 0.5).sum()} of {len(rows)} |',
            flush=True,
        )


if __name__ == '__main__':
    main()
