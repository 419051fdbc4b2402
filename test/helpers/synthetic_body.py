# SPDX-License-Identifier: Apache-2.0
"""A body that sways over resting feet, and what its sensors would say: food for a filter."""

import numpy as np
import pinocchio as pin

from walking_control.estimation.foot_updates import make_sample, Noise
from walking_control.estimation.invariant import make_filter_state, move

DT = 0.005
GRAVITY = np.array([0.0, 0.0, -9.81])
FEET = np.array([[0.0, 0.1, 0.0], [0.05, -0.1, 0.0]])
NOISE = Noise(
    gyro=0.005,
    accelerometer=0.1,
    gyro_walk=1e-4,
    accelerometer_walk=1e-3,
    encoder=5e-4,
    velocity=0.02,
    rest=0.0,
    persistence=0.0,
    floor=0.005,
    tachometers=True,
    gate=40.0,
    gate_velocity=40.0,
    gate_both=60.0,
)
INITIAL = np.array([0.02, 0.01, 0.05])  # orientation, gyroscope bias, accelerometer bias
FREE = np.ones(21)
IN_PLANE = np.array([0.0, 1.0, 0.0] + [1.0, 0.0, 1.0] * 4 + [0.0, 1.0, 0.0, 1.0, 0.0, 1.0])


class SwayingBody:
    """The truth: moved by the very equations that the filter has, so that these are exact.

    Args:
        seed: Of noise and biases.
        noise: The `Noise` of the sensors; None for perfect ones.
        free: Entries of the error that the body has, see `free_entries`.
        sizes: Standard deviations of orientation and biases at the start.
    """

    def __init__(self, seed=0, noise=NOISE, free=FREE, sizes=INITIAL):
        self.rng, self.noise, self.free = np.random.default_rng(seed), noise, free
        self.truth = make_filter_state(free)
        self.feet, self.time = FEET.copy(), 0.0
        if free[1] and not free[0]:
            self.feet[:, 1] = 0.0
        self.drift = np.zeros((2, 3))  # of the feet, m/s
        self.truth.columns[1] = 0.0, 0.0, 0.8
        self.rate, self.bias = self._rate(0.0), np.zeros((2, 3))
        self.tilt = np.zeros(3)
        if noise is not None:
            self.bias = self._random(sizes[1:, None] * free[-6:].reshape(2, 3))
            self.tilt = self._random(sizes[0] * free[:3])
        self.sample = make_sample(2)
        self.sample.grams[:] = np.eye(3)  # legs of three perpendicular joints
        self._measure(np.zeros(3))

    def _random(self, size):
        return size * self.rng.standard_normal(np.shape(size))

    def _rate(self, t):
        return self.free[:3] * np.array(
            [0.4 * np.sin(3.0 * t), 0.8 * np.cos(2.0 * t), 0.3 * np.sin(1.3 * t)]
        )

    def step(self):
        """Move on by one sample and measure."""
        last, self.time = self.rate, self.time + DT
        self.rate = self._rate(self.time)
        t, swing = self.time, 1.5 * self.free[3:6]
        wanted = swing * [np.sin(2.5 * t), np.cos(3.1 * t), np.sin(4.0 * t)]
        mean = 0.5 * (last + self.rate)
        halfway = self.truth.rotation @ pin.exp3(0.5 * DT * mean)
        force = halfway.T @ (wanted - GRAVITY)
        move(self.truth, mean, force, GRAVITY, DT, np.empty((3, 3)), np.empty(3))
        self.feet += self.drift * DT
        self._measure(force)
        return self.sample

    def _measure(self, force):
        sample, rotation, columns = self.sample, self.truth.rotation, self.truth.columns
        sample.last_rate[:] = sample.rate
        sample.rate[:], sample.force[:] = self.rate, force
        sample.places[:] = (self.feet - columns[1]) @ rotation
        sample.speeds[:] = (self.drift - columns[0]) @ rotation - np.cross(self.rate, sample.places)
        noise = self.noise
        if noise is None:
            return
        turns, moves = self.free[:3], self.free[3:6]
        steps = np.array([noise.gyro_walk, noise.accelerometer_walk])[:, None] * DT**0.5
        self.bias += self._random(steps * self.free[-6:].reshape(2, 3))
        sample.rate[:] += self.bias[0] + self._random(noise.gyro * turns)
        sample.force[:] += self.bias[1] + self._random(noise.accelerometer * moves)
        sample.places[:] += self._random(noise.encoder * np.tile(moves, (2, 1)))
        sample.speeds[:] += self._random(noise.velocity * np.tile(moves, (2, 1)))

    def begin(self, begin, noise=NOISE, sizes=INITIAL, support=0):
        """Return a filter that begins now, on a foot whose place it knows."""
        state = make_filter_state(self.free)
        state.rotation[:] = pin.exp3(self.tilt) @ self.truth.rotation
        state.columns[2 + support] = self.feet[support]
        begin(state, self.sample, support, sizes, noise)
        return state


def error_of(state, truth, bias):
    """Return the right-invariant error of a filter's state, ``(n,)``."""
    turn = state.rotation @ truth.rotation.T
    phi = pin.log3(turn)
    along = pin.Jlog3(turn.T)  # the inverse of the left Jacobian
    columns = (state.columns - truth.columns @ turn.T) @ along.T
    return np.concatenate((phi, columns.ravel(), (state.bias - bias).ravel()))
