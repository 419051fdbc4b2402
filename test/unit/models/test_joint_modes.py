# SPDX-License-Identifier: Apache-2.0
"""Geared joints with friction: their modes, and that there is always exactly one."""

from itertools import product

from joint_modes import GearedJoints, Mode, solve_joints
import numpy as np
import pinocchio as pin
import pytest

from walking_control.exceptions import InvalidInput


def random_joints(rng, n):
    """Return random geared joints: heavy and no rotors, weak and perfect gears, dry and none."""

    def some(values):
        return values * (rng.random(n) < 0.8)

    efficiency = rng.uniform(0.2, 1.0, n)
    return GearedJoints(
        some(10.0 ** rng.uniform(-3, 1, n)),
        efficiency,
        rng.uniform(0.05, 1.0, n) * efficiency,
        some(rng.uniform(0, 3, n)),
        some(rng.uniform(0, 1, n)),
    )


def random_case(rng, n):
    """Return mass, bias, effort and rates of joints of which some rest and some have no motor."""
    root = rng.normal(size=(n, n))
    mass = root @ root.T * 10.0 ** rng.uniform(-2, 1) + 0.02 * np.eye(n)
    return (
        mass,
        rng.normal(0, 5, n),
        rng.normal(0, 5, n) * (rng.random(n) < 0.8),
        rng.normal(0, 3, n) * (rng.random(n) < 0.6),
    )


def assert_consistent(mass, bias, effort, rates, joints, motion):
    """Check a motion against the definitions alone, joint by joint."""
    given = mass @ motion.acceleration + bias
    entering = effort - joints.armature * motion.acceleration
    tolerance = 1e-7 * (1.0 + np.abs(given).max() + np.abs(entering).max())
    for i, rate in enumerate(rates):
        ways = (
            [np.sign(rate)]
            if rate
            else [np.sign(motion.acceleration[i])]
            if motion.acceleration[i]
            else [1.0, -1.0]
        )
        found = []
        for way in ways:
            power = entering[i] * way
            passed = entering[i] * (
                joints.efficiency[i] if power > 0.0 else 1.0 / joints.back_efficiency[i]
            )
            found.append(passed - joints.viscous[i] * rate - way * joints.coulomb[i])
        assert min(found) - tolerance <= given[i] <= max(found) + tolerance
        if rate:  # gear and friction only ever take power
            assert (entering[i] - given[i]) * rate >= -tolerance * abs(rate)
            # the power through the gear decides, not that of the motor
            if abs(entering[i]) > tolerance:
                assert motion.mode[i] == np.sign(entering[i] * rate)
        elif motion.acceleration[i] == 0.0:
            assert motion.mode[i] == Mode.STUCK


def test_modes_are_consistent_in_random_cases():
    """Joints would drive, be driven or stick against their own power, in 1 of 3000 cases."""
    rng, seen, by_motor = np.random.default_rng(19), [], 0
    for _ in range(3000):
        n = int(rng.integers(1, 6))
        case, joints = random_case(rng, n), random_joints(rng, n)
        motion = solve_joints(*case, joints)
        assert_consistent(*case, joints, motion)
        seen += motion.mode.tolist()
        by_motor += int((motion.mode * case[2] * case[3] < 0.0).any())
    assert min(seen.count(mode) for mode in Mode) > 600
    assert by_motor > 30  # a heavy rotor that brakes: the motor's own power misleads


def test_no_other_modes_fit():
    """The acceleration would depend on which modes were tried first."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        case, joints = random_case(rng, 3), random_joints(rng, 3)
        mass, bias, effort, rates = case
        motion = solve_joints(*case, joints)
        for ways in product(*([np.sign(rate)] if rate else [1.0, -1.0, 0.0] for rate in rates)):
            for drives in product([True, False], repeat=3):
                direction = np.array(ways)
                gain = np.where(drives, joints.efficiency, 1.0 / joints.back_efficiency)
                free = direction != 0.0
                other = np.zeros(3)
                other[free] = np.linalg.solve(
                    (mass + np.diag(gain * joints.armature))[np.ix_(free, free)],
                    (gain * effort - joints.viscous * rates - direction * joints.coulomb - bias)[
                        free
                    ],
                )
                try:
                    assert not (other * direction * (rates == 0.0) < 0.0).any()
                    # the power of each gear must agree with its gain
                    entering = effort - joints.armature * other
                    assert ((entering * direction > 0.0) == drives)[free].all()
                    assert_consistent(
                        *case,
                        joints,
                        type(motion)(
                            other,
                            mass @ other + bias,
                            entering,
                            direction,
                            np.sign(entering * direction).astype(int),
                        ),
                    )
                except AssertionError:
                    continue
                assert other == pytest.approx(motion.acceleration, rel=1e-6, abs=1e-6)


def test_without_losses_it_is_pinocchio_with_armature():
    """Rotors would be counted otherwise than everywhere else."""
    model = pin.buildSampleModelManipulator()
    rng, n = np.random.default_rng(1), model.nv
    armature = rng.uniform(0.0, 0.5, n)
    nothing, all_of_it = np.zeros(n), np.ones(n)
    joints = GearedJoints(armature, all_of_it, all_of_it, nothing, nothing)
    data, heavy = model.createData(), model.copy()
    heavy.armature[:] = armature
    for _ in range(100):
        q, v, tau = pin.randomConfiguration(model), rng.normal(size=n), rng.normal(0, 9, n)
        motion = solve_joints(
            pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v), tau, v, joints
        )
        wanted = pin.aba(heavy, heavy.createData(), q, v, tau)
        assert motion.acceleration == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def test_a_worm_gear_holds_what_it_cannot_lift():
    """A loaded gear at rest would creep, or hold more than its efficiencies allow.

    1 N m of the motor lifts 0.5 N m and holds 1 / 0.25 N m.
    """
    worm = GearedJoints(*np.array([[0.1], [0.5], [0.25], [0.0], [0.0]]))
    for load, way in ((0.49, 1.0), (0.51, 0.0), (3.99, 0.0), (4.01, -1.0)):
        motion = solve_joints(np.eye(1), np.array([load]), np.ones(1), np.zeros(1), worm)
        assert np.sign(motion.acceleration[0]) == way
        assert (motion.mode[0] == Mode.STUCK) == (way == 0.0)


@pytest.mark.parametrize(
    'name, value',
    [
        ('efficiency', 0.0),
        ('efficiency', 1.01),
        ('back_efficiency', float('nan')),
        ('coulomb', -0.1),
        ('viscous', float('inf')),
        ('armature', -1e-9),
    ],
)
def test_what_would_drive_is_refused(name, value):
    """A joint would gain energy, or nothing would fit."""
    good = dict(armature=0.1, efficiency=0.8, back_efficiency=0.7, coulomb=0.1, viscous=0.1)
    with pytest.raises(InvalidInput, match=name.replace('_', ' ') + ' is .*must be'):
        GearedJoints(
            **{key: np.array([0.5, number]) for key, number in {**good, name: value}.items()}
        )
