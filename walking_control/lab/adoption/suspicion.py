# SPDX-License-Identifier: Apache-2.0
"""What looks like a mistake in a description, each in one line.

What differs between a joint and its mirror image is a slip on one side; what both sides share is
judged by lengths, densities and radii of gyration that bodies have.
"""

from collections.abc import Iterator
from itertools import product
from statistics import median

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption import BodyTree, Mirror, REFLECTION, ROOT, side_of

PLACE = 0.02  # of the robot: how far a joint may lie from its image
OFF = 0.1  # of a body: how far its centre of mass may lie from its image
AXIS = 0.05  # rad: how far an axis may point from its image
MASS = 1.25  # factor between masses of a pair
LIGHT = 0.005  # of the robot: below it a body is not compared
INERTIA = 0.35  # relative difference of inertia tensors
LEGS = (0.03, 5.0)  # m
GYRATION = (0.015, 1.2)  # of the body: radius of gyration
DENSITY = 2e4  # kg/m^3 of the box around a body: beyond what motors in a small shape make
SHOWN = 0.5  # of a body's size: shapes that are smaller say nothing of it
DENSE = 6.0  # times the density of the rest, of a body that makes up half of the mass


def find_suspicions(
    tree: BodyTree, mirror: Mirror | None, leg: float, planar: bool
) -> list[InvalidInput]:
    """Return what looks like a mistake; the topmost of those that follow from one another.

    Args:
        tree: The `BodyTree`, x ahead.
        mirror: Its `Mirror`, None of a robot that has none.
        leg: Length of a leg, m.
        planar: Whether it moves in the plane.
    """
    found = list(_units(tree, leg))
    if found:  # the rest would say the same of every part
        return found
    if mirror is not None:
        found += _sides(tree, mirror, planar)
        found += _places(tree, mirror, planar)
        found += [
            each
            for pair in mirror.pairs
            if pair[0] != pair[1]
            for each in _pair(tree, mirror, pair, planar)
        ]
    paired = {
        body for pair in (mirror.pairs if mirror else ()) if pair[0] != pair[1] for body in pair
    }
    found += _bodies(tree, paired)
    return found


def _units(tree: BodyTree, leg: float) -> Iterator[InvalidInput]:
    if leg > LEGS[1]:
        yield InvalidInput(
            'unit of length',
            value=f'{leg:.4g} m',
            limit=f'is the length of a leg, {LEGS[1]:g} m at most'
            + (': millimetres' if leg < LEGS[1] * 1e3 else ''),
            remedy='write lengths in m',
        )
    elif leg < LEGS[0]:
        yield InvalidInput(
            'unit of length',
            value=f'{leg:.4g} m',
            limit=f'is the length of a leg, {LEGS[0]:g} m at least',
            remedy='write lengths in m, or name the feet: --feet',
        )
    elif tree.mass > 3000.0 * leg**2:
        yield InvalidInput(
            'unit of mass',
            value=f'{tree.mass:.4g} kg',
            limit=f'of a robot with legs of {leg:.3g} m: grams',
            remedy='write masses in kg',
        )


def _sides(tree: BodyTree, mirror: Mirror, planar: bool) -> Iterator[InvalidInput]:
    """Yield the first pair whose names say left and right the other way round."""
    for a, b in () if planar else mirror.pairs:
        name = tree.joint(a)
        y, other = (float(tree.places[body].translation[1]) for body in (a, b))
        if a != b and side_of(name) * y < -1e-3 and side_of(tree.joint(b)) * other < -1e-3:
            yield InvalidInput(
                f'joint {name}',
                value=round(y, 4),
                limit='m to the left is where it lies: left and right are swapped',
                remedy='exchange the origins or the names; --forward says where ahead is',
            )
            return


def _places(tree: BodyTree, mirror: Mirror, planar: bool) -> Iterator[InvalidInput]:
    """Yield joints whose place in their parent is no mirror image, the topmost of each leg."""
    size = float(np.ptp([place.translation for place in tree.places[1:]], axis=0).max())
    flip = np.eye(3) if planar else REFLECTION
    wrong: set[int] = set()
    for a, b in mirror.pairs:
        parents = [int(tree.model.parents[body]) for body in (a, b)]
        if a == b or not set(parents).isdisjoint(wrong):
            wrong |= {a, b} if a != b else set()
            continue
        here, there = (
            tree.places[body].translation - tree.places[parent].translation
            for body, parent in zip((a, b), parents, strict=True)
        )
        off = flip @ here - there
        off -= (off @ tree.axis(b)) * tree.axis(b)  # along its axis a joint is where one likes
        if planar:
            off[1] = 0.0
        names = f'{tree.joint(a)} and {tree.joint(b)}'
        turn = _turned(tree, a, b, planar)
        if np.linalg.norm(off) > PLACE * size:
            yield InvalidInput(
                f'distance in m by which the origins of {names} miss mirror images',
                value=round(float(np.linalg.norm(off)), 4),
                limit=_slip(flip @ here, there),
            )
        elif turn > AXIS:
            yield InvalidInput(
                f'angle in rad by which the axes of {names} miss mirror images',
                value=round(turn, 3),
                limit='a frame is turned',
                remedy='compare their rpy and xyz of axis',
            )
        else:
            continue
        wrong |= {a, b}


def _slip(image: np.ndarray, there: np.ndarray) -> str | None:
    """Return in words which slip makes one place of the other, or None."""
    less, more = sorted(map(np.linalg.norm, (image, there)))
    if 300.0 * less < more < 3000.0 * less:
        return 'one is in millimetres'
    for signs in product((1.0, -1.0), repeat=3):
        if min(signs) < 0.0 and np.allclose(signs * image, there, atol=1e-3):
            axes = ' and '.join(
                axis
                for axis, sign in zip('xyz', signs, strict=True)
                if sign < 0 and abs(there['xyz'.index(axis)]) > 1e-3
            )
            if axes:
                return f'the sign of {axes} is flipped'
    if abs(np.linalg.norm(image) - np.linalg.norm(there)) < 1e-3:
        return 'a frame is turned'
    return None


def _turned(tree: BodyTree, a: int, b: int, planar: bool) -> float:
    image = tree.axis(a) if planar else REFLECTION @ tree.axis(a)
    return float(np.arccos(min(1.0, abs(tree.axis(b) @ image))))


def _pair(
    tree: BodyTree, mirror: Mirror, pair: tuple[int, int], planar: bool
) -> Iterator[InvalidInput]:
    """Yield what differs between two bodies and their joints, apart from their places."""
    a, b = pair
    names = f'{tree.joint(a)} and {tree.joint(b)}'
    yield from _limits(tree, mirror, a, b)
    one, other = (tree.model.inertias[body] for body in pair)
    if max(one.mass, other.mass) < LIGHT * tree.mass:
        return
    if any(is_hollow(tree, body) for body in pair):
        return  # said of the body
    light, heavy = sorted(pair, key=lambda body: tree.model.inertias[body].mass)
    ratio = tree.model.inertias[heavy].mass / max(1e-12, tree.model.inertias[light].mass)
    if ratio >= MASS:
        yield InvalidInput(
            f'mass behind {names}',
            value=f'{one.mass:.4g} and {other.mass:.4g} kg',
            limit=f'differs by a factor of {ratio:.3g}; {tree.joint(heavy)} moves the heavier'
            if tree.model.inertias[light].mass > 0.0
            else f'but joint {tree.joint(light)} moves a link without <inertial>',
            remedy='one of them has a slip',
        )
        return
    if _turned(tree, a, b, planar) > AXIS:
        return  # said of the axis
    flip = np.eye(3) if planar else REFLECTION
    turns = [tree.places[body].rotation for body in pair]
    levers = [turn @ body.lever for turn, body in zip(turns, (one, other), strict=True)]
    off = flip @ levers[0] - levers[1]
    size = max(tree.extent(a), tree.extent(b))
    if planar:
        off[1] = 0.0
    whole = float(np.ptp([place.translation for place in tree.places[1:]], axis=0).max())
    if np.linalg.norm(off) > max(OFF * size, 0.5 * PLACE * whole):
        yield InvalidInput(
            f'distance in m by which the centres of mass behind {names} miss mirror images',
            value=round(float(np.linalg.norm(off)), 4),
            limit=_slip(flip @ levers[0], levers[1]),
        )
        return
    tensors = [turn @ body.inertia @ turn.T for turn, body in zip(turns, (one, other), strict=True)]
    image = flip @ tensors[0] @ flip
    scale = max(float(np.linalg.norm(image)), float(np.linalg.norm(tensors[1])), 1e-12)
    if np.linalg.norm(image - tensors[1]) > INERTIA * scale:
        moments = [np.linalg.eigvalsh(tensor) for tensor in tensors]
        alike = np.allclose(moments[0], moments[1], rtol=0.1)
        sizes = [max(1e-15, float(np.linalg.norm(moment))) for moment in moments]
        factor = sizes[0] / sizes[1]
        yield InvalidInput(
            f'inertia behind {names}',
            value=round(max(factor, 1.0 / factor), 2),
            limit='is the factor between them'
            if not alike
            else 'times the same moments, about other axes: a frame is turned',
        )


def _limits(tree: BodyTree, mirror: Mirror, a: int, b: int) -> Iterator[InvalidInput]:
    names = f'{tree.joint(a)} and {tree.joint(b)}'
    one, other = (tree.limits[tree.joint(body)] for body in (a, b))
    sign = mirror.joints[tree.joint(a)][1]

    def fits(way: float) -> bool:
        image = (one.lower, one.upper) if way > 0.0 else (-one.upper, -one.lower)
        return np.allclose(image, (other.lower, other.upper), atol=0.02)

    if not fits(sign) and fits(-sign):
        yield InvalidInput(
            f'axis of {names}',
            value=f'mirrored with the sign {"+" if sign > 0.0 else "-"}',
            limit='but their limits with the other: one sign is flipped',
            remedy='turn one axis round, or exchange its limits',
        )
    efforts = sorted((one.effort, other.effort))
    if np.isfinite(efforts[1]) and efforts[1] > 2.0 * efforts[0]:
        yield InvalidInput(
            f'effort limits of {names}',
            value=f'{one.effort:g} and {other.effort:g}',
            limit='should be the same',
        )


def _bodies(tree: BodyTree, paired: set[int]) -> Iterator[InvalidInput]:
    """Yield bodies that no body can be, by density and radius of gyration."""
    heavy = [
        body
        for body in range(ROOT, tree.model.njoints)
        if tree.model.inertias[body].mass > 0.02 * tree.mass
    ]
    hollow = [_moved(tree, body) for body in heavy if is_hollow(tree, body)]
    if hollow:
        yield InvalidInput(
            'inertia of ' + ', '.join(hollow),
            limit='is that of a point, though the bodies have a size',
            remedy='check its unit',
        )
    densities = {
        body: tree.model.inertias[body].mass / volume
        for body in heavy
        if _is_shaped(tree, body)
        and (volume := float(np.prod(np.ptp(tree.points(body), axis=0)))) > 0.0  # of the box
    }
    for body in heavy:
        inertia, name = tree.model.inertias[body], _moved(tree, body)
        size = max(tree.extent(body), 2.0 * float(np.linalg.norm(inertia.lever)))
        gyration = float(np.sqrt(max(0.0, 0.5 * np.trace(inertia.inertia) / inertia.mass)))
        if size > 0.0 and gyration > GYRATION[1] * size and _is_shaped(tree, body):
            yield InvalidInput(
                f'inertia of {name}',
                value=f'{np.trace(inertia.inertia):.3g} kg m^2 in all',
                limit=f'is that of a body of {gyration:.3g} m radius; its size is {size:.3g} m',
                remedy='check its unit',
            )
        others = [density for other, density in densities.items() if other != body]
        if body in densities and densities[body] > DENSITY:
            yield InvalidInput(
                f'mass of {name}',
                value=f'{inertia.mass:.4g} kg',
                limit=f'makes it {densities[body]:.3g} kg/m^3, {DENSITY:g} at most',
            )
        elif (
            body in densities
            and body not in paired
            and len(others) > 1
            and densities[body] > DENSE * median(others)
            and inertia.mass > 0.5 * tree.mass
        ):
            yield InvalidInput(
                f'mass of {name}',
                value=f'{inertia.mass:.4g} kg',
                limit=f'makes it {densities[body] / median(others):.2g} times as dense as the rest',
            )


def is_hollow(tree: BodyTree, body: int) -> bool:
    """Return whether a body with a shape has hardly any inertia; point masses have no shape."""
    inertia = tree.model.inertias[body]
    if inertia.mass < 1e-9:
        return False
    gyration = float(np.sqrt(max(0.0, 0.5 * np.trace(inertia.inertia) / inertia.mass)))
    return _is_shaped(tree, body) and gyration < GYRATION[0] * tree.extent(body)


def _moved(tree: BodyTree, body: int) -> str:
    return 'the base' if body == ROOT else f'what {tree.joint(body)} moves'


def _is_shaped(tree: BodyTree, body: int) -> bool:
    """Return whether shapes show most of a body, not a foot at its end alone."""
    points = tree.points(body)
    return len(points) > 3 and float(np.linalg.norm(np.ptp(points, axis=0))) > SHOWN * tree.extent(
        body
    )
