# SPDX-License-Identifier: Apache-2.0
"""What stands in the way of using a robot, and of its walking by stepping."""

from collections.abc import Iterator
import math

import numpy as np

from walking_control.controllers import Body, Stepping, SteppingParameters
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import Findings, InvalidInput, require
from walking_control.models import (
    Dynamics,
    in_words,
    missing_meshes,
    require_room,
    Robot,
    RobotFile,
    ROOT,
    World,
)
from walking_control.models.symmetry import leg_difference, NEARLY
from walking_control.runs import sole_corners

_DEEP = 1e-3  # of the leg: how deep in the floor the swing foot may begin, as rounding has it
_SINGULAR = 1e-12  # smallest over largest eigenvalue of a mass matrix
HIGH, TILTED = 0.00625, 0.05  # of the leg, rad: a foot beyond it does not stand
MOVABLE = 0.05  # of the leg, per rad: a foot that moves less in a direction cannot step there
SINKS = 0.02  # of the leg: how much lower than asked for the base may have to walk


def find_obstacles(robot_file: RobotFile) -> list[InvalidInput]:
    """Return the errors, all of them, that make a loaded robot file unusable."""
    robot, findings = robot_file.robot, Findings()
    findings.attempt(require_room, robot.urdf)
    findings.attempt(_check_efforts, robot)
    findings.attempt(check_meshes, robot.urdf, robot.meshes)
    findings.attempt(_check_legs, robot)
    findings.attempt(_check_thresholds, robot_file)
    if robot.is_planar and robot.coordinates:
        findings.attempt(_check_inertia, robot_file)
        findings.attempt(_check_swing_foot, robot_file)
    return findings.errors


def check_meshes(urdf: str, found: dict[str, str]) -> None:
    """Refuse collision meshes that are not there."""
    missing = [name for tag, name in missing_meshes(urdf, found) if tag == 'collision']
    if missing:
        raise InvalidInput(
            'collision meshes of the URDF',
            value=missing[0],
            limit='no such file' + (f', nor {len(missing) - 1} others' if len(missing) > 1 else ''),
            remedy='put them beside the URDF, or set AMENT_PREFIX_PATH so that package:// is found',
        )


def _check_efforts(robot: Robot) -> None:
    findings = Findings()
    for joint in robot.actuators:
        findings.attempt(
            require,
            robot.limits[joint].effort > 0.0,
            f'effort limit of joint {joint}',
            value=robot.limits[joint].effort,
            limit='a motor joint needs a positive one',
            remedy='set it in the URDF',
        )
    findings.raise_first()


def _check_legs(robot: Robot) -> None:
    difference = leg_difference(robot, NEARLY)
    require(
        difference is None,
        'robot.mirror',
        limit='does not hold for the model: its legs differ '
        f'({difference}), so that it has no gait of equal steps',
        remedy='make the legs equal, or correct robot.mirror and robot.supports',
    )


def _check_thresholds(robot_file: RobotFile) -> None:
    """Refuse a contact force that a foot never reaches while the robot stands on all."""
    share = robot_file.scale.mass * robot_file.scale.gravity / len(robot_file.robot.feet)
    contact_on = robot_file.values(EstimatorParameters).contact_on
    require(
        contact_on < share,
        'parameter estimator.contact_on',
        value=contact_on,
        limit=f'a foot would never count as standing: each carries {share:.3g} N of the weight',
        remedy=f'leave it out, or set it below {0.5 * share:.2g}',
    )


def _check_inertia(robot_file: RobotFile) -> None:
    robot, start = robot_file.robot, robot_file.start
    dynamics = Dynamics(robot)
    q, _ = dynamics.base_from_coordinates(start.support, start.q, start.v)
    sizes, directions = np.linalg.eigh(dynamics.mass_matrix(q))
    if sizes[0] < _SINGULAR * sizes[-1]:
        names = ('x', 'z', 'pitch', *robot.joints)
        loose = names[int(np.argmax(np.abs(directions[:, 0])))]
        raise InvalidInput(
            f'inertia felt by {loose}',
            value=float(sizes[0]),
            limit='must be positive: nothing moves with it',
            remedy='give its link an <inertial>, or its motor a rotor_inertia',
        )


def _check_swing_foot(robot_file: RobotFile) -> None:
    robot, start = robot_file.robot, robot_file.start
    dynamics = Dynamics(robot)
    q, _ = dynamics.base_from_coordinates(start.support, start.q, start.v)
    require(
        q[1] > 0.0,
        'start.q',
        value=start.q.tolist(),
        limit=f'puts the base below the stance foot, at {q[1]:.3g} m',
        remedy='stand it up',
    )
    dynamics.place(q)
    deepest = min(robot.feet, key=lambda foot: dynamics.foot_position(foot)[2])
    height = dynamics.foot_position(deepest)[2]
    require(
        height >= -_DEEP * robot_file.scale.length,
        'start.q',
        value=start.q.tolist(),
        limit=f'puts {deepest} {-height:.3g} m into the floor',
        remedy='bend its knee, or take a posture with both feet on the floor',
    )


def remarks(robot_file: RobotFile) -> list[str]:
    """Return sentences on what is as it is, but good to know."""
    robot = robot_file.robot
    looks = [name for tag, name in missing_meshes(robot.urdf, robot.meshes) if tag == 'visual']
    sentences = [f'looks are missing ({len(looks)} meshes, {looks[0]})'] if looks else []
    slides = [joint for joint in robot.joints if robot.limits[joint].kind == 'prismatic']
    if slides:
        sentences.append(
            f'{", ".join(slides)}: slides; its position counts in m, its effort in N, and the '
            'laws were tried on legs that bend'
        )
    if robot.is_planar and len(robot.coordinates) == 2:
        sentences.append(
            'straight legs scuff as they pass each other: plant rigid lets '
            'feet less than rigid.scuff_length ahead through the floor, '
            'plant mujoco does not (scuffs are counted in the summary)'
        )
    return sentences


def find_walk_obstacles(robot_file: RobotFile) -> list[InvalidInput]:
    """Return why a robot that begins in a posture cannot walk by stepping; nothing if it can.

    Args:
        robot_file: The `RobotFile`; the law fits it.
    """
    robot, values = robot_file.robot, robot_file.values(Stepping.parameters)
    dynamics, body = _stand(robot_file)
    return [
        *_feet_on_the_floor(robot, body, values),
        *_feet_side_by_side(robot, body, values),
        *_legs_long_enough(body, values),
        *_feet_free_to_move(robot, body),
        *_motors_strong_enough(robot, dynamics, body, values),
    ]


def _stand(robot_file: RobotFile) -> tuple[Dynamics, Body]:
    """Return the robot in its start posture, the base at the origin."""
    world, posture = robot_file.values(World), robot_file.start.posture
    assert posture is not None
    dynamics = Dynamics(robot_file.robot, world.gravity, world.slope)
    body = Body(dynamics)  # at zero angles first: that is how long its legs are
    body.update(
        dynamics.configuration(dict(zip(robot_file.robot.joints, posture, strict=True))),
        np.zeros(dynamics.nv),
    )
    return dynamics, body


def remarks_on_steps(robot_file: RobotFile) -> list[str]:
    """Return a sentence on steps for which the legs are short, if they are.

    At touchdown the base is half a step from either foot: hips at a height h need legs of
    sqrt(h^2 + (L / 2)^2 + d^2), L the length of a step and d how far a foot stands outwards of its
    hip. What they lack the base sinks in every step, and the law counts on a level pendulum.
    """
    values, (_, body) = robot_file.values(Stepping.parameters), _stand(robot_file)
    hip, longest = body.feet[0].hip, values.straightest * body.leg_length
    length = values.speed_limit * values.step_time
    away = math.hypot(0.5 * length, 0.5 * values.step_width - abs(hip[1]))
    highest = math.sqrt(max(longest**2 - away**2, 0.0)) - float(hip[2])
    if values.height <= highest:
        return []
    return [
        f'at stepping.speed_limit, {values.speed_limit:g} m/s, steps are {length:.3g} m long, '
        f'and legs of {longest:.3g} m let the base sink to {highest:.3g} m in each: lower '
        f'stepping.height ({values.height:g} m), step_time or speed_limit'
    ]


def _feet_on_the_floor(
    robot: Robot, body: Body, values: SteppingParameters
) -> Iterator[InvalidInput]:
    """Yield feet that do not stand in the start posture, the base upright."""
    lowest = min(foot.position[2] for foot in body.feet)
    for name, foot in zip(robot.feet, body.feet, strict=True):
        height = float(foot.position[2] - lowest)
        tilt = float(np.arccos(min(1.0, foot.rotation[2, 2])))
        if height > HIGH * body.leg_length:
            yield InvalidInput(
                f'start.posture, foot {name}',
                value=round(height, 4),
                limit=f'm above the floor; it must stand, {HIGH * body.leg_length:.3g} m at most',
                remedy='give both legs the same bend',
            )
        elif values.sole_length > 0.0 and tilt > TILTED:
            yield InvalidInput(
                f'start.posture, foot {name}',
                value=round(tilt, 3),
                limit=f'rad from lying flat with the base upright; at most {TILTED:g} rad',
                remedy='change the ankle of the start posture',
            )


def _feet_side_by_side(
    robot: Robot, body: Body, values: SteppingParameters
) -> Iterator[InvalidInput]:
    """Yield footholds and a start at which one foot stands on the other, and soles relied on."""
    soles = [sole_corners(robot.urdf, foot) for foot in robot.feet]
    if min(len(sole) for sole in soles) < 2:
        return
    length, width = (min(float(np.ptp(sole[:, axis])) for sole in soles) for axis in (0, 1))
    widest = max(float(np.ptp(sole[:, 1])) for sole in soles)
    apart = float(body.feet[0].position[1] - body.feet[1].position[1])
    if apart < widest:
        yield InvalidInput(
            'start.posture',
            value=round(apart, 4),
            limit='m between the middles of '
            f'the feet sideways; the soles, {widest:g} m wide, overlap',
            remedy='spread the legs, or make the pelvis wider or the soles narrower',
        )
    if values.narrowest < widest:
        yield InvalidInput(
            'parameter stepping.narrowest',
            value=round(values.narrowest, 4),
            limit=f'must be at least the width of a sole ({widest:g} m): the feet '
            'would stand on each other',
            remedy='raise it and step_width',
        )
    for name, relied, real in (
        ('length', values.sole_length, length),
        ('width', values.sole_width, width),
    ):
        if relied > real + 1e-9:
            yield InvalidInput(
                f'parameter stepping.sole_{name}',
                value=relied,
                limit=f'must be at most that of the sole ({real:g} m)',
            )


def _legs_long_enough(body: Body, values: SteppingParameters) -> Iterator[InvalidInput]:
    """Yield a height of the base that the legs cannot give it."""
    foot = body.feet[0]
    asked = values.height + float(foot.hip[2])  # the base is the origin
    longest = values.straightest * body.leg_length
    if asked > (1.0 + SINKS) * longest:
        yield InvalidInput(
            'parameter stepping.height',
            value=values.height,
            limit=f'm asks for legs of {asked:.3g} m from hip to foot; they reach '
            f'{longest:.3g} m (straightest {values.straightest:g})',
            remedy=f'at most {longest - float(foot.hip[2]):.3g} m, or longer legs',
        )


def _feet_free_to_move(robot: Robot, body: Body) -> Iterator[InvalidInput]:
    """Yield feet that the joints of their legs cannot move every way in the start posture."""
    for name, foot in zip(robot.feet, body.feet, strict=True):
        ways, sizes, _ = np.linalg.svd(foot.jacobian[:3, ROOT:])
        if sizes[-1] < MOVABLE * body.leg_length:
            axis = ('ahead', 'sideways', 'up')[int(np.argmax(np.abs(ways[:, -1])))]
            yield InvalidInput(
                f'start.posture, foot {name}',
                value=round(float(sizes[-1]), 4),
                limit=f'm/rad is all that its joints move it {axis}; a step needs '
                f'{MOVABLE * body.leg_length:.3g}',
                remedy='bend the knee, or give the leg the joint that is missing',
            )


def _motors_strong_enough(
    robot: Robot, dynamics: Dynamics, body: Body, values: SteppingParameters
) -> Iterator[InvalidInput]:
    """Yield joints that cannot carry the weight straight up on one leg in the start posture."""
    limits = dict(zip(robot.actuators, values.effort_share * robot.effort_limits, strict=True))
    joints = list(dynamics.model.names)[2:]  # the universe and the base's own come first
    force = np.array([0.0, 0.0, dynamics.weight])
    for name, foot in zip(robot.feet, body.feet, strict=True):
        efforts = body.bias[ROOT:] - foot.jacobian[:3, ROOT:].T @ force
        for joint, effort in zip(joints, efforts, strict=True):
            if abs(effort) > limits[joint]:
                yield InvalidInput(
                    f'motor of {joint}',
                    value=round(float(limits[joint]), 3),
                    limit=f'N m; standing on the {in_words(name)} alone in the '
                    f'start posture takes {abs(effort):.3g} N m',
                    remedy='a stronger motor, or straighter legs',
                )
