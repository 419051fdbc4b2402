# SPDX-License-Identifier: Apache-2.0
"""From the sections ``robot`` and ``start`` of a robot file to a `Robot` and its `Start`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
import re
from typing import Any, TypeVar

import numpy as np

from walking_control.exceptions import Findings, require, require_known, RobotFileError
from walking_control.models import (
    Base,
    find_meshes,
    GearedMotor,
    IMU,
    imu_name,
    JointFriction,
    JOINTS,
    JointSpring,
    link_names,
    load_urdf,
    LOCKS,
    MotorThermal,
    moving_joints,
    Parameter,
    parameter,
    Parameters,
    parse,
    read_rows,
    topic_word,
    UrdfJoint,
)
from walking_control.models.own_signals import OwnSignal, read_signals
from walking_control.models.robot import INERTIAL, JointLock, MOTORS, Robot, SENSORS, Start
from walking_control.models.urdf_structure import LARGEST, mimic_joints, root_link
from walking_control.models.yaml_text import finite, mapping, require_once, require_part

Section = Mapping[str, Any]  # of a robot file
Kind = TypeVar('Kind', bound=Parameters)


class ServoParameters(Parameters, section='servos'):
    """Of a joint whose speed is commanded."""

    limit: float = parameter(20.0, 'rad/s', 'Largest commanded speed.', 0.01, 1e3)


class PushOffLimit(Parameters, section='push_off'):
    """Of a stance leg that pushes off."""

    limit: float = parameter(5.0, 'm/s', 'Largest speed of a push-off.', 0.0, 100.0)


class GroundTorqueLimit(Parameters, section='ground_torque'):
    """Of a virtual ankle."""

    limit: float = parameter(
        100.0, 'N m', 'Largest torque of the floor on the stance foot.', 0.0, 1e6
    )


# The robot's name becomes part of names of files.
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]{0,63}')

_ROWS = {
    row.name: row
    for row in (
        Parameter('name', '', '', 'Files are named after it.'),
        Parameter('urdf', '', '', 'URDF or xacro, relative to the robot file.'),
        Parameter('base_link', '', '', 'Root link of the URDF.'),
        Parameter('imu_link', '', '', 'Link whose frame the IMU measures in; none: the base link.'),
        Parameter('base', '', '', 'How the base moves.'),
        Parameter('planar', False, '', 'The older way to say it.'),
        Parameter('joints', [], '', 'All that move, in the order of the package.'),
        Parameter('feet', [], '', 'Links of the feet.'),
        Parameter('mirror', {}, '', 'joint: {partner, sign}, the relabelling of legs.'),
        Parameter('coordinates', [], '', 'Names of the minimal coordinates.'),
        Parameter('supports', {}, '', 'foot: coordinate: {pitch or joint: factor}.'),
        Parameter('actuators', {}, '', 'joint: its motor.'),
        Parameter('locks', {}, '', 'joint: {foot, angle, capture}.'),
        Parameter('springs', {}, '', 'joint: its spring.'),
        Parameter('friction', {}, '', 'joint: its friction.'),
        Parameter('servos', {}, '', 'joint: {limit}, of those whose speed is commanded.'),
        Parameter('push_off', {}, '', '{limit} of a stance leg that pushes off.'),
        Parameter('xacro_args', {}, '', 'Arguments of the xacro.'),
        Parameter('ground_torque', {}, '', '{limit} of a virtual ankle.'),
        Parameter('more_imus', [], '', 'Links with another IMU.'),
        Parameter('signals', {}, '', 'name: what else is measured.'),
        Parameter('thermal', {}, '', 'joint: how its motor warms.'),
        Parameter('effort_share', 1.0, '1', 'Of the motors, that is counted on.', 0.01, 1.0),
        Parameter(
            'foot_forces',
            SENSORS,
            '',
            'What tells the forces on the feet.',
            choices=(SENSORS, MOTORS, INERTIAL),
        ),
    )
}
_NEEDED = ('name', 'urdf', 'base_link', 'joints', 'feet', 'actuators')
_AT_LIMIT = 1e-6  # rad: a joint may begin at a stop, as rounding has it
_FASTEST = 1e3  # rad and rad/s: a start beyond it is a slip
_COORDINATE_KEYS = ('mirror', 'coordinates', 'supports')  # all of them, or, without steps, none


def urdf_path(section: Section, path: Path) -> Path:
    """Return the path of the URDF that the section ``robot`` of a robot file names.

    Args:
        section: The section ``robot``.
        path: Of the robot file.
    """
    return (path.parent / str(section['urdf'])).resolve()


def optional_names(section: Section) -> list[str]:
    """Return the dotted names of what may be said of IMUs, motors, springs, friction, posture."""
    return [
        'robot.more_imus',
        'robot.effort_share',
        'robot.foot_forces',
        *(f'start.posture.{joint}' for joint in section.get('actuators') or ()),
        *(
            f'robot.{key}.{joint}.{name}'
            for key, source, kind in (
                ('actuators', 'actuators', GearedMotor),
                ('springs', 'joints', JointSpring),
                ('friction', 'joints', JointFriction),
                ('thermal', 'actuators', MotorThermal),
            )
            if isinstance(section.get(source), (Mapping, list))
            for joint in section[source]
            for name in kind.rows
        ),
    ]


def read_robot(section: Section, path: Path) -> Robot:
    """Return the `Robot` that the section ``robot`` of a robot file describes.

    Args:
        path: Path of the robot file; its URDF lies relative to it.

    Raises:
        InvalidInput: The section or its URDF is unusable.
    """
    given, section = section, _read_keys(section, path)
    place = urdf_path(section, path)
    urdf = load_urdf(place, section['xacro_args'])
    limits = {joint.name: joint for joint in moving_joints(urdf)}
    joints = tuple(section['joints'])
    imu_link = section['imu_link'] or section['base_link']
    base = _base(section)
    findings = Findings()
    attempt = findings.attempt
    attempt(_check_joints, joints, limits, path)
    attempt(_check_mimics, urdf)
    attempt(_check_links, section, imu_link, urdf, path)
    attempt(_check_feet, section['feet'])
    for key in ('feet', 'joints', 'coordinates', 'more_imus'):
        attempt(_check_topics, section, key)
    mirror = attempt(_mirror, section['mirror'], joints, path) if section['mirror'] else {}
    supports = attempt(_supports, section, base, joints, path) if section['coordinates'] else {}
    if mirror and supports and not findings.errors:
        attempt(_check_mirror, section['feet'], base, supports, mirror, joints)
    parts = {
        'actuators': attempt(_actuators, section, joints, path),
        'locks': attempt(_locks, section['locks'], joints, section['feet'], path),
        'springs': attempt(_by_joint, section, 'springs', JointSpring, joints, path),
        'friction': attempt(_friction, section, limits, joints, path),
        'thermal': attempt(_by_joint, section, 'thermal', MotorThermal, section['actuators'], path),
        'servos': attempt(_servos, section, joints, path),
        'push_off': attempt(_limit, given, PushOffLimit),
        'ground_torque': attempt(_limit, given, GroundTorqueLimit),
        'signals': attempt(_signals, section, joints, imu_link, urdf),
        'foot_forces': attempt(_foot_forces, section, base),
    }
    findings.raise_first()
    return Robot(
        name=section['name'],
        urdf=urdf,
        base_link=section['base_link'],
        imu_link=imu_link,
        base=base,
        joints=joints,
        limits=limits,
        feet=tuple(section['feet']),
        mirror=mirror,
        coordinates=tuple(section['coordinates']),
        supports=supports,
        meshes=find_meshes(urdf, place.parent),
        more_imus=tuple(section['more_imus']),
        effort_share=section['effort_share'],
        **parts,
    )


def _read_keys(section: Section, path: Path) -> dict[str, Any]:
    """Return the section with what it leaves out filled in."""
    told = read_rows(_ROWS, section, 'robot')
    steps = any(key in section for key in _COORDINATE_KEYS)
    for key in _NEEDED + (_COORDINATE_KEYS if steps else ()):
        require(key in section, f'robot.{key}', limit=f'missing in {path}', error=RobotFileError)
    check_name(told['name'], 'robot.name')
    require(
        bool(section.get('base')) != ('planar' in section),
        'robot.base',
        value=section.get('base'),
        limit='must be given once',
        remedy='base: '
        + ', '.join(base.value for base in Base)
        + '; planar: true means base: planar',
        error=RobotFileError,
    )
    return told


def check_name(name: str, what: str) -> None:
    """Refuse a name of a robot that names no file, or one in another folder.

    Args:
        name: Of the robot.
        what: Where it stands, for the message.
    """
    require(
        _NAME.fullmatch(name),
        what,
        value=name,
        limit='must be at most 64 letters, digits, _, - and ., a letter or digit first',
        remedy='files are named after the robot',
        error=RobotFileError,
    )


def _base(section: Section) -> Base:
    """Return the `Base` of a robot; ``planar`` is the older way to say it."""
    if not section['base']:
        resting = Base.TRANSLATING if section['coordinates'] else Base.FREE
        return Base.PLANAR if section['planar'] else resting
    given, known = section['base'], [base.value for base in Base]
    require_known(given, known, 'robot.base', RobotFileError, given)
    return Base(given)  # type: ignore[call-arg]   # a look-up, not `__new__`


def _check_joints(joints: tuple[str, ...], limits: dict[str, UrdfJoint], path: Path) -> None:
    require_once(joints, 'robot.joints')
    for joint in joints:
        require_part(joint, limits, 'joint', path)
    for joint in limits:
        require(
            joint in joints,
            f'joint {joint}',
            limit='moves in the URDF but is not in robot.joints',
            remedy='list it or make it fixed',
            error=RobotFileError,
        )


def _check_mimics(urdf: str) -> None:
    for joint, other in mimic_joints(parse(urdf)).items():
        raise RobotFileError(
            f'joint {joint}',
            value=f'<mimic joint="{other}">',
            limit='cannot be coupled: it would move freely',
            remedy='make it fixed, or take <mimic> away and give it a motor',
        )


def _check_links(section: Section, imu_link: str, urdf: str, path: Path) -> None:
    for link in (section['base_link'], imu_link, *section['feet'], *section['more_imus']):
        require_part(link, link_names(urdf), 'link', path)
    require_once([imu_link, *section['more_imus']], 'robot.more_imus')
    root = root_link(parse(urdf))
    require(
        section['base_link'] == root,
        'robot.base_link',
        value=section['base_link'],
        limit=f'must be the root link of the URDF, {root}',
        error=RobotFileError,
    )
    above = {
        child.attrib['link']: each
        for each in parse(urdf).findall('joint')
        for child in each.findall('child')
    }
    link = imu_link
    while link in above:
        joint = above[link]
        require(
            joint.get('type') == 'fixed',
            'robot.imu_link',
            value=imu_link,
            limit=f'moves against {root} by joint {joint.get("name")}, as a head on its neck',
            remedy=f'name a link that is fixed to {root}, or make the joint fixed in the URDF',
            error=RobotFileError,
        )
        link = joint.findall('parent')[0].attrib['link']


def _check_feet(feet: list[str]) -> None:
    require(
        len(feet) >= 2,
        'robot.feet',
        value=feet,
        limit='a walker needs two feet',
        error=RobotFileError,
    )
    require_once(feet, 'robot.feet')


def _check_topics(section: Section, key: str) -> None:
    """Refuse names that ROS could not tell apart."""
    word, count = (
        Counter(map(topic_word, section[key])).most_common(1)[0] if section[key] else ('', 0)
    )
    require(
        count <= 1 or len(set(section[key])) != len(section[key]),
        f'robot.{key}',
        value=section[key],
        limit=f'names differ only in characters that ROS topics do not have: {count} become {word}',
        remedy='rename one',
        error=RobotFileError,
    )


def _check_mirror(
    feet: Sequence[str],
    base: Base,
    supports: dict[str, np.ndarray],
    mirror: dict[str, tuple[str, float]],
    joints: tuple[str, ...],
) -> None:
    """Refuse supports that exchange the legs otherwise than the mirror says.

    Pitch and joints seen from the first foot, had the legs changed roles, give the same
    coordinates: T_0^-1 T_1 is the mirror on the joints, whatever it adds to the base's pitch, and
    twice the relabelling S = T_1 T_0^-1 of [DS09] (4.10) leads back.
    """
    (first, second), names = feet[:2], (*base.angles, *joints)
    M = np.linalg.solve(supports[first], supports[second])
    offset = len(base.angles)
    for i, joint in enumerate(joints):
        partner, sign = mirror[joint]
        wanted = np.zeros(len(M))
        wanted[offset + joints.index(partner)] = sign
        require(
            np.allclose(M[offset + i], wanted, atol=1e-9),
            'robot.supports',
            value=_in_words(M[offset + i], names),
            limit=f'takes the place of {joint} on {second}, where robot.mirror says '
            f'{_in_words(wanted, names)}',
            remedy=f'correct the signs and joints of {first}, {second} or the mirror',
            error=RobotFileError,
        )
    require(
        np.allclose(M @ M, np.eye(len(M)), atol=1e-9),
        'robot.supports',
        limit='relabelling twice must give every coordinate back',
        remedy='correct the pitch of one of the feet',
        error=RobotFileError,
    )


def _in_words(row: np.ndarray, names: Sequence[str]) -> str:
    """Return a combination of base angles and joints in words."""
    return (
        ' '.join(
            f'{factor:+g} {name}'
            for factor, name in zip(row, names, strict=True)
            if abs(factor) > 1e-9
        )
        or 'nothing'
    )


def _mirror(section: Section, joints: tuple[str, ...], path: Path) -> dict[str, tuple[str, float]]:
    mirror = {}
    for joint in joints:
        require(
            joint in section,
            f'robot.mirror.{joint}',
            limit=f'missing in {path}',
            error=RobotFileError,
        )
        entry = mapping(section[joint], f'robot.mirror.{joint}')
        require_part(entry.get('partner'), joints, 'joint', path)
        require(
            entry.get('sign') in (-1.0, 1.0) and entry['sign'] is not True,
            f'robot.mirror.{joint}.sign',
            value=entry.get('sign'),
            limit='must be 1.0 or -1.0',
            error=RobotFileError,
        )
        mirror[joint] = (entry['partner'], float(entry['sign']))
    for joint, (partner, sign) in mirror.items():
        require(
            mirror[partner] == (joint, sign),
            f'robot.mirror.{joint}',
            value=(partner, sign),
            limit='mirroring twice must give the joint back',
            error=RobotFileError,
        )
    return mirror


def _supports(
    section: Section, base: Base, joints: tuple[str, ...], path: Path
) -> dict[str, np.ndarray]:
    coordinates, columns = section['coordinates'], (*base.angles, *joints)
    require_once(coordinates, 'robot.coordinates')
    supports = {}
    for foot in section['feet']:
        rows = section['supports'].get(foot)
        require(
            isinstance(rows, Mapping) and set(rows) == set(coordinates),
            f'robot.supports.{foot}',
            value=rows,
            limit='must give every coordinate: ' + ', '.join(coordinates),
            error=RobotFileError,
        )
        matrix = np.zeros((len(coordinates), len(columns)))
        for i, coordinate in enumerate(coordinates):
            what = f'robot.supports.{foot}.{coordinate}'
            for name, factor in mapping(rows[coordinate], what).items():
                require_part(name, columns, 'joint', path)
                matrix[i, columns.index(name)] = finite(factor, f'{what}.{name}', -LARGEST, LARGEST)
        require(
            matrix.shape[0] == matrix.shape[1] and abs(np.linalg.det(matrix)) >= 1e-9,
            f'robot.supports.{foot}',
            limit='coordinates do not determine '
            + ' and '.join((*base.angles, 'joints one to one')),
            error=RobotFileError,
        )
        supports[foot] = matrix
    return supports


def _by_joint(
    section: Section, key: str, kind: type[Kind], joints: Sequence[str], path: Path
) -> dict[str, Kind]:
    """Return joint -> what a part of the section says of it, a class of `Parameters` each."""
    rows = section[key]
    for joint in rows:
        require_part(joint, joints, 'joint', path)
    return {joint: kind.read(row, place=f'robot.{key}.{joint}') for joint, row in rows.items()}


def _actuators(section: Section, joints: tuple[str, ...], path: Path) -> dict[str, GearedMotor]:
    motors, rows = _by_joint(section, 'actuators', GearedMotor, joints, path), section['actuators']
    return {
        joint: motor
        if 'back_efficiency' in rows[joint]
        else replace(motor, back_efficiency=motor.efficiency)
        for joint, motor in motors.items()
    }


def _friction(
    section: Section, urdf: dict[str, UrdfJoint], joints: tuple[str, ...], path: Path
) -> dict[str, JointFriction]:
    """Return the friction of every joint that has any; the robot file counts before the URDF."""
    told = {
        joint: {'viscous': urdf[joint].damping, 'coulomb': urdf[joint].friction}
        for joint in joints
        if joint in urdf
    }
    for joint, row in section['friction'].items():
        require_part(joint, joints, 'joint', path)
        told[joint] = {**told.get(joint, {}), **mapping(row, f'robot.friction.{joint}')}
    found = _by_joint({'friction': told}, 'friction', JointFriction, joints, path)
    return {joint: row for joint, row in found.items() if row.viscous or row.coulomb}


def _servos(section: Section, joints: tuple[str, ...], path: Path) -> dict[str, float]:
    servos = _by_joint(section, 'servos', ServoParameters, joints, path)
    for joint in servos:
        require(
            joint not in section['actuators'],
            f'robot.servos.{joint}',
            limit='has a motor already',
            remedy='a joint is driven by torque or by speed',
            error=RobotFileError,
        )
    return {joint: servo.limit for joint, servo in servos.items()}


def _limit(section: Section, kind: type[PushOffLimit | GroundTorqueLimit]) -> float | None:
    """Return the limit of a virtual effort, None where the robot file does not offer it."""
    name = kind.section
    return kind.read(section[name], place=f'robot.{name}').limit if name in section else None


def _locks(
    section: Section, joints: tuple[str, ...], feet: list[str], path: Path
) -> tuple[JointLock, ...]:
    locks = []
    for joint, values in section.items():
        require_part(joint, joints, 'joint', path)
        mapping(values, f'robot.locks.{joint}')
        foot = values.get('foot')
        require_known(foot, feet, f'robot.locks.{joint}.foot', RobotFileError, foot)
        angle = finite(values.get('angle'), f'robot.locks.{joint}.angle')
        capture = finite(values.get('capture'), f'robot.locks.{joint}.capture', 0.0)
        locks.append(JointLock(joint, values['foot'], angle, capture))
    return tuple(locks)


def _signals(
    section: Section, joints: tuple[str, ...], imu_link: str, urdf: str
) -> dict[str, OwnSignal]:
    taken = {JOINTS, IMU, LOCKS, imu_link, *section['feet'], *map(imu_name, section['more_imus'])}
    links = set(link_names(urdf))
    return read_signals(section['signals'], joints, section['actuators'], links, taken)


def _foot_forces(section: Section, base: Base) -> str:
    told = str(section['foot_forces'])
    require(
        told == SENSORS or (base is Base.FREE and section['actuators']),
        'robot.foot_forces',
        value=told,
        limit='needs motors in the legs and a base that moves freely in space',
        remedy=f'foot_forces: {SENSORS}, and sensors in the feet',
        error=RobotFileError,
    )
    return told


def read_start(section: Section, robot: Robot) -> Start:
    """Return the `Start` that the section ``start`` of a robot file describes.

    Args:
        section: The section ``start``.
        robot: The `Robot` that starts.

    Raises:
        RobotFileError: The section does not fit the robot.
    """
    if not robot.coordinates:
        return _rest(section, robot)
    require(
        isinstance(section, Mapping) and set(section) == {'support', 'q', 'v'},
        'section start',
        value=section,
        limit='must hold support, q and v',
        error=RobotFileError,
    )
    support = section['support']
    require_known(support, robot.feet, 'start.support', RobotFileError, support)
    vectors = {}
    for name in ('q', 'v'):
        values = section[name]
        require(
            isinstance(values, list) and len(values) == len(robot.coordinates),
            f'start.{name}',
            value=values,
            limit=f'must hold {len(robot.coordinates)} finite numbers: '
            + ', '.join(robot.coordinates),
            error=RobotFileError,
        )
        vectors[name] = np.array(
            [
                finite(value, f'start.{name}, {coordinate}', -_FASTEST, _FASTEST)
                for coordinate, value in zip(robot.coordinates, values, strict=True)
            ]
        )
    start = Start(section['support'], **vectors)
    _check_start(start, robot)
    return start


def _check_start(start: Start, robot: Robot) -> None:
    """Refuse a start in which a joint is beyond its limits."""
    angles = robot.joint_lifts[start.support] @ start.q
    for joint, angle in zip(robot.joints, angles, strict=True):
        limit = robot.limits[joint]
        require(
            limit.lower - _AT_LIMIT <= angle <= limit.upper + _AT_LIMIT,
            'start.q',
            value=[float(value) for value in start.q],
            limit=f'puts joint {joint} at {angle:.4g} rad, beyond its limits of '
            f'{limit.lower:g} to {limit.upper:g} rad (the URDF)',
            error=RobotFileError,
        )


def _rest(section: Section, robot: Robot) -> Start:
    """Return the `Start` of a robot at rest: a posture by joint name, 0 where not named."""
    require(
        isinstance(section, Mapping)
        and set(section) == {'posture'}
        and isinstance(section['posture'], Mapping),
        'section start',
        value=section,
        limit='of a robot without coordinates must hold posture: {joint: rad}',
        error=RobotFileError,
    )
    posture = np.zeros(len(robot.joints))
    for joint, value in section['posture'].items():
        require_part(joint, robot.joints, 'joint', 'start.posture')
        require(
            not isinstance(value, bool)
            and isinstance(value, (int, float))
            and robot.limits[joint].lower <= value <= robot.limits[joint].upper,
            f'start.posture.{joint}',
            value=value,
            limit=f'must be a number from {robot.limits[joint].lower:g} '
            f'to {robot.limits[joint].upper:g} (the URDF)',
            error=RobotFileError,
        )
        posture[robot.joint_index(joint)] = value
    _check_springs(robot, posture)
    return Start(robot.feet[0], np.zeros(0), np.zeros(0), posture)


def _check_springs(robot: Robot, posture: np.ndarray) -> None:
    """Refuse springs that break a stance: no motor holds the joint against them."""
    limits = dict(zip(robot.actuators, robot.effort_limits.tolist()))
    for joint, spring in robot.springs.items():
        torque = float(spring.effort(posture[robot.joint_index(joint)], 0.0))
        if joint in limits and abs(torque) > limits[joint]:
            raise RobotFileError(
                f'spring of {joint} in start.posture',
                value=torque,
                limit=f'pulls by more than the {limits[joint]:g} N m of its motor',
                remedy=f'a softer robot.springs.{joint}.stiffness, or another rest',
            )
