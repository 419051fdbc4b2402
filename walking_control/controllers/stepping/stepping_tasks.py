# SPDX-License-Identifier: Apache-2.0
"""The tasks of plain stepping: of a step, of standing, and of the trunk in both."""

import math

import numpy as np
import pinocchio as pin

from walking_control.controllers import (
    BalanceTask,
    FootTask,
    FootTurnTask,
    Gains,
    HeightTask,
    JointTask,
    LEFT,
    PressureTask,
    RIGHT,
    SIDE,
    StrideMean,
    Task,
    TorsionTask,
    TrunkTask,
    WalkingEngine,
)

# Weights of the tasks; they matter when not all can be met. Height and trunk go before the swing
# foot: friction could be had for its acceleration by pressing harder, and the robot would hop. Yaw
# goes last: to hold it against a fast swing would cost the foothold.
TRUNK, HEIGHT, SWING, TILT, BALANCE, PRESSURE = 1.0, 10.0, 0.3, 0.01, 30.0, 0.01
YAW = 0.01
HELD = 0.1  # of joints that no leg has: arms, waist, head
TORSION = 10.0  # per (N m)^2, on points
BACK = 0.05  # m/s: fastest way of the centre of mass back over the feet
AT_REST = 1e-4  # of the pressure under the feet of one that stands
TWIST = 0.3  # rad: farthest that a foot in the air is turned against the base


def step_tasks(engine: WalkingEngine) -> list[Task]:
    """Return the tasks of feet and floor in a step: swing, turn of the foot, pressure."""
    values, contact, stance = engine.values, engine.program.contact, engine.stance
    tasks: list[Task] = [
        swing_task(engine, Gains(values.swing_stiffness, values.swing_damping, SWING))
    ]
    if engine.soles or contact.size == 4:
        first = 1 if contact.blade else 0 if engine.soles else 2  # no joint rolls a blade
        tasks.append(
            FootTurnTask(
                1 - stance,
                _landing_turn(engine),
                Gains(
                    *engine.touchdown.trip.turning(values.swing_stiffness, values.swing_damping),
                    TILT,
                ),
                axes=slice(first, 3),
                own=contact.blade,
            )
        )
    place = engine.heading.to_floor(_pressure(engine))
    return [*tasks, PressureTask(stance, place, PRESSURE)]


def swing_task(engine: WalkingEngine, gains: Gains) -> FootTask:
    """Return the task of a swing foot that moves as `engine.swing` has it.

    Args:
        engine: The walking engine.
        gains: Of the task.
    """
    return FootTask(1 - engine.stance, engine.stance, engine.swing.tilted, gains)


def _landing_turn(engine: WalkingEngine) -> np.ndarray:
    """Return how the swing foot shall be turned: flat on the floor, ahead when it lands."""
    body, aim = engine.body, engine.velocity.value
    yaw = engine.heading.angle + aim[2] * max(engine.plan.step.remaining, 0.0)
    twist = math.remainder(yaw - body.yaw, 2.0 * math.pi)
    yaw = body.yaw + min(max(twist, -TWIST), TWIST)  # the leg would meet its stop
    tilt = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), engine.floor.normal)
    return np.asarray(tilt.matrix() @ pin.utils.rotate('z', yaw))


def _pressure(engine: WalkingEngine) -> np.ndarray:
    """Return where on the sole the floor shall press, from its middle, m, ``(2,)``.

    `step_plan` says how that moves the divergent component; what the foothold leaves of the fall is
    asked of it, as far as the sole reaches.
    """
    if not engine.soles:
        return np.zeros(2)
    fall, plan, wanted = engine.fall, engine.plan, engine.velocity.planned
    side, limits = SIDE[1 - engine.stance], engine.limits
    return engine.on_sole(plan.press(fall.capture, plan.step, fall.rate, wanted, side, limits))


def pivot_task(engine: WalkingEngine, sway: StrideMean, dt: float) -> TorsionTask:
    """Return the task that turns a robot on a point as the mean of a stride asks; see `heading`.

    Args:
        engine: The walking engine.
        sway: The mean of the heading's error; it takes the one of now.
        dt: Of the tick, s.
    """
    body, values = engine.body, engine.values
    off = math.remainder(body.yaw - engine.heading.angle, 2.0 * math.pi)
    mean, rate = sway.add(off, dt, sum(engine.plan.stride))
    turning = -values.pivot_stiffness * mean - values.pivot_damping * rate
    return TorsionTask(engine.stance, body.yaw_inertia * turning, TORSION)


def standing_tasks(engine: WalkingEngine) -> list[Task]:
    """Return the tasks of standing: the centre of mass over the middle of the feet.

    It goes back there so slowly that the robot is at rest meanwhile. With the pressure at p the
    centre of mass at c is accelerated by w^2 (c - p), and p is kept under the feet here: the
    program would take the nearest place there, which throws the robot aside where one foot is ahead
    of the other.
    """
    body, values = engine.body, engine.values
    com, damping = body.com - engine.middle, values.balance_damping
    back, speed = BACK * body.size.speed * damping, body.momentum / body.mass
    wanted = np.clip(-values.balance_stiffness * com, -back, back) - damping * speed
    above = com[:2] + com[2] * engine.floor.downhill
    fall = engine.gravity / engine.pendulum(com[2])
    place = engine.within_support(above - wanted[:2] / fall)
    return [
        BalanceTask(fall * (above - place), BALANCE),
        *(PressureTask(foot, np.zeros(2), AT_REST) for foot in (LEFT, RIGHT)),
    ]


def held_tasks(engine: WalkingEngine) -> list[Task]:
    """Return the tasks of arms, waist and head: they stay as they were at the start."""
    gains = Gains(engine.values.trunk_stiffness, engine.values.trunk_damping, HELD)
    return [
        JointTask(joint, engine.program.rest[joint], 0.0, 0.0, gains) for joint in engine.body.apart
    ]


def posture_tasks(engine: WalkingEngine, height: float) -> list[Task]:
    """Return the tasks of the trunk: upright or crouched, on soles ahead, at a height; and of arms.

    Args:
        engine: The walking engine.
        height: Of the base over the floor, m, as far as the stance leg reaches.
    """
    body, values, floor = engine.body, engine.values, engine.floor
    stance = body.feet[engine.stance]
    height *= 1.0 - engine.velocity.crouch
    ahead = pin.utils.rotate('z', engine.heading.angle if engine.soles else body.yaw)
    way = stance.hip - stance.position
    longest = values.straightest * body.leg_length
    # while the floor is late the base goes down after the foot
    lower = engine.lowering() if engine.walking else 0.0
    above = -float(body.rotation[:, 2] @ stance.hip)  # the base over its hips
    rise = -float(floor.tilted[2, :2] @ stance.position[:2])  # from the stance foot to the base
    reach = math.sqrt(max(longest**2 - way[0] ** 2 - way[1] ** 2, 0.25 * longest**2))
    return [
        TrunkTask(
            ahead,
            Gains(values.trunk_stiffness, values.trunk_damping, TRUNK),
            Gains(values.yaw_stiffness, values.yaw_damping, YAW) if engine.soles else None,
            pin.utils.rotate('y', values.crouch_lean * engine.velocity.crouch),
            velocity=np.array([0.0, 0.0, engine.velocity.value[2]]),
        ),
        HeightTask(
            engine.stance,
            min(height + lower + rise, above + reach),
            floor.normal,
            Gains(values.height_stiffness, values.height_damping, HEIGHT),
        ),
        *held_tasks(engine),
    ]
