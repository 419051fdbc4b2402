# SPDX-License-Identifier: Apache-2.0
"""A start of a planar robot: both feet on the floor, a step apart, as just after touchdown."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from walking_control.adoption.body_tree import BodyTree
from walking_control.adoption.feet import Sole
from walking_control.adoption.mirror import Mirror
from walking_control.adoption.names import without_side
from walking_control.adoption.standing import Standing

SPREAD = 0.35   # of the leg: distance between the feet
TRIES = 8


def find_stride(tree: BodyTree, soles: Sequence[Sole], bend: float,
                told: dict[str, float]) -> tuple[Standing, float]:
    """Return a posture with the first foot ahead, and the pitch of the base in it, rad.

    Args:
        tree: The `BodyTree`, x ahead, joints about y.
        bend: Length of the legs over their longest, where knees let them be shorter.
        told: joint -> position, kept.
    """
    model, data = tree.model, tree.model.createData()
    names = [str(name) for name in model.names][2:]
    limits = [tree.limits[name] for name in names]
    lower, upper = (np.array([-0.6, *(max(-np.pi, limit.lower) for limit in limits)]),
                    np.array([0.6, *(min(np.pi, limit.upper) for limit in limits)]))
    for i, name in enumerate(names):
        if name in told:
            lower[1 + i], upper[1 + i] = told[name] - 1e-9, told[name] + 1e-9
    rest = np.clip(0.0, lower, upper)

    def feet(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q = pin.neutral(model)
        q[3:7] = pin.Quaternion(pin.exp3(np.array([0.0, x[0], 0.0]))).coeffs()
        for value, name in zip(x[1:], names, strict=True):
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q:joint.idx_q + joint.nq] = value if joint.nq == 1 \
                else (np.cos(value), np.sin(value))
        com = pin.centerOfMass(model, data, q).copy()
        return np.array([(data.oMi[sole.body] * sole.place).translation for sole in soles]), com
    zero, _ = feet(rest)
    leg = max(1e-3, float(np.median(np.linalg.norm(zero[:, [0, 2]], axis=1))))
    kneed = len(names) > 2

    def residuals(x: np.ndarray) -> np.ndarray:
        places, com = feet(x)
        middle = places.mean(axis=0)
        tasks = [places[0, 2] - places[1, 2], places[0, 0] - places[1, 0] - SPREAD * leg,
                 0.3 * (com[0] - middle[0])]
        if kneed:
            tasks.append(0.3 * (-middle[2] - bend * leg * np.cos(0.5 * SPREAD)))
        return np.concatenate((tasks, 0.003 * leg * (x - rest)))
    rng = np.random.default_rng(0)
    best, cost = rest, np.inf
    for attempt in range(TRIES):
        start = np.clip(rest + (attempt > 0) * rng.uniform(-0.5, 0.5, len(rest)), lower, upper)
        found = least_squares(residuals, np.clip(start, lower + 1e-10, upper - 1e-10),
                              bounds=(lower, upper), max_nfev=80)
        if found.cost < cost - 1e-9:
            best, cost = found.x, found.cost
    places, com = feet(best)
    error = float(abs(places[0, 2] - places[1, 2]))
    standing = Standing(dict(zip(names, best[1:].tolist(), strict=True)),
                        -float(places[:, 2].mean()), error, leg,
                        float(com[0] - places[:, 0].mean()))
    return standing, float(best[0])


def coordinate_names(tree: BodyTree, mirror: Mirror, feet: Sequence[int]) -> dict[str, str]:
    """Return joint -> name of its coordinate while the first of these feet stands."""
    stance = {tree.joint(body) for body in tree.chain(feet[0])} if feet[0] != 1 else set()
    names = {}
    for joint, (partner, _) in mirror.joints.items():
        if partner == joint:
            names[joint] = f'{joint}_angle'
            continue
        role = without_side(joint)
        names[joint] = f'{"stance" if joint in stance else "swing"}_{role}'
    if len(set(names.values())) < len(names):
        names = {joint: f'{joint}_angle' for joint in names}
    return names


def support_maps(tree: BodyTree, mirror: Mirror, feet: Sequence[int],
                 links: Sequence[str]) -> tuple[list[str], dict[str, dict[str, dict[str, float]]]]:
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
        lean = {'pitch': -1.0}
        for below in tree.chain(body) if body != 1 else []:
            lean[tree.joint(below)] = -float(np.sign(tree.axis(below)[1]))
        maps = {'lean': lean}
        for joint in order:
            partner, sign = mirror.joints[joint]
            maps[names[joint]] = {joint: 1.0} if i == 0 else {partner: sign}
        supports[link] = maps
    return ['lean', *(names[joint] for joint in order)], supports
