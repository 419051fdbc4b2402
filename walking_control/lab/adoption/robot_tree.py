# SPDX-License-Identifier: Apache-2.0
"""What is written of an adopted robot: the URDF with soles, and the tree of the robot file."""

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from walking_control.controllers import SteppingParameters
from walking_control.lab.adoption import (
    BodyTree,
    Description,
    Drive,
    ENTRIES,
    Guess,
    MEDIUM,
    REPAIRED,
    Sole,
    Standing,
    tensor_of,
)
from walking_control.models import add_joint, moving_joints, numbers_text, parse, Scale
from walking_control.models.scale import RULES
from walking_control.safety import SafetyParameters
from walking_control.search.space_parameters import SpaceSearchParameters

THICK = 0.01  # m: of the box under a sole
RELIED = 0.85  # of a sole: what laws rely on
# of the weight: what counts as contact, what ends it, how much of it is noise
CONTACT_ON, CONTACT_OFF, CONTACT_NOISE = 0.1, 0.05, 0.04
BRED = Scale(10.0, 0.8, 9.81)  # the walker whose stepping the law's defaults fit
LAYS_FLAT = 6  # joints of a leg that can lay its sole flat wherever it steps
TALL = 0.97  # of the longest leg: how high natural walking stands
# of the same: how low it sinks when pushed, so that its legs reach far. G1 survived 22 of 24 pushes
# of 0.8 N s/kg so, and 7 where it sank to the height of its start, 0.93
SUNK = SteppingParameters.rows['height'].default
# what natural walking takes from stepping: where feet may go
SHARED = ('sole_length', 'sole_width', 'narrowest', 'widest')
# of the height of the base: how near a sole may come to the other. A push to the side of the foot
# that stands is caught beside it: for G1 7 cm nearer was 23 of 24 pushes in place of 19
GAP = 0.02
GAIT_WIDTH = 1.05  # of the narrowest step: how wide gaits are searched at least, and entered
# of what the motors of a leg give its foot: T1, whose hips roll with 30 N m, survived 7 of 12
# pushes of 0.5 N s/kg with the law's own, and 10 with this
SWING_SHARE = 0.85
KEPT = ('delay', 'torsion')  # what does not go with size
SPIN_UP = 0.015  # of sqrt(L / g): in which a motor at its limit spins its own rotor up
# what soles that lie flat tell of a floor: its slope from foothold to foothold, rise over run, and
# the heading, as they turn on it by so many rad/s
FELT = {'floor_variation': 0.05, 'sole_spin': 0.01}
GUESSED = 100.0  # rad/s and above: no speed limit anybody meant
FAST = 6.0  # over sqrt(L / g): speed a motor is taken to have where none is given
IDEAL = Drive('', {}, {})  # a motor of which nothing is known
RISE = 0.002  # s: in which a motor may go from nothing to its limit


def sole_names(tree: BodyTree, soles: Sequence[Sole]) -> Iterator[str]:
    """Yield the links that stand on the floor in the robot file, new ones beside the feet."""
    links = {link for link, _, _ in tree.frames}
    for sole in soles:
        name = f'{sole.link}_contact'
        while name in links:
            name += '_'
        yield name


def write_urdf(
    tree: BodyTree, soles: Sequence[Sole], names: Sequence[str], efforts: Mapping[str, float]
) -> str:
    """Return the URDF text with a link for each sole, its box or ball the foot's only shape.

    Shapes that are meshes do not collide any more, for not every plant reads every format; looks
    stay. A box around each body that is no part of a leg does: what falls lies on the floor.

    Args:
        names: Their links.
        efforts: joint -> effort limit, N m or N.
    """
    root = parse(tree.urdf)
    feet = {sole.body for sole in soles}
    places = {link: (body, place) for link, body, place in tree.frames}
    boxed = {shape.body for shape in tree.shapes}.difference(feet, *map(tree.chain, feet))
    for link in root.findall('link'):
        body, place = places[link.get('name', '')]
        for shape in link.findall('collision'):
            if body in feet or shape.find('geometry/mesh') is not None:
                link.remove(shape)
        if body in boxed:
            boxed.remove(body)
            corners = (tree.points(body) - place.translation) @ place.rotation
            low, high = corners.min(axis=0), corners.max(axis=0)
            _add_shape(link, 0.5 * (low + high), 'box', 'size', np.maximum(high - low, THICK))
    for sole, name in zip(soles, names, strict=True):
        _add_sole(root, sole, name, places[sole.link][1].actInv(sole.place))
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if joint.get('name') in efforts:
            if joint.get('type') == 'continuous':
                joint.set('type', 'revolute')
            limit = SubElement(joint, 'limit') if limit is None else limit
            limit.set('effort', f'{efforts[joint.get("name", "")]:.9g}')
            for key, default in (('lower', -math.pi), ('upper', math.pi), ('velocity', 100.0)):
                if limit.get(key) is None or not math.isfinite(float(limit.get(key, '0'))):
                    limit.set(key, f'{default:.9g}')
    return tostring(root, encoding='unicode')


def fill_hollow(description: Description, tree: BodyTree) -> list[Guess]:
    """Give links that have mass but hardly any inertia that of a body of their size; say which.

    Simulators in space refuse such links.

    Args:
        description: Changed.
    """
    root, names = parse(description.urdf), []
    bodies = {name: body for name, body, _ in tree.frames}
    for link in root.findall('link'):
        mass, inertia = link.find('inertial/mass'), link.find('inertial/inertia')
        if mass is None or inertia is None or float(mass.get('value', 0)) <= 0.0:
            continue
        least = float(np.linalg.eigvalsh(tensor_of(inertia))[0])
        kilograms, size = float(mass.get('value', 0)), tree.extent(bodies[link.get('name', '')])
        # of a ball a tenth as wide as the body; that is filled which has less than a thousandth
        radius = max(0.005, 0.1 * size)
        moment = 0.4 * kilograms * radius**2
        if least < 1e-3 * moment:
            for key, value in zip(ENTRIES, (moment, moment, moment, 0.0, 0.0, 0.0), strict=True):
                inertia.set(key, f'{value:.6g}')
            names.append(link.get('name', ''))
    description.urdf = tostring(root, encoding='unicode')
    return (
        [
            Guess(
                'inertia of ' + ', '.join(names),
                'that of a ball',
                REPAIRED,
                'the description has hardly any',
            )
        ]
        if names
        else []
    )


def _add_sole(root: Element, sole: Sole, name: str, place: Any) -> None:
    link, up = SubElement(root, 'link', name=name), np.array([0.0, 0.0, 1.0])
    if sole.is_point:
        _add_shape(link, sole.radius * up, 'sphere', 'radius', [max(sole.radius, 1e-3)])
    else:
        _add_shape(link, 0.5 * THICK * up, 'box', 'size', [sole.length, sole.width, THICK])
    add_joint(root, f'{name}_joint', 'fixed', sole.link, name, place)


def _add_shape(link: Element, middle: Any, tag: str, name: str, sides: Any) -> None:
    """Let a link collide with a shape with its middle there; name is that of its sides."""
    shape = SubElement(link, 'collision')
    SubElement(shape, 'origin', xyz=numbers_text(middle))
    SubElement(SubElement(shape, 'geometry'), tag, {name: numbers_text(sides)})


def motors_of(
    tree: BodyTree,
    efforts: Mapping[str, float],
    armatures: Mapping[str, float],
    drives: Mapping[str, Drive],
) -> dict[str, dict[str, float]]:
    """Return joint -> motor of the robot file: its drive, else one ampere for each N m, no gear.

    Args:
        tree: The robot.
        efforts: joint -> effort limit, N m.
        armatures: joint -> rotor inertia at the joint, kg m^2.
        drives: joint -> drive, of those that are told.
    """
    return {
        joint.name: drives.get(joint.name, IDEAL).written(
            efforts[joint.name], armatures.get(joint.name, 0.0)
        )
        for joint in moving_joints(tree.urdf)
    }


def leg_joints(tree: BodyTree, soles: Sequence[Sole]) -> int:
    """Return how many joints the leg with the fewest has."""
    return min(len(tree.chain(sole.body)) for sole in soles)


def sections_of(
    tree: BodyTree,
    soles: Sequence[Sole],
    planar: bool,
    standing: Standing,
    bend: float,
    efforts: Mapping[str, float],
) -> dict[str, Any]:
    """Return the parameter sections of the robot file.

    Args:
        tree: The `BodyTree`.
        soles: Its soles.
        planar: Whether it moves in the plane.
        standing: How it stands at the start.
        bend: Of its legs then, see `Told`.
        efforts: joint -> effort limit.
    """
    weight, height = 9.81 * tree.mass, standing.height
    tall = height + max(0.0, TALL - bend) * standing.longest  # on legs nearly straight
    places = [tree.places[sole.body].act(sole.place.translation) for sole in soles]
    apart = float(abs(places[0][1] - places[-1][1]))
    sections: dict[str, Any] = {
        'estimator': {
            'contact_on': _short(CONTACT_ON * weight),
            'contact_off': _short(CONTACT_OFF * weight),
            'contact_noise': _short(CONTACT_NOISE * weight),
        },
        'safety': {'effort_rate_limit': _short(min(1e6, max(efforts.values()) / RISE))},
        'mujoco': {},
    }
    if planar:
        return {**sections, 'none': {}, 'rigid': {}}
    steps = (
        BRED.time / Scale(tree.mass, height, BRED.gravity).time
    )  # in a second, more of small robots
    sections['safety']['flicker_limit'] = math.ceil(
        steps * SafetyParameters.rows['flicker_limit'].default
    )
    sections['mujoco'] = {'timestep': 0.001}
    stepping = {
        **_stepping_of(height),
        'height': _short(height),
        'step_width': _short(apart),
        'narrowest': _short(0.6 * apart),
        'widest': _short(min(2.0, 4.0 * apart)),
    }
    # a point bears no moment
    sections['static_torque'] = {'sole_length': 0.001, 'sole_width': 0.001, 'friction': 0.5}
    if not any(sole.is_point for sole in soles):
        length, width = (min(getattr(sole, side) for sole in soles) for side in ('length', 'width'))
        relied = {'sole_length': _short(RELIED * length), 'sole_width': _short(RELIED * width)}
        sections['static_torque'] = {**relied, 'friction': 0.5}
        stepping = {
            **stepping,
            **relied,
            **({} if leg_joints(tree, soles) >= LAYS_FLAT else {'sole_width': 0.0}),
            'narrowest': _short(min(apart, max(sole.width for sole in soles) + GAP * height)),
        }
    if len(soles) != 2:
        return sections
    sections['stepping'] = stepping
    if stepping.get('sole_width', 0.0) > 0.0:  # it walks on soles alone
        sections['estimator'] |= FELT
        shared = {name: stepping[name] for name in SHARED}
        usual = SpaceSearchParameters.rows['gait_width'].default_for(
            Scale(tree.mass, tall / TALL, BRED.gravity)
        )
        wide = _short(max(GAIT_WIDTH * stepping['narrowest'], usual))
        # by its place on the curve a step of G1 costs 4 to 29 % more than by the clock
        sections['natural_walking'] = {
            **shared,
            'height': _short(tall - (TALL - SUNK) * standing.longest),
            'step_width': wide,
            'tall': _short(tall),
            'place_rate': 0.0,
            'swing_share': SWING_SHARE,
        }
    return sections


def _stepping_of(height: float) -> dict[str, float]:
    """Return the parameters of stepping for a base at a height in m: the law's own, by size."""
    scale = Scale(BRED.mass, height, BRED.gravity)
    rows = {
        name: row
        for name, row in SteppingParameters.rows.items()
        if row.unit in RULES and row.default and name not in KEPT
    }
    return {
        name: _short(
            min(
                max(
                    row.default_for(BRED) * scale.factor(row.unit) / BRED.factor(row.unit),
                    row.minimum,
                ),
                row.maximum,
            )
        )
        for name, row in rows.items()
    }


def armatures_of(
    tree: BodyTree, efforts: Mapping[str, float], leg: float, known: Mapping[str, float]
) -> tuple[dict[str, float], list[Guess]]:
    """Return joint -> rotor inertia, kg m^2, and the `Guess` of those nobody gave.

    A motor is bred to spin its own rotor up fast: I = effort x time / speed.

    Args:
        efforts: joint -> effort limit.
        leg: Length of the leg, m.
        known: joint -> rotor inertia, as given or told.
    """
    time = math.sqrt(leg / 9.81)
    speeds = {
        joint.name: joint.velocity if joint.velocity < GUESSED else FAST / time
        for joint in moving_joints(tree.urdf)
        if joint.name not in known and joint.kind != 'prismatic'
    }
    found = {
        name: float(f'{efforts[name] * SPIN_UP * time / speed:.3g}')
        for name, speed in speeds.items()
    }
    return {**known, **found}, [
        Guess(
            'armature',
            f'{min(found.values()):.3g} to {max(found.values()):.3g} kg m^2 of {len(found)} joints',
            MEDIUM,
            f'none is given: of a motor that spins up in {SPIN_UP * time:.2g} s',
            '--armature',
        )
    ] if found else []


def _short(number: float) -> float:
    return float(f'{number:.4g}')
