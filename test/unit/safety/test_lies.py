# SPDX-License-Identifier: Apache-2.0
"""Numbers that repeat themselves, and turns that come late, on measurements made up here."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.safety.lies import Delay, LieDetector
from walking_control.safety.repeats import RepeatCheck
from walking_control.simulation.injection import turned

ROBOT = load_robot('walker3d').robot
HEARD, G = 0.002, 9.81  # s, m/s^2


def hear(spoil, count=400, noise=1.0):
    """Return what a check finds in so many noisy measurements, of which the second half is spoilt.

    Args:
        spoil: Called with a measurement and that at which it began.
        count: Measurements.
        noise: Size of all noise.
    """
    check, rng, told = RepeatCheck(ROBOT, 9.81), np.random.default_rng(0), Measurement(ROBOT)
    first = None
    for number in range(count):
        told.values[:] = 10.0 + noise * rng.normal(0.0, 0.1, len(told.values))
        if number >= count // 2:
            first = told.values.copy() if first is None else first
            spoil(told, first)
        found = check.watch(told, HEARD)
        if found:
            return number - count // 2, *found
    return None


def hold(name, index=slice(None)):
    """Return what repeats a part of a measurement as it was at first."""

    def spoil(told, first):
        before = Measurement(ROBOT)
        before.values[:] = first
        getattr(told, name)[index] = getattr(before, name)[index]

    return spoil


def both(told, first):
    """Repeat position and velocity of a joint."""
    hold('position', 3)(told, first)
    hold('velocity', 3)(told, first)


@pytest.mark.parametrize(
    'spoil, code, words',
    [
        (hold('angular_velocity', 1), 'gyroscope', 'y of the gyroscope repeats itself'),
        (hold('linear_acceleration'), 'accelerometer', 'repeats itself'),
        (hold('orientation'), 'orientation', 'the orientation of the IMU repeats itself'),
        (hold('foot_force'), 'foot_force', f'the force on {ROBOT.feet[0]} repeats itself'),
        (both, 'contradiction', f'joint {ROBOT.joints[3]} repeats itself'),
    ],
)
def test_what_was_alive_and_repeats_itself_is_named(spoil, code, words):
    """A dead axis or encoder would be believed until the robot falls."""
    after, found, said = hear(spoil)
    assert after <= 12 and found == code and words in said


def rest(told, first):
    """A joint that has come to rest: its velocity is zero to the last bit."""
    hold('position', 3)(told, first)
    told.velocity[3] = 0.0


def lift(told, first):
    """A foot in the air, whose cell has an offset and few digits."""
    told.foot_force[0] = 0.0, 0.0, 2.0


def slow(told, first):
    """Nothing new from the IMU at all, as if it were slower than the joints."""
    for name in ('orientation', 'angular_velocity', 'linear_acceleration'):
        hold(name)(told, first)


@pytest.mark.parametrize(
    'spoil', [rest, lift, slow, hold('foot_force', 0), lambda told, first: None]
)
def test_what_rests_is_no_lie(spoil):
    """A robot that stands, lifts a foot, or bears the dead sensor of one, would be stopped."""
    assert hear(spoil) is None


def test_coarse_digits_are_no_lie():
    """A sensor with few digits repeats itself often, and is well."""

    def spoil(told, first):
        told.values[:] = np.round(told.values, 1)

    assert hear(spoil, 4000) is None


@pytest.mark.parametrize('late', [0, 1])
def test_a_turn_that_is_late_is_named(late):
    """An IMU behind a filter, or encoders behind a bus, would shake the robot."""
    delay, rng = Delay('one', 'other'), np.random.default_rng(1)
    turns = 0.05 * np.sin(np.outer(0.02 * np.arange(100), (9.0, 12.0, 7.0)))
    for now in range(5, 100):
        pair = turns[now], turns[now - 3]
        delay.add(0.94, pair if late else pair[::-1])
    assert delay.late() == (('one', 'other')[late], pytest.approx(0.06))
    for now in range(5, 100):
        delay.add(0.94, (turns[now], turns[now] + rng.normal(0.0, 0.01, 3)))
    assert delay.late() is None


def throw(turns, presses, speed=2.5, begins=(200,), silence=-1):
    """Return what is said of a walker that gains speed ahead within 0.1 s, by its IMU.

    Args:
        turns: Whether it turns over its feet meanwhile, as one that is pushed.
        presses: Whether its feet feel what throws it, as where one slips or meets an edge.
        speed: That it gains, m/s.
        begins: Ticks at which it begins to.
        silence: Tick before which nothing was heard for a while.
    """
    legs, told, found = Dynamics(ROBOT, G), Measurement(ROBOT), None
    legs.move(legs.configuration(np.zeros(len(ROBOT.joints))), np.zeros(legs.nv))
    imu = legs.data.oMf[legs.frame(ROBOT.imu_link)].translation
    away = imu - legs.foot_position(ROBOT.feet[0])
    radius, mass = float(away[2]), legs.weight / G
    detector = LieDetector(ROBOT, G, 3, soles=False)
    told.foot_force[:, 2], angle = 0.5 * legs.weight, 0.0
    for tick in range(450):
        told.stamp = HEARD * tick
        pushed = any(begin <= tick < begin + 50 for begin in begins)
        rate = speed / radius * min(max(tick - 200, 0) / 50, 1.0)
        angle += HEARD * float(told.angular_velocity[1])
        told.angular_velocity[1] = rate * turns
        told.orientation[:] = turned(np.array((0.0, 0.0, 0.0, 1.0)), angle)
        # along and across the way of the IMU about the feet, or straight ahead
        force = np.array((pushed * speed / 0.1, 0.0, -radius * rate * rate * turns))
        up = np.array((-np.sin(angle), 0.0, np.cos(angle)))
        told.linear_acceleration[:] = force + G * up
        told.foot_force[:, 0] = 0.5 * mass * force[0] * presses
        found = found or detector.watch(told, HEARD, tick == silence)
    return found


def test_a_push_or_a_stumble_is_no_lie():
    """Legs or feet show what threw the robot: it would be stopped in the step that saves it."""
    assert throw(turns=True, presses=False) is None
    assert throw(turns=False, presses=True) is None
    code, words = throw(turns=False, presses=False)
    assert code == 'accelerometer' and 'ever faster' in words


def test_what_a_silence_hides_is_no_lie():
    """A robot that gained speed before a silence and again after it may have lost it meanwhile.

    Standing up, it would be stopped 0.4 s after the silence, and its accelerometer be blamed.
    """
    twice = {'turns': False, 'presses': False, 'speed': 1.0, 'begins': (200, 275)}
    assert throw(**twice)[0] == 'accelerometer'
    assert throw(**twice, silence=252) is None
