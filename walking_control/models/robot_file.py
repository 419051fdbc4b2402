# SPDX-License-Identifier: Apache-2.0
"""Robot files: which URDF, which feet, which coordinates, which motors, which parameters.

A robot file has the ROS 2 parameter-file format, so a node takes it as ``--params-file``. The
section ``robot`` describes the machine; every other section belongs to a parameter table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
import math
from pathlib import Path

import numpy as np
import yaml

from walking_control.exceptions import ParameterError, RobotFileError
from walking_control.models.actuators import GearedMotor, JointSpring
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.resources import robot_path
from walking_control.models.urdf import declared_arguments, link_names, load_urdf, moving_joints

WORLD = ParameterTable('world', [
    Parameter('slope', 0.0, 'rad', 'Inclination of the floor, downhill positive.', -0.5, 0.5),
    Parameter('gravity', 9.81, 'm/s^2', 'Gravitational acceleration.', 0.1, 30.0),
    Parameter('friction', 1.0, '1', 'Coefficient of friction between foot and floor.', 0.01, 10.0),
])

MOTOR = ParameterTable('actuators', [
    Parameter('torque_constant', 1.0, 'N m/A', 'Torque per ampere at the rotor.', 1e-6, 1e3),
    Parameter('reduction', 1.0, '1', 'Rotor turns per joint turn.', 1e-3, 1e4),
    Parameter('rotor_inertia', 0.0, 'kg m^2', 'Inertia at the rotor.', 0.0, 10.0),
    Parameter('resistance', 0.0, 'ohm', 'Winding resistance.', 0.0, 1e3),
    Parameter('current_limit', 1e3, 'A', 'Largest current of the amplifier.', 1e-3, 1e6),
])

SPRING = ParameterTable('springs', [
    Parameter('stiffness', 0.0, 'N m/rad', 'Stiffness of the spring across the joint.', 0.0, 1e6),
    Parameter('damping', 0.0, 'N m s/rad', 'Viscous damping across the joint.', 0.0, 1e4),
    Parameter('rest', 0.0, 'rad', 'Joint angle at which the spring is relaxed.', -10.0, 10.0),
])

GROUND_TORQUE = [
    Parameter('limit', 100.0, 'N m', 'Largest torque of the floor on the stance foot.', 0.0, 1e6),
]

# Keys beside the sections that belong to parameter tables.
_PLAIN_KEYS = ('robot', 'start', 'controller', 'plant')


@dataclass(frozen=True)
class JointLock:
    """A lock that holds a joint at an angle once armed and arrived.

    Args:
        joint: Joint name.
        foot: Foot of the leg the joint belongs to.
        angle: Angle held, rad.
        capture: The lock engages when the joint is within this of the angle, rad.
    """

    joint: str
    foot: str
    angle: float
    capture: float


@dataclass(frozen=True)
class Robot:
    """A walker as the package sees it; built by `load_robot_file`.

    Args:
        name: Name.
        urdf: URDF text.
        base_link: Root link of the URDF.
        imu_link: Link that carries the IMU.
        planar: True when the robot moves in the x-z plane only.
        joints: Moving joints in the package's order.
        limits: `UrdfJoint` by joint.
        feet: Foot links.
        mirror: joint -> (partner, sign): the relabelling at touchdown.
        coordinates: Names of the minimal coordinates.
        supports: foot -> matrix, ``(n_coordinates, 1 + n_joints)``, that maps the base pitch
            (about +y, from the floor normal) followed by the joints to the minimal coordinates;
            of spatial robots ``(n_coordinates, n_joints)``, without pitch.
        actuators: joint -> `GearedMotor`.
        locks: The `JointLock` of each lockable joint.
        springs: joint -> `JointSpring`, passive.
        ground_torque: Largest torque of the floor on the stance foot, N m, a virtual effort of
            plants (see `models.inputs`); None without.
    """

    name: str
    urdf: str = field(repr=False)
    base_link: str
    imu_link: str
    planar: bool
    joints: tuple
    limits: dict = field(repr=False)
    feet: tuple
    mirror: dict = field(repr=False)
    coordinates: tuple
    supports: dict = field(repr=False)
    actuators: dict = field(repr=False)
    locks: tuple = field(repr=False)
    springs: dict = field(repr=False, default_factory=dict)
    ground_torque: float | None = None

    @property
    def efforts(self):
        """Return the names of all efforts in the order of `Command.effort`."""
        return (*self.actuators, *(() if self.ground_torque is None else ('ground_torque',)))

    def joint_index(self, name):
        """Return the position of a joint in the package's order."""
        return self.joints.index(name)


@dataclass(frozen=True)
class Start:
    """The state a run begins with: planar robots just after touchdown, others at rest.

    Args:
        support: Stance foot (of a robot at rest: the first foot).
        q: Minimal coordinates, rad, ``(n_coordinates,)``.
        v: Their rates, rad/s.
        posture: Joint positions of a robot at rest, rad or m, ``(n_joints,)``; None for planar
            robots.
    """

    support: str
    q: np.ndarray
    v: np.ndarray
    posture: np.ndarray | None = None


@dataclass(frozen=True)
class RobotFile:
    """A robot file, read and checked.

    Args:
        path: Where it was read from.
        robot: The `Robot`.
        start: The `Start`.
        controller: Name of the default controller.
        plant: Name of the default plant.
        sections: section -> {name: value} of all parameter sections, as written.
        tree: The whole parameter tree, overrides applied.
    """

    path: Path
    robot: Robot
    start: Start
    controller: str
    plant: str
    sections: dict = field(repr=False)
    tree: dict = field(repr=False)

    def values(self, table):
        """Return a table's validated values, defaults filled in."""
        return table.validate(self.sections.get(table.section, {}))

    def write(self, path):
        """Write the robot file, overrides applied, so that another process can load it."""
        tree = {**self.tree, 'robot': {**self.tree['robot'],
                                       'urdf': str(_urdf_path(self.tree['robot'], self.path))}}
        document = {'/**': {'ros__parameters': tree}}
        Path(path).write_text(yaml.safe_dump(document, sort_keys=False), encoding='utf-8')


def load_robot_file(name_or_path, overrides=(), tables=()):
    """Read a robot file.

    Args:
        name_or_path: Name of a shipped robot or path of a robot file.
        overrides: Pairs (name, value); the name is a dotted path or its end. An end means what
            the file writes, before what its own controller and plant could be told.
        tables: `ParameterTable` of the sections that may be overridden though the file does not
            write them, and that are validated at once.

    Raises:
        InvalidInput: The file, its URDF or an override is unusable.
    """
    path = robot_path(name_or_path)
    tree = read_parameters(path)
    tables = (WORLD, *tables)
    for key in ('robot', 'start', 'controller', 'plant'):
        if key not in tree:
            raise RobotFileError(f'robot file {path}', limit=f'has no {key}')
    for name, value in overrides:
        _override(tree, name, value, _known_names(tree, path, tables))
    for name in ('controller', 'plant'):
        if not isinstance(tree[name], str):
            raise RobotFileError(name, value=tree[name], limit='must be a name')
    sections = {name: dict(_mapping({} if values is None else values, f'section {name}'))
                for name, values in tree.items() if name not in _PLAIN_KEYS}
    known = [table.section for table in tables]
    for name in sections:
        if len(tables) > 1 and name not in known:
            near = get_close_matches(name, known, n=1)
            raise RobotFileError(f'section {name} of {path}', limit='unknown',
                                 remedy=f'did you mean {near[0]}?' if near
                                 else 'known: ' + ', '.join(known))
    for table in tables:
        table.validate(sections.get(table.section, {}))
    robot = _robot(tree['robot'], path)
    return RobotFile(path, robot, _start(tree['start'], robot), tree['controller'], tree['plant'],
                     sections, tree)


def _mapping(value, what):
    """Return a value that must be a mapping.

    Raises:
        RobotFileError: It is not.
    """
    if not isinstance(value, Mapping):
        raise RobotFileError(what, value=value, limit='must hold name: value pairs')
    return value


def _finite(value, what, least=-math.inf):
    """Return a value that must be a finite number of at least some size, as float.

    Raises:
        RobotFileError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or not math.isfinite(value) or value < least:
        at_least = '' if least == -math.inf else f' of at least {least:g}'
        raise RobotFileError(what, value=value, limit=f'must be a finite number{at_least}')
    return float(value)


def _urdf_path(section, path):
    return (path.parent / section['urdf']).resolve()


def read_parameters(path):
    """Return the parameter tree of a ROS 2 parameter file.

    Raises:
        RobotFileError: Not YAML, or no ``ros__parameters``.
    """
    try:
        document = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RobotFileError(f'robot file {path}', limit=f'cannot be read: {error}') from error
    if not isinstance(document, Mapping):
        raise RobotFileError(f'robot file {path}', limit='is not a ROS 2 parameter file',
                             remedy="its first line must be '/**:'")
    for node in document.values():
        if isinstance(node, Mapping) and isinstance(node.get('ros__parameters'), Mapping):
            return node['ros__parameters']
    raise RobotFileError(f'robot file {path}', limit='has no ros__parameters')


def _known_names(tree, path, tables):
    """Return the dotted names that can be overridden, in groups, the nearest first.

    What the file writes comes first, then xacro arguments and the sections of its own controller
    and plant and of those every robot has, then all other tables.
    """
    written = [name for name, _ in _leaves(tree)]
    own, others = [], []
    section = tree.get('robot')
    if isinstance(section, Mapping) and str(section.get('urdf')).endswith('.xacro'):
        arguments = declared_arguments(_urdf_path(section, path))
        own += [f'robot.xacro_args.{name}' for name in arguments]
    near = {'world', 'estimator', 'safety', str(tree.get('controller')), str(tree.get('plant'))}
    for table in tables:
        names = own if table.section in near else others
        names += [f'{table.section}.{name}' for name in table.parameters]
    return written, own, others


def _override(tree, name, value, groups):
    known = [key for group in groups for key in group]
    matches = {key for key in known if key == name}
    for group in groups:
        matches = matches or {key for key in group if key.endswith('.' + name)}
    if len(matches) != 1:
        ends = {key.rpartition('.')[2]: key for key in known}
        near = sorted(matches) or [ends[end] for end in get_close_matches(name, ends, n=3)]
        raise ParameterError(f'parameter {name}',
                             limit='is ambiguous' if matches else 'unknown in this robot file',
                             remedy='did you mean ' + ', '.join(near) + '?' if near else None)
    *parents, leaf = matches.pop().split('.')
    for key in parents:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    tree[leaf] = value


def _leaves(tree, prefix=''):
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


_ROBOT_KEYS = {'name': str, 'urdf': str, 'base_link': str, 'imu_link': str, 'planar': bool,
               'joints': list, 'feet': list, 'mirror': dict, 'coordinates': list, 'supports': dict,
               'actuators': dict, 'locks': dict, 'springs': dict, 'xacro_args': dict,
               'ground_torque': dict}
_KIND_WORDS = {str: 'a text', bool: 'true or false', list: 'a list',
               dict: 'a mapping of name: value'}
_OPTIONAL_ROBOT_KEYS = ('imu_link', 'locks', 'springs', 'xacro_args', 'ground_torque')
_PLANAR_ROBOT_KEYS = ('mirror', 'coordinates', 'supports')  # robots in space need none of them


def _robot(section, path):
    _check_robot_keys(section, path)
    urdf = load_urdf(_urdf_path(section, path), section.get('xacro_args'))
    limits = {joint.name: joint for joint in moving_joints(urdf)}
    joints = tuple(section['joints'])
    _check_joints(joints, limits, path)
    links = link_names(urdf)
    imu_link = section.get('imu_link', section['base_link'])
    for link in (section['base_link'], imu_link, *section['feet']):
        _require(link, links, 'link', path)
    if len(section['feet']) < 2:
        raise RobotFileError('robot.feet', value=section['feet'], limit='a walker needs two feet')
    if not section['planar']:
        section = {'mirror': {}, 'coordinates': [], 'supports': {}, **section}
    return Robot(
        name=section['name'], urdf=urdf, base_link=section['base_link'], imu_link=imu_link,
        planar=section['planar'], joints=joints, limits=limits, feet=tuple(section['feet']),
        mirror=_mirror(section['mirror'], joints, path) if section['mirror'] else {},
        coordinates=tuple(section['coordinates']),
        supports=_supports(section, joints, path) if section['coordinates'] else {},
        actuators=_actuators(section['actuators'], joints, path),
        locks=_locks(section.get('locks', {}), joints, section['feet'], path),
        springs=_springs(section.get('springs', {}), joints, path),
        ground_torque=_ground_torque(section))


def _check_robot_keys(section, path):
    if not isinstance(section, Mapping):
        raise RobotFileError(f'robot file {path}',
                             limit='section robot must hold name: value pairs')
    for key in section:
        if key not in _ROBOT_KEYS:
            raise RobotFileError(f'robot.{key}', limit='unknown key',
                                 remedy='known: ' + ', '.join(_ROBOT_KEYS))
    optional = _OPTIONAL_ROBOT_KEYS
    if section.get('planar') is False:
        optional += _PLANAR_ROBOT_KEYS
    for key, kind in _ROBOT_KEYS.items():
        if key not in section:
            if key not in optional:
                raise RobotFileError(f'robot.{key}', limit=f'missing in {path}')
        elif not isinstance(section[key], kind):
            raise RobotFileError(f'robot.{key}', value=section[key],
                                 limit=f'must be {_KIND_WORDS[kind]}')
        elif kind is list and not all(isinstance(item, str) for item in section[key]):
            raise RobotFileError(f'robot.{key}', value=section[key],
                                 limit='must be a list of names')


def _check_joints(joints, limits, path):
    for joint in joints:
        _require(joint, limits, 'joint', path)
    for joint in limits:
        if joint not in joints:
            raise RobotFileError(f'joint {joint}', limit='moves in the URDF but is not in '
                                 'robot.joints',
                                 remedy='list it or make it fixed')


def _require(name, known, kind, path):
    if name not in known:
        near = get_close_matches(str(name), list(known), n=1)
        raise RobotFileError(f'{kind} {name} in {path}', limit=f'is not a {kind} of the URDF',
                             remedy=f'did you mean {near[0]}?' if near
                             else 'known: ' + ', '.join(known))


def _mirror(section, joints, path):
    mirror = {}
    for joint in joints:
        if joint not in section:
            raise RobotFileError(f'robot.mirror.{joint}', limit=f'missing in {path}')
        entry = _mapping(section[joint], f'robot.mirror.{joint}')
        _require(entry.get('partner'), joints, 'joint', path)
        if entry.get('sign') not in (-1.0, 1.0):
            raise RobotFileError(f'robot.mirror.{joint}.sign', value=entry.get('sign'),
                                 limit='must be 1.0 or -1.0')
        mirror[joint] = (entry['partner'], float(entry['sign']))
    for joint, (partner, sign) in mirror.items():
        if mirror[partner] != (joint, sign):
            raise RobotFileError(f'robot.mirror.{joint}', value=(partner, sign),
                                 limit='mirroring twice must give the joint back')
    return mirror


def _supports(section, joints, path):
    coordinates = section['coordinates']
    # the base of a spatial robot does not count: its joints leave from a point
    columns = ('pitch', *joints) if section['planar'] else joints
    supports = {}
    for foot in section['feet']:
        rows = section['supports'].get(foot)
        if not isinstance(rows, Mapping) or set(rows) != set(coordinates):
            raise RobotFileError(f'robot.supports.{foot}', value=rows,
                                 limit='must give every coordinate: ' + ', '.join(coordinates))
        matrix = np.zeros((len(coordinates), len(columns)))
        for i, coordinate in enumerate(coordinates):
            what = f'robot.supports.{foot}.{coordinate}'
            for name, factor in _mapping(rows[coordinate], what).items():
                _require(name, columns, 'joint', path)
                matrix[i, columns.index(name)] = _finite(factor, f'{what}.{name}')
        if matrix.shape[0] != matrix.shape[1] or abs(np.linalg.det(matrix)) < 1e-9:
            raise RobotFileError(f'robot.supports.{foot}',
                                 limit='coordinates do not determine '
                                 f'{"pitch and " if section["planar"] else ""}joints one to one')
        supports[foot] = matrix
    return supports


def _actuators(section, joints, path):
    actuators = {}
    for joint, values in section.items():
        _require(joint, joints, 'joint', path)
        table = ParameterTable(f'robot.actuators.{joint}', MOTOR.parameters.values())
        actuators[joint] = GearedMotor(**vars(table.validate(values)))
    return actuators


def _springs(section, joints, path):
    springs = {}
    for joint, values in section.items():
        _require(joint, joints, 'joint', path)
        table = ParameterTable(f'robot.springs.{joint}', SPRING.parameters.values())
        springs[joint] = JointSpring(**vars(table.validate(values)))
    return springs


def _ground_torque(section):
    if 'ground_torque' not in section:
        return None
    return ParameterTable('robot.ground_torque', GROUND_TORQUE).validate(
        section['ground_torque']).limit


def _locks(section, joints, feet, path):
    locks = []
    for joint, values in section.items():
        _require(joint, joints, 'joint', path)
        _mapping(values, f'robot.locks.{joint}')
        if values.get('foot') not in feet:
            raise RobotFileError(f'robot.locks.{joint}.foot', value=values.get('foot'),
                                 limit='must be one of ' + ', '.join(feet))
        angle = _finite(values.get('angle'), f'robot.locks.{joint}.angle')
        capture = _finite(values.get('capture'), f'robot.locks.{joint}.capture', 0.0)
        locks.append(JointLock(joint, values['foot'], angle, capture))
    return tuple(locks)


def _start(section, robot):
    if not robot.coordinates:
        return _rest(section, robot)
    if not isinstance(section, Mapping) or set(section) != {'support', 'q', 'v'}:
        raise RobotFileError('section start', value=section, limit='must hold support, q and v')
    if section['support'] not in robot.feet:
        raise RobotFileError('start.support', value=section['support'],
                             limit='must be one of ' + ', '.join(robot.feet))
    vectors = {}
    for name in ('q', 'v'):
        try:
            vector = np.array(section[name], dtype=float)
        except (TypeError, ValueError):
            vector = np.array([])
        if vector.shape != (len(robot.coordinates),) or not np.isfinite(vector).all():
            raise RobotFileError(f'start.{name}', value=section[name],
                                 limit=f'must hold {len(robot.coordinates)} finite numbers: '
                                 + ', '.join(robot.coordinates))
        vectors[name] = vector
    return Start(section['support'], **vectors)


def _rest(section, robot):
    """Return the `Start` of a robot at rest: a posture by joint name, 0 where not named."""
    if not isinstance(section, Mapping) or set(section) != {'posture'} \
            or not isinstance(section['posture'], Mapping):
        raise RobotFileError('section start', value=section,
                             limit='of a robot without coordinates must hold posture: '
                             '{joint: rad}')
    posture = np.zeros(len(robot.joints))
    for joint, value in section['posture'].items():
        _require(joint, robot.joints, 'joint', 'start.posture')
        if isinstance(value, bool) or not isinstance(value, (int, float)) \
                or not robot.limits[joint].lower <= value <= robot.limits[joint].upper:
            raise RobotFileError(f'start.posture.{joint}', value=value,
                                 limit=f'must be a number from {robot.limits[joint].lower:g} '
                                 f'to {robot.limits[joint].upper:g} (the URDF)')
        posture[robot.joint_index(joint)] = value
    return Start(robot.feet[0], np.zeros(0), np.zeros(0), posture)
