# SPDX-License-Identifier: Apache-2.0
"""Which links are feet and what their soles are; then where ahead is, and how the base moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from walking_control.exceptions import InvalidInput, require, require_known
from walking_control.lab.adoption import (
    BodyTree,
    Guess,
    HIGH,
    LOW,
    MEDIUM,
    partner_name,
    ROOT,
    side_of,
    TOLD,
    Told,
)

LEVEL = 0.05  # of the height of a leg: feet are no higher above the lowest one
DEPTH = 0.002  # of the leg: what lies so near to the plane of a sole touches the floor
SHORTEST = 0.06  # of the leg: what is shorter is a point
STEEP = 0.5  # cosine between the way from ankle to sole and the sole's normal, at least
LEANING = 0.7  # cosine to the axis across: sides of a foot are no soles
TURNS = 4.0 * np.pi  # rad: room of a joint that no leg needs
NARROW = 0.01  # m: a line is given this width, lest it be nothing


@dataclass(frozen=True)
class Sole:
    """Where a foot touches the floor.

    Args:
        link: The link that carries it.
        body: Its body.
        place: Its frame in the body: z away from the floor, x ahead, the origin in the middle.
        length: Along x, m; 0 of a point.
        width: Along y, m; 0 of a point.
        radius: Of the ball of a point, m.
    """

    link: str
    body: int
    # its frame in the body: z away from the floor, x ahead, the origin in the middle
    place: pin.SE3
    length: float
    width: float
    radius: float = 0.0

    @property
    def is_point(self) -> bool:
        """Whether it turns freely on the floor."""
        return self.length == 0.0


def find_feet(tree: BodyTree, told: Told) -> tuple[list[str], Guess]:
    """Return the links that are feet, as told or guessed, and the `Guess` of them.

    Raises:
        InvalidInput: A link that was told does not exist, or fewer than two feet are found.
    """
    bodies = {link: body for link, body, _ in tree.frames}
    if told.feet:
        for link in told.feet:
            require_known(link, bodies, f'--feet {link}', limit='is no link of the description')
        require(
            len({bodies[link] for link in told.feet}) >= 2,
            '--feet',
            value=','.join(told.feet),
            limit='must name links of two parts that move against each other',
        )
        return list(told.feet), Guess('feet', ', '.join(told.feet), TOLD, 'as told', '--feet')
    ends = {
        link: _lowest(tree, link, body)
        for link, body, _ in tree.frames
        if len(tree.children(body)) <= (body == ROOT)  # nothing hangs on it, on the base one part
    }
    require(ends, 'feet', limit='nothing ends below the base', remedy='--feet A,B')
    lowest = bodies[min(ends, key=lambda name: ends[name])]
    height = max(
        1e-9,
        max(float(tree.places[body].translation[2]) for body in tree.chain(lowest) or [ROOT])
        - min(ends.values()),
    )
    low = [link for link, z in ends.items() if z - min(ends.values()) <= LEVEL * height]
    feet: dict[int, str] = {}
    for link in sorted(low, key=lambda name: (not _has_shape(tree, name), ends[name])):
        feet.setdefault(bodies[link], link)
    other = partner_name(*feet.values()) if len(feet) == 1 else None
    if other is not None and other in ends:
        feet[bodies[other]] = other  # a leg that is far longer has a slip, of which more later
    shaped = all(_has_shape(tree, link) for link in feet.values())
    require(
        len(feet) >= 2 and len(feet) % 2 == 0,
        'feet',
        value=', '.join(feet.values()),
        limit='are the parts that end lowest at zero angles, and a walker has two',
        remedy='--feet A,B',
    )
    wheels = [link for body, link in feet.items() if _is_wheel(tree, body)]
    require(
        not wheels,
        'feet',
        value=', '.join(wheels),
        limit='are wheels: they turn about their middle, without end or for many turns',
        remedy='--fix the joints that turn them, or --feet A,B',
    )
    arms = [link for body, link in feet.items() if _is_arm(tree, body)]
    require(
        len(arms) != 2,
        'feet',
        value=', '.join(arms),
        limit='end lowest at zero angles, but hang on a shoulder and an elbow: arms are no legs',
        remedy='adopt the description with legs, or --feet A,B',
    )
    names = sorted(feet.values())
    return names, Guess(
        'feet',
        ', '.join(names),
        HIGH if shaped and len(feet) == 2 else LOW,
        'the lowest ends at zero angles' + (', with shapes' if shaped else ', without any shape'),
        '--feet',
    )


def _is_wheel(tree: BodyTree, body: int) -> bool:
    """Return whether a body has its middle on the axis of a joint that turns again and again."""
    points = tree.points(body)
    if body == ROOT or len(points) < 4:
        return False
    endless = [
        limit.kind == 'continuous' or limit.kind == 'revolute' and limit.room > TURNS
        for limit in (tree.limits[tree.joint(part)] for part in tree.chain(body))
    ]
    # of a whole leg of such joints nobody has told the limits
    turns = endless[-1] and (len(endless) == 1 or not all(endless))
    axis = tree.places[body].rotation.T @ tree.axis(body)
    beside = np.cross(axis, 0.5 * (points.max(axis=0) + points.min(axis=0)))
    return turns and float(np.linalg.norm(np.ptp(points, axis=0))) > 10.0 * float(
        np.linalg.norm(beside)
    )


def _is_arm(tree: BodyTree, body: int) -> bool:
    """Return whether joints of a limb are named after those of an arm."""
    names = ' '.join(tree.joint(part) for part in tree.chain(body)).lower()
    return 'shoulder' in names and 'elbow' in names


def _has_shape(tree: BodyTree, link: str) -> bool:
    return any(shape.link == link for shape in tree.shapes)


def _lowest(tree: BodyTree, link: str, body: int) -> float:
    points = tree.points(body, link)
    if not len(points):
        points = next(place.translation[None] for name, _, place in tree.frames if name == link)
    return float(tree.at_zero(body, points)[:, 2].min())


def find_sole(tree: BodyTree, link: str, leg: float, told: Told) -> tuple[Sole, Guess]:
    """Return the `Sole` of a foot, in axes whose x is ahead, and the `Guess` of it.

    The side of the foot's convex hull that faces away from the ankle and has most of the foot
    within `DEPTH` of its plane.

    Args:
        tree: The `BodyTree`, x ahead.
        link: The foot.
        leg: Length of the leg, m.
        told: What the user says.
    """
    body, frame = next((body, place) for name, body, place in tree.frames if name == link)
    turn = tree.places[body].rotation
    points = tree.points(body)
    what = f'sole of {link}'
    side = turn.T @ [0.0, 1.0, 0.0]
    reaches_zero = (
        all(
            limit.lower <= 0.0 <= limit.upper
            for limit in (tree.limits[tree.joint(joint)] for joint in tree.chain(body))
        )
        if body != ROOT
        else True
    )
    if len(points) < 4:
        place = pin.SE3(turn.T, frame.translation)
        if told.sole is not None:
            return Sole(link, body, place, *told.sole), Guess(
                what, _size(*told.sole), TOLD, 'as told, about its origin', '--sole'
            )
        return Sole(link, body, place, 0.0, 0.0), Guess(
            what, 'a point at its origin', LOW, 'it has no shape', '--sole'
        )
    best = max(
        _faces(points, turn.T @ [0.0, 0.0, -1.0], side),
        key=lambda normal: _merit(points, normal, side, leg, turn if reaches_zero else None),
    )
    patch, place = _patch(points, best, side, leg)
    length, width = (float(x) for x in np.ptp(patch, axis=0)[:2])
    if told.sole is not None:
        length, width = told.sole
        guess = Guess(what, _size(length, width), TOLD, 'as told', '--sole')
    elif max(length, width) < SHORTEST * leg:
        guess = Guess(
            what,
            'a point',
            HIGH if max(length, width) < 0.5 * SHORTEST * leg else MEDIUM,
            f'it touches a plane over {max(length, width):.3g} m',
            '--sole',
        )
        length = width = 0.0
    else:
        length, width = max(length, NARROW), max(width, NARROW)
        share = len(patch) / len(points)
        guess = Guess(
            what,
            _size(length, width),
            HIGH if share > 0.02 and width > NARROW else MEDIUM,
            'the flattest side of its shape away from the ankle',
            '--sole',
        )
    radius = 0.0
    if length == 0.0:
        _, place = _patch(points, turn.T @ [0.0, 0.0, -1.0], side, leg)
        radius = float(np.clip(0.5 * np.median(np.ptp(points, axis=0)), 0.005 * leg, 0.04 * leg))
    return Sole(link, body, place, length, width, radius), guess


def _size(length: float, width: float) -> str:
    return f'{length:.3g} m x {width:.3g} m' if length else 'a point'


def _faces(points: np.ndarray, down: np.ndarray, side: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the normals of the hull, each once, their like without a lean, and straight down."""
    yield down
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # flat
        return
    for row in np.unique(hull.equations[:, :3].round(2), axis=0):
        normal = row / np.linalg.norm(row)
        if abs(normal @ side) > LEANING:
            continue
        upright = normal - (normal @ side) * side
        if 1e-3 < abs(normal @ side) < 0.2:  # round feet have no facet there
            yield upright / np.linalg.norm(upright)
        yield normal


def _merit(
    points: np.ndarray, normal: np.ndarray, side: np.ndarray, leg: float, turn: np.ndarray | None
) -> float:
    """Return how much of a foot a plane touches, and that it lies below or away from the ankle."""
    patch, place = _patch(points, normal, side, leg)
    below = float(place.translation @ normal) / max(1e-9, float(np.linalg.norm(place.translation)))
    if below < STEEP:
        return 0.0
    length, width = np.ptp(patch, axis=0)[:2] + DEPTH * leg
    upright = max(0.0, 1.0 - 4.0 * abs(float(normal @ side)))  # feet stand level sideways
    lies = below if turn is None else -float((turn @ normal)[2])
    return upright * float(length * width) * (1.5 + 0.5 * lies)


def _patch(
    points: np.ndarray, normal: np.ndarray, side: np.ndarray, leg: float
) -> tuple[np.ndarray, pin.SE3]:
    """Return what touches a plane, in the sole's axes, ``(n, 3)``, and its frame in the body."""
    z = -normal
    y = side - (side @ z) * z
    y /= np.linalg.norm(y)
    rotation = np.column_stack((np.cross(y, z), y, z))
    seen = points @ rotation
    patch = seen[seen[:, 2] - seen[:, 2].min() <= DEPTH * leg]
    middle = 0.5 * (patch.min(axis=0) + patch.max(axis=0))
    middle[2] = seen[:, 2].min()
    return patch - middle, pin.SE3(rotation, rotation @ middle)


PARALLEL = 0.02  # sine of the angle between axes of a planar robot, at most
AXES = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), '-x': (-1.0, 0.0, 0.0), '-y': (0.0, -1.0, 0.0)}


def find_base(tree: BodyTree, told: Told) -> tuple[str, np.ndarray, Guess]:
    """Return the kind of base, the axis across (horizontal, at zero angles) and the `Guess`.

    A robot whose joints all turn about one horizontal axis is planar.

    Raises:
        InvalidInput: Told to be planar, it has joints that turn out of the plane.
    """
    axes = np.array([tree.axis(body) for body in range(2, tree.model.njoints)])
    across = axes[0]
    bent = float(np.abs(np.linalg.norm(np.cross(axes, across), axis=1)).max())
    is_planar = bent < PARALLEL and abs(across[2]) < PARALLEL
    if told.base == 'planar' and not is_planar:
        worst = int(np.argmax(np.linalg.norm(np.cross(axes, across), axis=1)))
        raise InvalidInput(
            '--base planar',
            limit=f'joint {tree.joint(worst + 2)} turns out of the plane of the others',
            remedy=f'fix it: --fix {tree.joint(worst + 2)}=0',
        )
    if told.base is not None:
        return told.base, across, Guess('base', told.base, TOLD, 'as told', '--base')
    return (
        (
            'planar',
            across,
            Guess('base', 'planar', HIGH, 'all joints turn about parallel axes', '--base'),
        )
        if is_planar
        else (
            'free',
            across,
            Guess('base', 'free', HIGH, 'joints turn about axes of several directions', '--base'),
        )
    )


def find_forward(
    tree: BodyTree,
    feet: Sequence[str],
    soles: Sequence[Sole],
    base: str,
    across: np.ndarray,
    leg: float,
    told: Told,
) -> tuple[np.ndarray, Guess]:
    """Return the rotation that brings ahead to x, ``(3, 3)``, and the `Guess`.

    Args:
        feet: Links.
        soles: Their soles, as seen with x ahead.
        base: ``'planar'`` or ``'free'``.
        across: Axis of the joints of a planar robot.
        leg: Length of a leg, m.
        told: What the user says.
    """
    if told.forward is not None:
        return _turn(np.array(AXES[told.forward])), Guess(
            'forward', told.forward, TOLD, 'as told', '--forward'
        )
    places = [tree.places[sole.body].act(sole.place.translation) for sole in soles]
    between = across if base == 'planar' else _across_legs(tree, soles, places, leg)
    sideways = abs(between[0]) < abs(between[1])
    positive, negative = ('x', '-x') if sideways else ('y', '-y')
    ahead = np.array(AXES[positive])
    named = 0
    if base == 'free':
        left = np.cross([0.0, 0.0, 1.0], ahead)
        sides = [(side_of(foot), place) for foot, place in zip(feet, places, strict=True)]
        sides += [
            (side_of(tree.joint(body)), tree.places[body].translation)
            for sole in soles
            for body in tree.chain(sole.body)
        ]
        middle = np.mean(places, axis=0)
        named = int(np.sign(sum(side * ((place - middle) @ left) for side, place in sides)))
    offsets = [
        (place - tree.places[sole.body].translation) @ ahead
        for place, sole in zip(places, soles, strict=True)
        if not sole.is_point
    ]
    shaped = float(np.mean(offsets)) if offsets else 0.0
    longest = max((max(sole.length, sole.width) for sole in soles), default=0.0)
    shown = int(np.sign(shaped)) if abs(shaped) > 0.05 * longest else 0
    backwards = shown < 0 and (named < 0 or named == 0 and base == 'free')
    # names that say so alone may be a slip, but for y, which is no more usual than its opposite
    backwards |= shown == 0 and named < 0 and not sideways
    axis = negative if backwards else positive
    why = {
        (1, 1): 'left is to the left and feet reach ahead',
        (-1, -1): 'left would be to the right otherwise, and feet reach that way',
        (-1, 0): 'the usual axis' if sideways else 'left would be to the right otherwise',
    }.get(
        (named, shown),
        'left is to the left of it' if named > 0 and not backwards else 'the usual axis',
    )
    sure = HIGH if named == shown != 0 or named > 0 else MEDIUM if base == 'planar' else LOW
    return _turn(np.array(AXES[axis])), Guess('forward', axis, sure, why, '--forward')


def _across_legs(
    tree: BodyTree, soles: Sequence[Sole], places: Sequence[np.ndarray], leg: float
) -> np.ndarray:
    """Return the way from foot to foot; where it is none, what most joints of legs turn about."""
    between: np.ndarray = places[0] - places[-1]
    small, large = sorted(np.abs(between[:2]))
    if large > 3.0 * small and large > 0.02 * leg:
        return between
    axes = np.abs([tree.axis(body) for sole in soles for body in tree.chain(sole.body)])
    return np.asarray(axes.sum(axis=0))


def _turn(ahead: np.ndarray) -> np.ndarray:
    return np.vstack((ahead, np.cross([0.0, 0.0, 1.0], ahead), [0.0, 0.0, 1.0]))
