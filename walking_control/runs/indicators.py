# SPDX-License-Identifier: Apache-2.0
"""Indicators of the field for a walk on two soles, by phase of the gait [EB21].

Each is a number of every row (how far a balance point lies within the support, an angular momentum)
of which a statistic is taken over the whole walk and over every step; of the steps of a phase mean
and deviation are told. A walk begins and ends with a half step, which does not count.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.integrate import simpson

from walking_control.runs import plain

PHASES = ('fl_single', 'fr_single', 'fl_double', 'fr_double')  # double: after which foot alone
_HALVINGS = 50  # of a quarter of a turn: to rounding


class Walk(NamedTuple):
    """A walk on two soles, measured or simulated, T rows; NaN where a log does not tell.

    Attributes:
        model: Pinocchio's, its base free, by one joint or several in a row.
        frames: Frames of left foot, right foot and trunk.
        soles: Corners of both soles in the axes of their feet, m, ``(2, n, 3)``.
        points: Points of the soles that loads are told about, likewise, ``(2, 3)``.
        time: s, ``(T,)``.
        q: Pinocchio's configurations, ``(T, nq)``.
        v: Their rates, ``(T, nv)``.
        a: Accelerations, ``(T, nv)``.
        contact: Which foot stands, ``(T, 2)``.
        loads: Force and moment of the floor on each sole, floor axes, N and N m, ``(T, 2, 6)``.
        efforts: Of the joints, behind them what is left over on the base, ``(T, nv)``.
    """

    model: Any
    frames: tuple[int, ...]
    soles: np.ndarray
    points: np.ndarray
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    contact: np.ndarray
    loads: np.ndarray
    efforts: np.ndarray


def observe(walk: Walk) -> dict[str, np.ndarray]:
    """Return what moves in a walk, and what moves it, in the floor's axes.

    Returns:
        ``com``, ``velocity`` (m, m/s) and ``spin`` (kg m^2/s), of the centre of mass and about it,
        ``(T, 3)``; ``inertia`` about it, kg m^2, ``(T, 3, 3)``; ``wrench``, force and moment about
        the origin that carry and move it, N and N m, ``(T, 6)``; ``efforts`` of inverse dynamics
        without the floor, ``(T, nv)``; ``places`` and ``turns`` of feet and trunk, m,
        ``(T, 3, 3)`` and ``(T, 3, 3, 3)``; ``corners`` and ``points`` of the soles, m,
        ``(T, 2, n, 3)`` and ``(T, 2, 3)``; ``maps``, Jacobians of the feet, ``(T, 2, 6, nv)``;
        ``speeds`` of the points and angular velocities of the feet, ``(T, 2, 6)``.
    """
    model, data = walk.model, walk.model.createData()
    rows: list[dict[str, np.ndarray]] = []
    feet, axes = walk.frames[:2], pin.LOCAL_WORLD_ALIGNED
    for q, v, a in zip(walk.q, walk.v, walk.a, strict=True):
        efforts = pin.rnea(model, data, q, v, a).copy()
        pin.ccrba(model, data, q, v)
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        force = data.dhg.linear - data.mass[0] * model.gravity.linear
        places = [data.oMf[frame] for frame in walk.frames]
        row = {
            'com': data.com[0],
            'velocity': data.hg.linear / data.mass[0],
            'spin': data.hg.angular,
            'inertia': data.Ig.inertia,
            'wrench': [*force, *(data.dhg.angular + np.cross(data.com[0], force))],
            'efforts': efforts,
            'places': [place.translation for place in places],
            'turns': [place.rotation for place in places],
            'maps': [pin.getFrameJacobian(model, data, frame, axes) for frame in feet],
        }
        rows.append({name: np.array(value) for name, value in row.items()})
    motion = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    turns, ankles = motion['turns'][:, :2], motion['places'][:, :2]
    motion['corners'] = np.einsum('tfij,fnj->tfni', turns, walk.soles) + ankles[:, :, None]
    arms = np.einsum('tfij,fj->tfi', turns, walk.points)
    speeds = np.einsum('tfij,tj->tfi', motion['maps'], walk.v)
    speeds[..., :3] += np.cross(speeds[..., 3:], arms)
    return {**motion, 'points': ankles + arms, 'speeds': speeds}


def standing_feet(contact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the feet that stand, the left one first, ``(T,)`` each; twice the same one alone."""
    first = np.where(contact[:, 0], 0, 1)
    return first, np.where(contact.all(axis=1), 1, first)


def signed_distance(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return how far points lie within convex hulls, negative outside, m, ``(T,)``.

    It is the least of all directions of how far the hull reaches beyond the point. That is least
    across an edge or, outside, away from a corner.

    Args:
        corners: In the plane, m, ``(T, n, 2)``; they need not be in order.
        points: ``(T, 2)``.
    """
    sides = (corners[:, :, None] - corners[:, None]).reshape(len(points), -1, 2)
    across = np.stack((sides[..., 1], -sides[..., 0]), axis=-1)
    ways = np.concatenate((across, points[:, None] - corners), axis=1)
    length = np.linalg.norm(ways, axis=2)
    ways = ways / np.maximum(length, 1e-12)[..., None]
    reach = np.einsum('tkd,tnd->tkn', ways, corners).max(axis=2)
    beyond = reach - np.einsum('tkd,td->tk', ways, points)
    return np.asarray(np.where(length > 1e-9, beyond, np.inf).min(axis=1))


def balance_points(walk: Walk, motion: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return name -> place of the points whose distance to the edge of the support is told.

    The foot placement estimator is where a foot must land so that the body, turning about it as
    one after a plastic impact, comes to rest upright over it ([MMK12] eq. (45)); the capture point
    is that of a pendulum of constant height in the same plane.

    Args:
        walk: The `Walk`.
        motion: What `observe` says of it.

    Returns:
        ``(T, 3)`` each, m.
    """
    first, other = standing_feet(walk.contact)
    rows, up, model = np.arange(len(first)), np.array([0.0, 0.0, 1.0]), walk.model
    mass, gravity = pin.computeTotalMass(model), float(np.linalg.norm(model.gravity.linear))
    points, com, velocity = motion['points'], motion['com'], motion['velocity']
    force, moment = motion['wrench'][:, :3], motion['wrench'][:, 3:]
    loads = np.where(walk.contact[:, :, None], walk.loads, 0.0)
    lift = loads[..., 2:3]
    tilting = np.stack((-loads[..., 4], loads[..., 3]), axis=-1)
    with np.errstate(invalid='ignore', divide='ignore'):
        pressed = (tilting + points[..., :2] * lift).sum(axis=1) / lift.sum(axis=1)
    level = 0.5 * (points[rows, first, 2] + points[rows, other, 2])
    height, below = com[:, 2] - level, np.column_stack((com[:, :2], level))
    axis = (motion['spin'] + height[:, None] * mass * np.cross(up, velocity)) * [1.0, 1.0, 0.0]
    axis /= np.maximum(np.linalg.norm(axis, axis=1), 1e-12)[:, None]
    ahead, climb = np.cross(axis, up), velocity[:, 2]
    along = (velocity * ahead).sum(axis=1)
    inertia = np.einsum('ti,tij,tj->t', axis, motion['inertia'], axis)
    turning = np.linalg.solve(motion['inertia'], motion['spin'][..., None])[..., 0]
    own = inertia * (axis * turning).sum(axis=1)
    low, high = np.zeros(len(rows)), np.full(len(rows), 0.5 * np.pi)
    for _ in range(_HALVINGS):
        angle = 0.5 * (low + high)
        c, s = np.cos(angle), np.sin(angle)
        kept = c * own + height * mass * (s * climb + c * along)
        left = kept**2 * c / (c**2 * inertia + height**2 * mass)
        enough = left > 2.0 * (1.0 - c) * gravity * height * mass
        low, high = np.where(enough, angle, low), np.where(enough, high, angle)
    return {
        'center_of_pressure': np.column_stack((pressed, points[rows, other, 2])),
        'capture_point': below + (along * np.sqrt(height / gravity))[:, None] * ahead,
        'foot_placement_estimator': below + (height * np.tan(low))[:, None] * ahead,
        'zero_moment_point': np.cross(up, moment) / force[:, 2:],
    }


def series_of(walk: Walk, motion: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return name -> what every row tells, of which the indicators are statistics.

    ``beyond_foot`` is how far the capture point is beyond the outer edge of the only foot that
    stands. No step can go there unless the legs cross: above zero the robot falls over this foot.

    Args:
        walk: The `Walk`.
        motion: What `observe` says of it.

    Returns:
        ``(T,)`` or, by axis, ``(T, n)``; NaN where the log does not tell.
    """
    (first, other), rows = standing_feet(walk.contact), np.arange(len(walk.time))
    corners = np.concatenate([motion['corners'][rows, foot, :, :2] for foot in (first, other)], 1)
    stands, places = walk.contact.any(axis=1), balance_points(walk, motion)
    ahead = motion['turns'][:, 2, :2, 0] * np.where(first == 0, 1.0, -1.0)[:, None]
    out = np.column_stack((-ahead[:, 1], ahead[:, 0]))
    edge = np.einsum('tnd,td->tn', corners, out).max(axis=1)
    past = (places['capture_point'][:, :2] * out).sum(axis=1) - edge
    model, phase = walk.model, phases_of(walk.contact)
    stance = np.where((phase == 1) | (phase == 3), 1, 0)
    speeds = motion['speeds'][rows, stance]
    loads = np.where(walk.contact[:, :, None], walk.loads, 0.0)
    with np.errstate(invalid='ignore', divide='ignore'):
        shares = np.abs(loads / loads[..., 2:3])
    shares = np.where(walk.contact[:, :, None], shares, 0.0).sum(axis=1)
    pull = motion['wrench'][:, :3] / pin.computeTotalMass(model) + model.gravity.linear
    return {
        **{
            name: np.where(stands, signed_distance(corners, place[:, :2]), np.nan)
            for name, place in places.items()
        },
        'beyond_foot': np.where(stands & (first == other), past, np.nan),
        'stance': motion['places'][rows, stance, :2],
        'velocity': np.linalg.norm(motion['velocity'], axis=1),
        'acceleration': np.linalg.norm(pull, axis=1),
        'angular_momentum': np.abs(motion['spin']),
        'orientation': np.array([np.linalg.norm(pin.log3(turn)) for turn in motion['turns'][:, 2]]),
        'linear_velocity': np.linalg.norm(speeds[:, :3], axis=1),
        'angular_velocity': np.linalg.norm(speeds[:, 3:], axis=1),
        'friction': np.linalg.norm(shares[:, [0, 1, 3, 4]], axis=1),
        'vertical_force': loads[..., 2].sum(axis=1),
        'residual': np.abs(walk.efforts[:, :6]),
    }


def phases_of(contact: np.ndarray) -> np.ndarray:
    """Return the index in `PHASES` of each row, ``(T,)``; -1 before the first step and in flight.

    Args:
        contact: Which foot stands, ``(T, 2)``.
    """
    alone, single = np.where(contact[:, 0], 0, 1), contact[:, 0] != contact[:, 1]
    last = np.maximum.accumulate(np.where(single, np.arange(len(contact)), -1))
    double = np.where(contact.all(axis=1) & (last >= 0), alone[last] + 2, -1)
    return np.where(single, alone, double)


def find_steps(contact: np.ndarray) -> tuple[slice, dict[str, list[slice]]]:
    """Return the rows without stand and half step at either end, and phase -> those of its steps.

    All rows and no steps where nothing remains.

    Args:
        contact: Which foot stands, ``(T, 2)``.
    """
    phase = phases_of(contact)
    steps: dict[str, list[slice]] = {name: [] for name in PHASES}
    ends = np.flatnonzero(np.diff(phase)) + 1
    single = [row for row in ends if 0 <= phase[row] < 2]
    if len(single) < 3:
        return slice(0, len(phase)), steps
    ends = ends[(ends > single[0]) & (ends <= single[-1])].tolist()
    for begin, end in zip(ends[:-1], ends[1:], strict=True):
        if phase[begin] >= 0:
            steps[PHASES[phase[begin]]].append(slice(begin, end))
    return slice(ends[0], ends[-1]), steps


# of a stretch of ``(T,)`` or, by axis, ``(T, n)``
STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    'average': lambda values, time: values.mean(axis=0),
    'maximum': lambda values, time: values.max(axis=0),
    'integrate': lambda values, time: simpson(values, x=time, axis=0),
    'min_max': lambda values, time: np.array([values.min(), values.max()]),
    'percentage': lambda values, time: (
        100.0 * np.array([(values >= 0).mean(), (values < 0).mean()])
    ),
    'distance': lambda values, time: np.linalg.norm(values[-1] - values[0]),
}

# series, name of the indicator, its unit, and the statistic: an entry a row
INDICATORS: tuple[tuple[str, str, str, str], ...] = (
    ('center_of_pressure', 'center_of_pressure_average_bos_dist', 'm', 'average'),
    ('center_of_pressure', 'center_of_pressure_integrate_bos_dist', 'm s', 'integrate'),
    ('center_of_pressure', 'center_of_pressure_min_max_bos_dist', 'm', 'min_max'),
    ('capture_point', 'capture_point_average_bos_dist', 'm', 'average'),
    ('capture_point', 'capture_point_integrate_bos_dist', 'm s', 'integrate'),
    ('capture_point', 'capture_point_min_max_bos_dist', 'm', 'min_max'),
    ('capture_point', 'capture_point_percentage_bos_dist', '%', 'percentage'),
    ('foot_placement_estimator', 'foot_placement_estimator_average_bos_dist', 'm', 'average'),
    ('foot_placement_estimator', 'foot_placement_estimator_integrate_bos_dist', 'm s', 'integrate'),
    ('foot_placement_estimator', 'foot_placement_estimator_min_max_bos_dist', 'm', 'min_max'),
    ('foot_placement_estimator', 'foot_placement_estimator_percentage_bos_dist', '%', 'percentage'),
    ('zero_moment_point', 'zero_moment_point_average_bos_dist', 'm', 'average'),
    ('zero_moment_point', 'zero_moment_point_integrate_bos_dist', 'm s', 'integrate'),
    ('zero_moment_point', 'zero_moment_point_min_max_bos_dist', 'm', 'min_max'),
    ('beyond_foot', 'capture_point_beyond_foot', 'm', 'maximum'),
    ('stance', 'distance_travelled', 'm', 'distance'),
    ('velocity', 'center_of_mass_avg_velocity', 'm/s', 'average'),
    ('acceleration', 'center_of_mass_avg_acceleration', 'm/s^2', 'average'),
    ('angular_momentum', 'center_of_mass_average_normalized_ang_mom', 'kg m^2/s', 'average'),
    ('angular_momentum', 'center_of_mass_integrate_normalized_ang_mom', 'kg m^2', 'integrate'),
    ('orientation', 'base_orientation_error_l2_dist', 'rad', 'average'),
    ('linear_velocity', 'foot_contact_velocity_aggregated_linear_velocity', 'm/s', 'average'),
    ('angular_velocity', 'foot_contact_velocity_aggregated_angular_velocity', 'rad/s', 'average'),
    ('friction', 'ground_reaction_forces_aggregated', '1', 'average'),
    ('vertical_force', 'vertical_impact_maximum_aggregated', 'N', 'maximum'),
    ('residual', 'residual_forces', 'N, N m', 'average'),
)


def measure(
    walk: Walk, series: Mapping[str, np.ndarray], time: np.ndarray | None = None
) -> dict[str, dict[str, Any]]:
    """Return every indicator of a walk.

    Args:
        walk: The `Walk`.
        series: What `series_of` says of it.
        time: What to integrate over instead of its time.

    Returns:
        name -> ``value`` of the whole walk, ``unit``, and ``by_phase``: phase -> ``mean`` and
        ``deviation`` of its steps and their number, ``steps``. Lists where there are several
        values: of axes, least and largest, percentage from zero up and below. None where the log
        does not tell.
    """
    time = walk.time if time is None else time
    whole, steps = find_steps(walk.contact)
    found = {}
    for name, indicator, unit, what in INDICATORS:
        values, by_phase = series[name], {}
        for phase, stretches in steps.items():
            each = np.array([STATISTICS[what](values[rows], time[rows]) for rows in stretches])
            if len(each) and np.isfinite(each).all():
                spread = each.std(axis=0, ddof=1) if len(each) > 1 else None
                by_phase[phase] = {'mean': each.mean(0), 'deviation': spread, 'steps': len(each)}
        known = np.isfinite(values[whole].reshape(whole.stop - whole.start, -1)).all(axis=1)
        rows = np.flatnonzero(known) + whole.start
        value = STATISTICS[what](values[rows], time[rows]) if len(rows) else None
        found[indicator] = plain({'value': value, 'unit': unit, 'by_phase': by_phase})
    return found
