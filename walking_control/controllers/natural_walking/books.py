# SPDX-License-Identifier: Apache-2.0
"""Books of energy while walking, and a tank that shows what the motors put in beyond the gait.

An effort is booked with the way that the next two ticks continue, 2 dq(k + 1) - dq(k + 2), whose
noise it has not seen (doc/controllers/natural_walking_derivation.md, "Books"). Kinetic energy, and
potential energy above the stance foot, follow from the state. What neither explains is lost, in
impacts above all (or given, by a push): energy(t) - energy(0) = injected - absorbed - lost. The
tank ([DS09] 5.2.2) says that a law pays for more than its gait, step after step; while it is empty
the pressure under the sole puts nothing in (`gait_tracking`).
"""

import numpy as np

from walking_control.controllers.curve_tracking.forces import draw
from walking_control.controllers.stepping.body import Body

FIELDS = (
    ('energy', 'J'),
    ('motor_power', 'W'),
    ('energy_injected', 'J'),
    ('energy_absorbed', 'J'),
    ('energy_lost', 'J'),
    ('step_work', 'J'),
    ('step_lost', 'J'),
    ('tank_level', 'J'),
)


class Books:
    """Energies since the walk began, and in the last whole step.

    `capacity`: of the tank, J, which is full at first. `joints`: index of the joint of each effort,
    ``(n_efforts,)``.
    Attributes: `values`: of `FIELDS`. `level`: of the tank, J.
    """

    def __init__(self, capacity: float, joints: np.ndarray) -> None:
        self._capacity, self._joints = capacity, joints
        self.reset()

    def reset(self) -> None:
        """Begin anew: a full tank."""
        self.level = self._capacity
        self.values = np.zeros(len(FIELDS))
        self._first: float | None = None
        self._held: list[np.ndarray] = []  # efforts of the last three ticks
        self._ways: list[np.ndarray] = []  # and how far the joints went in the last two
        self._step = np.zeros(2)  # net work and loss up to the last touchdown

    def work(self, position: np.ndarray, dt: float) -> None:
        """Book the oldest effort; the joints came to positions in the last dt seconds."""
        if not self._held:
            return
        self._ways = self._ways[-1:] + [position[self._joints] - self._before]
        if len(self._held) < 3:
            return
        gain = float(self._held.pop(0) @ (2.0 * self._ways[0] - self._ways[1]))
        self.values[1] = gain / dt
        self.values[2] += max(gain, 0.0)
        self.values[3] += max(-gain, 0.0)
        self.level = draw(self.level, gain, self._capacity)

    def hold(self, effort: np.ndarray, position: np.ndarray) -> None:
        """Note the effort of the tick to come."""
        self._held.append(effort.copy())
        self._before = position[self._joints]

    def weigh(self, body: Body, stance: int, gravity: float) -> None:
        """Book the energy of the robot."""
        velocity = body.velocity
        energy = 0.5 * float(velocity @ body.mass_matrix @ velocity) + body.mass * gravity * float(
            body.com[2] - body.feet[stance].position[2]
        )
        if self._first is None:
            self._first = energy
        out = self.values
        out[0], out[7] = energy, self.level
        out[4] = out[2] - out[3] - (energy - self._first)

    def close_step(self, supply: float) -> None:
        """Sum up the step that ends, and refill the tank by a supply, J."""
        sums = np.array([self.values[2] - self.values[3], self.values[4]])
        self.values[5:7] = sums - self._step
        self._step = sums
        self.level = min(self.level + supply, self._capacity)
