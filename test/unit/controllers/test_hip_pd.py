# SPDX-License-Identifier: Apache-2.0
"""The hip PD's ankle: its energy by hand, its foot, what it refuses; plain and compiled."""

import math

import numpy as np
import pytest

from walking_control.controllers.hip_pd import ankle_law, HipPd
from walking_control.controllers.registry import make_controller
from walking_control.exceptions import IncompatibleController, ParameterError
from walking_control.loading import load_robot
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.models.support.compiled import compile_law, compile_terms
from walking_control.simulation.registry import make_plant

SETTINGS = {
    'hip_stiffness': 17.0,
    'hip_damping': 3.4,
    'hip_angle': 0.8,
    'ankle_energy_gain': 7.0,
    'energy': 62.0,
    'limiting': 'project',
    'foot_half_length': 0.1,
    'min_normal_force': 0.1,
    'friction_used': 0.6,
}


def compass(**settings):
    """Return the compass under hip_pd with an ankle."""
    return load_robot(
        'compass', [(f'hip_pd.{name}', value) for name, value in {**SETTINGS, **settings}.items()]
    )


def efforts(robot_file, q, v, support=0):
    """Return what the law asks for in a state."""
    law, state = make_controller(robot_file, 'hip_pd'), WalkerState(robot_file.robot)
    command = Command(robot_file.robot)
    state.coordinates[:], state.rates[:] = q, v
    state.support, state.contact[support] = support, True
    law.update(state, Reference(), 0.002, command)
    return command.effort


def test_ankle_gives_the_energy_that_is_missing():
    """Three point masses by hand: with another energy the rival would be driven off its gait."""
    robot_file = compass(foot_half_length=0.0, limiting='off', ankle_energy_gain=0.3)
    (q3, q4), (v3, v4), slope = (0.2, -0.45), (-0.9, 1.2), robot_file.values(World).slope

    def place(stance, swing):  # of the three masses from the stance foot, at two leg lengths
        hip = np.array([-math.sin(q3), math.cos(q3)])
        along = np.array([math.sin(q3 + q4), -math.cos(q3 + q4)])
        return stance * hip + swing * along

    def speed(stance, swing):
        hip = v3 * np.array([-math.cos(q3), -math.sin(q3)])
        along = (v3 + v4) * np.array([math.cos(q3 + q4), math.sin(q3 + q4)])
        return stance * hip + swing * along

    energy, up = 0.0, np.array([-math.sin(slope), math.cos(slope)])
    for mass, stance, swing in ((1.0, 0.5, 0.0), (5.0, 1.0, 0.0), (1.0, 1.0, 0.5)):
        energy += mass * (
            9.81 * up @ place(stance, swing) + 0.5 * np.sum(speed(stance, swing) ** 2)
        )
    hip, ankle = efforts(robot_file, (q3, q4), (v3, v4))
    assert ankle == pytest.approx(0.3 * (62.0 - energy), rel=1e-9)
    assert hip == pytest.approx(17.0 * (0.8 - q4) - 3.4 * v4, rel=1e-9)


def test_ankle_stays_on_its_foot():
    """If it failed, the rival would stand on a longer foot than the law it is measured against."""
    robot_file = compass(energy=90.0)
    plant, law = make_plant(robot_file, 'rigid'), make_controller(robot_file, 'hip_pd')
    plant.reset(robot_file.start)
    state, command, lengths = WalkerState(robot_file.robot), Command(robot_file.robot), []
    state.contact[0] = True
    for _ in range(40):
        state.coordinates[:], state.rates[:] = plant.engine.state.y[2:4], plant.engine.state.y[6:8]
        law.update(state, Reference(), 0.002, command)
        plant.step(command, 1e-9)  # the force of the floor under just this effort
        lengths.append(abs(command.effort[1]) / plant.truth.foot_force[0, 2])
        plant.step(command, 0.002)
    assert max(lengths) == pytest.approx(0.1, abs=1e-6)


def test_no_ankle_in_the_air_or_without_being_asked():
    """If it failed, a flying foot would be turned, or the plain hip PD be no longer plain."""
    robot_file = compass()
    law, state = make_controller(robot_file, 'hip_pd'), WalkerState(robot_file.robot)
    command = Command(robot_file.robot)
    state.coordinates[:] = 0.2, -0.4
    state.contact[:] = False, True  # the stance foot is in the air
    law.update(state, Reference(), 0.002, command)
    assert command.effort[0] != 0.0 and command.effort[1] == 0.0
    plain = efforts(compass(ankle_energy_gain=0.0, limiting='off'), (0.2, -0.4), (-1.0, 2.0))
    assert plain == pytest.approx([17.0 * 1.2 - 3.4 * 2.0, 0.0], rel=1e-12)


def test_unusable_ankles_are_refused():
    """If it failed, an ankle without aim would brake, or one that is not there act."""
    with pytest.raises(ParameterError, match='hip_pd.energy'):
        compass(energy=0.0)
    dribbel = load_robot('dribbel', [('hip_pd.ankle_energy_gain', 1.0), ('hip_pd.energy', 60.0)])
    with pytest.raises(IncompatibleController, match='ankle'):
        HipPd(dribbel, dribbel.values(HipPd.parameters))


def test_plain_and_compiled_ankle_are_one():
    """If it failed, tables of the rival would judge another law than a simulation runs."""
    pytest.importorskip('casadi')
    pytest.importorskip('numba')
    robot_file, rng = compass(), np.random.default_rng(5)
    law = make_controller(robot_file, 'hip_pd')
    array, terms = law.array_law(), compile_terms(law.dynamics)[0]
    fast = compile_law(ankle_law)
    for support in (0, 1):
        for _ in range(20):
            q, v = rng.uniform(-0.5, 0.5, 2), rng.uniform(-2.0, 2.0, 2)
            effort = np.zeros(2)
            fast(terms, array.knowledge, array.memory, support, np.zeros(0, bool), q, v, effort)
            assert efforts(robot_file, q, v, support) == pytest.approx(effort, abs=1e-9)
