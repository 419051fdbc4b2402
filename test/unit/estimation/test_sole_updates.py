# SPDX-License-Identifier: Apache-2.0
"""Soles that lie flat tell the estimator how wrong the gyroscope is about the floor's normal."""

import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation.estimator import make_estimator
from walking_control.estimation.foot_updates import make_sample, OFF, RESTS
from walking_control.estimation.inertial_odometry import noise_of
from walking_control.estimation.invariant import make_filter_state
from walking_control.estimation.leg_chains import find_leg_chains, follow_legs
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.estimation.sole_updates import Grip, make_soles, take_soles
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.simulation.sensors import noise_overrides

DT = 0.005
BIAS = 0.006  # rad/s


def test_soles_lie_as_in_the_model():
    """A joint left out would be taken for a gyroscope that errs."""
    robot = load_robot('walker3d').robot
    dynamics, rng = Dynamics(robot), np.random.default_rng(0)
    sample, position = make_sample(2), rng.normal(0.0, 0.5, len(robot.joints))
    follow_legs(find_leg_chains(dynamics), position, np.zeros(len(position)), np.zeros(3), sample)
    q, data = dynamics.configuration(position), dynamics.data
    pin.framesForwardKinematics(dynamics.model, data, dynamics.to_pinocchio(q))
    dynamics.move(q, np.zeros(dynamics.nv))
    for i, foot in enumerate(robot.feet):
        leg = dynamics.foot_twist_jacobian(q, foot)[3:, 6:]
        np.testing.assert_allclose(
            sample.turns[i], data.oMf[dynamics.frames[foot]].rotation, atol=1e-12
        )
        np.testing.assert_allclose(sample.turn_grams[i], leg @ leg.T, atol=1e-12)


def believed_yaw(turning, held=True, **values):
    """Return the yaw believed (rad) after 12 s on the left sole above which the robot turns.

    Args:
        turning: How far to and fro, rad.
        held: Whether the sole rests; else the robot spins on it at a fifth of a radian a second.
    """
    robot_file = load_robot(
        'walker3d',
        [
            *noise_overrides('lab'),
            *((f'estimator.{name}', value) for name, value in values.items()),
        ],
    )
    estimator, measurement = make_estimator(robot_file), Measurement(robot_file.robot)
    estimator.reset(robot_file.start.support)
    measurement.foot_force[0, 2] = 98.0
    hip = robot_file.robot.joints.index('left_hip_yaw')
    for tick in range(2400):
        t = tick * DT
        yaw, rate = turning * math.sin(2.0 * t), 2.0 * turning * math.cos(2.0 * t)
        if not held:
            yaw, rate = 0.2 * t, 0.2
        measurement.stamp = t
        measurement.position[:] = robot_file.start.posture
        measurement.position[hip] -= yaw * held
        measurement.velocity[hip] = -rate * held
        measurement.orientation[2:] = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
        measurement.angular_velocity[2] = rate + BIAS
        measurement.linear_acceleration[2] = 9.81
        base = estimator.update(measurement).base
    return math.remainder(
        2.0 * math.atan2(base.orientation[2], base.orientation[3]) - yaw, 2.0 * math.pi
    )


@pytest.mark.parametrize('turning', [0.0, 0.2])
def test_a_sole_that_rests_keeps_the_heading(turning):
    """A biased gyroscope would turn the robot's belief, and the robot after it."""
    assert abs(believed_yaw(turning)) < 0.15 * BIAS * 12.0
    assert abs(believed_yaw(turning, sole_spin=0.0)) > 0.6 * BIAS * 12.0


def test_a_sole_that_turns_with_the_robot_is_not_believed():
    """The gyroscope would be blamed for a robot that spins on its heel."""
    assert abs(believed_yaw(0.0, held=False)) < BIAS * 12.0 + 0.02


def test_a_sole_that_is_unloaded_in_a_curve_is_not_believed():
    """It turns with the robot for its last 20 ms; turning about would cost 2 degrees of heading."""
    noise = noise_of(
        load_robot('walker3d', noise_overrides('lab')).values(EstimatorParameters), n_axes=3
    )
    state, sample, soles = make_filter_state(np.ones(18)), make_sample(1), make_soles(1)
    state.P[-4, -4] = 0.0035**2
    sample.rate[2] = sample.last_rate[2] = 0.3 + BIAS
    for tick in range(40 * 80):  # steps of 0.4 s, the last 0.1 s of each in the air
        within = DT * (tick % 80)
        sample.turns[0] = pin.utils.rotate('z', -0.3 * min(within, 0.28))
        sample.verdicts[0] = RESTS if within < 0.3 else OFF
        take_soles(state, sample, soles, noise, Grip(0.006, 0.05, 19.5), DT)
    assert state.bias[0, 2] == pytest.approx(BIAS, rel=0.1)
