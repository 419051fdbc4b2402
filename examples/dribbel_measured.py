# SPDX-License-Identifier: Apache-2.0
"""Dribbel as it was measured: what its hip must lose to walk at 0.32 m/s for 6.8 W ([DS09] 5.3.2).

The simulated robot has ideal joints and walks at 0.46 m/s, the machine walked at about 0.32. Of its
30.0 W the boards take 11.2 and each active magnet 3.74, which leaves the motor 6.8 W. Which magnets
are active follows from the walk: both of the stance leg, those of the swing leg from where the knee
has flexed most and extends.

One number that stands for all losses, the efficiency of the gear both ways or viscous friction of
the hip, is fitted to speed and power by weighted least squares (Gauss and Newton). With the slopes
J of both by it, in units of what they are measured to, it is known to within (J^T J)^-1/2. Speed
and power cannot tell which of both it is, and whether the model is right a fit cannot say. What it
was not fitted to can: the magnets, the overshoot of the hip, another plant.

Run: python examples/dribbel_measured.py
"""

from typing import NamedTuple

import numpy as np

import walking_control as wc
from walking_control.lab.experiments.sweeps import Axis, SweepTask, walk_rows

WEIGHT = 9.2 * 9.81  # N
STANDBY, MAGNET, TOTAL = 11.2, 3.74, 30.0  # W, printed
SWING_SHARE = 0.6  # printed: of the swing, in which its magnets are active
SPEED = 0.32  # m/s, "about"
MOTOR = TOTAL - STANDBY - MAGNET * (2.0 + 2.0 * SWING_SHARE)  # W
WITHIN = np.array([0.01, 0.4])  # m/s, W, taken for 95 %: a digit; a twentieth of the swing
NAMES = 'robot.actuators.hip.efficiency', 'robot.friction.hip.viscous'
FITS = {  # name -> where it starts, and which of both is free
    'gear alone': ((0.5, 0.0), 0),
    'friction alone': ((1.0, 2.0), 1),
}
STEP = np.array([0.02, 0.1])
LEAST, MOST = np.array([0.3, 0.0]), np.array([1.0, 10.0])
DURATION = 20.0  # s


class Walk(NamedTuple):
    """What a walk takes.

    Attributes:
        speed: m/s.
        motor: W at its terminals.
        swing_share: Of the swing, in which its magnets are active.
        overshoot: Of the hip beyond its set point, rad.
        flexion: Of the swing knee, rad.
    """

    speed: float
    motor: float
    swing_share: float
    overshoot: float
    flexion: float

    @property
    def total(self) -> float:
        """W, with boards and magnets."""
        return STANDBY + MAGNET * (2.0 + 2.0 * self.swing_share) + self.motor


def speed_and_power(values):
    """Return speed (m/s) and power of the motor (W) of a walk with efficiency and friction."""
    task = SweepTask(
        'dribbel',
        tuple(Axis(name, value, value) for name, value in zip(NAMES, values, strict=True)),
        plant='rigid',
        duration=DURATION,
    )
    (row,) = walk_rows(task, [0])
    if not row['stable']:
        raise ArithmeticError(f'efficiency {values[0]:.3g}, friction {values[1]:.3g}: it falls')
    speed = row['speed']
    return np.array([speed, row['cost_of_transport_electrical'] * WEIGHT * speed])


def slope(values, free):
    """Return the derivative of `speed_and_power` by the free value, in `WITHIN`, ``(2,)``."""
    step = np.where(np.arange(2) == free, STEP, 0.0)
    high, low = np.minimum(values + step, MOST), np.maximum(values - step, LEAST)
    return (speed_and_power(high) - speed_and_power(low)) / (high - low).sum() / WITHIN


def fit(start, free, measured=(SPEED, MOTOR), rounds=5):
    """Return efficiency and friction of a measured walk, and how well they are told.

    Args:
        start: Efficiency, and friction in N m s/rad.
        free: Which of both is fitted, 0 or 1.
        measured: Speed, m/s, and power of the motor, W.
        rounds: At most.

    Returns:
        Values ``(2,)``; what the fitted one lies within, for 95 %; what measured exceeds found, in
        m/s and W, ``(2,)``.
    """
    values = np.array(start, float)
    for _ in range(rounds):
        missed, column = (measured - speed_and_power(values)) / WITHIN, slope(values, free)
        step = column @ missed / (column @ column)
        values[free] = np.clip(values[free] + step, LEAST[free], MOST[free])
        if abs(step) * np.linalg.norm(column) < 0.05:
            break
    return values, 1.0 / np.linalg.norm(column), measured - speed_and_power(values)


def walk(settings, plant):
    """Return the `Walk` with settings of the robot file on a plant."""
    robot_file = wc.load_robot('dribbel', settings)
    run = wc.simulate(robot_file, plant=plant, duration=DURATION)
    summary = run.summary()
    steady = summary['steady']
    begins = np.flatnonzero(np.diff(run.support)) + 1
    shares, over, flexed = [], [], []
    for start, end in zip(begins[-11:-1], begins[-10:]):
        foot = run.support[start]
        angles = run.q[start:end, -3:]  # hip, outer and inner knee
        knee = angles[:, 2 - foot]
        shares.append(1.0 - knee.argmin() / len(knee))
        flexed.append(-knee.min())
        over.append((angles[:, 0] * (1.0, -1.0)[foot]).max() - 0.3)
    speed = steady['speed']
    power = steady['cost_of_transport_electrical'] * WEIGHT * speed
    return Walk(speed, power, *map(float, (np.mean(shares), np.mean(over), np.mean(flexed))))


def main():
    """Fit, walk and print; return the fits and the walks by their names."""
    print(f'measured: {SPEED:.2f} +- {WITHIN[0]:.2f} m/s, motor {MOTOR:.2f} +- {WITHIN[1]:.1f} W')
    fits, walks = {}, {'ideal joints': walk((), 'rigid')}
    for name, (start, free) in FITS.items():
        values, within, missed = fits[name] = fit(start, free)
        print(
            f'{name}: {NAMES[free]} {values[free]:.3g} (95 %: {values[free] - within:.3g} to '
            f'{values[free] + within:.3g}); the machine was faster by {missed[0]:.3f} m/s and took '
            f'{missed[1]:.2f} W more'
        )
        fitted = tuple(zip(NAMES, values.tolist(), strict=True))
        for plant in ('rigid', 'mujoco'):
            walks[f'{name}, {plant}'] = walk(fitted, plant)
    for name, here in walks.items():
        print(
            f'{name}: {here.speed:.3f} m/s, motor {here.motor:.2f} W, magnets of the swing leg '
            f'{100.0 * here.swing_share:.0f} % of the swing, total {here.total:.1f} W; hip '
            f'{here.overshoot:.2f} rad over its set point, knee flexes by {here.flexion:.2f} rad'
        )
    return fits, walks


if __name__ == '__main__':
    main()
