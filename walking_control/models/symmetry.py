# SPDX-License-Identifier: Apache-2.0
"""Whether the two legs of a robot are alike, and how left and right change places.

A robot file says how the coordinates seen from one foot become those seen from the other
([DS09] (4.10)). Whether the robot then really is the same again is a question to its model: the
kinetic energy, the weight's moment and the place of the other foot must be the same functions of
the coordinates on either foot, in space after a reflection at the x-z plane.
"""

import numpy as np
import pinocchio as pin

from walking_control.exceptions import require, UrdfError
from walking_control.models import Dynamics, Robot, spring_table

REFLECTION = np.diag([1.0, -1.0, 1.0])
SAMPLES, SPREAD = 4, 0.5  # configurations tried, and their standard deviation, rad
TOLERANCE = 1e-6  # relative; exporters of URDFs round
NEARLY = 0.02  # relative: of legs that a gait may take as equal, which a law corrects


def require_equal_legs(robot: Robot, what: str, tolerance: float = TOLERANCE) -> None:
    """Refuse a robot whose legs differ, for which one step cannot stand for both.

    Args:
        what: What needs equal legs, for the message.
        tolerance: How far their masses and lengths may differ, relative. Raises `InvalidInput`:
            they differ; says in what.
    """
    difference = leg_difference(robot, tolerance)
    require(
        difference is None,
        what,
        limit=f'its legs differ ({difference}): a step with the left leg is none with the right',
        remedy='make the legs equal, or correct robot.mirror and robot.supports',
    )


def leg_difference(robot: Robot, tolerance: float = TOLERANCE) -> str | None:
    """Return in words what differs between standing on the first and second foot, or None.

    Args:
        robot: The `Robot`.
        tolerance: Share that two numbers may differ by.
    """
    if not robot.coordinates:
        return None
    return _joint_difference(robot) or _model_difference(robot, tolerance)


def _joint_difference(robot: Robot) -> str | None:
    """Return which joints' motors, springs, friction, locks or limits are no mirror image."""
    # stiffness, damping and the torque at angle zero
    springs = {
        joint: (stiffness, damping, stiffness * rest)
        for joint, (stiffness, damping, rest) in zip(robot.joints, spring_table(robot).tolist())
    }
    locks = {lock.joint: (lock.angle, lock.capture) for lock in robot.locks}
    for joint, (partner, sign) in robot.mirror.items():
        pair = f'{joint} and {partner}' if joint != partner else joint
        limits, others = robot.limits[joint], robot.limits[partner]
        image = (others.lower, others.upper) if sign > 0.0 else (-others.upper, -others.lower)
        if not np.allclose((limits.lower, limits.upper), image, TOLERANCE, TOLERANCE):
            return f"the limits of {pair} are not each other's mirror image"
        stiffness, damping, torque = springs[joint]
        angle, capture = locks.get(joint, (0.0, 0.0))
        for what, one, other in (
            ('motors', robot.actuators.get(joint), robot.actuators.get(partner)),
            ('springs', (stiffness, damping, sign * torque), springs[partner]),
            ('friction', robot.friction.get(joint), robot.friction.get(partner)),
            ('locks', (sign * angle, capture), locks.get(partner, (0.0, 0.0))),
        ):
            if one != other:
                return f'the {what} of {pair}'
    return None


def _model_difference(robot: Robot, tolerance: float) -> str | None:
    """Return which term of the equations of motion is another one on the second foot."""
    dynamics = Dynamics(robot)
    rng = np.random.default_rng(0)
    for q in rng.normal(0.0, SPREAD, (SAMPLES, len(robot.coordinates))):
        first, second = (_terms(dynamics, foot, q) for foot in (0, 1))
        for name, one in first.items():
            size = np.abs(one).max()
            off = np.abs(one - second[name]).max()
            if off > tolerance * max(size, 1e-9):
                return (
                    f'the {name} on {robot.feet[0]} and on {robot.feet[1]}, by '
                    f'{100.0 * off / size:.2g} %'
                    if size > 0.0
                    else f'the {name}'
                )
    return None


def _terms(dynamics: Dynamics, foot: int, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return name -> array of what must be alike, standing on a foot."""
    robot, axes = dynamics.robot, list(dynamics.base.axes)
    stance, other = robot.feet[foot], robot.feet[1 - foot]
    mirror = REFLECTION if 1 in axes and foot else np.eye(len(axes))
    lift, n = robot.lifts[stance], len(q)
    full, _ = dynamics.base_from_coordinates(stance, q, np.zeros(n))
    dynamics.place(full)
    reach = np.array(dynamics.foot_position(other))[axes]
    J, J_other = (dynamics.foot_jacobian(full, name)[:, -n:] @ lift for name in (stance, other))
    G = np.zeros((dynamics.nv, n))  # velocity of everything per rate of q, the foot at rest
    G[: len(axes)], G[-n:] = -J, lift
    return {
        'place of the other foot': mirror @ reach,
        'leg kinematics': mirror @ (J_other - J),
        'moment of the weight': G.T @ dynamics.gravity_efforts(full),
        'mass matrix': G.T @ dynamics.mass_matrix(full) @ G,
    }


ALIKE = 1e-3  # of an axis: how far it may be from its partner's mirror image
Legs = tuple[tuple[int, ...], ...]


def mirrored_joints(robot: Robot) -> tuple[Legs, np.ndarray]:
    """Return the joints of both legs from the base down, and the mirror matrix of them all.

    Args:
        robot: On a free base, whose joints are those of two equal legs.

    Raises:
        InvalidInput: It has other joints, the legs' axes are no mirror images, or one leg is
            heavier or longer than the other, by more than `NEARLY` of the robot.
    """
    what = f'gait of {robot.name} in space'
    require(robot.is_free and len(robot.feet) == 2, what, limit='needs a free base and two feet')
    model = Dynamics(robot).model
    frames = [model.frames[model.getFrameId(foot)] for foot in robot.feet]
    chains = [list(model.supports[frame.parentJoint])[2:] for frame in frames]
    legs = tuple(tuple(robot.joint_index(model.names[i]) for i in chain) for chain in chains)
    require(
        sorted(legs[0] + legs[1]) == list(range(len(robot.joints)))
        and len(legs[0]) == 6
        and len(legs[1]) == 6,
        what,
        value=len(robot.joints),
        limit='needs two legs of six joints and no others',
        remedy='walking_control bring-up holds the others and writes a robot file of the legs '
        'alone; legs of fewer joints walk by stepping',
    )
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    matrix, weight = np.zeros((12, 12)), pin.computeTotalMass(model)
    spans = {
        i: float(np.linalg.norm(model.jointPlacements[i].translation)) for i in sum(chains, [])
    }
    for a, b in zip(*chains, strict=True):
        for unit, place, one, other, whole in (
            ('kg', 'behind it', model.inertias[a].mass, model.inertias[b].mass, weight),
            ('m', 'from the joint before', spans[a], spans[b], sum(spans.values()) / 2.0),
        ):
            require(
                abs(one - other) <= NEARLY * whole,
                what,
                value=f'{model.names[a]} with {one:.3g} {unit} {place}, '
                f'{model.names[b]} with {other:.3g} {unit}',
                limit=f'needs legs that are alike within {NEARLY * whole:.2g} {unit}',
                remedy='correct the description; stepping walks on legs that differ, too',
            )
        one, other = (data.oMi[i].rotation @ joint_axis(model, i)[0] for i in (a, b))
        sign = float(-(REFLECTION @ one) @ other)
        require(
            abs(abs(sign) - 1.0) <= ALIKE,
            what,
            value=f'{model.names[a]} and {model.names[b]}',
            limit='needs legs whose axes are mirror images of each other',
        )
        i, j = (robot.joint_index(model.names[k]) for k in (a, b))
        matrix[i, j] = matrix[j, i] = round(sign)
    return legs, matrix


def joint_axis(model: pin.Model, i: int) -> tuple[np.ndarray, bool]:
    """Return the unit axis of a joint and whether it slides.

    Args:
        model: Pinocchio's model.
        i: Index of the joint in it.
    """
    joint = model.joints[i]
    data = joint.createData()
    joint.calc(data, pin.neutral(model))
    motion = np.asarray(data.S).reshape(6, -1)
    require(
        motion.shape[1] == 1,
        f'joint {model.names[i]}',
        limit='must turn or slide about one axis',
        error=UrdfError,
    )
    slides = bool(np.linalg.norm(motion[:3]) > 0.5)
    return motion[:3, 0] if slides else motion[3:, 0], slides
