# SPDX-License-Identifier: Apache-2.0
"""Books of energy while walking, and a tank that shows what the motors put in beyond the gait.

An effort is booked with the mean of the rates before and after its tick. Where rates lag, it is
booked with the way that the next two ticks continue, 2 dq(k + 1) - dq(k + 2), whose noise it has
not seen (doc/controllers/natural_walking_derivation.md, "Books"). Kinetic energy, and
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
    ``(n_efforts,)``. `lags`: whether the rates of the joints do.
    Attributes: `values`: of `FIELDS`. `level`: of the tank, J.
    """

    def __init__(self, capacity: float, joints: np.ndarray, lags: bool) -> None:
        self._capacity, self._joints = capacity, joints
        self._later = 2 if lags else 0  # ticks that a way waits for
        self.reset()

    def reset(self) -> None:
        """Begin anew: a full tank."""
        self.level = self._capacity
        self.values = np.zeros(len(FIELDS))
        self._first: float | None = None
        # efforts not yet booked, with positions and rates when they began
        self._held: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._step = np.zeros(2)  # net work and loss up to the last touchdown

    def work(self, position: np.ndarray, rate: np.ndarray, dt: float) -> None:
        """Book the oldest effort; the joints came to positions and rates in the last dt seconds.

        A dt of 0 takes the last effort back: another one follows for the same tick.
        """
        if len(self._held) <= self._later:
            return
        if dt == 0.0:  # the same tick again, with other parameters
            self._held.pop()
            return
        effort, _, before = self._held.pop(0)
        if self._later:
            (_, first, _), (_, last, _) = self._held
            way = 2.0 * (last - first) - (position[self._joints] - last)
        else:
            way = 0.5 * dt * (before + rate[self._joints])
        gain = float(effort @ way)
        self.values[1] = gain / dt
        self.values[2] += max(gain, 0.0)
        self.values[3] += max(-gain, 0.0)
        self.level = draw(self.level, gain, self._capacity)

    def hold(self, effort: np.ndarray, position: np.ndarray, rate: np.ndarray) -> None:
        """Note the effort of the tick to come."""
        self._held.append((effort.copy(), position[self._joints], rate[self._joints]))

    def weigh(self, body: Body, stance: int, gravity: float) -> None:
        """Book the energy of the robot."""
        velocity = body.velocity
        energy = 0.5 * float(velocity @ body.mass_matrix @ velocity) + body.mass * gravity * float(
            body.com[2] - body.feet[stance].position[2]
        )
        if self._first is None:
            self._first = energy
        self.values[0], self.values[7] = energy, self.level
        self.values[4] = self.values[2] - self.values[3] - (energy - self._first)

    def close_step(self, supply: float) -> None:
        """Sum up the step that ends, and refill the tank by a supply, J."""
        sums = np.array([self.values[2] - self.values[3], self.values[4]])
        self.values[5:7] = sums - self._step
        self._step = sums
        self.level = min(self.level + supply, self._capacity)
