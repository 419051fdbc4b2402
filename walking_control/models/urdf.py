# SPDX-License-Identifier: Apache-2.0
"""Read a URDF or xacro file and refuse what describes no physical robot."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
import math
import os
from pathlib import Path
import re
import tempfile
from typing import Any, IO, NoReturn
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from walking_control.exceptions import Findings, refusing, require, require_known, UrdfError
from walking_control.models.array_functions import say_once
from walking_control.models.urdf_structure import check_numbers, check_structure, LARGEST, MOVING

_LIMITS = ('lower', 'upper', 'effort', 'velocity')
_EFFORT = _LIMITS.index('effort')
_PLACE = ('xyz', 'rpy')
_MOTE = 1e-3  # of the robot's mass
# what is told of a xacro that cannot be expanded, by what xacro says
_REMEDIES = (
    ("package '[^']+' not found", 'source the workspace that has it, or put it beside this one'),
    (
        r'Undefined substitution argument \S+',
        '--xacro NAME=VALUE of adopt, or robot.xacro_args of a robot file',
    ),
)
DEEPEST = 200  # elements within each other; a body within a body counts too in other formats
PIECE = 1 << 13  # characters that are parsed before other threads have their turn


@dataclass(frozen=True)
class UrdfJoint:
    """What the rest of the package asks of a moving joint.

    Args:
        name: Name.
        kind: ``'revolute'``, ``'continuous'`` or ``'prismatic'``.
        lower: Lower position limit, rad or m (-inf where the URDF gives none).
        upper: Upper position limit.
        effort: Largest effort, N m or N (inf where the URDF gives none).
        velocity: Largest speed, rad/s or m/s (inf where the URDF gives none).
        damping: Viscous friction, N m s/rad or N s/m (0 where the URDF gives none).
        friction: Dry friction, N m or N (likewise).
    """

    name: str
    kind: str
    lower: float
    upper: float
    effort: float
    velocity: float
    damping: float = 0.0
    friction: float = 0.0

    @property
    def room(self) -> float:
        """How far it can move, rad or m."""
        return self.upper - self.lower


def is_urdf(path: Path | str) -> bool:
    """Return whether a path is named as one that `load_urdf` reads, in small letters or capitals.

    Args:
        path: Of any file, or the name of a robot.
    """
    return str(path).lower().endswith(('.urdf', '.xacro'))


def load_urdf(path: Path | str, xacro_args: Mapping[str, Any] | None = None) -> str:
    """Return the URDF text of a ``.urdf`` or ``.xacro`` file, checked.

    Args:
        path: File path.
        xacro_args: Mapping of xacro argument to value.

    Raises:
        UrdfError: The file is unreadable, is not a URDF, or a mass or inertia is not physical.
    """
    path = Path(path)
    require(
        path.is_file(),
        f'URDF {path}',
        limit='is a folder: give a file' if path.is_dir() else 'no such file',
        error=UrdfError,
    )
    if path.suffix.lower() == '.xacro':
        text = _expand(path, xacro_args or {})
    elif xacro_args:
        raise UrdfError(f'URDF {path}', limit='xacro arguments need a .xacro file')
    else:
        with refusing(
            (OSError, UnicodeDecodeError),
            f'URDF {path}',
            limit='cannot be read: {error}',
            error=UrdfError,
        ):
            text = path.read_text(encoding='utf-8')
    check_urdf(text, path)
    return text


def _expand(path: Path, xacro_args: Mapping[str, Any]) -> str:
    import xacro

    def find(package: str) -> str:
        """Return where a package lies: around the file, built or not, else as sourced."""
        around = (parent / package for parent in path.resolve().parents)
        near = next((each for each in around if (each / 'package.xml').is_file()), None)
        return str(near or sourced(package))

    try:
        with ExitStack() as stack:
            with suppress(ImportError):  # without it xacro finds no package
                from ament_index_python import packages

                sourced = packages.get_package_share_directory
                stack.enter_context(mock.patch.object(packages, sourced.__name__, find))
            words = {name: str(value) for name, value in xacro_args.items()}
            before = len(xacro.all_includes)  # xacro keeps those of all files it ever read
            text = str(xacro.process_file(str(path), mappings=words).toxml())
    except Exception as error:  # xacro raises plain exceptions of many kinds
        said, remedy = next(
            (
                (found.group(), remedy)
                for pattern, remedy in _REMEDIES
                if (found := re.search(pattern, str(error)))
            ),
            (error, None),
        )
        raise UrdfError(
            f'xacro file {path}', limit=f'cannot be expanded: {said}', remedy=remedy
        ) from error
    known: list[str] = []
    for each in (path, *xacro.all_includes[before:]) if xacro_args else ():
        with suppress(UrdfError):  # xacro notes files of YAML there, too, and absent optional ones
            known += declared_arguments(each)
    for name in xacro_args:
        require_known(
            name, known, f'xacro argument {name}', UrdfError, limit=f'not declared in {path.name}'
        )
    return text


def declared_arguments(path: Path | str) -> list[str]:
    """Return the names of the arguments that a xacro file declares, or uses undeclared.

    Raises:
        UrdfError: The file cannot be read.
    """
    what = f'xacro file {path}'
    with refusing(OSError, what, limit='cannot be read: {error}', error=UrdfError):
        text = Path(path).read_bytes()
    declared = parse_xml(text, what).iter('{http://www.ros.org/wiki/xacro}arg')
    used = re.findall(r'\$\(arg ([^)]+)\)', text.decode(errors='replace'))
    return [*(element.get('name', '') for element in declared), *used]


def parse_xml(text: str | bytes, what: str) -> ElementTree.Element:
    """Return the root element of an XML text.

    Args:
        what: What it is, for the message.

    Raises:
        UrdfError: It is not XML, or nested deeper than any robot.
    """
    with refusing(
        (ElementTree.ParseError, ValueError, LookupError),  # the last of an encoding
        what,
        limit='not well-formed XML: {error}',
        error=UrdfError,
    ):
        parser = ElementTree.XMLParser()
        for begin in range(0, len(text), PIECE):
            parser.feed(text[begin : begin + PIECE])
        root = parser.close()
    level = [root]
    for _ in range(DEEPEST):
        level = [child for element in level for child in element]
        if not level:
            return root
    raise UrdfError(what, limit=f'is nested deeper than {DEEPEST} elements')


def parse(text: str, path: Path | str = 'text') -> ElementTree.Element:
    """Return the root element of a URDF text.

    Args:
        text: Of the URDF.
        path: Where it is from, for the message.

    Raises:
        UrdfError: It is not XML or not a ``<robot>``.
    """
    root = parse_xml(text, f'URDF {path}')
    require(
        root.tag == 'robot',
        f'URDF {path}',
        value=root.tag,
        limit='the root element must be <robot>',
        error=UrdfError,
    )
    return root


@lru_cache(8)
def without_shapes(text: str) -> str:
    """Return a URDF without shapes, of which its reader complains on every reading."""
    root = parse(text)
    for link in root.findall('link'):
        for shape in (*link.findall('visual'), *link.findall('collision')):
            link.remove(shape)
    return ElementTree.tostring(root, encoding='unicode')


def check_urdf(text: str, path: Path | str = 'text') -> None:
    """Refuse what is no robot, and masses and inertias that no body can have.

    Args:
        text: Of the URDF.
        path: Where it is from, for the message.

    Raises:
        UrdfError: The links and joints do not make one robot (see `check_structure`), a mass is
            negative or not finite, an inertia is not positive semi-definite or breaks the triangle
            inequality, or the whole robot has no mass; carries all others.
    """
    root, findings = parse(text, path), Findings()
    findings.attempt(check_structure, root)
    findings.attempt(check_numbers, root)
    masses = [
        findings.attempt(_check_inertial, link.get('name'), link.find('inertial'))
        for link in root.findall('link')
        if link.find('inertial') is not None
    ]
    if not findings.errors:
        for joint in root.findall('joint'):
            if joint.get('type') in MOVING:
                findings.attempt(_moving_joint, joint)
    findings.raise_first()
    require(
        sum(masses) > 0.0,
        f'total mass of the robot in {path}',
        value=sum(masses),
        limit='must be positive (kg)',
        remedy='give its links an <inertial>',
        error=UrdfError,
    )
    _check_readable(text, path)


def _check_readable(text: str, path: Path | str) -> None:
    """Refuse what Pinocchio cannot read, should it be stricter than the checks before."""
    error, remarks = _read(text)
    if remarks:
        # shapes are left out, and what is said of a joint is why it gives up
        worst = next((each for each in remarks if 'joint [' in each), remarks[0])
        said = f'urdfdom makes {len(remarks)} remarks, one of them: {worst}'
        error = error and f'{error}; {said}'
    require(not error, f'URDF {path}', limit=f'is not read by Pinocchio: {error}', error=UrdfError)
    if remarks:
        say_once(said)


def _read(text: str) -> tuple[str, list[str]]:
    """Return why Pinocchio does not read a URDF, or ``''``, and what its reader remarks."""
    error = ''
    with caught_remarks() as caught:
        try:
            pin.buildModelFromXML(text)
        except ValueError as problem:
            error = str(problem)
        caught.seek(0)
        return error, caught.read().decode(errors='replace').splitlines()


@contextmanager
def caught_remarks() -> Iterator[IO[bytes]]:
    """Yield what catches a library's remarks, which it writes past Python, a line for each link."""
    with tempfile.TemporaryFile() as caught, ExitStack() as after:
        with suppress(OSError):  # whoever started us has closed it
            before = os.dup(2)
            after.callback(os.close, before)
            after.callback(os.dup2, before, 2)
            os.dup2(caught.fileno(), 2)
        yield caught


def _check_inertial(link: str | None, inertial: ElementTree.Element) -> float:
    """Return the mass of a link, checked, kg."""
    mass = _number(inertial.find('mass'), 'value', f'mass of link {link}', ' (kg)')
    require(
        mass <= LARGEST,
        f'mass of link {link}',
        value=mass,
        limit=f'must be at most {LARGEST:g} kg',
        error=UrdfError,
    )
    element = inertial.find('inertia')
    entries = [
        _number(element, name, f'inertia of link {link}')
        for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    ]
    xx, xy, xz, yy, yz, zz = entries
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    slack = 1e-9 * max(1e-6, abs(moments).max())  # kg m^2; exporters round
    require(
        moments[0] >= -slack and moments[2] <= moments[0] + moments[1] + slack,
        f'inertia of link {link}',
        value=[float(m) for m in moments],
        limit='principal moments must be positive, none above the sum of the others',
        error=UrdfError,
    )
    return mass


def _number(
    element: ElementTree.Element | None, attribute: str, what: str, positive: str | None = None
) -> float:
    """Return a finite number; positive: unit, in brackets, of what must not be negative."""
    text = None if element is None else element.get(attribute)
    with refusing(ValueError, what, value=text, limit='must be a number', error=UrdfError):
        value = float('' if text is None else text)
    require(math.isfinite(value), what, value=value, limit='must be finite', error=UrdfError)
    require(
        positive is None or value >= 0.0,
        what,
        value=value,
        limit=f'must not be negative{positive}',
        error=UrdfError,
    )
    return value


def moving_joints(text: str) -> list[UrdfJoint]:
    """Return the `UrdfJoint` of every moving joint, in the order of the URDF text."""
    return [
        _moving_joint(element)
        for element in parse(text).findall('joint')
        if element.get('type') in MOVING
    ]


def _moving_joint(element: ElementTree.Element) -> UrdfJoint:
    name, kind = element.get('name', ''), element.get('type', '')
    limit = element.find('limit')

    def read(attribute: str, default: float, positive: str | None = None) -> float:
        if limit is None or limit.get(attribute) is None:
            return default
        return _number(limit, attribute, f'{attribute} limit of joint {name}', positive)

    lower = read('lower', -math.inf if kind == 'continuous' else 0.0)
    upper = read('upper', math.inf if kind == 'continuous' else 0.0)
    if lower > upper and kind != 'continuous':
        _refuse_limits(name, lower, upper)
    effort, velocity = (read(attribute, math.inf, '') for attribute in ('effort', 'velocity'))
    return UrdfJoint(name, kind, lower, upper, effort, velocity, *_resistance(element))


def require_room(text: str) -> None:
    """Refuse joints of a URDF without room to move; carries all of them."""
    findings = Findings()
    for joint in moving_joints(text):
        if joint.kind != 'continuous' and joint.lower >= joint.upper:
            findings.attempt(_refuse_limits, joint.name, joint.lower, joint.upper)
    findings.raise_first()


def _refuse_limits(name: str, lower: float, upper: float) -> NoReturn:
    raise UrdfError(
        f'limits of joint {name}',
        value=f'{lower:g} to {upper:g}',
        limit='leave no room to move',
        remedy='set lower below upper, or make it continuous (a wheel) or fixed',
    )


def _resistance(joint: ElementTree.Element) -> list[float]:
    """Return damping and dry friction of a joint, checked; 0 where the URDF gives none."""
    dynamics = joint.find('dynamics')
    return [
        0.0
        if dynamics is None or dynamics.get(attribute) is None
        else _number(dynamics, attribute, f'{attribute} of joint {joint.get("name")}', f' ({unit})')
        for attribute, unit in (('damping', 'N m s/rad or N s/m'), ('friction', 'N m or N'))
    ]


def scale_masses(text: str, factor: float) -> str:
    """Return a URDF text with every mass and inertia multiplied by a factor.

    Args:
        text: Of the URDF.
        factor: Of every mass and inertia, 1.
    """
    root = parse(text)
    for element in (*root.iterfind('link/inertial/mass'), *root.iterfind('link/inertial/inertia')):
        for name, value in element.items():
            element.set(name, repr(factor * float(value)))
    return ElementTree.tostring(root, encoding='unicode')


def link_names(text: str) -> list[str]:
    """Return the names of all links."""
    return [element.get('name', '') for element in parse(text).findall('link')]


def differences(text: str, other: str) -> list[str]:
    """Return in words how a second URDF describes another robot than the first, at most five.

    Moving joints, their axes, origins and limits, and masses are compared; looks are not, nor
    masses below a thousandth of the robot's, which simulators want in frames, nor the effort of a
    joint that has a motor in one of them alone, as where a lock is emulated.

    Args:
        text: Of the first URDF.
        other: Of the second.
    """
    found = []
    try:
        first, second = (_anatomy(parse(each)) for each in (text, other))
    except UrdfError as error:
        return [str(error)]
    except ValueError as error:  # whoever publishes it has not loaded it
        return [f'it holds what is no number: {error}']
    for part in sorted(first.keys() | second.keys()):
        if part not in second:
            found.append(f'{part} is missing')
        elif part not in first:
            found.append(f'{part} is not in the robot file')
        elif not _alike(first[part], second[part], part.startswith('limits')):
            found.append(f'{part} differs ({first[part]} in the robot file, {second[part]})')
    return found[:5]


def _alike(first: list[float], second: list[float], limits: bool) -> bool:
    if limits and len(first) == len(second) and 0.0 in (first[_EFFORT], second[_EFFORT]):
        first, second = ([*each[:_EFFORT], *each[_EFFORT + 1 :]] for each in (first, second))
    return len(first) == len(second) and np.allclose(first, second, rtol=1e-6, atol=1e-9)


def _anatomy(root: ElementTree.Element) -> dict[str, list[float]]:
    """Return part -> numbers of the masses and moving joints of a URDF."""
    masses = {
        link.get('name'): float(mass.get('value', '0'))
        for link in root.findall('link')
        if (mass := link.find('inertial/mass')) is not None
    }
    least = _MOTE * sum(masses.values())
    parts = {f'mass of link {link}': [mass] for link, mass in masses.items() if mass > least}
    for joint in root.findall('joint'):
        if joint.get('type') in MOVING:
            origin, axis = (joint.find(tag) for tag in ('origin', 'axis'))
            words = [
                *('0 0 0' if origin is None else origin.get(name, '0 0 0') for name in _PLACE),
                '1 0 0' if axis is None else axis.get('xyz', '1 0 0'),
            ]
            parts[f'joint {joint.get("name")}'] = [*map(float, ' '.join(words).split())]
            limit = joint.find('limit')
            if limit is not None:
                parts[f'limits of joint {joint.get("name")}'] = [
                    float(limit.get(name, '0')) for name in _LIMITS
                ]
    return parts
