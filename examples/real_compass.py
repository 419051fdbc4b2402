# SPDX-License-Identifier: Apache-2.0
"""The impact law of a real compass walker, fitted to half of its steps and judged on the others.

Reads the public record `SysID_data_12exp_120steps.mat` of imanchester/SydneyCompassGait (MIT
licence): hip angle and angle of the stance leg at 200 Hz, and which leg stands. The plastic impact
of [DS09] 3.3 has three parameters here, since lengths count in legs and masses in masses of a leg:
mass of the hip, place of a leg's centre of mass below it, and inertia of a leg about that. With a
fourth, the inertia of the motor's rotor through its gear turns with the hip. A fifth is the
restitution of a partly elastic impact, or the friction that bounds the impulse along the floor.
"""

from dataclasses import dataclass
import sys

import numpy as np
from scipy.io import loadmat
from scipy.optimize import least_squares

from walking_control.models.contact import project_velocity

BEFORE = 10  # samples before an impact, for the rates there: 50 ms
AFTER = 6, 14  # samples left out after it, while the legs ring, and those taken: 30 to 100 ms
JUMP = 0.05  # rad from one sample to the next: another experiment begins
FREE_HIP, ROTOR, LOCKED_HIP = 'plastic', 'plastic, with the rotor', 'plastic, hip locked'
ELASTIC, SLIDING = 'partly elastic', 'with a friction impulse'
START = np.log([1.0, 0.5, 0.05, 0.05, 0.5])  # the last: restitution, or friction


@dataclass
class Impacts:
    """Angles at impacts and rates around them: first the old stance leg's, then the other's."""

    angles: np.ndarray  # (n, 2), rad from the vertical
    before: np.ndarray  # (n, 2), rad/s
    after: np.ndarray


def read(path):
    """Return the `Impacts` of a record."""
    record = loadmat(path, squeeze_me=True)
    time, stance = record['datatime'], record['stanceangle']
    hip, leg = np.radians(record['hipangle']), record['innoutst'].astype(int)

    def rate(angle, rows):
        return np.polyfit(time[rows], angle[rows], 1)[0]

    found = []
    for row in np.flatnonzero(np.diff(leg)) + 1:
        around = slice(row - BEFORE, row + sum(AFTER))
        if np.abs(np.diff(hip[around])).max() > JUMP:
            continue
        before = slice(row - BEFORE, row)
        after = slice(row + AFTER[0], row + sum(AFTER))
        sign = 1.0 if leg[row - 1] == 1 else -1.0  # the hip angle counts from the other leg
        old, turned = rate(stance, before), rate(hip, before)
        new, turned_after = rate(stance, after), rate(hip, after)
        found.append(
            (
                (stance[row - 1], stance[row - 1] - sign * hip[row - 1]),
                (old, old - sign * turned),
                (new + sign * turned_after, new),
            )
        )
    return Impacts(*(np.array(part) for part in zip(*found, strict=True)))


def hit(angles, rates, parameters, law):
    """Return the rates of both legs after an impact, ``(2,)``, rad/s.

    Velocities are those of the hip, across and up, and of the legs.
    """
    hip, place, inertia, rotor, last = np.exp(parameters)
    mass = np.diag([hip + 2.0, hip + 2.0, *2 * [inertia + place**2]])
    for leg, angle in enumerate(angles, start=2):
        mass[:2, leg] = mass[leg, :2] = place * np.array([np.cos(angle), np.sin(angle)])
    if law == ROTOR:
        mass[2:, 2:] += rotor * np.array([[1.0, -1.0], [-1.0, 1.0]])
    along, up = np.cos(angles), np.sin(angles)  # a leg's own length in its rate's direction
    velocity = np.array([-rates[0] * along[0], -rates[0] * up[0], *rates])
    held = np.array([[1.0, 0.0, 0.0, along[1]], [0.0, 1.0, 0.0, up[1]], [0.0, 0.0, 1.0, -1.0]])[
        : 3 if law == LOCKED_HIP else 2
    ]
    plastic = project_velocity(mass, held.T, velocity)
    if law == ELASTIC:  # [DS09] 3.3: the impulse of the plastic impact, and a share of it more
        return (plastic + last * (plastic - velocity))[2:]
    if law == SLIDING:  # the impulse along the floor at most `last` times that across it
        impulse = np.linalg.lstsq(held.T, mass @ (plastic - velocity), rcond=None)[0]
        if abs(impulse[0]) > last * abs(impulse[1]):
            pull = last * np.sign(impulse[0] * impulse[1])
            motion = np.linalg.solve(mass, held[1] + pull * held[0])
            return (velocity - motion * (held[1] @ velocity) / (held[1] @ motion))[2:]
    return plastic[2:]


def misses(impacts, rows, parameters, law):
    """Return predicted less measured rates after the impacts in `rows`, ``(n, 2)``, rad/s."""
    return np.array(
        [
            hit(impacts.angles[i], impacts.before[i], parameters, law) - impacts.after[i]
            for i in rows
        ]
    )


def main(path):
    """Fit each law to the first half, judge it on the second; return law -> figures."""
    impacts = read(path)
    n, result = len(impacts.angles), {}
    fitted, held_out = np.arange(n // 2), np.arange(n // 2, n)
    print(
        f'{n} impacts; rms rates after them: new stance leg '
        f'{np.sqrt((impacts.after[held_out, 1] ** 2).mean()):.2f}, other leg '
        f'{np.sqrt((impacts.after[held_out, 0] ** 2).mean()):.2f} rad/s'
    )
    for law in FREE_HIP, ROTOR, LOCKED_HIP, ELASTIC, SLIDING:
        found = least_squares(
            lambda x, law=law: np.r_[misses(impacts, fitted, x, law).ravel(), 0.01 * (x - START)],
            START,
            loss='soft_l1',
            f_scale=0.2,
        )
        off = misses(impacts, held_out, found.x, law)
        result[law] = {
            'parameters': np.exp(found.x),
            'rms': np.sqrt((off**2).mean(axis=0)),
            'share': np.median(np.abs(off[:, 1] / impacts.after[held_out, 1])),
        }
        print(
            f'{law}: held out, new stance leg {result[law]["rms"][1]:.3f} rad/s rms, median '
            f'{100 * result[law]["share"]:.1f} %; other leg {result[law]["rms"][0]:.3f} rad/s; '
            f'hip {np.exp(found.x)[0]:.2f}, place {np.exp(found.x)[1]:.2f}, '
            f'inertia {np.exp(found.x)[2]:.3f}, rotor {np.exp(found.x)[3]:.3f}, '
            f'restitution or friction {np.exp(found.x)[4]:.3f}'
        )
    return result


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: python examples/real_compass.py SysID_data_12exp_120steps.mat')
    main(sys.argv[1])
