# SPDX-License-Identifier: Apache-2.0
"""Where ahead is, and how the base moves: from the axes of joints, feet and names."""

from collections.abc import Sequence

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption.body_tree import BodyTree
from walking_control.lab.adoption.feet import Sole
from walking_control.lab.adoption.guess import Guess, HIGH, LOW, MEDIUM, TOLD, Told
from walking_control.lab.adoption.mirror import side_of

PARALLEL = 0.02   # sine of the angle between axes of a planar robot, at most
AXES = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), '-x': (-1.0, 0.0, 0.0), '-y': (0.0, -1.0, 0.0)}


def find_base(tree: BodyTree, told: Told) -> tuple[str, np.ndarray, Guess]:
    """Return the kind of base, the axis across (horizontal, at zero angles) and the `Guess`.

    A robot whose joints all turn about one horizontal axis is planar. InvalidInput: told to be
    planar, it has others.
    """
    axes = np.array([tree.axis(body) for body in range(2, tree.model.njoints)])
    across = axes[0]
    bent = float(np.abs(np.linalg.norm(np.cross(axes, across), axis=1)).max())
    is_planar = bent < PARALLEL and abs(across[2]) < PARALLEL
    if told.base == 'planar' and not is_planar:
        worst = int(np.argmax(np.linalg.norm(np.cross(axes, across), axis=1)))
        raise InvalidInput('--base planar', limit=f'joint {tree.joint(worst + 2)} turns out of the '
                           'plane of the others', remedy='fix it: --fix '
                           f'{tree.joint(worst + 2)}=0')
    if told.base is not None:
        return told.base, across, Guess('base', told.base, TOLD, 'as told', '--base')
    return ('planar', across, Guess('base', 'planar', HIGH, 'all joints turn about parallel '
                                    'axes', '--base')) if is_planar else \
        ('free', across, Guess('base', 'free', HIGH, 'joints turn about axes of several '
                               'directions', '--base'))


def find_forward(tree: BodyTree, feet: Sequence[str], soles: Sequence[Sole], base: str,
                 across: np.ndarray, told: Told) -> tuple[np.ndarray, Guess]:
    """Return the rotation that brings ahead to x, ``(3, 3)``, and the `Guess`."""
    if told.forward is not None:
        return _turn(np.array(AXES[told.forward])), Guess('forward', told.forward, TOLD, 'as told',
                                                          '--forward')
    places = [tree.places[sole.body].act(sole.place.translation) for sole in soles]
    between = across if base == 'planar' else _across_legs(tree, soles, places)
    sideways = abs(between[0]) < abs(between[1])
    positive, negative = ('x', '-x') if sideways else ('y', '-y')
    ahead = np.array(AXES[positive])
    named = 0
    if base == 'free':
        left = np.cross([0.0, 0.0, 1.0], ahead)
        sides = [(side_of(foot), place) for foot, place in zip(feet, places, strict=True)]
        sides += [(side_of(tree.joint(body)), tree.places[body].translation)
                  for sole in soles for body in tree.chain(sole.body)]
        named = int(np.sign(sum(side * (place @ left) for side, place in sides)))
    offsets = [(place - tree.places[sole.body].translation) @ ahead
               for place, sole in zip(places, soles, strict=True) if not sole.is_point]
    shaped = float(np.mean(offsets)) if offsets else 0.0
    longest = max((max(sole.length, sole.width) for sole in soles), default=0.0)
    shown = int(np.sign(shaped)) if abs(shaped) > 0.05 * longest else 0
    backwards = named < 0 and shown < 0 or named == 0 and shown < 0 and base == 'free'
    axis = negative if backwards else positive
    why = {(1, 1): 'left is to the left and feet reach ahead',
           (-1, -1): 'left would be to the right otherwise, and feet reach that way'}.get(
        (named, shown), 'left is to the left of it' if named > 0 and not backwards else
        'the usual axis')
    sure = HIGH if named == shown != 0 or named > 0 else MEDIUM if base == 'planar' else LOW
    return _turn(np.array(AXES[axis])), Guess('forward', axis, sure, why, '--forward')


def _across_legs(tree: BodyTree, soles: Sequence[Sole], places: Sequence[np.ndarray]) -> np.ndarray:
    """Return the way from foot to foot; where it is none, what most joints of legs turn about."""
    between: np.ndarray = places[0] - places[-1]
    small, large = sorted(np.abs(between[:2]))
    if large > 3.0 * small and large > 0.02 * float(np.abs(places[0][2])):
        return between
    axes = np.abs([tree.axis(body) for sole in soles for body in tree.chain(sole.body)])
    return np.asarray(axes.sum(axis=0))


def _turn(ahead: np.ndarray) -> np.ndarray:
    return np.vstack((ahead, np.cross([0.0, 0.0, 1.0], ahead), [0.0, 0.0, 1.0]))
