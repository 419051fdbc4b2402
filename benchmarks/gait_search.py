# SPDX-License-Identifier: Apache-2.0
"""How fast a gait search is, beside the same problem written in pydrake.

The problem: the compass on 3 degrees at given speeds, polynomials of degree 10, Gauss-Lobatto
quadrature of 21 nodes, cost and jumps of [DS09] Definition 4.2, no contact constraints. Both sides
start from the same first guess. Drake's side takes torques from a MultibodyPlant by automatic
differentiation and solves with its IPOPT and SNOPT. Prints times, costs and ratios; Drake
(pip install drake) is left out where it is missing, and then it says so.

    python benchmarks/gait_search.py [--speeds 0.7 0.8 0.9]
"""

import argparse
import time

import numpy as np

from walking_control.gaits.gait import evaluation, lobatto
from walking_control.loading import load_robot
from walking_control.search.guess import guess_gait, pack
from walking_control.search.optimisation import _Search
from walking_control.search.parameters import SearchParameters

DEGREE, INTERVALS, GRAVITY, SLOPE = 10, 20, 9.81, np.radians(3.0)
LEG, HIP = 1.0, 5.0


def ours(speed):
    """Return (cost, solve time, build time, first guess) of this package."""
    robot_file = load_robot('compass')
    values = SearchParameters.read(
        {'speed': speed, 'contact': False, 'degree': DEGREE, 'nodes': INTERVALS}
    )
    case = _Search(robot_file, values, (), None)
    guess = pack(
        guess_gait(case.equations, case.shape, 0.75 * speed, 0.75, np.full(2, 0.01)), DEGREE, ()
    )
    case.solve(case.shape, guess)
    build = case.build_time
    case.solve_time = 0.0
    attempt = case.solve(case.shape, guess)
    assert attempt.converged
    return attempt.cost, case.solve_time, build, guess


class DrakeProblem:
    """The same nonlinear program, torques by a MultibodyPlant of AutoDiffXd."""

    def __init__(self, speed):
        import pydrake.all as drake

        self.drake, self.speed = drake, speed
        begin = time.perf_counter()
        self.plant = self._plant().ToAutoDiffXd()
        self.context = self.plant.CreateDefaultContext()
        self.forces = drake.MultibodyForces_[drake.AutoDiffXd](self.plant)
        nodes, self.weights = lobatto(INTERVALS)
        self.bases = [evaluation(DEGREE, nodes, order) for order in range(3)]
        self.program = drake.MathematicalProgram()
        self.x = self.program.NewContinuousVariables(2 * (DEGREE + 1) + 1)
        self.program.AddCost(self.cost, self.x)
        self.program.AddConstraint(self.jumps, np.zeros(6), np.zeros(6), self.x)
        low, high = np.full(len(self.x), -np.pi), np.full(len(self.x), np.pi)
        low[-1], high[-1] = 0.05, 5.0
        self.program.AddBoundingBoxConstraint(low, high, self.x)
        self.build_time = time.perf_counter() - begin

    def _plant(self):
        drake = self.drake
        plant = drake.MultibodyPlant(0.0)

        def masses(*points):
            """Return the inertia of masses on the z axis, pairs (mass, z)."""
            total, first, second = (sum(m * z**k for m, z in points) for k in range(3))
            return drake.SpatialInertia(
                total,
                [0.0, 0.0, first / total],
                drake.UnitInertia(second / total, second / total, 0.0),
            )

        stance = plant.AddRigidBody('stance', masses((LEG, 0.5), (HIP, 1.0)))
        swing = plant.AddRigidBody('swing', masses((LEG, -0.5)))
        axis = [0.0, -1.0, 0.0]
        plant.AddJoint(drake.RevoluteJoint('ankle', plant.world_frame(), stance.body_frame(), axis))
        hip = plant.AddFrame(
            drake.FixedOffsetFrame(
                'hip_frame', stance.body_frame(), drake.RigidTransform([0.0, 0.0, 1.0])
            )
        )
        plant.AddJoint(drake.RevoluteJoint('hip', hip, swing.body_frame(), axis))
        plant.mutable_gravity_field().set_gravity_vector(
            [GRAVITY * np.sin(SLOPE), 0.0, -GRAVITY * np.cos(SLOPE)]
        )
        plant.Finalize()
        return plant

    def motion(self, x, order):
        """Return a derivative of both coordinates on the nodes, ``(21, 2)``."""
        values = x[:-1].reshape(2, DEGREE + 1).T
        return self.bases[order] @ values / x[-1] ** order

    def cost(self, x):
        """Return the cost (4.3)."""
        q, v, a = (self.motion(x, order) for order in range(3))
        total = 0.0
        for weight, q_m, v_m, a_m in zip(self.weights, q, v, a, strict=True):
            self.plant.SetPositions(self.context, q_m)
            self.plant.SetVelocities(self.context, v_m)
            self.plant.CalcForceElementsContribution(self.context, self.forces)
            effort = self.plant.CalcInverseDynamics(self.context, a_m, self.forces)
            total = total + weight * effort.dot(effort)
        return total * x[-1]

    def jumps(self, x):
        """Return the mismatch of (4.10), (4.15), of the feet on the floor and of the speed."""
        q, v = self.motion(x, 0), self.motion(x, 1)
        (a, b), (w3, w4) = q[-1], v[-1]
        c2, c4, s = np.cos(2.0 * a), np.cos(4.0 * a), np.sin(a)
        d = -3.0 * LEG - 4.0 * HIP + 2.0 * LEG * c4
        v3 = ((LEG - 2.0 * (LEG + 2.0 * HIP) * c2) * w3 + LEG * w4) / d
        v4 = (8.0 * (LEG + HIP) * (1.0 + 2.0 * c2) * s * s * w3 + (2.0 * LEG * c2 - LEG) * w4) / d
        return np.array(
            [
                q[0, 0] - a - b,
                q[0, 1] + b,
                v[0, 0] - v3,
                v[0, 1] - v4,
                b + 2.0 * a,
                -2.0 * np.sin(a) - self.speed * x[-1],
            ]
        )

    def solve(self, solver, guess):
        """Return (cost, time, success)."""
        options = self.drake.SolverOptions()
        # without second derivatives IPOPT wanders: it is stopped after 200 iterations
        options.SetOption(self.drake.IpoptSolver.id(), 'max_iter', 200)
        begin = time.perf_counter()
        result = solver.Solve(self.program, guess, options)
        return result.get_optimal_cost(), time.perf_counter() - begin, result.is_success()


def main():
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--speeds', type=float, nargs='+', default=[0.7, 0.8, 1.0])
    options = parser.parse_args()
    try:
        from pydrake.solvers import IpoptSolver, SnoptSolver

        solvers = {'IPOPT': IpoptSolver(), 'SNOPT': SnoptSolver()}
    except ImportError:
        solvers = {}
        print('pydrake is not installed here: our side alone (pip install drake)')
    print('speed  side           cost        solve (s)  build (s)  time over ours')
    for speed in options.speeds:
        cost, seconds, build, guess = ours(speed)
        print(f'{speed:4.2f}   ours           {cost:10.4g}  {seconds:9.3f}  {build:9.3f}')
        for name, solver in solvers.items():
            problem = DrakeProblem(speed)
            theirs, elapsed, success = problem.solve(solver, guess)
            note = '' if success else '  (not converged)'
            print(
                f'{speed:4.2f}   drake {name:8} {theirs:10.4g}  {elapsed:9.3f}  '
                f'{problem.build_time:9.3f}  {elapsed / seconds:6.1f}{note}',
                flush=True,
            )


if __name__ == '__main__':
    main()
