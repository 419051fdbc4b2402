# SPDX-License-Identifier: Apache-2.0
"""A start that stands: feet flat under the centre of mass, or of a planar robot a step apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from walking_control.lab.adoption import BodyTree, Mirror, Sole, without_side

TRIES = 12
INSIDE = 0.02  # rad: how far from its limits a joint stays at the start
REST = 0.02  # weight of every joint's distance from rest
MAY_BE_OFF = 0.002  # m, rad
SPREAD = 0.35  # of the leg: distance between the feet
STRIDE_TRIES = 8
BENT = 0.1  # rad: a joint that is bent more as the robot stands bends its leg
SEATED = 0.175  # rad: by so much one that sits may be tilted and does not tip over its soles' ends


@dataclass(frozen=True)
class Standing:
    """A posture and what it is worth.

    Args:
        posture: joint -> position, rad or m.
        height: Of the base over the floor, m.
        error: Largest error of feet and centre of mass, m or rad.
        longest: Longest leg under its hip, from first joint to ankle or point, m.
        offset: Centre of mass ahead of the middle of the feet, m.
    """

    posture: dict[str, float]
    height: float
    error: float
    longest: float
    offset: float


class _Problem:
    """Residuals of a posture; partners move alike.

    Joints of the legs move; the others rest at 0, or as near to it as their limits let them.

    Args:
        soles: The soles, left first.
        mirror: The `Mirror`; None: joints are free of each other.
        fixed: joint -> position, as told.
    """

    def __init__(
        self, tree: BodyTree, soles: Sequence[Sole], mirror: Mirror | None, fixed: dict[str, float]
    ) -> None:
        self.tree, self.soles = tree, soles
        self.model, self.data = tree.model, tree.model.createData()
        names = [str(name) for name in self.model.names][2:]
        self.names = names
        chains = [tree.chain(sole.body) for sole in soles]
        shared = set(chains[0]).intersection(*chains[1:])
        self._hips = [next(body for body in chain if body not in shared) for chain in chains]
        legs = {tree.joint(body) for chain in chains for body in chain if body not in shared}
        free: dict[str, list[tuple[str, float]]] = {}
        for name in names:
            partner, sign = mirror.joints.get(name, (name, 1.0)) if mirror else (name, 1.0)
            if name in fixed or partner in free and partner != name or name not in legs:
                continue
            free[name] = [(name, 1.0)]
            if partner != name and partner not in fixed:
                free[name].append((partner, sign))
        self.free = free
        self.fixed = {**{name: 0.0 for name in names}, **fixed}
        bounds = [self._bounds(moved) for moved in free.values()]
        self.lower, self.upper = (np.array([bound[i] for bound in bounds]) for i in (0, 1))
        self.rest = np.clip(0.0, self.lower, self.upper)

    def _bounds(self, moved: list[tuple[str, float]]) -> tuple[float, float]:
        low, high = -np.inf, np.inf
        for name, sign in moved:
            limit = self.tree.limits[name]
            ends = (limit.lower, limit.upper) if sign > 0.0 else (-limit.upper, -limit.lower)
            if min(high, ends[1]) - max(low, ends[0]) > 1e-3:  # else the two have a slip
                low, high = max(low, ends[0]), min(high, ends[1])
        low, high = max(low, -np.pi), min(high, np.pi)
        margin = min(INSIDE, 0.25 * (high - low))
        return low + margin, high - margin

    def posture(self, x: np.ndarray) -> dict[str, float]:
        """Return joint -> position."""
        posture = dict(self.fixed)
        for value, moved in zip(x, self.free.values(), strict=True):
            for name, sign in moved:
                posture[name] = float(sign * value)
        for name, limit in self.tree.limits.items():
            if name not in self.fixed or self.fixed[name] == 0.0:
                posture[name] = min(max(posture[name], limit.lower), limit.upper)
        return posture

    def place(self, posture: dict[str, float]) -> tuple[list[pin.SE3], np.ndarray, np.ndarray]:
        """Return placements of soles, centre of mass, ways from hips to ankles or points."""
        com = place_joints(self.model, self.data, pin.neutral(self.model), posture)
        soles = [self.data.oMi[sole.body] * sole.place for sole in self.soles]
        legs = np.array(
            [
                (place if sole.is_point else self.data.oMi[sole.body]).translation
                - self.data.oMi[hip].translation
                for sole, place, hip in zip(self.soles, soles, self._hips, strict=True)
            ]
        )
        return soles, com, legs


def place_joints(
    model: pin.Model, data: pin.Data, q: np.ndarray, posture: dict[str, float]
) -> np.ndarray:
    """Place a model at q with joints so set, and return its centre of mass, m, ``(3,)``."""
    for name, value in posture.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else (np.cos(value), np.sin(value))
        )
    return np.array(pin.centerOfMass(model, data, q))


def _search(
    residuals: Callable[[np.ndarray], np.ndarray],
    rest: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    tries: int,
    spread: float,
    most: int,
) -> np.ndarray:
    """Return the best that least squares find from rest, and from places `spread` around it."""
    rng = np.random.default_rng(0)
    best, cost = rest, np.inf
    for attempt in range(tries):
        start = rest + (attempt > 0) * rng.uniform(-spread, spread, len(rest))
        start = np.clip(start, bounds[0] + 1e-10, bounds[1] - 1e-10)
        found = least_squares(residuals, start, bounds=bounds, max_nfev=most)
        if found.cost < cost - 1e-7:
            best, cost = found.x, found.cost
    return best


def find_longest(problem: _Problem) -> float:
    """Return the longest that the legs get under the hips, first joint to ankle or point, m."""

    def reach(x: np.ndarray) -> np.ndarray:
        return np.asarray(-problem.place(problem.posture(x))[2][:, 2])

    # beyond any leg: then least squares stretches
    far = 10.0 * float(np.linalg.norm(problem.place(problem.posture(problem.rest))[2][0]))

    def residuals(x: np.ndarray) -> np.ndarray:
        places = problem.place(problem.posture(x))[0]
        tilts = [
            100.0 * far * place.rotation[:2, 2]
            for sole, place in zip(problem.soles, places, strict=True)
            if not sole.is_point
        ]
        return np.concatenate((far - reach(x), *tilts))

    bounds = problem.lower, problem.upper
    return float(reach(_search(residuals, problem.rest, bounds, 3, 0.5, 40)).min())


def find_standing(
    tree: BodyTree,
    soles: Sequence[Sole],
    mirror: Mirror | None,
    bend: float,
    told: dict[str, float],
) -> Standing:
    """Return the nearest posture to rest that stands with legs of a given length.

    Args:
        tree: The `BodyTree`, of a free base, x ahead.
        soles: The soles, left first.
        mirror: The `Mirror` of a robot on two feet; None: no symmetry is asked for.
        bend: Length of the legs over their longest.
        told: joint -> position, kept.
    """
    problem = _Problem(tree, soles, mirror, told)
    longest = find_longest(problem)
    whole = len(told) == len(problem.names)
    natural = problem.place(problem.posture(problem.rest))[2][:, 1]  # how far the legs stand out

    def residuals(x: np.ndarray, rest: float = REST) -> np.ndarray:
        places, com, legs = problem.place(problem.posture(x))
        heights = np.array([place.translation[2] for place in places])
        middle = np.mean([place.translation for place in places], axis=0)
        tasks = [*(heights - heights.mean()), com[0] - middle[0], com[1] - middle[1]]
        for sole, place, leg, width in zip(soles, places, legs, natural, strict=True):
            if not sole.is_point:
                tasks += [place.rotation[0, 2], place.rotation[1, 2], 0.3 * place.rotation[1, 0]]
            # on a point a leg could lean instead of bending
            length = np.linalg.norm(leg) if sole.is_point else -leg[2]
            tasks += [0.3 * (length - bend * longest), 0.3 * (leg[1] - width)]
        return np.concatenate((tasks, rest * 0.1 * longest * (x - problem.rest)))

    bounds = problem.lower, problem.upper
    best = _search(residuals, problem.rest, bounds, 1 if whole else TRIES, 0.6, 60)
    best = least_squares(
        residuals,
        best,
        bounds=bounds,
        max_nfev=200,
        kwargs={'rest': 1e-3 * REST},
    ).x
    posture = problem.posture(best)
    places, com, _ = problem.place(posture)
    heights = [place.translation[2] for place in places]
    middle = np.mean([place.translation for place in places], axis=0)
    flat = [
        abs(place.rotation[i, 2])
        for sole, place in zip(soles, places, strict=True)
        if not sole.is_point
        for i in (0, 1)
    ]
    error = max([np.ptp(heights), abs(com[0] - middle[0]), *flat])
    return Standing(
        posture, -float(np.mean(heights)), float(error), longest, float(com[0] - middle[0])
    )


def find_seat(
    tree: BodyTree, soles: Sequence[Sole], posture: dict[str, float]
) -> tuple[float, float] | None:
    """Return how a robot rests on its legs' stops: height of its base (m), lean ahead (rad).

    The joints that bend its legs as it stands are bent as far as they go. The weight must lie
    so far within the sole that a jolt does not tip it, and push each of them on into its stop; None
    if it does not.

    Args:
        tree: The `BodyTree`, x ahead.
        soles: The soles.
        posture: joint -> position, as it stands.
    """
    data = tree.model.createData()
    bent = {
        body: posture[tree.joint(body)]
        for sole in soles
        for body in tree.chain(sole.body)
        if abs(posture[tree.joint(body)]) > BENT
    }
    folded = {
        tree.joint(body): getattr(
            tree.limits[tree.joint(body)], 'upper' if angle > 0.0 else 'lower'
        )
        for body, angle in bent.items()
    }
    if not all(map(math.isfinite, folded.values())):  # a joint without a stop
        return None
    com = place_joints(tree.model, data, pin.neutral(tree.model), {**posture, **folded})
    for sole in soles:
        floor = (data.oMi[sole.body] * sole.place).inverse()  # from base axes to those of the sole
        ahead, _, high = floor.act(com)
        tips = [
            angle * tree.axis(body)[1] * (ahead - floor.act(data.oMi[body].translation)[0])
            for body, angle in bent.items()
            if body in tree.chain(sole.body)
        ]
        if (
            math.atan2(0.5 * sole.length - abs(ahead), high) < SEATED
            or not tips
            or max(tips) >= 0.0
        ):
            return None
    return float(floor.translation[2]), math.asin(floor.rotation[0, 2])


def find_stride(
    tree: BodyTree, soles: Sequence[Sole], bend: float, told: dict[str, float]
) -> tuple[Standing, float]:
    """Return a posture with the first foot ahead, and the pitch of the base in it, rad.

    Args:
        tree: The `BodyTree`, x ahead, joints about y.
        bend: Length of the legs over their longest, where knees let them be shorter.
        told: joint -> position, kept.
    """
    model, data = tree.model, tree.model.createData()
    names = [str(name) for name in model.names][2:]
    limits = [tree.limits[name] for name in names]
    lower, upper = (
        np.array([-0.6, *(max(-np.pi, limit.lower) for limit in limits)]),
        np.array([0.6, *(min(np.pi, limit.upper) for limit in limits)]),
    )
    for i, name in enumerate(names):
        if name in told:
            lower[1 + i], upper[1 + i] = told[name] - 1e-9, told[name] + 1e-9
    rest = np.clip(0.0, lower, upper)

    def feet(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q = pin.neutral(model)
        q[3:7] = pin.Quaternion(pin.exp3(np.array([0.0, x[0], 0.0]))).coeffs()
        com = place_joints(model, data, q, dict(zip(names, x[1:].tolist(), strict=True)))
        return np.array([(data.oMi[sole.body] * sole.place).translation for sole in soles]), com

    zero, _ = feet(rest)
    leg = max(1e-3, float(np.median(np.linalg.norm(zero[:, [0, 2]], axis=1))))
    kneed = len(names) > 2

    def residuals(x: np.ndarray) -> np.ndarray:
        places, com = feet(x)
        middle = places.mean(axis=0)
        tasks = [
            places[0, 2] - places[1, 2],
            places[0, 0] - places[1, 0] - SPREAD * leg,
            0.3 * (com[0] - middle[0]),
        ]
        if kneed:
            tasks.append(0.3 * (-middle[2] - bend * leg * np.cos(0.5 * SPREAD)))
        return np.concatenate((tasks, 0.003 * leg * (x - rest)))

    best = _search(residuals, rest, (lower, upper), STRIDE_TRIES, 0.5, 80)
    places, com = feet(best)
    error = float(abs(places[0, 2] - places[1, 2]))
    standing = Standing(
        dict(zip(names, best[1:].tolist(), strict=True)),
        -float(places[:, 2].mean()),
        error,
        leg,
        float(com[0] - places[:, 0].mean()),
    )
    return standing, float(best[0])


def coordinate_names(tree: BodyTree, mirror: Mirror, feet: Sequence[int]) -> dict[str, str]:
    """Return joint -> name of its coordinate while the first of these feet stands."""
    stance = {tree.joint(body) for body in tree.chain(feet[0])} if feet[0] != 1 else set()
    names = {
        joint: f'{joint}_angle'
        if partner == joint
        else f'{"stance" if joint in stance else "swing"}_{without_side(joint)}'
        for joint, (partner, _) in mirror.joints.items()
    }
    if len(set(names.values())) < len(names):
        names = {joint: f'{joint}_angle' for joint in names}
    return names


def support_maps(
    tree: BodyTree, mirror: Mirror, feet: Sequence[int], links: Sequence[str]
) -> tuple[list[str], dict[str, dict[str, dict[str, float]]]]:
    """Return coordinates and supports of the robot file.

    The first coordinate is the lean of the stance foot's link back from the floor normal, the
    others the joints; on the second foot each joint is its partner's.

    Args:
        tree: The `BodyTree`, joints about y.
        feet: Bodies of the feet.
        links: Their links in the robot file.
    """
    names = coordinate_names(tree, mirror, feet)
    order = [str(name) for name in tree.model.names][2:]
    supports: dict[str, dict[str, dict[str, float]]] = {}
    for i, (body, link) in enumerate(zip(feet, links, strict=True)):
        chain = tree.chain(body) if body != 1 else []
        turns = {tree.joint(below): -float(np.sign(tree.axis(below)[1])) for below in chain}
        partners = {joint: (joint, 1.0) if i == 0 else mirror.joints[joint] for joint in order}
        supports[link] = {
            'lean': {'pitch': -1.0, **turns},
            **{names[joint]: {partner: sign} for joint, (partner, sign) in partners.items()},
        }
    return ['lean', *(names[joint] for joint in order)], supports
