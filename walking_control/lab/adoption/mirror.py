# SPDX-License-Identifier: Apache-2.0
"""Which joint is the mirror image of which, by name and by what they move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import re

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption import BodyTree, Guess, HIGH, LOW, MEDIUM, ROOT, TOLD, Told

_WORDS = (
    ('left', 'right'),
    ('Left', 'Right'),
    ('LEFT', 'RIGHT'),
    ('fl', 'fr'),
    ('FL', 'FR'),
    ('hl', 'hr'),
    ('HL', 'HR'),
    ('l', 'r'),
    ('L', 'R'),
)
REFLECTION = np.diag([1.0, -1.0, 1.0])
NEAR = 0.05  # of the robot: how far from its image a partner may lie


def partner_name(name: str) -> str | None:
    """Return a name with left and right exchanged; None of one that has no side."""
    found = _find_side(name)
    return None if found is None else name[: found[0]] + found[3] + name[found[1] :]


def side_of(name: str) -> int:
    """Return 1 of a name that says left, -1 of right, 0 of neither."""
    found = _find_side(name)
    return 0 if found is None else found[2]


def without_side(name: str) -> str:
    """Return a name without the word that says its side, as it is without one."""
    found = _find_side(name)
    if found is None:
        return name
    rest = name[: found[0]].rstrip('_-.') + '_' + name[found[1] :].lstrip('_-.')
    return rest.strip('_') or name


def _find_side(name: str) -> tuple[int, int, int, str] | None:
    """Return begin, end, side and opposite of the word in a name that says its side."""
    for pair in _WORDS:
        for side, word, other in ((1, pair[0], pair[1]), (-1, pair[1], pair[0])):
            # long words stand anywhere, letters alone between breaks or before a capital
            pattern = (
                word
                if len(word) > 2
                else rf'(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])'
                + (rf'|(?<![A-Za-z0-9]){word}(?=[A-Z][a-z])' if len(word) == 1 else '')
            )
            found = re.search(pattern, name)
            if found:
                return found.start(), found.end(), side, other
    return None


@dataclass
class Mirror:
    """The mirror image of every joint.

    Args:
        joints: joint -> (partner, sign), what changes roles with left and right.
        pairs: Bodies (left, right), the upper ones first; a body in the middle is its own.
    """

    # joint -> (partner, sign), what changes roles with left and right
    joints: dict[str, tuple[str, float]] = field(default_factory=dict)
    # bodies (left, right), the upper ones first; a body in the middle is its own
    pairs: list[tuple[int, int]] = field(default_factory=list)


def find_mirror(
    tree: BodyTree,
    feet: tuple[int, int],
    planar: bool,
    told: Told,
    fixed: Mapping[str, str] | None = None,
) -> tuple[Mirror, Guess]:
    """Return the `Mirror` of a robot on two feet and the `Guess` of it.

    Args:
        tree: The `BodyTree`, x ahead.
        feet: Bodies of the left and the right foot.
        planar: Whether it moves in the plane; legs then lie in it both.
        told: What the user says.
        fixed: joint -> in words why it was fixed.

    Raises:
        InvalidInput: The legs have different numbers of joints.
    """
    left, right = (tree.chain(foot) if foot != ROOT else [] for foot in feet)
    shared = [body for body in left if body in right]
    left, right = ([body for body in leg if body not in shared] for leg in (left, right))
    if len(left) != len(right) and not planar:
        names, others = ([tree.joint(body) for body in leg] for leg in (left, right))
        alone = [name for name in names if partner_name(name) not in others]
        alone += [name for name in others if partner_name(name) not in names]
        raise InvalidInput(
            'legs',
            value=(len(left), len(right)),
            limit='; '.join(
                (
                    'have different numbers of joints: the other leg has no image of '
                    + ', '.join(alone or [*names, *others]),
                    *(
                        f'{name} is {why}'
                        for name, why in (fixed or {}).items()
                        if partner_name(name) in alone
                    ),
                )
            ),
            remedy='--feet A,B names the feet, --fix '
            + (f'{alone[0]}=0 takes that joint away, too' if alone else 'J=V takes a joint away'),
        )
    mirror = Mirror()
    if len(left) != len(right):  # the base is part of a leg
        _pair_path(tree, left, right, mirror)
        return mirror, _guess(tree, mirror, told)
    middle = [ROOT, *shared]
    mirror.pairs += [*((body, body) for body in shared), *zip(left, right, strict=True)]
    used = {body for pair in mirror.pairs for body in pair} | {ROOT}
    for body in middle:
        _pair_children(tree, body, body, used, mirror, told, planar)
    for a, b in list(zip(left, right, strict=True)):
        _pair_children(tree, a, b, used, mirror, told, planar)
    for a, b in mirror.pairs:
        sign = _sign(tree, a, b, planar)
        mirror.joints[tree.joint(a)] = (tree.joint(b), sign)
        mirror.joints[tree.joint(b)] = (tree.joint(a), sign)
    return mirror, _guess(tree, mirror, told)


def _pair_path(tree: BodyTree, left: list[int], right: list[int], mirror: Mirror) -> None:
    """Pair the joints on the way from foot to foot, of a planar robot whose base is in a leg.

    A joint turns outwards when its child is on the side of the nearer foot; the one in the middle
    turns the other way seen from the other foot.
    """
    path = [(body, 1.0) for body in reversed(left)] + [(body, -1.0) for body in right]
    count = len(path)
    for i in range((count + 1) // 2):
        (a, up), (b, down) = path[i], path[count - 1 - i]
        if i == count - 1 - i:
            mirror.joints[tree.joint(a)] = (tree.joint(a), -1.0)
            mirror.pairs.append((a, a))
            continue
        # up: +1 where the child lies towards the first foot; down: -1 likewise of the second
        sign = float(np.sign(tree.axis(a) @ tree.axis(b))) * up * -down
        mirror.joints[tree.joint(a)] = (tree.joint(b), sign)
        mirror.joints[tree.joint(b)] = (tree.joint(a), sign)
        mirror.pairs.append((a, b))


def _pair_children(
    tree: BodyTree, a: int, b: int, used: set[int], mirror: Mirror, told: Told, planar: bool
) -> None:
    """Pair what hangs on two bodies, or on one in the middle, by names, else by places."""
    children = [child for child in tree.children(a) if child not in used]
    others = [child for child in tree.children(b) if child not in used]
    size = float(np.ptp([place.translation for place in tree.places[1:]], axis=0).max())
    for child in children:
        if child in used:
            continue
        free = [other for other in others if other not in used]
        partner = _named(tree, child, free, told)
        if partner is None:
            image = tree.places[child].translation * (1.0 if planar else REFLECTION.diagonal())
            partner = min(
                free,
                key=lambda other: (
                    float(np.linalg.norm(tree.places[other].translation - image))
                    + 1e-6 * (other == child and a != b)
                ),
                default=None,
            )
            if (
                partner is None
                or np.linalg.norm(tree.places[partner].translation - image) > NEAR * size
            ):
                continue
        used |= {child, partner}
        # the left one first, as with the legs
        first = (
            child
            if tree.places[child].translation[1] >= tree.places[partner].translation[1]
            else partner
        )
        mirror.pairs.append((first, partner if first == child else child))
        _pair_children(tree, child, partner, used, mirror, told, planar)


def _named(tree: BodyTree, child: int, free: list[int], told: Told) -> int | None:
    """Return the partner that is told, or whose name differs in left and right alone."""
    name = tree.joint(child)
    names = {tree.joint(other): other for other in free}
    back = {partner: joint for joint, partner in told.mirror.items()}
    wanted = told.mirror.get(name), back.get(name), partner_name(name)
    return next((names[each] for each in wanted if each in names), None)


def _sign(tree: BodyTree, a: int, b: int, planar: bool) -> float:
    """Return a joint's sign in its image: S takes a turn about w to -S w, a slide by p to S p."""
    axis = tree.axis(a)
    slides = tree.limits[tree.joint(a)].kind == 'prismatic'
    image = axis if planar else (REFLECTION if slides else -REFLECTION) @ axis
    return 1.0 if tree.axis(b) @ image >= 0.0 else -1.0


def _guess(tree: BodyTree, mirror: Mirror, told: Told) -> Guess:
    alone = [
        tree.joint(body)
        for body in range(2, tree.model.njoints)
        if tree.joint(body) not in mirror.joints
    ]
    words = sorted(
        {f'{a} = {"-" if sign < 0 else ""}{b}' for a, (b, sign) in mirror.joints.items() if a <= b}
    )
    named = sum(partner_name(tree.joint(a)) == tree.joint(b) for a, b in mirror.pairs if a != b)
    pairs = sum(a != b for a, b in mirror.pairs)
    sure = (
        TOLD
        if told.mirror
        else HIGH
        if not alone and named == pairs
        else MEDIUM
        if not alone
        else LOW
    )
    why = (
        f'{pairs} pairs by place and axes'
        + (f', {named} of them by name too' if named else '')
        + (f'; without an image: {", ".join(alone)}' if alone else '')
    )
    return Guess('mirror', words, sure, why, '--mirror')
