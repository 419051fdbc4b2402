# SPDX-License-Identifier: Apache-2.0
"""Gears: their efficiencies, what they make of a limb, by every second route there is."""

from pathlib import Path

from foundations import wedge, wedge_efficiencies
from gears import equation_of_motion
import numpy as np
import pinocchio as pin
import pytest

from walking_control.design.limb import Limb
from walking_control.design.limb_end import (
    asymmetric_capability,
    coupled_error,
    diagonal_mass,
    effective_mass,
    force_capability,
    impact_mitigation,
    symmetric_error,
    task_inertia,
)
from walking_control.design.mechanism import load_mechanism
from walking_control.design.study import over_efficiency, with_gears
from walking_control.design.transmission import backward_efficiency, FORWARD, Transmission
from walking_control.exceptions import InvalidInput

LEG = Path(__file__).parents[3] / 'examples' / 'two_joint_leg.urdf'
POSTURE = {'hip': np.radians(60.0), 'knee': np.radians(60.0)}
PARALLEL = np.array([[1.0, 0.0], [-1.0, 1.0]])
UP = np.array([0.0, 1.0])


def leg(
    positions=POSTURE,
    held=False,
    efficiency=(0.8, 0.7),
    rotors='armature',
    topology=None,
    carriers=None,
    **gears,
):
    """Return the leg of the study, 60 degrees at hip and knee."""
    mechanism = load_mechanism(LEG, positions=positions, held=held)
    given = dict(reduction=0.05, rotor_inertia=6.4e-5, torque=17.0) | gears
    return Limb(
        mechanism,
        'foot',
        Transmission(('hip', 'knee'), efficiency=np.array(efficiency), topology=topology, **given),
        rotors=rotors,
        carriers=carriers,
    )


@pytest.mark.parametrize('mu, alpha', [(0.1, 1.2), (0.3, 0.5), (0.0, 1.0)])
def test_the_wedge_by_newton(mu, alpha):
    """The efficiencies would belong to another machine, and (4), (5) would not follow from (1)."""
    forward, backward = wedge_efficiencies(mu, alpha)
    for drives, share in ((True, forward), (False, 1.0 / backward)):
        acceleration, force = wedge(mu, alpha, drives)
        wanted = (2.0 + share * 5.0 / np.cos(alpha)) / (3.0 + share * 0.7 / np.cos(alpha) ** 2)
        assert acceleration == pytest.approx(wanted, rel=1e-12)
        assert 3.0 * acceleration + force == pytest.approx(2.0, rel=1e-12)  # (1) of the block


def test_printed_limits_of_the_backward_efficiency():
    """(15) would be that of other gears: 0.499 is printed where nothing comes back from 20:1."""
    G = 0.05
    edge = 0.5 * (1.0 - G**2)
    assert f'{edge:.3f}' == '0.499'
    assert backward_efficiency(edge, G) == pytest.approx(0.0, abs=1e-15)
    assert backward_efficiency(0.2, G) == 0.0
    assert backward_efficiency(edge + 1e-6, G) > 0.0 and backward_efficiency(1.0, G) == 1.0
    for forward in np.linspace(0.01, 1.0, 34):
        assert backward_efficiency(forward, 1.0) == pytest.approx(forward)  # no reduction
        for G in (0.01, 0.2, 0.7):  # the wedge is the limit of high reductions
            assert backward_efficiency(forward, G) <= forward + 1e-15
        assert backward_efficiency(forward, 1e-6) == pytest.approx(max(0.0, 2.0 - 1.0 / forward))
    assert wedge_efficiencies(0.4, 0.9)[1] == pytest.approx(
        backward_efficiency(wedge_efficiencies(0.4, 0.9)[0], 1e-6)
    )


@pytest.mark.parametrize('held', [True, False])
def test_without_losses_it_is_pinocchio_with_armature(held):
    """(12) would move a limb without losses otherwise than everybody else's dynamics."""
    limb = leg(held=held, efficiency=(1.0, 1.0))
    dynamics = limb.mechanism.dynamics
    model = dynamics.model.copy()
    model.armature[-2:] = 6.4e-5 * 20**2
    rng, n = np.random.default_rng(3), len(limb.columns)
    for _ in range(10):
        v, tau = rng.normal(size=n), rng.normal(0, 5, 2)
        H, bias, motors = equation_of_motion(limb, v, np.ones(2))
        q = dynamics.to_pinocchio(limb.mechanism.q).copy()
        a = np.linalg.solve(H, motors @ tau - bias)
        full_v, full_a = np.zeros(8), np.zeros(8)
        full_v[-n:], full_a[-n:] = v, a
        efforts = pin.rnea(model, model.createData(), q, full_v, full_a)
        assert efforts[-n:] == pytest.approx(np.concatenate([np.zeros(n - 2), tau]), abs=1e-10)
    full = pin.crba(model, model.createData(), q)
    full = np.triu(full) + np.triu(full, 1).T
    assert limb.inertia(np.ones(2)) == pytest.approx(full[-n:, -n:], abs=1e-10)


@pytest.mark.parametrize(
    'topology, carriers', [(None, None), (PARALLEL, {'hip': 'base', 'knee': 'base'})]
)
def test_coupled_rotors_have_the_energy_of_their_spin(topology, carriers):
    """A rotor on a moving link would be counted as if its carrier stood still, or twice.

    Energy: links with locked rotors, and ``I w phi + I phi^2 / 2`` with the carrier's turning w.
    """
    limb = leg(rotors='coupled', topology=topology, carriers=carriers)
    rng, inertia = np.random.default_rng(0), 6.4e-5
    for v in rng.normal(size=(5, 8)):
        hip, _ = v[6:]
        spin = 20.0 * (v[6:] if topology is None else np.linalg.solve(topology, v[6:]))
        w = v[4] + np.array([0.0, hip if topology is None else 0.0])  # about +y
        energy = 0.5 * v @ limb.links @ v + (inertia * (w * spin + 0.5 * spin**2)).sum()
        assert 0.5 * v @ limb.inertia(np.ones(2)) @ v == pytest.approx(energy, rel=1e-12)


def test_coupled_rotors_keep_the_energy():
    """Coriolis forces of spinning rotors would feed the robot, or brake it.

    Without losses the power of bias and change of inertia add to that of gravity.
    """
    limb = leg(rotors='coupled')
    rng = np.random.default_rng(2)
    for v in rng.normal(size=(5, 8)):
        _, bias, _ = equation_of_motion(limb, v, np.ones(2))
        gravity = equation_of_motion(limb, np.zeros(8), np.ones(2))[1]
        step = 1e-6
        energies = []
        for sign in (-1.0, 1.0):
            moved = limb.mechanism.moved(sign * step * v)
            other = Limb(moved, 'foot', limb.transmission, 'xz', 'coupled')
            energies.append(0.5 * v @ other.inertia(np.ones(2)) @ v)
        change = (energies[1] - energies[0]) / (2.0 * step)
        assert v @ (bias - gravity) == pytest.approx(change, abs=1e-6 * (1.0 + abs(change)))


def test_topology_of_the_parallel_arm():
    """The printed example: the second joint is the difference of the outputs, torques its dual."""
    limb = leg(efficiency=(1.0, 1.0), topology=PARALLEL, held=True)
    psi = np.array([0.3, 0.5])
    assert limb.transmission.topology @ psi == pytest.approx([0.3, 0.2])
    # power of motors and joints agree
    tau = np.array([2.0, -1.0])
    assert (limb.motor_map(np.ones(2)) @ tau) @ (PARALLEL @ psi) == pytest.approx(tau @ psi)
    # a rotor of the second motor resists the sum of both joints
    spin = limb.inertia(np.ones(2)) - limb.links
    assert spin == pytest.approx(0.0256 * np.array([[2.0, 1.0], [1.0, 1.0]]))


@pytest.mark.parametrize('topology', [None, PARALLEL])
def test_apparent_inertia_by_moving_the_end(topology):
    """FGIE, BGIE would not be what a motor, or a push, feels: accelerations by (12) itself."""
    limb = leg(held=True, topology=topology)
    own, gears, inertia = limb.jacobian, limb.transmission, task_inertia(limb)
    for force in np.eye(2):
        pushed = np.linalg.solve(limb.inertia(1.0 / gears.back_efficiency), own.T @ force)
        assert inertia.backward @ (own @ pushed) == pytest.approx(force, abs=1e-12)
        # the motors feign the force: (13) with rotor torques, through D, G, E of (12)
        rotor = gears.topology.T @ own.T @ force * gears.reduction
        H = limb.inertia(gears.efficiency)
        driven = np.linalg.solve(
            H, np.linalg.inv(gears.topology * gears.reduction).T @ (gears.efficiency * rotor)
        )
        assert inertia.forward @ (own @ driven) == pytest.approx(force, abs=1e-12)


def test_closed_forms_and_the_printed_order():
    """With a held base: J^-T (M / eta_f + Ia) J^-1; the printed order needs equal efficiencies."""
    for efficiency, printed_holds in (((0.8, 0.8), True), ((0.8, 0.7), False)):
        limb = leg(held=True, efficiency=efficiency)
        back = np.linalg.inv(limb.jacobian)
        Ia, eta = np.diag(limb.transmission.reflected), np.diag(efficiency)
        inertia = task_inertia(limb)
        assert inertia.forward == pytest.approx(
            back.T @ (np.linalg.inv(eta) @ limb.links + Ia) @ back, abs=1e-12
        )
        eta_b = np.diag(1.0 / limb.transmission.back_efficiency)
        assert inertia.backward == pytest.approx(
            back.T @ (limb.links + eta_b @ Ia) @ back, abs=1e-12
        )
        own = limb.jacobian
        printed = np.linalg.inv(
            own @ np.linalg.solve(limb.inertia(np.diag(eta)), own.T)
        ) @ np.linalg.inv(
            np.linalg.pinv(own @ np.diag(limb.transmission.reduction)).T
            @ eta
            @ (own @ np.diag(limb.transmission.reduction)).T
        )
        assert np.allclose(printed, inertia.forward, rtol=1e-9) == printed_holds


def test_pseudo_inverse_of_a_free_base_hides_the_losses():
    """Printed FGIE of a floating robot: halving the efficiency would hardly matter."""
    factors = []
    for efficiency in (1.0, 0.5):
        limb = leg(efficiency=(efficiency, efficiency), back_efficiency=0.3)
        J, G = limb.jacobian, np.diag([1.0] * 6 + [0.05] * 2)
        E = np.diag([1.0] * 6 + [efficiency] * 2)
        factors.append(np.linalg.pinv(J @ G).T @ E @ (J @ G).T)
    assert factors[1] == pytest.approx(factors[0], abs=0.01)  # should be halved


def test_masses_of_the_study():
    """The trends of the study: losses make the leg heavier, backwards more than forwards."""
    inertia = task_inertia(leg())
    for angle in np.linspace(0.0, np.pi, 37):
        u = np.array([np.cos(angle), np.sin(angle)])
        for mass in (effective_mass, diagonal_mass):
            assert mass(inertia.lossless, u) < min(
                mass(inertia.forward, u), mass(inertia.backward, u)
            )
    assert effective_mass(inertia.lossless, UP) < diagonal_mass(inertia.lossless, UP)
    # the end free across the direction: by force and motion
    pushed = np.linalg.solve(inertia.lossless, UP)
    assert effective_mass(inertia.lossless, UP) == pytest.approx(1.0 / pushed[1])
    assert diagonal_mass(inertia.lossless, UP) == pytest.approx(inertia.lossless[1, 1])


def test_unequal_losses_may_make_a_limb_feel_lighter():
    """'FGIE is always larger than GIE' is no theorem."""
    limb = leg({'hip': 1.90872583, 'knee': 0.75903877}, True, (0.97135435, 0.55858309))
    inertia, angle = task_inertia(limb), 2.8108986900540254
    u = np.array([np.cos(angle), np.sin(angle)])
    assert diagonal_mass(inertia.forward, u) < 0.92 * diagonal_mass(inertia.lossless, u)


def test_printed_errors_of_the_symmetric_inertia():
    """3.2 % at 60 % and 0.6 % at 80 %; the actual error stands beside the estimate."""
    for efficiency, printed in ((0.6, '3.2'), (0.8, '0.6')):
        error = symmetric_error(leg(efficiency=(efficiency,) * 2, rotors='coupled'), FORWARD)
        assert f'{100 * error["estimate"]:.1f}' == printed
        # of equal efficiencies it is the error of the coupled part, whatever the velocity
        assert error['of_coupled'] == pytest.approx(error['estimate'])
        assert error['worst'] < 0.1 * error['estimate']
    assert symmetric_error(leg())['worst'] == pytest.approx(0.0, abs=1e-14)  # nothing is coupled


def test_the_estimate_is_no_bound():
    """With unequal efficiencies the printed bound is passed: arithmetic, not a theorem."""
    limb = leg(rotors='coupled')
    error = symmetric_error(limb)
    assert error['of_coupled'] > error['estimate']
    rng = np.random.default_rng(0)
    ratios = [coupled_error(limb, np.array([0.8, 0.7]), v) for v in rng.normal(size=(300, 8))]
    assert max(ratios) > 5.0 * error['estimate']
    # and the worst of all is worst: no velocity has more
    exact, rough = limb.inertia(np.array([0.8, 0.7])), limb.inertia(np.array([0.8, 0.7]), True)
    for v in rng.normal(size=(300, 8)):
        assert abs(v @ rough @ v / (v @ exact @ v) - 1.0) <= error['worst'] * (1.0 + 1e-9)


def test_impact_mitigation():
    """Definitions of softness would be mixed up, or pass their limits 0 and 1."""
    limb = leg()
    soft = impact_mitigation(limb, UP)
    # by impulses: the same change of speed with joints free and locked
    H, base = limb.inertia(1.0 / limb.transmission.back_efficiency), limb.jacobian[:, :6]
    free = limb.jacobian @ np.linalg.solve(H, limb.jacobian.T)
    locked = base @ np.linalg.solve(limb.links[:6, :6], base.T)
    assert soft['effective'] == pytest.approx(1.0 - locked[1, 1] / free[1, 1])
    assert soft['factor'] == pytest.approx(
        np.linalg.det(np.eye(2) - np.linalg.inv(free) @ np.linalg.inv(np.linalg.inv(locked)))
    )
    # heavier rotors stiffen, gears that hold lock
    stiff = impact_mitigation(leg(rotor_inertia=1e3), UP)
    for name in ('factor', 'effective', 'diagonal'):
        assert 0.0 < soft[name] < 1.0
        assert stiff[name] == pytest.approx(0.0, abs=1e-4)
        held = impact_mitigation(leg(efficiency=(0.4, 0.4)), UP)
        assert held[name] == pytest.approx(0.0, abs=1e-12)
    # one open gear: the limit of a tiny backward efficiency
    nearly = impact_mitigation(leg(back_efficiency=[2e-6, 0.6]), UP)
    one = impact_mitigation(leg(back_efficiency=[0.0, 0.6]), UP)
    assert one['effective'] == pytest.approx(nearly['effective'], abs=1e-3)
    with pytest.raises(InvalidInput, match='held base.*--base free'):
        impact_mitigation(leg(held=True), UP)


def test_strength_against_softness():
    """Fig. 5: FFC falls with the efficiency, BFC grows without bound at 0.499, IMF falls to 0."""
    limb = leg(efficiency=(0.7, 0.7))
    over = over_efficiency(limb, UP, np.array([0.45, 0.4989, 0.6, 0.8, 1.0]))
    assert over['FFC'] == pytest.approx(over['efficiency'])
    assert over['BFC'] == pytest.approx([np.inf, *(1.0 / np.array(over['back_efficiency'][1:]))])
    assert over['BFC'][1] > 1000.0
    assert over['effective'][0] == 0.0 and (np.diff(over['effective']) > 0.0).all()
    assert (np.diff(over['factor']) > 0.0).all()


@pytest.mark.parametrize(
    'kind, shares',
    [('FC', [1.0, 1.0]), ('FFC', [0.8, 0.7]), ('BFC', [1 / 0.75031133, 1 / 0.57234269])],
)
def test_corners_are_those_of_the_torques(kind, shares):
    """(14) of a square Jacobian: the corners of the forces are those of the torques."""
    limb = leg()
    wanted = np.array(
        [
            np.linalg.solve(limb.own_jacobian.T, 17.0 * np.array(shares) * signs)
            for signs in ([1, 1], [1, -1], [-1, -1], [-1, 1])
        ]
    )
    found = force_capability(limb, kind).corners()
    assert found[np.lexsort(found.round(3).T)] == pytest.approx(
        wanted[np.lexsort(wanted.round(3).T)], rel=1e-6
    )


def test_forces_of_a_redundant_limb():
    """A pseudo-inverse would promise forces by torques that only fight each other.

    Along x alone the leg has a joint to spare; second route: a linear program.
    """
    from scipy.optimize import linprog

    limb = leg()
    line = Limb(limb.mechanism, 'foot', limb.transmission, axes='x')
    assert line.redundant
    # most f so that tau = J^T f, |tau| <= 17
    solution = linprog(
        [-1.0],
        A_ub=np.vstack([line.own_jacobian.T, -line.own_jacobian.T]),
        b_ub=[17.0] * 4,
        bounds=[(None, None)],
    )
    reach = force_capability(line).reach(np.ones(1))
    assert reach == pytest.approx(-solution.fun)
    printed = max(
        np.linalg.pinv(line.own_jacobian.T) @ np.array([a, b])
        for a in (-17.0, 17.0)
        for b in (-17.0, 17.0)
    )
    assert printed[0] > 1.15 * reach


def test_a_motion_decides_which_motor_drives():
    """AFC would let a motor that is driven back count as one that drives."""
    limb = leg()
    rising = asymmetric_capability(limb, UP)
    for kind, way in (('FFC', 1.0), ('BFC', -1.0)):  # pushing with the motion, and against it
        assert rising.reach(way * UP) == pytest.approx(force_capability(limb, kind).reach(UP))
    # joint by joint, from power
    rates = np.linalg.solve(limb.own_jacobian, UP)
    rng = np.random.default_rng(1)
    for force in rng.normal(0, 100, (200, 2)):
        torques = limb.own_jacobian.T @ force
        eta_f, eta_b = limb.transmission.efficiency, limb.transmission.back_efficiency
        drives = torques * rates > 0.0
        rests = np.abs(rates) < 1e-9
        motors = np.where(drives & ~rests, torques / eta_f, torques * eta_b)
        assert rising.holds(force) == bool((np.abs(motors) <= 17.0).all())


@pytest.mark.parametrize(
    'changes, words',
    [
        (dict(efficiency=(0.0, 0.7)), 'efficiency of hip is 0.0: must be above 0 and at most 1'),
        (dict(efficiency=(0.8, 1.1)), 'efficiency of knee is 1.1'),
        (dict(reduction=20.0), r'reduction of hip is 20.0: .* at most 1.*; meant is 0.05\?'),
        (dict(reduction=np.nan), 'reduction of hip is nan'),
        (dict(reduction=1e-9), 'reduction of hip is 1e-09: must be at least 1e-06'),
        (dict(torque=1e300), 'torque of hip is 1e.300: must be from 0 to 1e.09'),
        (dict(rotor_inertia=-1.0), 'rotor inertia of hip is -1.0'),
        (dict(torque=np.nan), 'torque of hip'),
        (dict(back_efficiency=[0.1, 1.2]), 'back efficiency of knee is 1.2'),
        (dict(efficiency=(0.8, 0.7, 0.6)), 'efficiency is .*: must be one number, or 2'),
        (dict(topology=np.ones((2, 2))), 'topology is .*must be an invertible matrix'),
        (
            dict(positions={'hip': 1.0, 'knee': 0.0}),
            'Jacobian of foot along xz .*other joint position',
        ),
        (dict(carriers={'knee': 'nowhere'}, rotors='coupled'), 'frame nowhere'),
        (dict(rotors='none'), 'rotors is .none.'),
    ],
)
def test_what_makes_no_sense_is_refused(changes, words):
    """A misread gear would give figures of another robot, silently."""
    with pytest.raises(InvalidInput, match=words) as caught:
        leg(**changes)
    assert '\n' not in str(caught.value)


def test_zero_velocity_is_refused():
    """Nothing says which motors drive in no motion."""
    with pytest.raises(InvalidInput, match='velocity of the end'):
        asymmetric_capability(leg(), np.zeros(2))
    assert with_gears(leg(), efficiency=np.array([0.9])).transmission.efficiency[1] == 0.9
