# SPDX-License-Identifier: Apache-2.0
"""Friction of joints and losses of gears, and the effort that makes up for them.

Between a motor and its joint stand the rotor, the gear and the friction of the joint. With the
effort ``tau`` (torque of the motor times reduction), the rotor inertia I as felt at the joint, and
rate w, acceleration a of the joint:

- ``x = tau - I a`` enters the gear: the rotor takes its part before;
- ``y = x eta`` reaches the joint while power flows there, ``x w > 0``; while the joint drives the
  motor, ``x w < 0``, it is ``y = x / eta_b`` that the joint has to give for x to arrive
  (efficiency and back_efficiency of `GearedMotor`; [SR20] eq. (4), (5));
- ``y - viscous w - coulomb sign(w)`` moves the joint.

So a gear brakes like dry friction that grows with its load: the loss y - x always opposes w. At
rest both would be any force up to their size; here they fade to nothing with ``tanh(w / fade)``. A
joint that dry friction ought to hold under a load L creeps at ``fade artanh(L / coulomb)`` instead
of standing. This keeps the equations smooth, at the price of a time constant ``fade I / coulomb``,
which an integrator with error control resolves: with 0.1 N m, 0.1 kg m^2 and 1e-3 rad/s that is
1 ms, for about as long after each change of sign.

Which way the power flows depends on a, and a on the way. With one motor the sign of x is that of
the gear without losses: ``x + p I y(x) = tau - I a_0`` with p > 0 and a_0 the acceleration at
y = 0, whose left side grows with x through zero for any efficiency. With several,
`simulation.rigid` tries until the signs agree; `examples/joint_modes.py` shows that they do for one
set of signs only, and solves joints that truly stick.
"""

import math

import numpy as np

from walking_control.models import array_function, NO_SPRING, Robot

VISCOUS, COULOMB = 0, 1  # columns of `friction_table`
FADE = 1e-3  # rad/s: below, dry friction fades, if not told
ARMATURE, DRIVING_LOSS, BACK_LOSS = 0, 1, 2  # columns of `gear_table`


def friction_table(robot: Robot) -> np.ndarray:
    """Return viscous (N m s/rad) and dry friction (N m) of every joint, ``(n_joints, 2)``."""
    table = np.zeros((len(robot.joints), 2))
    for joint, friction in robot.friction.items():
        table[robot.joint_index(joint)] = friction.viscous, friction.coulomb
    return table


def spring_table(robot: Robot) -> np.ndarray:
    """Return stiffness (N m/rad), damping (N m s/rad) and rest (rad) of springs, ``(n_joints, 3)``.

    All are zero where a joint has none.
    """
    springs = [robot.springs.get(joint, NO_SPRING) for joint in robot.joints]
    return np.array([(each.stiffness, each.damping, each.rest) for each in springs]).reshape(-1, 3)


def gear_table(robot: Robot) -> np.ndarray:
    """Return what passing the gear of each motor does, ``(max(1, n_motors), 3)``.

    Columns: rotor inertia at the joint, kg m^2; share of the torque that is lost while the motor
    drives, ``1 - eta``; share that is added while the joint does, ``1 / eta_b - 1``.
    """
    rows = [
        (motor.armature, 1.0 - motor.efficiency, 1.0 / motor.back_efficiency - 1.0)
        for motor in robot.actuators.values()
    ]
    return np.array(rows or [(0.0, 0.0, 0.0)])


def motor_efforts(
    robot: Robot, torques: np.ndarray, rates: np.ndarray, accelerations: np.ndarray, fade: float
) -> np.ndarray:
    """Return the efforts of motors for torques at their joints, through rotors and gears, N m.

    Args:
        robot: The `Robot`.
        torques: What moves rotor, springs, friction and robot, N m, ``(..., n_motors)``.
        rates: Of the motors' joints, rad/s, likewise.
        accelerations: Likewise, rad/s^2: the rotor takes its part before the gear.
        fade: Rate below which the losses of gears fade, rad/s.
    """
    gears = gear_table(robot)
    turning = gears[:, ARMATURE] * accelerations
    leaving = torques - turning
    loss = np.where(leaving * rates > 0.0, gears[:, DRIVING_LOSS], -gears[:, BACK_LOSS])
    return np.asarray(turning + leaving / (1.0 - loss * np.tanh(np.abs(rates) / fade)))


def loses(robot: Robot) -> bool:
    """Return whether friction or gears of a robot take from the torques at its joints."""
    return robot.has_gear_losses or bool(friction_table(robot).any())


def lost_torques(
    robot: Robot,
    gears: np.ndarray,
    efforts: np.ndarray,
    rates: np.ndarray,
    accelerations: np.ndarray,
    fade: float,
) -> np.ndarray:
    """Return what friction and gears take from the torque at each joint, N m, ``(n_joints,)``.

    For efforts that are known; `motor_efforts` goes the other way.

    Args:
        robot: The `Robot`.
        gears: Its `gear_table`.
        efforts: Of its motors first, N m, ``(n_efforts,)``.
        rates: Of its joints, rad/s, ``(n_joints,)``.
        accelerations: Likewise, rad/s^2: what turns the rotor does not enter the gear.
        fade: Rate below which dry friction and the losses of gears fade, rad/s.
    """
    torques = friction_torques(robot, rates, fade)
    for joint, gear, effort in zip(map(robot.joint_index, robot.actuators), gears, efforts):
        entering = effort - gear[ARMATURE] * accelerations[joint]
        torques[joint] -= entering * gear_change(
            gear[DRIVING_LOSS], gear[BACK_LOSS], entering, rates[joint], fade
        )
    return torques


def passive_elements(robot: Robot) -> list[str]:
    """Return in words what acts between the links of a robot besides its motors."""
    return [
        *(
            f'spring of {joint}'
            for joint, spring in robot.springs.items()
            if spring.stiffness or spring.damping
        ),
        *(f'friction of {joint}' for joint in robot.friction),
        *(
            f'gear losses of {joint}'
            for joint, motor in robot.actuators.items()
            if min(motor.efficiency, motor.back_efficiency) < 1.0
        ),
    ]


def passive_torques(
    robot: Robot, positions: np.ndarray, rates: np.ndarray, fade: float
) -> np.ndarray:
    """Return the torque of springs and friction on every joint, ``(n_joints,)``, N m.

    Positive acts against positive motion.

    Args:
        positions: Of the joints, rad, ``(n_joints,)``.
        rates: Their rates, rad/s.
        fade: Rate below which dry friction fades, rad/s.
    """
    return np.asarray(
        spring_torques(robot, positions, rates) + friction_torques(robot, rates, fade)
    )


def friction_torques(robot: Robot, rates: np.ndarray, fade: float) -> np.ndarray:
    """Return the torque of friction alone; see `passive_torques`.

    Args:
        robot: The `Robot`.
        rates: Of its joints, rad/s, ``(n_joints,)``.
        fade: Rate below which dry friction fades, rad/s.
    """
    torques = np.zeros(len(robot.joints))
    for joint, friction in robot.friction.items():
        i = robot.joint_index(joint)
        torques[i] = friction_torque(friction.viscous, friction.coulomb, rates[i], fade)
    return torques


def spring_torques(robot: Robot, positions: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the torque of springs and their dampers alone; see `passive_torques`.

    Args:
        robot: The `Robot`.
        positions: Of its joints, rad, ``(n_joints,)``.
        rates: rad/s, ``(n_joints,)``.
    """
    torques = np.zeros(len(robot.joints))
    for joint, spring in robot.springs.items():
        i = robot.joint_index(joint)
        torques[i] = spring.effort(positions[i], rates[i])
    return torques


@array_function
def friction_torque(viscous: float, coulomb: float, rate: float, fade: float) -> float:
    """Return the torque of friction on a joint, positive against positive motion, N m.

    Args:
        viscous: N m s/rad.
        coulomb: N m.
        rate: rad/s.
        fade: Rate below which dry friction fades, rad/s.
    """
    return viscous * rate + coulomb * math.tanh(rate / fade)


@array_function
def gear_change(
    driving_loss: float, back_loss: float, entering: float, rate: float, fade: float
) -> float:
    """Return what a gear adds to the torque that enters it, as a share of that torque.

    Args:
        driving_loss: See `gear_table`.
        back_loss: See `gear_table`.
        entering: Torque x that enters on the motor's side, N m.
        rate: Rate of the joint, rad/s.
        fade: Rate below which losses fade, rad/s.
    """
    loss = driving_loss if entering * rate > 0.0 else -back_loss
    return -loss * math.tanh(abs(rate) / fade)


@array_function
def entering_torque(
    driving_loss: float, back_loss: float, leaving: float, rate: float, fade: float
) -> float:
    """Return the torque that must enter a gear for a torque to leave it at the joint, N m.

    The inverse of ``x (1 + gear_change(x))``: x and what leaves have the same sign.
    """
    return leaving / (1.0 + gear_change(driving_loss, back_loss, leaving, rate, fade))
