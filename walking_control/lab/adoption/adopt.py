# SPDX-License-Identifier: Apache-2.0
"""Adopt a robot: from its description to a robot file that passes `check`, and what was guessed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path
import re
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from walking_control.exceptions import InvalidInput, require, require_known
from walking_control.lab.adoption import (
    armatures_of,
    BASE,
    BodyTree,
    Description,
    Drive,
    fill_hollow,
    find_base,
    find_feet,
    find_forward,
    find_mirror,
    find_seat,
    find_sole,
    find_standing,
    find_stride,
    find_suspicions,
    fix_joints,
    Guess,
    HIGH,
    LAYS_FLAT,
    leg_joints,
    LOW,
    MAY_BE_OFF,
    MEDIUM,
    Mirror,
    motors_of,
    place_base,
    read_description,
    read_drives,
    REPAIRED,
    ROOT,
    sections_of,
    side_of,
    Sole,
    sole_names,
    Standing,
    support_maps,
    TOLD,
    Told,
    write_urdf,
)
from walking_control.models import (
    check_name,
    hip_joints,
    MOTORS,
    moving_joints,
    parse,
    root_link,
    SENSORS,
)

AWAY = 1e-6  # of the leg: a base that is nearer to the middle of the hips is there
LOWEST = 0.2  # of the leg: hips that are lower do not stand
PLACEHOLDER = 3.0  # of m g L: no motor of such a robot is stronger
STRONG = 0.5  # of m g L: effort limit where none is given
FEEBLE = 0.06  # of it: who has no joint stronger than that is described before the gears
# what descriptions call a sensor of force: ros2_control, Gazebo, MuJoCo
FORCE_SENSOR = r'force\.z|force_torque|contact_sensor|<(touch|force)\b'
MANY = 8  # joints: as a rule so many do not all have the same motor
LARGER = 1.05  # times: a sole that is so is another one
PRESSED = 0.95  # of the height at which it sits: where it is lowered to
SITS_DOWN = 4.0  # s
SPEED = 0.2  # of sqrt(g L): speed a planar robot starts with


@dataclass
class Adoption:
    """An adopted robot, not yet written.

    Args:
        name: Name.
        description: The `Description` it comes from.
        tree: The `BodyTree`, x ahead.
        soles: The soles, left first.
        mirror: The `Mirror`; None with more than two feet.
        base: ``'planar'`` or ``'free'``.
        standing: The start posture.
        pitch: Of the base in it, rad; 0 of a free one.
        urdf: URDF text with the soles.
        parameters: Tree of the robot file.
        guesses: Every `Guess`.
        suspicions: What looks like a mistake in the description.
    """

    name: str
    description: Description
    tree: BodyTree
    soles: list[Sole]
    mirror: Mirror | None
    base: str
    standing: Standing
    pitch: float
    urdf: str
    parameters: dict[str, Any]
    guesses: list[Guess]
    suspicions: list[InvalidInput]

    def write(self, folder: Path | str) -> list[Path]:
        """Write URDF and robot file into a folder and return their paths, the robot file first."""
        folder = Path(folder)
        urdf, robot_file = folder / f'{self.name}.urdf', folder / f'{self.name}.yaml'
        urdf.write_text(self.urdf, encoding='utf-8')
        header = '# Adopted by walking_control adopt; what was guessed stands in adoption.json.\n'
        robot_file.write_text(
            header
            + yaml.safe_dump(
                {'/**': {'ros__parameters': self.parameters}},
                sort_keys=False,
                default_flow_style=None,
                width=110,
            ),
            encoding='utf-8',
        )
        return [robot_file, urdf]


def adopt(path: Path | str, told: Told | None = None) -> Adoption:
    """Return the `Adoption` of a URDF, xacro, MJCF or SDF, as far as told, else guessed.

    Args:
        path: Of the description.
        told: What shall not be guessed; None: everything is guessed.

    Raises:
        InvalidInput: It cannot be read, or what was told does not fit it.
    """
    told = told or Told()
    if told.name is not None:
        check_name(told.name, 'option --name')
    description = read_description(path, told.xacro_args)
    fix_joints(description, told.fixed, told.efforts, told.armatures)
    tree = BodyTree(description)
    feet, guess = find_feet(tree, told)
    guesses = [*description.guesses, guess]
    if missing := sorted(set(tree.unread)):
        guesses.append(
            Guess(
                'meshes',
                f'{len(missing)} not read, {missing[0]}',
                LOW,
                'feet and sizes are guessed without them; git lfs pull fetches files of Git LFS',
                '--feet, --sole',
            )
        )
    base, across, guess = find_base(tree, told)
    guesses.append(guess)
    hips, leg = _find_legs(tree, feet)
    soles = [find_sole(tree, link, leg, told)[0] for link in feet]
    turn, guess = find_forward(tree, feet, soles, base, across, leg, told)
    guesses.append(guess)
    middle = hips if base == 'free' else np.zeros(3)  # a planar one may be in a leg
    left = turn[1]
    body = tree.model.inertias[ROOT].lever
    if abs(left @ (body - middle)) >= abs(left @ body):  # a slip on one side of the hips
        middle = middle - (left @ middle) * left
    if np.linalg.norm(middle) > AWAY * leg or not np.allclose(turn, np.eye(3)):
        place_base(description, pin.SE3(turn.T, middle))
        guesses.append(
            Guess(
                'base link',
                BASE,
                HIGH,
                'the root of the description lies '
                f'{np.linalg.norm(middle):.3g} m from the middle of the hips, or x is not ahead',
                '--forward',
            )
        )
        tree = BodyTree(description)
    soles, sole_guesses = _soles(tree, feet, leg, base, told)
    guesses += sole_guesses
    mirror = None
    if len(soles) == 2:
        fixed = {
            guess.what.removeprefix('joint '): f'{guess.value}: {guess.why}'
            for guess in description.guesses
        }
        bodies = soles[0].body, soles[1].body
        mirror, guess = find_mirror(tree, bodies, base == 'planar', told, fixed)
        guesses.append(guess)
    sliding = [
        tree.joint(body)
        for body in sorted({body for sole in soles for body in tree.chain(sole.body)})
        if tree.limits[tree.joint(body)].kind == 'prismatic'
    ]
    if sliding:
        guesses.append(
            Guess(
                'sliding joints in the legs',
                ', '.join(sliding),
                LOW,
                'they are moved in m and N, where legs are thought of that bend: bend, armature '
                'and gains of such a leg were never tried',
                '--fix, --posture',
            )
        )
    require(
        base != 'planar' or (mirror is not None and len(mirror.joints) >= tree.model.njoints - 2),
        'base',
        value='planar',
        limit='a planar robot needs two feet, and every joint its mirror image',
        remedy='--base free, --feet A,B or --mirror A,B',
    )
    suspicions = find_suspicions(tree, mirror, leg, base == 'planar')
    filled = fill_hollow(description, tree) if base == 'free' else []
    if filled:
        guesses += filled
        tree = BodyTree(description)
    efforts, more = _efforts(tree, leg, told)
    guesses += more
    repaired = [guess.what for guess in guesses if guess.confidence == REPAIRED]
    require(
        not told.strict or not repaired,
        'option --strict',
        value='; '.join(repaired)[:300],
        limit='would have to be repaired',
        remedy='mend the description, or leave --strict out',
    )
    completed = _complete(description, tree, soles, mirror, base, efforts, told)
    return replace(completed, guesses=guesses + completed.guesses, suspicions=suspicions)


def _find_legs(tree: BodyTree, feet: Sequence[str]) -> tuple[np.ndarray, float]:
    """Return the middle of the hips at zero angles, base axes, ``(3,)``, and the length of a leg.

    That is the height of its first joint over its foot, m, of the shorter leg.

    Raises:
        InvalidInput: It has none.
    """
    at = {link: (body, place) for link, body, place in tree.frames}
    joints = hip_joints(tree.model, [at[link][0] for link in feet])
    hips = np.array([tree.places[joint].translation for joint in joints])
    lengths = [
        float(hip[2] - (tree.places[at[link][0]] * at[link][1]).translation[2])
        for link, joint, hip in zip(feet, joints, hips, strict=True)
        if joint != ROOT
    ]
    leg = min(lengths)
    leg = leg if leg > 1e-6 else float(np.ptp([place.translation for place in tree.places[1:]]))
    require(
        leg >= 1e-6,
        'feet',
        value=', '.join(feet),
        limit='are not below the joints they hang on, at zero angles: legs without a length',
        remedy='check the origins of their joints, or --feet A,B',
    )
    return hips.mean(axis=0), leg


def _soles(
    tree: BodyTree, feet: Sequence[str], leg: float, base: str, told: Told
) -> tuple[list[Sole], list[Guess]]:
    """Return the soles, the left one first, alike, and what they are guessed from."""
    found = [find_sole(tree, link, leg, told) for link in feet]
    if base == 'free':
        found.sort(
            key=lambda pair: (
                -round(float(tree.places[pair[0].body].act(pair[0].place.translation)[1]) / leg, 3),
                -side_of(pair[0].link),
            )
        )
    soles = [sole for sole, _ in found]
    if base == 'planar':  # it rolls on them: points, whatever they look like
        soles = [
            Sole(sole.link, sole.body, sole.place, 0.0, 0.0, max(sole.radius, 0.01 * leg))
            for sole in soles
        ]
        return soles, [Guess('soles', 'points', HIGH, 'a planar robot rolls over its feet')]
    return soles, [guess for _, guess in found]


def _efforts(tree: BodyTree, leg: float, told: Told) -> tuple[dict[str, float], list[Guess]]:
    """Return joint -> effort limit, N m or N, and the guesses among them."""
    scale, joints = tree.mass * 9.81 * leg, moving_joints(tree.urdf)
    given = {joint.name: told.efforts.get(joint.name, joint.effort) for joint in joints}
    doubted = {name: effort for name, effort in given.items() if name not in told.efforts}
    missing = [name for name, effort in doubted.items() if math.isinf(effort)]
    limits = {(joint.effort, joint.velocity) for joint in joints if joint.name in doubted}
    same = not missing and len(limits) == 1 and len(doubted) >= MANY
    absurd = [name for name, effort in doubted.items() if PLACEHOLDER * scale < effort < math.inf]
    efforts = given | dict.fromkeys((*missing, *absurd), float(f'{STRONG * scale:.3g}'))
    return efforts, [
        Guess(
            'motors',
            f'{len(efforts)} joints, {min(efforts.values()):.3g} to '
            f'{max(efforts.values()):.3g} N m',
            TOLD
            if set(efforts) <= set(told.efforts)
            else LOW
            if missing or absurd or same
            else MEDIUM,
            'effort limits of the description'
            + ('' if told.drives else '; reduction, rotor and winding: an ideal motor each')
            + (
                f'; all below {FEEBLE:g} m g L, {FEEBLE * scale:.3g} N m: before the gears?'
                if max(efforts.values()) < FEEBLE * scale
                else ''
            )
            + (
                '; limits of effort and speed are the same for every joint: if its motors are not '
                'all alike, write theirs into the description'
                if same
                else ''
            ),
            '--effort',
        ),
        *(
            Guess(
                'effort of ' + ', '.join(names),
                f'{efforts[names[0]]:.3g} N m',
                LOW,
                f'{why}: half of m g L',
                '--effort',
            )
            for names, why in (
                (missing, 'no effort limit is given'),
                (absurd, f'the limit given is above {PLACEHOLDER:g} m g L'),
            )
            if names
        ),
    ]


def _complete(
    description: Description,
    tree: BodyTree,
    soles: list[Sole],
    mirror: Mirror | None,
    base: str,
    efforts: dict[str, float],
    told: Told,
) -> Adoption:
    """Solve the start and put everything together, with the guesses that this takes."""
    links = list(sole_names(tree, soles))
    name = told.name or tree.name
    order = [joint.name for joint in moving_joints(tree.urdf)]
    robot: dict[str, Any] = {
        'name': name,
        'urdf': f'{name}.urdf',
        'base_link': root_link(parse(tree.urdf)),
        'base': base,
        'joints': order,
        'feet': links,
    }
    for joint in told.posture:
        require_known(joint, order, f'--posture {joint}', limit='is no moving joint')
        limit = tree.limits[joint]
        require(
            limit.lower <= told.posture[joint] <= limit.upper,
            f'--posture {joint}',
            value=told.posture[joint],
            limit=f'must be from {limit.lower:g} to {limit.upper:g} (the description)',
        )
    if base == 'planar':
        assert mirror is not None
        standing, pitch, start = _planar_start(tree, soles, mirror, links, robot, told)
    else:
        standing, pitch = find_standing(tree, soles, mirror, told.bend, told.posture), 0.0
        low = min(
            standing.height,
            *(-float(tree.places[sole.body].act(sole.place.translation)[2]) for sole in soles),
        )
        require(
            low >= LOWEST * standing.longest > 0.0,
            f'link {root_link(parse(tree.urdf))}',
            value=f'{low:.3g} m',
            limit=f'above a sole of legs of {standing.longest:.3g} m, at zero angles or at the '
            'start: it does not stand',
            remedy='turn the root of the description, whose z must point up, or tell --feet',
        )
        start = {
            'posture': {
                joint: float(  # not rounded beyond a limit
                    np.clip(round(value, 5), tree.limits[joint].lower, tree.limits[joint].upper)
                )
                for joint, value in standing.posture.items()
                if abs(value) > 5e-6
            }
        }
    guesses = [
        Guess(
            'start',
            f'base {standing.height:.3g} m over the floor',
            TOLD if told.posture else HIGH if standing.error < MAY_BE_OFF else LOW,
            f'feet level to {standing.error:.1e}, centre of mass {standing.offset:+.4f} m ahead of '
            'their middle',
            '--posture, --bend',
        )
    ]
    drives = read_drives(told.drives, order) if told.drives else {}
    armatures = {
        **{joint: drive.armature for joint, drive in drives.items() if drive.armature is not None},
        **description.armatures,
    }
    rubbing = {joint: drive.friction for joint, drive in drives.items() if drive.friction}
    if rubbing:
        robot['friction'] = rubbing
    if base == 'free' and len(soles) == 2:
        armatures, more = armatures_of(tree, efforts, standing.longest, armatures)
        guesses += more
    robot['actuators'] = motors_of(tree, efforts, armatures, drives)
    if told.foot_forces == MOTORS:
        require(
            base != 'planar',
            '--foot-forces',
            value=MOTORS,
            limit='needs a base that moves freely in space',
        )
        robot['foot_forces'] = MOTORS
    on_points = any(sole.is_point for sole in soles)
    joints = leg_joints(tree, soles)
    parameters = {
        'robot': robot,
        'world': {'slope': 0.0, 'gravity': 9.81, 'friction': 0.8},
        'start': start,
        'controller': 'none'
        if base == 'planar'
        else 'stepping'
        if on_points and len(soles) == 2
        else 'static_torque',
        'plant': 'rigid' if base == 'planar' else 'mujoco',
        **sections_of(tree, soles, base == 'planar', standing, told.bend, efforts),
    }
    seat = find_seat(tree, soles, standing.posture) if 'natural_walking' in parameters else None
    crouch = 0.0
    if seat is not None:
        crouch = 1.0 - PRESSED * seat[0] / standing.height
        parameters['safety'] |= {'crouch': round(crouch, 3), 'lower_time': SITS_DOWN}
        for law in ('stepping', 'natural_walking'):
            parameters[law]['crouch_lean'] = round(seat[1] / crouch, 3)
    remarks = {  # guess -> whether it is said
        _drives_guess(told, drives, order): bool(drives),
        _forces_guess(told, description): base == 'free',
        Guess(
            'rest',
            f'a stop of category 1 lowers it by {crouch:.2f} of its height',
            MEDIUM,
            'there hips, knees and ankles are bent as far as they go, and hold it without torque',
        ): seat is not None,
        Guess(
            'steps',
            'as on blades',
            HIGH,
            f'legs of {joints} joints cannot lay a sole flat wherever they step',
        ): base == 'free' and not on_points and joints < LAYS_FLAT,
        Guess(
            'soles',
            'the smaller counts for all',
            HIGH,
            'they differ in size, and a gait is the same on each foot',
            '--sole',
        ): any(
            max(sides) > LARGER * min(sides)
            for sides in zip(*((sole.length, sole.width) for sole in soles))
        ),
        Guess(
            'law',
            'static_torque',
            HIGH,
            f'it stands on {len(soles)} feet and '
            'shifts its weight; the laws that walk are of two feet: walking '
            'needs a law of your own, see CONTRIBUTING.md',
        ): len(soles) != 2,
        Guess(
            'thresholds',
            f'contact from {parameters["estimator"]["contact_on"]:g} N',
            MEDIUM,
            f'a tenth of the weight of {9.81 * tree.mass:.4g} N',
            '',
        ): True,
    }
    guesses += filter(remarks.get, remarks)
    return Adoption(
        name,
        description,
        tree,
        soles,
        mirror,
        base,
        standing,
        pitch,
        write_urdf(tree, soles, links, efforts),
        parameters,
        guesses,
        [],
    )


def _forces_guess(told: Told, description: Description) -> Guess:
    """Return what is said of the forces on the feet: who tells them."""
    source = description.path.read_text(encoding='utf-8', errors='replace')
    named = bool(re.search(FORCE_SENSOR, source))
    if told.foot_forces is not None:
        return Guess(
            'foot forces',
            told.foot_forces,
            TOLD,
            'by motors, encoders and IMU; no topic of a foot is awaited'
            if told.foot_forces == MOTORS
            else 'in the feet',
        )
    return Guess(
        'foot forces',
        SENSORS,
        HIGH if named else LOW,
        f'the description names {"a" if named else "no"} force sensor'
        + ('' if named else f': if the robot has none, tell {MOTORS}'),
        '--foot-forces',
    )


def _drives_guess(told: Told, drives: dict[str, Drive], order: list[str]) -> Guess:
    """Return what is said of drives that were told: of how many joints, and what is not known."""
    names = sorted({drive.name for drive in drives.values()})
    silent = sorted({drive.name for drive in drives.values() if not drive.motor.get('resistance')})
    return Guess(
        'drives',
        f'{told.drives}: {", ".join(names)}, of {len(drives)} of {len(order)} joints',
        TOLD,
        f'no resistance is published of {", ".join(silent)}: a search assumes their heat'
        if silent
        else 'with windings: electrical prices are theirs',
        '--drives',
    )


def _planar_start(
    tree: BodyTree,
    soles: Sequence[Sole],
    mirror: Mirror,
    links: Sequence[str],
    robot: dict[str, Any],
    told: Told,
) -> tuple[Standing, float, dict[str, Any]]:
    """Return the start of a planar robot; adds mirror, coordinates and supports to the robot."""
    standing, pitch = find_stride(tree, soles, told.bend, told.posture)
    coordinates, supports = support_maps(tree, mirror, [sole.body for sole in soles], links)
    robot['mirror'] = {
        joint: {'partner': partner, 'sign': sign}
        for joint, (partner, sign) in mirror.joints.items()
    }
    robot['coordinates'], robot['supports'] = coordinates, supports
    values = {'pitch': pitch, **standing.posture}
    maps = supports[links[0]]
    q = [
        round(sum(factor * values[name] for name, factor in maps[coordinate].items()), 6)
        for coordinate in coordinates
    ]
    speed = -SPEED * math.sqrt(9.81 / standing.longest)
    return (
        standing,
        pitch,
        {'support': links[0], 'q': q, 'v': [round(speed, 4), *[0.0] * (len(q) - 1)]},
    )
