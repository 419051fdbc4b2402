# SPDX-License-Identifier: Apache-2.0
"""A biped walks 20 m through a room of obstacles, on a path of its own, by its odometry alone.

What Nav2 does on a robot, small: the room is a grid, the path is the cheapest one by A*, where
being near an obstacle costs, and velocities follow a point ahead on the path. They are commanded as
on ``cmd_vel``: clipped by the limits of the law, renewed ten times a second. The outline of the
robot is that of `nav2.yaml`. Where it is comes from IMU, joints and feet; no map corrects it.

Simplifications: obstacles are in the map alone, nothing stops a foot that enters one; whether one
was touched is judged by the true place of the base.
"""

import argparse
import heapq
import math
import re
import sys

import numpy as np
import pinocchio as pin
from scipy.ndimage import distance_transform_edt

import walking_control as wc
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.ros.ros2_control.nav2 import outline_of
from walking_control.safety.steering import Steering
from walking_control.simulation.sensors import noise_overrides

CELL = 0.1  # m
LENGTH, WIDTH = 20.0, 6.0  # m, of the room; the walk is along it
OBSTACLES, SMALLEST, LARGEST = 12, 0.2, 0.5  # how many, and their radii, m
NEAR, DEAR = 1.2, 8.0  # m from an obstacle where a way costs more, and by how much at most
SPEED, TURNING = 0.5, 1.0  # m/s; rad/s per rad of error of heading
AHEAD, ARRIVED, PERIOD = 0.8, 0.2, 0.1  # m on the path, m from the goal, s between two commands
LONGEST = 150.0  # s that a walk may take


def refuse(words):
    """End with a line that says what is wrong."""
    print(f'error: {words}', file=sys.stderr)
    sys.exit(2)


class Room:
    """Round obstacles, and how far each cell is from the nearest of them or a wall.

    Args:
        obstacles: x, y and radius of each, m, ``(n, 3)``.
        size: Radius that the robot needs, m.
    """

    def __init__(self, obstacles, size):
        self.obstacles, self.size = obstacles, size
        x, y = np.meshgrid(
            CELL * np.arange(-10, round(LENGTH / CELL) + 11),
            CELL * np.arange(-round(0.5 * WIDTH / CELL), round(0.5 * WIDTH / CELL) + 1),
            indexing='ij',
        )
        free = np.ones(x.shape, bool)
        free[[0, -1]] = free[:, [0, -1]] = False
        for at, across, radius in obstacles:
            free &= np.hypot(x - at, y - across) > radius
        self.distance = CELL * distance_transform_edt(free)
        self.origin = np.array([x[0, 0], y[0, 0]])

    def cell(self, place):
        """Return the cell of a place, m."""
        return tuple(int(i) for i in np.rint((np.asarray(place) - self.origin) / CELL))

    def check(self, what, place):
        """Refuse a place where the robot cannot stand."""
        cell = self.cell(place)
        if not all(0 <= i < n for i, n in zip(cell, self.distance.shape)):
            refuse(f'{what} {place[0]:g},{place[1]:g} is outside the room')
        if self.distance[cell] < self.size:
            refuse(
                f'{what} {place[0]:g},{place[1]:g} is {self.distance[cell]:.2f} m from an '
                f'obstacle or wall; the robot needs {self.size:.2f} m: choose another place'
            )

    def clearance(self, places):
        """Return how near the outline came to an obstacle, m; below 0: into it."""
        gaps = [
            np.hypot(*(places - obstacle[:2]).T).min() - obstacle[2] for obstacle in self.obstacles
        ]
        return min(gaps) - self.size

    def path(self, start, goal):
        """Return places from start to goal, m, ``(n, 2)``: the cheapest way, by A*."""
        self.check('start', start)
        self.check('goal', goal)
        begin, end = self.cell(start), self.cell(goal)
        price = 1.0 + DEAR * np.clip(1.0 - (self.distance - self.size) / NEAR, 0.0, 1.0)
        steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        cost, before, queue = {begin: 0.0}, {begin: None}, [(math.dist(begin, end), begin)]
        while queue:
            _, here = heapq.heappop(queue)
            if here == end:
                break
            for step in steps:
                there = here[0] + step[0], here[1] + step[1]
                if self.distance[there] < self.size:
                    continue
                total = cost[here] + math.hypot(*step) * price[there]
                if total < cost.get(there, math.inf):
                    cost[there], before[there] = total, here
                    heapq.heappush(queue, (total + math.dist(there, end), there))
        else:
            refuse(f'no way leads to goal {goal[0]:g},{goal[1]:g}')
        cells = [end]
        while before[cells[-1]] is not None:
            cells.append(before[cells[-1]])
        return self.origin + CELL * np.array(cells[::-1])


def make_room(seed, size, goal):
    """Return a `Room` of obstacles at random, where neither start nor goal is covered."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < OBSTACLES:
        radius = rng.uniform(SMALLEST, LARGEST)
        place = rng.uniform([1.5, -0.4 * WIDTH], [LENGTH - 1.5, 0.4 * WIDTH])
        apart = [math.dist(place, other[:2]) - other[2] - radius for other in found]
        if min(apart, default=math.inf) > 2.0 * size + 0.6:
            found.append((*place, radius))
    return Room(np.array(found), size)


class Follower:
    """Follows a path by velocities, as a planner in front of the controller does.

    Args:
        loop: The `ControlLoop`.
        path: Places, m, ``(n, 2)``.
    """

    def __init__(self, loop, path):
        self.loop, self.path, self.next, self.at = loop, path, 0.0, 0
        self.steering = Steering(loop.reference, loop.controller.velocity_limits, 0.5, 0.5)

    @property
    def arrived(self):
        """Whether the odometry says so."""
        return math.dist(self.loop.state.base.position[:2], self.path[-1]) < ARRIVED

    def command(self, now):
        """Command a velocity if it is time to."""
        if now >= self.next - 1e-9:
            self.next = now + PERIOD
            self.steering.command(self.velocity(), now)
        self.steering.steer(now)

    def velocity(self):
        """Return the velocity ahead, to the left and of turning towards a place ahead."""
        base = self.loop.state.base
        place, yaw = base.position[:2], pin.rpy.matrixToRpy(base.rotation)[2]
        near = np.hypot(*(self.path[self.at : self.at + 20] - place).T)
        self.at += int(near.argmin())
        aim = self.path[min(self.at + round(AHEAD / CELL), len(self.path) - 1)] - place
        error = math.remainder(math.atan2(aim[1], aim[0]) - yaw, math.tau)
        if self.arrived:
            return 0.0, 0.0, 0.0
        slow = max(1.0 - abs(error) / 0.6, 0.0) * min(1.0, np.hypot(*aim) / AHEAD + 0.2)
        return SPEED * slow, 0.2 * math.sin(error), TURNING * error


def walk_through(seed, goal, robot='walker3d', noise='lab'):
    """Walk; return the `Room`, the path, the true places and what came of it."""
    robot_file = wc.load_robot(robot, [*noise_overrides(noise), ('sensors.seed', seed)])
    values = robot_file.values(SteppingParameters)
    reach = np.array([SPEED * values.step_time, values.step_width])
    size = float(np.hypot(*outline_of(robot_file, reach)))
    room = make_room(seed, size, goal)
    path = room.path((0.0, 0.0), goal)
    loop, plant, places, known = wc.ControlLoop(robot_file), wc.make_plant(robot_file), [], []
    follower, ticks = Follower(loop, path), round(LONGEST / loop.period)

    def look():
        places.append(plant.truth.q[:2].copy())
        known.append(loop.state.base.position[:2].copy())
        return follower.arrived

    walk = wc.Walk(plant, loop, robot_file.start, ticks, lambda told: follower.command(told.stamp))
    walk.go(ticks, until=look)
    places, known = np.array(places), np.array(known)
    off = math.dist(places[-1] - places[0], known[-1] - known[0])
    result = {
        'arrived': follower.arrived and loop.fault is None,
        'way': float(np.hypot(*np.diff(places[::50], axis=0).T).sum()),
        'seconds': len(places) * loop.period,
        'clearance': room.clearance(places),
        'odometry_off': off,
    }
    return room, path, places, result


def main(arguments=None):
    """Walk through a room and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=1, help='of the room and of the noise')
    parser.add_argument('--goal', default=f'{LENGTH:g},0', help='x,y in m')
    parser.add_argument('--picture', help='file of a picture of the room')
    options = parser.parse_args(arguments)
    goal = [float(part) for part in re.findall(r'[-+]?\d+\.?\d*', options.goal)]
    if len(goal) != 2:
        refuse(f'--goal {options.goal}: must be two finite numbers, x,y in m')
    room, path, places, result = walk_through(options.seed, goal)
    print(
        '{} after {way:.1f} m and {seconds:.0f} s; {clearance:.2f} m between outline and obstacles '
        'at least; odometry {odometry_off:.2f} m off'.format(
            'arrived' if result['arrived'] else 'did not arrive', **result
        )
    )
    if options.picture:
        draw(room, path, places, options.picture)
    return 0 if result['arrived'] and result['clearance'] > 0.0 else 1


def draw(room, path, places, file):
    """Draw obstacles, path and walk."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(12.0, 4.0))
    for x, y, radius in room.obstacles:
        axis.add_patch(plt.Circle((x, y), radius, color='0.4'))
    axis.plot(*path.T, '--', label='path')
    axis.plot(*places.T, label='walk')
    axis.set(xlabel='x, m', ylabel='y, m', aspect='equal')
    axis.legend()
    figure.savefig(file)


if __name__ == '__main__':
    sys.exit(main())
