# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how fast it moves, from legs that stand on a flat floor."""


class LegOdometry:
    """Place and velocity of the base, the stance foot at rest on the floor.

    Args:
        dynamics: The robot's `Dynamics`.
    """

    def __init__(self, dynamics):
        self._dynamics = dynamics
        self._feet = dynamics.robot.feet

    def place_feet(self, q, v):
        """Return x, y and z of every foot as seen from the base, in the floor's axes, m.

        Args:
            q: Generalised coordinates with the base at the origin.
            v: Generalised velocities with the base's origin at rest.
        """
        self._dynamics.move(q, v)
        return [self._dynamics.foot_position(foot) for foot in self._feet]

    def update(self, state, places):
        """Write base and foot heights of a `WalkerState` whose stance foot is known."""
        x, y, z = places[state.support]
        base, foothold = state.base, state.foothold
        base.position[0], base.position[1], base.position[2] = foothold[0] - x, foothold[1] - y, -z
        velocity = self._dynamics.foot_velocity(self._feet[state.support])
        base.linear[0], base.linear[1], base.linear[2] = -velocity
        for i, place in enumerate(places):
            state.foot_height[i] = place[2] - z
