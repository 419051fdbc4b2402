# SPDX-License-Identifier: Apache-2.0
"""Mechanics that may change with the gait ([DS09] section 5.1): springs, dampers, masses.

Each adapted number moves the parameters theta of the step equations along a fixed direction. For
springs and dampers that is one entry; for a mass it is read off the URDF, expanded with other
values, and checked to be a straight line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from walking_control.exceptions import require, require_known
from walking_control.models import load_urdf, Robot, RobotFile, spring_places, step_parameters
from walking_control.search.parameters import SearchParameters

KINDS = ('spring', 'damper', 'mass')
STIFFEST, MOST_DAMPING, HEAVIEST = 1e4, 1e3, 1e3  # N m/rad, N m s/rad, kg

# names, base, start, lower, upper, column: of one number, see `Adaptation`
Entry = tuple[tuple[str, ...], float, float, float, float, np.ndarray]


@dataclass(frozen=True)
class Adaptation:
    """The numbers a search may change.

    Attributes:
        names: Dotted names in the robot file, several where mirrored joints share a number.
        base: Values at which theta is the robot file's, ``(k,)``.
        start: First guess of the search, ``(k,)``.
        lower: Bounds, ``(k,)``.
        upper: Likewise.
        columns: d theta / d value, ``(len(theta), k)``.
        keeps_mass: Whether the total mass is to stay.
    """

    # dotted names in the robot file, several where mirrored joints share a number
    names: tuple[tuple[str, ...], ...]
    base: np.ndarray
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    columns: np.ndarray
    keeps_mass: bool

    def name(self, adapted: np.ndarray) -> dict[str, float]:
        """Return name -> value."""
        return {
            name: float(value)
            for names, value in zip(self.names, adapted, strict=True)
            for name in names
        }


def find_adaptation(
    robot_file: RobotFile, theta: np.ndarray, optimise: Sequence[str], values: SearchParameters
) -> Adaptation:
    """Return the `Adaptation` of what is to be optimised.

    Args:
        theta: Its numbers of the step equations.
        optimise: Of `KINDS`.
        values: Validated values of the search, for masses.

    Raises:
        InvalidInput: Unknown kind, or the robot file offers nothing of that kind.
    """
    entries: list[Entry] = []
    for kind in dict.fromkeys(optimise):
        require_known(kind, KINDS, '--optimise', value=kind)
        entries += (
            _masses(robot_file, theta, values)
            if kind == 'mass'
            else _springs(robot_file.robot, theta, kind)
        )
    if not entries:
        none = np.zeros(0)
        return Adaptation((), none, none, none, none, np.zeros((len(theta), 0)), False)
    names, base, start, lower, upper, columns = zip(*entries, strict=True)
    return Adaptation(
        names,
        np.array(base),
        np.array(start),
        np.array(lower),
        np.array(upper),
        np.array(columns).T,
        'mass' in optimise,
    )


def _springs(robot: Robot, theta: np.ndarray, kind: str) -> Iterator[Entry]:
    require(
        robot.springs,
        f'--optimise {kind}',
        limit=f'{robot.name} has no springs',
        remedy='list the joint in robot.springs, stiffness 0 if need be',
    )
    place = 0 if kind == 'spring' else 1
    field, guess, most = (('stiffness', 1.0, STIFFEST), ('damping', 0.05, MOST_DAMPING))[place]
    # a spring and that of the other leg are one
    groups = dict.fromkeys(
        tuple(sorted({joint, robot.mirror[joint][0]} & set(robot.springs)))
        for joint in robot.springs
    )
    for group in groups:
        column = np.zeros(len(theta))
        places = [spring_places(robot, member)[place] for member in group]
        column[places] = 1.0
        base = theta[places[0]]
        names = tuple(f'robot.springs.{member}.{field}' for member in group)
        yield names, base, max(base, guess), 0.0, most, column


def _masses(robot_file: RobotFile, theta: np.ndarray, values: SearchParameters) -> Iterator[Entry]:
    names = values.mass_arguments.split()
    require(
        names,
        'search.mass_arguments',
        value='',
        limit='names no xacro argument',
        remedy='name the masses that may change',
    )
    given = robot_file.tree['robot'].get('xacro_args', {})
    for name in names:
        require(
            name in given,
            f'mass argument {name}',
            limit='has no value in robot.xacro_args',
            remedy='write its present value there',
        )
        base = float(given[name])
        require(
            base >= values.min_mass,
            f'mass argument {name}',
            value=base,
            limit=f'is below search.min_mass, {values.min_mass:g} kg',
        )
        column = mass_column(robot_file, name, theta)
        yield (f'robot.xacro_args.{name}',), base, base, values.min_mass, HEAVIEST, column


def mass_column(robot_file: RobotFile, name: str, theta: np.ndarray) -> np.ndarray:
    """Return d theta / d argument of a xacro argument that theta depends on linearly.

    Args:
        robot_file: The `RobotFile`.
        name: Of the xacro argument.
        theta: Parameters of the equations now.

    Raises:
        InvalidInput: It is not linear: the argument is no mass.
    """
    section = robot_file.tree['robot']
    path = (robot_file.path.parent / section['urdf']).resolve()
    base = float(section['xacro_args'][name])

    def numbers(value: float) -> np.ndarray:
        urdf = load_urdf(path, {**section['xacro_args'], name: value})
        fresh = step_parameters(replace(robot_file.robot, urdf=urdf), 9.81, 0.0)
        fresh[:3] = theta[:3]
        return fresh

    column: np.ndarray = numbers(base + 1.0) - theta
    require(
        np.abs(numbers(base + 2.5) - theta - 2.5 * column).max() <= 1e-9 and column.any(),
        f'mass argument {name}',
        limit='masses, first moments and inertias must be linear in it',
    )
    return column
