# SPDX-License-Identifier: Apache-2.0
"""The hip law, its sign, its clamp, its knee locks and its speed command."""

import numpy as np
import pytest

from walking_control.controllers.hip_switching import clamped_pd, HipSwitching
from walking_control.controllers.knee_locks import ARMED, FLEXED, next_lock_phase, RELEASED, STANCE
from walking_control.controllers.parameters import HipSwitchingParameters
from walking_control.exceptions import IncompatibleController, ParameterError
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Reference, WalkerState


def test_law_by_hand():
    """(5.29): 10 A/rad times 0.5 rad minus 0.2 A s/rad times 2 rad/s is 4.6 A."""
    assert clamped_pd(-0.2, 2.0, 0.3, 10.0, 0.2, 8.0) == pytest.approx(4.6)
    assert clamped_pd(-2.0, 0.0, 0.3, 10.0, 0.0, 8.0) == 8.0
    assert clamped_pd(2.0, 0.0, 0.3, 10.0, 0.0, 8.0) == -8.0


@pytest.fixture
def law(dribbel):
    """Return the hip law of Dribbel."""
    return HipSwitching(dribbel, dribbel.values(HipSwitchingParameters))


def test_sign_changes_with_the_stance_foot(law, dribbel):
    """The same hip angle from the stance leg must give the opposite joint torque."""
    state, command = WalkerState(dribbel.robot), Command(dribbel.robot)
    state.coordinates[2] = -0.3
    efforts = []
    for support in (0, 1):
        state.support = support
        law.update(state, Reference(), 0.01, command)
        efforts.append(command.effort[0])
    assert efforts[0] == pytest.approx(74 * 0.0302 * 6.0)
    assert efforts[1] == -efforts[0]


def test_lock_phases_over_a_stride():
    """A lock that opens in stance, or arms before the knee flexed, drops the robot."""

    def follow(phase, *steps):
        phases = []
        for is_stance, in_contact, angle, rate in steps:
            phase = next_lock_phase(phase, is_stance, in_contact, angle, rate, 0.05)
            phases.append(phase)
        return phases

    assert follow(
        STANCE,
        (True, False, 0.0, 0.0),  # stance stays locked though the switch flickers
        (False, True, 0.0, 0.0),  # swing leg, foot still down
        (False, False, 0.0, 0.0),  # lift-off: open
        (False, False, -0.03, 1.0),  # not flexed yet
        (False, False, -0.3, -1.0),  # flexed, still flexing
        (False, False, -0.3, 1.0),  # extending: armed
        (False, False, 0.0, -0.1),  # caught; stays armed
        (True, True, 0.0, 0.0),
    ) == [STANCE, STANCE, RELEASED, RELEASED, FLEXED, ARMED, ARMED, STANCE]


def test_speed_steers_the_set_point(law, dribbel):
    """A faster reference must ask for a wider step, within the measured table."""
    state, command = WalkerState(dribbel.robot), Command(dribbel.robot)
    currents = []
    for speed in (0.1, 0.35, 0.45, 3.0):
        law.update(state, Reference(speed=speed), 0.01, command)
        currents.append(law.current)
    assert np.all(np.diff(currents) >= 0.0) and currents[1] < currents[2]
    assert currents[0] == pytest.approx(2.0) and currents[-1] == pytest.approx(3.5)


def test_speed_error_corrects_once_a_step(law, dribbel):
    """A correction within the step would disturb the swing; none at all leaves a speed error."""
    state, command = WalkerState(dribbel.robot), Command(dribbel.robot)
    law.reset(state)
    law.update(state, Reference(speed=0.42), 0.01, command)
    before = law.current
    state.step_length, state.step_time = 0.2, 0.6  # 0.33 m/s, too slow
    law.update(state, Reference(speed=0.42), 0.01, command)
    assert law.current == before
    state.steps += 1
    law.update(state, Reference(speed=0.42), 0.01, command)
    assert law.current > before


def test_table_must_rise(dribbel):
    """A table that does not rise has no meaning for interpolation."""
    with pytest.raises(ParameterError, match='rise'):
        HipSwitchingParameters.read({'speed_table': [0.5, 0.4]})


def remove_motor(tree):
    """Make Dribbel passive."""
    tree['robot']['actuators'] = {}


def motor_on_knee(tree):
    """Put the motor on a knee."""
    tree['robot']['actuators'] = {'outer_knee': {}}


@pytest.mark.parametrize('edit', [remove_motor, motor_on_knee])
def test_robot_without_a_hip_motor_is_refused(edited_robot_file, edit):
    """Driving any other joint with the hip law would break the robot."""
    robot_file = load_robot(edited_robot_file(edit))
    with pytest.raises(IncompatibleController, match='hip_switching'):
        HipSwitching(robot_file, robot_file.values(HipSwitchingParameters))
