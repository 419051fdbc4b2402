# SPDX-License-Identifier: Apache-2.0
"""The torques that hold a robot still: the work of the verb `statics`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.design import load_mechanism
from walking_control.exceptions import InvalidInput, require, require_known
from walking_control.models import Base, check_limits, mimic_joints, parse, read_yaml
from walking_control.statics import centre_of_pressure, Contact, StaticSolution, StaticTorque

COMPONENTS = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')
SUPPORTS = {'left': ('left',), 'right': ('right',), 'both': ('left', 'right')}
SOLE = (0.20, 0.10)  # m, length and width where nobody says


class Posture:
    """A robot in a configuration with its two soles, ready to be asked for torques.

    Args:
        robot: Robot name, path of a robot file, or path of a URDF or xacro file.
        left: Frame of the left sole; None takes the robot file's first foot.
        right: Frame of the right sole; None takes the second.
        configuration: Path of a YAML file with ``joints`` and ``base``; None takes the robot
            file's start posture, or zero angles of a bare URDF.
        friction: Coefficient of friction.
        foot_size: Length and width of the soles, m, both 0 for points; None assumes 0.20 x 0.10.
        overrides: Pairs (name, value) for the robot file.

    Raises:
        InvalidInput: The robot, a frame or the configuration is unusable.
    """

    def __init__(
        self,
        robot: str | Path,
        left: str | None = None,
        right: str | None = None,
        configuration: str | Path | None = None,
        friction: float = 0.7,
        foot_size: Sequence[float] | None = None,
        overrides: Sequence[tuple[str, Any]] = (),
    ) -> None:
        mechanism = load_mechanism(robot, overrides, held=False)
        self.dynamics, self.q = mechanism.dynamics, mechanism.q
        self.name = mechanism.name
        machine = mechanism.dynamics.robot
        require(
            machine.base is Base.FREE,
            f'robot {machine.name}',
            limit=f'is {machine.base.value}',
            remedy='statics needs a robot in space (base: free)',
        )
        usual = (*machine.feet, '', '')
        feet = (left or usual[0], right or usual[1])
        require(
            all(feet),
            'the soles of ' + machine.name,
            limit='two are needed; a URDF alone names none',
            remedy='give --left FRAME --right FRAME',
        )
        require(
            feet[0] != feet[1],
            'the soles of ' + self.name,
            value=feet[0],
            limit='left and right are the same frame',
            remedy='give two with --left and --right',
        )
        self.assumptions = _assumptions(machine.urdf, foot_size, friction)
        length, width = SOLE if foot_size is None else foot_size
        self.contacts = {
            side: Contact(frame, length, width, friction)
            for side, frame in zip(('left', 'right'), feet)
        }
        if configuration:
            joints, position, orientation = read_configuration(configuration)
            self.q = self.dynamics.configuration(joints, orientation, position)
            check_limits(self.q[machine.base.nq :], machine.joints, machine.limits)
        elif not mechanism.positions.any():
            self.assumptions.append('all joints at zero, base upright')


def _assumptions(urdf: str, foot_size: Sequence[float] | None, friction: float) -> list[str]:
    """Return in sentences what the torques rest on beside the URDF."""
    soles = (
        f'soles of {SOLE[0]:g} m x {SOLE[1]:g} m, a guess: --foot-size L W says '
        'otherwise, --foot-size 0 0 makes them points'
    )
    if foot_size is not None:
        soles = 'feet that are points and transmit no moment'
        if any(foot_size):
            soles = f'soles of {foot_size[0]:g} m x {foot_size[1]:g} m'
    held = [
        f'joint {joint} is held by itself, though it mimics {other}'
        for joint, other in mimic_joints(parse(urdf)).items()
    ]
    return [soles, f'friction of {friction:g}', *held]


def read_configuration(path: Path | str) -> tuple[dict[str, float], list[float], list[float]]:
    """Return joint positions by name, base position and quaternion (xyzw) of a YAML file.

    Raises:
        InvalidInput: The file is unreadable or has another form.
    """
    form = (
        'must hold joints: {name: value} and, if not upright, base: {position: [x, y, z], '
        'quaternion_xyzw: [x, y, z, w]}'
    )
    document = read_yaml(path, f'configuration {path}')
    require(
        isinstance(document, Mapping)
        and isinstance(document.get('joints'), Mapping)
        and set(document) <= {'joints', 'base'},
        f'configuration {path}',
        limit=form,
    )
    base = document.get('base', {})
    require(
        isinstance(base, Mapping) and set(base) <= {'position', 'quaternion_xyzw'},
        f'base of configuration {path}',
        value=base,
        limit=form,
    )
    try:
        joints = {str(name): float(value) for name, value in document['joints'].items()}
        position = [float(value) for value in base.get('position', (0.0, 0.0, 0.0))]
        orientation = [float(value) for value in base.get('quaternion_xyzw', (0.0, 0.0, 0.0, 1.0))]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f'configuration {path}', limit=f'{form} ({error})') from None
    require(
        len(position) == 3 and len(orientation) == 4 and np.isfinite(position).all(),
        f'base of configuration {path}',
        value=base,
        limit=form,
    )
    return joints, position, orientation


def solve_statics(
    posture: Posture,
    support: str = 'both',
    objective: str = 'torque',
    solver: str | None = None,
    effort_limits: Mapping[str, float] | None = None,
    draw: Callable[..., Path] | None = None,
) -> dict[str, Any]:
    """Return what holds a robot still, or which limit forbids it.

    `effort_limits`, joint -> N m, stand in place of the URDF's; `draw` is called with posture,
    distributor and solution and returns the path of its picture.

    Returns:
        dict: ``status`` (feasible or infeasible), ``reason``, ``joint_torques``, ``wrenches``,
        ``torque_norm``, ``base_residual``, ``cop``, ``margins``, ``solve_time``; beside them
        ``shortfalls``, ``problems``, ``assumptions``, ``objective``, ``solver``, ``files``.
    """
    require_known(support, SUPPORTS, 'support', value=support)
    distributor = StaticTorque(posture.dynamics, posture.contacts, objective, effort_limits, solver)
    distributor.solve(posture.q, SUPPORTS[support])  # the first call allocates; the second counts
    solution = distributor.solve(posture.q, SUPPORTS[support])
    files = [] if draw is None else [str(draw(posture, distributor, solution))]
    return {
        **_numbers(posture, distributor, solution),
        'robot': posture.name,
        'support': support,
        'objective': objective,
        'solver': solution.solver,
        'solve_time': solution.solve_time,
        'problems': [problem.as_dict() for problem in distributor.problems],
        'assumptions': posture.assumptions,
        'files': files,
    }


def _numbers(
    posture: Posture, distributor: StaticTorque, solution: StaticSolution
) -> dict[str, Any]:
    joints, wrenches = posture.dynamics.joints, solution.wrenches or {}
    feasible, torque = solution.feasible, solution.torque
    return {
        'status': 'feasible' if feasible else 'infeasible',
        'reason': solution.reason,
        'shortfalls': [
            {'limit': s.limit, 'where': s.where, 'amount': s.amount, 'unit': s.unit}
            for s in solution.shortfalls
        ],
        'joint_torques': None if torque is None else dict(zip(joints, torque.tolist())),
        'torque_norm': None if torque is None else float(np.linalg.norm(torque)),
        'wrenches': {
            side: dict(zip(COMPONENTS, wrenches[side].tolist())) if side in wrenches else None
            for side in ('left', 'right')
        },
        'cop': {side: centre_of_pressure(wrench).tolist() for side, wrench in wrenches.items()}
        if wrenches
        else None,
        'margins': distributor.margins(solution) if feasible else None,
        'base_residual': solution.base_residual,
    }
