# SPDX-License-Identifier: Apache-2.0
"""Is a URDF a robot? Links and joints that name each other, form one tree and have limits.

The libraries that read a URDF say no more than that it is not valid; here it is said what is not.
"""

from collections import Counter
import math
from xml.etree.ElementTree import Element

from walking_control.exceptions import Findings, require, UrdfError

MOVING = ('revolute', 'continuous', 'prismatic')
LIMITED = ('revolute', 'prismatic')
KINDS = (*MOVING, 'fixed')
# element -> attribute -> how many numbers it holds
NUMBERS: dict[str, dict[str, tuple[int, ...]]] = {
    'origin': {'xyz': (3,), 'rpy': (3,)},
    'axis': {'xyz': (3,)},
    'box': {'size': (3,)},
    'cylinder': {'radius': (1,), 'length': (1,)},
    'sphere': {'radius': (1,)},
    'capsule': {'radius': (1,), 'length': (1,)},
    'mesh': {'scale': (1, 3)},
    'dynamics': {'damping': (1,), 'friction': (1,)},
    'mimic': {'multiplier': (1,), 'offset': (1,)},
    'limit': {name: (1,) for name in ('lower', 'upper', 'effort', 'velocity')},
}
SHAPES = ('box', 'cylinder', 'sphere', 'capsule')  # their numbers must be there
LARGEST = 1e6  # m, kg, ...: beyond it a number is a slip


def check_structure(root: Element) -> None:
    """Refuse a URDF whose links and joints do not make one robot.

    Args:
        root: Root element of the URDF.

    Raises:
        UrdfError: A name is missing or used twice, a joint is of an unknown type, lacks a limit or
            names a link that is not there, or the links form no single tree; carries all others.
    """
    findings = Findings()
    links = [link.get('name') for link in root.findall('link')]
    joints = root.findall('joint')
    findings.attempt(_check_names, 'link', links)
    findings.attempt(_check_names, 'joint', [joint.get('name') for joint in joints])
    for joint in joints:
        findings.attempt(_check_joint, joint, links)
    findings.raise_first()
    _check_tree([link for link in links if link], joints)


def check_numbers(root: Element) -> None:
    """Refuse what should be numbers and is not, and axes without a direction.

    Args:
        root: Root element of the URDF.

    Raises:
        UrdfError: Of the first link or joint where this is so; carries all others.
    """
    findings = Findings()
    for part in (*root.findall('link'), *root.findall('joint')):
        # extensions of other programs may use the names of shapes for something else
        shapes = [each for each in part.iterfind('.//geometry/*') if each.tag in SHAPES]
        for element in part.iter():
            for name, counts in NUMBERS.get(element.tag, {}).items():
                if element.get(name) is not None or element in shapes:
                    findings.attempt(_check_number, part, element, name, counts)
    findings.raise_first()


def _check_number(part: Element, element: Element, name: str, counts: tuple[int, ...]) -> None:
    text = element.get(name, '')
    what = f'{name} of {element.tag} of {part.tag} {part.get("name")}'
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    # an unlimited joint may say so by an infinite limit
    largest = math.inf if element.tag == 'limit' else LARGEST
    count = ' or '.join(map(str, counts))
    require(
        len(values) in counts and all(abs(value) <= largest for value in values),
        what,
        value=text,
        limit=f'must be {count} finite '
        f'number{"s" if counts != (1,) else ""}, none beyond {LARGEST:g}',
        error=UrdfError,
    )
    # a joint that does not move needs no direction: exporters write 0 0 0
    require(
        element.tag != 'axis' or part.get('type') not in MOVING or math.hypot(*values) >= 1e-6,
        what,
        value=text,
        limit='has no direction',
        error=UrdfError,
    )


def _check_names(kind: str, names: list[str | None]) -> None:
    require(names or kind != 'link', 'URDF', limit='has no link', error=UrdfError)
    for name, count in Counter(names).items():
        require(name, f'a {kind} of the URDF', limit='has no name', error=UrdfError)
        require(
            count <= 1,
            f'{kind} {name}',
            value=count,
            limit='times in the URDF',
            remedy='give each its own name',
            error=UrdfError,
        )


def _check_joint(joint: Element, links: list[str | None]) -> None:
    name, kind = joint.get('name'), joint.get('type')
    require(
        kind in KINDS,
        f'type of joint {name}',
        value=kind,
        limit='must be ' + ', '.join(KINDS),
        error=UrdfError,
    )
    for end in ('parent', 'child'):
        link = _link_at(end, joint)
        require(
            link in links,
            f'{end} of joint {name}',
            value=link,
            limit='must be a link of the URDF',
            error=UrdfError,
        )
    limit = joint.find('limit')
    require(
        kind not in LIMITED or limit is not None,
        f'joint {name}',
        limit=f'is {kind} and has no <limit>',
        remedy='add <limit lower= upper= effort= velocity=>, or make it continuous'
        if kind == 'revolute'
        else 'add <limit>',
        error=UrdfError,
    )
    if kind in MOVING and limit is not None:
        for attribute in ('effort', 'velocity'):
            require(
                limit.get(attribute) is not None,
                f'limit of joint {name}',
                limit=f'has no {attribute}',
                remedy=f'add {attribute}="..." to its <limit>',
                error=UrdfError,
            )


def _check_tree(links: list[str], joints: list[Element]) -> None:
    """Refuse what is not one tree: a link with two parents, several roots, a ring."""
    children = Counter(_link_at('child', joint) for joint in joints)
    for link, count in children.items():
        require(
            count <= 1,
            f'link {link}',
            value=count,
            limit='joints have it as their child: a URDF is a tree',
            error=UrdfError,
        )
    roots = [link for link in links if link not in children]
    require(
        len(roots) <= 1,
        'links without a parent',
        value=', '.join(roots),
        limit='a robot has one root',
        remedy='join the others to it',
        error=UrdfError,
    )
    parents = {_link_at('child', joint): _link_at('parent', joint) for joint in joints}
    for start in links:
        above: str | None = start
        seen = set()
        while above in parents:
            require(
                above not in seen,
                f'link {above}',
                limit='is its own descendant: a URDF is a tree',
                error=UrdfError,
            )
            seen.add(above)
            above = parents[above]


def _link_at(end: str, joint: Element) -> str | None:
    element = joint.find(end)
    return None if element is None else element.get('link')


def root_link(root: Element) -> str:
    """Return the name of the link without a parent, of a URDF that passed `check_structure`."""
    children = {_link_at('child', joint) for joint in root.findall('joint')}
    return next(
        link.get('name', '') for link in root.findall('link') if link.get('name') not in children
    )


def mimic_joints(root: Element) -> dict[str, str | None]:
    """Return joint -> the joint it mimics."""
    return {
        joint.get('name', ''): mimic.get('joint')
        for joint in root.findall('joint')
        for mimic in joint.findall('mimic')
        if joint.get('type') in MOVING
    }
