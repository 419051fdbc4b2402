# SPDX-License-Identifier: Apache-2.0
"""The longest control period that the gains of curve tracking bear.

A loop that closes at a rate c leaves 1 - c T of an error per tick; periods with c T above 1 are
refused (which rates: doc/controllers/curve_tracking_derivation.md). The direction with the gap g,
g'' = -(lambda + kappa) g' - lambda kappa g with the effort held, needs (lambda + kappa) T < 2
(Jury's criterion).
"""

import numpy as np

from walking_control.controllers import apply_field, CurveTrackingParameters, Field
from walking_control.exceptions import ParameterError


def closing_rate(field: Field, q: np.ndarray, v: np.ndarray) -> float:
    """Return the fastest rate at which states beside a gait approach or leave it, 1/s.

    The field is followed at the speed of the gait; its change along itself is no feedback and left
    out.

    Args:
        q: Points of the gait, ``(k, n)``.
        v: Their rates.
    """
    n, root = q.shape[1], np.linalg.cholesky(field.curve.metric).T
    inverse = np.linalg.inv(root)
    w, spare, zero, fastest = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    for place, rate in zip(q, v, strict=True):
        columns = []
        s = apply_field(field, place, zero, np.nan, w, spare)[0]
        direction = root @ w
        for step in 1e-6 * inverse.T:
            sides = []
            for sign in (1.0, -1.0):
                apply_field(field, place + sign * step, zero, s, w, spare)
                sides.append(root @ w)
            columns.append((sides[0] - sides[1]) / 2e-6)
        across = np.linalg.svd(direction[None])[2][1:]
        J = across @ np.array(columns).T @ across.T
        J *= np.linalg.norm(root @ rate) / np.linalg.norm(direction)
        fastest = max(fastest, np.abs(np.linalg.eigvals(J)).max(initial=0.0))
    return float(fastest)


def loop_rates(
    values: CurveTrackingParameters, speed: np.ndarray, closing: float, n: int
) -> dict[str, tuple[float, str, float]]:
    """Return the rates of all loops, each with the parameter to blame and its largest value.

    Args:
        values: Validated values of the parameter table.
        speed: In the kinetic metric along the gait, J^0.5, ``(k,)``.
        closing: See `closing_rate`, 1/s.
        n: Number of coordinates.

    Returns:
        Loop -> (rate in 1/s, parameter, its largest value at the set rate).
    """
    allowed, fast, slow = values.rate, speed.max(), speed.min()
    if values.method == 'damping':
        decay = slowest = min(values.damping_rate, values.bandwidth)
        name = 'damping_rate' if values.damping_rate <= values.bandwidth else 'bandwidth'
    else:
        decay, name = values.bandwidth, 'bandwidth'
        slowest = min(values.transfer_gain / values.transfer_threshold * slow**2, decay)
    most = allowed - closing
    if closing > decay:
        # of a surface the attraction is what it was fitted to: in proportion, then, about
        name, most = 'attraction', values.attraction * (allowed - decay) / closing
    return {
        'direction': (decay + closing, name, most),
        'energy': (values.energy_gain * fast, 'energy_gain', allowed / fast),
        'integral': ((values.integral_gain * fast) ** 0.5, 'integral_gain', allowed**2 / fast),
        'free matrix': (
            values.freedom_rate**2 / slowest if n > 2 else 0.0,
            'freedom_rate',
            (slowest * allowed) ** 0.5,
        ),
    }


def check_period(
    values: CurveTrackingParameters, speed: np.ndarray, field: Field, q: np.ndarray, v: np.ndarray
) -> None:
    """Refuse a control period too long for the gains.

    Args:
        values: Validated values of the parameter table.
        speed: In the kinetic metric along the gait, J^0.5, ``(k,)``.
        q: Points of the gait, ``(k, n)``.
        v: Their rates.

    Raises:
        ParameterError: With the gain to blame and the largest stable period.
    """
    loops = loop_rates(values, speed, closing_rate(field, q, v), q.shape[1])
    loop = max(loops, key=lambda name: loops[name][0])
    rate, name, most = loops[loop]
    if rate > values.rate:
        bound = f'must be at most {most:.4g}' if most > 0.0 else 'is too fast'
        raise ParameterError(
            f'parameter curve_tracking.{name}',
            value=getattr(values, name),
            limit=f'{bound} at a rate of {values.rate:g} Hz: the {loop} loop closes at '
            f'{rate:.4g} 1/s, for which the largest stable period is {1e3 / rate:.4g} ms',
            remedy=f'lower it or set rate to {np.ceil(rate):.0f} Hz or more',
        )
