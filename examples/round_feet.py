# SPDX-License-Identifier: Apache-2.0
"""Walk on round feet that roll without slip: a constraint on velocities ([DS09] 2.4, 3.1).

A leg of length L on a foot of radius R is a leg of length L - R whose end, the centre of the arc,
moves along the floor by R per angle of the leg: (J_x - R w) v = 0 and J_z v = 0, with J of the
centre and w the row of the leg's rate. The touchdown is the impact map of the same rows.

Three checks. With R = 0 it is `walking_control gait cycle compass --slope-deg 3`. With R = L and
legs that weigh nothing it is the synthetic wheel of [McG90], which rolls over a level floor and
loses nothing: its leg swings from -a to a while the wheel turns by 2 a at an even rate, so that
x = (frequency of the swinging leg) (time of a step) obeys cos x + (2 / x) sin x = -1, x = 4.058.
Between them, of legs that weigh nothing, a step loses sin^2(2 d) of its energy, with r = R / L and
tan d = (1 - r) sin a / (r + (1 - r) cos a): where steps are small, in proportion to (1 - r)^2.

Run: python examples/round_feet.py
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import walking_control as wc
from walking_control.models import Dynamics, project_velocity
from walking_control.models.contact import acceleration, constraint_forces
from walking_control.search import judge, polish, Stride

LENGTH = 1.0  # m, of the compass's leg, foot included
LEAVES = 0.02  # s: no foot comes down earlier
LONGEST = 3.0  # s
LIGHT = (('leg_mass', 1e-6), ('hip_mass', 1.0))  # legs that weigh nothing
COM = 0.5  # m, of a leg from the hip
WHEEL = brentq(lambda x: math.cos(x) + 2.0 * math.sin(x) / x + 1.0, 3.5, 4.5)
ANGLE = 0.25  # rad
SLOPE = math.radians(3.0)
START = np.array([0.2993, -1.0735, 0.7088])  # of the shipped compass on 3 degrees


class RollingCompass:
    """The compass on feet of a radius.

    Args:
        radius: Of both feet, m, up to the length of the leg.
        slope: Of the floor, rad, downhill positive.
        settings: Names and values over those of the robot file.
    """

    def __init__(self, radius, slope, settings=()):
        robot_file = wc.load_robot('compass', [('leg_length', LENGTH - radius), *settings])
        self.dynamics = Dynamics(robot_file.robot, slope=slope)
        self.stance, self.swing = robot_file.robot.feet
        self.radius = radius

    def rows(self, q, foot):
        """Return what a foot that rolls allows no velocity along, as columns, ``(nv, 2)``."""
        twist = self.dynamics.foot_twist_jacobian(q, foot)
        return np.column_stack((twist[0] - self.radius * twist[4], twist[2]))

    def rate(self, _, state):
        """Return the rate of q and v while the stance foot rolls."""
        dynamics, (q, v) = self.dynamics, np.split(state, 2)
        M, A, force = dynamics.mass_matrix(q), self.rows(q, self.stance), -dynamics.bias(q, v)
        drift = dynamics.foot_drift(q, v, self.stance)  # the row of the leg's rate does not change
        reaction = constraint_forces(M, A, force, drift)
        return np.concatenate((v, acceleration(M, force, A, reaction)))

    def begin(self, x):
        """Return q and v of (angle of the stance leg, its rate, that of the hip) at a touchdown."""
        angle, rate, hip_rate = x
        q, v = self.dynamics.base_from_coordinates(
            self.stance, np.array([angle, -2.0 * angle]), np.array([rate, hip_rate])
        )
        v[0] -= self.radius * rate
        return q, v

    def energy(self, q, v):
        """Return the kinetic energy, J."""
        return self.dynamics.kinetic_energy(q, v)

    def stride(self, x):
        """Return the `Stride` from one touchdown to the next, feet exchanged; None if it falls."""

        def comes_down(_, state):
            return state[3] - 2.0 * state[2]  # the sum of both legs' angles from the normal

        comes_down.terminal, comes_down.direction = True, -1.0
        keep = {'method': 'DOP853', 'rtol': 1e-10, 'atol': 1e-11}
        first = solve_ivp(self.rate, (0.0, LEAVES), np.concatenate(self.begin(x)), **keep)
        whole = solve_ivp(self.rate, (LEAVES, LONGEST), first.y[:, -1], events=comes_down, **keep)
        if whole.status != 1 or whole.y[3, -1] < 0.0:
            return None
        q, v = np.split(whole.y[:, -1], 2)
        after = project_velocity(self.dynamics.mass_matrix(q), self.rows(q, self.swing), v)
        # the new stance leg is the right one, which the hip turns against the base
        x = np.array([q[3] - q[2], after[3] - after[2], -after[3]])
        length = 2.0 * ((LENGTH - self.radius) * math.sin(x[0]) + self.radius * x[0])
        self.lost = self.energy(q, v) - self.energy(q, after)
        return Stride(x, float(whole.t[-1]), length)


def cycle(radius, slope, guess):
    """Return the passive gait near a guess as a `Cycle`, and what a step loses, J."""
    walker = RollingCompass(radius, slope)
    gait = judge(walker.stride, polish(walker.stride, guess, tolerance=1e-8))
    walker.stride(gait.x)
    return gait, walker.lost


def synthetic_wheel(rate=0.1):
    """Return frequency of the swinging leg times time of a step, of feet as long as the legs."""
    wheel = RollingCompass(LENGTH, 0.0, LIGHT)

    def opens(angle):
        stride = wheel.stride((angle, -rate, 0.0))
        return rate if stride is None else stride.x[0] - angle  # too late for its wheel

    angle = brentq(opens, 0.3 * rate, 0.9 * rate, xtol=1e-12)
    return math.sqrt(9.81 / COM) * wheel.stride((angle, -rate, 0.0)).period


def lost_share(radius, angle):
    """Return the share of its energy a step loses by the impact map, and by the way of the hip."""
    walker = RollingCompass(radius, 0.0, LIGHT)
    q, _ = walker.begin((angle, 0.0, 0.0))  # the foot behind is that of the swing leg
    rolls = np.linalg.svd(walker.rows(q, walker.swing).T)[2][2:]  # what it allows, ``(2, nv)``
    v = rolls.T @ rolls @ np.array([0.0, 0.0, 1.0, 0.0])
    after = project_velocity(walker.dynamics.mass_matrix(q), walker.rows(q, walker.stance), v)
    short = 1.0 - radius / LENGTH
    turn = math.atan2(short * math.sin(angle), radius / LENGTH + short * math.cos(angle))
    return 1.0 - walker.energy(q, after) / walker.energy(q, v), math.sin(2.0 * turn) ** 2


def main():
    """Print the three checks, and what round feet do for the compass; return the numbers."""
    found = {'wheel': synthetic_wheel()}
    print(f'synthetic wheel: {found["wheel"]:.4f}, by hand {WHEEL:.4f}')
    for radius in (0.0, 0.25, 0.5, 0.75, 1.0):
        share, by_hand = lost_share(radius * LENGTH, ANGLE)
        print(
            f'foot {radius:4.2f} of the leg, steps of +-{ANGLE} rad: loses {share:.6f}, by hand '
            f'{by_hand:.6f}, {share / lost_share(0.0, ANGLE)[0]:.3f} of a point; '
            f'(1 - R/L)^2 is {(1.0 - radius) ** 2:.3f}'
        )
    guess = START
    for radius in (0.0, 0.2):
        gait, lost = cycle(radius, SLOPE, guess)
        guess = gait.x
        found[radius] = gait
        print(
            f'foot {radius:.1f} m on {math.degrees(SLOPE):.0f} degrees: {gait.speed:.4f} m/s, '
            f'{gait.period:.4f} s, loses {lost:.3f} J a step, eigenvalue '
            f'{abs(gait.eigenvalues[0]):.3f}'
        )
    return found


if __name__ == '__main__':
    main()
