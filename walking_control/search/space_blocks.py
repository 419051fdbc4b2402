# SPDX-License-Identifier: Apache-2.0
"""What a gait in space obeys on its nodes and at touchdown, as blocks of a nonlinear program."""

import casadi as ca
import numpy as np

from walking_control.gaits.gait import lobatto
from walking_control.models import REFLECTION, SpaceEquations
from walking_control.search.blocks import Block, Column, make_block, Numbers, Rows, selection, Shape

TASK = (
    'speed',
    'width',
    'clearance',
    'gap',
    'tilt',
    'landing_speed',
    'landing_slip',
    'friction',
    'pressure_x',
    'pressure_y',
    'sole_x',
    'sole_y',
    'weight',
    'smooth',
    'exchange',
)


def _positive(power: ca.SX, smooth: ca.SX) -> ca.SX:
    """Return max(0, power), smoothly."""
    return 0.5 * (power + ca.sqrt(power**2 + smooth**2) - smooth)


def _corners(task: dict[str, ca.SX]) -> list[ca.SX]:
    return [
        ca.vertcat(x * task['sole_x'], y * task['sole_y'], 0.0)
        for x in (1.0, -1.0)
        for y in (1.0, -1.0)
    ]


def _add_wrench(rows: Rows, wrench: ca.SX, task: dict[str, ca.SX], what: str) -> None:
    """Add that the floor presses, within the sole, and holds by friction."""
    fx, fy, fz, mx, my, mz = ca.vertsplit(wrench)
    mu, x, y = task['friction'], task['pressure_x'], task['pressure_y']
    rows.add(f'pressure {what}', fz, 0.0, np.inf)
    rows.add(f'friction {what}', (mu * fz) ** 2 - fx**2 - fy**2, 0.0, np.inf)
    for name, moment, most in (
        ('length', my, x),
        ('width', mx, y),
        ('friction about the normal', mz, mu * (x + y)),
    ):
        for sign in (1.0, -1.0):
            rows.add(f'{name} of the sole {what}', most * fz + sign * moment, 0.0, np.inf)


def step_block(equations: SpaceEquations, shape: Shape, numbers: Numbers) -> Block:
    """Return what holds on the nodes: cost, floor, motors, feet apart and off the floor."""
    n, task = equations.n, numbers.task
    nodes, weights = lobatto(shape.intervals)
    column, extra = Column(shape, n, 0, 3), ca.SX.sym('extra', 2)
    q, v, a = column.motion()
    effort, wrench = equations.dynamics(q, v, a, numbers.theta(column.adapted))
    copper, power, share = numbers.part['copper'] * effort**2, effort * v, task['exchange']
    alone = ca.sum1(copper + _positive(power, task['smooth']))
    together = _positive(ca.sum1(copper + power), task['smooth'])
    drawn = (1.0 - share) * alone + share * together
    cost = extra[0] * drawn / ca.fabs(task['weight'] * task['speed'])
    rows = Rows()
    places, turns = equations.poses(q)
    swing, R = places[:, 0], turns[:, :3]
    for corner in _corners(task):
        rows.add(
            'clearance', swing[2] + (R @ corner)[2] - extra[1] * task['clearance'], 0.0, np.inf
        )
    on_floor = len(rows.rows)
    rows.add('feet apart', -swing[1] - task['gap'], 0.0, np.inf)
    for tilt in (turns[2, 3], turns[2, 4], turns[1, 3]):
        for sign in (1.0, -1.0):
            rows.add('tilt of the base', task['tilt'] + sign * tilt, 0.0, np.inf)
    for i in range(n):
        rows.add(f'rate of joint {i}', v[i] / numbers.part['rates'][i], -1.0, 1.0)
    for sign in (1.0, -1.0):
        for i in range(n):
            rows.add(
                f'effort of joint {i}', numbers.part['limits'][i] + sign * effort[i], 0.0, np.inf
            )
    _add_wrench(rows, wrench, task, 'on the stance foot')
    lower = np.tile(np.array(rows.lower)[:, None], len(nodes))
    lower[:on_floor, [0, -1]] = -1.0  # held there by touchdown
    return make_block(
        (column.symbol, numbers.symbol, extra),
        cost,
        rows,
        selection(shape, n, 0, nodes, range(3)),
        np.array([weights, np.sin(np.pi * nodes) ** 2]),
        lower,
    )


def touchdown_block(
    equations: SpaceEquations, shape: Shape, numbers: Numbers, width: bool
) -> Block:
    """Return what ties the end of the step to its beginning, left and right exchanged.

    Args:
        width: Whether the width of the step is prescribed.
    """
    n, task = equations.n, numbers.task
    column, rows = Column(shape, n, 0, 4), Rows()
    q_new, v_new, q, v = column.part(0, 0), column.part(1, 1), column.part(2, 0), column.part(3, 1)
    S = ca.DM(equations.mirror)
    rows.add('posture after touchdown', S @ q - q_new)
    places, turns = equations.poses(q)
    swing, R = places[:, 0], turns[:, :3]
    rows.add('speed', swing[0] - task['speed'] * column.duration)
    if width:
        rows.add('step width', swing[1] + task['width'])
    rows.add('touchdown on the floor', swing[2])
    rows.add('touchdown with a flat sole ahead', ca.vertcat(R[2, 0], R[2, 1], R[1, 0]))
    twist = equations.swing_twist(q, v)
    for corner in _corners(task):
        vx, vy, vz = ca.vertsplit(twist[:3] + ca.cross(twist[3:], corner))
        rows.add('landing speed', task['landing_speed'] + vz, 0.0, np.inf)
        rows.add('landing downwards', -vz, 0.0, np.inf)
        for slip in (vx, -vx, vy, -vy):
            rows.add('landing along the floor', task['landing_slip'] + slip, 0.0, np.inf)
    mirrored = ca.vertcat(ca.DM(REFLECTION) @ twist[:3], -ca.DM(REFLECTION) @ twist[3:])
    gained, impulse = equations.impact(q_new, mirrored, S @ v, v_new, numbers.theta(column.adapted))
    rows.add('momentum at touchdown', gained)
    _add_wrench(rows, impulse, task, 'at touchdown')
    left = equations.swing_twist(q_new, v_new)
    for corner in _corners(task):
        rows.add(
            'the foot left behind lifts off', left[2] + ca.cross(left[3:], corner)[2], 0.0, np.inf
        )
    G = selection(shape, n, 0, [0.0, 1.0], range(2))
    return make_block(
        (column.symbol, numbers.symbol, ca.SX.sym('extra', 1)),
        ca.SX(1, 1),
        rows,
        np.concatenate([G[0, : 2 * n], G[1]])[None],
        np.zeros((1, 1)),
    )
